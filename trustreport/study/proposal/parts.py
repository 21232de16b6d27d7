"""What a proposal is made of: words that are recognised, cells, doubts, tables, data sets."""

import datetime as dt
import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trustreport.study.ingest import contracts, values
from trustreport.study.ingest.tables import Raw
from trustreport.study.plan import Kind
from trustreport.vocabulary.resources import folder

if TYPE_CHECKING:
    from trustreport.study.ingest.tables import Column


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something that the tables do not settle: a question, what may be answered, and the likeliest."""

    question: str
    options: tuple[str, ...]
    likeliest: str


Choose = Callable[[Doubt], str]


@dataclass
class Entry:
    """One table as the manifest will name it; `about` are the doubts of its lines, by key."""

    path: Path
    kind: str
    form: dict[str, Any] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class RefusedReadings:
    """What earlier readings of the tables were refused for, each with the reason.

    `columns` are not used at all, by file and header; `uses` are columns that are not what their header says,
    by file, word and header; `kinds` are what a table is not, by file and kind.
    """

    columns: Mapping[tuple[str, str], str] = field(default_factory=dict)
    uses: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    kinds: Mapping[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Dictionary:
    """What a data dictionary says of columns: their labels, and what their codes mean.

    `items` are further names of columns, as "call" of OpenClinica's ``call_E1_C1``; `numbers` are the codes
    of cells that are labels already.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def names(self, header: str) -> tuple[str, ...]:
        """How a column is called, by its header, its label and its item, in plain small letters."""
        label = self.labels.get(header, "")
        plain = re.sub(r"\s*[(\[].*", "", label)  # without what it explains in brackets
        told = (header, label, plain, self.items.get(header, ""))
        return tuple(dict.fromkeys(filter(None, map(squeezed, told))))

    def extended(self, raw: Raw, items: Mapping[str, str]) -> "Dictionary":
        """The same with what a table says of its own columns, and further names of them."""
        labels, codes = {**self.labels, **raw.labels}, dict(self.codes)
        for header, item in items.items():
            labels |= {item: labels[header]} if header in labels else {}
            codes |= {item: codes[header]} if header in codes else {}
        return Dictionary(labels, codes, {**self.items, **items}, {**self.numbers, **raw.codes})

    def meaning(self, header: str, cell: str) -> str:
        """What a cell means in words; the cell itself where it is no code."""
        return self.codes.get(header, {}).get(cell, cell)


@dataclass
class Proposal:
    """A manifest in the making.

    `dictionary` explains headers and codes of all files; `of_one_file` says that there is no other table.
    `positives` are the cells taken as 1, by all cells of such a column;
    `thresholds` are examples, by candidate; `about` are the doubts of lines that belong to no table, by key;
    `features` are columns of numbers that nothing else uses, by data set; `unread` says of files that are in
    none why, `unused` of columns, and `notes` what else a reader of the manifest should know.
    """

    kind: Kind
    entries: list[Entry] = field(default_factory=list)
    arms: dict[str, bool] = field(default_factory=dict)
    design: str = ""
    label_scale: str = ""
    reference: dict[str, Any] = field(default_factory=dict)
    measurements: list[dict[str, Any]] = field(default_factory=list)
    datasets: list[dict[str, Any]] = field(default_factory=list)
    baseline: str = ""
    time_to_event: dict[str, Any] = field(default_factory=dict)
    acceptance_radius: str = ""
    marks_need_a_dataset: bool = False
    groups: list[str] = field(default_factory=list)
    features: dict[str, list[str]] = field(default_factory=dict)
    thresholds: dict[str, str] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    refused: RefusedReadings = RefusedReadings()
    dictionary: Dictionary = Dictionary()
    of_one_file: bool = False
    unread: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    positives: dict[frozenset[str], str] = field(default_factory=dict)


# What headers add to the word for a column: treatment_name, numero_de_cas.
ENDS = ("", "_id", "_name", "_no", "_nr", "_number", "_code")
STARTS = (
    "numero_de_",
    "numero_di_",
    "numero_do_",
    "numero_",
    "no_",
    "nr_",
    "n_",
    "id_",
    "id_do_",
    "id_di_",
    "id_del_",
)
# Letters that are no letter with an accent.
LETTERS = str.maketrans({"ł": "l", "Ł": "L", "ß": "ss", "ø": "o", "Ø": "O", "æ": "ae", "œ": "oe", "đ": "d"})


