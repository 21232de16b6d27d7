"""Whether this machine has what reports need."""

import ctypes.util
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata

PDF_LIBRARIES = {
    "pango-1.0": "libpango-1.0-0",
    "pangoft2-1.0": "libpangoft2-1.0-0",
    "harfbuzz-subset": "libharfbuzz-subset0",
}
# How Pango, which draws the text of a PDF, is installed, by `sys.platform`.
ELSEWHERE = {
    "darwin": "brew install pango",
    "win32": "install MSYS2, then run: pacman -S mingw-w64-x86_64-pango",
}
INSTALL = ELSEWHERE.get(sys.platform, "apt-get install " + " ".join(PDF_LIBRARIES.values()))
PYTHON = (3, 11)
REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?:>=(?P<least>[\d.]+))?(?P<extra>.*extra ==)?")


@dataclass(frozen=True, slots=True)
class SystemRequirement:
    """One thing that is needed, whether it is there, and how to get it."""

    what: str
    fine: bool
    mend: str = ""


def diagnose() -> list[SystemRequirement]:
    """Look at Python, at the packages, at the libraries that PDF needs and at the packaged files."""
    return [interpreter(), *_packages(), *libraries(), *_packaged_files()]


def interpreter() -> SystemRequirement:
    """Python and its version."""
    version = ".".join(map(str, sys.version_info[:3]))
    return SystemRequirement(
        f"Python {version}", sys.version_info >= PYTHON, "Python 3.11 or newer is needed"
    )


def libraries() -> list[SystemRequirement]:
    """The libraries of the system that PDF needs."""
    lines = []
    for library, package in PDF_LIBRARIES.items():
        there = ctypes.util.find_library(library) is not None
        mend = ELSEWHERE.get(sys.platform, f"apt-get install {package}")
        lines.append(SystemRequirement(f"{package} (for PDF)", there, mend))
    return lines


def _packages() -> Iterator[SystemRequirement]:
    """What the installed package says that it requires, without its extras."""
    try:
        required = metadata.requires("trustreport") or []
    except metadata.PackageNotFoundError:
        yield SystemRequirement("trustreport as an installed package", False, "pip install . in its folder")
        return
    for said in required:
        found = REQUIREMENT.match(said)
        if found is None or found["extra"]:
            continue
        name, least = found["name"], found["least"] or "0"
        try:
            version = metadata.version(name)
        except metadata.PackageNotFoundError:
            version = ""
        old = bool(version) and _parts(version) < _parts(least)
        what = f"{name} {version}".strip() + f", which is older than {least}" * old
        yield SystemRequirement(what, bool(version) and not old, f"pip install '{name}>={least}'")


def _parts(version: str) -> list[int]:
    """The numbers at the beginning of a version."""
    numbers = re.match(r"[\d.]*", version)
    return [int(part) for part in numbers[0].split(".") if part] if numbers else []


def _packaged_files() -> list[SystemRequirement]:
    from trustreport.vocabulary.resources import folder

    lines = []
    for kind in ("templates", "schemas", "qualification"):
        try:
            folder(kind)
        except FileNotFoundError as error:
            lines.append(SystemRequirement(f"packaged {kind}", False, str(error)))
        else:
            lines.append(SystemRequirement(f"packaged {kind}", True))
    return lines
