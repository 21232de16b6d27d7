"""Power and size of the next study: what they are planned from, and where there is nothing to plan from."""

from math import isnan
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.dimensions.test_reliance import rules_hold, texts
from tests.english import english
from tests.studies import plan, readings
from trustreport.assessment.dimensions.decision_benefit import DIMENSION
from trustreport.assessment.dimensions.decision_benefit.next_study import DIFFERENCE, MULTIPLES
from trustreport.assessment.finding import Finding
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions
from trustreport.measures.mrmc.power import PLANNED, cases_needed, components, power
from trustreport.vocabulary.results import Result


def correct(unaided: float, aided: float, shape: tuple[int, int] = (6, 80)) -> NDArray[np.bool_]:
    """Right decisions of a crossed study."""
    rates = np.array([unaided, aided])[:, None, None]
    return np.random.default_rng(4).random((2, *shape)) < rates


def answer(right: NDArray[np.bool_], missing: NDArray[np.bool_] | None = None, **groups: Any) -> Finding:
    assert DIMENSION.answer is not None
    found = DIMENSION.answer(readings(right, missing), plan(**groups))
    rules_hold(found)
    return found


def results_of(found: Finding, id: str) -> list[Result]:
    return [r for r in found.results if r.id == f"decision_benefit.{id}"]


def test_power_is_that_of_the_measure_at_every_place_of_the_grid() -> None:
    right = correct(0.7, 0.72)
    found = answer(right)
    pilot = components(fit_proportions(right[::-1].astype(float)))
    grid = results_of(found, "power")
    assert len(grid) == len(MULTIPLES) ** 2
    for r in grid:
        chosen = r.scope["parameters"]
        assert chosen["difference"] == DIFFERENCE
        one = power(pilot, DIFFERENCE, chosen["n_readers"], chosen["n_cases"])
        assert r.estimate.value == pytest.approx(one.value, rel=1e-9)
        assert PLANNED in r.estimate.note
    (needed,) = results_of(found, "cases_needed")
    direct = cases_needed(pilot, DIFFERENCE, 6).value
    assert needed.estimate.value == pytest.approx(direct, nan_ok=True)
    assert needed.scope["parameters"] == {"n_readers": 6, "power": 0.8, "difference": DIFFERENCE}


def test_more_readers_and_more_cases_find_more() -> None:
    grid = {
        (r.scope["parameters"]["n_readers"], r.scope["parameters"]["n_cases"]): r.estimate.value
        for r in results_of(answer(correct(0.7, 0.72)), "power")
    }
    for (readers, cases), value in grid.items():
        assert 0.05 <= value <= 1
        assert all(value <= v + 1e-12 for (r, c), v in grid.items() if r >= readers and c >= cases)


def test_the_difference_is_declared_or_the_one_found_or_five_points() -> None:
    strong = correct(0.6, 0.85)
    declared = answer(strong, limits={"power_difference": 0.03})
    assert results_of(declared, "power")[0].scope["parameters"]["difference"] == 0.03
    assert any("is declared in the manifest" in text for text in texts(declared))
    observed = answer(strong)
    change = float(np.diff(strong.mean(axis=(1, 2)))[0])
    assert results_of(observed, "power")[0].scope["parameters"]["difference"] == pytest.approx(
        change, abs=5e-4
    )
    assert any("the one observed here" in text for text in texts(observed))
    neither = answer(correct(0.7, 0.7))
    assert results_of(neither, "power")[0].scope["parameters"]["difference"] == DIFFERENCE
    assert any("none is declared and none was shown" in text for text in texts(neither))


def test_readers_who_differ_too_much_need_more_readers() -> None:
    right = np.zeros((2, 4, 60), bool)
    right[:, :, :30] = True
    for j, gained in enumerate((0, 25, -20, 15)):
        right[1, j, : 30 + gained] = True
        right[1, j, 30 + min(gained, 0) : 30] &= gained >= 0
    found = answer(right)
    (needed,) = results_of(found, "cases_needed")
    assert isnan(needed.estimate.value)
    assert any("more readers are needed" in text for text in texts(found))


def test_a_negative_component_counts_as_nothing_and_is_said() -> None:
    # Every reader gains on other cases but by the same number: they differ less than their cases do.
    right = np.zeros((2, 6, 60), bool)
    right[:, :, 30:] = True
    for j in range(6):
        right[1, j, 5 * j : 5 * j + 5] = True
    found = answer(right)
    notes = {r.estimate.note for r in results_of(found, "power")}
    assert len(notes) == 1
    assert "component is negative in this study and is set to 0" in english(notes.pop())
    assert any("set to 0" in text for text in texts(found))


@pytest.mark.parametrize("why", ["one reader", "missing readings", "nothing varies"])
def test_without_components_no_size_is_planned(why: str) -> None:
    right = correct(0.7, 0.8, (1, 60) if why == "one reader" else (4, 60))
    missing = None
    if why == "missing readings":
        missing = np.zeros(right.shape, bool)
        missing[0, 0, :5] = True
    if why == "nothing varies":
        right[:] = True
    found = answer(right, missing)
    assert not results_of(found, "power")
    assert not results_of(found, "cases_needed")
    assert any(text.startswith("Power and sample size of a next study") for text in texts(found))


def test_nearly_certain_power_is_not_printed_as_certain() -> None:
    found = answer(correct(0.5, 0.9, (10, 200)))
    said = texts(found)
    assert "over 99%" in said
    assert "100%" not in said
