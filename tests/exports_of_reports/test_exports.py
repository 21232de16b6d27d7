"""Exports of a report: each is read back by its library or schema, and holds the numbers of the report."""

import builtins
import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import docx
import numpy as np
import pandas as pd
import pytest
import xmlschema
from click.testing import CliRunner
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from docx.enum.text import WD_COLOR_INDEX
from fhir.resources.bundle import Bundle
from huggingface_hub import ModelCard

from trustreport import api
from trustreport.api import Assessed, assess, read_study
from trustreport.commands.cli import main
from trustreport.commands.export import EXPORTS
from trustreport.report.exports import FORMS, export
from trustreport.vocabulary.errors import MissingLibrary
from trustreport.vocabulary.resources import folder

HOSTILE = "<script>alert(1)</script>\x07 & =1+1"
MANIFEST = {
    "report": {"kind": "vigilance", "title": "A study", "date": "2026-01-05", "notice": "Simulated"},
    "device": {
        "trade_name": HOSTILE.replace("\x07", ""),
        "software_version": "2.1",
        "manufacturer": "Nowhere (fictional)",
        "model_hash": "ab" * 32,
        "risk_class": "IIa",
    },
    "intended_use": {"intended_purpose": "Find a thing", "input_specification": "An image"},
    "operating_point": {"threshold": 0.5},
    "subgroups": [{"name": "sex", "definition": "as registered", "prespecified": True}],
    "datasets": [
        {"dataset": "made with", "role": "training", "source": "a clinic"},
        {"dataset": "elsewhere", "role": "external", "source": "another clinic", "sampling": "consecutive"},
    ],
    "endpoints": [
        {
            "endpoint": "finds enough",
            "role": "primary",
            "measure": "advice_accuracy.sensitivity",
            "dataset": "elsewhere",
            "hypothesis": "performance goal",
            "bound_or_margin": 0.6,
        }
    ],
    "vigilance": {"plan_id": "PLAN-1", "period_start": "2026-01-01", "period_end": "2026-01-31"},
    "incidents": [
        {"incident": "I-1", "seriousness": "serious", "imdrf_codes": ["A0502"], "capa_id": "CAPA-4"},
        {"incident": "C-1", "kind": "complaint", "seriousness": "not serious", "description": "slow"},
        {"incident": "I-9", "seriousness": "death or unanticipated serious deterioration"},
    ],
    "documents": [{"id": "RISK-3", "kind": "risk file", "version": "4"}],
}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 160
    truth = rng.integers(0, 2, n)
    return pd.DataFrame(
        {
            "case": [f"c{i}" for i in range(n)],
            "dataset": np.repeat(["made with", "elsewhere"], n // 2),
            "truth": truth,
            "score": np.clip(0.5 + 0.2 * (2 * truth - 1) + 0.2 * rng.normal(size=n), 0, 1).round(3),
            "sex": rng.choice(["female", "male"], n),
        }
    )


@pytest.fixture(scope="module")
def assessed():
    study, plan = api.read_study({**MANIFEST, "tables": {"scores": table()}})
    return api.assess(study, plan)


@pytest.fixture(scope="module")
def sensitivity(assessed):
    """The sensitivity that the report gives for the set of elsewhere."""
    return next(
        r.estimate
        for r in assessed.results
        if r.id == "advice_accuracy.sensitivity"
        and r.primary
        and r.scope.get("dataset") == "elsewhere"
        and "parameters" not in r.scope
        and "subgroup" not in r.scope
    )


def test_the_table_has_every_number(assessed) -> None:
    rows = list(csv.DictReader(io.StringIO(export(assessed, "csv").decode())))
    assert len(rows) == len(assessed.results)


def test_the_card_is_valid_and_has_results_with_intervals(assessed, sensitivity) -> None:
    text = export(assessed, "chai").decode()
    schema = xmlschema.XMLSchema(
        str(folder("schemas") / "chai" / "applied-model-card-0.2.xsd"), allow="local"
    )
    schema.validate(text)
    space = {"c": "https://mc.chai.org/v0.2/schema.xsd"}
    root = ElementTree.fromstring(text)  # noqa: S314 -- made here
    assert root.findtext("c:BasicInfo/c:ModelName", namespaces=space) == MANIFEST["device"]["trade_name"]
    assert root.findtext("c:ReleaseInfo/c:ReleaseStage", namespaces=space) == "NOT DECLARED"
    stated = {
        one.findtext("c:Label", namespaces=space): json.loads(one.findtext("c:ValueJson", "", space))
        for one in root.iterfind(".//c:UsefulnessUsabilityEfficacy//c:MetricResult", space)
    }
    found = stated["sensitivity (elsewhere)"]
    assert found["kind"] == "estimate_ci"
    assert found["level"] == 95
    numbers = (found["estimate"], found["lower"], found["upper"])
    assert numbers == pytest.approx((sensitivity.value, sensitivity.low, sensitivity.high))
    assert not any("made with" in label for label in stated), "performance on training data is no evidence"


def test_a_card_that_the_schema_refuses_is_not_written(assessed, monkeypatch) -> None:
    from trustreport.report.exports import cards

    monkeypatch.setattr(cards, "_chai_parts", lambda *given: {"BasicInfo": {"ModelName": "x"}})
    with pytest.raises(ValueError, match="does not follow its schema"):
        export(assessed, "chai")


def test_the_bill_of_materials_is_valid_and_the_same_each_time(assessed, sensitivity) -> None:
    made = export(assessed, "cyclonedx")
    assert made == export(assessed, "cyclonedx")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(made.decode()) is None
    model = json.loads(made)["metadata"]["component"]
    assert model["type"] == "machine-learning-model"
    assert model["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    metrics = model["modelCard"]["quantitativeAnalysis"]["performanceMetrics"]
    found = next(m for m in metrics if (m["type"], m["slice"]) == ("sensitivity", "elsewhere"))
    assert float(found["value"]) == pytest.approx(sensitivity.value)
    assert float(found["confidenceInterval"]["lowerBound"]) == pytest.approx(sensitivity.low)
    slices = {m.get("slice", "") for m in metrics}
    assert any("patients" in one for one in slices), slices


def test_the_hub_reads_the_metadata_back(assessed, sensitivity) -> None:
    data = ModelCard(export(assessed, "huggingface").decode()).data
    assert data.eval_results is not None
    found = next(
        r for r in data.eval_results if (r.metric_type, r.dataset_name) == ("sensitivity", "elsewhere")
    )
    assert found.metric_value == pytest.approx(sensitivity.value)
    assert found.metric_args["upper"] == pytest.approx(sensitivity.high)
    assert {r.dataset_name for r in data.eval_results} == {"elsewhere"}


def test_the_resources_are_those_of_fhir(assessed, sensitivity) -> None:
    bundle = Bundle.model_validate_json(export(assessed, "fhir"))
    kinds = [entry.resource.get_resource_type() for entry in bundle.entry]
    assert kinds[:2] == ["Device", "ResearchStudy"]
    assert set(kinds[2:]) == {"Evidence"}
    found = next(e.resource for e in bundle.entry[2:] if e.resource.title == "sensitivity (elsewhere)")
    (statistic,) = found.statistic
    assert float(statistic.quantity.value) == pytest.approx(sensitivity.value)
    assert statistic.sampleSize.knownDataCount == sensitivity.n
    (interval,) = statistic.attributeEstimate
    assert float(interval.range.low.value) == pytest.approx(sensitivity.low)
    assert float(interval.level) == 0.95


@pytest.mark.parametrize("form", ["psur", "pmcf", "annex-iv"])
def test_a_form_has_the_same_in_both_files_and_marks_its_gaps(form, assessed) -> None:
    page = export(assessed, form, ".html").decode()
    made = export(assessed, form, ".docx")
    assert made == export(assessed, form, ".docx")
    document = docx.Document(io.BytesIO(made))
    paragraphs = [
        *document.paragraphs,
        *(p for t in document.tables for row in t.rows for cell in row.cells for p in cell.paragraphs),
    ]
    runs = [run for paragraph in paragraphs for run in paragraph.runs]
    gaps = [run.text for run in runs if run.font.highlight_color == WD_COLOR_INDEX.YELLOW]
    assert len(gaps) == page.count("<mark>") > 3
    assert len(document.tables) == page.count("<table>")
    assert "our own" in page
    assert "<script" not in page
    assert "default-src &#39;none&#39;" in page


def test_the_notice_of_the_study_is_in_every_form_that_has_words(assessed) -> None:
    for form in ("chai", "cyclonedx", "fhir", "psur", "pmcf", "annex-iv"):
        assert b"Simulated" in export(assessed, form), form


def test_what_the_study_has_is_filled_in(assessed) -> None:
    psur = export(assessed, "psur").decode()
    assert "A0502" in psur
    assert "CAPA-4" in psur
    assert psur.index("I-1") < psur.index("C-1"), "serious incidents are apart from complaints"
    assert psur.index("I-9") < psur.index("C-1"), "a death is serious"
    pmcf = export(assessed, "pmcf").decode()
    assert "RISK-3, 4" in pmcf
    assert "<mark>Not declared</mark>" in pmcf
    annex = export(assessed, "annex-iv").decode()
    assert "finds enough" in annex
    assert "sensitivity" in annex


def test_a_library_that_is_missing_is_named_with_its_extra(assessed, monkeypatch) -> None:
    imported = builtins.__import__

    def refuse(name, *more, **given):
        if name.partition(".")[0] in ("xmlschema", "docx", "cyclonedx", "fhir", "huggingface_hub"):
            raise ImportError(f"No module named {name!r}")
        return imported(name, *more, **given)

    monkeypatch.setattr(builtins, "__import__", refuse)
    for form, suffix in (
        ("chai", ".xml"),
        ("cyclonedx", ".json"),
        ("fhir", ".json"),
        ("huggingface", ".md"),
        ("psur", ".docx"),
    ):
        with pytest.raises(MissingLibrary, match=r"pip install 'trustreport\[exports\]'"):
            export(assessed, form, suffix)
    assert export(assessed, "psur", ".html")


def test_the_extra_is_declared() -> None:
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).resolve().parents[2] / "pyproject.toml").read_text("utf-8"))
    declared = project["project"]["optional-dependencies"]
    assert "exports" in declared


