"""Power of a study of readers, and the sizes that reach it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from math import ceil, inf, isnan, log, nan, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, chndtr, fdtri, gammaln, ncfdtr, nctdtr, ndtr, ndtri, stdtrit

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import NEGLIGIBLE, NORMAL_FROM, quantile
from trustreport.measures.mrmc.obuchowski_rockette import Mode, ObuchowskiRockette
from trustreport.measures.mrmc.ustatistic import UStatistic
from trustreport.measures.note import NO_NOTE, Note, note

LEAST_NONCENTRALITY = 1e-8
# From here on a noncentral probability of 0 may come as NaN (all 1,176 of 400,000 drawn that did were 0).
MOST_NONCENTRALITY = 1000.0
NODES = 400
WIDE = 12.0  # standard errors of a standard deviation beyond which nothing is left

Floats = NDArray[np.float64]


def two_sided_power(noncentrality: float, df: float, alpha: float) -> float:
    """Chance that F with 1 and `df` degrees of freedom is beyond its critical value.

    Examples
    --------
    >>> round(two_sided_power(7.85, float("inf"), 0.05), 2)
    0.8
    """
    # Below it the noncentral distributions of scipy lose their digits.
    if noncentrality < LEAST_NONCENTRALITY:
        return alpha
    if df > NORMAL_FROM:
        return float(1 - chndtr(chdtri(1, alpha), 1, noncentrality))
    return _above(float(ncfdtr(1, df, noncentrality, fdtri(1, df, 1 - alpha))), noncentrality)


def one_sided_power(delta: float, df: float, tail: float) -> float:
    """Chance that t with noncentrality `delta` is above its critical value of a one-sided `tail`."""
    if df > NORMAL_FROM:
        return float(ndtr(delta + ndtri(tail)))
    return _above(float(nctdtr(df, delta, -stdtrit(df, tail))), delta * abs(delta))


def equivalence_power(difference: float, margin: float, se: float, df: float, tail: float) -> float:
    """Chance that both one-sided tests of the margins reject.

    With u = sqrt(chi-square / df), independent of the estimate, and t the one-sided critical value::

        E max(0, Phi((margin - d) / se - t u) - Phi(-(margin + d) / se + t u))

    Parameters
    ----------
    difference : float
        The true difference, in the unit of the margin.
    margin : float
        The largest difference that is of no consequence, on either side; more than 0.
    tail : float
        Level of each of the two tests.

    References
    ----------
    Phillips (1990), J. Pharmacokinet. Biopharm. 18, 137-144.
    """
    above, below = (margin - difference) / se, (margin + difference) / se
    if df > NORMAL_FROM:
        z = -float(ndtri(tail))
        return max(0.0, float(ndtr(above - z) - ndtr(z - below)))
    t = -float(stdtrit(df, tail))
    spread = WIDE / sqrt(2 * df)
    low, high = max(0.0, 1 - spread), min(1 + spread, (above + below) / (2 * t))  # beyond, neither rejects
    if high <= low:
        return 0.0
    at, weight = _nodes()
    u = low + (high - low) * at
    density = np.exp(log(2) + df / 2 * log(df / 2) - gammaln(df / 2) + (df - 1) * np.log(u) - df * u**2 / 2)
    inside: Floats = np.maximum(ndtr(above - t * u) - ndtr(t * u - below), 0.0)
    return float((high - low) * weight @ (inside * density))


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Nodes and weights of Gauss and Legendre on (0, 1)."""
    at, weight = np.polynomial.legendre.leggauss(NODES)
    return (at + 1) / 2, weight / 2


def _above(below: float, noncentrality: float) -> float:
    """1 less a noncentral probability; scipy has NaN for some that are 0 to the last digit, below 1e-140."""
    return 1.0 if isnan(below) and noncentrality > MOST_NONCENTRALITY else 1 - below


METHOD = "noncentral_f"
METHOD_MARGIN = "noncentral_t"
METHOD_WIDTH = "or_components"
MOST_CASES = 1_000_000

NEGATIVE_COMPONENT = note("arm_by_reader_component_negative_in")
CLIPPED = note("cov2_below_cov3_in_this_study")
PLANNED = note("planned_from_variance_components_this_study")
PLANNED_WIDTH = note("expected_from_variance_components_this_study")
TOO_FEW = note("one_reader_nothing_can_be_said")
UNREACHABLE = note("no_number_cases_gives_this_power")
NO_COMPONENT = note("this_study_gives_no_variance_components")


