"""Why an area, a difference or an interval is missing: the notes of its estimates."""

from trustreport.measures.note import note

NO_POSITIVE = note("no_case_has_condition")
NO_NEGATIVE = note("every_case_has_condition")
ONE_CASE = note("class_has_one_case_no_interval")
PERFECT = note("scores_separate_classes_completely_or_wrong")
ALL_PAIRS_ALIKE = note("every_pair_positive_and_negative_counts")
NO_VARIATION = note("two_scores_rank_all_pairs_alike")
NOTHING_IN_GROUP = note("curve_has_no_length_between_these")
FEW_RESAMPLES = note("in_some_resamples_curve_has_no")
