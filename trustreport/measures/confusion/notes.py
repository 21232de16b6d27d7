"""Why a measure of the four cells is undefined or has no bound: the notes of its estimates."""

from trustreport.measures.note import note

NO_CASE = note("no_case")
NO_POSITIVE = note("no_case_has_condition")
NO_NEGATIVE = note("every_case_has_condition")
NONE_CALLED_POSITIVE = note("no_case_was_called_positive")
NONE_CALLED_NEGATIVE = note("no_case_was_called_negative")
NOTHING_POSITIVE = note("no_case_has_condition_and_none")
NOTHING_NEGATIVE = note("every_case_has_condition_and_every")
ALL_ALIKE = note("all_cases_one_class_and_all")
NO_FALSE_POSITIVE = note("no_false_positive_ratio_infinite")
NO_TRUE_NEGATIVE = note("no_true_negative_ratio_infinite")
NO_ERROR_IN_A_CLASS = note("no_error_in_one_classes_odds")
ONE_CLASS_ALL_RIGHT = note("one_class_was_called_right_throughout")
ONE_CLUSTER = note("fewer_than_two_clusters_hold_such")
AT_THE_EDGE = note("value_at_end_range_this_method")
NO_SPREAD_BETWEEN_CLUSTERS = note("nothing_varies_between_clusters_no_interval")
CLUSTERS_AS_CASES = note("nothing_varies_between_clusters_each_cluster")
NO_POSITIVE_VERIFIED = note("no_case_called_positive_has_truth")
NO_NEGATIVE_VERIFIED = note("no_case_called_negative_has_truth")
NONE_PRESENT_VERIFIED = note("no_case_with_truth_has_condition")
NONE_ABSENT_VERIFIED = note("no_case_with_truth_without_condition")
