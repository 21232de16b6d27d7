"""Coefficients of agreement against irrCAC, krippendorff, statsmodels, R psych and published tables."""

from math import sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from trustreport.measures.agreement import labels
from trustreport.measures.agreement.bootstrap import bootstrap
from trustreport.measures.agreement.coefficients import gwet_ac1, gwet_ac2, krippendorff_alpha
from trustreport.measures.agreement.kappa import (
    cohen_kappa,
    conger_kappa,
    fleiss_kappa,
    light_kappa,
    percent_agreement,
)

Knee = tuple[NDArray[np.int64], NDArray[np.float64]]
TABLES = ("gwet", "complete", "paired", "sparse", "two", "ordered")
WEIGHTS = {
    "identity": np.eye,
    "linear": labels.linear,
    "quadratic": labels.quadratic,
    "ordinal": labels.ordinal,
}


@pytest.mark.parametrize(
    "name, coefficient",
    [
        ("fleiss_kappa", fleiss_kappa),
        ("krippendorff_alpha_nominal", krippendorff_alpha),
        ("gwet_ac1", gwet_ac1),
        ("conger_kappa", conger_kappa),
    ],
)
def test_thirteen_radiologists(name: str, coefficient: Any, knee: Knee, expected: dict[str, Any]) -> None:
    est, there = coefficient(knee[0], 2), expected[name]
    assert est.value == pytest.approx(there["value"], abs=6e-6 if name == "conger_kappa" else 1e-12)
    assert [est.low, est.high] == pytest.approx(there["ci95_irrCAC"], abs=2e-5)
    assert (est.n, est.df, est.method) == (427, 426, "gwet_variance")


def test_thirteen_radiologists_drawn_anew(knee: Knee, expected: dict[str, Any]) -> None:
    drawn = bootstrap(knee[0], 2, rng=np.random.default_rng(1))
    for name, there in (("percent_agreement", "Po"), ("fleiss_kappa", "fleiss_kappa")):
        ends = expected[there].get("boot95") or expected[there]["boot95_cases"]
        assert (drawn[name].low, drawn[name].high) == pytest.approx(ends, abs=5e-3)


def test_thirteen_radiologists_in_pairs(knee: Knee, expected: dict[str, Any]) -> None:
    codes = knee[0]
    agreement = percent_agreement(codes, 2)
    assert agreement.value == pytest.approx(expected["Po"]["value"], abs=1e-12)
    assert [agreement.low, agreement.high] == pytest.approx(expected["Po"]["boot95"], abs=1e-3)
    light = light_kappa(codes, 2)
    assert light.value == pytest.approx(expected["mean_pairwise_cohen"]["value"], abs=1e-12)
    assert light.details == {"pairs": 78, "pairs_left_out": 0}
    for pair, there in expected["pairwise_cohen"].items():
        first, second = (int(rater[1:]) - 1 for rater in pair.split("-"))
        est = cohen_kappa(codes[:, first], codes[:, second], 2)
        assert est.value == pytest.approx(there["kappa"], abs=1e-12)
        assert est.details["observed"] == pytest.approx(there["po"], abs=1e-12)
        # statsmodels divides by n (Fleiss, Cohen and Everitt), Gwet by n - 1
        assert est.se == pytest.approx(there["se"] * sqrt(427 / 426), abs=1e-12)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("scheme", WEIGHTS)
def test_missing_labels_and_weights_as_irrcac(table: str, scheme: str, tables: dict[str, Any]) -> None:
    codes, q = np.array(tables[table]["codes"]), tables[table]["n_categories"]
    w = WEIGHTS[scheme](q)
    found = {
        "gwet": gwet_ac2(codes, q, w),
        "fleiss": fleiss_kappa(codes, q, weights=w),
        "conger": conger_kappa(codes, q, weights=w),
    }
    for name, est in found.items():
        value, low, high, se = tables[table]["values"][f"{name} {scheme}"]
        assert (est.value, est.se) == pytest.approx((value, se), abs=1e-12)
        assert (est.low, est.high) == pytest.approx((low, high), abs=1e-8)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    "metric, scheme", [("nominal", "identity"), ("ordinal", ""), ("interval", "quadratic")]
)
def test_alpha_as_krippendorff_and_irrcac(
    table: str, metric: Any, scheme: str, tables: dict[str, Any]
) -> None:
    codes, q = np.array(tables[table]["codes"]), tables[table]["n_categories"]
    est, there = krippendorff_alpha(codes, q, metric=metric), tables[table]["values"]
    assert est.value == pytest.approx(there[f"alpha {metric}"], abs=1e-12)
    if scheme:  # with labels missing irrCAC's is off by up to 1e-4: tests/reference/agreement.py
        tolerance = 1e-12 if (codes >= 0).all() else 1e-4
        assert est.se == pytest.approx(there[f"krippendorff {scheme}"][3], abs=tolerance)


@pytest.mark.parametrize("table", ["complete", "two"])
def test_complete_tables_as_statsmodels(table: str, tables: dict[str, Any]) -> None:
    codes, q = np.array(tables[table]["codes"]), tables[table]["n_categories"]
    there = tables[table]["values"]
    assert fleiss_kappa(codes, q).value == pytest.approx(there["statsmodels fleiss"], abs=1e-12)
    if table == "two":
        for name, w in (
            ("none", None),
            ("linear", labels.linear(q)),
            ("quadratic", labels.quadratic(q)),
        ):
            value, se = there[f"statsmodels cohen {name}"]
            est = cohen_kappa(codes[:, 0], codes[:, 1], q, weights=w)
            assert est.value == pytest.approx(value, abs=1e-12)
            assert est.se == pytest.approx(se * sqrt(len(codes) / (len(codes) - 1)), abs=1e-12)


def test_krippendorffs_three_coders() -> None:
    # The worked example of Wikipedia, "Krippendorff's alpha": 15 units; nominal .691, interval .811.
    a = "*****3412113 3*3".replace(" ", "")
    b = "1*21334 3*******".replace(" ", "")
    c = "**21344*211 33*4".replace(" ", "")
    codes = np.array([[-1 if x == "*" else int(x) - 1 for x in coder] for coder in (a, b, c)]).T
    assert krippendorff_alpha(codes, 4).value == pytest.approx(0.691, abs=5e-4)
    assert krippendorff_alpha(codes, 4, metric="interval").value == pytest.approx(0.811, abs=5e-4)


def test_fleiss_fourteen_raters() -> None:
    # The worked example of Wikipedia, "Fleiss' kappa": 10 cases, 14 raters, 5 categories; .210.
    counts = """0 0 0 0 14|0 2 6 4 2|0 0 3 5 6|0 3 9 2 0|2 2 8 1 1
                7 7 0 0 0|3 2 6 3 0|2 5 3 2 2|6 5 2 1 0|0 2 2 3 7""".replace("\n", "|")
    codes = np.array([np.repeat(range(5), [int(x) for x in row.split()]) for row in counts.split("|")])
    assert fleiss_kappa(codes, 5).value == pytest.approx(0.210, abs=5e-4)
