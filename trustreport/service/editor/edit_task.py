"""The task of the limited process behind the form: show a manifest, edit it, check the result."""

import dataclasses
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trustreport.service.editor.criteria_task import foretold
from trustreport.service.editor.draft_facts import (
    answers,
    chances,
    first_rows,
    not_declared,
    without_result,
)
from trustreport.service.editor.field_values import in_points
from trustreport.service.editor.form import NAME, Form, form_of, pointer, suggestions, was_changed
from trustreport.service.editor.yaml_edits import Edits, applied, edited, edits_of, place, places, plain
from trustreport.service.engine import (
    MOST_BYTES,
    Bound,
    KeyPath,
    Plan,
    Problems,
    bound_of,
    confirmatory,
    dotted,
    parse,
    plan_of,
)
from trustreport.vocabulary.errors import Problem, StudyError
from trustreport.vocabulary.quantities import ROWS

if TYPE_CHECKING:
    from trustreport.service.engine import Study

MANIFEST = "study.yaml"
UNCERTAIN = re.compile(r"# UNCERTAIN: (.*)")


def edit(task: Mapping[str, Any], work: Path) -> dict[str, Any]:
    """The form of a manifest with what was typed, the manifest with it, and what is wrong with that.

    Parameters
    ----------
    task : ``manifest`` and its name ``file``; ``texts`` by control; ``files`` as the check listed them;
        ``check``: "no", "manifest" alone, or "study" with the tables in ``work/study``
    """
    text, name, texts = task["manifest"], task["file"], task["texts"]
    problems = Problems()
    found = parse(name, text.encode(), problems)
    if found is None or problems:
        return {"unreadable": [p.as_dict() for p in problems]}
    form = form_of(found.values, task["files"], texts)
    texts = {**texts, **dict(_numbers(form, texts, comma=task.get("comma", False)))}
    edits = edits_of(form, texts, found.values)
    made, has_comments = edited(text, found.values, edits, name)
    values = applied(found.values, edits)
    names = suggestions(values)
    answer = {
        "form": dataclasses.asdict(form),
        "yaml": made,
        "has_comments": has_comments or "#" not in text,
        "doubts": {pointer(path): said for path, said in _guesses(text, found.lines).items()},
        "suggestions": names
        | {"measures": [r.id for r in ROWS], "quantities": [*names["measurements"], *(r.id for r in ROWS)]},
        "unused": sorted(set(task["files"]) - _named(values)),
        "checked": task["check"],
        "problems": [],
        "cautions": [],
        "bounds": {},
        "criteria": {},
        "chances": {},
        "first_rows": {},
        "not_declared": [],
        "answers": True,
    }
    if task.get("shows_rows") and task["check"] == "study":
        answer["first_rows"] = first_rows(work / "study", task["files"])
    if task["check"] != "no":
        places_of = _places(form, edits, found.values)
        answer |= _checked(made, work / "study", places_of, with_tables=task["check"] == "study")
    return answer


def _numbers(form: Form, texts: Mapping[str, str], *, comma: bool) -> Iterator[tuple[str, str]]:
    """The texts that are numbers, written as the manifest has them."""
    for control in form.controls():
        is_number = control.shape.kind in ("number", "range") or control.shape.numbers
        if is_number and was_changed(control, texts):
            yield control.name, in_points(texts[control.name], comma=comma)


NAMED_BY = {"datasets": "dataset", "measurements": "measurement"}  # lists that a proposal adds to


def merged(manifest: str, name: str, proposal: str) -> str:
    """A manifest with the groups and tables of a proposal that it does not have, guesses marked."""
    problems = Problems()
    old, new = (parse(n, t.encode(), problems) for n, t in ((name, manifest), (MANIFEST, proposal)))
    if old is None or new is None or problems:
        return ""
    edits = Edits()
    for key, value in new.values.items():
        if key == "tables":
            taken = old.values.get(key) or {}
            edits.rows |= {
                (key, f"+{table}"): {NAME: table, **({"kind": table} if table in taken else {}), **entry}
                for table, entry in value.items()
            }
        elif key in NAMED_BY:
            known = {
                _name_of(row, NAMED_BY[key]) for row in old.values.get(key) or () if isinstance(row, dict)
            }
            rows = {(key, f"+{i}"): facts for i, facts in enumerate(value)}
            edits.rows |= {p: facts for p, facts in rows.items() if facts[NAMED_BY[key]] not in known}
        elif key not in ("report", "device") and not old.values.get(key):
            edits.values[(key,)] = value
    made = edited(manifest, old.values, edits, name)[0]
    at = places(old.values, edits)
    marks: dict[KeyPath, str] = {}
    for path, question in _guesses(proposal, new.lines).items():
        row = (path[0], f"+{path[1]}") if path[0] in ("tables", *NAMED_BY) else path[:1]
        if row in at:
            marks[(*at[row], *path[2:])] = question
        elif row in edits.values:
            marks[path] = question
    return _marked(made, marks)


def _name_of(row: Mapping[str, Any], word: str) -> str:
    return str(row.get(word, row.get(f"{word}_id")))


def _marked(text: str, marks: Mapping[KeyPath, str]) -> str:
    """A manifest with a remark at the end of each line that rests on a guess, where that changes no value."""
    found = parse(MANIFEST, text.encode(), Problems())
    lines = text.split("\n")
    for path, question in marks.items() if found else ():
        at = found.line(path) - 1 if found else 0
        lines[at] += f"; {question}" if UNCERTAIN.search(lines[at]) else f" # UNCERTAIN: {question}"
    made = "\n".join(lines)
    return made if found and plain(made) == found.values else text


