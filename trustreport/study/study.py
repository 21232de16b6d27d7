"""A study as it was read: frozen arrays with integer codes, one truth per case.

Nothing here knows where the data came from or what will be asked of it. Every column is a numpy array;
names are kept once (`Labels`), never per row, so that ten million rows of scores fit. Absent values are
NaN in floats, -1 in codes and 0/1 columns, NaT in dates.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from types import MappingProxyType
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
Binary = NDArray[np.int8]
Floats = NDArray[np.float64]
Clusters = NDArray[np.int64]
NONE: Mapping[str, Any] = MappingProxyType({})


class Labels(Sequence[str]):
    """The distinct names of a column, held by an Arrow array, a tuple, or counted (``"1" ... "n"``)."""

    __slots__ = ("_n", "_values")

    def __init__(self, values: Any = None, *, n: int | None = None) -> None:
        self._values = values
        self._n = len(values) if values is not None else int(n or 0)

    def __len__(self) -> int:
        return self._n

    @property
    def counted(self) -> bool:
        """Whether these are numbers of rows, which mean nothing beside those of another table."""
        return self._values is None

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[str, ...]: ...
    def __getitem__(self, i: int | slice) -> str | tuple[str, ...]:
        if isinstance(i, slice):
            return tuple(self[k] for k in range(*i.indices(self._n)))
        if not -self._n <= i < self._n:
            raise IndexError(i)
        i = int(i) % self._n
        if self._values is None:
            return str(i + 1)
        value = self._values[i]
        return value if isinstance(value, str) else str(value.as_py() if hasattr(value, "as_py") else value)

    def __iter__(self) -> Iterator[str]:
        return (self[i] for i in range(self._n))

    def names_at(self, rows: NDArray[np.intp]) -> list[str]:
        """The names at some places, of many of them far faster than one by one."""
        if self._values is None:
            return [str(i + 1) for i in rows.tolist()]
        arrow = hasattr(self._values, "to_pylist")
        found = self._values.take(rows).to_pylist() if arrow else [self._values[i] for i in rows.tolist()]
        return [str(value) for value in found]

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process gets plain names, so that it need not know Arrow."""
        return _labels, (None if self._values is None else tuple(self), self._n)


def _labels(values: tuple[str, ...] | None, n: int) -> Labels:
    return Labels(values, n=n)


