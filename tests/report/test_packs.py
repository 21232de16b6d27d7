"""Rule packs: what they hold, and that the report never ticks an item that it does not speak to."""

import json
import re
import tomllib
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import jsonschema
import pytest
from click.testing import CliRunner
from hatchling.builders.wheel import WheelBuilder
from made_up import about, assessment, manifest, part
from markupsafe import Markup
from pydantic import BaseModel

from trustreport.commands import schemas
from trustreport.commands.cli import main
from trustreport.report import html
from trustreport.report.contents import ELEMENTS
from trustreport.report.elements.frameworks import (
    ANSWERED_BY,
    DECLARATIONS,
    NOT_BUILT,
    SUMMARY,
    declared_share,
)
from trustreport.report.layout.figures import Pages
from trustreport.report.outlines import ANNEX, REPORT
from trustreport.study.plan import Plan
from trustreport.vocabulary import packs
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.resources import folder

ROOT = Path(__file__).resolve().parents[2]
say = catalogue()
PACK = """
framework = "Example"
edition = "1"
legal_status = "none"
legal_status_on = 2026-01-01
source = "A text"
compared_with = "the text"
[[items]]
id = "1"
description = "Device"
elements = ["E01"]
status = "D"
fields = ["device.trade_name"]
verified_by = ""
"""


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Makes PACK, with changes, the only pack that there is."""

    def made(**changed: str) -> str:
        text = PACK
        for key, value in changed.items():
            text = re.sub(rf"^{key} = .*\n", f"{key} = {value}\n" if value else "", text, flags=re.M)
        (tmp_path / "house.toml").write_text(text, encoding="utf-8")
        monkeypatch.setattr(packs, "home", lambda: tmp_path)
        forget()
        return rendered("house")

    yield made
    monkeypatch.undo()
    forget()


def forget() -> None:
    packs.load.cache_clear()
    packs._known.cache_clear()


def rendered(*names: str, **groups: object) -> str:
    given = {**manifest(), **groups}
    given["report"] = {**given["report"], "rule_packs": list(names)}
    one = assessment((part("one", titled=False),), Plan.model_validate(given), ("one",))
    page = html.render(one, **about(one))
    return page[page.index('<section class="element" id="E46">') :].partition(
        '<section class="element" id="E47">'
    )[0]


def plain(text: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())


def row(page: str, item: str) -> str:
    return re.search(rf'<tr><th scope="row">{re.escape(item)}</th>.*?</tr>', page, re.S)[0]


# ---------------------------------------------------------------- the files


def test_there_are_packs_and_each_lies_in_the_wheel():
    held = {f.distribution_path for f in WheelBuilder(str(ROOT)).recurse_included_files()}
    assert {"eu-ai-act-2024", "tripod-ai-2024"} <= set(packs.ids())
    for name in packs.ids():
        assert f"trustreport/_data/schemas/packs/{name}.toml" in held


@pytest.mark.parametrize("name", packs.ids())
def test_a_pack_is_what_its_schema_says(name):
    pack = packs.load(name)
    raw = tomllib.loads((folder("schemas") / "packs" / f"{name}.toml").read_text(encoding="utf-8"))
    # Dates are texts in JSON.
    jsonschema.validate(json.loads(json.dumps(raw, default=str)), schemas.schema("pack"))
    ids = [item.id for item in pack.items]
    assert len(ids) == len(set(ids))
    assert (packs.home() / f"{name}.toml").read_text(encoding="utf-8").startswith("# ")
    unverified = [item for item in pack.items if not item.verified]
    if unverified:
        head = (packs.home() / f"{name}.toml").read_text(encoding="utf-8").partition(packs.ITEMS)[0]
        assert "NOT VERIFIED" in head
        assert "not with" in pack.compared_with


@pytest.mark.parametrize("name", packs.ids())
def test_every_element_can_stand_somewhere(name):
    outlines = (*REPORT.values(), *ANNEX.values())
    outlined = {word for outline in outlines for words in outline.values() for word in words}
    known = {*ELEMENTS, *outlined, *ANSWERED_BY, *NOT_BUILT, *packs.SUPPLIED, SUMMARY}
    for item in packs.load(name).items:
        assert set(item.elements) <= known, item.id
        if item.status == "C":
            assert set(item.elements) - set(DECLARATIONS) | (set(item.elements) & set(ANSWERED_BY)), item.id
        for path in item.fields:
            group, _, field = path.partition(".")
            assert group in Plan.model_fields, path
            assert not field or field in fields_of(Plan.model_fields[group].annotation), path


def fields_of(annotation: object) -> set[str]:
    """Names of the fields of the model that an annotation speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return set(annotation.model_fields)
    return {name for one in get_args(annotation) for name in fields_of(one)}


