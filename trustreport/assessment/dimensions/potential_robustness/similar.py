"""How alike a set is to the training set: tests of one source, and sizes that do not grow with the cases."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from trustreport.assessment.performance.features import ID, Pair
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.seeds import DEFAULT, generator
from trustreport.measures.similarity.correspondence import correspondence, mmd
from trustreport.measures.similarity.effect import at_fixed_size, domain_classifier, normalised_energy
from trustreport.measures.similarity.features import HELD, Features, Run, distances, one_by_one
from trustreport.study.plan import Plan, Similarity
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

LEAST_PERMUTATIONS = 19
MMD_PERMUTATIONS = 999
FIXED_SIZE, FIXED_REPEATS, FIXED_PERMUTATIONS = 100, 50, 199
TOO_FEW_PERMUTATIONS = note("fewer_than_19_permutations_declared_no")
# Upper end of each band of similarity, as the external performance diagram names them.
BANDS = ((0.2, "low"), (0.4, "slight"), (0.6, "moderate"), (0.8, "significant"), (1.01, "fundamental"))


def band(similarity: float) -> str:
    """What a degree of correspondence is called."""
    return next(name for end, name in BANDS if similarity < end)


def similarity_results(pairs: Sequence[Pair], plan: Plan, run: Run) -> list[Result]:
    """Degree of correspondence, energy distance and MMD with their p-values, and effect sizes; set by set.

    Small sets are shared out as wholes; of a large one, `run` shares out the blocks.
    """
    level = plan.report.confidence_level
    tasks = [
        (pair.features, pair.dataset.name, pair.details, plan.similarity, level)
        for pair in pairs
        if pair.features is not None and not _undecidable(pair, plan.similarity)
    ]
    small = [task for task in tasks if len(task[0].pooled) ** 2 <= HELD]
    done = dict(zip([task[1] for task in small], run(compared, small))) if len(small) > 1 else {}
    for task in tasks:
        if task[1] not in done:
            done[task[1]] = compared(*task, run=run)
    return [r for pair in pairs for r in done.get(pair.dataset.name) or _undefined(pair, plan)]


def _undecidable(pair: Pair, declared: Similarity) -> Note:
    return pair.why or (TOO_FEW_PERMUTATIONS if declared.permutations < LEAST_PERMUTATIONS else NO_NOTE)


def _chosen(declared: Similarity, **more: Any) -> dict[str, Any]:
    return {
        "permutations": declared.permutations,
        "seed": DEFAULT if declared.seed is None else declared.seed,
        "standardise": declared.standardise,
        "metric": declared.metric,
        **more,
    }


def _undefined(pair: Pair, plan: Plan) -> list[Result]:
    why, n, level = _undecidable(pair, plan.similarity), len(pair.dataset.cases), plan.report.confidence_level
    place, chosen = Place(dataset=pair.dataset.name), _chosen(plan.similarity)
    none = undefined(n, why, level=level, method="permutation")
    effect = undefined(n, why, level=level, method="influence")
    results = [
        Result(f"{ID}.{name}", place, none, parameters=chosen, primary=True)
        for name in ("degree_of_correspondence", "energy_distance", "mmd")
    ]
    return [*results, Result(f"{ID}.similarity_effect", place, effect, primary=True)]


def compared(
    both: Features,
    name: str,
    known: Mapping[str, float],
    declared: Similarity,
    level: float,
    run: Run = one_by_one,
) -> list[Result]:
    """Everything on how alike one set is, from its features beside those of the training set."""
    place, metric = Place(dataset=name), declared.metric

    def drawn(what: str) -> Any:
        """The random numbers of one purpose, apart from those of the others."""
        return generator(declared.seed, ID, what, name)

    between = distances(both.pooled, metric=metric)
    found = correspondence(
        both, drawn("correspondence"), permutations=declared.permutations, between=between, run=run
    )
    fewer = min(declared.permutations, MMD_PERMUTATIONS)
    kernel = mmd(both, drawn("mmd"), permutations=fewer, run=run)
    results: list[Result] = []

    def add(name: str, chosen: dict[str, Any], *estimates: Estimate) -> None:
        """Append results of one quantity; the first is primary."""
        for i, e in enumerate(estimates):
            of_level = replace(e, level=level, details={**known, **e.details})
            results.append(Result(f"{ID}.{name}", place, of_level, parameters=chosen, primary=i == 0))

    add("degree_of_correspondence", _chosen(declared), found.degree_of_correspondence)
    add("energy_distance", _chosen(declared), found.energy_distance)
    add("mmd", _chosen(declared, permutations=fewer, metric="gaussian kernel"), kernel)
    sizes: list[Callable[[], Estimate]] = [
        lambda: normalised_energy(both, level=level, between=between),
        lambda: domain_classifier(both, drawn("domain_classifier"), level=level),
        lambda: found.standardised_statistic,
    ]
    add("similarity_effect", {}, *(size() for size in sizes))
    size = declared.subsample or FIXED_SIZE
    if size >= 4:
        fixed = at_fixed_size(
            both,
            drawn("fixed_size"),
            size=size,
            repeats=FIXED_REPEATS,
            permutations=FIXED_PERMUTATIONS,
            metric=metric,
        )
        one, energy = fixed.degree_of_correspondence, fixed.energy_distance
        also = {} if isnan(energy.p) else {"energy_p": energy.p}
        cut = _chosen(declared, permutations=FIXED_PERMUTATIONS, subsample=size)
        add("degree_of_correspondence", cut, replace(one, details={**one.details, **also}))
    return results
