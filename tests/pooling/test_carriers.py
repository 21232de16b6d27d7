"""Site files carried by Flower, MedPerf and vantage6: each brings the bytes that `trustreport site` writes.

Folders and variables are laid out as these engines do: MedPerf's chest X-ray tutorial (container_config.yaml
of its metrics), vantage6 4.15 (its wrapper where installed) and 5 (session folder).
"""

import base64
import contextlib
import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from trustreport.api import lock_criteria
from trustreport.api.federated import medperf, vantage6
from trustreport.api.federated.node import NodeSettings, NoSiteFileError, node_file
from trustreport.api.sites import Signers, pool_sites, read_sites, site_bytes, summarise_site
from trustreport.study.pooled.site_file import DisclosureRules

CASES = Path(__file__).resolve().parents[1] / "reference" / "contract" / "breast" / "breast_ext_gbsg.csv"
MANIFEST = """\
report: {kind: certification, title: carried, date: 2026-11-01}
device: {trade_name: X, software_version: "1", manufacturer: none}
operating_point: {threshold: 0.3, score_range: [0, 1], threshold_origin: fixed by the manufacturer}
datasets: [{dataset: external, role: external, file: data.csv, columns: {truth: label}}]
endpoints:
  - {endpoint: finds, measure: advice_accuracy.sensitivity, dataset: external, alpha: 0.025, role: primary,
     hypothesis: performance goal, bound_or_margin: 0.55}
"""
ANYBODY = Signers({}, unverified=True)


@pytest.fixture
def rows() -> list[dict[str, str]]:
    """Cases of a real external set with their number."""
    found = csv.DictReader(CASES.read_text(encoding="utf-8").splitlines())
    return [{"case": str(i), **{k: row[k] for k in ("label", "score")}} for i, row in enumerate(found)]


