"""What was read, what of it was used, and what is missing: the ground that every dimension stands on."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trustreport.finding import Figure
from trustreport.plan import Plan
from trustreport.study import Readings, Study

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
    present = {name: int(np.count_nonzero(judged & (readings.arm == a))) for a, name in enumerate(readings.arms)}
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
    """A flow figure per task: readings handed in, set aside, expected and present per arm."""
    return tuple(_flow_figure(flow, i) for i, flow in enumerate(task_flows(study, plan), 1))