@dataclass(frozen=True, slots=True)
class Components:
    """What a study to come is planned from; for a study of `n_cases`, of whichever class the endpoint is.

    `arm_reader` is the reader-by-arm variance, `own` = var - cov1 the case variance of one reader's
    difference, `shared` = cov2 - cov3 what readers have of it in common. Negative ones are 0 here; `note`
    says so.
    """

    arm_reader: float
    own: float
    shared: float
    n_cases: int
    note: Note = NO_NOTE


def components(fit: ObuchowskiRockette) -> Components:
    """Variance components to plan with, none of them negative.

    ::

        arm_reader = max(MS(TR) - var + cov1 + max(cov2 - cov3, 0), 0)
        own = var - cov1,  shared = max(cov2 - cov3, 0)
    """
    own, shared = fit.var - fit.cov1, fit.cov2 - fit.cov3
    arm_reader = fit.ms_arm_reader - own + max(shared, 0.0)
    note = (NEGATIVE_COMPONENT if arm_reader < -NEGLIGIBLE else NO_NOTE) + (
        CLIPPED if shared < -NEGLIGIBLE else NO_NOTE
    )
    return Components(max(arm_reader, 0.0), own, max(shared, 0.0), fit.n_cases, note)


def components_with_gaps(
    statistic: UStatistic, n_cases: Sequence[int], compared: int = 1, baseline: int = 0
) -> Components:
    """The same from readings with gaps, for a study of these cases that all readers read in both arms.

    With Q the `UStatistic.moments` of the difference, n_s the cases of class s, and c_k the share of pairs of
    comparisons of one reader that share the cases k, product of 1 / n_s and 1 - 1 / n_s::

        arm_reader = Q[reader] / 2
        shared = sum of c_k Q[k] / 2,  own = sum of c_k Q[reader, k] / 2 - Q[reader] / 2

    Parameters
    ----------
    statistic : UStatistic
        Centred.
    n_cases : sequence of int
        The cases, or the positive and the negative ones for an area.

    Returns
    -------
    As `components` finds them where nothing is missing. NaN where no two readers read one case, or none
    read two.

    References
    ----------
    Gallas (2006), Acad. Radiol. 13, 353-362 (moments). Obuchowski, Gallas, Hillis (2012), Acad. Radiol. 19,
    1508-1517 (what they are in the other model).
    """
    moments = statistic.moments(compared, baseline)
    chance = reduce(np.multiply.outer, [np.array([1 - 1 / n, 1 / n]) for n in n_cases])
    of_others, of_reader = (float((chance * part).sum()) / 2 for part in moments)
    arm_reader = float(moments[1].flat[0]) / 2
    own = of_reader - arm_reader
    arm_reader += max(-of_others, 0.0)  # as `components` does where it counts as 0
    note = (NEGATIVE_COMPONENT if arm_reader < -NEGLIGIBLE else NO_NOTE) + (
        CLIPPED if of_others < -NEGLIGIBLE else NO_NOTE
    )
    return Components(max(arm_reader, 0.0), own, max(of_others, 0.0), sum(n_cases), note)


