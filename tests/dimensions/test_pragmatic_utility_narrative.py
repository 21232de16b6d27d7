"""What pragmatic utility says where the effect depends on the prevalence."""

import numpy as np
import pytest

from tests.studies import plan, readings
from trustreport.assessment.assess import assess
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import leading

EN = catalogue("en")


def half_positive() -> np.ndarray:
    """Ten readers, 100 positives and 100 negatives: sensitivity .70 to .80, specificity .90 to .86."""
    correct = np.zeros((2, 10, 200), bool)
    for arm, (sensitivity, specificity) in enumerate(((70, 90), (80, 86))):
        correct[arm, :, 1 : 2 * sensitivity : 2] = True
        correct[arm, :, 0 : 2 * specificity : 2] = True
    return correct


@pytest.mark.parametrize(
    "share, value, turns", [(0.02, -0.0372, True), (0.5, 0.03, False), (0.3, 0.002, False)]
)
def test_the_first_sentence_says_when_the_sign_turns(share: float, value: float, turns: bool) -> None:
    declared = plan(intended_use={"prevalence_expected": share})
    assessment = assess(readings(half_positive()), declared)
    arr = leading(assessment.results, "pragmatic_utility.arr", parameters={"prevalence": share})
    assert arr is not None
    assert arr.estimate.value == pytest.approx(value)
    finding = next(f for f in assessment.findings if f.dimension == "pragmatic_utility")
    first, second = (EN(said) for said in finding.parts[0].finding[:2])
    assert first.startswith(f"At the prevalence of the intended use, {share:.1%}, the absolute ")
    assert second.startswith("In the study sample (prevalence 50.0%), ")
    assert ("The direction is the opposite of that in the sample of this study" in first) == turns
