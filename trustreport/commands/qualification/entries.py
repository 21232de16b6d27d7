"""Entries of results.json that answer an expected value of other software."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

Entry = Mapping[str, Any]


def contains(have: Any, want: Any) -> bool:
    """Whether a scope has all that is expected of it."""
    if isinstance(want, Mapping):
        return isinstance(have, Mapping) and all(k in have and contains(have[k], v) for k, v in want.items())
    if isinstance(want, list):
        return isinstance(have, list) and len(have) == len(want) and all(map(contains, have, want))
    if isinstance(want, bool) or isinstance(have, bool) or not isinstance(want, int | float):
        return bool(have == want)
    return isinstance(have, int | float) and math.isclose(have, want, rel_tol=1e-9, abs_tol=1e-12)


def matching(entries: Sequence[Entry], scope: Mapping[str, Any], method: str = "") -> list[Entry]:
    """Those of a scope, and of a method where one is named."""
    return [e for e in entries if contains(e["scope"], scope) and (not method or e["method"] == method)]


def agrees(entries: Sequence[Entry], field: str, expected: float | None, tolerance: float) -> bool:
    """Whether a field of any entry is what is expected; null needs every entry null, with its note."""
    if expected is None:
        return bool(entries) and all(e[field] is None and e["note"] for e in entries)
    return any(e[field] is not None and abs(e[field] - expected) <= tolerance for e in entries)


def nearest(entries: Sequence[Entry], field: str, expected: float | None) -> float | None:
    """The number in a field that is nearest to what is expected; None where no entry has one."""
    numbers = [float(e[field]) for e in entries if e[field] is not None]
    return min(numbers, key=lambda v: abs(v - (expected or 0.0)), default=None)
