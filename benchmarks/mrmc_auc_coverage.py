"""Coverage of the intervals that lead for the areas under the readers' ROC curves, and for Youden's index.

The simulated readers, cells and rule are those of `mrmc_coverage.py`:

- every reader rates every case: Obuchowski-Rockette with the jackknife, under five readers the wider of
  random and fixed readers, for the difference of the areas and of Youden's index (from a rating of .75 on:
  positive), and for the area of each arm;
- a tenth of the ratings missing at random: the U-statistic with its degrees of freedom, as it leads, and
  taken about the means of the arms (`centred`).

In each cell the analyses written here for many studies at once are first held against the package.

    python benchmarks/mrmc_auc_coverage.py [--runs 10000] [--seed 20240703] [--out FILE]
"""

import argparse
import csv
import time
from collections import defaultdict
from itertools import product
from pathlib import Path

import numpy as np
from mrmc_coverage import (
    AIDED_MU,
    CUT,
    MISSING,
    N_NEGATIVES,
    N_POSITIVES,
    READERS,
    UNAIDED_MU,
    Floats,
    Limits,
    around,
    truths,
    verdict,
    wider,
)

from trustreport.measures.mrmc.auc import auc_ustatistic, fit_auc
from trustreport.measures.mrmc.obuchowski_rockette import ObuchowskiRockette, leading
from trustreport.measures.mrmc.youden import fit_youden
from trustreport.measures.proportion import wilson
from trustreport.simulate import STRUCTURES, expected_auc, roe_metz

BATCH = 100
CHECKED = 3


def psi(positive: Floats, negative: Floats) -> Floats:
    """Outcome of every comparison, 0 where a rating is missing."""
    one, other = positive[..., :, None], negative[..., None, :]
    return ((one > other) + np.float32(0.5) * (one == other)).astype(np.float32)


def leads(theta: Floats, covariance: Floats) -> dict[str, Limits]:
    """Obuchowski-Rockette intervals from estimates (b, 2, r) and covariances (b, 2, r, 2, r) of b studies."""
    r = theta.shape[2]
    means = theta.mean(axis=2)
    own = np.einsum("bijkj->bik", covariance) / r
    other = (covariance.sum(axis=(2, 4)) - own * r) / (r * (r - 1))
    centred = theta - means[..., None]
    spread = np.einsum("bij,bkj->bik", centred, centred) / (r - 1)

    def interval(value: Floats, between: Floats, alike: Floats, one: Floats) -> Limits:
        variance = between / r + np.maximum(alike, 0)
        small = between <= 1e-14
        df = np.where(small, np.inf, (r - 1) * (variance * r) ** 2 / np.where(small, 1, between) ** 2)
        fixed = one / r + alike * (r - 1) / r
        return wider(around(value, variance, df), around(value, fixed, np.full_like(df, np.inf)), r)[0]

    def contrast(matrix: Floats) -> Floats:
        return matrix[:, 0, 0] + matrix[:, 1, 1] - 2 * matrix[:, 0, 1]

    value = means[:, 1] - means[:, 0]
    found = {"difference": interval(value, contrast(spread), contrast(other), contrast(own))}
    for i, name in enumerate(("unaided", "aided")):
        found[name] = interval(means[:, i], spread[:, i, i], other[:, i, i], own[:, i, i])
    return found


def areas(rating: Floats, truth: Floats) -> dict[str, Limits]:
    """Areas of complete studies (b, 2, r, n), covariance by the jackknife."""
    b, arms, r, _ = rating.shape
    won = psi(rating[..., truth], rating[..., ~truth])
    of_positive, of_negative = won.mean(axis=4, dtype=float), won.mean(axis=3, dtype=float)
    n1, n0 = of_positive.shape[3], of_negative.shape[3]
    theta = of_positive.mean(axis=3)
    without = np.concatenate(
        [
            (n1 * theta[..., None] - of_positive) / (n1 - 1),
            (n0 * theta[..., None] - of_negative) / (n0 - 1),
        ],
        axis=3,
    ).reshape(b, arms * r, -1)
    centred = without - without.mean(axis=2, keepdims=True)
    covariance = (n1 + n0 - 1) / (n1 + n0) * centred @ centred.transpose(0, 2, 1)
    return leads(theta, covariance.reshape(b, arms, r, arms, r))


