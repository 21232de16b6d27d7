"""Source reliability: what is computed, what is said, and how little when little is known."""

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.english import english
from tests.rated import noisy, rated, raters_study
from tests.studies import plan
from trustreport.assessment.dimensions.source_reliability import answer, has_data
from trustreport.assessment.dimensions.source_reliability.results import panel_of
from trustreport.assessment.finding import EstimateTable, Finding, PlainTable
from trustreport.figures.reliability import Joyplot
from trustreport.figures.reliability import NomogramFigure as NomogramFigure
from trustreport.measures.agreement.kappa import cohen_kappa
from trustreport.measures.proportion import wilson
from trustreport.study.plan import Nomogram, Plan
from trustreport.study.study import Cases, Dataset, Labels, Scores, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result, leading

EN = catalogue("en")
ID = "source_reliability"
TRUTH, CODES = noisy(200, 6, 0.85)
KNOWN = {"reference_standard": {"rater_accuracy": 0.85}}


def sentences(finding: Finding) -> str:
    return " ".join(EN(text) for part in finding.parts for text in part.finding)


def only_result(finding: Finding, name: str, **scope: Any) -> Result:
    found = leading(finding.results, f"{ID}.{name}", **{"raters": None, **scope})
    assert found is not None, name
    return found


def keys(finding: Finding) -> list[tuple[str, str, str]]:
    return [(r.id, repr(sorted(r.scope.items())), r.method) for r in finding.results]


def stated(*pairs: tuple[float, float]) -> Study:
    sets = (Nomogram(set=f"s{i}", accuracy=x, weighted_concordance=rho) for i, (x, rho) in enumerate(pairs))
    return Study(nomogram=tuple(sets))


def check_rules(finding: Finding) -> None:
    """No key twice, one primary entry per question; what lacks a number says why."""
    assert len(set(keys(finding))) == len(finding.results)
    questions: dict[tuple[str, str], int] = {}
    for r in finding.results:
        question = (r.id, repr(sorted(r.scope.items())))
        questions[question] = questions.get(question, 0) + r.primary
        e = r.estimate
        assert e.note or not any(isnan(x) for x in (e.value, e.low, e.high)), r
        assert f"method.{r.method}.text" in EN, r.method
        assert f"method.{r.method}.source" in EN, r.method
    assert set(questions.values()) == {1}


def test_every_listed_id_with_its_pairs() -> None:
    finding = answer(raters_study(rated(CODES)), plan(**KNOWN))
    check_rules(finding)
    ids = {r.id.removeprefix(f"{ID}.") for r in finding.results}
    assert ids == set(
        "percent_agreement fleiss_kappa cohen_kappa mean_cohen_kappa light_kappa conger_kappa gwet_ac1 "
        "krippendorff_alpha weighted_concordance rater_accuracy expected_agreement label_accuracy".split()
    )
    pairs = [r for r in finding.results if r.id == f"{ID}.cohen_kappa"]
    assert len(pairs) == 15
    third = next(r for r in pairs if r.scope["raters"] == ["r01", "r04"])
    assert third.estimate.value == cohen_kappa(CODES[:, 0], CODES[:, 3], 2).value


def test_the_nomogram_leads_with_the_majority_beside_it_where_the_accuracy_is_stated() -> None:
    study = raters_study(rated(CODES))
    known, unknown = answer(study, plan(**KNOWN)), answer(study, plan())
    assert only_result(known, "label_accuracy").method == "nomogram"
    assert {r.method for r in known.results if r.id == f"{ID}.label_accuracy"} == {"majority", "nomogram"}
    assert only_result(unknown, "label_accuracy").method == "nomogram"
    assert "upper bound" in english(only_result(unknown, "weighted_concordance").estimate.note)
    assert "It is an upper bound" in sentences(unknown)
    assert "have the stated or measured accuracy and err independently" in sentences(known)
    assert "|x + a − 1|" in sentences(known)
    assert "|x + a − 1|" in sentences(unknown)


