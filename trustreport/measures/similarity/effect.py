"""How far two sets differ, whatever their numbers of cases."""

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.auc import auc_covariance, reader_auc
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.notes import OFTEN_BELOW
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.similarity import notes
from trustreport.measures.similarity.correspondence import correspondence
from trustreport.measures.similarity.features import Distances, Features, Metric, distances

FEW = 100  # external cases
RIDGE = 1e-3  # of the mean variance, added to each: features that repeat one another stay solvable


def normalised_energy(
    features: Features, *, level: float = 0.95, between: Distances | None = None
) -> Estimate:
    """Share of the distance between the sets that the distances within them do not explain.

    With X, X' training and Y, Y' external cases, pairs of a case and itself left out::

        H = (2 E|X-Y| - E|X-X'| - E|Y-Y'|) / (2 E|X-Y|)

    Estimand: the energy coefficient of both sources: 0 for one source, 1 for two single points.

    Parameters
    ----------
    features : Features
        From `standardise` or `mixed`.
    between : Distances, optional
        The pooled cases' `distances`, where they are at hand already.

    Returns
    -------
    At most 1; about 0 it may be slightly negative. Normal interval with the variance of each case's
    influence on H; `n` counts external cases. NaN with a note as in `correspondence`.

    Notes
    -----
    For one source the influence is of lower order and the interval approximate: ask the permutation test.

    References
    ----------
    Székely, Rizzo (2013), J. Stat. Plan. Inference 143, 1249-1272, section 4 (the coefficient H).

    Examples
    --------
    >>> from trustreport.measures.similarity.features import standardise
    >>> rng = np.random.default_rng(7)
    >>> print(normalised_energy(standardise(rng.normal(0, 1, (60, 3)), rng.normal(1, 1, (40, 3)))))
    0.25 (95% CI 0.18 to 0.33; n = 40)
    """
    z = normal_quantile(level)
    n, m = len(features.training), len(features.external)
    if why := features.undefined_because:
        return undefined(m, why, level=level, method="influence")
    between = between or distances(features.pooled)
    to_training, to_external = np.hstack(
        [[rows[:, :n].sum(axis=1), rows[:, n:].sum(axis=1)] for _, rows in between.every_block()]
    )
    within_training, within_external = to_training[:n] / (n - 1), to_external[n:] / (m - 1)
    across = float(to_external[:n].mean() / m)
    within = float(within_training.mean() + within_external.mean())
    value = 1 - within / (2 * across)
    # A case moves both means of its own set's pairs (hence the 2) and of pairs across.
    of_training, of_external = (
        (within * (outside / size - across) / across - 2 * (own - own.mean())) / (2 * across)
        for own, outside, size in (
            (within_training, to_external[:n], m),
            (within_external, to_training[n:], n),
        )
    )
    se = sqrt(of_training.var(ddof=1) / n + of_external.var(ddof=1) / m)
    low, high = value - z * se, min(1.0, value + z * se)
    note = features.note + (OFTEN_BELOW if m <= FEW else NO_NOTE)
    return Estimate(value, low, high, m, level, "influence", note, se=se)


def domain_classifier(
    features: Features, rng: np.random.Generator, *, folds: int = 5, level: float = 0.95
) -> Estimate:
    """How well a simple classifier tells external from training cases that it has not seen.

    A linear discriminant on the features and their squares, so that it sees shifted means and other spreads,
    fitted without one fold at a time::

        AUC = mean over folds of P(an external case of the fold is rated above a training case of it)

    Estimand: 0.5 for one source, 1 for sources that never overlap.

    Parameters
    ----------
    features : Features
        From `standardise` or `mixed`.
    rng : numpy.random.Generator
        Deals each set's cases to the folds.

    Returns
    -------
    In [0, 1], with the mean of the folds' DeLong variances; `n` counts external cases. NaN with a note as
    in `correspondence`, and with fewer than two cases of a set in a fold.

    Notes
    -----
    Folds share their training cases: the interval takes their classifiers as given.

    References
    ----------
    Lopez-Paz, Oquab (2017), ICLR, "Revisiting classifier two-sample tests".
    DeLong, DeLong, Clarke-Pearson (1988), Biometrics 44, 837-845.

    Examples
    --------
    >>> from trustreport.measures.similarity.features import standardise
    >>> rng = np.random.default_rng(7)
    >>> both = standardise(rng.normal(0, 1, (60, 3)), rng.normal(1, 1, (40, 3)))
    >>> print(domain_classifier(both, rng))
    0.93 (95% CI 0.86 to 0.99; n = 40)
    """
    check_level(level)
    if folds < 2:
        raise ValueError(f"folds must be 2 or more, got {folds}.")
    n, m = len(features.training), len(features.external)
    if why := features.undefined_because:
        return undefined(m, why, level=level, method="domain_classifier")
    if min(n, m) < 2 * folds:
        return undefined(m, notes.TOO_FEW_FOR_FOLDS, level=level, method="domain_classifier")
    cases = features.pooled
    cases = np.hstack([cases, cases**2])
    external = np.arange(n + m) >= n
    fold = np.concatenate([rng.permutation(np.arange(size) % folds) for size in (n, m)])
    areas, variances = [], []
    for one in range(folds):
        held_out = fold == one
        direction = _discriminant(cases[~held_out], external[~held_out])
        rating = (cases[held_out] @ direction)[None, None]
        areas.append(float(reader_auc(rating, external[held_out])[0, 0]))
        variances.append(float(auc_covariance(rating, external[held_out], "delong")[0, 0]))
    value, se = float(np.mean(areas)), sqrt(sum(variances)) / folds
    half = normal_quantile(level) * se
    return Estimate(
        value,
        max(0.0, value - half),
        min(1.0, value + half),
        m,
        level,
        "domain_classifier",
        features.note + (NO_NOTE if se else notes.NO_VARIATION),
        se=se,
        details={"folds": float(folds), "lowest_fold": min(areas), "highest_fold": max(areas)},
    )


def _discriminant(cases: NDArray[np.float64], external: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Fisher's direction: the difference of the means by the covariance within sets, its diagonal raised."""
    means = [cases[~external].mean(axis=0), cases[external].mean(axis=0)]
    centred = cases - np.where(external[:, None], means[1], means[0])
    scale = np.sqrt((centred**2).mean(axis=0))
    scale[scale == 0] = 1.0  # a feature that varies in neither set
    centred /= scale
    covariance = centred.T @ centred / len(cases)
    covariance[np.diag_indices_from(covariance)] += RIDGE
    direction: NDArray[np.float64] = solve(covariance, (means[1] - means[0]) / scale, assume_a="pos") / scale
    return direction


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
    size, repeats, permutations : int
        Cases drawn from each set, how often, and permutations each time.
    metric : {"euclidean", "cityblock"}

    Returns
    -------
    Value and `p` the median; `details` hold the quartiles and the share of p-values up to .05; `se` is
    the Monte Carlo error of the median by the spread of p. `n` counts external cases in the whole set.
    NaN with a note where a set has fewer than `size` cases.

    References
    ----------
    Own construction: a p-value falls with the number of cases, a p-value at a fixed number does not.
    """
    if size < 4 or repeats < 2:
        raise ValueError(f"size must be 4 or more and repeats 2 or more, got {size} and {repeats}.")
    n, m = len(features.training), len(features.external)
    why = features.undefined_because or (notes.SMALLER_THAN_SUBSAMPLE if min(n, m) < size else NO_NOTE)
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


def _median(p: NDArray[np.float64], size: int, m: int, note: Note) -> Estimate:
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
        note=note + notes.TEST_ONLY,
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
