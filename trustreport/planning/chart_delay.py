"""A monitoring chart before any case: its limit, how often it alerts in vain, and how late after a change."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from trustreport.measures.monitoring.charts import MOST_STATES, design, sprt
from trustreport.measures.monitoring.detection_delay import cusum_delay, sprt_delay
from trustreport.measures.monitoring.standardisation import why_not
from trustreport.planning.origins import TEXT
from trustreport.planning.request import OPTIONS, Inside, OptionsRequest, validated
from trustreport.vocabulary.errors import Problem, StudyError
from trustreport.vocabulary.messages import Message, catalogue, say


class ChartRequest(OptionsRequest):
    """A chart of a proportion, case by case; the fields of an indicator of the manifest."""

    chart: Literal["cusum", "sprt"]
    in_control: Inside
    to_detect: Inside
    false_alert_budget: Inside
    planned_cases: Annotated[int, Field(ge=1, le=MOST_STATES)]
    missed_alert_budget: Inside = 0.1


def plan_chart(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with the limit of the chart, and mean and median cases from a change to its alert.

    Raises
    ------
    StudyError : with every problem of the fields
    """
    request = validated(ChartRequest, fields)
    if why := why_not(request.in_control, request.to_detect):
        raise StudyError([Problem(OPTIONS, catalogue()(why))])
    rates = (request.in_control, request.to_detect)
    if request.chart == "cusum":
        try:
            designed = design(*rates, budget=request.false_alert_budget, sizes=[1] * request.planned_cases)
        except ValueError as error:
            raise StudyError([Problem(OPTIONS, str(error))]) from None
        limit, found = designed.weights.log_ratio(designed.limit), cusum_delay(designed)
        false_alert = designed.false_alert
    else:
        none = np.zeros(request.planned_cases, np.int64)
        budgets = {"budget": request.false_alert_budget, "missed": request.missed_alert_budget}
        estimate, run = sprt(none, *rates, **budgets)
        if run is None:
            raise StudyError([Problem(OPTIONS, catalogue()(estimate.note))])
        limit, found = run.high, sprt_delay(run)
        false_alert = estimate.details["false_alert_spent"]
    delay = {name: e.value for name, e in found.items()}
    return {**request.model_dump(), "limit": limit, "false_alert_planned": false_alert, **delay}


def chart_sentence(found: Mapping[str, Any]) -> Message:
    """What was found, in a sentence."""
    return say(f"{TEXT}.chart", **{**found, "chart": say(f"vigilance.chart.{found['chart']}")})
