"""Regimes of how different two sets are, and of whether sites that are less different perform better."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product

import numpy as np

from regimes.regime import LEVEL, Found, Regime
from trustreport.measures.similarity.effect import normalised_energy
from trustreport.measures.similarity.features import standardise
from trustreport.measures.sites.robustness import similarity_performance_correlation
from trustreport.study.study import Floats

FEATURES = 4
AWAY = (0.5, 1.0)  # how far the means of two features are apart, in standard deviations


def _sets(n: int, m: int, away: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    shift = away * (np.arange(FEATURES) < 2)
    return rng.standard_normal((n, FEATURES)), shift + rng.standard_normal((m, FEATURES))


@cache
def _true(away: float) -> dict[str, float]:
    """Mean distances of a million pairs each, between the sets and within them."""
    rng = np.random.default_rng(31)
    shift = away * (np.arange(FEATURES) < 2)
    gap = np.sqrt(2) * rng.standard_normal((1_000_000, FEATURES))
    within, across = (float(np.linalg.norm(pairs, axis=1).mean()) for pairs in (gap, gap + shift))
    return {"similarity_effect": 1 - within / across, "feature_drift": 1 - within / across}


def similarity() -> Iterator[Regime]:
    """Few and many cases of either set, little and much apart."""
    for (n, m), away in product(((60, 40), (200, 100)), AWAY):

        def study(rng: np.random.Generator, n: int = n, m: int = m, away: float = away) -> Found:
            e = normalised_energy(standardise(*_sets(n, m, away, rng)), level=LEVEL)
            yield "similarity_effect", e
            yield "feature_drift", e

        design = f"{n} and {m} cases, {away:g} SD apart"
        yield Regime("effect of similarity", design, partial(_true, away), study, cost=0.005)


def of_sites() -> Iterator[Regime]:
    """Few and many sites, each with its similarity and its performance."""
    for sites, r in product((4, 6, 12), (0.0, 0.5, 0.9)):

        def study(rng: np.random.Generator, sites: int = sites, r: float = r) -> Found:
            alike, own = rng.standard_normal((2, sites))
            e = similarity_performance_correlation(alike, r * alike + np.sqrt(1 - r * r) * own, level=LEVEL)
            yield "similarity_performance_correlation", e

        true = partial(_correlation, r)
        yield Regime("similarity of sites", f"{sites} sites, correlation {r:g}", true, study, cost=0.0001)


def _correlation(r: float) -> dict[str, float]:
    return {"similarity_performance_correlation": r}
