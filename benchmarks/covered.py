"""Which rows of results/coverage.csv hold the interval of which quantity, and why other quantities have none.

A row is of the quantity with which its own name begins (``rair``, ``arm_mean, ppv, aided``). `ALSO` names the
rows of quantities that they are not called by; `REASONS` those that no row is of. A test holds that every
quantity of trustreport is in one of them.
"""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

_SHARE = ("share", "sensitivity")  # a share with Wilson's interval
_SET = ("data set", "*")
# Topic and quantity of a row, patterns. Another quantity than the row's own has its method, or limits turned.
ALSO: Mapping[str, tuple[str, str]] = {
    # shares of cases, or of readings that are taken as independent
    **dict.fromkeys(("indeterminate", "failure_rate", "positive_rate", "called_share"), _SHARE),
    **dict.fromkeys(("labelled_share", "mature_share", "rater_accuracy", "advice_value"), _SHARE),
    **dict.fromkeys(("class_accuracy", "top_k_accuracy", "class_sensitivity", "class_specificity"), _SHARE),
    **dict.fromkeys(("class_ppv", "class_npv", "error_rate", "crossed_rate"), _SHARE),
    **dict.fromkeys(("false_negative_rate", "false_positive_rate", "reference_disagreement"), _SHARE),
    **dict.fromkeys(("repeat_agreement", "flip_rate", "flip_to_negative", "flip_to_positive"), _SHARE),
    **dict.fromkeys(("true_positive_share", "false_positive_share"), _SHARE),
    "actual_accuracy": _SHARE,  # its limits turned, the accuracy of the labels as known
    "class_auc": ("area under the curve", "auc"),
    # an event by a horizon
    "risk_at_horizon": ("time to event", "risk"),
    "oe_at_horizon": ("time to event", "oe"),
    **{
        f"{name}_at_horizon": ("time to event", name)
        for name in (
            *("auc", "brier", "scaled_brier", "calibration_slope", "calibration_intercept"),
            *("sensitivity", "specificity", "ppv", "npv"),
        )
    },
    "froc_sensitivity": ("localisation", "sensitivity at *"),
    **dict.fromkeys(
        ("judge_corrected_mean_value", "judge_corrected_mean_loss"),
        ("judges", "judge_corrected_mean_score, *"),
    ),
    **dict.fromkeys(("mean_value", "mean_score", "mean_loss"), ("counts of cases", "mean_loss_difference")),
    # decisions without and with the aid
    "arr": ("two groups", "risk reduction"),
    "rrr": ("two groups", "relative risk"),
    "rr": ("readers", "relative risk of errors"),
    "odds_ratio": ("readers", "odds ratio of errors"),
    "nnd": ("two groups", "risk reduction"),
    **dict.fromkeys(("arm_difference", "mean_benefit", "non_inferiority"), ("readers", "*, change")),
    "pairwise_difference": ("readers", "*, change"),
    "declared_endpoint": ("readers", "accuracy, *"),
    "reader_estimate": ("one reader", "*, aided"),
    "benefit": ("one reader", "*, change"),
    "ai_minus_readers": ("device against readers", "*"),
    **dict.fromkeys(("seconds", "confidence"), ("beside the endpoint", "mean_*")),
    "override_of_right_advice": ("reliance", "override_rate, aided, after right advice"),
    "override_of_wrong_advice": ("reliance", "override_rate, aided, after wrong advice"),
    # the values of other quantities in a part of the cases
    **dict.fromkeys(("group_performance", "period_value", "site_performance"), _SET),
    "reliance_value": ("reliance", "*"),
    "worst_group": ("groups", "worst of four, *"),
    "worst_site": ("groups", "worst of four, *"),
    **dict.fromkeys(("subgroup_difference", "crossed_difference"), ("groups", "difference, *")),
    "equalised_odds_difference": ("equalised odds", "largest difference"),
    "pooled_performance": ("over sites", "typical site, *"),
    "version_value": _SET,
    "label_accuracy": ("*", "weighted_concordance"),  # read off it, limits as well
    "version_change": ("candidates", "*"),
    "period_change": ("change between periods", "*, change"),
}

COUNTED = "counted in these cases, or computed exactly from what is printed: no sampling error"
TESTED = "a test, a statistic of it or a chart: p-values and alerts, without an interval"
DERIVED = "computed from what is declared or from other results, without an interval"
BESIDE = "never primary: shown beside other numbers"
PRINTED = "as a publication prints it; Student's t over the readers whose differences it prints"
SIMULATED = "simulated in tests/measures, of fewer designs"
REASONS: Mapping[str, tuple[str, ...]] = {
    COUNTED: (
        *("tp", "tn", "fp", "fn", "positives", "indeterminate_positives", "indeterminate_negatives"),
        *("decision_count", "switch_count", "unknown", "exposure", "consistent_matrices", "conflict"),
        *("metric_range", "arr_missing_bounds"),
    ),
    TESTED: (
        *("mcnemar", "global_test", "degree_of_correspondence", "p_performance", "p_acceptability"),
        *("energy_distance", "mmd", "spr", "wpr", "interaction", "cusum", "sprt", "funnel_z"),
        *("score_drift", "mix_drift", "linearity"),
    ),
    DERIVED: (
        *(
            "optimal_threshold",
            "optimal_yield",
            "utility_first",
            "ranking_holds",
            "best_holds",
            "gici_over",
            "gici_under",
        ),
        *("eci", "expected_agreement", "actual_accuracy_low_bound", "actual_accuracy_high_bound"),
        *("variance_component", "variance_share", "power", "cases_needed"),
        *("expected_width", "mss_auc", "mss_brier", "mss_net_benefit", "mss_calibration_slope", "mss_oe"),
        "mss",
        *("heterogeneity", "between_site_variance", "summary_roc", "detection_delay"),
    ),
    BESIDE: ("weighted_f1", "judge_mean", "judge_acceptable_share"),
    SIMULATED: (
        *("passing_bablok_slope", "passing_bablok_intercept", "limit_with_mean"),
        "label_corrected_auc",
    ),
    PRINTED: (
        *("published_performance", "published_similarity", "published_mean_benefit"),
        *("published_reader_estimate", "published_benefit"),
    ),
}


def row_of(quantity: str, rows: Iterable[Mapping[str, str]]) -> Mapping[str, str] | None:
    """A row of a quantity; None where there is none."""
    topic, name = ALSO.get(quantity, ("*", quantity))
    for row in rows:
        own = row["quantity"] == name or row["quantity"].startswith(f"{name}, ")
        if fnmatchcase(row["topic"], topic) and (own or fnmatchcase(row["quantity"], name)):
            return row
    return None
