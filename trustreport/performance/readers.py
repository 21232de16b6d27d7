"""How readers perform in two arms: each endpoint, of each reader and over readers, analysed once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isnan
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trustreport.clusters import clustering
from trustreport.estimate import Estimate
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.confusion.measure import CaseShare, OfClasses
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import COVARIANCE_METHODS, auc_ustatistic, fit_auc, reader_auc, same_pair
from trustreport.measures.mrmc.crossed_clusters import (
    ClusteredReaders,
    ClusteredYouden,
    clustered_areas,
    clustered_means,
    clustered_youden,
    independent_readings,
    means_of_classes,
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
from trustreport.measures.mrmc.obuchowski_rockette import MODES, ObuchowskiRockette, fit_proportions, leading
from trustreport.measures.mrmc.one_reader import OneReader, OneReaderArea, OneReaderYouden
from trustreport.measures.mrmc.period import (
    PeriodAdjusted,
    an_arm_each,
    can_adjust,
    needs_adjusting,
    period_adjusted,
)
from trustreport.measures.mrmc.ustatistic import METHOD, UStatistic, ustatistic
from trustreport.measures.mrmc.youden import (
    YoudenUStatistic,
    fit_youden,
    sum_of,
    youden_in_range,
    youden_ustatistic,
)
from trustreport.measures.notes import OFTEN_ABOVE, OFTEN_BELOW
from trustreport.performance.keys import case_key
from trustreport.performance.period import compared_later
from trustreport.place import Place, of_task
from trustreport.plan import Endpoint as Criterion
from trustreport.plan import Plan
from trustreport.study import Floats, Readings, Study

# Arrays of two arms hold the compared arm first, then its baseline.
AIDED, UNAIDED = 0, 1
# The covariance of the primary analysis where there are several.
FIRST_COVARIANCE = "jackknife"
# Up to so many cases, of the scarcer class, intervals of means near 1 covered too rarely when simulated.
FEW_CASES = 30
HIGH, HIGH_INDEX = 0.9, 0.85  # of a share or an area, and of Youden's index
NOT_MANY = 100  # cases


ChangeInRange = Callable[[Estimate, Callable[[int], Estimate]], Estimate]


class Single(Protocol):
    """The estimates of a reader who is the only one."""

    def arm_mean(self, arm: int, *, level: float) -> Estimate: ...

    def difference(self, compared: int, baseline: int, *, level: float) -> Estimate: ...


@dataclass(frozen=True, eq=False)
class Analysis:
    """The readers of a study, or some of them, analysed together.

    `fits` holds an Obuchowski-Rockette fit per covariance where every reader read every case in both arms,
    and is empty elsewhere; `unbiased` serves any design. `centred` is the U-statistic about the arm means,
    where readings are missing: it does not depend on whether right or wrong decisions are counted. `single`
    is there where one reader has a method of the own, `clustered` where several cases are of one patient; it
    then leads, since all others take cases as independent. `mean_in_range` and `change_in_range` give the
    primary estimates their limits; the latter may ask for the mean of an arm. `adjusted` is there where more
    readers read in one order of the arms than in the other: the change adjusted for the period then leads.

    The primary estimates have the standard error and the degrees of freedom of one of these, and limits
    within the range: `mean_in_range` gives those of an arm, and a difference reaches `greatest` at most.
    """

    unbiased: UStatistic | YoudenUStatistic
    mean_in_range: Callable[[Estimate, int], Estimate]
    fits: Mapping[str, ObuchowskiRockette] = field(default_factory=dict)
    centred: UStatistic | YoudenUStatistic | None = None
    single: Single | None = None
    clustered: ClusteredReaders | ClusteredYouden | None = None
    change_in_range: ChangeInRange = lambda e, mean: difference_in_range(e)
    adjusted: PeriodAdjusted | None = None

    def arm_means(self, arm: int, level: float) -> dict[str, Estimate]:
        """The mean of an arm by analysis, the primary one first."""
        found = {
            f"{mode}_{covariance}": fit.arm_mean(arm, mode=mode, level=level)
            for covariance, fit in self.fits.items()
            for mode in MODES
        }
        for u in self._ustatistics():
            e = u.arm_mean(arm, level=level)
            found[e.method] = e
        if self.single:
            return _first(self.single.arm_mean(arm, level=level), found)
        lead = self.clustered.arm_mean(arm, level=level) if self.clustered else self._lead(found)
        return _first(self.mean_in_range(lead, arm), found)

    def differences(self, level: float) -> dict[str, Estimate]:
        """Aided minus unaided by analysis, the primary one first."""
        found = {
            f"{mode}_{covariance}": fit.difference(AIDED, UNAIDED, mode=mode, level=level)
            for covariance, fit in self.fits.items()
            for mode in MODES
        }
        for u in self._ustatistics():
            e = u.difference(AIDED, UNAIDED, level=level)
            found[e.method] = e
        own = self.single or self.clustered
        lead = own.difference(AIDED, UNAIDED, level=level) if own else self._lead(found)
        plain = _first(self.change_in_range(lead, lambda arm: self.lead_mean(arm, level)), found)
        if self.adjusted is None:
            return plain
        over_periods, made = (
            partial(self.adjusted.arm_mean, level=level),
            self.adjusted.difference(level=level),
        )
        return _first(self.change_in_range(made, over_periods), plain)

    def first(self, by_analysis: Mapping[str, Estimate]) -> str:
        """The primary analysis, by design; under five readers the wider of random and fixed readers."""
        return next(iter(by_analysis))

    def lead_difference(self, level: float) -> Estimate:
        """The primary estimate of aided minus unaided."""
        return next(iter(self.differences(level).values()))

    def lead_mean(self, arm: int, level: float) -> Estimate:
        """The primary estimate of the mean of an arm."""
        return next(iter(self.arm_means(arm, level).values()))

    def _ustatistics(self) -> Iterator[UStatistic | YoudenUStatistic]:
        yield self.unbiased
        if self.centred:
            yield self.centred

    def _lead(self, found: Mapping[str, Estimate]) -> Estimate:
        """The estimate that the primary one has its standard error from."""
        if not self.fits:
            return next((e for name, e in found.items() if name != METHOD), found[METHOD])
        random, fixed = (found[f"{mode}_{FIRST_COVARIANCE}"] for mode in ("or_rrrc", "or_frrc"))
        return leading(random, fixed, self.fits[FIRST_COVARIANCE].n_readers)


def _often(e: Estimate, note: str, *means: Estimate, from_: float = HIGH) -> Estimate:
    """The interval with what simulations show of it where one of the means is high."""
    high = any(mean.value >= from_ and mean.se > 0 for mean in means)
    return replace(e, note=notes.join(e.note, note)) if high and not isnan(e.low) else e


def _first(primary: Estimate, found: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The analyses with the primary one before the others."""
    name = f"{primary.method}_{FIRST_COVARIANCE}" if primary.method.startswith("or_") else primary.method
    return {name: primary, **{other: e for other, e in found.items() if other != name}}


