"""Captured data as programs export them, to the right number, with no edit of what `init --from` writes."""

import csv
import gzip
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from openpyxl import Workbook

from tests.test_proposal_of_exports import (
    AIDED,
    ALONE,
    AREA,
    CASES,
    GAIN,
    READERS,
    SCORES,
    TRUTH,
    studied,
    write,
)
from trustreport.api import assess, read_study
from trustreport.commands.cli import main
from trustreport.study.ingest import sheet
from trustreport.study.ingest.problems import Problems
from trustreport.study.ingest.sheet import STATISTICAL
from trustreport.study.ingest.tables import Layout, Raw, read_table
from trustreport.study.interop.structured_reports import read_reports

REFERENCE = Path(__file__).parent / "reference"
ARMS = ((2, ALONE), (1, AIDED))


def castor(folder: Path) -> list[Path]:
    """The files of Castor's export as CSV: study data, repeating data, lists of variables, field options.

    Their columns are those of https://helpdesk.castoredc.com/export-and-import-data/export-data-formats.
    """
    study: list[list[Any]] = [
        ["Participant Id", "Participant Status", "Site Abbreviation", "Participant Creation Date",
         "histology", "age"],
        *(
            [f"AMC-{k:03}", "Not Set", "AMC", "02-03-2026 10:11:12", 1 if t else 2, 40 + k]
            for k, t in enumerate(TRUTH)
        ),
    ]  # fmt: skip
    head = ["Participant Id", "Participant Status", "Repeating Data Creation Date",
            "Repeating data Name Custom", "Repeating data Parent",
            "who", "cond", "opinion", "sure"]  # fmt: skip
    readings: list[list[Any]] = [head]
    for k in range(CASES):
        for j in range(READERS):
            for arm, own in ARMS:
                sure = "##USER_MISSING_99##" if j == k == 0 else 60 + j
                readings.append(
                    [f"AMC-{k:03}", "Not Set", "03-03-2026 09:00:00", f"reading {j}", "Reading visit",
                     f"reader{j}", arm, 1 if own[j][k] else 2, sure]
                )  # fmt: skip
    variables = ["Variable name", "Field label", "Original field type", "Optiongroup name"]
    of_study = [["histology", "Reference standard", "radio", "YesNo"], ["age", "Age", "numeric", ""]]
    of_readings = [
        ["who", "Reader", "string", ""],
        ["cond", "Mode", "radio", "Modes"],
        ["opinion", "Decision", "radio", "YesNo"],
        ["sure", "Confidence", "slider", ""],
    ]
    options = [
        ["Option Group Name", "Option Name", "Option Value", "Option Group Id"],
        ["YesNo", "Yes", 1, "6AE4-1"], ["YesNo", "No", 2, "6AE4-1"],
        ["Modes", "With AI", 1, "6AE4-2"], ["Modes", "Without AI", 2, "6AE4-2"],
    ]  # fmt: skip
    return [
        write(folder, "study.csv", study, ";"),
        write(folder, "readings.csv", readings, ";"),
        write(folder, "study_variablelist.csv", [variables, *of_study], ";"),
        write(folder, "readings_variablelist.csv", [variables, *of_readings], ";"),
        write(folder, "field_options.csv", options, ";"),
    ]


def castor_workbook(folder: Path) -> list[Path]:
    """The same as one workbook, a sheet for each file."""
    book = Workbook()
    book.remove(book.active)
    for file in castor(folder):
        sheet = book.create_sheet(file.stem.replace("_", " "))
        with file.open(newline="") as rows:
            for row in csv.reader(rows, delimiter=";"):
                sheet.append([int(cell) if cell.isdigit() else cell for cell in row])
    book.save(folder / "castor.xlsx")
    return [folder / "castor.xlsx"]


