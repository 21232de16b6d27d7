"""Why a number of monitoring is undefined or has no bound: the notes of its estimates."""

from trustreport.measures.note import note

STATISTIC = note("chart_statistic_has_no_interval")
Z_SCORE = note("z_score_has_no_interval")
A_TEST = note("distance_with_test_has_no_interval")
NO_LOOK = note("nothing_to_look_at_yet")

EQUAL_RATES = note("rate_in_control_and_rate_to")
RATE_AT_END = note("rate_0_or_1_gives_event")
NO_BUDGET = note("no_false_alert_budget_declared_control")
BUDGET_AT_END = note("false_alert_budget_not_between_0")
NEVER = note("no_limit_keeps_so_small_budget")

NO_CASE = note("no_case")
NO_EXPOSURE = note("no_exposure_nothing_was_processed")
NO_EVENT = note("no_event_lower_limit_0")
NO_SPREAD = note("target_0_or_1_no_unit")
FEW_EXPECTED = note("fewer_than_5_expected_events_z")
ONE_UNIT = note("one_unit_only_nothing_to_compare")
FEW_UNITS = note("fewer_than_three_units_over_dispersion")

NO_COMMON_STRATUM = note("no_stratum_holds_cases_both_sets")
NOT_ALL_STRATA = note("strata_without_cases_in_one_sets")
ONE_VALUE = note("all_values_alike_in_both_sets")
TOO_FEW = note("fewer_than_two_values_in_set")
NO_INTERVAL = note("one_two_values_has_no_standard")
NO_LIMITS = note("one_two_values_has_no_interval")
TOO_FEW_FOR_MEDIAN = note("too_few_values_for_interval_this")
NO_VALUE = note("no_value")
SHARED = note("clusters_cases_in_both_sets_count")
SHARED_NOT_COUNTED = note("clusters_cases_in_both_sets_their")
NOT_MATCHED = note("which_patients_or_other_clusters_in")
INFINITE_RATIO = note("one_two_ratios_0_or_infinite")
FEW_CLUSTERS = note("fewer_than_two_clusters_in_set")

DELAY = note("from_exact_run_lengths_chart_for")
USUAL_LOOK = note("looks_at_usual_number_cases_assumed")
NO_ALERT = note("chart_never_alerts_at_this_rate")
