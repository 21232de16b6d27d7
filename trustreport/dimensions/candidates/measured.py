"""Every number of the candidates: on the common cases, two by two, at the local share of positives."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.candidates.cases import Common, Run
from trustreport.estimate import Estimate
from trustreport.measures.case_mean import case_mean
from trustreport.measures.confusion.clustered import cluster_cells, clustered
from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.confusion.weighted_shares import weighted_shares, weighted_shares_of_clusters
from trustreport.measures.paired.difference import tango
from trustreport.measures.paired.table import PairedTable
from trustreport.measures.proportion import wilson
from trustreport.measures.roc.auc import delong
from trustreport.measures.roc.clustered import clustered_auc, clustered_difference
from trustreport.measures.roc.difference import paired_difference
from trustreport.plan import Plan
from trustreport.results import Result, Unit, answers

ID = "candidates"
OF_EACH = ("accuracy", "sensitivity", "specificity", "ppv", "npv")
COMPARED = ("accuracy", "sensitivity", "specificity", "failure_rate")
RATES = ("alarm_rate", "false_alarm_rate", "missed_rate", "failure_rate", "recall_rate")


def results_of(common: Common, plan: Plan) -> list[Result]:
    """Every entry of one data set."""
    level = plan.report.confidence_level
    found = [r for run in common.runs for r in _of_one(common, run, level)]
    found += [r for run in common.runs for r in at_local_prevalence(common, run, plan)]
    for baseline, compared in combinations(common.runs, 2):
        found += differences(common, compared, baseline, level)
    return found


# ---------------------------------------------------------------- each candidate


def _of_one(common: Common, run: Run, level: float) -> Iterator[Result]:
    scope = common.scope_of(run)
    # A failed case counts as whatever is wrong for it.
    decision = np.where(run.failed, ~common.truth, run.alarm)
    cells = np.bincount(2 * common.truth + decision, minlength=4)
    counts = ConfusionCounts(tp=int(cells[3]), fp=int(cells[1]), fn=int(cells[2]), tn=int(cells[0]))
    for name in OF_EACH:
        if common.cluster is None:
            one = MEASURES[name](counts, level=level)
        else:
            one = clustered(name, cluster_cells(common.truth, decision, common.cluster), level=level)
        yield from answers(f"{ID}.{name}", scope, [one], leads=one.method)
    yield from answers(
        f"{ID}.failure_rate", scope, [failed := _failures(common, run, level)], leads=failed.method
    )
    if run.suspicion is not None:
        area = _area(common, run.suspicion, level)
        yield from answers(f"{ID}.auc", scope, [area], leads=area.method)


def _failures(common: Common, run: Run, level: float) -> Estimate:
    """The share of failed cases, with the counts on which the comparison rests."""
    if common.cluster is None or not run.n_failed:
        e = wilson(run.n_failed, len(run.failed), level)
    else:
        cells = cluster_cells(np.ones_like(run.failed), run.failed, common.cluster)
        e = clustered("sensitivity", cells, level=level)
    details = {**e.details, "failed": run.n_failed, "not_run": run.n_not_run, "known": common.n_all}
    return replace(e, details=details)


def _area(common: Common, suspicion: NDArray[np.float64], level: float) -> Estimate:
    if common.cluster is None:
        return delong(common.truth, suspicion, level=level)
    return clustered_auc(common.truth, suspicion, common.cluster, level=level)


# ---------------------------------------------------------------- two by two


def differences(common: Common, compared: Run, baseline: Run, level: float) -> list[Result]:
    """Compared minus baseline on the same cases: shares of right answers, failures, areas."""
    scope = {**common.scope, "candidates": [compared.name, baseline.name]}
    found: list[Result] = []
    for name in COMPARED:
        e = _difference(name, common, compared, baseline, level)
        found += answers(f"{ID}.{name}_difference", scope, [e], leads=e.method, unit="difference")
    if compared.suspicion is not None and baseline.suspicion is not None:
        pair = (common.truth, compared.suspicion, baseline.suspicion)
        if common.cluster is None:
            e = paired_difference(*pair, level=level)
        else:
            e = clustered_difference(*pair, common.cluster, level=level)
        found += answers(f"{ID}.auc_difference", scope, [e], leads=e.method, unit="difference")
    return found


def _difference(name: str, common: Common, compared: Run, baseline: Run, level: float) -> Estimate:
    of = {"sensitivity": common.truth, "specificity": ~common.truth}.get(name, np.ones_like(common.truth))
    ours, theirs = (
        (compared.failed, baseline.failed) if name == "failure_rate" else (compared.right, baseline.right)
    )
    ours, theirs = ours[of], theirs[of]
    if common.cluster is not None:
        return case_mean(ours.astype(float) - theirs, level, common.cluster[of], tested=True)
    both, neither = int((ours & theirs).sum()), int((~ours & ~theirs).sum())
    return tango(PairedTable(both, int((ours & ~theirs).sum()), int((~ours & theirs).sum()), neither), level)


def indistinguishable(found: Sequence[Result], names: Sequence[str], name: str) -> list[tuple[str, ...]]:
    """Groups of candidates of which no two are told apart by the intervals; largest groups, best first.

    Parameters
    ----------
    found : entries whose differences have the level at which all pairs hold together
    names : the candidates, in the order in which they are to stand
    name : quantity whose difference decides
    """
    from networkx import Graph, complement, find_cliques

    apart: Graph[str] = Graph()
    apart.add_nodes_from(names)
    for r in found:
        e = r.estimate
        if r.id == f"{ID}.{name}_difference" and r.primary and (e.low > 0 or e.high < 0):
            apart.add_edge(*r.scope["candidates"])
    places = [sorted(map(names.index, group)) for group in find_cliques(complement(apart))]
    return [tuple(names[i] for i in group) for group in sorted(places)]


def ranked(found: Sequence[Result], names: Sequence[str], name: str) -> list[str]:
    """The candidates by an estimate, the highest first."""

    def value(candidate: str) -> float:
        own = (
            r for r in found if r.id == f"{ID}.{name}" and r.primary and r.scope.get("candidate") == candidate
        )
        e = next(own, None)
        return float("-inf") if e is None or isnan(e.estimate.value) else e.estimate.value

    return sorted(names, key=value, reverse=True)


# ---------------------------------------------------------------- at the local share of positives


def local_prevalences(plan: Plan) -> list[float]:
    """The declared local share of positives; without it that which the intended use expects."""
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


def at_local_prevalence(common: Common, run: Run, plan: Plan) -> Iterator[Result]:
    """Rates per case, and net benefit, in a population with the local share of positives."""
    level = plan.report.confidence_level
    for share in local_prevalences(plan):
        scope = {**common.scope_of(run), "parameters": {"prevalence": share}}
        events = {
            "alarm_rate": (share, run.alarm, 1 - share, run.alarm),
            "false_alarm_rate": (0.0, run.alarm, 1 - share, run.alarm),
            "missed_rate": (share, ~run.alarm, 0.0, run.alarm),
            "failure_rate": (share, run.failed, 1 - share, run.failed),
            "recall_rate": (share, run.alarm | run.failed, 1 - share, run.alarm | run.failed),
        }
        for name, (present, of_present, absent, of_absent) in events.items():
            e = _mixed(common, present, of_present, absent, of_absent, level)
            yield from answers(f"{ID}.{name}", scope, [e], leads=e.method)
        weight = exchange(plan)
        if weight is not None:
            here = {**scope, "parameters": {"prevalence": share, "false_alarm_weight": weight[0]}}
            hits, alarms = run.alarm, run.alarm | run.failed
            e = _mixed(common, share, hits, -weight[0] * (1 - share), alarms, level)
            unit: Unit = "utility"
            yield from answers(f"{ID}.net_benefit", here, [e], leads=e.method, unit=unit)


def _mixed(
    common: Common,
    present: float,
    of_present: NDArray[np.bool_],
    absent: float,
    of_absent: NDArray[np.bool_],
    level: float,
) -> Estimate:
    """Weights times the shares of events among cases with and without the condition."""
    parts = [
        (weight, events[of], of)
        for weight, events, of in ((present, of_present, common.truth), (absent, of_absent, ~common.truth))
        if weight
    ]
    if common.cluster is None:
        e = weighted_shares([(w, int(events.sum()), events.size) for w, events, _ in parts], level=level)
    else:
        cluster: Any = common.cluster
        e = weighted_shares_of_clusters([(w, events, cluster[of]) for w, events, of in parts], level=level)
    return replace(e, n=common.truth.size)
