"""Templates to pages. Whatever a user wrote is data for them and is escaped."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cache
from hashlib import sha256
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from trustreport.service.access import secrets
from trustreport.service.access.guard import core_of, csrf_of
from trustreport.service.access.principal import Principal
from trustreport.service.languages import language_of, names
from trustreport.service.web.faults import Fault
from trustreport.vocabulary.messages import Catalogue, Message, Numbers, catalogue, say
from trustreport.vocabulary.resources import folder

FIRST_SIGN = 0xE000  # of private use in Unicode: where a value that is markup goes
SIGNS = re.compile("[\ue000-\ue0ff]")


class PageWords:
    """A catalogue whose texts may have parts that are markup, such as a link within a sentence."""

    def __init__(self, words: Catalogue) -> None:
        self.words, self.language, self.numbers = words, words.language, words.numbers

    def __contains__(self, key: str) -> bool:
        return key in self.words

    def __call__(self, message: Message | str, /, **values: Any) -> str:
        marked = {name: value for name, value in values.items() if isinstance(value, Markup)}
        if not marked:
            return self.words(message, **values)
        signs = {name: chr(FIRST_SIGN + i) for i, name in enumerate(marked)}
        plain = {n: SIGNS.sub("", v) if isinstance(v, str) else v for n, v in values.items()}
        parts = dict(zip(signs.values(), marked.values(), strict=True))
        text = str(escape(self.words(message, **{**plain, **signs})))
        return Markup(SIGNS.sub(lambda sign: parts[sign[0]], text))  # noqa: S704 -- escaped but for markup


@cache
def page_words(language: str) -> PageWords:
    """The words of pages in a language."""
    return PageWords(catalogue(language))


MEDIA = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "woff2": "font/woff2"}
# The pages wear the report's own style, then what is theirs.
PARTS = {
    "pages.css": ("report.css", "screen.css", "service/static/pages.css"),
    "pages.js": ("service/static/pages.js",),
    "editor.js": ("service/static/editor.js",),
    "passkeys.js": ("service/static/passkeys.js",),
    "htmx.js": ("service/static/htmx.min.js",),
    "Inter-Regular.woff2": ("assets/fonts/Inter-Regular.woff2",),
    "Inter-SemiBold.woff2": ("assets/fonts/Inter-SemiBold.woff2",),
}
YEAR = 31_536_000

router = APIRouter()


@router.get("/static/{name}")
def static(name: str, request: Request) -> Response:
    """A file of the package. Its address names its content, so a browser asks once."""
    if name not in PARTS:
        raise Fault(404, say("pages.fault.not_found.there_no_such_2"))
    return Response(
        content(name),
        media_type=MEDIA[name.rsplit(".", 1)[-1]],
        headers={"Cache-Control": f"public, max-age={YEAR}, immutable"},
    )


@cache
def content(name: str) -> bytes:
    """What a file holds."""
    return b"\n".join((folder("templates") / part).read_bytes() for part in PARTS[name])


@cache
def address(name: str) -> str:
    """Where a file is found: another address for other content."""
    return f"/static/{name}?v={sha256(content(name)).hexdigest()[:12]}"


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
    fault : why what was sent was not done, else as noted on the request; the page says so above its form
    typed : what was sent, likewise, so that nobody types it twice (never a password)
    """
    fault = fault or getattr(request.state, "fault", None)
    typed = typed or getattr(request.state, "typed", {})
    who: Principal | None = getattr(request.state, "who", None)
    secret = request.cookies.get(FORM_COOKIE, "")
    given = "" if who or secret else secrets.new_secret()
    language = words_of(request).language
    html = (
        environment(language)
        .get_template(f"service/{template}.html.j2")
        .render(
            who=who,
            csrf=csrf_of(core_of(request), who) if who else secrets.csrf_token(secret or given),
            idle_minutes=core_of(request).settings.idle_minutes,
            here=request.url.path,
            back=_address(request, who),
            languages=names(),
            done=request.query_params.get("done", ""),
            fault=fault and fault.in_words(catalogue(language)),
            typed=typed,
            **values,
        )
    )
    answer = HTMLResponse(html, fault.status if fault else status, headers=fault.headers if fault else None)
    answer.headers["Content-Security-Policy"] = POLICY
    answer.headers["Vary"] = "Accept-Language, Cookie"
    if given:
        answer.set_cookie(FORM_COOKIE, given, secure=True, httponly=True, samesite="strict", path="/")
    return answer


def _address(request: Request, who: Principal | None) -> str:
    """Where a person is; of strangers without what a link may have said that nobody should send on."""
    if request.method != "GET":
        return "/"
    return f"{request.url.path}?{request.url.query}".rstrip("?") if who else request.url.path


def words_of(request: Request) -> PageWords:
    """The words of the language that whoever sent a request reads."""
    return page_words(language_of(request, core_of(request).settings.language))


@cache
def environment(language: str) -> Environment:
    """Packaged templates only; their words, numbers and dates are those of the catalogue of a language."""
    from trustreport.vocabulary.resources import folder

    words = page_words(language)
    numbers = words.numbers
    made = Environment(
        loader=FileSystemLoader(folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.globals |= {"say": words, "static": address}
    made.filters |= {
        "instant": lambda at: f"{numbers.moment(_utc(at).replace(tzinfo=None))} UTC",
        "day": lambda at: numbers.day(_utc(at).date()),
        "date": lambda text: declared(text, numbers),
        "size": lambda n: size(n, numbers),
        "number": lambda value: number(value, numbers),
        "count": numbers.count,
        "percent": numbers.percent,
        "short_percent": lambda share: numbers.percent(share, 0 if round(100 * share, 1) % 1 == 0 else 1),
        "whole_percent": lambda share: numbers.percent(share, 0),
        "iso": lambda at: _utc(at).isoformat(timespec="minutes"),
    }
    return made


def declared(day: str | date | None, numbers: Numbers) -> str:
    """A date that a study declares; none is empty, and a text that is no date stays as it is."""
    try:
        return numbers.day(date.fromisoformat(day) if isinstance(day, str) else day) if day else ""
    except ValueError:
        return str(day)


def size(n: int, numbers: Numbers) -> str:
    """Bytes as people read them.

    >>> [size(n, Numbers("en")) for n in (999, 21_400, 1_500_000, 200_000_000_000)]
    ['999 B', '21 kB', '1.5 MB', '200 GB']
    """
    if n < 1000:
        return f"{n} B"
    if n < 1_000_000:
        return f"{numbers.fixed(n / 1000, 0)} kB"
    unit, name = (1_000_000, "MB") if n < 1_000_000_000 else (1_000_000_000, "GB")
    whole = round(n / unit, 1) == round(n / unit)
    return f"{numbers.fixed(n / unit, 0 if whole else 1)} {name}"


def number(value: Any, numbers: Numbers) -> str:
    """A number of a result with four digits; a text as it is.

    >>> [number(value, Numbers("de")) for value in (0.71234, -1234, "AUC")]
    ['0,7123', '\N{MINUS SIGN}1.234', 'AUC']
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return numbers.count(value)
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}").replace(".", numbers.point)


def _utc(at: int | datetime) -> datetime:
    return datetime.fromtimestamp(at / 1000, UTC) if isinstance(at, int) else at.astimezone(UTC)
