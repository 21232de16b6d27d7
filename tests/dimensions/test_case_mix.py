"""Who the cases were and which were got wrong, counted by hand."""

import numpy as np
import pytest
from studies import plan

from trustreport.assessment.case_mix import case_mix, case_mixes, errors
from trustreport.assessment.performance.cases import of_dataset
from trustreport.study.study import Cases, Coded, Dataset, Labels, Readers, Readings, Scores, Study


def coded(values: list[str]) -> Coded:
    labels = sorted({v for v in values if v})
    return Coded(np.array([labels.index(v) if v else -1 for v in values], np.int32), Labels(tuple(labels)))


TRUTH = np.array([1, 1, 1, 0, 0, 0, 0, -1], np.int8)
SEX = coded(["f", "f", "m", "f", "m", "m", "", "f"])
CASES = Cases(Labels(n=8), TRUTH, groups={"sex": SEX})


def test_levels_and_truth_are_counted() -> None:
    mix = case_mix("set", "external", CASES)
    assert (mix.n, mix.positive, mix.negative, mix.without_truth) == (8, 3, 4, 1)
    (sex,) = mix.characteristics
    assert sex.levels == {"f": 4, "m": 3}
    assert sex.unknown == 1


def test_a_column_of_many_numbers_is_told_by_its_quartiles() -> None:
    ages = coded([f"{age:02d}" for age in range(20, 41)])
    mix = case_mix("set", "", Cases(Labels(n=21), np.zeros(21, np.int8), groups={"age": ages}))
    assert mix.characteristics[0].quartiles == (30.0, 25.0, 35.0)
    assert not mix.characteristics[0].levels


def test_a_column_of_many_words_is_left_out() -> None:
    words = coded([f"word {i}" for i in range(20)])
    assert not case_mix(
        "set", "", Cases(Labels(n=20), np.zeros(20, np.int8), groups={"x": words})
    ).characteristics


def test_misses_and_false_alarms_of_a_device() -> None:
    scores = Scores(decision=np.array([1, 0, 0, 0, 1, 0, 0, 1], np.int8))
    study = Study(datasets=(Dataset("set", "external", CASES, {"": scores}),))
    (one,) = errors(study, plan())
    assert (one.positives, one.missed, one.negatives, one.false_alarms) == (3, 2, 4, 1)
    assert one.by == (("sex", "f", 2, 1, 1, 0), ("sex", "m", 1, 1, 2, 1))
    assert case_mixes(study)[0].role == "external"


@pytest.mark.parametrize("rule, counts", [("wrong", (3, 2, 4, 2)), ("positive", (3, 1, 4, 2)),
                                          ("negative", (3, 2, 4, 1)), (None, (2, 1, 3, 1))])  # fmt: skip
def test_cases_without_an_output_count_by_the_declared_rule(
    rule: str | None, counts: tuple[int, int, int, int]
) -> None:
    # Found: a positive right, one missed; a negative alarmed, two right. No output: one of either class.
    scores = Scores(decision=np.array([1, 0, -1, 0, 1, 0, -1, 1], np.int8))
    dataset = Dataset("set", "external", CASES, {"": scores})
    declared = plan(operating_point={"indeterminate_as": rule}) if rule else plan()
    study = Study(datasets=(dataset,))
    (one,) = errors(study, declared)
    assert (one.positives, one.missed, one.negatives, one.false_alarms) == counts
    (case,) = of_dataset(dataset, study, declared)
    cells = case.counts
    assert cells is not None
    assert (cells.positives, cells.fn, cells.negatives, cells.fp) == counts


@pytest.mark.parametrize("arm, expected", [("unaided", (2, 1, 2, 0)), ("aided", (2, 0, 2, 1))])
def test_errors_of_readers_by_arm(arm: str, expected: tuple[int, int, int, int]) -> None:
    cases = Cases(Labels(n=2), np.array([1, 0], np.int8))
    index = np.array
    readings = Readings(
        "",
        ("unaided", "aided"),
        Readers(Labels(("a", "b"))),
        cases,
        arm=index([0, 0, 0, 0, 1, 1, 1, 1], np.int32),
        reader=index([0, 0, 1, 1, 0, 0, 1, 1], np.int32),
        case=index([0, 1, 0, 1, 0, 1, 0, 1], np.int32),
        decision=index([1, 0, 0, 0, 1, 1, 1, 0], np.int8),
    )
    found = {one.who: one for one in errors(Study(arms=("unaided", "aided"), readings=(readings,)), plan())}
    one = found[arm]
    assert (one.positives, one.missed, one.negatives, one.false_alarms) == expected
