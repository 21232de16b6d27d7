"""An attacker on a public report, who reads results.json and report.html and looks for few people.

    python -m tests.report.inversion OUT/results.json ...

It knows no study. Counts, shares times their denominators and net benefit give tables of decisions; ROC
curves, decision curves and calibration bins give how many cases of a class lie above a cut. What is in 1 to
``least - 1``, or follows by subtraction, is named.
"""

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from trustreport.measures.disclosure.counts import Count
from trustreport.measures.disclosure.invert import recovered

PARTS = ("site", "subgroup", "version", "class", "reader", "complexity", "advice_type")
CELLS = {"tp": "positives", "fn": "positives", "fp": "negatives", "tn": "negatives"}
RIGHT = {"sensitivity": ("tp", "fn"), "specificity": ("tn", "fp")}
WRONG = {"false_negative_rate": ("fn", "tp"), "false_positive_rate": ("fp", "tn")}
SHARES = {"accuracy", "ppv", "npv", "prevalence", "accuracy_at_coverage", "error_rate"}
EXACT = 1e-9
Base = tuple[tuple[str, str], ...]


def found_by_attack(data: dict[str, Any], least: int = 5) -> list[str]:
    """What an attacker learns that nobody should: a line for each small number."""
    return [*_single(data, least), *_by_subtraction(data, least), *_along_cuts(data, least)]


