"""H-accuracy: what was chosen, what came out, and figures over each parameter."""

from collections.abc import Iterator, Mapping, Sequence
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.dimensions.advice_accuracy.entries import ID
from trustreport.dimensions.advice_accuracy.h_accuracy import Confident
from trustreport.figures.bubbles import Bubble, BubblesChart, BubblesPanel
from trustreport.figures.curves import MOST_PANELS
from trustreport.figures.field import FieldChart, FieldPanel
from trustreport.figures.lines import LineOver, LinePoint, LinesChart, LinesPanel
from trustreport.finding import Figure, Part, PlainTable
from trustreport.measures.h_accuracy.profile import over_complex_share, over_priority, over_tau
from trustreport.measures.h_accuracy.risk import risk_accuracy_of
from trustreport.measures.net_benefit import decision_curve
from trustreport.messages import Message, say
from trustreport.narrative.tables import table
from trustreport.plan import Plan
from trustreport.results import Result
from trustreport.seeds import generator

TAUS = tuple((0.5 + 0.01 * np.arange(51)).round(2).tolist())
RISKS = tuple((0.02 * np.arange(1, 50)).round(2).tolist())
PRIORITIES = tuple((0.05 * np.arange(21)).round(2).tolist())
SHARES_COMPLEX = tuple((0.05 * np.arange(1, 21)).round(2).tolist())
# Net benefit far below zero is cut off; so is what lies below this.
LOWEST = -0.5
RESAMPLES = 500
STEPS = 5  # bins of confidence and of complexity where they are graded finely


def h_parts(weighed: Sequence[Confident], plan: Plan) -> Iterator[Part]:
    """One part for all data sets for which parameters are declared."""
    shown = [one for one in weighed if one.results]
    if not shown:
        return
    tables = tuple(_table(one, i) for i, one in enumerate(shown[:MOST_PANELS], 1))
    binary = [one for one in shown if one.binary][:MOST_PANELS]
    figures = tuple(_figures(binary, plan)) if binary else ()
    finding = [sentence for one in shown[:3] for sentence in _sentences(one, plan)]
    yield Part(tuple(finding), title=say(f"{ID}.title_h"), tables=tables, figures=figures)


def _parameters(result: Result) -> Mapping[str, Any]:
    return result.parameters


def _sentences(one: Confident, plan: Plan) -> Iterator[Message]:
    first = one.results[0].estimate
    if isnan(first.value):
        yield say(f"{ID}.h_undefined", name=one.name, reason=first.note)
        return
    chosen = _choice(one.results[0])
    values = {"value": first.value, "low": first.low, "high": first.high, "level": first.level}
    if isnan(first.low):
        yield say(f"{ID}.h_without_interval", name=one.name, chosen=chosen, value=first.value)
    else:
        yield say(f"{ID}.h_value", name=one.name, chosen=chosen, **values)
    least = plan.utility.minimum_accuracy
    if least is not None and not isnan(first.low):
        key = "above" if first.low > least else "below" if first.high < least else "around"
        yield say(f"{ID}.h_asked_{key}", least=least)


def _choice(result: Result) -> Message:
    chosen = _parameters(result)
    parts = []
    if chosen["tau"] is not None:
        key = f"from_{chosen['tau_from']}" if "tau_from" in chosen else "given"
        parts.append(say(f"{ID}.tau.{key}", tau=chosen["tau"], share=chosen.get("tau_share", nan)))
    if chosen["priority"] is not None:
        key = f"from_{chosen['priority_from']}" if "priority_from" in chosen else "given"
        priority = [say(f"{ID}.share", value=p) for p in chosen["priority"]]
        parts.append(say(f"{ID}.priority.{key}", priority=priority))
    parts.append(_complexity(chosen["complexity"]))
    return say(f"{ID}.chosen", parts=parts)


