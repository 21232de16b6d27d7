"""Hostile inputs for everything that takes files or requests, by two engines; not part of the tests.

    python -m benchmarks.fuzz [--engine hypothesis|atheris] [--target NAME ...] [--seconds 300] [-o FOLDER]

`hypothesis` changes valid files by their structure (mutations.py), `atheris` changes bytes by what code they
reach; it is no requirement of the project: pip install atheris. Every input is tried in a process that may
take 1 GB beyond what it starts with and 10 s of computing. A failure is an error that is not one of the
project's own, a hang, more memory, or a report that is there in part; its input is kept in FOLDER. Counts go
to benchmarks/results/fuzz.csv, a row for each engine and target, over the row that was there.
"""

import argparse
import csv
import hashlib
import importlib
import json
import os
import pkgutil
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import trustreport

RESULTS = Path(__file__).parents[1] / "results" / "fuzz.csv"
FIELDS = "engine target seconds inputs accepted distinct_outcomes failures peak_mb".split()
MOST_SECONDS, MOST_WALL = 10, 300  # of computing; of waiting, where many share the machine
SEEDS = 1_000_000  # more than one process uses: none repeats what another tried
SLOWED = 3  # what counting the reached code costs a process
MOST_MEMORY = 1 << 30


class Hang(BaseException):
    """An input took too long; no handler of the code under test may take it for its own."""


def _hang(number: int, frame: Any) -> None:
    raise Hang("too long")


def limit_memory() -> None:
    """Let this process take no more than `MOST_MEMORY` beyond what it holds."""
    with open("/proc/self/status") as lines:
        held = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (held + MOST_MEMORY, held + MOST_MEMORY))


def where(error: BaseException) -> str:
    """The error and the place of the project from which it came."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/trustreport/" in f.filename] or frames
    last = f"{own[-1].filename.partition('/trustreport/')[2]}:{own[-1].lineno}" if own else ""
    return f"{type(error).__name__} at {last}"


class Trial:
    """Tries inputs one after the other, counts what comes of them, and keeps those that fail."""

    def __init__(self, target: Any, folder: Path, seconds: float = MOST_SECONDS) -> None:
        self.target, self.folder, self.seconds = target, folder, seconds
        self.work = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))  # noqa: S108 -- memory
        self.outcomes: Counter[str] = Counter()
        self.failures: Counter[str] = Counter()
        self.inputs = 0
        self.current = folder / "current"

    def __call__(self, data: bytes) -> None:
        self.current.write_bytes(data)
        self.inputs += 1
        signal.setitimer(signal.ITIMER_PROF, self.seconds)
        signal.setitimer(signal.ITIMER_REAL, MOST_WALL)
        try:
            outcome = self.target.attempt(data, self.work)
            word, failure = outcome.word, outcome.failure
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            word, failure = "error", where(error)
            detail = "".join(traceback.format_exception(error))[-6000:]
        else:
            detail = failure
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.setitimer(signal.ITIMER_REAL, 0)
        self.outcomes[word] += 1
        if failure:
            self.failures[failure] += 1
            if self.failures[failure] <= 3:
                name = hashlib.sha256(data).hexdigest()[:12]
                (self.folder / f"{name}.input").write_bytes(data)
                (self.folder / f"{name}.txt").write_text(f"{failure}\n\n{detail}")
        if self.inputs % 20 == 0:
            self.save()

    def save(self) -> None:
        peak = max(
            resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        )
        held = {
            "inputs": self.inputs,
            "outcomes": self.outcomes,
            "failures": self.failures,
            "peak_mb": peak // 1024,
        }
        (self.folder / "counts.json").write_text(json.dumps(held))


def import_all() -> None:
    """Import the project whole: Hypothesis draws constants of the modules that are there, and a draw must not
    change because an input was the first to need one."""
    for module in pkgutil.walk_packages(trustreport.__path__, "trustreport."):
        if not module.name.endswith("__main__") and "migrations" not in module.name:  # those two run
            with suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(module.name)


def by_hypothesis(trial: Trial, seconds: float, seed: int) -> None:
    """Inputs by structure until the time is over."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as start
    from hypothesis import strategies as st

    end = time.monotonic() + seconds
    for data in trial.target.valid():
        trial(data)
    while time.monotonic() < end:

        @start(seed)
        @settings(
            max_examples=100,
            database=None,
            deadline=None,
            phases=(Phase.generate,),
            suppress_health_check=list(HealthCheck),
        )
        @given(st.randoms(use_true_random=False))
        def drawn(draw: Any) -> None:
            data = trial.target.drawn(draw)  # drawn even when it is too late: a draw depends on no clock
            if time.monotonic() < end:
                trial(data)

        drawn()
        seed += 1


