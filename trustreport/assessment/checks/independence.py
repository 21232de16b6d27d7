"""Pitfalls of cases that are not independent: seen in training, repeated, or of the same sites."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.checks.check import Check, Evidence, Remark
from trustreport.assessment.checks.contradictions import keys_of
from trustreport.assessment.performance.lesions import marked_cases
from trustreport.measures.similarity.duplicates import (
    Keys,
    copies,
    in_both,
    is_sparse,
    multiples,
    nearest,
    repeats,
    row_keys,
)
from trustreport.study.plan import DatasetFacts
from trustreport.study.study import (
    DEVELOPMENT_ROLES,
    Cases,
    Coded,
    Dataset,
    Floats,
    Labels,
    Readings,
)
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place

INDEPENDENCE = "potential_robustness"
Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]
NO_CHANCE = 1e-4  # p up to which equal scores are no accident
LEAST_COPIES = 20  # from which equal scores, or readings, of one set are looked into
MANY_VALUES = 20  # values of a column of readings from which whole readings hardly agree by chance


@dataclass(frozen=True, slots=True, eq=False)
class TestedCases:
    """Cases on which something was tested, and where they belong."""

    place: Place
    cases: Cases


def tested(evidence: Evidence) -> Iterator[TestedCases]:
    """The cases of every data set that the device was not made from, and of every task that was read."""
    for dataset in evidence.sets_of_use():
        yield TestedCases(Place(dataset=dataset.name), dataset.cases)
    for readings, place in evidence.tasks():
        yield TestedCases(place, readings.cases)
    for one in marked_cases(evidence.study, evidence.plan):
        if one.by_readers:
            yield TestedCases(one.place, one.of.cases)


def of_making(evidence: Evidence) -> list[Dataset]:
    """The data sets that the device was made from."""
    return [d for d in evidence.study.datasets if d.role in DEVELOPMENT_ROLES]


def _present(column: Coded | None) -> Labels | None:
    """The names that occur in a column, None where there is no column or it is empty."""
    if column is None or not len(column.labels) or not (column.codes >= 0).any():
        return None
    return column.labels


# ---------------------------------------------------------------- P09, P10, P11, P61


def patient_leakage(evidence: Evidence) -> Iterator[Remark]:
    """P09: a patient of the test is one of the training."""
    known = [names for d in of_making(evidence) if (names := _present(d.cases.patient)) is not None]
    if not known:
        return
    seen = {name for names in known for name in names}
    for one in tested(evidence):
        own = _present(one.cases.patient)
        if own is not None:
            n = sum(name in seen for name in own)
            yield Remark(one.place, say("checks.P09.fired", n=n, total=len(own)) if n else None)


def overlap(evidence: Evidence) -> Iterator[Remark]:
    """P10: a test case has the content, or every feature, of a training case."""
    made = of_making(evidence)
    hashes = [names for d in made if (names := _present(d.cases.content)) is not None]
    seen = {name for names in hashes for name in names}
    features = {d.name: d for d in evidence.study.datasets}
    for one in tested(evidence):
        looked, found = False, []
        own = _present(one.cases.content)
        if own is not None and one.cases.content is not None and hashes:
            looked = True
            same = np.append([name in seen for name in own], False)
            n = int(np.count_nonzero(same[one.cases.content.codes]))
            found += [say("checks.P10.fired", n=n)] if n else []
        external = features.get(one.place.dataset or "")
        for training in made if external is not None else ():
            assert external is not None
            pair = _shared_features(external, training)
            if pair is not None:
                looked = True
                message = _alike(*pair, evidence.limit("P10_distance"), training.name)
                found += [message] if message else []
            both = _scored_alike(external, training) if not found else None
            if both is not None:
                looked = True
                n, p = both
                if p < NO_CHANCE:
                    found.append(say("checks.P10.fired_scores", n=n, training=training.name))
        if looked:
            yield from (Remark(one.place, message) for message in found) if found else [Remark(one.place)]


def _scored_alike(external: Dataset, training: Dataset) -> tuple[int, float] | None:
    """How many cases of two sets alone share truth and scores, and p of that; None without fine scores."""
    names = [name for name in external.scores if name in training.scores]
    own, other = (_truth_and_scores(d, names)[0] for d in (external, training))
    if own.shape[1] != other.shape[1] or not any(map(is_sparse, np.concatenate([own, other]).T)):
        return None
    return in_both(row_keys(own), row_keys(other))


def _truth_and_scores(dataset: Dataset, names: Iterable[str]) -> tuple[Floats, Rows]:
    """Truth and scores of the cases that have all of them, (n, n_columns), and their rows.

    Without scores there are no cases.
    """
    cases, columns = dataset.cases, []
    for name in names:
        scores = dataset.scores[name]
        held = scores.score if scores.score is not None else scores.class_scores
        columns += [] if held is None else list(held.reshape(len(cases), -1).T)
    followed = [cases.numbers["follow_up"], cases.numbers["event"]] if cases.followed else []
    table = np.column_stack([cases.truth, *followed, *columns]).astype(np.float64)
    rows: Rows = np.flatnonzero(~np.isnan(table).any(axis=1) & bool(columns))
    return table[rows], rows


def _shared_features(
    external: Dataset, training: Dataset
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Both sets in the features that they share, in one order."""
    names = [name for name in external.feature_names if name in training.feature_names]
    if not names or external.features is None or training.features is None:
        return None
    columns = [[d.feature_names.index(name) for name in names] for d in (external, training)]
    return external.features[:, columns[0]], training.features[:, columns[1]]


