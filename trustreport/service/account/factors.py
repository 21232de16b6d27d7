"""Second factors of one's own account: an app that shows codes, passkeys, recovery codes."""

import json
from datetime import datetime
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field
from sqlalchemy import delete, select
from sqlalchemy.orm import Session as Rows

from trustreport.service.access import accounts, passkeys, pending, principal, second_factor, secrets
from trustreport.service.access.guard import Admin, Person, TheCore
from trustreport.service.access.principal import Principal
from trustreport.service.access.second_factor import Proof
from trustreport.service.account.api import Code, confirm
from trustreport.service.client.records import ResponseBody
from trustreport.service.core import Core
from trustreport.service.ids import new_id
from trustreport.service.storage.models import Factor, Session, User
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Line, Name, Page, Password, RequestBody, RequestedPage
from trustreport.vocabulary.messages import say

router = APIRouter(tags=["second factors"])
APP = "App"
MOST = 20  # second factors of one account


class Confirmation(RequestBody):
    password: Password = Field(description="one's own")


class NewApp(ResponseBody):
    """What an app needs; the factor counts once a code of it was confirmed."""

    secret: str = Field(description="in base 32; shown this once")
    address: str = Field(description="the same as otpauth://, for a QR code")


class AppCode(RequestBody):
    code: Code


class PasskeyAnswer(RequestBody):
    name: Line = Field(description="what one recognises it by", examples=["Laptop"])
    answer: str = Field(max_length=passkeys.MOST_ANSWER, description="of the browser, as JSON")


class FactorName(RequestBody):
    name: Line = Field(examples=["Laptop"])


class FactorRemoval(RequestBody):
    """The password, and a second factor: a code, or what a passkey answered."""

    password: Password
    code: Code = ""
    answer: str = Field(default="", max_length=passkeys.MOST_ANSWER)


class FactorResponse(ResponseBody):
    """A second factor without its secret."""

    id: str
    kind: Literal["totp", "passkey"]
    name: str
    created_at: datetime
    used_at: datetime | None


class Added(ResponseBody):
    """A factor that counts from now on, with the recovery codes where it is the first."""

    factor: FactorResponse
    recovery_codes: list[str] = Field(description="each replaces a second factor once; shown this once")


class RecoveryCodes(ResponseBody):
    codes: list[str] = Field(description="in place of all earlier ones; shown this once")


@router.get("/account/factors")
def factors(who: Person, core: TheCore, turn: RequestedPage) -> Page[FactorResponse]:
    """One's own second factors."""
    with core.store.read() as rows:
        return turn.items(second_factor.factors_of(rows, who.user), FactorResponse.of_row)


@router.post("/account/totp", status_code=201)
def begin_app(asked: Confirmation, who: Person, core: TheCore, request: Request) -> NewApp:
    """A secret for an app that shows codes; it counts once a code of it was confirmed."""
    _own(core, who, asked.password, request)
    secret = second_factor.new_app_secret()
    with core.store.write() as rows:
        if second_factor.factors_of(rows, who.user, "totp"):
            raise Fault(409, say("pages.fault.there_is_one.detail"))
        rows.execute(delete(Factor).where(Factor.user == who.user, Factor.kind == "totp"))
        sealed = secrets.seal(core.signer, secret, who.user)
        rows.add(_new(rows, who, "totp", APP, secret=sealed, counter=0, confirmed=False))
    return NewApp(secret=secret, address=second_factor.app_address(secret, who.email))


@router.post("/account/totp/confirmation", status_code=201)
def confirm_app(asked: AppCode, who: Person, core: TheCore) -> Added:
    """Show with a code that the app works: from now on it is needed."""
    give_back = core.throttle.begin_login({f"codes {who.user}": 1}, seconds=second_factor.HOUR)
    with core.store.write() as rows:
        query = select(Factor).where(Factor.user == who.user, Factor.kind == "totp", ~Factor.confirmed)
        row = rows.scalar(query.with_for_update())
        if row is None:
            raise Fault(409, say("pages.fault.not_begun.detail"))
        if not second_factor.takes_code(core, rows, row, asked.code):
            raise Fault(403, say("pages.fault.code_is_wrong.detail"))
        added = _counts(rows, who, row)
    give_back()
    return added


@router.post("/account/passkeys/options", status_code=201)
def begin_passkey(
    asked: Confirmation, who: Person, core: TheCore, request: Request, response: Response
) -> dict[str, Any]:
    """What the browser is asked for a new passkey (options of WebAuthn)."""
    _own(core, who, asked.password, request)
    with core.store.write() as rows:
        known = second_factor.factors_of(rows, who.user)
        if len(known) >= MOST:
            raise Fault(409, say("pages.fault.enough.detail", most=MOST))
        user = rows.get_one(User, who.user)
        options, challenge = passkeys.registration(
            core.settings, user, [f for f in known if f.kind == "passkey"]
        )
        pending.begin(rows, response, "passkey", who.user, challenge=challenge)
    return dict(json.loads(options))


@router.post("/account/passkeys", status_code=201)
def add_passkey(
    asked: PasskeyAnswer, who: Person, core: TheCore, request: Request, response: Response
) -> Added:
    """Add the passkey that the browser made: from now on a second factor is needed."""
    with core.store.write() as rows:
        step = pending.take(rows, request, "passkey")
        if step.user != who.user:
            raise Fault(403, say("pages.fault.too_late.passkey_was_begun"))
        name, key, count = passkeys.registered(core.settings, asked.answer, step.details["challenge"])
        if rows.scalar(select(Factor.id).where(Factor.credential == name)):
            raise Fault(409, say("pages.fault.known_already.detail"))
        row = _new(rows, who, "passkey", asked.name, secret=key, counter=count, credential=name)
        rows.add(row)
        pending.forget(response)
        return _counts(rows, who, row)


