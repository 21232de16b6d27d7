"""A full disk, and a database that is away: said in words, to programs and to people, until it is over."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from pages import HTML, Taken, get
from services import API, MANIFEST, Client
from sqlalchemy import event
from test_service_bodies import TYPES, body_of, send

from trustreport.service import audit
from trustreport.service.access.principal import COOKIE
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.storage.store import Store


@pytest.fixture
def away(light: Core, anna: Client) -> Iterator[Client]:
    """Anna's browser, and a service whose database does not answer."""
    store = Store("postgresql+psycopg://user:SECRET@127.0.0.1:1/x")
    client = Client.on(create_app(replace(light, store=store)))
    client.cookies.update(anna.cookies)
    client.headers.update(anna.headers)
    yield client
    store.close()


def test_a_database_that_is_away_is_said_to_programs(away: Client) -> None:
    for answer in (
        away.get(f"{API}/studies"),
        away.post(f"{API}/studies", json={"name": "S"}),
        away.post(f"{API}/session", json={"email": "a@h.test", "password": "x" * 12}),
        away.post(f"{API}/studies/{'0' * 26}/versions", files=[("files", ("a", b"x"))]),
    ):
        assert (answer.status_code, answer.json()["title"]) == (503, "Database away"), answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert int(answer.headers["retry-after"]) > 0
        assert "SECRET" not in answer.text


def test_a_database_that_is_away_is_said_to_people(away: Client) -> None:
    for answer in (
        away.get("/studies", headers=HTML),
        away.post("/studies", data={"csrf": "x"}, headers=HTML),
    ):
        assert (answer.status_code, answer.headers["content-type"]) == (503, "text/html; charset=utf-8")
        words = Taken(answer.text).words
        assert "Not available" in words
        assert "database does not answer" in words
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    ready = away.get("/ready")
    assert (ready.status_code, ready.json()["database"], ready.json()["storage"]) == (503, False, True)
    assert away.get("/health").status_code == 200


def test_the_log_says_what_was_away(away: Client, quiet_logs: list[dict[str, Any]]) -> None:
    away.get(f"{API}/studies")
    entry = next(e for e in quiet_logs if e.get("status") == 503)
    assert entry["error"].startswith("OperationalError at ")
    assert "SECRET" not in repr(quiet_logs)


def test_any_other_fault_is_a_page_for_people(anna: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    from trustreport.service.study import page as studies

    def broken(*given: Any) -> Any:
        raise RuntimeError("secret of Mrs Marple")

    monkeypatch.setattr(studies, "_lines", broken)
    answer = anna.get("/studies", headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (500, "text/html; charset=utf-8")
    assert "its log has the details" in Taken(answer.text).words
    assert answer.headers["x-request-id"] in answer.text
    assert "Marple" not in answer.text


def test_a_full_database_is_507_until_there_is_room(light: Core, app: FastAPI, anna: Client) -> None:
    limit = 1

    @event.listens_for(light.store.engine, "connect")
    def _small(connection: sqlite3.Connection, record: object) -> None:
        connection.execute(f"PRAGMA max_page_count={limit}")  # at least the pages that there are

    light.store.engine.dispose()
    answers = [anna.post(f"{API}/studies", json={"name": f"{i:0150}"}) for i in range(60)]
    full = answers[-1]
    assert (full.status_code, full.json()["title"]) == (507, "Disk full"), full.text
    assert "operator" in full.json()["detail"]
    page = get(anna, "/studies/new").form("/studies")
    shown = anna.post("/studies", data={**page, "name": "x" * 150}, headers=HTML)
    assert (shown.status_code, "No room left" in shown.text) == (507, True)
    assert anna.get(f"{API}/studies").status_code == 200
    event.remove(light.store.engine, "connect", _small)
    light.store.engine.dispose()
    assert anna.post(f"{API}/studies", json={"name": "S"}).status_code == 201
    with light.store.read() as rows:
        assert not [fault for chain in audit.verify(rows) for fault in chain.faults]


def test_a_full_disk_is_507_and_leaves_nothing(
    light: Core, anna: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = anna.study()

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        answer = anna.post(f"{API}/studies/{study}/versions/json", json={"manifest": MANIFEST})
        assert (answer.status_code, answer.json()["title"]) == (507, "Disk full")
        ready = anna.get("/ready")
        assert (ready.status_code, ready.json()["storage"], ready.json()["database"]) == (503, False, True)
    assert not [p for p in (light.settings.data / "blobs").rglob("*") if p.is_file()]
    assert anna.version(study)
    assert anna.get("/ready").json() == {
        "database": True,
        "schema_current": True,
        "storage": True,
        "problems": [],
    }


def test_uploads_are_refused_before_the_disk_is_full(light: Core, anna: Client) -> None:
    small = replace(light, settings=replace(light.settings, least_free=10**18))
    app = create_app(small)
    client = Client.on(app)
    client.cookies.update(anna.cookies)
    client.headers.update(anna.headers)
    assert client.get("/ready").json()["storage"] is False
    study = client.study()  # what is small is still taken
    headers = {
        "Content-Type": TYPES["form"],
        "Transfer-Encoding": "chunked",
        "Cookie": f"{COOKIE}={anna.cookies[COOKIE]}",
        "X-CSRF-Token": anna.me["csrf"],
    }
    for path in (f"{API}/studies/{study}/versions", f"{API}/studies/{study}/versions/zip", "/studies"):
        assert send(app, "POST", path, headers, body_of("form")) == (507, 0), path


def test_a_body_that_is_too_large_is_a_page_for_people(anna: Client) -> None:
    answer = anna.post("/account/password", content=b"x" * 1_100_000, headers=HTML)
    assert (answer.status_code, answer.headers["content-type"]) == (413, "text/html; charset=utf-8")
    assert "Too large" in answer.text
