"""Published tables of several studies pooled: every number of a pool, and what is said of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.reported.results import ID
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.texts import Item, Texts, heading, numbers, quantity_name
from trustreport.assessment.performance.decision_table import counted_as_wrong
from trustreport.figures.curves import Points
from trustreport.figures.mean_curves import StudyPoint, SummaryRoc
from trustreport.figures.sites import Forest, ForestColumn
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.proportion import wilson
from trustreport.measures.sites import pooling
from trustreport.measures.sites.binomial_normal import NO_UPPER_LIMIT, binomial_normal
from trustreport.measures.sites.heterogeneity import NO_SPREAD_FOUND, Heterogeneity
from trustreport.measures.sites.pooling import METHOD, OUTCOMES, PooledStudies, pooled
from trustreport.study.plan import Plan, StudyPool
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

ENOUGH = 5  # right and wrong decisions of a class in a study, from which on its logit is taken as normal
TYPICAL, NEW = "typical study", "new study"
MOST_OF_FOREST = 20
STEPS = 101  # of a curve
FEW = 10  # studies, below which the report says what few do to the model

text = Texts(f"{ID}.pooled")


@dataclass(frozen=True)
class PooledSets:
    """A pool of published tables, its model (or why there is none) and its numbers.

    `left_out` are studies without positive or without negative cases. `by_counts` has a model of the counts
    for sensitivity and for specificity, where a study has too few of either decision for logits: there the
    bivariate model pulls the mean towards one half and finds too little spread, and the counts lead.
    """

    name: str
    sets: tuple[str, ...]
    cells: tuple[ConfusionCounts, ...]
    left_out: tuple[str, ...]
    model: PooledStudies | Note
    level: float
    by_counts: Mapping[str, Heterogeneity] = field(default_factory=dict)
    results: tuple[Result, ...] = field(default=())

    @property
    def place(self) -> Place:
        """Where its numbers belong."""
        return Place(set=self.name, sets=(*self.sets, *self.left_out))

    @property
    def columns(self) -> list[list[int]]:
        """TP, FP, FN and TN, each with an entry a study."""
        return [[getattr(one, cell) for one in self.cells] for cell in ("tp", "fp", "fn", "tn")]

    def counts(self, of: str) -> Iterator[tuple[int, int]]:
        """Right decisions and cases of a class, study by study."""
        for one in self.cells:
            yield (one.tp, one.positives) if of == "sensitivity" else (one.tn, one.negatives)

    def of_studies(self, of: str) -> tuple[Estimate, ...]:
        """Each study with its own interval."""
        return tuple(wilson(right, n, self.level) for right, n in self.counts(of))

    def result(self, id: str, **scope: Any) -> Result:
        """The primary number of an id."""
        return next(r for r in self.results if r.name == id and r.primary and r.within(**scope))


def pools_of(study: Study, plan: Plan) -> list[PooledSets]:
    """Every declared pool with its numbers."""
    return [_pool(pool, study, plan) for pool in plan.pools]


def _pool(pool: StudyPool, study: Study, plan: Plan) -> PooledSets:
    chosen = [one for one in study.confusion if pool.sets is None or one.set in pool.sets]
    cells = {one.set: counted_as_wrong(one, plan) for one in chosen}
    kept = {name: one for name, one in cells.items() if one.positives and one.negatives}
    found = PooledSets(
        pool.pool,
        tuple(kept),
        tuple(kept.values()),
        tuple(name for name in cells if name not in kept),
        pooling.NO_STUDY,
        plan.report.confidence_level,
    )
    if kept:
        found = replace(found, model=pooled(*found.columns))
    if isinstance(found.model, PooledStudies):
        found = replace(found, by_counts=dict(_by_counts(found)))
    return replace(found, results=tuple(_results(found)))


def _by_counts(pool: PooledSets) -> Iterator[tuple[str, Heterogeneity]]:
    for of in OUTCOMES:
        counts = list(pool.counts(of))
        if any(min(right, n - right) < ENOUGH for right, n in counts):
            yield of, binomial_normal(*zip(*counts), level=pool.level)


def _results(pool: PooledSets) -> Iterator[Result]:
    left_out = (
        note("left_out_because_one_classes_has", names=", ".join(pool.left_out)) if pool.left_out else NO_NOTE
    )

    def made(id: str, e: Estimate, *, primary: bool = True, population: str = "", **more: Any) -> Result:
        """A result of the pool, with a note on studies that were left out."""
        said = replace(e, note=e.note + left_out)
        place = pool.place.narrowed(population=population or None)
        return Result(f"{ID}.{id}", place, said, primary=primary, **more)

    for of in OUTCOMES:
        for e in _means(pool, of):
            leads = "binomial_normal" if of in pool.by_counts else METHOD
            yield made(f"pooled_{of}", e, primary=e.method == leads, population=TYPICAL)
        yield made("prediction_interval", _new_study(pool, of), population=NEW, endpoint=of)
        for i, e in enumerate(_spreads(pool, of)):
            yield made("between_study_variance", e, primary=not i, endpoint=of)
    yield made("between_study_correlation", _correlation(pool))
    area = _none(pool) if isinstance(pool.model, Note) else pool.model.area(pool.level)
    yield made("summary_roc", area, details=dict(area.details))


def _means(pool: PooledSets, of: str) -> Iterator[Estimate]:
    """The mean, then what other analyses give."""
    yield _pooled_estimate(pool, "summary", of)
    model = pool.model
    if isinstance(model, Note):
        return
    yield model.as_published(of, pool.level)
    if model.corrected:  # the other way of taking zeros
        other = pooled(*pool.columns, zeros_only=True)
        assert isinstance(other, PooledStudies)
        yield replace(other.summary(of, pool.level), method=f"{METHOD}_zeros")
    if of in pool.by_counts:
        yield pool.by_counts[of].mean


def _new_study(pool: PooledSets, of: str) -> Estimate:
    if of in pool.by_counts and isinstance(pool.model, PooledStudies) and pool.model.together:
        return pool.by_counts[of].prediction_interval
    return _pooled_estimate(pool, "new_study", of)


def _spreads(pool: PooledSets, of: str) -> Iterator[Estimate]:
    """The variance between studies on the logit scale; that of the counts first where their mean leads."""
    spread = pool.by_counts[of].tau2 if of in pool.by_counts else None
    if spread is not None and not isnan(spread.value):
        said = {NO_SPREAD_FOUND: pooling.NO_SPREAD, NO_UPPER_LIMIT: pooling.NO_UPPER_LIMIT}
        yield replace(spread, note=sum((said.get(one, one) for one in spread.note), NO_NOTE))
    yield _pooled_estimate(pool, "spread", of)


def _pooled_estimate(pool: PooledSets, what: str, of: str) -> Estimate:
    if isinstance(pool.model, Note):
        return _none(pool)
    found: Estimate = getattr(pool.model, what)(of, pool.level)
    return found


def _none(pool: PooledSets) -> Estimate:
    assert isinstance(pool.model, Note)
    return undefined(len(pool.sets), pool.model, level=pool.level, method=METHOD)


def _correlation(pool: PooledSets) -> Estimate:
    """Of sensitivity and specificity; the model has false positive rates in place of specificities."""
    model = pool.model
    return _none(pool) if isinstance(model, Note) else model.correlation_between(pool.level)


def zeros(pools: Sequence[ConfusionCounts]) -> int:
    """Studies with an empty cell."""
    return sum(0 in (one.tp, one.fp, one.fn, one.tn) for one in pools)


def pooled_part(pool: PooledSets, number: int) -> Part:
    """One pool: the means, a new study, how far studies differ, what zero cells and few studies do."""
    tables = _tables(pool, number) if pool.sets else ()
    items = (*_sentences(pool), *tables, *_figures(pool, number))
    return text.part(items, say("reported.pool", name=pool.name), pool.place)


def _sentences(pool: PooledSets) -> Iterator[Message]:
    n, model = len(pool.sets), pool.model
    cases = {
        "positives": sum(c.positives for c in pool.cells),
        "negatives": sum(c.negatives for c in pool.cells),
    }
    if pool.left_out:
        yield text("left_out", n=len(pool.left_out), names=list(pool.left_out))
    if isinstance(model, Note):
        yield text("none", reason=model)
        return
    means = {of: pool.result(f"pooled_{of}").estimate for of in OUTCOMES}
    yield text("mean", n=n, **cases, **_both(means))
    if pool.by_counts:
        yield _sparse(pool, model)
    if n < FEW:
        yield text(f"{'few' if model.together else 'three'}", n=n, df=n - 1)
    news = {of: pool.result("prediction_interval", endpoint=of).estimate for of in OUTCOMES}
    if isfinite(news["sensitivity"].low):
        yield text("new", **_both(news))
    yield from (_spread(pool, of) for of in OUTCOMES)


def _both(estimates: dict[str, Estimate]) -> dict[str, float]:
    found = {f"{of[:4]}_{key}": x for of, e in estimates.items() for key, x in numbers(e).items()}
    return {**found, "level": found["sens_level"]}


def _spread(pool: PooledSets, of: str) -> Message:
    """Whether studies differ by more than chance; the limits are those of the variance."""
    e = pool.result("between_study_variance", endpoint=of).estimate
    key = "differ" if e.low > 0 else "not_shown"
    return text(key, e, of=quantity_name(of))


def _sparse(pool: PooledSets, model: PooledStudies) -> Message:
    """Why the mean is that of the counts, and what the bivariate model has, with its correction."""
    ways = {METHOD: "all", f"{METHOD}_zeros": "zeros"} if model.corrected else {METHOD: "none"}
    said = [
        text(f"way.{way}", **{of[:4]: _entry(pool, of, method) for of in OUTCOMES})
        for method, way in ways.items()
    ]
    names = [quantity_name(of) for of in pool.by_counts]
    return text("sparse", of=names, k=zeros(pool.cells), n=len(pool.sets), items=said)


def _entry(pool: PooledSets, of: str, method: str) -> float:
    return next(r.estimate.value for r in pool.results if r.name == f"pooled_{of}" and r.method == method)


def _tables(pool: PooledSets, number: int) -> Iterator[Item]:
    if not isinstance(pool.model, Note):
        yield text.estimates(f"pooled_{number}", text("table"), pool.results, _label)
    every = zip(pool.sets, pool.cells, *(pool.of_studies(of) for of in OUTCOMES))
    cells = ("tp", "fp", "fn", "tn")
    yield text.table(
        f"pooled_studies_{number}",
        text("table_studies"),
        (".study", *(f"{cell}:count" for cell in cells), "sensitivity:text specificity:text"),
        [
            (name, *(getattr(one, cell) for cell in cells), *(text("share", e) for e in shares))
            for name, one, *shares in every
        ],
    )


def _label(r: Result) -> Message:
    if r.place.population == TYPICAL or not r.endpoint:
        return heading(r.name)
    key = "row.new" if r.place.population == NEW else "row.variance"
    return text(key, of=quantity_name(r.endpoint))


def _figures(pool: PooledSets, number: int) -> Iterator[Figure]:
    n, model = len(pool.sets), pool.model
    if n < 2:
        return
    pooled = not isinstance(model, Note)
    columns = []
    for of in OUTCOMES:
        mean = pool.result(f"pooled_{of}").estimate
        new = pool.result("prediction_interval", endpoint=of).estimate
        shares: Any = {"least": 0.0, "most": 1.0, "scale": "percent"}
        columns.append(ForestColumn(heading(of), pool.of_studies(of), mean, new, **shares))
    for start in range(0, n, MOST_OF_FOREST):
        part = slice(start, start + MOST_OF_FOREST)
        cut = tuple(replace(c, sites=c.sites[part]) for c in columns)
        chart = Forest(pool.sets[part], cut, of="study")
        key = "forest" if pooled else "forest_alone"
        caption = text(f"figure.{key}", n=n)
        id = f"pooled_forest_{number}_{start // MOST_OF_FOREST + 1}"
        yield text.figure(id, chart, "forest", caption, n=len(chart.labels))
    if isinstance(model, PooledStudies):
        caption = text(f"figure.{_roc_caption(pool, model)}", n=n)
        yield text.figure(f"summary_roc_{number}", _summary_roc(pool, model), "roc", caption, n=n)


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
