"""Limits of readers within the range: published and independent values, plug-in variances by loops."""

from dataclasses import replace
from itertools import product
from math import inf, isnan, nan, sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import auc_ustatistic, fit_auc
from trustreport.measures.mrmc.in_range import (
    area_of_cases,
    by_score,
    change_of_areas,
    difference_in_range,
    on_logit,
    reference_df,
    statistic,
)
from trustreport.measures.mrmc.interval import no_interval, symmetric
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions
from trustreport.measures.mrmc.one_reader import OneReader, OneReaderArea, OneReaderYouden
from trustreport.measures.mrmc.planned import non_inferiority, performance_goal
from trustreport.measures.mrmc.power import components, components_with_gaps, expected_width, sources
from trustreport.measures.mrmc.ustatistic import UStatistic, ustatistic
from trustreport.measures.mrmc.youden import youden_in_range
from trustreport.measures.paired.difference import PairedTable, newcombe_overlap, newcombe_paired
from trustreport.measures.roc.auc import auc_logit_larger
from trustreport.measures.roc.difference import paired_difference, unpaired_difference
from trustreport.measures.two_arm.difference import newcombe

MANY = 10**9  # cases: Student's t is then the normal distribution


@pytest.mark.parametrize(
    "x, n, low, high",  # Newcombe (1998), Stat. Med. 17, 857-872, Table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (1, 29, 0.0061, 0.1718)],
)
def test_of_independent_readings_the_limits_are_those_of_wilson(
    x: int, n: int, low: float, high: float
) -> None:
    p = x / n
    e = by_score(symmetric(p, p * (1 - p) / n, n, method="or_rrrc"), MANY)
    assert (e.low, e.high) == pytest.approx((low, high), abs=5e-5)
    assert (e.low, e.high) == pytest.approx(proportion_confint(x, n, method="wilson"), rel=1e-12)
    assert e.details["effective_n"] == pytest.approx(n)
    assert e.method == "or_rrrc_score"


def test_where_all_are_right_each_case_counts_once() -> None:
    """No error in 20 cases, whoever read them: Newcombe (1998), Table I, 0 of 20: 0 to .1611."""
    right = np.ones((2, 4, 20))
    e = by_score(fit_proportions(right).arm_mean(0), 20)
    assert (e.low, e.high) == (pytest.approx(1 - 0.1611, abs=5e-5), 1)
    assert (isnan(e.se), e.note, e.n) == (True, notes.CASES_ONCE, 80)
    gaps = right.copy()
    gaps[0, 1, :7] = np.nan
    assert by_score(ustatistic(gaps, centred=True).arm_mean(0), 20).low == e.low


def test_both_limits_solve_the_equation_of_the_score() -> None:
    correct = (np.random.default_rng(4).random((2, 5, 60)) < 0.9).astype(float)
    e = fit_proportions(correct).arm_mean(1)
    made = by_score(e, 60)
    t = stats.t.ppf(0.975, min(e.df, 59))
    effective = min(e.value * (1 - e.value) / e.se**2, 300)
    for end in (made.low, made.high):
        assert abs(e.value - end) == pytest.approx(t * sqrt(end * (1 - end) / effective))
        assert abs(statistic(made, end)) == pytest.approx(t)


def test_more_than_all_readings_are_never_counted() -> None:
    e = by_score(symmetric(0.9, 1e-6, 100, df=4.0, method="or_rrrc"), 50)
    assert e.details["effective_n"] == 100
    youden = by_score(symmetric(0.8, 1e-6, 100, method="or_rrrc"), 50, low=-1, high=1, most=64.0)
    assert youden.details["effective_n"] == 64


def test_what_has_no_interval_for_another_reason_keeps_it() -> None:
    e = by_score(no_interval(0.9, 5, notes.ONE_CASE, method="or_rrrc"), 1)
    assert (isnan(e.low), e.note, e.method) == (True, notes.ONE_CASE, "or_rrrc_score")
    assert isnan(on_logit(no_interval(0.9, 5, notes.ONE_READER, method="ustatistic_centred")).low)


