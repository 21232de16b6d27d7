"""Every number of advice value for the scores of one candidate on one data set."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.narrative.texts import set_label
from trustreport.assessment.performance.cases import ScoredCases
from trustreport.assessment.performance.keys import public_cell
from trustreport.assessment.performance.measures import (
    NOT_RISKS,
    each_alone,
    entries,
    why_no_risk,
    without_interval,
)
from trustreport.assessment.performance.weighted import of_risks
from trustreport.assessment.release.cuts import public_bins
from trustreport.measures.calibration.advice import (
    AT_AN_END,
    MIDDLE,
    AdviceBin,
    Advised,
    Local,
    advice_values,
    advised,
    advisory_value,
)
from trustreport.measures.calibration.binned import (
    BOUNDS,
    Binning,
    CurvePoint,
    binned,
    calibration_curve,
    curve_of,
    ece,
    gici,
)
from trustreport.measures.calibration.bins import Bins, equal_width
from trustreport.measures.calibration.smooth import REPLICATES as OF_CURVE
from trustreport.measures.calibration.smooth import loess_error, smooth_curve, smooth_error
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.score_measure import SCORES
from trustreport.measures.seeds import generator
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Coded, Dataset
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result, leading

ID = "advice_value"
BINS = 10
# Other numbers of bins, to see what the number does to the value; without interval.
OTHER_BINS = (5, 15, 20)
HISTOGRAM_BINS = 20
# With more cases the smooth curve is fitted once, without resampling.
RESAMPLED_UP_TO = 5_000
CURVE_POINTS = 80

LOCALS: tuple[Local, ...] = ("absolute_gap", "gici")
# Advice "condition present" and "absent", by the class that is advised.
CLASSES = ("1", "0")
# What the scope of a result on all cases of a set lacks.
WHOLE: Mapping[str, Any] = {"class": None, "subgroup": None}

NO_ADVICE = note("no_advice_this_class")
NO_CASE_OF_GROUP = note("no_case_this_group_has_score")
IN_CLUSTERS = note("cases_come_in_clusters_no_interval")
OF_CASES = ("brier", "calibration_intercept", "calibration_slope", "oe_ratio")
# What scores that are no probabilities leave undefined, with the method of each.
UNDEFINED = {
    "brier": SCORES["brier"].primary,
    "ece": BOUNDS,
    "gici": BOUNDS,
    "calibration_intercept": SCORES["calibration_intercept"].primary,
    "calibration_slope": SCORES["calibration_slope"].primary,
    "oe_ratio": SCORES["oe_ratio"].primary,
    "ici": "lowess",
    "advisory_value": BOUNDS,
}


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A data set and candidate: the results, and what its figure and its tables are made of.

    Without probabilities `curve`, `histogram`, `smooth` and `advice` are empty, `why_not` says what the
    scores are, and `score_range` from where to where they are declared to run, or do. `threshold` is the
    probability from which the advice is positive, NaN where `advice_threshold` has none to use; `declared`
    says whether it is that of an operating point.
    """

    name: Message | str
    place: Place
    dataset: Dataset
    results: tuple[Result, ...]
    curve: tuple[CurvePoint, ...] = ()
    histogram: Bins | None = None
    smooth: tuple[tuple[float, float], ...] = ()
    advice: tuple[AdviceBin, ...] = ()
    why_not: Note = NO_NOTE
    score_range: tuple[float, float] | None = None
    threshold: float = MIDDLE
    declared: bool = False

    @property
    def label(self) -> Message | str:
        """How tables and figures name it."""
        return set_label(self.name, self.dataset.role)

    def lead(self, quantity: str, **parameters: Any) -> Result | None:
        """The primary entry of a quantity for all cases with these parameters, or with none."""
        return leading(self.results, f"{ID}.{quantity}", parameters=parameters or None, **WHOLE)

    @property
    def of_parts(self) -> list[Result]:
        """The advisory value of each class of advice, then of each group."""
        return [r for r in self.results if not r.within(**WHOLE)]

    def estimate(self, quantity: str, **parameters: Any) -> Estimate:
        """Its estimate; undefined where there is no such entry."""
        found = self.lead(quantity, **parameters) or self.lead(quantity)
        return found.estimate if found else Estimate(nan, nan, nan, 0)


