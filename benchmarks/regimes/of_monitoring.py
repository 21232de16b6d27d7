"""Regimes of watching over time: rates of events, times, and changes at the case mix of the baseline."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson

from regimes.regime import LEVEL, Found, Regime
from trustreport.measures.monitoring.rates import event_rate, median
from trustreport.measures.monitoring.standardisation import clustered_standardised_change, standardised_change

EXPOSURE = 1000
EASY, HARD = 0.92, 0.7  # share of right decisions by stratum
MIX = (0.7, 0.4)  # share of easy cases in the baseline and now


def monitoring() -> Iterator[Regime]:
    """Few and many events; skewed times; strata whose mix has changed, patients with one case and several."""
    for events in (1, 3, 10, 30):

        def outcomes(events: int = events) -> Iterator[tuple[float, Found]]:
            for k in range(int(poisson.isf(1e-9, events)) + 1):
                yield float(poisson.pmf(k, events)), [("event_rate", event_rate(k, EXPOSURE, level=LEVEL))]

        true = {"event_rate": events / EXPOSURE}
        design = f"{events} events expected in {EXPOSURE:,} cases"
        yield Regime("event rate", design, partial(dict, true), outcomes=outcomes)
    for n in (20, 60):

        def times(rng: np.random.Generator, n: int = n) -> Found:
            yield "median of times", median(rng.lognormal(3, 0.6, n), level=LEVEL)

        yield Regime(
            "times", f"{n} readings", partial(dict, {"median of times": float(np.exp(3))}), times, cost=0.001
        )
    for n, of in product((60, 200), (1, 4)):
        yield _standardised(n, of)


def _standardised(n: int, of: int) -> Regime:
    """Two sets whose share of easy cases differs; the share right in either stratum is alike."""

    def half(rng: np.random.Generator, easy: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        patient = np.repeat(np.arange(n), of)
        stratum = (rng.random(n * of) >= easy).astype(int)
        skill = rng.normal(0, 0.5, n)[patient] if of > 1 else 0.0
        chance = np.array([EASY, HARD])[stratum]
        shifted = 1 / (1 + np.exp(-np.log(chance / (1 - chance)) - skill))
        return rng.random(n * of) < shifted, stratum, patient

    def study(rng: np.random.Generator) -> Found:
        then, now = (half(rng, easy) for easy in MIX)
        if of == 1:
            tallies = [
                counts
                for right, stratum, _ in (now, then)
                for counts in (np.bincount(stratum, right, 2), np.bincount(stratum, minlength=2))
            ]
            yield "standardised_change", standardised_change(*tallies, level=LEVEL)
            return
        right, stratum, patient = then
        apart = right, stratum, patient + n  # a patient is in one set
        yield "standardised_change", clustered_standardised_change(*now, *apart, level=LEVEL)

    cases = f"{n} patients of {of} cases" if of > 1 else f"{n} cases"
    true = partial(dict, {"standardised_change": 0.0})
    return Regime("change at the baseline's mix", f"{cases} in each", true, study, cost=0.002)
