"""Figures of H-accuracy: over its parameters, of the raters, and where cases are on them."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.advice_accuracy.curves import FEWER_POINTS
from trustreport.assessment.dimensions.advice_accuracy.h_choices import Weighed
from trustreport.assessment.dimensions.advice_accuracy.results import ID
from trustreport.assessment.finding import Figure
from trustreport.assessment.narrative.texts import Texts
from trustreport.figures.calibration import HistogramChart, HistogramMark, HistogramPanel
from trustreport.figures.curves import LineOver, LinePoint, LinesChart, LinesPanel
from trustreport.figures.field import Bubble, BubblesChart, BubblesPanel, FieldChart, FieldPanel
from trustreport.figures.panels import MOST_PANELS
from trustreport.figures.roc import DevicePoint, ReaderPoint, RocFigure, RocLine, RocPanel
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.h_accuracy import parameters as choose
from trustreport.measures.h_accuracy.measure import risk_accuracy_of
from trustreport.measures.h_accuracy.parameters import mix_surface, over_complex_mix, over_priority, over_tau
from trustreport.measures.net_benefit import decision_curve
from trustreport.measures.roc.curve import roc_curve
from trustreport.measures.seeds import generator
from trustreport.study.plan import Plan
from trustreport.vocabulary.digits import as_declared
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.results import Result, leading

TAUS = tuple((0.5 + 0.01 * np.arange(51)).round(2).tolist())
RISKS = tuple((0.02 * np.arange(1, 50)).round(2).tolist())
PRIORITIES = tuple((0.05 * np.arange(21)).round(2).tolist())
SHARES = (0.0, 1.0)
MIXES = tuple((0.05 * np.arange(21)).round(2).tolist())
# Net benefit far below zero is cut off; so is what lies below this.
LOWEST = -0.5
RESAMPLES = 500
STEPS = 5  # bins of confidence and of complexity where they are graded finely
# Parts of the cases above a threshold of complexity, and of right answers at or above a confidence.
COMPLEX_PARTS, RIGHT_PARTS = (0.5, 1 / 3, 0.2), (0.8, 0.501, 0.25)

text = Texts(ID)


def figures_of_choices(some: Sequence[Weighed], plan: Plan) -> Iterator[Figure]:
    """H-accuracy over tau, priority and the share of complex cases, and the cases by their complexity."""
    named = len(some) > 1
    asked, marked = least_accuracy(plan), text("marked", level=plan.report.confidence_level)
    sure = [one for one in some if one.sure]
    if sure:
        over = tuple(_over_tau(one, plan, named=named) for one in sure)
        low = min((p.y for panel in over for line in panel.lines for p in line.points), default=0.0)
        ends = (max(min(low, 0.0), LOWEST), 1.0)
        lines = LinesChart(over, text("axis.tau"), text("axis.value"), SHARES, ends, marked, **asked)
        yield text.figure("h_accuracy_tau", lines, "tau", **_named(sure))
    over = tuple(_over_priority(one, plan, named=named) for one in some)
    lines = LinesChart(over, text("axis.priority"), text("axis.h"), SHARES, SHARES, marked, **asked)
    yield text.figure("h_accuracy_priority", lines, "priority", **_named(some))
    graded = [one for one in some if one.hard is not None and 0 < one.hard.sum() < len(one.hard)]
    if not graded:
        return
    over = tuple(_over_mix(one, plan, named=named) for one in graded)
    marked = text("marked_mix", level=plan.report.confidence_level)
    lines = LinesChart(over, text("axis.complex_share"), text("axis.h"), SHARES, SHARES, marked, **asked)
    yield text.figure("h_accuracy_mix", lines, "mix", **_named(graded))
    fields = tuple(_surface(one, named=named) for one in graded)
    surface = FieldChart(fields, text("axis.priority"), text("axis.complex_share"), text("axis.h"))
    yield text.figure("h_accuracy_surface", surface, "surface", **_named(graded))
    yield _bubbles(graded, named=named)
    # Candidates of one data set have the same cases.
    of_set = {one.dataset.name: one for one in reversed(graded)}
    bars = tuple(_complexities(one, named=len(of_set) > 1) for one in of_set.values())
    histogram = HistogramChart(bars, text("axis.complexity"), text("axis.cases"), text("marked_complex"))
    yield text.figure("h_accuracy_complexities", histogram, "complexities", names=list(of_set), n=len(of_set))


def least_accuracy(plan: Plan) -> dict[str, Any]:
    """The lowest accuracy that users accept, as a line of a chart, where it is declared."""
    least = plan.utility.minimum_accuracy
    if least is None:
        return {}
    return {"asked": least, "asked_label": text("asked", least=as_declared(least))}


def _named(some: Sequence[Weighed]) -> dict[str, Any]:
    return {"names": [one.name for one in some], "n": len(some)}


def _complexities(one: Weighed, *, named: bool) -> HistogramPanel:
    """How many cases are how complex, with the thresholds above which a half, a third and a fifth are."""
    assert one.graded is not None
    found: dict[float, list[Message]] = {}
    for part in COMPLEX_PARTS:
        complex_ = one.graded[choose.hardest(one.graded, part) == 1]
        found.setdefault(float(complex_.min()), []).append(text("share", value=part))
    marks = [HistogramMark(at, text("parts", parts=parts)) for at, parts in found.items()]
    return HistogramPanel.of_values(one.dataset.name if named else "", one.graded, marks)


def figures_of_raters(some: Sequence[Weighed], results: Sequence[Result], plan: Plan) -> Iterator[Figure]:
    """What raters show beside the device: their confidence when right, and their place in ROC space."""
    named = len(some) > 1
    sure = [one for one in some if one.raters is not None and one.raters.confidence is not None]
    # Candidates of one data set have the same raters.
    panels = {
        one.dataset.name: panel for one in sure if (panel := _confidences(one, named=named)) is not None
    }
    if panels:
        axes = (text("axis.confidence"), text("axis.answers"))
        histogram = HistogramChart(tuple(panels.values()), *axes, text("marked_right"))
        names = {"names": list(panels), "n": len(panels)}
        yield text.figure("h_accuracy_confidences", histogram, "confidences", **names)
    of_set: dict[str, list[Weighed]] = {}
    for one in some:
        if one.raters is not None and one.binary and one.sure:
            of_set.setdefault(one.dataset.name, []).append(one)
    if of_set:
        drawn = tuple(_roc(own, results, plan, named=named) for own in of_set.values())
        names = {"names": list(of_set), "n": len(of_set)}
        yield text.figure("h_accuracy_raters", RocFigure(drawn), "raters", **names)


def _confidences(one: Weighed, *, named: bool) -> HistogramPanel | None:
    """How sure the raters were of their right answers, with what parts of these reach."""
    assert one.raters is not None
    assert one.raters.confidence is not None
    confidence, right = one.raters.confidence, one.raters.right
    own = confidence[(right == 1) & ~np.isnan(confidence)]
    if not len(own):
        return None
    found: dict[float, list[Message]] = {}
    for part in RIGHT_PARTS:
        at = choose.tau_from_share(confidence, right, part)
        found.setdefault(at, []).append(text("share", value=part))
    marks = [HistogramMark(at, text("parts", parts=parts)) for at, parts in found.items()]
    return HistogramPanel.of_values(one.dataset.name if named else "", own, marks)


def _roc(own: Sequence[Weighed], results: Sequence[Result], plan: Plan, *, named: bool) -> RocPanel:
    """The curves of the candidates of a data set, and a point for each rater of the same cases."""
    lines = []
    for one in own:
        curve = roc_curve(one.truth == 1, one.scores[:, 1]).corners()
        where = {"dataset": one.place.dataset, "candidate": one.place.candidate, "parameters": None}
        names = ("auc", "sensitivity", "specificity")
        area, present, absent = (leading(results, f"{ID}.{name}", **where) for name in names)
        point = None
        if present is not None and absent is not None:
            point = DevicePoint(present.estimate, absent.estimate)
        assert area is not None
        label = one.place.candidate or ""
        lines.append(RocLine.of_curve(label, curve.fpr, curve.tpr, area.estimate, point, most=FEWER_POINTS))
    first, points = own[0], []
    assert first.raters is not None
    for name, decision in zip(first.raters.names, first.raters.decision):
        judged = ~np.isnan(decision)
        counts = ConfusionCounts.of_decisions(first.truth[judged] == 1, decision[judged] == 1)
        level = plan.report.confidence_level
        sens, spec = (
            estimated(MEASURES[share], counts, level=level) for share in ("sensitivity", "specificity")
        )
        points.append(ReaderPoint(name, sens, spec, None))
    return RocPanel(first.dataset.name if named else "", tuple(lines), tuple(points))


def _first(one: Weighed) -> Mapping[str, Any]:
    """The first declared choice whose parameters could be found."""
    return next((r.parameters for r in one.results if not isnan(r.estimate.value)), {})


def _over_tau(one: Weighed, plan: Plan, *, named: bool) -> LinesPanel:
    """Ha over tau beside net benefit, standardised net benefit and Ha with the risk penalty."""
    chosen = _first(one)
    priority = chosen.get("priority") or [0.5, 0.5]
    complexity = one.complexity if chosen.get("complexity") else None
    values = over_tau(
        one.truth, one.scores, TAUS, priority=priority, complexity=complexity,
        called=one.called,
    )  # fmt: skip
    marked = [
        LinePoint(p["tau"], r.estimate.value, r.estimate.low, r.estimate.high)
        for r in one.results
        if (p := r.parameters)["tau"] is not None
        and p["priority"] == chosen.get("priority")
        and p["complexity"] == chosen.get("complexity")
    ]
    ha = LineOver(text("line.ha"), tuple(map(LinePoint, TAUS, values.tolist())), tuple(marked))
    truth, score = one.truth == 1, one.scores[:, 1]
    share = float(truth.mean())
    found = decision_curve(truth, score, RISKS)
    benefit = found.value.tolist()
    risk = [risk_accuracy_of(nb, t, share) for nb, t in zip(benefit, RISKS)]
    lines = (
        ha,
        LineOver(text("line.risk"), tuple(map(LinePoint, RISKS, risk))),
        LineOver(text("line.nb"), tuple(map(LinePoint, RISKS, benefit))),
        LineOver(text("line.snb"), tuple(LinePoint(t, nb / share) for t, nb in zip(RISKS, benefit))),
    )
    return LinesPanel(one.name if named else "", lines)


def _over_priority(one: Weighed, plan: Plan, *, named: bool) -> LinesPanel:
    """Ha over the priority of the positive class, at no confidence penalty and at the declared tau."""
    chosen = _first(one)
    complexity = one.complexity if chosen.get("complexity") else None
    lines = []
    for tau in dict.fromkeys((0.5, chosen.get("tau") or 0.5)):
        rng = generator(plan.similarity.seed, ID, "h_over_priority", str(one.place.scope), str(tau))
        found = over_priority(
            one.truth, one.scores, PRIORITIES, rng=rng, tau=tau, complexity=complexity,
            called=one.called, cluster=one.cluster, resamples=RESAMPLES, level=plan.report.confidence_level,
        )  # fmt: skip
        columns = (found.at, found.value, found.low, found.high)
        points = tuple(LinePoint(*row) for row in zip(*(column.tolist() for column in columns)))
        marked = tuple(
            LinePoint(p["priority"][1], r.estimate.value, r.estimate.low, r.estimate.high)
            for r in one.results
            if (p := r.parameters)["priority"] is not None
            and p["tau"] == tau
            and p["complexity"] == chosen.get("complexity")
        )
        lines.append(LineOver(text("line.at_tau", tau=tau), points, marked))
    return LinesPanel(one.name if named else "", tuple(lines))


def _over_mix(one: Weighed, plan: Plan, *, named: bool) -> LinesPanel:
    """Ha over the share of complex cases, without and with the chosen tau; the mark is their share here."""
    assert one.hard is not None
    chosen, here = _first(one), float(one.hard.mean())
    lines = []
    for tau in dict.fromkeys((1 / one.n_classes, chosen.get("tau") or 1 / one.n_classes)):
        rng = generator(plan.similarity.seed, ID, "h_over_mix", str(one.place.scope), str(tau))
        found = over_complex_mix(
            one.truth, one.scores, one.hard, [*MIXES, here], rng=rng, tau=tau,
            priority=chosen.get("priority"), called=one.called, cluster=one.cluster,
            resamples=RESAMPLES, level=plan.report.confidence_level,
        )  # fmt: skip
        columns = (found.at, found.value, found.low, found.high)
        *points, mark = (LinePoint(*row) for row in zip(*(column.tolist() for column in columns)))
        lines.append(LineOver(text("line.at_tau", tau=tau), tuple(points), (mark,)))
    return LinesPanel(one.name if named else "", tuple(lines))


def _surface(one: Weighed, *, named: bool) -> FieldPanel:
    assert one.hard is not None
    tau = _first(one).get("tau")
    grid = mix_surface(one.truth, one.scores, one.hard, MIXES, PRIORITIES, tau=tau, called=one.called)
    rows = tuple(tuple(row) for row in grid.tolist())
    return FieldPanel(one.name if named else "", PRIORITIES, MIXES, rows)


def _bubbles(some: Sequence[Weighed], *, named: bool) -> Figure:
    """Complexity of the cases against the confidence of the advice, and of the raters, right and wrong."""
    panels = []
    for one in some:
        assert one.graded is not None
        confidence = one.scores.max(axis=1)
        found = _binned(confidence, one.graded, one.right)
        panels.append(BubblesPanel(one.name if named else text("by_device"), found))
        of = one.raters
        if of is not None and of.confidence is not None:
            there = ~np.isnan(of.confidence) & ~np.isnan(of.right)
            complexity = np.broadcast_to(one.graded, there.shape)[there]
            found = _binned(of.confidence[there], complexity, of.right[there] == 1)
            name = text("by_raters_of", name=one.name) if named else text("by_raters")
            panels.append(BubblesPanel(name, found))
    panels = panels[:MOST_PANELS]
    every = [b for panel in panels for b in panel.bubbles]
    ends = [(min(v), max(v)) for v in ([b.x for b in every], [b.y for b in every])]
    ranges = [(low, high) if high > low else (low - 0.5, high + 0.5) for low, high in ends]
    drawing = BubblesChart(
        tuple(panels), text("axis.confidence"), text("axis.complexity"), ranges[0], ranges[1]
    )
    names = [one.name for one in some]
    return text.figure(
        "h_accuracy_complexity",
        drawing,
        "complexity",
        n=len(panels),
        names=names,
    )


def _binned(x: Any, y: Any, right: Any) -> tuple[Bubble, ...]:
    """Answers by place; what is graded finely is put together in equal steps."""
    places = np.stack([_steps(np.asarray(x, float)), _steps(np.asarray(y, float))], axis=1)
    cells, index = np.unique(places, axis=0, return_inverse=True)
    good = np.bincount(index.ravel(), weights=right, minlength=len(cells))
    n = np.bincount(index.ravel(), minlength=len(cells))
    return tuple(
        Bubble(float(a), float(b), int(k), int(m - k)) for (a, b), k, m in zip(cells.tolist(), good, n)
    )


def _steps(values: Any) -> Any:
    """The values themselves where they are few, else the middles of equal steps."""
    if len(np.unique(values)) <= 2 * STEPS:
        return values
    low, high = float(values.min()), float(values.max())
    step = (high - low) / STEPS
    which = np.minimum(((values - low) / step).astype(int), STEPS - 1)
    return np.round(low + (which + 0.5) * step, 6)
