"""How advice accuracy is told: sentences and tables of published tables and data sets."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from trustreport.dimensions.advice_accuracy.measured import CELLS, ID
from trustreport.estimate import Estimate
from trustreport.finding import Column, EstimateTable, Part, PlainTable, Row
from trustreport.measures.confusion.table import MEASURES
from trustreport.messages import Message, say
from trustreport.results import Result, leading

SCORED = ("auc", "average_precision")
CURVES = ("net_benefit", "standardized_net_benefit")
OVERVIEW = ("prevalence", "sensitivity", "specificity", "ppv", "npv", "mcc")


@dataclass(frozen=True, slots=True)
class Told:
    """A published table, or a data set and candidate, with its results."""

    name: str
    scope: Mapping[str, Any]
    results: tuple[Result, ...]

    def lead(self, quantity: str) -> Result | None:
        """The leading entry of a quantity at the class mix of the data."""
        return leading(self.results, f"{ID}.{quantity}", parameters=None, threshold=None)

    def estimate(self, quantity: str) -> Estimate | None:
        """Its estimate."""
        found = self.lead(quantity)
        return found.estimate if found else None


def part(told: Told, number: int, *, alone: bool) -> Part:
    """One table or data set in full."""
    return Part(
        title=None if alone else say("word.name", name=told.name),
        finding=tuple(_sentences(told)),
        tables=tuple(_tables(told, number)),
        scope=told.scope,
    )


def overview(all_told: Sequence[Told]) -> tuple[Part, ...]:
    """A row each for many tables and data sets."""
    columns = (
        Column(say(f"{ID}.column.set")),
        Column(say(f"{ID}.column.n"), "count"),
        *(Column(say(f"{ID}.heading.{name}"), "number.3") for name in (*OVERVIEW, "auc")),
    )
    rows = tuple(
        (
            told.name,
            next((r.estimate.n for r in told.results if r.scope == told.scope), None),
            *(_value(told, name) for name in (*OVERVIEW, "auc")),
        )
        for told in all_told
    )
    table = PlainTable("advice_accuracy_sets", say(f"{ID}.table_sets"), columns, rows)
    return (Part(finding=(say(f"{ID}.overview", n=len(all_told)),), tables=(table,)),)


def _value(told: Told, name: str) -> float | None:
    estimate = told.estimate(name)
    return None if estimate is None or isnan(estimate.value) else estimate.value


def _sentences(told: Told) -> Iterator[Message]:
    sensitivity, specificity = told.estimate("sensitivity"), told.estimate("specificity")
    cells = {name: told.estimate(name) for name in CELLS}
    if sensitivity and specificity:
        for name, e, right in (("sensitivity", sensitivity, "tp"), ("specificity", specificity, "tn")):
            count = cells[right]
            if isnan(e.value) or count is None:
                yield say(f"{ID}.undefined", measure=say(f"{ID}.label.{name}"), reason=e.note)
            else:
                values = {"value": e.value, "low": e.low, "high": e.high, "level": e.level}
                yield say(f"{ID}.{name}", n=e.n, right=count.value, **values)
    area = told.estimate("auc")
    if area:
        if isnan(area.value):
            yield say(f"{ID}.undefined", measure=say(f"{ID}.label.auc"), reason=area.note)
        elif isnan(area.low):
            yield say(f"{ID}.auc_without_interval", value=area.value, reason=area.note)
        else:
            yield say(f"{ID}.auc", value=area.value, low=area.low, high=area.high, level=area.level)


def _tables(told: Told, number: int) -> Iterator[EstimateTable]:
    rows = [
        Row(say(f"{ID}.label.{name}"), found, leads=name in ("sensitivity", "specificity"))
        for name in (*CELLS, *MEASURES, *SCORED)
        if (found := told.lead(name))
    ]
    if rows:
        yield EstimateTable(f"advice_accuracy_{number}", say(f"{ID}.table"), tuple(rows))
    shifted = [
        Row(_at_prevalence(r), r) for r in told.results if r.primary and "prevalence" in _parameters(r)
    ]
    if shifted:
        yield EstimateTable(
            f"advice_accuracy_prevalence_{number}", say(f"{ID}.table_prevalence"), tuple(shifted)
        )
    curves = [
        Row(say(f"{ID}.at_threshold", name=say(f"{ID}.label.{name}"), threshold=r.scope["threshold"]), r)
        for name in CURVES
        for r in told.results
        if r.id == f"{ID}.{name}" and r.primary
    ]
    if curves:
        yield EstimateTable(f"net_benefit_{number}", say(f"{ID}.table_net_benefit"), tuple(curves))


def _parameters(result: Result) -> Mapping[str, Any]:
    return result.scope.get("parameters") or {}


def _at_prevalence(result: Result) -> Message:
    name = say(f"{ID}.label.{result.id.rpartition('.')[2]}")
    return say(f"{ID}.at_prevalence", name=name, prevalence=_parameters(result)["prevalence"])
