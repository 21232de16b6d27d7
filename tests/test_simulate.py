"""Simulated readings against the closed forms of their models."""

import doctest
import json
from dataclasses import replace
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples import sequential_reading as drawn
from examples.sequential_reading import Behaviour, sequential_reading
from trustreport.planning import simulate
from trustreport.planning.simulate import STRUCTURES, Variances, roe_metz

PHI = NormalDist().cdf
NEVER, ALWAYS = Behaviour(reliance=-np.inf, slip=0), Behaviour(reliance=np.inf, slip=0)


def seeded(seed=7):
    return np.random.default_rng(seed)


def auc(truth, rating):
    """Share of pairs in the right order, over the last axis; ties do not occur in a continuous model."""
    return (rating[..., truth][..., :, None] > rating[..., ~truth][..., None, :]).mean((-2, -1))


# Roe and Metz (1997), Acad. Radiol. 4, 298-303, Table 1: case-related components add up to 1.
@pytest.mark.parametrize(("name", "total"), [("HL", 1.011), ("LL", 1.011), ("HH", 1.06), ("LH", 1.06)])
def test_named_structures(name, total):
    assert STRUCTURES[name].total == pytest.approx(total, abs=1e-12)


def test_structures_are_those_of_the_reference_simulation(reference):
    text = (reference / "mrmc" / "expected.json").read_text()
    assert "reader .0055 modality-reader .0055 case .3 modality-case .3 reader-case .2 error .2" in text
    assert "reader .03 modality-reader .03 case .1 modality-case .1 reader-case .2 error .6" in text
    assert STRUCTURES["HL"] == Variances(0.0055, 0.0055, 0.3, 0.3, 0.2, 0.2)
    assert STRUCTURES["HH"] == replace(STRUCTURES["HL"], reader=0.03, arm_reader=0.03)
    assert STRUCTURES["LH"] == Variances(0.03, 0.03, 0.1, 0.1, 0.2, 0.6)


def test_roe_metz_has_the_stated_shape_and_repeats_with_the_seed():
    size = {"n_readers": 4, "n_positives": 3, "n_negatives": 5}
    truth, rating = roe_metz([1.0, 1.2], STRUCTURES["LH"], **size, rng=seeded())
    assert truth.tolist() == [False] * 5 + [True] * 3
    assert rating.shape == (2, 4, 8)
    again = roe_metz([1.0, 1.2], STRUCTURES["LH"], **size, rng=seeded(), n_replicates=1)[1]
    np.testing.assert_array_equal(rating, again[0])
    many = roe_metz([1.0, 1.2], STRUCTURES["LH"], **size, rng=seeded(), n_replicates=6)[1]
    assert many.shape == (6, 2, 4, 8)
    assert not np.array_equal(many[0], many[1])


def test_roe_metz_moments():
    """Means, total variance and the covariances that single out each component."""
    var = Variances(reader=0.5, arm_reader=0.3, case=0.7, arm_case=0.4, reader_case=0.6, error=0.2)
    positive = Variances(*(2 * np.array([0.5, 0.3, 0.7, 0.4, 0.6, 0.2])))
    mu, runs = [1.0, 2.0], 20_000
    truth, x = roe_metz(
        mu,
        var,
        variances_positive=positive,
        n_readers=2,
        n_positives=2,
        n_negatives=2,
        rng=seeded(),
        n_replicates=runs,
    )
    assert x[..., ~truth].mean((0, 2, 3)) == pytest.approx([0, 0], abs=0.04)
    assert x[..., truth].mean((0, 2, 3)) == pytest.approx(mu, abs=0.04)
    for cases, v in (((0, 1), var), ((2, 3), positive)):
        k, other = cases
        pairs = {
            v.total: (x[:, 0, 0, k], x[:, 0, 0, k]),
            v.reader + v.arm_reader: (x[:, 0, 0, k], x[:, 0, 0, other]),
            v.reader: (x[:, 0, 0, k], x[:, 1, 0, other]),
            v.case + v.arm_case: (x[:, 0, 0, k], x[:, 0, 1, k]),
            v.case: (x[:, 0, 0, k], x[:, 1, 1, k]),
            v.reader + v.case + v.reader_case: (x[:, 0, 0, k], x[:, 1, 0, k]),
            0.0: (x[:, 0, 0, k], x[:, 0, 1, other]),
        }
        for expected, (a, b) in pairs.items():
            # the SE of a covariance is at most sqrt(2 / runs) times the total variance
            assert np.cov(a, b)[0, 1] == pytest.approx(expected, abs=4 * np.sqrt(2 / runs) * v.total)
    assert np.cov(x[:, 0, 0, 0], x[:, 0, 0, 2])[0, 1] == pytest.approx(0, abs=0.15)


