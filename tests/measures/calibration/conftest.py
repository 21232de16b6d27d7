"""The multi-site sets with scores, and what other software computed from them."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

SETS = [
    "heart_train",
    "heart_ext_hungarian",
    "heart_ext_switzerland",
    "heart_ext_va",
    "breast_train",
    "breast_ext_gbsg",
    "breast_ext_rotterdam_1990_1993",
]


@pytest.fixture(scope="session")
def scored(reference: Path) -> dict[str, tuple[NDArray[np.bool_], NDArray[np.float64]]]:
    found = {}
    for name in SETS:
        with (reference / "contract" / name.split("_")[0] / f"{name}.csv").open() as lines:
            rows = list(csv.DictReader(lines))
        truth = np.array([row["label"] == "1" for row in rows])
        found[name] = truth, np.array([float(row["score"]) for row in rows])
    return found


@pytest.fixture(scope="session")
def expected(reference: Path) -> dict[tuple[str, str], Any]:
    entries = json.loads((reference / "external" / "expected.json").read_text())["entries"]
    return {(entry["dataset"], entry["metric"]): entry["value"] for entry in entries}


@pytest.fixture(params=SETS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)
