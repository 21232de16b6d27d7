"""Files, and the sheets of workbooks, to a proposal."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from trustreport.study.ingest.problems import Problems
from trustreport.study.ingest.sheet import Unreadable, read_sheet
from trustreport.study.ingest.tables import Layout, Raw, find_header, read_table, top_rows
from trustreport.study.plan import Kind
from trustreport.study.proposal import special
from trustreport.study.proposal.contours import separate_files
from trustreport.study.proposal.dictionaries import (
    SYNTAX,
    Explained,
    combined,
    explained,
    explained_by_syntax,
)
from trustreport.study.proposal.labels import is_audit, settle_labels
from trustreport.study.proposal.measured import without_truth
from trustreport.study.proposal.parts import (
    Choose,
    Doubt,
    Proposal,
    RefusedReadings,
    is_group,
    spellings,
    squeezed,
    vocabulary,
)
from trustreport.study.proposal.prediction_results import take_results
from trustreport.study.proposal.shapes import captured_items, header_of_capture, header_of_two_rows, parts_of
from trustreport.study.proposal.table import TableProposal


def propose(
    files: Sequence[Path], kind: Kind, choose: Choose | None = None, refused: RefusedReadings | None = None
) -> Proposal:
    """Look at tables and say what they probably are.

    Parameters
    ----------
    choose : answers a doubt; without it the likeliest answer is taken and marked as uncertain
    refused : what is not proposed again
    """
    made, others, taken = (
        Proposal(kind, refused=refused or RefusedReadings()),
        list[TableProposal](),
        list[TableProposal](),
    )
    files = _without_dictionaries(files, made)
    made.of_one_file = len(files) == 1
    for path in files:
        sheets = _sheets(path)
        if len(sheets) > 1:
            taken += _workbook(path, sheets, made, choose)
            continue
        problems = Problems()
        raw = _raw(path, None, problems)
        if raw is None:
            why = str(problems[0]) if problems else "it cannot be read"
            made.unread[path.name] = why.removeprefix(path.name).lstrip(":, ")
            continue
        if take_results(path, raw, made):
            continue
        made.dictionary = made.dictionary.extended(raw, captured_items(raw))
        for part, form in parts_of(raw):
            table = TableProposal(path, part, made, choose, form=form)
            if (made.of_one_file or not is_audit(table)) and table.recognise():
                table.take()
                taken.append(table)
            else:
                others.append(table)
    special.take_cases_of_marks(made, others)
    _take_cases_of_readings(made, others)
    special.complete_marks(made)
    without_truth(made, taken)
    separate_files(made, taken)
    settle_labels(made, others)
    for table in others:
        made.unread[table.path.name] = table.unknown()
    return made


def _take_cases_of_readings(made: Proposal, others: list[TableProposal]) -> None:
    """Of tables of no kind by themselves, take the one that has the truth of cases that were read."""
    read = [e for e in made.entries if e.kind == "readings" and "truth" not in e.form.get("columns", {})]
    if not read or any(entry.kind == "cases" for entry in made.entries):
        return
    for table in others:
        if "case" not in table.columns or not table.once("case"):
            continue
        calls = [h for h in table.headers if table.seen[h].pair and not is_group(h)]
        if calls:
            others.remove(table)
            question = f"{table.place}: which column is the reference standard?"
            truth = table.settle(Doubt(question, tuple(calls), calls[0]), "columns")
            table.columns = {"case": table.columns["case"], "truth": truth}
            table.entry.kind = "cases"
            table.take()
            return


def _workbook(
    path: Path, sheets: Sequence[str], made: Proposal, choose: Choose | None
) -> list[TableProposal]:
    """Every sheet that is a table that is known, and a note of which ones they are."""
    found: dict[str, TableProposal] = {}
    others: dict[str, TableProposal] = {}
    why: dict[str, str] = {}
    for k, sheet in enumerate(sheets):
        problems = Problems()
        raw = _raw(path, sheet if k else None, problems)
        if raw is not None and explained(raw):
            why[sheet] = "it says what columns and codes mean"
            continue
        table = None
        if raw is not None:
            made.dictionary = made.dictionary.extended(raw, captured_items(raw))
            # A sheet of several tables is looked at as it stands.
            part, form = parts[0] if len(parts := list(parts_of(raw))) == 1 else (raw, {})
            table = TableProposal(path, part, made, choose, sheet=sheet, first=k == 0, form=form)
        if table is not None and table.recognise():
            found[sheet] = table
        elif table is not None:
            others[sheet], why[sheet] = table, table.unknown()
        else:
            why[sheet] = "it has no rows below a header"
    if not found:
        made.unread[path.name] = "; ".join(f"sheet {sheet}: {reason}" for sheet, reason in why.items())
        return []
    for table in found.values():
        table.only_sheet = len(found) == 1
        table.take()
    left = list(others.values())
    special.take_cases_of_marks(made, left)
    for sheet in [sheet for sheet, table in others.items() if table not in left]:
        found[sheet] = others[sheet]
        del why[sheet]
    many = len(found) > 1
    note = f"{path.name}: the sheet{'s' * many} {', '.join(found)} {'are' if many else 'is'} used"
    rest = f"; {', '.join(why)} {'are' if len(why) > 1 else 'is'} not" if why else ""
    made.notes.append(note + rest)
    return list(found.values())


def _sheets(path: Path) -> tuple[str, ...]:
    """The names of the sheets of a workbook; empty for another file, and for one that cannot be read."""
    with path.open("rb") as stream:
        if stream.read(4) != b"PK\x03\x04":
            return ()
    try:
        others = read_sheet(path, None)[2]
        # Beside another sheet the first one is listed first.
        return (read_sheet(path, others[0])[2][0], *others) if others else ("",)
    except Unreadable:
        return ()


def _raw(path: Path, sheet: str | None, problems: Problems) -> Raw | None:
    names = frozenset(name for word in vocabulary()["columns"] for name in spellings(word))
    top = top_rows(path, sheet)
    row = header_of_capture(top) or find_header(top, names, squeezed) or _below_titles(top)
    rows = header_of_two_rows(top, row) or row
    return read_table(path, path.name, Layout(header_row=rows, sheet=sheet), problems)


def _below_titles(top: Sequence[Sequence[str]]) -> int | None:
    """The first row with a cell in every column, where those above it have a cell or two; None elsewhere."""
    filled = [sum(bool(cell.strip()) for cell in row) for row in top]
    first = filled.index(max(filled)) if filled else 0
    # A whole header in one cell: the rows were divided at another sign.
    whole = any(sign in cell for row in top[:first] for cell in row for sign in ";\t|")
    titles = first > 0 and not whole and all(2 * n < filled[first] for n in filled[:first])
    return first + 1 if titles else None


def _without_dictionaries(files: Sequence[Path], made: Proposal) -> list[Path]:
    """The files that are no data dictionary; what those say goes into the proposal."""
    rest, said = [], list[Explained]()
    for path in files:
        found = list(_explanations(path))
        own = [one for one in found if one is not None]
        if own:
            made.notes.append(f"{path.name} says what columns and codes mean")
        if len(own) < len(found):
            rest.append(path)
        said += own
    made.dictionary = combined(said)
    return rest


def _explanations(path: Path) -> Iterator[Explained | None]:
    """What each table of a file says of the columns of others; None of a table of data."""
    if path.suffix.lower() == SYNTAX:
        yield explained_by_syntax(path.read_text("utf-8", "replace"))
        return
    for k, sheet in enumerate(_sheets(path) or ("",)):
        raw = read_table(path, path.name, Layout(sheet=sheet if k else None), Problems())
        yield explained(raw) if raw is not None else None
