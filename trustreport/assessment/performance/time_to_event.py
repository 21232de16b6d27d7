"""The cases of a data set with follow-up as one candidate saw them, and each quantity at the horizon of them.

One rule for every number: cases with a follow-up time and an event code count; those censored before the
horizon are weighted for (`trustreport.measures.survival.horizon`), not left out. Cases without an output are
treated as in `trustreport.assessment.performance.cases`, by their state at the horizon.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import ScoredCases, made, outputs, place_of_set
from trustreport.assessment.performance.measures import NO_DECISION, NO_SCORE, NO_SCORE_OF_CASES, why_no_risk
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.survival.calibration import (
    BRIER,
    LINE,
    OE,
    SCALED,
    RiskGroup,
    brier_at_horizon,
    intercept_at_horizon,
    oe_at_horizon,
    risk_groups,
    scaled_brier_at_horizon,
    slope_at_horizon,
)
from trustreport.measures.survival.horizon import AtHorizon, CensoringTest, at_horizon, censoring_by_score
from trustreport.measures.survival.shares import AUC_METHOD as AUC
from trustreport.measures.survival.shares import METHOD as SHARE
from trustreport.measures.survival.shares import auc_at_horizon, risk_at_horizon, share_at_horizon
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Floats, Study
from trustreport.vocabulary.place import Place

OF_RISKS = {
    "brier": (brier_at_horizon, BRIER),
    "scaled_brier": (scaled_brier_at_horizon, SCALED),
    "oe": (oe_at_horizon, OE),
    "calibration_slope": (slope_at_horizon, LINE),
    "calibration_intercept": (intercept_at_horizon, LINE),
}
OF_CALLS = ("sensitivity", "specificity", "ppv", "npv")
MEASURES = ("risk", "auc", *OF_RISKS, *OF_CALLS)
FEWEST_IN_A_GROUP = 20  # cases in each group of predicted risk, at least
MOST_GROUPS = 10


@dataclass(frozen=True, eq=False)
class FollowedCases:
    """The analysed cases of a data set and candidate, (n,) each.

    Parameters
    ----------
    cases : scores, decisions, failures and clusters; their truth is the event by the horizon, False where the
        state is not known
    time, codes : follow-up in the unit of the horizon, and how it ended (0 censored, 1 the event)
    n_unknown : cases of the set without follow-up or without an event code
    """

    cases: ScoredCases
    time: Floats
    codes: NDArray[np.int64]
    horizon: float
    n_unknown: int
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    @property
    def place(self) -> Place:
        """Where its numbers belong."""
        return self.cases.place

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        return self.cases.name

    @cached_property
    def state(self) -> AtHorizon:
        """The state of every case at the horizon."""
        return self._state(np.ones(len(self.cases), bool))

    def _state(self, of: NDArray[np.bool_]) -> AtHorizon:
        return at_horizon(self.time[of], self.codes[of], self.horizon)

    @cached_property
    def why_no_risk(self) -> Note:
        """Why the scores cannot be read as risks, or nothing."""
        return why_no_risk(self.cases)

    def estimate(self, name: str, level: float) -> Estimate:
        """One of `MEASURES`; undefined with its reason where these cases do not yield it."""
        if (name, level) not in self.memo:
            self.memo[name, level] = self._estimate(name, level)
        found: Estimate = self.memo[name, level]
        return found

    def _estimate(self, name: str, level: float) -> Estimate:
        cases = self.cases
        if name == "risk":
            return risk_at_horizon(self.state, cluster=cases.cluster, level=level)
        if name in OF_CALLS:
            if cases.decision is None:
                return undefined(len(cases), NO_DECISION, level=level, method=SHARE)
            return share_at_horizon(name, self.state, cases.decision, cluster=cases.cluster, level=level)  # type: ignore[arg-type]
        measure, method = (auc_at_horizon, AUC) if name == "auc" else OF_RISKS[name]
        why = (NO_SCORE if cases.score is None else NO_NOTE) if name == "auc" else self.why_no_risk
        of = cases.scored | cases.failed if name == "auc" else cases.scored
        if not why and not cases.scored.any():
            why = NO_SCORE_OF_CASES
        if why:
            return undefined(int(np.count_nonzero(of)), why, level=level, method=method)
        _, score, cluster = cases.ranked if name == "auc" else cases.with_scores
        return measure(self._state(of), score, cluster=cluster, level=level)

    def groups(self, level: float) -> tuple[RiskGroup, ...]:
        """The risk observed in groups of predicted risk; none where scores are no risks."""
        if self.why_no_risk or not self.cases.scored.any():
            return ()
        _, score, cluster = self.cases.with_scores
        of = self.cases.scored
        groups = min(MOST_GROUPS, max(2, len(score) // FEWEST_IN_A_GROUP))
        return risk_groups(
            self.time[of], self.codes[of], score, self.horizon, groups=groups, cluster=cluster, level=level
        )

    def censoring(self) -> CensoringTest | None:
        """Whether follow-up ends independently of the score; None without scores."""
        of = self.cases.scored
        if self.cases.score is None or not of.any():
            return None
        score: Floats = -self.cases.score[of] if self.cases.reversed else self.cases.score[of]
        return censoring_by_score(self.time[of], self.codes[of], score, self.horizon)


def followed_cases(study: Study, plan: Plan) -> tuple[FollowedCases, ...]:
    """Every data set with follow-up and every candidate on it, made once for a study and its declarations."""
    declared = (plan.operating_point, plan.time_to_event, plan.datasets, plan.candidates)
    at = ("followed", *map(id, declared))
    if at not in study.memo:
        # What was declared is kept beside the cases, so that no other may take its identity.
        found = tuple(one for d in study.datasets for one in _of_dataset(d, plan))
        study.memo[at] = (declared, found)
    cases: tuple[FollowedCases, ...] = study.memo[at][1]
    return cases


def _of_dataset(dataset: Dataset, plan: Plan) -> Iterator[FollowedCases]:
    if not dataset.cases.followed or plan.time_to_event is None:
        return
    horizon = plan.time_to_event.in_unit
    time, codes = dataset.cases.numbers["follow_up"], dataset.cases.numbers["event"]
    counted = ~np.isnan(time) & ~np.isnan(codes)
    event = counted & (codes == 1) & (np.nan_to_num(time) <= horizon)
    with_state = replace(dataset, cases=replace(dataset.cases, truth=event.astype(np.int8)))
    cluster: Clusters | None = clusters_of(dataset, plan).of_case
    for candidate, scores in dataset.scores.items():
        found = outputs(scores, len(dataset.cases), plan, candidate)
        if not (found.scores or found.decides):
            continue
        place = place_of_set(dataset, candidate if len(dataset.scores) > 1 else None)
        cases = made(place, with_state, candidate, found, counted, cluster, plan)
        yield FollowedCases(
            cases,
            time[cases.rows],
            codes[cases.rows].astype(np.int64),
            horizon,
            int(np.count_nonzero(~counted)),
        )
