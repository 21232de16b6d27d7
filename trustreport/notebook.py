"""An assessment in a notebook: its results as a table, its figures, and the answer as the cell's output."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

from trustreport.assessment import Assessment
from trustreport.messages import catalogue

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from trustreport.results import Result

# The columns of a table of results that are wanted first; those of the scope follow.
FIRST = ("id", "value", "low", "high", "n", "p", "primary", "method", "unit", "level", "note")


@dataclass(frozen=True, slots=True, repr=False)
class Assessed(Assessment):
    """An assessment with what a notebook asks of it."""

    @classmethod
    def of(cls, assessment: Assessment) -> Self:
        """The same assessment."""
        return cls(**{field.name: getattr(assessment, field.name) for field in fields(Assessment)})

    def to_frame(self, *, primary: bool = False) -> pd.DataFrame:
        """A row for each result; only those that the report leads with, where `primary` is asked.

        Columns: id, value, low, high, n, p, primary, method, unit, level and note, then what the result is of
        (dataset, arms, subgroup ...), the columns of the scope that any result has. What is undefined is NaN,
        and `note` says why.
        """
        import pandas as pd

        rows = [_row(r) for r in self.results if r.primary or not primary]
        found = dict.fromkeys((*FIRST, *(key for row in rows for key in row)))
        return pd.DataFrame(rows, columns=list(found))

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


def _row(result: Result) -> dict[str, Any]:
    """A result as plain values."""
    e = result.estimate
    scope = {key: _plain(value) for key, value in result.scope.items()}
    return {
        "id": result.id,
        "value": float(e.value),
        "low": float(e.low),
        "high": float(e.high),
        "n": e.n,
        "p": float(e.p),
        "primary": result.primary,
        "method": result.method,
        "unit": result.unit,
        "level": e.level,
        "note": e.note,
        **{key: value for key, value in scope.items() if key not in FIRST},
    }


def _plain(value: Any) -> Any:
    """A part of a scope as a cell: pairs of arms as one text."""
    if isinstance(value, tuple | list):
        return " - ".join(map(str, value))
    return ", ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else value
