"""Versions of a device by data set: values against R, learning and retention, pairing, what is refused."""

import csv
import runpy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from studies import plan

from tests.english import english
from trustreport.api import Assessed, read_study
from trustreport.assessment.dimensions.candidates import DIMENSION
from trustreport.assessment.dimensions.candidates.versions import kind_of, succession
from trustreport.assessment.finding import Finding, PlainTable
from trustreport.study.study import Coded, Labels, Scores, Study
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result, leading

EN = catalogue("en")
FOLDER = Path(__file__).resolve().parents[2] / "examples" / "planned-change"
MEASURES = ("sensitivity", "specificity", "auc")


@pytest.fixture(scope="module")
def expected(reference: Path) -> dict[tuple[str, ...], tuple[float, ...]]:
    with (reference / "versions.csv").open() as file:
        rows = list(csv.DictReader(file))
    keys = ("dataset", "versions", "measure", "analysis")
    return {tuple(r[k] for k in keys): tuple(float(r[k]) for k in ("value", "low", "high")) for r in rows}


@pytest.fixture(scope="module")
def finding() -> Finding:
    return DIMENSION.answer(*read_study(FOLDER))


def changes(found: Finding) -> list[Result]:
    return [r for r in found.results if r.name == "version_change"]


def said(found: Finding) -> str:
    (part,) = [p for p in found.parts if p.element == "versions"]
    return " ".join(EN(m) for m in part.finding)


def compared(found: Finding, expected: dict[tuple[str, ...], tuple[float, ...]], analysis: str) -> int:
    own = changes(found)
    for r in own:
        key = (r.place.dataset, " ".join(r.place.candidates or ()), r.endpoint, analysis)
        e = r.estimate
        assert r.analysis == analysis
        if r.endpoint == "auc" and analysis == "paired":  # R has DeLong's symmetric limits
            value, low, high = expected[key]
            assert (e.value, e.se) == pytest.approx((value, (high - low) / 2 / 1.959964), abs=2e-6), key
            assert e.low < e.value < e.high, key
        else:
            assert (e.value, e.low, e.high) == pytest.approx(expected[key], abs=2e-6), key
    return len(own)


def test_made_again_the_table_is_the_same_bytes(tmp_path: Path) -> None:
    runpy.run_path(str(FOLDER / "make.py"))["write"](tmp_path)
    assert (tmp_path / "scores.csv").read_bytes() == (FOLDER / "scores.csv").read_bytes()


def test_paired_changes_are_those_of_r(finding, expected) -> None:
    assert compared(finding, expected, "paired") == 3 * 2 * 3


def given_to(study: Study, version: str, first: bool) -> Study:
    """One version was given the first 110 cases of every set alone, or the others alone."""

    def narrowed(scores: Scores) -> Scores:
        codes = (np.arange(220) < 110).astype(np.int32) != first
        return replace(scores, status=Coded(codes.astype(np.int32), Labels(("done", "not run"))))

    datasets = tuple(
        replace(d, scores={**d.scores, version: narrowed(d.scores[version])}) for d in study.datasets
    )
    return replace(study, datasets=datasets)


@pytest.mark.parametrize("pair", [("1.1", "1.0"), ("2.0", "1.1")])
def test_versions_on_different_cases_are_compared_as_two_samples_and_that_is_said(pair, expected) -> None:
    study, declared = read_study(FOLDER)
    apart = given_to(given_to(study, pair[0], first=True), pair[1], first=False)
    found = DIMENSION.answer(apart, declared)
    own = replace(found, results=tuple(r for r in changes(found) if r.place.candidates == pair))
    assert compared(own, expected, "two_sample") == 3 * 3
    assert all("no case in common" in english(r.estimate.note) for r in own.results)
    assert "the versions were given different cases" in said(found)


