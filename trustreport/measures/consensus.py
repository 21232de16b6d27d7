"""A reference standard that may be the majority of the very decisions that it judges."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, pdtr

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Consensus:
    """How the truth of cases goes with the majority of the readers.

    Parameters
    ----------
    n : cases that the majority decides
    contested : those of them in which the readers disagree
    against : cases whose truth is not what the majority decided
    expected : how many there would be, at least, were the truth not made of these decisions
    p : chance of so few, adjusted for the ways to decide a tie
    """

    n: int
    contested: int
    against: int
    expected: float
    p: float


def consensus(truth: Mask, votes: NDArray[np.float64]) -> Consensus:
    """How often the majority of the readers is right, and how often it would be by chance.

    The readers' sensitivity and specificity give the odds of the truth behind each row of votes (Bayes'
    rule), and so the chance that a majority is wrong. Readers are taken to err independently of each other.
    Readers who err on the same cases, as they do, are wrong together more often, and sensitivities that are
    measured against their own majority are too high: the expected number is a lower bound, p an upper one.

    Where votes are tied, the tie is left out, or taken as positive, or as negative, whichever is least like
    chance.

    Parameters
    ----------
    truth : bool array, shape (n_cases,)
    votes : float array, shape (n_readers, n_cases)
        Decisions 0 and 1, NaN where a reader did not decide.

    References
    ----------
    Dawid, Skene (1979), Appl. Stat. 28, 20-28: the model of independent errors.

    Examples
    --------
    >>> right = np.tile([[1.0, 1, 0, 1], [1, 0, 1, 1], [0, 1, 1, 1]], 40)
    >>> truth = np.repeat([True, False], 80)
    >>> found = consensus(truth, np.where(truth, right, 1 - right))
    >>> found.n, found.contested, found.against, round(found.expected)
    (160, 120, 0, 32)
    """
    made = ~np.isnan(votes)
    positive, n = np.nansum(votes, axis=0), made.sum(axis=0)
    tied = 2 * positive == n
    odds = _log_odds(truth, votes, made)
    disagree = (positive > 0) & (positive < n)
    rules = [(2 * positive > n, ~tied)]
    if tied.any():
        every = np.ones(len(truth), bool)
        rules += [(2 * positive >= n, every), (2 * positive > n, every)]
    found = []
    for decided, of in rules:
        against = int(np.count_nonzero((decided != truth) & of))
        expected = float(expit(np.where(decided, -odds, odds))[of].sum())
        p = min(1.0, len(rules) * float(pdtr(against, expected)))
        contested = int(np.count_nonzero(disagree & of))
        found.append(Consensus(int(np.count_nonzero(of)), contested, against, expected, p))
    return min(found, key=lambda one: one.p)


def _log_odds(truth: Mask, votes: NDArray[np.float64], made: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Log odds that each case is positive, (n_cases,), given the votes and how able the readers are."""
    odds = np.full(truth.shape, np.log((truth.sum() + 0.5) / ((~truth).sum() + 0.5)))
    right = np.where(made, votes == truth, False)
    hit, rejected = (
        (right[:, of].sum(axis=1) + 0.5) / (made[:, of].sum(axis=1) + 1) for of in (truth, ~truth)
    )
    yes, no = np.log(hit / (1 - rejected))[:, None], np.log((1 - hit) / rejected)[:, None]
    found: NDArray[np.float64] = odds + np.where(made, np.where(votes == 1, yes, no), 0.0).sum(axis=0)
    return found
