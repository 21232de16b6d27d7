"""How source reliability is told: sentences, tables and figures of raters and of stated sets."""

from collections.abc import Iterator, Sequence
from math import isnan, nan

import numpy as np

from trustreport.dimensions.source_reliability.nomogram import StatedSet
from trustreport.dimensions.source_reliability.panel import Panel
from trustreport.dimensions.source_reliability.raters import COEFFICIENTS, ID
from trustreport.estimate import Estimate
from trustreport.figures.joyplot import Joyplot, Ridge
from trustreport.figures.nomogram import CONCORDANCES, NAMED_UP_TO, Nomogram, NomogramLine, NomogramPoint
from trustreport.finding import Column, EstimateTable, Figure, Part, PlainTable, Row
from trustreport.measures.label_accuracy import NOMOGRAM, actual_accuracy, nomogram_accuracy
from trustreport.messages import Message, say
from trustreport.results import Result, leading

# Sets told one by one; more of them in one sentence.
EACH_UP_TO = 4
# Raters that a joyplot holds on one page.
RIDGES_A_FIGURE = 40
# A scale of confidence with more values than this is drawn in bins, so many of them.
MOST_STEPS, BINS = 12, 25
MEASURED = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
MOST_LINES = 10


def part(panel: Panel, results: Sequence[Result], number: int, *, alone: bool) -> Part:
    """The raters of one task."""
    return Part(
        title=None if alone else say("word.name", name=panel.task or say(f"{ID}.raters")),
        finding=tuple(_sentences(panel, results)),
        tables=tuple(_tables(panel, results, number)),
        figures=(*_nomogram_of(panel, results, number), *_joyplots(panel, number)),
        scope=panel.scope,
    )


def sets_part(sets: Sequence[StatedSet], *, alone: bool) -> Part:
    """All stated sets together: a sentence each or one for all, one table, one nomogram."""
    return Part(
        title=None if alone else say(f"{ID}.stated"),
        finding=tuple(_of_sets(sets)),
        tables=(_sets_table(sets),),
        figures=(_sets_figure(sets),),
    )


# ---------------------------------------------------------------- raters


def _lead(panel: Panel, results: Sequence[Result], name: str) -> Estimate | None:
    found = leading(results, f"{ID}.{name}", raters=None, parameters=None, **panel.scope)
    return found.estimate if found else None


def _spread(e: Estimate) -> dict[str, float]:
    return {"value": e.value, "low": e.low, "high": e.high, "level": e.level}


def _sentences(panel: Panel, results: Sequence[Result]) -> Iterator[Message]:
    cases = int((panel.codes >= 0).any(axis=1).sum())
    agreement, alpha = (_lead(panel, results, name) for name in ("percent_agreement", "krippendorff_alpha"))
    assert agreement is not None
    assert alpha is not None
    if isnan(agreement.value):
        yield say(f"{ID}.no_agreement", n=len(panel.raters), cases=cases, reason=agreement.note)
    else:
        key = "no_agreement_interval" if isnan(agreement.low) else "agreement"
        yield say(f"{ID}.{key}", n=len(panel.raters), cases=cases, **_spread(agreement))
        if isnan(alpha.value):
            yield say(f"{ID}.no_alpha", reason=alpha.note)
        elif not isnan(alpha.low):
            yield say(f"{ID}.alpha", **_spread(alpha))
        yield from _range_of_pairs(results)
    yield from _dependence(panel, results, agreement)
    yield from _knowing(panel, results)
    yield from _labels(panel, results)


def _range_of_pairs(results: Sequence[Result]) -> Iterator[Message]:
    pairs = [r for r in results if r.id == f"{ID}.cohen_kappa" and not isnan(r.estimate.value)]
    if len(pairs) < 2:
        return
    least = min(pairs, key=lambda r: r.estimate.value)
    most = max(pairs, key=lambda r: r.estimate.value)
    yield say(
        f"{ID}.pairs",
        low=least.estimate.value,
        least=list(least.scope["raters"]),
        high=most.estimate.value,
        most=list(most.scope["raters"]),
    )


def _dependence(panel: Panel, results: Sequence[Result], agreement: Estimate) -> Iterator[Message]:
    """Whether the agreement fits raters of the stated accuracy who err independently."""
    expected = _lead(panel, results, "expected_agreement")
    if expected is None or isnan(agreement.low):
        return
    way = (
        "more" if agreement.low > expected.value else "less" if agreement.high < expected.value else "as_much"
    )
    yield say(f"{ID}.independence.{way}", expected=expected.value)


