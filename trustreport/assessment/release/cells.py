"""The tables of decisions that results hold, and the results that give a small cell of one back."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import isnan, nan

from trustreport.measures.disclosure.counts import Count
from trustreport.measures.disclosure.cuts import kept_cuts
from trustreport.measures.disclosure.withhold import withheld
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import CELLS, OF_GROUPS, quantity
from trustreport.vocabulary.quantity import Quantity
from trustreport.vocabulary.results import Result

Table = dict[str, int]
CLASS_OF = {"tp": "positives", "fn": "positives", "fp": "negatives", "tn": "negatives"}
OTHER = {"tp": "fn", "fn": "tp", "fp": "tn", "tn": "fp"}  # of the same class
PARTS = ("site", "subgroup", "version", "class_", "complexity", "advice_type", "reader")
POOLED = ("pooled_performance", "prediction_interval", "heterogeneity", "between_site_variance")
FEW_CLOSED = 3  # with fewer sites withheld, the others and the mean give theirs back
NEAR = 1e-6
REPORTED = "reported"  # numbers of publications are public already
ASKS_NO_DEVICE = ("treat_all", "treat_none", "all_positive", "all_negative")


@dataclass(frozen=True, slots=True)
class ShownThresholds:
    """Thresholds at which numbers of all cases may be shown, and that of the decisions; None without one."""

    kept: tuple[float, ...]
    operating: float | None = None


Shown = Mapping[tuple[str, str], ShownThresholds]  # by data set and candidate


def saying_too_much(results: Sequence[Result], least: int, shown: Shown) -> set[int]:
    """Return the identities (`id`) of the results that a public report withholds.

    Withheld is a count of 1 to ``least - 1`` cases and a share that has one, above or below the line; what
    depends on a class of a table of which a cell is withheld, in itself or to protect a part by subtraction;
    comparisons with such a table; what lies at a threshold that may not be shown; and the mean over sites of
    which one or two are withheld.

    Parameters
    ----------
    shown : ShownThresholds by data set and candidate
        Where results may be shown; of sets that are not named, everywhere.
    """
    seen = [r for r in results if not isnan(r.estimate.value) and r.dimension != REPORTED]
    tables = tables_of(seen)
    shut = closed_classes(tables, least)
    found = {id(r) for r in seen if _is_small(r, least) or _rests_on_closed(r, shut) or _at_hidden(r, shown)}
    found |= _of_series(seen, least) | _without_a_few(seen, least)
    gone = [r for r in results if id(r) in found or r.estimate.note.has("suppressed_fewer_than")]
    found |= {id(r) for r in seen if _gives_sites_back(r, gone)}
    return found


def _is_small(r: Result, least: int) -> bool:
    if r.name in OF_GROUPS or r.place.datasets or r.place.sets:
        return False  # their denominators are readers, sites or studies
    e = r.estimate
    if r.unit == "count":
        return 0 < e.value < least
    if "low" in r.parameters and "high" in r.parameters:
        return True  # of the cases of one bin
    counted = _numerator(r)
    in_share = counted is not None and (0 < counted < least or 0 < e.n - counted < least)
    return 0 < e.n < least or in_share


def _numerator(r: Result) -> int | None:
    """The cases that a share counts; None where it is no share of whole cases."""
    e = r.estimate
    if r.unit != "proportion" or r.quantity.written_as or not e.n:
        return None
    counted = e.value * e.n
    return round(counted) if abs(counted - round(counted)) <= NEAR * max(1, e.n) else None


def tables_of(results: Iterable[Result]) -> dict[Place, Table]:
    """The cells that results state or give back by a multiplication, by place."""
    found: dict[Place, Table] = {}
    for r in results:
        if r.parameters or r.place.arms is not None or r.place.candidates is not None or r.place.reference:
            continue
        for cell, n in _cells(r):
            found.setdefault(r.place, {}).setdefault(cell, n)
    return found


def _cells(r: Result) -> Iterator[tuple[str, int]]:
    name, e = r.quantity.id, r.estimate
    if name in CELLS and r.unit == "count":
        yield name, round(e.value)
        return
    counted = _numerator(r)
    if counted is None:
        return
    row = _right(r.quantity)
    if len(row.counted) != 1:
        return
    (cell,) = row.counted
    counted = e.n - counted if r.quantity.left_of else counted
    if len(row.among) == 2:
        yield cell, counted
        yield next(one for one in row.among if one != cell), e.n - counted
        return
    yield cell, counted
    prevalence = e.details.get("prevalence", nan)
    if not isnan(prevalence):
        positives = round(prevalence * e.n)
        yield OTHER[cell], (positives if CLASS_OF[cell] == "positives" else e.n - positives) - counted


def _right(row: Quantity) -> Quantity:
    """The share of right decisions of which a rate of errors is what is left; any other as it is."""
    return quantity(row.left_of) if row.left_of and row.id == row.base else row


def closed_classes(tables: Mapping[Place, Table], least: int) -> dict[Place, set[str]]:
    """The classes of each table of which no cell may be shown: for their own sake, or for a part's."""
    shut: dict[Place, set[str]] = {place: set() for place in tables}
    for place, table in tables.items():
        shut[place] |= {CLASS_OF[cell] for cell, n in table.items() if 0 < n < least}
    for whole, parts in _divided(tables):
        for name in _withheld_in(tables[whole], [tables[part] for part in parts], least):
            i, _, cell = name.partition(" ")
            place = whole if i == "whole" else parts[int(i)]
            shut[place] |= {CLASS_OF[cell]} if cell in CLASS_OF else {"positives", "negatives"}
    return shut