def test_no_two_packs_answer_to_one_name():
    words = [w.casefold() for name in packs.ids() for w in {name, *packs.load(name).aliases}]
    assert len(words) == len(set(words))
    assert packs.NONE not in words


def test_no_number_of_a_checklist_is_left_out():
    """TRIPOD+AI numbers its items 1 to 27, some with letters."""
    found = {re.sub(r"(?<=[0-9])[a-g]$", "", item.id) for item in packs.load("tripod-ai-2024").items}
    assert found == {str(n) for n in range(1, 28)}


def test_every_number_is_verified_and_stard_ai_says_against_which_text():
    """The author correction of STARD-AI could not be read itself, so the pack names the text before it."""
    assert [name for name in packs.ids() if packs.load(name).verified < len(packs.load(name).items)] == []
    before = "the checklist as published in 2025, before the author correction of 13 July 2026"
    assert packs.load("stard-ai-2025").compared_with.startswith(before)
    assert f"compared with {before}" in CliRunner().invoke(main, ["packs", "stard-ai-2025"]).stdout


def test_what_is_only_proposed_or_a_draft_says_so():
    for name in ("eu-ai-act-2024", "mdr-annex-i", "mdr-annex-iii", "mdr-annex-xiv"):
        assert re.search(r"COM\(2025\) 1023 .* a proposal, not in force", packs.load(name).legal_status), name
    draft = packs.load("fda-ai-dsf-draft-2025")
    assert "DRAFT" in draft.framework
    assert draft.legal_status.startswith("Draft")
    assert "no rating" in packs.load("probast-ai-2025").edition


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('status = "D"', 'status = "X"', "status"),
        ('"E01"', '"E99"', "elements"),
        ('"E01"', '"E50"', "status O belongs"),
        ('fields = ["device.trade_name"]', "", "names the fields"),
        ('verified_by = ""', 'verified_by = "A. Person"', "given together"),
        ('edition = "1"', 'edition = "1"\nremark = "x"', "remark"),
        ("framework", "[framework", "pack.toml"),
    ],
)
def test_a_faulty_pack_is_refused_by_name(tmp_path, old, new, said):
    file = tmp_path / "pack.toml"
    file.write_text(PACK)
    assert packs.read(file).verified == 0
    file.write_text(PACK.replace(old, new, 1))
    with pytest.raises(packs.PackError, match=r"pack\.toml") as refused:
        packs.read(file)
    assert said in str(refused.value)


def test_items_that_occur_twice_are_named(tmp_path):
    file = tmp_path / "pack.toml"
    file.write_text(PACK + PACK.partition("[[items]]")[2].join(["[[items]]", ""]))
    with pytest.raises(packs.PackError, match="twice: 1"):
        packs.read(file)


# ---------------------------------------------------------------- the report


def test_an_item_without_data_is_open_and_one_with_data_leads_there():
    page = rendered("eu-ai-act-2024")
    bare = row(page, "13(3)(b)(v)")
    assert say("element.E46.is.open") in plain(bare)
    assert say("element.E46.no_data") in plain(bare)
    assert "<a " not in bare
    told = row(page, "13(3)(b)(i)")
    assert say("element.E46.is.D") in plain(told)
    assert 'href="#E02"' in told


