"""Pools of published tables: their entries, their sentences, what few studies and odd ones say."""

from math import isnan

import pytest

from tests.english import english
from trustreport.api import assess, read_study
from trustreport.assessment.dimensions.reported import DIMENSION
from trustreport.assessment.finding import Finding
from trustreport.measures.sites.binomial_normal import binomial_normal
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import Place

EN = catalogue("en")
AUDIT = [
    *((47, 101, 9, 738), (126, 272, 51, 1543), (19, 12, 10, 192), (36, 78, 3, 276), (130, 211, 19, 959)),
    *((84, 68, 2, 89), (68, 112, 0, 423), (752, 3226, 0, 2977), (59, 55, 5, 136), (142, 571, 50, 2788)),
    *((137, 107, 24, 358), (57, 103, 3, 437), (34, 21, 1, 56), (152, 88, 51, 264)),
]


def manifest(tables, pool: str = "{pool: AUDIT-C}", more: str = "") -> str:
    rows = "\n".join(
        f"  - {{set: study {i}, tp: {tp}, fp: {fp}, fn: {fn}, tn: {tn}}}"
        for i, (tp, fp, fn, tn) in enumerate(tables, 1)
    )
    head = "report: {kind: certification}\ndevice: {trade_name: AUDIT-C}\n"
    return f"{head}confusion:\n{rows}\npools:\n  - {pool}\n{more}"


def answered(folder, *said) -> Finding:
    (folder / "study.yaml").write_text(manifest(*said))
    return DIMENSION.answer(*read_study(folder))


def said(finding) -> str:
    return " ".join(EN(m) for part in finding.parts for m in part.finding)


def primary(finding, id, **scope):
    (found,) = [r for r in finding.results if r.id == f"reported.{id}" and r.primary and r.within(**scope)]
    return found


@pytest.fixture(scope="module")
def audit(tmp_path_factory) -> Finding:
    return answered(tmp_path_factory.mktemp("audit"), AUDIT)


def test_a_pool_of_all_sets_has_means_a_new_study_spread_and_curve(audit):
    e = primary(audit, "pooled_specificity").estimate
    assert (e.value, e.n) == (pytest.approx(1 - 0.2203392, abs=1e-6), 14)  # R's mada
    new = primary(audit, "prediction_interval", endpoint="sensitivity", population="new study").estimate
    assert new.low < 0.5
    assert primary(audit, "summary_roc").details["theta"] == pytest.approx(-0.083379, abs=1e-5)
    assert "specificity of 78.0% (70.8% to 83.8%)" in said(audit)
    assert [f.id for part in audit.parts for f in part.figures] == ["pooled_forest_1_1", "summary_roc_1"]


def test_where_counts_are_small_the_mean_is_that_of_a_model_of_counts_and_the_others_are_beside_it(audit):
    found = {r.method: r for r in audit.results if r.id == "reported.pooled_sensitivity"}
    (leads,) = [method for method, r in found.items() if r.primary]
    assert leads == "binomial_normal"
    # glmer of lme4, both classes in one model; tests/reference/pooling/metafor.csv
    assert found[leads].estimate.details["scale_value"] == pytest.approx(2.5097, abs=0.1)
    assert found["bivariate_reml"].estimate.value == pytest.approx(0.8908781, abs=1e-6)  # R's mada
    z = found["bivariate_reml_z"].estimate
    assert (z.low, z.high) == pytest.approx((0.808, 0.941), abs=5e-4)
    # metafor 3.8-1 with the correction in two studies only
    assert found["bivariate_reml_zeros"].estimate.details["scale_value"] == pytest.approx(2.1875199, abs=1e-6)
    text = said(audit)
    assert "A cell is zero in 2 of 14 studies" in text
    assert "89.1% and 78.0% with 0.5 added to all cells of all studies" in text


def test_where_counts_are_small_the_spread_is_that_of_the_counts_too(audit):
    """Logits with 0.5 added to every cell differ less than the studies do."""
    found = {(r.endpoint, r.method): r for r in audit.results if r.id == "reported.between_study_variance"}
    leads = {endpoint: method for (endpoint, method), r in found.items() if r.primary}
    assert leads == {"sensitivity": "binomial_normal", "specificity": "bivariate_reml_profile"}
    counts = found["sensitivity", "binomial_normal"].estimate
    logits = found["sensitivity", "bivariate_reml_profile"].estimate
    own = binomial_normal([tp for tp, *_ in AUDIT], [tp + fn for tp, _, fn, _ in AUDIT]).tau2
    assert (counts.value, counts.low, counts.high) == (own.value, own.low, own.high)
    assert counts.value > 1.2 * logits.value


@pytest.mark.parametrize(
    "k, text",
    [
        (1, "Nothing is pooled: there is one study."),
        (2, "Nothing is pooled: with two studies, how far studies differ cannot be estimated"),
        (3, "With three studies, sensitivity and specificity are pooled separately"),
        (4, "With 4 studies, intervals rest on 3 degrees of freedom"),
    ],
)
def test_few_studies_are_said_in_words_and_no_interval_is_silently_narrow(tmp_path, k, text):
    made = answered(tmp_path, AUDIT[:k])
    assert text in said(made)
    e = primary(made, "pooled_sensitivity").estimate
    assert isnan(e.low) if k < 3 else e.df <= k - 1


def test_a_pool_takes_the_sets_it_names_and_rests_on_them(tmp_path):
    made = answered(tmp_path, AUDIT, "{pool: four, sets: [study 1, study 2, study 3, study 5]}")
    found = primary(made, "pooled_sensitivity")
    assert found.estimate.n == 4
    assert found.place.rests_on(Place(set="study 5"))
    assert not found.place.rests_on(Place(set="study 4"))


def test_a_study_without_negatives_is_left_out_by_name(tmp_path):
    made = answered(tmp_path, [*AUDIT[:5], (10, 0, 3, 0)])
    e = primary(made, "pooled_sensitivity").estimate
    assert e.n == 5
    assert "study 6" in english(e.note)
    assert "left out: study 6" in said(made)


def test_a_criterion_on_a_pool_is_judged_by_its_interval(tmp_path):
    endpoint = (
        "endpoints:\n  - {endpoint: pooled, measure: pooled_sensitivity, set: AUDIT-C, "
        "hypothesis: performance goal, bound_or_margin: 0.4}\n"
        "study: {sap_locked_at: 2020-01-01, data_opened_at: 2020-02-01}\n"
    )
    (tmp_path / "study.yaml").write_text(manifest([AUDIT[i] for i in (1, 4, 9, 10)], more=endpoint))
    (verdict,) = assess(*read_study(tmp_path)).verdicts
    assert verdict.result is not None
    assert (verdict.word, verdict.result.method) == ("pass", "bivariate_reml")


def test_names_of_pools_and_sets_are_checked_all_at_once(tmp_path):
    pools = "{pool: study 1, sets: [study 2, study 2, studi 3]}"
    with pytest.raises(StudyError) as caught:
        answered(tmp_path, AUDIT, pools)
    text = str(caught.value)
    assert 'pool "study 1" has the name of a set' in text
    assert 'set "study 2" appears twice' in text
    assert '"studi 3"' in text
    assert "study 3" in text
