"""A figure as part of the HTML: named, with ids of its own, in colours that follow the page into the dark."""

import re
from functools import cache

from markupsafe import Markup, escape

from trustreport.figures import style

# The property of the page that stands for a colour of the figures; screen.css gives each of them two values.
PROPERTIES = {
    style.INK: "--ink",
    style.MUTE: "--mute",
    style.HAIRLINE: "--hairline",
    style.WASH: "--wash",
    style.BLUE: "--blue",
    style.TEAL: "--teal",
    style.RUST: "--rust",
    style.AMBER: "--amber",
    style.PAPER: "--paper",
    style.FAINT: "--faint",
    style.BLUE_WASH: "--blue-wash",
    style.RUST_WASH: "--rust-wash",
    style.TEAL_WASH: "--teal-wash",
}
HUES = (style.BLUE, style.TEAL, style.RUST, style.AMBER, style.INK)
NEAR = 0.02  # of 1: how far a channel of a colour may be from the mixture that it is taken for

_COLOUR = re.compile(r'(?<= )(fill|stroke)="(#[0-9a-f]{6})"')
_FACES = re.compile(r' font-family="[^"]*"')
_SHEET = re.compile(
    r'<path d="[^"]*" fill="#ffffff"/>\n'
)  # the paper of the figure, which the page has already
_ID = re.compile(r'(?<= id=")(?=c\d+")|(?<=="url\(#)(?=c\d+\))')


def inline(drawing: bytes, anchor: str, title: str, description: str) -> Markup:
    """The SVG of `report.svg_backend` as an element of the page.

    Parameters
    ----------
    anchor : what its ids begin with, so that each is the only one in the page
    title, description : its name, and what it shows
    """
    head, _, content = drawing.decode().partition(">")
    content = _SHEET.sub("", _FACES.sub("", content), count=1)
    content = _ID.sub(f"{anchor}-", _COLOUR.sub(_property, content))
    named = f'role="img" aria-labelledby="{anchor}-title {anchor}-description"'
    about = f'<title id="{anchor}-title">{escape(title)}</title>'
    about += f'<desc id="{anchor}-description">{escape(description)}</desc>'
    return Markup(f"{head} {named}>{about}{content.rstrip()}")  # noqa: S704 -- ours; every label was escaped


def _property(found: re.Match[str]) -> str:
    return f'{found[1]}="{colour(found[2])}"'


@cache
def colour(given: str) -> str:
    """A colour of the figures as one that follows the page: a property, or a hue mixed with the paper.

    >>> colour("#1b2733"), colour("#8eafce")
    ('var(--ink)', 'color-mix(in srgb,var(--blue) 50%,var(--paper))')
    """
    wanted = _channels(given)
    known = min(PROPERTIES, key=lambda one: _largest_gap(_channels(one), wanted))
    if _largest_gap(_channels(known), wanted) <= NEAR / 2:
        return f"var({PROPERTIES[known]})"
    share, hue = min(
        ((share, hue) for hue in HUES for share in range(1, 100)),
        key=lambda one: _largest_gap(_mixed(_channels(one[1]), one[0] / 100), wanted),
    )
    if _largest_gap(_mixed(_channels(hue), share / 100), wanted) > NEAR:
        return given
    return f"color-mix(in srgb,var({PROPERTIES[hue]}) {share}%,var(--paper))"


def _channels(colour: str) -> tuple[float, ...]:
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


def _mixed(hue: tuple[float, ...], share: float) -> tuple[float, ...]:
    return tuple(share * channel + 1 - share for channel in hue)


def _largest_gap(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    return max(abs(a - b) for a, b in zip(one, other))
