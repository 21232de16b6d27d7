"""How reliance is told: sentences, tables and the trust diagram."""

from collections.abc import Iterable
from math import isnan
from typing import Any

from trustreport.dimensions.reliance.results import Reliance
from trustreport.estimate import Estimate
from trustreport.figures.trust import TrustDiagram, TrustPoint
from trustreport.finding import Column, EstimateTable, Figure, Part, PlainTable, Row
from trustreport.measures.reliance.patterns import PATTERNS
from trustreport.messages import Message, say

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
        title=None if alone else say("word.name", name=_title(found)),
        finding=tuple(sentences(found)),
        tables=tuple(tables),
        figures=(_figure(found, number),),
        scope=found.scope,
    )


def overview(sets: list[Reliance]) -> Part:
    """Many published sets: how many lie below one half, a row each, and all of them in one diagram."""
    below = {name: sum(_side(one.find(name).estimate) == "below" for one in sets) for name in ("rsr", "rair")}
    finding = say(f"{ID}.overview", n=len(sets), rsr=below["rsr"], rair=below["rair"])
    points = tuple(_point(one, one.name, leads=False) for one in sets)
    figure = Figure(
        "trust_sets",
        TrustDiagram(points, named=True),
        say(f"{ID}.figure.sets"),
        say(f"{ID}.figure.sets_alt", n=len(sets)),
    )
    columns = [Column(say(f"{ID}.column.set"))]
    columns += [Column(say(f"{ID}.column.{name}"), "estimate") for name in ("rair", "rsr", "rbod", "rbt")]
    columns.append(Column(say(f"{ID}.column.n"), "count"))
    rows = tuple(
        (one.name, *(one.find(name).estimate for name in ("rair", "rsr", "rbod", "rbt")), one.n)
        for one in sets
    )
    table = PlainTable(f"{ID}_sets", say(f"{ID}.table.sets"), tuple(columns), rows)
    return Part(finding=(finding,), tables=(table,), figures=(figure,))


def sentences(found: Reliance) -> Iterable[Message]:
    """What the readings show, never more than the interval."""
    advice = found.find("accuracy_of_advice").estimate
    if not isnan(advice.value):
        yield say(f"{ID}.advice", value=advice.value, n=advice.n)
    words = _words(found)
    for name in ("rsr", "rair"):
        yield _told(name, found.find(name).estimate, words)
    for name in ("rbt", "rbod"):
        e = found.find(name).estimate
        if _side(e) == "below":
            yield say(f"{words}.{name}.below", value=e.value, low=e.low, high=e.high, level=e.level, n=e.n)
    if found.n:
        yield say(f"{words}.switches", mended=found.count("011"), spoiled=found.count("100"))


def _words(found: Reliance) -> str:
    """The words for two decisions of one sitting, or of sittings apart, where none was changed."""
    return f"{ID}.apart" if found.apart else ID


def _told(name: str, e: Estimate, words: str) -> Message:
    if isnan(e.value):
        return say(f"{ID}.{name}.undefined", reason=e.note)
    side = _side(e)
    if not side:
        return say(f"{words}.{name}.no_interval", value=e.value, n=e.n, reason=e.note)
    return say(f"{words}.{name}.{side}", value=e.value, low=e.low, high=e.high, level=e.level, n=e.n)


def _side(e: Estimate) -> str:
    """On which side of one half the whole interval lies: below, above or either; nothing without one."""
    return "below" if e.high < 0.5 else "above" if e.low > 0.5 else "either" if e.low <= 0.5 <= e.high else ""


def _title(found: Reliance) -> Message | str:
    return found.name or say("report.tested.contrast", aided=found.arms[0], unaided=found.arms[1])


def _rates_table(found: Reliance, number: int) -> EstimateTable:
    rows = tuple(Row(say(f"{_words(found)}.label.{name}"), found.find(name)) for name in ROWS)
    caption = "rates" if "set" in found.scope else "rates_pooled"
    return EstimateTable(f"{ID}_{number}", say(f"{ID}.table.{caption}"), rows)


