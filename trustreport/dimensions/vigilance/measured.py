"""Performance of each period, its change since the baseline and the period before, and standardised to it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isfinite, isnan
from typing import Any

import numpy as np

from trustreport.dimensions.vigilance.periods import ID, Period, Timeline, mix_columns, names_of
from trustreport.estimate import Estimate, undefined
from trustreport.measures.calibration.brier import brier
from trustreport.measures.calibration.logistic import calibration_intercept, calibration_slope
from trustreport.measures.calibration.oe import oe_ratio
from trustreport.measures.confusion.clustered import clustered
from trustreport.measures.confusion.formulas import FORMULAS
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.monitoring.change import mover_change, ratio_change, wald_change
from trustreport.measures.monitoring.standardisation import standardised_change
from trustreport.measures.proportion import wilson
from trustreport.measures.roc.auc import delong, logit_delong
from trustreport.measures.roc.clustered import clustered_auc, clustered_unpaired_difference
from trustreport.measures.roc.difference import unpaired_difference
from trustreport.plan import Indicator, Plan
from trustreport.results import Result, Unit

BY_DEFAULT = ("sensitivity", "specificity", "auc", "calibration_slope", "oe_ratio")
CALIBRATION = ("brier", "calibration_intercept", "calibration_slope", "oe_ratio")
# Shares of cases that no truth is needed for.
WITHOUT_TRUTH = ("positive_rate", "failure_rate")
SHARES = ("accuracy", "error_rate", "sensitivity", "specificity", "ppv", "npv", "prevalence", *WITHOUT_TRUTH)
RATIOS = ("oe_ratio", "lr_positive", "lr_negative", "diagnostic_odds_ratio")
OF_READINGS = ("override_rate", "agreement_with_advice", "harmful_switch_rate")
FEW_OF_A_CLASS = 30

NO_CASES = "no case of this period was handed in"
NO_SCORES = "no score is known of a mature case of this period"
NOT_RISKS = "the scores are no probabilities"
NO_BASELINE = "no case of the baseline was handed in"
NO_PERIOD_BEFORE = "there is no period before this one"
NO_COLUMN = "no group of cases is known in both sets"
UNKNOWN_MEASURE = "this version does not follow this measure over time"
NEW_GROUPS = 0.1  # share of cases in groups that the baseline lacks, up to which a column is held constant
AGAINST = ("baseline", "previous")


def bare(measure: str) -> str:
    """A measure without the dimension that its id begins with."""
    return measure.rpartition(".")[2]


def indicators(plan: Plan) -> tuple[Indicator, ...]:
    """The declared indicators."""
    return (plan.vigilance.indicators if plan.vigilance else None) or ()


def endpoints(plan: Plan) -> list[str]:
    """What is followed over time: the declared indicators, then the usual measures."""
    declared = [bare(i.measure) for i in indicators(plan)]
    return [e for e in dict.fromkeys([*declared, *BY_DEFAULT]) if e not in OF_READINGS]


def indicator_of(endpoint: str, plan: Plan) -> Indicator | None:
    """What is declared of an endpoint."""
    return next((i for i in indicators(plan) if bare(i.measure) == endpoint), None)


def unit_of(endpoint: str) -> Unit:
    """What kind of number an endpoint is."""
    if endpoint in RATIOS or endpoint == "calibration_slope":
        return "ratio"
    return "proportion" if endpoint in SHARES or endpoint == "auc" else "score"


def change_unit(endpoint: str) -> Unit:
    """What kind of number its change is."""
    if endpoint in RATIOS:
        return "ratio"
    return "difference" if unit_of(endpoint) == "proportion" else "score"


def method_of(endpoint: str) -> str:
    """The word of the interval of an endpoint, for one that is undefined."""
    if endpoint == "auc":
        return "delong"
    return "log_wald" if endpoint == "oe_ratio" else "wald" if endpoint in CALIBRATION else "wilson"


def method_of_change(endpoint: str) -> str:
    """The word of the interval of its change."""
    if endpoint in ("auc", "oe_ratio"):
        return "delong" if endpoint == "auc" else "log_wald_independent"
    if endpoint in CALIBRATION:
        return "wald_independent"
    return "log_mover" if endpoint in RATIOS else "mover"


def value(period: Period, endpoint: str, level: float) -> Estimate:
    """An endpoint of one period, of its mature cases."""
    if not len(period):
        return undefined(0, NO_CASES, level=level, method=method_of(endpoint))
    if endpoint in WITHOUT_TRUTH:
        return _without_truth(period, endpoint, level)
    if endpoint == "auc":
        return _area(period, level)
    if endpoint in CALIBRATION:
        return _calibration(period, endpoint, level)
    if endpoint == "error_rate":
        right = value(period, "accuracy", level)
        low, high = 1 - right.high, 1 - right.low
        return replace(right, value=1 - right.value, low=low, high=high)
    if endpoint not in MEASURES:
        return undefined(len(period), UNKNOWN_MEASURE, level=level, method=method_of(endpoint))
    if period.cells is not None and endpoint in FORMULAS:
        return clustered(endpoint, period.cells, level=level)
    return MEASURES[endpoint](period.counts, level=level)


def _without_truth(period: Period, endpoint: str, level: float) -> Estimate:
    if endpoint == "failure_rate":
        return wilson(int((~period.output).sum()), len(period), level)
    given = period.decision >= 0
    return wilson(int((period.decision == 1).sum()), int(given.sum()), level)


def _area(period: Period, level: float) -> Estimate:
    truth, score = period.truth[period.scored] == 1, period.suspicion[period.scored]
    if not truth.size:
        return undefined(0, NO_SCORES, level=level, method="delong")
    if period.scored_clusters is not None:
        return clustered_auc(truth, score, period.scored_clusters, level=level)
    few = min(int(truth.sum()), int((~truth).sum())) < FEW_OF_A_CLASS
    return (logit_delong if few else delong)(truth, score, level=level)


def _calibration(period: Period, endpoint: str, level: float) -> Estimate:
    truth, score = period.truth[period.scored] == 1, period.score[period.scored]
    if not truth.size:
        return undefined(0, NO_SCORES, level=level, method=method_of(endpoint))
    if period.reversed or score.min() < 0 or score.max() > 1:
        return undefined(len(truth), NOT_RISKS, level=level, method=method_of(endpoint))
    made: dict[str, Callable[..., Estimate]] = {
        "brier": brier,
        "calibration_intercept": calibration_intercept,
        "calibration_slope": calibration_slope,
        "oe_ratio": oe_ratio,
    }
    return made[endpoint](truth, score, level=level)


def changed(now: Period, then: Period, endpoint: str, level: float) -> Estimate:
    """Change of an endpoint from one period to another: a difference, or for ratios a ratio."""
    one, other = value(now, endpoint, level), value(then, endpoint, level)
    if endpoint == "auc" and not (isnan(one.value) or isnan(other.value)):
        return _area_change(now, then, level)
    if endpoint == "oe_ratio":
        return ratio_change(one, other, level=level)
    if endpoint in CALIBRATION:
        return wald_change(one, other, level=level)
    if endpoint in RATIOS:
        return mover_change(one, other, ratio=True, level=level)
    return mover_change(one, other, level=level)


def _area_change(now: Period, then: Period, level: float) -> Estimate:
    """Change of the area; where cases of either set come in clusters, by the clustered variances of both."""
    sets = [(p.truth[p.scored] == 1, p.suspicion[p.scored]) for p in (now, then)]
    if now.scored_clusters is None and then.scored_clusters is None:
        return unpaired_difference(*sets[0], *sets[1], level=level)
    clusters = [
        np.arange(len(truth)) if p.scored_clusters is None else p.scored_clusters
        for p, (truth, _) in zip((now, then), sets)
    ]
    return clustered_unpaired_difference(*sets[0], clusters[0], *sets[1], clusters[1], level=level)


def period_results(timeline: Timeline, plan: Plan) -> list[Result]:
    """Each endpoint of each period, and its change since the baseline and since the period before."""
    level = plan.report.confidence_level
    results: list[Result] = []
    for endpoint in endpoints(plan):
        results += [_value_result(timeline, period, endpoint, level) for period in timeline.all]
        for k, period in enumerate(timeline.periods):
            pairs = (timeline.baseline, timeline.before(k))
            for against, other in zip(AGAINST, pairs):
                results.append(_change_result(timeline, period, other, endpoint, against, level))
    return results + list(_standardised(timeline, plan))


def _value_result(timeline: Timeline, period: Period, endpoint: str, level: float) -> Result:
    scope = {**timeline.scope, "period": period.name, "endpoint": endpoint}
    e = value(period, endpoint, level)
    return Result(f"{ID}.period_value", scope, e, unit_of(endpoint), True)


def _change_result(
    timeline: Timeline, period: Period, other: Period | None, endpoint: str, against: str, level: float
) -> Result:
    scope: dict[str, Any] = {**timeline.scope, "period": period.name, "endpoint": endpoint}
    scope["parameters"] = {"against": against, **({"reference": other.name} if other else {})}
    if other is None:
        why = NO_BASELINE if against == "baseline" else NO_PERIOD_BEFORE
        found = undefined(len(period), why, level=level, method=method_of_change(endpoint))
    else:
        found = changed(period, other, endpoint, level)
    return Result(f"{ID}.period_change", scope, found, change_unit(endpoint), True)


# ---------------------------------------------------------------- the case mix held as it was

DENOMINATORS: Mapping[str, Callable[[Period], Any]] = {
    "sensitivity": lambda p: p.truth == 1,
    "specificity": lambda p: p.truth == 0,
    "accuracy": lambda p: p.truth >= 0,
    "error_rate": lambda p: p.truth >= 0,
    "ppv": lambda p: p.decision == 1,
    "npv": lambda p: p.decision == 0,
}


def stream(period: Period, endpoint: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Which cases an endpoint counts, and whether each is an event of it, (n_cases,) each."""
    if endpoint == "failure_rate":
        return np.ones(len(period), bool), ~period.output
    if endpoint == "positive_rate":
        return period.decision >= 0, period.decision == 1
    counted = DENOMINATORS[endpoint](period) & period.known
    right = period.decision == period.truth
    return counted, ~right if endpoint == "error_rate" else right


