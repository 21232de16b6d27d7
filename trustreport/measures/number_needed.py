"""Number needed to decide with the aid for one error fewer."""

from math import inf, isnan, nan

from trustreport.measures import notes
from trustreport.measures.estimate import Estimate, undefined

# Two means of 0/1 outcomes that are equal may differ by this much after summing in another order.
ROUNDING = 1e-15


def number_needed(difference: Estimate) -> Estimate:
    """How many decisions with the aid it takes to have one error fewer (negative: one error more).

    ::

        NND = 1 / ARR,   ARR = unaided minus aided error rate

    Estimand: the reciprocal of that of `difference`.

    Parameters
    ----------
    difference : Estimate
        The absolute risk reduction with its interval, whatever method made it.

    Returns
    -------
    Estimate
        Outside (-1, 1); `method`, `level` and `n` are those of the difference. If its interval holds zero,
        the interval of the NND runs from `details["benefit_from"]` (1/high) through infinity to harm at
        `details["harm_from"]` (1/|low|); low and high are NaN and the note says so. Equal rates have no NND.
        Where a limit of the difference is zero itself, the NND has no bound on that side.

    References
    ----------
    Altman (1998), BMJ 317, 1309-1312.

    Examples
    --------
    >>> from trustreport.measures.two_arm import difference
    >>> print(number_needed(difference.newcombe(80, 200, 5, 200)))
    2.67 (95% CI 2.24 to 3.31; n = 400)
    >>> through = number_needed(difference.newcombe(367, 1548, 352, 1548))
    >>> print(f"{through.value:.1f}: {through.note}")
    103.2: the interval of the difference holds zero: the number needed runs through infinity
    >>> {name: round(number, 1) for name, number in through.details.items()}
    {'benefit_from': 25.4, 'harm_from': 49.9}
    """
    arr, low, high = (_cleaned(x) for x in (difference.value, difference.low, difference.high))
    n, level, method = difference.n, difference.level, difference.method
    if isnan(arr):
        return undefined(n, difference.note or notes.DIFFERENCE_UNDEFINED, level=level, method=method)
    value = 1 / arr if arr else nan
    pieces = {name: x for name, x in difference.details.items() if name == "clusters"}
    if arr == 0 or low < 0 < high:
        if high > 0:
            pieces["benefit_from"] = 1 / high
        if low < 0:
            pieces["harm_from"] = -1 / low
        note = notes.THROUGH_INFINITY if arr else notes.DIFFERENCE_ZERO
        return Estimate(value, nan, nan, n, level, method, note, details=pieces)
    if isnan(low) or isnan(high):
        return Estimate(value, nan, nan, n, level, method, difference.note, details=pieces)
    often = notes.mirrored(notes.of_simulations(difference.note))
    note = "; ".join(filter(None, ("" if low and high else notes.LIMIT_ZERO, often)))
    low, high = 1 / high if high else -inf, 1 / low if low else inf
    return Estimate(value, low, high, n, level, method, note, details=pieces)


def _cleaned(difference: float) -> float:
    """A possible difference of rates, without the rounding error that equal rates may leave."""
    return 0.0 if abs(difference) < ROUNDING else min(max(difference, -1.0), 1.0)
