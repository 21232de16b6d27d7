"""Make model_judge.json: means corrected by prediction-powered inference, and kappas of a judge with people.

    pip install ppi-python==0.2.3 scikit-learn==1.9.1
    python tests/reference/model_judge.py > tests/reference/model_judge.json

The judge rated all 40 cases, one to three people 14 of them. `ppi_mean_pointestimate` with lam=1 and the
judge's ratings of all cases is the difference estimator; with the ratings of the other cases alone and lam
their share of all it is the same number, whose standard error `ppi_mean_ci` has from independent samples.
"""

import json
import sys
from importlib.metadata import version

import numpy as np
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from sklearn.metrics import cohen_kappa_score

Z90 = 1.6448536269514722  # of the interval that ppi_mean_ci gives by default

rng = np.random.default_rng(5)
level = np.clip(np.round(3.6 + rng.normal(0, 0.9, 40)), 1, 5)
judge = np.clip(level + rng.choice([-1, 0, 0, 1, 1], 40), 1, 5)
people = np.clip(level + rng.choice([-1, 0, 0, 0, 1], (3, 40)), 1, 5)
both = np.sort(rng.permutation(40)[:14])
rest = np.setdiff1d(np.arange(40), both)
found = {"judge": judge.tolist(), "both": both.tolist(), "people": people[:, both].tolist()}
for name, y, yhat in (
    ("mean of one", people[0], judge),
    ("mean of three", people.mean(axis=0), judge),
    ("share of one", (people[0] >= 4) * 1.0, (judge >= 4) * 1.0),
    ("share of three", (people >= 4).mean(axis=0), (judge >= 4) * 1.0),
):
    whole = ppi_mean_pointestimate(y[both], yhat[both], yhat, lam=1)
    part = len(rest) / 40
    apart = ppi_mean_pointestimate(y[both], yhat[both], yhat[rest], lam=part)
    low, high = ppi_mean_ci(y[both], yhat[both], yhat[rest], lam=part)
    assert abs(float(whole[0]) - float(apart[0])) < 1e-12
    found[name] = {"value": float(whole[0]), "se": float(high[0] - low[0]) / 2 / Z90}
scale = [1, 2, 3, 4, 5]
kappas = [cohen_kappa_score(judge[both], p[both], weights="quadratic", labels=scale) for p in people]
plain = [cohen_kappa_score(judge[both] >= 4, p[both] >= 4) for p in people]
found["weighted kappas"], found["kappas"] = list(map(float, kappas)), list(map(float, plain))
versions = {"ppi-python": version("ppi-python"), "scikit-learn": version("scikit-learn")}
json.dump({"versions": versions, **found}, sys.stdout, indent=1)
print()
