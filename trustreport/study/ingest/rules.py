"""What must hold across the tables and between them and the manifest."""

from collections.abc import Iterable, Sequence
from typing import Any, get_args

import numpy as np

from trustreport.study import criteria
from trustreport.study.ingest.cases import Arms, alike, person
from trustreport.study.ingest.columns import MappedTable
from trustreport.study.ingest.problems import VALUES, KeyPath, Problems, did_you_mean, dotted, listed, quoted
from trustreport.study.ingest.published import TWO
from trustreport.study.limits import LIMITS, Limit
from trustreport.study.plan import (
    CHOSEN_ELSEWHERE,
    CHOSEN_ON_TESTED,
    LIMIT_ALIASES,
    Plan,
    Protocol,
    UtilityMatrix,
)
from trustreport.study.study import DEVELOPMENT_ROLES, Dataset, Scores, Study

LISTED = "docs/checks.md lists the limits of every check."
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
        ("measurements", "measurement"),
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
    if (
        plan.tables
        or any(d.file_of(d.dataset) for d in plan.datasets)
        or any(getattr(plan, group) for group in INLINE)
    ):
        return
    expected = f"tables, a data set with a file, or one of {listed(INLINE)}"
    problems.add_at(
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
            found = f"{word} {person(table.names[word].name_at(int(at[0])))} appears in {len(at)} rows"
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
    candidates |= {name for one in study.preferences for name in one.outputs}
    candidates |= {name for one in study.values if one.by == "candidate" for name in one.conditions}
    armed = set(arms.known) | {a for c in study.counts for a in c.arms}
    sets = _sets(plan, study)
    for i, endpoint in enumerate(plan.endpoints):
        at: KeyPath = ("endpoints", i)
        known = armed | candidates | datasets | set(get_args(Protocol))
        for name in _named(endpoint.arm_or_contrast):
            _known(name, known, "an arm", (*at, "arm_or_contrast"), problems, armed)
        for name in _named(endpoint.candidate):
            _known(name, candidates, "a candidate", (*at, "candidate"), problems)
        own = datasets | {criteria.OF_READINGS}
        _known(endpoint.dataset, own, "a data set", (*at, "dataset"), problems)
        _known(endpoint.set, sets, "a set", (*at, "set"), problems)
    for i, claim in enumerate(plan.performance_claims or ()):
        at = ("performance_claims", i)
        _known(claim.arm, armed, "an arm", (*at, "arm"), problems)
        _known(claim.dataset, datasets, "a data set", (*at, "dataset"), problems)
        _known(claim.candidate, candidates, "a candidate", (*at, "candidate"), problems)
        _known(claim.set, sets, "a set", (*at, "set"), problems)
    words = {*CHOSEN_ON_TESTED, *CHOSEN_ELSEWHERE} | datasets
    at = ("operating_point", "threshold_chosen_on")
    _known(plan.operating_point.threshold_chosen_on, words, "a word of the list, or a data set", at, problems)
    baseline = plan.vigilance.baseline_dataset if plan.vigilance else None
    _known(baseline, datasets, "a data set", ("vigilance", "baseline_dataset"), problems)
    declared = {c.candidate for c in plan.candidates}
    there = {n for d in study.datasets for n in d.scores if n} | tabulated | marking - {""}
    for name in sorted(there - declared) if declared else ():
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


def _named(said: str | tuple[str, ...] | None) -> tuple[str, ...]:
    """The names in a field that takes one or several."""
    return (said,) if isinstance(said, str) else said or ()


def _sets(plan: Plan, study: Study) -> set[str]:
    """The names of published tables and of their pools."""
    by_set: tuple[Iterable[Any], ...] = (
        *(study.confusion, study.reported, plan.paired_counts, plan.reliance_counts, plan.nomogram),
        *(plan.confusion_tables, plan.published_readers, plan.published_sites),
    )
    names = {one.set for group in by_set for one in group} | {one.name for one in study.counts}
    return names | {pool.pool for pool in plan.pools}


def _known(
    name: str | None,
    known: Iterable[str],
    what: str,
    path: KeyPath,
    problems: Problems,
    shown: Iterable[str] | None = None,
) -> None:
    """Refuse a name that is given and not known; `shown` are those to choose from, where not all are."""
    known = sorted(known)
    if name is None or name in known:
        return
    names = sorted(shown) if shown is not None else known
    expected = f"{what}: {listed(names)}" if names else f"{what} of this study"
    problems.declared(path, f"found {quoted(name)}", expected, did_you_mean(name, known))


SUM_ROUNDED = 0.02  # by which the sum of printed probabilities may differ from 1


def utilities_are_usable(plan: Plan, study: Study, problems: Problems) -> None:
    """Every utility of several classes or other decisions fits some data, and has a name of its own."""
    seen: dict[str, int] = {}
    for i, u in enumerate(plan.utility.matrices):
        if u.name in seen:
            found, mend = f"utility {quoted(u.name)} is declared twice", "Give each a name of its own."
            first = ("utility", "matrices", seen[u.name])
            problems.declared(("utility", "matrices", i, "name"), found, "", mend, before=first)
        seen.setdefault(u.name, i)
        if np.shape(u.matrix) != TWO:
            _fits(u, ("utility", "matrices", i), plan, study, problems)


def _fits(u: UtilityMatrix, path: KeyPath, plan: Plan, study: Study, problems: Problems) -> None:
    """A matrix that is not of two classes and decisions, against the classes and decisions that there are."""
    columns, decisions = len(u.matrix[0]), u.decisions or u.classes
    classes = [d.cases.classes for d in study.datasets] + [t.classes for t in plan.confusion_tables]

    def report(field: str, found: str, expected: str, mend: str) -> None:
        at: KeyPath = (*path, field)
        problems.declared(at, found, expected, mend)

    if u.classes is None and columns > TWO[1]:
        report(
            "classes", f"{columns} columns without names", "the class of each column", "Add classes: [...]."
        )
        return
    tables = [t for t in plan.confusion_tables if _same(t.classes, u.classes)]
    if any(_same(t.decisions or t.classes, decisions) for t in tables):
        return
    sets = [d for d in study.datasets if len(d.cases.classes) == columns and _classes_fit(d, u)]
    if any(_same(d.cases.classes, decisions) and _has_scores(d) for d in sets):
        return
    if u.decisions is not None and any(_are_probabilities(d, plan) for d in sets):
        return
    if tables:
        there = listed((t.decisions or t.classes for t in tables), 3)
        report("decisions", f"found {listed(decisions or ())}", f"the decisions of a table: {there}", "")
    elif sets and u.decisions is not None:
        report(
            "decisions",
            f"found {listed(u.decisions)}; data set {quoted(sets[0].name)} has no such decisions",
            "scores that are probabilities (their sum is 1), from which the decision of greatest expected "
            "utility follows",
            "Or give the cases by decision and class under confusion_tables.",
        )
    else:
        names = u.classes or ()
        known = sorted({name for some in classes for name in some})
        odd = next((name for name in names if name not in known), "")
        expected = f"classes of the data: {listed(known)}" if known else "data of these classes"
        mend = (did_you_mean(odd, known) if odd else "") or "Cases by decision and class: confusion_tables."
        report("classes", f"found {listed(names)}" if names else f"{columns} classes", expected, mend)


def _same(names: Sequence[str] | None, others: Sequence[str] | None) -> bool:
    return names is not None and others is not None and set(names) == set(others)


def _classes_fit(dataset: Dataset, u: UtilityMatrix) -> bool:
    """Whether the classes of a data set are those of a matrix; two need no names."""
    return _same(dataset.cases.classes, u.classes) or len(u.matrix[0]) == TWO[1]


def _has_scores(dataset: Dataset) -> bool:
    return any(s.class_scores is not None for s in dataset.scores.values())


def _are_probabilities(dataset: Dataset, plan: Plan) -> bool:
    """Whether every candidate's scores can be read as the probabilities of the classes."""
    if plan.operating_point.scores_are_probabilities is False:
        return False
    two = len(dataset.cases.classes) == TWO[1]
    return bool(dataset.scores) and all(
        _within_risks(given, plan.risk_range_of(candidate)) if two else _sum_to_one(given)
        for candidate, given in dataset.scores.items()
    )


def _within_risks(given: Scores, ends: tuple[float, float] | None) -> bool:
    score = given.score if given.class_scores is None else given.class_scores[:, 1]
    known = np.empty(0) if score is None else score[np.isfinite(score)]
    return bool(ends and len(known) and ends[0] <= known.min() and known.max() <= ends[1])


def _sum_to_one(given: Scores) -> bool:
    if given.class_scores is None:
        return False
    whole = given.class_scores[~np.isnan(given.class_scores).any(axis=1)]
    return bool(len(whole) and (whole >= 0).all() and (np.abs(whole.sum(axis=1) - 1) <= SUM_ROUNDED).all())


FOLLOWED = ("follow_up", "event")
TIME_TO_EVENT: KeyPath = ("time_to_event",)
DECLARE = "Add to the manifest: time_to_event: {horizon: 5 years, unit: days}."
MAP_BOTH = "Map both under columns: {follow_up: <your header>, event: <your header>}."


def follow_up_is_usable(plan: Plan, tables: Sequence[MappedTable], study: Study, problems: Problems) -> None:
    """Follow-up, events and horizon belong together, and the data reach the horizon."""
    if any(p.file == problems.manifest.file and p.column.startswith(dotted(TIME_TO_EVENT)) for p in problems):
        return  # tables cannot be checked against a declaration that has a fault
    for table in tables:
        _followed_table(table, plan)
    followed = [d for d in study.datasets if d.cases.followed]
    if plan.time_to_event is None:
        return
    if not followed and not any(set(FOLLOWED) & set(table.headers) for table in tables):
        found = "a horizon is declared, and no data set has follow-up"
        problems.declared(TIME_TO_EVENT, found, "", MAP_BOTH)
    for dataset in followed:
        _followed_dataset(dataset, plan, tables, problems)


def _followed_table(table: MappedTable, plan: Plan) -> None:
    own = [word for word in FOLLOWED if word in table.headers]
    if not own:
        return
    if len(own) == 1:
        (lacking,) = set(FOLLOWED) - set(own)
        found = f"the column {own[0]} is mapped, and no column {lacking}"
        table.refuse(found, "", MAP_BOTH, rows=(1,), word=own[0])
    if plan.time_to_event is None:
        found = "follow-up without a horizon at which the event is judged"
        table.refuse(found, "", DECLARE, rows=(1,), word=own[0])
        return
    if "event" in own:
        _event_codes(table, plan)


def _event_codes(table: MappedTable, plan: Plan) -> None:
    """Codes of events that nobody declared."""
    assert plan.time_to_event is not None
    known = (0, 1, *(plan.time_to_event.competing or ()))
    codes = table.numbers["event"]
    whole = codes == np.floor(codes)  # anything else has been refused by the contract of the column
    for code in np.unique(codes[whole & ~np.isin(codes, known)])[:3]:
        table.refuse(
            f"found {quoted(f'{code:g}')}",
            "0 (censored), 1 (the event) or a declared competing event",
            f"After a competing event the event cannot happen any more: add competing: [{code:g}] under "
            "time_to_event in the manifest. Cases with one are not censored.",
            at=np.flatnonzero(codes == code),
            word="event",
        )


def _followed_dataset(
    dataset: Dataset, plan: Plan, tables: Sequence[MappedTable], problems: Problems
) -> None:
    assert plan.time_to_event is not None
    horizon, written = plan.time_to_event.in_unit, plan.time_to_event.written
    if (dataset.cases.truth >= 0).any():
        table = next((t for t in tables if "truth" in t.headers), None)
        header = table.headers["truth"] if table else "truth"
        problems.add_at(
            table.file if table else problems.manifest.file,
            f"the cases of data set {quoted(dataset.name)} have a truth and follow-up",
            "one of the two: with follow-up, cases censored before the horizon are weighted for",
            f"Remove the column, or keep it as a group of cases: columns: {{known state: {header}}}.",
            rows=(1,),
            column=header,
        )
        return
    time, event = (dataset.cases.numbers[word] for word in FOLLOWED)
    known = ~np.isnan(time) & ~np.isnan(event)
    last = float(time[known].max()) if known.any() else 0.0
    if last < horizon:
        in_unit = f" {plan.time_to_event.unit}" if plan.time_to_event.unit else ""
        problems.declared(
            (*TIME_TO_EVENT, "horizon"),
            f"the horizon of {written} ({horizon:g}{in_unit}) is beyond the last follow-up of data set "
            f"{quoted(dataset.name)}, {last:g}{in_unit}",
            "a horizon to which cases were followed",
            "Declare an earlier one, or the unit of the column follow_up where it is another.",
        )
