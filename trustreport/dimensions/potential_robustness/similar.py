"""How alike a set is to the training set: tests of one source, and sizes that do not grow with the cases."""

from collections.abc import Callable
from dataclasses import replace
from math import isnan
from typing import Any

from trustreport.dimensions.potential_robustness.pairs import ID, Pair
from trustreport.estimate import Estimate, undefined
from trustreport.measures.similarity.correspondence import correspondence
from trustreport.measures.similarity.distances import distances
from trustreport.measures.similarity.effect import domain_classifier, normalised_energy
from trustreport.measures.similarity.fixed_size import at_fixed_size
from trustreport.measures.similarity.mmd import mmd
from trustreport.plan import Plan
from trustreport.results import Result, Unit, answers
from trustreport.seeds import DEFAULT, generator

LEAST_PERMUTATIONS = 19
MMD_PERMUTATIONS = 999
FIXED_SIZE, FIXED_REPEATS, FIXED_PERMUTATIONS = 100, 50, 199
TOO_FEW_PERMUTATIONS = "fewer than 19 permutations are declared: no p-value could reach .05"
# Upper end of each band of similarity, as the external performance diagram names them.
BANDS = ((0.2, "low"), (0.4, "slight"), (0.6, "moderate"), (0.8, "significant"), (1.01, "fundamental"))


def band(similarity: float) -> str:
    """What a degree of correspondence is called."""
    return next(name for end, name in BANDS if similarity < end)


def similarity_results(pair: Pair, plan: Plan) -> list[Result]:
    """Degree of correspondence, energy distance and MMD with their p-values, and effect sizes."""
    declared, scope = plan.similarity, {"dataset": pair.dataset.name}
    permutations = declared.permutations
    why = pair.why or (TOO_FEW_PERMUTATIONS if permutations < LEAST_PERMUTATIONS else "")
    chosen = {
        "permutations": permutations,
        "seed": DEFAULT if declared.seed is None else declared.seed,
        "standardise": declared.standardise,
    }
    here: dict[str, Any] = {**scope, "parameters": chosen}
    if why or pair.features is None:
        n, level = len(pair.dataset.cases), plan.report.confidence_level
        none = undefined(n, why, level=level, method="permutation")
        effect = undefined(n, why, level=level, method="influence")
        return [
            Result(f"{ID}.degree_of_correspondence", here, none, "p", True),
            Result(f"{ID}.energy_distance", here, none, "score", True),
            Result(f"{ID}.mmd", here, none, "score", True),
            Result(f"{ID}.similarity_effect", scope, effect, "score", True),
        ]
    return _compared(pair, plan, here)


def _compared(pair: Pair, plan: Plan, here: dict[str, Any]) -> list[Result]:
    both, level = pair.features, plan.report.confidence_level
    assert both is not None
    permutations = here["parameters"]["permutations"]

    def drawn(what: str) -> Any:
        return generator(plan.similarity.seed, ID, what, pair.dataset.name)

    between = distances(both.pooled)
    found = correspondence(both, drawn("correspondence"), permutations=permutations, between=between)
    fewer = min(permutations, MMD_PERMUTATIONS)
    kernel = mmd(both, drawn("mmd"), permutations=fewer)
    results: list[Result] = []

    def add(name: str, scope: dict[str, Any], *estimates: Estimate, unit: Unit) -> None:
        mended = [replace(e, level=level, details={**pair.details, **e.details}) for e in estimates]
        results.extend(answers(f"{ID}.{name}", scope, mended, leads=mended[0].method, unit=unit))

    add("degree_of_correspondence", here, found.degree_of_correspondence, unit="p")
    add("energy_distance", here, found.energy_distance, unit="score")
    add("mmd", _with(here, permutations=fewer), kernel, unit="score")
    sizes: list[Callable[[], Estimate]] = [
        lambda: normalised_energy(both, level=level, between=between),
        lambda: domain_classifier(both, drawn("domain_classifier"), level=level),
        lambda: found.standardised_statistic,
    ]
    add("similarity_effect", {"dataset": pair.dataset.name}, *(size() for size in sizes), unit="score")
    size = plan.similarity.subsample or FIXED_SIZE
    if size >= 4:
        fixed = at_fixed_size(
            both,
            drawn("fixed_size"),
            size=size,
            repeats=FIXED_REPEATS,
            permutations=FIXED_PERMUTATIONS,
        )
        one, energy = fixed.degree_of_correspondence, fixed.energy_distance
        known = {} if isnan(energy.p) else {"energy_p": energy.p}
        add(
            "degree_of_correspondence",
            _with(here, permutations=FIXED_PERMUTATIONS, subsample=size),
            replace(one, details={**one.details, **known}),
            unit="p",
        )
    return results


def _with(here: dict[str, Any], **chosen: Any) -> dict[str, Any]:
    return {**here, "parameters": {**here["parameters"], **chosen}}
