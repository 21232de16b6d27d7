"""Utility yield: what the decisions are worth, which candidate to take, and where to set its threshold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.advice_accuracy.compared import common
from trustreport.dimensions.advice_accuracy.measured import (
    ID,
    Judged,
    both,
    cells_of_clusters,
    counts_of,
    declared_prevalences,
)
from trustreport.estimate import Estimate
from trustreport.measures.case_mean import case_mean
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.formulas import FORMULAS
from trustreport.measures.roc.curve import roc_curve
from trustreport.measures.utility.matrices import expected_matrix, right_decisions_pay
from trustreport.measures.utility.operating import best_point, not_dominated
from trustreport.measures.utility.ranking import Ranking, rank, share_of_ranges, worth_of, yield_difference
from trustreport.measures.utility.utility_yield import utility_yield, yield_at_mix, yield_of_clusters
from trustreport.plan import Plan, UtilityMatrix
from trustreport.results import Result, answers
from trustreport.seeds import generator
from trustreport.study import Floats

OWN = "utilities of each case"
EXPECTED = "expected utilities"
CELLS = ("utility_00", "utility_01", "utility_10", "utility_11")
# The yield is the mean of a number per decision and truth; these metrics are of that form for some utilities,
# the others for none, so that they can rank against any utilities (Dyrland et al., section 3.3).
LINEAR = ("accuracy", "sensitivity", "specificity")
NOT_LINEAR = ("ppv", "npv", "f1", "mcc", "fowlkes_mallows", "balanced_accuracy")
CHOSEN_HERE = "the threshold is chosen on the cases on which the yield is measured: optimistic, no interval"


def two_class(plan: Plan) -> tuple[UtilityMatrix, ...]:
    """The declared matrices of two classes."""
    return tuple(u for u in plan.utility.matrices if len(u.matrix) == 2)


def probabilities(matrices: Sequence[UtilityMatrix]) -> list[float] | None:
    """The declared probabilities, where every matrix has one and they sum to 1."""
    given = [u.probability for u in matrices if u.probability is not None]
    return given if len(given) == len(matrices) and abs(sum(given) - 1) < 1e-6 else None


def utility_results(counts: ConfusionCounts, scope: Mapping[str, Any], plan: Plan) -> list[Result]:
    """The mean utility of a case under every declared matrix of two classes, and under their expectation."""
    results = []
    level = plan.report.confidence_level
    cells = [[counts.tn, counts.fn], [counts.fp, counts.tp]]
    for name, matrix in _named(plan).items():
        one = utility_yield(cells, matrix, level=level)
        here = {**scope, "parameters": {"utility": name}}
        results += answers(f"{ID}.utility_yield", here, [one], leads=one.method, unit="utility")
        results += _at_mixes(cells, matrix, name, scope, plan)
    return results


def _at_mixes(
    cells: Any,
    matrix: Any,
    name: str,
    scope: Mapping[str, Any],
    plan: Plan,
    grouped: NDArray[np.int64] | None = None,
) -> list[Result]:
    results, level = [], plan.report.confidence_level
    for share in declared_prevalences(plan):
        at = yield_at_mix(cells, matrix, [1 - share, share], level=level)
        in_clusters = None if grouped is None else yield_of_clusters(grouped, matrix, share, level=level)
        there = {**scope, "parameters": {"utility": name, "prevalence": share}}
        results += both("utility_yield", there, at, in_clusters, "utility")
    return results


def _named(plan: Plan) -> dict[str, Any]:
    """Every declared matrix, and their expectation where probabilities are declared."""
    matrices = two_class(plan)
    found: dict[str, Any] = {u.name: u.matrix for u in matrices}
    share = probabilities(matrices)
    if share and len(matrices) > 1:
        found[EXPECTED] = expected_matrix([u.matrix for u in matrices], share)
    return found


def yield_results(case: Judged, plan: Plan) -> list[Result]:
    """The same for a data set; cases in clusters and utilities of each case are respected."""
    counts = counts_of(case)
    if counts is None or case.decision is None:
        return []
    level = plan.report.confidence_level
    results: list[Result] = []
    cells = [[counts.tn, counts.fn], [counts.fp, counts.tp]]
    grouped = cells_of_clusters(case)
    for name, matrix in _named(plan).items():
        here = {**case.scope, "parameters": {"utility": name}}
        alone = utility_yield(cells, matrix, level=level)
        in_clusters = None if grouped is None else yield_of_clusters(grouped, matrix, level=level)
        results += both("utility_yield", here, alone, in_clusters, "utility")
        results += _at_mixes(cells, matrix, name, case.scope, plan, grouped)
    own = own_utilities(case)
    if own is not None:
        truth, decision = case.truth.astype(np.int64), case.decision.astype(np.int64)
        worth = worth_of(own, decision, truth)
        here = {**case.scope, "parameters": {"utility": OWN}}
        clustered = None if case.cluster is None else case_mean(worth, level, case.cluster)
        results += both("utility_yield", here, case_mean(worth, level), clustered, "utility")
    return results + _operating_points(case, plan)


def own_utilities(case: Judged) -> Floats | None:
    """Utilities of each judged case, (n_cases, 2, 2); None where the data do not hold all four of all."""
    columns = [case.number(word) for word in CELLS]
    given = [c for c in columns if c is not None]
    if len(given) < len(CELLS) or any(np.isnan(c).any() for c in given):
        return None
    return np.stack(given, axis=1).reshape(-1, 2, 2)


def _operating_points(case: Judged, plan: Plan) -> list[Result]:
    """The threshold that each matrix calls for, and the yield there."""
    score = case.suspicion
    if score is None or case.truth.all() or not case.truth.any():
        return []
    curve = roc_curve(case.truth, score)
    share = plan.expected_prevalence or float(case.truth.mean())
    results, level, n = [], plan.report.confidence_level, len(case.truth)
    for name, matrix in _named(plan).items():
        utility = np.asarray(matrix, float)
        if not right_decisions_pay(utility) or not 0 < share < 1 or np.ptp(utility) == 0:
            continue
        try:
            best = best_point(curve, utility, share)
        except ValueError:
            continue
        sign = -1 if case.reversed else 1
        details = {
            "slope": best.slope,
            "intercept": best.intercept,
            "sensitivity": best.tpr,
            "specificity": 1 - best.fpr,
            "prevalence": share,
        }
        here = {**case.scope, "parameters": {"utility": name}}
        nan = float("nan")
        for id_, value, unit in (
            ("optimal_threshold", sign * best.threshold, "score"),
            ("optimal_yield", best.expected_yield, "utility"),
        ):
            one = Estimate(value, nan, nan, n, level, "empirical_roc", CHOSEN_HERE, details=details)
            results += answers(f"{ID}.{id_}", here, [one], leads=one.method, unit=unit)  # type: ignore[arg-type]
    return results


@dataclass(frozen=True, eq=False)
class Contest:
    """Candidates of one data set on the cases that all have judged, ranked by one utility.

    `cells` are (n_candidates, 2, 2), rows decisions, columns truths; `metrics` holds each common metric of
    each candidate; `kept` the candidates that no other dominates; `uncertain` says whether the utility is.
    """

    dataset: str
    utility: str
    candidates: tuple[str, ...]
    cells: NDArray[np.int64]
    ranking: Ranking
    order_holds: float
    best_holds: float
    metrics: Mapping[str, tuple[float, ...]]
    kept: tuple[str, ...]
    uncertain: bool
    n: int

    @property
    def winner(self) -> str:
        """The candidate with the greatest yield."""
        return self.candidates[self.ranking.order[0]]


def contests(cases: Sequence[Judged], plan: Plan) -> list[Contest]:
    """For each data set with several candidates that decide: one under each utility that is declared.

    Matrices with probabilities are one uncertain utility, decided by their mean; without, each is a problem
    of its own.
    """
    by_set: dict[str, list[Judged]] = {}
    for case in cases:
        if case.decision is not None and "candidate" in case.scope:
            by_set.setdefault(case.dataset.name, []).append(case)
    return [c for some in by_set.values() if len(some) > 1 for c in _contests(some, plan)]


def _contests(cases: Sequence[Judged], plan: Plan) -> list[Contest]:
    shared = np.logical_and.reduce([case.known for case in cases])
    if not shared.any():
        return []
    matrices = two_class(plan)
    share = probabilities(matrices)
    if share and len(matrices) > 1:
        wanted = [(EXPECTED, matrices, share)]
    else:
        wanted = [(u.name, (u,), [1.0]) for u in matrices]
    found = [_contest(cases, shared, name, some, p, plan) for name, some, p in wanted]
    if own_utilities(cases[0]) is not None:
        found.append(_contest(cases, shared, OWN, (), [1.0], plan))
    return found


def _contest(
    cases: Sequence[Judged],
    shared: NDArray[np.bool_],
    name: str,
    matrices: Sequence[UtilityMatrix],
    share: list[float],
    plan: Plan,
) -> Contest:
    kept = [shared[case.known] for case in cases]
    truth = cases[0].truth[kept[0]].astype(np.int64)
    decided = [c.decision[k] for c, k in zip(cases, kept) if c.decision is not None]
    decisions = np.stack(decided).astype(np.int64)
    cluster = None if cases[0].cluster is None else cases[0].cluster[kept[0]]
    own = own_utilities(cases[0])
    utilities: list[Any] = [u.matrix for u in matrices]
    if not matrices and own is not None:
        utilities = [own[kept[0]]]
    rng = generator(plan.similarity.seed, ID, "utility_ranking", cases[0].dataset.name, name)
    ranking = rank(truth, decisions, utilities, share, rng=rng, cluster=cluster)
    cells = np.stack([np.bincount(2 * d + truth, minlength=4).reshape(2, 2) for d in decisions])
    order_holds, best_holds = ranking.order_holds, ranking.best_holds
    in_ranges = any(u.plus_minus for u in matrices)
    if in_ranges:
        order_holds, best_holds, _ = share_of_ranges(cells, [_ends(u) for u in matrices], share, rng=rng)
    names = tuple(str(case.scope["candidate"]) for case in cases)
    rates = [(c[1, 1] / max(c[:, 1].sum(), 1), c[0, 0] / max(c[:, 0].sum(), 1)) for c in cells.astype(float)]
    return Contest(
        cases[0].dataset.name,
        name,
        names,
        cells,
        ranking,
        order_holds,
        best_holds,
        {metric: tuple(_metric(metric, c) for c in cells) for metric in (*LINEAR, *NOT_LINEAR)},
        tuple(names[i] for i in not_dominated(rates)),
        in_ranges or len(matrices) > 1,
        len(truth),
    )


def _ends(u: UtilityMatrix) -> tuple[Floats, Floats]:
    """The least and the greatest utilities of a matrix."""
    middle = np.array(u.matrix, float)
    half = np.broadcast_to(np.array(u.plus_minus or 0.0, float), middle.shape)
    return middle - half, middle + half


def _metric(name: str, cells: NDArray[np.int64]) -> float:
    (tn, fn), (fp, tp) = cells.tolist()
    try:
        return float(FORMULAS[name](tp, fp, fn, tn))
    except ZeroDivisionError:
        return float("nan")


def contest_results(contest: Contest, plan: Plan) -> list[Result]:
    """How often each candidate comes first in resamples, and how much of the uncertain utility agrees."""
    level, results = plan.report.confidence_level, []
    nan = float("nan")
    scope: dict[str, Any] = {"dataset": contest.dataset, "parameters": {"utility": contest.utility}}
    for i, candidate in enumerate(contest.candidates):
        first = float(contest.ranking.first[i])
        one = Estimate(first, nan, nan, contest.n, level, "bootstrap_share")
        here = {**scope, "candidate": candidate}
        results += answers(f"{ID}.utility_first", here, [one], leads=one.method)
    if contest.uncertain:
        for name, value in (("ranking_holds", contest.order_holds), ("best_holds", contest.best_holds)):
            one = Estimate(value, nan, nan, contest.n, level, "declared_uncertainty")
            results += answers(f"{ID}.{name}", scope, [one], leads=one.method)
    return results


def yield_differences(compared: Judged, baseline: Judged, plan: Plan) -> list[Result]:
    """The yield of one candidate less that of another on the same cases, under every utility."""
    if compared.decision is None or baseline.decision is None:
        return []
    level, results = plan.report.confidence_level, []
    ours, theirs = common(compared, baseline)
    truth = compared.truth[ours].astype(np.int64)
    one, other = compared.decision[ours].astype(np.int64), baseline.decision[theirs].astype(np.int64)
    cluster = None if compared.cluster is None else compared.cluster[ours]
    utilities = _named(plan)
    own = own_utilities(compared)
    if own is not None:
        utilities[OWN] = own[ours]
    names = [compared.scope["candidate"], baseline.scope["candidate"]]
    for name, utility in utilities.items():
        here = {"dataset": compared.dataset.name, "candidates": names, "parameters": {"utility": name}}
        alone = yield_difference(truth, one, other, utility, level=level)
        clustered = None
        if cluster is not None:
            clustered = yield_difference(truth, one, other, utility, cluster=cluster, level=level)
        results += both("utility_difference", here, alone, clustered, "utility")
    return results
