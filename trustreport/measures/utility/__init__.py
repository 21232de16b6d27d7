"""What decisions are worth: utility yield, candidates ranked by it, and the operating point it calls for.

A utility matrix has a row for each decision and a column for each truth, the negative class first.
"""
