"""Why the interval of the change is as wide as it is, and what more readers or more cases would give."""

from collections.abc import Iterator
from math import ceil, isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.decision_benefit.results import ID, TaskBenefit
from trustreport.assessment.finding import PlainTable
from trustreport.assessment.narrative.texts import Texts, endpoint_name
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
from trustreport.vocabulary.results import Result

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

text = Texts(TEXT)


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
    contrast = place.narrowed(arms=arms)
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


def _found(one: TaskBenefit, endpoint: ReaderEndpoint) -> list[Result]:
    """The shares of an endpoint in the order of `SOURCES`; none where there are none."""
    of = {"endpoint": endpoint.name}
    return [r for s in SOURCES if (r := one.change("variance_share", parameters={"source": s}, **of))]


def _widths(one: TaskBenefit, endpoint: ReaderEndpoint) -> list[Result]:
    """The expected widths of an endpoint in the order of `designs`; none where one is undefined."""
    of = {"endpoint": endpoint.name, "arms": list(one.arms)}
    found = [r for r in one.results if r.id == f"{ID}.expected_width" and r.within(**of)]
    return [] if any(isnan(r.estimate.value) for r in found) else found


def _width(r: Result) -> Message:
    kind = "area" if endpoint_row(r.endpoint).written == "area" else "points"
    return text(f"width_{kind}", value=r.estimate.value if kind == "area" else 100 * r.estimate.value)


def source_sentences(one: TaskBenefit) -> Iterator[Message]:
    """Where the variance of the change comes from, and how wide the interval of other studies would be.

    Nothing where neither is known: the table says why.
    """
    shares, widths = _found(one, one.main), _widths(one, one.main)
    if not shares or (isnan(shares[0].estimate.value) and not widths):
        return
    endpoint, first = endpoint_name(one.main.name), shares[0].estimate
    if isnan(first.value):
        said = say(f"{TEXT}.undefined", endpoint=endpoint, reason=first.note)
    else:
        said = text("shares", endpoint=endpoint, **{s: r.estimate.value for s, r in zip(SOURCES, shares)})
    if not widths:
        yield said
        return
    now, with_few, with_more, _, twice = map(_width, widths)
    few, more = MORE_READERS
    here = {"readers": widths[0].parameters["n_readers"], "cases": widths[0].parameters["n_cases"]}
    others = {"few": few, "with_few": with_few, "more": more, "with_more": with_more, "twice": twice}
    yield say(f"{ID}.readers.together", first=said, second=text("widths", now=now, **here, **others))


def source_tables(one: TaskBenefit) -> Iterator[PlainTable]:
    """The shares of every endpoint, then the widths."""
    shares = [(e.name, found) for e in one.endpoints if (found := _found(one, e))]
    if not shares:
        return
    noted = any(found[0].estimate.note != SHARE for _, found in shares)
    yield text.table(
        f"decision_benefit_sources_{one.number}",
        text("table_shares"),
        "endpoint readers:percent.0 cases:percent.0 .both:percent.0 .note?",
        [
            (endpoint_name(name), *(r.estimate.value for r in found), _note(found[0]) if noted else None)
            for name, found in shares
        ],
    )
    widths = [(e.name, found) for e in one.endpoints if (found := _widths(one, e))]
    if widths:
        more = (text.column("more_readers", n=n) for n in MORE_READERS)
        yield text.table(
            f"decision_benefit_widths_{one.number}",
            text("table_widths", level=widths[0][1][0].estimate.level),
            ("endpoint readers cases .now", *more, ".half_more_cases .twice_cases"),
            [
                (
                    endpoint_name(name),
                    found[0].parameters["n_readers"],
                    found[0].parameters["n_cases"],
                    *map(_width, found),
                )
                for name, found in widths
            ],
        )


def _note(r: Result) -> Note:
    """What is to be said of the shares beyond that they have no interval."""
    return r.estimate.note.without(SHARE)
