"""The summary page: which criteria, findings and limits it shows, and what it says of those it leaves out."""

from dataclasses import replace
from typing import Any

import pytest
from made_up import assessment, manifest, part, words
from trustreport.report.summary import FOR_BROWSERS, ROOMS, summary

from trustreport import lock
from trustreport.assessment import Assessment
from trustreport.estimate import Estimate
from trustreport.finding import CheckOutcome, Column, Finding, Part, PlainTable
from trustreport.messages import catalogue
from trustreport.messages import say as message
from trustreport.place import Place, place_of
from trustreport.plan import Plan
from trustreport.report import acceptance
from trustreport.results import Result
from trustreport.verdicts import verdicts

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


def changed(endpoint: str, period: str, low: float, high: float) -> Result:
    """A change since the baseline, in points."""
    e = Estimate((low + high) / 2, low, high, 99, 0.95)
    place, against = place_of({"period": period}), {"against": "baseline"}
    return Result("vigilance.period_change", place, e, endpoint=endpoint, parameters=against, primary=True)


def audit() -> Assessment:
    """An audit of two periods with an alert, something late and two events of the log."""
    status = Part(
        (words("One alert."), words("I-3 was due before."), words("A third sentence.")),
        message("vigilance.title_status"),
        (
            PlainTable(
                "vigilance_due_1",
                words("Due."),
                tuple(Column(words(name)) for name in ("Due", "What", "Owner", "Late")),
                (("2026-09-15", message("vigilance.due.incident", name="I-3"), None, words("late")),),
            ),
        ),
    )
    results = tuple(
        changed(*one)
        for one in (
            ("sensitivity", "one", -0.9, -0.8),
            ("sensitivity", "two", -0.42, -0.10),
            ("specificity", "one", -0.1, 0.1),
            ("specificity", "two", -0.08, 0.06),
        )
    )
    given = manifest(
        incidents=[
            {"incident": "I-2", "seriousness": "serious", "status": "open"},
            {"incident": "I-1", "seriousness": "serious", "status": "Closed"},
        ]
    )
    plan = Plan.model_validate({**given, "report": {"kind": "vigilance"}})
    one = assessment((part("one", titled=False),), plan, blocks=False)
    return replace(one, findings=(*one.findings, Finding("vigilance", (status,), results)))


def test_an_audit_begins_with_alerts_changes_and_open_events():
    page = summary(audit(), SAY, FOR_BROWSERS, "4")
    assert page.findings.shown == (
        "One alert. I-3 was due before. A third sentence.",
        SAY("report.summary.changed", n=1, period="two", names=["sensitivity"]),
        "One event of the log is not closed: I-2 (serious).",
    )
    assert [(row.label, row.text) for row in page.results.shown[:2]] == [
        ("Sensitivity, two against the baseline", "\u221226.0 (\u221242.0 to \u221210.0) points"),
        ("Specificity, two against the baseline", "\u22121.0 (\u22128.0 to +6.0) points"),
    ]
    (due,) = page.due.shown
    assert (due.day, due.what, due.late) == ("2026-09-15", "incident I-3", "late")


def test_shares_of_wrong_decisions_stand_with_what_their_difference_allows():
    (said,) = summary(judged(), SAY, FOR_BROWSERS, "9").findings.shown
    assert said.startswith("With the aid 22.7%")
    assert said.endswith("includes 1: benefit and harm are both compatible with the data.")


def test_a_result_is_shown_once():
    one = judged()
    (finding,) = one.findings
    twice = replace(one, findings=(finding, replace(finding, dimension="decision_benefit")))
    texts = [row.text for row in summary(twice, SAY, FOR_BROWSERS, "9").results.shown]
    assert len(texts) == len(set(texts)) == 2


def test_a_review_of_several_candidates_asks_which_and_begins_with_what_was_claimed():
    given = manifest(candidates=[{"candidate": "Alder"}, {"candidate": "Birch"}])
    plan = Plan.model_validate({**given, "report": {"kind": "procurement"}})
    side = Part((words("Side by side."),), words("Compared"))
    claims = Part((words("6 claimed; 3 lie above."), words("Alder: below.")), words("Claimed"), element="E34")
    found = Finding("candidates", (side, claims), ())
    page = summary(replace(assessment((), plan), findings=(found,)), SAY, FOR_BROWSERS, "9")
    assert page.title == "Which of Alder and Birch does here what we need it to do?"
    assert page.findings.shown == (
        "Claimed: 6 claimed; 3 lie above. Alder: below.",
        "Compared: Side by side.",
    )


