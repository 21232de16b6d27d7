"""Utility yield: the contract, published tables, ranking, operating points, the map; properties, edges."""

import csv
import json
from math import erf, inf, isnan, sqrt
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis.extra.numpy import arrays
from programs import loaded
from ruamel.yaml import YAML

from tests.english import english
from trustreport.measures.means import CLASS_ABSENT
from trustreport.measures.note import note
from trustreport.measures.proportion import wilson
from trustreport.measures.roc.auc import delong
from trustreport.measures.roc.curve import roc_curve
from trustreport.measures.two_arm.difference import newcombe
from trustreport.measures.utility.matrices import (
    OUTSIDE,
    TIED,
    as_matrix,
    expected_matrix,
    greatest_expected,
    inside,
    matrix_at,
    point_of,
    right_decisions_pay,
    standard_form,
    utility_map,
)
from trustreport.measures.utility.operating import (
    best_point,
    dominates,
    equal_yield_slope,
    not_dominated,
)
from trustreport.measures.utility.ranking import (
    independent_difference,
    rank,
    rank_tables,
    share_of_ranges,
    yield_difference,
)
from trustreport.measures.utility.utility_yield import (
    confusion_matrix,
    utility_yield,
    yield_at_prevalence,
    yield_of_clusters,
    yield_of_decisions,
)


def shares(tpr, fpr, prevalence):
    """Shares of all cases by decision (rows) and truth (columns), negative class first."""
    present, absent = prevalence, 1 - prevalence
    return np.array([[absent * (1 - fpr), present * (1 - tpr)], [absent * fpr, present * tpr]])


U4, U5, U6 = [[15, -335], [-35, 165]], [[45, -335], [-65, 165]], [[350, 0], [300, 500]]
A, B = np.array([[27, 15], [23, 35]]), np.array([[43, 18], [7, 32]])
number = st.floats(-100, 100).map(lambda x: round(x, 3))
matrix = arrays(float, (2, 2), elements=number)
tables = arrays(np.int64, (2, 2), elements=st.integers(0, 50))


def rng():
    return np.random.default_rng(11)


@st.composite
def paying(draw):
    """A matrix in which right decisions pay."""
    u = draw(matrix)
    gain = draw(arrays(float, 2, elements=st.floats(0.1, 50)))
    return np.array([[u[1, 0] + gain[0], u[0, 1]], [u[1, 0], u[0, 1] + gain[1]]])


