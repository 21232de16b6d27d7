"""Equalised-odds differences of made-up decisions by fairlearn, the default between groups, worst case.

Run where fairlearn is installed, in this folder: python equalised_odds.py > equalised_odds.json
"""

import json
import sys

import fairlearn
import numpy as np
from fairlearn.metrics import (
    equalized_odds_difference,
    false_positive_rate_difference,
    true_positive_rate_difference,
)


def main() -> None:
    """Twelve sets of two to five groups, with the three differences of each."""
    rng = np.random.default_rng(20)
    sets = []
    for i in range(12):
        groups, n = 2 + i % 4, 60 + 40 * i
        group = rng.integers(0, groups, n)
        truth = rng.random(n) < 0.4
        decision = rng.random(n) < np.where(truth, 0.8 - 0.05 * group, 0.2 + 0.04 * group)
        said = (truth.astype(int), decision.astype(int))
        sets.append(
            {
                "truth": "".join(map(str, said[0])),
                "decision": "".join(map(str, said[1])),
                "group": "".join(map(str, group)),
                "equalised_odds": equalized_odds_difference(*said, sensitive_features=group),
                "true_positive": true_positive_rate_difference(*said, sensitive_features=group),
                "false_positive": false_positive_rate_difference(*said, sensitive_features=group),
            }
        )
    json.dump({"fairlearn": fairlearn.__version__, "sets": sets}, sys.stdout, indent=1)


main()
