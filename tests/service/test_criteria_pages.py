"""Criteria are fixed in the browser before the data come, countersigned, changed, amended, and judged."""

import json
from random import Random
from typing import Any

import pytest
from pages import HTML, get, post
from services import API, PASSWORD, Client, at_once, only, stored, zipped

from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.record import retention
from trustreport.service.record.verification import verify_organisation
from trustreport.service.storage.fixing import FixedCriteria
from trustreport.service.storage.models import Audit, StoredStudy, User, Version, VersionFile
from trustreport.study import lock

LOCK = "criteria.lock.json"
TYPED = {
    "/report/kind": "certification",
    "/device/trade_name": "Example aid",
    "/arms/+0/arm": "unaided",
    "/arms/+1/arm": "aided",
    "/tables/+0/@name": "readings",
    "/tables/+0/file": "readings.csv",
    "/endpoints/+0/endpoint": "finds",
    "/endpoints/+0/measure": "pragmatic_utility.arr",
    "/endpoints/+0/hypothesis": "superiority",
    "/endpoints/+0/bound_or_margin": "0.1",
}


def readings() -> str:
    """Four readers of sixty cases, who err less often with the aid."""
    drawn = Random(3)
    lines = ["reader,case,arm,truth,decision"]
    for reader in range(4):
        for case in range(60):
            for arm, share in (("unaided", 0.35), ("aided", 0.05)):
                truth = case % 2
                lines.append(f"R{reader},C{case},{arm},{truth},{truth ^ (drawn.random() < share)}")
    return "\n".join(lines) + "\n"


class House:
    """A study in the pages: an author, a reviewer, and a worker that does what is asked at once."""

    def __init__(self, core: Core, anna: Client) -> None:
        self.core, self.anna = core, anna
        self.author = anna.invite("author@hospital.test", "author")
        self.carl = anna.invite("carl@hospital.test", "reviewer")
        self.worker = WorkerThread(core, "worker")
        begun = post(self.author, "/studies/new", "/studies", name="Study", start="form")
        self.study = only(core, StoredStudy).id
        assert begun.headers["location"] == f"/versions/{self.newest.id}/guide/files"
        self.work()

    @property
    def newest(self) -> Version:
        return max(stored(self.core, Version, study=self.study), key=lambda v: v.number)

    @property
    def page(self) -> str:
        return f"/studies/{self.study}/criteria"

    def work(self) -> None:
        while self.worker.once("check", "report"):
            pass

    def types(self, **more: str) -> Version:
        edit = f"/versions/{self.newest.id}/edit"
        # Of a form that is taken apart only what is typed: what its lists show is not read.
        form = {"csrf": get(self.author, edit).form(edit)["csrf"], "act": "save", **more}
        answer = self.author.post(edit, data=form, headers=HTML, follow_redirects=False)
        assert answer.status_code == 303, answer.text[-2000:]
        self.work()
        return self.newest

    def fixes(self, who: Client | None = None, **typed: str) -> Any:
        answer = post(who or self.author, self.page, self.page, **typed)
        self.work()
        return answer

    def fixes_api(self) -> Any:
        return self.author.post(f"{API}/studies/{self.study}/criteria", json={"reason": "Late"})

    def countersigns(self, who: Client) -> Any:
        fixing = stored(self.core, FixedCriteria, study=self.study)[-1].id
        said = {"password": PASSWORD}
        answer = who.post(f"{API}/fixed-criteria/{fixing}/countersignature", json=said)
        self.work()
        return answer

    def uploads(self) -> Version:
        """The data: the file that the manifest names and that is missing."""
        here = f"/versions/{self.newest.id}"
        files = {"files": ("readings.csv", readings())}
        answer = post(self.author, here, f"{here}/correction", files=files)
        assert answer.status_code == 303, answer.text[-2000:]
        self.work()
        assert self.newest.state == "valid", self.newest.problems
        return self.newest

    def results(self) -> dict[str, Any]:
        here = f"/versions/{self.newest.id}"
        post(self.author, here, f"{here}/jobs", format="json")
        self.work()
        reports = self.author.get(f"{API}/reports").json()["items"]
        return self.author.get(f"{API}/reports/{reports[0]['id']}/results").json()

    def state(self) -> dict[str, Any]:
        return self.author.get(f"{API}/studies/{self.study}/criteria").json()