def test_an_area_on_the_logit_scale_by_other_software() -> None:
    """Mean, SE and df of the van Dyke readers by MRMCaov 0.3.0; logit, expit and t by scipy."""
    mean, se, df = 0.897037037037, 0.03317359695917, 12.744647598118
    e = on_logit(symmetric(mean, se**2, 570, df=df, method="or_rrrc"))
    half = stats.t.ppf(0.975, df) * se / (mean * (1 - mean))
    wanted = special.expit(special.logit(mean) + np.array([-half, half]))
    assert (e.low, e.high) == pytest.approx(tuple(wanted), rel=1e-12)
    assert (e.se, e.df, e.method) == (pytest.approx(se), df, "or_rrrc_logit")
    assert statistic(e, wanted[0]) == pytest.approx(stats.t.ppf(0.975, df))
    assert performance_goal(e, float(wanted[0])).p == pytest.approx(0.025)


def test_readers_who_rank_all_right_have_the_limits_of_one_curve() -> None:
    """Newcombe's equation at an area of 1, (1 - A)^2 = z^2 V(A), solved here by trial."""
    e = area_of_cases(no_interval(1.0, 300, notes.NO_VARIATION, method="or_rrrc_logit"), 20, 40)
    n1, n0, z = 20, 40, stats.norm.ppf(0.975)
    a = np.linspace(0.5, 1, 2_000_001)
    m = (n1 + n0) / 2 - 1
    spread = a * (1 - a) * (1 + m * (1 - a) / (2 - a) + m * a / (1 + a)) / (n1 * n0)
    crossing = a[np.argmin(np.where(a < 1, abs((1 - a) ** 2 - z * z * spread), inf))]
    assert (e.low, e.high) == (pytest.approx(crossing, abs=1e-6), 1)
    assert (e.method, e.note) == ("auc_newcombe", notes.CASES_ONCE)
    tied = no_interval(0.5, 300, notes.NO_VARIATION, method="or_rrrc_logit")
    assert area_of_cases(tied, 20, 40) is tied
    wrong = area_of_cases(replace(tied, value=0.0), 20, 40)
    assert (wrong.low, wrong.high) == (0, pytest.approx(1 - crossing, abs=1e-6))


@given(
    st.floats(-0.99, 0.99),
    st.floats(0.005, 1.2),
    st.sampled_from([1.0, 2.0, 7.3, inf]),
    st.sampled_from([0.9, 0.95, 0.99]),
)
def test_differences_stay_in_range_and_agree_with_their_p(
    value: float, se: float, df: float, level: float
) -> None:
    plain = symmetric(value, se**2, 60, df=df, level=level, method="or_rrrc", null=0.0)
    e = difference_in_range(plain)
    assert -1 <= e.low <= value <= e.high <= 1
    assert (e.p < 1 - level) == (not e.low <= 0 <= e.high)
    if plain.low >= -1 and plain.high <= 1:
        assert e is plain
    else:
        assert e.method == "or_rrrc_score"
        assert abs(statistic(e, e.low)) == pytest.approx(abs(statistic(e, e.high)), rel=1e-6)
    for margin in (0.1, 0.4):
        one_sided = non_inferiority(e, margin).p
        assert (one_sided < (1 - level) / 2) == (e.low > -margin)


AREAS = st.tuples(*[st.floats(0.951, 0.999)] * 2)


