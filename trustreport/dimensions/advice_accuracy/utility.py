"""Utility yield: what the decisions are worth, which candidate to take, and where to set its threshold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.advice_accuracy.compared import place_of_pair
from trustreport.dimensions.advice_accuracy.entries import ID, declared_prevalences
from trustreport.estimate import Estimate
from trustreport.measures.case_mean import case_mean
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.formulas import FORMULAS
from trustreport.measures.roc.curve import roc_curve
from trustreport.measures.utility.matrices import expected_matrix, right_decisions_pay
from trustreport.measures.utility.operating import best_point, not_dominated
from trustreport.measures.utility.ranking import Ranking, rank, share_of_ranges, worth_of, yield_difference
from trustreport.measures.utility.utility_yield import utility_yield, yield_at_prevalence, yield_of_clusters
from trustreport.performance.cases import ScoredCases, by_set, in_common
from trustreport.performance.entries import as_entries, pair
from trustreport.place import Place
from trustreport.plan import Plan, UtilityMatrix
from trustreport.results import Result
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


def utility_results(counts: ConfusionCounts, place: Place, plan: Plan) -> list[Result]:
    """The mean utility of a case under every declared matrix of two classes, and under their expectation."""
    return [r for name, matrix in _named(plan).items() for r in _of_matrix(counts, place, name, matrix, plan)]


def _of_matrix(
    counts: ConfusionCounts,
    place: Place,
    name: str,
    matrix: Any,
    plan: Plan,
    grouped: NDArray[np.int64] | None = None,
    cases: str = "",
) -> list[Result]:
    """The yield under one matrix, at the prevalence of the cases and at the declared ones."""
    level, id = plan.report.confidence_level, f"{ID}.utility_yield"
    cells = [[counts.tn, counts.fn], [counts.fp, counts.tp]]
    alone = utility_yield(cells, matrix, level=level)
    in_clusters = None if grouped is None else yield_of_clusters(grouped, matrix, level=level)
    clustered = grouped is not None
    chosen: dict[str, Any] = {"utility": name}
    results = as_entries(
        id, place, pair(alone, in_clusters), clustered=clustered, parameters=chosen, cases=cases
    )
    for share in declared_prevalences(plan):
        at = yield_at_prevalence(cells, matrix, [1 - share, share], level=level)
        in_clusters = None if grouped is None else yield_of_clusters(grouped, matrix, share, level=level)
        there = {**chosen, "prevalence": share}
        results += as_entries(
            id, place, pair(at, in_clusters), clustered=clustered, parameters=there, cases=cases
        )
    return results


def _named(plan: Plan) -> dict[str, Any]:
    """Every declared matrix, and their expectation where probabilities are declared."""
    matrices = two_class(plan)
    found: dict[str, Any] = {u.name: u.matrix for u in matrices}
    share = probabilities(matrices)
    if share and len(matrices) > 1:
        found[EXPECTED] = expected_matrix([u.matrix for u in matrices], share)
    return found


def yield_results(case: ScoredCases, plan: Plan) -> list[Result]:
    """The same for a data set; cases in clusters and utilities of each case are respected."""
    if case.counts is None or case.decision is None:
        return []
    level, clustered = plan.report.confidence_level, case.cluster is not None
    results: list[Result] = []
    for name, matrix in _named(plan).items():
        results += _of_matrix(case.counts, case.place, name, matrix, plan, case.cells, case.key)
    own = own_utilities(case)
    if own is not None:
        worth = worth_of(own, case.decision.astype(np.int64), case.truth.astype(np.int64))
        grouped = None if case.cluster is None else case_mean(worth, level, case.cluster)
        results += as_entries(
            f"{ID}.utility_yield",
            case.place,
            pair(case_mean(worth, level), grouped),
            clustered=clustered,
            parameters={"utility": OWN},
            cases=case.key,
        )
    return results + _operating_points(case, plan)


def own_utilities(case: ScoredCases) -> Floats | None:
    """Utilities of each case, (n_cases, 2, 2); None where the data do not hold all four of all."""
    columns = [case.number(word) for word in CELLS]
    given = [c for c in columns if c is not None]
    if len(given) < len(CELLS) or any(np.isnan(c).any() for c in given):
        return None
    return np.stack(given, axis=1).reshape(-1, 2, 2)


def _operating_points(case: ScoredCases, plan: Plan) -> list[Result]:
    """The threshold that each matrix calls for, and the yield there."""
    named = _named(plan)
    if not named or case.score is None or case.truth.all() or not case.truth.any():
        return []
    truth, score, _ = case.ranked
    curve = roc_curve(truth, score, order=case.ranked_order)
    share = plan.expected_prevalence or float(truth.mean())
    results, level, nothing = [], plan.report.confidence_level, float("nan")
    for name, matrix in named.items():
        utility = np.asarray(matrix, float)
        if not right_decisions_pay(utility) or not 0 < share < 1 or np.ptp(utility) == 0:
            continue
        try:
            best = best_point(curve, utility, share)
        except ValueError:
            continue
        details = {
            "slope": best.slope,
            "intercept": best.intercept,
            "sensitivity": best.tpr,
            "specificity": 1 - best.fpr,
            "prevalence": share,
        }
        sign = -1 if case.reversed else 1
        for id_, value in (
            ("optimal_threshold", sign * best.threshold),
            ("optimal_yield", best.expected_yield),
        ):
            one = Estimate(
                value, nothing, nothing, len(truth), level, "empirical_roc", CHOSEN_HERE, details=details
            )
            chosen = {"utility": name}
            results.append(
                Result(f"{ID}.{id_}", case.place, one, parameters=chosen, primary=True, cases=case.key)
            )
    return results


@dataclass(frozen=True, eq=False)
class Contest:
    """Candidates of one data set on the cases that all were given, ranked by one utility.

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
    cases: str

    @property
    def winner(self) -> str:
        """The candidate with the greatest yield."""
        return self.candidates[self.ranking.order[0]]


