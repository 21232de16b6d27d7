"""The attacker: which small numbers of people follow from the counts that are published."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.disclosure.counts import Count, Sum

Weights = NDArray[np.float64]
LOOSE = 1e-6  # by how much the optimum of a linear program may be off


def recovered(
    wanted: Sequence[Count], published: Mapping[str, int], least: int, sums: Sequence[Sum] = ()
) -> dict[str, int]:
    """Return every number of 1 to ``least - 1`` people that follows from what is published.

    The attacker knows what each count sums, and that atoms are whole numbers of at least 0. What is looked
    for: each atom, each wanted count, each difference between two published counts of which one contains the
    other, and what remains of a published count after those published within it. Such a number is recovered
    if all tables that agree with the published counts and sums have the same one.

    Parameters
    ----------
    wanted : sequence of Count
        All counts that somebody wanted to publish.
    published : mapping from str to int
        Those that are published, by name.
    least : int
        The smallest number of people, other than 0, that may be known.
    sums : sequence of Sum
        Published real numbers.

    Returns
    -------
    dict from str to int
        Number by name: of an atom, of a count, or ``"A - B"`` of a difference. Empty if nothing is recovered.

    Raises
    ------
    ValueError
        If no table of whole numbers agrees with what is published.

    References
    ----------
    Fischetti and Salazar-Gonzalez (2001), Manage. Sci. 47, 1008-1027 (the attacker's linear programs).
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley, chapter 4.
    """
    attack = Attack(wanted, published, sums)
    return {target.name: target.value for target in attack.recovered(least)}


@dataclass(frozen=True, slots=True)
class Recovered:
    """A small number that follows from what is published, with the names of what it follows from."""

    name: str
    value: int
    sources: tuple[str, ...]


class Attack:
    """All that is published about one table, and the whole-numbered tables found so far that agree with it.

    Parameters
    ----------
    tables : sequence of mapping from str to int
        Tables that are known to agree with what is published; one is looked for if none is given.
    """

    def __init__(
        self,
        wanted: Sequence[Count],
        published: Mapping[str, int],
        sums: Sequence[Sum] = (),
        tables: Sequence[Mapping[str, int]] = (),
    ) -> None:
        """Set up the equations of the counts and the bounds of the sums."""
        named = {atom for count in wanted for atom in count.weights}
        named.update(atom for s in sums for weights in (s.lower, s.upper) for atom in weights)
        self.atoms = sorted(named)
        self._place = {atom: i for i, atom in enumerate(self.atoms)}
        ordered = sorted(
            wanted, key=lambda count: count.name
        )  # what is found depends on no order of arguments
        self.hidden = [count for count in ordered if count.name not in published]
        self.shown = [count for count in ordered if count.name in published]
        rows: list[tuple[str, Weights, float, float]] = []
        for count in self.shown:
            value = published[count.name]
            rows.append((count.name, self._row(count.weights), value, value))
        for s in sorted(sums, key=lambda s: s.name):
            rows.append((s.name, self._row(s.lower), -inf, s.value + s.within))
            rows.append((s.name, self._row(s.upper), s.value - s.within, inf))
        self.names = [name for name, *_ in rows]
        self.rows = np.array([row for _, row, _, _ in rows]).reshape(len(rows), len(self.atoms))
        self.low = np.array([low for *_, low, _ in rows])
        self.high = np.array([high for *_, high in rows])
        self._part = _parts(self.rows)
        found = [np.array([table[atom] for atom in self.atoms], float) for table in tables]
        self.tables = found or [self._table()]

    def recovered(self, least: int) -> list[Recovered]:
        """Return the small numbers that follow from what is published, each once, in a fixed order."""
        found: dict[str, Recovered] = {}
        for name, value, sources in self._differences():
            if 0 < value < least:
                found[name] = Recovered(name, value, sources)
        for name, weights in self._unknown():
            value = round(weights @ self.tables[0])
            if name not in found and 0 < value < least and self._is_fixed(weights, value):
                found[name] = Recovered(name, value, self._sources(weights, value))
        return sorted(found.values(), key=lambda r: (r.value, r.name))

    def _row(self, weights: Mapping[str, float]) -> Weights:
        row = np.zeros(len(self.atoms))
        for atom, weight in weights.items():
            row[self._place[atom]] = weight
        return row

    def _table(self) -> Weights:
        """Return one table that agrees with what is published."""
        found = np.zeros(len(self.atoms))
        for part in np.unique(self._part):
            table = self._solve(self._part == part, found)
            if table is None:
                raise ValueError("No table of whole numbers agrees with the published counts and sums.")
            found = table
        return found

    def _differences(self) -> Iterator[tuple[str, int, tuple[str, ...]]]:
        """Yield published counts, and differences of two of which one contains the other."""
        n = len(self.shown)
        rows, values = self.rows[:n], self.low[:n]
        for i, whole in enumerate(self.shown):
            yield whole.name, int(values[i]), (whole.name,)
            within = (rows <= rows[i]).all(axis=1) & (rows != rows[i]).any(axis=1)
            for j in np.flatnonzero(within & (rows != 0).any(axis=1)):
                part = self.shown[j].name
                yield f"{whole.name} - {part}", int(values[i] - values[j]), (whole.name, part)

    def _unknown(self) -> Iterator[tuple[str, Weights]]:
        """Yield the numbers to look for, each with the weights of its atoms."""
        for i, atom in enumerate(self.atoms):
            yield atom, np.eye(1, len(self.atoms), i)[0]
        for count in self.hidden:
            yield count.name, self._row(count.weights)
        n = len(self.shown)
        order = sorted(range(n), key=lambda j: (-self.rows[j].sum(), self.names[j]))
        for i in range(n):
            rest, name = self.rows[i].copy(), self.names[i]
            for j in order:
                if j != i and self.rows[j].any() and (self.rows[j] <= rest).all():
                    rest, name = rest - self.rows[j], f"{name} - {self.names[j]}"
            if rest.any():
                yield name, rest

    def _is_fixed(self, weights: Weights, value: int) -> bool:
        """Whether all tables that agree with what is published have this value."""
        if any(round(weights @ table) != value for table in self.tables):
            return False
        touched = np.isin(self._part, np.unique(self._part[weights != 0]))
        for low, high in ((value + 1, inf), (-inf, value - 1)):
            table = self._solve(touched, self.tables[0], (weights, low, high))
            if table is not None:
                self.tables.append(table)
                return False
        return True

    def _solve(
        self, touched: NDArray[np.bool_], otherwise: Weights, also: tuple[Weights, float, float] | None = None
    ) -> Weights | None:
        """Return a table that agrees with what is published, changed in the atoms touched, or None."""
        from scipy.optimize import LinearConstraint, milp

        concerned = (self.rows[:, touched] != 0).any(axis=1)
        rows, low, high = self.rows[concerned][:, touched], self.low[concerned], self.high[concerned]
        if also is not None:
            weights, least, most = also
            rows = np.vstack((rows, weights[touched]))
            low, high = np.append(low, least), np.append(high, most)
        n = int(touched.sum())
        constraints = LinearConstraint(rows, low, high) if len(rows) else ()
        found = milp(np.zeros(n), constraints=constraints, integrality=np.ones(n))
        if found.x is None:
            return None
        table = otherwise.copy()
        table[touched] = np.round(found.x)
        return table

    def _sources(self, weights: Weights, value: int) -> tuple[str, ...]:
        """Return the names of published numbers that prove this value.

        These have a price in the linear programs of the largest and the smallest value; if the value follows
        only because people are whole, all that share an atom with it directly or through others.
        """
        from scipy.optimize import linprog

        touched = np.isin(self._part, np.unique(self._part[weights != 0]))
        concerned = np.flatnonzero((self.rows[:, touched] != 0).any(axis=1))
        rows, low, high = self.rows[concerned][:, touched], self.low[concerned], self.high[concerned]
        exact = low == high
        above, below = ~exact & np.isfinite(high), ~exact & np.isfinite(low)
        bounds = np.vstack((rows[above], -rows[below]))
        named = [*np.flatnonzero(exact), *np.flatnonzero(above), *np.flatnonzero(below)]
        proving: set[str] = set()
        for sign in (1, -1):
            found = linprog(
                sign * weights[touched],
                A_ub=bounds if len(bounds) else None,
                b_ub=np.concatenate((high[above], -low[below])) if len(bounds) else None,
                A_eq=rows[exact] if exact.any() else None,
                b_eq=low[exact] if exact.any() else None,
            )
            if found.x is None or abs(found.fun - sign * value) > LOOSE:
                proving.update(self.names[i] for i in concerned)
                continue
            prices = [*found.eqlin.marginals, *found.ineqlin.marginals]
            proving.update(self.names[concerned[k]] for k, price in zip(named, prices) if abs(price) > LOOSE)
        return tuple(sorted(proving))


def _parts(rows: Weights) -> NDArray[np.intp]:
    """Return a number of each atom, (n_atoms,), the same of all that published numbers link."""
    part = np.arange(rows.shape[1])
    for row in rows:
        linked = np.unique(part[row != 0])
        part[np.isin(part, linked)] = min(linked, default=0)
    return part
