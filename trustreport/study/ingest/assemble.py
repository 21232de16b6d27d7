"""Tables and plan to a `Study`; every array is closed against writing."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trustreport.study.clusters import with_clusters
from trustreport.study.ingest import follow_up, published, rules, utilities
from trustreport.study.ingest.arms import Arms, arms_of
from trustreport.study.ingest.cautions import cautions
from trustreport.study.ingest.columns import MappedTable
from trustreport.study.ingest.datasets import datasets_of
from trustreport.study.ingest.lesions import localised
from trustreport.study.ingest.problems import Problems
from trustreport.study.ingest.readings import ratings_of, readings_of
from trustreport.study.plan import Plan
from trustreport.study.study import Ratings, Readings, Study, close


def assemble(plan: Plan, tables: Sequence[MappedTable], problems: Problems) -> Study:
    """Join all tables; what does not fit together becomes a problem."""
    rules.names_are_unique(plan, problems)
    rules.rows_are_unique(tables)
    rules.spelled_alike(tables)
    published.sets_are_unique(plan, problems)
    arms = arms_of(plan, tables, problems)
    datasets = datasets_of(plan, tables, problems)
    datasets, localisations = localised(plan, tables, arms, datasets)
    study = Study(
        arms.names,
        tuple(_readings(plan, tables, arms)),
        datasets,
        tuple(_ratings(tables)),
        localisations,
        published.counts_of(plan, tables, arms, problems),
        plan.paired_counts,
        published.confusion_of(plan, tables),
        plan.reliance_counts,
        plan.nomogram,
        published.reported_of(plan, tables),
    )
    published.pools_are_of_sets(plan, study.confusion, problems)
    utilities.utilities_are_usable(plan, study, problems)
    utilities.joint_tables_agree(plan, study, problems)
    rules.references_hold(plan, study, arms, problems)
    follow_up.is_usable(plan, tables, study, problems)
    rules.criteria_are_assessable(plan, problems)
    rules.versions_are_known(plan, study, problems)
    study = with_clusters(replace(study, cautions=tuple(cautions(plan, tables, study))), plan)
    close(study)
    return study


def _readings(plan: Plan, tables: Sequence[MappedTable], arms: Arms) -> Iterator[Readings]:
    for task in _tasks(tables, "readings"):
        read = [t for t in tables if t.kind == "readings" and (t.spec.task or "") == task]
        made = readings_of(
            task,
            read,
            _of_task(tables, "cases", task),
            _of_task(tables, "readers", task),
            arms,
            plan,
        )
        if made is not None:
            yield made


def _ratings(tables: Sequence[MappedTable]) -> Iterator[Ratings]:
    for task in _tasks(tables, "raters"):
        rated = [t for t in tables if t.kind == "raters" and (t.spec.task or "") == task]
        made = ratings_of(task, rated, _of_task(tables, "cases", task))
        if made is not None:
            yield made


def _tasks(tables: Sequence[MappedTable], kind: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(t.spec.task or "" for t in tables if t.kind == kind))


def _of_task(tables: Sequence[MappedTable], kind: str, task: str) -> list[MappedTable]:
    """The tables that describe a task: its own and those of no task."""
    return [t for t in tables if t.kind == kind and t.spec.task in (None, task)]
