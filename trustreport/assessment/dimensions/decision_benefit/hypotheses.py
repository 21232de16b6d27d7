"""The hypotheses that the manifest declares of readings: each estimate with its margin, p and interval."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan, log, nan
from typing import Any, Literal

from trustreport.assessment.dimensions.decision_benefit.results import (
    ID,
    at_prevalences,
    results_of,
    strata_results,
)
from trustreport.assessment.dimensions.decision_benefit.secondary_endpoints import secondary_results
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.texts import Item, Texts, endpoint_name
from trustreport.assessment.performance.reader_analysis import AIDED
from trustreport.assessment.performance.reader_errors import reader_errors
from trustreport.assessment.performance.readers import (
    at_prevalence,
    every_endpoint,
    place_of_task,
    reading_key,
)
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.in_range import reference_df, statistic
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.mrmc.planned import equivalence, non_inferiority, performance_goal
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.study import criteria
from trustreport.study.criteria import alpha_of, level_of, row_of, same_level, sides
from trustreport.study.plan import Endpoint as Criterion
from trustreport.study.plan import Plan
from trustreport.study.study import Readings, Study
from trustreport.vocabulary.digits import as_declared, places_in, rounded
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import known, quantity
from trustreport.vocabulary.results import Result, leading

UTILITY = "pragmatic_utility"
OF_ARMS = (f"{ID}.arm_mean", f"{UTILITY}.error_rate")
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

NO_SUCH_TEST = note("this_measure_cannot_be_tested_against")
NOT_FOUND = note("these_readings_give_no_such_estimate")
NO_MARGIN = note("no_margin_declared")
NEGATIVE = note("margin_declared_as_positive_number")
RATIO_MARGIN = note("margin_ratio_ratio_above_1_for")
NOT_ONE_NUMBER = note("this_hypothesis_takes_one_number_as")
ALPHA = note("alpha_one_sided_hypothesis_below_5")
SIDES = note("margins_equivalence_on_either_side_no")
FROM_DRAWS = note("p_from_standard_error_draws_by")

TEXT = f"{ID}.hypotheses"
DECLARED = ("difference", "proportion")  # units that a margin is written in with its own digits

text = Texts(TEXT)

Margin = float | tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class TestedCriterion:
    """A criterion and the entry that answers it; `margin` is on the axis of the estimate."""

    criterion: Criterion
    result: Result
    hypothesis: str
    sides: int
    margin: Margin

    @property
    def less_is_better(self) -> bool:
        """Whether a smaller value is the better one."""
        return is_less_better(self.criterion)


def is_less_better(criterion: Criterion) -> bool:
    """Whether a smaller value of what a criterion names is the better one."""
    row = row_of(criterion)
    return row is not None and row.better == "down"


def is_ratio(measure: str) -> bool:
    """Whether a measure has no effect at 1, so that it is tested by its logarithm."""
    name = measure.rpartition(".")[2]
    return known(name) and quantity(name).no_effect == 1


def _can_be_tested(measure: str) -> bool:
    return measure in (*OF_ARMS, *DIFFERENCES) or is_ratio(measure)


def declared_hypotheses(study: Study, plan: Plan, results: Sequence[Result]) -> list[TestedCriterion]:
    """Every criterion about readings, in the manifest's order; `results` are those of decision benefit."""
    found = []
    for criterion in plan.endpoints:
        if not (criterion.measure or "").startswith((f"{ID}.", f"{UTILITY}.")):
            continue
        for readings in study.readings:
            task = place_of_task(readings, study)
            for place in _places(criterion, readings, task, plan):
                lead = _lead(criterion, readings, place, plan, results)
                found.append(_tested(criterion, readings, lead, place, plan))
    return found


def _places(criterion: Criterion, readings: Readings, task: Place, plan: Plan) -> Iterator[Place]:
    """The arm or the contrast that a criterion names, where these readings hold it; every one if none."""
    said, measure = criterion.arm_or_contrast, criterion.measure
    contrasts = [pair for pair in plan.contrasts if set(pair) <= set(readings.arms)]
    if measure in OF_ARMS or (isinstance(said, str) and measure in OF_EITHER):
        named = [said] if isinstance(said, str) else [said[0]] if said else [a for a, _ in contrasts]
        yield from (task.narrowed(arm=arm) for arm in dict.fromkeys(named) if arm in readings.arms)
    elif isinstance(said, str):
        yield from (task.narrowed(arms=pair) for pair in contrasts if said in (pair[0], readings.task))
    elif said is None:
        yield from (task.narrowed(arms=pair) for pair in contrasts)
    elif set(said) <= set(readings.arms):
        yield task.narrowed(arms=said)


