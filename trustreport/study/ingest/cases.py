"""The cases of one task or data set, put together from every table that says something of them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest import contracts, values
from trustreport.study.ingest.columns import MappedTable, Names
from trustreport.study.ingest.problems import (
    VALUES,
    KeyPath,
    Problems,
    did_you_mean,
    listed,
    quoted,
    squeezed,
)
from trustreport.study.plan import Plan
from trustreport.study.plan.data import ReferenceStandard
from trustreport.study.study import Binary, Cases, Coded, Codes, Floats, Labels

if TYPE_CHECKING:
    import pyarrow as pa


Rows = NDArray[np.int64]
Missing = Callable[[Any], Any]
ONE_TRUTH = "The reference standard is one value per case."


@dataclass(frozen=True, slots=True)
class CaseRecords:
    """Records of one table that speak of cases: `records` (n,) of the table, `case` (n,) their positions."""

    table: MappedTable
    records: Rows
    case: Codes


def united(columns: Sequence[Names]) -> tuple[list[Codes], "pa.Array"]:
    """Several columns of names under one list of distinct names in natural order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(columns) == 1:
        codes, names = values.sorted_codes(columns[0].codes, columns[0].distinct)
        return [codes], names
    every = pc.unique(pa.concat_arrays([pa.array(c.distinct, pa.string()) for c in columns]))
    every = every.take(values.natural_order(every))
    return [c.among(every) for c in columns], every


def person(name: str) -> str:
    """An id as messages write it: on one line and short."""
    return quoted(name)[1:-1]


@dataclass
class Gatherer:
    """Gathers what the parts say of cases or readers; where two records disagree, that is a problem."""

    labels: Labels
    parts: Sequence[CaseRecords]
    what: str = "case"

    def binary(self, word: str, columns: dict[int, Binary]) -> Binary:
        """The truth, or a test that it is made of, (n_cases,); -1 where no part has it."""
        if not columns:
            return np.full(len(self.labels), -1, np.int8)
        return np.asarray(self._gather(word, columns, lambda x: x == -1, -1))

    def named(self, word: str, columns: dict[int, Names]) -> Coded | None:
        """A column of names (n_cases,), or None where no part has it."""
        import pyarrow as pa

        if not columns:
            return None
        coded, names = united(list(columns.values()))
        gathered = self._gather(word, dict(zip(columns, coded)), lambda x: x == -1, -1, pa.array(names))
        return values.coded(gathered, names)

    def floats(self, word: str) -> Floats | None:
        """Numbers of a word (n_cases,), or None where no part has it."""
        held = {i: p.table.numbers[word] for i, p in enumerate(self.parts) if word in p.table.numbers}
        return self._gather(word, held, np.isnan, np.nan) if held else None

    def times(self, word: str) -> NDArray[np.datetime64] | None:
        """Dates of a word (n_cases,), or None where no part has it."""
        held = {i: p.table.times[word] for i, p in enumerate(self.parts) if word in p.table.times}
        return self._gather(word, held, np.isnat, np.datetime64("NaT", "s")) if held else None

    def _gather(
        self, word: str, held: dict[int, Any], missing: Missing, blank: Any, names: Any = None
    ) -> Any:
        first = next(iter(held.values()))
        out = np.full(len(self.labels), blank, first.dtype)
        disputed: list[int] = []
        for i, column in held.items():
            part = self.parts[i]
            case, said = part.case, column[part.records]
            given = (case >= 0) & ~missing(said)
            if not given.all():
                case, said = case[given], said[given]
            fresh = missing(out[case])
            out[case[fresh][::-1]] = said[fresh][::-1]
            disputed += np.unique(case[out[case] != said])[:VALUES].tolist()
        for position in list(dict.fromkeys(disputed))[:VALUES]:
            self._dispute(word, held, position, missing, names)
        return out

    def _dispute(self, word: str, held: dict[int, Any], case: int, missing: Missing, names: Any) -> None:
        """Two records that disagree over one case: both rows, both values."""
        seen: list[tuple[MappedTable, int, Any]] = []
        for i, column in held.items():
            part = self.parts[i]
            for record in part.records[part.case == case]:
                said = column[record]
                if not missing(said) and all(said != other for _, _, other in seen):
                    seen.append((part.table, int(part.table.row(int(record))[0]), said))
            if len(seen) > 1:
                break
        (one, row, a), (other, next_row, b) = seen[:2]
        shown = [person(names[int(x)].as_py()) if names is not None else str(x) for x in (a, b)]
        where = (f"row {row}", f"row {next_row}")
        if one.file != other.file:
            where = (f"{where[0]} of {one.file}", f"{where[1]} of {other.file}")
        values_of = "truths" if word == "truth" else f"values of {word}"
        one.refuse(
            f"{self.what} {person(self.labels[case])} has two {values_of} "
            f"({shown[0]} in {where[0]}, {shown[1]} in {where[1]})",
            mend=ONE_TRUTH if word == "truth" else f"A {self.what} has one.",
            rows=(row, next_row) if one.file == other.file else (row,),
            word=word,
            column=word,
        )


