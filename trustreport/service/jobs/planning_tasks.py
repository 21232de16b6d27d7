"""The tasks of planning in the limited process: components of a stored pilot study, the section as PDF."""

from base64 import b64encode
from dataclasses import asdict
from pathlib import Path
from typing import Any

from trustreport.vocabulary.errors import MissingLibrary, StudyError


def pilot(task: dict[str, Any], work: Path) -> dict[str, Any]:
    """The components of ``work/study`` for an endpoint and a design, or every problem of it."""
    from trustreport.api import read_study
    from trustreport.service.engine import SizingRequest, pilot_parts

    asked = SizingRequest.model_construct(**task["asked"], pilot="study")
    try:
        found = pilot_parts(*read_study(work / "study"), asked)
    except StudyError as error:
        return {"problems": [p.as_dict() for p in error.problems]}
    components: dict[str, float] = {**asdict(found.parts), "cases": found.n_cases}
    if asked.endpoint == "auc":
        components["positives"] = found.n_positives
    return {"components": components, "expected": found.mean}


def section(task: dict[str, Any]) -> dict[str, Any]:
    """The section of a protocol as PDF."""
    from trustreport.api import plan_reader_study
    from trustreport.service.engine import protocol

    try:
        made = protocol.to_pdf(plan_reader_study(**task["request"]))
    except MissingLibrary as error:
        return {"failed": str(error)}
    return {"pdf": b64encode(made).decode()}
