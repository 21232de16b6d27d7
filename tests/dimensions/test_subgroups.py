"""Subgroups: hand counts, what is held against what, families, small and unknown groups."""

import json
import re
from math import isnan
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.dimensions.test_potential_robustness import rules_hold, texts
from tests.english import english
from tests.studies import plan
from trustreport.assessment.dimensions.subgroups import DIMENSION
from trustreport.assessment.dimensions.subgroups.readers import of_cases
from trustreport.assessment.finding import Finding
from trustreport.assessment.performance.case_groups import divisions
from trustreport.assessment.performance.readers import endpoints
from trustreport.measures.association import holm
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.independent import estimated
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.proportion import wilson
from trustreport.measures.subgroups import share_difference
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Coded, Dataset, Labels, Readers, Readings, Scores, Study
from trustreport.vocabulary.messages import Message, catalogue
from trustreport.vocabulary.results import Result

EN = catalogue("en")
SEX = {"name": "sex", "prespecified": True}


def coded(values: Any) -> Coded:
    """A column of names, "" where there is none."""
    labels = sorted({str(v) for v in values} - {""})
    codes = [labels.index(str(v)) if str(v) else -1 for v in values]
    return Coded(np.array(codes, np.int32), Labels(tuple(labels)))


def cases(truth: Any, patient: Any = None, **groups: Any) -> Cases:
    columns = {name: coded(values) for name, values in groups.items()}
    own = None if patient is None else coded(patient)
    return Cases(Labels(n=len(truth)), np.asarray(truth, np.int8), patient=own, groups=columns)


def counted(**groups: tuple[int, int, int, int]) -> Study:
    """One data set; tp, fp, fn, tn of each value of a column sex, "unknown" where there is none."""
    truth, decision, sex = [], [], []
    for name, cells in groups.items():
        for n, (t, d) in zip(cells, ((1, 1), (0, 1), (1, 0), (0, 0))):
            truth += [t] * n
            decision += [d] * n
            sex += ["" if name == "unknown" else name] * n
    return scored(cases(truth, sex=sex), decision=decision)


def scored(of: Cases, role: str = "external", decision: Any = None, score: Any = None) -> Study:
    said = Scores(
        None if score is None else np.asarray(score, float),
        None if decision is None else np.asarray(decision, np.int8),
    )
    return Study(datasets=(Dataset("site", role, of, {"": said}),))


def declared(*subgroups: dict[str, Any], **groups: Any) -> Plan:
    return plan(subgroups=list(subgroups or (SEX,)), **groups)


def answer(study: Study, given: Plan | None = None) -> Finding:
    assert DIMENSION.answer is not None
    return DIMENSION.answer(study, given or declared())


def entry(found: Finding, id: str, **scope: Any) -> Result:
    hits = [r for r in found.results if r.id == id and r.within(**scope)]
    assert len(hits) == 1, (id, scope, [r.scope for r in hits])
    return hits[0]


def share(found: Finding, name: str, group: str) -> Result:
    return entry(found, "subgroups.group_performance", endpoint=name, subgroup=group)


def gap(found: Finding, endpoint: str, group: str) -> Result:
    return entry(found, "subgroups.subgroup_difference", subgroup=group, endpoint=endpoint)


TWO = {"F": (30, 12, 20, 60), "M": (45, 10, 9, 70)}


def test_hand_counts_of_two_groups() -> None:
    found = answer(counted(**TWO))
    rules_hold(found)
    for name, (tp, fp, fn, tn) in TWO.items():
        for measure in ("accuracy", "sensitivity", "specificity", "ppv", "npv", "prevalence"):
            wanted = estimated(MEASURES[measure], ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn))
            own = share(found, measure, f"sex: {name}").estimate
            assert (own.value, own.low, own.high, own.n) == (wanted.value, wanted.low, wanted.high, wanted.n)
        assert share(found, "fn", f"sex: {name}").estimate.value == fn
    women = gap(found, "sensitivity", "sex: F")
    wanted = share_difference(30, 50, 45, 54)
    assert (women.estimate.value, women.estimate.low, women.estimate.p) == (
        wanted.value,
        wanted.low,
        wanted.p,
    )
    assert women.estimate.value == pytest.approx(30 / 50 - 45 / 54)
    assert women.scope["parameters"] == {"against": "rest"}
    assert gap(found, "npv", "sex: M").estimate.value == pytest.approx(70 / 79 - 60 / 80)
    texts(found)


