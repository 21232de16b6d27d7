"""How long texts are shortened and long words broken, so that what a manifest spells out fits the page."""

import re

from markupsafe import Markup

from trustreport.messages import Catalogue

LONG_WORD = re.compile(r"\S{25,}")
PIECE = 12  # characters between two places where a word without signs may break


def shorten(text: str, most: int, say: Catalogue) -> str:
    """At most about so many characters, cut between words where there are any."""
    text = " ".join(text.split())
    if len(text) <= most:
        return text
    cut = text[:most]
    return say("word.shortened", text=cut[: cut.rfind(" ")] if " " in cut[most // 2 :] else cut)


def breakable(text: str) -> Markup:
    """Text as HTML whose long words may break: after points, underscores and slashes, else anywhere."""
    out, end = Markup(""), 0
    for word in LONG_WORD.finditer(text):
        pieces = (piece for whole in re.split(r"(?<=[._/-])", word[0]) for piece in _pieces(whole))
        out += Markup.escape(text[end : word.start()]) + Markup("<wbr>").join(pieces)
        end = word.end()
    return out + Markup.escape(text[end:])


def _pieces(word: str) -> list[str]:
    if len(word) <= 2 * PIECE:
        return [word]
    return [word[i : i + PIECE] for i in range(0, len(word), PIECE)]
