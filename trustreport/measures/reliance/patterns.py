"""Patterns of reliance: how readings with advice are counted, and appropriate reliance."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trustreport.measures.estimate import Estimate, undefined
from trustreport.measures.note import Note
from trustreport.measures.proportion import wilson
from trustreport.measures.reliance import notes
from trustreport.measures.reliance.clustered import Floats, Linearised

PATTERNS = ("000", "001", "010", "011", "100", "101", "110", "111")


@dataclass(frozen=True, slots=True)
class Rate:
    """A share of readings: those whose pattern is in `counted`, of those whose pattern is in `among`.

    `lacking` says why it is undefined where no reading has a pattern of `among`.
    """

    counted: frozenset[str]
    among: frozenset[str]
    lacking: Note

    def indicator(self, patterns: NDArray[np.float64]) -> NDArray[np.float64]:
        """1.0 where a reading counts, 0.0 where it belongs to the base only, NaN elsewhere."""
        counted, among = (np.isin(patterns, [int(p, 2) for p in part]) for part in (self.counted, self.among))
        return np.where(among, counted.astype(np.float64), np.nan)


def _rate(counted: str, among: str, lacking: Note) -> Rate:
    return Rate(frozenset(counted.split()), frozenset(among.split()), lacking)


# Decisions and advice agree where both are right or both wrong: so it is with two classes.
RATES: Mapping[str, Rate] = MappingProxyType(
    {
        "rair": _rate("011", "011 010", notes.WRONG_THEN_RIGHT_ADVICE),
        "rsr": _rate("101", "101 100", notes.RIGHT_THEN_WRONG_ADVICE),
        "rbod": _rate("001", "001 000", notes.WRONG_THEN_WRONG_ADVICE),
        "rbt": _rate("111", "111 110", notes.RIGHT_THEN_RIGHT_ADVICE),
        "harmful_switch_rate": _rate("100", "101 100", notes.RIGHT_THEN_WRONG_ADVICE),
        "beneficial_switch_rate": _rate("011", "011 010", notes.WRONG_THEN_RIGHT_ADVICE),
        "switch_rate": _rate("011 100", "010 011 100 101", notes.NO_DISAGREEMENT),
        "override_rate": _rate("001 010 101 110", " ".join(PATTERNS), notes.NO_READING),
        "agreement_unaided": _rate("000 001 110 111", " ".join(PATTERNS), notes.NO_READING),
        "agreement_aided": _rate("000 011 100 111", " ".join(PATTERNS), notes.NO_READING),
        "override_of_right_advice": _rate("010 110", "010 011 110 111", notes.NO_RIGHT_ADVICE),
        "override_of_wrong_advice": _rate("001 101", "000 001 100 101", notes.NO_WRONG_ADVICE),
        # Readers' decisions by what became of them: changed, kept against the advice, changed to it.
        "dominance_share": _rate("001 011 100 110", " ".join(PATTERNS), notes.NO_READING),
        "determination_share": _rate("010 101", " ".join(PATTERNS), notes.NO_READING),
        "deference_share": _rate("011 100", " ".join(PATTERNS), notes.NO_READING),
        "dominance_helpful": _rate("001 011", "001 011 100 110", notes.NO_CHANGE),
        "determination_helpful": _rate("101", "010 101", notes.NO_ADVICE_RESISTED),
        "deference_helpful": _rate("011", "011 100", notes.NO_ADVICE_TAKEN),
        "advice_not_taken": _rate("010", "011 010", notes.WRONG_THEN_RIGHT_ADVICE),
        "appropriate_at_least": _rate("011 101", " ".join(PATTERNS), notes.NO_READING),
        "appropriate_at_most": _rate("011 101 000 111", " ".join(PATTERNS), notes.NO_READING),
        "accuracy_unaided": _rate("100 101 110 111", " ".join(PATTERNS), notes.NO_READING),
        "accuracy_aided": _rate("001 011 101 111", " ".join(PATTERNS), notes.NO_READING),
        "accuracy_of_advice": _rate("010 011 110 111", " ".join(PATTERNS), notes.NO_READING),
        "accuracy_unaided_right_advice": _rate("110 111", "010 011 110 111", notes.NO_RIGHT_ADVICE),
        "accuracy_unaided_wrong_advice": _rate("100 101", "000 001 100 101", notes.NO_WRONG_ADVICE),
        "accuracy_aided_right_advice": _rate("011 111", "010 011 110 111", notes.NO_RIGHT_ADVICE),
        "accuracy_aided_wrong_advice": _rate("001 101", "000 001 100 101", notes.NO_WRONG_ADVICE),
    }
)


def patterns(unaided: ArrayLike, advice: ArrayLike, aided: ArrayLike) -> NDArray[np.float64]:
    """Pattern of each reading as the number that its three digits are in base two.

    Parameters
    ----------
    unaided, advice, aided : arrays of one shape, 1 right, 0 wrong, NaN unknown
        Decision before the advice, advice, and decision after it, each against the truth.

    Returns
    -------
    float array of that shape
        0 to 7; NaN where one of the three is unknown.
    """
    before, told, after = (np.asarray(part, dtype=np.float64) for part in (unaided, advice, aided))
    return np.asarray(4 * before + 2 * told + after)


def pattern_counts(patterns: NDArray[np.float64]) -> dict[str, int]:
    """How many readings have each pattern; those that are NaN have none."""
    known = patterns[~np.isnan(patterns)].astype(np.intp)
    return dict(zip(PATTERNS, np.bincount(known, minlength=len(PATTERNS)).tolist()))


def rate(counts: Mapping[str, int], name: str, level: float = 0.95) -> Estimate:
    """A rate of reliance from the counts per pattern, readings taken as independent.

    With n011 the readings of pattern 011 and so on::

        rair = n011 / (n011 + n010)   wrong before, advice right: share right after (relative AI reliance;
                                      also beneficial_switch_rate, and RBOT of the trust diagram)
        rsr  = n101 / (n101 + n100)   right before, advice wrong: share right after (relative self-reliance;
                                      1 - harmful_switch_rate, and RBD of the trust diagram)
        rbod = n001 / (n001 + n000)   wrong before, advice wrong: share right after
        rbt  = n111 / (n111 + n110)   right before, advice right: share right after
        switch_rate   = (n011 + n100) / (n010 + n011 + n100 + n101)   of contrary advice, share taken
        override_rate = (n001 + n010 + n101 + n110) / n               final decision unlike the advice

    Estimand: for one reader, the probability of the first given the second; pooled over readers, a mean that
    weighs every reading alike.

    Parameters
    ----------
    counts : mapping
        Readings of each of the `PATTERNS`.
    name : str
        One of `RATES`.

    Returns
    -------
    Wilson interval in [0, 1]; `n` counts the readings of the base; NaN with a note when there is none.

    Notes
    -----
    Taking an override for a disagreement supposes two classes: with more, a final decision can be wrong like
    the advice and still differ from it.

    References
    ----------
    Schemmer et al. (2023), IUI '23, "Appropriate reliance on AI advice" (RAIR, RSR).
    Cabitza et al. (2023), Artif. Intell. Med. 138, 102506, "Rams, hounds and white boxes" (patterns).

    Examples
    --------
    >>> counts = dict(zip(PATTERNS, (4, 4, 0, 4, 2, 3, 3, 1)))
    >>> print(rate(counts, "rsr"))
    0.60 (95% CI 0.23 to 0.88; n = 5)
    """
    which = RATES[name]
    n = sum(counts[p] for p in which.among)
    if n == 0:
        return undefined(0, which.lacking, level=level, method="wilson")
    return wilson(sum(counts[p] for p in which.counted), n, level)


def tertiles(values: NDArray[np.float64]) -> tuple[NDArray[np.int8], tuple[tuple[float, float], ...]]:
    """Bands of about equal size, lowest first; equal values stay together.

    ::

        cuts = smallest values that at least a third, at least two thirds of all do not exceed

    Returns
    -------
    codes : int array of the shape of `values`
        Band of each value, -1 where it is NaN.
    ranges : (lowest, highest) value of each band
        Three bands; fewer where many values are equal, none without values.
    """
    codes = np.full(values.shape, -1, np.int8)
    known = ~np.isnan(values)
    given = values[known]
    if not given.size:
        return codes, ()
    cuts = np.quantile(given, [1 / 3, 2 / 3], method="inverted_cdf")
    place = np.searchsorted(cuts, given, side="left")
    bands, codes[known] = np.unique(place, return_inverse=True)
    ranges = tuple((float(given[place == b].min()), float(given[place == b].max())) for b in bands)
    return codes, ranges


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
    """
    held = ~(np.isnan(patterns) | np.isnan(before) | np.isnan(after))
    falls, rises = after < before, after > before
    right = np.isin(patterns, ALWAYS) | ((patterns == IF_FALLING) & falls) | ((patterns == IF_RISING) & rises)
    return np.where(held, right.astype(float), np.nan)


def chance_corrected(patterns: Floats, before: Floats, after: Floats) -> Linearised | Note:
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
