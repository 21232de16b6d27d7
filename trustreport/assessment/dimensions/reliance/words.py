"""Reliance: sentences, tables and figures of rates, of bias and dominance, and of types of advice."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.reliance.interaction import COMPARED, ODDS
from trustreport.assessment.dimensions.reliance.rates import ID
from trustreport.assessment.dimensions.reliance.results import Reliance
from trustreport.assessment.finding import Column, Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, if_known, numbers, quantity_name
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.figures.field import PlaneAxis, PlaneChart, PlanePoint
from trustreport.figures.flow import TrustFlow
from trustreport.figures.trust import TrustDiagram, TrustPoint
from trustreport.measures.estimate import Estimate
from trustreport.measures.reliance.patterns import PATTERNS
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result

CORNERS = ("rbod", "rsr", "rair", "rbt")
# The rows of the table of rates, in the order of reading.
ROWS = (
    "rair",
    "rsr",
    "rbod",
    "rbt",
    "switch_rate",
    "agreement_unaided",
    "agreement_aided",
    "override_rate",
    "override_of_right_advice",
    "override_of_wrong_advice",
)

TEXT = f"{ID}.interaction"
BIASES = ("automation_bias_odds", "conservatism_bias_odds")
CHANGED = ("dominance", "determination", "deference")
# Of the interaction, in the order of reading; those that the study cannot yield are left out, except the
# first of each kind.
INTERACTION = (
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

text = Texts(ID)
interaction = Texts(TEXT)
types = Texts(f"{TEXT}.types")


def part(found: Reliance, number: int, *, alone: bool) -> Part:
    """One set or task in full."""
    title = None if alone else say("word.name", name=title_of(found))
    return text.part(_items(found, number), title, found.place)


def _items(found: Reliance, number: int) -> Iterator[Item]:
    yield from _sentences(found)
    yield text.labelled(
        f"{ID}_{number}",
        text("table.rates" if found.place.set is not None else "table.rates_pooled"),
        [(say(f"{_words(found)}.label.{name}"), found.find(name)) for name in ROWS],
    )
    yield _patterns_table(found, number)
    yield _advice_table(found, number)
    if found.bands:
        yield _confidence_table(found, number)
    if len(found.readers) > 1:
        yield text.table(
            f"{ID}_readers_{number}",
            text("table.readers"),
            "reader .rair:percent .rsr:percent .rbod:percent .rbt:percent .override_rate:percent",
            [
                (reader, *_rates(found, "rair", "rsr", "rbod", "rbt", "override_rate", reader=reader))
                for reader in found.readers
            ],
        )
    yield _figure(found, number)


def overview(sets: list[Reliance]) -> Part:
    """Many published sets: how many are below one half, a row each, and all of them in one diagram."""
    below = {name: sum(_side(one.find(name).estimate) == "below" for one in sets) for name in ("rsr", "rair")}
    shown = text.table(
        f"{ID}_sets",
        text("table.sets"),
        "set .rair:estimate .rsr:estimate .rbod:estimate .rbt:estimate readings",
        [(one.name, *_rates(one, "rair", "rsr", "rbod", "rbt"), one.n) for one in sets],
    )
    points = tuple(_point(one, one.name, leads=False) for one in sets)
    figure = text.figure("trust_sets", TrustDiagram(points, named=True), "sets", n=len(sets))
    return text.part((text("overview", n=len(sets), **below), shown, figure))


def _rates(found: Reliance, *names: str, **scope: Any) -> Iterator[Estimate]:
    return (found.find(name, **scope).estimate for name in names)


def _sentences(found: Reliance) -> Iterator[Message]:
    """What the readings show, never more than the interval."""
    advice = found.find("accuracy_of_advice").estimate
    if not isnan(advice.value):
        yield text("advice", advice, n=advice.n)
    for name in ("rsr", "rair"):
        yield _against_half(found, name)
    words = _words(found)
    for name in ("rbt", "rbod"):
        e = found.find(name).estimate
        if _side(e) == "below":
            yield say(f"{words}.{name}.below", k=round(e.value * e.n), n=e.n, **numbers(e))


def _words(found: Reliance) -> str:
    """The words for two decisions of one sitting, or of separate readings, where none was changed."""
    return f"{ID}.apart" if found.separate_readings else ID


def _against_half(found: Reliance, name: str) -> Message:
    e, words = found.find(name).estimate, _words(found)
    if isnan(e.value):
        return text(f"{name}.undefined", reason=e.note)
    values: dict[str, Any] = {"n": e.n, "reason": e.note}
    if name == "rair":
        values |= {"won": found.count("011"), **numbers(e)}
    else:  # what is reported is the harm: right decisions given up
        lost = found.find("harmful_switch_rate").estimate
        values |= {"lost": found.count("100"), "kept": e.value, **numbers(lost)}
    return say(f"{words}.{name}.{_side(e)}", **values)


def _side(e: Estimate) -> str:
    """On which side of one half the whole interval is, if there is one."""
    if isnan(e.low) or isnan(e.high):
        return "no_interval"
    return "below" if e.high < 0.5 else "above" if e.low > 0.5 else "either"


def title_of(found: Reliance) -> Message | str:
    """What a set or task is called; a task without a name by its arms."""
    return found.name or say("report.tested.contrast", aided=found.arms[0], unaided=found.arms[1])


def _patterns_table(found: Reliance, number: int) -> PlainTable:
    """The eight patterns with their names, counts and shares."""
    words = {"0": text("wrong"), "1": text("right")}
    own = _words(found)
    before, after = Column(say(f"{own}.column.before")), Column(say(f"{own}.column.after"))

    def row(pattern: str) -> tuple[Any, ...]:
        """A pattern: its three answers, its name, and how many readings have it."""
        n = found.count(pattern)
        name = text(f"pattern.p{pattern}")
        return (*(words[x] for x in pattern), name, n, n / found.n if found.n else None)

    return text.table(
        f"{ID}_patterns_{number}",
        say(f"{own}.table.patterns"),
        (before, ".advice", after, ".name readings .share:percent"),
        map(row, PATTERNS),
    )


def _advice_table(found: Reliance, number: int) -> PlainTable:
    """Right decisions before and after, separately for right and for wrong advice."""
    own = _words(found)
    before = Column(say(f"{own}.column.right_before"), "percent")
    after = Column(say(f"{own}.column.right_after"), "percent")

    def row(advice: str) -> tuple[Any, ...]:
        """Readings with this advice: how many were right before and after, and the change."""
        unaided, aided = _rates(found, *(f"accuracy_{a}_{advice}_advice" for a in ("unaided", "aided")))
        contrast = found.place.narrowed(arms=found.arms)
        change = found.primary_entry("accuracy_change", contrast, {"advice": advice}, "accuracy")
        return text(advice), unaided.n, if_known(unaided), if_known(aided), change.estimate

    return text.table(
        f"{ID}_advice_{number}",
        say(f"{own}.table.advice"),
        (".advice readings", before, after, ".change:points"),
        [row("right"), row("wrong")],
    )


def _confidence_table(found: Reliance, number: int) -> PlainTable:
    own = _words(found)
    confidence = Column(say(f"{own}.column.confidence"))

    def row(band: str) -> Iterator[Any]:
        """A band of confidence: its readings and their rates."""
        low, high = found.bands[band]
        yield text("band", name=text(f"confidence.{band}"), low=low, high=high)
        yield found.find("override_rate", confidence=band).estimate.n
        yield from _rates(found, "rair", "rsr", "switch_rate", confidence=band)

    return text.table(
        f"{ID}_confidence_{number}",
        say(f"{own}.table.confidence"),
        (confidence, "readings .rair:percent .rsr:percent .switch_rate:percent"),
        map(row, found.bands),
    )


def _figure(found: Reliance, number: int) -> Figure:
    points = [_point(found, reader, leads=False, reader=reader) for reader in found.readers]
    pooled = _point(found, text("all_readings"), leads=True)
    drawn = points if len(points) > 1 else []
    flow = TrustFlow({p: found.count(p) for p in PATTERNS}, separate=found.separate_readings)
    own = _words(found)
    return Figure(
        f"trust_{number}",
        TrustDiagram((*drawn, pooled), flow=flow),
        say(f"{own}.figure.readers" if drawn else f"{own}.figure.set"),
        say(f"{own}.figure.alt", n=len(drawn), rair=_percent(pooled.rair), rsr=_percent(pooled.rsr)),
    )


def _percent(e: Estimate) -> Message:
    return say("word.not_known") if isnan(e.value) else text("percent", value=e.value)


def _point(found: Reliance, label: Message | str, *, leads: bool, **more: Any) -> TrustPoint:
    return TrustPoint(label, **{name: found.find(name, **more).estimate for name in CORNERS}, leads=leads)


def interaction_part(found: Reliance, title: Message | str | None, number: int) -> Part:
    """All measures of one set or task in a table, with a figure of bias and one of changed decisions."""
    items = _interaction_items(found, number)
    return text.part(items, interaction.title(title or "", alone=title is None), found.place)


def _interaction_items(found: Reliance, number: int) -> Iterator[Item]:
    by_name = _by_name(found)
    yield from _interaction_sentences(by_name)
    yield interaction.estimates(
        f"{ID}_interaction_{number}",
        interaction("table.readings" if found.place.set is None else "table.counts"),
        [by_name[name] for name in INTERACTION if name in by_name and _is_shown(by_name, name)],
        leads=lambda r: False,
    )
    yield from _figures(by_name, number)


def _by_name(found: Reliance) -> dict[str, Result]:
    """The primary entry of each measure, of all readings."""
    places = (found.place, found.place.narrowed(arms=found.arms))
    kept = (r for r in found.results if r.primary and r.place in places and not r.parameters)
    return {r.name: r for r in kept if r.name in INTERACTION}


def _is_shown(by_name: dict[str, Result], name: str) -> bool:
    """Bounds stand in for appropriate reliance where there are no confidences."""
    exact = not isnan(by_name["appropriate_reliance"].estimate.value)
    if name.endswith("_bound"):
        return not exact
    return name in ALWAYS or not isnan(by_name[name].estimate.value)


def _interaction_sentences(by_name: dict[str, Result]) -> Iterator[Message]:
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
    known = {name: r.estimate for name, r in by_name.items() if not isnan(r.estimate.value)}
    rows = [
        EffectRow(interaction(f"label.{name}"), known[name], leads=name in BIASES)
        for name in INTERACTION
        if name.startswith(BIASES) and name in known
    ]
    if rows:
        drawing = EffectPlot(
            tuple(rows),
            interaction("figure.odds"),
            left=interaction("figure.prevailed"),
            right=interaction("figure.lost"),
            line=interaction("figure.as_often"),
        )
        automation, conservatism = (_written(by_name[name].estimate) for name in BIASES)
        said: dict[str, Any] = {"automation": automation, "conservatism": conservatism}
        yield interaction.figure(f"bias_odds_{number}", drawing, "bias", **said)
    points = [
        PlanePoint(interaction(f"short.{of}"), known[f"{of}_direction"], by_name[f"{of}_share"].estimate)
        for of in CHANGED
        if f"{of}_direction" in known
    ]
    if points:
        x = PlaneAxis(interaction("figure.x"), interaction("figure.x_short"), "number", -1.0, 1.0, 0.0)
        y = PlaneAxis(interaction("figure.y"), interaction("figure.y_short"), "percent", 0.0, 1.0)
        lead = points[0]
        yield interaction.figure(
            f"dominance_{number}",
            PlaneChart(tuple(points), x, y),
            "dominance",
            n=len(points),
            name=lead.label,
            share=lead.upward.value,
            direction=_written(lead.across),
        )


def _written(e: Estimate) -> Message:
    return say("word.not_known") if isnan(e.value) else interaction("number", value=e.value)


def types_part(found: Reliance, title: Message | str | None, number: int) -> Iterator[Part]:
    """Reliance and accuracy with each type of advice, and the differences; nothing with a single type."""
    names = list(dict.fromkeys(r.place.advice_type for r in found.results if r.place.advice_type))
    if len(names) > 1:
        items = _types(found, names, number)
        yield text.part(items, types.title(title or "", alone=title is None), found.place)


def _types(found: Reliance, names: Sequence[str], number: int) -> Iterator[Item]:
    differences = [r for r in found.results if "against" in r.parameters and r.primary]
    yield from _of_differences(differences)
    measures = ("accuracy_unaided", "accuracy_aided", "rair", "rsr", *(e.id for e in ODDS))
    counts = [_of_type(found, "accuracy_aided", name).estimate.n for name in names]
    # A measure a row: with a column for each type of advice the table stays narrow.
    yield types.table(
        f"{ID}_types_{number}",
        types("table"),
        (
            "measure",
            *(Column(types("of_type", type=t, n=n), "estimate") for t, n in zip(names, counts)),
        ),
        [(types(f"row.{measure}"), *(_of_type(found, measure, t) for t in names)) for measure in measures],
    )
    yield types.estimates(
        f"{ID}_type_differences_{number}",
        types("differences"),
        differences,
        lambda r: types(f"difference.{_base(r)}", **_compared(r)),
        leads=lambda r: False,
    )


def _of_type(found: Reliance, name: str, type_: str) -> Result:
    """The primary entry of a measure with one type of advice; accuracy of an arm by ``accuracy_aided``."""
    quantity, _, arm = name.partition("_") if name.startswith("accuracy_") else (name, "", "")
    arms = dict(zip(("aided", "unaided"), found.arms))
    place = found.place.narrowed(advice_type=type_)
    place = place.narrowed(arm=arms[arm]) if arm else place.narrowed(arms=found.arms)
    return found.primary_entry(quantity, place, {})


def _base(r: Result) -> str:
    return r.name.removesuffix("_difference")


def _compared(r: Result) -> dict[str, Any]:
    return {"first": r.place.advice_type, "second": r.parameters["against"]}


def _of_differences(differences: Sequence[Result]) -> Iterator[Message]:
    """Where the interval excludes no difference; otherwise that none could be shown."""
    known = [r for r in differences if not isnan(r.estimate.low)]
    clear = [r for r in known if r.estimate.low > 0 or r.estimate.high < 0]
    for r in clear[: len(COMPARED)]:
        low, high = sorted((r.estimate.low, r.estimate.high), key=abs)
        way = "more" if r.estimate.value > 0 else "less"
        yield types(way, r, low=low, high=high, measure=quantity_name(_base(r)), **_compared(r))
    if known and not clear:
        yield types("none", n=len(known))
