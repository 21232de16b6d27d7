"""A proportion over sites in one model: R's values, counts by hand, properties, edges."""

from math import inf, isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from trustreport.measures.estimate import Estimate
from trustreport.measures.sites import binomial_normal as module
from trustreport.measures.sites.binomial_normal import binomial_normal
from trustreport.measures.sites.heterogeneity import NO_PREDICTION, NO_SPREAD_FOUND, ONE_SITE, heterogeneity

# tests/reference/binomial_normal.R: events, cases; mu, se and tau2 by rma.glmm; then limits of the likelihood
# integrated by integrate(); chi-square by prop.test.
R_VALUES = {
    "one_at_zero": (
        ([36, 37, 35, 0], [40, 40, 40, 10]),
        (0.880577, 1.37193, 6.44428),
        (0.7069418, 0.0007374767, 0.9982841),
        (1.11987, 364.7),
        (53.537458, 3, 1.40817e-11),
    ),
    "some_at_all": (
        ([20, 19, 58, 60, 150, 20], [20, 20, 60, 60, 160, 21]),
        (3.3034, 0.462804, 0.13563),
        (0.9645451, 0.9222167, 0.9953377),
        (0.0, 9.91437),
        (5.4484343, 5, 0.363633),
    ),
    "unequal": (
        ([180, 45, 70, 12, 33], [200, 60, 75, 20, 40]),
        (1.63472, 0.338336, 0.429801),
        (0.8368152, 0.631726, 0.9374027),
        (0.0548727, 6.1339),
        (23.780091, 4, 8.84043e-05),
    ),
    "alike": (
        ([36, 37, 35], [40, 40, 40]),
        (2.19722, 0.30429, 0.0),
        (0.9, 0.7647065, 0.9689034),
        (0.0, 7.53354),
        (0.55555556, 2, 0.757465),
    ),
}


@pytest.mark.parametrize("name", R_VALUES)
def test_agrees_with_r(name: str) -> None:
    counts, (mu, se, tau2), median, spread, equal = R_VALUES[name]
    found = binomial_normal(*counts)
    details = found.mean.details
    assert (details["scale_value"], found.mean.se) == pytest.approx((mu, se), rel=2e-5)
    assert found.tau2.value == pytest.approx(tau2, rel=2e-5, abs=1e-9)
    assert (found.mean.value, found.mean.low, found.mean.high) == pytest.approx(median, rel=2e-5)
    assert (found.tau2.low, found.tau2.high) == pytest.approx(spread, rel=2e-5)
    assert (details["q"], details["q_df"], details["q_p"]) == pytest.approx(equal, rel=1e-5)


def test_a_site_that_finds_nobody_is_part_of_it() -> None:
    """The three others average 90%."""
    found = binomial_normal([36, 37, 35, 0], [40, 40, 40, 10]).mean
    others = binomial_normal([36, 37, 35], [40, 40, 40]).mean
    assert found.value == pytest.approx(0.707, abs=5e-4)
    assert others.value == pytest.approx(0.9)
    assert found.low < 0.6 < others.low


def test_sites_that_do_not_differ_are_one_sample() -> None:
    found = binomial_normal([16, 16, 16, 16], [20, 20, 20, 20])
    assert found.tau2.value == 0
    assert found.tau2.note == found.i2.note == NO_SPREAD_FOUND
    assert found.mean.value == pytest.approx(64 / 80)
    assert found.mean.se == pytest.approx((80 * 0.8 * 0.2) ** -0.5)
    assert found.prediction_interval.low < found.mean.low
    assert found.i2.low == 0 < found.i2.high < 1


