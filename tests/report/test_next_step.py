"""The first page says what to do next: what settles the gravest criterion that is not met."""

import pytest
from test_answer import (
    EN,
    HARM,
    MISSING,
    SENSITIVE,
    SENSITIVITY,
    SPECIFIC,
    SPECIFICITY,
    SWITCHES,
    WIDE,
    made,
    result,
)

from trustreport.assessment.assess import Assessment
from trustreport.report.answer.next_step import next_step

CASES = {
    "one fails": (
        made("certification", [MISSING, SPECIFIC], [SENSITIVITY, SPECIFICITY]),
        "Sensitivity. Remove the cause or restrict the claim, then test on new cases.",
    ),
    "a failure comes before an open safety criterion": (
        made("certification", [MISSING, SWITCHES], [SENSITIVITY, HARM]),
        "Sensitivity, test. Remove the cause or restrict the claim, then test on new cases.",
    ),
    "an open one needs more cases": (
        made("certification", [WIDE], [SENSITIVITY]),
        "Sensitivity. Test about",
    ),
    "nothing is required": (
        made("certification", [SENSITIVE]),
        "Declare what is required and judge new data against it",
    ),
    "all are met": (
        made("certification", [SENSITIVE], [SENSITIVITY]),
        "Resolve the limits below before anyone relies on this result.",
    ),
}


@pytest.mark.parametrize(("one", "said"), CASES.values(), ids=CASES)
def test_the_next_step(one: Assessment, said: str) -> None:
    assert next_step(one, EN, limited=True).startswith(said)


def test_without_a_limit_nothing_is_left() -> None:
    assert next_step(CASES["all are met"][0], EN, limited=False) == ""


def test_an_audit_and_a_choice_have_their_own_lists() -> None:
    own = result("candidates.sensitivity", 0.7, 0.6, 0.75, dataset="test", candidate="Alder")
    asked = {**SENSITIVITY, "measure": "candidates.sensitivity", "candidate": "Alder"}
    names = [{"candidate": "Alder"}, {"candidate": "Birch"}]
    assert next_step(made("procurement", [own], [asked], candidates=names), EN, limited=True) == ""
    assert next_step(made("vigilance", [SENSITIVE], [SENSITIVITY]), EN, limited=True) == ""
