"""Our statistics beside those of PyPI and Debian: equal, how fast, and how both grow, in one run.

    python benchmarks/peers.py [--only WORD] [--python PEER=PATH ...] [--keep FOLDER] [--budget SECONDS]
    python benchmarks/peers.py --table        write the table of benchmarks/README.md from the results again

Makes an environment of each list of benchmarks/peers.txt in a temporary folder (with `--keep` in a folder
that is used again), where R is installed uses its packages too, and says what cannot be had. Every comparison
of `compared/listed.py` gets the same arrays, its outputs are compared, and then both sides are timed in turn,
a call of ours and one of theirs, each in a process that is started already, on one core with one thread, in
CPU seconds, since other work of the machine makes those of the clock longer. Writes
benchmarks/results/peers.csv (with `--only`, those rows) and the table. The exit status is 1 where outputs
differ by more than is stated.
"""

import argparse
import csv
import json
import os
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from math import ceil, log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from compared.inputs import MAKERS, Inputs
from compared.listed import COMPARISONS, Comparison, environments
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parent
PEERS, README, RESULTS = HERE / "peers.txt", HERE / "README.md", HERE / "results" / "peers.csv"
BEGIN, END = "<!-- peers -->", "<!-- /peers -->"
SEED = 20261123
SHORTEST = 0.02  # seconds that a timing takes at least: fast calls are repeated within it
FEWEST, MOST = 5, 25  # pairs of timings
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
COLUMNS = (
    *("peer", "version", "quantity", "n", "pairs"),
    *("ours_s", "ours_q1", "ours_q3", "theirs_s", "theirs_q1", "theirs_q3"),
    *("ratio", "ratio_q1", "ratio_q3", "equal_within", "difference"),
    *("exponent_ours", "exponent_theirs", "load", "machine"),
)
Row = dict[str, str]


class Unavailable(Exception):
    """A peer that cannot be installed, or raises."""


