"""Readings drawn from a known model, so that a result can be compared with the truth.

`roe_metz` draws ratings of a crossed reader study; `expected_auc`, `expected_sensitivity` and
`expected_specificity` are what a perfect analysis of endless such studies would find.
`sequential_reading` draws a study in which each reader decides, sees the advice, and decides again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import erfc, inf, isfinite, sqrt
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Variances:
    """Variance components of a rating within one truth class, after Roe and Metz (1997).

    `error` holds the three-way term and the reader's own inconsistency, which one reading cannot tell apart.
    """

    reader: float
    arm_reader: float
    case: float
    arm_case: float
    reader_case: float
    error: float

    def __post_init__(self) -> None:
        for component in fields(self):
            value = getattr(self, component.name)
            if not (isfinite(value) and value >= 0):
                raise ValueError(f"variance {component.name} must be finite and not negative, got {value:g}.")

    @property
    def total(self) -> float:
        """Variance of one rating of a random reader on a random case of the class."""
        return self.reader + self.arm_reader + self.case + self.arm_case + self.reader_case + self.error


STRUCTURES: Mapping[str, Variances] = MappingProxyType(
    {
        "HL": Variances(0.0055, 0.0055, 0.3, 0.3, 0.2, 0.2),
        "HH": Variances(0.03, 0.03, 0.3, 0.3, 0.2, 0.2),
        "LL": Variances(0.0055, 0.0055, 0.1, 0.1, 0.2, 0.6),
        "LH": Variances(0.03, 0.03, 0.1, 0.1, 0.2, 0.6),
    }
)
"""Structures of Roe and Metz (1997): correlation of the data (high or low), then variance of readers."""


def roe_metz(
    mu: ArrayLike,
    variances: Variances,
    *,
    n_readers: int,
    n_positives: int,
    n_negatives: int,
    rng: np.random.Generator,
    variances_positive: Variances | None = None,
    n_replicates: int | None = None,
) -> tuple[Bools, Floats]:
    """Ratings of readers who judge all cases in all arms.

    For arm i, reader j, case k of truth class t, with independent normal terms of mean 0::

        rating_ijkt = mu_it + R_jt + AR_ijt + C_kt + AC_ikt + RC_jkt + E_ijkt

    mu is 0 for negative cases. Reader terms are drawn anew for each truth class.

    Parameters
    ----------
    mu : float array, shape (n_arms,)
        Mean rating of positive cases, by arm. Equal values make the null.
    variances : Variances
        Of negative cases, and of positive cases unless `variances_positive` is given; see `STRUCTURES`.
    n_readers, n_positives, n_negatives : int
    rng : numpy.random.Generator
    n_replicates : int, optional
        Draw as many studies at once; each has readers and cases of its own.

    Returns
    -------
    truth : bool array, shape (n_cases,)
        Negative cases first.
    rating : float array, shape (n_arms, n_readers, n_cases)
        With `n_replicates`, one more axis in front.

    References
    ----------
    Roe and Metz (1997), Acad. Radiol. 4, 298-303.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> truth, rating = roe_metz(
    ...     [1.5, 1.5], STRUCTURES["HL"], n_readers=5, n_positives=50, n_negatives=50, rng=rng
    ... )
    >>> rating.shape
    (2, 5, 100)
    """
    means = np.atleast_1d(np.asarray(mu, dtype=np.float64))
    _check_counts(n_readers=n_readers, n_positives=n_positives, n_negatives=n_negatives)
    if n_replicates is not None:
        _check_counts(n_replicates=n_replicates)
    if means.ndim != 1 or not means.size or not np.isfinite(means).all():
        raise ValueError(f"mu must hold one finite number for each arm, got {mu!r}.")
    studies = 1 if n_replicates is None else n_replicates

    def one_class(n_cases: int, var: Variances, mean: Floats) -> Floats:
        def term(variance: float, n_arms: int, readers: int, cases: int) -> Floats:
            return sqrt(variance) * rng.standard_normal((studies, n_arms, readers, cases))

        return (
            mean[:, None, None]
            + term(var.reader, 1, n_readers, 1)
            + term(var.arm_reader, means.size, n_readers, 1)
            + term(var.case, 1, 1, n_cases)
            + term(var.arm_case, means.size, 1, n_cases)
            + term(var.reader_case, 1, n_readers, n_cases)
            + term(var.error, means.size, n_readers, n_cases)
        )

    negative = one_class(n_negatives, variances, np.zeros_like(means))
    positive = one_class(n_positives, variances_positive or variances, means)
    rating = np.concatenate([negative, positive], axis=-1)
    truth = np.arange(n_negatives + n_positives) >= n_negatives
    return truth, rating[0] if n_replicates is None else rating


def expected_auc(mu: ArrayLike, variances: Variances, variances_positive: Variances | None = None) -> Floats:
    """Mean area under the ROC curve over all readers and cases of the Roe-Metz model.

    Formula: Phi(mu / sqrt(total variance of negatives + total variance of positives)).

    Parameters
    ----------
    mu : float or float array, any shape
        Mean rating of positive cases; that of negative cases is 0.
    variances, variances_positive : Variances
        As in `roe_metz`.

    Returns
    -------
    float array of the shape of `mu`, in [0, 1]

    References
    ----------
    Roe and Metz (1997), Acad. Radiol. 4, 298-303.

    Examples
    --------
    >>> print(expected_auc(1.5, STRUCTURES["HL"]).round(4))
    0.8543
    """
    spread = sqrt(variances.total + (variances_positive or variances).total)
    return _phi(_ratio(np.asarray(mu, dtype=np.float64), spread))


def expected_sensitivity(mu: ArrayLike, threshold: ArrayLike, variances: Variances) -> Floats:
    """Mean sensitivity over all readers and cases of the Roe-Metz model, positive from `threshold` on.

    Formula: Phi((mu - threshold) / sqrt(total variance)); `variances` are those of positive cases.

    Examples
    --------
    >>> print(expected_sensitivity(1.5, 0.75, STRUCTURES["HL"]).round(4))
    0.7721
    """
    distance = np.asarray(mu, dtype=np.float64) - np.asarray(threshold, dtype=np.float64)
    return _phi(_ratio(distance, sqrt(variances.total)))


def expected_specificity(threshold: ArrayLike, variances: Variances) -> Floats:
    """Mean specificity over all readers and cases of the Roe-Metz model, positive from `threshold` on.

    Formula: Phi(threshold / sqrt(total variance)); `variances` are those of negative cases, whose mean is 0.

    Examples
    --------
    >>> print(expected_specificity(0.75, STRUCTURES["HL"]).round(4))
    0.7721
    """
    return _phi(_ratio(np.asarray(threshold, dtype=np.float64), sqrt(variances.total)))


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

    Notes
    -----
    A teaching model of this project: plausible, not fitted to any reader.

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


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be 1 or more, got {count}.")


def _ratio(distance: Floats, spread: float) -> Floats:
    """Distance in units of the spread; without any spread the sign decides, and a tie counts half."""
    return distance / spread if spread > 0 else np.where(distance == 0, 0.0, np.copysign(inf, distance))


def _phi(x: Floats) -> Floats:
    """Standard normal distribution function."""
    values: Floats = np.vectorize(lambda one: erfc(-one / sqrt(2)) / 2, otypes=[np.float64])(x)
    return values


def _logistic(x: Floats) -> Floats:
    """1 / (1 + exp(-x)), without overflow for large |x|."""
    return 0.5 * (1 + np.tanh(x / 2))
