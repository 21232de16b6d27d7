"""What every room speaks: quantities, places and digits of a number, messages in four languages, errors.

Begin with `quantities`: a row for each quantity, which everything else reads. Imports measures.
"""
