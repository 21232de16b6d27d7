"""Webhooks: events are sent at least once, signed, for a day, and to nobody of another organisation."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from fastapi import FastAPI
from receivers import LOOPBACK, Receiver, receiving
from services import API, Client, new_core, world

from trustreport.service import audit, events
from trustreport.service.app import create_app
from trustreport.service.client import BadSignature, verify_webhook
from trustreport.service.client.webhooks import sign
from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.jobs.store_results import store_report
from trustreport.service.jobs.tasks import report_facts
from trustreport.service.jobs.worker import Worker
from trustreport.service.storage.collaboration import Delivery, Webhook
from trustreport.service.storage.models import Audit, Job
from trustreport.service.webhook import sending

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
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105
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
        1 / 0  # noqa: B018
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
        with light.store.read() as rows:
            clock[0] = max(rows.query(Delivery).one().next_at, clock[0])
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
    assert set(get_args(events.EventName)) == set(events.EVENTS)


def together(*acts: Callable[[], None]) -> None:
    """Do things at the same time."""
    threads = [threading.Thread(target=act) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


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
        browser = Client.logged_in(anna.app, "anna@hospital.test")  # type: ignore[arg-type]
        for _ in range(4):
            name, _ = hook(browser, "https://receiver.test/", "job.failed")
            statuses.append(browser.delete(f"{API}/webhooks/{name}").status_code)

    together(happen, change, happen, change)
    assert statuses == [204] * 8
    with local.store.read() as rows:
        assert {row.webhook for row in rows.query(Delivery)} == {stays}
        assert rows.query(Delivery).count() == rows.query(Audit).filter_by(action="job.failed").count() == 24


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

    together(take, take, take)
    assert len(taken) == len(set(taken)) == 12
