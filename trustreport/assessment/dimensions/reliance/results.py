"""Every number of reliance, from counts per pattern or from readings with advice."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.reliance import interaction
from trustreport.assessment.dimensions.reliance.rates import ID, RateEntry, independent, paired_table, pooled
from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED
from trustreport.assessment.performance.reader_errors import Grids, grids
from trustreport.assessment.performance.readers import reading_key
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.clustered import Clustering, clustered_difference
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.notes import OFTEN_ABOVE
from trustreport.measures.paired.difference import tango, tango_clustered
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.patterns import PATTERNS, pattern_counts, rate, tertiles
from trustreport.study.plan import RelianceCounts
from trustreport.study.study import Binary, Readings
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

CLUSTERED: Clustering = "cluster_twoway_t"
FEW_CASES = 30  # with this advice

ASKED = (
    RateEntry("rair", "rair"),
    RateEntry("rsr", "rsr"),
    RateEntry("rbod", "rbod"),
    RateEntry("rbt", "rbt"),
    RateEntry("harmful_switch_rate", "harmful_switch_rate"),
    RateEntry("beneficial_switch_rate", "beneficial_switch_rate"),
    RateEntry("switch_rate", "switch_rate"),
    RateEntry("override_rate", "override_rate", "aided"),
    RateEntry("agreement_unaided", "agreement_with_advice", "unaided"),
    RateEntry("agreement_aided", "agreement_with_advice", "aided"),
    RateEntry("override_of_right_advice", "override_rate", "aided", "right"),
    RateEntry("override_of_wrong_advice", "override_rate", "aided", "wrong"),
    RateEntry("accuracy_of_advice", "advice_accuracy", "advice"),
    RateEntry("accuracy_unaided_right_advice", "accuracy", "unaided", "right"),
    RateEntry("accuracy_aided_right_advice", "accuracy", "aided", "right"),
    RateEntry("accuracy_unaided_wrong_advice", "accuracy", "unaided", "wrong"),
    RateEntry("accuracy_aided_wrong_advice", "accuracy", "aided", "wrong"),
)
# Counts alone are all that is known of a published set; of readings, decision benefit reports the accuracy.
ASKED_OF_COUNTS = (
    *ASKED,
    RateEntry("accuracy_unaided", "accuracy", "unaided"),
    RateEntry("accuracy_aided", "accuracy", "aided"),
)
EACH_READER = ASKED[:10]
EACH_BAND = tuple(
    a for a in ASKED if a.rate in ("rair", "rsr", "rbod", "rbt", "switch_rate", "override_rate")
)
BANDS = {2: ("low", "high"), 3: ("low", "middle", "high")}


@dataclass(frozen=True, slots=True)
class Reliance:
    """What one published set or one task shows of reliance, with every result about it."""

    place: Place
    arms: tuple[str, str]
    results: tuple[Result, ...]
    readers: tuple[str, ...] = ()
    sequential: bool = False

    @property
    def separate_readings(self) -> bool:
        """Whether both decisions were made in readings of their own: then none was changed to the other.

        Of published counts it is not known; they are reported as published.
        """
        return self.place.set is None and not self.sequential

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        return self.place.set or self.place.task or ""

    def find(self, rate: str, *, reader: str | None = None, **parameters: Any) -> Result:
        """The primary entry of a rate, of all readers or one."""
        asked = next(a for a in ASKED_OF_COUNTS if a.rate == rate)
        place = asked.place(self.place, self.arms).narrowed(reader=reader)
        return self.primary_entry(asked.id, place, {**asked.parameters, **parameters})

    def primary_entry(
        self, quantity: str, place: Place, parameters: Mapping[str, Any], endpoint: str = ""
    ) -> Result:
        """The primary entry of exactly this place and these parameters, whatever the analysis."""
        for r in self.results:
            same = r.place == place and r.parameters == parameters and r.endpoint == endpoint
            if r.primary and r.id == f"{ID}.{quantity}" and same:
                return r
        raise LookupError(f"no primary entry of {quantity} in {place.scope}")

    def count(self, pattern: str) -> int:
        return int(self._counts()[pattern].estimate.value)

    def _counts(self) -> dict[str, Result]:
        found = (r for r in self.results if r.id == f"{ID}.switch_count")
        return {r.parameters["pattern"]: r for r in found}

    @property
    def n(self) -> int:
        """Readings with a pattern."""
        return self._counts()[PATTERNS[0]].estimate.n

    @property
    def bands(self) -> dict[str, tuple[float, float]]:
        """Bands of the readers' own confidence, with the range of each."""
        found = (r for r in self.results if "confidence" in r.parameters)
        return {r.parameters["confidence"]: (r.details["from"], r.details["to"]) for r in found}


