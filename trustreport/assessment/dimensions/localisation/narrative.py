"""Localisation: sentences and tables of one data set or task."""

from collections.abc import Iterator, Sequence
from math import isnan

from trustreport.assessment.dimensions.localisation.entries import ID, OF_READERS, READERS_ID
from trustreport.assessment.dimensions.localisation.plots import froc_figure
from trustreport.assessment.finding import Column, EstimateRow, EstimateTable, Part, PlainTable
from trustreport.assessment.narrative.texts import endpoint_name, numbers, quantity_name, side_of
from trustreport.assessment.performance.lesions import MarkedCases
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.results import Result, leading

LEAD = "wafroc_auc"


def candidate_part(one: MarkedCases, results: list[Result], plan: Plan, number: int) -> Part:
    """Candidates on a data set: what was marked, the areas, the curve."""
    sentences = [_counts(one)]
    if len(one.makers) == 1:
        sentences += _of_candidate(one, results, 0)
    else:
        sentences += _of_several(one, results)
    sentences += _of_differences(results)
    tables = [_table(one, results, maker, number) for maker in range(len(one.makers))]
    compared = [r for r in results if r.place.candidates]
    if compared:
        rows = tuple(EstimateRow(_pair_label(r), r, r.name == f"{LEAD}_difference") for r in compared)
        caption = say(f"{ID}.table_differences", name=one.of.name)
        tables.append(EstimateTable(f"localisation_pairs_{number}", caption, rows))
    return _part(one, sentences, tables, results, plan, number)


def reader_part(one: MarkedCases, results: list[Result], plan: Plan, number: int) -> Part:
    """Readers of a task: the change of each measure, each reader, the curves."""
    sentences = [_counts(one), *_of_changes(one, results)]
    means = [
        r for r in results if r.primary and r.id in (f"{READERS_ID}.arm_mean", f"{READERS_ID}.arm_difference")
    ]
    rows = tuple(
        EstimateRow(_reader_label(r), r, r.endpoint == LEAD and bool(r.place.arms))
        for name in OF_READERS
        for r in means
        if r.endpoint == name
    )
    caption = say(f"{ID}.table_readers", n=len(one.makers))
    tables: list[EstimateTable | PlainTable] = [
        EstimateTable(f"reader_localisation_{number}", caption, rows),
        _each_reader(one, results, number),
    ]
    return _part(one, sentences, tables, results, plan, number)


def _part(
    one: MarkedCases,
    sentences: Sequence[Message],
    tables: Sequence[EstimateTable | PlainTable],
    results: Sequence[Result],
    plan: Plan,
    number: int,
) -> Part:
    figure = froc_figure(one, results, plan, number)
    title = say(f"{ID}.title_of", name=one.of.name) if one.of.name else None
    figures = (figure,) if figure else ()
    return Part(tuple(sentences), title=title, tables=tuple(tables), figures=figures, place=one.place)


def _counts(one: MarkedCases) -> Message:
    """How many cases, with how many lesions."""
    lesions = int(one.known[one.of.lesion_case].sum())
    values = {"n": one.n_cases, "with_lesion": one.with_lesion, "lesions": lesions}
    return say(f"{ID}.counts", **values, matched=_matched(one))


def _matched(one: MarkedCases) -> Message:
    if one.of.radius is None:
        return say(f"{ID}.matched.declared")
    return say(f"{ID}.matched.radius", radius=one.of.radius)


