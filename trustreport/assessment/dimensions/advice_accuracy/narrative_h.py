"""H-accuracy: the accuracies beside each other, candidates compared, and figures over each parameter."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.advice_accuracy.curves import FEWER_POINTS
from trustreport.assessment.dimensions.advice_accuracy.entries import ID
from trustreport.assessment.dimensions.advice_accuracy.h_accuracy import (
    HALF,
    KINDS,
    THIRD,
    ComparedPair,
    Weighed,
    kind_of,
)
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import Spec, table
from trustreport.figures.calibration import HistogramChart, HistogramMark, HistogramPanel
from trustreport.figures.curves import LineOver, LinePoint, LinesChart, LinesPanel
from trustreport.figures.effect import ErrorRateRow, ErrorRates
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
from trustreport.study.plan import HAccuracy, Plan
from trustreport.vocabulary.digits import as_declared
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

TAUS = tuple((0.5 + 0.01 * np.arange(51)).round(2).tolist())
RISKS = tuple((0.02 * np.arange(1, 50)).round(2).tolist())
PRIORITIES = tuple((0.05 * np.arange(21)).round(2).tolist())
MIXES = tuple((0.05 * np.arange(21)).round(2).tolist())
# Net benefit far below zero is cut off; so is what lies below this.
LOWEST = -0.5
RESAMPLES = 500
STEPS = 5  # bins of confidence and of complexity where they are graded finely
MOST_ROWS = 28  # of one chart
MOST_SAID = 2  # sets, and pairs, with a sentence of their own
MOST_CLASSES = 5  # with a column each
# Parts of the cases above a threshold of complexity, and of right answers at or above a confidence.
COMPLEX_PARTS, RIGHT_PARTS = (0.5, 1 / 3, 0.2), (0.8, 0.501, 0.25)
NEAR = 0.02  # a part of the cases that is asked for and one that is found, where equal ones go together
SYMBOLS = {"confident": "Ha(tau)", "prioritized": "Ha(p)", "practical": "Ha(d)", "combined": "Ha(tau, p, d)"}
ALONE_SYMBOL = "Ha(d0)"  # the other cases do not count
# Several classes have the mean sensitivity for balanced accuracy.
ANCHORS = {"accuracy": ("accuracy", "class_accuracy"), "balanced": ("balanced_accuracy", "macro_sensitivity")}


def h_parts(
    weighed: Sequence[Weighed], pairs: Sequence[ComparedPair], results: Sequence[Result], plan: Plan
) -> Iterator[Part]:
    """One part for all data sets that have an H-accuracy."""
    some = [one for one in weighed if one.shown]
    if not some:
        return
    # The report prints the first sentences only: the sets with the lowest accuracies speak.
    finding = [sentence for pair in pairs[:MOST_SAID] for sentence in _compared(pair)]
    first = sorted(some, key=lambda one: min((r.estimate.value for _, r in _known(one)), default=inf))
    finding += [_lowest(one, results) for one in first[:MOST_SAID]]
    finding += [sentence for one in first[:MOST_SAID] for sentence in _as_wished(one, results, plan)]
    tables: list[EstimateTable | PlainTable] = []
    if pairs:
        tables.append(_differences(pairs))
    tables += [_table(one, i) for i, one in enumerate(some[:MOST_PANELS], 1)]
    binary = [one for one in some if one.binary][:MOST_PANELS]
    alone = len(list(_together(some))) == 1
    figures = [*_charts(some if alone else first, results, plan)]
    figures += _figures(binary, plan) if binary else ()
    figures += _of_raters(some[:MOST_PANELS], results, plan)
    yield Part(tuple(finding), title=say(f"{ID}.title_h"), tables=tuple(tables), figures=tuple(figures))


def _anchor(one: Weighed, name: str, results: Sequence[Result]) -> Result | None:
    """The accuracy of the same candidate, regular or balanced, as the report has it elsewhere."""
    where = {"dataset": one.place.dataset, "candidate": one.place.candidate, "parameters": None}
    found = (leading(results, f"{ID}.{quantity}", **where) for quantity in ANCHORS[name])
    return next((r for r in found if r is not None), None)


def _known(one: Weighed) -> list[tuple[HAccuracy, Result]]:
    """The accuracies that could be computed, the lowest first."""
    known = [(choice, r) for choice, r in one.shown if not isnan(r.estimate.value)]
    return sorted(known, key=lambda pair: pair[1].estimate.value)


def _lowest(one: Weighed, results: Sequence[Result]) -> Message:
    """The accuracy, and the lowest of those that weigh more than right and wrong."""
    known = _known(one)
    if not known:
        return say(f"{ID}.h_undefined", name=one.name, reason=one.shown[0][1].estimate.note)
    choice, lowest = known[0]
    e, accuracy = lowest.estimate, _anchor(one, "accuracy", results)
    key = "h_value" if accuracy is None or isnan(accuracy.estimate.value) else "h_beside"
    if isnan(e.low):
        key = "h_without_interval"
    return say(
        f"{ID}.{key}",
        name=one.name,
        kind=say(f"{ID}.kind.{kind_of(choice)}"),
        chosen=_choice(choice, lowest),
        accuracy=nan if accuracy is None else accuracy.estimate.value,
        value=e.value,
        low=e.low,
        high=e.high,
        level=e.level,
    )


def _as_wished(one: Weighed, results: Sequence[Result], plan: Plan) -> Iterator[Message]:
    """Whether users would accept the accuracy, or the lowest H-accuracy where there is no regular one."""
    least, known = plan.utility.minimum_accuracy, _known(one)
    accuracy = _anchor(one, "accuracy", results)
    if least is None or (accuracy is None and not known):
        return
    asked = known[0][1].estimate if accuracy is None else accuracy.estimate
    if not isnan(asked.low):
        of = say(f"{ID}.kind.{kind_of(known[0][0]) if accuracy is None else 'accuracy'}")
        side = "above" if asked.low > least else "below" if asked.high < least else "around"
        yield say(f"{ID}.h_asked_{side}", name=one.name, of=of, least=as_declared(least))


# ---------------------------------------------------------------- words of a choice


def _label(choice: HAccuracy) -> Message:
    """The name of an accuracy with the symbol that the source has for it."""
    kind = kind_of(choice)
    name = say("word.heading", text=say(f"{ID}.kind.{kind}"))
    if kind not in SYMBOLS:
        return name
    wanted = choice.complexity_from
    alone = kind == "practical" and wanted is not None and _is_cut(wanted) and wanted.rest == 0
    return say(f"{ID}.kind_symbol", kind=name, symbol=ALONE_SYMBOL if alone else SYMBOLS[kind])


def _is_cut(wanted: Any) -> bool:
    return wanted.top is not None or wanted.above is not None


def _choice(choice: HAccuracy, result: Result, *, brief: bool = False) -> Message:
    """What was chosen, in words; `brief` without where it is from."""
    chosen, parts = result.parameters, []
    if choice.tau is not None and chosen["tau"] is not None:
        key = f"from_{chosen['tau_from']}" if "tau_from" in chosen and not brief else "given"
        parts.append(say(f"{ID}.tau.{key}", tau=chosen["tau"], share=chosen.get("tau_share", nan)))
    if choice.priority is not None and chosen["priority"] is not None:
        key = f"from_{chosen['priority_from']}" if "priority_from" in chosen and not brief else "given"
        priority = [say(f"{ID}.share", value=p) for p in chosen["priority"]]
        at = result.details.get("risk_threshold", nan)
        parts.append(say(f"{ID}.priority.{key}", priority=priority, threshold=at))
    if choice.complexity or choice.complexity_from is not None:
        parts.append(_complexity(choice, result, brief=brief))
    return say(f"{ID}.chosen", parts=parts) if parts else say(f"{ID}.complexity.none")


def _complexity(choice: HAccuracy, result: Result, *, brief: bool) -> Message:
    wanted = choice.complexity_from
    if wanted is None:
        if not result.parameters["complexity"]:
            return say(f"{ID}.complexity.none")
        return say(f"{ID}.weight.by", of=say(f"{ID}.complexity.column"))
    sources = [say(f"{ID}.complexity.{source}") for source in wanted.source]
    of = sources[0] if len(sources) == 1 else say(f"{ID}.complexity.several", sources=sources)
    if wanted.proficiency:
        of = say(f"{ID}.complexity.proficiency", of=of)
    if _is_cut(wanted):
        which = _which(wanted.top, wanted.above, result.details.get("most_complex"))
        rest = say(f"{ID}.weight.rest", weight=wanted.rest)
        if wanted.rest in (0, 0.5):
            rest = say(f"{ID}.weight.{'none' if wanted.rest == 0 else 'half'}")
        of = say(f"{ID}.weight.{'cut_brief' if brief else 'cut'}", of=of, which=which, rest=rest)
    else:
        of = say(f"{ID}.weight.by", of=of)
    if wanted.relevance_weight is not None:
        of = say(f"{ID}.complexity.relevance", of=of, share=wanted.relevance_weight)
    return of


def _which(top: float | None, above: float | None, found: float | None) -> Message:
    """Which cases are the complex ones; how many they are where that is not what was asked for."""
    if top is None:
        return say(f"{ID}.weight.above", threshold=above)
    key = "third" if abs(top - THIRD) < 0.005 else "most_half" if top == HALF else "share"
    which = say(f"{ID}.weight.{key}", share=top)
    if found is None or abs(found - top) <= NEAR:
        return which
    return say(f"{ID}.weight.found", which=which, share=found)


# ---------------------------------------------------------------- the chart and the tables


def _charts(some: Sequence[Weighed], results: Sequence[Result], plan: Plan) -> Iterator[Figure]:
    """Accuracy, balanced accuracy and every H-accuracy, of as many sets as one chart has room for."""
    for number, few in enumerate(_together(some), 1):
        rows: list[ErrorRateRow] = []
        noted: set[str] = set()
        for one in few:
            rows += _rows(one, results, noted, grouped=len(some) > 1)
        asked: dict[str, Any] = {}
        if plan.utility.minimum_accuracy is not None:
            least = plan.utility.minimum_accuracy
            asked = {"asked": least, "asked_label": say(f"{ID}.asked", least=as_declared(least))}
        drawing = ErrorRates(tuple(rows), say(f"{ID}.axis.accuracy"), say(f"{ID}.axis.accuracy_of"), **asked)
        names = [one.name for one in few]
        shown = {kind_of(choice) for one in few for choice, _ in one.shown}
        kinds = [say(f"{ID}.gloss.{kind}") for kind in KINDS if kind in shown]
        yield Figure(
            f"h_accuracy_chart_{number}",
            drawing,
            say(f"{ID}.figure.h_chart", kinds=kinds, answers=_answers(few)),
            say(f"{ID}.figure.h_chart_alt", names=names, n=len(names), rows=len(rows)),
        )


def _together(some: Sequence[Weighed]) -> Iterator[list[Weighed]]:
    """The sets of each chart."""
    few: list[Weighed] = []
    for one in some:
        if few and sum(len(each.shown) + len(ANCHORS) for each in [*few, one]) > MOST_ROWS:
            yield few
            few = []
        few.append(one)
    yield few


def _answers(few: Sequence[Weighed]) -> Message:
    """Which answers the accuracies are of: the device's threshold, its decisions, or the highest score."""
    found = {(one.called is not None, one.threshold if one.called is not None else None) for one in few}
    if len(found) > 1:
        return say(f"{ID}.answers.own")
    ((called, threshold),) = found
    if not called:
        return say(f"{ID}.answers.highest")
    if threshold is None:
        return say(f"{ID}.answers.recorded")
    return say(f"{ID}.answers.threshold", threshold=as_declared(threshold, 1))


