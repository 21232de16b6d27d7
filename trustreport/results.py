"""One number of a report: what it is of, its estimate, and whether it leads."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from trustreport.estimate import Estimate

AREAS = ("auc", "auc_group", "average_precision")  # shares that are written as numbers, not per cent
CUT = "the interval is cut at the end of what is possible"

Unit = Literal["proportion", "difference", "ratio", "decisions", "count", "score", "seconds", "p", "utility"]


@dataclass(frozen=True, slots=True)
class Result:
    """An entry of results.json: (id, scope, method) is unique, one of those that answer a question leads.

    `id` is ``dimension.quantity``; `scope` says of what (arms, set, dataset, reader ...), with the keys
    that apply only. The method is the estimate's own.
    """

    id: str
    scope: Mapping[str, Any]
    estimate: Estimate
    unit: Unit = "proportion"
    primary: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The fixed word of the interval's method."""
        return self.estimate.method

    @property
    def written(self) -> str:
        """How the value is written in running text: its unit, or "area"."""
        names = {self.id.rpartition(".")[2], self.scope.get("endpoint")}
        return "area" if self.unit == "proportion" and names & set(AREAS) else self.unit

    def within(self, **scope: Any) -> bool:
        """Whether the scope holds all of these; None asks that a key is absent."""
        return all(self.scope.get(key) == value for key, value in scope.items())


def leading(results: Iterable[Result], id: str, **scope: Any) -> Result | None:
    """The entry that leads for a quantity in a scope, if any; of a site only where `site` is named."""
    where = {"site": None, **scope}
    return next((r for r in results if r.id == id and r.primary and r.within(**where)), None)


def answers(
    id: str,
    scope: Mapping[str, Any],
    estimates: Iterable[Estimate],
    *,
    leads: str = "",
    unit: Unit = "proportion",
) -> list[Result]:
    """Several estimates of one quantity; the one whose method is `leads` is primary."""
    return [Result(id, scope, possible(e, unit), unit, e.method == leads) for e in estimates]


def possible(estimate: Estimate, unit: Unit) -> Estimate:
    """The interval of a proportion cut at 0 and 1, where its method reaches beyond, and the note says so."""
    if unit != "proportion" or not (estimate.low < 0 or estimate.high > 1):
        return estimate
    note = "; ".join(filter(None, (estimate.note, CUT)))
    return replace(estimate, low=max(estimate.low, 0.0), high=min(estimate.high, 1.0), note=note)
