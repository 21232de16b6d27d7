"""Whether this machine has what reports need."""

import ctypes.util
import sys
from dataclasses import dataclass
from importlib import metadata, util

PDF_LIBRARIES = {
    "pango-1.0": "libpango-1.0-0",
    "pangoft2-1.0": "libpangoft2-1.0-0",
    "harfbuzz-subset": "libharfbuzz-subset0",
}
INSTALL = "apt-get install " + " ".join(PDF_LIBRARIES.values())
PYTHON = (3, 11)
PACKAGES = (
    "numpy",
    "scipy",
    "pandas",
    "statsmodels",
    "matplotlib",
    "weasyprint",
    "jinja2",
    "pydantic",
    "pyarrow",
)


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that is needed, whether it is there, and how to get it."""

    what: str
    fine: bool
    mend: str = ""


def diagnose() -> list[Line]:
    """Look at Python, at the packages, at the libraries that PDF needs and at the packaged files."""
    version = ".".join(map(str, sys.version_info[:3]))
    lines = [Line(f"Python {version}", sys.version_info >= PYTHON, "Python 3.11 or newer is needed")]
    for name in PACKAGES:
        there = util.find_spec(name) is not None
        lines.append(
            Line(f"{name} {metadata.version(name) if there else ''}".strip(), there, f"pip install {name}")
        )
    for library, package in PDF_LIBRARIES.items():
        there = ctypes.util.find_library(library) is not None
        lines.append(Line(f"{package} (for PDF)", there, f"apt-get install {package}"))
    return [*lines, *_packaged_files()]


def _packaged_files() -> list[Line]:
    from trustreport.resources import folder

    lines = []
    for kind in ("templates", "schemas"):
        try:
            folder(kind)
        except FileNotFoundError as error:
            lines.append(Line(f"packaged {kind}", False, str(error)))
        else:
            lines.append(Line(f"packaged {kind}", True))
    return lines
