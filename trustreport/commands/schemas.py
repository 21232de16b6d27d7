"""What is generated: JSON Schemas of manifest, results, packs, sites and statements, and tables of docs/.

``python -m trustreport.commands.schemas`` writes them; with ``--check`` it only says whether what is there is
what the models and the register give.
"""

import json
import re
import sys
from collections.abc import Iterable
from math import inf, isfinite
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from trustreport.assessment.checks import CHECKS
from trustreport.assessment.checks.check import EVERYTHING, Check
from trustreport.report.results_model import ResultsDocument
from trustreport.report.signatures.predicates import (
    EVALUATED,
    PREREGISTERED,
    EvalResult,
    PreRegisteredCriteria,
)
from trustreport.study.limits import Limit
from trustreport.study.plan import Plan
from trustreport.study.pooled.site_file import SiteFile
from trustreport.vocabulary.kinds import KINDS
from trustreport.vocabulary.messages import Catalogue, catalogue
from trustreport.vocabulary.packs import Pack
from trustreport.vocabulary.quantities import ROWS
from trustreport.vocabulary.quantity import RANGES, SCALES, Quantity
from trustreport.vocabulary.resources import folder

DIALECT = "https://json-schema.org/draft/2020-12/schema"
MODELS: dict[str, type[BaseModel]] = {
    "manifest": Plan,
    "results": ResultsDocument,
    "pack": Pack,
    "site": SiteFile,
    "pre-registered-criteria": PreRegisteredCriteria,
    "eval-result": EvalResult,
}
IDS = {"pre-registered-criteria": PREREGISTERED, "eval-result": EVALUATED}


def schema(name: str) -> dict[str, Any]:
    """The schema of one of `MODELS`."""
    model = MODELS[name]
    body = model.model_json_schema(by_alias=True)
    return {"$schema": DIALECT, "$id": IDS.get(name, f"urn:trustreport:{name}:1"), **body}


def text(name: str) -> str:
    """The schema as the file that is kept."""
    return json.dumps(schema(name), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


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


ENTRY = re.compile(r"^- \*\*(P\d\d) .*$", re.MULTILINE)
WRITTEN = re.compile(r"\S+ [BWN]\*\* (.+?)( \*Limits\*.*| \*Withholds\*.*)?")


def with_facts(text: str, checks: Iterable[Check]) -> str:
    """docs/checks.md with letter, limits and withheld verdicts of each check as the register has them.

    What makes a check fire, and what it needs, is kept as it is written.

    Raises
    ------
    ValueError : an entry of no check, or of another form
    """
    by_id = {check.id: check for check in checks}

    def entry(found: re.Match[str]) -> str:
        written = WRITTEN.fullmatch(found[0].removeprefix("- **"))
        if found[1] not in by_id or written is None:
            raise ValueError(f"no entry of a check: {found[0]}")
        return _of_check(by_id[found[1]], written[1])

    return ENTRY.sub(entry, text)


def _of_check(check: Check, written: str) -> str:
    said = f"- **{check.id} {check.severity}** {written}"
    if check.limits:
        said += f" *Limits* {'; '.join(_of_limit(name, limit) for name, limit in check.limits.items())}."
    if check.severity == "B" and check.withholds is not EVERYTHING:
        said += f" *Withholds* {check.withholds.says}."
    return said


def _of_limit(name: str, limit: Limit) -> str:
    """A limit with its customary value, and the side to which the manifest may move it."""
    value = "" if limit.customary is None else f" {limit.customary:g}"
    return f"`{name}`{value}" + (f" or {limit.stricter}" if limit.stricter else "")


def with_quantities(text: str, rows: Iterable[Quantity], say: Catalogue) -> str:
    """docs/quantities.md, its first text kept; a line of the list holds quantities that are alike."""
    alike: dict[str, list[str]] = {}
    for row in rows:
        alike.setdefault(_facts(row), []).append(_named(row, say))
    lines = [f"- **{facts}**: {', '.join(names)}" for facts, names in sorted(alike.items())]
    before = text.partition("| kind |")[0].partition("- **")[0]
    return "\n".join([before + _of_kinds(), "", *lines]) + "\n"


def _of_kinds() -> str:
    """The kinds of endpoints as a table."""
    heads = (
        "kind",
        "a cell holds",
        "truth",
        "leads with it",
        "claim with it",
        "leads without",
        "claim without",
    )
    rows = [
        (
            f"`{name}`",
            kind.expected,
            kind.truth or "none",
            *(cell for leads, claim in zip(kind.leads, kind.claim) for cell in (_coded(leads), claim)),
        )
        for name, kind in KINDS.items()
    ]
    return "\n".join([_line(*heads), _line(*["---"] * len(heads)), *(_line(*row) for row in rows)])


def _coded(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _facts(row: Quantity) -> str:
    """What is known of a quantity; range and scale where they are not those of the unit."""
    low, high = (f"{end:g}" if isfinite(end) else "" for end in (row.low, row.high))
    within = f"{low} to {high}" if low and high else f"from {low}" if low else f"to {high}" if high else "any"
    unit: list[str] = [row.unit]
    if (row.low, row.high) != RANGES.get(row.unit, (-inf, inf)):
        unit.append(within)
    if row.scale != SCALES.get(row.unit, "identity"):
        unit.append(row.scale)
    facts = [" ".join(unit)]
    if row.better is not None:
        facts.append(f"best {row.better:g}" if isinstance(row.better, float) else row.better)
    facts += [] if row.no_effect is None else [f"no effect {row.no_effect:g}"]
    facts += [] if row.claim == "accuracy" else [row.claim]
    marks = (("D", row.counts_decisions), ("P", row.by_prevalence), ("R", row.needs_probabilities))
    facts += [mark for mark, has in marks if has]
    return ", ".join(facts)


def _named(row: Quantity, say: Catalogue) -> str:
    """A quantity, its name where that says more than its id, and the quantity that is the same number."""
    name = say(f"quantity.{row.id}")
    said = [] if name.replace(" ", "_").casefold() == row.id else [name]
    said += [f"the same as `{row.same_as}`"] if row.same_as else []
    return f"`{row.id}`" + (f" ({'; '.join(said)})" if said else "")


def _line(*cells: str) -> str:
    return "".join(f"| {cell} " if cell else "| " for cell in cells) + "|"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
