"""The next period of an audit: its data set and dates in the manifest, everything else carried over."""

import datetime as dt
import io
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from trustreport.study.ingest import read, read_plan
from trustreport.study.ingest.problems import Problems
from trustreport.study.ingest.tables import Layout, Raw, read_table
from trustreport.study.interop.exports import take_export
from trustreport.study.interop.sql import NotFetched
from trustreport.study.period_days import ENDS, days_after, days_of
from trustreport.study.plan import DatasetFacts, FileForm, Incident, Plan, Signal, TableSource, as_moment

MANIFESTS, TRIED = ("study.yaml", "study.yml", "study.json"), "study.next"
FORM = tuple(FileForm.model_fields)
ASKED = ("sql", "newest", "url_env", "connection")
SOURCE = ("file", *ASKED, "parameters", "after", "taken")
# What a data set has for itself; all else of the last period is declared of the next one too.
OWN = ("dataset", "role", "start_date", "end_date", "exclusions", "sha256", *SOURCE)
SINCE, UNTIL = "since", "until"  # parameters that are the first and the last day of a period
ALIKE = 0.8  # share of the columns of a table that a file of the same kind has
REPEATED = 0.5  # share of the cases of a table that a file has again which is to replace it


class NoNextPeriod(ValueError):
    """The manifest, or the files, do not say what the next period is; the text says what lacks."""


@dataclass(frozen=True)
class NextPeriod:
    """What was entered: the name of the period, its first and last day, its files, queries and exports.

    `mixed` are the files of which not every row says that it is of the period, `replaced` those that a file
    took the place of which has the earlier rows too.
    """

    name: str
    start: dt.date
    end: dt.date
    files: tuple[str, ...]
    mixed: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()


@dataclass(frozen=True)
class NewPart:
    """A file of the period: what of the manifest it is read as, and the data sets that its rows name.

    `repeats`: it has the earlier rows too.
    """

    file: Path
    form: Any
    sets: frozenset[str]
    repeats: bool


def enter_next_period(
    folder: Path,
    data: Sequence[Path],
    until: dt.date,
    *,
    since: dt.date | None = None,
    name: str = "",
    is_read: bool = True,
) -> NextPeriod:
    """Enter the data of the next period into the manifest of an audit, and copy them beside it.

    The period begins on the day after the last one. Each file is read as the table whose columns it has.
    What the last period has from queries with a parameter `until` is asked for again, with `until` and
    `since` of the new one; from exports the newest is taken and copied, if it changed after that of the last
    period and not before the last day.
    Dates of the cut and of the report keep their distance from the end of the period. The manifest is
    replaced only if the study can be read with it, unless `is_read` is false: a service reads it later.

    Raises
    ------
    NoNextPeriod : the last period has no end, the new one ends before it, there is neither a file nor a
        query nor an export, a file is like none of its files, or its rows are of no new period or of several
    StudyError : the study cannot be read with the new data; nothing was changed
    """
    if is_read:
        read_plan(folder)  # a manifest that is none is refused with every problem of it
    manifest = _manifest(folder)
    tree = _tree(manifest)
    new, asked = _entered(tree, folder, data, since, until, name)
    copied, tried = _copies(data, folder), folder / f"{TRIED}{manifest.suffix}"
    made = [*copied.values(), tried]
    try:
        for file, copy in copied.items():
            shutil.copyfile(file, copy)
        if is_read:
            made += _take_exports(tree, asked, folder)
        tried.write_text(_as_text(tree, manifest), encoding="utf-8")
        if is_read:
            read(tried)
        tried.replace(manifest)
    except BaseException:
        for file in made:
            file.unlink(missing_ok=True)
        raise
    return new


