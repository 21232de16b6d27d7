"""Why an interval of a reader study is missing, or to be read with care: fixed fragments, joined by "; "."""

ONE_READER = "one reader: the spread between readers cannot be estimated"
ONE_CASE = "fewer than two cases (of a class): the spread between cases cannot be estimated"
ONE_CLUSTER = "fewer than two clusters: the spread between them cannot be estimated"
NO_READING = "no reading in this arm"
NO_PAIR = "no case was read in both arms by the same reader"
NO_DIFFERENT_PAIR = (
    "no two readings by different readers of different cases: their spread cannot be estimated"
)
ONE_DOMINATES = (
    "one reader or one case makes up nearly all readings: too few degrees of freedom for an interval"
)
CASES_ONCE = "nothing varies between readers or cases: each case counts once, whoever read it"
PLUGGED_IN = (
    "the unbiased variance estimate is not positive: plug-in components, with the fewest degrees of freedom"
)
NO_VARIATION = "nothing varies between readers or cases, so no standard error: a count, not a certainty"
NOT_POSITIVE = "the unbiased variance estimate is not positive: too few readings for an interval"
NEGATIVE_FIXED = (
    "the fixed-reader variance estimate is negative: "
    "errors of different readers are more alike across arms than within an arm"
)
TWOWAY_NOT_POSITIVE = "the two-way variance estimate is not positive: too few readings for an interval"
CLIPPED = "cov2 is below cov3: the random-reader variance counts their difference as 0"
NOT_CLIPPED = "cov2 is below cov3: the fixed-reader variance keeps the negative difference"
CLIPPED_ARM = "cov2 is negative: the random-reader variance counts it as 0"
NO_SPREAD = "all readers show the same value: no spread between readers to judge by"
SAME_FOR_ALL = "all readers show the same value: the normal quantile is used"
BELOW_FIXED = "standard error below that for these readers alone: too few readers to judge their spread"
FIXED_LEADS = "fewer than five readers: the interval for these readers alone is the wider and leads"
ONLY_FIXED = "describes these readers only: the interval for readers in general is not estimable"
LOW_DF = "degrees of freedom raised to their minimum, the smallest count less one"
NO_EVENT_EITHER = "no event in either arm: the ratio is undefined"
ALL_EVENTS_EITHER = "nothing but events in both arms: the odds ratio is undefined"
ZERO_CELL = "an arm without events, or with nothing else: no interval on the logarithmic scale"
NO_LOG_VARIANCE = "the covariance of the arms gives no positive variance of the logarithm: no interval"
NO_DF = "degrees of freedom cannot be estimated: no interval"
NO_TEST = "the limits of this method come from no test against a single value"
TEST_ONLY = "a test: it has no interval"
NO_DISCORDANT = "no case counts for either arm: no evidence of a difference"
GEE_FAILED = "the estimating equations did not converge"
ADJUSTED = "adjusted for reading order: not the difference of the arm means, which are as they were read"
ONE_ORDER = "these readers read one arm mostly first: the effect of the aid cannot be told from that of order"
ONE_CLASS = "the area under the curve needs cases of both classes"


def join(*notes: str) -> str:
    """The notes that apply, as one fragment."""
    return "; ".join(note for note in notes if note)
