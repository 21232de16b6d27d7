"""The keys that code and templates say, read from their source: in full, or as patterns with open places.

Types are not followed. A name in a key is replaced by what it is bound to in sight: a constant of a module, a
loop over one, an assignment in the same function, what a function of the module returns, a `Literal`. Else
it may be any text. A key that cannot be said at all raises where it is made (`fail_where_made`).

What a module says by ``text = Texts(NAME)`` has that name before its key.
"""

import ast
import re
import string
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment
from jinja2 import nodes as jinja

from trustreport.measures.note import GROUP
from trustreport.vocabulary.messages import Message, catalogue

ROOT = Path(__file__).resolve().parent.parent
SAYING = frozenset(("say", "message", "Message", "words"))  # what takes a key, by its name
ANY = "\0"  # any text, of one character or more
MOST = 200  # texts that a key may stand for before it is left open
DEEPEST = 14  # steps from a key to what a name in it is bound to
OPEN = frozenset((ANY,))
UNKNOWN = ast.Slice()  # an expression that may be anything

Texts = frozenset[str]
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp


@dataclass(frozen=True)
class Said:
    """A key that is said somewhere.

    `texts` are the keys that it may be, `values` the names of the values given with it (None: not known), and
    `guarded` says that the code looks whether the catalogue has the key.
    """

    where: str
    texts: Texts
    values: frozenset[str] | None
    guarded: bool = False


@dataclass
class Module:
    """A file of the package with what its names stand for."""

    file: Path
    tree: ast.Module
    constants: dict[str, ast.expr] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.constants[node.targets[0].id] = node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                self.constants[node.target.id] = node.value
            elif isinstance(node, ast.ImportFrom) and node.module:
                self.imported |= {a.asname or a.name: (node.module, a.name) for a in node.names}


@cache
def modules() -> dict[str, Module]:
    """Every module of the package, parsed once."""
    found = {}
    for file in sorted((ROOT / "trustreport").rglob("*.py")):
        parts = file.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(file, ast.parse(file.read_text(encoding="utf-8")))
    return found


