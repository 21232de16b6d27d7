"""Checks of time to event: much censoring, censoring by the score, competing events that nobody declared."""

from typing import Any

import numpy as np
import pytest

from tests.studies import plan
from trustreport.assessment.checks import CHECKS, Evidence
from trustreport.assessment.finding import CheckOutcome
from trustreport.study.study import Cases, Dataset, Labels, Scores, Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
BY_ID = {check.id: check for check in CHECKS}


def study(*, censoring: float = 0.3, by_score: float = 0.0, n: int = 400) -> Study:
    """Exponential times; censored at a rate that may rise with the score."""
    rng = np.random.default_rng(8)
    score = rng.random(n)
    time = rng.exponential(1 / (0.2 + score))
    ends = np.minimum(rng.exponential(1 / (censoring + by_score * score)), rng.uniform(1, 2, n))
    numbers = {"follow_up": np.minimum(time, ends), "event": (time <= ends).astype(float)}
    cases = Cases(Labels(n=n), np.full(n, -1, np.int8), (), numbers=numbers)
    return Study(datasets=(Dataset("clinic", "external", cases, {"": Scores(score)}),))


def evidence(*, competing: Any = (), limits: Any = None, **drawn: float) -> Evidence:
    declared = {"horizon": "1"} | ({} if competing is None else {"competing": list(competing)})
    return Evidence(study(**drawn), plan(time_to_event=declared, limits=limits or {}), ())


def outcome(check: str, of: Evidence) -> CheckOutcome:
    (found,) = BY_ID[check].run(of)
    return found


def test_much_censoring_is_said_with_what_is_left() -> None:
    found = outcome("P63", evidence(censoring=3.0))
    assert found.status == "fired"
    state = EN(found.message)
    assert "of 400 cases" in state
    assert "ended before the horizon" in state
    assert outcome("P63", evidence(censoring=3.0, limits={"P63_share": 0.99})).status == "clear"


def test_censoring_by_the_score_names_both_halves() -> None:
    found = outcome("P64", evidence(by_score=3.0))
    assert "In the lower half of the scores" in EN(found.message)
    assert outcome("P64", evidence(by_score=3.0, limits={"P64_gap": 0.9})).status == "clear"


@pytest.mark.parametrize("check", ["P63", "P64", "P65"])
def test_without_follow_up_they_cannot_run(check: str) -> None:
    assert outcome(check, Evidence(Study(), plan(), ())).status == "cannot run"


def test_cases_without_an_output_are_counted() -> None:
    of = study()
    scores = of.datasets[0].scores[""].score
    assert scores is not None
    scores[:7] = np.nan
    found = list(BY_ID["P03"].run(Evidence(of, plan(time_to_event={"horizon": "1"}), ())))
    assert [o.status for o in found] == ["fired"]
    assert "seven cases" in EN(found[0].message)
