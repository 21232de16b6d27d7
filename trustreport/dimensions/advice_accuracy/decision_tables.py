"""The decision curves of a data set in numbers, a row for each strategy and threshold."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from trustreport.finding import Part
from trustreport.messages import Message, say
from trustreport.narrative.tables import table
from trustreport.performance.decision_table import ID, DecisionRow, decision_rows
from trustreport.place import Place
from trustreport.results import Result

PER = 100  # cases, for interventions avoided: as R's dcurves has them


def decision_parts(results: Sequence[Result]) -> Iterator[Part]:
    """A part with a table for each data set whose scores are risks."""
    rows = list(decision_rows(results))
    tables = [
        table(
            f"decision_table_{number}",
            say(f"{ID}.decision_table.caption", name=name),
            list(of_set),
            [
                (f"{ID}.decision_table.strategy", _strategy),
                (f"{ID}.decision_table.threshold", "threshold", "number"),
                (f"{ID}.column.n", "n", "count"),
                (f"{ID}.decision_table.pos_rate", "pos_rate", "percent"),
                (f"{ID}.decision_table.tp_rate", "tp_rate", "percent"),
                (f"{ID}.decision_table.fp_rate", "fp_rate", "percent"),
                (f"{ID}.decision_table.net_benefit", "net_benefit", "number.3"),
                (f"{ID}.decision_table.standardized", "standardized_net_benefit", "number.3"),
                (f"{ID}.decision_table.avoided", lambda row: PER * row.net_interventions_avoided, "number.1"),
            ],
        )
        for number, (name, of_set) in enumerate(groupby(rows, key=lambda row: row.dataset), 1)
    ]
    if tables:
        yield Part((), say(f"{ID}.decision_table.title"), tuple(tables), place=Place())


def _strategy(row: DecisionRow) -> Message | str:
    if row.strategy == "device" and row.candidate:
        return row.candidate
    return say(f"{ID}.decision_table.{row.strategy}")
