"""API tokens: one's own; an administrator sees and revokes those of all."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from trustreport.service.access import secrets
from trustreport.service.access.guard import Anyone, Person, TheCore
from trustreport.service.access.principal import PREFIX, Principal
from trustreport.service.client.records import ResponseBody
from trustreport.service.ids import new_id
from trustreport.service.roles import Permission
from trustreport.service.storage.models import Token
from trustreport.service.storage.store import now
from trustreport.service.web.faults import Fault
from trustreport.service.web.shapes import Line, Name, Page, RequestBody, RequestedPage
from trustreport.vocabulary.messages import say

router = APIRouter(prefix="/tokens", tags=["tokens"])
DAY = 86_400_000


class NewToken(RequestBody):
    name: Line = Field(examples=["nightly upload"])
    scopes: list[Permission] = Field(min_length=1, max_length=5)
    days: Annotated[int, Field(ge=1, le=3650)] = 90


class TokenResponse(ResponseBody):
    """An API token without its secret."""

    id: str
    user: str
    name: str
    scopes: list[Permission]
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None
    revoked_at: datetime | None


class CreatedToken(ResponseBody):
    token: TokenResponse
    secret: str = Field(description="send as `Authorization: Bearer ...`; shown this once")


@router.get("")
def tokens(who: Anyone, core: TheCore, turn: RequestedPage) -> Page[TokenResponse]:
    """Tokens, also expired and revoked ones."""
    query = who.rows_of(Token)
    if "manage" not in who.may:
        query = query.where(Token.user == who.user)
    with core.store.read() as rows:
        return turn.rows(rows, query, Token.id, TokenResponse.of_row)


@router.post("", status_code=201)
def make(asked: NewToken, who: Person, core: TheCore) -> CreatedToken:
    """Make a token for oneself, in a session; it may at most what its user may."""
    if asked.days > core.settings.token_days:
        raise Fault(422, say("pages.fault.too_long.token_lives_at", token_days=core.settings.token_days))
    if beyond := sorted(set(asked.scopes) - who.may):
        raise Fault(403, say("pages.fault.not_allowed.may_not_permissions", permissions=", ".join(beyond)))
    secret = secrets.new_secret(PREFIX)
    with core.store.write() as rows:
        at = now(rows)
        token = Token(
            id=new_id(),
            organisation=who.organisation,
            user=who.user,
            name=asked.name,
            hash=secrets.fingerprint(secret),
            scopes=sorted(set(asked.scopes)),
            created_at=at,
            expires_at=at + asked.days * DAY,
        )
        rows.add(token)
        rows.flush()
        who.audit(rows, "token.make", token.id, scopes=token.scopes)
        return CreatedToken(token=TokenResponse.of_row(token), secret=secret)


@router.get("/{token}")
def get_token(token: Name, who: Anyone, core: TheCore) -> TokenResponse:
    """One token."""
    with core.store.read() as rows:
        return TokenResponse.of_row(_visible(who, who.row_of(rows, Token, token)))


@router.delete("/{token}", status_code=204)
def revoke(token: Name, who: Anyone, core: TheCore) -> None:
    """Revoke a token at once and for ever."""
    with core.store.write() as rows:
        row = _visible(who, who.row_of(rows, Token, token))
        if row.revoked_at is None:
            row.revoked_at = now(rows)
            who.audit(rows, "token.revoke", row.id)


def _visible(who: Principal, token: Token) -> Token:
    if token.user != who.user and "manage" not in who.may:
        raise Fault(404, say("pages.fault.not_found.there_no_token", id=repr(token.id)))
    return token
