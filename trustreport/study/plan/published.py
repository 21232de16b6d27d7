"""Tables and figures that somebody printed, entered in the manifest by hand."""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field, model_validator

from trustreport.study.plan.fields import Count, Group, Share, Text, named, table_size
from trustreport.vocabulary.quantities import quantity

MOST_TABULATED = 1_000_000  # cases of a table that is analysed case by case


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
        rows, columns = table_size(self, "table")
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
        for row in map(quantity, PublishedMeasures.model_fields):
            given = getattr(self, row.id)
            if given is not None and (row.low, row.high) not in given:
                least = f"from {row.low:g} to" if row.low > float("-inf") else "at most"
                raise ValueError(f"{row.id}: a number {least} {row.high:g} (0.81, not 81)")
        return self

    def value_of(self, measure: str) -> PublishedValue | None:
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
