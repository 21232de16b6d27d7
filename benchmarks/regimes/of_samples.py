"""Regimes of cases that are no plain sample: drawn with known chances, or verified by their decision."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from regimes.of_cases import dataset
from regimes.regime import LEVEL, Found, Regime, plan
from trustreport.assessment.performance import weighted
from trustreport.assessment.performance.cases import scored_cases
from trustreport.assessment.performance.measures import lead
from trustreport.measures.confusion.partial_verification import Name, PartlyVerified, begg_greenes
from trustreport.study.study import Floats, Study

AT = 0.3  # the threshold, and below which fewer cases are drawn
NAMES: tuple[Name, ...] = ("sensitivity", "specificity")
DRAWN = 0.25  # chance of a case below it; the others are all drawn


def _population(n: int, rng: np.random.Generator) -> tuple[NDArray[Any], Floats]:
    """Truth and risk: well calibrated but for too little spread."""
    seen = rng.normal(-1.0, 1.2, n)
    return rng.random(n) < expit(1.2 * seen), expit(seen)


@cache
def _true() -> dict[str, float]:
    truth, risk = _population(2_000_000, np.random.default_rng(4))
    (case,) = scored_cases(Study(datasets=(dataset(truth, risk),)), plan(operating_point={"threshold": AT}))
    names = "sensitivity specificity ppv npv accuracy prevalence auc brier oe_ratio".split()
    found = {f"weighted_{name}": lead(case, name, LEVEL).value for name in names}
    gain = np.where(risk >= AT, np.where(truth, 1.0, -AT / (1 - AT)), 0.0)
    corrected = {f"corrected_{name}": found[f"weighted_{name}"] for name in NAMES}
    return {**found, **corrected, "weighted_net_benefit": float(gain.mean())}


def samples() -> Iterator[Regime]:
    """Weighted cases, and cases of which those called negative are verified in part."""
    for n, drawn in ((300, DRAWN), (1000, DRAWN), (1000, 1 / 20), (2000, 1 / 50), (4000, 1 / 50)):

        def study(rng: np.random.Generator, n: int = n, drawn: float = drawn) -> Found:
            truth, risk = _population(n, rng)
            kept = (risk >= AT) | (rng.random(n) < drawn)
            truth, risk = truth[kept], risk[kept]
            made = dataset(truth, risk)
            numbers = {"weight": np.where(risk >= AT, 1.0, 1 / drawn)}
            made = replace(made, cases=replace(made.cases, numbers=numbers))
            (case,) = scored_cases(Study(datasets=(made,)), plan(operating_point={"threshold": AT}))
            of = weighted.of_decisions, weighted.of_ranks, weighted.of_risks
            yield from ((f"weighted_{name}", e) for one in of for name, e in one(case, LEVEL))
            benefit = weighted.of_net_benefit(case, AT, LEVEL)
            assert benefit is not None
            yield "weighted_net_benefit", benefit

        true = partial(_part, "weighted_")
        # A fifth of positives have a low score; of those ten are to be drawn.
        due, often = n * 0.06 * drawn >= 20, f", low scores 1 in {1 / drawn:g}" if drawn < DRAWN else ""
        design = f"{n} cases, of which about half are drawn{often}"
        yield Regime("weighted", design, true, study, due=due or drawn == DRAWN, cost=0.01)
    for n, share in product((300, 1000), (0.1, 0.4)):

        def verified(rng: np.random.Generator, n: int = n, share: float = share) -> Found:
            truth, risk = _population(n, rng)
            called = risk >= AT
            known = rng.random(n) < np.where(called, 0.9, share)
            counts = PartlyVerified.of_decisions(np.where(known, truth, -1).astype(np.int8), called)
            yield from ((f"corrected_{name}", begg_greenes(name, counts, level=LEVEL)) for name in NAMES)

        true = partial(_part, "corrected_")
        design = f"{n} cases, {share:.0%} of those called negative verified"
        yield Regime("partly verified", design, true, verified, due=n * share >= 100, cost=0.001)


def _part(prefix: str) -> dict[str, float]:
    return {name: value for name, value in _true().items() if name.startswith(prefix)}
