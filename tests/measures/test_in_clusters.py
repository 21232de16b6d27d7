"""Raters, pairs, readings with gaps and medians where cases belong together, compared with statsmodels."""

import numpy as np
import pytest
from scipy.stats import t as student
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.inter_rater import cohens_kappa as kappa_of_statsmodels
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from tests.english import english
from trustreport.measures.agreement.coefficients import icc
from trustreport.measures.agreement.kappa import cohen_kappa, fleiss_kappa, percent_agreement
from trustreport.measures.agreement.labels import variance_of_mean
from trustreport.measures.monitoring.rates import median
from trustreport.measures.mrmc.crossed_clusters import clustered_means, independent_readings
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.note import note
from trustreport.measures.paired.difference import (
    PairedTable,
    correlation_of_sums,
    score_limits,
    tango,
    tango_clustered,
)

CLUSTER = np.repeat(np.arange(60), 4)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(8)


def drawn_labels(rng: np.random.Generator, raters: int) -> np.ndarray:
    """Labels (240, raters) of 60 patients of four cases: the truth and the difficulty are the patient's."""
    truth = rng.random(60) < 0.4
    difficulty = rng.beta(1, 4, 60)
    wrong = rng.random((240, raters)) < difficulty[CLUSTER][:, None]
    return (truth[CLUSTER][:, None] ^ wrong).astype(np.int64)


def test_the_variance_of_a_mean_is_that_of_statsmodels(rng: np.random.Generator) -> None:
    parts = rng.normal(size=60)[CLUSTER] + rng.normal(size=240)
    fit = OLS(parts, np.ones(240)).fit(cov_type="cluster", cov_kwds={"groups": CLUSTER})
    variance, units = variance_of_mean(parts, CLUSTER)
    assert (variance, units) == (pytest.approx(fit.bse[0] ** 2, rel=1e-10), 60)


def test_percent_agreement_has_the_score_limits_of_the_clusters(rng: np.random.Generator) -> None:
    codes = drawn_labels(rng, 2)
    same = (codes[:, 0] == codes[:, 1]).astype(float)
    fit = OLS(same, np.ones(240)).fit(cov_type="cluster", cov_kwds={"groups": CLUSTER})
    p, n, t = same.mean(), same.mean() * (1 - same.mean()) / fit.bse[0] ** 2, student.ppf(0.975, 59)
    centre, half = p + t**2 / (2 * n), t * np.sqrt(p * (1 - p) / n + t**2 / (4 * n**2))
    e = percent_agreement(codes, 2, interval="score", cluster=CLUSTER)
    wanted = [(centre - half) / (1 + t**2 / n), (centre + half) / (1 + t**2 / n)]
    assert [e.low, e.high] == pytest.approx(wanted, rel=1e-9)
    plain = percent_agreement(codes, 2, interval="score")
    assert e.high - e.low > plain.high - plain.low


@pytest.mark.parametrize("name", ["cohen", "fleiss"])
def test_kappa_varies_as_without_one_patient_at_a_time(name: str, rng: np.random.Generator) -> None:
    """Against the jackknife over patients of the kappas of statsmodels."""
    codes = drawn_labels(rng, 2 if name == "cohen" else 5)

    def elsewhere(of: np.ndarray) -> float:
        if name == "cohen":
            table = np.histogram2d(of[:, 0], of[:, 1], bins=[[-0.5, 0.5, 1.5]] * 2)[0]
            return float(kappa_of_statsmodels(table, return_results=False))
        return float(fleiss_of_statsmodels(np.stack([(of == k).sum(axis=1) for k in (0, 1)], axis=1)))

    without = np.array([elsewhere(codes[g != CLUSTER]) for g in range(60)])
    se = np.sqrt(59 / 60 * np.sum((without - without.mean()) ** 2))
    e = (
        cohen_kappa(codes[:, 0], codes[:, 1], 2, cluster=CLUSTER)
        if name == "cohen"
        else fleiss_kappa(codes, 2, cluster=CLUSTER)
    )
    assert e.value == pytest.approx(elsewhere(codes), abs=1e-12)
    assert e.se == pytest.approx(se, rel=0.03)
    assert (e.df, e.details["clusters"]) == (59, 60)


def test_an_intraclass_correlation_of_clusters_has_no_limits(rng: np.random.Generator) -> None:
    values = rng.normal(size=60)[CLUSTER][:, None] + rng.normal(size=(240, 3))
    e = icc(values, cluster=CLUSTER)
    assert e.value == icc(values).value
    assert np.isnan(e.low)
    assert "treat them as independent" in english(e.note)


def test_pairs_that_are_copies_have_the_limits_of_one_of_each() -> None:
    """Tango's published example of 32 pairs, each four times, with the t quantile of 31 df in place of z."""
    table = PairedTable(26, 5, 1, 0)
    change = np.repeat([0.0, 1.0, -1.0], [26, 5, 1])
    plain = tango(table)
    e = tango_clustered(np.repeat(change, 4), np.repeat(np.arange(32), 4))
    assert e.value == plain.value
    assert e.details["design_effect"] == pytest.approx(4, rel=0.05)
    wanted = score_limits(5, 1, 32, student.ppf(0.975, 31))
    assert [e.low, e.high] == pytest.approx(wanted, abs=0.004)
    assert e.low < plain.low
    assert e.high > plain.high


