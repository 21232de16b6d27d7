"""The manifest against its models, its criteria and families against each other: what is wrong."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from trustreport.study import criteria
from trustreport.study.criteria import Criterion, FamilyOf
from trustreport.study.ingest.problems import (
    Key,
    KeyPath,
    Manifest,
    Problems,
    did_you_mean,
    dotted,
    listed,
    quoted,
)
from trustreport.study.plan import Plan

LEFT_OUT: Any = object()


def plan_of(manifest: Manifest, problems: Problems) -> tuple[Plan | None, set[Key]]:
    """The plan, and the groups in which something had to be left out to get one.

    What is wrong becomes a problem and is left out, so that the tables can still be read and their problems
    told in the same breath.
    """
    problems.manifest = manifest
    values, touched = _filled(_copy(manifest.values), Plan), set[Key]()
    for attempt in range(8):
        try:
            return Plan.model_validate(values), touched
        except ValidationError as error:
            faults = list(_faults(values, error))
            if attempt == 0:
                _report(manifest, faults, problems)
            for path, kind, _ in faults:
                touched.add(path[0] if path else "")
                _leave_out(values, path, kind)
            values = _pruned(values)
        except RecursionError:
            problems.add_at(manifest.file, "found groups nested too deeply")
            break
    return None, touched


def _filled(values: Any, group: type[BaseModel]) -> Any:
    """The values without keys that hold nothing: optional ones count as absent, a needed group as empty."""
    if not isinstance(values, dict):
        return values
    kept = {}
    for key, value in values.items():
        info = _field(group, key)
        if info is None:
            kept[key] = value
            continue
        inner = _model(info.annotation)
        if value is None and not info.is_required():
            continue
        if value is None and inner is info.annotation:
            value = {}
        if inner is not None and isinstance(value, list):
            value = [_filled(item, inner) for item in value]
        elif inner is not None and inner in (info.annotation, *get_args(info.annotation)):
            value = _filled(value, inner)
        kept[key] = value
    return kept


def _field(group: type[BaseModel], key: Key) -> Any:
    """The field of a group that a key spells, or None."""
    found = (
        info
        for name, info in group.model_fields.items()
        if key == name or key in getattr(info.validation_alias, "choices", ())
    )
    return next(found, None)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _copy(v) for k, v in value.items()}
    return [_copy(v) for v in value] if isinstance(value, list) else value


def _faults(values: Any, error: ValidationError) -> Iterator[tuple[KeyPath, str, list[Any]]]:
    """Each path at fault with the kind of its fault and its errors (a union has one for each member)."""
    grouped: dict[tuple[KeyPath, str], list[Any]] = {}
    for e in error.errors(include_url=False):
        path = _existing(values, e["loc"])
        kind = e["type"] if e["type"] in ("missing", "extra_forbidden") else "wrong"
        if kind == "missing" and isinstance(e["loc"][-1], int):
            kind = "wrong"  # a list that is too short
        if kind == "missing":
            path = (*path, e["loc"][-1])
        grouped.setdefault((path, kind), []).append(e)
    wrong = {path for path, kind in grouped if kind == "wrong"}
    for (path, kind), errors in grouped.items():
        if kind == "wrong" or not any(path[: len(w)] == w for w in wrong):
            yield path, kind, errors


def _existing(values: Any, loc: tuple[Key, ...]) -> KeyPath:
    """The part of a pydantic location that the manifest has; names of union members are left out."""
    path: list[Key] = []
    for key in loc:
        inside = (isinstance(values, dict) and key in values) or (
            isinstance(values, list) and isinstance(key, int) and key < len(values)
        )
        if inside:
            values = values[key]
            path.append(key)
    return tuple(path)


def _report(manifest: Manifest, faults: list[tuple[KeyPath, str, list[Any]]], problems: Problems) -> None:
    for path, kind, errors in sorted(faults, key=lambda f: manifest.line(f[0])):
        found, expected, mend = _words(manifest, path, kind, errors)
        problems.declared(path, found, expected, mend)


def _words(manifest: Manifest, path: KeyPath, kind: str, errors: list[Any]) -> tuple[str, str, str]:
    if kind == "missing":
        return "this key is missing", _choices(path) or "a value", f"Add {path[-1]}: to this group."
    if kind == "extra_forbidden":
        return f"unknown key {quoted(path[-1])}", "", _unknown(path)
    value = manifest.value_at(path)
    what = "a group" if isinstance(value, dict) else _list(value) if isinstance(value, list) else None
    shown = "nothing" if value is None else what or quoted(getattr(value, "text", value))
    expected = list(dict.fromkeys(expectation(e) for e in errors))
    return f"found {shown}", " or ".join(e for e in expected if e), ""


def _list(value: list[Any]) -> str:
    return f"a list of {len(value)} value{'s' * (len(value) != 1)}"


def _choices(path: KeyPath) -> str:
    """The words that a field with a fixed choice takes."""
    from typing import Literal, get_args, get_origin

    group = model_at(path[:-1])
    info = group.model_fields.get(str(path[-1])) if group else None
    return listed(get_args(info.annotation)) if info and get_origin(info.annotation) is Literal else ""


PLAIN = {
    "string_type": "text",
    "finite_number": "a finite number",
    "int_parsing_size": "a smaller whole number",
    **dict.fromkeys(("bool_parsing", "bool_type"), "true or false"),
    **dict.fromkeys(("float_parsing", "float_type"), "a number"),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "a whole number"),
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a group of keys"),
}
BOUNDS = {
    "greater_than": "above",
    "greater_than_equal": "at least",
    "less_than": "below",
    "less_than_equal": "at most",
}


def expectation(error: Any) -> str:
    """What pydantic wanted, in plain words."""
    kind, ctx = error["type"], error.get("ctx", {})
    if kind in PLAIN:
        return PLAIN[kind]
    if kind == "literal_error":
        return str(ctx["expected"]).replace("'", '"')
    if kind == "value_error":
        return str(ctx["error"])
    if kind in ("too_short", "too_long", "missing_tuple"):
        return f"a list of {ctx.get('min_length', ctx.get('max_length', ''))} values"
    if kind in BOUNDS:
        return f"a number {BOUNDS[kind]} {next(iter(ctx.values()))}"
    if "date" in kind:
        return "a date as YYYY-MM-DD"
    if kind == "missing":
        return (
            f"a list of at least {error['loc'][-1] + 1} values" if isinstance(error["loc"][-1], int) else ""
        )
    if kind == "extra_forbidden":
        return ""
    return str(error["msg"]).removeprefix("Input should be ").removeprefix("Value error, ")


def _unknown(path: KeyPath) -> str:
    group = model_at(path[:-1])
    known = list(names(group)) if group else []
    meant = did_you_mean(str(path[-1]), known)
    if meant:
        return meant
    homes = [g for g, info in Plan.model_fields.items() if path[-1] in names(_model(info.annotation))]
    if homes and len(path) == 1:
        return f"It belongs to the group {listed(homes)}."
    return f"Known here: {', '.join(sorted(known))}." if known else ""


def names(group: type[BaseModel] | None) -> set[str]:
    """All spellings of the keys of a group."""
    found: set[str] = set()
    for name, info in group.model_fields.items() if group else ():
        found.add(name)
        found.update(str(a) for a in getattr(info.validation_alias, "choices", ()))
    return found


def model_at(path: KeyPath) -> type[BaseModel] | None:
    """The model of the group at a path, or None where there is no group."""
    group: type[BaseModel] | None = Plan
    for key in path:
        if isinstance(key, int) or group is None:
            continue
        info = _field(group, key)
        if info is not None:
            group = _model(info.annotation)
        elif not _is_named(path, key):
            return None
    return group


def _is_named(path: KeyPath, key: Key) -> bool:
    """Whether the key is a free name (of a table, of a precision target)."""
    i = path.index(key)
    return i > 0 and path[i - 1] in ("tables", "precision_targets")


def _model(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as ``tuple[Arm, ...] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for m in map(_model, get_args(annotation)) if m), None)


DEFAULTS: dict[str, Any] = {"report": {"kind": "certification"}, "device": {}}


def _leave_out(values: Any, path: KeyPath, kind: str) -> None:
    """Take the value at fault out of the copy, with the group that cannot be without it."""
    if kind == "missing":
        path = path if len(path) == 1 else path[:-1]
    top = path[0] if path else ""
    if len(path) == 1 or (kind == "missing" and top in DEFAULTS):
        values.pop(top, None)
        if top in DEFAULTS:
            values[top] = dict(DEFAULTS[top])
        return
    for key in path[:-1]:
        values = values[key] if _has(values, key) else None
    if isinstance(values, dict):
        values.pop(path[-1], None)
    elif isinstance(values, list) and isinstance(path[-1], int) and path[-1] < len(values):
        values[path[-1]] = LEFT_OUT


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _pruned(v) for k, v in value.items()}
    return [_pruned(v) for v in value if v is not LEFT_OUT] if isinstance(value, list) else value


def _has(values: Any, key: Key) -> bool:
    if isinstance(values, dict):
        return key in values
    return isinstance(values, list) and isinstance(key, int) and key < len(values)


MOST_SHARED = 1 + 1e-9  # of alpha, with what rounding adds


def criteria_are_assessable(plan: Plan, problems: Problems) -> None:
    """No criterion asks for what every result would meet, or gives up what alpha stands for."""
    for i, declared in enumerate(plan.endpoints):
        criterion = criteria.resolved(declared, plan)
        if not criterion.confirmatory:
            continue
        if criterion.bound in criteria.REFUSED:
            problems.declared(("endpoints", i, "bound_or_margin"), *_cannot_fail(criterion))
        if criterion.alpha > criteria.MOST_ALPHA:
            _large_alpha(criterion.alpha, ("endpoints", i, "alpha"), problems)
    for i, family in enumerate(plan.families):
        if family.alpha is not None and family.alpha > criteria.MOST_ALPHA:
            _large_alpha(family.alpha, ("families", i, "alpha"), problems)
    _families_are_declared(plan, problems)
    _hazards_are_declared(plan, problems)
    families = criteria.families(plan)
    _graphs_are_whole(plan, families, problems)
    _families_open(plan, families, problems)
    for of in filter(criteria.unequal_alphas, families):
        alphas = ", ".join(f"{member.alpha:g}" for member in of.members)
        problems.declared(
            ("endpoints", "alpha"),
            f"the fixed sequence {quoted(of.name)} has members of different alphas: {alphas}",
            "one alpha for all members of a fixed sequence",
            "Give all members one alpha, or declare the family's in families.",
        )


def _families_are_declared(plan: Plan, problems: Problems) -> None:
    """Where families are declared, every criterion is of one of them or of none.

    A mistyped name would leave a criterion to itself, at an alpha that it does not have.
    """
    declared = [family.family for family in plan.families]
    for i, criterion in enumerate(plan.endpoints) if declared else ():
        name = (criterion.multiplicity_family or "").strip()
        if name and name not in declared and name.casefold() not in criteria.NO_FAMILY:
            path: KeyPath = ("endpoints", i, "multiplicity_family")
            problems.declared(
                path,
                f"the family {quoted(name)}, which families: does not declare",
                f"a declared family: {listed(declared)}; or none",
                did_you_mean(name, declared) or "Declare it under families: with its rule.",
            )


def _hazards_are_declared(plan: Plan, problems: Problems) -> None:
    """A criterion that guards against a hazard names one that the intended use declares."""
    risks = plan.intended_use.known_risks or ()
    declared = [risks] if isinstance(risks, str) else list(risks)
    folded = {risk.strip().casefold() for risk in declared}
    for i, criterion in enumerate(plan.endpoints):
        hazard = (criterion.hazard or "").strip()
        if hazard and hazard.casefold() not in folded:
            problems.declared(
                ("endpoints", i, "hazard"),
                f"the hazard {quoted(hazard)}, which intended_use.known_risks does not declare",
                f"a declared hazard: {listed(declared)}" if declared else "a declared hazard",
                did_you_mean(hazard, declared) or "Declare it under intended_use.known_risks.",
            )


def _graphs_are_whole(plan: Plan, families: Sequence[FamilyOf], problems: Problems) -> None:
    """A graph begins with alpha, hands on no more than there is, and names its own criteria only."""
    members = {of.name: [member.name for member in of.members] for of in families}
    for i, family in enumerate(plan.families):
        given = [name for name in ("weights", "transitions") if getattr(family, name) is not None]
        if family.rule != "graph":
            for name in given:
                found = f"{name} of the family {quoted(family.family)}, whose rule is {family.rule}"
                problems.declared(("families", i, name), found, f"{name} with rule: graph alone")
            continue
        own = members.get(family.family, [])
        weights, rows = family.weights or {}, family.transitions or {}
        _criteria_of_it(weights, own, ("families", i, "weights"), problems)
        unread = any(p.column.startswith(dotted(("families", i, "weights."))) for p in problems)
        if not unread and not 0 < sum(weights.values()) <= MOST_SHARED:
            found = f"the graph {quoted(family.family)} without weights"
            if weights:
                found = f"weights of {quoted(family.family)} with a sum of {sum(weights.values()):.6g}"
            expected = "for each criterion that begins with alpha its share, together above 0 and at most 1"
            problems.declared(("families", i, "weights"), found, expected)
        _criteria_of_it(rows, own, ("families", i, "transitions"), problems)
        for name, row in rows.items():
            at = ("families", i, "transitions", name)
            _criteria_of_it(row, own, at, problems)
            if sum(row.values()) > MOST_SHARED:
                found = f"{quoted(name)} hands on {sum(row.values()):.6g} of its alpha"
                problems.declared(("families", i, "transitions"), found, "shares with a sum of at most 1")
            if row.get(name):
                found = f"{quoted(name)} hands alpha on to itself"
                problems.declared(("families", i, "transitions"), found, "shares for other criteria")


def _criteria_of_it(names: Iterable[str], own: Sequence[str], path: KeyPath, problems: Problems) -> None:
    """What a graph names are criteria of the family that ask for a verdict."""
    for name in names:
        if name not in own:
            problems.declared(
                path,
                f"the graph names {quoted(name)}",
                f"a criterion of the family that asks for a verdict: {listed(own)}",
                did_you_mean(name, own),
            )


def _families_open(plan: Plan, families: Sequence[FamilyOf], problems: Problems) -> None:
    """What a family waits for can be met: declared families with criteria, none that waits for it in turn."""
    declared = {family.family for family in plan.families}
    judged = {of.name for of in families}
    for i, family in enumerate(plan.families):
        for name in family.after or ():
            if name not in declared:
                found = f"the family {quoted(family.family)} is tested after {quoted(name)}"
                others = sorted(declared - {family.family})
                mend = did_you_mean(name, others)
                expected = f"a declared family: {listed(others)}"
                problems.declared(("families", i, "after"), found, expected, mend)
            elif name not in judged:
                found = f"{quoted(name)} has no criterion that asks for a verdict, so it cannot be met"
                expected = "a family with such a criterion"
                problems.declared(("families", i, "after"), found, expected)
        if family.opens_when and not family.after:
            found = f"the family {quoted(family.family)} says when it opens, but not after which families"
            expected = "the families that it waits for, under after"
            problems.declared(("families", i, "opens_when"), found, expected)
    try:
        criteria.as_they_open(families)
    except ValueError as circle:
        problems.declared(("families", "after"), str(circle), "families of which each waits for others alone")


def _cannot_fail(criterion: Criterion) -> tuple[str, str, str]:
    """What is wrong with a bound, what is expected, and how to fix it."""
    said, row = criterion.declared.bound_or_margin, criterion.row
    assert row is not None
    name = f"{criterion.declared.hypothesis} of {quoted(criterion.name)}"
    if criterion.bound == criteria.WORSE_SIDE:
        side = "above" if row.better == "up" else "below"
        expected = f"no bound, or one {side} {row.no_effect:g}: that is no effect of {row.id}"
        mend = "For a loss that is accepted, declare hypothesis: non-inferiority with its margin."
        return f"{name} has its bound at {said:g}, on the worse side of no effect", expected, mend
    shown = listed([f"{x:g}" for x in said]) if isinstance(said, tuple) else f"{said:g}"
    expected = f"within the range of {row.id}, {row.low:g} to {row.high:g}, so that some result would miss it"
    mend = ""
    if isinstance(said, float) and row.unit in ("proportion", "difference") and 1 < said <= 100:
        mend = f"If {said:g} per cent is meant, write {said / 100:g}."
    return f"{name} has {shown}, which every possible result meets or none does", expected, mend


def _large_alpha(alpha: float, path: KeyPath, problems: Problems) -> None:
    problems.declared(
        path,
        f"found an alpha of {alpha:g}",
        f"at most {criteria.MOST_ALPHA:g}; customary are 0.025 one-sided and 0.05 two-sided",
        "Where no alpha is declared, it follows from report.confidence_level.",
    )
