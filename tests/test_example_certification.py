"""The example of a certification dossier: the same bytes again, nothing undeclared, verdicts of all kinds."""

import hashlib
import runpy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from trustreport.assessment.assess import Assessment
from trustreport.assessment.claims import claim_checks
from trustreport.report import declared
from trustreport.report.answer import acceptance
from trustreport.report.answer.forest import forest
from trustreport.report.write import as_data
from trustreport.study import lock
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import leading

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "certification-dossier"
EN = catalogue("en")


@pytest.fixture(scope="module")
def assessed(assessed_example: Callable[[str], Assessment]) -> Assessment:
    return assessed_example(EXAMPLE.name)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[float]]:
    """The tables made again, and the areas of the internal splits."""
    folder = tmp_path_factory.mktemp("made")
    return folder, runpy.run_path(str(EXAMPLE / "make.py"))["write"](folder)


def test_made_again_the_tables_are_the_same_bytes(made: tuple[Path, list[float]]) -> None:
    folder, _ = made
    assert {p.name for p in folder.iterdir()} == {p.name for p in EXAMPLE.glob("*.csv")}
    for file in folder.iterdir():
        assert file.read_bytes() == (EXAMPLE / file.name).read_bytes(), file.name


def test_what_the_manifest_states_of_the_tables_is_so(
    assessed: Assessment, made: tuple[Path, list[float]]
) -> None:
    plan = assessed.plan
    assert plan.internal_splits is not None
    assert list(plan.internal_splits.values) == made[1]
    for facts in plan.datasets:
        file = facts.file or "cases.csv"
        assert facts.sha256 == hashlib.sha256((EXAMPLE / file).read_bytes()).hexdigest(), file


def test_it_says_that_nothing_of_it_is_real_and_declares_all(assessed: Assessment) -> None:
    plan = assessed.plan
    assert plan.report.kind == "certification"
    assert plan.study.simulated
    assert (plan.report.notice or "").startswith("Fictional device, simulated data")
    assert "fictional" in (plan.device.manufacturer or "")
    assert all("fictional" in (a.name or "") for a in plan.approvals or ())
    assert assessed.not_declared == ()


def of_routine(plan: Plan) -> Mapping[str, Any]:
    """What a dossier before routine use has nothing for: candidates, a site of use, published figures."""
    return {
        name: getattr(plan, name)
        for name in (
            *("candidates", "site_context", "vigilance", "incidents", "signals"),
            *("counts", "paired_counts", "confusion", "reliance_counts", "nomogram", "reported", "limits"),
            *("published_readers", "published_sites"),
        )
    }


def test_every_group_that_applies_is_filled(assessed: Assessment) -> None:
    plan = assessed.plan
    apart = of_routine(plan)
    assert not any(apart.values())
    other_tasks = {"localisation", "measurements", "time_to_event", "pools", "external_performance"}
    other_tasks |= {"confusion_tables", "joint_decisions"}
    assert set(Plan.model_fields) - set(apart) - other_tasks <= plan.model_fields_set
    # No case was left out of the internal test, and the report says so rather than nothing.
    shown = declared.groups(plan, assessed.not_declared, EN)["datasets"]
    assert shown.table is not None
    column = [head.text for head in shown.table.heads].index("internal test")
    said = {line.cells[0].text: line.cells[column].text for line in shown.table.lines}
    assert said["Exclusions"] == "none"
    # The digits of a hash that tell files apart; a field that all sets share stands once.
    assert len(said["sha256"].removesuffix("…")) == 12
    assert ("Licence (all 6 of them)", "that of this project") in shown.stated


def test_criteria_of_every_kind_and_verdict(assessed: Assessment) -> None:
    assert {v.criterion.endpoint: v.word for v in assessed.verdicts} == {
        "sensitivity": "pass",
        "specificity": "pass",
        "discrimination at Northhaven": "pass",
        "discrimination at Eastfield": "pass",
        "discrimination at Southport": "inconclusive",
        "calibration at Southport": "fail",
        "reader accuracy": "pass",
        "reader specificity": "pass",
        "reader sensitivity": "pass",
        "reading time": "inconclusive",
        "optometrist accuracy": "not tested",
        "harmful switches": "inconclusive",
    }
    rules = {v.family.name: (v.family.rule, v.family.size) for v in assessed.verdicts if v.family}
    assert rules == {
        "the device alone": ("co-primary", 2),
        "external sites": ("holm", 3),
        "readers": ("fixed sequence", 5),
    }
    hypotheses = {e.hypothesis for e in assessed.plan.endpoints}
    assert {"superiority", "non-inferiority", "performance goal"} <= hypotheses
    assert not [o.check for o in assessed.fired() if o.severity == "B"]