def test_contract(reference):
    folder = reference / "contract" / "utility-yield"
    study = YAML(typ="safe").load(folder / "study.yaml")
    sets = {row["set"]: [[row["tn"], row["fn"]], [row["fp"], row["tp"]]] for row in study["confusion"]}
    worth = {row["name"]: row["matrix"] for row in study["utility"]["matrices"]}
    with (folder / "expected.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 6
    for row in rows:
        scope = json.loads(row["scope"])
        est = utility_yield(sets[scope["set"]], worth[scope["parameters"]["utility"]])
        assert getattr(est, row["field"]) == pytest.approx(float(row["value"]), abs=float(row["tol"])), row


def test_published_yields(reference):
    seed = json.loads((reference / "seeds" / "seed002.json").read_text())
    for name in ("eq4", "eq5", "eq6"):
        case = seed["utility"][name]
        for table, letter in ((A, "A"), (B, "B")):
            assert utility_yield(table, case["U"]).value == pytest.approx(case[letter], rel=1e-12)
    months = utility_yield(A, U6).value - utility_yield(B, U6).value
    assert months == pytest.approx(7)


def test_published_misranking_is_reproduced(reference):
    seed = json.loads((reference / "seeds" / "seed002.json").read_text())["monte_carlo"]["result"]
    words = {"accuracy": "acc", "fowlkes_mallows": "fm", "balanced_accuracy": "bacc", "precision": "prec"}
    words |= {"sensitivity": "tpr", "specificity": "tnr"}
    kinds = {"uniform": "uniform", "gaussian": "gauss"}
    results = Path(__file__).resolve().parents[3] / "benchmarks" / "results" / "utility_misranking.csv"
    with results.open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 28
    for row in rows:
        name = row["judged_by"].replace("utility, error sd ", "util_sd")
        wanted = 100 * seed[kinds[row["utilities"]]][words.get(name, name)]
        assert float(row["misranked_percent"]) == pytest.approx(wanted, abs=0.1), row
    printed = {row["judged_by"]: float(row["misranked_percent"]) for row in rows if row["printed_percent"]}
    assert printed["accuracy"] == pytest.approx(8.7, abs=0.1)
    assert round(printed["utility, error sd 0.1"]) == 4


def test_interval_is_that_of_the_cases_utilities():
    values = np.repeat(np.array(U4, float).ravel(), A.ravel())
    est = utility_yield(A, U4)
    assert est.value == pytest.approx(values.mean())
    assert est.se == pytest.approx(values.std() / 10)
    drawn = rng().multinomial(100, A.ravel() / 100, 10_000) @ np.ravel(U4) / 100
    low, high = np.quantile(drawn, [0.025, 0.975])
    # Half as wide as the sample is skewed: the lower limit is farther out than the resamples'.
    assert (low, high) == pytest.approx((est.low, est.high), abs=4)
    assert est.low < low


@given(tables, matrix, st.floats(0.1, 10), number)
def test_scale_and_zero_of_the_utilities(table, u, a, b):
    assume(table.sum())
    one, other = utility_yield(table, u), utility_yield(table, a * u + b)
    assert other.value == pytest.approx(a * one.value + b, abs=1e-7)
    moved = [a * end + b for end in (one.low, one.high)]
    assert [other.low, other.high] == pytest.approx(moved, abs=1e-6)
    assert u.min() - 1e-9 <= one.low <= one.value <= one.high <= u.max() + 1e-9


@given(st.integers(0, 40), st.integers(0, 40))
def test_two_cells_give_wilson_limits(right, wrong):
    assume(right + wrong)
    est, share = utility_yield([[right, 0], [wrong, 0]], [[1, 1], [0, 0]]), wilson(right, right + wrong)
    assert (est.low, est.high) == pytest.approx((share.low, share.high))


@given(tables, matrix, matrix, st.floats(0, 1))
def test_only_the_mean_of_uncertain_utilities_counts(table, one, other, share):
    assume(table.sum())
    mean = expected_matrix([one, other], [share, 1 - share])
    both = share * utility_yield(table, one).value + (1 - share) * utility_yield(table, other).value
    assert utility_yield(table, mean).value == pytest.approx(both, abs=1e-9)


@given(tables)
def test_identity_gives_accuracy(table):
    assume(table.sum())
    assert utility_yield(table, np.eye(2)).value == pytest.approx(np.trace(table) / table.sum())


def test_three_classes_and_another_mix():
    truth = np.array([0, 0, 1, 1, 2, 2])
    decision = np.array([0, 1, 1, 1, 2, 0])
    table = confusion_matrix(truth, decision, 3)
    assert table.tolist() == [[1, 0, 1], [1, 2, 0], [0, 0, 1]]
    u = [[5, -1, -9], [1, 3, -2], [0, 1, 4]]
    assert utility_yield(table, u).value == pytest.approx((5 + 1 + 3 + 3 + 4 - 9) / 6)
    est = yield_at_prevalence(table, u, [0.5, 0.3, 0.2])
    assert est.value == pytest.approx(0.5 * 3 + 0.3 * 3 - 0.2 * 2.5)
    assert est.se == pytest.approx(sqrt(0.25 * 4 / 2 + 0.04 * 6.5**2 / 2))
    assert yield_at_prevalence(table, u, [1 / 3] * 3).value == pytest.approx(utility_yield(table, u).value)


def test_undefined_says_why():
    none = utility_yield([[0, 0], [0, 0]], U4)
    assert isnan(none.value)
    assert none.note == note("no_case")
    assert "no width" in english(utility_yield([[5, 0], [0, 0]], [[2, 2], [2, 2]]).note)
    assert utility_yield([[5, 0], [0, 0]], U4).low < 15
    assert yield_at_prevalence([[5, 0], [2, 0]], U4, [0.5, 0.5]).note == CLASS_ABSENT
    assert not isnan(yield_at_prevalence([[5, 0], [2, 0]], U4, [1, 0]).low)


# ---- ranking


def case_arrays(*tables_of_candidates):
    """Cases of two classes on which candidates decide with these tables."""
    negatives, positives = tables_of_candidates[0].sum(axis=0)
    truth = np.repeat([0, 1], [negatives, positives])
    decisions = [np.concatenate([np.repeat([0, 1], t[:, j]) for j in (0, 1)]) for t in tables_of_candidates]
    return truth, np.stack(decisions)


def test_ranking_of_the_published_example():
    truth, decisions = case_arrays(A, B)
    found = rank(truth, decisions, [U4, U5], [0.7, 0.3], rng=rng(), resamples=500)
    assert found.order == (0, 1)
    assert found.yields == pytest.approx([0.7 * 3.5 + 0.3 * 4.7, -0.7 * 3.5 + 0.3 * 7.3])
    assert found.by_utility == (0, 1)
    assert found.order_holds == found.best_holds == pytest.approx(0.7)
    assert found.first.sum() == pytest.approx(1)
    assert found.above[0, 1] + found.above[1, 0] == pytest.approx(1)
    assert found.first[0] == pytest.approx(found.above[0, 1])
    assert 0.55 < found.first[0] < 0.95
    sure = rank(truth, decisions, [U4], rng=rng(), resamples=50)
    assert sure.order_holds == 1


def test_a_better_candidate_on_every_case_always_comes_first():
    truth = np.repeat([0, 1], 20)
    decisions = np.stack([truth, np.where(np.arange(40) % 3, truth, 1 - truth), 1 - truth])
    found = rank(truth, decisions, [np.eye(2), U4], rng=rng(), resamples=200)
    assert found.order == (0, 1, 2)
    assert found.first.tolist() == [1, 0, 0]
    assert found.order_holds == 1


@settings(max_examples=25)
@given(arrays(np.int64, (4, 12), elements=st.integers(0, 2)), st.floats(0.5, 20), number)
def test_order_is_free_of_scale_and_zero(rows, a, b):
    u = np.array([[5, -1, -9], [1, 3, -2], [0, 1, 4.0]])
    one, other = (rank(rows[0], rows[1:], [v], rng=rng(), resamples=40) for v in (u, a * u + b))
    assert one.order == other.order
    assert one.first == pytest.approx(other.first)


def test_equal_candidates_share():
    truth = np.array([0, 1, 1, 0])
    decisions = np.stack([truth, truth])
    found = rank(truth, decisions, [U4], rng=rng(), resamples=20)
    assert found.first.tolist() == [0.5, 0.5]
    assert found.above[0, 1] == 0.5
    assert found.order == (0, 1)
    same = yield_difference(truth, truth, truth, U4)
    assert same.value == 0
    assert "no width" in english(same.note)


def test_paired_difference_agrees_with_the_resampled_share():
    truth, decisions = case_arrays(A, B)
    est = yield_difference(truth, decisions[0], decisions[1], U6)
    assert est.value == pytest.approx(7)
    found = rank(truth, decisions, [U6], rng=rng(), resamples=4000)
    assert found.above[0, 1] == pytest.approx(1 - est.p / 2, abs=0.03)


# ---- operating point


@given(
    arrays(bool, 15),
    arrays(np.int64, 15, elements=st.integers(0, 5)),
    paying(),
    st.floats(0.05, 0.95),
)
def test_best_point_is_the_best_of_all_thresholds(truth, score, u, prevalence):
    assume(truth.any() and not truth.all())
    curve = roc_curve(truth, score)
    best = best_point(curve, u, prevalence)
    every = [
        float((u * shares(t, f, prevalence)).sum()) for t, f in zip(curve.tpr.tolist(), curve.fpr.tolist())
    ]
    assert best.expected_yield == pytest.approx(max(every), abs=1e-9)
    scaled = best_point(curve, 3 * u + 7, prevalence)
    assert (scaled.threshold, scaled.slope) == pytest.approx((best.threshold, best.slope))
    # no point lies above the line of equal yield through the best
    assert (curve.tpr <= best.intercept + best.slope * curve.fpr + 1e-6 * (1 + best.slope)).all()


def test_slope_as_published():
    # class 0 is looked for there, share B: (U11 - U01)(1 - B) / ((U00 - U10) B); here the classes are turned
    u, b = np.array([[4.0, 0], [0, 1]]), 0.5
    assert equal_yield_slope(u[::-1, ::-1], b) == pytest.approx((1 - 0) * (1 - b) / ((4 - 0) * b))
    assert equal_yield_slope(np.eye(2), 0.8) == pytest.approx(0.25)
    assert equal_yield_slope([[1, 0.5], [0, 0.5]], 0.3) == inf
    assert isnan(best_point(roc_curve(np.arange(4) > 1, np.arange(4)), [[1, 0.5], [0, 0.5]], 0.3).intercept)


def test_the_curve_with_the_smaller_area_may_be_the_better():
    truth = np.repeat([False, True], 10)
    through_0_6 = np.where(np.arange(20) >= 14, 1, 0)  # six positives found without a false alarm: area .8
    through_3_10 = np.where(np.arange(20) >= 7, 1, 0)  # all found with three false alarms: area .85
    curves = [roc_curve(truth, score) for score in (through_0_6, through_3_10)]
    assert [delong(truth, score).value for score in (through_0_6, through_3_10)] == [0.8, 0.85]
    yields = [[best_point(curve, np.eye(2), b).expected_yield for curve in curves] for b in (0.2, 0.8)]
    assert [one > other for one, other in yields] == [True, False]  # at .2 slope 4: .6 against 1 - 4 * .3


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=5),
    paying(),
    st.floats(0.05, 0.95),
)
def test_some_candidate_that_is_not_dominated_is_best(rates, u, prevalence):
    yields = [float((u * shares(s, 1 - t, prevalence)).sum()) for s, t in rates]
    kept = not_dominated(rates)
    assert kept
    assert max(yields[i] for i in kept) == pytest.approx(max(yields), abs=1e-9)
    for i, one in enumerate(rates):
        for j, other in enumerate(rates):
            if dominates(one, other):
                assert yields[i] >= yields[j] - 1e-9


