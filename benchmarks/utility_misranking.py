"""How often a metric ranks two classifiers against their utility yields: the authors' Monte Carlo.

Pairs of classifiers judged on the same cases; misranked when the difference in the metric and the difference
in the true yield have opposite signs (Dyrland, Lundervold, Porta Mana, "Does the evaluation stand up to
evaluation?", section 4.2). The paper prints 8.7 % for accuracy and 4 % for utilities with errors of standard
deviation .1, true utilities uniform. As stated there:

- true utilities uniform over the map of `trustreport.measures.utility.operating`, or normal around its
  middle, standard deviation 1/3 along both axes, cut at its edge;
- share of class 0 uniform, the same for both classifiers; sensitivity and specificity independent on [.5, 1]
  with density rising linearly from 0;
- errors normal around the four utilities. The paper cuts them but does not say how: here all four are drawn
  again until each lies in [0, 1] and right decisions are worth more.

Class 0 is the one looked for (its share is the prevalence), as in the paper.

    python benchmarks/utility_misranking.py [--pairs 4000000] [--seed 20240705] [--out FILE]
    python benchmarks/utility_misranking.py --draw      the authors' figures 2, 3, 6 and 7, beside the results
"""

import argparse
import csv
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from trustreport.measures.utility.matrices import inside

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
ERRORS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
BATCH = 250_000
DRAWN = 1000  # classifiers, or pairs of them, in a figure
AGAINST = ("accuracy", "sensitivity", "f1", "mcc")
TRUE = {"[1 0; 0 1]": [[1, 0], [0, 1]], "[1 0; 0 0]": [[1, 0], [0, 0]]}
WITH_ERROR = "utility, error sd 0.1"
BLUE, RED = "#1f5f9e", "#b3402a"
PRINTED = {("uniform", "accuracy"): "8.7", ("uniform", "utility, error sd 0.1"): "4"}


