"""A public report: no name, no small cell, nothing of single readers, in any of its files."""

import csv
import io
import json
import zipfile
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.dimensions.test_subgroups import coded, counted, declared
from trustreport.api import assess, read_study, write_report
from trustreport.assessment.finding import EstimateRow, EstimateTable, Figure, Finding, Part
from trustreport.commands.cli import main
from trustreport.figures.effect import EffectPlot, EffectRow
from trustreport.measures.estimate import Estimate
from trustreport.report.release import is_small, public, released
from trustreport.report.signatures.bundle import files
from trustreport.study.study import Study
from trustreport.vocabulary.messages import say
from trustreport.vocabulary.place import place_of
from trustreport.vocabulary.results import Result

# Names that occur nowhere in a report by chance.
READERS = [f"Zz{c}q{i}" for i, c in enumerate("kbxmhd")]
SITES = ["Quxbrunn", "Vlopstadt"]
MANIFEST = """
report: {kind: certification, title: Study of Quxbrunn, release: RELEASE}
device: {trade_name: Example aid, software_version: "1.0"}
operating_point: {threshold: 0.5}
reading: {washout_days: 30}
readers: [{reader: Zzkq0, qualification: Wxspecialist, site: Quxbrunn, years_experience: 31}]
datasets:
  - {dataset: outside, role: external, file: outside.csv, sites: [Quxbrunn], eligibility: all of Quxbrunn}
tables:
  readings: {file: readings.csv}
  cases: {file: cases.csv, task: ""}
subgroups:
  - {name: sex, prespecified: true}
  - {name: site, prespecified: true}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of six readers and two sites; women of the outside set have three false negatives."""
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.yaml").write_text(MANIFEST.replace("RELEASE", "public"))
    truth = {f"Kk{i:03}": i % 2 for i in range(40)}
    sex = ["female", "male"]
    (folder / "cases.csv").write_text(
        "case,truth,patient,site,sex\n"
        + "".join(
            f"{c},{t},Pp{c},{SITES[i // 20]},{sex[i // 2 % 2]}\n" for i, (c, t) in enumerate(truth.items())
        )
    )
    rows = [
        f"{r},{c},{arm},{(t + (hash_of(r, c, arm) % 4 == 0)) % 2}\n"
        for r in READERS
        for c, t in truth.items()
        for arm in ("unaided", "aided")
    ]
    (folder / "readings.csv").write_text("reader,case,arm,decision\n" + "".join(rows))
    outside = []
    for i in range(240):
        t, s = i % 2, i // 2 % 2
        wrong = hash_of(str(i)) % 5 == 0 if s or not t else i in (1, 41, 81)
        outside.append(f"Oo{i:03},{t},{0.2 + 0.6 * (t != wrong):.1f},{sex[s]},{SITES[i % 4 // 2]}\n")
    (folder / "outside.csv").write_text("case,truth,score,sex,site\n" + "".join(outside))
    return folder


def hash_of(*parts: str) -> int:
    """The same number every time, without order."""
    import zlib

    return zlib.crc32(" ".join(parts).encode())


