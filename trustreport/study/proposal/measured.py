"""Tables of measured values, of metrics of contours, and of ratings without a truth."""

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from trustreport.study.proposal.contours import (
    ContourMetric,
    is_file,
    metric_of,
    metrics_of,
    structures_of,
)
from trustreport.study.proposal.parts import Doubt, Entry, ExaminedTable, Proposal, squeezed, vocabulary

KEYS = ("case", "reader", "arm", "candidate", "dataset", "patient", "site", "date")
MOST_RANKS = 11  # whole numbers of so few values are ratings
MOST_NAMES = 50
MOST_LEFT = 8  # columns that are named
MAKERS = {"ai", "cad", "device", "model", "auto", "automatic", "measured", "measurement", "value"}


def find_values(table: ExaminedTable, have: dict[str, object]) -> bool:
    """Take the table as one of values: beside a reference that is a number, or of metrics that are known.

    Parameters
    ----------
    have : the columns of the table by their words, before any were left out
    """
    keys = {word: header for word, header in have.items() if word in KEYS and isinstance(header, str)}
    if "case" not in keys and "patient" in keys:
        keys["case"] = keys.pop("patient")  # other tools call a case a subject
    metrics = metrics_of([h for h in table.headers if table.seen[h].numeric])
    files = [h for h in table.headers if is_file(table, h)] if metrics else []
    if files:
        keys = {word: header for word, header in keys.items() if header not in files} | {"case": files[0]}
    rated = [h for h in table.headers if _better(h)]
    truth = None if have.get("truth") in files else have.get("truth")
    structure = isinstance(truth, str) and squeezed(truth) in vocabulary()["measured"]["structure"]
    if "case" not in keys or (truth is not None and not (structure and (metrics or rated))):
        return False
    if not {"arm", "candidate"} & keys.keys():
        keys |= _named(table, keys, "candidate", "source")
    keys |= _named(table, keys, "measurement", "structure")
    if not {"arm", "candidate"} & keys.keys() and "reader" in keys:
        keys |= _separating(table, keys)
    free = [h for h in table.headers if h not in keys.values() and table.seen[h].numeric]
    reference = [h for h in free if _words(h) & set(vocabulary()["measured"]["reference"])]
    reference = [h for h in reference if table.seen[h].n_distinct > 2]
    if not reference and "reader" in keys and have.keys().isdisjoint(("decision", "score")):
        reference = _same_for_all(table, keys, free)
    if len(reference) == 1 and not metrics:
        measured = [h for h in free if h != reference[0] and table.seen[h].n_distinct > 2]
        # What is measured has words in common with its reference, where any column has.
        alike = [h for h in measured if _words(h) & (_words(reference[0]) - _units())]
        measured = alike or measured
        if measured:
            return _against_reference(table, keys, reference[0], measured)
    rated = [h for h in free if _better(h)]
    if not metrics and not reference and not {"reader", "decision", "score"} & have.keys():
        makers = _by_maker(free)
        if makers:
            return _of_makers(table, keys, makers, rated)
    if metrics:
        _of_contours(table, keys, metrics)
    elif rated and not reference and have.get("decision") in (None, *rated):
        _of_ratings(table, keys, rated)
    else:
        return False
    return True


def _same_for_all(table: ExaminedTable, keys: dict[str, str], free: Sequence[str]) -> list[str]:
    """The column that each case has once where another one of its words has a value of each reader."""
    import pyarrow as pa

    def once(header: str) -> bool:
        """Whether all rows of a case have one value."""
        both = pa.table([table.column(keys["case"]), table.column(header)], names=["case", "value"])
        every = both.group_by("case").aggregate([("value", "count_distinct")])["value_count_distinct"]
        return max(every.to_pylist()) == 1

    fixed = [h for h in free if table.seen[h].n_distinct > MOST_RANKS and once(h)]
    read = [h for h in free if h not in fixed and table.seen[h].n_distinct > 2]
    alike = [h for h in fixed if any((_words(h) & _words(other)) - _units() for other in read)]
    if len(alike) != 1 or len(read) != 1:
        return []
    question = f"{table.place}: is {alike[0]} the reference value of {read[0]}?"
    said = table.settle(Doubt(question, (alike[0], "no reference"), alike[0]), "columns")
    return alike if said == alike[0] else []


def _named(table: ExaminedTable, keys: dict[str, str], word: str, of: str) -> dict[str, str]:
    """A column of few names that says whose a value is, or of which structure."""
    names = set(vocabulary()["measured"][of])
    few = [h for h in table.headers if h not in keys.values() and table.seen[h].n_distinct <= MOST_NAMES]
    found = [h for h in few if squeezed(h) in names]
    inside = [h for h in few if _words(h) & names and not table.seen[h].numeric]
    found = found or (inside if of == "source" else [])
    return {word: found[0]} if found else {}


