"""Scores outside the range that the manifest declares for them: refused, with their rows."""

from collections.abc import Callable

import numpy as np

from trustreport.study.ingest.cases import CaseRecords, person

RangeOf = Callable[[str], tuple[float, float] | None]


def within_declared(candidate: str, part: CaseRecords, key: str, range_of: RangeOf) -> None:
    """One problem for a column of scores that leaves the declared range of the candidate."""
    declared = range_of(candidate)
    if declared is None:
        return
    low, high = declared
    given = part.table.numbers[key][part.records]
    out = np.flatnonzero((given < low) | (given > high))
    if not len(out):
        return
    least, most = float(np.nanmin(given)), float(np.nanmax(given))
    own = f"candidates: [{{candidate: {person(candidate)}, score_range: [LOW, HIGH]}}]"
    line = own if candidate else "operating_point: {score_range: [LOW, HIGH]}"
    part.table.refuse(
        f"found scores from {least:g} to {most:g}",
        f"from {low:g} to {high:g}, the declared score_range",
        f"If the scores are on another scale, declare {line}.",
        at=np.sort(part.records[out]),
        word=key,
    )
