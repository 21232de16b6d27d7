"""The mean of several ROC curves: sensitivity averaged at each false positive rate."""

from collections.abc import Sequence

import numpy as np

from trustreport.measures.roc.scores import Floats


def mean_curve(curves: Sequence[tuple[Floats, Floats]]) -> tuple[Floats, Floats]:
    """The curve whose sensitivity at each false positive rate is the mean of those of the curves.

    ::

        y(x) = mean of y_j(x),   a rise of curve j at x taken from its lower to its upper end

    The area under it is the mean of the areas.

    Estimand: describes these curves; it has no interval of its own.

    Parameters
    ----------
    curves : at least one pair of float arrays (fpr, tpr), shape (n_points,) each
        Points from (0, 0) to (1, 1), neither falling, as `roc_curve` gives them.

    Returns
    -------
    fpr, tpr : float arrays, shape (n_points,)
        From (0, 0) to (1, 1), neither falling; two points where the mean rises.

    References
    ----------
    Fawcett (2006), Pattern Recognit. Lett. 27, 861-874, section 8.1 (vertical averaging).
    Chen and Samuelson (2014), Br. J. Radiol. 87, 20140016.

    Examples
    --------
    >>> fpr, tpr = mean_curve(
    ...     [(np.array([0, 0, 1.0]), np.array([0, 1, 1.0])), (np.array([0, 1.0]),) * 2]
    ... )
    >>> fpr, tpr
    (array([0., 0., 1.]), array([0. , 0.5, 1. ]))
    """
    at = np.unique(np.concatenate([fpr for fpr, _ in curves]))
    low, high = np.zeros(len(at)), np.zeros(len(at))
    for fpr, tpr in curves:
        first = np.minimum(np.searchsorted(fpr, at, "left"), len(fpr) - 1)
        last = np.maximum(np.searchsorted(fpr, at, "right") - 1, 0)
        between = np.interp(at, fpr, tpr)
        meets = fpr[first] == at
        low += np.where(meets, tpr[first], between) / len(curves)
        high += np.where(meets, tpr[last], between) / len(curves)
    x, y = np.repeat(at, 2), np.column_stack([low, high]).ravel()
    kept = np.append(True, (np.diff(x) > 0) | (np.diff(y) > 0))
    return x[kept], y[kept]
