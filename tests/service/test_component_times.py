"""The times in which components are updated are documented, and a program compares with them (ASVS V15)."""

import runpy
from datetime import date, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TIMES = runpy.run_path(str(ROOT / "packaging" / "component_times.py"))
TODAY = date(2026, 11, 23)


def found(*names: str) -> dict[str, Any]:
    """What pip-audit says of packages that each have one weakness."""
    return {"dependencies": [{"name": n, "version": "1", "vulns": [{"id": f"V-{n}"}]} for n in names]}


def test_v15_1_1_the_documentation_says_the_times_that_are_checked() -> None:
    said = (ROOT / "SECURITY.md").read_text("utf-8")
    for name in ("EXPOSED_DAYS", "OTHER_DAYS", "UPDATE_DAYS"):
        assert f"{TIMES[name]} days" in said, name
    locked = (ROOT / "requirements-service.lock").read_text("utf-8")
    assert [name for name in TIMES["EXPOSED"] if f"\n{name}==" not in locked] == []


def test_v15_2_1_a_weakness_that_stays_too_long_is_found() -> None:
    overdue = TIMES["overdue"]
    for name, days in (("starlette", 7), ("SQLAlchemy", 7), ("scipy", 30)):
        since = {(name, f"V-{name}"): TODAY - timedelta(days)}
        assert list(overdue(found(name), since, TODAY)) == []
        (said,) = overdue(found(name), since, TODAY + timedelta(1))
        assert said == f"{name}: V-{name} is known for {days + 1} days; {days} are allowed."
    (new,) = overdue(found("starlette"), {}, TODAY)
    assert "`starlette,V-starlette,2026-11-23`" in new
    assert list(overdue({"dependencies": [{"name": "scipy", "vulns": []}]}, {}, TODAY)) == []


def test_v15_2_1_what_nothing_is_known_of_is_not_healthy() -> None:
    skipped = {"dependencies": [{"name": "scipy", "skip_reason": "not found"}]}
    (said,) = TIMES["unaudited"](skipped)
    assert "says nothing about 1 packages (scipy ...)" in said


def test_v15_2_1_every_lock_says_when_it_was_resolved_and_is_found_once_old() -> None:
    for lock in TIMES["LOCKS"]:
        text = (ROOT / lock).read_text("utf-8")
        resolved = date.fromisoformat(text.split(" on ", 1)[1][:10])
        assert list(TIMES["outdated"](lock, text, resolved + timedelta(90))) == []
        (said,) = TIMES["outdated"](lock, text, resolved + timedelta(91))
        assert "resolved 91 days ago" in said
    assert list(TIMES["outdated"]("x.lock", "# Resolved with care", TODAY))