def _standardised(timeline: Timeline, plan: Plan) -> Iterator[Result]:
    base, level = timeline.baseline, plan.report.confidence_level
    if base is None or not len(base):
        return
    columns = mix_columns(timeline, plan, declared=True)
    for endpoint in endpoints(plan):
        if endpoint not in DENOMINATORS:
            continue
        for period in timeline.periods:
            shared = [c for c in columns if _held_before(period, base, c)]
            scope: dict[str, Any] = {**timeline.scope, "period": period.name, "endpoint": endpoint}
            scope["parameters"] = {"against": "baseline", "reference": base.name, "by": shared}
            if shared and len(period):
                found = standardised_change(*_strata(period, base, endpoint, shared), level=level)
            else:
                why = NO_COLUMN if len(period) else NO_CASES
                found = undefined(len(period), why, level=level, method="direct_standardisation")
            yield Result(f"{ID}.standardised_change", scope, found, "difference", True)


def _held_before(now: Period, then: Period, column: str) -> bool:
    """Whether the baseline holds the groups of a column, all but a few of the period's cases.

    A change cannot be standardised to a mix that lacked what changed (a new scanner).
    """
    if now.column(column) is None or then.column(column) is None:
        return False
    before = set(names_of(then.column(column), len(then)))
    names = names_of(now.column(column), len(now))
    new = sum(name not in before for name in names)
    return bool(new <= NEW_GROUPS * len(names))


