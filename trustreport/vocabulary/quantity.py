"""What is known of a quantity before any data are seen: its unit, its better side, its range, its claim."""

from dataclasses import dataclass
from math import inf
from typing import Literal

from trustreport.measures.confusion.measure import Need
from trustreport.vocabulary.kinds import Claim

Unit = Literal["proportion", "difference", "ratio", "decisions", "count", "score", "seconds", "p", "utility"]
Scale = Literal["identity", "logit", "log", "log_shortfall", "atanh"]
Better = Literal["up", "down"] | float | None

DIFFERENCE = "_difference"
CORRECTED = "label_corrected_"  # how names of what is corrected for the error of the labels begin
RANGES: dict[Unit, tuple[float, float]] = {
    "proportion": (0.0, 1.0),
    "difference": (-1.0, 1.0),
    "ratio": (0.0, inf),
    "count": (0.0, inf),
    "p": (0.0, 1.0),
}
SCALES: dict[Unit, Scale] = {"proportion": "logit", "ratio": "log"}


@dataclass(frozen=True, slots=True)
class Quantity:
    """What is known of a quantity.

    Parameters
    ----------
    id : as in ``quantity`` of results.json
    unit : how it is written
    better : "up", "down", or the one best value; None where no side is better (prevalence)
    no_effect : where two compared things are alike; None where nothing is compared
    scale : on which estimates of sites, or of clusters, are taken as normal
    low, high : the possible range
    counts_decisions : whether it counts yes/no decisions of the device, so that it depends on the threshold
    by_prevalence : whether it changes with the prevalence while sensitivity and specificity stay
    needs_probabilities : whether it needs scores that are probabilities
    needs : what a formula of the four cells divides by
    clustered : the method, a fixed word, where cases come in clusters; empty where none is known
    written_as : how a value is written in running text, where that is not its unit (an area: as a number)
    same_as : the quantity that is the same number under another name
    counted, among : of a share of cases, the cells above and below the line; empty where that is not known
    left_of : of a rate of errors, the share of right decisions of which it is what is left
    sizes : of a minimum sample size, the quantities that a set with fewer cases cannot be judged by
    decimals : of a score that always has as many; None where the width of its interval says
    claim : what it can show at most; accuracy only against a truth that is right
    """

    id: str
    unit: Unit = "proportion"
    better: Better = None
    no_effect: float | None = None
    scale: Scale = "identity"
    low: float = -inf
    high: float = inf
    counts_decisions: bool = False
    by_prevalence: bool = False
    needs_probabilities: bool = False
    needs: tuple[Need, ...] = ()
    clustered: str = ""
    written_as: str = ""
    same_as: str = ""
    counted: tuple[str, ...] = ()
    among: tuple[str, ...] = ()
    left_of: str = ""
    decimals: int | None = None
    sizes: tuple[str, ...] = ()
    claim: Claim = "accuracy"

    @property
    def needs_right_labels(self) -> bool:
        """Whether it shows accuracy only where the labels are right."""
        return self.claim == "accuracy" and not self.id.startswith(CORRECTED)

    @property
    def written(self) -> str:
        """How a value is written in running text."""
        return self.written_as or self.unit

    @property
    def target(self) -> float | None:
        """The best value, where neither end of the scale is best."""
        return self.better if isinstance(self.better, float) else None

    def is_loss(self, low: float, high: float) -> bool:
        """Whether a whole interval is on the worse side of no effect.

        >>> quantity("sensitivity_difference").is_loss(-0.08, -0.003), quantity("arr").is_loss(-0.08, 0.01)
        (True, False)
        """
        if self.no_effect is None or self.better not in ("up", "down"):
            return False
        return high < self.no_effect if self.better == "up" else low > self.no_effect

    @property
    def base(self) -> str:
        """What differs, where the quantity is a difference."""
        return self.id.removesuffix(DIFFERENCE)

    def change(self) -> "Quantity":
        """The change of this quantity, or its difference between two places: a ratio where its scale is log.

        The change of a quantity with a best value has no better side: it is best where nothing changes.
        """
        ratio = self.scale == "log"
        nothing = 1.0 if ratio else 0.0
        unit: Unit = "ratio" if ratio else "difference" if self.unit == "proportion" else self.unit
        if unit == "ratio" and not ratio:
            unit = "score"
        wide = self.high - self.low
        low, high = (0.0, inf) if ratio else (-wide, wide)
        return Quantity(
            f"{self.id}{DIFFERENCE}",
            unit,
            nothing if self.target is not None else self.better,
            nothing,
            "log" if ratio else "identity",
            low,
            high,
            written_as="area_difference" if self.written == "area" else "",
            counts_decisions=self.counts_decisions,
            by_prevalence=self.by_prevalence,
            needs_probabilities=self.needs_probabilities,
            left_of=self.left_of,
            decimals=self.decimals,
            claim=self.claim,
        )
