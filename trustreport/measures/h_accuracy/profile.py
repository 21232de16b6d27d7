"""H-accuracy over one of its parameters: values along a range of tau, of priority, of complex cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate
from trustreport.measures.h_accuracy.measure import (
    FEW_CREDITED,
    CaseWeights,
    averaged,
    credits_of,
    h_accuracy,
)

Floats = NDArray[np.float64]
Classes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Profile:
    """Values with pointwise limits along one parameter, (n_points,) each; NaN where undefined."""

    at: Floats
    value: Floats
    low: Floats
    high: Floats


def over_tau(
    truth: Classes,
    scores: Floats,
    taus: Sequence[float] | Floats,
    *,
    priority: Sequence[float] | None = None,
    complexity: Floats | None = None,
    called: Classes | None = None,
) -> Floats:
    """Ha at each confidence threshold, everything else fixed; does not rise.

    Parameters as in `h_accuracy`; NaN where a class with priority has no case or no complexity.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.2, 0.8]])
    >>> over_tau(np.array([0, 0, 1, 1]), scores, [0.5, 0.8, 0.9])
    array([0.75 , 0.75 , 0.625])
    """
    of_class = [class_credits(truth, scores, tau, complexity, called) for tau in taus]
    k = scores.shape[1]
    weights = np.full(k, 1 / k) if priority is None else np.asarray(priority, float)
    used = weights > 0
    return np.array([float(credit[used] @ weights[used]) for credit in of_class])


def class_credits(
    truth: Classes,
    scores: Floats,
    tau: float | None,
    complexity: Floats | None = None,
    called: Classes | None = None,
) -> Floats:
    """What is earned in each class, in [0, 1], shape (n_classes,); Ha weighs these by the priorities.

    >>> class_credits(np.array([0, 1, 1]), np.array([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]]), 0.5)
    array([1. , 0.5])
    """
    credit = credits_of(truth, scores, tau, called)
    difficulty = np.ones(len(truth)) if complexity is None else complexity
    k = scores.shape[1]
    earned = np.bincount(truth, weights=difficulty * credit, minlength=k)
    most = np.bincount(truth, weights=difficulty, minlength=k)
    return np.where(most > 0, earned / np.where(most > 0, most, 1), np.nan)


def over_priority(
    truth: Classes,
    scores: Floats,
    priorities: Sequence[float] | Floats,
    *,
    rng: np.random.Generator,
    tau: float | None = None,
    complexity: Floats | None = None,
    called: Classes | None = None,
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
            called=called, cluster=cluster, resamples=resamples, level=level,
        )  # fmt: skip
        rows.append((one.value, one.low, one.high))
    value, low, high = np.array(rows).T
    return Profile(np.asarray(priorities, float), value, low, high)


def over_complex_mix(
    truth: Classes,
    scores: Floats,
    hard: NDArray[np.bool_],
    shares: Sequence[float] | Floats,
    *,
    rng: np.random.Generator,
    tau: float | None = None,
    priority: Sequence[float] | None = None,
    called: Classes | None = None,
    cluster: Clusters | None = None,
    resamples: int = 500,
    level: float = 0.95,
) -> Profile:
    """Ha that is expected of a mix in which a share of the cases of each class is complex, drawn at random.

    With C(l) and S(l) the mean credit of the complex and of the other cases of class l, q the share::

        sum over classes l of p(l) * (q C(l) + (1 - q) S(l))

    which is what the mean over random draws tends to. A straight line in q.

    Parameters
    ----------
    hard : bool array, shape (n_cases,)
        Which cases are complex.
    shares : floats in [0, 1]

    Other parameters as in `h_accuracy`. Cases are drawn again within class and complexity.

    References
    ----------
    Cabitza, Campagner (2019), "Who wants accurate models?", arXiv:1910.09246, figures 2 and 3. How the draws
    of the source were made is not said; its curve is not straight.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.6, 0.4]])
    >>> hard, rng = np.array([False, True, False, True]), np.random.default_rng(1)
    >>> over_complex_mix(np.array([0, 0, 1, 1]), scores, hard, [0, 0.25, 1], rng=rng).value
    array([1.  , 0.75, 0.  ])
    """
    k = scores.shape[1]
    of_class = np.full(k, 1 / k) if priority is None else np.asarray(priority, float)
    credit = credits_of(truth, scores, tau, called)
    stratum, equal = 2 * truth + hard, np.ones(len(truth))
    rows = []
    for share in shares:
        weights = np.stack([(1 - share) * of_class, share * of_class], axis=1).ravel()
        given = CaseWeights(stratum, weights, equal, cluster)
        one = averaged(credit, given, FEW_CREDITED, resamples, rng, level)
        rows.append((one.value, one.low, one.high))
    value, low, high = np.array(rows).T
    return Profile(np.asarray(shares, float), value, low, high)


def mix_surface(
    truth: Classes,
    scores: Floats,
    hard: NDArray[np.bool_],
    shares: Sequence[float] | Floats,
    priorities: Sequence[float] | Floats,
    *,
    tau: float | None = None,
    called: Classes | None = None,
) -> Floats:
    """`over_complex_mix` of two classes at each priority of the positive one, shape (n_shares, n_priorities).

    NaN where a class with priority has no case of a complexity that the mix has.

    Examples
    --------
    >>> scores = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.6, 0.4]])
    >>> hard = np.array([False, True, False, True])
    >>> mix_surface(np.array([0, 0, 1, 1]), scores, hard, [0, 0.5], [0, 1])
    array([[1. , 1. ],
           [0.5, 0.5]])
    """
    q, p = np.asarray(shares, float)[:, None], np.asarray(priorities, float)[None, :]
    simple, complex_ = (
        class_credits(truth, scores, tau, of.astype(np.float64), called) for of in (~hard, hard)
    )

    def of_class(label: int) -> Floats:
        mixed: Floats = np.where(q < 1, (1 - q) * simple[label], 0) + np.where(q > 0, q * complex_[label], 0)
        return mixed

    with np.errstate(invalid="ignore"):
        return np.where(p < 1, (1 - p) * of_class(0), 0) + np.where(p > 0, p * of_class(1), 0)


def risk_priority(tau: float, prevalence: float) -> tuple[float, float]:
    """Priorities of the negative and the positive class that go with a risk threshold.

    ::

        p = (tau (1 - q), (1 - tau) q) / alpha,   alpha = tau (1 - q) + (1 - tau) q,   q the prevalence

    >>> risk_priority(0.2, 0.3)
    (0.3684210526315789, 0.631578947368421)
    """
    alpha = _alpha(tau, prevalence)
    return tau * (1 - prevalence) / alpha, (1 - tau) * prevalence / alpha


def risk_accuracy(
    truth: NDArray[np.bool_],
    score: NDArray[Any],
    tau: float,
    *,
    rng: np.random.Generator,
    prevalence: float | None = None,
    level: float = 0.95,
) -> Estimate:
    """H-accuracy in which tau is a risk threshold: right is a positive at or above it, a negative below it.

    ::

        Ha = p(0) specificity + p(1) sensitivity,   p of `risk_priority`

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
    score : array of numbers, shape (n_cases,)
        Predicted risk; positive from tau on.
    prevalence : float in (0, 1), optional
        That of these cases when not given.

    Returns
    -------
    Estimate
        In [0, 1]; NaN with a note when a class is absent. Bootstrap within classes.

    References
    ----------
    Cabitza, Campagner (2019), "Who wants accurate models?", arXiv:1910.09246, theorem 1.

    Examples
    --------
    >>> truth, score = np.arange(10) < 4, np.array([0.9, 0.8, 0.3, 0.1, 0.5, 0.1, 0.1, 0.0, 0.0, 0.1])
    >>> round(risk_accuracy(truth, score, 0.2, rng=np.random.default_rng(1)).value, 2)
    0.77
    """
    share = float(truth.mean()) if prevalence is None and truth.size else prevalence
    priority = (0.5, 0.5) if share in (None, 0.0, 1.0) else risk_priority(tau, float(share or 0))
    called = (score >= tau).astype(np.float64)
    return h_accuracy(
        truth.astype(np.int64),
        np.stack([1 - called, called], axis=1),
        priority=priority,
        rng=rng,
        level=level,
    )


def net_benefit_of(risk_accuracy: float, tau: float, prevalence: float) -> float:
    """Net benefit at threshold tau from the `risk_accuracy` there.

    ::

        NB = (alpha Ha - tau (1 - q)) / (1 - tau)

    The source divides tau (1 - q) by (1 - tau) once more inside, which is wrong: for tau .2, prevalence .3,
    sensitivity .8, specificity .7 net benefit is .1875, as here, not .14375.

    >>> p0, p1 = risk_priority(0.2, 0.3)
    >>> round(net_benefit_of(p0 * 0.7 + p1 * 0.8, 0.2, 0.3), 6)
    0.1875
    """
    return (_alpha(tau, prevalence) * risk_accuracy - tau * (1 - prevalence)) / (1 - tau)


def risk_accuracy_of(net_benefit: float, tau: float, prevalence: float) -> float:
    """The `risk_accuracy` that goes with a net benefit: `net_benefit_of` turned round.

    >>> round(risk_accuracy_of(0.1875, 0.2, 0.3), 6)
    0.763158
    """
    return ((1 - tau) * net_benefit + tau * (1 - prevalence)) / _alpha(tau, prevalence)


def _alpha(tau: float, prevalence: float) -> float:
    if not (0 < prevalence < 1 and 0 <= tau <= 1):
        raise ValueError(f"tau must lie in [0, 1] and prevalence in (0, 1), got {tau:g} and {prevalence:g}.")
    return tau * (1 - prevalence) + (1 - tau) * prevalence
