"""Absolute risk reduction of a paired table: Wald, Tango and Newcombe intervals."""

from math import sqrt

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.paired.table import PairedTable
from trustreport.measures.proportion import normal_quantile, wilson
from trustreport.measures.two_arm.score import score_distance


def wald_paired(table: PairedTable, level: float = 0.95) -> Estimate:
    """Errors avoided with the aid, per case, with the textbook interval for pairs.

    With b errors corrected and c errors introduced among n pairs::

        (b - c) / n +- z sqrt(b + c - (b - c)^2 / n) / n

    Estimand: P(unaided wrong) - P(aided wrong), pairs independent; positive = fewer errors with the aid.

    Parameters
    ----------
    table : PairedTable
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [-1, 1], limits not cut; `n` counts pairs. Width 0 with a note when all pairs agree or all change
        alike; NaN with a note when there is no pair.

    Notes
    -----
    Covers less often than it says for few discordant pairs; prefer `tango`.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 2635-2650, method 1.

    Examples
    --------
    >>> est = wald_paired(PairedTable(30, 12, 4, 9))
    >>> print(f"{est.value:.3f} [{est.low:.3f}, {est.high:.3f}]")
    0.145 [0.008, 0.283]
    """
    z, n = normal_quantile(level), table.n
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method="wald_paired")
    gain = table.aided_right_unaided_wrong - table.aided_wrong_unaided_right
    value = gain / n
    se = sqrt((n * table.discordant - gain * gain) / n) / n
    note = "" if se else notes.NO_WIDTH
    return Estimate(value, value - z * se, value + z * se, n, level, "wald_paired", note, se=se)


def tango(table: PairedTable, level: float = 0.95) -> Estimate:
    """Errors avoided with the aid, per case, with the score interval, the default for pairs.

    The limits are the two d that solve, with q(d) the most likely share of introduced errors at that d::

        |(b - c) / n - d| = z sqrt((2 q(d) + d (1 - d)) / n)

    Estimand: P(unaided wrong) - P(aided wrong), pairs independent; positive = fewer errors with the aid.

    Parameters
    ----------
    table : PairedTable
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [-1, 1]; `n` counts pairs; of positive width also without a discordant pair; NaN with a note when
        there is no pair.

    References
    ----------
    Tango (1998), Stat. Med. 17, 891-908.

    Examples
    --------
    >>> est = tango(PairedTable(30, 12, 4, 9))
    >>> print(f"{est.value:.3f} [{est.low:.3f}, {est.high:.3f}]")
    0.145 [0.003, 0.289]
    """
    z, n = normal_quantile(level), table.n
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method="tango")
    b, c = table.aided_right_unaided_wrong, table.aided_wrong_unaided_right
    low, high = score_limits(b, c, n, z)
    return Estimate((b - c) / n, low, high, n, level, "tango")


def score_limits(b: float, c: float, n: float, z: float) -> tuple[float, float]:
    """Tango's limits of (b - c) / n; the counts need not be whole."""
    value = (b - c) / n

    def above(h: float) -> float:
        return score_variance(value + h, b, c, n)

    def below(h: float) -> float:
        return score_variance(value - h, b, c, n)

    return value - score_distance(below, z, 1 + value), value + score_distance(above, z, 1 - value)


def newcombe_paired(table: PairedTable, level: float = 0.95) -> Estimate:
    """Errors avoided with the aid, per case, with limits put together from the Wilson limits of each arm.

    With (l1, u1), (l2, u2) the Wilson limits of the unaided and aided error rates p1 and p2, and phi their
    correlation (its numerator less n/2, not below 0, where it is positive)::

        low  = p1 - p2 - sqrt((p1 - l1)^2 - 2 phi (p1 - l1) (u2 - p2) + (u2 - p2)^2)
        high = p1 - p2 + sqrt((u1 - p1)^2 - 2 phi (u1 - p1) (p2 - l2) + (p2 - l2)^2)

    Estimand: P(unaided wrong) - P(aided wrong), pairs independent; positive = fewer errors with the aid.

    Parameters
    ----------
    table : PairedTable
    level : float in (0, 1)

    Returns
    -------
    Estimate
        In [-1, 1]; `n` counts pairs; phi, in `details`, is 0 where an arm is all right or all wrong; NaN
        with a note when there is no pair.

    References
    ----------
    Newcombe (1998), Stat. Med. 17, 2635-2650, method 10.

    Examples
    --------
    >>> est = newcombe_paired(PairedTable(30, 12, 4, 9))
    >>> print(f"{est.value:.3f} [{est.low:.3f}, {est.high:.3f}]")
    0.145 [0.002, 0.281]
    """
    n, wrong1, wrong2 = table.n, table.errors_unaided, table.errors_aided
    one, two = wilson(wrong1, n, level), wilson(wrong2, n, level)
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method="newcombe_paired")
    phi = correlation(table)
    value = (table.aided_right_unaided_wrong - table.aided_wrong_unaided_right) / n
    low = value - third_side(one.value - one.low, two.high - two.value, phi)
    high = value + third_side(one.high - one.value, two.value - two.low, phi)
    return Estimate(value, low, high, n, level, "newcombe_paired", details={"phi": phi})


def score_variance(d: float, b: float, c: float, n: float) -> float:
    """Variance of (b - c) / n under the hypothesis that the difference is d (Tango 1998)."""
    if d < 0:
        b, c, d = c, b, -d
    linear, constant = d * (2 * n - b + c) - b - c, c * d * (1 - d)
    root = sqrt(max(linear * linear + 8 * n * constant, 0.0))
    if linear > 0:  # the same root of 2n q^2 + linear q - constant, without cancellation
        q = 2 * constant / (root + linear)
    else:
        q = (root - linear) / (4 * n)
    return (2 * q + d * max(1 - d, 0.0)) / n


def correlation(table: PairedTable) -> float:
    """phi of the pairs, its numerator less n/2 where that leaves it positive; 0 where an arm is all alike."""
    n, wrong1, wrong2 = table.n, table.errors_unaided, table.errors_aided
    b, c = table.aided_right_unaided_wrong, table.aided_wrong_unaided_right
    product = table.both_right * table.both_wrong - b * c
    margins = wrong1 * (n - wrong1) * wrong2 * (n - wrong2)
    return (max(product - n / 2, 0.0) if product > 0 else product) / sqrt(margins) if margins else 0.0


def third_side(one: float, two: float, phi: float) -> float:
    """Length of one - two, where phi is the cosine between them."""
    return sqrt(max((one - two) ** 2 + 2 * (1 - phi) * one * two, 0.0))
