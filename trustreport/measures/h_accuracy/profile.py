"""H-accuracy over one of its parameters: values along a range of tau, of priority, of complex cases."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.h_accuracy.measure import credits_of, h_accuracy
from trustreport.measures.h_accuracy.parameters import hardest

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Profile:
    """Values with pointwise limits along one parameter, (n_points,) each; NaN where undefined."""

    at: Floats
    value: Floats
    low: Floats
    high: Floats


def over_tau(
    truth: NDArray[np.int64],
    scores: Floats,
    taus: Sequence[float] | Floats,
    *,
    priority: Sequence[float] | None = None,
    complexity: Floats | None = None,
) -> Floats:
    """Ha at each confidence threshold, everything else fixed; does not rise.

    Parameters as in `h_accuracy`; NaN where a class with priority has no case or no complexity.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.2, 0.8]])
    >>> over_tau(np.array([0, 0, 1, 1]), scores, [0.5, 0.8, 0.9])
    array([0.75 , 0.75 , 0.625])
    """
    of_class = [class_credits(truth, scores, tau, complexity) for tau in taus]
    k = scores.shape[1]
    weights = np.full(k, 1 / k) if priority is None else np.asarray(priority, float)
    used = weights > 0
    return np.array([float(credit[used] @ weights[used]) for credit in of_class])


def class_credits(
    truth: NDArray[np.int64], scores: Floats, tau: float, complexity: Floats | None = None
) -> Floats:
    """What is earned in each class, in [0, 1], shape (n_classes,); Ha weighs these by the priorities.

    >>> class_credits(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]]), 0.5)
    array([1. , 0.5])
    """
    credit = credits_of(truth, scores, tau)
    difficulty = np.ones(len(truth)) if complexity is None else complexity
    k = scores.shape[1]
    earned = np.bincount(truth, weights=difficulty * credit, minlength=k)
    most = np.bincount(truth, weights=difficulty, minlength=k)
    return np.where(most > 0, earned / np.where(most > 0, most, 1), np.nan)


def over_priority(
    truth: NDArray[np.int64],
    scores: Floats,
    priorities: Sequence[float] | Floats,
    *,
    rng: np.random.Generator,
    tau: float | None = None,
    complexity: Floats | None = None,
    cluster: Clusters | None = None,
    resamples: int = 1000,
    level: float = 0.95,
) -> Profile:
    """Ha of two classes at each priority of the positive one, with its bootstrap interval; a straight line.

    Parameters
    ----------
    priorities : floats in [0, 1]
        Priority of the positive class; that of the negative one is what it leaves.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.2, 0.8]])
    >>> over_priority(np.array([0, 0, 1, 1]), scores, [0, 1], rng=np.random.default_rng(1)).value
    array([0.5, 1. ])
    """
    rows = []
    for p in priorities:
        one = h_accuracy(
            truth, scores, rng=rng, tau=tau, priority=[1 - p, p], complexity=complexity,
            cluster=cluster, resamples=resamples, level=level,
        )  # fmt: skip
        rows.append((one.value, one.low, one.high))
    value, low, high = np.array(rows).T
    return Profile(np.asarray(priorities, float), value, low, high)


def over_complex_share(
    truth: NDArray[np.int64],
    scores: Floats,
    complexity: Floats,
    shares: Sequence[float] | Floats,
    priorities: Sequence[float] | Floats,
    *,
    tau: float | None = None,
) -> Floats:
    """Ha when only the most complex share of the cases counts, at each priority of the positive class.

    Equally complex cases count together. Share 1 is the prioritised accuracy over all cases.

    Parameters
    ----------
    shares : floats in (0, 1]
    priorities : floats in [0, 1]

    Returns
    -------
    float array, shape (n_shares, n_priorities)
        NaN where no case of a class with priority is among the most complex.

    References
    ----------
    Cabitza, Campagner (2019), "Who wants accurate models?", arXiv:1910.09246, figure 2 (there the complex
    cases are drawn at random).

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.6, 0.4]])
    >>> over_complex_share(
    ...     np.array([0, 0, 1, 1]), scores, np.array([0.1, 0.9, 0.2, 0.8]), [0.5, 1], [0, 1]
    ... )
    array([[0. , 0. ],
           [0.5, 0.5]])
    """
    p = np.asarray(priorities, float)
    rows = []
    for share in shares:
        counted = hardest(complexity, share)
        negative, positive = class_credits(truth, scores, 0.5 if tau is None else tau, counted)
        with np.errstate(invalid="ignore"):
            row = np.where(p < 1, (1 - p) * negative, 0) + np.where(p > 0, p * positive, 0)
        rows.append(row)
    return np.array(rows)
