"""The common cases of the candidates: who was run on which, what failed, and what each said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.advice_accuracy.clusters import clustering
from trustreport.dimensions.ripe import ripe
from trustreport.measures.cluster import Clusters
from trustreport.plan import Plan
from trustreport.study import Dataset, Floats, Scores, Study

DEVELOPED_ON = ("training", "tuning")
# Words of `status` for a case that was processed, and for one that was never given to the candidate. Any
# other word is a failure. Without output and without a word nobody knows: it counts as never given.
PROCESSED = frozenset("ok processed done success successful complete completed analysed analyzed".split())
NOT_RUN = frozenset(("not run", "not_run", "not sent", "not_sent", "absent", "missing", "not applicable"))


@dataclass(frozen=True, eq=False)
class Run:
    """What one candidate did with the common cases of known truth, (n_cases,) each.

    `right` counts a failed case as wrong. `alarm` is a positive output; a failed case has none. `suspicion`
    ranks a failed case as wrongly as can be; None where the candidate gave no scores. `n_not_run` counts the
    cases of the set that it was never given, `n_failed` the common cases that failed.
    """

    name: str
    alarm: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    right: NDArray[np.bool_]
    suspicion: Floats | None
    n_not_run: int

    @property
    def n_failed(self) -> int:
        """Common cases without an output."""
        return int(self.failed.sum())


@dataclass(frozen=True, eq=False)
class Common:
    """The cases of a data set that every candidate was given; `truth` and `cluster` (n_cases,)."""

    dataset: str
    truth: NDArray[np.bool_]
    cluster: Clusters | None
    runs: tuple[Run, ...]
    n_all: int

    @property
    def scope(self) -> dict[str, Any]:
        """Where the numbers belong."""
        return {"dataset": self.dataset}

    def scope_of(self, run: Run) -> dict[str, Any]:
        """Where the numbers of one candidate belong."""
        return {**self.scope, "candidate": run.name} if run.name else self.scope


def common_cases(dataset: Dataset, study: Study, plan: Plan) -> Common | None:
    """The candidates of a data set on the cases that all of them were given; None without decisions."""
    if dataset.role in DEVELOPED_ON or len(dataset.cases.classes) != 2:
        return None
    judged = {name: made for name, scores in dataset.scores.items() if (made := _decided(scores, plan))}
    if not judged:
        return None
    known = (dataset.cases.truth >= 0) & ripe(dataset, study, plan)
    given = {name: ~_not_run(dataset.scores[name], one) for name, one in judged.items()}
    shared = known & np.logical_and.reduce(list(given.values()))
    truth = dataset.cases.truth[shared] == 1
    runs = []
    for name, (alarm, silent, score) in judged.items():
        failed = (silent | _said_failed(dataset.scores[name]))[shared]
        called = alarm[shared] & ~failed
        right = (called == truth) & ~failed
        ranked = None if score is None else _ranked(score[shared], failed, truth)
        runs.append(Run(name, called, failed, right, ranked, int((known & ~given[name]).sum())))
    cluster = clustering(dataset, plan).of_case
    held = None if cluster is None else cluster[shared]
    return Common(dataset.name, truth, held, tuple(runs), int(known.sum()))


Decided = tuple[NDArray[np.bool_], NDArray[np.bool_], Floats | None]


def _decided(scores: Scores, plan: Plan) -> Decided | None:
    """Positive outputs, cases without an output, and the score turned so that higher is more suspicious."""
    below = plan.operating_point.score_direction == "lower_is_positive"
    score = scores.score
    turned = -score if below and score is not None else score
    if scores.decision is not None:
        return scores.decision == 1, scores.decision < 0, turned
    threshold = plan.operating_point.threshold
    if score is None or threshold is None:
        return None
    return (score <= threshold if below else score >= threshold), np.isnan(score), turned


def _words(scores: Scores) -> Sequence[str]:
    return [] if scores.status is None else [word.strip().casefold() for word in scores.status.labels]


def _coded(scores: Scores, wanted: Mapping[str, bool]) -> NDArray[np.bool_]:
    """Which cases have a status that is wanted; those without one are not."""
    assert scores.status is not None
    chosen = np.array([*wanted.values(), False])
    found: NDArray[np.bool_] = chosen[scores.status.codes]
    return found


def _not_run(scores: Scores, decided: Decided) -> NDArray[np.bool_]:
    """Cases that the candidate was never given: said so, or without output and status."""
    _, silent, _ = decided
    if scores.status is None:
        return silent
    said = _coded(scores, {word: word in NOT_RUN for word in _words(scores)})
    return said | (silent & (scores.status.codes < 0))


def _said_failed(scores: Scores) -> NDArray[np.bool_]:
    if scores.status is None:
        return np.zeros(1, bool)
    return _coded(scores, {word: word not in PROCESSED | NOT_RUN for word in _words(scores)})


def _ranked(score: Floats, failed: NDArray[np.bool_], truth: NDArray[np.bool_]) -> Floats | None:
    """Scores in which a failed case with the condition is the least suspicious, one without it the most."""
    silent = failed | np.isnan(score)
    if silent.all():
        return None
    low, high = float(score[~silent].min()) - 1, float(score[~silent].max()) + 1
    return np.where(silent, np.where(truth, low, high), score)
