"""The cells of one file as arrays: converted, and checked against the contract of their column."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest import contracts, values
from trustreport.study.ingest.columns import ColumnFinder, MappedTable, Names, Spec
from trustreport.study.ingest.contracts import CONTRACTS, WORDS, our_word
from trustreport.study.ingest.problems import RETYPE, SEEN, Manifest, Problems, listed, quoted, yaml_word
from trustreport.study.ingest.tables import Layout, Raw
from trustreport.vocabulary.errors import UNSEEN

if TYPE_CHECKING:
    from trustreport.study.ingest.tables import Column

FEW_LEVELS = 20
GLANCE = 100_000
Fault = tuple[str, contracts.ColumnCheck, NDArray[np.bool_]]
"""The key of a column, the check that it fails, and the records at fault."""


def load(spec: Spec, raw: Raw, problems: Problems) -> MappedTable | None:
    """The table of a file; None where it lacks a column without which nothing can be said."""
    kind = _counted_kind(spec, raw)
    finder = ColumnFinder(spec, raw, CONTRACTS[kind], problems)
    if not finder.find():
        return None
    raw, classes = finder.recode(), finder.class_columns
    table = MappedTable(spec, kind, problems, raw.rows, raw.n_rows, raw.n_blank, class_columns=classes)
    table.header, table.guessed_encoding = raw.header, raw.guessed_encoding
    table.used = np.zeros(raw.n_rows, bool)
    _CellLoader(table, finder).load()
    if kind == "reported" and table.headers["value"] in raw.typed:
        table.refuse(
            "found numbers, which lose the digits that were printed",
            'text such as "0.80"',
            "Format the cells as text, or provide a CSV file.",
            word="value",
        )
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


@dataclass
class _CellLoader:
    """Fills a table from the columns that were found, and reports the cells that their contracts refuse."""

    table: MappedTable
    finder: ColumnFinder

    def load(self) -> None:
        layout = replace(self.table.spec.layout, decimal=self.finder.raw.layout.decimal)
        for key, (word, position) in self.finder.found.items():
            self.table.headers[key] = self.finder.raw.header[position]
            _convert(self.table, key, word, self.finder.raw.columns[position], layout)
        self._check()
        self._keep_extra()
        self._names_are_seen()

    def _check(self) -> None:
        """Let the contract look at all columns at once; then empty the cells that it refused."""
        table, finder = self.table, self.finder
        columns: dict[str, NDArray[Any]] = {k: v.codes for k, v in table.names.items()}
        columns |= table.numbers | table.flags | table.times
        words = [(k, finder.found[k][0]) for k in columns if not (k == "truth" and k in table.names)]
        faults = contracts.failures(columns, words)
        absent = self._absent(faults)
        for key, check, mask in faults:
            rest = mask & ~absent[key] if key in absent else mask
            if rest.any():
                self._report(key, check, rest)
        for floats in table.numbers.values():
            floats[~np.isfinite(floats)] = np.nan
        for flags in table.flags.values():
            flags[flags == contracts.UNREAD_BINARY] = -1
        for moments in table.times.values():
            moments[moments == contracts.UNREAD_TIME] = np.datetime64("NaT")

    def _absent(self, faults: Sequence[Fault]) -> dict[str, NDArray[np.bool_]]:
        """One problem for each word that stands for "no value", in any column; the cells that have one."""
        import pyarrow as pa
        import pyarrow.compute as pc

        table, finder = self.table, self.finder
        every: dict[str, NDArray[np.bool_]] = {}
        held: dict[str, dict[str, NDArray[np.bool_]]] = {}
        for key, check, mask in faults:
            if check.together or check is contracts.GIVEN:
                continue
            at = np.flatnonzero(mask)
            cells = values.text(finder.raw.columns[finder.found[key][1]].take(at))
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
            mend = f"Add missing: [{yaml_word(word)}] to {finder.spec.where} in the manifest."
            table.refuse(found, "a value or an empty cell", mend, rows=rows, column=", ".join(columns))
        return every

    def _report(self, key: str, check: contracts.ColumnCheck, mask: NDArray[np.bool_]) -> None:
        """Problems for the cells of a column that fail a check, codes of two values apart."""
        import pyarrow as pa
        import pyarrow.compute as pc

        table, finder = self.table, self.finder
        at = np.flatnonzero(mask)
        column = finder.raw.columns[finder.found[key][1]].take(at)
        cells = pc.fill_null(values.text(column), "")
        header = table.headers[key]
        where = finder.spec.where
        codes = self._coding(key, pc.unique(cells).to_pylist())
        if codes:
            of_code = pc.is_in(cells, value_set=pa.array(list(codes)))
            counts = {name: int(pc.sum(pc.equal(cells, name)).as_py()) for name in codes}
            found = " and ".join(f"{quoted(name)} ({n:,})" for name, n in counts.items())
            line = (
                f"{finder.found[key][0]}: {{{', '.join(f'{yaml_word(k)}: {v}' for k, v in codes.items())}}}"
            )
            mend = f"If these are the codes, add values: {{{line}}} to {where} in the manifest."
            rows = table.row(at[np.asarray(of_code)])
            table.refuse(f"found {found}", check.expected, mend, rows=rows, column=header)
            cells, at = cells.filter(pc.invert(of_code)), at[~np.asarray(of_code)]
        if check.together:
            distinct = pc.unique(cells).to_pylist()
            found = f"found {listed(distinct, 3)}"
            mend = check.mend if isinstance(check.mend, str) else ""
            mend = mend.format(where=where, word=finder.found[key][0])
            table.refuse(found, check.expected, mend, at=at, column=header)
        elif len(at):
            said = check.mend

            def fix_of(cell: str) -> str:
                return (said if isinstance(said, str) else said(cell)).format(where=where)

            table.problems.by_value(table.file, header, cells, table.row(at), check.expected, fix_of)

    def _coding(self, key: str, distinct: list[str]) -> dict[str, str]:
        """What words of a column of 0 and 1 probably stand for; nothing where that cannot be told."""
        finder = self.finder
        if WORDS[finder.found[key][0]].kind != "binary":
            return {}
        known = {name: contracts.CODES[n] for name in distinct if (n := name.casefold()) in contracts.CODES}
        if len(known) == 1 and len(distinct) == 2:
            ((word, code),) = known.items()
            known |= {name: "10"[int(code)] for name in distinct if name != word}
        return known

    def _keep_extra(self) -> None:
        """Keep further columns that can become subgroups, strata or features."""
        table, finder = self.table, self.finder
        if finder.contract.extra == "ignored":
            return
        raw = finder.raw
        rest = {h: i for i, h in finder.headers.rest()} | finder.renamed
        if finder.contract.extra in ("groups", "divided"):
            if finder.contract.extra == "divided":
                kept = _cluster_keys(table.problems.manifest) | table.spec.divided
                rest = {h: i for h, i in rest.items() if h in finder.renamed or h.casefold() in kept}
            table.extra = {
                h: _group_cells(raw.columns[i], table.spec.layout.decimal) for h, i in rest.items()
            }
            return
        for name in table.spec.features:
            i = finder.renamed.get(name, finder.headers.index(name))
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
            if name in finder.renamed or name in kept or name.casefold() in kept or _has_few_levels(column):
                table.extra[name] = _group_cells(column, table.spec.layout.decimal)

    def _names_are_seen(self) -> None:
        """Refuse names with signs that are not seen: a name stands in sentences, beside numbers."""
        import pyarrow as pa
        import pyarrow.compute as pc

        table = self.table
        named = {
            table.headers[key]: held.distinct.take(pa.array(held.codes, mask=held.codes < 0))
            for key, held in table.names.items()
            if pc.any(pc.match_substring_regex(held.distinct, UNSEEN)).as_py()
        }
        for header, cells in (named | table.extra).items():
            mask = pc.fill_null(pc.match_substring_regex(cells, UNSEEN), False)
            if pc.any(mask).as_py():
                at = np.flatnonzero(mask)
                table.problems.by_value(table.file, header, cells.filter(mask), table.row(at), SEEN, RETYPE)


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
