"""Bias, dominance, appropriate reliance, persuasion and types of advice: sentences, tables and figures."""

from collections.abc import Iterable, Iterator
from math import isnan

from trustreport.assessment.dimensions.reliance.interaction import COMPARED, ODDS
from trustreport.assessment.dimensions.reliance.rates import ID
from trustreport.assessment.dimensions.reliance.results import Reliance
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import numbers, quantity_name
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.figures.field import PlaneAxis, PlaneChart, PlanePoint
from trustreport.measures.estimate import Estimate
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

TEXT = f"{ID}.interaction"
BIASES = ("automation_bias_odds", "conservatism_bias_odds")
CHANGED = ("dominance", "determination", "deference")
# In the order of reading; those that the study cannot yield are left out, except the first of each kind.
ROWS = (
    "technology_impact",
    *(f"{bias}{form}" for bias in BIASES for form in ("", "_adjusted", "_published")),
    *(f"{change}_{part}" for change in CHANGED for part in ("share", "direction")),
    "appropriate_reliance",
    "appropriate_reliance_low_bound",
    "appropriate_reliance_high_bound",
    "appropriate_reliance_chance_corrected",
    "persuasion",
    "reader_spread_ratio",
)
ALWAYS = ("technology_impact", *BIASES)


def interaction_part(found: Reliance, title: Message | str | None, number: int) -> Part:
    """All measures of one set or task in a table, with a figure of bias and one of changed decisions."""
    by_name = _by_name(found)
    shown = [name for name in ROWS if name in by_name and _is_shown(by_name, name)]
    rows = tuple(EstimateRow(say(f"{TEXT}.label.{name}"), by_name[name]) for name in shown)
    tables: list[EstimateTable | PlainTable] = [
        EstimateTable(f"{ID}_interaction_{number}", say(f"{TEXT}.table.{_source(found)}"), rows)
    ]
    return Part(
        title=say(f"{TEXT}.title") if title is None else say(f"{TEXT}.title_of", name=title),
        finding=tuple(_sentences(by_name)),
        tables=tuple(tables),
        figures=tuple(_figures(by_name, number)),
        place=found.place,
    )


def _by_name(found: Reliance) -> dict[str, Result]:
    """The primary entry of each measure, of all readings."""
    places = (found.place, found.place.at(arms=found.arms))
    kept = (r for r in found.results if r.primary and r.place in places and not r.parameters)
    return {r.name: r for r in kept if r.name in ROWS}


def _source(found: Reliance) -> str:
    return "readings" if found.place.set is None else "counts"


def _is_shown(by_name: dict[str, Result], name: str) -> bool:
    """Bounds stand in for appropriate reliance where there are no confidences."""
    exact = not isnan(by_name["appropriate_reliance"].estimate.value)
    if name.endswith("_bound"):
        return not exact
    return name in ALWAYS or not isnan(by_name[name].estimate.value)


def _sentences(by_name: dict[str, Result]) -> Iterator[Message]:
    for bias in BIASES:
        e = by_name[bias].estimate
        if isnan(e.value):
            yield say(f"{TEXT}.{bias}.undefined", reason=e.note)
        else:
            yield say(f"{TEXT}.{bias}.{_interval(e)}", reason=e.note, **numbers(e))
    changed = by_name["dominance_share"].estimate
    towards = by_name["dominance_direction"].estimate
    if not isnan(towards.value):
        yield say(
            f"{TEXT}.changed.{_interval(towards)}",
            share=changed.value,
            n=changed.n,
            reason=towards.note,
            **numbers(towards),
        )


def _interval(e: Estimate) -> str:
    return "no_interval" if isnan(e.low) else "known"


