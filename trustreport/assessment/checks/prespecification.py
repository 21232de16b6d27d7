"""Pitfalls of what was fixed in advance: threshold, endpoints, criteria, and how many are compared."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import inf

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.checks.check import COUNTED_DECISIONS, CRITERIA, Check, Evidence, Remark, outputs
from trustreport.assessment.checks.threshold_origin import ChosenOn, read_origin
from trustreport.assessment.narrative.texts import endpoint_name, quantity_name
from trustreport.measures.cluster import ascending
from trustreport.study import criteria, lock
from trustreport.study.criteria import Bound
from trustreport.study.plan import Endpoint
from trustreport.study.study import DEVELOPMENT_ROLES, Dataset, Scores
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.place import NOWHERE, Place
from trustreport.vocabulary.results import Result, leading

DIMENSION = "prespecification"
# Comparisons of groups of cases, and what tells one place where they were made from another.
GROUPS_DIFFER = "subgroups.subgroup_difference"
MOST_NAMED = 6  # that a sentence names
# Chance up to which a threshold that is exactly the best of the data that test it is no coincidence.
MOST_CHANCE = 0.05


# ---------------------------------------------------------------- P33


def threshold_from_test_data(evidence: Evidence) -> Iterator[Remark]:
    """P33: the operating point was chosen on the data that test it, or after them, or looks as if it were."""
    plan = evidence.plan
    tested = [d for d in evidence.sets_of_use() if d.scores]
    if not tested:
        against = _declared_here(evidence, None) or _fixed_late(evidence, None)
        if against:
            yield Remark(NOWHERE, against)
        return
    below = plan.operating_point.score_direction == "lower_is_positive"
    for dataset in tested:
        against = _declared_here(evidence, dataset) or _fixed_late(evidence, dataset)
        if against:
            yield Remark(Place(dataset=dataset.name), against)
            continue
        early = _fixed_earlier(evidence, dataset)
        for place, _, name, scores in outputs([dataset]):
            threshold, least = plan.threshold_of(name), evidence.limit("P33_values")
            cuts = None if threshold is None else _cuts(dataset, scores, below=below, least=least)
            if threshold is None or cuts is None:
                continue
            best = cuts.best_at(threshold, early=early)
            message = None
            if best:
                which, key = say(f"checks.P33.by.{best}"), "exact" if early else "fired"
                message = say(f"checks.P33.{key}", threshold=threshold, which=which)
            yield Remark(place, message)


def _declared_here(evidence: Evidence, dataset: Dataset | None) -> Message | None:
    """That the threshold was chosen on a data set, or on any that tests it, as the manifest says."""
    study, point = evidence.study, evidence.plan.operating_point
    roles = {d.name: d.role for d in study.datasets}
    internal = "internal test" in roles.values()
    word = point.threshold_chosen_on
    if word is None:
        names: dict[bool, dict[str, set[str]]] = {True: {}, False: {}}
        for d in study.datasets:
            names[d.role in DEVELOPMENT_ROLES][d.name] = {d.name, *_sites(d, evidence)}
        making = {name for own in names[True].values() for name in own}
        chosen = read_origin(point.threshold_origin or "", names[False], making)
    elif word in roles:
        chosen = ChosenOn(frozenset() if roles[word] in DEVELOPMENT_ROLES else frozenset({word}))
    else:
        chosen = ChosenOn(tested=word == "test data", internal_test=word == "internal test")
    here = chosen.tested
    if dataset is None:
        # Published figures: their sets have no names that the origin could be compared with.
        here = here or bool(chosen.names)
    else:
        here = here or dataset.name in chosen.names
        here = here or (internal and chosen.internal_test and dataset.role == "internal test")
    if not here:
        return None
    said = "; ".join(filter(None, (word, point.threshold_origin)))
    return say("checks.P33.declared", origin=said)


def _sites(dataset: Dataset, evidence: Evidence) -> tuple[str, ...]:
    """The names of the sites of a data set, declared or of its cases."""
    facts = evidence.facts(dataset.name)
    site = dataset.cases.site
    return (*((facts and facts.sites) or ()), *(site.labels if site is not None else ()))


def _seen_from(evidence: Evidence, dataset: Dataset | None) -> dt.date | None:
    """The day from which a threshold could be chosen on a data set: it had begun and had been opened."""
    opened = evidence.plan.study.data_opened_at
    starts = [d.start_date for d in evidence.plan.datasets if dataset and d.dataset == dataset.name]
    days = [opened and lock.day_of(opened), *starts]
    return max((day for day in days if day is not None), default=None)


def _fixed_late(evidence: Evidence, dataset: Dataset | None) -> Message | None:
    """That the threshold was fixed after a data set had been opened, or else after it had begun."""
    fixed, seen = evidence.plan.operating_point.threshold_fixed_on, _seen_from(evidence, dataset)
    if fixed is None or seen is None or fixed <= seen:
        return None
    key = "late" if evidence.plan.study.data_opened_at is not None else "late_start"
    return say(f"checks.P33.{key}", fixed=fixed, seen=seen)


def _fixed_earlier(evidence: Evidence, dataset: Dataset) -> bool:
    """Whether the threshold is declared as fixed before these data: by its date, or by a lock."""
    plan = evidence.plan
    fixed, seen = plan.operating_point.threshold_fixed_on, _seen_from(evidence, dataset)
    if fixed is not None and seen is not None:
        return fixed < seen
    status = lock.lock_status(evidence.study, plan)
    altered = any(change.path[0] == "operating_point" for change in status.changes)
    return status.lock is not None and not status.late and not altered


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Every place where the scores of a set can be cut: from which value on they are called positive.

    `values` (n_cuts,) ascend, higher being positive; `sign` is -1 where the scores run the other way.
    `indices` are what a cut can be chosen by, `error` is the standard error of the best Youden's J.
    """

    values: NDArray[np.float64]
    indices: Mapping[str, NDArray[np.float64]]
    error: float
    sign: int

    def best_at(self, threshold: float, *, early: bool) -> str:
        """The index by which a threshold is the best one; empty where it is by none.

        The best cut and those next to it are counted. Where the threshold is declared as fixed before these
        data that is no evidence: a good threshold is near the best one. Then it has to be exactly what is
        read off these data, where that is improbable by chance.
        """
        own = int(np.searchsorted(self.values, self.sign * threshold))
        for name, index in self.indices.items():
            best = _best(index)
            if (np.abs(best - own) <= 1).any() and (not early or self._is_read_off(threshold, best)):
                return name
        return ""

    def _is_read_off(self, threshold: float, best: NDArray[np.intp]) -> bool:
        """Whether a threshold is a score at the best cut, or halfway to the one before it, and not by chance.

        By chance is compared with all numbers of as many digits among the thresholds that are not worse than
        the best by more than a standard error: one that was chosen elsewhere may be any of them.
        """
        step = 10.0 ** int(Decimal(repr(threshold)).normalize().as_tuple().exponent)
        marks = set[float]()
        for cut in best:
            pair = self.values[max(cut - 1, 0) : cut + 1]
            marks |= {*pair.tolist(), float(pair.mean())}
        read = any(abs(self.sign * threshold - mark) <= step / 2 * (1 + 1e-9) for mark in marks)
        youden = self.indices["youden"]
        good = [*np.flatnonzero(youden >= youden.max() - self.error), *best]
        width = self.values[max(good)] - self.values[max(min(good) - 1, 0)]
        return read and len(marks) * step <= MOST_CHANCE * width


