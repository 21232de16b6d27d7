"""The client: what its page and its docstrings show is so; what is sent again, and what never is."""

import doctest
import importlib
import io
import json
import os
import pkgutil
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from shutil import which
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pages import served
from services import API, MANIFEST, tasks_here, world
from services import Client as Browser

import trustreport.service.client
from trustreport.service.client import Client, ServiceError, records
from trustreport.service.client.files import pack
from trustreport.service.client.webhooks import ID, SIGNATURE, TIMESTAMP, sign
from trustreport.service.core import Core
from trustreport.service.storage.vigilance import VigilanceEntry

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "programs.md").read_text("utf-8")
SCOPES = ["manage", "read", "write"]
STUDY = {"id": "s", "name": "n", "created_by": "u", "created_at": "2026-01-01T00:00:00Z"}
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a service that works, over the network of this machine."""
    with (
        served(tmp_path_factory.mktemp("client"), workers=True) as (core, app, url),
        pytest.MonkeyPatch.context() as patch,
    ):
        tasks_here(patch)
        anna = Browser.set_up(app, core)
        secret = anna.post(f"{API}/tokens", json={"name": "script", "scopes": SCOPES}).json()["secret"]
        with Client(url, secret) as made:
            yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which there is a study, `my-study`."""
    work = tmp_path_factory.mktemp("work")
    (work / "my-study").mkdir()
    (work / "my-study" / "study.json").write_text(json.dumps(MANIFEST))
    return work


@pytest.fixture(scope="module")
def page(client: Client, folder: Path) -> dict[str, Any]:
    """The names that the Python of the page has defined once it has run, from top to bottom."""
    names: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("TRUSTREPORT_URL", str(client._http.base_url))
        patch.setenv("TRUSTREPORT_TOKEN", client._transport.headers["Authorization"].split()[1])
        for block in re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S):
            exec(compile(block, "programs.md", "exec"), names)  # noqa: S102 -- of our own page
    yield names
    names["client"].close()


def test_the_page_does_what_it_says(page: dict[str, Any], folder: Path) -> None:
    assert page["version"].state == "valid"
    assert page["report"].facts["kind"] == "certification"
    assert json.loads((folder / "out" / "results.json").read_bytes()) == page["results"]
    assert 0.15 in page["rates"]
    assert page["comparison"].differences == ()
    assert (page["newest"].action, page["webhook"].events) == ("report.made", ["job.failed", "report.made"])


