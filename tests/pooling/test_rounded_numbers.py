"""A site that asks for fewer digits hands over no number with more, and its counts as they are."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.pooling.collaborations import drawn_rows, plan_of, summaries
from trustreport.study.pooled.site_file import DisclosureRules, SiteFile

EXACT = {"threshold", "low", "high", "df", "n", "events", "cells"}  # declared, ends of bins, counts


def reals(value: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a file that is no count, with its name."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from reals(inner, key)
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            if name != "limits" or place:
                yield from reals(inner, "limits of a level" if name == "limits" else name)
    elif isinstance(value, float) and np.isfinite(value) and not value.is_integer() and name not in EXACT:
        yield name, value


def limits_of(file: SiteFile) -> list[tuple[float, float, float]]:
    """The limits of every estimate of a site."""
    scores = [one for counts in file.datasets for one in counts.scores.values()]
    return [
        limit for one in scores for e in one.estimates.values() for number in e for limit in number.limits
    ]


@pytest.mark.parametrize("clustered", [False, True])
def test_no_number_has_more_digits_than_asked_for(clustered: bool) -> None:
    more: dict[str, Any] = {}
    if clustered:
        more = {"datasets": [{"dataset": "external", "role": "external", "cluster_keys": ["patient"]}]}
        kept = plan_of().model_dump(mode="json", exclude_none=True)["endpoints"]
        more |= {"subgroups": [], "endpoints": [one for one in kept if "subgroup" not in one]}
    rows = drawn_rows(np.random.default_rng(4), 2, (200, 300))
    rows["score"] = np.where(np.isnan(rows["score"]), 0.3, rows["score"])
    if clustered:
        rows["patient"] = np.arange(len(rows["site"])) // 3 + 10_000 * rows["site"]
    exact, short = (
        summaries(rows, plan_of(**more), DisclosureRules(digits=digits), ("reported",))[0]
        for digits in (None, 3)
    )
    found = list(reals(short.model_dump()["datasets"]))
    assert len(found) > 10
    for name, value in found:
        written = re.sub(r"e.*|[.-]", "", repr(value)).lstrip("0")
        assert len(written) <= 3, (name, value)
    assert [one.patterns for one in short.datasets] == [one.patterns for one in exact.datasets]
    pairs = list(zip(limits_of(exact), limits_of(short), strict=True))
    assert bool(pairs) is clustered
    assert all(a[0] == b[0] and b[1:] == pytest.approx(a[1:], rel=0.006) for a, b in pairs)
