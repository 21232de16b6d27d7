"""Imports point one way; whoever turns one round is named."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "trustreport"

# Each room may import those listed for it, and what those may import in turn.
MAY = {
    "errors": (),
    "estimate": (),
    "resources": (),
    "messages": ("resources", "digits"),
    "packs": ("resources",),
    "quantities": ("measures",),
    "place": (),
    "digits": ("estimate", "quantities"),
    "results": ("digits", "place"),
    "one_number": ("results",),
    "seeds": (),
    "finding": ("messages", "results"),
    "measures": ("errors", "estimate", "resources"),
    "parallel": ("measures", "errors"),
    "simulate": ("measures",),
    "infer": ("measures", "narrative"),
    "figures": ("measures", "messages"),
    "study": ("errors", "estimate", "resources"),
    "limits": (),
    "plan": ("errors", "estimate", "resources", "limits"),
    "clusters": ("study", "plan"),
    "interop": ("study", "plan"),
    "definitions": ("plan",),
    "ingest": ("study", "plan", "clusters", "interop", "lock", "criteria", "definitions"),
    "performance": ("study", "plan", "clusters", "measures", "results", "seeds"),
    "narrative": ("finding", "performance"),
    "criteria": ("plan", "quantities"),
    "timestamp": (),
    "signing": (),
    "signatures": ("signing", "timestamp"),
    "lock": ("study", "criteria", "timestamp"),
    "identity": ("study", "plan", "lock"),
    "claims": ("narrative",),
    "dimensions": ("narrative", "figures", "infer", "claims", "criteria", "definitions"),
    "checks": ("narrative", "claims", "criteria", "lock", "identity"),
    "verdicts": ("narrative", "checks", "criteria", "lock", "one_number"),
    "assessment": ("dimensions", "checks", "verdicts", "identity", "one_number"),
    "pipes": (),
    "second_judge": (),
    "second_opinion": (),
    "report": ("assessment", "signing", "signatures", "packs", "pipes"),
    "exports": ("report",),
    "calculate": ("report",),
    "sizing": ("report", "ingest", "simulate"),
    "qualification": ("api", "second_opinion"),
    "starter": ("plan", "messages"),
    "proposal": ("ingest",),
    "documented": ("checks",),
    "schemas": ("report", "documented"),
    "notebook": ("report",),
    "api": ("report", "ingest", "parallel", "lock", "notebook", "exports", "sizing"),
    "fleet": ("api",),
    "commands": (
        "api",
        "qualification",
        "signatures",
        "fleet",
        "starter",
        "proposal",
        "identity",
        "report",
        "second_judge",
        "second_opinion",
        "calculate",
        "interop",
        "service",
        "sizing",
    ),
    "cli": ("commands", "fleet"),
    "webhook_signature": (),
    "client": ("webhook_signature",),
    "service": ("api", "calculate", "proposal", "sizing", "webhook_signature"),
    "__main__": ("cli",),
    "__init__": ("api",),
}
# What every dimension may use within their room, and what describes the cases for the report.
SHARED = ("dimension", "case_mix", "largest_gap", "flow")
FORBIDDEN_IN_MEASURES = ("pandas", "matplotlib", "pydantic", "pyarrow")


def allowed(room: str) -> set[str]:
    """The rooms that a room may import, itself included."""
    found = {room}
    for other in MAY[room]:
        found |= allowed(other)
    return found


def imports(file: Path) -> list[tuple[int, str]]:
    """Modules that a file imports, with the lines."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: a relative import hides where it points"
            base = node.module or ""
            found += [
                (node.lineno, f"{base}.{alias.name}" if base == "trustreport" else base)
                for alias in node.names
            ]
    return found


def room_of(file: Path) -> str:
    """The room in which a file stands: its folder in the package, or its own name."""
    inside = file.relative_to(PACKAGE)
    return inside.parts[0] if len(inside.parts) > 1 else inside.stem


FILES = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda f: str(f.relative_to(PACKAGE)))
def test_imports_point_one_way(file: Path) -> None:
    room = room_of(file)
    assert room in MAY, f"{file.name} stands in no known room: say in this test what it may import"
    for line, module in imports(file):
        if module.startswith("trustreport."):
            other = module.split(".")[1]
            if other == "__version__":
                continue
            assert other in allowed(room), f"{file}:{line}: {room} may not import {other}"


def dimension_of(module: str) -> str | None:
    """The dimension that a module of the package belongs to; None elsewhere, and for what all of them use."""
    parts = module.split(".")
    if parts[:2] != ["trustreport", "dimensions"] or len(parts) < 3 or parts[2] in SHARED:
        return None
    return parts[2]


@pytest.mark.parametrize("file", sorted((PACKAGE / "dimensions").rglob("*.py")), ids=str)
def test_a_dimension_imports_no_other(file: Path) -> None:
    own = dimension_of(".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts))
    if own is None or own == "__init__":
        return
    for line, module in imports(file):
        assert dimension_of(module) in (None, own), f"{file}:{line}: {own} may not import {module}"


def test_measures_know_neither_frames_nor_figures() -> None:
    for file in (PACKAGE / "measures").rglob("*.py"):
        for line, module in imports(file):
            assert module.split(".")[0] not in FORBIDDEN_IN_MEASURES, f"{file}:{line} imports {module}"


def test_a_reversed_import_would_be_named(tmp_path: Path) -> None:
    offender = tmp_path / "offender.py"
    offender.write_text("from trustreport.report import html\n")
    assert [m for _, m in imports(offender) if m.split(".")[1] not in allowed("measures")]
