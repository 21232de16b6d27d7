"""Running independent tasks one after the other, or by joblib on whatever backend is configured."""

from collections.abc import Callable, Iterable, Sequence
from itertools import starmap
from typing import Any, TypeVar

R = TypeVar("R")
Run = Callable[[Callable[..., Any], Iterable[Sequence[Any]]], Iterable[Any]]
"""Calls a function once for each tuple of arguments; yields the results in that order."""

one_by_one: Run = starmap


def with_joblib(**options: Any) -> Run:
    """A `Run` by ``joblib.Parallel(**options)``: ``with_joblib(n_jobs=2, backend="loky")``.

    The tasks carry their own random generators, so the results are those of `one_by_one`.
    """

    def run(function: Callable[..., R], arguments: Iterable[Sequence[Any]]) -> Iterable[R]:
        from joblib import Parallel, delayed

        done: Iterable[R] = Parallel(**options)(delayed(function)(*some) for some in arguments)
        return done

    return run
