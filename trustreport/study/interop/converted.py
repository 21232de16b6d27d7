"""Files of other programs that are no tables, as tables: which converter takes which file."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trustreport.study.interop.coco import is_results, is_truth, read_coco
from trustreport.study.interop.fhir import SUFFIXES, read_observations
from trustreport.study.interop.observed import Rows
from trustreport.study.interop.structured_reports import SUFFIX, read_reports
from trustreport.vocabulary.errors import Problem


def converted(paths: Sequence[Path]) -> tuple[dict[str, Rows], list[Path], list[Problem]]:
    """Tables by the name of the file that they become, files that are left as they are, and every fault.

    Boxes of COCO (JSON), observations of FHIR (NDJSON, or a bundle) and structured reports of DICOM become
    tables.
    """
    tables: dict[str, Rows] = {}
    rest: list[Path] = []
    problems: list[Problem] = []
    boxes: dict[str, Any] = {}
    reports: list[Path] = []
    called = Counter(path.stem for path in paths)
    for path in paths:
        content = _json(path)
        if is_truth(content) or is_results(content):
            alike = called[path.stem] > 1
            boxes[f"{path.resolve().parent.name}_{path.stem}" if alike else path.stem] = content
            continue
        if path.suffix.lower() == SUFFIX:
            reports.append(path)
            continue
        made: Mapping[str, Rows] = {}
        if path.suffix.lower() in SUFFIXES:
            made, faults = read_observations(path.read_text("utf-8", "replace"), path.name)
            problems += faults
        tables |= made
        rest += [] if made else [path]
    if boxes:
        made, faults = read_coco(boxes)
        tables |= {f"{name}.csv": rows for name, rows in made.items()}
        problems += faults
    if reports:
        made, faults = read_reports(reports)
        tables |= made
        problems += faults
    return tables, rest, problems


def _json(path: Path) -> Any:
    """The content of a JSON file; None of another file."""
    if path.suffix.lower() != ".json":
        return None
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