def _alike(own: NDArray[np.float64], training: NDArray[np.float64], near: float, name: str) -> Message | None:
    copied, expected = copies(own, training)
    n = int(copied.sum())
    if _more_than_chance(n, expected):
        return say("checks.P10.fired_features", n=n, training=name, expected=expected)
    if near > 0:
        distance = nearest(own, training)
        close = int(np.count_nonzero(distance <= near))
        if close > n:
            return say("checks.P10.fired_near", n=close, training=name, distance=near)
    return None


def _more_than_chance(n: int, expected: float) -> bool:
    """Clearly more than agree by chance, where features are so coarse that some do."""
    return bool(n > 2 * expected + 3 * np.sqrt(expected))


def repeated(evidence: Evidence) -> Iterator[Remark]:
    """P61: cases of one set have the content, or the truth and scores or readings, of another case of it.

    Equal content is certain, and so are scores that agree as often as copies do and chance does not. Equal
    features and scores of few cases are a suspicion, so they warn and do not block.
    """
    sets = {d.name: d for d in evidence.study.datasets}
    tasks = {place: readings for readings, place in evidence.tasks()}
    for one in tested(evidence):
        content, own = one.cases.content, sets.get(one.place.dataset or "")
        total, looked, found, warns = len(one.cases), False, None, False
        if content is not None and _present(content):
            looked = True
            n = int(np.maximum(np.bincount(content.codes[content.codes >= 0]) - 1, 0).sum())
            found = say("checks.P61.fired", n=n, total=total) if n else None
        read, known, what = tasks.get(one.place), None, "readings" if own is None else "scores"
        if own is not None and not found:
            known = _keys_of_scores(own)
        elif read is not None and not found:
            known = _keys_of_readings(read)
        if known is not None:
            looked = True
            keys, rows, fine = known
            facts = evidence.facts(own.name) if own is not None else None
            found = _copied(_one_a_patient(keys, rows, one.cases, facts), total, what, fine=fine)
        if own is not None and own.features is not None and own.scores and not found:
            looked = True
            found, warns = _alike_in_all(own, own.features), True
        if looked:
            yield Remark(one.place, found, severity="W" if warns else None)


def _alike_in_all(own: Dataset, features: Floats) -> Message | None:
    """Cases that equal another in every feature and score, more often than chance explains."""
    scores = [s.score if s.score is not None else s.decision for s in own.scores.values()]
    also = np.column_stack([np.full(len(own.cases), 0.0), *(s for s in scores if s is not None)])
    alike, expected = repeats(features, also)
    n = int(alike.sum())
    message = say("checks.P61.fired_features", n=n, total=len(own.cases), expected=expected)
    return message if _more_than_chance(n, expected) else None


KeysOfCases = tuple[Keys, Rows, bool]
"""A key for each case of which enough is known, the rows of these cases, and whether few agree by chance."""