def _strata(now: Period, then: Period, endpoint: str, columns: Sequence[str]) -> list[list[int]]:
    """Events and cases of each stratum, of the period and of the baseline."""
    tallies: list[dict[tuple[Any, ...], list[int]]] = []
    for period in (now, then):
        counted, event = stream(period, endpoint)
        names = [names_of(period.column(c), len(period)) for c in columns]
        tally: dict[tuple[Any, ...], list[int]] = {}
        for i in np.flatnonzero(counted):
            key = tuple(column[i] for column in names)
            if None not in key:
                cell = tally.setdefault(key, [0, 0])
                cell[0] += bool(event[i])
                cell[1] += 1
        tallies.append(tally)
    keys = sorted(set(tallies[0]) | set(tallies[1]))
    return [[tally.get(key, [0, 0])[part] for key in keys] for tally in tallies for part in (0, 1)]


def criterion(e: Estimate, declared: Indicator | None) -> str:
    """Where an estimate stands against the rate to detect: clear of it, beyond it, across it, or nothing."""
    if declared is None or declared.in_control is None or declared.to_detect is None:
        return ""
    if declared.in_control == declared.to_detect or not (isfinite(e.low) and isfinite(e.high)):
        return ""
    lower_is_worse = declared.to_detect < declared.in_control
    bound = declared.to_detect
    if e.low > bound:
        return "clear" if lower_is_worse else "beyond"
    if e.high < bound:
        return "beyond" if lower_is_worse else "clear"
    return "across"