def build(labels: Labels, parts: Sequence[CaseRecords]) -> Cases:
    """The cases of these labels with everything that the parts say of them."""
    gather = Gatherer(labels, parts)
    classes, coded_truth = _class_truth(parts)
    day = gather.times("date")
    # What a rater said of the complexity of a case is the rater's: others may say something else.
    of_case = replace(gather, parts=[p for p in parts if p.table.kind != "raters"])
    numbers = {w: found for w in contracts.CASE_NUMBERS if (found := gather.floats(w)) is not None}
    if "follow_up" in numbers and "event" in numbers:
        classes = ()
    return Cases(
        labels,
        gather.binary("truth", coded_truth),
        classes,
        patient=gather.named("patient", _names(parts, "patient")),
        site=gather.named("site", _names(parts, "site")),
        date=None if day is None else day.astype("datetime64[D]"),
        complexity=of_case.floats("complexity"),
        content=gather.named("content_hash", _names(parts, "content_hash")),
        groups=groups(gather),
        numbers=numbers,
        tests=_tests(gather),
    )


def _tests(gather: Gatherer) -> dict[str, Binary]:
    """The results of the tests that the truth is made of, by their names."""
    found = {}
    for name in dict.fromkeys(name for part in gather.parts for name in part.table.per("truth")):
        key = f"truth/{name}"
        columns = {i: p.table.flags[key] for i, p in enumerate(gather.parts) if key in p.table.flags}
        found[name] = gather.binary(key, columns)
    return found


def _names(parts: Sequence[CaseRecords], word: str) -> dict[int, Names]:
    return {i: p.table.names[word] for i, p in enumerate(parts) if word in p.table.names}


def groups(gather: Gatherer) -> dict[str, Coded]:
    """The further columns of the parts, as names."""
    every = dict.fromkeys(name for part in gather.parts for name in part.table.extra)
    found = {}
    for name in every:
        columns = {
            i: Names(*values.encoded(p.table.extra[name]))
            for i, p in enumerate(gather.parts)
            if name in p.table.extra
        }
        column = gather.named(name, columns)
        if column is not None:
            found[name] = column
    return found


def class_names(columns: tuple[str, ...]) -> tuple[str, ...]:
    """The names of classes: their column names, after the last underscore where those differ."""
    short = tuple(c.rpartition("_")[2] for c in columns)
    return short if len(set(short)) == len(short) and all(short) else columns


def _class_truth(parts: Sequence[CaseRecords]) -> tuple[tuple[str, ...], dict[int, Binary]]:
    """The classes of the cases, and the truth of each part as a position among them."""
    columns = next((p.table.class_columns for p in parts if p.table.class_columns), ())
    if not columns:
        binary = dict.fromkeys(values.NO, 0) | dict.fromkeys(values.YES, 1)
        return ("0", "1"), _coded_truth(parts, binary, contracts.TRUTH.expected)
    classes = class_names(columns)
    known = {name: i for i, name in reversed(list(enumerate(columns)))} | {
        n: i for i, n in enumerate(classes)
    }
    if not any(n.isdecimal() for n in classes) or classes == tuple(str(i) for i in range(len(classes))):
        known |= {str(i): i for i in range(len(classes))}
    known |= {f"{k}.0": v for k, v in known.items() if k.isdecimal()}
    return classes, _coded_truth(parts, known, f"a class: {listed(classes)}")


def _coded_truth(parts: Sequence[CaseRecords], known: dict[str, int], expected: str) -> dict[int, Binary]:
    return {
        i: _as_classes(p, known, expected) if "truth" in p.table.names else p.table.flags["truth"]
        for i, p in enumerate(parts)
        if "truth" in p.table.names or "truth" in p.table.flags
    }


def _as_classes(part: CaseRecords, known: dict[str, int], expected: str) -> Binary:
    names = part.table.names["truth"]
    distinct = names.distinct.to_pylist()
    meaning = np.array([known.get(n, known.get(n.lower(), -2)) for n in distinct] + [-1], np.int8)
    truth = meaning[names.codes]
    at = part.records[truth[part.records] == -2]
    if len(at):
        part.table.refuse_names("truth", at, expected)
    return np.where(truth == -2, np.int8(-1), truth)