def named_files(manifest: Path) -> set[str] | None:
    """The files that a manifest names; None where it cannot be read."""
    problems = Problems()
    with manifest.open("rb") as stream:
        found = parse(manifest.name, stream.read(MOST_BYTES + 1), problems)
    return None if found is None or problems else _named(found.values)


def _named(values: Mapping[str, Any]) -> set[str]:
    tables, datasets = values.get("tables"), values.get("datasets")
    rows = [
        *(tables.values() if isinstance(tables, dict) else ()),
        *(datasets if isinstance(datasets, list) else ()),
    ]
    return {str(row["file"]) for row in rows if isinstance(row, dict) and "file" in row}


def _guesses(text: str, lines: Mapping[KeyPath, int]) -> dict[KeyPath, str]:
    """What is marked as a guess, by the path of the first field of its line."""
    marked = {i: m[1] for i, line in enumerate(text.split("\n"), 1) if (m := UNCERTAIN.search(line))}
    found: dict[KeyPath, str] = {}
    for path in sorted(lines, key=len):
        if question := marked.pop(lines[path], None) if path else None:
            found[path] = question
    return found


def _places(form: Form, edits: Edits, values: Any) -> dict[str, str]:
    """The name of each control and row by how a message writes its place in the edited manifest."""
    new = places(values, edits)
    named = [(c.path, c.name) for c in form.controls()] + [(r.path, r.name) for r in form.rows()]
    named += [(row.path[:-1], pointer(row.path[:-1])) for row in form.rows()]
    found: dict[str, str] = {}
    for path, name in named:
        at = place(path, edits, new)
        if at:
            found.setdefault(dotted(at), name)
    return found


def _checked(text: str, study: Path, places_of: Mapping[str, str], *, with_tables: bool) -> dict[str, Any]:
    """What `trustreport check` says of the edited manifest, each problem with its control."""
    problems = Problems()
    manifest = parse(MANIFEST, text.encode(), problems)
    plan = plan_of(manifest, problems)[0] if manifest else None
    found, cautions = list[Problem](problems), list[list[Any]]()
    shown: dict[str, Any] = {}
    bounds = dict(_bounds(plan, places_of)) if plan else {}
    if with_tables:
        for other in ("study.yml", "study.json"):
            (study / other).unlink(missing_ok=True)
        study.mkdir(exist_ok=True)
        (study / MANIFEST).write_text(text, encoding="utf-8")
        found, read = _read(study)
        if read is not None:
            of_study, plan = read
            at = {i: places_of.get(f"endpoints[{i}].bound_or_margin", "") for i in range(len(plan.endpoints))}
            cautions = [[key, dict(values)] for key, values in of_study.cautions]
            idle = {at[i] for i in without_result(of_study, plan)}
            bounds |= {place: {"reason": "editor.no_result"} for place in idle if place}
            shown = {
                "answers": answers(of_study.cautions),
                "chances": {at[i]: one for i, one in chances(of_study, plan) if at[i] and at[i] not in idle},
            }
    tables = _tables(plan) if plan else {}
    return {
        "problems": [p.as_dict() | {"at": _where(p, places_of, tables)} for p in found],
        "cautions": cautions,
        "criteria": foretold(study, plan) if plan else {},
        "bounds": bounds,
        "not_declared": not_declared(plan) if plan else [],
        **shown,
    }


def _read(study: Path) -> "tuple[list[Problem], tuple[Study, Plan] | None]":
    from trustreport.api import read_study
    from trustreport.service.engine import released

    try:
        found, plan = read_study(study)
        released(found, plan)
    except StudyError as error:
        return list(error.problems), None
    return [], (found, plan)


def _tables(plan: Plan) -> dict[str, str]:
    """Where the manifest names each file."""
    sets = {file: f"datasets[{i}]" for i, d in enumerate(plan.datasets) if (file := d.file_of(d.dataset))}
    return {**sets, **{t.file_of(name): dotted(("tables", name)) for name, t in plan.tables.items()}}


def _where(problem: Problem, places_of: Mapping[str, str], tables: Mapping[str, str]) -> str:
    """The control that a problem is about, or the nearest group around it; empty where there is none."""
    if problem.file in tables:
        table = tables[problem.file]
        own = problem.column.partition("/")[0]
        return places_of.get(f"{table}.columns.{own}") or places_of.get(table, "")
    at = problem.column
    while at and at not in places_of:
        at = at[: max(at.rfind("."), at.rfind("["))] if max(at.rfind("."), at.rfind("[")) > 0 else ""
    return places_of.get(at, "")


def _bounds(plan: Plan, places_of: Mapping[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Between which ends the interval of each criterion must be, or the key of why that is not known."""
    for i, criterion in enumerate(plan.endpoints):
        name = places_of.get(f"endpoints[{i}].bound_or_margin")
        if name and criterion.measure and confirmatory(criterion):
            try:
                bound = bound_of(criterion)
            except LookupError:
                continue
            yield name, {"low": bound.low, "high": bound.high} if isinstance(bound, Bound) else _reason(bound)


def _reason(key: str) -> dict[str, str]:
    return {"reason": "editor.no_bound" if key == "one_bound" else f"verdicts.reason.{key}"}
