"""What was declared about a study: the manifest as frozen models, and what it leaves undeclared.

One class per group of the manifest. Unknown keys are errors. A field marked with the kinds of report that
need it (C certification, P procurement, V vigilance) may be absent; the report then prints NOT DECLARED.
"""

import datetime as dt
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from trustreport.study.limits import LIMITS

KINDS = {"C": "certification", "P": "procurement", "V": "vigilance"}
Kind = Literal["certification", "procurement", "vigilance"]
Language = Literal["en", "it", "fr", "de"]
NOT_DECLARED = "NOT DECLARED"
FIRST_YEAR, LAST_YEAR = 1900, 2200  # of the dates in a manifest
# Lists that say something when they are empty: no case was excluded.
EMPTY_IS_SAID = ("exclusions", "competing")


def as_typed(value: Any) -> Any:
    """A number as the text that was typed ("2.10", not 2.1), where the reader of the file kept it."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return getattr(value, "text", None) or repr(value)


def as_date(value: Any) -> Any:
    """A date as text; a bare number is refused, since it could be read as seconds since 1970."""
    if isinstance(value, int | float) or (isinstance(value, str) and value.strip().isdigit()):
        raise ValueError("a date as YYYY-MM-DD")
    return value


def in_this_age(value: dt.date) -> dt.date:
    """A date that somebody may mean; year 1 and year 9999 are what programs write for "none"."""
    if not FIRST_YEAR <= value.year <= LAST_YEAR:
        raise ValueError(f"a date from {FIRST_YEAR}-01-01 to {LAST_YEAR}-12-31")
    return value


def as_group(value: Any) -> Any:
    """A group of cases as ``attribute: group``, also where the manifest has it as a key and its value."""
    if isinstance(value, dict) and len(value) == 1:
        ((name, group),) = value.items()
        return f"{as_typed(name)}: {as_typed(group)}"
    return as_typed(value)


def as_coded(value: Any) -> Any:
    """What stands for a cell: true and false as 1 and 0, nothing as an empty cell."""
    return "" if value is None else str(int(value)) if isinstance(value, bool) else as_typed(value)


def as_several(value: Any) -> Any:
    """One word as a list of one."""
    return (value,) if isinstance(value, str) else value


def as_question(value: Any) -> Any:
    """A question in words alone, without what answers it."""
    return {"question": value} if isinstance(value, str | int | float) else value


Text = Annotated[str, BeforeValidator(as_typed)]
GroupName = Annotated[str, BeforeValidator(as_group)]
Date = Annotated[dt.date, BeforeValidator(as_date), AfterValidator(in_this_age)]
Moment = Annotated[dt.datetime | dt.date, BeforeValidator(as_date), AfterValidator(in_this_age)]
Count = Annotated[int, Field(ge=0, le=10**15)]
Asks = Literal["estimate", "claim", "comparison", "requirements", "protocols"]
Share = Annotated[float, Field(ge=0, le=1)]
# How a device is used beside a reader (`trustreport.measures.protocols`).
Protocol = Literal[
    "reader_alone", "device_alone", "second_reader", "consensus", "arbitration", "assistance", "triage"
]


def declared(marks: str = "", *aliases: str, **more: Any) -> Any:
    """An optional field; `marks` names the kinds of report for which it is mandatory (``"CPV"``)."""
    extra: Any = {"mandatory_for": [KINDS[m] for m in marks]} if marks else None
    if aliases:
        more["validation_alias"] = AliasChoices(*aliases)
    return Field(default=None, json_schema_extra=extra, **more)


def named(*spellings: str) -> Any:
    """A required field that may be spelled in more than one way."""
    return Field(validation_alias=AliasChoices(*spellings))


# Data, or other sources, on which a threshold may have been chosen, beside the names of data sets.
CHOSEN_ON_TESTED = ("test data", "internal test")
CHOSEN_ELSEWHERE = (
    *("development", "training", "tuning", "previous study"),
    *("literature", "guideline", "clinical rule", "manufacturer"),
)
HORIZON = re.compile(r"(\d+(?:\.\d+)?)\s*(days?|weeks?|months?|years?)?", re.IGNORECASE)
DAYS = {"days": 1.0, "weeks": 7.0, "months": 365.25 / 12, "years": 365.25}
MOST_CANDIDATES = 50  # each is compared with every other
MOST_TABULATED = 1_000_000  # cases of a table that is analysed case by case
LIMIT_ALIASES = {"harmful_switch_rate": "P29_harmful_switch_rate"}


class Group(BaseModel):
    """A group of the manifest: frozen, unknown keys refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, allow_inf_nan=False)


