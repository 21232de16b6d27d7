"""The summary of a site: what is counted, what its rules keep there, and an attack on what would leave."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import metadata
from math import isfinite, isnan
from typing import Any

from trustreport.assessment.assess import Assessment
from trustreport.assessment.performance.cases import ScoredCases, of_dataset
from trustreport.assessment.site_summary.counting import CountedCases, counted_cases
from trustreport.assessment.site_summary.scoring import consistent_cells, scores_of, shows_values
from trustreport.assessment.site_summary.withholding import (
    Kept,
    kept_counts,
    recovered_counts,
    small_counts,
)
from trustreport.measures.sites.shared import SharedEstimate
from trustreport.study import lock
from trustreport.study.plan import Plan
from trustreport.study.pooled.site_file import (
    CandidateScores,
    DisclosureRules,
    KeptAtSite,
    SetCounts,
    SharedMessage,
    SiteCheck,
    SiteFile,
    SiteNumber,
    shared_number,
)
from trustreport.study.study import DEVELOPMENT_ROLES, Dataset, Study
from trustreport.vocabulary.errors import Problem, StudyError
from trustreport.vocabulary.results import Result
from trustreport.vocabulary.version import __version__

CELLS = ("tp", "fp", "fn", "tn")
# Results of a site that are handed over as they are, where no counts of it make them again.
ALONE = ("potential_robustness.degree_of_correspondence",)
OF_DIMENSIONS = ("measurement", "reader_measurement", "pragmatic_utility", "decision_benefit")
# What a manifest says of people, files and papers of the site, and what goes on after the lock.
STAYS = (
    *("readers", "tables", "approvals", "documents", "incidents", "signals", "counts", "paired_counts"),
    *("confusion", "confusion_tables", "joint_decisions", "reliance_counts", "nomogram", "reported"),
    *("published_readers", "published_sites"),
)
OF_A_SET = (
    *("dataset", "role", "source", "start_date", "end_date", "sampling", "enrichment", "eligibility"),
    *("unit_of_analysis", "cluster_keys", "features"),
)


class DisclosureError(Exception):
    """What would leave gives back counts that the rules withhold; nothing leaves."""

    def __init__(self, dataset: str, counts: Sequence[str]) -> None:
        self.counts = tuple(counts)
        super().__init__(f"{dataset}: {', '.join(counts)}")


def site_summary(
    assessment: Assessment, site: str, rules: DisclosureRules, *, manifest: str = "study.yaml"
) -> SiteFile:
    """What a site hands over of its assessed study.

    Parameters
    ----------
    assessment : of the site's own study, internal
    site : its name, as the pooled report will have it
    manifest : the file that messages name

    Raises
    ------
    StudyError : there is no lock, or what is declared is no longer what was locked, or the data are of
        several sites
    """
    study, plan = assessment.study, assessment.plan
    problems = list(_obstacles(study, plan, manifest))
    if problems:
        raise StudyError(problems)
    sets, withheld = [], []
    for dataset in study.datasets:
        if dataset.role not in DEVELOPMENT_ROLES and dataset.scores and len(dataset.cases.classes) == 2:
            own, kept_back = _set(dataset, study, plan, rules)
            sets.append(own)
            withheld += kept_back
    numbers, few = _numbers(assessment, rules)
    summary = SiteFile(
        site=site,
        software={
            "trustreport": __version__,
            **{name: metadata.version(name) for name in ("numpy", "scipy")},
        },
        lock=study.lock.decode(),
        manifest=_declared(plan, lock.read(study.lock).first.criteria),
        rules=rules,
        data=_own_data(study, plan),
        looks=_looks(study),
        until=plan.vigilance.period_end if plan.vigilance else None,
        datasets=tuple(sets),
        results=tuple(numbers),
        checks=tuple(_checks(assessment)),
        withheld=(*withheld, *few),
    )
    return _rounded(summary, rules.digits) if rules.digits is not None else summary


def _obstacles(study: Study, plan: Plan, manifest: str) -> Iterator[Problem]:
    if not study.lock:
        yield Problem(
            lock.FILE,
            "there is no lock",
            "the lock that all sites share",
            f"Put the coordinator's {lock.FILE} beside {manifest}.",
        )
        return
    found = lock.lock_status(study, plan)
    changed = [change.field for change in found.changes]
    if changed:
        said = ", ".join(changed[: lock.file.MOST_NAMED])
        yield Problem(
            manifest, f"differs from the lock in {said}", "what was locked", "Declare what was locked."
        )
    if plan.report.release == "public":
        yield Problem(
            manifest,
            "the report is public",
            "an internal one",
            "Leave out report.release: a site file has rules of its own.",
        )
    for dataset in study.datasets:
        sites = dataset.cases.site
        if sites is not None and len({int(code) for code in sites.codes if code >= 0}) > 1:
            yield Problem(
                manifest,
                f"the data set {dataset.name} is of several sites",
                "the cases of one",
                "Choose them with where, or make a file at each site.",
            )
    if (
        not any(d.scores and d.role not in DEVELOPMENT_ROLES for d in study.datasets)
        and not study.values
        and not study.readings
    ):
        yield Problem(manifest, "no data set with outputs of the device", "one at least")


def _own_data(study: Study, plan: Plan) -> tuple[str, ...]:
    """The SHA-256 of the data files that are the site's own: sets that the model was made with are not."""
    sent = {facts.file for facts in plan.datasets if facts.role in DEVELOPMENT_ROLES}
    return tuple(sorted(digest for file, digest in lock.data_of(study).items() if file not in sent))


