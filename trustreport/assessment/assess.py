"""The whole assessment: every dimension asked, every check run, what stays open said."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

from trustreport.assessment.case_mix import (
    CaseMix,
    Errors,
    TaskFlow,
    case_mixes,
    errors,
    flow_figures,
    task_flows,
)
from trustreport.assessment.checks import CHECKS, Evidence
from trustreport.assessment.checks.sites import with_those_of_sites
from trustreport.assessment.dimensions import DIMENSIONS
from trustreport.assessment.finding import CheckOutcome, Figure, Finding, Unanswered
from trustreport.assessment.narrative.against_labels import mark_check, mark_finding
from trustreport.assessment.performance.labels import why_labels_err
from trustreport.assessment.release.guard import guarded, guarded_checks, guarded_results
from trustreport.assessment.verdicts import AtLevel, Verdict, verdicts
from trustreport.measures.similarity.features import Run, one_by_one
from trustreport.study.identity.pseudonyms import released
from trustreport.study.plan import Language, Plan, undeclared
from trustreport.study.study import Study
from trustreport.vocabulary.errors import Cancelled
from trustreport.vocabulary.one_number import contradictions
from trustreport.vocabulary.results import Result

Progress = Callable[[str, float], None]
Cancel = Callable[[], bool]
Seen = Callable[[list[Figure]], None]


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a report says: findings in report order, all results, checks, and what could not be answered."""

    study: Study
    plan: Plan
    findings: tuple[Finding, ...]
    checks: tuple[CheckOutcome, ...]
    unanswered: tuple[Unanswered, ...]
    flows: tuple[TaskFlow, ...]
    flow_figures: tuple[Figure, ...]
    not_declared: tuple[str, ...]
    verdicts: tuple[Verdict, ...] = ()
    case_mixes: tuple[CaseMix, ...] = ()
    errors: tuple[Errors, ...] = ()
    only: tuple[str, ...] = ()  # the dimensions that alone were asked; empty where all were

    @property
    def results(self) -> tuple[Result, ...]:
        """Every result of every dimension, in report order."""
        return tuple(r for finding in self.findings for r in finding.results)

    @property
    def figures(self) -> tuple[Figure, ...]:
        """Every figure: those of the dimensions in report order, then what was read."""
        found = [figure for finding in self.findings for figure in figures_of(finding)]
        return (*found, *self.flow_figures)

    def in_language(self, language: Language) -> Self:
        """The same assessment, whose report is in another language."""
        report = self.plan.report.model_copy(update={"language": language})
        return replace(self, plan=self.plan.model_copy(update={"report": report}))

    def fired(self, dimension: str = "") -> Iterator[CheckOutcome]:
        """The checks that fired, blocks first; of one dimension where it is named."""
        for severity in "BWN":
            for outcome in self.checks:
                here = not dimension or outcome.dimension == dimension
                if here and outcome.status == "fired" and outcome.severity == severity:
                    yield outcome


def figures_of(finding: Finding) -> list[Figure]:
    """The figures of a dimension, in report order."""
    return [figure for part in finding.parts for figure in part.figures]


def assess(
    study: Study,
    plan: Plan,
    *,
    progress: Progress | None = None,
    cancel: Cancel | None = None,
    seen: Seen | None = None,
    run: Run = one_by_one,
    only: Iterable[str] = (),
) -> Assessment:
    """Answer every question that the study can answer.

    Reads neither clock, disk nor environment: the same study and plan give the same assessment. Of a public
    report readers, raters and sites stand under pseudonyms.

    Parameters
    ----------
    progress : called with the name of the step and the share of the work done, in [0, 1]
    cancel : asked between steps; true ends the work with `Cancelled`
    seen : called with the figures of each finding as soon as it stands
    run : how independent pieces of work are computed (`trustreport.api.workers`); nothing depends on it
    only : names of dimensions (``"advice_accuracy"``); the others are not asked, and no report can be written

    Raises
    ------
    ValueError : `only` names what is no dimension
    StudyError : the report is to be public, and the study names persons
    """
    asked = _dimensions_named(only)
    study, plan = released(study, plan)
    labels_err = why_labels_err(plan) is not None
    findings: list[Finding] = []
    unanswered: list[Unanswered] = []
    for i, dimension in enumerate(DIMENSIONS):
        if cancel and cancel():
            raise Cancelled(dimension.name)
        if progress:
            progress(dimension.name, i / (len(DIMENSIONS) + 1))
        if not dimension.applies(study, plan) or (asked and dimension.name not in asked):
            continue
        lacking = dimension.lacks(study, plan)
        if lacking is not None:
            unanswered.append(lacking)
        else:
            shared = {"run": run} if dimension.shared else {}
            finding = dimension.answer(study, plan, **shared)
            findings.append(mark_finding(finding) if labels_err else finding)
            if seen:
                seen(figures_of(findings[-1]))
    if progress:
        progress("checks", len(DIMENSIONS) / (len(DIMENSIONS) + 1))
    results = tuple(r for f in findings for r in f.results)
    contradicted = contradictions(results, plan.operating_point.threshold)
    evidence = Evidence(study, plan, results)
    checks = with_those_of_sites(evidence, CHECKS)
    if labels_err:
        checks = tuple(mark_check(outcome) for outcome in checks)
    # Checks see every number; what is said and judged of it in public is only what may be shown.
    shown = guarded(findings, study, plan)
    results = tuple(r for f in shown for r in f.results)
    checks = guarded_checks(checks, shown, plan)
    if progress:
        progress("checks", 1.0)
    return Assessment(
        study,
        plan,
        findings=shown,
        checks=checks,
        unanswered=tuple(unanswered),
        flows=task_flows(study, plan),
        flow_figures=flow_figures(study, plan),
        not_declared=tuple(undeclared(plan, plan.report.kind)),
        case_mixes=case_mixes(study),
        errors=errors(study, plan),
        verdicts=verdicts(study, plan, results, checks, _at_level(study, plan, run), contradicted),
        only=asked,
    )


def _dimensions_named(only: Iterable[str]) -> tuple[str, ...]:
    asked, known = tuple(only), [dimension.name for dimension in DIMENSIONS]
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise ValueError(f"no dimension {', '.join(unknown)}; there are {', '.join(known)}")
    return asked


OVER_SITES = "potential_robustness"


def _at_level(study: Study, plan: Plan, run: Run) -> AtLevel:
    """The results of a dimension at another level: it answers again, once for each level that is asked."""
    by_name = {dimension.name: dimension for dimension in DIMENSIONS}

    @cache
    def results_at_level(name: str, level: float) -> tuple[Result, ...]:
        """The results of one dimension, computed anew at this confidence level."""
        dimension = by_name[name]
        if dimension.lacks(study, plan) is not None:
            if study.pooled is None or name == OVER_SITES:
                return ()
            # What sites hand over as it is stands in the dimension that compares sites.
            return tuple(r for r in results_at_level(OVER_SITES, level) if r.dimension == name)
        report = plan.report.model_copy(update={"confidence_level": level})
        shared = {"run": run} if dimension.shared else {}
        found = dimension.answer(study, plan.model_copy(update={"report": report}), **shared).results
        return guarded_results(found, study, plan)

    return results_at_level
