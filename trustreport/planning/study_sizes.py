"""Power and width by readers and cases, and the smallest sizes that reach the goal."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan
from typing import Any

from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.planned import (
    PlannedDifference,
    by_site,
    carried_over,
    design_effect,
    planned_difference,
)
from trustreport.measures.mrmc.power import Components, fewest
from trustreport.planning.origins import OTHER_SHARES, TEXT, Origin, PilotParts, device_parts, origin_of
from trustreport.planning.request import SizingRequest
from trustreport.planning.simulation import Simulated, simulated_study
from trustreport.vocabulary.messages import Message, say

MOST_CASES = 100_000
MOST_SIMULATED = 2_000  # cases of a simulated study
FEW = 5  # readers under which the wider of two intervals is primary
LEAST_CASES = 10  # of a class: fewer are no study, whatever the power


@dataclass(frozen=True, slots=True)
class SizeCell:
    """What a study of so many readers and cases could expect; NaN with a reason where it cannot be.

    `n_cases` are cases of the endpoint's class, of an area or of accuracy all.
    """

    n_readers: int
    n_cases: int
    power: float
    width: float
    se: float = nan
    df: float = nan
    reason: Message | None = None


@dataclass(frozen=True, slots=True)
class SmallestSize:
    """The fewest cases with which so many readers reach the goal; none where no number does."""

    n_readers: int
    cell: SizeCell | None
    simulated: Simulated | None = None
    reason: Message | None = None
    n_readings: int = 0


@dataclass(frozen=True)
class StudySizes:
    """A sized study: the request, what it rests on, the grid (a row a number of readers), the sizes."""

    request: SizingRequest
    origin: Origin
    assumptions: tuple[Message, ...]
    grid: tuple[tuple[SizeCell, ...], ...]
    smallest: tuple[SmallestSize, ...]
    otherwise: tuple[tuple[str, tuple[SmallestSize, ...]], ...] = ()

    @cached_property
    def reaching(self) -> tuple[SmallestSize, ...]:
        """The sizes that reach the goal."""
        return tuple(one for one in self.smallest if one.cell is not None)


def size_study(request: SizingRequest, pilot: PilotParts | None = None) -> StudySizes:
    """Power and width over the request's readers and cases, and the smallest sizes that reach its goal.

    Parameters
    ----------
    request : SizingRequest
    pilot : PilotParts, optional
        Of a pilot study that was read (`trustreport.api.plan_reader_study` does).
    """
    origin = origin_of(request, pilot)
    readers, cases = sorted(set(request.readers)), sorted(set(request.cases))
    grid = tuple(tuple(cell_of(request, origin, r, c) for c in cases) for r in readers)
    smallest = tuple(_smallest(request, origin, r) for r in readers)
    if request.simulate:
        smallest = tuple(_with_simulation(request, origin, one) for one in smallest)
    otherwise = tuple(_otherwise(request, readers))
    assumptions = (*origin.assumptions, *_of_design(request), *_of_analysis(request))
    return StudySizes(request, origin, assumptions, grid, smallest, otherwise)


def cell_of(request: SizingRequest, origin: Origin, n_readers: int, n_cases: int) -> SizeCell:
    """One study by closed form."""
    reason = _impossible(request, n_readers, n_cases)
    if reason is not None:
        return SizeCell(n_readers, n_cases, nan, nan, reason=reason)
    kinds = _planned(request, origin, n_readers, n_cases)
    if any(isnan(one.se) for one in kinds):
        return SizeCell(n_readers, n_cases, nan, nan, reason=say(f"{TEXT}.reason.no_variance"))
    margin = request.margin if request.margin is not None else nan
    powers = [
        one.power(request.true_difference, request.hypothesis, alpha=request.alpha, margin=margin)
        for one in kinds
    ]
    widths = [one.width(1 - request.alpha) for one in kinds]
    of_power = nan if request.hypothesis == "superiority" and not request.effect else min(powers)
    return SizeCell(n_readers, n_cases, of_power, max(widths), kinds[0].se, kinds[0].df)


def _planned(request: SizingRequest, origin: Origin, n_readers: int, n_cases: int) -> list[PlannedDifference]:
    """The difference for readers in general, with few also for these: the wider is primary."""
    own_cases = request.design == "sites" and request.site_cases == "own"
    groups = request.groups or (request.sites if own_cases else None) or 1
    positives, negatives = class_sizes(request, n_cases / groups)
    parts = (
        device_parts(origin, request, positives, negatives)
        if request.design == "device"
        else origin.parts(positives, negatives)
    )
    effect = design_effect(request.cases_per_patient, request.patient_correlation or 0.0)
    own, shared = parts.error - parts.cov1, max(parts.cov2 - parts.cov3, 0.0)
    # Scaled to one block of cases; the groups of readers have a block each.
    pilot = Components(max(parts.arm_reader, 0.0), effect * own, effect * shared, 1)
    if request.carry_over and origin.exact is None:
        pilot = carried_over(pilot, request.carry_over)
    units = n_readers
    if request.sites:
        units = request.sites
        pilot = by_site(pilot, n_readers // units, request.site_share or 0.0)
    found = [planned_difference(pilot, units, groups, groups=groups)]
    if units < FEW and groups == 1:
        found.append(planned_difference(pilot, units, groups, fixed_readers=True))
    return found


def class_sizes(request: SizingRequest, n_cases: float) -> tuple[float, float]:
    """Positives and negatives of an area; of decisions the cases, and 1."""
    if request.endpoint != "auc":
        return n_cases, 1
    positives = max(round(n_cases * request.share_positive), 1)
    return positives, n_cases - positives


def step_of(request: SizingRequest) -> int:
    """What cases must be a multiple of: groups with cases of their own have as many each."""
    own_cases = request.design == "sites" and request.site_cases == "own"
    return request.groups or (request.sites if own_cases else None) or 1


def _impossible(request: SizingRequest, n_readers: int, n_cases: int) -> Message | None:
    step = step_of(request)
    parts = request.groups or request.sites or 1
    if n_readers % parts:
        return say(f"{TEXT}.reason.groups", readers=n_readers, n=parts)
    if n_readers < 2 or (request.sites or 2) < 2:
        return say(f"{TEXT}.reason.one_reader")
    if n_cases % step:
        return say(f"{TEXT}.reason.cases", cases=n_cases, n=step)
    if min(class_sizes(request, n_cases / step)) < 2 and request.endpoint == "auc":
        return say(f"{TEXT}.reason.class", cases=n_cases)
    if n_cases / step < 2:
        return say(f"{TEXT}.reason.class", cases=n_cases)
    return None


def _smallest(request: SizingRequest, origin: Origin, n_readers: int) -> SmallestSize:
    step = step_of(request)

    def reached(n_cases: int) -> bool:
        if min(_all_sizes(request, n_cases)) < LEAST_CASES:
            return False
        cell = cell_of(request, origin, n_readers, n_cases)
        return cell.power >= request.wished if request.goal == "power" else cell.width <= request.wished

    most = MOST_CASES // step * step
    last = cell_of(request, origin, n_readers, most)
    if last.reason is not None:
        return SmallestSize(n_readers, None, reason=last.reason)
    found = fewest(reached, most, step=step)
    if found is None:
        best = last.power if request.goal == "power" else last.width
        reason = say(f"{TEXT}.reason.{request.goal}", n=most, best=best)
        return SmallestSize(n_readers, None, reason=reason)
    # Of a device alone the readers read once; groups read their own cases only.
    readings = (1 if request.design == "device" else 2) * n_readers * found // step
    return SmallestSize(n_readers, cell_of(request, origin, n_readers, found), n_readings=readings)


def _all_sizes(request: SizingRequest, n_cases: int) -> tuple[float, ...]:
    sizes = class_sizes(request, n_cases)
    return sizes if request.endpoint == "auc" else sizes[:1]


def _with_simulation(request: SizingRequest, origin: Origin, one: SmallestSize) -> SmallestSize:
    if one.cell is None:
        return one
    if one.cell.n_cases > MOST_SIMULATED:
        most = say(f"{TEXT}.reason.large", n=MOST_SIMULATED)
        return replace(one, simulated=Simulated(None, None, 0, 0, most))
    return replace(one, simulated=simulated_study(request, origin, one.n_readers, one.cell.n_cases))


def _otherwise(request: SizingRequest, readers: list[int]) -> Iterator[tuple[str, tuple[SmallestSize, ...]]]:
    """The sizes under other shares, where a published study's are not declared."""
    published = request.published
    if published is None or published.readers_share is not None:
        return
    for name, shares in OTHER_SHARES.items():
        named = dict(zip(("readers_share", "cases_share", "both_share"), shares))
        other = request.model_copy(update={"published": published.model_copy(update=named)})
        yield name, tuple(_smallest(other, origin_of(other), r) for r in readers)


