"""The manifest: YAML 1.2 or JSON to a `Plan`, with the line of every key kept for messages.

The text is composed to a tree of nodes and the plain values are built here, because a message needs the line,
a number the characters that were typed, and hostile text (tags, aliases of aliases, endless nesting) a bound.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from trustreport.study.ingest.files import decoded
from trustreport.study.ingest.problems import (
    RETYPE,
    SEEN,
    Key,
    KeyPath,
    Manifest,
    Problems,
    did_you_mean,
    dotted,
    listed,
    quoted,
    unseen,
)
from trustreport.study.plan import Plan

MOST_BYTES = 5_000_000
MOST_NODES = 500_000
TAG = "tag:yaml.org,2002:"
LEFT_OUT: Any = object()


class TypedFloat(float):
    """A number that remembers the characters typed: 0.80, not 0.8."""

    text: str


class TypedInt(int):
    """A whole number that remembers the characters typed: 007, not 7."""

    text: str


class NotPlain(Exception):
    """The text is not a manifest at all; the message says why, at a line."""

    def __init__(self, found: str, line: int | None = None, expected: str = "", mend: str = "") -> None:
        super().__init__(found)
        self.found, self.line, self.expected, self.mend = found, line, expected, mend


@dataclass
class _Builder:
    """Plain values from a tree of nodes; notes lines and problems on the way."""

    file: str
    problems: Problems
    lines: dict[KeyPath, int] = field(default_factory=dict)
    open_nodes: set[int] = field(default_factory=set)
    n_nodes: int = 0

    def value(self, node: Any, path: KeyPath) -> Any:
        """The value of one node and of all below it."""
        self.n_nodes += 1
        line = node.start_mark.line + 1
        self.lines.setdefault(path, line)
        if self.n_nodes > MOST_NODES:
            raise NotPlain(f"more than {MOST_NODES:,} values once aliases are followed", line)
        if id(node) in self.open_nodes:
            raise NotPlain("an alias that contains itself", line)
        if node.id == "scalar":
            return self._scalar(node, path, line)
        if str(node.tag) not in (TAG + "map", TAG + "seq"):
            return self._refuse(node, path, line)
        self.open_nodes.add(id(node))
        if node.id == "sequence":
            made: Any = [self.value(child, (*path, i)) for i, child in enumerate(node.value)]
        else:
            made = self._mapping(node, path)
        self.open_nodes.discard(id(node))
        return made

    def _mapping(self, node: Any, path: KeyPath) -> dict[str, Any]:
        made: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        seen: dict[str, int] = {}
        for key, child in node.value:
            line = key.start_mark.line + 1
            if str(key.tag) == TAG + "merge":
                merged |= self._merged(child, path)
                continue
            if key.id != "scalar":
                self._problem(path, line, "a list or a group as a key", "a word")
                continue
            name = _joined(key.value)
            if unseen(name):
                self._problem(path, line, f"a key {quoted(name)}", SEEN, RETYPE)
                continue
            if name in seen:
                self.problems.at(
                    self.file,
                    f"key {quoted(name)} appears twice in one group",
                    mend="Keep one of the two.",
                    rows=(seen[name], line),
                    column=dotted((*path, name)),
                )
                continue
            seen[name] = line
            self.lines[(*path, name)] = line
            made[name] = self.value(child, (*path, name))
        return {**{k: v for k, v in merged.items() if k not in made}, **made}

    def _merged(self, node: Any, path: KeyPath) -> dict[str, Any]:
        parts = node.value if node.id == "sequence" else [node]
        merged: dict[str, Any] = {}
        for part in parts:
            value = self.value(part, path)
            if not isinstance(value, dict):
                raise NotPlain("a merge key << of something that is no group", part.start_mark.line + 1)
            merged = {**value, **merged}
        return merged

    def _scalar(self, node: Any, path: KeyPath, line: int) -> Any:
        kind = str(node.tag).removeprefix(TAG)
        text = _joined(node.value)
        if kind in ("str", "timestamp", "value"):
            if unseen(text):
                self._problem(path, line, quoted(text), SEEN, RETYPE)
            return text
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() in ("true", "yes", "on", "y")
        if kind in ("int", "float"):
            return _number(text, kind)
        return self._refuse(node, path, line)

    def _refuse(self, node: Any, path: KeyPath, line: int) -> None:
        self._problem(path, line, f"a tag {quoted(node.tag)}", "plain values", "Remove the tag.")

    def _problem(self, path: KeyPath, line: int, found: str, expected: str = "", mend: str = "") -> None:
        self.problems.at(self.file, f"found {found}", expected, mend, rows=(line,), column=dotted(path))


def _number(text: str, kind: str) -> Any:
    plain = text.replace("_", "")
    try:
        if kind == "int":
            whole = TypedInt(plain, 0) if plain.lstrip("+-")[:2] in ("0x", "0o", "0b") else TypedInt(plain)
            whole.text = text
            return whole
        special = plain.lower().lstrip("+-")
        if special in (".inf", ".nan"):
            plain = plain.replace(".", "")
        broken = TypedFloat(plain)
        broken.text = text
        return broken
    except ValueError:
        return text


def _joined(text: str) -> str:
    """JSON writes signs beyond the first plane as two halves: join them; a lone half has no meaning."""
    if not any("\ud800" <= c <= "\udfff" for c in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def composed(text: str) -> Any:
    """The tree of nodes of a YAML or JSON text; raises `NotPlain` where there is none."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        raise NotPlain(*_syntax(error.problem or error.context or "", line)) from None
    except YAMLError as error:
        line = text.count("\n", 0, getattr(error, "position", 0)) + 1
        raise NotPlain("a character that text does not contain", line, "plain text") from None
    except RecursionError:
        raise NotPlain("groups nested too deeply") from None
    except (ValueError, AttributeError, TypeError, IndexError, AssertionError, KeyError, NotImplementedError):
        raise NotPlain("text that is neither YAML nor JSON") from None


