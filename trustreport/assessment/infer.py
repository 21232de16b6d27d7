"""What published figures imply: one set examined, said in sentences, and as lines for the command line."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trustreport.assessment.narrative.texts import heading, quantity_name
from trustreport.measures.reported.conflict import Subset, single_culprits, smallest_conflicts
from trustreport.measures.reported.matrices import Matrices, consistent_matrices
from trustreport.measures.reported.printed import (
    KNOWN,
    METRICS,
    OF_ONE_CLASS,
    SYNONYMS,
    CaseCounts,
    PrintedFigure,
    Rounding,
    cases,
    metric_named,
    printed,
)
from trustreport.vocabulary.messages import Message, catalogue, say

# What a sentence says of the measures that were not printed: the first of these. The table says the rest.
HEADLINES = ("mcc", "accuracy", "ppv", "npv", "sensitivity", "specificity")


@dataclass(frozen=True, slots=True)
class Examined:
    """A set of printed figures and every table of counts that fits them.

    `unused` holds names and texts of figures that say nothing about a table of counts. `conflicts` are the
    smallest sets that contradict each other, `culprits` the figures of which each alone, left out, makes
    the others fit.
    """

    cases: CaseCounts
    given: Mapping[str, int]
    figures: tuple[PrintedFigure, ...]
    unused: tuple[tuple[str, str], ...]
    rounding: Rounding
    fit: Matrices
    conflicts: tuple[Subset, ...] = ()
    culprits: Subset = ()

    @property
    def contradictory(self) -> bool:
        """Whether no table of counts fits."""
        return self.fit.count == 0


def examine(
    metrics: Mapping[str, str] | Iterable[tuple[str, str]],
    *,
    positives: int | None = None,
    negatives: int | None = None,
    total: int | None = None,
    rounding: Rounding = "rounded",
) -> Examined:
    """Every table of counts that prints as these figures; names and texts that say nothing are set aside.

    Of one class alone, without the other and the total, only its own cells and their share say something.
    """
    n = cases(positives, negatives, total)
    counts = {"positives": positives, "negatives": negatives, "total": total}
    given = {name: count for name, count in counts.items() if count is not None}
    figures, unused = [], []
    for name, text in metrics.items() if isinstance(metrics, Mapping) else metrics:
        metric = metric_named(name)
        try:
            if metric is None or metric not in _of_class(n):
                raise ValueError(name)
            figures.append(printed(metric, text, rounding))
        except ValueError:
            unused.append((name, text))
    fit = consistent_matrices(figures, n)
    found = Examined(n, given, tuple(figures), tuple(unused), rounding, fit)
    if not found.contradictory:
        return found
    conflicts, culprits = smallest_conflicts(figures, n), single_culprits(figures, n)
    return Examined(n, given, tuple(figures), tuple(unused), rounding, fit, conflicts, culprits)


def _of_class(n: CaseCounts) -> tuple[str, ...]:
    """What figures may be of: of anything, or of the only class that is known."""
    return OF_ONE_CLASS[n.only] if n.only else KNOWN


def sentences(one: Examined) -> Iterator[Message]:
    """What the figures imply, the verdict on them first."""
    if not one.cases.adds_up:
        yield say("reported.no_sum", items=[say(f"reported.given.{k}", n=n) for k, n in one.given.items()])
    elif one.contradictory:
        yield from _contradiction(one)
    elif one.fit.count is None:
        yield say("reported.bounds", cases=cases_in_words(one.cases))
    elif one.fit.count == 1:
        yield say("reported.one", cells=cells_in_words(one.fit))
    else:
        yield say("reported.several", n=one.fit.count, cases=cases_in_words(one.cases))
    if one.fit.cells:
        yield from _open(one)
    if one.cases.only:
        yield say(f"reported.only.{one.cases.only}")
    if one.unused:
        yield say("reported.unused", items=[say("reported.as_typed", name=k, text=t) for k, t in one.unused])


def _contradiction(one: Examined) -> Iterator[Message]:
    items = [in_words(figure) for figure in one.figures]
    yield say("reported.none", n=len(items), items=items, cases=cases_in_words(one.cases))
    smallest = one.conflicts[0] if one.conflicts else ()
    if len(smallest) == 1 and len(items) > 1:
        yield say("reported.alone", items=[in_words(figure) for figure in smallest])
    elif len(smallest) < len(items):
        yield say("reported.smallest", n=len(one.conflicts), items=[in_words(figure) for figure in smallest])
    if one.culprits and len(items) > 1:
        culprits = [in_words(figure) for figure in one.culprits]
        yield say("reported.culprits", n=len(culprits), items=culprits)


def _open(one: Examined) -> Iterator[Message]:
    """The most telling of what was not printed, and which metrics are undefined in a table that fits."""
    given = {figure.metric for figure in one.figures}
    telling = next((name for name in HEADLINES if name in one.fit.metrics and name not in given), None)
    if one.cases.positives is None and one.fit.positives and one.fit.count != 1:
        low, high = one.fit.positives
        if low == high:
            yield say("reported.known_positives", n=low)
        else:
            yield say("reported.open_positives", low=low, high=high)
    if telling and one.fit.count != 1:
        name, found = heading(telling), one.fit.metrics[telling]
        if found.unique:
            yield say("reported.open_value", metric=name, value=found.low)
        else:
            yield say("reported.open", metric=name, low=found.low, high=found.high)
    fit, own = one.fit.metrics, _of_class(one.cases)
    undefined = [name for name in METRICS if name in own and (name not in fit or fit[name].undefined)]
    if undefined:
        yield say("reported.undefined", items=[quantity_name(name) for name in undefined])


def cells_in_words(fit: Matrices) -> Message:
    """The counts of the one table that fits, or of the class that is known."""
    key = f"reported.cells_of.{fit.cases.only}" if fit.cases.only else "reported.cells"
    return say(key, **{name: ends[0] for name, ends in fit.cells.items()})


def range_in_words(metric: str, fit: Matrices) -> Message:
    """``MCC 0.453 to 0.507``, or the one value."""
    name, found = quantity_name(metric), fit.metrics[metric]
    if found.unique:
        return say("reported.is", metric=name, value=found.low)
    return say("reported.range", metric=name, low=found.low, high=found.high)


def in_words(figure: PrintedFigure) -> Message:
    """A figure as it was printed: ``PPV 0.89``."""
    return say("reported.figure", metric=quantity_name(figure.metric), text=figure.text.strip())


def cases_in_words(n: CaseCounts) -> Message:
    """``143 positives and 67 negatives``; one class or the total where no more is known."""
    if n.only:
        return say(f"reported.given.{n.only}", n=n.total)
    if n.positives is None:
        return say("reported.total", n=n.total)
    return say("reported.classes", positives=n.positives, negatives=n.total - n.positives)


@dataclass(frozen=True, slots=True)
class Inference:
    """What figures imply in sentences, in rows of least and greatest values, and as plain data.

    `rows` begin with their header, and are none where no table fits or they are too many to list.
    """

    sentences: tuple[str, ...]
    rows: tuple[tuple[str, str, str], ...]
    data: Mapping[str, Any]
    contradictory: bool

    @property
    def lines(self) -> tuple[str, ...]:
        """Sentences, then the rows as columns of text."""
        return (*self.sentences, "", *_aligned(self.rows)) if self.rows else self.sentences


def infer(
    positives: int | None,
    negatives: int | None,
    total: int | None,
    metrics: Mapping[str, str] | Iterable[tuple[str, str]],
    *,
    rounding: Rounding = "rounded",
    language: str = "en",
) -> Inference:
    """What printed figures say about the table of counts behind them.

    Parameters
    ----------
    positives, negatives, total : int or None
        Two of the three, or one alone. Of one class alone only its own cells and their share can be given.
    metrics : names and texts as printed
        Names of `KNOWN` or `SYNONYMS`; the texts keep their digits ("0.80" is not "0.8").
    rounding : how the source cut its figures
    language : of the lines

    Raises
    ------
    ValueError
        Every fault of the input, a line each.

    Examples
    --------
    >>> found = infer(143, None, 210, {"precision": "0.89", "recall": "0.68"})
    >>> found.data["consistent_matrices"], found.data["cells"]["tp"]
    (1, [97, 97])
    """
    texts = list(metrics.items() if isinstance(metrics, Mapping) else metrics)
    faults = [fault for name, text in texts if (fault := _fault(name, text))]
    try:
        n = cases(positives, negatives, total)
    except ValueError as error:
        faults.insert(0, str(error))
    else:
        faults += [f"{name} also needs {_other(n)} or total." for name, _ in texts if _needs_both(name, n)]
    if faults:
        raise ValueError("\n".join(faults))
    one = examine(texts, positives=positives, negatives=negatives, total=total, rounding=rounding)
    words = catalogue(language)
    told = tuple(words(sentence) for sentence in sentences(one))
    rows = tuple(_table(one, language)) if one.fit.cells else ()
    return Inference(told, rows, as_data(one), one.contradictory)


def _other(n: CaseCounts) -> str:
    return "negatives" if n.only == "positives" else "positives"


def _needs_both(name: str, n: CaseCounts) -> bool:
    return metric_named(name) is not None and metric_named(name) not in _of_class(n)


def _fault(name: str, text: str) -> str:
    metric = metric_named(name)
    if metric is None:
        from difflib import get_close_matches

        near = get_close_matches(name.casefold(), (*KNOWN, *SYNONYMS), 1, 0.7)
        hint = f" Did you mean {near[0]}?" if near else f" Known are {', '.join(KNOWN)}."
        return f"Unknown metric {name}.{hint}"
    try:
        printed(metric, text)
    except ValueError as error:
        return str(error)
    return ""


def _table(one: Examined, language: str) -> Iterator[tuple[str, str, str]]:
    words = catalogue(language)
    yield "", words("reported.column.low"), words("reported.column.high")
    ranges: dict[str, tuple[int, int]] = dict(one.fit.cells)
    if one.cases.positives is None and one.fit.positives:
        ranges["positives"] = one.fit.positives
    for name, (low, high) in ranges.items():
        yield words(heading(name)), words.numbers.count(low), words.numbers.count(high)
    for name, found in one.fit.metrics.items():
        low_text, high_text = (words.numbers.fixed(end, 4) for end in (found.low, found.high))
        yield words(heading(name)), low_text, high_text


def _aligned(rows: Iterable[Sequence[str]]) -> list[str]:
    """Rows as columns of text, the first flush left and the others flush right."""
    cells = [list(row) for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    return [
        "  ".join(
            [row[0].ljust(widths[0]), *(text.rjust(w) for text, w in zip(row[1:], widths[1:]))]
        ).rstrip()
        for row in cells
    ]


def as_data(one: Examined) -> dict[str, Any]:
    """The answer as plain data."""
    return {
        "cases": {"total": None if one.cases.only else one.cases.total, "positives": one.cases.positives},
        "figures": [[figure.metric, figure.text] for figure in one.figures],
        "unused": [list(pair) for pair in one.unused],
        "rounding": one.rounding,
        "consistent_matrices": one.fit.count,
        "cells": {name: list(ends) for name, ends in one.fit.cells.items()},
        "positives": list(one.fit.positives) if one.fit.positives else None,
        "metrics": {
            name: {"low": r.low, "high": r.high, "unique": r.unique, "undefined": r.undefined}
            for name, r in one.fit.metrics.items()
        },
        "conflicts": [[figure.metric for figure in subset] for subset in one.conflicts],
        "culprits": [figure.metric for figure in one.culprits],
    }
