"""Two decisions on the same cases: McNemar's tests, marginal and matched odds ratios, the ratio of errors.

McNemar's tests are not statsmodels': it has neither the mid-P test nor the interval of the share, of which
the p-value is a line.
"""

from math import exp, inf, nan, sqrt

from scipy.optimize import brentq
from scipy.special import betainc

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.note import NO_NOTE
from trustreport.measures.paired.difference import PairedTable
from trustreport.measures.proportion import clopper_pearson, normal_quantile


def mcnemar_exact(table: PairedTable, level: float = 0.95) -> Estimate:
    """Test that errors corrected and errors introduced are equally likely, exactly.

    With b errors corrected and c introduced, X binomial (b + c, 1/2)::

        p = min(1, 2 P(X <= min(b, c)))

    Estimand: P(aided right | exactly one decision right), 1/2 without an effect of the aid.

    Returns
    -------
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

    Returns
    -------
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


def or_delta(table: PairedTable, level: float = 0.95) -> Estimate:
    """Odds of an error with the aid over those without, with an interval that knows the pairs.

    With d of n pairs wrong in both arms and error rates pa (aided) and pu (unaided), the delta method for
    the logarithm, S the covariance of the two arms' decisions::

        OR = pa (1 - pu) / (pu (1 - pa)),   OR exp(+- z s)
        s^2 = (1 / Va + 1 / Vu - 2 S / (Va Vu)) / n,   V = p (1 - p),   S = d / n - pa pu

    Estimand: odds(aided wrong) / odds(unaided wrong) over all pairs, pairs independent; below 1 = fewer
    errors with the aid. The same quantity as the odds ratio of two groups, not the matched one.

    Returns
    -------
    In [0, inf]; `n` counts pairs. Where an arm is all right or all wrong there are no limits, and the
    note says so; width 0 with a note without discordant pairs; NaN with a note when there is no pair.
    `details` holds the standard error of the logarithm.

    References
    ----------
    Agresti (2013), Categorical Data Analysis, 3rd ed., sections 11.1 and 16.1.

    Examples
    --------
    >>> print(or_delta(PairedTable(30, 12, 4, 9)))
    0.50 (95% CI 0.26 to 0.97; n = 55)
    """
    z, n, aided, unaided = normal_quantile(level), table.n, table.errors_aided, table.errors_unaided
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method="or_delta")
    above, below = aided * (n - unaided), unaided * (n - aided)
    if 0 in (aided, unaided, n - aided, n - unaided):
        if below:
            value, note = 0.0, notes.ZERO_CELL
        elif above:
            value, note = inf, notes.ODDS_INFINITE_NO_INTERVAL
        else:
            value, note = nan, notes.ONLY_ERRORS_IN_BOTH_ARMS if aided else notes.NO_ERROR_IN_EITHER_ARM
        return Estimate(value, nan, nan, n, level, "or_delta", note)
    value = above / below
    spread_aided, spread_unaided = aided * (n - aided), unaided * (n - unaided)  # n^2 V, in whole numbers
    common = n * table.both_wrong - aided * unaided
    log_se = sqrt(n * (spread_aided + spread_unaided - 2 * common) / (spread_aided * spread_unaided))
    low, high = value * exp(-z * log_se), value * exp(z * log_se)
    note = NO_NOTE if log_se else notes.NO_WIDTH
    return Estimate(value, low, high, n, level, "or_delta", note, details={"log_se": log_se})


def matched_wald(table: PairedTable, level: float = 0.95) -> Estimate:
    """Errors introduced per error corrected, with the interval of its logarithm.

    With b errors corrected and c introduced::

        c / b * exp(+- z sqrt(1/b + 1/c))

    Estimand: the odds ratio of an error, aided over unaided, for one case (conditional on the case), taken
    as common to all cases; further from 1 than the marginal odds ratio.

    Returns
    -------
    In [0, inf]; `n` counts discordant pairs. No limits with a note when either kind is missing; NaN with
    a note when both are. `details` holds the standard error of the logarithm.

    References
    ----------
    Agresti (2013), Categorical Data Analysis, 3rd ed., section 11.2.

    Examples
    --------
    >>> print(matched_wald(PairedTable(30, 12, 4, 9)))
    0.33 (95% CI 0.11 to 1.03; n = 16)
    """
    z, b, c = normal_quantile(level), table.aided_right_unaided_wrong, table.aided_wrong_unaided_right
    if b == 0 or c == 0:
        value, note = nan, notes.NO_DISCORDANT_PAIR
        if b:
            value, note = 0.0, notes.ZERO_CELL
        elif c:
            value, note = inf, notes.NO_ERROR_CORRECTED_NO_INTERVAL
        return Estimate(value, nan, nan, b + c, level, "matched_wald", note)
    log_se = sqrt(1 / b + 1 / c)
    low, high = c / b * exp(-z * log_se), c / b * exp(z * log_se)
    return Estimate(c / b, low, high, b + c, level, "matched_wald", details={"log_se": log_se})


def matched_exact(table: PairedTable, level: float = 0.95) -> Estimate:
    """Errors introduced per error corrected, with the exact interval.

    With b errors corrected and c introduced, and (l, u) the Clopper-Pearson limits of c of b + c::

        c / b,   limits l / (1 - l) and u / (1 - u)

    Estimand: as `matched_wald`.

    Returns
    -------
    In [0, inf]; `n` counts discordant pairs. Infinite with a note when no error was corrected; undefined,
    between 0 and infinity, without a discordant pair.

    Notes
    -----
    Agrees with `mcnemar_exact`: the interval leaves 1 out when p is below 1 - level.

    References
    ----------
    Breslow and Day (1980), Statistical Methods in Cancer Research I, IARC, section 5.2.

    Examples
    --------
    >>> print(matched_exact(PairedTable(30, 12, 4, 9)))
    0.33 (95% CI 0.08 to 1.10; n = 16)
    """
    b, c = table.aided_right_unaided_wrong, table.aided_wrong_unaided_right
    share, rest = clopper_pearson(c, b + c, level), clopper_pearson(b, b + c, level)
    if b + c == 0:
        return Estimate(nan, 0.0, inf, 0, level, "matched_exact", notes.NO_DISCORDANT_PAIR)
    low = share.low / rest.high
    if b == 0:
        return Estimate(inf, low, inf, c, level, "matched_exact", notes.NO_ERROR_CORRECTED)
    return Estimate(c / b, low, share.high / rest.low, b + c, level, "matched_exact")


def rr_delta(table: PairedTable, level: float = 0.95) -> Estimate:
    """Error rate with the aid over that without, with an interval that knows the pairs.

    With d pairs wrong in both arms, b corrected and c introduced errors::

        RR = (c + d) / (b + d),   RR exp(+- z sqrt((b + c) / ((b + d) (c + d))))

    the delta method for log RR with the covariance of the two arms.

    Estimand: P(aided wrong) / P(unaided wrong), pairs independent; below 1 = fewer errors with the aid.

    Returns
    -------
    In [0, inf]; `n` counts pairs. Without errors in an arm there are no limits, and the note says so;
    width 0 with a note without discordant pairs; NaN with a note when there is no pair. `details` holds
    the standard error of the logarithm.

    References
    ----------
    Bonett and Price (2006), Stat. Med. 25, 3039-3047.

    Examples
    --------
    >>> print(rr_delta(PairedTable(30, 12, 4, 9)))
    0.62 (95% CI 0.39 to 0.99; n = 55)
    """
    z, n, aided, unaided = normal_quantile(level), table.n, table.errors_aided, table.errors_unaided
    if n == 0:
        return undefined(0, notes.NO_PAIR, level=level, method="rr_delta")
    if aided == 0 or unaided == 0:
        value, note = nan, notes.NO_ERROR_IN_EITHER_ARM
        if unaided:
            value, note = 0.0, notes.ZERO_CELL
        elif aided:
            value, note = inf, notes.RATIO_INFINITE_NO_INTERVAL
        return Estimate(value, nan, nan, n, level, "rr_delta", note)
    value = aided / unaided
    log_se = sqrt(table.discordant / (aided * unaided))
    note = NO_NOTE if log_se else notes.NO_WIDTH
    low, high = value * exp(-z * log_se), value * exp(z * log_se)
    return Estimate(value, low, high, n, level, "rr_delta", note, details={"log_se": log_se})