class Report(Group):
    kind: Kind
    title: Text | None = None
    language: Language = "en"
    rule_packs: tuple[Text, ...] | None = declared("CPV")
    confidence_level: float = Field(default=0.95, gt=0.5, lt=1)
    status: Literal["draft", "final", "superseded"] = "draft"
    supersedes: Text | None = None
    confidentiality: Text | None = None
    date: Date | None = None
    notice: Text | None = None
    page: Literal["A4", "Letter"] = "A4"
    release: Literal["internal", "public"] = "internal"


class Device(Group):
    trade_name: Text | None = declared("CPV")
    model: Text | None = None
    software_version: Text | None = declared("CPV")
    model_hash: Text | None = None
    basic_udi_di: Text | None = declared("C")
    udi_di: Text | None = declared("CV")
    udi_pi: Text | None = None
    emdn_code: Text | None = None
    risk_class: Text | None = declared("C")
    ai_act_classification: Text | None = None
    manufacturer: Text | None = declared("CPV")
    srn: Text | None = None
    authorised_representative: Text | None = None
    certificate_no: Text | None = declared("V")
    notified_body_no: Text | None = None
    market_status: Text | None = None
    locked_or_adaptive: Literal["locked", "adaptive"] | None = declared("CV")
    predetermined_changes: Text | None = None


class Population(Group):
    description: Text | None = None
    age_range: tuple[float, float] | None = None
    sex: Text | None = None
    setting: Text | None = None
    severity: dict[Text, Share] | None = None
    prevalence_expected: Share | None = declared("P")

    @field_validator("severity")
    @classmethod
    def _whole(cls, value: Any) -> Any:
        if value is not None and abs(sum(value.values()) - 1) > 1e-6:
            raise ValueError("the share of each level of severity; together 1")
        return value


class IntendedUse(Group):
    intended_purpose: Text | None = declared("CPV")
    medical_condition: Text | None = declared("C")
    intended_patient_population: Population | None = declared("CPV")
    intended_users: Text | None = declared("CPV")
    use_environment: Text | None = None
    decision_role: Text | None = declared("C")
    input_specification: Text | None = declared("C")
    output_type: Text | None = declared("C")
    contraindications: Text | None = None
    out_of_scope_uses: Text | None = declared("C")
    known_risks: Text | tuple[Text, ...] | None = None
    claimed_benefits: Text | tuple[Text, ...] | None = declared("C")
    age_range: tuple[float, float] | None = None
    sex: Text | None = None
    setting: Text | None = None
    prevalence_expected: Share | None = None

    @field_validator("intended_patient_population", mode="before")
    @classmethod
    def _population_in_words(cls, value: Any) -> Any:
        return {"description": value} if isinstance(value, str) else value


def _upwards(value: tuple[float, float]) -> tuple[float, float]:
    if not value[0] < value[1]:
        raise ValueError("two numbers, the lower one first")
    return value


# From where to where a score can run, in its own unit.
ScoreRange = Annotated[tuple[float, float], AfterValidator(_upwards)]


class OperatingPoint(Group):
    threshold: float | None = declared("CPV")
    score_range: ScoreRange | None = None
    scores_are_probabilities: bool | None = None
    score_direction: Literal["higher_is_positive", "lower_is_positive"] | None = declared("C")
    threshold_origin: Text | None = declared("C")
    threshold_chosen_on: Text | None = None
    threshold_fixed_on: Date | None = declared("C")
    indeterminate_rule: Text | None = declared("C")
    indeterminate_as: Literal["wrong", "positive", "negative"] | None = None
    fpr_groups: tuple[tuple[Share, Share], ...] | None = None

    @field_validator("fpr_groups")
    @classmethod
    def _upwards(cls, value: Any) -> Any:
        if any(low >= high for low, high in value or ()):
            raise ValueError("pairs of false positive rates, the lower one first")
        return value


