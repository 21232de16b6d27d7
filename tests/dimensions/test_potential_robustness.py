"""Potential robustness: contract values, hand counts, and data sets that do not yield an answer."""

import json
from collections.abc import Callable
from dataclasses import replace
from math import isnan, nan
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.english import english
from tests.studies import plan
from trustreport.api import assess
from trustreport.assessment.dimensions import Dimension
from trustreport.assessment.dimensions.potential_robustness import DIMENSION, axes, results, similar
from trustreport.assessment.finding import Finding
from trustreport.assessment.performance import features as prepared
from trustreport.measures.estimate import Estimate
from trustreport.measures.note import NO_NOTE, note
from trustreport.measures.sites.binomial_normal import ONLY_ENDS
from trustreport.measures.sites.robustness import TWO_SITES
from trustreport.report.tables import table
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Coded, Dataset, Labels, Scores, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.quantities import quantity

EN = catalogue("en")
AUC = {"metric": "auc", "scale": "logit"}
SENSITIVITY = {"metric": "sensitivity", "scale": "logit"}
QUICK = {"similarity": {"permutations": 199, "seed": 7}, "operating_point": {"threshold": 0.5}}


def dataset(
    name: str,
    role: str,
    truth: np.ndarray,
    score: np.ndarray | None = None,
    features: np.ndarray | None = None,
    **more: Any,
) -> Dataset:
    """A data set of one candidate, its features named a, b, c."""
    cases = Cases(Labels(n=len(truth)), np.asarray(truth).astype(np.int8), site=more.pop("site", None))
    names = tuple("abcdef"[: features.shape[1]]) if features is not None else ()
    held = {"": Scores(np.asarray(score, float))} if score is not None else {}
    values: dict[str, Any] = {"features": features, "feature_names": names, **more}
    return Dataset(name, role, cases, held, **values)


def drawn(name: str, role: str, n: int, *, seed: int, shift: float = 0.0, **more: Any) -> Dataset:
    """Cases whose score is their risk; `shift` moves the features."""
    rng = np.random.default_rng(seed)
    features = rng.normal(shift, 1, (n, 3))
    risk = 1 / (1 + np.exp(-1.5 * features[:, 0] + 1.5 * shift))
    return dataset(name, role, rng.random(n) < risk, risk, features, **more)


def validation(n_external: int = 3, n: int = 150) -> Study:
    """A training set, and external sets that lie further and further away."""
    sets = [drawn("train", "training", 200, seed=1)]
    sets += [drawn(f"site {i}", "external", n, seed=2 + i, shift=0.4 * i) for i in range(n_external)]
    return Study(datasets=tuple(sets))


def declared(**groups: Any) -> Plan:
    return plan(**{**QUICK, **groups})


def answer(study: Study, given: Plan | None = None, dimension: Dimension = DIMENSION) -> Finding:
    assert dimension.answer is not None
    return dimension.answer(study, given or declared())


def only(found: Finding, name: str, **scope: Any) -> Estimate:
    """The estimate that leads for a quantity, apart from those of cut-down sets; scores are of the AUC."""
    if name in ("spr", "wpr", "p_performance", "p_acceptability"):
        scope.setdefault("endpoint", "auc")
    hits = [
        r.estimate
        for r in found.results
        if r.id.partition(".")[2] == name
        and r.primary
        and r.within(**scope)
        and "subsample" not in (r.scope.get("parameters") or {})
    ]
    assert len(hits) == 1, (name, scope, hits)
    return hits[0]


def contains(have: Any, want: Any) -> bool:
    if isinstance(want, dict):
        return isinstance(have, dict) and all(k in have and contains(have[k], v) for k, v in want.items())
    return bool(have == want)


def rules_hold(found: Finding) -> None:
    """No key twice, one leading entry for each question, a reason for every missing number."""
    keys: set[str] = set()
    leads: dict[str, int] = {}
    for r in found.results:
        key = json.dumps([r.id, r.scope, r.method], sort_keys=True)
        assert key not in keys, key
        keys.add(key)
        question = json.dumps([r.id, r.scope], sort_keys=True)
        leads[question] = leads.get(question, 0) + r.primary
        e = r.estimate
        assert not (isnan(e.value) or isnan(e.low) or isnan(e.high)) or e.note, key
        if r.unit == "proportion" and not isnan(e.low):
            assert 0 <= e.low <= e.value <= e.high <= 1, key
    assert set(leads.values()) == {1}


