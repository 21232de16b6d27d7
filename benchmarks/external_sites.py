"""A simulated study of one training set and eight external sites (or more), to look at its figures.

The sizes are those of the published eight-site study of COVID-19 from routine blood tests (training 1,736;
sites 337, 249, 224, 120, 1,301, 2,335, 345 and 400); the cases are drawn: 21 normal features, sites that
differ in their means, their spread, their prevalence and their calibration. Further sites repeat the sizes.

    python benchmarks/external_sites.py FOLDER [--sites 8] [--seed 8]
    python -m trustreport build FOLDER -o OUT
"""

import argparse
from pathlib import Path

import numpy as np

TRAINING = 1736
SITES = (337, 249, 224, 120, 1301, 2335, 345, 400)
FEATURES = 21


def drawn(
    rng: np.random.Generator, n: int, shift: float, spread: float, bias: float, slope: float
) -> np.ndarray:
    """Truth, score and features, a row a case."""
    features = rng.normal(shift, spread, (n, FEATURES))
    weight = np.zeros(FEATURES)
    weight[:6] = (0.9, -0.7, 0.6, 0.5, -0.4, 0.4)
    predictor = features @ weight - 0.1
    truth = rng.random(n) < 1 / (1 + np.exp(-(bias + slope * predictor)))
    return np.column_stack([truth, 1 / (1 + np.exp(-predictor)), features])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sites", type=int, default=len(SITES))
    parser.add_argument("--seed", type=int, default=8)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(args.seed)
    names = [f"f{i + 1}" for i in range(FEATURES)]
    declared = []
    sets = [("training", "training", TRAINING, (0.0, 1.0, 0.0, 1.0))]
    for i in range(args.sites):
        # From the same source to one further out, some crowded, some with other risks.
        far = i % 4 / 3
        differ = (0.05 * far, 1 + 0.05 * (i % 3 - 1) * far, rng.normal(0, 0.3), rng.uniform(0.6, 1.1))
        sets.append((f"Hospital {i + 1}", "external", SITES[i % len(SITES)], differ))
    for name, role, n, how in sets:
        file = f"{name.lower().replace(' ', '_')}.csv"
        header = ",".join(["truth", "score", *names])
        formats = ["%d", "%.6f"] + ["%.4f"] * FEATURES
        np.savetxt(args.folder / file, drawn(rng, n, *how), formats, ",", header=header, comments="")
        features = ", ".join(names)
        declared.append(f"  - {{dataset: {name}, role: {role}, file: {file}, features: [{features}]}}")
    lines = [
        "report: {kind: certification, title: Simulated sites}",
        'device: {trade_name: Simulated model, software_version: "1.0"}',
        "datasets:",
        *declared,
        "operating_point: {threshold: 0.5, score_range: [0, 1]}",
        "similarity: {permutations: 9999, seed: 1}",
        "internal_splits: {metric: auc, values: [0.83, 0.85, 0.86, 0.87, 0.88]}",
    ]
    (args.folder / "study.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