def test_large_sites_have_students_interval_of_their_logits() -> None:
    """With known logits the median is their mean, and its interval Student's."""
    logits = np.array([1.0, 1.8, 2.4, 0.7, 1.6])
    n = np.full(5, 10**7)
    found = binomial_normal(np.round(n * expit(logits)), n)
    half = 2.7764451052 * logits.std(ddof=1) / 5**0.5
    ends = (logits.mean() - half, logits.mean() + half)
    assert logit([found.mean.low, found.mean.high]) == pytest.approx(ends, rel=1e-4)
    squares = ((logits - logits.mean()) ** 2).sum()
    assert found.tau2.value == pytest.approx(squares / 5, rel=1e-4)
    assert found.tau2.high == pytest.approx(squares / 0.4844185571, rel=1e-4)
    weighed = heterogeneity(expit(logits), expit(logits) * expit(-logits) / n, scale="logit")
    assert (found.mean.low, found.mean.high) == pytest.approx((weighed.mean.low, weighed.mean.high), rel=1e-4)


SITES = st.lists(
    st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=2, max_size=6
)


@settings(max_examples=10, deadline=None)
@given(sites=SITES, random=st.randoms(use_true_random=False))
def test_interval_includes_its_value_and_follows_the_sites(
    sites: list[tuple[int, int]], random: object
) -> None:
    x, n = np.array(sites).T
    found = binomial_normal(x, n)
    if ((x == 0) | (x == n)).all():
        assert found.mean.note == module.ONLY_ENDS
        return
    for e in (found.mean, found.tau2, found.i2):
        assert e.low <= e.value <= e.high
    assert found.mean.low >= 0
    assert found.mean.high <= 1
    if len(sites) > 2:
        new = found.prediction_interval
        assert new.low <= found.mean.low <= found.mean.high <= new.high
    other = binomial_normal(n - x, n)
    turned = (1 - other.mean.value, 1 - other.mean.high, 1 - other.mean.low)
    assert (found.mean.value, found.mean.low, found.mean.high) == pytest.approx(turned, abs=1e-6)
    shuffled = sites.copy()
    random.shuffle(shuffled)
    assert binomial_normal(*zip(*shuffled)) == found


@pytest.mark.parametrize(
    "events, cases, note",
    [
        ([], [], ONE_SITE),
        ([9], [10], ONE_SITE),
        ([10, 20, 5], [10, 20, 5], module.ONLY_ENDS),
        ([0, 0], [10, 20], module.ONLY_ENDS),
        ([0, 20], [10, 20], module.ONLY_ENDS),
    ],
)
def test_undefined(events: list[int], cases: list[int], note: str) -> None:
    found = binomial_normal(events, cases)
    for e in (found.mean, found.tau2, found.i2, found.prediction_interval):
        assert isnan(e.value)
        assert isnan(e.low)
        assert e.note == note
        assert e.n == len(cases)


def test_two_sites_and_sites_at_both_ends() -> None:
    two = binomial_normal([18, 19], [20, 20])
    assert two.prediction_interval.note == NO_PREDICTION
    assert two.mean.low < 0.925 < two.mean.high
    apart = binomial_normal([0, 5, 10], [10, 10, 10])
    assert apart.mean.value == pytest.approx(0.5)
    assert apart.mean.high - apart.mean.low > 0.999
    assert (apart.tau2.high, apart.tau2.note) == (inf, module.NO_UPPER_LIMIT)
    assert apart.i2.high == 1


def test_wrong_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry a site"):
        binomial_normal([1, 2], [3])
    for events, cases in (([1, 4], [3, 3]), ([-1, 2], [3, 3]), ([0, 2], [0, 3])):
        with pytest.raises(ValueError, match="at least one case"):
            binomial_normal(events, cases)
    with pytest.raises(ValueError, match="level must lie"):
        binomial_normal([1, 2], [3, 3], level=95)


def test_a_higher_level_is_wider() -> None:
    ends: list[Estimate] = [
        binomial_normal([18, 15, 20, 17], [20] * 4, level=level).mean for level in (0.8, 0.95, 0.99)
    ]
    assert ends[2].low < ends[1].low < ends[0].low < ends[0].high < ends[1].high < ends[2].high
