"""What of a manifest is locked: all of it but a list of words without effect, each field with its path."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from trustreport.study.plan import Plan

# No number and no verdict rests on these, and they do not say what is tested, on whom, against what or how.
# A field that is not named here is locked; a name stands for all that is below it.
WITHOUT_EFFECT = (
    # which document is written, for whom, and how it looks
    *("report.kind", "report.title", "report.language", "report.rule_packs", "report.status"),
    *("report.supersedes", "report.confidentiality", "report.date", "report.notice", "report.page"),
    "report.release",
    # names, numbers and classes given by authorities; model, version and fingerprint are locked
    *("device.trade_name", "device.manufacturer", "device.basic_udi_di", "device.udi_di", "device.udi_pi"),
    *("device.emdn_code", "device.risk_class", "device.ai_act_classification", "device.srn"),
    *("device.authorised_representative", "device.certificate_no", "device.notified_body_no"),
    "device.market_status",
    *("candidates.device.trade_name", "candidates.device.manufacturer", "candidates.device.basic_udi_di"),
    *("candidates.device.udi_di", "candidates.device.udi_pi", "candidates.device.emdn_code"),
    *("candidates.device.risk_class", "candidates.device.ai_act_classification", "candidates.device.srn"),
    *("candidates.device.authorised_representative", "candidates.device.certificate_no"),
    *("candidates.device.notified_body_no", "candidates.device.market_status", "candidates.conflict"),
    # the numbers of documents, who pays and who consented; the two dates are compared with each other
    *("study.study_id", "study.registration_no", "study.protocol_version", "study.sap_version"),
    *("study.sap_locked_at", "study.data_opened_at", "study.sponsor", "study.funding"),
    *("study.conflicts_of_interest", "study.ethics_approval", "study.consent_basis"),
    "study.data_protection_basis",
    # reasons, labels and names of people
    *("intended_use.known_risks", "arms.label", "reference_standard.assessors", "datasets.licence"),
    *("endpoints.margin_rationale", "endpoints.clinical_severity", "endpoints.hazard", "endpoints.owner"),
    *("endpoints.due", "study.sample_size", "utility.rationale", "pools.rationale"),
    *("site_context.department", "site_context.current_pathway", "site_context.committee_questions"),
    *("site_context.decision_date", "vigilance.plan_id", "vigilance.plan_version"),
    *("vigilance.exposure_source", "vigilance.recipients"),
    # registers that go on after the lock; the day and the kind of an incident, which are counted, are locked
    *("incidents.description", "incidents.imdrf_codes", "incidents.seriousness", "incidents.causality"),
    *("incidents.reported_to", "incidents.report_date", "incidents.capa_id", "incidents.due"),
    *("incidents.status", "signals", "documents", "approvals"),
    # the amendments say what is changed, and are no change themselves
    "amendments",
)
# Data, and facts that nobody knows before the data are there: absent at the lock, they may be added. What was
# declared at the lock is locked as everything else is.
ADDED_LATER = (
    *("counts", "paired_counts", "confusion", "confusion_tables", "joint_decisions"),
    *("reliance_counts", "nomogram", "reported", "internal_splits"),
    *("published_readers", "published_sites"),
    *("performance_claims", "readers", "incidents"),
    *("datasets.file", "datasets.sites", "datasets.country", "datasets.start_date", "datasets.end_date"),
    *("datasets.exclusions", "datasets.sha256", "datasets.taken", "tables.taken", "candidates.run_date"),
    *("vigilance.period_start", "vigilance.period_end", "vigilance.period_index", "vigilance.data_cut"),
)
# Published tables by set: one more beside those that were there is a choice of what is pooled.
SETS = (
    *("counts", "paired_counts", "confusion", "confusion_tables", "joint_decisions"),
    *("reliance_counts", "nomogram", "reported"),
    *("published_readers", "published_sites"),
)

# Lists of groups, with the fields that name each item; items of any other list have a number.
NAMED_BY = {
    "endpoints": ("endpoint",),
    "families": ("family",),
    "subgroups": ("name",),
    "arms": ("arm",),
    "readers": ("reader",),
    "datasets": ("dataset",),
    "datasets.exclusions": ("reason",),
    "candidates": ("candidate",),
    "utility.matrices": ("name",),
    "vigilance.indicators": ("measure",),
    "indicators": ("measure",),  # of the older form
    "incidents": ("incident",),
    "pools": ("pool",),
    "performance_claims": ("measure", "candidate", "dataset", "set", "arm"),
    "counts": ("set", "arm"),
    **dict.fromkeys(SETS[1:], ("set",)),
    **dict.fromkeys(("confusion", "confusion_tables"), ("set", "candidate")),
    "joint_decisions": ("set", "candidates"),
    "published_readers.readers": ("reader",),
    "published_sites.sites": ("site",),
}
# Lists whose order decides: which arm is compared with which, which period comes first. That of the criteria
# decides in a fixed sequence only.
ORDERED = ("arms", "candidates", "datasets")
ORDER = "endpoints.order"


FIXED_BY = "fixed criteria"  # the kind of a document that shows that the criteria were fixed elsewhere

# Groups by free names.
MAPPED = ("tables", "precision_targets")


class PathItem(str):
    """The name of an item, in a path: of a list."""

    __slots__ = ()


class PathKey(PathItem):
    """The name of an item, in a path: of a group by free names."""

    __slots__ = ()


Path = tuple[str, ...]


def printed(path: Path) -> str:
    """A path as the report prints it.

    >>> printed(("endpoints", PathItem("finds"), "bound_or_margin"))
    'endpoints[finds].bound_or_margin'
    """
    text = "".join(f"[{key}]" if type(key) is PathItem else f".{key}" for key in path)
    return text.removeprefix(".")


def field_of(path: Path) -> str:
    """The field of the manifest that a path leads to, whichever item it is of."""
    return ".".join(key for key in path if not isinstance(key, PathItem))


@lru_cache(maxsize=4096)  # the same few hundred fields are looked for many times in a report
def is_among(field: str, fields: tuple[str, ...]) -> bool:
    """Whether a field, or a group that it belongs to, is one of those named."""
    return any(field == one or field.startswith(f"{one}.") for one in fields)


def without_effect(path: Path) -> bool:
    """Whether a field is one of those that are not locked."""
    return is_among(field_of(path), WITHOUT_EFFECT)


def criteria(plan: Plan) -> dict[str, Any]:
    """What a manifest declares and the lock covers, as plain data: what it says, without defaults."""
    said = _locked(plan.model_dump(mode="json", exclude_unset=True, exclude_none=True), ())
    assert isinstance(said, dict)
    return said


def _locked(value: Any, path: Path) -> Any:
    """The same without words that have no effect and without what is empty."""
    if isinstance(value, list):
        return [_locked(inner, path) for inner in value]
    if not isinstance(value, Mapping):
        return value
    # A table without any field is still a table.
    by_name = _is_mapped(path)
    inside = {name: (*path, PathKey(name) if by_name else name) for name in value}
    kept = {name: _locked(value[name], own) for name, own in inside.items() if not without_effect(own)}
    return {name: inner for name, inner in kept.items() if by_name or inner not in (None, [], {})}


def _is_mapped(path: Path) -> bool:
    return field_of(path) in MAPPED and not isinstance(path[-1], PathItem)


# What the older form covers of a candidate.
_NOT_OF_CANDIDATES = {"device", "run_date", "conflict"}


def older_criteria(plan: Plan) -> dict[str, Any]:
    """What a lock of the older form covers: the criteria and what belongs to them, not the whole manifest."""
    given: dict[str, Any] = {
        "confidence_level": plan.report.confidence_level,
        "endpoints": [_given_fields(e) for e in plan.endpoints],
        "families": [_given_fields(f) for f in plan.families],
        "operating_point": _given_fields(plan.operating_point),
        "positive_from": plan.reading.positive_from,
        "subgroups": [_given_fields(s) for s in plan.subgroups],
        "utility": _given_fields(plan.utility),
        "limits": dict(plan.limits),
        "precision_targets": {name: _given_fields(t) for name, t in plan.precision_targets.items()},
        "indicators": [_given_fields(i) for i in (plan.vigilance and plan.vigilance.indicators) or ()],
        "candidates": [
            {k: v for k, v in _given_fields(c).items() if k not in _NOT_OF_CANDIDATES}
            for c in plan.candidates
        ],
    }
    return {name: value for name, value in given.items() if value not in (None, [], {})}


def _given_fields(group: Any) -> dict[str, Any]:
    said: dict[str, Any] = group.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    return said


def flat(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every field with its path; an item of a list of groups, or a table, first as a whole."""
    if isinstance(value, Mapping) and _is_mapped(path):
        for name, inner in value.items():
            yield (*path, PathKey(name)), inner
            yield from flat(inner, (*path, PathKey(name)))
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from flat(inner, (*path, str(name)))
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        field = field_of(path)
        for name, item in items(value, field):
            yield (*path, name), item
            own = {key: inner for key, inner in item.items() if key not in NAMED_BY.get(field, ())}
            yield from flat(own, (*path, name))
    else:
        yield path, value


def items(listed: list[Any], field: str) -> Iterator[tuple[PathItem, Any]]:
    """The items of a list with a name for each, the second of a name with its number."""
    seen: set[str] = set()
    for i, item in enumerate(listed):
        said = ", ".join(str(item[key]) for key in NAMED_BY.get(field, ()) if key in item)
        name, n = said or str(i), 1
        while name in seen:
            n += 1
            name = f"{said} ({n})"
        seen.add(name)
        yield PathItem(name), item


def names(data: Mapping[str, Any], field: str) -> list[str]:
    """The names of the items of a list at the top of a manifest, in its order."""
    return [str(name) for name, _ in items(data.get(field, []), field)]
