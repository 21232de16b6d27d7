"""One criterion compared with its bound at one alpha."""

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import ceil, isfinite, isinf, isnan
from typing import Any

from pydantic import ValidationError

from trustreport.assessment.finding import CheckOutcome
from trustreport.assessment.narrative.texts import quantity_name
from trustreport.assessment.verdicts.entries import blocking, entry, of_precision, of_the_sample
from trustreport.assessment.verdicts.risk import NeededRatio, limit, needed_ratios, ratio_entry
from trustreport.assessment.verdicts.verdict import Locked, RiskLimit, Verdict, Word
from trustreport.measures.confusion.measure import Need
from trustreport.measures.estimate import Estimate, Limit
from trustreport.measures.notes import of_simulations
from trustreport.study import criteria
from trustreport.study.criteria import Bound, Criterion
from trustreport.study.lock import Change, LockStatus, concerned, exploratory, removed, rests_on
from trustreport.study.plan import Endpoint, Family, Plan, Report
from trustreport.study.study import Study
from trustreport.vocabulary.digits import as_declared, as_written, clear_of, places_in, rounded
from trustreport.vocabulary.messages import Message, say
from trustreport.vocabulary.one_number import number
from trustreport.vocabulary.quantities import OF_ARMS, VALUES, known, quantity
from trustreport.vocabulary.quantity import Quantity
from trustreport.vocabulary.results import Result

# What the denominator of a measure of the four cells counts, where it is one kind of case.
CLASS_OF: dict[tuple[Need, ...], str] = {
    ("positives",): "positive",
    ("negatives",): "negative",
    ("called_positive",): "alarm",
    ("called_negative",): "no_alarm",
}
DECIDED: tuple[Word, ...] = ("pass", "fail")
BARE = ("difference", "seconds")  # units that are written once for both ends of an interval
MOST_NEEDED = 10**7
NEW_SITE = "new site"


