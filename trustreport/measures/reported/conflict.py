"""Which printed figures contradict each other: the smallest sets that no table of counts fits."""

from collections.abc import Sequence
from itertools import combinations

from trustreport.measures.reported.matrices import ROWS, fits
from trustreport.measures.reported.printed import CaseCounts, PrintedFigure

Subset = tuple[PrintedFigure, ...]


def smallest_conflicts(
    figures: Sequence[PrintedFigure], n: CaseCounts, *, rows: int = ROWS
) -> tuple[Subset, ...]:
    """Every smallest set of figures that fit no table of counts, given the number of cases.

    Single figures are tried first, then pairs, then threes, and so on; the first size with a contradiction
    ends the search, so that each set found is without a contradiction once any of its figures is dropped.

    Parameters
    ----------
    rows : int
        As in `consistent_matrices`; a set that is too large to try is taken to fit.

    Returns
    -------
    tuple of tuples of Figure
        Empty where all figures fit together. An empty set in it: the numbers of cases do not add up.
    """
    if fits(figures, n, rows=rows):
        return ()
    for size in range(len(figures) + 1):
        found = tuple(s for s in combinations(figures, size) if not fits(s, n, rows=rows))
        if found:
            return found
    return ()


def single_culprits(figures: Sequence[PrintedFigure], n: CaseCounts, *, rows: int = ROWS) -> Subset:
    """The figures of which each alone, left out, makes the others fit."""
    if fits(figures, n, rows=rows):
        return ()
    rest = [tuple(f for j, f in enumerate(figures) if j != i) for i in range(len(figures))]
    return tuple(figure for figure, others in zip(figures, rest) if fits(others, n, rows=rows))
