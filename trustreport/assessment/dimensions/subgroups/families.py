"""Comparisons of one set of cases as families: p-values adjusted after Holm.

What was fixed in advance is one family, everything else another: looking further does not weaken what was
planned, and is labelled exploratory.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.subgroups.entries import DIFFERENCE, Measured, Measurement
from trustreport.assessment.performance.cases import Mask, ScoredCases
from trustreport.assessment.performance.keys import case_key
from trustreport.assessment.performance.sites import EVENTS, Comparison
from trustreport.measures.association import holm
from trustreport.vocabulary.quantities import LEFT_OF
from trustreport.vocabulary.results import Result

# What is planned for a group that was fixed in advance; the other measures follow from these.
PLANNED = ("sensitivity", "specificity", "auc")
PRESPECIFIED, EXPLORATORY = "prespecified", "exploratory"
# A rate of errors is what is left of a share of right decisions: a comparison of one is that of the other.
ERRORS = {LEFT_OF[error]: error for error in EVENTS.values()}
Groups = Mapping[str, tuple[Measured, ...]]


def adjusted(groups: Groups) -> Groups:
    """The same groups; each comparison says its family, the size of it, and its adjusted p-value.

    Two comparisons that are each other's mirror (women against the rest, men against the rest) are one test,
    and count once. One that was planned is not tested again where somebody looked further.
    """
    families: dict[str, dict[Any, float]] = {}
    planned = {test_of(one, r) for one, r in comparisons(groups) if family_of(one, r) == PRESPECIFIED}

    def family(one: Measured, r: Result) -> str:
        return PRESPECIFIED if test_of(one, r) in planned else EXPLORATORY

    for one, r in comparisons(groups):
        if not isnan(r.estimate.p):
            families.setdefault(family(one, r), {}).setdefault(test_of(one, r), r.estimate.p)
    by_test = {
        (name, test): float(p)
        for name, tests in families.items()
        for test, p in zip(tests, holm(np.array(list(tests.values()))))
    }

    def with_family(one: Measured, r: Result) -> Result:
        if r.id != DIFFERENCE:
            return r
        name = family(one, r)
        p = nan if isnan(r.estimate.p) else by_test[name, test_of(one, r)]
        more = {"family": name, "comparisons": len(families.get(name, ())), "p_holm": p}
        return replace(r, details={**r.details, **more})

    return {
        attribute: tuple(
            replace(one, results=tuple(with_family(one, r) for r in one.results)) for one in found
        )
        for attribute, found in groups.items()
    }


def comparisons(groups: Groups) -> Iterator[tuple[Measured, Result]]:
    """Every comparison of these groups."""
    for found in groups.values():
        for one in found:
            for r in one.results:
                if r.id == DIFFERENCE:
                    yield one, r


def family_of(one: Measured, r: Result) -> str:
    """The family that a comparison was declared for; of readers every endpoint is planned."""
    planned = r.place.arms or r.endpoint in PLANNED
    return PRESPECIFIED if planned and not one.group.exploratory else EXPLORATORY


def test_of(one: Measured, r: Result) -> Any:
    """What makes two comparisons one test: the endpoint, and the two groups of cases in either order."""
    return r.endpoint, frozenset((one.group.mask.tobytes(), one.group.against.tobytes()))


def tested(found: Iterable[Measurement]) -> dict[Comparison, Result]:
    """The comparisons of shares of errors within a data set, by what makes another one the same."""
    known: dict[Comparison, Result] = {}
    for one in found:
        for group, r in comparisons(one.groups):
            error = ERRORS.get(r.endpoint)
            if error is not None and not isnan(r.estimate.p):
                sides = frozenset(
                    _key(one.case, mask, r.endpoint) for mask in (group.group.mask, group.group.against)
                )
                known[one.case.place.candidate or "", error, sides] = r
    return known


def _key(case: ScoredCases, group: Mask, endpoint: str) -> str:
    """Which cases of a group a share of its class is of."""
    among = case.truth if endpoint == "sensitivity" else ~case.truth
    return case_key(case.dataset.name, case.dataset.cases.labels, case.rows[case.among(group) & among])
