"""The example of pooling: the counts of mada's AuditC, and the pooled numbers of mada, metafor and lme4."""

import csv
from math import log
from pathlib import Path

import pytest
from scipy.special import expit

from trustreport.report.answer.answer import answer
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

EN = catalogue("en")
NAME = "pooled-accuracy"


@pytest.fixture(scope="module")
def made(assessed_example):
    return assessed_example(NAME)


@pytest.fixture(scope="module")
def mada(reference: Path) -> dict[str, float]:
    with (reference / "pooling" / "mada.csv").open() as file:
        return {row["name"]: float(row["value"]) for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def metafor(reference: Path) -> dict[tuple[str, str], float]:
    with (reference / "pooling" / "metafor.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["data"] == "AuditC"]
    return {(row["method"], row["name"]): float(row["value"]) for row in rows}


def entry(made, name: str, method: str = "", **scope) -> Result:
    (found,) = [
        r
        for r in made.results
        if r.id == f"reported.{name}" and r.within(**scope) and (r.method == method if method else r.primary)
    ]
    return found


def test_the_counts_are_those_of_the_data_set(made, reference):
    with (reference / "pooling" / "studies.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["data"] == "AuditC"]
    expected = [tuple(int(row[c]) for c in ("TP", "FP", "FN", "TN")) for row in rows]
    assert [(c.tp, c.fp, c.fn, c.tn) for c in made.study.confusion] == expected


def test_means_are_those_of_mada(made, mada):
    specificity = entry(made, "pooled_specificity").estimate
    sensitivity = entry(made, "pooled_sensitivity", "bivariate_reml").estimate
    assert specificity.value == pytest.approx(1 - expit(mada["logit_fpr"]), abs=1e-6)
    assert sensitivity.value == pytest.approx(expit(mada["logit_sensitivity"]), abs=1e-6)


def test_spread_and_curve_are_those_of_mada(made, mada):
    for of, name in (("sensitivity", "tau2_sensitivity"), ("specificity", "tau2_fpr")):
        e = entry(made, "between_study_variance", "bivariate_reml_profile", endpoint=of).estimate
        assert e.value == pytest.approx(mada[name], abs=2e-6)
    curve = entry(made, "summary_roc").details
    assert (curve["theta"], curve["beta"]) == pytest.approx((mada["theta"], mada["beta"]), abs=2e-6)


def test_zero_cells_corrected_in_their_studies_alone_give_the_mean_of_metafor(made, metafor):
    e = entry(made, "pooled_sensitivity", "bivariate_reml_zeros").estimate
    assert log(e.value / (1 - e.value)) == pytest.approx(
        metafor["rma.mv_single", "logit_sensitivity"], abs=2e-6
    )


def test_the_leading_sensitivity_is_near_that_of_lme4_which_models_both_classes_together(made, metafor):
    e = entry(made, "pooled_sensitivity").estimate
    assert e.method == "binomial_normal"
    assert log(e.value / (1 - e.value)) == pytest.approx(metafor["glmer", "logit_sensitivity"], abs=0.1)


def test_the_pooled_values_lead_the_first_page_before_the_range_of_the_studies(made):
    page = answer(made, EN)
    said = "Pooled over 14 studies, sensitivity is 93.0% (82.5% to 97.8%), but the studies differ: in a"
    assert page.sentence.startswith(said)
    said = "Pooled over 14 studies, specificity is 78.0% (70.8% to 83.8%), but the studies differ"
    assert page.supporting.startswith(said)
    assert page.supporting.index("prediction interval") < page.supporting.index("sensitivity ranges from")
