"""The gathering of problems: words for them, near names, and rows grouped by the value at fault."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from trustreport.vocabulary.errors import UNSEEN, Problem, visible

if TYPE_CHECKING:
    import pyarrow as pa

CELL = 60  # characters of a cell that a message repeats
ROWS = 20  # rows that a problem lists; it counts all of them
VALUES = 3  # distinct values of a column that become problems of their own, and are named
SEEN = "visible characters only"
RETYPE = (
    "Type it again: copied text can hold control characters and marks that reverse the direction of text."
)
OF_AN_ACCOUNT = re.compile(r"(?<=://).*@")  # the name and the password in an address
SEARCHED = 5000  # names among which a near one is sought

Key = str | int
KeyPath = tuple[Key, ...]


def quoted(cell: object) -> str:
    """A cell between quotation marks, on one line, cut to the length that a message may repeat.

    Of an address, what stands before its host is left out: it may be a password.
    """
    text = " ".join(str(cell).split()) or str(cell)
    if "://" in text:
        text = OF_AN_ACCOUNT.sub("…@", text)
    text = visible(text)
    return f'"{text[:CELL]}…"' if len(text) > CELL else f'"{text}"'


def yaml_word(word: str) -> str:
    """A word as the manifest takes it: between quotation marks where YAML would read something else."""
    plain = re.fullmatch(r"[A-Za-z][\w .-]*", word) and word.lower() not in ("true", "false", "null")
    return word if plain else json.dumps(word, ensure_ascii=False)


def unseen(text: str) -> bool:
    """Whether a text holds a sign that is not seen."""
    return re.search(UNSEEN, text) is not None


def listed(names: Iterable[object], limit: int = 12) -> str:
    """Names as words: ``"a", "b" or "c"``; the first of them where there are many."""
    given = list(names)
    words = [quoted(n) for n in given[:limit]]
    if len(given) > limit:
        return ", ".join(words) + " ..."
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def near(word: str, names: Iterable[str]) -> str:
    """The name most like `word`, or "" where none is."""
    pool = [n for _, n in zip(range(SEARCHED), names)]
    folded = {squeezed(n): n for n in reversed(pool)}
    if squeezed(word) in folded:
        return folded[squeezed(word)]
    close = get_close_matches(squeezed(word)[:CELL], list(folded), 1, 0.7)
    return folded[close[0]] if close else ""


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """The sentence that offers the nearest name, or nothing."""
    found = near(word, names)
    return f"Did you mean {quoted(found)}?" if found else ""


def squeezed(name: str) -> str:
    """A name without blanks, in small letters: what two spellings of one name share."""
    return "".join(name.split()).lower()


def edits(a: str, b: str) -> int:
    """Insertions, deletions, changes and swaps of neighbours between two short words."""
    rows = [list(range(len(b) + 1))]
    for i, x in enumerate(a, 1):
        rows.append([i])
        for j, y in enumerate(b, 1):
            least = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                least = min(least, rows[i - 2][j - 2] + 1)
            rows[i].append(least)
    return rows[-1][-1]


def almost(name: str, word: str) -> bool:
    """Whether a name differs from a word of five letters or more by a slip of the pen: ``secnds``."""
    return len(word) > 4 and edits(name, word) <= (1 if len(word) < 8 else 2)


def dotted(path: KeyPath) -> str:
    """A path as the messages write it: ``datasets[2].role``."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else str(key)
    return text


@dataclass(frozen=True)
class Manifest:
    """The plain values of a manifest and the line of each key, by its path (``("datasets", 2, "role")``)."""

    file: str
    values: Any
    lines: Mapping[KeyPath, int]

    def line(self, path: KeyPath) -> int:
        """The line of a key, or of the nearest group around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def value_at(self, path: KeyPath) -> Any:
        value = self.values
        for key in path:
            value = value[key]
        return value


class Problems(list[Problem]):
    """All problems met so far, in the order in which they were met, and the manifest that some point into."""

    def __init__(self) -> None:
        super().__init__()
        self.manifest = Manifest("", {}, {})

    def declared(
        self,
        path: KeyPath,
        found: str,
        expected: str = "",
        mend: str = "",
        *,
        before: KeyPath | None = None,
        beside: Sequence[KeyPath] = (),
    ) -> None:
        """Add a problem of the manifest, at the line of a key, and of others that contradict or share it."""
        paths = [*([before] if before else []), path, *beside]
        rows = [self.manifest.line(one) for one in paths]
        self.add_at(self.manifest.file, found, expected, mend, rows=rows, column=dotted(path))

    def add_at(
        self,
        file: str,
        found: str,
        expected: str = "",
        mend: str = "",
        *,
        rows: Sequence[int] | NDArray[Any] = (),
        column: str = "",
    ) -> None:
        """Add one problem; of many rows the first are listed and all are counted."""
        first = tuple(int(r) for r in rows[:ROWS])
        if len(first) == 1:
            self.append(Problem(file, found, expected, mend, row=first[0], column=column))
        else:
            self.append(Problem(file, found, expected, mend, column=column, rows=first, n_rows=len(rows)))

    def by_value(
        self,
        file: str,
        column: str,
        cells: "pa.Array | pa.ChunkedArray",
        rows: NDArray[np.int64],
        expected: str,
        mend: str | Callable[[str], str] = "",
    ) -> None:
        """One problem for each distinct cell at fault, or one for all where they are many.

        `cells` are the cells at fault as text, `rows` their rows, (n_at_fault,) both.
        """
        import pyarrow as pa

        if isinstance(cells, pa.ChunkedArray):
            cells = cells.combine_chunks()
        codes = cells.dictionary_encode(null_encoding="encode")
        which = np.asarray(codes.indices)
        order = np.argsort(which, kind="stable")
        starts = np.flatnonzero(np.diff(which[order], prepend=-1))
        if len(starts) > VALUES:
            shown = [cells[int(order[start])].as_py() or "" for start in starts[:VALUES]]
            said = mend if isinstance(mend, str) else next(filter(None, map(mend, shown)), "")
            found = f"found {', '.join(map(quoted, shown))} and {len(starts) - VALUES:,} other values"
            self.add_at(file, found, expected, said, rows=rows[np.sort(order)], column=column)
            return
        for group in np.split(order, starts[1:]):
            cell = cells[int(group[0])].as_py() or ""
            found = f"found {quoted(cell)}" if cell else "found an empty cell"
            said = mend if isinstance(mend, str) else mend(cell)
            self.add_at(file, found, expected, said, rows=rows[group], column=column)
