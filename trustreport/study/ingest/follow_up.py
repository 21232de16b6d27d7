"""What must hold of data sets whose truth is a time to an event: columns, codes, the horizon."""

from collections.abc import Sequence

import numpy as np

from trustreport.study.ingest.columns import MappedTable
from trustreport.study.ingest.problems import KeyPath, Problems, dotted, quoted
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Study

BOTH = ("follow_up", "event")
GROUP: KeyPath = ("time_to_event",)
DECLARE = "Add to the manifest: time_to_event: {horizon: 5 years, unit: days}."
MAP = "Map both under columns: {follow_up: <your header>, event: <your header>}."


def is_usable(plan: Plan, tables: Sequence[MappedTable], study: Study, problems: Problems) -> None:
    """Follow-up, events and horizon belong together, and the data reach the horizon."""
    if any(p.file == problems.manifest.file and p.column.startswith(dotted(GROUP)) for p in problems):
        return  # tables cannot be checked against a declaration that has a fault
    for table in tables:
        _of_table(table, plan)
    followed = [d for d in study.datasets if d.cases.followed]
    if plan.time_to_event is None:
        return
    if not followed and not any(set(BOTH) & set(table.headers) for table in tables):
        found = "a horizon is declared, and no data set has follow-up"
        problems.declared(GROUP, found, "", MAP)
    for dataset in followed:
        _of_dataset(dataset, plan, tables, problems)


def _of_table(table: MappedTable, plan: Plan) -> None:
    own = [word for word in BOTH if word in table.headers]
    if not own:
        return
    if len(own) == 1:
        (lacking,) = set(BOTH) - set(own)
        found = f"the column {own[0]} is mapped, and no column {lacking}"
        table.refuse(found, "", MAP, rows=(1,), word=own[0])
    if plan.time_to_event is None:
        found = "follow-up without a horizon at which the event is judged"
        table.refuse(found, "", DECLARE, rows=(1,), word=own[0])
        return
    if "event" in own:
        _codes(table, plan)


def _codes(table: MappedTable, plan: Plan) -> None:
    """Codes of events that nobody declared."""
    assert plan.time_to_event is not None
    known = (0, 1, *(plan.time_to_event.competing or ()))
    codes = table.numbers["event"]
    whole = codes == np.floor(codes)  # anything else has been refused by the contract of the column
    for code in np.unique(codes[whole & ~np.isin(codes, known)])[:3]:
        table.refuse(
            f"found {quoted(f'{code:g}')}",
            "0 (censored), 1 (the event) or a declared competing event",
            f"After a competing event the event cannot happen any more: add competing: [{code:g}] under "
            "time_to_event in the manifest. Cases with one are not censored.",
            at=np.flatnonzero(codes == code),
            word="event",
        )


def _of_dataset(dataset: Dataset, plan: Plan, tables: Sequence[MappedTable], problems: Problems) -> None:
    assert plan.time_to_event is not None
    horizon, written = plan.time_to_event.at, plan.time_to_event.written
    if (dataset.cases.truth >= 0).any():
        table = next((t for t in tables if "truth" in t.headers), None)
        header = table.headers["truth"] if table else "truth"
        problems.at(
            table.file if table else problems.manifest.file,
            f"the cases of data set {quoted(dataset.name)} have a truth and follow-up",
            "one of the two: with follow-up, cases censored before the horizon are weighted for",
            f"Remove the column, or keep it as a group of cases: columns: {{known state: {header}}}.",
            rows=(1,),
            column=header,
        )
        return
    time, event = (dataset.cases.numbers[word] for word in BOTH)
    known = ~np.isnan(time) & ~np.isnan(event)
    last = float(time[known].max()) if known.any() else 0.0
    if last < horizon:
        in_unit = f" {plan.time_to_event.unit}" if plan.time_to_event.unit else ""
        problems.declared(
            (*GROUP, "horizon"),
            f"the horizon of {written} ({horizon:g}{in_unit}) is beyond the last follow-up of data set "
            f"{quoted(dataset.name)}, {last:g}{in_unit}",
            "a horizon to which cases were followed",
            "Declare an earlier one, or the unit of the column follow_up where it is another.",
        )
