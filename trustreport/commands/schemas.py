"""What is generated: the JSON Schemas of manifest, results.json and rule packs, and tables of docs/.

``python -m trustreport.commands.schemas`` writes them; with ``--check`` it only says whether what is there is
what the models and the register give.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from trustreport.assessment.checks import CHECKS
from trustreport.commands.documented import with_facts, with_quantities
from trustreport.report.results_model import ResultsDocument
from trustreport.study.plan import Plan
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.packs import Pack
from trustreport.vocabulary.quantities import ROWS
from trustreport.vocabulary.resources import folder

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MODELS: dict[str, type[BaseModel]] = {"manifest": Plan, "results": ResultsDocument, "pack": Pack}


def schema(name: str) -> dict[str, Any]:
    """The schema of ``manifest``, ``results`` or ``pack``."""
    model = MODELS[name]
    body = model.model_json_schema(by_alias=True)
    return {"$schema": DIALECT, "$id": f"urn:trustreport:{name}:1", **body}


def text(name: str) -> str:
    """The schema as the file that is kept."""
    return json.dumps(schema(name), indent=1, ensure_ascii=False) + "\n"


def generated(root: Path) -> dict[Path, str]:
    """The files of a checkout that are generated, wholly or in part, with their texts."""
    register, table = root / "docs" / "checks.md", root / "docs" / "quantities.md"
    schemas = {root / "schemas" / f"{name}.schema.json": text(name) for name in MODELS}
    return schemas | {
        register: with_facts(register.read_text(encoding="utf-8"), CHECKS),
        table: with_quantities(table.read_text(encoding="utf-8"), ROWS, catalogue()),
    }


def drift(root: Path) -> list[str]:
    """Names of the generated files of a checkout that are not what they should be."""
    return [
        str(file.relative_to(root))
        for file, wanted in generated(root).items()
        if not file.is_file() or file.read_text(encoding="utf-8") != wanted
    ]


def main(arguments: list[str]) -> int:
    """Write the generated files, or with ``--check`` compare them; 1 when they differ."""
    root = folder("schemas").parent
    if arguments == ["--check"]:
        changed = drift(root)
        for name in changed:
            print(f"{name} is not what it is generated from: run ./run schemas", file=sys.stderr)
        return 1 if changed else 0
    for file, wanted in generated(root).items():
        file.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
