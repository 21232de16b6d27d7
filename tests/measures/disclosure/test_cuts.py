"""Curves thinned and scores binned: no interval between what is kept holds a few cases of a class."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from trustreport.measures.disclosure.cuts import KeptCuts, class_bins, kept_cuts


def allowed(kept, positives, negatives, least, totals) -> bool:
    """Whether every interval between two kept cuts, or one and an end, is empty or large in each class."""
    for counts, total in ((positives, totals[0]), (negatives, totals[1])):
        at = [total, *(counts[i] for i in kept), 0]
        if any(0 < a - b < least for a, b in combinations(at, 2)):
            return False
    return True


def test_as_many_cuts_are_kept_as_may_be() -> None:
    rng = np.random.default_rng(11)
    kept_any = 0
    for _ in range(300):
        n, least = int(rng.integers(1, 9)), int(rng.integers(2, 6))
        positives, negatives = (np.sort(rng.integers(0, 25, n))[::-1] for _ in range(2))
        totals = (int(positives[0] + rng.choice([0, 5, 9])), int(negatives[0] + rng.choice([0, 2, 9])))
        must = [int(i) for i in rng.choice(n, min(n, 2), replace=False)] if rng.random() < 0.5 else []
        got = kept_cuts(positives, negatives, least, must, totals=totals)
        every = [s for k in range(n + 1) for s in combinations(range(n), k)]
        good = [s for s in every if allowed(s, positives, negatives, least, totals)]
        wished = [i for i in must if i not in got.impossible]
        best = max((len(s) for s in good if set(wished) <= set(s)), default=0)
        assert len(got.kept) == best
        assert not got.kept or got.kept in good
        assert not good or set(wished) <= set(got.kept)
        for i in got.impossible:
            before = [j for j in must[: must.index(i)] if j not in got.impossible]
            assert not any({i, *before} <= set(s) for s in good)
        kept_any += bool(got.kept)
    assert kept_any > 50


def test_cuts_by_hand() -> None:
    # Between the first and second cut lie 2 positive cases.
    assert kept_cuts([20, 18, 14, 9, 0], [40, 30, 12, 3, 0], least=5) == KeptCuts((0, 2, 4))
    assert kept_cuts([20, 18, 14, 9, 0], [40, 30, 12, 3, 0], least=5, must=[1]) == KeptCuts((0, 2, 4), (1,))
    assert kept_cuts([3, 0], [40, 0], least=5) == KeptCuts(())  # the class itself is small
    assert kept_cuts([], [], least=5) == KeptCuts(())
    with pytest.raises(ValueError, match="may not rise"):
        kept_cuts([1, 2], [2, 1], least=5)


def test_bins_have_enough_cases_and_say_no_score() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        scores = rng.choice([rng.random(40), np.round(rng.random(40), 2), rng.random(40) * 7 - 3])[
            : rng.integers(0, 41)
        ]
        least = int(rng.integers(1, 8))
        edges = class_bins(scores, least)
        if len(scores) < least:
            assert len(edges) == 0
            continue
        counts = np.array([((scores >= a) & (scores < b)).sum() for a, b in pairwise(edges)])
        assert counts.min() >= least
        assert counts.sum() == len(scores)
        assert np.array_equal(edges[1:-1], np.round(edges[1:-1], 2))
        assert np.isinf(edges[[0, -1]]).all()


def test_equal_scores_stay_in_one_bin() -> None:
    assert list(class_bins([0.5] * 30, 5)) == [-np.inf, np.inf]
    assert list(class_bins([0.25] * 6 + [0.75] * 6, 5)) == [-np.inf, 0.26, np.inf]
