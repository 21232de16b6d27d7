"""Drawn collaborations of sites: what withheld counts can be recovered, and which verdicts a pool betters.

    python benchmarks/collaborations.py --draws 2000 --first 0

Each draw has 3 to 5 sites with rules of their own (no count below 3, 5 or 10), pools what they hand over, and
compares every verdict with that of the study that has all rows. An attacker (tests/pooling/attacker.py) looks
for withheld counts in every site file. Exits with 1 where one is recovered, or a verdict is better than with
all rows: a pass that all rows do not give, or an open verdict where all rows fail.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from tests.pooling.attacker import recovered_cells
from tests.pooling.collaborations import drawn_rows, plan_of, pooled, study_of, summaries, table_of
from trustreport.assessment.assess import assess
from trustreport.assessment.dimensions import potential_robustness
from trustreport.study.pooled.site_file import DisclosureRules

# Half of the time, and no verdict here rests on it.
potential_robustness.recalibrated_sets = lambda scored, plan: []  # type: ignore[assignment]
ASKED = ("advice_accuracy", "potential_robustness", "subgroups")


def drawn(seed: int) -> tuple[list[str], Counter[tuple[str, str]], list[str], int]:
    """Counts recovered, verdicts with all rows and pooled, those that are better, and site files."""
    rng = np.random.default_rng(seed)
    point = {"threshold": 0.5, "score_range": [0, 1], "threshold_origin": "fixed by M"}
    if rng.random() < 0.7:
        point["indeterminate_as"] = str(rng.choice(["positive", "negative"]))
    plan = plan_of(operating_point=point)
    cases = (30, 260) if rng.random() < 0.5 else (150, 900)
    rows = drawn_rows(rng, int(rng.integers(3, 6)), cases)
    fewest = int(rng.choice([3, 5, 10]))
    files = summaries(rows, plan, DisclosureRules(fewest=fewest), ("reported",))
    found = [
        f"draw {seed}, site {i}: {cell}"
        for i, file in enumerate(files)
        for cell in recovered_cells(file.datasets[0], table_of(rows, plan, i), fewest)
    ]
    whole = assess(study_of(rows, plan), plan, only=ASKED)
    with_rows = {v.criterion.endpoint: v.word for v in whole.verdicts}
    words: Counter[tuple[str, str]] = Counter()
    better = []
    for verdict in pooled(files, ASKED).verdicts:
        name = verdict.criterion.endpoint
        pair = with_rows[name], verdict.word
        words[pair] += 1
        if (verdict.word == "pass" and pair[0] != "pass") or pair == ("fail", "inconclusive"):
            better.append(f"draw {seed}, {name}: {pair[0]} became {pair[1]}")
    return found, words, better, len(files)


def main() -> None:
    """Draw, count and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    start, wrong, words, files = perf_counter(), [], Counter[tuple[str, str]](), 0
    for seed in range(given.first, given.first + given.draws):
        found, own, better, n = drawn(seed)
        wrong += [*found, *better]
        words += own
        files += n
        if (seed - given.first) % 100 == 99:
            print(f"{seed - given.first + 1} draws, {len(wrong)} wrong", file=sys.stderr, flush=True)
    print(f"{given.draws} collaborations, {files} site files, {perf_counter() - start:.0f} s")
    for (rows, pool), n in sorted(words.items()):
        print(f"all rows {rows}, pooled {pool}: {n}")
    print("\n".join(wrong) or "no withheld count recovered, no verdict better than with all rows")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
