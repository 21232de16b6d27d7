"""Every number of the candidates: on the common cases, two by two, at the local prevalence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.performance.cases import ScoredCases, by_rule, in_common
from trustreport.assessment.performance.decision_table import difference
from trustreport.assessment.performance.measures import lead
from trustreport.measures.estimate import Estimate
from trustreport.measures.weighted import weighted_shares, weighted_shares_of_clusters
from trustreport.study.plan import Plan
from trustreport.study.study import DEVELOPMENT_ROLES
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

ID = "candidates"
OF_EACH = ("accuracy", "sensitivity", "specificity", "ppv", "npv", "failure_rate")
COMPARED = ("accuracy", "sensitivity", "specificity", "failure_rate")
MEASURES = ("sensitivity", "specificity", "auc", "accuracy")
RATES = ("alarm_rate", "false_alarm_rate", "missed_rate", "failure_rate", "recall_rate")


@dataclass(frozen=True, eq=False)
class Common:
    """The candidates of a data set on the cases that all of them were given.

    `asked` are the contrasts of two that criteria name, compared first.
    """

    dataset: str
    runs: tuple[ScoredCases, ...]
    asked: tuple[tuple[str, str], ...] = ()

    @property
    def truth(self) -> NDArray[np.bool_]:
        """The truth of the common cases, (n_cases,)."""
        return self.runs[0].truth

    @property
    def n_known(self) -> int:
        """Cases of the set whose truth counts."""
        return self.runs[0].n_counted

    @property
    def place(self) -> Place:
        """Where the numbers of all candidates together belong."""
        return Place(dataset=self.dataset)

    @cached_property
    def names(self) -> list[str]:
        """The candidates, in order."""
        return [run.candidate for run in self.runs]

    @property
    def pairs(self) -> list[tuple[ScoredCases, ScoredCases]]:
        """The candidates two by two: as a criterion asks, else the later compared with the earlier one."""
        return [
            (one, other)
            if (one.candidate, other.candidate) in self.asked
            and (other.candidate, one.candidate) not in self.asked
            else (other, one)
            for one, other in combinations(self.runs, 2)
        ]


def common_cases(candidates: Sequence[ScoredCases], plan: Plan) -> Common | None:
    """The candidates of a data set on the cases that all of them were given; None without decisions."""
    deciding = [one for one in candidates if one.decision is not None]
    if not deciding or deciding[0].dataset.role in DEVELOPMENT_ROLES:
        return None
    named = ((e.candidate, e.arm_or_contrast) for e in plan.endpoints)
    asked = tuple(said for both in named for said in both if isinstance(said, tuple))
    return Common(deciding[0].dataset.name, in_common(deciding), asked)


def results_of(common: Common, plan: Plan) -> list[Result]:
    """Every entry of one data set."""
    level = plan.report.confidence_level
    found = [r for run in common.runs for r in _of_one(run, level)]
    found += [r for run in common.runs for r in at_local_prevalence(run, plan)]
    for compared, baseline in common.pairs:
        found += pair_differences(compared, baseline, level)
    return found


def _of_one(run: ScoredCases, level: float) -> list[Result]:
    names = (*OF_EACH, *(() if run.score is None else ("auc",)))
    return [_entry(name, place_of(run), lead(run, name, level), run) for name in names]


def measures(plan: Plan) -> tuple[str, ...]:
    """The measures of right outputs in the order of a report: those of primary criteria first.

    Accuracy, which mixes both classes, comes after the others unless it is a primary measure.
    """
    primary = [
        name
        for e in plan.endpoints
        if e.role == "primary" and (name := e.quantity.removesuffix("_difference")) in MEASURES
    ]
    return tuple(dict.fromkeys((*primary, *MEASURES)))


def leading_measure(plan: Plan) -> str:
    """The measure that leads tables and figures: that of the first primary criterion, else sensitivity.

    Empty where only a utility was declared: then what the decisions are worth leads.
    """
    primary = [e for e in plan.endpoints if e.role == "primary"]
    if not primary and plan.utility.matrices:
        return ""
    return measures(plan)[0]


def place_of(run: ScoredCases) -> Place:
    """Where the numbers of a candidate belong: a single one is named too."""
    return run.place.narrowed(candidate=run.candidate or None)


def _entry(name: str, place: Place, e: Estimate, run: ScoredCases, **more: Any) -> Result:
    return Result(f"{ID}.{name}", place, e, primary=True, cases=run.key, **more)


def pair_differences(compared: ScoredCases, baseline: ScoredCases, level: float) -> list[Result]:
    """Compared minus baseline on the same cases: shares of right answers, failures, areas."""
    names = (compared.candidate, baseline.candidate)
    place = Place(dataset=compared.dataset.name, candidates=names)
    areas = compared.score is not None and baseline.score is not None
    return [
        _entry(f"{name}_difference", place, difference(compared, baseline, name, level), compared)
        for name in (*COMPARED, *(("auc",) if areas else ()))
    ]


def indistinguishable(found: Sequence[Result], names: Sequence[str], name: str) -> list[tuple[str, ...]]:
    """Groups of candidates of which no two are distinguished by the intervals; largest groups, best first.

    Parameters
    ----------
    found : entries whose differences have the level at which all pairs hold together
    names : the candidates, in the order in which they are listed
    name : quantity whose difference decides
    """
    alike = {one: {*names} - {one} for one in names}
    for r in found:
        e, pair = r.estimate, r.place.candidates
        if pair and r.id == f"{ID}.{name}_difference" and r.primary and (e.low > 0 or e.high < 0):
            for one, other in (pair, pair[::-1]):
                alike[one].discard(other)
    places = [sorted(map(names.index, group)) for group in _largest(alike, set(), {*names}, set())]
    return [tuple(names[i] for i in group) for group in sorted(places)]


def _largest(
    alike: Mapping[str, set[str]], group: set[str], open_: set[str], tried: set[str]
) -> Iterator[set[str]]:
    """Every group of which all are alike and that no other such group contains (Bron and Kerbosch, 1973)."""
    if not open_ and not tried:
        yield group
    for one in sorted(open_):
        yield from _largest(alike, group | {one}, open_ & alike[one], tried & alike[one])
        open_, tried = open_ - {one}, tried | {one}


def ranked(found: Sequence[Result], names: Sequence[str], name: str) -> list[str]:
    """The candidates by an estimate, the highest first."""

    def value(candidate: str) -> float:
        """The estimate of a candidate; minus infinity where it has none, so that it comes last."""
        own = (r for r in found if r.id == f"{ID}.{name}" and r.primary and r.place.candidate == candidate)
        e = next(own, None)
        return float("-inf") if e is None or isnan(e.estimate.value) else e.estimate.value

    return sorted(names, key=value, reverse=True)


def local_prevalences(plan: Plan) -> list[float]:
    """The declared local prevalence; without it that which the intended use expects."""
    said = plan.site_context.local_prevalence if plan.site_context else None
    share = plan.expected_prevalence if said is None else said
    return [share] if share is not None and 0 < share < 1 else []


def exchange(plan: Plan) -> tuple[float, str] | None:
    """How many missed cases one false alarm weighs, and where that is declared."""
    if plan.utility.cost_fp is not None and plan.utility.cost_fn:
        return plan.utility.cost_fp / plan.utility.cost_fn, "costs"
    thresholds = plan.utility.thresholds or ()
    if len(thresholds) == 1 and 0 < thresholds[0] < 1:
        return thresholds[0] / (1 - thresholds[0]), "threshold"
    return None


def at_local_prevalence(run: ScoredCases, plan: Plan) -> Iterator[Result]:
    """Rates per case, and net benefit, in a population with the local prevalence.

    An alarm is a positive output; a failed case has none, whatever it is analysed as.
    """
    level = plan.report.confidence_level
    assert run.decision is not None
    alarm = run.decision & ~run.failed
    for share in local_prevalences(plan):
        chosen: dict[str, Any] = {"prevalence": share}
        events = {
            "alarm_rate": (share, alarm, 1 - share, alarm),
            "false_alarm_rate": (0.0, alarm, 1 - share, alarm),
            "missed_rate": (share, ~alarm, 0.0, alarm),
            "failure_rate": (share, run.failed, 1 - share, run.failed),
            "recall_rate": (share, alarm | run.failed, 1 - share, alarm | run.failed),
        }
        for name in RATES:
            yield _entry(name, place_of(run), _mixed(run, *events[name], level), run, parameters=chosen)
        weight = exchange(plan)
        if weight is not None:
            called = np.where(run.failed, by_rule(run.truth, run.rule), alarm)
            e = _mixed(run, share, called, -weight[0] * (1 - share), called, level)
            more = {**chosen, "false_alarm_weight": weight[0]}
            yield _entry("net_benefit", place_of(run), e, run, parameters=more)


def _mixed(
    run: ScoredCases,
    present: float,
    of_present: NDArray[np.bool_],
    absent: float,
    of_absent: NDArray[np.bool_],
    level: float,
) -> Estimate:
    """Weights times the shares of events among cases with and without the condition."""
    parts = [
        (weight, events[of], of)
        for weight, events, of in ((present, of_present, run.truth), (absent, of_absent, ~run.truth))
        if weight
    ]
    if run.cluster is None:
        e = weighted_shares([(w, int(events.sum()), events.size) for w, events, _ in parts], level=level)
    else:
        cluster: Any = run.cluster
        e = weighted_shares_of_clusters([(w, events, cluster[of]) for w, events, of in parts], level=level)
    return replace(e, n=run.truth.size)
