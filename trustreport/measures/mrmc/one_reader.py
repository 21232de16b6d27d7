"""One reader in several arms, and a fixed value against several readers: cases sampled."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from trustreport.measures.cluster import Clusters, together
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.means import case_share
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.crossed_clusters import clustered_areas, clustered_means, means_of_patients
from trustreport.measures.mrmc.each_reader import paired_table, reader_auc_estimate, reader_estimate
from trustreport.measures.mrmc.in_range import difference_in_range, reference_df
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, symmetric, two_sided_p
from trustreport.measures.mrmc.obuchowski_rockette import MODES, leading, obuchowski_rockette
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.mrmc.youden import sum_of
from trustreport.measures.notes import OFTEN_ABOVE
from trustreport.measures.paired.difference import (
    PairedTable,
    correlation_of_sums,
    newcombe_overlap,
    tango,
    tango_clustered,
)
from trustreport.measures.roc.auc import placements

METHOD, DELONG = "tango", "delong"


@dataclass(frozen=True, slots=True, eq=False)
class OneReader:
    """Shares of right decisions of a study with one reader; `outcome` (n_arms, 1, n_cases), NaN no reading.

    `cluster` (n_cases,) says which cases are of one patient, where several are.

    Obuchowski-Rockette of one reader is the interval of Wald, which covers too rarely; the score intervals do
    not.
    """

    outcome: NDArray[np.float64]
    cluster: Clusters | None = None

    def arm_mean(self, arm: int, *, level: float = 0.95) -> Estimate:
        """The share in one arm, by Wilson."""
        if self.cluster is not None:
            own = self.outcome[arm, 0]
            read = ~np.isnan(own)
            of = together(self.cluster, read)
            return _only(case_share(own[read] == 1, lacking=notes.NO_READING, cluster=of, level=level))
        e = reader_estimate(self.outcome, arm, 0, level=level)
        return _only(replace(e, details={"effective_n": float(e.n)})) if e.n else e

    def difference(self, compared: int, baseline: int, *, level: float = 0.95) -> Estimate:
        """The change between two arms: by Tango if all cases are pairs, else by `newcombe_overlap`.

        With b cases gained and c lost, p is that of the score test of no difference, (b - c) / sqrt(b + c),
        which Tango's interval inverts; 1 without a discordant pair. With several cases of a patient
        `tango_clustered`, and `clustered_means` of these cases where not all are pairs.
        """
        table = paired_table(self.outcome, 0, compared=compared, baseline=baseline)
        read = ~np.isnan(self.outcome[[compared, baseline], 0])
        counts = [
            (int(np.nansum(self.outcome[a, 0])), int(r.sum())) for a, r in zip((compared, baseline), read)
        ]
        if not min(n for _, n in counts):
            return undefined(0, notes.NO_READING, level=level, method=METHOD)
        either, pairs = (np.asarray(of(axis=0)) for of in (read.any, read.all))
        every_one_a_pair = pairs.sum() == counts[0][1] == counts[1][1]
        of = together(self.cluster, either)
        if of is not None and not every_one_a_pair:
            rated = self.outcome[:, :, either]
            return _only(clustered_means(rated, of).difference(compared, baseline, level=level))
        if of is not None:
            change = (self.outcome[compared, 0] - self.outcome[baseline, 0])[pairs]
            return _only(tango_clustered(change, of, level=level))
        if not every_one_a_pair:
            return _only(newcombe_overlap(counts[0], counts[1], table, level))
        return _only(_tested(tango(table, level), table))


@dataclass(frozen=True, slots=True, eq=False)
class OneReaderYouden:
    """Sensitivity + specificity - 1 of one reader, or another sum of both, by MOVER of the two classes."""

    sensitivity: OneReader
    specificity: OneReader
    weights: tuple[float, float] = (1.0, 1.0)
    less: float = 1.0

    def arm_mean(self, arm: int, *, level: float = 0.95) -> Estimate:
        """The sum in one arm."""
        both = [of.arm_mean(arm, level=level) for of in (self.sensitivity, self.specificity)]
        more: dict[str, Any] = {"weights": self.weights, "correlation": self._correlation({arm: 1.0})}
        return _only(sum_of(*both, less=self.less, **more))

    def difference(self, compared: int, baseline: int, *, level: float = 0.95) -> Estimate:
        """The change between two arms."""
        both = [of.difference(compared, baseline, level=level) for of in (self.sensitivity, self.specificity)]
        signs = {compared: 1.0, baseline: -1.0}
        return _only(sum_of(*both, weights=self.weights, correlation=self._correlation(signs)))

    def _correlation(self, signs: Mapping[int, float]) -> float:
        """Correlation over patients of the two classes' sums of arms; 0 without patients."""
        classes = (self.sensitivity, self.specificity)
        added, clusters = [], []
        for of in classes:
            if of.cluster is None:
                return 0.0
            total = np.zeros(of.outcome.shape[2])
            for arm, sign in signs.items():
                own = of.outcome[arm, 0]
                read = ~np.isnan(own)
                if read.any():
                    total[read] += sign * (own[read] - own[read].mean()) / read.sum()
            added.append(total)
            clusters.append(of.cluster)
        return correlation_of_sums(added[0], clusters[0], added[1], clusters[1])


