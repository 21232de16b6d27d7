"""Whether components are as new as SECURITY.md promises: what pip-audit found, and the age of the locks.

    pip-audit --format json -o found.json ... ; python packaging/component_times.py found.json

`known_weaknesses.csv` beside this file says since when each weakness is known to us. Exit status 1 where one
is not noted there or a time is over; `./run audit` does both steps.
"""

import csv
import json
import re
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
KNOWN = HERE / "known_weaknesses.csv"
LOCKS = ("requirements.lock", "requirements-service.lock", "requirements-dev.lock")
EXPOSED_DAYS, OTHER_DAYS, UPDATE_DAYS = 7, 30, 90
# What reads bytes that others send, or keeps secrets: a weakness there can be used from outside.
EXPOSED = frozenset(
    "authlib argon2-cffi cryptography fastapi h11 httpcore2 httpx2 jinja2 joserfc markupsafe openpyxl "
    "pandas pillow psycopg psycopg-binary pyarrow pydantic pydantic-core pyotp pyrage python-calamine "
    "python-multipart ruamel-yaml sqlalchemy starlette uvicorn weasyprint webauthn".split()
)


def days_for(package: str) -> int:
    """How many days after it is known a weakness of a package may be there."""
    return EXPOSED_DAYS if package.lower().replace("_", "-").replace(".", "-") in EXPOSED else OTHER_DAYS


def found_in(audit: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Package and name of every weakness in the JSON of pip-audit."""
    parts = audit["dependencies"]
    return sorted({(part["name"], vuln["id"]) for part in parts for vuln in part.get("vulns", ())})


def overdue(audit: Mapping[str, Any], known: Mapping[tuple[str, str], date], today: date) -> Iterator[str]:
    """A sentence for each weakness that is not noted, or has been there for too long."""
    for package, weakness in found_in(audit):
        since = known.get((package, weakness))
        if since is None:
            note = f"{package},{weakness},{today}"
            yield f"{package}: {weakness} is new. Update it, or add `{note}` to {KNOWN.name}."
        elif (days := (today - since).days) > days_for(package):
            yield f"{package}: {weakness} is known for {days} days; {days_for(package)} are allowed."


def unaudited(audit: Mapping[str, Any]) -> Iterator[str]:
    """A sentence on the packages that the registry says nothing about: silence is not health."""
    names = [part["name"] for part in audit["dependencies"] if "skip_reason" in part]
    if names:
        some = ", ".join(names[:3])
        yield f"The registry in use says nothing about {len(names)} packages ({some} ...): not audited."


def outdated(lock: str, text: str, today: date) -> Iterator[str]:
    """A sentence for a lock that was resolved too long ago, or does not say when."""
    resolved = re.match(r"# Resolved on (\d{4}-\d\d-\d\d) ", text)
    if resolved is None:
        yield f"{lock}: its first line does not say when it was resolved."
    elif (days := (today - date.fromisoformat(resolved[1])).days) > UPDATE_DAYS:
        yield f"{lock}: resolved {days} days ago; {UPDATE_DAYS} are allowed. `./run lock` resolves it anew."


def main(file: Path, today: date) -> int:
    """Print what is over its time; how many."""
    audit = json.loads(file.read_text(encoding="utf-8"))
    with KNOWN.open(encoding="utf-8", newline="") as rows:
        since = {
            (r["package"], r["weakness"]): date.fromisoformat(r["known_since"]) for r in csv.DictReader(rows)
        }
    said = [*overdue(audit, since, today), *unaudited(audit)]
    for lock in LOCKS:
        said += outdated(lock, (HERE.parent / lock).read_text(encoding="utf-8"), today)
    print("\n".join(said) or f"{len(audit['dependencies'])} components are as new as SECURITY.md promises.")
    return len(said)


if __name__ == "__main__":
    sys.exit(bool(main(Path(sys.argv[1]), datetime.now(UTC).date())))