DEVELOPMENT_ROLES = ("training", "tuning")  # of data sets that the model was made with


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of names: `codes` (n_rows,) index `labels`; -1 where the cell is empty."""

    codes: Codes
    labels: Labels


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """Which cases of a table belong together, (n_cases,) each.

    `code` numbers the clusters, the same in every table of a study; None where no column names any. `of_case`
    is the same where a cluster holds several of these cases, else None: each is a cluster of its own.
    `code_within_site` and `within_site` leave the site out as a key, for the cases of a site. `keys` are the
    columns by which cases belong together, `absent` those declared that there are not.
    """

    code: Clusters | None = None
    code_within_site: Clusters | None = None
    of_case: Clusters | None = None
    within_site: Clusters | None = None
    keys: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """The cases of one task or data set; `truth` (n_cases,) indexes `classes`, -1 where there is none.

    For a binary task `classes` is ("0", "1"), 1 = condition present. Cases with ``follow_up`` and ``event``
    among `numbers` have no truth but those, and no `classes`. `groups` holds the further columns of the table
    (subgroup columns, severity, equipment), `numbers` what else was said of a case: its ``relevance``, its
    ``case_threshold``, its own utilities ``utility_00`` to ``utility_11`` (decision, truth), the
    ``reference_days`` from the index test to the reference, its ``follow_up`` and the ``event`` that ended
    it. `tests` holds the results of the tests that a declared rule makes the truth of, 1, 0 or -1.
    `content` is a hash of the image or record. `clustering` is worked out over all tables of a study
    (`trustreport.study.clusters`); None of cases that were made without one.
    """

    labels: Labels
    truth: Binary
    classes: tuple[str, ...] = ("0", "1")
    patient: Coded | None = None
    site: Coded | None = None
    date: NDArray[np.datetime64] | None = None
    complexity: Floats | None = None
    content: Coded | None = None
    groups: Mapping[str, Coded] = field(default_factory=lambda: NONE)
    numbers: Mapping[str, Floats] = field(default_factory=lambda: NONE)
    tests: Mapping[str, Binary] = field(default_factory=lambda: NONE)
    clustering: Clustering | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def followed(self) -> bool:
        """Whether the truth of the cases is a time to an event."""
        return "follow_up" in self.numbers and "event" in self.numbers


@dataclass(frozen=True, slots=True, eq=False)
class Readers:
    """The readers of one task; `strata` holds a `Coded` column of length n_readers per characteristic."""

    labels: Labels
    strata: Mapping[str, Coded] = field(default_factory=lambda: NONE)

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True, slots=True, eq=False)
class Readings:
    """The readings of one task, one row per reader, case and arm, sorted by arm, reader and case.

    `arm` indexes `arms` (the manifest's order). A sequential reading (initial and final decision in one
    sitting) stands here as two rows, the initial decision in the unaided arm. `advice` is what the model
    told the reader. `session` indexes `sessions` and `advice_type` `advice_types`, NaN where there is none.
    `second_decision` and `second_score` are of the same reader reading the same case in the same arm again.
    `endpoints` holds the endpoints that the manifest declares, by name, (n_readings,) each: 1.0 or 0.0, NaN
    where nothing was recorded. Missing readings are absent rows.
    """

    task: str
    arms: tuple[str, ...]
    readers: Readers
    cases: Cases
    arm: Codes
    reader: Codes
    case: Codes
    decision: Binary | None = None
    score: Floats | None = None
    confidence: Floats | None = None
    seconds: Floats | None = None
    order: Floats | None = None
    read_at: NDArray[np.datetime64] | None = None
    advice: Binary | None = None
    advice_score: Floats | None = None
    positive_from: float | None = None
    sequential: bool = False
    session: Floats | None = None
    sessions: tuple[str, ...] = ()
    advice_type: Floats | None = None
    advice_types: tuple[str, ...] = ()
    second_decision: Binary | None = None
    second_score: Floats | None = None
    endpoints: Mapping[str, Floats] = field(default_factory=lambda: NONE)
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.case)

    @property
    def truth(self) -> Binary:
        """The truth of the case of each reading, (n_readings,)."""
        return self.cases.truth[self.case]

    def grid(self, values: NDArray[Any], arms: Sequence[str]) -> Floats:
        """`values` (n_readings,) laid out as (n_arms, n_readers, n_cases), NaN where nobody read."""
        out = np.full((len(arms), len(self.readers), len(self.cases)), np.nan)
        for a, name in enumerate(arms):
            rows = self.arm == self.arms.index(name)
            out[a, self.reader[rows], self.case[rows]] = values[rows]
        return out


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What one candidate said of the cases of a data set, in the order of its cases, (n_cases,) each.

    `class_scores` is (n_cases, n_classes), negative class first. `status` tells processed from failed.
    `second_score` and `second_decision` are of a second run on the same case; `confidence` is how certain the
    candidate was of its decision. `shared` is what sites hand over of their scores
    (`trustreport.measures.sites.shared.SharedScores`) where the scores themselves stay with them.
    """

    score: Floats | None = None
    decision: Binary | None = None
    class_scores: Floats | None = None
    class_names: tuple[str, ...] = ()
    status: Coded | None = None
    version: Coded | None = None
    second_score: Floats | None = None
    second_decision: Binary | None = None
    confidence: Floats | None = None
    shared: Any = None


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A set of cases with scores and features; `role` as declared (training, external, period ...)."""

    name: str
    role: str
    cases: Cases
    scores: Mapping[str, Scores] = field(default_factory=lambda: NONE)
    features: Floats | None = None
    feature_names: tuple[str, ...] = ()
    feature_levels: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: NONE)


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """The annotations behind a reference standard, one row per rater and case; `label` indexes `classes`.

    `confidence` is the rater's, in [0, 1]; `complexity` is how complex the rater found the case.
    """

    task: str
    raters: Labels
    cases: Cases
    rater: Codes
    case: Codes
    label: Codes
    classes: tuple[str, ...]
    confidence: Floats | None = None
    complexity: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Localisation:
    """Lesions of cases, and the marks that readers or candidates made on them.

    Of readers `task` and `readers` are set, and every reader saw every case in every arm; of candidates
    `dataset` is set and there is one arm without a name. `cases` are all cases, with and without lesions,
    marked or not; their truth is whether they have a lesion. `lesion_case` (n_lesions,) indexes them, sorted;
    `weight` (n_lesions,) is in sum 1 for each case, None where none is given.

    Marks, (n_marks,) each: `arm` indexes `arms`, `maker` indexes `makers`, `case`, `rating`, and `lesion`
    indexes the lesions, -1 where none was hit. Of several marks of one maker on one lesion only the highest
    is here; `merged` counts the others. Where hits were found by coordinates `radius` is the greatest
    distance of one, and `distance` (n_marks,) that of each mark to the nearest lesion of its case, infinite
    without any.
    """

    cases: Cases
    lesion_case: Codes
    weight: Floats | None
    makers: Labels
    arm: Codes
    maker: Codes
    case: Codes
    rating: Floats
    lesion: Codes
    arms: tuple[str, ...] = ("",)
    dataset: str = ""
    task: str = ""
    readers: Readers | None = None
    merged: int = 0
    radius: float | None = None
    distance: Floats | None = None

    @property
    def name(self) -> str:
        """The data set or the task, empty where that has no name."""
        return self.dataset or self.task


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """One measurement, rating or count of cases, by readers or by devices.

    `value` is (n_conditions, n_readers, n_cases), NaN where nothing was recorded; of devices, which have no
    `readers`, n_readers is 1. `conditions` are the arms of the readers, or candidates (`by`): devices, or
    what was shown to readers to be rated. `reference` (n_cases,) is the value taken as right, NaN where there
    is none. `repeats` (n_more, n_conditions, n_readers, n_cases) are further measurements of the same case.
    Values by models that judge as readers do have `judges`, their names, in the place of readers; those of
    people are another `Values`.
    """

    measurement: str
    cases: Cases
    conditions: tuple[str, ...]
    value: Floats
    by: str = "candidate"
    reference: Floats | None = None
    repeats: Floats | None = None
    readers: Readers | None = None
    dataset: str = ""
    task: str = ""
    judges: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The data set or the task, empty where that has no name."""
        return self.dataset or self.task


