"""Published tables of several studies pooled: sensitivity and specificity together."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import hypot, inf, isnan, log, nan, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize
from scipy.special import chdtri, expit

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.interval import quantile
from trustreport.measures.note import NO_NOTE, Note, note

NO_STUDY = note("no_study_with_cases_both_classes")
ONE_STUDY = note("there_one_study")
TWO_STUDIES = note("with_two_studies_how_far_studies")
THREE_STUDIES = note("three_studies_sensitivity_and_specificity_pooled")
NO_NEW_STUDY = note("interval_for_new_study_needs_at")
NO_CLASS = note("study_without_positive_or_without_negative")
CORRECTED = note("cell_zero_0_5_added_to")
CORRECTED_ZEROS = note("cell_zero_0_5_added_to_all")
AT_THE_END = note("correlation_between_studies_estimated_at_end")
NO_SPREAD = note("no_spread_between_studies_beyond_chance")
NO_CURVE = note("studies_do_not_differ_in_sensitivity")
CURVE_WITHOUT_INTERVAL = note("area_under_summary_curve_no_interval")
NO_UPPER_LIMIT = note("spread_between_studies_has_no_upper")


Floats = NDArray[np.float64]

METHOD = "bivariate_reml"
FEWEST = 3  # studies
FEWEST_TOGETHER = 4  # for a correlation, a region, a new study
CORRECTION = 0.5
NOTHING = 1e-9  # a variance below this is none
AT_END = 1 - 1e-5  # a correlation from here on is one of 1
END = 1 - 1e-9
MOST_TAU = 20.0
OUTCOMES = ("sensitivity", "specificity")
WHAT_IS_CORRECTED = {"all": CORRECTED, "zeros": CORRECTED_ZEROS}


@dataclass(frozen=True)
class PooledStudies:
    """Studies pooled by `pooled`; everything on the logit scale unless it says otherwise.

    Parameters
    ----------
    logits : array, shape (n_studies, 2)
        Sensitivity and false positive rate of each study, after the correction.
    variances : array, shape (n_studies, 2)
    corrected : to which studies 0.5 was added because a cell is zero: "", "zeros" or "all"
    centre : means of both
    covariance : of the means
    between : covariance of the studies about the means
    log_likelihood : restricted, with its constants
    together : whether the correlation was estimated (four studies and more)
    """

    logits: Floats
    variances: Floats
    corrected: str
    centre: Floats
    covariance: Floats
    between: Floats
    log_likelihood: float
    together: bool

    @property
    def n(self) -> int:
        """Studies."""
        return len(self.logits)

    @property
    def note(self) -> Note:
        """What bears on every number of the model."""
        said = WHAT_IS_CORRECTED[self.corrected] if self.corrected else NO_NOTE
        if not self.together:
            said += THREE_STUDIES
        elif min(self.between[0, 0], self.between[1, 1]) <= NOTHING:
            said += NO_SPREAD
        elif abs(self.correlation) >= AT_END:
            said += AT_THE_END
        return said

    @property
    def correlation(self) -> float:
        """Of sensitivity and false positive rate between studies; NaN where it was not estimated."""
        spread = sqrt(self.between[0, 0] * self.between[1, 1])
        if not self.together or spread <= NOTHING:
            return nan
        return float(self.between[0, 1] / spread)

    @cached_property
    def _model(self) -> "_Model":
        return _Model(self.logits, self.variances)

    def summary(self, of: str, level: float = 0.95) -> Estimate:
        """The mean of the studies, back on the scale of shares: `of` sensitivity or specificity."""
        return self._estimate(of, 0.0, quantile(self.n - 1, level), level, self.n - 1)

    def as_published(self, of: str, level: float = 0.95) -> Estimate:
        """The same with a normal quantile, as R's mada prints it: too narrow with few studies."""
        return self._estimate(of, 0.0, quantile(inf, level), level, nan, f"{METHOD}_z")

    def new_study(self, of: str, level: float = 0.95) -> Estimate:
        """Where the value of a further study lies."""
        if not self.together:
            return undefined(self.n, NO_NEW_STUDY, level=level, method=METHOD)
        i = _position(of)
        return self._estimate(of, self.between[i, i], quantile(self.n - 2, level), level, self.n - 2)

    def _estimate(
        self, of: str, more: float, t: float, level: float, df: float, method: str = METHOD
    ) -> Estimate:
        i = _position(of)
        se = sqrt(self.covariance[i, i])
        half = t * hypot(se, sqrt(more))
        ends = [float(expit(self.centre[i] + side * half)) for side in (0, -1, 1)]
        if i:  # the model has false positive rates
            ends = [1 - ends[0], 1 - ends[2], 1 - ends[1]]
        details = {"scale_value": float(self.centre[i]) * (-1 if i else 1)}
        value, low, high = ends
        return Estimate(value, low, high, self.n, level, method, self.note, se=se, df=df, details=details)

    def spread(self, of: str, level: float = 0.95) -> Estimate:
        """The variance between studies on the logit scale, limits by the profile of the likelihood."""
        i = _position(of)
        value = float(self.between[i, i])
        drop = float(chdtri(1, 1 - level)) / 2

        def beyond(tau: float) -> float:
            return self.log_likelihood - self._model.at_spread(i, tau, self.between, self.together) - drop

        tau = sqrt(value)
        low = 0.0
        if tau and beyond(0.0) > 0:
            low = float(brentq(beyond, 0.0, tau, xtol=1e-6)) ** 2
        outside = max(2 * tau, 0.1)
        while outside < MOST_TAU and beyond(outside) <= 0:
            outside *= 2
        found = outside < MOST_TAU
        high = float(brentq(beyond, tau, outside, xtol=1e-6)) ** 2 if found else inf
        said = (NO_SPREAD if value <= NOTHING else NO_NOTE) + (NO_NOTE if found else NO_UPPER_LIMIT)
        return Estimate(value, low, high, self.n, level, f"{METHOD}_profile", said)

    def correlation_between(self, level: float = 0.95) -> Estimate:
        """Of sensitivity and specificity between studies, limits by the profile of the likelihood.

        It is negative where studies differ in their threshold.
        """
        method, value = f"{METHOD}_profile", -self.correlation
        if isnan(value):
            why = NO_CURVE if self.together else THREE_STUDIES
            return undefined(self.n, why, level=level, method=method)
        drop = float(chdtri(1, 1 - level)) / 2

        def beyond(at: float) -> float:
            return self.log_likelihood - self._model.at_correlation(at, self.between) - drop

        at = min(max(self.correlation, -END), END)
        ends = [
            float(brentq(beyond, min(at, end), max(at, end), xtol=1e-6)) if beyond(end) > 0 else end
            for end in (-1.0, 1.0)
        ]
        return Estimate(value, -ends[1], -ends[0], self.n, level, method, self.note)

    def region(self, *, new_study: bool = False, level: float = 0.95, points: int = 180) -> Floats:
        """The ellipse of the mean, or of a new study, as (false positive rate, sensitivity) pairs.

        Scaled by the F distribution with 2 and n - 2 df (Harbord and Whiting 2009). Empty below four studies.
        """
        if not self.together:
            return np.empty((0, 2))
        from scipy.special import fdtri

        spread = self.covariance + (self.between if new_study else 0.0)
        radius = sqrt(2 * float(fdtri(2, self.n - 2, level)))
        angle = np.linspace(0, 2 * pi, points)
        circle = np.stack([np.cos(angle), np.sin(angle)])
        values, vectors = np.linalg.eigh(spread)
        ring = self.centre[:, None] + radius * (vectors * np.sqrt(np.maximum(values, 0))) @ circle
        found: Floats = expit(ring[::-1].T)
        return found

    def curve(self, fpr: ArrayLike) -> Floats:
        """Sensitivity by false positive rate on the summary curve of Rutter and Gatsonis; NaN where none."""
        at = np.asarray(fpr, dtype=np.float64)
        if not self.together or min(self.between[0, 0], self.between[1, 1]) <= NOTHING:
            return np.full_like(at, nan)
        ratio = sqrt(self.between[0, 0] / self.between[1, 1])
        found: Floats = expit(self.centre[0] + ratio * (np.log(at / (1 - at)) - self.centre[1]))
        return found

    def area(self, level: float = 0.95) -> Estimate:
        """The area under the summary curve; `details` hold the mean over the rates that studies have.

        The curve reaches beyond the rates of the studies, where nothing was seen.
        """
        from scipy.integrate import quad

        if np.isnan(self.curve([0.5])).any():
            why = NO_CURVE if self.together else THREE_STUDIES
            return undefined(self.n, why, level=level, method=f"{METHOD}_curve")
        least, most = (float(x) for x in expit([self.logits[:, 1].min(), self.logits[:, 1].max()]))
        whole = quad(lambda x: float(self.curve(x)), 0, 1, epsabs=1e-9)[0]
        details = {"fpr_low": least, "fpr_high": most, **self.hierarchical()}
        if most > least:
            part = quad(lambda x: float(self.curve(x)), least, most, epsabs=1e-9)[0]
            details["mean_over_observed"] = part / (most - least)
        note = CURVE_WITHOUT_INTERVAL + self.note
        return Estimate(whole, nan, nan, self.n, level, f"{METHOD}_curve", note, details=details)

    def hierarchical(self) -> dict[str, float]:
        """The same model by the parameters of Rutter and Gatsonis (Harbord et al. 2007)."""
        tau, other = sqrt(self.between[0, 0]), sqrt(self.between[1, 1])
        root, back, both = sqrt(other / tau), sqrt(tau / other), self.between[0, 1]
        return {
            "theta": 0.5 * (root * self.centre[0] + back * self.centre[1]),
            "lambda": root * self.centre[0] - back * self.centre[1],
            "beta": log(other / tau),
            "variance_theta": 0.5 * (tau * other + both),
            "variance_alpha": 2 * (tau * other - both),
        }


