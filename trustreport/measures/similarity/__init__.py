"""How alike the cases of another site are to the training cases, feature by feature together.

`features` puts both sets into one unit, `correspondence` holds the degree of correspondence and the energy
distance, which share one product of distances and permutations, `mmd` a kernel test, `effect` measures of
size that do not grow with the number of cases.
"""