def _knowing(panel: Panel, results: Sequence[Result]) -> Iterator[Message]:
    rho = _lead(panel, results, "weighted_concordance")
    assert rho is not None
    if isnan(rho.value):
        yield say(f"{ID}.no_concordance", reason=rho.note)
    else:
        known = panel.accuracy is not None or panel.truth is not None
        yield say(f"{ID}.concordance" if known else f"{ID}.concordance_bound", **_spread(rho))


def _labels(panel: Panel, results: Sequence[Result]) -> Iterator[Message]:
    label = _lead(panel, results, "label_accuracy")
    assert label is not None
    if isnan(label.value):
        yield say(f"{ID}.no_labels", reason=label.note)
        return
    yield say(f"{ID}.labels_by.{label.method}", **_spread(label))
    yield say(f"{ID}.band" if panel.n_categories == 2 else f"{ID}.band_classes")


def _tables(panel: Panel, results: Sequence[Result], number: int) -> Iterator[EstimateTable | PlainTable]:
    names = [*COEFFICIENTS, "gwet_ac2", "weighted_concordance", "rater_accuracy", "expected_agreement"]
    rows = []
    for name in (*names, "label_accuracy"):
        for r in results:
            if r.id != f"{ID}.{name}" or "raters" in r.scope:
                continue
            leads = (
                r.primary and "parameters" not in r.scope and name in ("krippendorff_alpha", "label_accuracy")
            )
            key = f"{name}_ordinal" if "parameters" in r.scope else name
            rows.append(Row(say(f"{ID}.label.{key}"), r, leads=leads))
    yield EstimateTable(f"source_reliability_{number}", say(f"{ID}.table"), tuple(rows))
    if len(panel.raters) > 1:
        yield _raters_table(panel, results, number)


def _raters_table(panel: Panel, results: Sequence[Result], number: int) -> PlainTable:
    """A row per rater: labels given, kappa with the others, accuracy where it is known rater by rater."""
    columns = [Column(say(f"{ID}.column.rater")), Column(say(f"{ID}.column.cases"), "count")]
    kappas = _by_rater(results, "mean_cohen_kappa")
    accuracies = _by_rater(results, "rater_accuracy")
    if kappas:
        columns.append(Column(say(f"{ID}.column.kappa"), "number"))
    if accuracies:
        columns.append(Column(say(f"{ID}.column.accuracy"), "number"))
    counts = (panel.codes >= 0).sum(axis=0)
    rows = []
    for rater, n in zip(panel.raters, counts):
        row: list[object] = [rater, int(n)]
        row += [kappas.get(rater)] if kappas else []
        row += [_as_cell(accuracies.get(rater))] if accuracies else []
        rows.append(tuple(row))
    return PlainTable(
        f"source_reliability_raters_{number}", say(f"{ID}.table_raters"), tuple(columns), tuple(rows)
    )


def _by_rater(results: Sequence[Result], name: str) -> dict[str, Estimate]:
    return {
        r.scope["raters"][0]: r.estimate
        for r in results
        if r.id == f"{ID}.{name}" and len(r.scope.get("raters", ())) == 1
    }


def _as_cell(e: Estimate | None) -> Estimate | float | None:
    """A stated number without its missing interval."""
    return e.value if e is not None and isnan(e.low) else e


def _joyplots(panel: Panel, number: int) -> Iterator[Figure]:
    if panel.confidence is None:
        return
    known = panel.confidence[~np.isnan(panel.confidence)]
    steps = np.unique(known)
    discrete = len(steps) <= MOST_STEPS
    edges = np.linspace(0, 1, BINS + 1)
    at = steps if discrete else (edges[:-1] + edges[1:]) / 2
    ridges = []
    for rater, column in zip(panel.raters, panel.confidence.T):
        own = column[~np.isnan(column)]
        if not len(own):
            continue
        counts = (own[:, None] == steps).sum(axis=0) if discrete else np.histogram(own, edges)[0]
        shares = tuple(float(x) for x in counts / len(own))
        ridges.append(Ridge(rater, shares, float(own.mean()), len(own)))
    for i in range(0, len(ridges), RIDGES_A_FIGURE):
        some = tuple(ridges[i : i + RIDGES_A_FIGURE])
        means = [ridge.mean for ridge in some]
        yield Figure(
            f"confidence_{number}" + (f"_{i // RIDGES_A_FIGURE + 1}" if i else ""),
            Joyplot(some, tuple(float(x) for x in at), discrete),
            say(f"{ID}.figure.confidence"),
            say(f"{ID}.figure.confidence_alt", n=len(some), low=min(means), high=max(means)),
        )


