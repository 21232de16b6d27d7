"""Why a measure at a horizon is undefined, or has no interval: the notes of its estimates."""

from trustreport.measures.note import note

NO_CASE = note("no_case_with_known_follow_up")
NOT_REACHED = note("nobody_was_followed_to_horizon_and")
NO_EVENT = note("no_event_by_horizon")
ALL_EVENTS = note("every_case_whose_state_at_horizon")
ONE_EVENT = note("one_event_or_one_case_without")
NO_NOISE = note("too_few_cases_with_event_or")
ONE_CLUSTER = note("fewer_than_two_clusters_hold_case_with")
NONE_CALLED = note("no_case_known_state_at_horizon")
ALL_CALLED = note("every_case_known_state_at_horizon")
NOTHING_EXPECTED = note("scores_expect_no_event_ratio_undefined")
CONSTANT_SCORE = note("all_scores_alike_no_slope")
SEPARATED = note("scores_separate_cases_with_event_from")
CLIPPED = note("scores_0_or_1_were_moved")
NO_CONVERGENCE = note("fit_did_not_converge")
PERFECT = note("every_case_with_event_scores_above")
NO_CENSORING = note("no_case_was_censored_before_horizon")
NO_SPREAD_AT_RISK = note("scores_cases_at_risk_censoring_do")
