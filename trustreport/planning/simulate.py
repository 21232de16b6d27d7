"""Ratings of a crossed reader study drawn from the model of Roe and Metz, whose truth is known."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import isfinite, sqrt
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


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be 1 or more, got {count}.")
