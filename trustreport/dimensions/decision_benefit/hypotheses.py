"""The hypotheses that the manifest declares of readings: each estimate with its margin, p and interval."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, isfinite, isnan, log, nan
from typing import Any, Literal

from trustreport.criteria import alpha_of, better, level_of, sides
from trustreport.dimensions.decision_benefit.endpoints import ID, every_endpoint, name_of, results_of
from trustreport.dimensions.pragmatic_utility.readings import errors
from trustreport.dimensions.pragmatic_utility.readings import mrmc as error_results
from trustreport.estimate import Estimate, undefined
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.finding import Column, Figure, Part, PlainTable
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.interval import quantile, two_sided_p
from trustreport.measures.mrmc.non_inferiority import (
    equivalence,
    non_inferiority,
    performance_goal,
    reference_df,
)
from trustreport.messages import Message, say
from trustreport.plan import Endpoint as Criterion
from trustreport.plan import Plan
from trustreport.results import Result, leading
from trustreport.study import Readings, Study

UTILITY = "pragmatic_utility"
OF_ARMS = (f"{ID}.arm_mean", f"{UTILITY}.error_rate")
RATIOS = (f"{UTILITY}.rr", f"{UTILITY}.odds_ratio")
OF_EITHER = (f"{ID}.mean_seconds", f"{ID}.mean_confidence")
# Differences whose estimate brings a standard error; what is named elsewhere has no such test.
DIFFERENCES = (
    f"{ID}.mean_benefit",
    f"{ID}.arm_difference",
    f"{ID}.mean_seconds",
    f"{ID}.mean_confidence",
    f"{UTILITY}.arr",
)
RESULT = f"{ID}.non_inferiority"

NO_SUCH_TEST = "no margin can be held against this measure: name a difference, a ratio or a mean"
NOT_FOUND = "these readings give no such estimate"
NO_MARGIN = "no margin is declared"
NEGATIVE = "a margin is declared as a positive number"
RATIO_MARGIN = "the margin of a ratio is a ratio: above 1 for non-inferiority, else above 0"
NOT_ONE_NUMBER = "this hypothesis takes one number as its margin"
ALPHA = "alpha of a one-sided hypothesis lies below .5"
SIDES = "margins of equivalence lie on either side of no effect"
FROM_DRAWS = "p and interval from the standard error of the draws, by the normal distribution"

TEXT = f"{ID}.hypotheses"
NAMED_BESIDE = ("ppv", "npv")

Margin = float | tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Tested:
    """A criterion and the entry that answers it; `margin` lies on the axis of the estimate."""

    criterion: Criterion
    result: Result
    hypothesis: str
    sides: int
    margin: Margin

    @property
    def less_is_better(self) -> bool:
        """Whether a smaller value is the better one."""
        return better(self.criterion) == "down"


def declared_hypotheses(study: Study, plan: Plan, results: Sequence[Result]) -> list[Tested]:
    """Every criterion about readings, in the manifest's order; `results` are those of decision benefit."""
    found = []
    for criterion in plan.endpoints:
        if not (criterion.measure or "").startswith((f"{ID}.", f"{UTILITY}.")):
            continue
        for readings in study.readings:
            scope = {"task": readings.task} if len(study.readings) > 1 else {}
            group = {"subgroup": criterion.subgroup} if criterion.subgroup else {}
            for where in _places(criterion, readings, plan):
                lead = _lead(criterion, readings, where, plan, {**scope, **where}, results)
                here = {**scope, **where, **group}
                found.append(_tested(criterion, lead, here, plan.report.confidence_level))
    return found


def _places(criterion: Criterion, readings: Readings, plan: Plan) -> Iterator[dict[str, Any]]:
    """The arm or the contrast that a criterion names, where these readings hold it; every one if none."""
    said, measure = criterion.arm_or_contrast, criterion.measure
    contrasts = [pair for pair in plan.contrasts if set(pair) <= set(readings.arms)]
    if measure in OF_ARMS or (isinstance(said, str) and measure in OF_EITHER):
        named = [said] if isinstance(said, str) else [said[0]] if said else [a for a, _ in contrasts]
        yield from ({"arm": arm} for arm in dict.fromkeys(named) if arm in readings.arms)
    elif isinstance(said, str):
        yield from ({"arms": list(pair)} for pair in contrasts if said in (pair[0], readings.task))
    elif said is None:
        yield from ({"arms": list(pair)} for pair in contrasts)
    elif set(said) <= set(readings.arms):
        yield {"arms": list(said)}


