"""What a test must achieve so that its result moves a risk far enough."""

from math import nan


def ratio_needed(before: float, after: float) -> float:
    """Likelihood ratio at which a result moves the risk from `before` to `after`.

    Odds after a result are the odds before it times the likelihood ratio::

        (after / (1 - after)) / (before / (1 - before))

    Of a positive result it is the least, of a negative result the greatest that is enough.

    Parameters
    ----------
    before, after : float in (0, 1)

    References
    ----------
    Deeks and Altman (2004), BMJ 329, 168-169.

    Examples
    --------
    Of 1,000 people with 100 ill, 90 ill and 180 healthy test positive: a risk of 90 in 270 after it.

    >>> round(ratio_needed(0.1, 90 / 270), 6), round(ratio_needed(0.1, 10 / 730), 6)
    (4.5, 0.125)
    """
    for risk in (before, after):
        if not 0 < risk < 1:
            raise ValueError(f"a risk must lie in (0, 1), got {risk}")
    return after / (1 - after) / (before / (1 - before))


def sensitivity_needed(specificity: float, lr_positive: float = nan, lr_negative: float = nan) -> float:
    """Least sensitivity with which a test of this specificity has both likelihood ratios.

    ::

        max(lr_positive (1 - specificity), 1 - lr_negative specificity)

    Above 1 no sensitivity is enough. A ratio that is NaN is not asked for.

    >>> round(sensitivity_needed(0.8, 4.5, 0.125), 6), round(sensitivity_needed(0.5, 4.5), 6)
    (0.9, 2.25)
    """
    return _largest(lr_positive * (1 - specificity), 1 - lr_negative * specificity)


def specificity_needed(sensitivity: float, lr_positive: float = nan, lr_negative: float = nan) -> float:
    """Least specificity with which a test of this sensitivity has both likelihood ratios.

    ::

        max(1 - sensitivity / lr_positive, (1 - sensitivity) / lr_negative)

    Above 1 no specificity is enough. A ratio that is NaN is not asked for.

    >>> round(specificity_needed(0.9, 4.5, 0.125), 6)
    0.8
    """
    return _largest(1 - sensitivity / lr_positive, (1 - sensitivity) / lr_negative)


def least_pair(lr_positive: float, lr_negative: float) -> tuple[float, float]:
    """Sensitivity and specificity at which both likelihood ratios are just reached.

    >>> sensitivity, specificity = least_pair(4.5, 0.125)
    >>> round(sensitivity, 6), round(specificity, 6)
    (0.9, 0.8)
    """
    apart = lr_positive - lr_negative
    return lr_positive * (1 - lr_negative) / apart, (lr_positive - 1) / apart


def _largest(*asked: float) -> float:
    """The largest of what is asked for; NaN where nothing is."""
    return max((x for x in asked if x == x), default=nan)
