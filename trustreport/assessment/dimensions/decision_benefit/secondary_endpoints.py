"""What stands beside the endpoint: time, confidence, predictive values, agreement, and the order of reading.

Means of what was recorded with readings are analysed as a share of right decisions is. The rest has no
formula for readers and cases in general, so that one set of resampled readers and cases serves all of it.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.assessment.dimensions.decision_benefit.results import ID
from trustreport.assessment.performance.reader_analysis import AIDED, FIRST_COVARIANCE, UNAIDED
from trustreport.assessment.performance.reader_endpoints import analysis_of_means
from trustreport.assessment.performance.readers import (
    compared_later,
    correct_decisions,
    patients_of,
    reading_key,
)
from trustreport.measures.agreement.interval import coefficient_interval
from trustreport.measures.agreement.kappa import fleiss_kappa, percent_agreement
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.mrmc.bootstrap import (
    Draws,
    Statistic,
    canonical_order,
    ratio_difference,
    ratio_mean,
)
from trustreport.measures.mrmc.each_reader import Coefficient, agreement_difference
from trustreport.measures.mrmc.obuchowski_rockette import MODES, ObuchowskiRockette
from trustreport.measures.mrmc.period import halves, trend
from trustreport.measures.mrmc.quarters import fit_ratio
from trustreport.measures.note import NO_NOTE, Note, note
from trustreport.measures.seeds import DEFAULT, generator
from trustreport.study.plan import Plan
from trustreport.study.study import Floats, Readings
from trustreport.vocabulary.place import Place
from trustreport.vocabulary.results import Result

COEFFICIENTS: tuple[Coefficient, ...] = ("percent_agreement", "fleiss_kappa")

# Arms read in more sessions than this are not compared session by session.
MOST_SESSIONS = 6

BY_DESIGN = "ustatistic_centred"
NOT_RECORDED = note("not_recorded_in_this_arm")
NO_ORDER = note("no_readings_with_both_order_and")
NOT_IN_BOTH = note("not_recorded_in_both_arms")
MEAN_OF_READERS = note("mean_readers_own_values_whatever_their")
ABSENT = (NOT_RECORDED, NOT_IN_BOTH, NO_ORDER)
NO_SUCH_DECISION = note("no_such_decision_or_no_case")


@dataclass(frozen=True, eq=False)
class SharedGrids:
    """The grids of one task, aided arm first, readers and cases in an order of their own, and the draws.

    Each grid is (2, n_readers, n_cases), NaN where nothing is known. `cluster` (n_cases,) says which cases
    are of one patient, `later` (n_readers,) in which order readers read the arms.
    """

    place: Place
    arms: tuple[str, str]
    level: float
    seed: int
    grids: Mapping[str, Floats]
    truth: NDArray[np.int8]
    cluster: Clusters | None
    draws: Draws
    cases: str
    sessions: tuple[str, ...] = ()
    later: Floats | None = None

    def result(
        self,
        quantity: str,
        endpoint: str,
        place: Place,
        statistic: Statistic,
        n: int,
        why: Note,
        parameters: Mapping[str, Any] | None = None,
    ) -> Result:
        """One primary entry, from the draws that all share."""
        estimate = self.draws.estimate(statistic, n, level=self.level, why_undefined=why)
        return Result(
            f"{ID}.{quantity}",
            place,
            estimate,
            endpoint=endpoint,
            analysis="bootstrap",
            parameters=parameters or {},
            primary=True,
            details={"iterations": len(self.draws.readers), "seed": self.seed},
            cases=self.cases,
        )

    def of_arm(self, arm: int) -> Place:
        return self.place.narrowed(arm=self.arms[arm])

    @property
    def of_both(self) -> Place:
        return self.place.narrowed(arms=self.arms)


def secondary_results(readings: Readings, arms: tuple[str, str], plan: Plan, place: Place) -> list[Result]:
    """Everything besides the endpoint that the readings of a task hold."""
    shared = _shared(readings, arms, plan, place)
    results = reading_means(shared, "mean_seconds", "seconds")
    results += reading_means(shared, "mean_confidence", "confidence")
    if "decision" in shared.grids:
        results += predictive(shared)
        results += agreement(shared)
    return results + order_effects(shared)


def _shared(readings: Readings, arms: tuple[str, str], plan: Plan, place: Place) -> SharedGrids:
    found: dict[str, Floats] = {}
    for name in ("seconds", "confidence", "order", "session"):
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
    patient = patients_of(readings)
    cluster = None if patient is None else patient[cases]
    draws = Draws.drawn(len(readers), truth[cases], generator(seed, ID, readings.task), cluster=cluster)
    grids = {name: grid[:, readers][:, :, cases] for name, grid in found.items()}
    level = plan.report.confidence_level
    seed = DEFAULT if seed is None else seed
    key = reading_key(readings)
    later = compared_later(readings, arms)
    return SharedGrids(
        place,
        arms,
        level,
        seed,
        grids,
        truth[cases],
        cluster,
        draws,
        key,
        readings.sessions,
        None if later is None else later[readers],
    )


def reading_means(shared: SharedGrids, quantity: str, column: str) -> list[Result]:
    """The mean over readings of what was recorded with them, in each arm and the change."""
    values = shared.grids.get(column)
    if values is None or np.isnan(values).all():
        return []
    analysis = analysis_of_means(values, shared.cluster, shared.later)
    n, level = _counts(values), shared.level

    def result(place: Place, held: int, why: Note, by_analysis: Callable[[], dict[str, Estimate]]) -> Result:
        """The leading analysis of a grid; undefined, with the reason, where nothing was recorded."""
        none = {BY_DESIGN: undefined(0, why, level=level, method=BY_DESIGN)}
        name, e = next(iter((by_analysis() if held else none).items()))
        of: dict[str, Any] = {"endpoint": column, "primary": True, "cases": shared.cases}
        return Result(f"{ID}.{quantity}", place, e, analysis=name, **of)

    return [
        *(
            result(shared.of_arm(a), n[a], NOT_RECORDED, partial(analysis.arm_means, a, level))
            for a in (AIDED, UNAIDED)
        ),
        result(shared.of_both, min(n), NOT_IN_BOTH, partial(analysis.differences, level)),
    ]


def _counts(values: Floats) -> list[int]:
    """How many readings of each arm hold a value."""
    return [int(np.count_nonzero(~np.isnan(of_arm))) for of_arm in values]


def predictive(shared: SharedGrids) -> list[Result]:
    """Predictive values over all readings, at the prevalence of the study, and the means of the readers'."""
    decision, correct = shared.grids["decision"], shared.grids["correct"]
    known = ~np.isnan(correct)
    called = {"ppv": known & (decision == 1), "npv": known & (decision == 0)}
    results = []
    for name, of in called.items():
        parts = np.where(of, correct, np.nan), np.where(of, 1.0, np.nan)
        change = ratio_difference(*parts, compared=AIDED, baseline=UNAIDED)
        n, why = _counts(parts[0]), NO_SUCH_DECISION
        for a in (AIDED, UNAIDED):
            of_arm, where = ratio_mean(*parts, a), shared.of_arm(a)
            results.append(shared.result("arm_mean", name, where, of_arm, n[a], why))
        results.append(shared.result("arm_difference", name, shared.of_both, change, min(n), why))
        fit = fit_ratio(np.where(of, correct, 0.0), of.astype(np.float64)) if known.all() else None
        results += _readers_mean(shared, name, fit) if fit else []
    return results


