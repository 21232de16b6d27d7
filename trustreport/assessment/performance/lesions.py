"""What readers and candidates marked, with cases as the unit: of every data set and task with lesions."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import place_of_set
from trustreport.assessment.performance.keys import case_key, is_mature
from trustreport.measures.cluster import Clusters
from trustreport.measures.lesions.area import Marked
from trustreport.measures.lesions.froc import CUSTOMARY
from trustreport.study.clusters import clusters_of
from trustreport.study.plan import Plan
from trustreport.study.study import Dataset, Localisation, Study
from trustreport.vocabulary.place import Place, of_task


@dataclass(frozen=True, eq=False)
class MarkedCases:
    """The cases of a data set or task, and the marks of each maker in each arm.

    `known` (n_cases,) are the cases that count: all but those of a period that are too young. `cluster` names
    the patient of each of these, None where every case is a patient of its own.
    """

    of: Localisation
    place: Place
    known: NDArray[np.bool_]
    cluster: Clusters | None
    memo: dict[tuple[int, int], Marked] = field(default_factory=dict, init=False, repr=False)

    @property
    def by_readers(self) -> bool:
        """Whether readers made the marks; else candidates."""
        return self.of.readers is not None

    @property
    def makers(self) -> tuple[str, ...]:
        """Names of the readers or candidates."""
        return tuple(self.of.makers)

    @property
    def arms(self) -> tuple[str, ...]:
        """The arms in which marks were made; one without a name for candidates."""
        return self.of.arms

    @property
    def with_lesion(self) -> int:
        return int((self.of.cases.truth[self.known] == 1).sum())

    @property
    def n_cases(self) -> int:
        return int(self.known.sum())

    @cached_property
    def key(self) -> str:
        """Which cases these are."""
        return case_key(self.of.name, self.of.cases.labels, np.flatnonzero(self.known))

    def place_of(self, maker: int) -> Place:
        """Where the numbers of a candidate belong: one of several is named."""
        several = len(self.makers) > 1
        return self.place.narrowed(candidate=self.makers[maker]) if several else self.place

    def marked(self, arm: int, maker: int) -> Marked:
        """The marks of one maker in one arm, the highest on each lesion."""
        if (arm, maker) not in self.memo:
            self.memo[arm, maker] = self._marked(arm, maker)
        return self.memo[arm, maker]

    def _marked(self, arm: int, maker: int) -> Marked:
        one, place = self.of, np.cumsum(self.known) - 1
        of_lesion = self.known[one.lesion_case]
        mine = (one.arm == arm) & (one.maker == maker) & self.known[one.case]
        rating = np.full(len(one.lesion_case), -np.inf)
        hit, false = mine & (one.lesion >= 0), mine & (one.lesion < 0)
        rating[one.lesion[hit]] = one.rating[hit]
        return Marked(
            self.n_cases,
            place[one.lesion_case[of_lesion]],
            rating[of_lesion],
            place[one.case[false]],
            one.rating[false],
            None if one.weight is None else one.weight[of_lesion],
            self.cluster,
        )


def marked_cases(study: Study, plan: Plan) -> Iterator[MarkedCases]:
    """Every data set and task with lesions and marks."""
    of_readers = sum(one.readers is not None for one in study.localisations)
    held = {d.name: d for d in study.datasets}
    for one in study.localisations:
        dataset = held.get(one.dataset) or Dataset(one.name, "", one.cases)
        known = is_mature(dataset, study, plan)
        cluster = clusters_of(dataset, plan).of_case
        place = place_of_set(dataset) if one.readers is None else of_task(one.task, several=of_readers > 1)
        if known.any():
            yield MarkedCases(one, place, known, None if cluster is None else cluster[known])


def rates_of(plan: Plan) -> tuple[float, ...]:
    """False marks a case at which sensitivity is given: as declared, else the customary ones."""
    return plan.localisation.false_marks_per_case or CUSTOMARY