def openclinica(folder: Path) -> list[Path]:
    """OpenClinica's tab-delimited extract, below its table of events and forms, without labels.

    docs.openclinica.com, 2.5.1: an item is called ``name_E1_C2_3`` after its event, form and repeat.
    """
    occurrences = range(1, 2 * READERS + 1)
    items = [f"{item}_E1_C2_{n}" for n in occurrences for item in ("READER", "MODE", "CALL")]
    top = [
        ["Dataset Name", "readings"], ["Dataset Description", "all"], ["Study Name", "Reader study"],
        ["Protocol ID", "RS-1"], ["Date", "2026-Mar-02"], ["Subjects", CASES],
        ["Study Event Definitions", 1], ["Study Event Definition 1", "Reading", "E1"],
        ["CRF", "Case", "C1"], ["CRF", "Reading", "C2"], [],
    ]  # fmt: skip
    head = ["Study Subject ID", "Protocol ID", "Subject Status", "Location_E1", "StartDate_E1",
            "SubjectEventStatus_E1", "VersionName_E1_C2", "HISTOLOGY_E1_C1", *items]  # fmt: skip
    rows = [*top, head]
    for k, t in enumerate(TRUTH):
        cells = [
            x
            for j in range(READERS)
            for arm, own in (("without AI", ALONE), ("with AI", AIDED))
            for x in (f"R{j}", arm, own[j][k])
        ]
        rows.append([f"S{k}", "RS-1", "available", "", "02-Mar-2026", "completed", "v1.0", t, *cells])
    return [write(folder, "readings.tsv", rows, "\t")]


def openclinica_spss(folder: Path) -> list[Path]:
    """OpenClinica's extract for SPSS: tab-delimited data, and syntax with labels and codes."""
    head = ["SubjID", "ProtocolID", "SubjectStatus", "StartDate_A", "SubjectEventStatus_A",
            "VersionName_A", "DX_A1"]  # fmt: skip
    items = {"WHO": "Reader", "COND": "Mode", "OPINION": "Decision"}
    names = [f"{item}_B1_{n}" for n in range(1, 2 * READERS + 1) for item in items]
    rows: list[list[Any]] = [[*head, *names]]
    for k, t in enumerate(TRUTH):
        cells = [
            x for j in range(READERS) for arm, own in ARMS for x in (f"R{j}", arm, 1 if own[j][k] else 2)
        ]
        first = [f"S{k}", "RS-1", "available", "03/02/2026", "completed", "v1", 1 if t else 2]
        rows.append([*first, *cells])
    labels = [f'\t{name} "{items[name.partition("_")[0]]}"' for name in names]
    coded = {"COND": '\t1 "With AI"\n\t2 "Without AI"', "OPINION": '\t1 "Yes"\n\t2 "No"'}
    codes = [f"\t{name}\n{coded[item]}\n\t/" for name in names if (item := name.partition("_")[0]) in coded]
    syntax = "\n".join(
        ["* NOTE: If you have put this file in a different folder",
         "GET DATA  /TYPE = TXT/FILE = 'data.dat' /VARIABLES = ", "\tSubjID A7", ".",
         "VARIABLE LABELS", '\tSubjID "Study Subject ID"', '\tDX_A1 "Reference standard"', *labels, ".",
         "VALUE LABELS", '\tDX_A1\n\t1 "Yes"\n\t2 "No"\n\t/', *codes, ".", " EXECUTE."]
    )  # fmt: skip
    (folder / "data.sps").write_text(syntax)
    return [write(folder, "data.dat", rows, "\t"), folder / "data.sps"]


CHANGES = [castor, castor_workbook, openclinica, openclinica_spss]


@pytest.mark.parametrize("export", CHANGES, ids=lambda export: export.__name__)
def test_a_reader_study_gives_its_change_in_accuracy(
    tmp_path: Path, export: Callable[[Path], list[Path]]
) -> None:
    found = studied(tmp_path, export(tmp_path))
    assert "UNCERTAIN" not in (tmp_path / "study.yaml").read_text()
    assert change_in_accuracy(found) == pytest.approx(GAIN)


