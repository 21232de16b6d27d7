"""The review of candidates: grid, one table, questions answered, conditions; by hand on the example."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from studies import plan

from trustreport.api import assess
from trustreport.assessment.assess import Assessment
from trustreport.assessment.dimensions.candidates.results import leading_measure, measures
from trustreport.report.answer.by_criteria import conclusion
from trustreport.report.answer.review import Review, compared
from trustreport.report.contents import ELEMENTS
from trustreport.report.elements.element import Context, Element
from trustreport.report.numbering import Numbering
from trustreport.study.plan import Question, SiteContext
from trustreport.study.study import Cases, Dataset, Labels, Scores, Study
from trustreport.vocabulary.messages import catalogue

SAY = catalogue()
N, POSITIVES = 100, 40
FIXED = {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"}


@pytest.fixture(scope="module")
def triage(assessed_example: Callable[[str], Assessment]) -> Assessment:
    return assessed_example("procurement-triage")


@pytest.fixture(scope="module")
def factory(assessed_example: Callable[[str], Assessment]) -> Assessment:
    return assessed_example("factory")


def element(name: str, assessment: Assessment) -> Element | None:
    return ELEMENTS[name](Context(assessment, {}, SAY, Numbering("1", {}, SAY), True, {}))


def rows(one: Element | None, table: int = 0) -> list[list[str]]:
    """The texts of a table, what stands below in brackets after each."""
    assert one is not None
    lines = one.tables[table].table.lines
    return [[f"{c.text} ({c.aside})" if c.aside else c.text for c in line.cells] for line in lines]


def two(**groups: Any) -> Assessment:
    """Candidates A (35 of 40 found, 6 of 60 false alarms) and B (30 and 3) on the same cases."""
    truth = (np.arange(N) < POSITIVES).astype(np.int8)
    runs = {}
    for name, hits, alarms in (("A", 35, 6), ("B", 30, 3)):
        decision = np.zeros(N, np.int8)
        decision[:hits] = decision[POSITIVES : POSITIVES + alarms] = 1
        runs[name] = Scores(0.2 + 0.6 * decision, decision)
    study = Study(datasets=(Dataset("here", "local", Cases(Labels(n=N), truth), runs),))
    return assess(study, plan(**{"report": {"kind": "procurement"}, "study": FIXED, **groups}))


# ---------------------------------------------------------------- who meets what


def test_the_grid_has_a_row_for_each_requirement(triage: Assessment) -> None:
    grid = element("grid", triage)
    assert rows(grid) == [
        ["All requirements", "met", "inconclusive", "not met"],
        [
            "Sensitivity (required: above 80%, primary)",
            "met (92.2% (85.9% to 95.9%))",
            "inconclusive (87.1% (79.8% to 92.0%))",
            "not met (69.8% (60.9% to 77.4%))",
        ],
        [
            "Specificity (required: above 75%, primary)",
            "met (81.3% (77.7% to 84.4%))",
            "met (82.8% (79.4% to 85.8%))",
            "met (84.2% (80.8% to 87.0%))",
        ],
        [
            (
                "Difference in sensitivity, compared with Alder "
                "(required: above \N{MINUS SIGN}5 points, secondary)"
            ),
            "not required",
            "inconclusive (\N{MINUS SIGN}5.2 (\N{MINUS SIGN}11.6 to +0.2) points)",
            "not required",
        ],
    ]
    assert grid is not None
    first, *_ = grid.tables[0].table.lines
    assert [cell.mark for cell in first.cells] == ["", "pass", "inconclusive", "fail"]


def test_the_conclusion_names_who_meets_all_and_what_the_others_lack(triage: Assessment) -> None:
    assert [one.text for one in conclusion(triage, SAY)] == [
        "Only Alder meets both requirements.",
        "For Birch, the result is inconclusive on sensitivity (87.1%, 79.8% to 92.0%; required: above 80%).",
        "Cedar fails on sensitivity: it misses 35 of 116.",
    ]
    grid = element("grid", triage)
    assert grid is not None
    assert list(grid.finding) == [one.text for one in conclusion(triage, SAY)]


@pytest.mark.parametrize(
    "bound, said",
    [
        (0.5, "A and B meet their requirement."),
        (0.95, "Neither candidate meets all its requirements."),
    ],
)
def test_all_or_none_may_meet_it(bound: float, said: str) -> None:
    goals = [
        {
            "endpoint": f"{name} finds",
            "candidate": name,
            "role": "primary",
            "measure": "candidates.sensitivity",
            "hypothesis": "performance goal",
            "bound_or_margin": bound,
        }
        for name in "AB"
    ]
    assert conclusion(two(endpoints=goals), SAY)[0].text == said


def test_without_criteria_there_is_no_grid_and_no_list_of_conditions(factory: Assessment) -> None:
    assert element("grid", factory) is None
    assert element("conditions", factory) is None


def test_a_certification_of_one_device_has_none_of_it(
    assessed_example: Callable[[str], Assessment],
) -> None:
    one = assessed_example("knee-mri")
    assert [element(name, one) for name in ("grid", "candidate_table", "questions", "conditions")] == [
        None
    ] * 4


# ---------------------------------------------------------------- one table


def test_one_table_has_a_column_a_candidate_and_counts_by_hand(triage: Assessment) -> None:
    table = element("candidate_table", triage)
    found = {label: cells for label, *cells in rows(table)}
    assert next(iter(found)) == "Sensitivity"
    assert found["Sensitivity"][0] == "92.2% (85.9% to 95.9%)"
    # 9, 15 and 35 of 116 missed at 16%: 12.4, 20.7 and 48.3 of 1,000
    missed = found["Missed per 1,000"]
    assert [cell.split(" (")[0] for cell in missed] == ["12", "21", "48"]
    assert [round(160 * n / 116) for n in (9, 15, 35)] == [12, 21, 48]
    # Alder: sensitivity 107/116 and specificity 426/524, at 16%
    ppv = 0.16 * 107 / 116 / (0.16 * 107 / 116 + 0.84 * 98 / 524)
    assert found["Positive predictive value, at a prevalence of 16%"][0].startswith(f"{100 * ppv:.1f}%")
    assert "Accuracy" not in found
    assert table is not None
    assert "all numbers of patients are standardised to 16%" in table.tables[0].table.caption
    assert [line.leads for line in table.tables[0].table.lines].index(True) == 0


def test_a_number_has_the_same_digits_in_sentence_and_table(triage: Assessment) -> None:
    (finding,) = (f for f in triage.findings if f.dimension == "candidates")
    said = " ".join(SAY(text) for part in finding.parts for text in part.finding)
    assert "about 12 of 1,000 patients have the condition and get no alarm (7 to 23;" in said
    assert "Alder misses 12 (7 to 23)" in " ".join(compared(Review(triage, SAY), "Harbour"))


def test_the_weakest_group_of_each_candidate_is_named_shown_or_not(triage: Assessment) -> None:
    # Alder misses 2 of 72 on fixed and 7 of 44 on portable units: 13.1 points
    assert round(100 * (7 / 44 - 2 / 72), 1) == 13.1
    said = [text for text in compared(Review(triage, SAY), "Harbour") if "unit “portable”" in text]
    assert said == [
        (
            "Alder: the sensitivity is 13.1 points lower for unit “portable” than for the other cases "
            "(unadjusted 95% CI 3.2 to 27.0); no group is further below."
        ),
        (
            "Birch: sensitivity is lowest for unit “portable”, 8.5 points lower than for the other cases "
            "(unadjusted 95% CI \N{MINUS SIGN}4.1 to 23.4), which may be chance."
        ),
        (
            "Cedar: sensitivity is lowest for unit “portable”, 6.3 points lower than for the other cases "
            "(unadjusted 95% CI \N{MINUS SIGN}10.6 to 24.0), which may be chance."
        ),
    ]


def test_a_utility_speaks_before_accuracy(factory: Assessment) -> None:
    first, *_ = compared(Review(factory, SAY), "components")
    assert first == (
        'Under the utility “first prices (euros)”, B is worth 7.0 less per case than A (95% CI 2.4 to 11.6).'
    )
    table = element("candidate_table", factory)
    assert table is not None
    leading = [line.cells[0].text for line in table.tables[0].table.lines if line.leads]
    assert leading == ["Utility per case: first prices (euros)"]
    (finding,) = (f for f in factory.findings if f.dimension == "candidates")
    assert not [
        row for part in finding.parts for t in part.tables for row in t.rows if getattr(row, "leads", 0)
    ]


def test_the_primary_measure_of_the_criteria_leads() -> None:
    goal = {"endpoint": "spares", "role": "primary", "measure": "candidates.specificity"}
    assert leading_measure(plan(endpoints=[goal])) == "specificity"
    assert measures(plan(endpoints=[goal]))[:2] == ("specificity", "sensitivity")
    of_pairs = {**goal, "measure": "candidates.accuracy_difference"}
    assert leading_measure(plan(endpoints=[of_pairs])) == "accuracy"
    assert leading_measure(plan()) == "sensitivity"
    assert measures(plan())[-1] == "accuracy"


@pytest.mark.parametrize("rule, said", [("wrong", "as an error"), ("positive", "as called positive")])
def test_how_failures_are_analysed_is_said_as_declared(rule: str, said: str) -> None:
    table = element("candidate_table", two(operating_point={"indeterminate_as": rule}))
    assert table is not None
    assert f"A case without an output is analysed {said}" in table.tables[0].table.caption


# ---------------------------------------------------------------- the committee's questions


def answers(questions: list[Any], **groups: Any) -> list[str]:
    one = two(site_context={"committee_questions": questions, "local_prevalence": 0.1}, **groups)
    return [answer for _, answer in rows(element("questions", one))]


def test_the_questions_of_the_example_are_answered(triage: Assessment) -> None:
    one = element("questions", triage)
    assert one is not None
    claim, which, more, portable, readers = (answer for _, answer in rows(one))
    assert "Cedar: 69.8% (60.9% to 77.4%); the whole interval is below the claimed 95%." in claim
    assert which.startswith("Only Alder meets both requirements.")
    assert "The sensitivity of Cedar is 22.4 points lower than that of Alder (95% CI 14.5 to 31.3)." in which
    assert "The difference in sensitivity, Birch minus Alder, is −" in which
    assert more.startswith("False alarms per 1,000 local patients: Alder 144 (119 to 173), Birch 135")
    assert "Alder \N{MINUS SIGN}13.1 (\N{MINUS SIGN}27.0 to \N{MINUS SIGN}3.2) points" in portable
    assert readers.startswith(
        "Not answerable from these data: the effect on individual readers cannot be assessed"
    )
    assert one.finding == ("One of the 5 questions cannot be answered from these data.",)


def test_a_question_in_words_alone_has_no_measure() -> None:
    assert answers(["Is it good?"]) == [
        "Not answerable from these data: no measure is declared for this question."
    ]


def test_a_question_is_answered_of_the_candidate_that_it_names() -> None:
    asked = {"question": "How much does A find?", "measure": "candidates.sensitivity", "candidate": "A"}
    (answer,) = answers([asked])
    assert answer.startswith("Sensitivity: A 88%")  # 35 of 40
    assert " B " not in answer
    of_both = {"question": "False alarms?", "measure": "candidates.false_alarm_rate"}
    (answer,) = answers([of_both])
    assert "A 90 (" in answer  # 6 of 60, at nine tenths without the condition
    assert "B 45 (" in answer  # 3 of 60


@pytest.mark.parametrize(
    "asked, why",
    [
        ({"measure": "candidates.sensitivity", "candidate": "C"}, "the report has no result"),
        ({"measure": "candidates.worth"}, "the report has no result"),
        ({"measure": "candidates.sensitivity", "asks": "claim"}, "nothing is claimed of this measure"),
        ({"asks": "requirements"}, "no criterion is declared"),
        ({"asks": "comparison"}, "no measure is declared for this question"),
    ],
)
def test_what_cannot_be_answered_says_why(asked: dict[str, Any], why: str) -> None:
    (answer,) = answers([{"question": "What?", **asked}])
    assert answer.startswith(f"Not answerable from these data: {why}")


def test_questions_in_words_stay_valid() -> None:
    old = SiteContext(committee_questions=("One?", "Two?"))
    assert old.committee_questions == (Question(question="One?"), Question(question="Two?"))
    one = Question(question="Which?", asks="requirements")
    assert one.asks == ("requirements",)


# ---------------------------------------------------------------- conditions


def test_conditions_are_of_those_that_may_be_bought(triage: Assessment) -> None:
    one = element("conditions", triage)
    assert one is not None
    captions = [t.table.caption for t in one.tables]
    assert captions[:2] == [
        "Conditions of a contract with Alder.",
        "Conditions of a contract with Birch, after what has to be shown first.",
    ]
    assert captions[2].startswith("Record of the acceptance at this hospital")
    assert "Cedar failed a requirement, so no conditions are listed." in one.finding
    text = str(rows(one, 0) + rows(one, 1))
    assert "Cedar" not in text
    assert "Difference in sensitivity" not in text
    assert "As for Alder" not in text


def test_each_bound_is_written_as_in_the_table_of_criteria(triage: Assessment) -> None:
    one = element("conditions", triage)
    assert [row[:2] for row in rows(one, 0)] == [
        ["Sensitivity", "above 80%"],
        ["Specificity", "above 75%"],
        ["To be explained by the supplier: specificity", "claimed 88%"],
        ["To be explained by the supplier: sensitivity (unit “portable”)", "–"],
    ]
    first = rows(one, 1)[0]
    assert first[0].startswith("To be shown first: Sensitivity (About 125 cases with the condition would")


def test_the_acceptance_is_recorded_step_by_step(triage: Assessment) -> None:
    one = element("conditions", triage)
    assert [row[:2] for row in rows(one, 2)] == [
        ["Acceptance test on local cases", "Sensitivity above 80% and Specificity above 75%"],
        ["Number of cases", "Sensitivity: 116 and Specificity: 524"],
        [
            "Stop rule, Sensitivity",
            "CUSUM, baseline 90%, alert at 80%, and at an alert: Stop the triage and call the supplier",
        ],
        [
            "Stop rule, Share without an output",
            "CUSUM, baseline 1%, alert at 5%, and at an alert: Open a ticket with the supplier",
        ],
        ["Who decides", "B. Example (fictional) (Procurement)"],
        ["Decision due", "2026-09-01"],
        [
            "Decision, date, signature",
            "to be entered: accepted, accepted with conditions, or not accepted",
        ],
    ]


def test_what_nobody_declared_of_the_acceptance_is_said(triage: Assessment) -> None:
    bare = triage.plan.model_copy(update={"vigilance": None, "approvals": (), "site_context": None})
    found = dict(row[:2] for row in rows(element("conditions", replace(triage, plan=bare)), 2))
    for step in ("Monitoring and stop rule", "Who decides", "Decision due"):
        assert found[step] == "NOT DECLARED"


def test_conditions_are_asked_in_a_procurement_review_alone(triage: Assessment) -> None:
    report = triage.plan.report.model_copy(update={"kind": "vigilance"})
    other = replace(triage, plan=triage.plan.model_copy(update={"report": report}))
    assert element("conditions", other) is None