def texts(found: Finding) -> list[str]:
    """Everything that is said, every table and figure: fails where a text or a value lacks."""
    said = [EN(m) for part in found.parts for m in part.finding] + [EN(m) for m in found.not_shown]
    for part in found.parts:
        for source in part.tables:
            done = table(source, EN)
            said += [done.caption, *(cell.text for line in done.lines for cell in line.cells)]
        for figure in part.figures:
            said += [EN(text) for text in (figure.caption, figure.alt)]
            assert figure.drawing.values(EN)
            figure.drawing.draw(EN)
    return said


def test_similarity_falls_as_the_features_move_away() -> None:
    found = answer(validation())
    rules_hold(found)
    alike = [only(found, "degree_of_correspondence", dataset=f"site {i}").value for i in range(3)]
    assert alike[0] > alike[1] >= alike[2] == pytest.approx(1 / 200)
    effect = [only(found, "similarity_effect", dataset=f"site {i}").value for i in range(3)]
    assert effect[0] < effect[1] < effect[2]
    assert any("these cases differ from the training data" in text for text in texts(found))
    assert not any("robust outside" in text or "conservative" in text for text in texts(found))


def test_minimum_sample_sizes_and_what_is_reached_of_them() -> None:
    found = answer(validation(1))
    for name in axes.SIZES:
        for of in ("train", "site 0"):
            e = only(found, f"mss_{name}", dataset=of)
            assert e.details["reached"] == pytest.approx(e.n / e.value)
            assert e.value == int(e.value)
    narrow = declared(precision_targets={"auc": {"max_ci_half_width": 0.025}})
    tighter = only(answer(validation(1), narrow), "mss_auc", dataset="site 0")
    assert tighter.value > 3.5 * only(found, "mss_auc", dataset="site 0").value
    by_error = declared(precision_targets={"standardized_net_benefit": {"target_se": 0.1 / 1.96}})
    same = only(answer(validation(1), by_error), "mss_net_benefit", dataset="site 0")
    assert same.value == only(found, "mss_net_benefit", dataset="site 0").value


def test_robustness_scores_show_their_ingredients() -> None:
    given = declared(internal_splits={"metric": "auc", "values": [0.7, 0.75, 0.8]})
    found = answer(validation(1), given)
    strong, weak = only(found, "spr", dataset="site 0"), only(found, "wpr", dataset="site 0")
    alike = only(found, "degree_of_correspondence", dataset="site 0").value
    k = only(found, "p_performance", dataset="site 0").value * (1 - alike)
    assert strong.value == pytest.approx(k * (1 - np.log(k)))
    assert (weak.details["least"], weak.details["splits"]) == (0.7, 3)
    other = declared(internal_splits={"metric": "brier", "values": [0.1]})
    assert only(answer(validation(1), other), "wpr", dataset="site 0").note == results.OTHER_SPLITS
    assert only(answer(validation(1)), "wpr", dataset="site 0").note == results.NO_SPLITS


def roc_auc(one: Dataset) -> float:
    """The area under the ROC curve by the rank-sum test of scipy."""
    truth, score = one.cases.truth == 1, one.scores[""].score
    assert score is not None
    up, down = score[truth], score[~truth]
    return float(stats.mannwhitneyu(up, down).statistic / (len(up) * len(down)))


