"""Pitfalls of the data: cases that the device has seen, and a reference that is not one of its own."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import exp, lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.checks.check import Check, Evidence, Remark
from trustreport.checks.contradictions import keys_of
from trustreport.measures.association import fisher_exact
from trustreport.measures.proportion import clopper_pearson
from trustreport.measures.roc.auc import logit_delong
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
from trustreport.messages import Message, say
from trustreport.performance.cases import place_of_set
from trustreport.performance.keys import is_mature
from trustreport.performance.lesions import marked_cases
from trustreport.performance.readers import place_of_task
from trustreport.place import NOWHERE, Place
from trustreport.plan import DatasetFacts, Plan, VerificationDesign
from trustreport.study import (
    DEVELOPMENT_ROLES,
    Binary,
    Cases,
    Coded,
    Dataset,
    Floats,
    Labels,
    Readings,
    Scores,
)

INDEPENDENCE, REFERENCE = "potential_robustness", "source_reliability"
Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]
# Of all cases with a decision, whether verified or not.
CORRECTED = {"corrected_sensitivity", "corrected_specificity"}
NO_DIFFERENCE = 0.5  # the area under the curve of two groups with the same scores
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
    for dataset in evidence.study.datasets:
        if dataset.role not in DEVELOPMENT_ROLES:
            yield TestedCases(Place(dataset=dataset.name), dataset.cases)
    for readings in evidence.study.readings:
        yield TestedCases(place_of_task(readings, evidence.study), readings.cases)
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
    tasks = {place_of_task(r, evidence.study): r for r in evidence.study.readings}
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
            facts = _facts(evidence.plan, own.name) if own is not None else None
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
    made = [(d, _facts(evidence.plan, d.name)) for d in of_making(evidence)]
    for dataset in evidence.study.datasets:
        if dataset.role != "external":
            continue
        own = _sites(dataset, _facts(evidence.plan, dataset.name))
        pairs = [(own, _sites(d, facts)) for d, facts in made]
        if not own or not any(theirs for _, theirs in pairs):
            continue
        shared = [
            (site, _together(one[site], theirs[site]))
            for one, theirs in pairs
            for site in one
            if site in theirs
        ]
        messages = [
            say("checks.P11.fired" if together else "checks.P11.fired_undated", site=site)
            for site, together in shared
            if together is not False
        ]
        yield Remark(Place(dataset=dataset.name), messages[0] if messages else None)


Period = tuple[Any, Any] | None


def _facts(plan: Plan, name: str) -> DatasetFacts | None:
    return next((facts for facts in plan.datasets if facts.dataset == name), None)


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


# ---------------------------------------------------------------- P12, P13, P15


def decided(scores: Scores, plan: Plan, candidate: str = "") -> Binary | None:
    """The decision on each case: as recorded, else by the declared threshold; -1 where there is none."""
    if scores.decision is not None:
        return scores.decision
    score, threshold = scores.score, plan.threshold_of(candidate)
    if score is None or threshold is None:
        return None
    below = plan.operating_point.score_direction == "lower_is_positive"
    positive = score <= threshold if below else score >= threshold
    return np.where(np.isnan(score), -1, positive).astype(np.int8)


def _judgements(evidence: Evidence) -> Iterator[tuple[Place, Dataset, Binary, Floats | None]]:
    """Every candidate's decisions on a data set of use, with its scores where there are any."""
    for dataset in evidence.study.datasets:
        if dataset.role in DEVELOPMENT_ROLES or len(dataset.cases.classes) != 2:
            continue
        for name, scores in dataset.scores.items():
            decision = decided(scores, evidence.plan, name)
            if decision is not None:
                several = len(dataset.scores) > 1
                yield place_of_set(dataset, name if several else None), dataset, decision, scores.score


