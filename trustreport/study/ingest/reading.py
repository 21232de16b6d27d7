"""`read`: a study folder to a frozen `Study` and its `Plan`, or every problem of every file at once."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

from trustreport.study import lock
from trustreport.study.clusters import with_clusters
from trustreport.study.definitions import columns_of
from trustreport.study.ingest import manifest as manifests
from trustreport.study.ingest import published, rules, validation
from trustreport.study.ingest.cases import Arms, arms_of, compose
from trustreport.study.ingest.cautions import cautions
from trustreport.study.ingest.cells import load
from trustreport.study.ingest.columns import MappedTable, Spec
from trustreport.study.ingest.contracts import TABLE_WORDS
from trustreport.study.ingest.datasets import datasets_of
from trustreport.study.ingest.lesions import localised
from trustreport.study.ingest.manifest import StudyFiles
from trustreport.study.ingest.measured import preferences_of, values_of
from trustreport.study.ingest.problems import (
    KeyPath,
    Manifest,
    Problems,
    did_you_mean,
    dotted,
    listed,
    quoted,
)
from trustreport.study.ingest.readings import ratings_of, readings_of
from trustreport.study.ingest.tables import read_table
from trustreport.study.ingest.values import shaped
from trustreport.study.plan import Plan, TableSource
from trustreport.study.study import Query, Ratings, Readings, Source, Study, close
from trustreport.vocabulary.errors import Problem, StudyError

# Groups without which nothing can be joined: with a fault there, the files are read one by one only.
JOINING = ("arms", "reading", "datasets", "tables", "candidates")
LAST = 1 << 60  # the row of a problem that speaks of a whole file: after those of its rows
# Why a row of a table did not enter the study.
UNUSED = {
    "readings": "no decision and no score",
    "cases": "case neither read nor scored",
    "readers": "reader without a reading",
    "raters": "no label",
}


def read(path: str | PathLike[str], *, allow_outside: bool = False) -> tuple[Study, Plan]:
    """Read a study folder, or its manifest, with all its tables.

    Parameters
    ----------
    path : the folder that holds ``study.yaml`` (``study.yml``, ``study.json``), or the manifest itself
    allow_outside : let the manifest name files outside its folder

    Raises
    ------
    StudyError : with every problem of every file
    """
    problems = Problems()
    found = _manifest_path(Path(path), problems)
    if found is None:
        raise StudyError(problems)
    manifest = manifests.parse(found.name, _bytes(found), problems)
    if manifest is None:
        raise StudyError(problems)
    plan, touched = validation.plan_of(manifest, problems)
    if plan is None:
        raise StudyError(problems)
    files = StudyFiles(found.parent, found.name, problems, allow_outside)
    try:
        study = _study(plan, touched, manifest, files, problems)
    finally:
        files.close()
    if problems or study is None:
        raise StudyError(_in_order(problems, manifest.file))
    _give_back()
    return study, plan


def _give_back() -> None:
    """The memory of the tables, of which nothing is left in the study, to the operating system."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()


def read_plan(path: str | PathLike[str]) -> tuple[Path, Plan]:
    """The manifest alone, and the folder that it lies in: its tables may not be there yet.

    Raises
    ------
    StudyError : with every problem of the manifest
    """
    problems = Problems()
    found = _manifest_path(Path(path), problems)
    manifest = found and manifests.parse(found.name, _bytes(found), problems)
    plan = validation.plan_of(manifest, problems)[0] if manifest else None
    if problems or plan is None or found is None:
        raise StudyError(problems)
    return found.parent, plan


def _bytes(path: Path) -> bytes:
    """A manifest, and a byte more than one may have."""
    with path.open("rb") as stream:
        return stream.read(manifests.MOST_BYTES + 1)


