"""Errors of readers in two arms, readers and cases sampled: the accuracy of the same readings, turned round.

Risk reduction and change in accuracy are one number, so its primary interval is that of the accuracy
(`trustreport.performance.readers`). Ratios take the covariance behind it.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trustreport.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.clustered import or_delta, rr_delta
from trustreport.measures.mrmc.crossed_clusters import ClusteredReaders
from trustreport.measures.mrmc.obuchowski_rockette import Mode
from trustreport.measures.mrmc.ustatistic import CENTRED, UStatistic, ustatistic
from trustreport.measures.notes import OFTEN_BELOW, of_the_data
from trustreport.performance.measures import complement
from trustreport.performance.readers import AIDED, NOT_MANY, UNAIDED, Analysis, ReaderEndpoint, endpoint
from trustreport.study import Floats, Readings

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
    note = notes.join(of_the_data(lead.note), OFTEN_BELOW if few else "")
    more: dict[str, Any] = {"df": df, "level": level, "note": note}
    ratios = rr_delta(*rates, covariance, n, **more), or_delta(*rates, covariance, n, **more)
    of = {name: x for name, x in lead.details.items() if name == "clusters"}
    rr, odds_ratio = (replace(e, details={**e.details, **of}) for e in ratios)
    return rr, odds_ratio
