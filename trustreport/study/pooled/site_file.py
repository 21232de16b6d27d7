"""What a site hands over: counts, sums and estimates under a shared lock, and no row of a patient."""

import json
from collections.abc import Mapping
from math import inf, isfinite, isnan, nan
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    PlainSerializer,
    ValidationError,
    WithJsonSchema,
    model_validator,
)

from trustreport.measures.note import Message, Note
from trustreport.study.plan.fields import Count, Date, Group, Share, Text
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.quantities import known

Outcome = Literal["positive", "negative", "scored", "failed", "not run"]
"""What a candidate put out for a case; scored: a score, where no threshold makes a decision of it."""

WORDS = {nan: None, inf: "inf", -inf: "-inf"}


def _as_number(value: Any) -> Any:
    return {None: nan, "inf": inf, "-inf": -inf}.get(value, value) if not isinstance(value, list) else value


def _as_word(value: float) -> Any:
    return value if isfinite(value) else None if isnan(value) else "inf" if value > 0 else "-inf"


def _null_default(schema: dict[str, Any]) -> None:
    """The default as JSON writes it, which has no NaN."""
    if "default" in schema:
        schema["default"] = None


Number = Annotated[
    float,
    Field(allow_inf_nan=True, json_schema_extra=_null_default),
    BeforeValidator(_as_number),
    PlainSerializer(_as_word, when_used="json"),
    WithJsonSchema({"anyOf": [{"type": ["number", "null"]}, {"enum": ["inf", "-inf"]}]}),
]
"""A number that may be undefined, which JSON writes as null, or have no bound."""


class DisclosureRules(Group):
    """What a site lets go: no count of fewer cases than `fewest`, numbers of so many significant `digits`."""

    fewest: int = Field(5, ge=0, le=1000)
    digits: int | None = Field(None, ge=2, le=17)


class SharedMessage(Group):
    """A text of the catalogue with its values."""

    key: Text
    values: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def from_message(cls, said: Message) -> "SharedMessage":
        """The message without what is no plain data."""
        return cls(key=said.key, values=json.loads(json.dumps(dict(said.values), default=str)))

    @model_validator(mode="after")
    def _is_text(self) -> "SharedMessage":
        if self.key not in (texts := catalogue("en")):
            raise ValueError(f"{self.key} is no text of this version")
        try:
            texts(self.message())
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"the values of {self.key} are not those of this version") from error
        return self

    def message(self) -> Message:
        return Message(self.key, self.values)


class SharedNumber(Group):
    """An estimate from which its limits at any level are made again (`SharedEstimate`)."""

    value: Number
    n: Count
    method: Text = ""
    form: Literal["", "identity", "logit", "own logit", "log", "own log", "newcombe"] = ""
    se: Number = nan
    df: Number = nan
    p: Number = nan
    note: tuple[SharedMessage, ...] = ()
    details: dict[str, Number] = Field(default_factory=dict)
    limits: tuple[tuple[float, Number, Number], ...] = ()

    def noted(self) -> Note:
        return Note(tuple(one.message() for one in self.note))


class Pattern(Group):
    """Cases with one truth and the same outcomes of the candidates, in their order."""

    truth: Literal[0, 1]
    outcomes: tuple[Outcome, ...]
    n: Count


class GroupLevel(Group):
    """Cases of one group and class by pattern: `values` of the columns, None where nobody knows."""

    truth: Literal[0, 1]
    values: tuple[Text | float | None, ...]
    n: tuple[Count, ...]


class GroupCounts(Group):
    """Columns that declared groups are made of, together, and the cases of each of their values."""

    columns: tuple[Text, ...]
    levels: tuple[GroupLevel, ...]


class SharedBin(Group):
    """Scores of one class from `low` up to but without `high`."""

    low: float
    high: float
    n: Count


class SharedSums(Group):
    """Sums over cases with a score that is a probability; see `measures.sites.shared.ScoreSums`."""

    n: Count
    events: Count
    expected: float
    expected_squares: float
    hits: float
    squares: float
    fourth: float


class ActedCells(Group):
    """The four cells where one acts from a probability on."""

    threshold: Share
    cells: tuple[Count, Count, Count, Count]


