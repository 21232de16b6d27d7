"""What estimates note: the English phrases of the code, for the tests of other languages."""

import ast
import re
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "trustreport"
HOLD_NOTES = ("measures", *(f"assessment/{room}" for room in ("performance", "dimensions", "verdicts")))
NAMED = ("note", "reason", "why", "why_not")
NO_NOTES = ("a an one", "internal test", "typical site", "new site")
PHRASE = re.compile(r"[a-z]+ .*[a-z]{2}", re.DOTALL)
IDS = re.compile(r"[a-z0-9_]*_[a-z0-9_]*( \w+)*|[\d ]+")


@cache
def phrases() -> frozenset[str]:
    """Phrases of constants, and of what is given as a note or reason, where estimates are made."""
    return frozenset(
        text
        for room in HOLD_NOTES
        for file in (PACKAGE / room).rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        for text in _of(node)
        if PHRASE.search(text) and not IDS.fullmatch(text) and text not in NO_NOTES
    )


def _of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [t.id for t in targets if isinstance(t, ast.Name)]
        if not (names and names[0].lstrip("_").isupper() and node.value is not None):
            return []
    elif not (isinstance(node, ast.keyword) and node.arg in NAMED):
        return []
    inner = ast.walk(node.value) if node.value is not None else ()
    return [n.value for n in inner if isinstance(n, ast.Constant) and isinstance(n.value, str)]
