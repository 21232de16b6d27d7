"""Ratings by a model beside those of people: how they differ, and means over all cases that it rated."""

from collections.abc import Callable
from dataclasses import replace
from math import isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import ONE_CLUSTER, Clusters, cluster_sums
from trustreport.measures.confusion.independent import score_limit
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import (
    NEGLIGIBLE,
    df_by_kurtosis,
    no_interval,
    quantile,
    two_sided_p,
)
from trustreport.measures.note import NO_NOTE, note

Floats = NDArray[np.float64]
# A value, and what each case contributes to it, (n_cases,), summing to 0.
Linear = tuple[float, Floats]

BIAS, CORRECTED, CORRECTED_SHARE = "judge_bias_t", "judge_corrected_t", "judge_corrected_score"
FEW_CASES = note("fewer_than_two_cases_that_people_and_judge_rated")
ONE_PERSON = note("one_person_rated_interval_for_this_person_only")
RESTS_ON_ONE = note("without_one_it_cannot_be_estimated")
NO_SPREAD = note("nothing_varies_between_cases_or_clusters")
CUT = note("corrected_value_cut_at_end_possible")
FEW_PEOPLE, DF_OF_A_PERSON = 5, 3  # simulated: with few people the interval was too narrow at times
DOUBT = 0.5  # a case that the judge alone accepts, and one that people alone accept


