"""A published table of counts as every dimension takes it."""

from collections.abc import Mapping

from trustreport.measures.confusion.counts import ConfusionCounts, ThreeWayCounts
from trustreport.study.plan import Confusion, Plan
from trustreport.study.study import Study
from trustreport.vocabulary.place import Place


def counted_as_wrong(counts: Confusion, plan: Plan | None = None) -> ConfusionCounts:
    """A published table; indeterminate outputs count in every denominator: as declared, else as wrong."""
    rule = plan.operating_point.indeterminate_as if plan else None
    return three_way(counts).counted_as(rule or "wrong")


def place_of_counts(counts: Confusion) -> Place:
    """Where the numbers of a published table belong."""
    return Place(set=counts.set, candidate=counts.candidate)


def counts_of_candidates(study: Study, plan: Plan) -> Mapping[str, Mapping[str, ConfusionCounts]]:
    """The published tables that name a candidate, by set and candidate."""
    found: dict[str, dict[str, ConfusionCounts]] = {}
    for one in study.confusion:
        if one.candidate is not None:
            found.setdefault(one.set, {})[one.candidate] = counted_as_wrong(one, plan)
    return found


def three_way(counts: Confusion) -> ThreeWayCounts:
    """A published table with its indeterminate outputs as a third column."""
    third = counts.indeterminate_positives or 0, counts.indeterminate_negatives or 0
    return ThreeWayCounts(counts.tp, counts.fp, counts.fn, counts.tn, *third)
