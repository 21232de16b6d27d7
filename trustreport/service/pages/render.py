"""Templates to pages. Whatever a user wrote is data for them and is escaped."""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from trustreport.messages import catalogue
from trustreport.service.access import secrets
from trustreport.service.access.principal import Principal
from trustreport.service.pages.static import address
from trustreport.service.web.faults import Fault
from trustreport.service.web.guard import core_of, csrf_of

FORM_COOKIE = "__Host-trustreport-form"  # what forms of those who are not signed in are bound to
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def page(
    request: Request,
    template: str,
    *,
    fault: Fault | None = None,
    typed: Mapping[str, Any] | None = None,
    status: int = 200,
    **values: Any,
) -> Response:
    """A page.

    Parameters
    ----------
    fault : why what was sent was not done; the page says so above its form
    typed : what was sent, so that nobody types it twice (never a password)
    """
    who: Principal | None = getattr(request.state, "who", None)
    secret = request.cookies.get(FORM_COOKIE, "")
    given = "" if who or secret else secrets.new_secret()
    html = (
        environment()
        .get_template(f"service/{template}.html.j2")
        .render(
            who=who,
            csrf=csrf_of(core_of(request), who) if who else secrets.csrf_token(secret or given),
            idle_minutes=core_of(request).settings.idle_minutes,
            here=request.url.path,
            done=request.query_params.get("done", ""),
            fault=fault,
            typed=typed or {},
            **values,
        )
    )
    answer = HTMLResponse(html, fault.status if fault else status, headers=fault.headers if fault else None)
    answer.headers["Content-Security-Policy"] = POLICY
    if given:
        answer.set_cookie(FORM_COOKIE, given, secure=True, httponly=True, samesite="strict", path="/")
    return answer


@cache
def environment() -> Environment:
    """Packaged templates only; the words of reports and the names of checks are the catalogue's."""
    from trustreport.resources import folder

    made = Environment(
        loader=FileSystemLoader(folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {"say": catalogue("en"), "static": address}
    made.filters |= {
        "instant": instant,
        "day": lambda at: f"{_utc(at):%Y-%m-%d}",
        "size": size,
        "number": number,
        "count": lambda n: f"{n:,}",
    }
    return made


def instant(at: int | datetime) -> str:
    """A time to the minute, in UTC; milliseconds since 1970, or a time with its zone."""
    return f"{_utc(at):%Y-%m-%d %H:%M} UTC"


def size(n: int) -> str:
    """Bytes as people read them.

    >>> size(999), size(21_400), size(1_500_000), size(200_000_000_000)
    ('999 B', '21 kB', '1.5 MB', '200 GB')
    """
    if n < 1000:
        return f"{n} B"
    if n < 1_000_000:
        return f"{n / 1000:.0f} kB"
    unit, name = (1_000_000, "MB") if n < 1_000_000_000 else (1_000_000_000, "GB")
    return f"{round(n / unit, 1):g} {name}"


def number(value: Any) -> str:
    """A number of a result with four digits; a text as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}".replace("-", "\N{MINUS SIGN}")
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}")


def _utc(at: int | datetime) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC) if isinstance(at, int) else at.astimezone(UTC)
