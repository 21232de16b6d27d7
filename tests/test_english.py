"""Texts that people read use the field's words: none of those that a native would not write."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from trustreport.commands.cli import main

ROOT = Path(__file__).resolve().parent.parent

# What is not written, and what is written in its place.
INSTEAD = {
    r"told apart|tells? (\S+ ){0,3}apart": "distinguishable, distinguish",
    r"\b(is|are|was|were|be|been) told\b|\btold (of|by|in|as)\b|\btells?\b": "reported, shows, says",
    r"\bheld against\b|\bholds? (it|them) against\b": "compared with, tested against",
    r"\bhand(ed|s|ing)? (it |them )?in\b": "provided, submitted, uploaded",
    r"\b(un)?ripe\w*\b": "mature, incomplete follow-up",
    r"\bshares? of positives\b|\bclass mix\b": "prevalence",
    r"\blooked for and not found\b": "checked, no problem found",
    r"\bfound, and told\b": "further findings",
    r"\bquestions? of trust\b": "left out, or dimension",
    r"\bbest corner\b": "ideal point",
    r"\bscores that tell\b|\btells? nothing\b": "chance",
    r"\bmend(s|ed|ing)?\b": "fix, correct",
    r"\bcount(s|ed)? as\b": "is analysed as",
    r"\binterval holds?\b|\bholds? (zero|no effect|none|1|one half)\b": "includes",
    r"\bintervals? (that )?lies?\b|\blies? (above|below|outside|within)\b": "is above, is below, excludes",
    r"\bstands? (beside|in|for|at|under|as|there|twice)\b": "is in, means, appears",
    r"\bwhat (each|this) does not show\b": "limitations",
    r"\b(entry|interval|intervals|estimate|estimates) that leads?\b|\bwhat leads\b": "primary estimate",
    r"\basked above all\b": "primary question",
    r"\brose by \+|\bfell by [-−]": "rose by, without a sign",
}

# Notes with such a word that results.json prints. Rewording one changes the bytes of reports.
KEPT = frozenset(
    (
        "note.fewer_than_20_cases_or_clusters",
        "note.labels_without_confidence_count_as_sure",
        "note.interval_difference_holds_zero_number_needed",
        "note.these_readers_read_one_arm_mostly",
    )
)


def found(text: str) -> list[str]:
    """Words of a text that are not written so, with what is written in their place."""
    text = re.sub(r"```.*?```|`[^`\n]*`|A Question of Trust", "", text, flags=re.DOTALL)  # no prose
    return [
        f"{match.group(0)!r}: write {better}"
        for word, better in INSTEAD.items()
        for match in re.finditer(word, text, re.IGNORECASE)
    ]


def texts(node: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text of a file of the catalogue, by its key."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            yield from texts(value, f"{path}.{name}".strip("."))
    elif isinstance(node, str):
        yield path, node


def commands(command: click.Command, name: str) -> Iterator[tuple[str, str]]:
    """The help of a command, of its options and of its subcommands."""
    yield name, command.help or ""
    for option in command.params:
        if isinstance(option, click.Option):
            yield f"{name} {option.name}", option.help or ""
    if isinstance(command, click.Group):
        for sub in command.commands.values():
            yield from commands(sub, f"{name} {sub.name}")


@pytest.mark.parametrize(
    "file", sorted((ROOT / "templates/messages/en").glob("*.toml")), ids=lambda f: f.stem
)
def test_the_catalogue(file: Path) -> None:
    of = dict(texts(tomllib.loads(file.read_text(encoding="utf-8"))))
    wrong = [f"{key} {word}" for key, text in of.items() for word in found(text) if key not in KEPT]
    assert not wrong, "\n".join(wrong)
    assert all(found(of[key]) for key in KEPT & of.keys()), "a kept note has no such word any more"


PAGES = [
    *(ROOT / f"{n}.md" for n in ("README", "CONTRIBUTING", "SECURITY")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_documentation(page: Path) -> None:
    wrong = [
        f"{page.name}:{number} {word}"
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1)
        for word in found(line)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_help_of_the_commands() -> None:
    wrong = [f"{name}: {word}" for name, text in commands(main, "trustreport") for word in found(text)]
    assert not wrong, "\n".join(wrong)


def shown(template: str) -> str:
    """What a page template shows: its text and its labels, without tags, attributes and code."""
    labels = re.findall(r'(?:aria-label|title|data-label|placeholder|hint)="([^"]*)"', template)
    given = re.findall(r'"([^"{}<>]*\s[^"{}<>]*)"', " ".join(re.findall(r"\{\{.*?\}\}|\{%.*?%\}", template)))
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}|<[^>]*>", " ", template, flags=re.DOTALL)
    return "\n".join([text, *labels, *given])


@pytest.mark.parametrize(
    "template", sorted((ROOT / "templates/service").glob("*.j2")), ids=lambda t: t.name.partition(".")[0]
)
def test_the_pages_of_the_service(template: Path) -> None:
    assert not found(shown(template.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("8 of 10 questions of trust are answered.", ["questions of trust"]),
        ("The interval holds 1; a failed case counts as an error.", ["counts as", "interval holds"]),
        ("Sensitivity was 91% (83% to 96%); the interval excludes 80%.", []),
        ("`mend`: how to fix it", []),
    ],
)
def test_what_is_found(text: str, words: list[str]) -> None:
    assert [line.split("'")[1] for line in found(text)] == words
