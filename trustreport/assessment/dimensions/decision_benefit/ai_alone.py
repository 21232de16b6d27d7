"""The advice by itself against the readers, unaided and aided, as if the device were one more reader."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.decision_benefit.results import ID, by_analysis
from trustreport.assessment.finding import Part
from trustreport.assessment.narrative.texts import Item, Texts, endpoint_name, side_of
from trustreport.assessment.performance.reader_analysis import AIDED, FIRST_COVARIANCE, UNAIDED
from trustreport.assessment.performance.readers import correct_decisions, patients_of, reading_key
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.mrmc.one_reader import fixed_against_readers
from trustreport.study.study import Floats, Readings
from trustreport.vocabulary.digits import Rounded
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

TEXT = f"{ID}.ai_alone"
QUANTITY = f"{ID}.ai_minus_readers"

text = Texts(TEXT)


@dataclass(frozen=True, slots=True)
class Advice:
    """What the model said of each case, (n_cases,): 0.0, 1.0, NaN where it said nothing or both."""

    by_case: Floats
    n_known: int
    n_contradictory: int


def advice_of(readings: Readings, arms: tuple[str, str]) -> Advice | None:
    """The advice on each case, of the compared arm where it is recorded there; None where there is none."""
    if readings.advice is None:
        return None
    given = readings.advice >= 0
    for arm in arms:
        rows = given & (readings.arm == readings.arms.index(arm))
        if rows.any():
            break
    else:
        return None
    n = len(readings.cases)
    times = np.bincount(readings.case[rows], minlength=n)
    positive = np.bincount(readings.case[rows], weights=readings.advice[rows], minlength=n)
    one = (times > 0) & ((positive == 0) | (positive == times)) & (readings.cases.truth >= 0)
    by_case = np.where(one, positive > 0, np.nan)
    return Advice(by_case, int(one.sum()), int(np.count_nonzero((positive > 0) & (positive < times))))


def ai_results(
    readings: Readings,
    arms: tuple[str, str],
    advice: Advice,
    level: float,
    place: Place,
    *,
    several_contrasts: bool,
) -> list[Result]:
    """Accuracy, sensitivity and specificity of the advice less those of the readers, in both arms."""
    if readings.decision is None or not advice.n_known:
        return []
    truth = readings.cases.truth
    right = np.where(np.isnan(advice.by_case), np.nan, advice.by_case == truth)
    correct = correct_decisions(readings, arms)
    chosen = {"advice_of": arms[AIDED]} if several_contrasts else {}
    results = []
    for endpoint in ("accuracy", "sensitivity", "specificity"):
        cases = MEASURES[endpoint].cases(truth) & ~np.isnan(right)
        for a in (UNAIDED, AIDED):
            if cases.any() and not np.isnan(correct[a][:, cases]).all():
                own = patients_of(readings, cases)
                found = fixed_against_readers(right[cases], correct[a][:, cases], cluster=own, level=level)
                named = {_analysis(method): e for method, e in found.items()}
                first = next(iter(named))
                of: dict[str, Any] = {
                    "endpoint": endpoint,
                    "parameters": chosen,
                    "cases": reading_key(readings),
                }
                results += by_analysis(QUANTITY, place.narrowed(arm=arms[a]), named, first, **of)
    return results


def _analysis(method: str) -> str:
    return f"{method}_{FIRST_COVARIANCE}" if method.startswith("or_") else method


def ai_part(
    results: list[Result], advice: Advice, name: Message | str, number: int, *, alone: bool
) -> Iterator[Part]:
    """The difference of each endpoint in both arms; accuracy in a sentence for each arm."""
    lead = [r for r in results if r.primary]
    if lead:
        yield text.part(_items(lead, advice, number), text.title(name, alone=alone))


def _items(lead: Sequence[Result], advice: Advice, number: int) -> Iterator[Item]:
    yield from (_sentence(r) for r in lead if r.endpoint == "accuracy")
    if advice.n_contradictory:
        yield text("contradictory", n=advice.n_contradictory)
    yield text.estimates(
        f"decision_benefit_ai_{number}",
        text("table", n=advice.n_known),
        lead,
        lambda r: text("label", endpoint=endpoint_name(r.endpoint), arm=r.place.arm),
        leads=lambda r: False,
    )


def _sentence(result: Result) -> Message:
    e = result.estimate
    shares: dict[str, Any] = {
        "arm": result.place.arm,
        "fixed": Rounded(e.details["fixed"], result.places),
        "readers": Rounded(e.details["readers"], result.places),
    }
    if isnan(e.low):
        shares["value"] = e.value
        return say(f"{TEXT}.no_interval", reason=e.note, **shares)
    return text(side_of(e, 0, "better", "worse"), e, **shares)
