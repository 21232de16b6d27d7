"""kill -9 of servers or workers at random moments: `python benchmarks/service_kill.py [--kills 50]`.

Clients hand in studies and ask for reports without pause. At a random moment (0 to 4 s after all servers
answered) a server or a worker is killed and started anew. With the victim dead, the database and the
files are looked at: every upload and job that was accepted is there, each report is stored once, every file
that a row names has its content, the audit log is whole. At the end of each database's run no new work is
handed in and every job has to be done. Writes benchmarks/results/service_kill.csv, one line for each kill.

    python benchmarks/service_kill.py --files bucket --databases postgresql --servers 2 --kills 100

has several servers and workers, each with a data folder of its own as on a machine of its own, and the files
in object storage; it writes benchmarks/results/service_kill_bucket.csv.
"""

import argparse
import csv
import os
import platform
import random
import shutil
import sys
import tempfile
import threading
import time
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import astuple, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "service"))

from buckets import new_prefix, own_bucket_server
from databases import new_database, own_postgres
from running import Api, Process, free_port
from services import API, MANIFEST, new_core
from whole import State, look, token_of_a_first_user

CLIENTS, LEASE, MOST_OPEN = 2, 3, 4
LATEST = 4.0  # seconds of work before a kill
END_SECONDS = 300  # to do what is left at the end
RESULTS = Path(__file__).parent / "results"
COLUMNS = (
    *("database", "kill", "victim", "after_s", "uploads_accepted", "jobs_accepted"),
    *(f"stored_{field.name}" for field in fields(State)),
)


class Load:
    """Clients that hand in studies and ask for reports, and note what was accepted."""

    def __init__(self, apis: list[Api]) -> None:
        self.apis = apis
        self.versions: list[str] = []
        self.jobs: list[str] = []
        self.refused: list[str] = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(i,)) for i in range(CLIENTS)]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Hand in nothing more."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _work(self, client: int) -> None:
        number, mine = 0, list[str]()
        while not self._stop.is_set():
            number += 1
            ask = self._asker(client)
            try:
                study = ask("POST", "/studies", {"name": f"{client}-{number}"})["id"]
                manifest = different(10_000 * client + number)
                made = ask("POST", f"/studies/{study}/versions/json", {"manifest": manifest})
                self.versions.append(made["id"])
                while not self._stop.is_set():
                    if ask("GET", f"/versions/{made['id']}")["state"] == "valid":
                        break
                    time.sleep(0.3)
                else:
                    return
                job = ask("POST", f"/versions/{made['id']}/jobs", {"formats": ["json"]})["id"]
                self.jobs.append(job)
                mine.append(job)
                while len(mine) >= MOST_OPEN and not self._stop.is_set():
                    time.sleep(0.3)
                    mine = [job for job in mine if ask("GET", f"/jobs/{job}")["state"] != "done"]
            except urllib.error.HTTPError as error:
                self.refused.append(f"{error.code} {error.url}")

    def _asker(self, client: int) -> Callable[..., Any]:
        """Asks the server of a client: they take turns."""
        api = self.apis[client % len(self.apis)]
        return lambda method, path, body=None: api.patiently(method, f"{API}{path}", body)


def different(number: int) -> dict[str, Any]:
    """A study with counts of its own, so that no two reports are the same work."""
    unaided, aided = MANIFEST["counts"]
    counts = [{**unaided, "errors": 60 + number}, {**aided, "correct": 255 + number}]
    return {**MANIFEST, "counts": counts}


def run(
    database: str, address: str, asked: argparse.Namespace, folder: Path, files: dict[str, Any]
) -> Iterator[tuple[Any, ...]]:
    """Kill so often; a line for each kill, and one for the end."""
    data = folder / "data"
    token = token_of_a_first_user(data, address)
    fleet, apis = processes(folder, address, token, asked, files)
    core = new_core(data, database=address, **files)
    moment = random.Random(time.time_ns())  # no secret
    for process in fleet.values():
        process.start()
    try:
        with Load(apis) as load:
            for kill in range(1, asked.kills + 1):
                for api in apis:
                    api.wait_ready()
                after = moment.uniform(0, LATEST)
                time.sleep(after)
                name, victim = moment.choice(list(fleet.items()))
                victim.end()
                versions, jobs = list(load.versions), list(load.jobs)
                state = look(core, versions, jobs)
                victim.start()
                yield database, kill, name, round(after, 2), len(versions), len(jobs), *told(state)
            for api in apis:
                api.wait_ready()
            load.stop()
            end = time.monotonic() + END_SECONDS
            while time.monotonic() < end and unfinished(core):
                time.sleep(1)
            state = look(core, load.versions, load.jobs, ended=True)
            faults = (*state.faults, *(f"refused: {answer}" for answer in load.refused))
            rest = *told(state)[:-1], "; ".join(faults)
            yield database, "", "all work done", "", len(load.versions), len(load.jobs), *rest
    finally:
        core.close()
        codes = [process.end(15) for process in fleet.values()]
    if any(codes):
        yield database, "", f"ended with {codes}", *[""] * (len(COLUMNS) - 4), "no graceful end"


