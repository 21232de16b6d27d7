"""The question list of an assessor: every item, and the page on which the report addresses it."""

import csv
import io
import re

import pikepdf
import pytest
from made_up import about, assessment, manifest, part

from trustreport.report import html, pdf
from trustreport.report.elements.frameworks import Framework
from trustreport.report.exports.sheets import frameworks_of, question_sheet, questions_csv, sheet_page
from trustreport.report.layout.figures import Pages
from trustreport.report.write import write
from trustreport.study.plan import Plan
from trustreport.vocabulary import packs
from trustreport.vocabulary.messages import catalogue

say = catalogue()
NAMES = ("eu-ai-act-2024", "probast-ai-2025")


def made_up(*names: str):
    given = {**manifest(), "report": {**manifest()["report"], "rule_packs": list(names)}}
    return assessment((part("one", titled=False),), Plan.model_validate(given), ("one",))


def listed(*names: str) -> tuple[Framework, ...]:
    one = made_up(*names)
    of = about(one)
    documents = html.Documents(one, of["results_hash"], of["provenance"], Pages(of["drawn"]), "screen")
    return frameworks_of(documents.chapters)


def rows(frameworks, pages, page_file="") -> list[dict[str, str]]:
    text = questions_csv(frameworks, pages, page_file).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_every_item_is_in_the_list_with_what_others_supply() -> None:
    found = rows(listed(*NAMES), {})
    for name in NAMES:
        pack = packs.load(name)
        assert {row["item"] for row in found if row["framework"] == pack.framework} == {
            item.id for item in pack.items
        }


def test_a_place_is_a_page_of_a_pdf_else_an_anchor_of_the_page_else_a_title() -> None:
    frameworks = listed(*NAMES)

    def purpose(pages, page_file=""):
        return next(r for r in rows(frameworks, pages, page_file) if r["item"] == "13(3)(b)(i)")

    paged = {"E02": ("annex.pdf", 7)}
    assert (purpose(paged)["file"], purpose(paged)["page"]) == ("annex.pdf", "7")
    assert (purpose({}, "report.html")["file"], purpose({})["page"]) == ("report.html", "")
    page = sheet_page(question_sheet(frameworks, paged, "report.html", "A study", say), say)
    assert '<a href="annex.pdf#page=7">annex.pdf, page 7: ' in page
    assert '<a href="report.html#' in page
    assert "<mark>open</mark>" in page
    bare = sheet_page(question_sheet(frameworks, {}, "", "A study", say), say)
    assert "<a " not in bare
    assert purpose({})["place"] in bare


def test_without_a_pack_the_list_says_so() -> None:
    made = question_sheet(listed("none"), {}, "", "", say)
    assert made.notes[-1] == say("sheet.questions.none")
    assert not made.sections


def test_what_a_study_says_is_text_in_the_list() -> None:
    made = question_sheet(listed(*NAMES), {}, "", "<script>alert(1)</script>", say)
    page = sheet_page(made, say)
    assert "<script" not in page
    assert "default-src &#39;none&#39;" in page


@pytest.mark.pdf
def test_the_pages_are_those_of_the_pdf() -> None:
    one = made_up(*NAMES)
    printed = pdf.Volumes(one, **about(one)).printed("annex")
    with pikepdf.open(io.BytesIO(printed.content)) as opened:
        numbers = {page.objgen: number for number, page in enumerate(opened.pages, 1)}
        names = opened.Root.Names.Dests.Names
        stated = {str(names[i]): numbers[names[i + 1][0].objgen] for i in range(0, len(names), 2)}
    assert stated["E46"] > 1
    assert {anchor: printed.pages[anchor] for anchor in stated} == stated


@pytest.mark.pdf
def test_the_list_is_a_file_of_the_report(tmp_path) -> None:
    written = write(made_up(*NAMES), tmp_path / "out", formats=["annex", "questions"])
    assert {"questions.html", "questions.csv", "annex.pdf"} <= {file.name for file in written.files}
    page = (tmp_path / "out" / "questions.html").read_text(encoding="utf-8")
    assert re.search(r'href="annex\.pdf#page=[1-9]\d*"', page)
    assert "questions.csv" in (tmp_path / "out" / "manifest.sha256").read_text(encoding="utf-8")
    write(made_up(*NAMES), tmp_path / "out", formats=["json"])
    assert not (tmp_path / "out" / "questions.csv").exists()
