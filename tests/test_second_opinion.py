"""Numbers of results.json computed again by statsmodels, and what is said of those that differ."""

import json
import shutil
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from trustreport import write_report
from trustreport.api import Assessed
from trustreport.commands.cli import main
from trustreport.commands.second_opinion import (
    difference_limits,
    mcnemar_p,
    ratio_limits,
    recompute,
    share_limits,
    software,
)
from trustreport.measures import proportion
from trustreport.measures.paired.difference import PairedTable
from trustreport.measures.paired.ratios import mcnemar_exact
from trustreport.measures.two_arm import difference, ratios
from trustreport.report.write import as_data

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "knee-mri"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, assessed_study: Callable[[Path], Assessed]) -> Path:
    out = tmp_path_factory.mktemp("opinion") / "out"
    write_report(assessed_study(EXAMPLE), out, formats=("json",))
    return out


def verify(out: Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["verify", str(out), "--statsmodels"])
    return result.exit_code, result.stdout, result.stderr


def data(out: Path) -> dict[str, Any]:
    return json.loads((out / "results.json").read_bytes())


def test_counts_of_two_arms_are_computed_again(made: Path) -> None:
    found = recompute(data(made))
    assert all(one.equal for one in found)
    assert {(one.id.partition(".")[2], one.method) for one in found} == {
        *(("error_rate", method) for method in ("wald", "wilson", "clopper_pearson")),
        *(("arr", method) for method in ("wald", "newcombe")),
        ("rr", "katz"),
        ("odds_ratio", "woolf"),
    }
    assert len(found) == 20  # two limits of three intervals of two arms, and of four comparisons
    status, said, err = verify(made)
    assert (status, err) == (0, "")
    assert f"20 of 20 limits and p-values computed again are equal to {software()} to 1e-09." in said


@pytest.mark.parametrize(
    "example, least, id",
    [
        ("certification-dossier", 600, "pragmatic_utility.mcnemar"),
        ("procurement-triage", 300, "subgroups.worst_group"),  # at the level of each of several groups
    ],
)
def test_shares_and_the_exact_test_of_examples_are_computed_again(
    assessed_example: Callable[[str], Assessed], example: str, least: int, id: str
) -> None:
    found = recompute(as_data(assessed_example(example)))
    assert len(found) > least
    assert [str(one) for one in found if not one.equal] == []
    assert id in {one.id for one in found}


def test_a_number_that_differs_is_named(made: Path, tmp_path: Path) -> None:
    out = Path(shutil.copytree(made, tmp_path / "out"))
    document = data(out)
    (one,) = (e for e in document["results"] if e["method"] == "woolf")
    one["low"] += 1e-8
    (out / "results.json").write_text(json.dumps(document))
    status, said, err = verify(out)
    assert status == 1
    assert "19 of 20 limits" in said
    assert 'pragmatic_utility.odds_ratio {"analysis": "two_sample", "arms": ["aided", "unaided"]' in err
    assert "woolf, low: reported 0.80154017" in err


def test_numbers_without_whole_counts_or_limits_are_left_out(made: Path) -> None:
    document = deepcopy(data(made))
    for entry in document["results"]:
        entry["value"], entry["p"] = 0.12345, None
    assert recompute(document) == []
    for entry in document["results"]:
        entry["value"] = entry["low"] = None
    assert recompute(document) == []


def test_what_is_no_results_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"not a results\.json of this version"):
        recompute({"answer": 42})
    (tmp_path / "results.json").write_text("{}")
    assert "nothing was computed again" in verify(tmp_path)[2]


def test_drawn_tables_agree_with_the_package() -> None:
    """Two implementations over drawn counts, empty cells and full ones among them."""
    rng = np.random.default_rng(8)
    for _ in range(200):
        n1, n2 = (int(n) for n in rng.integers(1, 300, 2))
        x1, x2 = (int(rng.choice([0, n, rng.integers(0, n + 1)])) for n in (n1, n2))
        table = (x1, n1, x2, n2)
        for ours, method in (
            (proportion.wilson, "wilson"),
            (proportion.clopper_pearson, "clopper_pearson"),
            (proportion.wald, "wald"),
        ):
            e = ours(x1, n1, 0.9)
            assert share_limits(x1, n1, 0.9, method) == pytest.approx((max(e.low, 0), min(e.high, 1)))
        for ours, method in ((difference.wald, "wald"), (difference.newcombe, "newcombe")):
            e = ours(*table, 0.9)
            expected = (max(e.low, -1), min(e.high, 1))
            assert difference_limits(table, 0.9, method) == pytest.approx(expected, abs=1e-12)
        for ours, method in ((ratios.katz, "katz"), (ratios.woolf, "woolf")):
            e = ours(*table, 0.9)
            if 0 not in (x1, x2, n1 - x1, n2 - x2):
                assert ratio_limits(table, 0.9, method) == pytest.approx((e.low, e.high))
        if x1 + x2:
            assert mcnemar_p(x1, x2) == pytest.approx(mcnemar_exact(PairedTable(1, x1, x2, 1)).p)