def test_mirrored_comparisons_count_once() -> None:
    found = answer(counted(**TWO))
    women, men = gap(found, "sensitivity", "sex: F"), gap(found, "sensitivity", "sex: M")
    assert women.estimate.value == -men.estimate.value
    assert women.details["comparisons"] == 2  # sensitivity and specificity, no score for an area
    ps = [gap(found, name, "sex: F").estimate.p for name in ("sensitivity", "specificity")]
    assert women.details["p_holm"] == men.details["p_holm"] == pytest.approx(holm(ps)[0])
    accuracy = gap(found, "accuracy", "sex: F")
    assert (accuracy.details["family"], accuracy.details["comparisons"]) == ("exploratory", 3)


def test_what_was_planned_is_not_tested_again_where_somebody_looked_further() -> None:
    """One comparison has one adjusted p: women against men, as a column and as a condition."""
    again = {"name": "women", "definition": "sex = F", "prespecified": False}
    found = answer(counted(**TWO), declared(SEX, again))
    for endpoint in ("sensitivity", "specificity", "accuracy"):
        planned, further = gap(found, endpoint, "sex: F"), gap(found, endpoint, "women")
        assert planned.estimate.p == further.estimate.p
        assert planned.details["p_holm"] == further.details["p_holm"]
        assert planned.details["family"] == further.details["family"]
    assert gap(found, "sensitivity", "women").details["comparisons"] == 2


def test_where_errors_lie_is_told_with_the_p_of_the_declared_group() -> None:
    found = answer(counted(**TWO))
    lies = [r for r in found.results if r.name == "crossed_difference"]
    assert {r.endpoint for r in lies} == {"false_negative_rate", "false_positive_rate"}
    for r in lies:
        of = {"false_negative_rate": "sensitivity", "false_positive_rate": "specificity"}[r.endpoint]
        same = gap(found, of, str(r.place.subgroup))
        assert r.estimate.value == pytest.approx(-same.estimate.value)
        assert r.details["p_holm"] == same.details["p_holm"]


def test_a_group_not_fixed_in_advance_is_exploratory() -> None:
    found = answer(counted(**TWO), declared({"name": "sex"}))
    women = gap(found, "sensitivity", "sex: F")
    assert women.details["family"] == "exploratory"
    assert "exploratory: not fixed in advance" in english(women.estimate.note)
    assert any("exploratory" in text for text in texts(found))
    planned = gap(answer(counted(**TWO)), "sensitivity", "sex: F")
    assert "exploratory" not in english(planned.estimate.note)


def test_a_declared_reference_takes_the_place_of_the_rest() -> None:
    study = counted(F=(30, 12, 20, 60), M=(45, 10, 9, 70), X=(20, 10, 20, 40))
    found = answer(study, declared({**SEX, "reference": "M"}))
    assert gap(found, "sensitivity", "sex: X").estimate.value == pytest.approx(20 / 40 - 45 / 54)
    assert gap(found, "sensitivity", "sex: X").scope["parameters"] == {"against": "sex: M"}
    assert not [
        r for r in found.results if r.id == "subgroups.subgroup_difference" and r.within(subgroup="sex: M")
    ]
    against_rest = gap(answer(study), "sensitivity", "sex: X").estimate.value
    assert against_rest == pytest.approx(20 / 40 - 75 / 104)


def test_the_test_over_all_groups() -> None:
    found = answer(counted(F=(30, 12, 20, 60), M=(45, 10, 9, 70), X=(20, 10, 20, 40)))
    over = entry(
        found, "subgroups.interaction", endpoint="sensitivity", parameters={"attribute": "sex"}
    ).estimate
    # R 4.2.2: prop.test(c(30, 45, 20), c(50, 54, 40))
    assert over.p == pytest.approx(0.0018452021)
    assert over.value == pytest.approx(45 / 54 - 20 / 40)


