"""The check of the reference standard: studies that fire it, and studies that do not."""

from typing import Any

import numpy as np
import pytest

from tests.rated import noisy, rated, raters_study
from tests.studies import plan
from trustreport.assessment.checks.check import Evidence
from trustreport.assessment.checks.reference import CHECKS
from trustreport.assessment.dimensions.source_reliability import answer
from trustreport.assessment.finding import CheckOutcome
from trustreport.study.study import Study
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")


def outcomes(study: Study, **groups: Any) -> list[CheckOutcome]:
    declared = plan(**groups)
    results = answer(study, declared).results if study.raters else ()
    evidence = Evidence(study, declared, results)
    return [o for check in CHECKS if check.id == "P14" for o in check.run(evidence)]


def fired(study: Study, **groups: Any) -> list[str]:
    return [EN(o.message) for o in outcomes(study, **groups) if o.status == "fired"]


ABLE = raters_study(rated(noisy(300, 5, 0.97)[1]))
POOR = raters_study(rated(noisy(300, 5, 0.8)[1]))


def test_raters_who_hardly_agree_fire_it_with_the_best_accuracy_that_can_be_shown() -> None:
    said = fired(POOR, reference_standard={"rater_accuracy": 0.8})
    assert len(said) == 1
    assert said[0].startswith("Agreement between raters (Krippendorff's alpha) is 0.3")
    assert "(customary; none is declared)." in said[0]
    assert "Against this reference, a perfect device would show an accuracy of about 90.0%" in said[0]
    assert "Method: Nomogram from agreement and measured accuracy." in said[0]


def test_raters_who_agree_do_not_fire_it() -> None:
    found = outcomes(ABLE)
    assert [o.status for o in found] == ["clear"]


def test_the_manifest_sets_the_limit() -> None:
    assert not fired(POOR, limits={"P14_agreement": 0.1})
    assert fired(ABLE, limits={"P14_agreement": 0.99})


def test_cases_with_a_single_rater_fire_it() -> None:
    codes = noisy(300, 3, 0.97)[1]
    codes[:60, 1:] = -1
    assert fired(raters_study(rated(codes))) == ["Of 300 cases, 60 were labelled by a single rater."]
    assert not fired(raters_study(rated(codes)), limits={"P14_single": 0.3})
    assert fired(raters_study(rated(codes[:, :1]))) == ["Of 300 cases, 300 were labelled by a single rater."]


@pytest.mark.parametrize(
    "declared, what",
    [
        ({"blinded_to_index": False, "blinded_to_readers": True}, "the device's output"),
        ({"blinded_to_readers": False}, "the readers' decisions"),
        (
            {"blinded_to_index": False, "blinded_to_readers": False},
            "the device's output and the readers' decisions",
        ),
    ],
)
def test_assessors_who_were_not_blinded_fire_it(declared: Any, what: str) -> None:
    for study in (ABLE, Study()):
        said = fired(study, reference_standard=declared)
        assert len(said) == 1
        assert f"not blinded to {what}:" in said[0]


def test_without_raters_it_runs_only_where_blinding_is_declared() -> None:
    assert [o.status for o in outcomes(Study())] == ["cannot run"]
    blinded = {"blinded_to_index": True, "blinded_to_readers": True}
    assert [o.status for o in outcomes(Study(), reference_standard=blinded)] == ["clear"]


def test_two_tasks_are_judged_each() -> None:
    both = raters_study(rated(noisy(300, 5, 0.8)[1], task="a"), rated(noisy(300, 5, 0.97)[1], task="b"))
    found = outcomes(both)
    assert [(o.status, o.scope) for o in found] == [("fired", {"task": "a"}), ("clear", {"task": "b"})]


def test_agreement_that_cannot_be_judged_says_why() -> None:
    same = raters_study(rated(np.zeros((20, 3), int)))
    assert "cannot be compared with the limit: all labels are the same" in fired(same)[0]
    assert not fired(raters_study(rated(np.array([[0, 1] * 10] * 3).T)))