def power(
    pilot: Components,
    difference: float,
    n_readers: int,
    n_cases: int,
    *,
    mode: Mode = "or_rrrc",
    alpha: float = 0.05,
    margin: float | None = None,
) -> Estimate:
    """Chance that a study of two arms finds a difference that is there.

    With s = the pilot's cases / `n_cases`, r readers, d the true difference::

        or_rrrc: D = arm_reader + s (own + (r - 1) shared),
                 df = D^2 (r - 1) / (arm_reader + s (own - shared))^2
        or_frrc: D = s (own + (r - 1) shared), chi-square
        or_rrfc: D = arm_reader + s (own - shared), df = r - 1
        power = P(F > critical F),  F noncentral with 1, df and lambda = r d^2 / (2 D)

    With a `margin` the test is one-sided at alpha / 2, by the noncentral t with delta =
    (d + margin) sqrt(r / (2 D)): non-inferiority where more is better.

    Estimand: the two-sided test of `ObuchowskiRockette.difference` in a crossed study with the same share of
    positive cases.

    Parameters
    ----------
    difference : float
        The true difference to find, in the unit of the endpoint; with a margin commonly 0.
    n_readers, n_cases : int
        Of the study to come; cases of the class that the endpoint needs.

    Returns
    -------
    In [0, 1], without an interval; `n` counts readings in each arm, `details` hold lambda, df, readers
    and cases. NaN with a note where the design cannot be analysed that way.

    References
    ----------
    Hillis, Obuchowski, Berbaum (2011), Acad. Radiol. 18, 129-142.

    Examples
    --------
    >>> pilot = Components(arm_reader=2.004e-4, own=4.557e-4, shared=1.0505e-4, n_cases=114)
    >>> round(power(pilot, 0.0438, 10, 165).value, 3)
    0.805
    """
    _check(alpha, n_readers, n_cases, margin)
    n, level = n_readers * n_cases, 1 - alpha
    method = METHOD if margin is None else METHOD_MARGIN
    error, df = _error(pilot, n_readers, pilot.n_cases / n_cases, mode)
    if isnan(error) or error <= NEGLIGIBLE:
        why = TOO_FEW if n_readers < 2 and mode != "or_frrc" else NO_COMPONENT
        return undefined(n, why, level=level, method=method)
    details = {"n_readers": float(n_readers), "n_cases": float(n_cases), "difference": difference}
    if df < inf:
        details["df"] = df
    if margin is None:
        details["lambda"] = n_readers * difference**2 / (2 * error)
        value = two_sided_power(details["lambda"], df, alpha)
    else:
        details |= {"margin": margin, "delta": (difference + margin) * sqrt(n_readers / (2 * error))}
        value = one_sided_power(details["delta"], df, alpha / 2)
    note = PLANNED + pilot.note
    return Estimate(value, nan, nan, n, level, method, note, details=details)


def sources(pilot: Components, n_readers: int) -> dict[str, float]:
    """Shares of the variance of a difference of two arms that are due to readers, to cases, and to both.

    With r readers, of Var = 2 D / r, D that of `power` for readers and cases sampled::

        readers: arm_reader / D   how far the aid changes one reader more than another
        cases:   r shared / D     what all readers gain or lose on the same cases
        both:    (own - shared) / D   one reader on one case, with the reader's own inconsistency

    Returns
    -------
    dict of float
        Adding up to 1; NaN where D is not positive or there is one reader.

    References
    ----------
    Hillis, Obuchowski, Berbaum (2011), Acad. Radiol. 18, 129-142. Hillis (2014), Stat. Med. 33, 330-360.
    """
    error, _ = _error(pilot, n_readers, 1.0, "or_rrrc")
    parts = {
        "readers": pilot.arm_reader,
        "cases": n_readers * pilot.shared,
        "both": pilot.own - pilot.shared,
    }
    return {name: part / error if error > NEGLIGIBLE else nan for name, part in parts.items()}


def expected_width(
    pilot: Components, n_readers: int, n_cases: int, *, level: float = 0.95, few: int = 5
) -> Estimate:
    """Width of the interval of a difference that a study of so many readers and cases could expect.

    ::

        2 t sqrt(2 D / r),  D, r and the degrees of freedom as in `power`

    Under `few` readers the wider of random and fixed readers, as is primary there.

    Returns
    -------
    Of at least 0, in the unit of the endpoint, without an interval; `n` counts readings in each arm. NaN
    with a note where the design cannot be analysed that way.

    Examples
    --------
    >>> pilot = Components(arm_reader=2e-4, own=4e-4, shared=1e-4, n_cases=114)
    >>> [round(expected_width(pilot, r, 114).value, 3) for r in (3, 5)]
    [0.118, 0.085]
    """
    check_level(level)
    modes: list[Mode] = ["or_rrrc", "or_frrc"] if n_readers < few else ["or_rrrc"]
    widths = []
    for mode in modes:
        error, df = _error(pilot, n_readers, pilot.n_cases / n_cases, mode)
        if error > NEGLIGIBLE:
            widths.append(2 * quantile(df, level) * sqrt(2 * error / n_readers))
    n = n_readers * n_cases
    if not widths:
        return undefined(n, NO_COMPONENT, level=level, method=METHOD_WIDTH)
    details = {"n_readers": float(n_readers), "n_cases": float(n_cases)}
    note = PLANNED_WIDTH + pilot.note
    return Estimate(max(widths), nan, nan, n, level, METHOD_WIDTH, note, details=details)


