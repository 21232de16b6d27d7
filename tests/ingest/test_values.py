"""Tables of values and of preferences are read, and what does not fit is said with its place."""

from pathlib import Path

import numpy as np
import pytest

from trustreport.study.identity.pseudonyms import pseudonymised
from trustreport.study.ingest import read
from trustreport.study.study import Preferences, Study, Values
from trustreport.vocabulary.errors import StudyError

HEAD = "report: {kind: certification}\ndevice: {}\n"
TABLE = "tables: {t: {file: t.csv, kind: values}}\n"
CHOICES = "tables: {t: {file: t.csv, kind: preferences}}\n"
OF_READERS = "case,reader,arm,measured,reference_value\n1,Ada,aided,2.5,2\n1,Ada,unaided,3,2\n2,Bo,aided,4,\n"


def study_of(folder: Path, rows: str, manifest: str = TABLE) -> Study:
    (folder / "t.csv").write_text(rows)
    (folder / "study.yaml").write_text(HEAD + manifest)
    return read(folder)[0]


def made(folder: Path, rows: str, manifest: str = TABLE) -> Values:
    (one,) = study_of(folder, rows, manifest).values
    return one


def problems(folder: Path, rows: str, manifest: str = TABLE) -> str:
    with pytest.raises(StudyError) as error:
        study_of(folder, rows, manifest)
    return "\n".join(str(p) for p in error.value.problems)


def same(found: object, expected: object) -> bool:
    return np.array_equal(np.array(found, float), np.array(expected, float), equal_nan=True)


NONE = np.nan


def test_values_of_readers_have_arms_and_a_reference(tmp_path: Path) -> None:
    one = made(tmp_path, OF_READERS)
    assert (one.by, one.conditions) == ("arm", ("unaided", "aided"))
    assert same(one.value, [[[3, NONE], [NONE, NONE]], [[2.5, NONE], [NONE, 4]]])
    assert same(one.reference, [2, NONE])


def test_columns_of_arms_or_of_candidates(tmp_path: Path) -> None:
    wide = "tables: {t: {file: t.csv, kind: values, columns: {measured: {%s: x, %s: y}}}}\n"
    read_by = made(tmp_path, "case,reader,x,y\n1,Ada,2,3\n", wide % ("unaided", "aided"))
    assert (read_by.by, read_by.conditions) == ("arm", ("unaided", "aided"))
    devices = made(tmp_path, "case,x,y\n1,2,3\n2,4,5\n", wide % ("B", "A"))
    assert (devices.by, devices.conditions) == ("candidate", ("A", "B"))
    assert same(devices.value, [[[3, 5]], [[2, 4]]])


def test_a_second_measurement_stands_beside_the_first(tmp_path: Path) -> None:
    one = made(tmp_path, "case,measured,repeat\n1,2,a\n1,3,b\n2,4,a\n")
    assert same(one.value, [[[2, 4]]])
    assert same(one.repeats, [[[[3, NONE]]]])


def test_any_number_of_measurements_of_a_case_in_the_order_of_their_repeats(tmp_path: Path) -> None:
    rows = "1,2,10\n1,3,9\n2,4,b\n1,5,8\n"
    one = made(tmp_path, f"case,measured,repeat\n{rows}")
    assert same(one.value, [[[5, 4]]])
    assert same(one.repeats, [[[[3, NONE]]], [[[2, NONE]]]])


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        ("case,measured\n2,4\n1,2\n1,3\n", "", "row 4, column measured: case 1 has two values"),
        ("case,measured,repeat\n1,2,a\n1,3,b\n1,4,b\n", "", "row 4, column measured: case 1 has two values"),
        ("case,measured,arm\n1,2,aided\n", "", "Values of readers need a column reader"),
        ("case,measured\n1,2\n", "measurements: [{measurement: q}, {measurement: z}]\n", "which of 2"),
        (
            "case,measured,measurement\n1,2,qq\n",
            "measurements: [{measurement: q}]\n",
            'row 2, column measurement: found "qq"',
        ),
        (
            "case,measured\n1,2.5\n2,7\n",
            "measurements: [{measurement: q, kind: ordinal, scale: [1, 5]}]\n",
            'row 3, column measured: "7" for q, expected a whole number from 1 to 5',
        ),
        ("case,measured\n1,-1\n", "measurements: [{measurement: q, kind: count}]\n", "expected a count"),
    ],
)
def test_what_does_not_fit_is_said(tmp_path: Path, rows: str, more: str, said: str) -> None:
    assert said in problems(tmp_path, rows, TABLE + more)


def choices(folder: Path, *rows: str) -> Preferences:
    head = "reader,case,first,second,preferred\n"
    (one,) = study_of(
        folder, head + "".join(f"R1,{i},{row}\n" for i, row in enumerate(rows)), CHOICES
    ).preferences
    return one


@pytest.mark.parametrize(
    ("row", "share"),
    [
        ("a,b,a", 1), ("a,b,b", 0), ("b,a,a", 0), ("b,a,A", 0), ("B,A,b", 1), ("b,a,first", 1),
        ("b,a,Right", 0), ("a,b,tie", 0.5), ("new,old,2", 0), ("2,1,1", 0),
    ],
)  # fmt: skip
def test_a_choice_is_a_name_or_a_place(tmp_path: Path, row: str, share: float) -> None:
    assert choices(tmp_path, row).share.tolist() == [share]


def test_choices_that_name_no_output_are_refused(tmp_path: Path) -> None:
    rows = "reader,case,first,second,preferred\nR1,1,a,a,a\nR1,2,b,a,c\n"
    said = problems(tmp_path, rows, CHOICES)
    assert "row 2, column second: an output beside itself" in said
    assert 'row 3, column preferred: found "c"' in said


def test_pseudonyms_of_readers_move_their_values(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(OF_READERS)
    (tmp_path / "study.yaml").write_text(HEAD + TABLE)
    study, _ = pseudonymised(*read(tmp_path))
    (one,) = study.values
    assert one.readers is not None
    assert all(name.startswith("R-") for name in one.readers.labels)
    of_reader = {frozenset(v[~np.isnan(v)].tolist()) for v in one.value.transpose(1, 0, 2)}
    assert of_reader == {frozenset((3.0, 2.5)), frozenset((4.0,))}
