"""Value of information: what the advice adds to the utility of decisions."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustreport.measures import notes
from trustreport.measures.cluster import Clusters
from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.means import CLASS_ABSENT, METHOD, cell_mean
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.crossed_clusters import means_of_patients
from trustreport.measures.mrmc.obuchowski_rockette import MODES, leading, obuchowski_rockette
from trustreport.measures.mrmc.ustatistic import METHOD as USTATISTIC
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.note import note
from trustreport.measures.utility.matrices import Floats, as_matrix

AIDED, UNAIDED = 0, 1
RULE_FROM_DATA = note("better_two_rules_taken_from_same")


def voi_of_readings(
    decisions: Floats,
    truth: NDArray[np.bool_],
    utility: ArrayLike,
    *,
    prevalence: float | None = None,
    cluster: Clusters | None = None,
    level: float = 0.95,
) -> list[Estimate]:
    """How much more the readers' decisions are worth with the advice than without it.

    With U the utility of decision d where the truth is t::

        VOI = EU(aided) - EU(unaided),  EU(arm) = mean over readers of mean over cases of U[d, t]

    and with a `prevalence` pi instead of the mean over cases ``pi x mean over positives + (1 - pi) x mean
    over negatives``. Estimand: the same for readers and cases of the populations that these are samples of.

    Parameters
    ----------
    decisions : float array, shape (2, n_readers, n_cases)
        1.0 positive, 0.0 negative, NaN no reading; the aided arm first.
    utility : array, shape (2, 2)
        Rows the decision 0, 1; columns the truth 0, 1; in the unit of the result.
    prevalence : float in (0, 1), optional
        Share of positives that the utilities are to be reckoned at; that of the cases where absent.
    cluster : int array, shape (n_cases,), optional
        Which cases are of one patient; `means_of_patients` is the primary one then.

    Returns
    -------
    list of Estimate
        The primary one first: where every reader read every case in both arms Obuchowski-Rockette (under
        five readers the wider interval), else the U-statistic about the means of the arms. Positive: the
        advice adds utility. `details` hold the expected utility of each arm. NaN with a note without a
        reading, or with a prevalence and no case of a class.

    References
    ----------
    Coiera (2016), J. Am. Med. Inform. Assoc. 23, 219-221 (value of information).
    Obuchowski, Rockette (1995), Commun. Stat. Simul. Comput. 24, 285-308; Gallas (2006), Acad. Radiol. 13,
    353-362 (readers and cases random).

    Examples
    --------
    >>> truth = np.arange(40) % 2 == 1
    >>> unaided = np.array([np.where(np.arange(40) % 5 == r % 5, ~truth, truth) for r in range(6)])
    >>> aided = np.array([np.where(np.arange(40) % 10 == r, ~truth, truth) for r in range(6)])
    >>> found = voi_of_readings(np.stack([aided, unaided]).astype(float), truth, [[0, -5], [-1, 0]])
    >>> print(found[0])
    0.30 (95% CI 0.07 to 0.53; n = 240)
    """
    matrix = _binary(utility)
    grid = np.asarray(decisions, np.float64)
    read = ~np.isnan(grid)
    worth = np.where(read, matrix[np.where(read, grid, 0).astype(np.intp), truth.astype(np.intp)], np.nan)
    n = int(read.sum(axis=(1, 2)).min())
    # Each part of the cases has a share of its own in the mean.
    parts = [(1.0, np.ones(len(truth), bool))]
    if prevalence is not None:
        parts = [(prevalence, truth), (1 - prevalence, ~truth)]
    if not all(read[:, :, of].any(axis=(1, 2)).all() for _, of in parts):
        reason = notes.NO_CASE if prevalence is None else CLASS_ABSENT
        return [undefined(n, reason, level=level, method=USTATISTIC)]
    shares = np.array([share for share, _ in parts])
    stacked = np.stack([np.where(of, arm, np.nan) for arm in worth for _, of in parts])
    unbiased, weights = ustatistic(stacked), np.concatenate([shares, -shares])
    expected = unbiased.means.reshape(2, len(parts)) @ shares
    details = {"aided": float(expected[AIDED]), "unaided": float(expected[UNAIDED])}
    found = [unbiased.contrast(weights, level=level)]
    if read.all():
        theta = sum(share * proportions(worth[:, :, of]) for share, of in parts)
        covariance = sum(share**2 * proportion_covariance(worth[:, :, of]) for share, of in parts)
        fit = obuchowski_rockette(np.asarray(theta), np.asarray(covariance), len(truth))
        modes = [fit.difference(AIDED, UNAIDED, mode=mode, level=level) for mode in MODES]
        by_method = {e.method: e for e in modes}
        first = leading(by_method["or_rrrc"], by_method["or_frrc"], fit.n_readers)
        found = [first, *(e for e in modes if e.method != first.method), *found]
    else:
        found = [ustatistic(stacked, centred=True).contrast(weights, level=level), *found]
    if cluster is not None:
        lead = means_of_patients(stacked, cluster, gaps=not read.all())
        found = [lead.contrast(weights, level=level), *found]
    return [replace(e, n=n, details={**e.details, **details}) for e in found]


def voi_of_advice(
    counts: ArrayLike, utility: ArrayLike, *, clusters: ArrayLike | None = None, level: float = 0.95
) -> Estimate:
    """How much more decisions are worth that follow the advice than one decision for everybody.

    Without advice and without readers nothing tells cases apart, and the better of two rules is left::

        VOI = mean of U[advice, t] - max over d of mean of U[d, t]

    Estimand: the same in the population, with the rule that was the better one here.

    Parameters
    ----------
    counts : array of counts, shape (2, 2)
        Cases by advice (rows 0, 1) and truth (columns 0, 1).
    utility : array, shape (2, 2)
        Rows the decision 0, 1; columns the truth 0, 1; in the unit of the result.
    clusters : array of counts, shape (n_clusters, 2, 2), optional
        The same cases by the cluster (patient, video) that they belong to.

    Returns
    -------
    ``yield_mover``, limits from those of the cells' shares (`cell_mean.cell_mean`), clusters as there.
    Negative: the rule is worth more than the advice. `details` hold both expected utilities and the
    decision (0, 1) of the rule. NaN with a note without cases.

    Notes
    -----
    Divided by the benefit of a right positive decision it is net benefit over the better of treating all and
    nobody.

    References
    ----------
    Coiera (2016), J. Am. Med. Inform. Assoc. 23, 219-221. Raiffa, Schlaifer (1961), Applied Statistical
    Decision Theory, chapter 4.

    Examples
    --------
    >>> print(voi_of_advice([[70, 5], [10, 15]], [[0, -5], [-1, 0]]))
    0.45 (95% CI 0.09 to 0.63; n = 100)
    """
    matrix, cells = _binary(utility), np.asarray(counts, np.float64)
    if cells.shape != (2, 2) or (cells < 0).any() or (cells != np.floor(cells)).any():
        raise ValueError("counts must be whole numbers, none negative, shape (2, 2).")
    n = int(cells.sum())
    if not n:
        return undefined(0, notes.NO_CASE, level=level, method=METHOD)
    rules = matrix @ cells.sum(axis=0) / n
    rule = int(np.argmax(rules))
    gain, truth = (matrix - matrix[rule]).ravel(), np.array([0, 1, 0, 1])
    grouped = None if clusters is None else np.asarray(clusters, np.int64).reshape(-1, 4)
    found = cell_mean(cells.astype(np.int64).ravel(), gain, truth, clusters=grouped, level=level)
    details = {
        "advice": found.value + float(rules[rule]),
        "rule": float(rules[rule]),
        "decision": float(rule),
    }
    note = RULE_FROM_DATA + found.note
    return replace(found, note=note, details={**details, **found.details})


def _binary(utility: ArrayLike) -> Floats:
    matrix = as_matrix(utility)
    if matrix.shape != (2, 2):
        raise ValueError(f"the value of information takes two classes, got {len(matrix)}.")
    return matrix
