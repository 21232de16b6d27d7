"""Any measure in a population with another prevalence, from sensitivity and specificity."""

from dataclasses import replace
from math import inf, nan

from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.form import one_class
from trustreport.measures.confusion.independent import propagated, weighed
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.estimate import Estimate, undefined


def at_prevalence(name: str, counts: ConfusionCounts, prevalence: float, *, level: float = 0.95) -> Estimate:
    """What a measure would be at a stated prevalence if sensitivity and specificity stayed as they are.

    With s, t the sensitivity and specificity and q the prevalence, the cells become::

        tp = q s,  fn = q (1 - s),  tn = (1 - q) t,  fp = (1 - q) (1 - t)

    Predictive values follow from the likelihood ratios, whose Koopman limits carry over::

        ppv = q LR+ / (q LR+ + 1 - q),   npv = (1 - q) / (1 - q + q LR-)

    The others: `propagated`. A measure that does not depend on the prevalence is returned as it is.

    Parameters
    ----------
    name : str
        A key of `MEASURES` other than prevalence.
    prevalence : float in (0, 1)

    Returns
    -------
    Estimate
        `n` counts all cases; NaN with a note when a class is absent from the counts or the measure is 0/0.

    Notes
    -----
    Assumes that cases of either class are alike in both populations; they seldom are when the prevalence
    differs much.

    References
    ----------
    Mercaldo, Lau, Zhou (2007), Stat. Med. 26, 2170-2183 (predictive values at a given prevalence).
    Leeflang, Rutjes, Reitsma, Hooft, Bossuyt (2013), CMAJ 185, E537-E544 (the assumption).

    Examples
    --------
    >>> print(at_prevalence("ppv", ConfusionCounts(97, 12, 46, 55), 0.02))
    0.07 (95% CI 0.05 to 0.12; n = 210)
    """
    if name not in MEASURES or name == "prevalence":
        known = ", ".join(key for key in MEASURES if key != "prevalence")
        raise ValueError(f"name must be one of {known}, got {name!r}.")
    if not 0 < prevalence < 1:
        raise ValueError(f"prevalence must lie in (0, 1), got {prevalence:g}.")
    measure = MEASURES[name]
    if not measure.by_prevalence:
        return measure(counts, level=level)
    if name not in ("ppv", "npv"):
        return propagated(measure, counts, prevalence=prevalence, level=level)
    missing = one_class(counts)
    if missing:
        return undefined(counts.n, missing, level=level, method="koopman")
    if name == "ppv":
        ratio, share, none = (
            MEASURES["lr_positive"](counts, level=level),
            prevalence,
            not counts.called_positive,
        )
    else:
        ratio, share, none = (
            MEASURES["lr_negative"](counts, level=level),
            1 - prevalence,
            not counts.called_negative,
        )
    if none:
        return undefined(counts.n, ratio.note, level=level, method="koopman")
    limits = (ratio.low, ratio.high) if name == "ppv" else (_inverse(ratio.high), _inverse(ratio.low))
    low, high = (_posterior(limit, share) for limit in limits)
    return replace(ratio, value=measure.formula(*weighed(counts, prevalence)), low=low, high=high, note="")


def _inverse(ratio: float) -> float:
    return 1 / ratio if ratio else inf


def _posterior(ratio: float, share: float) -> float:
    """Probability after evidence with this likelihood ratio, `share` before."""
    return 1.0 if ratio == inf else share * ratio / (share * ratio + 1 - share)


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
