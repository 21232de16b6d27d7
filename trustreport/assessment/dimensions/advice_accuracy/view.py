"""A published table, or a data set and candidate, with its results, for sentences, tables and figures."""

from dataclasses import dataclass
from typing import Any

from trustreport.assessment.dimensions.advice_accuracy.entries import ID
from trustreport.assessment.narrative.texts import set_label
from trustreport.measures.estimate import Estimate
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.messages import Message
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result, leading


@dataclass(frozen=True, slots=True)
class ResultView:
    """A published table, or a data set and candidate, with its results.

    `remarks` are printed with them, `role` is that of the data set.
    """

    name: str
    place: Place
    results: tuple[Result, ...]
    remarks: tuple[Message, ...] = ()
    role: str = ""

    @property
    def label(self) -> Message | str:
        """How tables and figures name it."""
        return set_label(self.name, self.role)

    @property
    def developed_on(self) -> bool:
        """Whether the model was made with these cases."""
        return self.role in DEVELOPMENT_ROLES

    def lead(self, quantity: str) -> Result | None:
        """The primary entry of a quantity at the prevalence of the data."""
        return leading(self.results, f"{ID}.{quantity}", parameters=None, threshold=None)

    def estimate(self, quantity: str, **scope: Any) -> Estimate | None:
        """Its estimate; in another scope where one is named."""
        found = leading(self.results, f"{ID}.{quantity}", **scope) if scope else self.lead(quantity)
        return found.estimate if found else None
