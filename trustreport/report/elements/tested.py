"""What was tested: device, readers, cases, arms, design, reference standard, lock of the criteria."""

import numpy as np

from trustreport.assessment.assess import Assessment
from trustreport.report.wording import day
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Catalogue


def device_name(plan: Plan, say: Catalogue) -> str:
    """Trade name and version, as declared; of several candidates each has a version of its own."""
    device = plan.device
    if not device.trade_name:
        return say("report.this_device")
    if not device.software_version or len(plan.candidates) > 1:
        return device.trade_name
    return say("word.version", name=device.trade_name, version=device.software_version)


def tested(assessment: Assessment, say: Catalogue) -> list[tuple[str, str]]:
    study, plan = assessment.study, assessment.plan
    return [
        ("device", _device(plan, say)),
        ("readers", _counted(study, "readers", say)),
        ("cases", _counted(study, "cases", say)),
        ("raters", _raters(study, say)),
        ("arms", _arms(study, plan)),
        ("design", _design(plan, say)),
        ("datasets", _datasets(study, say)),
        ("reference", _reference(plan, say)),
        (
            "locked",
            day(plan.study.sap_locked_at, say) if plan.study.sap_locked_at else say("word.not_declared"),
        ),
    ]


def _device(plan: Plan, say: Catalogue) -> str:
    name = device_name(plan, say) if plan.device.trade_name else say("word.not_declared")
    threshold = plan.operating_point.threshold
    if threshold is None:
        return name
    return say("report.tested.device_threshold", device=name, threshold=say.numbers.plain(threshold))


def _counted(study: Study, what: str, say: Catalogue) -> str:
    """Readers or cases of each task and of each published set, as far as they are known."""
    found: list[tuple[str, str]] = []
    for readings in study.readings:
        if what == "readers":
            text = say("report.tested.n_readers", n=len(readings.readers))
        else:
            positive = int((readings.cases.truth > 0).sum())
            text = say("report.tested.n_cases_positive", n=len(readings.cases), positive=positive)
        found.append((text, readings.task))
    for marks in (one for one in study.localisations if one.readers is not None):
        if what == "readers":
            text = say("report.tested.n_readers", n=len(marks.makers))
        else:
            positive = int((marks.cases.truth > 0).sum())
            text = say("report.tested.n_cases_positive", n=len(marks.cases), positive=positive)
        found.append((text, marks.task))
    for group in (study.counts, study.paired_counts, study.confusion):
        for one in group:
            n = getattr(one, what, None)
            name = str(getattr(one, "set", None) or getattr(one, "name", ""))
            text = say(f"report.tested.n_{what}", n=n) if n is not None else say("word.not_declared")
            found.append((text, name))
    texts = list(dict.fromkeys(text for text, _ in found))
    if len(texts) <= 1:
        return texts[0] if texts else ""
    items = [say("report.tested.in_set", text=text, set=name) for text, name in found]
    return say("report.tested.list", items=items)


def _raters(study: Study, say: Catalogue) -> str:
    """Raters of each table of labels, and the cases that they labelled."""
    texts = [
        say("report.tested.n_raters", n=len(one.raters), cases=len(np.unique(one.case)))
        for one in study.raters
    ]
    return say("report.tested.list", items=texts) if texts else ""


def _arms(study: Study, plan: Plan) -> str:
    labels = {arm.arm: arm.label or arm.arm for arm in plan.arms}
    return ", ".join(labels.get(name, name) for name in study.arms)


def _design(plan: Plan, say: Catalogue) -> str:
    given = [text for text in (plan.study.design, plan.reading.design) if text]
    return ", ".join(dict.fromkeys(given)) or say("word.not_declared")


def _datasets(study: Study, say: Catalogue) -> str:
    sets = len(study.counts) + len(study.paired_counts) + len(study.confusion) + len(study.reliance_counts)
    parts = []
    if study.datasets:
        parts.append(say("report.tested.n_datasets", n=len(study.datasets)))
    if sets:
        parts.append(say("report.tested.n_sets", n=sets))
    return ", ".join(parts)


def _reference(plan: Plan, say: Catalogue) -> str:
    kind, definition = plan.reference_standard.type, plan.reference_standard.definition
    given = [text for text in (None if kind == "other" and definition else kind, definition) if text]
    return ": ".join(given) or say("word.not_declared")
