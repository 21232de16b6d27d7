"""Examples of requests: with curl, made from the document, and with the client, where it has a method."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from textwrap import dedent
from typing import Any

from trustreport.service.ids import PATTERN
from trustreport.vocabulary.resources import folder

NAMES = re.compile(r"\{(\w+)\}")
ID = "01k6w3zpg0v8h5x2r9m4t7c1qd"
# Values that say more than "text".
SAMPLES: dict[str, Any] = {
    "email": "reader@hospital.example",
    "admin_email": "admin@hospital.example",
    "admin_name": "Administrator",
    "name": "Chest CT",
    "organisation": "Hospital",
    "link": "...",
    "password": "...",
    "old": "...",
    "new": "...",
    "meaning": "Complete and plausible.",
    "url": "https://receiver.example.org/trustreport",
    "days": 90,
    "every_days": 90,
    "events": ["report.made", "job.failed"],
    "manifest": {"report": {"kind": "certification"}, "device": {"trade_name": "Example aid"}},
    "formats": ["html", "pdf", "json"],
}
# Paths below /api/v1 that no token opens; what has no account yet needs no session either.
ANYBODY = {"post /setup", "post /invitations", "post /session", "post /resets"}
SESSION = {
    "delete /session",
    "get /sessions",
    "delete /sessions",
    "delete /sessions/{session}",
    "post /account/password",
    "post /account/question",
    "get /account/factors",
    "patch /account/factors/{factor}",
    "post /account/factors/{factor}/removal",
    "post /account/totp",
    "post /account/totp/confirmation",
    "post /account/passkeys",
    "post /account/passkeys/options",
    "post /account/recovery-codes",
    "post /tokens",
    "post /organisations",
    "post /users/{user}/confirmation",
}
NO_CLIENT = "No API token may do this: log in with a browser."


@dataclass(frozen=True, slots=True)
class OperationRequest:
    """An operation as far as examples need it."""

    method: str
    path: str
    parameters: Sequence[Mapping[str, Any]]
    content: Mapping[str, Any]
    schemas: Mapping[str, Any]
    is_file: bool

    @property
    def key(self) -> str:
        """The name of the operation in the tables here."""
        return f"{self.method} {self.path.removeprefix('/api/v1')}"

    @property
    def body(self) -> Any:
        """An example of the JSON that is sent; None where none is."""
        json_body = self.content.get("application/json")
        return None if json_body is None else sample(json_body["schema"], self.schemas)


def curl(request: OperationRequest) -> str:
    """A command; names of rows are variables of the shell."""
    address = NAMES.sub(lambda name: f"${name[1].upper()}", request.path)
    needed = [p["name"] for p in request.parameters if p["in"] == "query" and p.get("required")]
    query = "&".join(f"{name}=${name.upper()}" for name in needed)
    words = [f'curl "$TRUSTREPORT_URL{address}{f"?{query}" if query else ""}"']
    if request.method != "get":
        words[0] = words[0].replace("curl ", f"curl -X {request.method.upper()} ", 1)
    if request.path == "/metrics":
        words.append('-H "Authorization: Bearer $TRUSTREPORT_METRICS_TOKEN"')
    elif request.key in SESSION:
        words.append("-b cookies.txt" + ("" if request.method == "get" else ' -H "X-CSRF-Token: $CSRF"'))
    elif request.key in ANYBODY:
        words.append("-c cookies.txt")
    elif request.path.startswith("/api/"):
        words.append('-H "Authorization: Bearer $TRUSTREPORT_TOKEN"')
    if "application/json" in request.content:
        quoted = as_json(request.body).replace("'", "'\\''")
        words += ['-H "Content-Type: application/json"', f"-d '{quoted}'"]
    elif "multipart/form-data" in request.content:
        words.append("-F files=@study.yaml -F files=@readings.csv")
    elif "application/zip" in request.content:
        words.append('-H "Content-Type: application/zip" --data-binary @my-study.zip')
    if request.is_file and request.path.startswith("/api/"):
        words.append("-OJ" if request.path.endswith("}") else "-o " + request.path.rpartition("/")[2])
    return " \\\n  ".join(words)


@cache
def methods() -> dict[str, str]:
    """The client's method for an operation, by the operation's name."""
    text = (folder("templates") / "service" / "reference_examples.txt").read_text("utf-8")
    found = (block.partition("\n") for block in text.strip().split("\n\n"))
    return {name: dedent(code) for name, _, code in found}


def python(request: OperationRequest) -> str:
    """The client's method, or its call of any operation."""
    if request.key in SESSION | ANYBODY:
        return f"# {NO_CLIENT}"
    if request.key in methods():
        return methods()[request.key]
    text = "f" if "{" in request.path else ""
    body = f", json={request.body!r}" if request.content else ""
    return f'client.call("{request.method.upper()}", {text}"{request.path}"{body})'


def sample(schema: Mapping[str, Any], schemas: Mapping[str, Any], name: str = "") -> Any:
    """A value that a schema takes: what is required, or the first field where nothing is."""
    if "$ref" in schema:
        return sample(schemas[str(schema["$ref"]).rpartition("/")[2]], schemas, name)
    if "enum" in schema or "const" in schema:
        return schema.get("enum", [schema.get("const")])[0]
    if "anyOf" in schema:
        return sample(schema["anyOf"][0], schemas, name)
    if schema.get("pattern") == PATTERN:
        return ID
    if name in SAMPLES:
        return SAMPLES[name]
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        chosen = schema.get("required") or list(properties)[:1]
        return {field: sample(properties[field], schemas, field) for field in chosen}
    if schema.get("type") == "array":
        return [sample(schema["items"], schemas, name)] if schema.get("minItems") else []
    plain = {"integer": schema.get("minimum", 1), "number": 0.5, "boolean": True, "string": "..."}
    if schema.get("format") == "date-time":
        return "2027-01-01T00:00:00Z"
    return schema.get("default") if schema.get("default") is not None else plain.get(schema.get("type", ""))


def as_json(value: Any) -> str:
    """A value as a person types it."""
    return json.dumps(value, ensure_ascii=False)