def processes(
    folder: Path, address: str, token: str, asked: argparse.Namespace, files: dict[str, Any]
) -> tuple[dict[str, Process], list[Api]]:
    """Servers and workers by name; with files in a bucket each has its own data folder, with the same key."""
    settings = {"LEASE": LEASE, "ATTEMPTS": 1000, "REQUESTS_A_MINUTE": 1_000_000, **files}
    variables = {f"TRUSTREPORT_{name.upper()}": str(value) for name, value in settings.items()}
    fleet, apis = {}, []
    for kind, n in (("serve", asked.servers), ("worker", asked.workers)):
        for i in range(n):
            name = f"{'server' if kind == 'serve' else kind}{'' if n == 1 else f' {i + 1}'}"
            data = folder / (name if files else "data")
            if files:
                shutil.copytree(folder / "data" / "keys", data / "keys")
            words = ["--data", str(data), *(["--database", address] if address else [])]
            if kind == "serve":
                apis.append(Api(free_port(), token))
                words += ["--port", apis[-1].base.rpartition(":")[2]]
            fleet[name] = Process(folder / f"{name}.log", kind, *words, **variables)
    return fleet, apis


def told(state: State) -> tuple[Any, ...]:
    """The fields of a state as cells."""
    return *astuple(state)[:-1], "; ".join(state.faults)


def unfinished(core: Any) -> bool:
    """Whether any job waits or is at work."""
    from sqlalchemy import select

    from trustreport.service.storage.models import Job

    with core.store.read() as rows:
        return rows.scalar(select(Job.id).where(Job.state.in_(("queued", "running"))).limit(1)) is not None


@contextmanager
def address_of(database: str) -> Iterator[str]:
    """The address of an empty database."""
    if database == "sqlite":
        yield ""
    else:
        with own_postgres() as server:
            yield new_database(server)


def processor() -> str:
    """The name of this machine's processor."""
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown")


def main() -> None:
    """Kill on each database, both at the same time; write what was found after each kill."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50, metavar="N", help="on each database")
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"])
    parser.add_argument("--files", choices=["folder", "bucket"], default="folder")
    parser.add_argument("--servers", type=int, default=1, metavar="N")
    parser.add_argument("--workers", type=int, default=1, metavar="N")
    asked = parser.parse_args()
    lines: dict[str, list[tuple[Any, ...]]] = {database: [] for database in asked.databases}
    began, before = datetime.now(UTC), os.getloadavg()[0]

    def kill_once(database: str) -> None:
        storage = own_bucket_server() if asked.files == "bucket" else nullcontext()
        with tempfile.TemporaryDirectory() as folder, address_of(database) as address, storage as endpoint:
            files = new_prefix(endpoint) if endpoint else {}
            for line in run(database, address, asked, Path(folder), files):
                lines[database].append(line)
                print(*line, sep="\t", flush=True)

    threads = [threading.Thread(target=kill_once, args=(database,)) for database in asked.databases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    name = "service_kill.csv" if asked.files == "folder" else "service_kill_bucket.csv"
    with (RESULTS / name).open("w", newline="", encoding="utf-8") as out:
        where = f"{os.cpu_count()} cores ({processor()}), Python {platform.python_version()}"
        when = f"{began:%Y-%m-%d %H:%M} UTC, {(datetime.now(UTC) - began).total_seconds() / 60:.0f} minutes"
        out.write(f"# {where}; {when}; load {before:.1f} before, {os.getloadavg()[0]:.1f} at the end; ")
        out.write(
            f"{CLIENTS} clients, {asked.servers} servers and {asked.workers} workers with one lane each, "
        )
        out.write(f"files in a {asked.files}, lease {LEASE} s\n")
        writer = csv.writer(out, lineterminator="\n")
        writer.writerows([COLUMNS, *(line for found in lines.values() for line in found)])


if __name__ == "__main__":
    main()
