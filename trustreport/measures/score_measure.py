"""A measure of scores: what it needs, its intervals in order, its row, and the function that estimates it.

The rows of `trustreport.vocabulary.quantities` are made of these, so that nothing here imports NumPy: the
function is named, and imported when it is first used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import inf
from typing import Any, Literal

from trustreport.measures.estimate import Estimate

Estimates = Callable[..., Sequence[Estimate]]
"""From truth, score, ``cluster``, ``intervals`` and ``level`` to the estimates, the primary one first.

Measures that need a threshold have it as third argument, those that need relevances the threshold and the
relevance of each case; those of ranks have the ``order`` of the scores.
"""


@dataclass(frozen=True, slots=True)
class ScoreMeasure:
    """What is known of a measure of scores.

    Parameters
    ----------
    id : as in ``quantity`` of results.json
    estimates : the function, or its place below `trustreport.measures`, such as ``"scores:oe_ratios"``
    needs : scores of any kind; scores that are probabilities; also an operating point; also relevances
    intervals : the methods of independent cases in the order of a report, the primary one first
    clustered : the primary method where cases come in clusters, where it has a word of its own
    change : how the change between two periods is estimated: by the standard errors of both values (of their
        logarithms for a ratio), by areas of the same cases, or by the limits of both values
    unit, better, scale, low, high, written_as, by_prevalence, counts_decisions : as in
        `trustreport.vocabulary.quantities.Quantity`
    """

    id: str
    estimates: str | Estimates
    needs: Literal["scores", "risks", "threshold", "relevance"]
    intervals: tuple[str, ...]
    clustered: str = ""
    change: Literal["errors", "log_errors", "areas", "limits"] = "limits"
    unit: Literal["proportion", "ratio", "score", "utility"] = "score"
    better: Literal["up", "down"] | float = "up"
    scale: Literal["identity", "logit", "log", "log_shortfall"] = "identity"
    low: float = -inf
    high: float = inf
    written_as: str = ""
    by_prevalence: bool = False
    counts_decisions: bool = False

    @property
    def primary(self) -> str:
        """The method of the primary estimate of independent cases, and the word where there is none."""
        return self.intervals[0]

    def function(self) -> Estimates:
        if not isinstance(self.estimates, str):
            return self.estimates
        module, _, name = self.estimates.partition(":")
        found: Estimates = getattr(import_module(f"trustreport.measures.{module}"), name)
        return found


_AREA: dict[str, Any] = {
    "unit": "proportion",
    "scale": "logit",
    "low": 0.0,
    "high": 1.0,
    "written_as": "area",
}
_LOSS: dict[str, Any] = {"better": "down", "low": 0.0, "high": 1.0}
_UTILITY: dict[str, Any] = {"unit": "utility", "high": 1.0, "counts_decisions": True}

SCORES: dict[str, ScoreMeasure] = {
    measure.id: measure
    for measure in (
        ScoreMeasure(
            "auc",
            "scores:areas",
            "scores",
            ("auc_logit_larger", "delong", "logit_delong", "newcombe_auc"),
            "auc_logit_obuchowski",
            "areas",
            **_AREA,
        ),
        ScoreMeasure(
            "average_precision",
            "scores:average_precisions",
            "scores",
            ("logit_influence", "logit_binomial"),
            "cluster_influence",
            by_prevalence=True,
            **_AREA,
        ),
        ScoreMeasure(
            "net_benefit",
            "scores:net_benefits",
            "threshold",
            ("yield_mover", "case_mean"),
            by_prevalence=True,
            **_UTILITY,
        ),
        ScoreMeasure(
            "standardized_net_benefit",
            "scores:standardized_net_benefits",
            "threshold",
            ("snb_mover", "ratio_delta"),
            scale="log_shortfall",
            by_prevalence=True,
            **_UTILITY,
        ),
        ScoreMeasure(
            "weighted_utility",
            "scores:weighted_utilities",
            "relevance",
            ("wu_log_t",),
            scale="log_shortfall",
            **_UTILITY,
        ),
        ScoreMeasure(
            "brier",
            "scores:briers",
            "risks",
            ("logit_t", "wald"),
            change="errors",
            scale="logit",
            **_LOSS,
        ),
        ScoreMeasure("ece", "scores:eces", "risks", ("gap_bounds",), **_LOSS),
        ScoreMeasure("gici", "scores:gicis", "risks", ("gap_bounds",), low=0.0, high=1.0),
        ScoreMeasure(
            "calibration_intercept",
            "scores:calibration_intercepts",
            "risks",
            ("sandwich", "wald", "profile"),
            change="errors",
            better=0.0,
        ),
        ScoreMeasure(
            "calibration_slope",
            "scores:calibration_slopes",
            "risks",
            ("wald", "profile"),
            change="errors",
            unit="ratio",
            better=1.0,
        ),
        ScoreMeasure(
            "oe_ratio",
            "scores:oe_ratios",
            "risks",
            ("oe_delta", "log_wald"),
            change="log_errors",
            unit="ratio",
            better=1.0,
            scale="log",
            low=0.0,
        ),
    )
}
"""The measures of scores by their result ids."""