def contests(cases: Sequence[ScoredCases], plan: Plan) -> list[Contest]:
    """For each data set with several candidates that decide: one under each utility that is declared.

    Matrices with probabilities are one uncertain utility, decided by their mean; without, each is a problem
    of its own. Cases that failed count as decided by the rule, as everywhere.
    """
    deciding = [case for case in cases if case.decision is not None and case.place.candidate is not None]
    several = [some for some in by_set(deciding).values() if len(some) > 1]
    return [c for some in several for c in _contests(in_common(some), plan)]


def _contests(cases: Sequence[ScoredCases], plan: Plan) -> list[Contest]:
    if not len(cases[0]):
        return []
    matrices = two_class(plan)
    share = probabilities(matrices)
    if share and len(matrices) > 1:
        wanted = [(EXPECTED, matrices, share)]
    else:
        wanted = [(u.name, (u,), [1.0]) for u in matrices]
    found = [_contest(cases, name, some, p, plan) for name, some, p in wanted]
    if own_utilities(cases[0]) is not None:
        found.append(_contest(cases, OWN, (), [1.0], plan))
    return found


def _contest(
    cases: Sequence[ScoredCases],
    name: str,
    matrices: Sequence[UtilityMatrix],
    share: list[float],
    plan: Plan,
) -> Contest:
    first = cases[0]
    truth = first.truth.astype(np.int64)
    decisions = np.stack([c.decision for c in cases if c.decision is not None]).astype(np.int64)
    own = own_utilities(first)
    utilities: list[Any] = [u.matrix for u in matrices]
    if not matrices and own is not None:
        utilities = [own]
    rng = generator(plan.similarity.seed, ID, "utility_ranking", first.dataset.name, name)
    ranking = rank(truth, decisions, utilities, share, rng=rng, cluster=first.cluster)
    cells = np.stack([np.bincount(2 * d + truth, minlength=4).reshape(2, 2) for d in decisions])
    order_holds, best_holds = ranking.order_holds, ranking.best_holds
    in_ranges = any(u.plus_minus for u in matrices)
    if in_ranges:
        order_holds, best_holds, _ = share_of_ranges(cells, [_ends(u) for u in matrices], share, rng=rng)
    names = tuple(str(case.place.candidate) for case in cases)
    rates = [(c[1, 1] / max(c[:, 1].sum(), 1), c[0, 0] / max(c[:, 0].sum(), 1)) for c in cells.astype(float)]
    return Contest(
        first.dataset.name,
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
        first.key,
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
    level, nothing = plan.report.confidence_level, float("nan")
    place, chosen = Place(dataset=contest.dataset), {"utility": contest.utility}

    def entry(name: str, place: Place, value: float, method: str) -> Result:
        one = Estimate(value, nothing, nothing, contest.n, level, method)
        return Result(f"{ID}.{name}", place, one, parameters=chosen, primary=True, cases=contest.cases)

    results = [
        entry("utility_first", place.at(candidate=name), float(first), "bootstrap_share")
        for name, first in zip(contest.candidates, contest.ranking.first)
    ]
    if contest.uncertain:
        for name, value in (("ranking_holds", contest.order_holds), ("best_holds", contest.best_holds)):
            results.append(entry(name, place, value, "declared_uncertainty"))
    return results


def yield_differences(compared: ScoredCases, baseline: ScoredCases, plan: Plan) -> list[Result]:
    """The yield of one candidate less that of another on the same cases, under every utility."""
    if compared.decision is None or baseline.decision is None:
        return []
    level, results = plan.report.confidence_level, []
    ours, theirs = in_common((compared, baseline))
    if not len(ours):
        return []
    assert ours.decision is not None
    assert theirs.decision is not None
    truth, own_decision, other_decision = (
        column.astype(np.int64) for column in (ours.truth, ours.decision, theirs.decision)
    )
    given = (truth, own_decision, other_decision)
    utilities = _named(plan)
    own = own_utilities(ours)
    if own is not None:
        utilities[OWN] = own
    for name, utility in utilities.items():
        alone = yield_difference(*given, utility, level=level)
        clustered = None
        if ours.cluster is not None:
            clustered = yield_difference(*given, utility, cluster=ours.cluster, level=level)
        results += as_entries(
            f"{ID}.utility_difference",
            place_of_pair(compared, baseline),
            pair(alone, clustered),
            clustered=ours.cluster is not None,
            parameters={"utility": name},
            cases=ours.key,
        )
    return results
