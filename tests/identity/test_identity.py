"""Names and identifiers that are found, and pseudonyms that cannot be undone with a list of names."""

import pickle
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
import pytest

from tests.dimensions.test_subgroups import cases, coded
from tests.studies import plan
from trustreport.assessment.assess import assess
from trustreport.study.identity.identifiers import identifying, is_direct, is_personal
from trustreport.study.identity.pseudonyms import Pseudonym, pseudonymised, released
from trustreport.study.plan import Plan
from trustreport.study.study import (
    Cases,
    Coded,
    Dataset,
    Labels,
    Ratings,
    Readers,
    Readings,
    Scores,
    Source,
    Study,
)
from trustreport.vocabulary.errors import StudyError
from trustreport.vocabulary.results import Result

PUBLIC = {"report": {"kind": "certification", "release": "public"}}
NAMES = ("R9", "R1", "R10", "R2", "R5", "R4")


@pytest.mark.parametrize(
    "name",
    ["Dr. Rossi", "dr rossi, Anna", "Prof. A. Weiß", "Anna Rossi", "Rossi, Anna", "A. Rossi", "R. Rossi, MD",
     "Jean-Luc Martin", "Ольга Иванова", "rossi@example.org"],
)  # fmt: skip
def test_names_of_persons_are_seen(name: str) -> None:
    assert is_personal(name)


@pytest.mark.parametrize(
    "name",
    ["R1", "reader 12", "Reader A", "Senior Radiologist", "Expert One", "Resident 3", "rater_07", "A",
     "Dr. 3", "Group North", "17", "", "NORTH", "R-7QK2M4", "less experienced"],
)  # fmt: skip
def test_codes_are_no_names(name: str) -> None:
    assert not is_personal(name)


def test_headers_that_identify() -> None:
    for header in (
        "Name",
        "patient_name",
        "First Name",
        "DOB",
        "date-of-birth",
        "E-mail",
        "MRN",
        "Codice fiscale",
    ):
        assert is_direct(header), header
    for header in ("case", "patient", "patient_id", "site", "age", "sex", "filename", "hospital", "rename"):
        assert not is_direct(header), header


def study(names: tuple[str, ...] = NAMES, seed: int = 1, **columns: Any) -> Study:
    """Readings of readers from three sites, on cases of two, with seconds for what is resampled."""
    rng = np.random.default_rng(seed)
    arm, reader, case = (
        a.ravel() for a in np.meshgrid(range(2), range(len(names)), range(40), indexing="ij")
    )
    truth = np.arange(40) % 2
    order = np.argsort(np.array(names))
    right = rng.random(arm.shape) < 0.75
    labels = tuple(names[i] for i in order)
    place = np.empty(len(names), np.int32)
    place[order] = np.arange(len(names))
    strata = {"site": coded([("North", "South", "West")[j % 3] for j in order])}
    of = cases(truth, [f"P{i // 2}" for i in range(40)], **columns)
    held = replace(of, site=coded(["North clinic", "South clinic"] * 20))
    rows = np.lexsort((case, place[reader], arm))
    table = Readings(
        "",
        ("unaided", "aided"),
        Readers(Labels(labels), strata),
        held,
        arm[rows].astype(np.int32),
        place[reader][rows].astype(np.int32),
        case[rows].astype(np.int32),
        np.where(right, truth[case], 1 - truth[case])[rows].astype(np.int8),
        seconds=rng.gamma(3, 20, arm.shape)[rows],
    )
    return Study(arms=("unaided", "aided"), readings=(table,), manifest=b"report: {}")


def scored(site: Any, **more: Any) -> Study:
    n = len(site)
    of = replace(cases(np.arange(n) % 2, **more), site=coded(site))
    return Study(datasets=(Dataset("North clinic", "external", of, {"": Scores(np.linspace(0, 1, n))}),))


def all_text(thing: Any) -> str:
    """Every text that a repr shows; names behind pseudonyms are not among them."""
    return repr(thing)


def names_of(made: Study) -> list[str]:
    return list(made.readings[0].readers.labels)


# ---------------------------------------------------------------- found


def source(*columns: str) -> Source:
    return Source("cases.csv", "cases", "0" * 64, 1, 1, 1, columns=columns)