@example((0.990234375, 0.953125), 0.002, 0.046875, 0.875, 3.0)  # the limit turns back at a large t
@given(
    AREAS, st.floats(0.002, 0.05), st.floats(0.002, 0.05), st.floats(-0.9, 0.95), st.sampled_from([3.0, inf])
)
def test_a_change_of_areas_near_1_has_the_limits_of_both(
    areas: tuple[float, float], one: float, other: float, r: float, df: float
) -> None:
    value = areas[0] - areas[1]
    variance = one**2 + other**2 - 2 * r * one * other
    plain = symmetric(value, variance, 60, df=df, level=0.95, method="or_rrrc", null=0.0)
    arms = [Estimate(a, nan, nan, 60, se=se, df=df) for a, se in zip(areas, (one, other))]
    e = change_of_areas(plain, *arms)
    assert e.method == "or_rrrc_mover"
    assert -1 < e.low <= value <= e.high < 1
    own, theirs = (on_logit(replace(plain, value=a, se=se)) for a, se in zip(areas, (one, other)))
    below, above = value - e.low, e.high - value
    parts = [(areas[0] - own.low, theirs.high - areas[1]), (own.high - areas[0], areas[1] - theirs.low)]
    for found, (mine, yours) in zip((below, above), parts):
        assert found**2 == pytest.approx(mine**2 + yours**2 - 2 * r * mine * yours, rel=1e-6, abs=1e-12)
    if abs(value) > 1e-6:
        assert (e.p < 0.05) == (not e.low <= 0 <= e.high)
    assert abs(statistic(e, value)) < 1e-6


def test_a_change_of_areas_away_from_1_is_as_it_was() -> None:
    plain = symmetric(0.1, 0.02**2, 60, df=9.0, level=0.95, method="or_rrrc", null=0.0)
    arms = [Estimate(a, nan, nan, 60, se=0.02) for a in (0.949, 0.849)]
    assert change_of_areas(plain, *arms) is plain
    assert change_of_areas(plain, replace(arms[0], value=1.0, se=nan), arms[1]) is plain


def test_degrees_of_freedom_of_a_u_statistic_are_rounded_down_whatever_its_limits() -> None:
    e = Estimate(0.9, 0.8, 1.0, 50, method="ustatistic_plugin_score", se=0.05, df=7.9)
    assert reference_df(e) == 7
    assert reference_df(replace(e, df=50.5)) == inf
    assert reference_df(replace(e, method="or_rrrc_score")) == 7.9


# ---------------------------------------------------------------- plug-in components


def plugged(weights: list[float], outcome: np.ndarray) -> float:
    """The plug-in variance of a contrast of proportions, by loops over readings."""
    parts: dict[str, dict[int, float]] = {"reader": {}, "case": {}}
    counts: dict[str, list[float]] = {"reader": [], "case": []}
    for arm, weight in enumerate(weights):
        read = [(j, k) for j, k in np.ndindex(outcome[arm].shape) if not np.isnan(outcome[arm, j, k])]
        mean = sum(outcome[arm, j, k] for j, k in read) / len(read)
        pairs = list(product(read, read))
        for source, place in (("reader", 0), ("case", 1)):
            shared = sum(one[place] == other[place] for one, other in pairs)
            counts[source].append(int(len(pairs) / shared - 1 + 0.5))
            for reading in read:
                own = weight * (outcome[arm][reading] - mean) / len(read)
                at = reading[place]
                parts[source][at] = parts[source].get(at, 0.0) + own * sqrt(
                    (counts[source][-1] + 1) / counts[source][-1]
                )
    return sum(u**2 for of in parts.values() for u in of.values())


def test_the_plug_in_variance_is_a_sum_of_squares() -> None:
    rng = np.random.default_rng(6)
    outcome = (rng.random((2, 4, 9)) < 0.7).astype(float)
    outcome[rng.random(outcome.shape) < 0.3] = np.nan
    u = ustatistic(outcome, centred=True).plugged_in()
    for weights in ([1.0, 0.0], [0.0, 1.0], [1.0, -1.0], [0.3, 0.7]):
        arms = np.flatnonzero(weights)
        e = u.contrast(np.array(weights))
        assert e.se**2 == pytest.approx(plugged(weights, outcome))
        assert e.df == u.counts[:, arms].min()
        assert (e.method, e.note) == ("ustatistic_plugin", notes.PLUGGED_IN)


