"""Every primary entry of the examples and cases can be named by a criterion, which then means just it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest

from trustreport.api import Assessed
from trustreport.assessment.verdicts.entries import CHOSEN, entry
from trustreport.measures.protocols import PROTOCOLS
from trustreport.study.criteria import OF_READINGS, SAMPLE
from trustreport.study.plan import Endpoint, Protocol
from trustreport.vocabulary.results import Result

ROOT = Path(__file__).parents[2]
CONTRACT = ROOT / "tests" / "reference" / "contract"
CASES = ("breast", "confusion-counts", "counts", "h-accuracy", "reliance", "sequential", "utility-yield")
STUDIES = [
    *sorted(p.parent for p in ROOT.glob("examples/*/study.yaml")),
    *(CONTRACT / name for name in CASES),
]
# Keys of a scope that a criterion calls alike.
ALIKE = (
    *("dataset", "candidate", "set", "task", "site", "subgroup", "period", "threshold", "class", "protocol"),
    *("reader", "raters", "version", "advice_type", "population"),
)


def naming(r: Result) -> Endpoint:
    """A criterion on an entry, as someone would write it who looks at its scope in results.json."""
    scope, parameters = r.scope, dict(r.parameters)
    said: dict[str, Any] = {key: scope[key] for key in ALIKE if key in scope}
    if r.endpoint:
        said["of"] = r.endpoint
    for key in ("arms", "arm"):
        if key in scope:
            said.setdefault("arm_or_contrast", scope[key])
    if "candidates" in scope:
        said["candidate"] = scope["candidates"]
    for key in CHOSEN:
        if key in parameters and (key != "against" or parameters[key] in ("baseline", "previous")):
            said[key] = parameters.pop(key)
    if parameters:
        said["parameters"] = parameters
    if not any(key in scope for key in ("dataset", "period", "set", "sets", "datasets")):
        said["dataset"] = OF_READINGS
    if r.quantity.by_prevalence and "prevalence" not in r.parameters:
        said.setdefault("population", SAMPLE)
    return Endpoint(endpoint="one", measure=r.id, weights=False, apparent=True, **said)


@pytest.mark.parametrize("folder", STUDIES, ids=lambda path: path.name)
def test_each_primary_entry_answers_the_criterion_that_names_it(
    folder: Path, assessed_study: Callable[[Path], Assessed]
) -> None:
    found = assessed_study(folder)
    every = [r for finding in found.findings for r in finding.results]
    primary = [r for r in every if r.primary]
    assert primary
    # Against labels with a declared error a criterion means the corrected entry.
    corrected = {r.id.replace(".label_corrected_", ".") for r in primary if ".label_corrected_" in r.id}
    primary = [r for r in primary if r.id not in corrected or r.parameters]
    wrong = [(r.id, r.scope) for r in primary if entry(naming(r), found.study, found.plan, every) is not r]
    assert not wrong, f"{len(wrong)} of {len(primary)}: {wrong[:5]}"


def test_the_protocols_of_a_manifest_are_those_that_are_computed() -> None:
    assert set(get_args(Protocol)) == set(PROTOCOLS)
