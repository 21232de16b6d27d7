"""The bundle: hashes that find every flipped byte, tables of all numbers, reports held against each other."""

import csv
import hashlib
import io
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from trustreport.api import Assessed, assess, read_study, write_report
from trustreport.commands.cli import main
from trustreport.report.compare import compare, lines, load, table
from trustreport.report.signatures.bundle import HASHES, UNLISTED, files, verify
from trustreport.report.spreadsheets import (
    CORE,
    HEADER,
    LONGEST,
    NUMBER,
    UNDATED,
    UNDATED_ZIP,
    results_csv,
    results_xlsx,
)

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "knee-mri"
FORMATS = ("html", "json", "xlsx", "csv", "figures")


def run(*arguments: object) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, assessed_study: Callable[[Path], Assessed]) -> Path:
    """A report with every format but the PDF, which has tests of its own."""
    out = tmp_path_factory.mktemp("bundle") / "out"
    write_report(assessed_study(EXAMPLE), out, formats=FORMATS)
    return out


@pytest.fixture
def out(made: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return Path(shutil.copytree(made, tmp_path / "out"))


def results(folder: Path) -> dict[str, Any]:
    return load(folder)


# ---------------------------------------------------------------- hashes


def test_every_file_is_listed_as_sha256sum_reads_it(made: Path) -> None:
    listed = dict(line.split("  ", 1)[::-1] for line in (made / HASHES).read_text().splitlines())
    assert set(listed) == set(files(made)) - set(UNLISTED)
    assert {"results.json", "results.xlsx", "results.csv", "report.html"} <= set(listed)
    assert any(name.startswith("figures/") for name in listed)
    for name, digest in listed.items():
        assert hashlib.sha256((made / name).read_bytes()).hexdigest() == digest


def test_an_untouched_report_is_as_written(made: Path) -> None:
    lines = verify(made)
    assert {line.status for line in lines} == {"ok"}
    status, said, err = run("verify", made)
    assert (status, err) == (0, "")
    assert said == f"{len(lines)} unchanged, 0 changed or missing.\n"


def test_a_flipped_byte_anywhere_is_found(out: Path) -> None:
    for name in files(out):
        if name == "run.json":
            continue  # it holds times, and is no part of what is reproduced
        path = out / name
        data = path.read_bytes()
        places = sorted({0, len(data) // 3, len(data) // 2, len(data) - 1})
        places = range(0, len(data), 7) if name == HASHES else places
        for at in places:
            for bit in (0x01, 0x20) if name == HASHES else (0x01,):
                path.write_bytes(data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :])
                assert "wrong" in {line.status for line in verify(out)}, (name, at, bit)
        path.write_bytes(data)
    assert {line.status for line in verify(out)} == {"ok"}


@pytest.mark.parametrize("change", ["gone", "no list", "cut list", "empty list", "link", "outside"])
def test_what_else_can_be_done_to_a_report(change: str, out: Path, tmp_path: Path) -> None:
    listing = out / HASHES
    if change == "gone":
        (out / "results.csv").unlink()
    elif change == "no list":
        listing.unlink()
    elif change == "cut list":
        listing.write_text("".join(listing.read_text().splitlines(keepends=True)[:-1]))
    elif change == "empty list":
        listing.write_text("")
    elif change == "link":
        shutil.move(out / "results.csv", tmp_path / "results.csv")
        (out / "results.csv").symlink_to(tmp_path / "results.csv")
    else:
        listing.write_text(f"{'0' * 64}  ../results.csv\n")
    found = verify(out)
    if change == "cut list":  # the file that is listed no more stands beside the report
        assert {line.status for line in found} == {"ok", "beside"}
        return
    assert "wrong" in {line.status for line in found}
    status, said, err = run("verify", out)
    assert status == 1
    assert err
    assert re.search(r"[1-9]\d* changed or missing\.", said)


def test_other_files_are_told_of_and_are_no_fault(out: Path) -> None:
    (out / "notes.txt").write_text("mine")
    status, said, _ = run("verify", out)
    assert status == 0
    assert "notes.txt is not a file of the report." in said


def test_a_page_of_other_numbers_is_found(out: Path) -> None:
    from trustreport.report.signatures.bundle import hashes

    data = json.loads((out / "results.json").read_bytes())
    data["results"][0]["value"] = 0.5
    (out / "results.json").write_text(json.dumps(data))
    (out / HASHES).write_bytes(hashes(out))
    wrong = [line for line in verify(out) if line.status == "wrong"]
    assert [(line.file, line.said) for line in wrong] == [
        ("report.html", "quotes the hash of another results.json")
    ]


def test_the_study_gives_the_same_numbers(made: Path, tmp_path: Path) -> None:
    status, said, err = run("verify", made, "--study", EXAMPLE)
    assert (status, err) == (0, ""), (said, err)
    other = Path(shutil.copytree(EXAMPLE, tmp_path / "study"))
    text = (other / "study.yaml").read_text()
    assert "errors: 352" in text
    (other / "study.yaml").write_text(text.replace("errors: 352", "errors: 353"))
    status, said, err = run("verify", made, "--study", other)
    assert status == 1
    assert "study.yaml of the study is not the file that the report was made from." in err
    assert "results.json computed again, is not the same: number changed" in err


# ---------------------------------------------------------------- flat tables


def rows_of(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode(), newline="")))


