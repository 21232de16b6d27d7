"""Odds of bias after advice, and of right decisions with and without it; undefined with a zero cell."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.reliance.clustered import INDEPENDENT, Floats, Linearised
from trustreport.measures.reliance.patterns import (
    EMPTY_LEVELS,
    NO_COMPLEXITY,
    NO_CONFIDENCE,
    NO_READING,
    NOT_WITH_BOTH,
    NOTHING_LEFT,
    ZERO_CELL,
)


def as_odds(share: Estimate) -> Estimate:
    """The odds of a share, its limits turned with it.

    ::

        odds = p / (1 - p)
        automation bias: n100 / n101 = 1 / RSR - 1,   conservatism: n010 / n011 = 1 / RAIR - 1

    Returns
    -------
    Estimate
        Above 0; NaN with a note where nobody, or everybody, is counted.

    Examples
    --------
    >>> print(as_odds(Estimate(0.2, 0.1, 0.5, 40)))
    0.25 (95% CI 0.11 to 1.00; n = 40)
    """
    if isnan(share.value):
        return share
    if share.value in (0.0, 1.0):
        return undefined(share.n, ZERO_CELL, level=share.level, method=share.method)
    low, high = (x / (1 - x) for x in (share.low, share.high))
    return replace(share, value=share.value / (1 - share.value), low=low, high=high, se=nan, p=nan)


def as_direction(share: Estimate) -> Estimate:
    """(helpful - harmful) / all of them, from the share that is helpful: 1 all of them, -1 none.

    ::

        direction = 2 p - 1

    Examples
    --------
    >>> print(as_direction(Estimate(0.75, 0.5, 0.9, 40)))
    0.50 (95% CI 0.00 to 0.80; n = 40)
    """
    value, low, high = (2 * x - 1 for x in (share.value, share.low, share.high))
    return replace(share, value=value, low=low, high=high, se=2 * share.se, p=nan)


def inverse(ratio: Estimate) -> Estimate:
    """One over a ratio, of odds of errors for instance; undefined where the ratio is 0 or infinite.

    Examples
    --------
    >>> print(inverse(Estimate(0.5, 0.25, 1.0, 40)))
    2.00 (95% CI 1.00 to 4.00; n = 40)
    """
    if isnan(ratio.value):
        return ratio
    if ratio.value == 0 or not isfinite(ratio.value):
        return undefined(ratio.n, ZERO_CELL, level=ratio.level, method=ratio.method)
    return replace(ratio, value=1 / ratio.value, low=1 / ratio.high, high=1 / ratio.low)


def odds_of_counts(counts: Mapping[str, int], first: str, second: str, level: float = 0.95) -> Estimate:
    """Odds of one pattern over the odds of another, both of all readings, as published; readings independent.

    ::

        OR = odds(n1 / n) / odds(n2 / n)
        Var log OR = (1 / (p1 q1) + 1 / (p2 q2) + 2 / (q1 q2)) / n,   q = 1 - p

    Estimand: ratio of the odds that a reading has the first pattern to those that it has the second.

    Parameters
    ----------
    counts : mapping
        Readings of each pattern.
    first, second : str
        ``100`` and ``101``: automation bias; ``010`` and ``011``: conservatism.

    Returns
    -------
    Estimate
        `n` counts all readings; NaN with a note where one of the two patterns has no reading, or all.

    Notes
    -----
    The denominator is all readings, so that it falls as advice is wrong less often in either odds alike;
    the conditional odds (`as_odds` of the share given up) do not depend on how often advice is wrong.

    References
    ----------
    Agresti (2013), Categorical Data Analysis, 3rd ed., section 16.1 (delta method, multinomial).

    Examples
    --------
    >>> print(odds_of_counts({"100": 22, "101": 74, "111": 504}, "100", "101"))
    0.27 (95% CI 0.16 to 0.45; n = 600)
    """
    n = sum(counts.values())
    if n == 0:
        return undefined(0, NO_READING, level=level, method=INDEPENDENT)
    one, other = counts[first], counts[second]
    if 0 in (one, other, n - one, n - other):
        return undefined(n, ZERO_CELL, level=level, method=INDEPENDENT)
    value = one * (n - other) / (other * (n - one))
    se = sqrt(n / (one * (n - one)) + n / (other * (n - other)) + 2 * n / ((n - one) * (n - other)))
    half = normal_quantile(level) * se
    low, high = value * float(np.exp(-half)), value * float(np.exp(half))
    return Estimate(value, low, high, n, level, INDEPENDENT, details={"log_se": se})


def odds_ratio(first: Floats, second: Floats) -> Linearised | str:
    """Odds of one outcome over the odds of another, both of the same readings, with their influence.

    ::

        u = ((y1 - p1) / (p1(1 - p1)) - (y2 - p2) / (p2(1 - p2))) / n

    Parameters
    ----------
    first, second : float arrays, shape (n_readers, n_cases)
        1.0, 0.0, NaN where unknown; readings for which both are known count.

    Returns
    -------
    Linearised on the log scale, or the reason why it is undefined

    Examples
    --------
    >>> found = odds_ratio(np.array([[1.0, 1, 0, 1]]), np.array([[1.0, 0, 0, 0]]))
    >>> found.value, found.n
    (9.0, 4)
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    n = int(both.sum())
    if n == 0:
        return NO_READING
    shares = [float(y[both].mean()) for y in (first, second)]
    if {0.0, 1.0} & set(shares):
        return ZERO_CELL
    p, q = shares
    u = ((first - p) / (p * (1 - p)) - (second - q) / (q * (1 - q))) / n
    return Linearised(p * (1 - q) / (q * (1 - p)), np.where(both, u, np.nan), "log", n)


