"""The example of five hospitals, and the page that says what leaves each."""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner
from pydantic import BaseModel

from trustreport.commands import schemas
from trustreport.commands.cli import main
from trustreport.study.pooled import site_file

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "five-hospitals"
PAGE = ROOT / "docs" / "reference" / "site-file.md"
VERDICTS = {
    "recurrences found": "pass",
    "mean discrimination": "pass",
    "discrimination at every hospital": "pass",
    "sensitivity at a further hospital": "pass",
    "expected and observed recurrences": "pass",
    "recurrences found from 50 years on": "not assessable",
}


@pytest.mark.pdf
def test_the_files_of_the_example_make_the_report_of_all_five(tmp_path: Path) -> None:
    files = sorted(map(str, EXAMPLE.glob("*.site.json")))
    out = tmp_path / "out"
    asked = ["pool", *files, "--signers", str(EXAMPLE / "signers.pem"), "-o", str(out)]
    done = CliRunner().invoke(main, asked)
    assert done.exit_code == 0, done.output
    results = json.loads((out / "results.json").read_bytes())
    assert {v["endpoint"]: v["verdict"] for v in results["verdicts"]} == VERDICTS
    assert [one["signer"] for one in results["provenance"]["inputs"]] == [
        f"{name} hospital" for name in ("Coast", "East", "North", "South", "West")
    ]
    said = subprocess.run(
        ["pdftotext", str(out / "report.pdf"), "-"], capture_output=True, text=True, check=True
    ).stdout
    assert "which share counts and sums; no patient’s row" in " ".join(said.split())
    assert "West withholds the counts of the group age &lt; 50" in (out / "report.html").read_text()


def test_no_file_of_the_example_has_a_count_below_its_limit() -> None:
    from trustreport.api.sites import Signers, read_sites
    from trustreport.assessment.site_summary.withholding import small_counts

    for one in read_sites(sorted(EXAMPLE.glob("*.site.json")), Signers({}, unverified=True)):
        fewest = one.summary.rules.fewest
        assert fewest == (20 if one.summary.site == "West" else 5)
        assert [list(small_counts(counts, fewest)) for counts in one.summary.datasets] == [[]]


def statement(file: Path) -> Any:
    """What is in the envelope of a site file; the 12th digit of a number depends on the machine."""
    payload = base64.b64decode(json.loads(file.read_bytes())["payload"])
    return json.loads(payload, parse_float=lambda text: float(f"{float(text):.11g}"))["predicate"]


def test_files_of_sites_are_of_the_schema_that_is_kept() -> None:
    schema = json.loads((ROOT / "schemas" / "site.schema.json").read_bytes())
    assert schema == schemas.schema("site")
    files = sorted(EXAMPLE.glob("*.site.json"))
    assert len(files) == 5
    for file in files:
        jsonschema.validate(statement(file), schema)


@pytest.mark.slow
def test_made_again_tables_and_files_say_the_same(tmp_path: Path) -> None:
    for name in ("five-hospitals", "breast-recurrence"):
        shutil.copytree(ROOT / "examples" / name, tmp_path / name)
    again = tmp_path / "five-hospitals"
    for old in [*again.glob("*.site.json"), *again.glob("hospitals/*.csv")]:
        old.unlink()
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, again / "derive.py"], check=True, env=environment)
    for table in sorted((EXAMPLE / "hospitals").glob("*.csv")):
        assert (again / "hospitals" / table.name).read_bytes() == table.read_bytes(), table.name
    for file in sorted(EXAMPLE.glob("*.site.json")):
        made, kept = statement(again / file.name), statement(file)
        assert made.pop("software").keys() == kept.pop("software").keys()
        assert made == kept, file.name


SECTIONS = {
    "The file": ("SiteFile", "DisclosureRules", "SiteNumber", "SiteCheck", "KeptAtSite"),
    "Of each data set": ("SetCounts", "Pattern", "GroupCounts", "GroupLevel"),
    "Of the scores of a device": (
        *("CandidateScores", "SharedNumber", "SharedMessage", "SharedSums", "ActedCells", "SharedBin"),
    ),
}


def test_the_page_names_every_field_where_it_belongs() -> None:
    models = {
        name: model
        for name, model in vars(site_file).items()
        if isinstance(model, type) and issubclass(model, BaseModel) and model.__module__ == site_file.__name__
    }
    assert sorted(models) == sorted(name for names in SECTIONS.values() for name in names)
    page = PAGE.read_text("utf-8")
    for title, names in SECTIONS.items():
        section = page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
        said = set(re.findall(r"`(\w+)`", section))
        assert {field for name in names for field in models[name].model_fields} - said == set(), title
