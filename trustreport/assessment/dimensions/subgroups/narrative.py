"""Groups of cases: sentences, tables and figures of a data set, and of readers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

from trustreport.assessment.dimensions.subgroups.effects import BENEFIT, Effect
from trustreport.assessment.dimensions.subgroups.entries import DIFFERENCE, NAME, VALUE, Measured, Measurement
from trustreport.assessment.dimensions.subgroups.families import Groups, comparisons, test_of
from trustreport.assessment.dimensions.subgroups.groups import REST, Division
from trustreport.assessment.dimensions.subgroups.odds import odds_in_words
from trustreport.assessment.finding import Figure, Part, PlainTable
from trustreport.assessment.narrative.names import endpoint_name, title_of
from trustreport.assessment.narrative.sentences import known
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.performance.keys import public_cell
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.figures.measure_rows import MeasureCell, MeasureColumn, MeasureRow, MeasuresChart
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

MAIN = ("sensitivity", "specificity", "auc")
MORE = ("accuracy", "ppv", "npv", "prevalence")
# Rows of a chart that fit a page.
MOST_ROWS = 40
# Groups that a sentence names.
MOST_NAMED = 6


@dataclass(frozen=True, slots=True)
class GroupView:
    """One group of an attribute and its numbers."""

    attribute: str
    one: Measured

    @property
    def name(self) -> str:
        """What the group is called."""
        return self.one.group.name

    @property
    def n(self) -> int | None:
        """Its cases; None where a public report shows none."""
        return None if self.one.closed else self.one.positives + self.one.negatives

    @property
    def positives(self) -> int | None:
        """Those with the condition; None where a public report shows none."""
        return None if self.one.closed else self.one.positives

    def estimate(self, id: str, **scope: Any) -> Estimate | None:
        """The primary estimate of a quantity of this group."""
        found = leading(self.one.results, id, **scope)
        return found.estimate if found else None

    def comparison(self, endpoint: str) -> Result | None:
        """The difference between the group and those that it is compared with."""
        return leading(self.one.results, DIFFERENCE, endpoint=endpoint)


def _views(groups: Groups) -> list[GroupView]:
    return [GroupView(attribute, one) for attribute, found in groups.items() for one in found]


# ---------------------------------------------------------------- a data set


def part_of_set(
    found: Measurement, plan: Plan, number: int, elsewhere: frozenset[str], *, alone: bool
) -> Part:
    """One data set and candidate; groups formed `elsewhere`, among readers, need not be here."""
    views = _views(found.groups)
    return Part(
        finding=(
            *_ranges(found, views),
            *_compared(found.groups, "accuracy"),
            *_whole_tests(found),
            *odds_in_words(found.odds),
            *_limits(found.divisions, found.unknown, views, plan, elsewhere),
        ),
        title=None if alone else say("word.name", name=found.case.name),
        tables=tuple(_tables(found, views, number)),
        figures=tuple(_charts(found, views, number)),
        place=found.case.place,
    )


def _ranges(found: Measurement, views: Sequence[GroupView]) -> Iterator[Message]:
    """Where each main measure is least, with limits that allow for the choice, and where it is most."""
    for name in MAIN:
        known = [(e.value, one.name) for one in views if (e := _value(one, name)) and not isnan(e.value)]
        if len(known) > 1:
            (low, least), (high, most) = min(known), max(known)
            yield say(f"{NAME}.range.{name}", low=low, least=least, high=high, most=most)
            worst = found.worst.get(name)
            if worst is not None and not isnan(worst.estimate.low):
                e = worst.estimate
                yield say(f"{NAME}.worst.{name}", k=len(known), low=e.low, high=e.high, level=e.level)


def _value(one: GroupView, name: str) -> Estimate | None:
    return one.estimate(VALUE, endpoint=name)


def _compared(groups: Groups, of: str) -> Iterator[Message]:
    """What stands of either family after adjustment, or how large a difference remains possible."""
    by_family: dict[str, list[tuple[Measured, Result]]] = {}
    for one, r in comparisons(groups):
        if not isnan(r.estimate.p):
            by_family.setdefault(r.details["family"], []).append((one, r))
    for name in ("prespecified", "exploratory"):
        tested = by_family.get(name)
        if not tested:
            continue
        alpha = 1 - tested[0][1].estimate.level
        stand = list(_once((one, r) for one, r in tested if r.details["p_holm"] <= alpha))
        m = tested[0][1].details["comparisons"]
        what = say(f"{NAME}.what.{of}_{name}", n=m)
        if stand:
            items = [_in_words(one, r) for one, r in stand[:MOST_NAMED]]
            if len(stand) > MOST_NAMED:
                items.append(say("word.more", n=len(stand) - MOST_NAMED))
            yield say(f"{NAME}.differ", n=len(stand), what=what, items=items)
        else:
            reach = max(max(abs(r.estimate.low), abs(r.estimate.high)) for _, r in tested)
            yield say(f"{NAME}.alike", n=m, what=what, reach=100 * reach)


def _once(found: Iterable[tuple[Measured, Result]]) -> Iterator[tuple[Measured, Result]]:
    """Of two comparisons that mirror each other the first."""
    seen = set()
    for one, r in found:
        if test_of(one, r) not in seen:
            seen.add(test_of(one, r))
            yield one, r


def _in_words(one: Measured, r: Result) -> Message:
    return say(
        f"{NAME}.item",
        group=one.group.name,
        endpoint=endpoint_name(r.endpoint),
        value=r.estimate.value,
        against=_against(r),
        p=r.details["p_holm"],
    )


def _against(r: Result) -> Message | str:
    """What a group is compared with."""
    name: str = r.parameters["against"]
    return say(f"{NAME}.rest") if name == REST else name


def _whole_tests(found: Measurement) -> Iterator[Message]:
    """What the test over all groups of an attribute says of its main measures."""
    for division in found.divisions:
        if len(division.groups) < 3:
            continue  # of two groups the comparison says it
        items = [
            say(f"{NAME}.tested", endpoint=endpoint_name(r.endpoint), p=r.estimate.p)
            for r in found.tests
            if r.parameters["attribute"] == division.attribute
            and r.endpoint in MAIN
            and not isnan(r.estimate.p)
        ]
        if items:
            yield say(f"{NAME}.over_all", n=len(division.groups), attribute=division.attribute, items=items)


def _limits(
    divisions: Sequence[Division],
    unknown: Mapping[str, Result],
    views: Sequence[GroupView],
    plan: Plan,
    elsewhere: frozenset[str],
) -> Iterator[Message]:
    """What these groups cannot show, and the limits that decided so."""
    small = [one.name for one in views if _is_small(one) and not one.one.closed]
    if small:
        least = {name: plan.limit(f"P37_{name}") for name in ("positives", "negatives")}
        yield say(f"{NAME}.small", n=len(small), names=small, **least)
    shut = [one.name for one in views if one.one.closed]
    if shut:
        yield say(f"{NAME}.suppressed", n=len(shut), names=shut, k=public_cell(plan))
    for division in divisions:
        if division.absent is not None:
            if division.attribute not in elsewhere:
                yield say(f"{NAME}.absent_attribute", name=division.attribute, reason=division.absent)
            continue
        lacking = unknown.get(division.attribute)
        if lacking is not None and lacking.estimate.value > 0:
            n = int(lacking.estimate.value)
            yield say(f"{NAME}.unknown", n=n, attribute=division.attribute, total=lacking.estimate.n)
        for first, second, shared in division.overlaps if not shut else ():
            yield say(f"{NAME}.overlap", first=first, second=second, n=shared)


def _is_small(one: GroupView) -> bool:
    return any(
        isnan(r.estimate.value) and "too few for" in r.estimate.note
        for r in one.one.results
        if r.id != DIFFERENCE
    )


def _tables(found: Measurement, views: Sequence[GroupView], number: int) -> Iterator[PlainTable]:
    if not views:
        return
    everything: list[GroupView | None] = [*views, None]
    for which, names in (("main", MAIN), ("more", MORE)):
        present = [name for name in names if any(_value(one, name) for one in views)]
        if present:
            yield table(
                f"subgroups_{which}_{number}",
                say(f"{NAME}.table_{which}", level=found.level),
                everything if which == "main" else views,
                [
                    (f"{NAME}.column.group", lambda one: one.name if one else say(f"{NAME}.all_cases")),
                    (f"{NAME}.column.n", lambda one: one.n if one else len(found.case), "count"),
                    (
                        f"{NAME}.column.positives",
                        lambda one: one.positives if one else int(found.case.truth.sum()),
                        "count",
                    ),
                    *(
                        (
                            f"{NAME}.heading.{name}",
                            lambda one, name=name: _cell(one, name) if one else found.overall(name),
                            "number.3",
                        )
                        for name in present
                    ),
                ],
            )
    yield from _comparisons(views, MAIN, f"subgroup_differences_{number}", "table_differences")


def _cell(one: GroupView, name: str) -> Any:
    """The estimate; of a small group what was counted."""
    e = _value(one, name)
    if e is None or not isnan(e.value):
        return e
    if one.one.closed:
        return say(f"{NAME}.cell.suppressed")
    counted = {"sensitivity": ("tp", "positives"), "specificity": ("tn", "negatives")}.get(name)
    cell = _value(one, counted[0]) if counted else None
    if counted and cell is not None and "too few for" in e.note:
        of = getattr(one.one, counted[1])
        return say(f"{NAME}.cell.counted", k=int(cell.value), n=of)
    return say(f"{NAME}.cell.too_few") if "too few for" in e.note else e


def _comparisons(
    views: Sequence[GroupView], endpoints: Sequence[str], id: str, caption: str
) -> Iterator[PlainTable]:
    """Each comparison that could be made, with its p-value before and after adjustment."""
    found = [(one.one, r) for one in views for name in endpoints if (r := one.comparison(name))]
    shown = list(_once((one, r) for one, r in found if not isnan(r.estimate.value)))
    if not shown:
        return
    yield table(
        id,
        say(f"{NAME}.{caption}", level=shown[0][1].estimate.level),
        shown,
        [
            (f"{NAME}.column.group", lambda pair: pair[0].group.name),
            (f"{NAME}.column.against", lambda pair: _against(pair[1])),
            (f"{NAME}.column.measure", lambda pair: say(f"{NAME}.heading.{pair[1].endpoint}")),
            (f"{NAME}.column.difference", lambda pair: pair[1].estimate, "points"),
            (f"{NAME}.column.p", lambda pair: known(pair[1].estimate.p), "p"),
            (f"{NAME}.column.p_holm", lambda pair: known(pair[1].details.get("p_holm", nan)), "p"),
            (
                f"{NAME}.column.prespecified",
                lambda pair: say("word.no" if pair[0].group.exploratory else "word.yes"),
            ),
        ],
    )


def _charts(found: Measurement, views: Sequence[GroupView], number: int) -> Iterator[Figure]:
    """A forest: a row for each group, the main measures side by side, all cases as a stroke."""
    present = [name for name in MAIN if any(_value(one, name) for one in views)]
    some = [one for one in views if any(not isnan(_nan(one, name)) for name in present)]
    if not some or not present:
        return
    shown = some[:MOST_ROWS]
    overall = {name: found.overall(name) for name in present}
    rows = tuple(
        MeasureRow(
            _label(one),
            tuple(
                MeasureCell(
                    e,
                    e.value if (e := overall[name]) else float("nan"),
                    say(f"{NAME}.figure.too_few"),
                )
                if (e := _value(one, name))
                else None
                for name in present
            ),
        )
        for one in shown
    )
    columns = tuple(MeasureColumn(say(f"{NAME}.heading.{name}")) for name in present)
    yield Figure(
        f"subgroups_{number}",
        MeasuresChart(columns, rows, say(f"{NAME}.figure.reference")),
        say(f"{NAME}.figure.forest", level=found.level),
        say(f"{NAME}.figure.forest_alt", n=len(shown), names=[one.name for one in shown[:MOST_NAMED]]),
    )


def _nan(one: GroupView, name: str) -> float:
    e = _value(one, name)
    return float("nan") if e is None else e.value


def _label(one: GroupView) -> Message:
    return say(
        f"{NAME}.figure.row",
        group=one.name,
        positives=one.one.positives,
        n=one.one.positives + one.one.negatives,
    )


# ---------------------------------------------------------------- readers


def part_of_readers(
    effect: Effect, plan: Plan, number: int, elsewhere: frozenset[str], *, alone: bool
) -> Part:
    """One task and contrast: the readers' gain on the cases of each group."""
    views = _views(effect.groups)
    name = title_of(effect.readings, effect.arms)
    return Part(
        finding=(
            *_gains(effect, views),
            *_compared(effect.groups, "gain"),
            *_limits(effect.divisions, effect.unknown, views, plan, elsewhere),
        ),
        title=say(f"{NAME}.readers_title" if alone else f"{NAME}.readers_title_of", name=name),
        tables=tuple(_effect_tables(effect, views, number)),
        figures=tuple(_effect_forest(effect, views, number)),
        place=effect.place,
    )


