"""What the document is: model, maker, study, by whom it was approved, and which results it stands for."""

from trustreport.assessment.assess import Assessment
from trustreport.report.tables import Cell, Head, Line, Table
from trustreport.vocabulary.messages import Catalogue

TESTED = ("device", "version", "design")  # stand beside it, with what was tested


def cover(assessment: Assessment, results_hash: str, say: Catalogue) -> list[tuple[str, str, bool]]:
    """Label, value, and whether it is declared; what a report of this kind requires and lacks is said."""
    plan = assessment.plan
    device, study, report = plan.device, plan.study, plan.report
    missing = set(assessment.not_declared)
    rows = []
    for key, path, value in (
        ("device", "device.trade_name", device.trade_name),
        ("model", "device.model", device.model),
        ("version", "device.software_version", device.software_version),
        ("manufacturer", "device.manufacturer", device.manufacturer),
        ("udi", "device.udi_di", device.udi_di),
        ("risk_class", "device.risk_class", device.risk_class),
        ("study", "study.study_id", study.study_id),
        ("design", "study.design", study.design),
        ("supersedes", "report.supersedes", report.supersedes),
        ("confidentiality", "report.confidentiality", report.confidentiality),
    ):
        if (value and key not in TESTED) or path in missing:
            rows.append((say(f"report.cover.{key}"), value or say("word.not_declared"), bool(value)))
    date = say.numbers.day(report.date) if report.date else say("report.cover.undated")
    rows.append((say("report.cover.date"), date, True))
    rows.append((say("report.cover.status"), say(f"status.{report.status}"), True))
    rows.append((say("report.cover.results"), results_hash, True))
    return rows


def approvals(assessment: Assessment, say: Catalogue) -> Table | None:
    """Who approved the report, or is to."""
    if not assessment.plan.approvals:
        return None
    none = say("word.not_declared")
    lines = []
    for a in assessment.plan.approvals:
        signed = str(a.signed_at) if a.signed_at else say("report.cover.unsigned")
        lines.append(Line(tuple(Cell(text or none) for text in (a.name, a.role, a.meaning, signed))))
    heads = tuple(Head(say(f"report.cover.approval_{key}")) for key in ("name", "role", "meaning", "signed"))
    return Table(say("report.cover.approvals"), heads, tuple(lines))
