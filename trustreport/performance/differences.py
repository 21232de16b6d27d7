"""Differences of two candidates on the same cases, paired case by case."""

from collections.abc import Iterator

import numpy as np

from trustreport.estimate import Estimate
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.net_benefit import net_benefit_difference
from trustreport.measures.paired.difference import PairedTable, tango, tango_clustered
from trustreport.measures.roc.clustered import clustered_region_difference
from trustreport.measures.roc.difference import paired_difference, paired_region_difference
from trustreport.performance.cases import ScoredCases
from trustreport.quantities import DIFFERENCE, quantity
from trustreport.results import within_range


def difference(compared: ScoredCases, baseline: ScoredCases, name: str, level: float) -> Estimate:
    """The primary difference, compared minus baseline."""
    return differences(compared, baseline, name, level)[0]


def differences(
    compared: ScoredCases,
    baseline: ScoredCases,
    name: str,
    level: float,
    *,
    threshold: float | None = None,
) -> tuple[Estimate, ...]:
    """Every estimate of a difference, the primary one first; computed once for these cases.

    Parameters
    ----------
    compared, baseline : the same cases by two candidates (`in_common`)
    name : accuracy, sensitivity, specificity, failure_rate, auc, or net_benefit with its ``threshold``

    Raises
    ------
    ValueError : they are not the same cases
    """
    if not np.array_equal(compared.rows, baseline.rows):
        raise ValueError("the candidates are compared on different cases")
    at = ("difference", id(baseline), name, level, threshold)
    if at not in compared.memo:
        # The baseline is kept beside its estimates, so that no other may take its identity.
        row = quantity(f"{name}{DIFFERENCE}")
        made = _differences(compared, baseline, name, level, threshold)
        found = tuple(difference_in_range(e) if i == 0 else within_range(e, row) for i, e in enumerate(made))
        compared.memo[at] = (baseline, found)
    return compared.memo[at][1]


def _differences(
    compared: ScoredCases, baseline: ScoredCases, name: str, level: float, threshold: float | None
) -> Iterator[Estimate]:
    if name == "auc":
        yield from _areas(compared, baseline, level)
    elif name == "net_benefit":
        assert threshold is not None
        ours, theirs = _both_scored(compared, baseline)
        truth, one, cluster = ours.acted_on
        given = truth, one, theirs.acted_on[1], threshold
        if cluster is not None:
            yield net_benefit_difference(*given, cluster=cluster, level=level)
        yield net_benefit_difference(*given, level=level)
    else:
        yield _shares(compared, baseline, name, level)


def _both_scored(compared: ScoredCases, baseline: ScoredCases) -> tuple[ScoredCases, ScoredCases]:
    """The cases that have a score, or failed, by either."""
    both = (compared.scored | compared.failed) & (baseline.scored | baseline.failed)
    return compared.part(both), baseline.part(both)


def _areas(compared: ScoredCases, baseline: ScoredCases, level: float) -> Iterator[Estimate]:
    ours, theirs = _both_scored(compared, baseline)
    truth, one, cluster = ours.ranked
    other = theirs.ranked[1]
    if cluster is not None:
        yield clustered_region_difference(truth, one, other, cluster, level=level)
    else:
        yield paired_region_difference(truth, one, other, level=level)
    yield paired_difference(truth, one, other, level=level)


def _shares(compared: ScoredCases, baseline: ScoredCases, name: str, level: float) -> Estimate:
    truth = compared.truth
    of = {"sensitivity": truth, "specificity": ~truth}.get(name, np.ones_like(truth))
    if name == "failure_rate":
        ours, theirs = compared.failed[of], baseline.failed[of]
    else:
        assert compared.decision is not None
        assert baseline.decision is not None
        ours, theirs = (compared.decision == truth)[of], (baseline.decision == truth)[of]
    if compared.cluster is not None:
        return tango_clustered(ours.astype(float) - theirs, compared.cluster[of], level=level)
    both, neither = int((ours & theirs).sum()), int((~ours & ~theirs).sum())
    return tango(PairedTable(both, int((ours & ~theirs).sum()), int((~ours & theirs).sum()), neither), level)
