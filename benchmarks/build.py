"""Where the time of a build goes, and how much memory it takes.

    python benchmarks/build.py [STUDY ...] [--repeat N] [--out FILE]

Builds each study (the example of readings unless named) in a process of its own; prints the median seconds
of every step that run.json tells, the seconds from start to end, and the peak of resident memory of that
process; two others, for reading and for drawing, come and go beside it.
"""

import argparse
import csv
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
STEPS = ("import", "read", "assess", "results", "figures", "pdf", "html")


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


def measured(study: Path, repeat: int) -> dict[str, str]:
    """Medians of so many builds."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [build(study, Path(folder) / str(i)) for i in range(repeat)]
    steps = {step: statistics.median(run[2].get(step, 0.0) for run in runs) for step in STEPS}
    return {
        "study": study.name,
        "builds": str(repeat),
        **{step: f"{seconds:.2f}" for step, seconds in steps.items()},
        "seconds": f"{statistics.median(run[0] for run in runs):.2f}",
        "peak_mb": f"{max(run[1] for run in runs):.0f}",
        "load_before": f"{os.getloadavg()[0]:.1f}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }


def main() -> None:
    """Build as often as asked, print medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", type=Path, default=[ROOT / "examples" / "knee-mri-readings"])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = []
    for study in arguments.studies:
        rows.append(measured(study, arguments.repeat))
        print(*(f"{name} {value}" for name, value in rows[-1].items()), sep=", ", flush=True)
    if arguments.out:
        with arguments.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