def _syntax(problem: str, line: int | None) -> tuple[str, int | None, str, str]:
    mends = {
        r"'\t'": "Indent with spaces, not with tabs.",
        "found undefined alias": "Write the value out, or name it with & before it is used.",
        "single document": "Keep one document: remove the line ---.",
        "mapping values are not allowed": "Put a text that contains a colon between quotation marks.",
        "escape character": "In double quotes write \\\\ for a backslash, or use single quotes.",
        "cannot start any token": "Put the text between quotation marks.",
    }
    mend = next(
        (m for k, m in mends.items() if k in problem), "Check the indentation, brackets and quotes there."
    )
    return f"not valid YAML ({problem})", line, "", mend


def parse(file: str, data: bytes, problems: Problems) -> Manifest | None:
    """The values and lines of a manifest; None where it cannot be read at all (the problem is noted)."""
    try:
        if len(data) > MOST_BYTES:
            raise NotPlain("too large a file", None, f"at most {MOST_BYTES:,} bytes", "Put data into tables.")
        text, _ = decoded(data)
        if file.endswith(".json"):
            text = _json_as_yaml(text)
        node = composed(text)
        if node is None:
            raise NotPlain("no content", 1, "groups such as report and device")
        if node.id != "mapping":
            raise NotPlain(f"a {node.id}", 1, "groups such as report and device", "Start with report:.")
        builder = _Builder(file, problems)
        problems.manifest = Manifest(file, builder.value(node, ()), builder.lines)
        return problems.manifest
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.at(file, "found bytes that are not UTF-8", "UTF-8", "Save the file as UTF-8.", rows=(line,))
    except NotPlain as error:
        rows = () if error.line is None else (error.line,)
        problems.at(file, f"found {error.found}", error.expected, error.mend, rows=rows)
    except RecursionError:
        problems.at(file, "found groups nested too deeply")
    return None


def _json_as_yaml(text: str) -> str:
    """JSON that YAML reads alike: no tabs (a JSON string holds none), line ends of Unicode escaped."""
    text = text.replace("\t", " ")
    for sign in "\u0085\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def plan_of(manifest: Manifest, problems: Problems) -> tuple[Plan | None, set[Key]]:
    """The plan, and the groups in which something had to be left out to get one.

    What is wrong becomes a problem and is left out, so that the tables can still be read and their problems
    told in the same breath.
    """
    problems.manifest = manifest
    values, touched = _filled(_copy(manifest.values), Plan), set[Key]()
    for attempt in range(8):
        try:
            return Plan.model_validate(values), touched
        except ValidationError as error:
            faults = list(_faults(values, error))
            if attempt == 0:
                _report(manifest, faults, problems)
            for path, kind, _ in faults:
                touched.add(path[0] if path else "")
                _leave_out(values, path, kind)
            values = _pruned(values)
        except RecursionError:
            problems.at(manifest.file, "found groups nested too deeply")
            break
    return None, touched


