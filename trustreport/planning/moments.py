"""What a model of readings implies for the estimates of a study: moments, then variances and covariances.

`outcome_moments` takes the normal model of Roe and Metz, `parts_of` takes moments of any origin.
`fitted_variances` goes back: the normal model that gives wished components, for a simulation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import asin, pi
from typing import Literal

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtri

from trustreport.planning.simulate import Variances

Endpoint = Literal["sensitivity", "specificity", "accuracy", "auc"]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(96)
SMALL = 1e-12
CLOSE = 1e-6


@dataclass(frozen=True, slots=True)
class EstimateParts:
    """Variances and covariances of the readers' estimates, as Obuchowski and Rockette name them.

    `reader` and `arm_reader` are of the readers; `error`, `cov1`, `cov2`, `cov3` of the cases, for a study of
    one size: same reader and arm, same reader, same arm, neither.
    """

    reader: float
    arm_reader: float
    error: float
    cov1: float
    cov2: float
    cov3: float


@dataclass(frozen=True, slots=True)
class OutcomeMoments:
    """Mean products of two outcomes less the product of their means, by what the two have in common.

    An outcome is a decision (right or not), or for an area the comparison of a positive and a negative case.
    Each tuple has eight: of one reader those that share both cases, the positive, the negative and neither
    (M1 to M4 of Gallas less M8), then the same of two readers. Of decisions only the first and the last of
    each four are used.
    """

    same_arm: tuple[float, ...]
    other_arm: tuple[float, ...]
    area: bool


def excess(h: float, k: float, correlation: float) -> float:
    """P(X < h, Y < k) less the product of both, X and Y standard normal with a correlation.

    ::

        1 / (2 pi) x integral from 0 to arcsin(rho) of exp(-(h^2 + k^2 - 2 h k sin t) / (2 cos^2 t)) dt

    References
    ----------
    Owen (1956), Ann. Math. Stat. 27, 1075-1090.
    """
    top = asin(min(max(correlation, -1.0), 1.0))
    t = (NODES + 1) / 2 * top
    exponent = (h * h + k * k - 2 * h * k * np.sin(t)) / (2 * np.maximum(np.cos(t) ** 2, 1e-300))
    return float(WEIGHTS @ np.exp(-exponent) * top / 2 / (2 * pi))


def outcome_moments(means: Sequence[float], variances: Variances, *, area: bool) -> OutcomeMoments:
    """The moments of the model of `trustreport.planning.simulate.roe_metz`, both classes of equal variance.

    Parameters
    ----------
    means : the expected endpoint in each of two arms, in (0, 1)
    variances : on any scale
    area : of areas under the curve; else of decisions on cases of one class

    References
    ----------
    Gallas, Hillis (2014), J. Med. Imaging 1, 031006. Hillis (2018), Stat. Med. 37, 2067-2093.
    """
    of = variances
    limits = [float(ndtri(mean)) for mean in means]
    whole = (2 if area else 1) * of.total

    def moment(same_arm: bool, reader: bool, positive: bool, negative: bool) -> float:
        classes = 2 if area else 1
        shared = classes * reader * (of.reader + same_arm * of.arm_reader)
        cases = int(positive) + int(negative) if area else int(positive)
        per_case = of.case + same_arm * of.arm_case
        per_case += reader * (of.reader_case + same_arm * of.error)
        rho = (shared + cases * per_case) / whole
        if same_arm:
            return sum(excess(z, z, rho) for z in limits) / len(limits)
        return excess(limits[0], limits[-1], rho)

    # reader, positive, negative: as M1 to M8, the last of which is 0 here.
    order = [(r, p, n) for r in (True, False) for p, n in _PAIRS]
    return OutcomeMoments(
        tuple(moment(True, *key) for key in order), tuple(moment(False, *key) for key in order), area
    )


_PAIRS = ((True, True), (True, False), (False, True), (False, False))


def parts_of(moments: OutcomeMoments, n_positives: float, n_negatives: float = 1) -> EstimateParts:
    """The parts of a crossed study of this size; of decisions, `n_positives` counts the cases.

    With M of the reader's own comparisons that share both cases, the positive, the negative, or none, n1 and
    n0 cases::

        [(M both - M none) + (n0 - 1) (M positive - M none) + (n1 - 1) (M negative - M none)] / (n1 n0)

    References
    ----------
    Gallas (2006), Acad. Radiol. 13, 353-362. Obuchowski, Gallas, Hillis (2012), Acad. Radiol. 19, 1508-1517.

    Examples
    --------
    Decisions that only the case decides have a binomial variance that all readers share.

    >>> of_case = outcome_moments([0.8, 0.8], Variances(0, 0, 1, 0, 0, 0), area=False)
    >>> found = parts_of(of_case, 100)
    >>> round(found.error, 6), round(found.cov3, 6), found.reader
    (0.0016, 0.0016, 0.0)
    """

    def covariance(four: Sequence[float]) -> float:
        both, positive, negative, none = four
        if not moments.area:
            return (both - none) / n_positives
        return (
            (both - none) + (n_negatives - 1) * (positive - none) + (n_positives - 1) * (negative - none)
        ) / (n_positives * n_negatives)

    same, other = moments.same_arm, moments.other_arm
    base = same[7], other[7]
    reader = other[3] - base[1]
    return EstimateParts(
        reader=reader,
        arm_reader=same[3] - base[0] - reader,
        error=covariance(same[:4]),
        cov1=covariance(other[:4]),
        cov2=covariance(same[4:]),
        cov3=covariance(other[4:]),
    )


def expected_variance(mean: float, endpoint: Endpoint, n_positives: float, n_negatives: float = 1) -> float:
    """Variance of one reader's estimate over cases: binomial, or of an area with normal ratings."""
    alone = Variances(0, 0, 0, 0, 0, 1)
    moments = outcome_moments([mean, mean], alone, area=endpoint == "auc")
    return parts_of(moments, n_positives, n_negatives).error


