"""What a public report withholds of whole sets: numbers, curves and sentences that give small cells back.

`cells` finds the tables that results hold and the results that say too much of them, `cuts` the thresholds
that a curve may show, `guard` takes it all out of the findings.
"""
