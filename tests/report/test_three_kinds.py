"""One complete example of each kind of report: it conforms, says all that was found, and comes out again."""

import json
import re
from html import unescape
from pathlib import Path

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
def test_the_example_of_each_kind(kind: str, tmp_path: Path) -> None:
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


def untold(out: Path) -> list[str]:
    """What checks found that the page says nowhere."""
    page = unescape(re.sub(r"<[^>]+>", "", (out / "report.html").read_text("utf-8")))
    text = " ".join(page.split())
    fired = [c for c in json.loads((out / "results.json").read_bytes())["checks"] if c["status"] == "fired"]
    assert fired
    return [c["message"] for c in fired if " ".join(c["message"].split()).removesuffix(".") not in text]
