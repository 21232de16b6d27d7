"""How cases were read, how their truth was established, and the files and data sets that hold them."""

import re
from typing import Annotated, Literal

from pydantic import (
    BeforeValidator,
    Field,
    field_validator,
    model_validator,
)

from trustreport.study.plan.fields import (
    DAYS,
    Count,
    Date,
    Group,
    Share,
    Text,
    VerifiedShare,
    as_several,
    declared,
    named,
)
from trustreport.study.plan.sources import TableSource
from trustreport.vocabulary.kinds import Kind


class Exclusion(Group):
    reason: Text
    n: Count
    decided_before_results: bool | None = None


ComplexitySource = Literal["column", "raters", "errors", "confidence"]


class Complexity(Group):
    """How complex a case is: a column or what raters said of it, as it is or cut into two levels.

    Several sources are averaged, each on [0, 1]. With `proficiency` a rater weighs by the share of right
    answers.
    """

    source: Annotated[tuple[ComplexitySource, ...], BeforeValidator(as_several)] = ("column",)
    proficiency: bool = False
    scale: tuple[float, float] | None = None
    top: float | None = Field(default=None, gt=0, le=1)
    above: float | None = None
    rest: float = Field(default=0.5, ge=0, lt=1)
    relevance_weight: float | None = Field(default=None, ge=0, le=1)

    @model_validator(mode="after")
    def _one_cut(self) -> "Complexity":
        if self.top is not None and self.above is not None:
            raise ValueError("top or above, not both")
        if self.scale is not None and not self.scale[0] < self.scale[1]:
            raise ValueError("a scale of two numbers, the lower one first")
        if not self.source or len(set(self.source)) < len(self.source):
            raise ValueError("source: column, raters, errors or confidence, each once")
        return self


class HAccuracy(Group):
    """Parameters of an H-accuracy; `risk_threshold` is what `priority: risk` is made of."""

    tau: float | Literal["right_answers", "mean_confidence", "best_rater"] | None = None
    tau_share: float = Field(default=0.8, gt=0, le=1)
    priority: tuple[Share, ...] | Literal["raters", "prevalence", "rare_first", "risk"] | None = None
    risk_threshold: float | None = Field(default=None, gt=0, lt=1)
    complexity: bool = False
    complexity_from: Complexity | None = None

    @model_validator(mode="after")
    def _possible(self) -> "HAccuracy":
        if isinstance(self.tau, float | int) and not 0 < self.tau <= 1:
            raise ValueError("tau: a confidence from chance (1 / number of classes) to 1")
        if isinstance(self.priority, tuple) and abs(sum(self.priority) - 1) > 1e-6:
            raise ValueError("priority: shares that sum to 1")
        return self


class TableFile(TableSource):
    """A table of the study: where it comes from, and what it holds."""

    kind: Text | None = None
    task: Text | None = None
    candidate: Text | None = None
    dataset: Text | None = None
    measurement: Text | None = None

    @model_validator(mode="after")
    def _from_somewhere(self) -> "TableFile":
        if self.file is None and not self.is_fetched:
            raise ValueError("file, or sql or newest with url_env or connection")
        return self


class DatasetFacts(TableSource):
    dataset: Text = named("dataset", "dataset_id")
    role: Literal["training", "tuning", "internal test", "external", "local", "period"]
    features: tuple[Text, ...] | None = None
    h_accuracy: tuple[HAccuracy, ...] = ()
    source: Text | None = declared("C")
    sites: tuple[Text, ...] | None = declared("C")
    country: Text | None = None
    start_date: Date | None = declared("C")
    end_date: Date | None = declared("C")
    sampling: Literal["consecutive", "random", "enriched", "case-control", "convenience"] | None = declared(
        "C"
    )
    enrichment: Text | None = None
    eligibility: Text | None = declared("C")
    exclusions: tuple[Exclusion, ...] | None = declared("C")
    unit_of_analysis: Literal["patient", "exam", "lesion", "image", "slice", "frame"] | None = declared("C")
    cluster_keys: tuple[Text, ...] | None = declared("C")
    labels_provenance: Text | None = None
    licence: Text | None = None
    sha256: Text | None = declared("CPV")


HORIZON = re.compile(r"(\d+(?:\.\d+)?)\s*(days?|weeks?|months?|years?)?", re.IGNORECASE)


