"""Why an agreement of raters is undefined, or to be read with care: the notes of its estimates."""

from trustreport.measures.note import note

NO_PAIR = note("no_case_was_labelled_by_two")
ONE_CATEGORY = note("all_labels_same_agreement_by_chance")
ONE_CASE = note("fewer_than_two_cases_were_labelled_by")
NO_VARIATION = note("cases_do_not_vary_in_agreement")
NO_PAIR_DEFINED = note("no_two_raters_labelled_common_case")
SOME_PAIRS_UNDEFINED = note("pairs_raters_without_kappa_no_common")
FEW_OF_A_LABEL = note("two_raters_gave_fewer_than_10")
FEW_AGREED = note("fewer_than_5_cases_on_which_pair")
FEW_OFF_THE_USUAL = note("fewer_than_5_cases_on_which")
ALL_AGREE = note("every_pair_labels_agrees_lower_limit")
SINGLE_LABELS = note("cases_with_one_label_count_for")
SINGLE_LABELS_ADD = note("case_with_one_label_adds_accuracy")
NO_RESAMPLE = note("coefficient_undefined_in_nearly_every_resample")
SOME_RESAMPLES = note("resamples_in_which_coefficient_undefined_left")
NO_WHOLE_CASES = note("fewer_than_two_cases_were_labelled")
INCOMPLETE_LEFT_OUT = note("cases_that_rater_did_not_label")
IN_CLUSTERS = note("cases_belong_together_and_limits_by")
NO_F_LIMITS = note("cases_or_labels_case_do_not")