class Claim(Group):
    measure: Text
    value: Text
    ci: tuple[Text, Text] | None = None
    population: Text | None = None
    source_document: Text | None = None
    section: Text | None = None
    arm: Text | None = None
    dataset: Text | None = None
    candidate: Text | None = None
    set: Text | None = None


class Ethics(Group):
    body: Text | None = None
    number: Text | None = None
    date: Text | None = None


class StudyFacts(Group):
    study_id: Text | None = declared("CPV")
    design: Text | None = declared("C")
    registration_no: Text | None = None
    protocol_version: Text | None = declared("C")
    sap_version: Text | None = declared("C")
    sap_locked_at: Moment | None = declared("C")
    data_opened_at: Moment | None = declared("C")
    prospective: bool | None = declared("C")
    simulated: bool = False
    sponsor: Text | None = declared("C")
    funding: Text | None = None
    conflicts_of_interest: Text | None = declared("C")
    ethics_approval: Ethics | None = declared("C")
    consent_basis: Text | None = None
    data_protection_basis: Text | None = None

    @field_validator("ethics_approval", mode="before")
    @classmethod
    def _ethics_in_words(cls, value: Any) -> Any:
        return {"number": value} if isinstance(value, str) else value


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


VerifiedShare = Annotated[float, Field(gt=0, le=1)]


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


class ReferenceStandard(Group):
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
    def at(self) -> float:
        """The horizon in the unit of the column ``follow_up``."""
        number, unit = self._parts
        return float(number) * (DAYS[unit] / DAYS[self.unit] if unit and self.unit else 1.0)

    @property
    def written(self) -> str:
        """The horizon as the report writes it, with its unit where one is known."""
        number, unit = self._parts
        return self.horizon if unit or not self.unit else f"{number} {self.unit}"


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


class Unpivot(Group):
    """Columns that repeat, turned into rows: one for each reader, rater or candidate.

    `columns` lists those of each word, or gives their pattern with one ``*`` (``{decision: dec_*}``).
    `names` says what each stands for, where it is not what the star stands for, or the header itself.
    """

    into: Text
    columns: dict[str, Annotated[tuple[Text, ...], BeforeValidator(as_several)]] = Field(min_length=1)
    names: tuple[Text, ...] | None = None


class FileForm(Group):
    """How a file was written, and what its columns are under our words."""

    columns: dict[str, Text | tuple[Text, ...] | dict[str, Text]] = Field(default_factory=dict)
    values: dict[str, dict[Text, Annotated[str, BeforeValidator(as_coded)]]] = Field(default_factory=dict)
    missing: Annotated[tuple[Text, ...], BeforeValidator(as_several)] = ()
    unpivot: Unpivot | None = None
    sheet: Text | None = None
    header_row: int | None = Field(default=None, ge=1, le=1000)
    skip_rows: tuple[Annotated[int, Field(ge=1)], ...] = ()
    date_format: Text | None = None
    delimiter: str | None = None
    decimal: Literal[".", ","] | None = None
    encoding: str | None = None


class TableFile(FileForm):
    """A table of the study: its file, and what it holds."""

    file: Text
    kind: Text | None = None
    task: Text | None = None
    candidate: Text | None = None
    dataset: Text | None = None


class DatasetFacts(FileForm):
    dataset: Text = named("dataset", "dataset_id")
    role: Literal["training", "tuning", "internal test", "external", "local", "period"]
    file: Text | None = None
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
        rows, columns = _table_size(self, "matrix")
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


def _table_size(named: Any, field: str) -> tuple[int, int]:
    """Rows and columns of a table whose `decisions` and `classes` may be named; ValueError of any other."""
    table = getattr(named, field)
    rows, columns = len(table), len(table[0]) if table else 0
    if rows < 2 or columns < 2 or any(len(row) != columns for row in table):
        raise ValueError(f"{field}: two or more rows, all of one length of two or more")
    for word, n, what in (("decisions", rows, "rows"), ("classes", columns, "columns")):
        names = getattr(named, word)
        if names is not None and (len(names) != n or len(set(names)) != n):
            raise ValueError(f"{word}: a name of its own for each of {n} {what}")
    return rows, columns


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

    def of(self, metric: str) -> tuple[float, ...]:
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


