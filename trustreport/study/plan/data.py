"""The files of a study, how each was written, and the data sets that they hold."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from trustreport.study.plan.fields import (
    Count,
    Date,
    Group,
    Share,
    Text,
    as_several,
    as_typed,
    declared,
    named,
)


def as_coded(value: Any) -> Any:
    """What stands for a cell: true and false as 1 and 0, nothing as an empty cell."""
    return "" if value is None else str(int(value)) if isinstance(value, bool) else as_typed(value)


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
