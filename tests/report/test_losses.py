"""A candidate or a site that is significantly worse leads the answer, whatever the criteria ask."""

import pytest
from test_answer import SENSITIVE, SENSITIVITY, UNADJUSTED, criterion, made, result, sentences

from trustreport.assessment.assess import Assessment
from trustreport.vocabulary.results import Result

SITE = "subgroups.subgroup_difference"


def of_site(p: float, low: float, high: float) -> Result:
    return result(
        SITE,
        (low + high) / 2,
        low,
        high,
        dataset="test",
        subgroup="site: South",
        endpoint="sensitivity",
        details={"p_holm": p},
    )


def two_candidates(low: float, high: float, bound: float = 0.8) -> Assessment:
    """Birch and Alder, each with a criterion on its sensitivity, and their difference."""
    own = [
        result("candidates.sensitivity", value, value - 0.04, value + 0.03, dataset="test", candidate=name)
        for name, value in (("Alder", 0.95), ("Birch", 0.9))
    ]
    difference = result(
        "candidates.sensitivity_difference",
        (low + high) / 2,
        low,
        high,
        dataset="test",
        candidates=("Birch", "Alder"),
    )
    asked = [
        criterion(f"{name} finds", "candidates.sensitivity", bound, candidate=name)
        for name in ("Alder", "Birch")
    ]
    names = [{"candidate": "Alder"}, {"candidate": "Birch"}]
    return made("certification", [*own, difference], asked, candidates=names)


def test_a_site_that_is_significantly_worse_leads() -> None:
    said, support = sentences(made("certification", [SENSITIVE, of_site(0.004, -0.34, -0.14)], [SENSITIVITY]))
    assert said.startswith(
        "At South the device is significantly worse than elsewhere: sensitivity −24.0 (−34.0 to −14.0)"
    )
    assert said.endswith("The criterion is met.")
    assert support.endswith(UNADJUSTED)


@pytest.mark.parametrize(("p", "low", "high"), [(0.2, -0.34, -0.14), (0.004, -0.3, 0.02), (0.004, 0.1, 0.3)])
def test_a_site_that_is_not_is_no_loss(p: float, low: float, high: float) -> None:
    said, _ = sentences(made("certification", [SENSITIVE, of_site(p, low, high)], [SENSITIVITY]))
    assert said == "The criterion is met."


def test_a_candidate_that_meets_its_requirements_and_is_worse_leads() -> None:
    said, _ = sentences(two_candidates(-0.09, -0.01))
    assert said.startswith("On test Birch is significantly worse than Alder: sensitivity −5.0 (−9.0 to −1.0)")


def test_the_second_candidate_may_be_the_worse_one() -> None:
    said, _ = sentences(two_candidates(0.01, 0.09))
    assert said.startswith("On test Alder is significantly worse than Birch: sensitivity −5.0 (−9.0 to −1.0)")


def test_a_candidate_that_fails_is_not_compared() -> None:
    said, _ = sentences(two_candidates(-0.09, -0.01, bound=0.94))
    assert "significantly worse" not in said