# ---- map


@given(paying())
def test_every_matrix_in_which_right_decisions_pay_is_on_the_map(u):
    x, y = point_of(u)
    assert inside(x, y) or abs(x) + abs(y) == pytest.approx(1)
    assert matrix_at(x, y) == pytest.approx(standard_form(u), abs=1e-9)


def test_map_of_the_published_example():
    found = utility_map(np.stack([A, B]), steps=41)
    for u in (U4, U5):
        x, y = point_of(u)
        column, row = (int(np.argmin(np.abs(axis - v))) for axis, v in ((found.x, x), (found.y, y)))
        assert found.best[row, column] == int(utility_yield(B, u).value > utility_yield(A, u).value)
    assert found.best[0, -1] == OUTSIDE
    assert found.best[20, 20] == 1  # the middle: accuracy, .62 against .75
    assert found.area.sum() == pytest.approx(1, abs=0.01)
    assert (utility_map(np.stack([A, A]), steps=5).best[2] == TIED).all()


def test_corners_of_the_map_are_its_extreme_matrices():
    assert matrix_at(0, 0).tolist() == [[1, 0], [0, 1]]
    assert matrix_at(1, 0).tolist() == [[0, 0], [0, 1]]
    assert matrix_at(-1, 0).tolist() == [[1, 0], [0, 0]]
    assert matrix_at(0, 1).tolist() == [[1, 1], [0, 1]]
    assert right_decisions_pay(matrix_at(0.5, 0.5))