def adjusted_odds(
    outcome: Floats, known: NDArray[np.bool_], levels: NDArray[np.int8], names: Sequence[str]
) -> Linearised | str:
    """Odds of an outcome standardised to the complexity of all readings: as if each level were as frequent.

    ::

        p = sum over levels c of P(c) k_c / n_c,   odds = p / (1 - p)

    P(c) is the share of level c among the `known` readings. Levels without a reading of the base are left
    out, the others weighing more in proportion; the note names them.

    Estimand: the conditional odds among readings with the complexity of all readings.

    Parameters
    ----------
    outcome : float array, shape (n_readers, n_cases)
        1.0 counted, 0.0 in the base only, NaN not in the base.
    known : bool array of that shape
        Readings whose complexity is the standard.
    levels : int array, shape (n_cases,)
        Level of each case; -1 where it is not known.
    names : what the levels are called

    Returns
    -------
    Linearised on the log scale, or the reason why it is undefined
        `details` counts the levels and those that were empty.

    References
    ----------
    Fleiss, Levin, Paik (2003), Statistical Methods for Rates and Proportions, chapter 19 (standardisation).

    Examples
    --------
    >>> outcome = np.array([[1.0, 0, 0, 1, 1, 0, np.nan, np.nan]])
    >>> levels = np.array([0, 0, 0, 0, 1, 1, 1, 1], np.int8)
    >>> found = adjusted_odds(outcome, np.ones((1, 8), bool), levels, ("1", "2"))
    >>> found.value, found.n
    (1.0, 6)
    """
    of_level = np.broadcast_to(levels, outcome.shape)
    known, based = known & (of_level >= 0), ~np.isnan(outcome) & (of_level >= 0)
    codes = [c for c in range(len(names)) if (known & (of_level == c)).any()]
    held = [c for c in codes if (based & (of_level == c)).any()]
    if not held:
        return NO_COMPLEXITY
    standard = known & np.isin(of_level, held)
    total = int(standard.sum())
    weight = {c: int((standard & (of_level == c)).sum()) / total for c in held}
    rate = {c: float(outcome[based & (of_level == c)].mean()) for c in held}
    p = sum(weight[c] * rate[c] for c in held)
    if not 0 < p < 1:
        return ZERO_CELL
    influence, least = np.zeros(outcome.shape), 0.0
    for c in held:
        here, n = based & (of_level == c), int((based & (of_level == c)).sum())
        influence[here] += weight[c] * (outcome[here] - rate[c]) / n
        influence[standard & (of_level == c)] += (rate[c] - p) / total
        # A level of few readings, all alike, would add no variance: half a reading more of either kind.
        smooth = (rate[c] * n + 0.5) / (n + 1)
        least += weight[c] ** 2 * smooth * (1 - smooth) / n
    slope = p * (1 - p)
    empty = [names[c] for c in codes if c not in held]
    note = EMPTY_LEVELS.format(levels=", ".join(empty)) if empty else ""
    return Linearised(
        p / (1 - p),
        np.where(standard, influence / slope, np.nan),
        "log",
        int(based.sum()),
        note,
        least=least / slope**2,
        details={"levels": float(len(codes)), "empty_levels": float(len(empty))},
    )


