"""The look that every figure shares: colours by meaning, sizes, and a sheet measured in millimetres.

Figures are drawn at their final size, so a point is a point in print. matplotlib is imported on first use.
Draw *and save* inside `settings()`: matplotlib reads some of them (``svg.hashsalt``) only when it saves.
"""

import re
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from trustreport.vocabulary.messages import Catalogue, Message
from trustreport.vocabulary.resources import folder

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1b2733"  # text, the line of no effect
MUTE = "#5b6875"  # secondary text, comparators
HAIRLINE = "#d5dbe1"  # axes
WASH = "#f4f6f8"  # quiet areas
BLUE = "#1f5f9e"  # structure, benefit, the aided arm
TEAL = "#0e7c7b"  # what leads
RUST = "#b4472b"  # detriment
AMBER = "#8a6100"  # warnings
PAPER = "#ffffff"
FAINT = "#a3adb8"  # intervals behind marks, leaders to labels
BLUE_WASH, RUST_WASH, TEAL_WASH = "#edf3f9", "#fbf1ee", "#c9dfe1"

# What marks and lines mean, in every figure alike:
#   filled   what is assessed: the device, a reading with the aid, a period under review
#   hollow   what that is compared with: a reading without the aid, the baseline; of a site among others,
#            fewer cases than are needed
#   pale     no place on the axis
#   solid    a result, or the line of no effect
#   dashed   a bound, a limit, a mean or a comparator; dotted a further one
# Of several series in one figure each has its own shape or dashes beside its colour, and its name.
DASHED: Any = (0, (4.0, 1.8))
DOTTED: Any = (0, (1.2, 1.2))
SHAPES = ("o", "s", "^", "D", "v", "P", "X", "<", "*", ">", "d")
SERIES = (BLUE, RUST, TEAL, AMBER, INK)

# Colour, width and dashes; a further line begins anew.
STROKES: tuple[dict[str, Any], ...] = (
    {"color": TEAL, "lw": 1.8},
    {"color": BLUE, "lw": 1.4, "ls": (0, (5, 1.6))},
    {"color": INK, "lw": 1.4, "ls": (0, (1.2, 1.2))},
    {"color": AMBER, "lw": 1.3, "ls": (0, (6, 1.5, 1.2, 1.5))},
    {"color": MUTE, "lw": 1.1},
    {"color": RUST, "lw": 1.1, "ls": (0, (2.6, 1.4))},
)

# Points.
LABEL = 7.8
TICK = 7.2
SMALL = 7.1
SMALLEST = 7.0
REGULAR, SEMIBOLD, BOLD = 400, 600, 700
HAIR, THIN, LINE, HEAVY = 0.5, 0.8, 1.3, 2.2

# Families of the text, and of the signs that it lacks; not the names of fonts that may be installed.
TEXT_FACE, SIGNS_FACE = "Report Text", "Report Signs"

# Roles of small text: beside marks, in keys, as a heading of a panel or a column.
AXIS: dict[str, Any] = {"size": TICK}
MUTED: dict[str, Any] = {"size": SMALL, "color": MUTE}
TINY: dict[str, Any] = {"size": SMALLEST, "color": MUTE}
HEADING: dict[str, Any] = {"size": TICK, "weight": SEMIBOLD}
ON_PAPER: dict[str, Any] = {"facecolor": PAPER, "edgecolor": "none"}  # text that covers lines below it

# Millimetres.
TEXT_WIDTH = 170.0
PAGE_HEIGHT = 225.0  # a taller figure leaves no room for its caption on a page
MM = 72 / 25.4  # points in a millimetre

_SIZE = 100.0  # points: the size in which matplotlib measures
LINE_HEIGHT = 1.21 / MM  # of a line of 1 pt, in millimetres

_one_at_a_time = threading.RLock()


@contextmanager
def settings() -> Iterator[None]:
    """matplotlib as all figures want it. Its settings are global, so one thread draws at a time."""
    import matplotlib as mpl

    with _one_at_a_time, mpl.rc_context(), warnings.catch_warnings():
        # Names of a study may hold signs that no face has: the box in their place tells the reader enough.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        mpl.rcParams.update(
            {
                "font.family": _faces(),
                "font.size": LABEL,
                "text.color": INK,
                "text.parse_math": False,  # a label may hold a $
                "text.hinting": "no_hinting",
                "axes.unicode_minus": True,
                "axes.edgecolor": HAIRLINE,
                "axes.labelcolor": INK,
                "axes.linewidth": THIN,
                "lines.solid_capstyle": "butt",
                "svg.fonttype": "path",
                "svg.hashsalt": "trustreport",
                "savefig.facecolor": PAPER,
                "path.simplify": False,
                "path.snap": False,  # lines that meet stay in line
            }
        )
        yield


