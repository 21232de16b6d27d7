"""Two results.json held against each other, and a report against the same study computed again."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from math import isclose
from pathlib import Path
from typing import Any, Literal

from trustreport.measures.seeds import DEFAULT
from trustreport.report.signatures.bundle import RESULTS, FileStatus
from trustreport.study.plan import Plan

# Relative difference below which two numbers are the same: a change of machine, not of the study.
SAME = 1e-9
NUMBERS = ("value", "low", "high", "level", "se", "n", "p", "df", "details")
WORDS = ("unit", "primary", "note")

# What the second version of the schema added to scopes, and what it added to entries or called otherwise.
ADDED = ("population", "datasets", "reference", "version")
RENAMED = ("quantity", "cases", "measures", "quantities", "locked")

What = Literal["changed", "added", "removed"]
Entries = Mapping[str, Mapping[str, Any]]
MOST_NAMED = 3  # differences that are listed
OF_LOOKS = "P68"


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that differs: `name` and `where` say of what, `old` and `new` hold the fields that differ."""

    what: What
    name: str
    where: Mapping[str, Any]
    old: Mapping[str, Any]
    new: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Comparison:
    """All differences, and how many numbers are the same."""

    numbers: tuple[Difference, ...]
    verdicts: tuple[Difference, ...]
    checks: tuple[Difference, ...]
    same: int

    @property
    def alike(self) -> bool:
        """Whether nothing differs."""
        return not (self.numbers or self.verdicts or self.checks)

    def as_dict(self) -> dict[str, Any]:
        """The comparison as plain data."""
        kinds = {"numbers": self.numbers, "verdicts": self.verdicts, "checks": self.checks}
        return {"same": self.same, **{kind: [asdict(d) for d in found] for kind, found in kinds.items()}}


def load(path: Path) -> dict[str, Any]:
    """The results of a report's folder, or of the file itself.

    Raises
    ------
    ValueError : it is no results.json
    OSError : it cannot be read
    """
    file = path / RESULTS if path.is_dir() else path
    try:
        data = json.loads(file.read_bytes())
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{file}: no JSON ({error})") from error
    if not isinstance(data, dict) or not {"results", "checks", "verdicts"} <= data.keys():
        raise ValueError(f"{file}: this is not the {RESULTS} of a report")
    return data


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> Comparison:
    """Numbers by id, scope and method; verdicts by endpoint; checks by number and scope.

    Files of the first version of the schema are read too: where one of the two is, both are compared by
    what that version has.
    """
    if "1" in (old.get("schema_version"), new.get("schema_version")):
        old, new = _first_version(old), _first_version(new)

    def differences(
        part: str, key: tuple[str, ...], fields: tuple[str, ...] | None
    ) -> tuple[Difference, ...]:
        before, after = (_by_key(document[part], key) for document in (old, new))
        return tuple(_differences(before, after, fields, key[0]))

    numbers = differences("results", ("id", "scope", "method"), (*NUMBERS, *WORDS))
    return Comparison(
        numbers,
        differences("verdicts", ("endpoint",), None),
        differences("checks", ("check", "scope"), ("status", "severity", "message")),
        len(old["results"]) - sum(d.what != "added" for d in numbers),
    )