def incorporation(evidence: Evidence) -> Iterator[Remark]:
    """P12: the reference was made with the output of the device, or never differs from it."""
    declared = evidence.plan.reference_standard.includes_index_result
    if declared is not None:
        yield Remark(NOWHERE, say("checks.P12.fired_declared") if declared else None)
    least = evidence.limit("P12_cases")
    for place, dataset, name, scores in _outputs(evidence):
        decision = decided(scores, evidence.plan, name)
        if len(dataset.cases.classes) != 2:
            decision = _class_called(dataset, scores)
        found = _same_as_reference(dataset, scores, decision, least)
        yield from (Remark(place, message) for message in found)
    for readings in evidence.study.readings:
        place = place_of_task(readings, evidence.study)
        yield from (Remark(place, message) for message in _advice_is_reference(readings, least))


def _outputs(evidence: Evidence) -> Iterator[tuple[Place, Dataset, str, Scores]]:
    """What every candidate put out on a data set of use."""
    for dataset in evidence.study.datasets:
        if dataset.role not in DEVELOPMENT_ROLES:
            for name, scores in dataset.scores.items():
                yield place_of_set(dataset, name if len(dataset.scores) > 1 else None), dataset, name, scores


def _same_as_reference(
    dataset: Dataset, scores: Scores, decision: Binary | None, least: float
) -> Iterator[Message | None]:
    """The score that takes one value for each class, or the decision that the reference always is."""
    truth = _known_truth(dataset.cases)
    copied = _one_value_a_class(truth, scores.score, dataset.cases.classes)
    if copied is not None and copied[1] and copied[0] >= least:
        yield say("checks.P12.fired_score", n=copied[0])
    elif decision is not None:
        known = (truth >= 0) & (decision >= 0)
        if np.count_nonzero(known) >= least:
            found = _never_differs(dataset, known, decision, least)
            yield next((say("checks.P12.fired", n=n, stratum=stratum) for stratum, n in found), None)
    elif copied is not None and copied[0] >= least:
        yield None


def _known_truth(cases: Cases) -> NDArray[Any]:
    """The truth of each case, -1 where there is none; of cases that were followed, whether the event came."""
    if not cases.followed:
        return cases.truth
    event = cases.numbers["event"]
    return np.where(np.isnan(event), -1, event == 1)


def _one_value_a_class(
    truth: NDArray[Any], score: Floats | None, classes: tuple[str, ...]
) -> tuple[int, bool] | None:
    """On how many cases a score can be compared with the truth, and whether it is another name of it."""
    if score is None or len(classes) > 2:
        return None
    known = (truth >= 0) & ~np.isnan(score)
    positive, negative = (score[known & (truth == code)] for code in (1, 0))
    n = int(np.count_nonzero(known))
    if not positive.size or not negative.size:
        return n, False
    alone = all((of == of[0]).all() for of in (positive, negative))
    return n, bool(alone and positive[0] != negative[0])


def _class_called(dataset: Dataset, scores: Scores) -> Binary | None:
    """The class with the highest score, as it indexes the classes of the cases; None of two classes."""
    classes = dataset.cases.classes
    if len(classes) < 3 or scores.class_scores is None or set(scores.class_names) != set(classes):
        return None
    code = np.array([classes.index(name) for name in scores.class_names])
    known = ~np.isnan(scores.class_scores).any(axis=1)
    return np.where(known, code[np.nan_to_num(scores.class_scores).argmax(axis=1)], -1).astype(np.int8)


def _advice_is_reference(readings: Readings, least: float) -> Iterator[Message | None]:
    """The advice, or the score shown with it, that never differs from the reference."""
    looked = False
    for name in ("advice", "advice_score"):
        column = getattr(readings, name)
        if column is None:
            continue
        shown = np.where(column < 0, np.nan, column) if name == "advice" else column
        known = (readings.truth >= 0) & ~np.isnan(shown)
        n = len(np.unique(readings.case[known]))
        copied = _one_value_a_class(readings.truth, shown, readings.cases.classes)
        if copied is not None and n >= least:
            looked = True
            if copied[1]:
                yield say(f"checks.P12.fired_{name}", n=n)
                return
    if looked:
        yield None


