"""What is said of measurements, ratings and counts."""

from collections.abc import Iterator, Sequence
from math import isnan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.measurement.group_words import (
    changes_since,
    difference_tables,
    group_sentences,
    in_unit,
    unformed_groups,
)
from trustreport.assessment.dimensions.measurement.ranking import RANKS, rank_sentences, rank_table
from trustreport.assessment.dimensions.measurement.results import LIMITS, NAME, READERS, MeasuredValues
from trustreport.assessment.finding import Column, Part
from trustreport.assessment.narrative.texts import Item, Texts, as_cell, form_of, quantity_name, side_of
from trustreport.figures.calibration import AgreementPanel, DifferencePlot, IdentityPlot
from trustreport.vocabulary.kinds import AGAINST_A_VALUE, KINDS, MEANS
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

text = Texts(NAME)

MOST_POINTS = 1500  # of a panel
PARTS = ("site", "subgroup")
HEADS = {"subgroup": "group"}
# Of each reader beside the reference, in one table, and how it is written; others are in the results only.
OF_EACH_READER = {
    "root_mean_square_error": "number",
    "total_deviation_index": "number",
    "acceptable_share": "percent",
    "concordance_correlation": "number",
    "deming_slope": "number",
    "linearity": "p",
    "deming_intercept": "",
    "passing_bablok_slope": "",
    "passing_bablok_intercept": "",
}
CHANGES = (AGAINST_A_VALUE[0], *MEANS, "acceptable_share")


def part(one: MeasuredValues, number: int, *, alone: bool) -> Part:
    """One measurement of one data set or task."""
    return text.part(_items(one, number), None if alone else _title(one), one.place)


def _title(one: MeasuredValues) -> Message:
    name, of = one.facts.measurement, one.values.name
    if name and of:
        return text("title_of", measurement=name, name=of)
    return text("title_named", name=name or of or text("value"))


def names_compared(place: Place) -> tuple[Message | str, Message | str]:
    """The two arms, or the two candidates, of a comparison as a sentence names them."""
    if place.arms:
        compared, baseline = (text("arm", arm=arm) for arm in place.arms)
        return compared, baseline
    return place.candidates or ("", "")


def claim(one: MeasuredValues) -> str:
    """What these numbers can show at most, by the kind of the value and whether there is a reference.

    Without one a number of a device is taken as a metric of agreement, such as Dice; one of readers is not.
    """
    if one.facts.kind == "number" and one.values.readers is None:
        return "agreement"
    return KINDS[one.facts.kind].claim[0 if one.has_reference else 1]


def _items(one: MeasuredValues, number: int) -> Iterator[Item]:
    yield _counts(one)
    whole = [r for r in one.results if not any(getattr(r.place, part) for part in ("reader", *PARTS))]
    first, *further = _sentences(one, [r for r in whole if r.place.reference is None])
    yield from (*rank_sentences(one), first, *changes_since(one), *group_sentences(one), *further)
    yield from unformed_groups(one)
    rows = [r for r in whole if r.name != "linearity" and r.name not in RANKS]
    yield text.estimates(
        f"{_id(one)}_{number}",
        _caption(one, rows),
        rows,
        label,
        lambda r: r.name == rows[0].name,
    )
    yield from rank_table(one, f"{_id(one)}_ranks_{number}")
    yield from _by(one, number, "reader")
    yield from _readers_and_reference(one, number)
    for part in PARTS:
        yield from _by(one, number, part)
        yield from _by(one, number, part, changes=True)
    yield from difference_tables(one, f"{_id(one)}_groups_{number}")
    yield from _figures(one, number)


def _caption(one: MeasuredValues, rows: Sequence[Result]) -> Message:
    """What the table is of, and which values are acceptable where a row counts them."""
    caption = text("table", measurement=in_unit(one))
    if all(r.name != "acceptable_share" for r in rows):
        return caption
    return text(f"table_{_good(one)}", table=caption, bound=one.bound, unit=unit_of(one))


def _good(one: MeasuredValues) -> str:
    """By which text an acceptable value is described: its error, or the side that is better."""
    return f"acceptable_{'error' if one.has_reference else one.facts.better}"


