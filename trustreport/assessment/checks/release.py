"""Pitfalls of giving a report away: people who can be recognised, and who it was that evaluated."""

from collections.abc import Iterator

import numpy as np

from trustreport.assessment.checks.check import RELEASE, Check, Evidence, Remark
from trustreport.study.identity.identifiers import cases_of, identifying
from trustreport.study.study import Study
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import NOWHERE

PEOPLE, WHO = "subgroups", "source_reliability"
# A column with more values than this is described by its quartiles, not value by value.
MOST_LEVELS = 12


def recognisable(evidence: Evidence) -> Iterator[Remark]:
    """P59: names of persons, direct identifiers, and cells of a few people."""
    study, plan = evidence.study, evidence.plan
    if not (
        study.readings
        or study.datasets
        or study.raters
        or study.localisations
        or study.values
        or study.preferences
    ):
        return
    found = [
        Remark(NOWHERE, say(f"checks.P59.{one.kind}", n=one.n, column=one.column, file=one.file))
        for one in identifying(study)
    ]
    least = int(evidence.limit("P59_cell"))
    groups = [
        r.place.subgroup
        for r in evidence.results
        if r.place.subgroup is not None
        and (
            (r.unit == "count" and 0 < r.estimate.value < least)
            or r.estimate.note.has("suppressed_fewer_than")
        )
    ]
    groups += _few(study, least)
    if groups:
        key = "checks.P59.suppressed" if plan.report.release == "public" else "checks.P59.cells_small"
        names = [say("checks.P59.group", name=name) for name in dict.fromkeys(groups)]
        # Inside, small cells are only worth knowing; a public report leaves them out and is not refused.
        found.append(Remark(NOWHERE, say(key, n=len(names), names=names, k=least), severity="N"))
    yield from found or [Remark()]


def _few(study: Study, least: int) -> Iterator[str]:
    """Values of a column of the cases, where it has few, that hardly any case has."""
    for cases in cases_of(study):
        for name, column in cases.groups.items():
            if len(column.labels) <= MOST_LEVELS:
                counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels))
                yield from (
                    f"{name}: {column.labels[int(i)]}"
                    for i in np.flatnonzero((counts > 0) & (counts < least))
                )


def independence(evidence: Evidence) -> Iterator[Remark]:
    """P60: who read, judged or paid belongs to the manufacturer, or nobody says."""
    plan = evidence.plan
    employed = [r.employer_is_manufacturer for r in plan.readers if r.employer_is_manufacturer is not None]
    sponsor, maker = plan.study.sponsor, plan.device.manufacturer
    if not employed and sponsor is None and plan.study.conflicts_of_interest is None:
        return
    facts: list[Message] = []
    if any(employed):
        facts.append(say("checks.P60.employed", n=sum(employed), total=len(employed)))
    if sponsor is not None and maker is not None and sponsor.strip().casefold() == maker.strip().casefold():
        facts.append(say("checks.P60.sponsor"))
    if sponsor is None:
        facts.append(say("checks.P60.no_sponsor"))
    if plan.study.conflicts_of_interest is None:
        facts.append(say("checks.P60.no_conflicts"))
    yield Remark(NOWHERE, say("checks.P60.fired", facts=facts) if facts else None)


CHECKS = (
    # Cases below which a cell is not reported outside.
    Check("P59", PEOPLE, "B", recognisable, RELEASE),
    Check("P60", WHO, "N", independence),
)