def test_a_form_and_a_suffix_that_there_are_not_are_named(assessed) -> None:
    with pytest.raises(ValueError, match="choose from csv, dcurves, chai"):
        export(assessed, "docx")
    with pytest.raises(ValueError, match=r"ends with \.html or \.docx, not with \.pdf"):
        export(assessed, "psur", ".pdf")


def test_the_command_writes_forms_and_refuses_in_words(tmp_path) -> None:
    assert set(EXPORTS) == {"imrmc", *FORMS}
    (tmp_path / "study.json").write_text(
        json.dumps(
            {
                "report": {"kind": "certification"},
                "device": {},
                "confusion": [{"set": "a", "tp": 40, "fp": 5, "fn": 4, "tn": 60}],
            }
        )
    )
    study = str(tmp_path / "study.json")
    done = CliRunner().invoke(main, ["export", study, "--format", "annex-iv", "-o", str(tmp_path / "a.html")])
    assert done.exit_code == 0, done.output
    assert "Annex IV" in (tmp_path / "a.html").read_text("utf-8")
    none = CliRunner().invoke(
        main, ["export", study, "--format", "huggingface", "-o", str(tmp_path / "R.md")]
    )
    assert none.exit_code == 1
    assert "no result of the device on a set of cases" in none.stderr
    assert not (tmp_path / "R.md").exists()
    wrong = CliRunner().invoke(main, ["export", study, "--format", "psur", "-o", str(tmp_path / "a.pdf")])
    assert wrong.exit_code == 1
    assert ".html or .docx" in wrong.stderr


