"""Whatever is computed stands in one place: in the report or in its annex, of every kind."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from studies import plan

from tests.english import english
from trustreport.assessment.assess import Assessment, assess
from trustreport.assessment.finding import Finding
from trustreport.measures.estimate import OFTEN_ABOVE, Estimate
from trustreport.report import contents
from trustreport.report.answer import glance
from trustreport.report.contents import ROWS_IN_REPORT, Chapter
from trustreport.report.write import provenance
from trustreport.study.plan import Kind
from trustreport.study.study import ArmCounts, CountsSet, Study
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

EXAMPLES = sorted(f.parent.name for f in Path(__file__).parents[2].glob("examples/*/study.yaml"))
KINDS = get_args(Kind)
EN = catalogue()


def of_kind(assessment: Assessment, kind: str) -> Assessment:
    """The same assessment for another kind of report."""
    report = assessment.plan.report.model_copy(update={"kind": kind})
    return replace(assessment, plan=assessment.plan.model_copy(update={"report": report}))


def chapters(assessment: Assessment) -> contents.Chapters:
    drawn = {figure.id: b"<svg/>" for figure in assessment.figures}
    return contents.chapters(assessment, drawn, EN, on_screen=True, provenance=provenance(assessment))


def placed(volume: tuple[Chapter, ...]) -> Counter[tuple[str, str]]:
    """How often each table and figure of the dimensions stands in a volume."""
    parts = [part for chapter in volume for item in chapter.items for part in item.parts]
    tables = Counter(("table", t.table.id) for part in parts for t in part.tables)
    return tables + Counter(("figure", f.id) for part in parts for f in part.figures)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_table_figure_and_sentence_stands_once(
    name: str, kind: str, assessed_example: Callable[[str], Assessment]
) -> None:
    assessment = of_kind(assessed_example(name), kind)
    made = chapters(assessment)
    parts = [part for finding in assessment.findings for part in finding.parts]
    report, annex = placed(made.report), placed(made.annex)
    for t in (t for part in parts for t in part.tables):
        key = ("table", t.id)
        cut = report[key] == 1 and len(t.rows) > ROWS_IN_REPORT  # there cut, and whole in the annex
        assert (report[key], annex[key]) in ([(1, 1)] if cut else [(1, 0), (0, 1)]), t.id
    for f in (f for part in parts for f in part.figures):
        assert report[("figure", f.id)] + annex[("figure", f.id)] == 1, f.id
    told = [
        text
        for c in (*made.report, *made.annex)
        for item in c.items
        for p in item.parts
        for text in p.finding
    ]
    said = Counter(EN(text) for part in parts for text in part.finding)
    assert not {text: (n, told.count(text)) for text, n in said.items() if told.count(text) != n}


@pytest.mark.parametrize("kind", KINDS)
def test_the_two_diagrams_stand_in_the_report(
    kind: str, assessed_example: Callable[[str], Assessment]
) -> None:
    """Those that the dimensions are known by, and the errors with and without the aid, in every kind."""
    made = chapters(of_kind(assessed_example("certification-dossier"), kind))
    report = placed(made.report)
    for key in (
        ("figure", "benefit_1"),
        ("figure", "external_performance_1"),
        ("table", "pragmatic_utility_1"),
    ):
        assert report[key] == 1, key


@pytest.mark.parametrize("kind", KINDS)
def test_the_glance_names_all_dimensions(kind: str, assessed_example: Callable[[str], Assessment]) -> None:
    assessment = of_kind(assessed_example("certification-dossier"), kind)
    rows = glance.glance(assessment, chapters(assessment).standing, EN)
    assert [row.name for row in rows] == [
        "Source reliability",
        "Advice accuracy",
        "Pragmatic utility",
        "Advice value",
        "Decision benefit",
        "Potential robustness",
        "H-accuracy",
        "Utility yield",
    ]
    answered = rows[:6]
    assert all(row.measured and row.place for row in answered)
    assert (
        answered[1].says
        == "Southport, the worst of four by sensitivity. Of 97 cases with the condition, 32 were missed."
    )
    assert answered[2].measured[0].endswith("+4.6 (+0.9 to +8.2) points (prevalence 27.0%)")


@pytest.mark.parametrize("kind", KINDS)
def test_the_contents_name_the_diagrams_of_the_papers(
    kind: str, assessed_example: Callable[[str], Assessment]
) -> None:
    found = list(
        contents.landmarks(chapters(of_kind(assessed_example("certification-dossier"), kind)).report, EN)
    )
    named = {mark.name for mark in found}
    assert named == {
        "Actual accuracy (nomogram)",
        "Benefit diagram",
        "External performance diagram",
        "SPR and WPR",
        "H-accuracy (chart)",
    }
    assert len({mark.place.anchor for mark in found}) == len(found)


def test_the_two_numbers_of_a_candidate_are_its_own(assessed_example: Callable[[str], Assessment]) -> None:
    """Sensitivity is the worst in Cedar; its specificity is 84.2%, not the 81.3% of another candidate."""
    row = glance.glance(assessed_example("procurement-triage"), {}, EN)[1]
    assert row.says.startswith("Cedar, the worst of three by sensitivity.")
    assert row.measured[1].startswith("specificity 84.2%")


def test_a_dimension_without_data_says_what_it_needs(
    assessed_example: Callable[[str], Assessment],
) -> None:
    assessment = assessed_example("annotations")
    rows = glance.glance(assessment, chapters(assessment).standing, EN)
    assert rows[0].measured
    assert all(not row.measured and row.says.startswith("Needs ") and row.place is None for row in rows[1:])


@pytest.mark.parametrize("order", ["AB", "BA"])
def test_the_worst_of_several_published_sets_has_its_name(order: str) -> None:
    wrong = {"A": (30, 10), "B": (30, 70)}
    arms = ("unaided", "aided")
    sets = tuple(
        CountsSet(f"Hospital {name}", {a: ArmCounts(n, 300 - n) for a, n in zip(arms, wrong[name])})
        for name in order
    )
    row = glance.glance(assess(Study(arms=arms, counts=sets), plan()), {}, EN)[2]
    assert (
        row.says == "Hospital B, the worst of two by absolute risk reduction. "
        "More decisions are incorrect with the aid."
    )
    assert row.measured[0].startswith("absolute risk reduction −13.3")


def test_a_number_with_a_limit_that_is_short_is_not_stated() -> None:
    e = Estimate(0.02, 0.001, 0.04, 200, method="or_rrrc", note=OFTEN_ABOVE)
    arms = ("aided", "unaided")
    found = Result("pragmatic_utility.arr", Place(arms=arms), e, primary=True)
    one = assess(Study(), plan())
    row = glance.glance(replace(one, findings=(Finding("pragmatic_utility", (), (found,)),)), {}, EN)[2]
    assert row.measured == ()
    assert "is not stated here" in row.says
    assert english(OFTEN_ABOVE) in row.says


def test_the_glance_compares_one_utility_and_only_sets_that_decide(
    assessed_example: Callable[[str], Assessment],
) -> None:
    rows = {name: glance.glance(assessed_example(name), {}, EN) for name in ("factory", "published-studies")}
    assert (
        rows["factory"][7].says
        == "B, the worst of two by mean utility per case. Mean utility of a decision (first prices (euros))."
    )
    assert "all negative" not in rows["published-studies"][1].says