def _complexity(chosen: Any) -> Message:
    if not isinstance(chosen, Mapping):
        return say(f"{ID}.complexity.{'column' if chosen else 'none'}")
    words = say(f"{ID}.complexity.{chosen.get('source', 'column')}")
    if "top" in chosen:
        words = say(f"{ID}.complexity.top", of=words, share=chosen["top"])
    elif "above" in chosen:
        words = say(f"{ID}.complexity.above", of=words, threshold=chosen["above"])
    if "relevance_weight" in chosen:
        words = say(f"{ID}.complexity.relevance", of=words, share=chosen["relevance_weight"])
    return words


def _table(one: Confident, number: int) -> PlainTable:
    return table(
        f"h_accuracy_{number}",
        say(f"{ID}.table_h", name=one.name),
        one.results,
        [
            (f"{ID}.column.chosen", _choice),
            (f"{ID}.column.value", "estimate.value", "number.3"),
            (f"{ID}.column.low", "estimate.low", "number.3"),
            (f"{ID}.column.high", "estimate.high", "number.3"),
            (f"{ID}.column.class_0", lambda r: r.estimate.details.get("class_0"), "number.3"),
            (f"{ID}.column.class_1", lambda r: r.estimate.details.get("class_1"), "number.3"),
        ],
    )


def _figures(some: Sequence[Confident], plan: Plan) -> Iterator[Figure]:
    named = len(some) > 1
    least = plan.utility.minimum_accuracy
    asked: dict[str, Any] = {}
    if least is not None:
        asked = {"asked": least, "asked_label": say(f"{ID}.asked", least=least)}
    marked = say(f"{ID}.marked", level=plan.report.confidence_level)
    alt = {"names": [one.name for one in some], "n": len(some)}
    over = tuple(_over_tau(one, plan, named=named) for one in some)
    low = min((p.y for panel in over for line in panel.lines for p in line.points), default=0.0)
    yield Figure(
        "h_accuracy_tau",
        LinesChart(
            over,
            say(f"{ID}.axis.tau"),
            say(f"{ID}.axis.value"),
            (0.0, 1.0),
            (max(min(low, 0.0), LOWEST), 1.0),
            marked,
            **asked,
        ),
        say(f"{ID}.figure.tau"),
        say(f"{ID}.figure.tau_alt", **alt),
    )
    yield Figure(
        "h_accuracy_priority",
        LinesChart(
            tuple(_over_priority(one, plan, named=named) for one in some),
            say(f"{ID}.axis.priority"),
            say(f"{ID}.axis.h"),
            (0.0, 1.0),
            (0.0, 1.0),
            marked,
            **asked,
        ),
        say(f"{ID}.figure.priority"),
        say(f"{ID}.figure.priority_alt", **alt),
    )
    graded = [one for one in some if one.graded is not None and np.ptp(one.graded) > 0]
    if graded:
        yield Figure(
            "h_accuracy_surface",
            FieldChart(
                tuple(_surface(one, named=named) for one in graded),
                say(f"{ID}.axis.priority"),
                say(f"{ID}.axis.complex_share"),
                say(f"{ID}.axis.h"),
            ),
            say(f"{ID}.figure.surface"),
            say(f"{ID}.figure.surface_alt", **{**alt, "names": [one.name for one in graded]}),
        )
        yield _bubbles(graded, named=named)


def _first(one: Confident) -> Mapping[str, Any]:
    """The first declared choice whose parameters could be found."""
    return next((_parameters(r) for r in one.results if not isnan(r.estimate.value)), {})


def _over_tau(one: Confident, plan: Plan, *, named: bool) -> LinesPanel:
    """Ha over tau beside net benefit, standardised net benefit and Ha with the risk penalty."""
    chosen = _first(one)
    priority = chosen.get("priority") or [0.5, 0.5]
    complexity = one.complexity if chosen.get("complexity") else None
    values = over_tau(one.truth, one.scores, TAUS, priority=priority, complexity=complexity)
    marked = [
        LinePoint(p["tau"], r.estimate.value, r.estimate.low, r.estimate.high)
        for r in one.results
        if (p := _parameters(r))["tau"] is not None
        and p["priority"] == chosen.get("priority")
        and p["complexity"] == chosen.get("complexity")
    ]
    ha = LineOver(say(f"{ID}.line.ha"), tuple(map(LinePoint, TAUS, values.tolist())), tuple(marked))
    truth, score = one.truth == 1, one.scores[:, 1]
    share = float(truth.mean())
    found = decision_curve(truth, score, RISKS)
    benefit = found.value.tolist()
    risk = [risk_accuracy_of(nb, t, share) for nb, t in zip(benefit, RISKS)]
    lines = (
        ha,
        LineOver(say(f"{ID}.line.risk"), tuple(map(LinePoint, RISKS, risk))),
        LineOver(say(f"{ID}.line.nb"), tuple(map(LinePoint, RISKS, benefit))),
        LineOver(say(f"{ID}.line.snb"), tuple(LinePoint(t, nb / share) for t, nb in zip(RISKS, benefit))),
    )
    return LinesPanel(one.name if named else "", lines)


