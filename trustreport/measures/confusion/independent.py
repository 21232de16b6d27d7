"""Measures of the four cells when cases are independent, by the form of each."""

from dataclasses import replace
from math import sqrt

from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.measure import CaseShare, CellMeasure, OfClasses, lacking, one_class
from trustreport.measures.confusion.notes import NO_CASE
from trustreport.measures.confusion.propagation import propagated
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.proportion import wilson


def estimated(measure: CellMeasure, counts: ConfusionCounts, level: float) -> Estimate:
    """A measure that has no interval of its own for independent cases.

    A share has Wilson's. A weighted sum of sensitivity and specificity, with l the distances of its two terms
    to their ends on the lower side and u on the upper one, has Newcombe's::

        value - sqrt(l_1^2 + l_2^2)  to  value + sqrt(u_1^2 + u_2^2)

    Any other has what follows from its parts: `propagated`.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 873-890, method 10 (of J, a difference of two shares).
    """
    if isinstance(measure.interval, CaseShare):
        return _share(measure, measure.interval, counts, level)
    if isinstance(measure.interval, OfClasses):
        return _of_classes(measure, measure.interval, counts, level)
    return propagated(measure, counts, level=level)


def _share(measure: CellMeasure, share: CaseShare, counts: ConfusionCounts, level: float) -> Estimate:
    cells = (counts.tp, counts.fp, counts.fn, counts.tn)
    n = sum(cells[i] for i in measure.among)
    e = wilson(sum(cells[i] for i in share.counted), n, level)
    return e if n else replace(e, note=lacking(measure.needs, counts) or NO_CASE)


def _of_classes(measure: CellMeasure, sum_of: OfClasses, counts: ConfusionCounts, level: float) -> Estimate:
    missing = one_class(counts)
    if missing:
        return undefined(counts.n, missing, level=level, method="newcombe")
    value = measure.of(counts)
    terms = (wilson(counts.tp, counts.positives, level), wilson(counts.tn, counts.negatives, level))
    below, above = limits_of_sum(sum_of, terms)
    return Estimate(value, value - below, value + above, counts.n, level, "newcombe")


def limits_of_sum(sum_of: OfClasses, terms: tuple[Estimate, Estimate], r: float = 0.0) -> tuple[float, float]:
    """Distances from a weighted sum of two shares to its lower and its upper limit.

    A share with a weight below 0 is at its upper limit where the sum is at its lower one.

    Parameters
    ----------
    terms : sensitivity and specificity, with limits
    r : correlation of the two shares

    References
    ----------
    Zou, Donner (2008), Stat. Med. 27, 1693-1702 (limits of a sum from those of its parts).
    """
    of_terms = r if sum_of.sensitivity * sum_of.specificity > 0 else -r

    def distance(*, below: bool) -> float:
        a, b = (
            weight * (e.value - e.low if (weight > 0) == below else e.value - e.high)
            for weight, e in zip(sum_of.weights, terms)
        )
        return sqrt(max(0.0, a * a + b * b + 2 * of_terms * a * b))

    return distance(below=True), distance(below=False)