@pytest.fixture
def house(light: Core, anna: Client) -> House:
    made = House(light, anna)
    made.types(**TYPED)
    return made


def fired(results: dict[str, Any]) -> set[str]:
    return {c["check"] for c in results["checks"] if c["status"] == "fired"} & {"P34", "P35"}


def verdict(results: dict[str, Any]) -> str:
    (found,) = [v["verdict"] for v in results["verdicts"]]
    return str(found)


def test_a_criterion_typed_in_the_form_fixed_and_countersigned_is_judged(house: House) -> None:
    required = post(
        house.anna, "/admin/organisation", "/admin/organisation/countersignature", required="yes"
    )
    assert required.headers["location"] == "/admin/organisation?done=saved"
    assert "not fixed" in get(house.author, house.page).words
    assert house.fixes().headers["location"] == f"{house.page}?done=waiting"
    assert "countersignature of a second person" in get(house.carl, house.page).words
    assert "Countersign criteria" in get(house.carl, "/").words
    assert "Countersign criteria" not in get(house.author, "/").words
    assert LOCK not in {f.name for f in stored(house.core, VersionFile, version=house.newest.id)}
    assert house.state()["state"] == "none"
    (row,) = stored(house.core, FixedCriteria)
    done = post(
        house.carl, house.page, f"/fixed-criteria/{row.id}/countersignature", password=PASSWORD
    )
    assert done.headers["location"] == f"{house.page}?done=countersigned"
    assert "Countersign criteria" not in get(house.carl, "/").words
    house.work()
    assert house.state()["state"] == "locked"
    version = house.uploads()
    assert LOCK in {f.name for f in stored(house.core, VersionFile, version=version.id)}
    words = get(house.author, f"/versions/{version.id}").words
    assert "Nothing stands against the verdict" in words
    study = get(house.author, f"/studies/{house.study}").words
    steps = [study.index(step) for step in ("Criteria fixed", "Countersigned", "Data opened")]
    assert steps[1] < steps[2]
    results = house.results()
    assert verdict(results) == "pass"
    assert fired(results) == set()


def test_the_report_dates_the_lock_by_the_clock_of_the_service(house: House) -> None:
    house.fixes()
    house.uploads()
    here = f"/versions/{house.newest.id}"
    post(house.author, here, f"{here}/jobs", format="html")
    house.work()
    report = house.author.get(f"{API}/reports").json()["items"][0]["id"]
    html = house.author.get(f"{API}/reports/{report}/files/report.html").text
    (row,) = stored(house.core, FixedCriteria)
    held = json.loads(house.author.get(f"{API}/fixed-criteria/{row.id}/file").content)
    assert "According to the lock, a service fixed it at" in html
    assert held["locked"][0]["fixed_at"][:16].replace("T", " ") in html


def test_what_is_changed_after_the_data_is_withheld_and_foretold(house: House) -> None:
    house.fixes()
    house.uploads()
    changed = {"/endpoints/0/bound_or_margin": "0.2"}
    edit = f"/versions/{house.newest.id}/edit"
    form = {"csrf": get(house.author, edit).form(edit)["csrf"], "act": "check", **changed}
    said = house.author.post(edit, data=form, headers=HTML).json()
    line = '"finds" gets no verdict (P34). Changed since it was fixed: endpoints[finds].bound_or_margin'
    assert any(warning.startswith(line) for warning in said["warnings"])
    version = house.types(**changed)
    words = get(house.author, f"/versions/{version.id}").words
    assert f"{line} (0.1, now 0.2)" in words
    assert "cannot be fixed now" in get(house.author, house.page).words
    assert house.fixes_api().status_code == 409
    results = house.results()
    assert (verdict(results), fired(results)) == ("not assessable", {"P34"})


