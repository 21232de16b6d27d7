"""Published tables of several studies pooled: every number of a pool."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from typing import Any

from trustreport.assessment.dimensions.reported.figures_in_print import ID
from trustreport.assessment.performance.decision_table import counted_as_wrong
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
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

ENOUGH = 5  # right and wrong decisions of a class in a study, from which on its logit is taken as normal
TYPICAL, NEW = "typical study", "new study"


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
        said = replace(e, note=e.note + left_out)
        place = pool.place.at(population=population or None)
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
    yield _of(pool, "summary", of)
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
    return _of(pool, "new_study", of)


def _spreads(pool: PooledSets, of: str) -> Iterator[Estimate]:
    """The variance between studies on the logit scale; that of the counts first where their mean leads."""
    spread = pool.by_counts[of].tau2 if of in pool.by_counts else None
    if spread is not None and not isnan(spread.value):
        said = {NO_SPREAD_FOUND: pooling.NO_SPREAD, NO_UPPER_LIMIT: pooling.NO_UPPER_LIMIT}
        yield replace(spread, note=sum((said.get(one, one) for one in spread.note), NO_NOTE))
    yield _of(pool, "spread", of)


def _of(pool: PooledSets, what: str, of: str) -> Estimate:
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
