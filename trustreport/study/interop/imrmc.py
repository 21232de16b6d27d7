"""Input files of iMRMC, the reader-study tool of the FDA: text of four cells a line below ``BEGIN DATA:``.

A line is ``reader,case,modality,score``. Lines of the reader ``-1`` (or ``truth``) give the truth of a case
as their score, whatever their modality says; a modality is an arm. What stands above ``BEGIN DATA:`` is for
people.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trustreport.study.study import Readings
from trustreport.vocabulary.errors import Problem

SUFFIX = ".imrmc"
BEGIN = "BEGIN DATA:"
TRUTH_READERS = ("-1", "truth")
CELLS = "4: reader, case, modality, score"
TRUTHS = {0.0: "0", 1.0: "1"}


@dataclass(frozen=True, slots=True)
class Rows:
    """The readings of a file as text, each with its line and the truth of its case ("": none)."""

    reader: tuple[str, ...]
    case: tuple[str, ...]
    arm: tuple[str, ...]
    score: tuple[str, ...]
    truth: tuple[str, ...]
    line: tuple[int, ...]


class NoData(Exception):
    """The text has no line ``BEGIN DATA:``, so it is no iMRMC file."""


def read_imrmc(text: str, file: str) -> tuple[Rows, tuple[Problem, ...]]:
    """The readings of a file, and every fault of its lines.

    Parameters
    ----------
    text : the whole file
    file : its name, for messages

    Raises
    ------
    NoData : without a line ``BEGIN DATA:``

    Examples
    --------
    >>> text = "A study\\nBEGIN DATA:\\n-1,7,0,1\\nR1,7,A,3.5\\n"
    >>> read_imrmc(text, "a.imrmc")[0]
    Rows(reader=('R1',), case=('7',), arm=('A',), score=('3.5',), truth=('1',), line=(4,))
    """
    problems: list[Problem] = []
    truth: dict[str, tuple[str, int]] = {}
    readings: list[tuple[str, str, str, str, int]] = []
    for number, cells in _lines(text):
        if len(cells) != 4:
            found = f"found {len(cells)} cell{'s' * (len(cells) != 1)}"
            problems.append(Problem(file, found, CELLS, "Separate cells by commas.", row=number))
            continue
        reader, case, arm, score = cells
        if reader.lower() not in TRUTH_READERS:
            readings.append((reader, case, arm, score, number))
            continue
        problem = _note_truth(truth, case, score, number, file)
        if problem:
            problems.append(problem)
    problems += _without_truth(readings, truth, file)
    columns = list(zip(*readings)) or [()] * 5
    reader_column, case_column, arm_column, score_column, lines = columns
    of_case = tuple(truth.get(case, ("", 0))[0] for case in case_column)
    return Rows(reader_column, case_column, arm_column, score_column, of_case, lines), tuple(problems)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Number and cells of each line below the front matter."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    begins = [i for i, line in enumerate(lines) if line.strip().upper() == BEGIN]
    if not begins:
        raise NoData
    for number, line in enumerate(lines[begins[0] + 1 :], begins[0] + 2):
        if line.strip():
            yield number, [cell.strip() for cell in line.split(",")]


def _note_truth(
    truth: dict[str, tuple[str, int]], case: str, cell: str, number: int, file: str
) -> Problem | None:
    try:
        value = TRUTHS[float(cell)]
    except (ValueError, KeyError):
        expected = "0 or 1 (1 = condition present)"
        return Problem(file, f'found "{cell[:60]}" as the truth of case {case[:60]}', expected, row=number)
    known, before = truth.setdefault(case, (value, number))
    if known != value:
        found = f"case {case[:60]} has two truths ({known} in row {before}, {value} in row {number})"
        return Problem(file, found, mend="Keep one line of truth for each case.", rows=(before, number))
    return None


def _without_truth(
    readings: list[tuple[str, str, str, str, int]], truth: dict[str, tuple[str, int]], file: str
) -> list[Problem]:
    lacking = [(case, line) for _, case, _, _, line in readings if case not in truth]
    if not lacking:
        return []
    cases = list(dict.fromkeys(case for case, _ in lacking))
    named = ", ".join(case[:60] for case in cases[:5]) + (" ..." if len(cases) > 5 else "")
    found = f"no line of truth for {'case' if len(cases) == 1 else 'cases'} {named}"
    mend = "Add a line -1,<case>,truth,<0 or 1> for each."
    lines = tuple(line for _, line in lacking)
    return [Problem(file, found, "", mend, rows=lines[:20], n_rows=len(lines))]


def write_imrmc(readings: Readings, *, title: str = "Readings of a study") -> str:
    """The readings of one task as an iMRMC file.

    Scores are written where there are any, else decisions as 0 and 1. A case without truth, and a reading
    without a score, have no place in such a file; the lines above the data count what is left out.

    Raises
    ------
    ValueError : for a name that the format cannot hold, with what to do about it

    Examples
    --------
    >>> from trustreport.study.study import Cases, Labels, Readers
    >>> one = np.zeros(1, np.int32)
    >>> cases = Cases(Labels(("7",)), np.ones(1, np.int8))
    >>> made = Readings(
    ...     "", ("A",), Readers(Labels(("R1",))), cases, one, one, one, score=np.array([3.5])
    ... )
    >>> print(write_imrmc(made).partition("BEGIN")[2])
     DATA:
    -1,7,truth,1
    R1,7,A,3.5
    <BLANKLINE>
    """
    values = readings.score
    if values is None:
        assert readings.decision is not None  # every reading has one of them
        values = np.where(readings.decision >= 0, readings.decision.astype(np.float64), np.nan)
    truth = readings.truth
    kept = np.flatnonzero(~np.isnan(values) & (truth >= 0))
    readers = [_writable(name, "reader") for name in readings.readers.labels]
    cases = [_writable(name, "case") for name in readings.cases.labels]
    arms = [_writable(name, "arm") for name in readings.arms]
    used = np.unique(readings.case[kept])
    of_case = readings.cases.truth
    head = [
        " ".join(title.split()),
        "score: " + ("the reader's score" if readings.score is not None else "the reader's decision, 0 or 1"),
        f"left out, without truth: {np.count_nonzero(truth < 0)} readings",
        f"left out, without score: {np.count_nonzero(np.isnan(values) & (truth >= 0))} readings",
        "",
        f"N0: {np.count_nonzero(of_case[used] == 0)}",
        f"N1: {np.count_nonzero(of_case[used] == 1)}",
        f"NR: {len(np.unique(readings.reader[kept]))}",
        f"NM: {len(np.unique(readings.arm[kept]))}",
        "",
        BEGIN,
    ]
    rows = [f"-1,{cases[i]},truth,{of_case[i]}" for i in used]
    rows += [
        f"{readers[readings.reader[k]]},{cases[readings.case[k]]},{arms[readings.arm[k]]},{_number(values[k])}"
        for k in kept
    ]
    return "\n".join(head + rows) + "\n"


def _writable(name: str, what: str) -> str:
    """A name as the format can hold it, or the reason why not."""
    if "," in name or name.splitlines() != [name] or name != name.strip():
        raise ValueError(
            f'the name of {what} "{name[:60]}" holds a comma, a line break or blanks at its ends, '
            "which an iMRMC file cannot; rename it."
        )
    if what == "reader" and name.lower() in TRUTH_READERS:
        raise ValueError(f'reader "{name}" would be taken for the truth in an iMRMC file; rename it.')
    return name


def _number(value: float) -> str:
    """The shortest text that reads back as the same number, whole ones without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
