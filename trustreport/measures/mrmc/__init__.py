"""Inference for readers who judge the same cases: who is sampled (readers, cases, both) decides the interval.

Every module takes a dense array ``(n_arms, n_readers, n_cases)`` with NaN where there is no reading. For a
proportion it holds 1.0 where the event was counted, for the area under the ROC curve the rating. Sensitivity
and specificity are proportions over the cases of their own class: pass those cases only.
"""