@pytest.mark.parametrize(
    "seed, accuracy, said",
    [(1, 0.85, "The interval of their agreement includes"), (1, 0.95, "less often")],
)
def test_agreement_is_set_against_what_independent_errors_would_give(
    seed: int, accuracy: float, said: str
) -> None:
    study = raters_study(rated(noisy(400, 6, 0.85, seed)[1]))
    assert said in sentences(answer(study, plan(reference_standard={"rater_accuracy": accuracy})))


def test_raters_who_err_together_are_found_out() -> None:
    codes = CODES.copy()
    codes[:, 1:4] = codes[:, :1]
    finding = answer(raters_study(rated(codes)), plan(**KNOWN))
    assert "err on the same cases" in sentences(finding)
    assert "independently. A perfect device" not in sentences(finding)
    by = {r.method: r.estimate for r in finding.results if r.id == f"{ID}.label_accuracy"}
    assert isnan(by["majority"].value)
    assert "not known" in english(by["majority"].note)
    assert by["nomogram"].value > 0.5


def test_accuracies_by_name_and_one_left_out() -> None:
    study = raters_study(rated(CODES[:, :3]))
    each = {"r01": 0.95, "r02": 0.9, "r03": 0.85}
    finding = answer(study, plan(reference_standard={"rater_accuracy": each}))
    check_rules(finding)
    for name, a in each.items():
        assert only_result(finding, "rater_accuracy", raters=[name]).estimate.value == a
    (of_most,) = (r.estimate for r in finding.results if r.method == "majority")
    assert of_most.value == pytest.approx(0.95 * 0.9 + 0.95 * 0.1 * 0.85 + 0.05 * 0.9 * 0.85)
    del each["r02"]
    finding = answer(study, plan(reference_standard={"rater_accuracy": each}))
    check_rules(finding)
    for name in ("label_accuracy", "weighted_concordance"):
        assert isnan(only_result(finding, name).estimate.value)
    assert "no accuracy is stated for some of the raters" in sentences(finding)


def measured(study: Study) -> Finding:
    declared = plan()
    reference = declared.reference_standard.model_copy(update={"rater_accuracy": "measured"})
    return answer(study, declared.model_copy(update={"reference_standard": reference}))


def test_raters_are_judged_by_the_truth_only_where_that_is_declared() -> None:
    study = raters_study(rated(CODES, truth=TRUTH))
    assert not [r for r in answer(study, plan()).results if r.id == f"{ID}.rater_accuracy"]
    finding = measured(study)
    check_rules(finding)
    for i in range(6):
        entry = only_result(finding, "rater_accuracy", raters=[f"r{i + 1:02d}"])
        assert entry.method == "wilson"
        assert entry.estimate.value == (CODES[:, i] == TRUTH).mean()
    assert {r.method for r in finding.results if r.id == f"{ID}.label_accuracy"} == {"majority", "nomogram"}
    without = measured(raters_study(rated(CODES)))
    check_rules(without)
    assert "no truth to judge the raters by" in english(only_result(without, "label_accuracy").estimate.note)


def test_ranks_are_taken_by_number_and_their_coefficients_stand_beside_the_nominal_ones() -> None:
    rng = np.random.default_rng(3)
    codes = np.clip(rng.integers(0, 3, 100)[:, None] + rng.integers(-1, 2, (100, 3)), 0, 2)
    finding = answer(raters_study(rated(codes, classes=("10", "2", "1"))), plan(**KNOWN))
    check_rules(finding)
    ranks = {"parameters": {"weights": "ordinal"}}
    turned = answer(raters_study(rated(2 - codes, classes=("1", "2", "10"))), plan(**KNOWN))
    for name in ("krippendorff_alpha", "gwet_ac2"):
        value = only_result(finding, name, **ranks).estimate.value
        assert value == pytest.approx(only_result(turned, name, **ranks).estimate.value)
        assert value > only_result(finding, "krippendorff_alpha", parameters=None).estimate.value
    assert (
        only_result(finding, "label_accuracy").method == "nomogram"
    )  # the majority of three classes is not computed
    named = answer(raters_study(rated(codes, classes=("a", "b", "c"))), plan())
    assert not [r for r in named.results if "parameters" in r.scope]
    assert "from x + a − 1 to" in sentences(named)


