"""Heavy steps of a report on a Dask cluster: the same bytes as here, and a clear end where it is away."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from services import API, MANIFEST, Client, run_here

from trustreport.commands.cli import main
from trustreport.measures.similarity import features as module
from trustreport.service.app import create_app
from trustreport.service.core import Core
from trustreport.service.jobs import pieces, worker_thread
from trustreport.service.jobs.cluster import Cluster, cluster_of
from trustreport.service.jobs.pieces import NotComputed, Pieces
from trustreport.service.jobs.worker_thread import WorkerThread
from trustreport.service.settings import Settings, Unsuitable
from trustreport.vocabulary.place import Place

pytestmark = pytest.mark.limited_process
NOBODY = "tcp://127.0.0.1:1"
# Dask leaves a socket open where a connection was refused.
leaves_socket = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
MANY = 700  # cases, with which the features of a set are large


@contextmanager
def local_cluster() -> Iterator[Any]:
    """A scheduler with two workers: threads of this process, reached by the network as any other."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp://", dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    with local_cluster() as cluster:
        yield cluster


@pytest.fixture
def version(light: Core) -> str:
    """A checked version with a training set and two external ones, whose similarity is tested."""
    rng = np.random.default_rng(4)
    sets, tables = [], {}
    for name, role, n, shift in (
        ("learnt from", "training", 60, 0.0),
        ("site A", "external", 40, 0.1),
        ("site B", "external", 45, 0.4),
    ):
        features = rng.normal(shift, 1, (n, 3))
        scores = 1 / (1 + np.exp(-features[:, 0]))
        truths = (rng.random(n) < scores).astype(int)
        head = ["case,truth,score," + ",".join(f"f{i}" for i in range(3))]
        rows = zip(range(n), truths, scores, features)
        lines = [f"{name}{i},{t},{s:.4f}," + ",".join(f"{v:.4f}" for v in f) for i, t, s, f in rows]
        file = f"{name.replace(' ', '_')}.csv"
        tables[file] = "\n".join([*head, *lines])
        named = [f"f{i}" for i in range(3)]
        sets.append({"dataset": name, "role": role, "file": file, "features": named})
    manifest = {**MANIFEST, "datasets": sets, "similarity": {"permutations": 99, "seed": 2}}
    anna = Client.set_up(create_app(light), light)
    return anna.version(anna.study(), manifest, **tables)


@contextmanager
def handed_to(cluster: Cluster) -> Iterator[Pieces]:
    """The limited process's end, in this process."""
    with cluster.pipes() as pipes:
        requests, answers = (os.dup(one) for one in pipes)
        with os.fdopen(requests, "wb") as out, os.fdopen(answers, "rb") as back:
            yield Pieces(out, back)


def report_of(
    core: Core, version: str, cluster: Cluster | None, *formats: str
) -> tuple[dict[str, Any], bytes]:
    """The job of a report, and its results."""
    anna = Client.logged_in(create_app(core), "anna@hospital.test")
    asked = anna.post(f"{API}/versions/{version}/jobs", json={"formats": formats or ["json"]})
    assert WorkerThread(core, "worker", cluster=cluster).once("report")
    job = anna.get(f"{API}/jobs/{asked.json()['id']}").json()
    if job["state"] != "done":
        return job, b""
    return job, anna.get(f"{API}/reports/{job['report']}/results").content