def test_what_holds_over_sites() -> None:
    study = validation(4)
    found = answer(study)
    for name in results.COMPARED_OVER_SITES:
        of = {"metric": name, "scale": quantity(name).scale}
        new, mean = (only(found, q, parameters=of) for q in ("prediction_interval", "pooled_performance"))
        assert new.low <= mean.low <= mean.value <= mean.high <= new.high
        assert only(found, "heterogeneity", parameters=of).details["sites"] == 4
    correlation = {"metric": "auc"}
    four = only(found, "similarity_performance_correlation", parameters=correlation)
    assert (four.n, four.note) == (4, note("few_sets_with_fewer_than_sign", n=4, least=10))
    alike = [only(found, "degree_of_correspondence", dataset=f"site {i}").value for i in range(4)]
    areas = [roc_auc(study.datasets[1 + i]) for i in range(4)]
    assert four.value == pytest.approx(stats.pearsonr(alike, areas).statistic, abs=0.005)  # rounded to digits
    assert four.p == pytest.approx(stats.pearsonr(alike, areas).pvalue, abs=1e-9)
    assert four.low < four.value < four.high
    few = only(answer(validation(2)), "similarity_performance_correlation", parameters=correlation)
    assert few.note == TWO_SITES
    flagged = declared(limits={"P44_sets": 4})
    enough = only(answer(study, flagged), "similarity_performance_correlation", parameters=correlation)
    assert (enough.value, enough.note) == (four.value, NO_NOTE)


def test_three_sites_have_no_interval_for_a_new_one_and_the_report_says_so() -> None:
    study = validation(3)
    found = answer(study)
    rules_hold(found)
    for name in results.COMPARED_OVER_SITES:
        of = {"metric": name, "scale": quantity(name).scale}
        new, mean, spread, tau2 = (
            only(found, q, parameters=of)
            for q in ("prediction_interval", "pooled_performance", "heterogeneity", "between_site_variance")
        )
        assert isnan(new.value)
        assert "not informative with 3 sites" in english(new.note)
        assert mean.low < mean.value < mean.high
        assert 0 <= spread.value <= 1
        for e in (spread, tau2):
            assert isnan(e.low)
            assert note("interval_spread_not_informative_with_sites", n=3) in e.note
    assert any("Three sites are too few to predict the AUC at a new one" in text for text in texts(found))
    assert not any("is expected (95% prediction" in text for text in texts(found))
    shown = [t for part in found.parts for t in part.tables if t.id.startswith("potential_robustness_over")]
    assert "not informative with 3 sites" in {EN(row[3]) for t in shown for row in t.rows}
    figures = [f.drawing for part in found.parts for f in part.figures]
    assert "MetaValidation" in [type(d).__name__ for d in figures]
    (correlations,) = (t for part in found.parts for t in part.tables if "correlation" in t.id)
    assert {EN(row[-1]) for row in correlations.rows} == {"few sets"}
    assert all(isnan(row[2].low) for row in correlations.rows)  # of three sets
    (forest,) = (f for part in found.parts for f in part.figures if f.id == "forest_1_1")
    written = [text.get_text() for axes in forest.drawing.draw(EN).axes for text in axes.texts]
    assert "A new site" not in written
    assert not any("new site" in text for text in (*written, EN(forest.caption), EN(forest.alt)))
    checks = {c.check: EN(c.message) for c in assess(study, declared()).checks if c.status == "fired"}
    assert checks["P44"].startswith("Three data sets are too few")


def at_sites(counts: list[tuple[int, int]], **more: Any) -> Study:
    """External sets with so many of so many positive cases found, and five of twenty negative ones called."""
    sets = []
    for i, (x, n) in enumerate(counts):
        truth = np.repeat([1, 0], [n, 20])
        score = np.where(np.concatenate([np.arange(n) < x, np.arange(20) < 5]), 0.9, 0.1)
        sets.append(dataset(f"site {i}", "external", truth, score, **more))
    return Study(datasets=tuple(sets))


def test_a_site_without_a_single_hit_is_part_of_the_mean() -> None:
    of = SENSITIVITY
    found = answer(at_sites([(36, 40), (37, 40), (35, 40), (0, 10)]))
    mean = only(found, "pooled_performance", parameters=of)
    assert (mean.method, mean.n, mean.details["sites"]) == ("binomial_normal", 4, 4)
    assert mean.value == pytest.approx(
        0.707, abs=5e-4
    )  # rma.glmm of metafor: tests/reference/binomial_normal.R
    assert mean.note == note("included_at_0_or_100", names="site 3")
    assert only(found, "heterogeneity", parameters=of).value > 0.9
    every = answer(at_sites([(40, 40), (40, 40), (35, 35)]))
    none = only(every, "pooled_performance", parameters=of)
    assert isnan(none.value)
    assert english(none.note).startswith(english(ONLY_ENDS))
    area = only(every, "pooled_performance", parameters=AUC)
    assert area.method == "reml_hartung_knapp"


