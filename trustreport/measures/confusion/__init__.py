"""Decisions against the truth, counted in four cells: each measure with its interval.

`counts.ConfusionCounts` holds the cells, `measure` says what a measure is, `table.MEASURES` holds them by
name, `independent` estimates them at the prevalence of the cases or another, `clustered` where cases are not
independent.
"""
