"""What may leave the house: refused where persons are named, under pseudonyms of readers, raters, sites else.

Pseudonyms depend on the data themselves: whoever has a list of names, but not the data, cannot try them out,
and the order of pseudonyms is not that of names.
"""

import hmac
import re
from base64 import b32encode
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from hashlib import sha256
from typing import Any, Literal, get_args, get_origin

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from trustreport.study import lock
from trustreport.study.identity.identifiers import MOST_NAMES, Identifying, cases_of, identifying, readers_in
from trustreport.study.plan import Plan
from trustreport.study.study import (
    Cases,
    Coded,
    Dataset,
    Labels,
    Localisation,
    Preferences,
    Ratings,
    Readers,
    Readings,
    Study,
    Values,
)
from trustreport.vocabulary.errors import Problem, StudyError

DIGITS = 6
MOST_CASES = 1_000_000  # of more cases the names are counted, since nothing shows them
SITES = frozenset(("site", "hospital", "centre", "center", "clinic", "institution"))
LEAST_WORD = 4  # letters of a name that is looked for within a text


class Pseudonym(str):
    """A name in place of another; it sorts as the one that it stands for, so that random draws stay the same.

    Where the order is seen (rows of tables) the pseudonyms stand in the order of their letters.
    """

    behind: str

    def __new__(cls, text: str, behind: str) -> "Pseudonym":
        made = super().__new__(cls, text)
        made.behind = behind
        return made

    def __reduce__(self) -> tuple[type["Pseudonym"], tuple[str, str]]:
        return Pseudonym, (str.__str__(self), self.behind)

    def __lt__(self, other: str) -> bool:
        return self.behind < (other.behind if isinstance(other, Pseudonym) else other)


def pseudonymised(study: Study, plan: Plan) -> tuple[Study, Plan]:
    """The study and its plan with readers, raters and sites under pseudonyms, without the manifest's file.

    The same study gives the same pseudonyms. Numbers do not change.
    """
    names, found = _Names(_salt(study)), lock.lock_status(study, plan)
    readers = (*_readers(study), *_once_declared(found, "readers", "reader"))
    sites = (*_sites(study, plan), *_once_declared(found, "readers", "site"))
    sites = (*sites, *_once_declared(found, "datasets", "sites"))
    for people, kind in ((readers, "R"), (_raters(study), "A"), (sites, "S")):
        names.learn(kind, people)
    text = _Texts(study, names)
    made = replace(
        study,
        readings=tuple(_of_readings(one, names) for one in study.readings),
        raters=tuple(_of_ratings(one, names) for one in study.raters),
        datasets=tuple(_of_dataset(one, names, text) for one in study.datasets),
        localisations=tuple(_of_localisation(one, names, text) for one in study.localisations),
        values=tuple(_of_values(one, names, text) for one in study.values),
        preferences=tuple(_of_preferences(one, names) for one in study.preferences),
        sources=tuple(replace(s, file=text(s.file), columns=(), query=None) for s in study.sources),
        manifest=b"",
        lock_status=_of_lock(found, names, text),
    )
    return made, _of_plan(plan, names, text)


class _Names:
    """The pseudonyms of a study, by kind and name."""

    def __init__(self, salt: bytes) -> None:
        self._salt = salt
        self._known: dict[tuple[str, str], Pseudonym] = {}

    def learn(self, kind: str, names: Iterable[str]) -> None:
        """Give each name a pseudonym; as many digits as tell them apart."""
        distinct = sorted(set(names))
        digits = DIGITS
        while len({self._digits(kind, name, digits) for name in distinct}) < len(distinct):
            digits += 1
        for name in distinct:
            self._known[kind, name] = Pseudonym(f"{kind}-{self._digits(kind, name, digits)}", name)

    def _digits(self, kind: str, name: str, digits: int) -> str:
        hashed = hmac.digest(self._salt, f"{kind}\0{name}".encode(), "sha256")
        return b32encode(hashed).decode()[:digits]

    def pseudonym(self, kind: str, name: str) -> str:
        """The pseudonym of a name, the name itself where it is not one of that kind."""
        return self._known.get((kind, name), name)

    def kind(self, kind: str) -> dict[str, str]:
        """All names of a kind with their pseudonyms."""
        return {name: new for (of, name), new in self._known.items() if of == kind}


