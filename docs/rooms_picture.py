"""Draw the rooms of the package from its imports, as docs/rooms.svg.

    python docs/rooms_picture.py

A room is a folder of `trustreport/`, with the first sentence of its docstring and what stands in it. A line
goes to each room that it imports, unless that is imported through another one anyway. A test draws it again.
"""

import ast
from html import escape
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).resolve().parent.parent
PACKAGE, PICTURE = ROOT / "trustreport", ROOT / "docs" / "rooms.svg"
WIDTH, HALF, GAP, LINE, CHARACTERS = 1000, 480, 30, 17, 7.1  # pixels; of a letter of the small print


def rooms() -> dict[str, set[str]]:
    """Each room with those that it imports anywhere, also in functions and for types."""
    names = sorted(p.name for p in PACKAGE.iterdir() if (p / "__init__.py").is_file())
    return {
        room: {
            other
            for file in (PACKAGE / room).rglob("*.py")
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("trustreport.")
            for other in [str(node.module).split(".")[1]]
            if other in names and other != room
        }
        for room in names
    }


def reached(graph: dict[str, set[str]], room: str) -> set[str]:
    """All rooms below one."""
    return graph[room].union(*(reached(graph, other) for other in graph[room]))


def direct(graph: dict[str, set[str]], room: str) -> list[str]:
    """The rooms that one imports and that no other of its imports brings along."""
    return sorted(graph[room] - set().union(*(reached(graph, other) for other in graph[room])))


def floors(graph: dict[str, set[str]]) -> list[list[str]]:
    """The rooms from the top down, each above all that it imports."""
    height: dict[str, int] = {}

    def of_room(room: str) -> int:
        if room not in height:
            height[room] = max((of_room(other) + 1 for other in graph[room]), default=0)
        return height[room]

    top = max(map(of_room, graph))
    return [[room for room in graph if height[room] == floor] for floor in range(top, -1, -1)]


def texts(room: str, width: int) -> tuple[str, list[str]]:
    """The first sentence of a room, and what stands in it, in lines."""
    folder = PACKAGE / room
    said = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
    inside = sorted(
        f"{entry.name}/" if entry.is_dir() else entry.stem
        for entry in folder.iterdir()
        if (entry.suffix == ".py" and entry.stem != "__init__") or (entry / "__init__.py").is_file()
    )
    return said.split("\n\n")[0].replace("\n", " "), wrap(", ".join(inside), int((width - 24) / CHARACTERS))


def drawn() -> str:
    """The picture."""
    graph, places, parts, y = rooms(), {}, [], 12
    for floor in floors(graph):
        width = WIDTH - 24 if len(floor) == 1 else HALF
        found = [texts(room, width) for room in floor]
        height = 52 + LINE * max(len(lines) for _, lines in found)
        for place, (room, (said, lines)) in enumerate(zip(floor, found, strict=True)):
            x = 12 + place * (WIDTH - 24 - HALF)
            places[room] = (x + width / 2, y, height)
            parts.append(f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>')
            parts.append(f'<text x="{x + 12}" y="{y + 22}" class="name">{room}</text>')
            parts.append(f'<text x="{x + 12}" y="{y + 41}">{escape(said)}</text>')
            parts += [
                f'<text x="{x + 12}" y="{y + 42 + LINE * number}" class="small">{escape(line)}</text>'
                for number, line in enumerate(lines, 1)
            ]
        y += height + GAP
    for room in graph:
        for other in direct(graph, room):
            (x, top, height), (to, below, _) = places[room], places[other]
            parts.append(f'<path d="M{x:g} {top + height} L{to:g} {below - 2}" marker-end="url(#arrow)"/>')
    style = (
        "text{font:14px sans-serif;fill:#1a1a1a}.name{font-weight:bold;font-size:16px}"
        ".small{font-size:12px;fill:#555}rect{fill:#fff;stroke:#777}path{stroke:#777;fill:none}"
    )
    marker = (
        '<marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" '
        'orient="auto"><path d="M0 0 L10 5 L0 10 z" style="fill:#777;stroke:none"/></marker>'
    )
    label = f"The rooms of the package and what they import: {', '.join(r for f in floors(graph) for r in f)}"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y - GAP + 12}" role="img" '
        f'aria-label="{escape(label)}">'
    )
    return "\n".join([head, f"<style>{style}</style>", f"<defs>{marker}</defs>", *parts, "</svg>", ""])


if __name__ == "__main__":
    PICTURE.write_text(drawn(), encoding="utf-8")
