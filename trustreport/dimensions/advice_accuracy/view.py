"""A published table, or a data set and candidate, with its results, for sentences, tables and figures."""

from dataclasses import dataclass
from typing import Any

from trustreport.dimensions.advice_accuracy.entries import ID
from trustreport.estimate import Estimate
from trustreport.messages import Message
from trustreport.place import Place
from trustreport.results import Result, leading


@dataclass(frozen=True, slots=True)
class ResultView:
    """A published table, or a data set and candidate, with its results; `remarks` are printed with them."""

    name: str
    place: Place
    results: tuple[Result, ...]
    remarks: tuple[Message, ...] = ()

    def lead(self, quantity: str) -> Result | None:
        """The primary entry of a quantity at the prevalence of the data."""
        return leading(self.results, f"{ID}.{quantity}", parameters=None, threshold=None)

    def estimate(self, quantity: str, **scope: Any) -> Estimate | None:
        """Its estimate; in another scope where one is named."""
        found = leading(self.results, f"{ID}.{quantity}", **scope) if scope else self.lead(quantity)
        return found.estimate if found else None