def _entered(
    tree: Any, folder: Path, data: Sequence[Path], since: dt.date | None, until: dt.date | None, name: str
) -> tuple[NextPeriod, list[str]]:
    """Enter the period into the tree of a manifest; with it the names of what is fetched."""
    last = _last(tree, since)
    parts = [_part(file, last, tree, folder) for file in data]
    name = name or _named_by_rows(parts, tree)
    start = since or _after(last)
    until = until or days_of(name)[1] or days_after(*_days(last))[1]
    if until is None:
        raise NoNextPeriod("neither the files nor the last period say when the next one ends")
    if until < start:
        raise NoNextPeriod(f"the period would end on {until}, before it begins ({start})")
    own = name or _name(str(last["dataset"]), until)
    if any(str(one["dataset"]) == own for one in tree["datasets"]):
        raise NoNextPeriod(f"there is a data set {own} already; name the period by --name")
    new = NextPeriod(own, start, until, tuple(f.name for f in data))
    asked, mixed, replaced = _enter(tree, last, new, parts, folder)
    _move_dates(tree, new)
    files = (*new.files, *asked)
    return replace(new, files=files, mixed=tuple(mixed), replaced=tuple(replaced)), asked


def text_with_period(folder: Path, data: Sequence[Path]) -> str:
    """A manifest with the period of which files have rows, or the files that it names; nothing is written.

    Raises
    ------
    NoNextPeriod : they have rows of no new period, or of several
    """
    manifest = _manifest(folder)
    tree = _tree(manifest)
    if _last(tree).get("role") != "period":
        raise NoNextPeriod("there is no period that another one could follow")
    if not data:
        forms = [form for form in (tree.get("tables") or {}).values() if form.get("file")]
        known = {str(one["dataset"]) for one in tree["datasets"]}
        files = {Path(form["file"]).name: form for form in forms if "dataset" not in form}
        data = [folder / file for file in files]
        data = [f for f in data if _sets(_table(f, folder, files[f.name]), files[f.name]) - known]
        if not data:
            raise NoNextPeriod("no file has rows of a new period")
    _entered(tree, folder, data, None, None, "")
    return _as_text(tree, manifest)


def proposed_days(plan: Plan) -> dict[str, Any] | None:
    """First and last day of the period after the last one of a study; None where it has no periods.

    `fetched`: whether it needs no file, since tables of the last period come from queries or exports.
    """
    periods = [one for one in plan.datasets if one.role == "period"]
    if not periods:
        return None
    named = [(one, days_of(one.dataset)) for one in periods]
    days = [(one.start_date or first, one.end_date or last) for one, (first, last) in named]
    start, end = max(days, key=lambda both: both[1] or dt.date.min)
    since, until = days_after(start, end)
    sources = [table for table in (*plan.tables.values(), *periods) if table.is_fetched]
    return {
        "since": since.isoformat() if since else "",
        "until": until.isoformat() if until else "",
        "fetched": any(one.newest or UNTIL in one.parameters for one in sources),
    }


def enter_taken(manifest: Path, taken: Mapping[str, Mapping[str, str]]) -> None:
    """Enter which exports the tables of a manifest were read from, by their places as in messages."""
    tree = _tree(manifest)
    for place, export in taken.items():
        group, _, key = place.partition("." if place.startswith("tables.") else "[")
        of = tree[group][int(key.rstrip("]")) if group == "datasets" else key]
        of["taken"] = dict(export)
    _write(tree, manifest)


