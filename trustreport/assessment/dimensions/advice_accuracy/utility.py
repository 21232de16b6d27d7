"""Utility yield of two classes: what the decisions are worth, and where to set the threshold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.advice_accuracy.results import ID, declared_prevalences
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.measures import as_entries, pair
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.estimate import Estimate
from trustreport.measures.means import case_mean
from trustreport.measures.note import note
from trustreport.measures.roc.curve import roc_curve
from trustreport.measures.utility.matrices import expected_matrix, right_decisions_pay
from trustreport.measures.utility.operating import best_point
from trustreport.measures.utility.ranking import worth_of
from trustreport.measures.utility.utility_yield import utility_yield, yield_at_prevalence, yield_of_clusters
from trustreport.study.plan import Plan, UtilityMatrix
from trustreport.study.study import Floats
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

EXPECTED = "expected utilities"
OWN = "utilities of each case"
TWO = (2, 2)


def name_of_utility(name: str) -> Message:
    """The name of a utility for readers: ours in their language, one of the manifest as it is."""
    if name == EXPECTED:
        return say(f"{ID}.utility_named.expected")
    if name == OWN:
        return say(f"{ID}.utility_named.of_each_case")
    return say("word.name", name=name)


@dataclass(frozen=True, eq=False)
class DeclaredUtility:
    """A utility to rank by: one matrix, or several of which each may be right with its probability.

    Parameters
    ----------
    name : as the manifest has it, or `EXPECTED`
    matrices : rows and columns in the order of the data
    probability : one for each matrix, sum 1
    """

    name: str
    matrices: tuple[UtilityMatrix, ...]
    probability: tuple[float, ...]

    @property
    def expected(self) -> Floats:
        """The matrix to decide by, (n_decisions, n_classes)."""
        return expected_matrix([u.matrix for u in self.matrices], self.probability)

    @property
    def is_uncertain(self) -> bool:
        """Whether more than one value of a utility is possible."""
        return len(self.matrices) > 1 or any(u.plus_minus or u.sd for u in self.matrices)

    @property
    def ranges(self) -> list[tuple[Floats, Floats]]:
        """The least and the greatest utilities of each matrix, Gaussian errors apart."""
        return [
            (np.array(u.matrix) - of, np.array(u.matrix) + of) for u in self.matrices for of in (_size(u),)
        ]

    @property
    def errors(self) -> list[Floats]:
        """The standard deviations of the Gaussian errors of each matrix."""
        return [_table(u, u.sd) for u in self.matrices]


def _size(u: UtilityMatrix) -> Floats:
    return _table(u, u.plus_minus)


def _table(u: UtilityMatrix, given: float | tuple[tuple[float, ...], ...] | None) -> Floats:
    """A number for each cell, where one is declared for all."""
    return np.array(np.broadcast_to(np.array(given or 0.0, float), np.shape(u.matrix)))


def two_class(plan: Plan) -> tuple[UtilityMatrix, ...]:
    """The declared matrices of two classes and two decisions."""
    return tuple(u for u in plan.utility.matrices if np.shape(u.matrix) == TWO)


def probabilities(matrices: Sequence[UtilityMatrix]) -> list[float] | None:
    """The declared probabilities, where every matrix has one and they sum to 1."""
    given = [u.probability for u in matrices if u.probability is not None]
    return given if len(given) == len(matrices) and abs(sum(given) - 1) < 1e-6 else None


def to_rank_by(matrices: Sequence[UtilityMatrix]) -> Iterator[DeclaredUtility]:
    """Matrices with probabilities as one uncertain utility; without, each by itself."""
    share = probabilities(matrices)
    if share and len(matrices) > 1:
        yield DeclaredUtility(EXPECTED, tuple(matrices), tuple(share))
    else:
        yield from (DeclaredUtility(u.name, (u,), (1.0,)) for u in matrices)


def to_report(matrices: Sequence[UtilityMatrix]) -> Iterator[DeclaredUtility]:
    """Every matrix by itself, then the mean of those with probabilities."""
    single = [DeclaredUtility(u.name, (u,), (1.0,)) for u in matrices]
    yield from single
    yield from (one for one in to_rank_by(matrices) if len(one.matrices) > 1)


def of_decisions(plan: Plan, classes: Sequence[str], decisions: Sequence[str]) -> list[UtilityMatrix]:
    """The matrices with these names of classes and decisions, brought to the order of both."""
    found = []
    for u in plan.utility.matrices:
        rows = u.decisions or u.classes
        columns = _order(u.classes, classes)
        order = _order(rows, decisions)
        if columns is not None and order is not None and np.shape(u.matrix) != TWO:
            found.append(_ordered(u, order, columns))
    return found


def of_other_decisions(plan: Plan, classes: Sequence[str], decisions: Sequence[str]) -> list[UtilityMatrix]:
    """The matrices of these classes whose decisions are others, brought to the order of the classes.

    Of two classes no names are needed: their order is absence, presence.
    """
    found = []
    for u in plan.utility.matrices:
        columns = _order(u.classes, classes)
        if columns is None and len(classes) == len(u.matrix[0]) == 2:
            columns = [0, 1]
        if u.decisions is None or columns is None or np.shape(u.matrix) == TWO:
            continue
        if set(u.decisions) != set(decisions):
            found.append(_ordered(u, list(range(len(u.decisions))), columns))
    return found


def _order(names: Sequence[str] | None, wanted: Sequence[str]) -> list[int] | None:
    """Where each of the wanted names stands; None where these are not the names."""
    if names is None or set(names) != set(wanted):
        return None
    return [list(names).index(name) for name in wanted]


def _ordered(u: UtilityMatrix, rows: list[int], columns: list[int]) -> UtilityMatrix:
    def turned(given: object) -> object:
        """A table in the order of the data; a single number as it is."""
        if not isinstance(given, tuple):
            return given
        return tuple(tuple(float(given[i][j]) for j in columns) for i in rows)

    more = {word: turned(getattr(u, word)) for word in ("matrix", "plus_minus", "sd")}
    return u.model_copy(update=more)


CELLS = ("utility_00", "utility_01", "utility_10", "utility_11")
CHOSEN_HERE = note("threshold_chosen_on_cases_on_which")


def utility_results(counts: ConfusionCounts, place: Place, plan: Plan) -> list[Result]:
    """The mean utility of a case under every declared matrix of two classes, and under their expectation."""
    return [
        r
        for name, matrix in named_matrices(plan).items()
        for r in _of_matrix(counts, place, name, matrix, plan)
    ]


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


def named_matrices(plan: Plan) -> dict[str, Any]:
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
    for name, matrix in named_matrices(plan).items():
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
    named = named_matrices(plan)
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
