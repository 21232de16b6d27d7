"""The limits of the checks: what is customary of each, and to which side the manifest may move it."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isclose
from typing import Literal


@dataclass(frozen=True, slots=True)
class Limit:
    """A number that a check or a table compares with; None is customary where the data give it.

    `stricter` is the side on which a check that withholds verdicts fires more often. The manifest may move
    such a limit to that side only: declared the other way, it would silence a block.
    """

    customary: float | None = None
    stricter: Literal["lower", "higher"] | None = None

    def allows(self, value: float) -> bool:
        """Whether a manifest may declare a value.

        >>> Limit(0.05, "higher").allows(0.1), Limit(0.05, "higher").allows(0.01), Limit(0.05).allows(0.01)
        (True, False, True)
        """
        if self.customary is None or self.stricter is None:
            return True
        if isclose(value, self.customary):
            return True
        return value > self.customary if self.stricter == "higher" else value < self.customary


# Each by its name in the manifest, which begins with the check that it belongs to.
LIMITS: Mapping[str, Limit] = {
    "P05_accuracy": Limit(0.8),  # an accuracy from here on, with a Matthews correlation below P05_mcc
    "P05_gap": Limit(0.2),  # sensitivity and specificity, or the predictive values, further apart than this
    "P05_mcc": Limit(0.4),
    "P08_margin": Limit(),  # above the share of the more common class; else the width of the interval
    "P10_distance": Limit(0.0, "higher"),  # in standard deviations of the training set, of a near copy
    "P12_cases": Limit(30, "lower"),  # from which a reference that is always the decision is no accident
    "P13_alpha": Limit(0.05, "higher"),  # of the tests that verification depends on the decision or the score
    "P14_agreement": Limit(0.667),  # Krippendorff (2019): the least alpha for tentative conclusions
    "P14_single": Limit(0.1),  # share of cases with one label from which agreement says little of them
    "P15_days": Limit(),  # between test and reference; else reference_standard.interval_days
    "P16_share": Limit(0.6, "lower"),  # share of pairs with one arm first above which order bears on changes
    "P17_days": Limit(28.0),  # days between the arms under which a case is still in memory
    "P18_days": Limit(1.0),  # days under which two readings of a case belong to one sitting
    "P20_alpha": Limit(0.05, "higher"),  # adjusted p-value up to which missing readings are not balanced
    "P21_ratio": Limit(2.0),  # times the readings of another from which a reader or case is out of balance
    "P27_share": Limit(0.25),  # share of readers who did worse from which the average hides them
    "P29_harmful_switch_rate": Limit(0.1),  # of right decisions given up for wrong advice
    "P33_values": Limit(20, "lower"),  # different scores under which nothing is said of the best threshold
    "P37_positives": Limit(10, "higher"),  # cases of a class below which only counts of a group are reported
    "P37_negatives": Limit(10, "higher"),
    "P38_share": Limit(0.1, "lower"),  # share of cases without a value from which a group says little of all
    "P40_classifier": Limit(0.6),  # area of the classifier up to which the size-free measure agrees
    "P40_similarity": Limit(0.6),  # degree of correspondence from which a set is too similar
    "P41_similarity": Limit(0.4),  # degree of correspondence under which a set is dissimilar
    "P42_p": Limit(0.05),  # p-value that ten permutations at least should be able to undercut
    "P43_score": Limit(0.5),  # SPR or WPR from which a score is strong
    "P43_splits": Limit(20),  # internal splits under which their least value depends on their number
    "P44_sets": Limit(10),  # external sets under which a correlation is not interpreted
    "P45_auc": Limit(0.7),  # area from which a model ranks well
    "P46_range": Limit(0.05),  # change of a calibration value with the number of bins
    "P47_auc": Limit(0.7),  # bound of the AUC where no endpoint declares one
    "P47_i2": Limit(0.75),  # share of the spread between sites beyond chance from which they differ much
    "P53_immature": Limit(0.1, "lower"),  # share of a period that may be immature
    "P56_shrink": Limit(0.25),  # share of a change that standardising takes away
    "P57_rate": Limit(0.001),  # rate of events that no event at all should exclude
    "P59_cell": Limit(5),  # cases below which a cell is not shown in a public report
    "P63_share": Limit(0.5),  # of the cases censored before the horizon
    "P64_p": Limit(0.01, "higher"),  # of a test that censoring does not depend on the score, and
    "P64_gap": Limit(0.05, "lower"),  # between the halves of the scores in the chance of follow-up
    "P66_share": Limit(0.1),  # of the marks that would change with another acceptance radius
    "power_difference": Limit(),  # the gain that the next study of readers is to find
}
