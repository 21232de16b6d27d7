"""What must hold across the tables and between them and the manifest."""

from collections.abc import Iterable, Sequence
from typing import Any, get_args

import numpy as np

from trustreport.study import criteria
from trustreport.study.ingest.arms import Arms
from trustreport.study.ingest.cases import alike, person
from trustreport.study.ingest.columns import MappedTable
from trustreport.study.ingest.problems import (
    VALUES,
    KeyPath,
    Problems,
    did_you_mean,
    dotted,
    listed,
    quoted,
)
from trustreport.study.limits import LIMITS, Limit
from trustreport.study.plan import (
    CHOSEN_ELSEWHERE,
    CHOSEN_ON_TESTED,
    LIMIT_ALIASES,
    Endpoint,
    Plan,
    Protocol,
)
from trustreport.study.study import DEVELOPMENT_ROLES, Study

LISTED = "docs/checks.md lists the limits of every check."
MOST_SHARED = 1 + 1e-9  # of alpha, with what rounding adds
INLINE = (
    *("counts", "paired_counts", "confusion", "confusion_tables"),
    *("reliance_counts", "nomogram", "reported"),
    *("published_readers", "published_sites"),
)


def names_are_unique(plan: Plan, problems: Problems) -> None:
    """Arms, data sets, candidates, endpoints, readers, incidents, signals, pools, families have own names."""
    for group, word in (
        ("arms", "arm"),
        ("datasets", "dataset"),
        ("candidates", "candidate"),
        ("endpoints", "endpoint"),
        ("readers", "reader"),
        ("incidents", "incident"),
        ("signals", "signal"),
        ("pools", "pool"),
        ("families", "family"),
    ):
        seen: dict[str, int] = {}
        for i, entry in enumerate(getattr(plan, group)):
            name = getattr(entry, word)
            if name in seen:
                found, mend = f"{word} {quoted(name)} is declared twice", "Give each a name of its own."
                problems.declared((group, i, word), found, "", mend, before=(group, seen[name]))
            seen.setdefault(name, i)


def limits_are_known(plan: Plan, problems: Problems) -> None:
    """Each limit that is set is one that a check reads, and makes no check that blocks more lenient."""
    _limits_are_strict(plan, problems)
    for name in plan.limits:
        if name not in LIMITS:
            known = (*LIMITS, *LIMIT_ALIASES)
            same = [other for other in LIMITS if other[:4] == name[:4]]
            mend = did_you_mean(name, known) or (f"Known of it: {listed(same)}." if same else "")
            found = f"unknown limit {quoted(name)}"
            problems.declared(("limits", name), found, "", mend or LISTED)


def _limits_are_strict(plan: Plan, problems: Problems) -> None:
    """Limits of checks that withhold verdicts are moved to their stricter side only, those of groups too."""
    declared: list[tuple[KeyPath, Limit, float]] = [
        (("limits", name), LIMITS[name], value) for name, value in plan.limits.items() if name in LIMITS
    ]
    for i, group in enumerate(plan.subgroups):
        least = {"min_positives": group.min_positives, "min_negatives": group.min_negatives}
        declared += [
            (("subgroups", i, name), LIMITS[name.replace("min", "P37")], value)
            for name, value in least.items()
            if value is not None
        ]
    for path, limit, value in declared:
        if not limit.allows(value):
            problems.declared(
                path,
                f"found {value:g}",
                f"{limit.customary:.3g} or {limit.stricter}: a limit may make a check that withholds "
                "verdicts stricter, not more lenient",
                LISTED,
            )


def there_is_data(plan: Plan, problems: Problems) -> None:
    """A manifest names at least one table or holds published figures."""
    if plan.tables or any(d.file for d in plan.datasets) or any(getattr(plan, group) for group in INLINE):
        return
    expected = f"tables, a data set with a file, or one of {listed(INLINE)}"
    problems.at(
        problems.manifest.file,
        "no data are named",
        expected,
        "Add for instance tables: readings: file: readings.csv.",
    )


def rows_are_unique(tables: Sequence[MappedTable]) -> None:
    """A table of cases or readers has one row for each."""
    for table in tables:
        word = {"cases": "case", "readers": "reader"}.get(table.kind)
        if word is None:
            continue
        codes = table.names[word].codes.astype(np.int64)
        if "dataset" in table.names:
            codes = codes * (len(table.names["dataset"].distinct) + 2) + table.names["dataset"].codes + 1
        given = table.names[word].codes >= 0
        distinct, counts = np.unique(codes[given], return_counts=True)
        for code in distinct[counts > 1][:VALUES]:
            at = np.flatnonzero((codes == code) & given)
            found = f"{word} {person(table.names[word].at(int(at[0])))} appears in {len(at)} rows"
            column = table.headers[word]
            table.refuse(found, mend=f"Keep one row for each {word}.", at=at, column=column)


