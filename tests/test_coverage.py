"""The program that simulates coverage: what it counts, how it judges, its table in docs, and a small run."""

import csv
from collections import Counter
from collections.abc import Callable, Iterator
from math import isfinite, nan
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scipy.stats import binom
from statsmodels.stats.proportion import proportion_confint

from tests.english import english
from tests.programs import loaded
from trustreport.api import Assessed
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE
from trustreport.measures.notes import NO_CASE, OFTEN_ABOVE, OFTEN_BELOW
from trustreport.vocabulary.quantities import CHANGES, OF_METRIC, VALUES, ids

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def coverage() -> Iterator[ModuleType]:
    """benchmarks/coverage.py, with its folder on the path as when it is run."""
    yield from loaded("coverage", "coverage_of_intervals")


def test_an_interval_is_counted_where_it_is(coverage: ModuleType) -> None:
    found = coverage.Tally()
    for low, high, said in (
        (0.4, 0.6, NO_NOTE),
        (0.1, 0.2, NO_NOTE),
        (0.7, 0.9, NO_NOTE),
        (nan, nan, NO_CASE),
        (nan, nan, NO_NOTE),
    ):
        found.add(Estimate(0.5, low, high, 10, note=said), 0.5, 1.0)
    assert (found.runs, found.covered, found.below, found.above) == (5, 1, 1, 1)
    assert (found.without, found.said) == (2, 1)
    assert found.width == pytest.approx(0.2 + 0.1 + 0.2)


def test_coverage_of_a_share_is_that_of_wilsons_interval(coverage: ModuleType) -> None:
    """Every outcome enumerated; limits by statsmodels."""
    work = [(str(BENCHMARKS), "shares", number, 0, 1) for number in (60, 98)]
    rows = coverage.rows(work, [coverage.tally(*one) for one in work])
    for row, p in zip(rows, (0.8, 0.99), strict=True):
        assert row["design"] == f"20 cases, share {p:g}"
        limits = [proportion_confint(x, 20, method="wilson") for x in range(21)]
        covered = sum(binom.pmf(x, 20, p) for x, (low, high) in enumerate(limits) if low <= p <= high)
        assert row["covered"] == pytest.approx(covered, abs=1e-12)
        assert (row["runs"], row["error"]) == ("exact", 0.0)


def row(**more: Any) -> dict[str, Any]:
    made = {"topic": "t", "design": "d", "quantity": "q", "true": 0.8, "runs": 2000, "without": 0.0}
    made |= {"below": 0.025, "above": 0.025}
    return {**made, "due": True, "share": False, "neighbours": None, "none": False, **more}


SHARE: dict[str, Any] = {"share": True, "runs": "exact"}


@pytest.mark.parametrize(
    ("of", "verdict"),
    [
        ({}, "accepted"),
        ({"above": 0.043}, "accepted"),  # .035 and two Monte Carlo errors of .0045
        ({"above": 0.045}, "fails"),  # though both sides together are .07
        ({"below": 0.045, "above": 0.0}, "fails"),
        ({"above": 0.045, "runs": 400}, "accepted"),
        ({"above": 0.036, "runs": "exact"}, "fails"),
        ({"without": 0.11}, "fails"),
        ({"without": 0.11, "due": False}, "accepted"),
        ({"none": True}, "fails"),
        ({**SHARE, "above": 0.035}, "accepted"),
        ({**SHARE, "above": 0.04}, "fails"),  # of the mean
        ({**SHARE, "below": 0.06}, "accepted"),  # towards one half
        ({**SHARE, "below": 0.07}, "fails"),
        ({**SHARE, "below": 0.06, "true": 0.2}, "fails"),
        ({**SHARE, "below": 0.06, "quantity": "accuracy, change"}, "fails"),
    ],
)
def test_a_row_is_judged(coverage: ModuleType, of: dict[str, Any], verdict: str) -> None:
    assert [one["verdict"] for one in coverage.judged([row(**of)])] == [verdict]


