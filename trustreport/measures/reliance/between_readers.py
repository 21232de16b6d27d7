"""Measures of each reader, summarised over readers: statistics for draws of readers and cases."""

import numpy as np

from trustreport.measures.mrmc.bootstrap import Statistic
from trustreport.measures.reliance.linearised import Floats


def persuasion(first: Floats, advice: Floats, final: Floats) -> Statistic:
    """How far readers were drawn towards the advice: mean over readers of kappa(final) - kappa(first).

    ::

        index = mean over readers of kappa(final decision, advice) - kappa(first decision, advice)

    Estimand: over readers in general, the gain in chance-corrected agreement with the advice, on decisions
    (yes or no), not on their being right.

    Parameters
    ----------
    first, advice, final : float arrays, shape (n_readers, n_cases)
        Decisions: 1.0 positive, 0.0 negative, NaN unknown. Readings with all three count.

    Returns
    -------
    Statistic for `Draws.estimate`
        Readers whose kappa is undefined (decisions and advice all alike) are left out of the mean.

    References
    ----------
    Cohen (1960), Educ. Psychol. Meas. 20, 37-46.

    Examples
    --------
    >>> first, advice = np.array([[1.0, 0, 0, 1]]), np.array([[1.0, 1, 0, 0]])
    >>> persuasion(first, advice, advice)(np.ones((1, 1)), np.ones((1, 4)))
    array([1.])
    """
    held = ~(np.isnan(first) | np.isnan(advice) | np.isnan(final))
    cells = [
        [(held & (decision == d) & (advice == a)).astype(float) for d in (0, 1) for a in (0, 1)]
        for decision in (final, first)
    ]

    def statistic(readers: Floats, cases: Floats) -> Floats:
        of_final, of_first = (_kappa(*(cases @ cell.T for cell in arm)) for arm in cells)
        return _mean(of_final - of_first, readers)

    return statistic


def spread_ratio(correct: Floats) -> Statistic:
    """Spread of the readers' accuracies with the aid over that without: below 1, they are more alike with it.

    ::

        SD over readers of accuracy, aided / SD over readers of accuracy, unaided

    Estimand: over readers in general, the ratio of the standard deviations; either holds the chance of
    finitely many cases.

    Parameters
    ----------
    correct : float array, shape (2, n_readers, n_cases)
        Aided, then unaided: 1.0 right, 0.0 wrong, NaN unknown; readings known in both arms count.

    Returns
    -------
    Statistic for `Draws.estimate`
        NaN with fewer than two readers, or where the unaided accuracies are all alike.

    Examples
    --------
    >>> correct = np.array([[[1.0, 1, 1, 0], [1, 1, 0, 0]], [[1, 1, 1, 1], [1, 1, 0, 0]]])
    >>> spread_ratio(correct)(np.ones((1, 2)), np.ones((1, 4)))
    array([0.5])
    """
    held = ~np.isnan(correct).any(axis=0)
    right = [np.where(held, arm, 0.0) for arm in correct]
    known = held.astype(float)

    def statistic(readers: Floats, cases: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            n = cases @ known.T
            aided, unaided = (_variance(cases @ arm.T / n, readers) for arm in right)
            return np.where(unaided > 1e-15, np.sqrt(aided / unaided), np.nan)

    return statistic


def _kappa(n00: Floats, n01: Floats, n10: Floats, n11: Floats) -> Floats:
    """Cohen's kappa of each reader in each draw, (draws, n_readers); NaN where it is undefined."""
    with np.errstate(invalid="ignore", divide="ignore"):
        n = n00 + n01 + n10 + n11
        agreed = (n00 + n11) / n
        by_chance = ((n00 + n01) * (n00 + n10) + (n10 + n11) * (n01 + n11)) / n**2
        return np.where(by_chance < 1 - 1e-12, (agreed - by_chance) / (1 - by_chance), np.nan)


def _mean(values: Floats, readers: Floats) -> Floats:
    """The mean over the readers of each draw, (draws,), those without a value left out."""
    weight = np.where(np.isnan(values), 0.0, readers)
    with np.errstate(invalid="ignore"):
        return np.asarray((weight * np.nan_to_num(values)).sum(axis=1) / weight.sum(axis=1))


def _variance(values: Floats, readers: Floats) -> Floats:
    weight = np.where(np.isnan(values), 0.0, readers)
    mean = _mean(values, readers)[:, None]
    squares = (weight * np.nan_to_num(values - mean) ** 2).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(squares / (weight.sum(axis=1) - 1))
