"""Three or more arms: one test of all of them, then every pair with p adjusted for their number."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isinf, isnan, nan
from typing import Any

import numpy as np

from trustreport.dimensions.decision_benefit.endpoints import (
    FIRST_COVARIANCE,
    ID,
    by_analysis,
    correct_decisions,
    endpoints,
)
from trustreport.estimate import Estimate, undefined
from trustreport.finding import Column, Part, PlainTable
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import fit_auc
from trustreport.measures.mrmc.obuchowski_rockette import MODES, ObuchowskiRockette, fit_proportions
from trustreport.measures.multiplicity import holm
from trustreport.messages import Message, say
from trustreport.plan import Plan
from trustreport.results import Result, leading
from trustreport.study import Readings

TEXT = f"{ID}.all_arms"
GLOBAL, PAIRWISE = f"{ID}.global_test", f"{ID}.pairwise_difference"
# Under so many readers the larger p of random and fixed readers leads, as the wider interval does elsewhere.
FEW_READERS = 5
NOT_CROSSED = "the test of all arms needs every reader to read every case in every arm"


@dataclass(frozen=True, slots=True)
class AllArms:
    """The arms of one task, in the manifest's order, with the entries about all of them."""

    arms: tuple[str, ...]
    results: list[Result]


def all_arms(
    readings: Readings, plan: Plan, level: float, scope: Mapping[str, Any], results: Sequence[Result]
) -> AllArms | None:
    """Global test and pairwise differences of each endpoint; None with fewer than three arms.

    `results` are those of decision benefit so far: a pair that they compare is not computed anew.
    """
    arms = tuple(a for i, a in enumerate(readings.arms) if (readings.arm == i).any())
    if len(arms) < 3:
        return None
    found: list[Result] = []
    for name, fit in _fits(readings, arms).items():
        here = {**scope, "endpoint": name, "arms": list(arms)}
        tests = _global(fit, level)
        first = _first(tests, len(readings.readers))
        found += by_analysis(GLOBAL, here, tests, first, unit="p")
    found += _pairwise(readings, arms, plan, level, scope, results)
    return AllArms(arms, found)


def _fits(readings: Readings, arms: tuple[str, ...]) -> dict[str, ObuchowskiRockette | None]:
    """A fit of all arms for each endpoint, None where a reading is missing."""
    truth = readings.cases.truth
    found: dict[str, ObuchowskiRockette | None] = {}
    if readings.decision is not None:
        correct = correct_decisions(readings, arms)
        classes = {"accuracy": truth >= 0, "sensitivity": truth == 1, "specificity": truth == 0}
        for name, cases in classes.items():
            part = correct[:, :, cases]
            if part.size:
                found[name] = None if np.isnan(part).any() else fit_proportions(part)
    if readings.score is not None and (truth == 1).any() and (truth == 0).any():
        rating = readings.grid(readings.score, arms)[:, :, truth >= 0]
        complete = not np.isnan(rating).any()
        found["auc"] = fit_auc(rating, truth[truth >= 0] == 1, "jackknife") if complete else None
    return found


def _global(fit: ObuchowskiRockette | None, level: float) -> dict[str, Estimate]:
    """The tests that all arms share one mean, by analysis."""
    if fit is None:
        method = MODES[0]
        return {f"{method}_{FIRST_COVARIANCE}": undefined(0, NOT_CROSSED, level=level, method=method)}
    found = {}
    for mode in MODES:
        test = fit.omnibus(mode)
        details = {"statistic": test.statistic, "df1": test.df1, "df2": test.df2}
        known = {name: x for name, x in details.items() if not (isnan(x) or isinf(x))}
        note = notes.join(test.note, notes.TEST_ONLY)
        found[f"{mode}_{FIRST_COVARIANCE}"] = Estimate(
            nan, nan, nan, fit.n, level, mode, note, p=test.p, details=known
        )
    return found


def _first(tests: Mapping[str, Estimate], n_readers: int) -> str:
    names = [f"{mode}_{FIRST_COVARIANCE}" for mode in ("or_rrrc", "or_frrc")]
    if n_readers >= FEW_READERS or names[1] not in tests:
        return names[0]
    known = [name for name in names if not isnan(tests[name].p)]
    return max(known, key=lambda name: tests[name].p) if known else names[0]


