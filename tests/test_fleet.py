"""A fleet of studies: nothing is built twice, none stops the others, and the overview holds what they say."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest
from click.testing import CliRunner

from tests.browsing import COLOURS, violations
from trustreport.api import build_fleet
from trustreport.api.fleet import build_process, records
from trustreport.api.fleet.run import FleetSummary, studies_of
from trustreport.api.parallel import BACKENDS
from trustreport.commands import fleet
from trustreport.commands.cli import main
from trustreport.vocabulary.messages import languages

ROOT = Path(__file__).resolve().parent.parent
NEEDS_RAY = pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not among the packages of the tests")
HERE = {"backend": "threading", "formats": ["json"]}
ONE_READER = {"readers": 1, "cases": 300, "paired": False}
ENDED = ("killed-1", "ended-1", "hungry-1", "faulty-1")
READINGS = "case,rater,label\nC1,A,1\nC1,B,1\nC2,A,0\nC2,B,1\nC3,A,0\nC3,B,0\n"


def make(
    folder: Path, *, hypothesis: str = "non-inferiority", start: str = "2025-01-01", end: str = "2025-06-30"
) -> Path:
    """A study of two counts and a criterion, fixed before the data of a period were opened."""
    folder.mkdir(parents=True)
    manifest: dict[str, Any] = {
        "report": {"kind": "certification", "title": folder.name},
        "device": {"trade_name": "Aid", "software_version": "1"},
        "study": {"sap_locked_at": "2024-01-01", "data_opened_at": "2024-06-01"},
        "vigilance": {"period_start": start, "period_end": end},
        "counts": [
            {"set": "chest", "arm": "unaided", "errors": 60, "correct": 240, **ONE_READER},
            {"set": "chest", "arm": "aided", "errors": 45, "correct": 255, **ONE_READER},
        ],
        "endpoints": [
            {
                "endpoint": "fewer errors",
                "measure": "pragmatic_utility.arr",
                "hypothesis": hypothesis,
                "bound_or_margin": 0.2,
                "alpha": 0.025,
            }
        ],
    }
    (folder / "study.json").write_text(json.dumps(manifest))
    return folder


def stamps(out: Path) -> dict[str, int]:
    """When each record was written."""
    return {file.stem: file.stat().st_mtime_ns for file in (out / "records").glob("*.json")}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, FleetSummary]:
    """The list, the folder and the summary of a run over good studies, a bad one, and all ways to end."""
    home = tmp_path_factory.mktemp("fleet")
    make(home / "in" / "met")
    make(home / "in" / "not-met", hypothesis="superiority", start="2025-07-01", end="2025-12-31")
    (home / "in" / "unreadable").mkdir()
    (home / "in" / "unreadable" / "study.yaml").write_text("device: {trade_nam: X}\n")
    tabled = make(home / "in" / "Städte & <b>")
    own = json.loads((tabled / "study.json").read_text())
    own["tables"] = {"raters": {"file": "raters.csv"}}
    own["device"]["trade_name"] = "<script>alert(1)</script>"
    (tabled / "study.json").write_text(json.dumps(own))
    (tabled / "raters.csv").write_text(READINGS)
    rows = ["in/met,North,", "in/not-met,North,", "in/unreadable,,", "in/Städte & <b>,,"]
    rows += [f"in/{name},," for name in ENDED]
    (home / "list.csv").write_text("study,site,period\n" + "\n".join(rows) + "\n", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_process, "COMMAND", (str(ROOT / "tests" / "fleet_child.py"),))
        summary = build_fleet(home / "list.csv", home / "out", backend="threading", formats=["html", "json"])
    return home / "list.csv", home / "out", summary


def test_no_study_stops_the_others_and_each_failure_has_its_reason(first: Any) -> None:
    _, out, summary = first
    assert summary.n_built == 3
    assert {name: why for name, (why, _) in summary.failed.items()} == {
        "unreadable": "unreadable",
        "killed-1": "killed",
        "ended-1": "ended",
        "hungry-1": "memory",
        "faulty-1": "fault",
    }
    said = (out / "index.html").read_text(encoding="utf-8")
    assert "ended by signal SIGKILL" in said
    assert "ended with status 3" in said
    assert "problems in the study; the first: study.yaml, row 1" in said
    assert "C014" not in said  # the text of an exception may quote a patient
    with (out / "overview.csv").open(encoding="utf-8", newline="") as stream:
        rows = {row["study"]: row for row in csv.DictReader(stream)}
    assert len(rows) == 8
    assert (rows["met"]["status"], rows["met"]["pass"], rows["met"]["site"]) == ("done", "1", "North")
    assert (rows["not-met"]["fail"], rows["not-met"]["period"]) == ("1", "2025-07-01/2025-12-31")
    assert "SIGKILL" in rows["killed-1"]["reason"]
    assert not [path for path in out.rglob(".*") if path.name != ".lock"]


def test_a_study_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path / "in" / "hangs")
    monkeypatch.setattr(build_process, "COMMAND", (str(ROOT / "tests" / "fleet_child.py"),))
    summary = build_fleet(tmp_path / "in", tmp_path / "out", timeout=0.2, **HERE)
    assert summary.failed == {"hangs": ("timeout", {"seconds": 0.2})}


class Links(HTMLParser):
    """Links and ids of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = dict(attrs)
        if tag == "a":
            self.links.append(own["href"] or "")
        self.ids.add(own.get("id") or "")


