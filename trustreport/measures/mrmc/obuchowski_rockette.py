"""Obuchowski-Rockette analysis: every reader reads every case in every arm."""

from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.interval import NEGLIGIBLE, f_tail, no_interval, symmetric
from trustreport.measures.note import NO_NOTE, Note

Mode = Literal["or_rrrc", "or_frrc", "or_rrfc"]
MODES: tuple[Mode, ...] = ("or_rrrc", "or_frrc", "or_rrfc")


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """What the readings say of each source of variation; a negative estimate is shown as it is."""

    reader: float
    arm_reader: float
    error: float
    cov1: float
    cov2: float
    cov3: float


@dataclass(frozen=True, slots=True)
class OmnibusTest:
    """Test that all arms share one mean: F, or chi-square for fixed readers (then `df2` is infinite)."""

    statistic: float
    df1: float
    df2: float
    p: float
    method: str
    note: Note = NO_NOTE


@dataclass(frozen=True, slots=True, eq=False)
class ObuchowskiRockette:
    """The readers' endpoint estimates, their covariances over cases, and what follows from both.

    `theta` has shape (n_arms, n_readers). `same_reader[i, k]` is the mean covariance of a reader's
    estimates in arms i and k, `other_reader[i, k]` that of two different readers; `per_reader[i, k, j]` is
    reader j's own.

    Modes: ``or_rrrc`` readers and cases are sampled (the result speaks of readers in general), ``or_frrc``
    cases only (of these readers), ``or_rrfc`` readers only (of these cases). With three or more arms the
    variance of a difference is pooled over all arms, as is customary; fit two arms alone to do without.

    References
    ----------
    Obuchowski, Rockette (1995), Commun. Stat. Simul. Comput. 24, 285-308.
    Hillis (2007), Stat. Med. 26, 596-619. Hillis (2014), Stat. Med. 33, 330-360.
    """

    theta: NDArray[np.float64]
    n_cases: int
    same_reader: NDArray[np.float64]
    other_reader: NDArray[np.float64]
    per_reader: NDArray[np.float64]

    @property
    def n_arms(self) -> int:
        """Arms of the study, or conditions compared."""
        return int(self.theta.shape[0])

    @property
    def n_readers(self) -> int:
        """Readers, each with an estimate in every arm."""
        return int(self.theta.shape[1])

    @property
    def n(self) -> int:
        """Readings in each arm."""
        return self.n_readers * self.n_cases

    @property
    def means(self) -> NDArray[np.float64]:
        """Mean over readers, per arm."""
        means: NDArray[np.float64] = self.theta.mean(axis=1)
        return means

    @property
    def var(self) -> float:
        """Mean variance of one reader's estimate in one arm."""
        return float(np.diag(self.same_reader).mean())

    @property
    def cov1(self) -> float:
        """Mean covariance of one reader's estimates in two arms; NaN with one arm."""
        return _off_diagonal(self.same_reader)

    @property
    def cov2(self) -> float:
        """Mean covariance of two readers in one arm; NaN with one reader."""
        return float(np.diag(self.other_reader).mean())

    @property
    def cov3(self) -> float:
        """Mean covariance of two readers in two arms; NaN with one reader or one arm."""
        return _off_diagonal(self.other_reader)

    @property
    def ms_arm(self) -> float:
        """Mean square of the arms, MS(T)."""
        if self.n_arms < 2:
            return nan
        return float(self.n_readers * np.var(self.means, ddof=1))

    @property
    def ms_reader(self) -> float:
        """Mean square of the readers, MS(R)."""
        if self.n_readers < 2:
            return nan
        return float(self.n_arms * np.var(self.theta.mean(axis=0), ddof=1))

    @property
    def ms_arm_reader(self) -> float:
        """Mean square of arm by reader, MS(TR)."""
        if self.n_arms < 2 or self.n_readers < 2:
            return nan
        centred = self.theta - self.means[:, None] - self.theta.mean(axis=0) + self.theta.mean()
        return float((centred**2).sum() / ((self.n_arms - 1) * (self.n_readers - 1)))

    def components(self) -> VarianceComponents:
        """Variance components, negative ones included (Hillis 2014, p. 333)."""
        return VarianceComponents(
            reader=(self.ms_reader - self.ms_arm_reader) / self.n_arms - self.cov1 + self.cov3,
            arm_reader=self.ms_arm_reader - self.var + self.cov1 + self.cov2 - self.cov3,
            error=self.var,
            cov1=self.cov1,
            cov2=self.cov2,
            cov3=self.cov3,
        )

    def difference(
        self, compared: int = 1, baseline: int = 0, *, mode: Mode = "or_rrrc", level: float = 0.95
    ) -> Estimate:
        """Difference of two arms' means over readers, compared minus baseline.

        ::

            or_rrrc: D = MS(TR) + r max(cov2 - cov3, 0),  t with D^2 (t-1)(r-1) / MS(TR)^2 df
            or_frrc: D = var - cov1 + (r-1)(cov2 - cov3), normal
            or_rrfc: D = MS(TR),                          t with (t-1)(r-1) df
            interval: d +- quantile x sqrt(2 D / r)

        Returns
        -------
        `n` counts the readings of one arm. No limits, and a note, where readers or cases are too few or
        D is not positive; the fixed-reader D is not clipped when cov2 < cov3.
        """
        value = float(self.means[compared] - self.means[baseline])
        error, df, note = self._error(mode)
        variance = 2 * error / self.n_readers
        if not variance > NEGLIGIBLE:
            return self._without(value, mode, level, _why_not(variance, mode, note))
        if mode == "or_rrrc" and variance < self._fixed_reader_variance() - NEGLIGIBLE:
            note = note + notes.BELOW_FIXED
        return self._with(value, variance, df, mode, level, note, null=0.0)

    def arm_mean(self, arm: int, *, mode: Mode = "or_rrrc", level: float = 0.95) -> Estimate:
        """Mean of one arm over readers; its variance uses that arm alone.

        ::

            or_rrrc: D = MS(R) + r max(cov2, 0), t with D^2 (r-1) / MS(R)^2 df, MS(R) of this arm
            or_frrc: D = var + (r-1) cov2,       normal
            or_rrfc: D = MS(R),                  t with r-1 df
            interval: mean +- quantile x sqrt(D / r)

        Limits may lie outside the range of the endpoint: they are not truncated here.
        """
        value = float(self.means[arm])
        error, df, note = self._arm_error(arm, mode)
        variance = error / self.n_readers
        if not variance > NEGLIGIBLE:
            return self._without(value, mode, level, _why_not(variance, mode, note))
        return self._with(value, variance, df, mode, level, note)

    def reader_difference(
        self, reader: int, compared: int = 1, baseline: int = 0, *, level: float = 0.95
    ) -> Estimate:
        """One reader's difference of two arms, cases sampled: d +- z sqrt(var + var' - 2 cov)."""
        value = float(self.theta[compared, reader] - self.theta[baseline, reader])
        own = self.per_reader[:, :, reader]
        variance = float(own[compared, compared] + own[baseline, baseline] - 2 * own[compared, baseline])
        if not variance > NEGLIGIBLE:
            note = notes.ONE_CASE if isnan(variance) else notes.NO_VARIATION
            return no_interval(value, self.n_cases, note, level=level, method="or_frrc")
        return symmetric(value, variance, self.n_cases, level=level, method="or_frrc", null=0.0)

    def omnibus(self, mode: Mode = "or_rrrc") -> OmnibusTest:
        """Test of no difference between any of the arms: F = MS(T) / D, chi-square = (t-1) MS(T) / D."""
        df1 = float(self.n_arms - 1)
        error, df2, note = self._error(mode)
        if not error > NEGLIGIBLE:
            return OmnibusTest(nan, df1, nan, nan, mode, _why_not(error, mode, note))
        if mode == "or_frrc":
            chi2 = df1 * self.ms_arm / error
            return OmnibusTest(chi2, df1, inf, float(chdtrc(df1, chi2)), mode, note)
        f = self.ms_arm / error
        return OmnibusTest(f, df1, df2, f_tail(f, df1, df2), mode, note)

    def mean_covariance(
        self, compared: int = 1, baseline: int = 0, *, mode: Mode = "or_rrrc"
    ) -> NDArray[np.float64]:
        """Covariance of two arms' means, for functions of both such as an odds ratio.

        The diagonal holds the variances behind `arm_mean`, and the covariance is what makes the variance of
        the difference that of `difference`::

            Cov = (Var_compared + Var_baseline - Var_difference) / 2

        With two arms and nothing clipped this is, under random readers and cases, S / r + [[cov2_1, cov3],
        [cov3, cov2_0]] with S the covariance of the readers' two estimates over readers. NaN where a
        variance is not estimable.

        Returns
        -------
        float array, shape (2, 2)
            Compared arm first.
        """
        first = self._arm_error(compared, mode)[0] / self.n_readers
        second = self._arm_error(baseline, mode)[0] / self.n_readers
        between = (first + second - 2 * self._error(mode)[0] / self.n_readers) / 2
        return np.array([[first, between], [between, second]])

    def reference_df(self, mode: Mode = "or_rrrc") -> float:
        """Degrees of freedom of a difference: infinite for the normal, NaN without an interval."""
        error, df, _ = self._error(mode)
        return df if error > NEGLIGIBLE else nan

    def _error(self, mode: Mode) -> tuple[float, float, Note]:
        """D of a difference, its degrees of freedom, and what to say of it."""
        r, cell = self.n_readers, (self.n_arms - 1) * (self.n_readers - 1)
        if mode != "or_frrc" and r < 2:
            return nan, nan, notes.ONE_READER
        if mode == "or_rrfc":
            return self.ms_arm_reader, float(cell), NO_NOTE
        if self.n_cases < 2 or isnan(self.var):
            return nan, nan, notes.ONE_CASE
        if mode == "or_frrc":
            if r == 1:
                return self.var - self.cov1, inf, NO_NOTE
            excess = self.cov2 - self.cov3
            below = excess < -NEGLIGIBLE
            return self.var - self.cov1 + (r - 1) * excess, inf, notes.NOT_CLIPPED if below else NO_NOTE
        between, excess = self.ms_arm_reader, self.cov2 - self.cov3
        error = between + r * max(excess, 0.0)
        note = notes.CLIPPED if excess < -NEGLIGIBLE else NO_NOTE
        if between <= NEGLIGIBLE:
            return error, inf, NO_NOTE if error <= NEGLIGIBLE else note + notes.SAME_FOR_ALL
        return error, error**2 * cell / between**2, note

    def _arm_error(self, arm: int, mode: Mode) -> tuple[float, float, Note]:
        """D of one arm's mean, its degrees of freedom, and what to say of it."""
        r = self.n_readers
        if mode != "or_frrc" and r < 2:
            return nan, nan, notes.ONE_READER
        spread = float(np.var(self.theta[arm], ddof=1)) if r > 1 else nan
        if mode == "or_rrfc":
            return spread, r - 1.0, NO_NOTE
        if self.n_cases < 2 or isnan(self.var):
            return nan, nan, notes.ONE_CASE
        alike = float(self.other_reader[arm, arm]) if r > 1 else 0.0
        if mode == "or_frrc":
            return float(self.same_reader[arm, arm]) + (r - 1) * alike, inf, NO_NOTE
        error = spread + r * max(alike, 0.0)
        note = notes.CLIPPED_ARM if alike < -NEGLIGIBLE else NO_NOTE
        if spread <= NEGLIGIBLE:
            return error, inf, NO_NOTE if error <= NEGLIGIBLE else note + notes.SAME_FOR_ALL
        return error, error**2 * (r - 1) / spread**2, note

    def _fixed_reader_variance(self) -> float:
        return 2 * self._error("or_frrc")[0] / self.n_readers

    def _details(self) -> dict[str, float]:
        return {"n_readers": self.n_readers, "n_cases": self.n_cases}

    def _without(self, value: float, mode: Mode, level: float, note: Note) -> Estimate:
        return no_interval(value, self.n, note, level=level, method=mode, details=self._details())

    def _with(
        self,
        value: float,
        variance: float,
        df: float,
        mode: Mode,
        level: float,
        note: Note,
        null: float = nan,
    ) -> Estimate:
        return symmetric(
            value,
            variance,
            self.n,
            df=df,
            level=level,
            method=mode,
            note=note,
            null=null,
            details=self._details(),
        )


