"""The next period of an audit, added on the page of its device."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pages import HTML, get, post
from ruamel.yaml import YAML
from services import API, Client, only, stored

from trustreport.service.core import Core
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Job, Version, VersionFile

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "vigilance-audit"
TABLE = "september.csv"


def september(*, cumulative: bool = False, column: bool = True) -> bytes:
    """The cases of August once more, a month later; with all rows before, or without data sets."""
    with (EXAMPLE / "scores.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    new = []
    for row in (row for row in rows if row["dataset"] == "2026-08"):
        date = row["date"].replace("2026-08", "2026-09").replace("2026-09-31", "2026-09-30")
        new.append(row | {"dataset": "2026-09", "case": f"N{row['case']}", "date": date})
    out = io.StringIO()
    made = csv.DictWriter(out, [key for key in rows[0] if column or key != "dataset"], extrasaction="ignore")
    made.writeheader()
    made.writerows([*rows, *new] if cumulative else new)
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


def send(who: TestClient, version: str, until: str = "", name: str = TABLE, table: bytes = b"") -> str:
    page = f"/versions/{version}/period"
    fields = {**get(who, page).form(page), **({"until": until} if until else {})}
    files = {"files": (name, table or september())}
    answer = who.post(page, data=fields, files=files, headers=HTML, follow_redirects=False)
    return answer.headers["location"].rpartition("/")[2] if answer.status_code == 303 else answer.text


def manifest_of(core: Core, version: str) -> Any:
    file = only(core, VersionFile, version=version, name="study.yaml")
    return YAML(typ="safe").load(core.blobs.read(file.organisation, file.sha256).decode())


def test_the_page_of_the_device_leads_to_the_next_period_and_its_report(
    light: Core, anna: Client, audit: str
) -> None:
    device = only(light, Version, id=audit).device
    assert f"/versions/{audit}/period" in get(anna, f"/devices/{device}").links
    form = get(anna, f"/versions/{audit}/period").form(f"/versions/{audit}/period")
    assert (form["since"], form["until"]) == ("2026-09-01", "2026-09-30")
    made = send(anna, audit)
    work(light)
    version = only(light, Version, id=made)
    assert (version.number, version.state) == (2, "valid"), version.problems
    manifest = manifest_of(light, made)
    before = manifest_of(light, audit)
    (new,) = [one for one in manifest["datasets"] if one["dataset"] == "2026-09"]
    assert (new["role"], str(new["start_date"]), str(new["end_date"])) == (
        "period", "2026-09-01", "2026-09-30",
    )  # fmt: skip
    assert manifest["vigilance"]["period_index"] == 9
    assert str(manifest["vigilance"]["data_cut"]) == "2026-10-30"
    assert manifest["tables"]["scores_2"] == {"file": TABLE, "kind": "scores", "dataset": "2026-09"}
    assert (manifest["signals"], manifest["incidents"]) == (before["signals"], before["incidents"])
    shown = get(anna, f"/versions/{made}")
    assert "The new period is 2026-09." in shown.words
    # The next step is the first form of the page.
    assert [f["action"] for f in shown.forms if f["method"] == "post"][1] == f"/versions/{made}/jobs"
    post(anna, f"/versions/{made}", f"/versions/{made}/jobs", format=["html", "json"])
    assert [job.version for job in stored(light, Job, task="report")] == [made]


@pytest.mark.parametrize("name", ["scores.csv", "scores-until-september.csv"])
def test_an_export_with_all_rows_takes_the_place_of_the_one_before(
    light: Core, anna: Client, audit: str, name: str
) -> None:
    made = send(anna, audit, name=name, table=september(cumulative=True))
    work(light)
    version = only(light, Version, id=made)
    assert version.state == "valid", version.problems
    manifest = manifest_of(light, made)
    assert manifest["datasets"][-1]["dataset"] == "2026-09"
    assert list(manifest["tables"]) == ["scores", "readings"]
    file = manifest["tables"]["scores"]["file"]
    assert {f.name for f in stored(light, VersionFile, version=made)} == {"study.yaml", "readings.csv", file}
    assert "proposal" not in version.facts


def test_an_export_that_is_called_as_the_one_before_is_kept_beside_it(
    light: Core, anna: Client, audit: str
) -> None:
    made = send(anna, audit, name="scores.csv", table=september(column=False))
    work(light)
    assert only(light, Version, id=made).state == "valid"
    tables = manifest_of(light, made)["tables"]
    assert (tables["scores"]["file"], tables["scores_2"]["file"]) == ("scores.csv", "scores-2026-09-30.csv")


def test_what_is_no_day_is_said_on_the_page(anna: Client, audit: str) -> None:
    assert "First and last day are dates" in send(anna, audit, "September")


@pytest.mark.parametrize(
    ("until", "table", "problem"),
    [
        ("2026-08-15", b"", "would end on 2026-08-15, before it begins"),
        ("2026-09-30", (EXAMPLE / "scores.csv").read_bytes(), "and of no new period"),
    ],
)
def test_what_is_no_next_period_is_a_problem_of_the_version(
    light: Core, anna: Client, audit: str, until: str, table: bytes, problem: str
) -> None:
    made = send(anna, audit, until, table=table)
    work(light)
    version = only(light, Version, id=made)
    assert version.state == "invalid"
    assert "no next period" in version.problems[0]["found"]
    assert problem in version.problems[0]["found"]


@pytest.mark.parametrize(("name", "cumulative"), [("scores-2026-09.csv", False), ("scores.csv", True)])
def test_what_the_form_proposes_of_a_new_table_is_accepted(
    light: Core, anna: Client, audit: str, name: str, cumulative: bool
) -> None:
    added = post(
        anna, f"/versions/{audit}", f"/versions/{audit}/correction",
        files={"files": (name, september(cumulative=cumulative))},
    )  # fmt: skip
    version = added.headers["location"].rpartition("/")[2]
    work(light)
    problems = only(light, Version, id=version).problems
    assert not any("Did you mean" in problem["mend"] for problem in problems)
    form = f"/versions/{version}/edit"
    kept = {"csrf": get(anna, form).form(form)["csrf"], "act": "save"}
    saved = anna.post(form, data=kept, headers=HTML, follow_redirects=False)
    work(light)
    made = only(light, Version, id=saved.headers["location"].rpartition("/")[2])
    assert (made.state, made.problems) == ("valid", [])
    manifest = manifest_of(light, made.id)
    assert manifest["datasets"][-1]["role"] == "period"
    assert str(manifest["vigilance"]["period_end"]) == "2026-09-30"


def test_a_study_without_periods_has_no_next_one(light: Core, anna: Client) -> None:
    version = anna.version(anna.study("No audit"))
    work(light)
    assert anna.get(f"/versions/{version}/period", headers=HTML).status_code == 409
