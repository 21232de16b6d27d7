"""Accuracy of decisions against labels that are themselves wrong at a known rate."""

from dataclasses import dataclass
from math import isfinite, nan, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import ONE_CLUSTER, Clusters, cluster_sums
from trustreport.measures.confusion import notes
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, quantile
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.notes import OFTEN_ABOVE
from trustreport.measures.proportion import normal_quantile

METHOD, CLUSTERED, AREA = "label_error_fieller", "label_error_fieller_clusters", "label_error_delta"
Floats = NDArray[np.float64]
ADDED = 1.0  # to each cell, for variances
HIGH, FEW = 0.85, 200  # simulated: with fewer labels of a class limits of high values were too high
BEYOND_DOUBT = 4.0  # standard errors beyond the range, at which the declared error is not believed
Name = Literal["sensitivity", "specificity", "ppv", "npv", "prevalence"]
NAMES: tuple[Name, ...] = ("sensitivity", "specificity", "ppv", "npv", "prevalence")


@dataclass(frozen=True, slots=True)
class LabelError:
    """How often labels are right: in cases with the condition, and without; `n` how many cases show it.

    Without numbers of cases both rates are taken as exactly known.
    """

    sensitivity: float
    specificity: float
    sensitivity_n: int | None = None
    specificity_n: int | None = None

    def __post_init__(self) -> None:
        if not (0 < self.sensitivity <= 1 and 0 < self.specificity <= 1):
            raise ValueError("sensitivity and specificity of labels must be above 0 and at most 1.")
        if not self.signal > 0:
            raise ValueError("labels whose sensitivity and specificity sum to 1 or less tell nothing.")

    @property
    def signal(self) -> float:
        """Youden's index of the labels: what they tell of the condition."""
        return self.sensitivity + self.specificity - 1

    @property
    def variances(self) -> tuple[float, float]:
        """Of sensitivity and specificity, with the add-two rule so that a rate of 1 has one."""
        pairs = ((self.sensitivity, self.sensitivity_n), (self.specificity, self.specificity_n))
        found = []
        for rate, n in pairs:
            centre = nan if n is None else (rate * n + 2) / (n + 4)
            found.append(0.0 if n is None else centre * (1 - centre) / (n + 4))
        return found[0], found[1]


# Of each measure, a ratio of two means over cases: what a case adds to top and bottom, and how these change
# with the sensitivity (first) and the specificity of the labels. T is the decision, R the label.
@dataclass(frozen=True, slots=True)
class _Parts:
    top: Floats
    bottom: Floats
    by_sensitivity: tuple[Floats | float, Floats | float]
    by_specificity: tuple[Floats | float, Floats | float]


def _parts(name: Name, label: Floats, decision: Floats, error: LabelError) -> _Parts:
    t, r, se, sp = decision, label, error.sensitivity, error.specificity
    match name:
        case "sensitivity":
            return _Parts(t * sp - t * (1 - r), sp - 1 + r, (0.0, 0.0), (t, 1.0))
        case "specificity":
            return _Parts((1 - t) * se - (1 - t) * r, se - r, (1 - t, 1.0), (0.0, 0.0))
        case "ppv":
            return _Parts(t * sp - t * (1 - r), t * error.signal, (0.0, t), (t, t))
        case "npv":
            return _Parts((1 - t) * (se - r), (1 - t) * error.signal, (1 - t, 1 - t), (0.0, 1 - t))
    return _Parts(r + sp - 1, np.full(len(r), error.signal), (0.0, 1.0), (1.0, 1.0))


