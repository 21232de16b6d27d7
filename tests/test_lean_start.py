"""What starting costs: modules that are imported, by what Python itself reports, and resident memory."""

import re
import subprocess
import sys

import pytest

HEAVY = {"scipy.stats", "pandas", "pandera", "matplotlib", "statsmodels", "weasyprint", "sklearn", "pyarrow"}
NUMERIC = {"numpy", "scipy", "pydantic", "babel", "jinja2"}
# What the process that draws and lays out does without.
ROOMS_OF_REPORTS = ("assessment.assess", "assessment.dimensions", "study.ingest", "report.html")
OF_REPORTS = {f"trustreport.{name}" for name in ROOMS_OF_REPORTS}
LINE = re.compile(r"import time:\s+\d+ \|\s+\d+ \|\s*(\S+)")


def imported(module: str) -> set[str]:
    """The modules that importing one brings along."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", f"import {module}"],
        capture_output=True,
        text=True,
        check=True,
    )
    found = set(LINE.findall(done.stderr))
    assert module in found
    return found


@pytest.mark.parametrize(
    "module, without",
    [
        ("trustreport.api", HEAVY | NUMERIC),
        ("trustreport.commands.cli", HEAVY | NUMERIC),
        ("trustreport.assessment.assess", HEAVY),
        ("trustreport.report.write", HEAVY),
        ("trustreport.report.layout.processes", HEAVY | NUMERIC - {"babel"} | OF_REPORTS),
        ("trustreport.report.layout.figures", HEAVY | OF_REPORTS),
        ("trustreport.report.layout.pdf_layout", HEAVY | OF_REPORTS),
    ],
)
def test_only_what_is_used_is_imported(module: str, without: set[str]) -> None:
    assert not imported(module) & without


def test_the_api_starts_in_little_memory() -> None:
    code = "import trustreport.api; print(open('/proc/self/status').read())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", done.stdout)
    assert int(peak) < 70_000


def test_what_draws_takes_no_scipy_along() -> None:
    code = (
        "import importlib, pkgutil, sys, trustreport.figures as f\n"
        "for one in pkgutil.iter_modules(f.__path__): importlib.import_module(f'{f.__name__}.{one.name}')\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = set(done.stdout.split())
    assert "trustreport.figures.calibration" in found
    assert not found & HEAVY - {"matplotlib"}
    assert "scipy" not in found


def test_a_command_collects_seldom_and_what_goes_on_as_usual() -> None:
    code = (
        "import gc; usual = gc.get_threshold()\n"
        "from trustreport.commands.cli import main\n"
        "from trustreport.report.layout.pipes import collect_as_usual\n"
        "main(['packs'], standalone_mode=False); seldom = gc.get_threshold()\n"
        "collect_as_usual(); print(seldom[0] > 10 * usual[0], gc.get_threshold() == usual)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True True"
