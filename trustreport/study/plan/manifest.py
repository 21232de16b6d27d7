"""The whole manifest as one frozen model, and what it leaves undeclared."""

import re
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, Field, field_validator

from trustreport.study.limits import LIMITS
from trustreport.study.plan.analysis import (
    DiagramAxes,
    Endpoint,
    Family,
    InternalSplits,
    LocalisationFacts,
    PrecisionTarget,
    Similarity,
    Subgroup,
    Utility,
)
from trustreport.study.plan.data import (
    Arm,
    DatasetFacts,
    Measurement,
    ReaderFacts,
    Reading,
    ReferenceStandard,
    TableFile,
    TimeToEvent,
)
from trustreport.study.plan.device import (
    Amendment,
    Approval,
    Candidate,
    Claim,
    Device,
    Document,
    Incident,
    IntendedUse,
    OperatingPoint,
    Report,
    Signal,
    SiteContext,
    StudyFacts,
    Vigilance,
)
from trustreport.study.plan.fields import MOST_CANDIDATES, Group, Kind, declared
from trustreport.study.plan.published import (
    Confusion,
    ConfusionTable,
    CountsRow,
    JointDecisions,
    Nomogram,
    PairedCounts,
    PublishedReaders,
    PublishedSites,
    RelianceCounts,
    Reported,
    StudyPool,
)

# Lists that say something when they are empty: no case was excluded.
EMPTY_IS_SAID = ("exclusions", "competing")
LIMIT_ALIASES = {"harmful_switch_rate": "P29_harmful_switch_rate"}


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
    measurements: tuple[Measurement, ...] = ()
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

    def measurement_of(self, name: str) -> Measurement | None:
        """What is declared of a measurement, or of the metric of which it is (``dice, liver``)."""
        declared = {m.measurement: m for m in self.measurements}
        return declared.get(name) or declared.get(name.partition(", ")[0])

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


def undeclared_fields(plan: Plan) -> dict[str, list[str]]:
    """The same for the report of a plan by field: of a list the places of all items that lack it."""
    found: dict[str, list[str]] = {}
    for path in undeclared(plan, plan.report.kind):
        found.setdefault(re.sub(r"\[\d+\]", "", path), []).append(path)
    return found


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
