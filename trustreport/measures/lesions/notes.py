"""Why a measure of localisation, or its interval, is missing: the notes of its estimates."""

from trustreport.measures.note import note

NO_LESION = note("no_case_has_lesion")
NO_CASE_WITHOUT = note("every_case_has_lesion_there_no")
ONE_CASE = note("fewer_than_two_cases_with_lesion")
NOT_REACHED = note("so_many_false_marks_case_were")
ALL_ALIKE = note("nothing_varies_between_cases_interval_counts")
AT_THE_END = note("every_pair_lesion_and_case_without")
NO_FALSE_MARK = note("no_false_mark_upper_limit_poisson")
