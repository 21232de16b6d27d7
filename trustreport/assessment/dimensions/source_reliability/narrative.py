"""Source reliability: sentences, tables and figures of raters and of stated sets."""

from collections.abc import Iterator, Sequence
from math import isnan, nan

import numpy as np

from trustreport.assessment.dimensions.source_reliability.advice_truth import AdviceAccuracies
from trustreport.assessment.dimensions.source_reliability.rater_panel import Panel
from trustreport.assessment.dimensions.source_reliability.raters import COEFFICIENTS, ID
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.sentences import numbers
from trustreport.assessment.narrative.tables import table
from trustreport.figures.reliability import (
    CONCORDANCES,
    NAMED_UP_TO,
    Joyplot,
    NomogramFigure,
    NomogramLine,
    NomogramPoint,
    Ridge,
)
from trustreport.measures.agreement.bootstrap import OVER_RATERS_AND_CASES
from trustreport.measures.estimate import Estimate
from trustreport.measures.label_accuracy import (
    MAJORITY,
    NOMOGRAM,
    actual_accuracy,
    least_reliability,
    nomogram_accuracy,
)
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

# Sets that have a sentence each; more of them share one.
EACH_UP_TO = 4
# Coefficients of which the table also shows the interval with raters drawn too.
SHOWN_BOTH_WAYS = ("percent_agreement", "krippendorff_alpha", "gwet_ac1", "gwet_ac2", "weighted_concordance")
# Raters that a joyplot holds on one page.
RIDGES_A_FIGURE = 40
# A scale of confidence with more values than this is drawn in bins, so many of them.
MOST_STEPS, BINS = 12, 25
MEASURED = (0.6, 0.7, 0.8, 0.9, 0.95, 1.0)
# Lines of the nomogram, and how far apart a round one must be from that of a study.
MOST_LINES, APART = 12, 0.02
NARROW = 0.01  # bounds of the actual accuracy that are nearer than this are one number
# Accuracies that one may want to show, and for how many measured ones the table says what that takes.
WANTED, MOST_MEASURED = (0.7, 0.8, 0.85, 0.9, 0.95), 5


def parts(
    panel: Panel, results: Sequence[Result], advice: Sequence[AdviceAccuracies], number: int
) -> Iterator[Part]:
    """The raters of one task: how far they agree; how many labels are right, and what advice means."""
    of_task = {"name": panel.task} if panel.place.panel else {}
    key = "of_task" if of_task else "alone"
    yield Part(
        title=say(f"{ID}.title_agreement.{key}", **of_task),
        finding=tuple(_agreeing(panel, results)),
        tables=tuple(_agreement_tables(panel, results, number)),
        figures=tuple(_joyplots(panel, number)),
        place=panel.place,
    )
    yield Part(
        title=say(f"{ID}.title_labels.{key}", **of_task),
        finding=tuple(_knowing(panel, results, advice)),
        tables=(_labels_table(results, number), *_accuracy_tables(advice, str(number))),
        figures=tuple(_nomogram_of(panel, results, advice, number)),
        place=panel.place,
    )


def sets_part(sets: Sequence[AdviceAccuracies], *, alone: bool) -> Part:
    """All stated sets together: a sentence each or one for all, one table, one nomogram."""
    return Part(
        title=None if alone else say(f"{ID}.stated"),
        finding=tuple(_of_sets(sets)),
        tables=tuple(_accuracy_tables(sets, "sets")),
        figures=(_sets_figure(sets),),
    )


# ---------------------------------------------------------------- raters


def _lead(panel: Panel, results: Sequence[Result], name: str) -> Estimate | None:
    found = leading(results, f"{ID}.{name}", raters=None, **panel.place.scope)
    return found.estimate if found else None


def _agreeing(panel: Panel, results: Sequence[Result]) -> Iterator[Message]:
    cases = int((panel.codes >= 0).any(axis=1).sum())
    agreement, alpha = (_lead(panel, results, name) for name in ("percent_agreement", "krippendorff_alpha"))
    assert agreement is not None
    assert alpha is not None
    if isnan(agreement.value):
        yield say(f"{ID}.no_agreement", n=len(panel.raters), cases=cases, reason=agreement.note)
    else:
        key = "no_agreement_interval" if isnan(agreement.low) else "agreement"
        yield say(f"{ID}.{key}", n=len(panel.raters), cases=cases, **numbers(agreement))
        if isnan(alpha.value):
            yield say(f"{ID}.no_alpha", reason=alpha.note)
        elif isnan(alpha.low):
            yield say(f"{ID}.alpha_no_interval", value=alpha.value, reason=alpha.note)
        else:
            yield say(f"{ID}.alpha_ranks" if panel.ranks else f"{ID}.alpha", **numbers(alpha))
            yield from _other_raters(panel, results)
        yield from _range_of_pairs(panel, results)