def test_what_identifies_is_found_and_not_repeated() -> None:
    found = identifying(study(("Anna Rossi", "R2", "R3")))
    assert [(one.kind, one.n) for one in found] == [("reader", 1)]
    found = identifying(replace(study(), sources=(source("case", "Patient name", "age"),)))
    assert [(one.kind, one.file, one.column) for one in found] == [("header", "cases.csv", "Patient name")]
    found = identifying(study(contact=["a@b.org", "c@d.org"] * 20))
    assert [(one.kind, one.column, one.n) for one in found] == [("cells", "contact", 2)]
    found = identifying(study(dob=["1950-01-01"] * 40))
    assert [(one.kind, one.column) for one in found] == [("header", "dob")]
    assert identifying(study(sex=["F", "M"] * 20)) == []


def test_a_study_with_names_is_not_released() -> None:
    named = study(("Anna Rossi", "Bruno Bianchi", "R3"))
    with pytest.raises(StudyError) as refused:
        assess(named, plan(**PUBLIC))
    assert "2 readers called by a person's name; a public report is refused" in str(refused.value)
    assert "Rossi" not in str(refused.value)
    assert released(named, plan()) == (named, plan())
    header = replace(study(), sources=(source("case", "email"),))
    with pytest.raises(StudyError, match=r"cases.csv, column email: a column that names persons"):
        released(header, plan(**PUBLIC))


# ---------------------------------------------------------------- pseudonyms


def test_readers_sites_and_raters_have_other_names() -> None:
    given = plan(
        readers=[{"reader": "R9", "site": "North"}, {"reader": "R1"}],
        datasets=[
            {
                "dataset": "x",
                "role": "external",
                "sites": ["North clinic"],
                "eligibility": "all of North clinic",
            }
        ],
        subgroups=[{"name": "north", "definition": "site = North clinic"}],
    )
    made, told = pseudonymised(study(), given)
    names = names_of(made)
    assert len(set(names)) == 6
    assert all(name.startswith("R-") and len(name) == 8 for name in names)
    assert names == sorted(map(str, names))
    for name in (*NAMES, "North", "South", "West"):
        assert f"'{name}'" not in all_text(
            [list(names), list(made.readings[0].readers.strata["site"].labels)]
        )
    assert "North" not in told.model_dump_json()
    assert told.readers[0].reader in names
    (facts,) = told.datasets
    assert facts.sites is not None
    assert facts.sites[0] in list(made.readings[0].cases.site.labels)
    assert facts.eligibility == f"all of {facts.sites[0]}"
    assert made.manifest == b""


def test_readings_stay_with_their_readers() -> None:
    before, after = study().readings[0], pseudonymised(study(), plan())[0].readings[0]
    behind = [name.behind for name in after.readers.labels if isinstance(name, Pseudonym)]
    assert sorted(behind) == sorted(NAMES)
    for field in ("decision", "seconds"):
        grids = [one.grid(getattr(one, field), one.arms) for one in (before, after)]
        own = [list(before.readers.labels).index(name) for name in behind]
        assert np.array_equal(grids[0][:, own], grids[1])
    key = np.stack([after.arm, after.reader, after.case])
    assert np.array_equal(np.lexsort(key[::-1]), np.arange(len(after)))
    sites = [one.readers.strata["site"] for one in (before, after)]
    by_reader = [
        dict(zip(map(str, map(behind_of, one.readers.labels)), s.codes))
        for one, s in zip((before, after), sites)
    ]
    groups = [{frozenset(r for r in held if held[r] == c) for c in set(held.values())} for held in by_reader]
    assert groups[0] == groups[1]


def behind_of(name: str) -> str:
    return name.behind if isinstance(name, Pseudonym) else name


def test_pseudonyms_depend_on_data_that_are_not_published() -> None:
    """The same names with other decisions have other pseudonyms: a list of names is no key."""
    one, other = (pseudonymised(study(seed=seed), plan())[0] for seed in (1, 2))
    assert set(names_of(one)).isdisjoint(names_of(other))
    assert names_of(one) == names_of(pseudonymised(study(), plan())[0])


def test_the_order_of_pseudonyms_is_not_that_of_names() -> None:
    found = []
    for seed in range(6):
        labels = pseudonymised(study(seed=seed), plan())[0].readings[0].readers.labels
        found.append([behind_of(name) for name in labels])
    assert len({tuple(order) for order in found}) > 1
    assert sum(order == sorted(order) for order in found) < 2


