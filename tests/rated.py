"""Small studies of raters that several tests are made of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trustreport.study.study import Cases, Labels, Ratings, Study


def rated(
    codes: NDArray[Any],
    *,
    confidence: NDArray[np.float64] | None = None,
    truth: NDArray[Any] | None = None,
    classes: tuple[str, ...] = ("0", "1"),
    raters: tuple[str, ...] = (),
    task: str = "",
) -> Ratings:
    """The annotations of one task from codes (n_cases, n_raters), -1 where a rater gave no label."""
    codes = np.asarray(codes)
    n_cases, n_raters = codes.shape
    rater, case = np.nonzero(codes.T >= 0)
    known = np.full(n_cases, -1) if truth is None else truth
    return Ratings(
        task,
        Labels(raters or tuple(f"r{i + 1:02d}" for i in range(n_raters))),
        Cases(Labels(tuple(f"c{i + 1:04d}" for i in range(n_cases))), known.astype(np.int8)),
        rater.astype(np.int32),
        case.astype(np.int32),
        codes[case, rater].astype(np.int32),
        classes,
        None if confidence is None else confidence[case, rater],
    )


def raters_study(*panels: Ratings, **more: Any) -> Study:
    """A study of these annotations."""
    return Study(raters=panels, **more)


def noisy(n_cases: int, n_raters: int, accuracy: float, seed: int = 1) -> tuple[NDArray[Any], NDArray[Any]]:
    """A truth (n_cases,) and the labels (n_cases, n_raters) of raters who err independently."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, n_cases)
    right = rng.random((n_cases, n_raters)) < accuracy
    return truth, np.where(right, truth[:, None], 1 - truth[:, None])