@cache
def vocabulary() -> dict[str, dict[str, Any]]:
    """The words of headers, arms, roles and groups that are known."""
    with (folder("templates") / "columns.toml").open("rb") as file:
        return tomllib.load(file)


@cache
def spellings(word: str) -> tuple[str, ...]:
    """A word of ours and others for it, each also with what headers add; the plain ones first."""
    names = [word, *vocabulary()["columns"][word]]
    ends = [name + end for name in names for end in ENDS]
    return tuple(dict.fromkeys([*names, *ends, *(start + name for name in names for start in STARTS)]))


def squeezed(header: str) -> str:
    """A header in plain small letters, its words joined by one underscore."""
    plain = unicodedata.normalize("NFKD", header.translate(LETTERS)).encode("ascii", "ignore").decode()
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain)
    return re.sub(r"[^a-z0-9]+", "_", plain.casefold()).strip("_")


def has_word(header: str, of: str) -> bool:
    """Whether one of the words of a header is in a list of the vocabulary."""
    return not set(squeezed(header).split("_")).isdisjoint(vocabulary()["within"][of])


def is_group(header: str) -> bool:
    """Whether a column names groups of patients, such as their sex."""
    return squeezed(header) in vocabulary()["groups"]["names"]


UNIT_COLUMNS = 2  # columns that only a first row spoils, for it to be taken as one of units
GLANCE = 20_000  # rows that are looked at
USER_MISSING = "##USER_MISSING"  # how Castor writes that something was not done, not asked, not known


class Cells:
    """The distinct cells of a column, and what they could be.

    `absent` are words for missing values; `indeterminate` are words for "no result" beside two other values.
    """

    def __init__(self, column: "Column") -> None:
        import pyarrow.compute as pc

        cells = pc.unique(values.text(column.slice(0, GLANCE))).drop_null().to_pylist()
        self.absent = {
            c
            for c in cells
            if (c.casefold() in contracts.MISSING and c not in ("-", "none", "None"))
            or c.startswith(USER_MISSING)
        }
        self.distinct = [c for c in cells if c not in self.absent]
        self.indeterminate: set[str] = set()
        if 2 < len(self.distinct) < 6:
            words = {c for c in self.distinct if squeezed(c) in vocabulary()["values"]["indeterminate"]}
            self.indeterminate = words if len(self.distinct) - len(words) == 2 else set()
        self._numbers()
        self.coded = all(c.lower() in (*values.YES, *values.NO) for c in self.distinct)
        iso = bool(self.distinct) and all(values.TIME.fullmatch(c) for c in self.distinct)
        forms = {form for c in self.distinct if (form := _date_form(c))}
        other = bool(self.distinct) and len(forms) > 0 and all(_date_form(c) for c in self.distinct)
        self.date_form = max(forms, key=lambda f: f.startswith("mm")) if other else ""
        self.is_date = iso or other
        self.tidy = self.numeric or self.is_date or self.n_distinct == 2

    def _numbers(self) -> None:
        self.percent = bool(self.distinct) and all(c.endswith("%") for c in self.distinct)
        cells = [c.rstrip("% \N{NO-BREAK SPACE}") for c in self.distinct] if self.percent else self.distinct
        plain = [_number(c) for c in cells]
        commas = [_number(c.replace(",", ".", 1)) for c in cells]
        self.numeric = bool(plain) and None not in plain
        self.comma = not self.numeric and bool(commas) and None not in commas
        self.numeric = self.numeric or self.comma
        numbers = [x for x in (commas if self.comma else plain) if x is not None] if self.numeric else []
        self.largest = max(numbers, default=np.nan)
        self.smallest = min(numbers, default=np.nan)
        within = bool(numbers) and min(numbers) >= 0 and self.largest <= 1
        self.is_whole = bool(numbers) and all(x == int(x) for x in numbers if np.isfinite(x))
        self.is_share = within and not self.is_whole

    @property
    def n_distinct(self) -> int:
        """How many values there are beside words for missing ones."""
        return len(self.distinct)

    @property
    def pair(self) -> tuple[str, ...]:
        """The two values of a column of two, words for "no result" left out; empty where there are others."""
        rest = tuple(c for c in self.distinct if c not in self.indeterminate)
        return rest if len(rest) == 2 else ()

    @property
    def is_call(self) -> bool:
        """Whether the column holds both 0 and 1, or words that are read as them."""
        return self.coded and self.n_distinct == 2

    @property
    def is_yes_or_no(self) -> bool:
        """Whether the column has two values of which one at least is known to mean yes or no."""
        return self.is_call or any(len(c) > 1 and c.casefold() in contracts.CODES for c in self.pair)

    def settle(self) -> list[str]:
        """Take the words for "no result" as missing; returns them."""
        found = sorted(self.indeterminate)
        self.distinct = [c for c in self.distinct if c not in self.indeterminate]
        self.indeterminate = set()
        self.coded = all(c.lower() in (*values.YES, *values.NO) for c in self.distinct)
        return found


