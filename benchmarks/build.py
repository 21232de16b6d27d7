"""Where the time of a build goes, what each of its processes takes, and what WeasyPrint alone would take.

    python benchmarks/build.py [STUDY ...] [--formats html,pdf,annex,json] [--repeat N] [--out FILE]

Builds each study (the example of readings unless named) as the command does, and prints medians: the seconds
of every step in run.json, the seconds from start to end, and of each process (the main one, the one that
reads, the one that draws, those that lay out a PDF each, the annex first) the CPU seconds and the peak of
resident memory in MB. With them: the pages of each PDF.

The baseline is a process for each PDF that imports what a report is made with, and lays out the same HTML
with the same fonts as the same kind of PDF by WeasyPrint as it is; report and annex side by side, as in a
build. `ratio` is the seconds of the build over those of the baseline, `cpu_ratio` the CPU seconds of all
processes over those of the baseline. `load_before` says whether other programs ran: on a busy machine seconds
mean nothing, and CPU seconds little.
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
import threading
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep

import pikepdf

ROOT = Path(__file__).resolve().parent.parent
STEPS = ("import", "read", "assess", "results", "figures", "pdf", "annex", "html")
VOLUMES = ("report.pdf", "annex.pdf")
PROCESSES = ("main", "read", "draw", "layout_1", "layout_2")  # in the order in which they start
TICKS = os.sysconf("SC_CLK_TCK")
OFTEN = 0.02  # seconds between two looks at the processes of a build
# The HTML that the command lays out, in a folder; without the command's own processes.
TEXTS = """
import sys
from pathlib import Path
from trustreport.api import assess, read_study
from trustreport.vocabulary.messages import catalogue
from trustreport.report import pdf
from trustreport.report.layout import figures
from trustreport.report.document import canonical, digest, document
from trustreport.report.release import released
from trustreport.report.write import provenance
study, folder, *volumes = sys.argv[1:]
assessment = released(assess(*read_study(study)))
origin = provenance(assessment)
results = canonical(document(assessment, origin, catalogue(assessment.plan.report.language)))
made = pdf.Volumes(
    assessment, results_hash=digest(results), provenance=origin, drawn=figures.draw_all(assessment)
)
for volume in volumes:
    Path(folder, volume + ".html").write_text(made.paper_text(volume).text, encoding="utf-8")
