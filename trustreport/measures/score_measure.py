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

Influence = Callable[..., Any]
"""From truth, score and, of measures that need one, a threshold to what each case adds, (n_cases,)."""


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
    influence : the function of what each case adds to the measure, as `estimates`; empty where none is known
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
    influence: str | Influence = ""
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
        found: Estimates = _found(self.estimates)
        return found

    def influence_of(self) -> Influence | None:
        """The function of what each case adds; None where none is known."""
        found: Influence | None = _found(self.influence) if self.influence else None
        return found


def _found(place: Any) -> Any:
    """A function, or the one at a place below `trustreport.measures`."""
    if not isinstance(place, str):
        return place
    module, _, name = place.partition(":")
    return getattr(import_module(f"trustreport.measures.{module}"), name)


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
            influence="monitoring.change:of_area",
            change="areas",
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
            influence="monitoring.change:of_net_benefit",
            by_prevalence=True,
            **_UTILITY,
        ),
        ScoreMeasure(
            "standardized_net_benefit",
            "scores:standardized_net_benefits",
            "threshold",
            ("snb_mover", "ratio_delta"),
            influence="monitoring.change:of_standardized_net_benefit",
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
            influence="monitoring.change:of_brier",
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
            influence="monitoring.change:of_intercept",
            change="errors",
            better=0.0,
        ),
        ScoreMeasure(
            "calibration_slope",
            "scores:calibration_slopes",
            "risks",
            ("wald", "profile"),
            influence="monitoring.change:of_slope",
            change="errors",
            unit="ratio",
            better=1.0,
        ),
        ScoreMeasure(
            "oe_ratio",
            "scores:oe_ratios",
            "risks",
            ("oe_delta", "log_wald"),
            influence="monitoring.change:of_oe_ratio",
            change="log_errors",
            unit="ratio",
            better=1.0,
            scale="log",
            low=0.0,
        ),
    )
}
"""The measures of scores by their result ids."""
