"""Page 1 says the same thing once, in the same words and with the same sign, and says what comes next."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from test_answer import EN, SENSITIVE, made, result, share

from trustreport.assessment.assess import Assessment
from trustreport.assessment.finding import CheckOutcome
from trustreport.measures.estimate import Estimate
from trustreport.report.answer import glance, row_picture
from trustreport.report.answer.answer import answer
from trustreport.report.answer.front import front
from trustreport.report.elements.about import n_published
from trustreport.vocabulary.messages import catalogue, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.resources import folder
from trustreport.vocabulary.results import Result

Example = Callable[[str], Assessment]
LANGUAGES = ("en", "de", "fr", "it")


def of_candidates(second: float) -> Assessment:
    """Two candidates on one data set, of the same specificity."""
    rows = [
        share("sensitivity", round(200 * x), 200, x - 0.05, x + 0.05, "knees", candidate=name)
        for name, x in (("A", 0.8), ("B", second))
    ]
    rows += [share("specificity", 170, 200, 0.79, 0.89, "knees", candidate=name) for name in "AB"]
    names = [{"candidate": "A"}, {"candidate": "B"}]
    return made("procurement", rows, datasets=[("knees", "local")], candidates=names)


def rows_of(one: Assessment) -> list[tuple[str, str, str]]:
    return [(row.measure, row.data, row.estimate) for row in front(one, EN).primary]


# ---------------------------------------------------------------- what is compared


def test_equal_candidates_are_said_to_be_equal_once() -> None:
    same = of_candidates(0.8)
    assert answer(same, EN).sentence == (
        "A and B have the same results on knees: sensitivity 80.0% (75.0% to 85.0%) and specificity 85.0% "
        "(79.0% to 89.0%). No requirement was declared: whether this is enough is open."
    )
    assert [data for _, data, _ in rows_of(same)] == ["A and B, knees"] * 2
    other = of_candidates(0.7)
    assert "same results" not in answer(other, EN).sentence
    assert [data for _, data, _ in rows_of(other)] == ["A, knees", "A and B, knees", "B, knees"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_difference_has_its_names_and_one_sign(language: str, assessed_example: Example) -> None:
    factory, own = assessed_example("factory"), catalogue(language)
    shown = front(factory, own)
    first, second = shown.primary[:2]
    assert first.data.startswith("B ")
    assert "A, components, first prices (euros)" in first.data
    assert second.data.endswith("other prices (euros)")
    assert first.estimate.startswith("−7.0" if language == "en" else "−7,0")
    assert second.estimate.startswith("2.6" if language == "en" else "2,6"), "the same sign"
    assert "earns or loses" in shown.answer.supporting, "what a utility is, as declared"


def test_arms_are_named_in_the_order_of_their_difference(assessed_example: Example) -> None:
    change, errors = (rows_of(assessed_example(name))[0][1] for name in ("assisted-reading", "knee-mri"))
    assert change == "assisted minus alone, at a prevalence of 30%"
    assert errors == "aided compared with unaided, knee MRI"


def test_candidates_that_decide_alike_may_differ_in_h_accuracy(assessed_example: Example) -> None:
    said = answer(assessed_example("h-accuracy"), EN)
    assert said.sentence.startswith("Accuracy is below 93.8%, the lowest that users accept")
    assert said.question == "Which of A and B meets our requirements on our own cases?"
    assert "A and B, knees 83.0% (78.2% to 86.8%) at the declared prevalence of 81%" in said.sentence
    assert "A and B have the same results on knees" in said.supporting
    assert "H-accuracy is lower for B than for A (B minus A: −4.0, −5.6 to −2.6 points)." in said.supporting
    assert "H-accuracy is accuracy weighted by" in said.supporting


# ---------------------------------------------------------------- what a number is


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_prediction_interval_is_not_under_confidence_intervals(language: str) -> None:
    found = [
        result("reported.pooled_sensitivity", 0.93, 0.825, 0.978, set="pool"),
        result("reported.prediction_interval", 0.93, 0.168, 0.999, set="pool", endpoint="sensitivity"),
    ]
    own = catalogue(language)
    cells = [row.estimate for row in front(made("certification", found, datasets=()), own).primary]
    assert own("answer.primary.prediction", low="16.8%", high="99.9%", level=0.95)[-4:] in cells[1]
    assert "93" not in cells[1]


def test_a_stated_accuracy_is_not_called_measured(assessed_example: Example) -> None:
    annotations = assessed_example("annotations")
    said = answer(annotations, EN).supporting
    assert "A stated accuracy of 90.0%, not measured here, would correspond" in said
    row = glance.glance(annotations, {}, EN)[0]
    assert row.measured == ("proportion of correct labels 83.8% (82.9% to 84.6%)",)
    measured = glance.glance(assessed_example("h-accuracy"), {}, EN)[0]
    assert measured.measured[0].startswith("actual accuracy 74.0%")


def test_the_glance_has_the_interval_that_the_criterion_was_judged_by(assessed_example: Example) -> None:
    volumes = assessed_example("measured-volumes")
    judged = [row.estimate for group in front(volumes, EN).groups for row in group.rows]
    shown = [row.measured[0] for row in glance.glance(volumes, {}, EN) if row.name.startswith("Measurement")]
    assert all(text.endswith(", 97.5% CI") for text in shown)
    assert [estimate in text for estimate, text in zip(judged, shown, strict=True)] == [True, True]


def test_the_number_needed_is_of_the_prevalence_that_the_headline_is_of(assessed_example: Example) -> None:
    fired = {o.check: EN(o.message) for o in assessed_example("assisted-reading").fired()}
    assert fired["P24"] == (
        "At a prevalence of 30%, the aid may avoid one error in 13 decisions or cause one in 66: the "
        "interval for the absolute risk reduction includes zero."
    )


# ---------------------------------------------------------------- how many


def test_sets_that_are_not_counted_are_said_to_be(assessed_example: Example) -> None:
    studies = assessed_example("published-studies")
    said = answer(studies, EN)
    assert "In five of 10 sets of published figures" in said.sentence
    assert "In the seven of 17 published sets of counts that allow it, sensitivity ranges" in said.supporting
    assert n_published(studies.study, EN) == "17 published sets of counts · 10 published sets of figures"
    pooled = answer(assessed_example("pooled-accuracy"), EN).supporting
    assert "In 14 published sets of counts sensitivity ranges" in pooled


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_limit_of_many_places_is_said_of_the_first(language: str) -> None:
    message = say("checks.P31.fired_share", study=0.8, expected=0.9)
    names = ("north", "south", "west")
    fired = tuple(
        CheckOutcome("P31", "advice_accuracy", "W", "fired", message, Place(set=name)) for name in names
    )
    own = catalogue(language)
    one = replace(made("certification", [SENSITIVE]), checks=fired)
    (limit,) = (limit for limit in front(one, own).limits if limit.check)
    assert limit.where == "north"
    assert limit.text == own("answer.limits.similar", text=own(message).removesuffix("."), n=2)
    assert limit.text != own(message).removesuffix(".")


# ---------------------------------------------------------------- limits


def test_clustering_and_pairing_do_not_contradict_each_other(assessed_example: Example) -> None:
    fired = {o.check: EN(o.message) for o in assessed_example("knee-mri").fired()}
    assert "as independent, which makes it too narrow, and the arms as unpaired" in fired["P22"]
    assert "which makes it too wide. Its true width is unknown." in fired["P22"]
    assert "too wide" not in fired["P23"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["knee-mri", "assisted-reading"])
def test_limits_are_whole_sentences_in_every_language(
    name: str, language: str, assessed_example: Example
) -> None:
    own = catalogue(language)
    others = own("answer.limits.cut", text="")
    texts = [limit.text for limit in front(assessed_example(name), own).limits]
    assert [text for text in texts if text.endswith((others, "…"))] == []


def test_verdicts_are_withheld_only_where_there_are_criteria(assessed_example: Example) -> None:
    said = {o.check: EN(o.message) for o in assessed_example("breast-recurrence").fired()}
    assert said["P39"].endswith("these measures are imprecise.")


def test_the_letter_of_a_sex_is_a_word_in_every_language() -> None:
    assert [catalogue(name).group("sex: M") for name in LANGUAGES] == [
        "male patients",
        "männliche Patienten",
        "patients de sexe masculin",
        "pazienti di sesso maschile",
    ]
    assert EN.group("Gender: f") == "female patients"
    assert EN.group("sex: X") == "sex “X”"


# ---------------------------------------------------------------- how it is drawn


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_of_an_axis_keep_clear_of_the_word_for_better(language: str) -> None:
    own = catalogue(language)
    for high in (0.02, 0.03, 0.043, 0.06, 0.1):
        for name in ("sensitivity_difference", "false_positive_rate_difference"):
            of = Result(f"advice_accuracy.{name}", Place(), Estimate(high / 3, -high / 2, high, 200))
            axis = row_picture.axes([(of, None)], own)[row_picture.unit_of(of)]
            svg = row_picture.picture((of, None), "none", axis, "")
            texts = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="(\w+)"[^>]*>([^<]*)<', svg)
            *labels, (end, anchor, word) = [(float(x), how, text) for x, how, text in texts]
            edge = end - 3.7 * len(word) if anchor == "end" else end + 3.7 * len(word)
            for x, _, label in labels:
                half = 3.7 * len(label) / 2
                assert x + half < edge if anchor == "end" else x - half > edge, (label, word)


def test_the_boxes_of_the_intended_use_are_not_broken_over_a_page() -> None:
    css = (folder("templates") / "report.css").read_text(encoding="utf-8")
    (box,) = re.findall(r"^\.use > div \{([^}]*)\}", css, re.M)
    assert "break-inside: avoid" in box
