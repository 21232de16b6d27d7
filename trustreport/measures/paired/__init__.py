"""Two decisions on the same cases: difference, ratio, odds ratio and McNemar's tests."""