def corrected_for_labels(
    name: Name,
    label: NDArray[np.bool_],
    decision: NDArray[np.bool_],
    error: LabelError,
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """A measure of decisions against the condition, from labels with known error (Gart and Buck).

    With se and sp of the labels R, T the decision, and shares over cases::

        prevalence   (P(R) + sp - 1) / (se + sp - 1)
        sensitivity  (sp P(T) - P(T, not R)) / (P(R) + sp - 1)
        specificity  (se P(not T) - P(not T, R)) / (se - P(R))
        PPV          (sp P(T) - P(T, not R)) / ((se + sp - 1) P(T))

    Estimand: the measure against the condition itself, in the population of these cases, if decision and
    label err independently in cases with the condition, and in cases without.

    Parameters
    ----------
    label, decision : bool array, shape (n_cases,)

    Returns
    -------
    In [0, 1]. Limits by Fieller's theorem, with the variance of the error rates where they were measured;
    variances of independent cases with one case in each cell more, and so of clusters, each as one case,
    where nothing varies between them. A value beyond the range is set to its end, with a note; NaN with a
    note where the labels do not fit the declared error at all, or where the denominator is empty.
    `details` has `lowest` and `highest`, the `bounds` if decision and label need not err independently.

    References
    ----------
    Gart, Buck (1966), Am. J. Epidemiol. 83, 593-602. Rogan, Gladen (1978), Am. J. Epidemiol. 107, 71-76.
    Staquet, Rozencweig, Lee, Muggia (1981), J. Chronic Dis. 34, 599-610.

    Examples
    --------
    >>> label = np.repeat([True, True, False, False], [90, 55, 15, 840])
    >>> decision = np.repeat([True, False, True, False], [90, 55, 15, 840])
    >>> print(corrected_for_labels("sensitivity", label, decision, LabelError(0.95, 0.95)))
    0.89 (95% CI 0.77 to 1.00; n = 1000)
    """
    check_level(level)
    n, method = len(label), METHOD if cluster is None else CLUSTERED
    x = _parts(name, label.astype(np.float64), decision.astype(np.float64), error)
    if why := _why_undefined(name, decision, x):
        return undefined(n, why, level=level, method=method)
    top, bottom = float(x.top.mean()), float(x.bottom.mean())
    raw = top / bottom
    covariance, units, note = _covariance(name, label, decision, error, x, cluster)
    if units < 2:
        why = notes.ONE_CASE if cluster is None else ONE_CLUSTER
        return no_interval(min(max(raw, 0.0), 1.0), n, why, level=level, method=method)
    for by, variance in zip((x.by_sensitivity, x.by_specificity), error.variances):
        change = np.array([float(np.mean(by[0])), float(np.mean(by[1]))])
        covariance = covariance + variance * np.outer(change, change)
    t = normal_quantile(level) if cluster is None else quantile(units - 1.0, level)
    low, high = _fieller(top, bottom, covariance, t)
    if not isfinite(low):
        return no_interval(min(max(raw, 0.0), 1.0), n, notes.NO_LABEL_LIMITS, level=level, method=method)
    widest = _fieller(top, bottom, covariance, BEYOND_DOUBT)
    if widest[1] < 0 or widest[0] > 1:
        return undefined(n, notes.NOT_WITH_THIS_ERROR, level=level, method=method)
    value, low, high = _to_range(raw, low, high)
    details = {} if cluster is None else {"clusters": float(units)}
    if (allowed := bounds(name, label, decision, error)) is not None:
        details |= dict(zip(("lowest", "highest"), allowed))
    few = min(int(label.sum()), int((~label).sum())) < FEW and value >= HIGH
    note += notes.SET_TO_THE_END if value != raw else OFTEN_ABOVE if few else NO_NOTE
    return Estimate(value, low, high, n, level, method, note, details=details)


def _why_undefined(name: Name, decision: NDArray[np.bool_], x: _Parts) -> Note:
    """Why a measure has no value in these cases; empty where it has one."""
    if not len(decision):
        return notes.NO_CASE
    if name == "ppv" and not decision.any():
        return notes.NONE_CALLED_POSITIVE
    if name == "npv" and decision.all():
        return notes.NONE_CALLED_NEGATIVE
    return NO_NOTE if x.bottom.mean() > 0 else notes.NO_LABEL_SIGNAL


def _to_range(raw: float, low: float, high: float) -> tuple[float, float, float]:
    """A share and its limits in [0, 1]; those of a value beyond an end move with it and keep their width."""
    low, high = low - max(raw - 1, 0.0), high - min(raw, 0.0)
    return min(max(raw, 0.0), 1.0), max(low, 0.0), min(high, 1.0)


def _covariance(
    name: Name,
    label: NDArray[np.bool_],
    decision: NDArray[np.bool_],
    error: LabelError,
    x: _Parts,
    cluster: Clusters | None,
) -> tuple[Floats, int, Note]:
    """Covariance matrix of the means of top and bottom, (2, 2), of how many units, and what limits it."""
    n, note = len(label), NO_NOTE
    if cluster is not None:
        sums = np.stack([cluster_sums(part - part.mean(), cluster) for part in (x.top, x.bottom)])
        n = sums.shape[1]
        ratio = np.array([1.0, -float(x.top.mean()) / float(x.bottom.mean())])
        covariance = sums @ sums.T * (n / max(n - 1, 1)) / len(label) ** 2
        if ratio @ covariance @ ratio > NEGLIGIBLE:
            return covariance, n, NO_NOTE
        note = notes.CLUSTERS_AS_CASES
    r, t = np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 1, 0])
    counts = (
        np.array([float(((label == bool(a)) & (decision == bool(b))).sum()) for a, b in zip(r, t)]) + ADDED
    )
    cell = _parts(name, r, t, error)
    share = counts / counts.sum()
    values = np.stack([cell.top, cell.bottom])
    centred = values - (values @ share)[:, None]
    return (centred * share) @ centred.T / (n + len(r) * ADDED), n, note


