"""The page in plain words: one A4 page in four languages, with the numbers of results.json and no more."""

import json
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from math import floor, nan
from pathlib import Path
from typing import Any

import page as conformance
import pikepdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.browsing import all_violations
from trustreport.api import Assessed, write_report
from trustreport.report.plain import hundred
from trustreport.report.plain.hundred import CountRange, Hundred, count_range, hundreds
from trustreport.report.plain.icons import SHAPES
from trustreport.report.plain.page import PlainPage, on_paper, rendered
from trustreport.report.write import as_data
from trustreport.vocabulary.messages import catalogue

HASH = "ab" * 32
LANGUAGES = ("en", "de", "fr", "it")
LOOKED_AT = ("certification-dossier", "procurement-triage", "vigilance-audit", "knee-mri")


def in_language(assessment: Any, language: str) -> Any:
    """An assessment whose report is in another language."""
    report = assessment.plan.report.model_copy(update={"language": language})
    return replace(assessment, plan=assessment.plan.model_copy(update={"report": report}))


def page_of(assessment: Any, language: str = "en") -> PlainPage:
    return PlainPage(assessment, HASH, catalogue(language))


def every_text(page: PlainPage) -> str:
    """All that a page says, but for its arrays."""
    parts = [page.purpose, page.frequencies, *page.sections]
    return "\n".join(line for part in parts for line in (part.heading, *part.paragraphs, *part.points))


@pytest.fixture(scope="module", params=LOOKED_AT)
def assessed(request: pytest.FixtureRequest, assessed_example: Callable[[str], Assessed]) -> Any:
    return assessed_example(request.param)


@pytest.mark.pdf
@pytest.mark.parametrize("language", LANGUAGES)
def test_it_is_one_page_in_every_language(assessed: Any, language: str) -> None:
    made = on_paper(in_language(assessed, language), HASH)
    with pikepdf.open(BytesIO(made.content)) as pdf:
        assert len(pdf.pages) == 1


@pytest.mark.pdf
@pytest.mark.parametrize("profile", ["3a", "ua1"])
def test_the_pdf_conforms_as_the_report_does(
    assessed_example: Callable[[str], Assessed], profile: str
) -> None:
    made = on_paper(assessed_example("procurement-triage"), HASH)
    found = conformance.validate_pdf_bytes(made.content, profile=profile)
    assert [(f.rule_id, f.message) for f in found.failures] == []


@pytest.mark.parametrize("name", ["procurement-triage", "certification-dossier", "vigilance-audit"])
def test_its_numbers_are_those_of_the_results(
    assessed_example: Callable[[str], Assessed], name: str
) -> None:
    assessment = assessed_example(name)
    results = as_data(assessment)["results"]
    share = assessment.plan.declared_prevalence
    assert share is not None
    for one in hundreds(assessment):
        found = {}
        for measure in ("sensitivity", "specificity"):
            scope = {"dataset": one.data, "candidate": one.name or None}
            scope |= dict.fromkeys(("site", "subgroup", "parameters"))
            (entry,) = [
                r
                for r in results
                if r["id"] == f"advice_accuracy.{measure}"
                and r["primary"]
                and all(r["scope"].get(key) == value for key, value in scope.items())
            ]
            found[measure] = entry
        sensitivity, specificity = found["sensitivity"], found["specificity"]
        assert one.tested == (sensitivity["n"], specificity["n"])
        assert sum(count.n for count in one.counts.values()) == 100
        assert one.affected == floor(100 * share + 0.5)
        missed, alarms = one.missed, one.false_alarms
        assert missed is not None
        assert alarms is not None
        assert missed.n == floor(100 * (1 - sensitivity["value"]) + 0.5)
        assert alarms.n == floor(100 * (1 - specificity["value"]) + 0.5)
        for count, entry in ((missed, sensitivity), (alarms, specificity)):
            assert count.low is not None
            assert count.high is not None
            assert count.low <= 100 * (1 - entry["high"]) + 1e-6 < count.low + 1 + 2e-6
            assert count.high >= 100 * (1 - entry["low"]) - 1e-6 > count.high - 1 - 2e-6
        assert abs(one.counts["missed"].n - 100 * share * (1 - sensitivity["value"])) < 1
        assert abs(one.counts["false_alarm"].n - 100 * (1 - share) * (1 - specificity["value"])) < 1


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.floats(0, 100))
def test_a_range_is_never_narrower_than_the_interval(a: float, b: float, c: float, of: float) -> None:
    low, value, high = sorted((a, b, c))
    found = count_range(value, low, high, of)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= low * of + 1e-6
    assert high * of - 1e-6 <= found.high <= 100
    assert found.low <= found.n <= max(found.high, 1)
    assert found.below_one == (found.n == 0 and value * of > 1e-9)


