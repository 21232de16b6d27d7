"""A report as what programs of others read: model cards, a bill of materials, resources of FHIR.

What each needs beyond the package is imported when it is asked; what its schema refuses is not given.
"""

import datetime as dt
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree

from trustreport.assessment.assess import Assessment
from trustreport.report import declared
from trustreport.report.answer.acceptance import sentence
from trustreport.report.elements.about import device_name
from trustreport.report.exports.chosen import (
    FAIRNESS,
    PERFORMANCE,
    RELIABILITY,
    CardResult,
    chosen,
    results_digest,
    stated,
    summary,
)
from trustreport.report.exports.sheets import printable
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.resources import folder

NAMESPACE = "https://mc.chai.org/v0.2/schema.xsd"
Part = str | Mapping[str, "Part"] | list[Mapping[str, str]]
TASK = "other"  # the Hugging Face hub's word for what none of its tasks is
# Only names from which serial numbers and ids of resources are made.
BILLS, RESOURCES = "https://trustreport.invalid/bom/", "https://trustreport.invalid/fhir/"
STATUS = {"draft": "draft", "final": "active", "superseded": "retired"}

# ---------------------------------------------------------------- model cards


def chai_card(assessment: Assessment, suffix: str) -> bytes:
    """The CHAI Applied Model Card (XML, schema v0.2), valid against the schema that is shipped.

    Raises
    ------
    ValueError : the schema refuses the card
    """
    import xmlschema

    say = catalogue(assessment.plan.report.language)
    root = ElementTree.Element("AppliedModelCard", xmlns=NAMESPACE)
    _fill(root, _chai_parts(assessment, say))
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"
    # Nothing is fetched: the schema of signatures, which it imports, is a part of xmlschema.
    schema = xmlschema.XMLSchema(
        str(folder("schemas") / "chai" / "applied-model-card-0.2.xsd"), allow="local"
    )
    faults = [str(error.reason) for error in schema.iter_errors(text.decode())]
    if faults:
        raise ValueError(f"the card does not follow its schema: {'; '.join(faults)}")
    return text


def _fill(element: ElementTree.Element, part: Mapping[str, Part]) -> None:
    for name, value in part.items():
        if isinstance(value, list):
            for one in value:
                _fill(ElementTree.SubElement(element, name), one)
        elif isinstance(value, str):
            ElementTree.SubElement(element, name).text = printable(value)
        else:
            _fill(ElementTree.SubElement(element, name), value)


def _chai_parts(assessment: Assessment, say: Catalogue) -> dict[str, Part]:
    plan = assessment.plan
    device, use, study = plan.device, plan.intended_use, plan.study
    elsewhere = say("export.elsewhere")
    approval = ", ".join(filter(None, (device.certificate_no, device.risk_class)))
    sources = [f"{d.dataset} ({stated(d.role, say)}): {stated(d.source, say)}" for d in plan.datasets]
    training = [d.source for d in plan.datasets if d.role in ("training", "tuning") and d.source]
    return {
        "BasicInfo": {
            "ModelName": stated(device.trade_name, say),
            "ModelDeveloper": stated(device.manufacturer, say),
            "DeveloperContact": elsewhere,
        },
        "ReleaseInfo": {
            "ReleaseStage": stated(device.market_status, say),
            "ReleaseDate": elsewhere,
            "ReleaseVersion": stated(device.software_version, say),
            "GlobalAvailability": elsewhere,
            **({"RegulatoryApproval": approval} if approval else {}),
        },
        "ModelSummary": {"Summary": summary(plan, say), "Keywords": {}},
        "UsesAndDirections": {
            "IntendedUseAndWorkflow": _joined((use.intended_purpose, use.decision_role), say),
            "PrimaryIntendedUsers": stated(use.intended_users, say),
            "HowToUse": elsewhere,
            "TargetedPatientPopulation": stated(
                use.intended_patient_population and use.intended_patient_population.description, say
            ),
            "CautionedOutOfScopeSettings": stated(use.out_of_scope_uses, say),
        },
        "Warnings": {
            "KnownRisksAndLimitations": stated(use.known_risks, say),
            "KnownBiasesOrEthicalConsiderations": say("export.see_fairness"),
            "ClinicalRiskLevel": stated(device.risk_class, say),
        },
        "TrustIngredients": {
            "AISystemFacts": {
                "OutcomesAndOutputs": stated(use.output_type, say),
                "ModelType": elsewhere,
                "InputDataSource": stated(use.input_specification, say),
                "OutputAndInputDataTypes": _joined((use.input_specification, use.output_type), say),
                "DevelopmentDataCharacterization": _joined(training, say),
                "BiasMitigationApproaches": elsewhere,
                "OngoingMaintenance": stated(device.predetermined_changes, say),
            },
            "TransparencyInformation": {"FundingSource": elsewhere, "StakeholdersConsulted": elsewhere},
        },
        "KeyMetrics": _chai_metrics(assessment, _joined(sources, say), say),
        "Resources": {
            "EvaluationReferences": say("export.report", sha256=results_digest(assessment, say)),
            **({"ClinicalTrial": study.registration_no} if study.registration_no else {}),
            "PeerReviewedPublications": elsewhere,
            "PatientConsentOrDisclosure": stated(study.consent_basis, say),
        },
        "Bibliography": "",
    }


