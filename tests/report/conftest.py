"""Made-up assessments for the tests of the report."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from click.testing import CliRunner
from made_up import CJK, HOSTILE, LONG, RTL, assessment, manifest, part

from trustreport.assessment import Assessment
from trustreport.cli import main
from trustreport.plan import Plan

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The HTML report of an example by its name, built once for all tests of a process."""

    @cache
    def built(name: str) -> Path:
        out = tmp_path_factory.mktemp(name)
        asked = ["build", str(EXAMPLES / name), "-o", str(out), "--formats", "html,json"]
        result = CliRunner().invoke(main, asked)
        assert result.exit_code == 0, result.stderr
        return out / "report.html"

    return built


@pytest.fixture(scope="session")
def simple() -> Assessment:
    """One set, everything short."""
    return assessment((part("one", titled=False),), Plan.model_validate(manifest()))


@pytest.fixture(scope="session")
def several() -> Assessment:
    """Four sets, one with a name of 120 characters, twelve criteria."""
    names = ("Knee MRI", "Spine CT", LONG, "X" * 120)
    endpoints = [
        {
            "endpoint": f"Criterion {i} of many, spelled out at some length",
            "measure": "advice_accuracy.sensitivity",
            "bound_or_margin": -0.05,
        }
        for i in range(12)
    ]
    plan = Plan.model_validate(manifest(endpoints=endpoints))
    return assessment(tuple(part(name) for name in names), plan, names)


@pytest.fixture(scope="session")
def hostile() -> Assessment:
    """Hostile, right-to-left and Chinese text in every field that takes text."""
    names = (HOSTILE, RTL, CJK)
    plan = Plan.model_validate(manifest(f"{HOSTILE} {RTL} {CJK}"))
    return assessment(tuple(part(name) for name in names), plan, names)


@pytest.fixture(scope="session")
def empty() -> Assessment:
    """Nothing answered."""
    plan = Plan.model_validate({"report": {"kind": "vigilance"}, "device": {}})
    return replace(assessment((), plan), checks=(), flows=())
