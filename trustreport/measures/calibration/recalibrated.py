"""Calibration after an update of intercept, or of intercept and slope, on other cases of the same set."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import exp, log, nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from trustreport.measures.calibration import notes
from trustreport.measures.calibration.bins import check
from trustreport.measures.calibration.logistic import INWARDS, calibration_intercept, calibration_slope
from trustreport.measures.calibration.overall import brier, oe_ratio
from trustreport.measures.cluster import ONE_OF_A_CLASS, Clusters, clusters_of_scarcer_class, sums
from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.mrmc.interval import NEGLIGIBLE, quantile, two_sided_p
from trustreport.measures.note import NO_NOTE, Note, note

Floats = NDArray[np.float64]
Update = Literal["intercept", "intercept and slope"]
UPDATES: tuple[Update, ...] = ("intercept", "intercept and slope")
METHOD = "bootstrap_refit"
FOLDS = 5
RESAMPLES = 200
RESAMPLED_UP_TO = 5_000  # cases; of more the interval is left out
PER_PARAMETER = 10  # cases of the scarcer class for each parameter that is fitted
STEPS = 30
LARGEST = 30.0  # standard deviations of the scores: a fit beyond has no maximum

NO_FIT = note("no_update_can_be_fitted_scores")
UNSTABLE = note("update_cannot_be_fitted_to_every")

MEASURES: Mapping[str, tuple[Callable[..., Estimate], str, float]] = {
    "oe_ratio": (oe_ratio, "log", 1.0),
    "calibration_intercept": (calibration_intercept, "identity", 0.0),
    "calibration_slope": (calibration_slope, "identity", 1.0),
    "brier": (brier, "logit", nan),
}


def folds_of(
    truth: NDArray[np.bool_], cluster: Clusters | None, rng: np.random.Generator, folds: int = FOLDS
) -> NDArray[np.uint8]:
    """Which fold each case is in: whole clusters, those with a positive case dealt apart from the others."""
    positive, index = truth, None
    if cluster is not None:
        _, index = np.unique(cluster, return_inverse=True)
        positive = np.bincount(index, weights=truth) > 0
    dealt = [rng.permutation(np.flatnonzero(positive == kind).astype(np.int32)) for kind in (True, False)]
    order = np.concatenate(dealt)
    fold = np.empty(len(positive), np.uint8)
    fold[order] = np.arange(len(order), dtype=np.int32) % folds
    return fold if index is None else np.asarray(fold[index], np.uint8)


def cross_fitted(
    truth: NDArray[np.bool_], score: Floats, fold: NDArray[np.uint8], update: Update
) -> Floats | None:
    """Each case's probability by an update that was fitted to the cases of the other folds.

    None where an update has no maximum of the likelihood.
    """
    predictor = _logits(score)
    shifted = np.empty(len(truth))
    for k in np.unique(fold):
        tested = fold == k
        a, b = _fitted(truth[~tested], predictor[~tested], None, line=update == "intercept and slope")
        shifted[tested] = a + b * predictor[tested]
    return None if np.isnan(shifted).any() else expit(shifted, out=shifted)


def recalibrated(
    truth: NDArray[np.bool_],
    score: Floats,
    update: Update,
    *,
    rng: np.random.Generator,
    cluster: Clusters | None = None,
    fold: NDArray[np.uint8] | None = None,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """How calibrated the scores would be after an update at this place, tested on cases it was not fitted to.

    With cases i in folds k, by maximum likelihood over the cases of all other folds::

        logit P = a_k + logit(s)          "intercept"
        logit P = a_k + b_k logit(s)      "intercept and slope"

    and O/E, intercept, slope and Brier score of the probabilities so updated. The interval is that of a
    bootstrap of clusters (of cases without them) in which the updates are fitted anew: copies of a cluster
    stay in its fold, so that none is tested by parameters that it gave. Student's t with the standard error
    of the resamples, degrees of freedom as in `in_clusters.sandwich`; O/E on the scale of its logarithm, the
    Brier score on the logit scale.

    Estimand: calibration, for new cases of the place, of this way of updating with four fifths of these
    cases, over the updates that such cases would give. How far a single update may be off is not in it: O/E
    after any of them is near 1 by construction, and its interval narrow.

    Parameters
    ----------
    score : float array, shape (n_cases,)
        Probability of the condition; 0 and 1 move inwards by 1e-8.
    update : "intercept" or "intercept and slope"
    rng : deals the folds where none are given, then draws the resamples
    fold : int array, shape (n_cases,), optional
        The folds, with whole clusters in each.
    cluster : int array, shape (n_cases,), optional
        Cases of a cluster are in one fold.

    Returns
    -------
    dict of Estimate
        ``oe_ratio, calibration_intercept, calibration_slope, brier``. NaN with a note where a class is
        absent, has fewer than 10 cases for each parameter, or is in fewer clusters than there are folds, and
        where all scores are alike; no limits with more than 5,000 cases.

    References
    ----------
    Cox (1958), Biometrika 45, 562-565. Steyerberg et al. (2004), Stat. Med. 23, 2567-2586 (updating).
    Stone (1974), J. R. Stat. Soc. B 36, 111-147 (cross-validation).
    Davison, Hinkley (1997), Bootstrap Methods and their Application, section 3.8 (clusters).
    """
    check(truth, score)
    check_level(level)
    why = _undefined(truth, score, cluster, update)
    if why:
        return {name: undefined(len(score), why, level=level, method=METHOD) for name in MEASURES}
    fold = folds_of(truth, cluster, rng) if fold is None else fold
    updated = cross_fitted(truth, score, fold, update)
    if updated is None:
        return {name: undefined(len(score), NO_FIT, level=level, method=METHOD) for name in MEASURES}
    found = {name: measure(truth, updated, level=level) for name, (measure, _, _) in MEASURES.items()}
    if cluster is not None:
        n_clusters = {"clusters": int(np.unique(cluster).size)}
        found = {name: replace(e, details={**e.details, **n_clusters}) for name, e in found.items()}
    if len(truth) > RESAMPLED_UP_TO:
        why = note("more_than_cases_not_resampled_no", most=RESAMPLED_UP_TO)
        return {name: _shown(e, nan, len(truth), name, why) for name, e in found.items()}
    weights, predictor = _drawn(truth, cluster, rng, resamples), _logits(score)
    again = _of_resamples(truth, _recalibrated(truth, predictor, fold, weights, update), weights)
    held = len(truth) if cluster is None else clusters_of_scarcer_class(truth, cluster)
    return {name: _shown(e, _error(again[name], name), held, name) for name, e in found.items()}


def _undefined(truth: NDArray[np.bool_], score: Floats, cluster: Clusters | None, update: Update) -> Note:
    if not truth.size:
        return notes.NO_CASE
    scarcer = min(int(truth.sum()), int((~truth).sum()))
    least = PER_PARAMETER * (1 + UPDATES.index(update))
    if not scarcer:
        return notes.ONE_CLASS
    if score.min() == score.max():
        return notes.CONSTANT_SCORE
    if scarcer < least:
        return note("cases_scarcer_class_fewer_than_for", n=scarcer, least=least, per=PER_PARAMETER)
    if cluster is not None and clusters_of_scarcer_class(truth, cluster) < FOLDS:
        return note("scarcer_class_in_fewer_than_clusters", folds=FOLDS)
    return NO_NOTE


def _logits(score: Floats) -> Floats:
    found: Floats = logit(np.clip(score.astype(np.float64, copy=False), INWARDS, 1 - INWARDS))
    return found


def _drawn(
    truth: NDArray[np.bool_], cluster: Clusters | None, rng: np.random.Generator, resamples: int
) -> Floats:
    """How often each case is in each resample of clusters, (resamples, n_cases)."""
    own = np.arange(len(truth)) if cluster is None else cluster
    _, index = np.unique(own, return_inverse=True)
    n = int(index.max()) + 1
    drawn = rng.multinomial(n, np.full(n, 1 / n), size=resamples).astype(np.float64)
    found: Floats = drawn[:, index]
    return found


def _recalibrated(
    truth: NDArray[np.bool_], predictor: Floats, fold: NDArray[np.uint8], weights: Floats, update: Update
) -> Floats:
    """The updated log odds of each case in each resample, (resamples, n_cases); NaN where there is no fit."""
    found = np.empty(weights.shape)
    for k in np.unique(fold):
        tested = fold == k
        kept = np.broadcast_to(predictor[~tested], weights[:, ~tested].shape)
        a, b = _fitted(truth[~tested], kept, weights[:, ~tested], line=update == "intercept and slope")
        found[:, tested] = a[:, None] + b[:, None] * predictor[tested]
    return found


def _of_resamples(truth: NDArray[np.bool_], predictor: Floats, weights: Floats) -> dict[str, Floats]:
    """Each measure of each resample, weighted by how often its cases were drawn."""
    p, total = expit(predictor), weights.sum(axis=1)
    events = weights @ truth
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = events / (weights * p).sum(axis=1)
    return {
        "oe_ratio": ratio,
        "calibration_intercept": _fitted(truth, predictor, weights, line=False)[0],
        "calibration_slope": _fitted(truth, predictor, weights, line=True)[1],
        "brier": (weights * (p - truth) ** 2).sum(axis=1) / total,
    }


def _fitted(
    truth: NDArray[np.bool_], predictor: Floats, weights: Floats | None, *, line: bool
) -> tuple[Floats, Floats]:
    """Intercept and slope of each resample by Newton's method, all at once; NaN where there is no maximum.

    `predictor` and `weights` are (resamples, n_cases); without `weights` there is one set, (n_cases,), as if
    all were 1. Without `line` the slope is 1.
    """
    if weights is None:
        centre, spread = _spread(predictor)
    else:
        total = weights.sum(axis=1)
        centre = (weights * predictor).sum(axis=1) / total
        spread = np.sqrt((weights * (predictor - centre[:, None]) ** 2).sum(axis=1) / total)
        spread = np.where(spread > NEGLIGIBLE, spread, 1.0)
        x = (predictor - centre[:, None]) / spread[:, None]
    a = np.zeros(len(centre))
    b = np.zeros(len(centre)) if line else spread.copy()

    def derivatives() -> tuple[Floats, ...]:
        """Sums over cases of the information (1, x, x squared) and of the score (1, x)."""
        if weights is None:
            return _derivatives(truth, predictor, centre, spread, a, b, line=line)
        p = expit(a[:, None] + b[:, None] * x)
        w, gap = weights * p * (1 - p), weights * (truth - p)
        if not line:
            return w.sum(axis=1), gap.sum(axis=1)
        wx = w * x
        return tuple(part.sum(axis=1) for part in (w, gap, wx, wx * x, gap * x))

    with np.errstate(all="ignore"):
        for _ in range(STEPS):
            i0, g0, *more = derivatives()
            if line:
                i1, i2, g1 = more
                determinant = i0 * i2 - i1 * i1
                da, db = (i2 * g0 - i1 * g1) / determinant, (i0 * g1 - i1 * g0) / determinant
            else:
                da, db = g0 / i0, np.zeros(len(centre))
            a, b = a + np.clip(da, -2, 2), b + np.clip(db, -2, 2)
            if np.nanmax(np.maximum(np.abs(da), np.abs(db)), initial=0.0) < 1e-10:
                break
    lost = ~(np.maximum(np.abs(da), np.abs(db)) < 1e-6) | (np.abs(b) > LARGEST if line else False)
    slope = b / spread
    return np.where(lost, nan, a - slope * centre), np.where(lost, nan, slope)


def _spread(predictor: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation, (1,) each; 1 where nothing varies."""
    n = len(predictor)
    centre = predictor.sum() / n
    spread = np.sqrt(sums(n, lambda of: ((predictor[of] - centre) ** 2,))[0] / n)
    return np.array([centre]), np.array([spread if spread > NEGLIGIBLE else 1.0])


