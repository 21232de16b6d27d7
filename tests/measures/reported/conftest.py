"""Every table of counts tried one by one, in fractions: what the search is held against."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

import pytest

from trustreport.measures.reported.printed import CaseCounts, PrintedFigure

Table = tuple[int, int, int, int]


def metric(name: str, table: Table) -> Fraction | None:
    """The exact value (of MCC: MCC |MCC|), None where it is 0/0."""
    tp, fn, fp, tn = table
    if name in ("tp", "fn", "fp", "tn"):
        return Fraction({"tp": tp, "fn": fn, "fp": fp, "tn": tn}[name])
    if name == "mcc":
        over = tp * tn - fp * fn
        above, below = over * abs(over), (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    else:
        above, below = {
            "accuracy": (tp + tn, tp + fn + fp + tn),
            "sensitivity": (tp, tp + fn),
            "specificity": (tn, tn + fp),
            "ppv": (tp, tp + fp),
            "npv": (tn, tn + fn),
            "f1": (2 * tp, 2 * tp + fp + fn),
            "threat_score": (tp, tp + fp + fn),
            "prevalence": (tp + fn, tp + fn + fp + tn),
        }[name]
    return Fraction(above, below) if below else None


def prints_as(figure: PrintedFigure, table: Table) -> bool:
    """Whether the metric of the table lies in the interval of the figure."""
    value = metric(figure.metric, table)
    if value is None:
        return False
    low, high = figure.low, figure.high
    if figure.metric == "mcc":
        low, high = low * abs(low), high * abs(high)
    above = value > low if figure.open_low else value >= low
    return above and (value < high if figure.open_high else value <= high)


def tables(n: CaseCounts) -> Iterator[Table]:
    """Every table with so many cases."""
    for positives in range(n.total + 1) if n.positives is None else [n.positives]:
        for tp in range(positives + 1):
            for tn in range(n.total - positives + 1):
                yield tp, positives - tp, n.total - positives - tn, tn


@pytest.fixture(scope="session")
def brute_force() -> Callable[[Sequence[PrintedFigure], CaseCounts], list[Table]]:
    """All tables that fit."""
    return lambda figures, n: [t for t in tables(n) if all(prints_as(f, t) for f in figures)]


@pytest.fixture(scope="session")
def exactly() -> Callable[[str, Table], Fraction | None]:
    """The exact value of a metric of a table."""
    return metric