def test_a_locked_study_without_a_seed_gives_the_same_verdicts(tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(EXAMPLE, study)
    criterion = "{endpoint: fewer, measure: pragmatic_utility.arr, hypothesis: superiority, alpha: 0.05}"
    manifest = (EXAMPLE / "study.yaml").read_text("utf-8")
    assert "seed" not in manifest
    assert "endpoints" not in manifest
    (study / "study.yaml").write_text(f"{manifest}\nendpoints:\n  - {criterion}\n", "utf-8")
    assert run("lock", study)[0] == 0
    out = tmp_path / "out"
    write_report(assess(*read_study(study)), out, formats=("json",))
    assert results(out)["criteria"]["state"] == "locked"
    status, _, err = run("verify", out, "--study", study)
    assert (status, err) == (0, "")


def test_the_table_holds_every_number(made: Path) -> None:
    document = results(made)
    rows = rows_of((made / "results.csv").read_bytes())
    assert len(rows) == len(document["results"]) >= 20
    for row, entry in zip(rows, document["results"]):
        assert row["id"] == entry["id"]
        for name in ("value", "low", "high", "p", "n", "level"):
            assert row[name] == ("" if entry[name] is None else json.dumps(entry[name]))
        assert row["primary"] == json.dumps(entry["primary"])
        assert row["arms"] == "; ".join(entry["scope"].get("arms") or ())


def test_the_workbook_holds_the_same(made: Path) -> None:
    from openpyxl import load_workbook

    document = results(made)
    book = load_workbook(made / "results.xlsx", read_only=True)
    assert book.sheetnames == ["numbers", "verdicts", "checks", "open questions", "inputs"]
    head, *rows = book["numbers"].iter_rows(values_only=True)
    assert head == HEADER
    value, n = head.index("value"), head.index("n")
    assert [row[0] for row in rows] == [e["id"] for e in document["results"]]
    assert [row[value] for row in rows] == [e["value"] for e in document["results"]]
    assert [row[n] for row in rows] == [e["n"] for e in document["results"]]
    _, *checks = book["checks"].iter_rows(values_only=True)
    assert [row[0] for row in checks] == [c["check"] for c in document["checks"]]
    _, *inputs = book["inputs"].iter_rows(values_only=True)
    assert inputs[0][:2] == ("study.yaml", "manifest")


def entry(**more: Any) -> dict[str, Any]:
    """A number with nothing said of it."""
    plain = dict.fromkeys(NUMBER)
    return {**plain, "id": "a.b", "scope": {}, "primary": True, "details": {}, **more}


def document(*entries: Mapping[str, Any]) -> dict[str, Any]:
    empty = {"verdicts": [], "checks": [], "unanswered": [], "provenance": {"inputs": []}}
    return {"results": list(entries), **empty}


HOSTILE = ["=1+1", "+1", "-1 of", "@SUM(A1)", "\t=1", " =1", "\r=cmd|' /C calc'!A0", "\uff1d1"]


@pytest.mark.parametrize("text", HOSTILE)
def test_text_is_never_a_formula(text: str) -> None:
    from openpyxl import load_workbook

    hostile = document(entry(scope={"reader": text, "arms": [text, "b"]}, note=text, value=-1.5))
    (row,) = rows_of(results_csv(hostile))
    assert row["reader"] == row["note"] == "'" + text
    assert row["arms"] == f"'{text}; b"
    assert row["value"] == "-1.5"
    data = results_xlsx(hostile)
    sheet = load_workbook(io.BytesIO(data))["numbers"]
    cells = [cell for line in sheet.iter_rows(min_row=2) for cell in line if cell.value is not None]
    assert all(cell.data_type != "f" for cell in cells)
    assert [c.value for c in cells if c.data_type == "n" and not isinstance(c.value, bool)] == [-1.5]


def test_what_a_workbook_cannot_hold() -> None:
    from openpyxl import load_workbook

    data = results_xlsx(document(entry(note="a\x00b", source="x" * 40_000, value=None)))
    row = [c.value for c in list(load_workbook(io.BytesIO(data))["numbers"].iter_rows())[1]]
    assert "a\N{REPLACEMENT CHARACTER}b" in row
    assert max(len(v) for v in row if isinstance(v, str)) == LONGEST


def test_the_workbook_has_no_date_of_its_own(made: Path) -> None:
    data = json.loads((made / "results.json").read_bytes())
    again = results_xlsx(data)
    assert again == (made / "results.xlsx").read_bytes()
    with zipfile.ZipFile(io.BytesIO(again)) as archive:
        assert {info.date_time for info in archive.infolist()} == {UNDATED_ZIP}
        core = archive.read(CORE).decode()
    assert set(re.findall(r"<dcterms:\w+[^>]*>([^<]*)<", core)) == {UNDATED}


# ---------------------------------------------------------------- compare


def test_a_report_is_like_itself(made: Path) -> None:
    found = compare(results(made), results(made))
    assert found.alike
    assert found.same == len(results(made)["results"])
    status, said, _ = run("compare", made, made / "results.json")
    assert (status, said) == (0, f"nothing changed, {found.same} numbers the same\n")


def test_what_changed_is_told(made: Path, tmp_path: Path) -> None:
    old, new = results(made), results(made)
    new["results"][0]["value"] = 0.123
    new["results"][1]["value"] *= 1 + 1e-12  # rounding
    gone = new["results"].pop(2)
    new["results"].append({**gone, "id": "another.number"})
    fired = next(c for c in new["checks"] if c["status"] == "fired")
    fired["status"] = "clear"
    old["verdicts"], new["verdicts"] = (
        [{"endpoint": "a", "verdict": "pass"}],
        [{"endpoint": "a", "verdict": "fail"}],
    )
    found = compare(old, new)
    assert [(d.what, d.name) for d in found.numbers] == [
        ("changed", old["results"][0]["id"]),
        ("removed", gone["id"]),
        ("added", "another.number"),
    ]
    assert found.numbers[0].new == {"value": 0.123}
    assert [(d.what, d.name, d.old, d.new) for d in found.checks] == [
        ("changed", fired["check"], {"status": "fired"}, {"status": "clear"})
    ]
    assert [(d.name, d.old, d.new) for d in found.verdicts] == [
        ("a", {"verdict": "pass"}, {"verdict": "fail"})
    ]
    assert found.same == len(old["results"]) - 2
    (tmp_path / "new.json").write_text(json.dumps(new))
    status, said, _ = run("compare", made, tmp_path / "new.json")
    assert status == 0
    told = said.splitlines()
    assert f"number changed {old['results'][0]['id']} " in told[0]
    assert "-> 0.123" in told[0]
    assert told[-1].startswith("3 numbers, 1 verdict, 1 check changed")
    status, said, _ = run("compare", made, tmp_path / "new.json", "--json")
    assert json.loads(said)["numbers"][0]["new"] == {"value": 0.123}


def test_the_table_on_a_terminal_says_as_much(made: Path) -> None:
    new = results(made)
    new["results"][0]["value"] = 0.123
    found = compare(results(made), new)
    drawn = table(found)
    assert drawn.row_count == 1
    assert drawn.caption == list(lines(found))[-1]


@pytest.mark.parametrize("content", ["{", "[1]", '{"results": []}'])
def test_another_file_is_refused(content: str, made: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(content)
    status, said, err = run("compare", made, tmp_path / "other.json")
    assert (status, said) == (1, "")
    assert "other.json" in err
    assert run("compare", made, tmp_path)[0] == 1
