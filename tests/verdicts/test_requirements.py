"""Requirements of candidates: the same asked of several is one, and who meets all of them."""

from typing import Any

import pytest

from trustreport.assessment.verdicts import Verdict, Word, requirements, standings
from trustreport.study.plan import Endpoint
from trustreport.vocabulary.messages import say

NAMES = ("A", "B")
NO_REASON = say("word.none")


def verdict(name: str, word: Word, **more: Any) -> Verdict:
    said = {"measure": "candidates.sensitivity", "hypothesis": "performance goal", "bound_or_margin": 0.8}
    return Verdict(Endpoint(endpoint=name, **{**said, **more}), word, NO_REASON)


def test_the_same_asked_of_two_candidates_is_one_requirement() -> None:
    found = [
        verdict("A finds", "pass", candidate="A", multiplicity_family="of A", margin_rationale="one in five"),
        verdict("B finds", "fail", arm_or_contrast="B", multiplicity_family="of B"),
        verdict("A finds most", "pass", candidate="A", bound_or_margin=0.9),
        verdict("B finds on films", "pass", candidate="B", subgroup="unit: portable"),
    ]
    rows = requirements(found, NAMES)
    assert [{name: v.criterion.endpoint for name, v in row.verdicts.items()} for row in rows] == [
        {"A": "A finds", "B": "B finds"},
        {"A": "A finds most"},
        {"B": "B finds on films"},
    ]
    assert [rows[0].word(name) for name in NAMES] == ["pass", "fail"]
    assert rows[1].word("B") is None


@pytest.mark.parametrize("field", ["candidate", "arm_or_contrast"])
def test_a_comparison_is_no_requirement_of_one_candidate(field: str) -> None:
    found = [
        verdict("A finds", "pass", candidate="A"),
        verdict("B finds", "pass", candidate="B"),
        verdict("no worse", "fail", measure="candidates.sensitivity_difference", **{field: ("B", "A")}),
    ]
    _, compared = requirements(found, NAMES)
    assert (compared.baseline, list(compared.verdicts), compared.counts) == ("A", ["B"], False)
    assert standings(requirements(found, NAMES), NAMES) == {"A": "pass", "B": "pass"}


@pytest.mark.parametrize(
    "words, standing",
    [
        (("pass", "pass"), "pass"),
        (("pass", "inconclusive"), "inconclusive"),
        (("pass", "not tested"), "inconclusive"),
        (("pass", "not assessable"), "inconclusive"),
        (("inconclusive", "fail"), "fail"),
        ((), "not required"),
    ],
)
def test_a_candidate_has_to_meet_all_of_it(words: tuple[Word, ...], standing: str) -> None:
    found = [verdict(f"e{i}", word, candidate="A", bound_or_margin=0.1 * i) for i, word in enumerate(words)]
    assert standings(requirements(found, NAMES), NAMES)["A"] == standing


def test_what_is_exploratory_does_not_count() -> None:
    found = [
        verdict("one", "pass", candidate="A"),
        verdict("other", "fail", candidate="A", role="exploratory", bound_or_margin=0.9),
    ]
    assert standings(requirements(found, NAMES), NAMES) == {"A": "pass", "B": "not required"}


def test_a_criterion_that_names_no_candidate_is_asked_of_each() -> None:
    (row,) = requirements([verdict("finds", "not assessable")], NAMES)
    assert list(row.verdicts) == list(NAMES)


def test_a_criterion_taken_away_after_the_lock_leaves_every_candidate_inconclusive() -> None:
    gone = Verdict(Endpoint(endpoint="gone"), "not assessable", NO_REASON)
    found = [verdict("finds", "pass", candidate="A"), gone]
    assert standings(requirements(found, NAMES), NAMES)["A"] == "inconclusive"
