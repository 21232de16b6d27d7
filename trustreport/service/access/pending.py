"""What is begun in one request and finished in a later one of the same browser: sign-ins in two steps."""

from typing import Any

from fastapi import Request, Response
from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access import secrets
from trustreport.service.storage.models import PendingStep
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import say

COOKIE = "__Host-trustreport-step"
SECONDS = 600


def begin(rows: Rows, answer: Response, purpose: str, user: str | None = None, **details: Any) -> PendingStep:
    """Note a step, and give the browser its secret; an earlier step of that browser can no longer be ended.

    The cookie is Lax: an identity provider sends the browser back from its own site.
    """
    secret, at = secrets.new_secret(), now(rows)
    rows.execute(delete(PendingStep).where(PendingStep.expires_at < at))
    step = PendingStep(
        hash=secrets.fingerprint(secret),
        purpose=purpose,
        user=user,
        details=details,
        expires_at=at + SECONDS * 1000,
    )
    rows.add(step)
    answer.set_cookie(COOKIE, secret, max_age=SECONDS, secure=True, httponly=True, samesite="lax", path="/")
    return step


def find(rows: Rows, request: Request, purpose: str) -> PendingStep | None:
    """The step of a browser that has not expired."""
    step = _locked(rows, request)
    if step is None or step.purpose != purpose or step.expires_at < now(rows):
        return None
    return step


def take(rows: Rows, request: Request, purpose: str) -> PendingStep:
    """The step of a browser, which can be taken once; refuses where there is none."""
    step = find(rows, request, purpose)
    if step is None:
        raise Fault(403, say("pages.fault.too_late.step_was_not"))
    rows.delete(step)
    rows.flush()
    return step


def forget(answer: Response) -> None:
    """Let the browser drop the secret of a step that has ended."""
    answer.delete_cookie(COOKIE, secure=True, httponly=True, samesite="lax", path="/")


def _locked(rows: Rows, request: Request) -> PendingStep | None:
    secret = request.cookies.get(COOKIE, "")
    if not secret:
        return None
    query = select(PendingStep).where(PendingStep.hash == secrets.fingerprint(secret))
    return rows.scalar(query.with_for_update())
