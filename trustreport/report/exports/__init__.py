"""A report in the forms of others: model cards, a bill of materials, FHIR, tables, and forms to fill in.

Each module makes the bytes of one form from an assessment. What it needs beyond the package is imported when
it is asked, and nothing is given that its schema refuses.
"""

from dataclasses import dataclass
from importlib import import_module

from trustreport.assessment.assess import Assessment
from trustreport.report.release import released
from trustreport.vocabulary.errors import MissingLibrary


@dataclass(frozen=True, slots=True)
class ExportForm:
    """A form: the module that makes it, and what the file may be called."""

    module: str
    suffixes: tuple[str, ...]


FORMS = {
    "csv": ExportForm("flat", (".csv",)),
    "dcurves": ExportForm("decision_curve", (".csv",)),
    "chai": ExportForm("chai", (".xml",)),
    "cyclonedx": ExportForm("cyclonedx", (".json",)),
    "fhir": ExportForm("fhir", (".json",)),
    "huggingface": ExportForm("huggingface", (".md",)),
    "psur": ExportForm("psur", (".html", ".docx")),
    "pmcf": ExportForm("pmcf", (".html", ".docx")),
    "annex-iv": ExportForm("annex_iv", (".html", ".docx")),
}


def export(assessment: Assessment, form: str, suffix: str = "") -> bytes:
    """A report in another form.

    Parameters
    ----------
    form : one of `FORMS`
    suffix : of the file, where a form can be written in several ways; the first of the form without it

    Raises
    ------
    ValueError : there is no such form or suffix, or the study has nothing for it
    MissingLibrary : a library of the form is not installed
    """
    if form not in FORMS:
        raise ValueError(f"no form {form}; choose from {', '.join(FORMS)}")
    found = FORMS[form]
    suffix = suffix or found.suffixes[0]
    if suffix not in found.suffixes:
        raise ValueError(f"a file of {form} ends with {' or '.join(found.suffixes)}, not with {suffix}")
    try:
        made: bytes = import_module(f"trustreport.report.exports.{found.module}").render(
            released(assessment), suffix
        )
    except ImportError as error:
        fix = "pip install 'trustreport[exports]'"
        raise MissingLibrary(f"the form {form} needs a package that is missing ({error}): {fix}") from error
    return made