def _gain(one: GroupView, endpoint: str) -> Estimate | None:
    return one.estimate(f"{BENEFIT}.arm_difference", endpoint=endpoint)


def _gains(effect: Effect, views: Sequence[GroupView]) -> Iterator[Message]:
    """Where readers gain least and most in the first endpoint."""
    main = next(iter(effect.overall), None)
    if main is None:
        return
    known = [(e.value, one.name) for one in views if (e := _gain(one, main)) and not isnan(e.value)]
    if len(known) > 1:
        (low, least), (high, most) = min(known), max(known)
        ends = {"low": low, "least": least, "high": high, "most": most}
        yield say(f"{NAME}.gains", endpoint=endpoint_name(main), **ends)
    elif known:
        yield say(f"{NAME}.gain", endpoint=endpoint_name(main), value=known[0][0], group=known[0][1])


def _effect_tables(effect: Effect, views: Sequence[GroupView], number: int) -> Iterator[PlainTable]:
    if not views or not effect.overall:
        return
    truth = effect.readings.cases.truth
    everything: list[GroupView | None] = [*views, None]
    yield table(
        f"subgroup_effects_{number}",
        say(f"{NAME}.table_effects", level=next(iter(effect.overall.values())).level),
        everything,
        [
            (f"{NAME}.column.group", lambda one: one.name if one else say(f"{NAME}.all_cases")),
            (f"{NAME}.column.n", lambda one: one.n if one else int((truth >= 0).sum()), "count"),
            (
                f"{NAME}.column.positives",
                lambda one: one.positives if one else int((truth == 1).sum()),
                "count",
            ),
            *(
                (
                    f"{NAME}.heading.{name}",
                    lambda one, name=name: _effect_cell(one, name) if one else effect.overall[name],
                    "points",
                )
                for name in effect.overall
            ),
        ],
    )
    endpoints = tuple(effect.overall)
    yield from _comparisons(views, endpoints, f"subgroup_effect_differences_{number}", "table_interactions")


