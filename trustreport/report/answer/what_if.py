"""What would change the answer: another bound, another method, another data set against the same bound."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts import WORDS, Verdict
from trustreport.assessment.verdicts.judge import compare_with_bound
from trustreport.report.answer.acceptance import bound_text, locked_bound, verdict_estimate, would_be
from trustreport.report.answer.sentences import first_letter, outside_development, title
from trustreport.report.tables import method_text
from trustreport.study.criteria import Bound
from trustreport.vocabulary.messages import Catalogue
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
    kinds = (_amended, _other_methods, _other_places)
    return tuple(change for kind in kinds for change in kind(assessment, say))[:MOST]


def _amended(assessment: Assessment, say: Catalogue) -> Iterator[WhatIf]:
    for v in sorted(assessment.verdicts, key=lambda v: v.locked is None or v.locked.word == v.word):
        if v.locked is not None:
            key = "answer.change.locked_same" if v.locked.word == v.word else "answer.change.locked"
            text = say(key, bound=locked_bound(v, say), word=would_be(v.locked.word, say))
            yield WhatIf(title(v, assessment, say), text, tuple(r for r in (v.result,) if r))


def _with_bound(assessment: Assessment) -> Iterator[tuple[Verdict, Result, Bound]]:
    for v in assessment.verdicts:
        if v.word in DECIDED and v.result is not None and v.bound is not None:
            yield v, v.result, v.bound


def _other_methods(assessment: Assessment, say: Catalogue) -> Iterator[WhatIf]:
    """Another interval of the same number under which the verdict would be worse.

    None under which it would be better: an interval that is not the primary one is no evidence for a pass.
    """
    for v, lead, bound in _with_bound(assessment):
        for r in assessment.results:
            e = r.estimate
            if r.primary or r is lead or _number(r) != _number(lead) or _without_interval(r):
                continue
            word = compare_with_bound(e.low, e.high, bound)
            if WORDS.index(word) < WORDS.index(v.word):
                unclustered = r.method == INDEPENDENT and lead.method != INDEPENDENT
                text = say(
                    "answer.change.unclustered" if unclustered else "answer.change.method",
                    method=method_text(r.method, say),
                    estimate=verdict_estimate(v, say, r),
                    word=would_be(word, say),
                )
                yield WhatIf(title(v, assessment, say), text, (r,))
                break


def _number(r: Result) -> tuple[object, ...]:
    """What makes two entries the same number at the same level."""
    return r.id, r.endpoint, r.place, r.parameters, r.estimate.level


def _without_interval(r: Result) -> bool:
    return isnan(r.estimate.low) or isnan(r.estimate.high)


def _other_places(assessment: Assessment, say: Catalogue) -> Iterator[WhatIf]:
    """The worst other data set, then the worst group, that the same bound would not pass."""
    seen: set[tuple[str, str]] = set()
    rows: list[tuple[int, WhatIf]] = []
    for v, lead, bound in _with_bound(assessment):
        kinds = (("data", _other_data(lead, assessment)), ("group", _groups(lead, assessment)))
        for kind, others in kinds if v.word == "pass" else ():
            worst = _worst(others, bound)
            if worst is None or (kind, name := _place(worst, say)) in seen:
                continue
            seen.add((kind, name))
            word = compare_with_bound(worst.estimate.low, worst.estimate.high, bound)
            text = say(
                "answer.change.place",
                measure=first_letter(say(quantity_name(worst.endpoint or worst.name))),
                required=bound_text(v, say),
                estimate=verdict_estimate(v, say, worst),
                word=would_be(word, say),
            )
            rows.append((WORDS.index(word), WhatIf(first_letter(name), text, (worst,))))
    yield from (change for _, change in sorted(rows, key=lambda row: row[0]))


def _other_data(lead: Result, assessment: Assessment) -> list[Result]:
    """The same measure, by the same device, on other data sets outside training."""
    judged = {(v.result.id, v.result.place) for v in assessment.verdicts if v.result is not None}
    return [
        r
        for r in filter(outside_development(assessment), assessment.results)
        if r.id == lead.id
        and r.primary
        and r.endpoint == lead.endpoint
        and r.place.dataset not in (None, lead.place.dataset)
        and r.place.narrowed(dataset=lead.place.dataset) == lead.place
        and r.parameters == lead.parameters
        and (r.id, r.place) not in judged
    ]


def _groups(lead: Result, assessment: Assessment) -> list[Result]:
    """The same quantity in groups of the same data."""
    at = lead.place
    return [
        r
        for r in assessment.results
        if r.id == "subgroups.group_performance"
        and r.primary
        and r.endpoint == lead.quantity.id
        and (r.place.dataset, r.place.candidate) == (at.dataset, at.candidate)
        and r.place.subgroup
    ]


def _worst(others: Sequence[Result], bound: Bound) -> Result | None:
    """Of those that the bound would not pass, the one furthest on the wrong side."""
    known = [r for r in others if not _without_interval(r)]
    short = [r for r in known if compare_with_bound(r.estimate.low, r.estimate.high, bound) != "pass"]
    furthest = max if bound.low is None else min
    return furthest(short, key=lambda r: r.estimate.value, default=None)


def _place(r: Result, say: Catalogue) -> str:
    at = r.place
    group = say.group(at.subgroup or "")
    return ", ".join(filter(None, (at.candidate, group or at.dataset or at.set)))
