"""Why a number is undefined or has no bound: fixed fragments, which the message catalogue translates."""

from trustreport.measures.estimate import OFTEN_ABOVE as OFTEN_ABOVE
from trustreport.measures.estimate import OFTEN_BELOW as OFTEN_BELOW

NO_CASE = "no case"
NO_CASE_IN_AN_ARM = "an arm has no case"
NO_PAIR = "no pair"
NO_DISCORDANT_PAIR = "no discordant pair"

NO_WIDTH = "no variation in the counts: the interval has no width and says nothing about precision"

NO_ERROR_IN_EITHER_ARM = "no error in either arm"
ONLY_ERRORS_IN_BOTH_ARMS = "only errors in both arms"
ZERO_CELL = "a count is zero: this method has no interval"
RATIO_INFINITE = "no error in the baseline arm: the ratio is infinite"
RATIO_INFINITE_NO_INTERVAL = (
    "no error in the baseline arm: the ratio is infinite and this method has no interval"
)
ODDS_INFINITE = "no error in the baseline arm or only errors in the compared arm: the odds ratio is infinite"
ODDS_INFINITE_NO_INTERVAL = (
    "no error in the baseline arm or only errors in the compared arm: "
    "the odds ratio is infinite and this method has no interval"
)
TOO_MANY_TABLES = "counts too large for the exact distribution"

NO_ERROR_CORRECTED = "no error was corrected with the aid: the odds ratio is infinite"
NO_ERROR_CORRECTED_NO_INTERVAL = (
    "no error was corrected with the aid: the odds ratio is infinite and this method has no interval"
)

DIFFERENCE_UNDEFINED = "the difference of the error rates is undefined"
DIFFERENCE_ZERO = "the error rates are equal: no number needed"
THROUGH_INFINITY = "the interval of the difference holds zero: the number needed runs through infinity"
LIMIT_ZERO = "a limit of the difference is zero: the number needed has no bound"


def of_simulations(note: str) -> str:
    """What a note says of simulated studies."""
    return "; ".join(said for said in note.split("; ") if said in (OFTEN_ABOVE, OFTEN_BELOW))


def of_the_data(note: str) -> str:
    """A note without what it says of simulated studies."""
    return "; ".join(said for said in note.split("; ") if said not in (OFTEN_ABOVE, OFTEN_BELOW))


def mirrored(note: str) -> str:
    """The note of one minus a number, or of one over it: what lay above lies below."""
    other = {OFTEN_ABOVE: OFTEN_BELOW, OFTEN_BELOW: OFTEN_ABOVE}
    return "; ".join(other.get(said, said) for said in note.split("; "))
