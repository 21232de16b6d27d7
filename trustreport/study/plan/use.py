"""The device in use: the context of a procurement, the plan of vigilance, incidents and signals."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from trustreport.study.plan.fields import (
    Count,
    Date,
    Group,
    GroupName,
    Share,
    Text,
    as_several,
    declared,
    named,
)


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
