"""Tests that two sets of cases are alike: degree of correspondence, energy distance and kernel test."""

from dataclasses import dataclass
from math import nan

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.similarity import notes
from trustreport.measures.similarity.features import (
    Distances,
    Features,
    Metric,
    Run,
    distances,
    neighbours,
    one_by_one,
)
from trustreport.measures.similarity.permutation import (
    DistanceSums,
    Tail,
    check_permutations,
    observed_and_random,
    upper_tail,
)


@dataclass(frozen=True, slots=True)
class Correspondence:
    """Two permutation tests of one source, and the first one's statistic in null standard deviations."""

    degree_of_correspondence: Estimate
    energy_distance: Estimate
    standardised_statistic: Estimate


def correspondence(
    features: Features,
    rng: np.random.Generator,
    *,
    permutations: int = 9999,
    metric: Metric = "euclidean",
    between: Distances | None = None,
    run: Run = one_by_one,
) -> Correspondence:
    """How often sets drawn at random from all cases differ as much as training and external cases do.

    With d the distance, A the n training and B the m external cases, R(u) the sum of d(u, a) over
    A, and a(x) the training case nearest to x::

        degree of correspondence: statistic = mean over x in B of R(x) - R(a(x))
        energy distance:          statistic = nm / (n + m) (2 E|X-Y| - E|X-X'| - E|Y-Y'|), all pairs

        p = (1 + permutations whose statistic is as large) / (1 + permutations)

    The degree of correspondence is its p-value: large when the external cases lie no further out than the
    training cases nearest to them. It is one-sided, so that external cases crowded into the middle count as
    fully alike; the energy distance sees any difference. Both p-values fall with the number of cases for the
    same difference: read them beside a size (`effect`). Of training cases equally near (to 1e-9 training
    SDs) the first counts, training before external, each in their order.

    Estimand: for a test, whether both sets stem from one distribution of features.

    Parameters
    ----------
    features : Features
        From `standardise` or `mixed`.
    rng : numpy.random.Generator
        Generators for blocks of permutations are spawned from it.
    permutations : int
        At least 19.
    metric : {"euclidean", "cityblock"}
        One for the nearest training case and for the sums. By the city-block distance, the energy distance
        sees how each feature is spread, not how features go together.
    between : Distances, optional
        The pooled cases' `distances`, where they are at hand already; then `metric` is theirs.
    run
        How independent blocks are computed (`tasks.with_joblib`); no result depends on it.

    Returns
    -------
    `degree_of_correspondence` has the p-value as its value and as `p`, `energy_distance` the statistic
    and its p; `details` hold statistic, null mean and SD, standardised statistic and Monte Carlo standard
    error of p. `n` counts external cases. NaN with a note under four cases in a set or when all cases are
    alike.

    Notes
    -----
    Permuting assumes cases to be independent: several of one patient make p too small.

    References
    ----------
    Cabitza, Campagner, Soares et al. (2021), Comput. Methods Programs Biomed. 208, 106288.
    Székely, Rizzo (2013), J. Stat. Plan. Inference 143, 1249-1272.
    Phipson, Smyth (2010), Stat. Appl. Genet. Mol. Biol. 9, 39.
    """
    check_permutations(permutations)
    n, m = len(features.training), len(features.external)
    if why := features.undefined_because:
        none = undefined(m, why, method="permutation")
        return Correspondence(none, none, undefined(m, why, method="null_sd"))
    between = between or distances(features.pooled, metric=metric)
    order = neighbours(between, n, run=run)
    seen, total, drawn = observed_and_random(between, n, permutations, rng, order=order, run=run)
    degree = upper_tail(float(seen.correspondence[0]), drawn.correspondence)
    by_feature = notes.BY_FEATURE if between.metric == "cityblock" else NO_NOTE
    energy = upper_tail(float(_energy(seen, total, n, m)[0]), _energy(drawn, total, n, m))
    return Correspondence(
        _test(degree, degree.p, m, features.note),
        _test(energy, energy.observed, m, features.note + by_feature),
        _standardised(degree, m, features.note),
    )


def _test(tail: Tail, value: float, m: int, note: Note) -> Estimate:
    note = note + (NO_NOTE if tail.null_sd else notes.NO_NULL_SPREAD) + notes.TEST_ONLY
    return Estimate(value, nan, nan, m, method="permutation", note=note, p=tail.p, details=tail.details)


def _standardised(tail: Tail, m: int, note: Note) -> Estimate:
    if not tail.null_sd:
        return undefined(m, notes.NO_NULL_SPREAD, method="null_sd")
    value = tail.details["standardised"]
    note = note + notes.GROWS_WITH_CASES + notes.TEST_ONLY
    return Estimate(value, nan, nan, m, method="null_sd", note=note, p=tail.p, details=tail.details)


def _energy(sums: DistanceSums, total: float, n: int, m: int) -> NDArray[np.float64]:
    outside = total - sums.within - 2 * sums.between
    return n * m / (n + m) * (2 * sums.between / (n * m) - sums.within / n**2 - outside / m**2)


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
    note = features.note + (notes.WIDTH_FROM_SUBSET if len(points) > FOR_WIDTH else NO_NOTE) + notes.TEST_ONLY
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
