"""Why a number is undefined or has no bound: the notes that several measures share."""

from trustreport.measures.estimate import OFTEN_ABOVE as OFTEN_ABOVE
from trustreport.measures.estimate import OFTEN_BELOW as OFTEN_BELOW
from trustreport.measures.note import NO_NOTE, Note, note

NO_CASE = note("no_case")
NO_CASE_IN_AN_ARM = note("arm_has_no_case")
NO_PAIR = note("no_pair")
NO_DISCORDANT_PAIR = note("no_discordant_pair")

NO_WIDTH = note("no_variation_in_counts_interval_has")

NO_ERROR_IN_EITHER_ARM = note("no_error_in_either_arm")
ONLY_ERRORS_IN_BOTH_ARMS = note("only_errors_in_both_arms")
ZERO_CELL = note("count_zero_this_method_has_no")
RATIO_INFINITE = note("no_error_in_baseline_arm_ratio")
RATIO_INFINITE_NO_INTERVAL = note("no_error_in_baseline_arm_ratio_infinite")
ODDS_INFINITE = note("no_error_in_baseline_arm_or")
ODDS_INFINITE_NO_INTERVAL = note("no_error_in_baseline_arm_or_only")
TOO_MANY_TABLES = note("counts_too_large_for_exact_distribution")

NO_ERROR_CORRECTED = note("no_error_was_corrected_with_aid")
NO_ERROR_CORRECTED_NO_INTERVAL = note("no_error_was_corrected_with_aid_odds")

DIFFERENCE_UNDEFINED = note("difference_error_rates_undefined")
DIFFERENCE_ZERO = note("error_rates_equal_no_number_needed")
THROUGH_INFINITY = note("interval_difference_holds_zero_number_needed")
LIMIT_ZERO = note("limit_difference_zero_number_needed_has")


_OF_SIMULATIONS = OFTEN_ABOVE + OFTEN_BELOW
_MIRRORED = {OFTEN_ABOVE: OFTEN_BELOW, OFTEN_BELOW: OFTEN_ABOVE}


def of_simulations(said: Note) -> Note:
    """What a note says of simulated studies."""
    return said.only(_OF_SIMULATIONS)


def of_the_data(said: Note) -> Note:
    """A note without what it says of simulated studies."""
    return said.without(_OF_SIMULATIONS)


def mirrored(said: Note) -> Note:
    """The note of one minus a number, or of one over it: what lay above lies below."""
    return sum((_MIRRORED.get(one, one) for one in said), NO_NOTE)