def _best(index: NDArray[np.float64]) -> NDArray[np.intp]:
    """The cuts at which an index is largest."""
    return np.flatnonzero(index >= index.max() - 1e-12)


def _cuts(dataset: Dataset, scores: Scores, *, below: bool, least: float) -> Cuts | None:
    """The cuts of a candidate's scores; None without scores, classes, or enough different scores."""
    if scores.score is None or len(dataset.cases.classes) != 2:
        return None
    known = (dataset.cases.truth >= 0) & ~np.isnan(scores.score)
    sign = -1 if below else 1
    truth, score = dataset.cases.truth[known] == 1, sign * scores.score[known]
    order = ascending(score)
    first = np.flatnonzero(np.diff(score[order], prepend=-np.inf) > 0)  # of each value that occurs
    values = score[order][first]
    if len(values) < least or truth.all() or not truth.any():
        return None
    called = len(score) - first
    hits = truth.sum() - np.cumsum(np.append(False, truth[order]))[first]
    sensitivity, alarms = hits / truth.sum(), (called - hits) / (~truth).sum()
    youden = sensitivity - alarms
    at = int(youden.argmax())
    variances = sensitivity * (1 - sensitivity) / truth.sum() + alarms * (1 - alarms) / (~truth).sum()
    f1 = 2 * hits / (called + truth.sum())
    return Cuts(values, {"youden": youden, "f1": f1}, float(np.sqrt(variances[at])), sign)


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
    for criterion in criteria.confirmatory_criteria(plan):
        said = criterion.declared
        if said.role == "primary" and said.measure:
            named = any(True for _ in _ids(said, evidence))
            yield Remark(NOWHERE, None if named else say("checks.P34.absent", criterion=criterion.name))
        message = _best_of_k(said, criterion.bound, evidence)
        if message is not None:
            yield Remark(Place(dataset=said.dataset), message)


