"""How often the intervals over sites of a proportion include the truth: median site, spread, a new site.

Sites of 20 cases each, or of 20, 60 and 200 in turn; their logits are normal with the spread tau about the
logit of the median. Each study has new sites and cases; missed below: the interval ends under the truth.

    python benchmarks/binomial_normal_coverage.py > benchmarks/results/binomial_normal_coverage.csv
"""

from functools import lru_cache
from itertools import product
from math import isnan, sqrt

import numpy as np
from scipy.special import expit, logit

from trustreport.estimate import Estimate
from trustreport.measures.binomial_normal import binomial_normal
from trustreport.measures.robustness import Heterogeneity

RUNS = 400
SITES, SIZES = (3, 4, 6, 10, 20), {"20": (20,), "20-60-200": (20, 60, 200)}
MEDIANS, SPREADS = (0.5, 0.9, 0.98), (0.0, 0.5, 1.0)


@lru_cache(maxsize=100_000)
def pooled(counts: tuple[tuple[int, int], ...]) -> Heterogeneity:
    """The same counts occur again and again where sites are few."""
    events, cases = zip(*counts)
    return binomial_normal(events, cases)


def study(
    rng: np.random.Generator, sites: int, sizes: tuple[int, ...], median: float, tau: float
) -> Heterogeneity:
    """What is found of one study."""
    n = np.resize(sizes, sites)
    x = rng.binomial(n, expit(logit(median) + tau * rng.normal(size=sites)))
    return pooled(tuple(sorted(zip(x.tolist(), n.tolist()))))


def main() -> None:
    """A row for each design and interval."""
    print(
        "sites,cases,median,tau,interval,runs,without,covered,missed_below,missed_above,width,monte_carlo_error"
    )
    for name, sites, median, tau in product(SIZES, SITES, MEDIANS, SPREADS):
        pooled.cache_clear()
        rng = np.random.default_rng([sites, len(SIZES[name]), int(100 * median), int(10 * tau)])
        pairs_of: dict[str, list[tuple[Estimate, float]]] = {"median": [], "tau2": [], "new_site": []}
        for _ in range(RUNS):
            found = study(rng, sites, SIZES[name], median, tau)
            pairs_of["median"].append((found.mean, median))
            pairs_of["tau2"].append((found.tau2, tau**2))
            pairs_of["new_site"].append(
                (found.prediction_interval, expit(logit(median) + tau * rng.normal()))
            )
        for interval, pairs in pairs_of.items():
            known = [(e, truth) for e, truth in pairs if not isnan(e.low)]
            below = sum(e.high < truth for e, truth in known)
            above = sum(e.low > truth for e, truth in known)
            share = 1 - (below + above) / len(known)
            width = np.mean([e.high - e.low for e, _ in known])
            error = sqrt(share * (1 - share) / len(known))
            shown = f"{share:.4f},{below},{above},{width:.4f},{error:.4f}"
            print(f"{sites},{name},{median},{tau},{interval},{RUNS},{RUNS - len(known)},{shown}", flush=True)


if __name__ == "__main__":
    main()