def _manifest_path(path: Path, problems: Problems) -> Path | None:
    try:
        if path.is_dir():
            there = manifests.found_in(path)
            if len(there) == 1:
                return there[0]
            found = "several manifests" if there else "no study.yaml, study.yml or study.json"
            proposed = "`trustreport init` and the form of the service propose one from the tables."
            mend = f"Keep one of {listed(p.name for p in there)}." if there else proposed
            problems.add_at(path.name or str(path), found, "", mend)
        elif not path.is_file():
            problems.add_at(path.name or str(path), "there is no such file or folder")
        elif path.suffix.lower() not in (".yaml", ".yml", ".json"):
            problems.add_at(path.name, "this is no manifest", "a study folder or its study.yaml")
        else:
            return path
    except (OSError, ValueError):
        problems.add_at(str(path)[:60], "this cannot be read")
    return None


def _study(
    plan: Plan, touched: set[Any], manifest: Manifest, files: StudyFiles, problems: Problems
) -> Study | None:
    """Read every file, then join them where the manifest says enough to do so."""
    rules.limits_are_known(plan, problems)
    if not touched:
        rules.there_is_data(plan, problems)
    loaded = [(spec, *_load(spec, plan, files, manifest, problems)) for spec in _specs(plan, problems)]
    if not touched.isdisjoint(JOINING):
        return None

    tables = [table for _, _, table in loaded if table is not None]
    if len(tables) == len(loaded) and "reference_standard" not in touched:
        compose(tables, plan.reference_standard, problems)
    study = assemble(plan, tables, problems)
    locked, looks = _lock(files, problems), _looks(files, problems)
    if problems:
        return None

    return replace(_with_sources(study, manifest, files, loaded, locked), looks=looks)


def _specs(plan: Plan, problems: Problems) -> Iterator[Any]:
    """What the manifest says of every file, in its order."""
    named: list[TableSource] = [*plan.tables.values(), *plan.datasets]
    classes = any("class_scores" in t.columns for t in named)
    divided = frozenset(column for group in plan.subgroups for column in columns_of(group))
    for name, table in plan.tables.items():
        kind = table.kind or name
        path: KeyPath = ("tables", name)
        if kind not in TABLE_WORDS:
            said = (*path, "kind") if table.kind else path
            mend = did_you_mean(kind, TABLE_WORDS) or f"Add kind: with one of {', '.join(TABLE_WORDS)}."
            problems.declared(said, f"{quoted(kind)} is no kind of table", "", mend)
            continue
        features = _features(plan, table.dataset) if kind in ("scores", "features") else ()
        of = table.task, table.candidate, table.dataset
        yield Spec(table.file_of(name), kind, path, table, name, *of, features, divided, classes)
    for i, facts in enumerate(plan.datasets):
        if file := facts.file_of(facts.dataset):
            path, features = ("datasets", i), facts.features or ()
            own = facts.dataset
            yield Spec(file, "dataset", path, facts, own, None, None, own, features, divided, classes)


def _features(plan: Plan, dataset: str | None) -> tuple[str, ...]:
    """The features that a table of scores or features may hold, by the data sets it may serve."""
    served = [d for d in plan.datasets if dataset in (None, d.dataset)]
    return tuple(dict.fromkeys(f for d in served for f in d.features or ()))


def _load(
    spec: Any, plan: Plan, files: StudyFiles, manifest: Manifest, problems: Problems
) -> tuple[Path | None, Any]:
    """The file and its table; None where it cannot be read (the problem is noted)."""
    asked = isinstance(spec.form, TableSource) and spec.form.is_fetched
    key: KeyPath = (*spec.path, ("sql" if spec.form.sql else "newest") if asked else "file")
    at = dotted(key), manifest.line(key)
    path = files.fetch(spec.file, spec.form, *at) if asked else files.find(spec.file, *at)
    if path is None:
        return None, None
    if spec.kind == "dataset":
        _check_hash(spec, plan, files, path, problems)
    raw = read_table(path, spec.file, spec.layout, problems, spec.wanted)
    if raw is not None:
        raw = shaped(raw, spec.form, spec.path, problems)
    return path, None if raw is None else load(spec, raw, problems)


