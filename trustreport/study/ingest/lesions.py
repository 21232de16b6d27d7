"""Tables of lesions and of marks to localisations: whose marks, on which cases, which lesion each hit."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trustreport.study.ingest import cases, values
from trustreport.study.ingest.cases import USUAL, Arms, CaseRecords, Rows, person
from trustreport.study.ingest.columns import MappedTable, Names
from trustreport.study.ingest.contracts import COORDINATES
from trustreport.study.ingest.problems import VALUES, listed
from trustreport.study.ingest.readings import readers_of
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Codes, Dataset, Floats, Labels, Localisation, Readers

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


EVERY_CASE = "Add a table of cases: one row for every case, with and without lesions, marked or not."


def localised(
    plan: Plan, tables: Sequence[MappedTable], arms: Arms, datasets: tuple[Dataset, ...]
) -> tuple[tuple[Dataset, ...], tuple[Localisation, ...]]:
    """The localisations of readers and of candidates; data sets with marks know which cases have a lesion."""
    marks = [t for t in tables if t.kind == "marks"]
    lesions = [t for t in tables if t.kind == "lesions"]
    if not marks:
        for table in lesions:
            found, mend = "lesions without marks", "Add a table of marks."
            table.refuse(found, "a table of kind marks beside it", mend, rows=(1,))
        return datasets, ()
    made = [
        one
        for task in dict.fromkeys(t.spec.task or "" for t in marks if by_readers(t))
        if (one := _of_task(task, marks, lesions, tables, arms, plan)) is not None
    ]
    by_name = {d.name: d for d in datasets}
    own: dict[str, list[MappedTable]] = {}
    for table in (t for t in marks if not by_readers(t)):
        name = _dataset_of(table, by_name, plan)
        if name is not None:
            own.setdefault(name, []).append(table)
    for name, of_set in own.items():
        one_set = _of_set(by_name[name], of_set, lesions, plan)
        if one_set is not None:
            by_name[name] = replace(by_name[name], cases=one_set.cases)
            made.append(one_set)
    return tuple(by_name[d.name] for d in datasets), tuple(made)


def by_readers(table: MappedTable) -> bool:
    """Whether a table of marks says which reader made each."""
    return "reader" in table.names


def _dataset_of(table: MappedTable, datasets: dict[str, Dataset], plan: Plan) -> str | None:
    """The data set that marks of candidates are of."""
    declared = [d.dataset for d in plan.datasets]
    name = table.spec.dataset or (declared[0] if len(declared) == 1 else None)
    if name is None and len(datasets) == 1 and not declared:
        name = next(iter(datasets))
    if name is None:
        mend = f"Add {table.spec.where}.dataset to the manifest; marks of readers need a column reader."
        found = f"the marks do not say to which of {len(declared)} data sets they belong"
        if not declared:
            found = "marks without a reader, and no data set whose cases are known"
            mend = f"{EVERY_CASE} Marks of readers need a column reader."
        table.refuse(found, "", mend, rows=(1,))
        return None
    if name not in datasets:
        table.refuse(f"the cases of data set {name} are not known", "", EVERY_CASE, rows=(1,))
        return None
    return name


def _of_set(
    dataset: Dataset, marks: Sequence[MappedTable], lesions: Sequence[MappedTable], plan: Plan
) -> Localisation | None:
    import pyarrow as pa

    sole = len(plan.datasets) < 2
    serving = [
        t
        for t in lesions
        if t.spec.dataset == dataset.name or (t.spec.dataset is None and t.spec.task is None and sole)
    ]
    names = pa.array(list(dataset.cases.labels), pa.string())
    found = _lesions(serving, names, marks[0], plan)
    made = _marks(marks, names)
    if found is None or made is None:
        return None
    _no_arms(marks)
    maker, makers = made.names("candidate")
    fixed = [t.spec.candidate or "" for t in made.tables]
    if (maker < 0).any():  # a table without the column: what the manifest says, or a candidate without name
        every = pa.array([*makers.to_pylist(), *fixed], pa.string())
        unnamed = np.array([len(makers) + i for i in range(len(fixed))], np.int32)
        maker = np.where(maker < 0, unnamed[made.table], maker)
        distinct = list(dict.fromkeys(every.to_pylist()))
        maker = np.array([distinct.index(n) for n in every.to_pylist()], np.int32)[maker]
        makers = pa.array(distinct, pa.string())
    maker, makers = values.sorted_codes(*values.used_only(maker, makers))
    own = replace(dataset.cases, truth=_truth(dataset.cases, found, marks[0]))
    parts = Parts(own, found, made, np.zeros(len(maker), np.int32), maker, values.labels_of(makers))
    return joined(parts, plan, dataset=dataset.name)


def _no_arms(marks: Sequence[MappedTable]) -> None:
    for table in marks:
        if "arm" in table.names:
            found, mend = "marks of candidates with a column arm", "Marks of readers need a column reader."
            table.refuse(found, "", mend, rows=(1,), word="arm")


def _truth(held: Cases, found: Found, table: MappedTable) -> NDArray[np.int8]:
    """Which cases have a lesion; a truth that was given says the same."""
    has = np.zeros(len(held), np.int8)
    has[found.case] = 1
    for i in np.flatnonzero((held.truth >= 0) & (held.truth != has))[:VALUES]:
        name, says = person(held.labels[int(i)]), int(held.truth[i])
        said = f"case {name} has the truth {says} and {'a' if has[i] else 'no'} lesion in {found.files}"
        mend = "Correct the truth or the table of lesions; the column truth may be left out."
        table.refuse(said, "1 for a case with a lesion, 0 without", mend)
    return has


def _of_task(
    task: str,
    marks: Sequence[MappedTable],
    lesions: Sequence[MappedTable],
    tables: Sequence[MappedTable],
    arms: Arms,
    plan: Plan,
) -> Localisation | None:
    def serves(table: MappedTable) -> bool:
        return table.spec.task in (None, task) and table.spec.dataset is None

    own = [t for t in marks if by_readers(t) and (t.spec.task or "") == task]
    described = [t for t in tables if t.kind == "cases" and serves(t) and "dataset" not in t.names]
    for table in own:
        if "candidate" in table.names or table.spec.dataset is not None:
            found = "marks of readers that name a candidate or a data set"
            table.refuse(found, "a table of its own for marks of candidates", rows=(1,))
    if not described:
        own[0].refuse("the cases that were read are not known", "", EVERY_CASE, rows=(1,))
        return None
    coded, names = cases.united([t.names["case"] for t in described])
    parts = [CaseRecords(t, np.arange(t.n_rows), c) for t, c in zip(described, coded)]
    for part in parts:
        part.table.used[:] = True
    found_lesions = _lesions([t for t in lesions if serves(t)], names, own[0], plan)
    made = _marks(own, names)
    if found_lesions is None or made is None:
        return None
    arm = _arms(made, arms)
    reader, reader_names = made.names("reader")
    if arm is None or (reader < 0).any():
        return None
    reader, reader_names = values.sorted_codes(*values.used_only(reader, reader_names))
    people = [t for t in tables if t.kind == "readers" and t.spec.task in (None, task)]
    readers = readers_of(reader_names, people, plan, own)
    built = cases.build(values.labels_of(names), parts)
    built = replace(built, truth=_truth(built, found_lesions, described[0]))
    used = np.flatnonzero(np.bincount(arm[arm >= 0], minlength=len(arms.names)) > 0)
    _crossed(arm, reader, readers.labels, used, arms, own[0])
    place = np.full(len(arms.names) + 1, -1, np.int32)
    place[used] = np.arange(len(used))
    of_marks = Parts(built, found_lesions, made, place[arm], reader, readers.labels)
    names_of = tuple(arms.names[i] for i in used)
    return joined(of_marks, plan, arms=names_of, task=task, readers=readers)


def _arms(made: Made, arms: Arms) -> Codes | None:
    found = np.zeros(len(made.record), np.int32)
    for i, table in enumerate(made.tables):
        own = made.table == i
        if "arm" in table.names:
            found[own] = arms.codes(table)[made.record[own]]
        elif len(arms.names) != 1:
            expected = f"a column that says {listed(arms.names or USUAL)}"
            mend = "Add it, or name yours in the manifest: columns: {arm: <your header>}."
            table.refuse('no column "arm"', expected, mend, rows=(1,))
            return None
    return found


def _crossed(
    arm: Codes, reader: Codes, labels: Labels, used: NDArray[np.int64], arms: Arms, table: MappedTable
) -> None:
    """Every reader has a row in every arm: without any, nobody knows whether the cases were read there."""
    lacking = [
        f"{person(labels[j])} in arm {arms.names[i]}"
        for i in used
        for j in range(len(labels))
        if not ((arm == i) & (reader == j)).any()
    ]
    if lacking:
        mend = (
            "If all cases were read there without a mark, add a row with reader, arm and case and an empty "
            "rating. If they were not read, leave the reader out: every reader reads every case in every arm."
        )
        table.refuse(f"no row of {listed(lacking, 4)}", "", mend)


def _lesions(
    tables: Sequence[MappedTable], known: "pa.Array", marks: MappedTable, plan: Plan
) -> Found | None:
    """The lesions of the cases `known`, sorted by case; None where none of the tables can be used."""
    if not tables:
        found, mend = "marks without lesions", "Add a table of lesions: case and lesion, a row for each."
        marks.refuse(found, "a table of kind lesions", mend, rows=(1,))
        return None
    case, names, weight, place = [], [], [], []
    rows: dict[tuple[int, str], tuple[MappedTable, int]] = {}
    for table in tables:
        at = _positions(table, known)
        table.used |= at >= 0
        column = table.names["lesion"]
        empty = np.flatnonzero(column.codes < 0)
        if len(empty):
            header = table.headers["lesion"]
            table.refuse("a lesion without a name", "a name in every row", at=empty, column=header)
        for i in np.flatnonzero((at >= 0) & (column.codes >= 0)):
            key, row = (int(at[i]), column.name_at(int(i))), int(table.row(int(i))[0])
            if key in rows:
                said = f"lesion {person(key[1])} of case {person(known[key[0]].as_py())} appears twice"
                both = (rows[key][1], row) if rows[key][0] is table else (row,)
                table.refuse(said, "one row for each lesion", rows=both)
            rows.setdefault(key, (table, row))
            case.append(key[0])
            names.append(key)
            weight.append(table.numbers["lesion_weight"][i] if "lesion_weight" in table.numbers else np.nan)
            place.append([table.numbers[w][i] if w in table.numbers else np.nan for w in COORDINATES])
    order = np.argsort(np.array(case, np.int32), kind="stable")
    sorted_case = np.array(case, np.int32)[order]
    files = " or ".join(dict.fromkeys(t.file for t in tables))
    return Found(
        sorted_case,
        tuple(names[i] for i in order),
        _weights(np.array(weight)[order], sorted_case, tables[0]),
        _places(np.array(place).reshape(-1, 3)[order], tables[0], plan),
        files,
    )


def _weights(given: Floats, case: Codes, table: MappedTable) -> Floats | None:
    """Weights in sum 1 for each case; None where none is given."""
    absent = np.isnan(given)
    if absent.all():
        return None
    if absent.any():
        found = f"{int(absent.sum())} of {len(given)} lesions have no weight"
        table.refuse(found, "a weight of every lesion, or of none", column="lesion_weight")
        return None
    return np.asarray(given / np.bincount(case, given)[case])


def _places(found: Floats, table: MappedTable, plan: Plan) -> Floats | None:
    """The coordinates of lesions, those that are given at all, where a radius is declared."""
    if plan.localisation.acceptance_radius is None:
        return None
    given = ~np.isnan(found).all(axis=0)
    if not given.any() or np.isnan(found[:, given]).any():
        what = "lesions without coordinates, and an acceptance radius is declared"
        table.refuse(what, "x, y (and z) of every lesion", rows=(1,))
        return None
    return found


def _positions(table: MappedTable, known: "pa.Array") -> Codes:
    """The case of each row, -1 where there is no such case (a problem)."""
    at = table.names["case"].among(known)
    lost = np.flatnonzero((at < 0) & (table.names["case"].codes >= 0))
    if len(lost):
        cases.unknown(table, "case", lost, known, "a case of the table of cases", "Add it there.")
    return at


def _marks(tables: Sequence[MappedTable], known: "pa.Array") -> Made | None:
    """The rows of tables of marks whose case is known."""
    which, record, case, rating = [], [], [], []
    for i, table in enumerate(tables):
        at = _positions(table, known)
        keep = np.flatnonzero(at >= 0)
        table.used[keep] = True
        which.append(np.full(len(keep), i))
        record.append(keep)
        case.append(at[keep])
        rating.append(table.numbers["rating"][keep])
    if not sum(map(len, record)):
        return None
    every = np.concatenate(which), np.concatenate(record), np.concatenate(case), np.concatenate(rating)
    return Made(*every, tuple(tables))