def test_a_report_of_the_cluster_has_the_bytes_of_one_made_here(
    light: Core, version: str, dask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report is built in a limited process, which has no network; the pieces are computed outside."""
    with monkeypatch.context() as patch:
        patch.setattr(worker_thread, "run", run_here)
        assert WorkerThread(light, "worker").once("check")
    computed: list[str] = []
    compute = pieces.loaded

    def counted(text: bytes, arrays: Any) -> Any:
        computed.append(threading.current_thread().name)
        return compute(text, arrays)

    monkeypatch.setattr(pieces, "loaded", counted)
    job, there = report_of(light, version, Cluster(dask.scheduler_address), "json")
    assert job["state"] == "done", job["reason"]
    assert len([name for name in computed if "Dask" in name]) >= 2
    seen = len(computed)
    monkeypatch.setattr(worker_thread, "run", run_here)
    job, alone = report_of(light, version, None, "json", "csv")  # another job, of the same numbers
    assert (len(computed), job["state"]) == (seen, "done")
    assert b"degree_of_correspondence" in alone
    assert alone == there


@leaves_socket
def test_a_report_whose_cluster_is_away_fails_with_a_reason_and_can_be_requested_again(
    light: Core, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_thread, "run", run_here)
    monkeypatch.setattr("trustreport.service.jobs.cluster.CONNECT_SECONDS", 0.5)
    assert WorkerThread(light, "worker").once("check")
    job, _ = report_of(light, version, Cluster(NOBODY))
    assert (job["state"], "does not answer" in job["reason"]) == ("failed", True), job
    job, found = report_of(light, version, None)
    assert (job["state"], b"degree_of_correspondence" in found) == ("done", True)


def test_large_arrays_are_sent_once_and_pieces_keep_their_order(dask: Any) -> None:
    points = np.random.default_rng(1).normal(size=(MANY, 30))
    between = module.distances(points, held=0)
    tasks = [(between, start, start + 100, 5) for start in range(0, MANY, 100)]
    sent: list[bytes] = []
    with handed_to(Cluster(dask.scheduler_address)) as remote, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pieces, "send", lambda out, kind, body: (sent.append(kind), send(out, kind, body)))
        found = remote.run(module._nearest, tasks)
    assert [a.tolist() for a in found] == [module._nearest(*some).tolist() for some in tasks]
    assert sent.count(pieces.ARRAY) == 1


send = pieces.send


@leaves_socket
def test_a_cluster_that_goes_away_meanwhile_ends_the_wait(tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    words = ["--port", "0", "--no-dashboard", "--host", "127.0.0.1", "--scheduler-file", str(file)]
    scheduler = subprocess.Popen(
        [sys.executable, "-m", "distributed.cli.dask_scheduler", *words], stderr=subprocess.DEVNULL
    )

    class Lost(Cluster):
        """Loses its scheduler once the first piece may be sent; it has no worker that could compute it."""

        def connect(self) -> Any:
            client = super().connect()
            threading.Timer(0.2, scheduler.kill).start()
            return client

    try:
        while not file.is_file() and scheduler.poll() is None:
            threading.Event().wait(0.05)
        lost, away = Lost(json.loads(file.read_text())["address"]), "does not answer"
        with handed_to(lost) as remote, pytest.raises(NotComputed, match=away):
            remote.run(Place, [()])
    finally:
        scheduler.kill()
        scheduler.wait()


def test_a_piece_that_cannot_be_computed_says_where_and_quotes_nothing(dask: Any) -> None:
    with handed_to(Cluster(dask.scheduler_address)) as remote, pytest.raises(NotComputed) as raised:
        remote.run(module.distances, [("Marple",)])
    assert "fault of the program" in str(raised.value)
    assert "Marple" not in str(raised.value)
    kind, why = pieces.compute("0.0+other", pieces.dumped((Place, ())), {})
    assert (kind, b"0.0+other" in why) == (pieces.REFUSED, True)


@pytest.mark.parametrize("value", [os.system, eval, open, CliRunner, getattr, Settings, module.np.load])
def test_only_what_computes_is_loaded(value: Any) -> None:
    with pytest.raises(Exception, match="not computed with"):
        pieces.loaded(pieces.dumped((value, ("x",))), {})


@leaves_socket
def test_a_cluster_that_is_not_there_is_refused_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dask: Any
) -> None:
    monkeypatch.setattr("trustreport.service.jobs.cluster.CONNECT_SECONDS", 0.5)
    settings = Settings(tmp_path, backend="dask")
    import dask as package

    with pytest.raises(Unsuitable, match="DASK_SCHEDULER_ADDRESS=tcp://host:8786"):
        cluster_of(settings)
    with package.config.set({"scheduler-address": NOBODY}):
        with pytest.raises(Unsuitable, match=f"none answers at DASK_SCHEDULER_ADDRESS='{NOBODY}'"):
            cluster_of(settings)
        said = CliRunner().invoke(main, ["worker", "--backend", "dask", "--data", str(tmp_path / "data")])
        assert (said.exit_code, "none answers at" in said.output) == (2, True), said.output
    with package.config.set({"scheduler-address": dask.scheduler_address}):
        found = cluster_of(settings)
    assert found is not None
    assert found.address == dask.scheduler_address
    assert cluster_of(Settings(tmp_path)) is None
    with pytest.raises(Unsuitable, match="TRUSTREPORT_BACKEND='ray': expected dask"):
        Settings(tmp_path, backend="ray")
