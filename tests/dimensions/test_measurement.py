"""Measurements, ratings and counts from their tables to the first page."""

import re
from math import isnan, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.studies import with_table
from trustreport.api import Assessment, assess, read_study
from trustreport.report.answer.answer import answer
from trustreport.report.answer.front import front
from trustreport.report.tables import in_words
from trustreport.study.identity.pseudonyms import pseudonymised
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.messages import catalogue, say
from trustreport.vocabulary.results import Result

EN = catalogue("en")
# Peak expiratory flow by two meters, first readings (Bland and Altman 1986, Lancet 327, table 1).
WRIGHT = (494, 395, 516, 434, 476, 557, 413, 442, 650, 433, 417, 656, 267, 478, 178, 423, 427)
MINI = (512, 430, 520, 428, 500, 600, 364, 380, 658, 445, 432, 626, 260, 477, 259, 350, 451)


def assessed(*given: Any) -> Assessment:
    return assess(*read_study(with_table(*given)))


def single(assessment: Assessment, id: str, **scope: Any) -> Result:
    where = {"reader": None, "site": None, **scope}
    (found,) = [r for r in assessment.results if r.id == id and r.primary and r.within(**where)]
    return found


def flow(folder: Path, endpoints: str = "") -> Assessment:
    manifest = (
        "measurements: [{measurement: flow, unit: L/min, acceptable: 40}]\n"
        "tables: {values: {file: table.csv, dataset: meters}}\n"
        "datasets: [{dataset: meters, role: external}]\n"
    )
    rows = [(k, a, b) for k, (a, b) in enumerate(zip(WRIGHT, MINI))]
    return assessed(folder, manifest + endpoints, "case measured reference", rows)


def test_the_published_example_of_limits_of_agreement(tmp_path: Path) -> None:
    found = flow(tmp_path)
    assert single(found, "measurement.bias").estimate.value == pytest.approx(-2.1, abs=0.05)
    sd = 38.8  # as published
    for end, side in (("lower", -1), ("upper", 1)):
        limit = single(found, f"measurement.{end}_limit_of_agreement").estimate
        assert limit.value == pytest.approx(-2.1 + side * 1.96 * sd, abs=0.1)
        assert limit.low < limit.value < limit.high
    close = sum(abs(a - b) <= 40 for a, b in zip(WRIGHT, MINI))
    share = single(found, "measurement.acceptable_share").estimate
    assert (share.value, share.n) == (close / 17, 17)
    error = single(found, "measurement.mean_absolute_error").estimate.value
    assert error == pytest.approx(np.abs(np.subtract(WRIGHT, MINI)).mean())


def test_the_first_page_states_the_limits_in_the_unit_of_the_values(tmp_path: Path) -> None:
    found = flow(tmp_path)
    bias = single(found, "measurement.bias")
    assert bias.details["unit"] == "L/min"
    assert "unit" not in single(found, "measurement.concordance_correlation").details
    said = answer(found, EN)
    text = f"{said.sentence} {said.supporting}".replace("\N{NO-BREAK SPACE}", " ")
    assert f"{in_words(bias, EN)}".replace("\N{NO-BREAK SPACE}", " ") in text
    assert "In 95 of 100 cases, the difference is expected to be between −78 L/min and 74 L/min" in text


@pytest.mark.parametrize(
    ("margin", "word"), [(30, "pass"), (15, "inconclusive")], ids=["wide margin", "narrow margin"]
)
def test_a_margin_of_equivalence_is_judged(tmp_path: Path, margin: float, word: str) -> None:
    criterion = (
        f"{{endpoint: e, measure: measurement.bias, hypothesis: equivalence, bound_or_margin: {margin}}}"
    )
    (verdict,) = flow(tmp_path, f"endpoints: [{criterion}]\n").verdicts
    assert verdict.word == word


def test_an_error_beyond_the_bound_fails(tmp_path: Path) -> None:
    rows = [(k, x + 10, x) for k, x in enumerate(np.linspace(5, 50, 40).round(1))]
    manifest = (
        "tables: {values: {file: table.csv}}\n"
        "endpoints: [{endpoint: e, measure: measurement.mean_absolute_error,"
        " hypothesis: performance goal, bound_or_margin: 9}]\n"
    )
    rows[0] = (0, rows[0][1] + 0.1, rows[0][2])
    (verdict,) = assessed(tmp_path, manifest, "case measured reference", rows).verdicts
    assert verdict.word == "fail"