def youden(rating: Floats, truth: Floats) -> dict[str, Limits]:
    """Youden's index of the decisions of complete studies."""
    b, arms, r, _ = rating.shape
    theta, covariance = np.full((b, arms, r), -1.0), 0.0
    for of, right in ((truth, rating >= CUT), (~truth, rating < CUT)):
        rows = right[..., of].reshape(b, arms * r, -1).astype(float)
        n = rows.shape[2]
        theta += rows.mean(axis=2).reshape(b, arms, r)
        centred = rows - rows.mean(axis=2, keepdims=True)
        covariance = covariance + centred @ centred.transpose(0, 2, 1) / (n * (n - 1))
    return leads(theta, covariance.reshape(b, arms, r, arms, r))


def incomplete(rating: Floats, truth: Floats) -> dict[str, Limits]:
    """The difference of the areas with ratings missing, by the U-statistic in both forms."""
    read = ~np.isnan(rating)
    won = psi(rating[..., truth], rating[..., ~truth])
    made = (read[..., truth][..., :, None] & read[..., ~truth][..., None, :]).astype(np.float32)

    def sums(x: Floats) -> Floats:
        """(b, 2, 2, same reader, same positive, same negative)."""
        out = np.empty((len(x), 2, 2, 2, 2, 2))
        pooled = x.sum(axis=2)
        for same, part in ((0, pooled[:, :, None]), (1, x)):
            by_positive, by_negative = part.sum(axis=4, dtype=float), part.sum(axis=3, dtype=float)
            total = by_positive.sum(axis=3)
            flat = part.reshape(*part.shape[:3], -1)
            out[:, :, :, same, 0, 0] = np.einsum("bij,bkj->bik", total, total)
            out[:, :, :, same, 1, 0] = np.einsum("bijn,bkjn->bik", by_positive, by_positive, optimize=True)
            out[:, :, :, same, 0, 1] = np.einsum("bijn,bkjn->bik", by_negative, by_negative, optimize=True)
            for i, k in product((0, 1), repeat=2):
                of_pair = np.einsum("bjn,bjn->b", flat[:, i], flat[:, k], dtype=float)
                out[:, i, k, same, 1, 1] = of_pair
        return out

    total = won.sum(axis=(2, 3, 4), dtype=float), made.sum(axis=(2, 3, 4), dtype=float)
    means = total[0] / total[1]
    w = sums(made)
    about = (won - means[:, :, None, None, None] * made).astype(float)
    return {
        "ustatistic_bdg": bdg(means, means, sums(won), w),
        "ustatistic_centred": bdg(means, np.zeros_like(means), sums(about), w),
    }


def bdg(means: Floats, about: Floats, s: Floats, w: Floats) -> Limits:
    """Aided minus unaided, from inclusive sums of outcomes with means `about`, and of comparisons."""
    sign = np.fromfunction(lambda a, p, n: (-1.0) ** (a + p + n), (2, 2, 2))
    square = np.einsum("bi,bk->bik", about, about)
    apart = (s * sign).sum(axis=(3, 4, 5)) / (w * sign).sum(axis=(3, 4, 5))
    covariance = square - apart

    def contrast(matrix: Floats) -> Floats:
        return matrix[:, 0, 0] + matrix[:, 1, 1] - 2 * matrix[:, 0, 1]

    variance, below, least = contrast(covariance), 0.0, np.full(len(means), np.inf)
    for one in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
        single, pairs = s[:, :, :, *one], w[:, :, :, *one]
        counts = np.floor(w[:, :, :, 0, 0, 0] / pairs - 1 + 0.5)
        m = np.minimum(counts[:, 0, 0], counts[:, 1, 1])
        below = below + (contrast(single / pairs - square) / m) ** 2 / m
        least = np.minimum(least, m)
    df = np.maximum(variance**2 / below, least)
    df = np.where(df > 50, np.inf, np.floor(df))
    return around(means[:, 1] - means[:, 0], variance, df)


def chosen(fit: ObuchowskiRockette) -> dict[str, tuple[float, float]]:
    """The package's own leading intervals."""
    found = {
        "difference": leading(*(fit.difference(1, 0, mode=m) for m in ("or_rrrc", "or_frrc")), fit.n_readers)
    }
    for i, name in enumerate(("unaided", "aided")):
        found[name] = leading(*(fit.arm_mean(i, mode=m) for m in ("or_rrrc", "or_frrc")), fit.n_readers)
    return {name: (e.low, e.high) for name, e in found.items()}


