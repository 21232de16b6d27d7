"""The command line as a new user meets it: help without weight, wrong input first, then a report."""

import hashlib
import json
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from trustreport.commands.cli import main

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
HEAVY = {
    "numpy",
    "pandas",
    "scipy",
    "statsmodels",
    "matplotlib",
    "weasyprint",
    "pydantic",
    "pyarrow",
    "jinja2",
    "rich",
}


def run(*arguments: object) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a command."""
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.mark.parametrize("word", ["--help", "--version"])
def test_help_imports_nothing_heavy(word: str) -> None:
    process = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "trustreport", word],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in process.stderr.splitlines()}
    assert "click" in loaded
    assert not loaded & HEAVY


def test_every_command_has_help_and_stands_in_the_readme() -> None:
    readme = (EXAMPLES.parent / "README.md").read_text(encoding="utf-8")
    for name, command in main.commands.items():
        assert command.help
        assert f"trustreport {name}" in readme
        assert run(name, "--help")[0] == 0


def test_wrong_use_is_said_in_a_line(tmp_path: Path) -> None:
    study = EXAMPLES / "knee-mri"
    for arguments, said in (
        (("build", study), "Missing option"),
        (("build", study, "-o", tmp_path / "o", "--formats", "docx"), "choose from html, pdf, annex, json"),
        (("build", study, "-o", study), "folder of the study"),
        (("build", study, "-o", tmp_path / "o", "--kind", "marketing"), "not one of"),
        (("nothing",), "No such command"),
    ):
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert said in err


def test_a_study_that_is_not_there(tmp_path: Path) -> None:
    for command in (("check", tmp_path / "none"), ("build", tmp_path / "none", "-o", tmp_path / "out")):
        status, out, err = run(*command)
        assert (status, out) == (1, "")
        assert "1 problem; nothing was written." in err
    assert list(tmp_path.iterdir()) == []


def test_problems_are_gathered_and_nothing_is_left(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certificate}\ndevice: {trade_nam: X}\n"
        "counts:\n  - {set: a, arm: unaided, errors: -1, correct: 3}\n"
    )
    status, _, err = run("build", tmp_path, "-o", tmp_path / "out")
    assert status == 1
    assert "certification" in err
    assert "trade_name" in err
    assert "errors" in err
    assert [p.name for p in tmp_path.iterdir()] == ["study.yaml"]


def test_init_gives_a_manifest_that_check_understands(tmp_path: Path) -> None:
    for kind in ("certification", "procurement", "vigilance"):
        folder = tmp_path / kind
        every = ("--all",) if kind == "certification" else ()
        status, out, _ = run("init", folder, "--kind", kind, *every)
        assert status == 0
        assert "study.yaml" in out
        status, _, err = run("check", folder)
        assert status == 1
        assert "readings.csv" in err
        assert "study.yaml" not in err, err
        assert run("init", folder)[0] == 2
        (folder / "readings.csv").write_text(
            "reader,case,arm,truth,decision\n"
            + "".join(
                f"R{r},C{c},{arm},{c % 2},{(c + r * (arm == 'unaided')) % 2}\n"
                for r in range(5)
                for c in range(20)
                for arm in ("unaided", "aided")
            )
        )
        (folder / "readers.csv").write_text(
            "reader,qualification\n" + "".join(f"R{r},radiologist\n" for r in range(5))
        )
        status, out, err = run("check", folder, "--full")
        assert status == 0, err
        assert "P27" in out or "NOT DECLARED" in err


def test_two_builds_are_the_same_bytes(tmp_path: Path) -> None:
    digests = []
    for out in (tmp_path / "one", tmp_path / "two"):
        status, said, err = run("build", EXAMPLES / "knee-mri", "-o", out)
        assert status == 0, err
        written = ("report.pdf", "annex.pdf", "report.html", "results.json")
        assert said.split() == [str(out / f) for f in written]
        files = sorted(p for p in out.rglob("*") if p.is_file() and p.name != "run.json")
        digests.append({p.relative_to(out): hashlib.sha256(p.read_bytes()).hexdigest() for p in files})
    assert digests[0] == digests[1]
    assert (tmp_path / "one" / "report.html").stat().st_size < 2_000_000
    assert {"seconds", "finished"} <= set(json.loads((tmp_path / "one" / "run.json").read_text()))


def test_building_again_replaces_the_report_and_leaves_other_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("build", EXAMPLES / "knee-mri", "-o", out, "--formats", "figures")[0] == 0
    (out / "notes.txt").write_text("mine")
    (out / "figures" / "stale.svg").write_text("old")
    assert run("build", EXAMPLES / "knee-mri", "-o", out, "--formats", "json")[0] == 0
    assert sorted(p.name for p in out.iterdir()) == [
        "manifest.sha256",
        "notes.txt",
        "results.json",
        "run.json",
    ]


def test_check_and_init_count_and_list_what_is_not_declared(tmp_path: Path) -> None:
    rows = "".join(f"c{i},{i % 2},0.{i % 9 + 1}\n" for i in range(30))
    (tmp_path / "test.csv").write_text("case,truth,score\n" + rows)
    _, _, said = run("init", tmp_path / "s", "--from", tmp_path / "test.csv")
    status, _, err = run("check", tmp_path / "s")
    for text in (said, err):
        found = re.search(r"(\d+) declarations are missing; the report will print NOT DECLARED", text)
        assert found
        assert "\n  device: trade_name, software_version, " in text
        listed = re.findall(r"^  [a-z_]+(?:: (.*))?$", text, flags=re.MULTILINE)
        assert sum(names.count(",") + 1 if names else 1 for names in listed) == int(found[1])
    assert status == 0
    data = json.loads(run("check", tmp_path / "s", "--format", "json")[1])
    assert len(data["not_declared"]) == int(found[1])


def test_check_reads_and_says_what_is_not_used_without_computing(tmp_path: Path) -> None:
    study = tmp_path / "study"
    shutil.copytree(EXAMPLES / "knee-mri-readings", study)
    status, out, err = run("check", study)
    assert (status, out) == (0, "")
    assert err.startswith("No problems found. --full computes the results and checks for pitfalls.\n")
    readings = study / "readings.csv"
    head, *rows = readings.read_text().splitlines()
    readings.write_text("\n".join([head + ",note", *(row + ",x" for row in rows)]) + "\n")
    status, out, err = run("check", study)
    assert status == 0
    assert "warning: readings.csv: the column" in out
    assert err.startswith("No problems; 1 warning.")
    status, out, err = run("check", study, "--quiet")
    assert (status, err, out.count("\n")) == (0, "", 1)
    found = json.loads(run("check", study, "--format", "json")[1])
    assert [one["warning"] for one in found["warnings"]] == ["columns_ignored"]
    full = json.loads(run("check", study, "--format", "json", "--full")[1])
    assert {"checks", "unanswered", "not_declared"} <= set(full)
    readings.write_text("reader,case\n")
    status, out, err = run("check", study, "--format", "json")
    assert (status, err) == (1, "")
    assert json.loads(out)["problems"][0]["file"] == "readings.csv"


def test_check_imports_nothing_heavy() -> None:
    code = (
        "import sys; from click.testing import CliRunner; from trustreport.commands.cli import main;"
        f"print(CliRunner().invoke(main, ['check', {str(EXAMPLES / 'knee-mri-readings')!r}]).exit_code);"
        "print(sorted({m.partition('.')[0] for m in sys.modules}"
        " & {'scipy', 'matplotlib', 'statsmodels', 'weasyprint', 'pandera', 'joblib'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["0", "[]"]


def test_check_costs_a_few_starts_of_numpy() -> None:
    """Seconds of CPU, not of the clock, as a ratio of one run to another here and now.

    It is 8 to 9; with scipy.stats imported it would be 14 to 17, with statsmodels 24 and more.
    """

    def seconds(*command: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *command], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    bare = min(seconds("-c", "import numpy") for _ in range(3))
    check = min(seconds("-m", "trustreport", "check", str(EXAMPLES / "knee-mri-readings")) for _ in range(3))
    assert check / bare < 12


def test_doctor_speaks_of_what_reports_need() -> None:
    status, out, _ = run("doctor")
    assert status in (0, 1)
    for needed in ("Python", "weasyprint", "libpango-1.0-0", "libharfbuzz-subset0", "packaged templates"):
        assert needed in out


def test_check_prints_the_doubts_of_reading_and_says_scopes_in_words(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text(
        "report: {kind: certification}\ndevice: {}\nreading: {positive_from: 1}\n"
        "tables: {readings: {file: r.csv}, others: {kind: cases, file: c.csv}}\n"
    )
    rows = [
        f"R{r},C{c},{arm},{int(c % 3 == r % 3) if arm == 'unaided' else 0},{int(c % 4 == 1)}"
        for r in range(4)
        for c in range(12)
        for arm in ("unaided", "aided")
    ]
    (tmp_path / "r.csv").write_text("\n".join(["reader,case,arm,decision,advice", *rows]))
    cases = "\n".join(["case,truth,ort", *(f"C{c},{c % 2},K\xf6ln" for c in range(12))])
    (tmp_path / "c.csv").write_bytes(cases.encode("cp1252"))
    status, out, err = run("check", tmp_path, "--full")
    assert status == 0, err
    assert "c.csv is not UTF-8 and declares no encoding; it was read as cp1252." in out
    assert "['" not in out
    assert "(aided against unaided)" in out
