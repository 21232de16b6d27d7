"""Webhooks: events are sent at least once, signed, for a day, and to no private address."""

import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from fastapi import FastAPI
from mailbox_server import certificate
from receivers import LOOPBACK, Receiver, receiving
from services import API, Client, at_once, new_core, only, stored, world

from trustreport.service import audit, events
from trustreport.service.app import create_app
from trustreport.service.client import BadSignature, verify_webhook
from trustreport.service.client.records import EventName
from trustreport.service.client.webhooks import sign
from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.jobs.store_results import store_report
from trustreport.service.jobs.tasks import report_facts
from trustreport.service.jobs.worker import Worker
from trustreport.service.settings import Settings, Unsuitable, from_environment
from trustreport.service.storage.collaboration import Delivery, Webhook
from trustreport.service.storage.models import Audit, Job
from trustreport.service.webhook import sending
from trustreport.service.webhook.sending import NotAllowed, is_allowed, parse, post

HOUR = 3_600_000


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def local(tmp_path: Path, address: str) -> Iterator[Core]:
    """A core on either database, whose operator allows webhooks to this machine."""
    core = new_core(tmp_path / "local", database=address, webhook_networks=LOOPBACK)
    yield core
    core.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The time of the outbox, moved by the test."""
    time = [1_760_000_000_000]
    monkeypatch.setattr(sending, "now", lambda rows: time[0])
    monkeypatch.setattr(events, "now", lambda rows: time[0])
    return time


def hook(client: Client, url: str, *wanted: str) -> tuple[str, str]:
    """The name and secret of a new webhook."""
    made = client.post(f"{API}/webhooks", json={"url": url, "events": wanted or ["study.remove"]})
    assert made.status_code == 201, made.text
    return made.json()["webhook"]["id"], made.json()["secret"]


def delivered(client: Client, webhook: str) -> list[dict[str, Any]]:
    return list(client.get(f"{API}/webhooks/{webhook}/deliveries").json()["items"])


def actions(core: Core, subject: str) -> list[str]:
    with core.store.read() as rows:
        return [e.action for e in rows.query(Audit).filter_by(subject=subject).order_by(Audit.number)]


def test_an_event_arrives_signed_and_a_receiver_verifies_it(local: Core, receiver: Receiver) -> None:
    anna = Client.set_up(create_app(local), local)
    bob = anna.found("Other hospital", "bob@other.test")
    name, secret = hook(anna, receiver.url)
    hook(bob, receiver.url)
    study = anna.study("Patient Marple")
    assert delivered(anna, name) == []  # no event that it wants
    anna.delete(f"{API}/studies/{study}")
    assert sending.send_next(local)
    assert not sending.send_next(local)  # sent once, and to nobody else
    ((path, headers, body),) = receiver.came
    event = verify_webhook(body, headers, secret)
    assert (path, event.event, event.subject) == ("/hook?x=1", "study.remove", study)
    assert b"Marple" not in body
    (sent,) = delivered(anna, name)
    assert (sent["id"], sent["state"], sent["attempts"], sent["body"]) == (
        event.id,
        "sent",
        1,
        json.loads(body),
    )
    (entry,) = anna.get(f"{API}/audit", params={"subject": study, "limit": 1}).json()["items"]
    assert (event.log_number, event.log_hash) == (entry["number"], entry["hash"])
    with pytest.raises(BadSignature, match="not that of this body"):
        verify_webhook(body + b" ", headers, secret)
    with pytest.raises(BadSignature, match="not that of this body"):
        verify_webhook(body, headers, hook(anna, receiver.url)[1])
    late = int(headers["webhook-timestamp"]) + 301
    for at in (late, late - 602):
        with pytest.raises(BadSignature, match="seconds old"):
            verify_webhook(body, headers, secret, at=at)


def test_a_worker_sends_what_comes(light: Core, receiver: Receiver) -> None:
    core = new_core(light.settings.data, webhook_networks=LOOPBACK)
    anna = Client.set_up(create_app(core), core)
    name, _ = hook(anna, receiver.url)
    anna.post(f"{API}/webhooks/{name}/test")
    with Worker(core):
        assert receiver.arrived.wait(30)
    assert receiver.came[0][1]["webhook-id"] == delivered(anna, name)[0]["id"]
    core.close()


def test_signatures_are_those_of_the_specification() -> None:
    """standardwebhooks.com: the example of its reference libraries."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    body = b'{"test": 2432232314}'
    made = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body)
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    with pytest.raises(ValueError, match="whsec_"):
        sign("no secret!", "x", 1, body)


