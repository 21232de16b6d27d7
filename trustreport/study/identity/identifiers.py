"""Names of persons and direct identifiers in what was handed in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from trustreport.study.study import Cases, Labels, Readers, Study

# Headers that hold who somebody is, in small letters and without what stands between words.
OF_PERSON = ("", "patient", "reader", "rater", "full", "contact", "participant", "subject")
HEADERS = frozenset(
    [prefix + name for prefix in OF_PERSON for name in ("name", "names", "surname", "firstname", "lastname")]
    + (
        "familyname givenname middlename maidenname forename nachname vorname nom prenom cognome nome "
        "initials email emailaddress mail phone phonenumber phoneno telephone mobile mobilenumber cellphone "
        "fax dateofbirth birthdate birthday dob geburtsdatum datadinascita address homeaddress streetaddress "
        "postaladdress street zipcode postcode postalcode ipaddress ssn socialsecurity socialsecuritynumber "
        "nhsnumber nationalid passport passportnumber mrn medicalrecord medicalrecordnumber hospitalnumber "
        "insurancenumber insuranceid codicefiscale fiscalcode taxcode taxnumber taxid"
    ).split()
)
CELLS = re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}|^\d{3}-\d{2}-\d{4}$|^\+\d[\d\s()/-]{6,}$", re.IGNORECASE)
TITLE = re.compile(
    r"\b(dr|prof|professor|doctor|mr|mrs|ms|miss|herr|frau|dott|dottssa|docteur|mme)\b\.?", re.IGNORECASE
)
DEGREE = re.compile(r",\s*(md|m\.d\.|phd|frcr|mbbs)\b", re.IGNORECASE)
# Words that stand in names of readers without naming anybody.
ROLES = frozenset(
    (
        "reader rater annotator radiologist pathologist cardiologist dermatologist ophthalmologist surgeon "
        "physician doctor nurse technician student resident fellow intern registrar consultant specialist "
        "generalist expert novice senior junior trainee attending group team site hospital clinic centre "
        "center panel human observer the and of one two three four five six seven eight nine ten alpha beta "
        "gamma delta less more high low proficiency experience experienced without with left right north "
        "south east west no id code pseudonym blinded "
        "leser befunder arzt ärztin radiologe radiologin facharzt fachärztin assistenzarzt lecteur lectrice "
        "médecin medecin radiologue interne lettore lettrice medico radiologo radiologa specializzando"
    ).split()
)
Kind = Literal["header", "cells", "reader", "rater", "patient"]
PEOPLE: tuple[Kind, ...] = ("reader", "rater", "patient")
MOST_NAMES = 2000  # labels of a column that are looked at


@dataclass(frozen=True, slots=True)
class Identifying:
    """Something by which persons could be known: a column by its header or its cells, or names of people.

    `n` counts the values at fault; they are not repeated.
    """

    kind: Kind
    file: str = ""
    column: str = ""
    n: int = 1


def identifying(study: Study) -> list[Identifying]:
    """Direct identifiers among the columns and their cells; readers, raters or patients under their names."""
    found = [
        Identifying("header", source.file, header)
        for source in study.sources
        for header in source.columns
        if is_direct(header)
    ]
    told = {one.column for one in found}
    held = {column: place for place, column in _column_names(study) if is_direct(column)}
    found += [Identifying("header", place, column) for column, place in held.items() if column not in told]
    for kind in PEOPLE:
        names = {name for labels in _labels_of_persons(study, kind) for name in _some(labels)}
        n = sum(map(is_personal, names))
        found += [Identifying(kind, n=n)] if n else []
    cells: dict[str, int] = {}
    for column, labels in _texts(study):
        cells[column] = cells.get(column, 0) + sum(bool(CELLS.search(text)) for text in _some(labels))
    return found + [Identifying("cells", column=column, n=n) for column, n in cells.items() if n]


def is_direct(header: str) -> bool:
    """Whether a column of this name holds who somebody is.

    >>> [is_direct(h) for h in ("Patient Name", "date_of_birth", "E-mail", "patient", "site", "age")]
    [True, True, True, False, False, False]
    """
    return re.sub(r"[\W_]+", "", header).casefold() in HEADERS


def is_personal(name: str) -> bool:
    """Whether a reader is called by a person's name: with a title, an address, or two names in capitals.

    >>> [
    ...     is_personal(n)
    ...     for n in ("Dr. Rossi", "Rossi, Anna", "A. Rossi", "Senior Reader", "R12", "Reader A")
    ... ]
    [True, True, True, False, False, False]
    """
    if "@" in name or DEGREE.search(name):
        return True
    words = [w for w in re.split(r"[\s,._-]+", TITLE.sub(" ", name)) if w]
    proper = [w for w in words if w.isalpha() and len(w) > 1 and w[0].isupper() and w.casefold() not in ROLES]
    initials = [w for w in words if len(w) == 1 and w.isalpha() and w.isupper()]
    if any(any(c.isdigit() for c in w) for w in words):
        return False
    if TITLE.search(name):
        return bool(proper)
    return len(proper) > 1 or (len(proper) == 1 and bool(initials) and proper[0].istitle())


def _labels_of_persons(study: Study, kind: Kind) -> Iterator[Labels]:
    if kind == "reader":
        yield from (readings.readers.labels for readings in study.readings)
        yield from (one.makers for one in study.localisations if one.readers is not None)
        yield from (one.readers.labels for one in study.values if one.readers is not None)
        yield from (one.readers.labels for one in study.preferences)
    elif kind == "rater":
        yield from (ratings.raters for ratings in study.raters)
    else:
        yield from (cases.patient.labels for cases in cases_of(study) if cases.patient is not None)


def _texts(study: Study) -> Iterator[tuple[str, Labels]]:
    """Every column of names that a report may show or that stands for a person."""
    for kind in PEOPLE:
        yield from ((kind, labels) for labels in _labels_of_persons(study, kind))
    for cases in cases_of(study):
        yield "case", cases.labels
        yield from ((name, column.labels) for name, column in cases.groups.items())
    for readers in readers_in(study):
        yield from ((name, column.labels) for name, column in readers.strata.items())


def _column_names(study: Study) -> Iterator[tuple[str, str]]:
    for readers in readers_in(study):
        yield from (("readers", name) for name in readers.strata)
    for cases in cases_of(study):
        yield from (("cases", name) for name in cases.groups)
    for dataset in study.datasets:
        yield from ((dataset.name, name) for name in dataset.feature_names)


def cases_of(study: Study) -> Iterator[Cases]:
    """The cases of every task, of the raters, and of every data set."""
    for held in (study.readings, study.raters, study.datasets):
        yield from (one.cases for one in held)
    yield from (one.cases for one in study.localisations if one.readers is not None)
    yield from (one.cases for one in study.values)
    yield from (one.cases for one in study.preferences)


def readers_in(study: Study) -> Iterator[Readers]:
    """The readers of every task, of readings and of marks."""
    yield from (readings.readers for readings in study.readings)
    yield from (one.readers for one in study.localisations if one.readers is not None)
    yield from (one.readers for one in study.values if one.readers is not None)
    yield from (one.readers for one in study.preferences)


def _some(labels: Labels) -> Iterator[str]:
    return (labels[i] for i in range(min(len(labels), MOST_NAMES)))
