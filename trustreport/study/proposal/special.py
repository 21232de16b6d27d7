"""Tables of follow-up, of lesions and marks, of choices between two outputs: what is special of each."""

from typing import TypeVar

import numpy as np

from trustreport.study.proposal.parts import (
    Doubt,
    Entry,
    ExaminedTable,
    Proposal,
    squeezed,
    vocabulary,
)

FOLLOWED = ("follow_up", "event")
MOST_EVENTS = 5
MOST_OUTPUTS = 12
# Horizons in use, by the unit of the follow-up: in words and in that unit.
HORIZONS = {
    "days": (("30 days", 30), ("90 days", 90), ("1 year", 365.25), ("3 years", 1096), ("5 years", 1826)),
    "months": (("6 months", 6), ("1 year", 12), ("3 years", 36), ("5 years", 60), ("10 years", 120)),
    "years": (("1 year", 1), ("3 years", 3), ("5 years", 5), ("10 years", 10)),
}
MOST_YEARS, MOST_MONTHS = 30, 400  # a longer follow-up is in a smaller unit


def find_follow_up(table: ExaminedTable, taken: set[str]) -> None:
    """The two columns, where a table of no readings has both; then neither is a truth or a reading time."""
    if {"reader", "rater"} & table.columns.keys():
        return
    words = vocabulary()["follow_up"]
    free = [h for h in table.headers if h not in taken or h in _reusable(table)]
    numbers = [h for h in free if table.seen[h].numeric and table.seen[h].n_distinct > MOST_EVENTS]
    few = [h for h in free if 1 < table.seen[h].n_distinct <= MOST_EVENTS]
    times = [h for h in numbers if squeezed(h) in words["times"]]
    events = [h for h in few if squeezed(h) in words["events"]]
    if not times or not events:
        return
    for word in ("truth", "seconds"):
        if table.columns.get(word) in (times[0], events[0]):
            del table.columns[word]
    table.columns |= {"follow_up": times[0], "event": events[0]}
    taken |= {times[0], events[0]}


def _reusable(table: ExaminedTable) -> set[str]:
    return {table.columns[word] for word in ("truth", "seconds") if isinstance(table.columns.get(word), str)}


def settle_follow_up(table: ExaminedTable) -> None:
    """The codes of the event and the horizon at which it is judged: both are guesses."""
    time, event = (table.columns[word] for word in FOLLOWED)
    codes, competing = _event_codes(table, event)
    if codes:
        table.entry.form.setdefault("values", {})["event"] = codes
    unit = _unit_of_time(time, table.seen[time].largest)
    numbers = np.array([float(cell.replace(",", ".", 1)) for cell in table.seen[time].distinct])
    reached = [words for words, at in HORIZONS[unit] if at <= np.median(numbers)]
    options = tuple(words for words, _ in HORIZONS[unit])
    question = f"{table.place}: by when must the event have happened? {time} is taken to be in {unit}"
    horizon = table.of_all(Doubt(question, options, reached[-1] if reached else options[0]), "time_to_event")
    table.made.time_to_event = {"horizon": horizon, "unit": unit, "competing": competing}


def _unit_of_time(header: str, longest: float) -> str:
    words = set(squeezed(header).split("_"))
    for unit, names in vocabulary()["follow_up_units"].items():
        if words & set(names):
            return str(unit)
    return "years" if longest <= MOST_YEARS else "months" if longest <= MOST_MONTHS else "days"


def _event_codes(table: ExaminedTable, event: str) -> tuple[dict[str, str], list[int]]:
    """What the cells mean (0 censored, 1 the event, from 2 on what competes with it), and what competes."""
    cells = table.seen[event]
    if cells.is_whole and set(cells.distinct) != {"1", "2"}:
        return {}, sorted({int(float(c)) for c in cells.distinct} - {0, 1})
    if cells.coded:
        return {}, []
    ended = vocabulary()["follow_up"]["censored"]
    none = next((c for c in cells.distinct if squeezed(c) in ended), min(cells.distinct))
    rest = [c for c in cells.distinct if c != none]
    question = (
        f"{table.place}, {event}: which value is the event (1)? 0 is censored, from 2 on competing events"
    )
    first = table.settle(Doubt(question, tuple(rest), rest[0]), "values")
    others = [c for c in rest if c != first]
    codes = {none: "0", first: "1"} | {c: str(k) for k, c in enumerate(others, 2)}
    return codes, list(range(2, 2 + len(others)))


