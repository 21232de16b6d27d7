"""Two candidates on the same cases."""

from math import sqrt

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.special import expit
from scipy.stats import norm

from designs.drawn import Drawn, ask_difference, chosen
from designs.of_scores import FEWEST, scored

NAMES = ("Birch", "Alder")  # the first is compared with the second, as a report has them


def candidates(rng: Generator) -> Drawn:
    """Correlated normal scores; alike, or apart in area and in where the threshold cuts."""
    null, prevalence, n = rng.random() < 0.5, float(rng.uniform(0.2, 0.5)), int(rng.integers(80, 351))
    several, together = rng.random() < 0.4, float(rng.uniform(0.1, 0.85))
    patient = np.sort(rng.integers(0, n // 3, n)) if several else np.arange(n)
    alike = float(rng.uniform(0.1, 0.6)) if several else 0.0
    truth = np.zeros(n, dtype=bool)
    while min(truth.sum(), n - truth.sum()) < FEWEST:
        truth = rng.random(n) < prevalence
    apart = np.full(2, rng.uniform(0.9, 2.2))
    cut = apart / 2 + rng.uniform(-0.3, 0.3)
    if not null:
        apart = apart + np.array([0.0, rng.uniform(-0.4, 0.4)])
        cut = cut + np.array([0.0, rng.uniform(-0.2, 0.2)])

    def noise(m: int) -> np.ndarray:
        shared, own = rng.standard_normal(m), rng.standard_normal((2, m))
        return sqrt(together) * shared + sqrt(1 - together) * own

    score = sqrt(alike) * noise(n)[:, patient] + sqrt(1 - alike) * noise(n)
    score = score + apart[:, None] * truth - cut[:, None]
    frames = [
        pd.DataFrame(
            {
                "case": [f"C{i}" for i in range(n)],
                "dataset": "test",
                "candidate": name,
                "truth": truth.astype(int),
                "score": expit(score[i]),
                "patient": [f"P{p}" for p in patient],
            }
        )
        for i, name in enumerate(NAMES)
    ]
    drawn = scored(
        pd.concat(frames, ignore_index=True), 0.5, candidates=[{"candidate": name} for name in NAMES]
    )
    sensitivity, specificity = norm.cdf(apart - cut), norm.cdf(cut)
    of = {
        "auc": norm.cdf(apart / sqrt(2)),
        "sensitivity": sensitivity,
        "specificity": specificity,
        "accuracy": prevalence * sensitivity + (1 - prevalence) * specificity,
    }
    for name in chosen(rng, list(of), 3):
        change = 0.0 if null else float(of[name][0] - of[name][1])
        ask_difference(drawn, rng, f"candidates.{name}_difference", change, arm_or_contrast=list(NAMES))
    return drawn