@pytest.mark.parametrize("name", ["HL", "HH", "LL", "LH"])
def test_roe_metz_agrees_with_the_closed_forms(name):
    var, mu = STRUCTURES[name], [1.5, 1.0]
    truth, x = roe_metz(mu, var, n_readers=5, n_positives=25, n_negatives=25, rng=seeded(), n_replicates=600)

    def check(per_run, expected):
        se = per_run.std(0, ddof=1) / np.sqrt(len(per_run))
        assert (np.abs(per_run.mean(0) - expected) < 4 * se).all()

    spread = sqrt(var.total)
    check(auc(truth, x).mean(-1), [PHI(m / (2**0.5 * spread)) for m in mu])
    check((x[..., truth] >= 0.75).mean((-2, -1)), [PHI((m - 0.75) / spread) for m in mu])
    check((x[..., ~truth] < 0.75).mean((-2, -1)), PHI(0.75 / spread))


@pytest.mark.parametrize("name", ["HL", "HH", "LH"])
def test_roe_metz_repeats_the_reference_simulation(reference, name):
    """Coverage and width of the paired t interval over 5 readers, as an independent simulation found them.

    Cases are taken as fixed (RRFC), so coverage falls below .95, how far depends on every component.
    """
    known = json.loads((reference / "mrmc" / "expected.json").read_text())["coverage_simulation"]
    coverage, width = known["results"][f"{name}|J5"]["RRFC"]
    runs = 1500
    arguments = {"n_readers": 5, "n_positives": 50, "n_negatives": 50, "n_replicates": runs}
    truth, x = roe_metz([1.5, 1.5], STRUCTURES[name], **arguments, rng=seeded())
    area = auc(truth, x)
    difference = area[:, 0] - area[:, 1]
    half = 2.7764451 * difference.std(-1, ddof=1) / 5**0.5  # t(4), two-sided 95 %
    ours = (np.abs(difference.mean(-1)) <= half).mean()
    assert ours == pytest.approx(coverage, abs=4 * (2 * coverage * (1 - coverage) / runs) ** 0.5)
    assert 2 * half.mean() == pytest.approx(width, abs=4 * 2**0.5 * 2 * half.std() / runs**0.5)


def test_without_any_variance_the_means_decide():
    none = Variances(0, 0, 0, 0, 0, 0)
    truth, x = roe_metz([1.0], none, n_readers=2, n_positives=2, n_negatives=1, rng=seeded())
    assert x[0].tolist() == [[0, 1, 1]] * 2
    assert truth.sum() == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_readers": 0}, "n_readers must be 1 or more"),
        ({"n_positives": 0}, "n_positives must be 1 or more"),
        ({"n_replicates": 0}, "n_replicates must be 1 or more"),
        ({"mu": []}, "one finite number for each arm"),
        ({"mu": [1.0, np.nan]}, "one finite number for each arm"),
    ],
)
def test_roe_metz_refuses(change, message):
    arguments = {"mu": [1.0], "n_readers": 2, "n_positives": 2, "n_negatives": 2, "rng": seeded()} | change
    with pytest.raises(ValueError, match=message):
        roe_metz(arguments.pop("mu"), STRUCTURES["HL"], **arguments)


def test_examples_in_the_docstrings_run():
    assert doctest.testmod(simulate).failed == doctest.testmod(drawn).failed == 0


def test_variances_refuse_a_negative_component():
    with pytest.raises(ValueError, match="variance case must be finite and not negative"):
        Variances(0, 0, -0.1, 0, 0, 0)


