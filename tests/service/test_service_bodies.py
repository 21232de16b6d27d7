"""Nobody's bytes are read before it is known who sends them: every route of the document, and every page."""

import asyncio
import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from fastapi import FastAPI
from pages import page_routes
from services import API, MANIFEST, Client, world

from trustreport.service.access.principal import COOKIE
from trustreport.service.core import Core

BLOCK = 1000
SENT = 2_000_000
MOST_ANONYMOUS = 65_536
# Whoever has no account yet, or is not logged in, sends these forms.
OPEN = {f"{API}/{name}" for name in ("setup", "invitations", "session", "resets")}
OPEN |= {"/setup", "/invitation", "/sign-in", "/forgotten", "/shared"}
OPEN |= {"/sign-in/second", "/sign-in/provider", "/language"}
TYPES = {
    "form": "multipart/form-data; boundary=x",
    "fields": "application/x-www-form-urlencoded",
    "json": "application/json",
    "zip": "application/zip",
}
PART = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.csv"\r\n\r\n'


def every_route(app: FastAPI) -> set[tuple[str, str]]:
    """Method and path of everything that the document lists and of every page."""
    listed = {(m.upper(), p) for p, methods in app.openapi()["paths"].items() for m in methods}
    pages = {(method, route.path) for route in page_routes() for method in route.methods}
    return {(m, re.sub(r"\{[^}]+\}", "0" * 26, p)) for m, p in listed | pages}


def send(
    app: Any, method: str, path: str, headers: dict[str, str], block: Callable[[int], bytes]
) -> tuple[int, int]:
    """Send a body in blocks as they are asked for; the status, and how many bytes were taken."""
    taken, status = 0, 0
    raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"testserver"), *raw],
        "scheme": "https",
        "server": ("testserver", 443),
        "client": ("192.0.2.1", 1),
        "root_path": "",
    }

    async def receive() -> dict[str, Any]:
        nonlocal taken
        if taken >= SENT:
            return {"type": "http.disconnect"}
        body = block(taken)
        taken += len(body)
        return {"type": "http.request", "body": body, "more_body": taken < SENT}

    async def answer(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    thread = threading.Thread(target=lambda: asyncio.run(app(scope, receive, answer)))
    thread.start()  # a browser of other tests may hold the loop of this one
    thread.join(30)
    return status, taken


def body_of(kind: str) -> Callable[[int], bytes]:
    """A body that does not end by itself, block by block."""
    first = {"form": PART, "fields": b"csrf=", "json": b'{"manifest": "', "zip": b"PK\x03\x04"}[kind]

    def block(at: int) -> bytes:
        return first + b"a" * (BLOCK - len(first)) if at == 0 else b"a" * BLOCK

    return block


@pytest.mark.parametrize(
    "kind, length", [("form", True), *((kind, False) for kind in TYPES)], ids=lambda given: str(given)
)
def test_without_credentials_next_to_nothing_is_read(
    app: FastAPI, anna: Client, kind: str, length: bool
) -> None:
    """OWASP ASVS 5.0, V2.4 and V8.2: the sender is known before resources are spent on them."""
    wrong = {}
    routes = every_route(app)
    assert len(routes) > 100
    for method, path in sorted(routes):
        headers = {"Content-Type": TYPES[kind], "Accept": "text/html"}
        headers |= {"Content-Length": str(SENT)} if length else {"Transfer-Encoding": "chunked"}
        wrong_ones = {"Authorization": "Bearer tr_no", "Cookie": f"{COOKIE}=no"} if kind == "form" else {}
        for name, value in {"": "", **wrong_ones}.items():
            given = headers | ({name: value} if name else {})
            status, taken = send(app, method, path, given, body_of(kind))
            most = MOST_ANONYMOUS if path in OPEN else 0
            if taken > most or not 200 <= status < 500:
                wrong[method, path, name] = (status, taken)
    assert wrong == {}


def test_who_may_only_read_sends_no_files(light: Core, app: FastAPI, anna: Client) -> None:
    names = world(light, anna)
    reader = anna.invite("reader@hospital.test", "viewer")
    headers = {
        "Content-Type": TYPES["form"],
        "Transfer-Encoding": "chunked",
        "Cookie": f"{COOKIE}={reader.cookies[COOKIE]}",
        "X-CSRF-Token": reader.me["csrf"],
    }
    path = f"{API}/studies/{names['study']}/versions"
    for form in ("", "/zip", "/json"):
        assert send(app, "POST", path + form, headers, body_of("form")) == (403, 0)


def test_a_small_request_stays_small(app: FastAPI, anna: Client) -> None:
    """10 MB are for a study as JSON; the name of a study has 1 MB at most."""
    headers = {
        "Content-Type": TYPES["json"],
        "Transfer-Encoding": "chunked",
        "Cookie": f"{COOKIE}={anna.cookies[COOKIE]}",
        "X-CSRF-Token": anna.me["csrf"],
    }
    status, taken = send(app, "POST", f"{API}/studies", headers, body_of("json"))
    assert (status, taken <= 1_000_000 + BLOCK) == (413, True)


def test_a_study_as_json_is_parsed_beside_the_loop(anna: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a large one is parsed, others are answered."""
    from trustreport.service.version import api as versions

    seen: list[bool] = []
    parse = versions.AsJson.model_validate_json

    def watched(*given: Any, **more: Any) -> Any:
        try:
            asyncio.get_running_loop()
            seen.append(True)
        except RuntimeError:
            seen.append(False)
        return parse(*given, **more)

    monkeypatch.setattr(versions.AsJson, "model_validate_json", watched)
    study = anna.study()
    anna.version(study, MANIFEST, **{"a.csv": "a"})
    assert seen == [False]
    path = f"{API}/studies/{study}/versions/json"
    for bad in (b"{", b'{"manifest": 7}', b'{"manifest": {}, "more": 1}', b"[]", b"\xff"):
        answer = anna.post(path, content=bad, headers={"Content-Type": "application/json"})
        assert answer.status_code == 422, answer.text
        assert answer.json()["fields"]
