"""Why an H-accuracy is undefined or has no interval: the notes of its estimates."""

from trustreport.measures.note import note

CLASS_ABSENT = note("class_that_has_priority_has_no")
NO_COMPLEXITY = note("cases_class_that_has_priority_have")
FEW_CREDITED = note("fewer_than_10_cases_or_clusters")
"""Of a class that has priority; `measure.FEWEST`."""
FEW_DIFFER = note("credits_differ_in_fewer_than_10")
NO_WIDTH = note("every_resample_gives_same_value_interval")