def _filled(values: Any, group: type[BaseModel]) -> Any:
    """The values without keys that hold nothing: optional ones count as absent, a needed group as empty."""
    if not isinstance(values, dict):
        return values
    kept = {}
    for key, value in values.items():
        info = _field(group, key)
        if info is None:
            kept[key] = value
            continue
        inner = _model(info.annotation)
        if value is None and not info.is_required():
            continue
        if value is None and inner is info.annotation:
            value = {}
        if inner is not None and isinstance(value, list):
            value = [_filled(item, inner) for item in value]
        elif inner is not None and inner in (info.annotation, *get_args(info.annotation)):
            value = _filled(value, inner)
        kept[key] = value
    return kept


def _field(group: type[BaseModel], key: Key) -> Any:
    """The field of a group that a key spells, or None."""
    found = (
        info
        for name, info in group.model_fields.items()
        if key == name or key in getattr(info.validation_alias, "choices", ())
    )
    return next(found, None)


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _copy(v) for k, v in value.items()}
    return [_copy(v) for v in value] if isinstance(value, list) else value


def _faults(values: Any, error: ValidationError) -> Iterator[tuple[KeyPath, str, list[Any]]]:
    """Each path at fault with the kind of its fault and its errors (a union has one for each member)."""
    grouped: dict[tuple[KeyPath, str], list[Any]] = {}
    for e in error.errors(include_url=False):
        path = _existing(values, e["loc"])
        kind = e["type"] if e["type"] in ("missing", "extra_forbidden") else "wrong"
        if kind == "missing" and isinstance(e["loc"][-1], int):
            kind = "wrong"  # a list that is too short
        if kind == "missing":
            path = (*path, e["loc"][-1])
        grouped.setdefault((path, kind), []).append(e)
    wrong = {path for path, kind in grouped if kind == "wrong"}
    for (path, kind), errors in grouped.items():
        if kind == "wrong" or not any(path[: len(w)] == w for w in wrong):
            yield path, kind, errors


def _existing(values: Any, loc: tuple[Key, ...]) -> KeyPath:
    """The part of a pydantic location that the manifest has; names of union members are left out."""
    path: list[Key] = []
    for key in loc:
        inside = (isinstance(values, dict) and key in values) or (
            isinstance(values, list) and isinstance(key, int) and key < len(values)
        )
        if inside:
            values = values[key]
            path.append(key)
    return tuple(path)


def _report(manifest: Manifest, faults: list[tuple[KeyPath, str, list[Any]]], problems: Problems) -> None:
    for path, kind, errors in sorted(faults, key=lambda f: manifest.line(f[0])):
        found, expected, mend = _words(manifest, path, kind, errors)
        problems.declared(path, found, expected, mend)


def _words(manifest: Manifest, path: KeyPath, kind: str, errors: list[Any]) -> tuple[str, str, str]:
    if kind == "missing":
        return "this key is missing", _choices(path) or "a value", f"Add {path[-1]}: to this group."
    if kind == "extra_forbidden":
        return f"unknown key {quoted(path[-1])}", "", _unknown(path)
    value = manifest.at(path)
    what = "a group" if isinstance(value, dict) else _list(value) if isinstance(value, list) else None
    shown = "nothing" if value is None else what or quoted(getattr(value, "text", value))
    expected = list(dict.fromkeys(expectation(e) for e in errors))
    return f"found {shown}", " or ".join(e for e in expected if e), ""


def _list(value: list[Any]) -> str:
    return f"a list of {len(value)} value{'s' * (len(value) != 1)}"


def _choices(path: KeyPath) -> str:
    """The words that a field with a fixed choice takes."""
    from typing import Literal, get_args, get_origin

    group = model_at(path[:-1])
    info = group.model_fields.get(str(path[-1])) if group else None
    return listed(get_args(info.annotation)) if info and get_origin(info.annotation) is Literal else ""


