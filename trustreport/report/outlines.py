"""What stands where: the chapters of the report of each kind, and those of its annex."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from trustreport.study.plan import Kind

# What a device does by itself, and what readers do with it: dimensions that stand together, in this order.
OF_DEVICE = ("advice_accuracy", "localisation", "measurement")
OF_READERS = (
    "pragmatic_utility",
    "decision_benefit",
    "reader_localisation",
    "reader_measurement",
    "reliance",
)

# A chapter of data before those that argue; it has a letter, and they keep their numbers.
FRONT = "participants"

# The report: what a decision rests on. Elements by their names, sections of a dimension by its name.
REPORT: Mapping[Kind, Mapping[str, tuple[str, ...]]] = {
    "certification": {
        "participants": ("E07", "participants"),
        "claims": ("matrix", "E34"),
        "accuracy": (*OF_DEVICE, "advice_value", "reported", "source_reliability"),
        "external": ("potential_robustness", "recalibration", "versions"),
        "readers": OF_READERS,
        "groups": ("group_differences", "where"),
        "limits": ("found", "feedback", "left_out"),
    },
    "procurement": {
        "participants": ("E07", "participants"),
        "grid": ("grid",),
        "questions": ("questions",),
        "candidates": ("candidate_table", "candidates", "versions", *OF_DEVICE, "reported"),
        "claims": ("E34",),
        "external": ("advice_value", "source_reliability", "potential_robustness"),
        "workload": ("E35",),
        "readers": OF_READERS,
        "risks": ("group_differences", "where", "found"),
        "conditions": ("conditions", "left_out"),
    },
    "vigilance": {
        "since": ("since", "versions"),
        "where": ("where", "group_differences"),
        "charts": ("vigilance", "localisation", "measurement", "E39"),
        "incidents": ("E42", "E43"),
        "performance": ("advice_accuracy", "advice_value", "source_reliability", "potential_robustness"),
        "reliance": (
            "E41",
            "pragmatic_utility",
            "reliance",
            "decision_benefit",
            "reader_localisation",
            "reader_measurement",
        ),
        "limits": ("found",),
        "due": ("due", "feedback", "left_out"),
    },
}

# Tables and figures that the report prints, by their ids, where its outline has the dimension or element that
# they are of; all others stand in the annex.
PRINTED = (
    *("advice_accuracy_sets", "classes_*", "each_class_*", "horizon_*", "roc_*", "reported_sets"),
    *("h_accuracy_chart_1", "h_accuracy_differences"),
    *("summary_roc_*", "pooled_forest_*", "pooled_sites_*"),
    *("utility_space_*", "utility_ranking_*", "class_utility_*"),
    "nomogram_*",
    *("external_performance_*", "potential_robustness_performance_*", "potential_robustness_scores_*"),
    "potential_robustness_correlation_*",
    *("calibration_*", "advice_value_sets", "advice_value_bins"),
    *("measurement_[0-9]*", "measurement_difference_*"),
    *("reader_measurement_[0-9]*", "reader_measurement_difference_*", "reader_measurement_preferences_*"),
    "reader_measurement_judge_*",
    *("localisation_*", "froc_*", "reader_localisation_*", "reader_froc_*"),
    *("odds_ratio_*", "odds_ratios_*", "pragmatic_utility_[0-9]*", "pragmatic_utility_sets"),
    *("benefit_*", "decision_benefit_readers_*"),
    *("protocols_[0-9]*", "protocols_differences_*", "protocols_published"),
    *("trust_*", "reliance_flow_*", "reliance_[0-9]*", "reliance_types_*", "reliance_type_differences_*"),
    *("group_differences*", "where*"),
    *("grid*", "questions*", "candidate_table*", "conditions*", "candidates_claims_*"),
    "versions_*",
    *("since*", "timeline*", "vigilance_due_*", "vigilance_trend_*", "vigilance_charts_[0-9]_1"),
    *("vigilance_log_*", "vigilance_clock_*", "vigilance_signals_*", "vigilance_people_*"),
)

# Of these an audit, which asks what has changed, leaves all to its annex.
NOT_IN_AUDIT = (
    *("advice_accuracy_sets", "roc_*", "advice_value_sets", "advice_value_bins", "calibration_*"),
    *("decision_benefit_readers_*", "protocols_*", "reliance_[0-9]*"),
)


def is_printed(id: str, kind: Kind) -> bool:
    """Whether a report of this kind prints a table or figure, where it has what that is of."""
    left_out = NOT_IN_AUDIT if kind == "vigilance" else ()
    return any(fnmatchcase(id, p) for p in PRINTED) and not any(fnmatchcase(id, p) for p in left_out)


# Tables and figures of the annex that paper leaves to report.html and results.json: the same numbers drawn or
# tabulated once more, and analyses that a reader of the annex does not decide by.
ON_SCREEN = (
    *("decision_table_*", "measures_over_prevalence", "whole_measures_over_prevalence"),
    "advice_accuracy_rules*",
    *("h_accuracy_tau", "h_accuracy_priority", "h_accuracy_[0-9]*", "coverage_*", "advice_value_voi"),
    *("confidence_[0-9]*", "source_reliability_raters_*", "source_reliability_behind_*"),
    *("source_reliability_least_*", "similarity_[0-9]*", "meta_validation_*", "sample_size_*"),
    *("potential_robustness_recalibrated",),
    *("slope_*", "forest_[0-9]", "error_rates_*", "decision_benefit_sources_*", "decision_benefit_widths_*"),
    *("decision_benefit_ustatistic_*", "decision_benefit_or_*", "decision_benefit_order_*", "hypotheses_*"),
    *("decision_benefit_quarters_*", "decision_benefit_ai_*", "protocols_plane_*"),
    *("reliance_confidence_*", "reliance_readers_*", "reliance_interaction_*", "bias_odds_*", "dominance_*"),
    *("subgroups_[0-9]*", "subgroups_more_*", "subgroup_differences_*", "subgroup_effects_*"),
    *("subgroup_effect_differences_*",),
)
# Elements that are on screen alone, and where paper has what they are about, if anywhere.
ELEMENTS_ON_SCREEN: Mapping[str, str] = {"E31": "matrix", "E23": "where", "E47": ""}


def on_screen_alone(id: str) -> bool:
    """Whether a table or figure of the annex is on the page and in results.json, and not on paper."""
    return any(fnmatchcase(id, pattern) for pattern in ON_SCREEN)


# Parts of which the report prints sentences alone: their numbers are in a table of its own.
SENTENCES_ALONE = ("E35", "recalibration")

# What the report prints in part and the annex whole.
WHOLE_IN_ANNEX = ("E34", "feedback")

# The annex: everything else. "rest" is what was declared and stands nowhere else.
ANNEX: Mapping[Kind, Mapping[str, tuple[str, ...]]] = {
    "certification": {
        "device": ("E01", "E02"),
        "prespecification": ("E05", "E44"),
        "data": ("E03", "E06", "E08", "source_reliability", "E09", "E10", "E11"),
        "technical": (*OF_DEVICE, "reported", "advice_value", "candidates", "E22"),
        "external": ("potential_robustness", "recalibration", "versions", "vigilance"),
        "readers": ("E04", "E24", *OF_READERS),
        "groups": ("subgroups", "E23"),
        "acceptance": ("E31", "E34"),
        "limits": ("E45", "feedback", "open", "undeclared"),
        "annexes": ("local_readers", "E46", "E47", "E48", "E49", "E50", "rest"),
    },
    "procurement": {
        "fit": ("E01", "E02"),
        "claims": ("E34", *OF_DEVICE, "reported", "advice_value"),
        "candidates": ("candidates", "versions", "E09"),
        "readers": ("local_readers", "E04", "E24", *OF_READERS),
        "groups": ("subgroups", "potential_robustness", "recalibration", "E23"),
        "patients": ("E35",),
        "evidence": ("E03", "E06", "E08", "source_reliability", "E10", "E11", "E45", "open", "undeclared"),
        "conditions": ("E31", "E05", "E44", "vigilance"),
        "elsewhere": ("E22", "feedback", "E50", "E46", "E47", "E48", "E49", "rest"),
    },
    "vigilance": {
        "exposure": ("E36", "E44", "E01", "E02"),
        "data": ("E03", "E06", "E08", "source_reliability", "E09"),
        "performance": (
            "vigilance",
            "E31",
            "E34",
            *OF_DEVICE,
            "reported",
            "advice_value",
            "candidates",
            "versions",
        ),
        "warnings": ("E38", "E07", "potential_robustness", "recalibration"),
        "charts": ("E39",),
        "people": ("E41", "E04", "E24", *OF_READERS),
        "groups": ("subgroups", "E23"),
        "incidents": ("E42",),
        "signals": ("E43",),
        "feedback": (
            "feedback",
            "E22",
            "local_readers",
            "E45",
            "open",
            "undeclared",
            "E05",
            "E10",
            "E11",
            "E46",
            "E47",
            "E48",
            "E49",
            "E50",
            "rest",
        ),
    },
}