def test_the_plug_in_variance_of_an_area_is_one_too() -> None:
    rng = np.random.default_rng(8)
    truth = np.arange(11) < 5
    rating = np.round(rng.normal(truth * 1.0, 1, (1, 3, 11)), 0)
    rating[rng.random(rating.shape) < 0.2] = np.nan
    u = auc_ustatistic(rating, truth, centred=True)
    won = {
        (j, a, b): (rating[0, j, a] > rating[0, j, b]) + (rating[0, j, a] == rating[0, j, b]) / 2
        for j, a, b in product(range(3), np.flatnonzero(truth), np.flatnonzero(~truth))
        if not np.isnan(rating[0, j, [a, b]]).any()
    }
    mean = sum(won.values()) / len(won)
    wanted = 0.0
    for s in range(3):
        of: dict[int, float] = {}
        for key, psi in won.items():
            of[key[s]] = of.get(key[s], 0.0) + (psi - mean) / len(won)
        shared = sum(one[s] == other[s] for one, other in product(won, won))
        m = int(len(won) ** 2 / shared - 1 + 0.5)
        wanted += (m + 1) / m * sum(x * x for x in of.values())
    e = u.plugged_in().arm_mean(0)
    assert (e.value, e.se**2) == (pytest.approx(mean), pytest.approx(wanted))


def without_positive_variance() -> tuple[UStatistic, np.ndarray]:
    """A study with gaps whose unbiased variance is not positive."""
    for seed in range(500):
        rng = np.random.default_rng(seed)
        outcome = (rng.random((2, 3, 15)) < 0.9).astype(float)
        outcome[rng.random(outcome.shape) < 0.25] = np.nan
        u = ustatistic(outcome, centred=True)
        if u.components()["variance"] < 0:
            return u, outcome
    pytest.fail("no such study drawn")


def test_a_variance_that_is_not_positive_is_replaced_and_named() -> None:
    u, outcome = without_positive_variance()
    e = u.difference()
    assert (e.method, e.note, u.method) == ("ustatistic_plugin", notes.PLUGGED_IN, "ustatistic_centred")
    assert e.se**2 == pytest.approx(plugged([-1.0, 1.0], outcome))
    half = stats.t.ppf(0.975, u.counts.min()) * e.se
    assert (e.low, e.high) == pytest.approx((e.value - half, e.value + half))
    behind = u.for_difference()
    assert behind.method == "ustatistic_plugin"
    v = behind.mean_covariance(1, 0)
    assert v[0, 0] + v[1, 1] - 2 * v[0, 1] == pytest.approx(e.se**2)
    assert behind.reference_df(1, 0) == reference_df(e)
    published = ustatistic(outcome).difference()
    assert published.method == "ustatistic_bdg"


def test_a_positive_variance_is_left_as_it_is() -> None:
    rng = np.random.default_rng(1)
    outcome = (rng.random((2, 5, 40)) < 0.7).astype(float)
    outcome[rng.random(outcome.shape) < 0.1] = np.nan
    u = ustatistic(outcome, centred=True)
    assert u.for_difference() is u
    assert u.difference().se ** 2 == pytest.approx(u.components()["variance"])


# ---------------------------------------------------------------- one reader


def one_reader(b: int, c: int, both: int, neither: int) -> np.ndarray:
    """One reader's two arms with b cases gained and c lost."""
    pairs = [(1.0, 0.0)] * b + [(0.0, 1.0)] * c + [(1.0, 1.0)] * both + [(0.0, 0.0)] * neither
    return np.array(pairs).T[:, None, :]


@pytest.mark.parametrize("b, c", [(12, 4), (4, 12), (7, 2), (3, 0), (5, 5)])
def test_p_of_one_reader_is_that_of_mcnemar_and_agrees_with_tango(b: int, c: int) -> None:
    for level in (0.8, 0.9, 0.95, 0.99):
        e = OneReader(one_reader(b, c, 30, 9)).difference(0, 1, level=level)
        table = [[30, c], [b, 9]]
        assert e.p == pytest.approx(mcnemar(table, exact=False, correction=False).pvalue)
        assert (e.p < 1 - level) == (not e.low <= 0 <= e.high)
        assert (e.method, e.note) == ("tango", notes.ONLY_FIXED)
        z = -special.ndtri((1 - level) / 2)
        assert [abs(statistic(e, end)) for end in (e.low, e.high)] == pytest.approx([z, z])


def test_one_reader_without_a_discordant_pair_has_an_interval_and_a_p_of_1() -> None:
    e = OneReader(one_reader(0, 0, 30, 9)).difference(0, 1)
    assert e.p == 1
    assert e.low < 0 < e.high


