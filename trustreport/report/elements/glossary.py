"""Terms that the report uses and a reader may not know, each in a line."""

from trustreport.assessment.assess import Assessment
from trustreport.vocabulary.messages import Catalogue

MOST = 9
# Terms in the order in which they matter, with the result ids that show that a report uses them.
TERMS: dict[str, tuple[str, ...]] = {
    "interval": (),
    "sensitivity": ("sensitivity",),
    "auc": ("auc",),
    "oe_ratio": ("oe_ratio",),
    "calibration_slope": ("calibration_slope",),
    "harmful_switch": ("harmful_switch_rate",),
    "advice": ("rair", "rsr", "agreement_with_advice"),
    "nnd": ("nnd",),
    "actual_accuracy": ("actual_accuracy",),
    "degree_of_correspondence": ("degree_of_correspondence",),
    "spr": ("spr", "wpr"),
    "utility_yield": ("utility_yield",),
    "alpha": ("krippendorff_alpha",),
    "advisory_value": ("advisory_value",),
    "h_accuracy": ("h_accuracy",),
    "reliance": ("rair", "rsr", "rbod", "rbt"),
    "bias_odds": ("rair_difference", "rsr_difference"),
    "control_chart": ("cusum", "sprt"),
    "voi": ("voi",),
}


def terms(assessment: Assessment, say: Catalogue) -> tuple[tuple[str, str], ...]:
    """The terms that results of this assessment make use of, at most twelve."""
    used = {r.name for r in assessment.results} | {r.endpoint for r in assessment.results}
    found = [term for term, names in TERMS.items() if not names or used & set(names)]
    return tuple((say(f"glossary.{term}.term"), say(f"glossary.{term}.text")) for term in found[:MOST])
