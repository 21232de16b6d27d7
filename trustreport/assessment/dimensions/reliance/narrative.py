"""Reliance: sentences, tables and the trust diagram."""

from collections.abc import Callable, Iterable
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.reliance.results import Reliance
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import numbers
from trustreport.figures.flow import TrustFlow
from trustreport.figures.trust import TrustDiagram, TrustPoint
from trustreport.measures.estimate import Estimate
from trustreport.measures.reliance.patterns import PATTERNS
from trustreport.vocabulary.messages import Message, say

ID = "reliance"
CORNERS = ("rbod", "rsr", "rair", "rbt")
# The rows of the table of rates, in the order of reading.
ROWS = (
    "rair",
    "rsr",
    "rbod",
    "rbt",
    "switch_rate",
    "agreement_unaided",
    "agreement_aided",
    "override_rate",
    "override_of_right_advice",
    "override_of_wrong_advice",
)


def part(found: Reliance, number: int, *, alone: bool) -> Part:
    """One set or task in full."""
    tables: list[EstimateTable | PlainTable] = [_rates_table(found, number), _patterns_table(found, number)]
    tables.append(_advice_table(found, number))
    if found.bands:
        tables.append(_confidence_table(found, number))
    if len(found.readers) > 1:
        tables.append(_readers_table(found, number))
    return Part(
        title=None if alone else say("word.name", name=title_of(found)),
        finding=tuple(sentences(found)),
        tables=tuple(tables),
        figures=(_figure(found, number),),
        place=found.place,
    )


def overview(sets: list[Reliance]) -> Part:
    """Many published sets: how many are below one half, a row each, and all of them in one diagram."""
    below = {name: sum(_side(one.find(name).estimate) == "below" for one in sets) for name in ("rsr", "rair")}
    finding = say(f"{ID}.overview", n=len(sets), rsr=below["rsr"], rair=below["rair"])
    points = tuple(_point(one, one.name, leads=False) for one in sets)
    figure = Figure(
        "trust_sets",
        TrustDiagram(points, named=True),
        say(f"{ID}.figure.sets"),
        say(f"{ID}.figure.sets_alt", n=len(sets)),
    )
    shown = table(
        f"{ID}_sets",
        say(f"{ID}.table.sets"),
        sets,
        [
            (f"{ID}.column.set", "name"),
            *(_rate_column(name) for name in ("rair", "rsr", "rbod", "rbt")),
            (f"{ID}.column.n", "n", "count"),
        ],
    )
    return Part(finding=(finding,), tables=(shown,), figures=(figure,))


def _rate_column(name: str) -> tuple[str, Callable[[Reliance], Estimate], str]:
    return f"{ID}.column.{name}", lambda one: one.find(name).estimate, "estimate"


def sentences(found: Reliance) -> Iterable[Message]:
    """What the readings show, never more than the interval."""
    advice = found.find("accuracy_of_advice").estimate
    if not isnan(advice.value):
        yield say(f"{ID}.advice", value=advice.value, n=advice.n)
    for name in ("rsr", "rair"):
        yield _against_half(found, name)
    words = _words(found)
    for name in ("rbt", "rbod"):
        e = found.find(name).estimate
        if _side(e) == "below":
            yield say(f"{words}.{name}.below", k=round(e.value * e.n), n=e.n, **numbers(e))


def _words(found: Reliance) -> str:
    """The words for two decisions of one sitting, or of separate readings, where none was changed."""
    return f"{ID}.apart" if found.separate_readings else ID


def _against_half(found: Reliance, name: str) -> Message:
    e, words = found.find(name).estimate, _words(found)
    if isnan(e.value):
        return say(f"{ID}.{name}.undefined", reason=e.note)
    values: dict[str, Any] = {"n": e.n, "reason": e.note}
    if name == "rair":
        values |= {"won": found.count("011"), **numbers(e)}
    else:  # what is reported is the harm: right decisions given up
        lost = found.find("harmful_switch_rate").estimate
        values |= {"lost": found.count("100"), "kept": e.value, **numbers(lost)}
    return say(f"{words}.{name}.{_side(e)}", **values)


def _side(e: Estimate) -> str:
    """On which side of one half the whole interval is, if there is one."""
    if isnan(e.low) or isnan(e.high):
        return "no_interval"
    return "below" if e.high < 0.5 else "above" if e.low > 0.5 else "either"


def title_of(found: Reliance) -> Message | str:
    """What a set or task is called; a task without a name by its arms."""
    return found.name or say("report.tested.contrast", aided=found.arms[0], unaided=found.arms[1])


