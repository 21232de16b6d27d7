"""What a second run, or a second reading, of the same cases gave: sentences and tables."""

from collections.abc import Iterator, Sequence
from math import isnan

from trustreport.assessment.finding import EstimateRow, EstimateTable, Part
from trustreport.assessment.narrative.texts import numbers
from trustreport.assessment.performance.repeated import RepeatedCases
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

LEADS = ("flip_rate", "repeatability_coefficient")
Repeats = tuple[RepeatedCases, Sequence[Result]]


def repeat_parts(twice: Sequence[Repeats]) -> tuple[Part, ...]:
    """A part for each data set and candidate, or task and arm, with repeated cases."""
    return tuple(_part(one, own, number, len(twice)) for number, (one, own) in enumerate(twice, 1))


def _part(one: RepeatedCases, own: Sequence[Result], number: int, of: int) -> Part:
    whose = "readers" if one.reader is not None else "device"
    title = say(f"repeat.{whose}.title_of", name=one.name) if of > 1 else say(f"repeat.{whose}.title")
    rows = tuple(EstimateRow(say(f"repeat.label.{r.name}"), r, r.name in LEADS) for r in own if r.primary)
    return Part(
        finding=tuple(_sentences(one, whose, {r.name: r.estimate for r in own if r.primary})),
        title=title,
        tables=(EstimateTable(f"repeat_{whose}_{number}", say(f"repeat.{whose}.table"), rows),),
        place=one.place,
    )


def _sentences(one: RepeatedCases, whose: str, found: dict[str, Estimate]) -> Iterator[Message]:
    flips = found["flip_rate"]
    if isnan(flips.value):
        yield say("repeat.undecided", name=one.name, reason=flips.note)
    else:
        lost, gained = found["flip_to_negative"], found["flip_to_positive"]
        yield say(
            f"repeat.{whose}.flips",
            name=one.name,
            k=_count(flips),
            n=flips.n,
            lost=_count(lost),
            positive=lost.n,
            gained=_count(gained),
            negative=gained.n,
            **numbers(flips),
        )
    if "repeat_bias" in found:
        yield _of_scores(one.name, found)
    used = max(e.n for name, e in found.items() if name in ("flip_rate", "repeat_bias"))
    if 0 < used < len(one):
        yield say(f"repeat.{whose}.lacking", name=one.name, n=len(one) - used, of=len(one))


def _of_scores(name: str, found: dict[str, Estimate]) -> Message:
    mean, below, above = (
        found[key] for key in ("repeat_bias", "agreement_limit_low", "agreement_limit_high")
    )
    if isnan(below.low):
        return say("repeat.no_limits", name=name, reason=below.note)
    return say(
        "repeat.limits",
        name=name,
        below=below.value,
        above=above.value,
        sd=found["within_case_sd"].value,
        n=mean.n,
        **numbers(mean),
    )


def _count(e: Estimate) -> int:
    """The events of a share; none where there is no case."""
    return 0 if isnan(e.value) else round(float(e.value) * e.n)
