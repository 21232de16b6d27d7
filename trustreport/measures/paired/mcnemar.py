"""McNemar's test: whether the aid corrects as many errors as it introduces.

Not statsmodels': it has neither the mid-P test nor the interval of the share, of which the p-value is a line.
"""

from math import nan

from scipy.optimize import brentq
from scipy.special import betainc

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, check_level
from trustreport.measures.paired.table import PairedTable
from trustreport.measures.proportion import clopper_pearson


def mcnemar_exact(table: PairedTable, level: float = 0.95) -> Estimate:
    """Test that errors corrected and errors introduced are equally likely, exactly.

    With b errors corrected and c introduced, X binomial (b + c, 1/2)::

        p = min(1, 2 P(X <= min(b, c)))

    Estimand: P(aided right | exactly one decision right), 1/2 without an effect of the aid.

    Parameters
    ----------
    table : PairedTable
    level : float in (0, 1)

    Returns
    -------
    Estimate
        `p` of the test. `value` is the share b / (b + c) of discordant pairs in favour of the aid, its
        limits are Clopper-Pearson, `n` counts discordant pairs; without one, p is 1 and the share NaN.

    Notes
    -----
    Rejects less often than it may; `mcnemar_midp` corrects that at a slight risk.

    References
    ----------
    McNemar (1947), Psychometrika 12, 153-157.
    Fagerland, Lydersen and Laake (2013), BMC Med. Res. Methodol. 13, 91.

    Examples
    --------
    >>> est = mcnemar_exact(PairedTable(30, 12, 4, 9))
    >>> print(f"{est} p = {est.p:.4f}")
    0.75 (95% CI 0.48 to 0.93; n = 16) p = 0.0768
    """
    b, n = table.aided_right_unaided_wrong, table.discordant
    share = clopper_pearson(b, n, level)
    if n == 0:
        return Estimate(nan, nan, nan, 0, level, "mcnemar_exact", notes.NO_DISCORDANT_PAIR, p=1.0)
    p = min(1.0, 2 * _at_most(min(b, n - b), n, 0.5))
    return Estimate(share.value, share.low, share.high, n, level, "mcnemar_exact", p=p)


def mcnemar_midp(table: PairedTable, level: float = 0.95) -> Estimate:
    """Test that errors corrected and errors introduced are equally likely, less conservative than exactly.

    With b errors corrected and c introduced, X binomial (b + c, 1/2)::

        p = 2 P(X <= min(b, c)) - P(X = b)     b not c
        p = 1 - P(X = b) / 2                   b = c

    Estimand: P(aided right | exactly one decision right), 1/2 without an effect of the aid.

    Parameters
    ----------
    table : PairedTable
    level : float in (0, 1)

    Returns
    -------
    Estimate
        `p` of the test. `value` is the share b / (b + c) of discordant pairs in favour of the aid, its
        limits give half of P(X = b) to either tail, `n` counts discordant pairs; without one, p is 1 and
        the share NaN.

    Notes
    -----
    May reject slightly more often than its level; seldom so in the cases that Fagerland et al. computed.

    References
    ----------
    Fagerland, Lydersen and Laake (2013), BMC Med. Res. Methodol. 13, 91.

    Examples
    --------
    >>> est = mcnemar_midp(PairedTable(30, 12, 4, 9))
    >>> print(f"{est} p = {est.p:.4f}")
    0.75 (95% CI 0.50 to 0.92; n = 16) p = 0.0490
    """
    check_level(level)
    b, n = table.aided_right_unaided_wrong, table.discordant
    if n == 0:
        return Estimate(nan, nan, nan, 0, level, "mcnemar_midp", notes.NO_DISCORDANT_PAIR, p=1.0)
    fewer = min(b, n - b)
    less = _at_most(fewer - 1, n, 0.5)
    # Outcomes as far from n / 2 as b count half; with b = c that is b only, and `less` is (1 - P(X = b)) / 2.
    p = less + (0.5 if 2 * b == n else _at_most(fewer, n, 0.5))
    tail = (1 - level) / 2
    low = 1 - _mid_p_upper(n - b, n, tail)
    high = _mid_p_upper(b, n, tail)
    return Estimate(b / n, low, high, n, level, "mcnemar_midp", p=p)


def _at_most(x: int, n: int, probability: float) -> float:
    """P(X <= x), X binomial (n, probability)."""
    if x < 0 or x >= n:
        return float(x >= n)
    return float(betainc(n - x, x + 1, 1 - probability))


def _mid_p_upper(x: int, n: int, tail: float) -> float:
    """The probability with P(X < x) + P(X = x) / 2 = tail."""
    if x == n:
        return 1.0

    def excess(probability: float) -> float:
        return (_at_most(x, n, probability) + _at_most(x - 1, n, probability)) / 2 - tail

    return float(brentq(excess, 0.0, 1.0, xtol=1e-15, rtol=1e-13))
