"""How many workers 100,000 studies a night need: `python benchmarks/fleet_queue.py` simulates the queue.

A discrete-event simulation of `trustreport fleet`: studies wait in one queue, a worker that is free takes the
next. Times are drawn from what was measured (`results/fleet_studies.csv`: CPU seconds of small studies),
times `SIZES`. A process starts anew after `BUILT` studies and after a failure; some studies fail at once,
some run into the time limit, workers are lost at random with the study that they build, which is then built
by another, three times at most. Where nothing is lost or fails, the simulated time is compared with its lower
bound, the work divided by the workers.

Writes benchmarks/results/fleet_queue.csv: hours until the last study has ended, mean and greatest of `NIGHTS`
simulated nights, how busy the workers were, and the work that was lost.
"""

import csv
import heapq
from collections import deque
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).parent / "results"
STUDIES = 100_000
NIGHTS = 3
SIZES = (1, 10)  # times the measured seconds: small studies, and reader studies with resampling
WORKERS = {1: (2, 4, 5, 6, 8, 16), 10: (32, 40, 48, 64, 96)}
NIGHT = 8.0  # hours
LIMIT = 600.0  # seconds that a study may take (`--timeout`)
UNREADABLE, HANGING = 0.01, 0.0005  # of all studies
LOST = 1 / (24 * 3600)  # workers a second of work: each once a day
REPLACED = 30.0  # seconds until a lost worker is back
BUILT = 100  # reports of a process before it is replaced
ATTEMPTS = 3


@dataclass
class Night:
    """What a simulated night came to, in seconds."""

    end: float = 0.0
    busy: float = 0.0
    lost: float = 0.0
    failed: int = 0


def measured() -> tuple[NDArray[np.float64], float]:
    """CPU seconds of studies, and what the first of a process takes more: it imports."""
    lines = (HERE / "fleet_studies.csv").read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    seconds = np.array([float(row["cpu_seconds"]) for row in rows])
    return seconds[1:], float(seconds[0] - np.median(seconds[1:]))


def night(work: NDArray[np.float64], start: float, workers: int, rng: np.random.Generator) -> Night:
    """Until the last study of `work` has ended; `inf` never ends by itself, 0 fails at once."""
    found = Night()
    free = [(0.0, worker) for worker in range(workers)]
    built = np.full(workers, BUILT)  # at the beginning each process starts
    lost_at = rng.exponential(1 / LOST, workers) if LOST else np.full(workers, np.inf)  # of its own work
    worked = np.zeros(workers)
    queue = deque((i, 1) for i in range(len(work)))
    while queue:
        now, worker = heapq.heappop(free)
        study, attempt = queue.popleft()
        begin = start if built[worker] >= BUILT else 0.0
        seconds = begin + min(float(work[study]), LIMIT)
        built[worker] = 1 if begin else built[worker] + 1
        if worked[worker] + seconds > lost_at[worker]:
            done = lost_at[worker] - worked[worker]
            worked[worker] += done
            lost_at[worker] = worked[worker] + rng.exponential(1 / LOST)
            built[worker] = BUILT
            found.lost += done
            found.failed += attempt == ATTEMPTS
            if attempt < ATTEMPTS:
                queue.appendleft((study, attempt + 1))
            now += done + REPLACED
            found.busy += done
        else:
            worked[worker] += seconds
            now += seconds
            found.busy += seconds
            if work[study] > LIMIT:
                found.failed += 1
                built[worker] = BUILT
            found.failed += bool(work[study] == 0)
        found.end = max(found.end, now)
        heapq.heappush(free, (now, worker))
    return found


def drawn(seconds: NDArray[np.float64], size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """The work of a night."""
    work = size * rng.choice(seconds, STUDIES)
    fate = rng.random(STUDIES)
    work[fate < UNREADABLE] = 0
    work[fate > 1 - HANGING] = np.inf
    return work


def checked(seconds: NDArray[np.float64]) -> None:
    """Where nothing fails, the end is not before the work divided by the workers, and hardly later."""
    global LOST
    before, LOST = LOST, 0.0
    work = np.random.default_rng(1).choice(seconds, 5000)
    end = night(work, 0.0, 8, np.random.default_rng(2)).end
    least = work.sum() / 8
    LOST = before
    if not least <= end <= least + work.max():
        raise SystemExit(f"The simulation is wrong: {end:.1f} s, expected {least:.1f} s and hardly more.")


def main() -> None:
    """Simulate and write."""
    seconds, start = measured()
    checked(seconds)
    columns = (
        "size",
        "workers",
        "mean_hours",
        "greatest_hours",
        "in_a_night",
        "busy",
        "lost_hours",
        "failed",
    )
    rows = []
    for size in SIZES:
        for workers in WORKERS[size]:
            rng = np.random.default_rng([size, workers])
            nights = [night(drawn(seconds, size, rng), start, workers, rng) for _ in range(NIGHTS)]
            hours = [one.end / 3600 for one in nights]
            busy = np.mean([one.busy / (workers * one.end) for one in nights])
            lost = np.mean([one.lost / 3600 for one in nights])
            failed = round(float(np.mean([one.failed for one in nights])))
            fits = "yes" if max(hours) <= NIGHT else "no"
            rows.append(
                (
                    size,
                    workers,
                    f"{np.mean(hours):.2f}",
                    f"{max(hours):.2f}",
                    fits,
                    f"{busy:.3f}",
                    f"{lost:.2f}",
                    failed,
                )
            )
            print(*rows[-1], sep="\t")
    head = (
        f"# {STUDIES} studies; measured {len(seconds)} studies, median {np.median(seconds):.2f} s of CPU, "
        f"{start:.2f} s more to start a process; {NIGHTS} nights each\n"
    )
    with (HERE / "fleet_queue.csv").open("w", newline="", encoding="utf-8") as out:
        out.write(head)
        csv.writer(out, lineterminator="\n").writerows([columns, *rows])


if __name__ == "__main__":
    main()
