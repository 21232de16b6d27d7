"""What was read, what of it was used, and what is missing: the ground that every dimension stands on."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trustreport.assessment.finding import Figure
from trustreport.figures.flow import FlowFigure, Step
from trustreport.study.plan import Plan
from trustreport.study.study import Readings, Study
from trustreport.vocabulary.messages import Message, say

# Designs in which a reader is not meant to read every case in every arm.
PARTIAL_DESIGNS = ("split-plot", "parallel")


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
    """The flow of every task."""
    return tuple(task_flow(readings, plan) for readings in study.readings)


def flow_figures(study: Study, plan: Plan) -> tuple[Figure, ...]:
    """A flow figure per task: rows handed in, what was set aside, readings expected and present per arm."""
    return tuple(_flow_figure(study, flow, i) for i, flow in enumerate(task_flows(study, plan), 1))


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
