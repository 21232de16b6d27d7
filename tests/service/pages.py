"""Helpers of the tests of pages: a page taken apart, a walk over all of them, a server for a browser."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urljoin, urlsplit

import uvicorn
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from five_sites import collaboration_to_see
from running import free_port, threaded
from services import API, MANIFEST, Client, new_core

from trustreport.service.app import PAGES, create_app
from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.jobs.worker import Worker
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.models import Job, ReportFile, StoredReport

HTML = {"Accept": "text/html"}
WRONG = "reader,case,arm,truth,decision\nR1,C1,unaided,2,0\nR1,C2,unaided,0,7\n"
SCORES = "case,truth,score\nC1,1,0.8\nC2,0,0.3\nC3,1,0.4\nC4,0,0.6\n"
AUDIT = {
    "report": {"kind": "vigilance", "title": "Audit by quarters"},
    "device": {"trade_name": "Example aid", "manufacturer": "Example", "software_version": "1.0"},
    "operating_point": {"threshold": 0.5},
    "datasets": [{"dataset": "2026-Q1", "role": "period"}],
    "tables": {"scores": {"file": "scores.csv", "dataset": "2026-Q1"}},
}
READINGS = {
    "report": {"kind": "certification", "title": "Readings"},
    "device": {"trade_name": "Example aid", "manufacturer": "Example", "software_version": "1.0"},
    "tables": {"readings": {"file": "readings.csv"}},
}


@dataclass(frozen=True)
class Shown:
    """A service to look at: where, somebody who may see everything, and the names of its rows."""

    url: str
    anna: Client
    names: dict[str, str]


def right() -> str:
    """Readings of three readers of eight cases, without a fault."""
    lines = ["reader,case,arm,truth,decision"]
    for reader in range(3):
        for case in range(8):
            truth = case % 2
            for arm, wrong in (("unaided", case == reader or case == 5), ("aided", case == reader)):
                lines.append(f"R{reader},C{case},{arm},{truth},{truth ^ wrong}")
    return "\n".join(lines) + "\n"


class Taken(HTMLParser):
    """A page: its forms with their fields, its links, its words, and what should not be on it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[dict[str, Any]] = []
        self.links: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.tags.append((tag, given))
        if tag == "form":
            self.forms.append({"action": given.get("action", ""), "method": given["method"], "fields": {}})
        elif tag in ("input", "select", "textarea") and self.forms and "name" in given:
            self.forms[-1]["fields"].setdefault(given["name"], given.get("value", ""))
        elif tag == "a" and "href" in given:
            self.links.append(given["href"])

    def handle_data(self, data: str) -> None:
        self.words += data

    def form(self, action: str) -> dict[str, str]:
        """The fields of the form that goes there, as they stand."""
        (found,) = [f for f in self.forms if f["action"] == action and f["method"] == "post"]
        return dict(found["fields"])


def get(client: TestClient, path: str) -> Taken:
    """A page as a browser asks for it."""
    answer = client.get(path, headers=HTML)
    assert answer.status_code == 200, (path, answer.status_code, answer.text[-300:])
    return Taken(answer.text)


def post(client: TestClient, page: str, action: str, files: Any = None, **typed: Any) -> Any:
    """Fill in the form of a page and send it; the answer before any redirect."""
    fields = {**get(client, page).form(action), **typed}
    return client.post(action, data=fields, files=files, headers=HTML, follow_redirects=False)


def walk(client: TestClient, start: str = "/studies") -> dict[str, str]:
    """Every page that links lead to, by path; downloads and the API are left out."""
    seen: dict[str, str] = {}
    todo = [start, "/account"]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        answer = client.get(path, headers=HTML)
        assert answer.status_code == 200, (path, answer.status_code)
        seen[path] = answer.text
        for link in Taken(answer.text).links:
            target = urlsplit(urljoin(path, link))
            assert not target.netloc, link
            where = target.path + (f"?{target.query}" if target.query else "")
            is_download = target.path.startswith("/api/") and target.path != "/api/docs"
            if not is_download and not target.path.endswith("/document"):
                todo.append(where)
    return seen


