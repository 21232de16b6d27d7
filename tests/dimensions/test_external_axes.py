"""The measures on the axes of the external performance diagram, with SPR, WPR and sizes of each."""

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.dimensions.test_potential_robustness import (
    EN,
    answer,
    dataset,
    declared,
    only,
    rules_hold,
    texts,
    validation,
)
from trustreport.assessment.dimensions.potential_robustness import axes
from trustreport.assessment.finding import Finding
from trustreport.assessment.performance.measures import NO_WEIGHTS
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import DiagramAxes
from trustreport.study.study import Dataset, Study
from trustreport.vocabulary.messages import say

SPLITS = {"measures": {"brier": [0.15, 0.19, 0.17], "accuracy": [0.7, 0.75]}}
STUDY = validation(3)


def columns(one: Dataset) -> tuple[np.ndarray, np.ndarray]:
    score = one.scores[""].score
    assert score is not None
    return one.cases.truth == 1, score


def drawn(found: Finding) -> Any:
    return next(f.drawing for part in found.parts for f in part.figures if f.id == "external_performance_1")


def fisher(p: float, similarity: float) -> float:
    """Fisher's combination of two p-values by scipy."""
    return float(stats.combine_pvalues([p, 1 - similarity], "fisher").pvalue)


@pytest.mark.parametrize("metric", ["brier", "accuracy"])
def test_spr_and_wpr_of_a_mean_are_those_of_welch(metric: str) -> None:
    """Both are means over the cases, so that scipy's tests of two means apply."""
    given = declared(external_performance={"discrimination": "accuracy"}, internal_splits=SPLITS)
    found = answer(STUDY, given)
    rules_hold(found)
    losses = []
    for one in STUDY.datasets[:2]:
        truth, score = columns(one)
        losses.append((score - truth) ** 2 if metric == "brier" else ((score >= 0.5) == truth) * 1.0)
    of: dict[str, Any] = {"endpoint": metric, "dataset": "site 0"}
    tested = only(found, "p_performance", **of)
    welch = stats.ttest_ind(losses[1], losses[0], equal_var=False)
    assert tested.p == pytest.approx(welch.pvalue, rel=0.01)  # variances divide by n, or by n - 1
    assert tested.details["difference"] == pytest.approx(losses[1].mean() - losses[0].mean(), abs=1e-12)
    alike = only(found, "degree_of_correspondence", dataset="site 0").value
    assert only(found, "spr", **of).value == pytest.approx(fisher(tested.p, alike), abs=5e-3)
    accepted = only(found, "p_acceptability", **of)
    worst, side = (0.19, -1) if metric == "brier" else (0.7, 1)
    at = side * (losses[1].mean() - worst) / stats.sem(losses[1])
    assert accepted.p == pytest.approx(stats.norm.cdf(at), abs=0.003)
    assert (accepted.details["least"], accepted.details["splits"]) == (worst, 3 if metric == "brier" else 2)
    assert only(found, "wpr", **of).value == pytest.approx(fisher(accepted.p, alike), abs=5e-3)


def test_every_choice_of_axes_is_drawn_with_its_bands() -> None:
    fields = DiagramAxes.model_fields
    for panel, field in fields.items():
        for name in field.annotation.__args__:
            found = answer(STUDY, declared(external_performance={panel: name}))
            rules_hold(found)
            assert texts(found)
            axis = drawn(found).axes[list(fields).index(panel)]
            assert axis.bands == axes.AXES[name][2]
            correlation = only(found, "similarity_performance_correlation", endpoint=name)
            assert correlation.n == (0 if name == "weighted_utility" else 3)


def test_bands_of_youdens_index_are_those_of_balanced_accuracy() -> None:
    both = [axes.AXES[name][2] for name in ("youden_j", "balanced_accuracy")]
    assert both[0] == pytest.approx([2 * x - 1 for x in both[1]])