def _chai_metrics(assessment: Assessment, data: str, say: Catalogue) -> dict[str, Part]:
    study = assessment.plan.study
    verdicts = " ".join(sentence(v, say) for v in assessment.verdicts)
    groups = {
        "UsefulnessUsabilityEfficacy": PERFORMANCE,
        "FairnessEquity": FAIRNESS,
        "SafetyReliability": RELIABILITY,
    }
    found: dict[str, Part] = {}
    for name, quantities in groups.items():
        results = list(chosen(assessment, quantities, say))
        found[name] = {
            "MetricGoal": say("export.goal"),
            "Results": {"MetricResult": list(_chai_results(results, say))},
            "Interpretation": (quantities is PERFORMANCE and verdicts) or say("export.no_interpretation"),
            "TestType": stated(study.design, say),
            "TestingDataDescription": data,
            "ValidationProcessAndJustification": _joined((study.protocol_version, study.sap_version), say),
        }
    return found


def _chai_results(results: Iterable[CardResult], say: Catalogue) -> Iterator[dict[str, str]]:
    """Each result, its numbers as the published cards have them; that there is none where there is none."""
    found = list(results)
    for one in found:
        value: dict[str, Any] = {"kind": "single", "value": one.value}
        if one.low is not None:
            value = {"kind": "estimate_ci", "estimate": one.value, "lower": one.low, "upper": one.high}
            value["level"] = round(100 * one.level, 4)
        text = json.dumps({**value, "unit": one.unit, "n": one.n}, ensure_ascii=False)
        yield {"Label": one.label, "ValueJson": text}
    if not found:
        yield {"Label": say("export.no_result"), "ValueJson": "null"}


def _joined(values: Iterable[object], say: Catalogue) -> str:
    return "; ".join(stated(v, say) for v in values if v) or say("word.not_declared")


def huggingface_card(assessment: Assessment, suffix: str) -> bytes:
    """The metadata of a model card (model-index, YAML) as huggingface_hub writes it: the head of a README.md.

    It has the results on each set, with their intervals.

    Raises
    ------
    ValueError : no result of the device on a set of cases
    """
    from huggingface_hub import EvalResult, ModelCardData

    say = catalogue(assessment.plan.report.language)
    found = [one for one in chosen(assessment, PERFORMANCE, say) if one.dataset]
    if not found:
        raise ValueError("the study has no result of the device on a set of cases, which a model-index lists")
    results = [
        EvalResult(
            task_type=TASK,
            dataset_type=one.dataset,
            dataset_name=one.dataset,
            metric_type=one.quantity,
            metric_name=one.label,
            metric_value=one.value,
            metric_args={"lower": one.low, "upper": one.high}
            | {name: getattr(one, name) for name in ("level", "n", "method")},
        )
        for one in found
    ]
    data = ModelCardData(
        language=assessment.plan.report.language,
        model_name=device_name(assessment.plan, say),
        eval_results=results,
    )
    return f"---\n{data.to_yaml()}\n---\n".encode()


# ---------------------------------------------------------------- bill of materials


def cyclonedx_bill(assessment: Assessment, suffix: str) -> bytes:
    """A bill of materials of the model with its performance (CycloneDX 1.6, JSON).

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
    bill = _bill(assessment, results_digest(assessment, say), say)
    written = json.loads(make_outputter(bill, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string())
    if assessment.plan.report.date is None:
        del written["metadata"]["timestamp"]  # the library knows no bill without one
    written["metadata"]["component"]["modelCard"] = _model_card(assessment, say)
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
    bill = Bom(serial_number=uuid5(NAMESPACE_URL, BILLS + results))
    bill.metadata.component = component
    bill.metadata.timestamp = dt.datetime.combine(date or dt.date(1980, 1, 1), dt.time(), dt.UTC)
    return bill


def _model_card(assessment: Assessment, say: Catalogue) -> dict[str, Any]:
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
        "quantitativeAnalysis": {"performanceMetrics": list(_bill_metrics(found))},
        "considerations": {key: value for key, value in considerations.items() if value},
    }
    return {key: value for key, value in card.items() if value}


def _bill_metrics(found: list[CardResult]) -> Iterator[dict[str, Any]]:
    for one in found:
        metric: dict[str, Any] = {"type": one.name, "value": repr(one.value)}
        if one.place:
            metric["slice"] = one.place
        if one.low is not None:
            metric["confidenceInterval"] = {"lowerBound": repr(one.low), "upperBound": repr(one.high)}
        yield metric


# ---------------------------------------------------------------- FHIR


def fhir_bundle(assessment: Assessment, suffix: str) -> bytes:
    """Device, ResearchStudy and the Evidence of each result as a Bundle of FHIR R5.

    The library fhir.resources checks the resources as it makes them. No profile beyond the base specification
    is claimed, and concepts are given as text: no code system is claimed either.
    """
    from fhir.resources.bundle import Bundle

    say = catalogue(assessment.plan.report.language)
    results = results_digest(assessment, say)
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
        {"fullUrl": f"urn:uuid:{uuid5(NAMESPACE_URL, f'{RESOURCES}{results}/{i}')}", "resource": resource}
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
