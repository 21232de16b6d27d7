"""The OpenAPI document as a person reads it, with an example for each operation."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from doctest import DocTestParser
from functools import cache
from inspect import Parameter, signature
from types import FunctionType
from typing import Any, get_origin

from trustreport.service.access.guard import bearer
from trustreport.service.client import Client, operations
from trustreport.service.client.operations import API, Operation
from trustreport.service.ids import PATTERN

Schema = Mapping[str, Any]
NAMES = re.compile(r"\{(\w+)\}")
ID = "01k6w3zpg0v8h5x2r9m4t7c1qd"
NO_CLIENT = "No API token may do this: log in with a browser."


def curl(method: str, path: str, operation: Schema, body: Any) -> str:
    """A command; names of rows are variables of the shell."""
    address = NAMES.sub(lambda name: f"${name[1].upper()}", path)
    content, credentials = _content(operation), _credentials(operation)
    needed = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "query" and p.get("required")]
    query = "&".join(f"{name}=${name.upper()}" for name in needed)
    words = [f'curl "$TRUSTREPORT_URL{address}{f"?{query}" if query else ""}"']
    if method != "get":
        words[0] = words[0].replace("curl ", f"curl -X {method.upper()} ", 1)
    if path == "/metrics":
        words.append('-H "Authorization: Bearer $TRUSTREPORT_METRICS_TOKEN"')
    elif bearer.scheme_name in credentials:
        words.append('-H "Authorization: Bearer $TRUSTREPORT_TOKEN"')
    elif credentials:
        words.append("-b cookies.txt" + ("" if method == "get" else ' -H "X-CSRF-Token: $CSRF"'))
    elif path.startswith("/api/"):
        words.append("-c cookies.txt")
    if "application/json" in content:
        quoted = as_json(body).replace("'", "'\\''")
        words += ['-H "Content-Type: application/json"', f"-d '{quoted}'"]
    elif "multipart/form-data" in content:
        words.append("-F files=@study.yaml -F files=@readings.csv")
    elif "application/zip" in content:
        words.append('-H "Content-Type: application/zip" --data-binary @my-study.zip')
    if _is_file(operation) and path.startswith("/api/"):
        words.append("-OJ" if path.endswith("}") else "-o " + path.rpartition("/")[2])
    return " \\\n  ".join(words)


@cache
def methods() -> dict[str, str]:
    """How the client's method for an operation is called, by the operation's method and path."""
    found: dict[str, str] = {}
    calls = [function for function in vars(Client).values() if isinstance(function, FunctionType)]
    for function in sorted(calls, key=lambda function: not _examples(function)):
        for name in function.__code__.co_names:
            if isinstance(operation := getattr(operations, name, None), Operation):
                key = f"{operation.method.lower()} {API}{operation.path.replace(':path', '')}"
                found.setdefault(key, _examples(function) or _call(function))
    return found


def _examples(function: FunctionType) -> str:
    """What the docstring of a function shows."""
    shown = DocTestParser().get_examples(function.__doc__ or "")
    return "".join(example.source for example in shown).rstrip()


def _call(function: FunctionType) -> str:
    """A call of a method of the client with what it needs; of an iterator in a loop."""
    _, *rest = signature(function).parameters.values()
    needed = [
        f"{one.name}={one.name}" if one.kind is Parameter.KEYWORD_ONLY else one.name
        for one in rest
        if one.default is Parameter.empty
    ]
    call = f"client.{function.__name__}({', '.join(needed)})"
    is_iterator = get_origin(signature(function).return_annotation) is Iterator
    return f"for item in {call}:\n    print(item)" if is_iterator else call


def python(method: str, path: str, operation: Schema, body: Any) -> str:
    """The client's method, or its call of any operation."""
    if path.startswith("/api/") and bearer.scheme_name not in _credentials(operation):
        return f"# {NO_CLIENT}"
    if path == "/metrics":
        return "# For Prometheus, with a token of its own."
    text = "f" if "{" in path else ""
    sent = f", json={body!r}" if _content(operation) else ""
    return methods().get(f"{method} {path}", f'client.call("{method.upper()}", {text}"{path}"{sent})')


def _credentials(operation: Schema) -> set[str]:
    return {name for one in operation.get("security", ()) for name in one}


def _content(operation: Schema) -> Schema:
    found: Schema = operation.get("requestBody", {}).get("content", {})
    return found


