"""Imports point one way; whoever turns one round is named."""

import ast
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "trustreport"

# A room may import those that stand before it; neighbours in brackets do not import one another.
ROOMS = (
    "measures",
    "vocabulary",
    ("study", "figures"),
    "assessment",
    "report",
    "planning",
    "api",
    ("service", "__init__"),
    "commands",
    "__main__",
)
INSIDE = {
    "study": (
        "limits",
        "plan",
        ("study", "definitions", "criteria", "period_days"),
        ("clusters", "lock", "answerable", "plausible"),
        "identity",
        "interop",
        "ingest",
        ("proposal", "next_period", "pooled"),
    ),
    "assessment": (
        "finding",
        "performance",
        "release",
        "narrative",
        ("claims", "infer", "case_mix"),
        ("dimensions", "checks"),
        "verdicts",
        "assess",
        ("site_summary", "explored"),
    ),
}
# What every dimension may use within their room.
SHARED = ("dimension",)
FORBIDDEN_IN_MEASURES = ("pandas", "matplotlib", "pydantic", "pyarrow")
WRITTEN = ("results.py", "words.py")  # of each dimension, beside the files of questions of their own
MOST_FILES, MOST_LINES = 20, 525  # of a folder, of a file
FEWEST_LINES = 40  # of a file that one other file imports
FILES = sorted(PACKAGE.rglob("*.py"))


def module_of(file: Path) -> str:
    """The dotted name under which a file is imported."""
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 2 else parts)


MODULES = {module_of(file) for file in FILES} | {"trustreport"}


def imports(file: Path) -> list[tuple[int, str]]:
    """Modules that a file imports anywhere, also in functions and for types, with the lines."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: a relative import hides where it points"
            base = node.module or ""
            found += [
                (node.lineno, inner if (inner := f"{base}.{alias.name}") in MODULES else base)
                for alias in node.names
            ]
    return found


def places(order: tuple[str | tuple[str, ...], ...]) -> dict[str, int]:
    """The floor on which each room stands."""
    return {
        room: floor
        for floor, rooms in enumerate(order)
        for room in ((rooms,) if isinstance(rooms, str) else rooms)
    }


def against(file: Path, order: tuple[str | tuple[str, ...], ...], depth: int) -> Iterator[str]:
    """Imports of a file from rooms that do not stand below its own, where names of rooms begin at `depth`."""
    floors, own = places(order), [*module_of(file).split("."), "__init__"][depth]
    if own == "__init__" and depth > 1:
        return
    assert own in floors, f"{file}: say in this test on which floor {own} stands"
    above = module_of(file).split(".")[:depth]
    for line, module in imports(file):
        parts = [*module.split("."), "__init__"]
        if parts[:depth] == above and module != "trustreport" and parts[depth] != own:
            other = parts[depth]
            if floors.get(other, len(order)) >= floors[own]:
                yield f"{file}:{line}: {own} may not import {other}"


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_imports_point_one_way(file: Path) -> None:
    assert list(against(file, ROOMS, 1)) == []
    room = module_of(file).split(".")[1]
    if room in INSIDE:
        assert list(against(file, INSIDE[room], 2)) == []


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules each of which imports itself through the others (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(graph.get(name, ())):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return found


def test_no_module_imports_itself_through_others() -> None:
    graph = {module_of(f): {m for _, m in imports(f) if m in MODULES} for f in FILES}
    assert circles(graph) == []


def test_a_circle_would_be_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_the_top_has_ten_rooms() -> None:
    entries = {e.name for e in PACKAGE.iterdir()} - {
        "__pycache__",
        "_data",
        "__init__.py",
        "__main__.py",
        "py.typed",
    }
    assert len(entries) <= 10
    assert entries <= set(places(ROOMS)), "a room without a floor"


def test_no_folder_is_too_large_to_read() -> None:
    folders = {file.parent for file in FILES}
    assert [f for f in folders if len(list(f.glob("*.py"))) > MOST_FILES] == []
    assert [f for f in FILES if len(f.read_text("utf-8").splitlines()) > MOST_LINES] == []


def test_no_small_file_serves_one_other() -> None:
    importers: dict[str, set[Path]] = {}
    for file in FILES:
        for _, module in imports(file):
            importers.setdefault(module, set()).add(file)
    small = [f for f in FILES if len(f.read_text("utf-8").splitlines()) < FEWEST_LINES]
    assert [
        f for f in small if f.name != "__init__.py" and len(importers.get(module_of(f), ())) == 1
    ] == [], "write it into the file that imports it"


def test_the_picture_of_the_rooms_is_that_of_the_imports() -> None:
    made = runpy.run_path(str(PACKAGE.parent / "docs" / "rooms_picture.py"))
    assert made["PICTURE"].read_text("utf-8") == made["drawn"](), "run python docs/rooms_picture.py"


def dimension_of(module: str) -> str | None:
    """The dimension that a module of the package belongs to; None elsewhere, and for what all of them use."""
    parts = module.split(".")
    if parts[:3] != ["trustreport", "assessment", "dimensions"] or len(parts) < 4 or parts[3] in SHARED:
        return None
    return parts[3]


@pytest.mark.parametrize("file", sorted((PACKAGE / "assessment" / "dimensions").rglob("*.py")), ids=str)
def test_a_dimension_imports_no_other(file: Path) -> None:
    own = dimension_of(module_of(file))
    for line, module in imports(file) if own else ():
        assert dimension_of(module) in (None, own), f"{file}:{line}: {own} may not import {module}"


def test_every_dimension_has_its_numbers_and_its_words() -> None:
    folders = [f.parent for f in FILES if f.parts[-3:-2] == ("dimensions",) and f.name == "__init__.py"]
    assert len(folders) == 13
    assert [f"{f.name}/{file}" for f in folders for file in WRITTEN if not (f / file).is_file()] == []


def test_the_client_imports_nothing_that_computes() -> None:
    for file in (PACKAGE / "service" / "client").rglob("*.py"):
        for line, module in imports(file):
            if module.startswith("trustreport") and module != "trustreport.vocabulary.version":
                assert module.startswith("trustreport.service.client"), f"{file}:{line}: {module}"


def test_measures_know_neither_frames_nor_figures() -> None:
    for file in (PACKAGE / "measures").rglob("*.py"):
        for line, module in imports(file):
            assert module.split(".")[0] not in FORBIDDEN_IN_MEASURES, f"{file}:{line} imports {module}"


def test_every_measure_is_imported_by_something() -> None:
    """A file of statistics that nothing imports reports nothing, and no step misses it."""
    used = {module for file in FILES for _, module in imports(file) if module != module_of(file)}
    named = {f"trustreport.measures.{of.partition(':')[0]}" for of in places_of_functions()}
    measures = {m for m in MODULES if m.startswith("trustreport.measures.")}
    packages = {module_of(file) for file in FILES if file.name == "__init__.py"}
    assert measures - packages - used - named == set()


def places_of_functions() -> Iterator[str]:
    """Functions that measures of scores name, to be imported when they are first used."""
    from trustreport.measures.score_measure import SCORES

    for measure in SCORES.values():
        yield from (of for of in (measure.estimates, measure.influence) if isinstance(of, str))


def test_a_reversed_import_would_be_named() -> None:
    offender = PACKAGE / "measures" / "estimate.py"
    assert list(against(offender, ("vocabulary", "measures"), 1)) == []
    assert list(against(PACKAGE / "vocabulary" / "digits.py", ("vocabulary", "measures"), 1)) != []