def test_nobody_is_drawn_as_missed_because_the_prevalence_was_rounded(
    assessed_example: Callable[[str], Assessed],
) -> None:
    one = hundreds(assessed_example("published-studies"))[1]
    assert one.data == "study 1, per frame"  # half a case of 100, sensitivity 99.7%
    assert [count.n for count in one.counts.values()] == [1, 0, 1, 98]


def test_without_an_interval_nothing_is_claimed() -> None:
    found = count_range(0.25, nan, nan)
    assert (found, found.limited) == (CountRange(25, None, None), False)


def test_each_candidate_has_its_array_and_its_text(assessed_example: Callable[[str], Assessed]) -> None:
    blocks = page_of(assessed_example("procurement-triage")).arrays
    assert [block.title for block in blocks] == ["Alder, Harbour", "Birch, Harbour", "Cedar, Harbour"]
    for block in blocks:
        assert block.picture.count("<g ") == 100
        numbers = [int(n) for n in re.findall(r"(\d+) (?:filled|square|triangle|open)", block.alt)]
        assert sum(numbers) == 100
        assert [row.count for row in block.rows] == [str(n) for n in numbers]
    assert "misses between 22 and 40 (best estimate: 30)" in blocks[2].sentences[0]


def test_the_states_are_drawn_as_different_shapes() -> None:
    drawn = [re.sub(r'(fill|stroke)="#[0-9a-f]+"', "", SHAPES[s]) for s in ("found", "missed", "false_alarm")]
    assert len({*drawn, re.sub(r'(fill|stroke)="#[0-9a-f]+"', "", SHAPES["cleared"])}) == 4


def test_doctors_decide_without_and_with_the_device(assessed_example: Callable[[str], Assessed]) -> None:
    page = page_of(assessed_example("knee-mri-readings"))
    assert [block.title for block in page.arrays] == ["Doctors without the device", "Doctors with the device"]
    assert "Doctors were not found to miss fewer people" in every_text(page)
    assert "It does not answer whether doctors decide better" not in every_text(page)


def test_where_only_errors_are_known_decisions_are_drawn(assessed_example: Callable[[str], Assessed]) -> None:
    assessment = assessed_example("knee-mri")
    page = page_of(assessment)
    rates = {
        r["scope"]["arm"]: r
        for r in as_data(assessment)["results"]
        if r["id"] == "pragmatic_utility.error_rate" and r["primary"] and "parameters" not in r["scope"]
    }
    for block, arm in zip(page.arrays, ("unaided", "aided"), strict=True):
        assert block.rows[1].count == str(round(100 * rates[arm]["value"]))
    assert page.frequencies.heading == "How many of 100 decisions are wrong?"


def test_a_change_that_was_not_shown_is_not_claimed(assessed_example: Callable[[str], Assessed]) -> None:
    text = every_text(page_of(assessed_example("knee-mri")))
    assert "of 100 decisions, up to 4 fewer or up to 3 more may be wrong" in text
    text = every_text(page_of(assessed_example("certification-dossier")))
    assert "doctors miss between 7 and 22 fewer when they use the device" in text


def test_the_weakest_of_several_hospitals_is_shown_and_named(
    assessed_example: Callable[[str], Assessed],
) -> None:
    page = page_of(assessed_example("certification-dossier"))
    assert page.arrays[0].title == "Southport"
    assert "Shown is Southport, where the device missed most." in every_text(page)
    assert "In the 3 other data sets the ranges go from 4 to 18." in every_text(page)


