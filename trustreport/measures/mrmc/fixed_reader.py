"""One reader who stays the same, such as a device by itself, against the readers of a study."""

from dataclasses import replace
from math import isnan

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters, together
from trustreport.measures.estimate import Estimate
from trustreport.measures.mrmc import notes
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.crossed_clusters import means_of_patients
from trustreport.measures.mrmc.in_range import difference_in_range, reference_df
from trustreport.measures.mrmc.interval import two_sided_p
from trustreport.measures.mrmc.obuchowski_rockette import MODES, leading, obuchowski_rockette
from trustreport.measures.mrmc.one_reader import OneReader
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.notes import OFTEN_ABOVE

FEW_CASES = 100


def fixed_against_readers(
    fixed: NDArray[np.float64],
    outcome: NDArray[np.float64],
    *,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> dict[str, Estimate]:
    """What the fixed reader gets right more often than the readers do on average.

    With x_jk = outcome of the fixed reader less that of reader j in case k, d_j = mean of x_jk over cases,
    r readers, V the covariance of the d_j over cases, cov2 the mean of its off-diagonal elements::

        or_rrrc: D = MS(d) + r max(cov2, 0), t with D^2 (r-1) / MS(d)^2 df
        or_frrc: D = mean V_jj + (r-1) cov2, normal
        or_rrfc: D = MS(d),                  t with r-1 df
        interval: mean d +- quantile x sqrt(D / r)

    that is the Obuchowski-Rockette analysis of one arm, of differences. The fixed reader enters every
    difference, hence cov2, and needs no variance of its own. With readings missing ``ustatistic_centred``
    does the same (``ustatistic_bdg`` as it is published), with one reader ``tango`` of the cases that both
    judged.

    Estimand: P(fixed right) - P(reader right) over readers and cases in general, of this very fixed reader.

    Parameters
    ----------
    fixed : float array, shape (n_cases,)
        1.0 counted, 0.0 not, NaN nothing said: the case is left out.
    outcome : float array, shape (n_readers, n_cases)
        Of the readers, in one arm; NaN no reading.
    cluster : int array, shape (n_cases,), optional
        Which cases are of one patient; the primary interval is that of `means_of_patients` then.

    Returns
    -------
    dict of Estimate
        By method, the primary one first; those of Obuchowski-Rockette only where no reading of a case that
        counts is missing. In [-1, 1], positive: the fixed reader is more often right. `details` hold both
        shares; `p` tests 0.

    References
    ----------
    Chakraborty (2017), Observer Performance Methods for Diagnostic Imaging, chapter 22.
    Hillis (2014), Stat. Med. 33, 330-360 (one arm).

    Examples
    --------
    >>> rng = np.random.default_rng(3)
    >>> device = (rng.random(90) < 0.85).astype(float)
    >>> readers = (rng.random((6, 90)) < 0.75).astype(float)
    >>> print(fixed_against_readers(device, readers)["or_rrrc"])
    0.09 (95% CI 0.02 to 0.16; n = 540)
    """
    known = ~np.isnan(fixed)
    difference = fixed[known] - outcome[:, known]
    arm = difference[None]
    found: dict[str, Estimate] = {}
    if not np.isnan(arm).any():
        fit = obuchowski_rockette(proportions(arm), proportion_covariance(arm), arm.shape[-1])
        found = {mode: _against_none(fit.arm_mean(0, mode=mode, level=level)) for mode in MODES}
        lead = leading(found["or_rrrc"], found["or_frrc"], fit.n_readers)
    else:
        lead = _against_none(ustatistic(arm, centred=True).arm_mean(0, level=level))
        found = {lead.method: lead}
    found["ustatistic_bdg"] = _against_none(ustatistic(arm).arm_mean(0, level=level))
    read = ~np.isnan(difference)
    of = together(cluster, known)
    if of is not None:
        lead = means_of_patients(arm, of, gaps=bool(np.isnan(arm).any())).arm_mean(0, level=level)
        lead = _against_none(lead)
    elif len(outcome) == 1 and read.any():
        both = np.stack([np.where(read[0], fixed[known], np.nan)[None], outcome[:, known]])
        lead = OneReader(both).difference(0, 1, level=level)
    lead = difference_in_range(lead)
    if known.sum() <= FEW_CASES and len(outcome) > 1 and not isnan(lead.low):
        lead = replace(lead, note=notes.join(lead.note, OFTEN_ABOVE))
    found = {lead.method: lead, **{name: e for name, e in found.items() if name != lead.method}}
    shares = {
        "fixed": float(np.where(read, fixed[known], 0.0).sum() / max(read.sum(), 1)),
        "readers": float(np.where(read, outcome[:, known], 0.0).sum() / max(read.sum(), 1)),
    }
    return {name: replace(e, details={**e.details, **shares}) for name, e in found.items()}


def _against_none(mean: Estimate) -> Estimate:
    """The mean difference with the p of its test against 0."""
    if not mean.se > 0:
        return mean
    return replace(mean, p=two_sided_p(mean.value / mean.se, reference_df(mean)))