def _first_version(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document with the ids and scopes of the first version of the schema."""
    made = dict(document)
    for part in ("results", "checks", "verdicts"):
        made[part] = [_as_first(entry) for entry in document[part]]
    return made


def _as_first(entry: Mapping[str, Any]) -> dict[str, Any]:
    made, scope = dict(entry), dict(entry.get("scope") or {})
    for key in ADDED:
        scope.pop(key, None)
    if "metric" in (scope.get("parameters") or {}):
        scope.pop("endpoint", None)
    if made.get("id") == "subgroups.group_performance":
        endpoint = scope.pop("endpoint", "")
        made["id"] = f"advice_accuracy.{endpoint}"
    for key in RENAMED:
        made.pop(key, None)
    return {**made, "scope": scope}


def _by_key(entries: Any, fields: tuple[str, ...]) -> dict[str, Mapping[str, Any]]:
    """Entries by what makes each the only one; a second one with the same key gets a number."""
    found: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        key = json.dumps([entry.get(field) for field in fields], sort_keys=True)
        n = 1
        while (numbered := key if n == 1 else f"{key} {n}") in found:
            n += 1
        found[numbered] = entry
    return found


def _differences(
    old: Entries, new: Entries, fields: tuple[str, ...] | None, name: str
) -> Iterator[Difference]:
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key), new.get(key)
        entry: Mapping[str, Any] = before if before is not None else after  # type: ignore[assignment]
        where = {"scope": entry.get("scope", {}), "method": entry.get("method", "")}
        where = {k: v for k, v in where.items() if v}
        looked = fields or tuple(sorted(k for k in {*(before or {}), *(after or {})} if k != name))
        if before is None or after is None:
            what: What = "added" if before is None else "removed"
            yield Difference(
                what, str(entry[name]), where, _fields_of(before, looked), _fields_of(after, looked)
            )
            continue
        unlike = tuple(f for f in looked if not same(before.get(f), after.get(f)))
        if unlike:
            yield Difference(
                "changed", str(entry[name]), where, _fields_of(before, unlike), _fields_of(after, unlike)
            )


def _fields_of(entry: Mapping[str, Any] | None, fields: tuple[str, ...]) -> dict[str, Any]:
    return {} if entry is None else {field: entry[field] for field in fields if field in entry}


def same(a: Any, b: Any) -> bool:
    """Equal; numbers to rounding, at any depth."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return isclose(a, b, rel_tol=SAME, abs_tol=1e-12)
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


# ---------------------------------------------------------------- on a terminal


def lines(found: Comparison) -> Iterator[str]:
    """A plain line for each difference, then how many there are."""
    for kind, differences in _kinds(found):
        for d in differences:
            yield " ".join(filter(None, (kind, d.what, d.name, _where(d), _fields(d))))
    counts = [(kind, len(differences)) for kind, differences in _kinds(found)]
    counted = [f"{n} {kind}{'s' * (n != 1)}" for kind, n in counts if n]
    yield f"{', '.join(counted) or 'nothing'} changed, {found.same} numbers the same"


def table(found: Comparison) -> Any:
    """The same as a table of rich."""
    from rich.table import Table
    from rich.text import Text

    *_, said = lines(found)
    made = Table(caption=said)
    for name in ("", "", "id", "of", "old", "new"):
        made.add_column(name, overflow="fold")
    for kind, differences in _kinds(found):
        for d in differences:
            cells = (kind, d.what, d.name, _where(d), _shown(d.old), _shown(d.new))
            made.add_row(*(Text(cell) for cell in cells))
    return made


def _kinds(found: Comparison) -> tuple[tuple[str, tuple[Difference, ...]], ...]:
    return (("number", found.numbers), ("verdict", found.verdicts), ("check", found.checks))


def _where(d: Difference) -> str:
    parts = []
    for key, value in d.where.get("scope", {}).items():
        if value not in (None, "", []):
            shown = "/".join(map(str, value)) if isinstance(value, list) else value
            parts.append(f"{key}={json.dumps(shown) if isinstance(shown, dict) else shown}")
    parts += [d.where["method"]] if d.where.get("method") else []
    return f"[{', '.join(parts)}]" if parts else ""


def _fields(d: Difference) -> str:
    if d.what != "changed":
        return _shown(d.new or d.old)
    return ", ".join(f"{key} {_short(d.old.get(key))} -> {_short(d.new.get(key))}" for key in d.new)


def _shown(values: Mapping[str, Any]) -> str:
    told = {key: value for key, value in values.items() if key != "details" and value not in (None, "", {})}
    return ", ".join(f"{key} {_short(value)}" for key, value in told.items())


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def as_built(plan: Plan, written: Mapping[str, Any]) -> Plan:
    """The plan with what of a report may have been given to its build alone: kind, release, language, seed.

    A seed that the manifest leaves out stays out where the report drew with the default one: to declare it
    would be a change since the lock.
    """
    study, seed = written["study"], written["provenance"]["seed"]
    if plan.similarity.seed is None and seed == DEFAULT:
        seed = None
    of_report = {name: study[name] for name in ("kind", "release", "language") if name in study}
    return plan.model_copy(
        update={
            "report": plan.report.model_copy(update=of_report),
            "similarity": plan.similarity.model_copy(update={"seed": seed}),
        }
    )


def reproduced(written: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[FileStatus]:
    """Whether the inputs are those of the report, and the numbers too.

    Parameters
    ----------
    written : the document of the report, as results.json holds it
    again : the document made from the study as it is now
    """
    from trustreport.report.document import canonical  # brings the statistics, which comparing needs not

    yield from _inputs(written["provenance"]["inputs"], again["provenance"]["inputs"])
    yield from _versions(written["provenance"], again["provenance"])
    yield from _of_verdicts(written, again)
    if canonical(written) == canonical(again):
        yield FileStatus(RESULTS, "ok", "computed again, the same bytes")
        return
    found = compare(*(_without_looks(document) for document in (written, again)))
    if found.alike:
        yield FileStatus(RESULTS, "ok", "computed again, the same numbers")
        return
    differences = list(lines(found))
    more = f"; and {len(differences) - MOST_NAMED - 1} more" if len(differences) > MOST_NAMED + 1 else ""
    listed = "; ".join(differences[:MOST_NAMED])
    yield FileStatus(RESULTS, "wrong", f"computed again, is not the same: {listed}{more}")


def _without_looks(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document but for the check of the register, which later uses of the data are entered in."""
    checks = [check for check in document["checks"] if check["check"] != OF_LOOKS]
    return {**document, "checks": checks}


def _inputs(old: list[Mapping[str, Any]], new: list[Mapping[str, Any]]) -> Iterator[FileStatus]:
    before, after = ({i["file"]: i["sha256"] for i in inputs} for inputs in (old, new))
    for name in dict.fromkeys((*before, *after)):
        if name not in after:
            yield FileStatus(name, "wrong", "was read for the report and is not part of the study now")
        elif name not in before:
            yield FileStatus(name, "wrong", "is part of the study now and was not read for the report")
        elif before[name] != after[name]:
            yield FileStatus(name, "wrong", "of the study is not the file that the report was made from")
        else:
            yield FileStatus(name, "ok", "is the file that the report was made from")


def _of_verdicts(written: Mapping[str, Any], again: Mapping[str, Any]) -> Iterator[FileStatus]:
    """Whether what verdicts can be derived from again is that of the study; older files do not hold it."""
    if "intervals" in written:
        if not same(written["criteria"]["declared"], again["criteria"]["declared"]):
            yield FileStatus(RESULTS, "wrong", "holds other criteria than the manifest of the study")
        if not same(written["intervals"], again["intervals"]):
            yield FileStatus(RESULTS, "wrong", "holds other intervals of verdicts, computed again")


def _versions(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[FileStatus]:
    before, after = ({"trustreport": o["trustreport"], **o["versions"]} for o in (old, new))
    for name in before:
        if before[name] != after.get(name, ""):
            yield FileStatus(
                name, "beside", f"is {after.get(name, 'absent')} here; the report had {before[name]}"
            )