def _separating(table: ExaminedTable, keys: dict[str, str]) -> dict[str, str]:
    """The column of few names without which readers would have judged cases twice: arms, or outputs."""
    import pyarrow as pa

    def most(headers: Sequence[str]) -> int:
        rows = pa.table([table.column(h) for h in headers], names=[str(i) for i, _ in enumerate(headers)])
        return max(rows.group_by(rows.column_names).aggregate([([], "count_all")])["count_all"].to_pylist())

    judged = [keys[word] for word in ("case", "reader", "measurement", "dataset") if word in keys]
    if most(judged) == 1:
        return {}
    few = [h for h in table.headers if h not in keys.values() and not table.seen[h].numeric]
    few = [h for h in few if 1 < table.seen[h].n_distinct <= MOST_NAMES and most([*judged, h]) == 1]
    if len(few) != 1:
        return {}
    known = vocabulary()["arms"]
    said = {squeezed(cell) for cell in table.seen[few[0]].distinct}
    flags = [bool(said & {*known[word], *known[f"{word}_cells"]}) for word in ("aided", "unaided")]
    return {"arm" if all(flags) else "candidate": few[0]}


def _words(header: str) -> set[str]:
    name = squeezed(header)
    return {*name.split("_"), name}


def _units() -> set[str]:
    return set(vocabulary()["measured"]["units"])


def _better(header: str) -> str:
    """The better side of a rating or a count that is known; empty of any other."""
    known = {word: side for side in ("up", "down") for word in vocabulary()["measured"][side]}
    return known.get(squeezed(header)) or next(
        (known[w] for w in squeezed(header).split("_")[::-1] if w in known), ""
    )


def _against_reference(
    table: ExaminedTable, keys: dict[str, str], reference: str, measured: Sequence[str]
) -> bool:
    unit = next(filter(None, (_without_unit(h)[1] for h in (reference, *measured))), "")
    headers = (reference, *measured)
    shared = [w for w in _words_of(measured[0]) if w in _words_of(reference)] if len(measured) == 1 else []
    every = (*shared, *(w for h in headers for w in _words_of(h)))
    name = next((w for w in every if squeezed(w) not in _known() | MAKERS), "value")
    facts = {"measurement": name, "kind": "number", **({"unit": unit} if unit else {})}
    several = len(measured) > 1 and not {"candidate", "reader"} & keys.keys()
    columns = {**keys, "reference_value": reference}
    columns["measured"] = {h: h for h in measured} if several else measured[0]  # type: ignore[assignment]
    if len(measured) > 1 and not several:
        question = f"{table.place}: which column is the measured value?"
        columns["measured"] = table.settle(Doubt(question, tuple(measured), measured[0]), "columns")
    table.columns = columns
    table.entry.form["measurement"] = name
    table.made.measurements.append(facts)
    return True


def _by_maker(headers: Sequence[str]) -> dict[str, str]:
    """Headers that name a reader, or the device, and what is alike in all: ``reader1_mm``, ``qualité R2``.

    Each with the word that differs; empty where what is alike is no unit and no rating.
    """
    words = [squeezed(h).split("_") for h in headers]
    shared = set.intersection(*map(set, words)) if len(words) > 1 else set()
    rest = ["_".join(w for w in own if w not in shared) for own in words]
    people = re.compile(rf"(r|{'|'.join(vocabulary()['wide']['names'])})_?(\d+|[a-d])")
    numbered = [bool(people.fullmatch(name)) for name in rest]
    alike = [h for h in headers if shared & _units() or _better(h)]
    named = all(known or name in MAKERS for known, name in zip(numbered, rest))
    if len(alike) != len(headers) or not named or sum(numbered) < 2:
        return {}
    return dict(zip(headers, rest))


