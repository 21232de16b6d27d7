"""What is asked of the data: endpoints, families, subgroups, utilities, similarity, precision."""

import datetime as dt
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from trustreport.study.plan.fields import (
    Count,
    Group,
    GroupName,
    Protocol,
    Share,
    Text,
    as_several,
    declared,
    named,
    table_size,
)


class RiskLimits(Group):
    """How far a result must move the risk of the condition; sensitivity or specificity may be given."""

    pre_test: float = Field(gt=0, lt=1)
    after_positive: float | None = Field(default=None, gt=0, lt=1)
    after_negative: float | None = Field(default=None, gt=0, lt=1)
    sensitivity: Share | None = None
    specificity: Share | None = None

    @model_validator(mode="after")
    def _moves(self) -> "RiskLimits":
        if self.after_positive is None and self.after_negative is None:
            raise ValueError("after_positive or after_negative: the risk wished for after a result")
        if self.after_positive is not None and self.after_positive <= self.pre_test:
            raise ValueError("after_positive: above pre_test")
        if self.after_negative is not None and self.after_negative >= self.pre_test:
            raise ValueError("after_negative: below pre_test")
        return self


# What a number was computed with, as `scope.parameters` of results.json has it.
PlainParameter = bool | int | float | Text | tuple[float | Text, ...]
Parameter = PlainParameter | dict[Text, PlainParameter]


class Endpoint(Group):
    endpoint: Text = named("endpoint", "endpoint_id")
    role: Literal["primary", "secondary", "safety", "exploratory"] | None = declared("C")
    measure: Text | None = declared("C")
    of: Text | None = None
    arm_or_contrast: Text | tuple[Text, Text] | None = declared("C")
    population: Text | None = declared("C")
    hypothesis: (
        Literal["superiority", "non-inferiority", "equivalence", "performance goal", "estimation"] | None
    ) = declared("C")
    bound_or_margin: float | tuple[float, float] | None = declared("C")
    margin_rationale: Text | None = declared("C")
    alpha: float | None = Field(default=None, gt=0, lt=1)
    multiplicity_family: Text | None = declared("C")
    clinical_severity: Text | None = None
    hazard: Text | None = None
    owner: Text | None = None
    due: dt.date | None = None
    sides: Literal[1, 2] | None = None
    dataset: Text | None = None
    candidate: Text | tuple[Text, Text] | None = None
    set: Text | None = None
    task: Text | None = None
    site: Text | None = None
    subgroup: GroupName | None = None
    period: Text | None = None
    threshold: float | None = None
    class_: Text | None = Field(default=None, alias="class")
    protocol: Protocol | None = None
    reader: Text | None = None
    version: Text | None = None
    advice_type: Text | None = None
    metric: Text | None = None
    bins: Count | None = None
    tau: Share | None = None
    against: Literal["baseline", "previous"] | None = None
    prevalence: Share | None = None
    kind: Text | None = None
    weights: bool | None = None
    raters: tuple[Text, ...] | None = None
    parameters: dict[Text, Parameter] | None = None
    mean_over_classes: Literal[True] | None = None
    apparent: Literal[True] | None = None
    risk: RiskLimits | None = None

    @property
    def quantity(self) -> str:
        """The last part of the result id that the criterion names."""
        return (self.measure or "").rpartition(".")[2]

    @model_validator(mode="after")
    def _has_verdict(self) -> "Endpoint":
        if self.risk is not None and self.hypothesis in (None, "estimation"):
            raise ValueError("risk: beside a criterion with a hypothesis other than estimation")
        return self


class Family(Group):
    """Criteria that are judged together, and by which rule their alpha is kept.

    A graph needs `weights`: the share of alpha with which each criterion begins. `transitions` say, for each
    criterion that passes, which shares of its alpha go to which others. `after` names families that have to
    be met before this one is tested; with `opens_when: any` one of them is enough.
    """

    family: Text
    rule: Literal["holm", "hochberg", "bonferroni", "fixed sequence", "graph", "co-primary", "none"]
    alpha: float | None = Field(default=None, gt=0, lt=1)
    weights: dict[Text, Share] | None = None
    transitions: dict[Text, dict[Text, Share]] | None = None
    after: Annotated[tuple[Text, ...], BeforeValidator(as_several)] | None = Field(default=None, min_length=1)
    opens_when: Literal["all", "any"] | None = None


