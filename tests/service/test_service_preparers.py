"""Who prepared a report neither reviews nor approves it, also when a colleague pressed the button."""

import io
import json
from typing import Any

import pytest
from acts import RESULTS, approves, log
from pages import get, post
from services import API, MANIFEST, Client

from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.storage.models import Job, StoredReport, Version, VersionFile


def made_of(core: Core, version: str, made_by: Client, formats: Any = None) -> str:
    """A report of a version that somebody asked for, without computing it."""
    with core.store.write() as rows:
        row = rows.get_one(Version, version)
        row.state = "valid"
        for file in rows.query(VersionFile).filter_by(version=version):
            file.archive = False
    wanted = {"formats": formats or ["json"]}
    job = made_by.post(f"{API}/versions/{version}/jobs", json=wanted).json()
    blob = core.blobs.put(made_by.me["organisation"], io.BytesIO(RESULTS))
    with core.store.write() as rows:
        row = rows.get_one(Job, job["id"])
        report = StoredReport(
            id=new_id(),
            organisation=row.organisation,
            study=row.study,
            version=version,
            job=row.id,
            kind="certification",
            code="1",
            facts={},
            results_sha256=blob.sha256,
            created_by=row.created_by,
            created_at=row.created_at + 1000,
        )
        rows.add(report)
        row.state, row.report = "done", report.id
    return str(report.id)


@pytest.fixture
def carl(anna: Client) -> Client:
    return anna.invite("carl@hospital.test", "author", "approver")


def test_who_uploaded_the_data_does_not_approve(light: Core, anna: Client, carl: Client) -> None:
    version = carl.version(anna.study())
    assert approves(carl, made_of(light, version, anna)) == "Not one's own"


def test_who_uploaded_what_a_colleague_then_uploaded_does_not_approve(
    light: Core, anna: Client, carl: Client
) -> None:
    """The same file as another version, or in another study."""
    study = anna.study()
    carl.version(study, {"report": {}}, **{"readings.csv": "a,b\n1,2\n"})
    again = anna.version(study, MANIFEST, **{"readings.csv": "a,b\n1,2\n"})
    assert approves(carl, made_of(light, again, anna)) == "Not one's own"
    elsewhere = anna.version(anna.study(), MANIFEST, **{"other.csv": "a,b\n1,2\n"})
    assert approves(carl, made_of(light, elsewhere, anna)) == "Not one's own"
    other = anna.version(anna.study(), {**MANIFEST, "x": 1}, **{"readings.csv": "a,b\n3,4\n"})
    assert approves(carl, made_of(light, other, anna)) == "signed"


def test_who_wrote_the_manifest_does_not_approve(light: Core, anna: Client, carl: Client) -> None:
    study = anna.study()
    carl.version(study, MANIFEST, **{"readings.csv": "wrong"})
    version = anna.version(study, MANIFEST, **{"readings.csv": "right"})
    assert approves(carl, made_of(light, version, anna)) == "Not one's own"


def test_who_made_what_a_colleague_corrected_does_not_approve(
    light: Core, anna: Client, carl: Client
) -> None:
    """Also where no file is the same any more, and over several corrections."""
    version = carl.version(anna.study(), MANIFEST)
    for n in range(2):
        with light.store.write() as rows:
            row = rows.get_one(Version, version)
            row.state, row.problems = "invalid", [{"file": "study.json", "found": "x"}]
        page = f"/versions/{version}"
        sent = [("file-0", ("study.json", json.dumps({**MANIFEST, "n": n})))]
        answer = post(anna, page, f"{page}/correction", sent)
        assert answer.status_code == 303, answer.text
        version = answer.headers["location"].rpartition("/")[2]
    report = made_of(light, version, anna)
    assert approves(carl, report) == "Not one's own"
    dora = anna.invite("dora@hospital.test", "approver")
    assert approves(dora, report) == "signed"
    statement = json.loads(
        dora.get(
            f"{API}/attestations/{dora.get(f'{API}/reports/{report}/attestations').json()['items'][0]['id']}/statement"
        ).content
    )
    assert statement["prepared_by"] == sorted((anna.me["user"], carl.me["user"]))


@pytest.mark.parametrize("by", ["api", "page"])
def test_who_asked_for_a_report_after_a_colleague_does_not_approve(
    light: Core, anna: Client, carl: Client, by: str
) -> None:
    """The second to press the button gets the report of the first, and has asked for it too."""
    version = anna.version(anna.study())
    report = made_of(light, version, anna)
    if by == "api":
        assert carl.post(f"{API}/versions/{version}/jobs", json={"formats": ["json"]}).status_code == 200
    else:
        page = f"/versions/{version}"
        assert post(carl, page, f"{page}/jobs", format=["json"]).status_code == 303
    assert approves(carl, report) == "Not one's own"
    asked = [actor for actor, subject, _ in log(light, "job.ask") if subject == job_of(anna, report)]
    assert asked == [anna.me["user"], carl.me["user"]]
    assert named_preparers(anna, report) == {"Anna", "carl@hospital.test"}


def job_of(client: Client, report: str) -> str:
    return str(client.get(f"{API}/reports/{report}").json()["job"])


def named_preparers(client: Client, report: str) -> set[str]:
    words = get(client, f"/reports/{report}").words
    return {name for name in ("Anna", "carl@hospital.test") if name in words.split("Prepared by")[1]}


def test_who_asked_for_an_attempt_that_failed_does_not_approve(
    light: Core, anna: Client, carl: Client
) -> None:
    version = anna.version(anna.study())
    with light.store.write() as rows:
        rows.get_one(Version, version).state = "valid"
    job = carl.post(f"{API}/versions/{version}/jobs", json={"formats": ["json"]}).json()["id"]
    assert carl.post(f"{API}/jobs/{job}/cancel").json()["state"] == "cancelled"
    assert approves(carl, made_of(light, version, anna)) == "Not one's own"


def test_who_scheduled_an_audit_does_not_approve_it(light: Core, anna: Client, carl: Client) -> None:
    from trustreport.service.jobs import schedules

    study = anna.study()
    version = anna.version(study)
    with light.store.write() as rows:
        rows.get_one(Version, version).state = "valid"
    assert carl.post(f"{API}/schedules", json={"study": study, "every_days": 1}).status_code == 201
    schedules.tend(light)
    with light.store.read() as rows:
        wishes = rows.query(Job).filter_by(task="report").one().wishes
    report = made_of(light, version, anna, wishes["formats"])
    with light.store.read() as rows:
        assert rows.get_one(StoredReport, report).created_by == carl.me["user"]
    assert approves(carl, report) == "Not one's own"
