"""The page of the papers: every result, table, figure, key, command and number that it names is there."""

import importlib.util
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest

from tests.dimensions.test_published_tables import READERS, covid
from tests.report.test_placement import chapters, of_kind, placed
from tests.studies import plan
from trustreport.api import assess, read_study
from trustreport.assessment.assess import Assessment
from trustreport.assessment.checks import CHECKS
from trustreport.assessment.dimensions import DIMENSIONS
from trustreport.commands.cli import main
from trustreport.report.answer.glance import SHOWN
from trustreport.study.plan import Kind
from trustreport.study.study import Study
from trustreport.vocabulary.quantities import is_named
from trustreport.vocabulary.results import Result

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "papers.md").read_text("utf-8")
KINDS = get_args(Kind)
# Together, and with what is added below, these have every table and figure that the page names.
EXAMPLES = (
    *("certification-dossier", "h-accuracy", "factory", "published-studies"),
    *("annotations", "knee-mri-readings"),
)
CONTRACT = ROOT / "tests" / "reference" / "contract"
WITHOUT_LICENCE = "mrnet-raters"  # no source archive contains it

CODE = re.compile(r"`([^`]+)`")
PLACE = re.compile(r"(report|annex)(?P<audit>\*)?: (?P<ids>.+)")
ELSEWHERE = ("page 1", "page 2", "results.json", "command", "not built")
ITEM = re.compile(
    r"- \*\*(?P<item>.+?)\*\*(?P<here>(?:,? `[^`]+`)*)(?: \((?P<where>[^)]+)\))?\.(?P<said>(?: .+)?)"
)
# A study with a scope, and its numbers; a name without a dimension is one of the item's results.
STUDY = re.compile(
    r"`(?P<study>(?:contract/)?[a-z-]+)(?: (?P<scope>[^`]+))?`: (?P<numbers>(?:[a-z][^` ]* )?-?\d[^`]*)"
)
NUMBER = re.compile(
    r"(?:(?P<name>[a-z][\w.]+) )?(?P<value>-?\d+(?:\.\d+)?)(?: \((?P<low>-?[\d.]+) to (?P<high>-?[\d.]+)\))?"
)


@dataclass(frozen=True)
class Row:
    """An item of a paper: what it is here, where that is, and what is said of it."""

    item: str
    here: str
    where: str
    said: str

    @property
    def names(self) -> list[str]:
        return CODE.findall(self.here)

    @property
    def results(self) -> list[str]:
        return [name for name in self.names if is_result(name)]


def is_result(name: str) -> bool:
    dimension, dot, _ = name.partition(".")
    return bool(dot) and dimension in {d.name for d in DIMENSIONS} and not name.endswith(":")


@dataclass(frozen=True)
class Printed:
    """A number of a paper, with the result that gives it."""

    study: str
    scope: str
    id: str
    value: str
    low: str | None
    high: str | None


ITEMS = [line for part in PAGE.split("\n## ")[1:] for line in part.splitlines() if line.startswith("-")]
ROWS = [
    Row(found["item"], found["here"], found["where"] or "", found["said"])
    for found in map(ITEM.fullmatch, ITEMS)
    if found
]


def numbers() -> list[Printed]:
    return [
        Printed(of["study"], of["scope"] or "", result(row, name), *found)
        for row in ROWS
        for of in STUDY.finditer(row.said)
        for name, *found in (number.groups() for number in NUMBER.finditer(of["numbers"]))
    ]


def result(row: Row, name: str | None) -> str:
    """The id of a printed number, whose name may lack its dimension, or be the item's only one."""
    if name is None:
        (only,) = row.results
        return only
    own = [id for id in row.results if id.partition(".")[2] == name]
    return name if "." in name else own[0] if own else f"advice_accuracy.{name}"


@cache
def quoted() -> ModuleType:
    """The script by which other pages name results."""
    spec = importlib.util.spec_from_file_location("quoted_results", ROOT / "docs" / "quoted_results.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_published() -> Assessment:
    """Tables of a publication: sites, readers, and counts of three decisions."""
    utility = {
        "name": "triage",
        "classes": ["absent", "present"],
        "decisions": ["dismiss", "test", "treat"],
        "matrix": [[0, -10], [-0.3, -1], [-1, 2]],
    }
    counts = {key: utility[key] for key in ("classes", "decisions")}
    given = plan(
        published_sites=[covid()],
        published_readers=[{"set": "knee", "readers": READERS}],
        confusion_tables=[{"set": "nodules", **counts, "table": [[60, 2], [30, 8], [10, 40]]}],
        utility={"matrices": [utility]},
    )
    return assess(Study(), given)


def with_more_declared() -> Assessment:
    """An example with a utility and parts of the ROC curve, which no example declares beside scores."""
    study, given = read_study(ROOT / "examples" / "h-accuracy")
    utility = {"matrices": [{"name": "patients", "matrix": [[0, -10], [-1, 2]]}]}
    changed = {
        "operating_point": given.operating_point.model_copy(update={"fpr_groups": ((0, 0.3), (0.3, 1))}),
        "utility": type(given.utility).model_validate(utility),
    }
    return assess(study, given.model_copy(update=changed))


@pytest.fixture(scope="module")
def assessed(assessed_example: Callable[[str], Assessment]) -> list[Assessment]:
    return [*(assessed_example(name) for name in EXAMPLES), as_published(), with_more_declared()]


@pytest.fixture(scope="module")
def volumes(assessed: list[Assessment]) -> Mapping[str, set[tuple[str, str]]]:
    """The kinds and volumes in which each table and figure is, a table that the report cuts in both."""
    found: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for one in assessed:
        for kind in KINDS:
            made = chapters(of_kind(one, kind))
            for volume, parts in (("report", made.report), ("annex", made.annex)):
                for _, id in placed(parts):
                    found[id].add((kind, volume))
    return found


# ---------------------------------------------------------------- what the rows name


def test_every_item_is_read() -> None:
    assert [line for line in ITEMS if not ITEM.fullmatch(line)] == []
    assert len(ROWS) > 120
    given = "".join(of["numbers"] for row in ROWS for of in STUDY.finditer(row.said))
    marks = re.findall(r"-?\d+\.\d+", given)
    bounds = [bound for one in numbers() for bound in (one.low, one.high) if bound]
    assert len(marks) + len(re.findall(r"`: 103\.", PAGE)) == len(numbers()) + len(bounds) > 60


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.item[:50])
def test_every_name_exists(row: Row) -> None:
    for name in row.names:
        assert is_result(name) or known(name), name
    for name in CODE.findall(row.said):
        if is_result(name):
            assert is_named(name.partition(".")[2]), name