def judge_bias(
    people: Floats, judge: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """How much higher a model rates than people do, on the cases that both rated.

    Mean over cases of the judge's value less the mean of the people who rated the case. Cases (or clusters of
    them) and people are random: the variance over cases and the jackknife variance over people are added,
    with Student's t and, of fewer than five people, at most three degrees of freedom for each but one.

    Estimand: for a case and a person drawn at random, this judge.

    Parameters
    ----------
    people : float array, shape (n_people, n_cases)
        NaN where a person did not rate a case.
    judge : float array, shape (n_cases,)
        In the unit of `people`, no NaN.
    cluster : int array, shape (n_cases,), optional
        Which cases belong together.

    Returns
    -------
    In the unit of the values; `n` counts cases that both rated. NaN with a note with fewer than two; no
    limits with a note in a single cluster, where nothing varies, or where all cases were rated by one of
    two people alone. With one person the limits are for that person only, and a note says so.

    Raises
    ------
    ValueError : shapes that do not fit, or a judge without a value

    References
    ----------
    Satterthwaite (1946), Biometrics Bull. 2, 110-114 (degrees of freedom). Shoemaker (2003), Am. Stat. 57,
    243-249 (those over cases).

    Examples
    --------
    >>> people = np.array([[3.0, 4, 2, 5, 3, 4], [4.0, 4, 3, 4, 3, 4]])
    >>> print(judge_bias(people, np.array([4.0, 4, 3, 5, 4, 5])))
    0.58 (95% CI 0.03 to 1.14; n = 6)
    """
    return _estimate(_difference, people, judge, cluster, level, BIAS)


def corrected_mean(
    people: Floats, judge: Floats, *, cluster: Clusters | None = None, level: float = 0.95
) -> Estimate:
    """Mean that people would give over all cases, from a judge that rated all and people who rated some.

    Difference estimator, with N cases of which people rated n::

        mean over N of judge + mean over n of (people - judge)

    It does not depend on how good the judge is, which only makes the interval wider or narrower, but needs
    the n cases to be drawn from the N at random. It is the same as a mean over the n cases of people less
    (1 - n/N) of the judge, plus (1 - n/N) of the judge's mean over the others: independent samples, whose
    variances (of clusters: of their sums) are added to the jackknife variance over people.

    Estimand: the mean over cases and people from the populations that these are drawn from.

    Parameters
    ----------
    people, judge, cluster : as in `judge_bias`; of a difference between two outputs the differences

    Returns
    -------
    As `judge_bias`, `n` counting all cases of the judge, ``details["both_rated"]`` those that people
    rated too.

    References
    ----------
    Tenenbein (1970), J. Am. Stat. Assoc. 65, 1350-1361 (double sampling). Angelopoulos, Bates, Fannjiang,
    Jordan, Zrnic (2023), Science 382, 669-674 (prediction-powered inference).

    Examples
    --------
    >>> people = np.array([[3.0, 4, 2, 5, np.nan, np.nan, np.nan, np.nan]])
    >>> print(corrected_mean(people, np.array([4.0, 4, 3, 5, 4, 5, 3, 4])))
    3.50 (95% CI 2.13 to 4.87; n = 8)
    """
    e = _estimate(_corrected, people, judge, cluster, level, CORRECTED)
    return _of_all(e, len(judge))


def corrected_share(
    people: Floats,
    judge: Floats,
    *,
    compared: bool = False,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of cases that people would accept, from a judge that rated all and people who rated some.

    As `corrected_mean` of 1 for acceptable and 0 for not. Errors of the judge that the few cases happen not
    to show are allowed for: the variance over cases is made with half a case more that people alone accept,
    and half a case more that the judge alone accepts. Limits are score limits by the effective number of
    cases, V the variance::

        share(1 - share) / V

    Parameters
    ----------
    people, judge, cluster : as in `judge_bias`, 0 or 1
    compared : bool
        Whether they are differences between two outputs, from -1 to 1: then Student's t limits.

    Returns
    -------
    In [0, 1], as `corrected_mean`. A value beyond an end, which is possible with few cases, is that end,
    and a note says so.

    Notes
    -----
    Simulated, 10 to 60 cases of people among 120 to 300: without the two half cases the interval covers in
    .62 of samples where nearly all is acceptable and 10 cases were rated, with them in .95 to 1.00.

    References
    ----------
    Bonett, Price (2012), J. Educ. Behav. Stat. 37, 479-488 (added cases, a whole one of each). Wilson (1927),
    J. Am. Stat. Assoc. 22, 209-212. Korn, Graubard (1998), Surv. Methodol. 24, 193-201 (effective number).

    Examples
    --------
    >>> people = np.array([[1.0, 1, 0, 1, np.nan, np.nan, np.nan, np.nan]])
    >>> print(corrected_share(people, np.array([1.0, 1, 1, 1, 1, 1, 0, 1])))
    0.62 (95% CI 0.14 to 0.95; n = 8)
    """
    method = CORRECTED if compared else CORRECTED_SHARE
    e = _of_all(_estimate(_corrected, people, judge, cluster, level, method, doubt=DOUBT), len(judge))
    if isnan(e.value):
        return e
    value = min(max(e.value, -1.0 if compared else 0.0), 1.0)
    e = replace(e, value=value, note=e.note if value == e.value else e.note + CUT)
    if isnan(e.low) or compared:
        return e
    both = e.details["both_rated"]
    inside = value if 0 < value < 1 else (value * both + 1) / (both + 2)  # an end has no variance of a share
    effective, t = inside * (1 - inside) / e.se**2, quantile(e.df, level)
    low, high = score_limit(value * effective, effective, np.array([-t, t]))
    return replace(e, low=float(low), high=float(high))


def _of_all(e: Estimate, n: int) -> Estimate:
    return replace(e, n=n, details={**e.details, "both_rated": float(e.n)})


def _case_means(people: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """The mean over people of each case, 0 where nobody rated it, and where somebody did, (n_cases,)."""
    there = ~np.isnan(people)
    count = there.sum(axis=0)
    return np.where(there, people, 0.0).sum(axis=0) / np.maximum(count, 1), count > 0


def _difference(people: Floats, judge: Floats) -> Linear:
    mean, read = _case_means(people)
    apart = (judge - mean)[read]
    influence = np.zeros(len(judge))
    if not len(apart):
        return nan, influence
    influence[read] = (apart - apart.mean()) / len(apart)
    return float(apart.mean()), influence


def _corrected(people: Floats, judge: Floats) -> Linear:
    mean, read = _case_means(people)
    influence = np.zeros(len(judge))
    if not read.any():
        return nan, influence
    rest = float((~read).mean())
    own, other = (mean - rest * judge)[read], rest * judge[~read]
    value = float(own.mean())
    influence[read] = (own - value) / len(own)
    if len(other):
        influence[~read] = (other - other.mean()) / len(other)
        value += float(other.mean())
    return value, influence


def _estimate(
    of: Callable[[Floats, Floats], Linear],
    people: Floats,
    judge: Floats,
    cluster: Clusters | None,
    level: float,
    method: str,
    doubt: float = 0.0,
) -> Estimate:
    """The interval of a value with cases and people random; `doubt` is the weight of two made-up cases."""
    check_level(level)
    if people.ndim != 2 or judge.shape != people.shape[1:] or np.isnan(judge).any():
        raise ValueError(
            f"people must have shape (n_people, n_cases) and judge (n_cases,) without NaN, "
            f"got {people.shape} and {judge.shape}."
        )
    people = people[~np.isnan(people).all(axis=1)]
    means, read = _case_means(people)
    n = int(read.sum())
    if n < 2:
        return undefined(n, FEW_CASES, level=level, method=method)
    value, influence = of(people, judge)
    unit = np.arange(len(judge)) if cluster is None else cluster
    sums, with_people = cluster_sums(influence, unit), cluster_sums(read.astype(np.float64), unit) > 0
    details = {} if cluster is None else {"clusters": float(len(sums))}
    units = int(with_people.sum())
    if units < 2:
        return no_interval(value, n, ONE_CLUSTER, level=level, method=method, details=details)
    own = sums[with_people]
    if doubt:
        rest = float((~read).mean())
        centre = float((means - rest * judge)[read].mean())
        # The one is accepted by people alone, the other by the judge alone.
        doubtful = sqrt(doubt) * (np.array([1.0, -rest]) - centre) / n
        own = np.append(own, doubtful) * (n / (n + 2 * doubt))
    found = [_spread(own, units)]
    if not with_people.all():
        found.append(_spread(sums[~with_people], int((~with_people).sum())))
    if len(people) > 1:
        left = np.array([of(np.delete(people, r, axis=0), judge)[0] for r in range(len(people))])
        variance = (len(left) - 1) / len(left) * float(((left - left.mean()) ** 2).sum())
        if isnan(variance):
            return no_interval(value, n, RESTS_ON_ONE, level=level, method=method, details=details)
        found.append((variance, len(left) - 1.0))
    found = [part for part in found if part[0] > NEGLIGIBLE]
    if not found:
        return no_interval(value, n, NO_SPREAD, level=level, method=method, details=details)
    variance = sum(v for v, _ in found)
    df = variance**2 / sum(v**2 / of_part for v, of_part in found)
    if 1 < len(people) < FEW_PEOPLE:  # their variance may have come out small by chance
        df = min(df, DF_OF_A_PERSON * (len(people) - 1.0))
    se = sqrt(variance)
    half = quantile(df, level) * se
    why = ONE_PERSON if len(people) == 1 else NO_NOTE
    return Estimate(
        value, value - half, value + half, n, level, method, why,
        se=se, df=df, p=two_sided_p(value / se, df), details=details,
    )  # fmt: skip


def _spread(sums: Floats, units: int) -> tuple[float, float]:
    """Variance of a value from what clusters contribute to it, and its degrees of freedom."""
    squares = float(sums @ sums)
    if units < 2 or not squares > NEGLIGIBLE:
        return 0.0, 1.0
    alike = float(np.ptp(sums)) ** 2 <= NEGLIGIBLE  # two clusters, whose kurtosis says nothing
    return squares * units / (units - 1), units - 1.0 if alike else df_by_kurtosis(sums)