@dataclass(frozen=True, slots=True, eq=False)
class Preferences:
    """Choices of readers between two outputs for a case, one row each, (n_choices,).

    `first` and `second` index `outputs` in the order in which they were shown; `share` is 1 where the first
    was preferred, 0 where the second was, one half for a tie.
    """

    task: str
    readers: Readers
    cases: Cases
    outputs: tuple[str, ...]
    reader: Codes
    case: Codes
    first: Codes
    second: Codes
    share: Floats


@dataclass(frozen=True, slots=True)
class ArmCounts:
    """Errors and right decisions of one arm of a published table."""

    errors: int
    correct: int

    @property
    def n(self) -> int:
        """All decisions of the arm."""
        return self.errors + self.correct


@dataclass(frozen=True, slots=True)
class CountsSet:
    """A published table of counts per arm; what is known of how it arose, None where undeclared."""

    name: str
    arms: Mapping[str, ArmCounts]
    readers: int | None = None
    cases: int | None = None
    paired: bool | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What a table was asked for with: the text of the query, its parameters, and what names the database."""

    sql: str
    parameters: Mapping[str, bool | int | float | str]
    database: str


@dataclass(frozen=True, slots=True)
class Export:
    """The export that a table was read from: pattern, path, time, and the name of its folder or bucket."""

    newest: str
    file: str
    modified: str
    source: str


@dataclass(frozen=True, slots=True)
class Source:
    """One input file: its hash, its rows, the rows used, why the others were not, and all its headers.

    Of a table that a query made, `sha256` and `n_bytes` are those of its rows as CSV. `signer` signed it,
    where somebody known did.
    """

    file: str
    table: str
    sha256: str
    n_bytes: int
    n_rows: int
    n_used: int
    dropped: Mapping[str, int] = field(default_factory=lambda: NONE)
    columns: tuple[str, ...] = ()
    query: Query | None = None
    export: Export | None = None
    signer: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """All data of a study; each tuple is empty where a study has nothing of the kind.

    `paired_counts`, `confusion`, `reliance_counts`, `nomogram` and `reported` are the manifest's own frozen
    groups (`trustreport.study.plan`), in the manifest's order. `manifest` is its file as it was provided, for
    whoever wants to make the report again; the first of `sources` names it. `lock` is the file that locks
    what it declares (`trustreport.study.lock`), empty without one; `looks` the register of uses of the data
    beside it; `lock_status` what was found of the lock where names were replaced since, so that it cannot be
    compared again. `cautions` are doubts that ingest met and that no check can see afterwards, as message
    keys with parameters. `pooled` is what is known of the sites (`trustreport.study.pooled.pool.PooledSites`)
    where these gave files in place of data. `memo` keeps what was made of the study once.
    """

    arms: tuple[str, ...] = ()
    readings: tuple[Readings, ...] = ()
    datasets: tuple[Dataset, ...] = ()
    raters: tuple[Ratings, ...] = ()
    localisations: tuple[Localisation, ...] = ()
    values: tuple[Values, ...] = ()
    preferences: tuple[Preferences, ...] = ()
    counts: tuple[CountsSet, ...] = ()
    paired_counts: tuple[Any, ...] = ()
    confusion: tuple[Any, ...] = ()
    reliance_counts: tuple[Any, ...] = ()
    nomogram: tuple[Any, ...] = ()
    reported: tuple[Any, ...] = ()
    sources: tuple[Source, ...] = ()
    manifest: bytes = b""
    lock: bytes = b""
    looks: bytes = b""
    lock_status: Any = None
    cautions: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    pooled: Any = None
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)


def close(thing: Any) -> None:
    """Close every array inside frozen results against writing."""
    if isinstance(thing, np.ndarray):
        thing.flags.writeable = False
    elif is_dataclass(thing):
        for one in fields(thing):
            close(getattr(thing, one.name))
    elif isinstance(thing, tuple):
        for item in thing:
            close(item)
    elif isinstance(thing, Mapping):
        for item in thing.values():
            close(item)
