"""The answer from declared criteria: how many are met, which are not; of candidates, who meets them all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trustreport.assessment.assess import Assessment
from trustreport.assessment.verdicts import Standing, Verdict, candidate_names, requirements, status
from trustreport.assessment.verdicts.verdict import ROLES, Locked
from trustreport.report.answer.acceptance import bound_text, ends_of, locked_bound
from trustreport.report.answer.sentences import (
    MOST_NAMED,
    Statement,
    first_letter,
    in_brackets,
    results_of,
    title,
    with_requirement,
    within,
    worst_data,
)
from trustreport.report.tables import in_words
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result, leading

OPEN = ("inconclusive", "not assessable", "not tested")
TIMES = "oe_ratio"
MOST_REASONS = 2
TWO = 2  # "both", "neither"
BOTH = 2
COUNTED = {"sensitivity": "misses", "specificity": "alarms"}


def criteria_answer(assessment: Assessment, say: Catalogue) -> tuple[list[Statement], list[Statement]]:
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


@dataclass(frozen=True, slots=True)
class CandidateStatus:
    """A candidate, whether it meets its requirements, and the verdicts on them."""

    name: str
    standing: Standing
    verdicts: tuple[Verdict, ...]

    @property
    def failed(self) -> list[Verdict]:
        """Requirements that are not met."""
        return [v for v in self.verdicts if v.word == "fail"]

    @property
    def open(self) -> list[Verdict]:
        """Requirements that are neither met nor refuted, or could not be judged."""
        return [v for v in self.verdicts if v.word not in ("pass", "fail")]


def named(assessment: Assessment) -> bool:
    """Whether something is required of a named candidate."""
    return bool(candidate_statuses(assessment))


def candidate_statuses(assessment: Assessment) -> list[CandidateStatus]:
    """Each candidate of which something is required, in the manifest's order.

    A criterion that names no candidate is required of each; exploratory ones and comparisons of none.
    """
    names = candidate_names(assessment.plan, assessment.results)
    rows = [row for row in requirements(assessment.verdicts, names) if row.counts]
    found = [
        CandidateStatus(
            name, status(rows, name), tuple(row.verdicts[name] for row in rows if name in row.verdicts)
        )
        for name in names
    ]
    return [one for one in found if one.verdicts]


def conclusion(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Who meets every requirement, who is undecided and on what, who fails in what."""
    found = candidate_statuses(assessment)
    meets = [s for s in found if s.standing == "met"]
    first = _who_meets(meets, found, say)
    sentences = [first] if first else []
    sentences += [_open_requirements(s, assessment, say) for s in found if s.standing == "undecided"]
    sentences += [_fails(s, assessment, say) for s in found if s.standing == "failed"]
    free = [
        n for n in candidate_names(assessment.plan, assessment.results) if n not in {s.name for s in found}
    ]
    if free:
        sentences.append(Statement(say("answer.candidates.silent", names=free, n=len(free))))
    return sentences


def candidates_answer(assessment: Assessment, say: Catalogue) -> tuple[list[Statement], list[Statement]]:
    """Sentences, and what supports them."""
    meets = [s for s in candidate_statuses(assessment) if s.standing == "met"]
    support = _between(meets, assessment, say) if len(meets) > 1 else []
    lost = losses(assessment.verdicts, assessment, say)
    return lost + conclusion(assessment, say), support + _comparisons(assessment, say)


def _who_meets(
    meets: Sequence[CandidateStatus], found: Sequence[CandidateStatus], say: Catalogue
) -> Statement | None:
    if not meets and len(found) == 1:
        return None
    if not meets:
        key = "nobody_shown" if any(s.standing == "undecided" for s in found) else "nobody"
        key += "_two" if len(found) == BOTH else ""
        return Statement(say(f"answer.candidates.{key}", n=len(found)))
    counts = {len(s.verdicts) for s in meets}
    n = counts.pop()
    same = "both" if n == BOTH else "their" if n == 1 and len(meets) > 1 else "same"
    what = say(f"answer.candidates.requirements_{'own' if counts else same}", n=n)
    only = "only" if len(meets) == 1 < len(found) else "meet"
    text = say(f"answer.candidates.{only}", names=[s.name for s in meets], what=what, n=len(meets))
    return Statement(text, tuple(r for s in meets for r in results_of(s.verdicts)))


