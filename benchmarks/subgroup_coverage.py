"""How often intervals for the readers' gain in one group less that in another hold the truth.

Right decisions from a probit model: case, reader, reader by arm, and reader by arm by group vary. Readers and
cases are drawn anew each time; the truth is the mean of large studies.

    python benchmarks/subgroup_coverage.py > benchmarks/results/subgroup_coverage.csv
"""

import numpy as np

from trustreport.estimate import Estimate
from trustreport.measures.mrmc.covariance import proportion_covariance, proportions
from trustreport.measures.mrmc.ustatistic import ustatistic
from trustreport.measures.subgroup_effect import effect_differences, leading_mode

RUNS = 2000
READERS, SIZES, SPREADS = (4, 6, 12), ((30, 30), (80, 40), (20, 100)), (0.0, 0.15)
CONTRAST = np.array([1.0, -1.0, -1.0, 1.0])


def study(rng: np.random.Generator, readers: int, sizes: tuple[int, int], spread: float) -> list[np.ndarray]:
    """Right decisions (2, readers, cases) of each group."""
    of_reader, of_arm = rng.normal(0, 0.3, readers), rng.normal(0, 0.15, (2, readers))
    groups = []
    for level, n in zip((0.5, 0.9), sizes):
        mean = (
            level + np.array([0.3, 0.0])[:, None] + of_reader + of_arm + rng.normal(0, spread, (2, readers))
        )
        latent = mean[:, :, None] + rng.normal(0, 0.7, n) + rng.normal(0, 0.7, (2, readers, n))
        groups.append((latent > 0).astype(float))
    return groups


def main() -> None:
    """A row for each design: how often the truth lay in the interval that leads, and in that with gaps."""
    print("readers,first,second,spread,analysis,runs,coverage,no_interval")
    for readers in READERS:
        for sizes in SIZES:
            for spread in SPREADS:
                rng = np.random.default_rng([readers, *sizes, int(100 * spread)])
                # The gain as a difference of shares is not quite the same at another level: the mean of many.
                truth = np.mean([gain_difference(study(rng, 200, (2000, 2000), spread)) for _ in range(5)])
                found: dict[str, list[float]] = {"leads": [], "ustatistic": []}
                for _ in range(RUNS):
                    groups = study(rng, readers, sizes, spread)
                    theta = (proportions(groups[0]), proportions(groups[1]))
                    covariance = (proportion_covariance(groups[0]), proportion_covariance(groups[1]))
                    modes = effect_differences(theta, covariance, sizes)
                    e = modes[leading_mode(modes, readers)]
                    found["leads"].append(np.nan if np.isnan(e.low) else float(e.low <= truth <= e.high))
                    u = with_gaps(rng, groups)
                    found["ustatistic"].append(np.nan if np.isnan(u.low) else float(u.low <= truth <= u.high))
                for name, held in found.items():
                    shown = f"{np.nanmean(held):.4f},{int(np.isnan(held).sum())}"
                    print(f"{readers},{sizes[0]},{sizes[1]},{spread},{name},{RUNS},{shown}", flush=True)


def gain_difference(groups: list[np.ndarray]) -> float:
    """Gain in the first group less that in the second."""
    first, second = (float(g[0].mean() - g[1].mean()) for g in groups)
    return first - second


def with_gaps(rng: np.random.Generator, groups: list[np.ndarray]) -> Estimate:
    """The same readings, one in twenty missing."""
    n, m = groups[0].shape[2], groups[1].shape[2]
    outcome = np.full((4, groups[0].shape[1], n + m), np.nan)
    outcome[:2, :, :n], outcome[2:, :, n:] = groups
    outcome[rng.random(outcome.shape) < 0.05] = np.nan
    return ustatistic(outcome).contrast(CONTRAST)


if __name__ == "__main__":
    main()
