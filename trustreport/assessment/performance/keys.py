"""Which cases a number is of, in sixteen digits: equal for equal cases, whoever computed the number."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from trustreport.study.study import Labels

DIGITS = 16
CHUNK = 200_000
LENGTH = 5  # bits that hold how many digits a number has


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
    ranked = sorted(labels.at(rows))
    for start in range(0, len(ranked), CHUNK):
        yield "".join(f"{name}/{label}\n" for label in ranked[start : start + CHUNK]).encode()


def _counted(name: str, rows: NDArray[np.intp]) -> Iterator[bytes]:
    """Numbers of rows in the order of their digits, without a string for each of many millions."""
    key = np.sort(rows).astype(np.int64) + 1
    if not len(key):
        return
    longest = len(str(key[-1]))
    # All as long as the longest, and how long each was: 7 of up to three digits is 700, one digit.
    ends = np.searchsorted(key, 10 ** np.arange(longest + 1))
    for width, (start, stop) in enumerate(pairwise(ends), 1):
        key[start:stop] *= 10 ** (longest - width) << LENGTH
        key[start:stop] += width
    key.sort()
    head = np.frombuffer(f"{name}/".encode(), np.uint8)
    for start in range(0, len(key), CHUNK):
        some = key[start : start + CHUNK]
        length, number = some & ((1 << LENGTH) - 1), some >> LENGTH
        line = np.empty((len(some), len(head) + longest + 1), np.uint8)
        line[:, : len(head)] = head
        for i in reversed(range(longest)):
            shorter = number // 10
            line[:, len(head) + i] = np.where(i < length, ord("0") + number - 10 * shorter, 0)
            number = shorter
        line[:, -1] = ord("\n")
        yield line[line > 0].tobytes()
