"""Decisions against the truth, counted in four cells: each measure with its interval.

`counts.ConfusionCounts` holds the cells, `table.MEASURES` names the measures, `at_prevalence` weighs them for
another prevalence, `clustered` takes cases that are not independent.
"""
