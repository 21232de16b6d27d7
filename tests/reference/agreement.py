"""Make agreement.json: agreement coefficients of small tables with labels missing, by other software.

    pip install irrCAC==0.4.4 krippendorff==0.9.0 statsmodels==0.15.0
    python tests/reference/agreement.py > tests/reference/agreement.json

The tables are drawn here (numpy, seeds inside) but for `gwet`, 12 units by 4 raters, five categories, of Gwet
(2014), Handbook of Inter-Rater Reliability, 4th ed., as irrCAC carries it.
irrCAC cuts upper limits at 1. Its standard error of alpha takes the corrected agreement in one place where
the linearised ratio has the uncorrected one; with labels missing it is off by up to 1e-4 (that for R is not).
"""

import json
import sys
from importlib.metadata import version

import numpy as np
import pandas as pd
from irrCAC.datasets import raw_4raters
from irrCAC.raw import CAC
from krippendorff import alpha
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa


def tables():
    """Name, number of categories and codes of each table, -1 where there is no label."""
    gwet = raw_4raters().to_numpy(float)
    yield "gwet", 5, np.where(np.isnan(gwet), 0, gwet).astype(int) - 1
    for name, q, n, m, missing, at_least in (
        ("complete", 2, 40, 5, 0.0, 0),
        ("paired", 3, 50, 6, 0.3, 2),
        ("sparse", 4, 60, 4, 0.4, 1),
        ("two", 3, 70, 2, 0.0, 0),
        ("ordered", 5, 45, 4, 0.2, 2),
    ):
        rng = np.random.default_rng([ord(c) for c in name])
        truth = rng.integers(q, size=n)
        drift = rng.integers(-1, 2, (n, m)) * (rng.random((n, m)) < 0.5)
        codes = np.clip(truth[:, None] + drift, 0, q - 1)
        if missing:
            gone = rng.random((n, m)) < missing
            while ((~gone).sum(axis=1) < at_least).any():
                short = (~gone).sum(axis=1) < at_least
                gone[short] = rng.random((int(short.sum()), m)) < missing
            codes = np.where(gone, -1, codes)
        yield name, q, codes


def values(codes, q):
    """Every coefficient that the three packages give for one table."""
    ratings = np.where(codes < 0, np.nan, codes + 1.0)
    found = {}
    for weights in ("identity", "linear", "quadratic", "ordinal"):
        cac = CAC(
            pd.DataFrame(ratings), weights=weights, categories=[float(k + 1) for k in range(q)], digits=15
        )
        for name in ("gwet", "fleiss", "conger", "krippendorff"):
            est = getattr(cac, name)()["est"]
            low, high = est["confidence_interval"]
            found[f"{name} {weights}"] = [est["coefficient_value"], float(low), float(high), est["se"]]
    used = len(np.unique(codes[codes >= 0])) > 1
    for metric in ("nominal", "ordinal", "interval"):
        domain = list(range(1, q + 1))
        found[f"alpha {metric}"] = (
            alpha(ratings.T, level_of_measurement=metric, value_domain=domain) if used else None
        )
    if (codes >= 0).all():
        found["statsmodels fleiss"] = fleiss_kappa(aggregate_raters(codes, n_cat=q)[0])
    if codes.shape[1] == 2:
        cross = np.zeros((q, q))
        np.add.at(cross, (codes[:, 0], codes[:, 1]), 1)
        for name, wt in (("none", None), ("linear", "linear"), ("quadratic", "quadratic")):
            kappa = cohens_kappa(cross, wt=wt)
            found[f"statsmodels cohen {name}"] = [kappa.kappa, kappa.std_kappa]
    return {name: np.asarray(v, float).tolist() for name, v in found.items() if v is not None}


if __name__ == "__main__":
    out = {
        "versions": {name: version(name) for name in ("irrCAC", "krippendorff", "statsmodels", "numpy")},
        "tables": {
            name: {"n_categories": q, "codes": codes.tolist(), "values": values(codes, q)}
            for name, q, codes in tables()
        },
    }
    json.dump(out, sys.stdout, indent=1)
    sys.stdout.write("\n")