@dataclass(frozen=True, slots=True)
class Judge:
    """Everything that a verdict may rest on; call it with a criterion and an alpha.

    `tried` holds the entries that were looked at for each criterion, at each level, by its name.
    """

    study: Study
    plan: Plan
    results: Sequence[Result]
    checks: Sequence[CheckOutcome]
    at_level: Any
    lock_status: LockStatus
    contradicted: Container[Hashable] = ()
    tried: dict[str, list[Result]] = field(default_factory=dict)

    def __call__(self, criterion: Criterion, alpha: float) -> Verdict:
        """The verdict on one criterion, its family apart, and the limits that its declared risk sets."""
        verdict, declared = self._verdict(criterion, alpha), criterion.declared
        if declared.risk is None:
            return verdict
        level = criterion.level_at(alpha)
        limits = tuple(self._limit(declared, one, level) for one in needed_ratios(declared.risk))
        return replace(verdict, risk=limits)

    def _limit(self, criterion: Endpoint, one: NeededRatio, level: float) -> RiskLimit:
        """A likelihood ratio that the declared risk needs, compared with the interval of the one measured."""
        found = ratio_entry(criterion, one.name, self.study, self.plan, self.results)
        if isinstance(found, Result) and not criteria.same_level(found.estimate.level, level):
            again = self.at_level(found.dimension, level)
            found = ratio_entry(criterion, one.name, self.study, self.plan, again)
        self._keep(criterion, found)
        if isinstance(found, Message):
            return limit(criterion, one, None, "not assessable", found)
        word, reason, _ = self._word_and_sentence(criterion, found, one.bound)
        return limit(criterion, one, found, word, reason)

    def _keep(self, criterion: Endpoint, found: Result | Message) -> None:
        if isinstance(found, Result):
            self.tried.setdefault(criterion.endpoint, []).append(found)

    def _verdict(self, asked: Criterion, alpha: float) -> Verdict:
        """The verdict on one criterion without the limits of its risk."""
        criterion, level = asked.declared, asked.level_at(alpha)
        lead = entry(criterion, self.study, self.plan, self.results)
        self._keep(criterion, lead)
        # The entry that answers may say more of the quantity than the criterion does.
        bound = criteria.bound_of(criterion, lead.quantity) if isinstance(lead, Result) else asked.bound
        if isinstance(bound, str):
            found, why = (lead, _why(bound, lead)) if isinstance(lead, Result) else (None, lead)
            return Verdict(criterion, "not assessable", why, found)
        if alpha > criteria.MOST_ALPHA:
            return Verdict(criterion, "not assessable", say("verdicts.reason.alpha"), bound=bound)
        if isinstance(lead, Result) and not criteria.same_level(lead.estimate.level, level):
            again = self.at_level(lead.dimension, level)
            lead = entry(criterion, self.study, self.plan, again)
            self._keep(criterion, lead)
        if isinstance(lead, Message):
            return Verdict(criterion, "not assessable", lead, bound=bound, level=level, alpha=alpha)
        word, reason, named = self._word_and_sentence(criterion, lead, bound)
        n, unit = _needed(lead, bound, self.plan) if word == "inconclusive" else (None, "")
        if n is not None:
            reason = say("verdicts.with_needed", sentence=reason, needed=_in_words(lead, n, unit, self.plan))
        reason = self._with_population(criterion, lead, reason)
        return Verdict(criterion, word, reason, lead, bound, level, alpha, None, named, n, unit)

    def _word_and_sentence(
        self, criterion: Endpoint, lead: Result, bound: Bound
    ) -> tuple[Word, Message, tuple[str, ...]]:
        """Word and sentence; what withholds a verdict comes before the verdict itself.

        A block about precision withholds what the interval leaves open; what it decides, it decides.
        """
        late = withheld(self.lock_status, self.plan, criterion)
        if late is not None:
            return late
        blocks = blocking(lead, self.checks)
        if criterion.population == criteria.SAMPLE:
            blocks = [block for block in blocks if not of_the_sample(block)]
        if not all(of_precision(block) for block in blocks):
            return _blocked(blocks)
        word, reason = self._compared(criterion, lead, bound)
        return (word, reason, ()) if word in DECIDED or not blocks else _blocked(blocks)

    def _with_population(self, criterion: Endpoint, lead: Result, reason: Message) -> Message:
        """The sentence, with what was judged where that is not the declared population or not new cases."""
        if criterion.apparent:
            return say("verdicts.apparent", sentence=reason)
        if criterion.prevalence is None and criterion.population != criteria.SAMPLE:
            return reason
        plain = criterion.model_copy(update={"prevalence": None, "population": None})
        other = entry(plain, self.study, self.plan, self.results)
        if isinstance(other, Message) or other is lead or "prevalence" not in other.parameters:
            return reason
        e = rounded(other.estimate, other.places)
        values = {
            "prevalence": as_share(other.parameters["prevalence"]),
            "value": amount(other, e.value),
            "low": amount(other, e.low, bare=True),
            "high": amount(other, e.high),
        }
        return say("verdicts.other_population", sentence=reason, **values)

    def _compared(self, criterion: Endpoint, lead: Result, bound: Bound) -> tuple[Word, Message]:
        """Word and sentence that the interval of an entry and the bound give."""
        e = lead.estimate
        if isnan(e.value) or isnan(e.low) or isnan(e.high):
            return "not assessable", say("verdicts.reason.no_interval", reason=e.note or "-")
        if number(lead, self.plan.operating_point.threshold) in self.contradicted:
            return "not assessable", say("verdicts.reason.contradicted")
        if has_no_precision(e):
            return "not assessable", say("verdicts.reason.no_width")
        word = compare_with_bound(e.low, e.high, bound)
        if limits_of(word, e, bound) & {*e.short}:
            return "not assessable", say("verdicts.reason.short", reason=of_simulations(e.note))
        end = _end_of_loss(lead, bound, word)
        if end is not None:
            return word, say(f"verdicts.{word}_loss", **_values(lead, Bound(low=end)))
        return word, say(f"verdicts.{_pattern(word, bound, e.high)}", **_values(lead, bound))


def _blocked(blocks: Sequence[CheckOutcome]) -> tuple[Word, Message, tuple[str, ...]]:
    """A verdict that is withheld, with the checks that withhold it."""
    named = [say("word.with_id", text=say(f"checks.{b.check}.title"), id=b.check) for b in blocks]
    return "not assessable", say("verdicts.reason.blocked", checks=named), tuple(b.check for b in blocks)


def has_no_precision(e: Estimate) -> bool:
    """Whether an interval has no width, or is made of a standard error of 0: that is no evidence.

    >>> has_no_precision(Estimate(1.0, 1.0, 1.0, 8)), has_no_precision(Estimate(1.0, 0.981, 1.0, 200))
    (True, False)
    """
    return as_written(e.low) == as_written(e.high) or e.se == 0