@pytest.fixture(scope="module")
def out(study: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its public report, every format but the PDF."""
    folder = tmp_path_factory.mktemp("public") / "out"
    write_report(assess(*read_study(study)), folder, formats=("html", "json", "xlsx", "csv"))
    return folder


def contents(out: Path) -> dict[str, bytes]:
    """Every file, those within the workbook by themselves."""
    found = {}
    for name in files(out):
        data = (out / name).read_bytes()
        found[name] = data
        if name.endswith(".xlsx"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                found |= {f"{name}/{inner}": archive.read(inner) for inner in archive.namelist()}
    return found


def test_no_name_of_a_reader_site_patient_or_case_is_in_any_file(out: Path, study: Path) -> None:
    words = [*READERS, *SITES, "Wxspecialist", "PpKk", "Kk0", "Oo0"]
    for name, data in contents(out).items():
        for word in words:
            assert word.encode() not in data, (name, word)
    results = json.loads((out / "results.json").read_bytes())
    assert results["study"]["release"] == "public"
    shown = {e["scope"]["reader"] for e in results["results"] if "reader" in e["scope"]}
    assert len(shown) == 6
    assert all(name.startswith("R-") for name in shown)
    groups = {str(e["scope"].get("subgroup")) for e in results["results"]}
    assert any(group.startswith("site: S-") for group in groups)


def test_the_names_are_in_the_internal_report(study: Path, tmp_path: Path) -> None:
    """The test above would find them."""
    (tmp_path / "study").mkdir()
    for file in study.iterdir():
        text = file.read_text()
        (tmp_path / "study" / file.name).write_text(text.replace("release: public", "release: internal"))
    write_report(assess(*read_study(tmp_path / "study")), tmp_path / "out", formats=("json", "csv"))
    every = b"".join(contents(tmp_path / "out").values())
    for word in (*READERS, *SITES):
        assert word.encode() in every, word


def test_small_cells_are_suppressed_everywhere(out: Path) -> None:
    results = json.loads((out / "results.json").read_bytes())["results"]
    own = ("advice_accuracy.", "subgroups.")
    of_set = [e for e in results if e["id"].startswith(own) and "dataset" in e["scope"]]
    women = [e for e in of_set if e["scope"].get("subgroup") == "sex: female"]
    assert women
    for e in women:
        assert e["value"] is None
        assert e["note"].startswith("suppressed: fewer than 5")
        assert e["n"] == 0
    for e in results:
        if "subgroup" in e["scope"] and e["unit"] == "count" and e["value"] is not None:
            assert e["value"] == 0 or e["value"] >= 5, e
    rows = list(csv.DictReader(io.StringIO((out / "results.csv").read_text())))
    told = [r for r in rows if r["subgroup"] == "sex: female" and r["dataset"] and r["id"].startswith(own)]
    assert len(told) == len(women)
    assert not any(r["value"] or r["low"] for r in told)
    page = (out / "report.html").read_text()
    assert "suppressed" in page


def test_the_release_may_be_asked_for_on_the_command_line(study: Path, tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    for file in study.iterdir():
        (tmp_path / "study" / file.name).write_text(file.read_text().replace(", release: public", ""))
    arguments = ["build", str(tmp_path / "study"), "-o", str(tmp_path / "out"), "--formats", "json"]
    assert CliRunner().invoke(main, [*arguments, "--release", "public"]).exit_code == 0
    results = (tmp_path / "out" / "results.json").read_bytes()
    assert READERS[0].encode() not in results
    assert json.loads(results)["study"]["release"] == "public"
    check = ["verify", str(tmp_path / "out"), "--study", str(tmp_path / "study")]
    found = CliRunner().invoke(main, check)
    assert found.exit_code == 0, found.output


@pytest.mark.parametrize("command", ["build", "check"])
def test_a_study_with_names_is_refused(command: str, study: Path, tmp_path: Path) -> None:
    (tmp_path / "study").mkdir()
    for file in study.iterdir():
        (tmp_path / "study" / file.name).write_text(file.read_text().replace("Zzkq0", "Dr. Anna Rossi"))
    arguments = [command, str(tmp_path / "study")]
    arguments += ["-o", str(tmp_path / "out")] if command == "build" else []
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 1
    assert "study.yaml: 1 reader called by a person's name; a public report is refused" in found.stderr
    assert "Rossi" not in found.output
    assert not (tmp_path / "out").exists()


def small(n: int, value: float = 0.5, name: str = "sensitivity", **place: str) -> Result:
    e = Estimate(value, 0.1, 0.9, n, 0.95, "wilson")
    return Result(f"advice_accuracy.{name}", place_of(place), e, primary=True, details={"positives": n})


@pytest.mark.parametrize(
    "result, hides",
    [
        (small(4, subgroup="a"), True),
        (small(4, site="a"), True),
        (small(5, subgroup="a"), False),
        (small(4), False),
        (small(200, 3.0, "fn", subgroup="a"), True),
        (small(200, 0.0, "fn", subgroup="a"), False),
        (small(200, 5.0, "fn", subgroup="a"), False),
    ],
)
def test_which_numbers_are_small(result: Result, hides: bool) -> None:
    assert is_small(result, 5) is hides


def test_the_second_net_reaches_tables_and_figures() -> None:
    """One pure function: results, rows and marks of a small cell lose their number, everything else stays."""
    few, many = small(3, site="a"), small(300, site="b")
    table = EstimateTable(
        "t", say("word.none"), (EstimateRow(say("word.none"), few), EstimateRow(say("word.none"), many))
    )
    plot = EffectPlot((EffectRow("a", few.estimate), EffectRow("b", many.estimate)), "x", scale="points")
    part = Part((), tables=(table,), figures=(Figure("f", plot, say("word.none"), say("word.none")),))
    given = declared(report={"kind": "certification", "release": "public"}, readers=[{"reader": "R1"}])
    made = assess(counted(F=(30, 12, 20, 60), M=(45, 10, 9, 70)), given)
    made = replace(made, findings=(Finding("advice_accuracy", (part,), (few, many)),))
    told = public(made)
    (finding,) = told.findings
    assert isnan(finding.results[0].estimate.value)
    assert finding.results[0].details == {}
    assert finding.results[1] is many
    (rows,) = (t.rows for t in finding.parts[0].tables if isinstance(t, EstimateTable))
    assert isnan(rows[0].result.estimate.value)
    drawing = finding.parts[0].figures[0].drawing
    assert isinstance(drawing, EffectPlot)
    assert [isnan(row.estimate.value) for row in drawing.rows] == [True, False]
    assert told.plan.readers == ()
    assert few.estimate.value == 0.5
    again = public(told)
    assert again.findings == told.findings
    assert released(replace(made, plan=declared())).findings == made.findings


def test_case_mix_and_errors_lose_what_holds_a_small_cell() -> None:
    """Men have three misses: neither sex is shown, since the total is printed; the wards stay."""
    study = counted(F=(30, 12, 20, 60), M=(45, 10, 3, 70))
    (one,) = study.datasets
    n = len(one.cases)
    groups = {
        **one.cases.groups,
        "ward": coded(["a", "b"] * (n // 2)),
        "rare": coded(["x"] * 3 + ["y"] * (n - 3)),
    }
    given = declared(report={"kind": "certification", "release": "public"})
    made = assess(Study(datasets=(replace(one, cases=replace(one.cases, groups=groups)),)), given)
    (mix,), (errors,) = made.case_mixes, made.errors
    assert {c.name for c in mix.characteristics} == {"sex", "ward", "rare"}
    told = public(made)
    assert {c.name for c in told.case_mixes[0].characteristics} == {"sex", "ward"}
    assert {row[0] for row in errors.by} == {"sex", "ward", "rare"}
    assert {row[0] for row in told.errors[0].by} == {"ward"}
    assert told.errors[0].missed == errors.missed
