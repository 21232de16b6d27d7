"""The next period of an audit, handed in on the page of a version."""

import csv
import io
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pages import HTML, get
from ruamel.yaml import YAML
from services import API, Client, only

from trustreport.service.core import Core
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Version, VersionFile

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "vigilance-audit"
TABLE = "september.csv"


def september() -> bytes:
    """The cases of August once more, a month later."""
    with (EXAMPLE / "scores.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["dataset"] == "2026-08"]
    out = io.StringIO()
    made = csv.DictWriter(out, rows[0])
    made.writeheader()
    for row in rows:
        date = row["date"].replace("2026-08", "2026-09").replace("2026-09-31", "2026-09-30")
        made.writerow(row | {"dataset": "2026-09", "case": f"N{row['case']}", "date": date})
    return out.getvalue().encode()


@pytest.fixture
def audit(light: Core, anna: Client) -> str:
    """A version of the audit that was checked."""
    study = anna.post(f"{API}/studies", json={"name": "Audit"}).json()["id"]
    files = [("files", (f.name, f.read_bytes())) for f in sorted(EXAMPLE.glob("*.*")) if f.suffix != ".py"]
    version: str = anna.post(f"{API}/studies/{study}/versions", files=files).json()["id"]
    work(light)
    assert only(light, Version, id=version).state == "valid"
    return version


def work(core: Core) -> None:
    thread = WorkerThread(core, "w")
    while thread.once("check"):
        pass


def send(who: TestClient, version: str, until: str, name: str = TABLE) -> str:
    page, action = f"/versions/{version}", f"/versions/{version}/period"
    fields = {**get(who, page).form(action), "until": until}
    files = {"files": (name, september())}
    answer = who.post(action, data=fields, files=files, headers=HTML, follow_redirects=False)
    return answer.headers["location"].rpartition("/")[2] if answer.status_code == 303 else answer.text


def test_a_period_is_entered_by_the_check_of_a_new_version(light: Core, anna: Client, audit: str) -> None:
    made = send(anna, audit, "2026-09-30")
    work(light)
    version = only(light, Version, id=made)
    assert version.state == "valid", version.problems
    file = only(light, VersionFile, version=made, name="study.yaml")
    manifest = YAML(typ="safe").load(light.blobs.read(version.organisation, file.sha256).decode())
    assert [one["dataset"] for one in manifest["datasets"]][-1] == "2026-09"
    assert str(manifest["vigilance"]["data_cut"]) == "2026-10-30"
    assert manifest["tables"]["scores_2"]["file"] == TABLE


@pytest.mark.parametrize(
    ("until", "name", "said"),
    [("September", TABLE, "is a date, such as"), ("2026-09-30", "scores.csv", "scores.csv already")],
)
def test_what_does_not_fit_is_said_on_the_page(
    anna: Client, audit: str, until: str, name: str, said: str
) -> None:
    assert said in send(anna, audit, until, name)


def test_a_period_before_the_last_is_a_problem_of_the_version(light: Core, anna: Client, audit: str) -> None:
    made = send(anna, audit, "2026-08-15")
    work(light)
    version = only(light, Version, id=made)
    assert version.state == "invalid"
    assert "no next period" in version.problems[0]["found"]
