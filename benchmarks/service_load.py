"""Eight clients hand in studies and build reports for three minutes: `python benchmarks/service_load.py`.

Against one `trustreport serve` with its own settings (SQLite, one report at a time), on this machine; with
`--servers 2` against that many on one PostgreSQL, which clients use in turn.
A client hands in the readings of `examples/knee-mri-readings` as a zip, waits for the check, asks for a
report (HTML, PDF, JSON), looks at list pages and hands in further versions while it waits, fetches the
results, and begins anew. Any answer but 2xx, 429 and 507 is an error. Exit status 1 where there was one, or
requests took longer than they should: 50 ms at the median, 250 ms at the 95th percentile.

Writes benchmarks/results/service_load.csv (with several servers, service_load_servers.csv): times of
requests, reports, memory of the server's process. On a machine that does other work (`BUSY`), it prints the
same and writes nothing.
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
from contextlib import nullcontext
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx2

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "service"))

from databases import own_postgres
from running import ROOT, Api, Process, free_port
from service_kill import processor
from services import API, new_core
from sqlalchemy import select
from whole import look, token_of_a_first_user

from trustreport.service.access import principal
from trustreport.service.access.principal import COOKIE
from trustreport.service.storage.models import User

CLIENTS = 8
EXAMPLE = ROOT / "examples" / "knee-mri-readings"
FORMATS = ["html", "pdf", "json"]
LISTS = ("/studies", "/reports", "/devices", "/audit")
PAUSE = 1.0  # seconds between two looks at a job
AGAIN = 20  # looks at a job between two further uploads
RESULTS = Path(__file__).parent / "results" / "service_load.csv"
MEDIAN, PERCENTILE = 0.050, 0.250  # seconds of a request, at most
BUSY = 0.25  # load before the start, for each core, from which on other work would be measured too
REFUSALS = ("429", "507")  # no errors: too often, no room


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

    def __init__(self, number: int, bases: list[str], secret: str, archive: bytes, told: Told) -> None:
        self.number, self.archive, self.told = number, archive, told
        self.bases = cycle(bases)
        self.http = httpx2.Client(headers={"Cookie": f"{COOKIE}={secret}"}, timeout=60)

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

    def ask(self, kind: str, method: str, path: str, **more: Any) -> httpx2.Response:
        """One request to the server whose turn it is, timed; one that was refused is sent again later."""
        while True:
            began = time.perf_counter()
            answer = self.http.request(method, next(self.bases) + path, **more)
            seconds = time.perf_counter() - began
            self.told.statuses[str(answer.status_code)] += 1
            if str(answer.status_code) not in REFUSALS:
                self.told.seconds[kind].append(seconds)
                answer.raise_for_status()
                return answer
            time.sleep(float(answer.headers.get("Retry-After", PAUSE)))


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


def sessions_of(data: Path, database: str) -> list[str]:
    """Secrets of a session for each client, of an account that may do everything."""
    core = new_core(data, database=database)
    with core.store.write() as rows:
        user = rows.scalars(select(User)).one()
        secrets = [principal.begin_session(rows, user, core.settings) for _ in range(CLIENTS)]
    core.close()
    return secrets


def run(folder: Path, seconds: float, servers: int, database: str) -> tuple[Told, list[float], list[str]]:
    """What clients saw, memory of the first server at start, middle and end, faults of the stored data."""
    data, ports, told = folder / "data", [free_port() for _ in range(servers)], Told()
    token = token_of_a_first_user(data, database)
    secrets = sessions_of(data, database)
    words = ["--data", str(data), *(["--database", database] if database else [])]
    processes = [Process(folder / f"{port}.log", "serve", "--port", str(port), *words) for port in ports]
    for process in processes:
        process.start()
    stop, held, broken = threading.Event(), list[float](), list[str]()
    archive = zipped(EXAMPLE)

    def work(number: int, secret: str) -> None:
        bases = [f"http://127.0.0.1:{port}" for port in ports]
        try:
            Client(number, bases, secret, archive, told).work(stop)
        except Exception as error:
            broken.append(f"client {number}: {error}")

    try:
        for port in ports:
            Api(port, token).wait_ready()
        first = processes[0].process
        assert first is not None
        held.append(memory(first.pid))
        threads = [threading.Thread(target=work, args=item) for item in enumerate(secrets)]
        for thread in threads:
            thread.start()
        for _ in range(2):
            time.sleep(seconds / 2)
            held.append(memory(first.pid))
        stop.set()
        for thread in threads:
            thread.join()
    finally:
        codes = [process.end(15) for process in processes]
    core = new_core(data, database=database)
    state = look(core, told.versions, told.jobs)
    core.close()
    broken += [*state.faults, *(f"ended with {code}" for code in codes if code)]
    return told, held, broken


def figures(told: Told, held: list[float], broken: list[str]) -> tuple[list[tuple[Any, ...]], list[str]]:
    """The lines of the results, and what of them is not as it should be."""
    every = sorted(second for found in told.seconds.values() for second in found)
    good = sum(n for status, n in told.statuses.items() if status.startswith("2"))
    rest = {status: n for status, n in told.statuses.items() if status[0] != "2" and status not in REFUSALS}
    lines: list[tuple[Any, ...]] = [
        ("requests answered with success", "", good),
        *((f"requests refused with {status}", "", told.statuses[status]) for status in REFUSALS),
        ("other answers and failed jobs", "; ".join(map(str, rest.items())), sum(rest.values())),
        ("broken clients and faults of the stored data", "; ".join(broken), len(broken)),
        ("versions handed in", "", len(told.versions)),
        ("reports asked for", "", len(told.jobs)),
        ("reports built and fetched", "", len(told.reports)),
    ]
    for kind, found in {"all requests": every, **dict(sorted(told.seconds.items()))}.items():
        of_kind = f"ms, {len(found)} requests"
        lines += [
            (f"{kind}, median", of_kind, milliseconds(statistics.median(found))),
            (f"{kind}, 95th percentile", of_kind, milliseconds(percentile(found))),
            (f"{kind}, slowest", of_kind, milliseconds(max(found))),
        ]
    for moment, size in zip(("start", "middle", "end"), held, strict=True):
        lines.append((f"memory of the server, {moment}", "MB resident", round(size, 1)))
    wrong = {
        f"{sum(rest.values())} errors": bool(rest),
        "broken clients or stored data": bool(broken),
        f"median above {milliseconds(MEDIAN):g} ms": statistics.median(every) > MEDIAN,
        f"95th percentile above {milliseconds(PERCENTILE):g} ms": percentile(every) > PERCENTILE,
    }
    return lines, [what for what, is_so in wrong.items() if is_so]


def percentile(seconds: list[float]) -> float:
    """The 95th percentile."""
    return sorted(seconds)[min(len(seconds) - 1, int(0.95 * len(seconds)))]


def milliseconds(seconds: float) -> float:
    """To a tenth."""
    return round(1000 * seconds, 1)


def main() -> None:
    """Let the clients work; write what they saw, if the machine did nothing else."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--servers", type=int, default=1, help="more than one: on a PostgreSQL of their own")
    given = parser.parse_args()
    began, before = datetime.now(UTC), os.getloadavg()[0]
    with (
        tempfile.TemporaryDirectory() as folder,
        own_postgres() if given.servers > 1 else nullcontext("") as at,
    ):
        told, held, broken = run(Path(folder), given.seconds, given.servers, at)
    lines, wrong = figures(told, held, broken)
    cores = os.cpu_count() or 1
    database = "PostgreSQL without fsync" if given.servers > 1 else "SQLite"
    head = (
        f"# {cores} cores ({processor()}), Python {platform.python_version()}; {began:%Y-%m-%d %H:%M} UTC; "
        f"load {before:.1f} before, {os.getloadavg()[0]:.1f} at the end; "
        f"{CLIENTS} clients on the same machine, {given.seconds:.0f} s, "
        f"{given.servers} servers, {database}, one report at a time in each\n"
    )
    print(head, end="")
    for line in lines:
        print(*line, sep="\t")
    if before > BUSY * cores:
        print(f"Nothing was written: the machine did other work before the start (load {before:.1f}).")
    else:
        file = RESULTS if given.servers == 1 else RESULTS.with_stem(f"{RESULTS.stem}_servers")
        with file.open("w", newline="", encoding="utf-8") as out:
            out.write(head)
            csv.writer(out, lineterminator="\n").writerows([("what", "unit", "value"), *lines])
    sys.exit(f"Not as it should be: {', '.join(wrong)}." if wrong else 0)


if __name__ == "__main__":
    main()
