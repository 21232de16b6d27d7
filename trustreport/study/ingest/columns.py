"""One file under our words: which of its columns is which, and the arrays that they hold."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest import contracts, values
from trustreport.study.ingest.contracts import CONTRACTS, SPELLINGS, WORDS, Contract, our_word
from trustreport.study.ingest.problems import (
    RETYPE,
    SEEN,
    KeyPath,
    Manifest,
    Problems,
    did_you_mean,
    dotted,
    edits,
    listed,
    near,
    quoted,
)
from trustreport.study.ingest.tables import Layout, Raw, Wanted
from trustreport.study.plan import FileForm
from trustreport.study.study import Binary, Codes, Floats
from trustreport.vocabulary.errors import UNSEEN

if TYPE_CHECKING:
    import pyarrow as pa

    from trustreport.study.ingest.tables import Column

FEW_LEVELS = 20
GLANCE = 100_000


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

    def at(self, row: int) -> str:
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
        self.problems.at(self.file, found, expected, mend, rows=rows, column=self.headers.get(word, column))

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
class _Reader:
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
            self._mapped(our_word(key), key, theirs)
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
        """Put our values in place of those of the file, as the manifest's maps of values say."""
        columns = list(self.raw.columns)
        for key, codes in self.spec.form.values.items():
            at = {position for word, position in self.found.values() if word == our_word(key)}
            named = self.renamed.get(key, self.headers.index(key))
            at |= {named} if not at and named is not None else set()
            if not at:
                mend = did_you_mean(key, (*self.contract.words, *self.raw.header))
                found = f"no column {quoted(key)} in {self.raw.file} whose values could be replaced"
                self._refuse(found, "", mend, (*self.spec.path, "values", key))
            for position in at:
                columns[position] = values.recoded(columns[position], codes)
        self.raw = replace(self.raw, columns=tuple(columns))
        return self.raw

    def _take(self, key: str, word: str, position: int) -> None:
        header = self.raw.header[position]
        if header in self.raw.nested:
            self.problems.at(self.raw.file, "found lists or bytes", "plain values", column=header)
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
                if word in present or word in self.failed or len(word) < 5 or header in self.spec.features:
                    continue
                if edits(name, word) <= (1 if len(word) < 8 else 2):
                    self.problems.at(
                        self.raw.file,
                        f"unknown column {quoted(header)}",
                        mend=f"Did you mean {quoted(word)}? Rename it, or map it in the manifest.",
                        rows=(1,),
                        column=header,
                    )
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
        self.problems.at(self.raw.file, found, "", f"{meant} {mend}".strip(), rows=(1,), column=word)


def load(spec: Spec, raw: Raw, problems: Problems) -> MappedTable | None:
    """The table of a file; None where it lacks a column without which nothing can be said."""
    kind = _counted_kind(spec, raw)
    contract = CONTRACTS[kind]
    reader = _Reader(spec, raw, contract, problems)
    if not reader.find():
        return None
    raw = reader.recode()
    table = MappedTable(
        spec, kind, problems, raw.rows, raw.n_rows, raw.n_blank, class_columns=reader.class_columns
    )
    table.header, table.guessed_encoding = raw.header, raw.guessed_encoding
    table.used = np.zeros(raw.n_rows, bool)
    for key, (word, position) in reader.found.items():
        table.headers[key] = raw.header[position]
        layout = replace(spec.layout, decimal=raw.layout.decimal)
        _convert(table, key, word, raw.columns[position], layout)
    _check(table, reader, problems)
    _keep_extra(table, reader)
    _names_are_seen(table, problems)
    if kind == "reported":
        _as_printed(table, raw)
    return table


def _counted_kind(spec: Spec, raw: Raw) -> str:
    """Tables of counts come in two forms, which differ in their columns."""
    if spec.kind != "counts":
        return spec.kind
    ours = {our_word(k) for k in spec.columns} | {our_word(h.casefold()) for h in raw.header}
    return "confusion" if {"tp", "fp", "fn", "tn"} & ours and "errors" not in ours else "counts"


def _convert(table: MappedTable, key: str, word: str, column: "Column", layout: Layout) -> None:
    kind = WORDS[word].kind
    if word == "truth" and (table.class_columns or (table.kind == "cases" and table.spec.classes)):
        kind = "name"
    if kind == "name":
        table.names[key] = Names(*values.encoded(column))
    elif kind == "number":
        table.numbers[key] = values.numbers(column, layout.decimal)
    elif kind == "binary":
        table.flags[key] = values.binary(column)
    elif kind == "time":
        table.times[key] = values.times(column, layout.date_format)
    else:
        table.text[key] = values.text(column)


