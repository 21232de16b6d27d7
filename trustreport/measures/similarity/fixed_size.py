"""Similarity p-values of sets cut to one size, so that sites with few and with many cases can be compared."""

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.similarity import notes
from trustreport.measures.similarity.correspondence import correspondence
from trustreport.measures.similarity.distances import Metric
from trustreport.measures.similarity.features import Features


@dataclass(frozen=True, slots=True)
class FixedSize:
    """Median p-values of both tests over random subsets of one size."""

    degree_of_correspondence: Estimate
    energy_distance: Estimate


def at_fixed_size(
    features: Features,
    rng: np.random.Generator,
    *,
    size: int = 100,
    repeats: int = 50,
    permutations: int = 199,
    metric: Metric = "euclidean",
) -> FixedSize:
    """What the similarity p-values would be with `size` training and `size` external cases.

    ::

        median over `repeats` of p of `size` cases drawn from each set without replacement

    Estimand: the median p of such a study, which depends on the sources and `size` alone.

    Parameters
    ----------
    features : Features
        Standardised by the whole training set.
    rng : numpy.random.Generator
    size, repeats, permutations : int
        Cases drawn from each set, how often, and permutations each time.
    metric : {"euclidean", "cityblock"}

    Returns
    -------
    FixedSize
        Value and `p` the median; `details` hold the quartiles and the share of p-values up to .05; `se` is
        the Monte Carlo error of the median by the spread of p. `n` counts external cases in the whole set.
        NaN with a note where a set has fewer than `size` cases.

    References
    ----------
    Own construction: a p-value falls with the number of cases, a p-value at a fixed number does not.

    Examples
    --------
    >>> from trustreport.measures.similarity.features import standardise
    >>> rng = np.random.default_rng(7)
    >>> both = standardise(rng.normal(0, 1, (600, 3)), rng.normal(0.3, 1, (400, 3)))
    >>> at_fixed_size(both, rng, size=30).energy_distance.value < 0.5
    True
    """
    if size < 4 or repeats < 2:
        raise ValueError(f"size must be 4 or more and repeats 2 or more, got {size} and {repeats}.")
    n, m = len(features.training), len(features.external)
    why = features.undefined_because or (notes.SMALLER_THAN_SUBSAMPLE if min(n, m) < size else "")
    if why:
        return FixedSize(*(undefined(m, why, method="permutation_fixed_size") for _ in range(2)))
    found = []
    for one in rng.spawn(repeats):
        some = Features(
            features.training[one.choice(n, size, replace=False)],
            features.external[one.choice(m, size, replace=False)],
        )
        both = correspondence(some, one, permutations=permutations, metric=metric)
        found.append((both.degree_of_correspondence.p, both.energy_distance.p))
    return FixedSize(*(_median(np.array(p), size, m, features.note) for p in zip(*found)))


def _median(p: NDArray[np.float64], size: int, m: int, note: str) -> Estimate:
    p = p[~np.isnan(p)]  # a subset whose cases are all alike has none
    if not p.size:
        return undefined(m, notes.ALL_ALIKE, method="permutation_fixed_size")
    low, middle, high = (float(q) for q in np.quantile(p, [0.25, 0.5, 0.75]))
    return Estimate(
        middle,
        nan,
        nan,
        m,
        method="permutation_fixed_size",
        note=notes.join(note, notes.TEST_ONLY),
        se=1.2533 * float(p.std()) / sqrt(p.size),  # sqrt(pi / 2): median of a normal sample against its mean
        p=middle,
        details={
            "size": float(size),
            "repeats": float(p.size),
            "quartile_low": low,
            "quartile_high": high,
            "share_up_to_05": float((p <= 0.05).mean()),
        },
    )
