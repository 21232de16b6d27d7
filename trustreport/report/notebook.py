"""An assessment in a notebook: its results as a table, its figures, and the answer as the cell's output."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Self

from trustreport.assessment.assess import Assessment
from trustreport.vocabulary.messages import catalogue

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


# The columns of a table of results that are wanted first; those of the scope follow.
FIRST = ("id", "value", "low", "high", "n", "p", "primary", "method", "unit", "level", "note")
TYPES = {**dict.fromkeys(("value", "low", "high", "p", "level"), "float64"), "n": "int64", "primary": "bool"}


@dataclass(frozen=True, slots=True, repr=False)
class Assessed(Assessment):
    """An assessment with what a notebook asks of it."""

    @classmethod
    def of_assessment(cls, assessment: Assessment) -> Self:
        """The same assessment."""
        return cls(**{field.name: getattr(assessment, field.name) for field in fields(Assessment)})

    def to_frame(self, *, primary: bool = False) -> pd.DataFrame:
        """A row for each result; only those that the report leads with, where `primary` is asked.

        Columns: id, value, low, high, n, p, primary, method, unit, level and note, then what the result is of
        (dataset, arms, subgroup ...), the columns of the scope that any result has. Cells are those of
        results.csv: numbers of 13 digits, and NaN or None where something is undefined or does not apply;
        `note` says why a number is undefined, or that it is infinite.
        """
        from trustreport.report import document
        from trustreport.report.spreadsheets import SCOPE, results_frame

        say = catalogue(self.plan.report.language)
        chosen = (r for r in self.results if r.primary or not primary)
        table = results_frame(document.plain(document.entry(r, say)) for r in chosen)
        found = [column for column in SCOPE if table[column].notna().any()]
        return table[[*FIRST, *found]].astype(TYPES)

    def figure(self, id: str) -> Figure:
        """A figure as matplotlib draws it.

        Raises
        ------
        KeyError : no figure of the report has this id; the message lists those that there are
        """
        from trustreport.figures.style import settings

        for figure in self.figures:
            if figure.id == id:
                with settings():
                    return figure.drawing.draw(catalogue(self.plan.report.language))
        raise KeyError(f"no figure {id!r}; there are {', '.join(f.id for f in self.figures)}")

    def __repr__(self) -> str:
        n, primary = len(self.results), sum(r.primary for r in self.results)
        words = [f"{n} results ({primary} primary)", f"{len(self.figures)} figures"]
        if self.verdicts:
            words.append(", ".join(f"{v.criterion.endpoint}: {v.word}" for v in self.verdicts))
        fired = [outcome.check for outcome in self.fired()]
        if fired:
            words.append(f"fired: {', '.join(dict.fromkeys(fired))}")
        return f"<{type(self).__name__}: {'; '.join(words)}>"

    def _repr_html_(self) -> str:
        from trustreport.report.html import answered

        return answered(self)
