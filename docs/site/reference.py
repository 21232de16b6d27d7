"""What the reference takes from the code: commands, fields of the manifest, the glossary."""

from collections.abc import Iterator, Mapping
from typing import Any

import click

from trustreport.commands.cli import main
from trustreport.commands.schemas import schema
from trustreport.report.glossary import TERMS
from trustreport.study.lock.fields import ADDED_LATER, WITHOUT_EFFECT, is_among
from trustreport.vocabulary.messages import catalogue

Schema = Mapping[str, Any]
WIDTH = 96  # of the help of a command
UNLIMITED = 1e12  # counts up to it say nothing to a reader


def pages() -> dict[str, str]:
    """The generated pieces by the name under which a page of docs/ asks for them."""
    return {
        "commands": "\n\n".join(_commands(main, "trustreport")),
        "fields": _fields(),
        "glossary": _glossary(),
    }


def _commands(command: click.Command, name: str) -> Iterator[str]:
    """A command's own help, then that of its subcommands."""
    if not isinstance(command, click.Group) or name != "trustreport":
        with click.Context(command, info_name=name, max_content_width=WIDTH, terminal_width=WIDTH) as context:
            yield f"## {name}\n\n```text\n{command.get_help(context)}\n```"
    if isinstance(command, click.Group):
        for sub in command.commands.values():
            yield from _commands(sub, f"{name} {sub.name}")


def _glossary() -> str:
    """Every term of the reports' glossary, by the alphabet."""
    say = catalogue()
    terms = {say(f"glossary.{term}.term"): say(f"glossary.{term}.text") for term in TERMS}
    rows = [f"| {term} | {terms[term]} |" for term in sorted(terms, key=str.casefold)]
    return "\n".join(["| term | meaning |", "| --- | --- |", *rows])


def _fields() -> str:
    """A section for each group of the manifest, with a row for each field."""
    whole = schema("manifest")
    tops = {id(_model(field, whole)): name for name, field in whole["properties"].items()}
    return "\n\n".join(_group(name, field, whole, tops) for name, field in whole["properties"].items())


def _group(name: str, field: Schema, whole: Schema, tops: Mapping[int, str]) -> str:
    model = _model(field, whole)
    kind = "A list; each entry has" if field.get("type") == "array" or _is_list(field) else "One group with"
    if name == "tables":
        kind = "By name of the table; each has"
    head = f"## {name}\n\n"
    if model is None:
        return f"{head}{_type(field, whole)}."
    heads = ("field", "label in the report", "value", "required by", "lock")
    rows = [heads, ("---",) * len(heads), *_rows(model, name, whole, tops)]
    return "\n".join([f"{head}{kind}:\n", *(f"| {' | '.join(row)} |" for row in rows)])


def _rows(model: Schema, path: str, whole: Schema, tops: Mapping[int, str]) -> Iterator[tuple[str, ...]]:
    """The fields of a group; those of a group within it by dotted names, unless it has its own section."""
    for name, field in model["properties"].items():
        here = f"{path}.{name}"
        inner = _model(field, whole)
        same = tops.get(id(inner)) if inner is not None else None
        value = f"as `{same}`" if same else _type(field, whole)
        needed = ", ".join(f"`{kind}`" for kind in field.get("mandatory_for", ()))
        yield f"`{here.partition('.')[2]}`", _label(here), value, needed, _lock(here)
        if inner is not None and not same:
            yield from _rows(inner, here, whole, tops)


def _label(field: str) -> str:
    """What reports call a field; some are never printed."""
    say = catalogue()
    keys = (f"plan.{field}.group", f"plan.{field}")
    return next((say(key) for key in keys if key in say), "")


def _lock(field: str) -> str:
    if is_among(field, WITHOUT_EFFECT):
        return "free"
    return "may be added" if is_among(field, ADDED_LATER) else "locked"


def _parts(field: Schema) -> list[Schema]:
    """What a field may be, without null."""
    return [part for part in field.get("anyOf", [field]) if part.get("type") != "null"]


def _is_list(field: Schema) -> bool:
    return any(part.get("type") == "array" for part in _parts(field))


def _model(field: Schema, whole: Schema) -> Schema | None:
    """The group that a field, or each entry of it, is."""
    for part in _parts(field):
        inner = part.get("items") or part.get("additionalProperties") or part
        if isinstance(inner, Mapping) and "$ref" in inner:
            return whole["$defs"][inner["$ref"].rpartition("/")[2]]
    return None


def _type(field: Schema, whole: Schema) -> str:
    """In words what a field holds."""
    return " or ".join(dict.fromkeys(_one_type(part, whole) for part in _parts(field)))


def _one_type(part: Schema, whole: Schema) -> str:
    if "$ref" in part:
        return "a group"
    if "enum" in part:
        return ", ".join(f"`{word}`" for word in part["enum"])
    if "const" in part:
        return f"`{part['const']}`"
    kind = part.get("type", "any value")
    if kind == "array":
        inner = part.get("items") or (part.get("prefixItems") or [{}])[0]
        return f"list of {_type(inner, whole)}"
    if kind == "object":
        inner = part.get("additionalProperties")
        return f"by name, {_type(inner, whole)}" if isinstance(inner, Mapping) else "by name"
    low = part.get("minimum", part.get("exclusiveMinimum"))
    high = part.get("maximum", part.get("exclusiveMaximum"))
    words = {"string": "text", "integer": "whole number", "boolean": "true or false"}
    word = {"date": "date", "date-time": "moment"}.get(part.get("format", ""), words.get(kind, kind))
    limits = f" from {low:g}" if low is not None else ""
    limits += f" to {high:g}" if high is not None and high < UNLIMITED else ""
    return f"{word}{limits}"
