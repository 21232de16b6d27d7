"""What a public report leaves out: cells of a few people, facts of each reader, rows of the input.

The names are hidden before anything is computed (`study.identity`), small groups by the dimension that
makes them; this is the second net, through which no number of a small part of the data falls.
"""

from collections.abc import Iterable
from dataclasses import replace

from trustreport.assessment.assess import Assessment
from trustreport.assessment.case_mix import CaseMix, Errors, TaskFlow
from trustreport.assessment.performance.keys import public_cell, suppressed
from trustreport.assessment.release.guard import draws_few, key_of, without_small
from trustreport.vocabulary.results import Result


def released(assessment: Assessment) -> Assessment:
    """The assessment as it is; of a public report without what only the house may see."""
    return public(assessment) if assessment.plan.report.release == "public" else assessment


def public(assessment: Assessment) -> Assessment:
    """An assessment without cells below the limit, facts of single readers, and the manifest's file.

    A number of a group or site with fewer cases than the limit, or a count below it, has no value and says
    why, in results, tables and figures alike; of the case mix and of where the errors lie, characteristics
    with a small cell are left out, and so are the numbers of a set or a flow that has one. What is public
    already stays as it is. What the findings of whole sets withhold, `assess` has left out before.
    """
    plan, study = assessment.plan, assessment.study
    least = public_cell(plan)
    small = {
        key_of(r.estimate): suppressed(r.estimate, least) for r in assessment.results if is_small(r, least)
    }
    findings = tuple(without_small(finding, small) for finding in assessment.findings) if small else None
    return replace(
        assessment,
        plan=plan.model_copy(update={"readers": ()}),
        study=replace(
            study, manifest=b"", sources=tuple(replace(s, columns=(), query=None) for s in study.sources)
        ),
        findings=assessment.findings if findings is None else findings,
        flows=tuple(flow for flow in assessment.flows if not _any_small(_counts_of(flow), least)),
        flow_figures=tuple(f for f in assessment.flow_figures if not draws_few(f.drawing, least)),
        case_mixes=tuple(
            _mix(one, least)
            for one in assessment.case_mixes
            if not _any_small((one.n, one.positive, one.negative, one.without_truth), least)
        ),
        errors=tuple(
            _errors(one, least)
            for one in assessment.errors
            if not _any_small(_cells(one.positives, one.missed, one.negatives, one.false_alarms), least)
        ),
    )


def _mix(mix: CaseMix, least: int) -> CaseMix:
    """The mix without characteristics of which a level, or what is unknown, is small."""
    kept = tuple(c for c in mix.characteristics if not _any_small((*c.levels.values(), c.unknown), least))
    statuses = {} if _any_small(mix.statuses.values(), least) else mix.statuses
    return replace(mix, characteristics=kept, statuses=statuses)


def _counts_of(flow: TaskFlow) -> tuple[int, ...]:
    missing = flow.missing.values() if flow.missing else ()
    return (flow.n_cases, flow.n_positive, flow.n_negative, flow.n_without_truth, *missing)


def _cells(positives: int, missed: int, negatives: int, alarms: int) -> tuple[int, int, int, int]:
    return missed, positives - missed, alarms, negatives - alarms


def _errors(errors: Errors, least: int) -> Errors:
    """The errors without characteristics with a small cell: the other levels would give it back."""
    small = {
        name
        for name, _, positives, missed, negatives, alarms in errors.by
        if _any_small(_cells(positives, missed, negatives, alarms), least)
    }
    return replace(errors, by=tuple(row for row in errors.by if row[0] not in small))


def _any_small(cells: Iterable[int], least: int) -> bool:
    return any(0 < n < least for n in cells)


def is_small(result: Result, least: int) -> bool:
    """Whether a number of a group or a site rests on fewer cases than the limit."""
    if result.place.subgroup is None and result.place.site is None:
        return False
    e = result.estimate
    counted = result.unit == "count" and 0 < e.value < least
    return counted or 0 < e.n < least
