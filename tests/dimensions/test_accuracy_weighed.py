"""Advice accuracy beyond the counts: clusters, candidates, utilities, H-accuracy, indeterminate outputs."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.english import english
from tests.studies import plan
from trustreport.api import read_study
from trustreport.assessment.assess import assess
from trustreport.assessment.checks import CHECKS, Evidence
from trustreport.assessment.dimensions.advice_accuracy import DIMENSION
from trustreport.assessment.finding import Finding
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.note import note
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Confusion, Plan
from trustreport.study.study import Cases, Coded, Dataset, Labels, Ratings, Scores, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result, leading

EN = catalogue("en")
RNG = np.random.default_rng(6)
PATIENT = np.repeat(np.arange(50), 3).astype(np.int32)
TRUTH = (RNG.random(50) < 0.4)[PATIENT].astype(np.int8)
LEANING = 1.5 * (2 * TRUTH - 1) + RNG.normal(0, 1, 50)[PATIENT] + RNG.normal(0, 0.6, 150)
SCORE = 1 / (1 + np.exp(-LEANING))
OTHER = 1 / (1 + np.exp(-LEANING - RNG.normal(0, 1.5, 150)))
COMPLEXITY = np.clip(np.round(3 - np.abs(LEANING) + RNG.normal(0, 0.5, 150)), 1, 5)
EURO = {"name": "euros", "matrix": [[15, -335], [-35, 165]]}
AT = {"operating_point": {"threshold": 0.5}}


def coded(codes: Any, n: int) -> Coded:
    return Coded(np.asarray(codes, np.int32), Labels(tuple(f"P{i}" for i in range(n))))


def dataset(*, patients: bool = False, scores: Any = None, **more: Any) -> Dataset:
    held = {"patient": coded(PATIENT, 50)} if patients else {}
    cases = Cases(Labels(tuple(f"C{i}" for i in range(150))), TRUTH, **held, **more)
    return Dataset("here", "external", cases, scores or {"": Scores(SCORE)})


def answer(study: Study, declared: Plan | None = None) -> Finding:
    assert DIMENSION.answer is not None
    return DIMENSION.answer(study, declared or plan(**AT))


def lead(finding: Finding, name: str, **scope: Any) -> Result:
    found = leading(finding.results, f"advice_accuracy.{name}", **scope)
    assert found is not None, name
    return found


def said(finding: Finding) -> str:
    return " ".join(EN(sentence) for part in finding.parts for sentence in part.finding)


def tables(finding: Finding) -> set[str]:
    return {table.id for part in finding.parts for table in part.tables}


def figures(finding: Finding) -> dict[str, Any]:
    return {f.id: f.drawing for part in finding.parts for f in part.figures}


def unique(finding: Finding) -> None:
    keys = [(r.id, str(sorted(r.scope.items(), key=str)), r.method) for r in finding.results]
    assert len(keys) == len(set(keys))
    asked: dict[str, int] = {}
    for r in finding.results:
        here = str((r.id, sorted((k, str(v)) for k, v in r.scope.items() if k != "analysis")))
        asked[here] = asked.get(here, 0) + r.primary
    assert set(asked.values()) == {1}


# ---------------------------------------------------------------- clusters


def test_the_interval_that_leads_respects_the_patients() -> None:
    finding = answer(Study(datasets=(dataset(patients=True),)), plan(**AT, utility={"matrices": [EURO]}))
    unique(finding)
    cells = cluster_cells(TRUTH == 1, SCORE >= 0.5, PATIENT.astype(np.int64))
    for name in ("sensitivity", "accuracy", "mcc", "ppv"):
        one = lead(finding, name, parameters=None)
        assert one.scope["analysis"] == "clustered"
        assert (one.estimate.low, one.estimate.high) == (
            clustered(name, cells).low,
            clustered(name, cells).high,
        )
    beside = [r for r in finding.results if r.id.endswith(".sensitivity") and not r.primary]
    assert [r.method for r in beside if "parameters" not in r.scope] == ["wilson"]
    lead_of_auc = lead(finding, "auc")
    assert lead_of_auc.method == "auc_logit_obuchowski"
    wide, narrow = (e.high - e.low for e in (lead_of_auc.estimate, auc_by(finding, "logit_delong")))
    assert wide > 1.2 * narrow
    assert lead(finding, "net_benefit", threshold=0.5, parameters=None).method == "yield_mover"
    assert lead(finding, "utility_yield", parameters={"utility": "euros"}).method == "yield_mover"
    assert "are clustered (patient)" in said(finding)
    assert "clusters_1" in tables(finding)


def auc_by(finding: Finding, method: str) -> Any:
    return next(r.estimate for r in finding.results if r.id.endswith(".auc") and r.method == method)


def test_every_way_to_the_area_is_there() -> None:
    finding = answer(Study(datasets=(dataset(),)))
    found = [(r.method, r.primary) for r in finding.results if r.id == "advice_accuracy.auc"]
    assert found == [
        ("auc_logit_larger", True),
        ("delong", False),
        ("logit_delong", False),
        ("newcombe_auc", False),
    ]


def test_cluster_keys_join_what_shares_any_of_them() -> None:
    video = np.arange(150, dtype=np.int32) // 2
    held = dataset(patients=True, groups={"video": coded(video, 75)})
    both = {"dataset": "here", "role": "external", "cluster_keys": ["patient", "video", "case"]}
    found = clusters_of(held, plan(datasets=[both]))
    assert found.keys == ("patient", "video")
    assert found.of_case is not None
    # Six cases hold three videos and two patients: everything hangs together in sixes.
    assert len(np.unique(found.of_case)) == 25
    # The patient need not be declared: cases of a patient belong together whatever else does.
    one = clusters_of(held, plan(datasets=[{**both, "cluster_keys": ["video"]}]))
    assert one.of_case is not None
    assert len(np.unique(one.of_case)) == 25
    lost = clusters_of(held, plan(datasets=[{**both, "cluster_keys": ["scanner"]}]))
    assert lost.of_case is not None
    assert (len(np.unique(lost.of_case)), lost.absent) == (50, ("scanner",))
    finding = answer(Study(datasets=(held,)), plan(**AT, datasets=[{**both, "cluster_keys": ["scanner"]}]))
    assert "The cluster key scanner is declared" in said(finding)


def test_cases_of_patients_with_one_case_each_are_independent() -> None:
    assert clusters_of(dataset(), plan()).of_case is None
    each = Dataset("here", "external", Cases(Labels(n=150), TRUTH, patient=coded(np.arange(150), 150)))
    assert clusters_of(each, plan()).of_case is None


def test_columns_of_clusters_weights_and_utilities_are_read(tmp_path: Path) -> None:
    rows = ["case,video,truth,score,relevance,case_threshold,utility_00,utility_01,utility_10,utility_11"]
    rows += [f"C{i},V{i // 2},{i % 2},{0.3 + 0.4 * (i % 3 > 0)},{1 + i % 2},0.4,1,0,0,1" for i in range(60)]
    (tmp_path / "s.csv").write_text("\n".join(rows))
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {}\noperating_point: {threshold: 0.5}\n"
        "datasets: [{dataset: D, role: local, file: s.csv, cluster_keys: [video]}]\n"
    )
    study, declared = read_study(tmp_path)
    assert set(study.datasets[0].cases.numbers) >= {"relevance", "case_threshold", "utility_00", "utility_11"}
    finding = answer(study, declared)
    assert lead(finding, "sensitivity", parameters=None).estimate.details["clusters"] == 30
    weighted = lead(finding, "weighted_utility", threshold=0.5)
    assert weighted.scope["parameters"] == {"weights": ["relevance", "case_threshold"]}
    # Utilities 1 for right and 0 for wrong decisions: the yield is the accuracy.
    own = lead(finding, "utility_yield", parameters={"utility": "utilities of each case"})
    assert own.estimate.value == pytest.approx(lead(finding, "accuracy", parameters=None).estimate.value)


# ---------------------------------------------------------------- outputs without a decision


def indeterminate(rule: str | None) -> tuple[Study, Plan]:
    score = SCORE.copy()
    score[:12] = np.nan
    point: dict[str, Any] = {"threshold": 0.5, **({"indeterminate_as": rule} if rule else {})}
    return Study(datasets=(dataset(scores={"": Scores(score)}),)), plan(operating_point=point)


def outcome(study: Study, declared: Plan) -> Any:
    finding = answer(study, declared)
    evidence = Evidence(study, declared, finding.results)
    check = next(c for c in CHECKS if c.id == "P03")
    return next(o for o in check.run(evidence))


@pytest.mark.parametrize("rule", ["wrong", "positive", "negative"])
def test_a_declared_rule_keeps_every_case_in_the_denominators(rule: str) -> None:
    study, declared = indeterminate(rule)
    finding = answer(study, declared)
    unique(finding)
    cells = {name: lead(finding, name, parameters=None).estimate.value for name in ("tp", "fp", "fn", "tn")}
    assert sum(cells.values()) == 150
    third = [lead(finding, f"indeterminate_{c}").estimate.value for c in ("positives", "negatives")]
    assert third == [TRUTH[:12].sum(), 12 - TRUTH[:12].sum()]
    called = (SCORE[12:] >= 0.5).sum() + {"positive": 12, "negative": 0, "wrong": third[1]}[rule]
    assert cells["tp"] + cells["fp"] == called
    left_out = lead(finding, "accuracy", parameters={"indeterminate": "left out"}).estimate
    assert left_out.n == 138
    # The rows of counts add up to the cases: what is indeterminate stands as a part of the four cells.
    table = next(t for part in finding.parts for t in part.tables if t.id == "advice_accuracy_1")
    counted = {EN(row.label): row.result.estimate.value for row in table.rows if row.result.unit == "count"}
    assert sum(n for label, n in counted.items() if not label.startswith("Of which")) == 150
    assert sum(n for label, n in counted.items() if label.startswith("Of which")) == 12
    found = outcome(study, declared)
    assert (found.severity, found.status) == ("W", "fired")
    assert "as declared, they are analysed" in EN(found.message)


def test_cases_without_output_are_summed_over_many_sets() -> None:
    study, declared = indeterminate("positive")
    sets = tuple(replace(study.datasets[0], name=f"site {i}") for i in range(6))
    part, *_ = answer(Study(datasets=sets), declared).parts
    said = [EN(sentence) for sentence in part.finding]
    kept = "they are analysed as positive and are part of every denominator."
    assert f"For 72 cases in 6 sets the device gave no output; {kept}" in said


def test_without_a_rule_it_blocks() -> None:
    study, declared = indeterminate(None)
    assert answer(study, declared).results[0].estimate.n == 138
    assert outcome(study, declared).severity == "B"


def test_a_published_table_with_a_third_column() -> None:
    row = Confusion(set="A", tp=90, fp=10, fn=5, tn=80, indeterminate_positives=5, indeterminate_negatives=10)
    study = Study(confusion=(row,))
    wrong = answer(study, plan())
    assert lead(wrong, "accuracy", parameters=None).estimate.value == 170 / 200
    assert outcome(study, plan()).severity == "B"
    rule = plan(operating_point={"indeterminate_as": "positive"})
    assert lead(answer(study, rule), "sensitivity", parameters=None).estimate.value == 95 / 100
    assert lead(answer(study, rule), "indeterminate").estimate.value == 15 / 200
    assert outcome(study, rule).severity == "W"


# Hicks et al. (2022), Sci. Rep. 12, 5979, Table 2, study 1: per polyp and per frame, 250 frames of a polyp;
# the table prints TP 84 500, which its own figures make 84 250.
def test_findings_become_frames_where_it_is_declared() -> None:
    row = Confusion(set="study 1", tp=337, fp=169_000, fn=1, tn=16_730_662, frames_per_finding=250)
    finding = answer(Study(confusion=(row,)))
    here = {"set": "study 1, per frame", "parameters": None}
    cells = [lead(finding, name, **here).estimate.value for name in ("tp", "fp", "fn", "tn")]
    assert cells == [84_250, 169_000, 250, 16_646_500]
    for name, printed in (("ppv", 0.33), ("f1", 0.50), ("mcc", 0.57), ("sensitivity", 1.00)):
        one = lead(finding, name, **here).estimate
        assert round(one.value, 2) == printed
        assert np.isnan(one.low)
        assert "no interval" in english(one.note)
    with pytest.raises(ValueError, match="frames_per_finding"):
        Confusion(set="x", tp=5, fp=1, fn=1, tn=9, frames_per_finding=3)


# ---------------------------------------------------------------- candidates and utilities


def two_candidates(**more: Any) -> Study:
    return Study(datasets=(dataset(scores={"A": Scores(SCORE), "B": Scores(OTHER)}, **more),))


def test_candidates_are_compared_on_the_same_cases() -> None:
    finding = answer(two_candidates(), plan(**AT, utility={"thresholds": [0.2, 0.5], "matrices": [EURO]}))
    unique(finding)
    paired = lead(finding, "auc_difference", candidates=["B", "A"])
    areas = [lead(finding, "auc", candidate=c).estimate.value for c in "BA"]
    assert paired.scope["analysis"] == "paired"
    assert paired.estimate.value == pytest.approx(areas[0] - areas[1])
    other = next(r for r in finding.results if r.scope.get("analysis") == "two_sample")
    assert not other.primary
    assert other.estimate.se > paired.estimate.se
    for name, at in (("net_benefit", 0.2), ("net_benefit", 0.5)):
        gap = lead(finding, f"{name}_difference", threshold=at).estimate.value
        each = [lead(finding, name, candidate=c, threshold=at, parameters=None).estimate.value for c in "BA"]
        assert gap == pytest.approx(each[0] - each[1])
    assert "candidates_compared" in tables(finding)
    assert "not adjusted" not in said(finding)
    clusters = answer(two_candidates(patients=True), plan(**AT))
    assert lead(clusters, "auc_difference").method == "obuchowski_clustered_region"


def test_a_candidate_with_gaps_is_compared_on_what_both_judged() -> None:
    some = OTHER.copy()
    some[:30] = np.nan
    study = Study(datasets=(dataset(scores={"A": Scores(SCORE), "B": Scores(some)}),))
    finding = answer(study, plan(**AT, utility={"matrices": [EURO]}))
    assert lead(finding, "auc_difference").estimate.n == 120
    assert lead(finding, "utility_difference").estimate.n == 120


def story(**utility: Any) -> Finding:
    """Dyrland, Lundervold, Porta Mana, eqs 1 and 2, a hundredfold; which components agree is made up."""
    truth = np.repeat([0, 1], 5000).astype(np.int8)
    one = np.concatenate([np.arange(5000) < 2300, np.arange(5000) < 3500]).astype(np.int8)
    other = np.concatenate([np.arange(5000) < 700, np.arange(5000) >= 1800]).astype(np.int8)
    cases = Cases(Labels(n=10_000), truth)
    held = Dataset("factory", "local", cases, {"A": Scores(decision=one), "B": Scores(decision=other)})
    return answer(Study(datasets=(held,)), plan(utility=utility))


def test_the_story_of_the_factory() -> None:
    other = {"name": "other", "matrix": [[45, -335], [-65, 165]]}
    months = {"name": "months", "matrix": [[350, 0], [300, 500]]}
    finding = story(matrices=[EURO, other, months])
    unique(finding)
    expected = {"euros": (3.5, -3.5), "other": (4.7, 7.3), "months": (338.5, 331.5)}
    for name, yields in expected.items():
        for candidate, value in zip("AB", yields):
            where = {"candidate": candidate, "parameters": {"utility": name}}
            assert lead(finding, "utility_yield", **where).estimate.value == pytest.approx(value)
    words = said(finding)
    assert "A has the highest utility yield, 3.5 per case" in words
    assert "On 8 common metrics, the candidate that ranks first is not the one" in words
    assert {"utility_ranking_1", "utility_metrics_1", "utility_ranking_3"} <= tables(finding)
    # The map is drawn once; the same utility in another unit lies in the same place.
    maps = {k: v for k, v in figures(finding).items() if k.startswith("utility_space")}
    assert list(maps) == ["utility_space_1"]
    places = maps["utility_space_1"].places
    assert [p.label for p in places] == ["other", "euros; months"]
    assert (places[1].x, places[1].y) == pytest.approx((0.3, -0.6))


def test_an_uncertain_utility_is_decided_by_its_mean() -> None:
    first = {**EURO, "probability": 0.2}
    second = {"name": "other", "matrix": [[45, -335], [-65, 165]], "probability": 0.8}
    finding = story(matrices=[first, second])
    where = {"parameters": {"utility": "expected utilities"}}
    mean = lead(finding, "utility_yield", candidate="B", **where).estimate.value
    assert mean == pytest.approx(0.2 * -3.5 + 0.8 * 7.3)
    assert lead(finding, "best_holds").estimate.value == pytest.approx(0.8)
    assert "uncertainty of the utilities, 80.0% of draws rank it first" in said(finding)
    # Prices anywhere between the two: see the geometry in tests/measures/test_clustered_cases.py.
    middle = {"name": "unsettled", "matrix": [[30, -335], [-50, 165]], "plus_minus": [[15, 0], [15, 0]]}
    held = lead(story(matrices=[middle]), "best_holds").estimate.value
    assert held == pytest.approx(1 - 16.25**2 / 1800, abs=0.02)
    with pytest.raises(ValueError, match="plus_minus"):
        plan(utility={"matrices": [{**EURO, "plus_minus": [[1, 2]]}]})


def test_the_threshold_that_a_utility_calls_for() -> None:
    finding = answer(two_candidates(), plan(**AT, utility={"matrices": [EURO]}))
    for candidate, score in (("A", SCORE), ("B", OTHER)):
        at = lead(finding, "optimal_threshold", candidate=candidate).estimate
        best = lead(finding, "optimal_yield", candidate=candidate).estimate
        matrix = np.array(EURO["matrix"])
        tried = [matrix[(score >= t).astype(int), TRUTH].mean() for t in np.append(score, 2.0)]
        assert best.value == pytest.approx(max(tried))
        assert matrix[(score >= at.value).astype(int), TRUTH].mean() == pytest.approx(max(tried))
        assert "optimistic" in english(at.note)


# ---------------------------------------------------------------- H-accuracy


def raters() -> Ratings:
    """Two raters of every case, sure by .8 and .6; the second errs on every fifth case."""
    rater = np.repeat([0, 1], 150).astype(np.int32)
    case = np.tile(np.arange(150), 2).astype(np.int32)
    label = np.tile(TRUTH, 2).astype(np.int32)
    label[150::5] = 1 - label[150::5]
    cases = Cases(Labels(tuple(f"C{i}" for i in range(150))), np.full(150, -1, np.int8))
    names, sure = Labels(("R1", "R2")), np.where(rater == 0, 0.8, 0.6)
    # The first rater found every case as complex as it is, the second every other case simple.
    rated = np.concatenate([COMPLEXITY, np.where(np.arange(150) % 2, 1.0, COMPLEXITY)])
    return Ratings("here", names, cases, rater, case, label, ("0", "1"), sure, rated)


def weighed(*choices: Any, **more: Any) -> Finding:
    held = dataset(complexity=COMPLEXITY, patients=True, numbers={"relevance": 1.0 + TRUTH})
    facts = {"dataset": "here", "role": "external", "h_accuracy": list(choices)}
    study = Study(datasets=(held,), raters=(raters(),))
    finding = answer(study, plan(datasets=[facts], **more))
    unique(finding)
    return finding


def chosen(finding: Finding, i: int = 0) -> Any:
    return [r for r in finding.results if r.id == "advice_accuracy.h_accuracy"][i].scope["parameters"]


def test_parameters_from_raters() -> None:
    finding = weighed(
        {"tau": "right_answers", "tau_share": 0.8, "priority": "raters"},
        {"tau": "mean_confidence", "priority": "prevalence"},
        {"tau": "best_rater", "priority": "rare_first"},
    )
    found = {r.scope["parameters"].get("tau_from"): r.scope["parameters"] for r in finding.results
             if r.id == "advice_accuracy.h_accuracy"}  # fmt: skip
    # 150 + 120 right answers; four fifths are 216, more than the 150 at .8.
    assert found["right_answers"]["tau"] == 0.6
    assert found["mean_confidence"]["tau"] == pytest.approx(0.7)
    assert found["best_rater"]["tau"] == pytest.approx(0.8)
    right = np.ones(150)
    right[::5] = 0
    tpr, tnr = ((1 + right[truth].mean()) / 2 for truth in (TRUTH == 1, TRUTH == 0))
    assert found["right_answers"]["priority"] == pytest.approx([tnr / (tpr + tnr), tpr / (tpr + tnr)])
    share = TRUTH.mean()
    assert found["mean_confidence"]["priority"] == pytest.approx([1 - share, share])
    assert found["best_rater"]["priority"] == pytest.approx([share, 1 - share])


@pytest.mark.parametrize(
    "wanted, expected",
    [
        ({"scale": [1, 5]}, (COMPLEXITY - 1) / 4),
        ({"above": 2}, np.where(COMPLEXITY > 2, 1, 0.5)),
        ({"above": 2, "rest": 0}, (COMPLEXITY > 2).astype(float)),
        ({"top": 0.2}, np.where(np.sort(COMPLEXITY)[120] <= COMPLEXITY, 1, 0.5)),
        ({"source": "errors"}, np.where(np.arange(150) % 5, 0, 0.5)),
        ({"source": "confidence"}, np.full(150, 0.3)),
        ({"source": "raters"}, np.where(np.arange(150) % 2, (COMPLEXITY + 1) / 2, COMPLEXITY)),
        # The second rater is right in four of five cases: weights 1 and .8.
        (
            {"source": "raters", "proficiency": True, "scale": [1, 5]},
            (COMPLEXITY - 1) / 4 * np.where(np.arange(150) % 2, 1 / 1.8, 1),
        ),
        (
            {"source": ["column", "errors", "confidence"], "scale": [1, 5]},
            ((COMPLEXITY - 1) / 4 + np.where(np.arange(150) % 5, 0, 0.5) + 0.3) / 3,
        ),
        ({"scale": [1, 5], "relevance_weight": 0.25}, 0.75 * (COMPLEXITY - 1) / 4 + 0.125 * (1 + TRUTH)),
    ],
)
def test_complexity_of_every_kind(wanted: Any, expected: Any) -> None:
    finding = weighed({"tau": 0.75, "complexity_from": wanted})
    found = lead(finding, "h_accuracy")
    credit = np.where((SCORE >= 0.5) != (TRUTH == 1), 0, np.minimum(np.abs(SCORE - 0.5) / 0.25, 1))
    by_class = [(expected * credit)[own].sum() / expected[own].sum() for own in (TRUTH == 0, TRUTH == 1)]
    assert found.estimate.value == pytest.approx(np.mean(by_class))
    assert found.estimate.method == "bootstrap_clusters"


@pytest.mark.parametrize(
    "choice, why",
    [
        ({"tau": 0.3}, "below chance"),
        ({"priority": [0.2, 0.3, 0.5]}, "not one for each class"),
        ({"complexity_from": {"scale": [2, 3]}}, "outside the declared scale"),
        ({"complexity_from": {"source": ["column", "errors"]}}, "averaged on a scale"),
    ],
)
def test_what_cannot_be_chosen_says_why(choice: Any, why: str) -> None:
    found = lead(weighed(choice), "h_accuracy").estimate
    assert np.isnan(found.value)
    assert why in english(found.note)


def test_without_raters_their_parameters_are_undefined() -> None:
    choices = [{"tau": "best_rater"}, {"priority": "raters"}]
    facts = {"dataset": "here", "role": "external", "h_accuracy": choices}
    finding = answer(Study(datasets=(dataset(),)), plan(datasets=[facts]))
    notes = [r.estimate.note for r in finding.results if r.id == "advice_accuracy.h_accuracy"]
    assert notes == [note("no_rater_stated_confidence_for_these"), note("no_rater_judged_these_cases")]


def test_figures_of_h_accuracy() -> None:
    finding = weighed(
        {"tau": 0.75, "priority": [0.3, 0.7], "complexity_from": {"scale": [1, 5]}},
        utility={"minimum_accuracy": 0.9},
    )
    drawn = figures(finding)
    names = ("chart_1", "tau", "priority", "mix", "surface", "complexity", "complexities", "confidences")
    assert {f"h_accuracy_{name}" for name in (*names, "raters")} <= set(drawn)
    over = drawn["h_accuracy_tau"]
    assert over.asked == 0.9
    ha, risk, nb, snb = over.panels[0].lines
    values = [p.y for p in ha.points]
    assert values == sorted(values, reverse=True)
    share = TRUTH.mean()
    at = {p.x: p.y for p in nb.points}[0.3]
    called = SCORE >= 0.3
    assert at == pytest.approx((called & (TRUTH == 1)).mean() - 3 / 7 * (called & (TRUTH == 0)).mean())
    assert {p.x: p.y for p in snb.points}[0.3] == pytest.approx(at / share)
    sens, spec = called[TRUTH == 1].mean(), 1 - called[TRUTH == 0].mean()
    alpha = 0.3 * (1 - share) + 0.7 * share
    expected = (0.3 * (1 - share) * spec + 0.7 * share * sens) / alpha
    assert {p.x: p.y for p in risk.points}[0.3] == pytest.approx(expected)
    (line, *_) = drawn["h_accuracy_priority"].panels[0].lines
    ends = {p.x: p.y for p in line.points}
    assert ends[0.5] == pytest.approx((ends[0.0] + ends[1.0]) / 2)
    surface = drawn["h_accuracy_surface"].panels[0]
    top = surface.values[-1]
    assert top[10] == pytest.approx((top[0] + top[20]) / 2)
    (_, at_tau) = drawn["h_accuracy_mix"].panels[0].lines
    hard = np.sort(COMPLEXITY)[75] <= COMPLEXITY
    assert at_tau.marked[0].x == pytest.approx(hard.mean())
    assert at_tau.points[0].y == pytest.approx(surface.values[0][14])
    (bars,) = drawn["h_accuracy_complexities"].panels
    assert sum(bar.n for bar in bars.bars) == 150
    (sure,) = drawn["h_accuracy_confidences"].panels
    assert [(bar.at, bar.n) for bar in sure.bars] == [(0.6, 120), (0.8, 150)]
    # 270 right answers: 150 of them, more than 50.1 in 100, with .8.
    assert [(mark.at, len(mark.label.values["parts"])) for mark in sure.marks] == [(0.6, 1), (0.8, 2)]
    (plane,) = drawn["h_accuracy_raters"].panels
    second = plane.readers[1]
    assert (second.label, second.kind) == ("R2", "rater")
    assert second.sensitivity.value == pytest.approx(np.where(np.arange(150) % 5, 1, 0)[TRUTH == 1].mean())
    device, people = drawn["h_accuracy_complexity"].panels
    assert sum(b.right + b.wrong for b in device.bubbles) == 150
    assert sum(b.wrong for b in people.bubbles) == 30
    assert "lowest accuracy acceptable to users" in said(finding)


def chart(finding: Finding) -> dict[str, Any]:
    rows = figures(finding)["h_accuracy_chart_1"].rows
    return {EN(row.label): (row.estimate, EN(row.note) if row.note else "") for row in rows}


def test_the_accuracies_stand_beside_each_other_where_nothing_is_declared() -> None:
    """Complexity and raters are at hand: accuracy, balanced accuracy, and one of each kind, in the report."""
    from trustreport.report.outlines import is_printed

    study = Study(datasets=(dataset(complexity=COMPLEXITY),), raters=(raters(),))
    finding = answer(study)
    rows = chart(finding)
    assert list(rows) == [
        "Accuracy", "Balanced accuracy", "Confident accuracy, Ha(tau)", "Prioritized accuracy, Ha(p)",
        "Practical accuracy, Ha(d)", "Practical accuracy, Ha(d0)",
        "Combined H-accuracy, Ha(tau,\N{NO-BREAK SPACE}p,\N{NO-BREAK SPACE}d)",
    ]  # fmt: skip
    assert all(
        is_printed("h_accuracy_chart_1", kind) for kind in ("certification", "procurement", "vigilance")
    )
    assert rows["Accuracy"][0] == lead(finding, "accuracy", parameters=None).estimate
    # Four in five of the raters' right answers have .6 at least.
    assert rows["Confident accuracy, Ha(tau)"][1].startswith("tau 0.60 (reached by 80%")
    third = np.sort(COMPLEXITY)[100] <= COMPLEXITY
    found = rows["Practical accuracy, Ha(d)"]
    assert found[1].startswith("weight 1 for the most complex third")
    assert f"({third.mean():.0%} of the cases, ties included)" in found[1]
    right = (SCORE >= 0.5) == (TRUTH == 1)
    weight = np.where(third, 1, 0.5)
    by_class = [np.average(right[k == TRUTH], weights=weight[k == TRUTH]) for k in (0, 1)]
    assert found[0].value == pytest.approx(np.mean(by_class))
    half = np.sort(COMPLEXITY)[75] <= COMPLEXITY
    by_class = [right[(k == TRUTH) & half].mean() for k in (0, 1)]
    assert rows["Practical accuracy, Ha(d0)"][0].value == pytest.approx(np.mean(by_class))
    assert "0 for the others" in rows["Practical accuracy, Ha(d0)"][1]
    (shown,) = (f for part in finding.parts for f in part.figures if f.id == "h_accuracy_chart_1")
    assert "at the device's threshold, 0.5" in EN(shown.caption)
    unique(finding)


def test_of_many_sets_those_with_the_lowest_accuracies_come_first() -> None:
    some = []
    for i in range(6):
        cases = Cases(Labels(n=150), TRUTH, complexity=COMPLEXITY)
        score = np.where(np.arange(150) % 10 < i, 1 - SCORE, SCORE)  # wrong more often from set to set
        some.append(Dataset(f"set {i}", "external", cases, {"": Scores(score)}))
    drawn = figures(answer(Study(datasets=tuple(some))))
    groups = [list(dict.fromkeys(row.group for row in drawn[f"h_accuracy_chart_{k}"].rows)) for k in (1, 2)]
    assert groups == [["set 5", "set 4", "set 3"], ["set 2", "set 1", "set 0"]]


def test_nothing_at_hand_says_nothing_and_training_data_neither() -> None:
    assert not [r for r in answer(Study(datasets=(dataset(),))).results if r.name == "h_accuracy"]
    trained = replace(dataset(complexity=COMPLEXITY), role="training")
    assert not [r for r in answer(Study(datasets=(trained,))).results if r.name == "h_accuracy"]


def test_complexity_alone_is_enough_and_expected_prevalence_sets_priorities() -> None:
    declared = plan(**AT, intended_use={"prevalence_expected": 0.1})
    rows = chart(answer(Study(datasets=(dataset(complexity=COMPLEXITY),)), declared))
    assert rows["Confident accuracy, Ha(tau)"][1] == "tau 0.75"
    assert rows["Prioritized accuracy, Ha(p)"][1] == "priorities 90% and 10% (expected prevalence)"


def test_all_are_of_the_decisions_at_the_threshold_of_the_device() -> None:
    study = Study(datasets=(dataset(complexity=COMPLEXITY),))
    finding = answer(study, plan(operating_point={"threshold": 0.3}))
    found = chart(finding)
    called = SCORE >= 0.3
    half = np.sort(COMPLEXITY)[75] <= COMPLEXITY
    by_class = [(called == (TRUTH == 1))[(k == TRUTH) & half].mean() for k in (0, 1)]
    assert found["Practical accuracy, Ha(d0)"][0].value == pytest.approx(np.mean(by_class))
    (shown,) = (f for part in finding.parts for f in part.figures if f.id == "h_accuracy_chart_1")
    assert "at the device's threshold, 0.3" in EN(shown.caption)
    # Without a threshold the higher score is the answer, and there is no accuracy of the device.
    open_ = answer(study, plan())
    assert "Accuracy" not in chart(open_)
    (shown,) = (f for part in open_.parts for f in part.figures if f.id == "h_accuracy_chart_1")
    assert "argmax" in EN(shown.caption)


def test_decisions_alone_have_all_but_a_confidence() -> None:
    scores = {"": Scores(decision=(SCORE >= 0.5).astype(np.int8))}
    finding = answer(Study(datasets=(dataset(scores=scores, complexity=COMPLEXITY),)), plan())
    assert "Practical accuracy, Ha(d)" in chart(finding)
    assert "Confident accuracy, Ha(tau)" not in chart(finding)
    facts = {"dataset": "here", "role": "external", "h_accuracy": [{"tau": 0.8}]}
    wished = answer(Study(datasets=(dataset(scores=scores),)), plan(datasets=[facts]))
    assert "no score that is a probability" in english(lead(wished, "h_accuracy").estimate.note)


def test_failed_cases_are_in_every_denominator() -> None:
    """As in the accuracy: analysed as wrong, and so in H-accuracy with the priorities of these cases."""
    score = SCORE.copy()
    score[:12] = np.nan
    study = Study(datasets=(dataset(scores={"": Scores(score)}, complexity=COMPLEXITY),))
    share = float(TRUTH.mean())
    facts = {"dataset": "here", "role": "external", "h_accuracy": [{"priority": [1 - share, share]}]}
    declared = plan(operating_point={"threshold": 0.5, "indeterminate_as": "wrong"}, datasets=[facts])
    finding = answer(study, declared)
    accuracy = lead(finding, "accuracy", parameters=None).estimate
    found = lead(finding, "h_accuracy").estimate
    assert (found.value, found.n) == (pytest.approx(accuracy.value), 150)


def test_a_priority_from_a_risk_threshold_and_the_expected_prevalence() -> None:
    choices = [{"priority": "risk", "risk_threshold": 0.2}, {"priority": "risk"}, {"priority": "prevalence"}]
    finding = weighed(*choices, intended_use={"prevalence_expected": 0.3}, operating_point={"threshold": 0.4})
    found = [
        r.parameters["priority"] for r in finding.results if r.name == "h_accuracy" and r.parameters["tau"]
    ]
    notes = [EN(row.note) for row in figures(finding)["h_accuracy_chart_1"].rows if row.note]
    # alpha = .2 * .7 + .8 * .3 = .38; the source's p = <tau (1 - pi), (1 - tau) pi> / alpha.
    assert found[0] == pytest.approx([0.14 / 0.38, 0.24 / 0.38])
    assert any(p == pytest.approx([0.4 * 0.7 / 0.46, 0.6 * 0.3 / 0.46]) for p in found)
    assert any(p == pytest.approx([0.7, 0.3]) for p in found)
    assert "(risk threshold 0.20 and prevalence)" in " ".join(notes)


def test_candidates_with_equal_decisions_are_told_apart_by_their_confidence() -> None:
    """B decides as A does and is unsure: no difference in accuracy, one in confident accuracy, paired."""
    unsure = Scores(0.5 + 0.3 * (SCORE - 0.5))
    study = Study(datasets=(dataset(scores={"A": Scores(SCORE), "B": unsure}),))
    facts = {"dataset": "here", "role": "external", "h_accuracy": [{"tau": 0.75}, {"priority": [0.3, 0.7]}]}
    finding = answer(study, plan(**AT, datasets=[facts]))
    unique(finding)
    found = lead(finding, "h_accuracy_difference", candidates=["B", "A"])
    ha = [lead(finding, "h_accuracy", candidate=c).estimate.value for c in "BA"]
    assert found.estimate.value == pytest.approx(ha[0] - ha[1])
    assert found.estimate.high < -0.1
    assert "B minus A: the largest difference in H-accuracy is in confident accuracy" in said(finding)
    (table,) = (t for part in finding.parts for t in part.tables if t.id == "h_accuracy_differences")
    assert [row.result.estimate.value for row in table.rows] == [pytest.approx(ha[0] - ha[1]), 0.0]


def test_several_classes_have_their_own_usual_tau_and_anchors() -> None:
    rng = np.random.default_rng(8)
    truth = np.repeat([0, 1, 2], 40).astype(np.int8)
    raw = rng.dirichlet([1, 1, 1], 120) + 0.8 * np.eye(3)[truth]
    scores = raw / raw.sum(axis=1, keepdims=True)
    complexity = rng.integers(1, 5, 120).astype(float)
    cases = Cases(Labels(n=120), truth, ("a", "b", "c"), complexity=complexity)
    study = Study(datasets=(Dataset("three", "external", cases, {"": Scores(class_scores=scores)}),))
    rows = chart(answer(study, plan()))
    assert rows["Confident accuracy, Ha(tau)"][1] == "tau 0.51"
    right = scores.argmax(axis=1) == truth
    credit = np.where(right, np.clip((scores.max(axis=1) - 1 / 3) / (0.51 - 1 / 3), 0, 1), 0)
    expected = np.mean([credit[truth == k].mean() for k in range(3)])
    assert rows["Confident accuracy, Ha(tau)"][0].value == pytest.approx(expected)
    assert rows["Accuracy"][0].value == pytest.approx(right.mean())
    assert rows["Balanced accuracy"][0].value == pytest.approx(
        np.mean([right[truth == k].mean() for k in range(3)])
    )
    facts = {"dataset": "three", "role": "external", "h_accuracy": [{"tau": 0.8}]}
    declared = answer(study, plan(datasets=[facts]))
    assert [r.parameters["tau"] for r in declared.results if r.name == "h_accuracy"] == [0.8, 0.51]


# ---------------------------------------------------------------- the rest


def test_parts_of_the_roc_curve() -> None:
    groups = [[0, 0.33], [0.33, 1]]
    finding = answer(Study(datasets=(dataset(),)), plan(operating_point={"fpr_groups": groups}))
    found = [r for r in finding.results if r.id == "advice_accuracy.auc_group" and r.primary]
    assert [r.scope["parameters"]["fpr"] for r in found] == groups
    assert 0 < found[0].estimate.details["average_sensitivity"] < 1
    assert "auc_groups_1" in tables(finding)
    with pytest.raises(ValueError, match="lower one first"):
        plan(operating_point={"fpr_groups": [[0.5, 0.2]]})


def test_every_measure_over_the_share_of_positives() -> None:
    declared = plan(**AT, utility={"prevalence_range": [0.1, 0.4]})
    drawn = figures(answer(Study(datasets=(dataset(),)), declared))["measures_over_prevalence"]
    finding = answer(Study(datasets=(dataset(),)), declared)
    (panel,) = drawn.panels
    assert len(panel.lines) == 2  # PPV and NPV
    for line in panel.lines:
        assert [p.x for p in line.marked] == [0.1, 0.4]
        for p in line.marked:
            assert line.points[0].y == pytest.approx(line.marked[0].y, abs=1e-9)
            assert p.low < p.y < p.high
    ppv = lead(finding, "ppv", parameters={"prevalence": 0.4}).estimate.value
    assert panel.lines[0].points[-1].y == pytest.approx(ppv)


def test_accuracy_f1_and_mcc_over_the_prevalence_are_those_of_bayes() -> None:
    """From sensitivity and specificity alone, at each prevalence q."""
    declared = plan(**AT, utility={"prevalence_range": [0.1, 0.4]})
    finding = answer(Study(datasets=(dataset(),)), declared)
    (panel,) = figures(finding)["whole_measures_over_prevalence"].panels
    sens, spec = (lead(finding, name).estimate for name in ("sensitivity", "specificity"))
    se, sp = float(sens.value), float(spec.value)
    accuracy, f1, mcc = panel.lines
    for k, point in enumerate(accuracy.points):
        q = point.x
        tp, fn, tn, fp = q * se, q * (1 - se), (1 - q) * sp, (1 - q) * (1 - sp)
        assert point.y == pytest.approx(tp + tn, abs=2e-3)
        assert f1.points[k].y == pytest.approx(2 * tp / (2 * tp + fp + fn), abs=2e-3)
        phi = (tp * tn - fp * fn) / ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
        assert mcc.points[k].y == pytest.approx(phi, abs=4e-3)
    for line in panel.lines:
        assert [p.x for p in line.marked] == [0.1, 0.4]
        assert all(p.low < p.y < p.high for p in line.marked)


def test_everything_together_can_be_told() -> None:
    study = Study(datasets=two_candidates(patients=True, complexity=COMPLEXITY).datasets, raters=(raters(),))
    of_case = {"scale": [1, 5], "top": 0.5}
    choice = {"tau": "mean_confidence", "priority": "raters", "complexity_from": of_case}
    facts = {"dataset": "here", "role": "external", "h_accuracy": [choice]}
    declared = plan(
        operating_point={"threshold": 0.5, "fpr_groups": [[0, 0.5]], "indeterminate_as": "wrong"},
        datasets=[facts],
        utility={"matrices": [EURO], "threshold_range": [0.1, 0.5], "prevalence_range": [0.1, 0.4]},
    )
    finding = next(f for f in assess(study, declared).findings if f.dimension == "advice_accuracy")
    unique(finding)
    assert "expected" not in said(finding)
    for part in finding.parts:
        assert part.title is None or EN(part.title)
        for table in part.tables:
            assert EN(table.caption)
            for row in table.rows:
                label = getattr(row, "label", row[0] if isinstance(row, tuple) else None)
                assert EN(label) if not isinstance(label, str) else label
        for figure in part.figures:
            assert EN(figure.caption)
            assert EN(figure.alt)
            assert figure.drawing.values(EN)
