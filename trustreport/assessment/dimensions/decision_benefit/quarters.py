"""The gain of the readers who began lowest and highest: results, sentence and table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan
from typing import get_args

import numpy as np

from trustreport.assessment.dimensions.decision_benefit.entries import ID
from trustreport.assessment.finding import EstimateRow, EstimateTable, Part
from trustreport.assessment.performance.readers import correct_decisions, patients_of, reading_key
from trustreport.measures.estimate import undefined
from trustreport.measures.mrmc.bootstrap import METHOD, Draws, canonical_order
from trustreport.measures.mrmc.quarters import LEAST_READERS, Quarter, quarter_gain
from trustreport.measures.note import note
from trustreport.measures.seeds import generator
from trustreport.study.study import Readings
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

QUARTERS: tuple[Quarter, ...] = get_args(Quarter)


def quarter_results(
    readings: Readings, arms: tuple[str, str], level: float, place: Place, seed: int | None
) -> list[Result]:
    """The gain in accuracy of either quarter, readers and cases drawn again."""
    if readings.decision is None:
        return []
    correct = correct_decisions(readings, arms)
    known = np.logical_not(np.any(np.isnan(correct), axis=0))
    n, n_readers = int(known.sum()), int(np.any(known, axis=1).sum())
    names = list(readings.readers.labels)
    truth = np.broadcast_to(readings.cases.truth.astype(float), correct.shape[1:])
    order, cases = canonical_order(names, np.stack([*correct, truth]))
    contrast, key, results = place.at(arms=arms), reading_key(readings), []
    draws = None
    if n_readers >= LEAST_READERS:
        rng = generator(seed, ID, "quarters", readings.task, *arms)
        patient = patients_of(readings)
        of = None if patient is None else patient[cases]
        draws = Draws.of(len(names), readings.cases.truth[cases], rng, cluster=of)
    for quarter in QUARTERS:
        if draws is None:
            e = undefined(
                n, note("readers_with_decisions_in_both_arms", n=n_readers), level=level, method=METHOD
            )
        else:
            e = draws.estimate(quarter_gain(correct[:, order][:, :, cases], quarter), n, level=level)
            e = replace(
                e, details={**e.details, "readers": float(n_readers), "quarter": float(n_readers // 4)}
            )
        results.append(Result(f"{ID}.gain_{quarter}_quarter", contrast, e, primary=True, cases=key))
    return results


def quarter_part(own: Sequence[Result], name: Message | str, number: int, *, alone: bool) -> Iterator[Part]:
    """Both gains with the warning that regression to the mean is part of them; nothing without decisions."""
    if not own:
        return
    rows = tuple(EstimateRow(say(f"{ID}.quarters.label.{r.name}"), r) for r in own)
    yield Part(
        finding=tuple(_sentences(own)),
        title=say(f"{ID}.quarters.title") if alone else say(f"{ID}.quarters.title_of", name=name),
        tables=(EstimateTable(f"decision_benefit_quarters_{number}", say(f"{ID}.quarters.table"), rows),),
        place=own[0].place.at(arms=None),
    )


def _sentences(own: Sequence[Result]) -> Iterator[Message]:
    lowest, highest = (r.estimate for r in own)
    if isnan(lowest.value) or isnan(highest.value):
        yield say(f"{ID}.quarters.undefined", reason=lowest.note or highest.note)
        return
    if isnan(lowest.low) or isnan(highest.low):
        yield say(
            f"{ID}.quarters.no_interval", lowest=lowest.value, highest=highest.value, reason=lowest.note
        )
    else:
        yield say(
            f"{ID}.quarters.gains",
            n=int(lowest.details["quarter"]),
            readers=int(lowest.details["readers"]),
            lowest=lowest.value,
            lowest_low=lowest.low,
            lowest_high=lowest.high,
            highest=highest.value,
            highest_low=highest.low,
            highest_high=highest.high,
            level=lowest.level,
        )
    yield say(f"{ID}.quarters.regression")
