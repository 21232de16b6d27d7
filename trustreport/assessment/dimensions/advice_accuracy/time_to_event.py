"""Data sets whose truth is a time to an event: what the scores say of the event by the horizon."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.advice_accuracy.results import ID
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.texts import Item, Texts, numbers, side_of
from trustreport.assessment.performance.time_to_event import MEASURES, FollowedCases
from trustreport.figures.calibration import CalibrationFigure, CalibrationPanel, Histogram
from trustreport.measures.calibration.binned import CurvePoint
from trustreport.measures.estimate import Estimate
from trustreport.measures.survival.calibration import RiskGroup
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

HISTOGRAM_BINS = 20
LEADS = ("auc_at_horizon", "oe_at_horizon", "brier_at_horizon")

text = Texts(f"{ID}.horizon")


def horizon_results(one: FollowedCases, plan: Plan) -> list[Result]:
    """Every quantity at the horizon; scores that are no risks have no calibration."""
    level, results = plan.report.confidence_level, []
    for name in MEASURES:
        e = one.estimate(name, level)
        details = {"horizon": one.horizon}
        key = one.cases.key
        results.append(
            Result(f"{ID}.{name}_at_horizon", one.place, e, primary=True, details=details, cases=key)
        )
    return results


def horizon_part(one: FollowedCases, results: Sequence[Result], plan: Plan, number: int) -> Part:
    """Sentences, the table of every quantity, and the observed risk in groups of predicted risk."""
    assert plan.time_to_event is not None
    title = text("title", name=one.name, horizon=plan.time_to_event.written)
    return text.part(_items(one, results, plan, number), title, one.place)


def _items(one: FollowedCases, results: Sequence[Result], plan: Plan, number: int) -> Iterator[Item]:
    assert plan.time_to_event is not None
    found = {r.name: r.estimate for r in results}
    groups, of = one.groups(plan.report.confidence_level), {"name": one.name}
    of["horizon"] = plan.time_to_event.written
    yield from _sentences(one, found, plan)
    yield text.estimates(
        f"horizon_{number}",
        text("table", **of),
        results,
        lambda r: say(f"quantity.{r.name}"),
        lambda r: r.name in LEADS,
    )
    if groups:
        yield text.table(
            f"horizon_groups_{number}",
            text("table_groups", level=groups[0].observed.level, **of),
            ".from:number .to:number cases .expected:percent .observed:percent",
            [(g.low, g.high, g.observed.n, g.mean_score, g.observed) for g in groups],
        )
    yield from _figures(one, groups, found, number, of)


def _sentences(one: FollowedCases, found: Mapping[str, Estimate], plan: Plan) -> Iterator[Message]:
    """What was found first, in the order in which the report cuts them, then what it rests on."""
    assert plan.time_to_event is not None
    declared, state = plan.time_to_event, one.state
    event = declared.event or text("event")
    values: dict[str, Any] = {"name": one.name, "horizon": declared.written, "event": event}
    risk = found["risk_at_horizon"]
    if isnan(risk.value):
        yield text("undefined", reason=risk.note, **values)
    else:
        values |= {"n": len(state), "events": state.n_events, "censored": state.n_censored}
        if state.n_competing:
            values |= {"competing": state.n_competing}
        key = "risk_competing" if state.n_competing else "risk"
        yield text(key, risk, **values)
        yield from _performance(one, found)
    if not state.n_censored and len(state):
        yield text("none_censored")
    if one.n_unknown:
        yield text("unknown", n=one.n_unknown)
    yield text("assumes")


def _performance(one: FollowedCases, found: Mapping[str, Estimate]) -> Iterator[Message]:
    """Area, observed over expected, sensitivity and specificity, or why there is none."""
    area, ratio = found["auc_at_horizon"], found["oe_at_horizon"]
    if not isnan(area.low):
        yield text("auc", area)
    elif area.note and one.cases.score is not None:
        yield text("no_interval", measure=say("quantity.auc_at_horizon"), reason=area.note)
    if not isnan(ratio.low):
        risks = {name: ratio.details[f"{name}_risk"] for name in ("observed", "expected")}
        yield text(f"oe.{side_of(ratio, 1)}", ratio, **risks)
    elif one.why_no_risk:
        yield text("no_risk", reason=one.why_no_risk)
    pair = (("sens", found["sensitivity_at_horizon"]), ("spec", found["specificity_at_horizon"]))
    if not any(isnan(e.value) for _, e in pair):
        calls = {f"{name}_{key}": value for name, e in pair for key, value in numbers(e).items()}
        yield text("calls", **calls)


def _figures(
    one: FollowedCases,
    groups: Sequence[RiskGroup],
    found: Mapping[str, Estimate],
    number: int,
    of: Mapping[str, Any],
) -> Iterator[Figure]:
    """The calibration curve at the horizon: the observed risk in groups of predicted risk."""
    drawn = [g for g in groups if not isnan(g.observed.value)]
    if drawn:
        points = tuple(CurvePoint(g.low, g.high, g.mean_score, g.observed, nan) for g in drawn)
        slope, ratio = found["calibration_slope_at_horizon"], found["oe_at_horizon"]
        panel = CalibrationPanel("", points, _histogram(one), (), slope, ratio)
        yield text.figure(
            f"calibration_horizon_{number}",
            CalibrationFigure((panel,), at_horizon=True),
            "calibration",
            n=len(drawn),
            level=drawn[0].observed.level,
            **of,
        )


def _histogram(one: FollowedCases) -> Histogram:
    """The scores of cases with and without the event by the horizon, where the state is known."""
    edges = np.linspace(0, 1, HISTOGRAM_BINS + 1)
    state, score = one.state, one.cases.score
    assert score is not None
    known = state.known & one.cases.scored
    present, absent = (
        tuple(int(n) for n in np.histogram(score[known & of], edges)[0]) for of in (state.event, ~state.event)
    )
    return Histogram(tuple(float(x) for x in edges), present, absent)
