"""What is told of: a published table, or a data set and candidate, with its results."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trustreport.dimensions.advice_accuracy.measured import ID
from trustreport.estimate import Estimate
from trustreport.messages import Message
from trustreport.results import Result, leading


@dataclass(frozen=True, slots=True)
class Told:
    """A published table, or a data set and candidate, with its results; `said` is to be told with them."""

    name: str
    scope: Mapping[str, Any]
    results: tuple[Result, ...]
    said: tuple[Message, ...] = ()

    def lead(self, quantity: str) -> Result | None:
        """The leading entry of a quantity at the class mix of the data."""
        return leading(self.results, f"{ID}.{quantity}", parameters=None, threshold=None)

    def estimate(self, quantity: str, **scope: Any) -> Estimate | None:
        """Its estimate; in another scope where one is named."""
        found = leading(self.results, f"{ID}.{quantity}", **scope) if scope else self.lead(quantity)
        return found.estimate if found else None
