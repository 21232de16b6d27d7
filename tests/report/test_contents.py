"""The outlines: every kind of report has a place for everything, once, and says what it lacks."""

import re
from collections import Counter
from dataclasses import replace
from html import unescape
from typing import get_args

import pytest
from made_up import about, assessment, manifest, part
from made_up import words as message

from trustreport.assessment.claims import inside, latest
from trustreport.assessment.dimensions import DIMENSIONS
from trustreport.assessment.finding import CheckOutcome
from trustreport.measures.estimate import Estimate
from trustreport.report import declared, html
from trustreport.report.contents import ELEMENTS
from trustreport.report.elements.element import GROUPS_OF
from trustreport.report.outlines import ANNEX, REPORT
from trustreport.study.plan import Claim, Kind, Plan
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

say = catalogue()
KINDS = get_args(Kind)
OWN_GROUPS = {"report", "tables", "approvals"}  # title page; how files are read


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page.split("</style>")[1])).split())


def rendered(kind: str, parts: tuple = (), **groups: object) -> str:
    given = {**manifest(), **groups}
    given["report"] = {**given["report"], "kind": kind}
    one = assessment(parts or (part("one", titled=False),), Plan.model_validate(given), ("one",))
    return html.render(one, **about(one))


@pytest.mark.parametrize("kind", KINDS)
def test_everything_has_one_place(kind):
    names = {d.name for d in DIMENSIONS}
    placed = set()
    for outline in (REPORT[kind], ANNEX[kind]):
        words = Counter(word for chapter in outline.values() for word in chapter)
        assert set(words.values()) == {1}
        placed |= set(words)
    assert names <= {word for chapter in ANNEX[kind].values() for word in chapter}
    elsewhere = {word for other in KINDS for chapter in REPORT[other].values() for word in chapter}
    assert set(ELEMENTS) <= placed | elsewhere
    for word in placed - names:
        assert say(f"element.{word}.title")


@pytest.mark.parametrize("kind", KINDS)
def test_every_chapter_asks_and_says_its_limitations(kind):
    made = rendered(kind)
    page, shown = text_of(made), [name for name in REPORT[kind] if f'id="chapter-{name}"' in made]
    assert shown
    for name in shown:
        # A chapter of which only what is not declared is left asks about that.
        alone = re.search(rf'id="chapter-{name}"(?:(?!id="chapter-).)*', made, re.DOTALL)[0]
        own = "alone.left_out" if "Open points" in alone else f"{kind}.{name}"
        for key in ("title", "question", "limitations"):
            assert say(f"outline.{own}.{key}") in page
    asked = [say(f"outline.{kind}.{name}.question") for name in REPORT[kind]]
    assert all(question.endswith("?") for question in asked)


def test_a_group_of_the_manifest_is_printed_by_one_element():
    printed = [group for groups in GROUPS_OF.values() for group in groups]
    assert len(printed) == len(set(printed))
    assert set(printed) <= set(Plan.model_fields) - OWN_GROUPS


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_declared_is_printed_once(kind):
    stated = {
        "documents": [{"id": "DOC-77", "kind": "risk management file"}],
        "reference_standard": {"definition": "Histology of every case"},
        "vigilance": {"plan_id": "PLAN-31"},
        "site_context": {"department": "Radiology of the example"},
        "incidents": [{"incident": "INC-5", "seriousness": "minor"}],
    }
    page = text_of(rendered(kind, **stated))
    for words in ("Histology of every case", "PLAN-31", "Radiology of the example", "INC-5"):
        assert page.count(words) >= 1, words
    assert "DOC-77" in page


@pytest.mark.parametrize(
    "kind, path", [("certification", "study"), ("procurement", "site_context"), ("vigilance", "vigilance")]
)
def test_a_mandatory_group_left_out_is_said(kind, path):
    page = rendered(kind)
    group = re.search(rf"<h4[^>]*>{re.escape(declared.label(path, say))}</h4>.*?</section>", page, re.S)
    assert "NOT DECLARED" in group[0]


def test_a_part_stands_with_the_element_that_it_names():
    tagged = replace(part("elsewhere"), element="E35")
    parts = (part("here", titled=False), tagged, replace(part("beside it"), element="E35"))
    heading = "<bdi>elsewhere</bdi></h4>"
    procurement = rendered("procurement", parts)
    assert procurement.count(heading) == 2  # sentences in the report, tables in the annex
    assert (
        procurement.index('id="annex-pragmatic_utility"')
        < procurement.index('id="annex-E35"')
        < procurement.rindex(heading)
    )
    certification = rendered("certification", parts)
    assert 'E35"' not in certification
    assert certification.index('id="annex-pragmatic_utility"') < certification.rindex(heading)


def test_a_claim_that_the_data_cannot_speak_of_is_named():
    page = text_of(
        rendered(
            "procurement",
            performance_claims=[{"measure": "auc", "value": "0.97", "source_document": "IFU-3"}],
        )
    )
    assert "0.97" in page
    assert "cannot be recomputed" in page
    assert "IFU-3" in page


