"""results.json: the machine-readable twin of a report, and the model that its schema comes from."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from hashlib import sha256
from math import isfinite, isinf
from typing import Any

from trustreport.assessment.assess import Assessment
from trustreport.assessment.checks.check import EVERYTHING
from trustreport.assessment.finding import CheckOutcome, Unanswered
from trustreport.assessment.verdicts import Verdict as Judged
from trustreport.assessment.verdicts.entries import WITHHELD_BY
from trustreport.assessment.verdicts.judge import as_locked, elsewhere
from trustreport.assessment.verdicts.risk import needed_rates
from trustreport.assessment.verdicts.verdict import RiskLimit
from trustreport.report.answer.acceptance import sentence
from trustreport.report.answer.answer import answer
from trustreport.study import lock
from trustreport.study.plan import NOT_DECLARED, Plan
from trustreport.vocabulary.digits import as_written
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.results import Result

SCHEMA_VERSION = "2"
# Fields of a criterion that decide nothing.
WORDS_ALONE = ("margin_rationale", "clinical_severity", "hazard", "owner", "due")


def document(assessment: Assessment, provenance: Mapping[str, Any], say: Catalogue) -> dict[str, Any]:
    """The document as plain data, ready for `canonical`."""
    return {
        "schema_version": SCHEMA_VERSION,
        "study": _summary(assessment),
        "answer": _answer(assessment, say),
        "results": [entry(result, say) for result in assessment.results],
        "verdicts": [_verdict(verdict, say) for verdict in assessment.verdicts],
        "intervals": _intervals(assessment.verdicts),
        "criteria": _criteria(assessment),
        "checks": [_check(outcome, say) for outcome in assessment.checks],
        "unanswered": [_open(open_, say) for open_ in assessment.unanswered],
        "figures": [
            {"id": figure.id, "alt": say(figure.alt), "values": figure.drawing.values(say)}
            for figure in assessment.figures
        ],
        "provenance": dict(provenance),
    }


def canonical(data: Any) -> bytes:
    """Canonical JSON: sorted keys, UTF-8, 13 significant digits, no NaN; a final newline."""
    text = json.dumps(plain(data), sort_keys=True, ensure_ascii=False, allow_nan=False, indent=1)
    return text.encode() + b"\n"


def digest(data: bytes) -> str:
    """The sha256 by which a report quotes its results."""
    return sha256(data).hexdigest()


def plain(value: Any) -> Any:
    """A value as JSON holds it: 13 significant digits, None for what is not finite, lists for tuples."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if isinstance(value, bool | str | int) or value is None:
        return value
    if isinstance(value, float):
        return as_written(value) if isfinite(value) else None
    if hasattr(value, "item"):
        return plain(value.item())
    return str(value)


def _summary(assessment: Assessment) -> dict[str, Any]:
    study, plan = assessment.study, assessment.plan
    device = " ".join(filter(None, (plan.device.trade_name, plan.device.software_version)))
    own = (study.counts, study.paired_counts, study.confusion, study.reliance_counts, study.nomogram)
    named: tuple[tuple[Any, ...], ...] = (
        *own,
        study.reported,
        plan.published_readers,
        plan.published_sites,
    )
    return {
        "kind": plan.report.kind,
        "title": plan.report.title or "",
        "device": device or NOT_DECLARED,
        "release": plan.report.release,
        "language": plan.report.language,
        "arms": list(study.arms),
        "tasks": [asdict(flow) for flow in assessment.flows],
        "datasets": [
            {"dataset": d.name, "role": d.role, "n_cases": len(d.cases), "n_features": len(d.feature_names)}
            for d in study.datasets
        ],
        "sets": list(dict.fromkeys(getattr(s, "set", None) or s.name for group in named for s in group)),
        "not_declared": list(assessment.not_declared),
    }


def _answer(assessment: Assessment, say: Catalogue) -> dict[str, Any]:
    found = answer(assessment, say)
    parts = [
        {"text": said.text, "results": [_fields(r, "id scope method") for r in said.results]}
        for said in (*found.sentences, *found.support)
    ]
    return {
        "question": found.question,
        "sentence": found.sentence,
        "support": found.supporting,
        "parts": parts,
    }


def _fields(one: object, names: str) -> dict[str, Any]:
    """Attributes by their names, under which results.json has them; null each where there is nothing."""
    return {name: None if one is None else getattr(one, name) for name in names.split()}


def entry(result: Result, say: Catalogue) -> dict[str, Any]:
    """A result with the keys that it has in results.json."""
    e = result.estimate
    return {
        **_fields(result, "id cases scope unit primary"),
        **_fields(e, "value low high level se n method p df short"),
        "note": catalogue()(e.note),
        "quantity": result.quantity.id,
        "method_text": say(f"method.{e.method}.text") if e.method else "",
        "source": say(f"method.{e.method}.source") if e.method else "",
        "details": {**e.details, **result.details},
    }


