"""Coverage of the intervals that lead in a reader study, against the known truth of simulated readers.

Roe-Metz readers rate 50 positive and 50 negative cases in two arms; from a rating of .75 on the decision is
positive. Structures HL, HH, LH (high or low correlation of the data, then variance of readers); no
difference (mean rating of positives 1.5 in both arms) and one alternative (aided 1.7); 3, 5 and 10 readers.
In each cell:

- every reader reads every case: Obuchowski-Rockette for random readers and cases, under five readers the
  wider of that and the fixed-reader interval, for ARR (which is the mean benefit in accuracy), mean benefit
  in sensitivity and specificity, error rates, and (delta method) relative risk and odds ratio;
- a tenth of the readings missing at random: the U-statistic with its degrees of freedom, of errors for ARR
  and the ratios, of right decisions for sensitivity and specificity (with gaps it matters which is counted),
  as it leads, and for the last two also taken about the means of the arms (`centred`).

A cell fails where the 99 % Monte Carlo interval of its coverage lies outside .935 to .965 with 5 or 10
readers, or below .93 with 3. The analyses are written here for many studies at once; in each cell they are
first held against the package on a few studies. A run without an interval (no variation, negative variance)
counts as not covering. True values come from quadrature, not from simulation.

    python benchmarks/mrmc_coverage.py [--runs 10000] [--seed 20240611] [--out FILE]
"""

import argparse
import csv
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtrit

from trustreport.estimate import Estimate
from trustreport.measures.mrmc.marginal_ratio import or_delta, rr_delta
from trustreport.measures.mrmc.obuchowski_rockette import fit_proportions, leading
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.proportion import wilson
from trustreport.simulate import STRUCTURES, Variances, roe_metz

Floats = NDArray[np.float64]
Limits = tuple[Floats, Floats]

CUT = 0.75
UNAIDED_MU, AIDED_MU = 1.5, {"null": 1.5, "alternative": 1.7}
READERS = (3, 5, 10)
N_POSITIVES = N_NEGATIVES = 50
MISSING = 0.1
BATCH = 500
CHECKED = 3  # studies of each cell that are analysed by the package too
Z = -float(ndtri(0.025))


def probability_positive(mu: float, variances: Variances, nodes: int = 200) -> float:
    """P(rating >= cut): over the reader's terms by Gauss-Hermite quadrature, the others in closed form."""
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    reader = np.sqrt(variances.reader + variances.arm_reader)
    rest = np.sqrt(variances.total - variances.reader - variances.arm_reader)
    return float(weight @ ndtr((mu + reader * x - CUT) / rest) / weight.sum())


def truths(mu: float, variances: Variances) -> dict[str, float]:
    """What each quantity is for all readers and cases: aided minus unaided, errors aided over unaided."""
    specificity = 1 - probability_positive(0.0, variances)
    unaided, aided = (probability_positive(m, variances) for m in (UNAIDED_MU, mu))
    share = N_POSITIVES / (N_POSITIVES + N_NEGATIVES)
    wrong = [share * (1 - s) + (1 - share) * (1 - specificity) for s in (unaided, aided)]
    return {
        "arr": wrong[0] - wrong[1],
        "mean_benefit sensitivity": aided - unaided,
        "mean_benefit specificity": 0.0,
        "error_rate unaided": wrong[0],
        "error_rate aided": wrong[1],
        "rr": wrong[1] / wrong[0],
        "odds_ratio": wrong[1] / (1 - wrong[1]) / (wrong[0] / (1 - wrong[0])),
    }


def quantile(df: Floats) -> Floats:
    return np.where(np.isinf(df), Z, -stdtrit(np.where(np.isinf(df), 1.0, df), 0.025))


def around(value: Floats, variance: Floats, df: Floats) -> Limits:
    half = quantile(df) * np.sqrt(np.where(variance > 1e-14, variance, np.nan))
    return value - half, value + half


def wider(one: Limits, other: Limits, n_readers: int) -> tuple[Limits, NDArray[np.bool_]]:
    """`leading`, for many studies: the limits, and where the second interval leads."""
    width, second = one[1] - one[0], other[1] - other[0]
    use = (n_readers < 5) & ~np.isnan(second) & ~(width >= second)
    return (np.where(use, other[0], one[0]), np.where(use, other[1], one[1])), use


def log_limits(p: Floats, q: Floats, slopes: Limits, covariance: Floats, df: Floats, value: Floats) -> Limits:
    a, b = slopes
    variance = a * a * covariance[..., 0] + b * b * covariance[..., 1] - 2 * a * b * covariance[..., 2]
    low, high = around(np.log(value), variance, df)
    bad = (p <= 0) | (p >= 1) | (q <= 0) | (q >= 1)
    return np.where(bad, np.nan, np.exp(low)), np.where(bad, np.nan, np.exp(high))