@dataclass(frozen=True, eq=False)
class ReaderEndpoint:
    """One endpoint of the readers.

    `outcome` (2, n_readers, n_cases) is what `analyse` takes, aided arm first. `by_reader` holds the readers'
    own estimates in both arms, `benefits` and `changes` (n_readers,) what changed for each. `cluster`
    (n_cases,) says which cases are of one patient, None where each is of another. `later` (n_readers,) says
    in which order they read the arms (`compared_later`), and is an argument of `analyse` too.
    """

    name: str
    outcome: Floats
    analyse: Callable[..., Analysis]
    by_reader: tuple[tuple[Estimate, ...], tuple[Estimate, ...]]
    benefits: tuple[Estimate, ...]
    changes: NDArray[np.float64]
    cluster: Clusters | None = None
    later: Floats | None = None

    @cached_property
    def whole(self) -> Analysis:
        """The analysis of all readers."""
        return self.analyse(self.outcome, self.later)

    def of_readers(self, readers: NDArray[np.int64]) -> Analysis:
        """The analysis of some of them."""
        return self.analyse(self.outcome[:, readers], None if self.later is None else self.later[readers])


def every_endpoint(readings: Readings, arms: tuple[str, str], level: float) -> list[ReaderEndpoint]:
    """`endpoints`, then sums over both classes (Youden's index), then those that the manifest declares."""
    found = [*endpoints(readings, arms, level)]
    both = _of_both_classes(readings, arms, level)
    for name, measure in MEASURES.items():
        if measure.of_readers and isinstance(measure.interval, OfClasses) and both is not None:
            found.append(youden(*both, name, measure.interval.weights, -measure.interval.constant))
    later = compared_later(readings, arms)
    for name, values in readings.endpoints.items():
        outcome = readings.grid(values, arms)
        of = np.asarray(~np.isnan(outcome).all(axis=(0, 1)))
        if not np.isnan(outcome[:, :, of]).all(axis=(1, 2)).any():
            found.append(proportion(name, outcome[:, :, of], level, patients_of(readings, of), later))
    return found