def _patterns_table(found: Reliance, number: int) -> PlainTable:
    """The eight patterns with their names, counts and shares."""
    words = {"0": say(f"{ID}.wrong"), "1": say(f"{ID}.right")}
    own = _words(found)
    columns = (
        Column(say(f"{own}.column.before")),
        Column(say(f"{ID}.column.advice")),
        Column(say(f"{own}.column.after")),
        Column(say(f"{ID}.column.name")),
        Column(say(f"{ID}.column.n"), "count"),
        Column(say(f"{ID}.column.share"), "percent"),
    )
    rows = tuple(
        (
            *(words[digit] for digit in pattern),
            say(f"{ID}.pattern.p{pattern}"),
            found.count(pattern),
            found.count(pattern) / found.n if found.n else None,
        )
        for pattern in PATTERNS
    )
    return PlainTable(f"{ID}_patterns_{number}", say(f"{own}.table.patterns"), columns, rows)


def _advice_table(found: Reliance, number: int) -> PlainTable:
    """Right decisions before and after, apart for right and for wrong advice."""
    own = _words(found)
    columns = (
        Column(say(f"{ID}.column.advice")),
        Column(say(f"{ID}.column.n"), "count"),
        Column(say(f"{own}.column.right_before"), "percent"),
        Column(say(f"{own}.column.right_after"), "percent"),
        Column(say(f"{ID}.column.change"), "points"),
    )
    rows = []
    for advice in ("right", "wrong"):
        before = found.find(f"accuracy_unaided_{advice}_advice").estimate
        after = found.find(f"accuracy_aided_{advice}_advice").estimate
        scope: dict[str, Any] = {**found.scope, "arms": list(found.arms), "endpoint": "accuracy"}
        change = found.one("accuracy_change", {**scope, "parameters": {"advice": advice}})
        rows.append((say(f"{ID}.{advice}"), before.n, before.value, after.value, change.estimate))
    return PlainTable(f"{ID}_advice_{number}", say(f"{own}.table.advice"), columns, tuple(rows))


def _confidence_table(found: Reliance, number: int) -> PlainTable:
    names = ("rair", "rsr", "switch_rate")
    columns = [Column(say(f"{_words(found)}.column.confidence")), Column(say(f"{ID}.column.n"), "count")]
    columns += [Column(say(f"{ID}.column.{name}"), "estimate") for name in names]
    rows = []
    for band, (low, high) in found.bands.items():
        here = {"parameters": {"confidence": band}}
        label = say(f"{ID}.band", name=say(f"{ID}.confidence.{band}"), low=low, high=high)
        n = found.find("override_rate", **here).estimate.n
        rows.append((label, n, *(found.find(name, **here).estimate for name in names)))
    caption = say(f"{_words(found)}.table.confidence")
    return PlainTable(f"{ID}_confidence_{number}", caption, tuple(columns), tuple(rows))


def _readers_table(found: Reliance, number: int) -> PlainTable:
    names = ("rair", "rsr", "rbod", "rbt", "override_rate")
    columns = [Column(say(f"{ID}.column.reader"))]
    columns += [Column(say(f"{ID}.column.{name}"), "estimate") for name in names]
    rows = tuple(
        (reader, *(found.find(name, reader=reader).estimate for name in names)) for reader in found.readers
    )
    return PlainTable(f"{ID}_readers_{number}", say(f"{ID}.table.readers"), tuple(columns), rows)


def _figure(found: Reliance, number: int) -> Figure:
    points = [_point(found, reader, leads=False, reader=reader) for reader in found.readers]
    pooled = _point(found, say(f"{ID}.all_readings"), leads=True)
    drawn = points if len(points) > 1 else []
    values = {name: getattr(pooled, name).value for name in ("rair", "rsr")}
    known = {name: None if isnan(value) else value for name, value in values.items()}
    own = _words(found)
    return Figure(
        f"trust_{number}",
        TrustDiagram((*drawn, pooled)),
        say(f"{own}.figure.readers" if drawn else f"{own}.figure.set"),
        say(f"{own}.figure.alt", n=len(drawn), **{name: _percent(value) for name, value in known.items()}),
    )


def _percent(value: float | None) -> Message:
    return say("word.not_known") if value is None else say(f"{ID}.percent", value=value)


def _point(found: Reliance, label: Message | str, *, leads: bool, **more: Any) -> TrustPoint:
    return TrustPoint(label, **{name: found.find(name, **more).estimate for name in CORNERS}, leads=leads)
