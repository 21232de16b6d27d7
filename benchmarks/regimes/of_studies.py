"""Regimes of published tables: studies that differ, pooled."""

from collections.abc import Iterator

import numpy as np
from scipy.special import expit, logit

from regimes.regime import Found, Regime, Truths, less, plan
from trustreport.assessment.dimensions.reported.pooled import pools_of
from trustreport.measures.sites.pooling import OUTCOMES
from trustreport.study.plan import Confusion
from trustreport.study.study import Study

SPECIFICITY = 0.85
TOGETHER = 0.6  # correlation of logit sensitivity and logit false positive rate between studies
THREE, FEW = 3, 6
SMALL, LARGE = (15, 60), (40, 300)  # cases of a class, from and to
# Studies, their size, sensitivity, spread between studies on the logit scale.
DESIGNS = (
    (3, SMALL, 0.8, 0.5),
    (4, LARGE, 0.95, 1.0),
    (6, SMALL, 0.95, 0.5),
    (6, LARGE, 0.8, 0.5),
    (12, SMALL, 0.8, 0.0),
    (12, SMALL, 0.95, 1.0),
    (25, SMALL, 0.95, 0.5),
    (25, LARGE, 0.8, 0.5),
)


def pooled_studies() -> Iterator[Regime]:
    """Few and many studies, small and large, alike and different: the means, and how far studies differ."""
    for k, (low, high), sensitivity, spread in DESIGNS:
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
        primary = (r for r in pool.results if r.primary)
        found = [(", ".join(filter(None, (r.name, r.endpoint))), r.estimate) for r in primary]
        more = rng.normal(size=2)
        together = TOGETHER * more[0] + np.sqrt(1 - TOGETHER**2) * more[1]
        new = {
            "prediction_interval, sensitivity": float(expit(logit(sensitivity) + spread * more[0])),
            "prediction_interval, specificity": float(expit(logit(SPECIFICITY) - spread * together)),
        }
        return [(name, less(e, new[name]) if name in new else e) for name, e in found]

    def true() -> Truths:
        means = {"pooled_sensitivity": sensitivity, "pooled_specificity": SPECIFICITY}
        spreads = {f"between_study_variance, {of}": spread**2 for of in OUTCOMES}
        # Of sensitivity and specificity: the sign of the false positive rate, turned.
        new = {f"prediction_interval, {of}": 0.0 for of in OUTCOMES}
        together = spread > 0 and k > THREE  # of three studies sensitivity and specificity are pooled apart
        return means | spreads | new | ({"between_study_correlation": -TOGETHER} if together else {})

    design = f"{k} studies of {low}-{high} a class, sensitivity {sensitivity:g}, spread {spread:g}"
    due = k > FEW or low > SMALL[0]  # a correlation needs spread that is found
    return Regime("pooled studies", design, true, study, due=due, cost=0.2)
