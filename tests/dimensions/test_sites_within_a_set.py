"""Every measure at each site inside an external set: hand counts, R, and the site handed in by itself."""

import csv
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.english import english
from tests.studies import plan
from trustreport.assessment.assess import Assessment, assess
from trustreport.assessment.dimensions import advice_accuracy, advice_value, potential_robustness
from trustreport.assessment.performance import sites
from trustreport.assessment.verdicts.entries import entry
from trustreport.report.tables import table
from trustreport.study.plan import Endpoint, Plan
from trustreport.study.study import Cases, Coded, Dataset, Labels, Scores, Study
from trustreport.vocabulary.messages import Message, catalogue
from trustreport.vocabulary.results import Result, leading

# Points of curves, which only a whole set has.
CURVES = (
    "accuracy_at_coverage",
    "true_positive_share",
    "false_positive_share",
    "net_interventions_avoided",
)
EN = catalogue("en")
REFERENCE = Path(__file__).parent.parent / "reference" / "sites.csv"
AT_HALF = {"operating_point": {"threshold": 0.5}, "similarity": {"permutations": 9, "seed": 7}}
# Truth and score of two sites, counted by hand below.
NORTH = ((1, 0.9), (1, 0.8), (1, 0.7), (1, 0.4), (0, 0.6), (0, 0.3), (0, 0.2), (0, 0.1), (0, 0.2), (0, 0.05))
SOUTH = ((1, 0.9), (1, 0.3), (1, 0.6), (1, 0.2), (1, 0.55), (0, 0.1), (0, 0.7), (0, 0.4))
Rows = Sequence[tuple[int, float]]


def coded(values: Sequence[str]) -> Coded:
    """A column; an empty text is an empty cell."""
    labels = tuple(sorted(set(values) - {""}))
    return Coded(np.array([labels.index(v) if v else -1 for v in values], np.int32), Labels(labels))


def external(role: str = "external", **by_site: Rows) -> Dataset:
    """A set of these sites, in their order; `nowhere` names cases without a site."""
    rows = [(name, *row) for name, own in by_site.items() for row in own]
    site = coded(["" if name == "nowhere" else name for name, *_ in rows])
    truth = np.array([t for _, t, _ in rows], np.int8)
    score = np.array([s for *_, s in rows], float)
    return Dataset("far", role, Cases(Labels(n=len(rows)), truth, site=site), {"": Scores(score)})


def without_sites(one: Dataset) -> Dataset:
    return replace(one, cases=replace(one.cases, site=None))


def given(**groups: Any) -> Plan:
    return plan(**{**AT_HALF, **groups})


def results_of(study: Study, wanted: Plan) -> list[Result]:
    """The results of both dimensions."""
    found = [d.answer(study, wanted) for d in (advice_accuracy.DIMENSION, advice_value.DIMENSION) if d.answer]
    return [r for one in found for r in one.results]


@cache
def two() -> tuple[Result, ...]:
    """The results of both sites counted by hand."""
    return tuple(results_of(Study(datasets=(external(North=NORTH, South=SOUTH),)), given()))


def lead(results: Sequence[Result], id: str, **scope: Any) -> Result:
    found = leading(results, id, **scope)
    assert found is not None, (id, scope)
    return found


def drawn(n: int, seed: int, *, low: float = 0.0) -> Rows:
    rng = np.random.default_rng(seed)
    score = np.round(1 / (1 + np.exp(-rng.normal(low, 1.2, n))), 3)
    return tuple((int(t), float(s)) for t, s in zip(rng.random(n) < score, score))


def rules_hold(results: Sequence[Result]) -> None:
    """No key twice, one leading entry for each question, a reason for every missing number."""
    keys = Counter(json.dumps([r.id, r.scope, r.method], sort_keys=True) for r in results)
    assert max(keys.values()) == 1
    leads: Counter[str] = Counter()
    for r in results:
        where = {key: value for key, value in r.scope.items() if key != "analysis"}
        leads[json.dumps([r.id, where], sort_keys=True)] += r.primary
        e = r.estimate
        assert not (isnan(e.value) or isnan(e.low) or isnan(e.high)) or e.note, (r.id, r.scope)
    assert set(leads.values()) == {1}


# ---------------------------------------------------------------- values of others


HAND = {
    # tp, fp, fn, tn; pairs of the area won, of all; squared errors; events and scores added up
    "North": ((3, 1, 1, 5), (23, 24), 1.0425, (4, 4.25)),
    "South": ((3, 1, 2, 2), (9, 15), 0.01 + 0.49 + 0.16 + 0.64 + 0.2025 + 0.01 + 0.49 + 0.16, (5, 3.75)),
}


