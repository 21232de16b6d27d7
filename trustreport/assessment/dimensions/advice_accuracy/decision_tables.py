"""The decision curves of data sets in numbers, a row for each strategy and threshold."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from trustreport.assessment.finding import Part, PlainTable
from trustreport.assessment.narrative.texts import Texts
from trustreport.assessment.performance.decision_table import ID, DecisionRow, decision_rows
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.results import Result

TEXT = f"{ID}.decision_table"
PER = 100  # cases, for interventions avoided: as R's dcurves has them
# More sets than this share a table.
EACH_UP_TO = 6

text = Texts(TEXT)


def decision_parts(results: Sequence[Result]) -> Iterator[Part]:
    """A part with a table for each data set whose scores are risks; of many sets one table."""
    rows = decision_rows(results)
    of_sets = [list(own) for _, own in groupby(rows, key=lambda row: row.dataset)]
    several = len(of_sets) > EACH_UP_TO
    if several:
        of_sets = [[row for own in of_sets for row in own]]
    if of_sets:
        tables = [_table(own, number, several=several) for number, own in enumerate(of_sets, 1)]
        yield text.part(tables, text("title"))


def _table(rows: Sequence[DecisionRow], number: int, *, several: bool) -> PlainTable:
    caption = text("caption_sets") if several else text("caption", name=rows[0].dataset)
    return text.table(
        f"decision_table_{number}",
        text("caption_of", what=caption),
        "data_set? .strategy .threshold:number n .pos_rate:percent .tp_rate:percent .fp_rate:percent"
        " .net_benefit:number.3 .standardized:number.3 .avoided:number.1",
        [
            (
                row.dataset if several else None,
                _strategy(row),
                row.threshold,
                row.n,
                row.pos_rate,
                row.tp_rate,
                row.fp_rate,
                row.net_benefit,
                row.standardized_net_benefit,
                PER * row.net_interventions_avoided,
            )
            for row in rows
        ],
    )


def _strategy(row: DecisionRow) -> Message | str:
    if row.strategy == "device" and row.candidate:
        return row.candidate
    return text(row.strategy)
