"""Which mark hit which lesion: as the table says, or by distance; one mark of a maker a lesion."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest import cases
from trustreport.study.ingest.cases import Rows, person
from trustreport.study.ingest.columns import MappedTable, Names
from trustreport.study.ingest.contracts import COORDINATES
from trustreport.study.ingest.problems import VALUES, listed
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Codes, Floats, Labels, Localisation, Readers

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK = 1_000_000  # distances that are held at a time
RADIUS = "localisation: {acceptance_radius: <number>}"


@dataclass(frozen=True, eq=False)
class Found:
    """The lesions of one data set or task: `case` (n_lesions,) sorted, their names and places."""

    case: Codes
    names: tuple[tuple[int, str], ...]
    weight: Floats | None
    place: Floats | None
    files: str


@dataclass(frozen=True, eq=False)
class Made:
    """The marks of some tables, (n_marks,) each; `table` and `record` say where each stands."""

    table: NDArray[np.int64]
    record: Rows
    case: Codes
    rating: Floats
    tables: tuple[MappedTable, ...]

    def row(self, i: int) -> tuple[MappedTable, int]:
        """The table of a mark, and its row there."""
        table = self.tables[int(self.table[i])]
        return table, int(table.row(int(self.record[i]))[0])

    def names(self, word: str) -> "tuple[Codes, pa.Array]":
        """A column of names over all tables; -1 where a table has none, or the cell is empty."""
        import pyarrow as pa

        none = Names(np.empty(0, np.int32), pa.array([], pa.string()))
        held = [t.names.get(word, none) for t in self.tables]
        coded, every = cases.united(held)
        codes = np.full(len(self.record), -1, np.int32)
        for i, column in enumerate(coded):
            own = self.table == i
            if len(column):
                codes[own] = column[self.record[own]]
        return codes, every

    def numbers(self, word: str) -> Floats:
        """A column of numbers over all tables, NaN where there is none."""
        found = np.full(len(self.record), np.nan)
        for i, table in enumerate(self.tables):
            if word in table.numbers:
                own = self.table == i
                found[own] = table.numbers[word][self.record[own]]
        return found


@dataclass(frozen=True, eq=False)
class Parts:
    """What a localisation is joined from; `arm` and `maker` (n_marks,) as in `Localisation`."""

    cases: Cases
    lesions: Found
    made: Made
    arm: Codes
    maker: Codes
    makers: Labels


def joined(
    parts: Parts,
    plan: Plan,
    *,
    arms: tuple[str, ...] = ("",),
    dataset: str = "",
    task: str = "",
    readers: Readers | None = None,
) -> Localisation | None:
    """The localisation, with the lesion that each mark hit and one mark a lesion."""
    matched = _hits(parts, plan)
    if matched is None:
        return None
    lesion, distance = matched
    marked = ~np.isnan(parts.made.rating)
    for i in np.flatnonzero(~marked & (lesion >= 0))[:VALUES]:
        table, row = parts.made.row(int(i))
        found, mend = (
            "a mark on a lesion without a rating",
            "Add the rating, or empty the cell of the lesion.",
        )
        table.refuse(found, "a number", mend, rows=(row,), word="rating")
    arm, maker, case = (c[marked] for c in (parts.arm, parts.maker, parts.made.case))
    rating, lesion = parts.made.rating[marked], lesion[marked]
    # The highest mark of a maker on a lesion counts; marks that hit none are all kept.
    own = np.where(lesion >= 0, lesion, -1 - np.arange(len(lesion)))
    order = np.lexsort((-rating, own, maker, arm))
    again = np.zeros(len(order), bool)
    ordered = np.stack([arm[order], maker[order], own[order]])
    again[order[1:]] = (ordered[:, 1:] == ordered[:, :-1]).all(axis=0)
    keep = np.flatnonzero(~again)
    keep = keep[np.lexsort((-rating[keep], lesion[keep], case[keep], maker[keep], arm[keep]))]
    columns = (parts.makers, arm[keep], maker[keep], case[keep], rating[keep], lesion[keep].astype(np.int32))
    return Localisation(
        parts.cases,
        parts.lesions.case,
        parts.lesions.weight,
        *columns,
        arms=arms,
        dataset=dataset,
        task=task,
        readers=readers,
        merged=int(again.sum()),
        radius=plan.localisation.acceptance_radius,
        distance=None if distance is None else distance[marked][keep],
    )


def _hits(parts: Parts, plan: Plan) -> tuple[Codes, Floats | None] | None:
    """The lesion of each mark, -1 where none was hit, and its distance; None where that cannot be known."""
    radius, named = plan.localisation.acceptance_radius, [t for t in parts.made.tables if "lesion" in t.names]
    for table in named if radius is not None else ():
        twice = "a column lesion, and an acceptance radius is declared"
        mend = "Leave out localisation.acceptance_radius where the column says which lesion was hit."
        table.refuse(twice, "one of them", mend, rows=(1,), word="lesion")
    if radius is not None:
        return None if named else _nearest(parts, radius)
    if len(named) < len(parts.made.tables):
        table = next(t for t in parts.made.tables if t not in named)
        mend = f"Add it (empty for a mark that hit none), or x, y of marks and lesions with {RADIUS}."
        table.refuse('no column "lesion"', "the lesion that each mark hit", mend, rows=(1,))
        return None
    place = {key: i for i, key in enumerate(parts.lesions.names)}
    code, names = parts.made.names("lesion")
    said = names.to_pylist()
    found_at = np.full(len(code), -1, np.int32)
    lost: list[int] = []
    for i in np.flatnonzero(code >= 0):
        at = place.get((int(parts.made.case[i]), said[int(code[i])]))
        if at is None:
            lost.append(int(i))
        else:
            found_at[i] = at
    _no_such_lesion(lost, parts, [said[int(code[i])] for i in lost])
    return found_at, None


def _no_such_lesion(lost: list[int], parts: Parts, names: list[str]) -> None:
    of_case: dict[int, list[str]] = {}
    for case, lesion in parts.lesions.names:
        of_case.setdefault(case, []).append(lesion)
    for i, name in list(zip(lost, names))[:VALUES]:
        table, row = parts.made.row(i)
        case = int(parts.made.case[i])
        there = of_case.get(case, [])
        has = f"it has {listed(there)}" if there else "it has none"
        found = f"lesion {person(name)} of case {person(parts.cases.labels[case])}"
        mend = "Leave the cell empty where the mark hit no lesion."
        expected = f"a lesion of that case in {parts.lesions.files}: {has}"
        table.refuse(f"found {found}", expected, mend, rows=(row,), word="lesion")
    if len(lost) > VALUES:
        table, _ = parts.made.row(lost[VALUES])
        table.refuse(f"{len(lost) - VALUES:,} more marks hit a lesion that there is not")


def _nearest(parts: Parts, radius: float) -> tuple[Codes, Floats] | None:
    """The nearest lesion of the case within the radius, the first of the table where two are as near; and how
    far the nearest one is, whether within the radius or not."""
    places = parts.lesions.place
    if places is None:
        return None
    given = ~np.isnan(places).all(axis=0)
    spot = np.stack([parts.made.numbers(w) for w in COORDINATES], axis=1)
    marked = ~np.isnan(parts.made.rating)
    lacking = np.flatnonzero(marked & np.isnan(spot[:, given]).any(axis=1))
    for i in lacking[:1]:
        table, _ = parts.made.row(int(i))
        own = parts.made.record[lacking[parts.made.table[lacking] == parts.made.table[i]]]
        axes = [COORDINATES[k] for k in np.flatnonzero(given)]
        what = f"{len(own)} marks without {listed(axes)}"
        table.refuse(what, "coordinates as the lesions have them", at=own)
    found, nearest = np.full(len(spot), -1, np.int32), np.full(len(spot), np.inf)
    for rows, lesions in _by_case(np.where(marked, parts.made.case, -1), parts.lesions.case):
        away = np.sqrt(((spot[rows][:, None, given] - places[lesions][None, :, given]) ** 2).sum(axis=2))
        near = np.nan_to_num(away, nan=np.inf).argmin(axis=1)
        nearest[rows] = np.nan_to_num(away, nan=np.inf)[np.arange(len(rows)), near]
        inside = nearest[rows] <= radius
        found[rows[inside]] = lesions[near[inside]]
    return found, nearest


def _by_case(case: Codes, lesion_case: Codes) -> Iterator[tuple[Rows, Rows]]:
    """Marks and lesions of each case that has both."""
    order = np.argsort(case, kind="stable")
    ordered = case[order]
    for one in np.intersect1d(case, lesion_case):
        first, last = np.searchsorted(ordered, (one, one + 1))
        rows = order[first:last]
        start, stop = np.searchsorted(lesion_case, (one, one + 1))
        lesions = np.arange(start, stop)
        step = max(1, BLOCK // len(lesions))
        for i in range(0, len(rows), step):
            yield rows[i : i + step], lesions
