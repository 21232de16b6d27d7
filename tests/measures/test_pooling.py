"""Studies pooled: R's metafor and mada on published reviews, few studies, zero cells, the summary curve."""

import csv
from math import inf, isnan

import numpy as np
import pytest
from scipy.special import expit

from trustreport.measures.proportion import normal_quantile
from trustreport.measures.sites import pooling
from trustreport.measures.sites.pooling import OUTCOMES, PooledStudies, pooled


def rows_of(file) -> list[dict[str, str]]:
    return list(csv.DictReader(file.read_text().splitlines()))


@pytest.fixture(scope="module")
def tables(reference):
    """Counts by review: TP, FP, FN and TN, an array each."""
    found: dict[str, list[list[int]]] = {}
    for row in rows_of(reference / "pooling/studies.csv"):
        found.setdefault(row["data"], []).append([int(row[c]) for c in ("TP", "FP", "FN", "TN")])
    return {name: np.array(rows).T for name, rows in found.items()}


@pytest.fixture(scope="module")
def metafor(reference):
    """Values of metafor by review, method and name; `make.R` in that folder made them."""
    rows = rows_of(reference / "pooling/metafor.csv")
    return {(row["data"], row["method"], row["name"]): float(row["value"]) for row in rows}


def fitted(*cells, **how) -> PooledStudies:
    model = pooled(*cells, **how)
    assert isinstance(model, PooledStudies), model
    return model


@pytest.mark.parametrize("zeros_only", [False, True])
@pytest.mark.parametrize("review", ["AuditC", "AuditC6", "Dementia", "Glas"])
def test_the_model_is_that_of_metafor(tables, metafor, review, zeros_only):
    model = fitted(*tables[review], zeros_only=zeros_only)
    method = f"rma.mv_{'single' if zeros_only else 'all'}"
    found = {
        "logit_sensitivity": model.centre[0],
        "logit_fpr": model.centre[1],
        "var_sensitivity": model.covariance[0, 0],
        "var_fpr": model.covariance[1, 1],
        "covariance": model.covariance[0, 1],
        "tau2_sensitivity": model.between[0, 0],
        "tau2_fpr": model.between[1, 1],
        "log_likelihood": model.log_likelihood,
    }
    for name, value in found.items():
        assert value == pytest.approx(metafor[review, method, name], rel=2e-6, abs=2e-7), name
    if not isnan(model.correlation):
        assert model.correlation == pytest.approx(metafor[review, method, "correlation"], abs=1e-6)


def test_limits_of_the_spread_are_the_profile_limits_of_metafor(tables, metafor):
    model = fitted(*tables["AuditC6"])
    limit = {k[2]: v for k, v in metafor.items() if k[:2] == ("AuditC6", "rma.mv_all")}
    for i, of in enumerate(OUTCOMES, 1):
        e = model.spread(of)
        assert (e.low, e.high) == pytest.approx((limit[f"tau2_low_{i}"], limit[f"tau2_high_{i}"]), rel=2e-3)
    e = model.correlation_between()
    assert (-e.high, -e.low) == pytest.approx((limit["rho_low"], limit["rho_high"]), abs=2e-3)
    assert e.value == pytest.approx(-limit["correlation"], abs=1e-6)


def test_audit_c_is_as_mada_has_it(tables, reference):
    mada = {row["name"]: float(row["value"]) for row in rows_of(reference / "pooling/mada.csv")}
    model = fitted(*tables["AuditC"])
    found = {
        "logit_sensitivity": model.centre[0],
        "logit_fpr": model.centre[1],
        "var_sensitivity": model.covariance[0, 0],
        "covariance": model.covariance[0, 1],
        "var_fpr": model.covariance[1, 1],
        "tau2_sensitivity": model.between[0, 0],
        "between_covariance": model.between[0, 1],
        "tau2_fpr": model.between[1, 1],
        **model.hierarchical(),
    }
    for name, value in found.items():
        assert value == pytest.approx(mada[name], abs=2e-6), name
    # mada adds up 99 heights of the curve and divides by 99.
    heights = model.curve(np.arange(1, 100) / 100)
    assert (heights.sum() - (heights[0] + heights[-1]) / 2) / 99 == pytest.approx(mada["auc"], abs=1e-6)


