"""Regimes of published tables: studies that differ, pooled."""

from collections.abc import Iterator

import numpy as np
from scipy.special import expit, logit

from regimes.regime import Found, Regime, Truths, plan
from trustreport.dimensions.reported.pooled import pools_of
from trustreport.plan import Confusion
from trustreport.study import Study

SPECIFICITY = 0.85
TOGETHER = 0.6  # correlation of logit sensitivity and logit false positive rate between studies
WANTED = ("pooled_sensitivity", "pooled_specificity")


def pooled_studies() -> Iterator[Regime]:
    """Few and many studies, small and large, alike and different: the mean of both."""
    for k in (3, 4, 6, 12, 25):
        for low, high in ((15, 60), (40, 300)):
            for sensitivity in (0.8, 0.95):
                for spread in (0.0, 0.5, 1.0):
                    yield _regime(k, low, high, sensitivity, spread)


def _regime(k: int, low: int, high: int, sensitivity: float, spread: float) -> Regime:
    declared = plan(pools=[{"pool": "all"}])

    def study(rng: np.random.Generator) -> Found:
        cases = np.exp(rng.uniform(np.log(low), np.log(high), (2, k))).astype(int)
        z = rng.normal(size=(2, k))
        other = TOGETHER * z[0] + np.sqrt(1 - TOGETHER**2) * z[1]
        tp = rng.binomial(cases[0], expit(logit(sensitivity) + spread * z[0]))
        fp = rng.binomial(cases[1], expit(logit(1 - SPECIFICITY) + spread * other))
        sets = tuple(
            Confusion(set=str(i), tp=a, fp=b, fn=n - a, tn=m - b)
            for i, (a, b, n, m) in enumerate(np.array([tp, fp, *cases]).T.tolist())
        )
        (pool,) = pools_of(Study(confusion=sets), declared)
        return [(id, pool.result(id).estimate) for id in WANTED]

    def true() -> Truths:
        return {"pooled_sensitivity": sensitivity, "pooled_specificity": SPECIFICITY}

    design = f"{k} studies of {low}-{high} a class, sensitivity {sensitivity:g}, spread {spread:g}"
    return Regime("pooled studies", design, true, study, cost=0.5)
