"""Draw cases that give the numbers which a paper prints of H-accuracy; its own data are not public.

F. Cabitza and A. Campagner (2019), "Who wants accurate models? Arguing for a different metrics to take
classification models seriously", arXiv:1910.09246, has 417 knee examinations, radiologists who rated how
complex each is and how sure they were, and one model (tables 1 and 2). What is built in is theirs: the
accuracy in either class, the parts of right answers that the model gives with each confidence, the accuracy
on the more complex half, and what the radiologists' right answers and confidences look like. Which case is
which was drawn (seed 2019). B is made up: the decisions of A with scores nearer to one half.

    python examples/h-accuracy/make.py     # writes scores.csv and raters.csv beside itself
"""

import csv
from pathlib import Path

import numpy as np

SEED = 2019
# Cases without and with a lesion, those of the more complex half among them, right answers in either half.
CASES, COMPLEX = (209, 208), (104, 104)
RIGHT_COMPLEX, RIGHT_OTHER = (78, 74), (102, 97)
# Of all cases, the parts that the model calls right with a score of this class from which Ha(tau) follows:
# .82, .78, .77 and .69 at tau .6, .75, .8 and 1 fix them.
SURE = {0.6: 0.0667, 0.75: 0.0333, 0.8: 0.15, 1.0: 0.57}
UNSURE = 0.501  # the rest of the right answers, hardly above chance
AT_RANDOM = 0.15  # of a rating: how far errors follow the complexity, so that Ha(d) comes out
WRONG = 0.9  # score of the class that was called instead: the area is then the printed .89
SHRUNK = 0.4  # what is left of A's distance from one half in B's scores
RATERS = ("R1", "R2", "R3", "R4", "R5")
# Of 209 and 208 cases, those that each rater judged right.
RATERS_RIGHT = ((182, 167), (180, 165), (178, 164), (176, 162), (174, 160))
# Parts of a rater's answers by confidence; 80, 50.1 and 25% of the right ones reach .6, .75 and .8.
CONFIDENCE = {0.4: 0.15, 0.6: 0.25, 0.75: 0.25, 0.8: 0.2, 1.0: 0.15}


def complexities(rng: np.random.Generator, truth: np.ndarray, complex_: np.ndarray) -> np.ndarray:
    """The rating of each rater, 1 to 4; their sum is above 13.75, the paper's 2.75 each, if complex."""
    found = np.empty((len(RATERS), len(truth)), int)
    for i, hard in enumerate(complex_):
        while True:
            found[:, i] = np.clip(np.round(rng.normal(3.2 if hard else 2.0, 0.6, len(RATERS))), 1, 4)
            if (found[:, i].mean() > 2.75) == hard:
                break
    return found


def dealt(rng: np.random.Generator, parts: dict[float, float], n: int) -> np.ndarray:
    """Values in these parts of n, in random order; what is left over gets the last one."""
    counts = [round(part * n) for part in parts.values()]
    counts[-1] = n - sum(counts[:-1])
    return rng.permutation(np.repeat(list(parts), counts))


def tables() -> tuple[list[dict[str, object]], list[dict[str, object]]]:
    """The rows of scores.csv and of raters.csv."""
    rng = np.random.default_rng(SEED)
    truth = np.repeat([0, 1], CASES)
    complex_, right = np.zeros(len(truth), bool), np.zeros(len(truth), bool)
    for label in (0, 1):
        complex_[np.flatnonzero(truth == label)[: COMPLEX[label]]] = True
    rating = complexities(rng, truth, complex_)
    # Of either half the model errs on the cases rated as the most complex ones, more or less.
    hardness = rating.mean(axis=0) + rng.normal(0, AT_RANDOM, len(truth))
    for label in (0, 1):
        for half, n in ((complex_, RIGHT_COMPLEX[label]), (~complex_, RIGHT_OTHER[label])):
            own = np.flatnonzero((truth == label) & half)
            right[own[np.argsort(hardness[own])[:n]]] = True
    score = np.where(truth == 1, 1 - WRONG, WRONG)
    for label in (0, 1):
        own = np.flatnonzero((truth == label) & right)
        share = {sure: part * CASES[label] / len(own) for sure, part in SURE.items()}
        sure = dealt(rng, {UNSURE: 1 - sum(share.values()), **share}, len(own))
        score[own] = np.where(label == 1, sure, 1 - sure)
    names = [f"K{i + 1:03d}" for i in range(len(truth))]
    scores = [
        {"case": name, "candidate": candidate, "truth": int(t), "score": f"{s:.4f}"}
        for candidate, values in (("A", score), ("B", 0.5 + SHRUNK * (score - 0.5)))
        for name, t, s in zip(names, truth, values)
    ]
    raters = []
    for k, rater in enumerate(RATERS):
        label, sure = 1 - truth, np.empty(len(truth))
        # The easier a rater found the case, the likelier the rater is right.
        ease = -rating[k] + rng.normal(0, 1.2, len(truth))
        for of in (0, 1):
            own = np.flatnonzero(truth == of)
            right_ones = own[np.argsort(-ease[own])][: RATERS_RIGHT[k][of]]
            label[right_ones] = truth[right_ones]
        for of in (True, False):
            own = np.flatnonzero((label == truth) == of)
            # And the surer the rater is.
            order = np.argsort(ease[own] + rng.normal(0, 0.8, len(own)))
            sure[own[order]] = np.sort(dealt(rng, CONFIDENCE, len(own)))
        raters += [
            {"case": name, "rater": rater, "label": int(a), "confidence": f"{b:g}", "complexity": int(c)}
            for name, a, b, c in zip(names, label, sure, rating[k])
        ]
    return scores, raters


def write(folder: Path) -> None:
    """Write scores.csv and raters.csv into a folder."""
    for name, rows in zip(("scores.csv", "raters.csv"), tables()):
        with (folder / name).open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, tuple(rows[0]), lineterminator="\n")
            table.writeheader()
            table.writerows(rows)


if __name__ == "__main__":
    write(Path(__file__).resolve().parent)