def test_sites_without_a_case_of_the_class_are_counted_as_left_out() -> None:
    mean = only(answer(at_sites([(36, 40), (0, 0), (30, 40)])), "pooled_performance", parameters=SENSITIVITY)
    assert (mean.n, mean.note) == (2, results.NO_CASES)
    assert (mean.details["sites"], mean.details["sites_without_interval"]) == (2, 1)


def test_the_sites_of_one_set_count_one_by_one() -> None:
    site = Coded(np.repeat(np.arange(3, dtype=np.int32), 50), Labels(("A", "B", "C")))
    sets = (drawn("train", "training", 200, seed=1), drawn("far", "external", 150, seed=2, site=site))
    found = answer(Study(datasets=sets))
    assert only(found, "heterogeneity", parameters=AUC).n == 3
    here = {"dataset": "far", "parameters": AUC}
    areas = {name: only(found, "site_performance", site=name, **here) for name in "ABC"}
    truth, score = sets[1].cases.truth == 1, sets[1].scores[""].score
    assert score is not None
    for i, name in enumerate("ABC"):
        of_site = slice(50 * i, 50 * (i + 1))
        present, absent = (score[of_site][truth[of_site] == one] for one in (True, False))
        won = np.greater.outer(present, absent).mean()
        assert areas[name].value == pytest.approx(won)
    said = texts(found)
    assert any("of 3 sites the lower limit of the AUC is at least " in t and " (far" in t for t in said)


def test_a_bound_is_held_against_every_site_not_the_best() -> None:
    study = validation(3, 400)
    endpoint = {"endpoint": "E", "measure": "advice_accuracy.auc", "bound_or_margin": 0.79}
    said = texts(answer(study, declared(endpoints=[endpoint])))
    assert any("the lower limit of the AUC is at least 0.79 (the declared bound)" in t for t in said)
    assert any("(acceptable to the authors of the diagram; no bound" in t for t in texts(answer(study)))


def test_lower_scores_that_speak_for_the_condition_are_turned() -> None:
    study = validation(2)
    turned = []
    for one in study.datasets:
        score = one.scores[""].score
        assert score is not None
        turned.append(replace(one, scores={"": Scores(1 - score)}))
    given = declared(operating_point={"threshold": 0.5, "score_direction": "lower_is_positive"})
    for name in ("spr", "mss_auc"):
        one = only(answer(study), name, dataset="site 1").value
        assert only(
            answer(Study(datasets=tuple(turned)), given), name, dataset="site 1"
        ).value == pytest.approx(one)


def test_the_same_seed_gives_the_same_numbers_and_the_order_of_the_sets_does_not_matter() -> None:
    study = validation(2)
    turned = replace(study, datasets=(study.datasets[0], study.datasets[2], study.datasets[1]))

    def gaps_of(found: Finding) -> dict[str, tuple[float, float]]:
        return {
            json.dumps([r.id, r.scope, r.method]): (r.estimate.value, r.estimate.p)
            for r in found.results
            if "dataset" in r.scope
        }

    one, other = gaps_of(answer(study)), gaps_of(answer(turned))
    assert one.keys() == other.keys()
    assert all(one[key] == pytest.approx(other[key], nan_ok=True) for key in one)


def with_gaps(study: Study, *, column: int = 1) -> Study:
    """The external set with some values of a feature missing."""
    external = study.datasets[1]
    assert external.features is not None
    features = external.features.copy()
    features[::7, column] = nan
    return replace(study, datasets=(study.datasets[0], replace(external, features=features)))


def test_missing_features_are_treated_as_declared_and_never_silently() -> None:
    study = with_gaps(validation(1))
    none = only(answer(study), "degree_of_correspondence", dataset="site 0")
    assert isnan(none.value)
    assert none.note == prepared.MISSING
    for way, said, cases in (("impute", prepared.IMPUTED, 150), ("drop", prepared.DROPPED, 128)):
        given = declared(similarity={**QUICK["similarity"], "missing": way})
        e = only(answer(study, given), "degree_of_correspondence", dataset="site 0")
        assert said in e.note
        assert (e.n, e.details["external_cases"]) == (cases, cases)


