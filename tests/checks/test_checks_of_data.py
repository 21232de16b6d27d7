"""Checks of data, population, groups and release: evidence that fires each, and evidence that does not."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.dimensions.test_subgroups import cases, coded, counted, declared, read, scored
from tests.identity.test_identity import study as read_by
from tests.studies import plan
from trustreport.assessment.assess import assess
from trustreport.assessment.checks import Evidence, independence, population, reference, release
from trustreport.assessment.finding import CheckOutcome
from trustreport.assessment.verdicts.entries import blocking
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.study.study import Cases, Dataset, Readings, Scores, Source, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result

EN = catalogue("en")
OF_DATA = (*independence.CHECKS, *reference.CHECKS, *population.CHECKS, *release.CHECKS)
OWN = tuple(check for check in OF_DATA if check.id != "P14")


def outcomes(
    check: str, study: Study, given: Plan | None = None, *, whole: bool = False
) -> list[CheckOutcome]:
    """What one check says; `whole`: with the results of the study."""
    given = given or plan()
    if whole:
        return [o for o in assess(study, given).checks if o.check == check]
    (one,) = (c for c in OWN if c.id == check)
    return list(one.run(Evidence(study, given, ())))


def fired(check: str, study: Study, given: Plan | None = None, *, whole: bool = False) -> list[str]:
    return [EN(o.message) for o in outcomes(check, study, given, whole=whole) if o.status == "fired"]


def statuses(check: str, study: Study, given: Plan | None = None, *, whole: bool = False) -> set[str]:
    return {o.status for o in outcomes(check, study, given, whole=whole)}


def dataset(role: str, of: Cases, name: str = "", decision: Any = None, **more: Any) -> Dataset:
    held = {} if decision is None else {"": Scores(decision=np.asarray(decision, np.int8))}
    return Dataset(name or role, role, of, held, **more)


def two(training: Cases, external: Cases, **more: Any) -> Study:
    return Study(datasets=(dataset("training", training), dataset("external", external, **more)))


def test_every_check_of_this_part_has_its_texts() -> None:
    for check in OWN:
        for key in ("title", "clear", "lacking"):
            assert EN(f"checks.{check.id}.{key}")


@pytest.mark.parametrize("check", [c.id for c in OWN])
def test_without_data_it_says_that_it_cannot_run(check: str) -> None:
    assert statuses(check, Study()) == {"cannot run"}


# ---------------------------------------------------------------- P09


def test_p09_a_patient_in_both_sets() -> None:
    study = two(cases([0, 1, 1], ["a", "b", "b"]), cases([0, 1], ["b", "c"]))
    (said,) = fired("P09", study)
    assert said.startswith("Of 2 patients, one is also in the training or tuning data")
    apart = two(cases([0, 1], ["a", "b"]), cases([0, 1], ["c", "d"]))
    assert statuses("P09", apart) == {"clear"}


def test_p09_patients_of_a_reader_study() -> None:
    training = Study(datasets=(dataset("training", cases([0, 1], ["P0", "x"])),))
    assert fired("P09", replace(read_by(), datasets=training.datasets))
    assert statuses("P09", two(cases([0, 1], ["a", "b"]), cases([0, 1]))) == {"cannot run"}


# ---------------------------------------------------------------- P10


def with_content(*hashes: str) -> Cases:
    return replace(cases([0] * len(hashes)), content=coded(hashes))


def test_p10_content_hashes() -> None:
    found = fired("P10", two(with_content("a", "b"), with_content("b", "c", "b", "")))
    assert found == [
        "The content hash of a training case occurs in two cases: performance is probably overestimated."
    ]
    assert statuses("P10", two(with_content("a"), with_content("b", ""))) == {"clear"}


def featured(role: str, features: np.ndarray) -> Dataset:
    names = tuple("abcdef"[: features.shape[1]])
    return dataset(role, cases([0] * len(features)), features=features, feature_names=names)


def test_p10_equal_features() -> None:
    rng = np.random.default_rng(1)
    training, own = rng.normal(size=(200, 4)), rng.normal(size=(100, 4))
    apart = Study(datasets=(featured("training", training), featured("external", own)))
    assert statuses("P10", apart) == {"clear"}
    own[:3] = training[5:8]
    (said,) = fired("P10", Study(datasets=(featured("training", training), featured("external", own))))
    assert said.startswith("There are three cases that equal a case of training in every feature")


def test_p10_coarse_features_agree_by_chance() -> None:
    rng = np.random.default_rng(1)
    training, own = (rng.integers(0, 3, (n, 2)).astype(float) for n in (200, 100))
    study = Study(datasets=(featured("training", training), featured("external", own)))
    assert statuses("P10", study) == {"clear"}


def test_p10_near_copies_where_a_distance_is_declared() -> None:
    training = np.random.default_rng(1).normal(size=(200, 3))
    own = training[:20] + 1e-4
    study = Study(datasets=(featured("training", training), featured("external", own)))
    assert statuses("P10", study) == {"clear"}
    (said,) = fired("P10", study, plan(limits={"P10_distance": 0.01}))
    assert "0.01 standard deviations of 20 cases" in said


# ---------------------------------------------------------------- P61


def test_p61_the_same_content_under_several_names() -> None:
    study = two(with_content("x", "x"), with_content("a", "b", "a", "a", "", ""))
    (found,) = (o for o in outcomes("P61", study) if o.status == "fired")  # training cases are not tested
    assert EN(found.message).startswith("Of 6 cases, two have the content hash of another case of the set")
    assert (found.severity, found.scope) == ("B", {"dataset": "external"})
    task = replace(read_by(), datasets=())
    task = replace(task, readings=(replace(task.readings[0], cases=with_content(*"abcc")),))
    (said,) = fired("P61", task)
    assert said.startswith("Of 4 cases, one has the content hash")


def with_scores(features: np.ndarray, score: np.ndarray) -> Study:
    own = featured("external", features)
    return Study(datasets=(replace(own, scores={"": Scores(score=score)}),))


def test_p61_equal_features_and_scores() -> None:
    """Thirty of 163 cases copied under new names."""
    rng = np.random.default_rng(4)
    features = rng.normal(size=(163, 6)).round(1)
    score = features.mean(axis=1)
    again = np.append(np.arange(163), rng.choice(163, 30, replace=False))
    assert statuses("P61", with_scores(features, score)) == {"clear"}
    (found,) = outcomes("P61", with_scores(features[again], score[again]))
    assert (found.status, found.severity) == ("fired", "W")
    assert EN(found.message).startswith(
        "Of 193 cases, 30 equal another case of the set in every feature and score"
    )
    other = score[again] + np.arange(193)
    assert statuses("P61", with_scores(features[again], other)) == {"clear"}


def test_p61_coarse_features_agree_by_chance() -> None:
    """Age in years, sex, and a category as indicators: pairs agree, with their scores, without a copy."""
    rng = np.random.default_rng(5)
    age, sex, kind = rng.integers(40, 80, 400), rng.integers(0, 2, 400), rng.integers(0, 4, 400)
    features = np.column_stack([age, sex, *(kind == k for k in range(4))]).astype(float)
    assert statuses("P61", with_scores(features, features @ np.arange(1.0, 7.0))) == {"clear"}


def test_p61_blocks_every_number_of_the_set() -> None:
    study = Study(datasets=(featured("external", np.ones((4, 1))),))
    (own,) = study.datasets
    own = replace(own, cases=replace(own.cases, content=coded(["a", "a", "b", "c"])))
    (outcome,) = outcomes("P61", replace(study, datasets=(own,)))
    result = Result(
        "advice_accuracy.auc", Place(dataset="external"), Estimate(0.8, 0.7, 0.9, 4), primary=True
    )
    assert blocking(result, [outcome]) == [outcome]
    assert not blocking(replace(result, place=Place(dataset="another")), [outcome])


# ---------------------------------------------------------------- P11


def cases_at(site: str, first: str, n: int = 4) -> Cases:
    days = np.datetime64(first, "D") + np.arange(n)
    return replace(cases([0, 1] * (n // 2)), site=coded([site] * n), date=days)


def test_p11_same_site_and_time() -> None:
    assert fired("P11", two(cases_at("North", "2024-01-01"), cases_at("north", "2024-01-03"))) == [
        "The set is called external, but it shares a site (north) and dates with the training data."
    ]
    assert statuses("P11", two(cases_at("North", "2024-01-01"), cases_at("North", "2025-01-01"))) == {"clear"}
    assert statuses("P11", two(cases_at("North", "2024-01-01"), cases_at("South", "2024-01-01"))) == {"clear"}


def test_p11_declared_sites() -> None:
    study = two(cases([0, 1]), cases([0, 1]))
    dates = {"start_date": "2024-01-01", "end_date": "2024-12-31"}

    def given(site: str, **dates: str) -> Plan:
        sets = [
            {"dataset": "training", "role": "training", "sites": ["North"], **dates},
            {"dataset": "external", "role": "external", "sites": [site], **dates},
        ]
        return plan(datasets=sets)

    assert fired("P11", study, given("North", **dates))
    assert "No dates show" in fired("P11", study, given("North"))[0]
    assert statuses("P11", study, given("South")) == {"clear"}
    assert statuses("P11", study) == {"cannot run"}


# ---------------------------------------------------------------- P12


def test_p12_declared_incorporation() -> None:
    assert "(declared)" in fired("P12", Study(), plan(reference_standard={"includes_index_result": True}))[0]
    assert statuses("P12", Study(), plan(reference_standard={"includes_index_result": False})) == {"clear"}


def test_p12_a_reference_that_never_differs() -> None:
    truth = np.arange(80) % 2
    said = truth.copy()
    (text,) = fired("P12", scored(cases(truth), decision=said))
    assert text == (
        "Incorporation bias is likely: the reference equals the device's decision in all 80 cases (the whole "
        "set). Accuracy is probably overestimated."
    )
    said[0] = 1 - said[0]
    assert statuses("P12", scored(cases(truth), decision=said)) == {"clear"}
    by_site = replace(cases(truth), site=coded(["A"] * 40 + ["B"] * 40))
    assert "in all 40 cases (B)" in fired("P12", scored(by_site, decision=said))[0]
    assert statuses("P12", scored(cases(truth[:20]), decision=truth[:20])) == {"cannot run"}


# ---------------------------------------------------------------- P13


def verified(a: int, positive: int, b: int, negative: int) -> Study:
    """Cases called positive and negative, the first a and b of them with a truth; one error of each kind."""
    decision = np.repeat([1, 0], [positive, negative])
    truth = np.full(positive + negative, -1)
    truth[:a], truth[positive : positive + b] = 1, 0
    truth[0], truth[positive] = 0, 1
    return scored(cases(truth), decision=decision)


def test_p13_verification_by_decision() -> None:
    (said,) = fired("P13", verified(50, 50, 20, 100))
    assert said == (
        "The reference standard was applied to 50 of 50 cases called positive and 20 of 100 called negative. "
        "Sensitivity is probably overestimated; depending on the unverified cases it is between "
        f"{100 * 49 / 130:.1f}% and {100 * 49 / 50:.1f}%."
    )
    assert "underestimated" in fired("P13", verified(20, 100, 50, 50))[0]
    assert statuses("P13", verified(25, 50, 50, 100)) == {"clear"}
    assert statuses("P13", verified(50, 50, 100, 100)) == {"clear"}


def test_p13_declared_and_of_readers() -> None:
    assert "positives only" in fired("P13", Study(), plan(reference_standard={"applied_to": "positives"}))[0]
    assert statuses("P13", Study(), plan(reference_standard={"applied_to": "all"})) == {"clear"}
    study = read_by()
    one = study.readings[0]
    assert one.decision is not None
    votes = np.bincount(one.case, weights=one.decision, minlength=40) / np.bincount(one.case, minlength=40)
    truth = np.where(votes < 0.5, -1, one.cases.truth).astype(np.int8)
    partial: Readings = replace(one, cases=replace(one.cases, truth=truth))
    assert "depends on the readers' decisions" in fired("P13", replace(study, readings=(partial,)))[0]
    assert statuses("P13", study) == {"clear"}


# ---------------------------------------------------------------- P15


def test_p15_days_to_the_reference() -> None:
    of = replace(cases([0, 1, 0, 1]), numbers={"reference_days": np.array([3.0, -40.0, 31.0, np.nan])})
    given = plan(reference_standard={"interval_days": 30})
    said = (
        "Of 3 cases, two were verified more than 30 days from the index test: the condition may have changed."
    )
    assert fired("P15", scored(of, decision=[0, 1, 0, 1]), given) == [said]
    assert statuses("P15", scored(of), plan(limits={"P15_days": 60})) == {"clear"}
    assert statuses("P15", scored(of)) == {"cannot run"}
    assert statuses("P15", scored(cases([0, 1])), given) == {"cannot run"}


# ---------------------------------------------------------------- P31, P32


def facts(sampling: str | None) -> dict[str, Any]:
    return {
        "datasets": [{"dataset": "site", "role": "external", **({"sampling": sampling} if sampling else {})}]
    }


def test_p31_another_share_of_positives() -> None:
    study = counted(F=(30, 10, 10, 50))
    given = plan(intended_use={"prevalence_expected": 0.02})
    (said,) = fired("P31", study, given, whole=True)
    ppv = 0.02 * 0.75 / (0.02 * 0.75 + 0.98 * 10 / 60)
    assert said == (
        "The positive predictive value is 75% at the study's prevalence of 40.0%, but "
        f"{100 * ppv:.1f}% at the declared 2.0%."
    )
    assert "predictive values and accuracy do not carry over" in fired("P31", study, given)[0]
    assert statuses("P31", study, plan(intended_use={"prevalence_expected": 0.4})) == {"clear"}


def test_p31_enriched_sampling() -> None:
    study = counted(F=(30, 10, 10, 50))
    assert "only at the study's prevalence of 40.0%" in fired("P31", study, plan(**facts("enriched")))[0]
    assert statuses("P31", study, plan(**facts("consecutive"))) == {"clear"}
    assert statuses("P31", study, plan(**facts(None))) == {"cannot run"}
    local = {"site_context": {"local_prevalence": 0.1}, "intended_use": {"prevalence_expected": 0.4}}
    assert fired("P31", study, plan(**local))


@pytest.mark.parametrize(
    ("measure", "declared", "severity"),
    [
        ("advice_accuracy.ppv", {"prevalence_expected": 0.02}, "W"),  # given at the declared prevalence
        ("advice_accuracy.ppv", {}, "B"),  # enriched, and nothing is declared to correct by
        ("advice_accuracy.sensitivity", {}, "W"),  # does not change with it
    ],
)
def test_p31_blocks_what_is_judged_at_the_prevalence_of_the_sample(
    measure: str, declared: dict[str, Any], severity: str
) -> None:
    goal = {"endpoint": "one", "measure": measure, "hypothesis": "performance goal", "bound_or_margin": 0.1}
    study = scored(cases([1] * 30 + [0] * 30), decision=[1] * 25 + [0] * 30 + [1] * 5)
    given = plan(**facts("enriched"), intended_use=declared, endpoints=[{**goal, "alpha": 0.025}])
    (found,) = (o for o in assess(study, given).fired() if o.check == "P31")
    assert found.severity == severity


def test_p32_case_control_sampling() -> None:
    (said,) = fired("P32", Study(), plan(**facts("case-control")))
    assert said == (
        "Cases and controls were sampled separately (declared): borderline cases are missing, and accuracy "
        "is probably overestimated."
    )
    assert statuses("P32", Study(), plan(**facts("consecutive"))) == {"clear"}
    assert statuses("P32", Study(), plan(**facts(None))) == {"cannot run"}


def graded(**counts: int) -> Study:
    """Cases of these severities; every other one has the condition."""
    names = ["" if name == "none" else name for name, n in counts.items() for _ in range(n)]
    return scored(cases([i % 2 for i in range(len(names))], severity=names))


def intended(**shares: float) -> Plan:
    return plan(intended_use={"intended_patient_population": {"severity": shares}})


def test_p32_another_severity_than_intended() -> None:
    # By hand, Wilson at 98.33 %, z 2.394: 60 of 100 from 0.480 to 0.709, 25 from 0.162 to 0.365, 15 from
    # 0.084 to 0.254.
    study = graded(mild=25, moderate=15, severe=60, none=7)
    (said,) = fired("P32", study, intended(Mild=0.5, moderate=0.2, severe=0.3))
    assert said == (
        "Of 100 cases of known severity, 25.0% are Mild (50.0% in the intended population) and 60.0% are "
        "severe (30.0% in the intended population). Accuracy depends on severity and may differ in use."
    )
    assert statuses("P32", study, intended(mild=0.36, moderate=0.15, severe=0.49)) == {"clear"}
    (one,) = fired("P32", study, intended(mild=0.36, moderate=0.17, severe=0.47))
    assert "60.0% are severe (47.0%" in one
    assert "moderate" not in one
    assert "15.0% are moderate (0.0%" in fired("P32", study, intended(mild=0.3, severe=0.7))[0]
    assert statuses("P32", scored(cases([0, 1])), intended(mild=0.5, severe=0.5)) == {"cannot run"}
    assert statuses("P32", study) == {"cannot run"}


def test_intended_severities_sum_to_one() -> None:
    with pytest.raises(ValueError, match="together 1"):
        intended(mild=0.5, severe=0.6)


# ---------------------------------------------------------------- P37, P38


def test_p37_small_groups() -> None:
    small = counted(F=(4, 12, 5, 60), M=(45, 10, 9, 70))
    found = [o for o in outcomes("P37", small, declared(), whole=True) if o.status == "fired"]
    assert [EN(o.message) for o in found] == ["Of 9 positives, four were detected; too few for a percentage."]
    assert found[0].scope == {"dataset": "site", "subgroup": "sex: F"}
    assert "sensitivity" in found[0].quantities
    assert "specificity" not in found[0].quantities
    assert statuses("P37", counted(F=(30, 12, 20, 60)), declared(), whole=True) == {"clear"}


def test_p37_of_negatives_and_of_readers() -> None:
    few = counted(F=(30, 2, 20, 5), M=(45, 10, 9, 70))
    assert fired("P37", few, declared(), whole=True) == [
        "Of 7 negatives, five were called negative; too few for a percentage."
    ]
    given = declared({"name": "difficulty", "prespecified": True, "min_positives": 25})
    assert "Too few cases for a percentage: positives 20, negatives 20." in fired(
        "P37", read(), given, whole=True
    )


def test_p38_unknown_attributes() -> None:
    third = counted(F=(30, 12, 20, 60), unknown=(20, 5, 10, 25))
    assert fired("P38", third, declared(), whole=True) == [
        "The attribute sex is unknown for 33.0% of cases; results of its groups are exploratory."
    ]
    few = counted(F=(30, 12, 20, 60), M=(30, 12, 20, 60), unknown=(2, 0, 0, 1))
    assert statuses("P38", few, declared(), whole=True) == {"clear"}
    assert fired("P38", few, declared(limits={"P38_share": 0.01}), whole=True)


def test_p38_groups_not_fixed_in_advance() -> None:
    given = declared({"name": "sex"}, {"name": "ward"})
    said = fired("P38", counted(F=(30, 12, 20, 60)), given, whole=True)
    assert "The groups sex and ward are not declared as pre-specified; their results are exploratory." in said
    assert any(
        text.startswith("The attribute ward is known of no case: its column is missing") for text in said
    )


# ---------------------------------------------------------------- P50


def test_p50_age_and_sex() -> None:
    truth = np.tile([0, 1], 20)
    of = cases(truth, age=[str(30 + i) for i in range(40)], sex=["F"] * 38 + ["M", ""])
    decision = truth.copy()
    decision[35:38] = 1 - decision[35:38]
    study = scored(of, decision=decision)
    given = plan(intended_use={"age_range": [30, 64], "sex": "female"})
    (said,) = fired("P50", study, given)
    assert said == (
        "Of 40 cases, five are outside the intended population (age and sex). "
        f"Accuracy is {100 * 37 / 40:.1f}% with them and 100.0% without."
    )
    assert statuses("P50", study, plan(intended_use={"age_range": [18, 90], "sex": "all"})) == {"clear"}
    assert statuses("P50", study) == {"cannot run"}


def test_p50_setting_equipment_and_readings() -> None:
    of = cases([0, 1, 0, 1], equipment=["X1", "X1", "Y2", ""], setting=["ward", "home", "ward", "ward"])
    assert "(equipment)" in fired("P50", scored(of), plan(site_context={"equipment": ["x1"]}))[0]
    assert "(setting)" in fired("P50", scored(of), plan(intended_use={"setting": "Ward"}))[0]
    assert statuses("P50", scored(of), plan(intended_use={"setting": "any hospital"})) == {"cannot run"}
    of_readings = read_by(age=["50"] * 39 + ["17"])
    adults = plan(intended_use={"intended_patient_population": {"age_range": [18, 120]}})
    assert fired("P50", of_readings, adults) == ["Of 40 cases, one is outside the intended population (age)."]


# ---------------------------------------------------------------- P59, P60


def test_p59_names_and_columns() -> None:
    study = read_by(("Anna Rossi", "R2", "R3"))
    assert fired("P59", study) == ["One reader is identified by a personal name. A public report is refused."]
    assert statuses("P59", read_by()) == {"clear"}
    source = Source("cases.csv", "cases", "0" * 64, 1, 1, 1, columns=("case", "e-mail"))
    said = fired("P59", replace(read_by(), sources=(source,)))
    assert said == [
        "cases.csv: column e-mail contains names or identifiers of persons. A public report is refused."
    ]
    (one,) = outcomes("P59", study)
    result = Result(
        "decision_benefit.arm_difference", NOWHERE, Estimate(0.1, 0.0, 0.2, 4), endpoint="accuracy"
    )
    assert not blocking(result, [one]), "no verdict depends on names"


def test_p59_cells() -> None:
    study = counted(F=(30, 12, 20, 60), M=(45, 10, 3, 70), X=(20, 10, 20, 40))
    assert fired("P59", study, declared(), whole=True) == [
        "male patients: cell with fewer than 5 cases. A public report suppresses it."
    ]
    assert statuses("P59", study, declared(limits={"P59_cell": 3}), whole=True) == {"clear"}
    public = declared(report={"kind": "certification", "release": "public"})
    said = "Suppressed, fewer than 5 cases: male patients and sex “X”."
    assert fired("P59", study, public, whole=True) == [said]


def test_p60_independence() -> None:
    given = plan(
        device={"manufacturer": "Maker"},
        study={"sponsor": "maker ", "conflicts_of_interest": "none"},
        readers=[
            {"reader": "R1", "employer_is_manufacturer": True},
            {"reader": "R2", "employer_is_manufacturer": False},
        ],
    )
    said = (
        "Independence of the evaluation: 1 of 2 readers is employed by the manufacturer and the manufacturer "
        "is the sponsor."
    )
    assert fired("P60", Study(), given) == [said]
    apart = plan(
        device={"manufacturer": "Maker"}, study={"sponsor": "University", "conflicts_of_interest": "none"}
    )
    assert statuses("P60", Study(), apart) == {"clear"}
    silent = fired("P60", Study(), plan(study={"sponsor": "University"}))
    assert silent == ["Independence of the evaluation: conflicts of interest are not declared."]
