"""Every quantity that a report can hold, a row each: what is known of it before any data are seen.

Criteria, withheld verdicts, units, digits, scales, ranges and labels all read these rows. A result whose
quantity has no row cannot be made. Names for the reader of a report are in the catalogue, under
``quantity.<id>``.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from math import inf
from typing import Any

from trustreport.measures.confusion.measure import CaseShare, CellMeasure
from trustreport.measures.confusion.table import MEASURES
from trustreport.measures.score_measure import SCORES, ScoreMeasure
from trustreport.vocabulary.kinds import Claim
from trustreport.vocabulary.quantity import DIFFERENCE, RANGES, SCALES, Better, Quantity, Unit

CELLS = ("tp", "fp", "fn", "tn")


def _rows(names: str, unit: Unit = "proportion", better: Better = None, **more: Any) -> list[Quantity]:
    """Rows alike but for their names; range and scale are those of the unit unless they are given."""
    low, high = RANGES.get(unit, (-inf, inf))
    known = {"low": low, "high": high, "scale": SCALES.get(unit, "identity"), **more}
    return [Quantity(name, unit, better, **known) for name in names.split()]


def _claiming(claim: Claim, *rows: Quantity) -> list[Quantity]:
    """Rows of what shows the same at most."""
    return [replace(row, claim=claim) for row in rows]


def of_measure(measure: CellMeasure) -> Quantity:
    """The row of a measure of the four cells."""
    share = measure.interval if isinstance(measure.interval, CaseShare) else None
    return Quantity(
        measure.id,
        measure.unit,
        measure.better,
        scale=measure.interval.scale,
        low=measure.low,
        high=measure.high,
        counts_decisions=measure.of_decisions,
        by_prevalence=measure.by_prevalence,
        needs=measure.needs,
        clustered=measure.interval.word,
        decimals=measure.decimals,
        counted=tuple(CELLS[i] for i in share.counted) if share else (),
        among=tuple(CELLS[i] for i in measure.among) if share else (),
    )


def _left_of(right: str, id: str) -> Quantity:
    """The row of a rate of errors: what is left of a share of right decisions."""
    row = of_measure(MEASURES[right])
    return replace(row, id=id, better="down", left_of=right, counted=(), among=())


def of_score_measure(measure: ScoreMeasure) -> Quantity:
    """The row of a measure of scores."""
    return Quantity(
        measure.id,
        measure.unit,
        measure.better,
        scale=measure.scale,
        low=measure.low,
        high=measure.high,
        counts_decisions=measure.counts_decisions,
        by_prevalence=measure.by_prevalence,
        needs_probabilities=measure.needs != "scores",
        clustered=measure.clustered,
        written_as=measure.written_as,
    )


def _of_scores(names: str) -> list[Quantity]:
    return [of_score_measure(SCORES[name]) for name in names.split()]


_OF_SHARE: dict[str, Any] = {"clustered": "cluster_wilson"}
_OF_ALL: dict[str, Any] = {**_OF_SHARE, "among": CELLS, "counts_decisions": True, "by_prevalence": True}
_RISKS: dict[str, Any] = {"needs_probabilities": True}

ROWS: tuple[Quantity, ...] = (
    # advice accuracy: the four cells and what is made of them
    *_rows("tp tn", "count", "up", counts_decisions=True),
    *_rows("fp fn", "count", "down", counts_decisions=True),
    *_rows("positives", "count"),
    *(of_measure(measure) for measure in MEASURES.values()),
    *_rows("accuracy_at_coverage", better="up", counts_decisions=True, by_prevalence=True, **_OF_SHARE),
    *_rows("corrected_sensitivity corrected_specificity", better="up", counts_decisions=True),
    *_rows("label_corrected_sensitivity label_corrected_specificity", better="up", counts_decisions=True),
    *_rows("label_corrected_ppv label_corrected_npv", better="up", counts_decisions=True, by_prevalence=True),
    *_rows("label_corrected_prevalence"),
    *_rows("label_corrected_auc", better="up", written_as="area"),
    *_rows("reference_sensitivity reference_specificity", better="up", claim="description"),
    *_rows("reference_disagreement", claim="agreement", **_OF_SHARE),
    _left_of("accuracy", "error_rate"),
    _left_of("sensitivity", "false_negative_rate"),
    _left_of("specificity", "false_positive_rate"),
    *_rows(
        "positive_rate called_share", counts_decisions=True, by_prevalence=True, claim="workflow", **_OF_SHARE
    ),
    *_rows("indeterminate", better="down", same_as="failure_rate", claim="stability", **_OF_SHARE),
    *_rows("indeterminate_positives indeterminate_negatives", "count", "down"),
    # advice accuracy: scores
    *_of_scores("auc"),
    *_rows("auc_group", better="up", written_as="area", clustered="bootstrap_clusters"),
    *_of_scores("average_precision"),
    *_rows("h_accuracy", better="up", counts_decisions=True),
    *_of_scores("net_benefit standardized_net_benefit"),
    *_rows(
        "net_interventions_avoided",
        "utility",
        "up",
        by_prevalence=True,
        counts_decisions=True,
        high=1.0,
        **_RISKS,
    ),
    *_rows("true_positive_share", better="up", counted=("tp",), **_OF_ALL),
    *_rows("false_positive_share", better="down", counted=("fp",), **_OF_ALL),
    *_of_scores("weighted_utility"),
    *_rows("utility_yield optimal_yield", "utility", "up", by_prevalence=True, counts_decisions=True),
    *_rows("utility", "utility", "up", by_prevalence=True, counts_decisions=True),
    *_rows("optimal_threshold", "score"),
    *_rows("utility_first ranking_holds best_holds", counts_decisions=True),
    # advice accuracy: several classes, each against the rest
    *_rows("class_accuracy top_k_accuracy", better="up", by_prevalence=True, **_OF_SHARE),
    *_rows("class_sensitivity class_specificity", better="up", **_OF_SHARE),
    *_rows("class_ppv class_npv", better="up", by_prevalence=True, **_OF_SHARE),
    # with the declared sampling weights, for the population that they represent
    *_rows("weighted_sensitivity weighted_specificity", better="up", counts_decisions=True),
    *_rows("weighted_ppv weighted_npv", better="up", counts_decisions=True, by_prevalence=True),
    *_rows("weighted_accuracy", better="up", counts_decisions=True, by_prevalence=True),
    *_rows("weighted_prevalence"),
    *_rows("weighted_auc", better="up", written_as="area"),
    *_rows(
        "weighted_net_benefit", "utility", "up", by_prevalence=True, counts_decisions=True, high=1.0, **_RISKS
    ),
    *_rows("weighted_brier", "score", "down", low=0.0, high=1.0, scale="logit", **_RISKS),
    *_rows("weighted_oe_ratio", "ratio", 1.0, **_RISKS),
    *_rows("class_auc", better="up", written_as="area", clustered="auc_logit_obuchowski"),
    *_rows("macro_sensitivity", better="up", clustered="class_delta"),
    *_rows("macro_ppv macro_f1 weighted_f1", better="up", by_prevalence=True, clustered="class_delta"),
    # advice accuracy: an event by a horizon, cases weighted for censoring
    *_rows("risk_at_horizon", clustered="ipcw_wilson"),
    *_rows("auc_at_horizon", better="up", written_as="area", clustered="ipcw_logit"),
    *_rows("brier_at_horizon", "score", "down", low=0.0, high=1.0, scale="logit", **_RISKS),
    *_rows("scaled_brier_at_horizon", "score", "up", high=1.0, scale="log_shortfall", **_RISKS),
    *_rows("oe_at_horizon", "ratio", 1.0, **_RISKS),
    *_rows("calibration_slope_at_horizon", "ratio", 1.0, scale="identity", low=-inf, **_RISKS),
    *_rows("calibration_intercept_at_horizon", "score", 0.0, **_RISKS),
    *_rows(
        "sensitivity_at_horizon specificity_at_horizon",
        better="up",
        counts_decisions=True,
        clustered="ipcw_wilson",
    ),
    *_rows(
        "ppv_at_horizon npv_at_horizon",
        better="up",
        counts_decisions=True,
        by_prevalence=True,
        clustered="ipcw_wilson",
    ),
    # localisation: several lesions a case
    *_rows(
        "wafroc_auc afroc_auc inferred_roc_auc", better="up", written_as="area", clustered="lesion_area_logit"
    ),
    *_rows("froc_sensitivity froc_mean_sensitivity", better="up", clustered="froc_bootstrap_score"),
    *_rows("lesion_sensitivity", better="up", **_OF_SHARE),
    *_rows("false_marks_per_case", "score", "down", low=0.0, decimals=2),
    # a measurement, a rating or a count of each case
    *_claiming(
        "agreement",
        *_rows("bias lower_limit_of_agreement upper_limit_of_agreement", "score", 0.0, no_effect=0.0),
        *_rows("mean_absolute_error root_mean_square_error total_deviation_index", "score", "down", low=0.0),
        *_rows("concordance_correlation", "score", "up", low=-1.0, high=1.0, decimals=2),
        *_rows("deming_slope passing_bablok_slope", "ratio", 1.0, scale="identity", low=-inf, no_effect=1.0),
        *_rows("deming_intercept passing_bablok_intercept", "score", 0.0, no_effect=0.0),
        *_rows("linearity", "p"),
        *_rows("limit_between_readers limit_with_mean", "score", "down", low=0.0),
        *_rows("limit_within_reader limit_between_arms", "score", "down", low=0.0),
    ),
    *_rows("acceptable_share", better="up", claim="rating", **_OF_SHARE),
    *_rows("mean_value", "score", claim="description"),
    *_rows("mean_score", "score", "up", claim="rating"),
    *_rows("mean_loss", "score", "down", claim="rating"),
    *_rows("count_ratio", "ratio", "down", no_effect=1.0, claim="rating"),
    *_rows("mean_rank", "score", "down", low=1.0, decimals=2, claim="rating"),
    *_rows("rank_of_mean", "score", "down", low=1.0, decimals=1, claim="rating"),
    # a model that rated as people do: beside them, alone, and corrected by them
    *_rows("judge_bias", "score", 0.0, no_effect=0.0, claim="agreement"),
    *_claiming(
        "agreement",
        *_rows("weighted_kappa", "score", "up", low=-1.0, high=1.0, decimals=2),
        *_rows("judge_weighted_kappa judge_acceptable_kappa", "score", "up", low=-1.0, high=1.0, decimals=2),
    ),
    *_claiming(
        "rating",
        *_rows("judge_mean", "score"),
        *_rows("judge_acceptable_share", **_OF_SHARE),
        *_rows("judge_corrected_mean_value", "score"),
        *_rows("judge_corrected_mean_score", "score", "up"),
        *_rows("judge_corrected_mean_loss", "score", "down"),
        *_rows("judge_corrected_acceptable_share", better="up"),
    ),
    *_claiming(
        "preference",
        *_rows("preference_share", better="up", no_effect=0.5),
        *_rows("first_shown_share", no_effect=0.5),
        *_rows("preference_strength", "score", "up", decimals=2),
    ),
    # candidates, for local patients
    *_rows("alarm_rate", counts_decisions=True, by_prevalence=True, claim="workflow"),
    *_rows(
        "false_alarm_rate missed_rate recall_rate", better="down", counts_decisions=True, by_prevalence=True
    ),
    *_rows("failure_rate", better="down", **_OF_SHARE),
    # advice value: calibration, and what advice is worth
    *_of_scores("brier ece"),
    *_rows("ici e50 e90 emax gici_over gici_under", "score", "down", low=0.0, high=1.0, **_RISKS),
    *_rows("eci", "score", "down", low=0.0, high=100.0, **_RISKS),
    *_of_scores("gici"),
    *_rows("advice_value", "score", "up", low=-1.0, high=1.0, **_RISKS),
    *_rows("advisory_value", "score", "up", low=0.0, high=1.0, **_RISKS),
    *_of_scores("calibration_slope oe_ratio calibration_intercept"),
    *_rows("voi", "utility", "up"),
    *_claiming(
        "agreement",  # source reliability
        *_rows("percent_agreement expected_agreement rater_accuracy label_accuracy", better="up"),
        *_rows("actual_accuracy actual_accuracy_low_bound actual_accuracy_high_bound", better="up"),
        *_rows(
            "fleiss_kappa light_kappa conger_kappa mean_cohen_kappa krippendorff_alpha gwet_ac1 gwet_ac2 "
            "weighted_concordance",
            "score",
            "up",
            low=-1.0,
            high=1.0,
            decimals=2,
        ),
        *_rows("icc", "score", "up", high=1.0, decimals=2),
    ),
    # pragmatic utility
    # a risk reduction is the change of accuracy: errors saved are right decisions gained
    *_rows("arr", "difference", "up", no_effect=0.0, by_prevalence=True, same_as=f"accuracy{DIFFERENCE}"),
    *_rows("arr_missing_bounds", "difference", "up", no_effect=0.0),
    *_rows("rrr", "difference", "up", no_effect=0.0, low=-inf, written_as="proportion"),
    *_rows("nnd", "decisions", by_prevalence=True),
    *_rows("rr odds_ratio", "ratio", "down", no_effect=1.0),
    *_rows("mcnemar", "p"),
    # decision benefit
    *_rows("mean_seconds seconds", "seconds", "down", claim="workflow"),
    *_rows("mean_confidence confidence", "score", claim="workflow"),
    *_rows("decision_count switch_count", "count", claim="workflow"),
    *_rows("baseline_slope", "score", no_effect=0.0),
    *_rows("gain_lowest_quarter gain_highest_quarter", "difference", "up", no_effect=0.0),
    *_rows("variance_component", "score"),
    *_rows("variance_share power", better=None),
    *_rows("cases_needed", "count"),
    *_rows("expected_width", "difference", low=0.0, high=2.0),
    *_rows("global_test", "p"),
    # reliance
    *_rows("rair rsr rbt rbod beneficial_switch_rate override_of_wrong_advice", better="up"),
    *_rows("harmful_switch_rate override_of_right_advice", better="down"),
    *_rows("switch_rate override_rate agreement_with_advice", claim="workflow"),
    *_rows("advice_accuracy", better="up", counts_decisions=True, by_prevalence=True),
    *_rows("technology_impact", "ratio", "up", no_effect=1.0),
    *_rows(
        "automation_bias_odds automation_bias_odds_published automation_bias_odds_adjusted "
        "conservatism_bias_odds conservatism_bias_odds_published conservatism_bias_odds_adjusted",
        "ratio",
        "down",
        no_effect=1.0,
    ),
    *_rows("dominance_share determination_share deference_share"),
    *_rows(
        "dominance_direction determination_direction deference_direction",
        "score",
        "up",
        no_effect=0.0,
        low=-1.0,
        high=1.0,
        decimals=2,
    ),
    *_rows(
        "appropriate_reliance appropriate_reliance_low_bound appropriate_reliance_high_bound", better="up"
    ),
    *_rows("appropriate_reliance_chance_corrected", "score", "up", no_effect=0.0, high=1.0, decimals=2),
    *_rows("persuasion", "score", no_effect=0.0, low=-2.0, high=2.0, decimals=2),
    *_rows("reader_spread_ratio", "ratio", no_effect=1.0),
    # potential robustness
    *_rows("degree_of_correspondence published_similarity p_performance p_acceptability", "p"),
    *_rows("energy_distance mmd similarity_effect", "score"),
    *_rows("spr wpr", "score", "up", low=0.0, high=1.0),
    *_rows("similarity_performance_correlation", "score", low=-1.0, high=1.0, decimals=2),
    *_rows("mss", "count"),
    *_rows("mss_auc", "count", sizes=("auc",)),
    *_rows("mss_net_benefit", "count", sizes=("net_benefit", "standardized_net_benefit")),
    *_rows("mss_brier", "count", sizes=("brier",)),
    *_rows("mss_calibration_slope", "count", sizes=("calibration_slope",)),
    *_rows("mss_oe", "count", sizes=("oe_ratio",)),
    *_rows("heterogeneity", better="down"),
    *_rows("between_site_variance", "score", low=0.0),
    *_claiming(
        "stability",  # the same case twice: by a device here, by readers under decision benefit
        *_rows("repeat_agreement", better="up", counts_decisions=True, by_prevalence=True, **_OF_SHARE),
        *_rows("flip_rate", better="down", counts_decisions=True, by_prevalence=True, **_OF_SHARE),
        *_rows("flip_to_negative flip_to_positive", better="down", counts_decisions=True, **_OF_SHARE),
        *_rows("repeat_kappa", "score", "up", low=-1.0, high=1.0, decimals=2, counts_decisions=True),
        *_rows("repeat_bias agreement_limit_low agreement_limit_high", "score", 0.0),
        *_rows("within_case_sd repeatability_coefficient", "score", "down", low=0.0),
    ),
    *_rows("recalibrated_brier", "score", "down", low=0.0, high=1.0, scale="logit", **_RISKS),
    *_rows("recalibrated_oe_ratio", "ratio", 1.0, **_RISKS),
    *_rows("recalibrated_calibration_slope", "ratio", 1.0, scale="identity", low=-inf, **_RISKS),
    *_rows("recalibrated_calibration_intercept", "score", 0.0, **_RISKS),
    # subgroups
    *_rows("interaction", "difference", no_effect=0.0),
    *_rows("equalised_odds_difference", "difference", "down", low=0.0, counts_decisions=True),
    *_rows("unknown", "count"),
    # vigilance
    *_rows("exposure", "count", claim="workflow"),
    *_rows("labelled_share mature_share", claim="workflow"),
    *_rows("event_rate", "ratio", "down"),
    *_rows("cusum sprt funnel_z score_drift feature_drift", "score", decimals=2),
    *_rows("mix_drift"),
    *_rows("detection_delay", "count", "down"),
    # reported
    *_rows("consistent_matrices conflict", "count"),
    *_rows("pooled_sensitivity pooled_specificity", better="up", counts_decisions=True),
    *_rows("summary_roc", better="up", written_as="area", counts_decisions=True),
    *_rows("between_study_variance", "score", low=0.0),
    *_rows("between_study_correlation", "score", low=-1.0, high=1.0, decimals=2),
    # an endpoint of the readers that the manifest declares by a name of its own: a share
    *_rows("declared_endpoint", better="up"),
)

# Results that are of an endpoint: its value (of a reader, a period, a group, the typical site), its change
# or difference, or what is published of it.
VALUES = (
    "reader_estimate arm_mean reader_agreement period_value reliance_value group_performance "
    "worst_group worst_site site_performance pooled_performance prediction_interval metric_range "
    "protocol_performance crossed_rate version_value published_reader_estimate published_performance"
).split()
CHANGES = (
    "benefit mean_benefit arm_difference pairwise_difference period_change standardised_change "
    "order_effect subgroup_difference accuracy_change ai_minus_readers protocol_difference "
    "crossed_difference version_change published_benefit published_mean_benefit"
).split()
# Values of an arm that become differences where two arms are named.
OF_ARMS = ("reader_agreement", "mean_seconds", "mean_confidence")
# Tests of a criterion: of the quantity that their parameter ``metric`` names.
OF_METRIC = ("non_inferiority",)
# Results whose n counts readers or sites, not cases.
OF_GROUPS = (
    *("mean_benefit", "published_mean_benefit", "pooled_performance", "prediction_interval", "heterogeneity"),
    *("pooled_sensitivity", "pooled_specificity", "summary_roc"),
)

_BY_ID = {row.id: row for row in ROWS}


class UnknownQuantityError(LookupError):
    """A result of a quantity that has no row in `trustreport.vocabulary.quantities`."""


def add(row: Quantity) -> None:
    """Add a row at run time, for whoever extends the package.

    Raises
    ------
    ValueError : there is such a row already
    """
    if row.id in _BY_ID:
        raise ValueError(f"quantity {row.id} has a row already")
    _BY_ID[row.id] = row
    quantity.cache_clear()


@cache
def quantity(id: str) -> Quantity:
    """The row of a quantity; of a difference (``auc_difference``) that of what differs, turned into it.

    Raises
    ------
    UnknownQuantityError : there is no such row
    """
    if id in _BY_ID:
        return _BY_ID[id]
    base = id.removesuffix(DIFFERENCE)
    if base != id and base in _BY_ID:
        return _BY_ID[base].change()
    raise UnknownQuantityError(f"{id} has no row in trustreport/vocabulary/quantities.py")


def known(id: str) -> bool:
    """Whether a quantity has a row."""
    return id in _BY_ID or (id.endswith(DIFFERENCE) and id.removesuffix(DIFFERENCE) in _BY_ID)


def is_named(name: str) -> bool:
    """Whether results of this name can be made: it has a row, or is of an endpoint."""
    return known(name) or name in VALUES or name in CHANGES


def quantity_of(name: str, endpoint: str = "", *, contrast: bool = False) -> Quantity:
    """The quantity of a result, by the last part of its id and its endpoint.

    An endpoint without a row is one that the manifest declares by a name of its own.

    Parameters
    ----------
    contrast : whether the result is of two arms

    Raises
    ------
    UnknownQuantityError : there is no such row
    """
    of_endpoint = name in VALUES or name in CHANGES
    row = endpoint_row(endpoint) if of_endpoint else quantity(name)
    if name in CHANGES or (contrast and name in OF_ARMS):
        change = _difference(row)
        of_changes = contrast and name == "subgroup_difference"  # a difference of two changes
        return replace(change, low=2 * change.low, high=2 * change.high) if of_changes else change
    return quantity(row.same_as) if row.same_as else row


def endpoint_row(endpoint: str) -> Quantity:
    """The row of an endpoint, which may be written with its dimension."""
    name = endpoint.rpartition(".")[2]
    return quantity(name if known(name) else "declared_endpoint")


def _difference(row: Quantity) -> Quantity:
    """The change of a quantity that is no change itself: of the risk reduction it is the reduction."""
    row = quantity(row.same_as) if row.same_as else row
    return row if row.no_effect is not None else row.change()


def ids(rows: Iterable[Quantity] = ROWS) -> list[str]:
    """The ids of rows."""
    return [row.id for row in rows]
