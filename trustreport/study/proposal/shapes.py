"""Tables in other shapes: headers of two rows, rows of several kinds, answers in rows, captured data."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from trustreport.study.ingest import values
from trustreport.study.ingest.problems import Problems
from trustreport.study.ingest.sheet import joined
from trustreport.study.ingest.tables import Raw, kept
from trustreport.study.plan import Pivot, Unpivot
from trustreport.study.proposal.parts import spellings, squeezed, vocabulary

# The name of an item of OpenClinica before its event, form and occurrence, as _E1_C1_2 or, for SPSS, _A1_2.
OF_ITEM = re.compile(r"(.+?)_(?:E\d+(?:_\d+)?_C\d+|[A-Z]\d+)(?:_\d+)?")
KEYS = ("reader", "rater", "case", "patient", "arm", "candidate")  # what tells answers apart


def header_of_two_rows(top: Sequence[Sequence[str]], row: int | None) -> tuple[int, int] | None:
    """The two rows that name the columns together, where one has gaps that the other fills; None elsewhere.

    Parameters
    ----------
    top : the first rows of a table
    row : of the header, from 1, where it is not the first
    """
    at = (row or 1) - 1
    for upper, lower in ((at, at + 1), (at - 1, at)):
        if upper < 0 or lower + 1 >= len(top):
            continue
        names, below, cells = ([cell.strip() for cell in top[i]] for i in (upper, lower, lower + 1))
        width = min(len(names), len(below))
        spans = [i for i in range(1, width) if not names[i] and below[i] and (names[i - 1] or below[i - 1])]
        words = [cell for cell in below if cell]
        whole = joined([names, below])
        if (
            spans
            and sum(map(bool, names)) > 1
            and not any(_is_number(cell) for cell in words)
            and len(set(whole)) == len(whole)
            and sum(map(bool, cells)) >= sum(map(bool, whole)) / 2
        ):
            return upper + 1, lower + 1
    return None


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ".", 1))
    except ValueError:
        return False
    return True


def parts_of(raw: Raw) -> Iterator[tuple[Raw, dict[str, Any]]]:
    """The tables that a file holds, each with what the manifest says of its shape.

    A repeated instrument is a table of its own, and answers in rows become columns; another file is one table
    as it stands.
    """
    words = {squeezed(header): header for header in raw.header if header}
    kinds = next((words[name] for name in vocabulary()["shapes"]["instrument"] if name in words), None)
    if kinds is not None:
        codes, names = values.encoded(raw.columns[raw.header.index(kinds)])
        for code, name in [(-1, ""), *enumerate(names.to_pylist())]:
            rows = codes == code
            if rows.any():
                yield _without_empty(kept(raw, rows), kinds), {"where": {kinds: name}}
        return
    if items := captured_items(raw):
        yield _captured(raw, items)
        return
    turned = _turned(raw, words)
    yield turned if turned is not None else (raw, {})


def captured_items(raw: Raw) -> dict[str, str]:
    """What the columns of an export of Castor, OpenClinica or OHDSI hold, by header; empty of another table.

    The subject is the case, and an item of OpenClinica has a name without its event, form and occurrence:
    "call" of ``call_E1_C1_2``, or ``call_A1`` where it is written for SPSS.
    """
    words, predicted = [squeezed(header) for header in raw.header], vocabulary()["predictions"]
    if {"row_id", "outcome_count", "value"} <= set(words):
        return {header: predicted[word] for header, word in zip(raw.header, words) if word in predicted}
    program, subject = _captured_by(words)
    if not program:
        return {}
    items = {}
    if program == "openclinica":
        items = {h: found[1] for h in raw.header if (found := OF_ITEM.fullmatch(h))}
    return {raw.header[words.index(subject)]: "case", **items}


def _captured_by(words: Iterable[str]) -> tuple[str, str]:
    """The program that exports such columns and its column of subjects, in plain letters; or "" and ""."""
    present = set(words)
    for program, known in vocabulary()["captured"].items():
        subject = present.intersection(known["subject"])
        if len(subject) == 1 and any(_is_about_capture(word, program) for word in present):
            return program, subject.pop()
    return "", ""


def header_of_capture(top: Sequence[Sequence[str]]) -> int | None:
    """The row of OpenClinica's header below its table of events and forms; None where it is the first."""
    rows = (row for row, cells in enumerate(top[1:], 2) if _captured_by(map(squeezed, cells))[0])
    return next(rows, None)


