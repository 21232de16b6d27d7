"""Mail: sent at least once, whatever goes wrong; no secret but links, and no word of who has an account."""

import dataclasses
import re
import ssl
import threading
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from fastapi import FastAPI
from mailbox_server import Inbox, certificate, is_known
from pages import HTML, get, post
from running import free_port
from services import API, PASSWORD, Client, at_once, new_core, only, stored, world

from trustreport.service import mail as delivery
from trustreport.service.access import accounts
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import schedules, worker_thread
from trustreport.service.jobs.worker import send_until
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.limited import ChildOutcome
from trustreport.service.settings import Settings, Unsuitable
from trustreport.service.storage.collaboration import Mail
from trustreport.service.storage.models import Audit, Job, Link, Schedule, User
from trustreport.service.storage.wakeups import Wakeups

URL = "https://reports.hospital.test"
NEW = "another horse battery"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Inbox, int, Path]]:
    """A mail server on this machine that wants TLS and a password; its certificate."""
    file = tmp_path_factory.mktemp("mail") / "certificate.pem"
    certificate(file)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    inbox, port = Inbox(), free_port()
    controller = Controller(
        inbox,
        hostname="127.0.0.1",
        port=port,
        tls_context=context,
        require_starttls=True,
        authenticator=is_known,
        auth_required=True,
    )
    controller.start()
    yield inbox, port, file
    controller.stop()


@pytest.fixture
def inbox(server: tuple[Inbox, int, Path], monkeypatch: pytest.MonkeyPatch) -> Inbox:
    monkeypatch.setenv("SSL_CERT_FILE", str(server[2]))
    server[0].messages.clear()
    server[0].refusal = ""
    return server[0]


@pytest.fixture
def post_office(tmp_path: Path, server: tuple[Inbox, int, Path], inbox: Inbox) -> Iterator[Core]:
    """A service that sends mail."""
    core = new_core(
        tmp_path / "data",
        smtp_host="127.0.0.1",
        smtp_port=server[1],
        smtp_user="trustreport",
        smtp_password="secret",
        mail_from="reports@hospital.test",
        public_url=URL,
    )
    yield core
    core.close()


@pytest.fixture
def app(post_office: Core) -> FastAPI:
    return create_app(post_office)


@pytest.fixture
def anna(app: FastAPI, post_office: Core) -> Client:
    return Client.set_up(app, post_office)


def send_all(core: Core) -> None:
    while delivery.send_next(core):
        pass


def link_in(message: EmailMessage) -> str:
    (link,) = re.findall(rf"{re.escape(URL)}/invitation#([\w-]+)", message.get_content())
    return str(link)


def come_in(app: FastAPI, message: EmailMessage, password: str = PASSWORD) -> Client:
    client = Client.on(app)
    given = {"link": link_in(message), "password": password}
    client._came_in(client.post(f"{API}/invitations", json=given))
    return client


def invite(anna: Client, email: str, *roles: str) -> dict[str, Any]:
    made = anna.post(f"{API}/users", json={"email": email, "name": email.split("@")[0], "roles": roles})
    assert made.status_code == 201, made.text
    return dict(made.json())


def later(core: Core) -> None:
    """All waiting messages are due now."""
    with core.store.write() as rows:
        rows.query(Mail).update({Mail.next_at: 0})


def test_an_invitation_goes_to_its_user_and_to_nobody_else(
    post_office: Core, app: FastAPI, anna: Client, inbox: Inbox
) -> None:
    made = invite(anna, "carl@hospital.test", "approver")
    assert made["invitation"] is None
    page = post(anna, "/admin/users", "/admin/users", name="Dora", email="d@h.test", role="viewer")
    assert "on its way by e-mail" in page.text
    assert "invitation?link" not in page.text
    assert len(stored(post_office, Link, purpose="invitation")) == 0  # made when it is sent
    assert all("link" not in str(mail.details) for mail in stored(post_office, Mail))
    send_all(post_office)
    (message,) = inbox.sent_to("carl@hospital.test")
    assert (message["From"], message["Auto-Submitted"]) == (
        "trustreport <reports@hospital.test>",
        "auto-generated",
    )
    assert message.get_content_type() == "text/plain"
    carl = come_in(app, message)
    user = only(post_office, User, id=carl.me["user"])
    assert (user.link_by, user.link_shown) == (anna.me["user"], False)
    sent = only(post_office, Audit, action="mail.sent", subject=carl.me["user"])
    assert sent.details["kind"] == "invitation"


