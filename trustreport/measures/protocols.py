"""Ways to use a device beside a reader, from their decisions on the same cases, or by formula without."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.means import case_share
from trustreport.measures.note import note
from trustreport.measures.proportion import wilson

Floats = NDArray[np.float64]

READER, DEVICE = "reader_alone", "device_alone"
SECOND, CONSENSUS, ARBITRATION = "second_reader", "consensus", "arbitration"
ASSISTANCE, TRIAGE = "assistance", "triage"
PROTOCOLS = (READER, DEVICE, SECOND, CONSENSUS, ARBITRATION, ASSISTANCE, TRIAGE)
LEAST_READERS = 3  # of a case that a third reader arbitrates
# Which decisions of the reader a protocol may change, where it is one kind: to positive, or to negative.
ONE_WAY = {SECOND: 1, CONSENSUS: -1, TRIAGE: -1}


def decisions(
    reader: Floats, advice: Floats, assisted: Floats, ruled_out: NDArray[np.bool_] | None = None
) -> Mapping[str, Floats]:
    """The decision of each protocol on each reader's case: 0 or 1, between them where a reader is drawn.

    ::

        reader alone   H            device alone   A
        second reader  H or A       consensus      H and A
        arbitration    H where H = A, else the mean decision of the other readers of the case
        assistance     F, the decision with the aid, as measured
        triage         0 where the device rules out, else H

    Parameters
    ----------
    reader, advice, assisted : float arrays, shape (n_readers, n_cases)
        Decisions: 1.0 positive, 0.0 negative, NaN unknown. All protocols but assistance are of readings
        with H.
    ruled_out : bool array of that shape, optional
        Where the device's score is below the threshold; NaN advice is not ruled out.

    Returns
    -------
    mapping of protocol to float array of that shape
        NaN where a protocol has no decision: arbitration needs three readers of the case, and the device
        alone decides a case once, so not where it advised readers differently.

    Notes
    -----
    A reader who arbitrates is taken to decide as alone, not knowing what the others decided; a reader whose
    cases are ruled out in part, as among all cases.
    """
    known = ~np.isnan(reader)
    device = np.where(known, advice, np.nan)
    both = known & ~np.isnan(device)
    alike = np.fmin.reduce(advice, axis=0) == np.fmax.reduce(advice, axis=0)
    count, positive = known.sum(axis=0), np.nansum(reader, axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        others = np.where(count >= LEAST_READERS, (positive - reader) / (count - 1), np.nan)
    found = {
        READER: reader,
        DEVICE: np.where(alike, device, np.nan),
        SECOND: np.where(both, np.fmax(reader, device), np.nan),
        CONSENSUS: np.where(both, np.fmin(reader, device), np.nan),
        ARBITRATION: np.where(
            both & (count >= LEAST_READERS), np.where(reader == device, reader, others), np.nan
        ),
        ASSISTANCE: assisted,
    }
    if ruled_out is not None:
        found[TRIAGE] = np.where(known & ruled_out, 0.0, reader)
    return {name: grid for name, grid in found.items() if not np.isnan(grid).all()}


def pseudo_values(arbitrated: Floats, reader: Floats, advice: Floats) -> Floats:
    """Arbitrated decisions by reader such that their spread is that of readers, as first reader and as third.

    With d(j, k) the decision where j reads first and k arbitrates, u the mean over all pairs of a case::

        2 x mean over k of (d(j, k) + d(k, j)) / 2 - u,   mean over j: u

    Each mean over other readers has most readers in common with the next, so that decisions as they are
    vary far less between readers than the mean of another sample of readers would.

    Parameters
    ----------
    arbitrated, reader, advice : float arrays, shape (n_readers, n_cases)
        Of `decisions`; NaN unknown.

    References
    ----------
    Hoeffding (1948), Ann. Math. Stat. 19, 293-325 (projection). Arvesen (1969), Ann. Math. Stat. 40,
    2076-2100 (jackknife of U-statistics).
    """
    there = ~np.isnan(arbitrated)
    agrees = there & (reader == advice)
    readers, agreeing = there.sum(axis=0), agrees.sum(axis=0)
    device = np.where(there, advice, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        others = agreeing - agrees  # whose own decision stands; in the rest of the cases j decides
        third = (others * device + (readers - 1 - others) * reader) / (readers - 1)
        mean = np.nansum(np.where(there, arbitrated, 0.0), axis=0) / readers
    return np.where(there, arbitrated + third - mean, np.nan)


def reader_time(
    protocol: str,
    alone: Floats,
    aided: Floats,
    reader: Floats,
    advice: Floats,
    ruled_out: NDArray[np.bool_] | None,
) -> Floats | None:
    """Seconds of readers that each case takes under a protocol; None where they are not known.

    ::

        device alone 0;  reader alone, second reader, consensus: time alone;  assistance: time with the aid
        arbitration: time alone, and where reader and device differ once more the mean of that case's readers
        triage: time alone where the device does not rule out, else 0

    Parameters
    ----------
    alone, aided : float arrays, shape (n_readers, n_cases)
        Seconds of each reading; NaN unknown.
    reader, advice : float arrays of that shape
        Decisions.
    """
    if protocol == DEVICE:
        return np.where(np.isnan(reader), np.nan, 0.0)
    seconds = aided if protocol == ASSISTANCE else alone
    if np.isnan(seconds).all():
        return None
    if protocol == ARBITRATION:
        count = (~np.isnan(alone)).sum(axis=0)
        mean = np.nansum(alone, axis=0) / np.maximum(count, 1)
        return seconds + np.where(reader != advice, mean, 0.0)
    if protocol == TRIAGE and ruled_out is not None:
        return np.where(ruled_out, 0.0, seconds)
    return seconds


def by_formula(reader: float, device: float) -> dict[str, tuple[float, float]]:
    """Accuracies of protocols from those of reader and device alone, as published: errors independent.

    With x the reader's accuracy, y the device's, z the unknown chance that a disagreement is settled well::

        replacement y;  better of both max(x, y)
        displacement x (2 y + x - 2 x y), the majority of two readers and the device
        inhibition x y + x (1 - y) z + (1 - x) y z, from z = 0 to z = 1

    Returns
    -------
    mapping of protocol to the lowest and the highest accuracy, equal where one is known

    References
    ----------
    Cabitza, Campagner, Natali (2024), HEALTHINF, "Answering the call to go beyond accuracy" (protocols).
    """
    x, y = reader, device
    majority = x * (2 * y + x - 2 * x * y)
    return {
        "replacement": (y, y),
        "better_of_both": (max(x, y), max(x, y)),
        "displacement": (majority, majority),
        "inhibition": (x * y, x * y + x * (1 - y) + (1 - x) * y),
    }


NO_CASE = note("no_case")
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class ByCertainty:
    """Cases with a result, the least certain first: `certainty`, and how many of the first ones are right.

    `right` is one longer and starts at 0.
    """

    certainty: Floats
    right: NDArray[np.int32]


def by_certainty(right: NDArray[np.bool_], certainty: Floats) -> ByCertainty:
    """The cases put in order once, for `accuracy_at_coverage` at many coverages.

    >>> by_certainty(np.array([True, False, True]), np.array([0.9, np.nan, 0.2])).right.tolist()
    [0, 1, 2]
    """
    known = np.flatnonzero(~np.isnan(certainty))
    order = known[np.argsort(certainty[known])]
    return ByCertainty(certainty[order], np.cumsum(np.append(False, right[order]), dtype=np.int32))


def accuracy_at_coverage(
    right: NDArray[np.bool_],
    certainty: Floats,
    coverage: float,
    *,
    ranked: ByCertainty | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> Estimate:
    """Share of right decisions among the most certain ones, of at least a share of all cases.

    With the cases in the order of their certainty, n cases in all::

        decided = the most certain ceil(coverage n) cases, and those as certain as the last of them
        accuracy = right decisions / decided

    Estimand: accuracy on the cases of the population beyond the certainty of the last case decided, which is
    taken as fixed.

    Parameters
    ----------
    right : bool array, shape (n_cases,)
        Of no meaning where the certainty is NaN.
    certainty : float array, shape (n_cases,)
        The higher the more certain; NaN for cases without a result, which are never decided but count in n.
    coverage : float in (0, 1]
    ranked : optional
        `by_certainty` of these cases, where it is at hand already.

    Returns
    -------
    In [0, 1]; `n` counts the decided cases, `details` their share of all (`coverage`) and the least
    certainty among them. NaN with a note where fewer cases have a result.

    References
    ----------
    El-Yaniv, Wiener (2010), J. Mach. Learn. Res. 11, 1605-1641 (risk and coverage).

    Examples
    --------
    >>> right = np.array([True, True, False, True, False, True])
    >>> certainty = np.array([0.9, 0.8, 0.1, 0.7, 0.2, np.nan])
    >>> print(accuracy_at_coverage(right, certainty, 0.5))
    1.00 (95% CI 0.44 to 1.00; n = 3)
    """
    if not 0 < coverage <= 1:
        raise ValueError(f"coverage must lie in (0, 1], got {coverage:g}.")
    n = right.size
    method = "wilson" if cluster is None else "cluster_wilson"
    wanted = max(1, ceil(coverage * n - ROUNDING))
    ranked = ranked or by_certainty(right, certainty)
    known = len(ranked.certainty)
    if wanted > known or not n:
        why = note("cases_have_result_fewer_than_would", decided=known, n=n) if n else NO_CASE
        return undefined(known, why, level=level, method=method)
    least = float(ranked.certainty[known - wanted])
    below = int(np.searchsorted(ranked.certainty, least, "left"))
    e = wilson(int(ranked.right[-1] - ranked.right[below]), known - below, level)
    if cluster is not None:
        of = certainty >= least
        if np.unique(cluster[of]).size < known - below:
            e = case_share(right[of], cluster=cluster[of], level=level)
    return replace(e, details={**e.details, "coverage": (known - below) / n, "least_certainty": least})
