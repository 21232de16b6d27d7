"""A bill of materials of the model with its performance (CycloneDX 1.6, JSON), valid by the strict schema."""

import datetime as dt
import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from trustreport.assessment.assess import Assessment
from trustreport.report import declared
from trustreport.report.document import canonical, digest, document
from trustreport.report.elements.about import device_name
from trustreport.report.exports.chosen import FAIRNESS, PERFORMANCE, RELIABILITY, CardResult, chosen, summary
from trustreport.report.write import provenance
from trustreport.vocabulary.messages import Catalogue, catalogue

NAMES = "https://trustreport.invalid/bom/"  # only a name from which serial numbers are made


def render(assessment: Assessment, suffix: str) -> bytes:
    """The bill as JSON.

    The library writes the component. It has no model cards yet, so the card is added to what it wrote, and
    the whole is validated by the schema that the library brings.

    Raises
    ------
    ValueError : the schema refuses the bill
    """
    from cyclonedx.output import make_outputter
    from cyclonedx.schema import OutputFormat, SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    say = catalogue(assessment.plan.report.language)
    results = digest(canonical(document(assessment, provenance(assessment), say)))
    bill = _bill(assessment, results, say)
    written = json.loads(make_outputter(bill, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string())
    if assessment.plan.report.date is None:
        del written["metadata"]["timestamp"]  # the library knows no bill without one
    written["metadata"]["component"]["modelCard"] = _card(assessment, say)
    text = json.dumps(written, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if fault is not None:
        raise ValueError(f"the bill does not follow its schema: {fault}")
    return text.encode()


def _bill(assessment: Assessment, results: str, say: Catalogue) -> Any:
    from cyclonedx.model import HashAlgorithm, HashType, Property
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.contact import OrganizationalEntity

    device, date = assessment.plan.device, assessment.plan.report.date
    model_hash = (device.model_hash or "").removeprefix("sha256:").lower()
    known = re.fullmatch(r"[0-9a-f]{64}", model_hash)
    component = Component(
        name=device_name(assessment.plan, say),
        type=ComponentType.MACHINE_LEARNING_MODEL,
        version=device.software_version,
        description=summary(assessment.plan, say),
        bom_ref="model",
        supplier=OrganizationalEntity(name=device.manufacturer) if device.manufacturer else None,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=model_hash)] if known else None,
        properties=[Property(name="trustreport:results.sha256", value=results)],
    )
    bill = Bom(serial_number=uuid5(NAMESPACE_URL, NAMES + results))
    bill.metadata.component = component
    bill.metadata.timestamp = dt.datetime.combine(date or dt.date(1980, 1, 1), dt.time(), dt.UTC)
    return bill


def _card(assessment: Assessment, say: Catalogue) -> dict[str, Any]:
    plan = assessment.plan
    use = plan.intended_use
    datasets = [
        {
            "type": "dataset",
            "name": d.dataset,
            "description": "; ".join(filter(None, (declared.text(d.role, say), d.source, d.eligibility))),
        }
        for d in plan.datasets
    ]
    considerations = {
        "users": [use.intended_users] if use.intended_users else [],
        "useCases": [use.intended_purpose] if use.intended_purpose else [],
        "technicalLimitations": [use.out_of_scope_uses] if use.out_of_scope_uses else [],
    }
    parameters = {
        "datasets": datasets,
        "inputs": [{"format": use.input_specification}] if use.input_specification else [],
        "outputs": [{"format": use.output_type}] if use.output_type else [],
    }
    found = [*chosen(assessment, PERFORMANCE, say), *chosen(assessment, RELIABILITY, say)]
    found += chosen(assessment, FAIRNESS, say)
    card = {
        "modelParameters": {key: value for key, value in parameters.items() if value},
        "quantitativeAnalysis": {"performanceMetrics": list(_metrics(found))},
        "considerations": {key: value for key, value in considerations.items() if value},
    }
    return {key: value for key, value in card.items() if value}


def _metrics(found: list[CardResult]) -> Iterator[dict[str, Any]]:
    for one in found:
        metric: dict[str, Any] = {"type": one.name, "value": repr(one.value)}
        if one.place:
            metric["slice"] = one.place
        if one.low is not None:
            metric["confidenceInterval"] = {"lowerBound": repr(one.low), "upperBound": repr(one.high)}
        yield metric
