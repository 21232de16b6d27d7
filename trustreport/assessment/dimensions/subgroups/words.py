"""What is said of the groups of a data set, and of those of the cases that readers read."""

from collections.abc import Iterable, Iterator, Sequence
from math import isnan, nan
from typing import Any

from trustreport.assessment.dimensions.subgroups.groups import (
    BENEFIT,
    DIFFERENCE,
    MAIN,
    NAME,
    GroupedCases,
    Measured,
)
from trustreport.assessment.dimensions.subgroups.results import (
    ODDS,
    TEST,
    WORST,
    test_of,
)
from trustreport.assessment.finding import Figure, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, column_heading, endpoint_name, first_of
from trustreport.assessment.performance.case_groups import EXPLORATORY, PRESPECIFIED, REST
from trustreport.assessment.performance.keys import public_cell
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.figures.measure_rows import MeasureCell, MeasureColumn, MeasureRow, MeasuresChart
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Note
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say, spelled
from trustreport.vocabulary.quantities import endpoint_row
from trustreport.vocabulary.results import Result

MORE = ("accuracy", "ppv", "npv", "prevalence")
OF_TOO_FEW = (
    "too_few_positives_detected",
    "too_few_negatives_cleared",
    "too_few_of_both_classes",
    "too_few_for_percentage",
    "positives_and_negatives_too_few_for",
)
# Rows of a chart that fit a page.
MOST_ROWS = 40
# Groups that a sentence names.
MOST_NAMED = 6

text = Texts(NAME)


def story_of_set(found: GroupedCases, plan: Plan, number: int, elsewhere: frozenset[str]) -> Iterator[Item]:
    """One data set and candidate; groups formed `elsewhere`, among readers, need not be here."""
    for name in MAIN:
        yield from _range(found, name)
    yield from _compared(found, "accuracy")
    yield from _whole_tests(found)
    for r in found.about(ODDS):
        yield from _odds(r)
    yield from _limits(found, plan, elsewhere)
    for which, names in (("main", MAIN), ("more", MORE)):
        present = [name for name in names if any(one.value(name) for one in found.every)]
        if present:
            caption = text(f"table_{which}", level=found.level)
            yield _groups_table(f"subgroups_{which}_{number}", caption, found, present, total=which == "main")
    caption = text("table_differences", level=found.level)
    yield from _comparisons(found, MAIN, f"subgroup_differences_{number}", caption)
    yield from _forest(found, number)


def story_of_readers(
    found: GroupedCases, plan: Plan, number: int, elsewhere: frozenset[str]
) -> Iterator[Item]:
    """One task and contrast: the readers' gain on the cases of each group."""
    main = next(iter(found.overall), "")
    ends = _ends(found, main)
    if len(ends) > 1:
        (low, least), (high, most) = min(ends), max(ends)
        yield text("gains", endpoint=endpoint_name(main), low=low, least=least, high=high, most=most)
    elif ends:
        yield text("gain", endpoint=endpoint_name(main), value=ends[0][0], group=ends[0][1])
    yield from _compared(found, "gain")
    yield from _limits(found, plan, elsewhere)
    if found.every and main:
        caption = text("table_effects", level=found.overall[main].level)
        yield _groups_table(f"subgroup_effects_{number}", caption, found, list(found.overall), form=":points")
        id, caption = f"subgroup_effect_differences_{number}", text("table_interactions", level=found.level)
        yield from _comparisons(found, tuple(found.overall), id, caption)
        yield from _effect_forest(found, main, number)


def _ends(found: GroupedCases, name: str) -> list[tuple[float, str]]:
    """What is known of a measure, with the name of each group."""
    values = ((one.value(name), one.name) for one in found.every)
    return [(e.value, group) for e, group in values if e and not isnan(e.value)]


def _range(found: GroupedCases, name: str) -> Iterator[Message]:
    """Where a measure is least, with limits that allow for the choice, and where it is most."""
    ends = _ends(found, name)
    if len(ends) > 1:
        (low, least), (high, most) = min(ends), max(ends)
        yield text(f"range.{name}", low=low, least=least, high=high, most=most)
        for r in found.about(WORST):
            if r.endpoint == name and not isnan(r.estimate.low):
                yield text(f"worst.{name}", r, k=len(ends))