def test_a_field_that_is_not_declared_is_no_declaration():
    page = rendered("tripod-ai-2024")
    funding = row(page, "18a")  # the study group is declared, its funding is not
    assert say("element.E46.is.open") in plain(funding)
    assert "not declared: Funding" in plain(funding)
    study = {**manifest()["study"], "funding": "a foundation"}
    assert say("element.E46.is.D") in plain(row(rendered("tripod-ai-2024", study=study), "18a"))


def test_a_declaration_of_some_is_one_in_part():
    both = [
        {"dataset": "a", "role": "external", "source": "clinic", "sampling": "random"},
        {"dataset": "b", "role": "external", "source": "clinic"},
    ]
    page = rendered("tripod-ai-2024", datasets=both)
    assert say("element.E46.is.D_part") in plain(row(page, "5a"))
    plan = Plan.model_validate({**manifest(), "datasets": both})
    assert declared_share(plan, "datasets.sampling") == 0.5
    assert declared_share(plan, "datasets.sampling", ("training",)) == 0
    assert declared_share(plan, "incidents") == 0


def test_an_item_about_sets_that_are_not_there_is_open(house):
    page = house(elements='["E03"]', fields='["datasets.dataset"]\nroles = ["training"]')  # one external set
    assert "no set of cases has the role training" in plain(row(page, "1"))
    page = house(elements='["E03"]', fields='["datasets.dataset", "datasets.country"]\nroles = ["external"]')
    assert say("element.E46.is.D_part") in plain(row(page, "1"))


def test_a_declaration_leads_to_where_it_is_printed():
    page = rendered("tripod-ai-2024", amendments=[{"date": "2026-01-01", "field": "threshold"}])
    assert 'href="#E44"' in row(page, "12f")
    page = rendered("eu-ai-act-2024", incidents=[{"incident": "INC-5"}])
    assert 'href="#rest"' in row(page, "73(1)")


def test_what_is_not_built_says_so(house):
    page = house(elements='["E22"]', status='"C"', fields="")
    assert say("element.E46.not_built") in plain(row(page, "1"))


def test_every_link_leads_to_something_in_the_page():
    given = {**manifest(), "report": {**manifest()["report"], "rule_packs": list(packs.ids())}}
    one = assessment((part("one", titled=False),), Plan.model_validate(given), ("one",))
    page = html.render(one, **about(one))
    anchors = set(re.findall(r'id="([^"]+)"', page))
    here = page[page.index('id="E46"') :].partition('id="E47"')[0]
    linked = set(re.findall(r'href="#([^"]+)"', here))
    assert len(linked) > 5
    assert linked <= anchors


def test_packs_add_no_page_to_the_report():
    """They are printed in the annex: the report is the same whatever number of them is named."""

    def laid_out(*names: str) -> str:
        given = {**manifest(), "report": {**manifest()["report"], "rule_packs": list(names)}}
        one = assessment((part("one", titled=False),), Plan.model_validate(given), ("one",))
        made = about(one)
        drawn = Pages(made["drawn"])
        documents = html.Documents(one, made["results_hash"], made["provenance"], drawn, "page")
        return documents.text("report", Markup(""))

    assert laid_out(*packs.ids()) == laid_out("none")


def test_the_counts_add_up_to_the_items():
    page = plain(rendered("eu-ai-act-2024"))
    counts = re.search(r"(\d+) items: (.*?)\.", page)
    assert int(counts[1]) == len(packs.load("eu-ai-act-2024").items)
    assert sum(map(int, re.findall(r"\d+", counts[2]))) == int(counts[1])