def test_categories_are_imputed_by_the_most_frequent_one() -> None:
    levels = {"b": ("low", "high")}
    study = with_gaps(validation(1))
    coded = []
    for one in study.datasets:
        assert one.features is not None
        features = one.features.copy()
        features[:, 1] = np.where(np.isnan(features[:, 1]), nan, features[:, 1] > 1)
        coded.append(replace(one, features=features, feature_levels=levels))
    given = declared(similarity={**QUICK["similarity"], "missing": "impute"})
    e = only(answer(Study(datasets=tuple(coded)), given), "degree_of_correspondence", dataset="site 0")
    assert prepared.IMPUTED_CATEGORY in e.note
    assert note("two_different_categories_one_standard_deviation", names="b") in e.note


def changed(name: str, **columns: Any) -> Callable[[], Study]:
    def made() -> Study:
        sets = [replace(d, **columns) if d.name == name else d for d in validation(1).datasets]
        return Study(datasets=tuple(sets))

    return made


def external(truth: Any, score: Any, **more: Any) -> Callable[[], Study]:
    """A training set and one external set of given cases."""

    def made() -> Study:
        n = len(truth)
        features = more.get("features", np.random.default_rng(5).normal(size=(n, 3)))
        one = dataset("site 0", "external", np.array(truth), np.array(score, float), features)
        return Study(datasets=(drawn("train", "training", 200, seed=1), one))

    return made


HALF = np.arange(40) % 2
SPREAD = np.linspace(0.05, 0.95, 40)
HARD: dict[str, tuple[Callable[[], Study], tuple[str, ...]]] = {
    "one class": (
        external(np.ones(40), SPREAD),
        ("mss_auc", "spr", "mss_net_benefit", "prediction_interval"),
    ),
    "three rows": (external([0, 1, 1], [0.2, 0.4, 0.7]), ("degree_of_correspondence", "energy_distance")),
    "no case": (external(np.full(8, -1), np.full(8, 0.5)), ("mss_auc", "spr", "mss_brier")),
    "constant features": (external(HALF, SPREAD, features=np.zeros((40, 3))), ()),
    "scores all equal": (external(HALF, np.full(40, 0.3)), ("mss_calibration_slope", "mss_net_benefit")),
    "scores outside": (external(HALF, 10 * SPREAD), ("mss_brier", "mss_net_benefit", "mss_oe")),
    "scores 0 and 1": (external(HALF, np.where(np.arange(40) % 5, HALF, 1 - HALF)), ()),
    "separated": (external(HALF, np.where(HALF, 0.9, 0.1)), ("mss_auc", "mss_net_benefit")),
    "no scores": (changed("site 0", scores={}), ()),
    "training without scores": (changed("train", scores={}), ("spr", "p_performance")),
    "training without features": (changed("train", features=None, feature_names=()), ("mmd", "spr")),
    "no feature in common": (changed("site 0", feature_names=("x", "y", "z")), ("degree_of_correspondence",)),
    "nobody called": (external(HALF, SPREAD / 4), ("mss_net_benefit",)),
}


@pytest.mark.parametrize("case", HARD)
def test_hard_sets_end_in_a_reasoned_not_estimable(case: str) -> None:
    made, undefined = HARD[case]
    found = answer(made())
    rules_hold(found)
    for name in undefined:
        scope = {"parameters": AUC} if name == "prediction_interval" else {"dataset": "site 0"}
        e = only(found, name, **scope)
        assert isnan(e.value)
        assert e.note
    assert texts(found)


def test_without_a_training_set_sizes_and_sites_are_told_all_the_same() -> None:
    study = Study(datasets=validation().datasets[1:])
    found = answer(study)
    rules_hold(found)
    assert only(found, "degree_of_correspondence", dataset="site 0").note == prepared.NO_TRAINING
    assert only(found, "spr", dataset="site 0").note == results.NO_TRAINING_SCORES
    assert only(found, "mss_auc", dataset="site 0").value > 0
    assert not [f for part in found.parts for f in part.figures if f.id.startswith("external")]
    assert any("cannot be assessed: no training set was provided" in text for text in texts(found))


