"""How the device could be used here: each protocol on the readings of a task, against the reader alone."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.decision_benefit.entries import ID
from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED
from trustreport.assessment.performance.reader_endpoints import analysis_of_shares
from trustreport.assessment.performance.reader_errors import advice_of
from trustreport.assessment.performance.readers import endpoint as endpoint_of
from trustreport.assessment.performance.readers import patients_of, reading_key
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.estimate import Estimate
from trustreport.measures.proportion import wilson
from trustreport.measures.protocols import (
    ARBITRATION,
    ASSISTANCE,
    DEVICE,
    ONE_WAY,
    PROTOCOLS,
    READER,
    by_formula,
    decisions,
    pseudo_values,
    reader_time,
)
from trustreport.study.plan import Plan
from trustreport.study.study import Floats, Readings, Study
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result

CLASSES = {"sensitivity": 1, "specificity": 0}
NO_SPREAD_OF_TIME = "a mean of recorded or declared times, without an interval"
INDEPENDENT_ERRORS = (
    "by a published formula that takes the errors of reader and device as independent; "
    "limits from both intervals together"
)


@dataclass(frozen=True)
class ProtocolComparison:
    """The protocols of one task, with their results, and those that these readings do not yield."""

    place: Place
    results: tuple[Result, ...]
    prevalence: float
    names: tuple[str, ...]
    lacking: tuple[str, ...]

    def find(self, quantity: str, protocol: str, endpoint: str) -> Result | None:
        """The primary entry of a protocol."""
        for r in self.results:
            if r.primary and r.name == quantity and r.place.protocol == protocol and r.endpoint == endpoint:
                return r
        return None


def compare(readings: Readings, arms: tuple[str, str], plan: Plan, place: Place) -> ProtocolComparison | None:
    """Every protocol that the readings of a task yield; None without decisions alone and advice."""
    advice, truth = advice_of(readings, plan), readings.cases.truth
    if advice is None or readings.decision is None or not all((truth == c).any() for c in CLASSES.values()):
        return None
    decision = readings.grid(np.where(readings.decision >= 0, readings.decision, np.nan), arms)
    shown = _of_case(readings.grid(np.where(advice >= 0, advice, np.nan), arms)[AIDED])
    assisted, reader = np.where(truth >= 0, decision, np.nan)
    ruled_out = _ruled_out(readings, arms, plan)
    found = decisions(reader, shown, assisted, ruled_out)
    if len(found) < 2 or READER not in found:
        return None
    level, key = plan.report.confidence_level, reading_key(readings)
    prevalence = plan.expected_prevalence
    if prevalence is None:
        prevalence = float((truth == 1).sum() / (truth >= 0).sum())
    of: dict[str, Any] = {"cases": key}
    cluster = patients_of(readings)
    made = (_performance(name, found, shown, truth, cluster, place, level, **of) for name in found)
    results = [_as_read(r, readings, arms, level) for own in made for r in own]
    seconds = _seconds(readings, arms, plan)
    for name in found:
        time = reader_time(name, seconds[UNAIDED], seconds[AIDED], reader, shown, ruled_out)
        results += _time(name, time, truth, prevalence, place, level, **of)
    lacking = tuple(name for name in PROTOCOLS if name not in found)
    return ProtocolComparison(place, tuple(results), prevalence, tuple(found), lacking)


def _performance(
    name: str,
    found: Mapping[str, Floats],
    shown: Floats,
    truth: NDArray[np.int8],
    cluster: Clusters | None,
    place: Place,
    level: float,
    **of: Any,
) -> Iterator[Result]:
    """Sensitivity and specificity of a protocol, and their differences from the reader alone."""
    decided = found[name]
    if name == ARBITRATION:
        decided = pseudo_values(decided, found[READER], shown)
    for endpoint, positive in CLASSES.items():
        cases = (truth == positive) & ~np.isnan(found[name]).all(axis=0)
        counted, *right = (
            grid[:, cases] if positive else 1 - grid[:, cases]
            for grid in (found[name], decided, found[READER])
        )
        if name != ASSISTANCE:
            # A protocol that is worked out has no decision where no advice is known. It is held against the
            # same readings alone, since cases without advice may be harder.
            right[1] = np.where(np.isnan(right[0]), np.nan, right[1])
        if np.isnan(right[0]).all() or np.isnan(right[1]).all():
            continue
        own = together(cluster, cases)
        analysis = analysis_of_shares(np.stack(right), own)
        of |= {"endpoint": endpoint}
        there = place.at(protocol=name)
        mean = analysis.lead_mean(AIDED, level)
        yield Result(f"{ID}.protocol_performance", there, mean, primary=True, **of)
        if name == READER:
            continue
        pairs = ~np.isnan(right[0]) & ~np.isnan(right[1])
        gained, lost = (
            float((better * (1 - worse))[pairs].sum())
            for better, worse in ((counted, right[1]), (right[1], counted))
        )
        details = {"gained": gained, "lost": lost, "pairs": float(pairs.sum())}
        change = _one_way(name, positive, right, own, level) or analysis.lead_difference(level)
        yield Result(f"{ID}.protocol_difference", there, change, details=details, primary=True, **of)


def _as_read(r: Result, readings: Readings, arms: tuple[str, str], level: float) -> Result:
    """What was read under a protocol as the number of its arm, or of both arms, that it is.

    A change is of all readings of both arms, also of those whose other reading is missing. The device and the
    readers without it are compared under the arm of these.
    """
    at, protocol = r.place, r.place.protocol
    read = {READER: UNAIDED, ASSISTANCE: AIDED}.get(str(protocol))
    if protocol == DEVICE and r.name == "protocol_difference":
        return replace(r, place=at.at(arm=arms[UNAIDED]))
    of_arms = endpoint_of(readings, arms, level, r.endpoint)
    if read is None or of_arms is None:
        return r
    if r.name == "protocol_difference":
        return replace(r, place=at.at(arms=arms), estimate=of_arms.whole.lead_difference(level))
    return replace(r, place=at.at(arm=arms[read]), estimate=of_arms.whole.lead_mean(read, level))


def _one_way(
    name: str, positive: int, right: list[Floats], cluster: Clusters | None, level: float
) -> Estimate | None:
    """The difference of a protocol that changes decisions one way: a share of readings, with its limits.

    A difference with limits of either sign would be wrong by more than its width: nothing can be gained where
    only losses are possible. None where the protocol changes both ways, or is not of the same readings.
    """
    way, (now, alone) = ONE_WAY.get(name), right
    if way is None or not np.array_equal(np.isnan(now), np.isnan(alone)):
        return None
    side = way if positive else -way
    share = analysis_of_shares(np.stack([side * (now - alone), alone]), cluster).lead_mean(AIDED, level)
    low, value, high = (side * x + 0.0 for x in (share.low, share.value, share.high))  # no -0.0
    return replace(share, value=value, low=min(low, high), high=max(low, high), p=nan)


def _of_case(grid: Floats) -> Floats:
    """Values of the readings, filled in where every reader of a case had the same one."""
    known = ~np.isnan(grid)
    least, most = np.where(known, grid, np.inf).min(axis=0), np.where(known, grid, -np.inf).max(axis=0)
    of_case = np.where(least == most, least, np.nan)
    return np.where(known, grid, of_case)


def _ruled_out(readings: Readings, arms: tuple[str, str], plan: Plan) -> NDArray[np.bool_] | None:
    """Where the device rules a case out by its score; None without scores or a declared threshold."""
    threshold, score = plan.reading.rule_out_below, readings.advice_score
    if threshold is None or score is None:
        return None
    shown = _of_case(readings.grid(score, arms)[AIDED])
    below = plan.operating_point.score_direction == "lower_is_positive"
    with np.errstate(invalid="ignore"):
        return np.asarray(shown > threshold if below else shown < threshold)


def _seconds(readings: Readings, arms: tuple[str, str], plan: Plan) -> Floats:
    """Seconds of each reading of both arms, as recorded, else as declared."""
    shape = (2, len(readings.readers), len(readings.cases))
    found = np.full(shape, np.nan) if readings.seconds is None else readings.grid(readings.seconds, arms)
    for arm, declared in ((AIDED, plan.reading.aided_seconds), (UNAIDED, plan.reading.unaided_seconds)):
        if declared is not None and np.isnan(found[arm]).all():
            found[arm] = declared
    return found


def _time(
    name: str,
    seconds: Floats | None,
    truth: NDArray[np.int8],
    prevalence: float,
    place: Place,
    level: float,
    **of: Any,
) -> Iterator[Result]:
    """Mean seconds of readers a case, at the prevalence for which decisions are counted."""
    if seconds is None:
        return
    parts = [seconds[:, truth == c] for c in (1, 0)]
    if any(np.isnan(part).all() for part in parts):
        return
    positive, negative = (float(np.nanmean(part)) for part in parts)
    value = prevalence * positive + (1 - prevalence) * negative
    n = int((~np.isnan(seconds[:, truth >= 0])).sum())
    e = Estimate(value, nan, nan, n, level, "standardised", NO_SPREAD_OF_TIME)
    there = place.at(protocol=name)
    yield Result(f"{ID}.protocol_performance", there, e, endpoint="seconds", primary=True, **of)


# ---------------------------------------------------------------- without paired data


def of_published(study: Study, plan: Plan) -> list[Result]:
    """Accuracies by formula, for published sets with separate counts of readers alone and of the device."""
    results, level = [], plan.report.confidence_level
    baseline = plan.contrasts[0][UNAIDED] if plan.contrasts else "unaided"
    paired = {one.set for one in (*study.paired_counts, *study.reliance_counts)}
    times = Counter(one.set for one in study.confusion)
    devices = {one.set: one for one in study.confusion if times[one.set] == 1}
    for counts in study.counts:
        device = devices.get(counts.name)
        alone = counts.arms.get(baseline)
        if device is None or alone is None or counts.name in paired:
            continue
        n = device.tp + device.fp + device.fn + device.tn
        x = wilson(alone.correct, alone.n, level)
        y = wilson(device.tp + device.tn, n, level)
        if not x.n or not y.n:
            continue
        values, least, most = (
            by_formula(*pair) for pair in ((x.value, y.value), (x.low, y.low), (x.high, y.high))
        )
        for name, (low, high) in values.items():
            value = low if low == high else nan
            e = Estimate(
                value, least[name][0], most[name][1], min(x.n, y.n), level, "formula", INDEPENDENT_ERRORS
            )
            there = NOWHERE.at(set=counts.name, protocol=name)
            of: dict[str, Any] = {"endpoint": "accuracy", "primary": True}
            results.append(Result(f"{ID}.protocol_performance", there, e, **of))
    return results
