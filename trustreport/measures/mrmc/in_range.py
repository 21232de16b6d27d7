"""Intervals of readers that stay within the range of what they estimate, and tests on the same scale.

Each takes the estimate of a fit or a U-statistic with its standard error and degrees of freedom, and gives it
other limits and another word in `method`. `statistic` is what the limits were found from, so that a p made of
it and the limits never disagree.
"""

from dataclasses import replace
from math import exp, inf, isnan, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit

from trustreport.measures.confusion.independent import score_limit
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.mrmc.ustatistic import rounded_down
from trustreport.measures.paired.difference import score_variance
from trustreport.measures.roc.auc import newcombe_auc

SCORE, LOGIT, MOVER, REGION = "_score", "_logit", "_mover", "_region"
ANGLES = np.linspace(0, 2 * np.pi, 721)  # at which the edge of a region is looked at
NEAR_ONE = 0.95  # from such a mean area on, in either arm, a change of it is far from symmetric
MOST = 100.0  # standard errors beyond which a test asks no further
STEPS = 1001  # in which the first t is looked for whose limit reaches the null
NEWCOMBE_AUC, WILSON, TANGO = "auc_newcombe", "wilson", "tango"


def by_score(
    e: Estimate, n_cases: int, *, low: float = 0.0, high: float = 1.0, most: float | None = None
) -> Estimate:
    """A mean over readers with the score limits of a share, by an effective number of readings.

    With s the share of the way from `low` to `high`, V its variance, t Student's quantile with the degrees of
    freedom of the estimate, at most `n_cases` - 1::

        effective n = min(s (1 - s) / V, most)
        limits: the two p with |s - p| = t sqrt(p (1 - p) / effective n)

    Where nothing varies between readers or cases, each case counts once (effective n = `n_cases`) and t is
    the normal quantile: all readings of a case could be one and the same.

    Parameters
    ----------
    e : Estimate
        As from `ObuchowskiRockette.arm_mean` or `UStatistic.arm_mean`, with its symmetric limits.
    n_cases : int
        Cases that were read, of the scarcer class for Youden's index.
    low, high : float
        The range: 0 and 1 for a share, -1 and 1 for Youden's index.
    most : float, optional
        The effective number if all readings were independent; the readings where not given.

    Returns
    -------
    Within the range; `details` hold `effective_n`. As it came where there is no interval for another
    reason.

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22, 209-212. Korn, Graubard (1998), Surv. Methodol. 24, 193-201
    (effective sample size from a design's variance). Saha, Miller, Wang (2016), Int. J. Biostat. 12.

    Examples
    --------
    >>> print(by_score(Estimate(0.95, 0.87, 1.03, 180, method="or_rrrc", se=0.04, df=20), 60))
    0.95 (95% CI 0.80 to 0.99; n = 180)
    """
    wide = high - low
    share = (e.value - low) / wide
    if not isnan(e.low):
        effective, note = (
            min(share * (1 - share) / (e.se / wide) ** 2, float(e.n) if most is None else most),
            e.note,
        )
        df = min(inf if isnan(e.df) else e.df, n_cases - 1.0)
    elif notes.NO_VARIATION in e.note and n_cases:
        effective, note, df = float(n_cases), notes.CASES_ONCE, nan
    else:
        return replace(e, method=e.method + SCORE)
    ends = {} if (low, high) == (0, 1) else {"range_low": low, "range_high": high}
    made = replace(
        e, method=e.method + SCORE, note=note, df=df, details={**e.details, "effective_n": effective, **ends}
    )
    return _with_score_limits(made)


def on_logit(e: Estimate) -> Estimate:
    """A mean area with the same standard error and degrees of freedom on the logit scale.

    ::

        logit A +- t SE / (A (1 - A)), turned back

    Parameters
    ----------
    e : Estimate
        As from `ObuchowskiRockette.arm_mean` or `UStatistic.arm_mean` of areas.

    Returns
    -------
    In (0, 1). As it came, but for its method, where it has no interval.

    References
    ----------
    Pepe (2003), The Statistical Evaluation of Medical Tests, section 5.2 (logit of an area).
    Hillis (2014), Stat. Med. 33, 330-360 (variance and degrees of freedom of one arm).

    Examples
    --------
    >>> print(on_logit(Estimate(0.95, 0.87, 1.03, 180, method="or_rrrc", se=0.04, df=20)))
    0.95 (95% CI 0.77 to 0.99; n = 180)
    """
    made = replace(e, method=e.method + LOGIT)
    if isnan(e.low):
        return made
    half = quantile(reference_df(e), e.level) * e.se / (e.value * (1 - e.value))
    low, high = (_expit(_logit(e.value) + side) for side in (-half, half))
    return replace(made, low=low, high=high)