def _ids(criterion: Endpoint, evidence: Evidence) -> Iterator[str]:
    """The result ids that a criterion names, in full or without the dimension."""
    said = criterion.measure or ""
    return (r.id for r in evidence.results if r.primary and said in (r.id, r.id.rpartition(".")[2]))


def _best_of_k(criterion: Endpoint, bound: Bound | str, evidence: Evidence) -> Message | None:
    """A bound held against the best of several external sets alone, where another one misses it."""
    external = [d.name for d in evidence.study.datasets if d.role in ("external", "local")]
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
    if not criteria.confirmatory_criteria(plan):
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
        collected = _collected_before(evidence)
        if collected is not None:
            yield Remark(NOWHERE, collected, severity="W")
        elif not by_why:
            yield Remark()


def _collected_before(evidence: Evidence) -> Message | None:
    """That the criteria were fixed when all data were there, and nothing of them was made after that."""
    plan = evidence.plan
    fixed = plan.study.sap_locked_at and lock.day_of(plan.study.sap_locked_at)
    tested = [d for d in plan.datasets if d.role not in DEVELOPMENT_ROLES]
    ends = [d.end_date for d in tested if d.end_date]
    if fixed is None or not ends or len(ends) < len(tested) or evidence.study.readings:
        return None
    if max(ends) >= fixed or any(c.run_date and c.run_date >= fixed for c in plan.candidates):
        return None
    return say("checks.P35.collected", fixed=fixed, ended=max(ends))


def one_bound(evidence: Evidence) -> Iterator[Remark]:
    """P62: a single bound on a quantity that is best at one value, such as a calibration slope."""
    for criterion in criteria.confirmatory_criteria(evidence.plan):
        row = criterion.row
        if row is not None and row.target is not None:
            names = {"criterion": criterion.name, "measure": quantity_name(row.id), "best": row.target}
            single = criterion.bound == criteria.ONE_BOUND
            yield Remark(NOWHERE, say("checks.P62.fired", **names) if single else None)


def many_comparisons(evidence: Evidence) -> Iterator[Remark]:
    """P36: criteria without a rule, families whose gate adds to alpha, groups before adjustment."""
    yield from _criteria_together(evidence)
    yield from _lenient(evidence)
    yield from _groups_together(evidence)


def _lenient(evidence: Evidence) -> Iterator[Remark]:
    """Criteria whose alpha is beyond what is customary: .05 one-sided, .1 two-sided."""
    for criterion in criteria.confirmatory_criteria(evidence.plan):
        if criterion.alpha > criteria.CUSTOMARY_ALPHA * criterion.sides:
            values = {"alpha": criterion.alpha, "sides": say(f"checks.P36.sides.{criterion.sides}")}
            yield Remark(NOWHERE, say("checks.P36.lenient", criterion=criterion.name, **values))


def _criteria_together(evidence: Evidence) -> Iterator[Remark]:
    families = criteria.families(evidence.plan)
    if not families:
        return
    alone = [f for f in families if not f.name and f.members[0].declared.role != "exploratory"]
    if len(alone) > 1:
        yield Remark(NOWHERE, say("checks.P36.alone", m=len(alone)))
    named = [f for f in families if f.name and len(f.members) > 1]
    for family in named:
        if family.rule in (None, "none"):
            yield Remark(NOWHERE, say("checks.P36.fired", m=len(family.members), family=family.name))
        else:
            yield Remark()
    for family in families:
        if family.any_opens and len(family.after) > 1:
            values = {
                "family": family.name,
                "families": [say("verdicts.family", name=name) for name in family.after],
            }
            yield Remark(NOWHERE, say("checks.P36.any_opens", **values))
    if len(alone) <= 1 and not named:
        yield Remark()


def _groups_together(evidence: Evidence) -> Iterator[Remark]:
    """What is compared between groups, for each place where families of such comparisons were adjusted."""
    places: dict[Place, list[Result]] = {}
    for r in evidence.results:
        if r.id == GROUPS_DIFFER and r.details.get("comparisons"):
            places.setdefault(r.place.narrowed(subgroup=None), []).append(r)
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
        yield Remark(place.narrowed(arms=None, arm=None), message if lost else None, concerned)


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
    more = [say("word.more", n=len(names) - MOST_NAMED)] if len(names) > MOST_NAMED else []
    return [*names[:MOST_NAMED], *more]


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
    Check("P33", DIMENSION, "B", threshold_from_test_data, COUNTED_DECISIONS, of_rows=True),
    Check("P34", DIMENSION, "B", cherry_picked, withholds=CRITERIA),
    Check("P35", DIMENSION, "B", criteria_after_data, withholds=CRITERIA),
    Check("P36", DIMENSION, "W", many_comparisons),
    Check("P62", DIMENSION, "W", one_bound),
    Check("P68", DIMENSION, "W", used_before, of_rows=True),
)
