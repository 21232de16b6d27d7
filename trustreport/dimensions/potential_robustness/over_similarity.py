"""What is made of similarity and performance together: the authors' rule, SPR and WPR, correlations."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite, isnan

from trustreport.dimensions.potential_robustness.axes import UNLIKE, is_acceptable, measures_of
from trustreport.dimensions.potential_robustness.plots import estimate
from trustreport.estimate import Estimate
from trustreport.finding import PlainTable
from trustreport.messages import Message, say
from trustreport.narrative.names import heading, quantity_name
from trustreport.narrative.tables import table
from trustreport.performance.features import ID
from trustreport.place import Place
from trustreport.plan import Plan
from trustreport.results import Result

# Measures with a heading of their own, shorter than their name.
IN_SHORT = ("auc", "standardized_net_benefit", "brier")


def rule_of_authors(
    sets: Sequence[tuple[str, float, Mapping[str, Estimate]]], plan: Plan
) -> Iterator[Message]:
    """Whether the model is externally validated by the rule of the diagram's authors, printed as theirs.

    `sets` are the name of each external set, its similarity, and the measures of the diagram there. A set
    without one of them cannot be judged.
    """
    known = [
        (name, similarity, reached)
        for name, similarity, reached in sets
        if isfinite(similarity) and all(isfinite(e.value) for e in reached.values())
    ]
    if not known:
        return
    unlike = [(name, reached) for name, similarity, reached in known if similarity < UNLIKE]
    enough = [n for n, reached in unlike if all(is_acceptable(m, e.value) for m, e in reached.items())]
    key = "met" if enough else "unmet" if unlike else "alike"
    names = enough or [name for name, _ in unlike]
    measures = [quantity_name(name) for name in measures_of(plan)]
    yield say(f"{ID}.rule.{key}", n=len(names), names=names, measures=measures)


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