class Candidate(Group):
    """One of several devices, or a version of one: `follows` names the version that it replaces.

    `updated_for` are the data sets for whose cases the version was changed: test cases, none of those that
    it was trained with.
    """

    candidate: Text = named("candidate", "candidate_id")
    follows: Text | None = None
    updated_for: tuple[Text, ...] | None = None
    device: Device | None = None
    threshold: float | None = None
    score_range: ScoreRange | None = None
    scores_are_probabilities: bool | None = None
    processing_failures_rule: Text | None = declared("P")
    run_date: Date | None = None
    conflict: Text | None = None


SeveralAsks = Annotated[
    tuple[Asks, ...], BeforeValidator(as_several, json_schema_input_type=Asks | tuple[Asks, ...])
]


class Question(Group):
    """A question of the committee, and what of the results answers it.

    `asks` says how: the estimate, the estimate beside what was claimed, the candidates two by two, who
    meets what is required, or how the device could be used.
    """

    question: Text
    asks: SeveralAsks = ("estimate",)
    measure: Text | None = None
    of: Text | None = None
    candidate: Text | None = None
    dataset: Text | None = None
    site: Text | None = None
    subgroup: GroupName | None = None
    period: Text | None = None


Asked = Annotated[Question, BeforeValidator(as_question, json_schema_input_type=str | Question)]


class SiteContext(Group):
    department: Text | None = None
    annual_volume: Count | None = declared("P")
    local_prevalence: Share | None = declared("P")
    equipment: tuple[Text, ...] | None = None
    current_pathway: Text | None = None
    committee_questions: tuple[Asked, ...] | None = None
    decision_date: Date | None = None


class Indicator(Group):
    measure: Text
    in_control: float | None = None
    to_detect: float | None = None
    chart: Text | None = None
    false_alert_budget: float | None = None
    missed_alert_budget: float | None = None
    planned_cases: Count | None = None
    action: Text | None = None


class Vigilance(Group):
    plan_id: Text | None = declared("V")
    plan_version: Text | None = declared("V")
    baseline_dataset: Text | None = declared("V")
    period_start: Date | None = declared("V")
    period_end: Date | None = declared("V")
    period_index: Count | None = declared("V")
    versions_in_use: tuple[Text, ...] | None = declared("V")
    exposure_source: Text | None = declared("V")
    indicators: tuple[Indicator, ...] | None = declared("V")
    observation_period: Text | None = declared("V")
    planned_looks: Count | None = None
    data_cut: Date | None = None
    multiplicity_rule: Text | None = declared("V")
    label_maturity_rule: Text | None = declared("V")
    override_definition: Text | None = declared("V")
    recipients: Text | tuple[Text, ...] | None = None


class Incident(Group):
    incident: Text = named("incident", "incident_id")
    kind: Literal["incident", "complaint"] = "incident"
    event_date: Date | None = None
    awareness_date: Date | None = None
    description: Text | None = None
    imdrf_codes: tuple[Text, ...] | None = None
    seriousness: Text | None = None
    causality: Text | None = None
    reported_to: Text | None = None
    report_date: Date | None = None
    capa_id: Text | None = None
    due: Date | None = None
    status: Text | None = None


class Signal(Group):
    """A line of the signal register: each date is that of the step, absent while it was not taken."""

    signal: Text = named("signal", "signal_id")
    description: Text | None = None
    indicator: Text | None = None
    source: Text | None = None
    detected: Date | None = declared("V")
    validated: Date | None = None
    assessed: Date | None = None
    acted: Date | None = None
    closed: Date | None = None
    alternative_explanations: tuple[Text, ...] | None = None
    action: Text | None = None
    outcome: Text | None = None
    owner: Text | None = declared("V")
    decided_by: Text | None = None
    due: Date | None = None


class Document(Group):
    id: Text
    kind: Text | None = None
    version: Text | None = None
    date: Text | None = None
    title: Text | None = None


class Approval(Group):
    name: Text | None = declared("CPV")
    role: Text | None = declared("C")
    meaning: Text | None = declared("C")
    signed_at: Moment | None = None
    signature_ref: Text | None = None


class Amendment(Group):
    date: Text | None = None
    field: Text | None = None
    old: Text | None = None
    new: Text | None = None
    reason: Text | None = None
    before_data_opened: bool | None = None


