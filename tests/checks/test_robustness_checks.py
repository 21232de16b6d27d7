"""Each check of external validation: evidence that fires it, and evidence that does not."""

from collections.abc import Callable
from dataclasses import replace
from math import nan
from typing import Any

import numpy as np
import pytest

from tests.dimensions.test_potential_robustness import dataset, declared, drawn, validation
from trustreport.assessment.checks import CHECKS as REGISTER
from trustreport.assessment.checks import Evidence
from trustreport.assessment.checks.potential_robustness import CHECKS
from trustreport.assessment.dimensions import advice_accuracy, advice_value, potential_robustness
from trustreport.assessment.finding import CheckOutcome
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE, note
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

EN = catalogue("en")
SITES = Study(datasets=validation(2).datasets)
HERE = Place(dataset="site 0")
ROBUST, VALUE, ACCURACY = "potential_robustness", "advice_value", "advice_accuracy"


def outcomes(evidence: Evidence) -> list[CheckOutcome]:
    return [outcome for check in CHECKS for outcome in check.run(evidence)]


def fired(evidence: Evidence) -> dict[str, str]:
    return {o.check: EN(o.message) for o in outcomes(evidence) if o.status == "fired"}


def assessed(study: Study, given: Plan | None = None) -> Evidence:
    """What the three dimensions of external validation find."""
    given = given or declared()
    results: list[Result] = []
    for module in (advice_accuracy, advice_value, potential_robustness):
        assert module.DIMENSION.answer is not None
        results += module.DIMENSION.answer(study, given).results
    return Evidence(study, given, tuple(results))


def entry(id: str, e: Estimate, *, method: str = "", place: Place = HERE, **parameters: Any) -> Result:
    """A primary entry."""
    shown = Estimate(e.value, e.low, e.high, e.n, method=method, p=e.p, details=e.details)
    return Result(id, place, shown, parameters=parameters, primary=True)


def point(
    value: float, low: float = nan, high: float = nan, *, n: int = 150, p: float = nan, **d: float
) -> Estimate:
    return Estimate(value, low, high, n, p=p, details=d)


def evidence_of(*results: Result, given: Plan | None = None) -> Evidence:
    return Evidence(SITES, given or declared(), results)


def needed(n: int, have: int) -> Result:
    details = {"reached": have / n, "positives": have / 2, "negatives": have / 2}
    return entry(f"{ROBUST}.mss_auc", point(n, n=have, **details))


def alike(p: float, *, permutations: int = 9999, **also: Any) -> Result:
    details = {"monte_carlo_se": (p * (1 - p) / permutations) ** 0.5}
    one = point(p, p=p, **details)
    return entry(f"{ROBUST}.degree_of_correspondence", one, permutations=permutations, **also)


def energy(p: float) -> Result:
    return entry(f"{ROBUST}.energy_distance", point(5.0, p=p))


def classifier(area: float) -> Result:
    return entry(f"{ROBUST}.similarity_effect", point(area), method="domain_classifier")


def strong(score: float) -> Result:
    return entry(f"{ROBUST}.spr", point(score, p_performance=0.7, difference=0.02))


def weak(score: float, splits: int) -> Result:
    return entry(f"{ROBUST}.wpr", point(score, splits=float(splits)))


def over(id: str, metric: str, e: Estimate, population: str | None = None) -> Result:
    """A primary entry over the sites."""
    place = Place(population=population, datasets=("site 0", "site 1"))
    return Result(id, place, e, endpoint=metric, parameters={"metric": metric}, primary=True)


def correlation(k: int, r: float = 0.5) -> Result:
    shown = Estimate(
        r, nan, nan, k, note=note("correlation_needs_at_least_three_sites") if r != r else NO_NOTE
    )
    return over(f"{ROBUST}.similarity_performance_correlation", "auc", shown)


def area(value: float) -> Result:
    return entry(f"{ACCURACY}.auc", point(value, value - 0.05, value + 0.05, positives=60.0, negatives=90.0))


def slope(low: float, high: float) -> Result:
    return entry(f"{VALUE}.calibration_slope", point((low + high) / 2, low, high))