def test_sequential_reading_agrees_with_the_closed_forms():
    """Sensitivity Phi(skill - threshold), specificity Phi(skill + threshold), accuracy of the advice."""
    truth = np.arange(4000) % 2 == 0
    skill, threshold = np.array([1.2, 0.6]), np.array([0.3, -0.2])
    runs = [
        sequential_reading(truth, skill, threshold=threshold, advice_skill=0.9, rng=seeded(s))
        for s in range(10)
    ]
    right = np.mean([run.initial_decision == truth for run in runs], axis=0)
    assert right[:, truth].mean(1) == pytest.approx([PHI(0.9), PHI(0.8)], abs=0.012)
    assert right[:, ~truth].mean(1) == pytest.approx([PHI(1.5), PHI(0.4)], abs=0.012)
    assert np.mean([run.advice == truth for run in runs]) == pytest.approx(PHI(0.9), abs=0.009)


def test_advice_scores_are_calibrated_at_equal_shares():
    truth = np.arange(40_000) % 2 == 0
    study = sequential_reading(truth, [1.0], rng=seeded())
    bins = np.minimum((study.advice_score * 10).astype(int), 9)
    for b in range(10):
        inside = bins == b
        assert truth[inside].mean() == pytest.approx(study.advice_score[inside].mean(), abs=0.035)


def test_readers_who_never_give_in_and_readers_who_always_do():
    truth = np.arange(200) % 3 == 0
    alone = sequential_reading(truth, [0.7, 0.9], rng=seeded(), behaviour=NEVER)
    np.testing.assert_array_equal(alone.decision, alone.initial_decision)
    led = sequential_reading(truth, [0.7, 0.9], rng=seeded(), behaviour=ALWAYS)
    np.testing.assert_array_equal(led.decision, np.broadcast_to(led.advice, (2, 200)))
    np.testing.assert_array_equal(alone.initial_decision, led.initial_decision)


def test_who_is_certain_switches_less():
    truth = np.arange(20_000) % 2 == 0
    study = sequential_reading(truth, [1.0], rng=seeded(), behaviour=Behaviour(reliance=0.0))
    contrary = study.initial_decision != study.advice
    switched = study.decision != study.initial_decision
    certain = study.initial_confidence > np.median(study.initial_confidence[contrary])
    assert switched[contrary & ~certain].mean() > switched[contrary & certain].mean() + 0.1
    assert switched[~contrary].mean() == pytest.approx(0.005, abs=0.002)


@given(st.integers(0, 2**32), st.floats(0, 1), st.floats(-1, 1), st.floats(0, 3))
def test_sequential_reading_keeps_its_ranges(seed, case_share, correlation, skill):
    truth = np.arange(30) < 11
    arguments = {"case_share": case_share, "advice_correlation": correlation}
    study = sequential_reading(truth, [skill, 1.0], **arguments, rng=seeded(seed))
    again = sequential_reading(truth, [skill, 1.0], **arguments, rng=seeded(seed))
    for name in ("advice_score", "initial_confidence", "confidence"):
        values = getattr(study, name)
        assert ((values >= 0) & (values <= 1)).all()
    assert (study.seconds > 0).all()
    np.testing.assert_array_equal(study.advice, study.advice_score >= 0.5)
    np.testing.assert_array_equal(study.decision, again.decision)
    np.testing.assert_array_equal(study.seconds, again.seconds)


def test_agreement_raises_confidence_and_standing_against_advice_lowers_it():
    truth = np.arange(500) % 2 == 0
    study = sequential_reading(truth, [0.8], rng=seeded(), behaviour=NEVER)
    agrees = study.initial_decision == study.advice
    assert (study.confidence >= study.initial_confidence)[agrees].all()
    assert (study.confidence <= study.initial_confidence)[~agrees].all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"truth": []}, "one value for each case"),
        ({"skill": [-1.0]}, "skill must hold one number, 0 or more"),
        ({"case_share": 1.5}, "case_share must lie in"),
        ({"advice_correlation": -1.5}, "advice_correlation must lie in"),
    ],
)
def test_sequential_reading_refuses(change, message):
    arguments = {"truth": [True, False], "skill": [1.0], "rng": seeded()} | change
    with pytest.raises(ValueError, match=message):
        sequential_reading(**arguments)


@pytest.mark.parametrize("change", [{"slip": 2}, {"comfort": -1}, {"median_seconds": 0}])
def test_behaviour_refuses(change):
    with pytest.raises(ValueError, match="must"):
        Behaviour(**change)
