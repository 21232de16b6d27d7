"""The worst of several groups or sites, with an interval that allows for its having been chosen."""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, nan

from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.measures import lead
from trustreport.measures.confusion.clustered import korn_graubard
from trustreport.measures.confusion.form import CaseShare
from trustreport.measures.estimate import Estimate
from trustreport.measures.proportion import clopper_pearson
from trustreport.vocabulary.quantities import quantity
from trustreport.vocabulary.results import within_range

SIMULTANEOUS = "the limits hold for all {k} at once, so that they allow for the choice of the worst"


def worst_of(
    parts: Sequence[tuple[str, ScoredCases]], name: str, level: float
) -> tuple[str, ScoredCases, Estimate] | None:
    """The part in which a measure is worst; None where fewer than two have a value.

    The primary method of the measure, the exact one for a share (the score interval of one share falls short
    where the worst of several small parts is chosen), each of the k parts at the level of Sidak::

        level ^ (1 / k)

    so that with the given probability all k intervals hold their values, the one of the worst among them,
    whichever that is. Of normal estimates it is at least that, however they are correlated (groups overlap).

    Returns
    -------
    name, cases, Estimate
        `details` hold the number of parts and the level of each; `level` is that of all together.

    References
    ----------
    Sidak (1967), J. Am. Stat. Assoc. 62, 626-633.
    """
    known = [
        (e.value, label, case) for label, case in parts if isfinite((e := lead(case, name, level)).value)
    ]
    if len(known) < 2:
        return None
    k, down = len(known), quantity(name).better == "down"
    _, label, case = min(known, key=lambda one: (-one[0] if down else one[0], one[1]))
    each = level ** (1 / k)
    e = lead(case, name, each)
    if e.method == "wilson":
        e = clopper_pearson(round(e.value * e.n), e.n, level=each)
    elif e.method == CaseShare.word:
        e = korn_graubard(e)
    note = "; ".join(filter(None, (e.note, SIMULTANEOUS.format(k=k))))
    details = {**e.details, "of": float(k), "level_of_each": each}
    found = replace(e, level=level, p=nan, note=note, details=details)
    return label, case, within_range(found, quantity(name))
