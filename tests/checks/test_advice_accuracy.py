"""Each check of advice accuracy: a study that fires it and one that does not; published tables that must."""

from typing import Any

import numpy as np
import pytest

from tests.studies import counts, plan
from trustreport.assessment import assess
from trustreport.measures.reported.printed import declared
from trustreport.messages import catalogue
from trustreport.plan import Confusion, Plan, Reported
from trustreport.study import Cases, Dataset, Labels, Scores, Study

EN = catalogue("en")
OURS = {f"P0{k}" for k in range(1, 9)}


def fired(study: Study, declared: Plan) -> dict[str, str]:
    """Checks of this file that fired, with what they say; several remarks of one check on a line each."""
    said: dict[str, list[str]] = {}
    for outcome in assess(study, declared).fired():
        if outcome.check in OURS:
            said.setdefault(outcome.check, []).append(EN(outcome.message))
    return {check: "\n".join(texts) for check, texts in said.items()}


def table(tp: int, fp: int, fn: int, tn: int, name: str = "here", **more: Any) -> Study:
    return Study(confusion=(Confusion(set=name, tp=tp, fp=fp, fn=fn, tn=tn, **more),))


def reported(**metrics: str) -> Study:
    return Study(reported=(Reported(set="here", total=200, metrics=metrics),))


def data(name: str, role: str, positives: int, negatives: int, score: Any = None) -> Dataset:
    truth = np.repeat(np.array([1, 0], np.int8), [positives, negatives])
    shown = truth * 0.6 + 0.2 if score is None else score
    return Dataset(name, role, Cases(Labels(n=len(truth)), truth), {"": Scores(np.asarray(shown, float))})


def claims(*of: dict[str, Any]) -> Plan:
    return plan(performance_claims=[{"set": "here", **one} for one in of])


def accuracy(value: str) -> Plan:
    return claims({"measure": "accuracy", "value": value})


GOOD = table(90, 8, 10, 92)
MIXED = Study(datasets=(data("a", "tuning", 100, 100), data("b", "external", 20, 180)))
ALIKE = Study(datasets=(data("a", "training", 100, 100), data("b", "external", 95, 105)))
SILENT = Study(datasets=(data("b", "external", 30, 30, [0.9] * 30 + [0.1] * 25 + [np.nan] * 5),))
HALF = plan(operating_point={"threshold": 0.5})
PRIORITY = plan(utility={"cost_fn": 5, "cost_fp": 1})
LESIONS = plan(datasets=[{"dataset": "here", "role": "internal test", "unit_of_analysis": "lesion"}])
FRAMES = plan(datasets=[{"dataset": "here", "role": "internal test", "unit_of_analysis": "frame"}])


def excluded(n: int, *, before: bool, name: str = "here") -> Plan:
    one = {"reason": "low confidence", "n": n, "decided_before_results": before}
    return plan(datasets=[{"dataset": name, "role": "internal test", "exclusions": [one]}])