def _other_raters(panel: Panel, results: Sequence[Result]) -> Iterator[Message]:
    """Alpha for raters in general, where these are enough for a sample."""
    for r in results:
        alpha = r.id == f"{ID}.krippendorff_alpha" and bool(r.parameters) == panel.ranks
        if alpha and r.method == OVER_RATERS_AND_CASES and not isnan(r.estimate.low):
            yield say(f"{ID}.other_raters", low=r.estimate.low, high=r.estimate.high)


def _kappa_shown(panel: Panel) -> dict[str, str]:
    """The parameters of the kappa of two raters that is shown: of ranks the one with quadratic weights."""
    return {"weights": "quadratic"} if panel.ranks else {}


def _range_of_pairs(panel: Panel, results: Sequence[Result]) -> Iterator[Message]:
    chosen = _kappa_shown(panel)
    pairs = [
        r
        for r in results
        if r.id == f"{ID}.cohen_kappa" and r.parameters == chosen and not isnan(r.estimate.value)
    ]
    if len(pairs) < 2:
        return
    least = min(pairs, key=lambda r: r.estimate.value)
    most = max(pairs, key=lambda r: r.estimate.value)
    yield say(
        f"{ID}.pairs_ranks" if panel.ranks else f"{ID}.pairs",
        low=least.estimate.value,
        least=list(least.place.raters or ()),
        high=most.estimate.value,
        most=list(most.place.raters or ()),
    )


def _dependence(panel: Panel, results: Sequence[Result]) -> Iterator[Message]:
    """Whether the agreement fits raters of the stated accuracy who err independently."""
    expected, agreement = (
        _lead(panel, results, name) for name in ("expected_agreement", "percent_agreement")
    )
    if expected is None or agreement is None or isnan(agreement.low):
        return
    way = (
        "more" if agreement.low > expected.value else "less" if agreement.high < expected.value else "as_much"
    )
    yield say(f"{ID}.independence.{way}", expected=expected.value)


def _knowing(
    panel: Panel, results: Sequence[Result], advice: Sequence[AdviceAccuracies]
) -> Iterator[Message]:
    rho = _lead(panel, results, "weighted_concordance")
    assert rho is not None
    if isnan(rho.value):
        yield say(f"{ID}.no_concordance", reason=rho.note)
    elif isnan(rho.low):
        yield say(f"{ID}.concordance_no_interval", value=rho.value, reason=rho.note)
    else:
        known = panel.accuracy is not None or panel.truth is not None
        yield say(f"{ID}.concordance" if known else f"{ID}.concordance_bound", **numbers(rho))
    yield from _dependence(panel, results)
    yield from _labels(panel, results, advice)


def _labels(panel: Panel, results: Sequence[Result], advice: Sequence[AdviceAccuracies]) -> Iterator[Message]:
    label = _lead(panel, results, "label_accuracy")
    assert label is not None
    if isnan(label.value):
        yield say(f"{ID}.no_labels", reason=label.note)
        return
    bare = label.method == NOMOGRAM and isnan(label.low)
    yield say(f"{ID}.labels_by.{label.method}{'_no_interval' if bare else ''}", **numbers(label))
    yield from (
        say(f"{ID}.labels_by.{MAJORITY}_second", **numbers(r.estimate))
        for r in results
        if r.id == f"{ID}.label_accuracy" and r.method == MAJORITY != label.method
        if not isnan(r.estimate.value)
    )
    if advice:
        for one in advice[:EACH_UP_TO]:
            yield _of_advice(one)
    else:
        yield say(f"{ID}.band" if panel.n_categories == 2 else f"{ID}.band_classes")


def _of_advice(one: AdviceAccuracies) -> Message:
    """What a measured accuracy means where the labels are right as often as the primary way has it."""
    actual = one.actual[0]
    width = actual.high_bound.value - actual.low_bound.value
    return say(
        f"{ID}.advice" if width >= NARROW else f"{ID}.advice_narrow",
        set=one.name,
        measured=one.measured.value,
        measured_low=one.measured.low,
        measured_high=one.measured.high,
        value=actual.value.value,
        least=actual.low_bound.value,
        most=actual.high_bound.value,
        level=one.measured.level,
    )


def _agreement_tables(
    panel: Panel, results: Sequence[Result], number: int
) -> Iterator[EstimateTable | PlainTable]:
    yield _agreement_table(panel, results, number)
    if len(panel.raters) > 1:
        yield _raters_table(panel, results, number)


