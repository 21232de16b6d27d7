"""How many cases people must read before labels of uncertain error can carry an accuracy."""

from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from trustreport.measures.confusion.label_error import LabelError, corrected_for_labels
from trustreport.measures.estimate import Estimate
from trustreport.planning.origins import TEXT
from trustreport.planning.request import OPTIONS, Count, Inside, OptionsRequest, validated
from trustreport.vocabulary.errors import Problem, StudyError
from trustreport.vocabulary.messages import Message, say

Rate = Annotated[float, Field(gt=0, le=1)]


class HandReadingRequest(OptionsRequest):
    """The measure, the device, the labels of the routine cases, and the widest interval that would do."""

    labels: Literal["sensitivity", "specificity", "ppv", "npv", "prevalence"]
    sensitivity: Rate
    specificity: Rate
    prevalence: Inside
    label_sensitivity: Rate
    label_specificity: Rate
    cases: Count
    width: Inside


def plan_hand_reading(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with the fewest cases to be read, and the 95% interval that is expected then.

    `read` is how many cases, drawn at random from the labelled ones; None where no number is enough. Neither
    limit may lie further than half of `width` from the value: an interval cut off at 1 is not narrow for it.
    `floor` is the width if the error of the labels were known exactly, None where the labels tell too little
    for an interval.

    Raises
    ------
    StudyError : with every problem of the fields
    """
    request = validated(HandReadingRequest, fields)
    if request.label_sensitivity + request.label_specificity <= 1:
        raise StudyError(
            [Problem(OPTIONS, "labels whose sensitivity and specificity sum to 1 or less tell nothing")]
        )
    label, decision = _expected(request)

    def estimate(read: int | None) -> Estimate:
        ill = None if read is None else max(1, round(read * request.prevalence))
        well = None if read is None or ill is None else max(1, read - ill)
        error = LabelError(request.label_sensitivity, request.label_specificity, ill, well)
        return corrected_for_labels(request.labels, label, decision, error)

    def suffices(e: Estimate) -> bool:
        return max(e.high - e.value, e.value - e.low) <= request.width / 2

    known, most = estimate(None), estimate(request.cases)
    read = None
    if suffices(most):
        too_few, read = 1, request.cases
        while read - too_few > 1:
            middle = (too_few + read) // 2
            too_few, read = (too_few, middle) if suffices(estimate(middle)) else (middle, read)
    shown = most if read is None else estimate(read)
    floor = known.high - known.low
    return {
        **request.model_dump(),
        "read": read,
        "with_condition": None if read is None else round(read * request.prevalence),
        "low": float(shown.low) if isfinite(shown.low) else None,
        "high": float(shown.high) if isfinite(shown.high) else None,
        "floor": float(floor) if isfinite(floor) else None,
    }


def hand_reading_sentence(found: Mapping[str, Any]) -> Message:
    """What was found, in a sentence."""
    outcome = "enough" if found["read"] is not None else "no_limits" if found["low"] is None else "too_wide"
    return say(f"{TEXT}.hand_reading.{outcome}", **{**found, "measure": say(f"quantity.{found['labels']}")})


def _expected(request: HandReadingRequest) -> tuple[np.ndarray, np.ndarray]:
    """Labels and decisions of the labelled cases, each combination as often as is expected."""
    p = np.array([request.prevalence, 1 - request.prevalence])
    right_label = np.array([request.label_sensitivity, 1 - request.label_specificity])
    called = np.array([request.sensitivity, 1 - request.specificity])
    shares = [float(p @ (a * b)) for a in (right_label, 1 - right_label) for b in (called, 1 - called)]
    ends = np.rint(np.cumsum([0.0, *shares]) * request.cases).astype(np.int64)
    counts = np.diff(ends)
    return np.repeat([True, True, False, False], counts), np.repeat([True, False, True, False], counts)