def power_grid(
    pilot: Components,
    difference: float,
    readers: Iterable[int],
    cases: Iterable[int],
    *,
    mode: Mode = "or_rrrc",
    alpha: float = 0.05,
    margin: float | None = None,
) -> tuple[tuple[Estimate, ...], ...]:
    """Power for every number of readers (rows) and of cases (columns)."""
    columns = tuple(cases)
    return tuple(
        tuple(power(pilot, difference, r, c, mode=mode, alpha=alpha, margin=margin) for c in columns)
        for r in readers
    )


def cases_needed(
    pilot: Components,
    difference: float,
    n_readers: int,
    *,
    target: float = 0.8,
    mode: Mode = "or_rrrc",
    alpha: float = 0.05,
    margin: float | None = None,
) -> Estimate:
    """Fewest cases with which so many readers reach a power.

    Returns
    -------
    `value` counts cases, at least 2 and at most a million; `details` holds the power reached. NaN with a
    note where readers differ too much for any number of cases.

    Examples
    --------
    >>> pilot = Components(arm_reader=2.004e-4, own=4.557e-4, shared=1.0505e-4, n_cases=114)
    >>> cases_needed(pilot, 0.0438, 6).value
    251.0
    """
    if not 0 < target < 1:
        raise ValueError(f"target is a power in (0, 1), got {target:g}.")

    def reached(n_cases: int) -> float:
        found = power(pilot, difference, n_readers, n_cases, mode=mode, alpha=alpha, margin=margin)
        return 0.0 if isnan(found.value) else found.value

    method = METHOD if margin is None else METHOD_MARGIN
    high = fewest(lambda n_cases: reached(n_cases) >= target, MOST_CASES)
    if high is None:
        most = power(pilot, difference, n_readers, MOST_CASES, mode=mode, alpha=alpha, margin=margin)
        why = most.note if isnan(most.value) else UNREACHABLE
        return undefined(n_readers, why, level=1 - alpha, method=method)
    details = {"n_readers": float(n_readers), "power": reached(high), "target": target}
    note = PLANNED + pilot.note
    return Estimate(float(high), nan, nan, n_readers, 1 - alpha, method, note, details=details)


def fewest(reached: Callable[[int], bool], most: int, *, step: int = 1) -> int | None:
    """The fewest cases, in steps, with which something is reached; None where `most` do not reach it.

    Steps of a tenth are tried first: with few readers power may fall again, as their spread leaves fewer
    degrees of freedom.

    Examples
    --------
    >>> (
    ...     fewest(lambda n: n >= 251, 1000),
    ...     fewest(lambda n: n >= 251, 1000, step=4),
    ...     fewest(lambda n: n > 9, 9),
    ... )
    (251, 252, None)
    """
    tried = [max(1, ceil(2 / step))]
    while tried[-1] < most // step:
        tried.append(min(max(tried[-1] + 1, ceil(tried[-1] * 1.1)), most // step))
    enough = next((i for i, n in enumerate(tried) if reached(n * step)), None)
    if enough is None:
        return None
    low, high = tried[enough - 1] if enough else tried[0] - 1, tried[enough]
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle * step) else (middle, high)
    return high * step


def _error(pilot: Components, readers: int, scale: float, mode: Mode) -> tuple[float, float]:
    """D of the difference and its degrees of freedom in the study to come."""
    among = pilot.arm_reader + scale * (pilot.own - pilot.shared)
    if mode == "or_frrc":
        return scale * (pilot.own + (readers - 1) * pilot.shared), inf
    if readers < 2:
        return nan, nan
    if mode == "or_rrfc":
        return among, readers - 1.0
    error = pilot.arm_reader + scale * (pilot.own + (readers - 1) * pilot.shared)
    return error, error**2 * (readers - 1) / among**2 if among > NEGLIGIBLE else inf


def _check(alpha: float, n_readers: int, n_cases: int, margin: float | None) -> None:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie in (0, 1), got {alpha:g}.")
    for name, count in (("n_readers", n_readers), ("n_cases", n_cases)):
        if count < 1:
            raise ValueError(f"{name} must be 1 or more, got {count}.")
    if margin is not None and not 0 < margin < inf:
        raise ValueError(f"the margin is the largest acceptable loss, more than 0; got {margin:g}.")