def test_shares_are_averaged_with_their_neighbours(coverage: ModuleType) -> None:
    rows = [
        row(**SHARE, above=above, neighbours=("n", float(i)))
        for i, above in reversed(list(enumerate((0.02, 0.045, 0.03, 0.045, 0.051))))
    ]
    verdicts = {one["neighbours"][1]: one["verdict"] for one in coverage.judged(rows)}
    # Means: .0325, .0317, .04, .042, .048; the last is above .05 by itself too.
    assert [verdicts[float(i)] for i in range(5)] == ["accepted", "accepted", "fails", "fails", "fails"]


def test_the_committed_rows_are_judged_as_they_say(coverage: ModuleType) -> None:
    found = coverage.committed(coverage.RESULTS)
    said = [one["verdict"] for one in found]
    assert [one["verdict"] for one in coverage.judged(found)] == said


def test_the_notes_say_how_far_a_side_is_short(coverage: ModuleType) -> None:
    for side, said in (("above", OFTEN_ABOVE), ("below", OFTEN_BELOW)):
        worst = max(float(one[side]) for one in committed(coverage) if float(one[f"{side}_aside"] or 0) > 0)
        assert f"in up to {worst:.0%}" in english(said)


def test_a_miss_on_a_side_that_is_set_aside_is_not_judged(coverage: ModuleType) -> None:
    short = {**row(above=0.2), "above_aside": 0.19}
    assert [one["verdict"] for one in coverage.judged([short, row(above=0.2)])] == ["accepted", "fails"]


def test_docs_have_the_table_of_the_last_run(coverage: ModuleType) -> None:
    text = coverage.DOCS.read_text(encoding="utf-8")
    assert coverage.with_table(text, coverage.table()) == text
    with coverage.RESULTS.open(encoding="utf-8") as lines:
        found = list(csv.DictReader(lines))
    assert {one["verdict"] for one in found} <= {"accepted", "listed"}


def committed(coverage: ModuleType) -> list[dict[str, str]]:
    with coverage.RESULTS.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_every_quantity_that_a_criterion_may_name_has_a_row_or_a_reason(coverage: ModuleType) -> None:
    import covered

    names, rows = {*ids(), *VALUES, *CHANGES, *OF_METRIC}, committed(coverage)
    reasons = Counter(name for of in covered.REASONS.values() for name in of)
    assert max(reasons.values()) == 1
    assert {name for name in names if covered.row_of(name, rows) is None} == set(reasons)
    assert covered.ALSO.keys() <= names


def test_every_regime_has_its_rows(coverage: ModuleType) -> None:
    from regimes import TOPICS

    found = {(row["topic"], row["design"]) for row in committed(coverage)}
    declared = {(r.topic, r.design) for topic in TOPICS.values() for r in topic() if not r.beside}
    assert declared == found


@pytest.mark.parametrize("example", ["annotations", "assisted-reading", "procurement-triage"])
def test_what_is_said_to_have_no_interval_has_none(
    coverage: ModuleType, assessed_example: Callable[[str], Assessed], example: str
) -> None:
    import covered

    without = {name for why in (covered.TESTED, covered.DERIVED) for name in covered.REASONS[why]}
    for r in assessed_example(example).results:
        e = r.estimate
        wide = isfinite(e.low) and isfinite(e.high) and e.low < e.high
        assert not (r.primary and wide and r.name in without), r.id


@pytest.mark.slow
def test_a_small_run_is_accepted(
    coverage: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One regime or a few of each topic, 15 studies of each; 4 where a study takes a tenth of a second."""
    from regimes import TOPICS

    costly = {topic for topic, regimes in TOPICS.items() if next(regimes()).cost >= 0.1}
    for runs, topics in (("15", TOPICS.keys() - costly), ("4", costly)):
        words = ["--runs", runs, "--jobs", "1", "--every", "37", "--out", str(tmp_path / f"{runs}.csv")]
        assert coverage.main([*words, "--topics", ",".join(sorted(topics))]) == 0, capsys.readouterr().out
