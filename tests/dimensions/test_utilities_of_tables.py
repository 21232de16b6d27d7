"""Utilities of counts, of several classes and of other decisions: the paper's story, and hand counts."""

import json
from collections.abc import Sequence
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.english import english
from trustreport.api import assess, read_study
from trustreport.assessment.assess import Assessment
from trustreport.assessment.dimensions.advice_accuracy import answer
from trustreport.assessment.finding import Finding
from trustreport.measures.means import case_mean
from trustreport.measures.paired.difference import PairedTable, tango
from trustreport.measures.two_arm.difference import newcombe
from trustreport.measures.utility.ranking import independent_difference
from trustreport.report.answer.without_criteria import answer as without_criteria
from trustreport.vocabulary.errors import Problem, StudyError
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result, leading

EN = catalogue("en")
HEAD = "report: {kind: procurement}\ndevice: {trade_name: D}\n"
# Dyrland, Lundervold and Porta Mana, eqs 1, 2 and 4 to 6: of 100 components, class 1 the condition.
STORY = """
confusion:
  - {set: components, candidate: A, tp: 35, fp: 23, fn: 15, tn: 27}
  - {set: components, candidate: B, tp: 32, fp: 7, fn: 18, tn: 43}
utility:
  matrices:
    - {name: eq4, matrix: [[15, -335], [-35, 165]]}
    - {name: eq5, matrix: [[45, -335], [-65, 165]]}
    - {name: eq6, matrix: [[350, 0], [300, 500]]}
"""
JOINT = """
joint_decisions:
  - set: components
    candidates: [B, A]
    by_truth:
      - [[25, 18], [2, 5]]
      - [[10, 8], [5, 27]]
"""
THREE = """
confusion_tables:
  - set: nodules
    candidate: A
    classes: [absent, present]
    decisions: [dismiss, test, treat]
    table: [[60, 2], [30, 8], [10, 40]]
"""
TRIAGE = (
    "{name: triage, classes: [absent, present], decisions: [dismiss, test, treat], matrix: TABLE}".replace(
        "TABLE", "[[0, -10], [-0.3, -1], [-1, 2]]"
    )
)


def written(folder: Path, text: str, **files: str) -> Path:
    (folder / "study.yaml").write_text(HEAD + text)
    for name, rows in files.items():
        (folder / f"{name}.csv").write_text(rows)
    return folder


def found(folder: Path, text: str, **files: str) -> Finding:
    return answer(*read_study(written(folder, text, **files)))


def assessed(folder: Path, text: str) -> Assessment:
    return assess(*read_study(written(folder, text)))


def refused(folder: Path, text: str, **files: str) -> Sequence[Problem]:
    with pytest.raises(StudyError) as caught:
        read_study(written(folder, text, **files))
    return caught.value.problems


def lead(finding: Finding, name: str, **scope: Any) -> Result:
    r = leading(finding.results, f"advice_accuracy.{name}", **scope)
    assert r is not None, name
    return r


def sentences(finding: Finding) -> str:
    return " ".join(EN(m) for part in finding.parts for m in part.finding)


# ---------------------------------------------------------------- published counts


def test_the_story_as_counts(tmp_path: Path, reference: Path) -> None:
    seed = json.loads((reference / "seeds" / "seed002.json").read_text())
    finding = found(tmp_path, STORY)
    for name in ("eq4", "eq5", "eq6"):
        under = {"set": "components", "parameters": {"utility": name}}
        for candidate in "AB":
            r = lead(finding, "utility_yield", candidate=candidate, **under)
            assert r.estimate.value == pytest.approx(seed["utility"][name][candidate])
        apart = lead(finding, "utility_difference", candidates=["B", "A"], **under)
        assert apart.estimate.value == pytest.approx(seed["utility"][name]["B"] - seed["utility"][name]["A"])
        assert (apart.analysis, apart.method) == ("two_sample", "yield_mover_difference")
        tables = ([[43, 18], [7, 32]], [[27, 15], [23, 35]], seed["utility"][name]["U"])
        expected = independent_difference(*tables)
        assert (apart.estimate.low, apart.estimate.high) == pytest.approx((expected.low, expected.high))
    said = sentences(finding)
    assert "A has the highest utility yield" in said
    assert "On 8 common metrics, the candidate that ranks first is not" in said  # all of Table 1 but one
    assert "On one common metric, the candidate that ranks first is not" in said
    assert " the one with the highest utility: sensitivity" in said
    ids = {figure.id for part in finding.parts for figure in part.figures}
    assert "utility_space_1" in ids
    tables = {table.id for part in finding.parts for table in part.tables}
    assert {"utility_ranking_1", "utility_metrics_1", "candidates_compared"} <= tables