def _lead(
    criterion: Criterion,
    readings: Readings,
    where: Mapping[str, Any],
    plan: Plan,
    scope: Mapping[str, Any],
    results: Sequence[Result],
) -> Result | None:
    """The entry that leads for what a criterion names; None where these readings give none."""
    measure, level = criterion.measure or "", plan.report.confidence_level
    if measure.startswith(f"{UTILITY}."):
        pairs = [where["arms"]] if "arms" in where else [p for p in plan.contrasts if where["arm"] in p]
        pairs = [pair for pair in pairs if set(pair) <= set(readings.arms)]
        if readings.decision is None or not pairs or criterion.subgroup:
            return None
        arms = (pairs[0][0], pairs[0][1])
        task = {"task": scope["task"]} if "task" in scope else {}
        made = error_results(task, arms, errors(readings, arms), level)
        return leading(made, measure, **scope, endpoint=criterion.of)
    if "arms" in where and tuple(where["arms"]) not in plan.contrasts:
        arms = (where["arms"][0], where["arms"][1])
        task = {"task": scope["task"]} if "task" in scope else {}
        found = every_endpoint(readings, arms, level)
        results = [r for endpoint in found for r in results_of(endpoint, readings, arms, level, task)]
    of = {"endpoint": criterion.of} if criterion.of else {}
    return leading(results, measure, **scope, **of, subgroup=criterion.subgroup, reader=None)


def _tested(criterion: Criterion, lead: Result | None, scope: dict[str, Any], level: float) -> Tested:
    """The criterion held against the entry that leads: margin, p, and the interval that the rule needs."""
    hypothesis = criterion.hypothesis or "estimation"
    alpha = alpha_of(criterion, level)
    needed = level_of(criterion, alpha)
    margin, why = _margin(criterion, hypothesis)
    if criterion.measure not in (*OF_ARMS, *RATIOS, *DIFFERENCES):
        why = NO_SUCH_TEST
    elif needed <= 0:
        why = ALPHA
    if why or lead is None:
        estimate = undefined(0, why or NOT_FOUND, level=level)
    else:
        estimate = _held_against(lead.estimate, criterion, hypothesis, margin, needed)
    chosen: dict[str, Any] = {
        "hypothesis": hypothesis,
        "metric": criterion.measure,
        "criterion": criterion.endpoint,
    }
    declared = criterion.bound_or_margin
    if declared is not None or margin is not None:
        shown = margin if declared is None else declared
        name = "goal" if hypothesis == "performance goal" else "margin"
        chosen[name] = list(shown) if isinstance(shown, tuple) else shown
    of = criterion.of or (lead.scope.get("endpoint") if lead else None)
    here = {**({"endpoint": of} if of else {}), **scope, "parameters": chosen}
    if lead and "analysis" in lead.scope:
        here["analysis"] = lead.scope["analysis"]
    details = {"alpha": alpha, "sides": sides(criterion)}
    result = Result(RESULT, here, estimate, lead.unit if lead else "difference", True, details)
    return Tested(criterion, result, hypothesis, sides(criterion), margin)


def _margin(criterion: Criterion, hypothesis: str) -> tuple[Margin, str]:
    """Where the margin lies on the axis of the estimate, a loss on its worse side, or why nowhere."""
    said, ratio = criterion.bound_or_margin, criterion.measure in RATIOS
    no_effect = 1.0 if ratio else 0.0
    match hypothesis:
        case "estimation":
            return None, ""
        case "superiority":
            said = no_effect if said is None or (ratio and said == 0) else said
        case "equivalence" if said is not None:
            mirrored = not isinstance(said, tuple)
            low, high = said if isinstance(said, tuple) else (said, said)
            if mirrored and low > 0:
                low = 1 / low if ratio else -low
            sound = low < no_effect < high and (low > 0 or not ratio)
            return ((low, high), "") if sound else (None, SIDES)
    if said is None:
        return None, NO_MARGIN
    if isinstance(said, tuple):
        return None, NOT_ONE_NUMBER
    if ratio and said <= (no_effect if hypothesis == "non-inferiority" else 0):
        return None, RATIO_MARGIN
    if hypothesis != "non-inferiority" or ratio:
        return said, ""
    if said < 0:
        return None, NEGATIVE
    return (said if better(criterion) == "down" else -said), ""


