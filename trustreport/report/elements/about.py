"""What the document is, what was tested in words, and the terms that a reader may not know."""

import numpy as np

from trustreport.assessment.assess import Assessment
from trustreport.report.tables import Table, heads, line_of
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Catalogue

# What the cover states, by the field of the manifest.
COVER = {
    "device": "device.trade_name",
    "model": "device.model",
    "version": "device.software_version",
    "manufacturer": "device.manufacturer",
    "udi": "device.udi_di",
    "risk_class": "device.risk_class",
    "study": "study.study_id",
    "design": "study.design",
    "supersedes": "report.supersedes",
    "confidentiality": "report.confidentiality",
}
TESTED = ("device", "version", "design")  # stand beside it, with what was tested


def cover(assessment: Assessment, results_hash: str, say: Catalogue) -> list[tuple[str, str, bool]]:
    """Label, value, and whether it is declared; what a report of this kind requires and lacks is said."""
    plan, missing = assessment.plan, set(assessment.not_declared)
    rows = []
    for key, path in COVER.items():
        group, _, name = path.partition(".")
        value = getattr(getattr(plan, group), name)
        if (value and key not in TESTED) or path in missing:
            shown = say.declared(value) if value else say("word.not_declared")
            rows.append((say(f"report.cover.{key}"), shown, bool(value)))
    report = plan.report
    date = say.numbers.day(report.date) if report.date else say("report.cover.undated")
    return [
        *rows,
        (say("report.cover.date"), date, True),
        (say("report.cover.status"), say(f"status.{report.status}"), True),
        (say("report.cover.results"), results_hash, True),
    ]


def approvals(assessment: Assessment, say: Catalogue) -> Table | None:
    """Who approved the report, or is to."""
    if not assessment.plan.approvals:
        return None
    none = say("word.not_declared")
    lines = []
    for a in assessment.plan.approvals:
        signed = str(a.signed_at) if a.signed_at else say("report.cover.unsigned")
        meaning = say.declared(a.meaning or none)
        lines.append(line_of(a.name or none, a.role or none, meaning, signed))
    columns = heads(say, "report.cover", "approval_name approval_role approval_meaning approval_signed")
    return Table(say("report.cover.approvals"), columns, tuple(lines))


def device_name(plan: Plan, say: Catalogue) -> str:
    """Trade name and version, as declared; of several candidates each has a version of its own."""
    device = plan.device
    if not device.trade_name:
        return say("report.this_device")
    if not device.software_version or len(plan.candidates) > 1:
        return device.trade_name
    return say("word.version", name=device.trade_name, version=device.software_version)


def device_line(plan: Plan, say: Catalogue) -> str:
    """Device, version and threshold."""
    name = device_name(plan, say) if plan.device.trade_name else say("word.not_declared")
    threshold = plan.operating_point.threshold
    if threshold is None:
        return name
    return say("report.tested.device_threshold", device=name, threshold=say.numbers.plain(threshold))


def counted(study: Study, what: str, say: Catalogue) -> str:
    """Readers or cases of each task and of each published set, as far as they are known."""
    found: list[tuple[str, str]] = []
    read = [(one.task, len(one.readers), one.cases) for one in study.readings]
    read += [(one.task, len(one.makers), one.cases) for one in study.localisations if one.readers is not None]
    for task, n, cases in read:
        text = say("report.tested.n_readers", n=n)
        if what == "cases":
            positive = int((cases.truth > 0).sum())
            text = say("report.tested.n_cases_positive", n=len(cases), positive=positive)
        found.append((text, task))
    for one in (*study.counts, *study.paired_counts, *study.confusion):
        given = getattr(one, what, None)
        text = say("word.not_declared") if given is None else say(f"report.tested.n_{what}", n=given)
        found.append((text, str(getattr(one, "set", None) or getattr(one, "name", ""))))
    texts = list(dict.fromkeys(text for text, _ in found))
    if texts == [say("word.not_declared")]:
        return ""
    if len(texts) <= 1:
        return "".join(texts)
    items = [say("report.tested.in_set", text=text, set=name) for text, name in found]
    return say("report.tested.list", items=items)


def n_raters(study: Study, say: Catalogue) -> str:
    """Raters of each table of labels, and the cases that they labelled."""
    texts = [
        say("report.tested.n_raters", n=len(one.raters), cases=len(np.unique(one.case)))
        for one in study.raters
    ]
    return say("report.tested.list", items=texts) if texts else ""


def n_measured(study: Study, say: Catalogue) -> str:
    """Cases with values or preferences, and the readers who gave them, of each set or task."""
    found: dict[str, tuple[int, int]] = {}
    for one in study.values:
        known = int((~np.isnan(one.value)).any(axis=(0, 1)).sum())
        cases, readers = found.get(one.name, (0, 0))
        found[one.name] = max(cases, known), max(readers, len(one.readers or ()))
    for made in study.preferences:
        cases, readers = found.get(made.task, (0, 0))
        found[made.task] = max(cases, len(np.unique(made.case))), max(readers, len(made.readers))
    texts = []
    for name, (cases, readers) in found.items():
        text = say("report.tested.n_cases", n=cases)
        if readers:
            text = say("report.tested.list", items=[text, say("report.tested.n_readers", n=readers)])
        texts.append(say("report.tested.in_set", text=text, set=name) if name and len(found) > 1 else text)
    return say.between.join(texts)


def n_published(study: Study, say: Catalogue) -> str:
    """How many published sets of counts there are, and of figures."""
    sets = len(study.counts) + len(study.paired_counts) + len(study.confusion) + len(study.reliance_counts)
    counted = (("n_sets", sets), ("n_reported", len(study.reported)))
    return " · ".join(say(f"report.tested.{key}", n=n) for key, n in counted if n)


def reference(plan: Plan, say: Catalogue) -> str:
    """Kind and definition of the reference standard."""
    kind, definition = plan.reference_standard.type, plan.reference_standard.definition
    if kind and definition and kind != "other":
        return say("word.named", label=say.declared(kind), name=definition)
    return definition or say.declared(kind or say("word.not_declared"))
