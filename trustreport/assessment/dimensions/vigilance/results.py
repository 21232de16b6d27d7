"""Performance of each period, its changes, and how much the device was used and can be judged yet."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.vigilance.periods import (
    FAILED,
    ID,
    REFUSED,
    Period,
    Timeline,
    mix_columns,
    names_of,
)
from trustreport.assessment.performance.keys import has_no_date
from trustreport.assessment.performance.measures import CLUSTERED, influence, lead
from trustreport.measures.confusion.measure import CellMeasure
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.monitoring.change import (
    SharedCorrelation,
    mover_change,
    of_share,
    ratio_change,
    shared,
    wald_change,
)
from trustreport.measures.monitoring.standardisation import clustered_standardised_change, standardised_change
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.note import note
from trustreport.measures.roc.clustered import clustered_auc, clustered_unpaired_difference
from trustreport.measures.roc.difference import unpaired_difference
from trustreport.measures.score_measure import SCORES
from trustreport.study.plan import Indicator, Plan
from trustreport.study.study import Floats, Readings
from trustreport.vocabulary.quantities import endpoint_row, known, quantity
from trustreport.vocabulary.results import Result


@dataclass(frozen=True, slots=True)
class Use:
    """The exposure of one period: cases by what became of them, by version; users and sites.

    `users` and `sites` are None where nobody recorded them; `versions` is empty then.
    """

    period: str
    cases: int
    processed: int
    refused: int
    failed: int
    no_output: int
    users: int | None
    sites: int | None
    versions: Mapping[str, int]


def use_of(period: Period, readings: Mapping[str, Readings]) -> Use:
    """What became of the cases of a period."""
    n = len(period)
    scores = period.scores
    status = names_of(scores.status if scores else None, n)
    words = np.array([str(word).lower() if word is not None else "" for word in status])
    output = period.outputs.present
    refused = np.isin(words, REFUSED)
    failed = np.isin(words, FAILED)
    processed = output & ~refused & ~failed
    site = period.column("site")
    version = scores.version if scores else None
    versions: dict[str, int] = {}
    if version is not None:
        for name in names_of(version, n)[processed]:
            if name is not None:
                versions[name] = versions.get(name, 0) + 1
    own = readings.get(period.name)
    return Use(
        period.name,
        n,
        int(processed.sum()),
        int(refused.sum()),
        int((failed & ~refused).sum()),
        int((~output & ~refused & ~failed).sum()),
        len(np.unique(own.reader)) if own is not None else None,
        len(np.unique(site.codes[site.codes >= 0])) if site is not None else None,
        dict(sorted(versions.items())),
    )


def exposure_results(uses: Sequence[Use], timeline: Timeline, plan: Plan) -> Iterator[Result]:
    """An entry for each count of each period."""
    level = plan.report.confidence_level
    for use, period in zip(uses, timeline.periods, strict=True):
        counted: dict[str, int | None] = {
            "cases": use.cases,
            "processed": use.processed,
            "refused": use.refused,
            "failed": use.failed,
            "no_output": use.no_output,
            "users": use.users,
            "sites": use.sites,
        }
        for what, count in counted.items():
            if count is not None:
                yield _count(period, use, {"what": what}, count, level)
        for version, count in use.versions.items():
            yield _count(period, use, {"what": "processed", "version": version}, count, level)


def _count(period: Period, use: Use, chosen: Mapping[str, Any], count: int, level: float) -> Result:
    e = Estimate(count, count, count, use.cases, level, "count")
    return Result(f"{ID}.exposure", period.place, e, parameters=chosen, primary=True, cases=period.key)


def maturity_results(timeline: Timeline, plan: Plan) -> Iterator[Result]:
    """Shares of cases old enough for a truth, and of those with one: of all, and by what was advised."""
    level = plan.report.confidence_level
    days = plan.reference_standard.maturity_days
    until = ""
    if days is not None and timeline.cut is not None:
        until = (timeline.cut - dt.timedelta(days=float(days))).isoformat()
    for period in timeline.periods:
        everybody, known = np.ones(len(period), bool), period.truth >= 0
        mature = period.mature[: len(period)]
        for name, event, of in (
            ("mature_share", mature, everybody),
            ("labelled_share", known, mature),
        ):
            details: dict[str, Any] = {}
            if until and name == "mature_share":
                details["judged_until"] = until
                if undated := period.dataset and np.count_nonzero(~mature & has_no_date(period.dataset)):
                    details["undated"] = int(undated)
            yield _share(period, name, period.share(event, of, level), details=details)
        for decision, word in ((1, "positive"), (0, "negative")):
            share = period.share(known, mature & (period.output == decision), level)
            yield _share(period, "labelled_share", share, parameters={"called": word})


def _share(period: Period, name: str, e: Estimate, **more: Any) -> Result:
    return Result(f"{ID}.{name}", period.place, e, primary=True, cases=period.key, **more)


BY_DEFAULT = ("sensitivity", "specificity", "auc", "calibration_slope", "oe_ratio")
# Shares of cases that no truth is needed for.
WITHOUT_TRUTH = ("positive_rate", "failure_rate")
OF_READINGS = ("override_rate", "agreement_with_advice", "harmful_switch_rate")
BEFORE_TRUTH = (*WITHOUT_TRUTH, *OF_READINGS[:2])  # which no case has to be followed up for

NO_CASES = note("no_case_this_period_was_provided")
NO_OUTPUTS = note("no_output_mature_case_this_period")
NO_BASELINE = note("no_case_baseline_was_provided")
NO_PERIOD_BEFORE = note("there_no_period_before_this_one")
NO_COLUMN = note("no_group_cases_known_in_both")
UNKNOWN_MEASURE = note("this_version_does_not_follow_this")
NEW_GROUPS = 0.1  # share of cases in groups that the baseline lacks, up to which a column is held constant
AGAINST = ("baseline", "previous")
METHODS_OF_CHANGE = {"areas": "delong", "log_errors": "log_wald_independent", "errors": "wald_independent"}
UNSHARED = SharedCorrelation(0.0, 0, 0)


def bare(measure: str) -> str:
    """A measure without the dimension that its id begins with."""
    return measure.rpartition(".")[2]


def indicators(plan: Plan) -> tuple[Indicator, ...]:
    return (plan.vigilance.indicators if plan.vigilance else None) or ()


def endpoints(plan: Plan) -> list[str]:
    """What is followed over time: the declared indicators, then the usual measures."""
    declared = [bare(i.measure) for i in indicators(plan)]
    return [e for e in dict.fromkeys([*declared, *BY_DEFAULT]) if e not in OF_READINGS]


def indicator_of(endpoint: str, plan: Plan) -> Indicator | None:
    """What is declared of an endpoint."""
    return next((i for i in indicators(plan) if bare(i.measure) == endpoint), None)


def method_of(endpoint: str) -> str:
    """The word of the interval of an endpoint, for one that is undefined."""
    return SCORES[endpoint].primary if endpoint in SCORES else "wilson"


def method_of_change(endpoint: str) -> str:
    """The word of the interval of its change."""
    by_limits = "log_mover" if endpoint_row(endpoint).scale == "log" else "mover"
    return METHODS_OF_CHANGE.get(_change_of(endpoint), by_limits)


def _change_of(endpoint: str) -> str:
    """How the change of an endpoint is estimated, as in `ScoreMeasure`."""
    return SCORES[endpoint].change if endpoint in SCORES else "limits"


def value(period: Period, endpoint: str, level: float) -> Estimate:
    """An endpoint of one period, of its mature cases: the number of that data set wherever it is reported."""
    if not len(period):
        return undefined(0, NO_CASES, level=level, method=method_of(endpoint))
    if endpoint in WITHOUT_TRUTH:
        return _without_truth(period, endpoint, level)
    if period.cases is None:
        return undefined(0, NO_OUTPUTS, level=level, method=method_of(endpoint))
    try:
        return lead(period.cases, endpoint, level)
    except LookupError:
        return undefined(len(period), UNKNOWN_MEASURE, level=level, method=method_of(endpoint))


def _without_truth(period: Period, endpoint: str, level: float) -> Estimate:
    counted, event = stream(period, endpoint)
    return period.share(event, counted, level)


def changed(now: Period, then: Period, endpoint: str, level: float, plan: Plan) -> Estimate:
    """Change of an endpoint from one period to another: a difference, or for ratios a ratio.

    Clusters (patients) in both count once: the covariance of the two values is allowed for.
    """
    one, other = value(now, endpoint, level), value(then, endpoint, level)
    if now.dataset is None or then.dataset is None or isnan(one.value) or isnan(other.value):
        return _change(now, then, endpoint, (one, other), UNSHARED, level)
    clusters = now.matched(then, plan)
    if not clusters.any:
        found = _change(now, then, endpoint, (one, other), UNSHARED, level)
        return found if clusters.known else replace(found, note=found.note + notes.NOT_MATCHED)
    parts = [
        (found, cluster[rows])
        for period, cluster in ((now, clusters.one), (then, clusters.other))
        for found, rows in [_influence(period, endpoint)]
        if found is not None
    ]
    if len(parts) < 2:
        found = _change(now, then, endpoint, (one, other), UNSHARED, level)
        return replace(found, note=found.note + notes.SHARED_NOT_COUNTED)
    together = shared(*parts[0], *parts[1])
    found = _change(now, then, endpoint, (one, other), together, level)
    details = {"shared_clusters": float(together.both), "correlation": together.correlation}
    note = found.note + notes.SHARED if together.both else found.note
    return replace(found, details={**found.details, **details}, note=note)


def _change(
    now: Period,
    then: Period,
    endpoint: str,
    pair: tuple[Estimate, Estimate],
    both: SharedCorrelation,
    level: float,
) -> Estimate:
    one, other = pair
    r, of = both.correlation, both.either or inf
    change = _change_of(endpoint)
    if change == "areas" and not (isnan(one.value) or isnan(other.value)):
        found = _area_change(now, then, both, level)
        # A perfect separation has no variance of its own, but its limits.
        by_limits = isnan(found.low)
        return (
            mover_change(one, other, correlation=r, level=level) if by_limits else difference_in_range(found)
        )
    if change == "log_errors":
        return ratio_change(one, other, correlation=r, clusters=of, level=level)
    if change == "errors":
        return wald_change(one, other, correlation=r, clusters=of, level=level)
    ratio = endpoint_row(endpoint).scale == "log"
    return mover_change(one, other, ratio=ratio, correlation=r, level=level)


def _influence(period: Period, endpoint: str) -> tuple[Floats | None, NDArray[np.intp]]:
    """What each case adds to the value of a period, and which cases of its set these are."""
    if endpoint in WITHOUT_TRUTH:
        counted, event = stream(period, endpoint)
        rows = np.flatnonzero(counted)
        return of_share(event[rows]), rows
    assert period.cases is not None
    return influence(period.cases, endpoint), period.cases.rows


def _area_change(now: Period, then: Period, both: SharedCorrelation, level: float) -> Estimate:
    """Change of the area; where cases of either set come in clusters, by the clustered variances of both."""
    assert now.cases is not None
    assert then.cases is not None
    (truth, score, cluster), (before, earlier, grouped) = now.cases.ranked, then.cases.ranked
    if cluster is None and grouped is None and not both.both:
        return unpaired_difference(truth, score, before, earlier, level=level)
    own = np.arange(len(truth)) if cluster is None else cluster
    theirs = np.arange(len(before)) if grouped is None else grouped
    if not both.both:
        return clustered_unpaired_difference(truth, score, own, before, earlier, theirs, level=level)
    one = clustered_auc(truth, score, own, level=level)
    other = clustered_auc(before, earlier, theirs, level=level)
    found = wald_change(one, other, correlation=both.correlation, clusters=both.either, level=level)
    return replace(found, method="obuchowski_clustered_unpaired")


def period_results(timeline: Timeline, plan: Plan) -> list[Result]:
    """Each endpoint of each period, and its change since the baseline and since the period before."""
    level = plan.report.confidence_level
    results: list[Result] = []
    for endpoint in endpoints(plan):
        results += [_value_result(period, endpoint, level) for period in timeline.with_baseline]
        for k, period in enumerate(timeline.periods):
            pairs = (timeline.baseline, timeline.before(k))
            for against, other in zip(AGAINST, pairs):
                results.append(_change_result(period, other, endpoint, against, plan))
    return results + list(_standardised(timeline, plan))


def _value_result(period: Period, endpoint: str, level: float) -> Result:
    e, place = value(period, endpoint, level), period.place
    if period.cases is not None and endpoint not in WITHOUT_TRUTH:
        return Result(f"{ID}.period_value", place, e, endpoint=endpoint, primary=True, cases=period.cases.key)
    return Result(f"{ID}.period_value", place, e, endpoint=endpoint, primary=True, cases=period.key)


def _change_result(period: Period, other: Period | None, endpoint: str, against: str, plan: Plan) -> Result:
    level = plan.report.confidence_level
    place = period.place.narrowed(reference=other.name if other else None)
    more: dict[str, Any] = {"parameters": {"against": against}, "primary": True, "cases": period.key}
    if other is None:
        why = NO_BASELINE if against == "baseline" else NO_PERIOD_BEFORE
        found = undefined(len(period), why, level=level, method=method_of_change(endpoint))
    else:
        found = changed(period, other, endpoint, level, plan)
        if period.cluster is not None or other.cluster is not None or found.details.get("shared_clusters"):
            more["analysis"] = CLUSTERED  # made of intervals or variances that respect them
    return Result(f"{ID}.period_change", place, found, endpoint=endpoint, **more)


def of_right(endpoint: str) -> CellMeasure | None:
    """The share of right decisions that an endpoint is, or is what is left of; None of any other."""
    measure = MEASURES.get((quantity(endpoint).left_of if known(endpoint) else "") or endpoint)
    return measure if measure is not None and measure.is_share_of_right else None


def stream(period: Period, endpoint: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Which cases an endpoint counts, and whether each is an event of it, (n_cases,) each."""
    if endpoint == "failure_rate":
        return np.ones(len(period), bool), ~period.outputs.present
    if endpoint == "positive_rate":
        return period.output >= 0, period.output == 1
    measure = of_right(endpoint)
    assert measure is not None
    right = period.decision == period.truth
    counted = measure.cases(period.truth, period.decision) & period.known
    return counted, right if measure.id == endpoint else ~right


