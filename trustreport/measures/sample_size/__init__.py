"""How many cases an external validation needs, one file a measure: exact, without simulation.

Each gives the smallest number of cases with which the measure's interval is at most `width` wide (all of it,
not half) if the stated values hold; rounded up, so never under the need.
"""