def area_of_cases(e: Estimate, positives: int, negatives: int) -> Estimate:
    """An area of 0 or 1 of all readers: Newcombe's limits for one reader of these cases, each counted once.

    Where every reader ranks every case right nothing varies, and the readers may be as one; the limits of a
    single curve hold for the mean then.

    References
    ----------
    Newcombe (2006), Stat. Med. 25, 559-573, method 5.

    Examples
    --------
    >>> e = Estimate(1.0, nan, nan, 180, method="or_rrrc_logit", note=notes.NO_VARIATION)
    >>> print(area_of_cases(e, 20, 40))
    1.00 (95% CI 0.92 to 1.00; n = 180)
    """
    if notes.NO_VARIATION not in e.note or e.value not in (0.0, 1.0) or not min(positives, negatives):
        return e
    truth = np.arange(positives + negatives) < positives
    ranks: NDArray[np.bool_] = truth if e.value else ~truth
    one = newcombe_auc(truth, ranks.astype(np.float64), level=e.level)
    return replace(e, low=one.low, high=one.high, method=NEWCOMBE_AUC, note=notes.CASES_ONCE)


def difference_in_range(e: Estimate, greatest: float = 1.0) -> Estimate:
    """A difference as it is, or with score limits where the symmetric ones leave what is possible.

    From -`greatest` to `greatest` taken as 0 to 1 the limits are those of `by_score`, without its bounds of
    readings and cases; p tests no difference on the same scale.

    Examples
    --------
    >>> print(difference_in_range(Estimate(0.6, 0.2, 1.0, 60, method="or_rrrc", se=0.19, df=10)))
    0.60 (95% CI 0.20 to 1.00; n = 60)
    >>> print(difference_in_range(Estimate(0.6, 0.1, 1.1, 60, method="or_rrrc", se=0.22, df=10)))
    0.60 (95% CI -0.01 to 0.89; n = 60)
    """
    if isnan(e.low) or (e.low >= -greatest and e.high <= greatest) or abs(e.value) >= greatest:
        return e
    share = (e.value + greatest) / (2 * greatest)
    effective = share * (1 - share) / (e.se / (2 * greatest)) ** 2
    ends = {"range_low": -greatest, "range_high": greatest}
    details = {**e.details, "effective_n": effective, **ends}
    made = replace(e, method=e.method + SCORE, details=details)
    return _with_score_limits(replace(made, p=two_sided_p(statistic(made, 0.0), reference_df(made))))


def change_of_areas(e: Estimate, compared: Estimate, baseline: Estimate) -> Estimate:
    """A change of the mean area as it is, or by the logit limits of both arms where an area is near 1.

    From a mean area of .95 on in either arm, l and u being the distances of a mean to its limits (`on_logit`)
    at t standard errors, t of the change, and r the correlation of the two means::

        r = (SE_1^2 + SE_2^2 - SE_d^2) / (2 SE_1 SE_2)
        d - sqrt(l_1^2 + u_2^2 - 2 r l_1 u_2)  to  d + sqrt(u_1^2 + l_2^2 - 2 r u_1 l_2)

    Parameters
    ----------
    e : Estimate
        Compared minus baseline, with its symmetric limits.
    compared, baseline : Estimate
        The means of both arms.

    Returns
    -------
    ``..._mover``; `p` tests no difference on the same scale. As it came where no area is near 1, and
    where a mean has no standard error (every reader's area is 1).

    References
    ----------
    Zou, Donner (2008), Stat. Med. 27, 1693-1702 (limits of a difference from those of its parts).

    Examples
    --------
    >>> change = Estimate(0.03, -0.01, 0.07, 180, method="or_rrrc", se=0.019, df=20)
    >>> one, other = (Estimate(a, nan, nan, 180, se=s) for a, s in ((0.98, 0.01), (0.95, 0.02)))
    >>> print(change_of_areas(change, one, other))
    0.03 (95% CI -0.01 to 0.09; n = 180)
    """
    near = max(compared.value, baseline.value) >= NEAR_ONE
    if not near or isnan(e.low) or not (compared.se > 0 and baseline.se > 0):
        return e
    made = replace(e, method=e.method + MOVER, details={**e.details, **_of_both(e, compared, baseline)})
    t = quantile(reference_df(made), e.level)
    low, high = e.value - _away(made, t, -1), e.value + _away(made, t, 1)
    return replace(made, low=low, high=high, p=two_sided_p(statistic(made, 0.0), reference_df(made)))


