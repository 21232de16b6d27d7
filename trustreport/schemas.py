"""The JSON Schemas of the manifest, of results.json and of a rule pack, generated from their models.

``python -m trustreport.schemas`` writes them to ``schemas/``; with ``--check`` it only says whether what
lies there is what the models give.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from trustreport.packs import Pack
from trustreport.plan import Plan
from trustreport.report.document import Document
from trustreport.resources import folder

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MODELS: dict[str, type[BaseModel]] = {"manifest": Plan, "results": Document, "pack": Pack}


def schema(name: str) -> dict[str, Any]:
    """The schema of ``manifest``, ``results`` or ``pack``."""
    model = MODELS[name]
    body = model.model_json_schema(by_alias=True)
    return {"$schema": DIALECT, "$id": f"urn:trustreport:{name}:1", **body}


def text(name: str) -> str:
    """The schema as the file that is kept."""
    return json.dumps(schema(name), indent=1, ensure_ascii=False) + "\n"


def drift(place: Path) -> list[str]:
    """Names of the files in `place` that differ from what the models give."""
    files = {name: place / f"{name}.schema.json" for name in MODELS}
    return [
        file.name
        for name, file in files.items()
        if not file.is_file() or file.read_text(encoding="utf-8") != text(name)
    ]


def main(arguments: list[str]) -> int:
    """Write the schemas, or with ``--check`` compare them; 1 when they differ."""
    if arguments == ["--check"]:
        changed = drift(folder("schemas"))
        for name in changed:
            print(
                f"schemas/{name} is not what the models give: run python -m trustreport.schemas",
                file=sys.stderr,
            )
        return 1 if changed else 0
    for name in MODELS:
        (folder("schemas") / f"{name}.schema.json").write_text(text(name), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
