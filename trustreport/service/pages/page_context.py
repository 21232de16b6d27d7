"""Dependencies of pages: who is signed in, and what a form sent."""

import re
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager
from functools import cache, wraps
from hmac import compare_digest
from inspect import signature
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import Depends, Query, Request, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ValidationError
from sqlalchemy import Select, select
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.orm import Session as Rows
from starlette.datastructures import FormData

from trustreport.service.access import secrets
from trustreport.service.access.guard import SAFE, admitted, anybody, core_of, csrf_of, refuse_other_sites
from trustreport.service.access.principal import COOKIE, Principal
from trustreport.service.pages.render import FORM_COOKIE
from trustreport.service.roles import Permission
from trustreport.service.storage.models import Attestation, User
from trustreport.service.web.faults import Fault, Field
from trustreport.service.web.shapes import Page, PageRequest
from trustreport.vocabulary.messages import say


def user_names(rows: Rows, who: Principal, users: Collection[str]) -> dict[str, str]:
    """Names of users of this organisation; others (a worker, the operator) stay as the record has them."""
    known = select(User.id, User.name).where(User.organisation == who.organisation, User.id.in_(users))
    named = dict(pairs(rows, known))
    return {user: named.get(user, user) for user in users}


def pairs(rows: Rows, query: Select[Any, Any]) -> list[tuple[Any, Any]]:
    """The rows of a query of two columns."""
    return [(first, second) for first, second in rows.execute(query)]


def signed_acts(rows: Rows, reports: Collection[str]) -> dict[str, frozenset[str]]:
    """What was signed of each report: review, approval, rejection."""
    found: dict[str, set[str]] = defaultdict(set)
    query = select(Attestation.report, Attestation.act).where(Attestation.report.in_(reports))
    for report, act in rows.execute(query):
        found[report].add(act)
    return {report: frozenset(found[report]) for report in reports}


M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
LOCAL = re.compile(r"/(?![/\\])[^\x00-\x20\x7f\\]*")  # an address of this service and no other
MOST_FIELDS = 2000
UNSHOWN = ("csrf", "code", "answer")  # beside passwords, never shown again
P = ParamSpec("P")
A_PAGE = 25  # rows
After = Annotated[str, Query(max_length=300)]
# What pydantic says of a field, in words of a person who filled in a form.
PLAIN = {
    "missing": say("pages.fault.field.needed"),
    "string_too_short": say("pages.fault.field.too_short"),
    "string_too_long": say("pages.fault.field.too_long"),
    "string_pattern_mismatch": say("pages.fault.field.form"),
    "too_short": say("pages.fault.field.choice"),
    "int_parsing": say("pages.fault.field.whole_number"),
    "literal_error": say("pages.fault.field.no_choice"),
}


def visitor(request: Request) -> Principal:
    """Who is signed in; a page needs a session, never a token."""
    if request.method not in SAFE:
        refuse_other_sites(request)
    who: Principal = admitted(request, None, request.cookies.get(COOKIE))
    request.state.who = who
    return who


Visitor = Annotated[Principal, Depends(visitor)]


def may(permission: Permission) -> Callable[[Principal], Principal]:
    """A dependency: who is signed in, if they may."""

    def allowed(who: Visitor) -> Principal:
        who.need(permission)
        return who

    return allowed


Reader = Annotated[Principal, Depends(may("read"))]
Author = Annotated[Principal, Depends(may("write"))]
Reviewer = Annotated[Principal, Depends(may("review"))]
Admin = Annotated[Principal, Depends(may("manage"))]


async def sent(request: Request, who: Visitor) -> AsyncIterator[FormData]:
    """The form that a page of this session sent."""
    async with _form(request, csrf_of(core_of(request), who)) as form:
        yield form


async def sent_by_anyone(request: Request, who: Annotated[None, Depends(anybody)]) -> AsyncIterator[FormData]:
    """The form of a page that needs no session, bound to the browser it was shown in."""
    secret = request.cookies.get(FORM_COOKIE, "")
    async with _form(request, secrets.csrf_token(secret) if secret else "") as form:
        yield form


def whoever(request: Request) -> Principal | None:
    """Who is signed in, or nobody, for a form that pages with and without a session have."""
    refuse_other_sites(request)
    try:
        return admitted(request, None, request.cookies.get(COOKIE))
    except Fault as fault:
        if fault.status != 401:
            raise
        return None


async def sent_by_whoever(
    request: Request, who: Annotated[Principal | None, Depends(whoever)]
) -> AsyncIterator[FormData]:
    """The form of a page, bound to its session or to the browser that it was shown in."""
    secret = request.cookies.get(FORM_COOKIE, "")
    wanted = [csrf_of(core_of(request), who)] if who else []
    async with _form(request, *wanted, *([secrets.csrf_token(secret)] if secret else [])) as form:
        yield form


