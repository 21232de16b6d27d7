"""Localisation: sentences and tables of one data set or task."""

from collections.abc import Iterator, Sequence
from math import isnan

from trustreport.assessment.dimensions.localisation.plots import froc_figures
from trustreport.assessment.dimensions.localisation.results import ID, OF_READERS, READERS_ID
from trustreport.assessment.finding import Column, EstimateTable, Part, PlainTable
from trustreport.assessment.narrative.texts import Item, Texts, endpoint_name, numbers, quantity_name, side_of
from trustreport.assessment.performance.lesions import MarkedCases
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

LEAD = "wafroc_auc"

text = Texts(ID)


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