def test_numbers_that_nobody_verified_are_marked(house):
    assert say("element.E46.number_not_verified") not in rendered("tripod-ai-2024")
    marked = house()
    assert marked.count(f"<td>{say('element.E46.number_not_verified')}</td>") == 1
    assert "Numbers not verified." in plain(marked)


def test_unknown_names_are_told_with_where_those_there_are_stand():
    page = plain(rendered("House list 7", "EU AI Act Annex IV"))
    assert "House list 7: no pack of this name in this version; the command trustreport packs" in page
    assert "consolidated text of 27 July 2026" in page


@pytest.mark.parametrize("names, key", [(("none",), "named_none"), ((), "none")])
def test_none_is_an_answer(names, key):
    assert say(f"element.E46.{key}") in plain(rendered(*names))


def test_a_pack_named_twice_is_told_once():
    found = list(packs.find(["TRIPOD+AI", "tripod-ai-2024", " tripod+ai ", "none"]))
    assert [one.id for one in found] == ["tripod-ai-2024"]


def test_a_name_of_a_manifest_is_data():
    assert "&lt;b&gt;" in rendered("<b>x</b>")


# ---------------------------------------------------------------- the command


def test_the_command_lists_packs_and_items():
    listed = CliRunner().invoke(main, ["packs"]).stdout
    assert all(name in listed for name in packs.ids())
    items = CliRunner().invoke(main, ["packs", "EU AI Act"]).stdout
    assert "13(3)(b)(ii)" in items
    assert "verified 2026-" in items
    unknown = CliRunner().invoke(main, ["packs", "nothing"])
    assert unknown.exit_code == 2
    assert "choose from chai-card-0.2, " in unknown.stderr


NUMBERS = ROOT / "tests" / "reference" / "packs"
SOURCES = ROOT.parent / "shared" / "packs"
# How many numbers each text has.
COUNTS = {
    "chai-card-0.2": 56,
    "claim-2024": 44,
    "consort-ai-2020": 14,
    "decide-ai-2022": 38,  # 28 lines on AI and 10 general items
    "hti-1-2024": 31,
    "mdr-annex-iii": 18,
    "mdr-annex-xiv": 32,
    "probast-ai-2025": 34,  # 16 questions on development and 18 on evaluation
    "stard-ai-2025": 48,
}


def numbers(name: str) -> list[str]:
    """The numbers of a text, as they were carried over."""
    return (NUMBERS / f"{name}.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", packs.ids())
def test_a_pack_has_every_number_of_its_list_in_order(name: str) -> None:
    assert [item.id for item in packs.load(name).items] == numbers(name)
    assert len(numbers(name)) == COUNTS.get(name, len(numbers(name)))


def test_each_list_of_numbers_belongs_to_a_pack() -> None:
    assert {file.stem for file in NUMBERS.iterdir()} == set(packs.ids())


def test_the_numbers_of_the_card_are_the_elements_of_its_schema() -> None:
    schema = folder("schemas") / "chai" / "applied-model-card-0.2.xsd"
    assert list(leaves(schema.read_text(encoding="utf-8"))) == numbers("chai-card-0.2")


@pytest.mark.skipif(not SOURCES.is_dir(), reason="the sources of the lists are not here")
@pytest.mark.parametrize(
    "name, file, pattern",
    [
        ("hti-1-2024", "hti-1-source-attributes.md", r"^\| (\(B\)\S+) \|"),
        ("stard-ai-2025", "stard-ai-2025.md", r"^\| (\d+[a-d]?) \|"),
        ("claim-2024", "claim-2024.md", r"^\| (\d+) \|"),
        ("consort-ai-2020", "consort-ai-2020.md", r"^### Item (.+?) — "),
        ("probast-ai-2025", "probast-ai-2025.md", r"^\| ((?:development|evaluation) \| \S+) \|"),
    ],
)
def test_a_list_is_that_of_its_source(name: str, file: str, pattern: str) -> None:
    found = re.findall(pattern, (SOURCES / file).read_text(encoding="utf-8"), re.MULTILINE)
    assert [one.replace(" | ", " ").capitalize() if "|" in one else one for one in found] == numbers(name)


