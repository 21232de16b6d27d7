"""A published table of counts as every dimension takes it."""

from trustreport.measures.confusion.counts import ConfusionCounts, ThreeWayCounts
from trustreport.place import Place
from trustreport.plan import Confusion, Plan


def counted_as_wrong(counts: Confusion, plan: Plan | None = None) -> ConfusionCounts:
    """A published table; indeterminate outputs count in every denominator: as declared, else as wrong."""
    rule = plan.operating_point.indeterminate_as if plan else None
    return three_way(counts).counted_as(rule or "wrong")


def place_of_counts(counts: Confusion) -> Place:
    """Where the numbers of a published table belong."""
    return Place(set=counts.set, candidate=counts.candidate)


def three_way(counts: Confusion) -> ThreeWayCounts:
    """A published table with its indeterminate outputs as a third column."""
    third = counts.indeterminate_positives or 0, counts.indeterminate_negatives or 0
    return ThreeWayCounts(counts.tp, counts.fp, counts.fn, counts.tn, *third)
