"""The answer from declared criteria: how many are met, which are not; of candidates, who meets them all."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import side_of
from trustreport.assessment.verdicts import Standing, Verdict, candidate_names, requirements, status
from trustreport.assessment.verdicts.verdict import ROLES, Locked
from trustreport.report.answer.acceptance import (
    bound_text,
    verdict_estimate,
    verdict_word,
)
from trustreport.report.answer.losses import losses
from trustreport.report.answer.sentences import (
    MOST_NAMED,
    Said,
    Statement,
    bracketed,
    first_letter,
    in_brackets,
    results_of,
    stated,
    title_within,
    with_requirement,
    within,
    worst_data,
)
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result, leading

OPEN = ("inconclusive", "not assessable", "not tested")
TIMES = "oe_ratio"
MOST_REASONS = 2
TWO = 2  # "both", "neither"
COUNTED = {"sensitivity": "misses", "specificity": "alarms"}


def criteria_answer(assessment: Assessment, say: Catalogue) -> Said:
    """Sentences, and what supports them."""
    verdicts = assessment.verdicts
    failed = _by_role(v for v in verdicts if v.word == "fail")
    sentences, unadjusted = losses(verdicts, assessment, say)
    told = [v for v in verdicts if v.is_loss]
    if len(verdicts) > 1 or not told:
        sentences.append(_met(verdicts, assessment, say))
    if len({v.word == "pass" for v in verdicts}) > 1:
        first = sentences[0]
        sentences[0] = replace(first, text=say("answer.criteria.in_part", first=first.text))
    unsaid = [v for v in failed if v not in told]
    if unsaid:
        sentences.append(_failed(unsaid, len(failed), assessment, say))
    support = [*_open(verdicts, assessment, say), *_safe(verdicts, assessment, say)]
    return sentences, [*support, *worst_data(assessment, say), *unadjusted]


def _by_role(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return sorted(verdicts, key=lambda v: ROLES.index(v.criterion.role))


def _met(verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue) -> Statement:
    met = [v for v in verdicts if v.word == "pass"]
    n, k = len(verdicts), len(met)
    if n == 1 and k == 0:
        return _only(verdicts[0], assessment, say)
    if amended := sum(_lost_as_locked(v) is not None for v in met):
        how = "all_amended" if n == k else "some_amended"
        return stated(say, f"answer.criteria.{how}", *results_of(met), n=k, all=n, amended=amended)
    if k:
        many = "some" if k < n else "all_two" if n == TWO else "all"
        return stated(say, f"answer.criteria.{many}", *results_of(met), n=k, all=n)
    words, none = {v.word for v in verdicts}, "none_two" if n == TWO else "none"
    if len(words) == 1 and "fail" not in words:
        return stated(say, f"answer.criteria.{none}_{words.pop().replace(' ', '_')}", n=n)
    return stated(say, f"answer.criteria.{none}", n=n)


def _only(verdict: Verdict, assessment: Assessment, say: Catalogue) -> Statement:
    """What became of the one criterion that there is, which is not met."""
    if verdict.word == "not assessable":
        return stated(say, "answer.criteria.only_not_assessable", reason=verdict.reason)
    if verdict.word in OPEN:
        key = f"answer.criteria.only_{verdict.word.replace(' ', '_')}"
        criterion = with_requirement(verdict, assessment, say, key="is_required")
        return stated(say, key, *results_of([verdict]), criterion=criterion)
    return stated(say, "answer.criteria.only_fail")


def _failed(failed: Sequence[Verdict], every: int, assessment: Assessment, say: Catalogue) -> Statement:
    """What fails, of `every` criteria that fail."""
    named = [_failure(v, assessment, say) for v in failed[:MOST_NAMED]]
    if len(assessment.verdicts) == 1:
        return stated(say, "answer.criteria.failure", *results_of(failed), clause=first_letter(named[0]))
    more = every - len(named)
    key, clauses = f"answer.criteria.failed{'_more' if more else ''}", say("answer.clauses", items=named)
    return stated(say, key, *results_of(failed[:MOST_NAMED]), n=every, clauses=clauses, more=more)


def _failure(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
    """What was found where a criterion is not met, as a clause."""
    found = verdict.result
    if found is not None and found.name == TIMES and found.estimate.value > 1:
        place = found.place.dataset or found.place.set or ""
        key = "answer.criteria.more_than_predicted" + ("_at" if place else "")
        return say(key, place=place, value=float(found.estimate.value))
    return _as_safety(with_requirement(verdict, assessment, say), verdict, say)


def _as_safety(clause: str, verdict: Verdict, say: Catalogue) -> str:
    """A clause on a criterion; a safety criterion is called so."""
    return say("answer.criteria.safety", clause=clause) if verdict.criterion.role == "safety" else clause


def _open(verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """What is inconclusive, cannot be assessed or was not tested; safety criteria by name."""
    words = {v.word for v in verdicts}
    if len(verdicts) == 1:
        return
    if len(words) == 1 and words <= set(OPEN):  # the answer has said that none can be decided
        yield from _all_open(verdicts, assessment, say)
        return
    for word in OPEN:
        own = _by_role(v for v in verdicts if v.word == word)
        key, n = f"answer.criteria.{word.replace(' ', '_')}", len(own)
        safety = [v for v in own if v.criterion.role == "safety"][:1]
        if own and all(v.is_loss for v in own):  # the answer has named them
            yield stated(say, key, n=n)
        elif 0 < n < MOST_NAMED:
            names = [_named(v, assessment, say) for v in own]
            yield stated(say, f"{key}_named", *results_of(own), n=n, names=names)
        elif safety:
            name = _named(safety[0], assessment, say)
            yield stated(say, f"{key}_among", *results_of(safety), n=n, name=name)
        elif own:
            yield stated(say, key, n=n)


def _all_open(verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """The criteria with their numbers, or why they cannot be judged."""
    if verdicts[0].word == "inconclusive":
        names = [_named(v, assessment, say) for v in _by_role(verdicts)[:MOST_NAMED]]
        yield Statement(first_letter(say("answer.criteria.listed", names=names)), results_of(verdicts))
        return
    for reason in list(dict.fromkeys(say(v.reason) for v in verdicts))[:MOST_REASONS]:
        yield Statement(first_letter(reason))


def _named(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
    """A criterion in a list: of what can be judged with its number, safety criteria called so."""
    name = title_within(verdict, assessment, say)
    if verdict.word == "inconclusive":
        name = with_requirement(verdict, assessment, say, key="in_short")
    return _as_safety(name, verdict, say)


def _lost_as_locked(verdict: Verdict) -> Locked | None:
    """The locked form of a criterion that is met, and would not be under it."""
    locked = verdict.locked
    return locked if verdict.word == "pass" and locked is not None and locked.word != "pass" else None


def _safe(verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    of_safety = [v for v in verdicts if v.criterion.role == "safety"]
    own = [v for v in of_safety if v.word == "pass"]
    if own and len(own) < len(verdicts):
        names = [title_within(v, assessment, say) for v in own]
        key = "answer.criteria.safety_met" if own == of_safety else "answer.criteria.safety_met_some"
        yield stated(say, key, *results_of(own), n=len(own), all=len(of_safety), names=names)


# ---------------------------------------------------------------- candidates


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


def candidates_answer(assessment: Assessment, say: Catalogue) -> Said:
    """The answer of a procurement review, and what supports it."""
    lost, unadjusted = losses(assessment.verdicts, assessment, say)
    support = [*_between(assessment, say), *_comparisons(assessment, say), *unadjusted]
    return lost + conclusion(assessment, say), support


def conclusion(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Who meets every requirement, for whom what is inconclusive, who fails in what."""
    found = candidate_statuses(assessment)
    if not found:  # every criterion compares candidates
        return []
    sentences = [*_who_meets(found, say)]
    for s in (s for s in found if s.standing == "inconclusive"):
        names = [_open_clause(v, assessment, say) for v in s.open[:MOST_NAMED]]
        sentences.append(
            stated(
                say, "answer.candidates.inconclusive", *results_of(s.open), name=say.called(s.name), on=names
            )
        )
    for s in (s for s in found if s.standing == "fail"):
        items = [_failure_of_candidate(v, assessment, say) for v in s.failed[:MOST_NAMED]]
        on = say("answer.clauses", items=items)
        values = {"name": say.called(s.name), "on": on, "n": len(items)}
        sentences.append(stated(say, "answer.candidates.fails", *results_of(s.failed), **values))
    judged = {s.name for s in found}
    names = candidate_names(assessment.plan, assessment.results)
    free = [say.called(name) for name in names if name not in judged]
    return (
        [*sentences, stated(say, "answer.candidates.silent", names=free, n=len(free))] if free else sentences
    )