def _rates_table(found: Reliance, number: int) -> EstimateTable:
    rows = tuple(EstimateRow(say(f"{_words(found)}.label.{name}"), found.find(name)) for name in ROWS)
    caption = "rates" if found.place.set is not None else "rates_pooled"
    return EstimateTable(f"{ID}_{number}", say(f"{ID}.table.{caption}"), rows)


def _patterns_table(found: Reliance, number: int) -> PlainTable:
    """The eight patterns with their names, counts and shares."""
    words = {"0": say(f"{ID}.wrong"), "1": say(f"{ID}.right")}
    own = _words(found)
    return table(
        f"{ID}_patterns_{number}",
        say(f"{own}.table.patterns"),
        PATTERNS,
        [
            (f"{own}.column.before", lambda p: words[p[0]]),
            (f"{ID}.column.advice", lambda p: words[p[1]]),
            (f"{own}.column.after", lambda p: words[p[2]]),
            (f"{ID}.column.name", lambda p: say(f"{ID}.pattern.p{p}")),
            (f"{ID}.column.n", found.count, "count"),
            (f"{ID}.column.share", lambda p: found.count(p) / found.n if found.n else None, "percent"),
        ],
    )


def _advice_table(found: Reliance, number: int) -> PlainTable:
    """Right decisions before and after, separately for right and for wrong advice."""
    own = _words(found)

    def right(advice: str, when: str) -> Estimate:
        return found.find(f"accuracy_{when}_{advice}_advice").estimate

    def change(advice: str) -> Estimate:
        contrast = found.place.at(arms=found.arms)
        return found.one("accuracy_change", contrast, {"advice": advice}, "accuracy").estimate

    return table(
        f"{ID}_advice_{number}",
        say(f"{own}.table.advice"),
        ("right", "wrong"),
        [
            (f"{ID}.column.advice", lambda advice: say(f"{ID}.{advice}")),
            (f"{ID}.column.n", lambda advice: right(advice, "unaided").n, "count"),
            (f"{own}.column.right_before", lambda advice: right(advice, "unaided").value, "percent"),
            (f"{own}.column.right_after", lambda advice: right(advice, "aided").value, "percent"),
            (f"{ID}.column.change", change, "points"),
        ],
    )


def _confidence_table(found: Reliance, number: int) -> PlainTable:
    def rate(band: str, name: str) -> Estimate:
        return found.find(name, confidence=band).estimate

    def label(band: str) -> Message:
        low, high = found.bands[band]
        return say(f"{ID}.band", name=say(f"{ID}.confidence.{band}"), low=low, high=high)

    return table(
        f"{ID}_confidence_{number}",
        say(f"{_words(found)}.table.confidence"),
        found.bands,
        [
            (f"{_words(found)}.column.confidence", label),
            (f"{ID}.column.n", lambda band: rate(band, "override_rate").n, "count"),
            *(
                (f"{ID}.column.{name}", lambda band, name=name: rate(band, name), "estimate")
                for name in ("rair", "rsr", "switch_rate")
            ),
        ],
    )


def _readers_table(found: Reliance, number: int) -> PlainTable:
    return table(
        f"{ID}_readers_{number}",
        say(f"{ID}.table.readers"),
        found.readers,
        [
            (f"{ID}.column.reader", str),
            *(
                (
                    f"{ID}.column.{name}",
                    lambda reader, name=name: found.find(name, reader=reader).estimate,
                    "estimate",
                )
                for name in ("rair", "rsr", "rbod", "rbt", "override_rate")
            ),
        ],
    )


def _figure(found: Reliance, number: int) -> Figure:
    points = [_point(found, reader, leads=False, reader=reader) for reader in found.readers]
    pooled = _point(found, say(f"{ID}.all_readings"), leads=True)
    drawn = points if len(points) > 1 else []
    values = {name: getattr(pooled, name).value for name in ("rair", "rsr")}
    known = {name: None if isnan(value) else value for name, value in values.items()}
    own = _words(found)
    return Figure(
        f"trust_{number}",
        TrustDiagram((*drawn, pooled), flow=_flow(found)),
        say(f"{own}.figure.readers" if drawn else f"{own}.figure.set"),
        say(f"{own}.figure.alt", n=len(drawn), **{name: _percent(value) for name, value in known.items()}),
    )


def _flow(found: Reliance) -> TrustFlow:
    counts = {pattern: found.count(pattern) for pattern in PATTERNS}
    return TrustFlow(counts, separate=found.separate_readings)


def _percent(value: float | None) -> Message:
    return say("word.not_known") if value is None else say(f"{ID}.percent", value=value)


def _point(found: Reliance, label: Message | str, *, leads: bool, **more: Any) -> TrustPoint:
    return TrustPoint(label, **{name: found.find(name, **more).estimate for name in CORNERS}, leads=leads)