def _check(table: MappedTable, reader: _Reader, problems: Problems) -> None:
    """Let the contract look at all columns at once; then empty the cells that it refused."""
    columns: dict[str, NDArray[Any]] = {k: v.codes for k, v in table.names.items()}
    columns |= table.numbers | table.flags | table.times
    words = [(k, reader.found[k][0]) for k in columns if not (k == "truth" and k in table.names)]
    faults = contracts.failures(columns, words)
    absent = _absent(table, reader, faults)
    for key, check, mask in faults:
        rest = mask & ~absent[key] if key in absent else mask
        if rest.any():
            _report(table, reader, problems, key, check, rest)
    for floats in table.numbers.values():
        floats[~np.isfinite(floats)] = np.nan
    for flags in table.flags.values():
        flags[flags == contracts.UNREAD_BINARY] = -1
    for moments in table.times.values():
        moments[moments == contracts.UNREAD_TIME] = np.datetime64("NaT")


def _absent(
    table: MappedTable,
    reader: _Reader,
    faults: Sequence[tuple[str, contracts.ColumnCheck, NDArray[np.bool_]]],
) -> dict[str, NDArray[np.bool_]]:
    """One problem for each word that stands for "no value", in whatever columns; the cells that have one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    every: dict[str, NDArray[np.bool_]] = {}
    held: dict[str, dict[str, NDArray[np.bool_]]] = {}
    for key, check, mask in faults:
        if check.together or check is contracts.GIVEN:
            continue
        at = np.flatnonzero(mask)
        cells = values.text(reader.raw.columns[reader.found[key][1]].take(at))
        words = [
            word for word in contracts.MISSING if word != "-" or not pc.any(pc.equal(cells, "+")).as_py()
        ]
        known = pc.is_in(pc.utf8_lower(cells), value_set=pa.array(words))
        for word in pc.unique(cells.filter(known)).to_pylist():
            own = np.zeros(table.n_rows, bool)
            own[at[np.asarray(pc.fill_null(pc.equal(cells, word), False))]] = True
            held.setdefault(word, {}).setdefault(table.headers[key], own)
            every[key] = every.get(key, np.zeros(table.n_rows, bool)) | own
    for word, columns in held.items():
        n = sum(int(own.sum()) for own in columns.values())
        rows = table.row(np.flatnonzero(np.logical_or.reduce(list(columns.values()))))
        found = f"found {quoted(word)} in {n:,} cell{'s' * (n > 1)}"
        mend = f"Add missing: [{yaml_word(word)}] to {reader.spec.where} in the manifest."
        table.refuse(found, "a value or an empty cell", mend, rows=rows, column=", ".join(columns))
    return every


def _report(
    table: MappedTable,
    reader: _Reader,
    problems: Problems,
    key: str,
    check: contracts.ColumnCheck,
    mask: NDArray[np.bool_],
) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    at = np.flatnonzero(mask)
    column = reader.raw.columns[reader.found[key][1]].take(at)
    cells = pc.fill_null(values.text(column), "")
    header = table.headers[key]
    where = reader.spec.where
    codes = _coding(reader, key, pc.unique(cells).to_pylist())
    if codes:
        of_code = pc.is_in(cells, value_set=pa.array(list(codes)))
        counts = {name: int(pc.sum(pc.equal(cells, name)).as_py()) for name in codes}
        found = " and ".join(f"{quoted(name)} ({n:,})" for name, n in counts.items())
        line = f"{reader.found[key][0]}: {{{', '.join(f'{yaml_word(k)}: {v}' for k, v in codes.items())}}}"
        mend = f"If these are the codes, add values: {{{line}}} to {where} in the manifest."
        rows = table.row(at[np.asarray(of_code)])
        table.refuse(f"found {found}", check.expected, mend, rows=rows, column=header)
        cells, at = cells.filter(pc.invert(of_code)), at[~np.asarray(of_code)]
    if check.together:
        distinct = pc.unique(cells).to_pylist()
        found = f"found {listed(distinct, 3)}"
        mend = check.mend if isinstance(check.mend, str) else ""
        table.refuse(found, check.expected, mend, at=at, column=header)
    elif len(at):
        said = check.mend

        def fix_of(cell: str) -> str:
            return (said if isinstance(said, str) else said(cell)).format(where=where)

        problems.by_value(table.file, header, cells, table.row(at), check.expected, fix_of)


def _coding(reader: _Reader, key: str, distinct: list[str]) -> dict[str, str]:
    """What words of a column of 0 and 1 probably stand for; nothing where that cannot be told."""
    if WORDS[reader.found[key][0]].kind != "binary":
        return {}
    known = {name: contracts.CODES[n] for name in distinct if (n := name.casefold()) in contracts.CODES}
    if len(known) == 1 and len(distinct) == 2:
        ((word, code),) = known.items()
        known |= {name: "10"[int(code)] for name in distinct if name != word}
    return known


def yaml_word(word: str) -> str:
    """A word as the manifest takes it: between quotation marks where YAML would read something else."""
    plain = re.fullmatch(r"[A-Za-z][\w .-]*", word) and word.lower() not in ("true", "false", "null")
    return word if plain else json.dumps(word, ensure_ascii=False)


def _keep_extra(table: MappedTable, reader: _Reader) -> None:
    """Keep further columns that can become subgroups, strata or features."""
    if reader.contract.extra == "ignored":
        return
    raw = reader.raw
    rest = {h: i for i, h in reader.headers.rest()} | reader.renamed
    if reader.contract.extra == "groups":
        table.extra = {h: _group_cells(raw.columns[i], table.spec.layout.decimal) for h, i in rest.items()}
        return
    for name in table.spec.features:
        i = reader.renamed.get(name, reader.headers.index(name))
        if i is not None:
            table.features[name] = raw.columns[i]
            rest.pop(raw.header[i], None)
            rest.pop(name, None)
    if table.kind == "features":
        table.features |= {h: raw.columns[i] for h, i in rest.items() if not table.spec.features}
        return
    kept = _cluster_keys(table.problems.manifest) | table.spec.divided
    for name, i in rest.items():
        column = raw.columns[i]
        if name in reader.renamed or name in kept or name.casefold() in kept or _has_few_levels(column):
            table.extra[name] = _group_cells(column, table.spec.layout.decimal)


def _names_are_seen(table: MappedTable, problems: Problems) -> None:
    """Refuse names with signs that are not seen: a name stands in sentences, beside numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    named = {
        table.headers[key]: held.distinct.take(pa.array(held.codes, mask=held.codes < 0))
        for key, held in table.names.items()
        if pc.any(pc.match_substring_regex(held.distinct, UNSEEN)).as_py()
    }
    for header, cells in (named | table.extra).items():
        mask = pc.fill_null(pc.match_substring_regex(cells, UNSEEN), False)
        if pc.any(mask).as_py():
            at = np.flatnonzero(mask)
            problems.by_value(table.file, header, cells.filter(mask), table.row(at), SEEN, RETYPE)


