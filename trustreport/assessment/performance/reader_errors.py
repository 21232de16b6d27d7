"""Errors of readers, and what they do with advice.

Risk reduction and change in accuracy are one number, so its primary interval is that of the accuracy
(`trustreport.assessment.performance.readers`). Ratios take the covariance behind it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.measures import complement
from trustreport.assessment.performance.reader_analysis import (
    AIDED,
    FIRST_COVARIANCE,
    UNAIDED,
    Analysis,
    ReaderEndpoint,
)
from trustreport.assessment.performance.reader_endpoints import NOT_MANY
from trustreport.assessment.performance.readers import endpoint, patients_of
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.clustered import or_delta, rr_delta
from trustreport.measures.mrmc.crossed_clusters import ClusteredReaders
from trustreport.measures.mrmc.obuchowski_rockette import Mode
from trustreport.measures.mrmc.power import Components, components, components_with_gaps
from trustreport.measures.mrmc.ustatistic import CENTRED, UStatistic, ustatistic
from trustreport.measures.note import NO_NOTE, Note
from trustreport.measures.notes import OFTEN_BELOW, of_the_data
from trustreport.measures.reliance import notes as reliance_notes
from trustreport.measures.reliance.patterns import RATES, patterns, tertiles
from trustreport.study.plan import Plan
from trustreport.study.study import Binary, Floats, Readings

FEW_ERRORS = 0.06
FIRST_MODE: Mode = "or_rrrc"


@dataclass(frozen=True, eq=False)
class ReaderErrors:
    """Estimates over readers and cases, the primary one of each list first.

    `rates` are of the aided, then the unaided arm.
    """

    rates: tuple[tuple[Estimate, ...], tuple[Estimate, ...]]
    arr: tuple[Estimate, ...]
    rr: Estimate
    odds_ratio: Estimate


def reader_errors(readings: Readings, arms: tuple[str, str], level: float) -> ReaderErrors:
    """The errors of the readings of both arms; undefined without decisions on cases of known truth."""
    at = ("errors", arms, level)
    if at not in readings.memo:
        accuracy = endpoint(readings, arms, level, "accuracy")
        readings.memo[at] = _nothing(level) if accuracy is None else _errors(accuracy, level)
    return readings.memo[at]


def _nothing(level: float) -> ReaderErrors:
    none = undefined(0, notes.NO_READING, level=level, method=CENTRED)
    ratios = (replace(none, method=method) for method in ("rr_delta", "or_delta"))
    return ReaderErrors(((none,), (none,)), (none,), *ratios)


def _errors(accuracy: ReaderEndpoint, level: float) -> ReaderErrors:
    analysis = accuracy.whole
    # The published U-statistic depends on whether errors or right decisions are counted.
    published = ustatistic(1 - accuracy.outcome)
    rates = tuple(
        _of_errors(
            analysis,
            {name: complement(e) for name, e in analysis.arm_means(arm, level).items()},
            published.arm_mean(arm, level=level),
        )
        for arm in (AIDED, UNAIDED)
    )
    differences = analysis.differences(level)
    arr = _of_errors(analysis, differences, published.difference(UNAIDED, AIDED, level=level))
    rr, odds_ratio = _ratios(analysis, accuracy.outcome, arr[0], level)
    return ReaderErrors((rates[0], rates[1]), arr, rr, odds_ratio)


def _of_errors(
    analysis: Analysis, by_analysis: dict[str, Estimate], published: Estimate
) -> tuple[Estimate, ...]:
    """The primary estimate, then the others; the published U-statistic as it is of errors."""
    first = analysis.first(by_analysis)
    others = [e for name, e in by_analysis.items() if name not in (first, published.method)]
    return (by_analysis[first], *others, published)


def _ratios(analysis: Analysis, outcome: Floats, lead: Estimate, level: float) -> tuple[Estimate, Estimate]:
    """Relative risk and odds ratio of errors from the covariance behind the primary difference."""
    fit, clustered, adjusted = next(iter(analysis.fits.values()), None), analysis.clustered, analysis.adjusted
    if adjusted is not None:
        covariance, df = adjusted.mean_covariance(lead.method), lead.df
        means = np.clip([adjusted.arm_mean(arm).value for arm in (AIDED, UNAIDED)], 0.0, 1.0)
    elif clustered is not None:
        assert isinstance(clustered, ClusteredReaders)
        covariance = clustered.mean_covariance(AIDED, UNAIDED, lead.method)
        df, means = clustered.reference_df(AIDED, UNAIDED, lead.method), clustered.means
    elif fit is not None:
        mode: Mode = FIRST_MODE if lead.method.startswith(FIRST_MODE) else "or_frrc"
        covariance, df = fit.mean_covariance(AIDED, UNAIDED, mode=mode), fit.reference_df(mode)
        means = fit.means
    else:
        found = analysis.centred or analysis.unbiased
        assert isinstance(found, UStatistic)
        found = found.for_difference(AIDED, UNAIDED)
        covariance, df = found.mean_covariance(AIDED, UNAIDED), found.reference_df(AIDED, UNAIDED)
        means = found.means
    n = int((~np.isnan(outcome)).sum(axis=(1, 2)).min())
    rates = 1 - float(means[AIDED]), 1 - float(means[UNAIDED])
    few = outcome.shape[1] > 1 and outcome.shape[2] <= NOT_MANY and min(rates) < FEW_ERRORS
    note = of_the_data(lead.note) + (OFTEN_BELOW if few else NO_NOTE)
    more: dict[str, Any] = {"df": df, "level": level, "note": note}
    ratios = rr_delta(*rates, covariance, n, **more), or_delta(*rates, covariance, n, **more)
    of = {name: x for name, x in lead.details.items() if name == "clusters"}
    rr, odds_ratio = (replace(e, details={**e.details, **of}) for e in ratios)
    return rr, odds_ratio


# Up to so many values of complexity are levels; more are put together in thirds.
MOST_LEVELS = 10


def advice_of(readings: Readings, plan: Plan) -> Binary | None:
    """What the model advised at each reading: as stored, or its score against the declared threshold."""
    if readings.advice is not None:
        return readings.advice
    score, threshold = readings.advice_score, plan.operating_point.threshold
    if score is None or threshold is None:
        return None
    below = plan.operating_point.score_direction == "lower_is_positive"
    positive = score <= threshold if below else score >= threshold
    return np.where(np.isnan(score), -1, positive).astype(np.int8)


@dataclass(frozen=True, eq=False)
class Grids:
    """Readings laid out as (n_readers, n_cases); NaN where unknown.

    `patterns` needs both decisions, advice and truth; `outcomes` holds each rate of the measures, those of
    disagreement from the decisions themselves, so that they need no truth. `decision` and `sureness` (the
    reader's confidence) are of both arms, `advice` of the aided one. `levels` holds the level of complexity
    of each case, -1 where it is not known; `types` the type of advice of each reading, `cluster` which cases
    are of one patient.
    """

    patterns: Floats
    outcomes: Mapping[str, Floats]
    correct: Floats
    advice_right: Floats
    truth: Binary
    confidence: Floats
    decision: Floats
    advice: Floats
    sureness: Floats
    levels: NDArray[np.int8]
    level_names: tuple[str, ...]
    types: Floats
    cluster: Clusters | None

    def lacking(self, rate: str) -> Note:
        """Why a rate is undefined where no reading belongs to its base."""
        return reliance_notes.NO_READING if np.isnan(self.patterns).all() else RATES[rate].lacking


def grids(readings: Readings, arms: tuple[str, str], advice: Binary) -> Grids:
    """Lay out one contrast of a task; the advice is that of the aided reading."""
    decision, advice_grid = (
        _both(readings, np.where(column >= 0, column, np.nan), arms)
        for column in (_decisions(readings), advice)
    )
    advised = advice_grid[AIDED]
    truth = np.where(readings.cases.truth >= 0, readings.cases.truth, np.nan)
    correct, advice_right = _same(decision, truth), _same(advised, truth)
    codes = patterns(correct[UNAIDED], advice_right, correct[AIDED])
    outcomes = {name: which.indicator(codes) for name, which in RATES.items()}
    agrees = {name: _same(decision[arm], advised) for name, arm in (("aided", AIDED), ("unaided", UNAIDED))}
    outcomes |= {f"agreement_{name}": grid for name, grid in agrees.items()}
    outcomes["override_rate"] = 1 - agrees["aided"]
    outcomes["override_of_right_advice"] = np.where(advice_right == 1, 1 - agrees["aided"], np.nan)
    outcomes["override_of_wrong_advice"] = np.where(advice_right == 0, 1 - agrees["aided"], np.nan)
    outcomes["switch_rate"] = np.where(agrees["unaided"] == 0, agrees["aided"], np.nan)
    outcomes["accuracy_of_advice"] = advice_right
    sureness, types = (
        np.full(decision.shape, np.nan) if column is None else _both(readings, column, arms)
        for column in (readings.confidence, readings.advice_type)
    )
    return Grids(
        codes,
        outcomes,
        correct,
        advice_right,
        readings.cases.truth,
        np.where(np.isnan(codes), np.nan, sureness[UNAIDED]),
        decision,
        advised,
        sureness,
        *_levels(readings.cases.complexity, len(readings.cases)),
        types[AIDED],
        patients_of(readings),
    )


def _levels(complexity: Floats | None, n: int) -> tuple[NDArray[np.int8], tuple[str, ...]]:
    """The level of complexity of each case and what the levels are called: thirds where values are many."""
    if complexity is None or np.isnan(complexity).all():
        return np.full(n, -1, np.int8), ()
    values, codes = np.unique(complexity[~np.isnan(complexity)], return_inverse=True)
    if len(values) > MOST_LEVELS:
        bands, ranges = tertiles(complexity)
        return bands, tuple(f"{low:g}\N{EN DASH}{high:g}" for low, high in ranges)
    levels = np.full(n, -1, np.int8)
    levels[~np.isnan(complexity)] = codes
    return levels, tuple(f"{value:g}" for value in values)


def _decisions(readings: Readings) -> Binary:
    assert readings.decision is not None
    return readings.decision


def _both(readings: Readings, values: NDArray[Any], arms: tuple[str, str]) -> Floats:
    """Both arms laid out; one that the task lacks is empty."""
    there = [arm for arm in arms if arm in readings.arms]
    out = np.full((2, len(readings.readers), len(readings.cases)), np.nan)
    out[[arms.index(arm) for arm in there]] = readings.grid(values, there)
    return out


def _same(a: Floats, b: Floats) -> Floats:
    """1.0 where both are known and equal, 0.0 where unequal, NaN where one is unknown."""
    return np.where(np.isnan(a) | np.isnan(b), np.nan, (a == b).astype(np.float64))


def components_of(endpoint: ReaderEndpoint, readings: Readings) -> Components | None:
    """Of the change: by Obuchowski and Rockette, or from the U-statistic where readings are missing.

    None of Youden's index with readings missing: its two classes have sources of their own.
    """
    fit = endpoint.whole.fits.get(FIRST_COVARIANCE)
    if fit is not None:
        return components(fit)
    statistic = endpoint.whole.centred
    if not isinstance(statistic, UStatistic):
        return None
    read = ~np.isnan(endpoint.outcome).all(axis=(0, 1))
    if endpoint.name != "auc":
        return components_with_gaps(statistic, [int(read.sum())], AIDED, UNAIDED)
    truth = readings.cases.truth
    positive = truth[truth >= 0] == 1
    sizes = [int((read & of).sum()) for of in (positive, ~positive)]
    return components_with_gaps(statistic, sizes, AIDED, UNAIDED)
