"""How cases were read and how their truth was established: arms, readers, reference standard, follow-up."""

import re
from typing import Literal

from pydantic import field_validator, model_validator

from trustreport.study.plan.fields import DAYS, Count, Group, Share, Text, VerifiedShare, declared, named

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