def _held_against(
    e: Estimate, criterion: Criterion, hypothesis: str, margin: Margin, level: float
) -> Estimate:
    """The estimate with the p of the hypothesis and the interval of this level; a ratio by its logarithm."""
    ratio, more = criterion.measure in RATIOS, better(criterion) != "down"
    to, back = (log, exp) if ratio else (float, float)
    usable = isfinite(e.value) and (e.value > 0 or not ratio)
    se = e.details.get("log_se", nan) if ratio else e.se
    if not usable or not se > 0:
        note = e.note or notes.NO_VARIATION
        return replace(e, low=nan, high=nan, p=nan, level=level, note=note)
    on_scale = replace(e, value=to(e.value), se=se)
    df = reference_df(on_scale)
    half = quantile(df, level) * se
    if isinstance(margin, tuple):
        held = equivalence(on_scale, (to(margin[0]), to(margin[1])))
    elif margin is None:
        held = replace(on_scale, p=nan)
    elif hypothesis == "non-inferiority":
        held = non_inferiority(on_scale, abs(to(margin)), higher_is_better=more)
    elif hypothesis == "performance goal":
        held = performance_goal(on_scale, to(margin), higher_is_better=more)
    else:
        t = (on_scale.value - to(margin)) / se * (1 if more else -1)
        held = replace(on_scale, p=_tail(t, df, sides(criterion)), details={**e.details, "t": t})
    return replace(
        held,
        value=e.value,
        low=back(on_scale.value - half),
        high=back(on_scale.value + half),
        se=e.se,
        level=level,
        note=notes.join(e.note, FROM_DRAWS if e.method == "bootstrap" else ""),
    )


def _tail(t: float, df: float, tails: int) -> float:
    """The p of a t that is positive on the better side, one-sided or two-sided."""
    both = two_sided_p(t, df)
    return both if tails == 2 else both / 2 if t > 0 else 1 - both / 2


# ---------------------------------------------------------------- how they are told


def hypotheses_part(found: Sequence[Tested], *, several_tasks: bool) -> Iterator[Part]:
    """Every criterion in a table; those with a margin drawn against it."""
    if not found:
        return
    columns = (
        Column(say(f"{TEXT}.column.criterion")),
        Column(say(f"{TEXT}.column.hypothesis")),
        Column(say(f"{TEXT}.column.estimate"), "size"),
        Column(say(f"{TEXT}.column.interval"), "size"),
        Column(say(f"{TEXT}.column.level"), "percent"),
        Column(say(f"{TEXT}.column.p"), "p"),
    )
    rows = tuple((_label(t, several_tasks), _hypothesis(t), *_numbers(t)) for t in found)
    table = PlainTable("decision_benefit_hypotheses", say(f"{TEXT}.table"), columns, rows)
    yield Part(
        title=say(f"{TEXT}.title"),
        finding=(say(f"{TEXT}.finding", n=len(found)),),
        tables=(table,),
        figures=tuple(_figures(found, several_tasks)),
    )


def _label(tested: Tested, several_tasks: bool) -> Message:
    scope = tested.result.scope
    place = scope["arm"] if "arm" in scope else say(f"{TEXT}.contrast", **dict(zip("ab", scope["arms"])))
    if several_tasks:
        place = say("word.pair", first=scope["task"], second=place)
    if "subgroup" in scope:
        place = say("word.pair", first=place, second=scope["subgroup"])
    measure = tested.criterion.measure or ""
    name = measure.rpartition(".")[2]
    if measure not in (*OF_ARMS, *RATIOS, *DIFFERENCES):
        quantity = say(f"{TEXT}.quantity.other", measure=measure, place=place)
    else:
        quantity = say(f"{TEXT}.quantity.{name}", endpoint=_endpoint(scope.get("endpoint")), place=place)
    return say("word.named", label=tested.criterion.endpoint, name=quantity)


def _endpoint(name: str | None) -> Message | str:
    return say(f"{ID}.beside.{name}") if name in NAMED_BESIDE else name_of(name or "")