class CountsRow(Group):
    """Errors and right decisions of one arm of a published table."""

    set: Text
    arm: Text
    errors: Count
    correct: Count
    readers: Count | None = None
    cases: Count | None = None
    paired: bool | None = None


class PairedCounts(Group):
    """Decisions of two arms on the same cases, cross-tabulated by whether they were right."""

    set: Text
    both_right: Count
    aided_right_unaided_wrong: Count
    aided_wrong_unaided_right: Count
    both_wrong: Count
    readers: Count | None = None
    cases: Count | None = None


class Confusion(Group):
    set: Text
    candidate: Text | None = None
    tp: Count
    fp: Count
    fn: Count
    tn: Count
    indeterminate_positives: Count | None = None
    indeterminate_negatives: Count | None = None
    frames_per_finding: Count | None = Field(default=None, gt=0)
    readers: Count | None = None
    cases: Count | None = None
    paired: bool | None = None

    @model_validator(mode="after")
    def _frames(self) -> "Confusion":
        if self.frames_per_finding and self.tn < (self.frames_per_finding - 1) * (self.tp + self.fn):
            raise ValueError("frames_per_finding: not more frames with findings than there are frames")
        return self


class ConfusionTable(Group):
    """Cases by decision (rows) and class (columns): more than two classes, or other decisions."""

    set: Text
    candidate: Text | None = None
    classes: tuple[Text, ...]
    decisions: tuple[Text, ...] | None = None
    table: tuple[tuple[Count, ...], ...]

    @model_validator(mode="after")
    def _whole(self) -> "ConfusionTable":
        rows, columns = _table_size(self, "table")
        if self.decisions is None and rows != columns:
            raise ValueError(f"decisions: a name for each of {rows} rows, as there are {columns} classes")
        if (rows, columns) == (2, 2):
            raise ValueError(
                "table: more than two classes or decisions; tp, fp, fn, tn of confusion are of two"
            )
        other = self.decisions is not None and self.decisions != self.classes
        if other and set(self.decisions or ()) == set(self.classes):
            raise ValueError("decisions: in the order of the classes, where they are the same")
        _tabulated(self.table)
        return self


class JointDecisions(Group):
    """Decisions of two candidates on the same cases: of each class a table, rows the first.

    Classes and decisions are in the order of the candidates' tables; of two classes 0, 1.
    """

    set: Text
    candidates: tuple[Text, Text]
    by_truth: tuple[tuple[tuple[Count, ...], ...], ...]

    @model_validator(mode="after")
    def _square(self) -> "JointDecisions":
        n = len(self.by_truth[0]) if self.by_truth else 0
        if len(self.by_truth) < 2 or n < 2 or any(len(r) != n for t in self.by_truth for r in (t, *t)):
            raise ValueError("by_truth: a square table for each class, all of one size")
        if self.candidates[0] == self.candidates[1]:
            raise ValueError("candidates: two of them")
        _tabulated(tuple(row for table in self.by_truth for row in table))
        return self


def _tabulated(table: tuple[tuple[int, ...], ...]) -> None:
    if sum(map(sum, table)) > MOST_TABULATED:
        raise ValueError(f"at most {MOST_TABULATED:,} cases")


class StudyPool(Group):
    """Published tables that are pooled: `sets` of `confusion`, all of them where it is absent."""

    pool: Text
    sets: tuple[Text, ...] | None = Field(default=None, min_length=1)
    rationale: Text | None = None


class RelianceCounts(Group):
    """Decisions by unaided, advice, aided: 1 = right, so n011 counts errors corrected after right advice."""

    set: Text
    n000: Count
    n001: Count
    n010: Count
    n011: Count
    n100: Count
    n101: Count
    n110: Count
    n111: Count


class Nomogram(Group):
    set: Text
    accuracy: Share
    weighted_concordance: Share


class Reported(Group):
    """Figures as somebody printed them; each is kept as typed, so that "0.80" has two decimals."""

    set: Text
    positives: Count | None = None
    negatives: Count | None = None
    total: Count | None = None
    metrics: dict[str, Text]
    rounding: Literal["rounded", "truncated"] = "rounded"

    @model_validator(mode="after")
    def _totals(self) -> "Reported":
        if self.total is None and self.positives is None and self.negatives is None:
            raise ValueError("positives, negatives or total")
        return self