def _check_hash(spec: Any, plan: Plan, files: StudyFiles, path: Path, problems: Problems) -> None:
    declared = next(d.sha256 for i, d in enumerate(plan.datasets) if ("datasets", i) == spec.path)
    if declared is None:
        return
    true = files.hash(path)
    if declared.strip().lower().removeprefix("sha256:") != true:
        key: KeyPath = (*spec.path, "sha256")
        problems.declared(
            key,
            f"{spec.file} has the SHA-256 {true}",
            quoted(declared[:64]),
            "The file is not the one that was declared: restore it, or correct the hash.",
        )


def _lock(files: StudyFiles, problems: Problems) -> bytes:
    """The lock of the criteria; empty where the folder holds none."""
    path = files.folder / lock.FILE
    if not path.is_file():
        return b""
    data = _bytes(path)
    try:
        lock.read(data)
    except ValueError as error:
        mend = "Restore it: what was locked cannot be read from it."
        problems.add_at(lock.FILE, str(error), "the unchanged lock of the criteria", mend)
    return data


def _looks(files: StudyFiles, problems: Problems) -> bytes:
    """The register of looks; empty where the folder has none."""
    path = files.folder / lock.LOOKS
    data = _bytes(path) if path.is_file() else b""
    try:
        lock.read_looks(data)
    except ValueError as error:
        problems.add_at(lock.LOOKS, str(error), "the register as it was written", "Restore it.")
    return data


def _with_sources(
    study: Study, manifest: Manifest, files: StudyFiles, loaded: list[Any], locked: bytes
) -> Study:
    """The study with an entry for each input file."""
    own = files.folder / manifest.file
    sources = [Source(manifest.file, "manifest", files.hash(own), own.stat().st_size, 0, 0)]
    for spec, path, table in loaded:
        n_used = int(table.used.sum())
        dropped = {"empty row": table.n_blank, UNUSED.get(spec.kind, "not used"): table.n_rows - n_used}
        sources.append(
            Source(
                spec.file,
                spec.kind,
                files.hash(path),
                path.stat().st_size,
                table.n_rows + table.n_blank,
                n_used,
                {reason: n for reason, n in dropped.items() if n > 0},
                table.header,
                _query(spec.form),
                files.exports.get(path),
            )
        )
    if locked:
        path = files.folder / lock.FILE
        sources.append(Source(lock.FILE, "lock", files.hash(path), len(locked), 0, 0))
    return replace(study, sources=tuple(sources), manifest=own.read_bytes(), lock=locked)


def _query(form: Any) -> Query | None:
    if not isinstance(form, TableSource) or form.sql is None:
        return None
    return Query(form.sql, dict(form.parameters), form.connection or form.url_env or "")


def _in_order(problems: Problems, manifest: str) -> list[Problem]:
    """The manifest's problems by line, then those of each file by row, files in the order first met."""
    order = {file: i for i, file in enumerate(dict.fromkeys([manifest, *(p.file for p in problems)]))}
    unique = dict.fromkeys(problems)
    return sorted(unique, key=lambda p: (order[p.file], p.rows[0] if p.rows else p.row or LAST))


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
        values_of(plan, tables, arms),
        preferences_of(plan, tables),
        published.counts_of(plan, tables, arms, problems),
        plan.paired_counts,
        published.confusion_of(plan, tables),
        plan.reliance_counts,
        plan.nomogram,
        published.reported_of(plan, tables),
    )
    published.pools_are_of_sets(plan, study.confusion, problems)
    rules.utilities_are_usable(plan, study, problems)
    published.joint_tables_agree(plan, study, problems)
    rules.references_hold(plan, study, arms, problems)
    rules.follow_up_is_usable(plan, tables, study, problems)
    validation.criteria_are_assessable(plan, problems)
    rules.versions_are_known(plan, study, problems)
    study = with_clusters(replace(study, cautions=tuple(cautions(plan, tables, study))), plan)
    close(study)
    return study


def _readings(plan: Plan, tables: Sequence[MappedTable], arms: Arms) -> Iterator[Readings]:
    for task in _tasks(tables, "readings"):
        read = [t for t in tables if t.kind == "readings" and (t.spec.task or "") == task]
        made = readings_of(
            task, read, _of_task(tables, "cases", task), _of_task(tables, "readers", task), arms, plan
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
