"""Every number of a report as one flat table (CSV)."""

from trustreport.assessment.assess import Assessment
from trustreport.report.spreadsheets import results_csv
from trustreport.report.write import as_data


def render(assessment: Assessment, suffix: str) -> bytes:
    """The table that a report has as results.csv."""
    return results_csv(as_data(assessment))
