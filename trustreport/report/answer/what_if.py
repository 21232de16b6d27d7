"""What would change the answer: another bound, another method, another data set against the same bound."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts import WORDS, Verdict
from trustreport.assessment.verdicts.judge import compare_with_bound
from trustreport.report import acceptance
from trustreport.report.answer.sentences import first_letter, title
from trustreport.report.tables import in_words, method_text
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

MOST = 4  # rows
INDEPENDENT = "wilson"  # the method of a proportion that knows no clusters
DECIDED = ("pass", "fail", "inconclusive")


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What would be otherwise: of what, and what would follow."""

    name: str
    text: str
    results: tuple[Result, ...] = ()


def what_would_change_it(assessment: Assessment, say: Catalogue) -> tuple[WhatIf, ...]:
    """First amended bounds, then other methods on the same cases, then other data and groups.

    Only where another verdict would follow; of amended bounds also where none would.
    """
    found = [
        *_amended(assessment, say),
        *_other_methods(assessment, say),
        *_other_places(assessment, say),
    ]
    return tuple(found[:MOST])


def _amended(assessment: Assessment, say: Catalogue) -> Iterator[WhatIf]:
    for v in sorted(assessment.verdicts, key=lambda v: v.locked is None or v.locked.word == v.word):
        if v.locked is None:
            continue
        bound = acceptance.locked_bound(v, say)
        word = say(f"answer.would.{v.locked.word.replace(' ', '_')}")
        same = v.locked.word == v.word
        text = say("answer.change.locked_same" if same else "answer.change.locked", bound=bound, word=word)
        yield WhatIf(title(v, assessment, say), text, tuple(r for r in (v.result,) if r))


def _with_bound(assessment: Assessment) -> Iterator[tuple[Verdict, Result]]:
    for v in assessment.verdicts:
        if v.word in DECIDED and v.result is not None and v.bound is not None:
            yield v, v.result


def _other_methods(assessment: Assessment, say: Catalogue) -> Iterator[WhatIf]:
    """Another interval of the same number under which the verdict would be worse.

    None under which it would be better: an interval that is not the primary one is no evidence for a pass.
    """
    for v, lead in _with_bound(assessment):
        for r in assessment.results:
            e = r.estimate
            same = r.id == lead.id and r.endpoint == lead.endpoint and r.place == lead.place
            if not same or r is lead or r.primary or isnan(e.low) or isnan(e.high):
                continue
            if r.parameters != lead.parameters or e.level != lead.estimate.level:
                continue
            word = compare_with_bound(e.low, e.high, v.bound) if v.bound else v.word
            if WORDS.index(word) < WORDS.index(v.word):
                unclustered = r.method == INDEPENDENT and lead.method != INDEPENDENT
                yield WhatIf(
                    title(v, assessment, say),
                    say(
                        "answer.change.unclustered" if unclustered else "answer.change.method",
                        method=method_text(r.method, say),
                        estimate=in_words(r, say, bounds=acceptance.ends_of(v)),
                        word=say(f"answer.would.{word}"),
                    ),
                    (r,),
                )
                break


def _other_places(assessment: Assessment, say: Catalogue) -> Iterator[WhatIf]:
    """The worst other data set, then the worst group, that the same bound would not pass."""
    seen: set[tuple[str, str]] = set()
    rows: list[tuple[int, WhatIf]] = []
    for v, lead in _with_bound(assessment):
        if v.word != "pass":
            continue
        for kind, others in (("data", _other_data(lead, assessment)), ("group", _groups(lead, assessment))):
            worst = _worst(others, v)
            if worst is None or (kind, name := _place(worst)) in seen:
                continue
            seen.add((kind, name))
            e = worst.estimate
            word = compare_with_bound(e.low, e.high, v.bound) if v.bound else "pass"
            text = say(
                "answer.change.place",
                measure=first_letter(say(quantity_name(worst.endpoint or worst.name))),
                required=acceptance.bound_text(v, say),
                estimate=in_words(worst, say, bounds=acceptance.ends_of(v)),
                word=say(f"answer.would.{word}"),
            )
            rows.append((WORDS.index(word), WhatIf(first_letter(name), text, (worst,))))
    for _, change in sorted(rows, key=lambda row: row[0]):
        yield change


def _other_data(lead: Result, assessment: Assessment) -> list[Result]:
    """The same measure, by the same device, on other data sets outside training."""
    roles = {d.name: d.role for d in assessment.study.datasets}
    judged = {(v.result.id, v.result.place) for v in assessment.verdicts if v.result is not None}
    return [
        r
        for r in assessment.results
        if r.id == lead.id
        and r.primary
        and r.endpoint == lead.endpoint
        and r.place.dataset not in (None, lead.place.dataset)
        and roles.get(r.place.dataset or "") not in DEVELOPMENT_ROLES
        and r.place.at(dataset=lead.place.dataset) == lead.place
        and r.parameters == lead.parameters
        and (r.id, r.place) not in judged
    ]


def _groups(lead: Result, assessment: Assessment) -> list[Result]:
    """The same quantity in groups of the same data."""
    at = lead.place
    return [
        r
        for r in assessment.results
        if r.dimension == "subgroups"
        and r.primary
        and r.name == "group_performance"
        and r.endpoint == lead.quantity.id
        and r.place.dataset == at.dataset
        and r.place.candidate == at.candidate
        and r.place.subgroup
    ]


def _worst(others: Sequence[Result], v: Verdict) -> Result | None:
    """Of those that the bound would not pass, the one furthest on the wrong side."""
    bound = v.bound
    if bound is None:
        return None
    known = [r for r in others if not (isnan(r.estimate.low) or isnan(r.estimate.high))]
    short = [r for r in known if compare_with_bound(r.estimate.low, r.estimate.high, bound) != "pass"]
    if not short:
        return None
    if bound.low is not None:
        return min(short, key=lambda r: r.estimate.value)
    return max(short, key=lambda r: r.estimate.value)


def _place(r: Result) -> str:
    at: Place = r.place
    names = (at.candidate, at.subgroup or at.dataset or at.set or "")
    return ", ".join(name for name in names if name)
