"""Decisions against the truth, counted in four cells: each measure with its interval.

`counts.ConfusionCounts` holds the cells, `measure` says what a measure is, `table.MEASURES` holds them by
name, `at_prevalence` weighs them for another prevalence, `clustered` takes cases that are not independent.
"""
