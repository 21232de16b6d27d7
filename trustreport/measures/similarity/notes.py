"""Why a similarity is undefined, or to be read with care: the notes of its estimates."""

from trustreport.measures.note import note

TOO_FEW = note("fewer_than_four_cases_in_set")
NO_FEATURE = note("no_feature")
ALL_ALIKE = note("all_cases_alike_in_every_feature")
CONSTANT_IN_TRAINING = note("feature_does_not_vary_in_training")
BY_FEATURE = note("by_city_block_distances_sees_each")
TEST_ONLY = note("test_has_no_interval")
NO_NULL_SPREAD = note("statistic_same_in_every_permutation")
HALF_ALIKE = note("more_than_half_all_pairs_cases")
WIDTH_FROM_SUBSET = note("kernel_width_from_random_subset_cases")
GROWS_WITH_CASES = note("grows_with_number_cases_for_same")
TOO_FEW_FOR_FOLDS = note("fewer_than_two_cases_set_in")
SMALLER_THAN_SUBSAMPLE = note("set_smaller_than_fixed_size")
NO_VARIATION = note("no_variation_placements_interval_has_no")