def _readers_mean(shared: SharedGrids, name: str, fit: ObuchowskiRockette) -> Iterator[Result]:
    """The mean of the readers' own values, with the intervals of Obuchowski-Rockette."""
    level = shared.level
    for mode in MODES:
        found = [
            ("arm_mean", shared.of_arm(a), fit.arm_mean(a, mode=mode, level=level)) for a in (AIDED, UNAIDED)
        ]
        change = fit.difference(AIDED, UNAIDED, mode=mode, level=level)
        for quantity, place, e in [*found, ("arm_difference", shared.of_both, change)]:
            e = replace(e, note=e.note + MEAN_OF_READERS)
            analysis = f"{mode}_{FIRST_COVARIANCE}"
            yield Result(f"{ID}.{quantity}", place, e, endpoint=name, analysis=analysis, cases=shared.cases)


def agreement(shared: SharedGrids) -> list[Result]:
    """How far these readers agree with each other in each arm, and the change for readers in general."""
    decision = shared.grids["decision"]
    if decision.shape[1] < 2:
        return []
    codes = np.where(np.isnan(decision), -1, decision).astype(np.int8)
    results = []
    for name in COEFFICIENTS:
        of_arms = [_agreement(name, codes[a].T, shared) for a in (AIDED, UNAIDED)]
        for a, estimate in zip((AIDED, UNAIDED), of_arms):
            of: dict[str, Any] = {"endpoint": name, "primary": True, "cases": shared.cases}
            results.append(Result(f"{ID}.reader_agreement", shared.of_arm(a), estimate, **of))
        statistic = agreement_difference(decision, name, compared=AIDED, baseline=UNAIDED)
        n = min(estimate.n for estimate in of_arms)
        why = next((e.note for e in of_arms if np.isnan(e.value)), NO_NOTE)
        results.append(shared.result("reader_agreement", name, shared.of_both, statistic, n, why))
    return results


