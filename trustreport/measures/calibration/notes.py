"""Why a calibration measure is undefined, or to be read with care: fixed fragments, joined by "; "."""

NO_CASE = "no case"
ONE_CASE = "one case: no spread to judge by"
NO_NOISE = "nothing varies from sample to sample: the interval has no width and says nothing about precision"
NO_SPREAD = "every case has the same error: the interval has no width and says nothing about precision"
ALIKE = "every case has the same error: no interval"
ONE_CLASS = "calibration needs cases of both classes"
CONSTANT_SCORE = "all scores are alike: no slope"
SEPARATED = "the scores separate the classes: the slope is infinite"
CLIPPED = "scores of 0 or 1 were moved inwards by 1e-8"
NO_CONVERGENCE = "the fit did not converge"
NOTHING_EXPECTED = "the scores expect no event: the ratio is undefined"
NO_EVENT = "no event: the ratio has no interval on the logarithmic scale"
ALL_EVENTS = "nothing but events: the planning variance of the ratio is zero, no interval"
NO_OVER = "no bin overestimates"
NO_UNDER = "no bin underestimates"
FEW_SCORES = "too few different scores for a smooth curve"
SIDE = "no interval: which bins are of this kind changes from sample to sample"
MANY_GROUPED = "more than 200,000 cases: the curve runs through means of neighbouring cases"
MANY_LOESS = "more than 200,000 cases: no second smoother"
NO_INTERVAL = "no interval is computed for it"
NO_RESAMPLING = "no interval without resampling"


def join(*notes: str) -> str:
    """The notes that apply, as one fragment."""
    return "; ".join(note for note in notes if note)