def _id(one: MeasuredValues) -> str:
    return READERS if one.values.readers else NAME


def named(one: MeasuredValues) -> Message | str:
    """The measurement by its name; "value" where it has none."""
    return one.facts.measurement or text("value")


def averaged(name: Message | str, kind: str) -> Message | str:
    """What a mean is of: the measurement, or the number of what was counted."""
    return text("number_of", measurement=name) if kind == "count" else name


def unit_of(one: MeasuredValues) -> str:
    """The unit behind a number, with the space between them; empty where there is none."""
    return f"\N{NO-BREAK SPACE}{one.facts.unit}" if one.facts.unit else ""


def _counts(one: MeasuredValues) -> Message:
    values = one.values
    cases = int((~np.isnan(values.value)).any(axis=(0, 1)).sum())
    readers = len(values.readers) if values.readers else 0
    key = "counts_readers" if readers else "counts"
    key += "_reference" if one.has_reference else ""
    return text(key, n=cases, readers=readers, measurement=named(one))


def _sentences(one: MeasuredValues, whole: Sequence[Result]) -> Iterator[Message]:
    unit = unit_of(one)
    for r in whole:
        compared, baseline = names_compared(r.place)
        base = r.name.removesuffix("_difference")
        if base == r.name or base not in CHANGES:
            continue
        kind = "share" if base == "acceptable_share" else "error" if base == "mean_absolute_error" else "mean"
        said: dict[str, Any] = {
            "compared": compared,
            "baseline": baseline,
            "unit": unit,
            "measurement": averaged(named(one), one.facts.kind),
        }
        way = side_of(r.estimate, 0.0, "higher", "lower")
        yield text.of_estimate(f"change_{kind}", r, whole=f"change_{kind}_{way}", **said)
    for place in dict.fromkeys(r.place for r in whole if not (r.place.arms or r.place.candidates)):
        own = {r.name: r for r in whole if r.place == place}
        name = _whose(one, own)
        common: dict[str, Any] = {"name": name, "unit": unit, "measurement": named(one)}
        if "bias" in own:
            e = own["bias"].estimate
            yield text.of_estimate("bias", e, whole=f"bias_{side_of(e, 0.0)}", **common)
        if LIMITS[0] in own and not isnan(own[LIMITS[0]].estimate.value):
            below, above = (own[limit].estimate for limit in LIMITS)
            outer = {"outer_low": below.low, "outer_high": above.high}
            key = "limits" if not isnan(below.low) else "limits_no_interval"
            yield text(key, below=below.value, above=above.value, level=below.level, **outer, **common)
        for quantity in MEANS:
            if quantity in own:
                said = common | {"measurement": averaged(named(one), one.facts.kind)}
                yield text.of_estimate("mean", own[quantity], **said)
        if "acceptable_share" in own:
            bound = own["acceptable_share"].parameters["bound"]
            yield text.of_estimate(_good(one), own["acceptable_share"], bound=bound, **common)
        if "linearity" in own and own["linearity"].estimate.value < 0.05:
            yield text("not_linear", p=own["linearity"].estimate.value, **common)
        if "limit_between_readers" in own:
            yield text.of_estimate("between", own["limit_between_readers"], **common)
        if "icc" in own:
            yield text.of_estimate("icc", own["icc"], **common)
        elif "krippendorff_alpha" in own:
            yield text.of_estimate("alpha", own["krippendorff_alpha"], **common)


def _whose(one: MeasuredValues, own: dict[str, Result]) -> Message | str:
    place = next(iter(own.values())).place
    if place.candidate:
        return place.candidate
    if place.arm:
        return text("readers_in", arm=place.arm)
    return text("readers") if one.values.readers else text("device")


def label(r: Result) -> Message:
    """The quantity of a row, and what it is of: a condition, two of them, or a period and its baseline."""
    name = quantity_name(r.name)
    if r.place.reference:
        return text("label_since", measure=name, reference=r.place.reference)
    if pair := r.place.arms or r.place.candidates:
        key = "label_ratio" if r.name == "count_ratio" else "label_pair"
        return text(key, measure=name, compared=pair[0], baseline=pair[1])
    where = r.place.arm or r.place.candidate
    return text("label_in", measure=name, where=where) if where else text("label", measure=name)


