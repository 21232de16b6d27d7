"""Tables of what is made of similarity and performance together: SPR and WPR, correlations."""

from collections.abc import Iterator, Sequence
from math import isnan

from trustreport.assessment.dimensions.potential_robustness.plots import estimate
from trustreport.assessment.finding import PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import heading
from trustreport.assessment.performance.features import ID
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

# Measures with a heading of their own, shorter than their name.
IN_SHORT = ("auc", "standardized_net_benefit", "brier")


def column_of(name: str) -> Message:
    """The heading of a measure of the diagram."""
    return say(f"{ID}.column.{name}") if name in IN_SHORT else heading(name)


def scores_table(
    id: str,
    caption: Message,
    sets: Sequence[tuple[str, float, Place]],
    results: Sequence[Result],
    measures: Sequence[str],
) -> Iterator[PlainTable]:
    """SPR and WPR with the p-values that they combine, a row for each measure and set that yields either."""
    rows = []
    for measure in measures:
        for name, similarity, place in sets:
            at = {"endpoint": measure, **place.scope}
            found = [estimate(results, of, **at).value for of in ("p_performance", "spr")]
            found += [estimate(results, of, **at).value for of in ("p_acceptability", "wpr")]
            if not isnan(found[0]) or not isnan(found[2]):
                rows.append((column_of(measure), name, similarity, *found))
    columns = ("measure", "set", "similarity", "p_performance", "spr", "p_acceptability", "wpr")
    formats = ("text", "text", "p", "p", "number", "p", "number")
    if rows:
        heads = [(f"{ID}.column.{c}", i, f) for i, (c, f) in enumerate(zip(columns, formats))]
        yield table(id, caption, rows, heads)


def correlation_table(id: str, found: Sequence[Result], plan: Plan) -> Iterator[PlainTable]:
    """The correlation of each measure with similarity, its p-value, and whether the sets are few."""
    known = [r for r in found if not isnan(r.estimate.value)]
    if known:
        least = plan.limit("P44_sets")
        yield table(
            id,
            say(f"{ID}.table_correlation", n=int(least)),
            known,
            [
                (f"{ID}.column.measure", lambda r: column_of(r.endpoint)),
                (f"{ID}.column.sets", "estimate.n", "count"),
                (f"{ID}.column.correlation", "estimate", "number"),
                (f"{ID}.column.p", "estimate.p", "p"),
                (f"{ID}.column.flag", lambda r: say(f"{ID}.few_sets") if r.estimate.n < least else None),
            ],
        )
