"""The answer from declared criteria: how many are met, which are not, and the worst data set."""

from collections.abc import Iterator, Sequence

from trustreport.assessment.assess import Assessment
from trustreport.assessment.verdicts import Verdict
from trustreport.assessment.verdicts.verdict import ROLES, Locked
from trustreport.report.answer.acceptance import bound_text, locked_bound
from trustreport.report.answer.sentences import (
    MOST_NAMED,
    Statement,
    first_letter,
    results_of,
    title,
    with_requirement,
    within,
)
from trustreport.report.answer.worst import worst_data
from trustreport.vocabulary.messages import Catalogue

OPEN = ("inconclusive", "not assessable", "not tested")
TIMES = "oe_ratio"
MOST_REASONS = 2
TWO = 2  # "both", "neither"


def answer(assessment: Assessment, say: Catalogue) -> tuple[list[Statement], list[Statement]]:
    """Sentences, and what supports them."""
    verdicts = assessment.verdicts
    failed = _by_role(v for v in verdicts if v.word == "fail")
    sentences = losses(verdicts, assessment, say)
    told = [v for v in verdicts if v.is_loss]
    if len(verdicts) > 1 or not told:
        sentences.append(_met(verdicts, assessment, say))
    unsaid = [v for v in failed if v not in told]
    if unsaid:
        sentences.append(_failed(unsaid, len(failed), len(verdicts), assessment, say))
    support = list(_open(verdicts, assessment, say))
    support += _safe(verdicts, assessment, say)
    support += _only_as_amended(verdicts, assessment, say)
    worst = worst_data(assessment, say)
    return sentences, support + ([worst] if worst else [])


def losses(verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue) -> list[Statement]:
    """What got significantly worse, whatever the margins say; nothing where nothing did."""
    lost = _by_role(v for v in verdicts if v.is_loss)
    if not lost:
        return []
    clauses = [
        say(
            "answer.criteria.loss_clause",
            criterion=with_requirement(v, assessment, say),
            word=say(f"verdict.{v.word}"),
        )
        for v in lost[:MOST_NAMED]
    ]
    if len(lost) > MOST_NAMED:
        clauses.append(say("word.more", n=len(lost) - MOST_NAMED))
    text = say("answer.criteria.loss", clauses=say("answer.clauses", items=clauses))
    return [Statement(text, results_of(lost))]


def _by_role(verdicts: Iterator[Verdict]) -> list[Verdict]:
    return sorted(verdicts, key=lambda v: ROLES.index(v.criterion.role))


def _met(verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue) -> Statement:
    met = [v for v in verdicts if v.word == "pass"]
    n, k = len(verdicts), len(met)
    if n == 1 and k == 0:
        word = verdicts[0].word
        if word == "not assessable":
            return Statement(say("answer.criteria.only_not_assessable", reason=verdicts[0].reason))
        if word in OPEN:
            return Statement(
                say(
                    f"answer.criteria.only_{word.replace(' ', '_')}",
                    criterion=with_requirement(verdicts[0], assessment, say),
                ),
                results_of(verdicts),
            )
        return Statement(say("answer.criteria.only_fail"))
    amended = len([v for v in met if _lost_as_locked(v)])
    if amended:
        key = "all" if n == k else "some"
        return Statement(say(f"answer.criteria.{key}_amended", n=k, all=n, amended=amended), results_of(met))
    if n == k:
        return Statement(
            say("answer.criteria.all_two" if n == TWO else "answer.criteria.all", n=n), results_of(met)
        )
    if k:
        return Statement(say("answer.criteria.some", n=k, all=n), results_of(met))
    words, none = {v.word for v in verdicts}, "none_two" if n == TWO else "none"
    if len(words) == 1 and "fail" not in words:
        return Statement(say(f"answer.criteria.{none}_{words.pop().replace(' ', '_')}", n=n))
    return Statement(say(f"answer.criteria.{none}", n=n))


