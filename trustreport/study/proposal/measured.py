"""Tables of measured values, of metrics of contours, and of ratings without a truth."""

from collections.abc import Sequence
from copy import deepcopy

from trustreport.study.proposal.parts import Doubt, Entry, ExaminedTable, Proposal, squeezed, vocabulary

KEYS = ("case", "reader", "arm", "candidate", "dataset", "patient", "site", "date")
MOST_RANKS = 11  # whole numbers of so few values are ratings
MOST_NAMES = 50
MAKERS = {"ai", "cad", "device", "model", "auto", "automatic", "measured", "measurement", "value"}
COUNTED = ("errors", "artefacts", "artifacts", "edits", "omissions", "hallucinations")


def find_values(table: ExaminedTable, have: dict[str, object]) -> bool:
    """Take the table as one of values: beside a reference that is a number, or of metrics that are known.

    Parameters
    ----------
    have : the columns of the table by their words, before any were left out
    """
    keys = {word: header for word, header in have.items() if word in KEYS and isinstance(header, str)}
    if "case" not in keys and "patient" in keys:
        keys["case"] = keys.pop("patient")  # other tools call a case a subject
    truth = have.get("truth")
    metrics = [h for h in table.headers if _better(h)]
    structure = isinstance(truth, str) and squeezed(truth) in vocabulary()["measured"]["structure"]
    if "case" not in keys or (truth is not None and not (structure and metrics)):
        return False
    if not {"arm", "candidate"} & keys.keys():
        keys |= _named(table, keys, "candidate", "source")
    keys |= _named(table, keys, "measurement", "structure")
    free = [h for h in table.headers if h not in keys.values() and table.seen[h].numeric]
    reference = [h for h in free if _words(h) & set(vocabulary()["measured"]["reference"])]
    reference = [h for h in reference if table.seen[h].n_distinct > 2]
    if len(reference) == 1:
        measured = [h for h in free if h != reference[0] and table.seen[h].n_distinct > 2]
        # What is measured has words in common with its reference, where any column has.
        alike = [h for h in measured if _words(h) & (_words(reference[0]) - _units())]
        measured = alike or measured
        if measured:
            return _against_reference(table, keys, reference[0], measured)
    metrics = [h for h in free if _better(h)]
    if not metrics or reference:
        return False
    _of_metrics(table, keys, metrics)
    return True


def _named(table: ExaminedTable, keys: dict[str, str], word: str, of: str) -> dict[str, str]:
    """A column of few names that says whose a value is, or of which structure."""
    names = vocabulary()["measured"][of]
    found = [h for h in table.headers if squeezed(h) in names and h not in keys.values()]
    return {word: found[0]} if found and table.seen[found[0]].n_distinct <= MOST_NAMES else {}


def _words(header: str) -> set[str]:
    name = squeezed(header)
    return {*name.split("_"), name}


def _units() -> set[str]:
    return set(vocabulary()["measured"]["units"])


def _better(header: str) -> str:
    """The better side of a metric that is known; empty of any other."""
    known = {word: side for side in ("up", "down") for word in vocabulary()["measured"][side]}
    return known.get(squeezed(header)) or next(
        (known[w] for w in squeezed(header).split("_")[::-1] if w in known), ""
    )


def _against_reference(
    table: ExaminedTable, keys: dict[str, str], reference: str, measured: Sequence[str]
) -> bool:
    unit = next((w for w in squeezed(reference).split("_")[::-1] if w in _units()), "")
    headers = (reference, *measured)
    name = next((w for h in headers for w in squeezed(h).split("_") if w not in _known() | MAKERS), "value")
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


def _known() -> set[str]:
    return {*vocabulary()["measured"]["reference"], *_units()}


def _of_metrics(table: ExaminedTable, keys: dict[str, str], metrics: Sequence[str]) -> None:
    """A table for each metric, all of the same file."""
    for i, header in enumerate(metrics):
        facts = of_cells(table, header, squeezed(header).replace("_", " "), _better(header))
        table.made.measurements.append(facts)
        if i:
            entry = Entry(
                table.path, "values", deepcopy(table.entry.form) | {"measurement": facts["measurement"]}
            )
            entry.form["columns"] = {w: h for w, h in {**keys, "measured": header}.items() if w != h}
            table.made.entries.append(entry)
    table.columns = {**keys, "measured": metrics[0]}
    table.entry.form["measurement"] = table.made.measurements[-len(metrics)]["measurement"]


def of_cells(table: ExaminedTable, header: str, name: str, better: str) -> dict[str, object]:
    """What the cells of a column say of a measurement."""
    cells = table.seen[header]
    facts: dict[str, object] = {"measurement": name, "kind": "number", "better": better}
    if _words(header) & set(COUNTED):
        facts["kind"] = "count"
    elif cells.is_whole and cells.n_distinct <= MOST_RANKS:
        facts |= {"kind": "ordinal", "scale": [int(cells.smallest), int(cells.largest)]}
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