def at_prevalence(
    readings: Readings, arms: tuple[str, str], level: float, prevalence: float
) -> ReaderEndpoint | None:
    """Accuracy at a prevalence p, p x sensitivity + (1 - p) x specificity; None without one class."""
    at = ("at prevalence", arms, level, prevalence)
    if at not in readings.memo:
        both = _of_both_classes(readings, arms, level)
        weights = prevalence, 1 - prevalence
        made = None if both is None else youden(*both, name="accuracy", weights=weights, less=0.0)
        readings.memo[at] = made
    return readings.memo[at]


def _of_both_classes(
    readings: Readings, arms: tuple[str, str], level: float
) -> tuple[Floats, NDArray[np.bool_], ReaderEndpoint, ReaderEndpoint, Clusters | None] | None:
    """What `youden` is made of; None where the readings lack a class."""
    classes = [endpoint(readings, arms, level, name) for name in ("sensitivity", "specificity")]
    one, other = classes
    if one is None or other is None:
        return None
    truth = readings.cases.truth
    known = truth >= 0
    correct = correct_decisions(readings, arms)[:, :, known]
    return correct, truth[known] == 1, one, other, patients_of(readings, known)


def endpoints(readings: Readings, arms: tuple[str, str], level: float) -> tuple[ReaderEndpoint, ...]:
    """Shares of right decisions, in all cases and in each class, and the area under the curve of the scores.

    Made once for the readings, and analysed once.
    """
    at = ("endpoints", arms, level)
    if at not in readings.memo:
        readings.memo[at] = tuple(_endpoints(readings, arms, level))
    return readings.memo[at]


def endpoint(readings: Readings, arms: tuple[str, str], level: float, name: str) -> ReaderEndpoint | None:
    """One of these endpoints; None where the readings do not hold it."""
    return next((one for one in endpoints(readings, arms, level) if one.name == name), None)


def _endpoints(readings: Readings, arms: tuple[str, str], level: float) -> list[ReaderEndpoint]:
    truth, later = readings.cases.truth, compared_later(readings, arms)
    found: list[ReaderEndpoint] = []
    if readings.decision is not None:
        correct = correct_decisions(readings, arms)
        for name, measure in MEASURES.items():
            if measure.of_readers and isinstance(measure.interval, CaseShare):
                in_class = truth == int(measure.needs == ("positives",))
                of = np.asarray(in_class if measure.needs else truth >= 0)
                if of.any():
                    found.append(proportion(name, correct[:, :, of], level, patients_of(readings, of), later))
    if readings.score is not None and (truth == 1).any() and (truth == 0).any():
        known = truth >= 0
        rating = readings.grid(readings.score, arms)[:, :, known]
        if not np.isnan(rating).all(axis=(1, 2)).any():
            found.append(auc(rating, truth[known] == 1, level, patients_of(readings, known), later))
    return found


