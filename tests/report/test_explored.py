"""What the page explores: at the declared threshold as in the results, of a public report nothing more."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from tests.report.test_inversion import written
from trustreport.api import Assessed, assess, read_study
from trustreport.assessment.explored import (
    MEASURED,
    MOST_THRESHOLDS,
    explored_sets,
    reader_change,
)
from trustreport.assessment.release.cells import tables_of
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import at_prevalence
from trustreport.report.release import released
from trustreport.vocabulary.place import Place

LEAST = 5


def primary(assessment: Any, dataset: str) -> Mapping[str, Any]:
    return {
        r.quantity.id: r.estimate
        for r in assessment.results
        if r.primary and r.dimension == "advice_accuracy" and r.place.dataset == dataset and not r.parameters
        if r.place.threshold is None
    }


def test_the_declared_threshold_has_the_numbers_of_the_results(
    assessed_example: Callable[[str], Assessed],
) -> None:
    assessment = assessed_example("certification-dossier")
    sets = explored_sets(assessment)
    assert [one.name for one in sets] == ["internal test", "Northhaven", "Eastfield", "Southport"]
    for one in sets:
        assert 2 < len(one.points) <= MOST_THRESHOLDS + 1
        at = one.points[one.locked]
        assert at.threshold == 0.2
        results = primary(assessment, one.name)
        assert at.cells == tuple(results[name].value for name in ("tp", "fp", "fn", "tn"))
        for name, limits in zip(MEASURED, at.limits):
            assert limits == pytest.approx((results[name].low, results[name].high), abs=1e-12)
        called = [tp + fp for tp, fp, _, _ in (point.cells for point in one.points)]
        assert called == sorted(called, reverse=True)  # the higher the threshold, the fewer


def test_predictive_values_at_any_prevalence_follow_from_those_at_one_half(tmp_path: Any) -> None:
    written(tmp_path / "study", 1, 150, "internal")
    (one, _) = explored_sets(assess(*read_study(tmp_path / "study")))
    for point in one.points[:: len(one.points) // 7]:
        for name, even, mirrored in (("ppv", point.limits[4], False), ("npv", point.limits[5], True)):
            expected = at_prevalence(name, ConfusionCounts(*point.cells), 0.07)
            share = 0.93 if mirrored else 0.07
            for limit, wanted in zip(even, (expected.low, expected.high)):
                if limit is None:
                    assert np.isnan(wanted)
                else:
                    found = share * limit / (share * limit + (1 - share) * (1 - limit))
                    assert found == pytest.approx(wanted, abs=1e-9)


def test_the_gain_of_readers_has_the_printed_interval_at_the_printed_prevalence(
    assessed_example: Callable[[str], Assessed],
) -> None:
    assessment = assessed_example("certification-dossier")
    change = reader_change(assessment)
    assert change is not None
    (printed,) = [
        r.estimate
        for r in assessment.results
        if r.id == "decision_benefit.mean_benefit" and r.parameters.get("prevalence") and r.primary
        if not r.place.subgroup
    ]
    q = 0.27
    half = [(high - low) / 2 for _, low, high in (change.sensitivity, change.specificity)]
    width = (q * half[0]) ** 2 + ((1 - q) * half[1]) ** 2 + 2 * q * (1 - q) * change.shared
    assert q * change.sensitivity[0] + (1 - q) * change.specificity[0] == pytest.approx(printed.value)
    assert width**0.5 == pytest.approx((printed.high - printed.low) / 2)


def test_a_public_report_lets_nobody_explore_what_it_does_not_print(tmp_path: Any) -> None:
    points = []
    for seed in range(1, 7):
        written(tmp_path / str(seed), seed, 400, "public")
        assessment = released(assess(*read_study(tmp_path / str(seed))))
        seen = [r for r in assessment.results if not np.isnan(r.estimate.value)]
        printed = {p.dataset: t for p, t in tables_of(seen).items() if p == Place(dataset=p.dataset)}
        for one in explored_sets(assessment):
            (point,) = one.points
            points.append(point)
            assert all(n == 0 or n >= LEAST for n in point.cells)
            assert point.cells == tuple(printed[one.name][name] for name in ("tp", "fp", "fn", "tn"))
    assert points