class Subgroup(Group):
    name: Text
    definition: Text | None = declared("C")
    breaks: tuple[float, ...] | None = Field(default=None, min_length=1)
    prespecified: bool | None = declared("C")
    protected_attribute: bool | None = None
    reference: Text | None = None
    min_positives: Count | None = None
    min_negatives: Count | None = None

    @field_validator("breaks")
    @classmethod
    def _upwards(cls, value: Any) -> Any:
        if value and any(low >= high for low, high in pairwise(value)):
            raise ValueError("numbers where a column is divided, the lowest first")
        return value


class UtilityMatrix(Group):
    """Utilities: a row for each decision, a column for each class; of two classes 0, 1 both.

    `classes` and `decisions` name columns and rows; `decisions` are the classes unless named.
    """

    name: Text
    matrix: tuple[tuple[float, ...], ...]
    classes: tuple[Text, ...] | None = None
    decisions: tuple[Text, ...] | None = None
    plus_minus: float | tuple[tuple[float, ...], ...] | None = None
    sd: float | tuple[tuple[float, ...], ...] | None = None
    probability: Share | None = None

    @model_validator(mode="after")
    def _alike(self) -> "UtilityMatrix":
        rows, columns = table_size(self, "matrix")
        if self.decisions is None and rows != columns:
            raise ValueError(f"decisions: a name for each of {rows} rows, as there are {columns} classes")
        if self.plus_minus is not None and self.sd is not None:
            raise ValueError("plus_minus (a uniform range) or sd (Gaussian errors), not both")
        for word, given in (("plus_minus", self.plus_minus), ("sd", self.sd)):
            if isinstance(given, tuple):
                if [len(row) for row in given] != [columns] * rows:
                    raise ValueError(f"{word}: a number, or a matrix of the same size")
                least = min(x for row in given for x in row)
            else:
                least = given or 0.0
            if least < 0:
                raise ValueError(f"{word}: 0 or more")
        return self


class Utility(Group):
    thresholds: tuple[float, ...] | None = None
    threshold_range: tuple[float, float] | None = None
    cost_fp: float | None = None
    cost_fn: float | None = None
    rationale: Text | None = None
    prevalence_range: tuple[Share, Share] | None = declared("P")
    minimum_accuracy: Share | None = None
    matrices: tuple[UtilityMatrix, ...] = ()


class LocalisationFacts(Group):
    """How marks are matched with lesions, and at which rates of false marks a case sensitivity is given."""

    acceptance_radius: float | None = Field(default=None, gt=0)
    false_marks_per_case: tuple[Annotated[float, Field(gt=0)], ...] | None = Field(
        default=None, min_length=1, max_length=20
    )

    @field_validator("false_marks_per_case")
    @classmethod
    def _upwards(cls, value: Any) -> Any:
        if value and any(low >= high for low, high in pairwise(value)):
            raise ValueError("numbers of false marks a case, the lowest first")
        return value


class Similarity(Group):
    standardise: Literal["training", "pooled", "none"] = "pooled"
    metric: Literal["euclidean", "cityblock"] = "euclidean"
    permutations: int = Field(default=9999, ge=1)
    seed: int | None = None
    missing: Literal["impute", "drop"] | None = None
    categorical: tuple[Text, ...] = ()
    subsample: int | None = Field(default=None, ge=2)
    most_cases: int = Field(default=3000, ge=20)


class PrecisionTarget(Group):
    max_ci_half_width: float | None = Field(default=None, gt=0)
    target_se: float | None = Field(default=None, gt=0)


class InternalSplits(Group):
    """What a model reached on random splits of the internal data, of one measure or of each of several."""

    metric: Text | None = None
    values: tuple[float, ...] | None = None
    measures: dict[Text, tuple[float, ...]] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _of_a_measure(self) -> "InternalSplits":
        if (self.metric is None) != (self.values is None):
            raise ValueError("metric and values, both or neither")
        if self.metric is None and not self.measures:
            raise ValueError("metric and values, or measures: {auc: [0.84, 0.86], brier: [0.15, 0.17]}")
        if self.metric in self.measures:
            raise ValueError(f"the splits of {self.metric} once: under metric or under measures")
        return self

    def values_of(self, metric: str) -> tuple[float, ...]:
        """The values of a measure, empty where none are declared."""
        if self.metric is not None and self.metric.lower() == metric:
            return self.values or ()
        return self.measures.get(metric, ())


class DiagramAxes(Group):
    """The measures on the axes of the external performance diagram."""

    discrimination: Literal[
        "auc", "accuracy", "balanced_accuracy", "youden_j", "mcc", "sensitivity", "specificity", "f1"
    ] = "auc"
    utility: Literal["standardized_net_benefit", "weighted_utility"] = "standardized_net_benefit"
    calibration: Literal["brier", "gici", "ece"] = "brier"
