"""Why the interval of the change is as wide as it is, and what more readers or more cases would give."""

from collections.abc import Iterator, Sequence
from math import ceil, isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.decision_benefit.entries import ID
from trustreport.assessment.finding import PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import endpoint_name
from trustreport.assessment.performance.reader_analysis import ReaderEndpoint
from trustreport.assessment.performance.reader_errors import components_of
from trustreport.assessment.performance.readers import reading_key
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.power import METHOD_WIDTH, NO_COMPONENT, Components, expected_width, sources
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.study.study import Readings
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.results import Result, leading

# Fewer readers than this describe themselves, not readers in general.
FEW_READERS = 5
SOURCES = ("readers", "cases", "both")
# Studies to come: so many readers more on as many cases, so many times the cases for the same readers.
MORE_READERS, MORE_CASES = (2, 5), (1.5, 2)
ROUNDING = 1e-9
SHARE = note("share_variance_has_no_interval")
NEGATIVE = note("single_readers_on_single_cases_have")
TWO_CLASSES = note("with_readings_missing_two_classes_have")
NOT_SHARED = note("no_two_readers_read_same_case")
TEXT = f"{ID}.sources"


def source_results(
    endpoint: ReaderEndpoint, readings: Readings, arms: tuple[str, str], level: float, place: Place
) -> Iterator[Result]:
    """Shares of the variance of the change, and the expected width with more readers or more cases.

    Nothing of one reader. Where readings are missing the widths are those of a study without gaps.
    """
    n_readers = endpoint.outcome.shape[1]
    if n_readers < 2:
        return
    pilot = components_of(endpoint, readings)
    n = int((~np.isnan(endpoint.outcome)).sum(axis=(1, 2)).min())
    of: dict[str, Any] = {"endpoint": endpoint.name, "primary": True, "cases": reading_key(readings)}
    contrast = place.at(arms=arms)
    for source, e in _shares(pilot, n_readers, n, level).items():
        yield Result(f"{ID}.variance_share", contrast, e, parameters={"source": source}, **of)
    if pilot is None or isnan(pilot.own + pilot.shared):
        return
    for readers, cases in designs(n_readers, pilot.n_cases):
        chosen = {"n_readers": readers, "n_cases": cases}
        e = expected_width(pilot, **chosen, level=level, few=FEW_READERS)
        yield Result(f"{ID}.expected_width", contrast, e, parameters=chosen, **of)


def designs(n_readers: int, n_cases: int) -> list[tuple[int, int]]:
    """Readers and cases of this study, then of each study to come.

    >>> designs(5, 45)
    [(5, 45), (7, 45), (10, 45), (5, 68), (5, 90)]
    """
    more = [(n_readers + r, n_cases) for r in MORE_READERS]
    return [(n_readers, n_cases), *more, *((n_readers, ceil(n_cases * m)) for m in MORE_CASES)]


def _shares(pilot: Components | None, n_readers: int, n: int, level: float) -> dict[str, Estimate]:
    shares = dict.fromkeys(SOURCES, nan) if pilot is None else sources(pilot, n_readers)
    why = NO_NOTE
    if pilot is None:
        why = TWO_CLASSES
    elif isnan(pilot.own + pilot.shared):
        why = NOT_SHARED
    elif any(isnan(share) for share in shares.values()):
        why = NO_COMPONENT
    elif min(shares.values()) < -ROUNDING:
        why = NEGATIVE
    if why or pilot is None:
        return {name: undefined(n, why, level=level, method=METHOD_WIDTH) for name in shares}
    note = SHARE + pilot.note
    return {
        name: Estimate(max(share, 0.0), nan, nan, n, level, METHOD_WIDTH, note)
        for name, share in shares.items()
    }


# ---------------------------------------------------------------- sentence and tables


def _found(results: Sequence[Result], endpoint: ReaderEndpoint, arms: tuple[str, str]) -> list[Result]:
    """The shares of an endpoint in the order of `SOURCES`; none where there are none."""
    of = {"endpoint": endpoint.name, "arms": list(arms)}
    every = [leading(results, f"{ID}.variance_share", parameters={"source": s}, **of) for s in SOURCES]
    return [r for r in every if r]