def results_of(
    case: ScoredCases, plan: Plan, *, resamples: int | None = OF_CURVE, of_site: bool = False
) -> list[Result]:
    """Calibration in the large, by a line, by bins and by a curve; the value of the advice.

    Of a site within a set neither other numbers of bins nor groups. The interval of the smooth curve rests on
    so many `resamples`; None leaves it out.
    """
    why, level = why_no_risk(case), plan.report.confidence_level
    if why:
        return [
            _entry(name, case, undefined(len(case), why, level=level, method=method))
            for name, method in UNDEFINED.items()
        ]
    found = [r for name in OF_CASES for r in entries(f"{ID}.{name}", case, name, level)]
    found += [*_by_curve(case, plan, resamples), *_in_bins(case, plan)]
    found += _advice(case, plan)
    found += [_entry(f"weighted_{name}", case, e) for name, e in of_risks(case, level)]
    if not of_site:
        found += [*_other_bins(case, plan), *_of_groups(case, plan)]
    return found


def shared_results(case: ScoredCases, plan: Plan) -> list[Result]:
    """The same of scores that stay at their sites, by what these hand over: no curve and no bins."""
    level = plan.report.confidence_level
    return [r for name in OF_CASES for r in entries(f"{ID}.{name}", case, name, level)]


def advice_threshold(case: ScoredCases, plan: Plan) -> float:
    """The probability from which the advice is positive: that of the operating point, .5 without one.

    NaN where it is not between 0 and 1, so that all advice is the same.
    """
    at = plan.threshold_of(case.candidate)
    if at is None or case.risk_range is None:
        return MIDDLE
    low, high = case.risk_range
    found = (at - low) / (high - low)
    return found if 0 < found < 1 else nan


def _entry(name: str, case: ScoredCases, e: Estimate, **more: Any) -> Result:
    """An entry on all of these cases, primary unless it says otherwise."""
    return Result(f"{ID}.{name}", case.place, e, **{"cases": case.key, "primary": True, **more})


def _by_curve(case: ScoredCases, plan: Plan, replicates: int | None) -> Iterator[Result]:
    """Distance of the scores from a smooth curve."""
    (truth, score, cluster), level = case.with_scores, plan.report.confidence_level
    rng = generator(plan.similarity.seed, ID, "smooth", str(case.place.scope))
    resampled = replicates is not None and len(score) <= RESAMPLED_UP_TO and cluster is None
    drawn: dict[str, Any] = {"rng": rng, "replicates": replicates} if resampled else {}
    smooth = smooth_error(truth, score, **drawn, level=level, order=case.score_order)
    by_loess, index = loess_error(truth, score, level=level, order=case.score_order)
    for name in ("ici", "e50", "e90", "emax"):
        one = getattr(smooth, name)
        if cluster is not None and one.value == one.value:
            one = without_interval(one, IN_CLUSTERS)
        yield _entry(name, case, one)
    yield _entry("ici", case, by_loess, primary=False)
    yield _entry("eci", case, index)


def _in_bins(case: ScoredCases, plan: Plan) -> Iterator[Result]:
    """ECE and GICI with ten bins, and their intervals."""
    (truth, score, cluster), level = case.with_scores, plan.report.confidence_level
    both: tuple[Binning, ...] = ("equal_width", "equal_mass")
    for binning in both:
        chosen = {"bins": BINS, "binning": binning}
        known = binned(truth, score, binning, BINS, order=case.score_order) if len(score) else None
        given: dict[str, Any] = {"binning": binning, "cluster": cluster, "level": level, "known": known}
        yield _entry("ece", case, ece(truth, score, **given), parameters=chosen)
        index = gici(truth, score, **given)
        for name, one in (("gici", index.overall), ("gici_over", index.over), ("gici_under", index.under)):
            yield _entry(name, case, one, parameters=chosen)


def _other_bins(case: ScoredCases, plan: Plan) -> Iterator[Result]:
    """ECE and GICI with other numbers of bins."""
    (truth, score, cluster), level = case.with_scores, plan.report.confidence_level
    for bins in OTHER_BINS:
        chosen = {"bins": bins, "binning": "equal_width"}
        known = binned(truth, score, "equal_width", bins) if len(score) else None
        given: dict[str, Any] = {"bins": bins, "cluster": cluster, "level": level, "known": known}
        yield _entry("ece", case, ece(truth, score, **given), parameters=chosen)
        yield _entry("gici", case, gici(truth, score, **given).overall, parameters=chosen)


