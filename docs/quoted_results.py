"""Write the tables of numbers that pages of this folder quote from the reports of examples; or check them.

    python docs/quoted_results.py [--check]

A page names the rows in a comment, and the table follows it:

    <!-- results: knee-mri-readings
    change in sensitivity = decision_benefit.mean_benefit endpoint=sensitivity
    -->

After the id come parts of the scope (`dataset=Northhaven; parameters.prevalence=0.3`). The primary entry is
taken, unless an `analysis` is named; of several that fit, the one of the whole and not of a part of the
cases.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from trustreport import assess, read_study
from trustreport.report.tables import interval_text, value_text
from trustreport.vocabulary.messages import catalogue
from trustreport.vocabulary.results import Result

HERE = Path(__file__).resolve().parent
QUOTE = re.compile(
    r"(<!-- results: (?P<example>[\w-]+)\n(?P<rows>.*?)-->\n)(?P<table>(?:\|[^\n]*\n)*)", re.DOTALL
)
ROW = re.compile(r"^(?P<label>.+?) = (?P<id>[\w.]+)(?: (?P<scope>.*))?$")
PARTS = (
    "set",
    "subgroup",
    "reader",
    "site",
    "class",
    "raters",
    "version",
    "advice_type",
    "complexity",
    "population",
)


def wanted(pages: Iterable[Path]) -> dict[str, set[str]]:
    """The dimensions that must be asked of each example."""
    found: dict[str, set[str]] = {}
    for page in pages:
        for quote in QUOTE.finditer(page.read_text("utf-8")):
            for line in quote["rows"].splitlines():
                found.setdefault(quote["example"], set()).add(_row(line)["id"].partition(".")[0])
    return found


def filled(text: str, results: Mapping[str, tuple[Result, ...]]) -> str:
    """A page with its tables as the results have them."""

    def table(quote: re.Match[str]) -> str:
        lines = ["| | estimate | 95% CI | n |", "| --- | --- | --- | --- |"]
        lines += [_line(line, results[quote["example"]]) for line in quote["rows"].splitlines()]
        return quote[1] + "".join(f"{line}\n" for line in lines)

    return QUOTE.sub(table, text)


def _row(line: str) -> re.Match[str]:
    found = ROW.match(line)
    if found is None:
        raise ValueError(f"no row of a table: {line}")
    return found


def _line(line: str, results: Iterable[Result]) -> str:
    row, say = _row(line), catalogue()
    scope = dict(part.strip().split("=", 1) for part in (row["scope"] or "").split(";") if part.strip())
    found = single_result(row["id"], scope, results)
    n = say.numbers.count(found.estimate.n) if found.estimate.n else say("table.empty")
    return f"| {row['label']} | {value_text(found, say)} | {interval_text(found, say)} | {n} |"


def single_result(id: str, scope: Mapping[str, str], results: Iterable[Result]) -> Result:
    """The entry that a row names.

    Raises
    ------
    LookupError : no entry fits, or several do
    """
    fitting = [(_unnamed(r, scope), r) for r in results if r.id == id and _fits(r, scope)]
    least = min((n for n, _ in fitting), default=0)
    best = [r for n, r in fitting if n == least]
    if len(best) != 1:
        raise LookupError(f"{id} {dict(scope)}: {[r.scope for r in best] or 'nothing'}")
    return best[0]


def _flat(result: Result) -> dict[str, Any]:
    """The scope, its parameters by dotted names."""
    scope = dict(result.scope)
    parameters = scope.pop("parameters", None) or {}
    scope["method"] = result.method
    return scope | {f"parameters.{name}": value for name, value in parameters.items()}


def _fits(result: Result, scope: Mapping[str, str]) -> bool:
    flat = _flat(result)
    wanted = result.primary or bool({"analysis", "method"} & set(scope))
    return wanted and all(str(flat.get(key)) == value for key, value in scope.items())


def _unnamed(result: Result, scope: Mapping[str, str]) -> int:
    """In how many ways an entry is narrower than what was named."""
    return sum(key in PARTS or key.startswith("parameters.") for key in _flat(result) if key not in scope)


def main() -> None:
    """Write the tables anew, or say which pages quote something else."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    pages = sorted(HERE.rglob("*.md"))
    results = {
        example: assess(*read_study(HERE.parent / "examples" / example), only=sorted(dimensions)).results
        for example, dimensions in sorted(wanted(pages).items())
    }
    changed = []
    for page in pages:
        text = page.read_text("utf-8")
        new = filled(text, results)
        if new != text:
            changed.append(f"{page.relative_to(HERE)} quotes other numbers than the examples give")
            if not check:
                page.write_text(new, "utf-8")
    if check and changed:
        sys.exit("\n".join([*changed, "Run python docs/quoted_results.py and look at what changed."]))


if __name__ == "__main__":
    main()
