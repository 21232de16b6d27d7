"""Agreement of raters: how far the labels behind a reference standard are the same whoever gives them.

Labels stand as `codes` (n_cases, n_raters): whole numbers from 0, -1 where a rater gave no label. Cases that
nobody labelled are left out; a case with one label shows how categories are used, but no agreement.
"""
