"""False verdicts on drawn studies of known truth: a run of every class, the committed run, and its counts."""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

from tests.programs import loaded

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"
DRAWN_HERE, DRAWN_ONCE = 200, 5000


@pytest.fixture(scope="module")
def program() -> Iterator[ModuleType]:
    """benchmarks/false_verdicts.py, with its folder on the path as when it is run."""
    yield from loaded("false_verdicts")


def classes() -> list[str]:
    """The classes of design."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        from designs import CLASSES
    finally:
        sys.path.remove(str(BENCHMARKS))
    return list(CLASSES)


@pytest.mark.slow
def test_drawn_studies_pass_falsely_no_more_than_promised(program: ModuleType) -> None:
    names = classes()
    of_each = -(-DRAWN_HERE // len(names))
    # In this process: workers that another test has started do not know the folder of the program.
    tasks = program.work(program.SEED, of_each * len(names), names)
    rows = [row for task in tasks for row in program.verdicts_of(*task)]
    *each, together = program.summaries(rows)
    assert [(one.design, one.studies) for one in each] == [(name, of_each) for name in names]
    assert together.studies >= DRAWN_HERE
    assert [one for one in (*each, together) if not one.accepted] == []


def test_the_committed_run_keeps_the_promise(program: ModuleType) -> None:
    *each, together = program.summaries(program.read(program.RESULTS))
    assert [one.design for one in each] == classes()
    assert together.studies >= DRAWN_ONCE
    assert min(one.studies for one in each) >= DRAWN_ONCE // len(each)
    assert [one for one in (*each, together) if not one.accepted] == []
    assert program.table([*each, together]) in program.DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("design", ["arms, paired counts", "families"])
def test_a_row_of_the_committed_run_is_drawn_again_by_its_number(program: ModuleType, design: str) -> None:
    kept = [row for row in program.read(program.RESULTS) if row["design"] == design][:5]
    again = program.verdicts_of(str(BENCHMARKS), program.SEED, design, [int(row["study"]) for row in kept])
    assert [{name: str(cell) for name, cell in row.items()} for row in again] == kept


@pytest.mark.parametrize(
    ("words", "truths", "by", "units", "false"),
    [
        (["pass", "pass"], ["border", "border"], "criteria", 2, 2),
        (["pass", "inconclusive"], ["border", "border"], "criteria", 2, 1),
        (["pass", "pass"], ["good", "border"], "criteria", 1, 1),
        (["pass", "pass"], ["border", "border"], "any of the family", 1, 1),
        (["pass", "fail"], ["good", "border"], "any of the family", 1, 0),
        (["pass", "pass"], ["good", "border"], "all of the family", 1, 1),
        (["inconclusive", "pass"], ["good", "border"], "all of the family", 1, 0),
    ],
)
def test_a_family_counts_once(
    program: ModuleType, words: list[str], truths: list[str], by: str, units: int, false: int
) -> None:
    found = program.counted(dict(zip("ab", words, strict=True)), dict(zip("ab", truths, strict=True)), by)
    assert (found["units"], found["false_passes"], found["criteria"]) == (units, false, 2)
    assert found["false_fails"] == words.count("fail")


@pytest.mark.parametrize(
    ("counts", "accepted"),
    [
        ({"units": 200, "false_passes": 12}, True),  # up to 6 of 100 have probability .988, up to 5 .960
        ({"units": 200, "false_passes": 13}, False),
        ({"withheld": 100}, True),
        ({"withheld": 101}, False),
        ({"refused": 1}, False),
        ({"units": 0}, False),
    ],
)
def test_when_a_class_is_accepted(program: ModuleType, counts: dict[str, int], accepted: bool) -> None:
    nothing = dict.fromkeys(program.COUNTED, 0)
    rows = [{**nothing, "units": 200, "criteria": 200, **counts}, *[nothing] * 99]
    found = program.summary("d", rows)
    assert found.limit == 0.06
    assert found.accepted is accepted


def test_the_true_values_of_scores_are_those_of_very_many_cases(program: ModuleType) -> None:
    """Counted in two million cases; the area by SciPy's Mann-Whitney statistic."""
    from designs.of_scores import Risk

    risk, threshold = Risk(-1.0, 1.5, 0.3, 0.8), 0.4
    truth, score = risk.draw(np.random.default_rng(1), 2_000_000)
    true, called = risk.true(threshold), score >= threshold
    pairs = truth.sum() * (~truth).sum()
    found = {
        "auc": mannwhitneyu(score[truth], score[~truth], method="asymptotic").statistic / pairs,
        "brier": np.mean((score - truth) ** 2),
        "mcc": np.corrcoef(truth, called)[0, 1],
        "sensitivity": called[truth].mean(),
        "specificity": 1 - called[~truth].mean(),
        "ppv": truth[called].mean(),
        "npv": 1 - truth[~called].mean(),
        "oe_ratio": truth.sum() / score.sum(),
    }
    assert {name: true[name] for name in found} == pytest.approx(found, abs=0.004)


def test_the_true_values_of_readers_are_those_of_very_many(program: ModuleType) -> None:
    """500 readers of 3,000 cases, three of each patient; areas by SciPy's Mann-Whitney statistic."""
    from designs.of_readers import READINGS, Model

    rng = np.random.default_rng(2)
    model = Model((1.4, 1.7), (0.6, 0.9), READINGS, patient=0.3, arm_patient=0.1)
    truth, patient = rng.random(3000) < 0.4, np.repeat(np.arange(1000), 3)
    rating = model.ratings(truth, patient, 500, rng)
    for arm in range(2):
        called = rating[arm] >= model.thresholds[arm]
        areas = [
            mannwhitneyu(own[truth], own[~truth], method="asymptotic").statistic
            / truth.sum()
            / (~truth).sum()
            for own in rating[arm, ::10]
        ]
        found = {
            "sensitivity": called[:, truth].mean(),
            "specificity": 1 - called[:, ~truth].mean(),
            "accuracy": (called == truth).mean(),
            "auc": np.mean(areas),
        }
        true = {name: pair[arm] for name, pair in model.values(0.4).items()}
        assert true == pytest.approx(found, abs=0.03)