def obuchowski_rockette(
    theta: NDArray[np.float64], covariance: NDArray[np.float64], n_cases: int
) -> ObuchowskiRockette:
    """Fit from any endpoint: its estimates per arm and reader, and their covariance over cases.

    Parameters
    ----------
    theta : float array, shape (n_arms, n_readers)
        Endpoint of each reader in each arm; no NaN.
    covariance : float array, shape (n_arms * n_readers, n_arms * n_readers)
        Covariance over cases, readers of the first arm first.
    n_cases : int
        Cases that define the endpoint.
    """
    if np.isnan(theta).any():
        raise ValueError(
            "Obuchowski-Rockette needs an endpoint of every reader in every arm; "
            f"{int(np.isnan(theta).sum())} of {theta.size} are missing. Use the U-statistic."
        )
    arms, readers = theta.shape
    four = covariance.reshape(arms, readers, arms, readers)
    per_reader = np.einsum("ijkj->ikj", four)
    same = per_reader.mean(axis=2)
    if readers > 1:
        other = (four.sum(axis=(1, 3)) - per_reader.sum(axis=2)) / (readers * (readers - 1))
    else:
        other = np.full((arms, arms), np.nan)
    return ObuchowskiRockette(theta, n_cases, same, other, per_reader.copy())


def fit_proportions(outcome: NDArray[np.float64]) -> ObuchowskiRockette:
    """Fit of a proportion (accuracy, error rate; sensitivity or specificity over the cases of their class).

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        1.0 counted, 0.0 not. A NaN (missing reading) is refused: use the U-statistic.
    """
    missing = int(np.isnan(outcome).sum())
    if missing:
        raise ValueError(
            "Obuchowski-Rockette needs every reader to read every case in every arm; "
            f"{missing} of {outcome.size} readings are missing. Use the U-statistic."
        )
    return obuchowski_rockette(proportions(outcome), proportion_covariance(outcome), outcome.shape[-1])