@dataclass(frozen=True, slots=True, eq=False)
class OneReaderArea:
    """Areas under the curve of one reader; `rating` (n_arms, 1, n_cases), NaN no reading."""

    rating: NDArray[np.float64]
    truth: NDArray[np.bool_]
    cluster: Clusters | None = None

    def arm_mean(self, arm: int, *, level: float = 0.95) -> Estimate:
        """The area in one arm: that of one set of cases."""
        return _only(reader_auc_estimate(self.rating[arm, 0], self.truth, cluster=self.cluster, level=level))

    def difference(self, compared: int, baseline: int, *, level: float = 0.95) -> Estimate:
        """The change between two arms, over all cases read in either.

        With X of `delong` and A the area in one arm, X' and A' in the other, and n, n' the cases of a class
        in each; a case adds nothing in an arm in which it was not read::

            V = sum over classes of m / (m - 1) sum ((X - A) / n - (X' - A') / n')^2,  m the smaller of n, n'
            A - A' +- z sqrt(V)

        Where all cases were read in both arms this is `paired_difference`.
        """
        if self.cluster is not None:
            areas_of_patients = clustered_areas(self.rating, self.truth, self.cluster)
            return _only(areas_of_patients.difference(compared, baseline, level=level))
        rated = ~np.isnan(self.rating[[compared, baseline], 0])
        n = int(rated.sum(axis=1).min())
        sizes = [(int((of & self.truth).sum()), int((of & ~self.truth).sum())) for of in rated]
        if not n or not min(min(pair) for pair in sizes):
            why = notes.ONE_CLASS if n else notes.NO_READING
            return undefined(n, why, level=level, method=DELONG)
        areas, added = [], np.zeros(len(self.truth))
        for arm, of, sign in zip((compared, baseline), rated, (1, -1)):
            score, positive = self.rating[arm, 0, of], self.truth[of]
            of_positive, of_negative = placements(positive, score)
            area = float(of_positive.mean())
            parts = np.empty(len(score))
            parts[positive] = (of_positive - area) / len(of_positive)
            parts[~positive] = (of_negative - area) / len(of_negative)
            added[of] += sign * parts
            areas.append(area)
        value, fewest = areas[0] - areas[1], np.min(sizes, axis=0)
        if fewest.min() < 2:
            return no_interval(value, n, notes.ONE_CASE, level=level, method=DELONG)
        squares = [float((added[of] ** 2).sum()) for of in (self.truth, ~self.truth)]
        variance = sum(m / (m - 1) * square for m, square in zip(fewest.tolist(), squares))
        if not variance > NEGLIGIBLE:
            return no_interval(value, n, notes.NO_VARIATION, level=level, method=DELONG)
        return _only(symmetric(value, variance, n, df=inf, level=level, method=DELONG, null=0.0))


def _only(e: Estimate) -> Estimate:
    """The estimate with the note that it speaks of this reader, where it has an interval."""
    return e if np.isnan(e.low) else replace(e, note=notes.ONLY_FIXED)


def _tested(e: Estimate, table: PairedTable) -> Estimate:
    b, c = table.aided_right_unaided_wrong, table.aided_wrong_unaided_right
    p = float(2 * ndtr(-abs(b - c) / np.sqrt(b + c))) if b + c else 1.0
    return replace(e, p=p, details={"gained": float(b), "lost": float(c)})


