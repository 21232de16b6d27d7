"""Make the tables of this example: simulated readings with two types of advice, the same bytes on each run.

    python examples/assisted-reading/make.py

Six readers decide on 80 cases, see the output of the device, and decide again; on half of the cases of each
reader the output is a score alone, on the other half a score with an explanation. The same decisions alone
precede both, drawn once; readers give in more readily to explained advice.

Each reader read every fourth case a second time with the output.
"""

import csv
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from sequential_reading import Behaviour, SequentialReading, sequential_reading

SEED = 5
N_CASES, N_POSITIVES = 80, 32
# reader, skill, threshold
READERS = (
    ("A", 1.0, 0.1),
    ("B", 0.9, -0.1),
    ("C", 0.8, 0.0),
    ("D", 0.7, 0.2),
    ("E", 0.6, -0.2),
    ("F", 0.5, 0.1),
)
TYPES = ("score", "score with explanation")
AGAIN = 4  # of so many cases one is read twice; a decision changes the more often the less sure it was
BEHAVIOURS = (Behaviour(reliance=-0.8), Behaviour(reliance=0.9))


def simulate() -> tuple[list[SequentialReading], np.ndarray, np.ndarray]:
    """The study under either type of advice, which type each reader saw of each case, and the complexity."""
    truth = np.random.default_rng(SEED).permutation(N_CASES) < N_POSITIVES
    # Drawn from the same state, so that only what follows the advice differs.
    studies = [
        sequential_reading(
            truth,
            [skill for _, skill, _ in READERS],
            threshold=[cut for *_, cut in READERS],
            case_share=0.5,
            advice_skill=0.9,
            advice_correlation=0.4,
            behaviour=behaviour,
            rng=np.random.default_rng(SEED + 1),
        )
        for behaviour in BEHAVIOURS
    ]
    rng = np.random.default_rng(SEED + 2)
    shown = (np.arange(len(READERS))[:, None] + rng.permutation(N_CASES)) % 2
    hard = (studies[0].initial_decision != truth).mean(axis=0) + rng.normal(0, 0.15, N_CASES)
    return studies, shown, 1 + np.digitize(hard, (0.15, 0.35, 0.55))


def write(folder: Path) -> None:
    """Write readings.csv and cases.csv into `folder`."""
    studies, shown, complexity = simulate()
    rng = np.random.default_rng(SEED + 3)
    alone = studies[0].seconds * np.exp(rng.normal(0, 0.1, studies[0].seconds.shape))
    chance = np.random.default_rng(SEED + 4).random((len(READERS), N_CASES))

    def readings() -> Iterator[Sequence[object]]:
        for j, (reader, *_) in enumerate(READERS):
            for k in range(N_CASES):
                one = studies[shown[j, k]]
                second = 8 + 6 * shown[j, k] + 10 * (one.initial_decision[j, k] != one.advice[k])
                yield (
                    reader,
                    f"X{k + 1:02d}",
                    int(one.initial_decision[j, k]),
                    f"{one.initial_confidence[j, k]:.2f}",
                    f"{alone[j, k]:.0f}",
                    int(one.advice[k]),
                    f"{one.advice_score[k]:.3f}",
                    TYPES[shown[j, k]],
                    int(one.decision[j, k]),
                    f"{one.confidence[j, k]:.2f}",
                    f"{alone[j, k] + second:.0f}",
                    # the other decision where chance is below half of how unsure the first was
                    int(one.decision[j, k] ^ (chance[j, k] < (1 - one.confidence[j, k]) / 2))
                    if k % AGAIN == 0
                    else "",
                )

    _write_csv(
        folder / "readings.csv",
        "reader case initial_decision initial_confidence initial_seconds advice advice_score advice_type"
        " decision confidence seconds second_decision",
        readings(),
    )
    truth = studies[0].truth
    _write_csv(
        folder / "cases.csv",
        "case truth complexity",
        ((f"X{k + 1:02d}", int(truth[k]), complexity[k]) for k in range(N_CASES)),
    )


def _write_csv(path: Path, columns: str, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns.split())
        writer.writerows(rows)


if __name__ == "__main__":
    write(Path(__file__).resolve().parent)
