"""Sensitivity and specificity where the truth is known of some cases, depending on what was decided."""

from dataclasses import dataclass, replace
from math import inf, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from trustreport.measures.cluster import Clusters, clustered_variance
from trustreport.measures.confusion import notes
from trustreport.measures.confusion.independent import ends_on_sphere, score_limit
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.proportion import normal_quantile

WILSON, LOGIT, CLUSTERED = "begg_greenes_wilson", "begg_greenes_logit", "begg_greenes_clusters"
Name = Literal["sensitivity", "specificity"]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PartlyVerified:
    """Cases with a decision: the four cells of those whose truth is known, and how many others there are."""

    tp: int
    fp: int
    fn: int
    tn: int
    unverified_positive: int
    unverified_negative: int

    @classmethod
    def of_decisions(cls, truth: NDArray[np.int8], decision: NDArray[np.bool_]) -> "PartlyVerified":
        """Count cases; `truth` (n_cases,) 1, 0 or -1 where it is not known, `decision` (n_cases,)."""
        found = (np.count_nonzero((truth == t) & (decision == d)) for t, d in _CELLS)
        return cls(*(int(n) for n in found))

    @property
    def called_positive(self) -> int:
        """Cases called positive, verified or not."""
        return self.tp + self.fp + self.unverified_positive

    @property
    def called_negative(self) -> int:
        """Cases called negative, verified or not."""
        return self.fn + self.tn + self.unverified_negative

    @property
    def unverified(self) -> int:
        """Cases without a truth."""
        return self.unverified_positive + self.unverified_negative

    def mirrored(self) -> "PartlyVerified":
        """Classes and decisions exchanged: its sensitivity is the specificity here."""
        return PartlyVerified(
            self.tn, self.fn, self.fp, self.tp, self.unverified_negative, self.unverified_positive
        )


_CELLS = ((1, True), (0, True), (1, False), (0, False), (-1, True), (-1, False))


def begg_greenes(name: Name, cases: PartlyVerified, *, level: float = 0.95) -> Estimate:
    """Sensitivity or specificity among all cases, from the verified ones and how many were called what.

    With t the share of all cases called positive, and p1 and p0 the shares with the condition among the
    verified cases called positive and called negative::

        sensitivity = t p1 / (t p1 + (1 - t) p0)

    and specificity likewise with classes and decisions exchanged. The predictive values are p1 and 1 - p0.
    Estimand: the measure in the population of which all cases are a sample, verified or not.

    Parameters
    ----------
    name : "sensitivity" or "specificity"

    Returns
    -------
    In [0, 1]; the interval is made of the Wilson limits of t, p1 and p0 (as in `propagated`), and needs
    no cell above zero. `n` counts all cases; `details` holds the bounds without any assumption, `least`
    and `most`. NaN with a note where one of the decisions was never made, or never verified, or where no
    verified case is of the class.

    Notes
    -----
    Assumes that whether a case was verified depends on its decision alone: among cases decided alike, those
    with and without the condition were verified equally often. Where symptoms or a second test led to
    verification it does not hold. Simulated, 100 to 2,000 cases of which 5% to 70% were verified: covers .93
    to .96; the published interval covers .74 to .96, and is missing wherever no verified error was found.

    References
    ----------
    Begg, Greenes (1983), Biometrics 39, 207-215. Newcombe (2011), Commun. Stat. Theory Methods 40,
    3154-3180.

    Examples
    --------
    >>> scans = PartlyVerified(
    ...     231, 32, 27, 54, 166, 140
    ... )  # of the liver, Drum and Christacopoulos (1972)
    >>> print(begg_greenes("sensitivity", scans))
    0.84 (95% CI 0.79 to 0.88; n = 650)
    >>> print(begg_greenes("specificity", scans))
    0.74 (95% CI 0.66 to 0.81; n = 650)
    """
    check_level(level)
    x = cases if name == "sensitivity" else cases.mirrored()
    why = _why_undefined(name, cases)
    if why:
        return undefined(_all_cases(x), why, level=level, method=WILSON)
    shares = ((x.called_positive, _all_cases(x)), (x.tp, x.tp + x.fp), (x.fn, x.fn + x.tn))
    z = normal_quantile(level)

    def values(unit: Floats) -> Floats:
        t, p1, p0 = (score_limit(k, n, z * unit[..., i]) for i, (k, n) in enumerate(shares))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(t * p1 / (t * p1 + (1 - t) * p0), np.float64)

    value = _value(x)
    low, high = ends_on_sphere(values)
    return Estimate(
        value, min(low, value), max(high, value), _all_cases(x), level, WILSON, details=_bounds(x)
    )


