"""The reference of the API, with examples that are right; and no body is read of somebody unknown."""

import ast
import asyncio
import inspect
import json
import re
import shlex
import threading
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pages import HTML, Taken, page_routes
from services import API, MANIFEST, Client, new_core, world

from tests.test_english import found
from trustreport.service.access.principal import COOKIE
from trustreport.service.app import REFUSALS, TAGS, create_app
from trustreport.service.client import Client as ApiClient
from trustreport.service.client import operations as operations_of_client
from trustreport.service.client.operations import Operation
from trustreport.service.core import Core
from trustreport.service.reference import document as examples
from trustreport.service.reference.document import ApiOperation, ApiReference, anchor_of, read

PAGE = "/api/docs"


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the service says of its API."""
    core = new_core(tmp_path_factory.mktemp("document") / "data")
    document = create_app(core).openapi()
    core.close()
    return document


@pytest.fixture(scope="module")
def reference(document: dict[str, Any]) -> ApiReference:
    return read(document)


def operations(reference: ApiReference) -> list[ApiOperation]:
    return [operation for section in reference.sections for operation in section.operations]


def test_the_page_has_every_operation_shape_and_refusal_and_all_its_links_lead_somewhere(
    document: dict[str, Any], anonymous: TestClient
) -> None:
    answer = anonymous.get(PAGE, headers=HTML)
    assert answer.status_code == 200
    page = Taken(answer.text)
    ids = {given["id"] for _, given in page.tags if "id" in given}
    assert {link[1:] for link in page.links if link.startswith("#")} <= ids
    listed = [(m, p) for p, methods in document["paths"].items() for m in methods]
    assert len(listed) > 70
    for method, path in listed:
        where = document["paths"][path][method]["externalDocs"]["url"]
        assert where == f"{PAGE}#{anchor_of(method, path)}"
        assert where.partition("#")[2] in ids
    assert document["externalDocs"]["url"] == PAGE
    schemas = document["components"]["schemas"]
    named = {f"shape-{name}" for name in schemas if "Response" in name and not name.startswith("Page_")}
    assert named <= ids
    statuses = re.findall(r'<code class="code">(\d{3})</code></th>', answer.text)
    assert [int(status) for status in statuses] == list(REFUSALS)
    without_code = Taken(re.sub(r"<code.*?</code>", "", answer.text, flags=re.DOTALL))
    assert found(without_code.words) == []


def test_the_reference_shows_nothing_of_anybody_and_is_counted(tmp_path: Any) -> None:
    core = new_core(tmp_path / "few", requests_a_minute=3)
    app = create_app(core)
    stranger = Client.on(app)
    assert [stranger.get(PAGE).status_code for _ in range(4)] == [200, 200, 200, 429]
    core.close()


def test_who_is_signed_in_keeps_the_head_of_the_page(light: Core, anna: Client) -> None:
    world(light, anna, "Secret study")
    page = Taken(anna.get(PAGE, headers=HTML).text)
    assert "Anna" in page.words
    assert "Secret study" not in page.words
    assert PAGE in Taken(anna.get("/account", headers=HTML).text).links


def test_every_section_is_described_and_in_the_document(
    document: dict[str, Any], reference: ApiReference
) -> None:
    assert [section.name for section in reference.sections] == list(TAGS)
    assert all(section.operations and section.text for section in reference.sections)
    assert len(operations(reference)) == sum(len(methods) for methods in document["paths"].values())


def test_every_command_asks_for_its_operation_with_a_body_that_it_takes(
    document: dict[str, Any], reference: ApiReference
) -> None:
    for operation in operations(reference):
        words = shlex.split(operation.curl.replace("\\\n", " "))
        assert words[0] == "curl"
        method = words[words.index("-X") + 1] if "-X" in words else "GET"
        (address,) = [word for word in words if word.startswith("$TRUSTREPORT_URL")]
        path = address.removeprefix("$TRUSTREPORT_URL").partition("?")[0]
        expected = re.sub(r"\{(\w+)\}", lambda m: f"${m[1].upper()}", operation.path)
        assert (method, path) == (operation.method, expected)
        content = document["paths"][operation.path][operation.method.lower()].get("requestBody", {})
        schema = content.get("content", {}).get("application/json", {}).get("schema")
        assert ("-d" in words) == (schema is not None), operation.curl
        if schema:
            sent = json.loads(words[words.index("-d") + 1])
            jsonschema.validate(sent, {**schema, "components": document["components"]})
            assert sent, operation.curl


def test_every_example_of_the_client_calls_it_as_it_is(reference: ApiReference) -> None:
    by_method = 0
    for operation in operations(reference):
        tree = ast.parse(operation.python)
        calls = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "client"
        ]
        if operation.python.startswith("#"):
            assert calls == []
            continue
        assert calls, operation.python
        for call in calls:
            assert isinstance(call.func, ast.Attribute)
            method = getattr(ApiClient, call.func.attr)
            inspect.signature(method).bind(None, *call.args, **{k.arg or "": 0 for k in call.keywords})
            by_method += call.func.attr != "call"
    assert by_method >= 30
    assert set(examples.methods()) <= {f"{o.method.lower()} {o.path}" for o in operations(reference)}


def test_every_operation_of_the_client_is_served_as_it_is_declared(document: dict[str, Any]) -> None:
    declared = [one for one in vars(operations_of_client).values() if isinstance(one, Operation)]
    assert len(declared) > 40
    for one in declared:
        path = API + one.path.replace(":path", "")
        assert str(one.status) in document["paths"][path][one.method.lower()]["responses"], path


def test_the_clients_call_reaches_operations_without_a_method_of_their_own(
    light: Core, anna: Client, reference: ApiReference
) -> None:
    names = world(light, anna)
    given = {
        "client": anna.robot("read", "write", "manage"),
        **names,
        "token": anna.get(f"{API}/tokens").json()["items"][0]["id"],
    }
    ran = 0
    for operation in operations(reference):
        generic = operation.python.startswith("client.call(")
        if generic and operation.method in ("GET", "PATCH", "PUT") and "{attestation}" not in operation.path:
            if operation.path.endswith("/users/{user}") and operation.method == "PATCH":
                continue  # one's own roles are another administrator's to give
            eval(operation.python, given)  # noqa: S307 -- the example that the page shows
            ran += 1
    assert ran >= 12


def test_what_no_token_may_do_is_named_and_nothing_else(
    app: FastAPI, anna: Client, document: dict[str, Any], reference: ApiReference
) -> None:
    scopes = ["read", "write", "review", "approve", "manage"]
    token = anna.post(f"{API}/tokens", json={"name": "t", "scopes": scopes}).json()["secret"]
    robot = Client.on(app)
    robot.headers["Authorization"] = f"Bearer {token}"
    refused = set()
    for operation in operations(reference):
        words = shlex.split(operation.curl.replace("\\\n", " "))
        given: dict[str, Any] = {"json": json.loads(words[words.index("-d") + 1])} if "-d" in words else {}
        if operation.bodies and not given:
            given = {"files": [("files", ("study.yaml", b"a: 1"))]}
        path = re.sub(r"\{\w+\}", "0" * 26, operation.path)
        answer = robot.request(operation.method, path, **given)
        assert answer.status_code < 500, operation.path
        if answer.status_code == 403 and "session" in answer.json()["detail"]:
            refused.add((operation.path, operation.method.lower()))
    named = {
        (path, method)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
        if operation.get("security") == [{"APIKeyCookie": []}]
    }
    assert refused == named
    assert len(named) == 17


BLOCK = 1000
SENT = 2_000_000
MOST_ANONYMOUS = 65_536
# Whoever has no account yet, or is not logged in, sends these forms.
OPEN = {f"{API}/{name}" for name in ("setup", "invitations", "session", "resets")}
OPEN |= {"/setup", "/invitation", "/enter", "/sign-in", "/forgotten", "/shared", "/site"}
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
