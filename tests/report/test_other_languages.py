"""The three kinds of report in every other language: whole, with the same numbers, and shown in the docs."""

import re
import runpy
import subprocess
from collections.abc import Callable
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from PIL import Image
from test_three_kinds import BUDGETS, EXAMPLES, KINDS, body, filled_to, page_pictures

from tests.native import faults
from trustreport.api import Assessed, as_data, write_report
from trustreport.report.document import canonical
from trustreport.vocabulary.messages import catalogue, languages

ROOT = Path(__file__).resolve().parents[2]
OTHERS = [language for language in languages() if language != "en"]
# The language in which the PDF of each kind is looked at; all have it as a page.
PRINTED = {"certification": "de", "procurement": "fr", "vigilance": "it"}
MORE_PAGES = 3  # other languages take more words, and figures keep their print at 7 points
BEYOND = 19  # millimetres of margin, less one for the edges of marks
TAG = re.compile(r"<(script|style).*?</\1>|<[^>]+>", re.DOTALL)
EN = catalogue("en")
ReportText = runpy.run_path(str(ROOT / "benchmarks" / "english_sample.py"))["ReportText"]


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_the_same_and_the_docs_show_the_first_page(
    kind: str, assessed_example: Callable[[str], Assessed]
) -> None:
    one = assessed_example(KINDS[kind])
    english = as_data(one)
    for language in OTHERS:
        other = as_data(one.in_language(language))
        assert other["study"]["language"] == language
        assert [numbers(r) for r in other["results"]] == [numbers(r) for r in english["results"]]
        assert [v["verdict"] for v in other["verdicts"]] == [v["verdict"] for v in english["verdicts"]]
        assert other["answer"]["sentence"] != english["answer"]["sentence"]
        picture = ROOT / "docs" / "languages" / f"{KINDS[kind]}.{language}.png"
        assert picture.stat().st_size < 120_000
        with Image.open(picture) as page:
            described = page.info["Description"]
        assert described == other["answer"]["sentence"], "run python docs/readme_picture.py"
        assert f"](languages/{picture.name})" in (ROOT / "docs" / "languages.md").read_text("utf-8")


def numbers(result: dict[str, Any]) -> str:
    """A result without its texts."""
    words = ("method_text", "source", "label")
    return canonical({key: value for key, value in result.items() if key not in words}).decode()


@pytest.mark.pdf
@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_report_is_whole_in_every_language(
    kind: str, language: Any, assessed_example: Callable[[str], Assessed], tmp_path: Path
) -> None:
    formats = ("html", "pdf") if PRINTED.get(kind) == language else ("html",)
    one = assessed_example(KINDS[kind]).in_language(language)
    written = write_report(one, tmp_path / "out", formats=formats)
    assert not written.failed
    if "pdf" in formats:
        fits(written.folder / "report.pdf", language, BUDGETS[KINDS[kind]] + MORE_PAGES)
    html = (written.folder / "report.html").read_text(encoding="utf-8")
    assert f'<html lang="{language}"' in html
    shown = " ".join(unescape(TAG.sub(" ", html)).split())
    left = [text for text in english_texts(language) if text in shown]
    assert not left, f"left in English: {left[:5]}"
    reader = ReportText()
    reader.feed(html)
    plan = (EXAMPLES / KINDS[kind] / "study.yaml").read_text(encoding="utf-8")
    points = [text for text in reader.blocks if POINT.search(without_names(text, plan))]
    assert not points, f"decimal points: {points[:5]}"
    own = english_words(language) - names_of_data(plan)
    said = [text for text in reader.blocks if text not in plan]
    words = [text for text in said if own & set(re.split(r"\s*[·:();,]\s*", text))]
    assert not words, f"words of the manifest in English: {words[:5]}"
    pieces = {re.sub(r"[ \n]+", " ", unescape(piece)).strip(" ") for piece in TAG.sub("\0", html).split("\0")}
    wrong = [fault for text in pieces if text not in plan for fault in faults(language, text)]
    assert not wrong, f"faults of grammar or spacing: {wrong[:5]}"


POINT = re.compile(r"(?<![\w.-])(?:0\.\d+|\d+\.\d{1,2}|\d+\.\d+\s?%)(?![\w.])")
NUMBERED = re.compile(r"(?:Tabelle|Abbildung|Tableau|Figure|Tabella|Figura) \w+\.\d+")


def without_names(text: str, plan: str) -> str:
    """A text without the numbers of tables and figures, and without versions and sections as declared."""
    stated = re.findall(r"(?:version|section|locked_version)[^,}\n]*?(\d+\.\d+)", plan)
    for name in (*NUMBERED.findall(text), *stated, *re.findall(r"[a-z_]+\.[a-z]+", text)):
        text = text.replace(name, "")
    return text


def english_words(language: str) -> frozenset[str]:
    """Words of the manifest's vocabulary that the other language has otherwise."""
    own = catalogue(language)
    return frozenset(EN(key) for key in EN.keys("value.") if EN(key) != own(key))


def names_of_data(plan: str) -> set[str]:
    """Data sets and tasks, which keep their names, and the group of films from a fixed unit."""
    return {*re.findall(r"(?:dataset|task): ([^,}\n]+)", plan), "fixed"}


def fits(file: Path, language: str, most: int) -> None:
    """The PDF says its language, keeps its pages and margins, and has the limits on its first page."""
    with pikepdf.open(file) as document:
        assert str(document.Root.Lang) == language
        assert len(document.pages) <= most
    filled = [body(page) for page in page_pictures(file)]
    assert filled_to(filled[0]) >= 2 / 3, "the first page goes on overleaf"
    first = subprocess.run(["pdftotext", "-l", "1", file, "-"], capture_output=True, check=True, text=True)
    assert catalogue(language)("answer.limits.title") in " ".join(first.stdout.split())
    assert not any(page[:, -BEYOND:].any() or page[:, :BEYOND].any() for page in filled), "beyond the margin"


@cache
def english_texts(language: str) -> frozenset[str]:
    """English sentences without values, that the other language has otherwise."""
    own = catalogue(language)
    texts = {key: EN.text(key) for key in EN.keys() if isinstance(EN.text(key), str)}  # noqa: SIM118 -- its own method
    return frozenset(
        text
        for key, text in texts.items()
        if "{" not in text and len(text.split()) > 3 and text.endswith(".") and text != own.text(key)
    )