def _figures(by_name: dict[str, Result], number: int) -> Iterator[Figure]:
    bias = [n for n in ROWS if n.startswith(BIASES) and n in by_name and not isnan(_value(by_name, n))]
    if bias:
        rows = tuple(
            EffectRow(say(f"{TEXT}.label.{n}"), by_name[n].estimate, leads=n in BIASES) for n in bias
        )
        drawing = EffectPlot(
            rows,
            say(f"{TEXT}.figure.odds"),
            left=say(f"{TEXT}.figure.prevailed"),
            right=say(f"{TEXT}.figure.lost"),
            line=say(f"{TEXT}.figure.as_often"),
        )
        said = {name: _written(by_name[name].estimate) for name in BIASES}
        alt = say(f"{TEXT}.figure.bias_alt", automation=said[BIASES[0]], conservatism=said[BIASES[1]])
        yield Figure(f"bias_odds_{number}", drawing, say(f"{TEXT}.figure.bias"), alt)
    points = tuple(
        PlanePoint(
            say(f"{TEXT}.short.{change}"),
            by_name[f"{change}_direction"].estimate,
            by_name[f"{change}_share"].estimate,
        )
        for change in CHANGED
        if not isnan(_value(by_name, f"{change}_direction"))
    )
    if points:
        x = PlaneAxis(say(f"{TEXT}.figure.x"), say(f"{TEXT}.figure.x_short"), "number", -1.0, 1.0, 0.0)
        y = PlaneAxis(say(f"{TEXT}.figure.y"), say(f"{TEXT}.figure.y_short"), "percent", 0.0, 1.0)
        lead = points[0]
        alt = say(
            f"{TEXT}.figure.dominance_alt",
            n=len(points),
            name=lead.label,
            share=lead.upward.value,
            direction=_written(lead.across),
        )
        drawn = PlaneChart(points, x, y)
        yield Figure(f"dominance_{number}", drawn, say(f"{TEXT}.figure.dominance"), alt)


def _value(by_name: dict[str, Result], name: str) -> float:
    return by_name[name].estimate.value


def _written(e: Estimate) -> Message:
    return say("word.not_known") if isnan(e.value) else say(f"{TEXT}.number", value=e.value)


# ---------------------------------------------------------------- types of advice


def types_part(found: Reliance, title: Message | str | None, number: int) -> Iterator[Part]:
    """Reliance and accuracy with each type of advice, and the differences; nothing with a single type."""
    types = list(dict.fromkeys(r.place.advice_type for r in found.results if r.place.advice_type))
    if len(types) < 2:
        return
    differences = [r for r in found.results if "against" in r.parameters and r.primary]
    yield Part(
        title=say(f"{TEXT}.types.title") if title is None else say(f"{TEXT}.types.title_of", name=title),
        finding=tuple(_of_differences(differences)),
        tables=(_types_table(found, types, number), _differences_table(differences, number)),
        place=found.place,
    )


def _of_type(found: Reliance, name: str, type_: str) -> Estimate:
    """The primary estimate of a measure with one type of advice; accuracy of an arm by ``accuracy_aided``."""
    quantity, _, arm = name.partition("_") if name.startswith("accuracy_") else (name, "", "")
    arms = dict(zip(("aided", "unaided"), found.arms))
    place = found.place.at(advice_type=type_)
    place = place.at(arm=arms[arm]) if arm else place.at(arms=found.arms)
    return found.one(quantity, place, {}).estimate


def _types_table(found: Reliance, types: Iterable[str], number: int) -> PlainTable:
    """A measure a row: with a column for each type of advice it stays narrow."""

    def heading(type_: str) -> Message:
        return say(f"{TEXT}.types.of_type", type=type_, n=_of_type(found, "accuracy_aided", type_).n)

    return table(
        f"{ID}_types_{number}",
        say(f"{TEXT}.types.table"),
        ("accuracy_unaided", "accuracy_aided", "rair", "rsr", *(e.id for e in ODDS)),
        [
            ("table.measure", lambda name: say(f"{TEXT}.types.row.{name}")),
            *((heading(t), lambda name, t=t: _of_type(found, name, t), "estimate") for t in types),
        ],
    )


def _differences_table(differences: Iterable[Result], number: int) -> EstimateTable:
    rows = tuple(
        EstimateRow(
            say(
                f"{TEXT}.types.difference.{_base(r)}",
                first=r.place.advice_type,
                second=r.parameters["against"],
            ),
            r,
        )
        for r in differences
    )
    return EstimateTable(f"{ID}_type_differences_{number}", say(f"{TEXT}.types.differences"), rows)


def _base(r: Result) -> str:
    return r.name.removesuffix("_difference")


def _of_differences(differences: Iterable[Result]) -> Iterator[Message]:
    """Where the interval excludes no difference; otherwise that none could be shown."""
    known = [r for r in differences if not isnan(r.estimate.low)]
    clear = [r for r in known if r.estimate.low > 0 or r.estimate.high < 0]
    for r in clear[: len(COMPARED)]:
        limits = r.estimate.low, r.estimate.high
        way = "more" if r.estimate.value > 0 else "less"
        yield say(
            f"{TEXT}.types.{way}",
            measure=quantity_name(_base(r)),
            first=r.place.advice_type,
            second=r.parameters["against"],
            value=r.estimate.value,
            low=min(limits, key=abs),
            high=max(limits, key=abs),
            level=r.estimate.level,
        )
    if known and not clear:
        yield say(f"{TEXT}.types.none", n=len(known))
