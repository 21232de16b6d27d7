"""Why no sample size follows: fixed fragments."""

ONE_CLASS = "no sample size without cases of both classes"
SEPARATED = "an area of 0 or 1 has no planning variance: no sample size follows"
NO_VARIANCE = "every case has the same error: no sample size follows"
NOBODY_CALLED = "nobody is called positive: the net benefit is 0 and has no planning variance"
ALL_RIGHT = "every call is right: the net benefit has no planning variance"
NO_SPREAD = "the scores do not vary: the slope is not estimable with any number of cases"
EXTREME = "a score of 0 or 1 was moved inwards"