def test_the_receiver_of_the_page_takes_an_event_once_and_no_forged_one(
    page: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    (delivery,) = page["client"].deliveries(page["webhook"].id)
    body = json.dumps(delivery.body).encode()
    at = int(delivery.created_at.timestamp())
    headers = {ID: delivery.id, TIMESTAMP: str(at), SIGNATURE: sign(page["secret"], delivery.id, at, body)}
    assert [page["receive"](headers, body, page["secret"]) for _ in range(2)] == [204, 204]
    assert capsys.readouterr().out.count("webhook.test") == 1
    assert page["receive"](headers, body + b" ", page["secret"]) == 400


@pytest.mark.skipif(not (which("curl") and which("openssl")), reason="the page uses curl and openssl")
def test_the_commands_of_the_page_run(client: Client, page: dict[str, Any]) -> None:
    token = client._transport.headers["Authorization"].split()[1]
    given = {
        "TRUSTREPORT_URL": str(client._http.base_url).rstrip("/"),
        "TRUSTREPORT_TOKEN": token,
        "SECRET": SECRET,
        "WEBHOOK_ID": "msg_p5jXN8AQM9LWM0D4loKWxJek",
        "WEBHOOK_TIMESTAMP": "1614265330",
        "BODY": '{"test": 2432232314}',
    }
    said = [
        subprocess.run(
            ["sh", "-c", block], env=os.environ | given, capture_output=True, text=True, check=True
        )
        for block in re.findall(r"^```sh\n(.*?)^```", PAGE, re.M | re.S)
    ]
    assert said[0].stdout.strip() == "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert json.loads(said[1].stdout)["items"][0]["name"]


def test_examples_of_docstrings_are_so(
    page: dict[str, Any], client: Client, folder: Path, tmp_path: Path
) -> None:
    of = page["report"]
    names = {
        "client": client,
        "study": of.study,
        "version": of.version,
        "job": of.job,
        "report": of.id,
        "device": of.device,
        "folder": folder / "my-study",
        "out": tmp_path,
        "ServiceError": ServiceError,
        "verify_webhook": trustreport.service.client.verify_webhook,
    }
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    methods: set[str] = set()
    for module in pkgutil.iter_modules(trustreport.service.client.__path__, "trustreport.service.client."):
        for test in finder.find(importlib.import_module(module.name), extraglobs=names):
            runner.run(test)
            methods |= {test.name.rpartition(".")[2]} if test.examples else set()
    assert (runner.failures, len(methods) >= 12) == (0, True)


def test_the_client_returns_the_bodies_that_the_document_lists(app: FastAPI) -> None:
    schemas = app.openapi()["components"]["schemas"]
    own = (records.ResponseBody, records.ReportComparison)  # of no answer, and of several pages
    bodies = [
        b for b in vars(records).values() if isinstance(b, type) and issubclass(b, own[0]) and b not in own
    ]
    assert len(bodies) >= 15
    for body in bodies:
        assert set(body.model_fields) == set(schemas[body.__name__]["properties"])
        assert schemas[body.__name__]["additionalProperties"] is False


def test_what_a_newer_service_adds_is_left_out() -> None:
    assert records.StudyResponse(**STUDY | {"later": 1}) == records.StudyResponse(**STUDY)
    webhook = {"id": "w", "url": "u", "created_by": "u", "created_at": STUDY["created_at"], "paused_at": None}
    assert records.WebhookResponse(**webhook, events=["of.later"]).events == ["of.later"]


def faked(answers: list[Any], seen: list[httpx2.Request]) -> tuple[Client, list[float]]:
    """A client of a service that answers so, one after the other; and what it waited."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        request.read()
        given = answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return given

    http = httpx2.Client(transport=httpx2.MockTransport(answer), base_url="https://service.test")
    client, waited = Client("", "tr_x", http=http, retries=3), []
    client._transport.sleep = waited.append
    return client, waited


def busy(status: int = 503, **headers: str) -> httpx2.Response:
    body = {"title": "Busy", "status": status, "detail": "Try again.", "request": "abc"}
    return httpx2.Response(
        status, json=body, headers={name.replace("_", "-"): v for name, v in headers.items()}
    )


def test_reading_is_tried_again_as_the_service_says() -> None:
    seen: list[httpx2.Request] = []
    gone = httpx2.ConnectError("nobody")
    client, waited = faked([busy(Retry_After="7"), busy(429), gone, httpx2.Response(200, json=STUDY)], seen)
    assert client.study("s").name == "n"
    assert (len(seen), waited[0]) == (4, 7)
    assert all(0.5 * 2**i <= wait <= 2.0**i for i, wait in ((1, waited[1]), (2, waited[2])))
    assert {r.headers["Authorization"] for r in seen} == {"Bearer tr_x"}


@pytest.mark.parametrize(
    "ask",
    [
        lambda c, f: c.create_study("n"),
        lambda c, f: c.upload("s", f / "my-study"),
        lambda c, f: c.upload("s", [f / "my-study" / "study.json"]),
        lambda c, f: c.add_webhook("https://x.test", ["job.failed"]),
    ],
)
@pytest.mark.parametrize("answer", [busy(Retry_After="1"), httpx2.ReadTimeout("slow")])
def test_what_would_be_done_twice_is_sent_once(ask: Callable[..., Any], answer: Any, folder: Path) -> None:
    seen: list[httpx2.Request] = []
    client, waited = faked([answer], seen)
    with pytest.raises(ServiceError):
        ask(client, folder)
    assert (len(seen), waited) == (1, [])


def test_a_request_for_a_report_may_come_twice() -> None:
    seen: list[httpx2.Request] = []
    client, _ = faked([httpx2.ReadTimeout("slow"), httpx2.Response(201, json=job("queued"))], seen)
    assert client.request_report("v").state == "queued"
    assert len(seen) == 2


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 500, 507])
def test_a_refusal_for_good_is_not_tried_again(status: int) -> None:
    seen: list[httpx2.Request] = []
    client, waited = faked([busy(status)], seen)
    with pytest.raises(ServiceError) as caught:
        client.study("s")
    assert (caught.value.status, caught.value.title, caught.value.request, waited) == (
        status,
        "Busy",
        "abc",
        [],
    )


def test_nobody_waits_for_hours_and_not_for_ever() -> None:
    client, waited = faked([busy(Retry_After="3600")], [])
    with pytest.raises(ServiceError) as caught:
        client.study("s")
    assert (caught.value.retry_after, waited) == (3600, [])
    client, waited = faked([busy() for _ in range(4)], [])
    with pytest.raises(ServiceError, match="Busy"):
        client.study("s")
    assert len(waited) == 3


def test_the_token_follows_no_redirect() -> None:
    seen: list[httpx2.Request] = []
    client, _ = faked([httpx2.Response(302, headers={"Location": "https://elsewhere.test"})], seen)
    with pytest.raises(ServiceError, match="302"):
        client.study("s")
    assert len(seen) == 1


def test_a_refusal_is_in_the_words_of_the_service(app: FastAPI, anna: Browser) -> None:
    client = anna.robot()
    with pytest.raises(
        ServiceError, match=r"Not as expected \(422\): 1 parts cannot be taken. body.name: "
    ) as caught:
        client.create_study("")
    assert caught.value.fields[0][0] == "body.name"
    with pytest.raises(ServiceError, match="'manage'"):
        client.verify_audit_log()
    with pytest.raises(ServiceError, match=r"^Bad Gateway \(502\)$"):
        faked([httpx2.Response(502, text="<html>") for _ in range(4)], [])[0].study("s")


def test_a_program_says_that_a_device_continues_another(light: Core, anna: Browser) -> None:
    old, new = (world(light, anna, name)["device"] for name in ("Old", "New"))
    client = anna.robot()
    with pytest.raises(ServiceError, match="of the same name: I-1"):
        client.continue_device(new, old)
    with light.store.write() as rows:
        rows.query(VigilanceEntry).filter_by(device=new).one().name = "I-2"
    assert client.continue_device(new, old).id == old
    assert {entry.name for entry in client.incidents(old)} == {"I-1", "I-2"}


def job(state: str, **more: Any) -> dict[str, Any]:
    names = {"id": "j", "study": "s", "version": "v", "created_by": "u", "created_at": STUDY["created_at"]}
    absent = dict.fromkeys(("report", "started_at", "finished_at", "place", "expected_at"))
    done = {"step": "", "progress": 0.5, "reason": "", "attempts": 1}
    return {"task": "report", "wishes": {}, "code": "1", "state": state, **names, **absent, **done, **more}


def test_waiting_asks_as_often_as_the_service_says_and_shows_progress() -> None:
    running = httpx2.Response(200, json=job("running"), headers={"Retry-After": "3"})
    answers = [
        running,
        httpx2.Response(200, json=job("queued")),
        httpx2.Response(200, json=job("failed", reason="Why")),
    ]
    client, waited = faked(answers, [])
    states: list[str] = []
    with pytest.raises(ServiceError, match="The job is failed: Why"):
        client.wait_for_report("j", on_progress=lambda job: states.append(job.state))
    assert (waited, states) == ([3, 1], ["running", "queued", "failed"])
    client, waited = faked([running], [])
    with pytest.raises(TimeoutError, match="after 2 seconds"):
        client.wait_for_report("j", timeout=2)
    assert waited == []


def test_the_service_says_when_to_ask_again(anna: Browser) -> None:
    version = anna.version(anna.study())
    assert anna.get(f"{API}/versions/{version}").headers["Retry-After"] == "1"
    (check,) = anna.get(f"{API}/jobs").json()["items"]
    assert anna.get(f"{API}/jobs/{check['id']}").headers["Retry-After"] == "1"
    anna.post(f"{API}/jobs/{check['id']}/cancel")
    assert "Retry-After" not in anna.get(f"{API}/jobs/{check['id']}").headers


def test_lists_ask_for_a_page_when_it_is_wanted() -> None:
    seen: list[httpx2.Request] = []
    pages = [{"items": [{**STUDY, "id": str(i)}], "next": next_} for i, next_ in enumerate(("a", "b", None))]
    client, _ = faked([httpx2.Response(200, json=page) for page in pages], seen)
    studies = client.studies()
    assert next(studies).id == "0"
    assert len(seen) == 1
    assert [study.id for study in studies] == ["1", "2"]
    assert [request.url.params.get("after") for request in seen] == [None, "a", "b"]


@pytest.mark.parametrize(
    "name, content, message",
    [("a.json", b"other", "SHA-256"), ("../a.json", b"x", "leads out"), ("b.json", b"x", "there is a.json")],
)
def test_a_file_that_is_not_what_was_made_is_not_kept(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    listed = name if name != "b.json" else "a.json"
    files = {"items": [{"name": listed, "sha256": "0" * 64, "size": 1}], "next": None}
    client, _ = faked([httpx2.Response(200, json=files), httpx2.Response(200, content=content)], [])
    with pytest.raises(ServiceError, match=message):
        client.download("r", tmp_path / "out", [name])
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


def test_a_folder_is_packed_without_what_is_hidden(tmp_path: Path) -> None:
    for name in ("study.yaml", "tables/a.csv", ".DS_Store", ".git/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link.csv").symlink_to("/etc/passwd")
    out = [io.BytesIO(), io.BytesIO()]
    assert [pack(tmp_path, o) for o in out] == [2, 2]
    assert out[0].getvalue() == out[1].getvalue()
    assert zipfile.ZipFile(out[0]).namelist() == ["study.yaml", "tables/a.csv"]
    with pytest.raises(FileNotFoundError, match=r"study\.yaml"):
        pack(tmp_path / ".git" / "none", io.BytesIO())


def test_the_client_needs_nothing_of_the_service_and_the_package_nothing_of_the_client() -> None:
    heavy = ("fastapi", "sqlalchemy", "pandas", "scipy", "matplotlib")
    script = (
        "import sys, trustreport; first = 'httpx2' in sys.modules; import trustreport.service.client;"
        f"print(first, [name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False []"


def test_without_its_extra_the_client_says_what_to_install() -> None:
    script = "import sys; sys.modules['httpx2'] = None; import trustreport.service.client"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr.strip().endswith("The client needs httpx2: pip install 'trustreport[client]'")