@asynccontextmanager
async def _form(request: Request, *wanted: str) -> AsyncIterator[FormData]:
    async with request.form(max_files=MOST_FIELDS, max_fields=MOST_FIELDS) as form:
        token = form.get("csrf")
        given = token.encode() if isinstance(token, str) else b""
        fine = any([compare_digest(given, one.encode()) for one in wanted])  # noqa: C419 -- in equal time
        if not any(wanted):
            url = core_of(request).settings.public_url
            raise Fault(
                403,
                say("pages.fault.no_cookie_came_back.open", url=url)
                if url
                else say("pages.fault.no_cookie_came_back.detail"),
            )
        if not fine:
            raise Fault(403, say("pages.fault.not_from_this_page.page_expired"))
        yield form


Sent = Annotated[FormData, Depends(sent)]
SentByAnyone = Annotated[FormData, Depends(sent_by_anyone)]
SentByWhoever = Annotated[FormData, Depends(sent_by_whoever)]


def typed(form: FormData) -> dict[str, str]:
    """The texts of a form as typed, for showing it again; no passwords, no codes, no files."""
    shown = ((name, said) for name, said in form.items() if "password" not in name and name not in UNSHOWN)
    return {name: said for name, said in shown if isinstance(said, str)}


def text(form: FormData, name: str) -> str:
    """A text of a form, its lines ended as everywhere else; empty where there is none."""
    value = form.get(name, "")
    return value.replace("\r\n", "\n") if isinstance(value, str) else ""


def link_secret(form: FormData) -> str:
    """The secret of a link, which a form may have whole."""
    return text(form, "link").rpartition("#")[2].strip()


def texts(form: FormData, name: str) -> list[str]:
    """All texts of one name, such as boxes that were ticked."""
    return [value for value in form.getlist(name) if isinstance(value, str)]


def body_from(form: FormData, model: type[M], **given: Any) -> M:
    """A request of the API made of a form; refuses it naming every field that is wrong.

    Fields of the form have the names of the request's. The boxes of a list have its name in the singular, a
    box alone says yes, and what is left empty is as if it were left out.
    """
    for name, kinds in _kinds(model).items():
        if name in given:
            continue
        if "array" in kinds:
            given[name] = texts(form, name.removesuffix("s"))
        elif kinds == {"boolean"}:
            given[name] = text(form, name) == "yes"
        elif (said := text(form, name)) or model.model_fields[name].is_required():
            given[name] = said
    try:
        return model(**given)
    except ValidationError as error:
        raise refused_fields(error) from None


@cache
def _kinds(model: type[BaseModel]) -> dict[str, set[str]]:
    """The types that JSON has of the fields of a model."""
    shapes = model.model_json_schema()["properties"]
    return {name: {one.get("type") for one in shape.get("anyOf", [shape])} for name, shape in shapes.items()}


def refused_fields(error: ValidationError) -> Fault:
    """Why what was sent is refused: every field that is wrong."""
    fields = [
        Field(".".join(str(part)[:100] for part in e["loc"][:1]), PLAIN.get(e["type"], e["msg"]))
        for e in error.errors()
    ]
    return Fault(422, say("pages.fault.not_as_expected.please_look_at_what"), fields)


def listed(
    rows: Rows, query: Select[Any], by: InstrumentedAttribute[str], after: str = "", limit: int = A_PAGE
) -> Page[Any]:
    """A page of rows as templates show them."""
    return PageRequest(limit=limit, after=after or None).rows(rows, query, by, lambda row: row)


def see(address: str) -> Response:
    """Go and look there; nothing is sent twice when the page is loaded again."""
    return RedirectResponse(address, 303)


async def _nothing() -> None:
    pass


# A parameter that no request has: another handler that shows the page gives it.
Given = Annotated[T | None, Depends(_nothing)]


def attempt(submit: Callable[[], Response], again: Callable[[Fault], Response]) -> Response:
    """Do what a form asks; where it is refused, show the form again with the reason."""
    try:
        return submit()
    except Fault as fault:
        if fault.status in (401, 404):
            raise
        return again(fault)


def noted(request: Request, form: FormData, fault: Fault) -> Request:
    """A request that was refused, so that its page says why and has what was typed."""
    request.state.fault, request.state.typed = fault, typed(form)
    return request


def shown_again(show: Callable[..., Response]) -> Callable[[Callable[P, Response]], Callable[P, Response]]:
    """Do what a form asks; where it is refused, show its page again with the reason and what was typed.

    `show` gets those of the handler's arguments that it takes.
    """
    takes = signature(show).parameters

    def decorate(handler: Callable[P, Response]) -> Callable[P, Response]:
        @wraps(handler)
        def answer(*args: P.args, **kwargs: P.kwargs) -> Response:
            given = signature(handler).bind(*args, **kwargs).arguments

            def again(fault: Fault) -> Response:
                noted(given["request"], given.get("form", FormData()), fault)
                return show(**{name: given[name] for name in takes.keys() & given})

            return attempt(lambda: handler(*args, **kwargs), again)

        return answer

    return decorate
