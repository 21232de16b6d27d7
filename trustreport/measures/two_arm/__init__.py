"""Two independent groups: difference, ratio and odds ratio of two proportions.

`x1`, `n1`, `x2`, `n2`, int: events and cases of either group.
"""
