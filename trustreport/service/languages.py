"""Which language a person reads: the one they chose, one that their browser asks for, or the setting's."""

from functools import cache
from typing import TYPE_CHECKING

from trustreport.vocabulary.messages import languages
from trustreport.vocabulary.resources import folder

if TYPE_CHECKING:
    from fastapi import Request

COOKIE = "__Host-trustreport-language"
MOST_ASKED = 20  # languages of a header that are looked at
PAGES = ("pages*.toml", "mail.toml")  # the files of a catalogue that pages and mail need


@cache
def offered() -> tuple[str, ...]:
    """The languages whose catalogue has every file of pages and mail that the English one has."""
    texts = folder("templates") / "messages"

    def files(language: str) -> set[str]:
        return {file.name for pattern in PAGES for file in (texts / language).glob(pattern)}

    return tuple(language for language in languages() if files(language) >= files("en"))


@cache
def names() -> dict[str, str]:
    """The languages that are offered, each with its name in itself.

    >>> names()["en"]
    'English'
    """
    from babel import Locale

    return {one: str(Locale.parse(one).get_language_name(one)).capitalize() for one in offered()}


def language_of(request: "Request", default: str) -> str:
    """The language of the answer to a request."""
    from babel.core import negotiate_locale

    chosen = request.cookies.get(COOKIE, "")
    if chosen in offered():
        return chosen
    asked = preferred(request.headers.get("Accept-Language", ""))
    return negotiate_locale(asked, offered(), sep="-") or default


def preferred(header: str) -> list[str]:
    """The languages of an ``Accept-Language``, the most wanted first (RFC 9110, section 12.5.4).

    >>> preferred("de;q=0.8, it-CH, *;q=0.1, fr;q=0")
    ['it-CH', 'de', '*']
    """
    weights: list[tuple[float, str]] = []
    for part in header.split(",")[:MOST_ASKED]:
        name, _, parameter = part.partition(";")
        try:
            weight = float(parameter.strip().removeprefix("q=") or 1)
        except ValueError:
            continue
        if name.strip() and 0 < weight <= 1:
            weights.append((weight, name.strip()))
    return [name for _, name in sorted(weights, key=lambda one: -one[0])]
