"""Ranks of three or more candidates on the same cases, by the error or by the better side of the value."""

from collections.abc import Iterator
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.measurement.results import MeasuredValues, mean_over_readers
from trustreport.assessment.finding import Column, PlainTable
from trustreport.assessment.narrative.texts import Texts, form_of, heading, quantity_name
from trustreport.measures.estimate import Estimate
from trustreport.measures.measured.ranks import mean_rank, rank_of_mean, ranks
from trustreport.measures.seeds import generator
from trustreport.study.study import Floats
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.quantities import quantity as row_of
from trustreport.vocabulary.results import Result

text = Texts("measurement.ranks")
LEAST = 3  # candidates: of two their difference says it
MEAN_RANK, OF_MEAN = "mean_rank", "rank_of_mean"
RANKS = (MEAN_RANK, OF_MEAN)
PLACES = {MEAN_RANK: "number.2", OF_MEAN: "number.1"}


def ranked(one: MeasuredValues) -> Iterator[Result]:
    """The mean rank of each candidate over cases, and of devices the rank of its mean."""
    better = "down" if one.has_reference else one.facts.better
    names = one.values.conditions
    if one.values.by != "candidate" or len(names) < LEAST or better is None:
        return
    grid = np.abs(one.error) if one.has_reference else one.values.value
    whole = np.asarray(~np.isnan(grid).any(axis=0))  # of a reader and case every candidate has a value
    rows = np.flatnonzero(whole.any(axis=0))
    if not len(rows):
        return
    if one.values.readers is not None:
        for c in range(len(names)):
            yield one.entry(MEAN_RANK, one.place_of(c), _over_readers(one, grid, whole, better, c), rows)
        return
    rng = generator(one.plan.similarity.seed, OF_MEAN, one.values.measurement, one.values.name)
    value = grid[:, 0, rows]
    found = {
        MEAN_RANK: mean_rank(value, better=better, **one.how(rows)),
        OF_MEAN: rank_of_mean(value, better=better, rng=rng, **one.how(rows)),
    }
    for quantity, each in found.items():
        for c, e in enumerate(each):
            yield one.entry(quantity, one.place_of(c), e, rows)


def _over_readers(
    one: MeasuredValues, grid: Floats, whole: NDArray[np.bool_], better: str, c: int
) -> Estimate:
    """The mean rank over readers and cases, both random, within 1 and the number of candidates."""
    laid = np.full(grid.shape, nan)
    laid[:, whole] = ranks(grid[:, whole], better=better)
    e = mean_over_readers(one, MEAN_RANK, laid, c)
    return replace(e, p=nan, low=max(e.low, 1.0), high=min(e.high, float(len(grid))))


def _in_order(one: MeasuredValues, name: str) -> list[Result]:
    """The ranks of one kind, the best first."""
    return sorted((r for r in one.results if r.name == name), key=lambda r: r.estimate.value)


def _ranked_by(one: MeasuredValues) -> str:
    """The quantity by which candidates are ranked."""
    return "mean_absolute_error" if one.has_reference else one.mean


def rank_sentences(one: MeasuredValues) -> Iterator[Message]:
    """Which candidate is first, and how sure that is."""
    of_mean, means = _in_order(one, OF_MEAN), _in_order(one, MEAN_RANK)
    if means:
        first = (of_mean or means)[0]
        sure = first.estimate.high == first.estimate.value == 1
        whole = ("first_sure" if sure else "first_unsure") if of_mean else "first_readers"
        mean = next(r for r in means if r.place == first.place)
        said: dict[str, Any] = {
            "name": first.place.candidate,
            "measure": quantity_name(_ranked_by(one)),
            "high_rank": first.estimate.high,
        }
        yield text.of_estimate("first", mean, whole=whole, of=len(means), **said)


def rank_table(one: MeasuredValues, id: str) -> Iterator[PlainTable]:
    """A row for each candidate: what it is ranked by, and its ranks."""
    lead = _in_order(one, OF_MEAN) or _in_order(one, MEAN_RANK)
    if lead:
        cells = {(r.name, r.place): r.estimate for r in one.results}
        names = [name for name in (_ranked_by(one), *RANKS) if (name, lead[0].place) in cells]
        columns = [Column(heading(name), PLACES.get(name) or form_of(row_of(name))) for name in names]
        rows = [(r.place.candidate, *(cells.get((name, r.place)) for name in names)) for r in lead]
        caption = text("table", n=lead[0].estimate.n, level=one.level)
        yield text.table(id, caption, ["candidate", *columns], rows)
