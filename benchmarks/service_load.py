"""Eight clients hand in studies and build reports for three minutes: `python benchmarks/service_load.py`.

Against one `trustreport serve` with its own settings (SQLite, one report at a time), on this machine.
A client hands in the readings of `examples/knee-mri-readings` as a zip, waits for the check, asks for a
report (HTML, PDF, JSON), looks at list pages and hands in further versions while it waits, fetches the
results, and begins anew. Any answer but 2xx and 429 is an error. Writes benchmarks/results/service_load.csv:
times of requests, reports, memory of the server's process.
"""

import argparse
import csv
import io
import os
import platform
import statistics
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "service"))

from running import ROOT, Api, Process, free_port
from service_kill import processor
from services import API, new_core
from sqlalchemy import select
from whole import look, token_of_a_first_user

from trustreport.service.access import principal as known
from trustreport.service.access.principal import COOKIE
from trustreport.service.storage.models import User

CLIENTS = 8
EXAMPLE = ROOT / "examples" / "knee-mri-readings"
FORMATS = ["html", "pdf", "json"]
LISTS = ("/studies", "/reports", "/devices", "/audit")
PAUSE = 1.0  # seconds between two looks at a job
AGAIN = 20  # looks at a job between two further uploads
RESULTS = Path(__file__).parent / "results" / "service_load.csv"


class Told:
    """What clients saw: times by kind of request, answers, what was accepted."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.statuses: Counter[str] = Counter()
        self.versions: list[str] = []
        self.jobs: list[str] = []
        self.reports: list[str] = []


class Client:
    """One client with a session of its own."""

    def __init__(self, number: int, base: str, secret: str, archive: bytes, told: Told) -> None:
        self.number, self.archive, self.told = number, archive, told
        self.http = httpx.Client(base_url=base, headers={"Cookie": f"{COOKIE}={secret}"}, timeout=60)

    def work(self, stop: threading.Event) -> None:
        """Hand in and build, again and again."""
        self.http.headers["X-CSRF-Token"] = self.ask("session", "GET", f"{API}/session").json()["csrf"]
        turn = 0
        while not stop.is_set():
            turn += 1
            named = {"name": f"Readings {self.number}-{turn}"}
            study = self.ask("new study", "POST", f"{API}/studies", json=named).json()["id"]
            to = f"{API}/studies/{study}/versions/zip"
            version = self.ask("upload", "POST", to, content=self.archive).json()["id"]
            self.told.versions.append(version)
            while self.ask("poll", "GET", f"{API}/versions/{version}").json()["state"] == "checking":
                if stop.wait(PAUSE):
                    return
            wishes = {"formats": FORMATS, "seed": 1000 * self.number + turn}
            job = self.ask("ask for a report", "POST", f"{API}/versions/{version}/jobs", json=wishes).json()
            self.told.jobs.append(job["id"])
            while (job := self.ask("poll", "GET", f"{API}/jobs/{job['id']}").json())["state"] != "done":
                if job["state"] in ("failed", "cancelled"):
                    self.told.statuses[f"job {job['state']}"] += 1
                    break
                turn += 1
                self.ask("list page", "GET", LISTS[turn % len(LISTS)], headers={"Accept": "text/html"})
                if turn % AGAIN == 0:
                    self.told.versions.append(
                        self.ask("upload", "POST", to, content=self.archive).json()["id"]
                    )
                if stop.wait(PAUSE):
                    return
            else:
                self.told.reports.append(job["report"])
                self.ask("results", "GET", f"{API}/reports/{job['report']}/results")

    def ask(self, kind: str, method: str, path: str, **more: Any) -> httpx.Response:
        """One request, timed; one that was refused with 429 is sent again when it may be."""
        while True:
            began = time.perf_counter()
            answer = self.http.request(method, path, **more)
            seconds = time.perf_counter() - began
            self.told.statuses[str(answer.status_code)] += 1
            if answer.status_code != 429:
                self.told.seconds[kind].append(seconds)
                answer.raise_for_status()
                return answer
            time.sleep(float(answer.headers["Retry-After"]))


def zipped(folder: Path) -> bytes:
    """A study's files as one archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.iterdir()):
            if path.suffix in (".yaml", ".csv"):
                archive.write(path, path.name)
    return out.getvalue()