def _labels_table(results: Sequence[Result], number: int) -> EstimateTable:
    rows = []
    for name in ("rater_accuracy", "expected_agreement", "label_accuracy"):
        for r in results:
            if r.id == f"{ID}.{name}" and r.place.raters is None:
                leads = r.primary and name == "label_accuracy"
                rows.append(EstimateRow(say(f"{ID}.label.{name}"), r, leads=leads))
    return EstimateTable(f"source_reliability_labels_{number}", say(f"{ID}.table_labels"), tuple(rows))


def _agreement_table(panel: Panel, results: Sequence[Result], number: int) -> EstimateTable:
    """Each coefficient with these raters as they are, then with the raters drawn too."""
    rows = []
    for name in (*COEFFICIENTS, "gwet_ac2", "icc", "weighted_concordance"):
        for r in results:
            shown = r.primary or (r.method == OVER_RATERS_AND_CASES and name in SHOWN_BOTH_WAYS)
            if r.id == f"{ID}.{name}" and shown and r.place.raters is None:
                ranks = bool(r.parameters)
                leads = r.primary and name == "krippendorff_alpha" and ranks == panel.ranks
                rows.append(EstimateRow(_label(r), r, leads))
    return EstimateTable(f"source_reliability_{number}", say(f"{ID}.table"), tuple(rows))


def _label(r: Result) -> Message:
    """The name of a coefficient of all raters, with its weights or form."""
    way = r.parameters.get("weights") or str(r.parameters.get("form", "")).replace(",", "").lower()
    return say(f"{ID}.label.{r.name}_{way}" if way else f"{ID}.label.{r.name}")


def _raters_table(panel: Panel, results: Sequence[Result], number: int) -> PlainTable:
    """A row per rater: labels given, kappa with the others; accuracy and mean confidence where known."""
    kappas = _by_rater(results, "mean_cohen_kappa", **_kappa_shown(panel))
    accuracies = _by_rater(results, "rater_accuracy")
    counts = dict(zip(panel.raters, (panel.codes >= 0).sum(axis=0)))
    sure = _mean_confidence(panel)
    return table(
        f"source_reliability_raters_{number}",
        say(f"{ID}.table_raters_ranks" if panel.ranks else f"{ID}.table_raters"),
        panel.raters,
        [
            (f"{ID}.column.rater", str),
            (f"{ID}.column.cases", lambda rater: int(counts[rater]), "count"),
            (f"{ID}.column.kappa", kappas.get, "number") if kappas else None,
            (f"{ID}.column.accuracy", lambda rater: _as_cell(accuracies.get(rater)), "number")
            if accuracies
            else None,
            (f"{ID}.column.confidence", sure.get, "number") if sure else None,
        ],
    )


def _mean_confidence(panel: Panel) -> dict[str, float]:
    """How sure each rater was of the labels given, where that was recorded."""
    if panel.confidence is None:
        return {}
    known = {rater: own[~np.isnan(own)] for rater, own in zip(panel.raters, panel.confidence.T)}
    return {rater: float(own.mean()) for rater, own in known.items() if len(own)}


def _by_rater(results: Sequence[Result], name: str, **chosen: str) -> dict[str, Estimate]:
    return {
        r.place.raters[0]: r.estimate
        for r in results
        if r.id == f"{ID}.{name}"
        and r.parameters == chosen
        and r.place.raters is not None
        and len(r.place.raters) == 1
    }


def _as_cell(e: Estimate | None) -> Estimate | float | None:
    """A stated number without its missing interval."""
    return e.value if e is not None and isnan(e.low) else e


def _joyplots(panel: Panel, number: int) -> Iterator[Figure]:
    """The distribution of the confidence of each rater, by the steps of the scale or in bins."""
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


def _nomogram_of(
    panel: Panel, results: Sequence[Result], advice: Sequence[AdviceAccuracies], number: int
) -> Iterator[Figure]:
    """The nomogram with the reliability of these raters marked; it is one of two classes."""
    rho = _lead(panel, results, "weighted_concordance")
    if rho is None or isnan(rho.value) or panel.n_categories != 2:
        return
    label = next(r.estimate for r in results if r.id == f"{ID}.label_accuracy" and r.method == NOMOGRAM)
    points = tuple(_points(advice))
    key = "nomogram_bounds" if 0 < len(points) <= NAMED_UP_TO else "nomogram"
    yield Figure(
        f"nomogram_{number}",
        NomogramFigure(_drawn_lines(points), _ticks(), points, concordance=rho, label=label),
        say(f"{ID}.figure.{key}"),
        say(f"{ID}.figure.nomogram_alt", concordance=rho.value, label=label.value),
    )


