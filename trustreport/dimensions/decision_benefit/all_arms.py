"""Three or more arms: one test of all of them, then every pair with p adjusted for their number."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    every_endpoint,
    name_of,
)
from trustreport.estimate import Estimate, undefined
from trustreport.finding import Column, Part, PlainTable
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.auc import fit_auc
from trustreport.measures.mrmc.obuchowski_rockette import MODES, ObuchowskiRockette, fit_proportions
from trustreport.measures.mrmc.youden import fit_youden
from trustreport.measures.multiplicity import holm
from trustreport.messages import Message, say
from trustreport.plan import Plan
from trustreport.results import Result
from trustreport.study import Floats, Readings

TEXT = f"{ID}.all_arms"
GLOBAL, PAIRWISE = f"{ID}.global_test", f"{ID}.pairwise_difference"
# Under so many readers the larger p of random and fixed readers leads, as the wider interval does elsewhere.
FEW_READERS = 5
HOLM, OF_PAIRS = "holm_smallest", "ustatistic_bdg"
NO_PAIRS = "a pair of arms has no interval, so that their p cannot be adjusted together"


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
    pairs = list(_pairwise(readings, arms, plan, level, scope, results))
    found: list[Result] = []
    for name, fit in _fits(readings, arms).items():
        here = {**scope, "endpoint": name, "arms": list(arms)}
        tests = (
            _global(fit, level) if fit else _of_pairs([r for r in pairs if r.within(endpoint=name)], level)
        )
        first = _first(tests, len(readings.readers))
        found += by_analysis(GLOBAL, here, tests, first, unit="p")
    return AllArms(arms, found + pairs)


def _fits(readings: Readings, arms: tuple[str, ...]) -> dict[str, ObuchowskiRockette | None]:
    """A fit of all arms for each endpoint, None where a reading is missing."""
    truth = readings.cases.truth
    known = truth >= 0
    both = bool((truth == 1).any() and (truth == 0).any())
    found: dict[str, ObuchowskiRockette | None] = {}

    def add(name: str, part: Floats, fit: Callable[[Floats], ObuchowskiRockette]) -> None:
        if part.size:
            found[name] = None if np.isnan(part).any() else fit(part)

    if readings.decision is not None:
        correct = correct_decisions(readings, arms)
        add("accuracy", correct[:, :, known], fit_proportions)
        add("sensitivity", correct[:, :, truth == 1], fit_proportions)
        add("specificity", correct[:, :, truth == 0], fit_proportions)
    if readings.score is not None and both:
        rating = readings.grid(readings.score, arms)[:, :, known]
        add("auc", rating, lambda part: fit_auc(part, truth[known] == 1, "jackknife"))
    if readings.decision is not None and both:
        add("youden_j", correct[:, :, known], lambda part: fit_youden(part, truth[known] == 1))
    for name, values in readings.endpoints.items():
        own = readings.grid(values, arms)
        add(name, own[:, :, ~np.isnan(own).all(axis=(0, 1))], fit_proportions)
    return found


def _global(fit: ObuchowskiRockette, level: float) -> dict[str, Estimate]:
    """The tests that all arms share one mean, by analysis."""
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


def _of_pairs(pairs: Sequence[Result], level: float) -> dict[str, Estimate]:
    """Where readings are missing: no two arms differ if the smallest adjusted p of the pairs is large.

    Holm's adjustment holds the chance of any false finding among the pairs, hence that of this test.
    """
    adjusted = [r.details["p_holm"] for r in pairs if "p_holm" in r.details]
    n = min((r.estimate.n for r in pairs), default=0)
    if len(adjusted) < len(pairs) or not pairs:
        return {OF_PAIRS: undefined(n, NO_PAIRS, level=level, method=HOLM)}
    details = {"comparisons": float(len(pairs))}
    return {
        OF_PAIRS: Estimate(nan, nan, nan, n, level, HOLM, notes.TEST_ONLY, p=min(adjusted), details=details)
    }


def _first(tests: Mapping[str, Estimate], n_readers: int) -> str:
    names = [f"{mode}_{FIRST_COVARIANCE}" for mode in ("or_rrrc", "or_frrc")]
    if OF_PAIRS in tests:
        return OF_PAIRS
    if n_readers >= FEW_READERS:
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
        for r in results:
            of_pair = r.id == f"{ID}.arm_difference" and r.within(**scope, arms=list(pair))
            if of_pair and r.primary and r.method != "bootstrap":
                yield r
        return
    for endpoint in every_endpoint(readings, pair, level):
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
    endpoint, e = name_of(test.scope["endpoint"]), test.estimate
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
        name = name_of(r.scope["endpoint"])
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
            name_of(r.scope["endpoint"]),
            r.estimate,
            r.estimate.p,
            r.details.get("p_holm"),
        )
        for r in pairs
    )
    n = int(pairs[0].details["comparisons"]) if pairs else 0
    return PlainTable(f"decision_benefit_pairs_{number}", say(f"{TEXT}.pairs", n=n), columns, rows)
