"""Odds of following advice, and how they differ between readers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.bootstrap import Statistic
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.proportion import normal_quantile
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.clustered import INDEPENDENT, Floats, Linearised


def as_odds(share: Estimate) -> Estimate:
    """The odds of a share, its limits turned with it.

    ::

        odds = p / (1 - p)
        automation bias: n100 / n101 = 1 / RSR - 1,   conservatism: n010 / n011 = 1 / RAIR - 1

    Returns
    -------
    Above 0; NaN with a note where nobody, or everybody, is counted.

    Examples
    --------
    >>> print(as_odds(Estimate(0.2, 0.1, 0.5, 40)))
    0.25 (95% CI 0.11 to 1.00; n = 40)
    """
    if isnan(share.value):
        return share
    if share.value in (0.0, 1.0):
        return undefined(share.n, notes.ZERO_CELL, level=share.level, method=share.method)
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
        return undefined(ratio.n, notes.ZERO_CELL, level=ratio.level, method=ratio.method)
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
        return undefined(0, notes.NO_READING, level=level, method=INDEPENDENT)
    one, other = counts[first], counts[second]
    if 0 in (one, other, n - one, n - other):
        return undefined(n, notes.ZERO_CELL, level=level, method=INDEPENDENT)
    value = one * (n - other) / (other * (n - one))
    se = sqrt(n / (one * (n - one)) + n / (other * (n - other)) + 2 * n / ((n - one) * (n - other)))
    half = normal_quantile(level) * se
    low, high = value * float(np.exp(-half)), value * float(np.exp(half))
    return Estimate(value, low, high, n, level, INDEPENDENT, details={"log_se": se})


def odds_ratio(first: Floats, second: Floats) -> Linearised | Note:
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
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    n = int(both.sum())
    if n == 0:
        return notes.NO_READING
    shares = [float(y[both].mean()) for y in (first, second)]
    if {0.0, 1.0} & set(shares):
        return notes.ZERO_CELL
    p, q = shares
    u = ((first - p) / (p * (1 - p)) - (second - q) / (q * (1 - q))) / n
    return Linearised(p * (1 - q) / (q * (1 - p)), np.where(both, u, np.nan), "log", n)


def adjusted_odds(
    outcome: Floats, known: NDArray[np.bool_], levels: NDArray[np.int8], names: Sequence[str]
) -> Linearised | Note:
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
    """
    of_level = np.broadcast_to(levels, outcome.shape)
    known, based = known & (of_level >= 0), ~np.isnan(outcome) & (of_level >= 0)
    codes = [c for c in range(len(names)) if (known & (of_level == c)).any()]
    held = [c for c in codes if (based & (of_level == c)).any()]
    if not held:
        return notes.NO_COMPLEXITY
    standard = known & np.isin(of_level, held)
    total = int(standard.sum())
    weight = {c: int((standard & (of_level == c)).sum()) / total for c in held}
    rate = {c: float(outcome[based & (of_level == c)].mean()) for c in held}
    p = sum(weight[c] * rate[c] for c in held)
    if not 0 < p < 1:
        return notes.ZERO_CELL
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
    said = note("levels_complexity_without_such_reading_left", levels=", ".join(empty)) if empty else NO_NOTE
    return Linearised(
        p / (1 - p),
        np.where(standard, influence / slope, np.nan),
        "log",
        int(based.sum()),
        said,
        least=least / slope**2,
        details={"levels": float(len(codes)), "empty_levels": float(len(empty))},
    )


