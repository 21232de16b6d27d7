"""Which cases a number rests on: their key, complete follow-up, and cells too small to print."""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import pairwise
from math import nan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate
from trustreport.measures.note import note
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Labels, Study

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
    ranked = sorted(labels.names_at(rows))
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


def cut_of(datasets: Sequence[Dataset], plan: Plan) -> dt.date | None:
    """The day until which truths are known: declared, else the end of the period, else the last case.

    None where nothing tells it.
    """
    declared = plan.vigilance and (plan.vigilance.data_cut or plan.vigilance.period_end)
    if declared:
        return declared
    ends = [d.end_date for d in plan.datasets if d.role == "period" and d.end_date]
    ends += [day for d in datasets if d.role == "period" and (day := last_day(d))]
    return max(ends, default=None)


def last_day(dataset: Dataset) -> dt.date | None:
    """The day of the latest case; None where no case has one."""
    date = dataset.cases.date
    if date is None or np.isnat(date).all():
        return None
    return dt.date.fromisoformat(str(date[~np.isnat(date)].max().astype("datetime64[D]")))


def is_mature(dataset: Dataset, study: Study, plan: Plan) -> NDArray[np.bool_]:
    """Which cases are at least `maturity_days` old at the data cut-off, (n_cases,).

    Only cases of a period can be too young. A case without a date is mature where the declared last day of
    its period lies that long before the cut-off, which is then true of all its cases; else nothing shows its
    age, and it is not.
    """
    n = len(dataset.cases)
    days = plan.reference_standard.maturity_days
    if dataset.role != "period" or not days:
        return np.ones(n, bool)
    cut = cut_of(study.datasets, plan)
    end = next((d.end_date for d in plan.datasets if d.dataset == dataset.name), None)
    whole = cut is not None and end is not None and (cut - end).days >= days
    date = dataset.cases.date
    if cut is None or date is None:
        return np.full(n, whole)
    age = (np.datetime64(cut, "D") - date) / np.timedelta64(1, "D")
    return np.where(np.isnat(date), whole, age >= days)


def has_no_date(dataset: Dataset) -> NDArray[np.bool_]:
    """Which cases have no date, (n_cases,)."""
    date = dataset.cases.date
    return np.ones(len(dataset.cases), bool) if date is None else np.isnat(date)


def public_cell(plan: Plan) -> int:
    """The least cell of a public report; 0 in an internal one."""
    return int(plan.limit("P59_cell")) if plan.report.release == "public" else 0


def closed(cells: Iterable[int], least: int) -> bool:
    """Whether any cell holds some cases, but fewer than may be shown."""
    return any(0 < n < least for n in cells)


def suppressed(e: Estimate, least: int) -> Estimate:
    """An entry of which nothing is shown outside."""
    return Estimate(nan, nan, nan, 0, e.level, e.method, note("suppressed_fewer_than", k=least))