def _declared(plan: Plan, locked: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without what it says of people, files and papers of the site, unless the lock has it."""
    said = plan.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    kept = {name: value for name, value in said.items() if name not in STAYS or name in locked}
    shared = {key for one in locked.get("datasets", ()) for key in one}
    kept["datasets"] = [
        {key: value for key, value in one.items() if key in OF_A_SET or key in shared}
        for one in said.get("datasets", ())
    ]
    return kept


def _looks(study: Study) -> dict[str, Any]:
    """How many looks at locked data the register has, and the hash of its last line."""
    looks = study.looks.splitlines()
    if not looks:
        return {"n": 0}
    return {"n": len(lock.read_looks(study.looks)), "sha256": json.loads(looks[-1]).get("sha256", "")}


def _set(
    dataset: Dataset, study: Study, plan: Plan, rules: DisclosureRules
) -> tuple[SetCounts, list[KeptAtSite]]:
    counted = counted_cases(dataset, study, plan, rules.fewest)
    cases = {one.candidate: one for one in of_dataset(dataset, study, plan)}
    clustered = any(one.cluster is not None for one in cases.values())
    names = tuple(dataset.scores)
    if clustered and len(names) > 1:
        said = [KeptAtSite(dataset=dataset.name, what="cells", reason="clustered_candidates")]
        return SetCounts(dataset=dataset.name, candidates=names, clusters=True), said
    groups = () if clustered else counted.groups(plan)
    kept = kept_counts(counted, groups, plan, rules.fewest)
    withheld = [one.model_copy(update={"dataset": dataset.name}) for one in kept.withheld]
    if clustered and plan.subgroups:
        withheld.append(KeptAtSite(dataset=dataset.name, what="group", reason="clusters"))
    scores = {}
    for candidate, case in cases.items():
        own, cuts = _scores(case, counted, kept, plan, rules)
        if own is not None:
            scores[candidate] = own
        withheld += cuts
    made = SetCounts(
        dataset=dataset.name,
        candidates=names,
        patterns=kept.patterns,
        groups=kept.groups,
        scores=scores,
        clusters=clustered,
    )
    told = [*small_counts(made, rules.fewest), *recovered_counts(made, counted, groups, rules.fewest)]
    if told:
        raise DisclosureError(dataset.name, told)
    return made, withheld


def _scores(
    case: ScoredCases, counted: CountedCases, kept: Kept, plan: Plan, rules: DisclosureRules
) -> tuple[CandidateScores | None, list[KeptAtSite]]:
    """What is handed over of scores, unless it would tell a count that is withheld."""
    least = rules.fewest
    positives = int(case.truth.sum())
    failed = int((case.truth & case.failed).sum()), int((~case.truth & case.failed).sum())
    few = any(0 < n < least for n in (positives, len(case) - positives, *failed))
    reason = "few_cases" if few else "few_values" if shows_values(case, least) else ""
    if not reason:
        scores, cuts = scores_of(case, plan, least, shares=not kept.withheld_cells)
        if not kept.withheld_cells:
            return scores, cuts
        scores = scores.model_copy(update={"acted": (), "positives": (), "negatives": ()})
        counts = case.counts
        at = case.risk_threshold if case.by_threshold and case.risk is not None else None
        cells = None if counts is None else {name: int(getattr(counts, name)) for name in CELLS}
        if cells is None or consistent_cells(scores, cells, at):
            return scores, []
        reason = "would_tell_cells"
    if case.score is None and case.cluster is None:
        return None, []
    said = KeptAtSite(dataset=case.dataset.name, what="scores", candidate=case.candidate, reason=reason)
    return None, [said]


def _numbers(assessment: Assessment, rules: DisclosureRules) -> tuple[list[SiteNumber], list[KeptAtSite]]:
    """Results that no counts make again, each with what its limits at any level are made of."""
    found, withheld = [], []
    for r in assessment.results:
        if not r.primary or not (r.id in ALONE or r.dimension in OF_DIMENSIONS):
            continue
        if r.place.reader is not None or r.place.site is not None or isnan(r.estimate.value):
            continue
        if _holds_few(r, rules.fewest):
            withheld.append(
                KeptAtSite(dataset=r.place.dataset or r.place.task or "", what="number", name=r.id)
            )
            continue
        found.append(
            SiteNumber(
                id=r.id, scope=r.place.scope, endpoint=r.endpoint or "",
                parameters=dict(r.parameters), number=shared_number(_of_result(r)),
            )
        )  # fmt: skip
    return found, withheld


def _holds_few(r: Result, least: int) -> bool:
    """Whether a result is of a few cases, or a count or share of a few."""
    e = r.estimate
    if e.n < least:
        return True
    counts = [e.value] if r.unit == "count" else []
    if r.written == "proportion":
        counts = [e.value * e.n, (1 - e.value) * e.n]
    return any(0 < round(n) < least for n in counts)


def _of_result(r: Result) -> SharedEstimate:
    """An estimate with its limits at its level, and the form of its interval where that gives them back."""
    e = r.estimate
    shared = SharedEstimate(e.value, e.n, e.method, "", e.se, e.df, e.p, e.note)
    if isnan(e.low):
        return shared
    return replace(shared, limits={e.level: (e.low, e.high)})


def _checks(assessment: Assessment) -> Iterator[SiteCheck]:
    for outcome in assessment.checks:
        yield SiteCheck(
            check=outcome.check, dimension=outcome.dimension, severity=outcome.severity,
            status=outcome.status, message=SharedMessage.from_message(outcome.message)
            if outcome.status != "fired" else SharedMessage(key=f"checks.{outcome.check}.title"),
            scope=outcome.place.narrowed(reader=None).scope if outcome.place.reader is None else {},
            quantities=outcome.quantities,
        )  # fmt: skip


ROUNDED = ("value", "se", "p", "expected", "expected_squares", "hits", "squares", "fourth")


def _rounded(summary: SiteFile, digits: int) -> SiteFile:
    """The summary with its real numbers at so many significant digits; counts and ends of bins stay."""
    said = summary.model_dump()

    def short(number: Any) -> Any:
        """A number at so many digits."""
        known = isinstance(number, float) and isfinite(number)
        return float(f"{number:.{digits}g}") if known else number

    def rounded(value: Any) -> None:
        """Numbers with a name of `ROUNDED`, limits, and details that are no counts, at any depth."""
        if isinstance(value, dict):
            for key, inner in value.items():
                if key in ROUNDED:
                    value[key] = short(inner)
                elif key == "limits":  # their level stays
                    value[key] = [(level, short(low), short(high)) for level, low, high in inner]
                elif key == "details":
                    value[key] = {
                        name: x if name not in ROUNDED and float(x).is_integer() else short(x)
                        for name, x in inner.items()
                    }
                else:
                    rounded(inner)
        elif isinstance(value, list | tuple):
            for inner in value:
                rounded(inner)

    for part in ("datasets", "results"):
        rounded(said[part])
    return SiteFile.model_validate(said)
