"""The comparison with other software: its list, its versions, its table; nothing is timed or installed."""

import re
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

from tests.programs import BENCHMARKS, loaded


@pytest.fixture(scope="module")
def peers() -> Iterator[ModuleType]:
    """benchmarks/peers.py, with its folder on the path as when it is run."""
    yield from loaded("peers")


def test_what_is_compared_is_there(peers: ModuleType) -> None:
    from compared import ours, theirs
    from compared.inputs import MAKERS

    in_r = (BENCHMARKS / "compared" / "theirs.R").read_text(encoding="utf-8")
    pins = {name for of in peers.environments(peers.PEERS.read_text().splitlines()).values() for name in of}
    for comparison in peers.COMPARISONS:
        assert comparison.inputs in MAKERS
        assert callable(getattr(ours, comparison.ours))
        assert comparison.sizes == tuple(sorted(comparison.sizes))
        if comparison.in_r:
            assert f"\n{comparison.theirs} <- function(folder)" in in_r
            assert f"{comparison.peer}::" in in_r
        else:
            assert callable(getattr(theirs, comparison.theirs))
            assert comparison.peer in pins


def test_our_side_computes_on_small_data(peers: ModuleType) -> None:
    from compared import ours
    from compared.inputs import MAKERS

    for name, comparison in {c.ours: c for c in peers.COMPARISONS}.items():
        inputs = MAKERS[comparison.inputs](30, np.random.default_rng(1))
        for value in getattr(ours, name)(inputs)().values():
            assert not np.isnan(np.asarray(value, dtype=float)).any()


def test_every_version_is_exact(peers: ModuleType) -> None:
    lines = [line for line in peers.PEERS.read_text().splitlines() if line and not line.startswith("#")]
    assert lines
    assert all(re.fullmatch(r"[A-Za-z0-9-]+==[0-9.]+", line) for line in lines)


def test_outputs_that_differ_are_found(peers: ModuleType) -> None:
    strict = next(c for c in peers.COMPARISONS if c.within == 1e-9 and not c.loose)
    loose = next(c for c in peers.COMPARISONS if c.loose.get("p"))
    apart = peers.differences({"a": 1.0, "b": [1000.0, np.inf]}, {"a": 1.0, "b": [1000.0 + 1e-7, np.inf]})
    assert apart["a"] == 0
    assert apart["b"] == pytest.approx(1e-10, rel=1e-3)
    assert peers.agrees(strict, apart)
    assert not peers.agrees(strict, peers.differences({"a": 1.0}, {"a": 1.0 + 1e-8}))
    assert not peers.agrees(strict, peers.differences({"a": 1.0}, {}))
    assert peers.agrees(loose, peers.differences({"p": 0.10}, {"p": 0.15}))
    assert not peers.agrees(loose, peers.differences({"p": 0.10}, {"p": 0.30}))


def test_growth_is_the_power_of_the_size(peers: ModuleType) -> None:
    assert peers.exponent((10, 100, 1000), [5.0, 1.0, 100.0]) == "2.00"  # the smallest size is left out


def test_the_readme_has_the_table_of_the_last_run(peers: ModuleType) -> None:
    text = peers.README.read_text(encoding="utf-8")
    rows = peers.read()
    assert peers.with_table(text, peers.table(rows)) == text
    assert {(row["peer"], row["quantity"]) for row in rows} == {
        (c.peer, c.quantity) for c in peers.COMPARISONS
    }
    for comparison in peers.COMPARISONS:
        own = peers.rows_of(comparison, rows)
        assert [int(row["n"]) for row in own] == list(comparison.sizes)
        # Where ours is slower, the table says why.
        assert comparison.remark or all(float(row["ratio"]) >= 1 for row in own), comparison


def test_the_readme_lists_every_program(peers: ModuleType) -> None:
    text = peers.README.read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+\.py)` \|", text, re.MULTILINE)
    assert listed == sorted(path.name for path in BENCHMARKS.glob("*.py"))
    for target in re.findall(r"\]\(([^)]+)\)", text):
        assert (BENCHMARKS / target).exists(), target
