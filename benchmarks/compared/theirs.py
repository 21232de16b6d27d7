"""The peers' side, in their own environment: as in `ours`, each imported only when it is asked for."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from compared.inputs import CATEGORIES, Inputs

Outputs = Mapping[str, object]
Call = Callable[[], Outputs]
PERMUTATIONS = 199
THRESHOLDS = np.arange(1, 100) / 100


def sklearn_area(x: Inputs) -> Call:
    from sklearn.metrics import roc_auc_score

    return lambda: {"auc": roc_auc_score(x["truth"], x["score"])}


def sklearn_precision(x: Inputs) -> Call:
    from sklearn.metrics import average_precision_score

    return lambda: {"average_precision": average_precision_score(x["truth"], x["score"])}


def sklearn_curve(x: Inputs) -> Call:
    from sklearn.metrics import roc_curve

    def call() -> Outputs:
        fpr, tpr, threshold = roc_curve(x["truth"], x["score"], drop_intermediate=False)
        return {"fpr": fpr, "tpr": tpr, "threshold": threshold}

    return call


def sklearn_brier(x: Inputs) -> Call:
    from sklearn.metrics import brier_score_loss

    return lambda: {"brier": brier_score_loss(x["truth"], x["score"])}


def sklearn_calibration(x: Inputs) -> Call:
    from sklearn.calibration import calibration_curve

    def call() -> Outputs:
        observed, mean = calibration_curve(x["truth"], x["score"], n_bins=10)
        return {"observed": observed, "mean": mean}

    return call


def sklearn_kappa(x: Inputs) -> Call:
    from sklearn.metrics import cohen_kappa_score

    return lambda: {"kappa": cohen_kappa_score(x["first"], x["second"])}


def sklearn_kappa_quadratic(x: Inputs) -> Call:
    from sklearn.metrics import cohen_kappa_score

    return lambda: {"kappa": cohen_kappa_score(x["first"], x["second"], weights="quadratic")}


def sklearn_matthews(x: Inputs) -> Call:
    from sklearn.metrics import matthews_corrcoef

    return lambda: {"mcc": matthews_corrcoef(x["truth"], x["decision"])}


def statsmodels_wilson(x: Inputs) -> Call:
    return _limits(x, "wilson")


def statsmodels_exact(x: Inputs) -> Call:
    return _limits(x, "beta")


def _limits(x: Inputs, method: str) -> Call:
    from statsmodels.stats.proportion import proportion_confint

    events, n = int(x["events"][0]), int(x["cases"][0])

    def call() -> Outputs:
        low, high = proportion_confint(events, n, method=method)
        return {"low": low, "high": high}

    return call


def statsmodels_mcnemar(x: Inputs) -> Call:
    from statsmodels.stats.contingency_tables import mcnemar

    events, n = int(x["events"][0]), int(x["cases"][0])
    table = [[n, (events + n) // 4], [events - events // 8, n // 3]]
    return lambda: {"p": mcnemar(table, exact=True).pvalue}


def statsmodels_fleiss(x: Inputs) -> Call:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    return lambda: {"kappa": fleiss_kappa(aggregate_raters(x["codes"], CATEGORIES)[0])}


def _irrcac(x: Inputs, weights: str = "identity") -> Any:
    import pandas as pd
    from irrCAC.raw import CAC

    codes = x["codes"].astype(float)
    table = pd.DataFrame(np.where(codes < 0, np.nan, codes))
    return lambda: CAC(table, weights=weights, digits=15)


def irrcac_ac1(x: Inputs) -> Call:
    return _gwet(_irrcac(x))


def irrcac_ac2(x: Inputs) -> Call:
    return _gwet(_irrcac(x, "quadratic"))


def _gwet(coefficients: Any) -> Call:
    def call() -> Outputs:
        found = coefficients().gwet()["est"]
        low, high = found["confidence_interval"]
        return {"value": found["coefficient_value"], "se": found["se"], "low": low, "high": high}

    return call


def irrcac_fleiss(x: Inputs) -> Call:
    coefficients = _irrcac(x)

    def call() -> Outputs:
        found = coefficients().fleiss()["est"]
        return {"value": found["coefficient_value"], "se": found["se"]}

    return call


def irrcac_conger(x: Inputs) -> Call:
    coefficients = _irrcac(x)

    def call() -> Outputs:
        found = coefficients().conger()["est"]
        return {"value": found["coefficient_value"], "se": found["se"]}

    return call


def krippendorff_alpha(x: Inputs) -> Call:
    return _alpha(x, "nominal")


def krippendorff_alpha_ordinal(x: Inputs) -> Call:
    return _alpha(x, "ordinal")


def _alpha(x: Inputs, level: str) -> Call:
    import krippendorff

    codes = x["codes"].T.astype(float)
    codes[codes < 0] = np.nan
    return lambda: {"alpha": krippendorff.alpha(reliability_data=codes, level_of_measurement=level)}


def dcurves_net_benefit(x: Inputs) -> Call:
    import pandas as pd
    from dcurves import dca

    table = pd.DataFrame({"truth": x["truth"].astype(int), "risk": x["score"]})

    def call() -> Outputs:
        found = dca(data=table, outcome="truth", modelnames=["risk"], thresholds=THRESHOLDS)
        by_model = {name: of.sort_values("threshold") for name, of in found.groupby("model")}
        return {
            "net_benefit": by_model["risk"]["net_benefit"].to_numpy(),
            "treat_all": by_model["all"]["net_benefit"].to_numpy(),
        }

    return call


def pycm_four_cells(x: Inputs) -> Call:
    from pycm import ConfusionMatrix

    truth, decision = x["truth"].astype(int), x["decision"].astype(int)

    def call() -> Outputs:
        found = ConfusionMatrix(truth, decision)
        return {
            "sensitivity": found.TPR[1],
            "specificity": found.TNR[1],
            "ppv": found.PPV[1],
            "npv": found.NPV[1],
            "f1": found.F1[1],
            "accuracy": found.ACC[1],
            "mcc": found.MCC[1],
            "lr_positive": found.PLR[1],
            "lr_negative": found.NLR[1],
        }

    return call


def pmvalsampsize_sizes(x: Inputs) -> Call:
    from pmvalsampsize.pmvalsampsize import pmvalsampsize

    phi = float(x["prevalence"][0])

    def call() -> Outputs:
        found = pmvalsampsize(
            type="b",
            prevalence=phi,
            cstatistic=0.8,
            oeciwidth=1.0,
            lpnormal=(-1.5, 1.2),
            noprint=True,
        )
        needed = zip(("oe", "slope", "auc"), found["results_table"], strict=False)
        return {name: float(row[1]) for name, row in needed}

    return call


def mlscorecheck_consistency(x: Inputs) -> Call:
    import logging

    from mlscorecheck.check.binary import check_1_testset_no_kfold

    logging.disable(logging.INFO)  # each check writes twenty lines
    positives, negatives = (int(k) for k in x["classes"])
    accuracy, sensitivity, specificity = (int(k) / 10_000 for k in x["figures"])

    def fit(shift: float) -> bool:
        found = check_1_testset_no_kfold(
            testset={"p": positives, "n": negatives},
            scores={"acc": accuracy + shift, "sens": sensitivity, "spec": specificity},
            eps=0.5e-4,
        )
        return not found["inconsistency"]

    return lambda: {"true_figures": fit(0), "one_figure_off": fit(0.03)}


def hyppo_energy(x: Inputs) -> Call:
    from hyppo.ksample import Energy

    training, external = x["training"], x["external"]
    n, m = len(training), len(external)
    scale = (n + m) ** 4 / (2 * n**2 * m**2)  # the statistic is the root of this times the energy distance

    def call() -> Outputs:
        found = Energy(bias=True).test(
            training, external, reps=PERMUTATIONS, workers=1, auto=False, random_state=1
        )
        return {"statistic": found.stat**2 / scale * n * m / (n + m), "p": found.pvalue}

    return call


def hyppo_kernel(x: Inputs) -> Call:
    from hyppo.ksample import MMD

    def call() -> Outputs:
        found = MMD().test(
            x["training"], x["external"], reps=PERMUTATIONS, workers=1, auto=False, random_state=1
        )
        return {"p": found.pvalue}

    return call
