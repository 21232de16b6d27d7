"""What one candidate, or one reader in one arm, marked: ratings of lesions and of false marks."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
UNMARKED = -np.inf


@dataclass(frozen=True, eq=False)
class Marked:
    """Marks on cases of known lesions.

    A lesion without a mark has the rating -inf: below every mark. Whether a lesion was marked is known; of
    places without a lesion only those that were marked are.

    Parameters
    ----------
    n_cases : int
        All cases, with and without lesions, marked or not.
    lesion_case : int array, shape (n_lesions,)
        The case of each lesion, from 0.
    lesion_rating : float array, shape (n_lesions,)
        The highest rating of its marks; higher = more suspicious; -inf unmarked.
    false_case, false_rating : arrays, shape (n_false_marks,)
        The case and the rating of each mark that hit no lesion.
    weight : float array, shape (n_lesions,), optional
        Importance of each lesion, in sum 1 for every case; equal within the case where not given.
    cluster : int array, shape (n_cases,), optional
        Which cases belong to one patient; each case its own where not given.

    Raises
    ------
    ValueError : a NaN among ratings, a case out of range, or weights that are not positive and in sum 1

    Examples
    --------
    >>> marked = Marked(3, np.array([0, 0]), np.array([2.0, -np.inf]), np.array([1]), np.array([1.5]))
    >>> marked.with_lesion.tolist(), marked.highest_false.tolist(), marked.highest.tolist()
    ([True, False, False], [-inf, 1.5, -inf], [2.0, 1.5, -inf])
    """

    n_cases: int
    lesion_case: Integers
    lesion_rating: Floats
    false_case: Integers
    false_rating: Floats
    weight: Floats | None = None
    cluster: Clusters | None = None

    def __post_init__(self) -> None:
        for name, of in (("lesion", self.lesion_case), ("false mark", self.false_case)):
            if len(of) and not (of.min() >= 0 and of.max() < self.n_cases):
                raise ValueError(f"the case of a {name} must be 0 to {self.n_cases - 1}.")
        if np.isnan(self.lesion_rating).any() or not np.isfinite(self.false_rating).all():
            raise ValueError("a rating is missing: a lesion without a mark has -inf, a false mark a number.")
        if self.weight is not None:
            sums = np.bincount(self.lesion_case, self.weight, self.n_cases)[self.with_lesion]
            if not (self.weight > 0).all() or np.abs(sums - 1).max(initial=0) > 1e-6:
                raise ValueError("weights of lesions must be positive and in sum 1 for each case.")

    @property
    def n_lesions(self) -> int:
        return len(self.lesion_case)

    @cached_property
    def with_lesion(self) -> NDArray[np.bool_]:
        """Whether a case has a lesion, (n_cases,)."""
        found = np.zeros(self.n_cases, bool)
        found[self.lesion_case] = True
        return found

    @cached_property
    def weights(self) -> Floats:
        """The weights of lesions as declared, or equal within each case, (n_lesions,)."""
        if self.weight is not None:
            return self.weight
        return 1 / np.bincount(self.lesion_case, minlength=self.n_cases)[self.lesion_case]

    @cached_property
    def highest_false(self) -> Floats:
        """The highest rating of the false marks of each case, -inf without any, (n_cases,)."""
        found = np.full(self.n_cases, UNMARKED)
        np.maximum.at(found, self.false_case, self.false_rating)
        return found

    @cached_property
    def highest(self) -> Floats:
        """The highest rating of all marks of each case, -inf without any, (n_cases,)."""
        found = self.highest_false.copy()
        np.maximum.at(found, self.lesion_case, self.lesion_rating)
        return found

    @cached_property
    def patients(self) -> Clusters:
        """The patient of each case from 0, (n_cases,)."""
        if self.cluster is None:
            return np.arange(self.n_cases)
        return np.unique(self.cluster, return_inverse=True)[1].astype(np.int64)

    @property
    def clustered(self) -> bool:
        """Whether some patient has several cases."""
        return self.n_patients < self.n_cases

    @property
    def n_patients(self) -> int:
        return int(self.patients.max(initial=-1)) + 1

    @cached_property
    def patients_by_class(self) -> tuple[int, int]:
        """Patients who have a case with a lesion, and who have one without."""
        own = self.patients
        return len(np.unique(own[self.with_lesion])), len(np.unique(own[~self.with_lesion]))


def ranks(*ratings: NDArray[Any]) -> list[Floats]:
    """Ratings as ranks among all of them, -inf included, so that all are finite."""
    _, index = np.unique(np.concatenate(ratings), return_inverse=True)
    ends = np.cumsum([len(one) for one in ratings])[:-1]
    return [part.astype(np.float64) for part in np.split(index, ends)]


NO_LESION = "no case has a lesion"
NO_CASE_WITHOUT = "every case has a lesion: there is no case on which all marks are false"
ONE_CASE = "fewer than two cases with a lesion, or without one: no interval"
NOT_REACHED = "so many false marks a case were not made: the sensitivity of all marks"
ALL_ALIKE = "nothing varies between cases: the interval counts cases with lesions as independent"
AT_THE_END = "every pair of a lesion and a case without one counts alike: the interval counts cases"
NO_FALSE_MARK = "no false mark: upper limit of a Poisson count"