@settings(max_examples=15)
@given(st.integers(0, 1000), st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_of_names_matters(seed: int, random: Any) -> None:
    rng = np.random.default_rng(seed)
    codes = rng.integers(-1, 2, (25, 5))
    sure = rng.random(codes.shape)
    ratings = rated(codes, confidence=sure)
    order = np.array(random.sample(range(len(ratings.case)), len(ratings.case)))
    places = random.sample(range(5), 5)
    shuffled = replace(
        ratings,
        raters=Labels(tuple(ratings.raters[i] for i in places)),
        rater=np.argsort(places)[ratings.rater].astype(np.int32)[order],
        case=ratings.case[order],
        label=ratings.label[order],
        confidence=None if ratings.confidence is None else ratings.confidence[order],
    )
    first, second = (answer(raters_study(r), plan(**KNOWN)) for r in (ratings, shuffled))
    assert [str(r.estimate) for r in first.results] == [str(r.estimate) for r in second.results]
    assert keys(first) == keys(second)


def test_the_seed_of_the_manifest_decides_the_bootstrap() -> None:
    study = raters_study(rated(CODES))

    def drawn(finding: Finding) -> float:
        found = [r for r in finding.results if r.id == f"{ID}.weighted_concordance"]
        return next(r.estimate.low for r in found if r.method == "bootstrap_cases")

    lows = [drawn(answer(study, plan(**KNOWN, **seed))) for seed in ({}, {}, {"similarity": {"seed": 5}})]
    assert lows[0] == lows[1]
    assert lows[0] != lows[2]
    assert lows[0] == pytest.approx(lows[2], abs=0.01)


EDGES = {
    "one rater": CODES[:, :1],
    "two raters": CODES[:, :2],
    "no overlap": np.array([[0, -1], [-1, 1], [1, -1]]),
    "all agree": np.repeat(TRUTH[:, None], 4, axis=1),
    "one category": np.zeros((30, 3), int),
    "one case": np.array([[0, 1, 1]]),
    "a rater without labels": np.pad(CODES, ((0, 0), (0, 1)), constant_values=-1),
    "single labels": np.where(np.arange(200)[:, None] < 150, CODES, np.array([0, -1, -1, -1, -1, -1])),
}


@pytest.mark.parametrize("codes", EDGES.values(), ids=EDGES)
@pytest.mark.parametrize("groups", [{}, KNOWN], ids=["unknown", "known"])
@pytest.mark.parametrize("sure", [False, True])
def test_edges_are_told_and_drawn(codes: Any, groups: Any, sure: bool) -> None:
    confidence = np.full(codes.shape, 0.8) if sure else None
    finding = answer(raters_study(rated(codes, confidence=confidence)), plan(**groups))
    check_rules(finding)
    assert "nan" not in sentences(finding)
    for part in finding.parts:
        for figure in part.figures:
            assert EN(figure.alt)
            assert EN(figure.caption)
            figure.drawing.draw(EN)
        for table in part.tables:
            assert EN(table.caption)
            for row in table.rows:
                if isinstance(table, EstimateTable):
                    assert EN(row.label)


def test_one_rater_says_nothing_of_agreement() -> None:
    said = sentences(answer(raters_study(rated(CODES[:, :1])), plan()))
    assert said.startswith("Agreement cannot be assessed: only 1 rater labelled the 200 cases.")


def test_the_confidence_of_each_rater_is_drawn_by_steps_or_in_bins() -> None:
    steps = np.random.default_rng(1).choice([0.2, 0.4, 0.6, 0.8, 1.0], CODES.shape)
    for confidence, discrete in ((steps, True), (np.random.default_rng(1).random(CODES.shape), False)):
        finding = answer(raters_study(rated(CODES, confidence=confidence)), plan(**KNOWN))
        drawing = finding.parts[0].figures[0].drawing
        assert isinstance(drawing, Joyplot)
        assert drawing.discrete == discrete
        for i, row in enumerate(drawing.rows):
            assert sum(row.shares) == pytest.approx(1)
            assert row.mean == pytest.approx(confidence[:, i].mean())
            if discrete:
                counted = [(confidence[:, i] == at).mean() for at in drawing.at]
                assert list(row.shares) == pytest.approx(counted)
    assert drawing.at == pytest.approx((np.arange(25) + 0.5) / 25)


def test_forty_one_raters_fill_two_pages() -> None:
    codes = noisy(20, 41, 0.8)[1]
    finding = answer(raters_study(rated(codes, confidence=np.full(codes.shape, 0.5))), plan())
    assert [figure.id for figure in finding.parts[0].figures] == ["confidence_1", "confidence_1_2"]


def test_the_mean_confidence_of_each_rater_is_in_their_table() -> None:
    confidence = np.random.default_rng(1).choice([0.2, 0.4, 0.6, 0.8, 1.0], CODES.shape)
    finding = answer(raters_study(rated(CODES, confidence=confidence)), plan(**KNOWN))
    table = next(t for t in finding.parts[0].tables if t.id == "source_reliability_raters_1")
    assert [row[-1] for row in table.rows] == pytest.approx(confidence.mean(axis=0).tolist())


def test_a_few_sets_are_told_one_by_one_with_assumption_and_bounds() -> None:
    finding = answer(stated((0.9, 0.57)), plan())
    check_rules(finding)
    said = sentences(finding)
    assert "s0: measured accuracy is 90.0%. A weighted concordance of 0.57 means that 87.7% of" in said
    assert "is 80.2% if the device agrees with correct and incorrect labels equally often" in said
    assert "Without this assumption it is between 77.7% and 97.7%" in said
    assert "No verdict uses the actual accuracy" in said
    figure = finding.parts[0].figures[0].drawing
    assert isinstance(figure, NomogramFigure)
    assert figure.points[0].actual == only_result(finding, "actual_accuracy", set="s0").estimate.value


def test_many_sets_share_one_table_and_one_figure() -> None:
    rng = np.random.default_rng(1)
    finding = answer(stated(*rng.random((30, 2)).tolist()), plan())
    check_rules(finding)
    assert len(finding.parts) == 1
    assert len(finding.parts[0].finding) == 2
    assert len(finding.parts[0].figures) == 1
    (table,) = finding.parts[0].tables
    assert isinstance(table, PlainTable)
    assert len(table.rows) == 30
    for name, *_, actual, low, high in table.rows:
        assert actual == only_result(finding, "actual_accuracy", set=name).estimate.value
        assert low <= actual + 1e-12 <= high + 2e-12


def test_raters_are_drawn_too_where_there_are_five_and_the_table_shows_it() -> None:
    six, four = (answer(raters_study(rated(CODES[:, :n])), plan(**KNOWN)) for n in (6, 4))
    for name in ("percent_agreement", "krippendorff_alpha", "fleiss_kappa", "conger_kappa", "gwet_ac1"):
        by_method = {r.method: r.estimate for r in six.results if r.id == f"{ID}.{name}"}
        primary = "wilson_mean" if name == "percent_agreement" else "gwet_fisher_z"
        assert list(by_method) == [primary, "gwet_variance", "bootstrap_cases", "bootstrap_raters_cases"]
        assert only_result(six, name).method == primary
        assert len({round(e.value, 12) for e in by_method.values()}) == 1
    shown = [row.result.method for t in six.parts[0].tables if isinstance(t, EstimateTable) for row in t.rows]
    assert shown.count("bootstrap_raters_cases") == 4
    assert "With raters as a random sample too" in sentences(six)
    assert "With raters as a random sample too" not in sentences(four)
    assert not [r for r in four.results if r.method == "bootstrap_raters_cases"]
    assert any("fewer than five raters" in EN(text) for text in four.not_shown)


def advised(names: Labels, right: int, n: int = 200) -> Dataset:
    """A data set with decisions, the first `right` of which are like the truth."""
    decision = np.where(np.arange(n) < right, TRUTH[:n], 1 - TRUTH[:n]).astype(np.int8)
    return Dataset(
        "device", "local", Cases(names, TRUTH[:n].astype(np.int8)), {"": Scores(decision=decision)}
    )


def test_advice_on_cases_that_the_raters_labelled_has_an_actual_accuracy() -> None:
    ratings = rated(CODES)
    study = raters_study(ratings, datasets=(advised(ratings.cases.labels, 170),))
    finding = answer(study, plan(**KNOWN))
    check_rules(finding)
    label, actual = (
        only_result(finding, "label_accuracy"),
        only_result(finding, "actual_accuracy", dataset="device"),
    )
    a, x = label.estimate.value, 0.85
    assert actual.method == label.method == "nomogram"
    e = actual.estimate
    assert e.value == pytest.approx(x * a + (1 - x) * (1 - a))
    measured = wilson(170, 200)  # the accuracy of the labels counts as known
    assert (e.low, e.high) == pytest.approx(
        [y * a + (1 - y) * (1 - a) for y in (measured.low, measured.high)]
    )
    low, high = (
        only_result(finding, f"actual_accuracy_{end}_bound", dataset="device") for end in ("low", "high")
    )
    assert (low.estimate.value, high.estimate.value) == pytest.approx((x + a - 1, 1 - (a - x)))
    said = sentences(finding)
    assert "device: compared with these labels, 85.0% of the advice is correct" in said
    assert "Without this assumption it is between" in said
    by = [row[2] for t in finding.parts[1].tables if t.id == "source_reliability_behind_1" for row in t.rows]
    assert [EN(text) for text in by] == ["nomogram", "majority"]
    (figure,) = finding.parts[1].figures
    assert isinstance(figure.drawing, NomogramFigure)
    assert [point.measured for point in figure.drawing.points] == [0.85]


def test_advice_on_other_cases_or_without_names_says_nothing_of_these_labels() -> None:
    ratings = rated(CODES)
    for names in (Labels(tuple(f"x{i}" for i in range(200))), Labels(n=200)):
        finding = answer(raters_study(ratings, datasets=(advised(names, 170),)), plan(**KNOWN))
        assert not [r for r in finding.results if "actual" in r.id]
        assert "|x + a − 1|" in sentences(finding)


def test_the_nomogram_is_read_backwards_in_a_table() -> None:
    finding = answer(stated((0.9, 0.57)), plan())
    table = finding.parts[0].tables[1]
    assert isinstance(table, PlainTable)
    (row,) = table.rows
    # a = (.8 + .9 - 1) / .8 = .875, rho = .75^2; .95 cannot be shown by a measured .9
    assert row[2] == pytest.approx(0.5625)
    assert isnan(row[-1])


def test_raters_and_sets_stand_in_parts_of_their_own() -> None:
    study = raters_study(
        rated(CODES, task="a"), rated(CODES[:, :2], task="b"), nomogram=stated((0.9, 0.5)).nomogram
    )
    finding = answer(study, plan(**KNOWN))
    check_rules(finding)
    assert [EN(part.title) for part in finding.parts if part.title] == [
        "a: agreement of the raters",
        "a: accuracy of the labels",
        "b: agreement of the raters",
        "b: accuracy of the labels",
        "Stated concordance and accuracy",
    ]
    assert {r.scope.get("task") for r in finding.results} == {"a", "b", None}
    ids = [figure.id for part in finding.parts for figure in part.figures]
    assert len(set(ids)) == len(ids)
    assert has_data(study, plan())
    assert not has_data(Study(), plan())


def test_the_panel_is_laid_out_by_names() -> None:
    ratings = rated(np.array([[0, 1, -1], [1, 1, 0]]), raters=("b", "a", "c"))
    panel = panel_of(ratings, plan(), {})
    assert panel.raters == ("a", "b", "c")
    assert panel.codes.tolist() == [[1, 0, -1], [1, 1, 0]]
    declared: Plan = plan(reference_standard={"rater_accuracy": {"a": 0.9, "c": 0.7}})
    accuracy = panel_of(ratings, declared, {}).accuracy
    assert accuracy is not None
    assert accuracy.tolist() == pytest.approx([0.9, np.nan, 0.7], nan_ok=True)