@pytest.mark.skipif(not SOURCES.is_dir(), reason="the sources of the lists are not here")
def test_the_lists_of_other_forms_are_those_of_their_sources() -> None:
    text = (SOURCES / "decide-ai-2022.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+|[IVX]+) \|[^|]*\|[^|]*\| (\S+) \|", text, re.MULTILINE)
    lines = [item + letter for item, span in rows for letter in spanned(span)]
    assert lines == numbers("decide-ai-2022")

    annex_i = (SOURCES / "mdr-annex-i-gspr.md").read_text(encoding="utf-8")
    sections = set(re.findall(r"^\| ([\d.]+) \|", annex_i, re.MULTILINE))
    assert {number.partition("(")[0] for number in numbers("mdr-annex-i")} <= sections

    annex_iii = (SOURCES / "mdr-annex-iii.md").read_text(encoding="utf-8")
    first, second = annex_iii.split("(b) The post-market")
    indents = [len(re.findall(r"^ — ", part, re.MULTILINE)) for part in (first, second)]
    assert indents == [sum(f"1.1({part})" in number for number in numbers("mdr-annex-iii")) for part in "ab"]

    annex_xiv = (SOURCES / "mdr-annex-xiv.md").read_text(encoding="utf-8")
    plan = annex_xiv.partition("(a) establish")[2].partition("(b) identify")[0]
    assert plan.count("\n — ") == sum("A 1(a)" in number for number in numbers("mdr-annex-xiv"))
    for point in ("6.1", "6.2"):
        stated = annex_xiv.partition(f"\n {point}.")[2].partition("\n 6.2." if point == "6.1" else "\n 7.")[0]
        letters = re.findall(r"^ \(([a-h])\) ", stated, re.MULTILINE)
        assert [f"B {point}({letter})" for letter in letters] == [
            number for number in numbers("mdr-annex-xiv") if number.startswith(f"B {point}(")
        ]

    draft = (SOURCES / "fda-ai-dsf-draft-2025.md").read_text(encoding="utf-8")
    stated = set(re.findall(r"^\| ([VXI]+(?:\.[A-Z])?) \|", draft, re.MULTILINE))
    assert stated <= {number.partition(" ")[0] for number in numbers("fda-ai-dsf-draft-2025")}
    assert schema_of(SOURCES / "chai-applied-model-card-v0.2.md") == (
        folder("schemas") / "chai" / "applied-model-card-0.2.xsd"
    ).read_text(encoding="utf-8")


def spanned(span: str) -> list[str]:
    """The letters of "a-c"; no letter where there is none."""
    return [""] if span == "-" else [chr(code) for code in range(ord(span[0]), ord(span[-1]) + 1)]


def schema_of(file: Path) -> str:
    """The schema that a list quotes."""
    return file.read_text(encoding="utf-8").partition("```xml\n")[2].partition("```")[0].rstrip() + "\n"


def leaves(schema: str) -> Iterator[str]:
    """The elements that hold text, and the results of a metric, by their path below the root."""
    space = "{http://www.w3.org/2001/XMLSchema}"
    root = ElementTree.fromstring(schema.encode())  # noqa: S314 -- a packaged file
    types = {one.get("name"): one for one in root.findall(f"{space}complexType")}

    def below(within: ElementTree.Element, path: tuple[str, ...]) -> Iterator[str]:
        for one in within.iter(f"{space}element"):
            kind, here = one.get("type"), (*path, str(one.get("name")))
            if kind in ("xs:string", "mc:MetricResultsType"):
                yield "/".join(here)
            elif kind:
                yield from below(types[kind.removeprefix("mc:")], here)

    card = root.find(f"{space}element")
    assert card is not None
    yield from below(card, ())