def page_routes() -> list[APIRoute]:
    """Every route of a page."""
    return [route for part in PAGES for route in part.routes if isinstance(route, APIRoute)]


def signed_report(core: Core, anna: Client) -> dict[str, str]:
    """One of everything that pages show, the reports really computed; names of rows."""
    worker = WorkerThread(core, "worker")
    carl = anna.invite("carl@hospital.test", "approver", "reviewer")
    study = anna.study("Chest readings")
    months = {"period_start": "2026-01-01", "period_end": "2026-03-31"}
    version = anna.version(study, {**MANIFEST, "vigilance": months})
    assert worker.once("check")
    job = anna.post(f"{API}/versions/{version}/jobs", json={"formats": ["html"]}).json()["id"]
    assert worker.once("report")
    done = anna.get(f"{API}/jobs/{job}").json()
    assert done["state"] == "done", done
    names = {"study": study, "version": version, "job": job, "report0": done["report"]}
    names |= {"user": carl.me["user"], "report1": _next_period(core, done["report"])}
    names["device"] = anna.get(f"{API}/reports/{names['report0']}").json()["device"]
    names |= _events(anna, names["device"], names["report0"])
    assert carl.signs(names["report1"], "approval", "Complete.").status_code == 201
    Client.logged_in(anna.app, "anna@hospital.test")  # another session
    dora = anna.invite("dora@hospital.test", "admin")
    anna.accept(dora.post(f"{API}/users/{carl.me['user']}/invitation").json()["invitation"])
    anna.post(f"{API}/schedules", json={"study": study, "every_days": 90, "first": "2027-01-01T00:00:00Z"})
    anna.post(f"{API}/tokens", json={"name": "Nightly", "scopes": ["read"]})
    hook = {"url": "https://receiver.test/trustreport", "events": ["report.made", "job.failed"]}
    names["webhook"] = anna.post(f"{API}/webhooks", json=hook).json()["webhook"]["id"]
    anna.post(f"{API}/webhooks/{names['webhook']}/test")
    wrong = anna.study("With faults")
    files = [("files", ("study.json", json.dumps(READINGS))), ("files", ("readings.csv", WRONG))]
    names["wrong"] = anna.post(f"{API}/studies/{wrong}/versions", files=files).json()["id"]
    assert worker.once("check")
    names["audit"] = anna.version(anna.study("Audit by periods"), AUDIT, **{"scores.csv": SCORES})
    assert worker.once("check")
    report = f"{API}/reports/{names['report1']}"
    assert anna.post(f"{report}/comments", json={"text": "See table 2."}).status_code == 201
    eve = anna.invite("eve@hospital.test", "reviewer")
    asked = {"reviewer": eve.me["user"], "due": "2027-02-01"}
    assert anna.post(f"{report}/review-requests", json=asked).status_code == 201
    names["link"] = anna.post(f"{report}/shares", json={}).json()["link"].rpartition("#")[2]
    with TemporaryDirectory() as folder:
        names |= collaboration_to_see(core, anna, Path(folder))
    names |= criteria_to_see(anna, worker)
    queued = anna.post(f"{API}/versions/{names['version']}/jobs", json={"formats": ["csv"]}).json()
    names["queued"] = queued["id"]
    return names


def _events(anna: Client, device: str, report: str) -> dict[str, str]:
    """Incidents and signals: open, overdue, closed."""
    path, names = f"{API}/devices/{device}/incidents", dict[str, str]()
    known = {"event_date": "2026-03-02", "awareness_date": "2026-03-04", "description": "A missed fracture."}
    for facts in (known | {"seriousness": "serious"}, known | {"kind": "complaint"}):
        names["incident"] = anna.post(path, json={"group": "incidents", "facts": facts}).json()["id"]
    facts = {"description": "Sensitivity falls", "detected": "2026-03-20", "owner": "Vigilance officer"}
    names["signal"] = anna.post(path, json={"group": "signals", "facts": facts}).json()["id"]
    acts: list[dict[str, Any]] = [
        {"act": "assess", "facts": {"seriousness": "not serious", "decided_by": "Board"}},
        {"act": "link", "facts": {"reports": [report], "period": "2026-03"}},
        {"act": "close", "reason": "Explained to the reader."},
    ]
    for number, act in enumerate(acts, 1):
        path = f"{API}/incidents/{names['incident']}/changes"
        assert anna.post(path, json={"number": number, **act}).status_code == 200
    return names


