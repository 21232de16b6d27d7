"""External calibration before and after an update at the place: entries, table, sentence, refusals."""

import numpy as np
import pytest
from scipy.special import expit
from studies import plan

from trustreport.assessment.dimensions.potential_robustness import DIMENSION
from trustreport.assessment.finding import Part, PlainTable
from trustreport.study.study import Cases, Coded, Dataset, Labels, Scores, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import leading

EN = catalogue("en")


def elsewhere(n: int, shift: float = 0.0, *, patients: int = 0, role: str = "external") -> Study:
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1.3, n)
    truth = (rng.random(n) < expit(x)).astype(np.int8)
    patient = Coded((np.arange(n) % patients).astype(np.int32), Labels(n=patients)) if patients else None
    cases = Cases(Labels(n=n), truth, patient=patient)
    return Study(datasets=(Dataset("far", role, cases, {"": Scores(expit(x - shift))}),))


def found(study: Study, **groups) -> tuple[list, list[Part]]:
    finding = DIMENSION.answer(study, plan(**groups))
    own = [r for r in finding.results if r.name.startswith("recalibrated_")]
    return own, [part for part in finding.parts if part.element == "recalibration"]


def test_southport_is_wrong_as_it_is_and_right_after_an_update_and_the_report_says_so(assessed_example):
    made = assessed_example("certification-dossier")
    scope = {"dataset": "Southport", "parameters": {"update": "intercept and slope", "folds": 5}}
    after = leading(made.results, "potential_robustness.recalibrated_oe_ratio", **scope).estimate
    before = leading(made.results, "advice_value.oe_ratio", dataset="Southport").estimate
    assert before.low > 1
    assert after.low < 1 < after.high
    (part,) = [p for f in made.findings for p in f.parts if p.element == "recalibration"]
    (sentence,) = [EN(m) for m in part.finding]
    assert sentence.startswith("Southport: the ratio of observed to expected events (O/E) was 1.82")
    table = part.tables[0]
    assert isinstance(table, PlainTable)
    assert len(table.rows) == 3 * 3


def test_where_the_scores_fit_already_nothing_is_said():
    results, (part,) = found(elsewhere(400))
    assert len(results) == 2 * 4
    assert part.finding == ()


def test_patients_are_whole_in_folds_and_resamples():
    results, _ = found(
        elsewhere(300, 1.0, patients=60),
        datasets=[{"dataset": "far", "role": "external", "cluster_keys": ["patient"]}],
    )
    assert len({r.estimate.df for r in results}) == 1
    assert results[0].estimate.df < 60


@pytest.mark.parametrize(
    "study, why", [(elsewhere(30), "fewer than 20, 10 for each parameter"), (elsewhere(12), "fewer than 10")]
)
def test_too_few_cases_are_said_in_the_row(study, why):
    _, (part,) = found(study)
    assert why in " ".join(EN(row[1]) for row in part.tables[0].rows)


def test_sets_of_development_and_scores_that_are_no_probabilities_have_no_update():
    assert found(elsewhere(200, role="tuning")) == ([], [])
    assert found(elsewhere(200), operating_point={"scores_are_probabilities": False}) == ([], [])