@pytest.mark.parametrize(("call", "words"), [
    (lambda: as_matrix([1, 2, 3]), "a row for each decision"),
    (lambda: as_matrix([[1, float("nan")], [0, 1]]), "a number in each cell"),
    (lambda: standard_form([[2, 2], [2, 2]]), "all utilities are equal"),
    (lambda: expected_matrix([U4, U5], [0.5, 0.6]), "sum to 1"),
    (lambda: utility_yield([[1, 2, 3], [4, 5, 6], [7, 8, 9]], U4), "one shape"),
    (lambda: utility_yield([[1.5, 2], [3, 4]], U4), "whole numbers"),
    (lambda: yield_at_prevalence(A, U4, [0.5, 0.6]), "shares must be 2 numbers"),
    (lambda: confusion_matrix(np.array([0, 2]), np.array([0, 1]), 2), "truth must hold a class"),
    (lambda: rank(np.array([0, 1]), np.array([0, 1]), [U4], rng=rng()), "candidates by cases"),
    (lambda: yield_difference(np.array([0]), np.array([0, 1]), np.array([0]), U4), "one entry per case"),
    (lambda: equal_yield_slope([[0, 1], [1, 0]], 0.5), "a wrong decision is worth more"),
    (lambda: equal_yield_slope(U4, 0), r"prevalence must lie in \(0, 1\)"),
    (lambda: equal_yield_slope(np.eye(3), 0.5), "two classes"),
    (lambda: point_of([[0, 1], [1, 0]]), "right decisions are worth more"),
    (lambda: utility_map(A), "candidates by decision by truth"),
    (lambda: utility_map([A, A[:, ::-1] + 1]), "the same cases"),
])  # fmt: skip
def test_wrong_use_is_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


