"""The numbers of the packs: those of lists that were taken from the texts, and of the sources of these."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from trustreport.vocabulary import packs
from trustreport.vocabulary.resources import folder

ROOT = Path(__file__).resolve().parents[2]
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
