"""How long the search behind published figures takes, and what it finds.

    python benchmarks/published_figures.py [--repeat 5]

Prints for each problem the number of tables of counts that fit, the least time of several runs, and the
time of the search for the smallest conflict where none fits. Aims: 4,653 positives and 4,997 negatives under
50 ms, 100,000 cases in two known classes under 1 s, a total of 1,000 alone under 10 s.
"""

import argparse
import time
from collections.abc import Callable
from typing import Any

from trustreport.measures.reported.conflict import smallest_conflicts
from trustreport.measures.reported.matrices import consistent_matrices
from trustreport.measures.reported.printed import cases, printed

EIGHT = {
    "accuracy": "0.88", "ppv": "0.93", "sensitivity": "0.80", "f1": "0.86",
    "specificity": "0.95", "mcc": "0.76", "npv": "0.84", "threat_score": "0.76",
}  # fmt: skip
PROBLEMS = (
    ("eight figures", cases(4653, 4997), EIGHT),
    ("eight figures, one wrong", cases(4653, 4997), {**EIGHT, "npv": "0.79"}),
    ("MCC alone", cases(4653, 4997), {"mcc": "0.76"}),
    ("no figure", cases(4653, 4997), {}),
    ("eight figures", cases(48218, 51782), EIGHT),
    ("eight figures, one wrong", cases(48218, 51782), {**EIGHT, "npv": "0.79"}),
    ("MCC alone", cases(50000, 50000), {"mcc": "0.76"}),
    ("no figure", cases(50000, 50000), {}),
    ("eight figures", cases(total=1000), EIGHT),
    ("F1 against threat score", cases(total=1000), {"f1": "0.853", "threat_score": "0.76"}),
    ("MCC alone", cases(total=1000), {"mcc": "0.76"}),
    ("no figure", cases(total=1000), {}),
    ("no figure", cases(total=2800), {}),
    ("eight figures", cases(total=10**6), EIGHT),
    ("eight figures", cases(482_180_000, 517_820_000), EIGHT),
)


def least(run: Callable[[], Any], repeat: int) -> tuple[Any, float]:
    """What a call returns, and its least time in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        found = run()
        times.append(time.perf_counter() - start)
    return found, min(times)


def main() -> None:
    as_written = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=as_written)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    print(f"{'problem':26} {'positives':>12} {'total':>13} {'tables':>14} {'search':>10} {'conflict':>10}")
    for name, n, texts in PROBLEMS:
        figures = [printed(metric, text) for metric, text in texts.items()]
        fit, seconds = least(lambda figures=figures, n=n: consistent_matrices(figures, n), repeat)
        conflict = ""
        if fit.count == 0:
            _, spent = least(lambda figures=figures, n=n: smallest_conflicts(figures, n), 1)
            conflict = f"{spent:.3f} s"
        count = "not counted" if fit.count is None else f"{fit.count:,}"
        positives = "unknown" if n.positives is None else f"{n.positives:,}"
        print(f"{name:26} {positives:>12} {n.total:>13,} {count:>14} {seconds:>8.3f} s {conflict:>10}")


if __name__ == "__main__":
    main()