def _verdict(verdict: Judged, say: Catalogue) -> dict[str, Any]:
    criterion, bound, result = verdict.criterion, verdict.bound, verdict.result
    family, locked = verdict.family, verdict.locked
    return {
        **_fields(criterion, "endpoint role measure hypothesis"),
        **_fields(verdict, "alpha level n_needed"),
        **_fields(result.estimate if result else None, "value low high n method"),
        **_fields(result, "id scope"),
        "verdict": verdict.word,
        "reason": sentence(verdict, say),
        "above": bound.low if bound else None,
        "below": bound.high if bound else None,
        "family": family and {"family": family.name, **_fields(family, "rule size met")},
        "checks": list(verdict.checks),
        "locked": locked and {"verdict": locked.word, **_fields(locked, "bound alpha level")},
        "risk": [_risk(verdict, one, say) for one in verdict.risk],
        "rates_needed": needed_rates(criterion.risk) if criterion.risk and verdict.risk else {},
    }


def _risk(verdict: Judged, one: RiskLimit, say: Catalogue) -> dict[str, Any]:
    return {
        "measure": one.name,
        "verdict": one.word,
        "text": say(one.text),
        **_fields(verdict.criterion.risk, "pre_test"),
        **_fields(one, "after needed"),
        **_fields(one.result.estimate if one.result else None, "value low high"),
    }


def _intervals(judged: Iterable[Judged]) -> list[dict[str, Any]]:
    """The intervals that verdicts were compared with, each once."""
    found: dict[tuple[str, str, str, float], dict[str, Any]] = {}
    for r in (r for verdict in judged for r in verdict.tried):
        e = r.estimate
        key = r.id, json.dumps(plain(r.scope), sort_keys=True), e.method, as_written(e.level)
        numbers = _fields(e, "value low high")
        found[key] = {
            **_fields(r, "id scope"),
            **_fields(e, "method level se short"),
            **numbers,
            "infinite": [name for name, number in numbers.items() if isinf(number)],
            "data": sorted(r.place.data),
            "quantity": {
                **_fields(r.quantity, "id better no_effect low high base"),
                "counts_decisions": r.counts_decisions,
            },
        }
    return list(found.values())


def _declared_by(plan: Plan) -> dict[str, Any]:
    """Criteria and families as a plan has them, without what is said of them in words alone."""
    endpoints = [e.model_dump(mode="json", by_alias=True, exclude_none=True) for e in plan.endpoints]
    return {
        "endpoints": [{k: v for k, v in e.items() if k not in WORDS_ALONE} for e in endpoints],
        "families": [f.model_dump(mode="json", by_alias=True, exclude_none=True) for f in plan.families],
        "confidence_level": plan.report.confidence_level,
    }


def _criteria(assessment: Assessment) -> dict[str, Any]:
    status, plan = lock.lock_status(assessment.study, assessment.plan), assessment.plan
    before = as_locked(status, plan) if any(verdict.locked for verdict in assessment.verdicts) else None
    apart = elsewhere(status)

    def resting(change: lock.Change, on: Plan | None) -> list[str]:
        return [e.endpoint for e in lock.concerned(change, on)] if on else []

    return {
        **_fields(status, "state sha256 late"),
        "covers": ("criteria" if status.older else "manifest") if status.lock else None,
        "locked_sha256": status.lock.first.sha256 if status.lock else None,
        "time_stamp": status.stamp.time.isoformat() if status.stamp else None,
        "changes": [
            {
                **_fields(c, "field old new"),
                "criteria": resting(c, plan),
                "locked_criteria": resting(c, before if c in apart else None),
                "amendment": c.how,
            }
            for c in status.changes
        ],
        "threshold": plan.operating_point.threshold,
        "prevalence": plan.declared_prevalence,
        "declared": _declared_by(plan),
        "locked": _declared_by(before) if before else None,
    }


def _check(outcome: CheckOutcome, say: Catalogue) -> dict[str, Any]:
    return {
        **_fields(outcome, "check dimension severity status"),
        "message": say(outcome.message),
        "scope": dict(outcome.scope),
        "quantities": list(outcome.quantities),
        "data": sorted(outcome.place.data),
        "withholds": _withholds(outcome),
    }


def _withholds(outcome: CheckOutcome) -> dict[str, Any] | None:
    if outcome.severity != "B" or outcome.status != "fired":
        return None
    withholding = WITHHELD_BY.get(outcome.check, EVERYTHING)
    verdicts = "inconclusive" if withholding.only_inconclusive else "all"
    return {"numbers": withholding.numbers, "verdicts": verdicts}


def _open(open_: Unanswered, say: Catalogue) -> dict[str, Any]:
    return {
        "dimension": open_.dimension,
        "question": say(f"{open_.dimension}.question"),
        "reason": say(open_.reason),
    }