def test_what_is_rolled_back_is_never_sent(light: Core, anna: Client) -> None:
    name, _ = hook(anna, "https://receiver.test/", "job.failed")
    with suppress(ZeroDivisionError), light.store.write() as rows:
        audit.write(rows, anna.me["organisation"], "queue", "job.failed", "j")
        assert rows.query(Delivery).count() == 1
        raise ZeroDivisionError
    assert delivered(anna, name) == []


def test_waits_grow_for_a_day_then_it_is_given_up_and_can_be_sent_again(
    light: Core, anna: Client, clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "_send", lambda *given: "answered 500")
    name, _ = hook(anna, "https://receiver.test/")
    anna.delete(f"{API}/studies/{anna.study()}")
    start, tried = clock[0], []
    while delivered(anna, name)[0]["state"] == "waiting":
        assert sending.send_next(light)
        assert not sending.send_next(light)
        tried.append(clock[0] - start)
        clock[0] = max(only(light, Delivery).next_at, clock[0])
        assert len(tried) < 40
    waits = [after - before for before, after in pairwise(tried)]
    assert all(sending.JITTER[0] <= w / (30_000 * 2**i) <= sending.JITTER[1] for i, w in enumerate(waits[:9]))
    assert len({w / (30_000 * 2**i) for i, w in enumerate(waits[:9])}) > 1  # they are not in step
    assert max(waits) <= 5 * HOUR
    late = tried[-1] - 24 * HOUR  # when the attempt before lay less than the first wait before the end
    assert 0 <= late < sending.FIRST_WAIT
    (failed,) = delivered(anna, name)
    assert (failed["state"], failed["reason"], failed["next_at"]) == ("failed", "answered 500", None)
    assert actions(light, name)[-1] == "webhook.failed"
    monkeypatch.setattr(sending, "_send", lambda *given: "")
    path = f"{API}/webhooks/{name}/deliveries/{failed['id']}/again"
    assert anna.post(path).json()["state"] == "waiting"
    assert sending.send_next(light)
    assert [(d["id"], d["state"]) for d in delivered(anna, name)] == [(failed["id"], "sent")]
    assert actions(light, name)[-1] == "webhook.again"


