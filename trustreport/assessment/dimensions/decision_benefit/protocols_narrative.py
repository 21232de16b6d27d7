"""How the device could be used here: sentences, tables and the plane of the protocols."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from trustreport.assessment.dimensions.decision_benefit.entries import ID
from trustreport.assessment.dimensions.decision_benefit.protocols import ProtocolComparison
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.figures.field import PlaneAxis, PlaneChart, PlanePoint
from trustreport.measures.estimate import Estimate
from trustreport.measures.protocols import READER
from trustreport.vocabulary.digits import Rounded, per, rounded
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

TEXT = f"{ID}.protocols"
TABLE = "protocols_"  # how the ids of its tables begin
DIFFERENCE = "protocol_difference"
CASES = 1000
ENDPOINTS = ("sensitivity", "specificity")
WAYS = {1: "higher", -1: "lower"}


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


def _name(protocol: str) -> Message:
    return say(f"{TEXT}.name.{protocol}")


def _label(protocol: str) -> Message:
    return say("word.heading", text=_name(protocol))


def _of(found: ProtocolComparison, quantity: str, protocol: str, endpoint: str) -> Estimate | None:
    r = found.find(quantity, protocol, endpoint)
    return None if r is None else r.estimate


# ---------------------------------------------------------------- sentences


def _sentences(found: ProtocolComparison) -> Iterator[Message]:
    """What each protocol was shown to change, compared with the reader alone; what it trades comes first."""
    in_one: dict[tuple[int, str], list[Message]] = {}
    unshown: list[Message] = []
    for protocol in found.names:
        changes = {endpoint: _of(found, DIFFERENCE, protocol, endpoint) for endpoint in ENDPOINTS}
        shown = [(_direction(e), endpoint, e) for endpoint, e in changes.items() if e and _direction(e)]
        if len(shown) == 2:
            yield _in_both(protocol, sorted(shown, key=lambda change: -change[0]))
        elif shown:
            ((direction, endpoint, e),) = shown
            in_one.setdefault((direction, endpoint), []).append(_change("by", e, protocol=_name(protocol)))
        elif protocol != READER:
            unshown.append(_name(protocol))
    for (direction, endpoint), items in in_one.items():
        (other,) = (name for name in ENDPOINTS if name != endpoint)
        key = f"{TEXT}.only_{WAYS[direction]}"
        yield say(key, measure=say(f"quantity.{endpoint}"), other=say(f"quantity.{other}"), items=items)
    if unshown:
        yield say(f"{TEXT}.unshown", items=unshown)
    if found.lacking:
        yield say(f"{TEXT}.lacking", items=[say(f"{TEXT}.needs.{protocol}") for protocol in found.lacking])


def _direction(e: Estimate) -> int:
    """1 for a shown gain, -1 for a shown loss, 0 where none was shown."""
    return (e.low > 0) - (e.high < 0)


def _in_both(protocol: str, shown: Sequence[tuple[int, str, Estimate]]) -> Message:
    """The changes of both classes, gains first."""
    first, second = (
        _change(WAYS[direction], e, measure=say(f"quantity.{endpoint}")) for direction, endpoint, e in shown
    )
    joined = "agree" if shown[0][0] == shown[1][0] else "trade"
    return say(f"{TEXT}.{joined}", protocol=_label(protocol), first=first, second=second)


def _change(key: str, e: Estimate, **of: Message) -> Message:
    limits = sorted((e.low, e.high), key=abs)
    return say(f"{TEXT}.{key}", value=e.value, low=limits[0], high=limits[1], level=e.level, **of)


# ---------------------------------------------------------------- tables


def _performance(found: ProtocolComparison, number: int) -> PlainTable:
    def value(endpoint: str) -> Any:
        return lambda protocol: _of(found, "protocol_performance", protocol, endpoint)

    timed = value("seconds")(READER) is not None  # without it there is nothing to compare times with
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
        EstimateRow(say(f"{TEXT}.of_set", set=r.place.set, protocol=_name(str(r.place.protocol))), r)
        for r in results
    )
    return Part(
        title=say(f"{TEXT}.published_title"),
        finding=(say(f"{TEXT}.published"),),
        tables=(EstimateTable("protocols_published", say(f"{TEXT}.published_table"), rows),),
    )