def _salt(study: Study) -> bytes:
    """A key from the data themselves; what a report publishes of them (hashes of files) does not give it."""
    digest = sha256(b"trustreport release 1")
    digest.update(study.manifest)
    for readings in study.readings:
        for name in ("arm", "reader", "case", "decision", "score", "confidence", "seconds", "order"):
            _add(digest, getattr(readings, name))
    for ratings in study.raters:
        for name in ("rater", "case", "label"):
            _add(digest, getattr(ratings, name))
    for dataset in study.datasets:
        for scores in dataset.scores.values():
            for name in ("score", "decision", "class_scores"):
                _add(digest, getattr(scores, name))
        _add(digest, dataset.features)
    for one in study.localisations:
        for name in ("arm", "maker", "case", "rating", "lesion"):
            _add(digest, getattr(one, name))
    for held in study.values:
        _add(digest, held.value)
    for choices in study.preferences:
        _add(digest, choices.share)
    for cases in cases_of(study):
        _add(digest, cases.truth)
        for i in range(min(len(cases.labels), MOST_NAMES)):
            digest.update(cases.labels[i].encode() + b"\0")
    return digest.digest()


def _add(digest: Any, column: Any) -> None:
    if column is not None:
        digest.update(np.ascontiguousarray(column).data if column.dtype.kind != "M" else column.tobytes())


def _readers(study: Study) -> Iterator[str]:
    for readers in readers_in(study):
        yield from readers.labels


def _raters(study: Study) -> Iterator[str]:
    for ratings in study.raters:
        yield from ratings.raters


def _sites(study: Study, plan: Plan) -> Iterator[str]:
    for cases in cases_of(study):
        if cases.site is not None:
            yield from cases.site.labels
        yield from _of_sites(cases.groups)
    for readers in readers_in(study):
        yield from _of_sites(readers.strata)
    yield from (reader.site for reader in plan.readers if reader.site)
    yield from (site for facts in plan.datasets for site in facts.sites or ())


def _once_declared(found: lock.LockStatus, group: str, field: str) -> Iterator[str]:
    """Names in a group of the manifest that the lock has, and that the study may have no longer."""
    for change in found.changes:
        if change.path[0] != group:
            continue
        if field == "reader":
            yield str(change.path[1])
        whole = (side.get(field) for side in (change.old, change.new) if isinstance(side, Mapping))
        for said in whole if change.whole else (change.old, change.new):
            if change.whole or change.path[-1] == field:
                yield from (said,) if isinstance(said, str) else said or ()


def _of_sites(columns: Mapping[str, Coded]) -> Iterator[str]:
    for name, column in columns.items():
        if name.casefold() in SITES:
            yield from column.labels


def _relabelled(labels: Labels, names: _Names, kind: str) -> tuple[Labels, NDArray[np.int32]]:
    """Labels under pseudonyms in the order of their letters, and where each label now stands (-1 stays)."""
    new = [names.pseudonym(kind, name) for name in labels]
    order = sorted(range(len(new)), key=lambda i: str.__str__(new[i]))
    place = np.empty(len(new) + 1, np.int32)
    place[order] = np.arange(len(new))
    place[-1] = -1
    return Labels(tuple(new[i] for i in order)), place


def _of_coded(column: Coded | None, names: _Names, kind: str) -> Coded | None:
    if column is None:
        return None
    labels, place = _relabelled(column.labels, names, kind)
    return Coded(place[column.codes], labels)