SEVERAL = "columns: {truth: {<test>: <header>, <test>: <header>}}"


def by_rule(results: Binary, rule: str) -> Binary:
    """The truth (n,) that results of tests (n_tests, n) make; -1 where those that are there do not decide it.

    >>> by_rule(np.array([[1, 0, 0, -1], [-1, -1, 0, 0]], np.int8), "any")
    array([ 1, -1,  0, -1], dtype=int8)
    """
    positive, negative = (results == 1).sum(axis=0), (results == 0).sum(axis=0)
    n = len(results)
    most = {"any": 1, "all": n, "majority": n // 2 + 1}[rule]
    found = np.where(positive >= most, 1, np.where(negative > n - most, 0, -1))
    return found.astype(np.int8)


def compose(tables: Iterable[MappedTable], standard: ReferenceStandard, problems: Problems) -> None:
    """Give every table whose truth is mapped to several tests the truth that the rule makes of them."""
    several = 0
    for table in tables:
        tests = [f"truth/{name}" for name in table.per("truth")]
        if not tests:
            continue
        several += 1
        path: KeyPath = (*table.spec.path, "columns", "truth")
        if standard.rule is None:
            mend = "Add reference_standard: {kind: composite, rule: any}, or all or majority."
            problems.declared(path, "found several columns", "one column, or a rule", mend)
        elif not all(key in table.flags for key in tests):
            problems.declared(path, "found several columns", "one column: a rule makes two classes", "")
        elif own := {table.headers[key] for key in tests} & {
            header for key, header in table.headers.items() if key.partition("/")[0] in ("decision", "score")
        }:
            problems.declared(path, f"found {listed(own)}, a result of the device", "tests beside it", "")
        elif wrong := _why_not(len(tests), standard):
            problems.declared(path, f"found {len(tests)} test{'s' * (len(tests) > 1)}", wrong, "")
        else:
            table.flags["truth"] = by_rule(np.stack([table.flags[key] for key in tests]), standard.rule)
            table.headers["truth"] = listed(table.headers[key] for key in tests)
    if standard.rule is not None and not several:
        problems.declared(("reference_standard", "rule"), "no truth of several tests", SEVERAL, "")


def _why_not(n: int, standard: ReferenceStandard) -> str:
    """How many tests a rule or a model needs; empty where there are as many."""
    if n < 2:
        return "two or more"
    if standard.rule == "majority" and n % 2 == 0:
        return "an odd number for a majority"
    from trustreport.measures.confusion.latent_class import FEWEST, MOST

    if standard.kind == "latent_class" and not FEWEST <= n + 1 <= MOST:
        return f"{FEWEST - 1} to {MOST - 1} beside the device, for a latent class"
    return ""


def unknown(table: MappedTable, word: str, lost: Rows, known: "pa.Array", what: str, mend: str) -> None:
    """Problems for names (of records `lost`) that the tables which declare them do not have."""
    pool = known.slice(0, 5000).to_pylist()
    plain = {_without_zeros(name): name for name in pool}

    def mended(cell: str) -> str:
        other = plain.get(_without_zeros(cell))
        if other is None:
            return did_you_mean(cell, pool) or mend
        return f"It differs from {quoted(other)} by zeros or letter case alone: write one of them everywhere."

    table.refuse_names(word, lost, what, mended)


def _without_zeros(name: str) -> str:
    return re.sub(r"\d+", lambda digits: digits[0].lstrip("0") or "0", name.strip().casefold())


def alike(word: str, columns: Iterable[tuple[MappedTable, Names]]) -> None:
    """Names that differ by nothing but blanks or letter case: two spellings of one, or a trap."""
    import pyarrow as pa
    import pyarrow.compute as pc

    held = list(columns)
    arrays = [pa.array(n.distinct, pa.string()) for _, n in held]
    every = pc.unique(pa.concat_arrays(arrays)) if len(arrays) > 1 else arrays[0] if arrays else pa.array([])
    if not len(every) or not pc.any(pc.match_substring_regex(every, r"[\s\p{Lu}]")).as_py():
        return
    folded = pc.utf8_lower(pc.replace_substring_regex(every, r"\s+", ""))
    if pc.count_distinct(folded).as_py() == len(every):
        return
    counts = pc.value_counts(folded)
    shared = counts.field("values").filter(pc.greater(counts.field("counts"), 1))
    for fold in shared.slice(0, VALUES).to_pylist():
        together = [
            n for n in every.filter(pc.equal(folded, fold)).to_pylist() if squeezed(n) == squeezed(fold)
        ]
        _report_alike(word, together, held)


def _report_alike(word: str, names: list[str], held: list[tuple[MappedTable, Names]]) -> None:
    import pyarrow.compute as pc

    rows: list[int] = []
    file, header = "", word
    for name in names:
        for table, column in held:
            code = pc.index(column.distinct, name).as_py()
            at = np.flatnonzero((column.codes == code) & (code >= 0))
            if len(at):
                if file in ("", table.file):
                    file, header = table.file, table.headers[word]
                    rows.append(int(table.row(int(at[0]))[0]))
                break
    said = " and ".join(quoted(n) for n in names[:3])
    held[0][0].problems.add_at(
        file or held[0][0].file,
        f"{said} differ only by blanks or letter case",
        mend=f"Write one {word} in one way everywhere, or name different ones more differently.",
        rows=sorted(rows),
        column=header,
    )


USUAL = ("unaided", "aided")


@dataclass(frozen=True)
class Arms:
    """The arms in the manifest's order; `known` maps every cell that stands for an arm to its position."""

    names: tuple[str, ...]
    aided: tuple[bool, ...]
    known: Mapping[str, int]

    def codes(self, table: MappedTable) -> Codes:
        """The arm of each record (n_rows,), -1 where the cell names none (a problem)."""
        column = table.names["arm"]
        meaning = np.array([self.known.get(n, -2) for n in column.distinct.to_pylist()] + [-1], np.int32)
        codes = meaning[column.codes]
        lost = np.flatnonzero(codes == -2)
        if len(lost):
            table.refuse_names("arm", lost, f"an arm: {listed(self.known)}", self._offer)
        return np.where(codes == -2, np.int32(-1), codes)

    def _offer(self, cell: str) -> str:
        return did_you_mean(cell, self.known) or "List the cell under arms: values in the manifest."


def arms_of(plan: Plan, tables: Sequence[MappedTable], problems: Problems) -> Arms:
    """The arms that are declared, or the usual two where their names alone say everything."""
    if not plan.arms:
        return _undeclared(plan, tables)
    names = tuple(a.arm for a in plan.arms)
    known: dict[str, int] = {}
    for i, arm in enumerate(plan.arms):
        for value in dict.fromkeys((arm.arm, *(arm.values or ()))):
            value = value.strip()
            if known.setdefault(value, i) != i:
                found = f"{quoted(value)} is used for two arms"
                problems.declared(("arms", i), found, mend="Give each arm names and values of its own.")
    return Arms(names, _aided(plan, problems), known)


def _undeclared(plan: Plan, tables: Sequence[MappedTable]) -> Arms:
    readings = [t for t in tables if t.kind == "readings"]
    named = {n for t in tables if "arm" in t.names for n in t.names["arm"].distinct.to_pylist()}
    named |= {per for t in readings for word in t.headers for per in t.per(word.partition("/")[0])}
    named |= {row.arm for row in plan.counts}
    of_readers = [t for t in tables if t.kind == "values" and "reader" in t.names]
    named |= {per for t in of_readers for per in t.per("measured") if per in USUAL}  # others are candidates
    if plan.reading.design == "sequential" or any("initial_decision" in t.headers for t in readings):
        named |= set(USUAL)
    names = USUAL if named - set(USUAL) else tuple(n for n in USUAL if n in named)
    return Arms(names, tuple(n == "aided" for n in names), {n: i for i, n in enumerate(names)})


def _aided(plan: Plan, problems: Problems) -> tuple[bool, ...]:
    """Which arms are aided, as declared, or as an arm named aided or unaided says itself."""
    flags = [arm.is_aided for arm in plan.arms]
    for i, arm in enumerate(plan.arms):
        if arm.aided is not None and arm.arm in USUAL and arm.aided != (arm.arm == "aided"):
            found = f"arm {quoted(arm.arm)} is declared aided: {str(arm.aided).lower()}"
            problems.declared(("arms", i, "aided"), found, mend="Rename the arm or correct the flag.")
            return tuple(bool(f) for f in flags)
    if len(flags) > 1:
        for i, flag in enumerate(flags):
            if flag is None:
                found = f"arm {quoted(plan.arms[i].arm)} does not say whether it is aided"
                problems.declared(("arms", i), found, "aided: true or aided: false")
        if None not in flags and len(set(flags)) == 1:
            found = f"all arms are {'aided' if flags[0] else 'unaided'}"
            expected = (
                "one aided and one unaided arm"
                if len(flags) == 2
                else "at least one aided and one unaided arm"
            )
            problems.declared(("arms",), found, expected)
    return tuple(bool(f) for f in flags)
