"""Readers and patients: means of readings where several cases belong to one patient, in any design."""

from dataclasses import dataclass, replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters, grouped
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import auc_ustatistic, won_by_case, won_within
from trustreport.measures.mrmc.interval import NEGLIGIBLE, no_interval, symmetric
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, leading, obuchowski_rockette
from trustreport.measures.mrmc.ustatistic import UStatistic, ustatistic
from trustreport.measures.note import NO_NOTE

RANDOM, FIXED = "or_rrrc_clustered", "or_frrc_clustered"


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredReaders:
    """Arm means that weigh every reading (of an area: every comparison) alike, cases sampled by cluster.

    With w the weights of the arms in a contrast, r readers, P clusters (patients), T_j what reader j has in
    the contrast less the mean, as a share of it, and u_jp what leaving out cluster p changes in it::

        readers  = r / (r - 1) x sum over j of T_j^2
        clusters = P / (P - 1) x sum over p of (sum over j of u_jp)^2
        own      = P / (P - 1) x sum over j and p of u_jp^2

        or_rrrc_clustered: V = readers + r / (r - 1) x max(clusters - own, 0),
                           t with V^2 (r - 1) / readers^2 df, at most P - 1
        or_frrc_clustered: V = clusters, t with P - 1 df (of these readers)

    Where every reader read every case this is Obuchowski-Rockette with clusters left out in turn in place of
    cases. Where readings are missing a reader weighs by his readings.

    References
    ----------
    Obuchowski (1997), Biometrics 53, 567-578 (areas in clusters). Rao, Scott (1992), Biometrics 48, 577-585.
    Obuchowski, Rockette (1995), Commun. Stat. Simul. Comput. 24, 285-308. Hillis (2014), Stat. Med. 33,
    330-360 (degrees of freedom).
    """

    means: NDArray[np.float64]
    by_reader: NDArray[np.float64]
    by_cluster: NDArray[np.float64]
    held: NDArray[np.bool_]
    n: NDArray[np.int64]

    def arm_mean(self, arm: int, *, level: float = 0.95) -> Estimate:
        """Mean of one arm; the wider interval of random and fixed readers under five readers."""
        return self._lead(self._unit(arm), level, nan)

    def difference(self, compared: int = 1, baseline: int = 0, *, level: float = 0.95) -> Estimate:
        """Difference of two arms, compared minus baseline."""
        return self.contrast(self._unit(compared) - self._unit(baseline), level=level)

    def contrast(self, weights: NDArray[np.float64], *, level: float = 0.95) -> Estimate:
        """Weighted sum of arm means, tested against 0; `weights` has shape (n_arms,)."""
        return self._lead(np.asarray(weights, np.float64), level, 0.0)

    def mean_covariance(self, compared: int, baseline: int, method: str) -> NDArray[np.float64]:
        """Covariance of two arms' means, compared first, by the variances of `arm_mean` and `difference`."""
        one, other = self._unit(compared), self._unit(baseline)
        first, second, change = (self._variance(w, method)[0] for w in (one, other, one - other))
        between = (first + second - change) / 2
        return np.array([[first, between], [between, second]])

    def reference_df(self, compared: int, baseline: int, method: str) -> float:
        """Degrees of freedom of a difference."""
        return self._variance(self._unit(compared) - self._unit(baseline), method)[1]

    def fit(self, n_cases: int) -> ObuchowskiRockette:
        """The Obuchowski-Rockette fit, its covariances those of clusters; every reader read every case.

        Parameters
        ----------
        n_cases : cases that define the endpoint
        """
        arms, readers, clusters = self.by_cluster.shape
        theta = self.means[:, None] + self.by_reader * readers
        left_out = self.by_cluster.reshape(arms * readers, clusters) * readers
        scale = clusters / (clusters - 1) if clusters > 1 else nan
        return obuchowski_rockette(theta, left_out @ left_out.T * scale, n_cases)

    def components(self, compared: int, baseline: int) -> dict[str, float]:
        """The parts of the variance of a difference by source."""
        return self.components_of(self._unit(compared) - self._unit(baseline))

    def components_of(self, weights: NDArray[np.float64]) -> dict[str, float]:
        """The same of a weighted sum of arm means."""
        readers, clusters, own, _, _ = self._parts(weights)
        return {"readers": readers, "clusters": clusters, "clusters_by_reader": own}

    def _unit(self, arm: int) -> NDArray[np.float64]:
        unit: NDArray[np.float64] = np.eye(len(self.means))[arm]
        return unit

    def _lead(self, weights: NDArray[np.float64], level: float, null: float) -> Estimate:
        random, fixed = (self._estimate(weights, method, level, null) for method in (RANDOM, FIXED))
        return leading(random, fixed, self._parts(weights)[3])

    def _estimate(self, weights: NDArray[np.float64], method: str, level: float, null: float) -> Estimate:
        arms = np.flatnonzero(weights)
        value, n = float(weights[arms] @ self.means[arms]), int(self.n[arms].min())
        if np.isnan(value):
            return no_interval(value, n, notes.NO_READING, level=level, method=method)
        *_, readers, clusters = self._parts(weights)
        details = {"n_readers": float(readers), "clusters": float(clusters)}
        variance, df = self._variance(weights, method)
        why = NO_NOTE
        if clusters < 2 or np.isnan(self.by_cluster[arms]).any():
            why = notes.ONE_CLUSTER
        elif np.isnan(variance):
            why = notes.ONE_READER
        elif variance <= NEGLIGIBLE:
            why = notes.NO_VARIATION
        if why:
            return no_interval(value, n, why, level=level, method=method, details=details)
        return symmetric(value, variance, n, df=df, level=level, method=method, null=null, details=details)

    def _variance(self, weights: NDArray[np.float64], method: str) -> tuple[float, float]:
        """Variance of a contrast and its degrees of freedom; NaN where it cannot be estimated."""
        readers, clusters, own, n_readers, n_clusters = self._parts(weights)
        most = n_clusters - 1.0
        if method.startswith(FIXED):
            return clusters, most
        if n_readers < 2:
            return nan, nan
        variance = readers + n_readers / (n_readers - 1) * max(clusters - own, 0.0)
        return variance, min(variance**2 * (n_readers - 1) / readers**2, most) if readers > 0 else most

    def _parts(self, weights: NDArray[np.float64]) -> tuple[float, float, float, int, int]:
        """Sums of squares of readers, clusters and both, then how many readers and clusters there are."""
        arms = np.flatnonzero(weights)
        held = np.logical_or.reduce(self.held[arms])
        readers, clusters = int(held.any(axis=1).sum()), int(held.any(axis=0).sum())
        added = np.tensordot(weights[arms], self.by_reader[arms], 1)
        left_out = np.tensordot(weights[arms], self.by_cluster[arms], 1)
        of_readers = float(added @ added) * readers / (readers - 1) if readers > 1 else nan
        scale = clusters / (clusters - 1) if clusters > 1 else nan
        together = left_out.sum(axis=0)
        return (
            of_readers,
            float(together @ together) * scale,
            float((left_out**2).sum()) * scale,
            readers,
            clusters,
        )