def test_small_groups_are_counted_not_rated() -> None:
    found = answer(counted(F=(4, 12, 5, 60), M=(45, 10, 9, 70)))
    rules_hold(found)
    women = share(found, "sensitivity", "sex: F").estimate
    assert isnan(women.value)
    assert english(women.note) == "4 of 9 positives detected; too few for a percentage"
    assert share(found, "specificity", "sex: F").estimate.value == pytest.approx(60 / 72)
    assert isnan(share(found, "accuracy", "sex: F").estimate.value)
    assert isnan(gap(found, "sensitivity", "sex: M").estimate.value)
    assert not isnan(gap(found, "specificity", "sex: M").estimate.value)
    said = texts(found)
    assert "4 of 9" in said
    assert any(t.startswith("sex: F has fewer than 10 positives or 10 negatives") for t in said)
    lower = declared({**SEX, "min_positives": 5})
    assert share(answer(counted(F=(4, 12, 5, 60)), lower), "sensitivity", "sex: F").estimate.value == 4 / 9
    limit = declared(limits={"P37_positives": 9})
    assert share(answer(counted(F=(4, 12, 5, 60)), limit), "sensitivity", "sex: F").estimate.value == 4 / 9


def test_few_cases_are_remarked() -> None:
    found = answer(counted(F=(15, 12, 9, 60), M=(45, 10, 9, 70)))
    assert "few cases: 24 positives" in english(share(found, "sensitivity", "sex: F").estimate.note)
    assert "few cases" not in english(share(found, "specificity", "sex: F").estimate.note)


def test_unknown_values_are_in_no_group_and_said() -> None:
    found = answer(counted(F=TWO["F"], M=TWO["M"], unknown=(3, 1, 2, 5)))
    unknown = entry(found, "subgroups.unknown", parameters={"attribute": "sex"}).estimate
    assert (unknown.value, unknown.n) == (11, 267)
    assert gap(found, "sensitivity", "sex: F").estimate.n == 104
    assert "sex is unknown for 11 of 267 cases, which are in no group." in texts(found)


AGES = cases(
    [1, 0, 1, 0, 1, 0], age=["40", "50", "65", "70", "80", ""], scanner=["A", "B", "A", "C", "B", "A"]
)


@pytest.mark.parametrize(
    "definition, inside",
    [
        ("age >= 65", [2, 3, 4]),
        ("age < 65", [0, 1]),
        ("Age ≥ 50 and age < 80", [1, 2, 3]),
        ("scanner = a", [0, 2, 5]),
        ("scanner != A", [1, 3, 4]),
        ("scanner in A, C", [0, 2, 3, 5]),
        ("scanner not in (A, C)", [1, 4]),
        ("age > 45 and scanner = 'B'", [1, 4]),
        ("age = 65.0", [2]),
        ("65 <= age < 80", [2, 3]),
        ("80 > age ≥ 65 and scanner = A", [2]),
        ("65 <= age", [2, 3, 4]),
    ],
)
def test_definitions(definition: str, inside: list[int]) -> None:
    (division,) = divisions(declared({"name": "group", "definition": definition}), AGES)
    (group,) = division.groups
    assert np.flatnonzero(group.mask).tolist() == inside
    assert group.name == "group"
    known = ~division.unknown
    assert np.array_equal(group.against, known & ~group.mask)


def test_a_text_for_readers_leaves_the_column_to_the_name() -> None:
    (division,) = divisions(declared({"name": "Scanner", "definition": "as in the DICOM header"}), AGES)
    assert [g.name for g in division.groups] == ["scanner: A", "scanner: B", "scanner: C"]
    assert division.disjoint


@pytest.mark.parametrize(
    "given, said",
    [
        ({"name": "sex", "definition": "self-declared"}, "the cases have no column sex"),
        ({"name": "women", "definition": "sex = F"}, "the cases have no column sex"),
        ({"name": "A", "definition": "scanner >= 3"}, "scanner does not hold numbers throughout"),
    ],
)
def test_a_group_that_cannot_be_formed_says_why(given: dict[str, Any], said: str) -> None:
    (division,) = divisions(declared(given), AGES)
    assert not division.groups
    assert division.absent is not None
    assert said in EN(division.absent)


def test_many_values_are_no_groups() -> None:
    many = cases([0, 1] * 20, age=[str(30 + i) for i in range(40)])
    (division,) = divisions(declared({"name": "age"}), many)
    assert division.absent is not None
    assert "age has 40 values" in EN(division.absent)


