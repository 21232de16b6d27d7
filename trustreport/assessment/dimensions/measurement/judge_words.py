"""What is said of models that judged what people rated."""

from collections.abc import Iterator, Sequence
from typing import Any

from trustreport.assessment.dimensions.measurement import words
from trustreport.assessment.dimensions.measurement.group_words import in_unit
from trustreport.assessment.dimensions.measurement.judges import CORRECTED
from trustreport.assessment.dimensions.measurement.results import READERS, MeasuredValues
from trustreport.assessment.finding import Part
from trustreport.assessment.narrative.texts import Item, Texts, side_of
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.results import Result

text = Texts("measurement.judges")
KAPPAS = ("judge_weighted_kappa", "judge_acceptable_kappa")


def parts(one: MeasuredValues, results: Sequence[Result], number: int) -> Iterator[Part]:
    """A part for each judge of a measurement."""
    for i, judge in enumerate(dict.fromkeys(r.place.reader for r in results), 1):
        own = [r for r in results if r.place.reader == judge]
        values = {"judge": judge, "measurement": words.named(one)}
        items = [*_sentences(one, own, values), _table(one, own, values, f"{number}_{i}")]
        yield text.part(items, text("title", **values), one.place)


def _table(one: MeasuredValues, own: Sequence[Result], values: dict[str, Any], number: str) -> Item:
    said = values | {"measurement": in_unit(one)}
    return text.estimates(
        f"{READERS}_judge_{number}",
        text("table", **said),
        own,
        words.label,
        lambda r: r.primary and r.name.startswith(CORRECTED),
    )


def _sentences(one: MeasuredValues, own: Sequence[Result], values: dict[str, Any]) -> Iterator[Message]:
    """How the judge differs from people and, where these read a random part, what people would say of all."""
    values = values | {"unit": words.unit_of(one)}
    corrected = [r for r in own if r.name.startswith(CORRECTED)]
    if any(not r.primary for r in corrected):
        yield text("not_at_random", **values)
    for r in (r for r in own if r.name == "judge_bias"):
        yield _bias(one, r, values)
    alone = {(r.name, r.place): r.estimate.value for r in own if not r.primary}
    for r in sorted((r for r in corrected if r.primary), key=lambda r: not _pair(r)):
        kind = "share" if r.name.removesuffix("_difference").endswith("_share") else "mean"
        said = {**values, "n": r.estimate.n, "both": int(r.estimate.details["both_rated"])}
        if kind == "mean":
            said["measurement"] = words.averaged(words.named(one), one.facts.kind)
        if _pair(r):
            compared, baseline = words.names_compared(r.place)
            whole = f"change_{kind}_{side_of(r.estimate, 0.0, 'higher', 'lower')}"
            said |= {"compared": compared, "baseline": baseline}
            yield text.of_estimate(f"change_{kind}", r, whole=whole, **said)
        else:
            name = "judge_acceptable_share" if kind == "share" else "judge_mean"
            said |= {"name": _whose(r), "alone": alone[name, r.place]}
            yield text.of_estimate(f"corrected_{kind}", r, **said)
    for r in (r for r in own if r.name in KAPPAS):
        yield text.of_estimate(r.name.removeprefix("judge_"), r, name=_whose(r))


def _bias(one: MeasuredValues, r: Result, values: dict[str, Any]) -> Message:
    """How much higher or lower the judge rated, and whether that is lenient or strict."""
    side = side_of(r.estimate, 0.0, "higher", "lower")
    said = {**values, "name": _whose(r), "n": r.estimate.n}
    first = text.of_estimate("bias", r, whole=f"bias_{side}", **said)
    if side == "either" or one.facts.better is None:
        return first
    lenient = (side == "higher") == (one.facts.better == "up")
    return text("lenient" if lenient else "strict", first=first)


def _pair(r: Result) -> bool:
    return bool(r.place.arms or r.place.candidates)


def _whose(r: Result) -> Message | str:
    """What was rated: a candidate, what was read in an arm, or all."""
    if r.place.arm:
        return words.text("arm", arm=r.place.arm)
    return r.place.candidate or text("all")
