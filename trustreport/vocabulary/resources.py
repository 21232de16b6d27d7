"""Where the packaged files lie: inside an installed package, beside it in a checkout."""

from functools import cache
from importlib.resources import files
from pathlib import Path


@cache
def folder(kind: str) -> Path:
    """The folder ``templates``, ``schemas``, ``qualification`` or ``examples``.

    A built wheel carries them under ``trustreport/_data``; an editable install and a checkout have them
    beside the package.
    """
    package = Path(str(files("trustreport")))
    for place in (package / "_data" / kind, package.parent / kind):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"the folder {kind} of trustreport is not installed; reinstall the package")