def _nomogram_of(panel: Panel, results: Sequence[Result], number: int) -> Iterator[Figure]:
    """The nomogram with the reliability of these raters marked; it is one of two classes."""
    rho = _lead(panel, results, "weighted_concordance")
    if rho is None or isnan(rho.value) or panel.n_categories != 2:
        return
    label = next(r.estimate for r in results if r.id == f"{ID}.label_accuracy" and r.method == NOMOGRAM)
    yield Figure(
        f"nomogram_{number}",
        Nomogram(_lines(MEASURED), _ticks(), concordance=rho, label=label),
        say(f"{ID}.figure.nomogram"),
        say(f"{ID}.figure.nomogram_alt", concordance=rho.value, label=label.value),
    )


def _lines(measured: Sequence[float]) -> tuple[NomogramLine, ...]:
    """For each measured accuracy what it means on labels that are right half of the time to always."""
    return tuple(
        NomogramLine(x, tuple((a, actual_accuracy(x, a).value.value) for a in (0.5, 0.75, 1.0)))
        for x in measured
    )


def _ticks() -> tuple[tuple[float, float], ...]:
    """Where on the scale of label accuracy some weighted concordances lie."""
    return tuple((c, nomogram_accuracy(Estimate(c, nan, nan, 0)).value) for c in CONCORDANCES)


# ---------------------------------------------------------------- stated sets


def _of_sets(sets: Sequence[StatedSet]) -> Iterator[Message]:
    if len(sets) <= EACH_UP_TO:
        for one in sets:
            yield say(
                f"{ID}.set",
                set=one.name,
                measured=one.measured,
                concordance=one.concordance,
                label=one.label.value,
                value=one.actual.value.value,
                low=one.actual.low_bound.value,
                high=one.actual.high_bound.value,
            )
    else:
        values = [one.actual.value.value for one in sets]
        labels = [one.label.value for one in sets]
        yield say(
            f"{ID}.sets",
            n=len(sets),
            low=min(values),
            high=max(values),
            label_low=min(labels),
            label_high=max(labels),
        )
    yield say(f"{ID}.assumption", n=len(sets))


def _sets_table(sets: Sequence[StatedSet]) -> PlainTable:
    columns = (
        Column(say(f"{ID}.column.set")),
        Column(say(f"{ID}.column.measured"), "percent"),
        Column(say(f"{ID}.column.concordance"), "number"),
        Column(say(f"{ID}.column.label"), "percent"),
        Column(say(f"{ID}.column.actual"), "percent"),
        Column(say(f"{ID}.column.low"), "percent"),
        Column(say(f"{ID}.column.high"), "percent"),
    )
    rows = tuple(
        (
            one.name,
            one.measured,
            one.concordance,
            one.label.value,
            one.actual.value.value,
            one.actual.low_bound.value,
            one.actual.high_bound.value,
        )
        for one in sets
    )
    return PlainTable("source_reliability_sets", say(f"{ID}.table_sets"), columns, rows)


def _sets_figure(sets: Sequence[StatedSet]) -> Figure:
    points = tuple(
        NomogramPoint(
            one.name,
            one.concordance,
            one.label.value,
            one.measured,
            one.actual.value.value,
            one.actual.low_bound.value,
            one.actual.high_bound.value,
        )
        for one in sets
    )
    own = sorted({*MEASURED, *(one.measured for one in sets)})
    lines = _lines(own if len(own) <= MOST_LINES else MEASURED)
    key = "nomogram_named" if len(points) <= NAMED_UP_TO else "nomogram_sets"
    return Figure(
        "nomogram_sets",
        Nomogram(lines, _ticks(), points),
        say(f"{ID}.figure.{key}"),
        say(f"{ID}.figure.nomogram_sets_alt", n=len(points)),
    )
