"""Published tables and figures, from the manifest and from files, to the groups of a `Study`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from trustreport.study.ingest.cases import USUAL, Arms
from trustreport.study.ingest.columns import MappedTable
from trustreport.study.ingest.problems import KeyPath, Problems, did_you_mean, dotted, listed, quoted
from trustreport.study.plan import Confusion, CountsRow, Plan, Reported
from trustreport.study.study import ArmCounts, CountsSet, Study

KNOWN = ("readers", "cases", "paired")


@dataclass(frozen=True)
class PublishedRow:
    """One row of counts and where it stands."""

    said: CountsRow
    file: str
    row: int
    column: str


def counts_of(
    plan: Plan, tables: Sequence[MappedTable], arms: Arms, problems: Problems
) -> tuple[CountsSet, ...]:
    """Counts per arm, grouped by set in the order in which the sets appear."""
    manifest, paths = problems.manifest, [("counts", i) for i in range(len(plan.counts))]
    rows = [
        PublishedRow(said, manifest.file, manifest.line(path), dotted(path))
        for said, path in zip(plan.counts, paths)
    ]
    rows += [row for t in tables if t.kind == "counts" for row in _from_table(t)]
    sets: dict[str, list[PublishedRow]] = {}
    for row in rows:
        sets.setdefault(row.said.set, []).append(row)
    names, known = (arms.names, arms.known) if plan.arms else (USUAL, {})
    made = [_set(name, held, names, known, problems) for name, held in sets.items()]
    return tuple(s for s in made if s is not None)


def _from_table(table: MappedTable) -> Iterable[PublishedRow]:
    for i in range(table.n_rows):
        count = {w: _whole(table, w, i) for w in ("errors", "correct", "readers", "cases")}
        if count["errors"] is None or count["correct"] is None or not table.names["arm"].name_at(i):
            continue
        arm, paired = table.names["arm"].name_at(i), _paired(table, i)
        said = CountsRow.model_validate({"set": _set_name(table, i), "arm": arm, **count, "paired": paired})
        table.used[i] = True
        yield PublishedRow(said, table.file, int(table.row(i)[0]), table.headers["arm"])


def _whole(table: MappedTable, word: str, i: int) -> int | None:
    """A count in one record; None where the cell is empty or was refused."""
    number = float(table.numbers[word][i]) if word in table.numbers else np.nan
    return int(number) if number >= 0 and number == np.floor(number) and number <= 1e15 else None


def _paired(table: MappedTable, i: int) -> bool | None:
    """Whether the arms of one record are paired, where it says so."""
    said = int(table.flags["paired"][i]) if "paired" in table.flags else -1
    return bool(said) if said >= 0 else None


def _set_name(table: MappedTable, i: int) -> str:
    for word in ("set", "dataset"):
        if word in table.names:
            return table.names[word].name_at(i)
    return table.spec.dataset or table.spec.name


def _set(
    name: str, rows: Sequence[PublishedRow], arms: Sequence[str], known: Mapping[str, int], problems: Problems
) -> CountsSet | None:
    """One published table: each arm once, and nothing that contradicts itself."""
    of = f"of set {quoted(name)}" if name else "of the table"
    found: dict[str, PublishedRow] = {}
    sound = True
    for row in rows:
        arm = arms[known[row.said.arm]] if row.said.arm in known else row.said.arm
        if arm not in arms:
            mend = did_you_mean(row.said.arm, arms) or "Declare it under arms: in the manifest."
            _report(problems, [row], f"unknown arm {quoted(row.said.arm)}", listed(arms), mend)
            sound = False
        elif arm in found:
            said = f"arm {quoted(arm)} {of} appears twice"
            _report(problems, [found[arm], row], said, mend="Keep one row for each set and arm.")
            sound = False
        else:
            found[arm] = row
    if not sound:
        return None
    lacking = [a for a in arms if a not in found]
    if lacking:
        _report(
            problems, rows, f"no counts of arm {listed(lacking)} {of}", f"one row for each of {listed(arms)}"
        )
        return None
    agreed: dict[str, Any] = {}
    for word in KNOWN:
        given = {getattr(r.said, word) for r in rows} - {None}
        if len(given) > 1:
            _report(
                problems, rows, f"{word} differs between the arms {of}", mend="Give one value for the set."
            )
        agreed[word] = next(iter(given), None)
    counts = {a: ArmCounts(found[a].said.errors, found[a].said.correct) for a in arms}
    return CountsSet(name, counts, **agreed)


def _report(
    problems: Problems, rows: Sequence[PublishedRow], found: str, expected: str = "", mend: str = ""
) -> None:
    lines = [r.row for r in rows if r.file == rows[0].file]
    problems.add_at(rows[0].file, found, expected, mend, rows=lines, column=rows[0].column)


def confusion_of(plan: Plan, tables: Sequence[MappedTable]) -> tuple[Confusion, ...]:
    """Tables of TP, FP, FN and TN, those of the manifest first."""
    made = list(plan.confusion)
    seen = {(c.set, c.candidate) for c in made}
    for table in (t for t in tables if t.kind == "confusion"):
        for i in range(table.n_rows):
            cells = {w: _whole(table, w, i) for w in ("tp", "fp", "fn", "tn", "readers", "cases")}
            if any(cells[w] is None for w in ("tp", "fp", "fn", "tn")):
                continue
            name = _set_name(table, i)
            if table.n_rows > 1 and not {"set", "dataset"} & table.names.keys():
                name = f"{name} {i + 1}"  # without names, a row is a set
            candidate = (table.names["candidate"].name_at(i) if "candidate" in table.names else None) or None
            if (name, candidate) in seen:
                row = table.row(i)
                table.refuse(f"set {quoted(name)} appears twice", mend="Name each set once.", rows=row)
                continue
            seen.add((name, candidate))
            table.used[i] = True
            paired = _paired(table, i)
            made.append(Confusion(set=name, candidate=candidate, **cells, paired=paired))
    return tuple(made)


def sets_are_unique(plan: Plan, problems: Problems) -> None:
    """A set of one kind has one entry in the manifest; of decisions, one for each candidate."""
    for group in (
        *("paired_counts", "confusion", "confusion_tables", "joint_decisions"),
        *("reliance_counts", "nomogram", "reported", "published_readers", "published_sites"),
    ):
        seen: dict[Any, int] = {}
        for i, entry in enumerate(getattr(plan, group)):
            key = entry.set, frozenset(getattr(entry, "candidates", ())) or getattr(entry, "candidate", None)
            if key in seen:
                found, mend = f"set {quoted(entry.set)} appears twice", "Give each set a name of its own."
                problems.declared((group, i, "set"), found, "", mend, before=(group, seen[key]))
            seen.setdefault(key, i)


def pools_are_of_sets(plan: Plan, confusion: Sequence[Confusion], problems: Problems) -> None:
    """A pool names tables of counts that are there, each once, and has a name that none of them has."""
    known = [c.set for c in confusion]
    for i, pool in enumerate(plan.pools):
        wrong: list[tuple[str, str, str, str]] = []
        if pool.pool in known:
            wrong.append(("pool", f"pool {quoted(pool.pool)} has the name of a set", "", "Rename the pool."))
        if not known:
            expected = "tables of tp, fp, fn and tn"
            wrong.append(("pool", "no table of counts to pool", expected, "Add them under confusion:."))
        for j, name in enumerate(pool.sets or () if known else ()):
            if name not in known:
                mend = did_you_mean(name, known)
                wrong.append(("sets", f"found {quoted(name)}", f"a set: {listed(known)}", mend))
            elif name in (pool.sets or ())[:j]:
                wrong.append(("sets", f"set {quoted(name)} appears twice", "", "Name each study once."))
        for name in dict.fromkeys(n for n in known if known.count(n) > 1 and n in (pool.sets or known)):
            found = f"set {quoted(name)} has tables of several candidates"
            wrong.append(
                ("sets", found, "studies of one device", "Give each candidate's table a set of its own.")
            )
        for field, found, expected, mend in wrong:
            problems.declared(("pools", i, field), found, expected, mend)


def reported_of(plan: Plan, tables: Sequence[MappedTable]) -> tuple[Reported, ...]:
    """Figures as they were printed, by set; a file may add figures to a set of the manifest."""
    sets: dict[str, dict[str, Any]] = {}
    for one in plan.reported:
        sets.setdefault(one.set, one.model_dump() | {"metrics": dict(one.metrics)})
    rows: dict[str, list[tuple[MappedTable, int]]] = {}
    for table in (t for t in tables if t.kind == "reported"):
        for i in range(table.n_rows):
            name = table.names["set"].name_at(i)
            if name:
                _one_figure(table, i, sets.setdefault(name, {"set": name, "metrics": {}}))
                rows.setdefault(name, []).append((table, i))
    made = []
    for name, said in sets.items():
        try:
            made.append(Reported.model_validate(said))
        except ValidationError as error:
            table, i = rows[name][0]
            expected = str(error.errors(include_url=False)[0]["msg"]).removeprefix("Value error, ")
            at = table.row(np.array([r for t, r in rows[name] if t is table]))
            table.refuse(f"set {quoted(name)} is incomplete", expected, rows=at)
    return tuple(made)


def _one_figure(table: MappedTable, i: int, said: dict[str, Any]) -> None:
    metric, value = table.names["metric"].name_at(i), table.text["value"][i].as_py()
    row = table.row(i)
    if not metric or value is None:
        if value is None:
            table.refuse("found an empty cell", "a figure", rows=row, word="value")
        return
    if said["metrics"].setdefault(metric, value) != value:
        found = f"two values of {metric} in set {quoted(said['set'])}"
        table.refuse(found, mend="Keep one.", rows=row, word="value")
    for word in ("positives", "negatives", "total"):
        count = _whole(table, word, i)
        if count is not None:
            _agree(table, said, word, count, row)
    rounding = table.names["rounding"].name_at(i) if "rounding" in table.names else ""
    if rounding in ("rounded", "truncated"):
        _agree(table, said, "rounding", rounding, row)
    elif rounding:
        found = f"found {quoted(rounding)}"
        table.refuse(found, '"rounded" or "truncated"', rows=row, word="rounding")
    table.used[i] = True


def _agree(table: MappedTable, said: dict[str, Any], word: str, value: Any, row: Any) -> None:
    if said.get(word) is None:
        said[word] = value
    elif said[word] != value:
        found = f"{word} of set {quoted(said['set'])} differs from other rows"
        table.refuse(found, mend="Give one value.", rows=row, word=word)


TWO = (2, 2)


def joint_tables_agree(plan: Plan, study: Study, problems: Problems) -> None:
    """A joint table names two tables of its set, and has their counts as its margins.

    It has no place for indeterminate outputs: a table that counts some differs from it.
    """
    cells = {
        (one.set, one.candidate): np.array(
            [[one.tn, one.fn], [one.fp, one.tp], *([indeterminate(one)] if any(indeterminate(one)) else ())]
        )
        for one in study.confusion
    }
    cells |= {(one.set, one.candidate): np.array(one.table) for one in plan.confusion_tables}
    for i, one in enumerate(plan.joint_decisions):
        joint = np.array(one.by_truth)
        for axis, candidate in enumerate(one.candidates):
            own = cells.get((one.set, candidate))
            field = "by_truth"
            if own is None:
                field, found = (
                    "candidates",
                    f"no table of candidate {quoted(candidate)} in set {quoted(one.set)}",
                )
                known = sorted(str(c) for s, c in cells if s == one.set and c)
                expected = f"a candidate of the set: {listed(known)}" if known else "tables under confusion"
                mend = did_you_mean(candidate, known)
            else:
                # Counts by decision and class.
                margin = joint.sum(axis=2 - axis).T
                if margin.shape == own.shape and (margin == own).all():
                    continue
                found = f"the joint table gives candidate {quoted(candidate)} {margin.tolist()}"
                expected = f"its own table, decisions by class: {own.tolist()}"
                mend = "A table for each class: rows the first candidate's decisions, columns the second's."
            at: KeyPath = ("joint_decisions", i, field)
            problems.declared(at, found, expected, mend)


def indeterminate(one: Confusion) -> tuple[int, int]:
    """Indeterminate outputs without and with the condition."""
    return one.indeterminate_negatives or 0, one.indeterminate_positives or 0