def test_an_amendment_with_its_reason_counts_before_the_data_and_not_after(house: House) -> None:
    house.fixes()
    house.types(**{"/endpoints/0/bound_or_margin": "0.05"})
    assert house.state()["withheld"][0]["criterion"] == "finds"
    refused = house.fixes(reason="")
    assert "Say why" in refused.text
    assert house.fixes(reason="Typing error").headers["location"] == f"{house.page}?done=fixed"
    assert house.state()["state"] == "amended"
    assert house.state()["withheld"] == []
    house.uploads()
    assert verdict(house.results()) == "pass"
    late = {
        "/endpoints/0/bound_or_margin": "0.3",
        "/amendments/+0/field": "endpoints[finds].bound_or_margin",
        "/amendments/+0/new": "0.3",
        "/amendments/+0/date": "2020-01-01",
        "/amendments/+0/before_data_opened": "true",
    }
    house.types(**late)  # dated back: the lock does not have it
    assert [w["check"] for w in house.state()["withheld"]] == ["P34"]


def test_it_is_too_late_once_data_are_there(house: House) -> None:
    house.uploads()
    assert house.fixes_api().status_code == 409
    words = get(house.author, house.page).words
    assert "The data were opened with version 3" in words
    assert "Fix the criteria" not in [f["action"] for f in get(house.author, house.page).forms]
    results = house.results()
    assert (verdict(results), fired(results)) == ("not assessable", {"P35"})


def test_results_in_the_manifest_are_data(house: House) -> None:
    study = house.author.study("Counts")
    counts = [{"set": "main", "tp": 90, "fn": 10, "fp": 20, "tn": 180}]
    criterion = {"endpoint": "finds", "measure": "sensitivity", "hypothesis": "performance goal"}
    manifest = {"report": {"kind": "certification"}, "device": {"trade_name": "A"}, "confusion": counts}
    house.author.version(study, {**manifest, "endpoints": [criterion | {"bound_or_margin": 0.8}]})
    house.work()
    refused = house.author.post(f"{API}/studies/{study}/criteria", json={})
    assert (refused.status_code, refused.json()["title"]) == (409, "Data already opened")


def test_criteria_fixed_elsewhere_are_declared_with_the_document(house: House) -> None:
    dates = {"fixed_on": "2026-01-01", "data_opened_on": "2026-02-01"}
    document = {"document": ("plan.pdf", b"%PDF-1.7 plan")}
    to = f"{house.page}/document"
    swapped = {"fixed_on": "2026-02-02", "data_opened_on": "2026-02-01"}
    assert "Dates contradict" in post(house.author, house.page, to, files=document, **swapped).text
    done = post(house.author, house.page, to, files=document, **dates)
    assert done.headers["location"] == f"{house.page}?done=fixed"
    house.work()
    assert house.state()["state"] == "declared"
    (row,) = stored(house.core, FixedCriteria)
    kept = house.author.get(f"{API}/fixed-criteria/{row.id}/file")
    assert kept.content == document["document"][1]
    house.uploads()
    here = f"/versions/{house.newest.id}"
    post(house.author, here, f"{here}/jobs", format="html")
    house.work()
    report = house.author.get(f"{API}/reports").json()["items"][0]["id"]
    html = house.author.get(f"{API}/reports/{report}/files/report.html").text
    assert "this was not verified" in html
    assert f"“plan.pdf” (sha256:{row.sha256})" in html.replace("<wbr>", "")


