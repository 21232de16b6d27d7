"""A set of which some cases have no truth: corrected measures are judged where it was by design."""

from pathlib import Path

import numpy as np
import pytest

from trustreport.api import Assessed, assess, read_study
from trustreport.assessment.checks.reference import _side
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
SCANS = (231, 32, 27, 54, 166, 140)


def assessed(
    folder: Path, cells: tuple[int, ...] = SCANS, criterion: str = "", patients: int = 0
) -> Assessed:
    truth = np.repeat(["1", "0", "1", "0", "", ""], cells)
    decision = np.repeat([1, 1, 0, 0, 1, 0], cells)
    head = "case,truth,decision" + (",patient" if patients else "")
    rows = [
        f"c{i},{t},{d}" + (f",p{i % patients}" if patients else "")
        for i, (t, d) in enumerate(zip(truth, decision))
    ]
    (folder / "s.csv").write_text("\n".join([head, *rows]) + "\n")
    (folder / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {trade_name: D}\n"
        "datasets: [{dataset: clinic, role: external, file: s.csv}]\n" + criterion
    )
    return assess(*read_study(folder))


def said(assessment: Assessed) -> list[str]:
    (finding,) = [f for f in assessment.findings if f.dimension == "advice_accuracy"]
    return [EN(message) for part in finding.parts for message in part.finding]


def corrected(assessment: Assessed) -> dict[str, list[tuple[str, bool]]]:
    found: dict[str, list[tuple[str, bool]]] = {}
    for r in assessment.results:
        if r.name.startswith("corrected_"):
            found.setdefault(r.name, []).append((r.method, r.primary))
    return found


def test_the_corrected_measures_are_said_with_their_assumption_and_bounds(tmp_path: Path) -> None:
    assessment = assessed(tmp_path)
    texts = said(assessment)
    # 231/258 and 54/86 of the verified cases; bounds: 231/(258+140), 397/424
    first_texts = ["Of 650 cases with a decision, 306 have" in text for text in texts[:3]]
    assert first_texts == [True, False, False]  # corrected values come first
    assert texts[2].startswith("Among the cases with a truth alone, sensitivity was 89.5%")
    (first,) = [text for text in texts if "Of 650 cases with a decision, 306 have" in text]
    assert "If verification depended on the decision alone, sensitivity is 83.6%" in first
    assert "between 58.0% and 93.6%" in first
    (second,) = [text for text in texts if text.startswith("Under the same assumption")]
    assert "specificity is 73.8%" in second
    both = [("begg_greenes_wilson", True), ("begg_greenes_logit", False)]
    assert corrected(assessment) == {"corrected_sensitivity": both, "corrected_specificity": both}
    (lead,) = [r for r in assessment.results if r.id == "advice_accuracy.sensitivity" and r.primary
               and not r.parameters]  # fmt: skip
    assert lead.estimate.value == pytest.approx(231 / 258)


def test_p13_still_fires_and_withholds_criteria_on_either(tmp_path: Path) -> None:
    criteria = "endpoints:\n" + "".join(
        f"  - {{endpoint: {name}, role: primary, measure: advice_accuracy.{name}, dataset: clinic,\n"
        "     hypothesis: performance goal, bound_or_margin: 0.5}\n"
        for name in ("sensitivity", "corrected_sensitivity")
    )
    assessment = assessed(tmp_path, criterion=criteria)
    assert "P13" in {outcome.check for outcome in assessment.fired()}
    assert [v.word for v in assessment.verdicts] == ["not assessable"] * 2


def test_where_nothing_of_a_decision_was_verified_it_says_why(tmp_path: Path) -> None:
    texts = said(assessed(tmp_path, (60, 10, 0, 0, 0, 80)))
    assert any(
        "cannot be corrected for the 80 of 150" in text and "called negative" in text for text in texts
    )


def test_verification_by_chance_needs_no_correction(tmp_path: Path) -> None:
    assessment = assessed(tmp_path, (40, 10, 20, 30, 50, 50))
    assert not corrected(assessment)
    assert not any("verification" in text.casefold() for text in said(assessment))


def test_nothing_where_every_case_has_a_truth(tmp_path: Path) -> None:
    assert not corrected(assessed(tmp_path, (40, 10, 20, 30, 0, 0)))


def test_of_clustered_cases_the_interval_respects_clusters(tmp_path: Path) -> None:
    found = corrected(assessed(tmp_path, patients=50))
    methods = [("begg_greenes_clusters", True), ("begg_greenes_wilson", False), ("begg_greenes_logit", False)]
    assert found["corrected_sensitivity"] == methods


# ---------------------------------------------------------------- verification by design

CASE = Path(__file__).resolve().parents[1] / "reference" / "verdicts" / "control-verified-by-design"
PLAIN = (
    '{"endpoint": "plain", "measure": "advice_accuracy.sensitivity", "hypothesis": "performance goal", '
    '"alpha": 0.025, "dataset": "ext", "bound_or_margin": 0.6}'
)


