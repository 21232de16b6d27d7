"""Fewer than five readers: where the variance of the change comes from, and what two more would give."""

from collections.abc import Iterator, Sequence
from math import nan
from typing import Any

import numpy as np

from trustreport.dimensions.decision_benefit.entries import ID
from trustreport.estimate import Estimate
from trustreport.measures.mrmc.power import METHOD_WIDTH, expected_width, sources
from trustreport.messages import Message, say
from trustreport.narrative.names import endpoint_name
from trustreport.performance.components import components_of
from trustreport.performance.readers import ReaderEndpoint, reading_key
from trustreport.place import Place
from trustreport.results import Result, leading
from trustreport.study import Readings

# Fewer readers than this describe themselves, not readers in general.
FEW_READERS, MORE_READERS = 5, 2
SHARE = "a share of a variance: it has no interval"
TEXT = f"{ID}.few"


def few_results(
    endpoint: ReaderEndpoint, readings: Readings, arms: tuple[str, str], level: float, place: Place
) -> Iterator[Result]:
    """Shares of the variance of the change, and the expected width with more readers of the same cases.

    Nothing where there are five readers or more, one, or no sources of the variance. Where readings are
    missing the width is that of a study without gaps.
    """
    n_readers = endpoint.outcome.shape[1]
    if not 2 <= n_readers < FEW_READERS:
        return
    pilot = components_of(endpoint, readings)
    if pilot is None:
        return
    n = int((~np.isnan(endpoint.outcome)).sum(axis=(1, 2)).min())
    of: dict[str, Any] = {"endpoint": endpoint.name, "primary": True, "cases": reading_key(readings)}
    contrast = place.at(arms=arms)
    shares = sources(pilot, n_readers)
    if not all(share >= 0 for share in shares.values()):
        return
    for source, share in shares.items():
        e = Estimate(share, nan, nan, n, level, METHOD_WIDTH, SHARE)
        yield Result(f"{ID}.variance_share", contrast, e, parameters={"source": source}, **of)
    for more in (0, MORE_READERS):
        chosen = {"n_readers": n_readers + more, "n_cases": pilot.n_cases}
        e = expected_width(pilot, **chosen, level=level, few=FEW_READERS)
        yield Result(f"{ID}.expected_width", contrast, e, parameters=chosen, **of)


def few_sentences(
    results: Sequence[Result], main: ReaderEndpoint, arms: tuple[str, str]
) -> Iterator[Message]:
    """Both in a sentence each, where there are such results."""
    of = {"endpoint": main.name, "arms": list(arms)}
    shares = {
        source: found.estimate.value
        for source in ("readers", "cases", "both")
        if (found := leading(results, f"{ID}.variance_share", parameters={"source": source}, **of))
    }
    if not shares:
        return
    endpoint, n = endpoint_name(main.name), main.outcome.shape[1]
    yield say(f"{TEXT}.sources", endpoint=endpoint, **shares)
    now, then = (
        next(
            r.estimate.value
            for r in results
            if r.id == f"{ID}.expected_width" and r.within(**of) and r.parameters["n_readers"] == readers
        )
        for readers in (n, n + MORE_READERS)
    )
    values = {"endpoint": endpoint, "more": MORE_READERS, "n": n + MORE_READERS}
    points = {"now": 100 * now, "then": 100 * then}
    yield say(f"{TEXT}.{'narrower' if then < now else 'no_narrower'}", **values, **points)
