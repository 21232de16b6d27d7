"""How readers perform in two arms: each endpoint, of each reader and over readers, analysed once."""

from collections.abc import Iterator, Sequence
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.keys import case_key
from trustreport.assessment.performance.reader_analysis import ReaderEndpoint
from trustreport.assessment.performance.reader_endpoints import auc, proportion, youden
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.confusion.measure import OfClasses
from trustreport.measures.confusion.table import MEASURES
from trustreport.study.clusters import clustering
from trustreport.study.plan import Endpoint as Criterion
from trustreport.study.plan import Plan
from trustreport.study.study import Floats, Readings, Study
from trustreport.vocabulary.place import Place, of_task

# Grids of two arms hold the compared arm first, then its baseline.
COMPARED, BASELINE = 0, 1


def compared_later(readings: Readings, arms: tuple[str, str]) -> Floats | None:
    """Of each reader's pairs of readings the share with the compared arm second, less that with it first.

    By when they were made, else by session, else by an order that runs through both arms. A pair is of one
    case; of a reader without such pairs every reading in one arm is compared with every one in the other.

    Returns
    -------
    float array, shape (n_readers,)
        From -1 to 1, NaN of a reader of whom it is not known; None where it is known of nobody, and of
        sequential readings, whose order is their design.
    """
    at = ("later", arms)
    if at not in readings.memo:
        readings.memo[at] = None if readings.sequential else _by_reader(readings, arms)
    return readings.memo[at]


def same_order(part: Readings, whole: Readings, arms: tuple[str, str]) -> None:
    """Have the readings of some cases take the order of the arms from those of all cases.

    It is the readers'; of few cases they may by chance have read most in one order.
    """
    part.memo["later", arms] = compared_later(whole, arms)


def _by_reader(readings: Readings, arms: tuple[str, str]) -> Floats | None:
    for when in _times(readings, arms):
        found = np.array([_later(*of_reader) for of_reader in when.transpose(1, 0, 2)])
        if not np.isnan(found).all():
            return found
    return None


def days_of(readings: Readings, arms: tuple[str, str]) -> Floats | None:
    """When each reading was made, in days: (2, n_readers, n_cases)."""
    if readings.read_at is None:
        return None
    moments = readings.read_at.astype("datetime64[s]")
    return readings.grid(np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 86_400), arms)


def _times(readings: Readings, arms: tuple[str, str]) -> Iterator[Floats]:
    dated = days_of(readings, arms)
    if dated is not None:
        yield dated
    if readings.session is not None:
        yield readings.grid(readings.session, arms)
    if readings.order is not None:
        order = readings.grid(readings.order, arms)
        if not any(np.isin(one[~np.isnan(one)], other).any() for one, other in zip(*order)):
            yield order


def _later(compared: NDArray[np.float64], baseline: NDArray[np.float64]) -> float:
    """Of one reader, (n_cases,) each; two readings of one session count for neither order."""
    sign = np.sign(compared - baseline)
    told = sign[~np.isnan(sign)]
    if len(told):
        return float(told.mean()) if told.any() else np.nan
    one, other = compared[~np.isnan(compared)], np.sort(baseline[~np.isnan(baseline)])
    before, until = (np.searchsorted(other, one, side) for side in ("left", "right"))
    after = len(other) - until
    known = (before + after).any()
    return float((before - after).sum() / (len(one) * len(other))) if known else np.nan


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


def printed_alike(prevalence: float, other: float) -> bool:
    """Whether two prevalences are the same as they are printed, with one decimal."""
    return abs(prevalence - other) < 0.0005


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
            if measure.of_readers and measure.is_share_of_right:
                of = measure.cases(truth)
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


def place_of_task(readings: Readings, study: Study) -> Place:
    """Where the numbers of a task of readers belong."""
    return of_task(readings.task, several=len(study.readings) > 1)


def reading_key(readings: Readings) -> str:
    """Which cases of known truth were read (`trustreport.assessment.performance.keys`)."""
    if "key" not in readings.memo:
        read = np.zeros(len(readings.cases), bool)
        read[readings.case] = True
        rows = np.flatnonzero(read & (readings.cases.truth >= 0))
        readings.memo["key"] = case_key(readings.task, readings.cases.labels, rows)
    return readings.memo["key"]


def share_positive(readings: Readings) -> float:
    """The prevalence among the cases of the readings with a known truth."""
    truth = readings.cases.truth
    known = int((truth >= 0).sum())
    return float((truth == 1).sum() / known) if known else nan