# ---- counts, decisions not as many as classes, Gaussian errors

TREAT = [[0, -10], [-0.3, -1], [-1, 2]]  # dismiss, test further, treat; without and with the disease


def test_three_decisions_of_two_classes_by_hand():
    # 10 without: 6 dismissed, 3 tested, 1 treated; 5 with: 1 dismissed, 1 tested, 3 treated
    table = np.array([[6, 1], [3, 1], [1, 3]])
    by_hand = (6 * 0 + 3 * -0.3 + 1 * -1 + 1 * -10 + 1 * -1 + 3 * 2) / 15
    assert utility_yield(table, TREAT).value == pytest.approx(by_hand)
    truth = np.repeat([0, 1], [10, 5])
    decision = np.repeat([0, 1, 2, 0, 1, 2], [6, 3, 1, 1, 1, 3])
    assert confusion_matrix(truth, decision, 2, 3).tolist() == table.tolist()
    assert yield_of_decisions(truth, decision, TREAT) == utility_yield(table, TREAT)
    # eq. 10 with the classes mixed otherwise: means within a class stay
    half = yield_at_prevalence(table, TREAT, [0.5, 0.5]).value
    assert half == pytest.approx((-1.9 / 10 + -5 / 5) / 2)


def test_clusters_as_of_two_classes():
    truth, decision = np.array([0, 0, 1, 1, 1, 0, 1, 0]), np.array([0, 1, 1, 1, 0, 0, 1, 0])
    cluster = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    cells = np.zeros((4, 4), int)
    place = {(1, 1): 0, (0, 1): 1, (1, 0): 2, (0, 0): 3}
    for t, d, g in zip(truth, decision, cluster):
        cells[g, place[t, d]] += 1
    assert str(yield_of_decisions(truth, decision, U4, cluster=cluster)) == str(yield_of_clusters(cells, U4))


@given(arrays(float, (3, 2), elements=number), st.floats(0, 1))
def test_the_decision_of_greatest_expected_utility(u, p):
    share = np.array([[1 - p, p]])
    chosen = int(greatest_expected(u, share)[0])
    expected = (u * share).sum(axis=1)
    assert expected[chosen] == pytest.approx(expected.max(), abs=1e-8)


def test_the_threshold_of_two_decisions_is_that_of_the_costs():
    # act where p (U_11 - U_01) > (1 - p) (U_00 - U_10): from 1 / 21 on with a missed case worth 20 alarms
    p = np.array([0.04, 1 / 21 + 1e-9, 0.06])
    assert greatest_expected([[0, -20], [-1, 0]], np.stack([1 - p, p], 1)).tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="sum to 1"):
        greatest_expected(U4, [[0.5, 0.6]])
    with pytest.raises(ValueError, match="a column for each"):
        greatest_expected(U4, [[0.2, 0.3, 0.5]])


