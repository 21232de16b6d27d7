"""Regimes of calibration after an update at the place, tested on other cases of it.

The true values are those of the procedure at this size: updates fitted to four fifths of as many cases, each
tested on other cases of the place, all taken together.
"""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np
from scipy.special import expit, logit

from regimes.of_cases import risks
from regimes.regime import LEVEL, Found, Regime
from trustreport.measures.calibration.recalibrated import MEASURES, UPDATES, recalibrated
from trustreport.study.study import Floats

OTHERS, TESTED = 1000, 1000  # updates fitted, and cases that each is tested on, for the true values
NAMES = {(update, name): f"recalibrated_{name}, {update}" for update in UPDATES for name in MEASURES}


def recalibration() -> Iterator[Regime]:
    """Few and many cases, the condition rare and not; cases alone and in patients."""
    for n, prevalence in product((100, 300), (0.15, 0.35)):
        yield _regime(n, 1, prevalence)
    for patients, of in ((20, 10), (50, 5)):
        yield _regime(patients, of, 0.35)


def _regime(patients: int, of: int, prevalence: float) -> Regime:
    def study(rng: np.random.Generator) -> Found:
        truth, score, patient = risks(patients * of, prevalence, rng, patients if of > 1 else 0)
        for update in UPDATES:
            found = recalibrated(truth, score, update, rng=rng, cluster=patient, level=LEVEL)
            yield from ((NAMES[update, name], e) for name, e in found.items())

    cases = f"{patients} patients of {of} cases" if of > 1 else f"{patients} cases"
    topic = "after recalibration in clusters" if of > 1 else "after recalibration"
    true = partial(_true, patients, of, prevalence)
    # Twenty of the scarcer class are needed by the update of the slope.
    due = patients * of * prevalence >= 30 and patients * (1 - (1 - prevalence) ** of) >= 20
    return Regime(topic, f"{cases}, prevalence {prevalence:g}", true, study, due=due, cost=0.2)


@cache
def _true(patients: int, of: int, prevalence: float) -> dict[str, float]:
    rng = np.random.default_rng([patients, of])
    kept = OTHERS * (4 * patients // 5)
    truth, score, _ = risks(kept * of, prevalence, rng, kept if of > 1 else 0)
    new, shown, _ = risks(OTHERS * TESTED, prevalence, rng, OTHERS * TESTED if of > 1 else 0)
    fitted, tested = logit(score).reshape(OTHERS, -1), logit(shown).reshape(OTHERS, TESTED)
    found = {}
    for update in UPDATES:
        a, b = _fit(truth.reshape(OTHERS, -1), fitted, line=update == UPDATES[1])
        predictor = (a[:, None] + b[:, None] * tested).ravel()[None]
        after = expit(predictor[0])
        (intercept,), _ = _fit(new[None], predictor, line=False)
        _, (slope,) = _fit(new[None], predictor, line=True)
        of_update = {
            "oe_ratio": new.sum() / after.sum(),
            "calibration_intercept": intercept,
            "calibration_slope": slope,
            "brier": ((after - new) ** 2).mean(),
        }
        found |= {NAMES[update, name]: float(value) for name, value in of_update.items()}
    return found


def _fit(truth: Floats, x: Floats, *, line: bool) -> tuple[Floats, Floats]:
    """Intercept and slope of each row by Newton's method; the slope is 1 without `line`."""
    a, b = np.zeros(len(x)), np.ones(len(x))
    for _ in range(12):
        p = expit(a[:, None] + b[:, None] * x)
        w, gap = p * (1 - p), truth - p
        g0, i0 = gap.sum(axis=1), w.sum(axis=1)
        if not line:
            a = a + g0 / i0
            continue
        g1, i1, i2 = (gap * x).sum(axis=1), (w * x).sum(axis=1), (w * x * x).sum(axis=1)
        determinant = i0 * i2 - i1 * i1
        a, b = a + (i2 * g0 - i1 * g1) / determinant, b + (i0 * g1 - i1 * g0) / determinant
    return a, b
