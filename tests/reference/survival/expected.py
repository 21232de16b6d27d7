"""Expected values by scikit-survival and lifelines, in an environment of their own.

pip install scikit-survival lifelines
python expected.py > expected_python.csv
"""

import csv
import sys

import lifelines
import numpy as np
import pandas as pd
import sksurv
import statsmodels
from sksurv.metrics import brier_score, cumulative_dynamic_auc
from sksurv.nonparametric import CensoringDistributionEstimator
from sksurv.util import Surv
from statsmodels.genmod import families
from statsmodels.genmod.generalized_linear_model import GLM

SKSURV, LIFELINES = f"scikit-survival {sksurv.__version__}", f"lifelines {lifelines.__version__}"
STATSMODELS = f"statsmodels {statsmodels.__version__}"
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow("data horizon quantity value se software".split())
d = pd.read_csv("flchain.csv")
outcome = Surv.from_arrays(d.event == 1, d.follow_up)
censoring = CensoringDistributionEstimator().fit(outcome)
for horizon in (1826.25, 3652.5):
    area = cumulative_dynamic_auc(outcome, outcome, d.risk.to_numpy(), [horizon])[0][0]
    brier = brier_score(outcome, outcome, 1 - d.risk.to_numpy()[:, None], [horizon])[1][0]
    followed = censoring.predict_proba(np.array([horizon]))[0]
    for name, value in (("auc", area), ("brier", brier), ("followed", followed)):
        out.writerow(["flchain", horizon, name, f"{value:.12g}", "", SKSURV])
    of = lifelines.KaplanMeierFitter().fit(d.follow_up, d.event)
    out.writerow(["flchain", horizon, "risk", f"{1 - of.predict(horizon):.12g}", "", LIFELINES])
    # Sensitivity, specificity and recalibration with scikit-survival's weights.
    case = (d.event == 1) & (d.follow_up <= horizon)
    weight = np.zeros(len(d))
    weight[case] = 1 / censoring.predict_proba(d.follow_up[case].to_numpy() - 1e-6)
    weight[d.follow_up > horizon] = 1 / followed
    called = d.risk >= 0.2
    for name, of_class, call in (("sensitivity", case, called), ("specificity", ~case, ~called)):
        value = (weight * of_class * call).sum() / (weight * of_class).sum()
        out.writerow(["flchain", horizon, name, f"{value:.12g}", "", SKSURV])
    line = np.column_stack([np.ones(len(d)), np.log(d.risk / (1 - d.risk))])
    state = {"endog": case.to_numpy(float), "family": families.Binomial(), "freq_weights": weight}
    sloped = GLM(exog=line, **state).fit(tol=1e-14).params[1]
    flat = GLM(exog=line[:, :1], offset=line[:, 1], **state).fit(tol=1e-14).params[0]
    out.writerow(["flchain", horizon, "slope", f"{sloped:.12g}", "", STATSMODELS])
    out.writerow(["flchain", horizon, "intercept", f"{flat:.12g}", "", STATSMODELS])

m = pd.read_csv("mgus2.csv")
for horizon in (60.5, 120.5):
    of = lifelines.AalenJohansenFitter(jitter_level=1e-9, seed=1).fit(m.follow_up, m.event, 1)
    out.writerow(
        ["mgus2", horizon, "risk", f"{of.predict(horizon):.12g}", "", f"{LIFELINES}, ties broken at random"]
    )
