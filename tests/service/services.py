"""Helpers of the service's tests: cores, users, studies."""

import io
import json
import os
import tempfile
import threading
import zipfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session as Rows

from trustreport.service import audit
from trustreport.service.access import accounts
from trustreport.service.access.guard import CSRF_HEADER
from trustreport.service.client import Client as ApiClient
from trustreport.service.core import Core, open_core
from trustreport.service.ids import new_id
from trustreport.service.jobs.tasks import TASKS
from trustreport.service.limited import ChildOutcome, ResourceLimits
from trustreport.service.settings import Settings
from trustreport.service.storage import store
from trustreport.service.storage.collaboration import Delivery, Webhook
from trustreport.service.storage.fixing import FixedCriteria
from trustreport.service.storage.models import (
    Job,
    ReportFile,
    Schedule,
    StoredDevice,
    StoredReport,
    StoredStudy,
    Version,
    VersionFile,
)
from trustreport.service.storage.pooling import InvitedSite, SiteUpload, StoredCollaboration
from trustreport.service.storage.vigilance import VigilanceEntry

R = TypeVar("R")
DURABLE = store.PRAGMAS
PASSWORD = "correct horse battery"
API = "/api/v1"
RECEIVER = "https://receiver.test/"
MANIFEST = {
    "report": {"kind": "certification", "title": "Counts"},
    "device": {"trade_name": "Example aid", "manufacturer": "Example", "software_version": "1.0"},
    "counts": [
        {"set": "chest", "arm": "unaided", "errors": 60, "correct": 240},
        {"set": "chest", "arm": "aided", "errors": 45, "correct": 255},
    ],
}


def lose_nothing_but_power(patch: pytest.MonkeyPatch) -> None:
    """Let nobody wait for a disk: what is written outlives every test and every killed process."""
    patch.setattr(store, "PRAGMAS", tuple(p.replace("synchronous=FULL", "synchronous=OFF") for p in DURABLE))
    patch.setattr(os, "fsync", lambda handle: None)


@cache
def migrated() -> bytes:
    """A database without rows, made once: its steps take longer than many a test."""
    with tempfile.TemporaryDirectory() as folder:
        open_core(Settings(Path(folder))).close()
        return (Path(folder) / "trustreport.db").read_bytes()


def new_core(data: Path, **given: Any) -> Core:
    """A core with settings for tests: no limits of rate."""
    if not given.get("database") and not data.exists():
        data.mkdir(parents=True)
        (data / "trustreport.db").write_bytes(migrated())
    return open_core(Settings(data, **{"requests_a_minute": 1_000_000, "workers": 0, **given}))


def stored(core: Core, model: type[R], **by: Any) -> list[R]:
    """The rows of a table that have these values."""
    with core.store.read() as rows:
        return rows.query(model).filter_by(**by).all()


def only(core: Core, model: type[R], **by: Any) -> R:
    """The one row of a table that has these values."""
    (row,) = stored(core, model, **by)
    return row


def at_once(*acts: Callable[[], object]) -> None:
    """Call these at the same time; what one raises is raised here."""
    errors: list[BaseException] = []

    def guarded(act: Callable[[], object]) -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(act,), daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if errors:
        raise errors[0]
    assert not any(thread.is_alive() for thread in threads), "they wait for each other"


def run_here(
    task: dict[str, Any],
    work: Path,
    limits: ResourceLimits,
    *,
    on_progress: Callable[[str, float], None],
    should_continue: Callable[[], bool],
    pipes: tuple[int, int] | None = None,
) -> ChildOutcome:
    """Do a task in this process, as `limited.run` does it in one that first imports everything anew."""
    own = {"pipes": tuple(os.dup(one) for one in pipes)} if pipes else {}
    answer = TASKS[task["task"]](json.loads(json.dumps(task)) | own, work, on_progress)
    return ChildOutcome("answer", json.loads(json.dumps(answer)))


def tasks_here(patch: pytest.MonkeyPatch) -> None:
    """Let jobs and forms be done in this process, and jobs as soon as they are asked for."""
    from trustreport.service.editor import run
    from trustreport.service.jobs import worker_thread

    patch.setattr(worker_thread, "run", run_here)
    patch.setattr(worker_thread, "IDLE_SECONDS", 0.05)
    patch.setattr(run, "run", run_here)


