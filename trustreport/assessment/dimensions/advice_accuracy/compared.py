"""Candidates against each other on the cases of one data set: areas and net benefit."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from trustreport.assessment.dimensions.advice_accuracy.entries import ID, are_risks, thresholds
from trustreport.assessment.performance.cases import ScoredCases, by_set, in_common
from trustreport.assessment.performance.decision_table import differences
from trustreport.assessment.performance.measures import as_entries
from trustreport.measures.roc.difference import unpaired_difference
from trustreport.study.plan import Plan
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

# With more candidates than this each is compared with the first only.
ALL_PAIRS_UP_TO = 5


def pairs(cases: Sequence[ScoredCases]) -> Iterator[tuple[ScoredCases, ScoredCases]]:
    """Candidates of one data set two by two, the later one compared with the earlier one."""
    for candidates in by_set(cases).values():
        every = len(candidates) <= ALL_PAIRS_UP_TO
        for baseline, compared in combinations(candidates, 2):
            if every or baseline is candidates[0]:
                yield compared, baseline


def place_of_pair(compared: ScoredCases, baseline: ScoredCases) -> Place:
    """Where the differences of two candidates belong."""
    names = (str(compared.place.candidate), str(baseline.place.candidate))
    return Place(dataset=compared.dataset.name, candidates=names)


def difference_results(compared: ScoredCases, baseline: ScoredCases, plan: Plan) -> list[Result]:
    """AUC difference, paired and as if of two groups, and net benefit difference at each threshold."""
    if compared.score is None or baseline.score is None:
        return []
    level, place = plan.report.confidence_level, place_of_pair(compared, baseline)
    ours, theirs = in_common((compared, baseline))
    id, cases = f"{ID}.auc_difference", ours.key
    found = differences(ours, theirs, "auc", level)
    analyses = ("paired", "delong") if ours.cluster is None else ("clustered", "paired")
    results = [
        Result(id, place, e, analysis=analysis, primary=i == 0, cases=cases)
        for i, (analysis, e) in enumerate(zip(analyses, found))
    ]
    apart = unpaired_difference(*compared.ranked[:2], *baseline.ranked[:2], level=level)
    results.append(Result(id, place, apart, analysis="two_sample", cases=cases))
    if are_risks(compared) and are_risks(baseline):
        for threshold in thresholds(plan):
            results += as_entries(
                f"{ID}.net_benefit_difference",
                place.at(threshold=threshold),
                differences(ours, theirs, "net_benefit", level, threshold=threshold),
                clustered=ours.cluster is not None,
                cases=cases,
            )
    return results
