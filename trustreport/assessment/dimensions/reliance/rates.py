"""A rate of the measures as entries of results.json: clustered, and readings taken as independent."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, Literal

import numpy as np

from trustreport.assessment.performance.reader_analysis import AIDED, UNAIDED
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.means import case_share
from trustreport.measures.note import Note
from trustreport.measures.paired.difference import PairedTable
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.clustered import INDEPENDENT, Linearised, clustered_share
from trustreport.study.study import Floats
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

ID = "reliance"
Of = Literal["both", "aided", "unaided", "advice"]


def as_it_is(share: Estimate) -> Estimate:
    """The share itself."""
    return share


@dataclass(frozen=True, slots=True)
class RateEntry:
    """A rate of the measures as an entry of results.json: its id, of which arm, after which advice.

    `turned` makes the entry of the share: its odds, for instance.
    """

    rate: str
    id: str
    of: Of = "both"
    advice: Literal["", "right", "wrong"] = ""
    turned: Callable[[Estimate], Estimate] = as_it_is

    def place(self, place: Place, arms: tuple[str, str]) -> Place:
        """The place of its entries; a published set of counts is of both arms without saying so."""
        if self.of in ("aided", "unaided"):
            return place.narrowed(arm=arms[AIDED] if self.of == "aided" else arms[UNAIDED])
        return place.narrowed(arms=arms) if self.of == "both" and place.set is None else place

    @property
    def parameters(self) -> dict[str, Any]:
        return {"advice": self.advice} if self.advice else {}


def pooled(
    asked: RateEntry,
    place: Place,
    outcome: Floats,
    cluster: Clusters | None,
    lacking: Note,
    level: float,
    **of: Any,
) -> list[Result]:
    """Clustered, and as commonly published taken as independent; the clustered one is primary if it can."""
    clustered = clustered_share(outcome, cluster=cluster, level=level, lacking=lacking)
    alone = clustered.n > 0 and isnan(clustered.low)
    pair = clustered, independent(outcome, cluster if alone else None, lacking, level)
    return _both(f"{ID}.{asked.id}", place, *map(asked.turned, pair), alone=alone, **of)


def linearised(
    id: str,
    place: Place,
    found: Linearised | Note,
    cluster: Clusters | None,
    n: int,
    level: float,
    **of: Any,
) -> list[Result]:
    """The same of a value that is made of several means; a text says why there is none."""
    if isinstance(found, Note):
        nothing = undefined(n, found, level=level, method=INDEPENDENT)
        return [Result(f"{ID}.{id}", place, nothing, primary=True, **of)]
    clustered = found.clustered(level, cluster)
    alone = isnan(clustered.low)
    each = found.independent(level, cluster if alone else None)
    return _both(f"{ID}.{id}", place, clustered, each, alone=alone, **of)


def _both(
    id: str, place: Place, clustered: Estimate, each: Estimate, *, alone: bool, **of: Any
) -> list[Result]:
    if alone and not isnan(each.low):
        each = replace(each, note=each.note + notes.ONLY_THESE)
    return [
        Result(id, place, clustered, analysis="clustered", primary=not alone, **of),
        Result(id, place, each, primary=alone, **of),
    ]


def independent(outcome: Floats, cluster: Clusters | None, lacking: Note, level: float) -> Estimate:
    """The share with readings taken as independent; those of a patient's cases as one cluster, if any."""
    based = ~np.isnan(outcome)
    of = None if cluster is None else np.broadcast_to(cluster, outcome.shape)[based]
    return case_share(outcome[based] == 1, lacking=lacking, cluster=of, level=level)


def paired_table(counts: Mapping[str, int], advice: str) -> PairedTable:
    """Decisions before and after by being right, after right advice, wrong advice or any."""
    after_advice = {"": "01", "right": "1", "wrong": "0"}[advice]

    def among(before: str, after: str) -> int:
        """Readings with these decisions, over the kinds of advice asked for."""
        return sum(counts[before + a + after] for a in after_advice)

    return PairedTable(among("1", "1"), among("0", "1"), among("1", "0"), among("0", "0"))