def _rows(
    one: Weighed, results: Sequence[Result], noted: set[str], *, grouped: bool
) -> Iterator[ErrorRateRow]:
    """The rows of one set; what was chosen is said where it was not said of a set before (`noted`)."""
    group = one.name if grouped else ""
    for name in ANCHORS:
        found = _anchor(one, name, results)
        if found is not None:
            label = say("word.heading", text=say(f"{ID}.kind.{name}"))
            yield ErrorRateRow(label, found.estimate, True, name == "accuracy", group)
    for choice, r in one.shown:
        combined = kind_of(choice) == "combined"
        note = _choice(choice, r, brief=combined)
        new = str(note) not in noted
        noted.add(str(note))
        yield ErrorRateRow(_label(choice), r.estimate, True, combined, group, note if new else "")


def _table(one: Weighed, number: int) -> PlainTable:
    """Every H-accuracy of a candidate, in all and by class; those at the usual tau stand below the chosen."""
    of = {id(r): choice for choice, r in one.shown}
    named = [(of.get(id(r)), r) for r in one.results]
    classes: list[Spec[Any]] = []
    for k, name in enumerate(one.dataset.cases.classes if one.n_classes <= MOST_CLASSES else ()):
        head = say(f"{ID}.column.class_{k}") if one.n_classes == 2 else say("word.name", name=name)
        classes.append((head, _of_class(k), "number.3"))
    return table(
        f"h_accuracy_{number}",
        say(f"{ID}.table_h", name=one.name),
        named,
        [
            (f"{ID}.column.kind", lambda row: say(f"{ID}.kind_usual") if row[0] is None else _label(row[0])),
            (f"{ID}.column.chosen", _in_table),
            (f"{ID}.column.value", lambda row: row[1].estimate.value, "number.3"),
            (f"{ID}.column.low", lambda row: row[1].estimate.low, "number.3"),
            (f"{ID}.column.high", lambda row: row[1].estimate.high, "number.3"),
            *classes,
        ],
    )