def _divided(tables: Mapping[Place, Table]) -> Iterator[tuple[Place, list[Place]]]:
    """Each whole with its parts: those of one kind that do not overlap together, else each by itself."""
    for whole in tables:
        for kind in PARTS:
            if getattr(whole, kind) is not None:
                continue
            by_kind: dict[str, list[Place]] = {}
            for place in tables:
                name = getattr(place, kind)
                if name is not None and place.narrowed(**{kind: None}) == whole:
                    division = str(name).partition(": ")[0] if kind == "subgroup" else ""
                    by_kind.setdefault(division, []).append(place)
            for parts in by_kind.values():
                cells = tables[whole]
                disjoint = all(sum(tables[p].get(c, 0) for p in parts) <= n for c, n in cells.items())
                if kind == "reader" or disjoint:
                    yield whole, parts
                else:
                    yield from ((whole, [part]) for part in parts)


def _withheld_in(whole: Table, parts: Sequence[Table], least: int) -> frozenset[str]:
    """The counts, as ``"whole tp"`` or ``"0 tp"`` of the first part, that may not all be published."""
    atoms: dict[str, int] = {}
    sums: dict[str, set[str]] = {}
    for cell, n in whole.items():
        rest = n - sum(part.get(cell, 0) for part in parts)
        if rest < 0:
            return frozenset()
        for i, part in enumerate(parts):
            if cell in part:
                atoms[f"{i} {cell}"] = part[cell]
        atoms[f"rest {cell}"] = rest
    for name in atoms:
        of, _, cell = name.partition(" ")
        for key in (f"whole {cell}", f"whole {CLASS_OF[cell]}"):
            sums.setdefault(key, set()).add(name)
        if of != "rest":
            for key in (name, f"{of} {CLASS_OF[cell]}"):
                sums.setdefault(key, set()).add(name)
    wanted = [Count(name, frozenset(cells)) for name, cells in sums.items()]
    return withheld(atoms, wanted, least)


def _rests_on_closed(r: Result, shut: Mapping[Place, set[str]]) -> bool:
    """Whether a number depends on decisions on a class of which no cell may be shown."""
    place = r.place
    if place.threshold is None and not r.counts_decisions:
        return False
    if any(word in ASKS_NO_DEVICE for word in r.parameters.values() if isinstance(word, str)):
        return False
    needs = CLASS_OF.get(r.quantity.id) or (r.quantity.needs[0] if len(r.quantity.needs) == 1 else "")
    classes = {needs} if needs in ("positives", "negatives") else {"positives", "negatives"}
    return any(classes & shut.get(side, set()) for side in _sides(place))


