"""Observations of FHIR (NDJSON of a bulk export, or a Bundle) as tables of cases and readings.

A code that each case has once becomes a column of the cases; a code that a case has several times, told apart
by who judged, becomes a column of the readings. The case is the `focus`, or else the `specimen`, or else the
`subject`. README of the columns: docs/how-to/captured-data.md. Source: https://hl7.org/fhir/R4/observation.html.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trustreport.vocabulary.errors import Problem

Rows = list[list[str]]
SUFFIXES = (".ndjson", ".json")
LEFT_OUT = ("entered-in-error", "cancelled")  # states of observations that say nothing
NO_UNITS = ("", "1", "{score}", "{probability}")
ARMS = ("unaided", "aided")


@dataclass(frozen=True, slots=True)
class Observed:
    """One value; `row` is the line of its observation."""

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


def read_observations(text: str, file: str) -> tuple[dict[str, Rows], list[Problem]]:
    """Tables by file name, and every fault; no table where there is no observation.

    Parameters
    ----------
    text : NDJSON, a resource a line, or one Bundle
    file : its name, for messages and for the names of the tables
    """
    problems: list[Problem] = []
    found = [
        one
        for row, resource in _resources(text, file, problems)
        if resource.get("resourceType") == "Observation" and resource.get("status") not in LEFT_OUT
        for one in _observed(resource, row, file, problems)
    ]
    if not found:
        return {}, problems
    names = _headers(found, file, problems)
    of_case: dict[tuple[str, str], list[Observed]] = defaultdict(list)
    for one in found:
        of_case[one.case, one.code].append(one)
    several = {code for (_, code), own in of_case.items() if len(own) > 1}
    # Several devices that each judged a case once are columns, not readers.
    devices = {code for code in several if all(o.device and not o.reader for o in found if o.code == code)}
    several -= devices
    cases = [(o, f"{names[o.code]} {o.device}" if o.code in devices else names[o.code]) for o in found]
    stem = file.rpartition(".")[0]
    tables = {
        "cases": _table(
            [(o, header) for o, header in cases if o.code not in several], ("case",), file, problems
        ),
        "readings": _table(
            [(o, names[o.code]) for o in found if o.code in several],
            ("case", "reader", "arm"),
            file,
            problems,
        ),
    }
    return {f"{stem}_{kind}.csv": rows for kind, rows in tables.items() if rows}, problems


def _resources(text: str, file: str, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each resource and its line; of a Bundle, its number. Numbers stay as they were written."""

    def parsed(words: str) -> Any:
        return json.loads(words, parse_float=str, parse_int=str)

    try:
        whole = parsed(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict):
        inside = whole.get("entry") or []
        entries = [one.get("resource") if isinstance(one, dict) else None for one in inside]
        found = [whole] if whole.get("resourceType") != "Bundle" else entries
        yield from ((i, one) for i, one in enumerate(found, 1) if isinstance(one, dict))
        return
    for row, line in enumerate(text.splitlines(), 1):
        try:
            one = parsed(line) if line.strip() else {}
        except (ValueError, RecursionError):
            one = None
        if isinstance(one, dict):
            yield row, one
        elif file.lower().endswith(".ndjson"):
            problems.append(Problem(file, "found a line that is no JSON object", "a resource", row=row))


def _observed(
    resource: Mapping[str, Any], row: int, file: str, problems: list[Problem]
) -> Iterator[Observed]:
    """The value of an observation, and one of each component."""
    patient = _reference(resource.get("subject"))
    case = _reference(_first(resource.get("focus"))) or _reference(resource.get("specimen")) or patient
    if not case:
        problems.append(Problem(file, "found an observation of nobody", "a subject", row=row))
        return
    period = resource.get("effectivePeriod")
    date = resource.get("effectiveDateTime") or resource.get("effectiveInstant") or resource.get("issued")
    date = date or (period.get("start") if isinstance(period, dict) else None)
    performer = _first(resource.get("performer"))
    by_device = str((performer or {}).get("reference", "")).startswith("Device/")
    device = _reference(resource.get("device")) or (_reference(performer) if by_device else "")
    reader = "" if by_device else _reference(performer)
    parts = resource.get("component") or []
    for part in (resource, *(p for p in parts if isinstance(p, dict))):
        code, (value, unit) = _concept(part.get("code")), _value(part)
        if not code:
            problems.append(Problem(file, "found a value without a name", "a code", row=row, column="code"))
        elif part is not resource or value or not parts:
            who = (reader, device, _concept(resource.get("method")))
            yield Observed(row, case, patient, str(date or "")[:10], *who, code, value, unit)


def _value(part: Mapping[str, Any]) -> tuple[str, str]:
    """A value as text, and its unit; "" of one that is absent."""
    quantity = part.get("valueQuantity")
    if isinstance(quantity, dict):
        number = f"{quantity.get('comparator', '')}{quantity.get('value', '')}"
        return number, str(quantity.get("unit") or quantity.get("code") or "")
    if isinstance(part.get("valueCodeableConcept"), dict):
        return _concept(part["valueCodeableConcept"]), ""
    if isinstance(part.get("valueBoolean"), bool):
        return str(part["valueBoolean"]).lower(), ""
    plain = (part.get(f"value{kind}") for kind in ("Integer", "String", "DateTime"))
    return next((str(one) for one in plain if one is not None), ""), ""


def _concept(one: Any) -> str:
    """What a concept is called: its text, else the name or the code of its first coding."""
    if not isinstance(one, dict):
        return ""
    coding = _first(one.get("coding")) or {}
    return str(one.get("text") or coding.get("display") or coding.get("code") or "").strip()


def _reference(one: Any) -> str:
    """What is referred to: its id without its type, else its identifier or its name."""
    if not isinstance(one, dict):
        return ""
    identifier = one.get("identifier")
    named = identifier.get("value") if isinstance(identifier, dict) else ""
    reference = str(one.get("reference") or "")
    return (reference.partition("/")[2] or reference or str(named or one.get("display") or "")).strip()


def _first(several: Any) -> dict[str, Any] | None:
    return several[0] if isinstance(several, list) and several and isinstance(several[0], dict) else None


def _headers(found: Sequence[Observed], file: str, problems: list[Problem]) -> dict[str, str]:
    """The header of each code, with its unit where it has one."""
    names = {}
    for code in dict.fromkeys(one.code for one in found):
        units = {one.unit: one.row for one in found if one.code == code and one.value}
        unit = next(iter(units), "")
        if len(units) > 1:
            told = " and ".join(f'"{u}"' for u in list(units)[:3])
            mend = "Convert them to one."
            rows = tuple(units.values())
            problems.append(
                Problem(file, f"found the units {told}", "one unit", mend, rows=rows, column=code)
            )
        names[code] = code if unit in NO_UNITS else f"{code} [{unit}]"
    return names


def _table(
    found: Sequence[tuple[Observed, str]], keys: tuple[str, ...], file: str, problems: list[Problem]
) -> Rows:
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
            rows = (other.row, one.row)
            problems.append(Problem(file, said, expected, mend, rows=rows, column=header))
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
