"""What a form changes in the text of a manifest: only that, with comments, anchors and order kept."""

import io
import json
import re
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from trustreport.service.editor.field_values import read
from trustreport.service.editor.form import NAME, REMOVED, Control, Form, was_changed
from trustreport.service.engine import Key, KeyPath, Problems, parse
from trustreport.vocabulary.errors import UNSEEN

PLAIN = re.compile(r"[^\W\d_][\w.-]*( [\w.-]+)*")
NOT_WORDS = ("true", "false", "null", "yes", "no", "on", "off", "y", "n")
WIDE = 110
GUESS = re.compile(r"# UNCERTAIN: [^\n]*")


@dataclass
class Edits:
    """What was changed: values by path (None removes one), new rows, and rows that are removed."""

    values: dict[KeyPath, Any] = field(default_factory=dict)
    rows: dict[KeyPath, dict[str, Any]] = field(default_factory=dict)  # by list or map, and the row's sign
    removed: list[KeyPath] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.values or self.rows or self.removed)


def edits_of(form: Form, texts: Mapping[str, str], values: Any) -> Edits:
    """What the texts that were sent change in the manifest that the form shows."""
    made = Edits()
    texts = {name: re.sub(UNSEEN, "", text) for name, text in texts.items()}  # what nobody sees was not meant
    gone = {row.path for row in form.rows() if f"{row.name}/{REMOVED}" in texts}
    made.removed = sorted((p for p in gone if not _is_new(p)), key=str)
    for control in form.controls():
        if not was_changed(control, texts) or any(control.path[: len(g)] == g for g in gone):
            continue
        value = _value(control, texts[control.name], values)
        if _is_new(control.path):
            at = next(i for i, key in enumerate(control.path) if str(key)[:1] == "+")
            row = made.rows.setdefault(control.path[: at + 1], {})
            _put(row, control.path[at + 1 :], value)
        else:
            made.values[control.path] = value
    return made


def _value(control: Control, text: str, values: Any) -> Any:
    return read(control.shape, text, get(values, control.path)) if text.strip() else None


def _is_new(path: KeyPath) -> bool:
    return any(isinstance(key, str) and key[:1] == "+" for key in path)


def get(values: Any, path: KeyPath) -> Any:
    """The value at a path; None where there is none."""
    for key in path:
        inside = (isinstance(values, Mapping) and key in values) or (
            isinstance(values, list) and isinstance(key, int) and key < len(values)
        )
        if not inside:
            return None
        values = values[key]
    return values


def edited(text: str, before: Any, edits: Edits, name: str) -> tuple[str, bool]:
    """The manifest with edits, and whether its comments are still there.

    They are lost where an edit cannot be made in the text without changing another value too, as below an
    anchor that others refer to, and where the manifest is JSON: it is then written anew, with all its values.
    """
    if name.endswith(".json"):
        return written(applied(before, edits)), False
    if not edits:
        return text, True
    wanted = applied(before, edits)
    kept = _in_text(text, edits)
    if kept is not None and _same(plain(kept), wanted):
        return kept, True
    return written(wanted), False


def plain(text: str, name: str = "study.yaml") -> Any:
    """The plain values of a manifest; None where there are none or something is wrong."""
    problems = Problems()
    found = parse(name, text.encode(), problems)
    return None if found is None or problems else found.values


def applied(values: Any, edits: Edits) -> Any:
    """The values with the edits, the old ones untouched."""
    made = _copy(values)
    _apply(made, edits, lambda value: value)
    return made


def places(values: Any, edits: Edits) -> dict[KeyPath, KeyPath]:
    """Where each new row is in the edited manifest, by its path in the form."""
    return _apply(_copy(values), edits, lambda value: value)


def place(path: KeyPath, edits: Edits, new: Mapping[KeyPath, KeyPath]) -> KeyPath | None:
    """Where a field of the form is in the edited manifest; None where it is there no more."""
    for row, at in new.items():
        if path[: len(row)] == row:
            path = (*at, *path[len(row) :])
    moved: list[Key] = list(path)
    for gone in edits.removed:
        if path[: len(gone)] == gone:
            return None
        depth = len(gone) - 1
        row_gone, own = gone[depth], path[depth] if len(path) > depth else None
        if isinstance(row_gone, int) and isinstance(own, int) and path[:depth] == gone[:depth]:
            moved[depth] = int(moved[depth]) - (own > row_gone)
    return tuple(moved)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _copy(v) for k, v in value.items()}
    return [_copy(v) for v in value] if isinstance(value, list) else value