def _open_requirements(one: CandidateStatus, assessment: Assessment, say: Catalogue) -> Statement:
    names = [_open_clause(v, assessment, say) for v in one.open[:MOST_NAMED]]
    return Statement(say("answer.candidates.undecided", name=one.name, on=names), results_of(one.open))


def _open_clause(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
    name = within(title(verdict, assessment, say), say)
    if verdict.result is None or verdict.word != "inconclusive":
        word = say(f"verdict.{verdict.word.replace(' ', '_')}")
        return say("word.interval", value=name, interval=word)
    estimate = in_brackets(verdict.result, say, bounds=ends_of(verdict))
    required = bound_text(verdict, say)
    return say("answer.candidates.open", title=name, estimate=estimate, required=required)


def _fails(one: CandidateStatus, assessment: Assessment, say: Catalogue) -> Statement:
    clauses = []
    for v in one.failed[:MOST_NAMED]:
        name = within(title(v, assessment, say), say)
        found = v.result
        counted = COUNTED.get(found.quantity.id) if found is not None else None
        if found is not None and counted:
            e = found.estimate
            what = say(f"answer.candidates.{counted}", k=round(e.n * (1 - e.value)), n=e.n)
        elif found is not None:
            estimate = in_words(found, say, bounds=ends_of(v))
            what = say("answer.candidates.fails_by", estimate=estimate, required=bound_text(v, say))
        else:
            what = ""
        clauses.append(say("answer.candidates.failure", title=name, what=what) if what else name)
    text = say("answer.candidates.fails", name=one.name, on=say("answer.clauses", items=clauses))
    return Statement(text, results_of(one.failed))


def _between(meets: Sequence[CandidateStatus], assessment: Assessment, say: Catalogue) -> list[Statement]:
    """How the candidates that may be bought differ on what the first requirement is about."""
    first = next((v.result for v in meets[0].verdicts if v.result is not None), None)
    if first is None:
        return []
    said = []
    for i, one in enumerate(meets):
        for other in meets[i + 1 :]:
            found = _difference(first, (one.name, other.name), assessment.results)
            if found is not None:
                e = found.estimate
                apart = e.low > 0 or e.high < 0
                a, b = found.place.candidates or ("", "")
                measure = within(first_letter(say(f"quantity.{first.quantity.id}")), say)
                text = say(
                    f"answer.candidates.{'apart' if apart else 'alike'}",
                    one=a,
                    other=b,
                    measure=measure,
                    estimate=in_brackets(found, say),
                )
                said.append(Statement(text, (found,)))
    return said[:MOST_NAMED]


def _difference(first: Result, pair: tuple[str, str], results: Sequence[Result]) -> Result | None:
    id = f"{first.id}_difference"
    for names in (pair, pair[::-1]):
        found = leading(results, id, candidates=list(names), dataset=first.place.dataset, subgroup=None)
        if found is not None:
            return found
    return None


def _comparisons(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Criteria that compare candidates."""
    names = candidate_names(assessment.plan, assessment.results)
    rows = [row for row in requirements(assessment.verdicts, names) if row.baseline]
    own = [v for row in rows for v in row.verdicts.values() if not v.is_loss]  # those come first of all
    said = []
    for v in own[:MOST_NAMED]:
        name = within(title(v, assessment, say), say)
        word = say(f"verdict.{v.word.replace(' ', '_')}")
        if v.result is None:
            said.append(Statement(say("answer.candidates.comparison_open", title=name, word=word)))
            continue
        text = say(
            "answer.candidates.comparison",
            title=name,
            word=word,
            estimate=in_brackets(v.result, say, bounds=ends_of(v)),
            required=bound_text(v, say),
        )
        said.append(Statement(text, (v.result,)))
    return said