# Measures on the axes of the external performance diagram, and what each can be.
ON_AXES = {
    **dict.fromkeys(("auc", "accuracy", "balanced_accuracy", "sensitivity", "specificity"), (0.0, 1.0)),
    **dict.fromkeys(("f1", "brier", "gici", "ece"), (0.0, 1.0)),
    **dict.fromkeys(("youden_j", "mcc"), (-1.0, 1.0)),
    **dict.fromkeys(("standardized_net_benefit", "weighted_utility"), (float("-inf"), 1.0)),
}


MOST_ROUNDED = 0.01  # by which a printed difference may differ from that of two printed values


class PublishedValue(Group):
    """A value as somebody printed it, with its interval where that was printed too."""

    value: float
    ci: tuple[float, float] | None = None

    @model_validator(mode="after")
    def _inside(self) -> "PublishedValue":
        if self.ci is not None and not self.ci[0] <= self.value <= self.ci[1]:
            raise ValueError("an interval of two numbers, the lower one first, that includes the value")
        return self

    def __contains__(self, limits: tuple[float, float]) -> bool:
        """Whether value and interval are within what is possible."""
        return all(limits[0] <= x <= limits[1] for x in (self.value, *(self.ci or ())))


def as_published(value: Any) -> Any:
    """A number alone as a value without an interval."""
    return {"value": value} if isinstance(value, int | float) and not isinstance(value, bool) else value


Published = Annotated[
    PublishedValue, BeforeValidator(as_published, json_schema_input_type=float | PublishedValue)
]


def once(names: list[str], what: str) -> None:
    """Refuse a published table without rows, or with two of one name."""
    if not names:
        raise ValueError(f"at least one {what}")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"each {what} once; {name} is there {names.count(name)} times")


class PublishedReader(Group):
    """One reader of a published study: without the aid, and with it or the difference, or both as printed."""

    reader: Text = named("reader", "reader_id")
    stratum: Text | None = None
    unaided: Share
    aided: Share | None = None
    difference: Published | None = None

    @model_validator(mode="after")
    def _agree(self) -> "PublishedReader":
        if self.aided is None and self.difference is None:
            raise ValueError("aided, or difference (aided minus unaided)")
        if self.difference is not None:
            aided = self.unaided + self.difference.value
            if not 0 <= aided <= 1:
                raise ValueError("a difference that leaves the aided value between 0 and 1")
            if self.aided is not None and abs(self.aided - aided) > MOST_ROUNDED + 1e-9:
                raise ValueError(f"a difference of {self.aided - self.unaided:.3g} (aided minus unaided)")
        return self


class PublishedReaders(Group):
    """The readers of a published study, as its table or its benefit diagram shows them."""

    set: Text
    measure: Literal["accuracy", "sensitivity", "specificity", "balanced_accuracy", "auc"] = "accuracy"
    cases: Count | None = None
    mean: Published | None = None
    readers: tuple[PublishedReader, ...]

    @model_validator(mode="after")
    def _each_once(self) -> "PublishedReaders":
        once([one.reader for one in self.readers], "reader")
        return self


class PublishedMeasures(Group):
    """Measures on the axes of the external performance diagram, as somebody printed them."""

    auc: Published | None = None
    accuracy: Published | None = None
    balanced_accuracy: Published | None = None
    youden_j: Published | None = None
    mcc: Published | None = None
    sensitivity: Published | None = None
    specificity: Published | None = None
    f1: Published | None = None
    standardized_net_benefit: Published | None = Field(
        None, validation_alias=AliasChoices("standardized_net_benefit", "net_benefit")
    )
    weighted_utility: Published | None = None
    brier: Published | None = None
    gici: Published | None = None
    ece: Published | None = None

    @model_validator(mode="after")
    def _possible(self) -> "PublishedMeasures":
        for name, limits in ON_AXES.items():
            given = getattr(self, name)
            if given is not None and limits not in given:
                least = f"from {limits[0]:g} to" if limits[0] > float("-inf") else "at most"
                raise ValueError(f"{name}: a number {least} {limits[1]:g} (0.81, not 81)")
        return self

    def of(self, measure: str) -> PublishedValue | None:
        """A measure, where it was printed."""
        found: PublishedValue | None = getattr(self, measure)
        return found


