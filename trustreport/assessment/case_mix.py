"""What was read and used, who the cases were set by set, and which of them were wrong: counts alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.finding import Figure
from trustreport.assessment.performance.cases import ScoredCases, of_dataset
from trustreport.figures.flow import FlowFigure, ParticipantColumn, ParticipantFlow, Step
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Coded, Readings, Study
from trustreport.vocabulary.messages import Message, say

MAKING = ("training", "tuning")  # roles of data that made the device and do not test it
PARTICIPANTS = "participants_"  # how ids of figures of participants begin
COLUMNS, MOST_COLUMNS = 4, 12  # of a figure of participants, and of all of them
MOST_LEVELS = 12  # a column with more is described by its quartiles, if it holds numbers
# Designs in which a reader is not meant to read every case in every arm.
PARTIAL_DESIGNS = ("split-plot", "parallel")


@dataclass(frozen=True, slots=True)
class Characteristic:
    """A column of the cases: how many fall into each level, or median and quartiles of its numbers."""

    name: str
    levels: Mapping[str, int]
    quartiles: tuple[float, float, float] | None = None
    unknown: int = 0


@dataclass(frozen=True, slots=True)
class CaseMix:
    """The cases of one data set, or of the readings of one task (`role` is empty then).

    Of cases that are `followed` (time to an event) none is positive, negative or without truth.
    """

    name: str
    role: str
    n: int
    positive: int
    negative: int
    without_truth: int
    characteristics: tuple[Characteristic, ...] = ()
    statuses: Mapping[str, int] = field(default_factory=dict)
    followed: bool = False


@dataclass(frozen=True, slots=True)
class Errors:
    """Misses and false alarms of one device or arm in one set, by the levels of each characteristic.

    `by` holds characteristic, level, positives, missed, negatives, false alarms.
    """

    name: str
    who: str
    positives: int
    missed: int
    negatives: int
    false_alarms: int
    by: tuple[tuple[str, str, int, int, int, int], ...]


def case_mixes(study: Study) -> tuple[CaseMix, ...]:
    """The mix of every set of cases that a study holds."""
    by_readers = [one for one in study.localisations if one.readers is not None]
    found = [case_mix(r.task, "", r.cases) for r in study.readings]
    found += [case_mix(one.task, "", one.cases) for one in by_readers]
    for dataset in study.datasets:
        statuses: dict[str, int] = {}
        for scores in dataset.scores.values():
            for level, n in _counts(scores.status).items() if scores.status is not None else ():
                statuses[level] = statuses.get(level, 0) + n
        found.append(case_mix(dataset.name, dataset.role, dataset.cases, statuses))
    return tuple(found)


def case_mix(name: str, role: str, cases: Cases, statuses: Mapping[str, int] | None = None) -> CaseMix:
    """The mix of one set of cases."""
    columns = {**({"site": cases.site} if cases.site is not None else {}), **cases.groups}
    return CaseMix(
        name,
        role,
        len(cases),
        int(np.count_nonzero(cases.truth > 0)),
        int(np.count_nonzero(cases.truth == 0)),
        0 if cases.followed else int(np.count_nonzero(cases.truth < 0)),
        tuple(c for c in (_characteristic(k, column) for k, column in columns.items()) if c is not None),
        statuses or {},
        cases.followed,
    )


def _counts(column: Coded) -> dict[str, int]:
    n = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
    return {label: int(k) for label, k in zip(column.labels, n) if k}


def _characteristic(name: str, column: Coded) -> Characteristic | None:
    """A column told by its levels or its quartiles; None where it has too many words for either."""
    unknown = int(np.count_nonzero(column.codes < 0))
    if len(column.labels) <= MOST_LEVELS:
        return Characteristic(name, _counts(column), None, unknown)
    values = _numbers(column)
    if values is None:
        return None
    known = values[column.codes[column.codes >= 0]]
    low, middle, high = np.quantile(known, [0.25, 0.5, 0.75])
    return Characteristic(name, {}, (float(middle), float(low), float(high)), unknown)


def _numbers(column: Coded) -> NDArray[np.float64] | None:
    """The labels as numbers, or None if one is not."""
    try:
        values = np.array([float(label) for label in column.labels])
    except ValueError:
        return None
    return values if len(values) and all(map(isfinite, values)) and np.any(column.codes >= 0) else None


def errors(study: Study, plan: Plan) -> tuple[Errors, ...]:
    """The errors of every device on every data set, and of the readers of every task in every arm.

    Cases without an output count as the declared rule has it, as in every rate.
    """
    found = []
    for dataset in study.datasets:
        for case in of_dataset(dataset, study, plan):
            if case.decision is not None:
                who = case.place.candidate or ""
                found.append(_errors(dataset.name, who, dataset.cases, case.rows, case.decision))
    for readings in study.readings:
        found += _of_readers(readings)
    return tuple(one for one in found if one.positives or one.negatives)


def _of_readers(readings: Readings) -> Iterator[Errors]:
    if readings.decision is None:
        return
    for a, arm in enumerate(readings.arms):
        rows = (readings.arm == a) & (readings.decision >= 0)
        yield _errors(readings.task, arm, readings.cases, readings.case[rows], readings.decision[rows] == 1)


def _errors(
    name: str, who: str, cases: Cases, rows: NDArray[np.integer], decision: NDArray[np.bool_]
) -> Errors:
    """Count the errors of decisions (n,) on the cases that `rows` (n,) names."""
    truth = cases.truth[rows]
    positive, negative = truth == 1, truth == 0
    counted = (positive, positive & ~decision, negative, negative & decision)
    by: list[tuple[str, str, int, int, int, int]] = []
    columns = {**({"site": cases.site} if cases.site is not None else {}), **cases.groups}
    for key, column in columns.items():
        if len(column.labels) > MOST_LEVELS:
            continue
        codes, n = column.codes[rows], len(column.labels)
        table = [np.bincount(codes[which & (codes >= 0)], minlength=n) for which in counted]
        for i, label in enumerate(column.labels):
            k, wrong, m, alarmed = (int(c[i]) for c in table)
            if k or m:
                by.append((key, label, k, wrong, m, alarmed))
    positives, missed, negatives, alarms = (int(np.count_nonzero(which)) for which in counted)
    return Errors(name, who, positives, missed, negatives, alarms, tuple(by))


@dataclass(frozen=True, slots=True)
class TaskFlow:
    """The readings of one task: how many there are per arm, and how many the design lacks.

    `missing` is None where the design, not chance, decides who reads what.
    """

    task: str
    n_readers: int
    n_cases: int
    n_positive: int
    n_negative: int
    n_without_truth: int
    readings: Mapping[str, int]
    missing: Mapping[str, int] | None

    @property
    def expected(self) -> int:
        """Readings per arm if every reader read every case."""
        return self.n_readers * self.n_cases


def task_flow(readings: Readings, plan: Plan) -> TaskFlow:
    """Count the readings of one task. A reading counts that has a decision or a score."""
    judged = np.zeros(len(readings), bool)
    if readings.decision is not None:
        judged |= readings.decision >= 0
    if readings.score is not None:
        judged |= ~np.isnan(readings.score)
    present = {
        name: int(np.count_nonzero(judged & (readings.arm == a))) for a, name in enumerate(readings.arms)
    }
    truth = readings.cases.truth
    expected = len(readings.readers) * len(readings.cases)
    partial = plan.reading.design in PARTIAL_DESIGNS
    return TaskFlow(
        readings.task,
        len(readings.readers),
        len(readings.cases),
        int(np.count_nonzero(truth > 0)),
        int(np.count_nonzero(truth == 0)),
        int(np.count_nonzero(truth < 0)),
        present,
        None if partial else {name: expected - n for name, n in present.items()},
    )


def task_flows(study: Study, plan: Plan) -> tuple[TaskFlow, ...]:
    return tuple(task_flow(readings, plan) for readings in study.readings)


def flow_figures(study: Study, plan: Plan) -> tuple[Figure, ...]:
    """A flow figure per task, then the participants of the sets that test the device."""
    tasks = (_flow_figure(study, flow, i) for i, flow in enumerate(task_flows(study, plan), 1))
    return (*tasks, *_participant_figures(study, plan))


def _participant_figures(study: Study, plan: Plan) -> Iterator[Figure]:
    """From the eligible cases of a test set to the four cells; none in an audit, which compares periods."""
    if plan.report.kind == "vigilance":
        return
    cases = [
        case
        for dataset in study.datasets
        if dataset.role not in MAKING
        for case in of_dataset(dataset, study, plan)
        if case.decision is not None and not dataset.cases.followed
    ]
    for i in range(0, min(len(cases), MOST_COLUMNS), COLUMNS):
        columns = tuple(_participants(case, plan) for case in cases[i : i + COLUMNS])
        names, caption = [column.name for column in columns], say("flow.participants")
        if len(cases) > MOST_COLUMNS and i + COLUMNS >= MOST_COLUMNS:
            caption = say("flow.participants_cut", n=len(cases) - MOST_COLUMNS, caption=caption)
        yield Figure(
            f"{PARTICIPANTS}{i // COLUMNS + 1}",
            ParticipantFlow(columns),
            caption,
            say("flow.participants_alt", names=names, n=sum(column.analysed for column in columns)),
        )


def _participants(case: ScoredCases, plan: Plan) -> ParticipantColumn:
    """The column of one device on one set; who was excluded before the table was made is declared."""
    facts = next((d for d in plan.datasets if d.dataset == case.dataset.name), None)
    excluded = [(e.reason, e.n) for e in (facts.exclusions if facts else None) or ()]
    n = len(case.dataset.cases)
    unknown = (say("flow.without_truth"), n - case.n_counted), (say("flow.not_given"), case.n_not_given)
    decision = case.truth if case.decision is None else case.decision
    cells = [int(np.count_nonzero(mask)) for mask in (case.truth & decision, case.truth & ~decision)]
    cells += [int(np.count_nonzero(mask)) for mask in (~case.truth & decision, ~case.truth & ~decision)]
    rule = {"wrong": "failed_wrong", "positive": "failed_positive", "negative": "failed_negative"}[case.rule]
    return ParticipantColumn(
        " · ".join(filter(None, (case.dataset.name, case.place.candidate))),
        n + sum(k for _, k in excluded),
        (*excluded, *unknown),
        len(case.rows),
        (say(f"flow.{rule}"), int(case.failed.sum())),
        *cells,
    )


def _flow_figure(study: Study, flow: TaskFlow, number: int) -> Figure:
    steps = []
    if len(study.readings) == 1:
        steps += [
            Step(
                say("flow.rows", file=source.file),
                source.n_rows,
                tuple((reason, n) for reason, n in source.dropped.items()),
            )
            for source in study.sources
            if source.table == "readings"
        ]
    without = ((say("flow.without_truth"), flow.n_without_truth),) if flow.n_without_truth else ()
    steps.append(Step(say("flow.readers", n=flow.n_readers), flow.n_readers))
    steps.append(
        Step(say("flow.cases", positive=flow.n_positive, negative=flow.n_negative), flow.n_cases, without)
    )
    arms = tuple(Step(say("flow.arm", arm=arm), n, _missing(flow, arm)) for arm, n in flow.readings.items())
    total = sum(flow.readings.values())
    absent = sum(flow.missing.values()) if flow.missing else 0
    return Figure(
        f"flow_{number}",
        FlowFigure(tuple(steps), arms),
        say("flow.caption_task", task=flow.task) if flow.task else say("flow.caption"),
        say("flow.alt", readers=flow.n_readers, cases=flow.n_cases, n=total, missing=absent),
    )


def _missing(flow: TaskFlow, arm: str) -> tuple[tuple[Message, int], ...]:
    if flow.missing is None:
        return ()
    expected = (say("flow.expected"), flow.expected)
    return (expected, (say("flow.missing"), flow.missing[arm]))
