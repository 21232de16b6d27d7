"""Why an agreement of raters is undefined, or to be read with care: fixed fragments, joined by "; "."""

NO_PAIR = "no case was labelled by two raters"
ONE_CATEGORY = "all labels are the same: agreement by chance is complete and nothing can be said beyond it"
ONE_CASE = "fewer than two cases were labelled by two raters: the spread between cases cannot be estimated"
NO_VARIATION = "cases do not vary in agreement: no standard error, and nothing said about precision"
NO_PAIR_DEFINED = "no two raters labelled a common case in more than one way: their kappa is undefined"
SOME_PAIRS_UNDEFINED = "pairs of raters without a kappa (no common case, or one label only) are left out"
FEW_OF_A_LABEL = (
    "two raters gave fewer than 10 cases the rarer label: an interval of the coefficient would include its "
    "true value too rarely (57% in place of 95% in simulations)"
)
FEW_AGREED = (
    "fewer than 5 cases on which a pair of raters agrees in the rarer label: an interval of the coefficient "
    "would include its true value too rarely (27% to 92% in place of 95% in simulations)"
)
FEW_OFF_THE_USUAL = (
    "fewer than 5 cases on which a pair of raters agrees in another label than the most frequent "
    "one: an interval "
    "of the coefficient would include its true value too rarely (41% to 94% in place of 95% in simulations)"
)
ALL_AGREE = (
    "every pair of labels agrees: the lower limit is that of the agreement, "
    "with agreement by chance as observed"
)
SINGLE_LABELS = (
    "cases with one label count for how often each label is used, not for agreement: with other labels "
    "missing the value would differ"
)
SINGLE_LABELS_ADD = (
    "a case with one label adds the accuracy of its rater, so that the value depends on which labels are "
    "missing"
)
NO_RESAMPLE = "the coefficient is undefined in nearly every resample"
SOME_RESAMPLES = "resamples in which the coefficient is undefined are left out"
NO_WHOLE_CASES = "fewer than two cases were labelled by every rater"
INCOMPLETE_LEFT_OUT = "cases that a rater did not label are left out"
IN_CLUSTERS = "cases belong together, and limits by the F distribution take them as independent: no interval"
NO_F_LIMITS = "cases or labels of a case do not differ enough for limits by the F distribution"