def test_a_share_of_one_reader_is_wilson() -> None:
    e = OneReader(one_reader(12, 4, 30, 9)).arm_mean(0)
    assert (e.low, e.high) == pytest.approx(proportion_confint(42, 55, method="wilson"))
    p = performance_goal(e, 0.6).p
    assert p == pytest.approx(stats.norm.sf((42 / 55 - 0.6) / sqrt(0.24 / 55)))


def test_cases_read_in_one_arm_only_lie_between_pairs_and_two_groups() -> None:
    table = PairedTable(28, 10, 3, 4)
    pairs = newcombe_overlap((38, 45), (31, 45), table)
    beside = newcombe_paired(table)
    assert (pairs.value, pairs.low, pairs.high) == pytest.approx((beside.value, beside.low, beside.high))
    groups = newcombe_overlap((38, 45), (31, 45), PairedTable(0, 0, 0, 0))
    apart = newcombe(38, 45, 31, 45)
    assert (groups.low, groups.high) == pytest.approx((apart.low, apart.high))
    some = newcombe_overlap((50, 60), (40, 58), table)
    assert some.details["rho"] == pytest.approx(pairs.details["rho"] * 45 / sqrt(60 * 58))


@pytest.mark.parametrize("right", [(50, 40), (40, 50), (52, 30)])
def test_the_interval_at_1_less_p_ends_at_0(right: tuple[int, int]) -> None:
    table = PairedTable(14, 3, 2, 1)
    p = newcombe_overlap((right[0], 60), (right[1], 60), table).p
    again = newcombe_overlap((right[0], 60), (right[1], 60), table, 1 - p)
    assert min(abs(again.low), abs(again.high)) < 1e-9


def test_youden_of_one_reader_and_at_a_prevalence() -> None:
    outcome = one_reader(12, 4, 30, 9)
    both = OneReaderYouden(OneReader(outcome[:, :, ::2]), OneReader(outcome[:, :, 1::2]))
    e = both.arm_mean(0)
    parts = [OneReader(outcome[:, :, i::2]).arm_mean(0) for i in (0, 1)]
    below = sqrt(sum((p.value - p.low) ** 2 for p in parts))
    assert e.low == pytest.approx(sum(p.value for p in parts) - 1 - below)
    changes = [OneReader(outcome[:, :, i::2]).difference(0, 1) for i in (0, 1)]
    weighted = OneReaderYouden(both.sensitivity, both.specificity, (0.1, 0.9), 0.0).difference(0, 1)
    assert weighted.value == pytest.approx(0.1 * changes[0].value + 0.9 * changes[1].value)
    above = sqrt(sum((w * (c.high - c.value)) ** 2 for w, c in zip((0.1, 0.9), changes)))
    assert weighted.high == pytest.approx(weighted.value + above)


def test_youden_of_perfect_readers_has_the_limits_of_both_classes() -> None:
    """Wilson's 20 of 20 and 40 of 40, put together by hand."""
    e = youden_in_range(
        no_interval(1.0, 180, notes.NO_VARIATION, method="or_rrrc"),
        [np.ones((3, 20)), np.ones((3, 40))],
        [20, 40],
    )
    lower = [proportion_confint(n, n, method="wilson")[0] for n in (20, 40)]
    assert (e.low, e.high) == (pytest.approx(1 - sqrt(sum((1 - x) ** 2 for x in lower))), 1)
    assert (e.method, e.note) == ("mover", notes.CASES_ONCE)


# ---------------------------------------------------------------- where the variance comes from


def test_sources_add_up_to_the_variance_of_the_change() -> None:
    for seed in range(30):
        rng = np.random.default_rng(seed)
        skill = rng.normal(0.75, 0.12, (2, 4, 1)) + rng.normal(0, 0.2, (2, 1, 80))
        fit = fit_proportions((rng.random((2, 4, 80)) < skill).astype(float))
        pilot = components(fit)
        shares = sources(pilot, 4)
        assert sum(shares.values()) == pytest.approx(1)
        if pilot.note:
            continue
        e = fit.difference()
        assert shares["readers"] * e.se**2 == pytest.approx(2 * fit.components().arm_reader / 4)
        assert shares["cases"] * e.se**2 == pytest.approx(2 * (fit.cov2 - fit.cov3))
        assert expected_width(pilot, 4, 80).value >= e.high - e.low - 1e-12
        return
    pytest.fail("no study without a negative component drawn")


