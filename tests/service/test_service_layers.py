"""The rooms of the service stand on one another in one order, lazy imports and imports of types included."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from trustreport.service import engine

SERVICE = Path(__file__).resolve().parents[2] / "trustreport" / "service"
# A room may import itself and those of the lines above; rooms of one line know nothing of each other.
ORDER = (
    ("blank", "client", "engine", "ids", "languages", "log", "roles"),
    ("settings",),
    ("limited", "storage"),
    ("events", "web"),
    ("audit", "provider"),
    ("core",),
    ("access",),
    ("bounds", "intake", "mail", "middleware", "pages", "record"),
    ("account", "device", "editor", "reference", "study", "webhook"),
    ("vigilance",),
    ("jobs", "tools"),
    ("review",),
    ("version",),
    ("guide", "home", "lock", "report"),
    ("collaboration",),
    ("app",),
    ("server",),
)
FLOOR = {room: floor for floor, rooms in enumerate(ORDER) for room in rooms}
FILES = sorted(file for file in SERVICE.rglob("*.py") if file != SERVICE / "__init__.py")
MOST_FILES = 20


def name_of(file: Path) -> str:
    """The name of a module within the service, a folder's own without its `__init__`."""
    return ".".join(file.relative_to(SERVICE).with_suffix("").parts).removesuffix(".__init__")


MODULES = {name_of(file) for file in FILES}


def of_the_package(file: Path) -> set[str]:
    """What of this package a file imports anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in found if name.startswith("trustreport.")}


def imported(file: Path) -> set[str]:
    """Modules of the service that a file imports anywhere in it."""
    inside = {n.removeprefix("trustreport.service.") for n in of_the_package(file) if ".service." in n}
    return {name if name in MODULES else name.rpartition(".")[0] for name in inside}


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_a_room_imports_only_rooms_below_it(file: Path) -> None:
    room = name_of(file).partition(".")[0]
    for other in {name.partition(".")[0] for name in imported(file)} - {room}:
        assert FLOOR[other] < FLOOR[room], f"{name_of(file)} may not import {other}"


@pytest.mark.parametrize("file", FILES, ids=name_of)
def test_one_module_knows_more_of_the_package_than_its_api_and_its_words(file: Path) -> None:
    rooms = {name.split(".")[1] for name in of_the_package(file)}
    assert file.name == "engine.py" or rooms <= {"api", "service", "vocabulary"}


def test_every_name_of_the_engine_is_there_and_loaded_when_it_is_asked_for() -> None:
    code = (
        "import sys, trustreport.service.engine as engine; loaded = set(sys.modules);"
        "print(len([getattr(engine, name) for name in engine.__all__]), *loaded)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    n, *loaded = done.stdout.split()
    assert int(n) > 40
    rooms = {name.split(".")[1] for name in loaded if name.startswith("trustreport.")}
    assert rooms == {"service", "vocabulary"}


def test_every_name_of_the_engine_has_its_type() -> None:
    given = {f"trustreport.{module}.{name}" for name, module in engine.ELSEWHERE.items()}
    given |= {f"trustreport.{module}" for module in engine.MODULES.values()}
    assert of_the_package(SERVICE / "engine.py") == given


def test_no_module_imports_itself_by_way_of_others() -> None:
    open_ones = {name_of(file): imported(file) for file in FILES if file.name != "__init__.py"}
    while done := {name for name, others in open_ones.items() if not others & open_ones.keys()}:
        open_ones = {name: others for name, others in open_ones.items() if name not in done}
    assert not open_ones


def test_no_folder_is_too_full_to_be_looked_through() -> None:
    for folder in {file.parent for file in FILES}:
        assert len(list(folder.glob("*.py"))) <= MOST_FILES, folder