def _never_differs(
    dataset: Dataset, known: Mask, decision: Binary, least: float
) -> Iterator[tuple[str | Message, int]]:
    """The set, or sites of it, in which both classes occur and every reference is the device's decision."""
    truth, site = dataset.cases.truth, dataset.cases.site
    strata: list[tuple[str | Message, Mask]] = [(say("checks.P12.all"), known)]
    if site is not None:
        strata += [(name, known & (site.codes == i)) for i, name in enumerate(site.labels)]
    for stratum, inside in strata:
        n = int(np.count_nonzero(inside))
        several = len(np.unique(truth[inside])) > 1
        if n >= least and several and (truth[inside] == decision[inside]).all():
            yield stratum, n


def verification(evidence: Evidence) -> Iterator[Remark]:
    """P13: who got a reference depends on what the device, or the readers, decided.

    Where it does so by a declared design, the corrected measures are judged and the others are not.
    """
    standard = evidence.plan.reference_standard
    applied, designed = standard.applied_to, standard.verification
    biased = _all_but_corrected(evidence) if designed is not None else ()
    if applied is not None:
        declared = say("checks.P13.fired_declared", applied=say(f"checks.P13.applied.{applied}"))
        yield Remark(NOWHERE, None if applied == "all" else declared, biased if applied == "subset" else ())
    alpha = evidence.limit("P13_alpha")
    for place, dataset, decision, score in _judgements(evidence):
        # Who is too young for a reference lacks one whatever was decided.
        old = is_mature(dataset, evidence.study, evidence.plan)
        truth, decision, score = (
            dataset.cases.truth[old],
            decision[old],
            None if score is None else score[old],
        )
        other = designed and _not_as_designed(truth, decision, score, designed, alpha)
        if other:
            yield Remark(place, other)
        else:
            yield Remark(place, _partial(truth, decision, alpha, "design" if designed else "device"), biased)
    for place, dataset, score in _scores_alone(evidence):
        old = is_mature(dataset, evidence.study, evidence.plan) & np.isfinite(score)
        yield Remark(place, _by_score(dataset.cases.truth[old] >= 0, score[old], alpha))
    for readings in evidence.study.readings:
        if len(readings.cases.classes) == 2 and readings.decision is not None:
            place = place_of_task(readings, evidence.study)
            yield Remark(place, _partial(readings.cases.truth, _majority(readings), alpha, "readers"))


def _all_but_corrected(evidence: Evidence) -> tuple[str, ...]:
    """The quantities of the report that refer to verified cases alone."""
    return tuple(sorted({r.quantity.base for r in evidence.results} - CORRECTED))


def _not_as_designed(
    truth: Binary, decision: Binary, score: Floats | None, designed: VerificationDesign, alpha: float
) -> Message | None:
    """What in the data contradicts a declared random verification, all tests together at alpha (Bonferroni).

    The share verified is compared with the declared one exactly; and where only some of the cases decided
    alike were verified, these must not have other scores than those that were not.
    """
    if (truth[decision >= 0] >= 0).all():
        return None  # nothing is unverified, so nothing is biased
    level = 1 - alpha / (2 * len(designed.shares))
    for said, share in designed.shares.items():
        inside = decision == said
        verified = truth[inside] >= 0
        n, known = len(verified), int(np.count_nonzero(verified))
        if not n:
            continue
        called = say(f"checks.P13.called.{'positive' if said else 'negative'}")
        found = clopper_pearson(known, n, level)
        if not found.low <= share <= found.high or (share == 1 and known < n):
            return say("checks.P13.other_share", called=called, share=share, known=known, n=n)
        scored = np.zeros(n, bool) if score is None else np.isfinite(score[inside])
        if score is not None and _side(verified[scored], score[inside][scored], 1 - level):
            return say("checks.P13.other_scores", called=called, known=known, n=n)
    return None


def _side(verified: Mask, score: Floats, alpha: float) -> int:
    """Whether cases with a truth have higher (1) or lower (-1) scores than those without; 0 if by chance.

    By the interval of DeLong's area; where the scores separate the two completely, and it has none, by the
    exact probability of that, two in all ways to choose the cases with a truth.
    """
    n, known = len(verified), int(np.count_nonzero(verified))
    if known in (0, n):
        return 0
    area = logit_delong(verified, score, level=1 - alpha)
    separated = (
        area.value in (0, 1) and 2 * exp(lgamma(known + 1) + lgamma(n - known + 1) - lgamma(n + 1)) <= alpha
    )
    if not (separated or area.low > NO_DIFFERENCE or area.high < NO_DIFFERENCE):
        return 0
    return 1 if area.value > NO_DIFFERENCE else -1