@dataclass(frozen=True)
class Scope:
    """Where an expression is: its module, and the functions and comprehensions around it, outermost first."""

    module: Module
    around: tuple[ast.AST, ...] = ()

    def texts(self, node: ast.expr, depth: int = 0) -> Texts:
        """What an expression may be as text."""
        if depth > DEEPEST:
            return OPEN
        match node:
            case ast.Constant(value=str() | int() as value):
                return frozenset((str(value),))
            case ast.JoinedStr(values=parts):
                return joined(self.texts(part, depth + 1) for part in parts)
            case ast.FormattedValue(value=value, format_spec=None):
                return self.texts(value, depth + 1)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return joined((self.texts(left, depth + 1), self.texts(right, depth + 1)))
            case ast.IfExp(body=body, orelse=orelse):
                return self.texts(body, depth + 1) | self.texts(orelse, depth + 1)
            case ast.Subscript(value=table):
                return self.items(table, depth + 1, of_values=True)
            case ast.Call(func=ast.Name(id=name)):
                return self._returned(name, depth + 1)
            case ast.Name(id=name):
                return self._bound(name, depth + 1)
        return OPEN

    def items(self, node: ast.expr, depth: int, *, of_values: bool = False) -> Texts:
        """What the items of a collection may be as text; of a mapping its keys, or its values."""
        if depth > DEEPEST:
            return OPEN
        match node:
            case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items) if items:
                own = (self.texts(item, depth + 1) for item in items if not isinstance(item, ast.Starred))
                others = (self.items(i.value, depth + 1) for i in items if isinstance(i, ast.Starred))
                return frozenset().union(*own, *others)
            case ast.Dict(keys=keys, values=values) if keys and all(keys):
                held = values if of_values else [key for key in keys if key]
                return frozenset().union(*(self.texts(item, depth + 1) for item in held))
            case ast.Subscript(value=ast.Name(id="Literal"), slice=ast.Tuple(elts=items)):
                return frozenset().union(*(self.texts(item, depth + 1) for item in items))
            case ast.Call(func=ast.Attribute(value=table, attr="values")):
                return self.items(table, depth + 1, of_values=True)
            case ast.Call(func=ast.Name(id="get_args" | "sorted" | "list" | "tuple" | "set"), args=[inner]):
                return self.items(inner, depth + 1)
            case ast.Name(id=name):
                value, scope = self.constant(name)
                return scope.items(value, depth + 1, of_values=of_values) if value else OPEN
        return OPEN

    def constant(self, name: str) -> tuple[ast.expr | None, "Scope"]:
        """The value of a name of this module or of the one that it is imported from."""
        module = self.module
        for _ in range(4):
            if name in module.constants:
                return module.constants[name], Scope(module)
            if name not in module.imported or module.imported[name][0] not in modules():
                break
            source, name = module.imported[name]
            module = modules()[source]
        return None, self

    def _returned(self, name: str, depth: int) -> Texts:
        """What a function of this module returns; an empty text stands for nothing and is not said."""
        function = next((n for n in self.module.tree.body if getattr(n, "name", "") == name), None)
        if not isinstance(function, ast.FunctionDef):
            return OPEN
        inside = Scope(self.module, (function,))
        values = (value for value in bindings(function).get("return", ()) if isinstance(value, ast.expr))
        return frozenset().union(*(inside.texts(value, depth) for value in values)) - {""} or OPEN

    def _bound(self, name: str, depth: int) -> Texts:
        """What a name may be: bound by a loop or in the function around it, else a constant."""
        for i, node in reversed(list(enumerate(self.around))):
            outer = Scope(self.module, self.around[:i])
            if isinstance(node, Comprehension):
                for loop in node.generators:
                    if name in names_of(loop.target):
                        return outer._looped(name, loop.target, loop.iter, depth)
            if isinstance(node, Function):
                return outer._local(name, node, depth)
        value, scope = self.constant(name)
        return scope.texts(value, depth) if value else OPEN

    def _looped(self, name: str, target: ast.expr, over: ast.expr, depth: int) -> Texts:
        """What a loop binds a name to: an item, or a place of a table of tuples or of a mapping's items."""
        if isinstance(target, ast.Name):
            return self.items(over, depth)
        if not isinstance(target, ast.Tuple):
            return OPEN
        place = next((i for i, t in enumerate(target.elts) if isinstance(t, ast.Name) and t.id == name), None)
        if place is None:
            return OPEN
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute) and over.func.attr == "items":
            return self.items(over.func.value, depth, of_values=place == 1)
        scope: Scope = self
        table: ast.expr | None = over
        if isinstance(over, ast.Name):
            table, scope = self.constant(over.id)
        if isinstance(table, ast.Tuple | ast.List) and table.elts:
            rows = [row.elts for row in table.elts if isinstance(row, ast.Tuple | ast.List)]
            if len(rows) == len(table.elts) and all(place < len(row) for row in rows):
                return frozenset().union(*(scope.texts(row[place], depth) for row in rows))
        return OPEN

    def _local(self, name: str, function: Function, depth: int) -> Texts:
        """What a function binds a name to, by assignment, loop or argument; else what is around it does."""
        inside = Scope(self.module, (*self.around, function))
        found: list[Texts] = []
        added: list[Texts] = []
        for bound in bindings(function).get(name, ()):
            match bound:
                case ast.For(target=target, iter=over):
                    found.append(inside._looped(name, target, over, depth))
                case ast.arg(annotation=annotation):
                    found.append(self.items(annotation, depth) if annotation else OPEN)
                case ast.AugAssign(op=ast.Add(), value=value):
                    added.append(inside.texts(value, depth))
                case ast.expr():
                    found.append(inside.texts(bound, depth))
        texts = frozenset().union(*found) if found else self._bound(name, depth)
        for more in added:
            texts |= joined((texts, more))
        return texts


