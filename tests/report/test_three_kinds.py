"""One complete example of each kind of report: it conforms, reads well without eyes, and comes out again."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import page as conformance
import pytest
from click.testing import CliRunner

from trustreport.cli import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
KINDS = {
    "certification": "certification-dossier",
    "procurement": "procurement-triage",
    "vigilance": "vigilance-audit",
}
pytestmark = [pytest.mark.pdf, pytest.mark.slow]


def built(name: str, out: Path) -> Path:
    result = CliRunner().invoke(main, ["build", str(EXAMPLES / name), "-o", str(out)])
    assert result.exit_code == 0, result.stderr
    return out


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_each_kind(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """One test for each, so that each is built no more than twice."""
    out = built(KINDS[kind], tmp_path / "once")
    pdf = (out / "report.pdf").read_bytes()
    for profile in ("3a", "ua1"):
        found = conformance.validate_pdf_bytes(pdf, profile=profile)
        assert [(f.rule_id, f.message) for f in found.failures] == []
        assert found.is_compliant
    again = built(KINDS[kind], tmp_path / "again")
    files = sorted(p.relative_to(out) for p in out.rglob("*") if p.is_file() and p.name != "run.json")
    assert files == sorted(
        p.relative_to(again) for p in again.rglob("*") if p.is_file() and p.name != "run.json"
    )
    assert [str(f) for f in files if (out / f).read_bytes() != (again / f).read_bytes()] == []

    assert untold(out) == []

    violations = axe(request.getfixturevalue("browser"), out / "report.html")
    assert violations == []


def untold(out: Path) -> list[str]:
    """What checks found that the page says nowhere."""
    page = unescape(re.sub(r"<[^>]+>", "", (out / "report.html").read_text("utf-8")))
    text = " ".join(page.split())
    fired = [c for c in json.loads((out / "results.json").read_bytes())["checks"] if c["status"] == "fired"]
    assert fired
    return [c["message"] for c in fired if " ".join(c["message"].split()).removesuffix(".") not in text]


def axe(browser: Any, file: Path) -> list[Any]:
    """What axe-core objects to, on a desktop in the light and on a phone in the dark."""
    from axe_playwright_python.sync_playwright import Axe

    found: list[Any] = []
    for width, scheme in ((1280, "light"), (390, "dark")):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
        violations = Axe().run(page).response["violations"]
        found += [(v["id"], [n["target"] for n in v["nodes"]][:3]) for v in violations]
        page.close()
    return found
