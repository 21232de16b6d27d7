"""The primary estimates of readers in drawn studies: in range, with an interval that agrees with its p."""

from collections.abc import Iterator
from functools import cache
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from tests.drawn import drawn_study
from tests.studies import readings
from trustreport.api import assess, read_study
from trustreport.assessment.assess import Assessment
from trustreport.assessment.performance.readers import endpoint, every_endpoint
from trustreport.measures.mrmc import notes
from trustreport.measures.notes import mirrored
from trustreport.vocabulary.results import CUT, Result, leading

DRAWN = 60
ARMS = ("aided", "unaided")
DIMENSIONS = ("decision_benefit", "pragmatic_utility", "subgroups")
# Changes of one reader's area are DeLong's, which may reach beyond 1.
OF_SINGLE_AREAS = ("benefit", "auc")


@cache
def drawn() -> tuple[Assessment, ...]:
    """The drawn studies that have readings, assessed."""
    found = []
    for seed in range(DRAWN):
        with TemporaryDirectory() as folder:
            path = drawn_study(seed, Path(folder))
            if (path.parent / "readings.csv").exists():
                found.append(assess(*read_study(path)))
    return tuple(found)


def primaries() -> Iterator[Result]:
    """The primary entries of readings."""
    for assessment in drawn():
        for r in assessment.results:
            if r.primary and r.dimension in DIMENSIONS and r.place.dataset is None:
                yield r


def test_p_and_interval_agree_about_no_effect() -> None:
    tested = set()
    for r in primaries():
        e, null = r.estimate, r.quantity.no_effect
        if null is None or isnan(e.p) or isnan(e.low):
            continue
        tested.add(r.method)
        assert (e.p < 1 - e.level) == (not e.low <= null <= e.high), (r.id, r.scope, r.method, e)
    wanted = {"or_rrrc", "or_frrc", "ustatistic_centred", "ustatistic_centred_score", "ustatistic_plugin"}
    assert wanted | {"ustatistic_plugin_score", "tango", "newcombe_overlap", "or_delta", "rr_delta"} <= tested


def test_no_interval_of_readers_is_cut() -> None:
    for r in primaries():
        if (r.name, r.endpoint) != OF_SINGLE_AREAS and r.name != "reader_agreement":
            assert CUT not in r.estimate.note, (r.id, r.scope, r.method, r.estimate)


def test_every_mean_and_change_of_shares_has_an_interval_or_says_why() -> None:
    seen = set()
    for r in primaries():
        shares = r.endpoint in ("accuracy", "sensitivity", "specificity", "youden_j") or not r.endpoint
        if r.name in ("arm_mean", "arm_difference", "error_rate", "arr") and shares and not r.place.subgroup:
            seen.add(r.method)
            assert r.estimate.low < r.estimate.high, (r.id, r.scope, r.method, r.estimate)
    assert {"or_rrrc_score", "or_frrc_score", "ustatistic_centred_score", "ustatistic_plugin_score"} <= seen


def test_the_error_rate_mirrors_the_accuracy() -> None:
    pairs = 0
    for assessment in drawn():
        for r in assessment.results:
            if r.id != "pragmatic_utility.error_rate" or not r.primary:
                continue
            right = leading(
                assessment.results, "decision_benefit.arm_mean", endpoint="accuracy", **r.place.scope
            )
            assert right is not None
            one, other = r.estimate, right.estimate
            assert (one.value, one.low, one.high) == (1 - other.value, 1 - other.high, 1 - other.low)
            assert (one.method, one.note, one.se, one.df) == pytest.approx(
                (other.method, mirrored(other.note), other.se, other.df), nan_ok=True
            )
            pairs += 1
    assert pairs > 20


def test_readers_who_make_no_error_have_limits() -> None:
    for missing in (None, np.random.default_rng(2).random((2, 4, 40)) < 0.2):
        study = readings(np.ones((2, 4, 40), bool), missing)
        for one in every_endpoint(study.readings[0], ARMS, 0.95):
            e = one.whole.lead_mean(0, 0.95)
            assert (e.value, e.high, e.note) == (1, 1, notes.CASES_ONCE)
            assert 0.6 < e.low < 1
            assert isnan(one.whole.lead_difference(0.95).low)


def test_one_level_is_not_made_from_another() -> None:
    """An interval that is symmetric at one level may leave what is possible at a higher one."""
    correct = np.random.default_rng(5).random((2, 3, 12)) < np.array([0.9, 0.5])[:, None, None]
    one = endpoint(readings(correct).readings[0], ARMS, 0.95, "sensitivity")
    assert one is not None
    methods = [one.whole.lead_difference(level).method for level in (0.5, 0.9999)]
    assert methods[1] == f"{methods[0]}_score"
