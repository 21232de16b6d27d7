"""How much the device was used, by whom and in which version, and how many of its cases can be judged yet."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trustreport.assessment.dimensions.vigilance.periods import (
    FAILED,
    ID,
    REFUSED,
    Period,
    Timeline,
    names_of,
)
from trustreport.assessment.performance.keys import has_no_date
from trustreport.measures.estimate import Estimate
from trustreport.study.plan import Plan
from trustreport.study.study import Readings
from trustreport.vocabulary.results import Result


@dataclass(frozen=True, slots=True)
class Use:
    """The exposure of one period: cases by what became of them, by version; users and sites.

    `users` and `sites` are None where nobody recorded them; `versions` is empty then.
    """

    period: str
    cases: int
    processed: int
    refused: int
    failed: int
    no_output: int
    users: int | None
    sites: int | None
    versions: Mapping[str, int]


def use_of(period: Period, readings: Mapping[str, Readings]) -> Use:
    """What became of the cases of a period."""
    n = len(period)
    scores = period.scores
    status = names_of(scores.status if scores else None, n)
    words = np.array([str(word).lower() if word is not None else "" for word in status])
    output = period.outputs.present
    refused = np.isin(words, REFUSED)
    failed = np.isin(words, FAILED)
    processed = output & ~refused & ~failed
    site = period.column("site")
    version = scores.version if scores else None
    versions: dict[str, int] = {}
    if version is not None:
        for name in names_of(version, n)[processed]:
            if name is not None:
                versions[name] = versions.get(name, 0) + 1
    own = readings.get(period.name)
    return Use(
        period.name,
        n,
        int(processed.sum()),
        int(refused.sum()),
        int((failed & ~refused).sum()),
        int((~output & ~refused & ~failed).sum()),
        len(np.unique(own.reader)) if own is not None else None,
        len(np.unique(site.codes[site.codes >= 0])) if site is not None else None,
        dict(sorted(versions.items())),
    )


def exposure_results(uses: Sequence[Use], timeline: Timeline, plan: Plan) -> Iterator[Result]:
    """An entry for each count of each period."""
    level = plan.report.confidence_level
    for use, period in zip(uses, timeline.periods, strict=True):
        counted: dict[str, int | None] = {
            "cases": use.cases,
            "processed": use.processed,
            "refused": use.refused,
            "failed": use.failed,
            "no_output": use.no_output,
            "users": use.users,
            "sites": use.sites,
        }
        for what, count in counted.items():
            if count is not None:
                yield _count(period, use, {"what": what}, count, level)
        for version, count in use.versions.items():
            yield _count(period, use, {"what": "processed", "version": version}, count, level)


def _count(period: Period, use: Use, chosen: Mapping[str, Any], count: int, level: float) -> Result:
    e = Estimate(count, count, count, use.cases, level, "count")
    return Result(f"{ID}.exposure", period.place, e, parameters=chosen, primary=True, cases=period.key)


def maturity_results(timeline: Timeline, plan: Plan) -> Iterator[Result]:
    """Shares of cases old enough for a truth, and of those with one: of all, and by what was advised."""
    level = plan.report.confidence_level
    days = plan.reference_standard.maturity_days
    until = ""
    if days is not None and timeline.cut is not None:
        until = (timeline.cut - dt.timedelta(days=float(days))).isoformat()
    for period in timeline.periods:
        everybody, known = np.ones(len(period), bool), period.truth >= 0
        mature = period.mature[: len(period)]
        for name, event, of in (
            ("mature_share", mature, everybody),
            ("labelled_share", known, mature),
        ):
            details: dict[str, Any] = {}
            if until and name == "mature_share":
                details["judged_until"] = until
                if undated := period.dataset and np.count_nonzero(~mature & has_no_date(period.dataset)):
                    details["undated"] = int(undated)
            yield _share(period, name, period.share(event, of, level), details=details)
        for decision, word in ((1, "positive"), (0, "negative")):
            share = period.share(known, mature & (period.output == decision), level)
            yield _share(period, "labelled_share", share, parameters={"called": word})


def _share(period: Period, name: str, e: Estimate, **more: Any) -> Result:
    return Result(f"{ID}.{name}", period.place, e, primary=True, cases=period.key, **more)
