"""What is significantly worse than what it is compared with, whatever a margin allows: it leads the page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from trustreport.assessment.assess import Assessment
from trustreport.assessment.dimensions.candidates.versions import succession
from trustreport.assessment.dimensions.decision_benefit.protocols import without_reader
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts import Verdict, candidate_names, requirements, status
from trustreport.assessment.verdicts.verdict import ROLES
from trustreport.report.answer.acceptance import bound_text, verdict_word
from trustreport.report.answer.sentences import (
    MEASURING,
    MOST_NAMED,
    Said,
    Statement,
    at_declared,
    bracketed,
    first_few,
    first_letter,
    known,
    results_of,
    stated,
    with_requirement,
)
from trustreport.report.tables import in_words
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.quantity import DIFFERENCE
from trustreport.vocabulary.results import Result

Kind = Literal["version", "candidate", "readers", "device", "site", "criterion"]
MEASURES = ("sensitivity", "specificity", "accuracy", "auc")
WHOLE = dict.fromkeys(("subgroup", "site", "reader", "parameters"))
# A comparison of whole interval beyond no effect that no criterion asks for is of one of these quantities.
VERSION, READERS = "candidates.version_change", "decision_benefit.mean_benefit"
DEVICE, SITE = "decision_benefit.protocol_difference", "subgroups.subgroup_difference"


@dataclass(frozen=True)
class Loss:
    """A comparison whose whole interval is on the worse side of no effect, and the verdicts on it, if any."""

    kind: Kind
    result: Result
    verdicts: tuple[Verdict, ...] = ()

    @property
    def measure(self) -> str:
        """What got worse."""
        r = self.result
        return r.endpoint if r.endpoint in MEASURES else r.name.removesuffix(DIFFERENCE)

    @property
    def compared(self) -> tuple[str, ...]:
        """What is worse, and than what; empty where the place does not name both."""
        return self.result.place.candidates or self.result.place.arms or ("", "")

    @property
    def where(self) -> str:
        """The data that show it."""
        at = self.result.place
        return at.task or at.set or at.dataset or ""

    @property
    def group(self) -> tuple[str, ...]:
        """What is said together."""
        return (self.kind, *self.compared, self.where, self.result.place.subgroup or "")

    @property
    def key(self) -> tuple[str, ...]:
        """What makes two losses the same comparison."""
        return (*self.group, self.measure)


def losses(
    verdicts: Sequence[Verdict], assessment: Assessment, say: Catalogue, *, comparisons: bool = True
) -> Said:
    """What got significantly worse, in criteria and, where asked, in comparisons that no criterion names.

    What supports it says that the latter are not adjusted for their number.
    """
    found = list(_of_criteria(verdicts, assessment))
    judged = {one.key for one in found}
    free = [one for one in _compared(assessment) if one.key not in judged] if comparisons else []
    groups: dict[tuple[str, ...], list[Loss]] = {}
    for one in (*found, *free):
        if one.kind != "criterion":
            groups.setdefault(one.group, []).append(one)
    several = len(set(assessment.plan.contrasts)) > 1
    said = [_of_group(own, several, say) for own in groups.values()]
    others = [v for one in found if one.kind == "criterion" for v in one.verdicts]
    said += _other_criteria(others, assessment, say)
    if len(said) > MOST_NAMED:
        said[MOST_NAMED:] = [stated(say, "answer.losses.more", n=len(said) - MOST_NAMED)]
    return said, [stated(say, "answer.losses.unadjusted")] if free else []


def _of_criteria(verdicts: Sequence[Verdict], assessment: Assessment) -> Iterator[Loss]:
    """The criteria that something got significantly worse in, those on one number together."""
    lost = sorted((v for v in verdicts if v.is_loss), key=lambda v: ROLES.index(v.criterion.role))
    found: dict[tuple[object, ...], Loss] = {}
    for v in lost:
        if v.result is not None:
            own = Loss(_kind(v.result, assessment), v.result, (v,))
            before = found.get((own.key, v.result.place))
            both = replace(before, verdicts=(*before.verdicts, v)) if before else own
            found[own.key, v.result.place] = both
    yield from found.values()


def _kind(r: Result, assessment: Assessment) -> Kind:
    at = r.place
    if at.site or at.subgroup or at.period or at.reference:
        return "criterion"
    if at.candidates:
        return "version" if set(at.candidates) <= set(succession(assessment.plan)) else "candidate"
    named = r.endpoint in MEASURES or r.name == "arr"
    return "readers" if at.arms and not at.protocol and named else "criterion"


def _compared(assessment: Assessment) -> Iterator[Loss]:
    """Comparisons that the report makes of itself: of the newest version, the aid, the device and sites."""
    order = succession(assessment.plan)
    for r in known(assessment, VERSION):
        if r.endpoint in MEASURES and (r.place.candidates or ("",))[0] == order[-1] and _is_loss(r):
            yield Loss("version", r)
    for r in known(assessment, READERS, **WHOLE):
        if r.endpoint in MEASURES and _is_loss(there := at_declared(assessment, r)):
            yield Loss("readers", there)
    if without_reader(assessment.plan):
        for r in known(assessment, DEVICE, **WHOLE):
            if r.place.protocol == "device_alone" and _is_loss(r):
                yield Loss("device", r)
    for r in known(assessment, SITE, site=None, reader=None):
        of_site = (r.place.subgroup or "").startswith("site: ")
        significant = r.details.get("p_holm", 1) <= 1 - r.estimate.level
        if of_site and significant and r.endpoint in MEASURES and _is_loss(r):
            yield Loss("site", r)
    yield from _of_candidates(assessment)


def _of_candidates(assessment: Assessment) -> Iterator[Loss]:
    """Where a candidate that meets its requirements is worse than another candidate."""
    names = candidate_names(assessment.plan, assessment.results)
    rows = requirements(assessment.verdicts, names)
    meeting = {name for name in names if status(rows, name) == "pass"} - set(succession(assessment.plan))
    for r in known(assessment, *(f"candidates.{m}{DIFFERENCE}" for m in MEASURES[:2]), **WHOLE):
        one, other = r.place.candidates or ("", "")
        if one in meeting and _is_loss(r):
            yield Loss("candidate", r)
        elif other in meeting and _is_loss(turned := _turned(r)):
            yield Loss("candidate", turned)


def _turned(r: Result) -> Result:
    """A difference of two candidates with the second compared with the first."""
    e, pair = r.estimate, r.place.candidates or ("", "")
    turned = replace(e, value=-e.value, low=-e.high, high=-e.low)
    return replace(r, estimate=turned, place=r.place.narrowed(candidates=pair[::-1]))


def _is_loss(r: Result) -> bool:
    return r.quantity.is_loss(r.estimate.low, r.estimate.high)


# ---------------------------------------------------------------- sentences


def _of_group(own: Sequence[Loss], several: bool, say: Catalogue) -> Statement:
    """One sentence of what is compared with one other on the same data."""
    first = own[0]
    results = [one.result for one in own]
    now, before = map(say.called, first.compared)
    place = first.where
    if first.kind == "site":
        place = (first.result.place.subgroup or "").removeprefix("site: ")
    changes = [_change(one, say) for one in own]
    judged = [v for one in own for v in one.verdicts]
    accepted = judged and all(one.verdicts for one in own) and all(v.word == "pass" for v in judged)
    within = say("answer.losses.within") if accepted else ""
    values = {"now": now, "before": before, "place": place, "changes": changes, "within": within}
    arms = "_of_arms" if first.kind == "readers" and several else ""
    at = "_at" if place and first.kind != "site" else ""
    return Statement(first_letter(say(f"answer.losses.{first.kind}{arms}{at}", **values)), tuple(results))


def _change(one: Loss, say: Catalogue) -> str:
    """A measure, its change, and what criteria asked of it."""
    measurement = one.result.endpoint if one.result.dimension in MEASURING else ""
    measure = say(quantity_name(one.measure, measurement))
    if not one.verdicts:
        return say("answer.losses.change", measure=measure, change=in_words(one.result, say))
    asked = [
        say("answer.losses.verdict", required=bound_text(v, say), word=verdict_word(v.word, say))
        for v in one.verdicts
    ]
    change = bracketed(one.verdicts[0], say)
    return say("answer.losses.judged", measure=measure, change=change, verdicts=asked)


def _other_criteria(lost: Sequence[Verdict], assessment: Assessment, say: Catalogue) -> list[Statement]:
    """Criteria on something else that got worse: of a period, a group or a site."""
    clauses = [
        say(
            "answer.criteria.loss_clause",
            criterion=with_requirement(v, assessment, say),
            word=verdict_word(v.word, say),
        )
        for v in lost[:MOST_NAMED]
    ]
    listed = say("answer.clauses", items=first_few(clauses, len(lost), say))
    key = "loss_within" if all(v.word == "pass" for v in lost) else "loss"
    return [stated(say, f"answer.criteria.{key}", *results_of(lost), clauses=listed)] if lost else []