def _sides(place: Place) -> Iterator[Place]:
    """The tables that a number of a place is made of."""
    alone = replace(place, arms=None, candidates=None, reference=None)
    yield alone
    yield replace(alone, threshold=None)
    for arm in place.arms or ():
        yield replace(alone, arm=arm)
    for candidate in place.candidates or ():
        yield replace(alone, candidate=candidate)
        yield replace(alone, candidate=candidate, threshold=None)
    if place.reference is not None:
        yield replace(alone, dataset=place.reference, period=None)


def _at_hidden(r: Result, shown: Shown) -> bool:
    """Whether a number lies where none may be shown; of a part, anywhere but at the operating point."""
    place = r.place
    if place.threshold is None or place.dataset is None:
        return False
    if any(word in ASKS_NO_DEVICE for word in r.parameters.values() if isinstance(word, str)):
        return False
    of_part = any(getattr(place, kind) is not None for kind in PARTS)
    for name in place.candidates or (place.candidate or "",):
        at = shown.get((place.dataset, name))
        if at is not None:
            allowed = (at.operating,) if of_part else (*at.kept, at.operating)
            if all(t is None or abs(place.threshold - t) > NEAR for t in allowed):
                return True
    return False


def _of_series(results: Iterable[Result], least: int) -> set[int]:
    """Of accuracy over ever fewer cases, what may not be shown together: each holds the cases of the next."""
    series: dict[tuple[Place, str], list[Result]] = {}
    for r in results:
        if "coverage" in r.parameters:
            series.setdefault((r.place, f"{r.id} {r.parameters.get('by')}"), []).append(r)
    found: set[int] = set()
    for some in series.values():
        by_n = {r.estimate.n: _numerator(r) for r in some}
        sizes = sorted(by_n, reverse=True)
        right = [by_n[n] for n in sizes]
        if any(k is None for k in right):
            found |= {id(r) for r in some}
            continue
        counts = [k for k in right if k is not None]
        wrong = [n - k for n, k in zip(sizes, counts)]
        monotone = all(a >= b for values in (counts, wrong) for a, b in pairwise(values))
        kept = {sizes[i] for i in kept_cuts(counts, wrong, least).kept} if monotone else set()
        found |= {id(r) for r in some if r.estimate.n not in kept}
    return found


def _without_a_few(results: Iterable[Result], least: int) -> set[int]:
    """Of numbers of all cases of a place, those that rest on a few cases less: these are the failed ones."""
    by_place: dict[tuple[Place, str], list[Result]] = {}
    for r in results:
        of_groups = r.name in OF_GROUPS or r.place.datasets or r.place.sets or r.place.reference
        needs = r.quantity.needs
        of_class = needs[0] if len(needs) == 1 and needs[0] in ("positives", "negatives") else ""
        comparable = of_class or _right(r.quantity).among == CELLS or not r.counts_decisions
        if not of_groups and r.place.threshold is None and comparable:
            by_place.setdefault((r.place, of_class), []).append(r)
    return {
        id(r)
        for some in by_place.values()
        for r in some
        if 0 < max(one.estimate.n for one in some) - r.estimate.n < least
    }


def _gives_sites_back(r: Result, gone: Sequence[Result]) -> bool:
    if r.name not in POOLED or not r.place.datasets:
        return False
    sites = {
        (g.place.dataset, g.place.site)
        for g in gone
        if g.place.site is not None
        and g.endpoint == r.endpoint
        and g.parameters.get("metric") == r.parameters.get("metric")
        and (g.place.dataset in r.place.datasets or r.place.rests_on(g.place))
    }
    return 0 < len(sites) < FEW_CLOSED
