"""One file under our words: which of its columns is which, and the arrays that they hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest import values
from trustreport.study.ingest.contracts import CONTRACTS, SPELLINGS, Contract, our_word
from trustreport.study.ingest.problems import (
    KeyPath,
    Problems,
    almost,
    did_you_mean,
    dotted,
    listed,
    near,
    quoted,
    yaml_word,
)
from trustreport.study.ingest.tables import Layout, Raw, Wanted
from trustreport.study.plan import SCALES, FileForm
from trustreport.study.study import Binary, Codes, Floats

if TYPE_CHECKING:
    import pyarrow as pa

    from trustreport.study.ingest.tables import Column


@dataclass(frozen=True)
class Spec:
    """What the manifest says of one file, at which path (``("tables", "readings")``)."""

    file: str
    kind: str
    path: KeyPath
    form: FileForm = field(default_factory=FileForm)
    name: str = ""
    task: str | None = None
    candidate: str | None = None
    dataset: str | None = None
    features: tuple[str, ...] = ()
    divided: frozenset[str] = frozenset()  # columns by which subgroups are formed, in small letters
    classes: bool = False  # some table of the study has scores per class

    @property
    def columns(self) -> Mapping[str, Any]:
        """The columns of the file by our words."""
        return self.form.columns

    @property
    def layout(self) -> Layout:
        """How the file was written."""
        form = self.form
        written = form.delimiter, form.decimal, form.encoding, form.sheet
        return Layout(*written, form.header_row, form.skip_rows, form.date_format)

    @property
    def wanted(self) -> Wanted:
        """The columns that the file should have: those that were mapped, or those of its contract."""
        named = [c for c in self.columns.values() if isinstance(c, str)]
        words = [s for w in CONTRACTS[self.kind].words for s in (w, *SPELLINGS.get(w, ()))]
        return Wanted(frozenset(name.strip().casefold() for name in (*named, *words)), self.where)

    @property
    def where(self) -> str:
        """The path as messages write it."""
        return dotted(self.path)


@dataclass(frozen=True, slots=True)
class Names:
    """A column of names: `codes` (n_rows,) index `distinct` (in order of appearance), -1 where empty."""

    codes: Codes
    distinct: "pa.Array"

    def among(self, others: "pa.Array") -> Codes:
        """Where the name of each record stands among others, -1 where it does not."""
        import pyarrow.compute as pc

        at = pc.index_in(self.distinct, value_set=others.cast(self.distinct.type)).fill_null(-1)
        return np.append(np.asarray(at.to_numpy(zero_copy_only=False), np.int32), np.int32(-1))[self.codes]

    def name_at(self, row: int) -> str:
        """The name in one record."""
        code = int(self.codes[row])
        return str(self.distinct[code].as_py()) if code >= 0 else ""


@dataclass
class MappedTable:
    """A file under our words. Keys are words, with what a column was mapped for: ``decision/aided``.

    `extra` holds further columns (subgroups, strata, features) as text; `used` marks the records that entered
    the study.
    """

    spec: Spec
    kind: str
    problems: Problems
    raw_rows: NDArray[np.int64] | None
    n_rows: int
    n_blank: int
    names: dict[str, Names] = field(default_factory=dict)
    numbers: dict[str, Floats] = field(default_factory=dict)
    flags: dict[str, Binary] = field(default_factory=dict)
    times: dict[str, NDArray[np.datetime64]] = field(default_factory=dict)
    text: dict[str, "Column"] = field(default_factory=dict)
    extra: dict[str, "Column"] = field(default_factory=dict)
    features: dict[str, "Column"] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    class_columns: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    guessed_encoding: str = ""
    used: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, bool))

    @property
    def file(self) -> str:
        """The name of the file, as messages show it."""
        return self.spec.file

    def row(self, index: NDArray[Any] | int) -> NDArray[np.int64]:
        """Spreadsheet rows of records."""
        at = np.atleast_1d(np.asarray(index))
        return at + 2 if self.raw_rows is None else self.raw_rows[at]

    def refuse(
        self,
        found: str,
        expected: str = "",
        mend: str = "",
        *,
        at: NDArray[Any] | int | None = None,
        rows: Sequence[int] | NDArray[Any] = (),
        word: str = "",
        column: str = "",
    ) -> None:
        """Add a problem of this file, at records or rows, in the column of a word or of another name."""
        if at is not None:
            rows = self.row(at)
        self.problems.add_at(
            self.file, found, expected, mend, rows=rows, column=self.headers.get(word, column)
        )

    def refuse_names(
        self, word: str, at: NDArray[Any], expected: str, mend: str | Callable[[str], str] = ""
    ) -> None:
        """Add a problem for each distinct name of a column that is at fault in some records."""
        held = self.names[word]
        cells = held.distinct.take(held.codes[at])
        self.problems.by_value(self.file, self.headers[word], cells, self.row(at), expected, mend)

    def per(self, word: str) -> tuple[str, ...]:
        """What a word was mapped for, column by column (``("unaided", "aided")``)."""
        return tuple(k.partition("/")[2] for k in self.headers if k.startswith(f"{word}/"))

    def has(self, word: str) -> bool:
        """Whether the file has a column of this word, mapped once or for several."""
        return word in self.headers or bool(self.per(word))


class Headers:
    """The headers of a file; each is found by its exact spelling first, then without regard to case."""

    def __init__(self, header: tuple[str, ...]) -> None:
        self.header = header
        self.taken: set[int] = set()

    def index(self, wanted: str) -> int | None:
        """The position of a header that is still free or was named by the manifest."""
        wanted = wanted.strip()
        exact = [i for i, h in enumerate(self.header) if h == wanted and h]
        alike = exact or [i for i, h in enumerate(self.header) if h and h.casefold() == wanted.casefold()]
        return alike[0] if alike else None

    def free(self, word: str) -> int | None:
        """The position of a free header for a word: its own spelling before its other ones."""
        for spelling in (word, *SPELLINGS.get(word, ())):
            i = self.index(spelling)
            if i is not None and i not in self.taken:
                return i
        return None

    def rest(self) -> Iterator[tuple[int, str]]:
        """The headers that no word took."""
        return ((i, h) for i, h in enumerate(self.header) if h and i not in self.taken)


@dataclass
class ColumnFinder:
    """Finds the columns of one file; notes what is wrong."""

    spec: Spec
    raw: Raw
    contract: Contract
    problems: Problems

    def __post_init__(self) -> None:
        self.headers = Headers(self.raw.header)
        self.found: dict[str, tuple[str, int]] = {}  # key: (word, position)
        self.renamed: dict[str, int] = {}
        self.class_columns: tuple[str, ...] = ()
        self.failed: set[str] = set()
        self.lost: list[tuple[str, KeyPath]] = []

    def find(self) -> bool:
        """Give every word its column; False where a column that must be there is not."""
        for key, theirs in self.spec.columns.items():
            self._mapped(our_word(key, self.contract.words), key, theirs)
        mapped = {k.partition("/")[0] for k in self.found}
        for word in self.contract.words:
            if word in mapped or word in self.failed or word in self.contract.only_mapped:
                continue
            i = self.headers.free(word)
            if i is not None:
                self._take(word, word, i)
        self._report_lost()
        self._near_misses()
        return self._complete()

    def recode(self) -> Raw:
        """Put our values and units in place of those of the file, as the manifest says."""
        columns = list(self.raw.columns)
        for key, codes in self.spec.form.values.items():
            for position in self._meant("values", key):
                columns[position] = values.recoded(columns[position], codes)
        for key, unit in self.spec.form.scale.items():
            for position in self._meant("scale", key):
                columns[position] = values.scaled(columns[position], SCALES[unit], self.spec.layout.decimal)
        self.raw = replace(self.raw, columns=tuple(columns))
        return self.raw

    def _meant(self, field: str, key: str) -> set[int]:
        """The columns that a key of `values` or `scale` means: those of a word, or the one of a header."""
        word = our_word(key, self.contract.words)
        at = {position for own, position in self.found.values() if own == word}
        named = self.renamed.get(key, self.headers.index(key))
        at |= {named} if not at and named is not None else set()
        if not at and word not in self.failed:  # else that the column is not there has been said
            there = {own for own, _ in self.found.values()}
            mend = did_you_mean(key, (*there, *self.raw.header))
            found = f"no column {quoted(key)} in {self.raw.file} whose values could be replaced"
            self._refuse(found, "", mend, (*self.spec.path, field, key))
        return at

    def _take(self, key: str, word: str, position: int) -> None:
        header = self.raw.header[position]
        if header in self.raw.nested:
            self.problems.add_at(self.raw.file, "found lists or bytes", "plain values", column=header)
        self.found[key] = (word, position)
        self.headers.taken.add(position)

    def _mapped(self, word: str, key: str, theirs: Any) -> None:
        where: KeyPath = (*self.spec.path, "columns", key)
        if word not in self.contract.words:
            self._renamed(word, where, theirs)
        elif isinstance(theirs, str) and word != "class_scores":
            self._take_mapped(word, word, theirs, where)
        elif word == "class_scores" and not isinstance(theirs, dict):
            columns = (theirs,) if isinstance(theirs, str) else tuple(theirs)
            if len(columns) < 2:
                self._refuse("found one column", "a list of at least two, negative class first", "", where)
                self.failed.add(word)
            self.class_columns = columns
            for i, column in enumerate(columns):
                self._take_mapped(f"{word}/{i}", word, column, where)
        elif isinstance(theirs, dict) and word in self.contract.may_be_mapped_per:
            for per, column in theirs.items():
                self._take_mapped(f"{word}/{per}", word, column, (*where, per))
        else:
            self._refuse("found several columns", "one column", "", where)
            self.failed.add(word)

    def _renamed(self, word: str, where: KeyPath, theirs: Any) -> None:
        if self.contract.extra == "ignored" or not isinstance(theirs, str):
            known = listed(self.contract.words, 30)
            mend = did_you_mean(word, self.contract.words) or f"A table of {self.spec.kind} holds {known}."
            self._refuse(f"unknown column word {quoted(word)}", "", mend, where)
        else:
            i = self._position(theirs, where)
            if i is not None:
                self.renamed[word] = i
                self.headers.taken.add(i)

    def _take_mapped(self, key: str, word: str, theirs: str, where: KeyPath) -> None:
        i = self._position(theirs, where)
        if i is None:
            self.failed.add(word)
        else:
            self._take(key, word, i)

    def _position(self, theirs: str, where: KeyPath) -> int | None:
        i = self.headers.index(theirs)
        if i is None:
            self.lost.append((theirs, where))
        return i

    def _report_lost(self) -> None:
        """One problem for all columns that were mapped and are not there."""
        if not self.lost:
            return
        names, paths = zip(*self.lost)
        offers = [found for name in names if (found := near(name, self.raw.header))]
        mend = f"Did you mean {listed(offers)}?" if offers else ""
        mend = mend or f"It has {listed(filter(None, self.raw.header))}."
        if self.raw.sheets:
            several = "s" * (len(self.raw.sheets) > 1)
            others = f"The workbook has also the sheet{several} {listed(self.raw.sheets)}"
            mend = f"{mend} {others}: name {'one' if several else 'it'} by sheet:."
        found = f"no column{'s' * (len(names) > 1)} {listed(names)} in {self.raw.file}"
        self.problems.declared(paths[0], found, "", mend, beside=paths[1:])

    def _refuse(self, found: str, expected: str, mend: str, where: KeyPath) -> None:
        self.problems.declared(where, found, expected, mend)

    def _near_misses(self) -> None:
        """A header that is almost a word which the file lacks was probably meant to be that word."""
        present = {k.partition("/")[0] for k in self.found} | set(self.contract.only_mapped)
        for _, header in list(self.headers.rest()):
            name = header.casefold().replace(" ", "_")
            for word in self.contract.words:
                if word in present or word in self.failed or header in self.spec.features:
                    continue
                if almost(name, word):
                    where, cell = self.spec.where, yaml_word(header)
                    mend = (
                        f"Did you mean {quoted(word)}? Then add columns: {{{word}: {cell}}} to {where} in the"
                    )
                    mend = f"{mend} manifest, otherwise ignore: [{cell}]."
                    found = f"unknown column {quoted(header)}"
                    self.problems.add_at(self.raw.file, found, mend=mend, rows=(1,), column=header)
                    self.failed.add(word)
                    break

    def _complete(self) -> bool:
        present = {k.partition("/")[0] for k in self.found}
        lacking = [w for w in self.contract.required if w not in present]
        for word in lacking:
            if word not in self.failed:
                self._lacks(word, f"no column {quoted(word)}")
        one_of = self.contract.one_of
        some = not one_of or not present.isdisjoint(one_of)
        if not some and not self.failed.intersection(one_of):
            self._lacks(one_of[0], f"none of the columns {listed(one_of)}")
        return not lacking and some and "class_scores" not in self.failed

    def _lacks(self, word: str, found: str) -> None:
        rest = [h for _, h in self.headers.rest()]
        meant = did_you_mean(word, rest)
        mend = f"Add it, or name yours in the manifest: {self.spec.where}.columns: {{{word}: <your header>}}."
        self.problems.add_at(self.raw.file, found, "", f"{meant} {mend}".strip(), rows=(1,), column=word)
