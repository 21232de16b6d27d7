"""Readers of a published study: their unaided and aided values as results, table and benefit diagram."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.decision_benefit.results import ID
from trustreport.assessment.finding import Part
from trustreport.assessment.narrative.texts import Item, Texts, as_cell, endpoint_name
from trustreport.figures.benefit import BenefitDiagram, ReaderBenefit
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.interval import symmetric
from trustreport.measures.note import note
from trustreport.study.plan import Plan, PublishedReader, PublishedReaders, PublishedValue
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

AS_PUBLISHED = "as_published"
NO_INTERVAL = note("none_was_published")
READERS_ALONE = note("from_published_differences_readers_as_sample")
ONE_READER = note("one_reader_no_interval")
ALL_ALIKE = note("published_differences_all_same_no_interval")

text = Texts(f"{ID}.published")


@dataclass(frozen=True)
class ReadAsPublished:
    """A published table of readers with its results: of each reader, and the mean difference."""

    of: PublishedReaders
    results: tuple[Result, ...]

    def find(self, name: str, reader: str | None = None, arm: str | None = None) -> Estimate:
        """The estimate of a reader, or of all."""
        wanted = (r for r in self.results if r.name == name)
        return next(r.estimate for r in wanted if (r.place.reader, r.place.arm) == (reader, arm))


def published_readers(plan: Plan) -> list[ReadAsPublished]:
    aided, unaided = plan.contrasts[0] if plan.contrasts else ("aided", "unaided")
    found = []
    for one in plan.published_readers:
        place, level = Place(set=one.set), plan.report.confidence_level
        n = one.cases or 0
        more: dict[str, Any] = {"endpoint": one.measure, "primary": True}
        results = []
        for reader in one.readers:
            here = place.narrowed(reader=reader.reader)
            change = as_printed(difference_of(reader), n, level)
            values = {unaided: reader.unaided, aided: reader.unaided + change.value}
            for arm, value in values.items():
                e = Estimate(value, nan, nan, n, level, AS_PUBLISHED, NO_INTERVAL)
                results.append(Result(f"{ID}.published_reader_estimate", here.narrowed(arm=arm), e, **more))
            results.append(
                Result(f"{ID}.published_benefit", here.narrowed(arms=(aided, unaided)), change, **more)
            )
        mean = _mean(one, level)
        results.append(
            Result(f"{ID}.published_mean_benefit", place.narrowed(arms=(aided, unaided)), mean, **more)
        )
        found.append(ReadAsPublished(one, tuple(results)))
    return found


def difference_of(reader: PublishedReader) -> PublishedValue:
    """Aided minus unaided, as printed or from the two values."""
    if reader.difference is not None:
        return reader.difference
    assert reader.aided is not None
    return PublishedValue(value=reader.aided - reader.unaided)


def as_printed(shown: PublishedValue, n: int, level: float) -> Estimate:
    """A printed value; its interval where there is one, and nothing in its place where there is none."""
    if shown.ci is None:
        return Estimate(shown.value, nan, nan, n, level, AS_PUBLISHED, NO_INTERVAL)
    return Estimate(shown.value, *shown.ci, n, level, AS_PUBLISHED)


def _mean(one: PublishedReaders, level: float) -> Estimate:
    """The mean difference as printed, else that of the printed differences with Student's t over readers."""
    k = len(one.readers)
    if one.mean is not None:
        return as_printed(one.mean, k, level)
    change = np.array([difference_of(reader).value for reader in one.readers])
    mean = float(change.mean())
    if k < 2 or np.ptp(change) < 1e-12:
        return Estimate(mean, nan, nan, k, level, "paired_t", ONE_READER if k < 2 else ALL_ALIKE)
    variance = float(change.var(ddof=1)) / k
    of: dict[str, Any] = {"df": k - 1.0, "level": level, "method": "paired_t", "note": READERS_ALONE}
    return symmetric(mean, variance, k, null=0.0, **of)


def published_readers_part(found: ReadAsPublished, number: int) -> Part:
    """What is said of a published table of readers."""
    return text.part(_items(found, number), text("title", set=found.of.set), Place(set=found.of.set))


def _items(found: ReadAsPublished, number: int) -> Iterator[Item]:
    one, mean, name = found.of, found.find("published_mean_benefit"), endpoint_name(found.of.measure)
    benefits = [found.find("published_benefit", r.reader) for r in one.readers]
    area = one.measure == "auc"
    gained, lost = sum(e.value > 0 for e in benefits), sum(e.value < 0 for e in benefits)
    yield text("gains", measure=name, n=len(benefits), gained=gained, lost=lost)
    of = "alone" if isnan(mean.low) else "printed" if one.mean is not None else "computed"
    yield text(f"{'area' if area else 'share'}.{of}", mean)
    form, change = ("number.3", "number") if area else ("percent.1", "points")
    yield text.table(
        f"{ID}_readers_published_{number}",
        text("table", measure=name),
        f"reader .stratum? .unaided:{form} .aided:{form} difference:{change}",
        [
            (r.reader, r.stratum, r.unaided, r.unaided + difference_of(r).value, as_cell(e))
            for r, e in zip(one.readers, benefits)
        ],
    )
    rows = tuple(
        ReaderBenefit(r.reader, r.unaided, e, r.stratum or "") for r, e in zip(one.readers, benefits)
    )
    over = text("as_printed" if one.mean is not None else "over_readers")
    drawing = BenefitDiagram(rows, mean, over, endpoint=name, unit="number" if area else "percent")
    values: dict[str, Any] = {"set": one.set, "measure": name, "n": len(rows), "gained": gained}
    yield text.figure(f"benefit_published_{number}", drawing, "benefit", **values)