class Worker:
    """A process that gets ready for a call and times it (`compared/worker.py`)."""

    def __init__(self, command: Sequence[str | Path]) -> None:
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **ONE_THREAD},
        )

    def ask(self, **asked: Any) -> dict[str, Any]:
        """Send a line, wait for the answer."""
        answer: dict[str, Any] = json.loads(self.exchange(json.dumps(asked)) or '{"error": "it ended"}')
        if "error" in answer:
            raise Unavailable(answer["error"])
        return answer

    def exchange(self, line: str) -> str:
        """A line there, a line back; empty where the process has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return ""
        return self.process.stdout.readline()

    def version(self, name: str) -> str:
        return str(self.ask(do="version", name=name)["version"])

    def open(self, name: str, folder: Path) -> dict[str, Any]:
        """Get ready, call once; its outputs."""
        self.ask(do="open", name=name, folder=str(folder))
        with np.load(folder / f"{name}.npz") as found:
            return dict(found)

    def time(self, number: int) -> float:
        return float(self.ask(do="time", number=number)["seconds"])

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class RWorker(Worker):
    """The same in R (`compared/theirs.R`)."""

    def ask(self, **asked: Any) -> dict[str, Any]:
        answer = self.exchange("\t".join(str(word) for word in asked.values())).strip()
        if not answer or answer.startswith("error"):
            raise Unavailable(answer or "R ended")
        return {"version" if asked["do"] == "version" else "seconds": answer}

    def open(self, name: str, folder: Path) -> dict[str, Any]:
        self.ask(do="open", name=name, folder=str(folder))
        lines = (folder / f"{name}.txt").read_text().splitlines()
        return {word: float(number) for word, number in (line.split() for line in lines)}


def save(inputs: Inputs, folder: Path, *, for_r: bool) -> None:
    """Arrays as files that workers read."""
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        if for_r:
            array.astype(np.float64).ravel("F").tofile(folder / f"{name}.bin")
            (folder / f"{name}.shape").write_text(" ".join(map(str, array.shape)))


def differences(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, float]:
    """By how much each output differs, relative where it is above 1; infinite where it is not there."""
    found = {}
    for name in {*ours, *theirs}:
        a, b = (np.asarray(side.get(name, np.nan), dtype=np.float64) for side in (ours, theirs))
        if a.shape != b.shape:
            found[name] = float("inf")
            continue
        with np.errstate(invalid="ignore"):
            apart = np.where(a == b, 0.0, np.abs(a - b) / np.maximum(1.0, np.abs(b)))
        found[name] = float("inf") if np.isnan(apart).any() else float(apart.max())
    return found


def agrees(comparison: Comparison, apart: Mapping[str, float]) -> bool:
    """Whether no output differs by more than is stated."""
    return all(by <= comparison.loose.get(name, comparison.within) for name, by in apart.items())


def repeats(side: Worker) -> tuple[int, float]:
    """How many calls take at least `SHORTEST` together, and their seconds."""
    number = 1
    while (seconds := number * side.time(number)) < SHORTEST:
        number = 10 * number if seconds < SHORTEST / 10 else ceil(1.1 * number * SHORTEST / seconds)
    return number, seconds


def timed(ours: Worker, theirs: Worker, budget: float) -> NDArray[np.float64]:
    """Seconds of a call, in turn: shape (pairs, 2)."""
    (n, of_ours), (m, of_theirs) = repeats(ours), repeats(theirs)
    pairs = min(MOST, max(FEWEST, int(budget / (of_ours + of_theirs))))
    return np.array([[ours.time(n), theirs.time(m)] for _ in range(pairs)])


def quartiles(values: NDArray[np.float64]) -> list[str]:
    """Median, first and third quartile as text."""
    return [f"{q:.4g}" for q in np.quantile(values, (0.5, 0.25, 0.75))]


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> str:
    """Slope of log seconds on log size by least squares, the smallest size left out where there are three."""
    some = slice(1 if len(sizes) > 2 else 0, None)
    if len(sizes[some]) < 2:
        return ""
    x, y = np.log(sizes[some]), np.log(seconds[some])
    return f"{round(np.polyfit(x, y, 1)[0], 2) + 0.0:.2f}"  # no -0.00


def measured(comparison: Comparison, ours: Worker, theirs: Worker, budget: float) -> tuple[list[Row], bool]:
    """The rows of a comparison, a size each, and whether all outputs agree."""
    rows, fine = [], True
    for n in comparison.sizes:
        with TemporaryDirectory() as name:
            folder = Path(name)
            inputs = MAKERS[comparison.inputs](n, np.random.default_rng([SEED, n]))
            save(inputs, folder, for_r=comparison.in_r)
            outputs = ours.open(comparison.ours, folder), theirs.open(comparison.theirs, folder)
            apart = differences(*outputs)
            same = agrees(comparison, apart)
            fine = fine and (same or bool(comparison.differs))
            load, both = os.getloadavg()[0], timed(ours, theirs, budget)
        seconds = [quartiles(values) for values in (*both.T, both[:, 1] / both[:, 0])]
        row = dict(zip(COLUMNS[5:14], (text for three in seconds for text in three), strict=True))
        row |= {"peer": comparison.peer, "quantity": comparison.quantity, "n": str(n)}
        row |= {"pairs": str(len(both)), "equal_within": stated(comparison)}
        row["difference"] = f"{max(apart.values()):.1g}"
        rows.append(row | {"load": f"{load:.1f}", "machine": machine()})
        verdict = "" if same else f"   DIFFERENT: {apart} {comparison.differs}"
        said = f"{row['ours_s']:>10} s {row['theirs_s']:>10} s  x {row['ratio']}"
        print(f"{comparison.peer:<14}{comparison.quantity:<42}{n:>9,}{said}{verdict}", flush=True)
    for side in ("ours", "theirs"):
        slope = exponent(comparison.sizes, [float(row[f"{side}_s"]) for row in rows])
        for row in rows:
            row[f"exponent_{side}"] = slope
    return rows, fine


def stated(comparison: Comparison) -> str:
    """How equal outputs must be, in words."""
    if comparison.differs:
        return "different definition"
    loose = [f"{name} {by:g}" for name, by in comparison.loose.items()]
    return "; ".join([f"{comparison.within:g}", *loose])


def machine() -> str:
    """Processor and interpreter."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        model = platform.processor()
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}"