@router.post("/account/question", status_code=201)
def question(who: Person, core: TheCore, response: Response) -> dict[str, Any]:
    """What the browser is asked to prove a passkey, for what takes a second factor (options of WebAuthn)."""
    with core.store.write() as rows:
        return dict(json.loads(ask_passkey(core, rows, response, "proof", who.user)))


@router.patch("/account/factors/{factor}")
def rename(factor: Name, asked: FactorName, who: Person, core: TheCore) -> FactorResponse:
    """Name a second factor otherwise."""
    with core.store.write() as rows:
        row = own_factor(rows, who, factor)
        row.name = asked.name
        who.audit(rows, "factor.rename", row.id)
        return FactorResponse.of_row(row)


@router.post("/account/factors/{factor}/removal", status_code=204)
def remove(
    factor: Name, asked: FactorRemoval, who: Person, core: TheCore, request: Request, response: Response
) -> None:
    """Remove a second factor, with the password and a second factor, which may be the same."""
    with core.store.read() as rows:
        own_factor(rows, who, factor)
    _with_both(core, who, asked, request, response)
    with core.store.write() as rows:
        row = own_factor(rows, who, factor)
        who.audit(rows, "factor.remove", row.id, kind=row.kind)
        rows.delete(row)
        rows.flush()
        if not second_factor.has_one(rows, who.user):
            second_factor.take_all_away(rows, rows.get_one(User, who.user))


@router.post("/account/recovery-codes", status_code=201)
def renew_codes(
    asked: FactorRemoval, who: Person, core: TheCore, request: Request, response: Response
) -> RecoveryCodes:
    """New recovery codes in place of all earlier ones."""
    with core.store.read() as rows:
        if not second_factor.has_one(rows, who.user):
            raise Fault(409, say("pages.fault.no_second_factor.recovery_codes_replace"))
    _with_both(core, who, asked, request, response)
    with core.store.write() as rows:
        who.audit(rows, "recovery.renew", who.user)
        return RecoveryCodes(codes=second_factor.renew_recovery_codes(rows, who.user))


@router.delete("/users/{user}/factors", status_code=204)
def take_away(user: Name, who: Admin, core: TheCore) -> None:
    """Take away every second factor of a user who has lost them.

    Their sessions end. The account signs and invites nobody until somebody else confirms it.
    """
    with core.store.write() as rows:
        row = who.row_of(rows, User, user)
        accounts.refuse_unconfirmed(rows.get_one(User, who.user))
        if row.id == who.user:
            raise Fault(409, say("pages.fault.not_on_oneself.detail"))
        if not second_factor.has_one(rows, row.id):
            raise Fault(409, say("pages.fault.no_second_factor.account_no"))
        count = second_factor.take_all_away(rows, row)
        accounts.mark_proof_removed(rows, row, who.user)
        rows.execute(delete(Session).where(Session.user == row.id))
        who.audit(rows, "factor.reset", row.id, factors=count)


def ask_passkey(core: Core, rows: Rows, answer: Response, purpose: str, user: str, **more: Any) -> str:
    """What the browser is asked to prove a passkey of an account with, as JSON; its answer ends the step.

    Without a passkey there is nothing to ask, and the step waits for a code.
    """
    known = second_factor.factors_of(rows, user, "passkey")
    options, challenge = passkeys.question(core.settings, known) if known else ("null", "")
    pending.begin(rows, answer, purpose, user, challenge=challenge, options=options, **more)
    return options


def _own(core: Core, who: Principal, password: str, request: Request) -> None:
    """Refuse an account of the provider, and whoever does not know the password."""
    with core.store.read() as rows:
        if principal.is_bound(rows.get_one(User, who.user)) and not rows.get_one(User, who.user).password:
            raise Fault(409, say("pages.fault.not_here.account_its"))
    confirm(core, who, password, request)


def _with_both(
    core: Core, who: Principal, asked: FactorRemoval, request: Request, response: Response
) -> None:
    """Refuse whoever does not show the password and a second factor."""
    challenge = ""
    if asked.answer:
        with core.store.write() as rows:
            step = pending.take(rows, request, "proof")
            challenge = step.details["challenge"] if step.user == who.user else ""
        pending.forget(response)
    confirm(core, who, asked.password, request)
    with core.store.read() as rows:
        user = rows.get_one(User, who.user)
    second_factor.prove(core, user, Proof(asked.code, asked.answer, challenge))


def _new(rows: Rows, who: Principal, kind: str, name: str, **more: Any) -> Factor:
    given = {"confirmed": True, **more}
    at = now(rows)
    return Factor(
        id=new_id(),
        organisation=who.organisation,
        user=who.user,
        kind=kind,
        name=name,
        created_at=at,
        **given,
    )


def _counts(rows: Rows, who: Principal, row: Factor) -> Added:
    """Let a factor count; the first one, or the next where all are used up, comes with recovery codes."""
    is_first = not second_factor.recovery_codes_left(rows, who.user)
    row.confirmed = True
    rows.flush()
    who.audit(rows, "factor.add", row.id, kind=row.kind)
    return Added(
        factor=FactorResponse.of_row(row),
        recovery_codes=second_factor.renew_recovery_codes(rows, who.user) if is_first else [],
    )


def own_factor(rows: Rows, who: Principal, name: str) -> Factor:
    """A second factor of who asks; that of anybody else is as absent as one that never was."""
    query = who.rows_of(Factor).where(Factor.id == name, Factor.user == who.user, Factor.confirmed)
    row = rows.scalar(query)
    if row is None:
        raise Fault(404, say("pages.fault.not_found.there_no_second", name=repr(name)))
    return row
