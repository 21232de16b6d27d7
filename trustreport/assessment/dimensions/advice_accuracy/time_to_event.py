"""Data sets whose truth is a time to an event: what the scores say of the event by the horizon."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.advice_accuracy.entries import ID
from trustreport.assessment.finding import Column, EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import side_of
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


# ---------------------------------------------------------------- what is said


def horizon_part(one: FollowedCases, results: Sequence[Result], plan: Plan, number: int) -> Part:
    """Sentences, the table of every quantity, and the observed risk in groups of predicted risk."""
    assert plan.time_to_event is not None
    level = plan.report.confidence_level
    found = {r.name: r.estimate for r in results}
    groups = one.groups(level)
    tables: tuple[EstimateTable | PlainTable, ...] = (_table(one, results, plan, number),)
    if groups:
        tables = (*tables, _groups_table(one, groups, plan, number))
    return Part(
        tuple(_sentences(one, found, plan)),
        title=say(f"{ID}.horizon.title", name=one.name, horizon=plan.time_to_event.written),
        tables=tables,
        figures=_figures(one, groups, found, plan, number),
        place=one.place,
    )


def _sentences(one: FollowedCases, found: Mapping[str, Estimate], plan: Plan) -> list[Message]:
    """What was found first, in the order in which the report cuts them, then what it rests on."""
    assert plan.time_to_event is not None
    declared, state = plan.time_to_event, one.state
    event = declared.event or say(f"{ID}.horizon.event")
    values: dict[str, Any] = {"name": one.name, "horizon": declared.written, "event": event}
    risk = found["risk_at_horizon"]
    if isnan(risk.value):
        said = [say(f"{ID}.horizon.undefined", reason=risk.note, **values)]
    else:
        values |= {"n": len(state), "events": state.n_events, "censored": state.n_censored}
        if state.n_competing:
            values |= {"competing": state.n_competing}
        key = "risk_competing" if state.n_competing else "risk"
        said = [say(f"{ID}.horizon.{key}", **values, **_limits(risk)), *_performance(one, found)]
    if not state.n_censored and len(state):
        said.append(say(f"{ID}.horizon.none_censored"))
    if one.n_unknown:
        said.append(say(f"{ID}.horizon.unknown", n=one.n_unknown))
    return [*said, say(f"{ID}.horizon.assumes")]


def _performance(one: FollowedCases, found: Mapping[str, Estimate]) -> Iterator[Message]:
    """Area, observed over expected, sensitivity and specificity, or why there is none."""
    area, ratio = found["auc_at_horizon"], found["oe_at_horizon"]
    if not isnan(area.low):
        yield say(f"{ID}.horizon.auc", **_limits(area))
    elif area.note and one.cases.score is not None:
        yield say(f"{ID}.horizon.no_interval", measure=say("quantity.auc_at_horizon"), reason=area.note)
    if not isnan(ratio.low):
        risks = {name: ratio.details[f"{name}_risk"] for name in ("observed", "expected")}
        yield say(f"{ID}.horizon.oe.{side_of(ratio, 1)}", **risks, **_limits(ratio))
    elif one.why_no_risk:
        yield say(f"{ID}.horizon.no_risk", reason=one.why_no_risk)
    pair = (("sens", found["sensitivity_at_horizon"]), ("spec", found["specificity_at_horizon"]))
    if not any(isnan(e.value) for _, e in pair):
        calls = {f"{name}_{key}": value for name, e in pair for key, value in _limits(e).items()}
        yield say(f"{ID}.horizon.calls", **calls)


def _limits(e: Estimate) -> dict[str, float]:
    return {"value": e.value, "low": e.low, "high": e.high, "level": e.level}


def _table(one: FollowedCases, results: Sequence[Result], plan: Plan, number: int) -> EstimateTable:
    assert plan.time_to_event is not None
    rows = tuple(EstimateRow(say(f"quantity.{r.name}"), r, r.name in LEADS) for r in results)
    caption = say(f"{ID}.horizon.table", name=one.name, horizon=plan.time_to_event.written)
    return EstimateTable(f"horizon_{number}", caption, rows)


def _groups_table(one: FollowedCases, groups: Sequence[RiskGroup], plan: Plan, number: int) -> PlainTable:
    assert plan.time_to_event is not None
    heads = (("from", "number"), ("to", "number"), ("cases", "count"), ("expected", "percent"))
    columns = (
        *(Column(say(f"{ID}.horizon.group_{name}"), how) for name, how in heads),
        Column(say(f"{ID}.horizon.group_observed"), "percent"),
    )
    rows = tuple((g.low, g.high, g.observed.n, g.mean_score, g.observed) for g in groups)
    caption = say(
        f"{ID}.horizon.table_groups",
        name=one.name,
        horizon=plan.time_to_event.written,
        level=groups[0].observed.level,
    )
    return PlainTable(f"horizon_groups_{number}", caption, columns, rows)


def _figures(
    one: FollowedCases, groups: Sequence[RiskGroup], found: Mapping[str, Estimate], plan: Plan, number: int
) -> tuple[Figure, ...]:
    """The calibration curve at the horizon: the observed risk in groups of predicted risk."""
    assert plan.time_to_event is not None
    drawn = [g for g in groups if not isnan(g.observed.value)]
    if not drawn:
        return ()
    points = tuple(CurvePoint(g.low, g.high, g.mean_score, g.observed, nan) for g in drawn)
    panel = CalibrationPanel(
        "",
        points,
        _histogram(one),
        (),
        found["calibration_slope_at_horizon"],
        found["oe_at_horizon"],
    )
    values = {
        "name": one.name,
        "horizon": plan.time_to_event.written,
        "n": len(drawn),
        "level": drawn[0].observed.level,
    }
    drawing = CalibrationFigure((panel,), at_horizon=True)
    caption, alt = (say(f"{ID}.horizon.{key}", **values) for key in ("figure", "figure_alt"))
    return (Figure(f"calibration_horizon_{number}", drawing, caption, alt),)


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