def _effect_cell(one: GroupView, name: str) -> Any:
    e = _gain(one, name)
    if e is None or not isnan(e.value):
        return e
    if one.one.closed:
        return say(f"{NAME}.cell.suppressed")
    return say(f"{NAME}.cell.too_few") if "too few for" in e.note else e


def _effect_forest(effect: Effect, views: Sequence[GroupView], number: int) -> Iterator[Figure]:
    """The gain in the first endpoint, group by group, and on all cases."""
    main = next(iter(effect.overall), None)
    if main is None:
        return
    known = [(one, e) for one in views if (e := _gain(one, main)) and not isnan(e.value)][:MOST_ROWS]
    if not known:
        return
    mean = effect.overall[main]
    rows = [EffectRow(_label(one), e) for one, e in known]
    rows.append(EffectRow(say(f"{NAME}.all_cases"), mean, leads=True))
    endpoint = endpoint_name(main)
    yield Figure(
        f"subgroup_effects_{number}",
        EffectPlot(
            tuple(rows),
            say(f"{BENEFIT}.quantity", endpoint=endpoint),
            scale="difference" if main == "auc" else "points",
            left=say(f"{BENEFIT}.worse"),
            right=say(f"{BENEFIT}.better"),
            benefit="right",
        ),
        say(f"{NAME}.figure.effects", endpoint=endpoint, level=mean.level),
        say(f"{NAME}.figure.effects_alt", n=len(known), names=[one.name for one, _ in known[:MOST_NAMED]]),
    )
