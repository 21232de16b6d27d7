"""The files of a report as one bundle: their hashes, and whether they are still what was written."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

HASHES = "manifest.sha256"
# What the list of hashes leaves out: itself, and when the report was made.
UNLISTED = (HASHES, "run.json")
RESULTS = "results.json"
QUOTED = 8  # digits of the hash of the numbers at the foot of a page
BLOCK = 1 << 20

Status = Literal["ok", "wrong", "beside"]


@dataclass(frozen=True, slots=True)
class Line:
    """What was found of one file: as written, not as written, or no part of the report."""

    file: str
    status: Status
    said: str


# One way to look at a bundle; those of signatures are added to `LOOKS`.
Look = Callable[[Path], Iterator[Line]]


def hashes(folder: Path) -> bytes:
    """The list of all files of a folder with their sha256, as ``sha256sum -c`` reads it, sorted by name."""
    lines = [f"{_hash(folder / name)}  {name}\n" for name in files(folder) if name not in UNLISTED]
    return "".join(lines).encode()


def files(folder: Path) -> list[str]:
    """Every file below a folder, by its name with forward slashes."""
    found = (path for path in folder.rglob("*") if path.is_file() or path.is_symlink())
    return sorted(path.relative_to(folder).as_posix() for path in found)


def verify(folder: Path) -> list[Line]:
    """Everything that the bundle can say of itself; nothing is wrong where no line is."""
    return [line for look in LOOKS for line in look(folder)]


def as_listed(folder: Path) -> Iterator[Line]:
    """Each file held against its hash, and what stands beside them."""
    listing = folder / HASHES
    if not listing.is_file():
        yield Line(HASHES, "wrong", "is missing: nothing says what the files were")
        return
    data = listing.read_bytes()
    listed = _read(data)
    if listed is None:
        yield Line(HASHES, "wrong", "is not a list of hashes as it was written")
        return
    for name, digest in listed.items():
        path = folder / name
        if path.is_symlink() or not path.is_file():
            yield Line(name, "wrong", "is missing")
        elif _hash(path) != digest:
            yield Line(name, "wrong", "is not what was written: its sha256 is another one")
        else:
            yield Line(name, "ok", "as written")
    for name in files(folder):
        if name not in listed and name not in UNLISTED:
            yield Line(name, "beside", "is not a file of the report")


def quoted(folder: Path) -> Iterator[Line]:
    """Whether the pages quote the hash of the numbers that lie beside them."""
    results, page = folder / RESULTS, folder / "report.html"
    if not (results.is_file() and page.is_file()):
        return
    if _hash(results)[:QUOTED].encode() not in page.read_bytes():
        yield Line(page.name, "wrong", f"quotes the hash of another {RESULTS}")


LOOKS: tuple[Look, ...] = (as_listed, quoted)


def _hash(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _read(data: bytes) -> dict[str, str] | None:
    """Names and hashes of a list; None unless it is, to the byte, what `hashes` writes."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    found: dict[str, str] = {}
    for line in text.splitlines():
        digest, gap, name = line[:64], line[64:66], line[66:]
        plain = PurePosixPath(name)
        inside = bool(name) and not plain.is_absolute() and ".." not in plain.parts
        if gap != "  " or not inside or name in found or not set(digest) <= set("0123456789abcdef"):
            return None
        found[name] = digest
    again = "".join(f"{found[name]}  {name}\n" for name in sorted(found))
    return found if found and text == again else None
