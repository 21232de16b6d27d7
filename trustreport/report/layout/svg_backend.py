"""Draws a figure as lean SVG for the page: a path per mark, labels as text where matplotlib put them.

matplotlib's own SVG is made to be edited: every artist, tick and marker in groups of its own, and each label
aligned by whoever shows it. A page needs none of that, and is laid out in half the time without it.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from io import BytesIO
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import numpy as np
from matplotlib.axis import Axis
from matplotlib.backend_bases import RendererBase
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.colors import to_hex
from matplotlib.font_manager import FontProperties, weight_dict
from matplotlib.path import Path
from matplotlib.transforms import Affine2D

if TYPE_CHECKING:
    from matplotlib.figure import Figure

POINTS = 72  # in an inch: the unit of the drawing
DECIMALS = 2
COMMANDS = {Path.MOVETO: ("M", 1), Path.LINETO: ("L", 1), Path.CURVE3: ("Q", 2), Path.CURVE4: ("C", 3)}
CAPS = {"projecting": "square", "round": "round"}


def svg(figure: "Figure", *, dots_per_inch: int) -> bytes:
    """The figure as SVG; what is marked as rasterized becomes an image of so many dots.

    Within `figures.style.settings()`. Labels are text in the faces of `figures.style`, which the page needs.
    An artist that has a name and a label of its own becomes a group with the label as its title.
    """
    width, height = (float(side) * POINTS for side in figure.get_size_inches())
    before = figure.dpi
    lean = _SvgRenderer(width, height, dots_per_inch, _titles(figure))
    try:
        figure.dpi = POINTS
        both: Any = MixedModeRenderer(figure, width / POINTS, height / POINTS, dots_per_inch, lean)
        figure.draw(both)
    finally:
        figure.dpi = before
    return lean.document()


def _titles(figure: "Figure") -> dict[str, str]:
    """What the artists of a figure say about themselves, by their names."""
    labels = {artist.get_gid(): str(artist.get_label() or "") for artist in _artists(figure)}
    # matplotlib gives what has no label one that begins with an underscore.
    return {name: label for name, label in labels.items() if name and label[:1] not in ("", "_")}


def _artists(artist: Any) -> Iterator[Any]:
    """An artist and all that it is made of, but for the parts of an axis: asked for, they would be made."""
    yield artist
    if not isinstance(artist, Axis):
        for part in artist.get_children():
            yield from _artists(part)


def _number(value: float) -> str:
    return f"{round(float(value), DECIMALS):g}"


class _SvgRenderer(RendererBase):
    """Collects elements in the order in which they are drawn."""

    def __init__(self, width: float, height: float, dots_per_inch: int, titles: Mapping[str, str]) -> None:
        super().__init__()
        self.width, self.height, self._dots, self._titles = width, height, dots_per_inch, titles
        self._open: list[bool] = []  # for each artist that is being drawn, whether it is a group
        self._flip = Affine2D().scale(1, -1).translate(0, height)
        self._elements: list[str] = []
        self._clips: dict[str, str] = {}  # name by shape
        # The path that the next one may be joined to.
        self._style = ""
        self._data: list[str] = []

    def document(self) -> bytes:
        """What was drawn."""
        self._close()
        clips = "".join(f'<clipPath id="{name}">{shape}</clipPath>' for shape, name in self._clips.items())
        size = f'width="{_number(self.width)}pt" height="{_number(self.height)}pt"'
        box = f'viewBox="0 0 {_number(self.width)} {_number(self.height)}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} {box} version="1.1" stroke-linejoin="round">'
        defs = f"<defs>{clips}</defs>" if clips else ""
        return "\n".join([head + defs, *self._elements, "</svg>\n"]).encode()

    def open_group(self, s: str, gid: str | None = None) -> None:
        """Begin a group; one with a title shows it on hover."""
        title = self._titles.get(gid or "", "")
        self._open.append(bool(title))
        if title:
            self._close()
            self._elements.append(f"<g><title>{escape(title)}</title>")

    def close_group(self, s: str) -> None:
        """End a group that was begun with a title."""
        if self._open.pop():
            self._close()
            self._elements.append("</g>")

    def get_canvas_width_height(self) -> tuple[float, float]:
        """The size of the figure in points."""
        return self.width, self.height

    def draw_path(self, gc: Any, path: Path, transform: Any, rgbFace: Any = None) -> None:
        """Draw a path, joined with the one before where both look alike."""
        placed = transform + self._flip
        data = _data(path, placed)
        if not data:
            return
        style, plain = _style(gc, rgbFace)
        style += self._clipped(gc, path, placed)
        if not (plain and style == self._style):
            self._close()
            self._style = style
        self._data.append(data)
        if not plain:
            self._close()

    def draw_text(
        self,
        gc: Any,
        x: float,
        y: float,
        s: str,
        prop: Any,
        angle: float,
        ismath: Any = False,
        mtext: Any = None,
    ) -> None:
        """Draw a text as text, not as a path."""
        self._close()
        weight = prop.get_weight()
        weight = weight_dict.get(weight, weight)
        faces = escape(", ".join(f"'{name}'" for name in prop.get_family()), {'"': "&quot;"})
        heavy = "" if weight == weight_dict["normal"] else f' font-weight="{weight}"'
        see_through = "" if gc.get_alpha() in (None, 1) else f' fill-opacity="{_number(gc.get_alpha())}"'
        turned = f' transform="rotate({_number(-angle)} {_number(x)} {_number(y)})"' if angle else ""
        place = f'x="{_number(x)}" y="{_number(y)}" font-size="{_number(prop.get_size_in_points())}"'
        look = f'font-family="{faces}"{heavy} fill="{to_hex(gc.get_rgb())}"{see_through}'
        self._elements.append(f"<text {place} {look}{turned}>{escape(s)}</text>")

    def draw_image(self, gc: Any, x: float, y: float, im: Any, transform: Any = None) -> None:
        """Embed an image as PNG."""
        from PIL import Image

        self._close()
        height, width = (side * POINTS / self._dots for side in im.shape[:2])
        file = BytesIO()
        Image.fromarray(im[::-1]).save(file, format="png")
        self._elements.append(
            f'<image x="{_number(x)}" y="{_number(self.height - y - height)}" width="{_number(width)}" '
            f'height="{_number(height)}" href="data:image/png;base64,{b64encode(file.getvalue()).decode()}"/>'
        )

    def get_text_width_height_descent(self, s: str, prop: Any, ismath: Any) -> tuple[float, float, float]:
        """The extent of a text in points."""
        return _extent(s, tuple(prop.get_family()), prop.get_weight(), prop.get_size_in_points())

    def flipy(self) -> bool:
        """The y axis of SVG points down."""
        return True

    def _close(self) -> None:
        """End the path that further pieces of its style would have joined."""
        if self._data:
            self._elements.append(f'<path d="{"".join(self._data)}"{self._style}/>')
        self._style, self._data = "", []

    def _clipped(self, gc: Any, path: Path, placed: Any) -> str:
        """The clip of a path that reaches beyond it."""
        shape, within = "", None
        if (rectangle := gc.get_clip_rectangle()) is not None:
            within = rectangle.transformed(self._flip)
            x, y = min(within.x0, within.x1), min(within.y0, within.y1)
            sides = f'width="{_number(abs(within.width))}" height="{_number(abs(within.height))}"'
            shape = f'<rect x="{_number(x)}" y="{_number(y)}" {sides}/>'
        clip, moved = gc.get_clip_path()
        if clip is not None:
            shape = f'<path d="{_data(clip, moved + self._flip)}"/>'
        elif within is not None:
            reach = path.get_extents(placed).padded(gc.get_linewidth() / 2)
            low, high = within.min, within.max
            if (reach.min >= low - 0.01).all() and (reach.max <= high + 0.01).all():
                return ""
        if not shape:
            return ""
        name = self._clips.setdefault(shape, f"c{len(self._clips)}")
        return f' clip-path="url(#{name})"'


@lru_cache(20_000)
def _extent(s: str, family: tuple[str, ...], weight: Any, size: float) -> tuple[float, float, float]:
    """Width, height and descent of a text in points; many are in several figures."""
    face = FontProperties(family=list(family), weight=weight, size=size)
    found: tuple[float, float, float] = RendererBase().get_text_width_height_descent(s, face, False)
    return found


def _data(path: Path, transform: Any) -> str:
    """The path in the words of SVG."""
    cleaned = path.cleaned(transform=transform, remove_nans=True, simplify=False, curves=True)
    points = np.asarray(cleaned.vertices, np.float64).round(DECIMALS).tolist()
    codes = np.asarray(cleaned.codes).tolist()
    words, i = [], 0
    while i < len(codes):
        code = codes[i]
        if code == Path.STOP:
            break
        if code == Path.CLOSEPOLY:
            words.append("Z")
            i += 1
            continue
        word, n = COMMANDS[code]
        words.append(word + " ".join(f"{x:g} {y:g}" for x, y in points[i : i + n]))
        i += n
    return "".join(words)


def _style(gc: Any, face: Any) -> tuple[str, bool]:
    """How a path is painted, and whether pieces in that style may be painted as one path."""
    alpha = gc.get_alpha() if gc.get_forced_alpha() else None
    filled = face is not None
    style, clear = ' fill="none"', 1.0
    if filled:
        clear = alpha if alpha is not None else (face[3] if len(face) == 4 else 1.0)
        style = f' fill="{to_hex(face[:3])}"' + ("" if clear == 1 else f' fill-opacity="{_number(clear)}"')
    width = gc.get_linewidth()
    if not width:
        return style, filled and clear == 1
    colour = gc.get_rgb()
    seen = alpha if alpha is not None else colour[3]
    style += f' stroke="{to_hex(colour[:3])}" stroke-width="{_number(width)}"'
    if seen != 1:
        style += f' stroke-opacity="{_number(seen)}"'
    offset, dashes = gc.get_dashes()
    if dashes is not None:
        style += f' stroke-dasharray="{" ".join(map(_number, dashes))}"'
        style += f' stroke-dashoffset="{_number(offset)}"' if offset else ""
    if gc.get_joinstyle() != "round":
        style += f' stroke-linejoin="{gc.get_joinstyle()}"'
    if gc.get_capstyle() in CAPS:
        style += f' stroke-linecap="{CAPS[gc.get_capstyle()]}"'
    return style, not filled and seen == 1