def enter_events(manifest: Path, events: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Enter incidents and signals of a register into a manifest.

    One replaces that of the same name, others are added; those that the register does not have stay.
    """
    tree = _tree(manifest)
    for group, key, model in (("incidents", "incident", Incident), ("signals", "signal", Signal)):
        given = [model.model_validate(dict(row)) for row in events.get(group, ())]
        if given and not tree.get(group):
            tree[group] = []
        known = {str(one.get(key, one.get(f"{key}_id"))): i for i, one in enumerate(tree.get(group) or ())}
        for new in given:
            there = known.get(getattr(new, key))
            row = new.model_dump(mode="json" if manifest.suffix == ".json" else "python", exclude_none=True)
            row = {name: list(value) if isinstance(value, tuple) else value for name, value in row.items()}
            if there is None:
                tree[group].append(row)
            elif model.model_validate(dict(tree[group][there])) != new:
                tree[group][there] = row
    _write(tree, manifest)


def _write(tree: Any, manifest: Path) -> None:
    manifest.write_text(_as_text(tree, manifest), encoding="utf-8")


def _yaml() -> Any:
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 10_000
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml


def _tree(manifest: Path) -> Any:
    """A manifest as a tree that is written as it was typed."""
    text = manifest.read_text(encoding="utf-8") if manifest.is_file() else ""
    tree = json.loads(text) if manifest.suffix == ".json" else _yaml().load(text)
    if not isinstance(tree, dict):
        raise NoNextPeriod(f"there is no {manifest.name}")
    return tree


def _manifest(folder: Path) -> Path:
    return next((folder / name for name in MANIFESTS if (folder / name).is_file()), folder / MANIFESTS[0])


def _as_text(tree: Any, manifest: Path) -> str:
    if manifest.suffix == ".json":
        return json.dumps(tree, indent=2, ensure_ascii=False, default=str)
    out = io.StringIO()
    _yaml().dump(tree, out)
    return out.getvalue()


def _take_exports(tree: Any, asked: Sequence[str], folder: Path) -> list[Path]:
    """Copy the newest exports that the new tables ask for, and enter them; the copies."""
    made = []
    for name in asked:
        of = tree["tables"].get(name) or next(one for one in tree["datasets"] if one["dataset"] == name)
        if not of.get("newest"):
            continue
        source = TableSource.model_validate({key: of[key] for key in SOURCE if key in of})
        copy = folder / source.file_of(name)
        copy.parent.mkdir(exist_ok=True)
        made.append(copy)
        try:
            address = os.environ.get(source.variable, "")
            if not address:
                raise NotFetched(f"{source.variable} is not set, which says where the exports are")
            of["taken"] = take_export(address, of["newest"], copy, after=of.get("after", ""))
        except NotFetched as error:
            raise NoNextPeriod(". ".join(filter(None, (error.found, error.mend)))) from None
    return made


def _last(tree: Any, since: dt.date | None = None) -> Any:
    """The last period, or the data set that came before any."""
    sets = tree.get("datasets") or []
    periods = [one for one in sets if one.get("role") == "period"]
    dated = [one for one in periods or sets if _days(one)[1]]
    if not dated and since and sets:
        return (periods or sets)[-1]
    if not dated:
        raise NoNextPeriod("no data set of role period has an end_date, from which the next one follows")
    return max(dated, key=lambda one: _days(one)[1] or dt.date.min)


def _days(entry: Any) -> tuple[dt.date | None, dt.date | None]:
    """First and last day of a data set as it declares them, else as its name says."""
    given = [_day(entry[key]) if entry.get(key) else None for key in ("start_date", "end_date")]
    first, last = days_of(str(entry["dataset"])) if entry.get("role") == "period" else (None, None)
    return given[0] or first, given[1] or last


def _day(value: Any) -> dt.date:
    return value if isinstance(value, dt.date) else dt.date.fromisoformat(str(value))


def _after(last: Any) -> dt.date:
    return (_days(last)[1] or dt.date.min) + dt.timedelta(days=1)


def _name(before: str, until: dt.date) -> str:
    """A name as the last period has one: 2026-08, export-2026-Q3 or 2026; else the last day."""
    found = ENDS.search(before)
    if not found:
        return until.isoformat()
    dash = found["dash"] or ""
    own = f"{dash}Q{(until.month + 2) // 3}" if found["quarter"] else f"-{until:%m}" if found["month"] else ""
    return f"{before[: found.start(1)]}{until:%Y}{own}"


def _part(file: Path, last: Any, tree: Any, folder: Path) -> NewPart:
    """What a file is to be read as, the data sets that its rows name, and whether it has all earlier rows."""
    form = _like(file, last, tree, folder)
    raw, own = _table(file, folder, form), folder / str(form["file"])
    if form is last:
        return NewPart(file, form, frozenset(), repeats=False)
    if own.resolve() == file.resolve():
        return NewPart(file, form, _sets(raw, form), repeats=True)
    before, now = (_cells(one, form, "case") for one in (_table(own, folder, form), raw))
    return NewPart(file, form, _sets(raw, form), len(before & now) > REPEATED * max(len(before), 1))


def _named_by_rows(parts: Sequence[NewPart], tree: Any) -> str:
    """The name of the one data set that rows name and the manifest does not have; empty where none do."""
    known = {str(one["dataset"]) for one in tree["datasets"]}
    said = {one.file.name: one.sets for one in parts if one.sets}
    new = {name for sets in said.values() for name in sets - known}
    if len(new) > 1:
        raise NoNextPeriod(f"there are rows of {', '.join(sorted(new))}; enter one period after the other")
    stale = [file for file, sets in said.items() if not sets - known]
    if stale and not new:
        raise NoNextPeriod(f"{stale[0]} has rows of {', '.join(sorted(said[stale[0]]))} and of no new period")
    return next(iter(new), "")


def _enter(
    tree: Any, last: Any, new: NextPeriod, parts: Sequence[NewPart], folder: Path
) -> tuple[list[str], list[str], list[str]]:
    """The data set of the period, and its tables.

    Returns what is fetched of it, by name, files of mixed rows, and files that others took the place of.
    """
    facts = {key: deepcopy(last[key]) for key in DatasetFacts.model_fields if key in last and key not in OWN}
    entry = {"dataset": new.name, "role": "period", **facts}
    entry |= {"start_date": new.start, "end_date": new.end}
    asked, mixed, replaced = list[str](), list[str](), list[str]()
    if _is_of_period(last):
        entry |= _renewed_source(last, new)
        asked.append(new.name)
    for key, of in list((tree.get("tables") or {}).items()):
        if _is_of_period(of) and _belongs(of, last):
            named = {"dataset": new.name} if "dataset" in of else {}
            asked.append(
                _add_table(tree, str(key), {**_renewed_source(of, new), **_form(of, str(key)), **named})
            )
    for part in parts:
        file, of = part.file, part.form
        if of is last:
            entry["file"] = file.name
            continue
        if part.repeats:
            mixed.append(file.name)
            if str(of["file"]) != file.name:
                replaced.append(str(of["file"]))
                _renew_hashes(tree, folder / str(of["file"]), file)
                of["file"] = file.name
            continue
        key = next(str(k) for k, t in tree["tables"].items() if t is of)
        named = {"dataset": new.name}
        if part.sets - {new.name}:
            named, mixed = {}, [*mixed, file.name]
        _add_table(tree, key, {"file": file.name, **_form(of, key), **named})
    if not parts and not asked:
        lacking = "no table of the last period comes from a query with the parameter until, or from exports"
        raise NoNextPeriod(f"{lacking}; name its files by --data")
    tree["datasets"].append(entry)
    return asked, mixed, replaced


def _renew_hashes(tree: Any, old: Path, new: Path) -> None:
    """Where data sets declare the hash of a file that was replaced, that of the new one."""
    before, now = (sha256(file.read_bytes()).hexdigest() for file in (old, new))
    for one in tree["datasets"]:
        if one.get("sha256") == before:
            one["sha256"] = now


def _form(of: Any, key: str) -> dict[str, Any]:
    """How a table like another is read."""
    keys = ("task", "candidate", "measurement", *FORM)
    return {"kind": of.get("kind", _base(key)), **{k: deepcopy(of[k]) for k in keys if k in of}}


def _base(key: str) -> str:
    return re.sub(r"_\d+$", "", key)


def _add_table(tree: Any, key: str, table: dict[str, Any]) -> str:
    """Enter a table under the next free name."""
    number = 2
    while f"{_base(key)}_{number}" in tree["tables"]:
        number += 1
    tree["tables"][f"{_base(key)}_{number}"] = table
    return f"{_base(key)}_{number}"


def _is_of_period(of: Any) -> bool:
    """Whether it comes from a query that says until when it asks, or from exports."""
    return bool(of.get("newest")) or (bool(of.get("sql")) and UNTIL in (of.get("parameters") or {}))


def _belongs(of: Any, last: Any) -> bool:
    """Whether a table is of a data set; one that names none is of that until whose last day it asks."""
    if "dataset" in of:
        return str(of["dataset"]) == str(last["dataset"])
    return not of.get("newest") and str(of["parameters"][UNTIL]) == str(last["end_date"])


def _renewed_source(of: Any, new: NextPeriod) -> dict[str, Any]:
    """The query with the days of the new period; of exports, those that are newer than the last one taken."""
    source = {key: deepcopy(of[key]) for key in ASKED if key in of}
    if of.get("newest"):
        if not of.get("taken"):
            raise NoNextPeriod(
                f"which export {of['newest']} the last period was read from is not said; add to its table "
                "taken: {file: ...}, the path below the folder"
            )
        before = as_moment(of["taken"].get("modified", ""))
        return {**source, "after": max(before, f"{new.end}T00:00:00Z")}
    given = deepcopy(dict(of["parameters"]))
    given |= {key: day.replace() for key, day in ((SINCE, new.start), (UNTIL, new.end)) if key in given}
    return {**source, "parameters": given}


def _like(file: Path, last: Any, tree: Any, folder: Path) -> Any:
    """What of the manifest a file is to be read as: the last period's own file, or a table."""
    forms = [form for form in (last, *(tree.get("tables") or {}).values()) if form.get("file")]
    shares = []
    for form in forms:
        own, given = _headers(folder / form["file"], folder, form), _headers(file, folder, form)
        shares.append(len(own & given) / max(len(own), 1))
    if not forms or max(shares) < ALIKE:
        names = ", ".join(str(form["file"]) for form in forms) or "no file"
        raise NoNextPeriod(f"{file.name} has not the columns of {names}")
    return forms[shares.index(max(shares))]


def _sets(raw: Raw, form: Mapping[str, Any]) -> frozenset[str]:
    """The data sets that rows of a file name in a column."""
    codes = (form.get("values") or {}).get("dataset") or {}
    return frozenset(str(codes.get(cell, cell)) for cell in _cells(raw, form, "dataset"))


def _cells(raw: Raw, form: Mapping[str, Any], word: str) -> set[str]:
    """What the column of a word holds; nothing where there is none."""
    mapped = (form.get("columns") or {}).get(word)
    known = {word, f"{word}_id"} if mapped is None else {str(mapped).casefold()}
    found = [column for header, column in zip(raw.header, raw.columns) if (header or "").casefold() in known]
    cells = (cell for column in found for cell in column.unique().to_pylist())
    return {str(cell or "").strip() for cell in cells} - {""}


def _headers(file: Path, folder: Path, form: Mapping[str, Any]) -> set[str]:
    """The headers of a file in small letters, read as a form of the manifest says."""
    return {header.casefold() for header in _table(file, folder, form).header if header}


def _table(file: Path, folder: Path, form: Mapping[str, Any]) -> Raw:
    """A file, read as a form of the manifest says."""
    path = file if file.is_absolute() or file.exists() else folder / file
    rows = form.get("header_row")
    layout = Layout(
        form.get("delimiter"),
        form.get("decimal"),
        form.get("encoding"),
        form.get("sheet"),
        tuple(rows) if isinstance(rows, list) else rows,
    )
    raw = read_table(path, path.name, layout, Problems())
    if raw is None:
        raise NoNextPeriod(f"{path.name} cannot be read as a table")
    return raw


def _move_dates(tree: Any, new: NextPeriod) -> None:
    """Under `vigilance` the period, its number and its cut, and the date of the report."""
    vigilance = tree.setdefault("vigilance", {})
    before = vigilance.get("period_end")
    # Copies, since what is one object twice is written as an alias.
    vigilance["period_start"], vigilance["period_end"] = new.start.replace(), new.end.replace()
    if "period_index" in vigilance:
        vigilance["period_index"] = int(vigilance["period_index"]) + 1
    for group, key in ((vigilance, "data_cut"), (tree["report"], "date")):
        if before is not None and group.get(key) is not None:
            group[key] = new.end + (_day(group[key]) - _day(before))


def _copies(data: Sequence[Path], folder: Path) -> dict[Path, Path]:
    """Where each file is copied to that is not beside the manifest."""
    found = {file: folder / file.name for file in data if file.resolve().parent != folder.resolve()}
    taken = [copy for copy in found.values() if copy.exists()]
    if taken or len(set(found.values())) < len(found):
        name = taken[0] if taken else next(iter(found.values()))
        raise NoNextPeriod(f"{name} is there already; name the file otherwise")
    return found
