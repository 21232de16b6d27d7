"""Every number of advice value for the scores of one candidate on one data set."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.advice_accuracy.measured import Judged
from trustreport.estimate import Estimate, undefined
from trustreport.measures.calibration.advice import AdviceBin, Local, advice_values, advisory_value
from trustreport.measures.calibration.bins import Bins, equal_width
from trustreport.measures.calibration.brier import brier
from trustreport.measures.calibration.curve import CurvePoint, calibration_curve
from trustreport.measures.calibration.ece import ece
from trustreport.measures.calibration.gici import gici
from trustreport.measures.calibration.logistic import calibration_intercept, calibration_slope
from trustreport.measures.calibration.oe import oe_ratio
from trustreport.measures.calibration.resample import LARGE, REPLICATES
from trustreport.measures.calibration.smooth import REPLICATES as OF_CURVE
from trustreport.measures.calibration.smooth import loess_error, smooth_curve, smooth_error
from trustreport.messages import Message
from trustreport.plan import Plan
from trustreport.results import Result, Unit, answers, leading
from trustreport.seeds import generator
from trustreport.study import Cases, Coded, Dataset

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

NO_ADVICE = "no advice of this class"
NO_CASE_OF_GROUP = "no case of this group has a score and a truth"
NOT_RISKS = "the scores are not all within 0 and 1: they are no probabilities"
REVERSED = "a lower score speaks for the condition: it is no probability of it"
# What a score that is no probability leaves undefined, with the unit of each.
ASKED: Mapping[str, Unit] = {
    "brier": "score",
    "ece": "score",
    "gici": "score",
    "calibration_intercept": "score",
    "calibration_slope": "ratio",
    "oe_ratio": "ratio",
    "ici": "score",
    "advisory_value": "score",
}

# The method that leads for each, said where the scores allow none too.
METHODS = {
    "brier": "wald",
    "ece": "bootstrap_pivot",
    "gici": "bootstrap_pivot",
    "calibration_intercept": "wald",
    "calibration_slope": "wald",
    "oe_ratio": "log_wald",
    "ici": "lowess",
    "advisory_value": "bootstrap_pivot",
}


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A data set and candidate: the results, and what its figure and its tables are made of.

    Without probabilities `curve`, `histogram`, `smooth` and `advice` are empty.
    """

    name: Message | str
    scope: Mapping[str, Any]
    dataset: Dataset
    results: tuple[Result, ...]
    curve: tuple[CurvePoint, ...] = ()
    histogram: Bins | None = None
    smooth: tuple[tuple[float, float], ...] = ()
    advice: tuple[AdviceBin, ...] = ()

    def lead(self, quantity: str, **parameters: Any) -> Result | None:
        """The leading entry of a quantity for all cases with these parameters, or with none."""
        return leading(self.results, f"{ID}.{quantity}", parameters=parameters or None, **WHOLE)

    @property
    def of_parts(self) -> list[Result]:
        """The advisory value of each class of advice, then of each group."""
        return [r for r in self.results if not r.within(**WHOLE)]

    def estimate(self, quantity: str, **parameters: Any) -> Estimate:
        """Its estimate; undefined where there is no such entry."""
        found = self.lead(quantity, **parameters) or self.lead(quantity)
        return found.estimate if found else Estimate(nan, nan, nan, 0)


def why_no_risk(case: Judged, plan: Plan) -> str:
    """Why the scores cannot be read as probabilities, or nothing."""
    score = case.score
    assert score is not None
    if plan.operating_point.score_direction == "lower_is_positive":
        return REVERSED
    return NOT_RISKS if score.size and (score.min() < 0 or score.max() > 1) else ""


@dataclass(frozen=True, slots=True)
class Draws:
    """Resamples behind an interval of bins, and of the smooth curve; None: the interval is left out."""

    bins: int | None = REPLICATES
    curve: int | None = OF_CURVE