def test_a_participant_beside_an_id_of_images_is_no_export_of_castor(tmp_path: Path) -> None:
    rows = [[f"P{k // 2}", f"I{k}", t, s] for k, (t, s) in enumerate(zip(TRUTH, SCORES))]
    head = ["participant_id", "image_id", "truth", "score"]
    studied(tmp_path, [write(tmp_path, "data.csv", [[*head, "unique_id"], *([*r, 1] for r in rows)])])
    assert "columns: {case: image_id, patient: participant_id}" in (tmp_path / "study.yaml").read_text()


def change_in_accuracy(found: Any) -> float:
    """The primary estimate of a reader study."""
    (change,) = [
        r for r in found.results
        if r.id == "decision_benefit.mean_benefit" and r.endpoint == "accuracy" and r.primary
    ]  # fmt: skip
    value: float = change.estimate.value
    return value


def test_predictions_of_ohdsi_give_their_area(tmp_path: Path) -> None:
    """prediction.csv as savePrediction of PatientLevelPrediction 6 writes it, for its internal test set."""
    head = ["rowId", "subjectId", "cohortStartDate", "daysFromObsStart", "ageYear", "gender", "outcomeCount",
            "timeAtRisk", "daysToCohortEnd", "survivalTime", "evaluationType", "value"]  # fmt: skip
    rows = [
        [k, 900 + k, "2025-01-02", 400, 40 + k, 8507, t, 365, 365, 300 + k, kind, s if kind == "Test" else t]
        for kind in ("Test", "Train")
        for k, (t, s) in enumerate(zip(TRUTH, SCORES), CASES * (kind == "Train"))
    ]
    found = studied(tmp_path, [write(tmp_path, "prediction.csv", [head, *rows])])
    areas = {
        r.place.dataset: r.estimate.value for r in found.results
        if r.id == "advice_accuracy.auc" and r.place.dataset == "Test" and r.primary
    }  # fmt: skip
    assert areas == {"Test": pytest.approx(AREA)}
    assert "role: internal test\n" in (tmp_path / "study.yaml").read_text()


def shared_results(folder: Path, *, least: int = 0) -> list[Path]:
    """What a site shares of PatientLevelPrediction: its result tables, computed as that package does.

    Counts below `least` are -1, as where a site shares none so small.
    """
    truth, score = np.asarray(TRUTH, int), np.asarray(SCORES, float)
    head = ["evaluation", "predictionThreshold", "preferenceThreshold", "positiveCount", "negativeCount",
            "trueCount", "falseCount", "truePositiveCount", "trueNegativeCount", "falsePositiveCount",
            "falseNegativeCount", "sensitivity"]  # fmt: skip
    rows: list[list[Any]] = []
    for kind in ("Test", "Train"):
        for at in sorted(set(score), reverse=True):
            called = score >= at  # `>=`, as getThresholdSummary_binary has it
            tp, fp = int((called & (truth == 1)).sum()), int((called & (truth == 0)).sum())
            fn, tn = int(truth.sum()) - tp, int((1 - truth).sum()) - fp
            cells = [n if n >= least else -1 for n in (tp, tn, fp, fn)]
            totals = [tp + fp, fn + tn, tp + fn, fp + tn]
            rows.append([kind, repr(float(at)), 0.5, *totals, *cells, tp / (tp + fn)])
    statistics = [
        ["Test", "populationSize", len(truth)], ["Test", "outcomeCount", int(truth.sum())],
        ["Test", "AUROC", 0.7123], ["Test", "95% lower AUROC", 0.6012], ["Test", "95% upper AUROC", 0.8234],
        ["Test", "AUPRC", 0.55], ["Test", "brier score", 0.19],
    ]  # fmt: skip
    groups = ["evaluation", "ageGroup", "genGroup", "PersonCountAtRisk", "PersonCountWithOutcome"]
    calibration = ["evaluation", "predictionThreshold", "averagePredictedProbability", "observedIncidence"]
    return [
        write(folder, "thresholdSummary.csv", [head, *rows]),
        write(folder, "evaluationStatistics.csv", [["evaluation", "metric", "value"], *statistics]),
        write(folder, "demographicSummary.csv", [groups, ["Test", "Age group: 40-44", "Male", 12, 5]]),
        write(folder, "calibrationSummary.csv", [calibration, ["Test", 0.1, 0.12, 0.11]]),
    ]


