"""How well a score separates the two classes: areas, their differences, precision, points of the curve.

A score may be anything that rises with suspicion; a decision is positive at ``score >= threshold``. `score` is an
array of numbers, shape (n_cases,), higher = more suspicious, without NaN.
"""
