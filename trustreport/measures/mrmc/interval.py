"""Symmetric intervals: value +- quantile x standard error, with Student's t or the normal distribution."""

from collections.abc import Mapping
from math import inf, isinf, nan, sqrt
from typing import TYPE_CHECKING

from trustreport.measures.estimate import Estimate, check_level
from trustreport.measures.note import NO_NOTE, Note

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Of SciPy each function imports what it uses: the process that draws needs this module, and not SciPy.

NEGLIGIBLE = 1e-14  # a variance below this is rounding: one reading in ten million changes a share by more
NORMAL_FROM = 1e7  # degrees of freedom from which t and normal agree to more digits than are kept


def quantile(df: float, level: float) -> float:
    """Two-sided critical value of Student's t; `df` infinite: of the normal distribution."""
    from scipy.special import ndtri, stdtrit

    if df > NORMAL_FROM:
        return float(-ndtri((1 - level) / 2))
    return float(-stdtrit(df, (1 - level) / 2))


def df_by_kurtosis(part: "NDArray[np.float64]") -> float:
    """Degrees of freedom of the variance of a mean of n numbers, by their kurtosis k.

    ::

        2 n / (k - (n - 3) / (n - 1)),   at most n - 1

    Of normal numbers n - 1; where a few of them make up nearly all variance it is near their number.

    References
    ----------
    Shoemaker (2003), Am. Stat. 57, 243-249.
    """
    n, away = len(part), part - part.mean()
    kurtosis = float((away**4).mean() / (away**2).mean() ** 2)
    return float(min(n - 1.0, 2 * n / max(kurtosis - (n - 3) / (n - 1), 2 / (n - 1))))


def two_sided_p(statistic: float, df: float = inf) -> float:
    """Chance of a statistic at least as far from 0, by Student's t; `df` infinite: by the normal."""
    from scipy.special import ndtr, stdtr

    if df > NORMAL_FROM:
        return float(2 * ndtr(-abs(statistic)))
    return float(2 * stdtr(df, -abs(statistic)))


def f_tail(statistic: float, df1: float, df2: float) -> float:
    """Chance of a larger F; `df2` may be infinite."""
    from scipy.special import fdtrc

    return float(fdtrc(df1, min(df2, NORMAL_FROM), statistic))


def symmetric(
    value: float,
    variance: float,
    n: int,
    *,
    df: float = inf,
    level: float = 0.95,
    method: str = "",
    note: Note = NO_NOTE,
    null: float = nan,
    shown_df: float = nan,
    details: Mapping[str, float] | None = None,
) -> Estimate:
    """The interval value +- quantile x sqrt(variance), with a two-sided p where a `null` value is given.

    `df` is what the quantile uses (infinite: normal), `shown_df` what the result reports, `df` unless given
    otherwise. The variance must be positive: a caller that has none says why with `no_interval`.
    """
    check_level(level)
    se = sqrt(variance)
    half = quantile(df, level) * se
    return Estimate(
        value,
        value - half,
        value + half,
        n,
        level,
        method,
        note,
        se=se,
        df=shown_df if shown_df == shown_df or isinf(df) else df,
        p=two_sided_p((value - null) / se, df) if null == null else nan,
        details=details or {},
    )


def no_interval(
    value: float,
    n: int,
    note: Note,
    *,
    level: float = 0.95,
    method: str = "",
    details: Mapping[str, float] | None = None,
) -> Estimate:
    """A value whose interval these data do not yield; `note` says why."""
    check_level(level)
    return Estimate(value, nan, nan, n, level, method, note, details=details or {})