def _apply(tree: Any, edits: Edits, of: Any) -> dict[KeyPath, KeyPath]:
    """Make the edits in a tree; where the new rows came to be, before others were removed."""
    new: dict[KeyPath, KeyPath] = {}
    for path, value in edits.values.items():
        _put(tree, path, None if value is None else of(value))
    for path, row in edits.rows.items():
        given = {key: value for key, value in row.items() if key != NAME}
        if get(tree, path[:-1]) is None:
            _put(tree, path[:-1], {} if path[0] in NAMED else [])
        around = get(tree, path[:-1])
        if isinstance(around, list):
            around.append(of(given))
            new[path] = (*path[:-1], len(around) - 1)
        else:
            name = _free(str(row.get(NAME) or given.get("kind") or "table"), around)
            around[name] = of(given)
            new[path] = (*path[:-1], name)
    for path in sorted(edits.removed, key=lambda p: [str(k).zfill(9) for k in p], reverse=True):
        around = get(tree, path[:-1])
        if around is not None:
            del around[path[-1]]
    return new


NAMED = ("tables", "precision_targets")


def _free(name: str, taken: Mapping[str, Any]) -> str:
    number, made = 1, name
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    return made


def _put(tree: Any, path: KeyPath, value: Any) -> None:
    """Set the value at a path, with the groups around it; None takes it away."""
    for key in path[:-1]:
        inner = get(tree, (key,))
        if inner is None:
            if value is None:
                return
            tree[key] = {}
        tree = tree[key]
    if value is not None:
        tree[path[-1]] = value
    elif isinstance(tree, MutableMapping):
        tree.pop(path[-1], None)


def _in_text(text: str, edits: Edits) -> str | None:
    """The text with the edits made in its tree of keys, comments and anchors; None where that fails."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = WIDE
    yaml.indent(mapping=2, sequence=4, offset=2)
    try:
        tree = yaml.load(text)
        for path in edits.values:
            _settle(tree, path)
        _apply(tree, edits, lambda value: yaml.load(_flow(value)))
        out = io.StringIO()
        yaml.dump(tree, out)
    except (YAMLError, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        return None
    return out.getvalue()


def _settle(tree: Any, path: KeyPath) -> None:
    """Take away the mark of a guess from the lines of a field that somebody has changed."""
    for n in range(1, len(path) + 1):
        comments = getattr(get(tree, path[: n - 1]), "ca", None)
        for token in filter(None, comments.items.get(path[n - 1], ()) if comments else ()):
            found = token if isinstance(token, list) else [token]
            for one in found:
                one.value = GUESS.sub("", one.value)


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same, numbers as typed."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[k], other[k]) for k in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and _typed(one) == _typed(other)


def _typed(value: Any) -> Any:
    return getattr(value, "text", value)


def written(values: Mapping[str, Any]) -> str:
    """Plain values as YAML: a line for each field, a line for each row."""
    return "\n".join(_lines(values, "")) + "\n"


def _lines(values: Mapping[str, Any], indent: str) -> Iterable[str]:
    for key, value in values.items():
        if (
            isinstance(value, Mapping)
            and value
            and (not indent or any(isinstance(v, Mapping) for v in value.values()))
        ):
            yield f"{indent}{_word(str(key))}:"
            yield from _lines(value, f"{indent}  ")
        elif isinstance(value, list) and any(isinstance(v, Mapping) for v in value):
            yield f"{indent}{_word(str(key))}:"
            yield from (f"{indent}  - {_flow(item)}" for item in value)
        else:
            yield f"{indent}{_word(str(key))}: {_flow(value)}"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_word(str(k))}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _word(value) if isinstance(value, str) else str(_typed(value))


def _word(text: str) -> str:
    """A text as YAML reads it: bare where it is a word, between quotation marks otherwise."""
    if PLAIN.fullmatch(text) and text.casefold() not in NOT_WORDS and len(text) < WIDE:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())