def paired_covariance(
    h: float, k: float, correlation: float, n_positives: float, n_negatives: float, *, area: bool
) -> float:
    """Covariance over cases of two readers' estimates whose ratings of one case have a correlation.

    `h` and `k` are their means on the normal scale; sizes as for `parts_of`.
    """
    if not area:
        return excess(h, k, correlation) / n_positives
    both, one = excess(h, k, correlation), excess(h, k, correlation / 2)
    return (both + (n_negatives - 1 + n_positives - 1) * one) / (n_positives * n_negatives)


ALONE = "what one reader's estimates in two arms do not share"  # error - cov1


class NoModel(ValueError):
    """No normal model has these components; the message says why."""


def fitted_variances(
    parts: EstimateParts, mean: float, n_positives: float, n_negatives: float = 1, *, area: bool
) -> Variances:
    """The normal model whose readings have these components at this size, total variance 1 (1/2 a class).

    The difference of the two arms keeps `arm_reader`, ``error - cov1`` and ``cov2 - cov3``. The model's own
    error variance follows from the mean, so that `cov1` is moved with it, and `cov3` and `reader`, on which
    the difference does not depend, are lowered where they leave too little for the others.

    Raises
    ------
    NoModel : the components ask for more variance than readings with this mean have
    """
    if not 0 < mean < 1:
        raise NoModel(f"a mean of {mean:g} leaves nothing to vary")
    size = (mean, n_positives, n_negatives, area)
    for kept in (1.0, 0.5, 0.25):
        part = replace(parts, reader=kept * parts.reader, cov3=kept * parts.cov3)
        try:
            return _fitted(replace(part, cov2=part.cov3 + _shared(parts)), *size)
        except NoModel:
            continue
    return _fitted(replace(parts, reader=0.0, cov3=0.0, cov2=_shared(parts)), *size)


def _fitted(
    parts: EstimateParts, mean: float, n_positives: float, n_negatives: float, area: bool
) -> Variances:
    total = 0.5 if area else 1.0

    def model(r: float, ar: float, c: float, ac: float, rc: float) -> Variances:
        return Variances(r, ar, c, ac, rc, max(total - r - ar - c - ac - rc, 0.0))

    def parts_given(*given: float) -> EstimateParts:
        moments = outcome_moments([mean, mean], model(*given), area=area)
        return parts_of(moments, n_positives, n_negatives)

    def solved(wanted: float, of: Callable[[float], float], free: float, name: str) -> float:
        if wanted <= SMALL:
            return 0.0
        if free <= SMALL or of(free) < wanted:
            raise NoModel(f"{name} is more than readings with a mean of {mean:.3g} can have")
        return float(brentq(lambda v: of(v) - wanted, 0.0, free, xtol=SMALL))

    def own(v: float) -> float:
        return _own(parts_given(r, ar, c, ac, v))

    r = solved(parts.reader, lambda v: parts_given(v, 0, 0, 0, 0).reader, total, "the reader variance")
    of_arm = "the arm-by-reader variance"
    ar = solved(parts.arm_reader, lambda v: parts_given(r, v, 0, 0, 0).arm_reader, total - r, of_arm)
    left = total - r - ar
    c = solved(
        parts.cov3,
        lambda v: parts_given(r, ar, v, 0, 0).cov3,
        left,
        "the covariance of other readers in the other arm",
    )
    together = "what readers share on a case"
    ac = solved(_shared(parts), lambda v: _shared(parts_given(r, ar, c, v, 0)), left - c, together)
    free, wanted = left - c - ac, _own(parts)
    # More that a reader finds in both arms leaves less that differs between them.
    if wanted > own(0.0) * (1 + CLOSE):
        raise NoModel(f"{ALONE} is more than readings with a mean of {mean:.3g} can have")
    if wanted < own(free) - SMALL:
        raise NoModel(f"{ALONE} is less than what readers share in one arm alone")
    if wanted >= own(0.0) or wanted <= own(free):
        return model(r, ar, c, ac, 0.0 if wanted >= own(0.0) else free)
    return model(r, ar, c, ac, float(brentq(lambda v: own(v) - wanted, 0.0, free)))


def _own(parts: EstimateParts) -> float:
    return parts.error - parts.cov1


def _shared(parts: EstimateParts) -> float:
    return parts.cov2 - parts.cov3