def _by(one: MeasuredValues, number: int, what: str, *, changes: bool = False) -> Iterator[Item]:
    """For each quantity a row for each reader, site or group, a column for each condition or pair of them."""

    def condition(r: Result) -> Any:
        """What heads the column of a result."""
        pair = r.place.arms or r.place.candidates
        return pair if changes else r.place.arm or r.place.candidate

    found = [
        r
        for r in one.results
        if getattr(r.place, what) is not None and r.name not in LIMITS and "against" not in r.parameters
        if what != "reader" or r.name not in OF_EACH_READER
        if bool(r.place.arms or r.place.candidates) == changes
    ]
    id = f"{_id(one)}_by_{what}" + ("_change" if changes else "")
    for quantity in dict.fromkeys(r.name for r in found):
        own = [r for r in found if r.name == quantity]
        where = list(dict.fromkeys(map(condition, own)))
        cells = {(getattr(r.place, what), condition(r)): r.estimate for r in own}
        form = form_of(own[0].quantity)
        heads = [_head(c, form) for c in where]
        names = dict.fromkeys(getattr(r.place, what) for r in own)
        rows = [(name, *(cells.get((name, c)) for c in where)) for name in names]
        caption = text(
            f"table_{what}", level=one.level, measurement=in_unit(one), measure=quantity_name(quantity)
        )
        yield text.table(f"{id}_{quantity}_{number}", caption, [HEADS.get(what, what), *heads], rows)


def _readers_and_reference(one: MeasuredValues, number: int) -> Iterator[Item]:
    """What each reader's values have in common with the reference: a row each, and for each condition."""
    found = [r for r in one.results if r.place.reader and r.name in OF_EACH_READER]
    shown = [
        name for name in OF_EACH_READER if OF_EACH_READER[name] and any(r.name == name for r in found)
    ]
    if not shown:
        return
    cells = {(r.place.reader, r.place.arm or r.place.candidate, r.name): r.estimate for r in found}
    rows = [
        (reader, where, *(as_cell(cells.get((reader, where, name))) for name in shown))
        for reader, where in dict.fromkeys((r.place.reader, r.place.arm or r.place.candidate) for r in found)
    ]
    heads = [Column(text("label", measure=quantity_name(name)), OF_EACH_READER[name]) for name in shown]
    caption = text("table_readers", level=one.level, measurement=in_unit(one))
    yield text.table(f"{_id(one)}_by_reader_{number}", caption, ["reader", ".condition?", *heads], rows)


def _head(condition: Any, form: str) -> Column:
    if isinstance(condition, tuple):
        return text.column("pair", form, compared=condition[0], baseline=condition[1])
    return text.column("of", form, where=condition) if condition else text.column("estimate", form)


def _figures(one: MeasuredValues, number: int) -> Iterator[Item]:
    reference = one.values.reference
    if reference is None or one.facts.kind != "number":
        return
    panels = []
    for c, condition in enumerate(one.values.conditions):
        y = one.values.value[c]
        reader, case = np.nonzero(~np.isnan(y) & ~np.isnan(reference))
        if not len(case):
            continue
        step = max(1, -(-len(case) // MOST_POINTS))
        points = tuple(zip(reference[case[::step]].tolist(), y[reader, case][::step].tolist()))
        own = {r.name: r.estimate for r in one.results if r.place == one.place_of(c)}
        lines = tuple(own[name] for name in ("bias", *LIMITS) if name in own)
        panels.append(AgreementPanel(condition, points, lines))
    if not panels:
        return
    unit, n = one.facts.unit or "", sum(len(p.points) for p in panels)
    said: dict[str, Any] = {"measurement": named(one), "n": n}
    key = "difference" if any(len(p.lines) > 1 for p in panels) else "difference_of_means"
    yield text.figure(f"{_id(one)}_difference_{number}", DifferencePlot(tuple(panels), unit), key, **said)
    yield text.figure(f"{_id(one)}_identity_{number}", IdentityPlot(tuple(panels), unit), "identity", **said)
