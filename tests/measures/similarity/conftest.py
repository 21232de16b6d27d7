"""The multi-site sets with features, and what other software computed from them."""

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from trustreport.measures.similarity.features import Features, standardise

FEATURES = {
    "heart": "age sex cp trestbps restecg thalach exang oldpeak".split(),
    "breast": "age meno size grade3 nodes pgr er hormon".split(),
}


def columns(table: Path, names: list[str]) -> NDArray[np.float64]:
    with table.open() as lines:
        return np.array([[float(row[name]) for name in names] for row in csv.DictReader(lines)])


@pytest.fixture(scope="session")
def sites(reference: Path) -> dict[str, Features]:
    """Each external set beside its training set, in training means and SDs."""
    found = {}
    for family, names in FEATURES.items():
        folder = reference / "contract" / family
        training = columns(folder / f"{family}_train.csv", names)
        for table in sorted(folder.glob(f"{family}_ext_*.csv")):
            found[table.stem] = standardise(training, columns(table, names))
    return found


@pytest.fixture(scope="session")
def expected(reference: Path) -> dict[tuple[str, str], dict[str, Any]]:
    entries = json.loads((reference / "external" / "expected.json").read_text())["entries"]
    return {(entry["dataset"], entry["metric"]): entry for entry in entries}
