"""Declared utilities, and which of them fit the classes and the decisions of data."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from trustreport.measures.utility.matrices import expected_matrix
from trustreport.study.plan import Plan, UtilityMatrix
from trustreport.study.study import Floats

EXPECTED = "expected utilities"
TWO = (2, 2)


@dataclass(frozen=True, eq=False)
class DeclaredUtility:
    """A utility to rank by: one matrix, or several of which each may be right with its probability.

    Parameters
    ----------
    name : as the manifest has it, or `EXPECTED`
    matrices : rows and columns in the order of the data
    probability : one for each matrix, sum 1
    """

    name: str
    matrices: tuple[UtilityMatrix, ...]
    probability: tuple[float, ...]

    @property
    def expected(self) -> Floats:
        """The matrix to decide by, (n_decisions, n_classes)."""
        return expected_matrix([u.matrix for u in self.matrices], self.probability)

    @property
    def is_uncertain(self) -> bool:
        """Whether more than one value of a utility is possible."""
        return len(self.matrices) > 1 or any(u.plus_minus or u.sd for u in self.matrices)

    @property
    def ranges(self) -> list[tuple[Floats, Floats]]:
        """The least and the greatest utilities of each matrix, Gaussian errors apart."""
        return [
            (np.array(u.matrix) - of, np.array(u.matrix) + of) for u in self.matrices for of in (_size(u),)
        ]

    @property
    def errors(self) -> list[Floats]:
        """The standard deviations of the Gaussian errors of each matrix."""
        return [_table(u, u.sd) for u in self.matrices]


def _size(u: UtilityMatrix) -> Floats:
    return _table(u, u.plus_minus)


def _table(u: UtilityMatrix, given: float | tuple[tuple[float, ...], ...] | None) -> Floats:
    """A number for each cell, where one is declared for all."""
    return np.array(np.broadcast_to(np.array(given or 0.0, float), np.shape(u.matrix)))


def two_class(plan: Plan) -> tuple[UtilityMatrix, ...]:
    """The declared matrices of two classes and two decisions."""
    return tuple(u for u in plan.utility.matrices if np.shape(u.matrix) == TWO)


def probabilities(matrices: Sequence[UtilityMatrix]) -> list[float] | None:
    """The declared probabilities, where every matrix has one and they sum to 1."""
    given = [u.probability for u in matrices if u.probability is not None]
    return given if len(given) == len(matrices) and abs(sum(given) - 1) < 1e-6 else None


def to_rank_by(matrices: Sequence[UtilityMatrix]) -> Iterator[DeclaredUtility]:
    """Matrices with probabilities as one uncertain utility; without, each by itself."""
    share = probabilities(matrices)
    if share and len(matrices) > 1:
        yield DeclaredUtility(EXPECTED, tuple(matrices), tuple(share))
    else:
        yield from (DeclaredUtility(u.name, (u,), (1.0,)) for u in matrices)


def to_report(matrices: Sequence[UtilityMatrix]) -> Iterator[DeclaredUtility]:
    """Every matrix by itself, then the mean of those with probabilities."""
    single = [DeclaredUtility(u.name, (u,), (1.0,)) for u in matrices]
    yield from single
    yield from (one for one in to_rank_by(matrices) if len(one.matrices) > 1)


def of_decisions(plan: Plan, classes: Sequence[str], decisions: Sequence[str]) -> list[UtilityMatrix]:
    """The matrices with these names of classes and decisions, brought to the order of both."""
    found = []
    for u in plan.utility.matrices:
        rows = u.decisions or u.classes
        columns = _order(u.classes, classes)
        order = _order(rows, decisions)
        if columns is not None and order is not None and np.shape(u.matrix) != TWO:
            found.append(_ordered(u, order, columns))
    return found


def of_other_decisions(plan: Plan, classes: Sequence[str], decisions: Sequence[str]) -> list[UtilityMatrix]:
    """The matrices of these classes whose decisions are others, brought to the order of the classes.

    Of two classes no names are needed: their order is absence, presence.
    """
    found = []
    for u in plan.utility.matrices:
        columns = _order(u.classes, classes)
        if columns is None and len(classes) == len(u.matrix[0]) == 2:
            columns = [0, 1]
        if u.decisions is None or columns is None or np.shape(u.matrix) == TWO:
            continue
        if set(u.decisions) != set(decisions):
            found.append(_ordered(u, list(range(len(u.decisions))), columns))
    return found


def _order(names: Sequence[str] | None, wanted: Sequence[str]) -> list[int] | None:
    """Where each of the wanted names stands; None where these are not the names."""
    if names is None or set(names) != set(wanted):
        return None
    return [list(names).index(name) for name in wanted]


def _ordered(u: UtilityMatrix, rows: list[int], columns: list[int]) -> UtilityMatrix:
    def turned(given: object) -> object:
        if not isinstance(given, tuple):
            return given
        return tuple(tuple(float(given[i][j]) for j in columns) for i in rows)

    more = {word: turned(getattr(u, word)) for word in ("matrix", "plus_minus", "sd")}
    return u.model_copy(update=more)