def _hypothesis(tested: Tested) -> Message:
    """The hypothesis with its sides, and where the estimate should lie."""
    sides = say(f"{TEXT}.sides.{tested.sides}")
    name = say(f"{TEXT}.hypothesis.{tested.hypothesis.replace('-', '_').replace(' ', '_')}")
    margin = tested.margin
    if margin is None:
        return say(f"{TEXT}.without", hypothesis=name, sides=sides)
    if isinstance(margin, tuple):
        low, high = (_amount(tested, x) for x in margin)
        return say(f"{TEXT}.within", hypothesis=name, sides=sides, low=low, high=high)
    way = "below" if tested.less_is_better else "above"
    return say(f"{TEXT}.{way}", hypothesis=name, sides=sides, margin=_amount(tested, margin))


def _amount(tested: Tested, value: float) -> Message:
    return say(f"{TEXT}.amount.{tested.result.unit}", value=value)


def _numbers(tested: Tested) -> tuple[Any, ...]:
    """Estimate, interval, its level and p; the reason in place of an interval that there is none of."""
    e = tested.result.estimate
    value = None if isnan(e.value) else _amount(tested, e.value)
    if isnan(e.low) or isnan(e.high):
        return value, say(f"{TEXT}.none", reason=e.note), None, None
    interval = say(f"{TEXT}.interval.{tested.result.unit}", low=e.low, high=e.high)
    return value, interval, e.level, e.p


def _figures(found: Sequence[Tested], several_tasks: bool) -> Iterator[Figure]:
    """A figure for each margin, with the criteria that share it, then the distances from goals."""
    drawn: dict[tuple[Any, ...], list[Tested]] = {}
    for t in found:
        no_effect = 1.0 if t.criterion.measure in RATIOS else 0.0
        apart = t.hypothesis != "performance goal" and t.margin not in (None, no_effect)
        if apart and not isnan(t.result.estimate.value):
            drawn.setdefault((t.result.unit, t.less_is_better, t.margin), []).append(t)
    for number, ((unit, less, margin), of) in enumerate(drawn.items(), 1):
        scale: Literal["ratio", "points", "difference"] = "ratio" if unit == "ratio" else "difference"
        if unit == "difference":
            scale = "points"
        better, worse = say(f"{ID}.better"), say(f"{ID}.worse")
        plot = EffectPlot(
            tuple(EffectRow(_label(t, several_tasks), t.result.estimate) for t in of),
            say(f"{TEXT}.quantity.figure"),
            scale,
            left=better if less else worse,
            right=worse if less else better,
            benefit="left" if less else "right",
            margin=margin,
        )
        ends = margin if isinstance(margin, tuple) else (margin,)
        margins = [_amount(of[0], x) for x in ends]
        yield Figure(
            f"hypotheses_{number}",
            plot,
            say(f"{TEXT}.figure", margins=margins, n=len(margins)),
            say(f"{TEXT}.figure_alt", margins=margins, n=len(of)),
        )
    yield from _goals(found, several_tasks)


def _goals(found: Sequence[Tested], several_tasks: bool) -> Iterator[Figure]:
    """Estimates less their goals, a figure for each unit and direction."""
    drawn: dict[tuple[str, bool], list[tuple[Tested, float]]] = {}
    for t in found:
        of_goal = t.hypothesis == "performance goal" and t.criterion.measure not in RATIOS
        if of_goal and isinstance(t.margin, float | int) and not isnan(t.result.estimate.value):
            drawn.setdefault((t.result.unit, t.less_is_better), []).append((t, t.margin))
    for number, ((unit, less), of) in enumerate(drawn.items(), 1):
        rows = []
        for t, goal in of:
            e = t.result.estimate
            distance = replace(e, value=e.value - goal, low=e.low - goal, high=e.high - goal)
            label = say(f"{TEXT}.of_goal", label=_label(t, several_tasks), goal=_amount(t, goal))
            rows.append(EffectRow(label, distance))
        met, missed = say(f"{TEXT}.met"), say(f"{TEXT}.missed")
        plot = EffectPlot(
            tuple(rows),
            say(f"{TEXT}.quantity.goal"),
            "points" if unit in ("proportion", "difference") else "difference",
            left=met if less else missed,
            right=missed if less else met,
            benefit="left" if less else "right",
            line=say(f"{TEXT}.goal_line"),
        )
        caption, alt = say(f"{TEXT}.goal_figure"), say(f"{TEXT}.goal_alt", n=len(rows))
        yield Figure(f"goals_{number}", plot, caption, alt)
