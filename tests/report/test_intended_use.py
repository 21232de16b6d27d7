"""The declared use of the device stands before the chapters, and in a line of the first page."""

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_up import assessment, manifest, part

from trustreport.assessment.assess import Assessment
from trustreport.assessment.case_mix import CaseMix
from trustreport.report.declared import notice
from trustreport.report.elements.intended_use import purpose_line, use_box
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
USE = {
    "intended_purpose": "Put urgent films first",
    "medical_condition": "Pneumothorax",
    "decision_role": "triage",
    "out_of_scope_uses": "Children",
}
TRIAGE = (
    "Intended purpose: Put urgent films first (Pneumothorax). A case that the device misses keeps its place "
    "in the worklist and waits longer. Users: not declared."
)


def declaring(**use: Any) -> Plan:
    return Plan.model_validate(manifest() | {"intended_use": use})


@pytest.mark.parametrize(
    ("use", "said"),
    [
        (
            USE,
            TRIAGE,
        ),
        (
            USE | {"decision_role": "concurrent"},
            "Intended purpose: Put urgent films first (Pneumothorax). Users: not declared.",
        ),
        (
            {
                "intended_purpose": "Find pneumothorax.",
                "medical_condition": "Pneumothorax",
                "intended_users": "Radiologists.",
            },
            "Intended purpose: Find pneumothorax. Users: Radiologists.",
        ),
        ({}, "The intended purpose is not declared."),
    ],
)
def test_a_line_says_what_the_device_is_for(use: dict[str, str], said: str) -> None:
    assert purpose_line(declaring(**use), EN) == said


def test_what_is_not_declared_is_said_once() -> None:
    plan = declaring(**USE)
    box = use_box(assessment((part("one", titled=False),), plan), EN)
    assert dict(box.use)["Not intended for"] == "Children"
    assert box.undeclared == ("Users", "Population", "Contraindications", "Known risks")


@pytest.mark.slow
def test_the_box_says_on_whom_a_device_was_tested(assessed_example: Callable[[str], Assessment]) -> None:
    box = use_box(assessed_example("certification-dossier"), EN)
    tested = dict(box.tested)
    assert tested["Device"] == "Fictional retina aid 2.4.0, threshold 0.2"
    assert tested["Device alone"].startswith(
        "1,160 cases, 364 with the condition (31.4%; intended use 27.0%) · 4 data sets · "
        "4 sites (Westlake, Northhaven, "
    )
    assert tested["Device alone"].endswith("· 2024-09-02 to 2025-12-30 · consecutive")
    readers = tested["Readers"]
    assert "90 cases, 44 with the condition (49%; intended use 27.0%) · 8 readers" in readers
    assert "enriched · Cases with and without the condition in equal number" in readers
    assert "crossover · wash-out 28 days · order: randomised" in readers
    assert tested["Sample size"].startswith("90 cases with the condition put a sensitivity of 90%")
    assert not box.undeclared


@pytest.mark.slow
@pytest.mark.parametrize("name", ["certification-dossier", "procurement-triage", "vigilance-audit"])
def test_every_kind_prints_it(name: str, example: Callable[[str], Any]) -> None:
    page = (example(name) / "report.html").read_text(encoding="utf-8")
    front, _, rest = page.partition('id="use"')
    assert "Intended purpose:" in front.partition('id="answer"')[2]
    assert rest.index("Intended use") < rest.index('id="glance"')


def test_training_data_do_not_count_as_a_test(simple: Assessment) -> None:
    mixes = (CaseMix("made of", "training", 900, 300, 600, 0), CaseMix("seen", "external", 80, 20, 60, 0))
    box = use_box(replace(simple, case_mixes=mixes), EN)
    assert dict(box.tested)["Device alone"].startswith("80 cases, 20 with the condition (25%")


def test_simulated_data_are_called_so() -> None:
    simulated = manifest() | {"study": {"simulated": True}}
    bare = {key: value for key, value in simulated["report"].items() if key != "notice"}
    said = notice(Plan.model_validate(simulated | {"report": bare}), EN)
    assert said == "Simulated data: no patient stands behind these numbers"
    own = Plan.model_validate(simulated | {"report": bare | {"notice": "Ours"}})
    assert notice(own, EN) == "Ours"
    assert notice(Plan.model_validate(manifest() | {"report": bare}), EN) == ""


def test_measured_values_are_counted_as_their_tables_have_them(
    assessed_example: Callable[[str], Assessment],
) -> None:
    tested = dict(use_box(assessed_example("measured-volumes"), EN).tested)
    folder = Path(__file__).resolve().parents[2] / "examples" / "measured-volumes"
    cases, readers = (
        len({row[column] for row in csv.DictReader((folder / "readings.csv").read_text().splitlines())})
        for column in ("case", "reader")
    )
    device = (folder / "device.csv").read_text().count("\n") - 1  # a row a case
    said = f"{cases} cases and {readers} readers; {device} cases (test set)"
    assert tested["Measured values and ratings"] == said
