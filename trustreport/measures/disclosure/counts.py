"""Counts that somebody wants to publish, and what each of them sums.

An *atom* is a cell that no published number divides further, such as the positive cases of one site between
two neighbouring thresholds: an unknown whole number, 0 or more.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Count:
    """A count and the atoms that it sums.

    Parameters
    ----------
    name : str
        Unique among the counts and sums that are published together.
    atoms : frozenset of str, or mapping from str to int
        Names of the atoms; a mapping also says how often each is counted.
    """

    name: str
    atoms: frozenset[str] | Mapping[str, int]

    @property
    def weights(self) -> dict[str, int]:
        """How often each atom is counted; atoms that are not counted are left out."""
        if isinstance(self.atoms, Mapping):
            return {atom: weight for atom, weight in self.atoms.items() if weight}
        return dict.fromkeys(sorted(self.atoms), 1)

    def total(self, table: Mapping[str, int]) -> int:
        """Return the count in a table of atoms.

        Raises
        ------
        KeyError
            If the table lacks one of the atoms.
        """
        return sum(weight * table[atom] for atom, weight in self.weights.items())


@dataclass(frozen=True, slots=True)
class Sum:
    """A published real number that lies between two weighted sums of atoms.

    ``lower @ atoms <= value <= upper @ atoms``. The sum of the probabilities of all cases, of which those
    called positive have at least `t`, lies between ``t * (tp + fp)`` and ``tp + fp + t * (fn + tn)``. A
    published share ``p`` of tp among tp and fn is exact: both weights are ``{"tp": 1 - p, "fn": -p}`` and the
    value is 0.

    Parameters
    ----------
    name : str
        Unique among the counts and sums that are published together.
    lower, upper : mapping from str to float
        Weight of each atom; 0 of those that are not named.
    within : float
        How far the value may be off, such as half a unit of its last digit; at least 0.
    """

    name: str
    value: float
    lower: Mapping[str, float]
    upper: Mapping[str, float]
    within: float = 1e-9
