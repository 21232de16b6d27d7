"""What is said of the declared groups of measured cases and of periods: only differences that are shown."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.measurement.parts import LEAST, TOO_FEW, groups_of
from trustreport.assessment.dimensions.measurement.results import MeasuredValues
from trustreport.assessment.finding import PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, first_of, quantity_name
from trustreport.assessment.performance.case_groups import REST
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.quantity import DIFFERENCE
from trustreport.vocabulary.results import Result

text = Texts("measurement.groups")
MOST_NAMED = 6  # differences that a sentence names


def in_unit(one: MeasuredValues) -> Message | str:
    """The measurement with its unit, for tables whose cells have none."""
    name, unit = one.facts.measurement or say("measurement.value"), one.facts.unit
    return say("measurement.in_unit", measurement=name, unit=unit) if unit else name


def _compared(one: MeasuredValues) -> list[Result]:
    """The comparisons of groups; of two that mirror each other the first."""
    found: dict[Any, Result] = {}
    for r in one.results:
        if "against" in r.parameters:
            place = r.place.narrowed(subgroup=None)
            found.setdefault((r.name, place, r.cases, f"{abs(r.estimate.value):.9g}"), r)
    return list(found.values())


def _shown(found: Sequence[Result]) -> list[Result]:
    """Those whose difference remains significant after adjustment."""
    return [r for r in found if r.details["p_holm"] <= 1 - r.estimate.level]


def _measure(r: Result) -> Message:
    """What differs: a quantity, of readers its change, and under which condition."""
    name = quantity_name(r.name.removesuffix(DIFFERENCE))
    if pair := r.place.arms or r.place.candidates:
        return text("change", measure=name, compared=pair[0], baseline=pair[1])
    return text("of", measure=name, where=r.place.candidate) if r.place.candidate else name


def _value(r: Result) -> Message:
    unit = r.details.get("unit", "")
    if r.unit == "difference":
        return text("points", r)
    return text("size", r, unit=f"\N{NO-BREAK SPACE}{unit}" if unit else "")


def _against(r: Result) -> Message | str:
    name: str = r.parameters["against"]
    return say("subgroups.rest") if name == REST else name


def group_sentences(one: MeasuredValues) -> Iterator[Message]:
    """The differences between groups that are shown."""
    found = [r for r in _compared(one) if not isnan(r.estimate.p)]
    for where, family in dict.fromkeys((r.place.narrowed(subgroup=None), r.details["family"]) for r in found):
        own = [r for r in found if r.details["family"] == family and r.place.narrowed(subgroup=None) == where]
        if shown := _shown(own):
            items = [
                text(
                    "item",
                    measure=_measure(r),
                    group=r.place.subgroup,
                    value=_value(r),
                    against=_against(r),
                    p=r.details["p_holm"],
                )
                for r in shown
            ]
            of = shown[0].details["comparisons"]
            yield text(f"differ_{family}", n=len(shown), of=of, items=first_of(items, MOST_NAMED))


def unformed_groups(one: MeasuredValues) -> Iterator[Message]:
    """The groups that are small or cannot be formed, and the cases that are in none."""
    small = dict.fromkeys(r.place.subgroup for r in one.results if r.estimate.note == TOO_FEW)
    if small:
        yield text("small", n=len(small), names=list(small), least=LEAST)
    for division in groups_of(one):
        if division.absent is not None:
            yield say("subgroups.absent_attribute", name=division.attribute, reason=division.absent)
        elif n := int(division.unknown.sum()):
            total = len(division.unknown)
            yield say("subgroups.unknown", n=n, attribute=division.attribute, total=total)


def difference_tables(one: MeasuredValues, id: str) -> Iterator[Item]:
    """Each comparison of groups with its p-values, shares in points apart from values in their unit."""
    known = [r for r in _compared(one) if not isnan(r.estimate.value)]
    for kind, own in (
        ("value", [r for r in known if r.unit != "difference"]),
        ("share", [r for r in known if r.unit == "difference"]),
    ):
        if own:
            yield _table(
                f"{id}_{kind}", text(f"table_{kind}", level=one.level, measurement=in_unit(one)), own, kind
            )


def _table(id: str, caption: Message, found: Sequence[Result], kind: str) -> PlainTable:
    form = "points" if kind == "share" else "number"
    rows = [
        (
            r.place.subgroup,
            _against(r),
            text("head", measure=_measure(r)),
            r.estimate,
            r.estimate.p,
            r.details["p_holm"],
            bool(r.details["prespecified"]),
        )
        for r in found
    ]
    return text.table(id, caption, f"group .against measure difference:{form} p p_holm .prespecified", rows)


def changes_since(one: MeasuredValues) -> Iterator[Message]:
    """How a period differs from its baseline, where a difference is shown."""
    found = [r for r in one.results if r.place.reference is not None]
    if shown := _shown([r for r in found if not isnan(r.estimate.p)]):
        items = [
            text("since_item", measure=_measure(r), value=_value(r), p=r.details["p_holm"]) for r in shown
        ]
        reference = shown[0].place.reference
        yield text("since", n=len(shown), reference=reference, items=first_of(items, MOST_NAMED))
