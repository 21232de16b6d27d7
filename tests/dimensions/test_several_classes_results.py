"""A data set of three classes from its table to results, sentences, and the answer of the first page."""

from pathlib import Path

import numpy as np
import pytest

from trustreport.api import Assessed, assess, read_study
from trustreport.measures.confusion.several import FEW_OF_RAREST
from trustreport.measures.note import NO_NOTE
from trustreport.report.answer.answer import answer
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
CLASSES = ("normal", "benign", "malignant")


def study(folder: Path, more: str = "", *, patients: int = 0, absent: int = 0) -> Assessed:
    rng = np.random.default_rng(4)
    truth = rng.choice(3, 180, p=[0.6, 0.3, 0.1])
    scores = rng.random((180, 3)) + 0.5 * np.eye(3)[truth]
    scores /= scores.sum(axis=1, keepdims=True)
    rows = [",".join([CLASSES[t], *(f"{s:.4f}" for s in own)]) for t, own in zip(truth, scores)]
    rows = [f"{row},{i % patients if patients else i}" for i, row in enumerate(rows)]
    for i in range(absent):
        rows[i] = f"{CLASSES[truth[i]]},,,,{i}"
    (folder / "a.csv").write_text("\n".join(["truth,normal,benign,malignant,patient", *rows]) + "\n")
    (folder / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: D}\n"
        "datasets: [{dataset: clinic, role: external, file: a.csv,"
        " columns: {class_scores: [normal, benign, malignant]}}]\n" + more
    )
    return assess(*read_study(folder))


def test_every_measure_of_every_class_is_a_result(tmp_path: Path) -> None:
    found = study(tmp_path).to_frame()
    own = found[found["id"].str.startswith("advice_accuracy.")]
    names = own["id"].str.removeprefix("advice_accuracy.").value_counts()
    assert names["class_accuracy"] == names["macro_f1"] == 1
    assert all(names[f"class_{m}"] == 3 for m in ("sensitivity", "specificity", "ppv", "npv", "auc"))
    assert names["top_k_accuracy"] == 1  # of two; three are all classes
    assert own["low"].notna().all()


def test_the_page_says_how_often_and_where_least(tmp_path: Path) -> None:
    assessment = study(tmp_path)
    said = answer(assessment, EN)
    assert said.sentence.startswith("clinic: the class was right in ")
    assert "sensitivity was lowest for " in said.sentence
    (part,) = [
        p for p in assessment.findings[0].parts if p.title and EN(p.title) == "Several classes: clinic"
    ]
    assert [t.id for t in part.tables] == ["classes_1", "each_class_1", "class_means_1"]
    assert sum(sum(row[1:]) for row in part.tables[0].rows) == 180


def test_cases_without_scores_count_as_wrong(tmp_path: Path) -> None:
    all_given, some = study(tmp_path), study(tmp_path, absent=9)
    share = [a.to_frame().set_index("id").loc["advice_accuracy.class_accuracy"] for a in (all_given, some)]
    assert share[0]["n"] == share[1]["n"] == 180
    assert share[1]["value"] < share[0]["value"]
    part = some.findings[0].parts[-1]
    said = [EN(m) for m in part.finding]
    assert "There were no complete scores for nine cases, which are analysed as wrong." in said


def test_patients_with_several_cases_widen_the_intervals(tmp_path: Path) -> None:
    found = study(tmp_path, patients=30).to_frame()
    own = found[found["id"].isin(["advice_accuracy.class_accuracy", "advice_accuracy.macro_f1"])]
    assert set(own["method"]) == {"cluster_wilson", "class_delta"}


@pytest.mark.parametrize(("bound", "word"), [(0.3, "pass"), (0.99, "fail")])
def test_a_criterion_on_it_is_judged(bound: float, word: str, tmp_path: Path) -> None:
    criterion = f"""study: {{sap_locked_at: 2025-01-01, data_opened_at: 2025-02-01}}
endpoints:
  - {{endpoint: right, role: primary, measure: advice_accuracy.class_accuracy, dataset: clinic,
      hypothesis: performance goal, bound_or_margin: {bound}}}
"""
    (verdict,) = study(tmp_path, criterion).verdicts
    assert verdict.word == word


def test_means_that_rest_on_calls_have_no_interval_below_20_cases_of_the_rarest_class(tmp_path: Path) -> None:
    # 26 of the 180 cases are malignant, in 15 patients at most.
    for patients in (0, 15):
        own = study(tmp_path, patients=patients).results
        found = {r.name: r for r in own if r.name.startswith("macro_")}
        assert all(r.primary for r in found.values())
        for name in ("macro_ppv", "macro_f1"):
            e = found[name].estimate
            assert np.isnan(e.low) == bool(patients)
            assert e.note == (FEW_OF_RAREST if patients else NO_NOTE)
        assert found["macro_sensitivity"].estimate.low < found["macro_sensitivity"].estimate.high
