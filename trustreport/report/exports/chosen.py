"""Which of the results a card holds, and under which name: the primary ones."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from trustreport.assessment.assess import Assessment
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.report import declared
from trustreport.report.answer.other_evidence import COMPARED, is_corrected, labels_err
from trustreport.report.answer.sentences import MEASURING
from trustreport.report.document import canonical, digest, document
from trustreport.report.elements.annexes import scope_words
from trustreport.report.write import provenance
from trustreport.study.plan import Plan
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.kinds import MEANS
from trustreport.vocabulary.messages import Catalogue
from trustreport.vocabulary.quantity import CORRECTED, DIFFERENCE
from trustreport.vocabulary.results import Result

# By what a card asks of them: the dimension and its quantities.
PERFORMANCE: Mapping[str, tuple[str, ...]] = {
    "advice_accuracy": (
        *(f"{CORRECTED}{name}" for name in ("sensitivity", "specificity", "auc")),
        *("sensitivity", "specificity", "ppv", "npv", "lr_positive", "lr_negative", "auc"),
    ),
    "pragmatic_utility": ("error_rate", "arr", "odds_ratio"),
    "decision_benefit": ("arm_mean", "arm_difference"),
    "candidates": ("sensitivity", "specificity", "auc"),
    "measurement": ("bias", "mean_absolute_error", *MEANS, "acceptable_share"),
    "reader_measurement": (*(f"{name}{DIFFERENCE}" for name in COMPARED), "preference_share"),
}
FAIRNESS: Mapping[str, tuple[str, ...]] = {"subgroups": ("group_performance", "subgroup_difference")}
RELIABILITY: Mapping[str, tuple[str, ...]] = {
    "advice_value": ("calibration_slope", "calibration_intercept", "oe_ratio", "brier"),
    "potential_robustness": ("pooled_performance", "prediction_interval"),
    "reliance": ("rair", "rsr"),
    "vigilance": ("period_value", "period_change"),
}
NARROW = (
    "reader",
    "raters",
    "site",
    "class",
    "version",
    "subgroup",
)  # places that are a part of the study only
WITHOUT_LABELS = (*MEASURING, "source_reliability")  # dimensions whose numbers rest on no truth
SCENARIO = "scenario"  # of cases that were not verified: a bound, not an estimate
SIGNIFICANT = 13  # digits, as in results.json


@dataclass(frozen=True, slots=True)
class CardResult:
    """A result as a card names it: what it is, of what, and its numbers (None where there is no interval)."""

    name: str
    place: str
    quantity: str
    dataset: str
    value: float
    low: float | None
    high: float | None
    level: float
    n: int
    unit: str
    method: str

    @property
    def label(self) -> str:
        """Name and place in one text."""
        return f"{self.name} ({self.place})" if self.place else self.name


def chosen(
    assessment: Assessment, quantities: Mapping[str, tuple[str, ...]], say: Catalogue
) -> Iterator[CardResult]:
    """The primary results of these quantities that have a value, as a card names them."""
    return (_card(r, assessment, say) for r in primary(assessment, quantities))


def primary(assessment: Assessment, quantities: Mapping[str, tuple[str, ...]]) -> Iterator[Result]:
    """The primary results of these quantities that have a value, of the whole study or of its groups.

    What a device reaches on the cases that it was made with is no evidence of performance, and is left out.
    """
    groups = quantities is FAIRNESS
    development = {d.name for d in assessment.study.datasets if d.role in DEVELOPMENT_ROLES}
    for r in assessment.results:
        named = r.name in quantities.get(r.dimension, ())
        narrow = any(key in r.scope for key in NARROW if not (groups and key == "subgroup"))
        narrow = narrow or SCENARIO in r.parameters or r.scope.get("dataset") in development
        if named and r.primary and not narrow and isfinite(r.estimate.value):
            yield r


def place_of(r: Result, assessment: Assessment, say: Catalogue) -> str:
    """What a result is of, in words: data set, arms, period, group, what was chosen, and uncertain labels."""
    scope: dict[str, Any] = {**r.place.scope, "parameters": dict(r.parameters)}
    words = list(scope_words({key: value for key, value in scope.items() if value}, say))
    if r.dimension not in WITHOUT_LABELS and not is_corrected(r) and labels_err(assessment):
        words.append(say("export.against_labels"))
    return ", ".join(words)


def _card(r: Result, assessment: Assessment, say: Catalogue) -> CardResult:
    e = r.estimate
    interval = isfinite(e.low) and isfinite(e.high)
    return CardResult(
        name=say(quantity_name(r.name, r.endpoint or None)),
        place=place_of(r, assessment, say),
        quantity=r.quantity.id,
        dataset=str(r.place.scope.get("dataset") or r.place.scope.get("period") or ""),
        value=number(e.value),
        low=number(e.low) if interval else None,
        high=number(e.high) if interval else None,
        level=e.level,
        n=e.n,
        unit=str(r.details.get("unit", r.unit)),
        method=e.method,
    )


def results_digest(assessment: Assessment, say: Catalogue) -> str:
    """The sha256 of the results.json of a report."""
    return digest(canonical(document(assessment, provenance(assessment), say)))


def number(value: float) -> float:
    """A number with the digits of results.json."""
    return float(f"{value:.{SIGNIFICANT}g}")


def summary(plan: Plan, say: Catalogue) -> str:
    """What the device is for, and the notice that every page of the report has."""
    said = (stated(plan.intended_use.intended_purpose, say), declared.notice(plan, say))
    return say.between.join(filter(None, said))


def stated(value: Any, say: Catalogue) -> str:
    """A field of the manifest in words, or that it is not declared."""
    if value is None or value in ("", ()):
        return say("word.not_declared")
    return declared.text(value, say)