def _over_priority(one: Confident, plan: Plan, *, named: bool) -> LinesPanel:
    """Ha over the priority of the positive class, at no confidence penalty and at the declared tau."""
    chosen = _first(one)
    complexity = one.complexity if chosen.get("complexity") else None
    lines = []
    for tau in dict.fromkeys((0.5, chosen.get("tau") or 0.5)):
        rng = generator(plan.similarity.seed, ID, "h_over_priority", str(one.place.scope), str(tau))
        found = over_priority(
            one.truth, one.scores, PRIORITIES, rng=rng, tau=tau, complexity=complexity,
            cluster=one.cluster, resamples=RESAMPLES, level=plan.report.confidence_level,
        )  # fmt: skip
        columns = (found.at, found.value, found.low, found.high)
        points = tuple(LinePoint(*row) for row in zip(*(column.tolist() for column in columns)))
        marked = tuple(
            LinePoint(p["priority"][1], r.estimate.value, r.estimate.low, r.estimate.high)
            for r in one.results
            if (p := _parameters(r))["priority"] is not None
            and p["tau"] == tau
            and p["complexity"] == chosen.get("complexity")
        )
        lines.append(LineOver(say(f"{ID}.line.at_tau", tau=tau), points, marked))
    return LinesPanel(one.name if named else "", tuple(lines))


def _surface(one: Confident, *, named: bool) -> FieldPanel:
    assert one.graded is not None
    tau = _first(one).get("tau")
    grid = over_complex_share(one.truth, one.scores, one.graded, SHARES_COMPLEX, PRIORITIES, tau=tau)
    rows = tuple(tuple(row) for row in grid.tolist())
    return FieldPanel(one.name if named else "", PRIORITIES, SHARES_COMPLEX, rows)


def _bubbles(some: Sequence[Confident], *, named: bool) -> Figure:
    """Complexity of the cases against the confidence of the advice, and of the raters, right and wrong."""
    panels = []
    for one in some:
        assert one.graded is not None
        confidence = one.scores.max(axis=1)
        right = one.scores[np.arange(len(one.truth)), one.truth] >= confidence
        found = _binned(confidence, one.graded, right)
        panels.append(BubblesPanel(one.name if named else say(f"{ID}.by_device"), found))
        of = one.raters
        if of is not None and of.confidence is not None:
            there = ~np.isnan(of.confidence) & ~np.isnan(of.right)
            complexity = np.broadcast_to(one.graded, there.shape)[there]
            found = _binned(of.confidence[there], complexity, of.right[there] == 1)
            name = say(f"{ID}.by_raters_of", name=one.name) if named else say(f"{ID}.by_raters")
            panels.append(BubblesPanel(name, found))
    panels = panels[:MOST_PANELS]
    every = [b for panel in panels for b in panel.bubbles]
    ends = [(min(v), max(v)) for v in ([b.x for b in every], [b.y for b in every])]
    ranges = [(low, high) if high > low else (low - 0.5, high + 0.5) for low, high in ends]
    drawing = BubblesChart(
        tuple(panels), say(f"{ID}.axis.confidence"), say(f"{ID}.axis.complexity"), ranges[0], ranges[1]
    )
    names = [one.name for one in some]
    return Figure(
        "h_accuracy_complexity",
        drawing,
        say(f"{ID}.figure.complexity"),
        say(f"{ID}.figure.complexity_alt", n=len(panels), names=names),
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
