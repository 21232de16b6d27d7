"""The decision curves of data sets in numbers, a row for each strategy and threshold."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from trustreport.assessment.finding import Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.performance.decision_table import ID, DecisionRow, decision_rows
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

TEXT = f"{ID}.decision_table"
PER = 100  # cases, for interventions avoided: as R's dcurves has them
# More sets than this share a table.
EACH_UP_TO = 6


def decision_parts(results: Sequence[Result]) -> Iterator[Part]:
    """A part with a table for each data set whose scores are risks; of many sets one table."""
    of_sets = [list(rows) for _, rows in groupby(decision_rows(results), key=lambda row: row.dataset)]
    if not of_sets:
        return
    if len(of_sets) > EACH_UP_TO:
        tables = [_table([row for rows in of_sets for row in rows], 1, several=True)]
    else:
        tables = [_table(rows, number, several=False) for number, rows in enumerate(of_sets, 1)]
    yield Part((), say(f"{TEXT}.title"), tuple(tables), place=Place())


def _table(rows: Sequence[DecisionRow], number: int, *, several: bool) -> PlainTable:
    caption = say(f"{TEXT}.caption_sets") if several else say(f"{TEXT}.caption", name=rows[0].dataset)
    return table(
        f"decision_table_{number}",
        say(f"{TEXT}.caption_of", what=caption),
        rows,
        [
            (f"{ID}.column.set", "dataset") if several else None,
            (f"{TEXT}.strategy", _strategy),
            (f"{TEXT}.threshold", "threshold", "number"),
            (f"{ID}.column.n", "n", "count"),
            (f"{TEXT}.pos_rate", "pos_rate", "percent"),
            (f"{TEXT}.tp_rate", "tp_rate", "percent"),
            (f"{TEXT}.fp_rate", "fp_rate", "percent"),
            (f"{TEXT}.net_benefit", "net_benefit", "number.3"),
            (f"{TEXT}.standardized", "standardized_net_benefit", "number.3"),
            (f"{TEXT}.avoided", lambda row: PER * row.net_interventions_avoided, "number.1"),
        ],
    )


def _strategy(row: DecisionRow) -> Message | str:
    if row.strategy == "device" and row.candidate:
        return row.candidate
    return say(f"{TEXT}.{row.strategy}")
