"""Localisation: sentences, tables and the FROC figure of one data set or task."""

from collections.abc import Iterator, Sequence
from math import isnan

import numpy as np

from trustreport.assessment.dimensions.localisation.results import ID, OF_READERS, READERS_ID
from trustreport.assessment.finding import Column, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, endpoint_name, numbers, quantity_name, side_of
from trustreport.assessment.performance.lesions import MarkedCases, rates_of
from trustreport.figures.curves import MOST_POINTS, Points, thinned
from trustreport.figures.mean_curves import AIR, FrocArm, FrocFigure, FrocLine
from trustreport.measures.lesions.froc import FrocCurve, froc_curve
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

FEWER_POINTS = 120
STEPS = 201  # of the mean curve of readers

text = Texts(ID)


def froc_figures(one: MarkedCases, results: Sequence[Result], plan: Plan, number: int) -> Iterator[Figure]:
    """Curves of all candidates, or of the readers in each arm; nothing without a lesion."""
    if not one.with_lesion:
        return
    shown = [[froc_curve(one.marked(a, j)) for j in range(len(one.makers))] for a in range(len(one.arms))]
    last = max(float(c.false_marks[-1]) for arm in shown for c in arm)
    rates = rates_of(plan)
    # Beyond the highest rate of interest a curve is cut; where fewer false marks were made it ends before.
    most = AIR * (min(last, max(rates)) or rates[0])
    readers = _arms(one, shown, results, plan, most) if one.by_readers else ()
    lines = () if one.by_readers else _lines(one, shown[0], results, most)
    names = list(one.makers) if len(one.makers) > 1 else []
    yield text.figure(
        f"reader_froc_{number}" if one.by_readers else f"froc_{number}",
        FrocFigure(lines, readers, most),
        "readers" if one.by_readers else "candidates",
        n=len(one.makers),
        names=names,
        name=one.of.name,
        arms=list(one.arms),
    )


def _lines(
    one: MarkedCases, shown: Sequence[FrocCurve], results: Sequence[Result], most: float
) -> tuple[FrocLine, ...]:
    points = MOST_POINTS if len(shown) == 1 else FEWER_POINTS
    made = []
    for j, curve in enumerate(shown):
        own = [r for r in results if r.place == one.place_of(j)]
        area = next(r.estimate for r in own if r.name == "wafroc_auc")
        at = [
            (float(r.parameters["false_marks_per_case"]), r.estimate)
            for r in own
            if r.name == "froc_sensitivity"
        ]
        label = one.makers[j] if len(shown) > 1 else one.place.data_name
        drawn = tuple((x, e) for x, e in at if x <= most)
        made.append(FrocLine(label, _cut(curve, most, points), area, drawn))
    return tuple(made)


def _cut(curve: FrocCurve, most: float, points: int) -> Points:
    """The curve up to `most` false marks a case, flat from its last point on."""
    x, y = curve.false_marks, curve.sensitivity
    inside = x <= most
    ends = np.append(x[inside], most), np.append(y[inside], curve.sensitivity_at(most))
    return thinned(*ends, points)


def _arms(
    one: MarkedCases, shown: Sequence[Sequence[FrocCurve]], results: Sequence[Result], plan: Plan, most: float
) -> tuple[FrocArm, ...]:
    aided = {arm for arm, _ in plan.contrasts}
    grid = np.linspace(0, most, STEPS)
    made = []
    for a, arm in enumerate(one.arms):
        wanted = {"arm": arm, "endpoint": "wafroc_auc"}
        area = next(
            r.estimate
            for r in results
            if r.id == f"{READERS_ID}.arm_mean" and r.primary and r.within(**wanted)
        )
        readers = tuple(
            (reader, _cut(curve, most, FEWER_POINTS)) for reader, curve in zip(one.makers, shown[a])
        )
        mean = np.mean([[curve.sensitivity_at(x) for x in grid] for curve in shown[a]], axis=0)
        made.append(FrocArm(arm, arm in aided, readers, thinned(grid, mean), area))
    return tuple(sorted(made, key=lambda one: one.aided))


LEAD = "wafroc_auc"


def candidate_part(one: MarkedCases, results: list[Result], plan: Plan, number: int) -> Part:
    """Candidates on a data set: what was marked, the areas, the curve."""
    return text.part(_of_candidates(one, results, plan, number), _title(one), one.place)


def _of_candidates(one: MarkedCases, results: list[Result], plan: Plan, number: int) -> Iterator[Item]:
    yield _counts(one)
    yield from _of_candidate(one, results, 0) if len(one.makers) == 1 else _of_several(one, results)
    yield from _of_differences(results)
    for maker in range(len(one.makers)):
        yield _table(one, results, maker, number)
    compared = [r for r in results if r.place.candidates]
    if compared:
        caption, lead = text("table_differences", name=one.of.name), f"{LEAD}_difference"
        id = f"localisation_pairs_{number}"
        yield text.estimates(id, caption, compared, _pair_label, lambda r: r.name == lead)
    yield from froc_figures(one, results, plan, number)


def reader_part(one: MarkedCases, results: list[Result], plan: Plan, number: int) -> Part:
    """Readers of a task: the change of each measure, each reader, the curves."""
    return text.part(_of_readers(one, results, plan, number), _title(one), one.place)


def _of_readers(one: MarkedCases, results: list[Result], plan: Plan, number: int) -> Iterator[Item]:
    yield _counts(one)
    yield from _of_changes(one, results)
    means = [f"{READERS_ID}.arm_mean", f"{READERS_ID}.arm_difference"]
    yield text.estimates(
        f"reader_localisation_{number}",
        text("table_readers", n=len(one.makers)),
        [r for name in OF_READERS for r in results if r.primary and r.id in means and r.endpoint == name],
        _reader_label,
        lambda r: r.endpoint == LEAD and bool(r.place.arms),
    )
    yield _each_reader(one, results, number)
    yield from froc_figures(one, results, plan, number)