def points(kind: str, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Points of the map: drawn again until inside."""
    found = np.empty((0, 2))
    while len(found) < n:
        drawn = rng.uniform(-1, 1, (n, 2)) if kind == "uniform" else rng.normal(0, 1 / 3, (n, 2))
        found = np.concatenate([found, drawn[inside(drawn[:, 0], drawn[:, 1])]])
    return found[:n, 0], found[:n, 1]


def matrices(x: Floats, y: Floats) -> Floats:
    """U_00, U_01, U_10, U_11, shape (n, 4)."""
    return np.stack([1 - np.maximum(x, 0), np.maximum(y, 0), np.maximum(-y, 0), 1 + np.minimum(x, 0)], axis=1)


def with_error(true: Floats, sd: float, rng: np.random.Generator) -> Floats:
    """Utilities as somebody misjudges them."""
    wrong, todo = np.empty_like(true), np.arange(len(true))
    while len(todo):
        drawn = true[todo] + rng.normal(0, sd, (len(todo), 4))
        fine = ((drawn >= 0) & (drawn <= 1)).all(axis=1)
        fine &= (drawn[:, 0] >= drawn[:, 2]) & (drawn[:, 3] >= drawn[:, 1])
        wrong[todo[fine]] = drawn[fine]
        todo = todo[~fine]
    return wrong


def classifiers(share: Floats, rng: np.random.Generator) -> Floats:
    """C_00, C_01, C_10, C_11 of a classifier, class 0 having this share."""
    tpr, tnr = 0.5 + np.sqrt(rng.random((2, len(share)))) / 2
    return np.stack([share * tpr, (1 - share) * (1 - tnr), share * (1 - tpr), (1 - share) * tnr], axis=1)


def metrics(cells: Floats) -> dict[str, Floats]:
    tp, fp, fn, tn = cells.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "accuracy": tp + tn,
            "f1": 2 * tp / (2 * tp + fp + fn),
            "fowlkes_mallows": tp / np.sqrt((tp + fp) * (tp + fn)),
            "mcc": (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)),
            "balanced_accuracy": (tp / (tp + fn) + tn / (tn + fp)) / 2,
            "precision": tp / (tp + fp),
            "sensitivity": tp / (tp + fn),
            "specificity": tn / (tn + fp),
        }


def misranked(kind: str, pairs: int, rng: np.random.Generator) -> dict[str, int]:
    count: dict[str, int] = {}
    for start in range(0, pairs, BATCH):
        n = min(BATCH, pairs - start)
        true = matrices(*points(kind, n, rng))
        share = rng.random(n)
        one, other = classifiers(share, rng), classifiers(share, rng)
        gap = np.einsum("ni,ni->n", true, one - other)
        first, second = metrics(one), metrics(other)
        found = {name: first[name] - second[name] for name in first}
        for sd in ERRORS:
            wrong = with_error(true, sd, rng)
            found[f"utility, error sd {sd:g}"] = np.einsum("ni,ni->n", wrong, one - other)
        for name, difference in found.items():
            count[name] = count.get(name, 0) + int(np.count_nonzero(difference * gap < 0))
    return count


def draw(file: Path, seed: int) -> list[Path]:
    """The authors' figures 2, 3, 6 and 7, beside the results; 2, 3 and 6 from a few new pairs."""
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    drawn = {
        "2": yields_and_metrics(0.5, np.random.default_rng([seed, 2])),
        "3": yields_and_metrics(0.9, np.random.default_rng([seed, 3])),
        "6": differences(rows, np.random.default_rng([seed, 6])),
        "7": errors_of_utilities(rows),
    }
    out = []
    for number, figure in drawn.items():
        out.append(file.with_name(f"{file.stem}_figure{number}.png"))
        figure.savefig(out[-1], dpi=90, metadata={"Software": None})
    return out


def worst_pair(yields: Floats, scores: Floats) -> tuple[int, int] | None:
    """The two classifiers that a metric turns furthest, by the smaller of both gaps, if there are any."""
    gaps = yields[:, None] - yields, scores[:, None] - scores
    turned = np.where(gaps[0] * gaps[1] < -1e-12, np.minimum(*map(np.abs, gaps)), 0.0)
    one, other = np.unravel_index(int(turned.argmax()), turned.shape)
    return (int(one), int(other)) if turned[one, other] > 0 else None


def yields_and_metrics(share: float, rng: np.random.Generator) -> "Figure":
    """Figures 2 and 3: each metric against the yield under two utilities, this share of class 0."""
    from matplotlib.figure import Figure

    cells = classifiers(np.full(DRAWN, share), rng)
    scores = metrics(cells)
    figure = Figure(figsize=(7, 11), layout="constrained")
    figure.suptitle(f"share of class 0: {share:g}; triangles: two classifiers ranked wrongly", fontsize=10)
    axes = figure.subplots(len(AGAINST), len(TRUE))
    for column, (name, utility) in enumerate(TRUE.items()):
        yields = cells @ np.ravel(utility)
        for row, metric in enumerate(AGAINST):
            plot = axes[row, column]
            plot.plot(yields, scores[metric], ".", ms=2, color=BLUE)
            pair = worst_pair(yields, scores[metric])
            if pair is not None:
                plot.plot(yields[list(pair)], scores[metric][list(pair)], "^", ms=7, color=RED)
            plot.set(xlabel=f"utility yield, {name}", ylabel=metric)
    return figure


def differences(rows: list[dict[str, str]], rng: np.random.Generator) -> "Figure":
    """Figure 6: difference of scores against that of true yields, true utilities uniform on the map."""
    from matplotlib.figure import Figure

    own = {r["judged_by"]: float(r["misranked_percent"]) for r in rows if r["utilities"] == "uniform"}
    true, share = matrices(*points("uniform", DRAWN, rng)), rng.random(DRAWN)
    one, other = classifiers(share, rng), classifiers(share, rng)
    gap = np.einsum("ni,ni->n", true, one - other)
    first, second = metrics(one), metrics(other)
    found = {name: first[name] - second[name] for name in first}
    found[WITH_ERROR] = np.einsum("ni,ni->n", with_error(true, 0.1, rng), one - other)
    figure = Figure(figsize=(10, 9), layout="constrained")
    shown = sorted(found, key=lambda name: -own[name])
    for plot, name in zip(figure.subplots(3, 3).flat, shown, strict=True):
        wrong = found[name] * gap < 0
        plot.plot(gap[~wrong], found[name][~wrong], ".", ms=2, color=BLUE)
        plot.plot(gap[wrong], found[name][wrong], "^", ms=3, color=RED)
        plot.axhline(0, color="k", lw=0.5)
        plot.axvline(0, color="k", lw=0.5)
        plot.set_title(f"{name}: {own[name]:.1f}% ranked wrongly", fontsize=9)
        plot.set(xlabel="difference of true yields", ylabel="difference of scores")
    return figure


def errors_of_utilities(rows: list[dict[str, str]]) -> "Figure":
    """Figure 7: pairs ranked wrongly by the error of the utilities, and by each metric."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.2), layout="constrained")
    for plot, kind in zip(figure.subplots(1, 2), ("uniform", "gaussian"), strict=True):
        own = {r["judged_by"]: float(r["misranked_percent"]) for r in rows if r["utilities"] == kind}
        judged = [0.0, *(own[f"utility, error sd {sd:g}"] for sd in ERRORS)]
        plot.plot((0.0, *ERRORS), judged, color=BLUE, marker="o")
        of_metrics = sorted((name for name in own if not name.startswith("utility")), key=lambda n: own[n])
        for i, name in enumerate(of_metrics):
            plot.axhline(own[name], color="0.6", lw=0.8, ls=":")
            x, side = (0, "left") if i % 2 else (ERRORS[-1], "right")
            plot.annotate(name, (x, own[name]), fontsize=7, va="bottom", ha=side)
        plot.set_title(f"true utilities {kind}", fontsize=10)
        plot.set(xlabel="standard deviation of the error of the utilities", ylabel="ranked wrongly, %")
        plot.set_ylim(bottom=0)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=4_000_000)
    parser.add_argument("--seed", type=int, default=20240705)
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "utility_misranking.csv"
    )
    parser.add_argument("--draw", action="store_true")
    given = parser.parse_args()
    if given.draw:
        print(*draw(given.out, given.seed), sep="\n")
        return
    started = time.perf_counter()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    seeds = np.random.SeedSequence(given.seed).spawn(2)
    with given.out.open("w", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow("utilities judged_by pairs misranked_percent standard_error printed_percent".split())
        for kind, seed in zip(("uniform", "gaussian"), seeds, strict=True):
            for name, count in misranked(kind, given.pairs, np.random.default_rng(seed)).items():
                share = count / given.pairs
                error = 100 * np.sqrt(share * (1 - share) / given.pairs)
                row = [
                    kind,
                    name,
                    given.pairs,
                    f"{100 * share:.3f}",
                    f"{error:.3f}",
                    PRINTED.get((kind, name), ""),
                ]
                writer.writerow(row)
                print(*row, flush=True)
    print(f"{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