FEW_CASES = 100


def fixed_against_readers(
    fixed: NDArray[np.float64],
    outcome: NDArray[np.float64],
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """What the fixed reader gets right more often than the readers do on average.

    With x_jk = outcome of the fixed reader less that of reader j in case k, d_j = mean of x_jk over cases,
    r readers, V the covariance of the d_j over cases, cov2 the mean of its off-diagonal elements::

        or_rrrc: D = MS(d) + r max(cov2, 0), t with D^2 (r-1) / MS(d)^2 df
        or_frrc: D = mean V_jj + (r-1) cov2, normal
        or_rrfc: D = MS(d),                  t with r-1 df
        interval: mean d +- quantile x sqrt(D / r)

    that is the Obuchowski-Rockette analysis of one arm, of differences. The fixed reader enters every
    difference, hence cov2, and needs no variance of its own. With readings missing ``ustatistic_centred``
    does the same (``ustatistic_bdg`` as it is published), with one reader ``tango`` of the cases that both
    judged.

    Estimand: P(fixed right) - P(reader right) over readers and cases in general, of this very fixed reader.

    Parameters
    ----------
    fixed : float array, shape (n_cases,)
        1.0 counted, 0.0 not, NaN nothing said: the case is left out.
    outcome : float array, shape (n_readers, n_cases)
        Of the readers, in one arm; NaN no reading.
    cluster : int array, shape (n_cases,), optional
        Which cases are of one patient; the primary interval is that of `means_of_patients` then.

    Returns
    -------
    dict of Estimate
        By method, the primary one first; those of Obuchowski-Rockette only where no reading of a case that
        counts is missing. In [-1, 1], positive: the fixed reader is more often right. `details` hold both
        shares; `p` tests 0.

    References
    ----------
    Chakraborty (2017), Observer Performance Methods for Diagnostic Imaging, chapter 22.
    Hillis (2014), Stat. Med. 33, 330-360 (one arm).

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> device = (rng.random(90) < 0.85).astype(float)
    >>> readers = (rng.random((6, 90)) < 0.75).astype(float)
    >>> print(fixed_against_readers(device, readers)["or_rrrc"])
    0.09 (95% CI 0.02 to 0.16; n = 540)
    """
    known = ~np.isnan(fixed)
    difference = fixed[known] - outcome[:, known]
    arm = difference[None]
    found: dict[str, Estimate] = {}
    if not np.isnan(arm).any():
        fit = obuchowski_rockette(proportions(arm), proportion_covariance(arm), arm.shape[-1])
        found = {mode: _against_none(fit.arm_mean(0, mode=mode, level=level)) for mode in MODES}
        lead = leading(found["or_rrrc"], found["or_frrc"], fit.n_readers)
    else:
        lead = _against_none(ustatistic(arm, centred=True).arm_mean(0, level=level))
        found = {lead.method: lead}
    found["ustatistic_bdg"] = _against_none(ustatistic(arm).arm_mean(0, level=level))
    read = ~np.isnan(difference)
    of = together(cluster, known)
    if of is not None:
        lead = means_of_patients(arm, of, gaps=bool(np.isnan(arm).any())).arm_mean(0, level=level)
        lead = _against_none(lead)
    elif len(outcome) == 1 and read.any():
        both = np.stack([np.where(read[0], fixed[known], np.nan)[None], outcome[:, known]])
        lead = OneReader(both).difference(0, 1, level=level)
    lead = difference_in_range(lead)
    if known.sum() <= FEW_CASES and len(outcome) > 1 and not isnan(lead.low):
        lead = replace(lead, note=lead.note + OFTEN_ABOVE)
    found = {lead.method: lead, **{name: e for name, e in found.items() if name != lead.method}}
    shares = {
        "fixed": float(np.where(read, fixed[known], 0.0).sum() / max(read.sum(), 1)),
        "readers": float(np.where(read, outcome[:, known], 0.0).sum() / max(read.sum(), 1)),
    }
    return {name: replace(e, details={**e.details, **shares}) for name, e in found.items()}


def _against_none(mean: Estimate) -> Estimate:
    """The mean difference with the p of its test against 0."""
    if not mean.se > 0:
        return mean
    return replace(mean, p=two_sided_p(mean.value / mean.se, reference_df(mean)))
