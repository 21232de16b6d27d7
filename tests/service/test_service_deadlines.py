"""Mail and webhooks for what waits for somebody: criteria to countersign, incidents to report."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pages import PLANNED, get
from services import API, Client, only, stored, world

from trustreport.service import mail
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import schedules
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.storage.collaboration import Delivery, Mail
from trustreport.service.storage.models import Audit
from trustreport.service.vigilance.deadlines import announce_deadlines

HOOK = {"url": "https://receiver.test/", "events": ["criteria.waiting", "incident.near", "incident.overdue"]}


@pytest.fixture
def posting(light: Core) -> Core:
    """The same service with a mail server; nothing is sent, since no worker runs."""
    return replace(light, settings=replace(light.settings, smtp_host="mail.test", mail_from="a@b.test"))


def sent(core: Core, kind: str) -> list[str | None]:
    return sorted(str(one.user) for one in stored(core, Mail) if one.kind == kind)


def in_days(days: int) -> str:
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


def test_who_may_countersign_hears_that_criteria_wait(light: Core, posting: Core, anna: Client) -> None:
    author = anna.invite("author@hospital.test", "author", "reviewer")
    carl = anna.invite("carl@hospital.test", "reviewer")
    dora = anna.invite("dora@hospital.test", "approver")
    anna.invite("eve@hospital.test", "viewer")
    closed = anna.invite("fay@hospital.test", "reviewer").me["user"]
    assert anna.patch(f"{API}/users/{closed}", json={"disabled": True}).status_code == 200
    assert anna.post(f"{API}/webhooks", json=HOOK).status_code == 201
    assert anna.put(f"{API}/organisation/countersignature", json={"required": True}).status_code == 200
    study = author.study()
    author.version(study, PLANNED)
    assert WorkerThread(light, "worker").once("check")
    author = Client.logged_in(create_app(posting), "author@hospital.test")
    fixing = author.post(f"{API}/studies/{study}/criteria", json={}).json()["id"]
    others = sorted(client.me["user"] for client in (anna, carl, dora))
    assert sent(posting, "criteria_waiting") == others  # neither who fixed them nor closed accounts
    delivery = only(light, Delivery)
    assert (delivery.kind, delivery.details["resource"]) == (
        "criteria.waiting",
        f"/api/v1/fixed-criteria/{fixing}",
    )
    with posting.store.write() as rows:
        message = mail.compose(rows, posting.settings, stored(posting, Mail)[0])
    assert message is not None
    assert f"/studies/{study}/criteria" in message.get_content()


def test_criteria_of_one_person_wait_for_nobody(light: Core, posting: Core, anna: Client) -> None:
    anna.invite("carl@hospital.test", "reviewer")
    study = anna.study()
    anna.version(study, PLANNED)
    assert WorkerThread(light, "worker").once("check")
    anna = Client.logged_in(create_app(posting), "anna@hospital.test")
    assert anna.post(f"{API}/studies/{study}/criteria", json={}).status_code == 201
    assert stored(light, Mail) == []
    assert stored(light, Audit, action="criteria.waiting") == []


@pytest.mark.parametrize(
    ("known", "kind"),
    [(-11, None), (-12, "incident_near"), (-15, "incident_near"), (-16, "incident_overdue")],
)
def test_a_deadline_that_is_near_or_over_is_announced_once(
    light: Core, posting: Core, anna: Client, known: int, kind: str | None
) -> None:
    device = world(light, anna)["device"]
    author = anna.invite("author@hospital.test", "author")
    assert anna.post(f"{API}/webhooks", json=HOOK).status_code == 201
    facts = {"awareness_date": in_days(known), "seriousness": "serious"}
    made = author.post(f"{API}/devices/{device}/incidents", json={"group": "incidents", "facts": facts})
    entry = made.json()["id"]
    schedules.run_daily(posting)
    for _ in range(2):
        with posting.store.write() as rows:
            announce_deadlines(rows, anna.me["organisation"], posting.settings, "schedule")
    expected = [author.me["user"]]
    assert {k: sent(posting, k) for k in ("incident_near", "incident_overdue")} == {
        k: expected if k == kind else [] for k in ("incident_near", "incident_overdue")
    }
    deliveries = [d for d in stored(light, Delivery) if d.kind.startswith("incident.")]
    assert [d.details["resource"] for d in deliveries] == ([f"/api/v1/incidents/{entry}"] if kind else [])
    first = get(author, "/").words
    assert ("Report an incident to the authority" in first) == (kind == "incident_near")
    assert ("An incident or signal is overdue" in first) == (kind == "incident_overdue")


def test_a_deadline_is_announced_near_then_over_and_anew_when_it_moves(
    light: Core, posting: Core, anna: Client
) -> None:
    device = world(light, anna)["device"]
    path = f"{API}/devices/{device}/incidents"
    facts = {"awareness_date": in_days(-14), "seriousness": "serious"}
    entry = anna.post(path, json={"group": "incidents", "facts": facts}).json()

    def announced() -> list[str]:
        with posting.store.write() as rows:
            announce_deadlines(rows, anna.me["organisation"], posting.settings, "schedule")
        return [
            one.details["deadline"]
            for one in stored(light, Audit, subject=entry["id"])
            if "dead" in str(one.details)
        ]

    def changes(number: int, **facts: str) -> None:
        asked = {"number": number, "facts": facts}
        assert anna.post(f"{API}/incidents/{entry['id']}/changes", json=asked).status_code == 200

    assert announced() == [in_days(1)]
    changes(1, awareness_date=in_days(-13))
    assert announced() == [in_days(1), in_days(2)]
    changes(2, awareness_date=in_days(-20))
    assert announced() == [in_days(1), in_days(2), in_days(-5)]
    changes(3, report_date=in_days(0))
    assert announced() == [in_days(1), in_days(2), in_days(-5)]


def test_where_the_registrar_has_left_every_author_hears_of_it(
    light: Core, posting: Core, anna: Client
) -> None:
    device = world(light, anna)["device"]
    gone, eve = (anna.invite(f"{name}@hospital.test", "author") for name in ("gone", "eve"))
    facts = {"awareness_date": in_days(-30), "seriousness": "serious"}
    gone.post(f"{API}/devices/{device}/incidents", json={"group": "incidents", "facts": facts})
    assert anna.patch(f"{API}/users/{gone.me['user']}", json={"disabled": True}).status_code == 200
    schedules.run_daily(posting)
    assert sent(posting, "incident_overdue") == sorted([anna.me["user"], eve.me["user"]])