def of_case(tmp_path: Path, verification: str, rows: list[str] | None = None) -> Assessed:
    """The study of the case, all alarms and two fifths of the others verified, with this declaration."""
    lines = (CASE / "study.yaml").read_text().splitlines()
    lines = [line for line in lines if not line.startswith("reference_standard")]
    declared = f"reference_standard: {{applied_to: subset, verification: {verification}}}"
    text = "\n".join([*lines, declared]).replace("endpoints: [", "endpoints: [" + PLAIN + ", ")
    (tmp_path / "study.yaml").write_text(text)
    given = (CASE / "e.csv").read_text().splitlines() if rows is None else rows
    (tmp_path / "e.csv").write_text("\n".join(given) + "\n")
    return assess(*read_study(tmp_path))


def told(assessment: Assessed) -> str:
    return " ".join(EN(o.message) for o in assessment.fired() if o.check == "P13")


@pytest.mark.parametrize(
    "verification",
    [
        "{by: design, share: 0.4}",
        "{by: design, share: {positive: 1, negative: 0.4}}",
        "{share: {negative: 0.38}}",
    ],
)
def test_a_random_part_verified_by_design_leaves_the_corrected_measures_to_be_judged(
    tmp_path: Path, verification: str
) -> None:
    assessment = of_case(tmp_path, verification)
    found = {v.criterion.endpoint: (v.word, v.checks) for v in assessment.verdicts}
    assert found == {"plain": ("not assessable", ("P13",)), "finds enough": ("pass", ())}
    # 160 of 172 found among the verified; 12 of 475 verified others stand for 12 * 1250 / 475 = 31.58.
    lead = next(v.result for v in assessment.verdicts if v.criterion.endpoint == "finds enough")
    assert lead is not None
    assert lead.estimate.value == pytest.approx(160 / (160 + 12 * 1250 / 475))
    assert "the data agree with it" in told(assessment)


@pytest.mark.parametrize(
    "verification, said",
    [
        # 475 of 1,250 are 38%: Clopper and Pearson's 98.75% interval is 34.6 to 41.5.
        ("{by: design, share: 0.5}", "for 50.0% of the cases called negative; 475 of 1,250"),
        ("{by: design, share: 0.3}", "for 30.0% of the cases called negative"),
        ("{by: design, share: {positive: 0.9, negative: 0.4}}", "for 90.0% of the cases called positive"),
    ],
)
def test_a_share_that_the_data_contradict_withholds_the_corrected_measures_too(
    tmp_path: Path, verification: str, said: str
) -> None:
    assessment = of_case(tmp_path, verification)
    assert {v.word for v in assessment.verdicts} == {"not assessable"}
    assert said in told(assessment)


def test_verification_by_the_score_is_not_by_the_decision_alone(tmp_path: Path) -> None:
    head, *rows = (CASE / "e.csv").read_text().splitlines()
    cells = [row.split(",") for row in rows]
    negative = sorted((c for c in cells if float(c[2]) < 0.5), key=lambda c: -float(c[2]))
    # As many are verified as by the design, but those with the highest scores.
    truths = sorted((c[1] for c in negative), reverse=True)
    for cell, truth in zip(negative, truths):
        cell[1] = truth
    assessment = of_case(tmp_path, "{by: design, share: 0.4}", [head, *(",".join(c) for c in cells)])
    assert {v.word for v in assessment.verdicts} == {"not assessable"}
    assert "the 475 that were verified have other scores" in told(assessment)


def test_a_missing_reference_of_those_that_are_all_verified_contradicts_the_design(tmp_path: Path) -> None:
    head, *rows = (CASE / "e.csv").read_text().splitlines()
    cells = [row.split(",") for row in rows]
    next(c for c in cells if float(c[2]) >= 0.5)[1] = ""
    assessment = of_case(tmp_path, "{by: design, share: 0.4}", [head, *(",".join(c) for c in cells)])
    assert "for 100.0% of the cases called positive; 249 of 250" in told(assessment)
    assert {v.word for v in assessment.verdicts} == {"not assessable"}


def test_where_all_cases_are_verified_nothing_is_withheld(tmp_path: Path) -> None:
    head, *rows = (CASE / "e.csv").read_text().splitlines()
    full = [head, *(row for row in rows if row.split(",")[1])]
    assessment = of_case(tmp_path, "{by: design, share: 0.4}", full)
    assert "data contradict" not in told(assessment)


@pytest.mark.parametrize("known, n, side", [(3, 6, 0), (4, 8, 1), (1, 41, 1), (1, 39, 0)])
def test_complete_separation_is_judged_by_its_exact_probability(known: int, n: int, side: int) -> None:
    """scipy.stats.mannwhitneyu, method exact: p = .1, .0286, .0488 and .0513."""
    verified = np.arange(n) >= n - known
    assert _side(verified, np.arange(n) / n, 0.05) == side
    assert _side(verified, -np.arange(n) / n, 0.05) == -side


@pytest.mark.parametrize("share", ["0", "1.2", "{positive: 0}", "{other: 0.4}", "some"])
def test_a_share_that_none_is_is_refused(tmp_path: Path, share: str) -> None:
    with pytest.raises(StudyError):
        of_case(tmp_path, f"{{by: design, share: {share}}}")