def _group_cells(column: "Column", decimal: str | None) -> "Column":
    """Cells of a group as text; numbers with a decimal comma get a point, so that they are numbers."""
    import pyarrow.compute as pc

    cells = values.text(column)
    if decimal != ",":
        return cells
    number = pc.match_substring_regex(cells, r"^[+-]?[0-9]+(,[0-9]+)?$")
    return pc.replace_substring(cells, ",", ".") if pc.all(number).as_py() else cells


def _cluster_keys(manifest: Manifest) -> set[str]:
    """Columns that tell which cases belong together: kept however many names they hold."""
    sets = manifest.values.get("datasets")
    declared = [d.get("cluster_keys") for d in sets if isinstance(d, dict)] if isinstance(sets, list) else []
    return {str(key) for keys in declared if isinstance(keys, list) for key in keys}


def _has_few_levels(column: "Column") -> bool:
    import pyarrow.compute as pc

    for part in (column.slice(0, GLANCE), column):
        levels = pc.unique(values.text(part)).drop_null()
        if not 0 < len(levels) <= FEW_LEVELS:
            return False
    broken = pc.match_substring_regex(levels, r"^[+-]?[0-9]*[.,][0-9]+([eE][+-]?[0-9]+)?$")
    return not pc.any(broken).as_py()


def _as_printed(table: MappedTable, raw: Raw) -> None:
    if table.headers["value"] in raw.typed:
        table.refuse(
            "found numbers, which lose the digits that were printed",
            'text such as "0.80"',
            "Format the cells as text, or provide a CSV file.",
            word="value",
        )
