"""Decision curves as a flat table with the columns of R's dcurves, `as_tibble` of its `dca` (CSV)."""

import csv
import io
from math import isfinite

from trustreport.assessment import Assessment
from trustreport.performance.decision_table import DecisionRow, decision_rows
from trustreport.report.cells import cell, escaped
from trustreport.report.csv import written

PER = 100  # cases, as net_intervention_avoided() of dcurves has them by default
LABELS = {"all": "Treat All", "none": "Treat None", "device": "Device"}
HEADER = (
    *("dataset", "variable", "label", "n", "threshold", "pos_rate", "tp_rate", "fp_rate"),
    *("net_benefit", "net_benefit_low", "net_benefit_high", "level"),
    *("net_intervention_avoided", "standardized_net_benefit"),
)


def render(assessment: Assessment, suffix: str) -> bytes:
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
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(HEADER)
    writer.writerows([written(cell(_plain(value))) for value in _cells(row)] for row in rows)
    return text.getvalue().encode()


def _plain(value: object) -> object:
    """A number with 13 significant digits, as results.json has them; None where there is none."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.13g}") if isfinite(value) else None


def _cells(row: DecisionRow) -> tuple[object, ...]:
    e = row.net_benefit
    return (
        escaped(row.dataset),
        escaped(row.candidate) if row.candidate else row.strategy,
        escaped(row.candidate) if row.candidate else LABELS[row.strategy],
        row.n,
        row.threshold,
        row.pos_rate,
        row.tp_rate,
        row.fp_rate,
        *(e.value, e.low, e.high, e.level),
        PER * row.net_interventions_avoided,
        row.standardized_net_benefit,
    )