def patients_of(readings: Readings, of: NDArray[np.bool_] | None = None) -> Clusters | None:
    """Which cases are of one patient, of those in a mask (n_cases,); None where each is of another."""
    found = clustering(readings.cases).of_case
    return found if of is None else together(found, of)


def primary_first(
    found: Sequence[ReaderEndpoint], readings: Readings, arms: tuple[str, str], plan: Plan
) -> list[ReaderEndpoint]:
    """The endpoints with the primary one first, the others in their order.

    Primary are those that the manifest declares (`endpoints`, of the role primary), in its order. Without
    one it is the area under the curve where the readers gave scores and its change can be estimated:
    decisions cut from scores keep one threshold of them (`reading: positive_from`). Else it is accuracy.
    """
    by_name = {one.name: one for one in found}
    names = [name for c in plan.endpoints if (name := _declared_primary(c, readings, arms)) in by_name]
    area = by_name.get("auc")
    if not names and area and not isnan(area.whole.lead_difference(plan.report.confidence_level).value):
        names = ["auc"]
    return [by_name[name] for name in dict.fromkeys([*names, *by_name])]


def _declared_primary(criterion: Criterion, readings: Readings, arms: tuple[str, str]) -> str:
    """The endpoint of these readers that a criterion declares primary; empty where it names none."""
    dimension = (criterion.measure or "").partition(".")[0]
    contrast = criterion.arm_or_contrast
    elsewhere = criterion.task not in (None, readings.task) or criterion.subgroup is not None
    if criterion.role != "primary" or elsewhere or (isinstance(contrast, tuple) and contrast != arms):
        return ""
    if dimension == "pragmatic_utility" and criterion.set is None:
        return "accuracy"  # an error is a decision unlike the truth
    return criterion.of or "" if dimension == "decision_benefit" else ""


def correct_decisions(readings: Readings, arms: Sequence[str]) -> Floats:
    """1.0 where the decision is the truth, 0.0 where it is not, NaN where there is none of either."""
    truth = readings.truth
    assert readings.decision is not None
    judged = (readings.decision >= 0) & (truth >= 0)
    return readings.grid(np.where(judged, (readings.decision == truth).astype(float), np.nan), arms)


