"""Smallest contradictions: published ones, ones found by brute force, and what is said of sound sets."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trustreport.measures.reported.conflict import single_culprits, smallest_conflicts
from trustreport.measures.reported.printed import METRICS, cases, printed


def names(subsets):
    return [[f.metric for f in subset] for subset in subsets]


@pytest.mark.parametrize("n, texts, conflicts, culprits", [
    # sets of a published comparison; without the culprit one table is left
    (cases(143, 67), {"accuracy": "0.87", "ppv": "0.91", "sensitivity": "0.84", "f1": "0.87"},
     [["accuracy", "f1"]], ["accuracy"]),
    (cases(66, 40),
     {"accuracy": "0.94", "ppv": "0.90", "sensitivity": "0.98", "specificity": "0.83", "npv": "0.97"},
     [["accuracy", "ppv"], ["accuracy", "specificity"]], ["accuracy"]),
    # 173/210 = 0.8238 and 174/210 = 0.8286
    (cases(143, 67), {"accuracy": "0.827", "ppv": "0.91"}, [["accuracy"]], ["accuracy"]),
    (cases(143, 67), {"ppv": "0.89", "sensitivity": "0.68"}, [], []),
    (cases(3, 4, 8), {"ppv": "0.89"}, [[]], []),
    (cases(6000, 0), {"specificity": "0.95", "sensitivity": "0.94"}, [["specificity"]], ["specificity"]),
    (cases(total=100), {"f1": "0.80", "threat_score": "0.80"},
     [["f1", "threat_score"]], ["f1", "threat_score"]),
])  # fmt: skip
def test_published_contradictions(n, texts, conflicts, culprits):
    figures = [printed(*item) for item in texts.items()]
    assert names(smallest_conflicts(figures, n)) == conflicts
    assert [f.metric for f in single_culprits(figures, n)] == culprits


def test_a_metric_printed_twice_contradicts_itself():
    figures = [printed("ppv", "0.89"), printed("ppv", "0.91")]
    assert smallest_conflicts(figures, cases(143, 67)) == (tuple(figures),)


@given(
    st.integers(0, 8), st.integers(0, 8),
    st.dictionaries(st.sampled_from(METRICS), st.integers(0, 20).map(lambda k: f"{k / 20:.2f}"), max_size=5),
)  # fmt: skip
def test_no_smaller_set_contradicts_itself(brute_force, positives, negatives, texts):
    n = cases(positives, negatives)
    figures = [printed(*item) for item in texts.items()]
    subsets = [s for k in range(len(figures) + 1) for s in combinations(figures, k) if not brute_force(s, n)]
    expected = [s for s in subsets if len(s) == len(subsets[0])]
    assert list(smallest_conflicts(figures, n)) == expected
