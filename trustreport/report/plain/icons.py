"""100 shapes, a shape and a fill for each state, so that no colour is needed to distinguish them."""

from base64 import b64encode
from collections.abc import Iterable

from trustreport.report.plain.hundred import State

CELL, IN_A_ROW = 10, 10
# Each is drawn around the middle of a cell.
SHAPES: dict[State, str] = {
    "found": '<circle r="3.7" fill="#155a94"/>',
    "missed": '<path d="M-3.7-3.7H3.7V3.7H-3.7Z" fill="#fff" stroke="#7d1313" stroke-width="1.3"/>'
    '<path d="M-2.3-2.3 2.3 2.3M2.3-2.3-2.3 2.3" stroke="#7d1313" stroke-width="1.5"/>',
    "false_alarm": '<path d="M0-3.9 4 3.2H-4Z" fill="#fff" stroke="#8a4b00" stroke-width="1.4"/>',
    "cleared": '<circle r="2.6" fill="#fff" stroke="#5d6b78" stroke-width="0.9"/>',
}
SHAPES |= {"right": SHAPES["found"], "wrong": SHAPES["missed"]}


def array(states: Iterable[tuple[State, int]]) -> str:
    """The shapes in rows of ten, state after state."""
    every = [state for state, n in states for _ in range(n)]
    drawn = (_placed(state, i % IN_A_ROW, i // IN_A_ROW) for i, state in enumerate(every))
    rows = -(-len(every) // IN_A_ROW)
    return _svg(CELL * IN_A_ROW, CELL * rows, "".join(drawn))


def style() -> str:
    """The shape of each state by itself, for the lines that explain it."""
    drawn = {state: _svg(CELL, CELL, _placed(state, 0, 0)) for state in SHAPES}
    pictures = {state: b64encode(svg.encode()).decode() for state, svg in drawn.items()}
    return "".join(
        f".key.{state} {{ background-image: url(data:image/svg+xml;base64,{picture}); }}\n"
        for state, picture in pictures.items()
    )


def _placed(state: State, column: int, row: int) -> str:
    x, y = CELL * column + CELL / 2, CELL * row + CELL / 2
    return f'<g transform="translate({x:g} {y:g})">{SHAPES[state]}</g>'


def _svg(width: int, height: int, drawn: str) -> str:
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{drawn}</svg>'