def analysis_of_shares(
    part: Floats, cluster: Clusters | None = None, later: Floats | None = None
) -> Analysis:
    """The analysis of a share of right decisions, (2, n_readers, n_cases); `later` as in `compared_later`."""
    cases, clustered = cases_read(part, cluster), _clustered(part, cluster)

    def in_range(e: Estimate, arm: int) -> Estimate:
        most = None if cluster is None else independent_readings(part[arm], cluster)
        found = by_score(e, cases[arm], most=most)
        return _often(found, OFTEN_ABOVE, found) if several and min(cases) <= NOT_MANY else found

    several = part.shape[1] > 1
    few = several and min(cases) <= FEW_CASES

    def change_in_range(e: Estimate, mean: Callable[[int], Estimate]) -> Estimate:
        means = mean(AIDED), mean(UNAIDED)
        return difference_in_range(_often(e, OFTEN_BELOW, *means) if few else e)

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
        return analysis_of_shares(part, cluster, later)

    def of(arm: int) -> tuple[Estimate, ...]:
        if cluster is not None:
            return tuple(analyse(correct[:, [j]]).lead_mean(arm, level) for j in readers)
        return tuple(reader_estimate(correct, arm, j, level=level) for j in readers)

    def benefit(j: int) -> Estimate:
        if cluster is not None:
            return analyse(_in_both(correct[:, [j]])).lead_difference(level)
        return reader_benefit(correct, j, compared=AIDED, baseline=UNAIDED, level=level)

    return ReaderEndpoint(
        name,
        correct,
        analyse,
        (of(AIDED), of(UNAIDED)),
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
    weigh, high = np.where(truth, *weights), HIGH_INDEX if less else HIGH

    def each(part: Floats, cluster: Clusters) -> ClusteredReaders:
        return means_of_classes(part, truth, cluster)

    def analyse(right: Floats, later: Floats | None = None) -> Analysis:
        part = right * weigh
        classes = [right[:, :, of] for of in (truth, ~truth)]
        clusters = [together(cluster, of) for of in (truth, ~truth)]

        def in_range(e: Estimate, arm: int) -> Estimate:
            read = [cases_read(of, own)[arm] for of, own in zip(classes, clusters)]
            own = [of[arm] for of in classes]
            found = youden_in_range(e, own, read, clusters, weights, less)
            return _often(found, OFTEN_ABOVE, found, from_=high) if few else found

        fewest = min(n for of, own in zip(classes, clusters) for n in cases_read(of, own))
        few = right.shape[1] > 1 and fewest <= FEW_CASES

        def change_in_range(e: Estimate, mean: Callable[[int], Estimate]) -> Estimate:
            said = _often(e, OFTEN_BELOW, mean(AIDED), mean(UNAIDED), from_=high) if few else e
            return difference_in_range(said, sum(weights))

        one, other = (OneReader(of, own) for of, own in zip(classes, clusters))
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

    def of(arm: int) -> tuple[Estimate, ...]:
        if cluster is not None:
            return tuple(analyse(correct[:, [j]]).lead_mean(arm, level) for j in range(correct.shape[1]))
        pairs = zip(sensitivity.by_reader[arm], specificity.by_reader[arm], strict=True)
        return tuple(sum_of(one, other, less=less, weights=weights) for one, other in pairs)

    def benefits() -> tuple[Estimate, ...]:
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
        (of(AIDED), of(UNAIDED)),
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
        return clustered_areas(part, truth, cluster)

    def analyse(part: Floats, later: Floats | None = None) -> Analysis:
        positives, negatives = (cases_read(part[:, :, of], together(cluster, of)) for of in (truth, ~truth))
        few = part.shape[1] > 1 and min(*positives, *negatives) <= FEW_CASES

        def in_range(e: Estimate, arm: int) -> Estimate:
            found = area_of_cases(on_logit(e), positives[arm], negatives[arm])
            return _often(found, OFTEN_ABOVE, found) if few else found

        def change_in_range(e: Estimate, mean: Callable[[int], Estimate]) -> Estimate:
            means = mean(AIDED), mean(UNAIDED)
            said = _often(e, OFTEN_BELOW, *means, from_=NEAR_ONE) if few else e
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

    def of(arm: int) -> tuple[Estimate, ...]:
        if cluster is not None:
            return tuple(analyse(rating[:, [j]]).lead_mean(arm, level) for j in readers)
        return tuple(reader_auc_estimate(rating[arm, j], truth, level=level) for j in readers)

    def benefit(j: int) -> Estimate:
        if cluster is not None:
            return analyse(_in_both(rating[:, [j]])).lead_difference(level)
        own = reader_auc_benefit(rating[AIDED, j], rating[UNAIDED, j], truth, level=level)
        return difference_in_range(own)

    return ReaderEndpoint(
        "auc",
        rating,
        analyse,
        (of(AIDED), of(UNAIDED)),
        tuple(benefit(j) for j in readers),
        areas[AIDED] - areas[UNAIDED],
        cluster,
        later,
    )


def cases_read(part: Floats, cluster: Clusters | None = None) -> list[int]:
    """How many of these cases anybody read, by arm; of how many patients where several are of one."""
    read = [~np.isnan(arm).all(axis=0) for arm in part]
    return [int(np.count_nonzero(of)) if cluster is None else len(np.unique(cluster[of])) for of in read]


def place_of_task(readings: Readings, study: Study) -> Place:
    """Where the numbers of a task of readers belong."""
    return of_task(readings.task, several=len(study.readings) > 1)


def reading_key(readings: Readings) -> str:
    """Which cases of known truth were read (`trustreport.performance.keys`)."""
    if "key" not in readings.memo:
        read = np.zeros(len(readings.cases), bool)
        read[readings.case] = True
        rows = np.flatnonzero(read & (readings.cases.truth >= 0))
        readings.memo["key"] = case_key(readings.task, readings.cases.labels, rows)
    return readings.memo["key"]