def test_no_digest_of_a_name_with_what_is_published_gives_a_pseudonym() -> None:
    made = pseudonymised(study(), plan())[0]
    published = [
        b"",
        b"report: {}",
        sha256(b"report: {}").digest(),
        sha256(b"report: {}").hexdigest().encode(),
    ]
    from base64 import b32encode
    from hmac import digest

    for salt in published:
        for name in NAMES:
            tried = b32encode(digest(salt, f"R\0{name}".encode(), "sha256")).decode()[:6]
            assert f"R-{tried}" not in names_of(made)


def numbers(found: tuple[Result, ...]) -> Mapping[str, list[Any]]:
    """Numbers by id and scope without the people, as sorted lists."""
    by: dict[str, list[Any]] = {}
    for r in found:
        scope = {k: v for k, v in r.scope.items() if k not in ("reader", "site", "subgroup", "dataset")}
        e = r.estimate
        by.setdefault(f"{r.id} {sorted(map(str, scope.items()))} {r.method}", []).append(
            (e.value, e.low, e.high, e.n)
        )
    return {key: sorted(tuple(f"{x:.9g}" for x in row) for row in rows) for key, rows in by.items()}


def test_no_number_changes_with_the_names() -> None:
    """Those that are drawn at random neither; with every cell allowed, so that none is withheld."""
    limits = {"P59_cell": 1}
    own, told = (assess(study(), given) for given in (plan(), plan(**PUBLIC, limits=limits)))
    assert any(r.method == "bootstrap" for r in own.results)
    assert numbers(own.results) == numbers(told.results)


def test_a_data_set_called_as_its_site_is_called_as_the_pseudonym() -> None:
    given = plan(
        datasets=[{"dataset": "North clinic", "role": "external", "sites": ["North clinic"]}],
        endpoints=[{"endpoint": "a", "measure": "advice_accuracy.auc", "population": "North clinic"}],
    )
    made, told = pseudonymised(scored(["North clinic"] * 20), given)
    (name,) = (d.name for d in made.datasets)
    assert name.startswith("S-")
    assert told.datasets[0].dataset == told.endpoints[0].population == name


def test_raters_have_pseudonyms_and_keep_their_labels() -> None:
    of = Cases(Labels(("c", "a", "b")), np.array([0, 1, 1], np.int8))
    rater, case = np.array([0, 0, 1, 1], np.int32), np.array([0, 1, 0, 2], np.int32)
    ratings = Ratings("", Labels(("X", "Y")), of, rater, case, np.array([0, 1, 1, 1], np.int32), ("0", "1"))
    made = pseudonymised(Study(raters=(ratings,)), plan())[0].raters[0]
    behind = [behind_of(name) for name in made.raters]
    assert sorted(behind) == ["X", "Y"]
    assert [behind[i] for i in made.rater] == ["X", "X", "Y", "Y"]
    assert sorted(made.cases.labels, key=str.__str__) == ["C-1", "C-2", "C-3"]
    assert [behind_of(name) for name in sorted(made.cases.labels)] == ["a", "b", "c"]


def test_a_pseudonym_travels_between_processes() -> None:
    one = pickle.loads(pickle.dumps(Pseudonym("R-ABC", "Anna")))  # noqa: S301 -- our own bytes
    assert (one, one.behind, repr(one)) == ("R-ABC", "Anna", "'R-ABC'")
    assert sorted([Pseudonym("A", "z"), Pseudonym("B", "y")]) == ["B", "A"]


def test_an_empty_column_stays_empty() -> None:
    held = Coded(np.array([-1, 0, -1, 0], np.int32), Labels(("North clinic",)))
    of = replace(cases([0, 1, 0, 1]), site=held)
    made = pseudonymised(Study(datasets=(Dataset("d", "external", of),)), plan())[0].datasets[0].cases.site
    assert made is not None
    assert made.codes.tolist() == [-1, 0, -1, 0]


def test_an_internal_report_keeps_its_names() -> None:
    found: Plan = plan()
    assert found.report.release == "internal"
    assert set(NAMES) == {r.scope["reader"] for r in assess(study(), found).results if "reader" in r.scope}


def test_words_of_the_manifest_stay_where_a_site_is_called_like_one() -> None:
    given = plan(
        datasets=[{"dataset": "d", "role": "external", "sites": ["secondary", "Secondary"]}],
        endpoints=[{"endpoint": "a", "role": "secondary", "population": "secondary care at Secondary"}],
    )
    _, told = pseudonymised(scored(["secondary"] * 4), given)
    assert told.endpoints[0].role == "secondary"
    assert told.datasets[0].sites is not None
    one, other = told.datasets[0].sites
    assert one.startswith("S-")
    assert told.endpoints[0].population == f"secondary care at {other}"