def _why(word: str, lead: Result) -> Message:
    """Why a bound is none, with the best value of the quantity where that is what it lacks."""
    return say(f"verdicts.reason.{word}", best=lead.quantity.target or 0.0)


def compare_with_bound(low: float, high: float, bound: Bound) -> Word:
    """An interval against a bound: whole on the right side, whole on the wrong side, or neither.

    >>> (
    ...     compare_with_bound(0.91, 0.97, Bound(low=0.9)),
    ...     compare_with_bound(0.85, 0.97, Bound(low=0.9)),
    ...     compare_with_bound(0.8, 0.89, Bound(low=0.9)),
    ... )
    ('pass', 'inconclusive', 'fail')
    """
    low, high = as_written(low), as_written(high)
    below, above = (None if end is None else as_written(end) for end in (bound.low, bound.high))
    if (below is None or low > below) and (above is None or high < above):
        return "pass"
    if (below is not None and high < below) or (above is not None and low > above):
        return "fail"
    return "inconclusive"


def limits_of(word: Word, e: Estimate, bound: Bound) -> set[Limit]:
    """The limits on which a decided verdict rests: those that face a bound that they keep to, or miss.

    >>> limits_of("pass", Estimate(0.95, 0.91, 0.97, 200), Bound(low=0.9))
    {'low'}
    """
    facing: dict[Limit, float | None] = {"low": bound.low, "high": bound.high}
    if word == "pass":
        return {limit for limit, end in facing.items() if end is not None}
    if word == "fail":
        return {"high" if bound.low is not None and e.high < bound.low else "low"}
    return set()


def _pattern(word: Word, bound: Bound, high: float) -> str:
    """Which sentence says it: above or below one bound, within or outside two."""
    if word == "inconclusive":
        return "inconclusive" if None in (bound.low, bound.high) else "inconclusive_between"
    if bound.low is not None and bound.high is not None:
        return f"{word}_{'inside' if word == 'pass' else 'outside'}"
    up = bound.low is not None
    return f"{word}_{'above' if up == (word == 'pass') else 'below'}"


def _end_of_loss(lead: Result, bound: Bound, word: Word) -> float | None:
    """The end of a bound that a significant loss is held against; None where nothing got worse.

    Where two bounds ask for a loss, one that is too small is no more than outside them.
    """
    e, row = lead.estimate, lead.quantity
    if not row.is_loss(e.low, e.high):
        return None
    if word == "inconclusive":
        return next((end for end in bound.ends if e.low <= end <= e.high), None)
    worst = bound.low if row.better == "up" else bound.high
    beyond = worst is not None and (e.high < worst if row.better == "up" else e.low > worst)
    return worst if word == "pass" or beyond else None


def _values(lead: Result, bound: Bound) -> dict[str, Any]:
    ends, none = bound.ends, lead.quantity.no_effect
    # An interval that ends close to a bound, or to no effect, is written on the side of it on which it ends.
    near = ends if none is None else (*ends, none)
    places = max(clear_of(lead.places, (lead.estimate.low, lead.estimate.high), end) for end in near)
    e = rounded(lead.estimate, places)
    return {
        "measure": measure(lead),
        "value": amount(lead, e.value),
        "low": amount(lead, e.low, bare=True),
        "high": amount(lead, e.high),
        "level": e.level,
        "bound": bound_amount(lead.quantity, ends[0]),
        "other": bound_amount(lead.quantity, ends[-1]),
        "none": bound_amount(lead.quantity, none or 0.0),
    }


def measure(lead: Result) -> Message:
    """What an entry is of, with its place: "sensitivity in local"."""
    name = quantity_name(lead.name, lead.endpoint)
    if lead.name in OF_ARMS and lead.place.arms:
        name = say("verdicts.change_in", measure=name)
    where = places(lead.scope)
    if lead.place.population is not None and lead.name not in VALUES:  # the names of those say it
        key = "new_site" if lead.place.population == NEW_SITE else "typical_site"
        where.append(say(f"verdicts.{key}"))
    if not where:
        return name
    listed = reduce(lambda one, other: say("word.pair", first=one, second=other), where)
    return say("verdicts.measure_in", measure=name, place=listed)