def spelled_alike(tables: Sequence[MappedTable]) -> None:
    """Ids that only blanks or letter case tell apart, within what is joined (data sets see to their own)."""
    for word in ("reader", "rater", "candidate"):
        alike(word, ((t, t.names[word]) for t in tables if word in t.names))
    for table in tables:
        if "patient" in table.names:
            alike("patient", [(table, table.names["patient"])])
    for kind in ("readings", "raters"):
        for task in dict.fromkeys(t.spec.task for t in tables):
            joined = [t for t in tables if t.kind == kind and t.spec.task == task]
            alike("case", ((t, t.names["case"]) for t in joined))


def references_hold(plan: Plan, study: Study, arms: Arms, problems: Problems) -> None:
    """Endpoints, claims and vigilance name arms and data sets that there are."""
    datasets = {d.dataset for d in plan.datasets} | {d.name for d in study.datasets}
    candidates = {c.candidate for c in plan.candidates} | {c for d in study.datasets for c in d.scores}
    marking = {name for one in study.localisations if one.readers is None for name in one.makers}
    tabulated = {one.candidate for one in (*study.confusion, *plan.confusion_tables) if one.candidate}
    candidates |= marking | tabulated
    armed = set(arms.known) | {a for c in study.counts for a in c.arms}
    for i, endpoint in enumerate(plan.endpoints):
        said = endpoint.arm_or_contrast
        for name in (said,) if isinstance(said, str) else said or ():
            path: KeyPath = ("endpoints", i, "arm_or_contrast")
            known = armed | candidates | datasets | set(get_args(Protocol))
            _known(name, known, "an arm", path, problems, armed)
        _places_known(endpoint, ("endpoints", i), datasets, candidates, _sets(plan, study), problems)
    for i, claim in enumerate(plan.performance_claims or ()):
        if claim.arm is not None:
            _known(claim.arm, armed, "an arm", ("performance_claims", i, "arm"), problems)
        if claim.dataset is not None:
            _known(
                claim.dataset,
                datasets,
                "a data set",
                ("performance_claims", i, "dataset"),
                problems,
            )
        if claim.candidate is not None:
            at: KeyPath = ("performance_claims", i, "candidate")
            _known(claim.candidate, candidates, "a candidate", at, problems)
        if claim.set is not None:
            _known(claim.set, _sets(plan, study), "a set", ("performance_claims", i, "set"), problems)
    chosen = plan.operating_point.threshold_chosen_on
    if chosen is not None:
        words = {*CHOSEN_ON_TESTED, *CHOSEN_ELSEWHERE}
        word_at: KeyPath = ("operating_point", "threshold_chosen_on")
        _known(chosen, words | datasets, "a word of the list, or a data set", word_at, problems)
    baseline = plan.vigilance.baseline_dataset if plan.vigilance else None
    if baseline is not None:
        _known(baseline, datasets, "a data set", ("vigilance", "baseline_dataset"), problems)
    declared = {c.candidate for c in plan.candidates}
    for name in (
        sorted({n for d in study.datasets for n in d.scores if n} | tabulated | marking - {""} - declared)
        if declared
        else ()
    ):
        _known(name, declared, "a candidate", ("candidates",), problems)


def versions_are_known(plan: Plan, study: Study, problems: Problems) -> None:
    """Each version follows a declared candidate, in no circle, and was changed for test cases."""
    follows = {c.candidate: c.follows for c in plan.candidates}
    tested = {d.name for d in study.datasets if d.role not in DEVELOPMENT_ROLES}
    circle = False
    for i, one in enumerate(plan.candidates):
        at: KeyPath = ("candidates", i, "follows")
        if one.follows is not None:
            _known(one.follows, set(follows) - {one.candidate}, "another candidate", at, problems)
        before, seen = one.follows, {one.candidate}
        while before in follows and before not in seen:
            seen.add(before)
            before = follows[before]
        if before == one.candidate and one.follows != one.candidate and not circle:
            circle = True  # of all its members one is named
            problems.declared(
                at,
                f"version {quoted(one.candidate)} comes before itself",
                "each version follows an older one",
            )
        for name in one.updated_for or ():
            path: KeyPath = ("candidates", i, "updated_for")
            _known(name, tested, "a data set of test cases", path, problems)