def _failed(
    failed: Sequence[Verdict], every: int, n: int, assessment: Assessment, say: Catalogue
) -> Statement:
    """What fails, of `every` criteria that fail among `n`."""
    named = [_failure(v, assessment, say) for v in failed[:MOST_NAMED]]
    if n == 1:
        return Statement(say("answer.criteria.failure", clause=first_letter(named[0])), results_of(failed))
    more = every - len(named)
    key = "failed_more" if more else "failed"
    text = say(f"answer.criteria.{key}", n=every, clauses=say("answer.clauses", items=named), more=more)
    return Statement(text, results_of(failed[:MOST_NAMED]))


def _failure(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
    """What was found where a criterion is not met, as a clause."""
    found = verdict.result
    if found is not None and found.name == TIMES and found.estimate.value > 1:
        place = found.place.dataset or found.place.set or ""
        key = "answer.criteria.more_than_predicted" + ("_at" if place else "")
        return say(key, place=place, value=float(found.estimate.value))
    clause = with_requirement(verdict, assessment, say)
    return say("answer.criteria.safety", clause=clause) if verdict.criterion.role == "safety" else clause


def _open(verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """What is inconclusive, cannot be assessed or was not tested; safety criteria by name."""
    if len(verdicts) == 1:
        return
    words = {v.word for v in verdicts}
    if len(words) == 1 and words <= set(OPEN):  # the answer has said that none can be decided
        yield from _all_open(verdicts, assessment, say)
        return
    for word in OPEN:
        own = _by_role(v for v in verdicts if v.word == word)
        if not own:
            continue
        key = f"answer.criteria.{word.replace(' ', '_')}"
        if all(v.is_loss for v in own):  # the answer has named them
            yield Statement(say(key, n=len(own)))
            continue
        if len(own) <= MOST_NAMED - 1:
            names = [_named(v, assessment, say) for v in own]
            yield Statement(say(f"{key}_named", n=len(own), names=names), results_of(own))
            continue
        safety = [v for v in own if v.criterion.role == "safety"][:1]
        if safety:
            name = _named(safety[0], assessment, say)
            yield Statement(say(f"{key}_among", n=len(own), name=name), results_of(safety))
        else:
            yield Statement(say(key, n=len(own)))


def _all_open(verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """The criteria with their numbers, or why they cannot be judged."""
    if verdicts[0].word == "inconclusive":
        names = [_named(v, assessment, say) for v in _by_role(iter(verdicts))[:MOST_NAMED]]
        yield Statement(first_letter(say("answer.criteria.listed", names=names)), results_of(verdicts))
        return
    for reason in list(dict.fromkeys(say(v.reason) for v in verdicts))[:MOST_REASONS]:
        yield Statement(first_letter(reason))


def _named(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
    """A criterion in a list: of what can be judged with its number, safety criteria called so."""
    name = within(title(verdict, assessment, say), say)
    if verdict.word == "inconclusive":
        name = with_requirement(verdict, assessment, say, in_short=True)
    return say("answer.criteria.safety", clause=name) if verdict.criterion.role == "safety" else name


def _lost_as_locked(verdict: Verdict) -> Locked | None:
    """The locked form of a criterion that is met, and would not be under it."""
    locked = verdict.locked
    return locked if verdict.word == "pass" and locked is not None and locked.word != "pass" else None


def _only_as_amended(
    verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue
) -> Iterator[Statement]:
    """Criteria that are met, and would not be under their locked form."""
    for v in verdicts:
        if locked := _lost_as_locked(v):
            word = say(f"answer.would.{locked.word.replace(' ', '_')}")
            bounds = {"bound": locked_bound(v, say), "now": bound_text(v, say)}
            values = {"title": title(v, assessment, say), "word": word, **bounds}
            yield Statement(say("answer.criteria.locked", **values), results_of([v]))


def _safe(verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    own = [v for v in verdicts if v.word == "pass" and v.criterion.role == "safety"]
    if own and len(own) < len(verdicts):
        names = [within(title(v, assessment, say), say) for v in own]
        yield Statement(say("answer.criteria.safety_met", n=len(own), names=names), results_of(own))