def fired(check: str, severity: str, *places: str, n: int = 1, **scope: str) -> list[CheckOutcome]:
    """What a check said of some places; of the last it counts `n` cases, of the others one."""
    counts = [*(1 for _ in places[1:]), n]
    return [
        CheckOutcome(
            check, "x", severity, "fired", message("report.tested.n_cases", n=k), Place(dataset=p, **scope)
        )
        for p, k in zip(places, counts)
    ]


def test_the_strongest_limits_are_those_that_harm_then_the_heaviest_told_of_the_worst_place():
    outcomes = (
        *fired("P05", "W", "a", "b", "c", "d"),
        *fired("P03", "W", "a", "b", n=8),
        *fired("P31", "W", "a"),
        *fired("P13", "B", "a", "b", n=8),
        *fired("P42", "N", "a"),
        *fired("P29", "W", "a"),
    )
    page = summary(replace(judged(), checks=outcomes), SAY, FOR_BROWSERS, "9")
    assert [limit.check for limit in page.limits.shown] == ["P29", "P13", "P31"]
    assert (page.limits.shown[1].where, page.limits.shown[1].text) == ("b and one more", "8 cases")
    assert (
        page.limits_more
        == "3 further checks found something (2 warnings and 1 note): see the register of checks."
    )


def test_a_limit_names_the_candidate_it_is_about():
    one = fired("P08", "W", "Harbour", candidate="Alder") + fired(
        "P08", "W", "Harbour", n=3, candidate="Birch"
    )
    (limit,) = summary(replace(judged(), checks=tuple(one)), SAY, FOR_BROWSERS, "9").limits.shown
    assert limit.where == "Birch and one more"


def relocked(**early: bool):
    """Criteria whose bound was moved from 1 to 2 after the lock: amended in time, as declared, or not."""
    goals = {bound: [criterion(name, "primary", bound) for name in early] for bound in (1, 2)}
    given = manifest(endpoints=goals[1], study=FIXED)
    before = lock.renewed(Plan.model_validate(given))
    amended = [
        {
            "field": f"endpoints[{name}].bound_or_margin",
            "old": "1",
            "new": "2",
            "reason": "New guidance.",
            "before_data_opened": in_time,
        }
        for name, in_time in early.items()
    ]
    given = manifest(endpoints=goals[2], study=FIXED, amendments=amended)
    one = assessment((part("one", titled=False),), Plan.model_validate(given), blocks=False)
    study = replace(one.study, lock=lock.written(before))
    found = verdicts(study, one.plan, one.results, one.checks, lambda *_: one.results)
    return replace(one, study=study, verdicts=found)


def test_a_verdict_says_that_its_bound_was_amended():
    one = relocked(finds=True)
    (row,) = acceptance.held(one, SAY)
    assert row.word == "pass"
    assert row.aside == "amended after the lock; with the locked 1.00: inconclusive"
    assert row.amended == (
        (
            "The bound was amended before the data were opened (declared): locked 1, now 2. "
            "Reason: New guidance."
        ),
        "With the locked 1.00 the verdict would be: inconclusive.",
    )
    line = summary(one, SAY, FOR_BROWSERS, "9").verdict_line
    assert "One criterion, or a declaration it depends on, was amended after the lock but before the" in line


@pytest.mark.parametrize(
    "early, said",
    [
        (
            {"a": True, "b": True},
            "2 criteria, or declarations they depend on, were amended after the lock but",
        ),
        ({"a": True, "b": False}, "were changed after the lock; only 1 of them before the data were opened"),
        ({"a": False}, "was changed after the lock and not declared as amended before the data were opened."),
    ],
)
def test_how_many_criteria_were_amended_in_time_is_said_without_a_zero(early: dict[str, bool], said: str):
    assert said in acceptance.line(relocked(**early), SAY)