class PublishedTraining(PublishedMeasures):
    n: Count = Field(ge=2)


class PublishedSite(PublishedMeasures):
    """One external set of a published validation; `n` and `positives` as printed."""

    site: Text
    similarity: Share
    n: Count | None = None
    positives: Count | None = None
    p_performance: Share | None = None
    p_acceptability: Share | None = None

    @model_validator(mode="after")
    def _counts(self) -> "PublishedSite":
        if self.positives is not None and (self.n is None or self.positives > self.n):
            raise ValueError("n, and positives not more than n")
        return self


class PublishedSites(Group):
    """A published external validation, as its table or its external performance diagram shows it.

    `training` is what the model reached on the training data, `worst_split` the worst of internal splits;
    `level` is that of the printed intervals, `threshold` that of net benefit. The p-values of a site are of
    its discrimination.
    """

    set: Text
    level: float = Field(default=0.95, gt=0.5, lt=1)
    threshold: float | None = Field(default=None, gt=0, lt=1)
    training: PublishedTraining | None = None
    worst_split: PublishedMeasures | None = None
    sites: tuple[PublishedSite, ...]

    @model_validator(mode="after")
    def _each_once(self) -> "PublishedSites":
        once([one.site for one in self.sites], "site")
        return self


class Plan(Group):
    """The manifest: what a study declares about itself, frozen."""

    report: Report
    device: Device
    intended_use: IntendedUse = IntendedUse()
    operating_point: OperatingPoint = OperatingPoint()
    performance_claims: tuple[Claim, ...] | None = declared("CPV")
    study: StudyFacts = StudyFacts()
    arms: tuple[Arm, ...] = ()
    reading: Reading = Reading()
    readers: tuple[ReaderFacts, ...] = ()
    reference_standard: ReferenceStandard = ReferenceStandard()
    time_to_event: TimeToEvent | None = None
    datasets: tuple[DatasetFacts, ...] = ()
    tables: dict[str, TableFile] = Field(default_factory=dict)
    endpoints: tuple[Endpoint, ...] = ()
    families: tuple[Family, ...] = ()
    subgroups: tuple[Subgroup, ...] = ()
    utility: Utility = Utility()
    similarity: Similarity = Similarity()
    external_performance: DiagramAxes = DiagramAxes()
    localisation: LocalisationFacts = LocalisationFacts()
    internal_splits: InternalSplits | None = None
    precision_targets: dict[str, PrecisionTarget] = Field(default_factory=dict)
    candidates: tuple[Candidate, ...] = Field((), json_schema_extra={"maxItems": MOST_CANDIDATES})
    site_context: SiteContext | None = declared("P")
    vigilance: Vigilance | None = declared("V")
    incidents: tuple[Incident, ...] = ()
    signals: tuple[Signal, ...] = ()
    documents: tuple[Document, ...] = ()
    approvals: tuple[Approval, ...] | None = declared("CPV")
    amendments: tuple[Amendment, ...] = ()
    limits: dict[str, float] = Field(
        default_factory=dict, json_schema_extra={"propertyNames": {"enum": [*LIMITS, *LIMIT_ALIASES]}}
    )
    counts: tuple[CountsRow, ...] = ()
    paired_counts: tuple[PairedCounts, ...] = ()
    confusion: tuple[Confusion, ...] = ()
    confusion_tables: tuple[ConfusionTable, ...] = ()
    joint_decisions: tuple[JointDecisions, ...] = ()
    pools: tuple[StudyPool, ...] = ()
    reliance_counts: tuple[RelianceCounts, ...] = ()
    nomogram: tuple[Nomogram, ...] = ()
    reported: tuple[Reported, ...] = ()
    published_readers: tuple[PublishedReaders, ...] = ()
    published_sites: tuple[PublishedSites, ...] = ()

    def limit(self, name: str) -> float:
        """A limit of a check: declared, else the customary one.

        Raises
        ------
        LookupError : there is no customary one
        """
        value = self.limits.get(name, LIMITS[name].customary)
        if value is None:
            raise LookupError(f"{name} has no customary value")
        return value

    def threshold_of(self, candidate: str = "") -> float | None:
        """The threshold of a candidate's scores: its own, else that of the operating point."""
        own = (c.threshold for c in self.candidates if c.candidate == candidate and c.threshold is not None)
        return next(own, self.operating_point.threshold)

    def score_range_of(self, candidate: str = "") -> tuple[float, float] | None:
        """The range of the scores of a candidate: its own, else that of the operating point."""
        own = (c.score_range for c in self.candidates if c.candidate == candidate and c.score_range)
        return next(own, self.operating_point.score_range)

    def risk_range_of(self, candidate: str = "") -> tuple[float, float] | None:
        """The scores of a candidate that mean probability 0 and 1; None where they are declared to be none.

        Without a declaration they are taken as they are.
        """
        own = (c.scores_are_probabilities for c in self.candidates if c.candidate == candidate)
        said = next((s for s in own if s is not None), self.operating_point.scores_are_probabilities)
        return None if said is False else (said and self.score_range_of(candidate)) or (0.0, 1.0)

    @property
    def risk_threshold(self) -> float | None:
        """The threshold of the operating point as a probability, where its scores are declared to be such."""
        at = self.operating_point.threshold
        low, high = self.risk_range_of() or (0.0, 1.0)
        return at if at is None else (at - low) / (high - low)

    @field_validator("limits", mode="before")
    @classmethod
    def _one_spelling(cls, value: Any) -> Any:
        """Aliases of limits under their first spelling, which counts where both are there."""
        if not isinstance(value, dict):
            return value
        first = {LIMIT_ALIASES[k]: v for k, v in value.items() if k in LIMIT_ALIASES}
        return {**first, **{k: v for k, v in value.items() if k not in LIMIT_ALIASES}}

    @field_validator("candidates", mode="before")
    @classmethod
    def _few_candidates(cls, value: Any) -> Any:
        if isinstance(value, list) and len(value) > MOST_CANDIDATES:
            raise ValueError(f"at most {MOST_CANDIDATES} candidates: each is compared with every other")
        return value

    @property
    def contrasts(self) -> tuple[tuple[str, str], ...]:
        """Pairs of arms to compare, the aided one first; ("aided", "unaided") where none is declared."""
        if not self.arms:
            return (("aided", "unaided"),)
        aided = [a.arm for a in self.arms if a.is_aided]
        return tuple((a, b.arm) for a in aided for b in self.arms if b.is_aided is False)

    @property
    def declared_prevalence(self) -> float | None:
        """The prevalence where the device is to be used: here, else as the intended use says."""
        local = self.site_context.local_prevalence if self.site_context else None
        return self.expected_prevalence if local is None else local

    @property
    def prevalences(self) -> tuple[float, ...]:
        """The prevalence where the device is to be used, then that of the intended use, where declared."""
        declared = (self.declared_prevalence, self.expected_prevalence)
        return tuple(dict.fromkeys(share for share in declared if share is not None))

    @property
    def expected_prevalence(self) -> float | None:
        """The prevalence that the intended use expects, where it is declared."""
        population = self.intended_use.intended_patient_population
        declared = population.prevalence_expected if population else None
        return self.intended_use.prevalence_expected if declared is None else declared


def undeclared(group: BaseModel, kind: Kind) -> Iterator[str]:
    """Paths of the fields that a report of this kind requires and that the manifest leaves out."""
    return (path for path, is_declared in required(group, kind) if not is_declared)


def required(group: BaseModel, kind: Kind, path: str = "") -> Iterator[tuple[str, bool]]:
    """Paths of the fields that a report of this kind requires, and whether the manifest declares each."""
    for name, info in type(group).model_fields.items():
        value = getattr(group, name)
        here = f"{path}.{name}" if path else name
        extra = info.json_schema_extra
        mandatory = extra.get("mandatory_for", ()) if isinstance(extra, dict) else ()
        empty = value is None or (value in ("", ()) and name not in EMPTY_IS_SAID)
        if kind in mandatory:  # type: ignore[operator]
            yield here, not empty
        if isinstance(value, BaseModel):
            yield from required(value, kind, here)
        elif isinstance(value, tuple):
            for i, item in enumerate(value):
                if isinstance(item, BaseModel):
                    yield from required(item, kind, f"{here}[{i}]")