class CandidateScores(Group):
    """What is handed over of the scores of one candidate."""

    estimates: dict[str, tuple[SharedNumber, ...]] = Field(default_factory=dict)
    sums: SharedSums | None = None
    acted: tuple[ActedCells, ...] = ()
    positives: tuple[SharedBin, ...] = ()
    negatives: tuple[SharedBin, ...] = ()


class SetCounts(Group):
    """What is handed over of one data set or period.

    `candidates` name the order of the outcomes. `clusters` says that cases come in clusters; then
    `scores` hold the estimates of the shares too, and no interval of all cases is made of the counts.
    """

    dataset: Text
    candidates: tuple[Text, ...]
    patterns: tuple[Pattern, ...] = ()
    groups: tuple[GroupCounts, ...] = ()
    scores: dict[str, CandidateScores] = Field(default_factory=dict)
    clusters: bool = False

    @model_validator(mode="after")
    def _fits(self) -> "SetCounts":
        if any(len(one.outcomes) != len(self.candidates) for one in self.patterns):
            raise ValueError("an outcome for each candidate")
        for group in self.groups:
            for level in group.levels:
                own = sum(one.truth == level.truth for one in self.patterns)
                if len(level.values) != len(group.columns) or len(level.n) != own:
                    raise ValueError("a value for each column, and a count for each pattern of the class")
        return self


class SiteNumber(Group):
    """A result of the site alone, where nothing else of it leaves."""

    id: Text
    scope: dict[str, Any]
    endpoint: Text = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
    number: SharedNumber

    @model_validator(mode="after")
    def _is_known(self) -> "SiteNumber":
        if not known(self.id.rpartition(".")[2]):
            raise ValueError(f"{self.id} is no quantity of this version")
        return self


class SiteCheck(Group):
    """What a check of the register found at the site."""

    check: Text
    dimension: Text
    severity: Literal["B", "W", "N"]
    status: Literal["fired", "clear", "cannot run"]
    message: SharedMessage
    scope: dict[str, Any] = Field(default_factory=dict)
    quantities: tuple[Text, ...] = ()


class KeptAtSite(Group):
    """Something that the rules of the site keep there.

    `what`: "cells" of the decisions on a set, "scores" of a candidate, "group" of cases, "cut" of the scores.
    """

    dataset: Text
    what: Literal["cells", "scores", "group", "cut", "number"]
    name: Text = ""
    candidate: Text = ""
    reason: Text = ""


class SiteFile(Group):
    """Everything that a site hands over."""

    form: Literal["trustreport site summary 1"] = "trustreport site summary 1"
    site: Text
    software: dict[str, str]
    lock: Text
    manifest: dict[str, Any]
    rules: DisclosureRules
    data: tuple[Text, ...]
    looks: dict[str, Any] = Field(default_factory=dict)
    until: Date | None = None
    datasets: tuple[SetCounts, ...]
    results: tuple[SiteNumber, ...] = ()
    checks: tuple[SiteCheck, ...] = ()
    withheld: tuple[KeptAtSite, ...] = ()


def written(summary: SiteFile) -> bytes:
    """The file as JSON, the same bytes for the same content."""
    said = summary.model_dump(mode="json", exclude_none=False)
    return json.dumps(said, sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1).encode() + b"\n"


def read(said: Mapping[str, Any]) -> SiteFile:
    """The file of a site.

    Raises
    ------
    ValueError : it is not of this form; says where
    """
    try:
        return SiteFile.model_validate(dict(said))
    except ValidationError as error:
        first, *more = error.errors()
        where = ".".join(str(part) for part in first["loc"])
        others = f" (and {len(more)} more)" if more else ""
        raise ValueError(f"{where}: {first['msg']}{others}") from error


def shared_number(e: Any) -> SharedNumber:
    """What is handed over of a `SharedEstimate`."""
    return SharedNumber(
        value=e.value, n=e.n, method=e.method, form=e.form, se=e.se, df=e.df, p=e.p,
        note=tuple(SharedMessage.from_message(one) for one in e.note.messages),
        details=dict(e.details),
        limits=tuple((level, low, high) for level, (low, high) in e.limits.items()),
    )  # fmt: skip
