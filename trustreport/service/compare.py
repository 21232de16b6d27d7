"""What changed from one report to another, by their results."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from trustreport.service.storage.types import canonical

Change = Literal["same", "changed", "added", "gone"]
NUMBERS = ("value", "low", "high", "n")


def compare(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every result and check of two ``results.json``, and what became of it; what is the same is left out.

    Results are matched by id, scope and method; checks by number and scope.
    """
    found = []
    for part, named in (("results", _result), ("checks", _check)):
        before = {named(entry): entry for entry in old[part]}
        after = {named(entry): entry for entry in new[part]}
        for name in [*before, *(n for n in after if n not in before)]:
            was, now = before.get(name), after.get(name)
            change: Change = "gone" if now is None else "added" if was is None else "changed"
            if was is not None and now is not None and _shown(part, was) == _shown(part, now):
                continue
            entry = now or was or {}
            found.append(
                {
                    "part": part,
                    "change": change,
                    "id": entry.get("id") or entry.get("check"),
                    "scope": entry["scope"],
                    "method": entry.get("method", ""),
                    "primary": bool(entry.get("primary")),
                    "old": was and _shown(part, was),
                    "new": now and _shown(part, now),
                }
            )
    return found


def about(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a report was made of: device, kind, inputs and versions."""
    origin = document["provenance"]
    return {
        "device": document["study"]["device"],
        "kind": document["study"]["kind"],
        "inputs": {entry["file"]: entry["sha256"] for entry in origin["inputs"]},
        "trustreport": origin["trustreport"],
        "seed": origin["seed"],
    }


def read(text: bytes) -> dict[str, Any]:
    """A ``results.json``."""
    document: dict[str, Any] = json.loads(text)
    return document


def _result(entry: Mapping[str, Any]) -> str:
    return canonical([entry["id"], entry["scope"], entry["method"]])


def _check(entry: Mapping[str, Any]) -> str:
    return canonical([entry["check"], entry["scope"]])


def _shown(part: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    keys = NUMBERS if part == "results" else ("status", "severity", "message")
    return {key: entry[key] for key in keys}