def compare(batch: dict[str, Limits], study: int, wanted: dict[str, tuple[float, float]]) -> None:
    for name, limits in wanted.items():
        ours = [float(side[study]) for side in batch[name]]
        np.testing.assert_allclose(ours, limits, atol=1e-6, err_msg=name)


def cell(structure: str, mu: float, n_readers: int, runs: int, rng: np.random.Generator) -> dict:
    """True value, covered and missing intervals, summed width, by design and quantity."""
    variances = STRUCTURES[structure]
    unaided, aided = (float(expected_auc(m, variances)) for m in (UNAIDED_MU, mu))
    change = truths(mu, variances)
    index = change["mean_benefit sensitivity"] + change["mean_benefit specificity"]
    true = {"difference": aided - unaided, "unaided": unaided, "aided": aided}
    tally: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0] * 4)
    for start in range(0, runs, BATCH):
        truth, rating = roe_metz(
            [UNAIDED_MU, mu],
            variances,
            n_readers=n_readers,
            n_positives=N_POSITIVES,
            n_negatives=N_NEGATIVES,
            rng=rng,
            n_replicates=min(BATCH, runs - start),
        )
        gaps = np.where(rng.random(rating.shape) < MISSING, np.nan, rating)
        of_areas, of_youden, of_gaps = areas(rating, truth), youden(rating, truth), incomplete(gaps, truth)
        if start == 0:
            for study in range(CHECKED):
                compare(of_areas, study, chosen(fit_auc(rating[study], truth)))
                compare(of_youden, study, chosen(fit_youden((rating[study] >= CUT) == truth + 0.0, truth)))
                for form in (False, True):
                    e = auc_ustatistic(gaps[study], truth, centred=form).difference(1, 0)
                    compare(of_gaps, study, {e.method: (e.low, e.high)})
        found = [("crossed", f"auc {name}", true[name], limits) for name, limits in of_areas.items()]
        found.append(("crossed", "youden_j difference", index, of_youden["difference"]))
        for form, limits in of_gaps.items():
            found.append(("10 % missing", f"auc difference, {form}", true["difference"], limits))
        for design, name, value, (low, high) in found:
            got = [((low <= value) & (value <= high)).sum(), np.isnan(low).sum(), np.nansum(high - low)]
            held = tally[design, name]
            tally[design, name] = [value, *(a + float(b) for a, b in zip(held[1:], got, strict=True))]
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=20240703)
    default = Path(__file__).parent / "results" / "mrmc_auc_coverage.csv"
    parser.add_argument("--out", type=Path, default=default)
    given = parser.parse_args()
    names = [(s, h, j) for s in ("HL", "HH", "LH") for h in AIDED_MU for j in READERS]
    seeds = np.random.SeedSequence(given.seed).spawn(len(names))
    started, rows = time.perf_counter(), []
    for (structure, hypothesis, n_readers), seed in zip(names, seeds, strict=True):
        found = cell(structure, AIDED_MU[hypothesis], n_readers, given.runs, np.random.default_rng(seed))
        for (design, quantity), (true, covered, missing, width) in found.items():
            share = wilson(int(covered), given.runs, 0.99)
            rows.append(
                {
                    "structure": structure,
                    "hypothesis": hypothesis,
                    "readers": n_readers,
                    "design": design,
                    "quantity": quantity,
                    "true_value": f"{true:.6f}",
                    "runs": given.runs,
                    "coverage": f"{share.value:.4f}",
                    "low99": f"{share.low:.4f}",
                    "high99": f"{share.high:.4f}",
                    "no_interval": int(missing),
                    "mean_width": f"{width / max(given.runs - missing, 1):.4f}",
                    "verdict": verdict(share.low, share.high, n_readers),
                }
            )
            print(" ".join(f"{value!s:>10}" for value in rows[-1].values()), flush=True)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("w", newline="") as lines:
        writer = csv.DictWriter(lines, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    failed = sum(row["verdict"] == "fail" for row in rows)
    print(f"{failed} of {len(rows)} cells fail; {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
