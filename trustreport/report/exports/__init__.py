"""A report in the forms of others: model cards, a bill of materials, FHIR, tables, and forms to fill in.

`FORMS` names the function that makes the bytes of each from an assessment. What it needs beyond the package
is imported when it is asked, and nothing is given that its schema refuses.
"""

from dataclasses import dataclass
from importlib import import_module

from trustreport.assessment.assess import Assessment
from trustreport.report.release import released
from trustreport.vocabulary.errors import MissingLibrary


@dataclass(frozen=True, slots=True)
class ExportForm:
    """A form: the module and the function in it that make it, and what the file may be called."""

    module: str
    function: str
    suffixes: tuple[str, ...]


FORMS = {
    "csv": ExportForm("flat", "every_number", (".csv",)),
    "dcurves": ExportForm("flat", "decision_curves", (".csv",)),
    "chai": ExportForm("cards", "chai_card", (".xml",)),
    "cyclonedx": ExportForm("cards", "cyclonedx_bill", (".json",)),
    "fhir": ExportForm("cards", "fhir_bundle", (".json",)),
    "huggingface": ExportForm("cards", "huggingface_card", (".md",)),
    "psur": ExportForm("forms", "psur", (".html", ".docx")),
    "pmcf": ExportForm("forms", "pmcf", (".html", ".docx")),
    "annex-iv": ExportForm("forms", "annex_iv", (".html", ".docx")),
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
        module = import_module(f"trustreport.report.exports.{found.module}")
        made: bytes = getattr(module, found.function)(released(assessment), suffix)
    except ImportError as error:
        fix = "pip install 'trustreport[exports]'"
        raise MissingLibrary(f"the form {form} needs a package that is missing ({error}): {fix}") from error
    return made
