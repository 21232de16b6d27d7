"""The first page says what to do next: what settles the gravest criterion that is not met."""

from collections.abc import Callable

import pytest
from test_answer import (
    ACCEPTED,
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
    share,
)

from trustreport.assessment.assess import Assessment
from trustreport.report.answer.front import front
from trustreport.report.answer.limits import Limitation
from trustreport.report.answer.next_step import next_step
from trustreport.vocabulary.messages import catalogue

LIMIT = Limitation("P31", "W", (), "", "The prevalence is another")
POOLED = result("reported.pooled_sensitivity", 0.9, 0.8, 0.95, set="pool")
CASES = {
    "one fails": (
        made("certification", [MISSING, SPECIFIC], [SENSITIVITY, SPECIFICITY]),
        "Remove the cause or restrict the claim, then test on new cases (sensitivity).",
    ),
    "a failure comes first, then an open safety criterion": (
        made("certification", [MISSING, SWITCHES], [SENSITIVITY, HARM]),
        (
            "(1) Remove the cause or restrict the claim, then test on new cases (sensitivity, test). "
            "(2) Find the cause first: at this estimate,"
        ),
    ),
    "an open safety criterion alone": (
        made("certification", [SENSITIVE, SWITCHES], [SENSITIVITY, HARM]),
        "Find the cause first: at this estimate,",
    ),
    "an open one needs more cases": (
        made("certification", [WIDE], [SENSITIVITY]),
        "Test about",
    ),
    "nothing is required": (
        made("certification", [SENSITIVE]),
        "Declare what is required and judge new data against it",
    ),
    "nothing is required of published figures": (
        made("certification", [POOLED], datasets=()),
        "Declare what is required and test it where the device is to be used",
    ),
    "only the reference standard was assessed": (
        made("certification", [result("source_reliability.krippendorff_alpha", 0.5, 0.4, 0.6)]),
        "Once the reference standard can be relied on, test the device itself",
    ),
    "accuracy is below what users accept": (
        made("certification", [share("accuracy", 170, 200, 0.79, 0.89, "test")], **ACCEPTED),
        "Find out why accuracy is below what users accept",
    ),
    "all are met": (
        made("certification", [SENSITIVE], [SENSITIVITY]),
        "Resolve the limits below before anyone relies on this result.",
    ),
}


@pytest.mark.parametrize(("one", "said"), CASES.values(), ids=CASES)
def test_the_next_step(one: Assessment, said: str) -> None:
    assert next_step(one, EN, LIMIT).startswith(said)


def test_without_a_limit_what_was_not_assessed_is_left() -> None:
    assert next_step(CASES["all are met"][0], EN).startswith("See what was not assessed")


def test_more_cases_are_not_proposed_to_confirm_a_failure() -> None:
    low = share("sensitivity", 30, 40, 0.598, 0.858, "test")
    said = next_step(made("certification", [low], [SENSITIVITY]), EN, LIMIT)
    assert said.startswith("Find the cause first: at this estimate, about")
    assert said.endswith("would show that the criterion is not met (sensitivity).")


def test_a_choice_asks_the_supplier() -> None:
    own = result("candidates.sensitivity", 0.9, 0.85, 0.95, dataset="test", candidate="Alder")
    asked = {**SENSITIVITY, "measure": "candidates.sensitivity", "candidate": "Alder"}
    names = [{"candidate": "Alder"}, {"candidate": "Birch"}]
    one = made("procurement", [own], [asked], candidates=names)
    assert next_step(one, EN, LIMIT, asked=["Alder"]) == "Ask the supplier of Alder the questions below."
    assert next_step(one, EN, LIMIT).startswith("Resolve the limits below"), "there is no question"


def test_a_choice_that_is_open_says_what_would_settle_it() -> None:
    own = result("candidates.sensitivity", 0.87, 0.79, 0.92, 116, dataset="test", candidate="Birch")
    asked = {**SENSITIVITY, "measure": "candidates.sensitivity", "candidate": "Birch"}
    one = made("procurement", [own], [asked], candidates=[{"candidate": "Alder"}, {"candidate": "Birch"}])
    asked_first, _, then = next_step(one, EN, LIMIT, asked=["Alder", "Birch"]).partition(". ")
    assert asked_first == "(1) Ask the suppliers of Alder and Birch the questions below"
    assert then.startswith("(2) Test about 1"), "new cases, not those that are still lacking"
    assert "new cases" in then
    assert then.endswith(": at this estimate they would show that the criterion is met (Birch, sensitivity).")


def test_what_readers_leave_open_needs_more_of_them(assessed_example: Callable[[str], Assessment]) -> None:
    said = next_step(assessed_example("knee-mri-readings"), EN, LIMIT)
    assert said == (
        "Plan a further study with more readers and more cases: more cases alone do not decide this "
        "(absolute risk reduction)."
    )


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("annotations", "First make the reference standard reliable"),
        ("factory", "Settle which utility applies, since the choice depends on it;"),
        (
            "published-studies",
            "Ask the authors for the counts behind the figures that contradict each other;",
        ),
    ],
)
def test_without_criteria_the_data_may_ask_for_something_first(
    name: str, said: str, assessed_example: Callable[[str], Assessment]
) -> None:
    assert front(assessed_example(name), EN).next_step.startswith(said)


@pytest.mark.parametrize("language", ["en", "de", "fr", "it"])
def test_an_audit_says_what_to_do_first(language: str) -> None:
    say = catalogue(language)
    bare, named = say("answer.next.baseline"), say("answer.next.monitor")
    assert next_step(made("vigilance", [SENSITIVE], [SENSITIVITY]), say, LIMIT) == bare
    based = {"vigilance": {"baseline_dataset": "test"}}
    assert next_step(made("vigilance", [SENSITIVE], [SENSITIVITY], **based), say, LIMIT) == named
    assert next_step(made("vigilance", [SENSITIVE], **based), say, LIMIT, "Close I-3.") == "Close I-3."
    signal = {"signal": "S-2", "action": "Stop on scanner Y."}
    said = next_step(made("vigilance", [SENSITIVE], signals=[signal], **based), say, LIMIT, "Close I-3.")
    assert "S-2" in said
    assert said.endswith(": Stop on scanner Y.")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("agreement", "Find out how much the reference itself varies"),
        ("rating", "Have a sample of these outputs checked for errors"),
        ("one_set", "Test it on cases of another place"),
        ("population", "Resolve the limits below"),
    ],
)
def test_criteria_that_are_met_leave_what_the_first_limit_asks_for(kind: str, said: str) -> None:
    first = Limitation("", "W", (), "", "text", kind=kind)
    assert next_step(CASES["all are met"][0], EN, first).startswith(said)
