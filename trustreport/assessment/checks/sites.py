"""Pitfalls of evidence without rows: what sites withheld, and what only they could check."""

from collections.abc import Iterable, Iterator

from trustreport.assessment.checks.check import EVERYTHING, Check, Evidence, Remark
from trustreport.assessment.finding import CheckOutcome
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.score_measure import SCORES
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import NOWHERE, Place, place_of
from trustreport.vocabulary.quantities import known

DIMENSION = "potential_robustness"
OF_DECISIONS = (*MEASURES, *(name for name, one in SCORES.items() if one.counts_decisions))


def withheld_by_sites(evidence: Evidence) -> Iterator[Remark]:
    """P74: what sites withheld, without which numbers over all of them are not those of all their cases."""
    pooled = evidence.study.pooled
    if pooled is None:
        return
    found = {}
    for site, one in pooled.withheld():
        if one.what == "number" and not known(one.name.rpartition(".")[2]):
            continue
        place = Place(dataset=one.dataset, site=site, candidate=one.candidate or None)
        given = {"site": site, "name": one.name, "why": say(f"checks.P74.why.{one.reason or 'few_cases'}")}
        if one.what == "group":
            remark = Remark(place.narrowed(subgroup=one.name), say("checks.P74.group", **given), severity="N")
        elif one.what == "cut":
            remark = Remark(place, say("checks.P74.cut", **given), severity="N")
        elif one.what == "number":
            of = (one.name.rpartition(".")[2],)
            remark = Remark(NOWHERE, say("checks.P74.number", **given, measure=quantity_name(of[0])), of)
        elif one.what == "scores":
            remark = Remark(place, say("checks.P74.scores", **given), tuple(SCORES))
        else:
            remark = Remark(place, say("checks.P74.cells", **given), OF_DECISIONS)
        found[one.dataset, site, one.what, one.name, one.candidate] = remark
    yield from found.values() or [Remark()]


def with_those_of_sites(evidence: Evidence, register: Iterable[Check]) -> tuple[CheckOutcome, ...]:
    """The outcomes of a register; of a pooled study with those of the sites where only they had the rows."""
    pooled, register = evidence.study.pooled, tuple(register)
    outcomes = tuple(outcome for check in register for outcome in check.run(evidence))
    if pooled is None:
        return outcomes
    blind = {one.check for one in outcomes if one.status == "cannot run"}
    blind |= {check.id for check in register if check.of_rows}
    seen: dict[str, list[CheckOutcome]] = {}
    for file in pooled.files:
        for one in file.summary.checks:
            if one.check in blind and one.status != "cannot run":
                place = place_of(one.scope)  # with all rows it would concern every site of these data
                title = Message(f"checks.{one.check}.title")
                said = Message(f"checks.{one.check}.clear")
                if one.status == "fired":
                    said = say("checks.at_site", site=file.summary.site, title=title)
                about = (one.check, one.dimension, one.severity, one.status, said, place, one.quantities)
                seen.setdefault(one.check, []).append(CheckOutcome(*about))
    made: dict[tuple[str, object, str], CheckOutcome] = {}
    for one in outcomes:
        own = seen.get(one.check, [])
        fired = [other for other in own if other.status == "fired"]
        kept = [one] if one.status == "fired" or not own else []
        for outcome in [*kept, *(fired or own[:1])]:
            made[outcome.check, outcome.place, str(outcome.message)] = outcome
    return tuple(made.values())


CHECKS = (Check("P74", DIMENSION, "B", withheld_by_sites, EVERYTHING),)
