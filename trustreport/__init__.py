"""Reports on the trustworthiness of medical AI, from reader studies and external validation.

Three functions do the whole job; command line, service and notebooks call the same ones::

    study, plan = read_study("my-study")
    assessment = assess(study, plan)
    write_report(assessment, "out")

They are loaded on first use, so that importing the package stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from trustreport.vocabulary.version import __version__

if TYPE_CHECKING:
    from trustreport.api import assess, read_study, write_report

__all__ = ["__version__", "assess", "read_study", "write_report"]


def __getattr__(name: str) -> object:
    if name in ("assess", "read_study", "write_report"):
        return getattr(import_module("trustreport.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
