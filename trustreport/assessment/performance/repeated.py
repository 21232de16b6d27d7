"""The same case twice: decisions and scores of a second run by a device, or of a second reading."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isnan

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import Mask, Outputs, outputs, place_of_set
from trustreport.assessment.performance.keys import case_key
from trustreport.assessment.performance.measures import as_entries
from trustreport.assessment.performance.readers import place_of_task
from trustreport.measures.cluster import Clusters, together
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.means import case_share
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.reliance.clustered import Linearised, clustered_share
from trustreport.measures.repeatability import NO_REPEAT, OF_DIFFERENCES, Summed, repeat_kappa, repeated
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Floats, Readings, Scores, Study
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

NO_SECOND_DECISION = note("no_second_run_with_decisions_or")
UNLIKE = note("decisions_one_run_recorded_those_other")
NONE_POSITIVE = note("no_case_with_both_runs_was_called")
NONE_NEGATIVE = note("no_case_with_both_runs_was")
# Shares of decisions: which first decisions they are of (None: all), and what is counted.
SHARES = ("repeat_agreement", "flip_rate", "flip_to_negative", "flip_to_positive")


@dataclass(frozen=True, eq=False)
class RepeatedCases:
    """The cases of a data set and candidate, or the readings of an arm, with a first run, (n,) each.

    Parameters
    ----------
    decided : whether both runs have a decision
    first, second : the decisions; of no meaning where not `decided`
    difference : second score less the first, NaN where one of them lacks; None without second scores
    cluster : which cases belong together; None where none do
    reader, case : of readings; None of a device
    key : which cases they are
    why_not_compared : why no decisions can be compared, or nothing
    """

    place: Place
    decided: Mask
    first: Mask
    second: Mask
    difference: Floats | None
    cluster: Clusters | None
    key: str
    why_not_compared: Note = NO_NOTE
    reader: NDArray[np.intp] | None = None
    case: NDArray[np.intp] | None = None

    def __len__(self) -> int:
        return len(self.decided)

    @property
    def name(self) -> str:
        """What the reader of a report calls it."""
        if self.place.arm is None:
            return self.place.data_name
        return f"{self.place.task}, {self.place.arm}" if self.place.task else self.place.arm


def has_second(one: Scores | Readings) -> bool:
    """Whether a table has columns of a second run, with anything in them."""
    score, decision = one.second_score, one.second_decision
    return bool((score is not None and (~np.isnan(score)).any()) or _any_given(decision))


def _any_given(decision: NDArray[np.int8] | None) -> bool:
    return bool(decision is not None and (decision >= 0).any())


def repeated_cases(study: Study, plan: Plan) -> Iterator[RepeatedCases]:
    """Every data set and candidate of which a case was run twice; the truth does not matter here."""
    for dataset in study.datasets:
        for candidate, scores in dataset.scores.items():
            if has_second(scores):
                place = place_of_set(dataset, candidate if len(dataset.scores) > 1 else None)
                yield _of_scores(dataset, candidate, scores, place, plan)


def _of_scores(dataset: Dataset, candidate: str, scores: Scores, place: Place, plan: Plan) -> RepeatedCases:
    n = len(dataset.cases)
    first = outputs(scores, n, plan, candidate)
    second = outputs(Scores(scores.second_score, scores.second_decision), n, plan, candidate)
    rows = np.flatnonzero(first.present)
    cluster = clusters_of(dataset, plan).of_case
    difference = None
    if scores.second_score is not None and first.scores:
        difference = (second.score - first.score)[rows]
    why = _why_not_compared(first, second)
    decided = (first.decision >= 0) & (second.decision >= 0) & (not why)
    return RepeatedCases(
        place,
        decided[rows],
        first.decision[rows] == 1,
        second.decision[rows] == 1,
        difference,
        None if cluster is None else cluster[rows],
        case_key(dataset.name, dataset.cases.labels, rows),
        why,
    )


def _why_not_compared(first: Outputs, second: Outputs) -> Note:
    if not (first.decides and second.decides):
        return NO_SECOND_DECISION
    return NO_NOTE if first.by_threshold == second.by_threshold else UNLIKE


def repeated_readings(study: Study) -> Iterator[RepeatedCases]:
    """Every task and arm in which a reader read a case twice."""
    for readings in study.readings:
        if has_second(readings):
            for arm in range(len(readings.arms)):
                of = np.flatnonzero(readings.arm == arm)
                found = _of_readings(
                    readings, of, place_of_task(readings, study).narrowed(arm=readings.arms[arm])
                )
                if found.decided.any() or (
                    found.difference is not None and (~np.isnan(found.difference)).any()
                ):
                    yield found


def _of_readings(readings: Readings, of: NDArray[np.intp], place: Place) -> RepeatedCases:
    nothing = np.full(len(of), -1, np.int8)
    first, second = (
        nothing if column is None else column[of] for column in (readings.decision, readings.second_decision)
    )
    difference = None
    if readings.score is not None and readings.second_score is not None:
        difference = (readings.second_score - readings.score)[of]
    decides = readings.decision is not None and readings.second_decision is not None
    return RepeatedCases(
        place,
        (first >= 0) & (second >= 0),
        first == 1,
        second == 1,
        difference,
        None,
        case_key(readings.task, readings.cases.labels, np.unique(readings.case[of])),
        NO_NOTE if decides else NO_SECOND_DECISION,
        readings.reader[of].astype(np.intp),
        readings.case[of].astype(np.intp),
    )


def repeat_results(dimension: str, one: RepeatedCases, level: float) -> list[Result]:
    """Agreement and flips of the decisions, then what the differences of the scores say."""
    results: list[Result] = []
    for name, found in [*_of_decisions(one, level), *_of_scores_twice(one, level)]:
        counted = [_with_counts(e, len(one)) for e in found]
        clustered = one.cluster is not None or one.reader is not None
        results += as_entries(f"{dimension}.{name}", one.place, counted, clustered=clustered, cases=one.key)
    return results


def _with_counts(e: Estimate, n: int) -> Estimate:
    """With the number of cases that had a first run, so that those without a second are known."""
    return replace(e, details={**e.details, "first_runs": float(n)})


def _of_decisions(one: RepeatedCases, level: float) -> Iterator[tuple[str, list[Estimate]]]:
    if one.why_not_compared:
        for name in (*SHARES, "repeat_kappa"):
            yield name, [undefined(0, one.why_not_compared, level=level, method="wilson")]
        return
    same = one.first == one.second
    for name, among, event, lacking in (
        ("repeat_agreement", one.decided, same, NO_REPEAT),
        ("flip_rate", one.decided, ~same, NO_REPEAT),
        ("flip_to_negative", one.decided & one.first, ~same, NONE_POSITIVE),
        ("flip_to_positive", one.decided & ~one.first, ~same, NONE_NEGATIVE),
    ):
        yield name, _shares(one, among, event, lacking, level)
    first, second, cluster = one.first[one.decided], one.second[one.decided], _clusters(one, one.decided)
    alone = repeat_kappa(first, second, level=level)
    found = [alone]
    if one.reader is not None and not isnan(alone.low):
        found = _leading(repeat_kappa(first, second, summed=_two_way(one, one.decided), level=level), alone)
    elif cluster is not None:
        found = [repeat_kappa(first, second, cluster=cluster, level=level), alone]
    yield "repeat_kappa", found


def _shares(one: RepeatedCases, among: Mask, event: Mask, lacking: Note, level: float) -> list[Estimate]:
    alone = case_share(event[among], lacking=lacking, level=level)
    if one.reader is not None:
        grid = _grid(one, among, event[among].astype(float))
        lead = clustered_share(grid, level=level, lacking=lacking)
        return [alone] if isnan(lead.low) and lead.n else [lead, alone]
    cluster = _clusters(one, among)
    if cluster is None:
        return [alone]
    return [case_share(event[among], lacking=lacking, cluster=cluster, level=level), alone]


def _of_scores_twice(one: RepeatedCases, level: float) -> Iterator[tuple[str, list[Estimate]]]:
    if one.difference is None:
        return
    of = ~np.isnan(one.difference)
    difference, cluster = one.difference[of], _clusters(one, of)
    for name in OF_DIFFERENCES:
        alone = repeated(name, difference, level=level)
        found = [alone]
        if one.reader is not None and not isnan(alone.low):
            found = _leading(repeated(name, difference, summed=_two_way(one, of), level=level), alone)
        elif cluster is not None:
            found = [repeated(name, difference, cluster=cluster, level=level), alone]
        yield name, found


def _leading(lead: Estimate, alone: Estimate) -> list[Estimate]:
    """The estimate for readers and cases in general before that of independent readings, if it has limits."""
    return [alone] if isnan(lead.low) else [lead, alone]


def _two_way(one: RepeatedCases, of: Mask) -> Summed:
    """How what each of some readings adds is summed over readers and over cases."""

    def summed(influence: Floats) -> Estimate:
        """The variance of a sum over readers and over cases."""
        return Linearised(0.0, _grid(one, of, influence), "identity", len(influence)).clustered()

    return summed


def _grid(one: RepeatedCases, of: Mask, values: Floats) -> Floats:
    """Values of some readings, (n_readers, n_cases), NaN elsewhere."""
    assert one.reader is not None
    assert one.case is not None
    out = np.full((int(one.reader.max()) + 1, int(one.case.max()) + 1), np.nan)
    out[one.reader[of], one.case[of]] = values
    return out


def _clusters(one: RepeatedCases, of: Mask) -> Clusters | None:
    return together(one.cluster, of)
