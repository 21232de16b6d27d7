"""How well a score separates the two classes: areas, their differences, precision, points of the curve.

A `score`, array of numbers, shape (n_cases,), may be anything that rises with suspicion, without NaN; a
decision is positive at ``score >= threshold``.
"""