def day(cell: str, form: str) -> str:
    """The day of a cell as YYYY-MM-DD; empty where it is none."""
    try:
        if form:
            return str(dt.datetime.strptime(cell, values.strptime_of(form)).date())  # noqa: DTZ007 -- a day
        return str(dt.date.fromisoformat(cell[:10]))
    except ValueError:
        return ""


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _date_form(cell: str) -> str:
    found = re.search(r"date_format: (\S+) to", contracts.fix_date(cell))
    return found[1] if found else ""


class ExaminedTable:
    """A table that is looked at: its cells, the columns known so far, and its part of the proposal."""

    def __init__(
        self,
        path: Path,
        raw: Raw,
        made: Proposal,
        choose: Choose | None,
        *,
        sheet: str = "",
        first: bool = True,
        form: Mapping[str, Any] | None = None,
    ) -> None:
        self.path, self.raw, self.made, self.choose = path, raw, made, choose
        self.sheet, self.first, self.only_sheet = sheet, first, True
        named = [h for h in raw.header if h]
        self.headers = [h for h in named if (path.name, h) not in made.refused.columns]
        self.seen = {h: Cells(c) for h, c in zip(raw.header, raw.columns) if h}
        below = {h: Cells(c.slice(1)) for h, c in zip(raw.header, raw.columns) if h}
        # A row of units or kinds under the header: without it columns are of one kind.
        self.unit_row = sum(below[h].tidy and not self.seen[h].tidy for h in self.headers) >= UNIT_COLUMNS
        if self.unit_row:
            self.seen = below
        self.entry = Entry(path, "", dict(form or {}))
        if len(self.headers) < len(named):
            self.entry.form["ignore"] = [h for h in named if h not in self.headers]
        self.more: list[Entry] = []  # of the same file, one for each other measurement
        self.columns: dict[str, Any] = {}
        self.known: frozenset[str] = frozenset()  # words with a column, whatever the table is
        self.labels: list[str] = []  # columns of labels, one for each rater
        self.spread: dict[str, str] = {}  # of readers in columns, one column of each arm

    @property
    def stem(self) -> str:
        """What a data set of this table is called."""
        if self.only_sheet or not self.sheet:
            return self.path.stem
        return self.sheet

    def column(self, header: str) -> "Column":
        """The cells of a column as text, without a row of units."""
        return values.text(self.raw.columns[self.raw.header.index(header)].slice(int(self.unit_row)))

    def once(self, word: str) -> bool:
        """Whether no name of a column appears twice, as far as rows are looked at."""
        return self.seen[self.columns[word]].n_distinct >= min(self.raw.n_rows - self.unit_row, GLANCE)

    def names(self, header: str) -> tuple[str, ...]:
        """How a column is called, by its header and by its label in a dictionary."""
        return self.made.dictionary.names(header)

    @property
    def place(self) -> str:
        """The file, and its sheet, in questions."""
        return f"{self.path.name}, sheet {self.sheet}" if self.sheet else self.path.name

    def may(self, kind: str) -> bool:
        """Whether no earlier reading of the table as this kind was refused."""
        return (self.path.name, kind) not in self.made.refused.kinds

    def settle(self, doubt: Doubt, key: str) -> str:
        """The answer to a doubt; without anybody to ask, the likeliest one and a mark at the line `key`."""
        return self._answered(doubt, key, self.entry.about)

    def of_all(self, doubt: Doubt, key: str) -> str:
        """The same for a line that belongs to no table."""
        return self._answered(doubt, key, self.made.about)

    def _answered(self, doubt: Doubt, key: str, about: dict[str, str]) -> str:
        if self.choose is not None:
            return self.choose(doubt)
        others = " or ".join(name for name in doubt.options if name != doubt.likeliest)
        about[key] = doubt.question + (f" It could be {others}." if others and key == "columns" else "")
        return doubt.likeliest
