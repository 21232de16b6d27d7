"""Appropriate reliance, from patterns and the reader's confidence, and what chance alone would give."""

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.reliance import notes
from trustreport.measures.reliance.linearised import Floats, Linearised

# Patterns that are appropriate whatever the confidence, and those that its change decides.
ALWAYS = (0b011, 0b101)
IF_FALLING, IF_RISING = 0b000, 0b111


def appropriate(patterns: Floats, before: Floats, after: Floats) -> Floats:
    """Whether each reading relied appropriately on the advice.

    ::

        1  pattern 011 or 101; 000 with falling confidence; 111 with rising confidence
        0  every other pattern

    So that appropriate reliance = (n011 + n101 + w0 n000 + w1 n111) / n, with w0 the share of readings wrong
    throughout whose confidence fell, w1 the share of those right throughout whose confidence rose.

    Parameters
    ----------
    patterns : float array, shape (n_readers, n_cases)
        As `trustreport.measures.reliance.patterns.patterns`.
    before, after : float arrays of that shape
        The reader's confidence; NaN where there is none.

    Returns
    -------
    float array of that shape
        NaN without a pattern or without both confidences.

    Examples
    --------
    >>> appropriate(
    ...     np.array([3.0, 0, 7, 4]), np.array([0.5, 0.6, 0.7, 0.9]), np.array([0.5, 0.5, 0.7, 0.9])
    ... )
    array([1., 1., 0., 0.])
    """
    held = ~(np.isnan(patterns) | np.isnan(before) | np.isnan(after))
    falls, rises = after < before, after > before
    right = np.isin(patterns, ALWAYS) | ((patterns == IF_FALLING) & falls) | ((patterns == IF_RISING) & rises)
    return np.where(held, right.astype(float), np.nan)


def chance_corrected(patterns: Floats, before: Floats, after: Floats) -> Linearised | str:
    """Appropriate reliance in excess of chance: 0 as by chance, 1 always appropriate.

    ::

        1 - (1 - AR) / (1 - E)
        E = (P(01) + P(10)) P(right) + P(00) P(wrong and falling) + P(11) P(right and rising)

    P(ha) is the share of readings with first decision h and advice a (1 right); the other factors are shares
    of all readings by final decision and change of confidence. E is what AR would be if final decision and
    change of confidence were independent of first decision and advice.

    Parameters
    ----------
    patterns, before, after : as in `appropriate`

    Returns
    -------
    Linearised, or the reason why it is undefined
        At most 1; `details` holds the reliance expected by chance.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46 (correction for chance).

    Examples
    --------
    >>> before, after = np.full((1, 4), 0.5), np.full((1, 4), 0.5)
    >>> found = chance_corrected(np.array([[3.0, 5, 2, 4]]), before, after)
    >>> found.value, found.details["expected"]
    (0.0, 0.5)
    """
    reading = appropriate(patterns, before, after)
    held = ~np.isnan(reading)
    n = int(held.sum())
    if n == 0:
        return notes.NO_CONFIDENCE
    codes = np.where(held, patterns, 0).astype(int)
    final = codes & 1

    def flag(which: NDArray[np.bool_]) -> Floats:
        return np.where(held, which, np.nan)

    factors = (
        (flag(np.isin(codes >> 1, (0b01, 0b10))), flag(final == 1)),
        (flag(codes >> 1 == 0b00), flag((final == 0) & (after < before))),
        (flag(codes >> 1 == 0b11), flag((final == 1) & (after > before))),
    )
    share, expected, change = float(np.nanmean(reading)), 0.0, np.zeros(codes.shape)
    for group, outcome in factors:
        p, q = float(np.nanmean(group)), float(np.nanmean(outcome))
        expected += p * q
        change = change + (group - p) * q + (outcome - q) * p
    if expected >= 1:
        return notes.NOTHING_LEFT
    influence = ((reading - share) / (1 - expected) - (1 - share) * change / (1 - expected) ** 2) / n
    value = 1 - (1 - share) / (1 - expected)
    return Linearised(value, influence, "identity", n, details={"expected": expected})
