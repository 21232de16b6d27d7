"""How readers use the advice over time: agreement, overrides, harmful switches, reading time, by period."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.vigilance.periods import ID, Timeline, readings_of
from trustreport.assessment.performance.reader_analysis import AIDED
from trustreport.assessment.performance.reader_errors import Grids, advice_of, grids
from trustreport.assessment.performance.readers import patients_of, place_of_task, reading_key
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.means import case_share
from trustreport.measures.monitoring.rates import median
from trustreport.measures.note import note
from trustreport.measures.reliance.clustered import clustered_share
from trustreport.study.plan import Plan
from trustreport.study.study import Readings, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

# Rate, and the word of its result id.
FOLLOWED = {
    "agreement_aided": "agreement_with_advice",
    "override_rate": "override_rate",
    "harmful_switch_rate": "harmful_switch_rate",
}
NO_SECONDS = note("no_reading_time_was_recorded")


@dataclass(frozen=True, eq=False)
class Reliances:
    """The readings of one task and pair of arms by period, laid out for the rates of reliance."""

    task: str
    arms: tuple[str, str]
    place: Place
    held: Mapping[str, tuple[Readings, Grids]]

    def outcomes(self, period: str, endpoint: str) -> tuple[NDArray[np.int64], NDArray[np.datetime64] | None]:
        """An outcome of every reading of a period that counts for a rate, and its day."""
        if period not in self.held:
            return np.zeros(0, np.int64), None
        readings, found = self.held[period]
        rate = next((r for r, word in FOLLOWED.items() if word == endpoint), "")
        outcome = found.outcomes[rate]
        reader, case = np.nonzero(~np.isnan(outcome))
        day = _days(readings, self.arms[AIDED])
        values = outcome[reader, case].astype(np.int64)
        return values, None if day is None else day[reader, case]


def _days(readings: Readings, arm: str) -> NDArray[np.datetime64] | None:
    """The day of each reading of an arm, (n_readers, n_cases)."""
    day = readings.read_at
    if day is None and readings.cases.date is not None:
        day = readings.cases.date[readings.case]
    if day is None or arm not in readings.arms:
        return None
    out = np.full((len(readings.readers), len(readings.cases)), np.datetime64("NaT", "s"))
    rows = readings.arm == readings.arms.index(arm)
    out[readings.reader[rows], readings.case[rows]] = day[rows]
    return out


def reliances(study: Study, timeline: Timeline, plan: Plan) -> list[Reliances]:
    """Every task and pair of arms whose readings fall into the periods and show what was advised."""
    found = []
    for readings, by_period in readings_of(study, timeline):
        for arms in plan.contrasts:
            if arms[AIDED] not in readings.arms:
                continue
            held = {}
            for name, own in by_period.items():
                advice = advice_of(own, plan)
                if advice is not None and own.decision is not None:
                    held[name] = (own, grids(own, arms, advice))
            if held:
                found.append(Reliances(readings.task, arms, place_of_task(readings, study), held))
    return found


def reader_results(every: Sequence[Reliances], timeline: Timeline, plan: Plan) -> list[Result]:
    """The rates and the middle reading time of each period; who reads what is random where it can be."""
    level = plan.report.confidence_level
    results = []
    for one in every:
        for period in timeline.with_baseline:
            if period.name not in one.held:
                continue
            readings, found = one.held[period.name]
            for rate, word in FOLLOWED.items():
                here = one.place.narrowed(dataset=period.name, period=period.name)
                both = rate == "harmful_switch_rate"
                here = here.narrowed(arms=one.arms) if both else here.narrowed(arm=one.arms[AIDED])
                outcome = found.outcomes[rate]
                lacking = found.lacking(rate)
                shared = clustered_share(outcome, cluster=found.cluster, level=level, lacking=lacking)
                if isnan(shared.low) and shared.n:
                    based = ~np.isnan(outcome)
                    of = found.cluster
                    own = None if of is None else np.broadcast_to(of, outcome.shape)[based]
                    alone = case_share(outcome[based] == 1, lacking=lacking, cluster=own, level=level)
                    shared = replace(alone, note=shared.note)
                results.append(_entry(here, shared, word, readings))
            results.append(_time(one, period.name, readings, level))
    return results


def _entry(place: Place, e: Estimate, endpoint: str, readings: Readings) -> Result:
    key = reading_key(readings)
    return Result(f"{ID}.reliance_value", place, e, endpoint=endpoint, primary=True, cases=key)


def _time(one: Reliances, period: str, readings: Readings, level: float) -> Result:
    here = one.place.narrowed(dataset=period, period=period, arm=one.arms[AIDED])
    if readings.seconds is None:
        found = undefined(0, NO_SECONDS, level=level, method="order_statistics")
    else:
        of = (readings.arm == readings.arms.index(one.arms[AIDED])) & ~np.isnan(readings.seconds)
        patients = patients_of(readings)
        together = None if patients is None else patients[readings.case[of]]
        found = median(readings.seconds[of], cluster=together, level=level)
    return _entry(here, found, "seconds", readings)


def by_reader(every: Sequence[Reliances], timeline: Timeline) -> dict[str, tuple[int, int]]:
    """Right final decisions and decisions of each reader over all periods, where the truth is known."""
    counts: dict[str, list[int]] = {}
    periods = {p.name for p in timeline.periods}
    for one in every:
        for name, (readings, found) in one.held.items():
            if name not in periods:
                continue
            right = found.correct[AIDED]
            for j, reader in enumerate(readings.readers.labels):
                known = ~np.isnan(right[j])
                if known.any():
                    cell = counts.setdefault(reader, [0, 0])
                    cell[0] += int(right[j][known].sum())
                    cell[1] += int(known.sum())
    return {reader: (right, n) for reader, (right, n) in counts.items()}
