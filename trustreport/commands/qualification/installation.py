"""Installation qualification: what is installed against the locked versions and the wheel's own record."""

import base64
import hashlib
import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from trustreport.report import doctor
from trustreport.vocabulary.resources import folder

NAME = "trustreport"
LOCK, SERVICE_LOCK = "requirements.lock", "requirements-service.lock"
LOCKED = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
REQUIRED = re.compile(r"([\w.-]+)")
MOST_NAMED = 5  # files that a line names
EDITABLE = "this is an editable installation: its RECORD does not list the files"

Status = Literal["pass", "fail", "not checked"]
Kind = Literal["python", "package", "library", "files", "font"]


@dataclass(frozen=True, slots=True)
class InstalledItem:
    """One item of the installation: what was expected, what is there."""

    kind: Kind
    name: str
    expected: str
    found: str
    status: Status
    note: str = ""


def inspect() -> list[InstalledItem]:
    """Python, packages, libraries for PDF, the package's own files, fonts."""
    python = doctor.interpreter()
    version = ".".join(map(str, doctor.PYTHON))
    items = [
        InstalledItem(
            "python", "Python", f"{version} or newer", platform.python_version(), _status(python.fine)
        )
    ]
    items += _packages()
    items += [
        InstalledItem(
            "library",
            line.what,
            "installed",
            "installed" if line.fine else "missing",
            _status(line.fine),
            line.mend if not line.fine else "",
        )
        for line in doctor.libraries()
    ]
    return [*items, *_own_files(), *_fonts()]


def machine() -> dict[str, str]:
    """What the installation runs on; nothing is expected of it."""
    return {
        "trustreport": metadata.version(NAME),
        "place": str(Path(sys.modules[NAME].__file__ or "").parent),
        "python": f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
        "processor": f"{platform.machine()}, {os.cpu_count()} cores, {sys.byteorder} endian",
        "host": platform.node(),
    }


def _status(fine: bool) -> Status:
    return "pass" if fine else "fail"


def _packages() -> Iterator[InstalledItem]:
    """Every package that ours needs, and of the others in the lock of the service those that are there."""
    own, service = _locked(LOCK), _locked(SERVICE_LOCK)
    installed = {_plain(d.name): d.version for d in metadata.distributions()}
    needed = {_plain(name) for name in _needed(NAME)}
    for name in sorted(needed | (service.keys() & installed.keys())):
        expected, found = own.get(name) or service.get(name, ""), installed.get(name, "")
        if not expected:
            note = "the lock does not have it: it is needed on this system only"
            yield InstalledItem("package", name, "", found, "not checked", note)
            continue
        fine = found == expected
        note = "" if fine else f"pip install --require-hashes -r {folder('qualification') / LOCK}"
        yield InstalledItem("package", name, expected, found or "missing", _status(fine), note)


def _locked(name: str) -> dict[str, str]:
    """The versions of a lock file by package."""
    text = (folder("qualification") / name).read_text(encoding="utf-8")
    return {_plain(package): version for package, version in LOCKED.findall(text)}


def _needed(name: str) -> set[str]:
    """What a package requires without extras, and what that requires; of conditional ones those installed."""
    found: set[str] = set()
    left = [name]
    while left:
        try:
            requirements = metadata.requires(left.pop()) or []
        except metadata.PackageNotFoundError:
            continue
        for text in requirements:
            match = REQUIRED.match(text)
            if match is None or "extra ==" in text or _plain(match[1]) in found:
                continue
            if ";" in text and not _is_installed(match[1]):
                continue
            found.add(_plain(match[1]))
            left.append(match[1])
    return found


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


def _plain(name: str) -> str:
    """The name of a package as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _own_files() -> Iterator[InstalledItem]:
    """The files of the package against the hashes of its RECORD, and files that are not in it."""
    try:
        recorded = _recorded(NAME)
    except metadata.PackageNotFoundError:
        yield InstalledItem("files", NAME, "an installed package", "none", "fail", "pip install the wheel")
        return
    package = Path(sys.modules[NAME].__file__ or "").resolve().parent
    own = {path: digest for path, digest in recorded.items() if path.is_relative_to(package)}
    if not own:
        yield InstalledItem("files", NAME, "as in RECORD", "", "not checked", EDITABLE)
        return
    wrong = [path for path, digest in own.items() if not path.is_file() or _hash(path) != digest]
    there = {
        path.resolve() for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    extra = there - own.keys()
    said = f"{len(own)} files as in RECORD, no others"
    found = f"{len(own) - len(wrong)} as in RECORD, {len(wrong)} changed or missing, {len(extra)} others"
    named = [str(path.relative_to(package)) for path in sorted([*wrong, *extra])[:MOST_NAMED]]
    yield InstalledItem("files", NAME, said, found, _status(not wrong and not extra), ", ".join(named))


def record_digest() -> str:
    """SHA-256 over the sorted names and hashes of the package's files in RECORD, to compare machines by."""
    package = Path(sys.modules[NAME].__file__ or "").resolve().parent
    lines = sorted(
        f"{path.relative_to(package).as_posix()} {digest}\n"
        for path, digest in _recorded(NAME).items()
        if path.is_relative_to(package)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest() if lines else ""


def _recorded(name: str) -> Mapping[Path, str]:
    """Each file of an installed package with the SHA-256 that RECORD has of it, in RECORD's base64."""
    files = metadata.files(name) or []
    return {
        Path(str(file.locate())).resolve(): file.hash.value
        for file in files
        if file.hash is not None and file.hash.mode == "sha256" and "__pycache__" not in file.parts
    }


def _hash(path: Path) -> str:
    digest = hashlib.sha256(path.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _fonts() -> Iterator[InstalledItem]:
    """The fonts of reports against the RECORD of the package that brings each."""
    from trustreport.report.layout.pdf_layout import assets

    recorded = {**_recorded("matplotlib"), **_recorded(NAME)}
    for path in assets().values():
        if not path.is_file():
            yield InstalledItem("font", path.name, "as in RECORD", "missing", "fail", str(path))
            continue
        found, expected = _hash(path), recorded.get(path.resolve(), "")
        if not expected:
            yield InstalledItem("font", path.name, "as in RECORD", found, "not checked", EDITABLE)
        else:
            yield InstalledItem("font", path.name, expected, found, _status(found == expected))
