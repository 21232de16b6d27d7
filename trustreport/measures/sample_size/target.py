"""From a width to a standard error, and from a real number of cases to a whole one."""

from math import ceil

from trustreport.measures.estimate import Estimate
from trustreport.measures.proportion import normal_quantile


def planning_quantile(level: float) -> float:
    """The z of the published formulas: 1.96 as printed for level .95, the exact quantile otherwise."""
    return 1.96 if level == 0.95 else normal_quantile(level)


def check_inputs(width: float, prevalence: float | None = None) -> None:
    """Refuse a width that is not positive and a prevalence outside [0, 1]."""
    if not width > 0:
        raise ValueError(f"width must be positive, got {width:g}.")
    if prevalence is not None and not 0 <= prevalence <= 1:
        raise ValueError(f"prevalence must lie in [0, 1], got {prevalence:g}.")


def needed(
    exact: float,
    target_se: float,
    *,
    n: int,
    width: float,
    level: float,
    method: str,
    note: str = "",
    least: int = 1,
) -> Estimate:
    """The smallest whole number of cases that is not under `exact` (up to rounding of its last digits)."""
    cases = max(least, ceil(exact * (1 - 1e-12)))
    details = {"exact": exact, "target_se": target_se, "width": width}
    return Estimate(float(cases), float("nan"), float("nan"), n, level, method, note, details=details)
