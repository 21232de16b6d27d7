"""A proposal that can be read: what is refused, or answers nothing, is read another way."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from trustreport.study.ingest import read
from trustreport.study.ingest.contracts import CONTRACTS
from trustreport.study.plan import Kind
from trustreport.study.proposal.files import propose
from trustreport.study.proposal.manifest import text
from trustreport.study.proposal.parts import Choose, Proposal, RefusedReadings
from trustreport.vocabulary.errors import Problem, StudyError
from trustreport.vocabulary.messages import catalogue

MOST_TRIES = 8
UNUSED = ("columns_ignored", "columns_not_groups", "table_unused", "rows_unused")
UNANSWERED = ("answers_nothing", "no_truth")  # cautions of a study of which no question is answered
# Columns without which a table says something else: another one may be meant, but none is left out.
ESSENTIAL = frozenset(("truth", "arm", "candidate", "dataset", "label", "follow_up", "event", "lesion"))
OTHER_COLUMNS = ("truth", "decision", "score")


def write_proposal(
    files: Sequence[Path], manifest: Path, kind: Kind, choose: Choose | None, first: Proposal
) -> Proposal:
    """Write the first proposal of which the study is read and answers a question.

    Where none is, the one that is read at least, else the first one.

    Parameters
    ----------
    files : the tables, copies of which lie beside the manifest
    first : what `propose` made of them
    """
    best, best_rank = first, (True, True)
    waiting = [first]
    for _ in range(MOST_TRIES):
        if not waiting:
            break
        made = waiting.pop(0)
        problems, lacks = _faults(made, manifest)
        rank = bool(problems), bool(lacks)
        if rank < best_rank:
            best, best_rank = made, rank
        if not (problems or lacks):
            break
        left_out = _without_columns(made, problems)
        for refused in [left_out] if left_out else _other_readings(made, problems, lacks):
            again = propose(files, kind, choose, refused)
            if len(again.unread) <= len(first.unread) and (again.entries or again.datasets):
                waiting.append(again)
    best.notes += _reasons(best.refused)
    manifest.write_text(text(best, manifest.resolve().parent.name), encoding="utf-8")
    return best


def _faults(made: Proposal, manifest: Path) -> tuple[Sequence[Problem], str]:
    """The problems of the study as proposed; why it answers nothing, where it is read."""
    manifest.write_text(text(made, manifest.resolve().parent.name), encoding="utf-8")
    try:
        study, _ = read(manifest)
    except StudyError as error:
        return error.problems, ""
    said = [(key, catalogue("en")(f"cautions.{key}", **values)) for key, values in study.cautions]
    made.unused = [sentence for key, sentence in said if key in UNUSED]
    return (), " ".join(sentence for key, sentence in said if key in UNANSWERED)


def _without_columns(made: Proposal, problems: Iterable[Problem]) -> RefusedReadings | None:
    """The same without the columns that are refused and that no table needs; None where there are none."""
    refused, columns = made.refused, dict(made.refused.columns)
    for problem in problems:
        if problem.column and not _is_needed(made, problem.file, problem.column):
            columns.setdefault((problem.file, problem.column), _reason(problem))
    return replace(refused, columns=columns) if len(columns) > len(refused.columns) else None


def _is_needed(made: Proposal, file: str, header: str) -> bool:
    """Whether a table of the file, or none, can do without a column."""
    for path, kind, columns in _tables(made):
        if path.name == file:
            words = {w for w, h in columns.items() if header in _headers(h)} | {header.casefold()}
            contract = CONTRACTS[kind]
            if words & {*contract.required, *contract.one_of, *ESSENTIAL}:
                return True
    return all(path.name != file for path, *_ in _tables(made))


def _tables(made: Proposal) -> Iterator[tuple[Path, str, dict[str, object]]]:
    for entry in made.entries:
        yield entry.path, entry.kind, entry.form.get("columns", {})
    for one in made.datasets:
        if "file" in one:
            yield one["file"], "dataset", one.get("columns", {})


def _headers(mapped: object) -> Iterable[object]:
    return mapped.values() if isinstance(mapped, dict) else mapped if isinstance(mapped, list) else (mapped,)


def _other_readings(made: Proposal, problems: Sequence[Problem], lacks: str) -> Iterator[RefusedReadings]:
    """The tables at fault as another kind, then with another column for the truth, a decision or a score."""
    refused, why = made.refused, {p.file: _reason(p) for p in reversed(problems)}
    tables = {path.name: (kind, columns) for path, kind, columns in _tables(made)}
    if why.keys().isdisjoint(tables):  # the study as a whole
        why = dict.fromkeys(tables, lacks or next(iter(why.values())))
    for file, (kind, _) in tables.items():
        if file in why:
            yield replace(refused, kinds={**refused.kinds, (file, kind): why[file]})
    for file, (_, columns) in tables.items():
        for word in OTHER_COLUMNS if file in why else ():
            header = columns.get(word, word)
            if isinstance(header, str):
                yield replace(refused, uses={**refused.uses, (file, word, header): why[file]})


def _reason(problem: Problem) -> str:
    return problem.found + (f", expected {problem.expected}" if problem.expected else "")


def _reasons(refused: RefusedReadings) -> Iterator[str]:
    for (file, header), why in refused.columns.items():
        yield f"{file}: the column {header} is not used: {why}"
    for (file, kind), why in refused.kinds.items():
        yield f"{file} could be a table of {kind} too, but: {why}"
    for (file, word, header), why in refused.uses.items():
        yield f"{file}: the column {header} could be the {word} too, but: {why}"