def test_documents_are_found_by_what_they_are():
    page = rendered(
        "procurement",
        documents=[{"id": "DPIA-1", "kind": "DPIA"}, {"id": "S-2", "title": "Cybersecurity file"}],
    )
    for item, document in (("data_protection", "DPIA-1"), ("security", "S-2")):
        row = re.search(rf"{say(f'element.E50.{item}')}.*?</tr>", page, re.S)[0]
        assert document in row
    assert "NOT DECLARED" in re.search(rf"<th[^>]*>{say('element.E50.contract')}<.*?</tr>", page, re.S)[0]


@pytest.mark.parametrize("dimension", ["reliance", "prespecification", "nowhere"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_a_check_found_is_said_where_no_section_says_it(kind, dimension):
    """Seven places of one check: a section has room for five, the register has the rest."""
    one = assessment((part("one", titled=False),), Plan.model_validate(manifest()), ("one",))
    report = one.plan.report.model_copy(update={"kind": kind})
    said = [message(f"Something was found here, number {i}.") for i in range(7)]
    fired = tuple(
        CheckOutcome("P14", dimension, "W", "fired", text, Place(dataset=f"set {i}"))
        for i, text in enumerate(said)
    )
    one = replace(one, plan=one.plan.model_copy(update={"report": report}), checks=(*one.checks, *fired))
    page = text_of(html.render(one, **about(one)))
    assert [say(text_) for text_ in said if say(text_).removesuffix(".") not in page] == []


def test_what_goes_back_has_an_owner_or_says_that_none_is_declared():
    stated = {
        "signals": [
            {"signal": "S-7", "action": "Look again", "owner": "Officer A", "due": "2026-10-12"},
            {"signal": "S-6", "closed": "2026-06-30", "action": "Nothing more"},
        ],
        "incidents": [
            {"incident": "I-9", "status": "open", "due": "2026-09-15"},
            {"incident": "I-8", "status": "closed", "due": "2026-09-16"},
        ],
        "vigilance": {"period_index": 8, "planned_looks": 12},
    }
    page = text_of(rendered("vigilance", **stated))
    assert "S-7 signal still open – Look again Officer A 2026-10-12" in page
    assert "I-9 incident, status: open – – owner not declared 2026-09-15" in page
    assert "S-6 signal" not in page
    assert "I-8 incident" not in page
    assert "Looks at the data 8 of 12 planned are done" in page
    assert "2026-09-15 (I-9), 2026-10-12 (S-7)" in page
    assert say("element.feedback.title") in text_of(rendered("certification"))
    assert say("element.feedback.title") not in text_of(rendered("procurement"))


def test_what_was_not_handed_in_has_a_placeholder():
    assert say("element.E22.finding") in text_of(rendered("certification"))
    assert say("element.E22.finding") not in text_of(rendered("vigilance"))
    one = assessment((part("one", titled=False),), Plan.model_validate(manifest()), ("one",))
    report = one.plan.report.model_copy(update={"kind": "procurement"})
    one = replace(one, plan=one.plan.model_copy(update={"report": report}))
    missing = say("element.local_readers.finding")
    assert missing not in text_of(html.render(one, **about(one)))
    without = replace(one, findings=())
    assert missing in text_of(html.render(without, **about(without)))


def test_a_claim_about_the_baseline_is_held_against_the_latest_period_too():
    def sensitivity(dataset: str, value: float, low: float, high: float) -> Result:
        e = Estimate(value, low, high, 33, method="wilson")
        return Result("advice_accuracy.sensitivity", Place(dataset=dataset), e, primary=True)

    results = (sensitivity("baseline", 0.914, 0.86, 0.95), sensitivity("2026-08", 2 / 3, 0.5, 0.8))
    claim = Claim(measure="advice_accuracy.sensitivity", value="0.91", dataset="baseline")
    found = latest(claim, ["2026-07", "2026-08"], results)
    assert found == ("2026-08", results[1])
    assert inside(claim, results[1]) is False
    assert inside(claim.model_copy(update={"value": "75%"}), results[1]) is True
    assert latest(claim.model_copy(update={"dataset": "2026-08"}), ["2026-08"], results) is None
    assert latest(claim, [], results) is None


def test_the_only_part_of_an_element_has_no_heading_of_its_own():
    only = replace(part("Our patients"), element="E35")
    two = (only, replace(part("Their patients"), element="E35"))
    headings = re.findall(r"<h4[^>]*><bdi>([^<]+)</bdi></h4>", html_of("procurement", (only,)))
    assert headings == []
    named = re.findall(r"<h4[^>]*><bdi>([^<]+)</bdi></h4>", html_of("procurement", two))
    assert named == ["Our patients", "Their patients"] * 2  # in the report and in the annex


def html_of(kind: str, parts: tuple) -> str:
    given = {**manifest()}
    given["report"] = {**given["report"], "kind": kind}
    one = assessment(parts, Plan.model_validate(given), ("one",))
    return html.render(one, **about(one))
