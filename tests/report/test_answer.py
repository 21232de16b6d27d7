"""The sentence that a report opens with, for made-up studies of each kind: a function of their results."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from studies import plan

from trustreport.assessment.assess import Assessment, assess
from trustreport.assessment.finding import CheckOutcome, Finding, Part
from trustreport.assessment.verdicts import verdicts
from trustreport.assessment.verdicts.verdict import Locked
from trustreport.measures.estimate import Estimate
from trustreport.report.answer.answer import answer
from trustreport.report.answer.forest import forest
from trustreport.report.answer.front import LONG, _cut, front
from trustreport.report.answer.limits import ranked
from trustreport.report.answer.what_if import what_would_change_it
from trustreport.study.plan import Plan
from trustreport.study.study import ArmCounts, CountsSet, Study
from trustreport.vocabulary.messages import catalogue, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

EN = catalogue()
LEVEL = 0.95


def result(id: str, value: float, low: float, high: float, n: int = 200, **more: Any) -> Result:
    """A primary result; what is no place is endpoint, parameters or details."""
    own = {key: more.pop(key) for key in ("endpoint", "parameters", "details", "analysis") if key in more}
    e = Estimate(value, low, high, n, LEVEL, se=0.01, method="wilson")
    return Result(id, Place(**more), e, primary=True, cases=f"{hash(str(more)) & (2**64 - 1):016x}", **own)


def share(measure: str, k: int, n: int, low: float, high: float, dataset: str, **more: Any) -> Result:
    return result(f"advice_accuracy.{measure}", k / n, low, high, n, dataset=dataset, **more)


def criterion(name: str, measure: str, bound: object, **more: Any) -> dict[str, Any]:
    return {
        "endpoint": name,
        "role": "primary",
        "measure": measure,
        "hypothesis": "performance goal",
        "bound_or_margin": bound,
        **more,
    }


def made(
    kind: str,
    results: Sequence[Result] = (),
    criteria: Sequence[dict[str, Any]] = (),
    datasets: Iterable[tuple[str, str]] = (("test", "internal test"),),
    parts: tuple[Part, ...] = (),
    **groups: Any,
) -> Assessment:
    """An assessment of these results, judged as any other."""
    fixed = {"sap_locked_at": "2026-01-05", "data_opened_at": "2026-02-01"}
    given = {
        "report": {"kind": kind},
        "study": fixed,
        "device": {"trade_name": "Aid"},
        "endpoints": list(criteria),
        **groups,
    }
    plan = Plan.model_validate(given)
    sets: Any = tuple(SimpleNamespace(name=name, role=role) for name, role in datasets)
    study = Study(datasets=sets)
    judged = verdicts(study, plan, tuple(results), (), lambda name, level: tuple(results))
    by_dimension = dict.fromkeys(r.dimension for r in results)
    findings = tuple(
        Finding(name, parts if i == 0 else (), tuple(r for r in results if r.dimension == name))
        for i, name in enumerate(by_dimension)
    )
    return Assessment(study, plan, findings, (), (), (), (), (), verdicts=judged)


SENSITIVE = share("sensitivity", 180, 200, 0.851, 0.934, "test")
SPECIFIC = share("specificity", 170, 200, 0.794, 0.893, "test")
MISSING = share("sensitivity", 140, 200, 0.633, 0.759, "test")
WIDE = share("sensitivity", 34, 40, 0.709, 0.929, "test")
SENSITIVITY = criterion("finds", "advice_accuracy.sensitivity", 0.8, dataset="test")
SPECIFICITY = criterion("spares", "advice_accuracy.specificity", 0.75, dataset="test")
SWITCHES = result("reliance.harmful_switch_rate", 0.443, 0.252, 0.653, 88, arms=("aided", "unaided"), task="")
HARM = criterion("few switches", "reliance.harmful_switch_rate", 0.3, role="safety")
OCCURRED = result("advice_value.oe_ratio", 1.82, 1.56, 2.13, 260, dataset="North")
PREDICTED = criterion("foretells", "advice_value.oe_ratio", (0.8, 1.25), dataset="North", role="secondary")
GAIN = result(
    "decision_benefit.mean_benefit",
    0.077,
    0.033,
    0.121,
    716,
    arms=("aided", "unaided"),
    endpoint="accuracy",
)
NO_GAIN = result(
    "decision_benefit.mean_benefit",
    0.013,
    -0.005,
    0.030,
    716,
    arms=("aided", "unaided"),
    endpoint="accuracy",
)


def sentences(one: Assessment) -> tuple[str, str]:
    found = answer(one, EN)
    return found.sentence, found.supporting


CERTIFICATION = {
    "all pass": made("certification", [SENSITIVE, SPECIFIC], [SENSITIVITY, SPECIFICITY]),
    "one fails": made("certification", [MISSING, SPECIFIC], [SENSITIVITY, SPECIFICITY]),
    "all inconclusive": made(
        "certification",
        [WIDE, share("specificity", 30, 40, 0.598, 0.858, "test")],
        [SENSITIVITY, SPECIFICITY],
    ),
    "nothing assessable": made("certification", [], [SENSITIVITY, SPECIFICITY]),
    "no criteria": made("certification", [SENSITIVE, SPECIFIC]),
    "one criterion": made("certification", [SENSITIVE], [SENSITIVITY]),
    "one criterion, not met": made("certification", [MISSING], [SENSITIVITY]),
    "one criterion, inconclusive": made("certification", [WIDE], [SENSITIVITY]),
    "safety criterion only": made("certification", [SWITCHES], [HARM]),
    "safety inconclusive among others": made(
        "certification", [SENSITIVE, SPECIFIC, SWITCHES], [SENSITIVITY, SPECIFICITY, HARM]
    ),
    "more occurred than predicted": made(
        "certification",
        [SENSITIVE, OCCURRED],
        [SENSITIVITY, PREDICTED],
        [("test", "internal test"), ("North", "external")],
    ),
    "the worst data set, training silent": made(
        "certification",
        [
            SENSITIVE,
            share("sensitivity", 67, 100, 0.573, 0.754, "South"),
            share("sensitivity", 99, 100, 0.945, 0.998, "development"),
        ],
        [SENSITIVITY],
        [("development", "training"), ("test", "internal test"), ("South", "external")],
    ),
    "exploratory, readers": made("certification", [GAIN]),
    "exploratory, readers without a change": made("certification", [NO_GAIN]),
}
LOST = result(
    "decision_benefit.mean_benefit",
    -0.041,
    -0.079,
    -0.003,
    716,
    arms=("aided", "unaided"),
    endpoint="sensitivity",
)
ALONE = result(
    "decision_benefit.protocol_difference",
    -0.109,
    -0.200,
    -0.016,
    300,
    arm="unaided",
    protocol="device_alone",
    endpoint="specificity",
)


def version(measure: str, value: float, low: float, high: float) -> Result:
    """The change of a measure from version 1.1 to 2.0."""
    return result(
        "candidates.version_change",
        value,
        low,
        high,
        200,
        dataset="test",
        candidates=("2.0", "1.1"),
        endpoint=measure,
    )


KEPT = {
    **criterion("keeps", "decision_benefit.mean_benefit", 0.05, of="sensitivity"),
    "hypothesis": "non-inferiority",
}
BETTER = {**KEPT, "endpoint": "superior", "hypothesis": "superiority", "bound_or_margin": None}
CERTIFICATION |= {
    "a significant loss, inconclusive": made(
        "certification", [SENSITIVE, SPECIFIC, LOST], [SENSITIVITY, SPECIFICITY, KEPT]
    ),
    "a significant loss, and another that fails": made("certification", [MISSING, LOST], [SENSITIVITY, KEPT]),
    "a significant loss within the margin": made("certification", [LOST], [{**KEPT, "bound_or_margin": 0.1}]),
    "two significant losses": made("certification", [LOST], [KEPT, BETTER]),
    "readers worse in what no criterion asks": made("certification", [SENSITIVE, LOST], [SENSITIVITY]),
    "readers worse, without criteria": made("certification", [LOST, SENSITIVE]),
    "a version worse in what no criterion asks": made(
        "certification",
        [
            SENSITIVE,
            version("sensitivity", -0.065, -0.140, -0.006),
            version("specificity", -0.012, -0.09, 0.06),
        ],
        [SENSITIVITY],
        candidates=[{"candidate": "1.1"}, {"candidate": "2.0", "follows": "1.1"}],
    ),
    "a device alone worse than readers": made(
        "certification", [SENSITIVE, ALONE], [SENSITIVITY], intended_use={"decision_role": "autonomous"}
    ),
    "a device alone that needs a reader": made(
        "certification", [SENSITIVE, ALONE], [SENSITIVITY], intended_use={"decision_role": "second reader"}
    ),
}
FELL = "Readers did significantly worse with the aid: sensitivity −4.1 (−7.9 to −0.3) points"
JUDGED = f"{FELL.split(' −')[0]} (−4.1, −7.9 to −0.3 points; required above"
NO_CRITERIA = "No requirement was declared: whether this is enough is open."
UNADJUSTED = "Comparisons without a requirement are not adjusted for their number."
CERTIFICATION_SAYS = {
    "a significant loss, inconclusive": (
        f"Not in full. {JUDGED} −5 points: inconclusive). Two of three criteria are met.",
        "One is inconclusive.",
    ),
    "a significant loss, and another that fails": (
        (
            f"{JUDGED} −5 points: inconclusive). "
            "Neither of the two criteria has been shown to be met. "
            "One fails: sensitivity, test at 70.0% (63.3% to 75.9%), required above 80%."
        ),
        "One is inconclusive.",
    ),
    "a significant loss within the margin": (
        (
            "Readers did significantly worse with the aid, but by less than the accepted margin: sensitivity "
            "(−4.1, −7.9 to −0.3 points; required above −10 points: met)."
        ),
        "",
    ),
    "two significant losses": (
        (
            f"{JUDGED} −5 points: inconclusive and required above 0 points: not met). "
            "Neither of the two criteria has been shown to be met."
        ),
        "One is inconclusive.",
    ),
    "readers worse in what no criterion asks": (f"{FELL}. The criterion is met.", UNADJUSTED),
    "readers worse, without criteria": (
        f"{FELL}. {NO_CRITERIA}",
        f"test: sensitivity 90.0% (85.1% to 93.4%). {UNADJUSTED}",
    ),
    "a version worse in what no criterion asks": (
        (
            "At test version 2.0 is significantly worse than 1.1: sensitivity −6.5 (−14.0 to −0.6) points. "
            "The criterion is met."
        ),
        UNADJUSTED,
    ),
    "a device alone worse than readers": (
        (
            "The device alone was significantly worse than the readers without it: specificity "
            "−10.9 (−20.0 to −1.6) points. The criterion is met."
        ),
        UNADJUSTED,
    ),
    "a device alone that needs a reader": ("The criterion is met.", ""),
    "all pass": ("Both criteria are met.", ""),
    "one fails": (
        (
            "Not in full. One of two criteria is met. "
            "One fails: sensitivity at 70.0% (63.3% to 75.9%), required above 80%."
        ),
        "",
    ),
    "all inconclusive": (
        "Neither of the two criteria is met or refuted: both are inconclusive.",
        (
            "Sensitivity (85%, 71% to 93%; required above 80%) and specificity (75%, 60% to "
            "86%; required above 75%)."
        ),
    ),
    "nothing assessable": (
        "Neither of the two criteria can be assessed.",
        (
            "The report has no result for the measure advice_accuracy.sensitivity. The "
            "report has no result for the measure advice_accuracy.specificity."
        ),
    ),
    "no criteria": (
        (
            "test: 20 of 200 positive cases were missed and 30 of 200 negative cases raised a false alarm; "
            f"sensitivity 90.0% (85.1% to 93.4%) and specificity 85.0% (79.4% to 89.3%). {NO_CRITERIA}"
        ),
        "",
    ),
    "one criterion": ("The criterion is met.", ""),
    "one criterion, not met": (
        "The criterion is not met. Sensitivity at 70.0% (63.3% to 75.9%), required above 80%.",
        "",
    ),
    "one criterion, inconclusive": (
        (
            "The criterion is neither met nor refuted: the estimate for sensitivity is 85% (71% to 93%), and "
            "above 80% is required."
        ),
        "",
    ),
    "safety criterion only": (
        (
            "The criterion is neither met nor refuted: the estimate for correct decisions reversed after "
            "wrong advice is 44% (25% to 65%), and below 30% is required."
        ),
        "",
    ),
    "safety inconclusive among others": (
        "Not in full. Two of three criteria are met.",
        (
            "One is inconclusive: the safety criterion on correct decisions "
            "reversed after wrong advice (44%, 25% to 65%; required below "
            "30%)."
        ),
    ),
    "more occurred than predicted": (
        (
            "Not in full. One of two criteria is met. One fails: at North the device "
            "underestimates risk (1.8 times as many cases occurred as predicted)."
        ),
        "",
    ),
    "the worst data set, training silent": (
        "The criterion is met.",
        (
            "The lowest sensitivity outside the training data is 67.0% "
            "(57.3% to 75.4%), at South, where 33 of 100 positive cases "
            "were missed; at test it is 90.0%."
        ),
    ),
    "exploratory, readers": (
        f"With the aid the readers' accuracy was higher: +7.7 (+3.3 to +12.1) points. {NO_CRITERIA}",
        "",
    ),
    "exploratory, readers without a change": (
        (
            "No change in the readers' accuracy with the aid was found: +1.3 (−0.5 to +3.0) points. "
            f"{NO_CRITERIA}"
        ),
        "",
    ),
}


@pytest.mark.parametrize("name", CERTIFICATION)
def test_the_answer_of_a_dossier(name: str) -> None:
    assert sentences(CERTIFICATION[name]) == CERTIFICATION_SAYS[name]


def result_of(
    name: str, k: int, low: float, high: float, measure: str = "sensitivity", n: int = 116
) -> Result:
    return result(f"candidates.{measure}", k / n, low, high, n, dataset="here", candidate=name)


def wants(name: str, measure: str = "sensitivity", bound: float = 0.8) -> dict[str, Any]:
    return criterion(f"{name} {measure}", f"candidates.{measure}", bound, candidate=name)


def review(results: Sequence[Result], criteria: Sequence[dict[str, Any]] = (), **more: Any) -> Assessment:
    names = list(dict.fromkeys(r.place.candidate for r in results if r.place.candidate)) or ["Alder"]
    names = more.pop("names", names)
    candidates = [{"candidate": name} for name in names]
    return made("procurement", results, criteria, [("here", "local")], candidates=candidates, **more)


A_MEETS, B_MEETS = result_of("Alder", 107, 0.859, 0.959), result_of("Birch", 105, 0.838, 0.948)
B_WIDE, C_FAILS = result_of("Birch", 101, 0.798, 0.920), result_of("Cedar", 81, 0.609, 0.774)
A_SPARES = result_of("Alder", 426, 0.777, 0.844, "specificity", 524)
ALIKE = result(
    "candidates.sensitivity_difference",
    -0.017,
    -0.062,
    0.025,
    116,
    dataset="here",
    candidates=("Birch", "Alder"),
)
CLOSE = criterion(
    "no worse",
    "candidates.sensitivity_difference",
    0.05,
    arm_or_contrast=["Birch", "Alder"],
    hypothesis="non-inferiority",
    role="secondary",
)
WORTH = result(
    "advice_accuracy.utility_difference",
    -7.0,
    -11.6,
    -2.4,
    10000,
    dataset="here",
    candidates=("Birch", "Alder"),
    parameters={"utility": "euros"},
)
AS_MUCH = result(
    "advice_accuracy.utility_difference",
    2.6,
    -2.1,
    7.3,
    10000,
    dataset="here",
    candidates=("Birch", "Alder"),
    parameters={"utility": "other prices"},
)
PROCUREMENT = {
    "all pass": review([A_MEETS, B_MEETS], [wants("Alder"), wants("Birch")]),
    "one fails": review([A_MEETS, C_FAILS], [wants("Alder"), wants("Cedar")]),
    "one meets both, one inconclusive, one fails": review(
        [A_MEETS, A_SPARES, B_WIDE, C_FAILS],
        [wants("Alder"), wants("Alder", "specificity", 0.75), wants("Birch"), wants("Cedar")],
    ),
    "all inconclusive": review([B_WIDE], [wants("Birch")]),
    "nothing assessable": review([], [wants("Alder")]),
    "nobody meets": review([B_WIDE, C_FAILS], [wants("Birch"), wants("Cedar")]),
    "one candidate": review([A_MEETS], [wants("Alder")]),
    "one candidate that fails": review([C_FAILS], [wants("Cedar")]),
    "ties": review([A_MEETS, B_MEETS, ALIKE], [wants("Alder"), wants("Birch")]),
    "a comparison": review([A_MEETS, B_MEETS, ALIKE], [wants("Alder"), wants("Birch"), CLOSE]),
    "a criterion that names no candidate": review(
        [A_MEETS, B_MEETS, SWITCHES],
        [wants("Alder"), wants("Birch"), {**HARM, "role": "primary", "bound_or_margin": 0.2}],
    ),
    "an exploratory criterion that fails": review(
        [A_MEETS, C_FAILS], [wants("Alder"), {**wants("Cedar"), "role": "exploratory"}]
    ),
    "without a requirement": review([A_MEETS, B_MEETS], [wants("Alder")]),
    "no criteria": review([A_MEETS, B_MEETS]),
    "no criteria, a utility": review([A_MEETS, B_MEETS, WORTH]),
    "no criteria, utilities that do not agree": review([WORTH, AS_MUCH]),
}
PROCUREMENT_SAYS = {
    "all pass": ("Alder and Birch meet their requirement.", ""),
    "one fails": ("Only Alder meets its requirement. Cedar fails on sensitivity: it misses 35 of 116.", ""),
    "one meets both, one inconclusive, one fails": (
        (
            "Only Alder meets both requirements. For Birch, the result is inconclusive "
            "on sensitivity (87.1%, 79.8% to 92.0%; required: above "
            "80%). Cedar fails on sensitivity: it misses 35 of 116."
        ),
        "",
    ),
    "all inconclusive": (
        "For Birch, the result is inconclusive on sensitivity (87.1%, 79.8% to 92.0%; required: above 80%).",
        "",
    ),
    "nothing assessable": ("For Alder, the result is inconclusive on sensitivity (not assessable).", ""),
    "nobody meets": (
        (
            "Neither candidate is shown to meet all its requirements. For Birch, the result is inconclusive "
            "on sensitivity (87.1%, 79.8% to 92.0%; required: above 80%). Cedar fails on "
            "sensitivity: it misses 35 of 116."
        ),
        "",
    ),
    "one candidate": ("Alder meets its requirement.", ""),
    "one candidate that fails": ("Cedar fails on sensitivity: it misses 35 of 116.", ""),
    "ties": (
        "Alder and Birch meet their requirement.",
        (
            "No difference in sensitivity between Birch and Alder was found (−1.7, −6.2 to +2.5 "
            "points, Birch minus Alder)."
        ),
    ),
    "a comparison": (
        "Alder and Birch meet their requirement.",
        (
            "No difference in sensitivity between Birch and Alder was found (−1.7, −6.2 to "
            "+2.5 points, Birch minus Alder). Difference in sensitivity, Birch minus "
            "Alder: inconclusive (−1.7, −6.2 to +2.5 points; bound: above −5 points); this compares two "
            "candidates and does not decide whether either meets its requirements."
        ),
    ),
    "a criterion that names no candidate": (
        (
            "Neither candidate meets all its requirements. Alder fails on "
            "correct decisions reversed after wrong advice: 44% (25% to 65%); "
            "required: below 20%. Birch fails on correct decisions reversed "
            "after wrong advice: 44% (25% to 65%); required: below 20%."
        ),
        "",
    ),
    "an exploratory criterion that fails": (
        "Alder meets its requirement. No requirement was declared for Cedar.",
        "",
    ),
    "without a requirement": ("Alder meets its requirement. No requirement was declared for Birch.", ""),
    "no criteria": (
        f"Alder: sensitivity 92.2% (85.9% to 95.9%). {NO_CRITERIA}",
        "Birch: sensitivity 90.5% (83.8% to 94.8%).",
    ),
    "no criteria, a utility": (
        (
            "The utility of Alder is higher than that of Birch: Birch minus Alder is −7.0 (−11.6 to −2.4) "
            f"per case (95% CI; utilities: euros). {NO_CRITERIA}"
        ),
        ("Alder: sensitivity 92.2% (85.9% to 95.9%). Birch: sensitivity 90.5% (83.8% to 94.8%)."),
    ),
    "no criteria, utilities that do not agree": (
        (
            "Which of Alder and Birch is better depends on the utility that applies: Alder has the higher "
            f"utility under euros; no difference was found under other prices. {NO_CRITERIA}"
        ),
        "",
    ),
}


@pytest.mark.parametrize(
    ("n", "met", "amended", "expected"),
    [
        (
            12,
            7,
            1,
            "Not in full. Seven of 12 criteria are met, one of them only after an amendment.",
        ),
        (1, 1, 1, "The criterion is met, but only after an amendment."),
        (3, 1, 1, "Not in full. One of three criteria is met, and only after an amendment."),
    ],
)
def test_criteria_met_only_as_amended_are_counted_so(n: int, met: int, amended: int, expected: str) -> None:
    assessment = made("certification", [SENSITIVE], [criterion("s", "advice_accuracy.sensitivity", 0.8)])
    (passed,) = assessment.verdicts
    assert passed.word == "pass"
    moved = replace(passed, locked=Locked(0.9, "inconclusive"))
    failed = replace(passed, word="fail")
    judged = (moved,) * amended + (passed,) * (met - amended) + (failed,) * (n - met)
    amended_ones = replace(assessment, verdicts=judged)
    assert sentences(amended_ones)[0].startswith(expected)
    assert "the criterion would be inconclusive" in what_would_change_it(amended_ones, EN)[0].text


@pytest.mark.parametrize("name", PROCUREMENT)
def test_the_answer_of_a_review(name: str) -> None:
    assert sentences(PROCUREMENT[name]) == PROCUREMENT_SAYS[name]


def period(name: str, value: float, low: float, high: float, n: int, endpoint: str = "sensitivity") -> Result:
    return result("vigilance.period_value", value, low, high, n, period=name, dataset=name, endpoint=endpoint)


def change(name: str, value: float, low: float, high: float, endpoint: str = "sensitivity") -> Result:
    return result(
        "vigilance.period_change",
        value,
        low,
        high,
        100,
        period=name,
        dataset=name,
        reference="baseline",
        endpoint=endpoint,
        parameters={"against": "baseline"},
    )


BASELINE = period("baseline", 0.908, 0.849, 0.945, 141)
MAY, JUNE, JULY = (
    period("2026-05", 48 / 54, 0.778, 0.948, 54),
    period("2026-06", 35 / 54, 0.515, 0.762, 54),
    period("2026-07", 36 / 59, 0.483, 0.724, 59),
)
BACK = period("2026-07", 54 / 59, 0.816, 0.963, 59)
NONE, FELL, STILL = (
    change("2026-05", -0.019, -0.136, 0.065),
    change("2026-06", -0.260, -0.398, -0.132),
    change("2026-07", -0.298, -0.431, -0.169),
)
RECOVERED = change("2026-07", 0.007, -0.098, 0.078)
ALERT = result(
    "vigilance.cusum",
    3.0,
    float("nan"),
    float("nan"),
    458,
    endpoint="sensitivity",
    datasets=("2026-05", "2026-06"),
    details={
        "alerts": 2.0,
        "first_alert_period": "2026-06",
        "first_alert_date": "2026-06-22",
        "first_alert_known": "2026-08-06",
    },
)
SPENT = replace(ALERT.estimate, details={"false_alert_spent": 0.04, "false_alert_budget": 0.05})
ALERT = replace(ALERT, estimate=SPENT)
# Earlier, but it has spent more than its budget of false alerts.
EARLIER = replace(
    ALERT,
    id="vigilance.sprt",
    estimate=replace(SPENT, details={**SPENT.details, "false_alert_spent": 0.268}),
    details={**ALERT.details, "first_alert_date": "2026-06-13", "first_alert_known": "2026-07-28"},
)
SPEC_BASE = period("baseline", 0.880, 0.841, 0.910, 359, "specificity")
SPEC_JULY = period("2026-07", 0.785, 0.720, 0.838, 181, "specificity")
SPEC_FELL = change("2026-07", -0.095, -0.163, -0.030, "specificity")
WHERE = Part((say("word.name", name="Missed cases are concentrated in scanner Y."),), element="where")
SIGNAL = {"signal": "S-1", "indicator": "sensitivity", "detected": "2026-08-17"}
OTHER_SIGNAL = {"signal": "S-2", "detected": "2026-08-20"}
SERIOUS = {"incident": "I-1", "kind": "incident", "seriousness": "serious", "status": "open"}
MINOR = {"incident": "I-2", "kind": "incident", "seriousness": "not serious", "status": "open"}


def audit(results: Sequence[Result], **groups: Any) -> Assessment:
    names = dict.fromkeys(r.place.period for r in results if r.place.period)
    fixed = {"vigilance": {"baseline_dataset": "baseline"}} | groups
    return made("vigilance", results, (), [(name or "", "period") for name in names], **fixed)


VIGILANCE = {
    "no change": audit([BASELINE, MAY, NONE]),
    "a fall that lasts": audit([BASELINE, MAY, JUNE, JULY, NONE, FELL, STILL]),
    "a fall in the latest period": audit([BASELINE, MAY, JUNE, NONE, FELL]),
    "a fall that is over": audit([BASELINE, JUNE, BACK, FELL, RECOVERED]),
    "no period before": audit([BASELINE]),
    "nothing comparable": audit([BASELINE, MAY, change("2026-05", *[float("nan")] * 3)]),
    "signal without cause": audit([BASELINE, MAY, NONE], signals=[OTHER_SIGNAL]),
    "two signals": audit([BASELINE, MAY, NONE], signals=[SIGNAL, OTHER_SIGNAL]),
    "two changes": audit([BASELINE, JULY, STILL, SPEC_BASE, SPEC_JULY, SPEC_FELL]),
    "an alert alone": audit([BASELINE, MAY, NONE, ALERT]),
    "an alert and a late signal": audit([BASELINE, JUNE, FELL, ALERT], signals=[SIGNAL]),
    "two charts of an indicator": audit([BASELINE, JUNE, FELL, EARLIER, ALERT], signals=[SIGNAL]),
    "a serious incident": audit([BASELINE, MAY, NONE], incidents=[SERIOUS, MINOR]),
    "an incident that is not serious": audit([BASELINE, MAY, NONE], incidents=[MINOR]),
    "where it lies": audit([BASELINE, JUNE, FELL], parts=(WHERE,)),
    "no baseline is declared": audit(
        [JUNE, JULY, replace(STILL, place=replace(STILL.place, reference="2026-06"))], vigilance=None
    ),
    "an alert without a baseline": audit([JUNE, JULY, STILL, ALERT], vigilance=None, signals=[OTHER_SIGNAL]),
}
VIGILANCE_SAYS = {
    "no change": (
        (
            "No change was found. Change from the baseline to May 2026: sensitivity −1.9 "
            "(−13.6 to +6.5) points."
        ),
        "",
    ),
    "a fall that lasts": (
        (
            "Yes. Sensitivity fell from 90.8% (baseline) to 61% (July 2026, 36 of 59) and "
            "has not recovered since June 2026."
        ),
        "",
    ),
    "a fall in the latest period": (
        "Yes. Sensitivity fell from 90.8% (baseline) to 65% (June 2026, 35 of 54).",
        "",
    ),
    "a fall that is over": (
        (
            "Yes. Sensitivity had fallen to 65% (June 2026, 35 of 54); in July 2026 no "
            "difference from the baseline was found (+0.7, −9.8 to +7.8 points), which does not "
            "show recovery."
        ),
        "",
    ),
    "no period before": ("It cannot be said: no period can be compared with the baseline.", ""),
    "nothing comparable": ("It cannot be said: no period can be compared with the baseline.", ""),
    "signal without cause": (
        "Yes. One signal is open; its cause is not known.",
        "Change from the baseline to May 2026: sensitivity −1.9 (−13.6 to +6.5) points.",
    ),
    "two signals": (
        "Yes. Two signals are open.",
        "Change from the baseline to May 2026: sensitivity −1.9 (−13.6 to +6.5) points.",
    ),
    "two changes": (
        (
            "Yes. Sensitivity fell from 90.8% (baseline) to 61% (July 2026, 36 of 59). "
            "Specificity fell from 88.0% (baseline) to 78.5% (July 2026, 142 of 181)."
        ),
        "",
    ),
    "an alert alone": (
        (
            "Yes. The CUSUM of sensitivity alerted in June 2026, but there is no significant "
            "difference from the baseline since."
        ),
        "Change from the baseline to May 2026: sensitivity −1.9 (−13.6 to +6.5) points.",
    ),
    "an alert and a late signal": (
        "Yes. Sensitivity fell from 90.8% (baseline) to 65% (June 2026, 35 of 54).",
        (
            "The CUSUM of sensitivity passed its limit with the cases up to 2026-06-22; with 45 days of "
            "follow-up this could be known from 2026-08-06. Signal S-1 was registered 11 days after that, "
            "on 2026-08-17."
        ),
    ),
    "two charts of an indicator": (
        "Yes. Sensitivity fell from 90.8% (baseline) to 65% (June 2026, 35 of 54).",
        (
            "The CUSUM of sensitivity passed its limit with the cases up to 2026-06-22; with 45 days of "
            "follow-up this could be known from 2026-08-06. Signal S-1 was registered 11 days after that, "
            "on 2026-08-17."
        ),
    ),
    "a serious incident": (
        "Yes. Harm or possible harm: one serious incident is open.",
        "Change from the baseline to May 2026: sensitivity −1.9 (−13.6 to +6.5) points.",
    ),
    "an incident that is not serious": (
        (
            "No change was found. Change from the baseline to May 2026: "
            "sensitivity −1.9 (−13.6 to +6.5) points."
        ),
        "",
    ),
    "where it lies": (
        (
            "Yes. Sensitivity fell from 90.8% (baseline) to 65% (June 2026, 35 of 54). Missed "
            "cases are concentrated in scanner Y."
        ),
        "",
    ),
}


VIGILANCE_SAYS |= {
    "no baseline is declared": (
        "It cannot be said whether anything has changed: no baseline is declared.",
        (
            "Difference between June 2026, the first period, and July 2026: sensitivity −29.8 "
            "(−43.1 to −16.9) points."
        ),
    ),
    "an alert without a baseline": (
        (
            "It cannot be said whether anything has changed: no baseline is declared. One signal is open; "
            "its cause is not known. The CUSUM of sensitivity passed its limit with the cases up to "
            "2026-06-22; with 45 days of follow-up this could be known from 2026-08-06. No signal was "
            "registered for it."
        ),
        (
            "Difference between baseline, the first period, and July 2026: sensitivity −29.8 "
            "(−43.1 to −16.9) points."
        ),
    ),
}


@pytest.mark.parametrize("name", VIGILANCE)
def test_the_answer_of_an_audit(name: str) -> None:
    assert sentences(VIGILANCE[name]) == VIGILANCE_SAYS[name]


def test_no_indicator_has_changed_since_a_baseline_that_is_not_there() -> None:
    for name, word in (("a fall that lasts", "worse"), ("no baseline is declared", "not known")):
        (row,) = front(VIGILANCE[name], EN).indicators
        assert (row.word, row.mark) == (word, "fail" if word == "worse" else "none")


@pytest.mark.parametrize("kind", ["vigilance", "certification"])
@pytest.mark.parametrize(
    ("declared", "said"),
    [({}, "labels of unknown error"), ({"sensitivity": 0.9, "specificity": 0.95}, "their declared error")],
)
def test_numbers_against_labels_with_error_are_no_accuracy(
    kind: str, declared: dict[str, float], said: str
) -> None:
    results = [BASELINE, JUNE, FELL] if kind == "vigilance" else [SENSITIVE, SPECIFIC]
    standard = {"kind": "error_prone", **declared}
    outcome = CheckOutcome("P73", "source_reliability", "B", "fired", say("checks.P73.fired"), Place())
    right = made(kind, results)
    fixed = {"baseline_dataset": "baseline"}
    declared_plan = plan(report={"kind": kind}, reference_standard=standard, vigilance=fixed)
    wrong = replace(right, checks=(outcome,), plan=declared_plan)
    texts = [" ".join(sentences(one)) for one in (right, wrong)]
    assert [said in text for text in texts] == [False, True]


def test_the_forest_has_a_row_for_each_criterion_by_what_it_is_about() -> None:
    groups = forest(CERTIFICATION["more occurred than predicted"], EN)
    assert [(group.heading, [row.title for row in group.rows]) for group in groups] == [
        ("The device alone", ["Sensitivity, test"]),
        ("External data", ["Observed over expected, North"]),
    ]
    (row,) = groups[1].rows
    assert (row.estimate, row.required, row.mark) == ("1.82 (1.56 to 2.13)", "0.80 to 1.25", "fail")
    assert row.picture.count('class="bound"') == 2  # two bounds, two ticks
    assert row.estimate in row.picture  # what is drawn is said to who cannot see it


def gated(*families: dict[str, Any], by: str = "secondary") -> Assessment:
    """Sensitivity, which fails, in the family main; specificity in another, which would pass."""
    criteria = [SENSITIVITY | {"multiplicity_family": "main"}, SPECIFICITY | {"multiplicity_family": by}]
    return made("certification", [MISSING, SPECIFIC], criteria, families=families)


MAIN = {"family": "main", "rule": "holm"}
NEITHER = "Neither of the two criteria has been shown to be met."


def test_what_waits_for_a_family_that_is_not_met_is_no_criterion_that_is_met() -> None:
    waits = {"family": "secondary", "rule": "holm", "after": "main"}
    for families, about in (
        ((MAIN, waits), 'tested only if the family “main” is met'),
        (
            (MAIN, {"family": "other", "rule": "none"}, {**waits, "after": ["main", "other"]}),
            'tested only if the families “main” and “other” are met',
        ),
        (
            (
                MAIN,
                {"family": "other", "rule": "none"},
                {**waits, "after": ["main", "other"], "opens_when": "any"},
            ),
            'tested only if one of the families “main” and “other” is met',
        ),
    ):
        found = gated(*families)
        assert sentences(found) == (
            f"{NEITHER} One fails: sensitivity at 70.0% (63.3% to 75.9%), required above 80%.",
            "One was not tested, because its precondition was not met: specificity.",
        )
        row = forest(found, EN)[0].rows[1]
        assert (row.about, row.word) == (f"primary, {about}", "not tested")


def test_what_no_alpha_was_handed_on_to_says_so() -> None:
    first, then = SENSITIVITY["endpoint"], SPECIFICITY["endpoint"]
    graph = {"family": "main", "rule": "graph", "weights": {first: 1}, "transitions": {first: {then: 1}}}
    row = forest(gated(graph, by="main"), EN)[0].rows[1]
    assert (row.about, row.word) == ("primary, tested only if alpha is handed on to it", "not tested")


@pytest.mark.parametrize("language", ["de", "fr", "it"])
def test_every_language_says_what_a_family_waits_for(language: str) -> None:
    waits = {"family": "secondary", "rule": "holm", "after": "main"}
    other = catalogue(language)
    found = gated(MAIN, waits)
    assert "main" in other(found.verdicts[1].reason)
    assert "main" in forest(found, other)[0].rows[1].about


def test_rows_of_one_quantity_and_bound_share_a_scale() -> None:
    groups = forest(PROCUREMENT["one fails"], EN)
    assert [group.heading for group in groups] == ["Alder", "Cedar"]
    ticks = {re.search(r'class="bound" d="M([\d.]+)', row.picture)[1] for g in groups for row in g.rows}
    assert len(ticks) == 1


def test_another_data_set_against_the_same_bound_is_what_would_change_it() -> None:
    (change,) = what_would_change_it(CERTIFICATION["the worst data set, training silent"], EN)
    assert change.name == "South"
    assert "67.0% (57.3% to 75.4%); against the same bound (above 80%) it would not be met" in change.text


def test_no_other_verdict_nothing_that_would_change_it() -> None:
    assert what_would_change_it(CERTIFICATION["all pass"], EN) == ()


def outcome(check: str, severity: Any, place: Place, **more: Any) -> CheckOutcome:
    return CheckOutcome(
        check, "advice_accuracy", severity, "fired", say("word.name", name=check), place, **more
    )


SHOWN = [share("accuracy", 533, 640, 0.802, 0.860, "test")]


def test_limits_are_ranked_by_what_they_do_to_the_answer() -> None:
    one = CERTIFICATION["one fails"]
    here, elsewhere = Place(dataset="test"), Place(dataset="other")
    checks = (
        outcome("P46", "N", here),
        outcome("P40", "W", elsewhere),
        outcome("P31", "W", elsewhere, quantities=("specificity",)),
        outcome("P06", "W", here),
        outcome("P13", "B", elsewhere),
    )
    withheld = replace(one.verdicts[0], checks=("P13",))
    one = replace(one, checks=checks, verdicts=(withheld, *one.verdicts[1:]))
    assert [own[0].check for own in ranked(one, (), EN)] == ["P13", "P06", "", "P31", "P40", "P46"]
    assert ranked(one, (), EN)[2][0].text.startswith("All test cases are of one data set, test")


@pytest.mark.parametrize("without, moves", [(0.843, False), (0.99, True)])
def test_an_adjusted_p_is_below_what_is_missing_and_what_moves_a_number(without: float, moves: bool) -> None:
    one = CERTIFICATION["one fails"]
    here = Place(dataset="test")
    cases = say("checks.P03.fired_indeterminate", n=8, x=without, y=0.833)
    checks = (
        outcome("P36", "W", here),
        replace(outcome("P03", "W", here), message=cases),
        outcome("P53", "B", here),
        outcome("P29", "W", here),
    )
    found = [own[0].check for own in ranked(replace(one, checks=checks), SHOWN, EN)]
    assert found == (["P29", "P03", "P53", "", "P36"] if moves else ["P29", "P53", "", "P03", "P36"])


def test_a_limit_that_is_long_ends_with_a_whole_item() -> None:
    items = [f"measure {i} (0.{i}, 95% CI 0.1 to 0.9)" for i in range(1, 9)]
    said = _cut(f"Not shown in {', '.join(items)}.", EN)
    assert re.fullmatch(r"Not shown in (measure \d \([^()]*\), )+and others", said)
    assert len(said) <= LONG + len(", and others")
    assert _cut("Short, and whole.", EN) == "Short, and whole."
    first = (
        "Of 88 readings that were right without the aid and got wrong advice, 44% were wrong (25% to 65%)."
    )
    assert _cut(f"{first} With wrong advice, {', '.join(items)}.", EN) == first
    assert _cut("word " * 100, EN).endswith("word …")


def of_hospitals(order: Sequence[str]) -> Assessment:
    """Published errors of two hospitals: one gains, the other loses."""
    wrong = {"A": (30, 10), "B": (30, 70)}
    sets = (
        CountsSet(
            f"Hospital {name}",
            {arm: ArmCounts(n, 300 - n) for arm, n in zip(("unaided", "aided"), wrong[name])},
        )
        for name in order
    )
    return assess(Study(arms=("unaided", "aided"), counts=tuple(sets)), plan())


@pytest.mark.parametrize("order", ["AB", "BA"])
def test_of_several_published_sets_the_worst_answers_first_by_name(order: str) -> None:
    found = answer(of_hospitals(order), EN)
    assert found.sentence.startswith(
        "Hospital B: With the aid more decisions were wrong: 23.3% against 10.0%"
    )
    assert "Hospital A: With the aid fewer decisions were wrong: 3.3% against 10.0%" in found.supporting


ACCEPTED = {"utility": {"minimum_accuracy": 0.938}}


def test_beside_criteria_a_missed_minimum_accuracy_comes_first_in_what_supports_the_answer() -> None:
    """Cabitza, Campagner (2019): users asked for 93.8% at least; their model had .84 of 417 cases."""
    low = share("accuracy", 351, 417, 0.804, 0.874, "test")
    for kind in ("certification", "procurement"):
        _, supporting = sentences(made(kind, [low, SENSITIVE], [SENSITIVITY], **ACCEPTED))
        expected = (
            "Accuracy is below 93.8%, the lowest that users accept as declared: test 84.2% (80.4% to 87.4%)."
        )
        assert supporting.startswith(expected)
    enough = share("accuracy", 190, 200, 0.91, 0.97, "test")
    both = "".join(sentences(made("certification", [enough, SENSITIVE], [SENSITIVITY], **ACCEPTED)))
    assert "users accept" not in both
    assert "users accept" not in "".join(sentences(made("certification", [low])))


@pytest.mark.parametrize(
    ("k", "low", "high", "said"),
    [
        (184, 0.87, 0.93, "Accuracy is below 93.8%, the lowest that users accept as declared: test 92.0%"),
        (184, 0.87, 0.96, "Whether accuracy reaches 93.8%, the lowest that users accept"),
        (190, 0.91, 0.97, "Whether accuracy reaches 93.8%, the lowest that users accept"),
        (196, 0.95, 0.99, "Accuracy is above 93.8%, the lowest that users accept as declared: test 98.0%"),
    ],
)
def test_without_criteria_the_minimum_accuracy_answers(k: int, low: float, high: float, said: str) -> None:
    one = made("certification", [share("accuracy", k, 200, low, high, "test"), SENSITIVE], **ACCEPTED)
    sentence, supporting = sentences(one)
    assert sentence.startswith(said)
    assert "sensitivity 90.0%" in supporting
    assert supporting.endswith("Beyond the lowest acceptable accuracy, no acceptance criteria were declared.")


def test_the_lowest_accuracies_and_the_latest_period_speak() -> None:
    sets = (("made with", "training"), ("north", "external"), ("south", "external"))
    found = [
        share("accuracy", 100, 200, 0.43, 0.57, "made with"),
        share("accuracy", 170, 200, 0.79, 0.89, "north"),
        share("accuracy", 150, 200, 0.69, 0.80, "south"),
    ]
    said, _ = sentences(made("certification", found, datasets=sets, **ACCEPTED))
    assert "declared: south 75.0% (69.0% to 80.0%) and north 85.0%" in said
    assert "made with" not in said
    months = (("2026-01", "period"), ("2026-02", "period"))
    found = [
        share("accuracy", 150, 200, 0.69, 0.80, "2026-01", period="2026-01"),
        share("accuracy", 160, 200, 0.74, 0.85, "2026-02", period="2026-02"),
    ]
    _, supporting = sentences(made("vigilance", found, datasets=months, **ACCEPTED))
    assert "declared: 2026-02 80.0%" in supporting
    assert "2026-01 75.0%" not in supporting


@pytest.mark.parametrize("language", ["de", "fr", "it"])
def test_every_language_says_that_a_minimum_is_missed(language: str) -> None:
    low = share("accuracy", 351, 417, 0.804, 0.874, "test")
    found = answer(made("certification", [low], **ACCEPTED), catalogue(language))
    assert "93,8" in found.sentence
    assert "84,2" in found.sentence


def test_the_accuracy_against_labels_has_the_decimals_of_what_follows_from_it() -> None:
    reached = result(
        "source_reliability.actual_accuracy",
        0.71,
        0.66,
        0.75,
        120,
        dataset="test",
        details={"measured": 97 / 120},
    )
    found = replace(reached, estimate=replace(reached.estimate, details={"measured": 97 / 120}))
    assert "The accuracy of 80.8% in these data" in "".join(sentences(made("certification", [found])))


def test_without_criteria_the_first_page_has_a_table_of_the_results_that_it_rests_on() -> None:
    rows = front(CERTIFICATION["no criteria"], EN).primary
    assert [(row.measure, row.data, row.estimate) for row in rows] == [
        ("Sensitivity", "test", "90.0% (85.1% to 93.4%)"),
        ("Specificity", "test", "85.0% (79.4% to 89.3%)"),
    ]
    assert front(CERTIFICATION["all pass"], EN).primary == ()
