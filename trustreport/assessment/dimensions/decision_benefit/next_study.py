"""The next study: its power by number of readers and cases, from the variance components of this one."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isnan
from typing import Any, Literal

from trustreport.assessment.dimensions.decision_benefit.results import ID
from trustreport.assessment.finding import Part
from trustreport.assessment.narrative.texts import Item, Texts, endpoint_name
from trustreport.assessment.performance.reader_analysis import FIRST_COVARIANCE, ReaderEndpoint
from trustreport.assessment.performance.readers import reading_key
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.power import PLANNED, cases_needed, components, power_grid
from trustreport.measures.note import Note
from trustreport.study.plan import Plan
from trustreport.study.study import Readings
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

TEXT = f"{ID}.next_study"
ALPHA, TARGET = 0.05, 0.8
# Worth finding where the manifest declares no `limits.power_difference` and this study shows none.
DIFFERENCE = 0.05
# Readers and cases of the studies to come, as multiples of those of this one.
MULTIPLES = (0.5, 1, 1.5, 2, 3)
LEAST_READERS = 3
NEARLY_ALL = 0.99

text = Texts(TEXT)

Origin = Literal["declared", "observed", "default"]


@dataclass(frozen=True, slots=True)
class NextStudy:
    """What studies to come could find; `power` has a row for each number of readers."""

    endpoint: str
    difference: float
    origin: Origin
    n_readers: int
    n_cases: int
    power: tuple[tuple[Result, ...], ...]
    needed: Result
    note: Note

    @property
    def results(self) -> list[Result]:
        """Every entry, the cases needed last."""
        return [*(r for row in self.power for r in row), self.needed]


def next_study(
    endpoint: ReaderEndpoint, readings: Readings, arms: tuple[str, str], plan: Plan, place: Place
) -> NextStudy | None:
    """Power and cases for the first endpoint; None where this study gives no variance components.

    The difference to find is the declared one; else, where the interval of this study excludes no change,
    the one found, to a tenth of a point; else five points.
    """
    # Of one reader nothing is known of the differences between readers.
    fit = endpoint.whole.fits.get(FIRST_COVARIANCE) if endpoint.outcome.shape[1] > 1 else None
    if fit is None:
        return None
    pilot = components(fit)
    if not pilot.arm_reader + pilot.own + pilot.shared > 0:
        return None
    lead = endpoint.whole.lead_difference(1 - ALPHA)
    difference, origin = _difference(lead, plan.limits.get("power_difference"))
    readers = sorted({max(LEAST_READERS, ceil(fit.n_readers * m)) for m in MULTIPLES})
    cases = sorted({max(2, ceil(fit.n_cases * m)) for m in MULTIPLES})
    contrast = place.narrowed(arms=arms)
    of: dict[str, Any] = {
        "endpoint": endpoint.name,
        "primary": True,
        "details": {"alpha": ALPHA},
        "cases": reading_key(readings),
    }
    grid = power_grid(pilot, difference, readers, cases, alpha=ALPHA)
    power = tuple(
        tuple(
            Result(
                f"{ID}.power",
                contrast,
                estimate,
                parameters={"n_readers": r, "n_cases": c, "difference": difference},
                **of,
            )
            for c, estimate in zip(cases, row)
        )
        for r, row in zip(readers, grid)
    )
    needed = Result(
        f"{ID}.cases_needed",
        contrast,
        cases_needed(pilot, difference, fit.n_readers, target=TARGET, alpha=ALPHA),
        parameters={"n_readers": fit.n_readers, "power": TARGET, "difference": difference},
        **of,
    )
    note = PLANNED + pilot.note
    return NextStudy(endpoint.name, difference, origin, fit.n_readers, fit.n_cases, power, needed, note)


def _difference(lead: Estimate, declared: float | None) -> tuple[float, Origin]:
    """The difference to plan for, and where it comes from."""
    if declared is not None and declared > 0:
        return declared, "declared"
    if lead.low > 0 or lead.high < 0:
        # A hair is added so that rounding goes the same way whatever the order of readers and cases.
        return max(round(abs(lead.value) + 1e-9, 3), 0.001), "observed"
    return DIFFERENCE, "default"


def next_study_part(found: NextStudy, name: Message | str, number: int, *, alone: bool) -> Iterator[Part]:
    """Power in a table of readers by cases, and the cases needed in a sentence."""
    yield text.part(_items(found, number), text.title(name, alone=alone))


def _items(found: NextStudy, number: int) -> Iterator[Item]:
    endpoint, points = endpoint_name(found.endpoint), 100 * found.difference
    caption = say(f"{TEXT}.table", endpoint=endpoint, points=points, alpha=ALPHA, note=found.note)
    yield _needed(found, endpoint, points)
    cases = (text.column("cases", "percent.0", n=r.parameters["n_cases"]) for r in found.power[0])
    yield text.table(
        f"decision_benefit_power_{number}",
        caption,
        ("readers", *cases),
        [(row[0].parameters["n_readers"], *(_share(r.estimate.value) for r in row)) for row in found.power],
    )


def _share(power: float) -> Message | float:
    """Power as it is, or that it is over 99 per cent: no study is certain to find what it looks for."""
    return text("nearly_all", value=NEARLY_ALL) if power > NEARLY_ALL else power


def _needed(found: NextStudy, endpoint: Message | str, points: float) -> Message:
    e = found.needed.estimate
    values = {
        "endpoint": endpoint,
        "points": points,
        "origin": text(f"origin.{found.origin}"),
        "target": TARGET,
        "alpha": ALPHA,
        "readers": found.n_readers,
    }
    if isnan(e.value):
        return text("unreachable", **values)
    return text("needed", cases=e.value, **values)
