"""A study from tables in memory, and an assessment as a table, a figure, and the output of a cell."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import trustreport
from trustreport import assess, read_study, write_report
from trustreport.api import Assessed
from trustreport.report.notebook import FIRST
from trustreport.report.spreadsheets import results_frame
from trustreport.report.write import as_data
from trustreport.vocabulary.errors import StudyError

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.fixture(scope="module")
def dossier(assessed_example: Callable[[str], Assessed]) -> Assessed:
    return assessed_example("knee-mri-readings")


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 2, 200)
    score = np.clip(0.5 * truth + rng.normal(0.3, 0.2, 200), 0, 1)
    sex = pd.Categorical(np.where(rng.random(200) < 0.5, "F", "M"))
    return pd.DataFrame({"truth": truth, "score": score, "sex": sex}).rename_axis("case").reset_index()


def study(**more: object) -> dict[str, object]:
    sets = [{"dataset": "here", "role": "external", "file": frame(), **more}]
    return {"operating_point": {"threshold": 0.5}, "datasets": sets}


def test_frames_give_what_files_give(tmp_path: Path) -> None:
    frame().to_csv(tmp_path / "a.csv", index=False)
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {}\noperating_point: {threshold: 0.5}\n"
        "datasets: [{dataset: here, role: external, file: a.csv}]\n"
    )
    of_files, of_frames = (assess(*read_study(source)).to_frame() for source in (tmp_path, study()))
    pd.testing.assert_frame_equal(of_files, of_frames)


def test_a_frame_keeps_missing_cells_names_of_its_index_and_mixed_kinds() -> None:
    table = frame().set_index("case")
    table["truth"] = table["truth"].astype("Int64")
    table.loc[3, "truth"] = pd.NA
    table["reader"] = "A"
    table["decision"] = (table["score"] > 0.5).astype(object)
    table.loc[5, "decision"] = None
    readings = table.drop(columns=["score", "sex"])
    found, _ = read_study({"arms": [{"arm": "aided"}], "tables": {"readings": readings}})
    (own,) = found.readings
    assert len(own.case) == 199
    assert (own.cases.truth == -1).sum() == 1


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(TypeError, match="readings: a DataFrame or the name of a file is needed, not int"):
        read_study({"tables": {"readings": 3}})


def test_problems_of_a_frame_name_it() -> None:
    table = frame().assign(truth="perhaps")
    with pytest.raises(StudyError, match=r"dataset0.parquet, rows 2, 3, 4 and 197 more, column truth"):
        read_study({"datasets": [{"dataset": "a", "role": "external", "file": table}]})


def test_a_row_for_each_result_and_slim_columns_first(dossier: Assessed) -> None:
    table = dossier.to_frame()
    assert list(table.columns[:6]) == ["id", "value", "low", "high", "n", "p"]
    document = as_data(dossier)
    flat = results_frame(document["results"])
    assert len(table) == len(document["results"]) > 0
    for column in table.columns:
        for here, there in zip(table[column], flat[column], strict=True):
            assert here == there or (pd.isna(here) and there is None)
    assert set(table.columns[len(FIRST) :]) == {
        key for entry in document["results"] for key in entry["scope"]
    }
    assert [str(table[column].dtype) for column in ("value", "n", "primary")] == ["float64", "int64", "bool"]
    primary = dossier.to_frame(primary=True)
    assert 0 < len(primary) < len(table)
    assert primary["primary"].all()


def test_a_figure_by_its_id(dossier: Assessed) -> None:
    drawn = dossier.figure(dossier.figures[0].id)
    assert drawn.get_axes()
    with pytest.raises(KeyError, match=f"there are {dossier.figures[0].id}"):
        dossier.figure("none")


def test_the_output_of_a_cell_is_the_answer_with_the_verdicts(dossier: Assessed) -> None:
    shown = dossier._repr_html_()
    assert "Neither of the two criteria has been shown to be met." in shown
    assert shown.count("<svg") == len(dossier.verdicts)
    assert len(shown) < 20_000
    assert repr(dossier).startswith("<Assessed: ")
    assert "array(" not in repr(dossier)


def test_only_what_is_asked_is_computed(tmp_path: Path) -> None:
    read = read_study(study())
    part = assess(*read, only=["advice_accuracy"])
    assert {r.dimension for r in part.results} == {"advice_accuracy"}
    with pytest.raises(ValueError, match="a report needs every dimension"):
        write_report(part, tmp_path / "out")
    with pytest.raises(ValueError, match="no dimension accuracy; there are"):
        assess(*read, only=["accuracy"])


def test_names_complete() -> None:
    assert dir(trustreport) == ["__version__", "assess", "read_study", "write_report"]


def test_the_notebook_of_the_docs_shows_what_it_says() -> None:
    page = EXAMPLES.parent / "docs" / "execute.py"
    done = subprocess.run([sys.executable, page, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