def _compared(found: GroupedCases, of: str) -> Iterator[Message]:
    """What stands of either family after adjustment, or how large a difference remains possible."""
    known = [(one, r) for one, r in found.comparisons if not isnan(r.estimate.p)]
    for family in (PRESPECIFIED, EXPLORATORY):
        tested = [(one, r) for one, r in known if r.details["family"] == family]
        if not tested:
            continue
        alpha, m = 1 - tested[0][1].estimate.level, tested[0][1].details["comparisons"]
        what = text(f"what.{of}_{family}", n=m)
        items = [
            text(
                "item",
                group=one.name,
                endpoint=endpoint_name(r.endpoint),
                value=r.estimate.value,
                against=_against(r),
                p=r.details["p_holm"],
            )
            for one, r in once((one, r) for one, r in tested if r.details["p_holm"] <= alpha)
        ]
        if items:
            yield text("differ", n=len(items), what=what, items=first_of(items, MOST_NAMED))
        else:
            reach = max(max(abs(r.estimate.low), abs(r.estimate.high)) for _, r in tested)
            yield text("alike", n=m, what=what, reach=100 * reach)


def once(found: Iterable[tuple[Measured, Result]]) -> Iterator[tuple[Measured, Result]]:
    """Of two comparisons that mirror each other the first."""
    seen = set()
    for one, r in found:
        if test_of(one, r) not in seen:
            seen.add(test_of(one, r))
            yield one, r


def _against(r: Result) -> Message | str:
    """What a group is compared with."""
    name: str = r.parameters["against"]
    return text("rest") if name == REST else spelled(name)


def _whole_tests(found: GroupedCases) -> Iterator[Message]:
    """What the test over all groups of an attribute says of its main measures."""
    for division in found.divisions:
        if len(division.groups) < 3:
            continue  # of two groups the comparison says it
        items = [
            text("tested", endpoint=endpoint_name(r.endpoint), p=r.estimate.p)
            for r in found.about(TEST)
            if r.parameters["attribute"] == division.attribute and r.endpoint in MAIN
            if not isnan(r.estimate.p)
        ]
        if items:
            yield text("over_all", n=len(division.groups), attribute=division.attribute, items=items)


def _odds(r: Result) -> Iterator[Message]:
    """How far apart the groups of an attribute are in the rates of true and of false positives."""
    e = r.estimate
    if not isnan(e.value):
        yield text(
            "odds_no_interval" if isnan(e.low) else "odds",
            e,
            n=int(e.details["groups"]),
            attribute=r.parameters["attribute"].replace("_", " "),
            value=100 * e.value,
            low=100 * e.low,
            high=100 * e.high,
            true=100 * e.details["true_positive_difference"],
            false=100 * e.details["false_positive_difference"],
        )


def _limits(found: GroupedCases, plan: Plan, elsewhere: frozenset[str]) -> Iterator[Message]:
    """What these groups cannot show, and the limits that decided so."""
    small = [one.spelled for one in found.every if _is_small(one) and not one.closed]
    if small:
        least = {name: plan.limit(f"P37_{name}") for name in ("positives", "negatives")}
        yield text("small", n=len(small), names=small, **least)
    shut = [one.spelled for one in found.every if one.closed]
    if shut:
        yield text("suppressed", n=len(shut), names=shut, k=public_cell(plan))
    for division in found.divisions:
        if division.absent is not None:
            if division.attribute not in elsewhere:
                yield text("absent_attribute", name=division.attribute, reason=division.absent)
            continue
        lacking = found.unknown.get(division.attribute)
        if lacking is not None and lacking.estimate.value > 0:
            n = int(lacking.estimate.value)
            yield text("unknown", n=n, attribute=division.attribute, total=lacking.estimate.n)
        for first, second, shared in division.overlaps if not shut else ():
            yield text("overlap", first=first, second=second, n=shared)


def is_of_too_few(said: Note) -> bool:
    """Whether a note says that there are too few cases for a number."""
    return any(said.has(key) for key in OF_TOO_FEW)


def _is_small(one: Measured) -> bool:
    estimates = (r.estimate for r in one.results if r.id != DIFFERENCE)
    return any(isnan(e.value) and is_of_too_few(e.note) for e in estimates)