def known(name: str) -> bool:
    """Whether a name that is no result is a key, a command, a check, or a file."""
    if name.endswith(":"):
        return all(part in keys() for part in name[:-1].split("."))
    if name.startswith("trustreport "):
        return name.removeprefix("trustreport ") in main.commands
    if re.fullmatch(r"P\d\d", name):
        return name in {check.id for check in CHECKS}
    return "/" in name and (ROOT / name).is_file()


@cache
def keys() -> set[str]:
    """Every key of the manifest, at whatever depth."""
    schema = json.loads((ROOT / "schemas" / "manifest.schema.json").read_text("utf-8"))

    def within(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            yield from node.get("properties", {})
            for value in node.values():
                yield from within(value)
        elif isinstance(node, list):
            for value in node:
                yield from within(value)

    return set(within(schema))


def test_every_result_can_be_given(assessed: list[Assessment]) -> None:
    """By an example; else its dimension makes it of data that no example has."""
    given = {r.id for one in assessed for r in one.results}
    for id in sorted({id for row in ROWS for id in row.results} - given):
        dimension, _, name = id.partition(".")
        sources = [*(ROOT / "trustreport" / "assessment" / "dimensions" / dimension).glob("*.py")]
        sources += (ROOT / "trustreport" / "assessment" / "performance").glob("*.py")
        assert is_named(name), id
        assert any(re.search(rf"[\".]{name}\"", file.read_text("utf-8")) for file in sources), id


# ---------------------------------------------------------------- where they are


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.item[:50])
def test_it_is_where_the_row_says(row: Row, volumes: Mapping[str, set[tuple[str, str]]]) -> None:
    for place in row.where.split("; ") if row.where else ():
        found = PLACE.fullmatch(place)
        assert found or place in ELSEWHERE, place
        for id in CODE.findall(found["ids"]) if found else ():
            for kind in KINDS:
                volume = "annex" if found["audit"] and kind == "vigilance" else found[1]
                assert (kind, volume) in volumes[id], f"{id} is not in the {volume} of {kind}"
    if "page 1" in row.where:
        assert any(f'"{id}"' in answers() for id in row.results), row.results
    if "page 2" in row.where:
        assert glanced() & set(row.results), row.results
    if "command" in row.where:
        assert any(name.startswith("trustreport ") for name in row.names)


@cache
def answers() -> str:
    """The source of page 1."""
    return "".join(file.read_text("utf-8") for file in (ROOT / "trustreport/report/answer").glob("*.py"))


def glanced() -> set[str]:
    """What page 2 may show of each dimension."""
    return {
        f"{word.partition('.')[0]}.{name}"
        for word, shown in SHOWN.items()
        for names in shown
        for name in names
    }


# ---------------------------------------------------------------- what is printed


@pytest.mark.parametrize("number", numbers(), ids=lambda one: f"{one.study} {one.id} {one.scope}"[:90])
def test_every_printed_number_is_that_of_the_result(
    number: Printed,
    assessed_example: Callable[[str], Assessment],
    assessed_study: Callable[[Path], Assessment],

) -> None:
    folder, _, name = number.study.rpartition("/")
    if name == WITHOUT_LICENCE and not (CONTRACT / name).is_dir():
        pytest.skip("the MRNet ratings have no licence, so the source archive does not contain them")
    one = assessed_study(CONTRACT / name) if folder == "contract" else assessed_example(name)
    scope = dict(part.strip().split("=", 1) for part in number.scope.split(";") if part.strip())
    found: Result = quoted().single_result(number.id, scope, one.results)
    e = found.estimate
    for printed, value in ((number.value, e.value), (number.low, e.low), (number.high, e.high)):
        if printed is not None:
            decimals = len(printed.partition(".")[2])
            assert value == pytest.approx(float(printed), abs=0.5 * 10**-decimals + 1e-9), printed


# ---------------------------------------------------------------- the test itself


@pytest.mark.parametrize(
    "name",
    ["advice_accuracy.no_such", "no_such_key:", "trustreport no-such", "P99", "trustreport/no_such.py"],
)
def test_a_name_that_is_not_there_is_found(name: str) -> None:
    assert not (is_named(name.partition(".")[2]) if is_result(name) else known(name))
