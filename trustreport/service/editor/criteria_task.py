"""Criteria in the limited process: fixed as by `trustreport lock`, and what a later change withholds."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trustreport.service.editor.yaml_edits import Edits, edited
from trustreport.service.engine import KeyPath, Plan, Problems, confirmatory, found_in, parse, read_plan
from trustreport.vocabulary.errors import StudyError

if TYPE_CHECKING:  # load numpy
    from trustreport.service.engine import lock

MOST_CHANGES = 20  # of one criterion
LONGEST = 200  # characters of a value
# Of a lock that somebody made up, too: its hash is right, and what it holds is of any form.
UNREADABLE = (StudyError, ValueError, OSError, RecursionError, LookupError, TypeError, AttributeError)


def foretold(study: Path, plan: Plan | None = None) -> dict[str, Any]:
    """How the criteria of a folder compare with what was fixed, and which verdicts are withheld for that.

    Nothing of a manifest that cannot be read. `results`: it has numbers of its own, such as published counts.
    """
    from trustreport.service.engine import Study, lock

    file = study / lock.FILE
    try:
        plan = plan or read_plan(study)[1]
        status = lock.lock_status(Study(lock=file.read_bytes() if file.is_file() else b""), plan)
        withheld = list(_withheld(status, plan))
    except UNREADABLE:
        return {}
    return {
        "criteria": [e.endpoint for e in plan.endpoints if confirmatory(e)],
        "state": status.state,
        "late": status.late,
        "results": any(getattr(plan, name) for name in lock.SETS),
        "tables": bool(plan.tables or plan.datasets),
        "withheld": withheld,
    }


def _withheld(status: "lock.LockStatus", plan: Plan) -> Iterator[dict[str, Any]]:
    """Every criterion without a verdict, with the check that says why and the fields that were changed."""
    from trustreport.service.engine import lock

    for criterion in filter(confirmatory, plan.endpoints):
        check = lock.exploratory(status, plan, criterion)
        if check is not None:
            how = "undeclared" if check == "P34" else "after"
            own = [c for c in status.changes if c.how == how and lock.rests_on(criterion, c, plan)]
            changes = [_change(change) for change in own[:MOST_CHANGES]]
            yield {"criterion": criterion.endpoint, "check": check, "changes": changes}
    for name in lock.removed(status, plan):
        yield {"criterion": name, "check": "P34", "changes": [], "removed": True}


def _change(change: "lock.Change") -> dict[str, str]:
    old, new = ("" if change.whole else _text(value)[:LONGEST] for value in (change.old, change.new))
    what = ("added" if change.old is None else "removed") if change.whole else "changed"
    return {"field": change.field, "old": old, "new": new, "what": what}


def _text(value: Any) -> str:
    """A value as an amendment names it."""
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def fix(task: Mapping[str, Any], work: Path, on_progress: Callable[[str, float], None]) -> dict[str, Any]:
    """Lock the criteria of ``work/study``, amend its lock, or enter into its manifest where they were fixed.

    The answer has `lock`, its `digest` and `criteria`, and `manifest` where that changed; or `refused`, why.

    Parameters
    ----------
    task : `at`, the time; `reason` of an amendment; `is_known`, whether the lock there was made here;
        `document` with `title`, `sha256`, `fixed_on` and `data_opened_on`, where one shows it
    """
    from trustreport.service.engine import lock

    study = work / "study"
    said = foretold(study)
    if not said:
        return {"refused": "unreadable"}
    if said["results"] and "document" not in task:
        return {"refused": "results"}
    if document := task.get("document"):
        return _declared(study, document) | {"criteria": said["criteria"], "lock": "", "digest": ""}
    _, plan = read_plan(study)
    before = lock.read((study / lock.FILE).read_bytes()) if (study / lock.FILE).is_file() else None
    answer = {"manifest": ""}
    if before is not None and task["is_known"] and not lock.changed(before.last, plan):
        return {"refused": "unchanged"}
    differs = before is not None and (before.first != before.last or said["state"] != "locked")
    if before is not None and differs:
        if not task["reason"]:
            return {"refused": "reason"}
        status = lock.lock_status(lock_study(before), plan)
        answer |= _amended(study, [c for c in status.changes if c.how == "undeclared"], task)
        _, plan = read_plan(study)
    try:
        made = lock.renewed(plan, before, amend=differs, reason=task["reason"])
    except ValueError:
        return {"refused": "no_criteria"}
    made = replace(made, entries=(*made.entries[:-1], replace(made.last, fixed_at=task["at"])))
    status = lock.lock_status(lock_study(made), plan)
    if status.late:
        return {"refused": "late"}
    if any(change.how != "before" for change in status.changes):
        return {"refused": "amendment"}
    text = lock.written(made).decode()
    return answer | {"lock": text, "digest": made.last.sha256, "criteria": said["criteria"]}


def lock_study(locked: "lock.Lock") -> Any:
    """A study that has a lock and no data, with which a manifest is compared."""
    from trustreport.service.engine import Study, lock

    return Study(lock=lock.written(locked))


def _amended(study: Path, changes: list["lock.Change"], task: Mapping[str, Any]) -> dict[str, str]:
    """Enter an amendment for each change into the manifest."""
    rows: dict[KeyPath, dict[str, Any]] = {}
    for number, change in enumerate(changes):
        old, new = (_text(value) for value in (change.old, change.new))
        said = {"date": task["at"], "field": change.field, "reason": task["reason"]}
        values = {} if change.whole else {"old": old[:LONGEST], "new": new}
        rows["amendments", f"+{number}"] = said | values | {"before_data_opened": True}
    return _entered(study, Edits(rows=rows)) if rows else {}


def _declared(study: Path, document: Mapping[str, str]) -> dict[str, str]:
    """Enter into the manifest when the criteria were fixed elsewhere, and the document that shows it."""
    from trustreport.service.engine import lock

    own = {"id": f"sha256:{document['sha256']}", "kind": lock.FIXED_BY, "date": document["fixed_on"]}
    dates = {"sap_locked_at": document["fixed_on"], "data_opened_at": document["data_opened_on"]}
    edits = Edits(values={("study", key): day for key, day in dates.items()})
    edits.rows["documents", "+0"] = own | {"title": document["title"]}
    return _entered(study, edits)


def _entered(study: Path, edits: Edits) -> dict[str, str]:
    """Make edits in the manifest, which is study.yaml then."""
    file = found_in(study)[0]
    text = file.read_text("utf-8-sig")
    found = parse(file.name, text.encode(), Problems())
    assert found is not None
    made, _ = edited(text, found.values, edits, file.name)
    file.unlink()
    (study / "study.yaml").write_text(made, encoding="utf-8")
    return {"manifest": made}