def criteria_are_assessable(plan: Plan, problems: Problems) -> None:
    """No criterion asks for what every result would meet, or gives up what alpha stands for."""
    level = plan.report.confidence_level
    for i, criterion in enumerate(plan.endpoints):
        if not criteria.confirmatory(criterion):
            continue
        path: KeyPath = ("endpoints", i, "bound_or_margin")
        bound = criteria.bound_of(criterion)
        if bound in criteria.REFUSED:
            found, expected, mend = _cannot_fail(criterion, str(bound))
            problems.declared(path, found, expected, mend)
        alpha = criteria.alpha_of(criterion, level)
        if alpha > criteria.MOST_ALPHA:
            path = ("endpoints", i, "alpha")
            _large_alpha(alpha, path, problems)
    for i, family in enumerate(plan.families):
        if family.alpha is not None and family.alpha > criteria.MOST_ALPHA:
            _large_alpha(family.alpha, ("families", i, "alpha"), problems)
    _families_are_declared(plan, problems)
    _graphs_are_whole(plan, problems)
    _families_open(plan, problems)
    for of in criteria.families(plan):
        if criteria.unequal_alphas(of, level):
            alphas = ", ".join(f"{criteria.alpha_of(member, level):g}" for member in of.members)
            problems.declared(
                ("endpoints", "alpha"),
                f"the fixed sequence {quoted(of.name)} has members of different alphas: {alphas}",
                "one alpha for all members of a fixed sequence",
                "Give all members one alpha, or declare the family's in families.",
            )


def _families_are_declared(plan: Plan, problems: Problems) -> None:
    """Where families are declared, every criterion is of one of them or of none.

    A mistyped name would leave a criterion to itself, at an alpha that it does not have.
    """
    declared = [family.family for family in plan.families]
    for i, criterion in enumerate(plan.endpoints) if declared else ():
        name = (criterion.multiplicity_family or "").strip()
        if name and name not in declared and name.casefold() not in criteria.NO_FAMILY:
            path: KeyPath = ("endpoints", i, "multiplicity_family")
            problems.declared(
                path,
                f"the family {quoted(name)}, which families: does not declare",
                f"a declared family: {listed(declared)}; or none",
                did_you_mean(name, declared) or "Declare it under families: with its rule.",
            )


def _graphs_are_whole(plan: Plan, problems: Problems) -> None:
    """A graph begins with alpha, hands on no more than there is, and names its own criteria only."""
    members = {of.name: criteria.named(of.members) for of in criteria.families(plan)}
    for i, family in enumerate(plan.families):
        given = [name for name in ("weights", "transitions") if getattr(family, name) is not None]
        if family.rule != "graph":
            for name in given:
                found = f"{name} of the family {quoted(family.family)}, whose rule is {family.rule}"
                problems.declared(("families", i, name), found, f"{name} with rule: graph alone")
            continue
        own = members.get(family.family, [])
        weights, rows = family.weights or {}, family.transitions or {}
        _criteria_of_it(weights, own, ("families", i, "weights"), problems)
        unread = any(p.column.startswith(dotted(("families", i, "weights."))) for p in problems)
        if not unread and not 0 < sum(weights.values()) <= MOST_SHARED:
            found = f"the graph {quoted(family.family)} without weights"
            if weights:
                found = f"weights of {quoted(family.family)} with a sum of {sum(weights.values()):.6g}"
            expected = "for each criterion that begins with alpha its share, together above 0 and at most 1"
            problems.declared(("families", i, "weights"), found, expected)
        _criteria_of_it(rows, own, ("families", i, "transitions"), problems)
        for name, row in rows.items():
            at = ("families", i, "transitions", name)
            _criteria_of_it(row, own, at, problems)
            if sum(row.values()) > MOST_SHARED:
                found = f"{quoted(name)} hands on {sum(row.values()):.6g} of its alpha"
                problems.declared(("families", i, "transitions"), found, "shares with a sum of at most 1")
            if row.get(name):
                found = f"{quoted(name)} hands alpha on to itself"
                problems.declared(("families", i, "transitions"), found, "shares for other criteria")


