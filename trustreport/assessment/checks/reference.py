"""Pitfalls of the reference standard: not independent, missing by decision, late, or weak."""

from collections.abc import Iterator
from math import exp, isnan, lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.checks.check import Check, Evidence, Remark, Withholding, outputs
from trustreport.assessment.checks.independence import Mask, tested
from trustreport.assessment.performance.keys import is_mature
from trustreport.assessment.performance.labels import why_labels_err, words_on_labels
from trustreport.measures.association import fisher_exact
from trustreport.measures.proportion import clopper_pearson
from trustreport.measures.roc.auc import logit_delong
from trustreport.study.plan import Plan, VerificationDesign
from trustreport.study.study import (
    Binary,
    Cases,
    Dataset,
    Floats,
    Readings,
    Scores,
)
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result, leading

# Of all cases with a decision, whether verified or not.
CORRECTED = {"corrected_sensitivity", "corrected_specificity"}
NO_DIFFERENCE = 0.5  # the area under the curve of two groups with the same scores


DIMENSION = "source_reliability"


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


def _judgements(evidence: Evidence) -> Iterator[tuple[Place, Dataset, Binary | None, Floats | None]]:
    """Every candidate's decisions and scores on a data set of use with two classes."""
    for place, dataset, name, scores in outputs(evidence.sets_of_use()):
        if len(dataset.cases.classes) == 2:
            yield place, dataset, decided(scores, evidence.plan, name), scores.score


def incorporation(evidence: Evidence) -> Iterator[Remark]:
    """P12: the reference was made with the output of the device, or never differs from it."""
    declared = evidence.plan.reference_standard.includes_index_result
    if declared is not None:
        yield Remark(NOWHERE, say("checks.P12.fired_declared") if declared else None)
    least = evidence.limit("P12_cases")
    for place, dataset, name, scores in outputs(evidence.sets_of_use()):
        decision = decided(scores, evidence.plan, name)
        if len(dataset.cases.classes) != 2:
            decision = _class_called(dataset, scores)
        found = _same_as_reference(dataset, scores, decision, least)
        yield from (Remark(place, message) for message in found)
    for readings, place in evidence.tasks():
        yield from (Remark(place, message) for message in _advice_is_reference(readings, least))


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
    judged = list(_judgements(evidence))
    for place, dataset, decision, score in judged:
        if decision is None:
            continue
        # Who is too young for a reference lacks one whatever was decided.
        old = is_mature(dataset, evidence.study, evidence.plan)
        truth, decision = dataset.cases.truth[old], decision[old]
        score = None if score is None else score[old]
        other = designed and _not_as_designed(truth, decision, score, designed, alpha)
        if other:
            yield Remark(place, other)
        else:
            yield Remark(place, _partial(truth, decision, alpha, "design" if designed else "device"), biased)
    for place, dataset, decision, score in judged:
        if decision is not None or score is None:
            continue
        old = is_mature(dataset, evidence.study, evidence.plan) & np.isfinite(score)
        yield Remark(place, _by_score(dataset.cases.truth[old] >= 0, score[old], alpha))
    for readings, place in evidence.tasks():
        if len(readings.cases.classes) == 2 and readings.decision is not None:
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


def weak_reference(evidence: Evidence) -> Iterator[Remark]:
    """P14: agreement whose interval reaches below the limit, cases with one rater, assessors not blinded."""
    several = len(evidence.study.raters) > 1
    for ratings in evidence.study.raters:
        place = Place(panel=ratings.task if several else "")
        labels = np.bincount(ratings.case[ratings.label >= 0], minlength=len(ratings.cases))
        single, total = int(np.count_nonzero(labels == 1)), int(np.count_nonzero(labels))
        share = evidence.limit("P14_single")
        found = [say("checks.P14.single", n=single, total=total) if single > share * total else None]
        if (labels > 1).any():
            found.append(_agreement(evidence, place))
        fired = [Remark(place, message) for message in found if message]
        yield from fired or [Remark(place)]
    yield from _blinding(evidence)


def _agreement(evidence: Evidence, place: Place) -> Message | None:
    alpha = leading(evidence.results, f"{DIMENSION}.krippendorff_alpha", raters=None, **place.scope)
    if alpha is None:
        return None
    limit = evidence.limit("P14_agreement")
    e = alpha.estimate
    # What a perfect device could reach is that of labels that are the same or not: ranks are not.
    by_rank = alpha.parameters.get("weights") == "ordinal"
    label = leading(evidence.results, f"{DIMENSION}.label_accuracy", set=None, **place.scope)
    best = say("checks.P14.ranks") if by_rank else _best(label)
    if isnan(e.low):
        return say("checks.P14.no_interval", reason=e.note, best=best) if not e.value >= limit else None
    if e.low >= limit:
        return None
    whose = say(f"checks.P14.{'declared' if 'P14_agreement' in evidence.plan.limits else 'customary'}")
    return say("checks.P14.fired", value=e.value, low=e.low, high=e.high, limit=limit, best=best, whose=whose)


def _best(label: Result | None) -> Message:
    """The accuracy that a device which is always right would be measured at."""
    if label is None or isnan(label.estimate.value):
        return say("checks.P14.no_best")
    method = say(f"method.{label.method}.text")
    return say("checks.P14.best", value=label.estimate.value, method=method)


def _blinding(evidence: Evidence) -> Iterator[Remark]:
    reference = evidence.plan.reference_standard
    declared = {"index": reference.blinded_to_index, "readers": reference.blinded_to_readers}
    seen = [say(f"checks.P14.what_{name}") for name, blinded in declared.items() if blinded is False]
    if seen:
        yield Remark(NOWHERE, say("checks.P14.not_blinded", what=seen))
    elif not evidence.study.raters and None not in declared.values():
        yield Remark()


# What stands in the definition of labels that were read from reports or codes and not from the cases.
AGAINST_LABELS = Withholding(
    "every number against these labels that is not corrected for their error",
    "labels",
    lambda result, _: result.quantity.needs_right_labels,
)


def labels_with_error(evidence: Evidence) -> Iterator[Remark]:
    """P73: labels that are wrong at times, whose error is not declared or not taken into account."""
    plan = evidence.plan
    why = why_labels_err(plan)
    if why is not None:
        yield Remark(NOWHERE, why)
    elif plan.reference_standard.kind is not None or any(words_on_labels(plan)):
        yield Remark()


CHECKS = (
    Check("P73", DIMENSION, "B", labels_with_error, AGAINST_LABELS),
    Check("P12", DIMENSION, "B", incorporation, of_rows=True),
    Check("P13", DIMENSION, "B", verification, of_rows=True),
    Check("P15", DIMENSION, "W", reference_interval, of_rows=True),
    Check("P14", DIMENSION, "W", weak_reference, of_rows=True),
)
