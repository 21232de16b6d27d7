"""Why a similarity is undefined, or to be read with care: fixed fragments, joined by "; "."""

TOO_FEW = "fewer than four cases in a set: too few to compare"
NO_FEATURE = "no feature"
ALL_ALIKE = "all cases are alike in every feature"
CONSTANT_IN_TRAINING = "a feature does not vary in the training set: it counts in its own unit"
BY_FEATURE = "by city-block distances it sees each feature by itself, not how features go together"
TEST_ONLY = "a test: it has no interval"
NO_NULL_SPREAD = "the statistic is the same in every permutation"
HALF_ALIKE = "more than half of all pairs of cases are alike: the kernel has no width"
WIDTH_FROM_SUBSET = "kernel width from a random subset of cases"
GROWS_WITH_CASES = "grows with the number of cases for the same difference of sources"
TOO_FEW_FOR_FOLDS = "fewer than two cases of a set in a fold: no cross-validated classifier"
SMALLER_THAN_SUBSAMPLE = "a set is smaller than the fixed size"
NO_VARIATION = "no variation of the placements: the interval has no width and says nothing about precision"


def join(*notes: str) -> str:
    """The notes that apply, as one fragment."""
    return "; ".join(note for note in notes if note)
