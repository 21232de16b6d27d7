"""Whether scores that claim to be probabilities are: in the large, by bins, by a line, by a curve.

`score`, float array, shape (n_cases,): the probability of the condition.
"""