"""
# WeasyPrint as it is, with what a report is made with; only labels of figures are set as in a report.
BASELINE = """
import gc, sys
gc.set_threshold(100_000, 50, 1000)
from pathlib import Path
import trustreport.api, trustreport.assessment.assess, trustreport.report.write, trustreport.report.pdf
from trustreport.report.layout import pdf_layout
weasyprint = pdf_layout.weasyprint_module()
text = Path(sys.argv[1]).read_text(encoding="utf-8")
weasyprint.HTML(string=text, url_fetcher=pdf_layout.fetcher()).write_pdf(
    sys.argv[1] + ".pdf", pdf_variant="pdf/a-3a", pdf_tags=True
)
"""


@dataclass
class Takes:
    """CPU seconds and peak memory in MB of the processes of a build, as far as they were looked at."""

    cpu: dict[str, float] = field(default_factory=dict)
    peak: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Build:
    """One build: seconds in all, CPU seconds of all processes, each of them, and each step."""

    seconds: float
    cpu: float
    takes: Takes
    steps: dict[str, float]


def build(study: Path, out: Path, formats: str) -> Build:
    """Build once, and look at the processes meanwhile."""
    command = [sys.executable, "-m", "trustreport", "build", str(study), "-o", str(out), "--formats", formats]
    start = perf_counter()
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        takes, ended = Takes(), threading.Event()
        looker = threading.Thread(target=look, args=(process.pid, takes, ended))
        looker.start()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = perf_counter() - start
        ended.set()
        looker.join()
        if status:
            errors.seek(0)
            sys.exit(errors.read().decode())
    steps = json.loads((out / "run.json").read_text())["seconds"]
    # Its own usage counts the children that it waited for.
    return Build(seconds, usage.ru_utime + usage.ru_stime, takes, steps)


def look(pid: int, takes: Takes, ended: threading.Event) -> None:
    """Note again and again what a process and its children have taken."""
    names = {pid: PROCESSES[0]}
    while not ended.is_set():
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return
        for child in sorted(int(child) for child in children if "spawn_main" in command_of(child)):
            if child not in names:
                names[child] = PROCESSES[len(names)]
        for one, name in names.items():
            note(name, one, takes)
        sleep(OFTEN)


def command_of(pid: int | str) -> str:
    """How a process was started; nothing where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def note(name: str, pid: int, takes: Takes) -> None:
    """What one process has taken so far."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return
    peak = status.partition("VmHWM:")[2].split()
    if peak:  # a process that has ended has no memory
        takes.cpu[name] = (int(fields[11]) + int(fields[12])) / TICKS
        takes.peak[name] = int(peak[0]) / 1024


def baseline(texts: list[Path]) -> tuple[float, float]:
    """Seconds and CPU seconds of laying out these texts, each in a process of its own."""
    start = perf_counter()
    processes = [subprocess.Popen([sys.executable, "-c", BASELINE, str(text)]) for text in texts]
    ended = [os.wait4(process.pid, 0) for process in processes]
    seconds = perf_counter() - start
    if any(status for _, status, _ in ended):
        sys.exit("the baseline failed")
    return seconds, sum(usage.ru_utime + usage.ru_stime for _, _, usage in ended)


def pages(file: Path) -> str:
    """How many pages a PDF has; empty where it was not asked for."""
    if not file.exists():
        return ""
    with pikepdf.open(file) as document:
        return str(len(document.pages))


def measured(study: Path, formats: str, repeat: int) -> dict[str, str]:
    """Medians of so many builds, and of as many baselines between them."""
    load = os.getloadavg()[0]
    volumes = [name for form, name in (("pdf", "report"), ("annex", "annex")) if form in formats.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        texts = [Path(folder) / f"{name}.html" for name in volumes]
        subprocess.run([sys.executable, "-c", TEXTS, str(study), folder, *volumes], check=True)
        runs, alone = [], []
        for i in range(repeat):
            runs.append(build(study, Path(folder) / str(i), formats))
            alone.append(baseline(texts))
        n_pages = {name: pages(Path(folder) / "0" / name) for name in VOLUMES}
    median = statistics.median
    seconds, cpu = median(run.seconds for run in runs), median(run.cpu for run in runs)
    base_seconds, base_cpu = (median(values) for values in zip(*alone))
    cpus = {name: median(run.takes.cpu.get(name, 0.0) for run in runs) for name in PROCESSES}
    peaks = {name: max(run.takes.peak.get(name, 0.0) for run in runs) for name in PROCESSES}
    steps = {step: median(run.steps.get(step, 0.0) for run in runs) for step in STEPS}
    return {
        "study": study.name,
        "formats": formats,
        "builds": str(repeat),
        **{f"{name.partition('.')[0]}_pages": n for name, n in n_pages.items()},
        **{step: f"{taken:.2f}" for step, taken in steps.items()},
        "seconds": f"{seconds:.2f}",
        "baseline_seconds": f"{base_seconds:.2f}",
        "ratio": f"{seconds / base_seconds:.2f}" if texts else "",
        "cpu": f"{cpu:.2f}",
        **{f"cpu_{name}": f"{taken:.2f}" for name, taken in cpus.items()},
        "baseline_cpu": f"{base_cpu:.2f}",
        "cpu_ratio": f"{cpu / base_cpu:.2f}" if texts else "",
        **{f"peak_mb_{name}": f"{taken:.0f}" for name, taken in peaks.items()},
        "load_before": f"{load:.1f}",
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}",
    }


def main() -> None:
    """Build as often as asked, print medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("studies", nargs="*", type=Path, default=[ROOT / "examples" / "knee-mri-readings"])
    parser.add_argument("--formats", default="html,pdf,annex,json")
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
