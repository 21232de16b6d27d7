"""Tables of metrics of contours: which metric a header names, of which structure, and whose contours."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from trustreport.study.proposal.parts import Entry, ExaminedTable, Proposal, squeezed, vocabulary

WHOLE = "ungrouped"  # what panoptica calls the group of all structures


@dataclass(frozen=True, slots=True)
class ContourMetric:
    """What is known of a metric: the side that is better, its unit, and whether it counts."""

    better: str
    unit: str = ""
    kind: str = "number"


@cache
def _known() -> tuple[dict[str, ContourMetric], dict[str, ContourMetric]]:
    """The metrics by their word, and those that are taken only beside another one."""
    of = vocabulary()["metrics"]
    alone = {word: ContourMetric(side) for side in ("up", "down") for word in of[side]}
    alone |= {word: ContourMetric("down", "mm") for word in of["distances"]}
    beside = {word: ContourMetric(side) for side in ("up", "down") for word in of[f"beside_{side}"]}
    return alone, beside | {word: ContourMetric("down", "", "count") for word in of["counts"]}


def metric_of(header: str, *, beside: bool = False) -> ContourMetric | None:
    """The metric that a header names by one of its words, the last one first; None where it names none.

    Parameters
    ----------
    beside : whether the table has other metrics, so that a header such as "recall" is one too
    """
    return next((m for name in _spellings(header) if (m := _named(name, beside=beside))), None)


def _spellings(header: str) -> tuple[str, str]:
    """A header in small letters, as one word ("iou" of "IoU") and with the words that capitals begin."""
    return squeezed(header.casefold()), squeezed(header)


def _named(name: str, *, beside: bool) -> ContourMetric | None:
    alone, others = _known()
    words = name.split("_")
    if not set(words).isdisjoint(vocabulary()["metrics"]["spread"]):
        return None
    if name in alone or (beside and name in others):
        return alone.get(name) or others[name]
    pairs = list(map("_".join, pairwise(words)))
    # "sq_rvd" is another metric of the same matches.
    inner = [w for w in words[:-1] if w not in vocabulary()["metrics"]["last"]]
    return next((alone[w] for w in (*pairs, words[-1], *inner[::-1]) if w in alone), None)


def metrics_of(headers: Sequence[str]) -> dict[str, tuple[list[str], ContourMetric]]:
    """The metrics of a table by name: the columns of each, one for each structure, and what it is.

    panoptica has a column for each group and metric (``vertebra-sq_dsc``).
    """
    found: dict[str, list[str]] = {}
    for header in headers:
        group, _, name = header.rpartition("-")
        of_group = group and metric_of(name, beside=True)
        found.setdefault(name if of_group else header, []).append(header)
    if not any(metric_of(name) for name in found):
        return {}
    # Beside true negatives, which lesions do not have, the counts are of voxels.
    voxels = "tn" in map(squeezed, found)
    known = {name: (own, metric_of(name, beside=True)) for name, own in found.items()}
    return {k: (own, m) for k, (own, m) in known.items() if m and not (voxels and m.kind == "count")}


def structures_of(name: str, headers: Sequence[str]) -> list[str]:
    """The structures of the columns of a metric; empty where there is one column of all of them."""
    groups = [h.removesuffix(name).removesuffix("-") for h in headers]
    return [] if groups in ([WHOLE], [""]) else groups


def nnunet_rows(text: str) -> list[list[str]]:
    """The cases of nnU-Net's ``summary.json`` as a table, its header first; empty of another text."""
    try:
        cases = json.loads(text)["metric_per_case"]
        labels = [(one, label, found) for one in cases for label, found in one["metrics"].items()]
        names = list(dict.fromkeys(name for *_, found in labels for name in found))
        rows = [
            [str(one["reference_file"]), str(one["prediction_file"]), label]
            + [str(found.get(name, "")) for name in names]
            for one, label, found in labels
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    return [["reference_file", "prediction_file", "label", *names], *rows] if rows else []


def is_file(table: ExaminedTable, header: str) -> bool:
    """Whether the cells of a column name files of images."""
    cells = table.seen[header].distinct
    ends = vocabulary()["metrics"]["files"]
    return bool(cells) and all(c.rpartition(".")[2].casefold() in ends and "." in c for c in cells)


def separate_files(made: Proposal, tables: Iterable[ExaminedTable]) -> None:
    """Files of the same columns are of several candidates, or, where they share no case, of data sets."""
    groups: dict[tuple[str, ...], list[ExaminedTable]] = {}
    for table in tables:
        whose = {"candidate", "dataset", "reader"} & table.columns.keys()
        if table.entry.kind == "values" and not whose:
            groups.setdefault(tuple(table.headers), []).append(table)
    for own in (g for g in groups.values() if len(g) > 1):
        cases = [set(t.seen[t.columns["case"]].distinct) for t in own]
        shared = bool(set.intersection(*cases))
        for table in own:
            _mark(made.entries, table, "candidate" if shared else "dataset")
    unique: dict[str, dict[str, Any]] = {}
    for facts in made.measurements:
        unique.setdefault(facts["measurement"], facts)
    made.measurements[:] = unique.values()


def _mark(entries: Iterable[Entry], table: ExaminedTable, word: str) -> None:
    for entry in entries:
        if entry.kind == "values" and entry.path == table.path:
            entry.form = {word: table.stem, **entry.form}