def test_every_link_of_the_page_leads_somewhere_and_the_worst_study_is_first(first: Any) -> None:
    _, out, _ = first
    text = (out / "index.html").read_text(encoding="utf-8")
    page = Links(text)
    for link in page.links:
        assert link[1:] in page.ids if link.startswith("#") else (out / link).is_file(), link
    reports = [link for link in page.links if link.startswith("reports/")]
    assert reports[0] == "reports/not-met/report.html"
    assert {link.split("/")[1] for link in reports} == {path.name for path in (out / "reports").iterdir()}
    assert "In one of them at least one criterion is not met." in text
    assert "<script>alert" not in text


def test_several_periods_of_a_device_are_side_by_side(first: Any) -> None:
    text = (first[1] / "index.html").read_text(encoding="utf-8")
    trend = text[text.index('id="trends"') :].replace("<wbr>", "").replace("\N{NO-BREAK SPACE}", " ")
    days = re.sub(r"<[^>]*>", "", trend)
    assert days.index("2025-01-01/2025-06-30") < days.index("2025-07-01/2025-12-31")
    assert trend.count("+5.0 (\N{MINUS SIGN}1.1 to +11.1) points") == 2
    assert trend.index("verdict pass") < trend.index("verdict fail")


def test_results_of_all_studies_are_one_table(first: Any) -> None:
    _, out, _ = first
    frame = pd.read_parquet(out / "results.parquet")
    for name in ("met", "not-met"):
        own = frame[frame["study"] == name].reset_index(drop=True)
        document = json.loads((out / "reports" / name / "results.json").read_text())
        assert list(own["id"]) == [entry["id"] for entry in document["results"]]
        values = [entry["value"] for entry in document["results"]]
        assert own["value"].tolist() == pytest.approx(values, nan_ok=True)
        assert own["arm"].fillna("").tolist() == [e["scope"].get("arm") or "" for e in document["results"]]
        assert set(own["site"]) == {"North"}
    assert frame["study"].nunique() == 3
    assert frame["n"].dtype == "int64"


def test_a_row_group_holds_many_studies_and_no_more(first: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    from trustreport.api.fleet import overview

    listed, out, _ = first
    monkeypatch.setattr(overview, "ROWS_AT_ONCE", 30)  # a study has fewer, two have more
    overview.write_overview(out, studies_of(listed, out), "en")
    file = pq.ParquetFile(out / "results.parquet")
    assert file.num_row_groups == 2
    assert file.metadata.num_rows == len(pd.read_parquet(out / "results.parquet"))


def test_a_second_run_builds_what_has_changed_and_nothing_else(first: Any) -> None:
    listed, out, _ = first
    before = stamps(out)
    good = listed.with_name("good.txt")
    good.write_text("# without those that fail\nin/met\nin/not-met\nin/Städte & <b>\n", encoding="utf-8")
    given = {"backend": "threading", "formats": ["html", "json"]}
    (tabled,) = [name for name in before if name.startswith("Sta")]
    # Site and period of the list are gone, which is a change of two studies; then nothing is.
    assert build_fleet(good, out, **given).n_built == 2
    again = stamps(out)
    assert {name for name in before if again[name] != before[name]} == {"met", "not-met"}
    table = listed.parent / "in" / "Städte & <b>" / "raters.csv"
    table.write_text(READINGS + "C4,A,1\nC4,B,1\n")
    summary = build_fleet(good, out, **given)
    assert (summary.n_built, summary.n_current) == (1, 2)
    assert stamps(out)[tabled] != again[tabled]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "write_record", None)
        summary = build_fleet(good, out, **given)
    assert (summary.n_built, summary.n_current, summary.complete) == (0, 3, True)


