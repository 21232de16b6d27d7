"""Localisation studies as a report gives them: results, sentences, tables, the figure, the first page."""

from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np
import pytest

from tests.english import english
from tests.marked import by_radius, of_candidates, of_readers
from tests.studies import plan
from trustreport.assessment.assess import Assessment, assess
from trustreport.assessment.dimensions.localisation import DIMENSION, READERS
from trustreport.assessment.performance.lesions import marked_cases
from trustreport.measures.lesions.area import lesion_area
from trustreport.measures.lesions.froc import fit_lesions
from trustreport.report.answer.answer import answer
from trustreport.study.identity.identifiers import identifying
from trustreport.study.identity.pseudonyms import pseudonymised
from trustreport.study.plan import Plan
from trustreport.study.study import Labels, Readers, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

EN = catalogue("en")


def found(study: Study, given: Plan | None = None) -> tuple[Assessment, list[Result]]:
    assessment = assess(study, given or plan())
    return assessment, [r for r in assessment.results if "localisation" in r.dimension]


def only_result(results: list[Result], id: str, **scope: Any) -> Result:
    (entry,) = [r for r in results if r.id == id and r.primary and r.within(**scope)]
    return entry


def said(assessment: Assessment, dimension: str) -> list[str]:
    (finding,) = [f for f in assessment.findings if f.dimension == dimension]
    return [EN(text) for part in finding.parts for text in part.finding]


# ---------------------------------------------------------------- candidates


def test_every_measure_of_a_candidate_is_a_primary_result() -> None:
    study = of_candidates()
    _, results = found(study)
    assert all(r.primary for r in results)
    names = [r.name for r in results]
    assert sorted(set(names)) == sorted(
        [
            *("wafroc_auc", "afroc_auc", "inferred_roc_auc", "froc_sensitivity"),
            *("froc_mean_sensitivity", "lesion_sensitivity", "false_marks_per_case"),
        ]
    )
    rates = [r.parameters["false_marks_per_case"] for r in results if r.name == "froc_sensitivity"]
    assert rates == [0.125, 0.25, 0.5, 1, 2, 4, 8]
    marked = next(marked_cases(study, plan())).marked(0, 0)
    e, direct = only_result(results, "localisation.wafroc_auc").estimate, lesion_area(marked)
    assert (e.value, e.low, e.high) == pytest.approx((direct.value, direct.low, direct.high))


def test_declared_rates_take_the_place_of_the_customary_ones() -> None:
    _, results = found(of_candidates(), plan(localisation={"false_marks_per_case": [0.2, 0.6]}))
    assert len([r for r in results if r.name == "froc_sensitivity"]) == 2
    mean = only_result(results, "localisation.froc_mean_sensitivity")
    assert mean.parameters == {"false_marks_per_case": [0.2, 0.6]}


def test_candidates_are_compared_on_the_same_cases() -> None:
    assessment, results = found(of_candidates(200, ("A", "B", "C")))
    pairs = [r for r in results if r.name == "wafroc_auc_difference"]
    assert [r.place.candidates for r in pairs] == [("B", "A"), ("C", "A"), ("C", "B")]
    values = {r.place.candidate: r.estimate.value for r in results if r.name == "wafroc_auc"}
    assert pairs[0].estimate.value == pytest.approx(values["B"] - values["A"])
    sentences = said(assessment, "localisation")
    assert sum("A 0." in text and "B 0." in text and "C 0." in text for text in sentences) == 1
    assert any("C than for A" in text or "between C and A" in text for text in sentences)


def test_the_section_has_sentences_a_table_and_the_curve() -> None:
    assessment, _ = found(of_candidates())
    (finding,) = [f for f in assessment.findings if f.dimension == "localisation"]
    (part,) = finding.parts
    assert [t.id for t in part.tables] == ["localisation_1"]
    assert [f.id for f in part.figures] == ["froc_1"]
    texts = said(assessment, "localisation")
    assert texts[0].startswith("60 cases, 30 of them with a lesion; 40 lesions in all.")
    assert any("area under the weighted AFROC curve was" in text for text in texts)
    first = answer(assessment, EN).sentence
    assert first.startswith("north: the area under the weighted AFROC curve was 0.")
    assert "of the lesions were found" in first


def test_patients_are_the_unit() -> None:
    alone, together = (found(of_candidates(60, patients=k))[1] for k in (0, 2))
    for name in ("wafroc_auc", "lesion_sensitivity", "froc_mean_sensitivity"):
        a, b = (only_result(results, f"localisation.{name}").estimate for results in (alone, together))
        assert a.value == b.value
        assert (a.low, a.high) != (b.low, b.high)
    assert only_result(together, "localisation.wafroc_auc").estimate.details["clusters"] == 15


def test_without_a_case_without_lesions_areas_say_why() -> None:
    study = of_candidates()
    (held,) = study.localisations
    n = 30  # the cases with lesions alone
    cases = replace(held.cases, labels=Labels(n=n), truth=held.cases.truth[:n])
    kept = held.case < n
    columns = {c: getattr(held, c)[kept] for c in ("arm", "maker", "case", "rating", "lesion")}
    made = replace(held, cases=cases, **columns)
    assessment, results = found(
        replace(study, datasets=(replace(study.datasets[0], cases=cases),), localisations=(made,))
    )
    area = only_result(results, "localisation.wafroc_auc").estimate
    assert isnan(area.value)
    assert "every case has a lesion" in english(area.note)
    assert not isnan(only_result(results, "localisation.froc_mean_sensitivity").estimate.low)
    assert any("not estimable" in text for text in said(assessment, "localisation"))
    assert answer(assessment, EN).sentence.startswith("north: ")


