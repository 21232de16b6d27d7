"""Tests of a difference against a margin, and of an arm against a goal, from the estimate of a fit."""

from dataclasses import replace
from math import inf, isnan, nan

from scipy.special import ndtr, stdtr

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.in_range import reference_df, statistic
from trustreport.measures.mrmc.interval import NORMAL_FROM


def non_inferiority(difference: Estimate, margin: float, *, higher_is_better: bool = True) -> Estimate:
    """Whether the compared arm is worse than the baseline by less than a margin.

    With d the difference, compared minus baseline, where more is better::

        t = (d + margin) / SE,  one-sided p = P(T > t) with the degrees of freedom of the difference

    p below alpha says the same as a lower limit of the interval with level 1 - 2 alpha above -margin. Where
    less is better (errors, seconds) t = (margin - d) / SE, and the upper limit counts.

    Estimand: that of the difference; the margin must have been fixed before the data were seen.

    Parameters
    ----------
    difference : Estimate
        With `se` and `df`, as from an Obuchowski-Rockette fit or a U-statistic.
    margin : float
        The largest loss that is acceptable, 0 or more, in the unit of the difference.

    Returns
    -------
    Estimate
        The difference with its two-sided interval and the one-sided p; `details` holds margin, t and df.
        Without a standard error p is NaN, and the note of the difference says why.

    References
    ----------
    Chen, Petrick, Sahiner (2012), Acad. Radiol. 19, 1158-1165.
    Hillis (2014), Stat. Med. 33, 330-360.

    Examples
    --------
    >>> d = Estimate(-0.01, -0.05, 0.03, 570, se=0.02, df=15)
    >>> round(non_inferiority(d, 0.05).p, 3)
    0.032
    """
    _check_margin(margin)
    null = -margin if higher_is_better else margin
    return _tested(difference, null, {"margin": margin}, more=higher_is_better)


def superiority(difference: Estimate, *, higher_is_better: bool = True) -> Estimate:
    """Whether the compared arm is better than the baseline: one-sided, t = d / SE.

    The one-sided p below .025 says the same as a 95 % interval on the better side of 0. Report it only where
    the protocol named superiority.

    Examples
    --------
    >>> round(superiority(Estimate(0.05, 0.01, 0.09, 570, se=0.02, df=15)).p, 3)
    0.012
    """
    return _tested(difference, 0.0, {"margin": 0.0}, more=higher_is_better)


def equivalence(difference: Estimate, margin: float | tuple[float, float]) -> Estimate:
    """Whether two arms differ by less than a margin either way: two one-sided tests.

    ::

        t_low = (d - low) / SE,  t_high = (high - d) / SE,  p = the larger of both one-sided p

    p below alpha says the same as an interval of level 1 - 2 alpha within the margins: that of 90 % for .05.

    Parameters
    ----------
    margin : float, or (low, high) with low < 0 < high

    References
    ----------
    Schuirmann (1987), J. Pharmacokinet. Biopharm. 15, 657-680.

    Examples
    --------
    >>> d = Estimate(-0.01, -0.05, 0.03, 570, se=0.02, df=15)
    >>> round(equivalence(d, 0.05).p, 3), round(equivalence(d, (-0.05, 0.02)).p, 3)
    (0.032, 0.077)
    """
    low, high = margin if isinstance(margin, tuple) else (-margin, margin)
    if not low < 0 < high:
        raise ValueError(f"margins must lie on either side of 0, got {low:g} and {high:g}.")
    above_low, below_high = statistic(difference, low), -statistic(difference, high)
    details = {"margin_low": low, "margin_high": high}
    return _tested(
        difference, low if above_low <= below_high else high, details, more=above_low <= below_high
    )


def performance_goal(value: Estimate, goal: float, *, higher_is_better: bool = True) -> Estimate:
    """Whether one arm reaches a goal: t = (value - goal) / SE, one-sided.

    Parameters
    ----------
    value : Estimate
        An arm's mean with `se` and `df`.
    goal : float
        What must be exceeded, or with `higher_is_better=False` undercut.

    Examples
    --------
    >>> sensitivity = Estimate(0.91, 0.86, 0.96, 450, se=0.023, df=12)
    >>> round(performance_goal(sensitivity, 0.85).p, 3)
    0.011
    """
    return _tested(value, goal, {"goal": goal}, more=higher_is_better)


def _tested(estimate: Estimate, null: float, details: dict[str, float], *, more: bool) -> Estimate:
    """With the one-sided p of lying above a value (`more`) or below it, on the scale of the limits."""
    t = nan if estimate.se == 0 else statistic(estimate, null) * (1 if more else -1)
    if isnan(t):
        why = estimate.note or (notes.NO_TEST if estimate.low < estimate.high else notes.NO_VARIATION)
        return replace(estimate, p=nan, note=why, details={**estimate.details, **details})
    df = reference_df(estimate)
    details = details | {"t": t} | ({"test_df": df} if df < inf else {})
    return replace(estimate, p=_upper_tail(t, df), details={**estimate.details, **details})


def _upper_tail(t: float, df: float) -> float:
    return float(ndtr(-t)) if df > NORMAL_FROM else float(stdtr(df, -t))


def _check_margin(margin: float) -> None:
    if not 0 <= margin < inf:
        raise ValueError(f"the margin is the largest acceptable loss, 0 or more; got {margin:g}.")