class Client(TestClient):
    """A logged-in browser that sends the session's CSRF token."""

    me: dict[str, Any]

    @classmethod
    def on(cls, app: FastAPI) -> "Client":
        return cls(app, base_url="https://testserver", raise_server_exceptions=False)

    @classmethod
    def set_up(cls, app: FastAPI, core: Core) -> "Client":
        """The first user of a new service."""
        with core.store.write() as rows:
            link = accounts.new_link(rows, "setup", core.settings)
        client = cls.on(app)
        anna = {"email": "anna@hospital.test", "name": "Anna", "password": PASSWORD}
        given = {"link": link, "organisation": "Hospital", **anna}
        client._came_in(client.post(f"{API}/setup", json=given))
        return client

    @classmethod
    def logged_in(cls, app: FastAPI, email: str, password: str = PASSWORD) -> "Client":
        client = cls.on(app)
        client._came_in(client.post(f"{API}/session", json={"email": email, "password": password}))
        return client

    def _came_in(self, answer: Any) -> None:
        assert answer.status_code == 201, answer.text
        self.me = answer.json()
        self.headers[CSRF_HEADER] = self.me["csrf"]

    def invite(self, email: str, *roles: str) -> "Client":
        """Another user of the same organisation, logged in."""
        made = self.post(f"{API}/users", json={"email": email, "name": email, "roles": roles})
        assert made.status_code == 201, made.text
        return self.accept(made.json()["invitation"])

    def accept(self, invitation: str) -> "Client":
        client = type(self).on(self.app)
        client._came_in(client.post(f"{API}/invitations", json={"link": invitation, "password": PASSWORD}))
        return client

    def robot(self, *scopes: str) -> ApiClient:
        """A program that uses the service with a token of this user."""
        made = self.post(f"{API}/tokens", json={"name": "robot", "scopes": scopes or ["read", "write"]})
        assert made.status_code == 201, made.text
        http = TestClient(self.app, base_url="https://testserver")
        return ApiClient("", made.json()["secret"], http=http)

    def found(self, organisation: str, email: str) -> "Client":
        """Somebody who may do everything in a new organisation."""
        new = {"name": organisation, "admin_email": email, "admin_name": "Admin"}
        made = self.post(f"{API}/organisations", json=new)
        assert made.status_code == 201, made.text
        first = self.accept(made.json()["invitation"])
        roles = ["admin", "approver", "author", "reviewer"]
        return first.invite(f"all.{email}", *roles)

    def signs(self, report: str, act: str = "review", meaning: str = "Seen", password: str = PASSWORD) -> Any:
        """The answer to who signs a report."""
        said = {"act": act, "meaning": meaning, "password": password}
        return self.post(f"{API}/reports/{report}/attestations", json=said)

    def study(self, name: str = "Study") -> str:
        """The name of a new study."""
        made = self.post(f"{API}/studies", json={"name": name})
        assert made.status_code == 201, made.text
        return str(made.json()["id"])

    def version(self, study: str, manifest: Any = MANIFEST, **tables: str) -> str:
        """The name of a version that was handed in as JSON."""
        given = {"manifest": manifest, "tables": tables}
        answer = self.post(f"{API}/studies/{study}/versions/json", json=given)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])