def _of_cases(cases: Cases, names: _Names) -> Cases:
    labels = cases.labels
    if len(labels) > MOST_CASES:
        hidden = Labels(n=len(labels))
    else:
        hidden = Labels(tuple(Pseudonym(f"C-{i + 1}", name) for i, name in enumerate(labels)))
    groups = {
        name: found
        for name, column in cases.groups.items()
        if (found := _of_coded(column, names, "S") if name.casefold() in SITES else column)
    }
    return replace(cases, labels=hidden, site=_of_coded(cases.site, names, "S"), groups=groups)


def _of_reader_group(readers: Readers, names: _Names) -> tuple[Readers, NDArray[np.int32]]:
    """Readers under pseudonyms in the order of their letters, and where each now stands (-1 stays)."""
    labels, place = _relabelled(readers.labels, names, "R")
    order = np.argsort(place[:-1], kind="stable")
    strata = {
        name: Coded(found.codes[order], found.labels)
        for name, column in readers.strata.items()
        if (found := _of_coded(column, names, "S") if name.casefold() in SITES else column)
    }
    return replace(readers, labels=labels, strata=strata), place


def _of_preferences(one: Preferences, names: _Names) -> Preferences:
    readers, place = _of_reader_group(one.readers, names)
    return replace(one, cases=_of_cases(one.cases, names), readers=readers, reader=place[one.reader])


def _of_values(one: Values, names: _Names, text: "_Texts") -> Values:
    made = replace(one, cases=_of_cases(one.cases, names), dataset=text(one.dataset))
    if one.readers is None:
        return made
    readers, place = _of_reader_group(one.readers, names)
    order = np.argsort(place[:-1], kind="stable")
    repeats = None if one.repeats is None else one.repeats[:, :, order]
    return replace(made, readers=readers, value=one.value[:, order], repeats=repeats)


def _of_localisation(one: Localisation, names: _Names, text: "_Texts") -> Localisation:
    made = replace(one, cases=_of_cases(one.cases, names), dataset=text(one.dataset))
    if one.readers is None:
        return made
    readers, place = _of_reader_group(one.readers, names)
    return replace(made, readers=readers, makers=readers.labels, maker=place[one.maker])


def _of_readings(readings: Readings, names: _Names) -> Readings:
    readers, place = _of_reader_group(readings.readers, names)
    reader = place[readings.reader]
    rows = np.lexsort((readings.case, reader, readings.arm))
    columns: dict[str, Any] = {}
    for one in fields(readings):  # every column with an entry for each reading, and mappings of such columns
        held = getattr(readings, one.name)
        if isinstance(held, np.ndarray):
            columns[one.name] = held[rows]
        elif isinstance(held, Mapping) and one.init:  # what was made of the readings is made again
            columns[one.name] = {name: column[rows] for name, column in held.items()}
    columns["reader"] = reader[rows]
    columns["readers"] = readers
    columns["cases"] = _of_cases(readings.cases, names)
    return replace(readings, **columns)


def _of_ratings(ratings: Ratings, names: _Names) -> Ratings:
    labels, place = _relabelled(ratings.raters, names, "A")
    return replace(ratings, raters=labels, rater=place[ratings.rater], cases=_of_cases(ratings.cases, names))


def _of_dataset(dataset: Dataset, names: _Names, text: "_Texts") -> Dataset:
    return replace(dataset, name=text(dataset.name), cases=_of_cases(dataset.cases, names))


class _Texts:
    """Names of sites within longer texts. One without a capital letter ("secondary") is a word like others,
    and what names an arm, task or candidate too is left.
    """

    def __init__(self, study: Study, names: _Names) -> None:
        tasks = {r.task for r in study.readings} | {r.task for r in study.raters}
        tasks |= {one.task for one in study.localisations} | {one.task for one in study.values}
        tasks |= {one.task for one in study.preferences}
        candidates = {name for dataset in study.datasets for name in dataset.scores}
        candidates |= {name for one in study.values for name in one.conditions}
        candidates |= {name for one in study.preferences for name in one.outputs}
        kept = {*study.arms, *tasks, *candidates}
        self._new = {
            name: str(new)
            for name, new in names.kind("S").items()
            if len(name) >= LEAST_WORD and name not in kept and name != name.lower()
        }
        words = "|".join(re.escape(name) for name in sorted(self._new, key=len, reverse=True))
        self._pattern = re.compile(rf"(?<!\w)({words})(?!\w)") if words else None

    def __call__(self, text: str) -> str:
        return self._pattern.sub(lambda match: self._new[match[0]], text) if self._pattern else text


