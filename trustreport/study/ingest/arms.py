"""The arms of a study: which there are, which are aided, which cell stands for which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trustreport.study.ingest.columns import MappedTable
from trustreport.study.ingest.problems import Problems, did_you_mean, listed, quoted
from trustreport.study.plan import Plan
from trustreport.study.study import Codes

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
