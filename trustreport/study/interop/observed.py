"""Values that somebody observed, one by one, as tables of cases and of readings.

A code that each case has once becomes a column of the cases; a code that a case has several times, told apart
by who judged, becomes a column of the readings, and one that several devices gave a column for each device.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from trustreport.vocabulary.errors import Problem

Rows = list[list[str]]
NO_UNITS = ("", "1", "{score}", "{probability}")
ARMS = ("unaided", "aided")


@dataclass(frozen=True, slots=True)
class Observed:
    """One value of a case, and who judged; `row` is the line of the file where it has lines, else 0."""

    file: str
    row: int
    case: str
    patient: str
    date: str
    reader: str
    device: str
    method: str
    code: str
    value: str
    unit: str


def observed_tables(found: Sequence[Observed], stem: str, problems: list[Problem]) -> dict[str, Rows]:
    """The tables by file name: ``<stem>_cases.csv``, ``<stem>_readings.csv``; faults go into `problems`."""
    names = _headers(found, problems)
    of_case: dict[tuple[str, str], list[Observed]] = defaultdict(list)
    for one in found:
        of_case[one.case, one.code].append(one)
    several = {code for (_, code), own in of_case.items() if len(own) > 1}
    devices = {code for code in several if all(o.device and not o.reader for o in found if o.code == code)}
    several -= devices
    cases = [(o, f"{names[o.code]} {o.device}" if o.code in devices else names[o.code]) for o in found]
    of_cases = [(o, header) for o, header in cases if o.code not in several]
    of_readings = [(o, names[o.code]) for o in found if o.code in several]
    tables = {
        "cases": _table(of_cases, ("case",), problems),
        "readings": _table(of_readings, ("case", "reader", "arm"), problems),
    }
    return {f"{stem}_{kind}.csv": rows for kind, rows in tables.items() if rows}


def _problem(where: Sequence[Observed], found: str, expected: str, mend: str, *, column: str) -> Problem:
    rows = tuple(one.row for one in where if one.row)
    others = ", ".join(dict.fromkeys(one.file for one in where if one.file != where[0].file))
    beside = f" (also in {others})" if others else ""
    return Problem(where[0].file, f"{found}{beside}", expected, mend, rows=rows, column=column)


def _headers(found: Sequence[Observed], problems: list[Problem]) -> dict[str, str]:
    """The header of each code, with its unit where it has one."""
    names = {}
    for code in dict.fromkeys(one.code for one in found):
        units = {one.unit: one for one in found if one.code == code and one.value}
        unit = next(iter(units), "")
        if len(units) > 1:
            told = " and ".join(f'"{u}"' for u in list(units)[:3])
            mend = "Convert them to one."
            fault = (f"found the units {told}", "one unit", mend)
            problems.append(_problem(list(units.values()), *fault, column=code))
        names[code] = code if unit in NO_UNITS else f"{code} [{unit}]"
    return names


def _table(found: Sequence[tuple[Observed, str]], keys: tuple[str, ...], problems: list[Problem]) -> Rows:
    """A row for each set of keys and a column for each header; without rows where nothing was found."""
    methods, devices = {o.method for o, _ in found}, {bool(o.device) for o, _ in found}
    records: dict[tuple[str, ...], dict[str, Observed]] = {}
    for one, header in found:
        # What was used tells arms apart: the method where it is named, else whether there was a device.
        arm = one.method if len(methods) > 1 else ARMS[bool(one.device)] if len(devices) > 1 else ""
        parts = {"case": one.case, "reader": one.reader or one.device, "arm": arm}
        record = records.setdefault(tuple(parts[key] for key in keys), {})
        other = record.setdefault(header, one)
        if other is not one and other.value != one.value:
            who = ", ".join(filter(None, (parts[key] for key in keys)))
            said = f'two values of "{header}" of {who}'
            expected, mend = "one for each reader, case and arm", "Name who judged as performer."
            problems.append(_problem([other, one], said, expected, mend, column=header))
    headers = list(dict.fromkeys(header for _, header in found))
    own = [i for i in range(len(keys)) if any(key[i] for key in records)]
    more = {
        "patient": [next(o.patient for o in record.values()) for record in records.values()],
        "date": [min((o.date for o in record.values() if o.date), default="") for record in records.values()],
    }
    if all(o.patient == o.case for o, _ in found):
        del more["patient"]
    more = {word: cells for word, cells in more.items() if any(cells)}
    table = [[*(keys[i] for i in own), *more, *headers]]
    for n, (key, record) in enumerate(records.items()):
        values = [record[header].value if header in record else "" for header in headers]
        table.append([*(key[i] for i in own), *(cells[n] for cells in more.values()), *values])
    return table if records else []
