"""Organisations never see each other's data: every route of the API's document is tried across the border."""

from typing import Any

from fastapi import FastAPI
from services import API, PASSWORD, Client, world

from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.storage.models import Factor

# A body that would do something, per route; routes without one take none.
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("patch", "/studies/{study}"): {"name": "Mine now"},
    ("post", "/studies/{study}/versions/json"): {"manifest": {}, "tables": {}},
    ("post", "/versions/{version}/jobs"): {"formats": ["json"]},
    ("post", "/studies/{study}/criteria"): {"reason": "Mine"},
    ("post", "/studies/{study}/criteria/document"): {
        "name": "plan.pdf",
        "content": "UERG",
        "fixed_on": "2026-01-01",
        "data_opened_on": "2026-02-01",
    },
    ("post", "/fixed-criteria/{fixing}/countersignature"): {"password": PASSWORD},
    ("post", "/reports/{report}/comments"): {"text": "Mine"},
    ("post", "/versions/{version}/comments"): {"text": "Mine"},
    ("post", "/reports/{report}/review-requests"): {"reviewer": "0" * 26},
    ("post", "/reports/{report}/shares"): {},
    ("post", "/studies/{study}/collaborations"): {"title": "Mine"},
    ("post", "/collaborations/{collaboration}/sites"): {"name": "Mine", "email": "me@me.test"},
    ("post", "/collaborations/{collaboration}/pool"): {},
    ("post", "/reports/{report}/attestations"): {"act": "review", "meaning": "Seen", "password": PASSWORD},
    ("patch", "/users/{user}"): {"name": "Mine now"},
    ("patch", "/account/factors/{factor}"): {"name": "Mine now"},
    ("post", "/account/factors/{factor}/removal"): {"password": PASSWORD, "code": "000000"},
    ("patch", "/webhooks/{webhook}"): {"paused": True},
    ("post", "/devices/{device}/incidents"): {"group": "signals", "facts": {"description": "Mine"}},
    ("post", "/devices/{device}/same-as"): {"device": "0" * 26},
    ("post", "/incidents/{entry}/changes"): {"number": 1, "facts": {"description": "Mine now"}},
}


def routes(app: FastAPI) -> list[tuple[str, str, dict[str, Any]]]:
    """Method, path and operation of everything in the document."""
    paths = app.openapi()["paths"]
    return [(m, p, operation) for p, methods in paths.items() for m, operation in methods.items()]


def things_of(core: Core, client: Client) -> dict[str, str]:
    """Names of one row of every kind that belongs to the client's organisation."""
    names = world(core, client, name=f"Secret of {client.me['organisation']}")
    reviewer = client.invite(f"r{client.me['user']}@r.test", "reviewer")
    signed = reviewer.signs(names["report"], meaning=f"Secret of {client.me['organisation']}")
    token = client.post(f"{API}/tokens", json={"name": "Secret token", "scopes": ["read"]})
    names |= {
        "factor": factor_of(core, client),
        "session": client.get(f"{API}/sessions").json()["items"][0]["id"],
    }
    names |= {"attestation": signed.json()["id"], "token": token.json()["token"]["id"]}
    report = f"{API}/reports/{names['report']}"
    comment = client.post(f"{report}/comments", json={"text": f"Secret of {client.me['organisation']}"})
    asked = client.post(f"{report}/review-requests", json={"reviewer": reviewer.me["user"]})
    share = client.post(f"{report}/shares", json={})
    names |= {"comment": comment.json()["id"], "review_request": asked.json()["id"]}
    names |= {"share": share.json()["share"]["id"], "link": share.json()["link"].rpartition("/")[2]}
    names["removed"] = names["study"]
    return names


def factor_of(core: Core, client: Client) -> str:
    """The name of a second factor of the client's user."""
    mine = {"organisation": client.me["organisation"], "user": client.me["user"]}
    with core.store.write() as rows:
        row = Factor(
            id=new_id(),
            kind="totp",
            name="Secret app",
            secret="",
            counter=0,
            confirmed=True,
            created_at=1,
            **mine,
        )
        rows.add(row)
    return row.id


def test_rows_of_others_are_absent_on_every_route(
    app: FastAPI, light: Core, anna: Client, bob: Client
) -> None:
    theirs = things_of(light, anna) | {"name": "results.json"}
    tried = 0
    for method, path, operation in routes(app):
        wanted = [p["name"] for p in operation.get("parameters", []) if p["in"] == "path"]
        if not wanted:
            continue
        # A parameter that this test does not know must be taught to it: KeyError names it.
        url = path.format(**{name: theirs[name] for name in wanted})
        short = path.removeprefix(API)
        given: dict[str, Any] = {}
        if (method, short) in BODIES:
            given["json"] = BODIES[method, short]
        elif "multipart/form-data" in operation.get("requestBody", {}).get("content", {}):
            given["files"] = [("files", ("study.yaml", b"a: 1"))]
        elif "requestBody" in operation:
            given["content"] = b"PK\x03\x04"
        answer = bob.request(method.upper(), url, **given)
        assert answer.status_code == 404, f"{method} {path}: {answer.status_code} {answer.text}"
        assert "Secret" not in answer.text
        assert anna.get(f"{API}/studies/{theirs['study']}").status_code == 200
        tried += 1
    assert tried >= 25


def test_lists_and_answers_hold_nothing_of_others(
    app: FastAPI, light: Core, anna: Client, bob: Client
) -> None:
    theirs = things_of(light, anna)
    secrets = {*theirs.values(), anna.me["organisation"], "Secret of", "Hospital"}
    tried = 0
    for method, path, operation in routes(app):
        if method != "get" or "{" in path or not path.startswith(API):
            continue
        params = {p["name"]: theirs["report"] for p in operation.get("parameters", []) if p.get("required")}
        answer = bob.get(path, params=params)
        assert answer.status_code == (404 if params else 200), f"{path}: {answer.text}"
        said = answer.text.replace("Other hospital", "")
        # What was asked for by name is named in the refusal.
        leaked = [secret for secret in secrets - set(params.values()) if secret in said]
        assert not leaked, f"{path}: {leaked}"
        tried += 1
    assert tried >= 12


def test_filters_do_not_reach_across(light: Core, anna: Client, bob: Client) -> None:
    theirs = things_of(light, anna)
    for path, query in (("jobs", "study"), ("reports", "study")):
        assert bob.get(f"{API}/{path}", params={query: theirs["study"]}).json()["items"] == []
        assert len(anna.get(f"{API}/{path}", params={query: theirs["study"]}).json()["items"]) == 1
    assert bob.get(f"{API}/audit", params={"subject": theirs["study"]}).json()["items"] == []
    asked = {"study": theirs["study"], "every_days": 1}
    assert bob.post(f"{API}/schedules", json=asked).status_code == 404


def test_nothing_but_the_door_opens_without_an_account(app: FastAPI, anna: Client) -> None:
    stranger = Client.on(app)
    open_ = {
        ("post", f"{API}/setup"),
        ("post", f"{API}/invitations"),
        ("post", f"{API}/session"),
        ("post", f"{API}/resets"),
        ("get", "/health"),
        ("get", "/ready"),
        ("get", "/metrics"),
    }
    for method, path, operation in routes(app):
        if (method, path) in open_:
            continue
        names = [p["name"] for p in operation.get("parameters", []) if p["in"] == "path"]
        answer = stranger.request(method.upper(), path.format(**dict.fromkeys(names, "0" * 26)))
        assert answer.status_code == 401, f"{method} {path}: {answer.status_code}"
        assert answer.headers["content-type"] == "application/problem+json"
