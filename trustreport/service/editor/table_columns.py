"""The columns of a table as controls: which header is which of our words, and what its values mean."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trustreport.service.blank import SUFFIXES
from trustreport.service.editor.field_values import MISSING, Shape, shown
from trustreport.service.engine import (
    CONTRACTS,
    TABLE_WORDS,
    WORDS,
    Cells,
    Headers,
    Layout,
    Problems,
    as_coded,
    our_word,
    read_table,
)

__all__ = ["TABLE_WORDS", "ColumnEntry", "Files", "files_of", "of_table"]

Files = Mapping[str, Mapping[str, Any]]  # by name: its headers, and by header the values of one that has few
MOST_BYTES = 50_000_000  # of a table whose values are listed
MOST_HEADERS = 300
MOST_VALUES = 8  # distinct ones of a column, for them to be offered one by one
LONGEST = 60
NAME, MAP = Shape("line"), Shape("map")
CODE = Shape("code")


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    """A control below ``columns`` or ``values``."""

    path: tuple[str, ...]
    word: str
    shape: Shape
    text: str
    choices: tuple[tuple[str, str], ...]
    default: str
    front: bool


def files_of(study: Path) -> dict[str, dict[str, Any]]:
    """The tables in a folder: their headers, and the values of columns of words that have few."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(p for p in study.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file()):
        name = path.relative_to(study).as_posix()
        found[name] = {"headers": [], "values": {}}
        if path.stat().st_size > MOST_BYTES:
            continue
        try:
            raw = read_table(path, name, Layout(), Problems())
        except (ValueError, LookupError, OSError):
            continue
        if raw is None:
            continue
        columns = [(h, c) for h, c in zip(raw.header, raw.columns, strict=True) if h][:MOST_HEADERS]
        found[name]["headers"] = [h for h, _ in columns]
        for header, column in columns:
            cells = Cells(column)
            words = sorted(cells.distinct)
            if 0 < len(words) <= MOST_VALUES and not cells.numeric and max(map(len, words)) <= LONGEST:
                found[name]["values"][header] = words
    return found


def of_table(
    kind: str, values: Mapping[str, Any], files: Files
) -> tuple[list[ColumnEntry], list[ColumnEntry], list[tuple[str, ...]]]:
    """The controls of a table's columns and of their values, and the paths of what has none.

    Parameters
    ----------
    values : the table's entry in the manifest
    """
    columns, coded = values.get("columns") or {}, values.get("values") or {}
    if not isinstance(columns, Mapping) or not isinstance(coded, Mapping):
        return [], [], [(name,) for name in ("columns", "values") if name in values]
    file = files.get(str(values.get("file")), {})
    headers = tuple(file.get("headers", ()))
    if not headers and not columns and not coded and not values.get("file"):
        return [], [], []
    taken: dict[str, str] = {}
    kept: list[tuple[str, ...]] = []
    entries = [e for e in _columns(kind, columns, headers, taken, kept) if e is not None]
    listed = file.get("values", {})
    meant = list(_values(taken, coded, listed, kept))
    return entries, meant, kept


def _columns(
    kind: str, columns: Mapping[str, Any], headers: tuple[str, ...], taken: dict[str, str], kept: list[Any]
) -> Iterator[ColumnEntry]:
    """A control for each word of the table, and for each other one that is mapped."""
    contract = CONTRACTS.get(kind)
    words = contract.words if contract else ()
    spelled = {our_word(key): key for key in columns}
    in_file = Headers(headers)
    for word in dict.fromkeys((*words, *spelled)):
        key = spelled.get(word, word)
        theirs = columns.get(key)
        shape = MAP if isinstance(theirs, Mapping) else NAME
        text = shown(shape, theirs)
        if text is None:
            kept.append(("columns", key))
            continue
        own = None
        if contract and word not in contract.only_mapped and word in words:
            own = in_file.free(word)
        default = headers[own] if own is not None else ""
        options = tuple((h, h) for h in headers) if shape is NAME else ()
        if text and options and text not in headers:
            options = (*options, (text, text))
        if header := text or default:
            taken[word] = header
        first = contract is not None and word in (*contract.required, *contract.one_of)
        yield ColumnEntry((key,), word, shape, text, options, default, bool(header) or first)


def _values(
    taken: Mapping[str, str], coded: Mapping[str, Any], listed: Mapping[str, list[str]], kept: list[Any]
) -> Iterator[ColumnEntry]:
    """A control for each value of a column that is yes or no, and for each that is mapped."""
    spelled = {our_word(key): key for key in coded}
    binary = [w for w in taken if w in WORDS and WORDS[w].kind == "binary" and taken[w] in listed]
    for word in dict.fromkeys((*binary, *spelled)):
        key = spelled.get(word, word)
        meanings = coded.get(key) or {}
        if not isinstance(meanings, Mapping):
            kept.append(("values", key))
            continue
        is_code = word in WORDS and WORDS[word].kind == "binary"
        cells = listed.get(taken.get(word, ""), []) if is_code else []
        for cell in dict.fromkeys((*cells, *map(str, meanings))):
            said = as_coded(meanings[cell]) if cell in meanings else None
            text = "" if said is None else (said or MISSING) if is_code else str(said)
            if not is_code and not text:
                kept.append(("values", key, cell))
                continue
            options = (
                tuple((c, c) for c in dict.fromkeys(("1", "0", MISSING, *filter(None, [text]))))
                if is_code
                else ()
            )
            yield ColumnEntry(
                (key, cell), f"{word}: {cell}", CODE if is_code else NAME, text, options, "", True
            )
