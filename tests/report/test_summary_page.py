"""The summary page: which criteria, findings and limits it shows, and what it says of those it leaves out."""

from typing import Any

from made_up import assessment, manifest, part

from trustreport.assessment import Assessment
from trustreport.messages import catalogue
from trustreport.plan import Plan
from trustreport.report.summary import FOR_BROWSERS, ROOMS, summary

SAY = catalogue("en")
FIXED = {"sap_locked_at": "2026-01-01", "data_opened_at": "2026-02-01"}


def criterion(name: str, role: str, bound: float, **more: Any) -> dict[str, Any]:
    """A criterion on the odds ratio of the made-up set, 0.80 to 1.12: a pass below 2, a fail below 0.5."""
    return {
        "endpoint": name,
        "role": role,
        "measure": "pragmatic_utility.odds_ratio",
        "hypothesis": "performance goal",
        "bound_or_margin": bound,
        "alpha": 0.025,
        **more,
    }


def judged(*criteria: dict[str, Any]) -> Assessment:
    """One made-up set without blocks, held against criteria."""
    plan = Plan.model_validate(manifest(endpoints=list(criteria), study=FIXED))
    return assessment((part("one", titled=False),), plan, blocks=False)


def test_primary_criteria_come_first_then_those_of_safety_and_in_each_role_the_worst():
    one = judged(
        criterion("late", "secondary", 0.5),
        criterion("meets", "primary", 2),
        criterion("unsure", "primary", 1),
        criterion("harm", "safety", 1),
    )
    shown = summary(one, SAY, FOR_BROWSERS, "9").criteria.shown
    assert [(row.name, row.word) for row in shown] == [
        ("unsure", "inconclusive"),
        ("meets", "pass"),
        ("harm", "inconclusive"),
        ("late", "fail"),
    ]


def test_criteria_without_room_are_counted_by_their_verdicts():
    names = [f"c{i}" for i in range(4)]
    bounds = (2, 2, 1, 0.5)
    one = judged(*(criterion(name, "secondary", bound) for name, bound in zip(names, bounds)))
    page = summary(one, SAY, ROOMS[-1], "9")
    assert [row.word for row in page.criteria.shown] == ["fail", "inconclusive"]
    assert page.criteria_more == "2 further criteria: 2 pass (chapter 9)."
    assert summary(one, SAY, FOR_BROWSERS, "9").criteria_more == ""


def test_the_page_points_to_the_criterion_by_its_name():
    one = judged(criterion("foretells", "primary", 0.5), criterion("finds", "primary", 2))
    line = summary(one, SAY, FOR_BROWSERS, "9").verdict_line
    assert line == "2 criteria: 1 fail and 1 pass. Look first at the criterion 'foretells'."