def independent_readings(outcome: NDArray[np.float64], cluster: Clusters) -> float:
    """How many readings count as independent at most: the readings over the design effect of the clusters.

    With V_c the variance over clusters and V_1 that over single cases, of each reader's mean, summed::

        n / max(1, V_c / V_1)

    Parameters
    ----------
    outcome : float array, shape (n_readers, n_cases)
        NaN where there is no reading.
    cluster : int array, shape (n_cases,)

    References
    ----------
    Rao, Scott (1992), Biometrics 48, 577-585 (design effect).
    """
    n = int(np.count_nonzero(~np.isnan(outcome)))
    of_clusters, of_cases = (
        clustered_means(outcome[None], one).components_of(np.ones(1))["clusters_by_reader"]
        for one in (cluster, np.arange(outcome.shape[1]))
    )
    return n / max(1.0, of_clusters / of_cases) if of_cases > NEGLIGIBLE else float(n)


def clustered_means(outcome: NDArray[np.float64], cluster: Clusters) -> ClusteredReaders:
    """Means of what was recorded with readings: a share of right decisions, seconds.

    Parameters
    ----------
    outcome : float array, shape (n_arms, n_readers, n_cases)
        NaN where there is no reading. Any pattern of gaps.
    cluster : int array, shape (n_cases,)
        Which cases belong together.
    """
    read = ~np.isnan(outcome)
    total = grouped(np.where(read, outcome, 0.0), cluster)
    made = grouped(read.astype(np.float64), cluster)
    return _of_ratios(total.sum(axis=2), made.sum(axis=2), total, made, made > 0, read.sum(axis=(1, 2)))


def means_of_patients(
    outcome: NDArray[np.float64], cluster: Clusters, *, gaps: bool
) -> ClusteredReaders | UStatistic:
    """Means by the method that leads: with readings missing the centred U-statistic, patients its cases.

    One reader, who gives it no spread between readers, has `clustered_means` all the same.
    """
    if gaps and (~np.isnan(outcome)).any(axis=(0, 2)).sum() > 1:
        return ustatistic(outcome, centred=True, cluster=cluster)
    return clustered_means(outcome, cluster)


def clustered_areas(
    rating: NDArray[np.float64], truth: NDArray[np.bool_], cluster: Clusters
) -> ClusteredReaders:
    """Areas under the readers' ROC curves; every comparison of a positive and a negative case weighs alike.

    Parameters
    ----------
    rating : float array, shape (n_arms, n_readers, n_cases)
        Higher = more suspicious; NaN no reading.
    cluster : int array, shape (n_cases,)
        A patient may have cases of both classes.
    """
    won, made = won_by_case(rating, truth)
    of_positive = np.where(truth, won, 0.0).sum(axis=2), np.where(truth, made, 0.0).sum(axis=2)
    within = won_within(rating, truth, cluster)
    left_out = [grouped(part, cluster) - both for part, both in zip((won, made), within)]
    read = ~np.isnan(rating)
    held = grouped(read.astype(np.float64), cluster) > 0
    return _of_ratios(*of_positive, left_out[0], left_out[1], held, read.sum(axis=(1, 2)))


