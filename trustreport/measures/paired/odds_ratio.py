"""Odds ratios of a paired table: marginal (delta method) and matched (Wald, exact)."""

from math import exp, inf, nan, sqrt

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.paired.table import PairedTable
from trustreport.measures.proportion import clopper_pearson, normal_quantile


def or_delta(table: PairedTable, level: float = 0.95) -> Estimate:
    """Odds of an error with the aid over those without, with an interval that knows the pairs.

    With d of n pairs wrong in both arms and error rates pa (aided) and pu (unaided), the delta method for
    the logarithm, S the covariance of the two arms' decisions::

        OR = pa (1 - pu) / (pu (1 - pa)),   OR exp(+- z s)
        s^2 = (1 / Va + 1 / Vu - 2 S / (Va Vu)) / n,   V = p (1 - p),   S = d / n - pa pu

    Estimand: odds(aided wrong) / odds(unaided wrong) over all pairs, pairs independent; below 1 = fewer
    errors with the aid. The same quantity as the odds ratio of two groups, not the matched one.

    Parameters
    ----------
    table : PairedTable
    level : float in (0, 1)

    Returns
    -------
    Estimate
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
    note = "" if log_se else notes.NO_WIDTH
    return Estimate(value, low, high, n, level, "or_delta", note, details={"log_se": log_se})


def matched_wald(table: PairedTable, level: float = 0.95) -> Estimate:
    """Errors introduced per error corrected, with the interval of its logarithm.

    With b errors corrected and c introduced::

        c / b * exp(+- z sqrt(1/b + 1/c))

    Estimand: the odds ratio of an error, aided over unaided, for one case (conditional on the case), taken
    as common to all cases; further from 1 than the marginal odds ratio.

    Parameters
    ----------
    table : PairedTable
    level : float in (0, 1)

    Returns
    -------
    Estimate
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

    Parameters
    ----------
    table : PairedTable
    level : float in (0, 1)

    Returns
    -------
    Estimate
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
