"""Modules, classes and functions have the field's and Python's words; one class name is one class."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "trustreport"

# Words that no name has, alone or as a part, and what is written in their place.
OLD = {
    "apart": "separate, differ, disjoint",
    "asked": "requested, declared, primary",
    "behind": "what it is: actual, underlying",
    "beside": "secondary, or what it is",
    "entrance": "login",
    "held": "compared, criterion_row, leased",
    "judged": "scored (ScoredCases), or the verdict",
    "lane": "worker_thread",
    "lanes": "threads",
    "mend": "fix",
    "people": "readers, users",
    "pulse": "heartbeat",
    "ripe": "mature, follow_up",
    "ripen": "mature",
    "said": "label_text, of_row, or what it is",
    "stand": "are, is",
    "standing": "status",
    "stands": "are, is",
    "suspicion": "oriented_score",
    "tell": "report, print, on_progress",
    "telling": "narrative",
    "tells": "reports",
    "told": "view, or what is reported",
    "undecided": "indeterminate",
    "undrawn": "plotted_periods, not_plotted",
    "unripe": "immature",
    "visit": "page_context",
    "watching": "monitoring",
    "witness": "signed_log_heads",
    "witnessed": "signed_heads",
}
# Words that say nothing as the name of a module, and what such a module is called.
OLD_MODULES = {
    "drawn": "plots",
    "drifted": "drift",
    "keep": "store_results",
    "moved": "drift",
    "panel": "rater_panel",
    "paper": "svg_backend",
    "recognised": "identifiers",
    "recorded": "incidents",
    "standing_out": "largest_gap",
    "used": "exposure",
    "who": "principal",
}
# Phrases that no name has.
OLD_PHRASES = {
    "go_on": "should_continue",
    "goes_on": "should_continue",
    "hand_in": "upload",
    "handed_in": "uploaded",
}
# Names of functions that say nothing out of their file.
SAY_NOTHING = frozenset(("of", "one", "act", "at", "all", "n"))
DEFINITIONS = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def words(name: str) -> list[str]:
    """The words of a name in either style, in lower case.

    >>> words("_LockStatus"), words("lock_status"), words("AUCTable")
    (['lock', 'status'], ['lock', 'status'], ['auc', 'table'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def faults(name: str, *, module: bool = False) -> list[str]:
    """What is wrong with a name, with what to write."""
    own = words(name)
    found = [f"{word} ({OLD[word]})" for word in own if word in OLD]
    found += [f"{old} ({new})" for old, new in OLD_PHRASES.items() if f"_{old}_" in f"_{'_'.join(own)}_"]
    if name.strip("_") in SAY_NOTHING:
        found.append(f"{name} (what it returns or does)")
    if module and name in OLD_MODULES:
        found.append(f"{name} ({OLD_MODULES[name]})")
    return found


def modules() -> Iterator[tuple[str, str]]:
    """Name and place of each module and folder."""
    for file in sorted(PACKAGE.rglob("*.py")):
        where = file.relative_to(PACKAGE)
        yield (where.parent.name or PACKAGE.name) if file.stem == "__init__" else file.stem, where.as_posix()


def definitions() -> Iterator[tuple[ast.AST, str, str]]:
    """Each class and function that is defined here, at whatever depth, with its name and place.

    What a library calls its own (an argument `keep`, a method `visit` that is called) is not read.
    """
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, DEFINITIONS):
                yield node, node.name, f"{file.relative_to(PACKAGE).as_posix()}:{node.lineno}"


def is_denominator(node: ast.AST) -> bool:
    """Whether it is a property `n`, which is the field's word for how many cases, readings or studies."""
    return (
        isinstance(node, ast.FunctionDef)
        and node.name == "n"
        and any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list)
    )


def test_modules_have_plain_names() -> None:
    found = [
        f"{place}: {', '.join(wrong)}" for name, place in modules() if (wrong := faults(name, module=True))
    ]
    assert not found, "\n".join(["modules under old words:", *found])


def test_classes_and_functions_have_plain_names() -> None:
    found = [
        f"{place}: {name}: {', '.join(wrong)}"
        for node, name, place in definitions()
        if (wrong := faults(name)) and not is_denominator(node)
    ]
    assert not found, "\n".join(["classes and functions under old words:", *found])


def test_one_class_name_is_one_class() -> None:
    places = defaultdict(list)
    for node, name, place in definitions():
        if isinstance(node, ast.ClassDef):
            places[name].append(place)
    several = [f"{name}: {', '.join(of)}" for name, of in sorted(places.items()) if len(of) > 1]
    assert not several, "\n".join(["class names that several classes have:", *several])


@pytest.mark.parametrize(
    "name, wrong",
    [
        ("told", True),
        ("_told", True),
        ("TellingView", True),
        ("cases_apart", True),
        ("hand_in_zip", True),
        ("HandedIn", True),
        ("goes_on", True),
        ("untold", False),
        ("departure", False),
        ("keep_extra", False),
        ("upload_zip", False),
        ("background", False),
    ],
)
def test_old_words_are_found_as_whole_words(name: str, wrong: bool) -> None:
    assert bool(faults(name)) is wrong


def test_some_words_are_old_as_modules_only() -> None:
    assert faults("keep", module=True)
    assert not faults("keep")
    assert not faults("store_results", module=True)
