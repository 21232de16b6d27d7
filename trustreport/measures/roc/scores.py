"""Scores of positives and negatives, checked and split."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.order import Order

Floats = NDArray[np.float64]


def check_scores(truth: NDArray[np.bool_], *scores: NDArray[Any]) -> None:
    """Refuse arrays that are not one number per case; NaN is no score."""
    for score in scores:
        if truth.ndim != 1 or score.shape != truth.shape:
            raise ValueError(
                "truth and score must have one entry per case each, "
                f"got shapes {truth.shape} and {score.shape}."
            )
        if score.dtype.kind == "f" and np.isnan(score).any():
            raise ValueError(
                f"{int(np.isnan(score).sum())} of {score.size} scores are missing: leave these cases out, "
                "or count them as indeterminate."
            )


def split(truth: NDArray[np.bool_], score: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Scores of the positives and of the negatives, in the order of the cases."""
    check_scores(truth, score)
    return score[truth], score[~truth]


def split_sorted(
    truth: NDArray[np.bool_], score: NDArray[Any], order: Order
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The same, the lowest score first; `order` is `ascending(score)`."""
    check_scores(truth, score)
    return score[order[truth[order]]], score[order[~truth[order]]]