def test_the_area_of_one_reader_is_that_of_a_set_and_its_change_that_of_pairs() -> None:
    rng = np.random.default_rng(4)
    truth = np.arange(40) < 15
    rating = rng.normal(truth * np.array([1.0, 1.6])[:, None, None] + rng.normal(0, 0.7, 40), 1, (2, 1, 40))
    e, paired = OneReaderArea(rating, truth).difference(1, 0), paired_difference(truth, *rating[::-1, 0])
    assert (e.value, e.low, e.high, e.p) == pytest.approx((paired.value, paired.low, paired.high, paired.p))
    assert OneReaderArea(rating, truth).arm_mean(0).low == auc_logit_larger(truth, rating[0, 0]).low
    # No case read in both arms: two sets of cases.
    rating[0, 0, ::2], rating[1, 0, 1::2] = np.nan, np.nan
    e, half = OneReaderArea(rating, truth).difference(1, 0), np.arange(40) % 2 == 0
    apart = unpaired_difference(truth[half], rating[1, 0, half], truth[~half], rating[0, 0, ~half])
    assert e.value == pytest.approx(apart.value)
    assert e.se == pytest.approx(apart.se, rel=0.02)
    assert OneReaderArea(rating[:, :, truth], truth[truth]).difference(1, 0).note == notes.ONE_CLASS
    assert isnan(OneReaderArea(np.full((2, 1, 40), np.nan), truth).difference(1, 0).value)


@pytest.mark.parametrize("seed", range(6))
def test_components_with_gaps_are_those_of_a_crossed_study_without(seed: int) -> None:
    """Two models of one variance (Obuchowski, Gallas and Hillis 2012), each estimated without bias."""
    rng = np.random.default_rng(seed)
    truth = np.arange(50) < 20
    of_readers = rng.normal(0, 0.4, (2, 4, 1)) + rng.normal(0, 0.7, 50)
    rating = rng.normal(truth * np.array([1.0, 1.6])[:, None, None] + of_readers, 1, (2, 4, 50))
    correct = ((rating > 0.7) == truth).astype(float)
    pairs = (
        (components(fit_proportions(correct)), components_with_gaps(ustatistic(correct, centred=True), [50])),
        (
            components(fit_auc(rating, truth, "unbiased")),
            components_with_gaps(auc_ustatistic(rating, truth, centred=True), [20, 30]),
        ),
    )
    for crossed, moments in pairs:
        for name in ("arm_reader", "own", "shared"):
            assert getattr(moments, name) == pytest.approx(getattr(crossed, name), abs=1e-12)
        assert (moments.n_cases, moments.note) == (crossed.n_cases, crossed.note)


def test_components_with_gaps_vary_about_those_without() -> None:
    """The mean over patterns of gaps, 30% of the readings at random."""
    rng = np.random.default_rng(1)
    correct = (rng.random((2, 4, 60)) < rng.normal([[0.5], [0.7]], 0.3, (2, 4))[:, :, None]).astype(float)
    whole = components(fit_proportions(correct))
    found = []
    for _ in range(300):
        gaps = np.where(rng.random(correct.shape) < 0.3, np.nan, correct)
        found.append(components_with_gaps(ustatistic(gaps, centred=True), [60]))
    for name in ("arm_reader", "own"):
        values = np.array([getattr(one, name) for one in found])
        assert abs(values.mean() - getattr(whole, name)) < 0.1 * getattr(whole, name)


def test_no_component_is_no_source() -> None:
    pilot = components(fit_proportions(np.ones((2, 3, 10))))
    assert all(isnan(share) for share in sources(pilot, 3).values())
    assert isnan(expected_width(pilot, 5, 10).value)
