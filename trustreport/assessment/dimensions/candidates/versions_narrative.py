"""What is said of versions: the change on the data that each was changed for, and on the older ones."""

from collections.abc import Iterator
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.candidates.entries import ID
from trustreport.assessment.dimensions.candidates.versions import VersionChange, Versions
from trustreport.assessment.finding import Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import heading, numbers, quantity_name, side_of
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

ELEMENT = "versions"
Row = tuple[ScoredCases, tuple[Result, ...]]


def versions_part(found: Versions) -> Part:
    """The sentences of each new version, then values and changes by data set."""
    return Part(tuple(_sentences(found)), None, (_values(found), _changes(found)), element=ELEMENT)


def _sentences(found: Versions) -> Iterator[Message]:
    first = next(name for name in found.measures if name != "auc")
    for pair in dict.fromkeys((c.now.candidate, c.before.candidate) for c in found.changes):
        own = [c for c in found.changes if (c.now.candidate, c.before.candidate) == pair]
        for change in own:
            if change.kind == "learning":
                yield from _learning(change, first)
        older = [c for c in own if c.kind == "retention" and _has_interval(c, first)]
        if older:
            yield _retention(older, first, pair)
        if all(c.kind == "undeclared" for c in own):
            yield say(f"{ID}.version.undeclared", now=pair[0])
    apart = [c for c in found.changes if not c.common]
    if apart:
        names = list(dict.fromkeys(c.now.dataset.name for c in apart))
        yield say(f"{ID}.version.unpaired", n=len(names), names=names)


def _has_interval(change: VersionChange, name: str) -> bool:
    found = change.change(name)
    return found is not None and not isnan(found.estimate.low)


def _known(change: VersionChange) -> dict[str, Any]:
    return {
        "now": change.now.candidate,
        "before": change.before.candidate,
        "dataset": change.now.dataset.name,
    }


def _learning(change: VersionChange, first: str) -> Iterator[Message]:
    r = change.change(first)
    if r is None:
        return
    known = {**_known(change), "measure": quantity_name(first)}
    if isnan(r.estimate.low):
        yield say(f"{ID}.version.learning_undefined", reason=r.estimate.note, **known)
        return
    side = side_of(r.estimate, 0)
    yield say(f"{ID}.version.learning_{side}", n=r.estimate.n, **numbers(r.estimate), **known)


def _retention(older: list[VersionChange], first: str, pair: tuple[str, str]) -> Message:
    """The data set with the largest fall; where none is beyond chance, the largest that the data allow."""
    changes = [(c, r) for c in older if (r := c.change(first)) is not None]
    fallen = [(c, r) for c, r in changes if r.estimate.high < 0]
    known: dict[str, Any] = {"now": pair[0], "before": pair[1], "k": len(changes)}
    if fallen:
        known["measure"] = heading(first)
        worst, r = min(fallen, key=lambda one: one[1].estimate.value)
        known |= {"dataset": worst.now.dataset.name, "n": len(fallen)}
        return say(f"{ID}.version.lost", **numbers(r.estimate), **known)
    worst, r = min(changes, key=lambda one: one[1].estimate.low)
    known |= {"dataset": worst.now.dataset.name, "n": len(changes), "measure": quantity_name(first)}
    return say(f"{ID}.version.kept", **numbers(r.estimate), **known)


def _values(found: Versions) -> PlainTable:
    def of(name: str) -> Any:
        return lambda row: next((r.estimate for r in row[1] if r.endpoint == name), None)

    return table(
        "versions_values",
        say(f"{ID}.version.table_values", level=found.values[0][1][0].estimate.level),
        found.values,
        [
            (f"{ID}.version.column.dataset", lambda row: row[0].dataset.name),
            (f"{ID}.version.column.version", lambda row: row[0].candidate),
            (f"{ID}.version.column.cases", lambda row: len(row[0]), "count"),
            *(
                (f"{ID}.version.column.{name}", of(name), "number")
                for name in found.measures
                if _any(found, name)
            ),
        ],
    )


def _any(found: Versions, name: str) -> bool:
    return any(r.endpoint == name for _, own in found.values for r in own)


def _changes(found: Versions) -> PlainTable:
    def of(name: str) -> Any:
        return lambda c: r.estimate if (r := c.change(name)) else None

    return table(
        "versions_changes",
        say(f"{ID}.version.table_changes"),
        found.changes,
        [
            (f"{ID}.version.column.dataset", "now.dataset.name"),
            (f"{ID}.version.column.pair", lambda c: say(f"{ID}.version.pair", **_known(c))),
            (f"{ID}.version.column.kind", lambda c: say(f"{ID}.version.kind.{c.kind}")),
            (
                f"{ID}.version.column.common",
                lambda c: c.common if c.common else say(f"{ID}.version.no_common"),
                "count",
            ),
            *(_change_column(name, of(name)) for name in found.measures if _any(found, name)),
        ],
    )


def _change_column(name: str, of: Any) -> tuple[str, Any, str]:
    """Shares change by points, areas by a number."""
    if name == "auc":
        return f"{ID}.version.column.auc", of, "number"
    return f"{ID}.version.column.{name}_points", of, "points"
