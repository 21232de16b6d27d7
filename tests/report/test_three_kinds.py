"""One complete example of each kind of report: it conforms, says all that was found, and comes out again."""

import json
import re
import subprocess
from collections.abc import Callable
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import page as conformance
import pikepdf
import pytest
from click.testing import CliRunner
from PIL import Image

from trustreport.commands.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KINDS = {
    "certification": "certification-dossier",
    "procurement": "procurement-triage",
    "vigilance": "vigilance-audit",
}
# Pages of the report, its first page included; what does not fit belongs in the annex.
BUDGETS = {
    "knee-mri": 4,
    "published-studies": 6,
    "annotations": 6,
    "factory": 8,
    "assisted-reading": 10,
    "procurement-triage": 10,
    "breast-recurrence": 12,
    "knee-mri-readings": 13,
    "vigilance-audit": 14,
    "certification-dossier": 20,
}
# Pages of an annex on paper, where it has grown too long to be read.
MOST_OF_ANNEX = {"certification-dossier": 28}
# Millimetres: head and foot of a page, and the margin beside its text, less one for the edges of marks.
HEAD, FOOT, BEYOND = 24, 20, 19
# Of the height of a page: the box of limitations and the line below it alone would be .09.
LEAST_OF_LAST = 0.1
# What the first page of an example must not leave open.
FIRST_PAGE = {
    "certification-dossier": "against the same bound (above 80%) it would be inconclusive.",
    "annotations": "Only the reference standard was assessed: whether the device is good enough is open.",
    "knee-mri-readings": "tested only if absolute risk reduction passes",
    "vigilance-audit": "Signal S-2: decide on the proposed action, and close",
}
pytestmark = [pytest.mark.pdf, pytest.mark.slow]


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_each_kind(kind: str, example: Callable[[str], Path], tmp_path: Path) -> None:
    """One test for each, so that each is built no more than twice: by the library and by the command."""
    out = example(KINDS[kind])
    conforms(out, KINDS[kind])
    again = tmp_path / "again"
    build(KINDS[kind], again, "html,pdf,annex,json" if kind == "procurement" else "html,json")
    made = [p.relative_to(again) for p in again.rglob("*") if p.is_file()]
    files = [p for p in made if p.name not in ("run.json", "manifest.sha256")]
    assert {"report.html", "results.json"} <= {p.name for p in files}
    assert [str(f) for f in files if (out / f).read_bytes() != (again / f).read_bytes()] == []

    assert untold(out) == []


def build(name: str, out: Path, formats: str) -> None:
    """Build the report of an example as a user does."""
    asked = ["build", str(EXAMPLES / name), "-o", str(out), "--formats", formats]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize("name", [name for name in BUDGETS if name not in KINDS.values()])
def test_the_others_conform_and_keep_their_pages(name: str, example: Callable[[str], Path]) -> None:
    conforms(example(name), name)


def conforms(out: Path, name: str) -> None:
    """Report and annex are PDF/A-3a and PDF/UA-1, the report within its pages, each of them well filled."""
    assert len(pikepdf.open(out / "report.pdf").pages) <= BUDGETS[name]
    if name in MOST_OF_ANNEX:
        assert len(pikepdf.open(out / "annex.pdf").pages) <= MOST_OF_ANNEX[name]
    said = first_page(out / "report.pdf")
    assert FIRST_PAGE.get(name, "") in said
    assert not any(text.lstrip().startswith("Limitations.") for text in tops(out / "report.pdf"))
    filled = [body(page) for page in page_pictures(out / "report.pdf")]
    assert well_filled(filled)
    assert not any(page[:, -BEYOND:].any() or page[:, :BEYOND].any() for page in filled), "beyond the margin"
    for file in ("report.pdf", "annex.pdf"):
        pdf = (out / file).read_bytes()
        for profile in ("3a", "ua1"):
            found = conformance.validate_pdf_bytes(pdf, profile=profile)
            assert [(f.rule_id, f.message) for f in found.failures] == [], file
            assert found.is_compliant


def first_page(file: Path) -> str:
    """The words of the first page."""
    found = subprocess.run(
        ["pdftotext", "-l", "1", str(file), "-"], check=True, capture_output=True, text=True
    )
    return " ".join(found.stdout.split())


def tops(file: Path) -> list[str]:
    """The words in the first 14 mm below the head of each page."""
    place = ["-r", "72", "-x", "0", "-y", "68", "-W", "596", "-H", "40"]
    found = subprocess.run(["pdftotext", *place, str(file), "-"], check=True, capture_output=True, text=True)
    return found.stdout.split("\f")


def page_pictures(file: Path) -> list[np.ndarray]:
    """The pages of a PDF in grey, a pixel a millimetre."""
    with TemporaryDirectory() as folder:
        subprocess.run(["pdftoppm", "-r", "25.4", "-gray", str(file), f"{folder}/page"], check=True)
        return [np.array(Image.open(one)) for one in sorted(Path(folder).iterdir())]


def well_filled(pages: list[np.ndarray]) -> bool:
    """Whether all pages but the last have ink on 3/5 of their height, and the last more than a box."""
    *ends, last = map(filled_to, pages)
    return min(ends) >= 3 / 5 and last > LEAST_OF_LAST


def filled_to(page: np.ndarray) -> float:
    """How far down a page has ink, as a share of its height."""
    return float(np.flatnonzero(page.any(axis=1)).max() / len(page))


def body(page: np.ndarray) -> np.ndarray:
    """Where a page has ink, between its head and its foot."""
    return page[HEAD : len(page) - FOOT] < 200


def untold(out: Path) -> list[str]:
    """What checks found that the page says nowhere."""
    page = unescape(re.sub(r"<[^>]+>", "", (out / "report.html").read_text("utf-8")))
    text = " ".join(page.split())
    fired = [c for c in json.loads((out / "results.json").read_bytes())["checks"] if c["status"] == "fired"]
    assert fired
    return [c["message"] for c in fired if " ".join(c["message"].split()).removesuffix(".") not in text]
