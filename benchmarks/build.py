"""Where the time of a build goes, and how much memory it takes.

    python benchmarks/build.py [STUDY ...] [--formats html,pdf,json] [--repeat N] [--out FILE]

Builds each study (the example of readings unless named) in a process of its own; prints the median seconds
of every step in run.json, the seconds from start to end, and the peak of resident memory of that process;
two others, for reading and for drawing, come and go beside it. With them: the pages of each PDF, and how
often a document was laid out, as WeasyPrint reports it (one for each PDF).
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

import pikepdf

ROOT = Path(__file__).resolve().parent.parent
STEPS = ("import", "read", "assess", "results", "figures", "pdf", "html")
VOLUMES = ("report.pdf", "annex.pdf")
# The command, and on its last line of output how many documents were laid out.
COUNTING = """
import logging, sys
class Counter(logging.Handler):
    laid_out = 0
    def emit(self, record):
        self.laid_out += record.getMessage().startswith("Step 4")
counter = Counter()
log = logging.getLogger("weasyprint.progress")
log.addHandler(counter)
log.setLevel(logging.INFO)
log.propagate = False
from trustreport.cli import main
try:
    main()
finally:
    print(counter.laid_out)
"""


def build(study: Path, out: Path, formats: str) -> tuple[float, float, dict[str, float], int]:
    """Seconds in all, peak resident memory in MB, seconds per step, and layouts of one build."""
    start = perf_counter()
    command = [sys.executable, "-c", COUNTING, "build", str(study), "-o", str(out), "--formats", formats]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors)
        output = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        if status:
            errors.seek(0)
            sys.exit(errors.read().decode())
    seconds = perf_counter() - start
    steps = json.loads((out / "run.json").read_text())["seconds"]
    return seconds, usage.ru_maxrss / 1024, steps, int(output.split()[-1])


def pages(file: Path) -> str:
    """How many pages a PDF has; empty where it was not asked for."""
    if not file.exists():
        return ""
    with pikepdf.open(file) as document:
        return str(len(document.pages))


def measured(study: Path, formats: str, repeat: int) -> dict[str, str]:
    """Medians of so many builds."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [build(study, Path(folder) / str(i), formats) for i in range(repeat)]
        volumes = {name: pages(Path(folder) / "0" / name) for name in VOLUMES}
    steps = {step: statistics.median(run[2].get(step, 0.0) for run in runs) for step in STEPS}
    return {
        "study": study.name,
        "formats": formats,
        "builds": str(repeat),
        "layouts": "/".join(sorted({str(run[3]) for run in runs})),
        **{f"{name.partition('.')[0]}_pages": n for name, n in volumes.items()},
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
    parser.add_argument("--formats", default="html,pdf,json")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = []
    for study in arguments.studies:
        rows.append(measured(study, arguments.formats, arguments.repeat))
        print(*(f"{name} {value}" for name, value in rows[-1].items()), sep=", ", flush=True)
    if arguments.out:
        with arguments.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
