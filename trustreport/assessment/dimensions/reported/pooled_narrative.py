"""Pooled studies in words, tables and figures."""

from collections.abc import Iterator
from math import isfinite, isnan

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.reported.pooled import NEW, TYPICAL, PooledSets, zeros
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Part, PlainTable
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import heading, numbers, quantity_name
from trustreport.figures.curves import Points
from trustreport.figures.mean_curves import StudyPoint, SummaryRoc
from trustreport.figures.sites import Forest, ForestColumn
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import Note
from trustreport.measures.sites.pooling import METHOD, OUTCOMES, PooledStudies
from trustreport.vocabulary.messages import Message, say

MOST_OF_FOREST = 20
STEPS = 101  # of a curve
FEW = 10  # studies, below which the report says what few do to the model


def pooled_part(pool: PooledSets, number: int) -> Part:
    """One pool: the means, a new study, how far studies differ, what zero cells and few studies do."""
    return Part(
        tuple(_sentences(pool)),
        title=say("reported.pool", name=pool.name),
        tables=(*_numbers(pool, number), _studies(pool, number)) if pool.sets else (),
        figures=tuple(_figures(pool, number)),
        place=pool.place,
    )


# ---------------------------------------------------------------- sentences


def _sentences(pool: PooledSets) -> Iterator[Message]:
    n, model = len(pool.sets), pool.model
    cases = {
        "positives": sum(c.positives for c in pool.cells),
        "negatives": sum(c.negatives for c in pool.cells),
    }
    if pool.left_out:
        yield say("reported.pooled.left_out", n=len(pool.left_out), names=list(pool.left_out))
    if isinstance(model, Note):
        yield say("reported.pooled.none", reason=model)
        return
    means = {of: pool.result(f"pooled_{of}").estimate for of in OUTCOMES}
    yield say("reported.pooled.mean", n=n, **cases, **_both(means))
    if pool.by_counts:
        yield _sparse(pool, model)
    if n < FEW:
        yield say(f"reported.pooled.{'few' if model.together else 'three'}", n=n, df=n - 1)
    news = {of: pool.result("prediction_interval", endpoint=of).estimate for of in OUTCOMES}
    if isfinite(news["sensitivity"].low):
        yield say("reported.pooled.new", **_both(news))
    yield from (_spread(pool, of) for of in OUTCOMES)


def _both(estimates: dict[str, Estimate]) -> dict[str, float]:
    found = {f"{of[:4]}_{key}": x for of, e in estimates.items() for key, x in numbers(e).items()}
    return {**found, "level": found["sens_level"]}


def _spread(pool: PooledSets, of: str) -> Message:
    """Whether studies differ by more than chance; the limits are those of the variance."""
    e = pool.result("between_study_variance", endpoint=of).estimate
    key = "differ" if e.low > 0 else "not_shown"
    return say(f"reported.pooled.{key}", of=quantity_name(of), **numbers(e))


def _sparse(pool: PooledSets, model: PooledStudies) -> Message:
    """Why the mean is that of the counts, and what the bivariate model has, with its correction."""
    ways = {METHOD: "all", f"{METHOD}_zeros": "zeros"} if model.corrected else {METHOD: "none"}
    said = [
        say(f"reported.pooled.way.{way}", **{of[:4]: _entry(pool, of, method) for of in OUTCOMES})
        for method, way in ways.items()
    ]
    names = [quantity_name(of) for of in pool.by_counts]
    return say("reported.pooled.sparse", of=names, k=zeros(pool.cells), n=len(pool.sets), items=said)


def _entry(pool: PooledSets, of: str, method: str) -> float:
    return next(r.estimate.value for r in pool.results if r.name == f"pooled_{of}" and r.method == method)


# ---------------------------------------------------------------- tables


