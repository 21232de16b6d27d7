"""Make weighted_kappa.json: weighted kappa of two raters, by scikit-learn.

    pip install scikit-learn==1.9.1
    python tests/reference/weighted_kappa.py > tests/reference/weighted_kappa.json

The three raters are those of the data `anxiety` in the R package irr, 20 patients, labels 1 to 6; for the
first two kappa2(anxiety[, 1:2], "squared") of irr prints 0.297.
"""

import json
import sys
from itertools import combinations

import sklearn
from sklearn.metrics import cohen_kappa_score

ANXIETY = (
    (3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3),
    (3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4),
    (2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2),
)

found = {
    weights: {
        f"{g} {h}": cohen_kappa_score(ANXIETY[g], ANXIETY[h], weights=weights, labels=range(1, 7))
        for g, h in combinations(range(3), 2)
    }
    for weights in ("linear", "quadratic")
}
json.dump(
    {"versions": {"scikit-learn": sklearn.__version__}, "anxiety": ANXIETY, "kappa": found},
    sys.stdout,
    indent=1,
)
print()
