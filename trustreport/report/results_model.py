"""The model of results.json, from which its schema is written."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from trustreport.measures.estimate import Limit
from trustreport.study.plan import Language


class ResultsModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class Scope(ResultsModel):
    """What a number is of; each key only where it applies."""

    population: str | None = Field(default=None, description="whom it is of, where not of these cases")
    arms: tuple[str, ...] | None = Field(default=None, description="compared arm first, baseline second")
    arm: str | None = None
    set: str | None = Field(default=None, description="one of several published tables")
    dataset: str | None = None
    datasets: tuple[str, ...] | None = Field(default=None, description="those that it rests on, of several")
    reference: str | None = Field(default=None, description="data set that it is compared with")
    reader: str | None = None
    raters: tuple[str, ...] | None = None
    site: str | None = None
    subgroup: str | None = None
    period: str | None = Field(default=None, description="a data set of routine use")
    candidate: str | None = None
    candidates: tuple[str, str] | None = Field(default=None, description="compared candidate first")
    version: str | None = None
    task: str | None = None
    class_: str | None = Field(default=None, alias="class")
    advice_type: str | None = None
    protocol: str | None = None
    complexity: str | None = None
    endpoint: str | None = Field(default=None, description="the quantity that a value or change is of")
    analysis: str | None = None
    threshold: float | None = None
    parameters: dict[str, Any] | None = Field(default=None, description="what was chosen: tau, bins, margin")


class ResultEntry(ResultsModel):
    """One number of the report. A null is explained by the note."""

    id: str = Field(pattern=r"^[a-z_]+\.[a-z0-9_]+$")
    quantity: str = Field(description="what it is, whatever the id; docs/quantities.md lists them")
    cases: str = Field(
        pattern=r"^([0-9a-f]{16})?$",
        description="which cases it is of: equal for equal cases; empty where it is of none or of counts",
    )
    scope: Scope
    value: float | None
    low: float | None
    high: float | None
    level: float = Field(gt=0, lt=1)
    se: float | None
    n: int = Field(ge=0, description="denominator")
    unit: str
    method: str
    method_text: str
    p: float | None
    df: float | None
    primary: bool = Field(description="whether the report leads with this entry, unless a limit is short")
    short: list[Limit] = Field(description="limits on which no verdict rests; the note says why")
    note: str
    source: str
    details: dict[str, Any] = Field(description="what was computed on the way")


class IntervalQuantity(ResultsModel):
    """What is known of the quantity of an entry before any data are seen: docs/quantities.md."""

    id: str
    better: Literal["up", "down"] | float | None = Field(description="better side, or the one best value")
    no_effect: float | None
    low: float | None = Field(description="end of the possible range; null where there is none")
    high: float | None
    base: str = Field(description="what differs, where it is a difference; else the quantity itself")
    counts_decisions: bool = Field(description="D, of the quantity or of the endpoint")


class Interval(ResultsModel):
    """An entry that answers a criterion, with its interval at a level at which the criterion was tested."""

    id: str
    scope: Scope
    method: str
    level: float
    value: float | None
    low: float | None
    high: float | None
    se: float | None
    infinite: list[Literal["value", "low", "high"]] = Field(description="null because infinite")
    short: list[Limit] = Field(description="limits on which no verdict rests")
    data: list[tuple[str, str]] = Field(description="kind and name of the data that it rests on")
    quantity: IntervalQuantity


class Withheld(ResultsModel):
    """What a block withholds among what rests on its data: of which numbers, which verdicts."""

    numbers: Literal[
        "all", "decisions", "labels", "sample", "undefined", "these cases", "group", "changes", "none"
    ]
    verdicts: Literal["all", "inconclusive"]


class CheckEntry(ResultsModel):
    """What one check of the pitfall register found."""

    check: str = Field(pattern=r"^P\d\d$")
    dimension: str
    severity: Literal["B", "W", "N"]
    status: Literal["fired", "clear", "cannot run"]
    message: str
    scope: Scope
    quantities: list[str] = Field(description="those that it concerns; empty: all of the scope")
    data: list[tuple[str, str]] = Field(description="kind and name of the data; empty: all")
    withholds: Withheld | None = Field(description="null unless it is a block that fired")


class Open(ResultsModel):
    """A question without an answer, and why."""

    dimension: str
    question: str
    reason: str


class VerdictFamily(ResultsModel):
    """The family of a criterion; `met` is null where neither its rule nor a family that waits asks for it."""

    family: str
    rule: str
    size: int = Field(ge=1)
    met: bool | None


class LockedVerdict(ResultsModel):
    """The verdict on the same results under the criterion as it was locked."""

    bound: float | tuple[float, float] | None = Field(description="the locked bound or margin, as declared")
    verdict: Literal["pass", "fail", "inconclusive", "not assessable", "not tested"]
    alpha: float | None
    level: float | None


class VerdictRisk(ResultsModel):
    """A likelihood ratio that moves the declared risk far enough, and the one measured."""

    measure: Literal["lr_positive", "lr_negative"]
    pre_test: float
    after: float = Field(description="risk wished for after a positive or a negative result")
    needed: float = Field(description="least positive, or greatest negative, likelihood ratio")
    verdict: Literal["pass", "fail", "inconclusive", "not assessable"]
    value: float | None
    low: float | None
    high: float | None
    text: str


class VerdictEntry(ResultsModel):
    """An endpoint held against its criterion; a criterion that is only estimated has none."""

    endpoint: str
    verdict: Literal["pass", "fail", "inconclusive", "not assessable", "not tested"]
    reason: str
    role: str | None
    measure: str | None
    hypothesis: str | None
    above: float | None = Field(description="the whole interval must be above this bound")
    below: float | None = Field(description="the whole interval must be below this bound")
    alpha: float | None = Field(description="after the rule of the family")
    level: float | None = Field(description="of the interval that is compared with the bound")
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    id: str | None = Field(description="result that answers, at this level")
    scope: Scope | None
    method: str | None
    family: VerdictFamily | None
    checks: list[str] = Field(description="blocks that withhold the verdict")
    n_needed: int | None
    locked: LockedVerdict | None = Field(description="null where the criterion is unchanged since the lock")
    risk: list[VerdictRisk] = Field(description="limits from the declared risks, at the criterion's level")
    rates_needed: dict[Literal["sensitivity", "specificity"], float] = Field(
        description="for these limits, where the other is given; both where neither is; above 1: unattainable"
    )


class LockChange(ResultsModel):
    """A field of the manifest that is not what was locked first."""

    field: str
    old: Any = Field(description="null where there was none; the whole of an item that is gone")
    new: Any = Field(description="null where there is none; the whole of an item that was added")
    criteria: list[str] = Field(description="declared criteria that rest on it")
    locked_criteria: list[str] = Field(
        description="locked criteria that rest on it, where one was amended and this is no change of criteria"
    )
    amendment: Literal["before", "after", "undeclared"]


class DeclaredCriteria(ResultsModel):
    """The criteria as a manifest declares them, with what else of it decides how they are judged."""

    endpoints: list[dict[str, Any]] = Field(description="keys as in the manifest, those declared only")
    families: list[dict[str, Any]]
    confidence_level: float


class Criteria(ResultsModel):
    """What is declared, and how the manifest compares with its lock."""

    state: Literal["locked", "amended", "changed", "declared", "none"]
    covers: Literal["manifest", "criteria"] | None = Field(
        description="what the lock covers: all of the manifest that decides a number, or the criteria alone "
        "(older form); null without a lock"
    )
    sha256: str = Field(description="of what the lock covers, as it is declared now")
    locked_sha256: str | None = Field(description="of what was locked first")
    late: bool = Field(description="fixed after the data were opened, as the manifest or a time stamp says")
    time_stamp: str | None
    changes: list[LockChange]
    threshold: float | None = Field(description="of the declared operating point")
    prevalence: float | None = Field(description="declared, where the device is to be used")
    declared: DeclaredCriteria
    locked: DeclaredCriteria | None = Field(description="as they were locked, where they were changed since")


class FigureEntry(ResultsModel):
    """A figure: what it shows in words, and the values drawn."""

    id: str
    alt: str
    values: list[dict[str, Any]]


class InputQuery(ResultsModel):
    """The query of a database that a table comes from."""

    sql: str
    parameters: dict[str, bool | int | float | str]
    database: str = Field(description="the variable or connection that names it, never its address")


class InputExport(ResultsModel):
    """The export in a folder or bucket that a table was read from."""

    newest: str = Field(description="the pattern that it was the newest of")
    file: str = Field(description="its path below the folder or bucket")
    modified: str = Field(description="when it was changed last, in UTC; empty where nobody said so")
    source: str = Field(description="the variable or connection that names the folder or bucket")


class Input(ResultsModel):
    file: str
    table: str
    sha256: str = Field(description="of the file; of a table from a query, of its rows as CSV")
    bytes: int
    rows: int
    used: int
    dropped: dict[str, int]
    query: InputQuery | None = Field(default=None, description="absent where the table is a file")
    export: InputExport | None = Field(default=None, description="absent where the table is no export")
    signer: str | None = Field(
        default=None, description="of a file that a site signed: whose known key it is"
    )


class Provenance(ResultsModel):
    trustreport: str
    versions: dict[str, str]
    inputs: list[Input]
    seed: int | None
    iterations: dict[str, int]


class TaskSummary(ResultsModel):
    task: str
    n_readers: int
    n_cases: int
    n_positive: int
    n_negative: int
    n_without_truth: int
    readings: dict[str, int] = Field(description="readings present per arm")
    missing: dict[str, int] | None = Field(
        description="readings absent per arm, null where the design decides"
    )


class StudySummary(ResultsModel):
    kind: str
    title: str
    device: str
    release: Literal["internal", "public"]
    language: Language
    arms: list[str]
    tasks: list[TaskSummary]
    datasets: list[dict[str, Any]]
    sets: list[str]
    not_declared: list[str]


class AnswerResult(ResultsModel):
    """Which result a sentence of the answer states."""

    id: str
    scope: Scope
    method: str


class AnswerPart(ResultsModel):
    text: str
    results: list[AnswerResult]


class AnswerEntry(ResultsModel):
    """The answer that the report opens with."""

    question: str
    sentence: str
    support: str
    parts: list[AnswerPart] = Field(description="the sentences of both, with the results that they state")


class ResultsDocument(ResultsModel):
    """results.json as a whole."""

    schema_version: Literal["2"]
    study: StudySummary
    answer: AnswerEntry
    results: list[ResultEntry]
    verdicts: list[VerdictEntry]
    intervals: list[Interval]
    criteria: Criteria
    checks: list[CheckEntry]
    unanswered: list[Open]
    figures: list[FigureEntry]
    provenance: Provenance