def benefit(value: float) -> Result:
    return entry(f"{ACCURACY}.net_benefit", point(value), place=HERE.narrowed(threshold=0.5))


def index(value: float, bins: int) -> Result:
    return entry(f"{VALUE}.gici", point(value), bins=bins, binning="equal_width")


def over_sites(
    pooled: tuple[float, float], new: tuple[float, float], *, metric: str = "auc", i2: float = 0.2
) -> tuple[Result, ...]:
    value = sum(pooled) / 2
    return (
        over(f"{ROBUST}.pooled_performance", metric, point(value, *pooled), "typical site"),
        over(f"{ROBUST}.prediction_interval", metric, point(value, *new), "new site"),
        over(f"{ROBUST}.heterogeneity", metric, point(i2)),
    )


STRICT = declared(endpoints=[{"endpoint": "a", "measure": "advice_accuracy.auc", "bound_or_margin": 0.6}])


@pytest.mark.parametrize(
    "check, fires, does_not",
    [
        ("P39", evidence_of(needed(400, 150)), evidence_of(needed(100, 150))),
        (
            "P40",
            evidence_of(alike(0.7), energy(0.4), classifier(0.5)),
            evidence_of(alike(0.5), energy(0.4), classifier(0.5)),
        ),
        (
            "P40",
            evidence_of(alike(0.99), energy(0.001), classifier(0.9)),
            evidence_of(alike(0.01), classifier(0.9)),
        ),
        (
            "P41",
            evidence_of(alike(0.01), alike(0.5, subsample=100)),
            evidence_of(alike(0.01), alike(0.02, subsample=100)),
        ),
        (
            "P41",
            evidence_of(alike(0.3), alike(0.4, subsample=50)),
            evidence_of(alike(0.5), alike(0.6, subsample=50)),
        ),
        ("P42", evidence_of(alike(0.02, permutations=99)), evidence_of(alike(0.02, permutations=999))),
        ("P42", evidence_of(alike(1 / 500, permutations=499)), evidence_of(alike(1 / 10_000))),
        ("P42", evidence_of(alike(0.403)), evidence_of(alike(0.43))),
        ("P43", evidence_of(strong(0.8), needed(400, 150)), evidence_of(strong(0.8), needed(100, 150))),
        ("P43", evidence_of(strong(0.1), weak(0.9, 5)), evidence_of(strong(0.1), weak(0.9, 50))),
        ("P44", evidence_of(correlation(4)), evidence_of(correlation(12))),
        ("P44", evidence_of(correlation(2, nan)), evidence_of(correlation(10))),
        ("P45", evidence_of(area(0.8), slope(0.3, 0.7)), evidence_of(area(0.8), slope(0.7, 1.2))),
        ("P45", evidence_of(area(0.8), slope(1.2, 1.9)), evidence_of(area(0.6), slope(1.2, 1.9))),
        ("P45", evidence_of(area(0.8), benefit(-0.1)), evidence_of(area(0.8), benefit(0.2))),
        ("P46", evidence_of(index(0.9, 5), index(0.8, 20)), evidence_of(index(0.9, 5), index(0.88, 20))),
        (
            "P47",
            evidence_of(*over_sites((0.75, 0.85), (0.6, 0.92))),
            evidence_of(*over_sites((0.75, 0.85), (0.72, 0.92))),
        ),
        (
            "P47",
            evidence_of(*over_sites((0.75, 0.85), (0.6, 0.92))),
            evidence_of(*over_sites((0.75, 0.85), (0.61, 0.92)), given=STRICT),
        ),
        (
            "P47",
            evidence_of(*over_sites((0.75, 0.85), (0.72, 0.92), i2=0.88)),
            evidence_of(*over_sites((0.75, 0.85), (0.72, 0.92), i2=0.7)),
        ),
        (
            "P47",
            evidence_of(*over_sites((0.75, 0.85), (0.5, 0.92), metric="specificity", i2=0.76)),
            evidence_of(*over_sites((0.75, 0.85), (0.5, 0.92), metric="specificity", i2=0.74)),
        ),
    ],
)
def test_a_check_fires_where_it_should_and_nowhere_else(
    check: str, fires: Evidence, does_not: Evidence
) -> None:
    assert check in fired(fires)
    assert check not in fired(does_not)
    assert check in {o.check for o in outcomes(does_not) if o.status == "clear"}


