"""What readers of the pages after the first stumbled over: two numbers of one quantity, units, columns."""

from collections.abc import Callable, Iterator

from trustreport.assessment.assess import Assessment
from trustreport.assessment.case_mix import PARTICIPANTS
from trustreport.assessment.finding import Part, PlainTable
from trustreport.report.answer.limits import listed, ranked
from trustreport.report.declared import shorten
from trustreport.report.elements.conclusions import _incidents
from trustreport.report.elements.questions import _paragraphs
from trustreport.report.tables import table
from trustreport.vocabulary.messages import catalogue

EN = catalogue("en")
Examples = Callable[[str], Assessment]


def parts(found: Assessment, dimension: str) -> tuple[Part, ...]:
    (one,) = (f for f in found.findings if f.dimension == dimension)
    return one.parts


def sentences(found: Assessment, dimension: str) -> list[str]:
    return [EN(message) for part in parts(found, dimension) for message in part.finding]


def tables(found: Assessment, dimension: str) -> Iterator[PlainTable]:
    for part in parts(found, dimension):
        yield from (t for t in part.tables if isinstance(t, PlainTable))


def test_the_flow_has_a_column_for_every_version_on_every_set(assessed_example: Examples) -> None:
    figures = assessed_example("planned-change").flow_figures
    drawn = [c.name for f in figures if f.id.startswith(PARTICIPANTS) for c in f.drawing.columns]
    assert len(drawn) == 9
    assert "Southgate · 2.0" in [EN(name) if not isinstance(name, str) else name for name in drawn]


def test_a_version_in_a_heading_is_called_one(assessed_example: Examples) -> None:
    found = parts(assessed_example("planned-change"), "potential_robustness")
    assert [EN(p.title) for p in found if p.title] == ["Version 1.0", "Version 1.1", "Version 2.0"]


def test_of_one_prevalence_there_is_one_number_of_decisions(assessed_example: Examples) -> None:
    found = assessed_example("knee-mri-readings")  # the declared prevalence is that of the sample
    (part,) = parts(found, "pragmatic_utility")
    (shown,) = (t for t in part.tables if t.id.startswith("pragmatic_utility"))
    rows = table(shown, EN).lines
    assert [line.cells[0].text for line in rows].count("Number of decisions needed") == 1
    text = " ".join(sentences(found, "pragmatic_utility") + [c.text for line in rows for c in line.cells])
    assert "206" in text
    assert "208" not in text
    assert not [s for s in sentences(found, "decision_benefit") if s.startswith("In the study sample")]


def test_of_two_prevalences_both_are_said(assessed_example: Examples) -> None:
    found = assessed_example("certification-dossier")
    assert [s for s in sentences(found, "decision_benefit") if s.startswith("In the study sample")]
    said = sentences(found, "pragmatic_utility")
    assert [s for s in said if s.startswith("In the sample one error is avoided")]


def test_incidents_say_how_many_of_the_cases_were_processed(assessed_example: Examples) -> None:
    found = assessed_example("vigilance-audit")
    (log,) = (p for p in parts(found, "vigilance") if p.element == "E42")
    assert "processed 1,882 of the 1,920 cases sent to it" in EN(log.finding[0])


def test_claims_are_in_the_unit_of_what_is_beside_them(assessed_example: Examples) -> None:
    found = assessed_example("procurement-triage")
    (claims,) = (t for t in tables(found, "candidates") if t.id.startswith("candidates_claims"))
    assert [line.cells[2].text for line in table(claims, EN).lines][:2] == [
        "94% (92% to 96%)",
        "88% (87% to 89%)",
    ]
    said = "Alder: the claimed specificity is 88%; the whole interval of the local cases is lower."
    assert said in sentences(found, "candidates")


def test_a_difference_of_areas_is_no_percentage(assessed_example: Examples) -> None:
    found = assessed_example("procurement-triage")
    (differences,) = (t for t in tables(found, "subgroups") if t.id == "group_differences")
    laid = table(differences, EN)
    areas = [line.cells[3].text for line in laid.lines if line.cells[0].text == "AUC"]
    assert areas
    assert all(text.startswith("−0.0") for text in areas)
    assert "Differences in AUC are on its own scale" in laid.caption
    assert "Of accuracy, positive predictive value, and negative predictive value, only" in laid.caption


def test_what_the_model_was_made_with_comes_last(assessed_example: Examples) -> None:
    found = assessed_example("breast-recurrence")
    (sets,) = (t for t in tables(found, "advice_accuracy") if t.id == "advice_accuracy_sets")
    assert [line.cells[0].text for line in table(sets, EN).lines] == [
        "Rotterdam 1990-1993",
        "German centres",
        "Rotterdam 1978-1989 (training data)",
    ]
    first = [own[0] for own in ranked(found, (), EN) if len(own) > 1]
    assert not [one for one in first if one.names == ("Rotterdam 1978-1989",)]


def test_of_several_sets_areas_have_the_same_digits(assessed_example: Examples) -> None:
    said = " ".join(sentences(assessed_example("breast-recurrence"), "potential_robustness"))
    assert "German centres: the AUC was 0.743 (95% CI 0.699 to 0.783)" in said
    assert "the AUC was 0.739 (95% CI 0.704 to 0.771)" in said


def test_a_crossing_without_cases_has_no_row(assessed_example: Examples) -> None:
    (shown,) = (
        t for t in tables(assessed_example("vigilance-audit"), "vigilance") if t.id == "where_missed_1"
    )
    rows = table(shown, EN).lines
    assert ("scanner Y", "Berg") in [(line.cells[0].text, line.cells[1].text) for line in rows]
    assert ("scanner Y", "Aber") not in [(line.cells[0].text, line.cells[1].text) for line in rows]


def test_a_corrective_action_is_an_action(assessed_example: Examples) -> None:
    lines = {
        line.cells[0].text: line.cells for line in _incidents(assessed_example("vigilance-audit").plan, EN)
    }
    assert lines["I-2"][2].text == "serious"
    assert lines["I-2"][3].text == "corrective action CAPA-4"


def test_a_long_remark_ends_between_the_items_of_a_list() -> None:
    assert shorten("accuracy 0.84 (recomputed 0.833), score 0.69 (recomputed 0.681)", 50, EN) == (
        "accuracy 0.84 (recomputed 0.833) …"
    )


def test_a_long_answer_is_a_paragraph_for_each_sentence() -> None:
    assert _paragraphs(["One.", "Two."]) == ["One. Two."]
    assert len(_paragraphs(["x" * 400, "y" * 400])) == 2
    assert _paragraphs([]) == []


def test_further_places_have_names_that_tell_them_apart(assessed_example: Examples) -> None:
    found = assessed_example("planned-change").fired()
    further = {
        one.check: one.text for one in listed(found, EN, 1) if one.text.startswith("The same was found")
    }
    assert further["P45"].startswith(
        "The same was found in 8 further places: 1.1 (Northgate), 2.0 (Northgate),"
    )
    assert further["P52"].endswith("2.0 / 1.1 (Eastgate) and 1.1 / 1.0 (Southgate)")
    assert further["P47"] == "The same was found in 10 further results"  # of measures, not of places


def test_groups_of_a_table_are_named_in_words(assessed_example: Examples) -> None:
    shown = (t for t in tables(assessed_example("certification-dossier"), "subgroups") if "_main_" in t.id)
    named = {line.cells[0].text for t in shown for line in table(t, EN).lines}
    assert "age group: under 60" in named
    assert not [name for name in named if "_" in name]
