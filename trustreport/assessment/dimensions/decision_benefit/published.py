"""Readers of a published study: their unaided and aided values as results, table and benefit diagram."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.decision_benefit.entries import ID
from trustreport.assessment.finding import Figure, Part
from trustreport.assessment.narrative.tables import table
from trustreport.assessment.narrative.texts import endpoint_name, numbers
from trustreport.figures.benefit import BenefitDiagram, ReaderBenefit
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc.interval import symmetric
from trustreport.measures.note import note
from trustreport.study.plan import Plan, PublishedReader, PublishedReaders, PublishedValue
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

AS_PUBLISHED = "as_published"
NO_INTERVAL = note("none_was_published")
READERS_ALONE = note("from_published_differences_readers_as_sample")
ONE_READER = note("one_reader_no_interval")
ALL_ALIKE = note("published_differences_all_same_no_interval")


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
    """Each published table of readers."""
    aided, unaided = plan.contrasts[0] if plan.contrasts else ("aided", "unaided")
    found = []
    for one in plan.published_readers:
        place, level = Place(set=one.set), plan.report.confidence_level
        n = one.cases or 0
        more: dict[str, Any] = {"endpoint": one.measure, "primary": True}
        results = []
        for reader in one.readers:
            here = place.at(reader=reader.reader)
            change = as_printed(difference_of(reader), n, level)
            values = {unaided: reader.unaided, aided: reader.unaided + change.value}
            for arm, value in values.items():
                e = Estimate(value, nan, nan, n, level, AS_PUBLISHED, NO_INTERVAL)
                results.append(Result(f"{ID}.published_reader_estimate", here.at(arm=arm), e, **more))
            results.append(Result(f"{ID}.published_benefit", here.at(arms=(aided, unaided)), change, **more))
        mean = _mean(one, level)
        results.append(Result(f"{ID}.published_mean_benefit", place.at(arms=(aided, unaided)), mean, **more))
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
    one, mean = found.of, found.find("published_mean_benefit")
    form, change = ("number.3", "number") if one.measure == "auc" else ("percent.1", "points")
    return Part(
        title=say(f"{ID}.published.title", set=one.set),
        finding=tuple(_sentences(found, mean)),
        tables=(
            table(
                f"{ID}_readers_published_{number}",
                say(f"{ID}.published.table", measure=endpoint_name(one.measure)),
                one.readers,
                [
                    (f"{ID}.published.column.reader", "reader"),
                    (f"{ID}.published.column.stratum", "stratum") if _strata(one) else None,
                    (f"{ID}.published.column.unaided", "unaided", form),
                    (f"{ID}.published.column.aided", lambda r: r.unaided + difference_of(r).value, form),
                    (f"{ID}.published.column.difference", lambda r: _cell(found, r), change),
                ],
            ),
        ),
        figures=(_figure(found, mean, number),),
        place=Place(set=one.set),
    )


def _cell(found: ReadAsPublished, reader: PublishedReader) -> Estimate | float:
    """The difference of a reader, with its interval where there is one."""
    e = found.find("published_benefit", reader.reader)
    return e.value if isnan(e.low) else e


def _strata(one: PublishedReaders) -> bool:
    return any(reader.stratum for reader in one.readers)


def _sentences(found: ReadAsPublished, mean: Estimate) -> Iterator[Message]:
    one = found.of
    changes = [difference_of(reader).value for reader in one.readers]
    counts = {"n": len(changes), "gained": sum(x > 0 for x in changes), "lost": sum(x < 0 for x in changes)}
    yield say(f"{ID}.published.gains", measure=endpoint_name(one.measure), **counts)
    of = "alone" if isnan(mean.low) else "printed" if one.mean is not None else "computed"
    scale = "area" if one.measure == "auc" else "share"
    yield say(f"{ID}.published.{scale}.{of}", **numbers(mean))


def _figure(found: ReadAsPublished, mean: Estimate, number: int) -> Figure:
    one = found.of
    rows = tuple(
        ReaderBenefit(r.reader, r.unaided, found.find("published_benefit", r.reader), r.stratum or "")
        for r in one.readers
    )
    note = say(f"{ID}.published.{'as_printed' if one.mean is not None else 'over_readers'}")
    gained = sum(row.benefit.value > 0 for row in rows)
    return Figure(
        f"benefit_published_{number}",
        BenefitDiagram(
            rows,
            mean,
            note,
            endpoint=endpoint_name(one.measure),
            unit="number" if one.measure == "auc" else "percent",
        ),
        say(f"{ID}.published.figure", set=one.set, measure=endpoint_name(one.measure)),
        say(f"{ID}.published.figure_alt", n=len(rows), gained=gained),
    )