def _lead(
    criterion: Criterion, readings: Readings, place: Place, plan: Plan, results: Sequence[Result]
) -> Result | None:
    """The primary entry for what a criterion names; None where these readings give none."""
    measure, level = criterion.measure or "", plan.report.confidence_level
    if measure.startswith(f"{UTILITY}."):
        return None if criterion.subgroup else _of_errors(criterion, readings, place, plan)
    if place.arms and place.arms not in plan.contrasts:
        arms = (place.arms[0], place.arms[1])
        task = replace(place, arms=None)
        found = every_endpoint(readings, arms, level)
        results = [r for endpoint in found for r in results_of(endpoint, readings, arms, level, task)]
        results += at_prevalences(readings, arms, plan, task)
    of: dict[str, Any] = {"endpoint": criterion.of} if criterion.of else {}
    of |= {**place.scope, "subgroup": criterion.subgroup, "reader": None}
    share = criteria.prevalence(criterion, plan.declared_prevalence)
    there = None if share is None else leading(results, measure, parameters={"prevalence": share}, **of)
    return there or leading(results, measure, parameters=None, **of)


def _of_errors(criterion: Criterion, readings: Readings, place: Place, plan: Plan) -> Result | None:
    """The primary entry on errors of the readings."""
    measure, share = criterion.measure or "", criteria.prevalence(criterion, plan.declared_prevalence)
    named = [place.arms] if place.arms else [pair for pair in plan.contrasts if place.arm in pair]
    pairs = [pair for pair in named if set(pair) <= set(readings.arms)]
    if readings.decision is None or not pairs:
        return None
    arms = (pairs[0][0], pairs[0][1])
    errors = reader_errors(readings, arms, plan.report.confidence_level)
    found = {"arr": errors.arr[0], "rr": errors.rr, "odds_ratio": errors.odds_ratio}
    there = None if share is None else at_prevalence(readings, arms, plan.report.confidence_level, share)
    if there is not None:
        found["arr"] = there.whole.lead_difference(plan.report.confidence_level)
    if place.arm is not None:
        found = {"error_rate": errors.rates[AIDED if place.arm == arms[0] else 1][0]}
    e = found.get(measure.rpartition(".")[2])
    if e is None:
        return None
    return Result(measure, place, e, analysis="mrmc", primary=True, cases=reading_key(readings))


def _tested(
    criterion: Criterion, readings: Readings, lead: Result | None, place: Place, plan: Plan
) -> TestedCriterion:
    """The criterion tested on the primary entry: margin, p, and the interval of the level that it needs."""
    hypothesis, level = criterion.hypothesis or "estimation", plan.report.confidence_level
    alpha = alpha_of(criterion, level)
    needed = level_of(criterion, alpha)
    margin, why = _margin(criterion, hypothesis)
    if not _can_be_tested(criterion.measure or ""):
        why = NO_SUCH_TEST
    elif needed <= 0:
        why = ALPHA
    if why or lead is None:
        estimate = undefined(0, why or NOT_FOUND, level=level)
    else:
        found = _at_level(criterion, readings, lead, place, needed, plan)
        e = found.estimate if found else undefined(0, NOT_FOUND, level=needed)
        estimate = _tested_estimate(e, criterion, hypothesis, margin)
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
    result = Result(
        RESULT,
        place.narrowed(subgroup=criterion.subgroup),
        estimate,
        endpoint=criterion.of or (lead.endpoint if lead else ""),
        analysis=lead.analysis if lead else "",
        parameters=chosen,
        primary=True,
        details={"alpha": alpha, "sides": sides(criterion)},
        cases=lead.cases if lead else "",
    )
    return TestedCriterion(criterion, result, hypothesis, sides(criterion), margin)


def _at_level(
    criterion: Criterion, readings: Readings, lead: Result, place: Place, level: float, plan: Plan
) -> Result | None:
    """The entry with the interval of the level that is needed, made anew."""
    if same_level(lead.estimate.level, level):
        return lead
    plan = plan.model_copy(update={"report": plan.report.model_copy(update={"confidence_level": level})})
    results: list[Result] = []
    arms = place.arms or next((pair for pair in plan.contrasts if place.arm in pair), None)
    if arms and not lead.id.startswith(f"{UTILITY}."):
        arms, task = (arms[0], arms[1]), replace(place, arms=None, arm=None)
        for one in every_endpoint(readings, arms, level):
            results += results_of(one, readings, arms, level, task)
            results += strata_results(one, readings, arms, level, task)
        results += at_prevalences(readings, arms, plan, task)
        if lead.method == "bootstrap" or lead.id in OF_EITHER:
            results += secondary_results(readings, arms, plan, task)
    return _lead(criterion, readings, place, plan, results)