def interpreters(wanted: set[str], given: Mapping[str, str], folder: Path) -> dict[str, str]:
    """A Python for each peer: the one given, or an environment made in the folder."""
    found = {peer: given[peer] for peer in wanted & given.keys()}
    for name, pins in environments(PEERS.read_text().splitlines()).items():
        for_peers = wanted & pins.keys() - found.keys()
        if not for_peers:
            continue
        place = folder / name
        python = place / "bin" / "python"
        if not python.exists():
            print(f"making the environment {name} in {place}", flush=True)
            venv.create(place, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        pinned = [f"{peer}=={version}" for peer, version in pins.items()]
        stamp = place / "installed.txt"
        if stamp.exists() and stamp.read_text() == "\n".join(pinned):
            pass
        elif not subprocess.run([*pip, *pinned]).returncode:
            stamp.write_text("\n".join(pinned))
        else:
            support = [pin for pin in pinned if pin.partition("==")[0] not in for_peers]
            for peer in sorted(for_peers):
                if subprocess.run([*pip, *support, f"{peer}=={pins[peer]}"]).returncode:
                    print(f"{peer}: not installed, left out")
        found |= dict.fromkeys(for_peers, str(python))
    return found


@contextmanager
def workers(wanted: Sequence[Comparison], given: argparse.Namespace) -> Iterator[dict[str, Worker]]:
    """A process for ours, and one for each peer."""
    asked = {}
    for word in given.python:
        peer, _, path = word.partition("=")
        asked |= {peer: path} if path else dict.fromkeys((c.peer for c in wanted if not c.in_r), peer)
    with ExitStack() as stack:
        folder = given.keep or Path(stack.enter_context(TemporaryDirectory()))
        script, r_script = HERE / "compared" / "worker.py", HERE / "compared" / "theirs.R"
        found = interpreters({c.peer for c in wanted if not c.in_r}, asked, folder)
        started: dict[str, Worker] = {"ours": Worker([sys.executable, script, "ours"])}
        started |= {peer: Worker([python, script, "theirs"]) for peer, python in found.items()}
        for peer in {c.peer for c in wanted if c.in_r}:
            if shutil.which("Rscript"):
                started[peer] = RWorker(["Rscript", "--vanilla", r_script])
            else:
                print(f"{peer}: R is not installed, left out")
        for worker in started.values():
            stack.callback(worker.close)
        yield started


def run(wanted: Sequence[Comparison], given: argparse.Namespace) -> int:
    """Write the rows of one comparison after the other; the exit status."""
    status = 0
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with workers(wanted, given) as started:
        for comparison in wanted:
            if comparison.peer not in started:
                continue
            theirs = started[comparison.peer]
            try:
                version = theirs.version(comparison.peer)
                found, fine = measured(comparison, started["ours"], theirs, given.budget)
            except Unavailable as why:
                print(f"{comparison.peer}, {comparison.quantity}: left out ({why})", flush=True)
                continue
            written([row | {"version": version} for row in found], given.out)
            status = status if fine else 1
    return status


def written(rows: Sequence[Row], path: Path) -> None:
    """The results, in the order of the list; rows of comparisons that were not run stay."""
    again = {(row["peer"], row["quantity"]) for row in rows}
    every = [*rows, *(row for row in read(path) if (row["peer"], row["quantity"]) not in again)]
    with path.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.DictWriter(lines, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for comparison in COMPARISONS:
            writer.writerows(rows_of(comparison, every))


def rows_of(comparison: Comparison, rows: Sequence[Row]) -> list[Row]:
    """The rows of a comparison."""
    return [r for r in rows if (r["peer"], r["quantity"]) == (comparison.peer, comparison.quantity)]


def read(path: Path = RESULTS) -> list[Row]:
    """The rows of the results."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def table(rows: Sequence[Row]) -> str:
    """The table of the README: a line for each comparison, the ratio at each of its sizes."""
    heads = (
        *("peer", "quantity", "theirs / ours (quartiles of the pairs) at n"),
        *("seconds at the largest n: ours, theirs", "growth: ours, theirs", "equal within", "remarks"),
    )
    said = [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads))]
    for c in COMPARISONS:
        own = rows_of(c, rows)
        if not own:
            continue
        at = [
            f"{ratio(r['ratio'])} ({ratio(r['ratio_q1'])} to {ratio(r['ratio_q3'])}) at {int(r['n']):,}"
            for r in own
        ]
        last = own[-1]
        cells = (
            f"{c.peer} {last['version']}",
            f"{c.quantity} (`{c.call}`)",
            "; ".join(at),
            f"{float(last['ours_s']):.2g}, {float(last['theirs_s']):.2g}",
            f"{last['exponent_ours']}, {last['exponent_theirs']}",
            last["equal_within"],
            c.differs or c.remark,
        )
        said.append(f"| {' | '.join(cells)} |")
    return "\n".join(said)


def ratio(text: str) -> str:
    """Two significant digits, and no more decimals than two.

    >>> ratio("1234.5"), ratio("3.14159"), ratio("0.4321")
    ('1,200', '3.1', '0.43')
    """
    value = float(text)
    places = max(0, 1 - int(np.floor(log(max(value, 1e-9), 10))))
    return f"{round(value, 1 - int(np.floor(log(max(value, 1e-9), 10)))):,.{min(places, 2)}f}"


def with_table(text: str, made: str) -> str:
    """The page with the table between its marks."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{made}\n{END}{tail}"


def main(words: Sequence[str] | None = None) -> int:
    """Run what is asked for, write results and table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="comparisons whose peer or quantity contains this")
    parser.add_argument(
        "--python",
        action="append",
        default=[],
        metavar="[PEER=]PATH",
        help="interpreter that has the peers, or one of them",
    )
    parser.add_argument("--keep", type=Path, help="folder of the environments, used again")
    parser.add_argument("--budget", type=float, default=4.0, help="CPU seconds for the timings of a row")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true", help="only write the table again")
    given = parser.parse_args(words)
    status = 0
    if not given.table:
        only = given.only.casefold()
        wanted = [c for c in COMPARISONS if only in f"{c.peer} {c.quantity}".casefold()]
        status = run(wanted, given)
    if given.out == RESULTS:
        text = README.read_text(encoding="utf-8")
        README.write_text(with_table(text, table(read())), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