def _is_about_capture(word: str, program: str) -> bool:
    return any(re.fullmatch(pattern, word) for pattern in vocabulary()["captured"][program]["about"])


def _captured(raw: Raw, items: Mapping[str, str]) -> tuple[Raw, dict[str, Any]]:
    """The table without columns that are about its capture, and with a row for each occurrence of a form."""
    program, _ = _captured_by(map(squeezed, raw.header))
    if program:
        raw = _without_empty(raw, *(h for h in raw.header if _is_about_capture(squeezed(h), program)))
    own: dict[str, list[str]] = {}
    for header in raw.header:
        own.setdefault(items.get(header, header), []).append(header)
    most = max(map(len, own.values()), default=1)
    if most == 1:
        return raw, {}
    repeated = {item: headers for item, headers in own.items() if len(headers) == most}
    starred = {item: f"{headers[0].rpartition('_')[0]}_*" for item, headers in repeated.items()}
    whole = all(
        [h for h in raw.header if fnmatchcase(h, starred[item])] == headers
        for item, headers in repeated.items()
    )
    how = Unpivot(
        into="occurrence",
        columns={item: (starred[item],) if whole else tuple(headers) for item, headers in repeated.items()},
        names=None if whole else tuple(map(str, range(1, most + 1))),
    )
    turned = values.unpivoted(raw, how, (), Problems())
    return (raw, {}) if turned is None else (turned, {"unpivot": how.model_dump(exclude_none=True)})


def _without_empty(raw: Raw, *names: str) -> Raw:
    """The table without columns that hold nothing, and without those named."""
    import pyarrow.compute as pc

    keep = [
        i
        for i, column in enumerate(raw.columns)
        if raw.header[i] not in names and pc.any(values.text(column).is_valid()).as_py()
    ]
    return replace(
        raw, header=tuple(raw.header[i] for i in keep), columns=tuple(raw.columns[i] for i in keep)
    )


def _turned(raw: Raw, words: Mapping[str, str]) -> tuple[Raw, dict[str, Any]] | None:
    """The table with a column for each question, where it has questions and answers in rows."""
    shapes = vocabulary()["shapes"]
    question, answer = (
        next((words[name] for name in shapes[key] if name in words), None) for key in ("question", "answer")
    )
    if question is None or answer is None:
        return None
    known = {name for key in KEYS for name in spellings(key)}
    others = [h for h in raw.header if h and h not in (question, answer)]
    keys = tuple(h for h in others if squeezed(h) in known)
    _, asked = values.encoded(raw.columns[raw.header.index(question)])
    if not keys or not 1 < len(asked) <= shapes["most_questions"]:
        return None
    # Where names that are known do not tell records apart, those that are not known do, but not times.
    names = tuple(h for h in others if h in keys or not _is_time(raw, h))
    for by in dict.fromkeys((keys, names)):
        found = values.pivoted(raw, Pivot(question=question, answer=answer, by=by), (), Problems())
        if found is not None:
            return found, {"pivot": {"question": question, "answer": answer, "by": by}}
    return None


def _is_time(raw: Raw, header: str) -> bool:
    """Whether cells of a column are times, or of one value each row."""
    _, distinct = values.encoded(raw.columns[raw.header.index(header)])
    some = distinct.slice(0, 20).to_pylist()
    return len(distinct) == raw.n_rows or all(re.match(r"\d{1,4}[-/.:]\d{1,2}", cell) for cell in some)


def arms_in_columns(headers: Sequence[str]) -> dict[str, dict[str, str]]:
    """Of headers that name an arm and something else, as ``Smith_noAI``: the header of each arm, by the rest.

    Only what has a column for both arms.
    """
    arms = [(word, arm) for arm in ("unaided", "aided") for word in vocabulary()["arms"][arm]]
    arms.sort(key=lambda pair: -len(pair[0]))  # "without_ai" before "ai"
    found: dict[str, dict[str, str]] = {}
    for header in headers:
        plain = squeezed(header)
        for word, arm in arms:
            rest = next(
                (
                    cut.strip("_")
                    for cut in (plain.removesuffix(f"_{word}"), plain.removeprefix(f"{word}_"))
                    if cut != plain
                ),
                "",
            )
            if rest:
                found.setdefault(rest, {}).setdefault(arm, header)
                break
    return {name: own for name, own in found.items() if len(own) == 2}
