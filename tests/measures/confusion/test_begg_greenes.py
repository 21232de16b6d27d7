"""The correction of Begg and Greenes: published, by maximum likelihood in R, by hand, and where it breaks."""

import csv
from math import isnan, log, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trustreport.measures.confusion import notes
from trustreport.measures.confusion.partial_verification import (
    Name,
    PartlyVerified,
    begg_greenes,
    begg_greenes_logit,
)

REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "begg_greenes.csv"
CELLS = ("tp", "fp", "fn", "tn", "unverified_positive", "unverified_negative")
NAMES: tuple[Name, ...] = ("sensitivity", "specificity")
SCANS = (231, 32, 27, 54, 166, 140)
Z = 1.959963984540054


def arrays(cells: tuple[int, ...]) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    truth = np.repeat([1, 0, 1, 0, -1, -1], cells).astype(np.int8)
    return truth, np.repeat([True, True, False, False, True, False], cells)


def by_r() -> list[dict[str, str]]:
    with REFERENCE.open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("row", by_r(), ids=lambda row: row["table"])
def test_values_and_standard_errors_are_those_of_the_likelihood(row: dict[str, str]) -> None:
    cells = tuple(int(row[cell]) for cell in CELLS)
    for name, se in zip(NAMES, ("se_logit", "se_logit_specificity")):
        e = begg_greenes_logit(name, *arrays(cells))
        assert e.value == pytest.approx(float(row[name]), abs=1e-6)
        half = (log(e.high / (1 - e.high)) - log(e.low / (1 - e.low))) / 2 / Z
        assert half == pytest.approx(float(row[se]), rel=1e-4)


def test_liver_scans_as_published() -> None:
    # Begg and Greenes (1983); Zhou, Obuchowski and McClish (2011): 0.895 and 0.628 become 0.836 and 0.738
    found = [begg_greenes(name, PartlyVerified(*SCANS)) for name in NAMES]
    assert [round(e.value, 3) for e in found] == [0.836, 0.738]
    assert [e.n for e in found] == [650, 650]


def test_by_hand() -> None:
    # 10 of 20 called positive and 5 of 20 called negative verified: p1 = 8/10, p0 = 1/5, t = 1/2
    x = PartlyVerified(8, 2, 1, 4, 10, 15)
    e = begg_greenes("sensitivity", x)
    assert e.value == pytest.approx(0.8 / (0.8 + 0.2))
    assert e.details["least"] == pytest.approx(8 / (8 + 1 + 15))
    assert e.details["most"] == pytest.approx(18 / 19)
    e = begg_greenes("specificity", x)
    assert e.value == pytest.approx(0.8 / (0.8 + 0.2))
    assert (e.details["least"], e.details["most"]) == (pytest.approx(4 / 16), pytest.approx(19 / 21))
    logit = begg_greenes_logit("sensitivity", *arrays((8, 2, 1, 4, 10, 15)))
    half = Z * sqrt(1 / (40 * 0.25) + 0.2 / 8 + 0.8 / 1)
    assert log(logit.high / (1 - logit.high)) == pytest.approx(log(4) + half)


def test_verified_alike_it_is_the_share_itself() -> None:
    x = PartlyVerified(40, 10, 20, 30, 50, 50)
    assert begg_greenes("sensitivity", x).value == pytest.approx(40 / 60)
    assert begg_greenes("specificity", x).value == pytest.approx(30 / 40)


@pytest.mark.parametrize(
    ("cells", "note"),
    [
        ((0, 0, 5, 5, 9, 0), notes.NO_POSITIVE_VERIFIED),
        ((5, 5, 0, 0, 0, 9), notes.NO_NEGATIVE_VERIFIED),
        ((0, 0, 5, 5, 0, 9), notes.NONE_CALLED_POSITIVE),
        ((5, 5, 0, 0, 9, 0), notes.NONE_CALLED_NEGATIVE),
        ((0, 4, 0, 4, 3, 3), notes.NONE_PRESENT_VERIFIED),
    ],
)
def test_undefined_with_its_reason(cells: tuple[int, ...], note: str) -> None:
    for e in (
        begg_greenes("sensitivity", PartlyVerified(*cells)),
        begg_greenes_logit("sensitivity", *arrays(cells)),
    ):
        assert isnan(e.value)
        assert e.note == note


def test_no_error_found_is_no_certainty() -> None:
    cells = (30, 5, 0, 12, 10, 200)
    e = begg_greenes("sensitivity", PartlyVerified(*cells))
    assert (e.value, e.high) == (1.0, 1.0)
    assert e.low < 0.5  # 12 of 212 called negative were verified
    published = begg_greenes_logit("sensitivity", *arrays(cells))
    assert published.value == 1
    assert isnan(published.low)
    assert published.note


def test_cases_alone_in_their_cluster_are_cases() -> None:
    truth, decision = arrays(SCANS)
    alone = begg_greenes_logit("sensitivity", truth, decision)
    each = begg_greenes_logit("sensitivity", truth, decision, cluster=np.arange(650))
    assert (each.low, each.high) == pytest.approx((alone.low, alone.high), abs=5e-4)
    assert each.df == 649
    twice = np.concatenate([truth, truth]), np.concatenate([decision, decision])
    pairs = begg_greenes_logit("sensitivity", *twice, cluster=np.tile(np.arange(650), 2))
    assert (pairs.low, pairs.high) == pytest.approx((each.low, each.high))
    one = begg_greenes_logit("sensitivity", truth, decision, cluster=np.zeros(650, int))
    assert isnan(one.low)
    assert one.note == notes.ONE_CLUSTER


@given(st.tuples(*[st.integers(0, 40)] * 6), st.sampled_from(NAMES))
def test_inside_its_bounds_and_its_interval(cells: tuple[int, ...], name: Name) -> None:
    e = begg_greenes(name, PartlyVerified(*cells))
    if isnan(e.value):
        assert e.note
        return
    assert 0 <= e.low <= e.value <= e.high <= 1
    assert e.details["least"] - 1e-12 <= e.value <= e.details["most"] + 1e-12


def test_of_a_billion_cases() -> None:
    x = PartlyVerified(231_000_000, 32_000_000, 27_000_000, 54_000_000, 166_000_000, 140_000_000)
    e = begg_greenes("sensitivity", x)
    assert e.value == pytest.approx(0.83647, abs=1e-5)
    assert e.high - e.low < 1e-3