def test_shared_results_of_ohdsi_give_the_table_at_a_threshold(tmp_path: Path) -> None:
    found = studied(tmp_path, shared_results(tmp_path))
    truth, score = np.asarray(TRUTH, bool), np.asarray(SCORES, float)
    at = min(set(score), key=lambda t: abs(t - truth.mean()))
    said = {r.id: r.estimate.value for r in found.results if r.place.set == "Test" and r.primary}
    assert said["advice_accuracy.sensitivity"] == pytest.approx((score >= at)[truth].mean())
    assert said["advice_accuracy.specificity"] == pytest.approx((score < at)[~truth].mean())
    assert not [r for r in found.results if r.place.set == "Train"]
    text = (tmp_path / "study.yaml").read_text()
    assert "UNCERTAIN: which threshold is used on Test?" in text
    assert "evaluationStatistics.csv is not used" in text
    assert "Test 0.7123 (0.6012 to 0.8234)" in text
    assert "calibrationSummary.csv is not used" in text
    assert "demographicSummary.csv is not used" in text


def test_small_counts_that_a_site_does_not_share_are_no_counts(tmp_path: Path) -> None:
    found = studied(tmp_path, shared_results(tmp_path, least=2))
    assert all(min(one.tp, one.fp, one.fn, one.tn) >= 2 for one in found.study.confusion)
    assert len(found.study.confusion) == 1


# ---------------------------------------------------------------- SAS, SPSS, Stata

