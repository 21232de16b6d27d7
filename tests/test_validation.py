"""The validation document: requirements are numbered, and every test that it names exists."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROW = re.compile(r"^- (R\d+) (.+?): (`tests/.*)$", re.MULTILINE)
REQUIREMENTS = ROW.findall((ROOT / "docs" / "validation.md").read_text(encoding="utf-8"))


def test_requirements_are_numbered_without_gaps() -> None:
    numbers = [number for number, _, _ in REQUIREMENTS]
    assert numbers == [f"R{i}" for i in range(1, len(numbers) + 1)]
    assert len(numbers) > 20


@pytest.mark.parametrize("number, requirement, tests", REQUIREMENTS, ids=[r[0] for r in REQUIREMENTS])
def test_every_requirement_has_tests_that_exist(number: str, requirement: str, tests: str) -> None:
    named = re.findall(r"`(tests/[^`]+)`", tests)
    assert named, f"{number} has no test"
    for one in named:
        file, _, function = one.partition("::")
        assert (ROOT / file).is_file(), one
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        defined = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        found = {name for name in defined if name.startswith("test_")}
        assert found, f"{file} has no test"
        assert not function or function in found, one