def _keys_of_scores(own: Dataset) -> KeysOfCases | None:
    """By truth, scores and features."""
    table, rows = _truth_and_scores(own, own.scores)
    if not len(rows):
        return None
    features = own.features[rows] if own.features is not None else np.empty((len(rows), 0))
    return row_keys(np.column_stack([table, features])), rows, any(map(is_sparse, table.T))


def _keys_of_readings(read: Readings) -> KeysOfCases:
    """By truth, and all that was recorded of each reading, of every reader in every arm."""
    recorded = (read.decision, read.score, read.seconds, read.confidence, read.second_score)
    held = [np.asarray(column, np.float64) for column in recorded if column is not None]
    grids = [read.grid(column, read.arms).reshape(-1, len(read.cases)) for column in held]
    rows = np.unique(read.case).astype(np.int64)
    fine = any(len(np.unique(column[~np.isnan(column)])) > MANY_VALUES for column in held)
    return row_keys(np.column_stack([read.cases.truth, *(g.T for g in grids)])[rows]), rows, fine


def _one_a_patient(keys: Keys, rows: Rows, cases: Cases, facts: DatasetFacts | None) -> Keys:
    """The keys without those that cases of one patient repeat: intervals know that these belong together."""
    column = next(iter(keys_of(cases, facts)), None)
    if column is None:
        return keys
    whose = column.codes[rows].astype(np.int64)
    whose = np.where(whose < 0, -1 - np.arange(len(whose)), whose)
    order = np.lexsort((whose, keys))
    again = (np.diff(keys[order]) == 0) & (np.diff(whose[order]) == 0)
    return keys[order][np.append(True, ~again)]


def _copied(keys: Keys, total: int, what: str, *, fine: bool) -> Message | None:
    """What is wrong where keys occur as often as those of copies do."""
    found = multiples(keys)
    if found is None or found.p > NO_CHANCE or not (fine or found.even):
        return None
    n = found.found * (found.times - 1)
    values = {"values": found.found, "times": found.times, "more": found.more, "next": found.times + 1}
    return say(f"checks.P61.fired_{what}", n=n, total=total, **values) if n >= LEAST_COPIES else None


def called_external(evidence: Evidence) -> Iterator[Remark]:
    """P11: a set that is called external shares a site with the training data, at the same time."""
    made = [(d, evidence.facts(d.name)) for d in of_making(evidence)]
    for dataset in evidence.study.datasets:
        if dataset.role != "external":
            continue
        own = _sites(dataset, evidence.facts(dataset.name))
        training = [_sites(d, facts) for d, facts in made]
        if not own or not any(training):
            continue
        shared = [
            (site, _together(own[site], theirs[site]))
            for theirs in training
            for site in own
            if site in theirs
        ]
        messages = [
            say("checks.P11.fired" if together else "checks.P11.fired_undated", site=site)
            for site, together in shared
            if together is not False
        ]
        yield Remark(Place(dataset=dataset.name), messages[0] if messages else None)


Period = tuple[Any, Any] | None


def _sites(dataset: Dataset, facts: DatasetFacts | None) -> dict[str, Period]:
    """The sites of a set with their first and last day, by the data, else as declared."""
    declared: Period = None
    if facts and facts.start_date and facts.end_date:
        declared = (np.datetime64(facts.start_date), np.datetime64(facts.end_date))
    cases, found = dataset.cases, {}
    if cases.site is not None:
        for i, name in enumerate(cases.site.labels):
            days = (
                cases.date[cases.site.codes == i] if cases.date is not None else np.array([], "datetime64[D]")
            )
            days = days[~np.isnat(days)]
            found[name.casefold()] = (days.min(), days.max()) if days.size else declared
    elif facts and facts.sites:
        found = dict.fromkeys((site.casefold() for site in facts.sites), declared)
    return found


def _together(one: Period, other: Period) -> bool | None:
    """Whether two periods meet; None where one is not known."""
    if one is None or other is None:
        return None
    return bool(one[0] <= other[1] and other[0] <= one[1])


CHECKS = (
    Check("P09", INDEPENDENCE, "B", patient_leakage, of_rows=True),
    Check("P10", INDEPENDENCE, "B", overlap, of_rows=True),
    Check("P11", INDEPENDENCE, "W", called_external, of_rows=True),
    Check("P61", INDEPENDENCE, "B", repeated, of_rows=True),
)