PLANNED = {
    "report": {"kind": "certification", "title": "Planned"},
    "device": {"trade_name": "Example aid"},
    "arms": [{"arm": "unaided"}, {"arm": "aided"}],
    "tables": {"readings": {"file": "readings.csv"}},
    "endpoints": [{"endpoint": "finds", "measure": "pragmatic_utility.arr", "hypothesis": "superiority"}],
}


def criteria_to_see(anna: Client, worker: WorkerThread) -> dict[str, str]:
    """Studies without data: their criteria are open, changed since they were fixed, or wait."""
    author = anna.invite("author@hospital.test", "author")

    versions: dict[str, str] = {}

    def study(name: str, manifest: Any = PLANNED) -> str:
        made = author.study(name)
        versions[made] = author.version(made, manifest)
        assert worker.once("check")
        return made

    def fixed(made: str) -> str:
        assert author.post(f"{API}/studies/{made}/criteria", json={}).status_code == 201
        assert worker.once("check")
        return made

    names = {"open": study("Open criteria"), "changed": fixed(study("Changed criteria"))}
    later = {**PLANNED, "endpoints": [{**PLANNED["endpoints"][0], "bound_or_margin": 0.02}]}
    names["changed_version"] = author.version(names["changed"], later)
    assert worker.once("check")
    blank = study("Nothing announced", {k: PLANNED[k] for k in ("report", "device")})
    names |= {"open_version": versions[names["open"]], "blank_version": versions[blank]}
    anna.put(f"{API}/organisation/countersignature", json={"required": True})
    waiting = study("Waiting criteria")
    assert author.post(f"{API}/studies/{waiting}/criteria", json={}).status_code == 201
    return names | {"waiting": waiting}


def _next_period(core: Core, report: str) -> str:
    """A second report like the first one, of the next months and with other numbers."""
    with core.store.write() as rows:
        first = rows.get_one(StoredReport, report)
        job = _like(rows.get_one(Job, first.job), id=new_id(), key="0" * 64)
        text = core.blobs.path(first.organisation, first.results_sha256).read_text()
        results = json.loads(text)
        for entry in results["results"][:5]:
            entry["value"] = entry["value"] and entry["value"] / 2
        blob = core.blobs.put(first.organisation, io.BytesIO(json.dumps(results).encode()))
        months = {"period_start": "2026-04-01", "period_end": "2026-06-30"}
        second = _like(
            first, id=new_id(), job=job.id, facts={**first.facts, **months}, results_sha256=blob.sha256
        )
        rows.add(job)
        rows.flush()
        rows.add(second)
        rows.flush()
        files = rows.query(ReportFile).filter_by(report=report).all()
        rows.add_all([_like(file, report=second.id) for file in files])
        return str(second.id)


def _like(row: Any, **other: Any) -> Any:
    """A row like another one."""
    values = {column.key: getattr(row, column.key) for column in row.__table__.columns}
    return type(row)(**{**values, **other})


@contextmanager
def served(folder: Path, *, workers: bool, **given: Any) -> Iterator[tuple[Core, FastAPI, str]]:
    """A service on a port of this machine, in a thread."""
    port = given.pop("port", None) or free_port()
    core = new_core(folder / "data", port=port, **given)
    app = create_app(core, (lambda: Worker(core, 1)) if workers else _nothing)
    try:
        with threaded(uvicorn.Config(app, port=port, log_config=None, access_log=False)):
            yield core, app, core.settings.url
    finally:
        core.close()


@contextmanager
def _nothing() -> Iterator[None]:
    yield
