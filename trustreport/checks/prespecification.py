"""Pitfalls of what was fixed in advance: threshold, endpoints, criteria, and how many are compared."""

from collections.abc import Iterator, Sequence
from math import inf

import numpy as np
from numpy.typing import NDArray

from trustreport import criteria, lock
from trustreport.checks.check import Check, Evidence, Remark
from trustreport.checks.withholding import COUNTED_DECISIONS, CRITERIA
from trustreport.measures.order import ascending
from trustreport.messages import Message, say
from trustreport.narrative.names import endpoint_name, quantity_name
from trustreport.performance.cases import place_of_set
from trustreport.place import NOWHERE, Place
from trustreport.plan import Endpoint
from trustreport.results import Result, leading
from trustreport.study import DEVELOPMENT_ROLES, Dataset, Scores

DIMENSION = "prespecification"
# Comparisons of groups of cases, and what tells one place where they were made from another.
GROUPS_DIFFER = "subgroups.subgroup_difference"
MOST_NAMED = 6  # that a sentence names
# Words of `threshold_origin` that say it was chosen here.
CHOSEN_HERE = ("tuned on this data", "this data", "these data", "test data", "test set")


# ---------------------------------------------------------------- P33


def threshold_from_test_data(evidence: Evidence) -> Iterator[Remark]:
    """P33: the operating point was chosen on the data that test it, or looks as if it were."""
    point = evidence.plan.operating_point
    origin = (point.threshold_origin or "").casefold()
    tested = [d for d in evidence.study.datasets if d.role not in DEVELOPMENT_ROLES and d.scores]
    if any(words in origin for words in CHOSEN_HERE):
        declared = say("checks.P33.declared", origin=point.threshold_origin)
        for place in [Place(dataset=dataset.name) for dataset in tested] or [NOWHERE]:
            yield Remark(place, declared)
        return
    if point.score_direction == "lower_is_positive":
        return
    early = _fixed_earlier(evidence)
    for dataset in tested:
        for name, scores in dataset.scores.items():
            place = place_of_set(dataset, name if len(dataset.scores) > 1 else None)
            threshold = evidence.plan.threshold_of(name)
            best = None
            if threshold is not None:
                best = _next_to_best(dataset, scores, threshold, evidence.limit("P33_values"))
            if best is None:
                continue
            message = None
            if best and not early:
                which = say(f"checks.P33.by.{best}")
                message = say("checks.P33.fired", threshold=threshold, which=which)
            yield Remark(place, message)


def _fixed_earlier(evidence: Evidence) -> bool:
    """Whether the threshold was fixed before these data: by its date, or by a lock."""
    plan = evidence.plan
    fixed, opened = plan.operating_point.threshold_fixed_on, plan.study.data_opened_at
    starts = [d.start_date for d in plan.datasets if d.start_date and d.role not in DEVELOPMENT_ROLES]
    if fixed is not None and opened is not None:
        return fixed.isoformat() < opened.isoformat()[:10]
    if fixed is not None and starts:
        return fixed < min(starts)
    status = lock.lock_status(evidence.study, plan)
    altered = any(change.path[0] == "operating_point" for change in status.changes)
    return status.lock is not None and not status.late and not altered


def _next_to_best(dataset: Dataset, scores: Scores, threshold: float, least: float) -> str | None:
    """The rule whose best threshold is the declared one or next to it; empty if none, None if unknown."""
    if scores.score is None or len(dataset.cases.classes) != 2:
        return None
    known = (dataset.cases.truth >= 0) & ~np.isnan(scores.score)
    truth, score = dataset.cases.truth[known] == 1, scores.score[known]
    order = ascending(score)
    first = np.flatnonzero(np.diff(score[order], prepend=-np.inf) > 0)  # of each value that occurs
    values = score[order][first]
    if len(values) < least or truth.all() or not truth.any():
        return None
    called = len(score) - first
    hits = truth.sum() - np.cumsum(np.append(False, truth[order]))[first]
    alarms = called - hits
    youden = hits / truth.sum() - alarms / (~truth).sum()
    f1 = 2 * hits / (called + truth.sum())
    own = int(np.searchsorted(values, threshold))
    for name, of in (("youden", youden), ("f1", f1)):
        if _one_step(own, of):
            return name
    return ""


def _one_step(own: int, of: NDArray[np.float64]) -> bool:
    best = np.flatnonzero(of >= of.max() - 1e-12)
    return bool((np.abs(best - own) <= 1).any())


# ---------------------------------------------------------------- P34


