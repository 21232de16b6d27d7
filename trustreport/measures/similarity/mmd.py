"""Maximum mean discrepancy: a kernel test that sees any difference between two sets."""

from math import nan

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.similarity import notes
from trustreport.measures.similarity.distances import distances
from trustreport.measures.similarity.features import Features
from trustreport.measures.similarity.permutation import (
    DistanceSums,
    check_permutations,
    observed_and_random,
    upper_tail,
)
from trustreport.measures.similarity.tasks import Run, one_by_one

FOR_WIDTH = 5000  # cases from whose pairs the kernel width is taken


def mmd(
    features: Features, rng: np.random.Generator, *, permutations: int = 9999, run: Run = one_by_one
) -> Estimate:
    """Squared maximum mean discrepancy of external from training cases, with a permutation p-value.

    With w the median distance of all pairs of cases::

        k(x, y) = exp(-|x - y|^2 / (2 w^2))
        MMD^2 = mean of k over pairs of training cases + mean over pairs of external cases
                - 2 x mean over pairs of one each

    without pairs of a case and itself, so that its expectation is 0 for one source, and it may be negative.

    Estimand: the squared distance between the mean kernel embeddings of both sources.

    Parameters
    ----------
    features, rng, permutations, run
        As in `correspondence`. With over 5,000 cases the width is that of 5,000 drawn at random.

    Returns
    -------
    Estimate
        MMD^2 with its one-sided p; `details` also hold the kernel width. NaN with a note under four cases in
        a set, when all cases are alike or when more than half of all pairs are.

    References
    ----------
    Gretton, Borgwardt, Rasch, Schölkopf, Smola (2012), J. Mach. Learn. Res. 13, 723-773, lemma 6.

    Examples
    --------
    >>> from trustreport.measures.similarity.features import standardise
    >>> rng = np.random.default_rng(7)
    >>> both = standardise(rng.normal(0, 1, (60, 3)), rng.normal(1, 1, (40, 3)))
    >>> mmd(both, rng, permutations=199).p
    0.005
    """
    check_permutations(permutations)
    n, m = len(features.training), len(features.external)
    if why := features.undefined_because:
        return undefined(m, why, method="permutation")
    points = features.pooled
    width = _median_distance(points, rng)
    if not width:
        return undefined(m, notes.HALF_ALIKE, method="permutation")
    kernel = distances(points, gamma=1 / (2 * width**2))
    seen, total, drawn = observed_and_random(kernel, n, permutations, rng, run=run)
    tail = upper_tail(float(_squared(seen, total, n, m)[0]), _squared(drawn, total, n, m))
    note = notes.join(
        features.note, notes.WIDTH_FROM_SUBSET if len(points) > FOR_WIDTH else "", notes.TEST_ONLY
    )
    return Estimate(
        tail.observed,
        nan,
        nan,
        m,
        method="permutation",
        note=note,
        p=tail.p,
        details={**tail.details, "kernel_width": width},
    )


def _median_distance(points: NDArray[np.float64], rng: np.random.Generator) -> float:
    if len(points) > FOR_WIDTH:
        points = points[rng.choice(len(points), FOR_WIDTH, replace=False)]
    return float(np.median(pdist(points), overwrite_input=True))


def _squared(sums: DistanceSums, total: float, n: int, m: int) -> NDArray[np.float64]:
    outside = total - sums.within - 2 * sums.between
    return (sums.within - n) / (n * (n - 1)) + (outside - m) / (m * (m - 1)) - 2 * sums.between / (n * m)
