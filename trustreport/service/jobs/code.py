"""Which code computes: reports of different code are different jobs."""

import hashlib
from functools import cache
from pathlib import Path

import trustreport
from trustreport.vocabulary.resources import folder
from trustreport.vocabulary.version import __version__


@cache
def code_version() -> str:
    """The version, and a hash of every file that has a say in a report."""
    package = Path(trustreport.__file__).parent
    service = package / "service"
    files = [p for p in package.rglob("*.py") if service not in p.parents]
    files += [p for p in folder("templates").rglob("*") if p.is_file()]
    digest = hashlib.sha256()
    for file in sorted(files):
        digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return f"{__version__}+{digest.hexdigest()[:12]}"
