"""What may leave the house: refused where persons are named, under pseudonyms otherwise."""

from trustreport.study.identity.identifiers import Identifying, identifying
from trustreport.study.identity.pseudonyms import pseudonymised
from trustreport.study.plan import Plan
from trustreport.study.study import Study
from trustreport.vocabulary.errors import Problem, StudyError

MEND = {
    "header": "Leave the column out of the file, or put a code in its place.",
    "cells": "Leave the column out of the file, or put a code in its place.",
    "reader": "Give readers a code (R1, R2); keep the list of names outside the study folder.",
    "rater": "Give raters a code (A1, A2); keep the list of names outside the study folder.",
    "patient": "Give patients a code; keep the list of names outside the study folder.",
}


def released(study: Study, plan: Plan) -> tuple[Study, Plan]:
    """The study and plan as they are; for a public report under pseudonyms.

    Raises
    ------
    StudyError : a public report, and the study names persons or holds direct identifiers
    """
    if plan.report.release != "public":
        return study, plan
    found = identifying(study)
    if found:
        own = study.sources[0].file if study.sources else "study"
        raise StudyError([_problem(one, own) for one in found])
    return pseudonymised(study, plan)


def _problem(one: Identifying, own: str) -> Problem:
    plural = "s" * (one.n != 1)
    said = {
        "header": "a column that names persons or identifies them",
        "cells": f"{one.n:,} cell{plural} with an address or number of a person",
        "reader": f"{one.n:,} reader{plural} called by a person's name",
        "rater": f"{one.n:,} rater{plural} called by a person's name",
        "patient": f"{one.n:,} patient{plural} called by a person's name",
    }
    found = f"{said[one.kind]}; a public report is refused"
    return Problem(one.file or own, found, "", MEND[one.kind], column=one.column)