def test_where_some_cases_are_in_common_the_change_is_of_those() -> None:
    study, declared = read_study(FOLDER)
    found = DIMENSION.answer(given_to(study, "2.0", first=True), declared)
    (r,) = [
        r
        for r in changes(found)
        if r.within(dataset="Southgate", candidates=["2.0", "1.1"], endpoint="sensitivity")
    ]
    cases = study.datasets[2].cases
    assert r.estimate.n == int((cases.truth[:110] == 1).sum())
    assert "of the 110 cases in common; one version alone has 110 more" in english(r.estimate.note)


def test_the_change_of_a_version_is_the_difference_of_the_two_candidates(assessed_example) -> None:
    made: Assessed = assessed_example("planned-change")
    for r in made.results:
        if r.id == "candidates.version_change":
            pair = {"dataset": r.place.dataset, "candidates": list(r.place.candidates)}
            same = leading(made.results, f"candidates.{r.endpoint}_difference", **pair)
            assert (same.estimate.value, same.estimate.low) == (r.estimate.value, r.estimate.low)


def test_a_gain_where_it_learned_and_a_loss_elsewhere_are_said_with_interval_and_name(finding) -> None:
    text = said(finding)
    assert "On Southgate, for which version 2.0 was changed, sensitivity rose by 19 points" in text
    assert "Sensitivity of version 2.0 fell on 1 of 2 older data sets: on Northgate by 7 points" in text
    assert (
        "On the older data set Northgate, the change in sensitivity from version 1.0 to 1.1 was 0 points "
        "(95% CI −7 to 7), which shows no fall."
    ) in text


def test_each_cell_of_versions_and_data_sets_is_learning_retention_or_changed_later(finding) -> None:
    (part,) = [p for p in finding.parts if p.element == "versions"]
    table = next(t for t in part.tables if t.id == "versions_changes")
    assert isinstance(table, PlainTable)
    assert [tuple(EN(c) if i else c for i, c in enumerate(row[:3])) for row in table.rows] == [
        ("Northgate", "1.0 to 1.1", "retention"),
        ("Northgate", "1.1 to 2.0", "retention"),
        ("Eastgate", "1.0 to 1.1", "learning"),
        ("Eastgate", "1.1 to 2.0", "retention"),
        ("Southgate", "1.0 to 1.1", "changed later"),
        ("Southgate", "1.1 to 2.0", "learning"),
    ]


def test_without_a_declaration_the_newest_version_is_taken_as_changed_for_the_newest_data() -> None:
    sets = [
        {"dataset": name, "role": "external", "start_date": day}
        for name, day in (("new", "2026-01-01"), ("old", "2024-01-01"))
    ]
    versions = [{"candidate": "c", "follows": "b"}, {"candidate": "b", "follows": "a"}, {"candidate": "a"}]
    made = plan(candidates=versions, datasets=sets)
    assert succession(made) == ["a", "b", "c"]
    kinds = [kind_of(v, d, made) for v in ("b", "c") for d in ("new", "old")]
    assert kinds == ["undeclared", "undeclared", "learning", "retention"]


def test_candidates_that_follow_none_have_no_table_of_versions(assessed_example: Callable) -> None:
    made = assessed_example("procurement-triage")
    assert not [r for r in made.results if r.name.startswith("version_")]


def test_every_wrong_name_of_versions_is_said_at_once(tmp_path: Path) -> None:
    text = (FOLDER / "study.yaml").read_text(encoding="utf-8")
    text = text.replace('{candidate: "1.0"}', '{candidate: "1.0", follows: "2.0"}')
    text = text.replace("updated_for: [Eastgate]", "updated_for: [Eastgat]")
    (tmp_path / "study.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "scores.csv").write_bytes((FOLDER / "scores.csv").read_bytes())
    with pytest.raises(StudyError) as caught:
        read_study(tmp_path)
    message = str(caught.value)
    assert message.count("comes before itself") == 1
    assert '"Eastgat"' in message
    assert 'a data set of test cases: "Eastgate", "Northgate" or "Southgate"' in message
