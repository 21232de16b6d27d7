"""Measures of the four cells when cases are independent: at the prevalence of the cases, or at another."""

from collections.abc import Callable
from dataclasses import replace
from math import inf, nan, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.confusion import notes
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.measure import CaseShare, CellMeasure, OfClasses, lacking, one_class
from trustreport.measures.confusion.notes import NO_CASE
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.proportion import normal_quantile, wilson

Floats = NDArray[np.float64]
Values = Callable[[Floats], Floats]
METHOD = "propagated_wilson"
GRID = 25  # points along half a turn in the first search
ZOOMS = 9  # finer searches round the best point, each a sixth as wide


def propagated(
    measure: CellMeasure, counts: ConfusionCounts, *, prevalence: float | None = None, level: float = 0.95
) -> Estimate:
    """A measure with the interval that follows from those of sensitivity, specificity and prevalence.

    The three are estimated independently, and with them every measure is known. Let w(u) be the value at
    which the score test of a share gives u, so that w(-z) and w(z) are its Wilson limits. Then::

        low, high = least, greatest value of the measure at (w1(u1), w2(u2), w3(u3)),
                    u1^2 + u2^2 + u3^2 = z^2

    Estimand: the measure in the population, cases sampled as they come; at a stated prevalence, that in a
    population with this prevalence and the same sensitivity and specificity, the third part then being fixed.

    Parameters
    ----------
    measure : one of `MEASURES`
    prevalence : float in (0, 1), optional
        The prevalence; the sample's own, uncertain, when not given.

    Returns
    -------
    `n` counts all cases; NaN with a note where the measure is 0/0.

    Notes
    -----
    Stays in the range of the measure and needs no cell above zero; coverage:
    benchmarks/coverage.py.

    References
    ----------
    Newcombe (2011), Commun. Stat. Theory Methods 40, 3154-3180 (propagating imprecision).

    Examples
    --------
    >>> from trustreport.measures.confusion.table import MEASURES
    >>> print(propagated(MEASURES["mcc"], ConfusionCounts(19, 0, 0, 21)))
    1.00 (95% CI 0.82 to 1.00; n = 40)
    """
    check_level(level)
    note = why_undefined(measure, counts, by_class=prevalence is not None)
    if note:
        return undefined(counts.n, note, level=level, method=METHOD)
    formula = measure.formula
    z = normal_quantile(level)

    def values(unit: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            found: Floats = np.asarray(formula(*_cells(counts, z * unit, prevalence)), dtype=np.float64)
        return found

    if prevalence is None:
        value = measure.value_in(counts)
        low, high = ends_on_sphere(values)
    else:
        value = float(formula(*weighed(counts, prevalence)))
        low, high = _ends_on_circle(values)
    low, high = max(min(low, value), measure.low), min(max(high, value), measure.high)  # but for rounding
    return Estimate(value, low, high, counts.n, level, METHOD)


def why_undefined(measure: CellMeasure, counts: ConfusionCounts, *, by_class: bool = False) -> Note:
    """Why a measure is 0/0 in these counts, or nothing; `by_class`: also where a class is absent."""
    if counts.n == 0:
        return notes.NO_CASE
    return lacking((*(("positives", "negatives") if by_class else ()), *measure.needs), counts)


def weighed(counts: ConfusionCounts, prevalence: float) -> tuple[float, float, float, float]:
    """The cells as shares of a population with this prevalence."""
    right, wrong = prevalence / counts.positives, (1 - prevalence) / counts.negatives
    return counts.tp * right, counts.fp * wrong, counts.fn * right, counts.tn * wrong


def score_limit(x: Floats | float, n: Floats | float, u: Floats) -> Floats:
    """The share p at which (p - x/n) / sqrt(p (1 - p) / n) is u; Wilson's limits are those at -z and z."""
    square = u * u
    high = (2 * x + square + np.abs(u) * np.sqrt(square + 4 * x * ((n - x) / n))) / (2 * (n + square))
    low = (x / n) * (x / (n + square)) / np.where(high > 0, high, 1)  # no cancellation for rare events
    limit: Floats = np.minimum(np.where(u < 0, low, high), 1.0)
    return limit


def _cells(counts: ConfusionCounts, u: Floats, prevalence: float | None) -> tuple[Floats, ...]:
    """tp, fp, fn, tn as shares at the scores u, shape (..., 2 or 3)."""
    of = [(counts.tp, counts.fn), (counts.tn, counts.fp), (counts.positives, counts.negatives)]
    pairs = np.array(of[: u.shape[-1]], dtype=np.float64)  # of each part: those it counts, and the others
    n = pairs.sum(axis=1, keepdims=True)
    # All limits at once: the arrays are small, and each step on one costs more than its numbers do.
    shares = score_limit(pairs, np.where(n > 0, n, nan), np.stack([u, -u], axis=-1))
    shares = np.where(n > 0, shares, 0.5)  # anything from 0 to 1 fits: the measure does not depend on it
    hit, missed, cleared, alarmed = (shares[..., i, j] for i in (0, 1) for j in (0, 1))
    if prevalence is None:
        present, absent = shares[..., 2, 0], shares[..., 2, 1]
    else:
        present, absent = np.asarray(prevalence), np.asarray(1 - prevalence)
    return present * hit, absent * alarmed, present * missed, absent * cleared


def _ends_on_circle(values: Values) -> tuple[float, float]:
    """Least and greatest value over directions in the plane."""
    angle, span, around = np.linspace(-pi, pi, 2 * GRID), pi / GRID, np.linspace(-1, 1, GRID)
    found = values(_in_plane(angle))
    best = angle[[np.nanargmin(found), np.nanargmax(found)]]
    for _ in range(ZOOMS):
        near = best[:, None] + span * around
        found, span = values(_in_plane(near)), span / 6
        best = near[[0, 1], [np.nanargmin(found[0]), np.nanargmax(found[1])]]
    return float(np.nanmin(found[0])), float(np.nanmax(found[1]))


def ends_on_sphere(values: Values) -> tuple[float, float]:
    """Least and greatest value over directions in space, both looked for in the same calls of `values`."""
    polar, turn, around = np.linspace(0, pi, GRID), np.linspace(-pi, pi, 2 * GRID), np.linspace(-1, 1, 13)
    span = pi / (GRID - 1)
    found = values(_in_space(polar, turn))
    row, column = np.unravel_index([np.nanargmin(found), np.nanargmax(found)], found.shape)
    best_polar, best_turn = polar[row], turn[column]
    turned = np.full(2, span)
    for _ in range(ZOOMS):
        # At a pole all turns are one place, and beside it any of them may be the best.
        turned = np.where(np.sin(best_polar) < span, pi, turned)
        polar, turn = best_polar[:, None] + span * around, best_turn[:, None] + turned[:, None] * around
        found, span, turned = values(_in_space(polar, turn)), span / 6, turned / 6
        places = [np.nanargmin(found[0]), np.nanargmax(found[1])]
        row, column = np.unravel_index(places, found.shape[1:])
        best_polar, best_turn = polar[[0, 1], row], turn[[0, 1], column]
    return float(np.nanmin(found[0])), float(np.nanmax(found[1]))


def _in_plane(angle: Floats) -> Floats:
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _in_space(polar: Floats, turn: Floats) -> Floats:
    """Directions of all pairs of angles, shape (..., polar, turn, 3)."""
    across, up = np.sin(polar)[..., :, None], np.cos(polar)[..., :, None]
    east, north = np.cos(turn)[..., None, :], np.sin(turn)[..., None, :]
    return np.stack(np.broadcast_arrays(across * east, across * north, up), axis=-1)


def estimated(measure: CellMeasure, counts: ConfusionCounts, *, level: float = 0.95) -> Estimate:
    """A measure of independent cases; NaN with a note where it is 0/0.

    Where it has no interval of its own, a share has Wilson's. A weighted sum of sensitivity and specificity,
    with l the distances of its two terms to their ends on the lower side and u on the upper one, has
    Newcombe's::

        value - sqrt(l_1^2 + l_2^2)  to  value + sqrt(u_1^2 + u_2^2)

    Any other has what follows from its parts: `propagated`.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 873-890, method 10 (of J, a difference of two shares).
    """
    if measure.alone is not None:
        return measure.alone(counts, level)
    if isinstance(measure.interval, CaseShare):
        return _share(measure, counts, level)
    if isinstance(measure.interval, OfClasses):
        return _of_classes(measure, measure.interval, counts, level)
    return propagated(measure, counts, level=level)


def _share(measure: CellMeasure, counts: ConfusionCounts, level: float) -> Estimate:
    x, n = measure.counts_of((counts.tp, counts.fp, counts.fn, counts.tn))
    e = wilson(x, n, level)
    return e if n else replace(e, note=lacking(measure.needs, counts) or NO_CASE)


def _of_classes(measure: CellMeasure, sum_of: OfClasses, counts: ConfusionCounts, level: float) -> Estimate:
    missing = one_class(counts)
    if missing:
        return undefined(counts.n, missing, level=level, method="newcombe")
    value = measure.value_in(counts)
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


def at_prevalence(name: str, counts: ConfusionCounts, prevalence: float, *, level: float = 0.95) -> Estimate:
    """What a measure would be at a stated prevalence if sensitivity and specificity stayed as they are.

    With s, t the sensitivity and specificity and q the prevalence, the cells become::

        tp = q s,  fn = q (1 - s),  tn = (1 - q) t,  fp = (1 - q) (1 - t)

    Predictive values follow from the likelihood ratios, whose Koopman limits carry over::

        ppv = q LR+ / (q LR+ + 1 - q),   npv = (1 - q) / (1 - q + q LR-)

    The others: `propagated`. A measure that does not depend on the prevalence is returned as it is.

    Parameters
    ----------
    name : str
        A key of `MEASURES` other than prevalence.
    prevalence : float in (0, 1)

    Returns
    -------
    `n` counts all cases; NaN with a note when a class is absent from the counts or the measure is 0/0.

    Notes
    -----
    Assumes that cases of either class are alike in both populations; they seldom are when the prevalence
    differs much.

    References
    ----------
    Mercaldo, Lau, Zhou (2007), Stat. Med. 26, 2170-2183 (predictive values at a given prevalence).
    Leeflang, Rutjes, Reitsma, Hooft, Bossuyt (2013), CMAJ 185, E537-E544 (the assumption).

    Examples
    --------
    >>> print(at_prevalence("ppv", ConfusionCounts(97, 12, 46, 55), 0.02))
    0.07 (95% CI 0.05 to 0.12; n = 210)
    """
    known = [key for key, measure in MEASURES.items() if measure.of_decisions]
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}.")
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence must lie in (0, 1), got {prevalence:g}.")
    measure = MEASURES[name]
    if not measure.by_prevalence:
        return estimated(measure, counts, level=level)
    if not measure.ratio:
        return propagated(measure, counts, prevalence=prevalence, level=level)
    missing = one_class(counts)
    if missing:
        return undefined(counts.n, missing, level=level, method="koopman")
    ratio = estimated(MEASURES[measure.ratio], counts, level=level)
    if lacking(measure.needs, counts):
        return undefined(counts.n, ratio.note, level=level, method="koopman")
    limits, share = (ratio.low, ratio.high), prevalence
    if "called_negative" in measure.needs:
        limits, share = (_inverse(ratio.high), _inverse(ratio.low)), 1 - prevalence
    low, high = (_posterior(limit, share) for limit in limits)
    return replace(
        ratio, value=measure.formula(*weighed(counts, prevalence)), low=low, high=high, note=NO_NOTE
    )


def _inverse(ratio: float) -> float:
    return 1 / ratio if ratio else inf


def _posterior(ratio: float, share: float) -> float:
    """Probability after evidence with this likelihood ratio, `share` before."""
    return 1.0 if ratio == inf else share * ratio / (share * ratio + 1 - share)