def places(scope: Mapping[str, Any]) -> list[Message | str]:
    """Where a number belongs, in words."""
    pairs = [pair for pair in (scope.get("arms"), scope.get("candidates")) if pair]
    found: list[Message | str] = [say("verdicts.against", compared=a, baseline=b) for a, b in pairs]
    keys = ("arm", "candidate", "task", "set", "dataset", "subgroup", "site", "period")
    found += [str(scope[key]) for key in keys if scope.get(key)]
    if "threshold" in scope:
        found.append(say("verdicts.at_threshold", threshold=scope["threshold"]))
    if "prevalence" in scope.get("parameters", {}):
        found.append(at_prevalence(scope["parameters"]["prevalence"]))
    return found


def as_share(share: float) -> Message:
    """A declared prevalence as it is written: 27%."""
    return say("verdicts.amount.proportion", value=as_declared(share, 2))


def at_prevalence(share: float) -> Message:
    """That a number is of a declared prevalence: "at a prevalence of 27%"."""
    return say("verdicts.at_prevalence", prevalence=as_share(share))


def amount(lead: Result, value: float, *, bare: bool = False) -> Message:
    """A value as its unit is written; without the unit where one follows that has it."""
    if not isfinite(value):
        return say("verdicts.amount.infinite", value=value)
    if places_in(value) is None:  # a bound, which somebody declared
        value = as_declared(value, _least_decimals(lead.quantity))
    if (unit := lead.details.get("unit")) and not bare:
        return say("verdicts.amount.measured", value=value, unit=unit)
    key = f"bare_{lead.written}" if bare and lead.written in BARE else lead.written
    return say(f"verdicts.amount.{key}", value=value)


def bound_amount(row: Quantity, value: float) -> Message:
    """A declared bound as its unit is written, with the digits that were declared: 80%, 5 points."""
    return say(f"verdicts.amount.{row.written}", value=as_declared(value, _least_decimals(row)))


def _least_decimals(row: Quantity) -> int:
    """The decimals that a declared number has at least; one without an upper end stays as it was typed."""
    without_end = row.unit == "score" and isinf(row.high) and row.decimals is None
    return 0 if without_end or row.unit in ("seconds", "count", "decisions") else 2


def _needed(lead: Result, bound: Bound, plan: Plan) -> tuple[int | None, str]:
    """How many cases would give the declared precision, or else an interval on one side of the bound.

    The half-width shrinks as the square root of the number of cases; the estimate is taken to stay.
    """
    e = lead.estimate
    if not _of_cases(lead) or not e.n or not isfinite(e.high - e.low):
        return None, ""
    base = quantity(lead.quantity.base) if known(lead.quantity.base) else lead.quantity
    unit = CLASS_OF.get(base.needs, "case")
    target = _target(lead.quantity.id, plan)
    if target is not None:
        times = ((e.high - e.low) / 2 / target) ** 2
        return (ceil(e.n * times), unit) if times > 1 else (None, "")
    times = 0.0
    for end, half, gap in (
        (bound.low, e.value - e.low, e.value - (bound.low or 0)),
        (bound.high, e.high - e.value, (bound.high or 0) - e.value),
    ):
        if end is not None and gap <= 0:
            return None, ""
        if end is not None:
            times = max(times, (half / gap) ** 2)
    return (int(e.n * times) + 1, unit) if times >= 1 and e.n * times < MOST_NEEDED else (None, "")


def further_cases(verdict: Verdict) -> tuple[int, str] | None:
    """How many more cases would bring the interval to one side of the bound or the other, and their unit.

    None where a number of cases alone decides nothing: with readers as random as cases, or an estimate that
    is on the bound itself.
    """
    lead, bound = verdict.result, verdict.bound
    if verdict.word != "inconclusive" or lead is None or bound is None or not _of_cases(lead):
        return None
    e = lead.estimate
    if not e.n or not isfinite(e.high - e.low):
        return None
    base = quantity(lead.quantity.base) if known(lead.quantity.base) else lead.quantity
    gaps = [(e.value - end, e.value - e.low, e.high - e.value) for end in (bound.low,) if end is not None]
    gaps += [(end - e.value, e.high - e.value, e.value - e.low) for end in (bound.high,) if end is not None]
    missed = [(gap, beyond) for gap, _, beyond in gaps if gap < 0]
    sides = missed[:1] or [(gap, within) for gap, within, _ in gaps]
    if any(gap == 0 for gap, _ in sides):
        return None
    further = int(e.n * max((half / gap) ** 2 for gap, half in sides)) + 1 - e.n
    return (further, CLASS_OF.get(base.needs, "case")) if 0 < further < MOST_NEEDED else None