def cherry_picked(evidence: Evidence) -> Iterator[Remark]:
    """P34: what was locked and is changed, or a criterion about the best of several external sets."""
    plan = evidence.plan
    status = lock.lock_status(evidence.study, plan)
    if status.lock is not None:
        fields = [c.field for c in status.changes if c.how == "undeclared"]
        changed = say("checks.P34.changed", fields=_shortened(fields), n=len(fields))
        yield Remark(NOWHERE, changed if fields else None)
        if status.older:
            yield Remark(NOWHERE, say("checks.P34.older"), severity="W")
    for criterion in filter(criteria.confirmatory, plan.endpoints):
        if criterion.role == "primary" and criterion.measure:
            named = any(True for _ in _ids(criterion, evidence))
            yield Remark(NOWHERE, None if named else say("checks.P34.absent", criterion=criterion.endpoint))
        message = _best_of_k(criterion, evidence)
        if message is not None:
            yield Remark(Place(dataset=criterion.dataset), message)


def _ids(criterion: Endpoint, evidence: Evidence) -> Iterator[str]:
    """The result ids that a criterion names, in full or without the dimension."""
    said = criterion.measure or ""
    return (r.id for r in evidence.results if r.primary and said in (r.id, r.id.rpartition(".")[2]))


def _best_of_k(criterion: Endpoint, evidence: Evidence) -> Message | None:
    """A bound held against the best of several external sets alone, where another one misses it."""
    external = [d.name for d in evidence.study.datasets if d.role in ("external", "local")]
    bound = criteria.bound_of(criterion)
    named = criterion.dataset or (
        criterion.arm_or_contrast if isinstance(criterion.arm_or_contrast, str) else None
    )
    if named not in external or len(external) < 2 or isinstance(bound, str):
        return None
    same = [e for e in evidence.plan.endpoints if e.measure == criterion.measure]
    if set(external) <= {word for e in same for word in (e.dataset, e.arm_or_contrast)}:
        return None
    found = {}
    for name in external:
        where = {"dataset": name, "parameters": None, "subgroup": None, "threshold": None}
        lead = leading(evidence.results, next(_ids(criterion, evidence), ""), **where)
        if lead is not None and lead.estimate.value == lead.estimate.value:
            found[name] = lead.estimate
    if named not in found or len(found) < 2:
        return None
    low = -inf if bound.low is None else bound.low
    high = inf if bound.high is None else bound.high
    # By how far the value lies on the right side, the largest first.
    ranked = sorted(found, key=lambda name: max(low - found[name].value, found[name].value - high))
    met = [name for name, e in found.items() if low < e.low and e.high < high]
    if ranked[0] != named or len(met) == len(found):
        return None
    worst = found[ranked[-1]]
    return say("best_of_k", p=len(met), k=len(found), value=worst.value, low=worst.low, high=worst.high)


# ---------------------------------------------------------------- P35, P36


def criteria_after_data(evidence: Evidence) -> Iterator[Remark]:
    """P35: no lock and no date that says so, criteria fixed after the data were opened, or changed then."""
    plan = evidence.plan
    if not any(map(criteria.confirmatory, plan.endpoints)):
        return
    status = lock.lock_status(evidence.study, plan)
    if status.late:
        yield Remark(NOWHERE, say("checks.P35.late"))
    elif status.state == "none":
        yield Remark(NOWHERE, say("checks.P35.fired"))
    else:
        by_why: dict[str, list[str]] = {}
        for change in status.changes:
            if change.how == "after":
                by_why.setdefault(change.why, []).append(change.field)
        for why, fields in by_why.items():
            key = "amended" if why == "after" else why
            yield Remark(NOWHERE, say(f"checks.P35.{key}", fields=_shortened(fields), n=len(fields)))
        if not by_why:
            yield Remark()


def one_bound(evidence: Evidence) -> Iterator[Remark]:
    """P62: a single bound on a quantity that is best at one value, such as a calibration slope."""
    plan = evidence.plan
    for criterion in filter(criteria.confirmatory, plan.endpoints):
        row = criteria.row_of(criterion)
        if row is not None and row.target is not None:
            names = {"criterion": criterion.endpoint, "measure": quantity_name(row.id), "best": row.target}
            single = criteria.bound_of(criterion) == criteria.ONE_BOUND
            yield Remark(NOWHERE, say("checks.P62.fired", **names) if single else None)


def many_comparisons(evidence: Evidence) -> Iterator[Remark]:
    """P36: criteria in a family without a rule or in none; groups that differ only before adjustment."""
    yield from _criteria_together(evidence)
    yield from _lenient(evidence)
    yield from _groups_together(evidence)


