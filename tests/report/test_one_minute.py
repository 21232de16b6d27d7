"""Page 1 answers in words: what was found, whether it is enough, what is weakest, and what comes next."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from test_answer import EN, GAIN, SENSITIVE, SENSITIVITY, SPECIFIC, WIDE, criterion, made, result, share

from trustreport.assessment.assess import Assessment
from trustreport.assessment.finding import CheckOutcome, Finding
from trustreport.report.answer.answer import answer
from trustreport.report.answer.by_criteria import difference_of_pair
from trustreport.report.answer.front import front
from trustreport.report.answer.row_picture import unit_of
from trustreport.report.elements.intended_use import use_box
from trustreport.vocabulary.messages import catalogue, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

Example = Callable[[str], Assessment]
LANGUAGES = ("en", "de", "fr", "it")
UNASKED = ("annotations", "assisted-reading", "factory", "knee-mri", "pooled-accuracy", "published-studies")


def limits_of(one: Assessment, language: str = "en") -> list[str]:
    return [limit.text for limit in front(one, catalogue(language)).limits]


# ---------------------------------------------------------------- whether it is enough


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", UNASKED)
def test_a_headline_without_criteria_says_that_nothing_was_required(
    name: str, language: str, assessed_example: Example
) -> None:
    own = catalogue(language)
    said = answer(assessed_example(name), own)
    key = "only_raters" if name == "annotations" else "no_criteria"
    assert len(said.sentences) >= 2, "what was found comes before it"
    assert said.sentences[-1].text == own(f"answer.open.{key}")


def test_a_headline_says_in_words_what_was_found(assessed_example: Example) -> None:
    found = {name: answer(assessed_example(name), EN).sentences[0].text for name in UNASKED}
    assert found["annotations"].startswith("The raters who set the reference agree too little")
    assert found["assisted-reading"] == (
        "No change in the readers' accuracy with the aid was found: +3.0 (−1.5 to +7.5) points at the "
        "prevalence of the intended use, 30%."
    )
    assert "but the studies differ: in a new study it would be expected to lie" in found["pooled-accuracy"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_change_at_the_declared_prevalence_says_its_side(language: str) -> None:
    own = catalogue(language)
    use = {"intended_use": {"prevalence_expected": 0.3}}
    there = replace(GAIN, parameters={"prevalence": 0.3})
    said = answer(made("certification", [GAIN, there], **use), own).sentences[0].text
    change = own("answer.open.at_use", change="+7.7", prevalence="30%").split("+7.7")[1].split("30")[0]
    plain = answer(made("certification", [GAIN]), own).sentences[0].text
    assert said.startswith(plain.rstrip("."))
    assert change.strip() in said


def test_the_only_data_set_has_what_was_missed_and_the_false_alarms() -> None:
    (said, _) = answer(made("certification", [SENSITIVE, SPECIFIC]), EN).sentences
    assert said.text.startswith(
        "test: 20 of 200 positive cases were missed and 30 of 200 negative cases raised a false alarm; sens"
    )
    corrected = replace(SENSITIVE, estimate=replace(SENSITIVE.estimate, value=0.8812))
    (said, _) = answer(made("certification", [corrected, SPECIFIC]), EN).sentences
    assert "missed" not in said.text, "a corrected value is no number of cases"


def test_raters_whose_interval_includes_the_limit_leave_it_open() -> None:
    alpha = result("source_reliability.krippendorff_alpha", 0.7, 0.6, 0.8)
    values = {"value": 0.7, "low": 0.6, "high": 0.8, "limit": 0.67, "best": "", "whose": "declared"}
    fired = CheckOutcome(
        "P14", "source_reliability", "W", "fired", say("checks.P14.fired", **values), Place()
    )
    one = replace(made("certification", [alpha]), checks=(fired,))
    assert answer(one, EN).sentence.startswith(
        "Whether the raters who set the reference agree well enough is open"
    )
    assert answer(made("certification", [alpha]), EN).sentence.startswith("Agreement of the raters")


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_worse_within_the_margin_is_said_to_be_within_it(language: str) -> None:
    own = catalogue(language)
    pair = ("model", "radiologist")
    worse = result(
        "reader_measurement.mean_score_difference", -0.15, -0.26, -0.05, candidates=pair, endpoint="score"
    )
    asked = criterion(
        "as good",
        "reader_measurement.mean_score_difference",
        0.4,
        hypothesis="non-inferiority",
        candidate=list(pair),
        of="score",
    )
    scale = [{"measurement": "score", "kind": "ordinal", "scale": [1, 5], "better": "up"}]
    one = made("procurement", [worse], [asked], datasets=(), measurements=scale)
    shown = front(one, own)
    assert own("answer.losses.within") in shown.answer.sentence
    assert shown.answer.sentence.startswith(own("word.quoted", text="model")) or language == "fr"
    (row,) = shown.groups[0].rows
    assert own("answer.forest.scale_up", low="1", high="5") in row.about


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_criterion_that_is_open_is_a_sentence(language: str) -> None:
    own = catalogue(language)
    said = answer(made("certification", [WIDE], [SENSITIVITY]), own).sentence
    start, middle = own("answer.is_required", title="§", estimate="§", required="§").split("§")[:2]
    assert start in said or middle in said


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_difference_has_its_direction(language: str) -> None:
    own = catalogue(language)
    lower = result("candidates.auc_difference", -0.04, -0.06, -0.02, candidates=("B", "A"))
    higher = result("candidates.auc_difference", 0.04, 0.02, 0.06, candidates=("B", "A"))
    said = [difference_of_pair(r, own("quantity.auc"), own).text for r in (lower, higher)]
    words = {"en": "lower", "de": "niedriger", "fr": "plus petite", "it": "più basso"}
    assert [words[language] in text for text in said] == [True, False]


# ---------------------------------------------------------------- what is weakest


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["measured-volumes", "drafted-reports", "factory", "pooled-accuracy"])
def test_every_page_has_limits_and_a_step(name: str, language: str, assessed_example: Example) -> None:
    own = catalogue(language)
    shown = front(assessed_example(name), own)
    assert shown.limits
    assert shown.next_step not in ("", own("answer.next.rest"))


def test_what_qualifies_an_accuracy_is_no_limit_where_none_is_stated() -> None:
    message = say("checks.P08.fired", accuracy=0.9, common="negative", share=0.91)
    fired = (CheckOutcome("P08", "advice_accuracy", "W", "fired", message, Place(dataset="test")),)
    accuracy = share("accuracy", 350, 400, 0.84, 0.9, "test")
    criteria = [criterion("right", "advice_accuracy.accuracy", 0.8, dataset="test")]
    stated = replace(made("certification", [accuracy], criteria), checks=fired)
    silent = replace(made("certification", [SENSITIVE], [SENSITIVITY]), checks=fired)
    assert [any("calling every case" in text for text in limits_of(one)) for one in (stated, silent)] == [
        True,
        False,
    ]
    assert front(silent, EN).limits_more == 1, "it is counted"


def test_what_data_cannot_show_is_a_limit_where_there_are_few() -> None:
    one = made("certification", [SENSITIVE], [SENSITIVITY])
    (finding,) = one.findings
    readers = say("advice_accuracy.not_shown.readers")
    said = limits_of(replace(one, findings=(replace(finding, not_shown=(readers,)),)))
    assert said[-1] == EN(readers).rstrip(".")


def test_ratings_keep_a_place_for_what_they_cannot_show() -> None:
    mean = result("measurement.bias", 0.1, -0.1, 0.3, dataset="test", endpoint="volume")
    names = ("P31", "P45", "P47", "P50")
    message = say("checks.P31.fired_share", study=0.3, expected=0.4)
    fired = tuple(
        CheckOutcome(name, "measurement", "W", "fired", message, Place(dataset="test")) for name in names
    )
    agreement = say("measurement.not_shown.agreement")
    one = replace(
        made("certification", [mean]),
        checks=fired,
        findings=(Finding("measurement", (), (mean,), not_shown=(agreement,)),),
    )
    assert limits_of(one)[-1] == EN(agreement).rstrip(".")


def test_how_readings_were_made_is_a_limit(assessed_example: Example) -> None:
    checks = [limit.check for limit in front(assessed_example("assisted-reading"), EN).limits]
    assert "P18" in checks
    silent = replace(
        made("certification", [SENSITIVE], [SENSITIVITY]),
        checks=tuple(o for o in assessed_example("assisted-reading").checks if o.check in ("P18", "P28")),
    )
    assert [limit.check for limit in front(silent, EN).limits if limit.check] in (
        ["P18", "P28"],
        ["P28", "P18"],
    )


def test_the_weakest_group_and_the_claims_are_named(assessed_example: Example) -> None:
    first, claims = front(assessed_example("procurement-triage"), EN).limits[:2]
    assert first.where == "Alder"
    assert first.text.startswith(
        "Sensitivity (unit “portable”) is lower: difference −13.1 (−27.0 to −3.2) points"
    )
    assert claims.text.endswith("specificity (Alder), specificity (Birch), and sensitivity (Cedar)")


def test_labels_that_err_are_named_and_what_is_not_corrected_says_so(assessed_example: Example) -> None:
    routine = front(assessed_example("routine-labels"), EN)
    assert routine.limits[0].where == "finding named in the report, as read by a language model"
    assert not any("ot corrected" in limit.text for limit in routine.limits), "it turns nothing corrected"
    assert [group.heading for group in routine.groups] == ["External data"]


def test_one_of_several_safety_criteria_is_not_the_safety_criterion(assessed_example: Example) -> None:
    shown = front(assessed_example("planned-change"), EN)
    assert "One of two safety criteria is met: difference in sensitivity" in shown.answer.supporting


def test_criteria_fixed_after_all_data_were_collected_are_a_limit(assessed_example: Example) -> None:
    shown = front(assessed_example("planned-change"), EN)
    assert any(
        text.startswith("The criteria were fixed on 2026-07-06, when all these data had been collected")
        for text in (limit.text for limit in shown.limits)
    )


def test_a_table_that_its_publication_contradicts_is_no_primary_result(assessed_example: Example) -> None:
    studies = front(assessed_example("published-studies"), EN)
    refuted = {
        str(r.place.set).removesuffix(", reported")
        for r in assessed_example("published-studies").results
        if r.id == "reported.conflict"
    }
    assert refuted
    assert not refuted & {row.data for row in studies.primary}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["routine-labels", "drafted-reports"])
def test_a_long_limit_is_cut_within_no_number(name: str, language: str, assessed_example: Example) -> None:
    cut = catalogue(language)("answer.limits.cut", text="")
    for text in limits_of(assessed_example(name), language):
        before = text.removesuffix(cut)
        assert before == text or not (before[-1].isdigit() or before.endswith(("\N{NO-BREAK SPACE}", " ")))
        assert not text.endswith("…")


# ---------------------------------------------------------------- what it is of


@pytest.mark.parametrize(
    ("name", "quoted"), [("model", True), ("Alder", False), ("2.0", False), ("A", False)]
)
def test_a_common_noun_is_quoted_as_a_name(name: str, quoted: bool) -> None:
    assert [(catalogue(language).called(name) != name) for language in LANGUAGES] == [quoted] * 4


def test_values_of_one_measurement_share_an_axis() -> None:
    def of(id: str, measurement: str, **details: Any) -> Result:
        return result(id, 0.1, 0.0, 0.2, endpoint=measurement, details=details)

    volume = of("measurement.bias", "volume", unit="mL")
    change = of("reader_measurement.mean_absolute_error_difference", "volume", unit="mL")
    other = of("measurement.bias", "mass", unit="g")
    assert unit_of(volume) == unit_of(change) != unit_of(other)


def test_a_bound_on_measured_values_has_their_unit(assessed_example: Example) -> None:
    rows = [row for group in front(assessed_example("measured-volumes"), EN).groups for row in group.rows]
    assert [row.required for row in rows] == ["−5 to 5\N{NO-BREAK SPACE}mL", "below 0\N{NO-BREAK SPACE}mL"]


def test_a_device_that_was_not_tested_is_not_among_what_was(assessed_example: Example) -> None:
    labels = [
        [label for label, _ in use_box(assessed_example(name), EN).tested]
        for name in ("annotations", "factory")
    ]
    assert ["Device" in own for own in labels] == [False, True]
