"""Tables that several tests of agreement read."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

REFERENCE = Path(__file__).resolve().parents[2] / "reference" / "agreement.json"


@pytest.fixture(scope="session")
def knee(mrnet: Path) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Labels and confidences of 13 radiologists on 427 knee examinations."""
    codes, confidence = np.full((427, 13), -1), np.full((427, 13), np.nan)
    with (mrnet / "mrnet_ratings.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            place = int(row["case"][1:]) - 1, int(row["rater"][1:]) - 1
            codes[place], confidence[place] = int(row["label"]), float(row["confidence"])
    return codes, confidence


@pytest.fixture(scope="session")
def expected(reference: Path) -> dict[str, Any]:
    """What other software computed of the knee examinations."""
    found: dict[str, Any] = json.loads((reference / "agreement" / "expected.json").read_text())
    return found


@pytest.fixture(scope="session")
def tables() -> dict[str, Any]:
    """Small tables with labels missing, and their coefficients by irrCAC, krippendorff and statsmodels."""
    found: dict[str, Any] = json.loads(REFERENCE.read_text())["tables"]
    return found