def _fieller(top: float, bottom: float, covariance: Floats, t: float) -> tuple[float, float]:
    """Limits of top / bottom; not finite where the bottom may be 0."""
    a = bottom**2 - t * t * covariance[1, 1]
    b = top * bottom - t * t * covariance[0, 1]
    c = top**2 - t * t * covariance[0, 0]
    inside = b * b - a * c
    if not a > 0 or inside < 0:
        return nan, nan
    return (b - sqrt(inside)) / a, (b + sqrt(inside)) / a


def bounds(
    name: Name, label: NDArray[np.bool_], decision: NDArray[np.bool_], error: LabelError
) -> tuple[float, float] | None:
    """Lowest and highest value that the labels allow whether decision and label err independently or not.

    Each value between them goes with these shares of cases and rates of the labels; sampling error is not in
    them. None for the prevalence, which does not depend on it, and where no prevalence fits the labels.

    References
    ----------
    Emerson, Waikar, Fuentes, Bonventre, Betensky (2018), Stat. Methods Med. Res. 27, 2933-2945.
    """
    share = float(label.mean())
    p = (share + error.specificity - 1) / error.signal
    if name == "prevalence" or not 0 < p < 1:
        return None
    called = float(decision.mean())
    low = high = 0.0  # of the share of cases that have the condition and are called
    for of_label, ill in ((label, p * error.sensitivity), (~label, p * (1 - error.sensitivity))):
        both = float((of_label & decision).mean())
        low += max(0.0, both + ill - float(of_label.mean()))
        high += min(both, ill)
    return {
        "sensitivity": (low / p, high / p),
        "specificity": ((1 - p - called + low) / (1 - p), (1 - p - called + high) / (1 - p)),
        "ppv": (low / called, high / called) if called else None,
        "npv": ((1 - called - p + low) / (1 - called), (1 - called - p + high) / (1 - called))
        if called < 1
        else None,
    }[name]


def area_corrected_for_labels(
    area: Estimate, label: NDArray[np.bool_], error: LabelError, level: float = 0.95
) -> Estimate:
    """The area under the ROC curve against the condition, from that against labels with known error.

    A label group is a mixture, so that ``area - 1/2`` is shrunk by the difference of the predictive values
    of the labels, ``d = P(condition | R) - P(condition | not R)``; it is divided by it. Limits by the delta
    method, the prevalence of the labels as observed.

    Parameters
    ----------
    area : against the labels, with `se` or limits
    label : bool array, shape (n_cases,)

    Returns
    -------
    In [0, 1]; NaN with a note where the labels tell too little, or do not fit the declared error; no
    limits where `area` has none.

    Examples
    --------
    >>> label = np.repeat([True, False], [145, 855])
    >>> print(area_corrected_for_labels(Estimate(0.8, 0.76, 0.84, 1000), label, LabelError(0.9, 0.95)))
    0.94 (95% CI 0.88 to 1.00; n = 1000)
    """
    share = float(label.mean()) if len(label) else nan
    p = (share + error.specificity - 1) / error.signal
    if not 0 < p < 1:
        return undefined(area.n, notes.NO_LABEL_SIGNAL, level=level, method=AREA)
    gap = p * error.sensitivity / share - p * (1 - error.sensitivity) / (1 - share)
    raw = 0.5 + (area.value - 0.5) / gap
    if not isfinite(area.low):
        return Estimate(min(max(raw, 0.0), 1.0), nan, nan, area.n, level, AREA, area.note)
    z = normal_quantile(level)
    se = (area.high - area.low) / (2 * z) / gap
    slopes = _gap_slopes(share, error)
    extra = sum((s * (area.value - 0.5) / gap**2) ** 2 * v for s, v in zip(slopes, error.variances))
    se = sqrt(se**2 + extra)
    if not -BEYOND_DOUBT * se <= raw <= 1 + BEYOND_DOUBT * se:
        return undefined(area.n, notes.NOT_WITH_THIS_ERROR, level=level, method=AREA)
    value, low, high = _to_range(raw, raw - z * se, raw + z * se)
    note = NO_NOTE if value == raw else notes.SET_TO_THE_END
    return Estimate(value, low, high, area.n, level, AREA, note, se=se)


def _gap_slopes(share: float, error: LabelError) -> tuple[float, float]:
    """How the difference of the predictive values changes with the error rates, by small steps."""

    def gap(se: float, sp: float) -> float:
        p = (share + sp - 1) / (se + sp - 1)
        return p * se / share - p * (1 - se) / (1 - share)

    step = 1e-5
    se, sp = error.sensitivity, error.specificity
    by_se = (gap(se + step, sp) - gap(se - step, sp)) / (2 * step)
    by_sp = (gap(se, sp + step) - gap(se, sp - step)) / (2 * step)
    return by_se, by_sp