def _scores_alone(evidence: Evidence) -> Iterator[tuple[Place, Dataset, Floats]]:
    """Every candidate's scores on a data set of use, where they are no decisions."""
    for dataset in evidence.study.datasets:
        if dataset.role in DEVELOPMENT_ROLES or len(dataset.cases.classes) != 2:
            continue
        for name, scores in dataset.scores.items():
            if scores.score is not None and decided(scores, evidence.plan, name) is None:
                several = len(dataset.scores) > 1
                yield place_of_set(dataset, name if several else None), dataset, scores.score


def _by_score(verified: Mask, score: Floats, alpha: float) -> Message | None:
    """Whether cases with a truth have other scores than those without, where that is not chance."""
    side = _side(verified, score, alpha)
    if not side:
        return None
    n, known = len(verified), int(np.count_nonzero(verified))
    key = "higher" if side > 0 else "lower"
    return say(f"checks.P13.fired_{key}", known=known, n=n, without=n - known)


def _majority(readings: Readings) -> Binary:
    """What most readings of a case say, -1 where as many say the other."""
    assert readings.decision is not None
    made = readings.decision >= 0
    n = len(readings.cases)
    votes = np.bincount(readings.case[made], minlength=n)
    positive = np.bincount(readings.case[made], weights=readings.decision[made], minlength=n)
    return np.where(2 * positive == votes, -1, 2 * positive > votes).astype(np.int8)


def _partial(truth: Binary, decision: Binary, alpha: float, by: str) -> Message | None:
    """How many of either decision were verified, and what sensitivity could be, where that is not chance."""
    verified = truth >= 0
    cells = {
        (d, v): int(np.count_nonzero((decision == d) & (verified == bool(v)))) for d in (0, 1) for v in (0, 1)
    }
    positive, negative = cells[1, 0] + cells[1, 1], cells[0, 0] + cells[0, 1]
    if not (cells[1, 0] or cells[0, 0]) or not positive or not negative:
        return None
    if fisher_exact(cells[1, 1], positive, cells[0, 1], negative).p > alpha:
        return None
    values = {"a": cells[1, 1], "positive": positive, "b": cells[0, 1], "negative": negative}
    if by != "device":
        return say(f"checks.P13.fired_{by}", **values)
    tp = int(np.count_nonzero((truth == 1) & (decision == 1)))
    fn = int(np.count_nonzero((truth == 1) & (decision == 0)))
    # All of the unverified without the condition among positives and with it among negatives, or the reverse.
    low = tp / (tp + fn + cells[0, 0]) if tp + fn + cells[0, 0] else 0.0
    most = tp + cells[1, 0]
    high = most / (most + fn) if most + fn else 1.0
    more = cells[1, 1] * negative > cells[0, 1] * positive
    return say("checks.P13.fired" if more else "checks.P13.fired_reverse", low=low, high=high, **values)


def reference_interval(evidence: Evidence) -> Iterator[Remark]:
    """P15: more days between the index test and the reference than were declared as the most."""
    plan = evidence.plan
    most = plan.limits.get("P15_days", plan.reference_standard.interval_days)
    if most is None:
        return
    for one in tested(evidence):
        days = one.cases.numbers.get("reference_days")
        if days is not None and not np.isnan(days).all():
            n = int(np.count_nonzero(np.abs(days) > most))
            total = int(np.count_nonzero(~np.isnan(days)))
            yield Remark(one.place, say("checks.P15.fired", n=n, days=most, total=total) if n else None)


CHECKS = (
    Check("P09", INDEPENDENCE, "B", patient_leakage),
    Check("P10", INDEPENDENCE, "B", overlap),
    Check("P11", INDEPENDENCE, "W", called_external),
    Check("P12", REFERENCE, "B", incorporation),
    Check("P13", REFERENCE, "B", verification),
    Check("P15", REFERENCE, "W", reference_interval),
    Check("P61", INDEPENDENCE, "B", repeated),
)
