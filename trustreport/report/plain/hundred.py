"""What happens to 100 people: counts to be drawn, with ranges that never claim more than the interval."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, floor, isnan
from typing import Literal

from trustreport.assessment.assess import Assessment
from trustreport.report.answer.sentences import SCORED, known, of_data_sets
from trustreport.report.answer.without_criteria import candidates, decided_alike
from trustreport.vocabulary.results import Result

HUNDRED = 100
NUMERIC_ERROR = 1e-9
ROLES = ("local", "external", "internal test")  # whose numbers say most of the people that a device is for
ARM_MEAN, BENEFIT = "decision_benefit.arm_mean", "decision_benefit.mean_benefit"
ERRORS, FEWER_ERRORS = "pragmatic_utility.error_rate", "pragmatic_utility.arr"
DECISIONS = ("advice_accuracy.sensitivity", "advice_accuracy.specificity")
State = Literal["found", "missed", "false_alarm", "cleared", "right", "wrong"]
Source = Literal["declared", "test", "none"]


@dataclass(frozen=True, slots=True)
class CountRange:
    """A count of people, and between which counts it may be; no limits where the interval has none."""

    n: int
    low: int | None
    high: int | None
    below_one: bool = False

    @property
    def limited(self) -> bool:
        """Whether there is a range."""
        return self.low is not None


@dataclass(frozen=True, slots=True)
class Hundred:
    """100 people or decisions: how many are in each state.

    Parameters
    ----------
    name : the candidate; empty where there is one device
    data : the data set or published set; empty where there is one alone
    aided : whether doctors decided with the device; None where the device decided
    counts : in the order in which they are drawn, together 100; empty where a share is unknown
    missed, false_alarms : of 100 people with the condition, and of 100 without; None where unknown
    tested : with and without the condition, as tested
    source : where the number of people with the condition comes from
    """

    name: str
    data: str
    counts: dict[State, CountRange]
    missed: CountRange | None = None
    false_alarms: CountRange | None = None
    tested: tuple[int, int] = (0, 0)
    source: Source = "none"
    aided: bool | None = None
    others: tuple["Hundred", ...] = ()

    @property
    def affected(self) -> int:
        """How many of the 100 have the condition."""
        return sum(self.counts[state].n for state in ("found", "missed") if state in self.counts)


def count_range(
    share: float, low: float, high: float, of: float = HUNDRED, n: int | None = None
) -> CountRange:
    """How many of `of` people a share is, the limits rounded outwards."""
    exact = share * of
    nearest = floor(exact + 0.5) if n is None else n
    below_one = nearest == 0 and exact > NUMERIC_ERROR
    if isnan(low) or isnan(high):
        return CountRange(nearest, None, None, below_one)
    least, most = floor(low * of + NUMERIC_ERROR), ceil(high * of - NUMERIC_ERROR)
    return CountRange(nearest, max(min(least, nearest), 0), min(max(most, nearest), HUNDRED), below_one)


def rest_of(r: Result, of: float = HUNDRED, n: int | None = None) -> CountRange:
    """How many of `of` people are in what a proportion leaves."""
    e = r.estimate
    return count_range(1 - e.value, 1 - e.high, 1 - e.low, of, n)


def proportion_of(r: Result, of: float = HUNDRED, n: int | None = None) -> CountRange:
    """How many of `of` people a proportion is."""
    return count_range(r.estimate.value, r.estimate.low, r.estimate.high, of, n)


def hundreds(assessment: Assessment) -> list[Hundred]:
    """One for each candidate or published set; else for doctors without and with the device."""
    for found in (_scored(assessment), _published(assessment), _arms(assessment), _decisions(assessment)):
        if found:
            return found
    return []


def _scored(assessment: Assessment) -> list[Hundred]:
    """The device, or each candidate, on the data that say most of the people that it is for.

    Candidates are shown on the same data where they have any in common.
    """
    every = [by_data for name in candidates(assessment) or [""] if (by_data := _by_data(assessment, name))]
    shared = set.intersection(*map(set, every)) if every else set()
    found = []
    for made in every:
        comparable = every if shared else [made]
        missed = {
            data: max(_missed(one[data]) for one in comparable)
            for data in made
            if data in (shared or made)
        }
        chosen = made[_chosen(assessment, missed)]
        found.append(replace(chosen, others=tuple(one for one in made.values() if one is not chosen)))
    return found


def _missed(one: Hundred) -> int:
    return one.missed.n if one.missed else 0


def _by_data(assessment: Assessment, name: str) -> dict[str, Hundred]:
    """Each data set on which a device or candidate decided, with one share where the other is undefined."""
    for dimension in reversed(SCORED):
        found, cleared = (
            {
                str(r.place.dataset): r
                for r in of_data_sets(assessment, f"{dimension}.{measure}", name or None)
            }
            for measure in ("sensitivity", "specificity")
        )
        if found or cleared:
            return {
                data: _on_data(assessment, name, data, found.get(data), cleared.get(data))
                for data in dict.fromkeys((*found, *cleared))
            }
    return {}


def _on_data(
    assessment: Assessment, name: str, data: str, found: Result | None, cleared: Result | None
) -> Hundred:
    if found is not None and cleared is not None:
        return _decided(assessment, name, data, found, cleared)
    return Hundred(
        name,
        data,
        {},
        None if found is None else rest_of(found),
        None if cleared is None else rest_of(cleared),
        (0 if found is None else found.estimate.n, 0 if cleared is None else cleared.estimate.n),
        "test",
    )


def _chosen(assessment: Assessment, missed: Mapping[str, int]) -> str:
    """The last period of an audit; else the best kind of data, and of several those with most missed."""
    roles = {d.name: d.role for d in assessment.study.datasets}
    periods = [data for data in missed if roles.get(data) == "period"]
    if periods:
        return periods[-1]
    for role in ROLES:
        own = [data for data in missed if roles.get(data) == role]
        if own:
            return max(own, key=missed.__getitem__)
    return next(iter(missed))


def _decided(assessment: Assessment, name: str, data: str, found: Result, cleared: Result) -> Hundred:
    """100 people as the decisions on a data set or of readers have it."""
    n_with, n_without = found.estimate.n, cleared.estimate.n
    declared = assessment.plan.declared_prevalence
    total = n_with + n_without
    share = declared if declared is not None else n_with / total if total else 0.0
    source: Source = "declared" if declared is not None else "test"
    affected = floor(HUNDRED * share + 0.5)
    of_affected, of_rest = HUNDRED * share, HUNDRED * (1 - share)
    # Of whole people, so that nobody is drawn as missed because the prevalence was rounded.
    hits = floor(affected * found.estimate.value + 0.5)
    clear = floor((HUNDRED - affected) * cleared.estimate.value + 0.5)
    counts: dict[State, CountRange] = {
        "found": proportion_of(found, of_affected, hits),
        "missed": rest_of(found, of_affected, affected - hits),
        "false_alarm": rest_of(cleared, of_rest, HUNDRED - affected - clear),
        "cleared": proportion_of(cleared, of_rest, clear),
    }
    return Hundred(name, data, counts, rest_of(found), rest_of(cleared), (n_with, n_without), source)


def _published(assessment: Assessment) -> list[Hundred]:
    """Tables of publications, a set each; those that decide all alike are no test."""
    by_set = [[r for r in known(assessment, id) if r.place.set] for id in DECISIONS]
    alike = decided_alike(*by_set)
    specificities = {r.place: r for r in by_set[1]}
    return [
        _decided(assessment, "", r.place.data_name, r, specificities[r.place])
        for r in by_set[0]
        if r.place in specificities and r.place not in alike
    ]


def _arms(assessment: Assessment) -> list[Hundred]:
    """Doctors without the device, then with it: what each decided on the same cases."""
    pair = next((r.place.arms for r in whole(assessment, BENEFIT) if r.place.arms), None)
    found = []
    for aided, arm in enumerate(reversed(pair or ())):
        means = (
            whole(assessment, ARM_MEAN, arm=arm, endpoint=one)[:1] for one in ("sensitivity", "specificity")
        )
        both = [r for own in means for r in own]
        if len(both) > 1:
            found.append(replace(_decided(assessment, "", "", *both), aided=bool(aided)))
    return found


def _decisions(assessment: Assessment) -> list[Hundred]:
    """Where only errors are known: 100 decisions of doctors without the device, then with it."""
    pairs = whole(assessment, FEWER_ERRORS)
    found = []
    for pair in pairs:
        for aided, arm in enumerate(reversed(pair.place.arms or ())):
            rates = known(assessment, ERRORS, arm=arm, set=pair.place.set, task=pair.place.task)
            for r in (one for one in rates if one.within(subgroup=None, site=None, parameters=None)):
                right = floor(HUNDRED * (1 - r.estimate.value) + 0.5)
                counts: dict[State, CountRange] = {
                    "right": rest_of(r, n=right),
                    "wrong": proportion_of(r, n=HUNDRED - right),
                }
                data = pair.place.data_name if len(pairs) > 1 else ""
                found.append(Hundred("", data, counts, aided=bool(aided)))
    return found


def whole(assessment: Assessment, id: str, **scope: object) -> list[Result]:
    """The primary results of an id that are of no part of the cases or readers."""
    plain = {"subgroup": None, "site": None, "parameters": None, "reader": None, **scope}
    return known(assessment, id, **plain)


def spread(counts: Iterable[CountRange]) -> tuple[int, int] | None:
    """From the least to the most of several ranges; None without one."""
    limited = [one for one in counts if one.low is not None and one.high is not None]
    if not limited:
        return None
    return min(one.low or 0 for one in limited), max(one.high or 0 for one in limited)