def test_an_audit_shows_the_last_period_beside_the_first_data(
    assessed_example: Callable[[str], Assessed],
) -> None:
    page = page_of(assessed_example("vigilance-audit"))
    assert page.arrays[0].title == "August 2026"
    assert "In the first data (baseline) it was between 5 and 16." in every_text(page)


@pytest.mark.parametrize("name", ["measured-volumes", "drafted-reports"])
def test_a_study_without_yes_or_no_gets_one_clear_message(
    assessed_example: Callable[[str], Assessed], name: str
) -> None:
    page = page_of(assessed_example(name))
    assert page.arrays == []
    assert page.frequencies.paragraphs == (catalogue("en")("plain.people.none"),)


@pytest.mark.pdf
@pytest.mark.parametrize("name", ["hostile", "several", "empty"])
def test_any_text_of_a_manifest_leaves_one_page(request: pytest.FixtureRequest, name: str) -> None:
    assessment = request.getfixturevalue(name)
    text = rendered(assessment, HASH)
    assert "<script" not in text
    assert on_paper(assessment, HASH).pages["end"] == 1


def test_what_is_undefined_says_so(assessed_example: Callable[[str], Assessed]) -> None:
    page = page_of(assessed_example("procurement-triage"))
    alone = CountRange(3, None, None)
    one = Hundred("", "set", {"found": alone, "missed": alone}, missed=alone, tested=(3, 0), source="test")
    block = page._block(one)
    assert [row.between for row in block.rows] == ["not known", "not known"]
    assert block.sentences[0].endswith("missed 3; how exact this is, is not known.")
    assert block.sentences[1] == "How many people get a false alarm cannot be said from these data."


def test_without_people_who_have_the_condition_nothing_is_drawn(
    assessed_example: Callable[[str], Assessed], monkeypatch: pytest.MonkeyPatch
) -> None:
    assessment = assessed_example("procurement-triage")
    known = hundred.of_data_sets

    def without_sensitivity(assessment: Any, id: str, candidate: str | None = None) -> list[Any]:
        return [] if id.endswith(".sensitivity") else known(assessment, id, candidate)

    monkeypatch.setattr(hundred, "of_data_sets", without_sensitivity)
    page = page_of(assessment)
    assert all(not block.rows and len(block.sentences) == 3 for block in page.arrays)
    unknown = "How many people with the condition are missed cannot be said from these data."
    assert page.arrays[0].sentences[0] == unknown
    assert "<img" not in rendered(assessment, HASH)


def test_candidates_are_shown_on_the_same_data(assessed_example: Callable[[str], Assessed]) -> None:
    shown = hundreds(assessed_example("planned-change"))
    assert len(shown) == 3
    assert len({one.data for one in shown}) == 1


def test_it_is_written_with_its_hashes_and_removed_by_the_next_report(
    assessed_example: Callable[[str], Assessed], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    written = write_report(assessed_example("knee-mri"), out, formats=["plain"])
    assert not written.failed
    names = {"plain.html", "plain.pdf", "results.json", "manifest.sha256", "run.json"}
    assert {file.name for file in written.files} == names
    assert "plain.pdf" in (out / "manifest.sha256").read_text()
    write_report(assessed_example("knee-mri"), out, formats=["json"])
    assert not (out / "plain.html").exists()


def test_without_pango_the_page_is_written_for_a_browser(
    assessed_example: Callable[[str], Assessed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Absent:
        def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
            if name == "weasyprint":
                raise OSError("cannot load library 'libpango-1.0-0'")

    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])
    written = write_report(assessed_example("knee-mri"), tmp_path / "out", formats=["plain"])
    assert "apt-get install libpango" in written.failed["plain"]
    assert (tmp_path / "out" / "plain.html").is_file()
    assert "plain" in json.loads((tmp_path / "out" / "run.json").read_text())["not_written"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_violation(
    browser: Any, assessed_example: Callable[[str], Assessed], tmp_path: Path, width: int
) -> None:
    (tmp_path / "plain.html").write_text(rendered(assessed_example("procurement-triage"), HASH), "utf-8")
    page = browser.new_page(viewport={"width": width, "height": 900})
    messages: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.goto((tmp_path / "plain.html").as_uri())
    assert all_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert messages == []  # the policy lets everything through that the page needs
    page.close()