def _pairwise(
    readings: Readings,
    arms: tuple[str, ...],
    plan: Plan,
    level: float,
    scope: Mapping[str, Any],
    results: Sequence[Result],
) -> Iterator[Result]:
    """Every pair of arms by their readings alone, p adjusted among the pairs of an endpoint."""
    by_endpoint: dict[str, list[Result]] = {}
    for earlier, later in combinations(arms, 2):
        pair = (earlier, later) if (earlier, later) in plan.contrasts else (later, earlier)
        for r in _differences(readings, pair, plan, level, scope, results):
            by_endpoint.setdefault(r.scope["endpoint"], []).append(r)
    for pairs in by_endpoint.values():
        adjusted = holm([r.estimate.p for r in pairs])
        for r, p in zip(pairs, adjusted):
            details = {"comparisons": len(pairs)} | ({} if isnan(p) else {"p_holm": float(p)})
            yield replace(r, id=PAIRWISE, primary=True, details=details)


def _differences(
    readings: Readings,
    pair: tuple[str, str],
    plan: Plan,
    level: float,
    scope: Mapping[str, Any],
    results: Sequence[Result],
) -> Iterator[Result]:
    """The difference that leads for each endpoint of a pair."""
    if pair in plan.contrasts:
        for name in ("accuracy", "sensitivity", "specificity", "auc"):
            lead = leading(results, f"{ID}.arm_difference", **scope, endpoint=name, arms=list(pair))
            if lead:
                yield lead
        return
    for endpoint in endpoints(readings, pair, level):
        analysis = endpoint.analyse(endpoint.outcome)
        differences = analysis.differences(level)
        first = analysis.first(differences)
        here = {**scope, "endpoint": endpoint.name, "arms": list(pair), "analysis": first}
        yield Result(PAIRWISE, here, differences[first], "difference")


# ---------------------------------------------------------------- how it is told


def all_arms_part(found: AllArms, task: str, number: int) -> Iterator[Part]:
    """The global test of the first endpoint in a sentence; tests and pairs in a table each."""
    tests = [r for r in found.results if r.id == GLOBAL and r.primary]
    if not tests:
        return
    yield Part(
        title=say(f"{TEXT}.title_of", name=task) if task else say(f"{TEXT}.title"),
        finding=(_sentence(tests[0], len(found.arms)),),
        tables=(
            _test_table(tests, found.arms, number),
            _pair_table([r for r in found.results if r.id == PAIRWISE], number),
        ),
    )


def _sentence(test: Result, n: int) -> Message:
    endpoint, e = say(f"endpoint.{test.scope['endpoint']}"), test.estimate
    if isnan(e.p):
        return say(f"{TEXT}.no_test", n=n, endpoint=endpoint, reason=e.note)
    return say(f"{TEXT}.test", n=n, endpoint=endpoint, p=e.p)


def _test_table(tests: Sequence[Result], arms: tuple[str, ...], number: int) -> PlainTable:
    columns = (
        Column(say(f"{TEXT}.column.endpoint")),
        Column(say(f"{TEXT}.column.statistic"), "number"),
        Column(say(f"{TEXT}.column.df")),
        Column(say(f"{TEXT}.column.p"), "p"),
        Column(say(f"{TEXT}.column.method")),
    )
    rows = []
    for r in tests:
        d, method = r.estimate.details, say(f"method.{r.method}.text")
        df: Message | None = None
        if "df1" in d:
            df = say(f"{TEXT}.df2", first=d["df1"], second=d["df2"]) if "df2" in d else None
            df = df or say(f"{TEXT}.df1", first=d["df1"])
        name = say(f"endpoint.{r.scope['endpoint']}")
        said = say("table.note", method=method, note=r.estimate.note) if isnan(r.estimate.p) else method
        rows.append((name, d.get("statistic"), df, r.estimate.p, said))
    caption = say(f"{TEXT}.table", arms=list(arms))
    return PlainTable(f"decision_benefit_arms_{number}", caption, columns, tuple(rows))


def _pair_table(pairs: Sequence[Result], number: int) -> PlainTable:
    columns = (
        Column(say(f"{TEXT}.column.contrast")),
        Column(say(f"{TEXT}.column.endpoint")),
        Column(say(f"{TEXT}.column.change"), "points"),
        Column(say(f"{TEXT}.column.p"), "p"),
        Column(say(f"{TEXT}.column.holm"), "p"),
    )
    rows = tuple(
        (
            say("report.tested.contrast", aided=r.scope["arms"][0], unaided=r.scope["arms"][1]),
            say(f"endpoint.{r.scope['endpoint']}"),
            r.estimate,
            r.estimate.p,
            r.details.get("p_holm"),
        )
        for r in pairs
    )
    n = int(pairs[0].details["comparisons"]) if pairs else 0
    return PlainTable(f"decision_benefit_pairs_{number}", say(f"{TEXT}.pairs", n=n), columns, rows)
