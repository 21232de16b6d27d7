"""Decision curves of made-up scores by the Python package dcurves, of the authors of R's dcurves.

Run where dcurves is installed, in this folder: python decision_table.py > decision_table.json
"""

import json
import sys
from importlib.metadata import version

import pandas as pd
from dcurves import dca

N, PER = 200, 100  # cases; interventions avoided per 100, the default of R's net_intervention_avoided()
THRESHOLDS = [0.05, 0.1, 0.2, 0.35, 0.5]
COLUMNS = ["model", "threshold", "n", "prevalence", "tp_rate", "fp_rate", "net_benefit"]


def main() -> None:
    """Scores of two models without randomness, and every row of their decision curves."""
    frame = pd.DataFrame({"truth": [int((7 * i) % 10 < 3) for i in range(N)]})
    frame["first"] = [round(((37 * i) % 97) / 130 + 0.21 * t, 4) for i, t in enumerate(frame["truth"])]
    frame["second"] = [round(((53 * i) % 89) / 120 + 0.11 * t, 4) for i, t in enumerate(frame["truth"])]
    found = dca(frame, "truth", ["first", "second"], thresholds=THRESHOLDS, nper=PER)
    avoided = next(c for c in found.columns if c.startswith("net_intervention"))
    rows = found[[*COLUMNS, avoided]].rename(columns={avoided: "net_intervention_avoided"})
    json.dump(
        {
            "dcurves": version("dcurves"),
            "cases": frame.to_dict("list"),
            "rows": json.loads(rows.to_json(orient="records", double_precision=15)),
        },
        sys.stdout,
        indent=1,
    )


main()
