"""The published-figures tool: names in use, all faults at once, sentences that say what was found."""

import pytest

from trustreport.assessment.infer import examine, infer
from trustreport.measures.reported.printed import KNOWN, SYNONYMS, metric_named

HALVES = {"accuracy": "0.71", "f1": "0.75"}


def test_one_table_is_said_in_counts():
    found = infer(143, None, 210, {"precision": "0.89", "recall": "0.68"})
    assert not found.contradictory
    assert "true positives 97, false negatives 46, false positives 12, true negatives 55" in found.lines[0]
    assert found.data["consistent_matrices"] == 1
    assert found.data["metrics"]["accuracy"]["low"] == pytest.approx(152 / 210)
    assert any(line.split() == ["Accuracy", "0.7238", "0.7238"] for line in found.lines)


def test_several_tables_give_a_range():
    found = infer(143, 67, None, HALVES)
    assert (
        found.lines[0]
        == "There are 9 tables of counts with 143 positives and 67 negatives that fit these figures."
    )
    assert found.lines[1] == "Matthews correlation must be between 0.453 and 0.507."


def test_a_contradiction_names_the_smallest_conflict_and_the_culprit():
    found = infer(143, 67, None, {"acc": "0.87", "ppv": "0.91", "tpr": "0.84", "dice": "0.87"})
    assert found.contradictory
    assert found.lines[0].startswith("The figures contradict each other: no table of counts with 143")
    assert found.lines[1] == "The smallest conflicting set is accuracy 0.87 and F1 score 0.87."
    assert found.lines[2] == "Without accuracy 0.87 the other figures are consistent."
    assert found.data["conflicts"] == [["accuracy", "f1"]]


@pytest.mark.parametrize("given, metrics, said", [
    ((143, 67, None), {"accuracy": "0.827"},
     "No table of counts with 143 positives and 67 negatives gives accuracy 0.827."),
    ((143, 67, None), {"accuracy": "0.827", "ppv": "0.9"}, "Even alone, accuracy 0.827 fits no such table."),
    ((3, 4, 8), {}, "The numbers of cases do not add up: 3 positives, 4 negatives, and 8 in total."),
    ((9, None, 8), {"ppv": "0.5"}, "The numbers of cases do not add up: 9 positives and 8 in total."),
    ((None, None, 106), {"ppv": "0.90", "sensitivity": "0.98", "npv": "0.97"}, "cases are positive."),
    ((None, None, 9), {"tp": "3", "fn": "2"}, "The number of positive cases is 5."),
    ((0, 5, None), {"specificity": "0.80"},
     "Not defined (0/0) in at least one of the tables that fit: sensitivity"),
    ((10**9, 10**9, None), {"mcc": "0.6"}, "there are too many tables of counts to try each"),
    ((2, 2, None), {}, "9 tables of counts"),
])  # fmt: skip
def test_what_else_is_said(given, metrics, said):
    assert any(said in line for line in infer(*given, metrics).lines)


def test_every_fault_of_the_input_is_said_at_once():
    with pytest.raises(ValueError, match="cases is not known") as raised:
        infer(None, None, None, {"precison": "0.3", "auc": "0.9", "ppv": "88", "npv": "0.9"})
    lines = str(raised.value).splitlines()
    assert lines[1:] == [
        "Unknown metric precison. Did you mean precision?",
        f"Unknown metric auc. Known are {', '.join(KNOWN)}.",
        'ppv is printed as "88", expected a number from 0 to 1. Is it per cent? Then write "88%".',
    ]


def test_a_metric_may_be_given_twice():
    assert infer(143, 67, None, [("ppv", "0.89"), ("precision", "0.92")]).contradictory


def test_a_manifest_sets_aside_what_says_nothing():
    one = examine({"ppv": "0.89", "auc": "0.93", "npv": "NA"}, positives=143, negatives=67)
    assert [f.metric for f in one.figures] == ["ppv"]
    assert one.unused == (("auc", "0.93"), ("npv", "NA"))


def test_truncated_figures_are_another_reading():
    assert infer(8, 0, None, {"sensitivity": "0.63"}, rounding="truncated").contradictory
    assert not infer(8, 0, None, {"sensitivity": "0.63"}).contradictory


@pytest.mark.parametrize("name, metric", [
    ("F1-score", "f1"), ("f1_score", "f1"), ("Jaccard", "threat_score"), ("TPR", "sensitivity"),
    ("IoU", "threat_score"),
    ("True Negative Rate", "specificity"), ("threat score", "threat_score"), ("AUC", None), ("", None),
])  # fmt: skip
def test_names_in_use(name, metric):
    assert metric_named(name) == metric


def test_every_synonym_is_reached():
    assert {metric_named(name) for name in SYNONYMS} <= set(KNOWN)
    assert all(metric_named(name) == metric for name, metric in SYNONYMS.items())