REFERENCE = json.loads(
    (Path(__file__).resolve().parents[1] / "reference" / "decision_table.json").read_text()
)
COLUMNS = ("pos_rate", "tp_rate", "fp_rate", "net_benefit", "net_intervention_avoided")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Assessed:
    folder = tmp_path_factory.mktemp("curves")
    held = REFERENCE["cases"]
    rows = [f"c{i},{t},{a},{b}" for i, (t, a, b) in enumerate(zip(*held.values(), strict=True))]
    (folder / "s.csv").write_text("\n".join(["case,truth,one,two", *rows]) + "\n")
    (folder / "study.yaml").write_text(
        "report: {kind: procurement}\ndevice: {trade_name: D}\noperating_point: {threshold: 0.2}\n"
        "utility: {thresholds: [0.05, 0.1, 0.2, 0.35, 0.5]}\n"
        "datasets:\n"
        "  - {dataset: =clinic, role: local, file: s.csv, columns: {score: {first: one, second: two}}}\n"
    )
    return assess(*read_study(folder))


@pytest.fixture(scope="module")
def rows(found: Assessed) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(export(found, "dcurves").decode())))


def test_every_number_is_that_of_dcurves(rows: list[dict[str, str]]) -> None:
    ours = {(row["variable"], float(row["threshold"])): row for row in rows}
    theirs = {(row["model"], row["threshold"]): row for row in REFERENCE["rows"]}
    assert set(ours) == set(theirs)
    assert len(rows) == len(theirs)
    for key, row in theirs.items():
        expected = [row[name.replace("pos_rate", "prevalence")] for name in COLUMNS]
        assert [float(ours[key][name]) for name in COLUMNS] == pytest.approx(expected, abs=1e-10), key
        standardized = row["net_benefit"] / row["prevalence"]
        assert float(ours[key]["standardized_net_benefit"]) == pytest.approx(standardized, abs=1e-10), key


def test_the_layout_is_that_of_dcurves(rows: list[dict[str, str]]) -> None:
    assert [row["label"] for row in rows[::5]] == ["Treat All", "Treat None", "first", "second"]
    assert {(row["n"], row["dataset"]) for row in rows} == {("200", "'=clinic")}
    assert all(
        float(row["net_benefit_low"]) <= float(row["net_benefit"]) <= float(row["net_benefit_high"])
        for row in rows
    )


def test_the_annex_has_the_same_rows(found: Assessed, rows: list[dict[str, str]]) -> None:
    (table,) = (t for f in found.findings for p in f.parts for t in p.tables if t.id == "decision_table_1")
    assert len(table.rows) == len(rows)
    for printed, row in zip(table.rows, rows, strict=True):
        assert [*printed[1:6], *printed[7:]] == pytest.approx(
            [
                float(row[name])
                for name in (
                    *("threshold", "n", "pos_rate", "tp_rate", "fp_rate"),
                    *("standardized_net_benefit", "net_intervention_avoided"),
                )
            ]
        )


def test_a_study_without_risks_has_no_such_table(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: D}\n"
        "confusion: [{set: s, tp: 9, fp: 1, fn: 2, tn: 8}]\n"
    )
    with pytest.raises(ValueError, match="needed are scores that are probabilities"):
        export(assess(*read_study(tmp_path)), "dcurves")