def test_tables_of_candidates_rank_as_their_cases_do():
    truth, decisions = case_arrays(A, B)
    found = rank_tables(np.stack([A, B]), [U4, U5], [0.7, 0.3], rng=rng())
    of_cases = rank(truth, decisions, [U4, U5], [0.7, 0.3], rng=rng())
    assert (found.order, found.by_utility) == (of_cases.order, of_cases.by_utility)
    assert found.yields == pytest.approx(of_cases.yields)
    assert (found.order_holds, found.best_holds) == (of_cases.order_holds, of_cases.best_holds)


def test_difference_of_independent_samples():
    # Of right and wrong decisions it is Newcombe's interval of two proportions (1998, method 10).
    one, other = np.array([[27, 15], [23, 35]]), np.array([[43, 18], [7, 32]])
    est = independent_difference(one, other, np.eye(2))
    shares = newcombe(62, 100, 75, 100)
    assert (est.value, est.low, est.high) == pytest.approx((shares.value, shares.low, shares.high))
    # with the normal spread of the resamples of two independent samples
    drawn = [rng().spawn(2)[i].multinomial(100, t.ravel() / 100, 20_000) @ np.ravel(U4) / 100
             for i, t in enumerate((one, other))]  # fmt: skip
    assert independent_difference(one, other, U4).se == pytest.approx((drawn[0] - drawn[1]).std(), rel=0.02)
    assert isnan(independent_difference(one, np.zeros((2, 2), int), U4).value)


def test_gaussian_errors_turn_a_ranking_as_often_as_the_normal_says():
    # The difference of two yields is linear in the utilities: its error is normal with variance
    # sd^2 sum of squared differences of the shares, and the ranking turns where it crosses zero.
    apart = (A - B) / 100
    gap, error = float((apart * U4).sum()), 20 * float(np.sqrt((apart**2).sum()))
    expected = 0.5 * (1 + erf(gap / error / sqrt(2)))
    order, best, first = share_of_ranges(np.stack([A, B]), [(U4, U4)], sd=[20.0], rng=rng(), draws=100_000)
    assert order == best == pytest.approx(expected, abs=0.005)
    assert first.sum() == pytest.approx(1)
    assert share_of_ranges(np.stack([A, B]), [(U4, U4)], sd=[0.0], rng=rng())[0] == 1
    with pytest.raises(ValueError, match="0 or more"):
        share_of_ranges(np.stack([A, B]), [(U4, U4)], sd=[-1.0], rng=rng())


# ---- the authors' figures


@pytest.fixture(scope="module")
def program():
    yield from loaded("utility_misranking")


def test_accuracy_and_rates_comply_with_a_utility_and_f1_and_mcc_with_none(program):
    # Section 3.3 and figures 2 and 3: which metrics never rank against which utilities.
    for share in (0.5, 0.9):
        cells = program.classifiers(np.full(300, share), rng())
        scores = program.metrics(cells)
        for name, complies in (("[1 0; 0 1]", "accuracy"), ("[1 0; 0 0]", "sensitivity")):
            yields = cells @ np.ravel(program.TRUE[name])
            turned = {m for m in program.AGAINST if program.worst_pair(yields, scores[m]) is not None}
            assert turned == set(program.AGAINST) - {complies}
        specificity = cells @ np.ravel([[0, 0], [0, 1]])
        assert program.worst_pair(specificity, scores["specificity"]) is None


def test_the_figures_are_drawn_from_the_results(program, tmp_path):
    results = Path(program.__file__).parent / "results" / "utility_misranking.csv"
    copy = tmp_path / results.name
    copy.write_bytes(results.read_bytes())
    drawn = program.draw(copy, 1)
    assert [path.stem.rpartition("_")[2] for path in drawn] == ["figure2", "figure3", "figure6", "figure7"]
    assert all(path.stat().st_size > 10_000 for path in drawn)