def _advice(case: ScoredCases, plan: Plan) -> Iterator[Result]:
    """The value of advice given with a certain confidence, its mean over cases and by class."""
    (truth, score, cluster), level = case.with_scores, plan.report.confidence_level
    threshold = advice_threshold(case, plan)
    if threshold != threshold:
        for local in LOCALS:
            yield _advisory(case, plan, local)
        return
    given: dict[str, Any] = {"bins": BINS, "threshold": threshold, "cluster": cluster, "level": level}
    given["known"] = known = advised(truth, score, BINS, threshold=threshold)
    for local in LOCALS:
        for found in advice_values(truth, score, local=local, **given):
            # The plain gap is the form that carries no name of its own among the bins.
            named = {} if local == "absolute_gap" else {"local_calibration": local}
            chosen = {"bins": BINS, "low": found.low, "high": found.high, **named}
            details = {
                "threshold": threshold,
                "mean_confidence": found.confidence,
                "predicted_right": found.predicted,
                "share_right": found.share_right.value,
                "local_calibration": found.local_calibration.value,
            }
            yield _entry("advice_value", case, found.advice_value, parameters=chosen, details=details)
        yield _advisory(case, plan, local, known=known)
    positive = np.zeros(len(case), bool) if case.risk is None else case.risk >= threshold
    for name, of in zip(CLASSES, (positive, ~positive)):
        part = case.part(of & case.scored, case.place.narrowed(class_=name))
        yield _advisory(part, plan, none=NO_ADVICE, details=each_alone(case, part))


def _of_groups(case: ScoredCases, plan: Plan) -> Iterator[Result]:
    """The advisory value of each declared group."""
    for name, members in _groups(case, plan):
        part = case.part(members & case.scored, case.place.narrowed(subgroup=name))
        yield _advisory(part, plan, none=NO_CASE_OF_GROUP, details=each_alone(case, part))


def _advisory(
    case: ScoredCases,
    plan: Plan,
    local: Local = "absolute_gap",
    none: Note = NO_NOTE,
    *,
    known: Advised | None = None,
    **more: Any,
) -> Result:
    """The advisory value of some cases, calibrated among themselves."""
    (truth, score, cluster), level = case.with_scores, plan.report.confidence_level
    chosen = {"bins": BINS, "local_calibration": local}
    if none and not truth.size:
        return _entry("advisory_value", case, undefined(0, none, level=level), parameters=chosen, **more)
    threshold = advice_threshold(case, plan)
    if threshold != threshold:
        found = undefined(len(truth), AT_AN_END, level=level, method=BOUNDS)
        return _entry("advisory_value", case, found, parameters=chosen, **more)
    given: dict[str, Any] = {"bins": BINS, "local": local, "threshold": threshold, "cluster": cluster}
    found = advisory_value(truth, score, known=known, level=level, **given)
    return _entry("advisory_value", case, found, parameters=chosen, **more)


def _groups(case: ScoredCases, plan: Plan) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Each group of the subgroups that the manifest declares, and which of the cases are in it."""
    for subgroup in plan.subgroups:
        column = _column(case.dataset.cases, subgroup.name)
        if column is None:
            continue
        codes = column.codes[case.rows]
        for code, label in enumerate(column.labels):
            yield f"{subgroup.name}: {label}", codes == code


def _column(cases: Cases, name: str) -> Coded | None:
    return cases.groups.get(name) or (cases.site if name == "site" else None)


def _range(case: ScoredCases, plan: Plan) -> tuple[float, float]:
    """From where to where the scores are declared to run; else from the lowest to the highest one."""
    assert case.score is not None
    used = case.score[case.scored]
    return plan.score_range_of(case.candidate) or (float(used.min()), float(used.max()))


def calibrated(name: Message | str, case: ScoredCases, results: list[Result], plan: Plan) -> Calibrated:
    """The results with what is drawn of them."""
    why = why_no_risk(case)
    if why or not case.scored.any():
        return Calibrated(
            name,
            case.place,
            case.dataset,
            tuple(results),
            why_not=why,
            score_range=_range(case, plan) if why == NOT_RISKS else None,
        )
    (truth, score, _), level = case.with_scores, plan.report.confidence_level
    order, both = case.score_order, 0 < truth.sum() < len(truth)
    smooth = smooth_curve(score, truth.astype(np.float64), order=order) if both else None
    drawn: tuple[tuple[float, float], ...] = ()
    if smooth is not None:
        some = order[np.unique(np.linspace(0, len(order) - 1, CURVE_POINTS).astype(np.intp))]
        drawn = tuple(zip(score[some].tolist(), np.clip(smooth[some], 0, 1).tolist()))
    threshold = advice_threshold(case, plan)
    undecided = threshold != threshold
    least = public_cell(plan)
    if least:
        bins = public_bins(case, plan, least)
        return Calibrated(
            name,
            case.place,
            case.dataset,
            tuple(results),
            curve_of(bins, level),
            bins,
            threshold=threshold,
            declared=plan.threshold_of(case.candidate) is not None,
        )
    return Calibrated(
        name,
        case.place,
        case.dataset,
        tuple(results),
        calibration_curve(truth, score, bins=BINS, level=level),
        equal_width(truth, score, HISTOGRAM_BINS),
        drawn,
        () if undecided else advice_values(truth, score, bins=BINS, threshold=threshold, level=level),
        threshold=threshold,
        declared=plan.threshold_of(case.candidate) is not None,
    )