def by_atheris(make: Callable[[], Any], folder: Path, seconds: float, seed: int) -> Trial:
    """Inputs by coverage until the time is over; atheris ends the process itself."""
    import atheris

    from benchmarks.fuzz import targets

    targets.REPORTS = 0  # what reads is guided; building reports would take all of the time
    requests = make is targets.TARGETS["api"]
    parts = ["trustreport.service"] if requests else ["trustreport.study.ingest", "trustreport.study.interop"]
    with atheris.instrument_imports(include=parts):
        target = make()
        target.attempt(target.valid()[0], folder)  # imports what it uses
    trial = Trial(target, folder, MOST_SECONDS * SLOWED)
    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for i, data in enumerate(target.valid()):
        (corpus / f"valid{i}").write_bytes(data)
    limit_memory()
    options = [f"-max_total_time={int(seconds)}", f"-seed={seed}", "-timeout=400", "-max_len=20000"]
    options += ["-rss_limit_mb=0", "-print_final_stats=0", "-verbosity=0", "-handle_segv=0"]
    import atexit

    atexit.register(trial.save)
    atheris.Setup([sys.argv[0], *options, str(corpus)], trial, enable_python_coverage=True)
    signal.signal(signal.SIGPROF, _hang)
    signal.signal(signal.SIGALRM, _hang)
    atheris.Fuzz()
    return trial


def child(engine: str, name: str, folder: Path, seconds: float, seed: int) -> None:
    """One engine on one target, in this process."""
    from benchmarks.fuzz.targets import TARGETS

    signal.signal(signal.SIGPROF, _hang)
    signal.signal(signal.SIGALRM, _hang)
    if engine == "atheris":
        by_atheris(TARGETS[name], folder, seconds, seed)
        return
    target = TARGETS[name]()
    trial = Trial(target, folder)
    import_all()
    for data in target.valid()[:1]:
        target.attempt(data, trial.work)  # what is imported at the first use is no input's memory
    limit_memory()
    by_hypothesis(trial, seconds, seed)
    trial.save()


def run(engine: str, name: str, out: Path, seconds: int) -> dict[str, Any]:
    """One engine on one target, in processes of their own; after one that dies another goes on."""
    inputs, peak, outcomes, failures = 0, 0, Counter[str](), Counter[str]()
    began = time.monotonic()
    for seed in range(1, 50 * SEEDS, SEEDS):
        left = seconds - (time.monotonic() - began)
        if left < 5:
            break
        folder = out / engine / name / str(seed)
        folder.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "benchmarks.fuzz",
            "--child",
            engine,
            name,
            str(folder),
            str(left),
            str(seed),
        ]
        with (folder / "said").open("wb") as said:
            done = subprocess.run(command, stdout=said, stderr=said, timeout=left + 1500, check=False)
        counts = folder / "counts.json"
        if counts.exists():
            held = json.loads(counts.read_text())
            inputs, peak = inputs + held["inputs"], max(peak, held["peak_mb"])
            outcomes.update(held["outcomes"])
            failures.update(held["failures"])
        if done.returncode and seconds - (time.monotonic() - began) >= 5:
            failures[f"the process ended with {done.returncode}"] += 1
    row = {
        "engine": engine,
        "target": name,
        "seconds": round(time.monotonic() - began),
        "inputs": inputs,
        "accepted": sum(
            n for word, n in outcomes.items() if word in ("read", "built") or word[-4:-1] == " 20"
        ),
        "distinct_outcomes": len(outcomes),
        "failures": len(failures),
        "peak_mb": peak,
    }
    print(json.dumps({**row, "failed": failures}, indent=1), flush=True)
    return row


def main() -> None:
    """Run the engines over the targets, one after the other."""
    if sys.argv[1:2] == ["--child"]:
        engine, name, folder, seconds, seed = sys.argv[2:]
        child(engine, name, Path(folder), float(seconds), int(seed))
        return
    from benchmarks.fuzz.targets import TARGETS

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", choices=("hypothesis", "atheris"), default="hypothesis")
    parser.add_argument("--target", nargs="+", choices=TARGETS, default=list(TARGETS))
    parser.add_argument("--seconds", type=int, default=300, help="for each target")
    parser.add_argument("-o", "--out", type=Path, default=Path("out/fuzz"), help="folder of inputs that fail")
    given = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
    for name in given.target:
        row = run(given.engine, name, given.out, given.seconds)
        kept = list(csv.DictReader(RESULTS.open())) if RESULTS.exists() else []
        kept = [one for one in kept if (one["engine"], one["target"]) != (given.engine, name)]
        with RESULTS.open("w", newline="") as file:
            rows = csv.DictWriter(file, FIELDS, lineterminator="\n")
            rows.writeheader()
            rows.writerows(sorted([*kept, row], key=lambda one: (one["engine"], one["target"])))


if __name__ == "__main__":
    main()