def _title(one: MarkedCases) -> Message | None:
    return text("title_of", name=one.of.name) if one.of.name else None


def _counts(one: MarkedCases) -> Message:
    """How many cases, with how many lesions."""
    lesions = int(one.known[one.of.lesion_case].sum())
    values = {"n": one.n_cases, "with_lesion": one.with_lesion, "lesions": lesions}
    return text("counts", **values, matched=_matched(one))


def _matched(one: MarkedCases) -> Message:
    if one.of.radius is None:
        return text("matched.declared")
    return text("matched.radius", radius=one.of.radius)


def _of_candidate(one: MarkedCases, results: Sequence[Result], maker: int) -> Iterator[Message]:
    place = one.place_of(maker)
    own = {r.name: r for r in results if r.place == place and r.name != "froc_sensitivity"}
    name = place.data_name
    area = own[LEAD].estimate
    if isnan(area.value):
        yield text("no_area", name=name, reason=area.note)
    elif isnan(area.low):
        yield text("area_no_interval", name=name, value=area.value, reason=area.note)
    else:
        yield text("area", area, name=name)
    found, false = own["lesion_sensitivity"].estimate, own["false_marks_per_case"].estimate
    if not isnan(found.low) and not isnan(false.low):
        yield text("all_marks", found, n=found.n, false=false.value)
    mean = own["froc_mean_sensitivity"].estimate
    if not isnan(mean.low):
        rates = [
            float(r.parameters["false_marks_per_case"])
            for r in results
            if r.place == place and r.name == "froc_sensitivity"
        ]
        yield text("mean", mean, low_rate=f"{min(rates):g}", high_rate=f"{max(rates):g}")


def _of_several(one: MarkedCases, results: Sequence[Result]) -> Iterator[Message]:
    """The areas of all candidates in one sentence, or why there are none."""
    areas = [r for r in results if r.name == LEAD]
    if all(isnan(r.estimate.low) for r in areas):
        yield text("no_area", name=one.of.name, reason=areas[0].estimate.note)
        return
    items = [text("area_of", r, name=r.place.candidate) for r in areas if not isnan(r.estimate.low)]
    yield text("areas", items=items)


def _of_differences(results: Sequence[Result]) -> Iterator[Message]:
    for r in results:
        if r.name != f"{LEAD}_difference" or isnan(r.estimate.low):
            continue
        compared, baseline = r.place.candidates or ("", "")
        way = side_of(r.estimate, 0, "higher", "lower")
        yield text(f"pair_{way}", r, compared=compared, baseline=baseline)


def _pair_label(r: Result) -> Message:
    compared, baseline = r.place.candidates or ("", "")
    measure = quantity_name(r.name.removesuffix("_difference"))
    return text("pair", measure=measure, compared=compared, baseline=baseline)


def _label(r: Result) -> Message:
    if r.name == "froc_sensitivity":
        return text("at_rate", rate=f"{r.parameters['false_marks_per_case']:g}")
    return quantity_name(r.name)


def _table(one: MarkedCases, results: Sequence[Result], maker: int, number: int) -> EstimateTable:
    """Every measure of a candidate; the weighted area leads."""
    own = [r for r in results if r.place == one.place_of(maker)]
    several = f"_{maker + 1}" if len(one.makers) > 1 else ""
    caption = text("table", name=one.place_of(maker).data_name)
    return text.estimates(f"localisation_{number}{several}", caption, own, _label, lambda r: r.name == LEAD)


def _of_changes(one: MarkedCases, results: Sequence[Result]) -> Iterator[Message]:
    pairs = dict.fromkeys(r.place.arms for r in results if r.place.arms)
    for arms in pairs:
        for name in (LEAD, "lesion_sensitivity", "false_marks_per_case"):
            r = leading(results, f"{READERS_ID}.arm_difference", endpoint=name, arms=list(arms or ()))
            if r is None:
                continue
            e = r.estimate
            values = {"measure": endpoint_name(name), "n": len(one.makers)}
            if isnan(e.low):
                yield text("change.none", **values, reason=e.note)
                continue
            way = side_of(e, 0, "higher", "lower")
            unit = {"lesion_sensitivity": "points", "false_marks_per_case": "marks"}.get(name, "area")
            compared, baseline = arms or ("", "")
            said = {**values, **numbers(e), "compared": compared, "baseline": baseline}
            yield text(f"change.{unit}_{way}", **said)


def _reader_label(r: Result) -> Message:
    measure = endpoint_name(r.endpoint)
    if r.place.arms:
        compared, baseline = r.place.arms
        return text("pair", measure=measure, compared=compared, baseline=baseline)
    return say("word.pair", first=measure, second=say("word.name", name=r.place.arm))


def _each_reader(one: MarkedCases, results: Sequence[Result], number: int) -> PlainTable:
    """A row for each reader: the weighted area, lesions found and false marks in each arm."""
    names = (LEAD, "lesion_sensitivity", "false_marks_per_case")
    found = {
        (r.endpoint, r.place.reader, r.place.arm): r.estimate
        for r in results
        if r.id == f"{READERS_ID}.reader_estimate"
    }
    heads = [
        Column(say("word.pair", first=text(f"short_name.{name}"), second=say("word.name", name=arm)), form)
        for name, form in zip(names, ("number", "percent", "number"))
        for arm in one.arms
    ]
    return text.table(
        f"reader_localisation_each_{number}",
        text("table_each", level=next(iter(found.values())).level),
        ("reader", *heads),
        [
            (reader, *(found[name, reader, arm] for name in names for arm in one.arms))
            for reader in one.makers
        ],
    )
