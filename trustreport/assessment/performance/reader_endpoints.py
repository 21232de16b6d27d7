"""Endpoints of readers: shares of right decisions, sums over both classes, areas under the curve."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.reader_analysis import (
    AIDED,
    FIRST_COVARIANCE,
    HIGH,
    UNAIDED,
    Analysis,
    ReaderEndpoint,
    noted_where_high,
)
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.auc import COVARIANCE_METHODS, auc_ustatistic, fit_auc, reader_auc
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.crossed_clusters import (
    ClusteredReaders,
    clustered_areas,
    clustered_means,
    clustered_youden,
    independent_readings,
    means_of_classes,
    means_of_patients,
)
from trustreport.measures.mrmc.each_reader import (
    reader_auc_benefit,
    reader_auc_estimate,
    reader_benefit,
    reader_changes,
    reader_estimate,
)
from trustreport.measures.mrmc.in_range import (
    NEAR_ONE,
    area_of_cases,
    by_score,
    change_of_areas,
    difference_in_range,
    on_logit,
)
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, fit_proportions
from trustreport.measures.mrmc.one_reader import OneReader, OneReaderArea, OneReaderYouden
from trustreport.measures.mrmc.period import (
    PeriodAdjusted,
    an_arm_each,
    can_adjust,
    needs_adjusting,
    period_adjusted,
)
from trustreport.measures.mrmc.same_pair import same_pair
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.mrmc.youden import (
    fit_youden,
    range_of_sum,
    sum_of,
    youden_in_range,
    youden_ustatistic,
)
from trustreport.measures.note import Note
from trustreport.measures.notes import OFTEN_ABOVE, OFTEN_BELOW, mirrored
from trustreport.measures.subgroups import effect_differences, leading_mode
from trustreport.study.study import Floats

# Up to so many cases, of the scarcer class, intervals of means near 1 covered too rarely when simulated.
FEW_CASES = 30
HIGH_INDEX = 0.85  # of Youden's index
NOT_MANY = 100  # cases


def analysis_of_shares(
    part: Floats, cluster: Clusters | None = None, later: Floats | None = None
) -> Analysis:
    """The analysis of a share of right decisions, (2, n_readers, n_cases); `later` as in `compared_later`."""
    cases, clustered = cases_read(part, cluster), _clustered(part, cluster)

    def in_range(e: Estimate, arm: int) -> Estimate:
        """A mean within 0 and 1, by a score interval."""
        most = None if cluster is None else independent_readings(part[arm], cluster)
        found = by_score(e, cases[arm], most=most)
        return noted_where_high(found, OFTEN_ABOVE, found) if several and min(cases) <= NOT_MANY else found

    several = part.shape[1] > 1
    few = several and min(cases) <= FEW_CASES

    def change_in_range(e: Estimate, mean: Callable[[int], Estimate]) -> Estimate:
        """A change within -1 and 1."""
        means = mean(AIDED), mean(UNAIDED)
        return difference_in_range(noted_where_high(e, OFTEN_BELOW, *means) if few else e)

    more: dict[str, Any] = {
        "change_in_range": change_in_range,
        "single": OneReader(part, cluster) if part.shape[1] == 1 else None,
        "clustered": clustered,
        "adjusted": _adjusted(clustered_means, part, cluster, later),
    }
    if np.isnan(part).any():
        centred = ustatistic(part, centred=True, cluster=cluster)
        return Analysis(ustatistic(part, cluster=cluster), in_range, centred=centred, **more)
    fit = clustered.fit(part.shape[-1]) if clustered else fit_proportions(part)
    return Analysis(ustatistic(part, cluster=cluster), in_range, {FIRST_COVARIANCE: fit}, **more)


def _clustered(part: Floats, cluster: Clusters | None) -> ClusteredReaders | None:
    """Where no U-statistic of patients leads: every reading is there, or there is one reader."""
    if cluster is None or (np.isnan(part).any() and part.shape[1] > 1):
        return None
    return clustered_means(part, cluster)


def _adjusted(
    each: Callable[[Floats, Clusters], ClusteredReaders],
    part: Floats,
    cluster: Clusters | None,
    later: Floats | None,
) -> PeriodAdjusted | None:
    """The change adjusted for the period, where it should and can be; `each` is the analysis of readers."""
    if later is None or not (can_adjust(later) and needs_adjusting(later)):
        return None
    of = np.arange(part.shape[-1]) if cluster is None else cluster
    return period_adjusted(each(an_arm_each(part), of), later, clustered=cluster is not None)


def analysis_of_means(part: Floats, cluster: Clusters | None = None, later: Floats | None = None) -> Analysis:
    """The analysis of a mean of what was recorded with each reading, (2, n_readers, n_cases): seconds."""

    def as_it_is(e: Estimate, *_: Any) -> Estimate:
        """The estimate itself: what was recorded has no end of its range."""
        return e

    unbiased, clustered = ustatistic(part, cluster=cluster), _clustered(part, cluster)
    more: dict[str, Any] = {
        "change_in_range": as_it_is,
        "clustered": clustered,
        "adjusted": _adjusted(clustered_means, part, cluster, later),
    }
    if np.isnan(part).any():
        return Analysis(unbiased, as_it_is, centred=ustatistic(part, centred=True, cluster=cluster), **more)
    fit = clustered.fit(part.shape[-1]) if clustered else fit_proportions(part)
    return Analysis(unbiased, as_it_is, {FIRST_COVARIANCE: fit}, **more)


def proportion(
    name: str,
    correct: Floats,
    level: float,
    cluster: Clusters | None = None,
    later: Floats | None = None,
) -> ReaderEndpoint:
    """A share of right decisions; `correct` (2, n_readers, n_cases) over the cases that count."""
    readers = range(correct.shape[1])

    def analyse(part: Floats, later: Floats | None = None) -> Analysis:
        """The analysis of the proportion over the readers given."""
        return analysis_of_shares(part, cluster, later)

    def estimates_of(arm: int) -> tuple[Estimate, ...]:
        if cluster is not None:
            return tuple(analyse(correct[:, [j]]).lead_mean(arm, level) for j in readers)
        return tuple(reader_estimate(correct, arm, j, level=level) for j in readers)

    def benefit(j: int) -> Estimate:
        """The change of one reader."""
        if cluster is not None:
            return analyse(_in_both(correct[:, [j]])).lead_difference(level)
        return reader_benefit(correct, j, compared=AIDED, baseline=UNAIDED, level=level)

    return ReaderEndpoint(
        name,
        correct,
        analyse,
        (estimates_of(AIDED), estimates_of(UNAIDED)),
        tuple(benefit(j) for j in readers),
        reader_changes(correct, compared=AIDED, baseline=UNAIDED),
        cluster,
        later,
    )


def _in_both(outcome: Floats) -> Floats:
    """The readings of cases that were read in both arms, NaN elsewhere."""
    return np.where(np.isnan(outcome).any(axis=0), np.nan, outcome)


def youden(
    correct: Floats,
    truth: NDArray[np.bool_],
    sensitivity: ReaderEndpoint,
    specificity: ReaderEndpoint,
    cluster: Clusters | None = None,
    name: str = "youden_j",
    weights: tuple[float, float] = (1.0, 1.0),
    less: float = 1.0,
) -> ReaderEndpoint:
    """Sensitivity + specificity - 1; `correct` (2, n_readers, n_cases) over the cases of both classes.

    With other `weights` of the classes, and nothing taken off (`less`), accuracy at a prevalence.
    """
    weigh = np.where(truth, *weights)
    low, high = range_of_sum(weights, less)
    near_best = HIGH_INDEX if high - low > 1 else HIGH

    def noted(e: Estimate, note: Note, *means: Estimate) -> Estimate:
        """What simulations show where a mean is near its best: the greatest, or of errors the least."""
        if sum(weights) < 0:
            means, note = tuple(replace(m, value=low + high - m.value) for m in means), mirrored(note)
        return noted_where_high(e, note, *means, from_=near_best)

    def each(part: Floats, cluster: Clusters) -> ClusteredReaders:
        """The clusters of both classes."""
        return means_of_classes(part, truth, cluster)

    def analyse(right: Floats, later: Floats | None = None) -> Analysis:
        """The analysis of Youden's J over the readers given."""
        part = right * weigh
        classes = [right[:, :, cases] for cases in (truth, ~truth)]
        clusters = [together(cluster, cases) for cases in (truth, ~truth)]

        def in_range(e: Estimate, arm: int) -> Estimate:
            """Youden's J within its range, from the intervals of both classes."""
            read = [cases_read(of_class, own)[arm] for of_class, own in zip(classes, clusters)]
            own = [of_class[arm] for of_class in classes]
            found = youden_in_range(e, own, read, clusters, weights, less)
            return noted(found, OFTEN_ABOVE, found) if few else found

        fewest = min(n for of_class, own in zip(classes, clusters) for n in cases_read(of_class, own))
        few = right.shape[1] > 1 and fewest <= FEW_CASES

        def change_in_range(e: Estimate, mean: Callable[[int], Estimate]) -> Estimate:
            """A change of Youden's J within its range."""
            said = noted(e, OFTEN_BELOW, mean(AIDED), mean(UNAIDED)) if few else e
            return difference_in_range(said, high - low)

        one, other = (OneReader(of_class, own) for of_class, own in zip(classes, clusters))
        alone = part.shape[1] == 1
        gaps, clustered = bool(np.isnan(part).any()), None
        if cluster is not None and not (gaps and part.shape[1] > 1):
            clustered = clustered_youden(part, truth, cluster, less)
        more: dict[str, Any] = {
            "single": OneReaderYouden(one, other, weights, less) if alone else None,
            "clustered": clustered,
            "change_in_range": change_in_range,
            "adjusted": _adjusted(each, part, cluster, later),
        }
        whole = youden_ustatistic(part, truth, cluster=cluster, less=less)
        if gaps:
            centred = youden_ustatistic(part, truth, centred=True, cluster=cluster, less=less)
            return Analysis(whole, in_range, centred=centred, **more)
        fit = clustered.fit(part.shape[-1]) if clustered else fit_youden(part, truth, less)
        return Analysis(whole, in_range, {FIRST_COVARIANCE: fit}, **more)

    def estimates_of(arm: int) -> tuple[Estimate, ...]:
        if cluster is not None:
            return tuple(analyse(correct[:, [j]]).lead_mean(arm, level) for j in range(correct.shape[1]))
        pairs = zip(sensitivity.by_reader[arm], specificity.by_reader[arm], strict=True)
        return tuple(sum_of(one, other, less=less, weights=weights) for one, other in pairs)

    def benefits() -> tuple[Estimate, ...]:
        """The change of each reader."""
        if cluster is None:
            both = zip(sensitivity.benefits, specificity.benefits, strict=True)
            return tuple(sum_of(one, other, weights=weights) for one, other in both)
        pairs = (_in_both(correct[:, [j]]) for j in range(correct.shape[1]))
        return tuple(analyse(own).lead_difference(level) for own in pairs)

    level = sensitivity.benefits[0].level
    return ReaderEndpoint(
        name,
        correct,
        analyse,
        (estimates_of(AIDED), estimates_of(UNAIDED)),
        benefits(),
        weights[0] * sensitivity.changes + weights[1] * specificity.changes,
        cluster,
        sensitivity.later,
    )