def difference_by_region(e: Estimate, compared: Estimate, baseline: Estimate) -> Estimate:
    """A difference of two areas of the same cases with limits from the logits of both, which go together.

    With SE_1, SE_2 and r as in `change_of_areas`, S_i = SE_i / (A_i (1 - A_i)) and t standard errors, t of
    the difference, the limits are the least and the greatest

        expit(logit A_1 + x) - expit(logit A_2 + y)   over   x^2 / S_1^2 - 2 r x y / (S_1 S_2) + y^2 / S_2^2
                                                             <= t^2 (1 - r^2)

    that is the profile of the difference where the logarithm of the likelihood is quadratic in the logits.
    Scores that are nearly the same (r near 1) have nearly the symmetric interval; the limits that MOVER makes
    of theirs would be several times as far apart.

    Parameters
    ----------
    e : Estimate
        Compared minus baseline, with its standard error and degrees of freedom.
    compared, baseline : Estimate
        The areas, with their standard errors.

    Returns
    -------
    ``..._region``; `p` tests no difference on the same scale. As it came without an interval, and where
    an area is 0 or 1.

    References
    ----------
    Venzon, Moolgavkar (1988), Appl. Stat. 37, 87-94 (profiles of a function of parameters).

    Examples
    --------
    >>> difference = Estimate(0.03, -0.01, 0.07, 180, method="delong", se=0.019)
    >>> one, other = (Estimate(a, nan, nan, 180, se=s) for a, s in ((0.98, 0.01), (0.95, 0.02)))
    >>> print(difference_by_region(difference, one, other))
    0.03 (95% CI -0.00 to 0.08; n = 180)
    """
    if isnan(e.low) or not (compared.se > 0 and baseline.se > 0):
        return e
    made = replace(e, method=e.method + REGION, details={**e.details, **_of_both(e, compared, baseline)})
    t = quantile(reference_df(made), e.level)
    low, high = (_extreme(made, t, side) for side in (-1, 1))
    return replace(made, low=low, high=high, p=two_sided_p(statistic(made, 0.0), reference_df(made)))


def _of_both(e: Estimate, compared: Estimate, baseline: Estimate) -> dict[str, float]:
    """Two areas with their standard errors, and the correlation that the one of their difference gives."""
    r = (compared.se**2 + baseline.se**2 - e.se**2) / (2 * compared.se * baseline.se)
    return {
        "area_compared": compared.value, "area_baseline": baseline.value, "se_compared": compared.se,
        "se_baseline": baseline.se, "correlation": min(1.0, max(-1.0, r)),
    }  # fmt: skip