def _standardised(timeline: Timeline, plan: Plan) -> Iterator[Result]:
    base, level = timeline.baseline, plan.report.confidence_level
    if base is None or not len(base):
        return
    columns = mix_columns(timeline, plan, declared=True)
    for endpoint in endpoints(plan):
        if of_right(endpoint) is None:
            continue
        for period in timeline.periods:
            common = [c for c in columns if _had_groups(period, base, c)]
            chosen = {"against": "baseline", "by": common}
            if common and len(period):
                found = _at_constant_mix(period, base, endpoint, common, level, plan)
            else:
                why = NO_COLUMN if len(period) else NO_CASES
                found = undefined(len(period), why, level=level, method="direct_standardisation")
            yield Result(
                f"{ID}.standardised_change",
                period.place.narrowed(reference=base.name),
                found,
                endpoint=endpoint,
                parameters=chosen,
                primary=True,
                cases=period.key,
            )


def _had_groups(now: Period, then: Period, column: str) -> bool:
    """Whether the baseline holds the groups of a column, all but a few of the period's cases.

    A change cannot be standardised to a mix that lacked what changed (a new scanner).
    """
    if now.column(column) is None or then.column(column) is None:
        return False
    before = set(names_of(then.column(column), len(then)))
    names = names_of(now.column(column), len(now))
    new = sum(name not in before for name in names)
    return bool(new <= NEW_GROUPS * len(names))


