"""Regimes of the readers' gain by their baseline: quarters of the lowest and highest, and the slope.

The true gain of a quarter is the expected value of the statistic in studies of that many readers and cases:
each chooses its quarters by what it saw, so that regression to the mean is part of it. The mean over many
other studies stands for it. The true slope is that in endless readers who read as many cases.
"""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regimes.of_readers import gaps, read
from regimes.regime import ARMS, LEVEL, Found, Regime
from trustreport.assessment.dimensions.decision_benefit.quarters import QUARTERS, quarter_results
from trustreport.measures.mrmc.quarters import oldham_slope, quarter_gain
from trustreport.study.study import Floats
from trustreport.vocabulary.place import Place

# On a latent scale, a reading being right above 0: mean unaided, gain, and the gain that goes with skill.
MEAN, GAIN, BY_SKILL = 0.8, 0.3, -0.3
READER, OWN, CASE, REST = 0.3, 0.1, 0.6, 0.8  # standard deviations
STUDIES = 4000  # others whose mean stands for the expected value
DESIGNS = ((8, 40, "complete"), (12, 100, "complete"), (20, 60, "complete"), (12, 100, "10% missing"))


def _correct(n_readers: int, n: int, rng: np.random.Generator, studies: int = 1) -> NDArray[np.bool_]:
    """Which readings are right, (studies, 2, n_readers, n_cases), the unaided arm first."""

    def term(*shape: int) -> Floats:
        return rng.standard_normal((studies, *shape), np.float32)

    skill = READER * term(1, n_readers, 1)
    gain = np.array([0.0, 1.0])[:, None, None] * (GAIN + BY_SKILL * skill)
    latent = MEAN + skill + gain + OWN * term(2, n_readers, 1) + CASE * term(1, 1, n)
    found: NDArray[np.bool_] = latent + REST * term(2, n_readers, n) > 0
    return found


@cache
def _true(n_readers: int, n: int, kind: str) -> dict[str, float]:
    rng = np.random.default_rng([n_readers, n])
    found: dict[str, list[float]] = {quarter: [] for quarter in QUARTERS}
    ones = np.ones((1, n_readers)), np.ones((1, n))
    for _ in range(STUDIES // 100):
        for one in _correct(n_readers, n, rng, 100):
            missing = gaps(kind, one.shape, rng)
            correct = np.where(missing, np.nan, one)[::-1]
            for quarter in QUARTERS:
                found[quarter].append(float(quarter_gain(correct, quarter)(*ones)[0]))
    return {f"gain_{quarter}_quarter": float(np.mean(values)) for quarter, values in found.items()}


def baselines() -> Iterator[Regime]:
    """Eight readers and more, who gain the more the lower they begin."""
    for n_readers, n, kind in DESIGNS:

        def study(
            rng: np.random.Generator, n_readers: int = n_readers, n: int = n, kind: str = kind
        ) -> Found:
            (correct,) = _correct(n_readers, n, rng)
            truth = np.arange(n) % 2 == 1
            rating: Any = np.where(correct == truth, 1.0, 0.0)
            readings = read(truth, rating, 0.5, gaps(kind, rating.shape, rng), rng)
            seed = int(rng.integers(2**31))
            for r in quarter_results(readings, (ARMS[1], ARMS[0]), LEVEL, Place(task=""), seed):
                yield r.name, r.estimate

        design = f"{n_readers} readers, {n} cases, {kind}"
        yield Regime("gain by baseline", design, partial(_true, n_readers, n, kind), study, cost=0.1)


def slopes() -> Iterator[Regime]:
    """The slope of the gain on the mean of both values, of few and many readers."""
    for n_readers, n in ((4, 60), (8, 60), (16, 60), (16, 200)):

        def study(rng: np.random.Generator, n_readers: int = n_readers, n: int = n) -> Found:
            (correct,) = _correct(n_readers, n, rng)
            yield "baseline_slope", oldham_slope(*correct.mean(axis=2), level=LEVEL)

        design = f"{n_readers} readers, {n} cases"
        yield Regime("slope on the baseline", design, partial(_true_slope, n), study, cost=0.001)


@cache
def _true_slope(n: int) -> dict[str, float]:
    """Of many studies of a hundred readers each, taken together within studies."""
    rng = np.random.default_rng(n)
    products = np.zeros(2)
    for _ in range(40):
        before, after = np.moveaxis(_correct(100, n, rng, 10).mean(axis=3), 1, 0)
        change, mean = after - before, (after + before) / 2
        change, mean = (x - x.mean(axis=1, keepdims=True) for x in (change, mean))
        products += (change * mean).sum(), (mean**2).sum()
    return {"baseline_slope": float(products[0] / products[1])}