def _numbers(pool: PooledSets, number: int) -> Iterator[EstimateTable]:
    if isinstance(pool.model, Note):
        return
    rows = []
    for r in pool.results:
        if r.place.population == TYPICAL:
            label = heading(r.name)
        elif r.place.population == NEW:
            label = say("reported.pooled.row.new", of=quantity_name(r.endpoint))
        elif r.endpoint:
            label = say("reported.pooled.row.variance", of=quantity_name(r.endpoint))
        else:
            label = heading(r.name)
        rows.append(EstimateRow(label, r, r.primary))
    yield EstimateTable(f"pooled_{number}", say("reported.pooled.table"), tuple(rows))


def _studies(pool: PooledSets, number: int) -> PlainTable:
    rows = zip(pool.sets, pool.cells, *(pool.of_studies(of) for of in OUTCOMES))
    return table(
        f"pooled_studies_{number}",
        say("reported.pooled.table_studies"),
        list(rows),
        [
            ("reported.column.study", 0),
            (heading("tp"), lambda row: row[1].tp, "count"),
            (heading("fp"), lambda row: row[1].fp, "count"),
            (heading("fn"), lambda row: row[1].fn, "count"),
            (heading("tn"), lambda row: row[1].tn, "count"),
            (heading("sensitivity"), lambda row: _share(row[2])),
            (heading("specificity"), lambda row: _share(row[3])),
        ],
    )


def _share(e: Estimate) -> Message:
    return say("reported.pooled.share", **numbers(e))


# ---------------------------------------------------------------- figures


def _figures(pool: PooledSets, number: int) -> Iterator[Figure]:
    n, model = len(pool.sets), pool.model
    if n < 2:
        return
    pooled = not isinstance(model, Note)
    columns = []
    for of in OUTCOMES:
        mean = pool.result(f"pooled_{of}").estimate
        new = pool.result("prediction_interval", endpoint=of).estimate
        columns.append(ForestColumn(heading(of), pool.of_studies(of), mean, new, least=0.0, most=1.0))
    for start in range(0, n, MOST_OF_FOREST):
        part = slice(start, start + MOST_OF_FOREST)
        cut = tuple(ForestColumn(c.label, c.sites[part], c.mean, c.new, least=0.0, most=1.0) for c in columns)
        chart = Forest(pool.sets[part], cut, of="study")
        key = "forest" if pooled else "forest_alone"
        yield Figure(
            f"pooled_forest_{number}_{start // MOST_OF_FOREST + 1}",
            chart,
            say(f"reported.pooled.figure.{key}", n=n),
            say("reported.pooled.figure.forest_alt", n=len(chart.labels)),
        )
    if isinstance(model, PooledStudies):
        yield Figure(
            f"summary_roc_{number}",
            _summary_roc(pool, model),
            say(f"reported.pooled.figure.{_roc_caption(pool, model)}", n=n),
            say("reported.pooled.figure.roc_alt", n=n),
        )


def _roc_caption(pool: PooledSets, model: PooledStudies) -> str:
    return "roc_three" if not model.together else "roc_by_counts" if pool.by_counts else "roc"


def _summary_roc(pool: PooledSets, model: PooledStudies) -> SummaryRoc:
    sensitivities, specificities = (pool.of_studies(of) for of in OUTCOMES)
    studies = tuple(
        StudyPoint(name, sensitivity, specificity, cells.n)
        for name, cells, sensitivity, specificity in zip(
            pool.sets, pool.cells, sensitivities, specificities, strict=True
        )
    )
    area = pool.result("summary_roc").estimate
    return SummaryRoc(
        studies,
        pool.result("pooled_sensitivity").estimate,
        pool.result("pooled_specificity").estimate,
        area,
        _curve(model, area),
        _points(model.region(level=pool.level)),
        _points(model.region(new_study=True, level=pool.level)),
    )


def _curve(model: PooledStudies, area: Estimate) -> Points:
    """The summary curve over the false positive rates that studies have."""
    if isnan(area.value):
        return ()
    across = np.linspace(area.details["fpr_low"], area.details["fpr_high"], STEPS)
    return _points(np.column_stack([across, model.curve(across)]))


def _points(pairs: NDArray[np.float64]) -> Points:
    return tuple((float(x), float(y)) for x, y in pairs)
