"""False verdicts on drawn studies of known truth: a run of every class, the committed run, and its counts."""

import importlib.util
import sys
from collections.abc import Iterator
from math import sqrt
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"
DRAWN_HERE, DRAWN_ONCE = 300, 5000


@pytest.fixture(scope="module")
def program() -> Iterator[ModuleType]:
    """benchmarks/false_verdicts.py, with its folder on the path as when it is run."""
    sys.path.insert(0, str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("false_verdicts", BENCHMARKS / "false_verdicts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(BENCHMARKS))
    del sys.modules[spec.name]


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
    rows = []
    for folder, seed, design, numbers in program.work(
        program.SEED, -(-DRAWN_HERE // len(names)) * len(names), names
    ):
        rows += program.verdicts_of(folder, seed, design, numbers)
    *each, together = program.summaries(rows)
    assert [one.design for one in each] == names
    assert together.studies >= DRAWN_HERE
    assert [one for one in (*each, together) if not one.accepted] == []


def test_the_committed_run_keeps_the_promise(program: ModuleType) -> None:
    *each, together = program.summaries(program.read(program.RESULTS))
    assert [one.design for one in each] == classes()
    assert together.studies >= DRAWN_ONCE
    assert min(one.studies for one in each) >= DRAWN_ONCE // len(each)
    assert [one for one in (*each, together) if not one.accepted] == []
    assert program.table([*each, together]) in program.DOCS.read_text(encoding="utf-8")


@pytest.mark.parametrize("number", [0, 7])
def test_a_row_of_the_committed_run_is_drawn_again_by_its_number(program: ModuleType, number: int) -> None:
    for design in ("arms, paired counts", "families"):
        kept = [
            r for r in program.read(program.RESULTS) if (r["design"], r["study"]) == (design, str(number))
        ]
        assert kept
        assert program.verdicts_of(str(BENCHMARKS), program.SEED, design, [number]) == kept


def rows_of(
    *verdicts: str, counted: str = "criteria", truth: str = "border", study: int = 0
) -> list[dict[str, str]]:
    of = {
        "design": "d",
        "study": str(study),
        "counted": counted,
        "criterion": "c",
        "truth": truth,
        "checks": "",
    }
    return [{**of, "verdict": verdict} for verdict in verdicts]


def test_a_family_counts_once_and_a_co_primary_one_where_all_pass(program: ModuleType) -> None:
    some = [*rows_of("pass", "pass", counted="any of the family"), *rows_of("inconclusive", study=1)]
    found = program.summary("d", some)
    assert (found.studies, found.units, found.false_passes) == (2, 2, 1)
    met = rows_of("pass", counted="all of the family") + rows_of(
        "pass", counted="all of the family", truth="good"
    )
    assert program.units_of(met) == (1, 1)
    assert program.units_of([*met, *rows_of("inconclusive", counted="all of the family", truth="good")]) == (
        1,
        0,
    )
    assert program.units_of(rows_of("pass", truth="good")) == (0, 0)


@pytest.mark.parametrize(
    ("passes", "others", "more", "accepted"),
    [
        (5, 95, [], True),  # 2.5% and two errors of 100 studies are 5.6%
        (6, 94, [], False),
        (0, 40, ["not assessable"] * 41, False),
        (0, 40, ["not assessable"] * 40, True),
        (0, 99, ["refused"], False),
    ],
)
def test_when_a_class_is_accepted(
    program: ModuleType, passes: int, others: int, more: list[str], accepted: bool
) -> None:
    words = ["pass"] * passes + ["inconclusive"] * others + more
    found = program.summary("d", [row for i, word in enumerate(words) for row in rows_of(word, study=i)])
    assert found.limit == pytest.approx(0.025 + 2 * sqrt(0.025 * 0.975 / len(words)))
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