def _of_makers(
    table: ExaminedTable, keys: dict[str, str], makers: Mapping[str, str], rated: Sequence[str]
) -> bool:
    """A row for each reader of columns that name them; the device is one of those who measured."""
    first = next(iter(makers))
    name, unit = _without_unit(first)
    words = [w for w in _words_of(name) if squeezed(w) not in (*makers[first].split("_"), makers[first])]
    name = " ".join(words) or "value"
    facts: dict[str, Any] = {"measurement": name, "kind": "number"}
    if rated:
        facts = of_cells(table, first, name, _better(first))
    if facts["kind"] == "ordinal" and not _scale_of(first):
        cells = [table.seen[h] for h in makers]
        low, high = min(c.smallest for c in cells), max(c.largest for c in cells)
        facts["scale"] = [min(1, int(low)), int(high)]
    table.made.measurements.append(facts | ({"unit": unit} if unit else {}))
    table.entry.form["measurement"] = name
    table.entry.form["unpivot"] = {
        "into": "reader", "columns": {"measured": list(makers)}, "names": list(makers.values())
    }  # fmt: skip
    whose = f"{table.place}: are these columns one for each reader, and is none of them the reference?"
    doubt = Doubt(whose, ("yes", "no"), "yes")
    if table.choose is None or table.choose(doubt) != "yes":
        table.entry.about["unpivot"] = f"{whose} That is reference_value: in columns"
    table.columns = keys
    return True


def _known() -> set[str]:
    return {*vocabulary()["measured"]["reference"], *_units()}


def _of_contours(
    table: ExaminedTable, keys: dict[str, str], metrics: Mapping[str, tuple[list[str], ContourMetric]]
) -> None:
    """A table for each metric; the columns of its structures become rows."""
    entries, asked = [], False
    makers = {} if {"reader", "candidate"} & keys.keys() else _candidates_in_columns(table, list(metrics))
    # A report leads with the first.
    for header, (own, metric) in sorted(metrics.items(), key=lambda one: metric_of(one[0]) is None):
        beside = {h: maker for h, maker in makers.items() if maker[0] == makers.get(header, ("",))[0]}
        if beside and header != next(iter(beside)):
            continue
        name, unit = (makers[header][0], "") if beside else _without_unit(header)
        unit = unit or metric.unit
        facts = {"measurement": name, "kind": metric.kind, "unit": unit, "better": metric.better}
        if metric.unit and not asked:
            facts["about"], asked = f"{table.place}: are the distances in {unit}, or in voxels?", True
        table.made.measurements.append(facts)
        form: dict[str, Any] = {"measurement": name, "columns": {**keys, "measured": own[0]}}
        structures = structures_of(header, own)
        if beside:
            form["columns"]["measured"] = {maker: h for h, (_, maker) in beside.items()}
        elif structures:
            del form["columns"]["measured"]
            how: dict[str, Any] = {"into": "measurement", "columns": {"measured": f"*-{header}"}}
            form["unpivot"] = how
        entries.append(form)
    _fill(table, entries, _infinite(table, [h for own, _ in metrics.values() for h in own]))
    left = [h for h in table.headers if table.seen[h].numeric and not _is_used(h, keys, metrics)]
    left = list(dict.fromkeys(h.rpartition("-")[2] for h in left))
    if left:
        some = ", ".join(left[:MOST_LEFT]) + (" ..." if len(left) > MOST_LEFT else "")
        table.made.notes.append(f"{table.place}: no metrics with a better side: {some}")


