"""The files of a report's folder, and what can be said of one."""

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

BLOCK = 1 << 20

Status = Literal["ok", "wrong", "beside", "signed"]


@dataclass(frozen=True, slots=True)
class FileStatus:
    """What was found of one file: as written, not as written, no part of the report, or a statement on it."""

    file: str
    status: Status
    said: str


def files(folder: Path) -> list[str]:
    """Every file below a folder, by its name with forward slashes."""
    found = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    made = sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            made.update(block)
    return made.hexdigest()