def test_the_utility_speaks_first_for_counts(tmp_path: Path) -> None:
    first, rest = without_criteria(assessed(tmp_path, STORY), EN)
    assert first[0].text.startswith("No difference in utility between B and A")
    assert "eq4" in first[0].text
    of = [one.text for one in rest if one.text.startswith("components, ")]
    assert [text[:13] for text in of] == ["components, A", "components, B"]


def test_a_joint_table_makes_the_difference_paired(tmp_path: Path) -> None:
    finding = found(tmp_path, STORY + JOINT)
    r = lead(finding, "utility_difference", candidates=["B", "A"], parameters={"utility": "eq4"})
    # By hand: of the cases on which they differ B gains or loses 50 without and 500 with the condition.
    gains = np.repeat([50.0, -50, -500, 500, 0], [18, 2, 8, 5, 67])
    mean = gains.mean()
    assert mean == pytest.approx(-7)
    assert (r.analysis, r.method) == ("paired", "case_mean_t")
    assert r.estimate.value == pytest.approx(mean)
    assert r.estimate.se == pytest.approx(sqrt(((gains - mean) ** 2).sum()) / 100)
    expected = case_mean(gains, tested=True)
    assert (r.estimate.low, r.estimate.high) == pytest.approx((expected.low, expected.high))
    assert (
        lead(finding, "utility_first", candidate="A", parameters={"utility": "eq4"}).method
        == "bootstrap_share"
    )


def test_a_joint_table_agrees_with_those_of_its_candidates(tmp_path: Path) -> None:
    wrong = refused(tmp_path, STORY + JOINT.replace("[25, 18]", "[24, 18]"))
    assert [p.column for p in wrong] == ["joint_decisions[0].by_truth"] * 2
    assert "expected its own table, decisions by class: [[27, 15], [23, 35]]" in " ".join(map(str, wrong))
    unknown = refused(tmp_path, STORY + JOINT.replace("[B, A]", "[B, C]"))
    assert unknown[0].column == "joint_decisions[0].candidates"


def test_one_table_for_each_candidate_of_a_set(tmp_path: Path) -> None:
    twice = STORY.replace("candidate: B", "candidate: A")
    assert "appears twice" in refused(tmp_path, twice)[0].found
    pooled = STORY + "pools: [{pool: all}]\n"
    assert "tables of several candidates" in " ".join(p.found for p in refused(tmp_path, pooled))
    rows = "set,candidate,tp,fp,fn,tn\ncomponents,A,35,23,15,27\ncomponents,B,32,7,18,43\n"
    matrix = "utility: {matrices: [{name: eq4, matrix: [[15, -335], [-35, 165]]}]}\n"
    finding = found(tmp_path, "tables: {confusion: {file: counts.csv}}\n" + matrix, counts=rows)
    assert lead(finding, "utility_difference", set="components").estimate.value == pytest.approx(-7)


def test_tables_of_other_cases_have_no_map_and_a_warning(tmp_path: Path) -> None:
    finding = found(tmp_path, STORY.replace("tn: 43", "tn: 50"))
    assert not any(f.id.startswith("utility_space") for part in finding.parts for f in part.figures)
    study, _ = read_study(tmp_path)
    assert "counts_of_other_cases" in dict(study.cautions)


def test_gaussian_errors_of_declared_utilities(tmp_path: Path) -> None:
    finding = found(tmp_path, STORY.replace("[-65, 165]]}", "[-65, 165]], sd: 10}"))
    r = lead(finding, "ranking_holds", parameters={"utility": "eq5"})
    # Normal with mean 2.6 and sd 10 sqrt(.16^2 + .03^2 + .16^2 + .03^2) = 2.302: positive in .8706.
    assert r.estimate.value == pytest.approx(0.8706, abs=0.015)
    for wrong in ("sd: -1", "sd: [[1, 2]]", "sd: 1, plus_minus: 1"):
        assert refused(tmp_path, STORY.replace("[-65, 165]]}", f"[-65, 165]], {wrong}}}"))


# ---------------------------------------------------------------- several classes, other decisions


