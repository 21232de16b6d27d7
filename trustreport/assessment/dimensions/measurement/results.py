"""Numbers of measurements, ratings and counts: of devices, and of readers with and without the aid."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.keys import case_key
from trustreport.assessment.performance.reader_analysis import Analysis
from trustreport.assessment.performance.reader_endpoints import analysis_of_means, analysis_of_shares
from trustreport.measures.agreement.coefficients import icc, krippendorff_alpha
from trustreport.measures.agreement.kappa import light_kappa
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate
from trustreport.measures.means import case_mean, case_share
from trustreport.measures.measured.measurement import (
    concordance_correlation,
    deming_line,
    linearity,
    mean_absolute_error,
    passing_bablok_line,
    rate_ratio,
    root_mean_square_error,
    total_deviation_index,
)
from trustreport.measures.measured.preference import rate_ratio_of_readers
from trustreport.measures.measured.reader_limits import (
    between_readers,
    between_readers_and_arms,
    from_the_reference,
    with_the_mean,
    within_reader_between_arms,
)
from trustreport.measures.mrmc.notes import ONE_READER
from trustreport.measures.note import Note
from trustreport.measures.notes import OFTEN_ABOVE, OFTEN_BELOW
from trustreport.measures.paired.difference import paired_shares
from trustreport.measures.repeatability import OfDifferences, Summed, repeated, within_case
from trustreport.study.clusters import clustering
from trustreport.study.plan import Measurement, Plan
from trustreport.study.study import Floats, Study, Values
from trustreport.vocabulary.kinds import KINDS, MEANS
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

NAME, READERS = "measurement", "reader_measurement"
# The mean where no value is right by itself, by the side that is better.
BY_SIDE = dict(zip((None, "up", "down"), MEANS))
LIMITS = ("lower_limit_of_agreement", "upper_limit_of_agreement")
CUSUM = "cusum_kolmogorov"
# Simulated: with fewer, limits of agreement and of the size of readers' errors err to one side too often.
FEW_CLUSTERS, FEW_CASES = 100, 100
# The same of readers together, with fewer cases or clusters.
FEW_UNITS = 50
OFTEN_OFF = {
    "total_deviation_index": OFTEN_BELOW,
    "concordance_correlation": OFTEN_BELOW,
    "deming_slope": OFTEN_ABOVE + OFTEN_BELOW,
    "deming_intercept": OFTEN_ABOVE + OFTEN_BELOW,
}
Rows = NDArray[np.intp] | slice
EVERY_CASE = slice(None)


@dataclass(frozen=True, eq=False)
class MeasuredValues:
    """One measurement of one data set or task, with its results."""

    values: Values
    facts: Measurement
    place: Place
    plan: Plan
    results: tuple[Result, ...] = field(default=())

    @property
    def level(self) -> float:
        """The confidence level of the report."""
        return self.plan.report.confidence_level

    @property
    def has_reference(self) -> bool:
        """Whether cases have a value that is taken as right."""
        return self.values.reference is not None

    @property
    def cluster(self) -> Clusters | None:
        """Which cases belong together, (n_cases,); None where none do."""
        return clustering(self.values.cases).of_case

    def how(self, rows: NDArray[np.intp] | NDArray[np.bool_] | slice = slice(None)) -> dict[str, Any]:
        """How the intervals of these cases are made: which of them belong together, and the level."""
        return {"cluster": None if self.cluster is None else self.cluster[rows], "level": self.level}

    @property
    def bound(self) -> float | None:
        """The largest acceptable error, or the bound of acceptable values; of a count of faults 0."""
        if self.facts.acceptable is None and self.facts.kind == "count" and not self.has_reference:
            return 0.0 if self.facts.better == "down" else None
        return self.facts.acceptable

    @property
    def mean(self) -> str:
        """The quantity that leads where there is no reference: a mean, named by the side that is better."""
        return BY_SIDE[self.facts.better]

    @property
    def error(self) -> Floats:
        """Value less reference, (n_conditions, n_readers, n_cases)."""
        assert self.values.reference is not None
        return self.values.value - self.values.reference

    def acceptable(self, grid: Floats) -> Floats | None:
        """1 where a value is acceptable, 0 where not, NaN where there is none; None without a bound."""
        if self.bound is None or (not self.has_reference and self.facts.better is None):
            return None
        if self.has_reference:
            good = np.abs(grid) <= self.bound
        else:
            good = grid >= self.bound if self.facts.better == "up" else grid <= self.bound
        return np.where(np.isnan(grid), nan, good.astype(np.float64))

    def place_of(self, condition: int | None = None, **more: str) -> Place:
        """The place of a condition: an arm of the readers, or a candidate."""
        if condition is None or len(self.values.conditions) < 2:
            return self.place.narrowed(**more)
        name = self.values.conditions[condition]
        return self.place.narrowed(**{self.values.by: name}, **more)

    def pair(self, compared: int, baseline: int) -> Place:
        """The place of a comparison of two conditions."""
        names = self.values.conditions[compared], self.values.conditions[baseline]
        return (
            self.place.narrowed(arms=names)
            if self.values.by == "arm"
            else self.place.narrowed(candidates=names)
        )

    def pairs(self) -> list[tuple[int, int]]:
        """The conditions that are compared: the contrasts of the arms, or all pairs of candidates."""
        names = self.values.conditions
        if self.values.by == "arm":
            found = [pair for pair in self.plan.contrasts if set(pair) <= set(names)]
            return [(names.index(a), names.index(b)) for a, b in found]
        return list(combinations(range(len(names)), 2))

    def key(self, rows: NDArray[np.intp] | None = None) -> str:
        """Which cases a number rests on."""
        return case_key(self.values.name, self.values.cases.labels, rows)

    def entry(
        self,
        quantity: str,
        place: Place,
        e: Estimate,
        rows: NDArray[np.intp] | None = None,
        *,
        cases: str = "",
        **parameters: str,
    ) -> Result:
        """A result of this measurement, with the unit that its value is in."""
        key = cases or self.key(rows)
        more = {"bound": self.bound} if quantity.startswith("acceptable_share") else {}
        least = KINDS[self.facts.kind].least
        if least is not None and quantity == self.mean:
            e = replace(e, low=max(e.low, least))  # a mean of counts; max keeps a limit that is NaN
        found = Result(
            f"{READERS if self.values.readers else NAME}.{quantity}",
            place,
            e,
            self.facts.measurement,
            parameters=more | parameters,
            primary=True,
            cases=key,
        )
        has_unit = found.unit == "score" and found.quantity.decimals is None  # correlations, ranks have none
        return replace(found, details={"unit": self.facts.unit}) if has_unit and self.facts.unit else found


def measured(study: Study, plan: Plan) -> Iterator[MeasuredValues]:
    """Every measurement of every data set or task, with its results."""
    roles = {d.dataset: d.role for d in plan.datasets}
    several = len({one.task for one in study.values if not one.dataset}) > 1
    for one in (one for one in study.values if not one.judges):
        facts = plan.measurement_of(one.measurement) or Measurement(measurement="value")
        facts = facts.model_copy(update={"measurement": one.measurement})
        place = Place(task=one.task if several else "")
        if one.dataset:
            period = one.dataset if roles.get(one.dataset) == "period" else None
            place = Place(dataset=one.dataset, period=period)
        bare = MeasuredValues(one, facts, place, plan)
        found = _of_readers(bare) if one.readers is not None else _of_devices(bare)
        yield MeasuredValues(one, facts, place, plan, tuple(found))


def _of_devices(one: MeasuredValues) -> Iterator[Result]:
    grid = one.error if one.has_reference else one.values.value
    for c in range(len(one.values.conditions)):
        rows = np.flatnonzero(~np.isnan(grid[c, 0]))
        own = _against_reference if one.has_reference else _alone
        yield from own(one, c, 0, rows, one.place_of(c))
        yield from _of_repeats(one, c, 0, one.place_of(c))
    for compared, baseline in one.pairs():
        yield from _of_pair(one, compared, baseline)


def _against_reference(
    one: MeasuredValues, c: int, reader: int, rows: NDArray[np.intp], place: Place
) -> Iterator[Result]:
    """A device, or one reader, beside the reference."""
    difference, how = one.error[c, reader, rows], one.how(rows)
    assert one.values.reference is not None
    x, y = one.values.reference[rows], one.values.value[c, reader, rows]
    found = {
        "bias": repeated("repeat_bias", difference, **how),
        "lower_limit_of_agreement": _noted(repeated("agreement_limit_low", difference, **how), OFTEN_ABOVE),
        "upper_limit_of_agreement": _noted(repeated("agreement_limit_high", difference, **how), OFTEN_BELOW),
        "mean_absolute_error": mean_absolute_error(difference, **how),
        **_sizes(difference, **how),
    }
    good = one.acceptable(difference)
    if good is not None:
        found["acceptable_share"] = case_share(good > 0, **how)
    if one.facts.kind == "number":
        ranked = passing_bablok_line(x, y, **how)
        found |= _concordance(x, y, **how)
        found |= {"passing_bablok_slope": ranked.slope, "passing_bablok_intercept": ranked.intercept}
        p = linearity(x, y, ranked)
        if one.cluster is None and not np.isnan(p):  # the test takes cases as independent
            found["linearity"] = Estimate(p, nan, nan, len(rows), one.level, CUSUM, p=p)
    for quantity, e in found.items():
        yield one.entry(quantity, place, e, rows)


def _sizes(difference: Floats, **how: Any) -> dict[str, Estimate]:
    """Sizes of the error other than its mean."""
    return {
        "root_mean_square_error": root_mean_square_error(difference, **how),
        "total_deviation_index": total_deviation_index(difference, **how),
    }


def _concordance(x: Floats, y: Floats, **how: Any) -> dict[str, Estimate]:
    """Concordance of measured values with the reference, and the line between them."""
    line = deming_line(x, y, **how)
    return {
        "concordance_correlation": concordance_correlation(y, x, **how),
        "deming_slope": line.slope,
        "deming_intercept": line.intercept,
    }


def _noted(e: Estimate, often: Note) -> Estimate:
    """A limit of agreement; with few clusters it notes that simulated intervals were off to one side."""
    few = 0 < e.details.get("clusters", 0) < FEW_CLUSTERS and not isnan(e.low)
    return replace(e, note=e.note + often) if few else e


def _alone(
    one: MeasuredValues, c: int, reader: int, rows: NDArray[np.intp], place: Place
) -> Iterator[Result]:
    value, how = one.values.value[c, reader, rows], one.how(rows)
    yield one.entry(one.mean, place, case_mean(value, tested=True, **how), rows)
    good = one.acceptable(value)
    if good is not None:
        yield one.entry("acceptable_share", place, case_share(good > 0, **how), rows)


def _of_repeats(one: MeasuredValues, c: int, reader: int, place: Place) -> Iterator[Result]:
    """The spread of repeated measurements of the same case, by a device or a reader."""
    if one.values.repeats is None:
        return
    every = np.stack([one.values.value[c, reader], *one.values.repeats[:, c, reader]], axis=1)
    rows = np.flatnonzero((~np.isnan(every)).sum(axis=1) > 1)
    names: tuple[OfDifferences, ...] = ("within_case_sd", "repeatability_coefficient")
    for quantity in names if len(rows) else ():
        yield one.entry(quantity, place, within_case(quantity, every[rows], **one.how(rows)), rows)


def _of_pair(one: MeasuredValues, compared: int, baseline: int) -> Iterator[Result]:
    """Two devices on the same cases: the difference of the mean, or of the mean size of the error."""
    grid = np.abs(one.error) if one.has_reference else one.values.value
    apart = grid[compared, 0] - grid[baseline, 0]
    rows = np.flatnonzero(~np.isnan(apart))
    quantity, place = "mean_absolute_error" if one.has_reference else one.mean, one.pair(compared, baseline)
    e = case_mean(apart[rows], tested=True, **one.how(rows))
    yield one.entry(f"{quantity}_difference", place, e, rows)
    good = one.acceptable(one.error if one.has_reference else grid)
    if good is not None and len(rows):
        e = paired_shares(good[compared, 0, rows] > 0, good[baseline, 0, rows] > 0, **one.how(rows))
        yield one.entry("acceptable_share_difference", place, e, rows)
    if one.facts.kind == "count" and not one.has_reference:
        e = rate_ratio(grid[compared, 0, rows], grid[baseline, 0, rows], **one.how(rows))
        yield one.entry("count_ratio", place, e, rows)


def _of_readers(one: MeasuredValues) -> Iterator[Result]:
    for c in range(len(one.values.conditions)):
        for quantity, grid in endpoints(one):
            yield one.entry(quantity, one.place_of(c), mean_over_readers(one, quantity, grid, c))
        if one.has_reference and one.facts.kind == "number":
            for quantity, e in zip(LIMITS, from_the_reference(one.error[c], **one.how())):
                yield one.entry(quantity, one.place_of(c), e)
        yield from _agreement(one, c)
        yield from _each_reader(one, c)
    for compared, baseline in one.pairs():
        place = one.pair(compared, baseline)
        for quantity, grid in endpoints(one):
            e = change_over_readers(one, quantity, grid, compared, baseline)
            yield one.entry(f"{quantity}_difference", place, e)
        if one.facts.kind == "count" and not one.has_reference:
            counts = one.values.value[compared], one.values.value[baseline]
            yield one.entry("count_ratio", place, rate_ratio_of_readers(*counts, **one.how()))
        if one.facts.kind == "number" and one.values.by == "arm":
            arms = one.values.value[baseline], one.values.value[compared]
            for quantity, limits in (
                ("limit_within_reader", within_reader_between_arms),
                ("limit_between_arms", between_readers_and_arms),
            ):
                yield one.entry(quantity, place, limits(*arms, **one.how())[1])
    for c in range(len(one.values.conditions)) if one.has_reference else ():
        yield from _readings_against_reference(one, c)


def _readings_against_reference(one: MeasuredValues, c: int) -> Iterator[Result]:
    """All readings of a condition beside the reference; readers and cases are random.

    The ranks of Passing and Bablok, and their test of linearity, take readings as independent, which those of
    one case are not: only single readers have them.
    """
    assert one.values.reference is not None
    there = ~np.isnan(one.error[c])
    units = there.any(axis=0).sum()
    if one.cluster is not None:
        units = len(np.unique(one.cluster[there.any(axis=0)]))
    how: dict[str, Any] = {"summed": _over_readers(one, there, units - 1.0), "level": one.level}
    found = _sizes(one.error[c][there], **how)
    if one.facts.kind == "number":
        reference = np.broadcast_to(one.values.reference, there.shape)
        found |= _concordance(reference[there], one.values.value[c][there], **how)
    for quantity, e in found.items():
        few = units < FEW_UNITS and quantity in OFTEN_OFF and not isnan(e.low)
        note = e.note + OFTEN_OFF[quantity] if few else e.note
        yield one.entry(quantity, one.place_of(c), replace(e, note=note))


def _over_readers(one: MeasuredValues, there: NDArray[np.bool_], most: float) -> Summed:
    """How what each reading adds varies over readers and cases: as the mean of their errors does.

    `there` (n_readers, n_cases) says which readings there are; they add in this order. There are at most
    `most` degrees of freedom.
    """

    def summed(influence: Floats) -> Estimate:
        """A sum of 0 with its standard error."""
        if there.any(axis=1).sum() < 2:
            return Estimate(0.0, nan, nan, len(influence), note=ONE_READER)
        grid = np.full((1, *there.shape), nan)
        size = float(np.abs(influence).max()) or 1.0  # so that a variance that is rounding is seen
        grid[0, there] = influence / size
        e = _analysis(one, "", grid, 0, 0, EVERY_CASE).lead_mean(0, one.level)
        df = min(e.df, most) if e.df > 0 else most
        return replace(e, se=e.se * size * len(influence), df=df)

    return summed


def endpoints(one: MeasuredValues) -> Sequence[tuple[str, Floats]]:
    """What is averaged over readers and cases, (n_conditions, n_readers, n_cases) each."""
    grid = one.error if one.has_reference else one.values.value
    found = (
        [("bias", grid), ("mean_absolute_error", np.abs(grid))] if one.has_reference else [(one.mean, grid)]
    )
    good = one.acceptable(grid)
    return found if good is None else [*found, ("acceptable_share", good)]


def mean_over_readers(
    one: MeasuredValues, quantity: str, grid: Floats, c: int, rows: Rows = EVERY_CASE
) -> Estimate:
    """A mean over readers and some of the cases in one condition."""
    e = _analysis(one, quantity, grid, c, c, rows).lead_mean(0, one.level)
    n_cases = np.arange(grid.shape[-1])[rows].size
    few = quantity == "mean_absolute_error" and n_cases <= FEW_CASES and not isnan(e.low)
    return replace(e, note=e.note + OFTEN_BELOW) if few else e


def change_over_readers(
    one: MeasuredValues, quantity: str, grid: Floats, compared: int, baseline: int, rows: Rows = EVERY_CASE
) -> Estimate:
    """The change of such a mean between two conditions."""
    return _analysis(one, quantity, grid, compared, baseline, rows).lead_difference(one.level)


def _analysis(
    one: MeasuredValues, quantity: str, grid: Floats, compared: int, baseline: int, rows: Rows
) -> Analysis:
    """Two conditions analysed together; readers and cases are random."""
    part = np.stack([grid[compared], grid[baseline]])[:, :, rows]
    kept = ~np.isnan(part).all(axis=(0, 1))
    cluster = None if one.cluster is None else one.cluster[rows][kept]
    analyse = analysis_of_shares if quantity == "acceptable_share" else analysis_of_means
    return analyse(part[:, :, kept], cluster)


def _agreement(one: MeasuredValues, c: int) -> Iterator[Result]:
    """How far readers are from each other."""
    grid = one.values.value[c]
    if len(grid) < 2:
        return
    how = one.how()
    if one.facts.kind != "count":
        yield one.entry("icc", one.place_of(c), icc(grid.T, **how))
    if KINDS[one.facts.kind].whole:
        ranks, codes = np.unique(grid[~np.isnan(grid)], return_inverse=True)
        laid = np.full(grid.shape, -1)
        laid[~np.isnan(grid)] = codes
        if len(ranks):
            e = krippendorff_alpha(laid.T, len(ranks), metric="ordinal", **how)
            yield one.entry("krippendorff_alpha", one.place_of(c), e)
        if len(ranks) > 1 and one.facts.kind == "ordinal":
            credit = 1 - ((ranks[:, None] - ranks) / np.ptp(ranks)) ** 2
            e = light_kappa(laid.T, len(ranks), weights=credit, **how)
            yield one.entry("weighted_kappa", one.place_of(c), e)
    else:
        yield one.entry("limit_between_readers", one.place_of(c), between_readers(grid, **how))
        yield one.entry("limit_with_mean", one.place_of(c), with_the_mean(grid, **how))


def _each_reader(one: MeasuredValues, c: int) -> Iterator[Result]:
    """Each reader beside the reference, or the reader's mean."""
    assert one.values.readers is not None
    grid = one.error if one.has_reference else one.values.value
    own = _against_reference if one.has_reference else _alone
    for j, reader in enumerate(one.values.readers.labels):
        place = one.place_of(c, reader=reader)
        yield from own(one, c, j, np.flatnonzero(~np.isnan(grid[c, j])), place)
        yield from _of_repeats(one, c, j, place)
