"""Candidates of the same data ranked by what their decisions are worth: of cases, and of tables of counts."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.advice_accuracy.results import (
    ALL_PAIRS_UP_TO,
    ID,
    are_risks,
    place_of_pair,
)
from trustreport.assessment.dimensions.advice_accuracy.several import Called
from trustreport.assessment.dimensions.advice_accuracy.utility import (
    OWN,
    TWO,
    DeclaredUtility,
    named_matrices,
    of_decisions,
    of_other_decisions,
    own_utilities,
    to_rank_by,
    to_report,
    two_class,
)
from trustreport.assessment.performance.cases import ScoredCases, by_set, in_common
from trustreport.assessment.performance.decision_table import Decisions, counts_of_candidates, joint_decisions
from trustreport.assessment.performance.measures import as_entries, pair
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.seeds import generator
from trustreport.measures.utility.matrices import greatest_expected
from trustreport.measures.utility.operating import not_dominated
from trustreport.measures.utility.ranking import (
    Ranking,
    independent_difference,
    rank,
    rank_tables,
    share_of_ranges,
    yield_difference,
)
from trustreport.measures.utility.utility_yield import confusion_matrix, yield_of_decisions
from trustreport.study.plan import Plan, UtilityMatrix
from trustreport.study.study import Floats, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

# Compared with the yield, the mean of a number per decision and truth. Linear metrics are of that form for
# some utilities, the others for none: they can rank against any utilities (Dyrland et al., section 3.3).
METRICS = (
    *("accuracy", "sensitivity", "specificity"),
    *("ppv", "npv", "f1", "mcc", "fowlkes_mallows", "balanced_accuracy"),
)
BY_EXPECTATION = note("decisions_greatest_expected_utility_scores_taken")
TWO_SAMPLE, PAIRED = "two_sample", "paired"
PAIR = 2


@dataclass(frozen=True, eq=False)
class Rivals:
    """Candidates of one data set, or of one published set, with what they decided.

    Parameters
    ----------
    place : the data that they have in common
    cells : (n_candidates, n_decisions, n_classes)
    cases : the decisions case by case; None where only the tables are known
    joint : of pairs of candidates whose joint decisions are known, by their places in `candidates`
    cases_key : of the cases, as results have it
    note : of the numbers, where the decisions are not the candidates' own
    """

    place: Place
    candidates: tuple[str, ...]
    cells: NDArray[np.int64]
    cases: Decisions | None = None
    joint: Mapping[tuple[int, int], Decisions] = field(default_factory=dict)
    cases_key: str = ""
    note: Note = NO_NOTE

    @property
    def n(self) -> int:
        """Cases, of the largest table."""
        return int(self.cells.sum(axis=(1, 2)).max())

    @property
    def name(self) -> str:
        """The data set or published set."""
        return self.place.data_name

    @property
    def pairs(self) -> Iterator[tuple[int, int]]:
        """The later candidate and the earlier one that it is compared with; of many the first only."""
        every = len(self.candidates) <= ALL_PAIRS_UP_TO
        for earlier, later in combinations(range(len(self.candidates)), 2):
            if every or not earlier:
                yield later, earlier

    def on_the_same_cases(self, later: int, earlier: int) -> Decisions | None:
        """The decisions of two candidates, the later first; None where only their tables are known."""
        if self.cases is not None:
            return Decisions(self.cases.truth, self.cases.decision[[later, earlier]], self.cases.cluster)
        found = self.joint.get((earlier, later))
        return None if found is None else Decisions(found.truth, found.decision[::-1])


@dataclass(frozen=True, eq=False)
class Contest:
    """Candidates of one data set on the cases that all were given, ranked by one utility.

    `cells` are (n_candidates, n_decisions, n_classes), rows decisions, columns truths. Of two
    classes, `metrics` holds each common metric of each candidate, and `kept` the candidates that no other
    dominates. `uncertain` says whether the utility is, `paired` whether the cases are the same for all.
    """

    place: Place
    utility: str
    candidates: tuple[str, ...]
    cells: NDArray[np.int64]
    ranking: Ranking
    order_holds: float
    best_holds: float
    metrics: Mapping[str, tuple[float, ...]]
    kept: tuple[str, ...]
    uncertain: bool
    paired: bool
    n: int
    cases: str

    @property
    def winner(self) -> str:
        """The candidate with the greatest yield."""
        return self.candidates[self.ranking.order[0]]

    @property
    def name(self) -> str:
        """The data set or published set."""
        return self.place.data_name


def rivals_of_cases(cases: Sequence[ScoredCases]) -> Iterator[tuple[Rivals, Floats | None]]:
    """Candidates of two classes that decide, on the cases that all were given, with the cases' utilities.

    Cases that failed count as decided by the rule, as everywhere.
    """
    deciding = [case for case in cases if case.decision is not None and case.place.candidate is not None]
    for some in by_set(deciding).values():
        common = in_common(some)
        if len(common) < 2 or not len(common[0]):
            continue
        first = common[0]
        truth = first.truth.astype(np.int64)
        decisions = np.stack([c.decision for c in common if c.decision is not None]).astype(np.int64)
        yield (
            Rivals(
                Place(dataset=first.dataset.name),
                tuple(str(c.place.candidate) for c in common),
                np.stack([confusion_matrix(truth, d, 2) for d in decisions]),
                Decisions(truth, decisions, first.cluster),
                cases_key=first.key,
            ),
            own_utilities(first),
        )


def rivals_of_counts(study: Study, plan: Plan) -> Iterator[Rivals]:
    """Candidates of published tables of one set."""
    for name, tables in counts_of_candidates(study, plan).items():
        names, joint = tuple(tables), joint_decisions(name, list(tables), plan)
        if len(names) > 1:
            cells = np.array([[[c.tn, c.fn], [c.fp, c.tp]] for c in tables.values()])
            cases = joint.get((0, 1)) if len(names) == PAIR else None
            yield Rivals(Place(set=name), names, cells, cases, joint)


def fitting(one: Called, plan: Plan) -> Iterator[tuple[list[UtilityMatrix], bool]]:
    """Utilities that fit the classes of a candidate, those of the same decisions together.

    True where the decisions are not the candidate's own but those of greatest expected utility, its scores
    taken as probabilities.
    """
    own = of_decisions(plan, one.classes, one.decisions)
    if own:
        yield own, False
    others: dict[tuple[str, ...], list[UtilityMatrix]] = defaultdict(list)
    for u in of_other_decisions(plan, one.classes, one.decisions) if one.probabilities is not None else ():
        others[u.decisions or ()].append(u)
    yield from ((group, True) for group in others.values())


def decided(one: Called, utility: Floats, *, expected: bool) -> NDArray[np.int64]:
    """The row of the utility of each case; without output that which is worth least for its class."""
    decision = one.called
    if expected:
        assert one.probabilities is not None
        known = ~np.isnan(one.probabilities).any(axis=1)
        decision = np.full(len(one.truth), -1)
        decision[known] = greatest_expected(utility, one.probabilities[known])
    return np.where(decision < 0, utility.argmin(axis=0)[one.truth], decision).astype(np.int64)


def called_of(case: ScoredCases) -> Called | None:
    """A candidate of two classes whose scores are risks, for utilities of other decisions than two."""
    if not are_risks(case) or case.risk is None:
        return None
    risk = np.where(case.scored, case.risk, np.nan)
    scores, unused = np.stack([1 - risk, risk], axis=1), np.full(len(case), -1)
    return Called(
        case.place,
        ("0", "1"),
        case.truth.astype(np.int64),
        unused,
        scores,
        case.cluster,
        case.key,
        ("0", "1"),
    )


def class_yields(one: Called, plan: Plan) -> list[Result]:
    """The mean utility of a case of several classes, or decisions, under every utility that fits."""
    level, results = plan.report.confidence_level, []
    for matrices, expected in fitting(one, plan):
        for utility in to_report(matrices):
            decision = decided(one, utility.expected, expected=expected)
            of = partial(yield_of_decisions, one.truth, decision, utility.expected, level=level)
            found = pair(of(), None if one.cluster is None else of(cluster=one.cluster))
            note = BY_EXPECTATION if expected else NO_NOTE
            results += as_entries(
                f"{ID}.utility_yield",
                one.place,
                [replace(e, note=e.note + note) for e in found],
                clustered=one.cluster is not None,
                parameters={"utility": utility.name},
                cases=one.cases,
            )
    return results


def rivals_of_classes(every: Sequence[Called], plan: Plan) -> Iterator[tuple[Rivals, DeclaredUtility, bool]]:
    """The candidates of each data set, or published set, with each utility that fits all of them.

    True where they are ranked by it; False for one of several whose mean ranks them.
    """
    of_sets: dict[Place, list[Called]] = defaultdict(list)
    for one in every:
        if one.place.candidate is not None:
            of_sets[one.place.narrowed(candidate=None)].append(one)
    for place, some in of_sets.items():
        first, names = some[0], tuple(str(one.place.candidate) for one in some)
        alike = all((one.classes, one.decisions) == (first.classes, first.decisions) for one in some)
        every_scored = all(one.probabilities is not None for one in some)
        for matrices, expected in fitting(first, plan) if len(some) > 1 and alike else ():
            ranked = {utility.name for utility in to_rank_by(matrices)}
            for utility in to_report(matrices) if every_scored or not expected else ():
                rows, columns = utility.expected.shape
                decision = [decided(one, utility.expected, expected=expected) for one in some]
                cells = np.stack(
                    [confusion_matrix(one.truth, d, columns, rows) for one, d in zip(some, decision)]
                )
                joint: dict[tuple[int, int], Decisions] = {}
                cases: Decisions | None = None
                if place.set is None:
                    cases = Decisions(first.truth, np.stack(decision), first.cluster)
                else:
                    joint = joint_decisions(place.set, names, plan)
                    cases = joint.get((0, 1)) if len(names) == PAIR else None
                note = BY_EXPECTATION if expected else NO_NOTE
                yield (
                    Rivals(place, names, cells, cases, joint, first.cases, note),
                    utility,
                    utility.name in ranked,
                )


def contests(
    study: Study, cases: Sequence[ScoredCases], classes: Sequence[Called], plan: Plan
) -> list[Contest]:
    """For each data or published set with several candidates that decide: one under each declared utility.

    Matrices with probabilities are one uncertain utility, decided by their mean; without, each is a problem
    of its own.
    """
    found = []
    two = list(to_rank_by(two_class(plan)))
    for rivals, own in rivals_of_cases(cases):
        found += [_contest(rivals, utility, plan) for utility in two]
        if own is not None:
            found.append(_contest(rivals, None, plan, own))
    found += [_contest(rivals, utility, plan) for rivals in rivals_of_counts(study, plan) for utility in two]
    found += [
        _contest(rivals, utility, plan)
        for rivals, utility, is_ranked in rivals_of_classes(classes, plan)
        if is_ranked
    ]
    return found


def _contest(
    rivals: Rivals, utility: DeclaredUtility | None, plan: Plan, own: Floats | None = None
) -> Contest:
    """The ranking by a declared utility, or by the utilities of each case."""
    name = OWN if utility is None else utility.name
    matrices: list[Any] = [own] if utility is None else [u.matrix for u in utility.matrices]
    share = [1.0] if utility is None else list(utility.probability)
    rng, cells = generator(plan.similarity.seed, ID, "utility_ranking", rivals.name, name), rivals.cells
    if rivals.cases is None:
        ranking = rank_tables(cells, matrices, share, rng=rng)
    else:
        of = rivals.cases
        ranking = rank(of.truth, of.decision, matrices, share, rng=rng, cluster=of.cluster)
    order_holds, best_holds = ranking.order_holds, ranking.best_holds
    if utility is not None and any(u.plus_minus or u.sd for u in utility.matrices):
        order_holds, best_holds, _ = share_of_ranges(cells, utility.ranges, share, sd=utility.errors, rng=rng)
    metrics: dict[str, tuple[float, ...]] = {}
    kept: tuple[str, ...] = ()
    if cells.shape[1:] == TWO:
        metrics = {m: tuple(_metric(m, c) for c in cells) for m in METRICS}
        rates = [
            (c[1, 1] / max(c[:, 1].sum(), 1), c[0, 0] / max(c[:, 0].sum(), 1)) for c in cells.astype(float)
        ]
        kept = tuple(rivals.candidates[i] for i in not_dominated(rates))
    return Contest(
        rivals.place,
        name,
        rivals.candidates,
        cells,
        ranking,
        order_holds,
        best_holds,
        metrics,
        kept,
        utility is not None and utility.is_uncertain,
        rivals.cases is not None,
        rivals.n,
        rivals.cases_key,
    )


def _metric(name: str, cells: NDArray[np.int64]) -> float:
    (tn, fn), (fp, tp) = cells.tolist()
    try:
        return float(MEASURES[name].formula(tp, fp, fn, tn))
    except ZeroDivisionError:
        return float("nan")


def contest_results(contest: Contest, plan: Plan) -> list[Result]:
    """How often each candidate comes first in resamples, and how much of the uncertain utility agrees."""
    level, nothing = plan.report.confidence_level, float("nan")
    place, chosen = contest.place, {"utility": contest.utility}

    def result_of(name: str, place: Place, value: float, method: str) -> Result:
        """A number of the contest as a result without an interval."""
        one = Estimate(value, nothing, nothing, contest.n, level, method)
        return Result(f"{ID}.{name}", place, one, parameters=chosen, primary=True, cases=contest.cases)

    method = "bootstrap_share" if contest.paired else "bootstrap_share_tables"
    results = [
        result_of("utility_first", place.narrowed(candidate=name), float(first), method)
        for name, first in zip(contest.candidates, contest.ranking.first)
    ]
    if contest.uncertain:
        for name, value in (("ranking_holds", contest.order_holds), ("best_holds", contest.best_holds)):
            results.append(result_of(name, place, value, "declared_uncertainty"))
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
    utilities = named_matrices(plan)
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


def differences_of_tables(study: Study, classes: Sequence[Called], plan: Plan) -> Iterator[Result]:
    """The same for published counts, and for several classes or decisions."""
    two = list(to_report(two_class(plan)))
    for rivals in rivals_of_counts(study, plan):
        for utility in two:
            yield from _differences(rivals, utility, plan)
    for rivals, utility, _ in rivals_of_classes(classes, plan):
        yield from _differences(rivals, utility, plan)


def _differences(rivals: Rivals, utility: DeclaredUtility, plan: Plan) -> Iterator[Result]:
    """Each pair: paired where the decisions on the same cases are known, else as independent samples."""
    level, worth = plan.report.confidence_level, utility.expected
    for later, earlier in rivals.pairs:
        names = (rivals.candidates[later], rivals.candidates[earlier])
        both = rivals.on_the_same_cases(later, earlier)
        grouped = None
        if both is None:
            alone = independent_difference(rivals.cells[later], rivals.cells[earlier], worth, level=level)
        else:
            given = (both.truth, *both.decision, worth)
            alone = yield_difference(*given, level=level)
            if both.cluster is not None:
                grouped = yield_difference(*given, cluster=both.cluster, level=level)
        found = [replace(e, note=e.note + rivals.note) for e in pair(alone, grouped)]
        results = as_entries(
            f"{ID}.utility_difference",
            rivals.place.narrowed(candidates=names),
            found,
            clustered=grouped is not None,
            parameters={"utility": utility.name},
            cases=rivals.cases_key,
        )
        if rivals.place.set is not None:
            results = [replace(r, analysis=TWO_SAMPLE if both is None else PAIRED) for r in results]
        yield from results