def sample(schema: Schema, schemas: Schema) -> Any:
    """A value that a schema takes: what is required, or the first field where nothing is."""
    if "$ref" in schema:
        return sample(resolved(schema, schemas), schemas)
    if "examples" in schema:
        return schema["examples"][0]
    if "enum" in schema or "const" in schema:
        return schema.get("enum", [schema.get("const")])[0]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0], schemas)
    if schema.get("pattern") == PATTERN:
        return ID
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        chosen = schema.get("required") or list(properties)[:1]
        return {field: sample(properties[field], schemas) for field in chosen}
    if schema.get("type") == "array":
        return [sample(schema["items"], schemas)] if schema.get("minItems") else []
    plain = {"integer": schema.get("minimum", 1), "number": 0.5, "boolean": True, "string": "..."}
    if schema.get("format") == "date-time":
        return "2027-01-01T00:00:00Z"
    return schema.get("default") if schema.get("default") is not None else plain.get(schema.get("type", ""))


def as_json(value: Any) -> str:
    """A value as a person types it."""
    return json.dumps(value, ensure_ascii=False)


METHODS = ("get", "post", "put", "patch", "delete")
PLAIN = {
    ("string", "date-time"): "time (ISO 8601)",
    ("string", "date"): "date (ISO 8601)",
    ("string", "binary"): "file",
    ("string", ""): "text",
    ("integer", ""): "whole number",
    ("number", ""): "number",
    ("boolean", ""): "true or false",
    ("null", ""): "null",
    ("object", ""): "object",
}
LIMITS = (
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {}"),
    ("maxItems", "at most {}"),
    ("minimum", "from {}"),
    ("maximum", "to {}"),
)
PAGE = "Page_"  # a schema of a page of a list begins so


@dataclass(frozen=True, slots=True)
class ApiWord:
    """A part of the name of a type; `link` leads to its shape."""

    text: str
    link: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True)
class ApiField:
    """A field or parameter. `where` is path or query for a parameter."""

    name: str
    kind: tuple[ApiWord, ...]
    required: bool
    limits: str
    text: str
    where: str = ""


@dataclass(frozen=True, slots=True)
class ApiBody:
    """What a request sends or an answer is, in one format; `fields` where it is a request's."""

    media: str
    kind: tuple[ApiWord, ...]
    fields: tuple[ApiField, ...] = ()


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """An answer that is no refusal."""

    status: str
    text: str
    bodies: tuple[ApiBody, ...]


@dataclass(frozen=True, slots=True)
class ApiOperation:
    """One method of one path."""

    anchor: str
    method: str
    path: str
    texts: tuple[str, ...]
    parameters: tuple[ApiField, ...]
    bodies: tuple[ApiBody, ...]
    answers: tuple[ApiAnswer, ...]
    curl: str
    python: str


@dataclass(frozen=True, slots=True)
class ApiSection:
    """The operations on one kind of thing."""

    name: str
    text: str
    operations: tuple[ApiOperation, ...]


@dataclass(frozen=True, slots=True)
class ApiShape:
    """A type of an answer, or a part of one."""

    name: str
    text: str
    fields: tuple[ApiField, ...]


@dataclass(frozen=True, slots=True)
class ApiReference:
    """All of it."""

    sections: tuple[ApiSection, ...]
    shapes: tuple[ApiShape, ...]


def anchor_of(method: str, path: str) -> str:
    """Where an operation is on the page.

    >>> anchor_of("post", "/api/v1/studies/{study}/versions")
    'post-studies-study-versions'
    """
    words = path.removeprefix(API).replace("{", "").replace("}", "").strip("/").split("/")
    return "-".join([method, *words])


def read(document: Mapping[str, Any]) -> ApiReference:
    """What a document says, in the order of its tags and paths."""
    schemas: Mapping[str, Schema] = document["components"]["schemas"]
    texts = {tag["name"]: tag["description"] for tag in document["tags"]}
    by_tag: dict[str, list[ApiOperation]] = {name: [] for name in texts}
    for path, methods in document["paths"].items():
        for method in METHODS:
            if method in methods:
                operation = methods[method]
                found = by_tag.setdefault(operation["tags"][0], [])
                found.append(_operation(method, path, operation, schemas))
    sections = tuple(ApiSection(name, texts.get(name, ""), tuple(found)) for name, found in by_tag.items())
    return ApiReference(sections, _shapes(sections, schemas))


def _operation(method: str, path: str, operation: Schema, schemas: Mapping[str, Schema]) -> ApiOperation:
    parameters = [p for p in operation.get("parameters", ()) if p["in"] in ("path", "query")]
    content = _content(operation)
    json_body = content.get("application/json")
    body = None if json_body is None else sample(json_body["schema"], schemas)
    bodies = tuple(
        ApiBody(media, kind(one["schema"]), fields(resolved(one["schema"], schemas)))
        for media, one in content.items()
    )
    return ApiOperation(
        anchor_of(method, path),
        method.upper(),
        path,
        tuple(" ".join(part.split()) for part in operation.get("description", "").split("\n\n")),
        tuple(
            _field(
                p["name"], {"description": p.get("description", ""), **p["schema"]}, p["required"], p["in"]
            )
            for p in parameters
        ),
        bodies,
        tuple(_answers(operation)),
        curl(method, path, operation, body),
        python(method, path, operation, body),
    )


