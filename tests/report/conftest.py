"""Made-up assessments for the tests of the report."""

from collections.abc import Callable
from dataclasses import replace
from fcntl import LOCK_EX, flock
from functools import cache
from pathlib import Path

import pytest
from made_up import CJK, HOSTILE, LONG, RTL, assessment, manifest, part

from trustreport.api import Assessed, write_report
from trustreport.assessment.assess import Assessment
from trustreport.study.plan import Plan

FORMATS = ("html", "pdf", "annex", "json")


@pytest.fixture(scope="session")
def example(shared_by_processes: Path, assessed_example: Callable[[str], Assessed]) -> Callable[[str], Path]:
    """The folder of an example's report and annex by its name, built once for all processes of a run."""
    return cache(lambda name: built(shared_by_processes / f"built-{name}", assessed_example, FORMATS))


@pytest.fixture(scope="session")
def page_of(shared_by_processes: Path, assessed_example: Callable[[str], Assessed]) -> Callable[[str], Path]:
    """The HTML of an example by its name, built like `example`, without what takes long to lay out."""
    return cache(
        lambda name: built(shared_by_processes / f"html-{name}", assessed_example, ("html",)) / "report.html"
    )


def built(out: Path, assessed: Callable[[str], Assessed], formats: tuple[str, ...]) -> Path:
    with out.with_suffix(".lock").open("w") as lock:
        flock(lock, LOCK_EX)
        if not (out / "manifest.sha256").exists():  # written last
            written = write_report(assessed(out.name.partition("-")[2]), out, formats=formats)
            assert not written.failed
    return out


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