def _entries(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    for entry in data["results"]:
        if entry["value"] is not None and not entry["id"].startswith("reported."):
            yield entry["scope"].get("endpoint") or entry["id"].rpartition(".")[2], entry["scope"], entry


def _whole(value: float) -> int | None:
    return round(value) if abs(value - round(value)) < 1e-6 * max(1.0, abs(value)) else None


def _single(data: dict[str, Any], least: int) -> Iterator[str]:
    for name, scope, entry in _entries(data):
        if "arms" in scope or "reference" in scope or "datasets" in scope or "sets" in scope:
            continue
        value, n = entry["value"], entry["n"]
        if entry["unit"] == "count" and 0 < value < least:
            yield f"{entry['id']} {scope}: {value}"
        if name in {*RIGHT, *WRONG, *SHARES} and entry["unit"] == "proportion":
            counted = _whole(value * n)
            if counted is not None and (0 < counted < least or 0 < n - counted < least):
                yield f"{entry['id']} {scope}: {counted} of {n}"


def _tables(data: dict[str, Any]) -> dict[tuple[Base, str, str], dict[str, int]]:
    """Cells by base, kind of part and name of the part ("" and "" of the whole)."""
    found: dict[tuple[Base, str, str], dict[str, int]] = defaultdict(dict)
    for name, scope, entry in _entries(data):
        if {"arms", "candidates", "reference", "parameters", "threshold"} & scope.keys():
            continue
        part = next(((kind, str(scope[kind])) for kind in PARTS if kind in scope), ("", ""))
        base = tuple(
            sorted((k, str(v)) for k, v in scope.items() if k not in (*PARTS, "endpoint", "analysis"))
        )
        cells = found[base, *part]
        value, n = entry["value"], entry["n"]
        if name in CELLS and entry["unit"] == "count":
            cells[name] = round(value)
        elif name in {**RIGHT, **WRONG} and (counted := _whole(value * n)) is not None:
            one, other = {**RIGHT, **WRONG}[name]
            cells[one], cells[other] = counted, n - counted
        elif name == "prevalence" and (counted := _whole(value * n)) is not None:
            cells["positives"], cells["negatives"] = counted, n - counted
    return found


def _by_subtraction(data: dict[str, Any], least: int) -> Iterator[str]:
    tables = _tables(data)
    for (base, kind, _), whole in list(tables.items()):
        if kind:
            continue
        kinds: dict[str, dict[str, dict[str, int]]] = defaultdict(dict)
        for (other, kind_of_part, name), cells in tables.items():
            if other == base and kind_of_part:
                division = name.partition(": ")[0] if kind_of_part == "subgroup" else ""
                kinds[f"{kind_of_part} {division}"][name] = cells
        for division, parts in kinds.items():
            if division.startswith("reader"):
                continue  # readers judge the same cases
            together = all(sum(p.get(c, 0) for p in parts.values()) <= n for c, n in whole.items())
            for some in [parts] if together else [{name: cells} for name, cells in parts.items()]:
                wanted, published = _counts(whole, some)
                try:
                    small = recovered(wanted, published, least)
                except ValueError:
                    continue  # the parts are not of the same cases as the whole
                for name, n in small.items():
                    yield f"{base} {division}: {name} = {n}"


def _counts(whole: dict[str, int], parts: dict[str, dict[str, int]]) -> tuple[list[Count], dict[str, int]]:
    wanted, published = [], {}
    for place, cells in (("whole", whole), *parts.items()):
        names = [*parts, "rest"] if place == "whole" else [place]
        for cell, n in cells.items():
            of = [cell] if cell in CELLS else [c for c, kind in CELLS.items() if kind == cell]
            count = Count(f"{place} {cell}", frozenset(f"{name} {c}" for name in names for c in of))
            wanted.append(count)
            published[count.name] = n
    return wanted, published


def _along_cuts(data: dict[str, Any], least: int) -> Iterator[str]:
    """Cases of a class between two cuts, from all curves of one data set together."""
    whole = {base: cells for (base, kind, _), cells in _tables(data).items() if not kind}
    names = {base: dict(base).get("dataset") or dict(base).get("period") for base in whole if len(base) <= 2}
    sets = {name: whole[base] for base, name in names.items() if name and "positives" in whole[base]}
    if any("candidate" in dict(base) for base in whole):
        return  # several candidates share the lines of a figure
    for name, cells in sets.items():
        yield from _along_cuts_of(data, name, cells, least, alone=len(sets) == 1)


def _along_cuts_of(
    data: dict[str, Any], name: str, cells: dict[str, int], least: int, *, alone: bool
) -> Iterator[str]:
    positives, negatives = cells["positives"], cells["negatives"]
    above = {"positives": {0, positives}, "negatives": {0, negatives}}
    if "tp" in cells:
        above["positives"].add(cells["tp"])
    if "fp" in cells:
        above["negatives"].add(cells["fp"])
    for tp, fp in _curve_points(data, "" if alone else name, positives, negatives):
        above["positives"].add(tp)
        above["negatives"].add(fp)
    for truth, counts in above.items():
        for low, high in pairwise(sorted(counts)):
            if 0 < high - low < least:
                yield f"{name}: {high - low} {truth} between two cuts ({low} and {high} above)"


def _curve_points(
    data: dict[str, Any], name: str, positives: int, negatives: int
) -> Iterator[tuple[int, int]]:
    """Cases of each class above a cut, from figures and tables; of several sets those that name this one."""
    n = positives + negatives
    for figure in data["figures"]:
        rows = [row for row in figure["values"] if name in str(row.get("place") or row.get("label") or "")]
        if figure["id"].startswith("roc_"):
            for row in rows:
                if row.get("value") is not None and row.get("false_alarms") is not None:
                    tp, fp = _whole(row["value"] * positives), _whole(row["false_alarms"] * negatives)
                    if tp is not None and fp is not None:
                        yield tp, fp
        elif figure["id"].startswith("decision_curve"):
            for row in rows:
                if "declared" in row and row["value"] is not None:
                    yield from _of_net_benefit(row["value"], row["threshold"], positives, negatives)
        elif figure["id"].startswith("calibration") and rows and "bin_from" in rows[0]:
            tp = fp = 0
            for row in reversed([r for r in rows if r.get("n")]):
                events = _whole(row["value"] * row["n"])
                if events is not None:
                    tp, fp = tp + events, fp + row["n"] - events
                    yield tp, fp
    for quantity, scope, entry in _entries(data):
        if name and name not in (scope.get("dataset"), scope.get("period")):
            continue
        whole = "threshold" in scope and not {*PARTS, "parameters"} & scope.keys() and entry["n"] == n
        if quantity == "net_benefit" and whole:
            yield from _of_net_benefit(entry["value"], scope["threshold"], positives, negatives)


def _of_net_benefit(value: float, t: float, positives: int, negatives: int) -> Iterator[tuple[int, int]]:
    """The counts of a net benefit, where a single pair of whole numbers gives it."""
    n, weight = positives + negatives, t / (1 - t)
    pairs = []
    for tp in range(positives + 1):
        fp = (tp - value * n) / weight if weight else 0.0
        if abs(fp - round(fp)) < EXACT * n / weight and 0 <= round(fp) <= negatives:
            pairs.append((tp, round(fp)))
    if len(pairs) == 1:
        yield pairs[0]


def found_in_page(page: str, least: int = 5) -> list[str]:
    """Small numbers of people that the text of report.html states."""
    text = re.sub(r"<(style|script|svg)\b.*?</\1>", " ", page, flags=re.DOTALL)
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))
    few = rf"\b[1-{least - 1}] (errors?|cases?|misse[sd]|positives?|negatives?|false alarms?|patients?)\b"
    return [text[max(0, m.start() - 40) : m.end() + 20] for m in re.finditer(few, text)]


def most_vertices(page: str) -> int:
    """Through how many places the longest line of all drawings in report.html goes."""
    drawings = re.findall(r"<svg\b.*?</svg>", page, flags=re.DOTALL)
    paths = [d for drawing in drawings for d in re.findall(r' d="([^"]*)"', drawing) if "C" not in d]
    return max((len(re.findall(r"[ML]", d)) for d in paths), default=0)


if __name__ == "__main__":
    for path in map(Path, sys.argv[1:]):
        lines = found_by_attack(json.loads(path.read_bytes()))
        print(path, len(lines), *lines[:8], sep="\n  ")
