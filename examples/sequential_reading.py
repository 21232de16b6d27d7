"""Draws readers who decide, see advice, and decide again: the model behind the simulated examples.

A teaching model of this project: plausible, not fitted to any reader.
"""

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How readers answer advice. The log odds of giving in to contrary advice are::

        reliance + advice_weight * certainty of the advice - own_weight * own certainty

    certainty = abs(2 p - 1), p being the advice score or the reader's confidence. Seconds are log-normal.
    """

    reliance: float = 0.0
    """Log odds of giving in where neither side is certain; -inf: never, inf: always."""
    advice_weight: float = 1.0
    own_weight: float = 2.0
    slip: float = 0.005
    """Probability of changing the decision although the advice agrees."""
    comfort: float = 0.3
    """Share of the doubt that agreeing advice removes."""
    unease: float = 0.3
    """Share of the certainty that a reader loses who decides against the advice."""
    median_seconds: float = 75.0
    """For a reader who is certain and whom the advice supports."""
    doubt_seconds: float = 0.5
    """Log factor of the time when the reader is not certain at all."""
    conflict_seconds: float = 0.2
    """Log factor of the time when advice and initial decision differ."""
    spread_seconds: float = 0.3
    """SD of log seconds, between readers and again between readings."""

    def __post_init__(self) -> None:
        for name in ("slip", "comfort", "unease"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must lie in [0, 1], got {value:g}.")
        if not (0 < self.median_seconds < inf and 0 <= self.spread_seconds < inf):
            raise ValueError("median_seconds must be positive and spread_seconds not negative.")


@dataclass(frozen=True, slots=True)
class SequentialReading:
    """A simulated sequential study.

    Shape (n_cases,): truth, advice, advice_score. Shape (n_readers, n_cases): what the readers do.
    """

    truth: Bools
    advice: Bools
    advice_score: Floats
    initial_decision: Bools
    initial_confidence: Floats
    decision: Bools
    confidence: Floats
    seconds: Floats


def sequential_reading(
    truth: ArrayLike,
    skill: ArrayLike,
    *,
    rng: np.random.Generator,
    threshold: ArrayLike = 0.0,
    case_share: float = 0.4,
    advice_skill: float = 0.85,
    advice_correlation: float = 0.3,
    behaviour: Behaviour | None = None,
) -> SequentialReading:
    """Readers decide, see the advice, and decide again.

    With s = 1 for positive and -1 for negative cases and standard normal C (case), E (reading), U (advice)::

        evidence_jk = s_k skill_j + sqrt(case_share) C_k + sqrt(1 - case_share) E_jk
        initial decision = evidence_jk >= threshold_j
        initial confidence = 1 / (1 + exp(-2 skill_j |evidence_jk - threshold_j|))
        advice score = 1 / (1 + exp(-2 advice_skill A_k)),  advice = A_k >= 0
        A_k = s_k advice_skill + r C_k + sqrt(1 - r^2) U_k,  r = advice_correlation

    The reader's sensitivity is then Phi(skill - threshold), the specificity Phi(skill + threshold), the
    accuracy of the advice Phi(advice_skill); scores are calibrated where both classes are equally frequent.
    `Behaviour` says when a reader changes the decision. Confidence rises when advice agrees and falls when
    the reader decides against it; who changes takes over the advice's certainty, less the own one given up.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
    skill : float array, shape (n_readers,)
        Not negative.
    threshold : float or float array, shape (n_readers,)
        Positive values: the reader calls fewer cases positive.
    case_share : float in [0, 1]
        Share of the variance that all readers have in common, because the case is easy or hard.
    advice_skill : float
    advice_correlation : float in [-1, 1]
        How far the advice finds the same cases hard as the readers.
    behaviour : Behaviour, optional

    Returns
    -------
    SequentialReading
        Confidences and scores in [0, 1], seconds above 0.

    Examples
    --------
    >>> study = sequential_reading([True, False, False], [1.0, 0.5], rng=np.random.default_rng(1))
    >>> study.decision.shape, study.advice.shape
    ((2, 3), (3,))
    """
    truth = np.asarray(truth, dtype=np.bool_)
    ability = np.atleast_1d(np.asarray(skill, dtype=np.float64))
    behaviour = Behaviour() if behaviour is None else behaviour
    if truth.ndim != 1 or not truth.size:
        raise ValueError(f"truth must hold one value for each case, got shape {truth.shape}.")
    if ability.ndim != 1 or not ability.size or not (np.isfinite(ability) & (ability >= 0)).all():
        raise ValueError(f"skill must hold one number, 0 or more, for each reader, got {skill!r}.")
    if not 0 <= case_share <= 1:
        raise ValueError(f"case_share must lie in [0, 1], got {case_share:g}.")
    if not -1 <= advice_correlation <= 1:
        raise ValueError(f"advice_correlation must lie in [-1, 1], got {advice_correlation:g}.")
    limit = np.broadcast_to(np.asarray(threshold, dtype=np.float64), ability.shape)[:, None]
    ability = ability[:, None]
    sign = np.where(truth, 1.0, -1.0)
    shape = (ability.size, truth.size)

    hardness = rng.standard_normal(truth.size)
    noise = sqrt(case_share) * hardness + sqrt(1 - case_share) * rng.standard_normal(shape)
    evidence = ability * sign + noise
    initial = evidence >= limit
    initial_confidence = _logistic(2 * ability * np.abs(evidence - limit))

    own = rng.standard_normal(truth.size)
    signal = sign * advice_skill + advice_correlation * hardness + sqrt(1 - advice_correlation**2) * own
    advice = signal >= 0
    advice_score = _logistic(2 * advice_skill * signal)

    certainty = 2 * initial_confidence - 1
    advice_certainty = np.abs(2 * advice_score - 1)
    pull = behaviour.reliance + behaviour.advice_weight * advice_certainty - behaviour.own_weight * certainty
    agrees = initial == advice
    switch = rng.random(shape) < np.where(agrees, behaviour.slip, _logistic(pull))
    decision = initial ^ switch
    moved = np.where(
        decision == advice,
        np.where(agrees, certainty + behaviour.comfort * (1 - certainty), advice_certainty * (1 - certainty)),
        certainty * (1 - behaviour.unease),
    )

    pace = behaviour.spread_seconds * rng.standard_normal((ability.size, 1))
    jitter = behaviour.spread_seconds * rng.standard_normal(shape)
    slower = behaviour.doubt_seconds * (1 - certainty) + behaviour.conflict_seconds * ~agrees
    return SequentialReading(
        truth=truth,
        advice=advice,
        advice_score=advice_score,
        initial_decision=initial,
        initial_confidence=initial_confidence,
        decision=decision,
        confidence=(1 + moved) / 2,
        seconds=behaviour.median_seconds * np.exp(pace + jitter + slower),
    )


def _logistic(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), without overflow for large |x|."""
    return 0.5 * (1 + np.tanh(x / 2))