def read_by(folder: Path, shift: float, **more: str) -> Assessment:
    rng = np.random.default_rng(11)
    truth = rng.uniform(10, 60, 50)
    rows = [
        (
            f"R{j}",
            f"c{k}",
            arm,
            round(truth[k] + rng.normal(shift * (arm == "unaided"), 2), 2),
            round(truth[k], 2),
        )
        for j in range(6)
        for arm in ("unaided", "aided")
        for k in range(50)
    ]
    manifest = "tables: {values: {file: table.csv}}\n" + more.get("endpoints", "")
    return assessed(folder, manifest, "reader case arm measured reference", rows)


def test_the_change_of_the_error_by_the_aid_has_readers_and_cases_random(tmp_path: Path) -> None:
    found = read_by(tmp_path, 4.0)
    change = single(found, "reader_measurement.mean_absolute_error_difference")
    assert change.place.arms == ("aided", "unaided")
    assert change.estimate.high < 0
    assert change.method.startswith("or_")
    means = [
        single(found, "reader_measurement.mean_absolute_error", arm=arm).estimate.value
        for arm in ("aided", "unaided")
    ]
    assert change.estimate.value == pytest.approx(means[0] - means[1])
    text = answer(found, EN).headline if hasattr(answer(found, EN), "headline") else str(answer(found, EN))
    assert "mean absolute error" in text.lower()


@pytest.mark.parametrize(("shift", "word"), [(4.0, "pass"), (0.0, "inconclusive")])
def test_a_smaller_error_with_the_aid_is_judged(tmp_path: Path, shift: float, word: str) -> None:
    criterion = (
        "{endpoint: e, measure: reader_measurement.mean_absolute_error_difference, hypothesis: superiority,"
        " bound_or_margin: 0, arm_or_contrast: [aided, unaided]}"
    )
    (verdict,) = read_by(tmp_path, shift, endpoints=f"endpoints: [{criterion}]\n").verdicts
    assert verdict.word == word