def test_what_is_current_depends_on_inputs_options_and_the_report_itself(first: Any) -> None:
    _, out, _ = first
    study = first[0].parent / "in" / "not-met"
    record = json.loads((out / "records" / "not-met.json").read_text())
    options = {"formats": ["html", "json"], "seed": None, "allow_outside": False, "site": "", "period": ""}
    options |= {"site": record["site"]}
    current: Callable[..., bool] = records.is_current
    assert current(out, "not-met", study, options)
    assert not current(out, "not-met", study, {**options, "seed": 1})
    assert not current(out, "not-met", study, {**options, "formats": ["json"]})
    assert not current(out, "unreadable", study, options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("trustreport.api.fleet.records.__version__", "99")
        assert not current(out, "not-met", study, options)
    (study / "criteria.looks.jsonl").write_text("")
    assert current(out, "not-met", study, options) is False
    (study / "criteria.looks.jsonl").unlink()
    assert current(out, "not-met", study, options)


@contextmanager
def first_builder_killed(victim: Callable[[psutil.Process], psutil.Process]) -> Iterator[list[int]]:
    """Kills a process as soon as a report is being built; whose is said by that of the builder."""
    killed: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not killed and not over.wait(0.005):
            for process in psutil.Process().children(recursive=True):
                try:
                    if "trustreport.api.fleet.child" in process.cmdline():
                        chosen = victim(process)
                        killed.append(chosen.pid)
                        chosen.kill()
                        return
                except psutil.NoSuchProcess:
                    continue

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield killed
    finally:
        over.set()
        thread.join()


def test_a_study_whose_worker_was_killed_is_built_by_another(tmp_path: Path) -> None:
    make(tmp_path / "in" / "one")
    with first_builder_killed(lambda builder: builder.parent() or builder) as killed:
        summary = build_fleet(tmp_path / "in", tmp_path / "out", backend="loky", formats=["json"])
    assert len(killed) == 1
    assert (summary.n_built, summary.failed) == (1, {})
    assert [path.name for path in (tmp_path / "out" / "reports").iterdir()] == ["one"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of connections to the killed
def test_a_cluster_that_loses_a_worker_builds_every_study(tmp_path: Path) -> None:
    import dask
    from distributed import LocalCluster

    for name in ("one", "two"):
        make(tmp_path / "in" / name)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", silence_logs=50
        ) as cluster,
        dask.config.set({"scheduler-address": cluster.scheduler_address}),
        first_builder_killed(lambda builder: builder.parent() or builder) as killed,
    ):
        workers = {worker["pid"] for worker in cluster.scheduler_info["workers"].values() if "pid" in worker}
        summary = build_fleet(tmp_path / "in", tmp_path / "out", backend="dask", formats=["json"])
    assert len(killed) == 1
    assert not workers or killed[0] in workers
    assert (summary.n_built, summary.failed) == (2, {})
    assert pd.read_parquet(tmp_path / "out" / "results.parquet")["study"].nunique() == 2