class Arm(Group):
    arm: Text = named("arm", "arm_id")
    label: Text | None = None
    aided: bool | None = None
    values: tuple[Text, ...] | None = None
    software_version: Text | None = None
    comparator_description: Text | None = declared("C")

    @property
    def is_aided(self) -> bool | None:
        """The flag, or what the names "aided" and "unaided" say without one."""
        return {"aided": True, "unaided": False}.get(self.arm) if self.aided is None else self.aided


class Reading(Group):
    design: Literal["crossover", "sequential", "parallel", "split-plot"] | None = declared("C")
    positive_from: float | None = None
    washout_days: float | None = declared("C", ge=0)
    order_assignment: Text | None = declared("C")
    case_order: Text | None = declared("C")
    blinded_to_reference: bool | None = declared("C")
    blinded_to_other_arm: bool | None = declared("C")
    prevalence_disclosed: bool | None = None
    time_limit: Text | None = None
    training_cases: Count | None = declared("C")
    viewing_conditions: Text | None = declared("C")
    initial_decision_recorded: bool | None = declared("C")
    rule_out_below: float | None = None
    unaided_seconds: float | None = declared(ge=0)
    aided_seconds: float | None = declared(ge=0)


class ReaderFacts(Group):
    reader: Text = named("reader", "reader_id")
    qualification: Text | None = declared("C")
    specialty: Text | None = None
    years_experience: float | None = declared("C", ge=0)
    annual_volume: float | None = None
    site: Text | None = None
    prior_use_of_device: bool | None = None
    employer_is_manufacturer: bool | None = None


class VerificationDesign(Group):
    """Which share of the cases a reference is drawn for at random, by the decision of the device.

    One share is that of the cases called negative; of those called positive all are verified then.
    """

    by: Literal["design"] = "design"
    share: VerifiedShare | dict[Literal["positive", "negative"], VerifiedShare]

    @property
    def shares(self) -> dict[int, float]:
        """The share of the cases called positive (1) and of those called negative (0) that are verified."""
        if not isinstance(self.share, dict):
            return {1: 1.0, 0: self.share}
        return {1: self.share.get("positive", 1.0), 0: self.share.get("negative", 1.0)}


ReferenceKind = Literal["exact", "error_prone", "raters", "surrogate", "composite", "latent_class", "none"]


class ReferenceStandard(Group):
    """How the truth was established, and how far it can be trusted.

    `sensitivity` and `specificity` are those of an error-prone reference, as known, or as measured where a
    `subset` of the cases was judged by a better one: how many labels were right, of how many.

    `rule` makes the truth of several tests, to whose columns it is mapped. A latent class needs the
    declaration that the device and the tests err independently, in cases with the condition and in others;
    `dependence` is the share of the largest possible covariance up to which two of them may not.
    """

    kind: ReferenceKind | None = None
    rule: Literal["any", "all", "majority"] | None = None
    conditional_independence: bool | None = None
    dependence: Share | None = None
    sensitivity: Share | tuple[Count, Count] | None = None
    specificity: Share | tuple[Count, Count] | None = None
    source: Text | None = None
    subset: Text | None = None
    definition: Text | None = declared("CPV")
    type: Text | None = declared("C")
    assessors: Text | None = None
    assessor_qualification: Text | None = None
    blinded_to_index: bool | None = declared("C")
    blinded_to_readers: bool | None = declared("C")
    includes_index_result: bool | None = None
    adjudication: Text | None = None
    interval_days: float | None = declared("C")
    applied_to: Literal["all", "positives", "subset"] | None = declared("CV")
    verification: VerificationDesign | None = None
    maturity_days: float | None = declared("V")
    rater_accuracy: Share | Literal["measured"] | dict[str, Share] | None = None
    label_scale: Literal["nominal", "ordinal"] | None = None

    @model_validator(mode="after")
    def _of_an_error(self) -> "ReferenceStandard":
        given = [self.sensitivity, self.specificity]
        if (given[0] is None) != (given[1] is None):
            raise ValueError("sensitivity and specificity of the reference, both or neither")
        if given[0] is None:
            return self
        rates = []
        for said in given:
            right, of = said if isinstance(said, tuple) else (said or 0.0, 1)
            if of == 0 or right > of:
                raise ValueError("a rate, or how many labels were right, of how many: [95, 100]")
            rates.append(right / of)
        if sum(rates) <= 1:
            raise ValueError("sensitivity and specificity of the reference: more than 1 together")
        return self

    @model_validator(mode="after")
    def _of_several_tests(self) -> "ReferenceStandard":
        latent = self.kind == "latent_class"
        if self.rule is None and (latent or self.kind == "composite"):
            raise ValueError(f"rule: any, all or majority, beside {self.kind}")
        if self.rule is not None and self.kind is None:
            raise ValueError("kind: composite, or exact where the rule is taken as right, beside rule")
        if latent and not self.conditional_independence:
            raise ValueError("conditional_independence: true, without which a latent class is not estimated")
        if latent and self.sensitivity is not None:
            raise ValueError("without sensitivity and specificity, which a latent class estimates")
        return self


