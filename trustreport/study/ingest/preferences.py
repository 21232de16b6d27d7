"""Tables of paired preferences: which of two outputs a reader preferred for a case."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest import cases, values
from trustreport.study.ingest.cases import CaseRecords, Rows
from trustreport.study.ingest.columns import MappedTable, Names
from trustreport.study.ingest.readings import readers_of
from trustreport.study.plan import Plan
from trustreport.study.study import Floats, Preferences

TIES = ("tie", "equal", "both", "neither", "none", "no preference", "same", "draw", "0.5")
FIRST = ("first", "1", "left", "a")
SECOND = ("second", "2", "right", "b")


def preferences_of(plan: Plan, tables: Sequence[MappedTable]) -> tuple[Preferences, ...]:
    """The choices of each task."""
    own = [t for t in tables if t.kind == "preferences"]
    made = (_of_task(task, own, tables, plan) for task in dict.fromkeys(t.spec.task or "" for t in own))
    return tuple(one for one in made if one is not None)


def _of_task(
    task: str, every: Sequence[MappedTable], tables: Sequence[MappedTable], plan: Plan
) -> Preferences | None:
    own = [t for t in every if (t.spec.task or "") == task]
    rows = [_complete(table) for table in own]
    if not sum(map(len, rows)):
        return None
    case, case_names = cases.united([_names(t, "case", r) for t, r in zip(own, rows)])
    reader, reader_names = cases.united([_names(t, "reader", r) for t, r in zip(own, rows)])
    both = [_names(t, word, r) for t, r in zip(own, rows) for word in ("first", "second")]
    codes, outputs = cases.united(both)
    first, second = np.concatenate(codes[::2]), np.concatenate(codes[1::2])
    names = outputs.to_pylist()
    share = np.concatenate([_share(t, r) for t, r in zip(own, rows)])
    for table, at in zip(own, rows):
        table.used[at] = True
    labels = values.labels_of(case_names)
    parts = [CaseRecords(t, r, c) for t, r, c in zip(own, rows, case, strict=True)]
    for table in (t for t in tables if t.kind == "cases" and t.spec.task in (None, task or None)):
        known = table.names["case"].among(case_names)
        table.used |= known >= 0
        parts.insert(0, CaseRecords(table, np.arange(table.n_rows), known))
    people = [t for t in tables if t.kind == "readers" and t.spec.task in (None, task or None)]
    return Preferences(
        task,
        readers_of(reader_names, people, plan, own),
        cases.build(labels, parts),
        tuple(names),
        np.concatenate(reader),
        np.concatenate(case),
        first,
        second,
        share,
    )


def _names(table: MappedTable, word: str, rows: Rows) -> Names:
    column = table.names[word]
    return Names(*values.used_only(column.codes[rows], column.distinct))


def _complete(table: MappedTable) -> Rows:
    """The records with two different outputs and a choice."""
    words = ("case", "reader", "first", "second", "preferred")
    given = np.all([table.names[word].codes >= 0 for word in words], axis=0)
    same = given & (_texts(table, "first") == _texts(table, "second"))
    if same.any():
        table.refuse(
            "an output beside itself", "two different outputs", at=np.flatnonzero(same), word="second"
        )
    return np.flatnonzero(given & ~same)


def _texts(table: MappedTable, word: str) -> NDArray[Any]:
    column = table.names[word]
    return np.array([*column.distinct.to_pylist(), ""], object)[column.codes]


def _share(table: MappedTable, rows: Rows) -> Floats:
    """1 where the first output was preferred, 0 where the second was, one half for a tie."""
    first, second, said = (_texts(table, word)[rows] for word in ("first", "second", "preferred"))
    found = np.full(len(rows), np.nan)
    for i, (one, other, choice) in enumerate(zip(first, second, said)):
        word = str(choice).casefold()
        if choice in (one, other):
            found[i] = float(choice == one)
        elif word in TIES:
            found[i] = 0.5
        elif word in (*FIRST, *SECOND):
            found[i] = float(word in FIRST)
    lost = np.flatnonzero(np.isnan(found))
    if len(lost):
        table.refuse_names("preferred", rows[lost], "one of the two outputs, first, second, or tie")
    return np.nan_to_num(found, nan=0.5)
