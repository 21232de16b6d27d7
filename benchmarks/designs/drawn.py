"""A drawn study: its manifest with its tables, and on which side of the truth each bound is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Literal

from numpy.random import Generator

ALPHA = 0.025
WIDE = {"max_ci_half_width": 10.0}

Truth = Literal["border", "good"]
"""The true value is the bound itself, so that neither pass nor fail is right; or far on its right side."""
Units = Literal["criteria", "any of the family", "all of the family"]


@dataclass(slots=True)
class Drawn:
    """A study whose truth is known; `truths` says it of each criterion by its name.

    `counted` says what a false pass is: one of a criterion at the border, the first of a family, or a family
    of which all is met.
    """

    manifest: dict[str, Any]
    truths: dict[str, Truth] = field(default_factory=dict)
    counted: Units = "criteria"

    def ask(
        self, measure: str, hypothesis: str, bound: Any = None, truth: Truth = "border", **where: Any
    ) -> None:
        """Declare a criterion at the one-sided alpha."""
        short = f"{measure.rpartition('.')[2]}{' of ' + where['of'] if 'of' in where else ''}, {hypothesis}"
        name = next(n for i in count(1) if (n := short + (f" ({i})" if i > 1 else "")) not in self.truths)
        criterion = {"endpoint": name, "measure": measure, "hypothesis": hypothesis, "alpha": ALPHA, **where}
        if bound is not None:
            criterion["bound_or_margin"] = bound
        self.manifest.setdefault("endpoints", []).append(criterion)
        self.truths[name] = truth


def study(kind: str = "certification", **parts: Any) -> Drawn:
    """A study that no declared fact speaks against."""
    manifest = {
        "report": {"kind": kind},
        "device": {"trade_name": "Drawn", "software_version": "1.0"},
        "study": {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"},
        # Else what is inconclusive in a small study is withheld.
        "precision_targets": dict.fromkeys(("auc", "net_benefit", "brier", "calibration_slope", "oe"), WIDE),
    }
    return Drawn({**manifest, **parts})


def operating_point(threshold: float) -> dict[str, Any]:
    """A threshold that other data gave."""
    return {
        "threshold": threshold,
        "threshold_chosen_on": "previous study",
        "threshold_fixed_on": "2025-01-01",
    }


def ask_values(
    drawn: Drawn,
    rng: Generator,
    true: Mapping[str, float],
    prefix: str = "",
    most: int = 3,
    **where: Any,
) -> None:
    """Performance goals that the truth just does not reach, of some of the measures."""
    for measure in chosen(rng, list(true), most):
        drawn.ask(prefix + measure, "performance goal", true[measure], **where)


def ask_difference(drawn: Drawn, rng: Generator, measure: str, true: float, **where: Any) -> None:
    """A criterion on a difference of which more is better, whose bound is the true one."""
    if abs(true) < 1e-9:
        drawn.ask(measure, "superiority", **where)
    elif true > 0:
        drawn.ask(measure, "superiority", true, **where)
    else:
        drawn.ask(measure, "non-inferiority" if rng.random() < 0.75 else "equivalence", -true, **where)


def chosen(rng: Generator, names: list[str], most: int) -> list[str]:
    """Some of the names, in their order."""
    picked = set(rng.choice(len(names), min(most, len(names)), replace=False).tolist())
    return [name for i, name in enumerate(names) if i in picked]
