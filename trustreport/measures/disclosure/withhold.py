"""Which counts are withheld, so that no small number of people can be computed from the others."""

from collections.abc import Mapping, Sequence

from trustreport.measures.disclosure.counts import Count, Sum
from trustreport.measures.disclosure.invert import Attack


def withheld(
    atoms: Mapping[str, int], wanted: Sequence[Count], least: int, sums: Sequence[Sum] = ()
) -> frozenset[str]:
    """Return the names of the counts and sums that may not be published.

    First each count of 1 to ``least - 1``; 0 may be published. Then, for as long as `invert.recovered` finds
    a small number, the smallest of the published numbers that it follows from. The attacker may know this
    rule, but is not told which counts are withheld for which reason. The choice does not depend on the order
    of the arguments; it is safe, but not always the fewest possible.

    Parameters
    ----------
    atoms : mapping from str to int
        Every atom of the wanted counts and sums, each at least 0.
    wanted : sequence of Count
        The counts to be published, with unique names.
    least : int
        The smallest number of people, other than 0, that may be known; with 0 or 1 nothing is withheld.
    sums : sequence of Sum
        Real numbers to be published.

    Raises
    ------
    ValueError
        If an atom is negative, two of the counts and sums have one name, or a sum is out of its own bounds.

    References
    ----------
    Cox (1980), J. Am. Stat. Assoc. 75, 377-385 (complementary suppression).
    Hundepool et al. (2012), Statistical Disclosure Control, Wiley, chapter 4.
    """
    _validate(atoms, wanted, sums)
    value = {count.name: count.total(atoms) for count in wanted}
    size = value | {s.name: s.value for s in sums}
    hidden = {name for name, n in value.items() if 0 < n < least}
    tables: list[Mapping[str, int]] = [atoms]
    while True:
        published = {name: n for name, n in value.items() if name not in hidden}
        attack = Attack(wanted, published, [s for s in sums if s.name not in hidden], tables)
        found = attack.recovered(least)
        if not found:
            return frozenset(hidden)
        # What fits more published numbers fits fewer, so tables once found stay good.
        tables = [dict(zip(attack.atoms, (round(x) for x in table))) for table in attack.tables]
        changed: set[str] = set()
        for one in found:
            if changed.isdisjoint(one.sources):
                changed.add(min(one.sources, key=lambda name: (size[name], name)))
        hidden |= changed


def _validate(atoms: Mapping[str, int], wanted: Sequence[Count], sums: Sequence[Sum]) -> None:
    if negative := sorted(atom for atom, n in atoms.items() if n < 0):
        raise ValueError(f"Atoms are numbers of people, at least 0; negative: {', '.join(negative)}.")
    names = [*(count.name for count in wanted), *(s.name for s in sums)]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"Names of counts and sums are unique; found more than once: {', '.join(twice)}.")
    for s in sums:
        low = sum(weight * atoms[atom] for atom, weight in s.lower.items())
        high = sum(weight * atoms[atom] for atom, weight in s.upper.items())
        if not low - s.within <= s.value <= high + s.within:
            raise ValueError(f"Sum {s.name} is {s.value}, which is not between its bounds {low} and {high}.")
