"""The cases of one candidate over several data sets together, with what is known of each of them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import Mask, ScoredCases
from trustreport.assessment.performance.keys import case_key, joined_key
from trustreport.measures.cluster import Clusters
from trustreport.study.clusters import clusters_over
from trustreport.study.plan import Plan
from trustreport.study.study import Coded
from trustreport.vocabulary.place import Place

ColumnKind = Literal["group", "site", "version", "period", "dataset"]
Codes = NDArray[np.int64]

MOST_LEVELS = 12  # a column with more names than this is no characteristic


@dataclass(frozen=True, eq=False)
class PooledColumn:
    """A column of the pooled cases: its names, and which one each case has, (n,); -1 where unknown.

    `start` is the period that parts two phases, where the periods are taken as such.
    """

    name: str
    kind: ColumnKind
    levels: tuple[str, ...]
    codes: Codes
    start: str = ""


@dataclass(frozen=True, eq=False)
class Pool:
    """The analysed cases of one candidate over several data sets, (n,) each.

    Parameters
    ----------
    truth, decision : as in `ScoredCases`; failed cases are decided by the rule
    of_set : which of `parts` a case is of
    cluster : which cases belong together; None where each is a cluster of its own
    within_site : the same with sites taken as they are, not as a sample of sites
    """

    place: Place
    parts: tuple[ScoredCases, ...]
    truth: Mask
    decision: Mask
    of_set: Codes
    cluster: Clusters | None
    within_site: Clusters | None
    characteristics: tuple[PooledColumn, ...]

    def __len__(self) -> int:
        return len(self.truth)

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where the cases of each set begin, and where the last one ends."""
        return np.concatenate([[0], np.cumsum([len(part) for part in self.parts])])

    def names(self, of: Mask) -> tuple[str, ...]:
        """The data sets that hold some of the cases, (n,)."""
        held = set(np.unique(self.of_set[of]).tolist())
        return tuple(part.dataset.name for i, part in enumerate(self.parts) if i in held)

    def key(self, of: Mask) -> str:
        """Which cases these are (`trustreport.assessment.performance.keys`)."""
        keys = []
        for i, part in enumerate(self.parts):
            own = of[self.starts[i] : self.starts[i + 1]]
            if own.any():
                keys.append(case_key(part.dataset.name, part.dataset.cases.labels, part.rows[own]))
        return keys[0] if len(keys) == 1 else joined_key(keys)


def pooled(parts: Sequence[ScoredCases], plan: Plan, *, in_time: bool = False) -> Pool | None:
    """Several sets of one candidate as one; None without decisions.

    Parameters
    ----------
    in_time : whether the sets are periods, in their order
    """
    parts = tuple(part for part in parts if part.decision is not None and len(part))
    if not parts:
        return None
    of_set = np.repeat(np.arange(len(parts)), [len(part) for part in parts]).astype(np.int64)
    names = tuple(part.dataset.name for part in parts)
    place = Place(datasets=names, candidate=parts[0].place.candidate)
    return Pool(
        place,
        parts,
        np.concatenate([part.truth for part in parts]),
        np.concatenate([part.decision for part in parts if part.decision is not None]),
        of_set,
        _clusters(parts, plan),
        _clusters(parts, plan, within_site=True),
        tuple(_characteristics(parts, of_set, in_time=in_time)),
    )


def _clusters(parts: Sequence[ScoredCases], plan: Plan, *, within_site: bool = False) -> Clusters | None:
    """The clusters of the cases of all parts; None where every case is a cluster of its own."""
    codes = clusters_over([part.dataset for part in parts], plan, within_site=within_site)
    found = np.concatenate([code[part.rows] for code, part in zip(codes, parts)])
    return None if len(np.unique(found)) == len(found) else found


# ---------------------------------------------------------------- characteristics


def _characteristics(parts: Sequence[ScoredCases], of_set: Codes, *, in_time: bool) -> Iterator[PooledColumn]:
    """Every column with a few names, at least two of them here; the sets last, unless they are the sites."""
    names = dict.fromkeys(name for part in parts for name in part.dataset.cases.groups)
    columns: list[tuple[str, ColumnKind, list[Coded | None]]] = [
        ("site", "site", [part.dataset.cases.site for part in parts]),
        *((name, "group", [part.dataset.cases.groups.get(name) for part in parts]) for name in names),
        ("version", "version", [part.dataset.scores[part.candidate].version for part in parts]),
    ]
    site: Codes | None = None
    for name, kind, found in columns:
        made = _joined_column(name, kind, parts, found)
        if made is not None:
            site = made.codes if kind == "site" else site
            yield made
    if len(parts) > 1 and not (site is not None and not in_time and _same_partition(site, of_set)):
        sets = tuple(part.dataset.name for part in parts)
        yield PooledColumn(*(("period", "period") if in_time else ("dataset", "dataset")), sets, of_set)


def _joined_column(
    name: str, kind: ColumnKind, parts: Sequence[ScoredCases], columns: Sequence[Coded | None]
) -> PooledColumn | None:
    """A column over all sets, by the names of its levels."""
    levels: dict[str, int] = {}
    codes = []
    for part, column in zip(parts, columns):
        if column is None:
            codes.append(np.full(len(part), -1, np.int64))
            continue
        own = column.codes[part.rows]
        if len(np.unique(own)) > MOST_LEVELS + 1:
            return None
        here = {
            int(c): levels.setdefault(column.labels[int(c)], len(levels)) for c in np.unique(own) if c >= 0
        }
        codes.append(np.array([here.get(int(c), -1) for c in own], np.int64))
    if not 2 <= len(levels) <= MOST_LEVELS:
        return None
    order = sorted(levels)
    to = np.array([*(order.index(level) for level in levels), -1])
    return PooledColumn(name, kind, tuple(order), to[np.concatenate(codes)])


def _same_partition(one: Codes, other: Codes) -> bool:
    """Whether two columns divide the cases alike, whatever their names."""
    pairs: Any = np.unique(np.stack([one, other], axis=1), axis=0)
    return len(pairs) == len(np.unique(one)) == len(np.unique(other))
