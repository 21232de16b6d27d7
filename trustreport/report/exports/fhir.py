"""The study and its results as FHIR R5 resources: Device, ResearchStudy, and Evidence for each result."""

from decimal import Decimal
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from trustreport.assessment.assess import Assessment
from trustreport.report.document import canonical, digest, document
from trustreport.report.elements.about import device_name
from trustreport.report.exports.chosen import FAIRNESS, PERFORMANCE, RELIABILITY, CardResult, chosen, summary
from trustreport.report.write import provenance
from trustreport.vocabulary.messages import catalogue

STATUS = {"draft": "draft", "final": "active", "superseded": "retired"}
NAMES = "https://trustreport.invalid/fhir/"  # only a name from which the ids of resources are made


def render(assessment: Assessment, suffix: str) -> bytes:
    """A Bundle (collection) of base resources, which fhir.resources checks as it makes them.

    No profile beyond the base specification is claimed, and concepts are given as text: no code system is
    claimed either.
    """
    from fhir.resources.bundle import Bundle

    say = catalogue(assessment.plan.report.language)
    results = digest(canonical(document(assessment, provenance(assessment), say)))
    plan, status = assessment.plan, STATUS[assessment.plan.report.status]
    name = device_name(plan, say)
    device = _without_none(
        resourceType="Device",
        name=[{"value": name, "type": "user-friendly-name"}],
        manufacturer=plan.device.manufacturer,
        version=[{"value": plan.device.software_version}] if plan.device.software_version else None,
    )
    study = _without_none(
        resourceType="ResearchStudy",
        status=status,
        title=plan.report.title,
        description=summary(plan, say),
        identifier=[{"value": plan.study.study_id}] if plan.study.study_id else None,
    )
    found = [one for kind in (PERFORMANCE, FAIRNESS, RELIABILITY) for one in chosen(assessment, kind, say)]
    evidence = [_evidence(one, name, status) for one in found]
    entries = [
        {"fullUrl": f"urn:uuid:{uuid5(NAMESPACE_URL, f'{NAMES}{results}/{i}')}", "resource": resource}
        for i, resource in enumerate((device, study, *evidence))
    ]
    bundle = Bundle.model_validate({"resourceType": "Bundle", "type": "collection", "entry": entries})
    return (bundle.model_dump_json(indent=1) + "\n").encode()


def _evidence(one: CardResult, device: str, status: str) -> dict[str, Any]:
    """A result: its value, its number of cases, and its interval as an attribute of the estimate."""
    interval = None
    if one.low is not None:
        interval = [
            {
                "type": {"text": "confidence interval"},
                "level": Decimal(repr(one.level)),
                "description": one.method,
                "range": {
                    "low": {"value": Decimal(repr(one.low))},
                    "high": {"value": Decimal(repr(one.high))},
                },
            }
        ]
    statistic = _without_none(
        description=one.label,
        statisticType={"text": one.name},
        quantity={"value": Decimal(repr(one.value)), "unit": one.unit},
        sampleSize={"knownDataCount": one.n},
        attributeEstimate=interval,
    )
    variables = [
        {"variableRole": {"text": "exposure"}, "description": device},
        {"variableRole": {"text": "population"}, "description": one.place or device},
        {"variableRole": {"text": "measured variable"}, "description": one.name},
    ]
    return {
        "resourceType": "Evidence",
        "status": status,
        "title": one.label,
        "variableDefinition": variables,
        "statistic": [statistic],
    }


def _without_none(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