def _of_cases(lead: Result) -> bool:
    """Whether `n` counts cases of one set that are drawn independently.

    Then more of them narrow the interval as the square root says. With readers as random as cases, no number
    of cases alone does; nor do more cases of a judge that people did not rate.
    """
    if "both_rated" in lead.estimate.details or lead.place.population is not None:
        return False
    return lead.place.task is None and not lead.place.datasets and bool(lead.place.dataset or lead.place.set)


def _target(id: str, plan: Plan) -> float | None:
    for name, target in plan.precision_targets.items():
        if name.rpartition(".")[2] in (id, id.removesuffix("_ratio")):
            return target.max_ci_half_width
    return None


def _in_words(lead: Result, n: int, unit: str, plan: Plan) -> Message:
    key = "planned" if _target(lead.quantity.id, plan) is not None else "decided"
    return say(f"verdicts.needed.{key}", n=n, unit=say(f"verdicts.unit.{unit}"))


Decide = Callable[["Judge"], dict[str, Verdict]]
"""Gives the verdict on every criterion of the plan of a judge, by name."""

MOST_NAMED = 3  # fields that a sentence names
# Where the criteria themselves are declared, in both forms of the lock.
OF_CRITERIA = (("endpoints",), ("families",), ("report", "confidence_level"), ("confidence_level",))


def withheld(
    status: LockStatus, plan: Plan, criterion: Endpoint
) -> tuple[Word, Message, tuple[str, ...]] | None:
    """Word, sentence and check where a criterion, or what it rests on, was not fixed in advance."""
    check = exploratory(status, plan, criterion)
    if check is None:
        return None
    how = {"P34": "undeclared", "P35": "after"}[check]
    own = [c for c in status.changes if c.how == how and rests_on(criterion, c, plan)]
    fields = [c.field for c in own if c.why == own[0].why]
    if status.late or not fields:
        return "not assessable", say("verdicts.reason.P35"), (check,)
    more = [say("word.more", n=len(fields) - MOST_NAMED)] if len(fields) > MOST_NAMED else []
    reason = say(f"verdicts.reason.{own[0].why}", n=len(fields), fields=[*fields[:MOST_NAMED], *more])
    return "not assessable", reason, (check,)


def with_locked(found: Mapping[str, Verdict], judge: "Judge", decide: Decide) -> dict[str, Verdict]:
    """The verdicts, each whose criterion was amended with the verdict under the criterion that was locked.

    All criteria are judged again as they were locked, each with its family, on the results of the report.
    What was changed elsewhere in the manifest withholds that verdict as it does the other.
    """
    status, plan = judge.lock_status, judge.plan
    apart = elsewhere(status)
    of_criteria = [c for c in status.changes if c not in apart]
    amended = {e.endpoint for c in of_criteria for e in concerned(c, plan)} | set(removed(status, plan))
    before = as_locked(status, plan) if amended else None
    if before is None:
        return dict(found)
    then = decide(replace(judge, plan=before, lock_status=replace(status, changes=apart)))
    return {
        name: replace(verdict, locked=_locked(then[name])) if name in amended and name in then else verdict
        for name, verdict in found.items()
    }


def elsewhere(status: LockStatus) -> tuple[Change, ...]:
    """The changes since the lock that are none of the criteria themselves."""
    return tuple(c for c in status.changes if not any(c.path[: len(own)] == own for own in OF_CRITERIA))


def _locked(verdict: Verdict) -> Locked:
    return Locked(verdict.criterion.bound_or_margin, verdict.word, verdict.alpha, verdict.level)


def as_locked(status: LockStatus, plan: Plan) -> Plan | None:
    """The plan with the criteria as they were locked; None where this version cannot read them."""
    if status.lock is None:
        return None
    given = status.lock.first.criteria
    default = Report.model_fields["confidence_level"].default
    level = given.get("confidence_level", given.get("report", {}).get("confidence_level", default))
    try:
        endpoints = tuple(Endpoint.model_validate(e) for e in given.get("endpoints", ()))
        families = tuple(Family.model_validate(f) for f in given.get("families", ()))
    except ValidationError:
        return None
    report = plan.report.model_copy(update={"confidence_level": level})
    before = plan.model_copy(update={"endpoints": endpoints, "families": families, "report": report})
    try:
        criteria.as_they_open(criteria.families(before))
    except ValueError:  # they wait for each other: a lock is written before the criteria are looked at
        return None
    return before