def test_cases_too_young_for_a_truth_are_left_out() -> None:
    study = of_candidates()
    date = np.array(["2026-01-02"] * 40 + ["2026-03-30"] * 20, "datetime64[D]")
    (held,), (dataset,) = study.localisations, study.datasets
    cases = replace(held.cases, date=date)
    study = replace(
        study,
        datasets=(replace(dataset, role="period", cases=cases),),
        localisations=(replace(held, cases=cases),),
    )
    given = plan(
        datasets=[{"dataset": "north", "role": "period", "end_date": "2026-03-31"}],
        reference_standard={"maturity_days": 30},
    )
    _, results = found(study, given)
    assert only_result(results, "localisation.wafroc_auc").estimate.n == 40


# ---------------------------------------------------------------- readers


def test_readers_are_analysed_by_obuchowski_and_rockette() -> None:
    study = of_readers()
    assessment, results = found(study)
    assert {r.dimension for r in results} == {"reader_localisation"}
    cases = next(marked_cases(study, plan()))
    every = [[cases.marked(a, j) for j in range(5)] for a in (1, 0)]
    direct = fit_lesions(every).difference(0, 1)
    change = only_result(results, "reader_localisation.arm_difference", endpoint="wafroc_auc")
    assert change.place.arms == ("aided", "unaided")
    assert (change.estimate.value, change.estimate.se) == pytest.approx((direct.value, direct.se))
    for name in ("wafroc_auc", "afroc_auc", "inferred_roc_auc", "lesion_sensitivity", "false_marks_per_case"):
        for arm in ("aided", "unaided"):
            mean = only_result(results, "reader_localisation.arm_mean", endpoint=name, arm=arm)
            own = [
                r.estimate.value
                for r in results
                if r.name == "reader_estimate" and r.within(endpoint=name, arm=arm)
            ]
            assert mean.estimate.value == pytest.approx(np.mean(own))
            assert mean.estimate.low >= 0
    assert any(
        "more lesions" in text or "lesions found" in text for text in said(assessment, "reader_localisation")
    )
    assert answer(assessment, EN).sentence.startswith("Readers localised lesions better in arm “aided”")


def test_analyses_beside_the_primary_one_are_there() -> None:
    _, results = found(of_readers())
    own = [r for r in results if r.name == "arm_difference" and r.endpoint == "wafroc_auc"]
    assert {r.analysis.split("_jack")[0] for r in own} == {"or_rrrc", "or_frrc", "or_rrfc"}
    assert [r.primary for r in own] == [True, False, False]


def test_the_tables_of_readers_have_every_reader_and_measure() -> None:
    assessment, _ = found(of_readers(readers=3))
    (finding,) = [f for f in assessment.findings if f.dimension == "reader_localisation"]
    (part,) = finding.parts
    assert [t.id for t in part.tables] == ["reader_localisation_1", "reader_localisation_each_1"]
    assert [row[0] for row in part.tables[1].rows] == ["R1", "R2", "R3"]
    assert len(part.tables[0].rows) == 15
    assert [f.id for f in part.figures] == ["reader_froc_1"]


def test_names_of_readers_are_found_and_replaced() -> None:
    study = of_readers(readers=3)
    (held,) = study.localisations
    names = Labels(("Anna Rossi", "R2", "R3"))
    named = replace(study, localisations=(replace(held, makers=names, readers=Readers(names)),))
    assert [i.kind for i in identifying(named)] == ["reader"]
    made, _ = pseudonymised(named, plan())
    (after,) = made.localisations
    assert not {*after.makers} & {*names}
    assert list(after.makers) == list(after.readers.labels)
    before, now = (found(s)[1] for s in (named, made))
    for a, b in zip(
        sorted((r.estimate.value for r in before), key=float),
        sorted((r.estimate.value for r in now), key=float),
    ):
        assert a == pytest.approx(b)


# ---------------------------------------------------------------- both, none, checks


def test_a_study_without_lesions_is_silent_about_them() -> None:
    assessment = assess(Study(), plan())
    assert not {"localisation", "reader_localisation"} & {u.dimension for u in assessment.unanswered}
    assert not DIMENSION.applies(Study(), plan())
    assert not READERS.applies(of_candidates(), plan())


def fired(study: Study, check: str, given: Plan | None = None) -> list[str]:
    return [
        EN(c.message)
        for c in assess(study, given or plan()).checks
        if c.check == check and c.status == "fired"
    ]


def test_hits_that_hang_on_the_radius_are_named_with_their_number() -> None:
    (text,) = fired(by_radius(4.0), "P66")
    assert "acceptance radius (2.0" in text
    assert not fired(by_radius(4.0), "P66", plan(limits={"P66_share": 1}))


def test_rates_that_were_not_reached_are_named() -> None:
    (text,) = fired(of_candidates(), "P67")
    assert "fewer than 3 of the 7 rates" in text
