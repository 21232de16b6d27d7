"""How long a fleet of small simulated studies takes with one and with two jobs: `python benchmarks/fleet.py`.

A study is a year of one device at one site: scores of 300 to 900 simulated cases with two criteria. Prints
for each number of jobs the wall and CPU seconds, and the speed-up, into benchmarks/results/fleet.csv; on a
machine that does other work (`BUSY`) it prints the same and writes nothing. CPU seconds and bytes of each
study, which depend less on other work, go into benchmarks/results/fleet_studies.csv with `--studies`:
`fleet_queue.py` draws its times from them.
"""

import argparse
import csv
import json
import os
import platform
import resource
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from trustreport.api import build_fleet

RESULTS = Path(__file__).parent / "results" / "fleet.csv"
STUDIES = RESULTS.with_stem("fleet_studies")
BUSY = 0.25  # load before the start, for each core, from which on other work would be measured too
OF_STUDY = ("cpu_seconds", "report_bytes", "results_bytes", "n_results")
CRITERIA = (("sensitivity", 0.8), ("specificity", 0.7))


def make(folder: Path, number: int) -> None:
    """A study of one device, site and year, drawn by its number."""
    rng = np.random.default_rng([20261123, number])
    n = int(rng.integers(300, 900))
    truth = rng.random(n) < rng.uniform(0.1, 0.3)
    score = 1 / (1 + np.exp(-rng.normal(np.where(truth, 1.5, -1.5), 1.2)))
    folder.mkdir(parents=True)
    with (folder / "scores.csv").open("w", encoding="utf-8") as out:
        out.write("case,truth,score\n")
        out.writelines(f"C{i},{int(t)},{s:.4f}\n" for i, (t, s) in enumerate(zip(truth, score)))
    year = 2020 + number % 4
    site = f"Site {number // 4}"
    manifest: dict[str, Any] = {
        "report": {"kind": "certification", "title": f"{site}, {year}"},
        "device": {"trade_name": "Simulated aid", "software_version": "1.0"},
        "study": {"simulated": True, "sap_locked_at": "2019-01-01", "data_opened_at": f"{year + 1}-01-01"},
        "operating_point": {"threshold": 0.5, "score_range": [0, 1]},
        "datasets": [
            {
                "dataset": "routine",
                "role": "external",
                "file": "scores.csv",
                "sites": [site],
                "start_date": f"{year}-01-01",
                "end_date": f"{year}-12-31",
                "sampling": "consecutive",
                "unit_of_analysis": "patient",
            }
        ],
        "endpoints": [
            {
                "endpoint": name,
                "measure": f"advice_accuracy.{name}",
                "arm_or_contrast": "routine",
                "hypothesis": "performance goal",
                "bound_or_margin": bound,
                "alpha": 0.025,
            }
            for name, bound in CRITERIA
        ],
    }
    (folder / "study.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def cpu_seconds() -> float:
    """Of this process and all that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def timed(source: Path, out: Path, jobs: int, formats: list[str]) -> tuple[float, float]:
    """Wall and CPU seconds of a run; the overview and the start of the processes are in both."""
    began, before = time.perf_counter(), cpu_seconds()
    summary = build_fleet(source, out, jobs=jobs, formats=formats)
    if not summary.complete:
        raise SystemExit(f"Studies failed: {summary.failed}")
    return time.perf_counter() - began, cpu_seconds() - before


def main() -> None:
    """Run; write what was measured, where the machine permits it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=200, help="studies")
    parser.add_argument("--jobs", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--formats", default="html,json")
    parser.add_argument("--studies", action="store_true", help="write what each study of the first run cost")
    given = parser.parse_args()
    load, began = os.getloadavg()[0], datetime.now(UTC)
    rows: list[tuple[Any, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        for number in range(given.n):
            make(home / "in" / f"study-{number:05}", number)
        for jobs in given.jobs:
            wall, cpu = timed(home / "in", home / f"out-{jobs}", jobs, given.formats.split(","))
            rows.append((given.n, jobs, round(wall, 2), round(cpu, 2), round(wall / given.n, 3)))
        current, _ = timed(
            home / "in", home / f"out-{given.jobs[0]}", given.jobs[0], given.formats.split(",")
        )
        records = sorted((home / f"out-{given.jobs[0]}" / "records").glob("*.json"))
        studies = [json.loads(file.read_text(encoding="utf-8")) for file in records]
    head = (
        f"# {os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}; "
        f"{began:%Y-%m-%d %H:%M} UTC; load {load:.1f} before; formats {given.formats}; "
        f"speed-up {rows[0][2] / rows[-1][2]:.2f} with {given.jobs[-1]} jobs; "
        f"{current:.2f} s where nothing has changed\n"
    )
    columns = ("studies", "jobs", "seconds", "cpu_seconds", "seconds_a_study")
    print(head, end="")
    for row in (columns, *rows):
        print(*row, sep="\t")
    if given.studies:
        written(STUDIES, head, OF_STUDY, [tuple(one[key] for key in OF_STUDY) for one in studies])
    if load > BUSY * (os.cpu_count() or 1):
        print(f"No times were written: the machine did other work before the start (load {load:.1f}).")
    else:
        written(RESULTS, head, columns, rows)


def written(file: Path, head: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> None:
    """A table of results under its head."""
    with file.open("w", newline="", encoding="utf-8") as out:
        out.write(head)
        csv.writer(out, lineterminator="\n").writerows([columns, *rows])


if __name__ == "__main__":
    main()