def test_intervals_of_audit_c_are_those_that_mada_prints_and_wider_by_t(tables):
    model = fitted(*tables["AuditC"])
    as_printed = model.as_published("sensitivity")
    assert (as_printed.low, as_printed.high) == pytest.approx((0.808, 0.941), abs=5e-4)
    wide = model.summary("sensitivity")
    z = normal_quantile(0.95)
    ratio = np.ptp(np.log([wide.high / (1 - wide.high), wide.low / (1 - wide.low)])) / (2 * z * wide.se)
    assert ratio == pytest.approx(2.160368656 / z, rel=1e-6)  # t of 13 df, printed tables


def test_specificity_is_one_less_the_false_positive_rate(tables):
    model = fitted(*tables["Dementia"])
    e = model.summary("specificity")
    assert e.value == pytest.approx(1 - expit(model.centre[1]))
    assert e.low < e.value < e.high


@pytest.mark.parametrize("k, why", [(1, pooling.ONE_STUDY), (2, pooling.TWO_STUDIES)])
def test_one_and_two_studies_are_not_pooled(tables, k, why):
    assert pooled(*tables["AuditC6"][:, :k]) == why


def test_three_studies_are_pooled_separately_without_region_or_new_study(tables, metafor):
    model = fitted(*tables["AuditC6"][:, :3])
    assert model.between[0, 1] == model.covariance[0, 1] == 0
    assert pooling.THREE_STUDIES in model.summary("sensitivity").note
    assert isnan(model.new_study("sensitivity").low)
    assert model.new_study("sensitivity").note == pooling.NO_NEW_STUDY
    assert len(model.region()) == 0
    assert isnan(model.area().value)
    assert isnan(model.correlation_between().value)
    # t with two degrees of freedom
    assert model.summary("sensitivity").df == 2


def test_a_study_without_a_class_is_refused_by_name_of_the_reason():
    assert pooled([5, 0, 3], [1, 1, 1], [2, 0, 4], [9, 9, 9]) == pooling.NO_CLASS


def test_half_is_added_to_all_studies_or_to_those_with_a_zero_and_the_note_says_which():
    cells = [20, 30, 25, 18], [5, 4, 6, 3], [0, 6, 5, 4], [40, 50, 45, 38]
    everywhere, zeros = fitted(*cells), fitted(*cells, zeros_only=True)
    assert pooling.CORRECTED in everywhere.note
    assert pooling.CORRECTED_ZEROS in zeros.note
    assert sorted(everywhere.logits[:, 0]) == pytest.approx(
        sorted(np.log([20.5 / 0.5, 30.5 / 6.5, 25.5 / 5.5, 18.5 / 4.5]))
    )
    assert sorted(zeros.logits[:, 0]) == pytest.approx(sorted(np.log([20.5 / 0.5, 30 / 6, 25 / 5, 18 / 4])))
    assert not fitted([20, 30, 25, 18], [5, 4, 6, 3], [1, 6, 5, 4], [40, 50, 45, 38]).corrected


def test_studies_alike_have_no_spread_and_no_curve():
    model = fitted([80] * 5, [10] * 5, [20] * 5, [90] * 5)
    assert not model.between.any()
    assert pooling.NO_SPREAD in model.note
    assert model.summary("sensitivity").value == pytest.approx(0.8)
    assert model.area().note == pooling.NO_CURVE
    e = model.spread("sensitivity")
    assert (e.value, e.low) == (0, 0)
    assert 0 < e.high < inf
    # with nothing between studies, the information is that of 500 cases
    assert model.covariance[0, 0] == pytest.approx(1 / 400 + 1 / 100)


def test_the_order_of_studies_changes_no_digit(tables):
    model = fitted(*tables["Dementia"])
    turned = fitted(*tables["Dementia"][:, ::-1])
    assert str(model.summary("sensitivity")) == str(turned.summary("sensitivity"))
    assert model.log_likelihood == turned.log_likelihood


def test_regions_contain_the_mean_and_that_of_a_new_study_the_other(tables):
    model = fitted(*tables["AuditC"])
    inner, outer = model.region(), model.region(new_study=True)
    assert np.ptp(inner[:, 1]) < np.ptp(outer[:, 1])
    # Its points are all as far from the mean as F with 2 and 12 df says: 3.885294 (printed tables).
    off = np.log(inner / (1 - inner))[:, ::-1] - model.centre
    distance = np.einsum("ij,jk,ik->i", off, np.linalg.inv(model.covariance), off)
    assert distance == pytest.approx(2 * 3.885294, rel=1e-5)


def test_the_curve_goes_through_the_mean(tables):
    model = fitted(*tables["AuditC"])
    assert model.curve(expit(model.centre[1])) == pytest.approx(expit(model.centre[0]))