def leading(random_readers: Estimate, fixed_readers: Estimate, n_readers: int) -> Estimate:
    """The primary interval: random readers and cases; under five readers the wider of both.

    A random-reader interval narrower than the one for these readers alone says that the readers are too few
    to judge their spread; under five readers it covers too rarely, the wider of both does not. Where
    readers in general cannot be judged at all (one reader, or none differs from another), the interval for
    these readers is primary, and says so.
    """
    if n_readers >= 5 and random_readers.low == random_readers.low:
        return random_readers
    wide, narrow = random_readers.high - random_readers.low, fixed_readers.high - fixed_readers.low
    if narrow != narrow or wide >= narrow:
        return random_readers
    added = notes.FIXED_LEADS if wide == wide else notes.ONLY_FIXED
    return replace(fixed_readers, note=fixed_readers.note + added)


def _off_diagonal(matrix: NDArray[np.float64]) -> float:
    arms = len(matrix)
    if arms < 2:
        return nan
    return float((matrix.sum() - np.trace(matrix)) / (arms * (arms - 1)))


def _why_not(variance: float, mode: Mode, note: Note) -> Note:
    """Why there are no limits, after what is said of the variance."""
    if isnan(variance):
        return note or notes.ONE_CASE
    if mode == "or_rrfc":
        return note + notes.NO_SPREAD
    return note + (notes.NEGATIVE_FIXED if variance < -NEGLIGIBLE else notes.NO_VARIATION)
