"""How the device could be used here: each protocol on the readings of a task, against the reader alone."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.decision_benefit.results import ID
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.texts import Item, Texts, heading, quantity_name
from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED
from trustreport.assessment.performance.reader_endpoints import analysis_of_shares
from trustreport.assessment.performance.reader_errors import advice_of
from trustreport.assessment.performance.readers import endpoint as endpoint_of
from trustreport.assessment.performance.readers import patients_of, reading_key, share_positive
from trustreport.figures.field import PlaneAxis, PlaneChart, PlanePoint
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import note
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
from trustreport.vocabulary.digits import Rounded, per, rounded
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result

CLASSES = {"sensitivity": 1, "specificity": 0}
NO_SPREAD_OF_TIME = note("mean_recorded_or_declared_times_without")
INDEPENDENT_ERRORS = note("by_published_formula_that_takes_errors")
TABLE = "protocols_"  # how the ids of its tables begin
CASES = 1000  # for which wrong decisions are counted
AUTONOMOUS = ("autonomous", "standalone", "stand-alone")

text = Texts(f"{ID}.protocols")


@dataclass(frozen=True)
class ProtocolComparison:
    """The protocols of one task, with their results, and those that these readings do not yield."""

    place: Place
    results: tuple[Result, ...]
    prevalence: float
    names: tuple[str, ...]
    lacking: tuple[str, ...]
    role: str = ""  # the declared role of the device, where it needs a reader

    def find(self, quantity: str, protocol: str, endpoint: str) -> Result | None:
        """The primary entry of a protocol."""
        for r in self.results:
            if r.primary and r.name == quantity and r.place.protocol == protocol and r.endpoint == endpoint:
                return r
        return None

    def value(self, protocol: str, endpoint: str) -> Estimate | None:
        """What a protocol reaches."""
        r = self.find("protocol_performance", protocol, endpoint)
        return r.estimate if r else None


def without_reader(plan: Plan) -> bool | None:
    """Whether the declared role of the device is to decide without a reader; None where none is declared."""
    role = (plan.intended_use.decision_role or "").casefold()
    return any(word in role for word in AUTONOMOUS) if role else None


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
        prevalence = share_positive(readings)
    of: dict[str, Any] = {"cases": key}
    cluster = patients_of(readings)
    made = (_performance(name, found, shown, truth, cluster, place, level, **of) for name in found)
    results = [_as_read(r, readings, arms, level) for own in made for r in own]
    seconds = _seconds(readings, arms, plan)
    for name in found:
        time = reader_time(name, seconds[UNAIDED], seconds[AIDED], reader, shown, ruled_out)
        results += _time(name, time, truth, prevalence, place, level, **of)
    lacking = tuple(name for name in PROTOCOLS if name not in found)
    role = (plan.intended_use.decision_role or "") if without_reader(plan) is False else ""
    return ProtocolComparison(place, tuple(results), prevalence, tuple(found), lacking, role)


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
        there = place.narrowed(protocol=name)
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
        return replace(r, place=at.narrowed(arm=arms[UNAIDED]))
    of_arms = endpoint_of(readings, arms, level, r.endpoint)
    if read is None or of_arms is None:
        return r
    if r.name == "protocol_difference":
        return replace(r, place=at.narrowed(arms=arms), estimate=of_arms.whole.lead_difference(level))
    return replace(r, place=at.narrowed(arm=arms[read]), estimate=of_arms.whole.lead_mean(read, level))


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
    there = place.narrowed(protocol=name)
    yield Result(f"{ID}.protocol_performance", there, e, endpoint="seconds", primary=True, **of)


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
            there = NOWHERE.narrowed(set=counts.name, protocol=name)
            of: dict[str, Any] = {"endpoint": "accuracy", "primary": True}
            results.append(Result(f"{ID}.protocol_performance", there, e, **of))
    return results


def protocols_part(found: ProtocolComparison, name: Message | str, number: int, *, alone: bool) -> Part:
    """The protocols beside each other and each against the reader alone, with a figure."""
    title = text.title(name, alone=alone)
    tables = [_performance_table(found, number)]
    if len(found.names) > 1:
        tables.append(_differences_table(found, number))
    return text.part((*_sentences(found), *tables, *_figure(found, number)), title, found.place)


def _label(protocol: str, found: ProtocolComparison | None = None) -> Message:
    label = say("word.heading", text=text(f"name.{protocol}"))
    outside = found is not None and found.role and protocol == DEVICE
    return text("label_outside", protocol=label) if outside else label


def _sentences(found: ProtocolComparison) -> Iterator[Message]:
    """Both changes of each protocol, compared with the reader alone; those with a shown loss first."""
    said = []
    for protocol in found.names:
        changes = [r for name in CLASSES if (r := found.find("protocol_difference", protocol, name))]
        if changes and protocol != READER:
            values = {
                "protocol": _label(protocol),
                "items": [text("change", r, measure=quantity_name(r.endpoint)) for r in changes],
            }
            lost = any(r.estimate.high < 0 for r in changes)
            outside = found.role if protocol == DEVICE else ""
            key = text("changes_outside", role=outside, **values) if outside else text("changes", **values)
            said.append((not lost, key))
    yield from (sentence for _, sentence in sorted(said, key=lambda pair: pair[0]))
    if found.lacking:
        yield text("lacking", items=[text(f"needs.{protocol}") for protocol in found.lacking])


def _performance_table(found: ProtocolComparison, number: int) -> Item:
    # Without the time of the reader alone there is nothing to compare times with.
    timed = found.value(READER, "seconds") is not None

    def row(protocol: str) -> Iterator[Any]:
        """A protocol: its rates, the errors per number of cases, and the minutes that these take."""
        yield _label(protocol, found)
        values = [found.value(protocol, name) for name in CLASSES]
        yield from values
        for e, share in zip(values, (found.prevalence, 1 - found.prevalence)):
            yield e and _wrong(e, share)
        seconds = found.value(protocol, "seconds")
        yield CASES * seconds.value / 60 if timed and seconds else None

    return text.table(
        f"{TABLE}{number}",
        text("table", prevalence=found.prevalence, cases=CASES),
        ".protocol sensitivity specificity .missed:estimate .alarms:estimate .minutes:count?",
        map(row, found.names),
    )


def _wrong(e: Estimate, share: float) -> Estimate:
    """Wrong decisions among so many cases, of which this share is of the class."""
    wrong = replace(e, value=share * (1 - e.value), low=share * (1 - e.high), high=share * (1 - e.low))
    return per(rounded(wrong, 3), CASES)


def _differences_table(found: ProtocolComparison, number: int) -> Item:
    rows = []
    for protocol in found.names:
        changes = [found.find("protocol_difference", protocol, name) for name in CLASSES]
        if protocol != READER:
            rows.append(
                (_label(protocol, found), *(cell for r in changes for cell in (r and r.estimate, _pairs(r))))
            )
    return text.table(
        f"{TABLE}differences_{number}",
        text("differences"),
        ".protocol .sensitivity_change:points .positive_pairs .specificity_change:points .negative_pairs",
        rows,
    )


def _pairs(r: Result | None) -> Message | None:
    """Readings right under the protocol alone, and right by the reader alone; tenths where one is drawn."""
    if r is None:
        return None
    gained, lost = (float(r.details[name]) for name in ("gained", "lost"))
    places = 0 if gained == int(gained) and lost == int(lost) else 1
    return text("pairs", gained=Rounded(gained, places), lost=Rounded(lost, places))


def _figure(found: ProtocolComparison, number: int) -> Iterator[Figure]:
    points = []
    for protocol in found.names:
        up, across = (found.value(protocol, name) for name in CLASSES)
        if up is not None and across is not None:
            points.append(PlanePoint(_label(protocol), across, up, hollow=protocol == READER))
    if len(points) > 1:
        axes = (
            PlaneAxis(heading(name), quantity_name(name), "percent", 0, 1)
            for name in ("specificity", "sensitivity")
        )
        listed = [
            text("at", name=p.label, sensitivity=p.upward.value, specificity=p.across.value) for p in points
        ]
        drawing = PlaneChart(tuple(points), *axes)
        yield text.figure(f"{TABLE}plane_{number}", drawing, "plane", n=len(points), items=listed)


def published_part(results: Sequence[Result]) -> Part | None:
    """Accuracies by formula of published sets; nothing where there are none."""
    if not results:
        return None

    def label(r: Result) -> Message:
        """The set and the protocol."""
        return text("of_set", set=r.place.set, protocol=text(f"name.{r.place.protocol}"))

    shown = text.estimates(
        f"{TABLE}published", text("published_table"), results, label, leads=lambda r: False
    )
    return text.part((text("published"), shown), text("published_title"))