def share_difference(compared: Floats, baseline: Floats) -> Linearised | str:
    """Difference of two shares whose readings may have readers and cases in common.

    ::

        u = (y1 - p1) / n1 of the readings of the first base, -(y2 - p2) / n2 of those of the second

    Parameters
    ----------
    compared, baseline : float arrays, shape (n_readers, n_cases)
        1.0 counted, 0.0 in the base only, NaN not in the base.

    Examples
    --------
    >>> found = share_difference(np.array([[1.0, 1, np.nan, 0]]), np.array([[np.nan, np.nan, 1.0, 0]]))
    >>> round(found.value, 3), found.n
    (0.167, 5)
    """
    counts = [int((~np.isnan(y)).sum()) for y in (compared, baseline)]
    if 0 in counts:
        return NOT_WITH_BOTH
    (p, q), (n, m) = (float(np.nanmean(y)) for y in (compared, baseline)), counts
    parts = (compared - p) / n, -(baseline - q) / m
    neither = np.isnan(compared) & np.isnan(baseline)
    u = sum(np.where(np.isnan(part), 0.0, part) for part in parts)
    # Of shares of 0% or 100% nothing would be uncertain: half a reading more of either kind.
    smooth = [((share * k + 0.5) / (k + 1), k) for share, k in ((p, n), (q, m))]
    least = sum(s * (1 - s) / k for s, k in smooth)
    return Linearised(p - q, np.where(neither, np.nan, u), "identity", n + m, least=least)


# Patterns that are appropriate whatever the confidence, and those that its change decides.
ALWAYS = (0b011, 0b101)
IF_FALLING, IF_RISING = 0b000, 0b111


def appropriate(patterns: Floats, before: Floats, after: Floats) -> Floats:
    """Whether each reading relied appropriately on the advice.

    ::

        1  pattern 011 or 101; 000 with falling confidence; 111 with rising confidence
        0  every other pattern

    So that appropriate reliance = (n011 + n101 + w0 n000 + w1 n111) / n, with w0 the share of readings wrong
    throughout whose confidence fell, w1 the share of those right throughout whose confidence rose.

    Parameters
    ----------
    patterns : float array, shape (n_readers, n_cases)
        As `trustreport.measures.reliance.patterns.patterns`.
    before, after : float arrays of that shape
        The reader's confidence; NaN where there is none.

    Returns
    -------
    float array of that shape
        NaN without a pattern or without both confidences.

    Examples
    --------
    >>> appropriate(
    ...     np.array([3.0, 0, 7, 4]), np.array([0.5, 0.6, 0.7, 0.9]), np.array([0.5, 0.5, 0.7, 0.9])
    ... )
    array([1., 1., 0., 0.])
    """
    held = ~(np.isnan(patterns) | np.isnan(before) | np.isnan(after))
    falls, rises = after < before, after > before
    right = np.isin(patterns, ALWAYS) | ((patterns == IF_FALLING) & falls) | ((patterns == IF_RISING) & rises)
    return np.where(held, right.astype(float), np.nan)


def chance_corrected(patterns: Floats, before: Floats, after: Floats) -> Linearised | str:
    """Appropriate reliance in excess of chance: 0 as by chance, 1 always appropriate.

    ::

        1 - (1 - AR) / (1 - E)
        E = (P(01) + P(10)) P(right) + P(00) P(wrong and falling) + P(11) P(right and rising)

    P(ha) is the share of readings with first decision h and advice a (1 right); the other factors are shares
    of all readings by final decision and change of confidence. E is what AR would be if final decision and
    change of confidence were independent of first decision and advice.

    Parameters
    ----------
    patterns, before, after : as in `appropriate`

    Returns
    -------
    Linearised, or the reason why it is undefined
        At most 1; `details` holds the reliance expected by chance.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46 (correction for chance).

    Examples
    --------
    >>> before, after = np.full((1, 4), 0.5), np.full((1, 4), 0.5)
    >>> found = chance_corrected(np.array([[3.0, 5, 2, 4]]), before, after)
    >>> found.value, found.details["expected"]
    (0.0, 0.5)
    """
    reading = appropriate(patterns, before, after)
    held = ~np.isnan(reading)
    n = int(held.sum())
    if n == 0:
        return NO_CONFIDENCE
    codes = np.where(held, patterns, 0).astype(int)
    final = codes & 1

    def flag(which: NDArray[np.bool_]) -> Floats:
        return np.where(held, which, np.nan)

    factors = (
        (flag(np.isin(codes >> 1, (0b01, 0b10))), flag(final == 1)),
        (flag(codes >> 1 == 0b00), flag((final == 0) & (after < before))),
        (flag(codes >> 1 == 0b11), flag((final == 1) & (after > before))),
    )
    share, expected, change = float(np.nanmean(reading)), 0.0, np.zeros(codes.shape)
    for group, outcome in factors:
        p, q = float(np.nanmean(group)), float(np.nanmean(outcome))
        expected += p * q
        change = change + (group - p) * q + (outcome - q) * p
    if expected >= 1:
        return NOTHING_LEFT
    influence = ((reading - share) / (1 - expected) - (1 - share) * change / (1 - expected) ** 2) / n
    value = 1 - (1 - share) / (1 - expected)
    return Linearised(value, influence, "identity", n, details={"expected": expected})
