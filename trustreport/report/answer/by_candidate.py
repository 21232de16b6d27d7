"""The answer of a procurement review: who meets every requirement, who fails which, who is undecided."""

from collections.abc import Sequence
from dataclasses import dataclass

from trustreport.assessment import Assessment
from trustreport.messages import Catalogue
from trustreport.report.acceptance import bound_text
from trustreport.report.answer.sentences import (
    MOST_NAMED,
    Statement,
    candidate_of,
    first_letter,
    in_brackets,
    results_of,
    title,
    within,
)
from trustreport.report.tables import in_words
from trustreport.results import Result, leading
from trustreport.verdicts import Verdict

BOTH = 2
COUNTED = {"sensitivity": "misses", "specificity": "alarms"}


@dataclass(frozen=True, slots=True)
class CandidateStatus:
    """A candidate and the verdicts on its requirements."""

    name: str
    verdicts: tuple[Verdict, ...]

    @property
    def failed(self) -> list[Verdict]:
        """Requirements that are not met."""
        return [v for v in self.verdicts if v.word == "fail"]

    @property
    def open(self) -> list[Verdict]:
        """Requirements that are neither met nor refuted, or could not be judged."""
        return [v for v in self.verdicts if v.word not in ("pass", "fail")]

    @property
    def word(self) -> str:
        """``meets`` all requirements, ``fails`` one, or is ``undecided`` on one."""
        return "fails" if self.failed else "undecided" if self.open else "meets"


def named(assessment: Assessment) -> bool:
    """Whether a criterion is about one candidate."""
    return any(candidate_of(v) for v in assessment.verdicts)


def candidate_statuses(assessment: Assessment) -> list[CandidateStatus]:
    """Each candidate that has requirements, in the manifest's order."""
    order = [c.candidate for c in assessment.plan.candidates]
    names = dict.fromkeys(c for v in assessment.verdicts if (c := candidate_of(v)))
    ranked = sorted(names, key=lambda c: order.index(c) if c in order else len(order))
    return [
        CandidateStatus(name, tuple(v for v in assessment.verdicts if candidate_of(v) == name))
        for name in ranked
    ]


def answer(assessment: Assessment, say: Catalogue) -> tuple[list[Statement], list[Statement]]:
    """Sentences, and what supports them."""
    found = candidate_statuses(assessment)
    meets = [s for s in found if s.word == "meets"]
    first = _who_meets(meets, found, say)
    sentences = [first] if first else []
    sentences += [_open_requirements(s, assessment, say) for s in found if s.word == "undecided"]
    sentences += [_fails(s, assessment, say) for s in found if s.word == "fails"]
    silent = [c.candidate for c in assessment.plan.candidates if c.candidate not in {s.name for s in found}]
    if silent:
        sentences.append(Statement(say("answer.candidates.silent", names=silent, n=len(silent))))
    support = []
    if len(meets) > 1:
        support += _between(meets, assessment, say)
    support += _comparisons(assessment, say)
    return sentences, support


def _who_meets(
    meets: Sequence[CandidateStatus], found: Sequence[CandidateStatus], say: Catalogue
) -> Statement | None:
    if not meets and len(found) == 1:
        return None
    if not meets:
        key = "nobody_shown" if any(s.word == "undecided" for s in found) else "nobody"
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
    name = within(title(verdict, assessment, say))
    if verdict.result is None or verdict.word != "inconclusive":
        word = say(f"verdict.{verdict.word.replace(' ', '_')}")
        return say("word.interval", value=name, interval=word)
    estimate, required = in_brackets(verdict.result, say), bound_text(verdict, say)
    return say("answer.candidates.open", title=name, estimate=estimate, required=required)


def _fails(one: CandidateStatus, assessment: Assessment, say: Catalogue) -> Statement:
    clauses = []
    for v in one.failed[:MOST_NAMED]:
        name = within(title(v, assessment, say))
        found = v.result
        counted = COUNTED.get(found.quantity.id) if found is not None else None
        if found is not None and counted:
            e = found.estimate
            what = say(f"answer.candidates.{counted}", k=round(e.n * (1 - e.value)), n=e.n)
        elif found is not None:
            what = say(
                "answer.candidates.fails_by", estimate=in_words(found, say), required=bound_text(v, say)
            )
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
                measure = within(first_letter(say(f"quantity.{first.quantity.id}")))
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
    own = [v for v in assessment.verdicts if not candidate_of(v)]
    said = []
    for v in own[:MOST_NAMED]:
        name = title(v, assessment, say)
        word = say(f"verdict.{v.word.replace(' ', '_')}")
        if v.result is None:
            said.append(Statement(say("answer.candidates.comparison_open", title=name, word=word)))
            continue
        text = say(
            "answer.candidates.comparison",
            title=name,
            word=word,
            estimate=in_brackets(v.result, say),
            required=bound_text(v, say),
        )
        said.append(Statement(text, (v.result,)))
    return said
