"""Advice accuracy: rules that always say the same, curves and charts where they belong, turned scores."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.studies import plan
from trustreport.assessment.dimensions.advice_accuracy import DIMENSION
from trustreport.assessment.dimensions.advice_accuracy.results import SCENARIO_MEASURES
from trustreport.assessment.finding import Finding
from trustreport.figures.style import label
from trustreport.study.plan import Confusion, Plan
from trustreport.study.study import Cases, Dataset, Labels, Readers, Readings, Scores, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import leading

EN = catalogue("en")
RNG = np.random.default_rng(4)
TRUTH = (RNG.random(120) < 0.4).astype(np.int8)
SCORE = 1 / (1 + np.exp(-RNG.normal(1.6 * TRUTH - 0.8, 1)))


def dataset(name: str = "here", **scores: Any) -> Dataset:
    return Dataset(name, "external", Cases(Labels(n=len(TRUTH)), TRUTH), scores or {"": Scores(SCORE)})


def confusion(*cells: tuple[int, int, int, int]) -> Study:
    sets = (Confusion(set=f"set {i}", tp=a, fp=b, fn=c, tn=d) for i, (a, b, c, d) in enumerate(cells))
    return Study(confusion=tuple(sets))


def answer(study: Study, declared: Plan | None = None) -> Finding:
    assert DIMENSION.answer is not None
    return DIMENSION.answer(study, declared or plan())


def value(finding: Finding, name: str, **scope: Any) -> float:
    found = leading(finding.results, f"advice_accuracy.{name}", **scope)
    assert found is not None
    return found.estimate.value


def figure_ids(finding: Finding) -> list[str]:
    return [figure.id for part in finding.parts for figure in part.figures]


# Hicks et al. (2022), Sci. Rep. 12, 5979, Table 2, study 4, biased to the positive and to the negative class;
# the negatives of its combined row are those two rows' and 251 more.
def test_rules_that_always_say_the_same_as_published() -> None:
    finding = answer(confusion((5663, 1004, 337, 20691)))
    positive = {"parameters": {"scenario": "all_positive"}, "set": "set 0"}
    negative = {"parameters": {"scenario": "all_negative"}, "set": "set 0"}
    for name, shown in (("accuracy", 0.22), ("ppv", 0.22), ("f1", 0.36), ("threat_score", 0.22)):
        assert round(value(finding, name, **positive), 2) == shown
    for name, shown in (("accuracy", 0.78), ("npv", 0.78), ("f1", 0.0), ("threat_score", 0.0)):
        assert round(value(finding, name, **negative), 2) == shown
    for name, scope in (("mcc", positive), ("npv", positive), ("ppv", negative)):
        found = leading(finding.results, f"advice_accuracy.{name}", **scope)
        assert found is not None
        assert np.isnan(found.estimate.value)
        assert found.estimate.note
    table = next(t for part in finding.parts for t in part.tables if t.id == "advice_accuracy_rules_1")
    assert [EN(row[0]) for row in table.rows] == [
        "The device",
        "Every case called positive",
        "Every case called negative",
    ]


@pytest.mark.parametrize("cells", [(10, 20, 0, 0), (0, 0, 10, 20), (0, 0, 0, 0)])
def test_no_rule_stands_beside_decisions_that_are_all_alike(cells: tuple[int, int, int, int]) -> None:
    finding = answer(confusion(cells))
    assert not any("scenario" in r.scope.get("parameters", {}) for r in finding.results)
    assert not any(t.id.startswith("advice_accuracy_rules") for part in finding.parts for t in part.tables)


def test_every_rule_has_every_measure_once() -> None:
    finding = answer(confusion((5, 4, 3, 2), (9, 8, 7, 6)))
    found = [
        (r.scope["set"], r.scope["parameters"]["scenario"], r.id)
        for r in finding.results
        if "scenario" in r.scope.get("parameters", {})
    ]
    assert len(found) == len(set(found)) == 2 * 2 * len(SCENARIO_MEASURES)


def test_one_data_set_has_its_curves_beside_its_numbers() -> None:
    finding = answer(Study(datasets=(dataset(),)), plan(utility={"thresholds": [0.2, 0.4]}))
    assert figure_ids(finding) == ["roc_1", "decision_curve_1"]
    assert [t.id for t in finding.parts[1].tables] == ["decision_table_1"]
    assert len(finding.parts) == 2
    roc, decisions = (figure.drawing for figure in finding.parts[0].figures)
    assert len(roc.panels) == 1
    declared = decisions.panels[0].lines[0].marked
    for point in declared:
        scope = {"threshold": point.x, "parameters": None}
        assert point.y == pytest.approx(value(finding, "net_benefit", **scope))
    assert [p.x for p in declared] == [0.2, 0.4]
    assert value(finding, "net_benefit", threshold=0.2, parameters={"strategy": "treat_none"}) == 0
    share = TRUTH.mean()
    everybody = value(finding, "net_benefit", threshold=0.2, parameters={"strategy": "treat_all"})
    assert everybody == pytest.approx(share - 0.25 * (1 - share))


def test_candidates_share_the_curves_of_their_data_set() -> None:
    noisy = np.clip(SCORE + RNG.normal(0, 0.3, len(SCORE)), 0, 1)
    finding = answer(Study(datasets=(dataset(a=Scores(SCORE), b=Scores(noisy)),)))
    assert figure_ids(finding) == ["advice_accuracy_measures_1", "roc_1", "decision_curve_1"]
    panel = finding.parts[0].figures[1].drawing.panels[0]
    assert [line.label for line in panel.lines] == ["a", "b"]


def test_training_sets_come_last_among_the_curves() -> None:
    fitted = replace(dataset("fitted"), role="training")
    finding = answer(Study(datasets=(fitted, dataset("elsewhere"))))
    roc = next(f.drawing for f in finding.parts[0].figures if f.id == "roc_1")
    assert [label(EN, panel.label) for panel in roc.panels] == ["elsewhere", "fitted (training data)"]


def test_many_sets_have_a_chart_and_scores_that_are_no_risks_no_decision_curve() -> None:
    sets = tuple(
        dataset(f"site {i}", **{"": Scores(10 * SCORE[::-1] if i else 10 * SCORE)}) for i in range(6)
    )
    finding = answer(Study(datasets=sets), plan(operating_point={"threshold": 5}))
    assert figure_ids(finding) == ["advice_accuracy_measures_1", "roc_1", "coverage_1"]
    assert len(finding.parts) == 2
    said = [EN(sentence) for sentence in finding.parts[0].finding]
    assert said[0].startswith("Sensitivity ranged from")
    assert said[0].endswith(" across 6 data sets.")
    assert said[1].endswith(" across 6 data sets.")


def test_a_range_over_candidates_of_one_data_set_counts_candidates() -> None:
    said = said_of(dataset("local", a=Scores(SCORE), b=Scores(SCORE[::-1])))
    assert "across 2 candidates." in said
    assert "data sets" not in said


def test_candidates_that_are_alike_have_no_range() -> None:
    assert "ranged from" not in said_of(dataset("local", a=Scores(SCORE), b=Scores(SCORE)))


def test_both_ends_of_a_range_have_the_same_decimals() -> None:
    many = Cases(Labels(n=1200), np.tile(TRUTH, 10))
    large = Dataset("large", "external", many, {"": Scores(np.tile(SCORE, 10))})
    said = said_of(large, dataset("small", **{"": Scores(np.where(TRUTH > 0, SCORE, SCORE / 2))}))
    low, high = re.findall(r"AUC\) ranged from (\S+) to (\S+) across", said)[0]
    assert len(low) == len(high) == len("0.123")


def said_of(*sets: Dataset) -> str:
    finding = answer(Study(datasets=sets), plan(operating_point={"threshold": 0.5}))
    return " ".join(EN(sentence) for part in finding.parts for sentence in part.finding)


def test_many_tables_have_no_chart() -> None:
    many = answer(confusion(*[(5, 4, 3, 2)] * 60))
    assert figure_ids(many) == []


def test_a_set_of_one_class_has_no_curve() -> None:
    alone = Dataset(
        "a", "external", Cases(Labels(n=3), np.ones(3, np.int8)), {"": Scores(np.array([0.2] * 3))}
    )
    assert figure_ids(answer(Study(datasets=(alone,)))) == []


def test_a_score_that_falls_with_suspicion_is_turned() -> None:
    declared = {"operating_point": {"threshold": 0.5}}
    usual = answer(Study(datasets=(dataset(),)), plan(**declared))
    declared["operating_point"]["score_direction"] = "lower_is_positive"
    turned = answer(Study(datasets=(dataset(**{"": Scores(1 - SCORE)}),)), plan(**declared))
    for name in ("auc", "sensitivity", "specificity", "average_precision"):
        assert value(turned, name) == pytest.approx(value(usual, name))
    assert figure_ids(turned) == ["roc_1", "coverage_1"]


def test_readers_stand_on_the_curve_of_the_set_that_goes_by_the_name_of_their_task() -> None:
    decision = np.array([1, 0, 1, 1], np.int8)
    table = Readings(
        "here",
        ("unaided", "aided"),
        Readers(Labels(n=1)),
        Cases(Labels(n=2), np.array([1, 0], np.int8)),
        np.array([0, 0, 1, 1], np.int32),
        np.zeros(4, np.int32),
        np.array([0, 1, 0, 1], np.int32),
        decision,
    )
    study = Study(arms=("unaided", "aided"), readings=(table,), datasets=(dataset(), dataset("elsewhere")))
    roc = next(f for part in answer(study).parts for f in part.figures if f.id == "roc_1")
    here, elsewhere = roc.drawing.panels
    assert [(r.aided, r.sensitivity.value, r.specificity.value) for r in here.readers] == [
        (False, 1.0, 1.0),
        (True, 1.0, 0.0),
    ]
    assert elsewhere.readers == ()


def test_every_caption_and_alt_text_can_be_said() -> None:
    for study in (
        Study(datasets=(dataset(),)),
        Study(datasets=(dataset(), dataset("there"))),
        confusion((5, 4, 3, 2), (9, 8, 7, 6)),
        Study(datasets=tuple(dataset(f"s{i}") for i in range(14))),
    ):
        finding = answer(study)
        for part in finding.parts:
            for figure in part.figures:
                assert EN(figure.caption)
                assert EN(figure.alt)
                assert figure.drawing.values(EN)


@pytest.mark.parametrize(
    "printed, said",
    [
        ({"sensitivity": "0.80"}, "The declared figure of the advice alone agrees with the one recomputed."),
        (
            {"sensitivity": "0.85", "specificity": "0.75"},
            "could not be reproduced: sensitivity 0.85 (recomputed 0.800).",
        ),
        (
            {"sensitivity": "0.1", "specificity": "0.1", "accuracy": "0.1", "ppv": "0.1"},
            "Of 4 declared figures of the advice alone, four could not be reproduced.",
        ),
    ],
)
def test_declared_figures_that_differ_are_named_where_they_are_few(
    printed: dict[str, str], said: str
) -> None:
    claims = [{"measure": name, "value": value, "set": "set 0"} for name, value in printed.items()]
    finding = answer(confusion((40, 15, 10, 45)), plan(performance_claims=claims))
    assert said in " ".join(EN(sentence) for part in finding.parts for sentence in part.finding)
