"""Qualification: reference values pass, an altered one is named, the installation is compared, the record."""

import csv
import json
import re
import runpy
import shutil
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import page as conformance
import pytest
from click.testing import CliRunner

from trustreport.commands.cli import main
from trustreport.commands.qualification import installation, operation, peers, record
from trustreport.measures import proportion
from trustreport.report.signatures.bundle import verify
from trustreport.report.signatures.signing import Signer
from trustreport.vocabulary.errors import MissingLibrary

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = ROOT / "qualification"
STUDIES = ("vandyke", "sim-unbalanced", "knee-mri-counts")


def selected(
    place: Path, target: Path, *, checks: int | None = None, studies: tuple[str, ...] = STUDIES
) -> None:
    """A folder of reference values with the first checks of functions and some of the studies."""
    document = json.loads((place / operation.FUNCTIONS).read_text(encoding="utf-8"))
    document["checks"] = document["checks"][:checks]
    target.mkdir()
    (target / operation.FUNCTIONS).write_text(json.dumps(document), encoding="utf-8")
    blocks = (place / operation.STUDIES).read_text(encoding="utf-8").split("[[study]]\n")[1:]
    wanted = [block for block in blocks if any(f'folder = "{name}"' in block for name in studies)]
    (target / operation.STUDIES).write_text("".join(f"[[study]]\n{b}" for b in wanted), encoding="utf-8")
    for name in studies:
        shutil.copytree(place / "studies" / name, target / "studies" / name)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A handful of reference values, of functions and of a study."""
    target = tmp_path_factory.mktemp("few") / "qualification"
    selected(SHIPPED, target, checks=4, studies=("knee-mri-counts",))
    return target


@pytest.fixture(scope="module")
def found(few: Path) -> record.Qualification:
    """What qualifying with them finds here."""
    return record.qualify(few)


def test_every_function_and_the_quick_studies_return_what_other_software_did(tmp_path: Path) -> None:
    selected(SHIPPED, tmp_path / "some")
    compared = operation.compare_all(tmp_path / "some")
    assert len(compared) > 600
    assert [c for c in compared if not c.passed] == []
    assert {c.reference.measure.split(".")[0] for c in compared} > {"trustreport", "decision_benefit"}


def test_every_value_names_software_with_a_version_or_a_publication() -> None:
    checks = json.loads((SHIPPED / operation.FUNCTIONS).read_text(encoding="utf-8"))["checks"]
    sources = {check["source"] for check in checks}
    for study in tomllib.loads((SHIPPED / operation.STUDIES).read_text(encoding="utf-8"))["study"]:
        with (SHIPPED / "studies" / study["folder"] / operation.EXPECTED).open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if operation._is_selected(row["source"], study)]
        assert rows, study["folder"]
        sources |= {study.get("source") or row["source"] for row in rows}
    unclear = {s for s in sources if not re.search(r"\d+\.\d+|[0-9a-f]{7}|\(\d{4}\)", s)}
    assert unclear == set()


def test_the_values_of_functions_are_those_of_the_reference_data() -> None:
    made = runpy.run_path(str(ROOT / "tests/reference/qualification.py"))["made"]()
    assert (SHIPPED / operation.FUNCTIONS).read_text(encoding="utf-8") == made, "run the script again"


def test_functions_return_what_statsmodels_does_here_and_now() -> None:
    document = json.loads((SHIPPED / operation.FUNCTIONS).read_text(encoding="utf-8"))
    compared = operation._here(document)
    assert [c for c in compared if not c.passed] == []
    assert {c.reference.source for c in compared} == {peers.source()}
    assert {c.reference.measure.removeprefix("trustreport.measures.") for c in compared} == {
        *(f"proportion.{name}" for name in ("wald", "wilson", "clopper_pearson")),
        *(f"two_arm.{name}" for name in ("difference.wald", "difference.newcombe", "ratios.katz")),
        *("two_arm.ratios.woolf", "paired.ratios.mcnemar_exact", "association.holm"),
        *(f"agreement.{name}_kappa" for name in ("kappa.fleiss", "kappa.cohen")),
        *(f"calibration.logistic.calibration_{name}" for name in ("intercept", "slope")),
        *("calibration.local_regression.lowess", "mrmc.quarters.oldham_slope"),
    }


def test_a_function_unlike_statsmodels_fails(few: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = proportion.wilson

    def wrong(x: int, n: int, level: float) -> Any:
        e = right(x, n, level)
        return replace(e, low=e.low + 2e-9)

    monkeypatch.setattr(proportion, "wilson", wrong)
    document = json.loads((few / operation.FUNCTIONS).read_text(encoding="utf-8"))
    failed = {(c.reference.measure, c.reference.field) for c in operation._here(document) if not c.passed}
    assert failed == {("trustreport.measures.proportion.wilson", "low")}


def test_statsmodels_that_cannot_be_used_is_a_failure_with_its_reason(
    few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "statsmodels.stats.proportion", None)
    document = json.loads((few / operation.FUNCTIONS).read_text(encoding="utf-8"))
    (failed,) = operation._here(document)
    assert not failed.passed
    assert failed.note.startswith("ModuleNotFoundError")


def altered(few: Path, target: Path) -> Path:
    """The same reference values, one of a function and one of a study altered."""
    shutil.copytree(few, target)
    functions = target / operation.FUNCTIONS
    document = json.loads(functions.read_text(encoding="utf-8"))
    document["checks"][2]["values"]["low"][0] += 1e-6
    functions.write_text(json.dumps(document), encoding="utf-8")
    table = target / "studies/knee-mri-counts/expected.csv"
    table.write_text(table.read_text(encoding="utf-8").replace(",0.227,", ",0.229,"), encoding="utf-8")
    return target


def test_an_altered_reference_value_fails_and_is_named(few: Path, tmp_path: Path) -> None:
    document = json.loads((few / operation.FUNCTIONS).read_text(encoding="utf-8"))["checks"][2]
    failed = [c for c in operation.compare_all(altered(few, tmp_path / "altered")) if not c.passed]
    assert [(c.reference.measure, c.reference.field) for c in failed] == [
        (f"trustreport.measures.{document['function']}", "low"),
        ("pragmatic_utility.error_rate", "value"),
    ]


def test_the_command_passes_and_fails_by_exit_status_and_says_which_value(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place, status in ((few, 0), (altered(few, tmp_path / "altered"), 1)):
        monkeypatch.setattr(operation, "folder", lambda kind, place=place: place)
        out = tmp_path / f"record {status}"
        result = CliRunner().invoke(main, ["doctor", "--qualify", "-o", str(out)])
        assert result.exit_code == status, result.output
        assert sorted(p.name for p in out.iterdir()) == ["manifest.sha256", record.JSON, record.PDF]
        said = json.loads((out / record.JSON).read_bytes())
        assert said["passed"] is (status == 0)
        assert ("failed: pragmatic_utility.error_rate" in result.stderr) is (status == 1)
        assert "not signed" in result.stderr
        assert re.search(r"(\d+) of \1 values are equal to statsmodels [\d.]+ to 1e-09\.", result.stderr)


def test_a_function_that_raises_fails_with_its_reason(few: Path, tmp_path: Path) -> None:
    shutil.copytree(few, tmp_path / "broken")
    functions = tmp_path / "broken" / operation.FUNCTIONS
    functions.write_text(functions.read_text(encoding="utf-8").replace("proportion.wilson", "proportion.no"))
    failed = [c for c in operation.compare_all(tmp_path / "broken") if not c.passed]
    assert failed
    assert all("has no attribute 'no'" in c.note for c in failed)


def test_a_study_that_cannot_be_read_fails_with_its_reason(few: Path, tmp_path: Path) -> None:
    shutil.copytree(few, tmp_path / "broken")
    (tmp_path / "broken/studies/knee-mri-counts/study.yaml").write_text("nothing")
    failed = [c for c in operation.compare_all(tmp_path / "broken") if not c.passed]
    assert {c.reference.study for c in failed} == {"Published counts of errors with and without an aid"}
    assert all(c.note.startswith("StudyError") for c in failed)


# ---------------------------------------------------------------- installation


def test_this_installation_is_as_locked(found: record.Qualification) -> None:
    packages = {i.name: i for i in found.installation if i.kind == "package"}
    assert {"numpy", "scipy", "weasyprint", "pydantic", "contourpy"} <= packages.keys()
    assert {i.name: i for i in packages.values() if i.status == "fail"} == {}


def test_a_package_of_another_version_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = installation._locked

    def other(name: str) -> dict[str, str]:
        return locked(name) | ({"numpy": "1.0"} if name == installation.LOCK else {})

    monkeypatch.setattr(installation, "_locked", other)
    failed = [i for i in installation.inspect() if i.status == "fail"]
    assert [(i.name, i.expected) for i in failed] == [("numpy", "1.0")]
    assert "pip install --require-hashes" in failed[0].note


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> dict[Path, str]:
    """What RECORD of a wheel would have of this package, as a mapping that a test may change."""
    package = ROOT / "trustreport"
    files = [f for f in package.rglob("*") if f.is_file() and "__pycache__" not in f.parts]
    own = {f: installation._hash(f) for f in files}
    monkeypatch.setattr(installation, "_recorded", lambda name: own)
    return own


def own_files() -> Any:
    (item,) = installation._own_files()
    return item


def test_files_are_compared_with_record(recorded: dict[Path, str]) -> None:
    assert own_files().status == "pass"
    digest = installation.record_digest()
    assert len(digest) == 64
    recorded[ROOT / "trustreport/commands/cli.py"] = "0" * 43
    changed = own_files()
    assert (changed.status, changed.note) == ("fail", "commands/cli.py")
    assert "1 changed or missing, 0 others" in changed.found
    assert installation.record_digest() != digest


def test_a_file_that_record_lacks_fails(recorded: dict[Path, str]) -> None:
    del recorded[ROOT / "trustreport/commands/cli.py"]
    assert (own_files().status, own_files().note) == ("fail", "commands/cli.py")
    recorded[ROOT / "trustreport/gone.py"] = recorded[ROOT / "trustreport/api/__init__.py"]
    assert "1 changed or missing, 1 others" in own_files().found


def test_an_editable_installation_has_no_record_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_recorded", lambda name: {})
    assert (own_files().status, own_files().note) == ("not checked", installation.EDITABLE)
    assert installation.record_digest() == ""


# ---------------------------------------------------------------- the record


@pytest.fixture(scope="module")
def signed(found: record.Qualification, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Signer]:
    folder = tmp_path_factory.mktemp("signed")
    signer = Signer.open(folder / "key")
    record.write(found, folder / "record", signer, "Ada Lovelace", "ada@example.org")
    return folder / "record", signer


@pytest.mark.pdf
@pytest.mark.parametrize("profile", ["3a", "ua1"])
def test_the_pdf_conforms(signed: tuple[Path, Signer], profile: str) -> None:
    report = conformance.validate_pdf_bytes((signed[0] / record.PDF).read_bytes(), profile=profile)
    assert [(f.rule_id, f.message) for f in report.failures] == []


@pytest.mark.pdf
def test_a_failed_record_conforms_too(found: record.Qualification) -> None:
    one = replace(found.operation[0], passed=False, found=None, note="no such field")
    failed = replace(found, operation=(one, *found.operation[1:]))
    assert not failed.passed
    pdf = record.to_pdf(failed, record.canonical(record.as_data(failed)), "", "")
    assert conformance.validate_pdf_bytes(pdf, profile="ua1").is_compliant


@pytest.mark.pdf
def test_the_record_is_signed_and_verify_says_by_whom(signed: tuple[Path, Signer], tmp_path: Path) -> None:
    out, signer = signed
    lines = verify(out, {signer.public: "the quality manager"})
    assert [line.said for line in lines if line.status == "wrong"] == []
    (statement,) = [line for line in lines if line.status == "signed"]
    assert "by Ada Lovelace <ada@example.org>" in statement.said
    assert statement.said.endswith("by the quality manager")
    shutil.copytree(out, tmp_path / "changed")
    (tmp_path / "changed" / record.JSON).write_text("{}")
    wrong = {line.file for line in verify(tmp_path / "changed") if line.status == "wrong"}
    assert wrong == {record.JSON, f"{record.ACT}.json"}


def test_a_record_is_not_overwritten(found: record.Qualification, tmp_path: Path) -> None:
    (tmp_path / "record").mkdir()
    (tmp_path / "record" / "other.txt").write_text("x")
    with pytest.raises(FileExistsError, match="not an empty folder"):
        record.write(found, tmp_path / "record")
    assert [p.name for p in (tmp_path / "record").iterdir()] == ["other.txt"]


def test_nothing_is_written_where_the_pdf_cannot_be(
    found: record.Qualification, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unable(*given: Any) -> bytes:
        raise MissingLibrary("PDF writing needs libpango")

    monkeypatch.setattr(record, "to_pdf", unable)
    with pytest.raises(MissingLibrary):
        record.write(found, tmp_path / "record")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "given, said",
    [
        (["--qualify"], "--qualify goes with --out"),
        (["-o", "x"], "--qualify goes with --out"),
        (["--signer", "Ada <ada@example.org>"], "--qualify goes with --out"),
    ],
)
def test_options_that_do_not_go_together_are_refused(given: list[str], said: str) -> None:
    result = CliRunner().invoke(main, ["doctor", *given])
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize("lock", sorted(path.name for path in ROOT.glob("requirements*.lock")))
def test_a_lock_has_one_version_of_each_package_for_every_python(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    names = [name for name, _ in installation.LOCKED.findall(text)]
    assert len(names) == len(set(names)) > 50
    assert " for Python 3.11 to 3.14;" in text.splitlines()[0]