def _agreement(name: Coefficient, codes: NDArray[np.int8], shared: SharedGrids) -> Estimate:
    level, cluster = shared.level, shared.cluster
    if name == "percent_agreement":
        return percent_agreement(codes, 2, interval="score", cluster=cluster, level=level)
    return coefficient_interval(
        fleiss_kappa(codes, 2, cluster=cluster, level=level), codes, 2, cluster=cluster
    )


def order_effects(shared: SharedGrids) -> list[Result]:
    """What changes in the course of reading: between halves and sessions, and seconds by reading."""
    columns = {"accuracy": shared.grids.get("correct"), "seconds": shared.grids.get("seconds")}
    known = {name: v for name, v in columns.items() if v is not None and not np.isnan(v).all()}
    order, results = shared.grids.get("order"), []
    if order is not None and not np.isnan(order).all():
        for name, values in known.items():
            for a in (UNAIDED, AIDED):
                split = halves(order[a], values[a])
                results.append(_effect(shared, name, a, split, {"comparison": "halves"}, NO_ORDER))
        for a in (UNAIDED, AIDED) if "seconds" in known else ():
            above, below = trend(order[a], known["seconds"][a])
            chosen = {"comparison": "trend"}
            n, slope = sum(_counts(above)), ratio_mean(above, below)
            place = shared.of_arm(a)
            results.append(shared.result("order_effect", "seconds", place, slope, n, NO_ORDER, chosen))
    return [*results, *session_effects(shared, known)]


def session_effects(shared: SharedGrids, known: Mapping[str, Floats]) -> Iterator[Result]:
    """Each session less the first that the arm was read in; none for an arm that was read in one."""
    session = shared.grids.get("session")
    if session is None:
        return
    for name, values in known.items():
        for a in (UNAIDED, AIDED):
            held = np.unique(session[a][~np.isnan(session[a]) & ~np.isnan(values[a])]).astype(int)
            if 2 <= len(held) <= MOST_SESSIONS:
                for later in held[1:]:
                    split = np.stack([np.where(session[a] == s, values[a], np.nan) for s in (later, held[0])])
                    pair = {"session": shared.sessions[later], "against": shared.sessions[held[0]]}
                    chosen = {"comparison": "sessions", **pair}
                    yield _effect(shared, name, a, split, chosen, NO_ORDER)


def _effect(
    shared: SharedGrids, name: str, arm: int, split: Floats, chosen: Mapping[str, Any], why: Note
) -> Result:
    """The mean of the first layer of readings less that of the second, (2, n_readers, n_cases)."""
    statistic = ratio_difference(split, np.ones_like(split), compared=0, baseline=1)
    n = sum(_counts(split))
    return shared.result("order_effect", name, shared.of_arm(arm), statistic, n, why, chosen)