def results_of(case: Judged, plan: Plan, *, draws: Draws = Draws(), of_site: bool = False) -> list[Result]:
    """Calibration in the large, by a line, by bins and by a curve; the value of the advice.

    Of a site within a set neither other numbers of bins nor groups.
    """
    why, level = why_no_risk(case, plan), plan.report.confidence_level
    if why:
        n = len(case.truth)
        none = {name: undefined(n, why, level=level, method=METHODS[name]) for name in ASKED}
        return [Result(f"{ID}.{name}", case.scope, none[name], unit, True) for name, unit in ASKED.items()]
    found = [*_as_probabilities(case, plan, draws.curve), *_in_bins(case, plan, draws.bins)]
    found += _advice(case, plan, draws.bins)
    if not of_site:
        found += [*_other_bins(case, plan), *_of_groups(case, plan)]
    return found


def _drawn(rng: np.random.Generator, replicates: int | None) -> dict[str, Any]:
    """What a measure is told of resampling."""
    return {} if replicates is None else {"rng": rng, "replicates": replicates}


def _as_probabilities(case: Judged, plan: Plan, replicates: int | None) -> Iterator[Result]:
    """Brier score, intercept, slope, observed over expected, distance from a smooth curve."""
    truth, score, level, scope = case.truth, case.score, plan.report.confidence_level, case.scope
    assert score is not None
    one = brier(truth, score, level=level)
    yield from answers(f"{ID}.brier", scope, [one], leads=one.method, unit="score")
    for name, measure, unit in (
        ("calibration_intercept", calibration_intercept, ASKED["calibration_intercept"]),
        ("calibration_slope", calibration_slope, ASKED["calibration_slope"]),
    ):
        found = [measure(truth, score, level=level)]
        if len(score) <= LARGE:  # with more cases both intervals are one to the digits printed
            found.append(measure(truth, score, interval="profile", level=level))
        yield from answers(f"{ID}.{name}", scope, found, leads="wald", unit=unit)
    one = oe_ratio(truth, score, level=level)
    yield from answers(f"{ID}.oe_ratio", scope, [one], leads=one.method, unit="ratio")
    rng = generator(plan.similarity.seed, ID, "smooth", str(scope))
    drawn = _drawn(rng, replicates) if len(score) <= RESAMPLED_UP_TO else {}
    smooth = smooth_error(truth, score, **drawn, level=level)
    by_loess, index = loess_error(truth, score, level=level)
    yield from answers(f"{ID}.ici", scope, [smooth.ici, by_loess], leads=smooth.ici.method, unit="score")
    for name in ("e50", "e90", "emax"):
        one = getattr(smooth, name)
        yield from answers(f"{ID}.{name}", scope, [one], leads=one.method, unit="score")
    yield from answers(f"{ID}.eci", scope, [index], leads=index.method, unit="score")


def _in_bins(case: Judged, plan: Plan, replicates: int | None) -> Iterator[Result]:
    """ECE and GICI with ten bins, and their intervals."""
    truth, score, level = case.truth, case.score, plan.report.confidence_level
    assert score is not None
    for binning in ("equal_width", "equal_mass"):
        here = {**case.scope, "parameters": {"bins": BINS, "binning": binning}}
        rng = generator(plan.similarity.seed, ID, "bins", str(here))
        drawn = _drawn(rng, replicates)
        error = ece(truth, score, binning=binning, **drawn, level=level)
        yield from answers(f"{ID}.ece", here, [error], leads=error.method, unit="score")
        index = gici(truth, score, binning=binning, **drawn, level=level)
        for name, one in (("gici", index.overall), ("gici_over", index.over), ("gici_under", index.under)):
            yield from answers(f"{ID}.{name}", here, [one], leads=one.method, unit="score")


def _other_bins(case: Judged, plan: Plan) -> Iterator[Result]:
    """ECE and GICI with other numbers of bins, without intervals."""
    truth, score, level = case.truth, case.score, plan.report.confidence_level
    assert score is not None
    for bins in OTHER_BINS:
        here = {**case.scope, "parameters": {"bins": bins, "binning": "equal_width"}}
        for name, one in (
            ("ece", ece(truth, score, bins=bins, level=level)),
            ("gici", gici(truth, score, bins=bins, level=level).overall),
        ):
            yield from answers(f"{ID}.{name}", here, [one], leads=one.method, unit="score")


