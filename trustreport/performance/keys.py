"""Which cases a number is of, in sixteen digits: equal for equal cases, whoever computed the number."""

from collections.abc import Iterable, Iterator
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from trustreport.study import Labels

DIGITS = 16
CHUNK = 1_000_000


def case_key(name: str, labels: Labels, rows: NDArray[np.intp] | None = None) -> str:
    """The first 16 digits of the sha256 of the keys of cases, sorted, one a line.

    A key is ``NAME/CASE``: the data set (or task, or published set) and the name of the case, the number of
    its row where cases have no names.

    Parameters
    ----------
    rows : int array, shape (n,), optional
        Which cases of the set; all of them when not given.

    Examples
    --------
    >>> case_key("north", Labels(("c2", "c1"))) == case_key("north", Labels(("c1", "c2")))
    True
    """
    rows = np.arange(len(labels)) if rows is None else np.asarray(rows)
    return _digest(_counted(name, rows) if labels.counted else _named(name, labels, rows))


def joined_key(keys: Iterable[str]) -> str:
    """The key of several sets of cases together, from theirs."""
    return _digest(f"{key}\n".encode() for key in sorted(keys))


def _digest(lines: Iterable[bytes]) -> str:
    digest = sha256()
    for chunk in lines:
        digest.update(chunk)
    return digest.hexdigest()[:DIGITS]


def _named(name: str, labels: Labels, rows: NDArray[np.intp]) -> Iterator[bytes]:
    for label in sorted(labels[int(i)] for i in rows):
        yield f"{name}/{label}\n".encode()


def _counted(name: str, rows: NDArray[np.intp]) -> Iterator[bytes]:
    """Numbers of rows in the order of their digits, without a string for each of many millions."""
    number = rows.astype(np.int64) + 1
    if not len(number):
        return
    width = np.floor(np.log10(number)).astype(np.int64) + 1
    order = np.lexsort((width, number * 10 ** (width.max() - width)))
    head = np.frombuffer(f"{name}/".encode(), np.uint8)
    powers = 10 ** np.arange(width.max() - 1, -1, -1)
    for start in range(0, len(order), CHUNK):
        some = number[order[start : start + CHUNK]]
        line = np.empty((len(some), len(head) + len(powers) + 1), np.uint8)
        line[:, : len(head)] = head
        for i, power in enumerate(powers, len(head)):
            digit = some // power
            line[:, i] = np.where(digit > 0, ord("0") + digit % 10, 0)
        line[:, -1] = ord("\n")
        yield line[line > 0].tobytes()
