"""Operational qualification: reference values of other software, computed anew on this machine."""

import csv
import json
import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from math import isfinite
from operator import getitem
from pathlib import Path
from typing import Any

from trustreport.commands.qualification import peers
from trustreport.vocabulary.resources import folder

FUNCTIONS, STUDIES, EXPECTED = "functions.json", "studies.toml", "expected.csv"
PACKAGE = "trustreport.measures"
PARAMETER = re.compile(r"[\d.]+")

Progress = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class ReferenceValue:
    """A value that other software computed, and what must return it here.

    `expected` is None where the value must be undefined, with a note. `measure` is a function of the package,
    or the id of a result; `study` names the study that the result is of, empty for a function.
    """

    measure: str
    case: str
    field: str
    expected: float | None
    tolerance: float
    source: str
    study: str = ""


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A reference value, what this machine returned, and whether the two agree."""

    reference: ReferenceValue
    found: float | None
    passed: bool
    note: str = ""


def compare_all(
    place: Path | None = None, on_progress: Progress = lambda step, share: None
) -> list[ComparedValue]:
    """Every reference value compared: functions, functions against statsmodels here and now, studies.

    Parameters
    ----------
    place : folder of the reference values; that of the installed package by default

    Raises
    ------
    FileNotFoundError : the package has no reference values
    """
    place = place or folder("qualification")
    on_progress("functions", 0.0)
    document = json.loads((place / FUNCTIONS).read_text(encoding="utf-8"))
    found = list(_functions(document))
    on_progress("statsmodels", 0.2)
    found += _here(document)
    studies = tomllib.loads((place / STUDIES).read_text(encoding="utf-8"))["study"]
    for i, study in enumerate(studies):
        on_progress(study["folder"], 0.3 + 0.7 * i / len(studies))
        found += _study(place / "studies" / study["folder"], study)
    return found


def origins(place: Path | None = None) -> list[tuple[str, str]]:
    """Title and origin of each study that is computed."""
    place = place or folder("qualification")
    studies = tomllib.loads((place / STUDIES).read_text(encoding="utf-8"))["study"]
    return [(study["title"], study["origin"]) for study in studies]


def _functions(document: Mapping[str, Any]) -> Iterator[ComparedValue]:
    data = document["data"]
    for check in document["checks"]:
        try:
            result, fault = _call(check, data), ""
        except Exception as error:  # whatever a broken installation raises is a failed value, with its reason
            result, fault = None, f"{type(error).__name__}: {error}"
        for field, (expected, tolerance) in check["values"].items():
            reference = ReferenceValue(
                f"{PACKAGE}.{check['function']}", check["case"], field, expected, tolerance, check["source"]
            )
            yield _compared(reference, result, fault)


def _here(document: Mapping[str, Any]) -> list[ComparedValue]:
    """The functions against statsmodels as it is installed."""
    try:
        checks = list(peers.checks(document))
    except Exception as error:  # as for functions
        reference = ReferenceValue("statsmodels", "import", "", None, 0.0, peers.source())
        return [ComparedValue(reference, None, False, f"{type(error).__name__}: {error}")]
    return list(_functions({**document, "checks": checks}))


def _compared(reference: ReferenceValue, result: Any, fault: str) -> ComparedValue:
    """One field of what a function returned."""
    if fault:
        return ComparedValue(reference, None, False, fault)
    try:
        value = float(_field(result, reference.field))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        return ComparedValue(reference, None, False, f"no such field: {error}")
    passed = reference.expected is not None and abs(value - reference.expected) <= reference.tolerance
    return ComparedValue(reference, value if isfinite(value) else None, passed)


def _field(result: Any, path: str) -> Any:
    """A field of a result, of a mapping in it, or an item of an array in it."""
    for name in path.split("."):
        if name.isdecimal():
            result = getitem(result, int(name))
        else:
            result = result[name] if isinstance(result, Mapping) else getattr(result, name)
    return result


def _call(check: Mapping[str, Any], data: Mapping[str, Sequence[Any]]) -> Any:
    """What a function of the package returns for the arguments of a check."""
    module, name = f"{PACKAGE}.{check.get('function') or check['call']}".rsplit(".", 1)
    options = {key: _argument(value, data) for key, value in check.get("options", {}).items()}
    return getattr(import_module(module), name)(
        *(_argument(one, data) for one in check["arguments"]), **options
    )


def _argument(given: Any, data: Mapping[str, Sequence[Any]]) -> Any:
    """An argument as a function takes it: lists are arrays, a name of data its array, a call its result."""
    import numpy as np

    if isinstance(given, Mapping):
        return np.array(data[given["data"]]) if "data" in given else _call(given, data)
    return np.array(given) if isinstance(given, list) else given


def _study(place: Path, selected: Mapping[str, Any]) -> Iterator[ComparedValue]:
    with (place / EXPECTED).open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if _is_selected(row["source"], selected)]
    try:
        results, fault = _results(place), ""
    except Exception as error:  # as for functions
        results, fault = {}, f"{type(error).__name__}: {error}"
    for row in rows:
        scope = json.loads(row["scope"])
        expected = float(row["value"]) if row["value"] else None
        reference = ReferenceValue(
            row["id"],
            ", ".join((*_words(scope), *([row["method"]] if row["method"] else []))) or selected["folder"],
            row["field"],
            expected,
            float(row["tol"]),
            selected.get("source") or row["source"],
            selected["title"],
        )
        entries = matching(results.get(row["id"], []), scope, row["method"])
        passed = not fault and agrees(entries, row["field"], expected, reference.tolerance)
        note = fault or ("" if entries else "no such result")
        yield ComparedValue(reference, nearest(entries, row["field"], expected), passed, note)


def _is_selected(source: str, selected: Mapping[str, Any]) -> bool:
    """Whether a value is taken: its source names one of the wanted tools and nothing that is left out."""
    wanted = any(name in source for name in selected["software"])
    return wanted and not any(name in source for name in selected.get("without", ()))


def _results(place: Path) -> dict[str, list[dict[str, Any]]]:
    """The entries of results.json of a study by id, after the way through bytes."""
    from trustreport.api import assess, read_study
    from trustreport.report.document import canonical, document
    from trustreport.report.write import provenance
    from trustreport.vocabulary.messages import catalogue

    assessment = assess(*read_study(place))
    data = json.loads(canonical(document(assessment, provenance(assessment), catalogue("en"))))
    found: dict[str, list[dict[str, Any]]] = {}
    for entry in data["results"]:
        found.setdefault(entry["id"], []).append(entry)
    return found


def _words(scope: Mapping[str, Any]) -> Iterator[str]:
    """A scope as short texts: what is named, then what was chosen."""
    for key, value in sorted(scope.items()):
        if isinstance(value, Mapping):
            yield from (f"{name} {_plain(one)}" for name, one in sorted(value.items()))
        else:
            text = _plain(value)
            yield f"{key} {text}" if PARAMETER.fullmatch(text) else text


def _plain(value: Any) -> str:
    return " v ".join(map(str, value)) if isinstance(value, list) else str(value)


Entry = Mapping[str, Any]


def contains(have: Any, want: Any) -> bool:
    """Whether a scope has all that is expected of it."""
    if isinstance(want, Mapping):
        return isinstance(have, Mapping) and all(k in have and contains(have[k], v) for k, v in want.items())
    if isinstance(want, list):
        return isinstance(have, list) and len(have) == len(want) and all(map(contains, have, want))
    if isinstance(want, bool) or isinstance(have, bool) or not isinstance(want, int | float):
        return bool(have == want)
    return isinstance(have, int | float) and math.isclose(have, want, rel_tol=1e-9, abs_tol=1e-12)


def matching(entries: Sequence[Entry], scope: Mapping[str, Any], method: str = "") -> list[Entry]:
    """Those of a scope, and of a method where one is named."""
    return [e for e in entries if contains(e["scope"], scope) and (not method or e["method"] == method)]


def agrees(entries: Sequence[Entry], field: str, expected: float | None, tolerance: float) -> bool:
    """Whether a field of any entry is what is expected; null needs every entry null, with its note."""
    if expected is None:
        return bool(entries) and all(e[field] is None and e["note"] for e in entries)
    return any(e[field] is not None and abs(e[field] - expected) <= tolerance for e in entries)


def nearest(entries: Sequence[Entry], field: str, expected: float | None) -> float | None:
    """The number in a field that is nearest to what is expected; None where no entry has one."""
    numbers = [float(e[field]) for e in entries if e[field] is not None]
    return min(numbers, key=lambda v: abs(v - (expected or 0.0)), default=None)
