"""Draw the reader study of the tutorial: invented readers and cases, in the form of an export.

python docs/tutorial/make.py      # writes reader-study.csv beside this file, the same bytes each time
"""

from pathlib import Path

import numpy as np

READERS, CASES, POSITIVE = 6, 60, 24
HEAD = "Radiologist;Exam;Condition;Histology;Call;Reading time"


def rows() -> list[str]:
    """One line for each reader, case and arm; readers differ in skill, cases in difficulty."""
    rng = np.random.default_rng(15)
    truth = np.arange(CASES) < POSITIVE
    rng.shuffle(truth)
    difficulty = rng.normal(0, 0.7, CASES)
    skill = rng.normal(0, 0.25, READERS)
    found = []
    for reader in range(READERS):
        for arm, gain in (("without AI", 0.0), ("with AI", 0.55)):
            right = rng.random(CASES) < 1 / (1 + np.exp(-(1.2 + skill[reader] + gain - difficulty)))
            seconds = np.exp(rng.normal(4.0 if arm == "without AI" else 3.9, 0.3, CASES)).astype(int)
            for case in range(CASES):
                finding = "pos" if truth[case] == right[case] else "neg"
                lesion = "pos" if truth[case] else "neg"
                found.append(f"R{reader + 1};C{case + 1:03d};{arm};{lesion};{finding};{seconds[case]}")
    return found


if __name__ == "__main__":
    text = "\n".join([HEAD, *rows()]) + "\n"
    Path(__file__).with_name("reader-study.csv").write_text(text, encoding="utf-8")