def auc(
    rating: Floats,
    truth: NDArray[np.bool_],
    level: float,
    cluster: Clusters | None = None,
    later: Floats | None = None,
) -> ReaderEndpoint:
    """The area under each reader's curve; `rating` (2, n_readers, n_cases)."""
    readers = range(rating.shape[1])
    areas = reader_auc(rating, truth)

    def each(part: Floats, cluster: Clusters) -> ClusteredReaders:
        """The clusters of the areas."""
        return clustered_areas(part, truth, cluster)

    def analyse(part: Floats, later: Floats | None = None) -> Analysis:
        """The analysis of the areas over the readers given."""
        positives, negatives = (
            cases_read(part[:, :, cases], together(cluster, cases)) for cases in (truth, ~truth)
        )
        few = part.shape[1] > 1 and min(*positives, *negatives) <= FEW_CASES

        def in_range(e: Estimate, arm: int) -> Estimate:
            """An area within 0 and 1."""
            found = area_of_cases(on_logit(e), positives[arm], negatives[arm])
            return noted_where_high(found, OFTEN_ABOVE, found) if few else found

        def change_in_range(e: Estimate, mean: Callable[[int], Estimate]) -> Estimate:
            """A change of an area within -1 and 1."""
            means = mean(AIDED), mean(UNAIDED)
            said = noted_where_high(e, OFTEN_BELOW, *means, from_=NEAR_ONE) if few else e
            return difference_in_range(change_of_areas(said, *means))

        alone, gaps = part.shape[1] == 1, bool(np.isnan(part).any())
        clustered = None
        if cluster is not None and not (gaps and not alone):
            clustered = clustered_areas(part, truth, cluster)
        more: dict[str, Any] = {
            "change_in_range": change_in_range,
            "single": OneReaderArea(part, truth, cluster) if alone else None,
            "clustered": clustered,
            "adjusted": _adjusted(each, part, cluster, later),
        }
        alike = same_pair(part, truth) if cluster is None else None
        whole = auc_ustatistic(part, truth, alike=alike, cluster=cluster)
        if gaps:
            centred = auc_ustatistic(part, truth, alike=alike, centred=True, cluster=cluster)
            return Analysis(whole, in_range, centred=centred, **more)
        if clustered is not None:
            return Analysis(whole, in_range, {FIRST_COVARIANCE: clustered.fit(len(truth))}, **more)
        fits: dict[str, ObuchowskiRockette] = {
            m: fit_auc(part, truth, m, alike=alike) for m in COVARIANCE_METHODS
        }
        return Analysis(whole, in_range, fits, **more)

    def estimates_of(arm: int) -> tuple[Estimate, ...]:
        if cluster is not None:
            return tuple(analyse(rating[:, [j]]).lead_mean(arm, level) for j in readers)
        return tuple(reader_auc_estimate(rating[arm, j], truth, level=level) for j in readers)

    def benefit(j: int) -> Estimate:
        """The change of one reader's area."""
        if cluster is not None:
            return analyse(_in_both(rating[:, [j]])).lead_difference(level)
        own = reader_auc_benefit(rating[AIDED, j], rating[UNAIDED, j], truth, level=level)
        return difference_in_range(own)

    return ReaderEndpoint(
        "auc",
        rating,
        analyse,
        (estimates_of(AIDED), estimates_of(UNAIDED)),
        tuple(benefit(j) for j in readers),
        areas[AIDED] - areas[UNAIDED],
        cluster,
        later,
    )


