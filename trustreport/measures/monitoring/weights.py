"""Whole-number scores of an event and of its absence, so that run lengths can be computed exactly."""

from dataclasses import dataclass
from fractions import Fraction
from math import log

from scipy.optimize import brentq

STATISTIC = "a chart statistic: it has no interval"
Z_SCORE = "a z-score: it has no interval"
A_TEST = "a distance with its test: it has no interval"
NO_LOOK = "nothing to look at yet"

EQUAL_RATES = "the rate in control and the rate to detect are equal: there is nothing to detect"
RATE_AT_END = "a rate of 0 or 1 gives an event or its absence infinite weight: choose a rate in between"
NO_BUDGET = "no false-alert budget is declared: the control limit cannot be set"
BUDGET_AT_END = "the false-alert budget is not between 0 and 1"
NEVER = "no limit keeps so small a budget over so many looks"

NO_CASE = "no case"
NO_EXPOSURE = "no exposure: nothing was processed"
NO_EVENT = "no event: the lower limit is 0"
NO_SPREAD = "the target is 0 or 1: no unit can vary about it"
FEW_EXPECTED = "fewer than 5 expected events: the z-score is rough"
ONE_UNIT = "one unit only: nothing to compare it with"
FEW_UNITS = "fewer than three units: over-dispersion cannot be judged"

NO_COMMON_STRATUM = "no stratum holds cases of both sets"
NOT_ALL_STRATA = "strata without cases in one of the sets are left out"
ONE_VALUE = "all values are alike in both sets"
TOO_FEW = "fewer than two values in a set"
NO_INTERVAL = "one of the two values has no standard error"
NO_LIMITS = "one of the two values has no interval"
TOO_FEW_FOR_MEDIAN = "too few values for an interval of this level"
NO_VALUE = "no value"
SHARED = "clusters of cases in both sets count once: the covariance of the two sets is allowed for"
SHARED_NOT_COUNTED = (
    "clusters of cases are in both sets: their covariance is not known for this measure, and the interval "
    "takes the sets as independent"
)
NOT_MATCHED = (
    "which patients or other clusters are in both sets is not known: "
    "the interval takes the sets as independent"
)
INFINITE_RATIO = "one of the two ratios is 0 or infinite"
FEW_CLUSTERS = "fewer than two clusters in a set"

DELAY = (
    "from the exact run lengths of the chart, for a change that comes while it is at 0: it has no interval"
)
USUAL_LOOK = "looks at the usual number of cases are assumed"
NO_ALERT = "the chart never alerts at this rate"


# The ratio of the two scores may differ from that of the likelihood by this share.
TOLERANCE = 0.005
LARGEST = 400


@dataclass(frozen=True, slots=True)
class Weights:
    """Log-likelihood ratio of one case on a lattice: `up` steps for an event, `down` steps for none.

    `unit` is the size of a step in natural logarithms. An event is what speaks for the rate
    to detect; `falling` says that this is the absence of what is counted, because that rate is the lower one.
    `tuned` is the rate to detect for which the whole-number scores are the exact likelihood ratio.
    """

    in_control: float
    to_detect: float
    up: int
    down: int
    unit: float
    falling: bool
    tuned: float

    def event_rate(self, rate: float) -> float:
        """The chance of a step up when the counted rate is `rate`."""
        return 1 - rate if self.falling else rate

    def log_ratio(self, steps: int) -> float:
        """A number of steps as a log-likelihood ratio."""
        return steps * self.unit


def why_not(in_control: float, to_detect: float) -> str:
    """Why two rates give no chart, or nothing.

    >>> why_not(0.1, 0.1)
    'the rate in control and the rate to detect are equal: there is nothing to detect'
    """
    if in_control == to_detect:
        return EQUAL_RATES
    if not (0 < in_control < 1 and 0 < to_detect < 1):
        return RATE_AT_END
    return ""


def log_ratios(in_control: float, to_detect: float) -> tuple[float, float]:
    """What an event adds to the log-likelihood ratio, and what its absence takes away (both positive).

    ::

        ln(p1 / p0),   ln((1 - p0) / (1 - p1))   for p1 > p0

    >>> [round(x, 4) for x in log_ratios(0.01, 0.10)]
    [2.3026, 0.0953]
    """
    return log(to_detect / in_control), log((1 - in_control) / (1 - to_detect))


def weights(in_control: float, to_detect: float) -> Weights:
    """Scores of the two rates in whole numbers.

    The ratio of the scores is the simplest fraction within 0.5 % of that of the likelihood; the rate to
    detect moves by a little, so that the scores are the exact likelihood ratio again (Reynolds and Stoumbos
    tune a Bernoulli chart in the same way).

    Parameters
    ----------
    in_control, to_detect : float in (0, 1)
        Different; see `why_not`.

    Raises
    ------
    ValueError : rates that give no chart

    References
    ----------
    Reynolds, Stoumbos (1999), J. Qual. Technol. 31, 87-108.

    Examples
    --------
    >>> found = weights(0.01, 0.10)
    >>> found.up, found.down, round(found.tuned, 4)
    (97, 4, 0.0995)
    """
    if why := why_not(in_control, to_detect):
        raise ValueError(f"{why} (in_control {in_control:g}, to_detect {to_detect:g}).")
    falling = to_detect < in_control
    p0, p1 = (1 - in_control, 1 - to_detect) if falling else (in_control, to_detect)
    up, down = log_ratios(p0, p1)
    ratio = _simplest(up / down)
    tuned = _tuned(p0, p1, float(ratio))
    unit = log_ratios(p0, tuned)[1] / ratio.denominator
    return Weights(
        in_control,
        to_detect,
        ratio.numerator,
        ratio.denominator,
        unit,
        falling,
        1 - tuned if falling else tuned,
    )


def _simplest(ratio: float) -> Fraction:
    """The fraction of smallest terms near the ratio."""
    turned = ratio < 1
    exact = Fraction(1 / ratio if turned else ratio)
    found = Fraction(1)
    for most in range(1, LARGEST):
        found = max(exact.limit_denominator(most), Fraction(1))
        if abs(float(found / exact) - 1) <= TOLERANCE:
            break
    return 1 / found if turned else found


def _tuned(p0: float, p1: float, ratio: float) -> float:
    """The rate to detect near p1 at which the likelihood's scores have exactly this ratio."""

    def excess(p: float) -> float:
        up, down = log_ratios(p0, p)
        return up - ratio * down

    low, high = p0 + (p1 - p0) * 0.5, p1 + (1 - p1) * 0.5
    return float(brentq(excess, low, high, xtol=1e-15, rtol=1e-14))