def _extreme(e: Estimate, t: float, side: int) -> float:
    """The least (-1) or greatest (1) difference of two areas within `t` standard errors of both."""
    from scipy.optimize import minimize_scalar

    found, r = e.details, e.details["correlation"]
    (one, own), (other, its) = (
        (_logit(area), t * found[f"se_{arm}"] / (area * (1 - area)))
        for arm in ("compared", "baseline")
        for area in (found[f"area_{arm}"],)
    )

    def difference(angle: float | NDArray[np.float64]) -> NDArray[np.float64]:
        x, y = np.cos(angle), r * np.cos(angle) + sqrt(1 - r * r) * np.sin(angle)
        return np.asarray(expit(one + own * x) - expit(other + its * y))

    near = float(ANGLES[int((side * difference(ANGLES)).argmax())])
    width = float(ANGLES[1] - ANGLES[0])
    best = minimize_scalar(
        lambda angle: -side * float(difference(angle)),
        bounds=(near - width, near + width),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return side * max(-float(best.fun), float(side * difference(near)))


def _away(e: Estimate, t: float, side: int) -> float:
    """How far the limit of a change of areas on one side is from it, at `t` standard errors."""
    found = e.details

    def reach(arm: str, side: int) -> float:
        area, se = found[f"area_{arm}"], found[f"se_{arm}"]
        return side * (_expit(_logit(area) + side * t * se / (area * (1 - area))) - area)

    one, other = reach("compared", side), reach("baseline", -side)
    return sqrt(max(0.0, one**2 + other**2 - 2 * found["correlation"] * one * other))


def statistic(e: Estimate, null: float) -> float:
    """How many standard errors an estimate is above a value, on the scale of its limits.

    At either limit of the interval it is the quantile of the level, so that a test and the interval agree
    about every value. NaN where the limits come from no such statistic.
    """
    if "effective_n" in e.details:
        low, high = e.details.get("range_low", 0.0), e.details.get("range_high", 1.0)
        share, supposed = ((x - low) / (high - low) for x in (e.value, null))
        if not 0 < supposed < 1:
            return inf if supposed <= 0 else -inf
        return (share - supposed) / sqrt(supposed * (1 - supposed) / e.details["effective_n"])
    if e.method.startswith(TANGO) and "gained" in e.details:
        b, c = (e.details[name] for name in ("gained", "lost"))
        variance = score_variance(null, b, c, e.details.get("pairs", e.n))
        return (e.value - null) / sqrt(variance) if variance > 0 else 0.0 if e.value == null else nan
    if e.method.endswith(MOVER):
        side = -1 if null < e.value else 1

        def beyond(t: float) -> float:
            return abs(e.value - null) - _away(e, t, side)

        if beyond(0.0) <= 0:
            return 0.0
        # Limits of arms that go together reach farthest at some t: the first that reaches the null counts.
        steps = np.linspace(0.0, MOST, STEPS)
        last = next((t for t in steps if beyond(float(t)) <= 0), None)
        if last is None:
            return -side * inf
        return -side * float(brentq(beyond, float(last) - MOST / (STEPS - 1), float(last)))
    if e.method.endswith(REGION):
        side = -1 if null < e.value else 1

        def past(t: float) -> float:
            return side * (_extreme(e, t, side) - null)

        if past(0.0) >= 0:  # equal but for rounding
            return 0.0
        # Regions lie within one another; far out their edge is too sharp for the angles looked at.
        last = next((t for t in 2.0 ** np.arange(6) if past(float(t)) >= 0), None)
        return -side * (inf if last is None else float(brentq(past, 0.0, float(last), xtol=1e-9)))
    if isnan(e.se):
        return nan
    if e.method.endswith(LOGIT):
        if not 0 < null < 1:
            return inf if null <= 0 else -inf
        return (_logit(e.value) - _logit(null)) * e.value * (1 - e.value) / e.se
    return (e.value - null) / e.se


def reference_df(estimate: Estimate) -> float:
    """What the quantile of an interval uses: infinite for the normal, rounded down for the U-statistic."""
    if isnan(estimate.df):
        return inf
    return rounded_down(estimate.df) if estimate.method.startswith("ustatistic") else estimate.df


def _with_score_limits(e: Estimate) -> Estimate:
    low, high = e.details.get("range_low", 0.0), e.details.get("range_high", 1.0)
    share, effective = (e.value - low) / (high - low), e.details["effective_n"]
    t = quantile(reference_df(e), e.level)
    ends = score_limit(share * effective, effective, np.array([-t, t]))
    return replace(e, low=low + (high - low) * float(ends[0]), high=low + (high - low) * float(ends[1]))


def _logit(x: float) -> float:
    return log(x / (1 - x))


def _expit(x: float) -> float:
    return 1 / (1 + exp(-x)) if x > -700 else 0.0
