"""Pitfalls where data contradict what they are said to be: units, numbers of decisions, own consensus."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.checks.check import Check, Evidence, Remark
from trustreport.assessment.performance.cases import place_of_set
from trustreport.assessment.performance.readers import place_of_task
from trustreport.measures.label_accuracy import Consensus, consensus
from trustreport.study.plan import DatasetFacts
from trustreport.study.study import DEVELOPMENT_ROLES, Binary, Cases, Coded, Ratings, Readings, Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place

Mask = NDArray[np.bool_]
# Units of which a patient has several; an exam often is the only one of its patient.
BELOW_PATIENT = ("lesion", "image", "slice", "frame")
# Keys that say nothing of which cases belong together.
NOT_OF_CASES = ("case", "reader")
MOST_WITHOUT_KEY = 0.1  # share of the cases of which nobody knows whose they are
LEAST_CONTESTED = 20  # cases on which readers disagree, from which a truth like their majority says something
MOST_AGAINST = 0.02  # of the contested cases, in which the truth still is that of the majority
CHANCE = 0.01  # of so few majorities that are wrong, up to which it is none
# Words that declare a reference as a vote, and one of readers, in the languages of a report.
VOTE = re.compile(r"consens|konsens|majorit|mehrheit|maggioranz", re.IGNORECASE)
OF_READERS = re.compile(r"\b(readers?|befunder\w*|lecteurs?|lettori|lettore)\b", re.IGNORECASE)
LEAST_FOLLOWED = 10  # readings with wrong advice that all follow it, which readers hardly do


# ---------------------------------------------------------------- P69


def unit_without_key(evidence: Evidence) -> Iterator[Remark]:
    """P69: the unit of analysis is below the patient, and nothing says which cases belong together."""
    for facts in evidence.plan.datasets:
        if facts.unit_of_analysis not in BELOW_PATIENT or facts.role in DEVELOPMENT_ROLES:
            continue
        for place, cases in _cases_of(facts, evidence.study):
            unknown, n = int(np.count_nonzero(~_has_key(cases, facts))), len(cases)
            values = {"n": unknown, "total": n, "unit": say(f"checks.P69.unit.{facts.unit_of_analysis}")}
            fires = unknown > MOST_WITHOUT_KEY * n
            yield Remark(place, say("checks.P69.fired", **values) if fires else None)


def _cases_of(facts: DatasetFacts, study: Study) -> Iterator[tuple[Place, Cases]]:
    """The cases that a declared data set is about: its own, else those of the readers' task of its name.

    A single task of readers is meant by every name that is that of no other data.
    """
    for dataset in study.datasets:
        if dataset.name == facts.dataset:
            yield place_of_set(dataset), dataset.cases
            return
    tables = (*study.paired_counts, *study.confusion, *study.reliance_counts, *study.reported)
    elsewhere = {one.set for one in tables} | {one.name for one in study.counts}
    elsewhere |= {one.name for one in study.localisations}
    if facts.dataset in elsewhere:
        return
    for readings in study.readings:
        if readings.task == facts.dataset or len(study.readings) == 1:
            yield place_of_task(readings, study), readings.cases


def _has_key(cases: Cases, facts: DatasetFacts) -> Mask:
    """Of which cases a patient or a declared cluster key is known."""
    known = np.zeros(len(cases), bool)
    for column in keys_of(cases, facts):
        known |= column.codes >= 0
    return known


def keys_of(cases: Cases, facts: DatasetFacts | None) -> list[Coded]:
    """The columns that say which cases belong together: the patient, and the declared cluster keys."""
    own = {"patient": cases.patient, "site": cases.site}
    names = ("patient", *((facts.cluster_keys if facts else None) or ()))
    columns = (own.get(name) or cases.groups.get(name) for name in names if name not in NOT_OF_CASES)
    return [column for column in columns if column is not None]


# ---------------------------------------------------------------- P70


def more_than_read(evidence: Evidence) -> Iterator[Remark]:
    """P70: a published table has more decisions than its readers can make on its cases."""
    study = evidence.study
    tables = [*((one.name, one) for one in study.counts), *((one.set, one) for one in study.paired_counts)]
    tables += [(one.set, one) for one in study.confusion]
    most = {name: product for name, one in reversed(tables) if (product := _most_decisions(one))}
    tables += [(one.set, one) for one in study.reliance_counts]
    found: dict[str, Message | None] = {}
    for name, table in tables:
        if name in most and not found.get(name):
            readers, cases = most[name]
            values = {"n": _decisions(table), "readers": readers, "cases": cases, "most": readers * cases}
            found[name] = say("checks.P70.fired", **values) if values["n"] > values["most"] else None
    for name, message in found.items():
        yield Remark(Place(set=name), message)


def _most_decisions(table: Any) -> tuple[int, int] | None:
    """Readers and cases as declared; the counts of a device alone are one decision on each case."""
    readers = table.readers or (None if hasattr(table, "arms") or hasattr(table, "both_right") else 1)
    return (readers, table.cases) if readers and table.cases else None


def _decisions(table: Any) -> int:
    """How many decisions a table holds, of several arms in the largest."""
    if hasattr(table, "arms"):
        return max(arm.n for arm in table.arms.values())
    left_out = ("readers", "cases", "frames_per_finding")
    held: Mapping[str, Any] = {name: getattr(table, name) for name in type(table).model_fields}
    return sum(n for name, n in held.items() if name not in left_out and isinstance(n, int) and n is not True)


# ---------------------------------------------------------------- P71


def own_consensus(evidence: Evidence) -> Iterator[Remark]:
    """P71: the reference is the majority of the decisions that it judges, or was made by the readers."""
    standard = evidence.plan.reference_standard
    texts = filter(None, (standard.type, standard.definition, standard.adjudication))
    declared = any(VOTE.search(text) and OF_READERS.search(text) for text in texts)
    for readings, place in evidence.tasks():
        both = _readers_who_rated(readings, evidence.study.raters)
        if both:
            said = say("checks.P71.fired_names", names=both, n=len(both))
            yield Remark(place, said)
            continue
        for arm in readings.arms:
            found = _consensus_of(readings, arm)
            if found is not None:
                yield Remark(place.narrowed(arm=arm), _too_often_right(found, arm, declared=declared))


def _readers_who_rated(readings: Readings, raters: tuple[Ratings, ...]) -> list[str]:
    """Readers who also are raters of the reference standard of the same cases."""
    labels, cases = readings.readers.labels, readings.cases.labels
    found: list[str] = []
    for one in raters:
        if labels.counted or cases.counted or one.raters.counted or one.cases.labels.counted:
            continue  # numbers of rows are no names
        same_task = not (one.task and readings.task) or one.task == readings.task
        if same_task and not set(cases).isdisjoint(one.cases.labels):
            names = {name.casefold() for name in one.raters}
            found += [name for name in labels if name.casefold() in names]
    return list(dict.fromkeys(found))


def _consensus_of(readings: Readings, arm: str) -> Consensus | None:
    """How the truth goes with the majority of an arm; None without several readers or both classes."""
    if readings.decision is None or len(readings.cases.classes) != 2:
        return None
    votes = readings.grid(np.where(readings.decision >= 0, readings.decision, np.nan), [arm])[0]
    judged = (readings.cases.truth >= 0) & ~np.isnan(votes).all(axis=0)
    truth = readings.cases.truth[judged] == 1
    if len(votes) < 2 or not truth.any() or truth.all():
        return None
    return consensus(truth, votes[:, judged])


def _too_often_right(found: Consensus, arm: str, *, declared: bool) -> Message | None:
    """What is wrong where the majority is right more often than chance and the readers' skill explain.

    Of a reference that is declared as a vote of readers it is enough that it never differs.
    """
    if found.contested < LEAST_CONTESTED:
        return None
    values = {"contested": found.contested, "arm": arm}
    if found.against <= MOST_AGAINST * found.contested and found.p <= CHANCE:
        return say("checks.P71.fired", n=found.against, expected=found.expected, **values)
    return say("checks.P71.fired_declared", **values) if declared and not found.against else None


# ---------------------------------------------------------------- P72


def copied_decisions(evidence: Evidence) -> Iterator[Remark]:
    """P72: every reader decided as the advice says, in every reading of an arm, wrong advice included."""
    compared = {arm for pair in evidence.plan.contrasts for arm in pair}
    for readings, place in evidence.tasks():
        advice = _advice_of_cases(readings)
        if advice is None or readings.decision is None or len(readings.cases.classes) != 2:
            continue
        for code, arm in enumerate(readings.arms):
            rows = (readings.arm == code) & (readings.decision >= 0) & (advice >= 0)
            if arm not in compared or not rows.any():
                continue
            wrong = rows & (readings.truth >= 0) & (advice != readings.truth)
            same = (readings.decision[rows] == advice[rows]).all()
            n, followed = int(np.count_nonzero(rows)), int(np.count_nonzero(wrong))
            said = say("checks.P72.fired", n=n, arm=arm, wrong=followed)
            yield Remark(place.narrowed(arm=arm), said if same and followed >= LEAST_FOLLOWED else None)


def _advice_of_cases(readings: Readings) -> Binary | None:
    """The advice of each reading; of one without any that on its case, where all of them are alike."""
    if readings.advice is None:
        return None
    given = readings.advice >= 0
    n = len(readings.cases)
    times = np.bincount(readings.case[given], minlength=n)
    positive = np.bincount(readings.case[given], weights=readings.advice[given], minlength=n)
    of_case = np.where((times > 0) & (positive == times), 1, np.where((times > 0) & (positive == 0), 0, -1))
    return np.where(given, readings.advice, of_case[readings.case])


CHECKS = (
    Check("P69", "advice_accuracy", "B", unit_without_key, of_rows=True),
    Check("P70", "pragmatic_utility", "B", more_than_read),
    Check("P71", "source_reliability", "B", own_consensus),
    Check("P72", "reliance", "B", copied_decisions),
)