def _derivatives(
    truth: NDArray[np.bool_],
    predictor: Floats,
    centre: Floats,
    spread: Floats,
    a: Floats,
    b: Floats,
    *,
    line: bool,
) -> tuple[Floats, ...]:
    """Of one set without weights, (1,) each."""

    def terms(of: slice) -> tuple[Floats, ...]:
        x = (predictor[of] - centre) / spread
        p = expit(a + b * x)
        w, gap = p * (1 - p), truth[of] - p
        if not line:
            return w, gap
        wx = w * x
        return w, gap, wx, wx * x, gap * x

    return tuple(np.array([total]) for total in sums(len(truth), terms))


def _error(values: Floats, name: str) -> float:
    """The standard error on the scale of the measure; NaN where a resample has no value."""
    scale = MEASURES[name][1]
    with np.errstate(all="ignore"):
        on = np.log(values) if scale == "log" else logit(values) if scale == "logit" else values
    return float(on.std(ddof=1)) if np.isfinite(on).all() else nan


def _shown(e: Estimate, se: float, held: int, name: str, note: Note = NO_NOTE) -> Estimate:
    """The estimate with the interval of its resamples."""
    _, scale, null = MEASURES[name]
    bare = replace(e, low=nan, high=nan, se=nan, df=nan, p=nan, method=METHOD)
    if e.value != e.value:
        return bare
    if note or held < 2 or not se > NEGLIGIBLE:
        return replace(bare, note=e.note + (note or (ONE_OF_A_CLASS if held < 2 else UNSTABLE)))
    df = float(held - 1)
    half = quantile(df, e.level) * se
    if scale == "log":
        low, high, gap = e.value * exp(-half), e.value * exp(half), log(e.value / null)
    elif scale == "logit":
        low, high = (float(expit(logit(e.value) + end)) for end in (-half, half))
        gap, se = nan, se * e.value * (1 - e.value)
    else:
        low, high, gap = e.value - half, e.value + half, e.value - null
    p = two_sided_p(gap / se, df) if gap == gap else nan
    return replace(bare, low=low, high=high, se=se, df=df, p=p)
