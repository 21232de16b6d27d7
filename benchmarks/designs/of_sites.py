"""External sites, drawn from many: equal ones, and some much larger than others."""

from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from scipy.special import expit, logit
from scipy.stats import norm

from designs.drawn import Drawn, ask_values
from designs.of_scores import scored, table


def sites(rng: Generator) -> Drawn:
    """Of each site logit AUC, and logit sensitivity or specificity, is normal; its cases are binormal."""
    number, unequal = int(rng.integers(4, 13)), rng.random() < 0.5
    by = "sensitivity" if rng.random() < 0.5 else "specificity"
    true = {"auc": float(rng.uniform(0.72, 0.92)), by: float(rng.uniform(0.7, 0.93))}
    spread = {name: rng.uniform(0.1, 0.6) for name in true}
    at = {
        name: expit(logit(value) + spread[name] * rng.standard_normal(number)) for name, value in true.items()
    }
    prevalence, parts = rng.uniform(0.25, 0.5), []
    for i in range(number):
        n = int(np.exp(rng.normal(4.4, 0.7))) if unequal else 90
        truth = np.arange(max(n, 40)) < max(round(prevalence * max(n, 40)), 8)
        apart, of_class = sqrt(2) * norm.ppf(at["auc"][i]), norm.ppf(at[by][i])
        low = of_class - apart if by == "sensitivity" else -of_class  # mean of negatives; the threshold is 0
        score = expit(rng.standard_normal(len(truth)) + low + apart * truth)
        cases = table(truth, score, site=f"S{i}")
        parts.append(cases.assign(case=f"S{i} " + cases["case"]))
    drawn = scored(pd.concat(parts, ignore_index=True), 0.5)
    for name, value in true.items():
        where: dict[str, Any] = {"of": name, "population": "typical site"}
        ask_values(drawn, rng, {"pooled_performance": value}, "potential_robustness.", **where)
    return drawn