def _candidates_in_columns(table: ExaminedTable, headers: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Of headers such as ``dice_A`` the metric and whose it is, where a metric has a column of several.

    What follows a metric could be structures too; letters, numbers and names of models are candidates.
    """
    found: dict[str, tuple[str, str]] = {}
    for header in headers:
        words = _words_of(header)
        for cut in range(1, len(words)):
            ends = (words[:cut], words[cut:]), (words[-cut:], words[:-cut])
            parts = [
                (of, rest)
                for of, rest in ends
                if metric_of("_".join(of)) and metric_of("_".join(rest)) is None
            ]
            if parts:
                found[header] = "_".join(parts[0][0]), " ".join(parts[0][1])
                break
    several = [metric for metric, _ in found.values()]
    found = {h: one for h, one in found.items() if several.count(one[0]) > 1}
    if not found or len(found) < len(headers):
        return {}
    names = list(dict.fromkeys(whose for _, whose in found.values()))
    made = re.compile(rf"[a-z]|\d+|.*\d|.*net.*|({'|'.join(sorted(MAKERS))})( .*)?|model.*", re.IGNORECASE)
    likeliest = "candidates" if all(map(made.fullmatch, names)) else "structures"
    question = f"{table.place}: are {', '.join(names)} candidates or structures?"
    doubt = Doubt(question, ("candidates", "structures"), likeliest)
    return found if table.settle(doubt, "columns") == "candidates" else {}


def _is_used(
    header: str, keys: Mapping[str, str], metrics: Mapping[str, tuple[list[str], ContourMetric]]
) -> bool:
    return header in keys.values() or any(header in own for own, _ in metrics.values())


def _words_of(header: str) -> list[str]:
    """The words of a header as it writes them, without what stands in brackets."""
    return re.findall(r"[^\W_]+", re.sub(r"[\[(].*", "", header))


def _without_unit(header: str) -> tuple[str, str]:
    """A header as the name of a measurement, and the unit in brackets or as its last word."""
    inside = re.findall(r"[\[(](.*?)[\])]", header)
    unit = next((u.strip() for u in inside if u.strip() == "%" or u.strip().casefold() in _units()), "")
    words = re.split(r"[\s_]+", re.sub(r"[\[(].*?[\])]", "", header).strip())
    if len(words) > 1 and words[-1].casefold() in _units():
        unit = {"pct": "%", "percent": "%"}.get(words[-1].casefold(), words[-1])
        words.pop()
    first = words[0]
    if first[1:].islower():  # no abbreviation
        words[0] = first[0].lower() + first[1:]
    return " ".join(words) or header, unit


def _scale_of(header: str) -> list[int]:
    """The scale that a header names: "quality (1-5)"."""
    found = re.search(r"[\[(]\s*(\d+)\s*(?:-|\N{EN DASH}|to|bis|à|a)\s*(\d+)\s*[\])]", header)
    return [int(found[1]), int(found[2])] if found else []


def _infinite(table: ExaminedTable, headers: Sequence[str]) -> list[str]:
    """The words for infinity in the cells of these columns: a distance to a contour that is empty."""
    cells = {c for h in headers for c in table.seen[h].distinct}
    return sorted(c for c in cells if c.casefold().lstrip("+-") in ("inf", "infinity"))


def _fill(table: ExaminedTable, forms: Sequence[dict[str, Any]], infinite: Sequence[str] = ()) -> None:
    """The entry of the table for the first of some measurements, and one more of the same file for each."""
    if infinite:
        table.entry.form["missing"] = sorted({*table.entry.form.get("missing", ()), *infinite})
        question = f"{table.place}: {' and '.join(infinite)} left out; a largest distance would count them"
        table.entry.about["missing"] = question
    common = deepcopy(table.entry.form)
    for form in forms[1:]:
        renamed = {w: h for w, h in form["columns"].items() if w != h}
        entry = Entry(table.path, "values", {**deepcopy(common), **form, "columns": renamed})
        table.more.append(entry)
    table.columns = forms[0]["columns"]
    table.entry.form |= {k: v for k, v in forms[0].items() if k != "columns"}


def _of_ratings(table: ExaminedTable, keys: dict[str, str], rated: Sequence[str]) -> None:
    facts = []
    for header in rated:
        name, unit = _without_unit(header)
        own = of_cells(table, header, name, _better(header))
        facts.append(own | ({"unit": unit} if unit and own["kind"] == "number" else {}))
    table.made.measurements += facts
    _fill(
        table,
        [
            {"measurement": one["measurement"], "columns": {**keys, "measured": header}}
            for one, header in zip(facts, rated)
        ],
    )


def of_cells(table: ExaminedTable, header: str, name: str, better: str) -> dict[str, Any]:
    """What the cells of a column say of a measurement."""
    cells = table.seen[header]
    facts: dict[str, Any] = {"measurement": name, "kind": "number", "better": better}
    scale = _scale_of(header)
    counted = _words(header) & set(vocabulary()["measured"]["counted"])
    if counted and not scale and cells.is_whole and cells.smallest == 0:
        facts["kind"] = "count"
    elif cells.is_whole and (scale or cells.n_distinct <= MOST_RANKS):
        facts |= {"kind": "ordinal", "scale": scale or [min(1, int(cells.smallest)), int(cells.largest)]}
        facts["about"] = f"{table.place}, {header}: the lowest and the highest rating, and which is better?"
    return facts


def without_truth(made: Proposal, tables: Sequence[ExaminedTable]) -> None:
    """Ratings of readers of which no table knows a truth are analysed as what they are: ratings."""
    if any({"truth", "follow_up", "lesion"} & t.columns.keys() for t in tables):
        return
    for table in tables:
        if table.entry.kind != "readings" or "score" not in table.columns or "decision" in table.columns:
            continue
        header = table.columns["score"]
        keys = {word: h for word, h in table.columns.items() if word in KEYS}
        columns = {**keys, "measured": header}
        table.entry.kind = "values"
        form = {k: v for k, v in table.entry.form.items() if k not in ("columns", "values")}
        renamed = {w: h for w, h in columns.items() if w != h}
        first = header if isinstance(header, str) else next(iter(header.values()))
        facts = of_cells(table, first, "rating", "up")
        table.entry.form = {**form, "measurement": "rating", **({"columns": renamed} if renamed else {})}
        made.measurements.append(facts)
        made.design = ""
        made.notes.append(
            f"{table.path.name}: no table holds a truth, so that the ratings are compared as such"
        )