def test_clusters_within_clusters_count_where_they_are_more_alike() -> None:
    """Two readers of 16 patients whose changes cancel, each reading four times."""
    change, patient = np.repeat(np.tile([1.0, -1.0], 16), 4), np.repeat(np.arange(16), 8)
    whole = tango_clustered(change, patient)
    e = tango_clustered(change, patient, within=np.repeat(np.arange(32), 4))
    assert whole.details["design_effect"] == 1
    assert e.details["design_effect"] == pytest.approx(4 * (32 / 31) / (128 / 127))
    assert (e.df, e.value) == (whole.df, whole.value)
    wanted = score_limits(16, 16, 32, student.ppf(0.975, 15))
    assert [e.low, e.high] == pytest.approx(wanted, abs=0.01)


def test_without_a_pair_that_differs_a_cluster_is_one_case() -> None:
    e = tango_clustered(np.zeros(40), np.arange(40) // 4)
    wanted = score_limits(0, 0, 10, student.ppf(0.975, 9))
    assert [e.low, e.high] == pytest.approx(wanted)
    assert e.note == note("no_pair_differs_interval_counts_clusters")
    assert e.p == 1
    assert np.isnan(tango_clustered(np.zeros(4), np.zeros(4, np.int64)).low)


def test_the_p_of_pairs_agrees_with_the_limits(rng: np.random.Generator) -> None:
    for _ in range(20):
        change = rng.choice([-1.0, 0.0, 1.0], size=60, p=[0.1, 0.6, 0.3])[CLUSTER]
        change = np.where(rng.random(240) < 0.5, change, 0.0)
        e = tango_clustered(change, CLUSTER, level=0.9)
        assert (e.p < 0.1) == (e.low > 0 or e.high < 0)


def test_readings_that_are_copies_change_nothing(rng: np.random.Generator) -> None:
    outcome = (rng.random((2, 6, 50)) < 0.7).astype(float)
    outcome[rng.random(outcome.shape) < 0.15] = np.nan
    once = ustatistic(outcome, centred=True).difference(1, 0)
    again = ustatistic(np.tile(outcome, 3), centred=True, cluster=np.tile(np.arange(50), 3)).difference(1, 0)
    assert [again.value, again.se, again.low, again.high] == pytest.approx(
        [once.value, once.se, once.low, once.high], rel=1e-9
    )
    assert (again.n, again.details["clusters"]) == (3 * once.n, 50)


def test_patients_of_equal_size_count_by_their_means(rng: np.random.Generator) -> None:
    """Patients of three cases each, all read: as if each had one reading, the mean of his three."""
    outcome = (rng.random((2, 5, 60)) < 0.75).astype(float)
    cluster = np.arange(60) // 3
    e = ustatistic(outcome, cluster=cluster).difference(1, 0)
    summed = outcome.reshape(2, 5, 20, 3).mean(axis=3)
    assert e.se == pytest.approx(ustatistic(summed).difference(1, 0).se, rel=1e-9)


def test_how_many_readings_are_independent(rng: np.random.Generator) -> None:
    right = (rng.random((4, 60)) < 0.7).astype(float)[:, CLUSTER]
    assert independent_readings(right, CLUSTER) == pytest.approx(4 * 60, rel=0.02)
    alone = (rng.random((4, 240)) < 0.7).astype(float)
    assert independent_readings(alone, CLUSTER) == pytest.approx(960, rel=0.25)
    assert clustered_means(alone[None], CLUSTER).arm_mean(0).details["clusters"] == 60


def test_the_middle_of_copies_has_the_limits_of_one_of_each(rng: np.random.Generator) -> None:
    values = rng.exponential(size=81)
    once, again = median(values), median(np.tile(values, 3), cluster=np.tile(np.arange(81), 3))
    assert again.value == once.value
    x = np.sort(values)
    at = [int(np.searchsorted(x, limit)) for e in (once, again) for limit in (e.low, e.high)]
    assert 0 <= at[0] - at[2] <= 1
    assert 0 <= at[3] - at[1] <= 1


def test_the_correlation_over_patients_is_that_of_their_sums(rng: np.random.Generator) -> None:
    one, other = rng.normal(size=120), rng.normal(size=120)
    of_one, of_other = np.repeat(np.arange(40), 3), np.repeat(np.arange(20, 60), 3)
    sums = [np.array([x[of == g].sum() for g in range(60)]) for x, of in ((one, of_one), (other, of_other))]
    wanted = sums[0] @ sums[1] / np.sqrt((sums[0] @ sums[0]) * (sums[1] @ sums[1]))
    assert correlation_of_sums(one, of_one, other, of_other) == pytest.approx(wanted)
