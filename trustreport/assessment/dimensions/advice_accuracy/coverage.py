"""Accuracy as the device leaves more cases undecided: results, sentences, table and figure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf, isnan, log10
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.advice_accuracy.results import ID
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.texts import Item, Texts, set_label
from trustreport.assessment.performance.cases import Mask, ScoredCases
from trustreport.assessment.performance.measures import as_entries, pair
from trustreport.figures import numbers
from trustreport.figures.curves import LineOver, LinePoint, LinesChart, LinesPanel
from trustreport.figures.panels import MOST_PANELS
from trustreport.measures.estimate import Estimate
from trustreport.measures.protocols import ByCertainty, accuracy_at_coverage, by_certainty
from trustreport.study.plan import Plan
from trustreport.study.study import Floats
from trustreport.vocabulary.digits import share
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.results import Result

TEXT = f"{ID}.coverage"
COVERAGES = (1.0, 0.9, 0.8, 0.7, 0.5)
HALF = 0.5
SAME = 12  # digits to which two distances are equal: .7 and .3 are as far from .5
POINTS = 60
# A curve begins where so many cases are decided: with fewer its band is the whole range.
FIRST_CASES, FIRST_SHARE = 20, 0.1
SENTENCES = 4  # sets that have sentences of their own

text = Texts(TEXT)


@dataclass(frozen=True, eq=False)
class Coverage:
    """The cases of a candidate with the certainty of each decision (NaN: no result), and its results."""

    case: ScoredCases
    right: Mask
    certainty: Floats
    ranked: ByCertainty
    by: str
    results: tuple[Result, ...]

    def lead(self, coverage: float) -> Estimate:
        """The primary estimate at a coverage."""
        return next(r.estimate for r in self.results if r.primary and r.parameters["coverage"] == coverage)

    def at_coverage(self, coverage: float, level: float) -> Estimate:
        """The estimate at any coverage, clusters respected."""
        return accuracy_at_coverage(
            self.right,
            self.certainty,
            coverage,
            ranked=self.ranked,
            cluster=self.case.cluster,
            level=level,
        )

    @property
    def decided(self) -> int:
        """Cases with a result."""
        return len(self.ranked.certainty)


def _to_same_digits(away: Floats) -> Floats:
    """Distances rounded to digits of the greatest, so that equal ones are equal in any unit of the score."""
    largest = float(np.nanmax(away, initial=0.0))
    if not 0 < largest < inf:
        return away
    unit = 10.0 ** min(ceil(log10(largest)), 308)
    return np.asarray((away / unit).round(SAME) * unit)


def coverage_of(case: ScoredCases, plan: Plan) -> Coverage | None:
    """The curve of a candidate that decides, by confidence or by distance from its threshold; else None."""
    held = case.dataset.scores[case.candidate].confidence
    threshold = plan.threshold_of(case.candidate)
    if case.decision is None or not len(case):
        return None
    certainty: Floats
    if held is not None:
        by, certainty = "confidence", held[case.rows]
    elif case.score is not None and threshold is not None:
        by, certainty = "distance", _to_same_digits(np.abs(case.score - threshold))
    else:
        return None
    certainty = np.where(case.failed, np.nan, certainty)
    right = case.decision == case.truth
    ranked = by_certainty(right, certainty)
    results = tuple(_results(case, right, certainty, ranked, by, plan))
    return Coverage(case, right, certainty, ranked, by, results)


def _results(
    case: ScoredCases,
    right: Mask,
    certainty: Floats,
    ranked: ByCertainty,
    by: str,
    plan: Plan,
) -> Iterator[Result]:
    given: dict[str, Any] = {"ranked": ranked, "level": plan.report.confidence_level}
    for coverage in COVERAGES:
        alone = accuracy_at_coverage(right, certainty, coverage, **given)
        grouped = None
        if case.cluster is not None:
            grouped = accuracy_at_coverage(right, certainty, coverage, cluster=case.cluster, **given)
            grouped = None if grouped.method == alone.method else grouped
        yield from as_entries(
            f"{ID}.accuracy_at_coverage",
            case.place,
            pair(alone, grouped),
            clustered=case.cluster is not None,
            parameters={"coverage": coverage, "by": by},
            cases=case.key,
        )


def coverage_parts(found: Sequence[Coverage], plan: Plan) -> Iterator[Part]:
    """One part over all sets and candidates; nothing where none has a certainty."""
    if found:
        yield text.part(_items(found, plan.report.confidence_level), text("title"))


def _items(found: Sequence[Coverage], level: float) -> Iterator[Item]:
    own = [one for one in found if one.case.dataset.role != "period"] or found
    for one in own[:SENTENCES]:
        yield from _sentences(one)
    yield text.table(
        "coverage_table",
        text("table"),
        (
            ".set cases .by",
            *(text.column("at", "percent", coverage=c) for c in sorted(COVERAGES)),
        ),
        [
            (
                set_label(one.case.name, one.case.dataset.role),
                len(one.case),
                text(f"order.{one.by}"),
                *map(one.lead, sorted(COVERAGES)),
            )
            for one in found
        ],
    )
    for number, start in enumerate(range(0, len(own), MOST_PANELS), 1):
        yield _figure(own[start : start + MOST_PANELS], number, level)


def _sentences(one: Coverage) -> Iterator[Message]:
    name, e = set_label(one.case.name, one.case.dataset.role), one.lead(HALF)
    if isnan(e.value):
        yield text("undefined", name=name, reason=e.note)
        return
    yield text(
        "fuller",
        name=name,
        all=share(int(one.ranked.right[-1]), one.decided),
        decided=one.decided,
        n=len(one.case),
        by=text(f"certainty.{one.by}"),
        half=e.value,
        low=e.low,
        high=e.high,
        level=e.level,
        cases=e.n,
    )
    left = len(one.case) - one.decided
    if left:
        yield text("undecided", name=name, n=left, of=len(one.case))


def _figure(some: Sequence[Coverage], number: int, level: float) -> Figure:
    panels = tuple(_panel(one, level, named=len(some) > 1) for one in some)
    drawn = [p for panel in panels for line in panel.lines for p in (*line.points, *line.marked)]
    first = min(*(p.x for p in drawn), HALF)  # where all confidences are equal there is one point
    ends = numbers.axis_ends((y for p in drawn for y in (p.y, p.low, p.high)), 0.0, 1.0)
    full = some[0].at_coverage(some[0].decided / len(some[0].case), level)
    marked = text("marked", level=level)
    return text.figure(
        f"coverage_{number}",
        LinesChart(panels, text("x"), text("y"), (first, 1.0), ends, marked, percent=True),
        "curve",
        level=level,
        n=len(some),
        names=[one.case.name for one in some],
        half=some[0].lead(HALF).value,
        all=full.value,
    )


def _panel(one: Coverage, level: float, *, named: bool) -> LinesPanel:
    n, decided = len(one.case), one.decided
    first = min(max(FIRST_CASES, FIRST_SHARE * n), decided) / n
    points = _points(one, np.linspace(first, decided / n, POINTS).tolist(), level)
    marked = _points(one, [c for c in COVERAGES if not isnan(one.lead(c).value)], level)
    return LinesPanel(
        set_label(one.case.name, one.case.dataset.role) if named else "",
        (LineOver(text("device"), points, marked),),
    )


def _points(one: Coverage, coverages: Sequence[float], level: float) -> tuple[LinePoint, ...]:
    """Each set of decided cases once, at the coverage that it has."""
    made = {}
    for coverage in coverages:
        e = one.at_coverage(coverage, level)
        if not isnan(e.value):
            made[e.details["coverage"]] = LinePoint(e.details["coverage"], e.value, e.low, e.high)
    return tuple(made[x] for x in sorted(made))