WRITERS = {".sav": "write_sav", ".zsav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}


def written(folder: Path, suffix: str, columns: dict[str, list[Any]], **more: Any) -> Path:
    """A file of SPSS, Stata or SAS as pyreadstat writes it."""
    pyreadstat = pytest.importorskip("pyreadstat")
    file = folder / f"registry{suffix}"
    more |= {"compress": True} if suffix == ".zsav" else {}
    getattr(pyreadstat, WRITERS[suffix])(pd.DataFrame(columns), str(file), **more)
    return file


def table_of(file: Path) -> Raw:
    """The table of a file that has no fault."""
    problems = Problems()
    raw = read_table(file, file.name, Layout(), problems)
    assert raw is not None
    assert not problems
    return raw


def problem_of(file: Path) -> str:
    """The only problem of a file."""
    problems = Problems()
    assert read_table(file, file.name, Layout(), problems) is None
    (problem,) = problems
    return str(problem)


REGISTRY = {
    "case_id": [f"{k:03}" for k in range(CASES)],
    "histo": [float(t) for t in TRUTH],
    "ai_score": SCORES,
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_of_a_statistics_program_gives_its_area(tmp_path: Path, suffix: str) -> None:
    labels: dict[str, Any] = {
        "column_labels": {"case_id": "", "histo": "Reference standard", "ai_score": "AI score"}
    }
    if suffix != ".xpt":  # SAS keeps labels of values apart
        labels["variable_value_labels"] = {"histo": {0: "Kontrolle", 1: "Fraktur"}}
    found = studied(tmp_path, [written(tmp_path, suffix, REGISTRY, **labels)])
    areas = [r for r in found.results if r.id == "advice_accuracy.auc" and r.primary and not r.place.site]
    assert areas[0].estimate.value == pytest.approx(AREA)
    if suffix != ".xpt":
        assert "Fraktur: 1" in (tmp_path / "study.yaml").read_text()


def test_labels_are_cells_where_every_value_has_one(tmp_path: Path) -> None:
    file = written(
        tmp_path,
        ".sav",
        {"case": ["1", "2", "3"], "grade": [1.0, 2.0, None], "pain": [0.0, 3.5, 99.0]},
        variable_value_labels={"grade": {1: "low", 2: "high", 3: "none"}, "pain": {0: "none", 99: "refused"}},
        missing_ranges={"pain": [99]},
    )
    raw = table_of(file)
    columns = {name: column.to_pylist() for name, column in zip(raw.header, raw.columns)}
    assert columns == {"case": ["1", "2", "3"], "grade": ["low", "high", ""], "pain": ["0", "3.5", ""]}


def test_single_precision_of_stata_keeps_the_digits_that_were_typed(tmp_path: Path) -> None:
    pytest.importorskip("pyreadstat")
    when = [datetime(2026, 3, 2, 9, 30), datetime(2026, 3, 3, 0, 0)]  # noqa: DTZ001 -- a table has no zone
    frame = pd.DataFrame({"score": np.array([0.7, 0.1], "float32"), "count": [1, 2], "at": when})
    frame.to_stata(tmp_path / "a.dta", write_index=False, convert_dates={"at": "tc"})
    raw = table_of(tmp_path / "a.dta")
    assert [column.to_pylist() for column in raw.columns] == [
        ["0.7", "0.1"],
        ["1", "2"],
        ["2026-03-02T09:30:00", "2026-03-03T00:00:00"],
    ]


def test_a_file_that_sas_wrote_has_its_cells(tmp_path: Path) -> None:
    """Fisher's irises, species cut to six letters, as the R package haven 2.5.1 has them in examples/."""
    pytest.importorskip("pyreadstat")
    file = tmp_path / "iris.sas7bdat"
    file.write_bytes(gzip.decompress((REFERENCE / "iris.sas7bdat.gz").read_bytes()))
    raw = table_of(file)
    assert raw.header == ("Sepal_Length", "Sepal_Width", "Petal_Length", "Petal_Width", "Species")
    assert [column[149].as_py() for column in raw.columns] == ["5.9", "3", "5.1", "1.8", "virgin"]
    assert raw.n_rows == 150
    assert raw.typed == set(raw.header[:4])


@pytest.mark.parametrize("suffix", STATISTICAL)
def test_a_damaged_file_is_one_problem(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("pyreadstat")
    file = tmp_path / f"a{suffix}"
    file.write_bytes(b"$FL2@(#) SPSS DATA FILE" + bytes(range(256)) * 20)
    assert "found a damaged" in problem_of(file)


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_file_of_too_many_cells_is_refused(
    tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path, suffix, REGISTRY)
    monkeypatch.setattr(sheet, "MOST_CELLS", 3 * (CASES - 1))
    monkeypatch.setattr(sheet, "_limit", lambda: None)
    with pytest.raises(SystemExit, match="2"):
        sheet.main(str(file))
    assert f'["more than {CASES - 1} rows", "at most' in capsys.readouterr().out


def test_without_the_package_one_line_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trustreport.study.ingest.sheet.find_spec", lambda name: None)
    file = tmp_path / "a.sav"
    file.write_bytes(b"$FL2")
    assert "pip install 'trustreport[formats]'" in problem_of(file)


# ---------------------------------------------------------------- COCO


def proposed(folder: Path, *files: Path) -> Any:
    """The assessment of what `init --from` writes, which nobody edits."""
    study = folder / "study"
    done = CliRunner().invoke(main, ["init", str(study), "--from", *map(str, files)])
    assert done.exit_code == 0, done.output
    return assess(*read_study(study))


def boxes(folder: Path) -> list[Path]:
    """Truth and results of pycocotools' form: 12 images, 8 lesions, two detectors, a crowd."""
    images = [{"id": k, "file_name": f"im{k:02}.png", "width": 400, "height": 300} for k in range(12)]
    annotations: list[dict[str, Any]] = [
        {"id": 100 + k, "image_id": k, "category_id": 1, "bbox": [10.0 * k, 20, 30, 40], "area": 1200,
         "iscrowd": 0}
        for k in range(8)
    ]  # fmt: skip
    annotations.append(
        {"id": 200, "image_id": 11, "category_id": 1, "bbox": [0, 0, 90, 90], "area": 1, "iscrowd": 1}
    )
    truth = folder / "truth.json"
    categories = [{"id": 1, "name": "fracture"}, {"id": 2, "name": "implant"}]
    truth.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))

    def mark(k: int, x: float, score: float, category: int = 1) -> dict[str, Any]:
        return {"image_id": k, "category_id": category, "bbox": [x, 30, 20, 20], "score": score}

    # A hits lesions 0 to 5, B 0 to 2; each has a false mark, A also one of another kind and one in the crowd.
    of_a = [mark(k, 10.0 * k + 5, 0.9 - k / 20) for k in range(6)]
    of_a += [mark(10, 200, 0.4), mark(7, 75, 0.7, 2), mark(11, 20, 0.8)]
    of_b = [mark(k, 10.0 * k + 5, 0.8) for k in range(3)] + [mark(9, 200, 0.3)]
    (folder / "A.json").write_text(json.dumps(of_a))
    (folder / "B.json").write_text(json.dumps(of_b))
    return [truth, folder / "A.json", folder / "B.json"]


def test_boxes_give_the_lesions_that_were_hit(tmp_path: Path) -> None:
    found = proposed(tmp_path, *boxes(tmp_path))
    shares = {
        r.place.candidate: r.estimate.value for r in found.results
        if r.id == "localisation.lesion_sensitivity" and not r.place.site
    }  # fmt: skip
    assert shares == {"A": 6 / 8, "B": 3 / 8}
    rows = (tmp_path / "study" / "A.csv").read_text().splitlines()
    assert rows[0] == "candidate,case,lesion,x,y,rating,kind"
    assert rows[1] == "A,im00.png,100,15,40,0.9,fracture"
    assert (
        rows[-1] == "A,im07.png,,85,40,0.7,implant"
    )  # of another category: a false mark; the crowd's is left out


def test_every_fault_of_boxes_is_told(tmp_path: Path) -> None:
    truth = {"images": [{"id": 1, "file_name": "a.png"}], "annotations": [{"image_id": 1, "bbox": [1, 2, 3]}]}
    results = [
        {"image_id": 7, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5},
        {"image_id": 1, "category_id": 1, "bbox": [1, 2, -3, 4], "score": 0.5},
        {"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": "high"},
    ]
    (tmp_path / "t.json").write_text(json.dumps(truth))
    (tmp_path / "r.json").write_text(json.dumps(results))
    said = CliRunner().invoke(main, ["init", "--from", str(tmp_path / "t.json"), str(tmp_path / "r.json")])
    assert said.exit_code == 1
    for words in (
        "t.json, column annotations[0].bbox: found",
        'r.json, column [0].image_id: found "7", expected the id of an image of the truth',
        "r.json, column [1].bbox: found",
        'r.json, column [2].score: found "high", expected a number',
    ):
        assert words in said.output
    alone = CliRunner().invoke(main, ["init", "--from", str(tmp_path / "r.json")])
    assert "0 files of images and annotations" in alone.output


# ---------------------------------------------------------------- FHIR


def observation(code: str, patient: str, **more: Any) -> dict[str, Any]:
    """An Observation of FHIR R4, as a bulk export has it in a line."""
    return {
        "resourceType": "Observation", "status": "final", "code": {"text": code},
        "subject": {"reference": f"Patient/{patient}"}, "effectiveDateTime": "2026-03-02T09:30:00+01:00",
        **more,
    }  # fmt: skip


def ndjson(file: Path, resources: list[dict[str, Any]]) -> Path:
    file.write_text("\n".join(map(json.dumps, resources)) + "\n")
    return file


def test_observations_of_a_device_give_its_area(tmp_path: Path) -> None:
    resources = []
    for k, t in enumerate(TRUTH):
        word = {"coding": [{"system": "http://snomed.info/sct", "display": "Positive" if t else "Negative"}]}
        score = {"valueQuantity": {"value": SCORES[k], "unit": "1"}, "device": {"reference": "Device/ai"}}
        resources.append(observation("Reference standard", f"p{k}", valueCodeableConcept=word))
        resources.append(observation("AI score", f"p{k}", **score))
    resources.append(observation("AI score", "p0", status="entered-in-error", valueInteger=3))
    found = proposed(tmp_path, ndjson(tmp_path / "Observation.ndjson", resources))
    areas = [r for r in found.results if r.id == "advice_accuracy.auc" and r.primary and not r.place.site]
    assert areas[0].estimate.value == pytest.approx(AREA)
    rows = (tmp_path / "study" / "Observation_cases.csv").read_text().splitlines()
    assert rows[0] == "case,date,Reference standard,AI score"
    assert rows[1] == f"p0,2026-03-02,{'Positive' if TRUTH[0] else 'Negative'},{SCORES[0]}"


def test_observations_of_readers_give_their_change_in_accuracy(tmp_path: Path) -> None:
    resources = [observation("Diagnosis", f"p{k}", valueBoolean=bool(t)) for k, t in enumerate(TRUTH)]
    for k in range(CASES):
        for j in range(READERS):
            for used, own in (({}, ALONE), ({"device": {"reference": "Device/ai"}}, AIDED)):
                who = [{"reference": f"Practitioner/r{j}"}]
                said = observation("Decision", f"p{k}", performer=who, valueBoolean=bool(own[j][k]), **used)
                resources.append(said)
    found = proposed(tmp_path, ndjson(tmp_path / "all.ndjson", resources))
    assert change_in_accuracy(found) == pytest.approx(GAIN)


def test_every_fault_of_observations_is_told(tmp_path: Path) -> None:
    lines = [
        json.dumps(observation("Volume", "p1", valueQuantity={"value": 3, "unit": "ml"})),
        json.dumps(observation("Volume", "p2", valueQuantity={"value": 3, "unit": "cm3"})),
        "{",
        json.dumps(observation("", "p2", valueInteger=1)),
        json.dumps({"resourceType": "Observation", "code": {"text": "Volume"}, "valueInteger": 1}),
        json.dumps(observation("Decision", "p1", valueBoolean=True)),
        json.dumps(observation("Decision", "p1", valueBoolean=False)),
    ]
    (tmp_path / "o.ndjson").write_text("\n".join(lines))
    said = CliRunner().invoke(main, ["init", "--from", str(tmp_path / "o.ndjson")])
    assert said.exit_code == 1
    for words in (
        'o.ndjson, rows 1 and 2, column Volume: found the units "ml" and "cm3", expected one unit.',
        "o.ndjson, row 3: found a line that is no JSON object",
        "o.ndjson, row 4, column code: found a value without a name",
        "o.ndjson, row 5: found an observation of nobody",
        'o.ndjson, rows 6 and 7, column Decision: two values of "Decision" of p1',
    ):
        assert words in said.output


# ---------------------------------------------------------------- DICOM


def test_reports_of_a_device_and_of_pathology_give_its_area(tmp_path: Path) -> None:
    pytest.importorskip("highdicom")
    from tests.reference.measurement_report import report

    files = []
    for k, t in enumerate(TRUTH):
        files.append(report(tmp_path, f"A{k}", "device", [{"AI score": SCORES[k]}]))
        files.append(report(tmp_path, f"A{k}", "Path^Ann", [{}], "Positive" if t else "Negative"))
    found = proposed(tmp_path, *files)
    areas = [r for r in found.results if r.id == "advice_accuracy.auc" and r.primary and not r.place.site]
    assert areas[0].estimate.value == pytest.approx(AREA)


def test_groups_of_a_report_are_told_apart_by_their_sites(tmp_path: Path) -> None:
    pytest.importorskip("pydicom")
    tables, problems = read_reports([REFERENCE / "measurement_report.dcm"])
    assert not problems
    assert tables == {
        "reports_cases.csv": [
            ["case", "patient", "date", "Diameter, Lung [mm]", "Diameter, Liver [mm]"],
            ["A1", "P-A1", "2026-03-02", "12.5", "7.0"],
        ]
    }


def test_a_damaged_report_is_a_problem(tmp_path: Path) -> None:
    pytest.importorskip("pydicom")
    (tmp_path / "a.dcm").write_bytes(b"no DICOM")
    tables, (problem,) = read_reports([tmp_path / "a.dcm"])
    assert not tables
    assert "a.dcm: found a damaged file" in str(problem)