def _of_design(request: SizingRequest) -> Iterator[Message]:
    yield say(f"{TEXT}.design.{request.design}", **_design_values(request))
    if request.cases_per_patient > 1:
        correlation = request.patient_correlation or 0.0
        yield say(
            f"{TEXT}.assumption.patients",
            n=request.cases_per_patient,
            correlation=correlation,
            effect=design_effect(request.cases_per_patient, correlation),
        )
    if request.endpoint == "auc":
        yield say(f"{TEXT}.assumption.positive_share", share=request.share_positive)


def _design_values(request: SizingRequest) -> dict[str, Any]:
    match request.design:
        case "split_plot":
            return {"n": request.groups}
        case "sites":
            own = request.site_cases == "own"
            cases = say(f"{TEXT}.site_cases.{'own' if own else 'same'}")
            return {"n": request.sites, "share": request.site_share or 0.0, "cases": cases}
        case "device":
            return {"correlation": request.device_correlation or 0.0}
    return {}


def _of_analysis(request: SizingRequest) -> Iterator[Message]:
    yield say(f"{TEXT}.assumption.difference")
    if min(request.readers) < FEW:
        yield say(f"{TEXT}.assumption.few", n=FEW)


def estimate_of(value: Estimate | None) -> dict[str, Any] | None:
    """An estimate of a simulation as plain data."""
    if value is None:
        return None
    return {"value": value.value, "low": value.low, "high": value.high, "n": value.n}