def begg_greenes_logit(
    name: Name,
    truth: NDArray[np.int8],
    decision: NDArray[np.bool_],
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """The same with the published interval, on the logit scale by the delta method; also of clustered cases.

    ::

        logit sensitivity = log(t / (1 - t)) + log p1 - log p0
        variance = 1 / (N t (1 - t)) + (1 - p1) / (n1 p1) + (1 - p0) / (n0 p0)

    with N cases, n1 and n0 verified among those called positive and negative. Of clusters the variance is
    that of the summed influence of each, with Student's t of the clusters less one.

    Parameters
    ----------
    truth : int array, shape (n_cases,)
        1, 0, and -1 where it is not known.
    decision : bool array, shape (n_cases,)

    Returns
    -------
    As `begg_greenes`, but without limits where the value is 0 or 1, which the note says.

    References
    ----------
    Begg, Greenes (1983), Biometrics 39, 207-215. Zhou, Obuchowski, McClish (2011), Statistical Methods in
    Diagnostic Medicine, 2nd ed., chapter 10.

    Examples
    --------
    >>> truth = np.repeat([1, 0, 1, 0, -1, -1], [231, 32, 27, 54, 166, 140]).astype(np.int8)
    >>> decision = np.repeat([True, True, False, False, True, False], [231, 32, 27, 54, 166, 140])
    >>> print(begg_greenes_logit("sensitivity", truth, decision))
    0.84 (95% CI 0.78 to 0.88; n = 650)
    """
    check_level(level)
    cases = PartlyVerified.of_decisions(truth, decision)
    x = cases if name == "sensitivity" else cases.mirrored()
    method = LOGIT if cluster is None else CLUSTERED
    why = _why_undefined(name, cases)
    if why:
        return undefined(_all_cases(x), why, level=level, method=method)
    bare = replace(
        undefined(_all_cases(x), NO_NOTE, level=level, method=method), value=_value(x), details=_bounds(x)
    )
    if not x.tp or not x.fn:
        return replace(bare, note=notes.AT_THE_EDGE)
    called, present = (decision, truth == 1) if name == "sensitivity" else (~decision, truth == 0)
    known, details = truth >= 0, dict(bare.details)
    influence = called / x.called_positive - ~called / x.called_negative
    influence = influence + (called & known) * (present / x.tp - 1 / (x.tp + x.fp))
    influence = influence - (~called & known) * (present / x.fn - 1 / (x.fn + x.tn))
    if cluster is None:
        variance, df = float(influence @ influence), inf
    else:
        variance, n = clustered_variance(influence, cluster)
        df, details = n - 1.0, {**details, "clusters": float(n)}
        if n < 2:
            return replace(bare, note=notes.ONE_CLUSTER, details=details)
    half = quantile(df, level) * sqrt(variance)
    centre = log(bare.value / (1 - bare.value))
    low, high = (float(expit(centre + side * half)) for side in (-1, 1))
    return replace(bare, low=low, high=high, df=df, details=details)


def _all_cases(x: PartlyVerified) -> int:
    return x.called_positive + x.called_negative


def _value(x: PartlyVerified) -> float:
    hit = x.called_positive * x.tp / (x.tp + x.fp)
    return hit / (hit + x.called_negative * x.fn / (x.fn + x.tn))


def _bounds(x: PartlyVerified) -> dict[str, float]:
    """The least and the greatest value that the unverified cases leave possible."""
    with_all = x.tp + x.unverified_positive
    return {
        "least": x.tp / (x.tp + x.fn + x.unverified_negative),
        "most": with_all / (with_all + x.fn) if with_all else 0.0,
        "unverified": float(x.unverified),
    }


def _why_undefined(name: Name, x: PartlyVerified) -> Note:
    of_class = x.tp + x.fn if name == "sensitivity" else x.tn + x.fp
    none = notes.NONE_PRESENT_VERIFIED if name == "sensitivity" else notes.NONE_ABSENT_VERIFIED
    needed = (
        (x.called_positive, notes.NONE_CALLED_POSITIVE),
        (x.called_negative, notes.NONE_CALLED_NEGATIVE),
        (x.tp + x.fp, notes.NO_POSITIVE_VERIFIED),
        (x.fn + x.tn, notes.NO_NEGATIVE_VERIFIED),
        (of_class, none),
    )
    return next((note for n, note in needed if not n), NO_NOTE)
