"""The gain of the readers who began lowest and highest: results, sentence and table."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isnan
from typing import get_args

import numpy as np

from trustreport.assessment.dimensions.decision_benefit.results import ID
from trustreport.assessment.finding import Part
from trustreport.assessment.narrative.texts import Item, Texts
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

text = Texts(f"{ID}.quarters")


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
    contrast, key, results = place.narrowed(arms=arms), reading_key(readings), []
    draws = None
    if n_readers >= LEAST_READERS:
        rng = generator(seed, ID, "quarters", readings.task, *arms)
        patient = patients_of(readings)
        of = None if patient is None else patient[cases]
        draws = Draws.drawn(len(names), readings.cases.truth[cases], rng, cluster=of)
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
    if own:
        yield text.part(_items(own, number), text.title(name, alone=alone), own[0].place.narrowed(arms=None))


def _items(own: Sequence[Result], number: int) -> Iterator[Item]:
    lowest, highest = (r.estimate for r in own)
    if isnan(lowest.value) or isnan(highest.value):
        yield say(f"{ID}.quarters.undefined", reason=lowest.note or highest.note)
    else:
        if isnan(lowest.low) or isnan(highest.low):
            yield say(
                f"{ID}.quarters.no_interval", lowest=lowest.value, highest=highest.value, reason=lowest.note
            )
        else:
            counts = {"n": int(lowest.details["quarter"]), "readers": int(lowest.details["readers"])}
            yield text("gains", lowest=lowest, highest=highest, **counts)
        yield text("regression")
    yield text.estimates(f"decision_benefit_quarters_{number}", text("table"), own, leads=lambda r: False)
