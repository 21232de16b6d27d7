"""What a study lacks for its questions: which column would answer which of them."""

from collections.abc import Collection, Iterator

import numpy as np

from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Preferences, Ratings, Study, Values
from trustreport.vocabulary.kinds import KINDS
from trustreport.vocabulary.messages import Message, say

FEWEST = 2  # cases or raters, for anything to vary


def lacking(
    study: Study, plan: Plan, given: Collection[str], *, published: bool
) -> Iterator[tuple[str, dict[str, object]]]:
    """Cautions of a study that answers nothing, or less than its tables were meant for.

    Parameters
    ----------
    given : the kinds of its tables, and our words for their columns
    published : whether the manifest itself holds figures
    """
    answered, lacks = _questions(study, plan, given)
    answered |= published
    if answered:
        meant = [reason for reason, is_meant in lacks if is_meant]
        if meant:
            yield "answers_less", {"reasons": meant}
    elif lacks == [(TRUTH, False)]:
        yield "no_truth", {}
    elif lacks:
        yield "answers_nothing", {"reasons": list(dict.fromkeys(reason for reason, _ in lacks))}
    else:
        yield "answers_nothing", {"reasons": [say("lacks.data")]}


TRUTH = say("lacks.truth")


def _questions(study: Study, plan: Plan, given: Collection[str]) -> tuple[bool, list[tuple[Message, bool]]]:
    """Whether any question is answered; why others are not, and whether the tables were meant for them."""
    answered = bool(
        study.counts or study.paired_counts or study.confusion or study.reliance_counts or study.nomogram
        or study.reported or study.localisations
    )  # fmt: skip
    lacks: list[tuple[Message, bool]] = []
    judged = [one.cases for one in study.readings] + [d.cases for d in study.datasets if d.scores]
    held = judged + [d.cases for d in study.datasets if not d.scores]
    if any(map(_is_known, judged)) or _without_truth(study):
        answered = True
    elif any(map(_is_known, held)):
        lacks.append((say("lacks.judgements"), False))
    elif held:
        lacks.append((TRUTH, False))
    for one in study.values:
        reason = _of_values(one, plan)
        answered |= reason is None
        if reason is not None:
            lacks.append((reason, True))
        elif "reference_value" in given and not _n_compared(one):
            lacks.append((say("lacks.reference", measurement=_named(one)), True))
    for ratings in study.raters:
        reason = _of_labels(ratings)
        answered |= reason is None
        lacks += [(reason, True)] if reason is not None else []
    chosen = bool(study.preferences) and not all(map(_is_one_output, study.preferences))
    answered |= chosen
    if "preferences" in given and not chosen:
        lacks.append((say("lacks.choices"), True))
    return answered, lacks


def _is_known(cases: Cases) -> bool:
    return cases.followed or bool((cases.truth >= 0).any())


def _without_truth(study: Study) -> bool:
    """Whether data sets answer something that needs no truth: a second run, or how alike they are."""
    twice = any(
        s.second_score is not None or s.second_decision is not None
        for d in study.datasets
        for s in d.scores.values()
    )
    return twice or sum(d.features is not None for d in study.datasets) > 1


def _named(one: Values) -> Message | str:
    return one.measurement or say("measurement.value")


def _n_compared(one: Values) -> int:
    """How many cases have a value and a reference."""
    if one.reference is None:
        return 0
    return int((~np.isnan(one.reference) & ~np.isnan(one.value).all(axis=(0, 1))).sum())


def _of_values(one: Values, plan: Plan) -> Message | None:
    """Why values answer nothing; None where they answer something."""
    name = _named(one)
    known = ~np.isnan(one.value)
    if known.any(axis=(0, 1)).sum() < FEWEST:
        return say("lacks.cases", measurement=name)
    if _n_compared(one) >= FEWEST:
        return None
    found, facts = np.unique(one.value[known]), plan.measurement_of(one.measurement)
    counted = facts is not None and facts.kind == "count" and facts.better == "down"
    if len(found) == 1 and not (counted and found[0] == 0):  # "0 of n" has a limit
        return say("lacks.constant", measurement=name, value=f"{found[0]:g}")
    rated = facts is not None and (facts.better is not None or KINDS[facts.kind].whole)
    n_readers = len(one.readers) if one.readers else 1
    if rated or len(one.conditions) > 1 or n_readers > 1 or one.repeats is not None:
        return None
    return say("lacks.reference", measurement=name)


def _of_labels(one: Ratings) -> Message | None:
    pairs = np.unique(np.stack([one.case, one.rater]), axis=1)
    if not (np.bincount(pairs[0]) >= FEWEST).any():  # no case has labels of two raters
        return say("lacks.raters")
    return say("lacks.labels", label=one.classes[0]) if len(np.unique(one.label)) == 1 else None


def _is_one_output(one: Preferences) -> bool:
    return len(one.outputs) < FEWEST