PLAIN = {
    "string_type": "text",
    "finite_number": "a finite number",
    "int_parsing_size": "a smaller whole number",
    **dict.fromkeys(("bool_parsing", "bool_type"), "true or false"),
    **dict.fromkeys(("float_parsing", "float_type"), "a number"),
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float"), "a whole number"),
    **dict.fromkeys(("tuple_type", "list_type"), "a list"),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "a group of keys"),
}
BOUNDS = {
    "greater_than": "above",
    "greater_than_equal": "at least",
    "less_than": "below",
    "less_than_equal": "at most",
}


def expectation(error: Any) -> str:
    """What pydantic wanted, in plain words."""
    kind, ctx = error["type"], error.get("ctx", {})
    if kind in PLAIN:
        return PLAIN[kind]
    if kind == "literal_error":
        return str(ctx["expected"]).replace("'", '"')
    if kind == "value_error":
        return str(ctx["error"])
    if kind in ("too_short", "too_long", "missing_tuple"):
        return f"a list of {ctx.get('min_length', ctx.get('max_length', ''))} values"
    if kind in BOUNDS:
        return f"a number {BOUNDS[kind]} {next(iter(ctx.values()))}"
    if "date" in kind:
        return "a date as YYYY-MM-DD"
    if kind == "missing":
        return (
            f"a list of at least {error['loc'][-1] + 1} values" if isinstance(error["loc"][-1], int) else ""
        )
    if kind == "extra_forbidden":
        return ""
    return str(error["msg"]).removeprefix("Input should be ").removeprefix("Value error, ")


def _unknown(path: KeyPath) -> str:
    group = model_at(path[:-1])
    known = list(names(group)) if group else []
    meant = did_you_mean(str(path[-1]), known)
    if meant:
        return meant
    homes = [g for g, info in Plan.model_fields.items() if path[-1] in names(_model(info.annotation))]
    if homes and len(path) == 1:
        return f"It belongs to the group {listed(homes)}."
    return f"Known here: {', '.join(sorted(known))}." if known else ""


def names(group: type[BaseModel] | None) -> set[str]:
    """All spellings of the keys of a group."""
    found: set[str] = set()
    for name, info in group.model_fields.items() if group else ():
        found.add(name)
        found.update(str(a) for a in getattr(info.validation_alias, "choices", ()))
    return found


def model_at(path: KeyPath) -> type[BaseModel] | None:
    """The model of the group at a path, or None where there is no group."""
    group: type[BaseModel] | None = Plan
    for key in path:
        if isinstance(key, int) or group is None:
            continue
        info = _field(group, key)
        if info is not None:
            group = _model(info.annotation)
        elif not _is_named(path, key):
            return None
    return group


def _is_named(path: KeyPath, key: Key) -> bool:
    """Whether the key is a free name (of a table, of a precision target)."""
    i = path.index(key)
    return i > 0 and path[i - 1] in ("tables", "precision_targets")


def _model(annotation: Any) -> type[BaseModel] | None:
    """The model inside an annotation such as ``tuple[Arm, ...] | None``."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for m in map(_model, get_args(annotation)) if m), None)


DEFAULTS: dict[str, Any] = {"report": {"kind": "certification"}, "device": {}}


def _leave_out(values: Any, path: KeyPath, kind: str) -> None:
    """Take the value at fault out of the copy, with the group that cannot be without it."""
    if kind == "missing":
        path = path if len(path) == 1 else path[:-1]
    top = path[0] if path else ""
    if len(path) == 1 or (kind == "missing" and top in DEFAULTS):
        values.pop(top, None)
        if top in DEFAULTS:
            values[top] = dict(DEFAULTS[top])
        return
    for key in path[:-1]:
        values = values[key] if _has(values, key) else None
    if isinstance(values, dict):
        values.pop(path[-1], None)
    elif isinstance(values, list) and isinstance(path[-1], int) and path[-1] < len(values):
        values[path[-1]] = LEFT_OUT


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _pruned(v) for k, v in value.items()}
    return [_pruned(v) for v in value if v is not LEFT_OUT] if isinstance(value, list) else value


def _has(values: Any, key: Key) -> bool:
    if isinstance(values, dict):
        return key in values
    return isinstance(values, list) and isinstance(key, int) and key < len(values)


def found_in(folder: Path) -> list[Path]:
    """The manifests of a study folder."""
    return [p for p in (folder / f"study.{end}" for end in ("yaml", "yml", "json")) if p.is_file()]
