"""What differs from a lock, which amendment speaks of it, and on which criteria it bears."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from trustreport.study.criteria import NO_FAMILY, families
from trustreport.study.lock.fields import (
    ADDED_LATER,
    NAMED_BY,
    ORDER,
    ORDERED,
    SETS,
    Path,
    PathItem,
    PathKey,
    criteria,
    field_of,
    flat,
    is_among,
    items,
    names,
    printed,
    without_effect,
)
from trustreport.study.lock.moments import Moment, is_after, read_moment
from trustreport.study.plan import Amendment, Endpoint, Plan
from trustreport.study.study import DEVELOPMENT_ROLES

How = Literal["before", "after", "undeclared"]
Why = Literal["before", "after", "undeclared", "dated", "undated"]
# Fields of a criterion by which it enters or leaves its family, or changes the alpha that is shared.
SHARED = ("multiplicity_family", "alpha", "sides", "hypothesis")
# What says of which period a report is; it goes forward with each new period.
FORWARD = ("vigilance.period_start", "vigilance.period_end", "vigilance.period_index", "vigilance.data_cut")
# Paths of the older form, and what they are called now.
RENAMED = {
    "confidence_level": "report.confidence_level",
    "positive_from": "reading.positive_from",
    "indicators": "vigilance.indicators",
}
# What a table of a new period has for itself, and is no other way of reading.
OF_ITS_PERIOD = ("file", "dataset", "after", "taken")
NOTHING = ("", "-", "none", "null", "nothing", "absent", "removed", "deleted", "not declared")


@dataclass(frozen=True, slots=True)
class Change:
    """A field that is not what was locked first, and whether the manifest says so.

    `how` is "before" where an amendment says that the data had not been opened, "after" where one does not
    say so or its date contradicts it, "undeclared" without one. `old` and `new` are None where there was, or
    is, no such field; of an item that was added or taken away they hold the whole item.
    """

    path: Path
    old: Any
    new: Any
    how: How
    amendment: Amendment | None = None

    @property
    def field(self) -> str:
        """The path as the report prints it."""
        return printed(self.path)

    @property
    def why(self) -> Why:
        """The same as `how`, or what is wrong with the date of an amendment that says it was made in time.

        "dated": not before the day on which the data were opened; "undated": without one that can be read.
        """
        if self.how != "after" or self.amendment is None or not self.amendment.before_data_opened:
            return self.how
        return "undated" if read_moment(self.amendment.date) is None else "dated"

    @property
    def whole(self) -> bool:
        """Whether a whole item was added or taken away."""
        return isinstance(self.path[-1], PathItem)

    @property
    def criterion(self) -> str:
        """The criterion that the field belongs to; empty where it belongs to none alone."""
        own = self.path[0] == "endpoints" and isinstance(self.path[1], PathItem)
        return str(self.path[1]) if own else ""


def changes(old: Mapping[str, Any], new: Mapping[str, Any], plan: Plan) -> Iterator[Change]:
    """Every field that differs between what was locked and what the manifest declares now.

    What is added later by its nature (`ADDED_LATER`) is no change, nor is a period that is read and analysed
    as one that was locked.
    """
    before, after = dict(flat(old)), dict(flat(new))
    periods = set(_as_locked(old, new))
    expected = {*(("datasets", PathItem(name)) for name in periods), *_tables_of(periods, old, new)}
    whole = {
        path
        for path in {*before, *after}
        if isinstance(path[-1], PathItem) and (path in before) != (path in after)
    }
    for path in dict.fromkeys((*before, *after)):
        was, now = before.get(path), after.get(path)
        inside = any(path[:i] in whole for i in range(1, len(path)))
        same = was == now or (isinstance(path[-1], PathItem) and path not in whole)
        if same or inside or without_effect(path) or path in expected:
            continue
        if path not in before and _is_awaited(path, old):
            continue
        if periods and field_of(path) in FORWARD and _is_later(was, now):
            continue
        yield _change(path, was, now, plan)
    yield from _orders(old, new, plan)


def _is_awaited(path: Path, old: Mapping[str, Any]) -> bool:
    """Whether a field that was absent at the lock may be there now."""
    field = field_of(path)
    more = path[0] in SETS and path[0] in old
    return is_among(field, ADDED_LATER) and not more


def _is_later(was: Any, now: Any) -> bool:
    return type(was) is type(now) and isinstance(was, str | int) and now > was


def _as_locked(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    """Periods added after those of the lock that are analysed as one of those, or as the baseline."""
    locked = dict(items(old.get("datasets", []), "datasets"))
    baseline = old.get("vigilance", {}).get("baseline_dataset")
    models = [d for name, d in locked.items() if d.get("role") == "period" or name == baseline]
    starts = [d["start_date"] for d in models if "start_date" in d]
    for name, added in items(new.get("datasets", []), "datasets"):
        period = name not in locked and added.get("role") == "period"
        follows = not starts or added.get("start_date", "") > max(starts)
        if period and follows and any(_analysed(added) == _analysed(one) for one in models):
            yield name


def _analysed(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of a data set but for those of its own: what it is called, where and when it is from."""
    own = {"dataset", "role", "after", *(f.removeprefix("datasets.") for f in ADDED_LATER)}
    kept = {k: v for k, v in _of_its_days(facts, facts).items() if k not in own}
    return {**kept, "of a file": "file" in facts}