def test_a_worker_that_dies_while_it_sends_loses_nothing(
    local: Core, clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    anna = Client.set_up(create_app(local), local)
    name, _ = hook(anna, "https://receiver.test/")
    anna.delete(f"{API}/studies/{anna.study()}")
    with local.store.write() as rows:
        claimed = sending.claim(rows)
        assert sending.claim(rows) is None
    assert claimed
    assert not sending.send_next(local)  # another worker waits until the first one is surely gone
    clock[0] += 60_000
    monkeypatch.setattr(sending, "_send", lambda *given: "")
    assert sending.send_next(local)
    (sent,) = delivered(anna, name)
    assert (sent["id"], sent["attempts"], sent["state"]) == (claimed[1].id, 2, "sent")


def test_addresses_take_turns_and_one_that_is_down_holds_up_itself_alone(
    light: Core, anna: Client, clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    came: list[str] = []

    def send(core: Core, webhook: Webhook, row: Delivery) -> str:
        came.append(webhook.url[8])
        clock[0] += 1
        return "answered 500" if webhook.url == "https://c.test/" else ""

    monkeypatch.setattr(sending, "_send", send)
    for host in "abc":
        hook(anna, f"https://{host}.test/")
    for _ in range(3):
        anna.delete(f"{API}/studies/{anna.study()}")
    while sending.send_next(light):
        pass
    assert sorted(came[:3]) == ["a", "b", "c"]
    assert came.count("c") == 1  # the other two wait with the first
    assert (came.count("a"), came.count("b")) == (3, 3)
    clock[0] += 60_000
    monkeypatch.setattr(sending, "_send", lambda *given: "")
    assert [sending.send_next(light) for _ in range(4)] == [True, True, True, False]


def test_one_event_that_is_always_refused_does_not_stop_the_others(
    light: Core, anna: Client, clock: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    studies = [anna.study() for _ in range(3)]
    name, _ = hook(anna, "https://receiver.test/")
    for study in studies:
        anna.delete(f"{API}/studies/{study}")
    monkeypatch.setattr(
        sending, "_send", lambda c, w, row: "answered 400" if row.details["subject"] == studies[0] else ""
    )
    while sending.send_next(light):
        pass
    clock[0] += 60_000
    while sending.send_next(light):
        pass
    assert [d["state"] for d in delivered(anna, name)] == ["sent", "sent", "waiting"]


def test_webhooks_are_for_administrators_and_the_secret_is_kept_nowhere(
    light: Core, app: FastAPI, anna: Client
) -> None:
    author = anna.invite("author@hospital.test", "author", "approver")
    wanted = {"url": "https://receiver.test/x", "events": ["report.made"]}
    assert author.post(f"{API}/webhooks", json=wanted).status_code == 403
    for wrong in (
        {"url": "http://receiver.test"},
        {"url": "https://10.0.0.1"},
        {"events": ["login"]},
        {"events": []},
    ):
        answer = anna.post(f"{API}/webhooks", json={**wanted, **wrong})
        assert (answer.status_code, len(answer.json()["fields"])) == (422, 1), answer.text
    name, secret = hook(anna, wanted["url"], "report.made")
    assert secret not in anna.get(f"{API}/webhooks/{name}").text
    kept = b"".join(file.read_bytes() for file in light.settings.data.glob("trustreport.db*"))
    assert wanted["url"].encode() in kept
    assert secret.removeprefix("whsec_").encode() not in kept
    assert sending.secret_of(light, name) == secret  # of the service's key, so that it is the same again
    assert anna.patch(f"{API}/webhooks/{name}", json={"paused": True}).json()["paused_at"]
    assert anna.post(f"{API}/webhooks/{name}/test").status_code == 409
    assert anna.delete(f"{API}/webhooks/{name}").status_code == 204
    assert actions(light, name) == ["webhook.add", "webhook.change", "webhook.remove"]
    assert anna.get(f"{API}/audit/verification").json()["faults"] == []
    for _ in range(20):
        hook(anna, wanted["url"])
    assert anna.post(f"{API}/webhooks", json=wanted).status_code == 409


def test_while_paused_nothing_is_noted_or_sent(light: Core, anna: Client, clock: list[int]) -> None:
    name, _ = hook(anna, "https://receiver.test/")
    anna.delete(f"{API}/studies/{anna.study()}")
    anna.patch(f"{API}/webhooks/{name}", json={"paused": True})
    anna.delete(f"{API}/studies/{anna.study()}")
    assert not sending.send_next(light)
    assert len(delivered(anna, name)) == 1


def test_a_delivery_of_another_webhook_is_absent(light: Core, anna: Client) -> None:
    first, _ = hook(anna, "https://receiver.test/")
    second, _ = hook(anna, "https://receiver.test/")
    row = anna.post(f"{API}/webhooks/{first}/test").json()["id"]
    assert anna.post(f"{API}/webhooks/{second}/deliveries/{row}/again").status_code == 404


def test_an_alert_of_a_chart_is_an_event(light: Core, anna: Client) -> None:
    entry = {"id": "vigilance.cusum", "primary": False, "scope": {}}
    answer = {"question": "", "sentence": "", "support": []}
    document = {"checks": [], "answer": answer, "verdicts": [], "unanswered": []}
    charts = [{**entry, "details": {"alerts": 2.0}}, {**entry, "details": {"alerts": 0.0}}, entry]
    facts = report_facts({**document, "results": charts}) | {"kind": "vigilance"}
    assert facts["alerts"] == 1
    name, _ = hook(anna, "https://receiver.test/", "report.alert")
    job = world(light, anna)["job"]
    with light.store.write() as rows:
        row = rows.get_one(Job, job)
        copy = {c.key: getattr(row, c.key) for c in Job.__table__.columns} | {"id": "j" * 26, "key": "k"}
        rows.add(made := Job(**copy))
        rows.flush()
        store_report(
            rows, made, {"facts": facts, "device": None, "lacking": ""}, {"results.json": ("0" * 64, 1)}
        )
    (sent,) = delivered(anna, name)
    assert (sent["event"], sent["body"]["details"]) == ("report.alert", {"charts": 1})


def test_old_deliveries_go_and_waiting_ones_stay(light: Core, anna: Client, clock: list[int]) -> None:
    name, _ = hook(anna, "https://receiver.test/")
    for _ in range(2):
        anna.delete(f"{API}/studies/{anna.study()}")
    with light.store.write() as rows:
        sending.end(rows, delivered(anna, name)[0]["id"])
    clock[0] += 31 * 24 * HOUR
    schedules.run_daily(light)
    assert [d["state"] for d in delivered(anna, name)] == ["waiting"]


def test_every_event_is_described_once() -> None:
    assert set(get_args(EventName)) == set(events.EVENTS)


def test_events_come_while_webhooks_come_and_go(local: Core) -> None:
    """No transaction waits for another that waits for it, and no delivery is left without its webhook."""
    anna = Client.set_up(create_app(local), local)
    stays, _ = hook(anna, "https://receiver.test/", "job.failed")
    statuses: list[int] = []

    def happen() -> None:
        for i in range(12):
            with local.store.write() as rows:
                audit.write(rows, anna.me["organisation"], "queue", "job.failed", f"j{i}")

    def change() -> None:
        browser = Client.logged_in(anna.app, "anna@hospital.test")
        for _ in range(4):
            name, _ = hook(browser, "https://receiver.test/", "job.failed")
            statuses.append(browser.delete(f"{API}/webhooks/{name}").status_code)

    at_once(happen, change, happen, change)
    assert statuses == [204] * 8
    assert {row.webhook for row in stored(local, Delivery)} == {stays}
    assert len(stored(local, Delivery)) == len(stored(local, Audit, action="job.failed")) == 24


def test_two_workers_never_take_the_same_delivery(local: Core) -> None:
    anna = Client.set_up(create_app(local), local)
    for _ in range(2):
        hook(anna, "https://receiver.test/", "job.failed")
    with local.store.write() as rows:
        for i in range(6):
            audit.write(rows, anna.me["organisation"], "queue", "job.failed", f"j{i}")
    taken: list[str] = []

    def take() -> None:
        while True:
            with local.store.write() as rows:
                claimed = sending.claim(rows)
            if claimed is None:
                return
            taken.append(claimed[1].id)

    at_once(take, take, take)
    assert len(taken) == len(set(taken)) == 12


LOCAL = Settings(Path(), webhook_networks=LOOPBACK).allowed_networks
PRIVATE = """
    127.0.0.1 10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255
    240.0.0.1 192.0.2.1 ::1 :: fe80::1 fc00::1 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1
    2002:7f00:1:: 64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 2001:db8::1 ::127.0.0.1
""".split()
NOT_HTTPS = """
    https://127.1/ https://0x7f.1/ https://2130706433/ https://017700000001/ https://[::1%25lo]/
    http://receiver.test/ https://u:p@receiver.test/ https://receiver.test/#x ftp://receiver.test/ https:///
    https://[x/ file:///etc https://receiver.test:99999/ https://ü.test/ http://localhost/ http://127.0.0.1/
    https://localhost/ https://localhost:8443/ https://a.localhost/
""".split()


@pytest.mark.parametrize("number", PRIVATE)
def test_an_address_that_is_not_public_is_refused_in_every_spelling(number: str) -> None:
    address = ipaddress.ip_address(number)
    assert not is_allowed(address, ())
    host = f"[{number}]" if ":" in number else number
    with pytest.raises(NotAllowed, match="private network"):
        parse(f"https://{host}/", ())


@pytest.mark.parametrize("url", NOT_HTTPS)
def test_an_address_that_is_no_public_https_is_refused(url: str) -> None:
    with pytest.raises(NotAllowed):
        parse(url, ())


def test_what_is_public_or_allowed_is_taken() -> None:
    assert parse("https://receiver.test:8443/a?b=c", ()).port == 8443
    assert is_allowed(ipaddress.ip_address("93.184.216.34"), ())
    assert is_allowed(ipaddress.ip_address("2606:2800:220:1::1"), ())
    assert is_allowed(ipaddress.ip_address("64:ff9b::5db8:d822"), ())  # of a public IPv4 address
    assert is_allowed(ipaddress.ip_address("::ffff:127.0.0.1"), LOCAL)
    for url in ("http://localhost:8080/", "http://127.0.0.1/", "http://[::1]/", "https://127.0.0.1/", "https://localhost/"):
        assert parse(url, LOCAL)
    ward = Settings(Path(), webhook_networks="10.1.0.0/16").allowed_networks
    assert parse("https://10.1.2.3/", ward)
    for url in ("http://10.1.2.3/", "https://10.2.2.3/", "http://127.0.0.1/"):  # http: to loopback alone
        with pytest.raises(NotAllowed):
            parse(url, ward)
    with pytest.raises(Unsuitable, match=r"WEBHOOK_NETWORKS='10\.1'"):
        from_environment(Path(), {"TRUSTREPORT_WEBHOOK_NETWORKS": "10.1"})


@pytest.mark.parametrize("found", [["10.0.0.1"], ["93.184.216.34", "127.0.0.1"], ["::ffff:169.254.169.254"]])
def test_a_name_that_leads_to_a_private_address_is_not_connected_to(
    monkeypatch: pytest.MonkeyPatch, found: list[str]
) -> None:
    asked = [(0, 0, 0, "", (address, 443)) for address in found]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *given, **more: asked)
    monkeypatch.setattr(socket, "create_connection", lambda *given: pytest.fail("connected"))
    with pytest.raises(NotAllowed, match="private network"):
        post("https://receiver.test/", b"{}", {}, ())


def test_the_connection_goes_to_the_address_that_was_looked_at(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that leads elsewhere the second time it is asked for (DNS rebinding) gains nothing."""
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    asked: list[str] = []

    def look_up(host: str, port: int, **more: Any) -> list[Any]:
        asked.append(host)
        return [(0, 0, 0, "", (answers[len(asked) - 1][0], port))]

    def connect(address: tuple[str, int], *given: Any) -> socket.socket:
        asked.append(address[0])
        raise TimeoutError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(TimeoutError):
        post("https://receiver.test/", b"{}", {}, ())
    assert asked == ["receiver.test", "93.184.216.34"]


def test_redirects_are_not_followed_and_only_the_status_is_used(light: Core, receiver: Receiver) -> None:
    with receiving() as inner:
        receiver.status, receiver.headers = 302, {"Location": inner.url}
        assert post(receiver.url, b"{}", {}, LOCAL) == 302
        assert inner.came == []
    receiver.status, receiver.headers = 500, {"Content-Length": "9" * 12}
    receiver.body = b"secret of the ward"
    assert post(receiver.url, b"{}", {}, LOCAL) == 500  # without waiting for the body
    row = Delivery(id="d", webhook="w", kind="webhook.test", details={})
    core = new_core(light.settings.data, webhook_networks=LOOPBACK)
    assert sending._send(core, Webhook(id="w", url=receiver.url), row) == "answered 500"
    receiver.status, receiver.headers = 301, {"Location": "/"}
    assert "not followed" in sending._send(core, Webhook(id="w", url=receiver.url), row)
    core.close()


def test_who_answers_byte_by_byte_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "WHOLE_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        stop = threading.Event()

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                while not stop.is_set():
                    try:
                        connection.send(b"H")
                    except OSError:
                        return
                    stop.wait(0.05)

        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(TimeoutError) as caught:
            post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {}, LOCAL)
        assert sending.reason_of(caught.value) == "no answer in time"
        stop.set()
        thread.join()


def test_certificates_are_verified_for_the_name_of_the_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "certificate.pem"
    certificate(file, "localhost")
    own, trusting = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.create_default_context(cafile=str(file))
    own.load_cert_chain(file)
    with receiving(own) as receiver:
        url = f"https://localhost:{receiver.port}/"
        with pytest.raises(ssl.SSLCertVerificationError) as caught:
            post(url, b"{}", {}, LOCAL)
        assert sending.reason_of(caught.value).startswith("the certificate is not valid")
        monkeypatch.setattr(ssl, "create_default_context", lambda: trusting)
        assert post(url, b"{}", {}, LOCAL) == 204
        with pytest.raises(ssl.SSLCertVerificationError):  # the same server under another name
            post(f"https://127.0.0.1:{receiver.port}/", b"{}", {}, LOCAL)
        assert receiver.came[0][1]["Host"] == f"localhost:{receiver.port}"