def _of_class(k: int) -> Any:
    return lambda row: row[1].estimate.details.get(f"class_{k}")


def _in_table(row: tuple[HAccuracy | None, Result]) -> Message:
    choice, r = row
    if choice is not None:
        return _choice(choice, r)
    return say(f"{ID}.tau.given", tau=r.parameters["tau"])


def _differences(pairs: Sequence[ComparedPair]) -> EstimateTable:
    rows = [
        EstimateRow(
            say(
                f"{ID}.difference.h_accuracy",
                kind=_label(choice),
                chosen=_choice(choice, r, brief=True),
                compared=(r.place.candidates or ("", ""))[0],
                baseline=(r.place.candidates or ("", ""))[1],
                dataset=r.place.dataset,
            ),
            r,
        )
        for pair in pairs
        for choice, r in pair.shown
    ]
    return EstimateTable("h_accuracy_differences", say(f"{ID}.table_h_differences"), tuple(rows))


def _compared(pair: ComparedPair) -> Iterator[Message]:
    """The largest difference between two candidates, and whether its interval excludes zero."""
    compared, baseline = pair.place.candidates or ("", "")
    known = [(choice, r) for choice, r in pair.shown if not isnan(r.estimate.low)]
    if not known:
        return
    apart = [(choice, r) for choice, r in known if r.estimate.low > 0 or r.estimate.high < 0]
    choice, r = max(apart or known, key=lambda found: abs(found[1].estimate.value))
    e = r.estimate
    yield say(
        f"{ID}.h_pair_{'apart' if apart else 'close'}",
        compared=compared,
        baseline=baseline,
        kind=say(f"{ID}.kind.{kind_of(choice)}"),
        chosen=_choice(choice, r, brief=True),
        value=e.value,
        low=e.low,
        high=e.high,
        level=e.level,
    )


