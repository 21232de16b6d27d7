"""How often the intervals of means over classes hold the true mean: three classes, multinomial samples.

    python benchmarks/several_classes.py [--draws N] [--out FILE]

A line for each share of the classes and number of cases: coverage of each mean, and of how many draws it had
an interval.
"""

import argparse
import csv
import sys
from pathlib import Path

import numpy as np

from trustreport.measures.confusion.several import mean_of_classes

CALLED = np.array([[0.9, 0.07, 0.03], [0.15, 0.75, 0.1], [0.05, 0.2, 0.75]])
SHARES = ((0.34, 0.33, 0.33), (0.7, 0.2, 0.1))
CASES = (60, 150, 500)
MEANS = (("sensitivity", False), ("ppv", False), ("f1", False), ("f1", True))


def rows(draws: int) -> list[dict[str, object]]:
    """Coverage of each mean in each regime."""
    rng, found = np.random.default_rng(5), []
    for shares in SHARES:
        cells = np.array(shares)[:, None] * CALLED
        hit, own, called = np.diagonal(cells), cells.sum(axis=1), cells.sum(axis=0)
        f1 = 2 * hit / (own + called)
        true = ((hit / own).mean(), (hit / called).mean(), f1.mean(), (f1 * own).sum())
        for n in CASES:
            held: list[list[bool]] = [[] for _ in MEANS]
            for _ in range(draws):
                drawn = rng.choice(9, n, p=cells.ravel())
                for k, (of, weighted) in enumerate(MEANS):
                    e = mean_of_classes(of, drawn // 3, drawn % 3, 3, weighted=weighted)  # type: ignore[arg-type]
                    if e.low == e.low:
                        held[k].append(e.low <= true[k] <= e.high)
            for (of, weighted), own_held in zip(MEANS, held):
                name = f"weighted_{of}" if weighted else f"macro_{of}"
                share = f"{np.mean(own_held):.3f}"
                found.append(
                    {
                        "shares": " ".join(map(str, shares)),
                        "cases": n,
                        "mean": name,
                        "draws": len(own_held),
                        "coverage": share,
                    }
                )
    return found


def main() -> None:
    """Draw, print, and write what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=1500)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    found = rows(given.draws)
    with given.out.open("w", newline="") if given.out else sys.stdout as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


if __name__ == "__main__":
    main()
