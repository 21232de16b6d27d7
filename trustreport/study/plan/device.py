"""What is tested, for what use and where, who answers for it: device, claims, vigilance, approvals."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from trustreport.study.plan.fields import (
    Count,
    Date,
    Group,
    GroupName,
    Kind,
    Moment,
    ScoreRange,
    Share,
    Text,
    as_several,
    declared,
    named,
)

Language = Literal["en", "it", "fr", "de"]
# Data, or other sources, on which a threshold may have been chosen, beside the names of data sets.
CHOSEN_ON_TESTED = ("test data", "internal test")
CHOSEN_ELSEWHERE = (
    *("development", "training", "tuning", "previous study"),
    *("literature", "guideline", "clinical rule", "manufacturer"),
)


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


def as_question(value: Any) -> Any:
    """A question in words alone, without what answers it."""
    return {"question": value} if isinstance(value, str | int | float) else value


Asks = Literal["estimate", "claim", "comparison", "requirements", "protocols"]
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

    @property
    def is_serious(self) -> bool:
        """Whether it is declared as serious, in whatever words."""
        declared = (self.seriousness or "").strip().casefold()
        return bool(declared) and not declared.startswith(("not ", "non"))

    @property
    def is_closed(self) -> bool:
        """Whether its status says that nothing is left to do."""
        return (self.status or "").strip().casefold() in ("closed", "resolved", "done")


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