# ---------------------------------------------------------------- figures over the parameters


def _figures(some: Sequence[Weighed], plan: Plan) -> Iterator[Figure]:
    named = len(some) > 1
    least = plan.utility.minimum_accuracy
    asked: dict[str, Any] = {}
    if least is not None:
        asked = {"asked": least, "asked_label": say(f"{ID}.asked", least=as_declared(least))}
    marked = say(f"{ID}.marked", level=plan.report.confidence_level)
    alt = {"names": [one.name for one in some], "n": len(some)}
    sure = [one for one in some if one.sure]
    if sure:
        over = tuple(_over_tau(one, plan, named=named) for one in sure)
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
            say(f"{ID}.figure.tau_alt", n=len(sure), names=[one.name for one in sure]),
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
    graded = [one for one in some if one.hard is not None and 0 < one.hard.sum() < len(one.hard)]
    if not graded:
        return
    alt = {"names": [one.name for one in graded], "n": len(graded)}
    yield Figure(
        "h_accuracy_mix",
        LinesChart(
            tuple(_over_mix(one, plan, named=named) for one in graded),
            say(f"{ID}.axis.complex_share"),
            say(f"{ID}.axis.h"),
            (0.0, 1.0),
            (0.0, 1.0),
            say(f"{ID}.marked_mix", level=plan.report.confidence_level),
            **asked,
        ),
        say(f"{ID}.figure.mix"),
        say(f"{ID}.figure.mix_alt", **alt),
    )
    yield Figure(
        "h_accuracy_surface",
        FieldChart(
            tuple(_surface(one, named=named) for one in graded),
            say(f"{ID}.axis.priority"),
            say(f"{ID}.axis.complex_share"),
            say(f"{ID}.axis.h"),
        ),
        say(f"{ID}.figure.surface"),
        say(f"{ID}.figure.surface_alt", **alt),
    )
    yield _bubbles(graded, named=named)
    # Candidates of one data set have the same cases.
    of_set = {one.dataset.name: one for one in reversed(graded)}
    alt = {"names": list(of_set), "n": len(of_set)}
    yield Figure(
        "h_accuracy_complexities",
        HistogramChart(
            tuple(_complexities(one, named=len(of_set) > 1) for one in of_set.values()),
            say(f"{ID}.axis.complexity"),
            say(f"{ID}.axis.cases"),
            say(f"{ID}.marked_complex"),
        ),
        say(f"{ID}.figure.complexities"),
        say(f"{ID}.figure.complexities_alt", **alt),
    )


