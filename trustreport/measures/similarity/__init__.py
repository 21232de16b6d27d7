"""How alike the cases of another site are to the training cases, feature by feature together.

`features` puts both sets into one unit and measures distances, `correspondence` holds the degree of
correspondence, the energy distance and a kernel test, which share `permutation`, `effect` measures of size
that do not grow with the number of cases, `duplicates` cases that occur twice.
"""