def _criteria_of_it(names: Iterable[str], own: Sequence[str], path: KeyPath, problems: Problems) -> None:
    """What a graph names are criteria of the family that ask for a verdict."""
    for name in names:
        if name not in own:
            problems.declared(
                path,
                f"the graph names {quoted(name)}",
                f"a criterion of the family that asks for a verdict: {listed(own)}",
                did_you_mean(name, own),
            )


def _families_open(plan: Plan, problems: Problems) -> None:
    """What a family waits for can be met: declared families with criteria, none that waits for it in turn."""
    declared = {family.family for family in plan.families}
    judged = {of.name for of in criteria.families(plan)}
    for i, family in enumerate(plan.families):
        for name in family.after or ():
            if name not in declared:
                found = f"the family {quoted(family.family)} is tested after {quoted(name)}"
                others = sorted(declared - {family.family})
                mend = did_you_mean(name, others)
                expected = f"a declared family: {listed(others)}"
                problems.declared(("families", i, "after"), found, expected, mend)
            elif name not in judged:
                found = f"{quoted(name)} has no criterion that asks for a verdict, so it cannot be met"
                expected = "a family with such a criterion"
                problems.declared(("families", i, "after"), found, expected)
        if family.opens_when and not family.after:
            found = f"the family {quoted(family.family)} says when it opens, but not after which families"
            expected = "the families that it waits for, under after"
            problems.declared(("families", i, "opens_when"), found, expected)
    try:
        criteria.as_they_open(criteria.families(plan))
    except ValueError as circle:
        problems.declared(("families", "after"), str(circle), "families of which each waits for others alone")


def _cannot_fail(criterion: Endpoint, why: str) -> tuple[str, str, str]:
    """What is wrong with a bound, what is expected, and how to fix it."""
    said, row = criterion.bound_or_margin, criteria.row_of(criterion)
    assert row is not None
    name = f"{criterion.hypothesis} of {quoted(criterion.endpoint)}"
    if why == criteria.WORSE_SIDE:
        side = "above" if row.better == "up" else "below"
        expected = f"no bound, or one {side} {row.no_effect:g}: that is no effect of {row.id}"
        mend = "For a loss that is accepted, declare hypothesis: non-inferiority with its margin."
        return f"{name} has its bound at {said:g}, on the worse side of no effect", expected, mend
    shown = listed([f"{x:g}" for x in said]) if isinstance(said, tuple) else f"{said:g}"
    expected = f"within the range of {row.id}, {row.low:g} to {row.high:g}, so that some result would miss it"
    return f"{name} has {shown}, which every possible result meets or none does", expected, ""


def _large_alpha(alpha: float, path: KeyPath, problems: Problems) -> None:
    problems.declared(
        path,
        f"found an alpha of {alpha:g}",
        f"at most {criteria.MOST_ALPHA:g}; customary are 0.025 one-sided and 0.05 two-sided",
        "Where no alpha is declared, it follows from report.confidence_level.",
    )


def _places_known(
    endpoint: Endpoint,
    path: KeyPath,
    datasets: set[str],
    candidates: set[str],
    sets: set[str],
    problems: Problems,
) -> None:
    """Data set, candidates and set that a criterion names."""
    said = endpoint.candidate
    named = [("candidate", name, candidates) for name in ((said,) if isinstance(said, str) else said or ())]
    named += [
        (key, name, known)
        for key, name, known in (
            ("dataset", endpoint.dataset, datasets | {criteria.OF_READINGS}),
            ("set", endpoint.set, sets),
        )
        if name is not None
    ]
    for key, name, known in named:
        what = "a data set" if key == "dataset" else f"a {key}"
        _known(name, known, what, (*path, key), problems)


def _sets(plan: Plan, study: Study) -> set[str]:
    groups: list[Iterable[Any]] = [study.confusion, study.reported, plan.paired_counts, plan.reliance_counts]
    groups.append(plan.confusion_tables)
    return (
        {e.set for group in groups for e in group}
        | {n.set for n in plan.nomogram}
        | {p.set for p in plan.published_readers}
        | {p.set for p in plan.published_sites}
        | {c.name for c in study.counts}
        | {p.pool for p in plan.pools}
    )


def _known(
    name: str,
    known: Iterable[str],
    what: str,
    path: KeyPath,
    problems: Problems,
    shown: Iterable[str] | None = None,
) -> None:
    known = sorted(known)
    if name in known:
        return
    names = sorted(shown) if shown is not None else known
    expected = f"{what}: {listed(names)}" if names else f"{what} of this study"
    mend = did_you_mean(name, known)
    problems.declared(path, f"found {quoted(name)}", expected, mend)