def test_a_declaration_waits_for_a_second_person_too_and_may_come_after_the_data(
    house: House, anna: Client
) -> None:
    house.uploads()
    anna.put(f"{API}/organisation/countersignature", json={"required": True})
    to = f"{house.page}/document"
    document = {"document": ("plan.pdf", b"%PDF-1.7 plan")}
    later = {"fixed_on": "2020-01-01", "data_opened_on": "2199-01-01"}
    assert "not opened later" in post(house.author, house.page, to, files=document, **later).text
    dates = {"fixed_on": "2020-01-01", "data_opened_on": "2020-02-01"}
    done = post(house.author, house.page, to, files=document, **dates)
    assert done.headers["location"] == f"{house.page}?done=waiting"
    assert house.state()["state"] == "none"
    assert house.countersigns(house.carl).status_code == 200
    assert (house.state()["state"], house.state()["withheld"]) == ("declared", [])


def test_only_authors_fix_and_everybody_reads(house: House, anna: Client) -> None:
    path = f"{API}/studies/{house.study}/criteria"
    viewer = anna.invite("viewer@hospital.test", "viewer")
    for client in (viewer, house.carl):
        assert client.post(path, json={}).status_code == 403
        assert client.get(path).status_code == 200
        assert client.post(house.page, data={"csrf": client.me["csrf"]}, headers=HTML).status_code == 403
    assert viewer.put(f"{API}/organisation/countersignature", json={"required": True}).status_code == 403


def test_who_fixed_or_prepared_does_not_countersign(house: House, anna: Client) -> None:
    anna.put(f"{API}/organisation/countersignature", json={"required": True})
    both = anna.invite("both@hospital.test", "author", "reviewer")
    assert house.fixes(both).status_code == 303
    assert house.countersigns(both).status_code == 403
    assert "Somebody else countersigns" in get(both, house.page).words
    assert house.countersigns(house.author).status_code == 403  # may not review at all
    assert house.countersigns(house.carl).status_code == 200
    assert house.countersigns(house.carl).status_code == 409


def test_a_countersignature_from_an_account_that_only_its_maker_knows_is_called_so(
    house: House, anna: Client
) -> None:
    said = "The link to this account was shown to"
    assert anna.put(f"{API}/organisation/countersignature", json={"required": True}).status_code == 200
    house.fixes()
    assert house.countersigns(house.carl).status_code == 200
    assert said not in get(anna, house.page).words  # the author had no link of theirs
    with house.core.store.write() as rows:
        rows.get_one(User, house.carl.me["user"]).link_by = house.author.me["user"]
    assert said in get(anna, house.page).words


def test_what_was_not_countersigned_before_the_data_never_counts(house: House, anna: Client) -> None:
    anna.put(f"{API}/organisation/countersignature", json={"required": True})
    house.fixes()
    house.uploads()
    assert house.countersigns(house.carl).status_code == 409
    assert "never countersigned" in get(house.author, house.page).words
    assert fired(house.results()) == {"P35"}


def test_what_was_changed_while_it_waited_is_not_countersigned(house: House, anna: Client) -> None:
    anna.put(f"{API}/organisation/countersignature", json={"required": True})
    house.fixes()
    house.types(**{"/endpoints/0/bound_or_margin": "0.2"})
    assert house.countersigns(house.carl).json()["title"] == "Criteria changed"
    house.fixes()
    assert house.countersigns(house.carl).status_code == 200


def test_of_two_who_fix_at_once_one_does(core: Core) -> None:
    house = House(core, Client.set_up(create_app(core), core))
    house.types(**TYPED)
    other = house.anna.invite("other@hospital.test", "author")
    answers: list[int] = []
    path = f"{API}/studies/{house.study}/criteria"
    acts = [lambda c=c: answers.append(c.post(path, json={}).status_code) for c in (house.author, other)]
    at_once(*acts)
    assert sorted(answers) == [201, 409]
    assert len(stored(house.core, FixedCriteria)) == 1


