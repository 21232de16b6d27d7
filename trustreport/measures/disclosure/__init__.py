"""Which counts may be published together, so that no small number of people can be computed from them.

`counts` says what a count sums, `withhold` chooses what is not published, `invert` is the attacker who tries
to get it back, `cuts` thins curves and bins scores.
"""
