"""Readers of two arms analysed together: each analysis of an endpoint, the primary one first."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import isnan
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.crossed_clusters import ClusteredReaders, ClusteredYouden, SumOfClasses
from trustreport.measures.mrmc.in_range import difference_in_range
from trustreport.measures.mrmc.obuchowski_rockette import MODES, ObuchowskiRockette, leading
from trustreport.measures.mrmc.period import PeriodAdjusted
from trustreport.measures.mrmc.ustatistic import METHOD, UStatistic
from trustreport.measures.note import Note
from trustreport.study.study import Floats

# Arrays of two arms hold the compared arm first, then its baseline.
AIDED, UNAIDED = 0, 1


# The covariance of the primary analysis where there are several.
FIRST_COVARIANCE = "jackknife"
HIGH = 0.9  # of a share or an area


ChangeInRange = Callable[[Estimate, Callable[[int], Estimate]], Estimate]


class Single(Protocol):
    """The estimates of a reader who is the only one."""

    def arm_mean(self, arm: int, *, level: float) -> Estimate: ...

    def difference(self, compared: int, baseline: int, *, level: float) -> Estimate:
        """The difference between two arms."""
        ...


@dataclass(frozen=True, eq=False)
class Analysis:
    """The readers of a study, or some of them, analysed together.

    `fits` holds an Obuchowski-Rockette fit per covariance where every reader read every case in both arms,
    and is empty elsewhere; `unbiased` serves any design. `centred` is the U-statistic about the arm means,
    where readings are missing: it does not depend on whether right or wrong decisions are counted. `single`
    is there where one reader has a method of the own, `clustered` where several cases are of one patient; it
    then leads, since all others take cases as independent. `mean_in_range` and `change_in_range` give the
    primary estimates their limits; the latter may ask for the mean of an arm. `adjusted` is there where more
    readers read in one order of the arms than in the other: the change adjusted for the period then leads.

    The primary estimates have the standard error and the degrees of freedom of one of these, and limits
    within the range: `mean_in_range` gives those of an arm, and a difference reaches `greatest` at most.
    """

    unbiased: UStatistic | SumOfClasses
    mean_in_range: Callable[[Estimate, int], Estimate]
    fits: Mapping[str, ObuchowskiRockette] = field(default_factory=dict)
    centred: UStatistic | SumOfClasses | None = None
    single: Single | None = None
    clustered: ClusteredReaders | ClusteredYouden | None = None
    change_in_range: ChangeInRange = lambda e, mean: difference_in_range(e)
    adjusted: PeriodAdjusted | None = None

    def arm_means(self, arm: int, level: float) -> dict[str, Estimate]:
        """The mean of an arm by analysis, the primary one first."""
        found = {
            f"{mode}_{covariance}": fit.arm_mean(arm, mode=mode, level=level)
            for covariance, fit in self.fits.items()
            for mode in MODES
        }
        for u in self._ustatistics():
            e = u.arm_mean(arm, level=level)
            found[e.method] = e
        if self.single:
            return _first(self.single.arm_mean(arm, level=level), found)
        lead = self.clustered.arm_mean(arm, level=level) if self.clustered else self._lead(found)
        return _first(self.mean_in_range(lead, arm), found)

    def differences(self, level: float) -> dict[str, Estimate]:
        """Aided minus unaided by analysis, the primary one first."""
        found = {
            f"{mode}_{covariance}": fit.difference(AIDED, UNAIDED, mode=mode, level=level)
            for covariance, fit in self.fits.items()
            for mode in MODES
        }
        for u in self._ustatistics():
            e = u.difference(AIDED, UNAIDED, level=level)
            found[e.method] = e
        own = self.single or self.clustered
        lead = own.difference(AIDED, UNAIDED, level=level) if own else self._lead(found)
        plain = _first(self.change_in_range(lead, lambda arm: self.lead_mean(arm, level)), found)
        if self.adjusted is None:
            return plain
        over_periods, made = (
            partial(self.adjusted.arm_mean, level=level),
            self.adjusted.difference(level=level),
        )
        return _first(self.change_in_range(made, over_periods), plain)

    def first(self, by_analysis: Mapping[str, Estimate]) -> str:
        """The primary analysis, by design; under five readers the wider of random and fixed readers."""
        return next(iter(by_analysis))

    def lead_difference(self, level: float) -> Estimate:
        """The primary estimate of aided minus unaided."""
        return next(iter(self.differences(level).values()))

    def lead_mean(self, arm: int, level: float) -> Estimate:
        return next(iter(self.arm_means(arm, level).values()))

    def _ustatistics(self) -> Iterator[UStatistic | SumOfClasses]:
        yield self.unbiased
        if self.centred:
            yield self.centred

    def _lead(self, found: Mapping[str, Estimate]) -> Estimate:
        """The estimate that the primary one has its standard error from."""
        if not self.fits:
            return next((e for name, e in found.items() if name != METHOD), found[METHOD])
        random, fixed = (found[f"{mode}_{FIRST_COVARIANCE}"] for mode in ("or_rrrc", "or_frrc"))
        return leading(random, fixed, self.fits[FIRST_COVARIANCE].n_readers)


def noted_where_high(e: Estimate, note: Note, *means: Estimate, from_: float = HIGH) -> Estimate:
    """The interval with what simulations show of it where one of the means is high."""
    high = any(mean.value >= from_ and mean.se > 0 for mean in means)
    return replace(e, note=e.note + note) if high and not isnan(e.low) else e


def _first(primary: Estimate, found: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """The analyses with the primary one before the others."""
    name = f"{primary.method}_{FIRST_COVARIANCE}" if primary.method.startswith("or_") else primary.method
    return {name: primary, **{other: e for other, e in found.items() if other != name}}


@dataclass(frozen=True, eq=False)
class ReaderEndpoint:
    """One endpoint of the readers.

    `outcome` (2, n_readers, n_cases) is what `analyse` takes, aided arm first. `by_reader` holds the readers'
    own estimates in both arms, `benefits` and `changes` (n_readers,) what changed for each. `cluster`
    (n_cases,) says which cases are of one patient, None where each is of another. `later` (n_readers,) says
    in which order they read the arms (`compared_later`), and is an argument of `analyse` too.
    """

    name: str
    outcome: Floats
    analyse: Callable[..., Analysis]
    by_reader: tuple[tuple[Estimate, ...], tuple[Estimate, ...]]
    benefits: tuple[Estimate, ...]
    changes: NDArray[np.float64]
    cluster: Clusters | None = None
    later: Floats | None = None

    @cached_property
    def whole(self) -> Analysis:
        """The analysis of all readers."""
        return self.analyse(self.outcome, self.later)

    def of_readers(self, readers: NDArray[np.int64]) -> Analysis:
        """The analysis of some of them."""
        return self.analyse(self.outcome[:, readers], None if self.later is None else self.later[readers])