def test_tables_that_are_added_in_the_form_are_those_that_were_named(house: House) -> None:
    house.fixes()
    edit = f"/versions/{house.newest.id}/edit"
    form = {"csrf": get(house.author, edit).form(edit)["csrf"], "act": "tables"}
    files = {"files": ("readings.csv", readings())}
    sent = house.author.post(edit, data=form, files=files, headers=HTML, follow_redirects=False)
    assert sent.status_code == 303
    house.work()
    assert (house.newest.state, house.newest.problems) == ("valid", [])
    assert house.state()["withheld"] == []


def test_the_lock_is_in_every_upload_and_no_other_is_taken(house: House) -> None:
    house.fixes()
    manifest = house.author.get(f"{API}/versions/{house.newest.id}/files/study.yaml").content
    versions = f"/studies/{house.study}"
    files = [("files", ("study.yaml", manifest)), ("files", ("readings.csv", readings()))]
    sent = post(house.author, versions, f"{versions}/versions", files=files)
    assert sent.status_code == 303
    house.work()
    assert house.state()["state"] == "locked"
    forged = [*files, ("files", (LOCK, b"{}"))]
    refused = post(house.author, versions, f"{versions}/versions", files=forged)
    assert "Another lock" in refused.text
    for other, state in ((None, "valid"), (b"{}", "invalid")):
        packed = {"study.yaml": manifest, "readings.csv": readings()} | ({LOCK: other} if other else {})
        zip_files = [("files", ("study.zip", zipped(packed)))]
        post(house.author, versions, f"{versions}/versions", files=zip_files)
        house.work()
        assert house.newest.state == state, house.newest.problems
    assert house.newest.problems[0]["file"] == LOCK


@pytest.mark.parametrize("made_up", [{"datasets": 5}, {"tables": [1]}, {"endpoints": [{"endpoint": 1}]}])
def test_a_lock_of_another_form_ends_no_check(house: House, made_up: dict[str, Any]) -> None:
    study = house.author.study("Made up")
    manifest = house.author.get(f"{API}/versions/{house.newest.id}/files/study.yaml").content
    held = {"form": lock.FORM, "locked": [{"sha256": lock.fingerprint(made_up), "criteria": made_up}]}
    files = {"study.yaml": manifest, "readings.csv": readings(), LOCK: json.dumps(held)}
    sent = [("files", item) for item in files.items()]
    version = house.author.post(f"{API}/studies/{study}/versions", files=sent).json()["id"]
    house.work()
    assert house.author.get(f"{API}/versions/{version}").json()["state"] in ("valid", "invalid")
    assert get(house.author, f"/studies/{study}/criteria").words


def test_the_record_keeps_what_was_fixed_and_removal_takes_it(house: House, bob: Client) -> None:
    house.fixes()
    (row,) = stored(house.core, FixedCriteria)
    with house.core.store.read() as rows:
        assert verify_organisation(house.core, rows, house.anna.me["organisation"]).faults == ()
    for path in (f"/studies/{house.study}/criteria", f"/fixed-criteria/{row.id}"):
        assert bob.get(f"{API}{path}").status_code == 404
    assert bob.get(house.page, headers=HTML).status_code == 404
    entry = only(house.core, Audit, action="criteria.fix")
    assert (entry.subject, entry.details["sha256"]) == (row.id, row.sha256)
    with house.core.store.write() as rows:
        rows.query(FixedCriteria).update({"sha256": "0" * 64})
    with house.core.store.read() as rows:
        faults = verify_organisation(house.core, rows, house.anna.me["organisation"]).faults
        assert any("fixed criteria" in fault for fault in faults)
    with house.core.store.write() as rows:
        retention.remove(rows, rows.get_one(StoredStudy, house.study), "test")
    assert stored(house.core, FixedCriteria) == []
    with house.core.store.read() as rows:
        assert verify_organisation(house.core, rows, house.anna.me["organisation"]).faults == ()