def _advice(case: Judged, plan: Plan, replicates: int | None) -> Iterator[Result]:
    """The value of advice given with a certain confidence, its mean over cases and by class."""
    truth, score, level = case.truth, case.score, plan.report.confidence_level
    assert score is not None
    for local in LOCALS:
        for found in advice_values(truth, score, bins=BINS, local=local, level=level):
            # The plain gap is the form that carries no name of its own among the bins.
            named = {} if local == "absolute_gap" else {"local_calibration": local}
            here = {**case.scope, "parameters": {"bins": BINS, "low": found.low, "high": found.high, **named}}
            details = {
                "mean_confidence": found.confidence,
                "share_right": found.share_right.value,
                "local_calibration": found.local_calibration.value,
            }
            yield Result(f"{ID}.advice_value", here, found.advice_value, "score", True, details)
        yield from _advisory(case, plan, case.scope, np.ones(len(truth), bool), local, replicates=replicates)
    positive = score >= 0.5
    for name, advised in zip(CLASSES, (positive, ~positive)):
        here = {**case.scope, "class": name}
        yield from _advisory(case, plan, here, advised, none=NO_ADVICE, replicates=replicates)


def _of_groups(case: Judged, plan: Plan) -> Iterator[Result]:
    """The advisory value of each declared group."""
    for name, members in _groups(case, plan):
        yield from _advisory(case, plan, {**case.scope, "subgroup": name}, members, none=NO_CASE_OF_GROUP)


def _advisory(
    case: Judged,
    plan: Plan,
    scope: Mapping[str, Any],
    of: NDArray[np.bool_],
    local: Local = "absolute_gap",
    none: str = "",
    replicates: int | None = REPLICATES,
) -> Iterator[Result]:
    """The advisory value of some cases, calibrated among themselves."""
    assert case.score is not None
    level = plan.report.confidence_level
    here = {**scope, "parameters": {"bins": BINS, "local_calibration": local}}
    if none and not of.any():
        one = undefined(0, none, level=level)
    else:
        # All cases of a set have drawn under this name from the first.
        named = str(scope) if local == "absolute_gap" else str(here)
        rng = generator(plan.similarity.seed, ID, "advisory_value", named)
        drawn = _drawn(rng, replicates)
        one = advisory_value(case.truth[of], case.score[of], bins=BINS, local=local, **drawn, level=level)
    yield from answers(f"{ID}.advisory_value", here, [one], leads=one.method, unit="score")


def _groups(case: Judged, plan: Plan) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Each group of the subgroups that the manifest declares, and which of the judged cases are in it."""
    for subgroup in plan.subgroups:
        column = _column(case.dataset.cases, subgroup.name)
        if column is None:
            continue
        codes = column.codes[case.known]
        for code, label in enumerate(column.labels):
            yield f"{subgroup.name}: {label}", codes == code


def _column(cases: Cases, name: str) -> Coded | None:
    return cases.groups.get(name) or (cases.site if name == "site" else None)


def calibrated(name: Message | str, case: Judged, results: list[Result], plan: Plan) -> Calibrated:
    """The results with what is drawn of them."""
    told = Calibrated(name, case.scope, case.dataset, tuple(results))
    if why_no_risk(case, plan) or not case.truth.size:
        return told
    truth, score, level = case.truth, case.score, plan.report.confidence_level
    assert score is not None
    smooth = smooth_curve(score, truth.astype(np.float64)) if 0 < truth.sum() < len(truth) else None
    drawn: tuple[tuple[float, float], ...] = ()
    if smooth is not None:
        order = np.argsort(score, kind="stable")
        some = order[np.unique(np.linspace(0, len(order) - 1, CURVE_POINTS).astype(np.intp))]
        drawn = tuple(zip(score[some].tolist(), np.clip(smooth[some], 0, 1).tolist()))
    return Calibrated(
        name,
        case.scope,
        case.dataset,
        tuple(results),
        calibration_curve(truth, score, bins=BINS, level=level),
        equal_width(truth, score, HISTOGRAM_BINS),
        drawn,
        advice_values(truth, score, bins=BINS, level=level),
    )