@pytest.mark.parametrize("site", HAND)
def test_hand_counts_of_each_site(site: str) -> None:
    (tp, fp, fn, tn), (won, pairs), squares, (events, total) = HAND[site]
    n, here = tp + fp + fn + tn, {"dataset": "far", "site": site}
    expected = {
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
        "prevalence": (tp + fn) / n,
        "accuracy": (tp + tn) / n,
        "sensitivity": tp / (tp + fn),
        "specificity": tn / (tn + fp),
        "ppv": tp / (tp + fp),
        "npv": tn / (tn + fn),
        "f1": 2 * tp / (2 * tp + fp + fn),
        "mcc": (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
        "lr_positive": tp / (tp + fn) / (fp / (fp + tn)),
        "diagnostic_odds_ratio": tp * tn / (fp * fn),
        "auc": won / pairs,
    }
    for name, value in expected.items():
        r = lead(two(), f"advice_accuracy.{name}", parameters=None, **here)
        assert r.estimate.value == pytest.approx(value, abs=1e-12), name
        assert r.estimate.low <= value <= r.estimate.high, name
    at_half = lead(two(), "advice_accuracy.net_benefit", threshold=0.5, parameters=None, **here)
    assert at_half.estimate.value == pytest.approx((tp - fp) / n)
    assert lead(two(), "advice_value.brier", **here).estimate.value == pytest.approx(squares / n)
    assert lead(two(), "advice_value.oe_ratio", **here).estimate.value == pytest.approx(events / total)


def test_wilson_interval_of_three_in_four() -> None:
    """3 of 4: (p + z²/2n ± z √(p q / n + z²/4n²)) / (1 + z²/n) with z² = 3.8415."""
    e = lead(two(), "advice_accuracy.sensitivity", site="North").estimate
    assert (e.n, e.method) == (4, "wilson")
    assert (e.low, e.high) == pytest.approx((0.30064, 0.95441), abs=2e-5)


R = {  # tests/reference/sites.R
    "North": (
        1.69138085,
        0.4428001654,
        0.003522069351,
        0.1457911333,
        1.001654908,
        0.8830787309,
        0.04226655903,
    ),
    "South": (
        0.7884978068,
        0.2564881674,
        -0.68212747,
        0.1906320778,
        0.6899128985,
        0.7219065657,
        0.06157900443,
    ),
}
SPECIFICITY = {
    "North": (0.8378378378, 0.688635163, 0.9234879277),
    "South": (0.7272727273, 0.6095777422, 0.81996655),
}


def from_file() -> Dataset:
    by_site: dict[str, list[tuple[int, float]]] = {}
    with REFERENCE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            by_site.setdefault(row["site"], []).append((int(row["truth"]), float(row["score"])))
    return external(**by_site)


def test_calibration_and_area_of_each_site_as_in_r() -> None:
    results = results_of(Study(datasets=(from_file(),)), given())
    for site, (slope, se, large, brier, ratio, area, area_se) in R.items():

        def value(id: str, site: str = site) -> Any:
            return lead(results, id, site=site, parameters=None).estimate

        assert value("advice_value.calibration_slope").value == pytest.approx(slope, rel=1e-6)
        assert value("advice_value.calibration_slope").se == pytest.approx(se, rel=1e-5)
        assert value("advice_value.calibration_intercept").value == pytest.approx(large, abs=1e-7)
        assert value("advice_value.brier").value == pytest.approx(brier, rel=1e-9)
        assert value("advice_value.oe_ratio").value == pytest.approx(ratio, rel=1e-9)
        assert value("advice_accuracy.auc").value == pytest.approx(area, rel=1e-9)
        found = next(
            r
            for r in results
            if r.id == "advice_accuracy.auc" and r.method == "delong" and r.within(site=site)
        )
        assert found.estimate.se == pytest.approx(area_se, rel=1e-8)
        e = value("advice_accuracy.specificity")
        assert (e.value, e.low, e.high) == pytest.approx(SPECIFICITY[site], rel=1e-8)


# ---------------------------------------------------------------- as a set of its own

RICH: dict[str, Any] = {
    "datasets": [{"dataset": "far", "role": "external", "cluster_keys": ["patient", "site"]}],
    "operating_point": {"threshold": 0.5, "indeterminate_as": "wrong", "fpr_groups": [[0.0, 0.3]]},
    "intended_use": {"prevalence_expected": 0.2},
    "utility": {"threshold_range": [0.2, 0.6], "matrices": [{"name": "loss", "matrix": [[1, -4], [-1, 2]]}]},
}


def rich() -> Dataset:
    """Three sites, some patients with two cases, some cases without a score."""
    one = external(A=drawn(60, 1), B=drawn(45, 2, low=-0.5), C=drawn(40, 3, low=0.4))
    n = len(one.cases)
    patient = coded([f"p{i // 2 if i % 5 else i + 1000}" for i in range(n)])
    score = np.where(np.arange(n) % 17 == 3, np.nan, np.asarray(one.scores[""].score))
    return replace(one, cases=replace(one.cases, patient=patient), scores={"": Scores(score)})


def alone(one: Dataset, site: str) -> Dataset:
    """The cases of one site as a set by themselves."""
    cases, scores = one.cases, one.scores[""]
    assert cases.site is not None
    assert cases.patient is not None
    assert scores.score is not None
    kept = cases.site.codes == list(cases.site.labels).index(site)
    patient = Coded(cases.patient.codes[kept], cases.patient.labels)
    own = Cases(Labels(n=int(kept.sum())), cases.truth[kept], patient=patient)
    return replace(one, cases=own, scores={"": Scores(scores.score[kept])})


def rich_plan() -> Plan:
    return given(**RICH)


def test_a_site_is_measured_as_if_it_were_a_set_by_itself() -> None:
    one, wanted = rich(), rich_plan()
    within = results_of(Study(datasets=(one,)), wanted)
    rules_hold(within)
    for site in "ABC":
        by_itself = {key(r): r for r in results_of(Study(datasets=(alone(one, site),)), wanted)}
        of_site = {key(r): r for r in within if r.within(site=site)}
        # Other numbers of bins have no interval, and are left out at sites; so are curves.
        curves = {k for k, r in by_itself.items() if r.name in CURVES or "strategy" in r.parameters}
        missing = by_itself.keys() - of_site.keys() - curves
        assert len(missing) == 6
        assert all(any(f'"bins": {n}' in k for n in (5, 15, 20)) for k in missing)
        assert not of_site.keys() - by_itself.keys()
        assert len(of_site) > 100
        for k, r in of_site.items():
            other, e = by_itself[k].estimate, r.estimate
            assert (e.value, e.n) == pytest.approx((other.value, other.n), rel=1e-12, nan_ok=True), k
            resampled = "replicates" in e.details or "auc_group" in k
            near: dict[str, float] = {"abs": 0.12} if resampled else {"rel": 1e-9, "abs": 1e-12}
            ends = (other.low, other.high)
            assert (e.low, e.high) == pytest.approx(ends, **near, nan_ok=True), k
            assert r.primary == by_itself[k].primary, k


def key(r: Result) -> str:
    """Id, method and scope, the site apart."""
    scope = {name: value for name, value in r.scope.items() if name != "site"}
    return json.dumps([r.id, r.method, scope], sort_keys=True)


def test_every_quantity_of_the_set_is_there_at_each_site() -> None:
    results = results_of(Study(datasets=(rich(),)), rich_plan())
    whole = {r.id for r in results if "site" not in r.scope}
    curves = {f"advice_accuracy.{name}" for name in CURVES}
    assert curves <= whole
    for site in "ABC":
        assert {r.id for r in results if r.scope.get("site") == site} == whole - curves
    assert {"advice_accuracy.utility_yield", "advice_accuracy.indeterminate", "advice_value.voi"} <= whole


# ---------------------------------------------------------------- the whole stays the whole


def assessed(one: Dataset, wanted: Plan) -> Assessment:
    train = external("training", all=drawn(80, 9))
    train = replace(without_sites(train), name="train")
    return assess(Study(datasets=(train, one)), wanted)


def test_nothing_that_means_the_whole_set_takes_up_a_site() -> None:
    use = {"prevalence_expected": 0.05}
    endpoints = [{"endpoint": "finds", "measure": "advice_accuracy.sensitivity", "bound_or_margin": 0.5}]
    wanted = given(
        intended_use=use, endpoints=endpoints, performance_claims=[{"measure": "auc", "value": "0.9"}]
    )
    one = external(A=drawn(70, 1), B=drawn(60, 2, low=-0.9), C=drawn(9, 4))
    split, plain = assessed(one, wanted), assessed(without_sites(one), wanted)
    mine = {"P11", "P47"}  # look at the sites themselves

    def said(found: Assessment) -> list[tuple[str, Any, str]]:
        return [(c.check, dict(c.scope), EN(c.message)) for c in found.checks if c.check not in mine]

    assert said(split) == said(plain)
    assert [(v.word, EN(v.reason)) for v in split.verdicts] == [
        (v.word, EN(v.reason)) for v in plain.verdicts
    ]
    whole = [r for r in split.results if "site" not in r.scope and r.id.split(".")[0].startswith("advice_")]
    before = [r for r in plain.results if r.id.split(".")[0].startswith("advice_")]
    assert [(r.id, r.scope, str(r.estimate)) for r in whole] == [
        (r.id, r.scope, str(r.estimate)) for r in before
    ]


def test_a_criterion_names_a_site_or_means_the_set() -> None:
    study = Study(datasets=(external(North=NORTH, South=SOUTH),))

    def answer(**where: Any) -> Result | Message:
        criterion = Endpoint(endpoint="finds", measure="advice_accuracy.specificity", **where)
        return entry(criterion, study, given(), two())

    for where, value in (
        ({}, 7 / 9),
        ({"site": "North"}, 5 / 6),
        ({"site": "South", "dataset": "far"}, 2 / 3),
    ):
        found = answer(**where)
        assert isinstance(found, Result)
        assert found.estimate.value == pytest.approx(value)
    assert isinstance(answer(site="East"), Message)


def test_leading_is_of_the_set_unless_a_site_is_named() -> None:
    turned = tuple(sorted(two(), key=lambda r: "site" not in r.scope))
    assert lead(turned, "advice_accuracy.tp", dataset="far").estimate.value == 6
    assert lead(turned, "advice_accuracy.tp", dataset="far", site="South").estimate.value == 3


# ---------------------------------------------------------------- which sites


def names(results: Sequence[Result]) -> set[str]:
    return {r.scope["site"] for r in results if "site" in r.scope}


def test_only_sets_of_others_with_two_sites_are_taken_apart() -> None:
    for role in ("training", "tuning", "period", "internal test"):
        one = external(role, North=NORTH, South=SOUTH)
        assert not names(results_of(Study(datasets=(one,)), given())), role
    assert names(results_of(Study(datasets=(external("local", North=NORTH, South=SOUTH),)), given())) == {
        "North",
        "South",
    }
    assert not names(results_of(Study(datasets=(external(North=NORTH),)), given()))


def test_a_case_without_a_site_is_in_none() -> None:
    one = external(North=NORTH, nowhere=((1, 0.9), (0, 0.9)), South=SOUTH)
    results = results_of(Study(datasets=(one,)), given())
    counted = {
        site: lead(results, "advice_accuracy.tp", site=site).estimate for site in (None, "North", "South")
    }
    assert {site: (e.value, e.n) for site, e in counted.items()} == {
        None: (7, 20),
        "North": (3, 10),
        "South": (3, 8),
    }
    assert any("Two cases of far have no site" in text for text in texts(one))


def test_a_site_of_one_class_or_one_case_says_why() -> None:
    results = results_of(
        Study(datasets=(external(North=NORTH, Sick=((1, 0.9), (1, 0.2)), One=((0, 0.3),)),)), given()
    )
    rules_hold(results)
    for site, id in (("Sick", "specificity"), ("Sick", "auc"), ("One", "sensitivity"), ("One", "auc")):
        e = lead(results, f"advice_accuracy.{id}", site=site).estimate
        assert isnan(e.value)
        assert e.note
    slope = lead(results, "advice_value.calibration_slope", site="Sick").estimate
    assert isnan(slope.value)
    assert slope.note


def test_a_site_where_nothing_had_an_output_counts_by_the_declared_rule() -> None:
    one = external(North=NORTH, South=SOUTH, Mute=((1, np.nan), (0, np.nan), (1, np.nan)))
    wanted = given(operating_point={"threshold": 0.5, "indeterminate_as": "wrong"})
    results = results_of(Study(datasets=(one,)), wanted)
    rules_hold(results)
    e = lead(results, "advice_accuracy.accuracy", site="Mute", parameters=None).estimate
    assert (e.value, e.n) == (0, 3)
    assert isnan(lead(results, "advice_accuracy.auc", site="Mute").estimate.value)
    assert names(results_of(Study(datasets=(one,)), given())) == {"North", "South"}


# ---------------------------------------------------------------- what many sites cost


def test_many_sites_have_fewer_resamples_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(datasets=(external(A=drawn(30, 1), B=drawn(30, 2), C=drawn(30, 3)),))

    def drawings(id: str) -> Any:
        return lead(results_of(study, given()), f"advice_value.{id}", site="B").estimate

    assert drawings("ece").method == "gap_bounds"
    assert drawings("ici").details["replicates"] == sites.FEWER
    monkeypatch.setattr(advice_value, "MOST_CURVES", 2)
    assert isnan(drawings("ici").low)
    assert drawings("ici").note


def test_of_a_set_with_too_many_sites_only_what_is_compared_is_told() -> None:
    one = external(**{f"S{i:03d}": drawn(4, i) for i in range(sites.MOST_SITES + 1)})
    assert not names(results_of(Study(datasets=(one,)), given()))
    assert names(robustness(one).results) == set(one.cases.site.labels if one.cases.site else ())
    assert any(f"{sites.MOST_SITES + 1} sites" in text for text in texts(one))


def test_net_benefit_of_a_site_stands_at_few_thresholds() -> None:
    study = Study(datasets=(external(North=NORTH, South=SOUTH),))
    results = results_of(study, given(utility={"thresholds": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}))
    at = {r.scope["threshold"] for r in results if r.id.endswith(".net_benefit") and r.within(site="North")}
    assert at == {0.1, 0.5, 0.6}


# ---------------------------------------------------------------- outside


def test_a_public_report_closes_a_small_site_and_another_so_that_it_cannot_be_reckoned() -> None:
    one = external(A=drawn(90, 1), B=drawn(70, 2), C=SOUTH, D=drawn(100, 5))
    wanted = given(report={"kind": "certification", "release": "public"})
    results = results_of(Study(datasets=(one,)), wanted)
    told = {site: [r for r in results if r.within(site=site)] for site in "ABCD"}
    for site in "BC":  # C has cells of one and two; B is the smallest of the others
        assert all(isnan(r.estimate.value) and r.estimate.n == 0 and not r.details for r in told[site])
        assert {english(r.estimate.note) for r in told[site]} == {"suppressed: fewer than 5"}
    for site in "AD":
        assert lead(told[site], "advice_accuracy.accuracy", site=site, parameters=None).estimate.value > 0
    compared = robustness(one, wanted)
    shut = [r for r in compared.results if r.scope.get("site") in ("B", "C")]
    assert shut
    assert all(isnan(r.estimate.value) for r in shut)
    rows = [row for t in tables(one, wanted) for row in t[1] if "suppressed" in row[0]]
    assert len(rows) == 4
    said = [EN(m) for part in compared.parts for m in part.finding]
    assert any(text.startswith("Suppressed: B and C hold a cell of fewer than 5 cases") for text in said)
    assert all(set(row[1:]) == {EN("table.empty")} for row in rows)


# ---------------------------------------------------------------- telling


def robustness(one: Dataset, wanted: Plan | None = None) -> Any:
    answer = potential_robustness.DIMENSION.answer
    assert answer is not None
    return answer(Study(datasets=(one,)), wanted or given())


def texts(one: Dataset) -> list[str]:
    return [EN(m) for part in robustness(one).parts for m in part.finding]


def tables(one: Dataset, wanted: Plan | None = None) -> list[tuple[list[str], list[list[str]]]]:
    """Headers and rows of the tables of sites."""
    found = [t for part in robustness(one, wanted).parts for t in part.tables if "_sites_" in t.id]
    done = [table(t, EN) for t in found]
    return [([h.text for h in t.heads], [[c.text for c in line.cells] for line in t.lines]) for t in done]


def test_a_row_for_each_site() -> None:
    (heads, rows), (others, scores) = tables(external(North=NORTH, South=SOUTH))
    assert heads == ["Site", "Cases", "Positive", "Accuracy", "Sensitivity", "Specificity", "PPV", "NPV"]
    assert [row[:3] for row in rows] == [["North", "10", "4"], ["South", "8", "5"]]
    assert rows[0][4].startswith("0.75 (0.30 to 0.95)")
    assert rows[1][6:] == ["0.75", "0.50"]
    assert others == ["Site", "Cases", "AUC", "Brier score", "Slope", "O/E"]
    assert scores[1][2].startswith("0.60 (")


def test_decisions_alone_have_one_table() -> None:
    one = external(North=NORTH, South=SOUTH)
    said = np.asarray(one.scores[""].score) >= 0.5
    found = tables(replace(one, scores={"": Scores(decision=said.astype(np.int8))}))
    assert len(found) == 1
    assert found[0][1][1][:3] == ["South", "8", "5"]
