"""Observations of FHIR (NDJSON of a bulk export, or a Bundle) as tables of cases and readings.

The case is the `focus`, or else the `specimen`, or else the `subject`; docs/how-to/captured-data.md says
which field becomes which column. Source: https://hl7.org/fhir/R4/observation.html.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from trustreport.study.interop.observed import Observed, Rows, observed_tables
from trustreport.vocabulary.errors import Problem

SUFFIXES = (".ndjson", ".json")
LEFT_OUT = ("entered-in-error", "cancelled")  # states of observations that say nothing


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
    return observed_tables(found, file.rpartition(".")[0], problems), problems


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
            yield Observed(file, row, case, patient, str(date or "")[:10], *who, code, value, unit)


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
