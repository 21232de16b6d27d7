"""A report as flat tables (CSV): every number, and the decision curves as R's dcurves has them."""

from trustreport.assessment.assess import Assessment
from trustreport.assessment.performance.decision_table import DecisionRow, decision_rows
from trustreport.report.document import plain
from trustreport.report.spreadsheets import as_csv, entries_frame, results_csv
from trustreport.report.write import as_data

PER = 100  # cases, as net_intervention_avoided() of dcurves has them by default
LABELS = {"all": "Treat All", "none": "Treat None", "device": "Device"}
# The columns of `as_tibble` of a `dca`.
HEADER = (
    *("dataset", "variable", "label", "n", "threshold", "pos_rate", "tp_rate", "fp_rate"),
    *("net_benefit", "net_benefit_low", "net_benefit_high", "level"),
    *("net_intervention_avoided", "standardized_net_benefit"),
)


def every_number(assessment: Assessment, suffix: str) -> bytes:
    """The table that a report has as results.csv."""
    return results_csv(as_data(assessment))


def decision_curves(assessment: Assessment, suffix: str) -> bytes:
    """A row for each data set, strategy and threshold: UTF-8, an empty cell where there is no value.

    Raises
    ------
    ValueError : no data set has scores that are risks, and a threshold
    """
    rows = list(decision_rows(assessment.results))
    if not rows:
        raise ValueError(
            "no decision curve: needed are scores that are probabilities, of cases of known truth, and "
            "utility: thresholds or operating_point: threshold"
        )
    return as_csv(entries_frame((dict(zip(HEADER, plain(_cells(row)))) for row in rows), HEADER))


def _cells(row: DecisionRow) -> tuple[object, ...]:
    e = row.net_benefit
    return (
        row.dataset,
        row.candidate or row.strategy,
        row.candidate or LABELS[row.strategy],
        *(row.n, row.threshold, row.pos_rate, row.tp_rate, row.fp_rate),
        *(e.value, e.low, e.high, e.level),
        PER * row.net_interventions_avoided,
        row.standardized_net_benefit,
    )