@pytest.mark.parametrize(
    "name, value, evidence, check",
    [
        ("P40_similarity", 0.8, evidence_of(alike(0.7), classifier(0.5)), "P40"),
        ("P40_similarity", 0.1, evidence_of(alike(0.3), classifier(0.5)), "P40"),
        ("P43_score", 0.95, evidence_of(strong(0.8), needed(400, 150)), "P43"),
        ("P44_sets", 3, evidence_of(correlation(4)), "P44"),
        ("P45_auc", 0.9, evidence_of(area(0.8), slope(0.3, 0.7)), "P45"),
        ("P46_range", 0.2, evidence_of(index(0.9, 5), index(0.8, 20)), "P46"),
        ("P47_auc", 0.5, evidence_of(*over_sites((0.75, 0.85), (0.6, 0.92))), "P47"),
        ("P47_i2", 0.1, evidence_of(*over_sites((0.75, 0.85), (0.72, 0.92))), "P47"),
    ],
)
def test_a_declared_limit_takes_the_place_of_the_customary_one(
    name: str, value: float, evidence: Evidence, check: str
) -> None:
    moved = Evidence(evidence.study, declared(limits={name: value}), evidence.results)
    assert (check in fired(moved)) != (check in fired(evidence))


def test_what_the_checks_say() -> None:
    said = fired(evidence_of(needed(400, 150)))["P39"]
    assert said == (
        "75 positives and 75 negatives: fewer cases than needed for the AUC (400); these measures are "
        "imprecise."
    )
    goal = {"endpoint": "ranks", "measure": "advice_accuracy.auc", "bound_or_margin": 0.8}
    judged = fired(evidence_of(needed(400, 150), given=declared(endpoints=[goal])))["P39"]
    assert judged == f"{said} Inconclusive verdicts on them are withheld."
    assert "Good performance here says little" in fired(evidence_of(alike(0.7), classifier(0.5)))["P40"]
    assert (
        "suggests similarity to the training data, but a classifier separates the sets"
        in fired(evidence_of(alike(0.99), energy(0.001), classifier(0.9)))["P40"]
    )
    both = fired(evidence_of(strong(0.8), weak(0.9, 5), needed(400, 150)))["P43"]
    assert "p = 0.70) does not show equal performance" in both
    assert both.endswith("the lowest of 5 splits; it decreases with the number of splits.")
    assert "treating all" not in fired(evidence_of(area(0.8), slope(0.3, 0.7)))["P45"]
    assert "no higher than that of treating nobody (0)" in fired(evidence_of(area(0.8), benefit(-0.1)))["P45"]
    women = replace(area(0.8), place=HERE.narrowed(subgroup="sex: female"))
    one_each = [o for o in outcomes(evidence_of(area(0.8), women, slope(0.3, 0.7))) if o.check == "P45"]
    assert len(one_each) == 1, "the calibration of a set is reported once, not for each of its groups"
    assert fired(evidence_of(correlation(2, nan)))["P44"].startswith(
        "No correlation of similarity with performance is given: "
    )


@pytest.mark.parametrize("role", ["internal test", "local"])
def test_only_an_external_set_is_too_similar(role: str) -> None:
    sets = tuple(replace(d, role=role) if d.name == "site 0" else d for d in SITES.datasets)
    evidence = evidence_of(alike(0.7), classifier(0.5))
    assert "P40" in fired(evidence)
    found = [o.status for o in outcomes(replace(evidence, study=Study(datasets=sets))) if o.check == "P40"]
    assert found == ["cannot run"]