def memory(process: int) -> float:
    """Resident memory of one process in MB, without those that it started."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith("VmRSS"))


def sessions_of(data: Path) -> list[str]:
    """Secrets of a session for each client, of an account that may do everything."""
    core = new_core(data)
    with core.store.write() as rows:
        user = rows.scalars(select(User)).one()
        secrets = [known.begin_session(rows, user, core.settings) for _ in range(CLIENTS)]
    core.close()
    return secrets


def run(folder: Path, seconds: float) -> tuple[Told, list[float], list[str]]:
    """What clients saw, memory at start, middle and end, and what is wrong with the stored data."""
    data, port, told = folder / "data", free_port(), Told()
    token = token_of_a_first_user(data, "")
    secrets = sessions_of(data)
    server = Process(folder / "server.log", "serve", "--port", str(port), "--data", str(data))
    server.start()
    stop, held, broken = threading.Event(), list[float](), list[str]()
    archive = zipped(EXAMPLE)

    def work(number: int, secret: str) -> None:
        try:
            Client(number, f"http://127.0.0.1:{port}", secret, archive, told).work(stop)
        except Exception as error:
            broken.append(f"client {number}: {error}")

    try:
        Api(port, token).wait_ready()
        assert server.process is not None
        held.append(memory(server.process.pid))
        threads = [threading.Thread(target=work, args=item) for item in enumerate(secrets)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            time.sleep(seconds / 2)
            held.append(memory(server.process.pid))
        stop.set()
        for thread in threads:
            thread.join()
    finally:
        code = server.end(15)
    core = new_core(data)
    state = look(core, told.versions, told.jobs)
    core.close()
    broken += [*state.faults, *([f"ended with {code}"] if code else [])]
    return told, held, broken


def main() -> None:
    """Let the clients work, write what they saw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=180)
    seconds = parser.parse_args().seconds
    began, before = datetime.now(UTC), os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        told, held, broken = run(Path(folder), seconds)
    every = [second for found in told.seconds.values() for second in found]
    good = sum(n for status, n in told.statuses.items() if status.startswith("2"))
    rest = {status: n for status, n in told.statuses.items() if status[0] != "2" and status != "429"}
    lines: list[tuple[Any, ...]] = [
        ("requests answered with success", "", good),
        ("requests refused for their rate (429)", "", told.statuses["429"]),
        ("other answers and failed jobs", "; ".join(map(str, rest.items())), sum(rest.values())),
        ("broken clients and faults of the stored data", "; ".join(broken), len(broken)),
        ("versions handed in", "", len(told.versions)),
        ("reports asked for", "", len(told.jobs)),
        ("reports built and fetched", "", len(told.reports)),
    ]
    for kind, found in {"all requests": every, **dict(sorted(told.seconds.items()))}.items():
        times = sorted(found)
        for name, value in (
            ("median", statistics.median(times)),
            ("95th percentile", times[min(len(times) - 1, int(0.95 * len(times)))]),
            ("slowest", times[-1]),
        ):
            lines.append((f"{kind}, {name}", f"ms, {len(times)} requests", round(1000 * value, 1)))
    for moment, size in zip(("start", "middle", "end"), held, strict=True):
        lines.append((f"memory of the server, {moment}", "MB resident", round(size, 1)))
    with RESULTS.open("w", newline="", encoding="utf-8") as out:
        where = f"{os.cpu_count()} cores ({processor()}), Python {platform.python_version()}"
        load = f"load {before:.1f} before, {os.getloadavg()[0]:.1f} at the end"
        out.write(f"# {where}; {began:%Y-%m-%d %H:%M} UTC; {load}; {CLIENTS} clients on the same machine, ")
        out.write(f"{seconds:.0f} s, SQLite, one report at a time\n")
        csv.writer(out, lineterminator="\n").writerows([("what", "unit", "value"), *lines])
    for line in lines:
        print(*line, sep="\t")


if __name__ == "__main__":
    main()
