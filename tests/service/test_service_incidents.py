"""Incidents and signals of a device: the clock, every change kept, the next period, the export for a PSUR."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from acts import is_intact, log
from fastapi import FastAPI
from pages import HTML, get, post
from ruamel.yaml import YAML
from services import API, MANIFEST, Client, at_once, only, stored, world
from test_next_period_page import EXAMPLE, send, work

from trustreport.service.app import create_app
from trustreport.service.client import ServiceError
from trustreport.service.core import Core
from trustreport.service.engine import Incident, Signal
from trustreport.service.record import retention
from trustreport.service.review.attestations import preparers
from trustreport.service.storage.models import (
    Audit,
    Job,
    Organisation,
    StoredDevice,
    StoredReport,
    StoredStudy,
    Version,
    VersionFile,
)
from trustreport.service.storage.vigilance import VigilanceChange, VigilanceEntry
from trustreport.service.vigilance.entries import manifest_rows

SERIOUS = {"event_date": "2026-06-01", "awareness_date": "2026-06-02", "seriousness": "serious"}


@pytest.fixture
def device(light: Core, anna: Client) -> str:
    """A device with incident I-1."""
    return world(light, anna)["device"]


@pytest.fixture
def audit(light: Core, anna: Client) -> dict[str, str]:
    """A version of the example of an audit that was checked, and its device."""
    study = anna.study("Audit")
    files = [("files", (f.name, f.read_bytes())) for f in sorted(EXAMPLE.glob("*.*")) if f.suffix != ".py"]
    version = anna.post(f"{API}/studies/{study}/versions", files=files).json()["id"]
    work(light)
    return {"study": study, "version": version, "device": only(light, StoredDevice).id}


def add(client: Client, device: str, group: str = "incidents", name: str = "", **facts: Any) -> Any:
    asked = {"group": group, "name": name, "facts": facts}
    return client.post(f"{API}/devices/{device}/incidents", json=asked)


def act(client: Client, entry: dict[str, Any], act: str, reason: str = "", **facts: Any) -> Any:
    asked = {"number": entry["number"], "act": act, "facts": facts, "reason": reason}
    return client.post(f"{API}/incidents/{entry['id']}/changes", json=asked)


def history(client: Client, entry: str) -> list[dict[str, Any]]:
    found = client.get(f"{API}/incidents/{entry}/changes").json()["items"]
    return [{key: one[key] for key in ("act", "changes", "reason", "created_by")} for one in found]


def in_days(days: int) -> str:
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


@pytest.mark.parametrize(
    ("seriousness", "deadline"),
    [
        ("serious", "2026-06-17"),
        ("Death or unanticipated serious deterioration", "2026-06-12"),
        ("serious public health threat", "2026-06-04"),
        ("grave", "2026-06-17"),
        ("not serious", None),
        ("", None),
    ],
)
def test_the_clock_runs_from_awareness_by_seriousness(
    anna: Client, device: str, seriousness: str, deadline: str | None
) -> None:
    made = add(anna, device, **{**SERIOUS, "seriousness": seriousness}).json()
    assert (made["deadline"], made["late"]) == (deadline, False)


def test_what_is_late_and_overdue_is_said(anna: Client, device: str) -> None:
    soon = add(anna, device, awareness_date=in_days(-14), seriousness="serious").json()
    assert not soon["overdue"]
    missed = add(anna, device, awareness_date=in_days(-16), seriousness="serious").json()
    assert missed["overdue"]
    reported = act(anna, missed, "change", report_date=in_days(0)).json()
    assert (reported["overdue"], reported["late"]) == (False, True)
    signal = add(anna, device, "signals", due=in_days(-1)).json()
    assert signal["overdue"]
    closed = act(anna, signal, "close", "No drift was found.").json()
    assert (closed["overdue"], closed["closed"], closed["facts"]["closed"]) == (False, True, in_days(0))


def test_names_go_on_and_are_taken_once(anna: Client, device: str) -> None:
    assert add(anna, device).json()["name"] == "I-2"  # the device has I-1
    assert add(anna, device, kind="complaint").json()["name"] == "C-1"
    assert add(anna, device, "signals").json()["name"] == "S-1"
    assert add(anna, device, name="I-9").status_code == 201
    assert add(anna, device).json()["name"] == "I-10"
    assert add(anna, device, name="I-9").status_code == 409


def test_who_register_at_once_take_different_names(anna: Client, device: str, app: FastAPI) -> None:
    made: list[Any] = []
    at_once(*[lambda: made.append(add(Client.logged_in(app, anna.me["email"]), device))] * 4)
    assert sorted(one.json()["name"] for one in made) == ["I-2", "I-3", "I-4", "I-5"]


def test_every_change_is_kept_and_logged_without_its_content(light: Core, anna: Client, device: str) -> None:
    entry = add(anna, device, description="A fracture was missed.", **SERIOUS).json()
    entry = act(anna, entry, "assess", causality="probable", decision="Report it", decided_by="Board").json()
    entry = act(anna, entry, "change", description=None, report_date="2026-06-05").json()
    entry = act(anna, entry, "close", "Cause found.", outcome="Retrained").json()
    assert entry["facts"]["status"] == "closed"
    entry = act(anna, entry, "reopen", "It came again.").json()
    assert (entry["closed"], entry["number"], "closed" in entry["facts"]) == (False, 5, False)
    reopened, closed, changed, assessed, registered = history(anna, entry["id"])
    assert reopened["changes"]["status"] == ["closed", "open"]
    assert (closed["act"], closed["reason"]) == ("close", "Cause found.")
    assert changed["changes"]["description"] == ["A fracture was missed.", None]
    assert assessed["changes"]["causality"] == [None, "probable"]
    assert (registered["act"], registered["created_by"]) == ("register", anna.me["user"])
    ((_, subject, added),) = log(light, "vigilance.add")[1:]
    assert (subject, added["act"], added["device"]) == (entry["id"], "register", device)
    acts = [details["act"] for _, _, details in log(light, "vigilance.change")]
    assert acts == ["assess", "change", "close", "reopen"]
    assert "fracture" not in str(log(light, "vigilance.change"))
    assert is_intact(light)


def test_of_two_who_change_at_once_the_second_learns_what_changed(
    light: Core, anna: Client, device: str
) -> None:
    entry = add(anna, device, **SERIOUS).json()
    bert = anna.invite("bert@hospital.test", "author")
    assert act(bert, entry, "assess", seriousness="not serious").status_code == 200
    refused = act(anna, entry, "assess", seriousness="serious", causality="none")
    assert (refused.status_code, refused.json()["title"]) == (409, "Changed meanwhile")
    (field,) = refused.json()["fields"]
    assert field == {"place": "seriousness", "said": "was serious, is not serious (by bert@hospital.test)"}
    assert only(light, VigilanceEntry, id=entry["id"]).facts["seriousness"] == "not serious"
    # On the page it is shown above the form, which keeps what was typed and may now be sent.
    page = f"/incidents/{entry['id']}"
    fields = {"csrf": get(anna, page).forms[-1]["fields"]["csrf"], "act": "change", "number": "1"}
    again = anna.post(page, data={**fields, "description": "Typed"}, headers=HTML)
    assert again.status_code == 409
    assert "was serious, is not serious" in again.text
    assert "<b><bdi>Seriousness</bdi></b>" in again.text
    assert ">Typed</textarea>" in again.text
    assert 'name="number" value="2"' in again.text


def test_either_database_lets_one_of_several_change_an_entry(core: Core) -> None:
    app = create_app(core)
    anna = Client.set_up(app, core)
    entry = add(anna, world(core, anna)["device"], **SERIOUS).json()
    clients, answers = [Client.logged_in(app, anna.me["email"]) for _ in range(4)], list[Any]()

    def assess(client: Client, n: int) -> None:
        answers.append(act(client, entry, "assess", decision=f"Decision {n}"))

    at_once(*(partial(assess, client, n) for n, client in enumerate(clients)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    assert [one["act"] for one in history(anna, entry["id"])] == ["assess", "register"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"facts": {"report_date": "2026-06-01"}}, "is before 2026-06-02"),
        ({"facts": {"event_date": "2026-06-03"}}, "is before 2026-06-03"),
        ({"facts": {"seriousness": "not serious"}}, "not a field of this form"),
        ({"facts": {"status": "closed"}}, "not a field of this form"),
        ({"facts": {"model": 1, "self": 2}}, "not a field of this form"),
        ({"facts": {"event_date": "soon"}}, "event_date"),
        ({"facts": {"\ud800": 1}}, "not a field of this form"),
        ({"facts": {"description": "\ud800"}}, "description"),
        ({"facts": {"imdrf_codes": ["\ud800"]}}, "imdrf_codes"),
        ({"facts": {"event_date": "9999-12-31"}}, "event_date"),
        ({"facts": {"kind": "rumour"}}, "kind"),
        ({"facts": {"description": "x" * 4001}}, "too long"),
        ({"facts": {"description": "a\u0000b"}}, "NUL"),
        ({"facts": {"imdrf_codes": ["A"] * 51}}, "too long"),
        ({"facts": {"description": {"a": ["b"]}}}, "description"),
        ({"act": "link", "facts": {"reports": ["0" * 26]}}, "not of this device"),
        ({"act": "close"}, "closed or opened again"),
        ({"act": "close", "reason": " "}, "closed or opened again"),
        ({"act": "assess", "facts": {"assessed": "1066-10-14"}}, "assessed"),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    light: Core, anna: Client, device: str, asked: dict[str, Any], said: str
) -> None:
    entry = add(anna, device, **SERIOUS).json()
    sent = json.dumps({"number": 1, **asked})  # halves of characters as escapes
    headers = {"Content-Type": "application/json"}
    answer = anna.post(f"{API}/incidents/{entry['id']}/changes", content=sent, headers=headers)
    assert answer.status_code == 422
    assert said in answer.text
    assert only(light, VigilanceEntry, id=entry["id"]).number == 1


def test_an_entry_is_linked_to_reports_of_its_device(light: Core, anna: Client) -> None:
    names = world(light, anna)
    entry = add(anna, names["device"]).json()
    linked = act(anna, entry, "link", period="2026-08", reports=[names["report"]]).json()
    assert linked["facts"]["reports"] == [names["report"]]
    page = get(anna, f"/incidents/{entry['id']}")
    assert f"/reports/{names['report']}" in page.links


def test_viewers_read_and_authors_write(anna: Client, device: str) -> None:
    entry = add(anna, device).json()
    vera = anna.invite("vera@hospital.test", "viewer")
    page = get(vera, f"/devices/{device}/incidents")
    assert {form["action"] for form in page.forms if "incidents" in form["action"]} == set()
    assert vera.get(f"{API}/devices/{device}/psur.csv").status_code == 200
    for refused in (
        add(vera, device),
        act(vera, entry, "change"),
        vera.post(f"{API}/devices/{device}/incidents/import"),
    ):
        assert refused.status_code == 403


def test_rows_for_a_manifest_have_its_fields_and_no_others(light: Core, anna: Client, device: str) -> None:
    entry = add(anna, device, imdrf_codes=["A0502"], **SERIOUS).json()
    act(anna, entry, "assess", decision="Report it", decided_by="Board")
    add(anna, device, "signals", detected="2026-06-01", owner="QM")
    with light.store.read() as rows:
        found = manifest_rows(rows, device)
    incidents = [Incident.model_validate(row) for row in found["incidents"]]
    assert [(i.incident, i.imdrf_codes, i.is_closed) for i in incidents][1] == ("I-2", ("A0502",), False)
    assert [Signal.model_validate(row).owner for row in found["signals"]] == ["QM"]


def test_what_the_manifest_has_is_taken_over_once(light: Core, anna: Client, audit: dict[str, str]) -> None:
    page = f"/devices/{audit['device']}/incidents"
    assert post(anna, page, f"{page}/import").headers["location"].endswith("done=taken_over")
    found = stored(light, VigilanceEntry)
    assert [one.name for one in found] == ["I-1", "C-1", "I-2", "I-3", "C-2", "S-1", "S-2"]
    assert [one.closed for one in found] == [True, True, False, False, False, True, False]
    assert post(anna, page, f"{page}/import").headers["location"].endswith("done=nothing_taken")
    assert len(stored(light, VigilanceEntry)) == 7
    assert len(stored(light, VigilanceChange)) == 7


def test_the_next_period_has_the_register_in_its_manifest(
    light: Core, anna: Client, audit: dict[str, str]
) -> None:
    device = audit["device"]
    imported = anna.post(f"{API}/devices/{device}/incidents/import").json()
    (open_one,) = [one for one in imported if one["name"] == "I-2"]
    act(anna, open_one, "close", "Retrained.", closed="2026-09-20")
    add(anna, device, description="Another fracture was missed.", awareness_date="2026-09-09")
    made = send(anna, audit["version"], "2026-09-30")
    work(light)
    version = only(light, Version, id=made)
    assert version.state == "valid", version.problems
    file = only(light, VersionFile, version=made, name="study.yaml")
    manifest = YAML(typ="safe").load(light.blobs.read(version.organisation, file.sha256).decode())
    states = [f"{one['incident']} {one['status']}" for one in manifest["incidents"]]
    assert states[:3] == ["I-1 closed", "C-1 closed", "I-2 closed"]
    assert states[3:] == ["I-3 open", "C-2 open", "I-4 open"]
    assert [one["signal"] for one in manifest["signals"]] == ["S-1", "S-2"]
    # Another import finds them all in the register.
    assert anna.post(f"{API}/devices/{device}/incidents/import").json() == []


def test_who_changed_the_register_has_prepared_the_report_of_the_next_period(
    light: Core, anna: Client, audit: dict[str, str]
) -> None:
    rita, carl = (anna.invite(f"{n}@hospital.test", "author", "approver") for n in ("rita", "carl"))
    imported = rita.post(f"{API}/devices/{audit['device']}/incidents/import").json()
    made = send(anna, audit["version"], "2026-09-30")
    work(light)
    act(carl, imported[0], "change", capa_id="CAPA-9")  # too late for that period
    of = {"study": audit["study"], "organisation": anna.me["organisation"], "created_by": anna.me["user"]}
    known = {"version": made, "kind": "vigilance", "code": "1", "created_at": 2**42, "facts": {}}
    with light.store.write() as rows:
        job = rows.query(Job).filter_by(version=made).one().id
        report = StoredReport(id="r", job=job, device=audit["device"], results_sha256="0" * 64, **of, **known)
        rows.add(report)
        assert preparers(rows, report) == {anna.me["user"], rita.me["user"]}
        rows.rollback()


def test_a_psur_has_counts_and_rows_of_its_period(light: Core, anna: Client, audit: dict[str, str]) -> None:
    device = audit["device"]
    anna.post(f"{API}/devices/{device}/incidents/import")
    add(anna, device, description="=HYPERLINK(1)", event_date="2026-08-20", imdrf_codes=["A1", "A2"])
    found = anna.get(f"{API}/devices/{device}/psur?since=2026-07-01&until=2026-08-31").json()
    counts = {(c["kind"], c["seriousness"], c["state"]): (c["new"], c["earlier"]) for c in found["counts"]}
    assert counts == {
        ("complaint", "not serious", "open"): (1, 0),
        ("incident", "", "open"): (1, 0),
        ("incident", "not serious", "open"): (1, 0),
        ("incident", "serious", "open"): (0, 1),  # of June, and still open
        ("signal", "", "open"): (1, 0),
    }
    assert [row["name"] for row in found["rows"]] == ["I-2", "I-3", "C-2", "S-2", "I-4"]
    # S-1 was open in May and closed on the last day of June.
    before = anna.get(f"{API}/devices/{device}/psur?since=2026-05-01&until=2026-05-31").json()
    (row,) = before["rows"]
    assert (row["name"], row["period_status"], row["state"]) == ("S-1", "new", "open")
    answer = anna.get(f"{API}/devices/{device}/psur.csv?since=2026-07-01&until=2026-08-31")
    lines = list(csv.reader(io.StringIO(answer.text)))
    assert lines[0] == ["kind", "seriousness", "state", "new", "earlier"]
    head = lines.index([]) + 1
    rows = [dict(zip(lines[head], line, strict=True)) for line in lines[head + 1 :]]
    assert [row["name"] for row in rows] == ["I-2", "I-3", "C-2", "S-2", "I-4"]
    assert (rows[-1]["description"], rows[-1]["imdrf_codes"]) == ("'=HYPERLINK(1)", "A1; A2")
    assert [details["since"] for _, _, details in log(light, "list.export")][-1] == "2026-07-01"
    assert anna.get(f"{API}/devices/{device}/psur?since=2026-02-30").status_code == 422


def test_the_client_follows_an_incident(anna: Client, device: str) -> None:
    client = anna.robot()
    entry = client.register_incident(device, SERIOUS)
    newer = client.change_incident(entry, "assess", {"seriousness": "not serious"})
    assert (newer.number, newer.deadline) == (2, None)
    with pytest.raises(ServiceError, match="Changed meanwhile"):
        client.change_incident(entry, "close", reason="Too late.")
    assert [change.act for change in client.incident_changes(entry.id)] == ["assess", "register"]
    assert [one.name for one in client.incidents(device, group="incidents")] == ["I-2", "I-1"]
    assert client.psur(device).counts


def test_entries_go_with_the_device_and_hold_back_retention_while_open(
    light: Core, anna: Client, audit: dict[str, str]
) -> None:
    anna.post(f"{API}/devices/{audit['device']}/incidents/import")
    organisation = anna.me["organisation"]
    with light.store.write() as rows:
        rows.get_one(Organisation, organisation).retention = {"days": 1}
        rows.query(Version).update({"created_at": 1})
        rows.query(StoredStudy).update({"created_at": 1})
    with light.store.write() as rows:
        assert retention.purge(rows, organisation, "x") == []
    for entry in anna.get(f"{API}/devices/{audit['device']}/incidents?closed=false").json()["items"]:
        act(anna, entry, "close", "Done.")
    with light.store.write() as rows:
        assert retention.purge(rows, organisation, "x") == [audit["study"]]
    for model in (VigilanceEntry, VigilanceChange, StoredDevice):
        assert stored(light, model) == []
    ((_, subject, details),) = log(light, "vigilance.remove")
    assert (subject, len(details["entries"])) == (audit["device"], 7)
    assert is_intact(light)


def test_a_new_udi_continues_the_register_of_its_device(light: Core, anna: Client) -> None:
    def uploads(udi: str) -> str:
        manifest = {**MANIFEST, "device": {**MANIFEST["device"], "basic_udi_di": udi}}
        version = anna.version(anna.study(udi), manifest)
        work(light)
        return str(only(light, Version, id=version).device)

    old, new = uploads("UDI-1"), uploads("UDI-2")
    entry = add(anna, old, **SERIOUS).json()
    act(anna, entry, "change", capa_id="CAPA-7")
    assert "Same device, new UDI" in get(anna, f"/devices/{new}/incidents").words  # its register is empty
    path = f"/devices/{new}"
    assert post(anna, path, f"{path}/same-as", device=new).status_code == 409
    clash = add(anna, new, **SERIOUS).json()["name"]
    refused = post(anna, path, f"{path}/same-as", device=old)
    assert (refused.status_code, f"of the same name: {clash}" in refused.text) == (409, True)
    with light.store.write() as rows:
        rows.query(VigilanceEntry).filter_by(device=new).one().name = "I-9"
    joined = post(anna, path, f"{path}/same-as", device=old)
    assert joined.headers["location"] == f"/devices/{old}?done=continued"
    found = anna.get(f"{API}/devices/{old}/incidents").json()["items"]
    assert sorted(one["name"] for one in found) == ["I-1", "I-9"]
    assert [one["act"] for one in history(anna, entry["id"])] == ["change", "register"]
    assert anna.get(path, headers=HTML, follow_redirects=False).headers["location"] == f"/devices/{old}"
    assert "also UDI-2" in get(anna, f"/devices/{old}").words
    assert path not in get(anna, "/devices").links
    assert uploads("UDI-2") == old  # what comes later belongs there
    assert only(light, Audit, action="device.continue").details == {"device": new, "entries": 1}
    with light.store.write() as rows:
        assert len(manifest_rows(rows, old)["incidents"]) == 2
        for study in rows.query(StoredStudy).all():
            if study.name == "UDI-2":
                retention.remove(rows, study, "retention")
    assert uploads("UDI-2") == old  # the name is kept as long as the device


def test_an_erased_person_is_named_in_no_entry_and_no_history(
    light: Core, anna: Client, device: str
) -> None:
    carl = anna.invite("carl@hospital.test", "author")
    entry = add(carl, device, "signals", owner="carl@hospital.test").json()
    entry = act(carl, entry, "change", owner="Somebody else").json()
    act(carl, entry, "assess", decided_by="carl@hospital.test")
    assert anna.post(f"/admin/users/{carl.me['user']}/erasure").status_code == 403  # not without its form
    user = f"/admin/users/{carl.me['user']}"
    assert post(anna, user, f"{user}/erasure", email="carl@hospital.test").status_code == 303
    assert "carl" not in anna.get(f"{API}/incidents/{entry['id']}").text
    assert "carl" not in str(history(anna, entry["id"]))
    assert "Erased person" in get(anna, f"/incidents/{entry['id']}").words
    assert is_intact(light)


def test_an_entry_that_was_changed_in_the_database_is_found(light: Core, anna: Client, device: str) -> None:
    entry = add(anna, device, **SERIOUS).json()
    act(anna, entry, "assess", causality="probable")
    assert is_intact(light)
    with light.store.write() as rows:
        row = rows.get_one(VigilanceEntry, entry["id"])
        row.facts = {**row.facts, "seriousness": "not serious"}
    assert not is_intact(light)


def test_pages_register_assess_link_close_and_open_again(light: Core, anna: Client, device: str) -> None:
    page = f"/devices/{device}/incidents"
    forms = [form for form in get(anna, page).forms if form["action"] == page]
    assert [form["fields"]["name"] for form in forms] == ["I-2", "S-1"]
    typed = {**forms[0]["fields"], **SERIOUS, "imdrf_codes": "A0502\n\nA0503"}
    address = anna.post(page, data=typed, follow_redirects=False).headers["location"].partition("?")[0]
    for data in (
        {"act": "assess", "number": "1", "seriousness": "serious", "causality": "probable"},
        {"act": "link", "number": "2", "period": "2026-06"},
        {"act": "close", "number": "3", "closed": "2026-07-01", "reason": "Retrained."},
        {"act": "reopen", "number": "4", "reason": "It came again."},
    ):
        fields = {"csrf": forms[0]["fields"]["csrf"], **data}
        assert anna.post(address, data=fields, follow_redirects=False).status_code == 303, data
    row = only(light, VigilanceEntry, id=Path(address).name)
    assert (row.closed, row.number, row.facts["period"]) == (False, 5, "2026-06")
    assert row.facts["imdrf_codes"] == ["A0502", "A0503"]
    words = " ".join(get(anna, address).words.split())
    assert "To be reported by" in words
    assert "It came again." in words
