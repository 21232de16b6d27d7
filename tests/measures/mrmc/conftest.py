"""Reader studies as dense arrays, and the values that other software computed from them."""

import csv
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray


@dataclass(frozen=True)
class ReaderStudy:
    """Ratings and decisions, shape (n_arms, n_readers, n_cases), arm 0 = unaided; NaN where nobody read."""

    readers: list[str]
    rating: NDArray[np.float64]
    decision: NDArray[np.float64]
    truth: NDArray[np.bool_]

    def outcome(self, endpoint: str) -> NDArray[np.float64]:
        correct = np.where(np.isnan(self.decision), np.nan, self.decision == self.truth)
        return {
            "accuracy": correct,
            "error": 1 - correct,
            "sensitivity": correct[..., self.truth],
            "specificity": correct[..., ~self.truth],
        }[endpoint]


def study_of(table: Path, arms: list[str], decide: Callable[[dict[str, str]], float]) -> ReaderStudy:
    with table.open() as lines:
        rows = list(csv.DictReader(lines))
    readers, cases = (sorted({row[key] for row in rows}) for key in ("reader", "case"))
    shape = (2, len(readers), len(cases))
    rating, decision, truth = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(len(cases), bool)
    for row in rows:
        place = arms.index(row["modality"]), readers.index(row["reader"]), cases.index(row["case"])
        rating[place], decision[place] = float(row["rating"]), decide(row)
        truth[place[2]] = row["truth"] == "1"
    return ReaderStudy(readers, rating, decision, truth)


@pytest.fixture(scope="session")
def studies(reference: Path) -> dict[str, ReaderStudy]:
    folder = reference / "mrmc"
    tests = ["testA", "testB"]
    return {
        "vandyke": study_of(folder / "vandyke.csv", ["1", "2"], lambda row: float(row["rating"]) >= 3),
        "viper-screening-high": study_of(
            folder / "viper_screening_high.csv", ["FFDM", "SFM"], lambda row: float(row["recall"])
        ),
        "sim-missing10": study_of(folder / "sim_missing10.csv", tests, lambda row: float(row["rating"]) >= 1),
        "sim-unbalanced": study_of(
            folder / "sim_unbalanced.csv", tests, lambda row: float(row["rating"]) >= 1
        ),
    }


@pytest.fixture(scope="session")
def expected(reference: Path) -> dict[str, Any]:
    """Leaves {value, tol, src}; differences there are arm 0 minus arm 1."""
    values: dict[str, Any] = json.loads((reference / "mrmc" / "expected.json").read_text())
    return values["datasets"]


@dataclass(frozen=True)
class Row:
    """One value that a results file must hold."""

    id: str
    scope: dict[str, Any]
    method: str
    field: str
    value: float
    tol: float


@pytest.fixture(scope="session")
def contract(reference: Path) -> dict[str, list[Row]]:
    """The rows of each contract case; a missing number is NaN."""
    found = {}
    for table in (reference / "contract").glob("*/expected.csv"):
        with table.open() as lines:
            found[table.parent.name] = [
                Row(
                    row["id"],
                    json.loads(row["scope"]),
                    row["method"],
                    row["field"],
                    float(row["value"] or "nan"),
                    float(row["tol"] or 0),
                )
                for row in csv.DictReader(lines)
            ]
    return found