def areas_of_patients(
    rating: NDArray[np.float64], truth: NDArray[np.bool_], cluster: Clusters, *, gaps: bool
) -> ClusteredReaders | UStatistic:
    """Areas by the method that leads, as `means_of_patients`."""
    if gaps and (~np.isnan(rating)).any(axis=(0, 2)).sum() > 1:
        return auc_ustatistic(rating, truth, centred=True, cluster=cluster)
    return clustered_areas(rating, truth, cluster)


@dataclass(frozen=True, eq=False)
class SumOfClasses:
    """Youden's index of readers, or another sum of two classes: a contrast of both classes of each arm."""

    classes: ClusteredReaders | UStatistic
    n_arms: int
    less: float = 1.0

    def arm_mean(self, arm: int, *, level: float = 0.95) -> Estimate:
        """J of one arm."""
        e = self.classes.contrast(self._weights(arm), level=level)
        return replace(e, value=e.value - self.less, low=e.low - self.less, high=e.high - self.less, p=nan)

    def difference(self, compared: int = 1, baseline: int = 0, *, level: float = 0.95) -> Estimate:
        """Difference of two arms, compared minus baseline."""
        return self.classes.contrast(self._weights(compared) - self._weights(baseline), level=level)

    def components(self, compared: int = 1, baseline: int = 0) -> dict[str, float]:
        """The parts of the variance of a difference by source."""
        return self.classes.components_of(self._weights(compared) - self._weights(baseline))

    def _weights(self, arm: int) -> NDArray[np.float64]:
        one: NDArray[np.float64] = np.eye(self.n_arms)[arm]
        return np.concatenate([one, one])


@dataclass(frozen=True, eq=False)
class ClusteredYouden(SumOfClasses):
    """The sum of two classes with cases sampled by cluster."""

    classes: ClusteredReaders

    def fit(self, n_cases: int) -> ObuchowskiRockette:
        """The Obuchowski-Rockette fit of J; every reader read every case."""
        n = self.n_arms
        both = [x[:n] + x[n:] for x in (self.classes.means, self.classes.by_reader, self.classes.by_cluster)]
        held = self.classes.held[:n] | self.classes.held[n:]
        joined = ClusteredReaders(both[0] - self.less, both[1], both[2], held, self.classes.n[:n])
        return joined.fit(n_cases)


def means_of_classes(
    correct: NDArray[np.float64], truth: NDArray[np.bool_], cluster: Clusters
) -> ClusteredReaders:
    """The means of the positive cases of every arm, then those of the negative ones, as arms of their own."""
    return clustered_means(np.concatenate([np.where(of, correct, nan) for of in (truth, ~truth)]), cluster)


def clustered_youden(
    correct: NDArray[np.float64], truth: NDArray[np.bool_], cluster: Clusters, less: float = 1.0
) -> ClusteredYouden:
    """Sensitivity + specificity - 1 of what readers got right, (n_arms, n_readers, n_cases).

    Each class is a sample of its own: its clusters P_c have the factor P_c / (P_c - 1), not that of all P.
    """
    classes = means_of_classes(correct, truth, cluster)
    held = classes.held.any(axis=1)
    every, own = np.count_nonzero(held.any(axis=0)), np.count_nonzero(held, axis=1)
    factor = np.sqrt(own / np.maximum(own - 1, 1) * (every - 1) / max(every, 1))
    classes = replace(classes, by_cluster=classes.by_cluster * factor[:, None, None])
    return ClusteredYouden(classes, len(correct), less)


def _of_ratios(
    total: NDArray[np.float64],
    made: NDArray[np.float64],
    total_out: NDArray[np.float64],
    made_out: NDArray[np.float64],
    held: NDArray[np.bool_],
    n: NDArray[np.int64],
) -> ClusteredReaders:
    """Ratios total / made of each arm and reader; the last axis of `..._out` is what goes with a cluster."""
    whole = made.sum(axis=1, keepdims=True)
    share = np.divide(made, whole, out=np.zeros(made.shape), where=whole > 0)
    ratio = np.divide(total, made, out=np.zeros(made.shape), where=made > 0)
    means = np.where(whole[:, 0] > 0, (share * ratio).sum(axis=1), nan)
    by_reader = share * (ratio - np.nan_to_num(means)[:, None])
    rest, left = total[..., None] - total_out, made[..., None] - made_out
    with np.errstate(invalid="ignore", divide="ignore"):
        without = np.where(held, np.where(left > 0.5, rest / left, nan), 0.0)
    number = held.sum(axis=2, keepdims=True)
    mean = without.sum(axis=2, keepdims=True) / np.maximum(number, 1)
    scale = (number - 1) / np.maximum(number, 1)
    by_cluster = np.where(held & (made > 0)[..., None], (mean - without) * scale * share[..., None], 0.0)
    return ClusteredReaders(means, by_reader, by_cluster, held, n)
