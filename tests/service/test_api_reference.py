"""The reference of the API: every operation of the document, with examples that are right."""

import ast
import inspect
import json
import re
import shlex
from typing import Any

import jsonschema
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pages import HTML, Taken
from services import API, Client, new_core, world

from tests.test_english import found
from trustreport.service.app import REFUSALS, TAGS, create_app
from trustreport.service.client import Client as ApiClient
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
    keys = {f"{o.method.lower()} {o.path.removeprefix(API)}" for o in operations(reference)}
    assert set(examples.methods()) | examples.SESSION | examples.ANYBODY <= keys


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
            eval(operation.python, given)  # noqa: S307
            ran += 1
    assert ran >= 12


def test_what_no_token_may_do_is_named_and_nothing_else(
    app: FastAPI, anna: Client, reference: ApiReference
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
        if answer.status_code in (403, 409) and "session" in answer.json()["detail"]:
            refused.add(f"{operation.method.lower()} {operation.path.removeprefix(API)}")
    assert refused == examples.SESSION
