"""Which studies a fleet has: those of a folder or of a list, each with a name of its own."""

import csv
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from unicodedata import normalize

UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST = 60  # characters of a name, before what tells it from others
MANIFESTS = ("study.yaml", "study.yml", "study.json")
COLUMNS = ("study", "site", "period")


@dataclass(frozen=True, slots=True)
class FleetStudy:
    """A study of a fleet: the name of its report, its folder or manifest, and what the list says of it."""

    name: str
    path: Path
    site: str = ""
    period: str = ""


def studies_of(source: Path, out: Path) -> list[FleetStudy]:
    """The studies of a folder of study folders, or of a list of paths (text, or CSV with a column `study`).

    Paths of a list are relative to it; its columns `site` and `period` go before what a study declares.

    Raises
    ------
    ValueError : there is no such folder or list, it names no study, or one twice
    """
    if source.is_dir():
        inside = sorted(path for path in source.iterdir() if path.is_dir() and path.name[0] != ".")
        rows = [{"study": str(path)} for path in inside if path.resolve() != out.resolve()]
    elif source.is_file():
        rows = _listed(source)
    else:
        raise ValueError(f"{source}: there is no such folder or list.")
    if not rows:
        raise ValueError(f"{source}: names no study. Expected folders of studies, or a list of their paths.")
    paths = [source.parent / row["study"] if source.is_file() else Path(row["study"]) for row in rows]
    twice = [str(path) for path, n in Counter(paths).items() if n > 1]
    if twice:
        raise ValueError(f"{source}: names {', '.join(twice)} more than once; keep one line of each.")
    names = names_of(paths)
    return [
        FleetStudy(name, path, row.get("site") or "", row.get("period") or "")
        for name, path, row in zip(names, paths, rows, strict=True)
    ]


def names_of(paths: Iterable[Path]) -> list[str]:
    """A name for each study that is safe as the name of a folder and unlike all others.

    A name that had to be changed, or that several have, ends with digits of the hash of its path, so that it
    does not depend on the order of the studies.

    >>> names_of([Path("a/knee"), Path("b/hip")])
    ['knee', 'hip']
    """
    found = []
    for path in paths:
        own = path.parent.name if path.name in MANIFESTS else path.name
        plain = normalize("NFKD", own).encode("ascii", "ignore").decode()
        found.append((path, own, UNSAFE.sub("-", plain).strip(".-_")[:LONGEST]))
    alike = Counter(safe.casefold() for _, _, safe in found)
    return [
        safe if safe == own and alike[safe.casefold()] == 1 else f"{safe or 'study'}-{_digits(path)}"
        for path, own, safe in found
    ]


def _digits(path: Path) -> str:
    return sha256(str(path.absolute()).encode()).hexdigest()[:8]


def _listed(source: Path) -> list[dict[str, str]]:
    text = source.read_text(encoding="utf-8-sig")
    if source.suffix.lower() != ".csv":
        lines = (line.strip() for line in text.splitlines())
        return [{"study": line} for line in lines if line and not line.startswith("#")]
    table = csv.DictReader(text.splitlines(), skipinitialspace=True)
    heads = table.fieldnames or []
    if "study" not in heads or not set(heads) <= set(COLUMNS):
        found = ", ".join(heads) or "nothing"
        raise ValueError(f"{source}: found the columns {found}, expected study; site and period if known.")
    rows = [{key: (value or "").strip() for key, value in row.items() if key} for row in table]
    empty = [number for number, row in enumerate(rows, 2) if not row["study"]]
    if empty:
        raise ValueError(f"{source}, row {', '.join(map(str, empty[:3]))}: no path in column study.")
    return rows
