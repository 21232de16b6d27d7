"""Make the table of this example: decisions of two classifiers in the shares that the story states.

    python examples/factory/make.py

The story gives each classifier's decisions by truth as shares of all components. Here they are decisions on
10,000 components, exactly in those shares; on which components the two agree is drawn at random, since the
story does not say.
"""

import csv
from pathlib import Path

import numpy as np

SEED = 2022
N = 10_000
# Shares of all components by decision (rows 0, 1) and truth (columns 0, 1).
SHARES = {"A": ((0.27, 0.15), (0.23, 0.35)), "B": ((0.43, 0.18), (0.07, 0.32))}


def simulate() -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Truth (N,) and the decisions of each classifier, (N,) each."""
    rng = np.random.default_rng(SEED)
    truth = rng.permutation(np.repeat([0, 1], N // 2))
    decisions = {}
    for name, shares in SHARES.items():
        decision = np.zeros(N, int)
        for label in (0, 1):
            own = rng.permutation(np.flatnonzero(truth == label))
            decision[own[: round(shares[1][label] * N)]] = 1
        decisions[name] = decision
    return truth, decisions


def write(folder: Path) -> None:
    """Write components.csv into `folder`."""
    truth, decisions = simulate()
    with (folder / "components.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["component", "class", *decisions])
        for i in range(N):
            writer.writerow([f"K{i + 1:05d}", truth[i], *(decision[i] for decision in decisions.values())])


if __name__ == "__main__":
    write(Path(__file__).resolve().parent)
