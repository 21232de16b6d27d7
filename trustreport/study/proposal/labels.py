"""Labels of routine: whether a truth was read from reports, and a table in which some were judged again."""

from collections.abc import Iterator
from typing import Any, TypeVar

from trustreport.study.ingest import contracts, values
from trustreport.study.proposal.parts import ExaminedTable, Proposal, squeezed, vocabulary

T = TypeVar("T", bound=ExaminedTable)


def settle_labels(made: Proposal, others: list[T]) -> None:
    """How often labels are wrong, of a table of labels and experts, or that it is not known."""
    truths = set(_truths(made))
    mined = sorted(filter(is_mined, truths))
    for table in list(others):
        label, found = _audit_of(table, truths)
        if not found:
            continue
        others.remove(table)
        if label not in truths and not mined:
            made.unread[table.path.name] = f"it judges {label} again, which is no reference standard here"
            continue
        made.reference = found
        made.about["reference"] = f"{table.path.name}: is this a random sample of all cases?"
        return
    if any(isinstance(form.get("columns", {}).get("truth"), dict) for form in _forms(made)):
        made.reference = {"kind": "composite", "rule": "any"}
        made.about["reference"] = "positive where any of the tests is, or all, or most?"
    if mined:
        made.reference = {"kind": "error_prone"}
        question = f"how often is {mined[0]} right? sensitivity and specificity, as a share or [right, of]"
        made.about["reference"] = question
    elif labels := [h for h in sorted(truths) if squeezed(h) in ("label", "labels")]:
        made.notes.append(
            f"Where {labels[0]} was read from reports, it is wrong at times; declare how often it is right: "
            "reference_standard: {kind: error_prone, sensitivity: [95, 100], specificity: [291, 300]}"
        )


def _forms(made: Proposal) -> list[dict[str, Any]]:
    """What is proposed of each file."""
    return [*made.datasets, *(e.form for e in made.entries)]


def _truths(made: Proposal) -> Iterator[str]:
    for form in _forms(made):
        header = form.get("columns", {}).get("truth", "truth")
        yield from [header] if isinstance(header, str) else []


def is_mined(header: str) -> bool:
    """Whether a header says that labels were read from reports or codes."""
    return not set(squeezed(header).split("_")).isdisjoint(vocabulary()["labels"]["mined"])


def is_audit(table: ExaminedTable) -> bool:
    """Whether a table holds labels and a better judgement of them, and nothing of a device."""
    others = [h for h in table.headers if table.seen[h].is_share or table.seen[h].is_call]
    return len(others) == 2 and bool(_audit_of(table, set())[1])


def _audit_of(table: ExaminedTable, truths: set[str]) -> tuple[str, dict[str, Any]]:
    """The label, and how often it is wrong, in a table with a better judgement of it; empty of another."""
    better = set(vocabulary()["measured"]["reference"])
    calls = [h for h in table.headers if table.seen[h].is_yes_or_no and table.seen[h].pair]
    label = [h for h in calls if h in truths or is_mined(h)]
    judged = [h for h in calls if h not in label and better & set(squeezed(h).split("_"))]
    if len(label) != 1 or len(judged) != 1:
        return "", {}
    said, right = (list(_codes(table, header)) for header in (label[0], judged[0]))
    both = [(s, r) for s, r in zip(said, right) if s and r]
    rates = {
        name: [both.count((code, code)), sum(r == code for _, r in both)]
        for name, code in (("sensitivity", "1"), ("specificity", "0"))
    }
    source = f"{table.path.name}, {judged[0]}"
    subset = f"{len(both)} cases judged again"
    return label[0], {"kind": "error_prone", **rates, "source": source, "subset": subset}


def _codes(table: ExaminedTable, header: str) -> Iterator[str]:
    """The cells of a column as 1, 0 or nothing."""
    for cell in table.column(header).to_pylist():
        word = (cell or "").strip().casefold()
        yes, no = (word in codes for codes in (values.YES, values.NO))
        yield "1" if yes else "0" if no else contracts.CODES.get(word, "")