def _groups_table(
    id: str,
    caption: Message,
    found: GroupedCases,
    measures: Sequence[str],
    *,
    form: str = "",
    total: bool = True,
) -> PlainTable:
    """A row for each group, and one for all cases."""
    rows: list[tuple[Any, ...]] = [
        (one.spelled, *one.counts, *(_cell(one, name) for name in measures)) for one in found.every
    ]
    if total:
        overall = [found.overall.get(name) for name in measures]
        rows.append((text("all_cases"), found.n, found.positives, *overall))
    return text.table(
        id, caption, " ".join(("group cases positives", *(f"{name}{form}" for name in measures))), rows
    )


def _cell(one: Measured, name: str) -> Any:
    """The estimate; of a small group what was counted."""
    e = one.value(name)
    if e is None or not isnan(e.value):
        return e
    if one.closed:
        return text("cell.suppressed")
    if not is_of_too_few(e.note):
        return e
    cell = one.value({"sensitivity": "tp", "specificity": "tn"}.get(name, ""))
    if cell is None:
        return text("cell.too_few")
    return text(
        "cell.counted", k=int(cell.value), n=one.positives if name == "sensitivity" else one.negatives
    )


def _comparisons(
    found: GroupedCases, endpoints: Sequence[str], id: str, caption: Message
) -> Iterator[PlainTable]:
    """Each comparison that could be made, with its p-value before and after adjustment."""
    pairs = ((one, one.comparison(name)) for one in found.every for name in endpoints)
    shown = list(once((one, r) for one, r in pairs if r and not isnan(r.estimate.value)))
    if shown:
        yield text.table(
            id,
            caption,
            "group .against measure difference p p_holm .prespecified",
            [
                (
                    one.spelled,
                    _against(r),
                    column_heading(r.endpoint),
                    cell_of(r),
                    r.estimate.p,
                    r.details.get("p_holm"),
                    not one.group.exploratory,
                )
                for one, r in shown
            ],
        )


def is_area(r: Result) -> bool:
    """Whether what differs is an area under a curve, whose differences are not percentage points."""
    return endpoint_row(r.endpoint).written == "area"


def cell_of(r: Result) -> Result | Estimate:
    """A difference in a column of percentage points; of an area on its own scale."""
    return r if is_area(r) else r.estimate


def _forest(found: GroupedCases, number: int) -> Iterator[Figure]:
    """A row for each group, the main measures side by side, all cases as a stroke."""
    present = [name for name in MAIN if any(one.value(name) for one in found.every)]
    shown = [one for one in found.every if any(_known(one.value(name)) for name in present)][:MOST_ROWS]
    if not shown:
        return

    def cell(one: Measured, name: str) -> MeasureCell | None:
        """A measure of a group beside that of all cases; None where it was not computed."""
        e, overall = one.value(name), found.overall.get(name)
        return MeasureCell(e, overall.value if overall else nan, text("figure.too_few")) if e else None

    rows = tuple(MeasureRow(_label(one), tuple(cell(one, name) for name in present)) for one in shown)
    columns = tuple(MeasureColumn.of_unit(column_heading(name), endpoint_row(name)) for name in present)
    drawing = MeasuresChart(columns, rows, text("figure.reference"))
    names = [one.spelled for one in shown[:MOST_NAMED]]
    yield text.figure(f"subgroups_{number}", drawing, "forest", level=found.level, n=len(shown), names=names)


def _effect_forest(found: GroupedCases, main: str, number: int) -> Iterator[Figure]:
    """The gain in the first endpoint, group by group, and on all cases."""
    known = [(one, e) for one in found.every if (e := one.value(main)) and _known(e)][:MOST_ROWS]
    if not known:
        return
    mean, endpoint = found.overall[main], endpoint_name(main)
    rows = [EffectRow(_label(one), e) for one, e in known]
    drawing = EffectPlot(
        (*rows, EffectRow(text("all_cases"), mean, leads=True)),
        say(f"{BENEFIT}.quantity", endpoint=endpoint),
        scale="difference" if main == "auc" else "points",
        left=say(f"{BENEFIT}.worse"),
        right=say(f"{BENEFIT}.better"),
        benefit="right",
    )
    names = [one.spelled for one, _ in known[:MOST_NAMED]]
    of: dict[str, Any] = {"level": mean.level, "n": len(known), "names": names}
    yield text.figure(f"subgroup_effects_{number}", drawing, "effects", endpoint=endpoint, **of)


def _known(e: Estimate | None) -> bool:
    return e is not None and not isnan(e.value)


def _label(one: Measured) -> Message:
    return text("figure.row", group=one.name, positives=one.positives, n=one.positives + one.negatives)
