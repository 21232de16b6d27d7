"""How often the intervals of clustered cases hold the true value: area, average precision, net benefit.

Patients with several cases each share a random effect; the truth belongs to the patient, or to the case. The
score is truth * d plus the effect of the patient plus noise, its variance half between patients. True values
come from 4 million cases. The interval of independent cases stands beside it.

    python benchmarks/clustered_coverage.py [--studies 2000] [--seed 5] [--out FILE]
"""

import argparse
import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from trustreport.estimate import Estimate
from trustreport.measures.net_benefit import net_benefit, standardized_net_benefit
from trustreport.measures.roc.auc import logit_delong
from trustreport.measures.roc.average_precision import logit_influence
from trustreport.measures.roc.clustered import clustered_auc

SHIFT, THRESHOLD, POSITIVE = 1.2, 0.4, 0.35
CELLS = [(patients, of, by) for patients in (20, 50, 150) for of in (3, 10) for by in ("patient", "case")]


def study(patients: int, of: int, by: str, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Truth, risk score and patient of each case."""
    patient = np.repeat(np.arange(patients), of)
    drawn = rng.random(patients)[patient] if by == "patient" else rng.random(len(patient))
    truth = drawn < POSITIVE
    effect = rng.normal(0, np.sqrt(0.5), patients)[patient] + rng.normal(0, np.sqrt(0.5), len(patient))
    return truth, 1 / (1 + np.exp(-(SHIFT * (truth - 0.5) * 2 + effect) + 0.6)), patient


MEASURES: dict[str, tuple[Callable[..., Estimate], Callable[..., Estimate]]] = {
    "auc": (
        lambda t, s, c: clustered_auc(t, s, c),
        lambda t, s, c: logit_delong(t, s),
    ),
    "average_precision": (
        lambda t, s, c: logit_influence(t, s, cluster=c),
        lambda t, s, c: logit_influence(t, s),
    ),
    "net_benefit": (
        lambda t, s, c: net_benefit(t, s, THRESHOLD, cluster=c),
        lambda t, s, c: net_benefit(t, s, THRESHOLD),
    ),
    "standardized_net_benefit": (
        lambda t, s, c: standardized_net_benefit(t, s, THRESHOLD, cluster=c),
        lambda t, s, c: standardized_net_benefit(t, s, THRESHOLD),
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=5)
    results = Path(__file__).parent / "results"
    parser.add_argument("--out", type=Path, default=results / "clustered_coverage.csv")
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    truth, score, _ = study(4_000_000, 1, "case", rng)
    true = {name: independent(truth, score, None).value for name, (_, independent) in MEASURES.items()}
    with given.out.open("w", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        names = "patients cases_each truth_of measure studies clustered independent no_interval"
        writer.writerow(names.split())
        for patients, of, by in CELLS:
            held = {name: [0, 0, 0] for name in MEASURES}
            for _ in range(given.studies):
                data = study(patients, of, by, rng)
                for name, both in MEASURES.items():
                    for k, measure in enumerate(both):
                        found = measure(*data)
                        held[name][k] += found.low <= true[name] <= found.high
                        held[name][2] += k == 0 and found.low != found.low
            for name, (clustered, independent, none) in held.items():
                n = given.studies
                shares = f"{clustered / (n - none):.3f}", f"{independent / n:.3f}"
                row = [patients, of, by, name, n, *shares, none]
                writer.writerow(row)
                print(*row, flush=True)


if __name__ == "__main__":
    main()