def test_the_acceptance_table_says_what_was_asked_of_each(assessed: Assessment) -> None:
    rows = {row.name: row for row in acceptance.criterion_rows(assessed, EN)}
    assert rows["optometrist accuracy"].bound == "above 0 points"
    site = rows["discrimination at Northhaven"]
    assert (site.level, site.bound) == ("98.33%", "above 0.85")
    assert site.sentence.startswith("Met: area under the ROC curve (Northhaven) was 0.94 ")
    assert "98.33% CI" in site.sentence
    time = rows["reading time"].sentence
    assert time.startswith("Inconclusive: change in reading time (aided versus unaided) was ")


def test_a_criterion_about_some_readers_is_told_of_them_alone(assessed: Assessment) -> None:
    group: dict[str, Any] = {"endpoint": "accuracy", "subgroup": "qualification: optometrist", "reader": None}
    group["parameters"] = {"prevalence": 0.27}  # which is declared
    own = leading(assessed.results, "decision_benefit.mean_benefit", **group)
    told = [r for r in assessed.results if r.id == "decision_benefit.non_inferiority"]
    (one,) = (r for r in told if r.scope["parameters"]["criterion"] == "optometrist accuracy")
    assert own is not None
    assert one.estimate.value == own.estimate.value
    assert one.scope["subgroup"] == group["subgroup"]


def test_the_lock_was_amended_before_the_data_were_opened(assessed: Assessment) -> None:
    status = lock.lock_status(assessed.study, assessed.plan)
    assert (status.state, status.late) == ("amended", False)
    assert [(c.field, c.old, c.new, c.how) for c in status.changes] == [
        ("endpoints[sensitivity].bound_or_margin", 0.85, 0.8, "before")
    ]


def test_the_lock_is_the_one_that_its_script_makes() -> None:
    assert (EXAMPLE / lock.FILE).read_bytes() == runpy.run_path(str(EXAMPLE / "lock.py"))["made"]()


def test_under_the_locked_goal_the_data_are_inconclusive(assessed: Assessment) -> None:
    (amended,) = (v for v in assessed.verdicts if v.locked is not None)
    assert (amended.criterion.endpoint, amended.word) == ("sensitivity", "pass")
    assert amended.locked is not None
    assert (amended.locked.bound, amended.locked.word) == (0.85, "inconclusive")
    (row,) = (r for r in acceptance.criterion_rows(assessed, EN) if r.aside)
    assert row.aside == "amended after the lock; with the locked 85%: inconclusive"


def test_claims_of_the_instructions_are_recomputed_and_one_does_not_hold(assessed: Assessment) -> None:
    found = claim_checks(assessed.plan, assessed.results)
    assert len(found) == len(assessed.plan.performance_claims or ()) == 4
    assert [EN(one.printed) for one in found if not one.agrees] == ["0.85"]


def test_the_picture_of_the_readme_shows_this_report(assessed: Assessment) -> None:
    root = EXAMPLE.parent.parent
    picture = root / "docs" / "report.png"
    assert picture.stat().st_size < 250_000
    answer = as_data(assessed)["answer"]["sentence"]
    with Image.open(picture) as page:
        assert page.info["Description"] == answer, "run python docs/readme_picture.py"
    assert f"![Page 1 of a report: {answer}](docs/report.png)" in (root / "README.md").read_text("utf-8")


def test_an_interval_that_ends_close_to_its_bound_is_on_its_side_wherever_it_stands(
    assessed: Assessment,
) -> None:
    """The table of criteria had 0.92 (0.85 to 0.95) as met where more than 0.85 was required."""
    rows = {row.name: row for row in acceptance.criterion_rows(assessed, EN)}
    (eastfield,) = (row for name, row in rows.items() if "Eastfield" in name)
    assert (eastfield.estimate, eastfield.bound) == ("0.915 (0.853 to 0.953)", "above 0.85")
    shown = {row.name: row.estimate for group in forest(assessed, EN) for row in group.rows}
    tested = {v.criterion.endpoint for v in assessed.verdicts if v.word != "not tested"}
    assert {name: rows[name].estimate for name in tested} == {name: shown[name] for name in tested}
