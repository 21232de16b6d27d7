"""Any measure in a population with another prevalence, from sensitivity and specificity."""

from dataclasses import replace
from math import inf

from trustreport.measures.confusion.counts import ConfusionCounts
from trustreport.measures.confusion.measure import one_class
from trustreport.measures.confusion.propagation import propagated, weighed
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