def _at_constant_mix(
    now: Period, then: Period, endpoint: str, columns: Sequence[str], level: float, plan: Plan
) -> Estimate:
    """The change with the case mix held constant; with clusters in either set, or in both, by theirs."""
    clusters = now.matched(then, plan)
    sets = [_strata(period, endpoint, columns) for period in (now, then)]
    names = {key: i for i, key in enumerate(sorted({*sets[0][1], *sets[1][1]}))}
    parts = []
    for cluster, (rows, keys, event) in zip((clusters.one, clusters.other), sets):
        codes = np.array([names[key] for key in keys], np.int64)
        parts.append((event, codes, cluster[rows]))
    if now.cluster is not None or then.cluster is not None or clusters.any:
        return clustered_standardised_change(*parts[0], *parts[1], level=level)
    tallies = [
        np.bincount(codes, weights=weights, minlength=len(names))
        for event, codes, _ in parts
        for weights in (event, None)
    ]
    return standardised_change(*tallies, level=level)


def _strata(
    period: Period, endpoint: str, columns: Sequence[str]
) -> tuple[NDArray[np.intp], list[tuple[str, ...]], NDArray[np.bool_]]:
    """The cases that count and whose groups are known: their rows, their strata, and which are events."""
    counted, event = stream(period, endpoint)
    names = [names_of(period.column(c), len(period)) for c in columns]
    for column in names:
        counted = counted & np.array([name is not None for name in column], bool)
    rows = np.flatnonzero(counted)
    return rows, [tuple(str(column[i]) for column in names) for i in rows], event[rows]


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
