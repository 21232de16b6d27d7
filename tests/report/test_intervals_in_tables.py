"""Every column of estimates in a table of the examples has intervals, in its cells or beside it."""

from collections.abc import Callable, Iterator
from math import isnan

import pytest

from trustreport.assessment.assess import Assessment
from trustreport.assessment.finding import PlainTable
from trustreport.measures.estimate import Estimate

EXAMPLES = (
    *("certification-dossier", "procurement-triage", "vigilance-audit", "pooled-accuracy"),
    *("knee-mri-readings", "breast-recurrence", "annotations", "factory", "published-studies"),
)
ESTIMATES = ("number", "percent", "points", "estimate")
# Tables of numbers that no sampling interval is of, by the beginnings of their ids, and why.
WITHOUT = {
    "source_reliability_behind": "bounds of a range without assumptions stand beside the number",
    "source_reliability_least": "the concordance that labels would need, computed from a number",
    "source_reliability_raters": "declared accuracies, and the confidence that raters stated",
    "h_accuracy": "the limits are columns of their own",
    "decision_table": "standardised from the net benefit, whose interval stands beside it",
    "decision_benefit_sources": "shares of a variance",
    "decision_benefit_ustatistic": "components of a variance",
    "decision_benefit_or": "components of a variance",
    "decision_benefit_power": "power of a study that is planned",
    "decision_benefit_hypotheses": "levels",
    "reliance_patterns": "parts of one whole, of which the counts stand beside them",
    "advice_value_bins": "points of the curve that the figure draws with its intervals",
    "advice_value_brier": "parts that add up to the Brier score, which has an interval",
    "advice_value_parts": "means that the advisory value is made of",
    "advice_value_numbers_of_bins": "the same measure for other numbers of bins",
    "potential_robustness_similarity": "tests, and distances in standard deviations of the null",
    "potential_robustness_scores": "scores made of p values",
    "where_missed": "the interval is a column of its own",
    "vigilance_maturity": "how complete the follow-up is, of all cases",
    "vigilance_drift": "test statistics",
    "vigilance_mix": "distances between two mixes, with their p values",
    "vigilance_charts": "designs of control charts",
    "vigilance_delays": "designs of control charts",
    "vigilance_funnel": "the limits of the funnel are drawn, the z is beside the rate",
    "vigilance_rates": "upper limits themselves",
    "utility_ranking": "weights that are drawn at random",
    "utility_metrics": "measures that contradict each other, given for comparison",
}


def bare(assessment: Assessment) -> Iterator[str]:
    """Columns of estimates in which no cell has an interval."""
    tables = (t for finding in assessment.findings for part in finding.parts for t in part.tables)
    for table in (t for t in tables if isinstance(t, PlainTable)):
        if table.id.startswith(tuple(WITHOUT)):
            continue
        for i, column in enumerate(table.columns):
            cells = [row[i] for row in table.rows]
            numbers = [x for x in cells if isinstance(x, float) and not isnan(x)]
            estimated = any(isinstance(x, Estimate) for x in cells)
            if column.format.partition(".")[0] in ESTIMATES and numbers and not estimated:
                yield f"{table.id}: {column.header.key}"


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_no_estimate_stands_without_an_interval(
    name: str, assessed_example: Callable[[str], Assessment]
) -> None:
    assert list(bare(assessed_example(name))) == []


@pytest.mark.slow
def test_the_counts_of_each_set_are_in_the_report(assessed_example: Callable[[str], Assessment]) -> None:
    finding = next(
        f for f in assessed_example("certification-dossier").findings if f.dimension == "advice_accuracy"
    )
    table = next(t for part in finding.parts for t in part.tables if t.id == "advice_accuracy_sets")
    heads = [column.header.key.rpartition(".")[2] for column in table.columns]
    assert heads == ["data_set", "tp", "fn", "fp", "tn", "sensitivity", "specificity", "ppv", "npv", "auc"]
    southport = next(row for row in table.rows if "Southport" in str(row[0]))
    assert southport[1:3] == (65, 32)
    assert all(isinstance(cell, Estimate) and cell.low < cell.value < cell.high for cell in southport[5:])
