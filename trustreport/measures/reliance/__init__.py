"""Reliance: what readers do with right and with wrong advice.

Each reading has a *pattern*: three digits for the decision before the advice, the advice, and the decision
after it, 1 = right. ``011`` is an error corrected after right advice, ``100`` a right decision given up for
wrong advice.
"""
