"""Agreement of raters: how far the labels behind a reference standard are the same whoever gives them.

Labels stand as `codes` (n_cases, n_raters): whole numbers from 0 to n_categories - 1, -1 where a rater gave
no label. Cases that nobody labelled are left out; a case with one label shows how categories are used, but
no agreement. `weights`, float array, shape (n_categories, n_categories), is the credit in [0, 1] for two
labels, 1 on the diagonal; all or nothing where absent. `multiplicity`, shape (n_raters,), is how often each
rater counts, for a bootstrap over raters.
"""
