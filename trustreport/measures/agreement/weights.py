"""How much two labels agree when categories are ordered: 1 for the same, less the further apart."""

from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def linear(n_categories: int) -> Floats:
    """1 - |k - l| / (n_categories - 1): each step costs the same."""
    return 1 - _steps(n_categories) / max(n_categories - 1, 1)


def quadratic(n_categories: int) -> Floats:
    """1 - (k - l)^2 / (n_categories - 1)^2: far disagreements cost most."""
    return 1 - (_steps(n_categories) / max(n_categories - 1, 1)) ** 2


def ordinal(n_categories: int) -> Floats:
    """Gwet's weights for ranks: 1 - C(|k - l| + 1, 2) / C(n_categories, 2), C the binomial coefficient."""
    spans = _steps(n_categories).astype(int)
    pairs = np.array([comb(span + 1, 2) for span in range(n_categories)], float)
    return np.asarray(1 - pairs[spans] / max(pairs[-1], 1.0), np.float64)


def _steps(n_categories: int) -> Floats:
    k = np.arange(n_categories, dtype=float)
    return np.abs(k[:, None] - k)


def check_weights(weights: NDArray[Any], n_categories: int) -> Floats:
    """Refuse weights that are not symmetric in [0, 1] with 1 for the same category."""
    weights = np.asarray(weights, float)
    if weights.shape != (n_categories, n_categories):
        raise ValueError(f"weights must have shape {(n_categories, n_categories)}, got {weights.shape}.")
    if not (weights == weights.T).all() or not (np.diag(weights) == 1).all():
        raise ValueError("weights must be symmetric, with 1 for two labels that are the same.")
    if weights.min() < 0 or weights.max() > 1:
        raise ValueError(f"weights must lie in [0, 1], got {weights.min():g} to {weights.max():g}.")
    return weights