def test_ratings_without_a_truth_are_compared_as_such(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows = [
        (f"R{j}", k, source, int(np.clip(round(3 + (source == "new") + rng.normal(0, 0.8)), 1, 5)))
        for j in range(5)
        for source in ("new", "old")
        for k in range(40)
    ]
    manifest = (
        "measurements: [{measurement: quality, kind: ordinal, scale: [1, 5], better: up, acceptable: 3}]\n"
        "tables: {values: {file: table.csv, columns: {candidate: source}}}\n"
    )
    found = assessed(tmp_path, manifest, "reader case source measured", rows)
    change = single(found, "reader_measurement.mean_score_difference")
    assert change.place.candidates == ("new", "old")
    assert change.estimate.low > 0
    alpha = single(found, "reader_measurement.krippendorff_alpha", candidate="new")
    assert not isnan(alpha.estimate.value)
    (finding,) = [f for f in found.findings if f.dimension == "reader_measurement"]
    assert "not that an output is correct" in EN(finding.not_shown[0])
    assert EN(finding.not_shown[0]).rstrip(".") in {limit.text for limit in front(found, EN).limits}


@pytest.mark.parametrize(("kind", "claim"), [("ordinal", "rating"), ("number", "agreement")])
def test_what_values_without_a_reference_can_show_follows_from_their_kind(
    tmp_path: Path, kind: str, claim: str
) -> None:
    manifest = (
        f"measurements: [{{measurement: quality, kind: {kind}, better: up}}]\n"
        "tables: {values: {file: table.csv}}\n"
    )
    found = assessed(tmp_path, manifest, "case measured", [(k, 1 + k % 5) for k in range(40)])
    unshown = EN(say(f"measurement.not_shown.{claim}")).rstrip(".")
    assert [limit.text for limit in front(found, EN).limits] == [unshown]


def test_ratings_that_are_all_the_same_have_no_agreement_beyond_chance(tmp_path: Path) -> None:
    manifest = (
        "measurements: [{measurement: quality, kind: ordinal, scale: [1, 5]}]\n"
        "tables: {values: {file: table.csv, columns: {candidate: source}}}\n"
    )
    rows = [
        (f"R{j}", k, source, 4 if source == "new" else 1 + (j + k) % 5)
        for j in range(3) for source in ("new", "old") for k in range(20)
    ]  # fmt: skip
    found = assessed(tmp_path, manifest, "reader case source measured", rows)
    alpha = single(found, "reader_measurement.krippendorff_alpha", candidate="new").estimate
    assert isnan(alpha.value)
    assert "nothing can be said beyond it" in EN(alpha.note)


def test_counts_of_two_devices_have_a_rate_ratio(tmp_path: Path) -> None:
    rows = [(k, k % 3, 1 + k % 2) for k in range(60)]
    manifest = (
        "measurements: [{measurement: errors, kind: count, better: down}]\n"
        "tables: {values: {file: table.csv, columns: {measured: {A: a, B: b}}}}\n"
    )
    found = assessed(tmp_path, manifest, "case a b", rows)
    assert single(found, "measurement.count_ratio").estimate.value == pytest.approx(1.0 / 1.5)
    none = single(found, "measurement.acceptable_share", candidate="A").estimate
    assert (none.value, none.n) == (20 / 60, 60)


def drafted(folder: Path, *, severe: int) -> Assessment:
    """Three readers count errors of drafts of two sources, and rate them from 1 to 5."""
    rows = [
        (f"R{j}", k, source, (k + j) % 3 + (source == "radiologist"), severe, 1 + (k + j * (k % 2)) % 5)
        for j in range(3)
        for k in range(40)
        for source in ("model", "radiologist")
    ]
    manifest = (
        "measurements:\n"
        "  - {measurement: light errors, kind: count, better: down}\n"
        "  - {measurement: severe errors, kind: count, better: down}\n"
        "  - {measurement: quality, kind: ordinal, better: up, scale: [1, 5]}\n"
        "candidates: [{candidate: model}, {candidate: radiologist}]\n"
        "tables:\n"
    )
    for word in ("light errors", "severe errors", "quality"):
        own = word.partition(" ")[0]
        table = f"file: table.csv, measurement: {word}, columns: {{measured: {own}}}"
        manifest += f"  {own}: {{kind: values, {table}}}\n"
    return assessed(folder, manifest, "reader case candidate light severe quality", rows)


def test_counts_by_readers_have_a_rate_ratio_and_ratings_a_weighted_kappa(tmp_path: Path) -> None:
    found = drafted(tmp_path, severe=1)
    (ratio,) = (r for r in found.results if (r.name, r.endpoint) == ("count_ratio", "light errors"))
    counts = [[(k + j) % 3 for k in range(40)] for j in range(3)]
    assert ratio.estimate.value == pytest.approx(np.mean(counts) / (np.mean(counts) + 1))
    ratings = np.array([[1 + (k + j * (k % 2)) % 5 for k in range(40)] for j in range(3)])
    apart = [(ratings[i] - ratings[j], ratings[i], ratings[j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    # Quadratic weights: 1 less the mean squared difference over that of all pairs of ratings.
    kappas = [1 - np.mean(d**2) / np.mean((a[:, None] - b) ** 2) for d, a, b in apart]
    kappa = single(found, "reader_measurement.weighted_kappa", candidate="model")
    assert kappa.estimate.value == pytest.approx(np.mean(kappas))


def test_the_first_page_says_what_no_severe_error_allows(tmp_path: Path) -> None:
    said = answer(drafted(tmp_path, severe=0), EN)
    text = f"{said.sentence} {said.supporting}"
    assert "Model: severe errors 0 in all 120 values; proportion of acceptable values 100.0% (91.2%" in text
    assert "mean severe errors" not in text


def test_readers_beside_a_reference_have_limits_of_agreement(tmp_path: Path) -> None:
    found = read_by(tmp_path, 3.0)
    low, high = (
        single(found, f"reader_measurement.{end}_limit_of_agreement", arm="unaided", reader=None).estimate
        for end in ("lower", "upper")
    )
    assert (low.value + high.value) / 2 == pytest.approx(3.0, abs=0.3)
    assert (high.value - low.value) / 2 == pytest.approx(1.96 * 2, abs=0.5)


def test_metrics_of_structures_are_measurements_of_their_own(tmp_path: Path) -> None:
    rows = [
        (k, organ, m, 0.9 - 0.05 * (m == "B") + 0.001 * k)
        for k in range(30)
        for organ in ("liver", "spleen")
        for m in "AB"
    ]
    manifest = (
        "measurements: [{measurement: dice, better: up, acceptable: 0.8}]\n"
        "tables: {values: {file: table.csv, measurement: dice,"
        " columns: {measurement: organ, candidate: model}}}\n"
    )
    found = assessed(tmp_path, manifest, "case organ model measured", rows)
    names = {r.endpoint for r in found.results}
    assert names == {"dice, liver", "dice, spleen"}
    apart = single(found, "measurement.mean_score_difference", endpoint="dice, liver").estimate
    assert apart.value == pytest.approx(0.05)


def test_a_repeated_measurement_has_a_within_case_sd(tmp_path: Path) -> None:
    rows = [(k, r, 10 + k + (r == 2) * (1 if k % 2 else -1)) for k in range(30) for r in (1, 2)]
    found = assessed(tmp_path, "tables: {values: {file: table.csv}}\n", "case repeat measured", rows)
    assert single(found, "measurement.within_case_sd").estimate.value == pytest.approx(1 / sqrt(2))


def test_every_problem_of_a_table_of_values_is_said(tmp_path: Path) -> None:
    manifest = (
        "measurements: [{measurement: quality, kind: ordinal, scale: [1, 5], better: up}]\n"
        "tables: {values: {file: table.csv}}\n"
    )
    rows = [("R1", 1, 7), ("R1", 2, 2.5), ("R1", 3, 4), ("R1", 3, 5)]
    with pytest.raises(StudyError) as raised:
        read_study(with_table(tmp_path, manifest, "reader case measured", rows))
    said = [str(p) for p in raised.value.problems]
    assert any("7" in text and "from 1 to 5" in text for text in said)
    assert any("2.5" in text and "whole number" in text for text in said)
    assert any("two values of reader R1" in text for text in said)


def test_an_unknown_measurement_is_refused(tmp_path: Path) -> None:
    manifest = (
        "measurements: [{measurement: volume}, {measurement: diameter}]\n"
        "tables: {values: {file: table.csv}}\n"
    )
    with pytest.raises(StudyError, match="volum"):
        read_study(with_table(tmp_path, manifest, "case measurement measured", [(1, "volum", 3.0)]))


def test_pseudonyms_keep_the_numbers(tmp_path: Path) -> None:
    read_by(tmp_path, 2.0)
    found, plan = read_study(tmp_path)
    hidden, hidden_plan = pseudonymised(found, plan)
    one, other = (
        [
            (e.value, e.low, e.high)
            for r in assess(*pair).results
            for e in [r.estimate]
            if r.place.reader is None
        ]
        for pair in ((found, plan), (hidden, hidden_plan))
    )
    assert np.array(one) == pytest.approx(np.array(other), nan_ok=True)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "The mean number of minor errors was lower for new than for old"),
        ("de", "Der Mittelwert für die Anzahl minor errors war bei new niedriger als bei old"),
        ("fr", "La moyenne du nombre de « minor errors » était plus basse pour new que pour old"),
        ("it", "La media del numero di minor errors era inferiore per new che per old"),
    ],
)
def test_a_mean_of_counts_is_of_their_number(language: str, said: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    rows = [(k, name, rng.poisson(rate)) for k in range(80) for name, rate in (("new", 1), ("old", 3))]
    manifest = (
        "measurements: [{measurement: minor errors, kind: count, better: down}]\n"
        "tables: {values: {file: table.csv, columns: {candidate: source}}}\n"
    )
    found = assessed(tmp_path, manifest, "case source measured", rows)
    say = catalogue(language)
    (finding,) = [f for f in found.findings if f.dimension == "measurement"]
    every = " ".join(say(text) for part in finding.parts for text in part.finding)
    for text in (every, answer(found, say).supporting + answer(found, say).sentence):
        plain = text.replace("\N{NO-BREAK SPACE}", " ")
        for name in ("new", "old"):  # the first page marks names that are words
            plain = re.sub(f"[“„«] ?{name} ?[”“»]", name, plain)
        assert said in plain


def test_values_that_are_not_declared_have_the_name_of_their_column(tmp_path: Path) -> None:
    manifest = "tables: {values: {file: table.csv, kind: values, columns: {measured: peak_flow}}}\n"
    rows = [(k, a, b) for k, (a, b) in enumerate(zip(WRIGHT, MINI))]
    found = assessed(tmp_path, manifest, "case peak_flow reference", rows)
    assert single(found, "measurement.bias").endpoint == "peak flow"
    assert "no mean difference of peak flow from the reference" in answer(found, EN).sentence