COORDINATES = ("x", "y", "z")
T = TypeVar("T", bound=ExaminedTable)
OF_LESIONS = ("lesion", "lesion_weight", *COORDINATES)
WHO = ("reader", "arm", "candidate", "dataset")
SHARE_OF_WIDTH = 20  # a radius is guessed as one in so many of the largest coordinate


def lesions_or_marks(table: ExaminedTable) -> str:
    """Lesions, marks, or neither; of neither the words for lesions are dropped."""
    have = table.columns
    rating = have.get("score", have.get("label"))
    placed = "case" in have and ("lesion" in have or {"x", "y"} <= have.keys()) and "truth" not in have
    if placed and rating is not None and not isinstance(rating, dict):
        table.columns = {w: h for w, h in have.items() if w in ("case", *WHO, "lesion", *COORDINATES)}
        table.columns["rating"] = rating
        return "marks"
    if placed and "lesion" in have and not {"reader", "candidate", "decision"} & have.keys():
        table.columns = {w: h for w, h in have.items() if w in ("case", "dataset", *OF_LESIONS)}
        return "lesions"
    for word in OF_LESIONS:
        have.pop(word, None)
    return ""


def settle_marks(table: ExaminedTable) -> None:
    """Whose marks they are; how far from a lesion a mark hits it, where marks do not name the lesion."""
    table.made.marks_need_a_dataset |= "reader" not in table.columns
    if "lesion" not in table.columns:
        widest = max(table.seen[table.columns[word]].largest for word in ("x", "y"))
        guess = f"{max(widest / SHARE_OF_WIDTH, 1):.0f}"
        question = f"{table.place}: at most how far from a lesion does a mark hit it?"
        table.made.acceptance_radius = table.of_all(Doubt(question, (guess,), guess), "localisation")


def take_cases_of_marks(made: Proposal, others: list[T]) -> None:
    """Of tables that are of no kind by themselves, take the one that has the cases that were marked."""
    kinds = {entry.kind for entry in made.entries}
    if "marks" not in kinds or "cases" in kinds:
        return
    cases = next((t for t in others if "case" in t.columns and t.once("case")), None)
    if cases is None:
        return
    others.remove(cases)
    known = {w: h for w, h in cases.columns.items() if w in ("case", "patient", "site", "date")}
    form = cases.entry.form | {"columns": {w: h for w, h in known.items() if w != h}}
    made.entries.append(Entry(cases.path, "cases", {k: v for k, v in form.items() if v}))


def complete_marks(made: Proposal) -> None:
    """What marks need beside their table: one of every case, and, those of candidates, a data set."""
    kinds = {entry.kind for entry in made.entries}
    if "marks" in kinds and "cases" not in kinds:
        made.notes.append("marks need a table of all cases, with and without lesions: tables: cases")
    if made.marks_need_a_dataset and not made.datasets:
        role = {"procurement": "local", "vigilance": "period"}.get(made.kind, "external")
        about = {"role": "what kind of data set are these cases?"}
        made.datasets.append({"dataset": "marked cases", "role": role, "about": about})


def find_choices(table: ExaminedTable, have: dict[str, object]) -> bool:
    """Take the table as one of preferences: two columns of the same few names, and which was preferred.

    Parameters
    ----------
    have : the columns of the table by their words, before any were left out
    """
    known = ("case", "reader", "patient", "site", "date")
    keys = {word: header for word, header in have.items() if word in known and isinstance(header, str)}
    words = set(vocabulary()["preferences"]["preferred"])
    preferred = [h for h in table.headers if words & set(squeezed(h).split("_"))]
    if not {"case", "reader"} <= keys.keys() or len(preferred) != 1:
        return False
    rest = [h for h in table.headers if h not in (*keys.values(), *preferred) and not table.seen[h].numeric]
    names = {h: set(table.seen[h].distinct) for h in rest if 1 < table.seen[h].n_distinct <= MOST_OUTPUTS}
    pairs = [(a, b) for a in names for b in names if a != b and len(names[a] & names[b]) > 1]
    if not pairs:
        return False
    table.columns = {**keys, "first": pairs[0][0], "second": pairs[0][1], "preferred": preferred[0]}
    return True