def zipped(files: dict[str, bytes | str]) -> bytes:
    """A zip of these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


def log_of(rows: Rows, client: Client, names: dict[str, str], results: str) -> None:
    """What the log says of such rows."""
    told: dict[str, tuple[str, dict[str, Any]]] = {
        "study": ("study.add", {}),
        "version": ("version.add", {"digest": "0" * 64}),
        "report": ("report.made", {"results_sha256": results}),
        "schedule": ("schedule.add", {"study": names["study"]}),
        "webhook": ("webhook.add", {"url_sha256": sha256(RECEIVER.encode()).hexdigest()}),
        "collaboration": ("collaboration.add", {"study": names["study"]}),
        "invited_site": ("site.invite", {"study": names["study"]}),
        "site_upload": ("site.upload", {"study": names["study"]}),
        "entry": ("vigilance.add", {"device": names["device"]}),
        "fixing": ("criteria.fix", {"study": names["study"]}),
    }
    for kind, (action, details) in told.items():
        audit.write(rows, client.me["organisation"], client.me["user"], action, names[kind], **details)


def world(core: Core, client: Client, name: str = "Study") -> dict[str, str]:
    """One row of everything for the client's organisation, without computing; their names by kind."""
    me, at = client.me, 1_760_000_000_000
    mine = {"organisation": me["organisation"]}
    blob = core.blobs.put(me["organisation"], io.BytesIO(f'{{"secret of": "{me["organisation"]}"}}'.encode()))
    kinds = "device study version job report schedule webhook delivery".split()
    kinds += ["collaboration", "invited_site", "site_upload", "entry", "fixing"]
    names = {kind: new_id() for kind in kinds}
    made = {"created_at": at, **mine}
    made_by = {"created_by": me["user"], **made}
    wishes = {"kind": None, "formats": ["json"], "release": None, "seed": None}
    of = {"study": names["study"], "version": names["version"]}
    kept = {"sha256": blob.sha256, "size": blob.size, **mine}
    device = {"trade_name": f"Device of {name}", "manufacturer": "M", "basic_udi_di": ""}
    found = {"state": "valid", "digest": "0" * 64, "facts": {"title": name}, "problems": [], "number": 1}
    done = {"state": "done", "step": "done", "progress": 1.0, "reason": "", "report": names["report"]}
    worked = {"attempts": 1, "worker": "w", "lease_until": 0, "cancel_asked": False}
    done |= {"task": "report", "wishes": wishes}
    audits = {"wishes": wishes, "every_days": 30, "next_at": at * 2}
    result = {"kind": "certification", "facts": {"title": name}, "results_sha256": blob.sha256}
    result |= {"device": names["device"]}
    told = {"kind": "webhook.test", "details": {"secret of": me["organisation"]}, "queued_at": at}
    shared = {"title": f"Secret of {me['organisation']}", "lock": "0" * 64}
    invited = {"name": "Secret site", "email": "secret@site.test", "refused": {}, "expires_at": at * 2}
    uploaded = {"key": "A" * 43 + "=", "state": "uploaded", "facts": {}, "site": names["invited_site"]}
    registered = {"group": "incidents", "name": "I-1", "closed": True, "number": 1}
    registered |= {"facts": {"description": f"Secret of {me['organisation']}", "kind": "incident"}}
    fixed = {"kind": "lock", "name": "criteria.lock.json", "digest": "0" * 64, "criteria": ["Secret"]}
    fixed |= {"reason": "Secret", "manifest": "", "needs_second": True}
    failed = {"attempts": 1, "reason": "answered 500", "failed_at": at, "next_at": at}
    with core.store.write() as rows:
        for row in (
            StoredDevice(id=names["device"], key=names["device"] * 2, **device, **made),
            StoredStudy(id=names["study"], name=name, **made_by),
            Version(id=names["version"], study=names["study"], device=names["device"], **found, **made_by),
            VersionFile(version=names["version"], name="study.yaml", archive=False, **kept),
            Job(id=names["job"], key=names["job"] * 2, code="1", **of, **done, **worked, **made_by),
            StoredReport(id=names["report"], job=names["job"], code="1", **of, **result, **made_by),
            ReportFile(report=names["report"], name="results.json", **kept),
            Schedule(id=names["schedule"], study=names["study"], **audits, **made_by),
            Webhook(id=names["webhook"], url=RECEIVER, events=["study.remove"], tried_at=0, **made_by),
            Delivery(id=names["delivery"], webhook=names["webhook"], **told, **failed, **made),
            StoredCollaboration(id=names["collaboration"], **of, **shared, **made_by),
            InvitedSite(id=names["invited_site"], collaboration=names["collaboration"], **invited, **made_by),
            SiteUpload(id=names["site_upload"], **uploaded, **kept, created_at=at),
            VigilanceEntry(id=names["entry"], device=names["device"], **registered, **made_by),
            FixedCriteria(id=names["fixing"], **of, **fixed, **kept, created_by=me["user"], created_at=at),
        ):
            rows.add(row)
            rows.flush()
        log_of(rows, client, names, blob.sha256)
    names["user"] = client.me["user"]
    return names