def test_weighted_utility_needs_its_columns_and_without_weights_is_net_benefit() -> None:
    given = declared(external_performance={"utility": "weighted_utility"})
    without = only(answer(STUDY, given), "spr", endpoint="weighted_utility", dataset="site 0")
    assert without.note == NO_WEIGHTS
    ones = [
        replace(one, cases=replace(one.cases, numbers={"relevance": np.ones(len(one.cases))}))
        for one in STUDY.datasets
    ]
    found = answer(Study(datasets=tuple(ones)), given)
    plain = answer(STUDY)
    for name in ("p_performance", "similarity_performance_correlation"):
        scope = {"dataset": "site 0"} if name == "p_performance" else {}
        weighted = only(found, name, endpoint="weighted_utility", **scope)
        assert weighted.p == pytest.approx(
            only(plain, name, endpoint="standardized_net_benefit", **scope).p, rel=0.02
        )


def test_a_calibration_index_has_no_test_and_says_so() -> None:
    found = answer(STUDY, declared(external_performance={"calibration": "gici"}))
    for name in ("p_performance", "p_acceptability", "spr", "wpr"):
        e = only(found, name, endpoint="gici", dataset="site 0")
        assert isnan(e.value)
        assert e.note == axes.NO_TEST


def test_minimum_size_by_the_standard_error() -> None:
    """80 of 100 right: SE^2 is .16 / 99, and an interval of width .1 needs 100 (2 * 1.96 SE / .1)^2 cases."""
    assert (
        axes.needed_by_error(axes.Precision(0.8, 0.16 / 99, 100), "accuracy", "discrimination", 1.96) == 249
    )
    # J runs from -1 to 1 and is given twice the width
    assert axes.needed_by_error(axes.Precision(0.6, 0.16 / 99, 100), "youden_j", "discrimination", 1.96) == 63
    assert isnan(axes.needed_by_error(axes.Precision(0.9, float("nan"), 100), "gici", "calibration", 1.96))
    found = answer(STUDY, declared(external_performance={"discrimination": "accuracy"}))
    truth, score = columns(STUDY.datasets[1])
    right = ((score >= 0.5) == truth).mean()
    needed = only(found, "mss", endpoint="accuracy", dataset="site 0")
    assert needed.value == pytest.approx(150 / 149 * right * (1 - right) * (2 * 1.96 / 0.1) ** 2, abs=2)
    assert needed.details["reached"] == pytest.approx(150 / needed.value)


def test_the_rule_of_the_authors_is_printed_as_theirs() -> None:
    said = [text for text in texts(answer(STUDY)) if "By the rule of the diagram's authors" in text]
    assert len(said) == 1
    assert "The rule is met (site 0, site 1, and site 2)" in said[0]


@pytest.mark.parametrize(
    "similarity, values, says",
    [
        (0.39, (0.70, 0.40, 0.25), "The rule is met (A)"),  # at every band's edge
        (0.39, (0.69, 0.40, 0.25), "The rule is not met: not all of them are acceptable on any such set (A)"),
        (0.39, (0.70, 0.40, 0.26), "The rule is not met: not all of them are acceptable on any such set (A)"),
        (0.40, (0.95, 0.90, 0.02), "no external set has so low a similarity"),
        (0.10, (0.95, float("nan"), 0.02), ""),
    ],
)
def test_the_rule_at_its_edges(similarity: float, values: tuple[float, ...], says: str) -> None:
    reached = {m: Estimate(v, v, v, 9) for m, v in zip(axes.measures_of(declared()), values)}
    caption = say("potential_robustness.figure.diagram")
    said = EN(axes.with_rule(caption, [("A", similarity, reached)], declared()))
    assert says in said
    assert (said == EN(caption)) == (not says)


def test_several_training_sets_are_one_in_the_tests() -> None:
    train = STUDY.datasets[0]
    truth, score = columns(train)
    halves = [
        Study(
            datasets=(
                _part(train, "first", slice(0, 90)),
                _part(train, "second", slice(90, None)),
                *STUDY.datasets[1:],
            )
        )
    ]
    found, whole = answer(halves[0]), answer(STUDY)
    assert len(truth) == len(score) == 200
    for name in ("auc", "standardized_net_benefit", "brier"):
        of: dict[str, Any] = {"endpoint": name, "dataset": "site 0"}
        assert only(found, "p_performance", **of).p == pytest.approx(
            only(whole, "p_performance", **of).p, abs=1e-9
        )


def _part(one: Dataset, name: str, of: slice) -> Dataset:
    truth, score = columns(one)
    assert one.features is not None
    return dataset(name, "training", truth[of], score[of], one.features[of])
