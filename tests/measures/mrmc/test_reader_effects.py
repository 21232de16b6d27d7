"""Readers one by one, and the mean over readers with fixed cases."""

import csv
from math import isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.each_reader import (
    mean_benefit,
    reader_benefit,
    reader_changes,
    reader_estimate,
)
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions

crossed = arrays(float, (2, 4, 7), elements=st.sampled_from([0.0, 1.0]))


def test_the_sequential_contract(reference, contract):
    """Values counted by hand: first decision against final decision of six readers and forty cases."""
    with (reference / "contract" / "sequential" / "readings.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    readers, cases = (sorted({row[key] for row in rows}) for key in ("reader", "case"))
    correct = np.full((2, len(readers), len(cases)), np.nan)
    for row in rows:
        place = readers.index(row["reader"]), cases.index(row["case"])
        correct[0][place] = row["initial_decision"] == row["truth"]
        correct[1][place] = row["decision"] == row["truth"]
    seen = 0
    for row in contract["sequential"]:
        if row.scope.get("endpoint") != "accuracy":
            continue
        reader = readers.index(row.scope["reader"]) if "reader" in row.scope else 0
        estimate = {
            "decision_benefit.reader_estimate": lambda row=row, reader=reader: reader_estimate(
                correct, int(row.scope["arm"] == "aided"), reader
            ),
            "decision_benefit.benefit": lambda reader=reader: reader_benefit(correct, reader),
            "decision_benefit.mean_benefit": lambda: mean_benefit(reader_changes(correct)),
        }[row.id]()
        assert getattr(estimate, row.field) == pytest.approx(row.value, abs=row.tol), row
        seen += 1
    assert seen == 21


def test_reader_values_agree_with_statsmodels(studies, expected):
    study = studies["vandyke"]
    for leaf in expected["vandyke"]["binary"]["per_reader"]:
        for endpoint in ("sensitivity", "specificity"):
            arm, reader = int(leaf["modality"]) - 1, study.readers.index(leaf["reader"])
            got = reader_estimate(study.outcome(endpoint), arm, reader)
            want = leaf[endpoint]
            assert got.value == pytest.approx(want["value"]["value"], abs=1e-12)
            assert (got.low, got.high) == pytest.approx([x["value"] for x in want["wilson"]], abs=1e-9)


@given(crossed)
def test_mean_over_readers_equals_random_readers_fixed_cases_when_crossed(outcome):
    ours = mean_benefit(reader_changes(outcome))
    theirs = fit_proportions(outcome).difference(mode="or_rrfc")
    assert (ours.value, ours.low, ours.df) == pytest.approx(
        (theirs.value, theirs.low, theirs.df), abs=1e-9, nan_ok=True
    )
    assert ours.note == theirs.note


@given(crossed, st.integers(0, 3))
def test_benefit_of_a_reader_is_the_difference_of_its_proportions(outcome, reader):
    got = reader_benefit(outcome, reader)
    both = [reader_estimate(outcome, arm, reader).value for arm in (1, 0)]
    assert got.value == pytest.approx(both[0] - both[1])
    swapped = reader_benefit(outcome, reader, compared=0, baseline=1)
    assert (got.value, got.low) == pytest.approx((-swapped.value, -swapped.high), abs=1e-7)


def test_only_cases_read_in_both_arms_count_for_a_change():
    outcome = np.array([[[0.0, 1, np.nan, 1]], [[1, np.nan, 1, 1]]])
    assert reader_benefit(outcome, 0).n == 2
    assert reader_changes(outcome).tolist() == [0.5]
    assert reader_estimate(outcome, 0, 0).n == 3


def test_readers_without_readings():
    outcome = np.full((2, 2, 3), np.nan)
    outcome[0, 0] = 1
    assert reader_estimate(outcome, 1, 0).note == notes.NO_READING
    assert reader_benefit(outcome, 0).note == notes.NO_PAIR
    assert mean_benefit(reader_changes(outcome)).note == notes.NO_PAIR


def test_too_few_or_too_alike_readers():
    one, alike = mean_benefit(np.array([0.1])), mean_benefit(np.array([0.1, 0.1, 0.1]))
    assert (one.value, isnan(one.low), one.note) == (0.1, True, notes.ONE_READER)
    assert (isnan(alike.low), alike.note) == (True, notes.NO_SPREAD)
    assert mean_benefit(np.array([0.1, np.nan, 0.3])).n == 2