def _of_its_days(table: Mapping[str, Any], facts: Mapping[str, Any]) -> Mapping[str, Any]:
    """A table as declared, but `since` and `until` of its query as those of its data set, where they are."""
    given = table.get("parameters")
    if not given:
        return table
    days = {"since": facts.get("start_date"), "until": facts.get("end_date")}
    own = {k: f"its {k}" if v == days.get(k, "") else v for k, v in given.items()}
    return {**table, "parameters": own}


def _tables_of(periods: set[str], old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Path]:
    """Tables that were added for such periods and are read as a table of the lock is."""

    def reading(name: str, table: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
        facts = dict(items(data.get("datasets", []), "datasets")).get(table.get("dataset", ""), {})
        own = {k: v for k, v in _of_its_days(table, facts).items() if k not in OF_ITS_PERIOD}
        return {"kind": name, **own}

    before = [reading(name, table, old) for name, table in old.get("tables", {}).items()]
    for name, table in new.get("tables", {}).items():
        added = name not in old.get("tables", {}) and table.get("dataset") in periods
        if added and reading(name, table, new) in before:
            yield "tables", PathKey(name)


def _orders(old: Mapping[str, Any], new: Mapping[str, Any], plan: Plan) -> Iterator[Change]:
    """Lists whose order decides, and is another among the items that were and are there."""
    in_sequence = [m.name for f in families(plan) if f.rule == "fixed sequence" for m in f.members]
    for group in ("endpoints", *ORDERED):
        listed = [names(data, group) for data in (old, new)]
        common = set(listed[0]) & set(listed[1])
        if group == "endpoints":
            common &= set(in_sequence)
        was, now = ([name for name in own if name in common] for own in listed)
        if was != now:
            yield _change((group, "order"), was, now, plan)


def _change(path: Path, was: Any, now: Any, plan: Plan) -> Change:
    amendment = next((a for a in plan.amendments if _speaks_of(a, path, now, plan)), None)
    if amendment is None:
        return Change(path, was, now, "undeclared")
    return Change(path, was, now, "before" if _in_time(amendment, plan) else "after", amendment)


def late_amendments(plan: Plan) -> Iterator[Change]:
    """What amendments changed after the data were opened, where no lock says how it was before.

    One that names no field of the manifest bears on all criteria. One that is dated before the opening, and
    does not say that it was made later, is part of what was fixed.
    """
    fields = dict(flat(criteria(plan)))
    for amendment in plan.amendments:
        made = read_moment(amendment.date)
        fixed = amendment.before_data_opened is None and made is not None and _is_before_opening(made, plan)
        if fixed or _in_time(amendment, plan) or _has_no_effect(amendment):
            continue
        of_any_value = amendment.model_copy(update={"new": None})
        found: list[Path] = []
        for path, value in fields.items():
            below = any(path[: len(whole)] == whole for whole in found)
            if not below and _speaks_of(of_any_value, path, value, plan):
                found.append(path)
        for path in found or [("amendments", PathItem(amendment.field or ""))]:
            yield Change(path, amendment.old, fields.get(path, amendment.new), "after", amendment)


def _has_no_effect(amendment: Amendment) -> bool:
    """Whether an amendment names a field that is not locked."""
    return without_effect(tuple(re.sub(r"\[[^\]]*\]|\.\d+(?=\.|$)", "", amendment.field or "").split(".")))


def _in_time(amendment: Amendment, plan: Plan) -> bool:
    """Whether an amendment says that the data had not been opened, and its date does not contradict that.

    Where the opening has a date, an amendment without one is not shown to have been made before it.
    """
    if not amendment.before_data_opened:
        return False
    made = read_moment(amendment.date)
    return plan.study.data_opened_at is None or (made is not None and _is_before_opening(made, plan))


def _is_before_opening(made: Moment, plan: Plan) -> bool:
    return is_after(plan.study.data_opened_at, made)


def _speaks_of(amendment: Amendment, path: Path, now: Any, plan: Plan) -> bool:
    """Whether an amendment names a field: by its path, that of its item or group, or its item's place."""
    typed = _plain(amendment.field or "")
    if not typed:
        return False
    plain = _plain(printed(path))
    # As it is printed ("candidates[1.0]" is a name), or by place; a criterion may be named without its group.
    named = _plain(_with_name(typed, plan))
    spelled = [typed, named, f"endpoints.{typed}", f"endpoints.{named}"]
    if not any(plain == name or plain.startswith(f"{name}.") for name in spelled):
        return False
    return amendment.new is None or plain not in spelled or _is_value(amendment.new, now)


def _plain(path: str) -> str:
    """A path without brackets and capitals, under the names of today."""
    plain = path.strip().replace("[", ".").replace("]", "").casefold()
    head, dot, rest = plain.partition(".")
    return f"{RENAMED.get(head, head)}{dot}{rest}"


def _with_name(path: str, plan: Plan) -> str:
    """A path with the name of an item in place of its number."""
    found = re.match(r"(\w+)\.(\d+)(?=\.|$)", path)
    group = found[1] if found else ""
    if found is None or group not in NAMED_BY or not hasattr(plan, group):
        return path
    listed = [one.model_dump(mode="json", exclude_none=True) for one in getattr(plan, group) or ()]
    known = [name for name, _ in items(listed, group)]
    place = int(found[2])
    if found[2] in known or place >= len(known):
        return path
    return f"{group}.{known[place]}{path[found.end() :]}"


def _is_value(said: str, value: Any) -> bool:
    """Whether a typed value is the one that the manifest has now; of a whole item any words may be said."""
    text = said.strip().casefold()
    if isinstance(value, Mapping):
        return True
    if value is None:
        return text in NOTHING
    if isinstance(value, bool):
        return text in (("true", "yes") if value else ("false", "no"))
    if isinstance(value, list):
        return _words(text) == [word for one in value for word in _words(str(one).casefold())]
    try:
        return float(said) == float(value)
    except ValueError:
        return str(value).strip().casefold() == text


def _words(text: str) -> list[Any]:
    """The words of a text, numbers as numbers; "0.8 to 1.25" and "[0.8, 1.25]" are alike."""
    found = [word for word in re.split(r"[\s,;:\[\](){}'\"]+", text) if word not in ("", "to", "and")]
    return [float(w) if re.fullmatch(r"[+-]?\d*\.?\d+(e[+-]?\d+)?", w) else w for w in found]


def concerned(change: Change, plan: Plan) -> list[Endpoint]:
    """The declared criteria that a change bears upon; all where it cannot be said of fewer."""
    return [e for e in plan.endpoints if rests_on(e, change, plan)]


def rests_on(criterion: Endpoint, change: Change, plan: Plan) -> bool:
    """Whether a change bears upon a criterion; it does where nothing says that it does not."""
    match change.path:
        case ("endpoints", *_):
            return _in_its_family(criterion, change, plan)
        case ("families", PathItem() as name, *_):
            return (criterion.multiplicity_family or "").strip() == name.strip()
        case ("subgroups", *_):
            # Groups of one characteristic are made together, whatever the criterion calls its own.
            return criterion.subgroup is not None or _is_of(criterion, "subgroups", "vigilance")
        case ("datasets", PathItem() as name, *_):
            return _of_dataset(criterion, name, change, plan)
        case ("tables", name, *_):
            return _of_table(criterion, name, change, plan)
        case ("candidates", PathItem() as name, _, *_):
            known = {c.candidate for c in plan.candidates}
            own = _named(criterion.candidate) | (_named(criterion.arm_or_contrast) & known)
            return not own or name in own
        case ("performance_claims", *_):
            return False  # they are compared with the results; no result rests on them
        case ("internal_splits", *_):
            return _is_of(criterion, "potential_robustness")
        case ("incidents" | "indicators", *_) | ("vigilance", "indicators", *_):
            return _is_of(criterion, "vigilance")
        case (group, PathItem() as name, *_) if group in SETS:
            own_set = criterion.set
            added = change.whole and change.old is None
            return own_set is None or (not added and (name == own_set or name.startswith(f"{own_set}, ")))
        case _:
            return True


def _is_of(criterion: Endpoint, *dimensions: str) -> bool:
    """Whether a criterion is about a result of these dimensions, or does not say of which."""
    return (criterion.measure or "").rpartition(".")[0] in ("", *dimensions)


def _named(said: Any) -> set[str]:
    return {said} if isinstance(said, str) else set(said or ())


def _in_its_family(criterion: Endpoint, change: Change, plan: Plan) -> bool:
    """Whether it is the criterion's own field, or one that moves the alpha that its family shares."""
    if printed(change.path) == ORDER:
        in_sequence = [f for f in families(plan) if f.rule == "fixed sequence"]
        return any(criterion == member.declared for family in in_sequence for member in family.members)
    name, field = change.criterion, str(change.path[-1])
    if criterion.endpoint == name:
        return True
    # Without a hypothesis it is the bound that asks for a verdict.
    enters = field == "bound_or_margin" and None in (change.old, change.new)
    if not (change.whole or field in SHARED or enters):
        return False
    moved = [e.multiplicity_family for e in plan.endpoints if e.endpoint == name]
    for side in (change.old, change.new):
        if change.whole and isinstance(side, Mapping):
            moved.append(side.get("multiplicity_family"))
        elif field == "multiplicity_family":
            moved.append(side)
    declared = {f.family for f in plan.families}
    shared = {
        said.strip()
        for said in moved
        if said and said.strip() and (said.strip().casefold() not in NO_FAMILY or said.strip() in declared)
    }
    return (criterion.multiplicity_family or "").strip() in shared


def _of_dataset(criterion: Endpoint, name: str, change: Change | None, plan: Plan) -> bool:
    """Whether a criterion rests on a data set: it names it or none, or all sets are compared with it."""
    facts = next((d for d in plan.datasets if d.dataset == name), None)
    roles = {facts.role if facts else None}
    if change is not None and change.whole:
        roles |= {side.get("role") for side in (change.old, change.new) if isinstance(side, Mapping)}
    elif change is not None and change.path[-1] == "role":
        roles |= {change.old, change.new}
    baseline = plan.vigilance.baseline_dataset if plan.vigilance else None
    if name == baseline or not roles.isdisjoint(DEVELOPMENT_ROLES):
        return True
    known = {name, *(d.dataset for d in plan.datasets)}
    own = _named(criterion.dataset) | _named(criterion.period)
    if isinstance(criterion.arm_or_contrast, str):
        own |= {criterion.arm_or_contrast} & known
    if not own or name in own:
        return True
    # A period is compared with others, but its own value is of itself alone.
    of_itself = (criterion.measure or "").rpartition(".")[2] == "period_value"
    return "period" in roles and not of_itself and _is_of(criterion, "vigilance")


def _of_table(criterion: Endpoint, name: str, change: Change, plan: Plan) -> bool:
    """Whether a criterion rests on a table: it does unless both say of what they are, and differ."""
    if change.whole:
        table = change.new or change.old
    elif change.path[2] in ("dataset", "task", "candidate", "kind") or name not in plan.tables:
        return True
    else:
        table = plan.tables[name].model_dump()
    of, task, candidate = (table.get(key) for key in ("dataset", "task", "candidate"))
    if of and any(d.dataset == of for d in plan.datasets) and not _of_dataset(criterion, of, None, plan):
        return False
    if task and criterion.task and task != criterion.task:
        return False
    own = _named(criterion.candidate)
    return not (candidate and own and candidate not in own)