@pytest.mark.slow
@NEEDS_RAY
@pytest.mark.filterwarnings("ignore")  # of Ray, which leaves files and pipes open
def test_ray_that_loses_a_worker_builds_every_study(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make(tmp_path / "in" / name)
    with first_builder_killed(lambda builder: builder.parent() or builder) as killed:
        summary = build_fleet(tmp_path / "in", tmp_path / "out", backend="ray", formats=["json"])
    assert len(killed) == 1
    assert (summary.n_built, summary.failed) == (2, {})


@pytest.mark.parametrize("backend", ["loky", pytest.param("ray", marks=[pytest.mark.slow, NEEDS_RAY])])
def test_an_interrupted_run_leaves_what_is_finished_and_goes_on(tmp_path: Path, backend: str) -> None:
    many = [f"study-{number:02}" for number in range(30)]  # more than are built before the signal comes
    for name in many:
        make(tmp_path / "in" / name)
    out = tmp_path / "out"
    words = ["fleet", str(tmp_path / "in"), "-o", str(out), "--formats", "json", "--backend", backend]
    process = subprocess.Popen(
        [sys.executable, "-m", "trustreport", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # ignored in the background
    )
    assert process.stderr is not None
    assert process.stderr.readline().startswith("1 of 30: study-00: built")
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does, to all of them
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "Interrupted; " in said
    assert not list(out.rglob(".*-*"))
    done = stamps(out)
    assert 1 <= len(done) < len(many)
    assert "study-00" in (out / "index.html").read_text(encoding="utf-8")
    left = many[: len(done) + 2]
    for name in many[len(left) :]:
        shutil.rmtree(tmp_path / "in" / name)
    result = CliRunner().invoke(main, [*words, "--backend", "threading"])
    assert result.exit_code == 0, result.stderr
    built = len(left) - len(done)
    assert f"{len(left)} studies: {built} built, {len(done)} unchanged, 0 failed." in result.stderr
    assert stamps(out).items() >= done.items()


INTERRUPTED = """
import concurrent.futures._base as base, os, signal, sys, time
acquire, calls = base._AcquireFutures.__enter__, []

def enter(self):
    acquire(self)
    calls.append(self)
    if len(calls) == 2:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)

base._AcquireFutures.__enter__ = enter
signal.signal(signal.SIGINT, signal.default_int_handler)
from trustreport.api.fleet.run import build_fleet
print(build_fleet(sys.argv[1], sys.argv[2], formats=["json"], backend=sys.argv[3]).interrupted)
"""


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_an_interrupt_that_comes_while_locks_are_taken_ends_the_run(tmp_path: Path, backend: str) -> None:
    """It was raised there and left the locks of futures taken, for which the executor waited for ever."""
    for name in ("one", "two", "three", "four", "five"):
        make(tmp_path / "in" / name)
    words = [sys.executable, "-c", INTERRUPTED, str(tmp_path / "in"), str(tmp_path / "out"), backend]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr


def test_two_runs_cannot_write_into_one_folder(tmp_path: Path) -> None:
    make(tmp_path / "in" / "one")
    with records.one_run(tmp_path / "out"):
        result = CliRunner().invoke(main, ["fleet", str(tmp_path / "in"), "-o", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "another run writes into" in result.stderr


def test_names_are_safe_unlike_and_do_not_depend_on_order(tmp_path: Path) -> None:
    wild = ["a b", "A-B", "ünï", "x/y", "z/y", "..", "n" * 200, "plain"]
    listed = tmp_path / "list.txt"
    listed.write_text("\n".join(wild), encoding="utf-8")
    found = {str(study.path): study.name for study in studies_of(listed, tmp_path / "out")}
    listed.write_text("\n".join(reversed(wild)), encoding="utf-8")
    assert found == {str(study.path): study.name for study in studies_of(listed, tmp_path / "out")}
    assert len({name.casefold() for name in found.values()}) == len(wild)
    assert all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}", name) for name in found.values())
    assert found[str(tmp_path / "plain")] == "plain"


@pytest.mark.parametrize(
    "file, text, said",
    [
        ("list.csv", "folder,site\na,b\n", "found the columns folder, site"),
        ("list.csv", "study,site\n,b\n", "row 2: no path in column study"),
        ("list.txt", "a\nb\na\n", "more than once"),
        ("list.txt", "# none\n", "names no study"),
    ],
)
def test_a_list_that_is_none_is_refused(tmp_path: Path, file: str, text: str, said: str) -> None:
    (tmp_path / file).write_text(text)
    result = CliRunner().invoke(main, ["fleet", str(tmp_path / file), "-o", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert said in result.stderr
    assert not (tmp_path / "out").exists()


def test_the_command_offers_every_backend_and_language() -> None:
    assert fleet.BACKENDS == BACKENDS
    assert set(languages()) <= set(fleet.LANGUAGES)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_axe_finds_no_violation_on_the_page(browser: Any, first: Any, width: int, scheme: str) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((first[1] / "index.html").as_uri())
    overflow = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    found = violations(page, COLOURS if scheme == "dark" else {})
    page.close()
    assert overflow <= 0
    assert said == []
    assert not found
