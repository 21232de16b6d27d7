"""Where names and discs go so that none lies over another."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin
from typing import Any

from trustreport.figures import style
from trustreport.figures.panel import Panel

Box = tuple[float, float, float, float]  # left, right, lower, upper; millimetres
Place = tuple[float, float]

DISC = 2.5  # across a mark
FURTHER = (3.0, 6.0, 9.0, 12.0, 15.0, 18.0)  # how far from its mark a name may go, with a line to it


def meet(a: Box, b: Box) -> bool:
    """Whether two boxes lie over each other."""
    return a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3]


def around(place: Place, half: float) -> Box:
    """The box of a mark."""
    x, y = place
    return x - half, x + half, y - half, y + half


def spread(wanted: Sequence[float], tall: Sequence[float], top: float, bottom: float) -> list[float]:
    """Middles of labels, as near as possible to where they are wanted, none over another, within the ends.

    Pools neighbours that would overlap and centres each pool on the mean of its wishes.
    """
    order = sorted(range(len(wanted)), key=lambda k: wanted[k])
    offsets, reach = [], 0.0
    for k in order:
        offsets.append(reach + tall[k] / 2)
        reach += tall[k]
    pools: list[tuple[float, int]] = []  # where the stack of labels would start, and how many share it
    for k, offset in zip(order, offsets):
        pools.append((wanted[k] - offset, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, n), (b, m) = pools[-2:]
            pools[-2:] = [((a * n + b * m) / (n + m), n + m)]
    starts = [min(max(start, top), bottom - reach) for start, n in pools for _ in range(n)]
    placed = [0.0] * len(wanted)
    for k, start, offset in zip(order, starts, offsets):
        placed[k] = start + offset
    return placed


@dataclass(frozen=True, slots=True)
class Occupied:
    """A panel: which sites have a mark, where, and what else no name may cover; in millimetres."""

    sites: tuple[int, ...]
    marks: tuple[Place, ...]
    taken: tuple[Box, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Labelled:
    """What is written beside each mark of each panel, and where it begins; numbers of the key, or names."""

    panels: tuple[Occupied, ...]
    texts: tuple[str, ...]
    spots: tuple[tuple[Place | None, ...], ...]
    numbered: bool

    def write(self, plot: Panel, p: int, back: Callable[[float, float], Place]) -> None:
        """The labels of a panel; `back` takes millimetres to its axes. A far one has a line to its mark."""
        held = self.panels[p]
        for i, mark, spot in zip(held.sites, held.marks, self.spots[p]):
            if spot is None:
                continue
            text = self.texts[i]
            wide, tall = style.width_of(text, style.SMALLEST), style.height_of(" ", style.SMALLEST)
            end = (  # the point of the label that is nearest to its mark
                min(max(mark[0], spot[0]), spot[0] + wide),
                min(max(mark[1], spot[1] - tall / 2), spot[1] + tall / 2),
            )
            if hypot(end[0] - mark[0], end[1] - mark[1]) > DISC:
                line: dict[str, Any] = {"color": style.FAINT, "lw": style.HAIR, "zorder": 2.7}
                plot.line((back(*mark), back(*end)), f"label-{p}-{i}", **line)
            plot.write(*back(*spot), text, size=style.SMALLEST, zorder=4)


def labelled(names: Sequence[str], panels: Sequence[Occupied]) -> Labelled:
    """Every site by its name in every panel where all have room, else by its number in the key."""

    def spots(texts: Sequence[str]) -> tuple[tuple[Place | None, ...], ...]:
        return tuple(
            tuple(label_places([texts[i] for i in p.sites], p.marks, p.width, p.height, p.taken))
            for p in panels
        )

    found, numbered = spots(names), False
    if any(spot is None for own in found for spot in own):
        names, numbered = [str(k + 1) for k in range(len(names))], True
        found = spots(names)
    return Labelled(tuple(panels), tuple(names), found, numbered)


def label_places(
    names: Sequence[str], marks: Sequence[Place], width: float, height: float, taken: Sequence[Box] = ()
) -> list[Place | None]:
    """Where the name of each mark begins, beside it or near, over nothing else; None where it has no room."""
    half = DISC / 2
    used = [*taken, *(around(mark, half) for mark in marks)]
    tall = style.height_of(" ", style.SMALLEST)
    found: list[Place | None] = []
    for name, (x, y) in zip(names, marks):
        wide = style.width_of(name, style.SMALLEST)
        right, left = x + half + 0.4, x - half - 0.4 - wide
        middle = min(max(x - wide / 2, 0.3), width - wide - 0.3)
        above, below = y + half + tall / 2, y - half - tall / 2
        spots = [(right, y), (left, y), (middle, above), (middle, below)]
        spots += [(right, above), (left, above), (right, below), (left, below)]
        for away in FURTHER:
            spots += [(middle, above + away), (middle, below - away)]
            for side in (away / 2, away):
                ups = (0.0, away, -away)
                spots += [(right + side, y + up) for up in ups] + [(left - side, y + up) for up in ups]
        for a, b in spots:
            box = (a, a + wide, b - tall / 2, b + tall / 2)
            inside = box[0] >= 0 and box[1] <= width and box[2] >= 0 and box[3] <= height
            if inside and not any(meet(box, other) for other in used):
                found.append((a, b))
                used.append(box)
                break
        else:
            found.append(None)
    return found


def spread_discs(places: Sequence[Place], width: float, height: float, *, floor: float = 2.45) -> list[Place]:
    """Where discs go so that none covers another: at their place, or the nearest free one, in millimetres.

    No disc reaches below `floor`.

    >>> spread_discs([(5.0, 5.0), (40.0, 5.0)], 45.0, 70.0)
    [(5.0, 5.0), (40.0, 5.0)]
    """
    least, taken = floor + DISC / 2, list[Place]()
    for x, y in places:
        wanted = min(max(x, DISC / 2), width - DISC / 2), min(max(y, least), height - DISC / 2)
        rings = [(0.8 * ring, max(12, int(2 * pi * 0.8 * ring))) for ring in range(1, 60)]
        near = [
            (wanted[0] + radius * cos(2 * pi * k / steps), wanted[1] + radius * sin(2 * pi * k / steps))
            for radius, steps in rings
            for k in range(steps)
        ]
        within = [
            (a, b) for a, b in near if DISC / 2 <= a <= width - DISC / 2 and least <= b <= height - DISC / 2
        ]

        def cost(place: Place, wanted: Place = wanted) -> float:
            """The distance from where the disc belongs; a taken place costs more than any distance."""
            covered = any(hypot(place[0] - a, place[1] - b) < DISC + 0.25 for a, b in taken)
            return hypot(place[0] - wanted[0], place[1] - wanted[1]) + (1e6 if covered else 0.0)

        taken.append(min([wanted, *within], key=cost))
    return taken