def test_partly_shared_and_empty_features_are_said() -> None:
    study = validation(1)
    train, one = study.datasets
    assert one.features is not None
    fewer = replace(one, features=one.features[:, :2], feature_names=("a", "b"))
    e = only(answer(Study(datasets=(train, fewer))), "degree_of_correspondence", dataset="site 0")
    assert prepared.PARTLY in e.note
    assert e.details["features"] == 2
    empty = one.features.copy()
    empty[:, 2] = nan
    e = only(answer(Study(datasets=(train, replace(one, features=empty)))), "mmd", dataset="site 0")
    assert prepared.EMPTY in e.note


def test_declarations_that_cannot_be_followed_are_said() -> None:
    given = declared(similarity={**QUICK["similarity"], "permutations": 9})
    few = only(answer(validation(1), given), "energy_distance", dataset="site 0")
    assert few.note == similar.TOO_FEW_PERMUTATIONS
    given = declared(operating_point={})
    assert only(answer(validation(1), given), "mss_net_benefit", dataset="site 0").note == axes.NO_THRESHOLD


def test_a_large_set_is_represented_by_a_part_of_it() -> None:
    given = declared(similarity={**QUICK["similarity"], "most_cases": 100})
    e = only(answer(validation(1), given), "degree_of_correspondence", dataset="site 0")
    assert note("random_sample_used_for_set_more", n=100) in e.note
    assert (e.details["training_cases"], e.details["external_cases"]) == (100, 100)
    same = only(answer(validation(1), given), "degree_of_correspondence", dataset="site 0")
    assert e == same


def test_scaling_and_metric_are_those_declared_and_stand_beside_the_number() -> None:
    found = {}
    for scaling in ("training", "pooled", "none"):
        for metric in ("euclidean", "cityblock"):
            chosen = {**QUICK["similarity"], "standardise": scaling, "metric": metric}
            hits = answer(validation(1), declared(similarity=chosen)).results
            one = next(r for r in hits if r.id.endswith(".energy_distance"))
            assert contains(one.scope["parameters"], {"standardise": scaling, "metric": metric})
            found[scaling, metric] = one.estimate.value
    assert len({round(value, 9) for value in found.values()}) == 6


def test_candidates_are_told_apart_but_share_their_similarity() -> None:
    sets = []
    for one in validation(3).datasets:
        score = one.scores[""].score
        assert score is not None
        sets.append(replace(one, scores={"first": Scores(score), "second": Scores(score**2)}))
    found = answer(Study(datasets=tuple(sets)))
    rules_hold(found)
    texts(found)
    assert [EN(part.title) for part in found.parts if part.title] == ["first", "second"]
    assert len([r for r in found.results if r.id.endswith(".mmd")]) == 3
    assert only(found, "spr", dataset="site 1", candidate="second").n == 150


def test_many_sites_share_their_figures() -> None:
    found = answer(validation(25, 40), declared(similarity={"permutations": 49}))
    rules_hold(found)
    texts(found)
    ids = [figure.id for part in found.parts for figure in part.figures]
    assert ids == [
        "external_performance_1",
        "similarity_1",
        "forest_1_1",
        "forest_1_2",
        "meta_validation_1",
        "sample_size_1_1",
        "sample_size_1_2",
    ]


def test_what_the_dimension_needs() -> None:
    assert not DIMENSION.has_data(Study(), plan())
    train, one = validation(1).datasets
    assert DIMENSION.has_data(Study(datasets=(one,)), plan())
    assert not DIMENSION.has_data(Study(datasets=(train,)), plan())
    local = replace(one, role="local")
    assert not DIMENSION.has_data(Study(datasets=(local,)), plan())
    assert DIMENSION.has_data(Study(datasets=(train, local)), plan())


def test_a_contradicted_similarity_is_said() -> None:
    rng = np.random.default_rng(3)
    crowded = drawn("crowded", "external", 150, seed=4)
    crowded = replace(crowded, features=rng.normal(0, 0.4, (150, 3)))
    study = Study(datasets=(validation(0).datasets[0], crowded))
    assert only(answer(study), "degree_of_correspondence", dataset="crowded").value > 0.9
    assert any("shows a difference (p" in text for text in texts(answer(study)))
