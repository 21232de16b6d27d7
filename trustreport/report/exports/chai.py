"""The CHAI Applied Model Card (XML, schema v0.2), valid against the schema that is shipped."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

from trustreport.assessment.assess import Assessment
from trustreport.report.answer.acceptance import sentence
from trustreport.report.document import canonical, digest, document
from trustreport.report.exports.chosen import (
    FAIRNESS,
    PERFORMANCE,
    RELIABILITY,
    CardResult,
    chosen,
    printable,
    stated,
    summary,
)
from trustreport.report.write import provenance
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.resources import folder

NAMESPACE = "https://mc.chai.org/v0.2/schema.xsd"
Part = str | Mapping[str, "Part"] | list[Mapping[str, str]]


def render(assessment: Assessment, suffix: str) -> bytes:
    """The card as XML.

    Raises
    ------
    ValueError : the schema refuses the card
    """
    import xmlschema

    say = catalogue(assessment.plan.report.language)
    root = ElementTree.Element("AppliedModelCard", xmlns=NAMESPACE)
    _fill(root, _card(assessment, say))
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


def _card(assessment: Assessment, say: Catalogue) -> dict[str, Part]:
    plan = assessment.plan
    device, use, study = plan.device, plan.intended_use, plan.study
    elsewhere = say("export.elsewhere")
    approval = ", ".join(filter(None, (device.certificate_no, device.risk_class)))
    sources = [f"{d.dataset} ({stated(d.role, say)}): {stated(d.source, say)}" for d in plan.datasets]
    training = [d.source for d in plan.datasets if d.role in ("training", "tuning") and d.source]
    results = canonical(document(assessment, provenance(assessment), say))
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
        "KeyMetrics": _metrics(assessment, _joined(sources, say), say),
        "Resources": {
            "EvaluationReferences": say("export.report", sha256=digest(results)),
            **({"ClinicalTrial": study.registration_no} if study.registration_no else {}),
            "PeerReviewedPublications": elsewhere,
            "PatientConsentOrDisclosure": stated(study.consent_basis, say),
        },
        "Bibliography": "",
    }


def _metrics(assessment: Assessment, data: str, say: Catalogue) -> dict[str, Part]:
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
            "Results": {"MetricResult": list(_results(results, say))},
            "Interpretation": (quantities is PERFORMANCE and verdicts) or say("export.no_interpretation"),
            "TestType": stated(study.design, say),
            "TestingDataDescription": data,
            "ValidationProcessAndJustification": _joined((study.protocol_version, study.sap_version), say),
        }
    return found


def _results(results: Iterable[CardResult], say: Catalogue) -> Iterator[dict[str, str]]:
    """Each result, its numbers as the published cards have them; that there is none where there is none."""
    told = False
    for one in results:
        told = True
        value: dict[str, Any] = {"kind": "single", "value": one.value}
        if one.low is not None:
            value = {
                "kind": "estimate_ci",
                "estimate": one.value,
                "lower": one.low,
                "upper": one.high,
                "level": round(100 * one.level, 4),
            }
        more = {"unit": one.unit, "n": one.n}
        yield {"Label": one.label, "ValueJson": json.dumps({**value, **more}, ensure_ascii=False)}
    if not told:
        yield {"Label": say("export.no_result"), "ValueJson": "null"}


def _joined(values: Iterable[object], say: Catalogue) -> str:
    return "; ".join(stated(v, say) for v in values if v) or say("word.not_declared")