def cases_read(part: Floats, cluster: Clusters | None = None) -> list[int]:
    """How many of these cases anybody read, by arm; of how many patients where several are of one."""
    read = [~np.isnan(arm).all(axis=0) for arm in part]
    return [int(np.count_nonzero(of)) if cluster is None else len(np.unique(cluster[of])) for of in read]


# Change in the first group less change in the second, as arms: compared and baseline of either group.
INTERACTION = np.array([1.0, -1.0, -1.0, 1.0])


def difference_of_changes(own: Floats, rest: Floats, cluster: Clusters | None, level: float) -> Estimate:
    """How much more a mean changes with the aid in one group of cases than in another.

    Both arms of either group are four arms, empty on the cases of the other group; without gaps and clusters
    the analysis is that of Obuchowski and Rockette (`effect_differences`).

    Parameters
    ----------
    own, rest : float array, shape (2, n_readers, n_cases of the group)
        The compared arm, then the baseline; NaN where a reading is missing.
    cluster : int array, shape (n_cases of both groups,), optional
        Of the cases of the first group, then of the second.
    """
    gaps = bool(np.isnan(own).any() or np.isnan(rest).any())
    if cluster is None and not gaps:
        found = effect_differences(
            (proportions(own), proportions(rest)),
            (proportion_covariance(own), proportion_covariance(rest)),
            (own.shape[2], rest.shape[2]),
            level=level,
        )
        return found[leading_mode(found, own.shape[1])]
    outcome = of_two_groups(own, rest)
    if cluster is None:
        return ustatistic(outcome, centred=True).contrast(INTERACTION, level=level)
    return means_of_patients(outcome, cluster, gaps=gaps).contrast(INTERACTION, level=level)


def of_two_groups(own: Floats, rest: Floats) -> Floats:
    """Two arms of either group as four arms (4, n_readers, n_cases of both), empty in the other group."""
    n = own.shape[2]
    outcome = np.full((4, own.shape[1], n + rest.shape[2]), np.nan)
    outcome[:2, :, :n] = own
    outcome[2:, :, n:] = rest
    return outcome
