"""Made data of a size: arrays by name, the same for both sides."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Inputs = Mapping[str, NDArray[Any]]
RATERS, CATEGORIES, FEATURES = 5, 4, 5


def scored(n: int, rng: np.random.Generator) -> Inputs:
    """Truth of one in five, a risk without ties, and the decision from .5 on."""
    truth = rng.random(n) < 0.2
    truth[:2] = True, False
    score = 1 / (1 + np.exp(-(rng.standard_normal(n) + 1.5 * truth - 0.7)))
    return {"truth": truth, "score": score, "decision": score >= 0.5}


def two_raters(n: int, rng: np.random.Generator) -> Inputs:
    """Labels of two raters, four categories."""
    first = rng.integers(CATEGORIES, size=n)
    second = np.where(rng.random(n) < 0.7, first, rng.integers(CATEGORIES, size=n))
    return {"first": first, "second": second}


def rated(n: int, rng: np.random.Generator) -> Inputs:
    """Labels of five raters, four categories, a tenth of them missing (-1)."""
    codes = full(n, rng)["codes"].copy()
    codes[rng.random(codes.shape) < 0.1] = -1
    return {"codes": codes}


def full(n: int, rng: np.random.Generator) -> Inputs:
    """Labels of five raters, four categories, none missing."""
    own = rng.integers(CATEGORIES, size=(n, 1))
    other = rng.integers(CATEGORIES, size=(n, RATERS))
    return {"codes": np.where(rng.random((n, RATERS)) < 0.7, own, other)}


def points(n: int, rng: np.random.Generator) -> Inputs:
    """Features of n / 2 training and n / 2 external cases; these are shifted a little, less so if many."""
    half = n // 2
    training, external = rng.standard_normal((2, half, FEATURES))
    return {"training": training, "external": external + 1.2 / np.sqrt(half * FEATURES)}


def counts(n: int, rng: np.random.Generator) -> Inputs:
    """Events among n cases; pairs of decisions of which one is right."""
    return {"events": np.array([rng.binomial(n, 0.23)]), "cases": np.array([n])}


def planned(n: int, rng: np.random.Generator) -> Inputs:
    """One event in n cases."""
    return {"prevalence": np.array([1 / n])}


def reported(n: int, rng: np.random.Generator) -> Inputs:
    """Positives, negatives, and accuracy, sensitivity and specificity of one table, in ten thousandths."""
    positives = 3 * n // 10
    negatives = n - positives
    tp, tn = rng.binomial(positives, 0.83), rng.binomial(negatives, 0.91)
    figures = np.array([(tp + tn) / n, tp / positives, tn / negatives])
    return {"classes": np.array([positives, negatives]), "figures": np.round(10_000 * figures).astype(int)}


MAKERS: Mapping[str, Callable[[int, np.random.Generator], Inputs]] = {
    maker.__name__: maker for maker in (scored, two_raters, rated, full, points, counts, planned, reported)
}
