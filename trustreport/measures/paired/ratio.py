"""Relative risk of an error with the aid, from a paired table."""

from math import exp, inf, nan, sqrt

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.paired.table import PairedTable
from trustreport.measures.proportion import normal_quantile


def rr_delta(table: PairedTable, level: float = 0.95) -> Estimate:
    """Error rate with the aid over that without, with an interval that knows the pairs.

    With d pairs wrong in both arms, b corrected and c introduced errors::

        RR = (c + d) / (b + d),   RR exp(+- z sqrt((b + c) / ((b + d) (c + d))))

    the delta method for log RR with the covariance of the two arms.

    Estimand: P(aided wrong) / P(unaided wrong), pairs independent; below 1 = fewer errors with the aid.

    Parameters
    ----------
    table : PairedTable
    level : float in (0, 1)

    Returns
    -------
    Estimate
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
    note = "" if log_se else notes.NO_WIDTH
    low, high = value * exp(-z * log_se), value * exp(z * log_se)
    return Estimate(value, low, high, n, level, "rr_delta", note, details={"log_se": log_se})