@cache
def _faces() -> list[str]:
    """The faces of text in order of preference, made known to matplotlib under our own names."""
    from matplotlib.font_manager import fontManager

    known = len(fontManager.ttflist)
    for path in sorted((folder("templates") / "assets" / "fonts").glob("*.ttf")):
        fontManager.addfont(path)
    bundled, installed = fontManager.ttflist[known:], fontManager.ttflist[:known]
    signs = [face for face in installed if face.name == "DejaVu Sans" and face.style == "normal"]
    # DejaVu Sans has no semibold: without that entry matplotlib would log that it takes the bold one.
    signs += [replace(face, weight=SEMIBOLD) for face in signs if face.weight == BOLD][:1]
    text = [replace(face, name=TEXT_FACE) for face in bundled]
    fontManager.ttflist[:] = text + [replace(face, name=SIGNS_FACE) for face in signs] + installed
    return [TEXT_FACE, SIGNS_FACE] if bundled else [SIGNS_FACE]


def figure(width: float, height: float) -> "tuple[Figure, Axes]":
    """A figure and a sheet that covers it, whose coordinates are millimetres from its upper left corner."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(width / 25.4, height / 25.4), dpi=144, facecolor=PAPER)
    FigureCanvasAgg(drawn)
    sheet = drawn.add_axes((0, 0, 1, 1), label="sheet")
    sheet.set(xlim=(0, width), ylim=(height, 0), zorder=2)
    sheet.set_axis_off()
    return drawn, sheet


def filled(colour: str) -> dict[str, Any]:
    """A mark of what is assessed."""
    return {"mfc": colour, "mec": colour, "mew": 0.4}


def hollow(colour: str) -> dict[str, Any]:
    """A mark of what that is compared with."""
    return {"mfc": PAPER, "mec": colour, "mew": 1.1}


def half(colour: str) -> dict[str, Any]:
    """A mark of which it is not known whether it would be filled or hollow."""
    return {"mfc": colour, "mfcalt": PAPER, "fillstyle": "left", "mec": colour, "mew": 0.8}


def pale() -> dict[str, Any]:
    """A mark of what has no place on the axis."""
    return {"mfc": FAINT, "mec": FAINT, "mew": 0.4}


def series(i: int) -> dict[str, Any]:
    """The mark of one of several series: no two of the first 55 are alike, nor any two of 11 in grey."""
    return {"marker": SHAPES[i % len(SHAPES)], **filled(SERIES[i % len(SERIES)])}


def label(say: Catalogue, text: Message | str) -> str:
    """A label as text: a message of the catalogue, or a name of the study's own."""
    return text if isinstance(text, str) else say(text)


def label_key(text: Message | str) -> str:
    """What tells one label from another, whatever the language."""
    return text if isinstance(text, str) else text.key + repr(sorted(text.values.items()))


def strokes(labels: Iterable[Message | str]) -> dict[str, int]:
    """The stroke of each candidate, by its plain name: that of its first appearance."""
    return {name: i for i, name in enumerate(dict.fromkeys(map(label_key, labels)))}


def stroke(which: int) -> dict[str, Any]:
    """Colour, width and dashes of the n-th line."""
    return STROKES[which % len(STROKES)]


def width_of(text: str, size: float = LABEL, weight: int = REGULAR) -> float:
    """How wide a text is, its widest line if it has several, in millimetres."""
    return max(_width(line, weight) for line in text.split("\n")) * (size / _SIZE) / MM


def height_of(text: str, size: float = LABEL) -> float:
    """How high a block of lines is, in millimetres."""
    return (text.count("\n") + 1) * size * LINE_HEIGHT if text else 0.0


@cache
def _width(line: str, weight: int) -> float:
    """In points at a size of `_SIZE`: this takes long, and a line is often set in several sizes."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    face = FontProperties(family=_faces(), size=_SIZE, weight=weight)
    found: float = text_to_path.get_text_width_height_descent(line, face, False)[0]
    return found


def wrap(text: str, width: float, size: float = LABEL, weight: int = REGULAR) -> str:
    """The text broken into lines that fit; a word wider than a line is broken too."""
    words = [word for word in re.split(r"[ \t\n]+", text) if word]  # a no-break space holds
    if width_of(whole := " ".join(words), size, weight) <= width:
        return whole
    lines: list[str] = []
    for word in words:
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(joined, size, weight) <= width:
            lines[-1] = joined
            continue
        while width_of(word, size, weight) > width and len(word) > 1:
            shorter = range(len(word) - 1, 1, -1)
            fits = next((k for k in shorter if width_of(word[:k], size, weight) <= width), 1)
            lines.append(word[:fits])
            word = word[fits:]
        lines.append(word)
    return "\n".join(lines)


def flowed(
    widths: Iterable[float], gap: float, *, start: float = 0.0, first: float | None = None
) -> list[tuple[int, float]]:
    """On which line each of some entries stands and where it begins, in lines as wide as the sheet.

    Lines begin at `start`, the first one at `first` where something stands before it.
    """
    line, x, empty = 0, start if first is None else first, True
    found = []
    for width in widths:
        if x + width > TEXT_WIDTH and (not empty or x > start):
            line, x = line + 1, start
        found.append((line, x))
        x += width + gap
        empty = False
    return found