def _widths(results: Sequence[Result], endpoint: ReaderEndpoint, arms: tuple[str, str]) -> list[Result]:
    """The expected widths of an endpoint in the order of `designs`; none where one is undefined."""
    of = {"endpoint": endpoint.name, "arms": list(arms)}
    found = [r for r in results if r.id == f"{ID}.expected_width" and r.within(**of)]
    return [] if any(isnan(r.estimate.value) for r in found) else found


def _width(r: Result) -> Message:
    kind = "area" if endpoint_row(r.endpoint).written == "area" else "points"
    value = r.estimate.value if kind == "area" else 100 * r.estimate.value
    return say(f"{TEXT}.width_{kind}", value=value)


def source_sentences(
    results: Sequence[Result], main: ReaderEndpoint, arms: tuple[str, str]
) -> Iterator[Message]:
    """Where the variance of the change comes from, and how wide the interval of other studies would be.

    Nothing where neither is known: the table says why.
    """
    shares, widths = _found(results, main, arms), _widths(results, main, arms)
    if not shares or (isnan(shares[0].estimate.value) and not widths):
        return
    endpoint, first = endpoint_name(main.name), shares[0].estimate
    if isnan(first.value):
        said = say(f"{TEXT}.undefined", endpoint=endpoint, reason=first.note)
    else:
        said = say(
            f"{TEXT}.shares", endpoint=endpoint, **{s: r.estimate.value for s, r in zip(SOURCES, shares)}
        )
    if not widths:
        yield said
        return
    now, few, more, _, twice = map(_width, widths)
    chosen = widths[0].parameters
    second = say(
        f"{TEXT}.widths",
        readers=chosen["n_readers"],
        cases=chosen["n_cases"],
        now=now,
        few=MORE_READERS[0],
        with_few=few,
        more=MORE_READERS[1],
        with_more=more,
        twice=twice,
    )
    yield say(f"{ID}.readers.together", first=said, second=second)


def source_tables(
    results: Sequence[Result], endpoints: Sequence[ReaderEndpoint], arms: tuple[str, str], number: int
) -> Iterator[PlainTable]:
    """The shares of every endpoint, then the widths."""
    shares = [(e.name, found) for e in endpoints if (found := _found(results, e, arms))]
    if not shares:
        return
    column = f"{TEXT}.column"
    noted = any(found[0].estimate.note != SHARE for _, found in shares)
    yield table(
        f"decision_benefit_sources_{number}",
        say(f"{TEXT}.table_shares"),
        shares,
        [
            (f"{column}.endpoint", lambda row: endpoint_name(row[0])),
            *(
                (f"{column}.{s}", lambda row, i=i: _share(row[1][i]), "percent.0")
                for i, s in enumerate(SOURCES)
            ),
            (f"{column}.note", lambda row: _note(row[1][0])) if noted else None,
        ],
    )
    widths = [(e.name, found) for e in endpoints if (found := _widths(results, e, arms))]
    if not widths:
        return
    heads = [
        say(f"{column}.now"),
        *(say(f"{column}.more_readers", n=n) for n in MORE_READERS),
        *(say(f"{column}.{name}_cases") for name in ("half_more", "twice")),
    ]
    yield table(
        f"decision_benefit_widths_{number}",
        say(f"{TEXT}.table_widths", level=widths[0][1][0].estimate.level),
        widths,
        [
            (f"{column}.endpoint", lambda row: endpoint_name(row[0])),
            (f"{column}.n_readers", lambda row: row[1][0].parameters["n_readers"], "count"),
            (f"{column}.n_cases", lambda row: row[1][0].parameters["n_cases"], "count"),
            *((head, lambda row, i=i: _width(row[1][i])) for i, head in enumerate(heads)),
        ],
    )


def _share(r: Result) -> float | None:
    return None if isnan(r.estimate.value) else r.estimate.value


def _note(r: Result) -> Note:
    """What is to be said of the shares beyond that they have no interval."""
    return r.estimate.note.without(SHARE)