def _of_candidate(one: MarkedCases, results: Sequence[Result], maker: int) -> Iterator[Message]:
    place = one.place_of(maker)
    own = {r.name: r for r in results if r.place == place and r.name != "froc_sensitivity"}
    name = place.data_name
    area = own[LEAD].estimate
    if isnan(area.value):
        yield say(f"{ID}.no_area", name=name, reason=area.note)
    elif isnan(area.low):
        yield say(f"{ID}.area_no_interval", name=name, value=area.value, reason=area.note)
    else:
        yield say(f"{ID}.area", name=name, **numbers(area))
    found, false = own["lesion_sensitivity"].estimate, own["false_marks_per_case"].estimate
    if not isnan(found.low) and not isnan(false.low):
        yield say(f"{ID}.all_marks", **numbers(found), n=found.n, false=false.value)
    mean = own["froc_mean_sensitivity"].estimate
    if not isnan(mean.low):
        rates = [
            float(r.parameters["false_marks_per_case"])
            for r in results
            if r.place == place and r.name == "froc_sensitivity"
        ]
        yield say(f"{ID}.mean", **numbers(mean), low_rate=f"{min(rates):g}", high_rate=f"{max(rates):g}")


def _of_several(one: MarkedCases, results: Sequence[Result]) -> Iterator[Message]:
    """The areas of all candidates in one sentence, or why there are none."""
    areas = [r for r in results if r.name == LEAD]
    if all(isnan(r.estimate.low) for r in areas):
        yield say(f"{ID}.no_area", name=one.of.name, reason=areas[0].estimate.note)
        return
    items = [
        say(f"{ID}.area_of", name=r.place.candidate, **numbers(r.estimate))
        for r in areas
        if not isnan(r.estimate.low)
    ]
    yield say(f"{ID}.areas", items=items)


def _of_differences(results: Sequence[Result]) -> Iterator[Message]:
    for r in results:
        if r.name != f"{LEAD}_difference" or isnan(r.estimate.low):
            continue
        compared, baseline = r.place.candidates or ("", "")
        way = side_of(r.estimate, 0, "higher", "lower")
        yield say(f"{ID}.pair_{way}", compared=compared, baseline=baseline, **numbers(r.estimate))


def _pair_label(r: Result) -> Message:
    compared, baseline = r.place.candidates or ("", "")
    measure = quantity_name(r.name.removesuffix("_difference"))
    return say(f"{ID}.pair", measure=measure, compared=compared, baseline=baseline)


def _label(r: Result) -> Message:
    if r.name == "froc_sensitivity":
        return say(f"{ID}.at_rate", rate=f"{r.parameters['false_marks_per_case']:g}")
    return quantity_name(r.name)


def _table(one: MarkedCases, results: Sequence[Result], maker: int, number: int) -> EstimateTable:
    """Every measure of a candidate; the weighted area leads."""
    own = [r for r in results if r.place == one.place_of(maker)]
    rows = tuple(EstimateRow(_label(r), r, r.name == LEAD) for r in own)
    several = f"_{maker + 1}" if len(one.makers) > 1 else ""
    caption = say(f"{ID}.table", name=one.place_of(maker).data_name)
    return EstimateTable(f"localisation_{number}{several}", caption, rows)


# ---------------------------------------------------------------- readers


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
                yield say(f"{ID}.change.none", **values, reason=e.note)
                continue
            way = side_of(e, 0, "higher", "lower")
            unit = {"lesion_sensitivity": "points", "false_marks_per_case": "marks"}.get(name, "area")
            compared, baseline = arms or ("", "")
            said = {**values, **numbers(e), "compared": compared, "baseline": baseline}
            yield say(f"{ID}.change.{unit}_{way}", **said)


def _reader_label(r: Result) -> Message:
    measure = endpoint_name(r.endpoint)
    if r.place.arms:
        compared, baseline = r.place.arms
        return say(f"{ID}.pair", measure=measure, compared=compared, baseline=baseline)
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
        Column(
            say("word.pair", first=say(f"{ID}.short_name.{name}"), second=say("word.name", name=arm)), form
        )
        for name, form in zip(names, ("number", "percent", "number"))
        for arm in one.arms
    ]
    rows = tuple(
        (reader, *(found[name, reader, arm] for name in names for arm in one.arms)) for reader in one.makers
    )
    level = next(iter(found.values())).level
    columns = (Column(say(f"{ID}.reader")), *heads)
    return PlainTable(
        f"reader_localisation_each_{number}", say(f"{ID}.table_each", level=level), columns, rows
    )
