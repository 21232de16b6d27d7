"""Of tables in eight languages and many forms `init` makes a manifest with the right number."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings

from tests.drawn_exports import Export, exports
from trustreport.api import read_study
from trustreport.study.plan import Plan
from trustreport.study.proposal import propose, write_proposal
from trustreport.study.study import Study

DECIDES = ("columns:", "values:", "arms:", "unpivot:")


def proposed(export: Export, folder: Path) -> tuple[str, Study, Plan]:
    """The manifest, and the study that is read with it."""
    files = export.write(folder)
    made = propose(files, "certification")
    write_proposal(files, folder / "study.yaml", "certification", None, made)
    return (folder / "study.yaml").read_text(encoding="utf-8"), *read_study(folder)


def main_number(study: Study, plan: Plan, shape: str) -> float:
    """The change in accuracy of readers, the area of scores or the sensitivity of decisions; NaN without."""
    if shape in ("scores", "calls"):
        (one,) = study.datasets
        (found,) = one.scores.values()
        truth, called = one.cases.truth, found.score if shape == "scores" else found.decision
        if called is None:
            return np.nan
        high, low = (called[truth == k].astype(float)[:, None] for k in (1, 0))
        ahead = (high > low.T) + (high == low.T) / 2
        return float(ahead.mean() if shape == "scores" else high.mean())
    (read,) = study.readings
    if read.decision is None or len(read.arms) < 2:
        return np.nan
    right = read.decision == read.cases.truth[read.case]
    aided = {a.arm: a.aided for a in plan.arms} or {"unaided": False, "aided": True}
    mean = {aided[name]: right[read.arm == i].mean() for i, name in enumerate(read.arms)}
    return float(mean[True] - mean[False])


@settings(max_examples=60)
@given(exports())
def test_a_drawn_table_is_read_and_gives_its_number(export: Export) -> None:
    with TemporaryDirectory() as folder:
        manifest, study, plan = proposed(export, Path(folder))
    assert not {key for key, _ in study.cautions} & {"answers_nothing", "no_truth"}, manifest
    marked = [line for line in manifest.splitlines() if "# UNCERTAIN" in line]
    if not any(key in line for line in marked for key in DECIDES):
        assert main_number(study, plan, export.shape) == pytest.approx(export.number), manifest
