"""Where the time of a build goes, and how much memory it takes.

    python benchmarks/build.py [STUDY] [--repeat N]

Builds the study in a process of its own (the example of readings unless named), and prints the median seconds
of every step that run.json tells, the seconds from start to end, and the peak of resident memory.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parent.parent
STEPS = ("import", "read", "assess", "results", "figures", "html", "pdf")


def build(study: Path, out: Path) -> tuple[float, float, dict[str, float]]:
    """Seconds in all, peak resident memory in MB, and seconds per step of one build."""
    start = perf_counter()
    command = [sys.executable, "-m", "trustreport", "build", str(study), "-o", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read() if process.stderr else b""
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(errors.decode())
    steps = json.loads((out / "run.json").read_text())["seconds"]
    return perf_counter() - start, usage.ru_maxrss / 1024, steps


def main() -> None:
    """Build as often as asked, print medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", nargs="?", type=Path, default=ROOT / "examples" / "knee-mri-readings")
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = [build(arguments.study, Path(folder) / str(i)) for i in range(arguments.repeat)]
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{arguments.study.name}, {machine}, median of {len(runs)}")
    for step in STEPS:
        print(f"  {step:<10}{statistics.median(run[2].get(step, 0.0) for run in runs):8.2f} s")
    print(f"  {'in all':<10}{statistics.median(run[0] for run in runs):8.2f} s")
    print(f"  {'peak':<10}{max(run[1] for run in runs):8.0f} MB")


if __name__ == "__main__":
    main()
