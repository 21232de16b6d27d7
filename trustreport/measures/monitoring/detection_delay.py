"""How long a change goes unseen by a sequential chart."""

from math import isfinite, nan

from scipy.sparse import csr_array

from trustreport.measures.estimate import Estimate, check_level, undefined
from trustreport.measures.monitoring import notes
from trustreport.measures.monitoring.charts import METHOD as CUSUM
from trustreport.measures.monitoring.charts import SPRT_METHOD as SPRT
from trustreport.measures.monitoring.charts import CusumDesign, SprtChart
from trustreport.measures.monitoring.run_length import (
    average_run_length,
    bernoulli,
    binomial,
    cusum_moves,
    median_run_length,
    restarting_moves,
)
from trustreport.measures.note import NO_NOTE, Note

STATISTICS = ("mean", "median")


def cusum_delay(
    designed: CusumDesign, *, cases: int = 1, n: int = 0, level: float = 0.95, note: Note = NO_NOTE
) -> dict[str, Estimate]:
    """Cases until a CUSUM alerts while the rate is the one to detect: mean and median.

    The chart is a Markov chain; with Q its transitions at the rate to detect, N the looks until the alert::

        mean   = cases x E(N),    E(N) = e' (I - Q)^-1 1
        median = cases x min n with P(N > n) = e' Q^n 1 <= 1/2

    Estimand: the delay of a change that comes while the chart is at 0, where it is longest.

    Parameters
    ----------
    cases : int
        Of each look; 1 where every case is a look.
    n : int
        Carried along: the cases charted so far.
    note : str
        Said of both.

    Returns
    -------
    dict of Estimate
        "mean" and "median", in cases, without an interval; `details` hold the looks. NaN with a note where
        the chart never alerts.

    References
    ----------
    Brook, Evans (1972), Biometrika 59, 539-549. Lorden (1971), Ann. Math. Stat. 42, 1897-1908 (the longest
    delay). Tan, Pooi, Chong (2005), Malays. J. Sci. 24, 45-50 (median).

    Examples
    --------
    >>> from trustreport.measures.monitoring.charts import design
    >>> found = cusum_delay(design(0.10, 0.20, budget=0.05, sizes=[1] * 500))
    >>> {name: round(e.value) for name, e in found.items()}
    {'mean': 108, 'median': 93}
    """
    found = designed.weights
    rate = found.event_rate(found.to_detect)
    step = (
        bernoulli(rate, found.up, found.down) if cases == 1 else binomial(cases, rate, found.up, found.down)
    )
    return _delay(cusum_moves(step, designed.limit), 0, cases, n, level, CUSUM, note)


def sprt_delay(
    run: SprtChart, *, n: int = 0, level: float = 0.95, note: Note = NO_NOTE
) -> dict[str, Estimate]:
    """Cases until the tests of an SPRT, one after the other, alert while the rate is the one to detect.

    As `cusum_delay`; a test that ends in control is followed by the next, so that its cases count too.

    Examples
    --------
    >>> from trustreport.measures.monitoring.charts import sprt
    >>> import numpy as np
    >>> run = sprt(np.zeros(9, np.int64), 0.10, 0.20, budget=0.05)[1]
    >>> {name: round(e.value) for name, e in sprt_delay(run).items()}
    {'mean': 65, 'median': 51}
    """
    found = run.weights
    low, high = round(run.low / found.unit), round(run.high / found.unit)
    step = bernoulli(found.event_rate(found.to_detect), found.up, found.down)
    return _delay(restarting_moves(step, low, high), -low - 1, 1, n, level, SPRT, note)


def _delay(
    moves: csr_array, start: int, cases: int, n: int, level: float, method: str, note: Note
) -> dict[str, Estimate]:
    check_level(level)
    made = {}
    for name, of in zip(STATISTICS, (average_run_length, median_run_length)):
        looks = of(moves, start)
        said = notes.DELAY + note
        made[name] = (
            Estimate(cases * looks, nan, nan, n, level, method, said, details={"looks": looks})
            if isfinite(looks)
            else undefined(n, notes.NO_ALERT, level=level, method=method)
        )
    return made