def pooled(
    tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike, *, zeros_only: bool = False
) -> PooledStudies | Note:
    """Mean sensitivity and specificity over studies, and how far studies differ.

    Study i has logits y_i of its sensitivity and its false positive rate::

        y_i ~ Normal(theta_i, S_i),   S_i = diag(1/TP + 1/FN, 1/FP + 1/TN),   theta_i ~ Normal(mu, Psi)

    by restricted maximum likelihood. Where any cell of any study is zero, 0.5 is added to every cell of every
    study, as R's mada does. With t the quantile of k - 1 df, k studies::

        summary: expit(mu -+ t se),   new study: expit(mu -+ t_{k-2} sqrt(Psi_jj + se^2))

    With three studies both are pooled separately (no correlation).

    Estimand: sensitivity and specificity of the median study of those from which these were sampled.

    Parameters
    ----------
    tp, fp, fn, tn : array, shape (n_studies,)
        Counts.
    zeros_only : bool
        Add it to the studies that have a zero, not to all.

    Returns
    -------
    PooledStudies or str
        Why nothing is pooled: fewer than three studies, or a study without a class.

    Notes
    -----
    Logits are taken as normal with known variance, which fails where a study has few right or few wrong
    decisions of a class: of 80 simulated reviews of 25 studies with 15 to 60 cases a class, a sensitivity of
    .95 and a spread of .5, 95% intervals covered 19%, those of `binomial_normal` 93%. A report has that
    model's mean where a study has fewer than 5 of either.

    References
    ----------
    Reitsma et al. (2005), J. Clin. Epidemiol. 58, 982-990.
    Harbord, Deeks, Egger, Whiting, Sterne (2007), Biostatistics 8, 239-251 (the summary curve).
    Harbord, Whiting (2009), Stata J. 9, 211-229 (regions).
    """
    cells = np.array([np.asarray(cell, dtype=np.float64) for cell in (tp, fp, fn, tn)])
    if cells.ndim != 2:
        raise ValueError(f"tp, fp, fn and tn need one entry a study each, got shape {cells.shape}.")
    if not (np.isfinite(cells) & (cells >= 0)).all():
        raise ValueError("counts are 0 or more.")
    k = cells.shape[1]
    if k < FEWEST:
        return TWO_STUDIES if k == 2 else ONE_STUDY
    if not (cells[[0, 1]] + cells[[2, 3]]).all():
        return NO_CLASS
    corrected = not cells.all()
    if corrected:
        cells = cells + CORRECTION * (~cells.all(axis=0) if zeros_only else 1)
    cells = cells[:, np.lexsort(cells)]  # no digit depends on the order of the studies
    logits = np.log(cells[:2] / cells[2:]).T
    variances = (1 / cells[:2] + 1 / cells[2:]).T
    model, together = _Model(logits, variances), k >= FEWEST_TOGETHER
    likelihood, between = model.maximum(together)
    centre, covariance = model.means(between)
    added = ("zeros" if zeros_only else "all") if corrected else ""
    return PooledStudies(logits, variances, added, centre, covariance, between, likelihood, together)