def _margin(criterion: Criterion, hypothesis: str) -> tuple[Margin, Note]:
    """Where the margin is on the axis of the estimate, a loss on its worse side, or why nowhere."""
    said, ratio = criterion.bound_or_margin, is_ratio(criterion.measure or "")
    no_effect = 1.0 if ratio else 0.0
    match hypothesis:
        case "estimation":
            return None, NO_NOTE
        case "superiority":
            said = no_effect if said is None or (ratio and said == 0) else said
        case "equivalence" if said is not None:
            mirrored = not isinstance(said, tuple)
            low, high = said if isinstance(said, tuple) else (said, said)
            if mirrored and low > 0:
                low = 1 / low if ratio else -low
            sound = low < no_effect < high and (low > 0 or not ratio)
            return ((low, high), NO_NOTE) if sound else (None, SIDES)
    if said is None:
        return None, NO_MARGIN
    if isinstance(said, tuple):
        return None, NOT_ONE_NUMBER
    if ratio and said <= (no_effect if hypothesis == "non-inferiority" else 0):
        return None, RATIO_MARGIN
    if hypothesis != "non-inferiority" or ratio:
        return said, NO_NOTE
    if said < 0:
        return None, NEGATIVE
    return (said if is_less_better(criterion) else -said), NO_NOTE


def _tested_estimate(e: Estimate, criterion: Criterion, hypothesis: str, margin: Margin) -> Estimate:
    """The estimate with its interval and the p of the hypothesis; a ratio by its logarithm."""
    ratio, more = is_ratio(criterion.measure or ""), not is_less_better(criterion)
    to = log if ratio else float
    usable = isfinite(e.value) and (e.value > 0 or not ratio)
    if not usable or isnan(e.low) or e.low == e.high:
        return replace(e, low=nan, high=nan, p=nan, note=e.note or notes.NO_VARIATION)
    on_scale = replace(e, value=to(e.value), se=e.details.get("log_se", nan)) if ratio else e
    if isinstance(margin, tuple):
        found = equivalence(on_scale, (to(margin[0]), to(margin[1])))
    elif margin is None:
        found = replace(on_scale, p=nan)
    elif hypothesis == "non-inferiority":
        found = non_inferiority(on_scale, abs(to(margin)), higher_is_better=more)
    elif hypothesis == "performance goal":
        found = performance_goal(on_scale, to(margin), higher_is_better=more)
    else:
        t = statistic(on_scale, to(margin)) * (1 if more else -1)
        p = _tail(t, reference_df(on_scale), sides(criterion))
        found = replace(on_scale, p=p, details={**e.details, "t": t})
    note = found.note + (FROM_DRAWS if e.method == "bootstrap" else NO_NOTE)
    return replace(found, value=e.value, low=e.low, high=e.high, se=e.se, note=note)


def _tail(t: float, df: float, tails: int) -> float:
    """The p of a t that is positive on the better side, one-sided or two-sided."""
    both = two_sided_p(t, df)
    return both if tails == 2 else both / 2 if t > 0 else 1 - both / 2


def hypotheses_part(found: Sequence[TestedCriterion], *, several_tasks: bool) -> Iterator[Part]:
    """Every criterion in a table; those with a margin are drawn with it."""
    if found:
        yield text.part(_items(found, several_tasks), text("title"))


def _items(found: Sequence[TestedCriterion], several_tasks: bool) -> Iterator[Item]:
    yield text("finding", n=len(found))
    yield text.table(
        "decision_benefit_hypotheses",
        text("table"),
        ".criterion .hypothesis .estimate:size .interval:size .level:percent p",
        [(_label(t, several_tasks), _hypothesis(t), *_numbers(t)) for t in found],
    )
    yield from _figures(found, several_tasks)
    yield from _goals(found, several_tasks)


def _label(tested: TestedCriterion, several_tasks: bool) -> Message:
    at = tested.result.place
    arms = dict(zip("ab", at.arms or ()))
    place: Message | str = at.arm if at.arm is not None else text("contrast", **arms)
    if several_tasks:
        place = say("word.pair", first=at.task, second=place)
    if at.subgroup:
        place = say("word.pair", first=place, second=at.subgroup)
    measure = tested.criterion.measure or ""
    name = measure.rpartition(".")[2]
    if not _can_be_tested(measure):
        quantity = text("quantity.other", measure=measure, place=place)
    else:
        endpoint = endpoint_name(tested.result.endpoint)
        quantity = text(f"quantity.{name}", endpoint=endpoint, place=place)
    return say("word.named", label=tested.criterion.endpoint, name=quantity)