def test_a_reset_by_mail_leaves_the_four_eyes(
    post_office: Core, app: FastAPI, anna: Client, inbox: Inbox
) -> None:
    invite(anna, "carl@hospital.test", "approver")
    send_all(post_office)
    carl = come_in(app, inbox.messages.pop())
    report = world(post_office, anna)["report"]
    asked = post(Client.on(app), "/forgotten", "/forgotten", email="CARL@hospital.test")
    assert "If there is an account" in asked.text
    send_all(post_office)
    (message,) = inbox.messages
    impostor = come_in(app, message, NEW)  # whoever reads the mailbox
    refused = impostor.signs(report, "approval", password=NEW)
    assert (refused.status_code, refused.json()["title"]) == (403, "Not confirmed")
    assert carl.get(f"{API}/session").status_code == 401
    user = only(post_office, User, id=carl.me["user"])
    assert (user.link_by, user.reset, user.confirmed_by) == ("mail", True, None)


def test_a_reset_does_not_show_who_has_an_account(
    post_office: Core, app: FastAPI, anna: Client, inbox: Inbox
) -> None:
    """The request does the same for every address; who it belongs to is looked up by the worker."""
    answers = []
    for email in ("anna@hospital.test", "nobody@hospital.test"):
        answer = Client.on(app).post(f"{API}/resets", json={"email": email})
        answers.append((answer.status_code, answer.text))
        page = post(Client.on(app), "/forgotten", "/forgotten", email=email)
        answers.append((page.status_code, re.sub(r'value="[^"]*"', "", page.text)))
    assert answers[0::2] == [answers[0]] * 2
    assert answers[1::2] == [answers[1]] * 2
    waiting = stored(post_office, Mail)
    assert len({(m.organisation, m.user, m.kind, str(m.details)) for m in waiting}) == 1
    assert len(waiting) == 4
    send_all(post_office)
    assert len(inbox.sent_to("anna@hospital.test")) == 1  # once in ten minutes
    assert inbox.sent_to("nobody") == []
    assert len(stored(post_office, Mail)) == 1


def test_resets_of_one_address_are_limited(app: FastAPI, anna: Client) -> None:
    asked = [Client.on(app).post(f"{API}/resets", json={"email": "x@y.test"}).status_code for _ in range(11)]
    assert asked == [202] * 10 + [429]


def test_without_a_mail_server_links_are_shown_as_ever(light: Core) -> None:
    app = create_app(light)
    anna = Client.set_up(app, light)
    assert anna.invite("carl@hospital.test", "viewer").me["email"] == "carl@hospital.test"
    assert anna.post(f"{API}/resets", json={"email": "carl@hospital.test"}).status_code == 404
    assert "sends no e-mail" in get(Client.on(app), "/forgotten").words
    assert "/forgotten" not in get(Client.on(app), "/sign-in").links
    assert len(stored(light, Mail)) == 0


def test_what_is_written_and_what_causes_it_are_one(post_office: Core, anna: Client) -> None:
    """A transaction that is not kept leaves no message."""
    with post_office.store.write() as rows:
        assert delivery.queue_mail(rows, post_office.settings, "report_ready", anna.me["user"], report="r")
        rows.rollback()
    assert len(stored(post_office, Mail)) == 0


