"""Provenance names the software that reading and assessing import; `doctor` asks for what is required."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from trustreport.report import doctor
from trustreport.report.write import LIBRARIES

ROOT = Path(__file__).resolve().parents[2]
ROOTS = ("trustreport.study.ingest", "trustreport.assessment.assess", "trustreport.api.parallel")


# Of files of statistics programs and of databases alone, which a study without them does not read.
OF_EXTRAS = ("obstore", "pyreadstat", "sqlalchemy")


def file_of(module: str) -> Path | None:
    """The file of one of our modules; None where the name is that of something inside one."""
    path = ROOT.joinpath(*module.split("."))
    return next((f for f in (path.with_suffix(".py"), path / "__init__.py") if f.is_file()), None)


def imports(file: Path) -> Iterator[str]:
    """Names that a file imports anywhere, but for type checkers only."""
    nodes: list[ast.AST] = [ast.parse(file.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            nodes += node.orelse
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names))


def reached(*roots: str) -> set[str]:
    """Packages of others that are imported by these modules and whatever of ours they import."""
    modules, seen, others = list(roots), set(), set()
    while modules:
        file = file_of(modules.pop())
        if file is None or file in seen:
            continue
        seen.add(file)
        for name in imports(file):
            top = name.partition(".")[0]
            if top == "trustreport":
                modules.append(name)
            elif top not in sys.stdlib_module_names:
                others.add(top)
    return others


def test_provenance_names_what_reading_and_assessing_import() -> None:
    distributions = metadata.packages_distributions()
    found = {distributions[top][0] for top in reached(*ROOTS) if top not in OF_EXTRAS}
    assert sorted(found) == list(LIBRARIES)


def test_every_requirement_is_imported() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    required = {re.split(r"[>\[]", said)[0] for said in project["dependencies"]}
    tops = {
        top
        for file in (ROOT / "trustreport").rglob("*.py")
        for name in imports(file)
        for top in [name.partition(".")[0]]
    }
    distributions = metadata.packages_distributions()
    imported = {name.lower() for top in tops for name in distributions.get(top, ())}
    assert required <= imported


def test_doctor_asks_for_every_requirement_and_for_no_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = [line.what.split()[0] for line in doctor.diagnose()]
    names = [re.split(r"[>\[]", said)[0].replace(".", "-") for said in project["dependencies"]]
    assert [name for name in names if name not in installed] == []
    assert "fastapi" not in installed

    said = ["numpy>=99.1", "scipy>=1.2", "no-such-package>=2", 'uvicorn>=0.1; extra == "service"']
    monkeypatch.setattr(metadata, "requires", lambda name: said)
    lines = {line.what.split()[0]: line for line in doctor.diagnose()}
    assert (lines["numpy"].fine, lines["numpy"].mend) == (False, "pip install 'numpy>=99.1'")
    assert lines["numpy"].what.endswith(", which is older than 99.1")
    assert lines["scipy"].fine
    assert (lines["no-such-package"].fine, lines["no-such-package"].what) == (False, "no-such-package")
    assert "uvicorn" not in lines


def test_doctor_says_that_the_package_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "requires", missing)
    assert any(not line.fine and "trustreport" in line.what for line in doctor.diagnose())