def _hypothesis(tested: TestedCriterion) -> Message:
    """The hypothesis with its sides, and where the estimate should be."""
    sides = text(f"sides.{tested.sides}")
    name = text(f"hypothesis.{tested.hypothesis.replace('-', '_').replace(' ', '_')}")
    margin = tested.margin
    if margin is None:
        return text("without", hypothesis=name, sides=sides)
    if isinstance(margin, tuple):
        low, high = (_declared(tested, x) for x in margin)
        return text("within", hypothesis=name, sides=sides, low=low, high=high)
    way = "below" if tested.less_is_better else "above"
    return text(way, hypothesis=name, sides=sides, margin=_declared(tested, margin))


def _declared(tested: TestedCriterion, value: float) -> Message:
    """A declared margin with the digits that were declared."""
    return _amount(tested, value, "declared_" if tested.result.unit in DECLARED else "")


def _amount(tested: TestedCriterion, value: float, prefix: str = "") -> Message:
    shown = as_declared(value) if places_in(value) is None else value
    return text(f"amount.{prefix}{tested.result.unit}", value=shown)


def _numbers(tested: TestedCriterion) -> tuple[Any, ...]:
    """Estimate, interval, its level and p; the reason in place of an interval that there is none of."""
    e = tested.result.estimate
    value = None if isnan(e.value) else _amount(tested, e.value)
    if isnan(e.low) or isnan(e.high):
        return value, say(f"{TEXT}.none", reason=e.note), None, None
    interval = text(f"interval.{tested.result.unit}", low=e.low, high=e.high)
    return value, interval, e.level, e.p


def _figures(found: Sequence[TestedCriterion], several_tasks: bool) -> Iterator[Figure]:
    """A figure for each margin, with the criteria that share it, then the distances from goals."""
    drawn: dict[tuple[Any, ...], list[TestedCriterion]] = {}
    for t in found:
        no_effect = 1.0 if is_ratio(t.criterion.measure or "") else 0.0
        apart = t.hypothesis != "performance goal" and t.margin not in (None, no_effect)
        if apart and not isnan(t.result.estimate.value):
            drawn.setdefault((t.result.written, t.less_is_better, t.margin), []).append(t)
    for number, ((unit, less, margin), of) in enumerate(drawn.items(), 1):
        scale: Literal["ratio", "points", "difference"] = "ratio" if unit == "ratio" else "difference"
        if unit == "difference":
            scale = "points"
        rows = [EffectRow(_label(t, several_tasks), t.result.estimate) for t in of]
        sides = _sides(say(f"{ID}.better"), say(f"{ID}.worse"), less=less)
        plot = EffectPlot(tuple(rows), text("quantity.figure"), scale, **sides, margin=margin)
        ends = margin if isinstance(margin, tuple) else (margin,)
        margins = [_declared(of[0], x) for x in ends]
        caption = text("figure.margins", margins=margins, n=len(margins))
        yield text.figure(f"hypotheses_{number}", plot, "margins", caption, margins=margins, n=len(of))


def _goals(found: Sequence[TestedCriterion], several_tasks: bool) -> Iterator[Figure]:
    """Estimates less their goals, a figure for each unit and direction."""
    drawn: dict[tuple[str, bool], list[tuple[TestedCriterion, float]]] = {}
    for t in found:
        of_goal = t.hypothesis == "performance goal" and not is_ratio(t.criterion.measure or "")
        if of_goal and isinstance(t.margin, float | int) and not isnan(t.result.estimate.value):
            drawn.setdefault((t.result.written, t.less_is_better), []).append((t, t.margin))
    for number, ((unit, less), of) in enumerate(drawn.items(), 1):
        rows = []
        for t, goal in of:
            e = t.result.estimate
            distance = replace(e, value=e.value - goal, low=e.low - goal, high=e.high - goal)
            distance = rounded(distance, t.result.places)
            label = text("of_goal", label=_label(t, several_tasks), goal=_declared(t, goal))
            rows.append(EffectRow(label, distance))
        scale: Literal["points", "difference"] = "difference"
        if unit in ("proportion", "difference"):
            scale = "points"
        sides = _sides(text("met"), text("missed"), less=less)
        plot = EffectPlot(tuple(rows), text("quantity.goal"), scale, **sides, line=text("goal_line"))
        yield text.figure(f"goals_{number}", plot, "goals", n=len(rows))


def _sides(better: Message, worse: Message, *, less: bool) -> dict[str, Any]:
    """What is said on either side of a plot; `less` says that the smaller value is the better one."""
    left, right = (better, worse) if less else (worse, better)
    return {"left": left, "right": right, "benefit": "left" if less else "right"}
