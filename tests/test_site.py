"""The documentation as a site: it builds without a warning, loads nothing from elsewhere, can be searched."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("sphinx")

ROOT = Path(__file__).resolve().parent.parent
QUICK = "annotations"  # the example whose report takes least time
# What a page would load by itself; links that a reader follows may lead anywhere.
LOADS = re.compile(
    r"""<(?:script|img|iframe|source)[^>]*\ssrc="(?:https?:)?//|<link[^>]*rel="(?!canonical)[^"]*"[^>]*href="(?:https?:)?//"""
    r"""|@import|url\(["']?(?:https?:)?//"""
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with the pictures of one example; `./run docs` builds it with all of them."""
    out = tmp_path_factory.mktemp("docs") / "site"
    script = ROOT / "docs" / "site" / "build.py"
    done = subprocess.run(
        [sys.executable, script, "--out", out, "--examples", QUICK],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return out


def test_every_page_of_docs_is_a_page_of_the_site(site: Path) -> None:
    pages = {file.relative_to(ROOT / "docs").with_suffix(".html") for file in (ROOT / "docs").rglob("*.md")}
    assert not [page for page in pages if not (site / page).is_file()]


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    files = [file for file in site.rglob("*") if file.suffix in {".html", ".css", ".js"}]
    assert files
    assert not [file.name for file in files if LOADS.search(file.read_text("utf-8"))]


def test_the_search_index_is_a_script_that_a_page_can_load_without_a_server(site: Path) -> None:
    index = (site / "searchindex.js").read_text("utf-8")
    assert index.startswith("Search.setIndex(")
    assert "krippendorff" in index


def test_the_reference_has_what_the_code_has(site: Path) -> None:
    commands = (site / "reference" / "commands.html").read_text("utf-8")
    assert "--fail-on" in commands
    assert "audit-log verify" in commands
    fields = (site / "reference" / "manifest.html").read_text("utf-8")
    assert "bound_or_margin" in fields
    assert "whole number from 1 to 1000" in fields  # datasets.header_row
    assert "write_report" in (site / "reference" / "python.html").read_text("utf-8")


def test_the_gallery_has_the_first_page_and_the_whole_report(site: Path) -> None:
    gallery = (site / "gallery.html").read_text("utf-8")
    for name in re.findall(rf'(?:src|href)="([^"]*{QUICK}[^"]*)"', gallery):
        assert name.startswith("#") or (site / name).is_file(), name
    assert f"reports/{QUICK}.html" in gallery
