"""What became of decisions after wrong and right advice: counts, for those right and those wrong before."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from trustreport.figures import style
from trustreport.vocabulary.messages import Catalogue

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Panel = Literal["wrong", "right"]
Before = Literal["right", "wrong"]

# Millimetres: a heading, a bar, and what its two parts are.
HEAD, BAR, WORDS, BETWEEN = 4.2, 3.0, 4.2, 1.6
HEIGHT = 2 * (HEAD + BAR + WORDS) + BETWEEN


@dataclass(frozen=True, slots=True)
class TrustFlow:
    """Readings by pattern: three digits for the decision before, the advice and the decision after, 1 right.

    With `separate` readings the decisions are those without and with the aid, and none was changed.
    """

    counts: Mapping[str, int]
    separate: bool = False

    def of(self, panel: Panel, before: Before) -> tuple[int, int]:
        """How many were right afterwards, and how many wrong."""
        start = f"{int(before == 'right')}{int(panel == 'right')}"
        return self.counts[start + "1"], self.counts[start + "0"]

    def values(self, say: Catalogue, panel: Panel) -> list[dict[str, Any]]:
        """A row for those right before, and one for those wrong before."""
        return [
            {
                "label": say(f"figure.trust.{self.words}.{before}_head", n=sum(self.of(panel, before))),
                "advice": say(f"figure.trust.advice_{panel}"),
                "right_after": self.of(panel, before)[0],
                "wrong_after": self.of(panel, before)[1],
            }
            for before in ("right", "wrong")
        ]

    @property
    def words(self) -> str:
        """The group of texts: of changed decisions, or of separate readings."""
        return "separate" if self.separate else "flow"

    def draw(self, say: Catalogue, sheet: "Axes", panel: Panel, left: float, top: float, wide: float) -> None:
        """Two bars on a sheet in millimetres, each from those that were right afterwards to those wrong."""
        y = top
        for before in ("right", "wrong"):
            after = self.of(panel, before)
            n = sum(after)
            how: dict[str, Any] = {"size": style.TICK, "va": "center"}
            style.write(
                sheet, left, y + HEAD / 2, say(f"figure.trust.{self.words}.{before}_head", n=n), **how
            )
            y += HEAD
            split = left + wide * after[0] / n if n else left
            names = zip(("good", "bad"), after)
            words = [say(f"figure.trust.{self.words}.{before}_{name}", n=k) for name, k in names]
            name = f"flow-{panel}-{before}"
            self._part(sheet, (left, split), y, f"{name}-right", words[0], fc=style.BLUE, ec=style.BLUE)
            ends = split, left + wide
            self._part(sheet, ends, y, f"{name}-wrong", words[1], fc=style.RUST_WASH, ec=style.RUST)
            y += BAR
            if n:
                style.write(sheet, left, y + WORDS / 2, words[0], color=style.BLUE, **how)
                style.write(sheet, left + wide, y + WORDS / 2, words[1], color=style.RUST, ha="right", **how)
            y += WORDS + BETWEEN

    def _part(
        self, sheet: "Axes", ends: tuple[float, float], y: float, name: str, title: str, **how: Any
    ) -> None:
        (start, end), bar = ends, [y, y, y + BAR, y + BAR]
        if end > start:
            sheet.fill([start, end, end, start], bar, lw=style.HAIR, gid=name, label=title, **how)