def test_a_worker_that_is_killed_loses_nothing(
    post_office: Core, anna: Client, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed before it sends, or before it notes that it did: it is sent again, with the same name."""
    invite(anna, "carl@hospital.test", "viewer")
    end = delivery.end

    class Killed(BaseException):
        pass

    def killed(*given: Any, **more: Any) -> None:
        raise Killed

    send = delivery._send
    monkeypatch.setattr(delivery, "_send", killed)
    with pytest.raises(Killed):
        delivery.send_next(post_office)
    assert not delivery.send_next(post_office)  # not at once
    later(post_office)
    monkeypatch.setattr(delivery, "_send", send)
    monkeypatch.setattr(delivery, "end", killed)
    with pytest.raises(Killed):
        delivery.send_next(post_office)
    monkeypatch.setattr(delivery, "end", end)
    later(post_office)
    send_all(post_office)
    first, second = inbox.messages
    assert first["Message-ID"] == second["Message-ID"]
    refused = anna.post(f"{API}/invitations", json={"link": link_in(first), "password": PASSWORD})
    assert refused.status_code == 403  # the link of the newer one works
    come_in(anna.app, second)
    assert not delivery.send_next(post_office)


@pytest.mark.parametrize(
    "refusal, tries", [("451 Try later", delivery.MOST_ATTEMPTS), ("550 No such mailbox", 1)]
)
def test_what_is_refused_is_tried_again_unless_for_good(
    post_office: Core, anna: Client, inbox: Inbox, refusal: str, tries: int
) -> None:
    invite(anna, "carl@hospital.test", "viewer")
    inbox.refusal = refusal
    waits = []
    for _ in range(20):
        before = only(post_office, Mail).next_at
        if not delivery.send_next(post_office):
            break
        with post_office.store.write() as rows:
            mail = rows.query(Mail).one()
            waits.append(mail.next_at - max(before, mail.created_at))
            mail.next_at = before
    mail = only(post_office, Mail)
    assert (mail.attempts, mail.sent_at, mail.failed_at is not None) == (tries, None, True)
    failed = only(post_office, Audit, action="mail.failed")
    assert failed.details["reason"] == f"SMTPRecipientsRefused {refusal[:3]}"
    assert "carl" not in str(failed.details)
    assert waits == sorted(waits)
    assert waits[-1] < 7 * 3_600_000


def test_nothing_is_sent_to_a_server_that_is_not_who_it_says(
    post_office: Core, anna: Client, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    invite(anna, "carl@hospital.test", "viewer")
    send_all(post_office)
    assert inbox.messages == []
    mail = only(post_office, Mail)
    assert (mail.reason, mail.failed_at) == ("SSLCertVerificationError", None)


def test_who_asked_hears_that_a_report_is_ready_or_failed(
    post_office: Core, anna: Client, inbox: Inbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcomes = [
        ChildOutcome("answer", answer={"facts": {"kind": "certification"}, "device": None, "lacking": ""}),
        ChildOutcome("failed", reason="It is broken."),
    ]

    def run(task: Any, work: Path, *given: Any, **more: Any) -> ChildOutcome:
        (work / "out").mkdir()
        (work / "out" / "results.json").write_text("{}")
        return outcomes.pop(0)

    monkeypatch.setattr(worker_thread, "run", run)
    names = world(post_office, anna, "Secret study")
    invite(anna, "carl@hospital.test", "author")
    send_all(post_office)
    carl = come_in(anna.app, inbox.messages.pop())
    wanted = f"{API}/versions/{names['version']}/jobs"
    for client in (anna, carl):
        job = client.post(wanted, json={"formats": ["json"]}).json()["id"]
    worker = WorkerThread(post_office, "worker")
    assert worker.once("report")
    send_all(post_office)
    report = anna.get(f"{API}/jobs/{job}").json()["report"]
    written = sorted(m["To"].addresses[0].addr_spec for m in inbox.messages)
    assert written == ["anna@hospital.test", "carl@hospital.test"]
    for message in inbox.messages:
        assert f"{URL}/reports/{report}" in message.get_content()
        assert "Secret study" not in message.as_string()
    inbox.messages.clear()
    failed = anna.post(wanted, json={"formats": ["csv"]}).json()["id"]
    assert worker.once("report")
    send_all(post_office)
    (message,) = inbox.messages
    assert message["Subject"] == "Your report could not be made"
    assert f"{URL}/jobs/{failed}" in message.get_content()
    assert "broken" not in message.get_content()


def test_an_audit_that_is_due_is_announced(post_office: Core, anna: Client, inbox: Inbox) -> None:
    names = world(post_office, anna)
    with post_office.store.write() as rows:
        rows.query(Schedule).update({Schedule.next_at: 1})
    schedules.tend(post_office)
    send_all(post_office)
    (message,) = inbox.messages
    job = only(post_office, Job, state="queued").id
    assert message["Subject"] == "A periodic audit is due"
    assert f"{URL}/jobs/{job}" in message.get_content()
    with post_office.store.write() as rows:  # again, with nothing new
        rows.query(Schedule).update({Schedule.next_at: 1})
    schedules.tend(post_office)
    send_all(post_office)
    assert f"{URL}/studies/{names['study']}" in inbox.messages[-1].get_content()


def test_a_requested_review_is_announced(post_office: Core, anna: Client, inbox: Inbox) -> None:
    report = world(post_office, anna)["report"]
    made = invite(anna, "carl@hospital.test", "reviewer")
    send_all(post_office)
    inbox.messages.clear()
    asked = {"reviewer": made["user"]["id"], "due": "2027-02-01"}
    assert anna.post(f"{API}/reports/{report}/review-requests", json=asked).status_code == 201
    send_all(post_office)
    (message,) = inbox.messages
    assert [w in message.get_content() for w in ("2027-02-01", f"{URL}/reports/{report}")] == [True, True]


def test_a_closed_account_gets_no_mail(post_office: Core, anna: Client, inbox: Inbox) -> None:
    made = invite(anna, "carl@hospital.test", "viewer")
    anna.patch(f"{API}/users/{made['user']['id']}", json={"disabled": True})
    send_all(post_office)
    Client.on(anna.app).post(f"{API}/resets", json={"email": "carl@hospital.test"})
    send_all(post_office)
    assert inbox.messages == []
    assert only(post_office, Mail).reason == "the account is closed"


@pytest.mark.parametrize(
    "email", ["ä@hospital.test", "a..b@h.test", "x" * 64 + "@h.test", "a(b@h.test", "a\\@h.test"]
)
def test_no_address_stops_the_others(post_office: Core, anna: Client, inbox: Inbox, email: str) -> None:
    with post_office.store.write() as rows:
        organisation = anna.me["organisation"]
        odd = accounts.add_user(rows, organisation, "", email=email, name='Ö, "x" <y>', roles=["viewer"])
        delivery.queue_mail(rows, post_office.settings, "invitation", odd.id)
    invite(anna, "carl@hospital.test", "viewer")
    for _ in range(2):
        delivery.send_next(post_office)
    assert len(inbox.sent_to("carl@hospital.test")) == 1


def test_two_workers_never_take_the_same_message(core: Core) -> None:
    with core.store.write() as rows:
        user = accounts.set_up(rows, "Hospital", email="a@h.test", name="A", password=PASSWORD)
        settings = dataclasses.replace(core.settings, smtp_host="h", mail_from="a@h.test")
        for i in range(12):
            delivery.queue_mail(rows, settings, "report_ready", user.id, report=str(i))
        delivery.add_reset(rows, "nobody@h.test")
    taken: list[str] = []

    def take() -> None:
        while True:
            with core.store.write() as rows:
                mail = delivery.claim(rows)
            if mail is None:
                return
            taken.append(mail.id)

    at_once(*[take] * 3)
    assert len(taken) == len(set(taken)) == 12
    assert {mail.attempts for mail in stored(core, Mail)} == {1}


def test_the_thread_of_a_worker_sends(post_office: Core, anna: Client, inbox: Inbox) -> None:
    invite(anna, "carl@hospital.test", "viewer")
    stop = threading.Event()
    wakeups = Wakeups(post_office.store, stop, 0)
    thread = threading.Thread(target=send_until, args=(post_office, wakeups, stop))
    thread.start()
    for _ in range(200):
        if inbox.messages:
            break
        threading.Event().wait(0.02)
    stop.set()
    wakeups.ring()
    thread.join(10)
    assert len(inbox.messages) == 1


def test_settings_of_mail_that_cannot_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsuitable, match=r"SMTP_SECURITY='ssl'.*MAIL_FROM=''"):
        Settings(tmp_path, smtp_host="h", smtp_security="ssl")


def test_the_forgotten_page_is_bound_to_its_browser(app: FastAPI, anna: Client) -> None:
    answer = Client.on(app).post("/forgotten", data={"email": "x@y.test"}, headers=HTML)
    assert answer.status_code == 403
