"""A truth that a rule makes of several tests: how it is read, what the report says, from the command line."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tests.studies import with_table
from trustreport.api import assess, read_study
from trustreport.commands.cli import main
from trustreport.measures.confusion.latent_class import latent_classes
from trustreport.report.answer.answer import answer
from trustreport.study.ingest.cases import by_rule
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
VERDICTS = Path(__file__).parent / "reference" / "verdicts_of_endpoints"
LATENT = "kind: latent_class, rule: any, conditional_independence: true"
ROWS = [("A", 1, 1, 1), ("B", 1, 0, 1), ("C", 0, 0, 0), ("D", 0, 0, ""), ("E", 1, 1, ""), ("F", 1, "", "")]


def manifest(reference: str, truth: str = "{culture: cult, pcr: p}") -> str:
    return (
        f"reference_standard: {{{reference}}}\n"
        f"datasets: [{{dataset: ext, role: external, file: table.csv, columns: {{truth: {truth}}}}}]\n"
    )


def refused(folder: Path, reference: str, truth: str = "{culture: cult, pcr: p}") -> str:
    with pytest.raises(StudyError) as error:
        read_study(with_table(folder, manifest(reference, truth), "case decision cult p", ROWS))
    return "\n".join(map(str, error.value.problems))


@pytest.mark.parametrize(
    ("rule", "truth"),
    [
        ("any", [1, 1, 0, -1, 1, -1]),  # a negative and a missing result leave it open
        ("all", [1, 0, 0, 0, -1, -1]),
    ],
)
def test_the_rule_makes_the_truth(tmp_path: Path, rule: str, truth: list[int]) -> None:
    text = manifest(f"kind: composite, rule: {rule}")
    study, _ = read_study(with_table(tmp_path, text, "case decision cult p", ROWS))
    (dataset,) = study.datasets
    assert dataset.cases.truth.tolist() == truth
    assert {name: x.tolist() for name, x in dataset.cases.tests.items()} == {
        "culture": [1, 0, 0, 0, 1, -1],
        "pcr": [1, 1, 0, -1, -1, -1],
    }


def test_a_majority_of_three_is_two() -> None:
    every = np.array(np.meshgrid(*[[1, 0, -1]] * 3)).reshape(3, -1).astype(np.int8)
    for column, truth in zip(every.T, by_rule(every, "majority")):
        yes, no = (column == 1).sum(), (column == 0).sum()
        assert truth == (1 if yes >= 2 else 0 if no >= 2 else -1)


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("kind: composite", "rule: any, all or majority"),
        ("kind: latent_class, rule: any", "conditional_independence: true"),
        (f"{LATENT}, sensitivity: 0.9, specificity: 0.9", "which a latent class estimates"),
        ("rule: any", "kind: composite"),
        ("kind: composite, rule: majority", "an odd number for a majority"),
        ("kind: error_prone", "Add reference_standard: {kind: composite, rule: any}"),
    ],
)
def test_what_is_not_declared_is_refused(tmp_path: Path, reference: str, said: str) -> None:
    problems = refused(tmp_path, reference)
    assert said in problems
    assert "\n" not in problems  # one fault, one problem


def test_a_rule_needs_several_tests(tmp_path: Path) -> None:
    assert "no truth of several tests" in refused(tmp_path, "kind: composite, rule: any", "cult")
    assert "found 1 test, expected two or more" in refused(tmp_path, LATENT, "{culture: cult}")


def test_the_result_of_the_device_is_no_test_of_its_own_truth(tmp_path: Path) -> None:
    problems = refused(
        tmp_path, "kind: composite, rule: any", "{culture: cult, ai: decision}, decision: decision"
    )
    assert 'found "decision", a result of the device, expected tests beside it' in problems


def built(folder: Path, study: str) -> tuple[dict, str]:
    """results.json and the text of the report, from the command line."""
    found = CliRunner().invoke(
        main, ["build", str(VERDICTS / study), "-o", str(folder), "--formats", "html,json"]
    )
    assert found.exit_code == 0, found.output
    page = (folder / "report.html").read_text()
    return json.loads((folder / "results.json").read_text()), page


def test_a_latent_class_is_reported_as_resting_on_its_assumption(tmp_path: Path) -> None:
    data, page = built(tmp_path, "latent-class-with-dependence")
    found = {(r["id"].partition(".")[2], r["scope"].get("dataset")): r for r in data["results"]}
    study, plan = read_study(VERDICTS / "latent-class-with-dependence")
    dataset = study.datasets[0]
    tests = np.vstack([dataset.scores[""].decision, *dataset.cases.tests.values()]) == 1
    again = latent_classes(tests, rng=np.random.default_rng(3), dependence=0.6).device
    for name, e in again.items():
        own = found[f"label_corrected_{name}", "good"]
        assert own["value"] == pytest.approx(e.value, abs=1e-6)
        assert own["low"] == pytest.approx(e.low, abs=0.02)  # other resamples
        assert own["method"] == "latent_class"
        assert own["details"]["lowest"] < own["value"] < own["details"]["highest"]
    apart = found["reference_disagreement", "good"]
    unlike = int((tests[1] != tests[2]).sum())
    assert apart["value"] == pytest.approx(unlike / 2000)
    for said in (
        "on the declared assumption that",
        "up to 60.0% of the largest possible covariance",
        f"they disagreed in {unlike} of 2,000 cases",
        "Reference test culture, by the same model",
        "Rule over the tests",
        "No reference is taken as right",
    ):
        assert said in page, said
    assert plan.reference_standard.dependence == 0.6


def test_a_composite_reference_is_concordance_and_says_its_rule(tmp_path: Path) -> None:
    data, page = built(tmp_path, "composite-reference")
    assert {v["verdict"] for v in data["verdicts"]} == {"not assessable"}
    assert "concordance with a composite reference, not accuracy" in page
    assert "if any of the tests culture and pcr is positive; they disagreed in" in page
    assert "latent" not in page


def test_a_composite_that_is_declared_as_right_is_accuracy(tmp_path: Path) -> None:
    data, page = built(tmp_path, "composite-taken-as-right")
    assert "pass" in {v["verdict"] for v in data["verdicts"]}
    assert "if any of the tests culture and pcr is positive; they disagreed in" in page
    assert "agreement with labels" not in page
    assert "Sensitivity was 80.7%" in page


def test_page_1_states_no_number_that_is_not_corrected_beside_those_that_are(tmp_path: Path) -> None:
    """Two data sets without criteria: sensitivities of 95% and 60% by the model, 81% and 51% by the rule."""
    folder = Path(shutil.copytree(VERDICTS / "latent-class", tmp_path / "study"))
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text[: text.index("endpoints:")])
    answered = answer(assess(*read_study(folder)), EN)
    said = f"{answered.sentence} {answered.supporting}"
    assert "On good, by a latent class model" in said
    assert "sensitivity 95.1%" in said
    assert "sensitivity 59.9%" in said
    assert "80.7%" not in said
    assert "50.8%" not in said


@pytest.mark.parametrize("alpha", [0.025, 0.05])
def test_a_verdict_has_the_level_of_its_criterion(tmp_path: Path, alpha: float) -> None:
    folder = Path(shutil.copytree(VERDICTS / "latent-class", tmp_path / "study"))
    text = (folder / "study.yaml").read_text()
    (folder / "study.yaml").write_text(text.replace("alpha: 0.025", f"alpha: {alpha}"))
    assessment = assess(*read_study(folder))
    judged = assessment.verdicts[0].result
    shown = next(r for r in assessment.results if r.name == "label_corrected_sensitivity")
    assert judged is not None
    assert judged.estimate.level == pytest.approx(1 - 2 * alpha)
    assert (judged.estimate.low > shown.estimate.low) == (alpha > 0.025)


def test_tests_that_tell_nothing_give_no_accuracy(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [(k, *rng.integers(0, 2, 3)) for k in range(300)]
    assessment = assess(*read_study(with_table(tmp_path, manifest(LATENT), "case decision cult p", rows)))
    corrected = [r for r in assessment.results if r.name.startswith("label_corrected_")]
    assert len(corrected) == 5
    assert all(np.isnan(r.estimate.value) for r in corrected)
    said = [EN(m) for f in assessment.findings for part in f.parts for m in part.finding]
    assert any("gives no accuracy: the device and the reference tests agree too little" in s for s in said)


def test_several_columns_of_references_are_proposed(tmp_path: Path) -> None:
    rows = (f"c{k},{k % 10 / 10},{'yes' if k % 3 else 'no'},{'no' if k % 2 else 'yes'}" for k in range(60))
    table = tmp_path / "cases.csv"
    table.write_text("\n".join(["case,score,ref_culture,reference_pcr", *rows]) + "\n")
    done = CliRunner().invoke(main, ["init", str(tmp_path / "study"), "--from", str(table)])
    assert done.exit_code == 0, done.output
    made = (tmp_path / "study" / "study.yaml").read_text()
    assert "reference_standard: {kind: composite, rule: any}  # UNCERTAIN: positive where any" in made
    assert "truth: {culture: ref_culture, pcr: reference_pcr}" in made
    study, _ = read_study(tmp_path / "study")
    assert set(study.datasets[0].cases.tests) == {"culture", "pcr"}