@pytest.mark.parametrize(
    "check, fires, does_not",
    [
        ("P01", (reported(recall="0.90"), plan()), (reported(recall="0.90", precision="0.80"), plan())),
        ("P01", (reported(specificity="0.90"), plan()), (reported(mcc="0.5"), plan())),
        ("P01", (GOOD, LESIONS), (GOOD, FRAMES)),
        (
            "P01",
            (Study(), plan(performance_claims=[{"measure": "sensitivity", "value": "0.9"}])),
            (GOOD, plan(performance_claims=[{"measure": "sensitivity", "value": "0.9"}])),
        ),
        ("P02", (MIXED, plan()), (ALIKE, plan())),
        ("P02", (MIXED, plan()), (MIXED, plan(utility={"prevalence_range": [0.1, 0.5]}))),
        ("P03", (GOOD, excluded(19, before=False)), (GOOD, excluded(19, before=True))),
        ("P03", (table(9, 1, 1, 9, indeterminate_positives=2), plan()), (GOOD, plan())),
        ("P03", (table(9, 1, 1, 9, indeterminate_negatives=2), plan()), (GOOD, plan())),
        ("P03", (SILENT, HALF), (ALIKE, HALF)),
        ("P04", (table(90, 0, 10, 0), plan()), (GOOD, plan())),
        ("P04", (table(0, 10, 0, 90), plan()), (GOOD, plan())),
        ("P04", (Study(datasets=(data("b", "external", 0, 9),)), plan()), (ALIKE, plan())),
        ("P04", (GOOD, claims({"measure": "negatives", "value": "0"})), (GOOD, claims())),
        ("P05", (table(40, 10, 60, 290), plan()), (GOOD, plan())),
        ("P05", (table(70, 10, 30, 90), PRIORITY), (GOOD, PRIORITY)),
        ("P05", (table(20, 700, 2, 90_000), plan()), (table(20, 2, 2, 900), plan())),
        ("P06", (GOOD, accuracy("0.92")), (GOOD, accuracy("0.91"))),
        ("P06", (table(9, 1, 1, 9, cases=21), plan()), (table(9, 1, 1, 9, cases=20), plan())),
        ("P06", (reported(recall="0.5", accuracy="0.9999"), plan()), (reported(accuracy="0.90"), plan())),
        ("P07", (table(10, 20, 0, 0), plan()), (GOOD, plan())),
        ("P07", (table(0, 0, 10, 20), plan()), (GOOD, plan())),
        ("P08", (table(5, 5, 15, 175), plan()), (GOOD, plan())),
    ],
)  # fmt: skip
def test_a_check_fires_where_it_should_and_nowhere_else(
    check: str, fires: tuple[Study, Plan], does_not: tuple[Study, Plan]
) -> None:
    assert check in fired(*fires)
    assert check not in fired(*does_not)


# ---------------------------------------------------------------- what published tables must give


def test_the_published_knee_study_fires_none_of_them() -> None:
    # Campagner, Angius, Cabitza (2023), HEALTHINF, Table 1, its printed figures as claims.
    knee = counts((367, 1181), (352, 1196), readers=13, cases=120, paired=True)
    of = [
        {
            "measure": "pragmatic_utility.error_rate",
            "arm": "aided",
            "value": "0.227",
            "ci": ["0.207", "0.248"],
        },
        {
            "measure": "pragmatic_utility.error_rate",
            "arm": "unaided",
            "value": ".237",
            "ci": [".216", ".258"],
        },
        {"measure": "pragmatic_utility.arr", "value": "0.01"},
        {"measure": "pragmatic_utility.nnd", "value": "103"},
        {"measure": "rr", "value": "0.96"},
        {"measure": "rrr", "value": "4.09%"},
        {"measure": "odds_ratio", "value": "0.95", "ci": ["0.8", "1.12"]},
    ]
    declared = plan(performance_claims=of, intended_use={"claimed_benefits": "fewer errors"})
    outcomes = [o for o in assess(knee, declared).checks if o.check in OURS]
    assert not [o for o in outcomes if o.status == "fired"]
    assert [o.check for o in outcomes if o.status == "clear"] == ["P06"]
    off = plan(performance_claims=[{**of[0], "ci": ["0.200", "0.240"]}])
    assert "interval 0.200 to 0.240 of error rate (recomputed 0.2072 to 0.2489)" in fired(knee, off)["P06"]


def test_an_accuracy_that_its_counts_do_not_give() -> None:
    # Study 3 of Hicks et al. (2022), Sci. Rep. 12, 5979: 65/33/7/1 printed with an accuracy of 94%.
    study = table(65, 7, 1, 33)
    said = fired(study, claims({"measure": "accuracy", "value": "94%"}))
    assert "accuracy 94% (recomputed 92.5%)" in said["P06"]
    assert (
        "accuracy 0.94 (recomputed 0.925)"
        in fired(study, claims({"measure": "accuracy", "value": "0.94"}))["P06"]
    )
    left_out = fired(study, excluded(19, before=False))["P03"]
    assert "19 cases" in left_out
    assert "they lower accuracy from 92.5% to 78.4%" in left_out
    assert left_out == fired(study, excluded(19, before=False, name="another name"))["P03"]
    counted = fired(table(65, 7, 1, 33, indeterminate_positives=12, indeterminate_negatives=7), plan())
    assert "Accuracy is 78.4%; without these cases it would be 92.5%" in counted["P03"]