def _points(sets: Sequence[AdviceAccuracies]) -> Iterator[NomogramPoint]:
    """Measured accuracies on the nomogram: by the labels that it takes for right."""
    for one in sets:
        for label, actual in zip(one.labels, one.actual):
            if label.method == NOMOGRAM:
                yield NomogramPoint(
                    one.name,
                    one.concordance,
                    label.value,
                    one.measured.value,
                    actual.value.value,
                    actual.low_bound.value,
                    actual.high_bound.value,
                    None if isnan(actual.value.low) else (actual.value.low, actual.value.high),
                )


def _lines(measured: Sequence[float]) -> tuple[NomogramLine, ...]:
    """For each measured accuracy what it means on labels that are right half of the time to always."""
    return tuple(
        NomogramLine(x, tuple((a, actual_accuracy(x, a).value.value) for a in (0.5, 0.75, 1.0)))
        for x in measured
    )


def _ticks() -> tuple[tuple[float, float], ...]:
    """Where on the scale of label accuracy some weighted concordances are."""
    return tuple((c, nomogram_accuracy(Estimate(c, nan, nan, 0)).value) for c in CONCORDANCES)


# ---------------------------------------------------------------- what is behind a measured accuracy


def _of_sets(sets: Sequence[AdviceAccuracies]) -> Iterator[Message]:
    if len(sets) <= EACH_UP_TO:
        for one in sets:
            yield say(
                f"{ID}.set",
                set=one.name,
                measured=one.measured.value,
                concordance=one.concordance,
                label=one.labels[0].value,
                value=one.actual[0].value.value,
                low=one.actual[0].low_bound.value,
                high=one.actual[0].high_bound.value,
            )
    else:
        values = [one.actual[0].value.value for one in sets]
        labels = [one.labels[0].value for one in sets]
        yield say(
            f"{ID}.sets",
            n=len(sets),
            low=min(values),
            high=max(values),
            label_low=min(labels),
            label_high=max(labels),
        )
    yield say(f"{ID}.assumption", n=len(sets))


def _accuracy_tables(sets: Sequence[AdviceAccuracies], name: str) -> Iterator[PlainTable]:
    """What each measured accuracy means, by each way to know the labels; what wanted ones would take."""
    if not sets:
        return
    named = (f"{ID}.column.set", lambda row: row[0].name) if len(sets) > 1 else None
    yield table(
        f"source_reliability_behind_{name}",
        say(f"{ID}.table_sets"),
        [(one, label, actual) for one in sets for label, actual in zip(one.labels, one.actual)],
        [
            named,
            (f"{ID}.column.measured", lambda row: row[0].measured.value, "percent"),
            (f"{ID}.column.concordance", lambda row: row[0].concordance, "number"),
            (f"{ID}.column.by", lambda row: say(f"{ID}.by.{row[1].method}")),
            (f"{ID}.column.label", lambda row: row[1].value, "percent"),
            (f"{ID}.column.actual", lambda row: row[2].value.value, "percent"),
            (f"{ID}.column.low", lambda row: row[2].low_bound.value, "percent"),
            (f"{ID}.column.high", lambda row: row[2].high_bound.value, "percent"),
        ],
    )
    shown = [(one, _least(one.measured.value)) for one in sets if one.measured.value > 0.5]
    if shown and len(sets) <= MOST_MEASURED:
        yield table(
            f"source_reliability_least_{name}",
            say(f"{ID}.table_least"),
            shown,
            [
                named,
                (f"{ID}.column.measured", lambda row: row[0].measured.value, "percent"),
                *(
                    (say(f"{ID}.column.wanted", wanted=wanted), lambda row, i=i: row[1][i], "number")
                    for i, wanted in enumerate(WANTED)
                ),
            ],
        )


def _least(measured: float) -> list[float]:
    """The weighted concordance that each accuracy wanted would take."""
    return [least_reliability(measured, wanted).weighted_concordance.value for wanted in WANTED]


def _drawn_lines(points: Sequence[NomogramPoint]) -> tuple[NomogramLine, ...]:
    """Lines of the measured accuracies, and of round ones away from them."""
    own = {point.measured for point in points}
    if len(own) > MOST_LINES - len(MEASURED):
        return _lines(MEASURED)
    return _lines(sorted({*own, *(x for x in MEASURED if all(abs(x - y) >= APART for y in own))}))


def _sets_figure(sets: Sequence[AdviceAccuracies]) -> Figure:
    points = tuple(_points(sets))
    key = "nomogram_named" if len(points) <= NAMED_UP_TO else "nomogram_sets"
    return Figure(
        "nomogram_sets",
        NomogramFigure(_drawn_lines(points), _ticks(), points),
        say(f"{ID}.figure.{key}"),
        say(f"{ID}.figure.nomogram_sets_alt", n=len(points)),
    )
