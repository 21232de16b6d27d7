"""Structured reports of DICOM (TID 1500, measurement reports; results of AI among them) as tables.

A measurement or a qualitative evaluation becomes a value named by its concept; where a report has several
groups of measurements, by the site or the finding of the group too. The case is the accession number, or else
the UID of the study; a person observer is the reader, a device observer the device.
Source: DICOM PS3.16, TID 1500, 1501, 1411 and 1001 to 1004.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trustreport.study.interop.observed import Observed, Rows, observed_tables
from trustreport.vocabulary.errors import Problem

SUFFIX = ".dcm"
MEASUREMENTS, GROUP, EVALUATIONS = "126010", "125007", "C0034375"
FINDING, SITES = "121071", ("363698007", "G-C0E3")
ABOUT = (
    FINDING,
    *SITES,
    "121401",
    "370129005",
    "112039",
    "112040",
)  # of a group: derivation, method, tracking
PERSON, DEVICES = "121008", ("121013", "121015", "121012")  # name, model or UID of a device


def read_reports(paths: Sequence[Path]) -> tuple[dict[str, Rows], list[Problem]]:
    """Tables by file name, and every fault of the files."""
    if find_spec("pydicom") is None:
        mend = "Install it: pip install 'trustreport[dicom]'."
        said = "a file of DICOM, and no package that reads it"
        return {}, [Problem(paths[0].name, f"found {said}", "pydicom", mend)]
    import pydicom

    problems: list[Problem] = []
    found: list[Observed] = []
    for path in paths:
        try:
            report = pydicom.dcmread(path, stop_before_pixels=True)
            own = list(_observed(report, path.name)) if report.get("Modality") == "SR" else []
        except Exception:
            problems.append(Problem(path.name, "found a damaged file", "a structured report of DICOM"))
            continue
        if not own:
            expected = "a measurement report (TID 1500)"
            problems.append(Problem(path.name, "found no measurement and no evaluation", expected))
        found += own
    return (observed_tables(found, "reports", problems) if found else {}), problems


def _observed(report: Any, file: str) -> Iterator[Observed]:
    case = str(report.get("AccessionNumber") or report.get("StudyInstanceUID") or "")
    day = str(report.get("StudyDate") or report.get("ContentDate") or "")
    date = f"{day[:4]}-{day[4:6]}-{day[6:8]}" if len(day) == 8 else ""
    items = list(_items(report))
    context = {_code(item): item for item in items}
    reader = str(context[PERSON].PersonName) if PERSON in context else ""
    device = next((_text(context[code]) for code in DEVICES if code in context), "")
    who = (file, 0, case, str(report.get("PatientID") or ""), date, reader, device, "")
    groups = [
        list(_items(group))
        for part in items
        if _code(part) == MEASUREMENTS
        for group in _items(part)
        if _code(group) == GROUP
    ]
    labels = [_label(group) for group in groups] if len(groups) > 1 else [""] * len(groups)
    number: Counter[str] = Counter()
    for group, label in zip(groups, labels):
        number[label] += 1
        again = label and labels.count(label) > 1
        of = f"{label} {number[label]}" if again else label
        for item in group:
            if _code(item) not in ABOUT and item.ValueType in ("NUM", "CODE", "TEXT"):
                name = _meaning(item.ConceptNameCodeSequence)
                yield Observed(*who, f"{name}, {of}" if of else name, *_value(item))
    for part in items:
        if _code(part) == EVALUATIONS:
            for item in _items(part):
                yield Observed(*who, _meaning(item.ConceptNameCodeSequence), *_value(item))


def _items(of: Any) -> Iterator[Any]:
    yield from of.get("ContentSequence") or ()


def _code(item: Any) -> str:
    names = item.get("ConceptNameCodeSequence") or ()
    return str(names[0].get("CodeValue", "")) if names else ""


def _meaning(codes: Any) -> str:
    return str(codes[0].get("CodeMeaning") or codes[0].get("CodeValue", ""))


def _label(group: Sequence[Any]) -> str:
    """What tells a group apart: the site of its finding, or the finding; "group" where it names neither."""
    of = {_code(item): item for item in group if item.ValueType == "CODE"}
    return next((_text(of[code]) for code in (*SITES, FINDING) if code in of), "group")


def _text(item: Any) -> str:
    if item.ValueType == "CODE":
        return _meaning(item.ConceptCodeSequence)
    return str(item.get("TextValue") or item.get("UID") or "")


def _value(item: Any) -> tuple[str, str]:
    """A value as text and its unit; a measurement without a value is empty."""
    if item.ValueType != "NUM":
        return _text(item), ""
    measured = item.get("MeasuredValueSequence") or ()
    if not measured:
        return "", ""
    units = measured[0].get("MeasurementUnitsCodeSequence") or ()
    return str(measured[0].NumericValue), str(units[0].get("CodeValue", "")) if units else ""
