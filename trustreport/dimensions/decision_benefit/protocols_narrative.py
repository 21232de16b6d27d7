"""How the device could be used here: sentences, tables and the plane of the protocols."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from trustreport.digits import Rounded, per, rounded
from trustreport.dimensions.decision_benefit.entries import ID
from trustreport.dimensions.decision_benefit.protocols import ProtocolComparison
from trustreport.estimate import Estimate
from trustreport.figures.plane import PlaneAxis, PlaneChart, PlanePoint
from trustreport.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.measures.protocols import READER
from trustreport.messages import Message, say
from trustreport.narrative.tables import table
from trustreport.results import Result

TEXT = f"{ID}.protocols"
TABLE = "protocols_"  # how the ids of its tables begin
DIFFERENCE = "protocol_difference"
CASES = 1000
ENDPOINTS = ("sensitivity", "specificity")


def protocols_part(found: ProtocolComparison, name: Message | str, number: int, *, alone: bool) -> Part:
    """The protocols beside each other and each against the reader alone, with a figure."""
    tables = [_performance(found, number)]
    if len(found.names) > 1:
        tables.append(_differences(found, number))
    return Part(
        title=say(f"{TEXT}.title") if alone else say(f"{TEXT}.title_of", name=name),
        finding=tuple(_sentences(found)),
        tables=tuple(tables),
        figures=tuple(_figure(found, number)),
        place=found.place,
    )


def _label(protocol: str) -> Message:
    return say(f"{TEXT}.name.{protocol}")


def _of(found: ProtocolComparison, quantity: str, protocol: str, endpoint: str) -> Estimate | None:
    r = found.find(quantity, protocol, endpoint)
    return None if r is None else r.estimate


# ---------------------------------------------------------------- sentences


def _sentences(found: ProtocolComparison) -> Iterator[Message]:
    """Which protocols are better than the reader alone, which trade one class for the other."""
    better: list[Message] = []
    trades: list[Message] = []
    for protocol in found.names:
        changes = [_of(found, DIFFERENCE, protocol, endpoint) for endpoint in ENDPOINTS]
        up = any(e is not None and e.low > 0 for e in changes)
        down = any(e is not None and e.high < 0 for e in changes)
        if up:
            (trades if down else better).append(_item(protocol, changes))
    if better:
        yield say(f"{TEXT}.better", items=better)
    if trades:
        yield say(f"{TEXT}.trades", items=trades)
    if not better and not trades and len(found.names) > 1:
        yield say(f"{TEXT}.none", n=len(found.names) - 1)
    if found.lacking:
        yield say(f"{TEXT}.lacking", items=[say(f"{TEXT}.needs.{protocol}") for protocol in found.lacking])


def _item(protocol: str, changes: Sequence[Estimate | None]) -> Message:
    parts = [
        say(f"{TEXT}.change", measure=say(f"quantity.{endpoint}"), value=e.value, low=e.low, high=e.high)
        for endpoint, e in zip(ENDPOINTS, changes)
        if e is not None and not isnan(e.low)
    ]
    if len(parts) == 1:
        return say(f"{TEXT}.item", protocol=_label(protocol), first=parts[0])
    return say(f"{TEXT}.item_both", protocol=_label(protocol), first=parts[0], second=parts[1])


# ---------------------------------------------------------------- tables


def _performance(found: ProtocolComparison, number: int) -> PlainTable:
    def value(endpoint: str) -> Any:
        return lambda protocol: _of(found, "protocol_performance", protocol, endpoint)

    timed = any(value("seconds")(protocol) for protocol in found.names)
    return table(
        f"protocols_{number}",
        say(f"{TEXT}.table", prevalence=found.prevalence, cases=CASES),
        found.names,
        [
            (f"{TEXT}.column.protocol", _label),
            *((f"{TEXT}.column.{endpoint}", value(endpoint), "estimate") for endpoint in ENDPOINTS),
            (f"{TEXT}.column.missed", lambda p: _wrong(found, p, "sensitivity"), "estimate"),
            (f"{TEXT}.column.alarms", lambda p: _wrong(found, p, "specificity"), "estimate"),
            (f"{TEXT}.column.minutes", lambda p: _minutes(found, p), "count") if timed else None,
        ],
    )


def _wrong(found: ProtocolComparison, protocol: str, endpoint: str) -> Estimate | None:
    """Wrong decisions among so many cases at the prevalence."""
    e = _of(found, "protocol_performance", protocol, endpoint)
    if e is None:
        return None
    share = found.prevalence if endpoint == "sensitivity" else 1 - found.prevalence
    wrong = replace(e, value=share * (1 - e.value), low=share * (1 - e.high), high=share * (1 - e.low))
    return per(rounded(wrong, 3), CASES)


def _minutes(found: ProtocolComparison, protocol: str) -> float | None:
    e = _of(found, "protocol_performance", protocol, "seconds")
    return None if e is None else CASES * e.value / 60


def _differences(found: ProtocolComparison, number: int) -> PlainTable:
    def change(endpoint: str) -> Any:
        return lambda protocol: _of(found, DIFFERENCE, protocol, endpoint)

    def pairs(endpoint: str) -> Any:
        return lambda protocol: _pairs(found.find(DIFFERENCE, protocol, endpoint))

    return table(
        f"protocols_differences_{number}",
        say(f"{TEXT}.differences"),
        [name for name in found.names if name != READER],
        [
            (f"{TEXT}.column.protocol", _label),
            (f"{TEXT}.column.sensitivity_change", change("sensitivity"), "points"),
            (f"{TEXT}.column.positive_pairs", pairs("sensitivity")),
            (f"{TEXT}.column.specificity_change", change("specificity"), "points"),
            (f"{TEXT}.column.negative_pairs", pairs("specificity")),
        ],
    )


def _pairs(r: Result | None) -> Message | None:
    """Readings right under the protocol alone, and right by the reader alone; tenths where one is drawn."""
    if r is None:
        return None
    gained, lost = (float(r.details[name]) for name in ("gained", "lost"))
    places = 0 if gained == int(gained) and lost == int(lost) else 1
    return say(f"{TEXT}.pairs", gained=Rounded(gained, places), lost=Rounded(lost, places))


# ---------------------------------------------------------------- the figure


def _figure(found: ProtocolComparison, number: int) -> Iterator[Figure]:
    points = []
    for protocol in found.names:
        pair = [_of(found, "protocol_performance", protocol, endpoint) for endpoint in ENDPOINTS]
        sensitivity, specificity = pair
        if sensitivity is not None and specificity is not None:
            hollow = protocol == READER
            points.append(PlanePoint(_label(protocol), specificity, sensitivity, hollow=hollow))
    if len(points) < 2:
        return
    axes = (
        PlaneAxis(say("word.heading", text=say(f"quantity.{name}")), say(f"quantity.{name}"), "percent", 0, 1)
        for name in ("specificity", "sensitivity")
    )
    listed = [
        say(f"{TEXT}.at", name=p.label, sensitivity=p.upward.value, specificity=p.across.value)
        for p in points
    ]
    yield Figure(
        f"protocols_plane_{number}",
        PlaneChart(tuple(points), *axes),
        say(f"{TEXT}.figure"),
        say(f"{TEXT}.figure_alt", n=len(points), items=listed),
    )


# ---------------------------------------------------------------- without paired data


def published_part(results: Sequence[Result]) -> Part | None:
    """Accuracies by formula of published sets; nothing where there are none."""
    if not results:
        return None
    rows = tuple(
        EstimateRow(say(f"{TEXT}.of_set", set=r.place.set, protocol=_label(str(r.place.protocol))), r)
        for r in results
    )
    return Part(
        title=say(f"{TEXT}.published_title"),
        finding=(say(f"{TEXT}.published"),),
        tables=(EstimateTable("protocols_published", say(f"{TEXT}.published_table"), rows),),
    )
