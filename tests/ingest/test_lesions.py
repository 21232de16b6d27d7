"""Tables of cases, lesions and marks are read, and everything that does not fit is said at once."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trustreport.study.ingest import read
from trustreport.study.study import Localisation, Study
from trustreport.vocabulary.errors import StudyError

HEAD = "report: {kind: certification}\ndevice: {}\n"
TABLES = "tables: {cases: {file: cases.csv}, lesions: {file: lesions.csv}, marks: {file: marks.csv}}\n"
NORTH = "datasets: [{dataset: north, role: external}]\n"
CASES = "case\nC1\nC2\nC3\nC4\n"
LESIONS = "case,lesion\nC1,a\nC1,b\nC2,a\n"
MARKS = "case,rating,lesion\nC1,3,a\nC3,2,\nC2,1.5,a\n"
OF_READERS = (
    "reader,arm,case,rating,lesion\nR1,unaided,C1,3,a\nR1,aided,C1,4,b\nR2,unaided,C3,1,\nR2,aided,C2,,\n"
)


def files(folder: Path, manifest: str = NORTH + TABLES, **tables: str) -> Path:
    held = {"cases": CASES, "lesions": LESIONS, "marks": MARKS, **tables}
    for name, text in held.items():
        (folder / f"{name}.csv").write_text(text, "utf-8")
    (folder / "study.yaml").write_text(HEAD + manifest, "utf-8")
    return folder


def made(folder: Path, *given: Any, **tables: str) -> tuple[Study, Localisation]:
    study, _ = read(files(folder, *given, **tables))
    (one,) = study.localisations
    return study, one


def problems(folder: Path, *given: Any, **tables: str) -> list[str]:
    with pytest.raises(StudyError) as error:
        read(files(folder, *given, **tables))
    return [str(p) for p in error.value.problems]


def test_marks_of_a_candidate_belong_to_the_data_set(tmp_path: Path) -> None:
    study, one = made(tmp_path)
    assert (one.dataset, one.readers, list(one.makers)) == ("north", None, [""])
    assert one.cases.truth.tolist() == [1, 1, 0, 0]
    assert study.datasets[0].cases.truth.tolist() == [1, 1, 0, 0]
    assert one.lesion_case.tolist() == [0, 0, 1]
    assert one.lesion.tolist() == [0, 2, -1]
    assert one.rating.tolist() == [3.0, 1.5, 2.0]
    assert {s.table: s.n_used for s in study.sources}["marks"] == 3
    assert study.cautions == ()


def test_candidates_by_a_column_or_by_table(tmp_path: Path) -> None:
    _, one = made(tmp_path, marks="candidate,case,rating,lesion\nB,C1,3,a\nA,C2,2,\nA,C3,1,\n")
    assert list(one.makers) == ["A", "B"]
    assert one.maker.tolist() == [0, 0, 1]
    named = (
        "tables:\n  cases: {file: cases.csv}\n  lesions: {file: lesions.csv}\n"
        "  first: {kind: marks, file: marks.csv, candidate: Z}\n"
        "  second: {kind: marks, file: second.csv, candidate: Y}\n"
    )
    _, two = made(tmp_path, NORTH + named, second="case,rating,lesion\nC4,2,\n")
    assert list(two.makers) == ["Y", "Z"]


def test_several_data_sets_have_tables_of_their_own(tmp_path: Path) -> None:
    manifest = (
        "datasets: [{dataset: north, role: external}, {dataset: south, role: external}]\n"
        "tables:\n  cases: {file: cases.csv}\n"
        "  l1: {kind: lesions, file: lesions.csv, dataset: north}\n"
        "  m1: {kind: marks, file: marks.csv, dataset: north}\n"
    )
    cases = "case,dataset\nC1,north\nC2,north\nC3,north\nC4,north\nC1,south\n"
    study, one = made(tmp_path, manifest, cases=cases)
    assert one.dataset == "north"
    assert {d.name: len(d.cases) for d in study.datasets} == {"north": 4, "south": 1}


def test_marks_of_readers_know_every_case_and_arm(tmp_path: Path) -> None:
    study, one = made(tmp_path, TABLES, marks=OF_READERS)
    assert one.arms == ("unaided", "aided")
    assert list(one.makers) == ["R1", "R2"]
    assert len(one.cases) == 4
    assert one.rating.tolist() == [3.0, 1.0, 4.0]  # the row without a rating says only that R2 read
    assert study.datasets == ()


def test_weights_are_in_sum_one_for_each_case(tmp_path: Path) -> None:
    _, one = made(tmp_path, lesions="case,lesion,lesion_weight\nC1,a,3\nC1,b,1\nC2,a,7\n")
    assert one.weight is not None
    assert one.weight.tolist() == [0.75, 0.25, 1.0]


def test_of_two_marks_on_a_lesion_the_higher_counts_and_this_is_said(tmp_path: Path) -> None:
    study, one = made(tmp_path, marks="case,rating,lesion\nC1,3,a\nC1,5,a\nC1,4,a\nC1,1,b\nC3,1,\nC3,2,\n")
    assert one.merged == 2
    assert one.rating.tolist() == [5.0, 1.0, 2.0, 1.0]
    assert study.cautions == (("marks_merged", {"name": "north", "n": 2}),)


def test_hits_by_distance_go_to_the_nearest_lesion_within_the_radius(tmp_path: Path) -> None:
    lesions = "case,lesion,x,y\nC1,a,0,0\nC1,b,10,0\nC2,a,5,5\n"
    marks = "case,rating,x,y\nC1,3,1,0\nC1,2,6,0\nC1,1,5,0\nC1,9,0,30\nC2,4,5,7\nC3,1,0,0\n"
    _, one = made(
        tmp_path, "localisation: {acceptance_radius: 5}\n" + NORTH + TABLES, lesions=lesions, marks=marks
    )
    hits = {(int(c), float(r)): int(k) for c, r, k in zip(one.case, one.rating, one.lesion)}
    # the mark half way between a and b is the first lesion's, and second to that at a distance of 1
    assert hits == {(0, 3.0): 0, (0, 2.0): 1, (0, 9.0): -1, (1, 4.0): 2, (2, 1.0): -1}
    assert one.merged == 1
    assert one.distance is not None
    assert sorted(one.distance.tolist()) == pytest.approx([1, 2, 4, 30, np.inf])


def test_three_coordinates_are_a_distance_in_space(tmp_path: Path) -> None:
    lesions, marks = "case,lesion,x,y,z\nC1,a,0,0,0\n", "case,rating,x,y,z\nC1,3,2,3,6\nC1,2,2,3,6.1\n"
    _, one = made(
        tmp_path, "localisation: {acceptance_radius: 7}\n" + NORTH + TABLES, lesions=lesions, marks=marks
    )
    assert dict(zip(one.rating.tolist(), one.lesion.tolist())) == {3.0: 0, 2.0: -1}


REFUSED: dict[str, tuple[tuple[str, ...], dict[str, str], str]] = {
    "unknown case": ((), {"marks": MARKS + "C9,1,\n"}, "marks.csv, row 5, column case"),
    "lesion of an unknown case": ((), {"lesions": LESIONS + "C8,a\n"}, "lesions.csv, row 5, column case"),
    "no such lesion": ((), {"marks": MARKS + "C2,1,z\n"}, 'it has "a"'),
    "no lesion there": ((), {"marks": MARKS + "C4,1,a\n"}, "it has none"),
    "a lesion twice": ((), {"lesions": LESIONS + "C2,a\n"}, "lesion a of case C2 appears twice"),
    "a lesion without name": ((), {"lesions": LESIONS + "C3,\n"}, "a lesion without a name"),
    "a hit without rating": ((), {"marks": MARKS + "C1,,b\n"}, "a mark on a lesion without a rating"),
    "some weights": (
        (),
        {"lesions": "case,lesion,lesion_weight\nC1,a,1\nC1,b,\n"},
        "1 of 2 lesions have no weight",
    ),
    "a weight of 0": ((), {"lesions": "case,lesion,lesion_weight\nC1,a,0\nC1,b,1\n"}, "a number above 0"),
    "truth against lesions": ((), {"cases": "case,truth\nC1,0\nC2,1\nC3,0\nC4,0\n"}, "truth 0 and a lesion"),
    "no lesion column": ((), {"marks": "case,rating\nC1,3\n"}, "acceptance_radius"),
    "radius and column": (
        ("localisation: {acceptance_radius: 5}\n" + NORTH + TABLES,),
        {"lesions": "case,lesion,x,y\nC1,a,0,0\nC1,b,1,1\nC2,a,1,1\n"},
        "Leave out localisation.acceptance_radius",
    ),
    "radius without places": (
        ("localisation: {acceptance_radius: 5}\n" + NORTH + TABLES,),
        {"marks": "case,rating,x,y\nC1,3,0,0\n"},
        "lesions without coordinates",
    ),
    "a mark without place": (
        ("localisation: {acceptance_radius: 5}\n" + NORTH + TABLES,),
        {"lesions": "case,lesion,x,y\nC1,a,0,0\n", "marks": "case,rating,x,y\nC1,3,,0\n"},
        "1 marks without",
    ),
    "no table of lesions": (
        (NORTH + "tables: {cases: {file: cases.csv}, marks: {file: marks.csv}}\n",),
        {},
        "marks without lesions",
    ),
    "no table of marks": (
        (NORTH + "tables: {cases: {file: cases.csv}, lesions: {file: lesions.csv}}\n",),
        {},
        "lesions without marks",
    ),
    "no table of cases": (
        (NORTH + "tables: {lesions: {file: lesions.csv}, marks: {file: marks.csv}}\n",),
        {},
        "one row for every case",
    ),
    "no table of cases, readers": (
        ("tables: {lesions: {file: lesions.csv}, marks: {file: marks.csv}}\n",),
        {"marks": OF_READERS},
        "the cases that were read are not known",
    ),
    "a reader in one arm": (
        (TABLES,),
        {"marks": OF_READERS.replace("R2,aided,C2,,\n", "")},
        'no row of "R2 in arm aided"',
    ),
    "no arm": ((TABLES,), {"marks": "reader,case,rating,lesion\nR1,C1,3,a\n"}, 'no column "arm"'),
    "an unknown arm": ((TABLES,), {"marks": OF_READERS + "R1,both,C1,3,a\n"}, 'found "both"'),
    "arms of candidates": (
        (),
        {"marks": "arm,case,rating,lesion\naided,C1,3,a\n"},
        "marks of candidates with a column arm",
    ),
    "which data set": (
        ("datasets: [{dataset: north, role: external}, {dataset: south, role: external}]\n" + TABLES,),
        {"cases": "case,dataset\nC1,north\nC1,south\n"},
        "to which of 2 data sets",
    ),
    "rates that fall": (
        ("localisation: {false_marks_per_case: [1, 0.5]}\n" + NORTH + TABLES,),
        {},
        "lowest first",
    ),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_does_not_fit_is_refused_with_its_place(name: str, tmp_path: Path) -> None:
    given, tables, said = REFUSED[name]
    found = problems(tmp_path, *given, **tables)
    assert any(said in text for text in found), found


def test_all_problems_come_at_once(tmp_path: Path) -> None:
    found = problems(tmp_path, marks=MARKS + "C9,1,\nC2,1,z\nC1,,b\n", lesions=LESIONS + "C2,a\n")
    for said in ("row 5", "lesion z", "without a rating", "appears twice"):
        assert any(said in text for text in found), found
