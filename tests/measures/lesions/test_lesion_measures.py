"""Areas, FROC curve and analysis of readers: published values, R from the definitions, counts by hand."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.english import english
from trustreport.measures.lesions import notes
from trustreport.measures.lesions.area import AREAS, Marked, lesion_area, lesion_area_difference, pairs_of
from trustreport.measures.lesions.froc import (
    MeanOfReaders,
    false_marks_per_case,
    fit_lesions,
    found_share,
    froc_curve,
    froc_sensitivity,
    mean_of_readers,
)
from trustreport.measures.mrmc.obuchowski_rockette import obuchowski_rockette
from trustreport.measures.roc.auc import auc_logit_larger
from trustreport.measures.roc.clustered import clustered_auc

REFERENCE = Path(__file__).resolve().parents[2] / "reference"
NONE = -np.inf


def book() -> Marked:
    """Chakraborty, "Empirical plots from FROC data": 4 cases without, 5 with 1, 1, 2, 2 and 3 lesions."""
    return Marked(
        9,
        np.array([4, 5, 6, 6, 7, 7, 8, 8, 8]),
        np.array([0.9, -0.2, 1.6, NONE, 3, 2, 1, 2.5, 1]),
        np.array([1, 2, 2, 3, 4]),
        np.array([0.5, 0.7, 0.6, -0.3, 1.5]),
        np.array([1, 1, 0.1, 0.9, 0.9, 0.1, 0.3, 0.4, 0.3]),
    )


def drawn(seed: int, n: int = 20, of_patient: int = 1) -> Marked:
    """Coarse ratings, so that many are tied."""
    rng = np.random.default_rng(seed)
    lesion_case = np.repeat(np.arange(n // 2), rng.integers(1, 4, n // 2))
    rating = np.where(rng.random(len(lesion_case)) < 0.8, rng.integers(1, 6, len(lesion_case)), NONE)
    false_case = np.sort(rng.integers(0, n, n))
    cluster = np.arange(n) % (n // of_patient)
    return Marked(n, lesion_case, rating, false_case, rng.integers(0, 5, n).astype(float), None, cluster)


# ---------------------------------------------------------------- published values


def test_areas_are_those_of_rjafroc() -> None:
    """Printed by UtilFigureOfMerit of RJafroc in Chakraborty's book (chapter on empirical plots)."""
    assert pairs_of(book(), "afroc_auc").area == pytest.approx(0.8472222, abs=5e-8)
    assert pairs_of(book(), "wafroc_auc").area == pytest.approx(0.7425, abs=1e-12)


def test_the_froc_curve_has_the_area_of_rjafroc() -> None:
    """0.4074074, printed there by numerical integration and by RJafroc; the curve ends at the last mark."""
    curve = froc_curve(book())
    assert np.trapezoid(curve.sensitivity, curve.false_marks) == pytest.approx(0.4074074, abs=5e-8)


def test_lesions_found_are_those_of_the_books_table() -> None:
    """LLF of the book's table, from the highest rating down; the last row counts unmarked lesions too."""
    printed = [0, 0.1111111, 0.2222222, 0.3333333, 0.4444444, 0.6666667, 0.7777778, 0.8888889]
    assert sorted(set(froc_curve(book()).sensitivity.round(7))) == pytest.approx(printed, abs=1e-7)


# Areas of four readers in two modalities, variance, covariances; estimate, SE, df, limits (as printed).
JAFROC_421 = (
    [[0.90235001, 0.83149999, 0.78864998, 0.87980002], [0.84140003, 0.77300000, 0.77114999, 0.84799999]],
    (0.00080407, 0.00033754, 0.00022121, 0.00021737),
    (0.04219, 0.01091, 3.43, 0.00981, 0.07457),
)
RJAFROC_111 = (
    [
        [
            *(0.85886525, 0.89314421, 0.88226950, 0.73026005, 0.71418440),
            *(0.92907801, 0.91891253, 0.87919622, 0.81442080),
        ],
        [
            *(0.89148936, 0.97612293, 0.88274232, 0.84822695, 0.83995272),
            *(0.90898345, 0.95248227, 0.93380615, 0.85697400),
        ],
    ],
    (0.00542869, 0.00181425, 0.00130213, 0.00104824),
    (-0.05227, 0.02788, 66.49, -0.10793, 0.00339),
)


