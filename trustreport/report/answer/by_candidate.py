"""The answer of a procurement review: who meets every requirement, who fails which, who is undecided."""

from collections.abc import Sequence
from dataclasses import dataclass

from trustreport.assessment.assess import Assessment
from trustreport.assessment.verdicts import Standing, Verdict, candidate_names, requirements, status
from trustreport.report.answer.acceptance import bound_text, ends_of
from trustreport.report.answer.by_criteria import losses
from trustreport.report.answer.sentences import (
    MOST_NAMED,
    Statement,
    first_letter,
    in_brackets,
    results_of,
    title,
    within,
)
from trustreport.report.tables import in_words
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.results import Result, leading

BOTH = 2
COUNTED = {"sensitivity": "misses", "specificity": "alarms"}


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


def answer(assessment: Assessment, say: Catalogue) -> tuple[list[Statement], list[Statement]]:
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
    names = [_open(v, assessment, say) for v in one.open[:MOST_NAMED]]
    return Statement(say("answer.candidates.undecided", name=one.name, on=names), results_of(one.open))


def _open(verdict: Verdict, assessment: Assessment, say: Catalogue) -> str:
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