def _is_file(operation: Schema) -> bool:
    """Whether the answer is a file and no JSON."""
    done = {status: answer for status, answer in operation["responses"].items() if status < "400"}
    return "200" in done and not any(answer.get("content") for answer in done.values())


def _answers(operation: Schema) -> Iterator[ApiAnswer]:
    for status, answer in operation["responses"].items():
        if status >= "400":
            continue
        text = "" if answer["description"] == "Successful Response" else answer["description"]
        content = answer.get("content", {})
        yield ApiAnswer(
            status, text, tuple(ApiBody(media, kind(body["schema"])) for media, body in content.items())
        )


def resolved(schema: Schema, schemas: Mapping[str, Schema]) -> Schema:
    """A schema, or the one that it refers to."""
    return schemas[_name(schema)] if "$ref" in schema else schema


def fields(schema: Schema) -> tuple[ApiField, ...]:
    """The fields of an object."""
    required = schema.get("required", ())
    return tuple(
        _field(name, shape, name in required) for name, shape in schema.get("properties", {}).items()
    )


def _field(name: str, schema: Schema, required: bool, where: str = "") -> ApiField:
    return ApiField(name, kind(schema), required, _limits(schema), schema.get("description", ""), where)


def kind(schema: Schema) -> tuple[ApiWord, ...]:
    """The type of a value in words."""
    if "$ref" in schema:
        name = _name(schema)
        if name.startswith(PAGE):
            item = name.removeprefix(PAGE).rstrip("_")
            return (ApiWord("page", "#lists"), ApiWord(" of "), ApiWord(item, f"#shape-{item}"))
        return (ApiWord(name, f"#shape-{name}"),)
    if "anyOf" in schema:
        return _joined([kind(part) for part in schema["anyOf"]], " or ")
    if "enum" in schema:
        return _joined([(ApiWord(str(value), code=True),) for value in schema["enum"]], ", ")
    if "const" in schema:
        return (ApiWord(str(schema["const"]), code=True),)
    if schema.get("type") == "array":
        return (ApiWord("list of "), *kind(schema.get("items", {})))
    if isinstance(more := schema.get("additionalProperties"), Mapping):
        return (ApiWord("object, each value "), *kind(more))
    known = (schema.get("type", ""), schema.get("format", ""))
    return (ApiWord(PLAIN.get(known) or PLAIN.get((known[0], "")) or "any value"),)


def _joined(parts: list[tuple[ApiWord, ...]], word: str) -> tuple[ApiWord, ...]:
    found: list[ApiWord] = []
    for part in parts:
        found += [*([ApiWord(word)] if found else []), *part]
    return tuple(found)


def _limits(schema: Schema) -> str:
    """What a value may be, and what it is where left out."""
    inner: Schema = next((s for s in schema.get("anyOf", ()) if s.get("type") != "null"), schema)
    said = [
        text.format(f"{int(inner[name]):,}")
        for name, text in LIMITS
        if inner.get(name) is not None and abs(inner[name]) < 1e12
    ]
    if schema.get("default") is not None:
        said.append(f"default {as_json(schema['default'])}")
    return ", ".join(said)


def _name(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _shapes(sections: tuple[ApiSection, ...], schemas: Mapping[str, Schema]) -> tuple[ApiShape, ...]:
    """Every shape that something leads to, by name; errors first."""
    operations = [operation for section in sections for operation in section.operations]
    kinds = [field.kind for op in operations for field in op.parameters]
    kinds += [field.kind for op in operations for body in op.bodies for field in body.fields]
    kinds += [body.kind for op in operations for answer in op.answers for body in answer.bodies]
    todo = ["ProblemDetails", *_linked(kinds)]
    found: dict[str, ApiShape] = {}
    while todo:
        name = todo.pop(0)
        if name in found:
            continue
        found[name] = ApiShape(name, schemas[name].get("description", ""), fields(schemas[name]))
        todo += _linked([field.kind for field in found[name].fields])
    return tuple(sorted(found.values(), key=lambda shape: (shape.name != "ProblemDetails", shape.name)))


def _linked(kinds: list[tuple[ApiWord, ...]]) -> list[str]:
    return [
        word.link.removeprefix("#shape-")
        for words in kinds
        for word in words
        if word.link.startswith("#shape-")
    ]