def share_difference(compared: Floats, baseline: Floats) -> Linearised | Note:
    """Difference of two shares whose readings may have readers and cases in common.

    ::

        u = (y1 - p1) / n1 of the readings of the first base, -(y2 - p2) / n2 of those of the second

    Parameters
    ----------
    compared, baseline : float arrays, shape (n_readers, n_cases)
        1.0 counted, 0.0 in the base only, NaN not in the base.
    """
    counts = [int((~np.isnan(y)).sum()) for y in (compared, baseline)]
    if 0 in counts:
        return notes.NOT_WITH_BOTH
    (p, q), (n, m) = (float(np.nanmean(y)) for y in (compared, baseline)), counts
    parts = (compared - p) / n, -(baseline - q) / m
    neither = np.isnan(compared) & np.isnan(baseline)
    u = sum(np.where(np.isnan(part), 0.0, part) for part in parts)
    # Of shares of 0% or 100% nothing would be uncertain: half a reading more of either kind.
    smooth = [((share * k + 0.5) / (k + 1), k) for share, k in ((p, n), (q, m))]
    least = sum(s * (1 - s) / k for s, k in smooth)
    return Linearised(p - q, np.where(neither, np.nan, u), "identity", n + m, least=least)


def persuasion(first: Floats, advice: Floats, final: Floats) -> Statistic:
    """How far readers were drawn towards the advice: mean over readers of kappa(final) - kappa(first).

    ::

        index = mean over readers of kappa(final decision, advice) - kappa(first decision, advice)

    Estimand: over readers in general, the gain in chance-corrected agreement with the advice, on decisions
    (yes or no), not on their being right.

    Parameters
    ----------
    first, advice, final : float arrays, shape (n_readers, n_cases)
        Decisions: 1.0 positive, 0.0 negative, NaN unknown. Readings with all three count.

    Returns
    -------
    Statistic for `Draws.estimate`
        Readers whose kappa is undefined (decisions and advice all alike) are left out of the mean.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46.
    """
    held = ~(np.isnan(first) | np.isnan(advice) | np.isnan(final))
    cells = [
        [(held & (decision == d) & (advice == a)).astype(float) for d in (0, 1) for a in (0, 1)]
        for decision in (final, first)
    ]

    def statistic(readers: Floats, cases: Floats) -> Floats:
        of_final, of_first = (_kappa(*(cases @ cell.T for cell in arm)) for arm in cells)
        return _mean(of_final - of_first, readers)

    return statistic


def spread_ratio(correct: Floats) -> Statistic:
    """Spread of the readers' accuracies with the aid over that without: below 1, they are more alike with it.

    ::

        SD over readers of accuracy, aided / SD over readers of accuracy, unaided

    Estimand: over readers in general, the ratio of the standard deviations; either holds the chance of
    finitely many cases.

    Parameters
    ----------
    correct : float array, shape (2, n_readers, n_cases)
        Aided, then unaided: 1.0 right, 0.0 wrong, NaN unknown; readings known in both arms count.

    Returns
    -------
    Statistic for `Draws.estimate`
        NaN with fewer than two readers, or where the unaided accuracies are all alike.
    """
    held = ~np.isnan(correct).any(axis=0)
    right = [np.where(held, arm, 0.0) for arm in correct]
    known = held.astype(float)

    def statistic(readers: Floats, cases: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            n = cases @ known.T
            aided, unaided = (_variance(cases @ arm.T / n, readers) for arm in right)
            return np.where(unaided > 1e-15, np.sqrt(aided / unaided), np.nan)

    return statistic


def _kappa(n00: Floats, n01: Floats, n10: Floats, n11: Floats) -> Floats:
    """Cohen's kappa of each reader in each draw, (draws, n_readers); NaN where it is undefined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        n = n00 + n01 + n10 + n11
        agreed = (n00 + n11) / n
        by_chance = ((n00 + n01) * (n00 + n10) + (n10 + n11) * (n01 + n11)) / n**2
        return np.where(by_chance < 1 - 1e-12, (agreed - by_chance) / (1 - by_chance), np.nan)


def _mean(values: Floats, readers: Floats) -> Floats:
    """The mean over the readers of each draw, (draws,), those without a value left out."""
    weight = np.where(np.isnan(values), 0.0, readers)
    with np.errstate(invalid="ignore"):
        return np.asarray((weight * np.nan_to_num(values)).sum(axis=1) / weight.sum(axis=1))


def _variance(values: Floats, readers: Floats) -> Floats:
    weight = np.where(np.isnan(values), 0.0, readers)
    mean = _mean(values, readers)[:, None]
    squares = (weight * np.nan_to_num(values - mean) ** 2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(squares / (weight.sum(axis=1) - 1))
