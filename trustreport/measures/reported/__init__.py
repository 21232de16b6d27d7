"""Published figures: every table of counts that fits what was printed, counted without listing it.

A table of counts (tp, fn, fp, tn) is held as weights see it: each metric but MCC is a ratio of two sums of
cells, so that a figure printed for it is a pair of linear bounds with whole weights. All decisions are made
in integers.
"""
