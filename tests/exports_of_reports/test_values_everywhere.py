"""Values, preferences and labels with error in every kind of report, language and export."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import get_args

import openpyxl
import pytest

from trustreport import assess, read_study, write_report
from trustreport.api import Assessment, export_report
from trustreport.report.compare import compare, load
from trustreport.report.exports.chosen import PERFORMANCE, chosen
from trustreport.report.notebook import Assessed
from trustreport.study.plan import Kind, Language
from trustreport.study.proposal import manifest
from trustreport.study.proposal.files import propose
from trustreport.vocabulary.messages import catalogue

ENDPOINTS = Path(__file__).resolve().parents[1] / "reference" / "endpoints"
STUDIES = ("ejection-fraction", "contours", "image-quality", "preferences")
KINDS, LANGUAGES = get_args(Kind), get_args(Language)
# What is known of every number, and what at least one number has.
ALWAYS = ("id", "value", "low", "high", "level", "n", "unit", "method", "primary")
SOMETIMES = {"preferences": ("candidates",), "ejection-fraction": ("arms", "endpoint")}
EXPORTS = {"csv": ".csv", "chai": ".xml", "cyclonedx": ".json", "fhir": ".json"}
FORMS = ("psur", "pmcf", "annex-iv")
Assessing = Callable[[str], Assessment]


@pytest.fixture(scope="module")
def assessed(tmp_path_factory: pytest.TempPathFactory) -> Assessing:
    """The assessment of a table as `init --from` proposes it, once."""
    made: dict[str, Assessment] = {}

    def of(name: str) -> Assessment:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            files = [Path(shutil.copy(f, folder)) for f in sorted((ENDPOINTS / name).glob("*.csv"))]
            text = manifest.text(propose(files, "certification"), name)
            (folder / "study.yaml").write_text(text, encoding="utf-8")
            made[name] = assess(*read_study(folder))
        return made[name]

    return of


def of_kind(one: Assessment, kind: str) -> Assessment:
    """The same data in a report of another kind."""
    report = one.plan.report.model_copy(update={"kind": kind})
    return assess(one.study, one.plan.model_copy(update={"report": report}))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", STUDIES)
def test_every_kind_in_every_language(name: str, kind: Kind, assessed: Assessing, tmp_path: Path) -> None:
    one = of_kind(assessed(name), kind)
    numbers = set()
    for language in LANGUAGES:
        out = tmp_path / language
        assert not write_report(one.in_language(language), out, formats=["html", "json"]).failed
        found = json.loads((out / "results.json").read_text())
        page = (out / "report.html").read_text()
        assert ">nan<" not in page
        assert ">None<" not in page
        numbers.add(json.dumps([(r["id"], r["value"], r["low"]) for r in found["results"]]))
        # Every kind of report states the values on page 1 and what they show at most.
        stated = f"{found['answer']['sentence']} {found['answer']['support']}"
        claim = {"image-quality": "rating", "preferences": "preference"}.get(name, "agreement")
        unshown = catalogue(language)(f"measurement.not_shown.{claim}").rstrip(".")
        assert unshown in unescape(page)
        assert any(part["results"] for part in found["answer"]["parts"]), stated
    assert len(numbers) == 1


@pytest.mark.parametrize("name", STUDIES)
def test_the_table_of_numbers_has_no_column_that_is_empty_by_mistake(
    name: str, assessed: Assessing, tmp_path: Path
) -> None:
    made = write_report(assessed(name), tmp_path, formats=["xlsx", "csv", "figures", "questions"])
    assert not made.failed
    sheet = openpyxl.load_workbook(tmp_path / "results.xlsx").worksheets[0]
    header, *rows = sheet.iter_rows(values_only=True)
    columns = {str(h): [row[i] for row in rows] for i, h in enumerate(header)}
    # A p-value has no limits, and few cases bound no error of 95% of them from above.
    unbounded = (".linearity", ".total_deviation_index")
    bounded = [not str(id).endswith(unbounded) for id in columns["id"]]
    for column in ALWAYS:
        assert None not in [v for v, keep in zip(columns[column], bounded) if keep], column
    for column in SOMETIMES.get(name, ()):
        assert any(columns[column]), column


@pytest.mark.parametrize("name", STUDIES)
def test_cards_and_forms_have_the_numbers(name: str, assessed: Assessing, tmp_path: Path) -> None:
    one = assessed(name)
    say = catalogue("en")
    cards = list(chosen(one, PERFORMANCE, say))
    assert cards
    for form, suffix in EXPORTS.items():
        export_report(one, form, tmp_path / f"{form}{suffix}")
    assert cards[0].name in (tmp_path / "chai.xml").read_text()
    for form in FORMS:
        export_report(one, form, tmp_path / f"{form}.html")
        export_report(one, form, tmp_path / f"{form}.docx")
    assert cards[0].name in unescape((tmp_path / "annex-iv.html").read_text())


def test_a_distance_keeps_its_unit_on_a_card(assessed: Assessing) -> None:
    units = {c.name: c.unit for c in chosen(assessed("contours"), PERFORMANCE, catalogue("en"))}
    assert {unit for name, unit in units.items() if "HD95" in name} == {"mm"}


@pytest.mark.parametrize("name", ["labels-known", "labels-unknown"])
def test_a_card_calls_no_agreement_with_uncertain_labels_accuracy(name: str, assessed: Assessing) -> None:
    one = assessed(name)
    say = catalogue("en")
    cards = list(chosen(one, PERFORMANCE, say))
    words = say("export.against_labels")
    uncorrected = [c for c in cards if "corrected" not in c.name]
    assert uncorrected
    assert all(words in c.label for c in uncorrected)
    corrected = [c for c in cards if "corrected" in c.name]
    assert bool(corrected) == (name == "labels-known")
    assert not any(words in c.label for c in corrected)


@pytest.mark.parametrize("name", STUDIES)
def test_a_notebook_shows_them(name: str, assessed: Assessing) -> None:
    one = Assessed.of_assessment(assessed(name))
    assert len(one.to_frame(primary=True)) == len(one.results)
    assert not one.to_frame().isna().all(axis=0).any()
    assert one._repr_html_()
    for figure in one.figures:
        assert one.figure(figure.id)


@pytest.mark.parametrize("name", STUDIES)
def test_a_public_report_names_no_reader(name: str, assessed: Assessing, tmp_path: Path) -> None:
    private = assessed(name)
    report = private.plan.report.model_copy(update={"release": "public"})
    one = assess(private.study, private.plan.model_copy(update={"report": report}))
    assert not write_report(one, tmp_path, formats=["html", "json"]).failed
    text = (tmp_path / "report.html").read_text() + (tmp_path / "results.json").read_text()
    readers = {label for v in private.study.values if v.readers for label in v.readers.labels}
    readers |= {label for p in private.study.preferences for label in p.readers.labels}
    assert not [label for label in readers if f">{label}<" in text or f'"{label}"' in text]


def test_two_reports_are_compared(assessed: Assessing, tmp_path: Path) -> None:
    one = assessed("contours")
    changed = replace(one.study.values[0], value=one.study.values[0].value + 0.01)
    other = assess(replace(one.study, values=(changed, *one.study.values[1:])), one.plan)
    for name, made in (("one", one), ("other", other)):
        assert not write_report(made, tmp_path / name, formats=["json"]).failed
    old, new = (load(tmp_path / name) for name in ("one", "other"))
    assert compare(old, old).alike
    assert not compare(old, new).alike
