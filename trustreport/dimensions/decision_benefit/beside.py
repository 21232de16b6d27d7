"""What stands beside the endpoint: time, confidence, predictive values, agreement, and the order of reading.

None of it has a formula that holds for readers and cases in general, so that one set of resampled readers and
cases serves all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.dimensions.decision_benefit.endpoints import AIDED, ID, UNAIDED, correct_decisions
from trustreport.measures.agreement.fleiss import fleiss_kappa
from trustreport.measures.agreement.percent import percent_agreement
from trustreport.measures.mrmc.bootstrap import Draws, Statistic, canonical_order
from trustreport.measures.mrmc.reader_agreement import Coefficient, agreement_difference
from trustreport.measures.mrmc.reading_order import halves, trend
from trustreport.measures.mrmc.weighted import combined, ratio_difference, ratio_mean
from trustreport.plan import Plan
from trustreport.results import Result, Unit
from trustreport.seeds import DEFAULT, generator
from trustreport.study import Floats, Readings

COEFFICIENTS: tuple[Coefficient, ...] = ("percent_agreement", "fleiss_kappa")

NOT_RECORDED = "not recorded in this arm"
NOT_IN_BOTH = "not recorded in both arms"
NO_SUCH_DECISION = "no such decision, or no case of that class"
NO_ORDER = "no readings with both an order and a value in this arm"


@dataclass(frozen=True, eq=False)
class Shared:
    """The grids of one task, aided arm first, readers and cases in an order of their own, and the draws.

    Each grid is (2, n_readers, n_cases), NaN where nothing is known.
    """

    scope: Mapping[str, Any]
    arms: tuple[str, str]
    level: float
    seed: int
    grids: Mapping[str, Floats]
    truth: NDArray[np.int8]
    draws: Draws

    def result(
        self,
        quantity: str,
        endpoint: str,
        where: Mapping[str, Any],
        statistic: Statistic,
        n: int,
        unit: Unit,
        why: str,
    ) -> Result:
        """One entry that leads, from the draws that all share."""
        estimate = self.draws.estimate(statistic, n, level=self.level, why_undefined=why)
        scope = {**self.scope, "endpoint": endpoint, **where, "analysis": "bootstrap"}
        made = {"iterations": len(self.draws.readers), "seed": self.seed}
        return Result(f"{ID}.{quantity}", scope, estimate, unit, primary=True, details=made)

    def of_arm(self, arm: int) -> dict[str, Any]:
        """The scope of one arm."""
        return {"arm": self.arms[arm]}

    @property
    def of_both(self) -> dict[str, Any]:
        """The scope of the contrast."""
        return {"arms": list(self.arms)}


def beside_results(
    readings: Readings, arms: tuple[str, str], plan: Plan, scope: Mapping[str, Any]
) -> list[Result]:
    """Everything beside the endpoint that the readings of a task hold."""
    shared = _shared(readings, arms, plan, scope)
    results = recorded(shared, "mean_seconds", "seconds", "seconds")
    results += recorded(shared, "mean_confidence", "confidence", "score")
    if "decision" in shared.grids:
        results += predictive(shared)
        results += agreement(shared)
    return results + order_effects(shared)


def _shared(readings: Readings, arms: tuple[str, str], plan: Plan, scope: Mapping[str, Any]) -> Shared:
    found: dict[str, Floats] = {}
    for name in ("seconds", "confidence", "order"):
        values = getattr(readings, name)
        if values is not None:
            found[name] = readings.grid(values, arms)
    if readings.decision is not None:
        made = np.where(readings.decision >= 0, readings.decision, np.nan)
        found |= {"decision": readings.grid(made, arms), "correct": correct_decisions(readings, arms)}
    truth = readings.cases.truth
    of_cases = np.broadcast_to(truth.astype(np.float64), (1, len(readings.readers), len(truth)))
    readers, cases = canonical_order(
        list(readings.readers.labels), np.concatenate([*found.values(), of_cases])
    )
    seed = plan.similarity.seed
    draws = Draws.of(len(readers), truth[cases], generator(seed, ID, readings.task))
    grids = {name: grid[:, readers][:, :, cases] for name, grid in found.items()}
    level = plan.report.confidence_level
    return Shared(scope, arms, level, DEFAULT if seed is None else seed, grids, truth[cases], draws)


def recorded(shared: Shared, quantity: str, column: str, unit: Unit) -> list[Result]:
    """The mean over readings of what was recorded with them, in each arm and the change."""
    values = shared.grids.get(column)
    if values is None or np.isnan(values).all():
        return []
    ones, n = np.ones_like(values), _counts(values)
    results = [
        shared.result(
            quantity, column, shared.of_arm(a), ratio_mean(values, ones, a), n[a], unit, NOT_RECORDED
        )
        for a in (AIDED, UNAIDED)
    ]
    change = ratio_difference(values, ones, compared=AIDED, baseline=UNAIDED)
    return [*results, shared.result(quantity, column, shared.of_both, change, min(n), unit, NOT_IN_BOTH)]


def _counts(values: Floats) -> list[int]:
    """How many readings of each arm hold a value."""
    return [int(np.count_nonzero(~np.isnan(of_arm))) for of_arm in values]


def predictive(shared: Shared) -> list[Result]:
    """Predictive values and Youden's index over all readings, at the study's class mix."""
    decision, correct = shared.grids["decision"], shared.grids["correct"]
    known = ~np.isnan(correct)
    called = {"ppv": known & (decision == 1), "npv": known & (decision == 0)}
    shares = {name: (np.where(of, correct, np.nan), np.where(of, 1.0, np.nan)) for name, of in called.items()}
    right = [np.where(known & (shared.truth == c), correct, np.nan) for c in (1, 0)]
    results = []
    for name, parts in shares.items():
        results += _predictive(
            shared,
            name,
            [ratio_mean(*parts, arm) for arm in (AIDED, UNAIDED)],
            ratio_difference(*parts, compared=AIDED, baseline=UNAIDED),
            _counts(parts[0]),
        )
    ones = np.ones_like(correct)
    youden = [
        combined(*((1.0, ratio_mean(of_class, ones, arm)) for of_class in right), constant=-1.0)
        for arm in (AIDED, UNAIDED)
    ]
    change = combined((1.0, youden[AIDED]), (-1.0, youden[UNAIDED]))
    return results + _predictive(shared, "youden_j", youden, change, _counts(correct))


def _predictive(
    shared: Shared, name: str, of_arms: Sequence[Statistic], change: Statistic, n: Sequence[int]
) -> list[Result]:
    unit: Unit = "score" if name == "youden_j" else "proportion"
    results = [
        shared.result("arm_mean", name, shared.of_arm(a), of_arms[a], n[a], unit, NO_SUCH_DECISION)
        for a in (AIDED, UNAIDED)
    ]
    both = shared.of_both
    return [
        *results,
        shared.result("arm_difference", name, both, change, min(n), "difference", NO_SUCH_DECISION),
    ]


def agreement(shared: Shared) -> list[Result]:
    """How far these readers agree with each other in each arm, and the change for readers in general."""
    decision = shared.grids["decision"]
    if decision.shape[1] < 2:
        return []
    codes = np.where(np.isnan(decision), -1, decision).astype(np.int8)
    results = []
    for name in COEFFICIENTS:
        measure = percent_agreement if name == "percent_agreement" else fleiss_kappa
        share = name == "percent_agreement"
        of_arms = [measure(codes[a].T, 2, level=shared.level) for a in (AIDED, UNAIDED)]
        for a, estimate in zip((AIDED, UNAIDED), of_arms):
            scope = {**shared.scope, "endpoint": name, **shared.of_arm(a)}
            unit: Unit = "proportion" if share else "score"
            results.append(Result(f"{ID}.reader_agreement", scope, estimate, unit, primary=True))
        statistic = agreement_difference(decision, name, compared=AIDED, baseline=UNAIDED)
        n = min(estimate.n for estimate in of_arms)
        why = next((e.note for e in of_arms if np.isnan(e.value)), "")
        unit = "difference" if share else "score"
        results.append(shared.result("reader_agreement", name, shared.of_both, statistic, n, unit, why))
    return results


def order_effects(shared: Shared) -> list[Result]:
    """Accuracy and time in the second half of each reader's order less the first, and the time's trend."""
    order = shared.grids.get("order")
    if order is None or np.isnan(order).all():
        return []
    results: list[Result] = []
    units: dict[str, Unit] = {"accuracy": "difference", "seconds": "seconds"}
    columns = {"accuracy": shared.grids.get("correct"), "seconds": shared.grids.get("seconds")}
    known = {name: v for name, v in columns.items() if v is not None and not np.isnan(v).all()}
    for name, values in known.items():
        for a in (UNAIDED, AIDED):
            split = halves(order[a], values[a])
            statistic = ratio_difference(split, np.ones_like(split), compared=0, baseline=1)
            where = {**shared.of_arm(a), "parameters": {"comparison": "halves"}}
            n = sum(_counts(split))
            results.append(shared.result("order_effect", name, where, statistic, n, units[name], NO_ORDER))
    for a in (UNAIDED, AIDED) if "seconds" in known else ():
        above, below = trend(order[a], known["seconds"][a])
        where = {**shared.of_arm(a), "parameters": {"comparison": "trend"}}
        n = sum(_counts(above))
        slope = ratio_mean(above, below)
        results.append(shared.result("order_effect", "seconds", where, slope, n, "seconds", NO_ORDER))
    return results