def from_counts(counts: RelianceCounts, arms: tuple[str, str], level: float) -> Reliance:
    """A published table of the eight patterns; who read what is not known."""
    place = Place(set=counts.set)
    given = {p: int(getattr(counts, f"n{p}")) for p in PATTERNS}
    results = _switch_counts(place, given, level)
    for asked in ASKED_OF_COUNTS:
        e = rate(given, asked.rate, level)
        there = asked.place(place, arms)
        results.append(Result(f"{ID}.{asked.id}", there, e, parameters=asked.parameters, primary=True))
    for advice in ("", "right", "wrong"):
        of: dict[str, Any] = {"endpoint": "accuracy", "parameters": {"advice": advice} if advice else {}}
        change = tango(paired_table(given, advice), level)
        results.append(Result(f"{ID}.accuracy_change", place.narrowed(arms=arms), change, primary=True, **of))
    results += interaction.of_counts(given, place, level)
    return Reliance(place, arms, tuple(results))


def _switch_counts(place: Place, counts: Mapping[str, int], level: float, cases: str = "") -> list[Result]:
    n, id = sum(counts.values()), f"{ID}.switch_count"
    return [
        Result(
            id,
            place,
            Estimate(count, count, count, n, level, "count"),
            parameters={"pattern": pattern},
            primary=True,
            cases=cases,
        )
        for pattern, count in counts.items()
    ]


def from_readings(
    readings: Readings,
    arms: tuple[str, str],
    advice: Binary,
    level: float,
    *,
    place: Place,
    seed: int | None = None,
) -> Reliance:
    """Pooled over readers with readers and cases sampled, then by confidence and for each reader."""
    found, key = grids(readings, arms, advice), reading_key(readings)
    contrast = place.narrowed(arms=arms)
    results = _switch_counts(contrast, pattern_counts(found.patterns), level, key)
    for asked in ASKED:
        of: dict[str, Any] = {"parameters": asked.parameters, "cases": key}
        outcome, lacking = found.outcomes[asked.rate], found.lacking(asked.rate)
        results += pooled(asked, asked.place(place, arms), outcome, found.cluster, lacking, level, **of)
    results += _changes(contrast, found, level, key)
    results += _by_confidence(place, arms, found, level, key)
    results += interaction.of_readings(found, readings, place, arms, level, seed)
    results += interaction.of_types(found, readings, place, arms, level)
    names = {
        int(j): readings.readers.labels[int(j)]
        for j in np.flatnonzero(~np.isnan(found.outcomes["override_rate"]).all(axis=1))
    }
    for j, name in names.items():
        for asked in EACH_READER:
            outcome, lacking = found.outcomes[asked.rate][j], found.lacking(asked.rate)
            own = independent(outcome, found.cluster, lacking, level)
            there = asked.place(place, arms).narrowed(reader=name)
            results.append(Result(f"{ID}.{asked.id}", there, own, primary=True, cases=key))
    return Reliance(place, arms, tuple(results), tuple(names.values()), readings.sequential)


def _changes(contrast: Place, found: Grids, level: float, cases: str) -> list[Result]:
    """Aided minus unaided share of right decisions after right and after wrong advice, also by class."""
    results = []
    for advice, right in (("right", 1), ("wrong", 0)):
        for endpoint in ("accuracy", "sensitivity", "specificity"):
            of_class = MEASURES[endpoint].cases(found.truth)
            codes = np.where((found.advice_right == right) & of_class, found.patterns, np.nan)
            correct = np.where(np.isnan(codes), np.nan, found.correct)
            clustered = difference_in_range(
                clustered_difference(
                    correct, CLUSTERED, compared=AIDED, baseline=UNAIDED, cluster=found.cluster, level=level
                )
            )
            if not isnan(clustered.low) and (~np.isnan(codes)).any(axis=0).sum() < FEW_CASES:
                clustered = replace(clustered, note=clustered.note + OFTEN_ABOVE)
            paired = tango(paired_table(pattern_counts(codes), advice), level)
            alone = clustered.n > 0 and isnan(clustered.low)
            if alone and found.cluster is not None:
                change = correct[AIDED] - correct[UNAIDED]
                both = ~np.isnan(change)
                patients = np.broadcast_to(found.cluster, change.shape)[both]
                of_reader = np.nonzero(both)[0] * (1 + patients.max(initial=0)) + patients
                paired = tango_clustered(change[both], patients, within=of_reader, level=level)
            if alone:
                paired = replace(paired, note=notes.ONLY_THESE)
            id = f"{ID}.accuracy_change"
            of: dict[str, Any] = {"endpoint": endpoint, "parameters": {"advice": advice}, "cases": cases}
            results += [
                Result(id, contrast, clustered, analysis="clustered", primary=not alone, **of),
                Result(id, contrast, paired, analysis="paired", primary=alone, **of),
            ]
    return results


def _by_confidence(
    place: Place, arms: tuple[str, str], found: Grids, level: float, cases: str
) -> Iterator[Result]:
    """The rates within bands of the reader's confidence before the advice."""
    codes, ranges = tertiles(found.confidence)
    if len(ranges) < 2:
        return
    for band, (name, (lowest, highest)) in enumerate(zip(BANDS[len(ranges)], ranges)):
        for asked in EACH_BAND:
            of: dict[str, Any] = {
                "parameters": {"confidence": name},
                "details": {"from": lowest, "to": highest},
                "cases": cases,
            }
            outcome = np.where(codes == band, found.outcomes[asked.rate], np.nan)
            there = asked.place(place, arms)
            lacking = found.lacking(asked.rate)
            yield from pooled(asked, there, outcome, found.cluster, lacking, level, **of)
