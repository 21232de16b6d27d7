"""Running independent tasks one after the other, in threads, or by joblib on whatever backend there is."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import starmap
from typing import Any, TypeVar

R = TypeVar("R")
Run = Callable[[Callable[..., Any], Iterable[Sequence[Any]]], Iterable[Any]]
"""Calls a function once for each tuple of arguments; yields the results in that order."""

one_by_one: Run = starmap


def in_threads(function: Callable[..., R], arguments: Iterable[Sequence[Any]]) -> Iterator[R]:
    """A `Run` by as many threads as this process has cores: for products of large matrices that all share."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        yield from pool.map(lambda some: function(*some), arguments)


def with_joblib(**options: Any) -> Run:
    """A `Run` by joblib, configured as ``joblib.parallel_config``: ``with_joblib(n_jobs=2, backend="loky")``.

    The tasks carry their own random generators and their sums are exact (`Distances`), so the results are
    those of `one_by_one`.
    """

    def run(function: Callable[..., R], arguments: Iterable[Sequence[Any]]) -> Iterable[R]:
        from joblib import Parallel, delayed, parallel_config

        with parallel_config(**options):
            done: Iterable[R] = Parallel()(delayed(function)(*some) for some in arguments)
        return done

    return run