def _position(of: str) -> int:
    return OUTCOMES.index(of)


class _Model:
    """The restricted likelihood by the covariance between studies."""

    def __init__(self, logits: Floats, variances: Floats) -> None:
        self.y, self.v = logits, variances
        n = 2 * len(logits) - 2
        self.constant = -0.5 * n * log(2 * pi) + log(len(logits))

    def _weights(self, between: Floats) -> tuple[Floats, Floats, Floats]:
        """Inverses of the covariances of the studies, their determinants, the covariance of the means."""
        total = between + self.v[:, :, None] * np.eye(2)
        weight = np.asarray(np.linalg.inv(total))
        covariance = np.asarray(np.linalg.inv(weight.sum(axis=0)))
        return weight, np.asarray(np.linalg.det(total)), covariance

    def means(self, between: Floats) -> tuple[Floats, Floats]:
        """The means of both, and their covariance."""
        weight, _, covariance = self._weights(between)
        centre: Floats = covariance @ np.einsum("ijk,ik->j", weight, self.y)
        return centre, covariance

    def __call__(self, between: Floats) -> tuple[float, Floats]:
        """Logarithm of the likelihood, and its slope by each entry of the covariance."""
        weight, determinant, covariance = self._weights(between)
        residual = self.y - covariance @ np.einsum("ijk,ik->j", weight, self.y)
        pull = np.einsum("ijk,ik->ij", weight, residual)
        value = self.constant - 0.5 * (
            np.log(determinant).sum() - log(np.linalg.det(covariance)) + (pull * residual).sum()
        )
        slope = 0.5 * (
            np.einsum("ij,ik->jk", pull, pull)
            - weight.sum(axis=0)
            + np.einsum("ijk,kl,ilm->jm", weight, covariance, weight)
        )
        return float(value), slope

    def _climb(
        self, start: Floats, free: NDArray[np.bool_], build: Callable[[Floats], Floats], near: float = 1e-5
    ) -> tuple[float, Floats]:
        """The highest value from here; `build` makes the root of the covariance, linear in what is free.

        A slope of `near` ends the search: a profile needs the height of the likelihood alone.
        """
        parts = [build(row) - build(np.zeros(3)) for row in np.eye(3)]

        def loss(values: Floats) -> tuple[float, Floats]:
            at = start.copy()
            at[free] = values
            root = build(at)
            value, slope = self(root @ root.T)
            by_root = 2 * slope @ root
            return -value, -np.array([(by_root * part).sum() for part in parts])[free]

        found = minimize(loss, start[free], jac=True, method="BFGS", options={"gtol": near})
        at = start.copy()
        at[free] = found.x
        return -float(found.fun), build(at)

    def maximum(self, together: bool) -> tuple[float, Floats]:
        """The highest likelihood and its covariance: from several starts, since it may have several tops."""
        rough = np.sqrt(np.maximum(self.y.var(axis=0, ddof=1) - self.v.mean(axis=0), 0.01))
        tops = []
        for r in (-0.5, 0.0, 0.5, 0.9) if together else (0.0,):
            start = np.array([rough[0], rough[1] * r, rough[1] * sqrt(1 - r * r)])
            tops.append(self._climb(start, np.array([True, together, True]), _lower, 1e-9))
        value, root = max(tops, key=lambda top: top[0])
        for rows in ([0], [1], [0, 1]):  # a spread that changes nothing is none
            bare = root.copy()
            bare[rows] = 0
            less = self(bare @ bare.T)[0]
            if less >= value - 1e-9:
                value, root = less, bare
        return value, root @ root.T

    def at_spread(self, of: int, tau: float, start: Floats, together: bool) -> float:
        """The highest likelihood with this standard deviation between studies of one of both."""
        other = 1 - of
        rest = sqrt(max(start[other, other], 0.01))

        def build(values: Floats) -> Floats:
            root = np.zeros((2, 2))
            root[of, 0] = tau
            root[other, 0], root[other, 1] = values[1], values[2]
            return root

        if not tau or not together:
            free = np.array([False, False, True])
            return max(self._climb(np.array([0.0, 0.0, s]), free, build)[0] for s in (rest, 0.05))
        spread = sqrt(max(start[of, of] * start[other, other], 1e-8))
        at = float(np.clip(start[0, 1] / spread, -0.95, 0.95))
        tops = [
            self._climb(
                np.array([0.0, rest * r, rest * sqrt(1 - r * r)]), np.array([False, True, True]), build
            )
            for r in (at, 0.0)
        ]
        return max(top[0] for top in tops)

    def at_correlation(self, r: float, start: Floats) -> float:
        """The highest likelihood with this correlation."""

        def build(values: Floats) -> Floats:
            return np.array([[values[0], 0.0], [values[1] * r, values[1] * sqrt(1 - r * r)]])

        rest = np.sqrt(np.maximum(np.diag(start), 0.01))
        free = np.array([True, True, False])
        return max(self._climb(np.array([*rest * part, 0.0]), free, build)[0] for part in (1.0, 0.3))


def _lower(values: Floats) -> Floats:
    return np.array([[values[0], 0.0], [values[1], values[2]]])