def test_a_size_that_lacks_concerns_its_own_measure_alone() -> None:
    slope = entry(f"{ROBUST}.mss_calibration_slope", needed(400, 150).estimate)
    outcome = next(o for o in outcomes(evidence_of(needed(100, 150), slope)) if o.check == "P39")
    assert outcome.quantities == ("calibration_slope",)
    everything = next(o for o in outcomes(evidence_of(alike(0.7), classifier(0.5))) if o.check == "P40")
    assert everything.quantities == ()


def test_one_set_is_one_set() -> None:
    found = fired(assessed(validation(1)))["P44"]
    assert found.startswith("No correlation of similarity with performance is given: ")
    bare = validation(2)
    sets = tuple(d if d.role == "training" else replace(d, features=None) for d in bare.datasets)
    found = fired(assessed(Study(datasets=sets)))["P44"]
    assert found.endswith("none of 2 external sets have both a similarity and an AUC.")


def test_the_bound_of_a_new_site_says_where_it_is_from() -> None:
    sites = over_sites((0.75, 0.85), (0.6, 0.92))
    assert "meets this check's limit of 0.70" in fired(evidence_of(*sites))["P47"]
    endpoint = {"endpoint": "a", "measure": "advice_accuracy.auc", "bound_or_margin": 0.65}
    stated = Evidence(SITES, declared(endpoints=[endpoint]), sites)
    assert (
        "The average area under the ROC curve over sites, 0.80, meets the declared bound of 0.65."
        in fired(stated)["P47"]
    )


def test_three_sites_that_differ_are_said_without_an_interval_for_a_new_one() -> None:
    found = fired(evidence_of(*over_sites((0.75, 0.85), (nan, nan), i2=0.9)))["P47"]
    assert "90.0% of the variation is beyond chance" in found
    assert found.endswith("with so few sites a prediction interval is not informative.")
    assert "P47" not in fired(evidence_of(*over_sites((0.65, 0.85), (nan, nan), i2=0.1)))


def test_a_brier_score_passes_from_below() -> None:
    endpoint = {"endpoint": "a", "measure": "advice_value.brier", "bound_or_margin": 0.25}

    def evidence(new: tuple[float, float]) -> Evidence:
        return evidence_of(
            *over_sites((0.17, 0.23), new, metric="brier"), given=declared(endpoints=[endpoint])
        )

    assert "P47" in fired(evidence((0.1, 0.3)))
    assert "P47" not in fired(evidence((0.16, 0.24)))


def test_a_check_that_cannot_look_says_so() -> None:
    found = outcomes(Evidence(Study(), declared(), ()))
    assert {o.check: o.status for o in found} == dict.fromkeys([c.id for c in CHECKS], "cannot run")
    assert all(EN(o.message) for o in found)


def test_the_checks_are_in_the_register() -> None:
    assert {c.id for c in CHECKS} <= {c.id for c in REGISTER}
    for check in CHECKS:
        assert EN(f"checks.{check.id}.title")
        assert EN(f"checks.{check.id}.clear")


def crowded() -> Study:
    rng = np.random.default_rng(3)
    one = drawn("crowded", "external", 150, seed=4)
    assert one.features is not None
    score, truth = one.scores[""].score, one.cases.truth
    assert score is not None
    return Study(
        datasets=(
            validation(0).datasets[0],
            dataset("crowded", "external", truth, score, rng.normal(0, 0.4, (150, 3))),
        )
    )


WHOLE: dict[str, tuple[Callable[[], Study], str]] = {
    "small": (lambda: validation(1, 60), "P39"),
    "crowded": (crowded, "P40"),
    "three sets": (lambda: validation(3), "P44"),
}


@pytest.mark.parametrize("name", WHOLE)
def test_whole_studies(name: str) -> None:
    made, check = WHOLE[name]
    evidence = assessed(made())
    assert check in fired(evidence)
    assert {o.check for o in outcomes(evidence)} == {c.id for c in CHECKS}


def test_the_training_set_needs_no_minimum_size() -> None:
    evidence = assessed(validation(1, 60))
    scopes = [o.scope for o in outcomes(evidence) if o.check == "P39"]
    assert scopes == [{"dataset": "site 0"}]