def _who_meets(found: Sequence[CandidateStatus], say: Catalogue) -> Iterator[Statement]:
    meets = [s for s in found if s.standing == "pass"]
    if not meets:
        nobody = "nobody_shown" if any(s.standing == "inconclusive" for s in found) else "nobody"
        if len(found) != 1:
            two = "_two" if len(found) == TWO else ""
            yield stated(say, f"answer.candidates.{nobody}{two}", n=len(found))
        return
    counts = {len(s.verdicts) for s in meets}
    n = counts.pop()
    same = "own" if counts else "both" if n == TWO else "their" if n == 1 and len(meets) > 1 else "same"
    what = say(f"answer.candidates.requirements_{same}", n=n)
    key = "only" if len(meets) == 1 < len(found) else "meet"
    results = [r for s in meets for r in results_of(s.verdicts)]
    names = [say.called(s.name) for s in meets]
    yield stated(say, f"answer.candidates.{key}", *results, names=names, what=what, n=len(meets))


def _open_clause(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
    name = title_within(verdict, assessment, say)
    if verdict.result is None or verdict.word != "inconclusive":
        return say("word.interval", value=name, interval=verdict_word(verdict.word, say))
    values = {"estimate": bracketed(verdict, say), "required": bound_text(verdict, say)}
    return say("answer.candidates.open", title=name, **values)


def _failure_of_candidate(v: Verdict, assessment: Assessment, say: Catalogue) -> str:
    name, found = title_within(v, assessment, say), v.result
    if found is None:
        return name
    if counted := COUNTED.get(found.quantity.id):
        e = found.estimate
        what = say(f"answer.candidates.{counted}", k=round(e.n * (1 - e.value)), n=e.n)
    else:
        values = {"estimate": verdict_estimate(v, say), "required": bound_text(v, say)}
        what = say("answer.candidates.fails_by", **values)
    return say("answer.candidates.failure", title=name, what=what)


def _between(assessment: Assessment, say: Catalogue) -> list[Statement]:
    """How the candidates that may be bought differ on what the first requirement is about."""
    meets = [s for s in candidate_statuses(assessment) if s.standing == "pass"]
    first = next((v.result for v in meets[0].verdicts if v.result is not None), None) if meets else None
    if first is None:
        return []
    said = []
    for i, one in enumerate(meets):
        for other in meets[i + 1 :]:
            found = _difference(first, (one.name, other.name), assessment.results)
            if found is not None:
                said.append(difference_of_pair(found, say(f"quantity.{first.quantity.id}"), say))
    return said[:MOST_NAMED]


def difference_of_pair(r: Result, measure: str, say: Catalogue) -> Statement:
    """How two candidates differ, and whether the interval shows that they do."""
    one, other = map(say.called, r.place.candidates or ("", ""))
    way = side_of(r.estimate, 0.0, "apart_higher", "apart_lower", "alike")
    values = {"one": one, "other": other, "measure": within(first_letter(measure), say)}
    return stated(say, f"answer.candidates.{way}", r, **values, estimate=in_brackets(r, say))


def _difference(first: Result, pair: tuple[str, str], results: Sequence[Result]) -> Result | None:
    id, where = f"{first.id}_difference", {"dataset": first.place.dataset, "subgroup": None}
    found = (leading(results, id, candidates=list(names), **where) for names in (pair, pair[::-1]))
    return next((r for r in found if r is not None), None)


def _comparisons(assessment: Assessment, say: Catalogue) -> Iterator[Statement]:
    """Criteria that compare candidates."""
    names = candidate_names(assessment.plan, assessment.results)
    rows = [row for row in requirements(assessment.verdicts, names) if row.baseline]
    own = [v for row in rows for v in row.verdicts.values() if not v.is_loss]  # those come first of all
    for v in own[:MOST_NAMED]:
        values = {"title": title_within(v, assessment, say), "word": verdict_word(v.word, say)}
        if v.result is None:
            yield stated(say, "answer.candidates.comparison_open", **values)
        else:
            values |= {"estimate": bracketed(v, say), "required": bound_text(v, say)}
            yield stated(say, "answer.candidates.comparison", v.result, **values)
