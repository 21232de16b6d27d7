"""Why a number of monitoring is undefined or has no bound: fixed fragments."""

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