# Groups whose values are names of people and sites.
WITH_NAMES = ("readers", "datasets", "reference_standard")


def _of_lock(found: lock.LockStatus, names: _Names, text: _Texts) -> lock.LockStatus:
    """What was found of the lock with names replaced, for the report and where criteria are looked up."""

    def hidden(value: Any, group: str) -> Any:
        if isinstance(value, str):
            kinds = "RAS" if group in WITH_NAMES else ""
            return next(
                (str(new) for kind in kinds if (new := names.pseudonym(kind, value)) != value), text(value)
            )
        if isinstance(value, list):
            return [hidden(one, group) for one in value]
        return {k: hidden(v, group) for k, v in value.items()} if isinstance(value, Mapping) else value

    changes = tuple(
        replace(
            change,
            path=tuple(type(key)(hidden(str(key), change.path[0])) for key in change.path),
            old=hidden(change.old, change.path[0]),
            new=hidden(change.new, change.path[0]),
            amendment=_rewritten(change.amendment, text),
        )
        for change in found.changes
    )
    if found.lock is None:
        return replace(found, changes=changes)
    entries = tuple(
        replace(entry, criteria={k: hidden(v, k) for k, v in entry.criteria.items()})
        for entry in found.lock.entries
    )
    return replace(found, changes=changes, lock=lock.Lock(entries))


def _of_plan(plan: Plan, names: _Names, text: _Texts) -> Plan:
    readers = tuple(
        reader.model_copy(
            update={
                "reader": str(names.pseudonym("R", reader.reader)),
                "site": None if reader.site is None else str(names.pseudonym("S", reader.site)),
            }
        )
        for reader in plan.readers
    )
    datasets = tuple(
        facts.model_copy(
            update={"sites": facts.sites and tuple(str(names.pseudonym("S", site)) for site in facts.sites)}
        )
        for facts in plan.datasets
    )
    subgroups = tuple(_of_subgroup(one, names) for one in plan.subgroups)
    first = plan.model_copy(update={"readers": readers, "datasets": datasets, "subgroups": subgroups})
    made: Plan = _rewritten(first, text)
    return made


def _of_subgroup(subgroup: Any, names: _Names) -> Any:
    """A group of a site by its pseudonym, in the definition and in what it is held against."""
    definition = subgroup.definition or ""
    of_site = re.match(r"\s*(\w+)", definition or subgroup.name)
    if of_site is None or of_site[1].casefold() not in SITES:
        return subgroup
    head, *rest = re.split(r"(\s+|,|\(|\))", definition)
    told = head + "".join(str(names.pseudonym("S", part)) for part in rest)
    reference = subgroup.reference and str(names.pseudonym("S", subgroup.reference))
    return subgroup.model_copy(update={"definition": told or None, "reference": reference})


def _is_word(annotation: Any) -> bool:
    """Whether a field holds one of a few words, which are no names."""
    return get_origin(annotation) is Literal or any(_is_word(part) for part in get_args(annotation))


def _rewritten(value: Any, text: _Texts) -> Any:
    """The same with names of sites replaced in every text, at any depth."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, BaseModel):
        told = {
            n: getattr(value, n) for n, f in type(value).model_fields.items() if not _is_word(f.annotation)
        }
        changed = {name: new for name, old in told.items() if (new := _rewritten(old, text)) != old}
        return value.model_copy(update=changed) if changed else value
    if isinstance(value, tuple):
        return tuple(_rewritten(item, text) for item in value)
    if isinstance(value, Mapping):
        return {key: _rewritten(item, text) for key, item in value.items()}
    return value


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