@pytest.mark.parametrize("printed", [JAFROC_421, RJAFROC_111], ids=["JAFROC 4.2.1", "RJafroc 1.1.1"])
def test_published_areas_and_covariances_give_the_published_interval(
    printed: tuple[list[list[float]], tuple[float, ...], tuple[float, ...]],
) -> None:
    """Inferred ROC areas of two FROC studies, analysed by JAFROC and RJafroc: readers and cases random.

    The data are not printed, so areas and covariances are taken as published and the rest is computed.
    """
    theta = np.array(printed[0])
    var, cov1, cov2, cov3 = printed[1]
    r = theta.shape[1]
    same, other = np.array([[var, cov1], [cov1, var]]), np.array([[cov2, cov3], [cov3, cov2]])
    covariance = np.kron(same, np.eye(r)) + np.kron(other, np.ones((r, r)) - np.eye(r))
    e = obuchowski_rockette(theta, covariance, 200).difference(0, 1)
    assert (e.value, e.se, e.df, e.low, e.high) == pytest.approx(printed[2], abs=6e-3)
    assert (e.value, e.se, e.low, e.high) == pytest.approx([*printed[2][:2], *printed[2][3:]], abs=6e-6)


# ---------------------------------------------------------------- R, double loops


def reference_study() -> list[list[Marked]]:
    """tests/reference/lesions.csv: arms aided and unaided, four readers."""
    with (REFERENCE / "lesions.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    truth = [r for r in rows if r["kind"] == "lesion"]
    place = {(r["case"], r["lesion"]): i for i, r in enumerate(truth)}
    case = np.array([int(r["case"]) - 1 for r in truth])
    made = []
    for arm in ("aided", "unaided"):
        made.append([])
        for reader in ("R1", "R2", "R3", "R4"):
            own = [r for r in rows if (r["arm"], r["reader"]) == (arm, reader)]
            rating = np.full(len(truth), NONE)
            for r in own:
                if r["lesion"] != "0":
                    rating[place[r["case"], r["lesion"]]] = float(r["rating"])
            false = [r for r in own if r["lesion"] == "0"]
            at = np.array([int(r["case"]) - 1 for r in false])
            weight = np.array([float(r["weight"]) for r in truth])
            made[-1].append(
                Marked(24, case, rating, at, np.array([float(r["rating"]) for r in false]), weight)
            )
    return made


@pytest.mark.parametrize("of", [*AREAS, "lesion_sensitivity", "false_marks_per_case"])
def test_readers_are_analysed_as_r_does_from_the_definitions(of: str) -> None:
    """Every value, the covariances by leaving out cases, and the interval; tests/reference/lesions.R."""
    with (REFERENCE / "lesions_expected.csv").open() as lines:
        expected = {
            (r["name"], r["arm"], r["reader"]): float(r["value"])
            for r in csv.DictReader(lines)
            if r["measure"] == of
        }
    fit = fit_lesions(reference_study(), of)
    for a, arm in enumerate(("aided", "unaided")):
        for j in range(4):
            assert fit.theta[a, j] == pytest.approx(expected["value", arm, f"R{j + 1}"], abs=1e-9)
    e = fit.difference(0, 1)
    found = {"var": fit.var, "cov1": fit.cov1, "cov2": fit.cov2, "cov3": fit.cov3}
    found |= {"difference": e.value, "low": e.low, "high": e.high, "df": e.df}
    for name, value in found.items():
        assert value == pytest.approx(expected[name, "", ""], abs=2e-9, rel=1e-7), name


# ---------------------------------------------------------------- other methods of this project


@given(st.integers(0, 500))
@settings(max_examples=25, deadline=None)
def test_unweighted_area_is_a_clustered_area_of_lesions(seed: int) -> None:
    """The AFROC area is the area of lesions against the highest false ratings, cases as clusters."""
    marked = drawn(seed)
    none = ~marked.with_lesion
    score = np.concatenate([marked.lesion_rating, marked.highest_false[none]])
    truth = np.arange(len(score)) < marked.n_lesions
    cluster = np.concatenate([marked.lesion_case, np.flatnonzero(none)])
    score = np.unique(score, return_inverse=True)[1]
    other, pairs = clustered_auc(truth, score, cluster), pairs_of(marked, "afroc_auc")
    assert pairs.area == pytest.approx(other.value)
    if other.se == other.se:
        up, down = pairs.residuals()
        n1, n0 = (len(np.unique(cluster[of])) for of in (truth, ~truth))
        variance = n1 / (n1 - 1) * (up @ up) + n0 / (n0 - 1) * (down @ down)
        assert variance == pytest.approx(other.se**2)


def test_inferred_area_is_that_of_the_highest_ratings() -> None:
    marked = drawn(4, 60)
    ranks = np.unique(marked.highest, return_inverse=True)[1]
    one, other = lesion_area(marked, "inferred_roc_auc"), auc_logit_larger(marked.with_lesion, ranks)
    assert one.value == pytest.approx(other.value)
    assert one.se == pytest.approx(other.se)


@given(st.integers(0, 500))
@settings(max_examples=15, deadline=None)
def test_leaving_out_a_patient_is_computing_without_it(seed: int) -> None:
    """Also where a patient has cases of both kinds."""
    marked = drawn(seed, 12, of_patient=3)
    for of in AREAS:
        left = pairs_of(marked, of).without_each()
        for patient, value in enumerate(left):
            kept = np.flatnonzero(marked.patients != patient)
            place = np.full(marked.n_cases, -1)
            place[kept] = np.arange(len(kept))
            lesions, false = place[marked.lesion_case] >= 0, place[marked.false_case] >= 0
            own = Marked(
                len(kept),
                place[marked.lesion_case[lesions]],
                marked.lesion_rating[lesions],
                place[marked.false_case[false]],
                marked.false_rating[false],
            )
            assert value == pytest.approx(pairs_of(own, of).area, nan_ok=True)


# ---------------------------------------------------------------- sensitivity at fixed false marks


def slow_sensitivity(marked: Marked, rate: float) -> float:
    """Every threshold counted anew; linear between the two operating points beside the rate."""
    points = {(0.0, 0.0)}
    ratings = {*marked.lesion_rating[marked.lesion_rating > NONE], *marked.false_rating}
    for t in ratings:
        points.add((float((marked.false_rating >= t).sum()) / marked.n_cases,
                    float((marked.lesion_rating >= t).sum()) / marked.n_lesions))  # fmt: skip
    ordered = sorted(points)
    before = [p for p in ordered if p[0] <= rate][-1]
    after = next((p for p in ordered if p[0] > rate), None)
    if after is None:
        return before[1]
    return before[1] + (rate - before[0]) / (after[0] - before[0]) * (after[1] - before[1])


@given(st.integers(0, 500), st.sampled_from([0.125, 0.25, 0.5, 1.0, 2.0, 8.0]))
@settings(max_examples=40, deadline=None)
def test_sensitivity_at_a_rate_is_that_of_a_count_at_every_threshold(seed: int, rate: float) -> None:
    marked = drawn(seed)
    found = froc_sensitivity(marked, (rate,), rng=np.random.default_rng(1), resamples=20).at[0]
    assert found.value == pytest.approx(slow_sensitivity(marked, rate))
    assert np.isnan(found.low) or 0 <= found.low <= found.value + 1e-12 <= found.high + 2e-12 <= 1 + 3e-12


def test_counted_by_hand() -> None:
    """Two lesions of case 1 (rated 3, unmarked), one of case 2 (rated 2); false 2.5 and 1 on cases 3, 4."""
    marked = Marked(4, np.array([0, 0, 1]), np.array([3.0, NONE, 2]), np.array([2, 3]), np.array([2.5, 1]))
    found = froc_sensitivity(marked, (0.125, 0.25, 0.5, 1), rng=np.random.default_rng(1))
    assert [e.value for e in found.at] == pytest.approx([1 / 3, 2 / 3, 2 / 3, 2 / 3])
    assert found.mean.value == pytest.approx(7 / 12)
    assert [notes.NOT_REACHED in e.note for e in found.at] == [False, False, False, True]
    assert found_share(marked).value == pytest.approx(2 / 3)
    assert false_marks_per_case(marked).value == 0.5
    # pairs: 3 beats both; unmarked loses to both; 2 beats 1 and loses to 2.5
    assert pairs_of(marked, "afroc_auc").area == pytest.approx((2 + 0 + 1) / 6)
    assert pairs_of(marked, "wafroc_auc").area == pytest.approx(((1 + 0) / 2 + 0.5) / 2)


def test_variance_of_the_bootstrap_is_that_of_a_cluster_sample_where_no_threshold_is_estimated() -> None:
    """Beyond the last false mark the sensitivity is a ratio over cases with a known linearised variance."""
    marked = drawn(3, 200)
    e = froc_sensitivity(marked, (50.0,), rng=np.random.default_rng(2)).at[0]
    hit = (marked.lesion_rating > NONE).astype(float)
    of_case = np.bincount(marked.lesion_case, hit - hit.mean(), 200)
    assert e.se == pytest.approx(float(np.sqrt((of_case**2).sum())) / marked.n_lesions, rel=0.06)


# ---------------------------------------------------------------- edges


def test_perfect_and_worst_marks_have_limits_that_count_cases() -> None:
    lesions = np.array([0, 1, 2])
    best = Marked(6, lesions, np.full(3, 5.0), np.array([3]), np.array([1.0]))
    worst = Marked(6, lesions, np.full(3, NONE), np.arange(3, 6), np.ones(3))
    for marked, value in ((best, 1.0), (worst, 0.0)):
        e = lesion_area(marked)
        assert e.value == value
        assert e.method == "lesion_area_newcombe"
        assert e.note
        assert 0 <= e.low < e.high <= 1
        assert e.low < 0.6 or value == 1


def test_no_marks_at_all_are_half_an_area() -> None:
    """The expert who marks nothing (Chakraborty): credit for cases without lesions, none for lesions."""
    silent = Marked(4, np.array([0, 1]), np.full(2, NONE), np.array([], int), np.array([]))
    assert lesion_area(silent).value == 0.5
    no_marks = np.array([], int), np.array([])
    copied = Marked(8, np.arange(4), np.full(4, NONE), *no_marks, cluster=np.arange(8) // 2)
    assert lesion_area(copied).se == pytest.approx(lesion_area(silent).se, rel=0.1)
    assert false_marks_per_case(silent).value == 0
    assert false_marks_per_case(silent).high > 0
    assert froc_sensitivity(silent, rng=np.random.default_rng(1)).mean.value == 0


@pytest.mark.parametrize(
    ("lesions", "why"),
    [([], notes.NO_LESION), ([0, 1, 2], notes.NO_CASE_WITHOUT)],
    ids=["none", "every case"],
)
def test_an_undefined_area_says_why(lesions: list[int], why: str) -> None:
    case = np.array(lesions, int)
    marked = Marked(3, case, np.ones(len(case)), np.array([0]), np.array([1.0]))
    for of in AREAS:
        e = lesion_area(marked, of)
        assert np.isnan(e.value)
        assert e.note == why
        assert mean_of_readers([[marked, marked]], of) == why


def test_one_case_of_a_kind_has_a_value_and_no_interval() -> None:
    marked = Marked(3, np.array([0, 0]), np.array([2.0, 1]), np.array([1]), np.array([1.5]))
    e = lesion_area(marked)
    assert e.value == pytest.approx(0.75)
    assert np.isnan(e.low)
    assert e.note == notes.ONE_CASE
    assert mean_of_readers([[marked, marked]], "wafroc_auc") == notes.ONE_CASE


def test_a_difference_of_candidates_is_paired() -> None:
    one, other = drawn(1, 60), drawn(1, 60)
    assert lesion_area_difference(one, other).value == 0
    assert lesion_area_difference(one, other).note == notes.ALL_ALIKE
    rng = np.random.default_rng(7)
    less = Marked(
        60, one.lesion_case, one.lesion_rating, one.false_case, one.false_rating + rng.integers(0, 2, 60)
    )
    e = lesion_area_difference(less, one)
    assert e.value == pytest.approx(lesion_area(less).value - lesion_area(one).value)
    assert e.low < e.value < e.high
    with pytest.raises(ValueError, match="same cases"):
        lesion_area_difference(drawn(2, 60), one)


def test_readers_who_are_few_get_the_wider_interval() -> None:
    study = reference_study()
    four = mean_of_readers(study, "wafroc_auc")
    assert isinstance(four, MeanOfReaders)
    found = list(four.difference(0.95).values())
    assert found[0].high - found[0].low >= max(e.high - e.low for e in found[1:3]) - 1e-12
    alone = mean_of_readers([[arm[0]] for arm in study], "wafroc_auc")
    assert isinstance(alone, MeanOfReaders)
    e = next(iter(alone.difference(0.95).values()))
    assert e.method == "or_frrc"
    assert "these readers only" in english(e.note)


@pytest.mark.parametrize(
    "wrong",
    [
        {"lesion_case": np.array([9])},
        {"lesion_rating": np.array([np.nan])},
        {"false_rating": np.array([NONE])},
        {"weight": np.array([0.5])},
        {"weight": np.array([0.0])},
    ],
    ids=["case", "rating", "false mark", "weights not in sum 1", "weight of 0"],
)
def test_wrong_input_is_refused(wrong: dict[str, np.ndarray]) -> None:
    fine = {
        "lesion_case": np.array([0]),
        "lesion_rating": np.array([1.0]),
        "false_case": np.array([1]),
        "false_rating": np.array([1.0]),
    }
    Marked(2, **fine)
    with pytest.raises(ValueError, match=r"case|rating|weights"):
        Marked(2, **{**fine, **wrong})


def test_cases_of_a_patient_widen_the_interval() -> None:
    """The same marks on cases that were each copied: as many patients, twice the cases."""
    one = drawn(8, 40)
    twice = Marked(
        80,
        np.concatenate([one.lesion_case, one.lesion_case + 40]),
        np.tile(one.lesion_rating, 2),
        np.concatenate([one.false_case, one.false_case + 40]),
        np.tile(one.false_rating, 2),
        cluster=np.tile(np.arange(40), 2),
    )
    for of in AREAS:
        before, after = lesion_area(one, of), lesion_area(twice, of)
        assert after.high - after.low == pytest.approx(before.high - before.low, rel=0.01)
        assert after.high - after.low > (1 - 1e-9) * (before.high - before.low)
    plain = Marked(80, twice.lesion_case, twice.lesion_rating, twice.false_case, twice.false_rating)
    for of in AREAS:
        assert pairs_of(twice, of).area == pytest.approx(pairs_of(one, of).area)
        assert lesion_area(twice, of).se >= lesion_area(plain, of).se
    assert found_share(twice).high - found_share(twice).low > found_share(plain).high - found_share(plain).low