def test_decisions_that_are_not_as_many_as_the_classes(tmp_path: Path) -> None:
    finding = found(tmp_path, THREE + f"utility: {{matrices: [{TRIAGE}]}}\n")
    r = lead(finding, "utility_yield", set="nodules", candidate="A")
    assert r.estimate.value == pytest.approx((30 * -0.3 - 10 - 2 * 10 - 8 + 40 * 2) / 150)
    assert r.estimate.low < r.estimate.value < r.estimate.high
    assert 'under the utility “triage”, a case yields' in sentences(finding)
    # Columns and rows in another order are the same utility.
    turned = "{name: t, classes: [present, absent], decisions: [treat, test, dismiss], matrix: TABLE}"
    turned = turned.replace("TABLE", "[[2, -1], [-1, -0.3], [-10, 0]]")
    other = found(tmp_path, THREE + f"utility: {{matrices: [{turned}]}}\n")
    assert lead(other, "utility_yield").estimate.value == pytest.approx(r.estimate.value)


def test_a_table_of_three_classes_by_hand(tmp_path: Path) -> None:
    text = """
confusion_tables:
  - {set: grades, classes: [low, mid, high], table: [[30, 4, 0], [6, 25, 5], [1, 3, 26]]}
utility:
  matrices: [{name: steps, classes: [low, mid, high], matrix: [[0, -2, -9], [-1, 1, -3], [-2, 0, 4]]}]
"""
    finding = found(tmp_path, text)
    by_hand = (4 * -2 + 6 * -1 + 25 - 15 - 2 + 26 * 4) / 100
    assert lead(finding, "utility_yield").estimate.value == pytest.approx(by_hand)
    assert lead(finding, "class_accuracy").estimate.value == pytest.approx(0.81)
    assert leading(finding.results, "advice_accuracy.class_auc") is None


SCORES = """case,truth,candidate,p_low,p_mid,p_high
1,low,A,0.7,0.2,0.1
2,mid,A,0.2,0.5,0.3
3,high,A,0.1,0.5,0.4
4,high,A,,,
1,low,B,0.4,0.5,0.1
2,mid,B,0.3,0.6,0.1
3,high,B,0.1,0.1,0.8
4,high,B,0.1,0.3,0.6
"""
CLASSES = """
datasets:
  - {dataset: own, role: local, file: s.csv, columns: {class_scores: [p_low, p_mid, p_high]}}
utility:
  matrices:
    - {name: steps, classes: [low, mid, high], matrix: [[0, -2, -9], [-1, 1, -3], [-2, 0, 4]]}
    - {name: care, classes: [low, mid, high], decisions: [home, ward], matrix: [[1, -2, -9], [-1, 1, 3]]}
"""


def test_scores_of_three_classes_by_hand(tmp_path: Path) -> None:
    finding = found(tmp_path, CLASSES, s=SCORES)
    steps, care = ({"parameters": {"utility": name}} for name in ("steps", "care"))
    # A calls low, mid, mid; without output it is worth the least of its class, -9.
    assert lead(finding, "utility_yield", candidate="A", **steps).estimate.value == pytest.approx(
        (0 + 1 - 3 - 9) / 4
    )
    assert lead(finding, "utility_yield", candidate="B", **steps).estimate.value == pytest.approx(
        (-1 + 1 + 4 + 4) / 4
    )
    apart = lead(finding, "utility_difference", candidates=["B", "A"], **steps)
    assert apart.estimate.value == pytest.approx((-1 + 0 + 7 + 13) / 4)
    # Home is worth .7 - .4 - .9 to the first case of A, the ward -.7 + .2 + .3: to the ward, as all others.
    ward = lead(finding, "utility_yield", candidate="A", **care)
    assert ward.estimate.value == pytest.approx((-1 + 1 + 3 - 9) / 4)
    assert "greatest expected utility" in english(ward.estimate.note)


def test_two_classes_with_a_third_decision(tmp_path: Path) -> None:
    text = f"""
datasets: [{{dataset: own, role: local, file: s.csv}}]
utility: {{matrices: [{TRIAGE}]}}
"""
    rows = "case,truth,score\n1,0,0.02\n2,0,0.15\n3,1,0.9\n4,1,0.01\n"
    r = lead(found(tmp_path, text, s=rows), "utility_yield", dataset="own")
    assert r.estimate.value == pytest.approx((0 - 0.3 + 2 - 10) / 4)


# ---------------------------------------------------------------- nothing is dropped in silence


