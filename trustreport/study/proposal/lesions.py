"""Lesions and marks at their places: which of the two a table has, and what else they ask of the manifest."""

from typing import TypeVar

from trustreport.study.proposal.parts import Doubt, Entry, Proposal, Table

PLACES = ("x", "y", "z")
T = TypeVar("T", bound=Table)
OWN = ("lesion", "lesion_weight", *PLACES)
WHO = ("reader", "arm", "candidate", "dataset")
SHARE_OF_WIDTH = 20  # a radius is guessed as one in so many of the largest coordinate


def kind(table: Table) -> str:
    """Lesions, marks, or neither; of neither the words for lesions are dropped."""
    have = table.columns
    rating = have.get("score", have.get("label"))
    placed = "case" in have and ("lesion" in have or {"x", "y"} <= have.keys()) and "truth" not in have
    if placed and rating is not None and not isinstance(rating, dict):
        table.columns = {w: h for w, h in have.items() if w in ("case", *WHO, "lesion", *PLACES)}
        table.columns["rating"] = rating
        return "marks"
    if placed and "lesion" in have and not {"reader", "candidate", "decision"} & have.keys():
        table.columns = {w: h for w, h in have.items() if w in ("case", "dataset", *OWN)}
        return "lesions"
    for word in OWN:
        have.pop(word, None)
    return ""


def settle(table: Table) -> None:
    """Whose marks they are; how far from a lesion a mark hits it, where marks do not name the lesion."""
    table.made.marks_need_a_dataset |= "reader" not in table.columns
    if "lesion" not in table.columns:
        widest = max(table.seen[table.columns[word]].largest for word in ("x", "y"))
        guess = f"{max(widest / SHARE_OF_WIDTH, 1):.0f}"
        question = f"{table.place}: at most how far from a lesion does a mark hit it?"
        table.made.acceptance_radius = table.of_all(Doubt(question, (guess,), guess), "localisation")


def take_cases(made: Proposal, others: list[T]) -> None:
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


def complete(made: Proposal) -> None:
    """What marks need beside their table: one of every case, and, those of candidates, a data set."""
    kinds = {entry.kind for entry in made.entries}
    if "marks" in kinds and "cases" not in kinds:
        made.notes.append("marks need a table of all cases, with and without lesions: tables: cases")
    if made.marks_need_a_dataset and not made.datasets:
        role = {"procurement": "local", "vigilance": "period"}.get(made.kind, "external")
        about = {"role": "what kind of data set are these cases?"}
        made.datasets.append({"dataset": "marked cases", "role": role, "about": about})