def _lenient(evidence: Evidence) -> Iterator[Remark]:
    """Criteria whose alpha is beyond what is customary: .05 one-sided, .1 two-sided."""
    level = evidence.plan.report.confidence_level
    for criterion in filter(criteria.confirmatory, evidence.plan.endpoints):
        alpha, sides = criteria.alpha_of(criterion, level), criteria.sides(criterion)
        if alpha > criteria.CUSTOMARY_ALPHA * sides:
            values = {"alpha": alpha, "sides": say(f"checks.P36.sides.{sides}")}
            yield Remark(NOWHERE, say("checks.P36.lenient", criterion=criterion.endpoint, **values))


def _criteria_together(evidence: Evidence) -> Iterator[Remark]:
    families = criteria.families(evidence.plan)
    if not families:
        return
    alone = [f for f in families if not f.name and f.members[0].role != "exploratory"]
    if len(alone) > 1:
        yield Remark(NOWHERE, say("checks.P36.alone", m=len(alone)))
    named = [f for f in families if f.name and len(f.members) > 1]
    for family in named:
        if family.rule in (None, "none"):
            yield Remark(NOWHERE, say("checks.P36.fired", m=len(family.members), family=family.name))
        else:
            yield Remark()
    if len(alone) <= 1 and not named:
        yield Remark()


def _groups_together(evidence: Evidence) -> Iterator[Remark]:
    """What is compared between groups, for each place where families of such comparisons were adjusted."""
    places: dict[Place, list[Result]] = {}
    for r in evidence.results:
        if r.id == GROUPS_DIFFER and r.details.get("comparisons"):
            places.setdefault(r.place.at(subgroup=None), []).append(r)
    for place, found in places.items():
        m = sum({r.details["family"]: r.details["comparisons"] for r in found}.values())
        # A group held against the rest and the rest against it are one comparison, and have one p.
        lost: dict[tuple[str, str], Result] = {}
        for r in found:
            if r.estimate.p <= 1 - r.estimate.level < r.details["p_holm"]:
                first = lost.setdefault((r.endpoint, f"{r.estimate.p:.9g}"), r)
                if _is_worse(r) and not _is_worse(first):
                    lost[r.endpoint, f"{r.estimate.p:.9g}"] = r
        message = say("checks.P36.fired_groups", n=len(lost), m=m, names=_named(list(lost.values())))
        concerned = tuple(dict.fromkeys(r.quantity.id for r in lost.values()))
        yield Remark(place.at(arms=None, arm=None), message if lost else None, concerned)


def _is_worse(r: Result) -> bool:
    """Whether the group of a comparison is the worse one of the two."""
    return {"up": r.estimate.value < 0, "down": r.estimate.value > 0}.get(str(r.quantity.better), False)


def _named(found: list[Result]) -> list[Message | str]:
    names = (
        say(
            f"checks.P36.{'group' if r.place.arms is None else 'gain'}",
            endpoint=endpoint_name(r.endpoint),
            group=r.place.subgroup,
            p=r.estimate.p,
            holm=r.details["p_holm"],
            k=r.details["comparisons"],
        )
        for r in found
    )
    return _shortened(list(names))


def _shortened(names: Sequence[Message | str]) -> list[Message | str]:
    """The first of many, and how many more there are."""
    return [
        *names[:MOST_NAMED],
        *([say("word.more", n=len(names) - MOST_NAMED)] if len(names) > MOST_NAMED else []),
    ]


# ---------------------------------------------------------------- P68


def used_before(evidence: Evidence) -> Iterator[Remark]:
    """P68: the register of looks says that these data were used before, under the same lock or another."""
    looks = lock.same_data(lock.read_looks(evidence.study.looks), evidence.study)
    if not looks:
        return
    if len(looks) == 1:
        yield Remark()
        return
    absent, none = say("word.not_declared"), say("word.none")
    before = [
        say("checks.P68.look", on=look.on or absent, purpose=look.purpose or none) for look in looks[:-1]
    ]
    key = "changed" if len({look.lock for look in looks}) > 1 else "fired"
    more = say("checks.P68.more", n=len(before) - MOST_NAMED) if len(before) > MOST_NAMED else None
    items = [*before[:MOST_NAMED], *([more] if more else [])]
    yield Remark(NOWHERE, say(f"checks.P68.{key}", n=len(before), items=items))


CHECKS = (
    Check("P33", DIMENSION, "B", threshold_from_test_data, COUNTED_DECISIONS),
    Check("P34", DIMENSION, "B", cherry_picked, withholds=CRITERIA),
    Check("P35", DIMENSION, "B", criteria_after_data, withholds=CRITERIA),
    Check("P36", DIMENSION, "W", many_comparisons),
    Check("P62", DIMENSION, "W", one_bound),
    Check("P68", DIMENSION, "W", used_before),
)