def _complexities(one: Weighed, *, named: bool) -> HistogramPanel:
    """How many cases are how complex, with the thresholds above which a half, a third and a fifth are."""
    assert one.graded is not None
    found: dict[float, list[Message]] = {}
    for part in COMPLEX_PARTS:
        complex_ = one.graded[choose.hardest(one.graded, part) == 1]
        found.setdefault(float(complex_.min()), []).append(say(f"{ID}.share", value=part))
    marks = [HistogramMark(at, say(f"{ID}.parts", parts=parts)) for at, parts in found.items()]
    return HistogramPanel.of(one.dataset.name if named else "", one.graded, marks)


def _of_raters(some: Sequence[Weighed], results: Sequence[Result], plan: Plan) -> Iterator[Figure]:
    """What raters show beside the device: their confidence when right, and their place in ROC space."""
    named = len(some) > 1
    sure = [one for one in some if one.raters is not None and one.raters.confidence is not None]
    # Candidates of one data set have the same raters.
    panels = {
        one.dataset.name: panel for one in sure if (panel := _confidences(one, named=named)) is not None
    }
    if panels:
        yield Figure(
            "h_accuracy_confidences",
            HistogramChart(
                tuple(panels.values()),
                say(f"{ID}.axis.confidence"),
                say(f"{ID}.axis.answers"),
                say(f"{ID}.marked_right"),
            ),
            say(f"{ID}.figure.confidences"),
            say(f"{ID}.figure.confidences_alt", names=list(panels), n=len(panels)),
        )
    of_set: dict[str, list[Weighed]] = {}
    for one in some:
        if one.raters is not None and one.binary and one.sure:
            of_set.setdefault(one.dataset.name, []).append(one)
    if of_set:
        drawn = tuple(_roc(own, results, plan, named=named) for own in of_set.values())
        yield Figure(
            "h_accuracy_raters",
            RocFigure(drawn),
            say(f"{ID}.figure.raters"),
            say(f"{ID}.figure.raters_alt", names=list(of_set), n=len(of_set)),
        )


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
        found.setdefault(at, []).append(say(f"{ID}.share", value=part))
    marks = [HistogramMark(at, say(f"{ID}.parts", parts=parts)) for at, parts in found.items()]
    return HistogramPanel.of(one.dataset.name if named else "", own, marks)


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
        lines.append(RocLine.of(label, curve.fpr, curve.tpr, area.estimate, point, most=FEWER_POINTS))
    first, points = own[0], []
    assert first.raters is not None
    for name, decision in zip(first.raters.names, first.raters.decision):
        judged = ~np.isnan(decision)
        counts = ConfusionCounts.of(first.truth[judged] == 1, decision[judged] == 1)
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
        lines.append(LineOver(say(f"{ID}.line.at_tau", tau=tau), points, marked))
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
        lines.append(LineOver(say(f"{ID}.line.at_tau", tau=tau), tuple(points), (mark,)))
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