class Measurement(Group):
    """What a table of values holds, and what would be good.

    `kind` is a row of `trustreport.vocabulary.kinds`. `scale` gives the lowest and the highest rating.
    `better` says which side is better where no value is right by itself. `acceptable` is the value from which
    (`better: up`) or up to which a case is acceptable; beside a reference the largest acceptable error.
    `judges` names the readers that are models. `read_by_people` says that the cases that people rated were
    drawn at random from those that the judges rated.
    """

    measurement: Text = named("measurement", "measurement_id")
    kind: Kind = "number"
    unit: Text | None = None
    scale: tuple[float, float] | None = None
    better: Literal["up", "down"] | None = None
    acceptable: float | None = None
    judges: Annotated[tuple[Text, ...], BeforeValidator(as_several)] = ()
    read_by_people: Literal["at_random"] | None = None

    @model_validator(mode="after")
    def _possible(self) -> "Measurement":
        if self.read_by_people is not None and not self.judges:
            raise ValueError("read_by_people: beside judges")
        if self.scale is not None and not self.scale[0] < self.scale[1]:
            raise ValueError("a scale of two numbers, the lowest first")
        if self.scale is not None and self.acceptable is not None and self.better is not None:
            low, high = self.scale
            if not low <= self.acceptable <= high:
                raise ValueError(f"acceptable: on the scale, from {low:g} to {high:g}")
        return self


class TimeToEvent(Group):
    """The truth of data sets with follow-up: whether an event happened by a horizon.

    `unit` is that of the column ``follow_up``. `competing` lists the codes of events after which the event
    cannot happen any more; an empty list says that there are none.
    """

    event: Text | None = None
    horizon: Text
    unit: Literal["days", "weeks", "months", "years"] | None = None
    competing: tuple[int, ...] | None = None

    @field_validator("horizon")
    @classmethod
    def _above_nothing(cls, value: str) -> str:
        found = HORIZON.fullmatch(value.strip())
        if found is None or not float(found[1]) > 0:
            raise ValueError('a number above 0, with or without its unit, as "5 years"')
        return value.strip()

    @field_validator("competing")
    @classmethod
    def _of_other_events(cls, value: tuple[int, ...] | None) -> tuple[int, ...] | None:
        if any(code < 2 for code in value or ()):
            raise ValueError("codes from 2 on; 0 is censored, 1 the event")
        return value

    @model_validator(mode="after")
    def _of_one_unit(self) -> "TimeToEvent":
        if self._parts[1] and self.unit is None:
            raise ValueError("unit: that of the column follow_up (days, weeks, months or years)")
        return self

    @property
    def _parts(self) -> tuple[str, str]:
        """The number of the horizon as typed, and its unit, empty without one."""
        found = HORIZON.fullmatch(self.horizon)
        assert found is not None
        return found[1], f"{found[2].lower().rstrip('s')}s" if found[2] else ""

    @property
    def in_unit(self) -> float:
        """The horizon in the unit of the column ``follow_up``."""
        number, unit = self._parts
        return float(number) * (DAYS[unit] / DAYS[self.unit] if unit and self.unit else 1.0)

    @property
    def written(self) -> str:
        """The horizon as the report writes it, with its unit where one is known."""
        number, unit = self._parts
        return self.horizon if unit or not self.unit else f"{number} {self.unit}"
