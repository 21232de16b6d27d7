"""One number of a report: what it is of, its estimate, and whether the report leads with it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from typing import Any

from trustreport.measures.estimate import Estimate
from trustreport.measures.note import note
from trustreport.vocabulary import digits
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.quantities import OF_GROUPS, OF_METRIC, endpoint_row, is_named, quantity_of
from trustreport.vocabulary.quantity import Quantity, Unit

ROUNDING = 1e-12
CUT = note("interval_cut_at_end_possible")


@dataclass(frozen=True, eq=False)
class Result:
    """An entry of results.json: (id, scope, method) is unique, one of those for a question is primary.

    `id` is ``dimension.quantity``. The interval is kept within the range of the quantity; value and limits
    know the decimals (`places`) that they are written with.

    Parameters
    ----------
    place : which data, and which part of them
    endpoint : what a value or a change is of, where the id does not say it
    analysis : which of several analyses of one question
    parameters : what was chosen (tau, bins, margin)
    details : what was computed on the way
    cases : which cases it is of (`trustreport.assessment.performance.keys`); empty where there are none

    Raises
    ------
    UnknownQuantityError : the quantity has no row in `trustreport.vocabulary.quantities`
    """

    id: str
    place: Place
    estimate: Estimate
    endpoint: str = ""
    analysis: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    primary: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)
    cases: str = ""
    quantity: Quantity = field(init=False)
    places: int = field(init=False)

    def __post_init__(self) -> None:
        name = self.name
        if name in OF_METRIC:
            metric = str(self.parameters.get("metric", "")).rpartition(".")[2]
            name = metric if is_named(metric) else "declared_endpoint"
        row = quantity_of(name, self.endpoint, contrast=self.place.arms is not None)
        object.__setattr__(self, "quantity", row)
        e = within_range(self.estimate, row)
        places = digits.places_of(e, row, of_cases=self.name not in OF_GROUPS)
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "estimate", digits.rounded(e, places))

    @property
    def name(self) -> str:
        """The id without the dimension."""
        return self.id.rpartition(".")[2]

    @property
    def dimension(self) -> str:
        """The dimension that the id begins with."""
        return self.id.partition(".")[0]

    @property
    def method(self) -> str:
        """The fixed word of the interval's method."""
        return self.estimate.method

    @property
    def unit(self) -> Unit:
        """How the value is written."""
        return self.quantity.unit

    @property
    def written(self) -> str:
        """How the value is written in running text."""
        return self.quantity.written

    @property
    def counts_decisions(self) -> bool:
        """Whether the number counts yes/no decisions of the device, itself or through its endpoint."""
        of_endpoint = bool(self.endpoint) and endpoint_row(self.endpoint).counts_decisions
        return self.quantity.counts_decisions or of_endpoint

    @cached_property
    def scope(self) -> dict[str, Any]:
        """Of what the number is, as results.json has it."""
        more = {"endpoint": self.endpoint, "analysis": self.analysis, "parameters": dict(self.parameters)}
        return {**self.place.scope, **{key: value for key, value in more.items() if value}}

    def within(self, **scope: Any) -> bool:
        """Whether the scope has all of these values; None asks that a key is absent."""
        return all(self.scope.get(key) == value for key, value in scope.items())


def leading(results: Iterable[Result], id: str, **scope: Any) -> Result | None:
    """The primary entry of a quantity in a scope, if any; of a site only where `site` is named."""
    where = {"site": None, **scope}
    return next((r for r in results if r.id == id and r.primary and r.within(**where)), None)


def results_for(
    id: str, place: Place, estimates: Iterable[Estimate], *, leads: str = "", **more: Any
) -> list[Result]:
    """Several estimates of one quantity; the one whose method is `leads` is primary."""
    return [Result(id, place, e, primary=e.method == leads, **more) for e in estimates]


def estimate_of(e: Estimate, row: Quantity) -> Estimate:
    """An estimate of a quantity as a result would hold it: within its range, with its decimals."""
    e = within_range(e, row)
    return digits.rounded(e, digits.places_of(e, row))


def within_range(e: Estimate, row: Quantity) -> Estimate:
    """The interval cut at the ends of what is possible, where its method reaches beyond; the note says so."""
    beyond = max(row.low - e.low, e.high - row.high)
    if isnan(e.low) or not beyond > 0:
        return e
    said = e.note + CUT if beyond > ROUNDING else e.note
    return replace(e, low=max(e.low, row.low), high=min(e.high, row.high), note=said)