def test_sets_of_one_class_and_a_total_that_does_not_add_up() -> None:
    # Study 4 of the same: 20 691 + 1 004 negatives, declared as 21 572.
    said = fired(table(0, 1004, 0, 20691), claims({"measure": "negatives", "value": "21 572"}))
    assert {"P04", "P06", "P07"} <= set(said)
    assert "negatives 21 572 (the counts add up to 21,695, a difference of 123)" in said["P06"]
    assert "only cases without the condition" in said["P04"]
    assert said["P07"].startswith("Not estimable because no case has the condition: Sensitivity")


def test_what_is_not_defined_is_neither_a_number_nor_the_reverse() -> None:
    one_class = table(0, 1004, 0, 20691)
    assert "P06" not in fired(one_class, claims({"measure": "recall", "value": "NA"}))
    said = fired(one_class, claims({"measure": "recall", "value": "0"}))["P06"]
    assert "sensitivity 0 (not defined (no case has the condition))" in said
    said = fired(table(5663, 251, 337, 0), claims({"measure": "specificity", "value": "NA"}))["P06"]
    assert "specificity NA (recomputed 0.000)" in said


@pytest.mark.parametrize("ci", [("0.83", "0.95"), ("0.84", "0.96"), ("0.82", "0.95"), ("84%", "96%")])
def test_an_interval_is_right_by_whichever_method_gives_it(ci: tuple[str, str]) -> None:
    # 90 of 100: Wilson .826 to .945, Wald .841 to .959, Clopper-Pearson .824 to .951.
    of = {"measure": "sensitivity", "value": "0.90", "ci": list(ci)}
    assert ("P06" in fired(GOOD, claims(of))) == (ci == ("0.83", "0.95"))


def test_means_over_both_classes() -> None:
    # The same table seen from either class, tp 11 and fp 6: precision .647 and .935.
    study = table(11, 6, 2, 29)
    of = [{"measure": "macro precision", "value": "0.79"}, {"measure": "weighted_precision", "value": "0.86"}]
    assert "P06" not in fired(study, claims(*of))
    said = fired(study, claims({"measure": "macro precision", "value": "0.80"}))["P06"]
    assert "mean positive predictive value of both classes 0.80 (recomputed 0.791)" in said


def test_a_claim_that_could_mean_several_sets_is_left_alone() -> None:
    two = Study(confusion=(*table(9, 1, 1, 9, "a").confusion, *table(5, 5, 5, 5, "b").confusion))
    of = [{"measure": "accuracy", "value": "0.123"}]
    assert "P06" not in fired(two, plan(performance_claims=of))
    assert "P06" in fired(two, plan(performance_claims=[{**of[0], "set": "b"}]))


def test_limits_of_the_manifest_are_kept() -> None:
    study = table(75, 10, 25, 90)
    assert "P05" not in fired(study, plan())
    assert "P05" in fired(study, plan(limits={"P05_gap": 0.1}))
    rare = table(20, 700, 2, 90_000)
    assert "Matthews" in fired(rare, plan())["P05"]
    assert "P05" not in fired(rare, plan(limits={"P05_mcc": 0.1, "P05_gap": 1}))
    assert "P08" in fired(GOOD, plan(limits={"P08_margin": 0.5}))


def test_checks_that_cannot_look_say_so() -> None:
    status = {o.check: o.status for o in assess(counts((3, 7), (2, 8)), plan()).checks}
    assert {status[check] for check in OURS} == {"cannot run"}


@pytest.mark.parametrize(
    "text, value, places, percent",
    [
        ("0.80", 0.8, 2, False),
        (".8", 0.8, 1, False),
        ("\N{EN DASH}0.05", -0.05, 2, False),
        ("\N{MINUS SIGN}0,05", -0.05, 2, False),
        ("88.1 %", 88.1, 1, True),
        ("21,572", 21572, 0, False),
        ("1 072 483", 1072483, 0, False),
        ("0,945", 0.945, 3, False),
        ("1,234.5", 1234.5, 1, False),
    ],
)
def test_figures_are_read_as_typed(text: str, value: float, places: int, percent: bool) -> None:
    found = declared(text)
    assert found is not None
    assert (found.value, found.places, found.percent) == (value, places, percent)


@pytest.mark.parametrize("text", ["", "NA", "-", "about 0.9", "0.9 to 0.95", "1.2.3"])
def test_what_shows_no_number_is_none(text: str) -> None:
    assert declared(text) is None
