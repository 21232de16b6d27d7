"""Seven studies: the table as a hospital exports it, three commands, and the leading number.

The tables and what numpy says of them are made by tests/reference/endpoints/make.py.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trustreport import assess, read_study, write_report
from trustreport.commands.cli import main
from trustreport.report.answer.front import front
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
ENDPOINTS = Path(__file__).resolve().parent / "reference" / "endpoints"
EXPECTED = json.loads((ENDPOINTS / "expected.json").read_text())
NAMES = [name for name in EXPECTED if name != "versions"]
# No table says which threshold the device is used with.
OF_SCORES = ("labels-known", "labels-unknown")
EDIT = ("# operating_point: {threshold: 0.5}", "operating_point: {threshold: 0.5}")
RATINGS = "Ratings show what these readers think, not that an output is correct"
PREFERENCE = "A preference shows which output these readers chose, not which one is right"
AGREEMENT = "Agreement is not accuracy"


@dataclass
class Door:
    """What the commands made of a table."""

    manifest: str
    said: str
    results: dict[str, Any] = field(default_factory=dict)
    limits: list[str] = field(default_factory=list)  # of page 1

    @property
    def answer(self) -> str:
        """The sentences at the top of page 1."""
        return f"{self.results['answer']['sentence']} {self.results['answer']['support']}"

    def value(self, id: str, **scope: Any) -> dict[str, Any]:
        """The one primary entry of a quantity with this scope."""
        found = [
            r
            for r in self.results["results"]
            if r["id"] == id and r["primary"] and all(r["scope"].get(k) == v for k, v in scope.items())
        ]
        assert len(found) == 1, [(r["scope"], r["value"]) for r in found]
        one: dict[str, Any] = found[0]
        return one


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Door]:
    """The report on one of the tables, by `init --from`, `check` and `build`, once."""
    made: dict[str, Door] = {}

    def build(name: str) -> Door:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            files = [Path(shutil.copy(f, folder)) for f in sorted((ENDPOINTS / name).glob("*.csv"))]
            done = CliRunner().invoke(main, ["init", str(folder), "--from", *map(str, files)])
            assert done.exit_code == 0, done.stderr
            manifest = (folder / "study.yaml").read_text()
            if name in OF_SCORES:
                assert EDIT[0] in manifest
                (folder / "study.yaml").write_text(manifest.replace(*EDIT))
            said = CliRunner().invoke(main, ["check", str(folder)])
            assert said.exit_code == 0, said.stderr
            assessment = assess(*read_study(folder))
            assert not write_report(assessment, folder / "out", formats=["json"]).failed
            results = json.loads((folder / "out" / "results.json").read_text())
            shown = [limit.text for limit in front(assessment, EN).limits]
            made[name] = Door(manifest, said.output, results, shown)
        return made[name]

    return build


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_recognised_checked_and_answers(name: str, door: Callable[[str], Door]) -> None:
    found = door(name)
    assert "No problems found" in found.said
    assert found.results["answer"]["parts"][0]["results"] or name == "labels-unknown"
    assert "none of the report" not in found.answer


def test_five_readers_measure_with_and_without_the_device(door: Callable[[str], Door]) -> None:
    found = door("ejection-fraction")
    assert "arms: [{arm: ohne KI, aided: false}, {arm: mit KI, aided: true}]" in found.manifest
    assert '{measurement: EF, kind: number, unit: "%"}' in found.manifest
    change = found.value("reader_measurement.mean_absolute_error_difference")
    assert change["value"] == pytest.approx(EXPECTED["ejection-fraction"]["difference"], abs=1e-9)
    assert found.results["answer"]["sentence"].startswith(
        "The mean absolute error of EF was smaller for the mit KI arm than for the ohne KI arm: difference "
        "−1.7"
    )
    assert any(AGREEMENT in limit for limit in found.limits)


def test_contours_of_three_candidates(door: Callable[[str], Door]) -> None:
    found, expected = door("contours"), EXPECTED["contours"]
    liver = {"endpoint": "DSC, Liver"}
    for model in ("UNet-A", "UNet-B", "Atlas"):
        mean = found.value("measurement.mean_score", candidate=model, **liver)
        assert mean["value"] == pytest.approx(expected[f"mean {model}"], abs=1e-9)
    pair = found.value("measurement.mean_score_difference", candidates=["UNet-A", "UNet-B"], **liver)
    assert pair["value"] == pytest.approx(expected["difference"], abs=1e-9)
    assert "The mean DSC, Liver was higher for UNet-A than for UNet-B: difference 0.031" in found.answer
    assert any(AGREEMENT in limit for limit in found.limits)


def test_image_quality_without_a_truth(door: Callable[[str], Door]) -> None:
    found = door("image-quality")
    change = found.value("reader_measurement.mean_score_difference")
    assert change["value"] == pytest.approx(EXPECTED["image-quality"]["difference"], abs=1e-9)
    assert "higher for Deep Learning than for FBP: difference 0.72" in found.results["answer"]["sentence"]
    assert any(RATINGS in limit for limit in found.limits)
    fired = {c["check"] for c in found.results["checks"] if c["status"] == "fired"}
    assert "P59" not in fired  # "Lecteur A" is nobody's name


def test_drafted_reports_with_errors_by_severity(door: Callable[[str], Door]) -> None:
    found, expected = door("drafted-reports"), EXPECTED["drafted-reports"]
    change = found.value("reader_measurement.mean_loss_difference", endpoint="critical errors")
    assert change["value"] == pytest.approx(expected["critical"], abs=1e-9)
    rating = found.value("reader_measurement.mean_score_difference", endpoint="acceptability")
    assert rating["value"] == pytest.approx(expected["acceptability"], abs=1e-9)
    assert found.results["answer"]["sentence"].startswith(
        "No difference in the mean number of critical errors was found between AI draft and Resident: 0.22"
    )
    counted = [r for r in found.results["results"] if r["id"] == "reader_measurement.mean_loss"]
    assert all(r["low"] >= 0 for r in counted)  # no mean of counts is below 0
    assert any(RATINGS in limit for limit in found.limits)


def test_labels_of_known_error(door: Callable[[str], Door]) -> None:
    """The audit gives how often the labels are right; sensitivity is corrected (Staquet et al. 1981)."""
    found, expected = door("labels-known"), EXPECTED["labels-known"]
    rates = {m: [expected[f"{m} right"], expected[f"{m} of"]] for m in ("sensitivity", "specificity")}
    assert f"sensitivity: {rates['sensitivity']}, specificity: {rates['specificity']}" in found.manifest
    corrected = found.value("advice_accuracy.label_corrected_sensitivity")
    assert corrected["value"] == pytest.approx(expected["corrected"], abs=1e-9)
    assert found.results["answer"]["sentence"].startswith("On routine, corrected for the declared error")


def test_accuracy_is_withheld_of_labels_of_unknown_error(door: Callable[[str], Door]) -> None:
    found, expected = door("labels-unknown"), EXPECTED["labels-unknown"]
    assert "reference_standard: {kind: error_prone}  # UNCERTAIN: how often is" in found.manifest
    agreement = found.value("advice_accuracy.sensitivity")
    assert (agreement["value"], agreement["n"]) == (
        pytest.approx(expected["agreement"], abs=1e-9),
        expected["n"],
    )
    assert found.results["answer"]["sentence"].startswith(
        "These figures are agreement with labels of unknown error, not accuracy"
    )
    blocked = [c for c in found.results["checks"] if c["check"] == "P73"]
    assert [(c["severity"], c["status"]) for c in blocked] == [("B", "fired")]


def test_choices_between_two_reports(door: Callable[[str], Door]) -> None:
    found = door("preferences")
    share = found.value("reader_measurement.preference_share")
    assert share["value"] == pytest.approx(EXPECTED["preferences"]["share"], abs=1e-9)
    assert "Readers preferred Draft to Written" in found.results["answer"]["sentence"]
    assert any(PREFERENCE in limit for limit in found.limits)