def ratios(p: Floats, q: Floats, covariance: Floats, df: Floats) -> dict[str, Limits]:
    """Relative risk and odds ratio of aided (p) against unaided errors (q); covariance: V_p, V_q, V_pq."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = p / (1 - p) / (q / (1 - q))
        return {
            "rr": log_limits(p, q, (1 / p, 1 / q), covariance, df, p / q),
            "odds_ratio": log_limits(p, q, (1 / (p * (1 - p)), 1 / (q * (1 - q))), covariance, df, odds),
        }


def crossed(error: Floats, with_arms: bool) -> dict[str, Limits]:
    """Leading intervals of complete studies, shape (studies, 2 arms, readers, cases), arm 1 aided."""
    _, _, r, n = error.shape
    theta = error.mean(axis=3)
    means = theta.mean(axis=2)
    centred = error - theta[..., None]
    same = np.einsum("bijn,bkjn->bik", centred, centred, optimize=True) / (n * (n - 1)) / r
    totals = centred.sum(axis=2)
    whole = np.einsum("bin,bkn->bik", totals, totals) / (n * (n - 1))
    other = (whole - same * r) / (r * (r - 1))
    spread = np.einsum("bij,bkj->bik", theta - means[..., None], theta - means[..., None]) / (r - 1)

    def contrast(matrix: Floats) -> Floats:
        return matrix[:, 0, 0] + matrix[:, 1, 1] - 2 * matrix[:, 0, 1]

    def modes(between: Floats, alike: Floats, own: Floats) -> tuple[Limits, Limits]:
        """Variance and df, readers random and readers fixed; `own` is one reader's variance over cases."""
        variance = between / r + np.maximum(alike, 0)
        small = between <= 1e-14
        df = np.where(small, np.inf, (r - 1) * (variance * r) ** 2 / np.where(small, 1, between) ** 2)
        fixed = own / r + alike * (r - 1) / r
        return (variance, df), (fixed, np.full_like(df, np.inf))

    value = means[:, 0] - means[:, 1]
    random, fixed = modes(contrast(spread), contrast(other), contrast(same))
    found = {}
    found["arr"], use = wider(around(value, *random), around(value, *fixed), r)
    if with_arms:
        arms = [modes(spread[:, i, i], other[:, i, i], same[:, i, i]) for i in (0, 1)]
        for i, name in enumerate(("unaided", "aided")):
            both = (around(means[:, i], *arms[i][0]), around(means[:, i], *arms[i][1]))
            found[f"error_rate {name}"], _ = wider(*both, r)
        chosen = [np.where(use, arms[i][1][0], arms[i][0][0]) for i in (1, 0)]
        variance, df = (np.where(use, fixed[k], random[k]) for k in (0, 1))
        covariance = np.stack([*chosen, (chosen[0] + chosen[1] - variance) / 2], axis=-1)
        found |= ratios(means[:, 1], means[:, 0], covariance, np.where(variance > 1e-14, df, np.nan))
    return found


def incomplete(error: Floats, centred: bool = False) -> dict[str, Limits]:
    """U-statistic intervals, NaN where nobody read; shape as `crossed`."""
    read = ~np.isnan(error)
    one, weight = np.where(read, error, 0.0), read.astype(float)
    means = one.sum(axis=(2, 3)) / weight.sum(axis=(2, 3))
    about = np.zeros_like(means) if centred else means
    one = one - (means - about)[:, :, None, None] * weight

    def sums(x: Floats) -> Floats:
        """Shape (studies, arms, arms, 4): all pairs, same case, same reader, same reading."""
        by_case, by_reader = x.sum(axis=2), x.sum(axis=3)
        total = by_case.sum(axis=2)
        return np.stack(
            [
                np.einsum("bi,bk->bik", total, total),
                np.einsum("bin,bkn->bik", by_case, by_case),
                np.einsum("bij,bkj->bik", by_reader, by_reader),
                np.einsum("bijn,bkjn->bik", x, x, optimize=True),
            ],
            axis=-1,
        )

    s, w = sums(one), sums(weight)
    apart = np.array([1.0, -1.0, -1.0, 1.0])
    product = np.einsum("bi,bk->bik", about, about)
    covariance = product - (s @ apart) / (w @ apart)
    counts = np.floor(w[..., 0] / w[..., 1:3].transpose(3, 0, 1, 2) - 1 + 0.5)
    component = s[..., 1:3] / w[..., 1:3] - product[..., None]

    def contrast(matrix: Floats) -> Floats:
        return matrix[:, 0, 0] + matrix[:, 1, 1] - 2 * matrix[:, 0, 1]

    m = np.stack([counts[:, :, i, i] for i in (0, 1)]).min(axis=0)
    variance = contrast(covariance)
    total = sum((contrast(component[..., k]) / m[k]) ** 2 / m[k] for k in (0, 1))
    with np.errstate(divide="ignore"):
        df = np.maximum(variance**2 / total, m.min(axis=0))
    df = np.where(df > 50, np.inf, np.floor(df))
    found = {"arr": around(means[:, 0] - means[:, 1], variance, df)}
    stacked = np.stack([covariance[:, 1, 1], covariance[:, 0, 0], covariance[:, 0, 1]], axis=-1)
    found |= ratios(means[:, 1], means[:, 0], stacked, np.where(variance > 1e-14, df, np.nan))
    return found