def test_overlapping_groups_are_said() -> None:
    truth = np.tile([0, 1], 60)
    study = scored(cases(truth, age=[str(30 + i // 2) for i in range(120)]), decision=truth)
    given = declared(
        {"name": "over 50", "definition": "age > 50"}, {"name": "under 70", "definition": "age < 70"}
    )
    found = answer(study, given)
    assert "over 50 and under 70 share 38 cases: their results are not independent." in texts(found)
    assert not [r for r in found.results if r.id == "subgroups.interaction"]


def test_patients_with_several_cases_widen_the_comparison() -> None:
    rng = np.random.default_rng(2)
    truth = np.repeat(rng.integers(0, 2, 60), 4)
    decision = np.where(np.repeat(rng.random(60) < 0.75, 4), truth, 1 - truth)
    sex = np.repeat(np.where(np.arange(60) % 2, "F", "M"), 4)
    patient = np.repeat(np.arange(60), 4)
    alone = gap(answer(scored(cases(truth, sex=sex), decision=decision)), "accuracy", "sex: F").estimate
    found = answer(scored(cases(truth, patient, sex=sex), decision=decision))
    together = gap(found, "accuracy", "sex: F").estimate
    assert together.method == "miettinen_nurminen_clustered"
    assert together.value == pytest.approx(alone.value)
    assert together.high - together.low > 1.7 * (alone.high - alone.low)
    assert share(found, "accuracy", "sex: F").method == "cluster_wilson"
    rules_hold(found)


def test_scores_without_a_threshold_give_areas_only() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 200)
    found = answer(scored(cases(truth, sex=["F", "M"] * 100), score=truth + rng.normal(0, 1, 200)))
    rules_hold(found)
    texts(found)
    assert {(r.name, r.endpoint) for r in found.results} == {
        ("group_performance", "auc"),
        ("worst_group", "auc"),
        ("subgroup_difference", "auc"),
        ("interaction", "auc"),
        ("unknown", ""),
    }
    over = entry(found, "subgroups.interaction", endpoint="auc").estimate
    two = gap(found, "auc", "sex: F").estimate
    assert over.p == pytest.approx(two.p, abs=0.01)  # chi-square and t of the same difference


def test_data_of_making_are_left_out() -> None:
    study = scored(cases([0, 1] * 20, sex=["F", "M"] * 20), "training", decision=[0, 1] * 20)
    assert DIMENSION.lacks(study, declared()) is not None
    assert DIMENSION.lacks(counted(**TWO), plan()) is not None
    assert DIMENSION.lacks(counted(**TWO), declared()) is None


# ---------------------------------------------------------------- all sets together


def two_sets() -> Study:
    one, other = counted(**TWO), counted(F=(48, 12, 2, 60), M=(50, 10, 4, 70))
    far = Dataset("far", "external", other.datasets[0].cases, other.datasets[0].scores)
    return Study(datasets=(*one.datasets, far))


def test_the_largest_difference_of_all_sets_is_named_first() -> None:
    found = answer(two_sets())
    first = found.parts[0]
    assert first.element == "group_differences"
    said = [EN(one) for one in first.finding]
    wanted = share_difference(30, 50, 45, 54)
    assert said[0].startswith(
        "The largest difference between groups is in sensitivity, site: "
        "23.3 points lower for female patients than for male "
        f"(95% CI {-100 * wanted.high:.1f} to {-100 * wanted.low:.1f}, unadjusted; adjusted p"
    )
    rows = [[EN(c) if isinstance(c, Message) else c for c in row] for row in first.tables[0].rows]
    sizes = [abs(row[3].value) for row in rows]
    assert sizes == sorted(sizes, reverse=True)
    assert rows[0][:3] == ["Sensitivity", "site", "female patients minus male"]
    # Each difference once, the lower group first: sensitivity and specificity of two sets, by either name.
    assert sum(row[0] in ("Sensitivity", "Specificity") for row in rows) == 4
    assert all(row[3].value <= 0 for row in rows)
    (figure,) = first.figures
    assert {row["label"] for row in figure.drawing.values(EN)} == {"site", "far"}
    # Sentence and table count the same tests, and name what they are of.
    counts = [re.search(r"(\d+) differences in ([^.]*?accuracy.*?) remained", one) for one in said]
    (tested,) = [one for one in counts if one]
    assert f"Holm-adjusted within each data set over {tested[1]} differences" in EN(first.tables[0].caption)


def test_groups_too_small_are_named_and_nothing_is_compared() -> None:
    found = answer(counted(F=(4, 2, 5, 6), M=(45, 10, 9, 70)))
    assert not [part for part in found.parts if part.element]
    three = answer(counted(F=(4, 2, 5, 6), M=(45, 10, 9, 70), X=(30, 10, 20, 60)))
    said = [EN(one) for one in three.parts[0].finding]
    assert said[-1] == "Too few cases for a comparison: female patients in site (9 positives, 8 negatives)."


# ---------------------------------------------------------------- readers


def read(seed: int = 1, missing: float = 0.0, scores: bool = False) -> Study:
    """Eight readers of 80 cases in two arms; the aid helps on hard cases."""
    rng = np.random.default_rng(seed)
    truth, hard = np.arange(80) % 2, np.arange(80) % 4 > 1
    arm, reader, case = np.nonzero(rng.random((2, 8, 80)) >= missing)
    right = rng.random(arm.shape) < 0.7 + 0.2 * arm * hard[case]
    decision = np.where(right, truth[case], 1 - truth[case])
    rating = truth[case] + rng.normal(0, 1.2 - 0.5 * arm * hard[case])
    table = Readings(
        "",
        ("unaided", "aided"),
        Readers(Labels(n=8)),
        cases(truth, difficulty=np.where(hard, "hard", "easy")),
        arm.astype(np.int32),
        reader.astype(np.int32),
        case.astype(np.int32),
        decision.astype(np.int8),
        rating if scores else None,
    )
    return Study(arms=("unaided", "aided"), readings=(table,))


DIFFICULTY = declared({"name": "difficulty", "prespecified": True})


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_the_gain_in_a_group_is_that_of_a_study_of_its_cases(missing: float) -> None:
    study = read(missing=missing, scores=True)
    found = answer(study, DIFFICULTY)
    rules_hold(found)
    texts(found)
    gains = {}
    for group, mask in (("hard", np.arange(80) % 4 > 1), ("easy", np.arange(80) % 4 <= 1)):
        for endpoint in endpoints(of_cases(study.readings[0], mask), ("aided", "unaided"), 0.95):
            analysis = endpoint.analyse(endpoint.outcome)
            differences = analysis.differences(0.95)
            wanted = differences[analysis.first(differences)]
            own = entry(
                found,
                "decision_benefit.arm_difference",
                endpoint=endpoint.name,
                subgroup=f"difficulty: {group}",
            ).estimate
            assert (own.value, own.low, own.high) == (wanted.value, wanted.low, wanted.high)
            gains[endpoint.name, group] = own.value
    assert {name for name, _ in gains} == {"accuracy", "sensitivity", "specificity", "auc"}
    for name in ("accuracy", "sensitivity", "specificity", "auc"):
        between = gap(found, name, "difficulty: hard")
        assert between.estimate.value == pytest.approx(gains[name, "hard"] - gains[name, "easy"])
        assert between.scope["analysis"] == ("ustatistic_centred" if missing else "or_rrrc_jackknife")
        assert between.estimate.low < between.estimate.value < between.estimate.high


def test_gaps_hardly_change_the_interval_of_a_comparison() -> None:
    """Both analyses of the same readings, one of them by way of a single missing reading."""
    study = read()
    whole = gap(answer(study, DIFFICULTY), "accuracy", "difficulty: hard").estimate
    kept = np.ones(len(study.readings[0].case), bool)
    kept[7] = False
    one = study.readings[0]
    less = Readings(
        "",
        one.arms,
        one.readers,
        one.cases,
        one.arm[kept],
        one.reader[kept],
        one.case[kept],
        one.decision[kept],
    )
    gapped = gap(answer(Study(arms=one.arms, readings=(less,)), DIFFICULTY), "accuracy", "difficulty: hard")
    assert gapped.estimate.value == pytest.approx(whole.value, abs=0.005)
    assert gapped.estimate.se == pytest.approx(whole.se, rel=0.1)


def test_a_small_group_of_read_cases_has_no_gain() -> None:
    given = declared({"name": "difficulty", "prespecified": True, "min_positives": 25})
    found = answer(read(), given)
    e = entry(
        found, "decision_benefit.arm_difference", endpoint="sensitivity", subgroup="difficulty: hard"
    ).estimate
    assert isnan(e.value)
    assert "too few for an effect" in english(e.note)
    specificity = entry(
        found, "decision_benefit.arm_difference", endpoint="specificity", subgroup="difficulty: hard"
    )
    assert not isnan(specificity.estimate.value)
    texts(found)


# ---------------------------------------------------------------- a public report


def test_cells_below_the_limit_are_not_told_outside() -> None:
    study = counted(F=(30, 12, 20, 60), M=(45, 10, 3, 70), X=(20, 10, 20, 40))
    public = declared(SEX, report={"kind": "certification", "release": "public"})
    found = answer(study, public)
    rules_hold(found)
    texts(found)
    # Men have three false negatives; were they left out alone, the total would tell of them.
    shut = {r.scope["subgroup"] for r in found.results if r.estimate.note.has("suppressed_fewer_than")}
    assert shut == {"sex: M", "sex: X"}
    for r in found.results:
        if r.scope.get("subgroup") in shut:
            assert isnan(r.estimate.value)
            assert (r.estimate.n, "positives" in r.details) == (0, False)
    assert share(found, "sensitivity", "sex: F").estimate.value == 0.6
    told = json.dumps([[r.id, r.scope, str(r.estimate)] for r in found.results])
    assert "suppressed_fewer_than(k=5)" in told
    open_one = answer(study, declared(SEX, limits={"P59_cell": 3}, report=public.report.model_dump()))
    assert not [r for r in open_one.results if r.estimate.note.has("suppressed_fewer_than")]


def test_a_group_whose_complement_is_small_is_not_told_outside() -> None:
    study = counted(F=(30, 12, 20, 60), M=(1, 1, 1, 1))
    given = declared(
        {"name": "women", "definition": "sex = F"}, report={"kind": "certification", "release": "public"}
    )
    assert isnan(share(answer(study, given), "sensitivity", "women").estimate.value)


@pytest.mark.parametrize("rule, n", [("wrong", 120), ("positive", 120), (None, 112)])
def test_all_cases_are_as_many_as_those_of_the_groups_together(rule: str | None, n: int) -> None:
    # Of either sex thirty cases of either class; four positives of one and four negatives of the other
    # without an output.
    decision = np.tile(np.repeat([1, 0], 30), 2)
    decision[:4] = decision[-4:] = -1
    study = scored(cases(np.tile(np.repeat([1, 0], 30), 2), sex=np.repeat(["f", "m"], 60)), decision=decision)
    found = answer(study, declared(operating_point={"indeterminate_as": rule} if rule else {}))
    table = next(t for part in found.parts for t in part.tables if t.id.startswith("subgroups_main"))
    *groups, (_, cases_together, positives, *_) = table.rows
    assert cases_together == sum(row[1] for row in groups) == n
    assert positives == sum(row[2] for row in groups) == n / 2


def test_the_worst_group_has_limits_that_allow_for_its_choice() -> None:
    """Exact limits of statsmodels at .95^(1/2): with that chance both groups are within theirs."""
    found = answer(counted(**TWO))
    worst = entry(found, "subgroups.worst_group", endpoint="sensitivity")
    low, high = proportion_confint(30, 50, alpha=1 - 0.95**0.5, method="beta")
    e = worst.estimate
    assert (e.value, e.low, e.high, e.level) == (0.6, pytest.approx(low), pytest.approx(high), 0.95)
    assert worst.details["group"] == "sex: F"
    assert e.details["level_of_each"] == pytest.approx(0.95**0.5)
    assert worst.place.subgroup is None
    own = share(found, "sensitivity", "sex: F").estimate
    assert e.low < own.low < own.high < e.high
    assert any("Lowest sensitivity of the 2 groups:" in text for text in texts(found))
    one = answer(counted(F=TWO["F"]))
    assert not [r for r in one.results if r.id == "subgroups.worst_group"]


def test_the_interval_of_the_worst_of_four_covers() -> None:
    """Four groups of 60 positives, 4,000 studies: the worst is chosen, then its interval looked at."""
    rng = np.random.default_rng(6)
    for shares in ((0.8, 0.8, 0.8, 0.8), (0.9, 0.9, 0.85, 0.8)):
        events = rng.binomial(60, shares, (4000, 4))
        ends = {x: wilson(x, 60, 0.95**0.25) for x in range(61)}
        plain = {x: wilson(x, 60) for x in range(61)}
        worst = events.argmin(axis=1)
        covered = {
            which: np.mean(
                [
                    found[events[i, k]].low <= shares[k] <= found[events[i, k]].high
                    for i, k in enumerate(worst)
                ]
            )
            for which, found in (("simultaneous", ends), ("plain", plain))
        }
        assert covered["simultaneous"] >= 0.94
        assert covered["plain"] < covered["simultaneous"]
