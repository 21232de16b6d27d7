"""iMRMC files: the variants that the tool's own files show, there and back, equal results, faults by line."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from tests.studies import readings
from trustreport.api import assess, read_study
from trustreport.commands.cli import main
from trustreport.study.interop.imrmc import NoData, read_imrmc, write_imrmc
from trustreport.study.study import Labels
from trustreport.vocabulary.errors import StudyError

MANIFEST = """report: {kind: certification}
device: {}
arms:
  - {arm: unaided, aided: false, values: ["1"]}
  - {arm: aided, aided: true, values: ["2"]}
tables:
  readings: {file: study.imrmc}
"""
FRONT = "What people wrote,\nwith a comma\n\nNR: 2\nBEGIN DATA:\n"
ROWS = "-1,c1,0,0\n-1,c2,0,1\nR1,c1,1,2\nR1,c2,1,4.5\nR2,c1,2,1\n"


def folder(tmp_path: Path, text: str | bytes, manifest: str = MANIFEST) -> Path:
    (tmp_path / "study.yaml").write_text(manifest)
    data = text if isinstance(text, bytes) else text.encode()
    (tmp_path / "study.imrmc").write_bytes(data)
    return tmp_path


def problems(tmp_path: Path, text: str | bytes, manifest: str = MANIFEST) -> list[str]:
    with pytest.raises(StudyError) as raised:
        read_study(folder(tmp_path, text, manifest))
    return [str(problem) for problem in raised.value.problems]


@pytest.mark.parametrize(
    "text",
    [
        FRONT + ROWS,
        FRONT + ROWS.replace("-1,c1,0", "truth,c1,truth").replace("-1,c2,0", "truth,c2,truth"),
        FRONT + ROWS.replace(",", " , ").replace("-1", " -1").replace("\n", " \n"),
        FRONT + ROWS.replace("\n", "\r\n") + "\r\n\r\n",
        "\ufeff" + FRONT + ROWS,
        FRONT + "\n".join(reversed(ROWS.split("\n"))),  # truth below the readings
        FRONT + ROWS.replace(",c1,0,0", ",c1,0,0.000").replace(",c2,0,1", ",c2,any modality,1.0"),
    ],
    ids=["plain", "truth", "padded", "windows", "mark", "reversed", "numbers"],
)
def test_the_variants_of_the_format_give_the_same_study(text: str, tmp_path: Path) -> None:
    study, _ = read_study(folder(tmp_path, text))
    (one,) = study.readings
    names = dict(zip(one.cases.labels, one.cases.truth))
    assert names == {"c1": 0, "c2": 1}
    assert one.arms == ("unaided", "aided")
    held = {
        (one.arms[a], one.readers.labels[r], one.cases.labels[c], s)
        for a, r, c, s in zip(one.arm, one.reader, one.case, one.score if one.score is not None else [])
    }
    assert held == {
        ("unaided", "R1", "c1", 2),
        ("unaided", "R1", "c2", 4.5),
        ("aided", "R2", "c1", 1),
    }
    source = study.sources[1]
    assert (source.file, source.table, source.n_rows, source.n_used) == ("study.imrmc", "readings", 3, 3)


@pytest.mark.parametrize("how", ["as names", "as values"])
def test_results_equal_those_of_the_table_it_was_made_from(how: str, reference: Path, tmp_path: Path) -> None:
    case = reference / "contract" / "vandyke"
    study, plan = read_study(case)
    text = write_imrmc(study.readings[0])
    if how == "as values":  # modalities 1 and 2 as other software names them
        text = text.replace(",unaided,", ",1,").replace(",aided,", ",2,")
    manifest = (case / "study.yaml").read_text()
    head, _, _ = manifest.partition("tables:")
    other, _ = read_study(folder(tmp_path, text, head + "tables: {readings: {file: study.imrmc}}\n"))
    one, two = assess(study, plan), assess(other, plan)
    assert len(one.results) == len(two.results) > 100
    for r, s in zip(one.results, two.results):
        assert (r.id, r.scope, r.method, r.primary) == (s.id, s.scope, s.method, s.primary)
        for word in ("value", "low", "high", "n", "p"):
            a, b = getattr(r.estimate, word), getattr(s.estimate, word)
            assert a == b or (np.isnan(a) and np.isnan(b)), (r.id, r.scope, word)


def test_there_and_back_keeps_every_score(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    scores = rng.normal(0, 1, (2, 4, 30)) * 10.0 ** rng.integers(-9, 9, (2, 4, 30))
    study = readings(scores > 0, rng.random(scores.shape) < 0.2, scores=scores)
    text = write_imrmc(study.readings[0], title="Two lines\nas a title")
    assert text.startswith("Two lines as a title\nscore: the reader's score\n")
    assert "\nN0: 15\nN1: 15\nNR: 4\nNM: 2\n" in text
    back, _ = read_study(folder(tmp_path, text))
    for word in ("score", "arm"):
        np.testing.assert_array_equal(
            getattr(by_name(back.readings[0]), word), getattr(by_name(study.readings[0]), word)
        )


def by_name(one: Any) -> Any:
    """The readings in the order of their names."""
    keys = [
        (one.arms[a], one.readers.labels[r], one.cases.labels[c])
        for a, r, c in zip(one.arm, one.reader, one.case)
    ]
    order = np.array(sorted(range(len(keys)), key=keys.__getitem__))
    return replace(one, **{w: getattr(one, w)[order] for w in ("arm", "reader", "case", "score")})


def test_decisions_stand_in_for_scores_and_what_has_no_place_is_counted() -> None:
    (one,) = readings(np.ones((2, 2, 4), bool)).readings
    assert one.decision is not None
    decision = one.decision.copy()
    decision[0] = -1
    truth = one.cases.truth.copy()
    truth[3] = -1
    text = write_imrmc(replace(one, decision=decision, cases=replace(one.cases, truth=truth)))
    assert "score: the reader's decision, 0 or 1" in text
    assert "without truth: 4 readings" in text
    assert "without score: 1 readings" in text
    rows, faults = read_imrmc(text, "a")
    assert not faults
    assert len(rows.reader) == 11
    assert set(zip(rows.score, rows.truth)) == {("0", "0"), ("1", "1")}


@pytest.mark.parametrize(
    "change, said",
    [
        ({"readers": ("a,b", "c")}, 'reader "a,b" holds a comma'),
        ({"readers": ("-1", "c")}, "would be taken for the truth"),
        ({"readers": (" a", "c")}, "blanks at its ends"),
        ({"cases": ("1\n2", "2", "3", "4")}, "line break"),
    ],
)
def test_names_that_the_format_cannot_hold_are_refused(change: dict[str, tuple[str, ...]], said: str) -> None:
    (one,) = readings(np.ones((2, 2, 4), bool)).readings
    made = {word: replace(getattr(one, word), labels=Labels(names)) for word, names in change.items()}
    with pytest.raises(ValueError, match=said):
        write_imrmc(replace(one, **made))


@pytest.mark.parametrize(
    "text, said",
    [
        ("reader,case,arm,score\nR1,c1,1,2\n", "no line BEGIN DATA:"),
        (FRONT, "no rows below"),
        (FRONT + ROWS + "R2,c2,2\n", "row 11: found 3 cells, expected 4: reader, case, modality, score."),
        (FRONT + ROWS + "-1,c3,0,2\n", 'row 11: found "2" as the truth of case c3, expected 0 or 1'),
        (FRONT + ROWS + "-1,c1,0,1\n", "rows 6 and 11: case c1 has two truths (0 in row 6, 1 in row 11)."),
        (FRONT + ROWS + "R2,c9,2,1\n", "row 11: no line of truth for case c9."),
        (FRONT + ROWS + "R2,c2,2,high\n", 'row 11, column score: found "high"'),
        (FRONT + ROWS + "R2,c1,2,3\n", "reader R2 read case c1 twice in arm aided"),
        (FRONT + ROWS + "R2,c1,7,3\n", 'row 11, column arm: found "7"'),
        (FRONT + ROWS + ",c1,2,3\n", "column reader"),
        (b"\0\1\2" + (FRONT + ROWS).encode("utf-16"), "study.imrmc"),
    ],
)
def test_every_fault_is_said_with_its_line(text: str | bytes, said: str, tmp_path: Path) -> None:
    assert any(said in problem for problem in problems(tmp_path, text)), problems(tmp_path, text)


def test_text_without_the_line_is_no_such_file() -> None:
    with pytest.raises(NoData):
        read_imrmc("R1,c1,1,2", "a")


def test_export_writes_what_build_reads(reference: Path, tmp_path: Path) -> None:
    case = tmp_path / "vandyke"
    shutil.copytree(reference / "contract" / "vandyke", case)
    out = tmp_path / "out.imrmc"
    result = CliRunner().invoke(main, ["export", str(case), "--format", "imrmc", "-o", str(out)])
    assert (result.exit_code, result.stdout) == (0, f"{out}\n")
    rows, faults = read_imrmc(out.read_text(), out.name)
    assert not faults
    assert len(rows.reader) == 2 * 5 * 114


def test_export_says_what_it_cannot_do(tmp_path: Path) -> None:
    rows = "".join(f"  - {{set: a, arm: {arm}, errors: 1, correct: 3}}\n" for arm in ("unaided", "aided"))
    (tmp_path / "study.yaml").write_text("report: {kind: certification}\ndevice: {}\ncounts:\n" + rows)
    out = tmp_path / "out.imrmc"
    command = ["export", str(tmp_path), "--format", "imrmc", "-o", str(out)]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 2
    assert "the study has no readings" in result.stderr
    read_study(folder(tmp_path, FRONT + ROWS.replace("R1", "a")))
    result = CliRunner().invoke(main, [*command, "--task", "second"])
    assert result.exit_code == 2
    assert "the study has one, without a name" in result.stderr
    assert CliRunner().invoke(main, [*command[:-1], str(tmp_path / "none" / "a")]).exit_code == 1
    (tmp_path / "study.yaml").write_text(MANIFEST.replace("study.imrmc", "t.csv"))
    (tmp_path / "t.csv").write_text('reader,case,arm,score,truth\n"a,b",c,1,2,1\n')
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 1
    assert "holds a comma" in result.stderr
    assert not out.exists()


def test_a_message_shows_control_characters_and_sends_none(tmp_path: Path) -> None:
    said = problems(tmp_path, FRONT + ROWS + "R1,c\x01\x1b[2J,1,2\n")
    assert any("no line of truth for case c<U+0001><U+001B>[2J." in one for one in said)
    assert not any("\x1b" in one for one in said)
