"""How texts of a manifest are written: shortened to a length, long words broken, numbers and dates."""

import datetime as dt
import re

from markupsafe import Markup

from trustreport.vocabulary.messages import Catalogue

BLANKS = re.compile(r"[ \t\r\n]+")
LONG_WORD = re.compile(r"\S{16,}")
PIECE = 12  # characters between two places where a word without signs may break


def shorten(text: str, most: int, say: Catalogue) -> str:
    """At most about so many characters, cut between sentences or words where there are any."""
    text = BLANKS.sub(" ", text).strip(" ")  # what must not break stays
    if len(text) <= most:
        return text
    cut = text[:most]
    if ". " in cut[most // 2 :]:
        return cut[: cut.rfind(". ") + 1]
    return say("word.shortened", text=cut[: cut.rfind(" ")] if " " in cut[most // 2 :] else cut)


def breakable(text: str) -> Markup:
    """Text as HTML whose long words may break: after points, underscores and slashes, else anywhere."""
    out, end = Markup(""), 0
    for word in LONG_WORD.finditer(text):
        pieces = (piece for whole in re.split(r"(?<=[._/-])", word[0]) for piece in _pieces(whole))
        out += Markup.escape(text[end : word.start()]) + Markup("<wbr>").join(pieces)
        end = word.end()
    return out + Markup.escape(text[end:])


def together(text: str) -> str:
    """A number of a table: what is in brackets may go below what is before them; nothing else breaks."""
    before, bracket, within = text.replace(" ", "\u00a0").partition("\u00a0(")
    return f"{before} ({within}" if bracket else before


def day(moment: dt.datetime | dt.date, say: Catalogue) -> str:
    """A date; a moment with its time, unless that is midnight."""
    if isinstance(moment, dt.datetime) and moment.time() != dt.time():
        return say.numbers.moment(moment)
    return say.numbers.day(moment)


def _pieces(word: str) -> list[str]:
    if len(word) <= 2 * PIECE:
        return [word]
    return [word[i : i + PIECE] for i in range(0, len(word), PIECE)]


def month(period: str, say: Catalogue) -> str:
    """The name of a period; one that is a month by the name of the month ("2026-08": "August 2026")."""
    found = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", period)
    if found is None:
        return period
    from babel.dates import format_date

    return format_date(dt.date(int(found[1]), int(found[2]), 1), "MMMM y", locale=say.language)