@cache
def bindings(function: Function) -> dict[str, list[ast.AST]]:
    """What a function binds each name to (an expression, a loop, an argument), and what it returns."""
    found: dict[str, list[ast.AST]] = {}

    def bind(target: ast.expr, value: ast.AST) -> None:
        places = target.elts if isinstance(target, ast.Tuple) else []
        values = value.elts if isinstance(value, ast.Tuple) else []
        if places and len(places) == len(values):
            for one, own in zip(places, values):
                bind(one, own)
        else:
            in_full = isinstance(target, ast.Name) or isinstance(value, ast.For)
            for name in names_of(target):
                found.setdefault(name, []).append(value if in_full else UNKNOWN)

    for node in ast.walk(function):
        match node:
            case ast.Assign(targets=[target], value=value) | ast.NamedExpr(target=target, value=value):
                bind(target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                bind(target, value)
            case ast.AugAssign(target=target):
                bind(target, node)
            case ast.For(target=target):
                bind(target, node)
            case ast.withitem(optional_vars=ast.expr() as target):
                bind(target, UNKNOWN)
            case ast.Return(value=ast.expr() as value):
                found.setdefault("return", []).append(value)
            case ast.arg(arg=name):
                found.setdefault(name, []).append(node)
    return found


def names_of(target: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}


def joined(parts: Iterable[Texts]) -> Texts:
    """Every combination of the parts; the parts with many texts are left open."""
    made: list[str] = [""]
    for part in parts:
        several = part if len(made) * len(part) <= MOST else OPEN
        made = [a + b for a, b in product(made, several)]
    return frozenset(made)


def pattern(text: str) -> re.Pattern[str]:
    """What a text with open places matches: each is a word of the key, or the path of a field of the plan."""
    return re.compile((".+" if text.startswith("plan.") else "[^.]+").join(map(re.escape, text.split(ANY))))


@cache
def said() -> tuple[Said, ...]:
    """Every key that is said in the package and in the templates."""
    return tuple(one for module in modules().values() for one in said_in(module)) + tuple(said_in_templates())


def said_in(module: Module) -> Iterator[Said]:
    """Every key that is said in one module."""
    yield from _walk(module.tree, Scope(module))


def _walk(node: ast.AST, scope: Scope, asked: frozenset[str] = frozenset()) -> Iterator[Said]:
    """The keys said under a node; `asked` are expressions that the catalogue was asked for."""
    if isinstance(node, ast.Call):
        yield from said_by_texts(node, scope)
    for key in said_by(node):
        known = isinstance(node, ast.Call) and all(k.arg for k in node.keywords)
        values = frozenset(str(k.arg) for k in node.keywords) if known else None
        where = f"{scope.module.file.relative_to(ROOT)}:{node.lineno}"
        yield Said(where, scope.texts(key), values, ast.unparse(key) in asked)
    if isinstance(node, ast.IfExp | ast.If):
        match node.test:
            case ast.Compare(left=key, ops=[ast.In()], comparators=[ast.Name(id=name)]) if name in SAYING:
                asked |= {ast.unparse(key)}
    if isinstance(node, Function | Comprehension):
        scope = Scope(scope.module, (*scope.around, node))
    for child in ast.iter_child_nodes(node):
        yield from _walk(child, scope, asked)


def said_by(node: ast.AST) -> list[ast.expr]:
    """The key of a call or a note; the headings of the columns that a table, `heads` or a function has."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[key, *_]) if name in SAYING:
            return [key]
        case ast.Call(func=ast.Name(id="note"), args=[key, *_]):
            return [ast.BinOp(ast.Constant(GROUP), ast.Add(), key)]
        case ast.Call(func=ast.Name(id="stated"), args=[_, key, *_]):
            return [key]
        case ast.Call(
            func=ast.Name(id="heads"), args=[_, ast.Constant(value=prefix), ast.Constant(value=keys), *_]
        ):
            return [ast.Constant(f"{prefix}.{key}") for key in keys.split()]
        case ast.Call(func=ast.Name(id="table"), args=[_, _, _, columns]):
            specs = (node for node in ast.walk(columns) if isinstance(node, ast.Tuple) and node.elts)
            return [spec.elts[0] for spec in specs if is_key(spec.elts[0])]
        case ast.Tuple(elts=[key, ast.Lambda(), *_]) if is_key(key):
            return [key]
    return []


def said_by_texts(call: ast.Call, scope: Scope) -> Iterator[Said]:
    """What the call of a `Texts`, or of a method of it, says."""
    match call.func:
        case ast.Name(id=name):
            method = ""
        case ast.Attribute(value=ast.Name(id=name), attr=method):
            pass
        case _:
            return
    made, home = scope.constant(name)
    match made:
        case ast.Call(func=ast.Name(id="Texts"), args=[prefix]):
            before = joined((home.texts(prefix), frozenset(".")))
        case _:
            return
    given = dict(zip(ARGUMENTS.get(method, ("key",)), call.args))
    given |= {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
    key = scope.texts(given["key"]) if "key" in given else OPEN
    where = f"{scope.module.file.relative_to(ROOT)}:{call.lineno}"
    match method:
        case "":
            yield Said(where, joined((before, key)), values_given(call))
        case "of_estimate":
            forms = [joined((key, frozenset(("_no_interval", "_undefined"))))]
            forms.append(scope.texts(given["whole"]) if "whole" in given else key)
            yield from (Said(where, joined((before, form)), None) for form in forms)
        case "figure":
            forms = ["_alt", *([] if "caption" in given else [""])]
            yield Said(where, joined((before, frozenset(("figure.",)), key, frozenset(forms))), None)
        case "column":
            yield Said(where, joined((before, frozenset(("column.",)), key)), None)
        case "estimates" if "label" not in given:
            yield Said(where, joined((before, frozenset(("label.",)), OPEN)), None)
        case "finding" if "not_shown" in given:
            yield Said(
                where, joined((before, frozenset(("not_shown.",)), scope.items(given["not_shown"], 0))), None
            )
        case "table":
            words = " ".join(one.value for one in ast.walk(given["columns"]) if is_text(one)).split()
            own = {f"column{word.partition(':')[0].rstrip('?')}" for word in words if word.startswith(".")}
            yield Said(where, joined((before, frozenset(own))), None)


# The arguments of the methods of `Texts`, in their order.
ARGUMENTS = {
    "table": ("id", "caption", "columns", "rows"),
    "estimates": ("id", "caption", "results", "label", "leads"),
    "figure": ("id", "drawing", "key", "caption"),
    "finding": ("parts", "results", "not_shown"),
}


def is_text(node: ast.AST) -> bool:
    """Whether this is a text in full, by itself or within one that is put together."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def values_given(call: ast.Call) -> frozenset[str] | None:
    """The values that a call of a `Texts` gives its text, those of estimates among them; None: not known."""
    if not all(keyword.arg for keyword in call.keywords):
        return None
    names = {str(keyword.arg) for keyword in call.keywords}
    given = names | {f"{name}_{end}" for name in names for end in ("low", "high")} | {"level"}
    return frozenset(given | {"value", "low", "high", "reason"} if len(call.args) > 1 else given)


def is_key(node: ast.expr) -> bool:
    """Whether this is the text of a key, in full or put together."""
    whole = isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value
    return whole or isinstance(node, ast.JoinedStr)


def literals() -> frozenset[str]:
    """Every text of the code, of which some are keys that tables hold until they are said."""
    trees = (module.tree for module in modules().values())
    nodes = (node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return frozenset(node.value for node in nodes if isinstance(node.value, str))


def said_in_templates() -> Iterator[Said]:
    """Every key that a template says."""
    environment = Environment(autoescape=True)
    for file in sorted((ROOT / "templates").rglob("*.j2")):
        tree = environment.parse(file.read_text(encoding="utf-8"))
        for call in tree.find_all(jinja.Call):
            if isinstance(call.node, jinja.Name) and call.node.name == "say" and call.args:
                known = call.dyn_kwargs is None
                values = frozenset(k.key for k in call.kwargs) if known else None
                yield Said(f"{file.relative_to(ROOT)}:{call.lineno}", in_template(call.args[0]), values)


def in_template(node: jinja.Node) -> Texts:
    """What an expression of a template may be as text."""
    match node:
        case jinja.Const(value=str() as value):
            return frozenset((value,))
        case jinja.Concat(nodes=parts):
            return joined(map(in_template, parts))
        case jinja.Add(left=left, right=right):
            return joined((in_template(left), in_template(right)))
        case jinja.CondExpr(expr1=one, expr2=other):
            return in_template(one) | (in_template(other) if other else OPEN)
    return OPEN


class Unsayable(Exception):
    """A message that the catalogue has no text for, or whose text names a value that the message lacks."""


@cache
def wanted(key: str) -> frozenset[str]:
    """The values that the text of a key names, in any of its forms."""
    text = catalogue().text(key)
    forms = [text] if isinstance(text, str) else text.values()
    return frozenset(name for form in forms for _, name, _, _ in string.Formatter().parse(form) if name)


def fail_where_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a message that cannot be said raise `Unsayable` where it is made, not where somebody renders it."""
    made = Message.__init__

    def checked(self: Message, key: str, values: Mapping[str, Any] | None = None) -> None:
        try:
            missing = wanted(key) - {"n"} - (values or {}).keys()
        except KeyError as error:
            raise Unsayable(error.args[0]) from None
        if missing:
            raise Unsayable(f"{key} without {', '.join(sorted(missing))}")
        made(self, key, values or {})

    monkeypatch.setattr(Message, "__init__", checked)