def by_the_package(error: Floats, with_arms: bool, centred: bool) -> dict[str, Estimate]:
    """The same intervals of one study as the package computes them."""
    found = {}
    if np.isnan(error).any():
        u = ustatistic(error, centred=centred)
        found["arr"] = u.difference(0, 1)
        means, covariance, df, n = u.means, u.mean_covariance(1, 0), u.reference_df(1, 0), int(u.n.min())
    else:
        fit = fit_proportions(error)
        found["arr"] = leading(*(fit.difference(0, 1, mode=m) for m in ("or_rrrc", "or_frrc")), fit.n_readers)
        for i, name in enumerate(("unaided", "aided")):
            both = (fit.arm_mean(i, mode=m) for m in ("or_rrrc", "or_frrc"))
            found[f"error_rate {name}"] = leading(*both, fit.n_readers)
        mode = found["arr"].method
        means, covariance, df, n = (
            fit.means,
            fit.mean_covariance(1, 0, mode=mode),
            fit.reference_df(mode),
            fit.n,
        )
    if with_arms:
        for name, ratio in (("rr", rr_delta), ("odds_ratio", or_delta)):
            found[name] = ratio(float(means[1]), float(means[0]), covariance, n, df=df)
    return found if with_arms else {"arr": found["arr"]}


def compare(batch: dict[str, Limits], error: Floats, with_arms: bool, centred: bool) -> None:
    for study in range(min(CHECKED, len(error))):
        for name, estimate in by_the_package(error[study], with_arms, centred).items():
            ours = [float(side[study]) for side in batch[name]]
            np.testing.assert_allclose(ours, [estimate.low, estimate.high], atol=1e-9, err_msg=name)


def cell(structure: str, mu: float, n_readers: int, runs: int, rng: np.random.Generator) -> dict:
    """Covered, not covered and missing intervals, and summed width, by design and quantity."""
    variances = STRUCTURES[structure]
    true = truths(mu, variances)
    tally: dict[tuple[str, str], NDArray[np.float64]] = defaultdict(lambda: np.zeros(3))
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
        error = ((rating >= CUT) != truth).astype(float)
        gaps = np.where(rng.random(error.shape) < MISSING, np.nan, error)
        right = 1 - gaps
        parts = [
            ("crossed", "", error, True),
            ("crossed", "mean_benefit sensitivity", error[..., truth], False),
            ("crossed", "mean_benefit specificity", error[..., ~truth], False),
            ("10 % missing", "", gaps, True),
            ("10 % missing", "mean_benefit sensitivity", right[..., truth], False),
            ("10 % missing", "mean_benefit specificity", right[..., ~truth], False),
            ("10 % missing, centred", "mean_benefit sensitivity", right[..., truth], False),
            ("10 % missing, centred", "mean_benefit specificity", right[..., ~truth], False),
        ]
        for design, name, part, with_arms in parts:
            centred = design.endswith("centred")
            found = crossed(part, with_arms) if design == "crossed" else incomplete(part, centred)
            if start == 0:
                compare(found, part, with_arms, centred)
            wanted = found if with_arms else {"arr": found["arr"]}
            for key, (low, high) in wanted.items():
                quantity = name or key
                if design != "crossed" and not with_arms:
                    low, high = -high, -low  # unaided less aided right decisions, turned
                covered = (low <= true[quantity]) & (true[quantity] <= high)
                width = np.nansum(high - low)
                tally[design, quantity] += np.array([covered.sum(), np.isnan(low).sum(), width])
    return {key: (true[key[1]], *counts) for key, counts in tally.items()}


def verdict(low: float, high: float, n_readers: int) -> str:
    if n_readers < 5:
        return "fail" if high < 0.93 else "pass"
    return "fail" if high < 0.935 or low > 0.965 else "pass"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=20240611)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "mrmc_coverage.csv")
    given = parser.parse_args()
    names = [(s, h, j) for s in ("HL", "HH", "LH") for h in AIDED_MU for j in READERS]
    seeds = np.random.SeedSequence(given.seed).spawn(len(names))
    started, rows = time.perf_counter(), []
    for (structure, hypothesis, n_readers), seed in zip(names, seeds, strict=True):
        rng = np.random.default_rng(seed)
        found = cell(structure, AIDED_MU[hypothesis], n_readers, given.runs, rng)
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
