"""The cases of a data set as one candidate saw them: who was given what, what failed, what was decided.

One rule for every number on performance::

    counts            the truth is known, and the case was followed up long enough
    not given         the status says so; or there is neither an output nor a status, and no rule is declared
    failed            given, and the status says that it failed, or there is no output
    analysed          given: a failed case by the rule (operating_point.indeterminate_as), else as wrong
    decided           analysed and not failed

A failed case is ranked as it is decided: as wrong, a positive below and a negative above every score.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.keys import case_key, is_mature
from trustreport.measures.cluster import Clusters, Order, ascending, together
from trustreport.measures.confusion.clustered import cluster_cells
from trustreport.measures.confusion.counts import ConfusionCounts, ThreeWayCounts
from trustreport.measures.sites.shared import SharedScores
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Plan
from trustreport.study.study import Binary, Codes, Dataset, Floats, Scores, Study
from trustreport.vocabulary.place import Place

Mask = NDArray[np.bool_]
Rule = Literal["wrong", "positive", "negative"]

# Words of `status` for a case that was processed, and for one that was never given to the candidate. Any
# other word is a failure.
PROCESSED = frozenset("ok processed done success successful complete completed analysed analyzed".split())
NOT_RUN = frozenset(("not run", "not_run", "not sent", "not_sent", "absent", "missing", "not applicable"))


@dataclass(frozen=True, eq=False)
class Outputs:
    """What a candidate put out for every case of a set, (n_cases,) each.

    Parameters
    ----------
    score : NaN where there is none; all NaN without scores
    decision : 1 positive, 0 negative, -1 none; by the threshold where decisions are not recorded
    failed : given, and without a usable output
    given : whether the candidate was given the case, as far as anybody knows
    scores, decides : whether there are scores, and decisions or a threshold, at all
    by_threshold : whether the decisions are made of the scores
    """

    score: Floats
    decision: Binary
    failed: Mask
    given: Mask
    scores: bool
    decides: bool
    by_threshold: bool

    @property
    def present(self) -> Mask:
        """Cases with an output that is used."""
        return self.given & ~self.failed


def outputs(scores: Scores | None, n: int, plan: Plan, candidate: str = "") -> Outputs:
    """The outputs of one candidate on a set of `n` cases; none at all without `scores`."""
    score, decision = np.full(n, np.nan), np.full(n, -1, np.int8)
    point, threshold = plan.operating_point, plan.threshold_of(candidate)
    below = point.score_direction == "lower_is_positive"
    given_scores = _of_two_classes(scores) if scores is not None else None
    if given_scores is not None:
        score = given_scores
    recorded = scores is not None and scores.decision is not None
    if scores is not None and scores.decision is not None:
        decision = scores.decision
    elif given_scores is not None and threshold is not None:
        called = score <= threshold if below else score >= threshold
        decision = np.where(np.isnan(score), -1, called).astype(np.int8)
    decides = recorded or (given_scores is not None and threshold is not None)
    silent = decision < 0 if decides else np.isnan(score)
    said_failed, said_absent, unsaid = _status(scores, n)
    given = ~said_absent & ~(silent & unsaid & (point.indeterminate_as is None))
    failed = given & (said_failed | silent)
    by_threshold = decides and not recorded
    return Outputs(score, decision, failed, given, given_scores is not None, decides, by_threshold)


def _of_two_classes(scores: Scores) -> Floats | None:
    if scores.score is None and scores.class_scores is not None and scores.class_scores.shape[1] == 2:
        return scores.class_scores[:, 1]
    return scores.score


def _status(scores: Scores | None, n: int) -> tuple[Mask, Mask, Mask]:
    """Cases whose status says that they failed, that they were never given, and those without a status."""
    if scores is None or scores.status is None:
        return np.zeros(n, bool), np.zeros(n, bool), np.ones(n, bool)
    words = [word.strip().casefold() for word in scores.status.labels]
    codes = scores.status.codes
    failed = np.array([word not in PROCESSED | NOT_RUN for word in words] + [False])[codes]
    absent = np.array([word in NOT_RUN for word in words] + [False])[codes]
    return failed, absent, codes < 0


@dataclass(frozen=True, eq=False)
class ScoredCases:
    """The analysed cases of a data set and candidate, or of a part of them, (n,) each.

    Parameters
    ----------
    candidate : its name; empty where the table names none
    rows : which cases of the data set they are, ascending
    truth : True = condition present
    score : as it was given, NaN where there is none; None without scores
    decision : failed cases by the rule; None without decisions
    failed : without a usable output
    rule : how failed cases are analysed
    cluster : which cases belong together; None where each is a cluster of its own
    n_not_given : cases of the set whose truth counts and that the candidate was not given, or nobody knows
    n_counted : cases of the set whose truth counts
    threshold, risk_threshold : of the operating point, in the unit of the scores and as a probability
    risk_range : the scores that mean probability 0 and 1; None where they are declared to be none
    reversed : whether a lower score speaks for the condition
    shared : what sites hand over of the scores, where these stay with them; None of a part of the cases
    """

    place: Place
    dataset: Dataset
    candidate: str
    rows: NDArray[np.intp]
    truth: Mask
    score: Floats | None
    decision: Mask | None
    failed: Mask
    rule: Rule
    cluster: Clusters | None
    n_not_given: int
    n_counted: int
    threshold: float | None = None
    risk_threshold: float | None = None
    risk_range: tuple[float, float] | None = (0.0, 1.0)
    by_threshold: bool = False
    reversed: bool = False
    shared: SharedScores | None = None
    memo: dict[Any, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        where, candidate = self.dataset.name, self.place.candidate
        return f"{where}, {candidate}" if candidate else where

    @cached_property
    def key(self) -> str:
        """Which cases these are (`trustreport.assessment.performance.keys`)."""
        return case_key(self.dataset.name, self.dataset.cases.labels, self.rows)

    @property
    def n_failed(self) -> int:
        """Cases without a usable output."""
        return int(np.count_nonzero(self.failed))

    @property
    def ranks(self) -> bool:
        """Whether anything is known of scores: the scores, or what sites hand over of them."""
        return self.score is not None or self.shared is not None

    @cached_property
    def scored(self) -> Mask:
        """Cases with a score that is used, (n,)."""
        return np.zeros(len(self), bool) if self.score is None else ~np.isnan(self.score) & ~self.failed

    @cached_property
    def complete(self) -> bool:
        """Whether every case has a score that is used: then no column is copied for those that have."""
        return bool(self.scored.all())

    @cached_property
    def risk(self) -> Floats | None:
        """The scores as probabilities, NaN where one lacks; None without scores, or where they are none."""
        if self.score is None or self.risk_range is None:
            return None
        low, high = self.risk_range
        return self.score if (low, high) == (0.0, 1.0) else (self.score - low) / (high - low)

    @cached_property
    def with_scores(self) -> tuple[Mask, Floats, Clusters | None]:
        """Truth, probability and cluster of the cases that have a score; of these calibration is made."""
        assert self.risk is not None
        of = self.scored
        if self.complete:
            return self.truth, self.risk, together(self.cluster, of)
        return self.truth[of], self.risk[of], together(self.cluster, of)

    @cached_property
    def ranked(self) -> tuple[Mask, Floats, Clusters | None]:
        """Truth, score and cluster of the cases that are ranked: higher speaks for the condition.

        Failed cases are below or above every score, as the rule decides them.
        """
        assert self.score is not None
        oriented = -self.score if self.reversed else self.score
        if self.complete:
            return self.truth, oriented, together(self.cluster, self.scored)
        used = oriented[self.scored]
        low, high = (float(used.min()) - 1, float(used.max()) + 1) if used.size else (0.0, 1.0)
        filled = np.where(self.failed, np.where(self._called, high, low), oriented)
        of = self.scored | self.failed
        return self.truth[of], filled[of], together(self.cluster, of)

    @cached_property
    def ranked_order(self) -> Order:
        """The order of `ranked` by score, the lowest first."""
        return ascending(self.ranked[1]).astype(np.int32)

    @cached_property
    def score_order(self) -> Order:
        """The order of `with_scores` by score, the lowest first."""
        assert self.score is not None
        same = self.complete and not self.reversed and self.risk is self.score
        return self.ranked_order if same else ascending(self.with_scores[1]).astype(np.int32)

    @cached_property
    def acted_on(self) -> tuple[Mask, Floats, Clusters | None]:
        """Truth, probability and cluster as a threshold meets them; failed cases at -inf or inf, by rule."""
        assert self.risk is not None
        if self.complete:
            return self.truth, self.risk, together(self.cluster, self.scored)
        filled = np.where(self.failed, np.where(self._called, np.inf, -np.inf), self.risk)
        of = self.scored | self.failed
        return self.truth[of], filled[of], together(self.cluster, of)

    def acted_at(self, threshold: float) -> tuple[Mask, Floats, Clusters | None] | None:
        """The same where one threshold is all that is asked; None where it is not known who is above it.

        Of scores that stay at their sites, 1 stands for those above the threshold and 0 for the others.
        """
        if self.shared is None or self.score is not None:
            return self.acted_on if self.score is not None and self.risk is not None else None
        cells = self.shared.cells(threshold)
        if cells is None:
            return None
        truth = np.repeat([True, False, True, False], cells)
        return truth, np.repeat([threshold, threshold, -np.inf, -np.inf], cells), None

    @property
    def _called(self) -> Mask:
        """How the rule decides each case, were it failed."""
        return by_rule(self.truth, self.rule)

    @cached_property
    def counts(self) -> ConfusionCounts | None:
        """The four cells; None without decisions."""
        return None if self.decision is None else ConfusionCounts.of_decisions(self.truth, self.decision)

    @cached_property
    def cells(self) -> NDArray[np.int64] | None:
        """The four cells of each cluster, (n_clusters, 4); None without decisions or clusters."""
        if self.decision is None or self.cluster is None:
            return None
        return cluster_cells(self.truth, self.decision, self.cluster)

    @property
    def three_way(self) -> ThreeWayCounts | None:
        """The cells with failed cases as a third column; None without decisions or failed cases."""
        if self.decision is None or not self.n_failed:
            return None
        of = ~self.failed
        found = ConfusionCounts.of_decisions(self.truth[of], self.decision[of])
        present = int(np.count_nonzero(self.truth & self.failed))
        return ThreeWayCounts(found.tp, found.fp, found.fn, found.tn, present, self.n_failed - present)

    @cached_property
    def decided(self) -> "ScoredCases":
        """The same without failed cases."""
        return self.part(~self.failed) if self.n_failed else self

    def part(self, of: Mask, place: Place | None = None, *, apart: Clusters | None = None) -> "ScoredCases":
        """Some of the cases, (n,), as a set of their own would be.

        `apart` are other clusters, (n,): within a site cases do not belong together by their site.
        """
        cluster = self.cluster if apart is None else apart

        def some(column: NDArray[Any] | None) -> NDArray[Any] | None:
            """The column of the kept cases."""
            return None if column is None else column[of]

        return replace(
            self,
            place=place or self.place,
            rows=self.rows[of],
            truth=self.truth[of],
            score=some(self.score),
            decision=some(self.decision),
            failed=self.failed[of],
            cluster=together(cluster, of),
            shared=None,
            memo={},
        )

    def parts(
        self, codes: Codes, places: Mapping[int, Place], *, apart: Clusters | None = None
    ) -> list["ScoredCases"]:
        """`part` for each of several codes, (n,): the columns are put in their order once, and cut."""
        cluster = self.cluster if apart is None else apart
        few = len(codes) and codes.max() < np.iinfo(np.int16).max  # which numpy sorts by counting
        order = np.argsort(codes.astype(np.int16) if few else codes, kind="stable")
        ends = np.searchsorted(codes, np.array([(one, one + 1) for one in places], codes.dtype), sorter=order)

        def cut(column: NDArray[Any] | None) -> list[Any]:
            """A column in the parts of the codes."""
            held = None if column is None else column[order]
            return [None if held is None else held[start:stop] for start, stop in ends]

        columns = map(cut, (self.rows, self.truth, self.score, self.decision, self.failed, cluster))
        return [
            replace(
                self,
                place=place,
                rows=rows,
                truth=truth,
                score=score,
                decision=decision,
                failed=failed,
                cluster=together(of, np.ones(len(rows), bool)),
                shared=None,
                memo={},
            )
            for place, rows, truth, score, decision, failed, of in zip(places.values(), *columns)
        ]

    def among(self, of: Mask) -> Mask:
        """Which of these cases a mask over the data set, (n_cases,), names."""
        return of[self.rows]

    def number(self, word: str) -> Floats | None:
        """What else was said of the cases under a word (relevance ...), NaN where nothing was."""
        found = self.dataset.cases.numbers.get(word)
        return None if found is None else found[self.rows]


def by_rule(truth: Mask, rule: Rule) -> Mask:
    """How a rule decides cases without an output."""
    return ~truth if rule == "wrong" else np.full(truth.shape, rule == "positive")


def scored_cases(study: Study, plan: Plan) -> tuple[ScoredCases, ...]:
    """Every data set and candidate with scores or decisions."""
    return tuple(one for dataset in study.datasets for one in of_dataset(dataset, study, plan))


def of_dataset(dataset: Dataset, study: Study, plan: Plan) -> Sequence[ScoredCases]:
    """The analysed cases of each candidate of a data set, made once for a study and its declarations."""
    declared = (plan.operating_point, plan.reference_standard, plan.datasets, plan.vigilance, plan.candidates)
    at = (dataset.name, *map(id, (dataset, *declared)))
    if at not in study.memo:
        # What was declared is kept beside the cases, so that no other may take its identity.
        study.memo[at] = (declared, tuple(_of_dataset(dataset, study, plan)))
    return study.memo[at][1]


def _of_dataset(dataset: Dataset, study: Study, plan: Plan) -> Iterator[ScoredCases]:
    if len(dataset.cases.classes) != 2:
        return
    cluster = clusters_of(dataset, plan).of_case
    counted = (dataset.cases.truth >= 0) & is_mature(dataset, study, plan)
    several = len(dataset.scores) > 1
    for candidate, scores in dataset.scores.items():
        found = outputs(scores, len(dataset.cases), plan, candidate)
        if found.scores or found.decides or scores.shared is not None:
            place = place_of_set(dataset, candidate if several else None)
            yield made(place, dataset, candidate, found, counted, cluster, plan)


def place_of_set(dataset: Dataset, candidate: str | None = None) -> Place:
    """Where the numbers of a data set, and of one of several candidates, belong."""
    return Place(dataset=dataset.name, candidate=candidate)


def made(
    place: Place,
    dataset: Dataset,
    candidate: str,
    found: Outputs,
    counted: Mask,
    cluster: Clusters | None,
    plan: Plan,
) -> ScoredCases:
    """The analysed cases among those whose truth counts, (n_cases,)."""
    point = plan.operating_point
    rule: Rule = point.indeterminate_as or "wrong"
    rows = np.flatnonzero(counted & found.given)
    every = len(rows) == len(counted)
    truth, failed = dataset.cases.truth[rows] == 1, found.failed[rows]
    decision = None
    if found.decides:
        decision = np.where(failed, by_rule(truth, rule), found.decision[rows] == 1)
    return ScoredCases(
        place,
        dataset,
        candidate,
        rows,
        truth,
        (found.score if every else found.score[rows]) if found.scores else None,
        decision,
        failed,
        rule,
        None if cluster is None else together(cluster[rows], np.ones(len(rows), bool)),
        int(np.count_nonzero(counted & ~found.given)),
        int(np.count_nonzero(counted)),
        point.threshold,
        plan.risk_threshold,
        plan.risk_range_of(candidate),
        found.by_threshold,
        point.score_direction == "lower_is_positive",
        dataset.scores[candidate].shared if candidate in dataset.scores else None,
    )


def in_common(candidates: Sequence[ScoredCases]) -> tuple[ScoredCases, ...]:
    """Candidates of one data set on the cases that all of them were given."""
    if len(candidates) < 2:
        return tuple(candidates)
    shared = np.zeros(len(candidates[0].dataset.cases), np.int64)
    for one in candidates:
        shared[one.rows] += 1
    everybody = shared == len(candidates)
    if all(len(one) == everybody.sum() for one in candidates):
        return tuple(candidates)
    return tuple(one.part(one.among(everybody)) for one in candidates)


def by_set(cases: Sequence[ScoredCases]) -> Mapping[str, tuple[ScoredCases, ...]]:
    """The candidates of each data set, in order."""
    found: dict[str, list[ScoredCases]] = {}
    for one in cases:
        found.setdefault(one.dataset.name, []).append(one)
    return {name: tuple(own) for name, own in found.items()}