@pytest.mark.parametrize(("utility", "column", "words"), [
    ("{name: u, matrix: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}", "classes", "3 columns without names"),
    ("{name: u, classes: [low, midd, high], matrix: [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}", "classes",
     'Did you mean "mid"?'),
    ("{name: u, classes: [low, mid], decisions: [a, b, c], matrix: [[1, 0], [0, 1], [0, 0]]}", "classes",
     "expected classes of the data"),
    ("{name: u, matrix: [[1, 0, 0], [0, 1, 0]]}", "", "decisions: a name for each of 2 rows"),
    ("{name: u, matrix: [[1, 0], [0, 1, 0]]}", "", "all of one length"),
    ("{name: u, classes: [a, a], matrix: [[1, 0], [0, 1]]}", "", "classes: a name of its own"),
])  # fmt: skip
def test_a_utility_that_fits_no_data_is_refused_by_name(
    tmp_path: Path, utility: str, column: str, words: str
) -> None:
    text = CLASSES[: CLASSES.index("utility:")] + f"utility: {{matrices: [{utility}]}}\n"
    problems = refused(tmp_path, text, s=SCORES)
    assert len(problems) == 1
    assert words in str(problems[0])
    assert problems[0].column.startswith("utility.matrices[0]")
    assert problems[0].column.endswith(column)


def test_other_decisions_need_probabilities(tmp_path: Path) -> None:
    rows = SCORES.replace("0.7,0.2,0.1", "7,2,1")
    problems = refused(tmp_path, CLASSES, s=rows)
    assert [p.column for p in problems] == ["utility.matrices[1].decisions"]
    assert "scores that are probabilities" in problems[0].expected


def test_utilities_that_enter_nothing_are_named(tmp_path: Path) -> None:
    two = "    - {name: twos, matrix: [[0, -1], [-1, 0]], probability: 0.5}\n"
    other = "    - {name: more, matrix: [[0, -2], [-1, 0]], probability: 0.4}\n"
    written(tmp_path, CLASSES + two + other, s=SCORES)
    said = read_study(tmp_path)[0].cautions
    assert [values["name"] for key, values in said if key == "utility_unused"] == ["twos", "more"]
    assert dict(said)["utility_probabilities"]["names"] == ["twos", "more"]
    rows = "case,truth,score,utility_00,utility_11\n1,0,0.2,1,1\n2,1,0.7,1,1\n"
    written(tmp_path, "datasets: [{dataset: own, role: local, file: s.csv}]\n", s=rows)
    assert "case_utilities_incomplete" in dict(read_study(tmp_path)[0].cautions)
    assert "twos" in EN("cautions.utility_unused", name="twos")


def test_candidates_of_counts_stand_side_by_side(tmp_path: Path) -> None:
    def differences(text: str) -> list[Result]:
        results = assessed(tmp_path, text).results
        return [r for r in results if r.id == "candidates.sensitivity_difference"]

    (apart,) = differences(STORY)
    expected = newcombe(32, 50, 35, 50)
    assert apart.place.candidates == ("B", "A")
    assert (apart.estimate.low, apart.estimate.high) == pytest.approx((expected.low, expected.high))
    # Of 50 with the condition 5 are found by B alone and 8 by A alone.
    (together,) = differences(STORY + JOINT)
    expected = tango(PairedTable(27, 5, 8, 10))
    assert (together.analysis, together.estimate.value) == ("paired", pytest.approx(-0.06))
    assert (together.estimate.low, together.estimate.high) == pytest.approx((expected.low, expected.high))


def test_the_same_yield_has_the_same_digits_everywhere(tmp_path: Path) -> None:
    assessment = assessed(tmp_path, STORY)
    found = next(f for f in assessment.findings if f.dimension == "advice_accuracy")
    said = sentences(found)
    assert "A has the highest utility yield, 4 per case" in said  # 3.5, and not 3.4999999999999982


def test_names_of_candidates_of_counts_are_known(tmp_path: Path) -> None:
    typed = "candidates: [{candidate: A}, {candidate: Bb}]\n"
    assert [p.column for p in refused(tmp_path, STORY + typed)] == ["candidates"]
    criterion = """
endpoints:
  - {endpoint: finds, role: primary, measure: candidates.sensitivity, candidate: A, bound_or_margin: 0.5,
     hypothesis: performance goal}
"""
    verdict = assessed(tmp_path, STORY + criterion).verdicts[0]
    assert verdict.result is not None
    assert verdict.result.place.candidate == "A"
