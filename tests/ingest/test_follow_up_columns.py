"""Follow-up, events and a horizon: what is read, and every input that cannot be analysed."""

from pathlib import Path

import numpy as np
import pytest

from trustreport.study.ingest import read
from trustreport.study.plan import TimeToEvent
from trustreport.study.study import Dataset
from trustreport.vocabulary.errors import StudyError

HEAD = "report: {kind: certification}\ndevice: {trade_name: D}\n"
HORIZON = "time_to_event: {horizon: 5 years, unit: days, competing: [2]}\n"
MAPPED = "{score: risk, follow_up: days, event: ended}"
ROWS = ("case,risk,days,ended", "A,0.8,400,1", "B,0.1,2300,0", "C,0.3,900,0", "D,0.2,1500,2", "E,0.5,,")


def written(
    folder: Path, rows: tuple[str, ...] = ROWS, horizon: str = HORIZON, columns: str = MAPPED
) -> Path:
    (folder / "a.csv").write_text("\n".join(rows) + "\n")
    data = f"datasets: [{{dataset: clinic, role: external, file: a.csv, columns: {columns}}}]\n"
    (folder / "study.yaml").write_text(HEAD + horizon + data)
    return folder


def only_dataset(folder: Path) -> Dataset:
    study, _ = read(folder)
    (dataset,) = study.datasets
    return dataset


def problems(folder: Path) -> str:
    with pytest.raises(StudyError) as caught:
        read(folder)
    return str(caught.value)


def test_follow_up_is_the_truth(tmp_path: Path) -> None:
    cases = only_dataset(written(tmp_path)).cases
    assert cases.followed
    assert cases.classes == ()
    assert (cases.truth == -1).all()
    np.testing.assert_array_equal(cases.numbers["follow_up"], [400, 2300, 900, 1500, np.nan])
    np.testing.assert_array_equal(cases.numbers["event"], [1, 0, 0, 2, np.nan])


def test_it_may_be_in_a_table_of_cases(tmp_path: Path) -> None:
    (tmp_path / "scores.csv").write_text("case,score\nA,0.4\nB,0.2\n")
    (tmp_path / "cases.csv").write_text("case,time,end\nA,3,1\nB,7,0\n")
    (tmp_path / "study.yaml").write_text(
        HEAD + "time_to_event: {horizon: 5}\ntables:\n  scores: {file: scores.csv}\n"
        "  cases: {file: cases.csv, columns: {follow_up: time, event: end}}\n"
    )
    assert only_dataset(tmp_path).cases.numbers["follow_up"].tolist() == [3, 7]


def test_headers_alone_are_not_taken(tmp_path: Path) -> None:
    rows = ("case,truth,score,event,follow_up", "A,1,0.8,fall,3", "B,0,0.1,none of note,4")
    cases = only_dataset(written(tmp_path, rows, "", "{}")).cases
    assert not cases.followed
    assert cases.groups["event"].labels[0] == "fall"


def test_parts_that_are_not_analysed_are_named(tmp_path: Path) -> None:
    study, _ = read(written(tmp_path))
    assert study.cautions == ()
    manifest = tmp_path / "study.yaml"
    manifest.write_text(manifest.read_text() + "subgroups: [{name: sex}]\n")
    study, _ = read(tmp_path)
    assert ("follow_up_whole", {"dataset": "clinic"}) in study.cautions


def test_words_become_codes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("case,score,t,how\nA,0.4,3,dead\nB,0.2,7,alive\n")
    (tmp_path / "study.yaml").write_text(
        HEAD + "time_to_event: {horizon: 5}\ndatasets: [{dataset: c, role: external, file: a.csv,"
        " columns: {follow_up: t, event: how}, values: {event: {dead: 1, alive: 0}}}]\n"
    )
    assert only_dataset(tmp_path).cases.numbers["event"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rows", "horizon", "columns", "found", "mend"),
    [
        ((*ROWS, "F,0.4,-3,1"), HORIZON, MAPPED, 'found "-3", expected 0 or more', "row 7, column days"),
        ((*ROWS, "F,0.4,30,3"), HORIZON, MAPPED, 'found "3"', "add competing: [3] under time_to_event"),
        ((*ROWS, "F,0.4,30,dead"), HORIZON, MAPPED, 'found "dead"', "values: {event: {<value>: 1}}"),
        ((*ROWS, "F,0.4,30,1.5"), HORIZON, MAPPED, 'found "1.5"', "0 (censored), 1 (the event)"),
        (ROWS, "", MAPPED, "follow-up without a horizon", "time_to_event: {horizon: 5 years, unit: days}"),
        (ROWS, HORIZON, "{score: risk}", "a horizon is declared, and no data set has follow-up", "columns:"),
        (ROWS, HORIZON, "{follow_up: days}", "and no column event", "event: <your header>"),
        (
            ROWS,
            HORIZON.replace("5 years", "9 years"),
            MAPPED,
            '9 years (3287.25 days) is beyond the last follow-up of data set "clinic", 2300 days',
            "row 3, column time_to_event.horizon",
        ),
        (
            tuple(f"{row},{x}" for row, x in zip(ROWS, ("truth", 1, 0, "", "", ""))),
            HORIZON,
            MAPPED,
            'the cases of data set "clinic" have a truth and follow-up',
            "columns: {known state: truth}",
        ),
        (ROWS, "time_to_event: {horizon: 5 years}\n", MAPPED, "unit", "days, weeks, months or years"),
        (ROWS, "time_to_event: {horizon: soon}\n", MAPPED, 'found "soon"', 'as "5 years"'),
        (ROWS, "time_to_event: {horizon: 0}\n", MAPPED, "horizon", "above 0"),
        (ROWS, "time_to_event: {horizon: 5, competing: [1]}\n", MAPPED, "competing", "codes from 2 on"),
    ],
    ids=lambda value: None if isinstance(value, tuple) else value[:30],
)
def test_what_cannot_be_analysed_is_refused(
    rows: tuple[str, ...], horizon: str, columns: str, found: str, mend: str, tmp_path: Path
) -> None:
    text = problems(written(tmp_path, rows, horizon, columns))
    assert text.count("study.yaml") + text.count("a.csv, row") == 1, text
    assert found in text
    assert mend in text


@pytest.mark.parametrize(
    ("horizon", "unit", "at", "shown"),
    [
        ("5 years", "days", 1826.25, "5 years"),
        ("5 years", "years", 5.0, "5 years"),
        ("6 months", "weeks", 6 * 365.25 / 12 / 7, "6 months"),
        ("1 year", "months", 12.0, "1 year"),
        ("90", "days", 90.0, "90 days"),
        ("2.5", None, 2.5, "2.5"),
    ],
)
def test_the_horizon_is_in_the_unit_of_the_column(horizon: str, unit: str, at: float, shown: str) -> None:
    declared = TimeToEvent.model_validate({"horizon": horizon, "unit": unit})
    assert declared.in_unit == pytest.approx(at)
    assert declared.written == shown