def table(file: Path, rows: Iterable[dict[str, str]], *columns: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", newline="", encoding="utf-8") as opened:
        writer = csv.DictWriter(opened, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return file


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with manifest and lock that all sites share, as an image has it."""
    folder = tmp_path / "image" / "study"
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(MANIFEST, encoding="utf-8")
    lock_criteria(folder)
    monkeypatch.setenv("TRUSTREPORT_STUDY", str(folder))
    return folder


def study(home: Path, shared: Path, rows: Iterable[dict[str, str]]) -> Path:
    """The study of a site that has its own table."""
    home.mkdir()
    for file in ("study.yaml", "criteria.lock.json"):
        (home / file).write_bytes((shared / file).read_bytes())
    table(home / "data.csv", rows, "case", "label", "score")
    return home


def counted(data: bytes | str) -> dict[str, Any]:
    """What the file of a site says, but for the hash of its table."""
    said = json.loads(data)
    return {key: value for key, value in said.items() if key != "data"}


def test_a_node_gives_what_the_command_gives(
    tmp_path: Path, shared: Path, rows: list[dict[str, str]]
) -> None:
    own = study(tmp_path / "A", shared, rows)
    assert node_file(NodeSettings(own, "A")) == site_bytes(summarise_site(own, "A"))
    ten = site_bytes(summarise_site(own, "A", DisclosureRules(fewest=10)))
    assert node_file(NodeSettings.from_words({"study": str(own), "site": "A", "fewest": "10"})) == ten


def test_a_node_that_fails_tells_no_cell(tmp_path: Path, shared: Path, rows: list[dict[str, str]]) -> None:
    own = study(tmp_path / "A", shared, [{**rows[0], "label": "Mrs Example"}, *rows[1:]])
    with pytest.raises(NoSiteFileError, match="StudyError") as failed:
        node_file(NodeSettings(own, "A"))
    assert "Example" not in str(failed.value)
    assert failed.value.__context__ is None  # what a traceback would print too
    with pytest.raises(NoSiteFileError, match="no study or no site"):
        NodeSettings.from_words({"site": "A"})
    with pytest.raises(NoSiteFileError, match="whole number"):
        NodeSettings.from_words({"study": "x", "site": "A", "fewest": "few"})


@pytest.fixture
def volumes(tmp_path: Path, rows: list[dict[str, str]]) -> Path:
    """The volumes of MedPerf's metrics container, under its names."""
    table(tmp_path / "volumes" / "labels" / "data.csv", rows, "case", "label")
    (tmp_path / "volumes" / "labels" / "site.txt").write_text("North\n", encoding="utf-8")
    table(tmp_path / "volumes" / "predictions" / "data.csv", reversed(rows), "case", "score")
    for folder, file in (("parameters", "parameters_file.yaml"), ("results", "results.yaml")):
        (tmp_path / "volumes" / folder).mkdir()
        (tmp_path / "volumes" / folder / file).write_text("", encoding="utf-8")
    return tmp_path / "volumes"


def test_medperf_gets_the_site_file_among_its_results(
    tmp_path: Path, shared: Path, volumes: Path, rows: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(medperf, "VOLUMES", volumes)
    medperf.main([])
    said = YAML(typ="safe").load(volumes / "results" / "results.yaml")
    assert said["site"] == "North"
    alone = summarise_site(study(tmp_path / "A", shared, rows), "North")
    assert counted(said["site_file"]) == counted(site_bytes(alone))
    medperf.main(["evaluate", "--output_path", str(tmp_path / "results.yaml")])
    assert YAML(typ="safe").load(tmp_path / "results.yaml") == said


def test_a_benchmark_of_medperf_may_withhold_more_but_not_less(
    volumes: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(medperf, "VOLUMES", volumes)
    for asked, kept in ((0, 5), (20, 20)):
        (volumes / "parameters" / "parameters_file.yaml").write_text(f"fewest: {asked}\n", encoding="utf-8")
        medperf.main([])
        said = YAML(typ="safe").load(volumes / "results" / "results.yaml")
        assert json.loads(said["site_file"])["rules"]["fewest"] == kept


def test_a_prediction_without_a_label_is_refused(
    volumes: Path, shared: Path, rows: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(medperf, "VOLUMES", volumes)
    table(volumes / "predictions" / "data.csv", [*rows, {"case": "x", "score": "0.5"}], "case", "score")
    with pytest.raises(NoSiteFileError, match="ValueError"):
        medperf.main([])


def encoded(words: dict[str, str]) -> dict[str, str]:
    """Variables as a node of vantage6 4 sets them: base32 with another sign for "="."""
    return {key: base64.b32encode(word.encode()).decode().replace("=", "!") for key, word in words.items()}


def test_vantage6_4_calls_it_by_its_wrapper(
    tmp_path: Path, shared: Path, rows: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    wrap = pytest.importorskip("vantage6.algorithm.tools.wrap")
    own = study(tmp_path / "A", shared, rows)
    mount = table(tmp_path / "mnt" / "data.csv", rows, "case", "label", "score")
    (tmp_path / "input").write_text(json.dumps({"method": "site_file", "kwargs": {"site": "A"}}))
    monkeypatch.setenv("PKG_NAME", "trustreport.api.federated.vantage6")
    words = {
        "INPUT_FILE": str(tmp_path / "input"),
        "OUTPUT_FILE": str(tmp_path / "output"),
        "USER_REQUESTED_DATABASE_LABELS": "data",
        "DATA_DATABASE_URI": str(mount),
    }
    for name, word in encoded(words).items():
        monkeypatch.setenv(name, word)
    wrap.wrap_algorithm()
    said = json.loads((tmp_path / "output").read_bytes())
    assert said["site_file"].encode() == site_bytes(summarise_site(own, "A"))


def test_vantage6_4_without_its_wrapper(
    tmp_path: Path, shared: Path, rows: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("USER_REQUESTED_DATABASE_LABELS", "data")
    monkeypatch.setenv("DATA_DATABASE_URI", str(table(tmp_path / "x.csv", rows, "case", "label", "score")))
    monkeypatch.setenv("TRUSTREPORT_SITE", "A")
    said = vantage6.site_file(site="the name that the task gives")
    own = study(tmp_path / "A", shared, rows)
    assert said == {"site": "A", "site_file": site_bytes(summarise_site(own, "A")).decode()}
    monkeypatch.setenv("USER_REQUESTED_DATABASE_LABELS", "../data")
    with pytest.raises(NoSiteFileError, match="plain word"):
        vantage6.site_file()


def test_vantage6_5_brings_data_frames(
    tmp_path: Path, shared: Path, rows: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    import pandas as pd

    manifest = (shared / "study.yaml").read_text(encoding="utf-8")
    own = study(tmp_path / "A", shared, rows)
    (shared / "study.yaml").write_text(manifest.replace("data.csv", "data.parquet"), encoding="utf-8")
    (shared / "criteria.lock.json").unlink()
    lock_criteria(shared)
    frame = pd.DataFrame(rows).astype({"label": int, "score": float})
    frame.to_parquet(tmp_path / "data.parquet")
    monkeypatch.setenv("SESSION_FOLDER", str(tmp_path))
    monkeypatch.setenv("USER_REQUESTED_DATAFRAMES", "data")
    carried = counted(vantage6.site_file(site="A")["site_file"])
    alone = counted(site_bytes(summarise_site(own, "A")))
    assert carried["datasets"] == alone["datasets"]


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return int(opened.getsockname()[1])


@pytest.mark.slow
def test_flower_asks_each_node_once_and_writes_what_comes(
    tmp_path: Path, shared: Path, rows: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("flwr")
    programs, project = Path(sys.executable).parent, Path(__file__).resolve().parents[2]
    monkeypatch.setenv("PATH", os.pathsep.join([str(programs), os.environ["PATH"]]))
    monkeypatch.setenv("PYTHONPATH", str(project))
    monkeypatch.setenv("FLWR_HOME", str(tmp_path / "flwr"))
    monkeypatch.setenv("FLWR_TELEMETRY_ENABLED", "0")
    port, out = free_port(), tmp_path / "out"
    app = shutil.copytree(project / "examples" / "carriers" / "flower", tmp_path / "app")
    link = f'[superlink]\ndefault = "here"\n[superlink.here]\naddress = "127.0.0.1:{port}"\ninsecure = true\n'
    (tmp_path / "flwr").mkdir()
    (tmp_path / "flwr" / "config.toml").write_text(link, encoding="utf-8")
    sites = {"A": study(tmp_path / "A", shared, rows[::2]), "B": study(tmp_path / "B", shared, rows[1::2])}
    commands = [["flower-superlink", "--port", str(port), "--disable-runtime-dependency-installation"]]
    for site, folder in {**sites, "C": tmp_path / "nothing"}.items():
        own = f'study="{folder}" site="{site}"'
        where = ["--superlink", f"127.0.0.1:{port}", "--port", str(free_port())]
        commands.append(["flower-supernode", *where, "--node-config", own])
    started = [subprocess.Popen([*command, "--insecure"], cwd=tmp_path) for command in commands]
    try:
        for _ in range(60):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.5)
        run = [
            "flwr",
            "run",
            str(app),
            "here",
            "--stream",
            "--run-config",
            f'sites=3 timeout=120 out="{out}"',
        ]
        done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=240)
    finally:
        for one in reversed(started):
            one.terminate()
        for one in started:
            one.wait(30)
    files = sorted(out.glob("*.site.json"))
    assert sorted(file.read_bytes() for file in files) == sorted(
        site_bytes(summarise_site(folder, site)) for site, folder in sites.items()
    ), done.stdout + done.stderr
    assert "2 of 3 sites sent a file" in done.stdout + done.stderr  # the third is named, not waited for
    assert len(pool_sites(read_sites(files, ANYBODY))[0].datasets[0].cases) == len(rows)
