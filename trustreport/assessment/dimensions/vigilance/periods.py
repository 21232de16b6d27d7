"""The periods of routine use and their baseline, and which of their cases are analysed."""

import datetime as dt
from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import Outputs, ScoredCases, of_dataset, outputs
from trustreport.assessment.performance.keys import case_key, cut_of, is_mature
from trustreport.assessment.performance.measures import Matched, matched
from trustreport.measures.cluster import Clusters
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.estimate import Estimate
from trustreport.measures.proportion import wilson
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import DatasetFacts, Plan
from trustreport.study.study import Binary, Coded, Dataset, Floats, Readings, Scores, Study
from trustreport.vocabulary.place import Place

ID = "vigilance"
# Words of a status that say why there is no output.
REFUSED = ("refused", "refusal", "rejected", "declined")
FAILED = ("failed", "failure", "error", "crashed")
# A column of groups with more names than this is no case mix.
MOST_GROUPS = 12


@dataclass(frozen=True, eq=False)
class Period:
    """A period, or the baseline, by one candidate; `dataset` is None where no case of it was provided.

    A period is a data set: `cases` are its analysed cases, as every other number on them has them, None
    where the candidate gave no outputs. `outputs`, `mature` and `cluster` (n_cases,) are of all cases of the
    set; `cluster` is None where each is one of its own.
    """

    name: str
    facts: DatasetFacts | None
    dataset: Dataset | None
    candidate: str
    place: Place
    outputs: Outputs
    mature: NDArray[np.bool_]
    cases: ScoredCases | None
    cluster: Clusters | None
    memo: dict[int, tuple["Period", Matched]] = field(default_factory=dict, repr=False)

    def matched(self, other: "Period", plan: Plan) -> Matched:
        """The clusters of both periods, by their names; both hold cases."""
        assert self.dataset is not None
        assert other.dataset is not None
        if id(other) not in self.memo:
            # The other period is kept beside, so that no later one may take its identity.
            self.memo[id(other)] = (other, matched(self.dataset, other.dataset, plan))
        return self.memo[id(other)][1]

    def share(self, event: NDArray[np.bool_], counted: NDArray[np.bool_], level: float) -> Estimate:
        """The share of cases with an event among those that count, (n_cases,) each; by clusters if any."""
        if self.cluster is None or not counted.any():
            return wilson(int(event[counted].sum()), int(counted.sum()), level)
        # Cells of a made-up table in which every case is positive: its sensitivity is the share of events.
        everybody = np.ones(int(counted.sum()), bool)
        cells = cluster_cells(everybody, event[counted], self.cluster[counted])
        return clustered("sensitivity", cells, level=level)

    def __len__(self) -> int:
        return 0 if self.dataset is None else len(self.dataset.cases)

    @cached_property
    def truth(self) -> Binary:
        """The truth of each case, -1 where unknown."""
        return np.zeros(0, np.int8) if self.dataset is None else self.dataset.cases.truth

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Cases that are analysed: mature, of known truth, with an output or failed."""
        found = np.zeros(len(self), bool)
        if self.cases is not None:
            found[self.cases.rows] = True
        return found

    @cached_property
    def output(self) -> Binary:
        """What the candidate itself said of each case, 1 positive, 0 negative; -1 without an output."""
        return np.where(self.outputs.present, self.outputs.decision, -1).astype(np.int8)

    @cached_property
    def decision(self) -> Binary:
        """The decision of each case, failed cases of known truth by the rule; -1 where there is none."""
        found = self.output.copy()
        if self.cases is not None and self.cases.decision is not None:
            found[self.cases.rows] = self.cases.decision
        return found

    @property
    def score(self) -> Floats:
        """The score of each case that is used, NaN where there is none."""
        return np.where(self.outputs.present, self.outputs.score, np.nan)

    @property
    def key(self) -> str:
        """Which cases the period holds (`trustreport.assessment.performance.keys`)."""
        return case_key(self.name, self.dataset.cases.labels) if self.dataset else ""

    def column(self, name: str) -> Coded | None:
        """A column of names: site, patient, or a group of cases; None where there is none."""
        if self.dataset is None:
            return None
        cases = self.dataset.cases
        own = {"site": cases.site, "patient": cases.patient}
        return own[name] if name in own else cases.groups.get(name)

    @property
    def date(self) -> NDArray[np.datetime64] | None:
        return None if self.dataset is None else self.dataset.cases.date

    @property
    def scores(self) -> Scores | None:
        """What the candidate said."""
        return None if self.dataset is None else self.dataset.scores.get(self.candidate)

    @property
    def start(self) -> dt.date | None:
        """First day, as declared, else of its cases."""
        if self.facts is not None and self.facts.start_date:
            return self.facts.start_date
        return _day(self.date, first=True)

    @property
    def end(self) -> dt.date | None:
        """Last day, as declared, else of its cases."""
        if self.facts is not None and self.facts.end_date:
            return self.facts.end_date
        return _day(self.date, first=False)


def _day(dates: NDArray[np.datetime64] | None, *, first: bool) -> dt.date | None:
    if dates is None or np.isnat(dates).all():
        return None
    given = dates[~np.isnat(dates)]
    return dt.date.fromisoformat(str((given.min() if first else given.max()).astype("datetime64[D]")))


def is_month(period: Period) -> bool:
    """Whether a period is one calendar month."""
    start, end = period.start, period.end
    if start is None or end is None or start.day != 1:
        return False
    return end == dt.date(start.year, start.month, monthrange(start.year, start.month)[1])


@dataclass(frozen=True, eq=False)
class Timeline:
    """The periods of one candidate in order of time, and what they are compared with.

    `declared_baseline` is False where none is declared and the first period stands in; it is then no longer
    among `periods`. `cut` is the day until which truths are known, None where nothing tells it.
    """

    candidate: str
    several: bool
    baseline: Period | None
    declared_baseline: bool
    periods: tuple[Period, ...]
    cut: dt.date | None

    @property
    def place(self) -> Place:
        """Where the numbers on all periods of this candidate belong."""
        names = tuple(period.name for period in self.periods)
        return Place(datasets=names, candidate=self.candidate if self.several else None)

    @property
    def last(self) -> Period | None:
        """The latest period that holds cases."""
        return next((p for p in reversed(self.periods) if len(p)), None)

    @property
    def with_baseline(self) -> tuple[Period, ...]:
        return ((self.baseline,) if self.baseline else ()) + self.periods

    def before(self, k: int) -> Period | None:
        """The period with cases before the k-th; the baseline is none."""
        return next((p for p in reversed(self.periods[:k]) if len(p)), None)


def timelines(study: Study, plan: Plan) -> list[Timeline]:
    """One for each candidate that scored a period; one without scores where none did."""
    held = {d.name: d for d in study.datasets}
    names = period_names(study, plan)
    scored = dict.fromkeys(c for name in names if name in held for c in held[name].scores)
    candidates = list(scored) or [""]
    return [_timeline(c, len(candidates) > 1, names, held, study, plan) for c in candidates]


def period_names(study: Study, plan: Plan) -> list[str]:
    """The data sets that are periods, in order of their start where all tell it, else of the manifest."""
    facts = {d.dataset: d for d in plan.datasets if d.role == "period"}
    names = list(dict.fromkeys([*facts, *(d.name for d in study.datasets if d.role == "period")]))
    held = {d.name: d for d in study.datasets}
    starts = {}
    for name in names:
        declared = facts[name].start_date if name in facts else None
        starts[name] = declared or _day(held[name].cases.date if name in held else None, first=True)
    known = [start for start in starts.values() if start is not None]
    if len(known) == len(names):
        names.sort(key=lambda name: starts[name] or dt.date.min)
    return names


def _timeline(
    candidate: str, several: bool, names: Sequence[str], held: dict[str, Dataset], study: Study, plan: Plan
) -> Timeline:
    facts = {d.dataset: d for d in plan.datasets}
    wanted = plan.vigilance.baseline_dataset if plan.vigilance else None
    declared = bool(wanted) and (wanted in held or wanted in facts)
    base = wanted if declared else next((n for n in names if n in held), None)
    alone = not declared and len(names) < 2

    def made(name: str) -> Period:
        """The period of a data set, with what is declared of it."""
        place = Place(dataset=name, period=name, candidate=candidate if several else None)
        return _period(place, candidate, facts.get(name), held.get(name), study, plan)

    rest = [name for name in names if name != base or alone]
    return Timeline(
        candidate,
        several,
        made(base) if base and not alone else None,
        declared,
        tuple(made(name) for name in rest),
        cut_of(study.datasets, plan),
    )


def _period(
    place: Place,
    candidate: str,
    facts: DatasetFacts | None,
    dataset: Dataset | None,
    study: Study,
    plan: Plan,
) -> Period:
    n = 0 if dataset is None or len(dataset.cases.classes) != 2 else len(dataset.cases)
    dataset = dataset if n else None
    found = outputs(dataset.scores.get(candidate) if dataset else None, n, plan, candidate)
    mature = is_mature(dataset, study, plan) if dataset else np.ones(0, bool)
    every = of_dataset(dataset, study, plan) if dataset else ()
    own = next((one for one in every if one.candidate == candidate), None)
    cluster = clusters_of(dataset, plan).of_case if dataset else None
    return Period(str(place.period), facts, dataset, candidate, place, found, mature, own, cluster)


def mature_on(period: Period, plan: Plan) -> dt.date | None:
    """The day on which the last case of a period becomes mature."""
    days = plan.reference_standard.maturity_days
    last = _day(period.date, first=False) or period.end
    return last + dt.timedelta(days=float(days)) if days is not None and last is not None else None


def mix_columns(timeline: Timeline, plan: Plan, *, declared: bool = False) -> list[str]:
    """The columns whose mix is watched: all with few names; only the declared subgroups where asked."""
    held: dict[str, None] = {}
    for period in timeline.with_baseline:
        if period.dataset is not None:
            held |= dict.fromkeys(period.dataset.cases.groups)
    wanted = [s.name for s in plan.subgroups if s.name in held] if declared else []
    return [c for c in wanted or held if all(_few(p.column(c)) for p in timeline.with_baseline)]


def _few(column: Coded | None) -> bool:
    return column is None or len(column.labels) <= MOST_GROUPS


def names_of(column: Coded | None, n: int) -> NDArray[np.object_]:
    """The name of each case in a column, None where it has none."""
    names = np.full(n, None, dtype=object)
    if column is not None:
        labels = np.array([*column.labels, None], dtype=object)
        names = labels[column.codes]
    return names


def readings_of(study: Study, timeline: Timeline) -> Iterator[tuple[Readings, dict[str, Readings]]]:
    """The readings of each task that belong to the periods and their baseline, by period.

    By the day of reading, else of the case, where it lies within the declared days of a period; else by the
    name of the case, where it is a case of one period only.
    """
    for readings in study.readings:
        at = _place(readings, timeline.with_baseline)
        found = {
            period.name: _some(readings, at == k)
            for k, period in enumerate(timeline.with_baseline)
            if (at == k).any()
        }
        if found:
            yield readings, found


def _place(readings: Readings, periods: Sequence[Period]) -> NDArray[np.int64]:
    place = np.full(len(readings), -1)
    day = readings.read_at
    if day is None and readings.cases.date is not None:
        day = readings.cases.date[readings.case]
    if day is not None and all(p.start and p.end for p in periods if len(p) or p.facts):
        days = day.astype("datetime64[D]")
        for k, p in enumerate(periods):
            if p.start and p.end:
                inside = (days >= np.datetime64(p.start)) & (days <= np.datetime64(p.end))
                place[inside & (place < 0)] = k
        return place
    of_case: dict[str, int] = {}
    for k, p in enumerate(periods):
        for name in p.dataset.cases.labels if p.dataset else ():
            of_case[name] = -1 if name in of_case else k
    by_case = np.array([of_case.get(name, -1) for name in readings.cases.labels] or [-1])
    return by_case[readings.case]


COLUMNS_OF_READINGS = (
    *("arm", "reader", "case", "decision", "score", "confidence", "seconds", "order"),
    *("read_at", "advice", "advice_score", "advice_type", "session"),
    *("second_decision", "second_score"),
)


def _some(readings: Readings, rows: NDArray[np.bool_]) -> Readings:
    cut: dict[str, Any] = {
        name: None if (column := getattr(readings, name)) is None else column[rows]
        for name in COLUMNS_OF_READINGS
    }
    cut["endpoints"] = {name: column[rows] for name, column in readings.endpoints.items()}
    return replace(readings, **cut)
