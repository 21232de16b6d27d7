"""The study that the files of several sites make: cases rebuilt from counts, and what only sites know."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import numpy as np

from trustreport.measures.sites.shared import ScoreSums, SharedEstimate, SharedScores, SiteScores
from trustreport.study import lock
from trustreport.study.clusters import with_clusters
from trustreport.study.plan import Plan
from trustreport.study.pooled.site_file import CandidateScores, SetCounts, SharedNumber, SiteFile, written
from trustreport.study.study import Cases, Coded, Dataset, Labels, Scores, Source, Study, close
from trustreport.vocabulary.errors import Problem, StudyError

DECISIONS = {"positive": 1, "negative": 0, "scored": -1, "failed": -1, "not run": -1}
STATUSES = ("ok", "failed", "not run")
STATUS = {"failed": 1, "not run": 2}


@dataclass(frozen=True, slots=True)
class ReceivedFile:
    """A file of a site with its name, and who signed it; "" where nobody known did."""

    name: str
    summary: SiteFile
    signer: str = ""

    @property
    def lock(self) -> lock.Lock:
        """The lock that it is under.

        Raises
        ------
        ValueError : it holds none
        """
        return lock.read(self.summary.lock.encode())


@dataclass(frozen=True, slots=True)
class PooledSites:
    """What a pooled study knows of its sites, beyond numbers: their files, and what they withheld."""

    files: tuple[ReceivedFile, ...]

    @property
    def sites(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.summary.site for one in self.files))

    def withheld(self) -> Iterator[tuple[str, Any]]:
        """Each site with what it withheld."""
        for one in self.files:
            for said in one.summary.withheld:
                yield one.summary.site, said


def pooled_study(
    files: Sequence[ReceivedFile], *, report: Mapping[str, Any] | None = None
) -> tuple[Study, Plan]:
    """One study of the files of several sites under the same lock.

    A site may have several files: of other periods. A data set or period of a site is in one of them, or the
    same in all.

    Parameters
    ----------
    files : in any order; what is made of them does not depend on it
    report : what the report of the pool has in place of what the sites declare: kind, title, language

    Raises
    ------
    StudyError : files do not fit together; names each that does not
    """
    files = sorted(files, key=lambda one: (one.summary.site, written(one.summary)))
    problems = list(_unlike(files))
    if problems:
        raise StudyError(problems)
    plan = _plan(files, report or {})
    blocks = {}
    for one in files:
        for counts in one.summary.datasets:
            blocks[counts.dataset, one.summary.site] = counts
    order = [facts.dataset for facts in plan.datasets]
    named = sorted({name for name, _ in blocks}, key=lambda name: order.index(name))
    datasets = tuple(
        _dataset(name, {site: found for (own, site), found in blocks.items() if own == name}, plan, files)
        for name in named
    )
    study = Study(
        datasets=datasets,
        sources=tuple(_source(one) for one in files),
        lock=files[0].summary.lock.encode(),
        pooled=PooledSites(tuple(files)),
    )
    study = with_clusters(study, plan)
    close(study.datasets)
    return study, plan


def _unlike(files: Sequence[ReceivedFile]) -> Iterator[Problem]:
    """Why files cannot be pooled."""
    if len({one.summary.site for one in files}) < 2:
        found = ", ".join(sorted({one.summary.site for one in files})) or "none"
        yield Problem("", f"found {found}", "files of two sites at least")
        return
    locks: dict[str, lock.Lock] = {}
    for one in files:
        try:
            locks[one.name] = one.lock
        except ValueError as error:
            yield Problem(one.name, f"its lock cannot be read: {error}", "the lock that all sites share")
    if len(locks) < len(files):
        return
    first = Counter(found.first.sha256 for found in locks.values()).most_common(1)[0][0]
    for one in files:
        own = locks[one.name].first.sha256
        if own != first:
            yield Problem(
                one.name,
                f"{one.summary.site} is under the lock {own[:12]}",
                f"{first[:12]}, as most files",
                "Ask the site to put the shared lock beside its manifest and to make its file again.",
            )
    versions = Counter(_version(one) for one in files)
    common = versions.most_common(1)[0][0]
    for one in files:
        if _version(one) != common:
            yield Problem(
                one.name,
                f"{one.summary.site} used trustreport {_version(one)}",
                f"{common}, as most files",
                "Numbers of different versions are not pooled: ask the site to make its file again.",
            )
    seen: dict[tuple[str, str], tuple[ReceivedFile, SetCounts]] = {}
    for one in files:
        for counts in one.summary.datasets:
            before = seen.setdefault((one.summary.site, counts.dataset), (one, counts))
            if before[1] != counts:
                yield Problem(
                    one.name,
                    f"{one.summary.site} answers {counts.dataset} otherwise than in {before[0].name}",
                    "one answer of a site for each data set",
                    "Leave the file out that does not hold.",
                )
    people: dict[str, ReceivedFile] = {}
    for one in files:
        for digest in one.summary.data:
            other = people.setdefault(digest, one)
            if other.summary.site != one.summary.site:
                yield Problem(
                    one.name,
                    f"{one.summary.site} counted the same data file as {other.summary.site}",
                    "other cases at each site",
                )


def _version(one: ReceivedFile) -> str:
    return one.summary.software.get("trustreport", "")


def _plan(files: Sequence[ReceivedFile], report: Mapping[str, Any]) -> Plan:
    """What the sites declare alike, with every data set that one of them has, for the report of the pool."""
    said = dict(files[0].summary.manifest)
    sets: dict[str, dict[str, Any]] = {}
    for one in files:
        for facts in one.summary.manifest.get("datasets", ()):
            own = sets.setdefault(facts["dataset"], dict(facts))
            for word, better in (("start_date", min), ("end_date", max)):
                if facts.get(word) and own.get(word):
                    own[word] = better(own[word], facts[word])
    said["datasets"] = list(sets.values())
    said["report"] = {**said.get("report", {}), **report}
    if "vigilance" in said:
        last = max(files, key=lambda one: str(one.summary.until or "")).summary.manifest.get("vigilance", {})
        said["vigilance"] = {**said["vigilance"], **last}
    if said["report"].get("kind") != "procurement":
        said.pop("site_context", None)
    return Plan.model_validate(said)


def _source(one: ReceivedFile) -> Source:
    data = written(one.summary)
    cases = sum(pattern.n for counts in one.summary.datasets for pattern in counts.patterns)
    return Source(one.name, "site", sha256(data).hexdigest(), len(data), cases, cases, signer=one.signer)


def _dataset(name: str, sites: Mapping[str, SetCounts], plan: Plan, files: Sequence[ReceivedFile]) -> Dataset:
    """A data set of all sites, its cases in the order of sites, classes and outcomes."""
    facts = next(one for one in plan.datasets if one.dataset == name)
    candidates = tuple(dict.fromkeys(c for counts in sites.values() for c in counts.candidates))
    columns = tuple(
        dict.fromkeys(c for counts in sites.values() for group in counts.groups for c in group.columns)
    )
    names = sorted(site for site, counts in sites.items() if counts.patterns)
    truth, site = [], []
    of_group: dict[str, list[tuple[str | None, int]]] = {column: [] for column in columns}
    decisions: dict[str, list[Any]] = {c: [] for c in candidates}
    status: dict[str, list[Any]] = {c: [] for c in candidates}
    for i, where in enumerate(names):
        counts = sites[where]
        n = [pattern.n for pattern in counts.patterns]
        truth.append(np.repeat([pattern.truth for pattern in counts.patterns], n).astype(np.int8))
        site.append(np.full(sum(n), i, np.int32))
        for candidate in candidates:
            at = counts.candidates.index(candidate) if candidate in counts.candidates else None
            outcomes = ["not run" if at is None else pattern.outcomes[at] for pattern in counts.patterns]
            decisions[candidate].append(np.repeat([DECISIONS[o] for o in outcomes], n).astype(np.int8))
            status[candidate].append(np.repeat([STATUS.get(o, 0) for o in outcomes], n).astype(np.int32))
        for column in columns:
            of_group[column] += _values(column, counts)
    cases = Cases(
        Labels(n=sum(map(len, truth))),
        _joined(truth, np.int8),
        patient=Coded(_joined(site, np.int32), Labels(tuple(names))) if _clustered(sites) else None,
        site=Coded(_joined(site, np.int32), Labels(tuple(names))),
        groups={column: _coded(values) for column, values in of_group.items()},
    )
    scores = {
        candidate: Scores(
            decision=_joined(decisions[candidate], np.int8),
            status=Coded(_joined(status[candidate], np.int32), Labels(STATUSES)),
            shared=_shared(candidate, sites, files, name),
        )
        for candidate in candidates
    }
    return Dataset(name, facts.role, cases, scores)


def _clustered(sites: Mapping[str, SetCounts]) -> bool:
    return any(counts.clusters for counts in sites.values())


def _joined(parts: Sequence[Any], kind: Any) -> Any:
    return np.concatenate(parts) if parts else np.zeros(0, kind)


def _coded(runs: Sequence[tuple[str | None, int]]) -> Coded:
    """A column of values that so many cases in turn have."""
    labels = sorted({value for value, n in runs if value is not None and n})
    place = {label: i for i, label in enumerate(labels)}
    codes = np.array([-1 if value is None else place.get(value, -1) for value, _ in runs], np.int32)
    return Coded(np.repeat(codes, [n for _, n in runs]), Labels(tuple(labels)))


def _values(column: str, counts: SetCounts) -> list[tuple[str | None, int]]:
    """The values of a column with their cases, in the order of the patterns; None where not handed over."""
    found: list[tuple[str | None, int]] = []
    group = next((one for one in counts.groups if column in one.columns), None)
    place = {0: 0, 1: 0}
    for pattern in counts.patterns:
        left = pattern.n
        if group is not None:
            at = group.columns.index(column)
            for level in group.levels:
                if level.truth == pattern.truth:
                    n = level.n[place[pattern.truth]]
                    value = level.values[at]
                    found.append((None if value is None else str(value), n))
                    left -= n
        place[pattern.truth] += 1
        found.append((None, max(left, 0)))
    return found


def _shared(
    candidate: str, sites: Mapping[str, SetCounts], files: Sequence[ReceivedFile], dataset: str
) -> SharedScores:
    """What the sites hand over of the scores of a candidate; a site that does not is there without any."""
    groups = (w for one in files for w in one.summary.withheld if w.what == "group" and w.dataset == dataset)
    return SharedScores(
        {
            where: _site_scores(counts.scores[candidate]) if candidate in counts.scores else SiteScores()
            for where, counts in sites.items()
        },
        clusters=_clustered(sites),
        withheld_groups=frozenset(one.name for one in groups),
        fewest=max(one.summary.rules.fewest for one in files),
    )


def _site_scores(given: CandidateScores) -> SiteScores:
    sums = None if given.sums is None else ScoreSums(**given.sums.model_dump())
    return SiteScores(
        {name: tuple(map(as_estimate, own)) for name, own in given.estimates.items()},
        sums,
        {one.threshold: one.cells for one in given.acted},
        tuple((one.low, one.high, one.n) for one in given.positives),
        tuple((one.low, one.high, one.n) for one in given.negatives),
    )


def as_estimate(given: SharedNumber) -> SharedEstimate:
    """The estimate that was handed over."""
    limits = {level: (low, high) for level, low, high in given.limits}
    numbers = given.value, given.n, given.method, given.form, given.se, given.df, given.p
    return SharedEstimate(*numbers, given.noted(), given.details, limits)
