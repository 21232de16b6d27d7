"""H-accuracy with a risk threshold, which is net benefit on another scale."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.estimate import Estimate
from trustreport.measures.h_accuracy.measure import h_accuracy


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
